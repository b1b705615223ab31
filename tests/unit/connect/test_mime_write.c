/* Writing mail: what goes out is plain, and nothing can be put into it that was not meant.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/rand.h"
#include "connect/mime.h"
#include "harness/test.h"

static const char *write_mail(struct test *t, const char *to, const char *subject, const char *body)
{
    AUTO_BUF out = BUF_INIT(1 << 20);
    struct str address = str_from(to);
    struct mime_mail mail = {
        .to = &address, .n_to = 1, .subject = str_from(subject), .body = str_from(body)
    };

    if (mime_write(&mail, &out, &t->err) < 0)
        return NULL;
    return arena_text(&t->arena, buf_text(&out));
}

TEST(a_plain_mail_is_plain)
{
    ASSERT_TEXT(write_mail(t, "Ada Lovelace <ada@example.org>", "Hello", "One\nTwo\n"),
                "To: \"Ada Lovelace\" <ada@example.org>\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n"
                "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n"
                "One\r\nTwo\r\n");
}

TEST(other_letters_are_encoded_and_come_back)
{
    static const char *const subjects[] = {
        "Grüße aus Köln",
        "日本語の件名がとても長いとき、何行にもなるはずです。そうですよね、きっと。",
        "a  b",
        " lead",
        "=?utf-8?q?not_a_word?=",
        "emoji 🐭🐭🐭",
        ("an ascii subject that is so long that it has to be folded between its many plain words, "
         "twice"),
    };
    static const char *const bodies[] = { "Grüße\n.\nFrom here\n", "日本語\n", "tab\t \nend ",
                                          "\xf0\x9f\x90\xad", "x\r\ny" };

    for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
        const char *mail =
            write_mail(t, "Jürgen <j@example.org>", subjects[i], bodies[i % ARRAY_LEN(bodies)]);
        struct mime_message read;
        size_t line = 0;

        ASSERT(mail);
        mime_read(str_from(mail), &t->arena, &read);
        ASSERT_STR(read.to, "Jürgen <j@example.org>");
        ASSERT(str_eq(read.subject, str_trim(str_from(subjects[i]))));
        for (const char *p = mail; *p; p++) {
            ASSERT((unsigned char)*p < 0x80);
            line = *p == '\n' ? 0 : line + 1;
            ASSERT(line <= 79);
            ASSERT(*p != '\n' || (p > mail && p[-1] == '\r'));
        }
    }
}

TEST(bodies_come_back_as_they_were)
{
    static const char *const bodies[] = {
        "a",
        "Grüße\nund mehr = mehr",
        "日本語\n日本語",
        "trailing space \nand tab\t\nend",
        ("a line that is longer than seventy-six characters has to be "
         "broken softly so that it comes back as one"),
    };

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct mime_message read;

        mime_read(str_from(write_mail(t, "a@example.org", "s", bodies[i])), &t->arena, &read);
        ASSERT_STR(read.text, bodies[i]);
    }
}

TEST(nothing_can_be_put_into_a_header)
{
    static const char *const addresses[] = {
        "",
        "ada",
        "@example.org",
        "ada@",
        "ada@example.org, eve@example.org",
        "ada@example.org\r\nBcc: eve@example.org",
        "Ada\n <ada@example.org>",
        "Ada <ada@example.org",
        "Ada <ada@example.org> x",
        "Ada <<ada@example.org>>",
        "a..b@example.org",
        ".a@example.org",
        "a@-example.org",
        "a@example..org",
        "a b@example.org",
        "\"a b\"@example.org",
        "ada@[127.0.0.1]",
        "ädä@example.org",
        "Ada \xe2\x80\xae<ada@example.org>",
        "ada@example.org\xff",
    };

    for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
        ASSERT(!write_mail(t, addresses[i], "s", "b"));
        ASSERT_EQ(t->err.code, ERR_BAD_REQUEST);
        err_reset(&t->err);
    }
    ASSERT(!write_mail(t, "a@example.org", "x\r\nBcc: eve@example.org", "b"));
    err_reset(&t->err);
    ASSERT(!write_mail(t, "a@example.org", "x\x01", "b"));
    err_reset(&t->err);
    ASSERT(!write_mail(t, "a@example.org", "x", "\xff"));
    err_reset(&t->err);
    ASSERT(strstr(write_mail(t, "A \"B\" \\C <a@example.org>", "x", "b"),
                  "To: \"A \\\"B\\\" \\\\C\" <a@example.org>\r\n"));
}

/* Of the headers of a message that was written: each line is one of ours or goes on with a blank,
 * is ASCII and ends in CRLF. NULL when all is well. */
static const char *header_fault(const char *mail)
{
    static const char *const names[] = {
        "To: ",         "Subject: ",   "MIME-Version: ", "Content-Type: ",
        "In-Reply-To:", "References:", "Cc: ",           "Content-Transfer-Encoding: "
    };

    for (const char *line = mail, *end; strncmp(line, "\r\n", 2) != 0; line = end + 2) {
        bool known = line[0] == ' ' && line > mail;

        end = strstr(line, "\r\n");
        if (!end)
            return "a header without an end";
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            known |= strncmp(line, names[i], strlen(names[i])) == 0;
        if (!known)
            return line;
        for (const char *p = line; p < end; p++)
            if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
                return "a byte that has no place in a header";
    }
    return NULL;
}

TEST(whatever_is_written_has_no_header_but_ours)
{
    static const char *const parts[] = {
        "\r\n",    "\n", "\r", "Bcc: e@x.org", ":",    " ",      "\t",       "<",        ">",
        "a@x.org", "\"", "\\", "=?",           "?=",   "\u00e9", "\u2028",   "\xc2\x85", "\xff",
        "\u202e",  ",",  ";",  "(c)",          "\x01", "\x7f",   "utf-8?B?", "x",        "\u3000"
    };
    struct rand_fake random;
    unsigned written = 0;

    rand_fake_init(&random, 11);
    for (int round = 0; round < 4000; round++) {
        struct buf fields[4] = { BUF_INIT(500), BUF_INIT(500), BUF_INIT(500), BUF_INIT(500) };
        AUTO_BUF out = BUF_INIT(1 << 16);
        struct str to;
        struct mime_mail mail = { .to = &to, .n_to = 1 };
        const char *fault;

        for (size_t f = 0; f < ARRAY_LEN(fields); f++)
            for (uint64_t k = rand_below(&random.rand, 4); k > 0; k--)
                buf_add_text(&fields[f], parts[rand_below(&random.rand, ARRAY_LEN(parts))]);
        buf_add_text(&fields[0], " <ada@example.org>");
        to = buf_str(&fields[0]);
        mail.subject = buf_str(&fields[1]);
        mail.in_reply_to = buf_str(&fields[2]);
        mail.body = buf_str(&fields[3]);
        err_reset(&t->err);
        if (mime_write(&mail, &out, &t->err) == 0) {
            written++;
            fault = header_fault(buf_text(&out));
            if (fault)
                FAIL("%s in: %s", fault, buf_text(&out));
        }
        for (size_t f = 0; f < ARRAY_LEN(fields); f++)
            buf_release(&fields[f]);
    }
    ASSERT(written > 100); /* or this says little */
}

TEST(replies_name_what_they_answer)
{
    AUTO_BUF out = BUF_INIT(1 << 16);
    struct str to = STR("a@example.org");
    struct mime_mail mail = { .to = &to,
                              .n_to = 1,
                              .subject = STR("s"),
                              .body = STR("b"),
                              .in_reply_to = STR("<1@x>"),
                              .references = STR("<0@x>  <1@x>") };

    ASSERT_OK(mime_write(&mail, &out, &t->err));
    ASSERT_CONTAINS(buf_text(&out), "In-Reply-To: <1@x>\r\nReferences: <0@x>\r\n <1@x>\r\n");
    mail.references = STR("<1@x>\r\nBcc: e@x");
    ASSERT_FAILS(mime_write(&mail, &out, &t->err), ERR_BAD_REQUEST);
}

TEST(bounds_are_told)
{
    AUTO_BUF out = BUF_INIT(64);
    struct str to[MIME_ADDRESSES_MAX + 1];
    struct mime_mail mail = { .to = to, .n_to = 1, .subject = STR("s"), .body = STR("b") };

    for (size_t i = 0; i < ARRAY_LEN(to); i++)
        to[i] = STR("a@example.org");
    ASSERT_FAILS(mime_write(&mail, &out, &t->err), ERR_TOO_LARGE);
    mail.n_to = ARRAY_LEN(to);
    ASSERT_FAILS(mime_write(&mail, &out, &t->err), ERR_TOO_LARGE);
    mail.n_to = 0;
    ASSERT_FAILS(mime_write(&mail, &out, &t->err), ERR_BAD_REQUEST);
}

/* The bound itself is taken, one more is not. */
TEST(the_longest_subject_and_the_longest_address_are_taken)
{
    char subject[1000];

    memset(subject, 'x', sizeof(subject));
    subject[998] = 0;
    ASSERT(write_mail(t, "a@example.org", subject, "b"));
    subject[998] = 'x';
    subject[999] = 0;
    ASSERT(!write_mail(t, "a@example.org", subject, "b"));
    ASSERT_EQ(t->err.code, ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "subject has 999 bytes; at most 998");
    err_reset(&t->err);
    for (size_t n = 63; n <= 65; n++) {
        ASSERT_EQ(write_mail(t, arena_printf(&t->arena, "%.*s@example.org", (int)n, subject), "s",
                             "b") != NULL,
                  n <= 64);
        err_reset(&t->err);
        ASSERT_EQ(write_mail(t, arena_printf(&t->arena, "a@%.*s.org", (int)n - 1, subject), "s",
                             "b") != NULL,
                  n <= 64);
        err_reset(&t->err);
    }
}

TEST(several_addresses_are_one_header_with_a_line_for_each)
{
    AUTO_BUF out = BUF_INIT(1 << 16);
    struct str to[] = { STR("a@example.org"), STR("\"Bo\" <b@example.org>"),
                        STR("Jürgen <j@example.org>") };
    struct mime_mail mail = { .to = to, .n_to = 3, .subject = STR("s"), .body = STR("b") };

    ASSERT_OK(mime_write(&mail, &out, &t->err));
    ASSERT_CONTAINS(buf_text(&out), "To: a@example.org,\r\n \"Bo\" <b@example.org>,\r\n "
                                    "=?UTF-8?B?SsO8cmdlbg==?= <j@example.org>\r\nSubject");
}

/* What a stranger's mail is called may be longer than a line may be. */
TEST(an_id_that_fits_on_no_line_leaves_no_empty_header)
{
    AUTO_BUF out = BUF_INIT(1 << 16);
    AUTO_BUF id = BUF_INIT(2048);
    struct str to = STR("a@example.org");
    struct mime_mail mail = { .to = &to, .n_to = 1, .subject = STR("s"), .body = STR("b") };

    for (int i = 0; i < 901; i++)
        buf_add_char(&id, 'x');
    mail.in_reply_to = mail.references = buf_str(&id);
    ASSERT_OK(mime_write(&mail, &out, &t->err));
    ASSERT(!strstr(buf_text(&out), "In-Reply-To") && !strstr(buf_text(&out), "References"));
}

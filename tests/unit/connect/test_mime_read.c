/* Reading mail as it comes, well-formed or not.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/utf8.h"
#include "connect/mime.h"
#include "harness/test.h"

static const struct mime_message *read_mail(struct test *t, const char *text)
{
    struct mime_message *message = ARENA_NEW(&t->arena, struct mime_message);

    mime_read(str_from(text), &t->arena, message);
    return message;
}

static const char *words(struct test *t, const char *text)
{
    AUTO_BUF out = BUF_INIT(1 << 16);

    mime_decode_words(str_from(text), &out);
    return arena_text(&t->arena, buf_text(&out));
}

TEST(encoded_words_become_text)
{
    static const struct {
        const char *is, *becomes;
    } cases[] = {
        { "plain", "plain" },
        { "=?utf-8?B?R3LDvMOfZQ==?=", "Grüße" },
        { "=?UTF-8?q?Gr=C3=BC=C3=9Fe_an_Ada?= there", "Grüße an Ada there" },
        { "=?iso-8859-1?Q?a?= =?iso-8859-1?Q?b?=", "ab" },
        { "=?ISO-8859-1?Q?a?= b", "a b" },
        { "=?utf-8?B?4oI=?= =?utf-8?B?rA==?=", "€" }, /* cut in the middle of a character */
        { "=?utf-8?B?4oI=?=\t =?utf-8?B?rA==?=", "€" },
        { "=?windows-1251?Q?=CF=F0=E8=E2=E5=F2?=", "Привет" },
        { "=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本" },
        { "=?us-ascii*en?Q?hi?=", "hi" },
        { "=?x-unknown?Q?caf=E9?=", "café" },
        { "=?utf-8?X?abc?=", "=?utf-8?X?abc?=" },
        { "=?utf-8?Q?no end", "=?utf-8?Q?no end" },
        { "=?=?=?=", "=?=?=?=" },
        { "a=b=c", "a=b=c" },
        { "=?utf-8?Q?line=0D=0Abreak?=", "line  break" },
        { "caf\xe9", "café" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(words(t, cases[i].is), cases[i].becomes);
}

TEST(plain_text_is_taken_of_alternatives)
{
    const struct mime_message *m = read_mail(
        t, "From: a@example.org\r\nSubject: two\r\n forms\r\nMIME-Version: 1.0\r\n"
           "Content-Type: multipart/alternative;\r\n\tboundary=\"x y\"\r\n\r\npreamble\r\n"
           "--x y\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nplain\r\n"
           "--x y\r\nContent-Type: text/html\r\n\r\n<b>html</b>\r\n--x y--\r\nepilogue");

    ASSERT_STR(m->subject, "two forms");
    ASSERT_STR(m->text, "plain");
    ASSERT(!m->from_html && !m->cut);
    ASSERT_EQ(m->n_attachments, 0);
}

TEST(html_becomes_text_without_scripts_and_with_targets)
{
    const struct mime_message *m = read_mail(
        t, "Content-Type: text/html; charset=utf-8\n\n<html><head><style>p{}</style></head><body>"
           "<script>alert('x')</script><p>Hello &amp; welcome&nbsp;to&#32;caf&#xe9;</p>"
           "<ul><li>one<li>two</ul><a href=\"https://evil.example/x\">https://bank.example</a>"
           "<!-- hidden --><br>1 &lt; 2 &bogus; &#0; <a href='https://same.example'>"
           "https://same.example</a>");

    ASSERT(m->from_html);
    ASSERT_STR(m->text, "Hello & welcome to café\n- one\n- two\n"
                        "https://bank.example [https://evil.example/x]\n"
                        "1 < 2 &bogus; &#0; https://same.example");
}

TEST(attachments_are_named_and_measured)
{
    const struct mime_message *m = read_mail(
        t, "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nsee below\r\n--b\r\n"
           "Content-Type: application/pdf\r\nContent-Disposition: attachment;\r\n"
           " filename*=utf-8''Gr%C3%BC%C3%9Fe.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n"
           "AAEC\r\nAwQ=\r\n--b\r\nContent-Type: image/png; "
           "name=\"=?utf-8?B?w6Q=?=.png\"\r\n\r\nabc\r\n"
           "--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename*0=\"lo\";"
           " filename*1=ng.txt\r\n\r\ntext\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: "
           "in\r\n"
           "\r\nx\r\n--b--\r\n");

    ASSERT_STR(m->text, "see below");
    ASSERT_EQ(m->n_attachments, 4);
    ASSERT_STR(m->attachments[0].name, "Grüße.pdf");
    ASSERT_EQ(m->attachments[0].bytes, 5);
    ASSERT_STR(m->attachments[1].name, "ä.png");
    ASSERT_STR(m->attachments[2].name, "long.txt");
    ASSERT_STR(m->attachments[3].type, "message/rfc822");
}

TEST(bodies_are_decoded_in_every_encoding)
{
    ASSERT_STR(read_mail(t, "Content-Transfer-Encoding: quoted-printable\n"
                            "Content-Type: text/plain; charset=\"iso-8859-15\"\n\n"
                            "5 =A4 is soft=\n ly =3D\nbroken =XY =")
                   ->text,
               "5 € is soft ly =\nbroken =XY");
    ASSERT_STR(read_mail(t, "Content-Transfer-Encoding: BASE64\n\nR3LD\r\nvMOfZQ==\n")->text,
               "Grüße");
    ASSERT_STR(read_mail(t, "Content-Transfer-Encoding: 8bit\n\nGr\xfc\xdf"
                            "e")
                   ->text,
               "Grüße");
}

TEST(broken_mail_is_read_as_far_as_it_goes)
{
    ASSERT_STR(read_mail(t, "")->text, "");
    ASSERT_STR(read_mail(t, "\r\n\r\nonly a body")->text, "only a body");
    ASSERT_STR(read_mail(t, "Subject: only a head")->subject, "only a head");
    ASSERT_STR(read_mail(t, "Content-Type: multipart/mixed; boundary=b\n\n--b\n\ncut off")->text,
               "cut off");
    ASSERT_STR(read_mail(t, "Content-Type: multipart/mixed\n\nno boundary")->text, "");
    ASSERT_EQ(read_mail(t, "Content-Type: multipart/mixed\n\nno boundary")->n_attachments, 1);
    ASSERT_STR(read_mail(t, "Subject: first\nSubject: second\nno colon here\n\nx")->subject,
               "first");
}

TEST(nesting_and_numbers_have_bounds)
{
    AUTO_BUF mail = BUF_INIT(1 << 22);
    struct mime_message m;

    for (int i = 0; i < 40; i++)
        buf_printf(&mail, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i);
    mime_read(buf_str(&mail), &t->arena, &m);
    ASSERT(m.cut);
    buf_clear(&mail);
    buf_add_text(&mail, "Content-Type: multipart/mixed; boundary=b\n\n");
    for (int i = 0; i < 1000; i++)
        buf_add_text(&mail, "--b\nContent-Type: a/b\n\nx\n");
    mime_read(buf_str(&mail), &t->arena, &m);
    ASSERT(m.cut && m.n_attachments == 100);
    buf_clear(&mail);
    buf_add_char(&mail, '\n');
    for (int i = 0; i < 200000; i++)
        buf_add_text(&mail, "äöü");
    mime_read(buf_str(&mail), &t->arena, &m);
    ASSERT(m.cut && m.text.n <= MIME_TEXT_MAX && utf8_valid(m.text));
}

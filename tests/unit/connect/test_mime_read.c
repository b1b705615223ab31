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

/* ---- hostile and odd ---- */

static const char *html(struct test *t, const char *text)
{
    AUTO_BUF out = BUF_INIT(1 << 16);

    mime_html_text(str_from(text), &out);
    return arena_text(&t->arena, buf_text(&out));
}

TEST(a_link_shows_its_target_however_the_tag_is_written)
{
    static const char *const tags[] = {
        "<a href=\"https://evil.example\">",
        "<A HREF='https://evil.example'>",
        "<a href=https://evil.example>",
        "<a href=https://evil.example class=x>",
        "<a href=https://evil.example\nclass=x>",
        "<a href = \"https://evil.example\">",
        "<a\thref\n=\r\n'https://evil.example'>",
        "<a\r\nhref=\"https://evil.example\">",
        "<a/href=\"https://evil.example\">",
        "<a data-href=\"https://good.example\" href=\"https://evil.example\">",
        "<a xhref=\"https://good.example\" href=\"https://evil.example\">",
    };

    for (size_t i = 0; i < ARRAY_LEN(tags); i++)
        ASSERT_TEXT(html(t, arena_printf(&t->arena, "%sbank</a>!", tags[i])),
                    "bank [https://evil.example]!");
    ASSERT_TEXT(html(t, "<a href=\"https://evil.example>bank</a>!"), "bank!");
    ASSERT_TEXT(html(t, "<a href=>bank</a> <a name=x>here</a>"), "bank here");
    ASSERT_TEXT(html(t, "<a href='https://one.example'>one<a href='https://two.example'>two"),
                "one [https://one.example]two [https://two.example]");
}

TEST(a_sign_that_begins_no_tag_is_text)
{
    static const struct {
        const char *is, *becomes;
    } cases[] = {
        { "1 < 2 and 3 > 2", "1 < 2 and 3 > 2" },
        { "I <3 you", "I <3 you" },
        { "the end <", "the end <" },
        { "cut <b", "cut" },
        { "<!doctype html><?xml x?>a</p>b", "a\nb" },
        { "a<!-->b<!-- c", "ab" },
        { "a<script>b", "a" },
        { "a<style>b</styl></STYLE x>c", "ac" },
        { "a<style>b</style", "a" },
        { "&lt;b&gt; &#60; &#x3C; &#X3c;", "<b> < < <" },
        { "&#xd800; &#x110000; &#99999999; &#; &#x; &#1a; &", "&#xd800; &#x110000; &#99999999; &#; "
                                                              "&#x; &#1a; &" },
        { "&#xzz; &verylongentity; &amp", "&#xzz; &verylongentity; &amp" },
        { "caf\xe9", "caf\ufffd" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_STR(str_trim(str_from(html(t, cases[i].is))), cases[i].becomes);
}

static struct str attachment_name(struct test *t, const char *disposition)
{
    const struct mime_message *m = read_mail(
        t, arena_printf(&t->arena, "Content-Type: a/b\nContent-Disposition: attachment%s\n\nx",
                        disposition));

    ASSERT_EQ(m->n_attachments, 1);
    return m->attachments[0].name;
}

TEST(the_name_of_an_attachment_is_one_line_of_text)
{
    static const struct {
        const char *is, *becomes;
    } cases[] = {
        { "", "(without a name)" },
        { "; filename", "(without a name)" },
        { "; filename=", "(without a name)" },
        { "; filename=\"", "(without a name)" },
        { ";;; filename = \t\"a b.txt\"", "a b.txt" },
        { "; filename=\"say \\\"hi\\\".txt\"; x=y", "say \"hi\".txt" },
        { "; filename=\"no end", "no end" },
        { "; filename*=utf-8''a%00b%0D%0Ac%1b", "a b  c " },
        { "; filename*=utf-8''%ff%fe", "\ufffd\ufffd" },
        { "; filename*=iso-8859-1'de'%e4", "ä" },
        { "; filename*=latin1'de'%e4", "ä" },
        { "; filename*=cp1252''%80", "€" },
        { "; filename*=no-charset", "no-charset" },
        { "; filename*=one'quote", "one'quote" },
        { "; filename*=utf-8''%zz", "(without a name)" },
        { "; filename*0*=utf-8''a%C3; filename*1*=%BC; filename*2=b", "aüb" },
        { "; filename*1=b; filename*0=a", "a" },
        { "; filename*x=b", "(without a name)" },
        { "; filename*99999999999999999999=b", "(without a name)" },
        { "; filenamex=b", "(without a name)" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_STR(attachment_name(t, cases[i].is), cases[i].becomes);
}

/* One character too many must not turn the others into something else. */
TEST(a_header_that_is_too_long_is_cut_between_two_characters)
{
    AUTO_BUF mail = BUF_INIT(1 << 16);
    struct mime_message m;

    buf_add_text(&mail, "Subject: x");
    for (int i = 0; i < 6000; i++)
        buf_add_text(&mail, "ä");
    mime_read(buf_str(&mail), &t->arena, &m);
    ASSERT_EQ(m.subject.n, 8191);
    ASSERT(str_find(m.subject, STR("Ã")) < 0);
    buf_clear(&mail);
    buf_add_text(&mail, "Subject: first\n");
    for (int i = 0; i < 9000; i++)
        buf_add_char(&mail, i ? 'a' : ' ');
    buf_add_text(&mail, "\n last\n\nbody");
    mime_read(buf_str(&mail), &t->arena, &m);
    ASSERT_STR(m.subject, "first last");
    ASSERT_STR(m.text, "body");
}

TEST(parts_of_text_are_set_apart_and_boundaries_are_whole_lines)
{
    ASSERT_STR(read_mail(t, "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--bc\ntwo\n"
                            "--b \t\n\nthree\n--b--\n--b\n\nfour")
                   ->text,
               "one\n--bc\ntwo\nthree");
}

TEST(bytes_that_a_character_set_lacks_become_the_replacement_character)
{
    static const struct {
        const char *charset, *is, *becomes;
    } cases[] = {
        { "windows-1252", "a\x81z", "a\ufffdz" },
        { "shift_jis", "\x93\xfa\x93", "日\ufffd" },
        { "euc-jp", "\xff\xc6\xfc", "\ufffd日" },
        { "gb18030", "\xc4\xe3\xba\xc3", "你好" },
        { "utf-8", "\xc3(", "\ufffd(" },
        { "UTF-16BE", "0B", "あ" },
        { "../../../etc/passwd", "caf\xe9", "café" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *mail = arena_printf(&t->arena, "Content-Type: text/plain; charset=\"%s\"\n\n%s",
                                        cases[i].charset, cases[i].is);

        ASSERT_STR(read_mail(t, mail)->text, cases[i].becomes);
    }
}

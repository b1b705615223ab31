/* URIs: the parts of a text, resolving by the rules of RFC 3986 written out once more, addresses,
 * percent escapes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "base/uri.h"
#include "harness/test.h"

static bool is_part(struct str part, const char *expected)
{
    return expected ? part.p && str_is(part, expected) : !part.p;
}

TEST(uri_parts_are_those_of_appendix_b)
{
    static const struct {
        const char *text, *scheme, *authority, *path, *query, *fragment;
    } cases[] = {
        { "http://www.ics.uci.edu/pub/ietf/uri/#Related", "http", "www.ics.uci.edu",
          "/pub/ietf/uri/", NULL, "Related" },
        { "foo://example.com:8042/over/there?name=ferret#nose", "foo", "example.com:8042",
          "/over/there", "name=ferret", "nose" },
        { "urn:example:animal:ferret:nose", "urn", NULL, "example:animal:ferret:nose", NULL, NULL },
        { "mailto:a@b", "mailto", NULL, "a@b", NULL, NULL },
        { "file:///etc/hosts", "file", "", "/etc/hosts", NULL, NULL },
        { "//h", NULL, "h", "", NULL, NULL },
        { "//", NULL, "", "", NULL, NULL },
        { "///p", NULL, "", "/p", NULL, NULL },
        { "/", NULL, NULL, "/", NULL, NULL },
        { "/a//b", NULL, NULL, "/a//b", NULL, NULL },
        { "", NULL, NULL, "", NULL, NULL },
        { "?", NULL, NULL, "", "", NULL },
        { "#", NULL, NULL, "", NULL, "" },
        { "?#", NULL, NULL, "", "", "" },
        { "#?", NULL, NULL, "", NULL, "?" },
        { "a?b?c", NULL, NULL, "a", "b?c", NULL },
        { "a#b#c", NULL, NULL, "a", NULL, "b#c" },
        { "a#b?c", NULL, NULL, "a", NULL, "b?c" },
        { "a/b:c", NULL, NULL, "a/b:c", NULL, NULL },
        { "?a:b", NULL, NULL, "", "a:b", NULL },
        { "#a:b", NULL, NULL, "", NULL, "a:b" },
        { ":", NULL, NULL, ":", NULL, NULL },
        { "a:", "a", NULL, "", NULL, NULL },
        { "a:b:c", "a", NULL, "b:c", NULL, NULL },
        { "a:?q", "a", NULL, "", "q", NULL },
        { "a:#f", "a", NULL, "", NULL, "f" },
        { "a://h?q/r#f/g", "a", "h", "", "q/r", "f/g" },
        { "a://u:p@h:1/x", "a", "u:p@h:1", "/x", NULL, NULL },
        { "a://[::1]:80/", "a", "[::1]:80", "/", NULL, NULL },
        { "a:/p", "a", NULL, "/p", NULL, NULL },
        { "a:p//q", "a", NULL, "p//q", NULL, NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct uri uri = uri_split(str_from(cases[i].text));

        if (!is_part(uri.scheme, cases[i].scheme) || !is_part(uri.authority, cases[i].authority) ||
            !is_part(uri.path, cases[i].path) || !is_part(uri.query, cases[i].query) ||
            !is_part(uri.fragment, cases[i].fragment))
            FAIL("%s", cases[i].text);
    }
}

static void add(struct buf *out, const char *before, struct str part, const char *after)
{
    if (part.p)
        buf_printf(out, "%s%.*s%s", before, STR_ARG(part), after);
}

/* Made of these, a random text has everything that splitting looks at. */
static const char *random_uri(struct rand *rand, char out[40])
{
    static const char letters[] = "aab./../:?#%//";
    size_t n = rand_below(rand, 20);

    for (size_t i = 0; i < n; i++)
        out[i] = letters[rand_below(rand, sizeof(letters) - 1)];
    out[n] = '\0';
    return out;
}

TEST(uri_parts_put_together_are_the_text)
{
    struct rand_fake rand;
    char text[40];

    rand_fake_init(&rand, 3986);
    for (int round = 0; round < 20000; round++) {
        struct uri uri = uri_split(str_from(random_uri(&rand.rand, text)));
        AUTO_BUF out = BUF_INIT(64);

        add(&out, "", uri.scheme, ":");
        add(&out, "//", uri.authority, "");
        add(&out, "", uri.path, "");
        add(&out, "?", uri.query, "");
        add(&out, "#", uri.fragment, "");
        ASSERT_TEXT(buf_text(&out), text);
    }
}

static const char *resolved(struct test *t, const char *base, const char *ref)
{
    AUTO_BUF out = BUF_INIT(256);

    uri_resolve(str_from(base), str_from(ref), &out);
    return arena_text(&t->arena, buf_text(&out));
}

/* Section 5.2.4 by a list of segments instead of by rewriting a text. path begins with '/'. */
static void model_without_dots(const char *path, struct buf *out)
{
    struct str rest = str_from(path + 1), segment, kept[64];
    size_t n = 0;

    while (str_split(&rest, '/', &segment)) {
        bool last = rest.p == NULL, up = str_is(segment, ".."), dot = str_is(segment, ".");

        if (up && n > 0)
            n--;
        if (!up && !dot)
            kept[n++] = segment;
        else if (last)
            kept[n++] = STR("");
    }
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "/%.*s", STR_ARG(kept[i]));
}

TEST(uri_resolving_removes_dots_as_a_list_of_segments_does)
{
    static const char *const segments[] = { ".", "..", "a", "b.", "..c", "", "..." };
    struct rand_fake rand;

    rand_fake_init(&rand, 524);
    for (int round = 0; round < 20000; round++) {
        AUTO_BUF path = BUF_INIT(256), expected = BUF_INIT(256), got = BUF_INIT(256);
        size_t n = rand_below(&rand.rand, 8) + 1;

        /* A first segment that is empty would be an authority. */
        buf_add_text(&path, "/x");
        for (size_t i = 0; i < n; i++)
            buf_printf(&path, "/%s", segments[rand_below(&rand.rand, ARRAY_LEN(segments))]);
        buf_add_text(&expected, "s://h");
        model_without_dots(buf_text(&path), &expected);
        uri_resolve(STR("s://h/base/deep?q"), buf_str(&path), &got);
        if (!str_eq(buf_str(&got), buf_str(&expected)))
            FAIL("%s became %s, expected %s", buf_text(&path), buf_text(&got), buf_text(&expected));
    }
}

TEST(uri_resolving_twice_is_resolving_once)
{
    struct rand_fake rand;
    char ref[40];

    rand_fake_init(&rand, 5);
    for (int round = 0; round < 5000; round++) {
        const char *once = resolved(t, "http://h/a/b/c?d#e", random_uri(&rand.rand, ref));

        ASSERT_TEXT(resolved(t, "ftp://other/x", once), once);
        arena_reset(&t->arena);
    }
}

TEST(uri_resolving_takes_from_the_base_what_the_reference_lacks)
{
    static const char *const cases[][3] = {
        { "http://h/a/b?q#f", "", "http://h/a/b?q" },
        { "http://h/a/b?q#f", "#", "http://h/a/b?q#" },
        { "http://h/a/b?q#f", "?", "http://h/a/b?" },
        { "http://h/a/b?q#f", "?#", "http://h/a/b?#" },
        { "http://h/a/b?q#f", "c", "http://h/a/c" },
        { "http://h/a/b?q#f", "/c", "http://h/c" },
        { "http://h/a/b?q#f", "//i", "http://i" },
        { "http://h/a/b?q#f", "//i/../c", "http://i/c" },
        { "http://h/a/b?q#f", "https://i/./c", "https://i/c" },
        { "http://h", "..", "http://h/" },
        { "http://h", "../..//x", "http://h//x" },
        { "http://h/", "?x", "http://h/?x" },
        { "http://h/a/", "b", "http://h/a/b" },
        { "http://h/a/", "../b", "http://h/b" },
        { "http://h/a/b/", "../../../b", "http://h/b" },
        { "http://h/%2e%2e/b", "c", "http://h/%2e%2e/c" },
        { "http://h/a/b", "%2e%2e/c", "http://h/a/%2e%2e/c" },
        { "http://u@h:8/a", "b", "http://u@h:8/b" },
        { "http://h/a;b/c", "d", "http://h/a;b/d" },
        { "http://h/a?b/c", "d", "http://h/d" },
        { "urn:a:b", "#c", "urn:a:b#c" },
        { "urn:a:b", "?c", "urn:a:b?c" },
        { "file:///a/b", "../c", "file:///c" },
        { "/a/b", "c", "/a/c" },
        { "a/b", "../c", "/c" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(resolved(t, cases[i][0], cases[i][1]), cases[i][2]);
}

TEST(uri_resolving_says_when_the_target_does_not_fit)
{
    AUTO_BUF small = BUF_INIT(10), exact = BUF_INIT(20);

    uri_resolve(STR("http://h/a"), STR("long-enough"), &small);
    ASSERT(small.full);
    uri_resolve(STR("http://h/a"), STR("long-enough"), &exact);
    ASSERT(!exact.full);
    ASSERT_TEXT(buf_text(&exact), "http://h/long-enough");
}

TEST(uri_decoding_knows_every_byte)
{
    for (int c = 0; c < 256; c++) {
        for (int upper = 0; upper < 2; upper++) {
            AUTO_BUF out = BUF_INIT(8);
            char text[8];

            snprintf(text, sizeof(text), upper ? "%%%02X" : "%%%02x", (unsigned)c);
            ASSERT_EQ(uri_decode(str_from(text), &out), 0);
            ASSERT_EQ(out.n, 1);
            ASSERT_EQ((unsigned char)out.p[0], c);
        }
    }
}

TEST(uri_decoding_refuses_every_other_digit)
{
    for (int c = 0; c < 256; c++) {
        AUTO_BUF out = BUF_INIT(8);
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        char first[3] = { '%', (char)c, '0' }, second[3] = { '%', '0', (char)c };

        ASSERT_EQ(uri_decode(str_of(first, 3), &out), hex ? 0 : -1);
        ASSERT_EQ(uri_decode(str_of(second, 3), &out), hex ? 0 : -1);
        ASSERT_EQ(uri_is_valid_reference(str_of(first, 3)), hex);
        ASSERT_EQ(uri_is_valid_reference(str_of(second, 3)), hex);
        ASSERT_EQ(uri_decode(str_of(first, 2), &out), -1);
    }
}

TEST(uri_paths_hold_exactly_the_characters_of_the_rfc)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-._~!$&'()*+,;=:@/";

    for (int c = 1; c < 256; c++) {
        char path[] = { '/', (char)c, '\0' };
        char query[] = { '?', (char)c, '\0' }, fragment[] = { '#', (char)c, '\0' };
        char scheme[] = { 'a', (char)c, ':', '\0' };
        bool known = strchr(allowed, c) != NULL;
        bool in_scheme = known && c != '/' && !strchr("_~!$&'()*,;=@", c);

        /* '?' and '#' end the path, they are not in it. */
        ASSERT_EQ(uri_is_valid_reference(str_from(path)), known || c == '?' || c == '#');
        ASSERT_EQ(uri_is_valid_reference(str_from(query)), known || c == '?' || c == '#');
        ASSERT_EQ(uri_is_valid_reference(str_from(fragment)), known || c == '?');
        ASSERT_EQ(uri_is_valid(str_from(scheme)), in_scheme);
    }
}

TEST(uri_addresses_are_checked_by_their_grammar)
{
    static const struct {
        const char *text;
        bool v4, v6;
    } cases[] = {
        { "0.0.0.0", true, false },
        { "255.255.255.255", true, false },
        { "1.2.3.4", true, false },
        { "1.2.3", false, false },
        { "1.2.3.4.5", false, false },
        { "1.2.3.", false, false },
        { ".1.2.3", false, false },
        { "1..2.3", false, false },
        { "256.1.1.1", false, false },
        { "1.1.1.999", false, false },
        { "01.1.1.1", false, false },
        { "1.1.1.00", false, false },
        { "1.1.1.-1", false, false },
        { "1.1.1.+1", false, false },
        { "1.1.1.1 ", false, false },
        { "0x1.1.1.1", false, false },
        { "", false, false },
        { "::", false, true },
        { "::1", false, true },
        { "1::", false, true },
        { "1:2:3:4:5:6:7:8", false, true },
        { "1:2:3:4:5:6:7", false, false },
        { "1:2:3:4:5:6:7:8:9", false, false },
        { "1:2:3:4:5:6:7::", false, true },
        { "::2:3:4:5:6:7:8", false, true },
        { "1:2:3:4::5:6:7:8", false, false },
        { "1:2:3::5:6:7:8", false, true },
        { "1::2::3", false, false },
        { ":::", false, false },
        { ":", false, false },
        { ":1", false, false },
        { "1:", false, false },
        { ":1::", false, false },
        { "::1:", false, false },
        { "fFfF:AbCd::", false, true },
        { "12345::", false, false },
        { "g::", false, false },
        { "::1.2.3.4", false, true },
        { "::ffff:1.2.3.4", false, true },
        { "1:2:3:4:5:6:1.2.3.4", false, true },
        { "1:2:3:4:5:6:7:1.2.3.4", false, false },
        { "1:2:3:4:5:1.2.3.4", false, false },
        { "1:2:3:4:5::1.2.3.4", false, true },
        { "1:2:3:4:5:6::1.2.3.4", false, false },
        { "1.2.3.4::", false, false },
        { "::1.2.3.4:5", false, false },
        { "::1.2.3", false, false },
        { "::1.2.3.256", false, false },
        { "fe80::1%eth0", false, false },
        { "[::1]", false, false },
        { "::1/64", false, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *host = arena_printf(&t->arena, "http://[%s]/", cases[i].text);

        if (uri_is_ipv4(str_from(cases[i].text)) != cases[i].v4 ||
            uri_is_ipv6(str_from(cases[i].text)) != cases[i].v6 ||
            uri_is_valid(str_from(host)) != cases[i].v6)
            FAIL("%s", cases[i].text);
    }
}

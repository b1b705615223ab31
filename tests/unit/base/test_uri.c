/* SPDX-License-Identifier: MIT */
#include "base/uri.h"

#include "base/alloc.h"
#include "harness/test.h"

static const char *resolve(struct test *t, const char *base, const char *ref)
{
    AUTO_BUF out = BUF_INIT(4096);

    uri_resolve(str_from(base), str_from(ref), &out);
    return arena_text(&t->arena, buf_text(&out));
}

/* RFC 3986, sections 5.4.1 and 5.4.2. */
TEST(uri_resolves_the_examples_of_rfc_3986)
{
    static const char *const cases[][2] = {
        { "g:h", "g:h" },
        { "g", "http://a/b/c/g" },
        { "./g", "http://a/b/c/g" },
        { "g/", "http://a/b/c/g/" },
        { "/g", "http://a/g" },
        { "//g", "http://g" },
        { "?y", "http://a/b/c/d;p?y" },
        { "g?y", "http://a/b/c/g?y" },
        { "#s", "http://a/b/c/d;p?q#s" },
        { "g#s", "http://a/b/c/g#s" },
        { "g?y#s", "http://a/b/c/g?y#s" },
        { ";x", "http://a/b/c/;x" },
        { "g;x", "http://a/b/c/g;x" },
        { "g;x?y#s", "http://a/b/c/g;x?y#s" },
        { "", "http://a/b/c/d;p?q" },
        { ".", "http://a/b/c/" },
        { "./", "http://a/b/c/" },
        { "..", "http://a/b/" },
        { "../", "http://a/b/" },
        { "../g", "http://a/b/g" },
        { "../..", "http://a/" },
        { "../../", "http://a/" },
        { "../../g", "http://a/g" },
        { "../../../g", "http://a/g" },
        { "../../../../g", "http://a/g" },
        { "/./g", "http://a/g" },
        { "/../g", "http://a/g" },
        { "g.", "http://a/b/c/g." },
        { ".g", "http://a/b/c/.g" },
        { "g..", "http://a/b/c/g.." },
        { "..g", "http://a/b/c/..g" },
        { "./../g", "http://a/b/g" },
        { "./g/.", "http://a/b/c/g/" },
        { "g/./h", "http://a/b/c/g/h" },
        { "g/../h", "http://a/b/c/h" },
        { "g;x=1/./y", "http://a/b/c/g;x=1/y" },
        { "g;x=1/../y", "http://a/b/c/y" },
        { "g?y/./x", "http://a/b/c/g?y/./x" },
        { "g#s/../x", "http://a/b/c/g#s/../x" },
        { "http:g", "http:g" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(resolve(t, "http://a/b/c/d;p?q", cases[i][0]), cases[i][1]);
}

TEST(uri_resolves_against_other_kinds_of_base)
{
    static const char *const cases[][3] = {
        { "", "a/b#c", "a/b#c" },
        { "", "#c", "#c" },
        { "x/y", "z", "x/z" },
        { "http://h", "a", "http://h/a" },
        { "http://h?q", "", "http://h?q" },
        { "urn:uuid:1", "#/a", "urn:uuid:1#/a" },
        { "urn:example:a", "urn:b:c", "urn:b:c" },
        { "file:///c:/d/e.json", "f.json", "file:///c:/d/f.json" },
        { "tag:x,2026:y", "#z", "tag:x,2026:y#z" },
        { "http://h/a#frag", "b", "http://h/b" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(resolve(t, cases[i][0], cases[i][1]), cases[i][2]);
}

TEST(uri_split_tells_empty_from_absent)
{
    struct uri uri = uri_split(STR("http://h?#"));

    ASSERT_STR(uri.scheme, "http");
    ASSERT_STR(uri.authority, "h");
    ASSERT_STR(uri.path, "");
    ASSERT(uri.query.p && uri.query.n == 0);
    ASSERT(uri.fragment.p && uri.fragment.n == 0);
    uri = uri_split(STR("a/b"));
    ASSERT(!uri.scheme.p && !uri.authority.p && !uri.query.p && !uri.fragment.p);
    ASSERT_STR(uri.path, "a/b");
    ASSERT_STR(uri_without_fragment(STR("a#b#c")), "a");
    ASSERT(uri_split(STR_NONE).path.n == 0);
}

TEST(uri_decodes_percent_escapes)
{
    AUTO_BUF out = BUF_INIT(64);

    ASSERT_EQ(uri_decode(STR("a%20b%C3%a9%2F"), &out), 0);
    ASSERT_TEXT(buf_text(&out), "a b\xc3\xa9/");
    ASSERT_EQ(uri_decode(STR("%4"), &out), -1);
    ASSERT_EQ(uri_decode(STR("%zz"), &out), -1);
    ASSERT_EQ(uri_decode(STR("%"), &out), -1);
}

TEST(uri_checks_the_syntax)
{
    static const struct {
        const char *text;
        bool uri, reference;
    } cases[] = {
        { "http://foo.bar/?baz=qux#quux", true, true },
        { "http://foo.com/blah_(wikipedia)_blah#cite-1", true, true },
        { "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com", true, true },
        { "http://223.255.255.254", true, true },
        { "ftp://ftp.is.co.za/rfc/rfc1808.txt", true, true },
        { "ldap://[2001:db8::7]/c=GB?objectClass?one", true, true },
        { "http://[v7.a:b]/x", true, true },
        { "mailto:John.Doe@example.com", true, true },
        { "tel:+1-816-555-1212", true, true },
        { "urn:oasis:names", true, true },
        { "http://h:/x", true, true },
        { "http://h:99/x", true, true },
        { "//foo.bar/?baz", false, true },
        { "/abc", false, true },
        { "abc", false, true },
        { "", false, true },
        { "#frag", false, true },
        { "./a:b", false, true },
        { ":a", false, false },
        { "1http://x", false, false },
        { "bar,baz:foo", false, false },
        { "http:// fail", false, false },
        { "http://h/a b", false, false },
        { "http://h/%4", false, false },
        { "http://h/%zz", false, false },
        { "http://h:x/", false, false },
        { "http://[::1/", false, false },
        { "http://[::g]/", false, false },
        { "http://[v1]/", false, false },
        { "http://[vz.a]/", false, false },
        { "https://[@example.org/test.txt", false, false },
        { "https://u[@example.org/", false, false },
        { "http://h/\\x", false, false },
        { "http://h/<x>", false, false },
        { "http://h/{x}", false, false },
        { "http://h/^`|", false, false },
        { "http://h/#a#b", false, false },
        { "http://h/\xc3\xa9", false, false },
        { "\\\\WINDOWS\\fileshare", false, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (uri_is_valid(str_from(cases[i].text)) != cases[i].uri)
            FAIL("URI: %s", cases[i].text);
        if (uri_is_valid_reference(str_from(cases[i].text)) != cases[i].reference)
            FAIL("reference: %s", cases[i].text);
    }
}

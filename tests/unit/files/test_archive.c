/* Archives that other programs made, hostile ones among them, and our own.
 *
 * Python's tarfile and zipfile make them: they write what they are told, also what is wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "files/archive.h"
#include "files/files.h"
#include "harness/test.h"

/* Runs Python with t(...) and z(...) to write members into the archive "a" of the test's folder. */
static struct str made_by(struct test *t, const char *program)
{
    static const char head[] =
        "import io,os,random,sys,tarfile,zipfile,gzip,stat\n"
        "os.chdir(sys.argv[1])\n"
        "def tar(members, mode='w', **k):\n"
        "  a = tarfile.open('a', mode, **k)\n"
        "  for m in members:\n"
        "    i = tarfile.TarInfo(m[0]); b = m[1] if len(m) > 1 else b''\n"
        "    i.size = len(b)\n"
        "    for key, value in (m[2] if len(m) > 2 else {}).items(): setattr(i, key, value)\n"
        "    a.addfile(i, io.BytesIO(b))\n"
        "  a.close()\n"
        "def zip(members, how=zipfile.ZIP_DEFLATED):\n"
        "  a = zipfile.ZipFile('a', 'w', how)\n"
        "  for m in members: a.writestr(*m)\n"
        "  a.close()\n";
    const char *script = test_path(t, "make.py");
    const char *text = arena_printf(&t->arena, "%s%s\n", head, program);

    test_write_file(script, text, strlen(text));
    if (system(arena_printf(&t->arena, "python3 -W ignore %s %s", script, test_dir(t))) != 0)
        FAIL("python failed: %s", program);
    return test_read_file(t, test_path(t, "a"));
}

struct result {
    struct archive_entry *entries;
    size_t count;
};

static int read_with(struct test *t, struct str bytes, struct archive_limits limits,
                     struct result *ret)
{
    err_reset(&t->err);
    return archive_read(bytes, &limits, &t->arena, &ret->entries, &ret->count, &t->err);
}

TEST(tar_gzipped_tar_and_zip_hold_the_same)
{
    static const char *const programs[] = {
        "tar([('b/c.md', b'two'), ('a.sh', b'one', {'mode': 0o755})])",
        "tar([('./b/c.md', b'two'), ('./a.sh', b'one', {'mode': 0o755})], 'w:gz')",
        "tar([('b', b'', {'type': tarfile.DIRTYPE}), ('b/c.md', b'two'),"
        " ('a.sh', b'one', {'mode': 0o755})], format=tarfile.PAX_FORMAT)",
        "i = zipfile.ZipInfo('a.sh'); i.external_attr = 0o100755 << 16; i.create_system = 3\n"
        "zip([('b/', b''), ('b/c.md', b'two'), (i, b'one')])",
        "i = zipfile.ZipInfo('a.sh'); i.external_attr = 0o100755 << 16; i.create_system = 3\n"
        "zip([('b/c.md', b'two'), (i, b'one')], zipfile.ZIP_STORED)",
    };

    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        struct result got;

        ASSERT_OK(read_with(t, made_by(t, programs[i]), (struct archive_limits){ 0 }, &got));
        ASSERT_EQ(got.count, 2);
        ASSERT_STR(got.entries[0].path, "a.sh");
        ASSERT_STR(got.entries[0].content, "one");
        ASSERT(got.entries[0].executable);
        ASSERT_STR(got.entries[1].path, "b/c.md");
        ASSERT_STR(got.entries[1].content, "two");
        ASSERT(!got.entries[1].executable);
    }
}

TEST(names_that_are_not_ascii_are_read_without_a_locale)
{
    static const char *const programs[] = {
        "tar([('Pläne/日本.md', b'x')], format=tarfile.PAX_FORMAT)",
        "tar([('Pläne/日本.md', b'x')], format=tarfile.GNU_FORMAT)",
        "tar([('Pläne/日本.md', b'x')], format=tarfile.USTAR_FORMAT)",
        "zip([('Pläne/日本.md', b'x')])",
    };

    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        struct result got;

        ASSERT_OK(read_with(t, made_by(t, programs[i]), (struct archive_limits){ 0 }, &got));
        ASSERT_EQ(got.count, 1);
        ASSERT_STR(got.entries[0].path, "Pläne/日本.md");
    }
}

TEST(hostile_entries_are_refused_by_name)
{
    static const struct {
        const char *program;
        enum err_code code;
        const char *named;
    } cases[] = {
        { "tar([('ok', b''), ('../x', b'x')])", ERR_PATH_DENIED, "../x" },
        { "tar([('a/../../x', b'x')])", ERR_PATH_DENIED, "a/../../x" },
        { "tar([('/etc/passwd', b'x')])", ERR_PATH_DENIED, "/etc/passwd" },
        { "tar([('a\\\\..\\\\b', b'x')])", ERR_PATH_DENIED, "backslash" },
        { "tar([('.git/config', b'x')])", ERR_PATH_DENIED, ".git/config" },
        { "tar([('../d', b'', {'type': tarfile.DIRTYPE})])", ERR_PATH_DENIED, "../d" },
        { "tar([('l', b'', {'type': tarfile.SYMTYPE, 'linkname': '/etc'})])", ERR_BAD_REQUEST,
          "\"l\": it is a link" },
        { "tar([('a', b'x'), ('h', b'', {'type': tarfile.LNKTYPE, 'linkname': 'a'})])",
          ERR_BAD_REQUEST, "\"h\": it is a link" },
        { "tar([('d', b'', {'type': tarfile.CHRTYPE})])", ERR_BAD_REQUEST, "\"d\"" },
        { "tar([('d', b'', {'type': tarfile.BLKTYPE})])", ERR_BAD_REQUEST, "\"d\"" },
        { "tar([('p', b'', {'type': tarfile.FIFOTYPE})])", ERR_BAD_REQUEST, "\"p\"" },
        { "tar([('a', b'x'), ('a', b'y')])", ERR_CONFLICT, "\"a\": it is there twice" },
        { "tar([('a', b'x'), ('A', b'y')])", ERR_CONFLICT, "\"A\"" },
        { "tar([('a/b', b'x'), ('A', b'y')])", ERR_CONFLICT, "\"a/b\"" },
        { "zip([('../x', b'x')])", ERR_PATH_DENIED, "../x" },
        { "zip([('/x', b'x')])", ERR_PATH_DENIED, "/x" },
        { "zip([('a', b'x'), ('a', b'y')])", ERR_CONFLICT, "\"a\"" },
        { "i = zipfile.ZipInfo('l'); i.external_attr = (stat.S_IFLNK | 0o777) << 16\n"
          "i.create_system = 3; zip([(i, b'/etc/passwd')])",
          ERR_BAD_REQUEST, "\"l\": it is a link" },
        { "zip([('a', b'x' * 1000)], zipfile.ZIP_LZMA)", ERR_BAD_REQUEST, "only deflate" },
        { "zip([('a', b'x' * 1000)], zipfile.ZIP_BZIP2)", ERR_BAD_REQUEST, "only deflate" },
        { "zip([('a', b'secret')]); b = bytearray(open('a','rb').read()); b[6] |= 1\n"
          "b[b.find(b'PK\\x01\\x02') + 8] |= 1; open('a','wb').write(b)",
          ERR_BAD_REQUEST, "encrypted" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct result got;

        ASSERT_FAILS(read_with(t, made_by(t, cases[i].program), (struct archive_limits){ 0 }, &got),
                     cases[i].code);
        if (!strstr(test_err_text(t), cases[i].named))
            FAIL("%s: \"%s\" lacks \"%s\"", cases[i].program, test_err_text(t), cases[i].named);
    }
}

TEST(what_is_no_archive_or_was_cut_is_refused)
{
    struct str whole = made_by(t, "tar([('a', b'x' * 5000), ('b', b'y' * 5000)], 'w:gz')");
    struct result got;

    ASSERT_FAILS(read_with(t, STR(""), (struct archive_limits){ 0 }, &got), ERR_BAD_REQUEST);
    ASSERT_FAILS(read_with(t, STR("hello, world"), (struct archive_limits){ 0 }, &got),
                 ERR_BAD_REQUEST);
    for (size_t n = 1; n < whole.n - 8; n += 7)
        ASSERT_FAILS(read_with(t, str_take(whole, n), (struct archive_limits){ 0 }, &got),
                     ERR_BAD_REQUEST);
}

/* Wherever the end is missing: libarchive takes what is there for all of it. */
TEST(an_archive_that_is_cut_anywhere_is_refused)
{
    static const char *const programs[] = {
        "zip([('a.md', b'one'), ('b.md', b'two' * 100)])",
        "zip([('a.md', b'one'), ('b.md', b'two' * 100)], zipfile.ZIP_STORED)",
        "tar([('a.md', b'one'), ('b.md', b'two' * 100)], 'w:gz')",
        "tar([('a.md', b'one'), ('b.md', b'two' * 100)])",
    };

    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        struct str whole = made_by(t, programs[i]);
        size_t end = whole.n;
        struct result got;

        ASSERT_OK(read_with(t, whole, (struct archive_limits){ 0 }, &got));
        ASSERT_EQ(got.count, 2);
        if (i == 3) /* two blocks are its end, the rest of a record is padding */
            end = 4 * 512 + 1024;
        for (size_t n = 1; n < end; n += n < 600 || end - n < 100 ? 1 : 97) {
            if (read_with(t, str_take(whole, n), (struct archive_limits){ 0 }, &got) == 0)
                FAIL("archive %zu was taken with %zu of %zu bytes", i, n, whole.n);
            ASSERT_EQ(t->err.code, ERR_BAD_REQUEST);
        }
    }
}

/* A byte that is another is found by the sum of its entry. */
TEST(a_damaged_entry_is_refused)
{
    static const char *const programs[] = {
        "zip([('a.md', b'one' * 50)], zipfile.ZIP_STORED)\n"
        "b = bytearray(open('a', 'rb').read()); b[60] ^= 1; open('a', 'wb').write(b)",
        /* In the middle of what can't be packed: behind the last entry there is only padding. */
        "tar([('a.md', random.Random(7).randbytes(500))], 'w:gz')\n"
        "b = bytearray(open('a', 'rb').read()); b[len(b) // 2] ^= 1; open('a', 'wb').write(b)",
    };

    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        struct result got;

        ASSERT_FAILS(read_with(t, made_by(t, programs[i]), (struct archive_limits){ 0 }, &got),
                     ERR_BAD_REQUEST);
    }
}

TEST(limits_hold_to_the_entry_and_the_byte)
{
    struct str three = made_by(t, "tar([('a', b'12345'), ('b', b'12345'), ('c', b'12345')])");
    struct result got;

    ASSERT_OK(read_with(t, three, (struct archive_limits){ 3, 5, 15 }, &got));
    ASSERT_FAILS(read_with(t, three, (struct archive_limits){ 2, 5, 15 }, &got), ERR_TOO_LARGE);
    ASSERT_FAILS(read_with(t, three, (struct archive_limits){ 3, 4, 15 }, &got), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "\"a\"");
    ASSERT_FAILS(read_with(t, three, (struct archive_limits){ 3, 5, 14 }, &got), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "\"c\"");
}

TEST(a_bomb_is_refused_before_it_is_unpacked)
{
    static const char *const bombs[] = {
        /* 1 GiB of zeros in a few kilobytes that were stored as one member. */
        "g = gzip.open('a', 'wb'); i = tarfile.TarInfo('zeros'); i.size = 1 << 33\n"
        "g.write(i.tobuf()); g.write(b'\\0' * (1 << 22)); g.close()",
        "zip([('zeros', b'\\0' * (1 << 25))])",
        /* Says that it is small. */
        "zip([('zeros', b'\\0' * (1 << 25))]); b = bytearray(open('a','rb').read())\n"
        "b[22:26] = b'\\1\\0\\0\\0'; c = b.find(b'PK\\x01\\x02'); b[c+24:c+28] = b'\\1\\0\\0\\0'\n"
        "open('a','wb').write(b)",
        "tar([('f%d/' % i, b'', {'type': tarfile.DIRTYPE}) for i in range(2000)], 'w:gz')",
    };

    for (size_t i = 0; i < ARRAY_LEN(bombs); i++) {
        struct str bytes = made_by(t, bombs[i]);
        size_t before = t->arena.total;
        struct result got = { .count = 0 };

        if (read_with(t, bytes, (struct archive_limits){ 0 }, &got) >= 0 && got.count)
            ASSERT(got.entries[0].content.n <= 1); /* cut at what it said */
        ASSERT(t->arena.total - before < 2 * MIB);
    }
}

static struct archive_entry entry(const char *path, const char *content, bool executable)
{
    return (struct archive_entry){ .path = str_from(path),
                                   .content = str_from(content),
                                   .executable = executable };
}

TEST(the_same_content_is_the_same_bytes_in_any_order)
{
    struct archive_entry one[] = { entry("b.md", "two", false), entry("a/x.sh", "one", true) };
    struct archive_entry two[] = { one[1], one[0] };
    AUTO_BUF first = BUF_INIT(MIB), second = BUF_INIT(MIB);
    struct result got;

    ASSERT_OK(archive_write(one, 2, &first, &t->err));
    ASSERT_OK(archive_write(two, 2, &second, &t->err));
    ASSERT(str_eq(buf_str(&first), buf_str(&second)));
    /* gzip: deflate, no flags, no time; unknown system. */
    ASSERT_EQ(memcmp(first.p, "\x1f\x8b\x08\0\0\0\0\0", 8), 0);
    ASSERT_EQ((unsigned char)first.p[9], 255);
    ASSERT_OK(read_with(t, buf_str(&first), (struct archive_limits){ 0 }, &got));
    ASSERT_EQ(got.count, 2);
    ASSERT_STR(got.entries[0].path, "a/x.sh");
    ASSERT(got.entries[0].executable);
    ASSERT_STR(got.entries[1].content, "two");
}

TEST(long_names_and_large_contents_come_back)
{
    char *path = arena_alloc(&t->arena, FILE_PATH_MAX + 1, 1);
    struct archive_entry one = { .executable = false };
    AUTO_BUF out = BUF_INIT(4 * MIB);
    struct result got;

    for (size_t n = 90; n <= FILE_PATH_MAX; n += 7) {
        memset(path, 'n', n);
        for (size_t i = 80; i < n - 1; i += 81)
            path[i] = '/';
        one.path = str_of(path, n);
        one.content = str_of(arena_alloc(&t->arena, n * 997, 1), n * 997);
        buf_clear(&out);
        ASSERT_OK(archive_write(&one, 1, &out, &t->err));
        ASSERT_OK(read_with(t, buf_str(&out), (struct archive_limits){ 0 }, &got));
        ASSERT_EQ(got.count, 1);
        ASSERT(str_eq(got.entries[0].path, one.path));
        ASSERT(str_eq(got.entries[0].content, one.content));
    }
}

TEST(the_systems_tar_reads_what_we_write)
{
    struct archive_entry entries[] = { entry("Pläne/日本.md", "eins", false),
                                       entry("x.sh", "#!/bin/sh\n", true) };
    AUTO_BUF out = BUF_INIT(MIB);

    ASSERT_OK(archive_write(entries, 2, &out, &t->err));
    test_write_file(test_path(t, "a.tar.gz"), out.p, out.n);
    ASSERT_EQ(system(arena_printf(&t->arena,
                                  "cd %s && tar -xzf a.tar.gz && test -x x.sh &&"
                                  " test \"$(cat Pl*/*.md)\" = eins",
                                  test_dir(t))),
              0);
}

TEST(what_could_not_be_read_again_is_not_written)
{
    struct archive_entry twice[] = { entry("a", "1", false), entry("a", "2", false) };
    struct archive_entry spelt[] = { entry("A", "1", false), entry("a", "2", false) };
    struct archive_entry folder[] = { entry("a/b", "1", false), entry("A", "2", false) };
    struct archive_entry out_of_it = entry("../a", "1", false);
    AUTO_BUF out = BUF_INIT(MIB), small = BUF_INIT(16);

    ASSERT_FAILS(archive_write(twice, 2, &out, &t->err), ERR_CONFLICT);
    err_reset(&t->err);
    ASSERT_FAILS(archive_write(spelt, 2, &out, &t->err), ERR_CONFLICT);
    err_reset(&t->err);
    ASSERT_FAILS(archive_write(folder, 2, &out, &t->err), ERR_CONFLICT);
    err_reset(&t->err);
    ASSERT_FAILS(archive_write(&out_of_it, 1, &out, &t->err), ERR_PATH_DENIED);
    err_reset(&t->err);
    ASSERT_FAILS(archive_write(twice, 1, &small, &t->err), ERR_TOO_LARGE);
    err_reset(&t->err);
    buf_clear(&out);
    ASSERT_OK(archive_write(NULL, 0, &out, &t->err));
}

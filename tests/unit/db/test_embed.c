/* tools/embed: what it makes, and what it refuses.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness/test.h"

/* Exit status of tools/embed with these arguments, run in the test's directory; what it said is in
 * the file "said". */
static int embed(struct test *t, const char *arguments)
{
    int status = system(arena_printf(&t->arena, "cd %s && %s/tools/embed %s >said 2>&1",
                                     test_dir(t), test_source_root(), arguments));

    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void put(struct test *t, const char *name, const char *text)
{
    test_write_file(test_path(t, name), text, strlen(text));
}

TEST(embedded_files_keep_every_byte)
{
    char all[256];
    struct str made;

    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    test_write_file(test_path(t, "all"), all, sizeof(all));
    put(t, "empty", "");
    put(t, "main.c",
        "#include <stdio.h>\n#include \"base/embed.h\"\n"
        "extern const struct embed_file files[];\n"
        "int main(void) { for (int i = 0; files[i].name; i++) {\n"
        "  printf(\"%s %zu \", files[i].name, files[i].bytes.n);\n"
        "  unsigned sum = 0;\n"
        "  for (size_t k = 0; k < files[i].bytes.n; k++)\n"
        "    sum = sum * 31 + (unsigned char)files[i].bytes.p[k];\n"
        "  printf(\"%u %d;\", sum, files[i].bytes.p[files[i].bytes.n]); }\n return 0; }\n");
    ASSERT_EQ(embed(t, "files files out.c 'a \"name\"=all' b=empty"), 0);
    ASSERT_EQ(system(arena_printf(
                  &t->arena, "cd %s && cc -Wall -Werror -I%s/src main.c out.c -o run && ./run >ran",
                  test_dir(t), test_source_root())),
              0);
    made = test_read_file(t, test_path(t, "ran"));
    unsigned sum = 0;
    for (unsigned k = 0; k < 256; k++)
        sum = sum * 31 + k;
    ASSERT_STR(made, arena_printf(&t->arena, "a \"name\" 256 %u 0;b 0 0 0;", sum));
}

TEST(embedding_refuses_migrations_that_do_not_line_up)
{
    static const struct {
        const char *files, *says;
    } bad[] = {
        { "0001_a.sqlite.sql 0003_c.sqlite.sql", "without gaps" },
        { "0002_b.sqlite.sql", "without gaps" },
        { "0001_a.sqlite.sql 0001_b.postgres.sql", "is taken by a" },
        { "0001_a.sqlite.sql 0001_a.postgres.sql 0002_b.sqlite.sql", "lacks a text for postgres" },
        { "1_a.sqlite.sql", "is not named" },
        { "0001_a.mysql.sql", "is not named" },
    };
    static const char *const names[] = {
        "0001_a.sqlite.sql", "0001_a.postgres.sql", "0001_b.postgres.sql", "0002_b.sqlite.sql",
        "0003_c.sqlite.sql", "1_a.sqlite.sql",      "0001_a.mysql.sql",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        put(t, names[i], "SELECT 1;\n");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct str said;

        ASSERT(embed(t, arena_printf(&t->arena, "migrations m out.c %s", bad[i].files)) != 0);
        said = test_read_file(t, test_path(t, "said"));
        ASSERT_CONTAINS(arena_copy(&t->arena, said.p, said.n), bad[i].says);
    }
    ASSERT_EQ(embed(t, "migrations m out.c 0001_a.sqlite.sql 0001_a.postgres.sql"), 0);
    ASSERT(embed(t, "files f out.c nothing") != 0);
    ASSERT(embed(t, "files f out.c") != 0);
}

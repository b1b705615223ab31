/* SPDX-License-Identifier: MIT */
#include "base/embed.h"

#include "base/json.h"
#include "harness/test.h"

extern const struct embed_file meta_schema_files[];

/* The bytes are those of the file that was embedded, and a NUL follows. */
TEST(embed_holds_the_files_of_the_source_tree)
{
    size_t n = 0;

    for (const struct embed_file *file = meta_schema_files; file->name; file++, n++) {
        const char *path = arena_printf(&t->arena, "%s/share/schema/draft2020-12/%s",
                                        test_source_root(), file->name);

        ASSERT(str_eq(file->bytes, test_read_file(t, path)));
        ASSERT_EQ(file->bytes.p[file->bytes.n], 0);
    }
    ASSERT(n >= 8);
}

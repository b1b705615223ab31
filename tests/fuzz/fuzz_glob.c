/* Globs and ignore rules: first line the path, the rest the rules. Matching ends, and a rule
 * without special characters matches exactly itself.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "sandbox/glob.h"
#include "sandbox/ignore.h"
#include "sandbox/search.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Every byte behind a backslash is itself. */
static void check_escaped(struct str text)
{
    AUTO_BUF escaped = BUF_INIT(2 * text.n);

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '/')
            buf_add_char(&escaped, '\\');
        buf_add_char(&escaped, text.p[i]);
    }
    BUG_IF(text.n && !glob_match(buf_str(&escaped), text));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str rest = str_of(n ? (const char *)bytes : "", n), path, line, rules;
    AUTO(ignore) ignore = NULL;
    AUTO_ARENA arena = ARENA_INIT;
    struct search_glob glob;

    if (n > 4096 || !str_split(&rest, '\n', &path))
        return 0;
    rules = rest.p ? rest : STR("");
    ignore = ignore_parse(rules);
    for (int is_dir = 0; is_dir < 2; is_dir++)
        BUG_IF(ignore_match(ignore, path, is_dir) != IGNORE_NONE && ignore_count(ignore) == 0);
    check_escaped(path);
    while (str_split(&rules, '\n', &line)) {
        bool matched = glob_match(line, path);

        BUG_IF(!glob_is_pattern(line) && matched != str_eq(line, path));
        if (search_glob_parse(line, &arena, &glob, NULL) == 0)
            search_glob_match(&glob, path);
    }
    return 0;
}

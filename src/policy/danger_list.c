/* The paths that ls and find print, for those who read them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

/* ---- ls ---- */

/* ls -d WORDS and patterns: those words; a directory: everything in it, told only of one that
 * matters, because the names are meant from there. */
struct str danger_listed(struct danger_scan *scan, const struct danger_command *command)
{
    static const char all[] = { MARK_STAR };
    AUTO_BUF out = BUF_INIT(DANGER_FIELD_MAX);
    const struct danger_word *word = danger_operand(command, 0);

    if (!word)
        return str_of(all, 1);
    for (size_t i = 0; (word = danger_operand(command, i)) != NULL; i++) {
        if (danger_has_flag(command, "d", "directory") || danger_has_glob(word->text)) {
            buf_add_str(&out, word->text);
            buf_add_char(&out, '\n');
        } else if (danger_path_vital(danger_path(scan, word->text))) {
            buf_add(&out, all, 1);
            buf_add_char(&out, '\n');
        } else {
            return STR_NONE;
        }
    }
    return arena_str(scan->arena, buf_str(&out));
}

/* ---- find ---- */

bool danger_find_narrowed(const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++) {
        struct str test = command->words[i].text;
        struct str value = i + 1 < command->n ? command->words[i + 1].text : STR_NONE;
        bool every = value.n > 0;

        if (danger_is(command->words[i - 1].text, "! -not"))
            continue;
        if (danger_is(test, "-newer -mtime -mmin -atime -size -empty -user -perm -inum -regex "
                            "-iregex"))
            return true;
        for (size_t k = 0; k < value.n; k++)
            every = every && (value.p[k] == '*' || value.p[k] == MARK_STAR);
        if (!every && danger_is(test, "-name -iname -path -ipath -wholename"))
            return true;
    }
    return false;
}

struct str danger_find_vital(struct danger_scan *scan, const struct danger_command *command)
{
    bool any = false;

    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;

        if (danger_is(word, "-L -H -P") || str_starts(word, STR("-O")))
            continue;
        if (word.n == 0 || word.p[0] == '-' || word.p[0] == '!' || word.p[0] == '(')
            break;
        any = true;
        if ((scan->cwd.n || !str_is(word, ".")) && danger_path_vital(danger_path(scan, word)))
            return word;
    }
    return !any && scan->cwd.n && danger_path_vital(scan->cwd) ? scan->cwd : STR_NONE;
}

/* Does it print all that is here: "find", "find .", without a test? */
static bool prints_all(const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++)
        if (!danger_is(command->words[i].text, ". ./ -print -print0 -depth"))
            return false;
    return true;
}

struct danger_stream danger_run_find(struct danger_scan *scan, const struct danger_command *command)
{
    struct danger_stream out = { 0 };

    if (!danger_find_narrowed(command))
        out.text = danger_find_vital(scan, command);
    if (!out.text.p && prints_all(command))
        out.text = STR(".");
    for (size_t i = 1; i < command->n; i++) {
        struct danger_command inner = { .words = command->words + i + 1 };

        if (!danger_is(command->words[i].text, "-exec -execdir -ok -okdir"))
            continue;
        while (i + 1 + inner.n < command->n && !danger_is(inner.words[inner.n].text, "; +"))
            inner.n++;
        if (inner.n && out.text.p)
            danger_run_for_each(scan, &inner, (struct danger_items){ out, " \n" }, STR("{}"));
        else if (inner.n)
            danger_run_command(scan, &inner);
    }
    return out;
}

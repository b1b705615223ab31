/* Makefiles that the command itself wrote or hands over: their recipes are run by a shell.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

/* $(NAME) and $@ are make's and unknown; $$ is the shell's $. */
static struct str recipe(struct danger_scan *scan, struct str line)
{
    AUTO_BUF out = BUF_INIT(DANGER_FIELD_MAX);

    while (line.n && strchr("@-+ \t", line.p[0]))
        line = str_skip(line, 1);
    for (size_t i = 0; i < line.n; i++) {
        char open = i + 1 < line.n ? line.p[i + 1] : '\0';
        ptrdiff_t end;

        if (line.p[i] != '$') {
            buf_add_char(&out, line.p[i]);
            continue;
        }
        if (open == '$') {
            buf_add_char(&out, '$');
            i++;
            continue;
        }
        end = open == '(' || open == '{' ? str_find_char(str_skip(line, i), open == '(' ? ')' : '}')
                                         : 1;
        buf_add_char(&out, MARK_UNKNOWN);
        i += end > 0 ? (size_t)end : 1;
    }
    return arena_str(scan->arena, buf_str(&out));
}

static void run(struct danger_scan *scan, struct str line)
{
    danger_run_text_by(scan, "sh", recipe(scan, line), (struct danger_stream){ 0 });
}

/* $(shell ...), and NAME != ... */
static void run_assigned(struct danger_scan *scan, struct str line)
{
    ptrdiff_t at = str_find(line, STR("$(shell ")), not_is = str_find(line, STR("!="));
    size_t depth = 1, n = 0;
    struct str text;

    if (not_is > 0)
        run(scan, str_skip(line, (size_t)not_is + 2));
    if (at < 0)
        return;
    text = str_skip(line, (size_t)at + 8);
    for (; n < text.n && depth > 0; n++)
        depth += text.p[n] == '(' ? 1 : text.p[n] == ')' ? -1u : 0;
    run(scan, str_take(text, depth ? n : n - 1));
}

static void run_makefile(struct danger_scan *scan, struct str text)
{
    struct str line;

    while (!scan->hit && str_split(&text, '\n', &line)) {
        ptrdiff_t colon = str_find_char(line, ':'), semicolon = str_find_char(line, ';');

        if (str_starts(line, STR("\t")))
            run(scan, line);
        else if (colon >= 0 && semicolon > colon)
            run(scan, str_skip(line, (size_t)semicolon + 1));
        run_assigned(scan, line);
    }
}

static void run_file(struct danger_scan *scan, const struct danger_command *command,
                     struct str path)
{
    struct danger_stream file =
        danger_is(path, "- /dev/stdin") ? command->in : danger_read_file(scan, path);

    danger_judge_source(scan, file.facts);
    if (file.text.p)
        run_makefile(scan, file.text);
}

void danger_run_make(struct danger_scan *scan, const struct danger_command *command)
{
    static const char *const usual[] = { "Makefile", "makefile", "GNUmakefile" };
    bool given = false;

    for (size_t i = 1; i < command->n && !scan->hit; i++) {
        struct str word = danger_plain(scan, command->words[i].text);
        struct str next = i + 1 < command->n ? command->words[i + 1].text : STR_NONE;

        if (str_starts(word, STR("--eval=")))
            run_makefile(scan, str_skip(word, 7));
        else if (danger_is(word, "--eval -E"))
            run_makefile(scan, danger_plain(scan, next));
        else if (danger_is(word, "-f --file --makefile"))
            run_file(scan, command, next);
        else if (str_starts(word, STR("-f")))
            run_file(scan, command, str_skip(word, 2));
        else if (str_starts(word, STR("--file=")) || str_starts(word, STR("--makefile=")))
            run_file(scan, command, str_skip(word, (size_t)str_find_char(word, '=') + 1));
        else
            continue;
        given = true;
    }
    for (size_t i = 0; !given && i < ARRAY_LEN(usual); i++)
        run_file(scan, command, str_from(usual[i]));
}

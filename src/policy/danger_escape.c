/* Programs with a language of their own that has a way out to the shell: ed and vi (!), databases
 * and debuggers (\!, .shell, shell), less, ftp.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

static const struct language {
    const char *names;
    const char *options; /* a line of it follows, in the next word or behind '=' */
    const char *files;   /* a file with such lines follows */
    const char *words;   /* that begin a line for the shell */
    size_t operand;      /* lines are also the operands from this one on; 0: none */
    bool bang, plus;     /* "!" leads to the shell; "+LINE" is an option */
    bool edits;          /* w and r name files */
} languages[] = {
    { "ed red", "", "", "", 1, true, false, true },
    { "ex vi vim nvim view gvim", "-c --cmd", "-s -S -u", "", 0, true, true, true },
    { "less more most", "", "", "", 0, true, true, false },
    { "gdb lldb", "-ex -iex --ex --eval-command -o", "-x --command -s", "shell pipe", 0, true,
      false, false },
    { "sqlite3 sqlcipher", "-cmd", "-init", ".shell .system .excel .once", 2, false, false, false },
    { "psql mysql mariadb", "-c -e --command --execute", "-f --file", "\\! system", 0, false, false,
      false },
    { "dc bc", "-e --expression", "-f --file", "", 0, true, false, false },
    { "ftp sftp lftp", "-e -c", "-b -f", "", 0, true, false, false },
    { "ghci", "-e", "", ":!", 0, false, false, false },
    { "tclsh expect wish", "-c", "-f", "exec spawn system", 0, false, false, false },
    { "mail mailx", "", "", "~!", 0, false, false, false },
};

static const struct language *language_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(languages); i++)
        if (danger_is(name, languages[i].names))
            return &languages[i];
    return NULL;
}

static void run(struct danger_scan *scan, struct str text)
{
    danger_run_text_by(scan, "sh", text, (struct danger_stream){ 0 });
}

/* Behind "!" when only a range and a word or two stand before it: "%!", ":r !", "silent !". */
static struct str behind_bang(struct str line)
{
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];

        if (c == '!')
            return str_skip(line, i + 1);
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            !strchr(",.$%:'\" ", c))
            break;
    }
    return STR_NONE;
}

/* "w /etc/x", ":r /etc/y", "w! ~/z" */
static void judge_edit(struct danger_scan *scan, struct str line)
{
    struct str word;

    while (line.n && strchr(":%,.$0123456789 ", line.p[0]))
        line = str_skip(line, 1);
    str_split(&line, ' ', &word);
    line = str_trim(line);
    if (!line.n || !strchr("/~", line.p[0]))
        return;
    if (danger_is(word, "w w! wq wq! x x! write write! sav saveas sav! saveas! W f"))
        danger_judge_place(scan, danger_home(scan, line), DANGER_WRITES);
    else if (danger_is(word, "r read e e! edit E tabe split sp vs"))
        danger_judge_place(scan, danger_home(scan, line), DANGER_READS);
}

static void run_line(struct danger_scan *scan, const struct language *language, struct str line)
{
    struct str rest = STR(""), word, out;

    line = str_trim(line);
    if (language->edits)
        judge_edit(scan, line);
    out = language->bang ? behind_bang(line) : STR_NONE;
    if (out.n)
        run(scan, out);
    rest = str_from(language->words);
    while (str_split(&rest, ' ', &word) && !scan->hit)
        if (word.n && str_starts(line, word) && line.n > word.n)
            run(scan, str_skip(line, word.n));
}

static void run_lines(struct danger_scan *scan, const struct language *language, struct str text)
{
    struct str rest = text, line;

    if (!text.p)
        return;
    while (!scan->hit && str_split(&rest, '\n', &line))
        run_line(scan, language, line);
    if (!scan->hit)
        danger_run_code(scan, text);
}

/* The line that this word holds or announces; p NULL when it is none. */
static struct str line_at(struct danger_scan *scan, const struct danger_command *command, size_t i,
                          const struct language *language)
{
    struct str word = danger_plain(scan, command->words[i].text);
    ptrdiff_t is = str_find_char(word, '=');

    if (danger_is(word, language->files) && i + 1 < command->n)
        return danger_read_file(scan, command->words[i + 1].text).text;
    if (danger_is(word, language->options))
        return i + 1 < command->n ? danger_plain(scan, command->words[i + 1].text) : STR_NONE;
    if (is > 0 && danger_is(str_take(word, (size_t)is), language->options))
        return str_skip(word, (size_t)is + 1);
    if (language->plus && str_starts(word, STR("+")))
        return str_skip(word, 1);
    for (size_t k = language->operand; k > 0 && danger_operand(command, k - 1); k++)
        if (danger_operand(command, k - 1) == &command->words[i])
            return word;
    return STR_NONE;
}

void danger_run_escapes(struct danger_scan *scan, const struct danger_command *command,
                        struct str name)
{
    const struct language *language = language_of(name);

    if (!language)
        return;
    for (size_t i = 1; i < command->n && !scan->hit; i++)
        run_lines(scan, language, line_at(scan, command, i, language));
    if (!scan->hit)
        run_lines(scan, language, command->in.text);
}

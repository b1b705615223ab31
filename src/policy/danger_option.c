/* Options, settings and variables of other programs whose value is run as a command.
 *
 * Most say so by their name: --to-command, core.pager, ProxyCommand, GIT_SSH. Those are known for
 * every program, also for one that nobody thought of. Single letters are known program by program.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

#define NAME_BYTES_MAX 64

/* How the names of values end that are run, in lower case. */
#define RUN_ENDS                                                                                   \
    "action alias askpass browser clean cmd command difftool driver editor eval exec external "    \
    "external_diff filter fsmonitor helper hook lessopen mergetool opener pack pager "             \
    "preprocessor preview pre "                                                                    \
    "process program proxycommand rsh rsync-path run script shell smudge ssh textconv viewer "     \
    "visual"

/* Programs that only print, compare or keep what they are given. */
#define ONLY_TEXT "ack ag echo egrep fgrep grep jq logger notify-send printf say test [ yq"

static const struct {
    const char *names, *options; /* a command follows, in the same word or the next */
} letters[] = {
    { "tar bsdtar gtar", "-I -F" },
    { "rsync", "-e" },
    { "scp sftp", "-S" },
    { "man", "-P" },
    { "zip", "-TT" },
    { "fd fdfind", "-x -X" },
    { "npm npx pnpm", "-c" },
    { "nodemon", "-x" },
    { "git", "-x -u -O" }, /* rebase, clone, grep */
};

bool danger_names_command(struct str name)
{
    struct str rest = STR(RUN_ENDS), end;
    char lower[NAME_BYTES_MAX];

    if (name.n == 0 || name.n > sizeof(lower))
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            !strchr("._-", c))
            return false;
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    while (str_split(&rest, ' ', &end))
        if (str_ends(str_of(lower, name.n), end))
            return true;
    return str_starts(name, STR("alias.")) || str_starts(name, STR("GIT_CONFIG_VALUE"));
}

void danger_run_value(struct danger_scan *scan, struct str name, struct str value)
{
    struct str text = str_trim(danger_plain(scan, value));
    bool alias = str_starts(name, STR("alias."));

    if (alias && !str_starts(text, STR("!")))
        return; /* another word for a command of the same program */
    if (str_starts(text, STR("exec=")))
        text = str_skip(text, 5); /* tar --checkpoint-action */
    while (text.n > 0 && strchr("!|", text.p[0]))
        text = str_skip(text, 1);
    danger_run_text_by(scan, "sh", text, (struct danger_stream){ 0 });
}

/* The value stands in words of its own: one text, or the words of a command up to the end. */
static void run_next(struct danger_scan *scan, const struct danger_command *command, size_t i,
                     struct str name)
{
    if (i >= command->n || danger_is_option(command->words[i].text))
        return;
    danger_judge_source(scan, command->words[i].facts);
    if (str_find_char(command->words[i].text, ' ') >= 0 || i + 1 == command->n)
        danger_run_value(scan, name, command->words[i].text);
    else
        danger_run_words(scan, command, i);
}

/* "name=value"; for ssh also "name value". */
static void run_setting(struct danger_scan *scan, struct str word, bool blank)
{
    size_t n = 0;

    while (n < word.n && word.p[n] != '=' && !(blank && word.p[n] == ' '))
        n++;
    if (n < word.n && danger_names_command(str_take(word, n)))
        danger_run_value(scan, str_take(word, n), str_skip(word, n + 1));
}

/* --name=value and --name value */
static void run_long(struct danger_scan *scan, const struct danger_command *command, size_t i)
{
    struct str word = str_skip(command->words[i].text, 2);

    if (str_find_char(word, '=') > 0)
        run_setting(scan, word, false);
    else if (danger_names_command(word))
        run_next(scan, command, i + 1, word);
}

/* -c TEXT, -e TEXT, -exec TEXT of a program that is not known: one word that is a whole command. */
static void run_unknown(struct danger_scan *scan, const struct danger_command *command, size_t i)
{
    struct str word = command->words[i].text, text;

    if (i + 1 >= command->n || str_find_char(command->words[i + 1].text, ' ') < 0 ||
        !(danger_is(word, "-c -e") || danger_names_command(str_skip(word, 1))))
        return;
    text = danger_plain(scan, command->words[i + 1].text);
    danger_run_text_by(scan, "sh", text, (struct danger_stream){ 0 });
    danger_run_code(scan, text);
}

/* -Xvalue, -X value, -abX value */
static void run_short(struct danger_scan *scan, const struct danger_command *command, size_t i,
                      const char *options)
{
    struct str word = command->words[i].text, rest = str_from(options), one;

    while (str_split(&rest, ' ', &one) && !scan->hit) {
        if (str_eq(word, one) || (one.n == 2 && word.p[word.n - 1] == one.p[1]))
            run_next(scan, command, i + 1, one);
        else if (str_starts(word, one))
            danger_run_value(scan, one, str_skip(word, one.n));
    }
}

static const char *letters_of(struct str name)
{
    for (size_t k = 0; k < ARRAY_LEN(letters); k++)
        if (danger_is(name, letters[k].names))
            return letters[k].options;
    return "";
}

/* ---- git ---- */

/* git config KEY VALUE, submodule foreach TEXT, bisect run WORDS, ext::COMMAND */
static void run_git(struct danger_scan *scan, const struct danger_command *command, size_t i)
{
    struct str word = command->words[i].text, before = command->words[i - 1].text;

    if (danger_is(before, "-m --message"))
        return;
    if (str_starts(word, STR("ext::"))) {
        char *text = arena_copy(scan->arena, word.p + 5, word.n - 5);

        for (size_t k = 0; k < word.n - 5; k++)
            text[k] = text[k] == '%' ? ' ' : text[k];
        danger_run_text_by(scan, "sh", str_of(text, word.n - 5), (struct danger_stream){ 0 });
    } else if (i + 1 == command->n) {
        return;
    } else if (str_is(word, "foreach") && str_is(before, "submodule")) {
        danger_run_text_by(scan, "sh", danger_joined(scan, command, i + 1),
                           (struct danger_stream){ 0 });
    } else if (str_is(word, "run") && str_is(before, "bisect")) {
        danger_run_words(scan, command, i + 1);
    } else if (str_find_char(word, '.') > 0 && danger_names_command(word)) {
        danger_run_value(scan, word, command->words[i + 1].text);
    }
}

void danger_run_options(struct danger_scan *scan, const struct danger_command *command,
                        struct str name)
{
    const char *options = letters_of(name);
    bool known = options[0] || danger_is(name, "find rg") || danger_is_interpreter(name);
    bool ssh = danger_is(name, "ssh scp sftp"), git = str_is(name, "git");

    if (danger_is(name, ONLY_TEXT))
        return;
    for (size_t i = 1; i < command->n && !scan->hit; i++) {
        struct str word = command->words[i].text;

        if (str_is(word, "--"))
            continue;
        if (ssh && str_starts(word, STR("-o")))
            run_setting(scan, str_skip(word, 2), true);
        else if (str_starts(word, STR("--")))
            run_long(scan, command, i);
        else if (danger_is_option(word) && known)
            run_short(scan, command, i, options);
        else if (danger_is_option(word))
            run_unknown(scan, command, i);
        else if (!(git && danger_is(command->words[i - 1].text, "-m --message")))
            run_setting(scan, word, ssh);
        if (git && !scan->hit)
            run_git(scan, command, i);
    }
}

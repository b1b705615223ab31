/* Which of a command's words it reads or writes as files.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

enum { READS = DANGER_READS, WRITES = DANGER_WRITES };

static bool edits_in_place(const struct danger_command *command, struct str name)
{
    return (danger_is(name, "sed perl") && danger_has_flag(command, "i", "in-place"));
}

/* How a command uses its words. */
struct use {
    struct str name;
    bool all;     /* writes all its files */
    bool last;    /* writes the last one */
    bool reads;   /* the others */
    bool keys;    /* may be given a key by an option */
    bool pattern; /* the first is no file */
};

static struct use use_of(const struct danger_command *command, struct str name)
{
    return (struct use){
        .name = name,
        .all =
            danger_is(name, "tee rm shred truncate unlink touch ln sponge patch ed ex vi vim nvim "
                            "nano emacs micro") ||
            edits_in_place(command, name),
        .last = danger_is(name, "cp mv install rsync scp ln") && !danger_into_directory(command),
        .reads = !danger_is(name, "ls stat test [ echo printf chmod chown ssh ssh-add ssh-keygen "
                                  "git cd mkdir find rm touch file basename dirname realpath "
                                  "readlink sftp kubectl helm npm docker podman"),
        .keys = danger_is(name, "ssh scp sftp ansible ansible-playbook"),
        .pattern =
            danger_is(name, "grep egrep fgrep rg ag") && !danger_has_flag(command, "ef", NULL),
    };
}

/* Letters of options whose value is written, also at the end of a bundle. */
static const char *written_letters(struct str name)
{
    static const struct {
        const char *names, *letters;
    } known[] = {
        { "curl", "oDc" },     { "wget", "OoaP" }, { "cp mv install ln", "t" },
        { "tar bsdtar", "C" }, { "unzip", "d" },
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (danger_is(name, known[i].names))
            return known[i].letters;
    return "";
}

/* Does the option's value name a file or directory that is written? */
static bool writes_value(struct str option, struct str name)
{
    static const char *const parts[] = { "output",  "dump-header", "cookie-jar", "trace",
                                         "save",    "append",      "directory",  "target",
                                         "libcurl", "stderr",      "fprint",     "fls" };

    if (!danger_is_option(option))
        return false;
    if (danger_is(option, "-o -O -out -P -fprint -fprintf -fprint0 -fls"))
        return true;
    if (option.p[1] != '-')
        return strchr(written_letters(name), option.p[option.n - 1]) != NULL;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (str_find(option, str_from(parts[i])) > 0)
            return true;
    return false;
}

/* "--file=PATH", "-d@PATH", "-fPATH" */
static void judge_option(struct danger_scan *scan, struct str word, const struct use *use)
{
    ptrdiff_t is = str_find_char(word, '=');
    size_t at = 2;

    if (use->keys)
        return;
    if (word.n > 1 && word.p[1] == '-' && is > 0) {
        struct str value = str_skip(word, (size_t)is + 1);

        danger_judge_place(scan, value.n > 0 && value.p[0] == '@' ? str_skip(value, 1) : value,
                           writes_value(str_take(word, (size_t)is), use->name) ? WRITES : READS);
        return;
    }
    while (at < word.n && word.p[at] != '/' && word.p[at] != MARK_HOME)
        at++;
    if (word.n > 2 && word.p[1] != '-' && at < word.n)
        danger_judge_place(scan, str_skip(word, at),
                           writes_value(str_take(word, 2), use->name) ||
                                   writes_value(str_take(word, at), use->name)
                               ? WRITES
                               : READS);
}

/* The path in "@file", "name=@file", "name=<file", "name@/file", "file:///path". */
static struct str path_in(struct str word)
{
    for (size_t i = 0; i + 1 < word.n; i++)
        if ((word.p[i] == '@' || word.p[i] == '<') &&
            (i == 0 || word.p[i - 1] == '=' || strchr("/\x0e", word.p[i + 1])))
            return str_skip(word, i + 1);
    return str_starts(word, STR("file://")) ? str_skip(word, 7) : word;
}

/* curl -K FILE: each line is an option. */
static void judge_config(struct danger_scan *scan, const struct danger_command *command,
                         const struct use *use)
{
    struct danger_stream config = { 0 };
    struct str line;

    for (size_t i = 1; i + 1 < command->n; i++)
        if (danger_is(command->words[i].text, "-K --config"))
            config = str_is(command->words[i + 1].text, "-")
                         ? command->in
                         : danger_read_file(scan, command->words[i + 1].text);
    while (config.text.p && str_split(&config.text, '\n', &line)) {
        size_t n = 0, from;

        line = str_trim(line);
        while (n < line.n && !strchr(" =:\t", line.p[n]))
            n++;
        for (from = n; from < line.n && strchr(" =:\t\"'", line.p[from]);)
            from++;
        while (line.n > from && strchr("\"'", line.p[line.n - 1]))
            line.n--;
        judge_option(scan,
                     str_from(arena_printf(scan->arena, "--%.*s=%.*s", STR_ARG(str_take(line, n)),
                                           STR_ARG(danger_home(scan, str_skip(line, from))))),
                     use);
    }
}

/* Moving or removing a directory takes what is in it along. */
static void judge_above(struct danger_scan *scan, const struct danger_command *command,
                        struct str path, const struct use *use)
{
    if (!scan->hit &&
        (danger_path_is(path, "~/.local") || danger_path_is(path, "~/.local/share")) &&
        (str_is(use->name, "mv") ||
         (danger_is(use->name, "rm srm") && danger_has_flag(command, "rR", "recursive"))))
        danger_report(scan, "dormouse_own_data", "It would read or change Dormouse's own data.");
}

static void judge_word(struct danger_scan *scan, const struct danger_command *command, size_t i,
                       const struct use *use)
{
    struct str word = command->words[i].text, before = command->words[i - 1].text;
    unsigned how = use->reads ? READS : 0;

    if (use->all)
        how |= WRITES;
    if (use->last && i + 1 == command->n)
        how = WRITES;
    if (writes_value(before, use->name))
        how = WRITES;
    if (str_is(use->name, "dd") && str_find_char(word, '=') > 0) {
        how = str_starts(word, STR("of=")) ? WRITES : READS;
        word = str_skip(word, (size_t)str_find_char(word, '=') + 1);
    } else {
        word = path_in(word);
    }
    danger_judge_place(scan, word, how);
    if (how != WRITES || use->all)
        judge_above(scan, command, danger_path(scan, word), use);
    if (str_find(word, STR(".local/share/dormouse")) >= 0 && !scan->hit && use->reads)
        danger_report(scan, "dormouse_own_data", "It would read or change Dormouse's own data.");
}

/* Commands that only look at names (ls, stat, chmod of one's own key, ssh -i) do neither. */
void danger_judge_files(struct danger_scan *scan, const struct danger_command *command,
                        struct str name)
{
    struct use use = use_of(command, name);
    const struct danger_word *pattern = use.pattern ? danger_operand(command, 0) : NULL;

    for (size_t i = 1; i < command->n && !scan->hit; i++) {
        struct str word = command->words[i].text;

        if (word.n == 0 || &command->words[i] == pattern ||
            (use.keys && str_is(command->words[i - 1].text, "-i")))
            continue;
        if (word.p[0] == '-')
            judge_option(scan, word, &use);
        else
            judge_word(scan, command, i, &use);
    }
    if (str_is(name, "curl"))
        judge_config(scan, command, &use);
}

void danger_judge_redirections(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 0; i < command->redirs_n; i++) {
        const struct danger_redir *redir = &command->redirs[i];
        struct str name = command->n ? danger_base(command->words[0].text) : STR_NONE;

        if (redir->kind == REDIR_TEXT)
            continue;
        danger_judge_place(scan, redir->word.text,
                           redir->kind == REDIR_READ    ? READS
                           : redir->kind == REDIR_WRITE ? WRITES
                                                        : READS | WRITES);
        if ((str_starts(redir->word.text, STR("/dev/tcp/")) ||
             str_starts(redir->word.text, STR("/dev/udp/"))) &&
            danger_is_shell(name) && !scan->hit)
            danger_report(scan, "reverse_shell",
                          "It would hand a shell to somebody on the network.");
    }
}

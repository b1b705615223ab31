/* The table of places: files that a command must not read, or not write.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

enum { READS = 1, WRITES = 2, TREE = 4 /* read as a whole, or all of what is in it */ };

static const struct place {
    const char *path;
    unsigned when;
    const char *rule, *about;
} places[] = {
#define OWN "dormouse_own_data", "It would read or change Dormouse's own data."
    { "~/.local/share/dormouse", READS | WRITES, OWN },
    { "~/.config/systemd/user/dormouse.service", WRITES, OWN },
#undef OWN
#define KEYS "credentials_read", "It would read keys or passwords."
    { "/etc/shadow", READS | WRITES, KEYS },
    { "/etc/gshadow", READS | WRITES, KEYS },
    { "~/.ssh/id_*", READS | WRITES, KEYS },
    { "~/.aws/credentials", READS, KEYS },
    { "~/.netrc", READS, KEYS },
    { "~/.gnupg/private-keys-v1.d", READS, KEYS },
    { "~/.git-credentials", READS, KEYS },
    { "~/.pgpass", READS, KEYS },
    { "~/.local/share/keyrings", READS, KEYS },
    { "~/.password-store", READS, KEYS },
    { "~/.ssh", READS | TREE, KEYS },
    { "~/.aws", READS | TREE, KEYS },
    { "~/.gnupg", READS | TREE, KEYS },
#undef KEYS
#define STAY "persistence", "It would leave something behind that runs or lets in by itself later."
    { "~/.ssh/authorized_keys", WRITES, STAY },
    { "~/.ssh/rc", WRITES, STAY },
    { "~/.config/autostart", WRITES, STAY },
    { "~/.config/systemd", WRITES, STAY },
    { "/etc/sudoers", WRITES, STAY },
    { "/etc/sudoers.d", WRITES, STAY },
    { "/etc/passwd", WRITES, STAY },
    { "/etc/group", WRITES, STAY },
    { "/etc/ld.so.preload", WRITES, STAY },
    { "/etc/pam.d", WRITES, STAY },
    { "/etc/crontab", WRITES, STAY },
    { "/etc/cron.d", WRITES, STAY },
    { "/etc/cron.daily", WRITES, STAY },
    { "/etc/cron.hourly", WRITES, STAY },
    { "/etc/cron.weekly", WRITES, STAY },
    { "/etc/cron.monthly", WRITES, STAY },
    { "/etc/anacrontab", WRITES, STAY },
    { "/etc/ssh", WRITES, STAY },
    { "/etc/profile", WRITES, STAY },
    { "/etc/profile.d", WRITES, STAY },
    { "/etc/rc.local", WRITES, STAY },
    { "/etc/init.d", WRITES, STAY },
    { "/etc/systemd", WRITES, STAY },
    { "/lib/systemd", WRITES, STAY },
    { "/usr/lib/systemd", WRITES, STAY },
    { "/var/spool/cron", WRITES, STAY },
#undef STAY
#define TRACES "traces_wiped", "It would remove the traces of what was done."
    { "~/.bash_history", WRITES, TRACES },
    { "~/.zsh_history", WRITES, TRACES },
    { "/var/log", WRITES, TRACES },
    { "/var/run/utmp", WRITES, TRACES },
#undef TRACES
#define GUARD "protection_disabled", "It would turn off what protects this machine."
    { "/proc/sys", WRITES, GUARD },
    { "/proc/sysrq-trigger", WRITES, GUARD },
    { "/sys", WRITES, GUARD },
    { "/proc/1/root", READS | WRITES, GUARD },
    { "/proc/1/environ", READS | WRITES, GUARD },
    { "/boot", WRITES, GUARD },
#undef GUARD
};

static void judge_place(struct danger_scan *scan, struct str text, unsigned how)
{
    struct str path;

    if (text.n == 0 || scan->hit)
        return;
    path = danger_path(scan, text);
    if (how & WRITES && danger_path_device(path)) {
        danger_report(scan, "disk_overwritten",
                      "It would overwrite a disk or the machine's memory.");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (places[i].when & how &&
            (places[i].when & TREE ? danger_path_is(path, places[i].path)
                                   : danger_path_in(path, places[i].path))) {
            danger_report(scan, places[i].rule, places[i].about);
            return;
        }
}

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
                                  "readlink sftp"),
        .keys = danger_is(name, "ssh scp sftp ansible ansible-playbook"),
        .pattern =
            danger_is(name, "grep egrep fgrep rg ag") && !danger_has_flag(command, "ef", NULL),
    };
}

/* Does the option's value name a file or directory that is written? */
static bool writes_value(struct str option, struct str name)
{
    return danger_is(option, "-o -O -out --output --output-document --target-directory --directory "
                             "--directory-prefix -P") ||
           (str_is(option, "-t") && danger_is(name, "cp mv install ln")) ||
           (str_is(option, "-C") && str_is(name, "tar")) ||
           (str_is(option, "-d") && str_is(name, "unzip"));
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

        judge_place(scan, value.n > 0 && value.p[0] == '@' ? str_skip(value, 1) : value,
                    writes_value(str_take(word, (size_t)is), use->name) ? WRITES : READS);
        return;
    }
    while (at < word.n && word.p[at] != '/' && word.p[at] != MARK_HOME)
        at++;
    if (word.n > 2 && word.p[1] != '-' && at < word.n)
        judge_place(scan, str_skip(word, at),
                    writes_value(str_take(word, 2), use->name) ? WRITES : READS);
}

/* The path in "@file", "name=@file", "file:///path". */
static struct str path_in(struct str word)
{
    ptrdiff_t file =
        word.p[0] == '@' || str_find_char(word, '=') > 0 ? str_find_char(word, '@') : -1;

    if (str_starts(word, STR("file://")))
        return str_skip(word, 7);
    return file >= 0 ? str_skip(word, (size_t)file + 1) : word;
}

/* Moving or removing a directory takes what is in it along. */
static void judge_above(struct danger_scan *scan, const struct danger_command *command,
                        struct str path, const struct use *use)
{
    bool moves = str_is(use->name, "mv") ||
                 (danger_is(use->name, "rm srm") && danger_has_flag(command, "rR", "recursive"));

    if (moves && !scan->hit &&
        (danger_path_is(path, "~/.local") || danger_path_is(path, "~/.local/share")))
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
    judge_place(scan, word, how);
    if (how != WRITES || use->all)
        judge_above(scan, command, danger_path(scan, word), use);
    if (str_find(word, STR(".local/share/dormouse")) >= 0 && !scan->hit && use->reads)
        danger_report(scan, "dormouse_own_data", "It would read or change Dormouse's own data.");
}

/* Which of a command's words it reads or writes as files. Those that only look at names (ls, stat,
 * chmod of one's own key, ssh -i) do neither. */
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
}

void danger_judge_redirections(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 0; i < command->redirs_n; i++) {
        const struct danger_redir *redir = &command->redirs[i];
        struct str name = command->n ? danger_base(command->words[0].text) : STR_NONE;

        if (redir->kind == REDIR_TEXT)
            continue;
        judge_place(scan, redir->word.text,
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

/* The table of places: files that a command must not read, or not write.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

enum { READS = 1, WRITES = 2 };

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

static bool matches(struct str path, const char *place)
{
    size_t n = strlen(place);
    char stem[64];

    if (place[n - 1] != '*')
        return danger_path_in(path, place);
    memcpy(stem, place, n - 1);
    stem[n - 1] = '\0';
    if (str_ends(path, STR(".pub")))
        return false;
    /* The stem's last part is a beginning, not a directory. */
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/' && i + 3 <= path.n && memcmp(path.p + i, "id_", 3) == 0) {
            stem[n - 5] = '\0';
            return danger_path_in(str_take(path, i - 1), stem);
        }
    return false;
}

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
        if (places[i].when & how && matches(path, places[i].path)) {
            danger_report(scan, places[i].rule, places[i].about);
            return;
        }
}

static bool edits_in_place(const struct danger_command *command, struct str name)
{
    return (danger_is(name, "sed perl") && danger_has_flag(command, "i", "in-place"));
}

/* Which of a command's words it reads or writes as files. Those that only look at names (ls, stat,
 * chmod of one's own key, ssh -i) do neither. */
void danger_judge_files(struct danger_scan *scan, const struct danger_command *command,
                        struct str name)
{
    bool all =
        danger_is(name, "tee rm shred truncate unlink touch ln") || edits_in_place(command, name);
    bool last = danger_is(name, "cp mv install rsync scp ln");
    bool reads =
        !danger_is(name, "ls stat test [ echo printf chmod chown ssh ssh-add ssh-keygen git "
                         "cd mkdir find rm touch file basename dirname realpath readlink "
                         "sftp scp grep rg");

    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;
        ptrdiff_t is = str_find_char(word, '=');
        unsigned how = reads ? READS : 0;

        if (word.n == 0 || word.p[0] == '-')
            continue;
        if (all || (last && i + 1 == command->n))
            how |= WRITES;
        if (name.n == 2 && str_is(name, "dd") && is > 0) {
            how = str_starts(word, STR("of=")) ? WRITES : READS;
            word = str_skip(word, (size_t)is + 1);
        } else if (word.p[0] == '@' || is > 0) { /* curl -d @file, -F x=@file */
            ptrdiff_t file = str_find_char(word, '@');

            if (file >= 0)
                word = str_skip(word, (size_t)file + 1);
        }
        judge_place(scan, word, how);
        if (str_find(word, STR(".local/share/dormouse")) >= 0 && !scan->hit && reads)
            danger_report(scan, "dormouse_own_data",
                          "It would read or change Dormouse's own data.");
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

/* The table of rules: which commands, and when they are a finding.
 *
 * A rule is for what no owner would want an agent to do, whoever asks. What is merely risky (a
 * forced push, deleting a build) is for approvals.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "policy/danger_int.h"

typedef bool check_fn(struct danger_scan *scan, const struct danger_command *command);

bool danger_is_shell(struct str name)
{
    return danger_is(name, "sh bash dash zsh ksh mksh ash fish csh tcsh rbash");
}

/* Without a script to run, or with "-". */
bool danger_reads_script(const struct danger_command *command)
{
    const struct danger_word *file = danger_operand(command, 0);

    for (size_t i = 1; i < command->n; i++)
        if (danger_is(command->words[i].text, "-m -c -e -r -p -V --version -h --help"))
            return false;
    return !file || danger_is(file->text, "- /dev/stdin");
}

static bool any_vital(struct danger_scan *scan, const struct danger_command *command, size_t from)
{
    const struct danger_word *word;

    for (size_t i = from; (word = danger_operand(command, i)) != NULL; i++)
        if (word->text.n > 0 && danger_path_vital(danger_path(scan, word->text)))
            return true;
    return false;
}

static bool any_device(struct danger_scan *scan, const struct danger_command *command)
{
    const struct danger_word *word;

    for (size_t i = 0; (word = danger_operand(command, i)) != NULL; i++)
        if (danger_path_device(danger_path(scan, word->text)))
            return true;
    return false;
}

static bool has_word(const struct danger_command *command, const char *list)
{
    for (size_t i = 1; i < command->n; i++)
        if (danger_is(command->words[i].text, list))
            return true;
    return false;
}

/* ---- deletion ---- */

static bool rm_root(struct danger_scan *scan, const struct danger_command *command)
{
    if (has_word(command, "--no-preserve-root"))
        return true;
    return danger_has_flag(command, "rR", "recursive") && any_vital(scan, command, 0);
}

/* find / -delete, without a test that narrows it. */
static bool find_root(struct danger_scan *scan, const struct danger_command *command)
{
    bool deletes = has_word(command, "-delete"), vital = false;

    for (size_t i = 1; i + 1 < command->n; i++)
        if (danger_is(command->words[i].text, "-exec -execdir -ok") &&
            danger_is(danger_base(command->words[i + 1].text), "rm shred unlink"))
            deletes = true;
    if (!deletes || has_word(command, "-name -iname -path -ipath -regex -iregex -newer -mtime "
                                      "-mmin -atime -size -empty -user -perm -inum -wholename"))
        return false;
    for (size_t i = 1;
         i < command->n && command->words[i].text.n > 0 && command->words[i].text.p[0] != '-'; i++)
        vital = vital || (!str_is(command->words[i].text, ".") &&
                          danger_path_vital(danger_path(scan, command->words[i].text)));
    return vital;
}

static bool rsync_root(struct danger_scan *scan, const struct danger_command *command)
{
    bool deletes = false;

    for (size_t i = 1; i < command->n; i++)
        deletes = deletes || str_starts(command->words[i].text, STR("--delete")) ||
                  str_is(command->words[i].text, "--del");
    return deletes && danger_operand(command, 1) &&
           danger_path_vital(danger_path(scan, command->words[command->n - 1].text)) &&
           !danger_is(command->words[command->n - 1].text, ". ./");
}

static bool mv_root(struct danger_scan *scan, const struct danger_command *command)
{
    const struct danger_word *word = danger_operand(command, 0);
    struct str path;

    if (!word || !danger_operand(command, 1))
        return false;
    path = danger_path(scan, word->text);
    return path.n > 0 && (path.p[0] == '/' || path.p[0] == MARK_HOME) && danger_path_vital(path);
}

/* ---- disks ---- */

static bool on_device(struct danger_scan *scan, const struct danger_command *command)
{
    return any_device(scan, command);
}

static bool partition(struct danger_scan *scan, const struct danger_command *command)
{
    return any_device(scan, command) && !danger_has_flag(command, "lp", "list") &&
           !has_word(command, "print");
}

static bool dd_device(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++)
        if (str_starts(command->words[i].text, STR("of=")) &&
            danger_path_device(danger_path(scan, str_skip(command->words[i].text, 3))))
            return true;
    return false;
}

static bool copy_device(struct danger_scan *scan, const struct danger_command *command)
{
    return command->n > 2 &&
           danger_path_device(danger_path(scan, command->words[command->n - 1].text));
}

static bool volume_gone(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return has_word(command, "luksFormat luksErase erase destroy format sanitize");
}

static bool always(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan, (void)command;
    return true;
}

/* ---- rights ---- */

static bool rights_of_root(struct danger_scan *scan, const struct danger_command *command)
{
    const struct danger_word *word;

    for (size_t i = 1; (word = danger_operand(command, i)) != NULL; i++) {
        struct str path = danger_path(scan, word->text);
        bool here = path.n == 0;

        if (!here && danger_path_vital(path) &&
            (danger_has_flag(command, "R", "recursive") || str_is(path, "/")))
            return true;
    }
    return false;
}

static bool setuid(struct danger_scan *scan, const struct danger_command *command)
{
    const struct danger_word *mode = danger_operand(command, 0), *file = danger_operand(command, 1);
    struct str path;

    if (!mode || !file)
        return false;
    path = danger_path(scan, file->text);
    if (danger_path_in(path, "/etc/shadow") || danger_path_in(path, "/etc/passwd") ||
        danger_path_in(path, "/etc/sudoers") || danger_path_device(path))
        return true;
    if (str_find(mode->text, STR("+s")) < 0 &&
        !(mode->text.n == 4 && mode->text.p[0] >= '4' && mode->text.p[0] <= '7'))
        return false;
    return path.n > 0 && path.p[0] == '/';
}

/* ---- protection ---- */

static bool firewall_off(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    if (danger_is(danger_base(command->words[0].text), "ufw"))
        return has_word(command, "disable reset");
    if (danger_is(danger_base(command->words[0].text), "nft"))
        return has_word(command, "flush");
    return has_word(command, "-F --flush -X") ||
           (has_word(command, "-P --policy") && has_word(command, "ACCEPT"));
}

static bool enforce_off(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return has_word(command, "0 Permissive permissive");
}

static bool enter_init(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    for (size_t i = 1; i < command->n; i++)
        if (danger_is(command->words[i].text, "-t1 --target=1") ||
            (danger_is(command->words[i].text, "-t --target") && i + 1 < command->n &&
             str_is(command->words[i + 1].text, "1")))
            return true;
    return false;
}

static bool sysctl_off(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    for (size_t i = 1; i < command->n; i++)
        if (str_starts(command->words[i].text, STR("kernel.")) &&
            str_find_char(command->words[i].text, '=') > 0)
            return true;
    return false;
}

static bool service_off(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return has_word(command, "stop disable mask kill") &&
           has_word(command, "firewalld ufw nftables iptables apparmor auditd fail2ban "
                             "firewalld.service ufw.service nftables.service apparmor.service "
                             "auditd.service dormouse dormouse.service");
}

static bool remount(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    for (size_t i = 1; i < command->n; i++)
        if (str_find(command->words[i].text, STR("remount")) >= 0)
            return has_word(command, "/ /usr /boot /proc /sys");
    return false;
}

/* ---- the end of the machine ---- */

static bool not_cancelled(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return !has_word(command, "-c --help --version");
}

static bool run_level(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return has_word(command, "0 1 6 s S q");
}

static bool power(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return has_word(command, "poweroff reboot halt kexec suspend hibernate hybrid-sleep emergency "
                             "rescue soft-reboot isolate");
}

/* kill -9 -1, kill 1; not kill -1 123, which is a hang-up. */
static bool kill_all(struct danger_scan *scan, const struct danger_command *command)
{
    size_t from = 1;

    (void)scan;
    if (from < command->n && danger_is(command->words[from].text, "-s -n"))
        from += 2;
    else if (from + 1 < command->n && command->words[from].text.n > 1 &&
             command->words[from].text.p[0] == '-' && !str_is(command->words[from].text, "--"))
        from++;
    for (; from < command->n; from++)
        if (danger_is(command->words[from].text, "-1 1"))
            return true;
    return false;
}

static bool kill_user(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return (danger_has_flag(command, "u", "user") && !danger_operand(command, 1)) ||
           has_word(command, "dormouse init systemd dormouse-hand");
}

/* ---- staying ---- */

static bool crontab(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return command->n > 1 ? !danger_has_flag(command, "l", NULL) : command->in_pipe;
}

static bool unit(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return has_word(command, "enable edit link reenable set-environment import-environment");
}

/* ---- traces ---- */

static bool history(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return danger_has_flag(command, "cdw", NULL);
}

static bool journal(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    for (size_t i = 1; i < command->n; i++)
        if (str_starts(command->words[i].text, STR("--vacuum")) ||
            str_is(command->words[i].text, "--flush") || str_is(command->words[i].text, "--rotate"))
            return true;
    return false;
}

static bool ring_buffer(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return danger_has_flag(command, "cC", "clear");
}

static bool unset_history(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return has_word(command, "HISTFILE HISTSIZE");
}

static bool set_history(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return has_word(command, "+o") && has_word(command, "history");
}

/* ---- shells for others ---- */

static bool netcat_shell(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return danger_has_flag(command, "ec", "exec") || has_word(command, "--sh-exec --lua-exec");
}

static bool socat_shell(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;

        if (word.n > 5 && (str_eq_nocase(str_take(word, 5), STR("exec:")) ||
                           (word.n > 7 && str_eq_nocase(str_take(word, 7), STR("system:")))))
            return true;
    }
    return false;
}

/* ---- our own ---- */

static bool own_controls(struct danger_scan *scan, const struct danger_command *command)
{
    const struct danger_word *verb = danger_operand(command, 0);

    (void)scan;
    return verb &&
           danger_is(verb->text, "secret approve reject answer inbox kill unkill serve backup "
                                 "model config rerun");
}

static const struct rule {
    const char *names;
    check_fn *check;
    const char *rule, *about;
} rules[] = {
#define DELETE                                                                                     \
    "recursive_delete_of_root",                                                                    \
        "It would delete the system, a home or all of the working directory."
    { "rm srm", rm_root, DELETE },
    { "find", find_root, DELETE },
    { "rsync", rsync_root, DELETE },
    { "mv", mv_root, DELETE },
#undef DELETE
#define DISK "disk_overwritten", "It would overwrite a disk or the machine's memory."
    { "mkfs mke2fs mkswap wipefs blkdiscard badblocks shred tee truncate", on_device, DISK },
    { "fdisk sfdisk cfdisk gdisk sgdisk parted hdparm", partition, DISK },
    { "dd dcfldd pv", dd_device, DISK },
    { "cp install", copy_device, DISK },
    { "cryptsetup zpool nvme", volume_gone, DISK },
    { "pvremove vgremove lvremove", always, DISK },
#undef DISK
#define RIGHTS "permissions_of_root", "It would change who may read or run the system."
    { "chmod chown chgrp setfacl chattr", rights_of_root, RIGHTS },
    { "chmod", setuid, RIGHTS },
#undef RIGHTS
#define GUARD "protection_disabled", "It would turn off what protects this machine."
    { "iptables ip6tables ufw nft", firewall_off, GUARD },
    { "setenforce auditctl", enforce_off, GUARD },
    { "aa-teardown aa-disable apparmor_parser insmod modprobe rmmod kexec", always, GUARD },
    { "nsenter", enter_init, GUARD },
    { "sysctl", sysctl_off, GUARD },
    { "systemctl service", service_off, GUARD },
    { "mount", remount, GUARD },
#undef GUARD
#define DOWN "machine_stopped", "It would stop the machine or everything on it."
    { "shutdown reboot halt poweroff", not_cancelled, DOWN },
    { "init telinit", run_level, DOWN },
    { "systemctl loginctl", power, DOWN },
    { "kill", kill_all, DOWN },
    { "pkill killall skill", kill_user, DOWN },
    { "killall5", always, DOWN },
#undef DOWN
#define STAY "persistence", "It would leave something behind that runs or lets in by itself later."
    { "crontab", crontab, STAY },
    { "at batch", always, STAY },
    { "systemctl", unit, STAY },
    { "visudo vipw ssh-copy-id useradd adduser usermod userdel chpasswd passwd gpasswd", always,
      STAY },
#undef STAY
#define TRACES "traces_wiped", "It would remove the traces of what was done."
    { "history", history, TRACES },
    { "journalctl", journal, TRACES },
    { "dmesg", ring_buffer, TRACES },
    { "unset", unset_history, TRACES },
    { "set", set_history, TRACES },
#undef TRACES
#define SHELL "reverse_shell", "It would hand a shell to somebody on the network."
    { "nc ncat netcat", netcat_shell, SHELL },
    { "socat", socat_shell, SHELL },
#undef SHELL
    { "dormouse", own_controls, "own_controls",
      "It would use the owner's controls of Dormouse itself." },
};

/* ---- files ---- */

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
static void judge_files(struct danger_scan *scan, const struct danger_command *command,
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

static void judge_redirections(struct danger_scan *scan, const struct danger_command *command)
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

/* ---- names ---- */

/* Letters of other scripts that look like Latin ones. */
static struct str looks_like(struct danger_scan *scan, struct str name)
{
    static const struct {
        const char *other;
        char latin;
    } alike[] = { { "а", 'a' },  { "е", 'e' }, { "о", 'o' }, { "р", 'p' }, { "с", 'c' },
                  { "х", 'x' },  { "у", 'y' }, { "і", 'i' }, { "ѕ", 's' }, { "ԁ", 'd' },
                  { "һ", 'h' },  { "м", 'm' }, { "т", 't' }, { "к", 'k' }, { "г", 'r' },
                  { "ո", 'n' },  { "ο", 'o' }, { "α", 'a' }, { "υ", 'u' }, { "ｍ", 'm' },
                  { "ｒ", 'r' }, { "ѡ", 'w' }, { "ｄ", 'd' } };
    AUTO_BUF out = BUF_INIT(256);

    for (size_t i = 0; i < name.n;) {
        size_t step = 1;
        char c = name.p[i];

        for (size_t k = 0; (unsigned char)c >= 0x80 && k < ARRAY_LEN(alike); k++)
            if (str_starts(str_skip(name, i), str_from(alike[k].other))) {
                step = strlen(alike[k].other);
                c = alike[k].latin;
            }
        buf_add_char(&out, c);
        i += step;
    }
    return arena_str(scan->arena, buf_str(&out));
}

static bool is_ascii(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] >= 0x80)
            return false;
    return true;
}

static bool known_name(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (danger_is(name, rules[i].names))
            return true;
    return danger_is_shell(name) || danger_is(name, "sudo curl wget eval");
}

/* The name that a pattern like /bin/r? stands for, when a rule knows it. */
static struct str named(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct str rest = str_from(rules[i].names), one;

        while (str_split(&rest, ' ', &one))
            if (danger_glob_is(name, one))
                return one;
    }
    return name;
}

static bool is_rule_for(const struct rule *rule, struct str name)
{
    if (danger_is(name, rule->names))
        return true;
    return str_starts(name, STR("mkfs.")) && danger_is(STR("mkfs"), rule->names);
}

static void judge_name(struct danger_scan *scan, const struct danger_command *command,
                       struct str name)
{
    if (!is_ascii(name) && known_name(looks_like(scan, name)))
        danger_report(scan, "look_alike_name",
                      "The command's name only looks like that of a well-known one.");
    if (scan->function.n && str_eq(name, scan->function) &&
        (command->in_pipe || command->background))
        danger_report(scan, "fork_bomb", "It would start processes without end.");
    /* A name that only running it would tell, with the arguments of a deletion. */
    if (name.n > 0 && str_find_char(name, MARK_UNKNOWN) >= 0 &&
        danger_has_flag(command, "rR", NULL) && danger_has_flag(command, "f", NULL) &&
        any_vital(scan, command, 0))
        danger_report(scan, "recursive_delete_of_root",
                      "It would delete the system, a home or all of the working directory.");
}

void danger_judge(struct danger_scan *scan, const struct danger_command *command)
{
    struct str name = command->n ? named(danger_base(command->words[0].text)) : STR_NONE;

    if (command->n) {
        judge_name(scan, command, name);
        for (size_t i = 0; i < ARRAY_LEN(rules) && !scan->hit; i++)
            if (is_rule_for(&rules[i], name) && rules[i].check(scan, command))
                danger_report(scan, rules[i].rule, rules[i].about);
        if (!scan->hit)
            judge_files(scan, command, name);
    }
    if (!scan->hit)
        judge_redirections(scan, command);
}

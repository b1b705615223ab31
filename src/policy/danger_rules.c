/* The table of rules: which commands, and when they are a finding.
 *
 * A rule is for what no owner would want an agent to do, whoever asks. What is merely risky (a
 * forced push, deleting a build) is for approvals.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

typedef bool check_fn(struct danger_scan *scan, const struct danger_command *command);

#define SHELLS "sh bash dash zsh ksh mksh ash fish csh tcsh rbash"

bool danger_is_shell(struct str name)
{
    return danger_is(name, SHELLS);
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
    bool deletes = has_word(command, "-delete");

    for (size_t i = 1; i + 1 < command->n; i++)
        if (danger_is(command->words[i].text, "-exec -execdir -ok -okdir") &&
            danger_is(danger_base(command->words[i + 1].text), "rm shred unlink"))
            deletes = true;
    return deletes && !danger_find_narrowed(command) && danger_find_vital(scan, command).p;
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
    bool into = danger_into_directory(command);
    const struct danger_word *word;

    for (size_t i = 0; (word = danger_operand(command, i)) != NULL; i++) {
        struct str path = danger_path(scan, word->text);

        if (!into && !danger_operand(command, i + 1))
            break; /* where they go */
        if (path.n > 0 && (path.p[0] == '/' || path.p[0] == MARK_HOME) && danger_path_vital(path))
            return true;
    }
    return false;
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

static bool rights_of_accounts(struct danger_scan *scan, const struct danger_command *command)
{
    const struct danger_word *file;

    for (size_t i = 1; (file = danger_operand(command, i)) != NULL; i++) {
        struct str path = danger_path(scan, file->text);

        if (danger_path_in(path, "/etc/shadow") || danger_path_in(path, "/etc/passwd") ||
            danger_path_in(path, "/etc/sudoers") || danger_path_device(path))
            return true;
    }
    return false;
}

/* "u+s", "u=rwxs", "4755", "06755" */
static bool sets_uid(struct str mode)
{
    bool gives = false;

    if (mode.n >= 4 && mode.p[0] >= '0' && mode.p[0] <= '7')
        return mode.p[mode.n - 4] >= '4' && mode.p[mode.n - 4] <= '7';
    for (size_t i = 0; i < mode.n; i++) {
        if (mode.p[i] == '+' || mode.p[i] == '=')
            gives = true;
        else if (mode.p[i] == '-' || mode.p[i] == ',' || mode.p[i] == MARK_COMMA)
            gives = false;
        else if (gives && mode.p[i] == 's')
            return true;
    }
    return false;
}

static bool setuid(struct danger_scan *scan, const struct danger_command *command)
{
    const struct danger_word *mode = danger_operand(command, 0), *file = danger_operand(command, 1);
    struct str path;

    if (!mode || !file || !sets_uid(mode->text))
        return false;
    path = danger_path(scan, file->text);
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
    if (command->n > 1)
        return !danger_has_flag(command, "l", NULL);
    for (size_t i = 0; i < command->redirs_n; i++)
        if (command->redirs[i].kind != REDIR_WRITE)
            return true;
    return command->in_pipe;
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
    { "chmod chown chgrp setfacl", rights_of_accounts, RIGHTS },
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

/* ---- names ---- */

/* Letters of other scripts that look like Latin ones. */
static struct str looks_like(struct danger_scan *scan, struct str name)
{
    static const struct {
        const char *other;
        char latin;
    } alike[] = { { "а", 'a' }, { "е", 'e' }, { "о", 'o' }, { "р", 'p' }, { "с", 'c' },
                  { "х", 'x' }, { "у", 'y' }, { "і", 'i' }, { "ѕ", 's' }, { "ԁ", 'd' },
                  { "һ", 'h' }, { "м", 'm' }, { "т", 't' }, { "к", 'k' }, { "г", 'r' },
                  { "ո", 'n' }, { "ο", 'o' }, { "α", 'a' }, { "υ", 'u' }, { "ѡ", 'w' } };
    AUTO_BUF out = BUF_INIT(256);

    for (size_t i = 0; i < name.n;) {
        struct str rest = str_skip(name, i);
        size_t step = 1;
        char c = name.p[i];

        for (size_t k = 0; (unsigned char)c >= 0x80 && k < ARRAY_LEN(alike); k++)
            if (str_starts(rest, str_from(alike[k].other))) {
                step = strlen(alike[k].other);
                c = alike[k].latin;
            }
        if (rest.n >= 3 && str_starts(rest, STR("\xef\xbd"))) { /* full width, U+FF40 on */
            step = 3;
            c = (char)(rest.p[2] - '\x80' + 0x60);
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

struct str danger_name(struct str word)
{
    struct str name = danger_base(word);
    struct str rest = STR(SHELLS " sudo env xargs python3 perl node"), one;

    if (str_starts(word, STR("/proc/")) && str_is(name, "exe"))
        return STR("sh"); /* whatever runs this: a shell, as far as it goes */
    for (size_t i = 0; i <= ARRAY_LEN(rules); i++) {
        while (str_split(&rest, ' ', &one))
            if (danger_glob_is(name, one))
                return one;
        if (i < ARRAY_LEN(rules))
            rest = str_from(rules[i].names);
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
    struct str name = command->n ? danger_name(command->words[0].text) : STR_NONE;

    if (command->n) {
        judge_name(scan, command, name);
        for (size_t i = 0; i < ARRAY_LEN(rules) && !scan->hit; i++)
            if (is_rule_for(&rules[i], name) && rules[i].check(scan, command))
                danger_report(scan, rules[i].rule, rules[i].about);
        if (!scan->hit)
            danger_judge_files(scan, command, name);
    }
    if (!scan->hit)
        danger_judge_redirections(scan, command);
}

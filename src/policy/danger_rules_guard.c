/* Rules about rights and about what protects the machine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "policy/danger_rules_int.h"

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

/* "g+s", "2775": a directory that is shared. */
static bool only_group(struct str mode)
{
    return (mode.n > 0 && mode.p[0] == 'g') || (mode.n == 4 && mode.p[0] == '2') ||
           (mode.n == 5 && mode.p[1] == '2');
}

static bool setuid(struct danger_scan *scan, const struct danger_command *command)
{
    const struct danger_word *mode = danger_operand(command, 0), *file = danger_operand(command, 1);
    struct str path;

    if (!mode || !file || !sets_uid(mode->text))
        return false;
    path = danger_path(scan, file->text);
    return !only_group(mode->text) || (path.n > 0 && path.p[0] == '/');
}

/* install -m 4755 */
static bool installs_uid(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;

        if (str_starts(word, STR("--mode=")) && sets_uid(str_skip(word, 7)))
            return true;
        if (danger_is(word, "-m --mode") && i + 1 < command->n &&
            sets_uid(command->words[i + 1].text))
            return true;
    }
    return false;
}

/* ---- protection ---- */

static bool firewall_off(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    if (danger_is(danger_base(command->words[0].text), "ufw"))
        return danger_has_word(command, "disable reset");
    if (danger_is(danger_base(command->words[0].text), "nft"))
        return danger_has_word(command, "flush");
    return danger_has_word(command, "-F --flush -X") ||
           (danger_has_word(command, "-P --policy") && danger_has_word(command, "ACCEPT"));
}

static bool enforce_off(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return danger_has_word(command, "0 Permissive permissive");
}

static bool enter_init(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    for (size_t i = 1; i < command->n; i++)
        if (danger_is(command->words[i].text, "-t1 --target=1") ||
            str_find(command->words[i].text, STR("/proc/1/ns")) >= 0 ||
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
    return danger_has_word(command, "stop disable mask kill") &&
           danger_has_word(command,
                           "firewalld ufw nftables iptables apparmor auditd fail2ban "
                           "firewalld.service ufw.service nftables.service apparmor.service "
                           "auditd.service dormouse dormouse.service");
}

static bool remount(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    for (size_t i = 1; i < command->n; i++)
        if (str_find(command->words[i].text, STR("remount")) >= 0)
            return danger_has_word(command, "/ /usr /boot /proc /sys");
    return false;
}

/* ---- containers ---- */

/* The system, a home, or what the container's own keeper listens on; a directory of one's own is
 * what mounts are for. */
static bool hands_over(struct danger_scan *scan, struct str source)
{
    struct str path = danger_path(scan, source);

    if (path.n == 0 || (path.p[0] != '/' && path.p[0] != MARK_HOME))
        return false;
    if (str_ends(path, STR("/docker.sock")) || str_ends(path, STR("/podman.sock")) ||
        str_ends(path, STR("/containerd.sock")))
        return true;
    danger_judge_place(scan, source, DANGER_READS);
    return scan->hit || (danger_path_vital(path) && !danger_is(path, "/opt /srv /mnt /media"));
}

/* "/:/host:ro", "type=bind,source=/,target=/x" */
static bool mounts(struct danger_scan *scan, struct str value)
{
    struct str part, source;

    value = danger_plain(scan, value);
    if (str_find_char(value, '=') < 0) {
        str_split(&value, ':', &source);
        return hands_over(scan, source);
    }
    while (str_split(&value, ',', &part))
        if (str_starts(part, STR("source=")) || str_starts(part, STR("src=")))
            return hands_over(scan, str_skip(part, (size_t)str_find_char(part, '=') + 1));
    return false;
}

/* The rights of an option, whose value stands behind '=' or in the next word. */
static bool frees(struct danger_scan *scan, struct str option, struct str value)
{
    if (danger_is(option, "-v --volume --mount --bind"))
        return mounts(scan, value);
    if (danger_is(option, "--pid --userns --ipc --cgroupns"))
        return str_is(value, "host");
    if (danger_is(option, "--cap-add"))
        return danger_is(value, "ALL all SYS_ADMIN SYS_PTRACE SYS_MODULE SYS_RAWIO CAP_SYS_ADMIN");
    if (danger_is(option, "--device"))
        return danger_path_device(danger_path(scan, value));
    return danger_is(option, "--security-opt") && str_find(value, STR("unconfined")) >= 0;
}

static bool container_open(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;
        struct str next = i + 1 < command->n ? command->words[i + 1].text : STR_NONE;
        ptrdiff_t is = str_starts(word, STR("--")) ? str_find_char(word, '=') : -1;

        if (danger_is(word, "--privileged --privileged=true"))
            return true;
        if (word.n > 2 && str_starts(word, STR("-v")) && mounts(scan, str_skip(word, 2)))
            return true;
        if (is > 0 ? frees(scan, str_take(word, (size_t)is), str_skip(word, (size_t)is + 1))
                   : next.p && frees(scan, word, next))
            return true;
    }
    return false;
}

static const struct danger_rule rules[] = {
#define RIGHTS "permissions_of_root", "It would change who may read or run the system."
    { "chmod chown chgrp setfacl chattr", rights_of_root, RIGHTS },
    { "chmod chown chgrp setfacl", rights_of_accounts, RIGHTS },
    { "chmod", setuid, RIGHTS },
    { "install", installs_uid, RIGHTS },
    { "setcap", danger_always, RIGHTS },
#undef RIGHTS
#define GUARD "protection_disabled", "It would turn off what protects this machine."
    { "iptables ip6tables ufw nft", firewall_off, GUARD },
    { "setenforce auditctl", enforce_off, GUARD },
    { "aa-teardown aa-disable apparmor_parser insmod modprobe rmmod kexec", danger_always, GUARD },
    { "nsenter", enter_init, GUARD },
    { "sysctl", sysctl_off, GUARD },
    { "systemctl service", service_off, GUARD },
    { "mount", remount, GUARD },
    { "pivot_root switch_root", danger_always, GUARD },
#undef GUARD
#define OPEN "container_open", "A container would be given this machine, a home or its rights."
    { "docker docker-compose podman podman-compose nerdctl lxc systemd-nspawn", container_open,
      OPEN },
#undef OPEN
};

const struct danger_rules danger_rules_guard = { rules, ARRAY_LEN(rules) };

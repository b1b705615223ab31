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

static const struct danger_rule rules[] = {
#define RIGHTS "permissions_of_root", "It would change who may read or run the system."
    { "chmod chown chgrp setfacl chattr", rights_of_root, RIGHTS },
    { "chmod chown chgrp setfacl", rights_of_accounts, RIGHTS },
    { "chmod", setuid, RIGHTS },
#undef RIGHTS
#define GUARD "protection_disabled", "It would turn off what protects this machine."
    { "iptables ip6tables ufw nft", firewall_off, GUARD },
    { "setenforce auditctl", enforce_off, GUARD },
    { "aa-teardown aa-disable apparmor_parser insmod modprobe rmmod kexec", danger_always, GUARD },
    { "nsenter", enter_init, GUARD },
    { "sysctl", sysctl_off, GUARD },
    { "systemctl service", service_off, GUARD },
    { "mount", remount, GUARD },
#undef GUARD
};

const struct danger_rules danger_rules_guard = { rules, ARRAY_LEN(rules) };

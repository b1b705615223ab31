/* The table of places: files that a command must not read, or not write.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

enum {
    READS = DANGER_READS,
    WRITES = DANGER_WRITES,
    TREE = 4 /* read as a whole, or all of what is in it */
};

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
    { "~/.gnupg/secring.gpg", READS, KEYS },
    { "~/.git-credentials", READS, KEYS },
    { "~/.pgpass", READS, KEYS },
    { "~/.local/share/keyrings", READS, KEYS },
    { "~/.password-store", READS, KEYS },
    { "~/.kube/config", READS, KEYS },
    { "~/.docker/config.json", READS, KEYS },
    { "~/.npmrc", READS, KEYS },
    { "~/.pypirc", READS, KEYS },
    { "~/.azure", READS, KEYS },
    { "~/.config/gh/hosts.yml", READS, KEYS },
    { "~/.config/gcloud", READS, KEYS },
    { "~/.config/rclone/rclone.conf", READS, KEYS },
    { "~/.config/google-chrome", READS, KEYS },
    { "~/.config/chromium", READS, KEYS },
    { "~/.mozilla/firefox", READS, KEYS },
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

void danger_judge_place(struct danger_scan *scan, struct str text, unsigned how)
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

struct str danger_home(struct danger_scan *scan, struct str path)
{
    char *copy;

    if (path.n == 0 || path.p[0] != '~')
        return path;
    copy = arena_copy(scan->arena, path.p, path.n);
    copy[0] = MARK_HOME;
    return str_of(copy, path.n);
}

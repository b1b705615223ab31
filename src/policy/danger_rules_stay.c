/* Rules about the machine as a whole: stopping it, staying on it, wiping traces, handing out
 * shells, and the controls that are the owner's.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_rules_int.h"

/* ---- the end of the machine ---- */

static bool not_cancelled(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return !danger_has_word(command, "-c --help --version");
}

static bool run_level(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return danger_has_word(command, "0 1 6 s S q");
}

static bool power(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return danger_has_word(command,
                           "poweroff reboot halt kexec suspend hibernate hybrid-sleep emergency "
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
           danger_has_word(command, "dormouse init systemd dormouse-hand");
}

static bool unmount_all(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return danger_has_flag(command, "a", "all") || danger_has_word(command, "/ /usr /home /boot");
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
    return danger_has_word(command, "enable edit link reenable set-environment import-environment");
}

/* systemd-run --on-calendar=daily, --on-active 10 */
static bool timed(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    for (size_t i = 1; i < command->n; i++)
        if (str_starts(command->words[i].text, STR("--on-")) ||
            str_starts(command->words[i].text, STR("--timer-property")))
            return true;
    return false;
}

/* ---- passwords ---- */

static bool tells(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return danger_has_word(command, "lookup search show --export-secret-keys "
                                    "--export-secret-subkeys find-generic-password "
                                    "find-internet-password dump-keychain");
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
    return danger_has_word(command, "HISTFILE HISTSIZE");
}

static bool set_history(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return danger_has_word(command, "+o") && danger_has_word(command, "history");
}

/* ---- shells for others ---- */

static bool netcat_shell(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return danger_has_flag(command, "ec", "exec") ||
           danger_has_word(command, "--sh-exec --lua-exec");
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

static const struct danger_rule rules[] = {
#define DOWN "machine_stopped", "It would stop the machine or everything on it."
    { "shutdown reboot halt poweroff", not_cancelled, DOWN },
    { "init telinit", run_level, DOWN },
    { "systemctl loginctl", power, DOWN },
    { "kill", kill_all, DOWN },
    { "pkill killall skill", kill_user, DOWN },
    { "killall5", danger_always, DOWN },
    { "umount", unmount_all, DOWN },
#undef DOWN
#define STAY "persistence", "It would leave something behind that runs or lets in by itself later."
    { "crontab", crontab, STAY },
    { "at batch", danger_always, STAY },
    { "systemctl", unit, STAY },
    { "systemd-run", timed, STAY },
    { "visudo vipw ssh-copy-id useradd adduser usermod userdel chpasswd passwd gpasswd",
      danger_always, STAY },
#undef STAY
#define KEYS "credentials_read", "It would read keys or passwords."
    { "secret-tool pass gpg gpg2 security", tells, KEYS },
#undef KEYS
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

const struct danger_rules danger_rules_stay = { rules, ARRAY_LEN(rules) };

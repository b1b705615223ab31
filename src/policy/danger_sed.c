/* Programs of sed: what they run (e, s///e), and the files that they read and write (r, w, s///w).
 *
 * The program is read command by command, so that a letter in a pattern or in text is none.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

struct program {
    struct danger_scan *scan;
    struct str rest;
    struct danger_stream in; /* what sed reads: "e" alone runs it */
};

static char first(const struct program *p)
{
    return p->rest.n ? p->rest.p[0] : '\0';
}

static void skip(struct program *p, const char *any)
{
    while (p->rest.n && strchr(any, p->rest.p[0]))
        p->rest = str_skip(p->rest, 1);
}

/* Up to the next `end` that is neither escaped nor in brackets; both are consumed. */
static struct str part(struct program *p, char end)
{
    struct str from = p->rest;
    size_t n = 0;

    while (n < from.n && from.p[n] != end)
        n += from.p[n] == '\\' && n + 1 < from.n ? 2 : 1;
    p->rest = str_skip(from, n < from.n ? n + 1 : from.n);
    return str_take(from, n < from.n ? n : from.n);
}

/* What stands on this line; text that goes on behind a backslash belongs to it. */
static struct str line(struct program *p)
{
    return part(p, '\n');
}

/* 1, $, /re/I, \cREc, 1~2, 1,+3 and a "!" */
static void skip_address(struct program *p)
{
    for (;;) {
        skip(p, "0123456789,$~+ \t!");
        if (first(p) == '/') {
            p->rest = str_skip(p->rest, 1);
            part(p, '/');
        } else if (first(p) == '\\' && p->rest.n > 1) {
            char end = p->rest.p[1];

            p->rest = str_skip(p->rest, 2);
            part(p, end);
        } else {
            return;
        }
        skip(p, "IM");
    }
}

static void run(struct program *p, struct str text)
{
    danger_run_text_by(p->scan, "sh", text, (struct danger_stream){ 0 });
}

/* What sed was given to read is run, line by line. */
static void run_input(struct program *p)
{
    danger_judge_source(p->scan, p->in.facts);
    if (p->in.text.p)
        run(p, p->in.text);
}

static struct str unescaped(struct program *p, struct str text)
{
    AUTO_BUF out = BUF_INIT(DANGER_FIELD_MAX);

    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '\\' || i + 1 == text.n)
            buf_add_char(&out, text.p[i] == '&' ? MARK_UNKNOWN : text.p[i]);
        else if (text.p[++i] >= '0' && text.p[i] <= '9')
            buf_add_char(&out, MARK_UNKNOWN);
        else
            buf_add_char(&out, text.p[i] == 'n' ? '\n' : text.p[i]);
    return arena_str(p->scan->arena, buf_str(&out));
}

static void substitution(struct program *p)
{
    char end = first(p);
    struct str by;

    p->rest = str_skip(p->rest, 1);
    part(p, end);
    by = part(p, end);
    while (p->rest.n && !strchr(";\n} \t#", first(p))) {
        char flag = first(p);

        p->rest = str_skip(p->rest, 1);
        if (flag == 'w') {
            danger_judge_place(p->scan, str_trim(line(p)), DANGER_WRITES);
        } else if (flag == 'e') {
            run(p, unescaped(p, by));
            run_input(p);
        }
    }
}

static void one_command(struct program *p)
{
    char name = first(p);

    p->rest = str_skip(p->rest, 1);
    if (name == 's' || name == 'y') {
        if (p->rest.n && name == 's') {
            substitution(p);
        } else if (p->rest.n) {
            char end = first(p);

            p->rest = str_skip(p->rest, 1);
            part(p, end);
            part(p, end);
        }
    } else if (name == 'e') {
        struct str text = str_trim(line(p));

        if (text.n)
            run(p, text);
        else
            run_input(p);
    } else if (name == 'w' || name == 'W') {
        danger_judge_place(p->scan, str_trim(line(p)), DANGER_WRITES);
    } else if (name == 'r' || name == 'R') {
        danger_judge_place(p->scan, str_trim(line(p)), DANGER_READS);
    } else if (strchr("aic#:btT", name)) {
        line(p);
    }
}

static void run_program(struct danger_scan *scan, struct str text, struct danger_stream in)
{
    struct program p = { scan, text, in };

    while (p.rest.n && !scan->hit) {
        skip(&p, " \t\n;{}");
        skip_address(&p);
        if (p.rest.n && first(&p) != '{')
            one_command(&p);
    }
}

/* -e PROGRAM, -ePROGRAM, --expression=PROGRAM, -f FILE, else the first operand. */
void danger_run_sed(struct danger_scan *scan, const struct danger_command *command)
{
    bool given = false;

    for (size_t i = 1; i < command->n && !scan->hit; i++) {
        struct str word = danger_plain(scan, command->words[i].text);
        struct str next =
            i + 1 < command->n ? danger_plain(scan, command->words[i + 1].text) : STR_NONE;
        struct str text;

        if (str_starts(word, STR("--expression=")))
            text = str_skip(word, 13);
        else if (danger_is(word, "--expression") ||
                 (danger_is_option(word) && word.p[1] != '-' && word.p[word.n - 1] == 'e'))
            text = next;
        else if (str_starts(word, STR("-e")))
            text = str_skip(word, 2);
        else if (danger_is(word, "-f --file"))
            text = danger_is(next, "- /dev/stdin") ? command->in.text
                                                   : danger_read_file(scan, next).text;
        else if (danger_is_option(word))
            continue;
        else if (!given)
            text = word;
        else
            return;
        given = true;
        if (text.p)
            run_program(scan, text, command->in);
        if (text.p && text.p == next.p)
            i++;
    }
}

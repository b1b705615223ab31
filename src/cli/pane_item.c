/* An inbox item for a person who has to decide: what is dangerous about it, facts, the whole text.
 *
 * In a change of memory the suspicious places of the new text are marked. Flags name bytes of the
 * new text; a line of the diff knows its number in that text from its hunk's head, and so its
 * bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "cli/pane.h"
#include "cli/show_int.h"

struct marks {
    struct pane_mark *flags;
    size_t flag_count;
    size_t *starts; /* of the lines of the new text */
    size_t line_count;
};

/* ---- where ---- */

static void read_flags(struct json_object *list, struct marks *marks)
{
    size_t n = list && json_object_is_type(list, json_type_array) ? json_length(list) : 0;

    marks->flags = alloc_resize(NULL, n ? n : 1, sizeof(*marks->flags));
    for (size_t i = 0; i < n; i++) {
        struct json_object *one = json_object_array_get_idx(list, i);
        int64_t start = -1, end = -1;

        json_get_i64(one, "start", &start, NULL);
        json_get_i64(one, "end", &end, NULL);
        if (start < 0 || end <= start)
            continue;
        marks->flags[marks->flag_count++] =
            (struct pane_mark){ (size_t)start, (size_t)end,
                                str_is(show_member(one, "severity"), "danger") ? TERM_MARK_RED
                                                                               : TERM_MARK_YELLOW };
    }
}

static void read_lines(struct str text, struct marks *marks)
{
    size_t n = show_count_lines(text);

    marks->starts = alloc_resize(NULL, n + 1, sizeof(*marks->starts));
    marks->starts[marks->line_count++] = 0;
    for (size_t i = 0; i < text.n && marks->line_count < n; i++) {
        if (text.p[i] == '\n')
            marks->starts[marks->line_count++] = i + 1;
    }
}

static size_t line_of(const struct marks *marks, size_t at)
{
    size_t low = 0, high = marks->line_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (marks->starts[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

/* ---- the difference ---- */

/* The marks of one line of the diff: its sign is a byte before the text. */
static void mark_line(struct pane *pane, const struct marks *marks, struct str line, size_t begin)
{
    struct pane_mark *here = alloc_resize(NULL, marks->flag_count + 1, sizeof(*here));
    size_t n = 0;

    for (size_t i = 0; i < marks->flag_count; i++) {
        struct pane_mark one = marks->flags[i];

        if (one.end <= begin || one.start >= begin + line.n)
            continue;
        one.start = one.start > begin ? one.start - begin + 1 : 1;
        one.end = one.end - begin + 1;
        here[n++] = one;
    }
    pane_line(pane, show_diff_style(line), line, here, n);
    free(here);
}

/* "@@ -1,2 +3,4 @@": 3; 0: it is no such line. */
static size_t hunk_line(struct str line)
{
    ptrdiff_t plus = str_starts(line, STR("@@ ")) ? str_find_char(line, '+') : -1;
    struct str digits;
    uint64_t n = 0;
    size_t end = 0;

    if (plus < 0)
        return 0;
    digits = str_skip(line, (size_t)plus + 1);
    while (end < digits.n && digits.p[end] >= '0' && digits.p[end] <= '9')
        end++;
    return str_to_u64(str_take(digits, end), &n) == 0 ? (size_t)n : 0;
}

static void add_diff(struct pane *pane, const struct marks *marks, struct str diff)
{
    size_t number = 0;

    struct str line;

    while (diff.n && str_split(&diff, '\n', &line)) {
        bool fresh = number && line.n && (line.p[0] == '+' || line.p[0] == ' ');

        if (hunk_line(line))
            number = hunk_line(line);
        if (fresh && number <= marks->line_count)
            mark_line(pane, marks, line, marks->starts[number - 1]);
        else
            pane_line(pane, show_diff_style(line), line, NULL, 0);
        number += fresh;
    }
}

static void add_flags(struct pane *pane, const struct marks *marks, struct json_object *list)
{
    size_t n = list && json_object_is_type(list, json_type_array) ? json_length(list) : 0;

    for (size_t i = 0; i < n; i++) {
        struct json_object *one = json_object_array_get_idx(list, i);
        bool danger = str_is(show_member(one, "severity"), "danger");
        AUTO_BUF text = BUF_INIT(16 * KIB);
        int64_t start = 0;

        json_get_i64(one, "start", &start, NULL);
        buf_printf(&text, "%s, line %zu: %.*s: ", danger ? "danger" : "warning",
                   line_of(marks, start > 0 ? (size_t)start : 0),
                   STR_ARG(show_member(one, "description")));
        buf_add_str(&text, show_member(one, "match"));
        pane_own(pane, danger ? TERM_RED : TERM_YELLOW, "  ! ", buf_str(&text));
    }
}

static void add_memory(struct pane *pane, struct json_object *details)
{
    struct marks marks = { .flag_count = 0 };
    struct json_object *flags = json_find(details, "suspicious_flags");
    struct json_object *warnings = json_find(details, "warnings");
    size_t n = json_object_is_type(warnings, json_type_array) ? json_length(warnings) : 0;

    read_flags(flags, &marks);
    read_lines(show_member(details, "proposed_content"), &marks);
    if (show_member(details, "reason").n)
        pane_fact(pane, STR("because"), show_member(details, "reason"), false);
    add_diff(pane, &marks, show_member(details, "diff"));
    add_flags(pane, &marks, flags);
    for (size_t i = 0; i < n; i++)
        pane_own(pane, TERM_YELLOW, "  ! ", json_str(json_object_array_get_idx(warnings, i)));
    free(marks.flags);
    free(marks.starts);
}

/* ---- all kinds ---- */

static void add_question(struct pane *pane, struct json_object *body)
{
    struct json_object *choices = NULL;

    pane_text(pane, STR("text"), show_member(body, "question"));
    json_get_array(body, "choices", &choices, NULL);
    for (size_t i = 0; i < json_length(choices); i++) {
        struct str choice = json_str(json_object_array_get_idx(choices, i));
        AUTO_BUF line = BUF_INIT(64 * KIB);
        char number[32];

        /* "2. Running" has its number already. */
        snprintf(number, sizeof(number), "%zu. ", i + 1);
        if (str_starts(choice, str_from(number)))
            choice = str_skip(choice, strlen(number));
        buf_printf(&line, "%zu  %.*s", i + 1, STR_ARG(choice));
        pane_line(pane, TERM_PLAIN, buf_str(&line), NULL, 0);
    }
}

static void add_list(struct pane *pane, struct json_object *list,
                     void (*add)(struct pane *pane, struct json_object *one))
{
    size_t n = json_object_is_type(list, json_type_array) ? json_length(list) : 0;

    for (size_t i = 0; i < n; i++)
        add(pane, json_object_array_get_idx(list, i));
}

static void add_danger(struct pane *pane, struct json_object *sentence)
{
    pane_own(pane, TERM_RED, "  ! ", json_str(sentence));
}

static void add_fact(struct pane *pane, struct json_object *fact)
{
    bool warn = false;

    json_get_bool(fact, "warn", &warn, NULL);
    pane_fact(pane, show_member(fact, "name"), show_member(fact, "value"), warn);
}

/* What a yes that lasts would cover; one that does not needs no words. */
static void add_choice(struct pane *pane, struct json_object *choice)
{
    struct str scope = show_member(choice, "scope");

    if (!str_is(scope, "once"))
        pane_fact(pane, scope, show_member(choice, "covers"), false);
}

void pane_item(struct pane *pane, struct json_object *item)
{
    struct json_object *details = json_find(item, "details");

    if (json_find(item, "request_id")) /* the event has the members of details itself */
        details = item;
    add_list(pane, json_find(item, "danger"), add_danger);
    add_list(pane, json_find(item, "facts"), add_fact);
    if (show_member(details, "diff").n && json_find(details, "proposed_content"))
        add_memory(pane, details);
    else if (str_is(show_member(item, "kind"), "question"))
        add_question(pane, json_find(item, "body"));
    else
        pane_text(pane, show_member(item, "previewKind"), show_member(item, "preview"));
    if (!json_find(item, "decidedAt"))
        add_list(pane, json_find(item, "choices"), add_choice);
}

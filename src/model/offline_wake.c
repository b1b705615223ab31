/* Being woken: what the observation says, and which rule is for it.
 *
 * The observation is made by src/wake/observe.c in the words of share/prompts/wake.md. Records
 * stand in it one to a line, as JSON, so nothing that is written in a record can look like another
 * line. When some of it came from outside (a webhook) nothing is done at all: rules can't tell what
 * is asked from what is told.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "model/offline_wake_int.h"

#define WAKE_MARK    STR("[wake: ")
#define CHANGED_MARK STR("What changed, as it is now:")
#define ALARM_MARK   STR("\n- alarm: ")
#define OUTSIDE_MARK STR("This was sent to you from outside.")
#define MANUAL_MARK  STR("A person woke you.\n")
#define END_MARK     STR("\nDo what your instructions say about this")

bool offline_is_wake(struct str said)
{
    return str_starts(said, WAKE_MARK);
}

/* ---- reading ---- */

/* "- entry ID, by human: {...}"; false: it is no such line. */
static bool read_change(struct str line, struct offline_change *ret_change)
{
    ptrdiff_t comma = str_find(line, STR(", by ")), colon;
    struct str head, who;
    ptrdiff_t space;

    if (!str_starts(line, STR("- ")) || comma < 0)
        return false;
    head = str_skip(str_take(line, (size_t)comma), 2);
    who = str_skip(line, (size_t)comma);
    colon = str_find(who, STR(": "));
    space = str_find_char(head, ' ');
    if (colon < 0 || space < 0)
        return false;
    *ret_change = (struct offline_change){ .type = str_take(head, (size_t)space),
                                           .id = str_skip(head, (size_t)space + 1) };
    return json_parse(str_skip(who, (size_t)colon + 2), &ret_change->json, NULL) == 0;
}

static void add_change(struct offline_wake *wake, struct str line)
{
    struct offline_change change = { .json = NULL };

    if (!read_change(line, &change))
        return;
    if (wake->n < OFFLINE_CHANGES_MAX &&
        (offline_is_workout(&change) || offline_is_done_task(&change))) {
        wake->changes[wake->n++] = change;
        return;
    }
    wake->more++;
    json_object_put(change.json);
}

static void read_changes(struct offline_wake *wake, struct str text)
{
    ptrdiff_t at = str_find(text, CHANGED_MARK);
    struct str rest, line;

    if (at < 0)
        return;
    rest = str_skip(text, (size_t)at + CHANGED_MARK.n);
    while (str_split(&rest, '\n', &line))
        add_change(wake, line);
}

static void read_alarm(struct offline_wake *wake, struct str text)
{
    ptrdiff_t at = str_find(text, ALARM_MARK);
    struct str rest, line;

    if (at < 0)
        return;
    rest = str_skip(text, (size_t)at + ALARM_MARK.n);
    if (str_split(&rest, '\n', &line))
        (void)json_parse(line, &wake->alarm, NULL);
}

static struct str words_of(struct str text)
{
    ptrdiff_t from = str_find(text, MANUAL_MARK), to;

    if (from < 0)
        return STR_NONE;
    text = str_skip(text, (size_t)from + MANUAL_MARK.n);
    to = str_find(text, END_MARK);
    return str_trim(to < 0 ? text : str_take(text, (size_t)to));
}

static void read_wake(struct str said, struct offline_wake *ret_wake)
{
    struct str head = str_skip(said, WAKE_MARK.n);
    size_t n = 0;

    while (n < head.n && head.p[n] != ' ' && head.p[n] != ']' && head.p[n] != '\n')
        n++;
    *ret_wake = (struct offline_wake){ .reason = str_take(head, n),
                                       .outside = str_find(said, OUTSIDE_MARK) >= 0 };
    if (ret_wake->outside)
        return;
    if (str_is(ret_wake->reason, "manual"))
        ret_wake->words = words_of(said);
    read_alarm(ret_wake, said);
    read_changes(ret_wake, said);
}

static void release(struct offline_wake *wake)
{
    for (size_t i = 0; i < wake->n; i++)
        json_object_put(wake->changes[i].json);
    json_object_put(wake->alarm);
}

/* ---- rules ---- */

bool offline_is_workout(const struct offline_change *change)
{
    return str_is(change->type, "entry") &&
           str_is(json_str(json_find(change->json, "kind")), "workout");
}

bool offline_is_done_task(const struct offline_change *change)
{
    return str_is(change->type, "task") &&
           str_is(json_str(json_find(change->json, "status")), "DONE");
}

static bool has_workout(const struct offline_wake *wake)
{
    for (size_t i = 0; i < wake->n; i++)
        if (offline_is_workout(&wake->changes[i]))
            return true;
    return false;
}

static bool has_done_task(const struct offline_wake *wake)
{
    for (size_t i = 0; i < wake->n; i++)
        if (offline_is_done_task(&wake->changes[i]))
            return true;
    return false;
}

static bool rings(const struct offline_wake *wake)
{
    return wake->alarm != NULL;
}

/* Its time has come, or somebody says that it has. */
static bool is_due(const struct offline_wake *wake)
{
    return !str_is(wake->reason, "subscription");
}

/* The first that is about this wake, and whose tool was given. */
static const struct {
    bool (*concerns)(const struct offline_wake *wake);
    const char *tool;
    offline_wake_action *act;
} rules[] = {
    { rings, "set_alarm", offline_ring },
    { has_workout, "create_retrospective_time_entry", offline_log_workouts },
    { has_done_task, "create_follow_up_task", offline_carry_over },
    { is_due, "upsert_day_plan_blocks", offline_plan_wake },
    { is_due, "write_report", offline_review_wake },
};

static void act_on(struct offline_turn *turn, const struct offline_wake *wake)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (rules[i].concerns(wake) && offline_tool(turn, rules[i].tool)) {
            rules[i].act(turn, wake);
            return;
        }
    }
    offline_say(turn, "Nothing is to be done about this by my rules: I am rules, not a language "
                      "model, and know workouts that were logged, tasks that are done, and the "
                      "times for a plan or a report, with the tools for them.");
}

/* False: a person's own words are to be done, which are in turn->said now. */
bool offline_woken(struct offline_turn *turn)
{
    struct offline_wake wake;
    bool done = true;

    read_wake(turn->said, &wake);
    if (wake.outside)
        offline_say(turn, "Something was sent to me from outside. I am rules, not a language "
                          "model, and do nothing about that by myself.");
    else if (wake.words.n)
        done = false;
    else
        act_on(turn, &wake);
    if (!done)
        turn->said = wake.words;
    release(&wake);
    return done;
}

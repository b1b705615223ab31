/* Time that was spent: logged after the fact, for a task or a category.
 *
 *   log 45 minutes of gym yesterday
 *   log the tax report from 16:00 to 18:00
 *   I ran 30 minutes yesterday
 *
 * A length without a time ends now; on a day that is over it ends at six in the evening, which the
 * person sees before it is logged and can change.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>

#include "base/json.h"
#include "base/timefmt.h"
#include "model/offline_log_int.h"
#include "model/offline_when_int.h"

#define EVENING (18 * 60)
#define DAY_MIN (24 * 60)
#define LOG     "create_retrospective_time_entry"

static const char *const name_start[] = { "startedAt", "start", "startTime", "dateFrom", NULL };
static const char *const name_end[] = { "endedAt", "end", "endTime", "dateTo", NULL };
static const char *const name_note[] = { "description", "note", "text", "comment", NULL };
static const char *const name_category[] = { "categoryId", "category_id", NULL };

/* ---- how long ---- */

static int unit_minutes(struct str unit)
{
    if (!unit.n)
        return 0;
    if (tolower((unsigned char)unit.p[0]) == 'h')
        return 60;
    return tolower((unsigned char)unit.p[0]) == 'm' ? 1 : 0;
}

int64_t offline_minutes(struct str words)
{
    int64_t total = 0;
    size_t i = 0;

    if (str_eq_nocase(words, STR("half an hour")))
        return 30;
    if (str_eq_nocase(words, STR("an hour")) || str_eq_nocase(words, STR("one hour")))
        return 60;
    while (i < words.n) {
        int64_t tenths = 0;
        size_t from = i;

        while (i < words.n && isdigit((unsigned char)words.p[i]) && tenths < 100000)
            tenths = tenths * 10 + (words.p[i++] - '0') * 10;
        if (i + 1 < words.n && words.p[i] == '.' && isdigit((unsigned char)words.p[i + 1])) {
            tenths += words.p[i + 1] - '0';
            i += 2;
        }
        if (i == from)
            return 0;
        while (i < words.n && words.p[i] == ' ')
            i++;
        total += tenths * unit_minutes(str_skip(words, i)) / 10;
        while (i < words.n && isalpha((unsigned char)words.p[i]))
            i++;
        while (i < words.n && words.p[i] == ' ')
            i++;
    }
    return total;
}

/* ---- logging ---- */

struct spent {
    struct str words; /* what it was spent on */
    int days;         /* 0 today, -1 yesterday */
    int64_t from, to;
    bool anywhere; /* where no task is called so, it counts for the only category there is */
};

/* The category that is called so, in the list of round 0; only: or the only one there is. Empty:
 * there is none. */
static struct str category_named(const struct offline_turn *turn, struct str words, bool only)
{
    const struct offline_result *result = offline_result_of(turn, "list_allowed_categories");
    struct json_object *list = result ? json_find(result->json, "categories") : NULL;

    for (size_t i = 0; json_object_is_type(list, json_type_array) && i < json_length(list); i++) {
        struct json_object *item = json_object_array_get_idx(list, i);

        if (str_eq_nocase(json_str(json_find(item, "name")), words) ||
            (only && json_length(list) == 1))
            return json_str(json_find(item, "id"));
    }
    return STR_NONE;
}

/* One task is surely meant, or nobody could look. */
static bool is_a_task(const struct offline_turn *turn)
{
    const struct offline_result *result = offline_result_of(turn, "resolve_task_reference");
    bool ambiguous = true;

    if (!result || result->failed)
        return true;
    (void)json_get_bool(result->json, "ambiguous", &ambiguous, NULL);
    return !ambiguous;
}

static bool any_task(const struct offline_turn *turn)
{
    const struct offline_result *result = offline_result_of(turn, "resolve_task_reference");

    return result && json_length(json_find(result->json, "candidates")) > 0;
}

static void say_logged(struct offline_turn *turn, const struct spent *spent)
{
    char day[OFFLINE_DAY_SIZE];

    offline_day(turn, spent->days, day);
    offline_say(turn, "I logged %s on \"%.*s\", %s to %s%s%s.",
                offline_length_text(turn, (spent->to - spent->from) / 60000),
                STR_ARG(offline_task_title(turn, spent->words)),
                offline_clock_text(turn, spent->from), offline_clock_text(turn, spent->to),
                spent->days ? " on " : "", spent->days ? day : "");
}

/* Where no task is surely meant, and nothing was logged yet. */
static enum offline_untasked without_task(struct offline_turn *turn, const struct spent *spent,
                                          struct offline_arg *ret_for)
{
    struct str category;

    if (turn->round == 0 || is_a_task(turn) || offline_result_of(turn, LOG))
        return UNTASKED_NOT;
    category = category_named(turn, spent->words, spent->anywhere && !any_task(turn));
    if (!category.n)
        return offline_untasked(turn, spent->words, ret_for);
    *ret_for = (struct offline_arg){ .names = name_category, .text = category };
    return UNTASKED_LOG;
}

static void log_spent(struct offline_turn *turn, const struct spent *spent)
{
    const struct model_tool *categories = offline_tool(turn, "list_allowed_categories");
    char start[TIMEFMT_SIZE], end[TIMEFMT_SIZE];
    struct offline_arg args[4];
    enum offline_untasked untasked = without_task(turn, spent, &args[0]);

    timefmt_rfc3339(spent->from, start);
    timefmt_rfc3339(spent->to, end);
    args[1] = (struct offline_arg){ .names = name_start, .text = str_from(start) };
    args[2] = (struct offline_arg){ .names = name_end, .text = str_from(end) };
    args[3] = (struct offline_arg){ .names = name_note, .text = spent->words, .optional = true };
    if (untasked == UNTASKED_LOG)
        offline_call(turn, offline_tool(turn, LOG), args, ARRAY_LEN(args));
    if (untasked != UNTASKED_NOT)
        return;
    if (offline_with_task(turn, spent->words, LOG, args, ARRAY_LEN(args)))
        say_logged(turn, spent);
    else if (turn->round == 0 && turn->call_count && categories)
        offline_call(turn, categories, NULL, 0);
}

/* So long, until now, or until the evening of a day that is over. */
static void log_length(struct offline_turn *turn, struct spent *spent, int64_t minutes)
{
    spent->words = offline_task_words(spent->words);
    spent->to = spent->days ? offline_moment(turn, spent->days, EVENING) : turn->now_ms;
    spent->from = spent->to - minutes * 60000;
    log_spent(turn, spent);
}

/* "yoga for 30 minutes yesterday" is 30 minutes of yoga. */
static int64_t other_way_round(struct offline_turn *turn, struct spent *spent)
{
    struct str length = turn->match.cap[1];
    int days = 0;
    int64_t minutes;

    (void)offline_take_day(turn, &length, &days);
    minutes = offline_minutes(length);
    if (minutes > 0)
        *spent = (struct spent){ .words = turn->match.cap[0], .days = days };
    return minutes;
}

/* a: how long, b: what, perhaps with a day; or what and how long */
void offline_time_log(struct offline_turn *turn)
{
    int64_t minutes = offline_minutes(turn->match.cap[0]);
    struct spent spent = { .words = turn->match.cap[1] };

    if (minutes > 0)
        (void)offline_take_day(turn, &spent.words, &spent.days);
    else
        minutes = other_way_round(turn, &spent);
    if (minutes <= 0 || minutes > DAY_MIN) {
        offline_say(turn,
                    "I did not understand how long \"%.*s\" is. Say for example \"log 90 "
                    "minutes on the tax report\".",
                    STR_ARG(turn->match.cap[0]));
        return;
    }
    log_length(turn, &spent, minutes);
}

/* Is it a length, perhaps with a day? */
static bool is_length(const struct offline_turn *turn, struct str text)
{
    int days;

    (void)offline_take_day(turn, &text, &days);
    return offline_minutes(text) > 0;
}

/* a: "30 minutes of yoga", "yoga for 30 minutes"; without a length it is a task that is done */
void offline_did(struct offline_turn *turn)
{
    static const char *const marks[] = { " of ", " on ", " for ", " at ", " in " };
    struct str text = turn->match.cap[0];

    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        ptrdiff_t at = str_find(text, str_from(marks[i]));
        struct str before = str_take(text, at < 0 ? 0 : (size_t)at);
        struct str after = str_skip(text, before.n + strlen(marks[i]));

        if (at < 0 || (!is_length(turn, before) && !is_length(turn, after)))
            continue;
        turn->match.cap[0] = before;
        turn->match.cap[1] = after;
        offline_time_log(turn);
        return;
    }
    offline_conclude(turn);
}

/* a: how many minutes, as in "a 45 minute run"; b as above */
void offline_time_log_minutes(struct offline_turn *turn)
{
    turn->match.cap[0] =
        str_from(arena_printf(turn->arena, "%.*s minutes", STR_ARG(turn->match.cap[0])));
    offline_time_log(turn);
}

/* b: what, perhaps with a day; c and d: from and to, d perhaps with a day */
void offline_time_log_span(struct offline_turn *turn)
{
    struct str until = turn->match.cap[3];
    struct spent spent = { .words = turn->match.cap[1] };
    int from, to;

    if (!offline_take_day(turn, &until, &spent.days))
        (void)offline_take_day(turn, &spent.words, &spent.days);
    from = offline_clock(turn->match.cap[2]);
    to = offline_clock(until);
    if (from < 0 || to < 0) {
        offline_say(turn, "I did not understand from when to when. Say for example \"log the tax "
                          "report from 16:00 to 18:00\".");
        return;
    }
    spent.words = offline_task_words(spent.words);
    spent.from = offline_moment(turn, spent.days, from);
    spent.to = offline_moment(turn, spent.days + (to <= from), to);
    log_spent(turn, &spent);
}

/* ---- workouts ---- */

static struct str without(struct str text, const char *first)
{
    struct str word = str_from(first);

    return str_eq_nocase(str_take(text, word.n), word) ? str_trim(str_skip(text, word.n)) : text;
}

/* "30 minutes", "for 30 minutes today", "yesterday for 30 minutes", "5 km in 30 minutes": how
 * long, and when; 0: it does not say how long. */
static int64_t length_in(const struct offline_turn *turn, struct str text, int *ret_days)
{
    static const char *const marks[] = { " for ", " in " };
    int64_t minutes;

    *ret_days = 0;
    (void)offline_take_day(turn, &text, ret_days);
    minutes = offline_minutes(without(without(text, "about "), "for "));
    for (size_t i = 0; i < ARRAY_LEN(marks) && minutes <= 0; i++) {
        ptrdiff_t at = str_find(text, str_from(marks[i]));
        struct str before = str_take(text, at < 0 ? 0 : (size_t)at);

        if (at < 0)
            continue;
        minutes = offline_minutes(without(str_skip(text, (size_t)at + strlen(marks[i])), "about "));
        (void)offline_take_day(turn, &before, ret_days);
    }
    return minutes;
}

/* A workout that is told: "I ran 30 minutes". a: how long, perhaps with a day; b or the row: what,
 * as tasks are called. */
void offline_workout(struct offline_turn *turn)
{
    struct spent spent = { .anywhere = true };
    int64_t minutes = length_in(turn, turn->match.cap[0], &spent.days);

    spent.words = turn->arg ? str_from(turn->arg) : turn->match.cap[1];
    if (minutes <= 0 || minutes > DAY_MIN || !offline_tool(turn, "create_retrospective_time_entry"))
        offline_unknown(turn);
    else
        log_length(turn, &spent, minutes);
}

/* What the desk's tools were asked and answered, for people: in the terminal, on the page, in a
 * trace.
 *
 * Answers are JSON of a few forms: records, lists of them, and some numbers and yeses beside. What
 * a record is follows from its members, so a tool that is added needs nothing here unless it
 * answers something new; and what is not known is said by its name. Ids are for tools: titles stand
 * for them, where the answer has them (taskTitles, categoryNames).
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <json-c/json.h>
#include <time.h>

#include "base/clock.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "desk/desk_int.h"

#define LINES_MAX 40
#define WORDS_MAX 200 /* bytes of a text */

struct saying {
    struct json_object *titles, *categories;
    struct buf *out;
    size_t lines;
};

static struct str member(struct json_object *json, const char *name)
{
    return json_str(json_find(json, name));
}

/* One line of it. */
static void add_words(struct buf *out, struct str text)
{
    struct str cut = utf8_truncate(text, WORDS_MAX);

    for (size_t i = 0; i < cut.n; i++)
        buf_add_char(out, cut.p[i] == '\n' || cut.p[i] == '\t' ? ' ' : cut.p[i]);
    if (cut.n < text.n)
        buf_add_text(out, "…");
}

/* ---- times ---- */

static void add_moment(struct buf *out, int64_t ms, bool day)
{
    time_t at = (time_t)(ms / 1000);
    struct tm local;
    char text[32];

    localtime_r(&at, &local);
    strftime(text, sizeof(text), day ? "%a %d %b %Y %H:%M" : "%H:%M", &local);
    buf_add_text(out, text);
}

static bool same_day(int64_t a, int64_t b)
{
    time_t first = (time_t)(a / 1000), second = (time_t)(b / 1000);
    struct tm x, y;

    localtime_r(&first, &x);
    localtime_r(&second, &y);
    return x.tm_yday == y.tm_yday && x.tm_year == y.tm_year;
}

static void add_length(struct buf *out, int64_t minutes)
{
    char text[TIMEFMT_LENGTH_SIZE];

    buf_add_text(out, timefmt_length(minutes, text));
}

/* "Mon 16 Nov 2026 09:00–11:00, 2 h", or since when it runs. False: these are no times. */
static bool add_span(struct buf *out, struct str from_text, struct str to_text)
{
    int64_t from, to;

    if (timefmt_parse(from_text, &from, NULL) < 0)
        return false;
    if (timefmt_parse(to_text, &to, NULL) < 0) {
        buf_add_text(out, "since ");
        add_moment(out, from, true);
        return true;
    }
    add_moment(out, from, true);
    buf_add_text(out, "–");
    add_moment(out, to, !same_day(from, to));
    buf_add_text(out, ", ");
    add_length(out, (to - from) / MINUTES(1));
    return true;
}

/* ---- values ---- */

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && strcmp(name + n - m, end) == 0;
}

/* A number of minutes by its name. */
static bool is_minutes(const char *name)
{
    return strcmp(name, "minutes") == 0 || ends_with(name, "Minutes");
}

/* "dayPlanBlock": "day plan block", "totalMinutes": "total". */
static void add_name(struct buf *out, const char *name)
{
    const char *end = name + strlen(name) - (ends_with(name, "Minutes") ? 7 : 0);

    for (; name < end; name++) {
        if (isupper((unsigned char)*name))
            buf_add_char(out, ' ');
        buf_add_char(out, (char)tolower((unsigned char)*name));
    }
}

/* What tools need and people do not. */
static bool is_id(const char *name)
{
    static const char *const others[] = { "id",         "next",          "after",
                                          "taskTitles", "categoryNames", "createdAt",
                                          "updatedAt" };

    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (strcmp(name, others[i]) == 0)
            return true;
    }
    return ends_with(name, "Id") || ends_with(name, "Ids");
}

static void add_list(struct buf *out, struct json_object *list);

static void add_value(struct buf *out, const char *name, struct json_object *value)
{
    struct str text = json_str(value);
    int64_t at;

    if (json_object_is_type(value, json_type_array))
        add_list(out, value);
    else if (json_object_is_type(value, json_type_int) && is_minutes(name))
        add_length(out, json_object_get_int64(value));
    else if (json_object_is_type(value, json_type_boolean))
        buf_add_text(out, json_object_get_boolean(value) ? "yes" : "no");
    else if (!json_object_is_type(value, json_type_string))
        buf_add_text(out, json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
    else if (text.n > 10 && timefmt_parse(text, &at, NULL) == 0)
        add_moment(out, at, true);
    else
        add_words(out, text);
}

/* The members that are no ids: "title Leg day, due 2026-02-18". How many there were. */
static size_t add_members(struct buf *out, struct json_object *object)
{
    struct json_object_iter it;
    size_t n = 0;

    json_object_object_foreachC(object, it)
    {
        if (is_id(it.key) || !it.val)
            continue;
        buf_add_text(out, n++ ? ", " : "");
        if (strcmp(it.key, "minutes") != 0) {
            add_name(out, it.key);
            buf_add_char(out, ' ');
        }
        add_value(out, it.key, it.val);
    }
    return n;
}

static void add_list(struct buf *out, struct json_object *list)
{
    for (size_t i = 0; i < json_length(list); i++) {
        struct json_object *item = json_object_array_get_idx(list, i);

        buf_add_text(out, i ? "; " : "");
        if (json_object_is_type(item, json_type_object))
            add_members(out, item);
        else
            add_value(out, "", item);
    }
    if (json_length(list) == 0)
        buf_add_text(out, "none");
}

/* ---- records ---- */

static struct str title_of(const struct saying *saying, struct json_object *record)
{
    struct str id = member(record, "taskId");

    return id.n ? member(saying->titles, id.p) : STR_NONE;
}

static void add_part(struct buf *out, const char *mark, struct str text)
{
    if (text.n == 0)
        return;
    buf_add_text(out, mark);
    add_words(out, text);
}

static void say_time(const struct saying *saying, struct json_object *record)
{
    struct str task = title_of(saying, record);

    add_words(saying->out, task.n ? task : STR("time"));
    buf_add_text(saying->out, ", ");
    add_span(saying->out, member(record, "startedAt"), member(record, "endedAt"));
    add_part(saying->out, ": ", member(record, "description"));
}

static void say_block(const struct saying *saying, struct json_object *record)
{
    add_span(saying->out, member(record, "startTime"), member(record, "endTime"));
    add_part(saying->out, ": ", title_of(saying, record));
    add_part(saying->out, ": ", member(record, "note"));
}

static void say_alarm(const struct saying *saying, struct json_object *record)
{
    int64_t at;

    add_words(saying->out, member(record, "name"));
    buf_add_text(saying->out, " rings ");
    if (timefmt_parse(member(record, "ringsAt"), &at, NULL) == 0)
        add_moment(saying->out, at, true);
    add_part(saying->out, ": ", member(record, "note"));
}

/* "focus 4 (task)"; a summary: "focus 4.2 of 5 ratings, 3 to 5" */
static void say_rating(const struct saying *saying, struct json_object *record)
{
    double mean = 0;
    int64_t value = 0, count = 0, lowest = 0, highest = 0;

    add_part(saying->out, "", member(record, "day"));
    add_part(saying->out, member(record, "day").n ? " " : "", member(record, "dimension"));
    if (json_get_i64(record, "value", &value, NULL) > 0) {
        buf_printf(saying->out, " %lld (%.*s)", (long long)value,
                   STR_ARG(utf8_truncate(member(record, "targetType"), WORDS_MAX)));
        add_part(saying->out, ": ", member(record, "note"));
        return;
    }
    mean = json_object_get_double(json_find(record, "mean"));
    (void)json_get_i64(record, "count", &count, NULL);
    buf_printf(saying->out, " %g of %lld rating%s", mean, (long long)count, count == 1 ? "" : "s");
    if (json_get_i64(record, "lowest", &lowest, NULL) > 0 &&
        json_get_i64(record, "highest", &highest, NULL) > 0 && lowest != highest)
        buf_printf(saying->out, ", %lld to %lld", (long long)lowest, (long long)highest);
}

static void say_entry(const struct saying *saying, struct json_object *record)
{
    struct str title = member(record, "title");
    int64_t at, length = 0;

    add_words(saying->out, member(record, "kind"));
    add_part(saying->out, " ", title.n ? title : member(record, "subtype"));
    if (timefmt_parse(member(record, "at"), &at, NULL) == 0) {
        buf_add_text(saying->out, ", ");
        add_moment(saying->out, at, true);
    }
    if (json_get_i64(record, "durationMs", &length, NULL) > 0) {
        buf_add_text(saying->out, ", ");
        add_length(saying->out, length / MINUTES(1));
    }
    if (!title.n)
        add_part(saying->out, ": ", member(record, "body"));
}

static void say_plan(const struct saying *saying, struct json_object *record)
{
    struct json_object *pinned = json_find(record, "pinnedTaskIds");

    add_part(saying->out, "plan of ", member(record, "planDate"));
    add_part(saying->out, ": ", member(record, "note"));
    for (size_t i = 0; i < json_length(pinned); i++) {
        struct str id = json_str(json_object_array_get_idx(pinned, i));

        add_part(saying->out, i ? ", " : "; pinned: ", id.n ? member(saying->titles, id.p) : id);
    }
}

static void say_titled(const struct saying *saying, struct json_object *record)
{
    bool checked = false;
    int64_t minutes = 0;

    if (json_get_bool(record, "checked", &checked, NULL) > 0)
        buf_add_text(saying->out, checked ? "[x] " : "[ ] ");
    add_words(saying->out, member(record, "title"));
    if (member(record, "categoryId").n)
        add_part(saying->out, ", ", member(saying->categories, member(record, "categoryId").p));
    add_part(saying->out, ", ", member(record, "status"));
    add_part(saying->out, ", ", member(record, "priority"));
    add_part(saying->out, ", due ", member(record, "due"));
    if (json_get_i64(record, "estimateMinutes", &minutes, NULL) > 0 && minutes > 0) {
        buf_add_text(saying->out, ", estimate ");
        add_length(saying->out, minutes);
    }
    add_part(saying->out, ", of ", title_of(saying, record));
}

/* The first member that a record has says what it is. */
static const struct {
    const char *member;
    void (*say)(const struct saying *saying, struct json_object *record);
} forms[] = {
    { "startedAt", say_time }, { "startTime", say_block }, { "ringsAt", say_alarm },
    { "kind", say_entry },     { "planDate", say_plan },   { "dimension", say_rating },
    { "title", say_titled },
};

static void say_record(struct saying *saying, struct json_object *record)
{
    struct json_object *items = json_find(record, "items");
    size_t before = saying->out->n;

    if (saying->lines++ >= LINES_MAX)
        return;
    for (size_t i = 0; i < ARRAY_LEN(forms) && saying->out->n == before; i++) {
        if (json_find(record, forms[i].member))
            forms[i].say(saying, record);
    }
    if (saying->out->n == before && member(record, "name").n)
        add_words(saying->out, member(record, "name"));
    if (saying->out->n == before)
        add_members(saying->out, record);
    buf_add_char(saying->out, '\n');
    for (size_t i = 0; json_object_is_type(items, json_type_array) && i < json_length(items); i++)
        say_record(saying, json_object_array_get_idx(items, i));
}

/* ---- answers ---- */

static bool is_records(struct json_object *value)
{
    return json_object_is_type(value, json_type_array) &&
           (json_length(value) == 0 ||
            json_object_is_type(json_object_array_get_idx(value, 0), json_type_object));
}

/* What a yes means; "" it says nothing, NULL: its name does. */
static const char *yes_words(const char *name)
{
    static const struct {
        const char *name, *words;
    } known[] = {
        { "ambiguous", "not clear which is meant" },
        { "outOfReach", "there is one, in none of its categories" },
        { "preview", "only looked at: nothing was changed" },
        { "created", "new" },
        { "cleared", "cleared" },
        { "changed", "changed" },
        { "set", "" },
        { "replaced", "instead of the one before" },
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (strcmp(known[i].name, name) == 0)
            return known[i].words;
    }
    return NULL;
}

static void say_flag(struct saying *saying, const char *name, bool yes)
{
    const char *words = yes_words(name);

    if (!yes && strcmp(name, "changed") == 0)
        buf_add_text(saying->out, "it was so already\n");
    if (words && (!yes || !words[0] || (strcmp(name, "ambiguous") == 0 && saying->lines == 0)))
        return;
    if (words)
        buf_add_text(saying->out, words);
    else
        add_name(saying->out, name);
    buf_add_text(saying->out, words || yes ? "\n" : ": no\n");
}

/* One record; what it is to the answer is said where that is not plain. */
static void say_one(struct saying *saying, const char *name, struct json_object *record)
{
    static const char *const said[] = { "running", "stopped", "followUp" };

    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        if (strcmp(name, said[i]) != 0)
            continue;
        add_name(saying->out, name);
        buf_add_text(saying->out, ": ");
    }
    say_record(saying, record);
}

static void say_many(struct saying *saying, const char *name, struct json_object *list)
{
    if (json_length(list) == 0) {
        if (strcmp(name, "busy") == 0 || strcmp(name, "links") == 0 || strcmp(name, "labels") == 0)
            return;
        buf_add_text(saying->out, "no ");
        add_name(saying->out, name);
        buf_add_char(saying->out, '\n');
        return;
    }
    for (size_t i = 0; i < json_length(list); i++) {
        if (strcmp(name, "busy") == 0 && saying->lines < LINES_MAX)
            buf_add_text(saying->out, "taken: ");
        say_record(saying, json_object_array_get_idx(list, i));
    }
}

static void say_member(struct saying *saying, const char *name, struct json_object *value)
{
    if (json_object_is_type(value, json_type_object)) {
        if (json_object_object_length(value) > 0)
            say_one(saying, name, value);
    } else if (json_object_is_type(value, json_type_boolean)) {
        say_flag(saying, name, json_object_get_boolean(value));
    } else if (is_records(value)) {
        say_many(saying, name, value);
    } else if (value) {
        add_name(saying->out, name);
        buf_add_text(saying->out, ": ");
        add_value(saying->out, name, value);
        buf_add_char(saying->out, '\n');
    }
}

static bool is_ours(struct str tool)
{
    const struct tool_contract *contract = tool_contract_find(tool);

    return contract && desk_owns(contract);
}

bool desk_say_answer(struct str tool, struct json_object *output, struct buf *out)
{
    struct saying saying = { .titles = json_find(output, "taskTitles"),
                             .categories = json_find(output, "categoryNames"),
                             .out = out };
    struct json_object_iter it;

    if (!is_ours(tool) || !json_object_is_type(output, json_type_object))
        return false;
    if (json_find(output, "ringsAt")) { /* an alarm that was set is the answer itself */
        say_record(&saying, output);
        return true;
    }
    json_object_object_foreachC(output, it)
    {
        if (!is_id(it.key))
            say_member(&saying, it.key, it.val);
    }
    if (saying.lines > LINES_MAX)
        buf_printf(out, "… and %zu more\n", saying.lines - LINES_MAX);
    if (out->n == 0)
        buf_add_text(out, "done\n");
    return true;
}

bool desk_say_asked(struct str tool, struct json_object *input, struct buf *out)
{
    if (!is_ours(tool) || !json_object_is_type(input, json_type_object))
        return false;
    add_members(out, input);
    return true;
}

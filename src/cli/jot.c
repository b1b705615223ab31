/* Asking the daemon about the journal, and reading what people type.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/jot.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/decide.h"
#include "journal/quick.h"

#define PATH_BYTES (32 * KIB)
#define BODY_BYTES (4 * MIB)

void jot_release(struct jot *jot)
{
    talk_free(jot->talk);
    zone_free(jot->zone);
    arena_release(&jot->arena);
}

void jot_local(struct jot *jot, int64_t at_ms, char ret_text[TIMEFMT_SIZE])
{
    timefmt_rfc3339(at_ms + (int64_t)zone_offset(jot->zone, at_ms / 1000) * 1000, ret_text);
}

int jot_open(struct jot *jot, const struct cli_args *args)
{
    char name[ZONE_NAME_MAX + 1], text[TIMEFMT_SIZE];

    *jot = (struct jot){ .args = args, .arena = ARENA_INIT, .err = ERR_INIT };
    zone_system(name);
    if (zone_open(str_from(name), &jot->zone, &jot->err) < 0)
        return -1;
    jot->now_ms = clock_wall_ms(clock_system());
    jot_local(jot, jot->now_ms, text);
    memcpy(jot->today, text, JOT_DAY_SIZE - 1);
    jot->today[JOT_DAY_SIZE - 1] = '\0';
    return talk_open(args, &jot->talk, &jot->err);
}

int jot_fail(struct jot *jot)
{
    return cli_fail(jot->args, &jot->err);
}

int jot_idle(struct jot *jot, const char *options)
{
    err_set(&jot->err, ERR_BAD_REQUEST, "nothing to change: give %s", options);
    return cli_misused(jot->args, &jot->err);
}

/* ---- asking ---- */

const char *jot_part(struct jot *jot, const char *text)
{
    AUTO_BUF out = BUF_INIT(PATH_BYTES);

    decide_add_segment(&out, text);
    return arena_text(&jot->arena, buf_text(&out));
}

void jot_query(struct jot *jot, struct buf *path, const char *name, const char *value)
{
    if (value)
        buf_printf(path, "%c%s=%s", strchr(buf_text(path), '?') ? '&' : '?', name,
                   jot_part(jot, value));
}

int jot_ask(struct jot *jot, const char *method, struct json_object *body,
            struct json_object **ret_answer, const char *path, ...)
{
    AUTO_BUF text = BUF_INIT(BODY_BYTES);
    AUTO_BUF address = BUF_INIT(PATH_BYTES);
    struct json_writer w = JSON_WRITER(&text);
    va_list list;

    buf_add_text(&address, "/api/v1/journal/");
    va_start(list, path);
    buf_vprintf(&address, path, list);
    va_end(list);
    if (body)
        json_write_value(&w, body);
    if (address.full || (body && json_write_end(&w) < 0))
        return err_set(&jot->err, ERR_TOO_LARGE, "that is more than one request can hold");
    *ret_answer = NULL;
    if (talk_ask(jot->talk, method, buf_text(&address), buf_str(&text), ret_answer, &jot->err) < 0)
        return jot_refused(jot);
    return 0;
}

int jot_list(struct jot *jot, const char *path, size_t max, struct json_object **ret_items,
             bool *ret_more)
{
    AUTO_JSON all = json_object_new_array();
    struct str next = STR_NONE;

    *ret_more = false;
    do {
        AUTO_BUF address = BUF_INIT(PATH_BYTES);
        AUTO_JSON page = NULL;
        struct json_object *items;

        buf_add_text(&address, path);
        if (next.n)
            jot_query(jot, &address, "after", arena_printf(&jot->arena, "%.*s", STR_ARG(next)));
        if (jot_ask(jot, "GET", NULL, &page, "%s", buf_text(&address)) < 0)
            return -1;
        items = json_find(page, "items");
        for (size_t i = 0; i < json_length(items); i++) {
            if (json_length(all) == max)
                *ret_more = true;
            else
                json_object_array_add(all, json_object_get(json_object_array_get_idx(items, i)));
        }
        next = arena_str(&jot->arena, jot_member(page, "next"));
    } while (next.n && json_length(all) < max);
    *ret_more = *ret_more || next.n > 0;
    *ret_items = TAKE(all);
    return 0;
}

void jot_say_more(bool more, const char *how)
{
    if (more)
        printf("... and more%s%s\n", *how ? "; " : "", how);
}

/* ---- which one ---- */

static int several(struct jot *jot, const char *typed, struct json_object *items)
{
    AUTO_BUF names = BUF_INIT(1024);
    size_t n = json_length(items), width = jot_id_width(items);

    for (size_t i = 0; i < n && i < 5; i++) {
        struct json_object *item = json_object_array_get_idx(items, i);

        buf_printf(&names, "%s%.*s (%.*s)", i ? ", " : "",
                   STR_ARG(str_take(jot_member(item, "title"), 60)),
                   STR_ARG(str_take(jot_member(item, "id"), width)));
    }
    return err_set(
        &jot->err, ERR_BAD_REQUEST, "\"%.80s\" may be%s: %s%s; take an id", typed,
        jot_member(json_object_array_get_idx(items, 0), "closedAt").n ? ", of closed tasks" : "",
        buf_text(&names), n > 5 ? " and more" : "");
}

/* The only one, or the only one that is called just so; NULL: there are several. */
static struct json_object *meant(struct json_object *items, const char *typed)
{
    struct json_object *found = NULL;

    if (json_length(items) == 1)
        return json_object_array_get_idx(items, 0);
    for (size_t i = 0; i < json_length(items); i++) {
        struct json_object *item = json_object_array_get_idx(items, i);

        if (!str_eq_nocase(jot_member(item, "title"), str_from(typed)))
            continue;
        if (found)
            return NULL;
        found = item;
    }
    return found;
}

/* Open ones, or where there are none closed ones, the last that was changed first. */
static int tasks_by_words(struct jot *jot, const char *typed, struct json_object **ret_items)
{
    static const char *const which[] = { "", "&closed=true&order=updated" };
    bool more;

    for (size_t i = 0; i < ARRAY_LEN(which); i++) {
        const char *path =
            arena_printf(&jot->arena, "tasks?limit=100&q=%s%s", jot_part(jot, typed), which[i]);

        json_object_put(*ret_items);
        *ret_items = NULL;
        if (jot_list(jot, path, 100, ret_items, &more) < 0)
            return -1;
        if (json_length(*ret_items) > 0)
            return 0;
    }
    return 0;
}

int jot_task(struct jot *jot, const char *typed, struct str *ret_id)
{
    AUTO_JSON answer = NULL;
    AUTO_JSON items = NULL;
    struct json_object *task;

    if (jot_ask(jot, "GET", NULL, &answer, "tasks/%s?deleted=true", jot_part(jot, typed)) == 0) {
        *ret_id = arena_str(&jot->arena, jot_member(answer, "id"));
        return 0;
    }
    if (jot->err.code != ERR_NOT_FOUND)
        return -1;
    err_reset(&jot->err);
    if (tasks_by_words(jot, typed, &items) < 0)
        return -1;
    if (json_length(items) == 0)
        return err_set(&jot->err, ERR_NOT_FOUND,
                       "there is no task \"%.80s\": neither an id begins so nor has a title "
                       "these words; `dormouse journal task list --all` shows them",
                       typed);
    task = meant(items, typed);
    if (!task)
        return several(jot, typed, items);
    *ret_id = arena_str(&jot->arena, jot_member(task, "id"));
    return 0;
}

int jot_named(struct jot *jot, const char *plural, const char *typed, struct str *ret_id)
{
    AUTO_JSON items = NULL;
    AUTO_BUF names = BUF_INIT(512);
    bool more;

    if (jot_list(jot, arena_printf(&jot->arena, "%s?limit=1000", plural), 10000, &items, &more) < 0)
        return -1;
    for (size_t i = 0; i < json_length(items); i++) {
        struct json_object *item = json_object_array_get_idx(items, i);

        if (str_is(jot_member(item, "id"), typed) ||
            str_eq_nocase(jot_member(item, "name"), str_from(typed))) {
            *ret_id = arena_str(&jot->arena, jot_member(item, "id"));
            return 0;
        }
        if (names.n < 300)
            buf_printf(&names, "%s%.*s", i ? ", " : "",
                       STR_ARG(str_take(jot_member(item, "name"), 60)));
    }
    return err_set(&jot->err, ERR_NOT_FOUND, "none of the %s is called \"%.80s\"; there %s%s",
                   plural, typed, names.n ? "is: " : "are none yet", buf_text(&names));
}

struct str jot_category_name(struct jot *jot, struct str id)
{
    AUTO_JSON answer = NULL;
    struct str name = STR_NONE;

    if (jot_ask(jot, "GET", NULL, &answer, "categories/%.*s", STR_ARG(id)) == 0)
        name = arena_str(&jot->arena, jot_member(answer, "name"));
    err_reset(&jot->err);
    return name.n ? name : id;
}

void jot_add(struct json_object *body, const char *key, struct str text)
{
    if (text.n)
        json_object_object_add(body, key, json_object_new_string_len(text.p, (int)text.n));
}

int jot_each(const struct cli_args *args, const char *method, const char *plural, const char *more,
             const char *said)
{
    AUTO_JOT jot;

    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    for (size_t i = 0; i < cli_operand_count(args); i++) {
        struct json_object *answer = NULL;

        if (jot_ask(&jot, method, NULL, &answer, "%s/%s%s", plural,
                    jot_part(&jot, cli_operand(args, i)), more) < 0)
            return jot_fail(&jot);
        if (!answer) {
            answer = json_object_new_object();
            jot_add(answer, "id", str_from(cli_operand(args, i)));
        }
        jot_done(&jot, answer, said);
    }
    return CLI_DONE;
}

/* "1:30" */
static bool read_clock_length(struct str text, int64_t *ret_minutes)
{
    struct str hours;
    int64_t h, m;

    if (!str_split(&text, ':', &hours) || !text.p || hours.n == 0 || hours.n > 3 || text.n != 2 ||
        str_find_char(hours, '-') >= 0 || str_find_char(text, '-') >= 0 ||
        str_to_i64(hours, &h) < 0 || str_to_i64(text, &m) < 0 || m > 59 || h + m == 0)
        return false;
    *ret_minutes = h * 60 + m;
    return true;
}

int jot_minutes(struct jot *jot, const char *typed, int64_t *ret_minutes)
{
    const char *text = arena_printf(&jot->arena, "x %.60s", typed);
    struct err ignored = ERR_INIT;
    struct quick quick;

    if ((str_to_i64(str_from(typed), ret_minutes) == 0 && *ret_minutes > 0) ||
        read_clock_length(str_from(typed), ret_minutes))
        return 0;
    if (quick_parse(str_from(text), str_from(jot->today), &jot->arena, &quick, &ignored) == 0 &&
        str_is(quick.title, "x") && quick.estimate_min > 0) {
        *ret_minutes = quick.estimate_min;
        return 0;
    }
    return err_set(&jot->err, ERR_BAD_REQUEST,
                   "\"%.60s\" is not how long; write minutes, or 45m, 2h, 1h30, 1:30", typed);
}

struct str jot_words(struct jot *jot, size_t i)
{
    AUTO_BUF out = BUF_INIT(BODY_BYTES);

    for (size_t first = i; i < cli_operand_count(jot->args); i++)
        buf_printf(&out, "%s%s", i > first ? " " : "", cli_operand(jot->args, i));
    return arena_str(&jot->arena, buf_str(&out));
}

/* ---- options ---- */

static struct json_object *new_str(struct str text)
{
    return json_object_new_string_len(text.p ? text.p : "", (int)text.n);
}

static int take_labels(struct jot *jot, const struct jot_option *row, struct json_object *body)
{
    struct json_object *list = json_object_new_array();
    const char *value;

    json_object_object_add(body, row->member, list);
    for (size_t i = 0; (value = cli_value_at(jot->args, row->option, i)); i++)
        if (strcmp(value, "none") != 0)
            json_object_array_add(list, json_object_new_string(value));
    return 0;
}

/* As quick add reads it after a '!'. */
static int read_priority(struct jot *jot, const char *typed, struct str *ret_priority)
{
    const char *text = arena_printf(&jot->arena, "x !%.20s", typed);
    struct err ignored = ERR_INIT;
    struct quick quick;

    if (quick_parse(str_from(text), str_from(jot->today), &jot->arena, &quick, &ignored) < 0 ||
        quick.priority < 0 || !str_is(quick.title, "x"))
        return err_set(&jot->err, ERR_BAD_REQUEST,
                       "\"%.40s\" is no priority; write P0 (first) to P3, 0 to 3, or urgent, high, "
                       "medium, low",
                       typed);
    *ret_priority = str_from(arena_printf(&jot->arena, "P%d", quick.priority));
    return 0;
}

const char *jot_status(struct jot *jot, const char *typed)
{
    char *text = arena_copy(&jot->arena, typed, strlen(typed));

    for (char *c = text; *c; c++)
        *c = *c == '-' || *c == ' ' ? '_' : *c >= 'a' && *c <= 'z' ? (char)(*c & ~0x20) : *c;
    return text;
}

static int take_one(struct jot *jot, const struct jot_option *row, const char *value,
                    struct json_object *body)
{
    char moment[TIMEFMT_SIZE];
    struct str text = str_from(value);
    int64_t minutes;
    int r = 0;

    switch (row->kind) {
    case JOT_LABELS:
        return take_labels(jot, row, body);
    case JOT_MINUTES:
        if (jot_minutes(jot, value, &minutes) < 0)
            return -1;
        json_object_object_add(body, row->member, json_object_new_int64(minutes));
        return 0;
    case JOT_DAY:
    case JOT_CLOCK:
        r = row->kind == JOT_CLOCK ? jot_due(jot, value, &text)
                                   : jot_day(jot, value, JOT_AHEAD, &text);
        break;
    case JOT_MOMENT:
        r = jot_when_it_was(jot, value, moment);
        text = str_from(moment);
        break;
    case JOT_CATEGORY:
        r = jot_named(jot, "categories", value, &text);
        break;
    case JOT_TASK:
        r = jot_task(jot, value, &text);
        break;
    case JOT_PRIORITY:
        r = read_priority(jot, value, &text);
        break;
    case JOT_STATUS:
        text = str_from(jot_status(jot, value));
        break;
    case JOT_TEXT:
        break;
    }
    if (r == 0)
        json_object_object_add(body, row->member, new_str(text));
    return r;
}

int jot_take(struct jot *jot, const struct jot_option *table, struct json_object *body)
{
    for (; table->option; table++) {
        const char *value = cli_value(jot->args, table->option);

        jot_says(jot, table->member, arena_printf(&jot->arena, "--%s", table->option));
        if (!value)
            continue;
        if (table->kind != JOT_LABELS && strcmp(value, "none") == 0)
            json_object_object_add(body, table->member, NULL);
        else if (take_one(jot, table, value, body) < 0)
            return err_wrap(&jot->err, "--%s", table->option);
    }
    return 0;
}

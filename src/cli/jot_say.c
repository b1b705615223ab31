/* Days, moments and records of the journal as people read them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/uuid.h"
#include "cli/cli_int.h"
#include "cli/jot.h"
#include "cli/term.h"

#define ID_MIN   8
#define UUID_MIN 13 /* made within a minute, they begin alike: their time to the millisecond */

struct str jot_member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

/* ---- days ---- */

static int64_t days_of(struct str day)
{
    int64_t year = 0, month = 0, of_month = 0;

    str_to_i64(str_of(day.p, 4), &year);
    str_to_i64(str_of(day.p + 5, 2), &month);
    str_to_i64(str_of(day.p + 8, 2), &of_month);
    return timefmt_days(year, (unsigned)month, (unsigned)of_month);
}

/* Of another year with that year. */
static void day_words(struct str day, struct str today, char *out, size_t size)
{
    static const char *const weekdays[] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    int64_t days = days_of(day), away = days - days_of(today), month = 1, of_month = 1;
    struct str year = str_take(day, 4);

    str_to_i64(str_of(day.p + 5, 2), &month);
    str_to_i64(str_of(day.p + 8, 2), &of_month);
    if (away == 0)
        snprintf(out, size, "today");
    else if (away == 1)
        snprintf(out, size, "tomorrow");
    else if (away == -1)
        snprintf(out, size, "yesterday");
    else if (away < -1 && away > -15)
        snprintf(out, size, "%lld days ago", (long long)-away);
    else
        snprintf(out, size, "%s %lld %s%s%.*s", weekdays[((days + 3) % 7 + 7) % 7],
                 (long long)of_month, months[month - 1], str_starts(today, year) ? "" : " ",
                 str_starts(today, year) ? 0 : 4, year.p);
}

const char *jot_when(struct jot *jot, struct str due, char ret_text[JOT_WHEN_SIZE])
{
    size_t n;

    ret_text[0] = '\0';
    if (due.n < 10)
        return ret_text;
    day_words(due, str_from(jot->today), ret_text, JOT_WHEN_SIZE);
    n = strlen(ret_text);
    if (due.n > 11)
        snprintf(ret_text + n, JOT_WHEN_SIZE - n, " %.*s", STR_ARG(str_skip(due, 11)));
    return ret_text;
}

const char *jot_clock(struct jot *jot, struct str rfc3339, char ret_text[JOT_WHEN_SIZE])
{
    char local[TIMEFMT_SIZE];
    int64_t at;

    ret_text[0] = '\0';
    if (timefmt_parse(rfc3339, &at, NULL) < 0)
        return ret_text;
    jot_local(jot, at, local);
    if (strncmp(local, jot->today, 10) == 0)
        snprintf(ret_text, JOT_WHEN_SIZE, "%.5s", local + 11);
    else
        jot_when(jot, str_of(local, 16), ret_text);
    return ret_text;
}

const char *jot_span(int64_t ms, char ret_text[JOT_WHEN_SIZE])
{
    _Static_assert(JOT_WHEN_SIZE >= TIMEFMT_LENGTH_SIZE, "a length fits where a time does");
    return timefmt_length((ms + 30000) / 60000, ret_text);
}

/* ---- ids ---- */

static int compare_ids(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static size_t shared(struct str a, struct str b)
{
    size_t n = 0;

    while (n < a.n && n < b.n && a.p[n] == b.p[n])
        n++;
    return n;
}

size_t jot_id_width(struct json_object *items)
{
    size_t n = json_length(items), width = ID_MIN;
    struct str *ids = NEW_N(struct str, n + 1);

    for (size_t i = 0; i < n; i++) {
        ids[i] = jot_member(json_object_array_get_idx(items, i), "id");
        width = uuid_valid(ids[i]) ? UUID_MIN : width;
    }
    qsort(ids, n, sizeof(*ids), compare_ids);
    for (size_t i = 1; i < n; i++) {
        size_t needed = shared(ids[i - 1], ids[i]) + 1;

        width = needed > width ? needed : width;
    }
    free(ids);
    return width;
}

/* ---- answers ---- */

void jot_line(struct jot *jot, const char *before, struct str text)
{
    printf("%s", before);
    term_text(stdout, arena_printf(&jot->arena, "%.*s", STR_ARG(text)));
    putchar('\n');
}

int jot_print(struct jot *jot, struct json_object *answer)
{
    (void)jot;
    cli_print_json(answer ? answer : json_object_new_object());
    return CLI_DONE;
}

int jot_done(struct jot *jot, struct json_object *answer, const char *text)
{
    struct str title =
        jot_member(answer, "title").n ? jot_member(answer, "title") : jot_member(answer, "name");

    if (cli_json(jot->args))
        return jot_print(jot, answer);
    printf("%s %.*s", text, STR_ARG(jot_member(answer, "id")));
    if (title.n) {
        printf(": ");
        term_text(stdout, arena_printf(&jot->arena, "%.*s", STR_ARG(title)));
    }
    putchar('\n');
    json_object_put(answer);
    return CLI_DONE;
}

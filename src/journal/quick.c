/* One line of plain words, taken apart.
 *
 * The first line is the task; lines after it are items of a checklist ("- ...", "[ ] ...") or
 * notes. From left to right every place is asked whether a phrase begins there. Of two days (times,
 * durations, priorities, categories) the last one counts and the earlier stays in the title: in
 * "Plan Friday meeting tomorrow" Friday is part of what is to be done. due: always counts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "journal/quick.h"

#include <stdio.h>

#include "base/timefmt.h"
#include "base/utf8.h"
#include "journal/quick_int.h"

#define TITLE_MAX 500

const char *quick_kind_name(enum quick_kind kind)
{
    static const char *const names[] = {
        [QUICK_NONE] = "none",         [QUICK_DAY] = "day",     [QUICK_CLOCK] = "time",
        [QUICK_ESTIMATE] = "estimate", [QUICK_LABEL] = "label", [QUICK_CATEGORY] = "category",
        [QUICK_PRIORITY] = "priority", [QUICK_ITEM] = "item",   [QUICK_NOTES] = "notes",
    };

    return names[kind];
}

/* ---- words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct str core_of(struct quick_parse *p, struct str raw)
{
    char *lower;

    while (raw.n > 0 && str_find_char(STR(",;.:!?)"), raw.p[raw.n - 1]) >= 0)
        raw.n--;
    lower = arena_copy(p->arena, raw.p, raw.n);
    for (size_t i = 0; i < raw.n; i++) {
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] = (char)(lower[i] | 0x20);
    }
    return str_of(lower, raw.n);
}

/* @"Home and garden" is one word; 0: it begins none. */
static size_t quoted_name(struct str text)
{
    size_t end;

    if (text.n < 4 || (text.p[0] != '@' && text.p[0] != '#') || text.p[1] != '"')
        return 0;
    for (end = 2; end < text.n && text.p[end] != '"'; end++)
        ;
    if (end == text.n)
        return 0;
    while (end < text.n && !is_blank(text.p[end]))
        end++;
    return end;
}

/* Words after the last that there is room for are one. */
void quick_split(struct quick_parse *p, struct str line)
{
    bool quoted = false;
    size_t at = 0;

    while (at < line.n && p->n < QUICK_WORDS_MAX) {
        struct quick_word *word = &p->words[p->n];
        size_t start, named;

        while (at < line.n && is_blank(line.p[at]))
            at++;
        start = at;
        named = quoted ? 0 : quoted_name(str_skip(line, at));
        at += named;
        if (p->n == QUICK_WORDS_MAX - 1)
            at = line.n;
        while (at < line.n && !is_blank(line.p[at]))
            at++;
        if (at == start)
            break;
        word->start = start;
        word->end = at;
        word->raw = str_of(line.p + start, at - start);
        word->literal = quoted || word->raw.p[0] == '\\' || word->raw.p[0] == '"';
        for (size_t i = 0; !named && i < word->raw.n; i++)
            quoted ^= word->raw.p[i] == '"';
        word->core = core_of(p, word->raw);
        p->n++;
    }
}

static bool is_no_day(struct quick_parse *p, size_t i)
{
    int64_t day;

    return (quick_is_date(p->words[i].core) || quick_is_date(p->words[i].raw)) &&
           quick_day((struct quick_words){ &p->words[i], 1 }, p->today, true, &day) == 0;
}

/* Better refused than taken for another day, or for part of what is to be done. */
static int check_dates(struct quick_parse *p, struct err *err)
{
    for (size_t i = 0; i < p->n; i++) {
        struct str text = p->words[i].core;

        if (str_starts(text, STR("due:")))
            text = str_skip(text, strlen("due:"));
        if (!p->words[i].literal && quick_is_doubtful(text))
            return err_set(err, ERR_BAD_REQUEST,
                           "\"%.*s\" is not clear: which is the day, which the month? write"
                           " 2026-12-24, 24.12.2026 or 24 Dec, or \\ before it when it is no date",
                           STR_ARG(text));
        if (!p->words[i].literal && is_no_day(p, i))
            return err_set(err, ERR_BAD_REQUEST,
                           "\"%.*s\" is a day that no calendar has; write \\ before it when it is"
                           " no date",
                           STR_ARG(text));
    }
    return 0;
}

/* What says itself that it is a day or a priority is not left in the title for nothing. */
static int check_read(const struct quick_parse *p, struct err *err)
{
    struct str raw;

    if (!p->unread)
        return 0;
    raw = utf8_truncate(p->unread->raw, 60);
    if (raw.p[0] == '!')
        return err_set(err, ERR_BAD_REQUEST,
                       "\"%.*s\" is no priority; write !0 (first) to !3, or \\ before it when it"
                       " belongs to the title",
                       STR_ARG(raw));
    return err_set(err, ERR_BAD_REQUEST,
                   "\"%.*s\" is no day; write due:friday, due:24.12 or due:2026-12-24T16:00, or \\"
                   " before it when it belongs to the title",
                   STR_ARG(raw));
}

/* ---- what counts ---- */

static void take(struct quick_parse *p, const struct quick_found *found, enum quick_kind kind,
                 struct str value)
{
    const struct quick_word *last = &p->words[found->word + found->count - 1];
    size_t end = last->end;

    /* Punctuation after it does not belong to it; the dot of "12.5." does. */
    while (kind != QUICK_PRIORITY && end > last->start + 1 &&
           str_find_char(STR(",;:!?)"), p->quick->text.p[end - 1]) >= 0)
        end--;
    for (size_t i = 0; i < found->count; i++)
        p->words[found->word + i].taken = true;
    quick_add_span(p->quick, kind, p->words[found->word].start, end, value);
}

static void take_due(struct quick_parse *p)
{
    /* A time without a day is the next such. */
    bool passed = p->clock.some && p->now > p->clock.value;
    char day[TIMEFMT_SIZE];
    char *clock;

    if (!p->day.some && !p->clock.some)
        return;
    timefmt_rfc3339((p->day.some ? p->day.value : p->today + passed) * 24 * 3600 * 1000, day);
    day[10] = '\0';
    snprintf(p->quick->due, QUICK_DUE_SIZE, "%s", day);
    if (p->day.some)
        take(p, &p->day, QUICK_DAY, str_from(arena_text(p->arena, day)));
    if (!p->clock.some)
        return;
    clock =
        arena_printf(p->arena, "%02d:%02d", (int)(p->clock.value / 60), (int)(p->clock.value % 60));
    snprintf(p->quick->due, QUICK_DUE_SIZE, "%sT%s", day, clock);
    /* due:2026-12-24T16:00 and "in 2 hours" are one piece. */
    if (!p->day.some || p->clock.word != p->day.word)
        take(p, &p->clock, QUICK_CLOCK, str_from(clock));
}

static void take_all(struct quick_parse *p)
{
    struct quick *quick = p->quick;

    take_due(p);
    if (p->estimate.some) {
        quick->estimate_min = p->estimate.value;
        if (!p->clock.some || p->clock.word != p->estimate.word) /* "14:00-15:30" is one piece */
            take(p, &p->estimate, QUICK_ESTIMATE,
                 str_from(arena_printf(p->arena, "%lld", (long long)quick->estimate_min)));
    }
    if (p->priority.some) {
        quick->priority = (int)p->priority.value;
        take(p, &p->priority, QUICK_PRIORITY,
             str_from(arena_printf(p->arena, "P%d", quick->priority)));
    }
    if (p->category.some) {
        quick->category = p->category.text;
        take(p, &p->category, QUICK_CATEGORY, p->category.text);
    }
}

/* What is left, with single spaces; a backslash before a word is gone. */
static struct str title_of(struct quick_parse *p)
{
    AUTO_BUF title = BUF_INIT(QUICK_TEXT_MAX);

    for (size_t i = 0; i < p->n; i++) {
        struct str raw = p->words[i].raw;

        if (p->words[i].taken)
            continue;
        if (raw.n > 1 && raw.p[0] == '\\')
            raw = str_skip(raw, 1);
        buf_printf(&title, "%s%.*s", title.n ? " " : "", STR_ARG(raw));
    }
    while (title.n > 0 && str_find_char(STR(",;"), title.p[title.n - 1]) >= 0)
        title.n--;
    return arena_str(p->arena, str_trim(buf_str(&title)));
}

/* ---- lines after the first ---- */

/* "- wood", "* wood", "[ ] wood"; empty: it is no item. */
static struct str item_of(struct str line)
{
    static const char *const marks[] = { "- [ ] ", "* [ ] ", "[ ] ", "[] ", "- ", "* " };

    line = str_trim(line);
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (str_starts(line, str_from(marks[i])))
            return str_trim(str_skip(line, strlen(marks[i])));
    }
    return STR("");
}

static void read_lines(struct quick_parse *p, struct str rest)
{
    struct quick *quick = p->quick;
    AUTO_BUF notes = BUF_INIT(QUICK_TEXT_MAX);
    struct str line;

    while (rest.p && str_split(&rest, '\n', &line)) {
        struct str item = item_of(line);
        size_t start = (size_t)(line.p - quick->text.p);

        if (item.n > 0 && quick->item_count < QUICK_ITEMS_MAX && utf8_count(item) <= TITLE_MAX) {
            quick->items[quick->item_count++] = item;
            quick_add_span(quick, QUICK_ITEM, start, start + line.n, item);
        } else {
            buf_printf(&notes, "%.*s\n", STR_ARG(line));
        }
    }
    quick->notes = arena_str(p->arena, str_trim(buf_str(&notes)));
}

/* ---- all of it ---- */

static int check_text(struct str text, struct err *err)
{
    if (text.n > QUICK_TEXT_MAX)
        return err_set(err, ERR_BAD_REQUEST, "the text has %zu bytes; at most %d are read", text.n,
                       QUICK_TEXT_MAX);
    if (!utf8_valid(text) || (text.n > 0 && memchr(text.p, 0, text.n)))
        return err_set(err, ERR_BAD_REQUEST, "the text is not valid UTF-8 without NUL characters");
    return 0;
}

static int64_t days_of_text(struct str day)
{
    int64_t year = 0, month = 0, of_month = 0;

    str_to_i64(str_of(day.p, 4), &year);
    str_to_i64(str_of(day.p + 5, 2), &month);
    str_to_i64(str_of(day.p + 8, 2), &of_month);
    return timefmt_days(year, (unsigned)month, (unsigned)of_month);
}

static int clock_of_text(struct str at)
{
    int64_t hour = 0, minute = 0;

    str_to_i64(str_of(at.p + 11, 2), &hour);
    str_to_i64(str_of(at.p + 14, 2), &minute);
    return (int)(hour * 60 + minute);
}

int64_t quick_minutes_of(struct str at)
{
    return days_of_text(at) * 24 * 60 + clock_of_text(at);
}

int quick_parse(struct str text, struct str today, struct arena *arena, struct quick *ret_quick,
                struct err *err)
{
    struct quick_parse *p = ARENA_NEW(arena, struct quick_parse);
    struct str rest = text, first = STR("");

    if (check_text(text, err) < 0)
        return -1;
    if (!record_day_valid(today, true))
        return err_set(err, ERR_BAD_REQUEST, "\"%.*s\" is not a day; write YYYY-MM-DD",
                       STR_ARG(str_take(today, 40)));
    p->quick = ARENA_NEW(arena, struct quick);
    *p->quick = (struct quick){ .text = text, .priority = -1 };
    p->arena = arena;
    p->today = days_of_text(today);
    p->now = today.n < 16 ? -1 : clock_of_text(today);
    if (text.n > 0)
        str_split(&rest, '\n', &first);
    quick_split(p, first);
    if (check_dates(p, err) < 0)
        return -1;
    quick_find_phrases(p);
    if (check_read(p, err) < 0)
        return -1;
    take_all(p);
    p->quick->title = title_of(p);
    if (p->quick->title.n == 0)
        return err_set(err, ERR_BAD_REQUEST, "the text does not say what is to be done");
    if (utf8_count(p->quick->title) > TITLE_MAX)
        return err_set(err, ERR_BAD_REQUEST, "the title would have %zu characters; at most %d",
                       utf8_count(p->quick->title), TITLE_MAX);
    if (text.n > 0)
        read_lines(p, rest);
    *ret_quick = *p->quick;
    return 0;
}

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

#define TITLE_MAX      500
#define MINUTES_OF_DAY INT64_C(1440)
#define NAME_MAX_      100

/* What was found of one kind. */
struct found {
    bool some, sure; /* sure: by due: */
    size_t word, count;
    int64_t value;
    struct str text;
};

struct parse {
    struct quick *quick;
    struct arena *arena;
    int64_t today;
    int now; /* minutes of the day; -1: not known */
    struct quick_word words[QUICK_WORDS_MAX];
    size_t n;
    struct found day, clock, estimate, priority, category;
};

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

static struct str core_of(struct parse *p, struct str raw)
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

/* Words after the last that there is room for are one. */
static void split_line(struct parse *p, struct str line)
{
    bool quoted = false;
    size_t at = 0;

    while (at < line.n && p->n < QUICK_WORDS_MAX) {
        struct quick_word *word = &p->words[p->n];
        size_t start;

        while (at < line.n && is_blank(line.p[at]))
            at++;
        start = at;
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
        for (size_t i = 0; i < word->raw.n; i++)
            quoted ^= word->raw.p[i] == '"';
        word->core = core_of(p, word->raw);
        p->n++;
    }
}

static struct quick_words from(struct parse *p, size_t i)
{
    return (struct quick_words){ p->words + i, p->n - i };
}

/* ---- phrases ---- */

static void set(struct found *found, size_t word, size_t count, int64_t value, bool sure)
{
    if (found->some && found->sure && !sure)
        return;
    *found =
        (struct found){ .some = true, .sure = sure, .word = word, .count = count, .value = value };
}

/* "due:friday", "due: in 3 days", "due:2026-12-24T16:00". How many words. */
static size_t find_due(struct parse *p, size_t i)
{
    struct quick_word *word = &p->words[i], saved = *word;
    size_t n, skip = strlen("due:");
    bool apart = str_is(word->core, "due") && str_is(word->raw, "due:");
    int64_t day;
    int clock;

    if (!apart && !str_starts(word->core, STR("due:")))
        return 0;
    if (apart) {
        n = quick_day(from(p, i + 1), p->today, true, &day);
        if (n > 0)
            set(&p->day, i, n + 1, day, true);
        return n > 0 ? n + 1 : 0;
    }
    word->raw = str_skip(word->raw, skip);
    word->core = str_skip(word->core, skip);
    n = quick_day(from(p, i), p->today, true, &day);
    if (n == 0 && word->core.n == 16 && record_day_valid(str_take(word->raw, 16), true)) {
        struct quick_word parts[2] = { *word, *word };

        parts[0].core = str_take(word->core, 10);
        parts[1].core = str_skip(word->core, 11);
        if (quick_day((struct quick_words){ parts, 1 }, p->today, true, &day) == 1 &&
            quick_clock((struct quick_words){ parts + 1, 1 }, true, &clock) == 1) {
            set(&p->clock, i, 1, clock, true);
            n = 1;
        }
    }
    word->raw = saved.raw;
    word->core = saved.core;
    if (n > 0)
        set(&p->day, i, n, day, true);
    return n;
}

static size_t find_day(struct parse *p, size_t i)
{
    int64_t day;
    size_t n = quick_day(from(p, i), p->today, false, &day);

    if (n > 0)
        set(&p->day, i, n, day, false);
    return n;
}

static size_t find_clock(struct parse *p, size_t i, bool after_day)
{
    int64_t day;
    int clock;
    bool beside = after_day || quick_day(from(p, i + 1), p->today, false, &day) > 0;
    size_t n = quick_clock(from(p, i), beside, &clock);

    if (n > 0)
        set(&p->clock, i, n, clock, false);
    return n;
}

/* "in 2 hours"; it stays as it is when nobody knows what time it is. */
static size_t find_later(struct parse *p, size_t i)
{
    int64_t minutes;
    size_t n = quick_later(from(p, i), &minutes);

    if (n == 0 || p->now < 0)
        return n;
    minutes += p->now;
    set(&p->day, i, n, p->today + minutes / MINUTES_OF_DAY, false);
    set(&p->clock, i, n, minutes % MINUTES_OF_DAY, false);
    return n;
}

/* "every monday": what repeats is no day. */
static size_t find_every(struct parse *p, size_t i)
{
    struct str word = p->words[i].core;
    int64_t day;

    if (!str_is(word, "every") && !str_is(word, "each"))
        return 0;
    return 1 + quick_day(from(p, i + 1), p->today, true, &day);
}

static size_t find_estimate(struct parse *p, size_t i)
{
    int64_t minutes;
    size_t n = quick_duration(from(p, i), &minutes);

    if (n > 0)
        set(&p->estimate, i, n, minutes, false);
    return n;
}

/* "!1", "!p1", "!high" */
static size_t find_priority(struct parse *p, size_t i)
{
    static const char *const words[] = { "!0",  "!1",  "!2",      "!3",    "!p0",     "!p1",
                                         "!p2", "!p3", "!urgent", "!high", "!medium", "!low" };
    int place = quick_index(p->words[i].core, words, ARRAY_LEN(words));

    if (place < 0)
        return 0;
    set(&p->priority, i, 1, place % 4, false);
    return 1;
}

/* The name after a sign; what is only digits ("#12") is none. */
static struct str name_after(const struct quick_word *word)
{
    struct str name = str_of(word->raw.p + 1, word->core.n > 0 ? word->core.n - 1 : 0);
    bool other = false;

    for (size_t i = 0; i < name.n; i++)
        other |= name.p[i] < '0' || name.p[i] > '9';
    if (!other || utf8_count(name) > NAME_MAX_ || name.p[0] == '#' || name.p[0] == '@')
        return STR("");
    return name;
}

static void add_span(struct quick *quick, enum quick_kind kind, size_t start, size_t end,
                     struct str value)
{
    size_t at = quick->span_count;

    if (at == QUICK_SPANS_MAX)
        return;
    while (at > 0 && quick->spans[at - 1].start > start)
        at--;
    memmove(&quick->spans[at + 1], &quick->spans[at],
            (quick->span_count - at) * sizeof(*quick->spans));
    quick->spans[at] = (struct quick_span){ kind, start, end, value };
    quick->span_count++;
}

static bool known_label(const struct quick *quick, struct str name)
{
    for (size_t i = 0; i < quick->label_count; i++) {
        if (str_eq_nocase(quick->labels[i], name))
            return true;
    }
    return false;
}

static size_t find_name(struct parse *p, size_t i)
{
    struct quick *quick = p->quick;
    struct quick_word *word = &p->words[i];
    struct str name;

    if (word->raw.p[0] != '#' && word->raw.p[0] != '@')
        return 0;
    name = name_after(word);
    if (name.n == 0)
        return 0;
    if (word->raw.p[0] == '@') {
        set(&p->category, i, 1, 0, false);
        p->category.text = name;
        return 1;
    }
    if (quick->label_count == QUICK_LABELS_MAX)
        return 0;
    if (!known_label(quick, name))
        quick->labels[quick->label_count++] = name;
    word->taken = true;
    add_span(quick, QUICK_LABEL, word->start, word->start + 1 + name.n, name);
    return 1;
}

/* How many words the phrase has that begins there; 0: none does. */
static size_t find_phrase(struct parse *p, size_t i, bool after_day, bool *ret_is_day)
{
    static size_t (*const others[])(struct parse * p, size_t i) = { find_estimate, find_priority,
                                                                    find_name };
    size_t n = find_every(p, i);

    if (n == 0)
        n = find_later(p, i);
    if (n > 0)
        return n;
    n = find_due(p, i);
    if (n == 0)
        n = find_day(p, i);
    *ret_is_day = n > 0;
    if (n == 0)
        n = find_clock(p, i, after_day);
    for (size_t k = 0; n == 0 && k < ARRAY_LEN(others); k++)
        n = others[k](p, i);
    return n;
}

static void find_phrases(struct parse *p)
{
    bool after_day = false;

    for (size_t i = 0, n; i < p->n; i += n) {
        bool is_day = false;

        n = p->words[i].literal ? 0 : find_phrase(p, i, after_day, &is_day);
        after_day = is_day;
        n = n > 0 ? n : 1;
    }
}

/* Better refused than taken for another day, or for part of what is to be done. */
static int check_dates(const struct parse *p, struct err *err)
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
    }
    return 0;
}

/* ---- what counts ---- */

static void take(struct parse *p, const struct found *found, enum quick_kind kind, struct str value)
{
    const struct quick_word *last = &p->words[found->word + found->count - 1];
    size_t end = last->end;

    /* Punctuation after it does not belong to it; the dot of "12.5." does. */
    while (kind != QUICK_PRIORITY && end > last->start + 1 &&
           str_find_char(STR(",;:!?)"), p->quick->text.p[end - 1]) >= 0)
        end--;
    for (size_t i = 0; i < found->count; i++)
        p->words[found->word + i].taken = true;
    add_span(p->quick, kind, p->words[found->word].start, end, value);
}

static void take_due(struct parse *p)
{
    char day[TIMEFMT_SIZE];
    char *clock;

    if (!p->day.some && !p->clock.some)
        return;
    timefmt_rfc3339((p->day.some ? p->day.value : p->today) * 24 * 3600 * 1000, day);
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

static void take_all(struct parse *p)
{
    struct quick *quick = p->quick;

    take_due(p);
    if (p->estimate.some) {
        quick->estimate_min = p->estimate.value;
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
static struct str title_of(struct parse *p)
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

static void read_lines(struct parse *p, struct str rest)
{
    struct quick *quick = p->quick;
    AUTO_BUF notes = BUF_INIT(QUICK_TEXT_MAX);
    struct str line;

    while (rest.p && str_split(&rest, '\n', &line)) {
        struct str item = item_of(line);
        size_t start = (size_t)(line.p - quick->text.p);

        if (item.n > 0 && quick->item_count < QUICK_ITEMS_MAX && utf8_count(item) <= TITLE_MAX) {
            quick->items[quick->item_count++] = item;
            add_span(quick, QUICK_ITEM, start, start + line.n, item);
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

int quick_parse(struct str text, struct str today, struct arena *arena, struct quick *ret_quick,
                struct err *err)
{
    struct parse *p = ARENA_NEW(arena, struct parse);
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
    split_line(p, first);
    if (check_dates(p, err) < 0)
        return -1;
    find_phrases(p);
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

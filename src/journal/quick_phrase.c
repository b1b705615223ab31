/* The phrases of a line: days, times, durations, priorities, names.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/utf8.h"
#include "journal/quick_int.h"

#define MINUTES_OF_DAY INT64_C(1440)
#define NAME_MAX_      100

static struct quick_words from(struct quick_parse *p, size_t i)
{
    return (struct quick_words){ p->words + i, p->n - i };
}

static void set(struct quick_found *found, size_t word, size_t count, int64_t value, bool sure)
{
    if (found->some && found->sure && !sure)
        return;
    *found = (struct quick_found){
        .some = true, .sure = sure, .word = word, .count = count, .value = value
    };
}

/* "due:friday", "due: in 3 days", "due:2026-12-24T16:00". How many words. */
static size_t find_due(struct quick_parse *p, size_t i)
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
    else if (word->core.n > skip && str_find_char(word->raw, '\\') < 0)
        p->unread = word;
    return n;
}

/* Short names are days before a time: "fri 14:00". */
static size_t find_day(struct quick_parse *p, size_t i)
{
    bool timed = i + 1 < p->n && quick_weekday(p->words[i].core) >= 0;
    int clock, minutes;
    int64_t day;
    size_t n;

    timed = timed && (quick_clock(from(p, i + 1), true, &clock) > 0 ||
                      quick_clocks(from(p, i + 1), &clock, &minutes) > 0);
    n = quick_day(from(p, i), p->today, timed, &day);
    if (n > 0)
        set(&p->day, i, n, day, false);
    return n;
}

/* "tomorrow morning" */
static size_t part_of_day(struct quick_words words, int *ret_minutes)
{
    static const char *const names[] = { "morning", "afternoon", "evening", "night" };
    static const int begins[] = { 9 * 60, 15 * 60, 19 * 60, 21 * 60 };
    int i = quick_index(quick_word(words, 0), names, ARRAY_LEN(names));

    if (i < 0)
        return 0;
    *ret_minutes = begins[i];
    return 1;
}

static bool is_day_after(struct quick_parse *p, size_t i)
{
    int64_t day;

    if (i < p->n && str_is(p->words[i].core, "at"))
        i++;
    return i + 1 < p->n && quick_day(from(p, i + 1), p->today, false, &day) > 0;
}

static size_t find_clock(struct quick_parse *p, size_t i, bool after_day)
{
    int clock, minutes;
    size_t n = quick_clocks(from(p, i), &clock, &minutes);

    if (n > 0 && minutes <= 0) /* 15:00-14:00 stays as it is */
        return n;
    if (n > 0)
        set(&p->estimate, i, n, minutes, false);
    if (n == 0)
        n = quick_clock(from(p, i), after_day || is_day_after(p, i), &clock);
    if (n == 0 && after_day)
        n = part_of_day(from(p, i), &clock);
    if (n > 0)
        set(&p->clock, i, n, clock, false);
    return n;
}

/* "in 2 hours"; it stays as it is when nobody knows what time it is. */
static size_t find_later(struct quick_parse *p, size_t i)
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

/* How many words are a day, a time of day or both, or how long. */
static size_t when_or_long(struct quick_words words, int64_t today)
{
    int64_t day, minutes;
    int clock;
    size_t n = quick_day(words, today, true, &day);

    n += quick_clock((struct quick_words){ words.at + n, words.n - n }, true, &clock);
    return n > 0 ? n : quick_duration(words, &minutes);
}

/* "every 2 hours", "last friday", "since 16:00", "from monday to friday": what repeats, has been or
 * only begins there is no day on which it is due. All of it stays in the title. */
static size_t find_other_day(struct quick_parse *p, size_t i)
{
    static const char *const words[] = { "every", "each",   "last",  "past",    "previous",
                                         "since", "before", "after", "between", "from" };
    static const char *const on[] = { "to", "until", "till", "and", "through" };
    size_t n = 1, more;

    if (quick_index(p->words[i].core, words, ARRAY_LEN(words)) < 0)
        return 0;
    more = when_or_long(from(p, i + n), p->today);
    n += more;
    if (more == 0 || n >= p->n - i || quick_index(p->words[i + n].core, on, ARRAY_LEN(on)) < 0)
        return n;
    more = when_or_long(from(p, i + n + 1), p->today);
    return more > 0 ? n + 1 + more : n;
}

static size_t find_estimate(struct quick_parse *p, size_t i)
{
    int64_t minutes;
    size_t n = quick_duration(from(p, i), &minutes);

    if (n > 0)
        set(&p->estimate, i, n, minutes, false);
    return n;
}

/* "!9", "!p7" */
static bool is_number_after(struct str core)
{
    if (!str_starts(core, STR("!")))
        return false;
    core = str_skip(core, 1);
    return quick_number(str_starts(core, STR("p")) ? str_skip(core, 1) : core) >= 0;
}

/* "!1", "!p1", "!high" */
static size_t find_priority(struct quick_parse *p, size_t i)
{
    static const char *const words[] = { "!0",  "!1",  "!2",      "!3",    "!p0",     "!p1",
                                         "!p2", "!p3", "!urgent", "!high", "!medium", "!low" };
    int place = quick_index(p->words[i].core, words, ARRAY_LEN(words));

    if (place < 0) {
        if (is_number_after(p->words[i].core))
            p->unread = &p->words[i];
        return 0;
    }
    set(&p->priority, i, 1, place % 4, false);
    return 1;
}

/* The name after a sign, in quotes when it has several words; what is only digits ("#12") is none.
 */
static struct str name_after(const struct quick_word *word)
{
    struct str name = str_of(word->raw.p + 1, word->core.n > 0 ? word->core.n - 1 : 0);
    bool other = false;

    if (name.n > 2 && name.p[0] == '"' && name.p[name.n - 1] == '"')
        return utf8_count(name) - 2 > NAME_MAX_ ? STR("")
                                                : str_trim(str_of(name.p + 1, name.n - 2));
    for (size_t i = 0; i < name.n; i++)
        other |= name.p[i] < '0' || name.p[i] > '9';
    if (!other || utf8_count(name) > NAME_MAX_ || name.p[0] == '#' || name.p[0] == '@')
        return STR("");
    return name;
}

void quick_add_span(struct quick *quick, enum quick_kind kind, size_t start, size_t end,
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

static size_t find_name(struct quick_parse *p, size_t i)
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
    quick_add_span(quick, QUICK_LABEL, word->start, word->start + word->core.n, name);
    return 1;
}

/* How many words the phrase has that begins there; 0: none does. */
static size_t find_phrase(struct quick_parse *p, size_t i, bool after_day, bool *ret_is_day)
{
    static size_t (*const others[])(struct quick_parse * p,
                                    size_t i) = { find_estimate, find_priority, find_name };
    int clock, minutes;
    size_t n = quick_clocks(from(p, i), &clock, &minutes) > 0 ? 0 : find_other_day(p, i);

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

void quick_find_phrases(struct quick_parse *p)
{
    bool after_day = false;

    for (size_t i = 0, n; i < p->n; i += n) {
        bool is_day = false;

        n = p->words[i].literal ? 0 : find_phrase(p, i, after_day, &is_day);
        after_day = is_day;
        n = n > 0 ? n : 1;
    }
}

/* SPDX-License-Identifier: MIT */
#ifndef DORMOUSE_JOURNAL_QUICK_INT_H
#define DORMOUSE_JOURNAL_QUICK_INT_H

#include "journal/quick.h"

#define QUICK_WORDS_MAX 400

struct quick_word {
    struct str raw;  /* as it stands */
    struct str core; /* in lower case, without punctuation at its end */
    size_t start, end;
    bool literal; /* escaped or quoted: nothing is understood in it */
    bool taken;
};
/* The words that follow, for who looks for a phrase; missing ones are empty. */
struct quick_words {
    struct quick_word *at;
    size_t n;
};

/* The i-th as it is compared; empty when there is none or nothing is understood in it. */
struct str quick_word(struct quick_words words, size_t i);
/* -1: none of them. */
int quick_index(struct str text, const char *const *names, size_t n);
/* Digits only, small; -1: no number. */
int64_t quick_number(struct str text);
/* Also "a" and words up to twelve. */
int64_t quick_count(struct str text);

/* The words of a line. */
struct quick_parse;
void quick_split(struct quick_parse *p, struct str line);
/* Of "2026-02-18T09:30": minutes since 1970 as clocks there count. */
int64_t quick_minutes_of(struct str at);

/* Monday is 0, short names too; -1: none. */
int quick_weekday(struct str text);
/* How many of the words say a day (0: none): "tomorrow", "on friday", "in 3 days". loose: also what
 * is a day only where one is expected ("fri", "24.12"). */
size_t quick_day(struct quick_words words, int64_t today, bool loose, int64_t *ret_day);
/* How many say a time of day: "at 16:00", "4pm"; bare: also what is one only beside a day ("9:30").
 */
size_t quick_clock(struct quick_words words, bool bare, int *ret_minutes);
/* "14:00-15:30", "from 3pm to 4pm": when, and for how many minutes; not above 0: it ends before. */
size_t quick_clocks(struct quick_words words, int *ret_minutes, int *ret_long);
/* How many say how much later than now: "in 2 hours". */
size_t quick_later(struct quick_words words, int64_t *ret_minutes);
/* A date whose day and month are read differently in different places: "3/4/2026". */
bool quick_is_doubtful(struct str text);
/* Written as a date is (2026-13-45, 31.2.2026, 31.2.); whether there is such a day quick_day()
 * says. */
bool quick_is_date(struct str text);
/* How many say how long something takes: "2h", "for 90 minutes". */
size_t quick_duration(struct quick_words words, int64_t *ret_minutes);

/* What was found of one kind. */
struct quick_found {
    bool some, sure; /* sure: by due: */
    size_t word, count;
    int64_t value;
    struct str text;
};

struct quick_parse {
    struct quick *quick;
    struct arena *arena;
    int64_t today;
    int now; /* minutes of the day; -1: not known */
    struct quick_word words[QUICK_WORDS_MAX];
    size_t n;
    struct quick_found day, clock, estimate, priority, category;
    const struct quick_word *unread; /* says that it is a day or a priority, and is none */
};
/* ---- quick_phrase.c ---- */

/* From left to right every place is asked whether a phrase begins there. */
void quick_find_phrases(struct quick_parse *p);
void quick_add_span(struct quick *quick, enum quick_kind kind, size_t start, size_t end,
                    struct str value);

#endif

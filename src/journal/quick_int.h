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

/* How many of the words say a day (0: none): "tomorrow", "on friday", "in 3 days". loose: also what
 * is a day only where one is expected ("fri", "24.12"). */
size_t quick_day(struct quick_words words, int64_t today, bool loose, int64_t *ret_day);
/* How many say a time of day: "at 16:00", "at 4pm"; bare: also without "at". */
size_t quick_clock(struct quick_words words, bool bare, int *ret_minutes);
/* How many say how long something takes: "2h", "for 90 minutes". */
size_t quick_duration(struct quick_words words, int64_t *ret_minutes);

#endif

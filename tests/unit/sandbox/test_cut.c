/* Directories that a look did not get into are told, each once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "harness/test.h"
#include "sandbox/inside_int.h"

static unsigned told;

/* In place of inside_guard.c's. */
void inside_guard_tell(const char *message, bool first)
{
    (void)message;
    told += first;
}

TEST(what_was_cut_from_the_start_is_told_once_and_blamed_on_nobody)
{
    char message[INSIDE_MESSAGE_MAX] = "";

    ASSERT(!cut_note("/p/a", CUT_DEEP, true, NULL));
    ASSERT(!cut_note("/p/a", CUT_DEEP, true, NULL));
    ASSERT_EQ(told, 0);
    ASSERT(!cut_note("/p/a", CUT_DEEP, false, message));
    ASSERT_TEXT(message,
                "/p/a was not looked through for settings that tools outside obey: it lies "
                "too deep");
    ASSERT(!cut_note("/p/a", CUT_DEEP, false, message));
    ASSERT_EQ(told, 1);
    /* Another one, made later, is. */
    ASSERT(cut_note("/p/b", CUT_LONG, false, message));
    ASSERT_CONTAINS(message, "/p/b was not looked through");
    ASSERT(!cut_note("/p/b", CUT_LONG, false, message));
    ASSERT_EQ(told, 2);
}

/* In which directory so many entries are reached is chance. */
TEST(a_look_that_ended_by_its_number_of_entries_says_where_once)
{
    char message[INSIDE_MESSAGE_MAX] = "";

    ASSERT(cut_note("/p/a", CUT_HERE, false, message));
    ASSERT_CONTAINS(message, "/p/a was not looked through");
    ASSERT_CONTAINS(message, "the look ended there");
    ASSERT(!cut_note("/p/b", CUT_HERE, false, message));
    ASSERT_EQ(told, 1);
}

TEST(places_that_were_cut_are_told_up_to_a_number)
{
    char message[INSIDE_MESSAGE_MAX] = "", path[32];

    for (int i = 0; i < 1200; i++) {
        snprintf(path, sizeof(path), "/p/%d", i);
        cut_note(path, CUT_MUCH, false, message);
    }
    ASSERT_EQ(told, 1001);
    ASSERT_CONTAINS(message, "/p/1000 ");
}

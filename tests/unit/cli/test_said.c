/* Errors of the daemon in the words of the command line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "cli/said.h"
#include "harness/test.h"

TEST(a_member_in_front_of_an_error_becomes_the_option)
{
    static const struct said_word words[] = { { "start and zone", "--start and --zone" },
                                              { "start", "--start" },
                                              { "authors", "--authors" },
                                              { NULL, NULL } };
    static const struct {
        const char *error, *said;
    } cases[] = {
        { "start: no time", "--start: no time" },
        { "start and zone: no", "--start and --zone: no" },
        { "start must be one", "--start must be one" },
        { "/authors/12: nobody", "--authors: nobody" },
        { "/authors: none", "--authors: none" },
        { "starting: no", "starting: no" },
        { "start", "start" },
        { "there is no agent", "there is no agent" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        err_set(&t->err, ERR_NOT_FOUND, "%s", cases[i].error);
        said_by(words, &t->err);
        ASSERT_TEXT(err_message(&t->err, 0), cases[i].said);
        ASSERT_EQ(t->err.code, ERR_NOT_FOUND);
        err_reset(&t->err);
    }
}

/* Recurrence rules from outside: the rule, a line break, the start. What is taken must go on
 * strictly, stay within the calendar, and never take long.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "wake/timer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_of((const char *)data, size), rrule = STR_NONE;
    char at[TIMER_LOCAL_SIZE] = "", next[TIMER_LOCAL_SIZE];
    AUTO(recurrence) rule = NULL;
    struct err err = ERR_INIT;

    if (!size || !str_split(&rest, '\n', &rrule))
        return 0;
    if (recurrence_parse(rrule, rest.n ? rest : STR("2026-02-18T07:00"), &rule, &err) < 0) {
        BUG_IF(err.code != ERR_BAD_REQUEST);
        return 0;
    }
    for (int i = 0; i < 40; i++) {
        int r = recurrence_next(rule, at, next, &err);

        BUG_IF(r < 0 || (i == 0 && r == 0));
        if (r == 0)
            break;
        BUG_IF(strlen(next) != TIMER_LOCAL_SIZE - 1 || strcmp(next, at) <= 0);
        memcpy(at, next, sizeof(at));
    }
    return 0;
}

/* A record of the journal made of JSON, without a journal.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_WAKE_RECORD_OF_H
#define DORMOUSE_TESTS_WAKE_RECORD_OF_H

#include "base/json.h"
#include "harness/test.h"
#include "journal/record.h"

static inline struct record record_of(struct test *t, enum record_type type, const char *json)
{
    AUTO_JSON object = NULL;
    struct record record = {
        .type = type, .id = STR("r1"), .created_at = 1000, .updated_at = 2000
    };

    ASSERT_OK(json_parse(str_from(json), &object, &t->err));
    ASSERT_OK(record_apply(&record, object, &t->arena, &t->err));
    return record;
}

#endif

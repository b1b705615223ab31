/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "harness/test.h"
#include "journal/record.h"

TEST(every_type_has_a_name_that_leads_back_to_it)
{
    for (int type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++)
        ASSERT_EQ(record_type_of(str_from(record_type_name((enum record_type)type))), type);
    ASSERT_EQ(record_type_of(STR("none")), RECORD_NONE);
    ASSERT_EQ(record_type_of(STR("tasks")), RECORD_NONE);
    ASSERT_EQ(record_type_of(STR("")), RECORD_NONE);
}

TEST(lists_of_types_have_names_of_their_own)
{
    for (int type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++) {
        const char *name = record_list_name((enum record_type)type);

        ASSERT(name && name[0]);
        ASSERT_EQ(record_type_of(str_from(name)), RECORD_NONE);
        for (int other = RECORD_NONE; other < type; other++)
            ASSERT(strcmp(name, record_list_name((enum record_type)other)) != 0);
    }
}

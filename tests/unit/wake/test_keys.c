/* SPDX-License-Identifier: MIT */
#include "harness/test.h"
#include "wake/queue.h"

/* printf 'run|v1|...' | sha256sum */
TEST(keys_are_hashes_of_what_the_contract_names)
{
    char key[SHA256_TEXT_SIZE], want[SHA256_TEXT_SIZE];

    wake_key_subscription("coach", STR("s1"), STR("abc"), key);
    sha256_text(STR("run|v1|subscription|coach|s1|abc"), want);
    ASSERT_TEXT(key, want);
    wake_key_timer("coach", STR("t1"), 1767225600000, key);
    sha256_text(STR("run|v1|timer|coach|t1|1767225600000"), want);
    ASSERT_TEXT(key, want);
    wake_key_manual("coach", STR("r"), key);
    sha256_text(STR("run|v1|manual|coach|r"), want);
    ASSERT_TEXT(key, want);
    wake_key_source("coach", STR("s1"), STR("e"), key);
    sha256_text(STR("run|v1|source|coach|s1|e"), want);
    ASSERT_TEXT(key, want);
    wake_key_after("retry", "coach", STR("abc"), key);
    sha256_text(STR("run|v1|retry|coach|abc"), want);
    ASSERT_TEXT(key, want);
}

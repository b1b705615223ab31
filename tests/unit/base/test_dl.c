/* SPDX-License-Identifier: MIT */
#include "base/dl.h"

#include "harness/test.h"

#define MATH "libm.so.6"

typedef double one_number(double);

TEST(dl_fills_every_slot_and_may_be_asked_again)
{
    void *cosine = NULL, *floor_ = NULL, *again = NULL;
    const struct dl_symbol symbols[] = { { "cos", &cosine }, { "floor", &floor_ } };
    const struct dl_symbol same[] = { { "cos", &again } };
    one_number *function;

    ASSERT_OK(dl_load(MATH, symbols, 2, &t->err));
    memcpy(&function, &cosine, sizeof(function));
    ASSERT(function(0) == 1);
    memcpy(&function, &floor_, sizeof(function));
    ASSERT(function(1.5) == 1);
    ASSERT_OK(dl_load(MATH, same, 1, &t->err));
    ASSERT(again == cosine);
}

TEST(dl_names_the_library_that_is_missing)
{
    void *slot = NULL;
    const struct dl_symbol symbols[] = { { "cos", &slot } };

    ASSERT_FAILS(dl_load("libno-such-thing.so.9", symbols, 1, &t->err), ERR_INTERNAL);
    ASSERT_CONTAINS(t->err.text, "open library libno-such-thing.so.9: ");
    ASSERT(slot == NULL);
    ASSERT_EQ(dl_load("libno-such-thing.so.9", symbols, 1, NULL), -1);
}

TEST(dl_names_the_missing_function_and_touches_no_slot)
{
    void *cosine = NULL, *other = NULL;
    const struct dl_symbol symbols[] = { { "cos", &cosine }, { "no_such_function", &other } };

    ASSERT_FAILS(dl_load(MATH, symbols, 2, &t->err), ERR_INTERNAL);
    ASSERT_TEXT(t->err.text, "library " MATH " has no function no_such_function");
    ASSERT(cosine == NULL && other == NULL);
}

/* How many tokens a text is, roughly: for budgets where no provider has counted.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_TOKENS_H
#define DORMOUSE_BASE_TOKENS_H

#include <stdint.h>

#include "base/str.h"

/* A rule of thumb that errs on the high side for most tokenizers: a token is four ASCII characters,
 * or one and a half of any others. Never 0 for text that is not empty; longer text, never fewer. */
int64_t tokens_estimate(struct str text);

#endif

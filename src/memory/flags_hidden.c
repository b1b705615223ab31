/* Characters that nobody sees, or that make text look like another (base/unseen.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/unseen.h"
#include "memory/flags_int.h"

static const struct flag_rule hidden_rules[] = {
#define X(id, name, about, misleads)                                                               \
    [UNSEEN_##id] = { name, about, misleads ? MEMORY_DANGER : MEMORY_WARNING },
    UNSEEN_KINDS(X)
#undef X
};

void flag_hidden(struct flag_search *search)
{
    struct unseen_run run;
    size_t at = 0;

    while (unseen_next(search->text, &at, &run))
        flag_add(search, &hidden_rules[run.kind], run.from, run.to);
}

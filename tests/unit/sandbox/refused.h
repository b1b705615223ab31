/* What must not work inside, and must say so.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_REFUSED_H
#define DORMOUSE_TESTS_REFUSED_H

#include "rig.h"

static inline const char *probe(struct rig *rig, const char *what, const char *arg)
{
    return rig_bash(rig,
                    arena_printf(&rig->t->arena, "%s %s '%s' 2>&1", rig_probe(rig), what, arg));
}

/* The command must not succeed, must say why, and must not show the secret. */
#define ASSERT_REFUSED(command_, why_)                                                             \
    do {                                                                                           \
        const char *out_ = rig_bash(&rig, (command_));                                             \
        if (rig_exit(&rig) == 0 || !strstr(out_, (why_)) || strstr(out_, "canary"))                \
            FAIL("%s\n  ended with %d and said\n%s", (command_), rig_exit(&rig), out_);            \
    } while (0)
#define ASSERT_PROBE(what_, arg_, why_)                                                            \
    do {                                                                                           \
        const char *out_ = probe(&rig, (what_), (arg_));                                           \
        if (rig_exit(&rig) != 1 || !strstr(out_, (why_)))                                          \
            FAIL("probe %s ended with %d and said\n%s", (what_), rig_exit(&rig), out_);            \
    } while (0)

#endif

/* The facts of a preview as text: "directory: /home/ada\n...".
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_HARNESS_FACTS_H
#define DORMOUSE_HARNESS_FACTS_H

#include "base/str.h"
#include "harness/test.h"

/* details: of a tool_preview. In t's arena; one that is dangerous ends with " (!)". */
const char *facts_text(struct test *t, struct str details);

#endif

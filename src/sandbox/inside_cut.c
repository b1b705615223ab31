/* Where a look for what tools outside obey did not get (inside_deep.c): a person should know which
 * directory nobody looked into.
 *
 * Each place is told once. One that was so from the start is nobody's fault; a command that made
 * one fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/map.h"
#include "base/visible.h"
#include "sandbox/inside_int.h"

#define PLACES_MAX 1000 /* remembered; the others are told as one */
#define SEEN_BYTES 201  /* of a path in a message */

static struct map places; /* by path; the value says whether it was told */
static char untold, told;

static const char *cut_because(enum cut_why why)
{
    switch (why) {
    case CUT_DEEP:
        return "it lies too deep";
    case CUT_LONG:
        return "the names in it make too long a path";
    case CUT_MUCH:
        return "there is too much in it";
    case CUT_HERE:
        break;
    }
    return "there is too much below the writable places, and the look ended there; nor was what "
           "would have come after it";
}

bool cut_note(const char *path, enum cut_why why, bool starting, char message[INSIDE_MESSAGE_MAX])
{
    /* Where the number of all entries ends the look is chance. */
    const char *key = why == CUT_HERE || map_count(&places) >= PLACES_MAX ? "" : path;
    const char *before = map_find(&places, str_from(key));
    char seen[SEEN_BYTES];

    if (before == &told || (before && starting))
        return false;
    map_put(&places, str_from(key), starting ? &untold : &told);
    if (starting)
        return false;
    snprintf(message, INSIDE_MESSAGE_MAX,
             "%s was not looked through for settings that tools outside obey: %s",
             visible_name(path, seen, sizeof(seen)), cut_because(why));
    inside_guard_tell(message, true);
    return !before;
}

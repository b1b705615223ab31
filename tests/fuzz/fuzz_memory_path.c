/* Any bytes as a path of memory: what may be written lies below knowledge/ or is a SKILL.md, and
 * nothing that is allowed climbs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "base/utf8.h"
#include "memory/edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str path = str_of((const char *)bytes, n), store, part;
    AUTO_ARENA arena = ARENA_INIT;
    struct err err = ERR_INIT;

    if (memory_path(path, true, &arena, &store, &err) < 0) {
        BUG_IF(err.code != ERR_PATH_DENIED);
        return 0;
    }
    BUG_IF(!utf8_valid(store) || !store.n || store.p[0] == '/' || str_find_char(store, '\0') >= 0 ||
           str_find_char(store, '\\') >= 0);
    BUG_IF(!str_starts(store, STR("knowledge/")) &&
           !(str_starts(store, STR("skills/")) && str_ends(store, STR("/SKILL.md"))));
    BUG_IF(!str_eq(memory_seen_path(store, &arena), path));
    for (struct str rest = store; str_split(&rest, '/', &part);)
        BUG_IF(!part.n || part.p[0] == '.');
    return 0;
}

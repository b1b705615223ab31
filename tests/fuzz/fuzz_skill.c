/* Any text as a SKILL.md: read within its bounds or refused with problems; what was read is written
 * and read back as the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/utf8.h"
#include "skill/skill.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_BUF text = BUF_INIT(8u << 20);
    struct str input = str_of((const char *)bytes, n);
    char name[SKILL_NAME_BYTES];
    struct skill skill, again;
    struct err err = ERR_INIT;

    if (skill_normalise_name(input, name, &err) == 0)
        BUG_IF(!name[0] || !utf8_valid(str_from(name)));
    if (skill_parse(input, &arena, &skill, &err) < 0) {
        BUG_IF(err.code != ERR_BAD_REQUEST || !err_message(&err, 0)[0]);
        return 0;
    }
    skill_write(&skill, &text);
    BUG_IF(skill_parse(buf_str(&text), &arena, &again, &err) < 0);
    BUG_IF(!str_eq(skill.name, again.name) || !str_eq(skill.description, again.description));
    BUG_IF(!str_eq(skill.metadata, again.metadata));
    BUG_IF(!str_eq(skill.allowed_tools, again.allowed_tools));
    BUG_IF(!str_eq(skill.instructions, again.instructions));
    return 0;
}

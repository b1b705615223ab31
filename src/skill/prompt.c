/* The first stage of disclosure: what the system prompt says of an agent's skills.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "skill/skill_int.h"

#define PROMPT_SKILLS_MAX 100

static const char head[] =
    "## Skills\n\n"
    "Skills are instructions for certain tasks. Below are their names and when to use them; the "
    "instructions are in their files. When a skill fits what you are asked:\n"
    "1. Read `skills/NAME.md` with read_memory first, and follow it.\n"
    "2. Read a file that it links to, such as `references/x.md`, as `skills/NAME/references/x.md` "
    "when you need it; run its scripts with run_skill_script.\n"
    "3. Begin your answer with `[Using skill: NAME]`.\n\n";

/* One line: a description can't add headings or bullets of its own. */
static void add_line(struct buf *out, const struct skill *skill)
{
    struct str rest = skill->description;
    bool blank = false;

    buf_printf(out, "- **%.*s**: ", STR_ARG(skill->name));
    while (rest.n) {
        struct str before = rest;
        uint32_t code = 0;

        if (utf8_decode(&rest, &code) < 0 || code <= ' ' || utf8_oddity_of(code) != UTF8_PLAIN) {
            blank = true;
            continue;
        }
        if (blank)
            buf_add_char(out, ' ');
        blank = false;
        buf_add(out, before.p, before.n - rest.n);
    }
    buf_add_char(out, '\n');
}

int skills_prompt(struct skills *skills, const struct agent *agent, struct buf *out,
                  struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    const struct tool_contract *reader =
        skills->config.tools ? tool_bed_find(skills->config.tools, STR("read_memory")) : NULL;
    struct skill *list;
    size_t n, shown = 0;

    if (!reader || !tool_offered(reader, agent, STR("userInitiated")))
        return 0;
    if (skills_list(skills, agent, &arena, &list, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n && shown < PROMPT_SKILLS_MAX; i++) {
        if (!list[i].enabled || list[i].problem.n)
            continue;
        if (!shown++)
            buf_add_text(out, head);
        add_line(out, &list[i]);
    }
    return 0;
}

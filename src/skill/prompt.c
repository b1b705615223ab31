/* The first stage of disclosure: what the system prompt says of an agent's skills.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "change/taint.h"
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

/* Where the name and description of an agent's own skill came from: as its SKILL.md says. */
static struct str taint_of(const struct skill *skill, const struct file *files, size_t n,
                           struct arena *arena)
{
    struct str path = str_from(arena_printf(arena, "skills/%.*s/SKILL.md", STR_ARG(skill->name)));

    for (size_t i = 0; i < n && !skill->shared; i++)
        if (str_eq_nocase(files[i].path, path))
            return files[i].taint;
    return STR_NONE;
}

static int say_skills(struct skills *skills, const struct agent *agent, struct buf *out,
                      struct buf *ret_taint, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct str taint = STR_NONE;
    struct file *files = NULL;
    struct skill *list;
    size_t n, shown = 0, file_count = 0;

    if (skills_list(skills, agent, &arena, &list, &n, err) < 0)
        return -1;
    if (skills->config.files && file_list(skills->config.files, skills_tree(agent, &arena),
                                          STR("skills/"), &arena, &files, &file_count, err) < 0)
        return -1;
    for (size_t i = 0; i < n && shown < PROMPT_SKILLS_MAX; i++) {
        if (!list[i].enabled || list[i].problem.n)
            continue;
        if (!shown++)
            buf_add_text(out, head);
        add_line(out, &list[i]);
        taint = taint_join(taint, taint_of(&list[i], files, file_count, &arena), &arena);
    }
    buf_add_str(ret_taint, taint);
    return 0;
}

/* Made anew only when a skill may be another: it is a part of every request. */
int skills_prompt(struct skills *skills, const struct agent *agent, struct buf *out,
                  struct arena *arena, struct str *ret_taint, struct err *err)
{
    const struct tool_contract *reader =
        skills->config.tools ? tool_bed_find(skills->config.tools, STR("read_memory")) : NULL;
    struct skills_said *said = &skills->said[(uint64_t)agent->n % SKILLS_SAID];
    uint64_t stamp;
    size_t ignored;

    if (!reader || !tool_offered(reader, agent, STR("userInitiated")))
        return 0;
    stamp = skills->config.files ? files_stamp(skills->config.files) : 0;
    shared_list(&skills->shared, clock_mono_ms(loop_clock(skills->config.loop)), &ignored);
    if (!said->made || said->agent_n != agent->n || said->stamp != stamp ||
        said->shared != skills->shared.stamp) {
        said->made = false;
        buf_release(&said->text);
        buf_release(&said->taint);
        said->text = BUF_INIT(LIMIT_JSON_BYTES);
        said->taint = BUF_INIT(TAINT_MAX);
        if (say_skills(skills, agent, &said->text, &said->taint, err) < 0)
            return -1;
        said->agent_n = agent->n;
        said->stamp = stamp;
        said->shared = skills->shared.stamp;
        said->made = true;
    }
    buf_add_str(out, buf_str(&said->text));
    *ret_taint = arena_str(arena, buf_str(&said->taint));
    return 0;
}

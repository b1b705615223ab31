/* What a skill in use lets its run call, and scripts as they are shown.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "harness/facts.h"
#include "rig.h"

static bool allows(struct test *t, const char *list, const char *tool, const char *arguments)
{
    AUTO_JSON value = NULL;

    ASSERT_OK(json_parse(str_from(arguments), &value, &t->err));
    return use_allows(str_from(list), tool, value);
}

TEST(an_empty_list_allows_everything_and_a_broken_one_nothing)
{
    ASSERT(allows(t, "[]", "bash", "{}"));
    ASSERT(!allows(t, "not json", "bash", "{}"));
    ASSERT(!allows(t, "{}", "bash", "{}"));
}

TEST(reading_memory_and_asking_are_always_allowed)
{
    static const char *const tools[] = { "read_memory", "list_memory", "ask_user" };

    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        ASSERT(allows(t, "[\"search\"]", tools[i], "{}"));
    ASSERT(!allows(t, "[\"search\"]", "write_memory", "{}"));
}

TEST(tools_go_by_our_names_and_by_those_of_skills_in_the_wild)
{
    ASSERT(allows(t, "[\"read_file\"]", "read_file", "{}"));
    ASSERT(allows(t, "[\"Read\"]", "read_file", "{}"));
    ASSERT(allows(t, "[\"Grep\",\"Edit\"]", "search", "{}"));
    ASSERT(allows(t, "[\"Bash\"]", "bash", "{\"command\":\"rm x; ls\"}"));
    ASSERT(!allows(t, "[\"Read\"]", "write_file", "{}"));
    ASSERT(!allows(t, "[\"Re\"]", "read_file", "{}"));
    ASSERT(!allows(t, "[\"Read(*.md)\"]", "read_file", "{\"path\":\"a.md\"}"));
}

TEST(a_pattern_allows_one_plain_command_that_begins_with_its_words)
{
    static const struct {
        const char *command;
        bool allowed;
    } cases[] = {
        { "git", true },
        { "git status", true },
        { "  git log -3  ", true },
        { "gitk", false },
        { "rm -rf x", false },
        { "git status; rm x", false },
        { "git status && rm x", false },
        { "git log | sh", false },
        { "git log > x", false },
        { "git log $(rm x)", false },
        { "git log `rm x`", false },
        { "git status\\nrm x", false },
        { "git \\\\\\nrm", false },
        { "", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *arguments = arena_printf(&t->arena, "{\"command\":\"%s\"}", cases[i].command);

        if (allows(t, "[\"Bash(git:*)\"]", "bash", arguments) != cases[i].allowed)
            FAIL("%s", cases[i].command);
    }
    ASSERT(allows(t, "[\"Bash(git add:*)\"]", "bash", "{\"command\":\"git add x\"}"));
    ASSERT(!allows(t, "[\"Bash(git add:*)\"]", "bash", "{\"command\":\"git rm x\"}"));
    ASSERT(allows(t, "[\"Bash(*)\"]", "bash", "{\"command\":\"ls -l\"}"));
    ASSERT(!allows(t, "[\"Bash(git:*\"]", "bash", "{\"command\":\"git\"}"));
}

/* ---- the say in every call ---- */

static struct tool_call call_of(struct rig *rig, int64_t run_n, const char *name,
                                const char *arguments)
{
    return (struct tool_call){ .agent = &rig->agent,
                               .run_n = run_n,
                               .run_id = STR("r"),
                               .wake_reason = STR("userInitiated"),
                               .name = str_from(name),
                               .arguments = str_from(arguments),
                               .sandbox = { .cwd = "/work" } };
}

static struct tool_verdict judge(struct rig *rig, int64_t run_n, const char *name,
                                 const char *arguments)
{
    struct tool_call call = call_of(rig, run_n, name, arguments);
    struct tool_verdict verdict;

    tool_judge(rig->tools, &call, &rig->t->arena, &verdict);
    return verdict;
}

static void done(void *arg, const struct tool_result *result)
{
    *(struct err *)arg = result->err;
}

static enum err_code call(struct rig *rig, int64_t run_n, const char *name, const char *arguments)
{
    struct test *t = rig->t;
    struct tool_call tool = { .agent = &rig->agent,
                              .run_n = run_n,
                              .run_id = STR("r"),
                              .wake_reason = STR("userInitiated"),
                              .name = str_from(name),
                              .arguments = str_from(arguments),
                              .sandbox = { .cwd = "/work" } };
    struct err err = ERR_INIT;

    err_reset(&t->err);
    if (tool_start(rig->tools, &tool, STR("op"), STR(""), NULL, done, &err, NULL, &t->err) < 0)
        return t->err.code;
    loop_fake_advance(rig->loop, 10);
    return err.code;
}

DB_TEST(reading_a_skill_puts_it_in_use_for_its_run_alone)
{
    AUTO(rig) rig = rig_open(t);
    struct tool_verdict verdict;
    struct skill skill;

    ASSERT_OK(rig_add(rig, "tea", "[\"read_file\"]", &skill));
    ASSERT(!(judge(rig, 7, "bash", "{\"command\":\"ls\"}").attributes & TOOL_REFUSED));
    ASSERT_EQ(call(rig, 7, "read_memory", "{\"path\":\"skills/tea.md\"}"), ERR_NONE);
    verdict = judge(rig, 7, "bash", "{\"command\":\"ls\"}");
    ASSERT(verdict.attributes & TOOL_REFUSED);
    ASSERT_EQ(verdict.code, ERR_CAPABILITY_DENIED);
    ASSERT_CONTAINS(verdict.message, "The skill tea is in use and does not allow bash");
    ASSERT_CONTAINS(verdict.message, "read_file");
    ASSERT(!(judge(rig, 7, "read_file", "{\"path\":\"x\"}").attributes & TOOL_REFUSED));
    ASSERT(!(judge(rig, 8, "bash", "{\"command\":\"ls\"}").attributes & TOOL_REFUSED));
}

/* The call began while its agent was alive. */
DB_TEST(nothing_is_put_in_use_for_an_agent_that_was_destroyed_meanwhile)
{
    AUTO(rig) rig = rig_open(t);
    struct skill_use *uses;
    struct skill skill;
    size_t n;

    ASSERT_OK(rig_add(rig, "tea", "[\"read_file\"]", &skill));
    ASSERT_EQ(UNIT(rig, agent_set_destroyed(rig->domain, rig->change, STR("coach"), NOW, &t->err)),
              1);
    call(rig, 7, "read_memory", "{\"path\":\"skills/tea.md\"}");
    ASSERT_OK(skill_store_uses(rig->skills, 7, &t->arena, &uses, &n, &t->err));
    ASSERT_EQ(n, 0);
}

/* However its file is spelt, whoever reads the instructions is held to them. */
DB_TEST(no_spelling_of_its_path_reads_a_skill_without_using_it)
{
    static const char *const paths[] = { "skills/tea.md",       "skills/tea/SKILL.md",
                                         "skills/TEA/SKILL.md", "skills/tea/skill.md",
                                         "skills/Tea/Skill.MD", "skills/TEA.md" };
    AUTO(rig) rig = rig_open(t);
    struct skill skill;

    ASSERT_OK(rig_add(rig, "tea", "[\"search\"]", &skill));
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        int64_t run = 100 + (int64_t)i;
        const char *read = arena_printf(&t->arena, "{\"path\":\"%s\"}", paths[i]);
        enum err_code code = call(rig, run, "read_memory", read);
        enum err_code then = judge(rig, run, "bash", "{\"command\":\"ls\"}").code;

        if (code == ERR_NONE && then != ERR_CAPABILITY_DENIED)
            FAIL("%s was read, and the skill is not in use", paths[i]);
        if (i < 2 && code != ERR_NONE)
            FAIL("%s was not read", paths[i]);
    }
}

DB_TEST(of_two_skills_in_use_each_has_to_allow_a_call)
{
    AUTO(rig) rig = rig_open(t);
    struct skill skill;

    ASSERT_OK(rig_add(rig, "one", "[\"read_file\",\"search\"]", &skill));
    ASSERT_OK(rig_add(rig, "two", "[\"search\",\"bash\"]", &skill));
    ASSERT_OK(rig_add(rig, "free", "[]", &skill));
    ASSERT_EQ(call(rig, 7, "read_memory", "{\"path\":\"skills/one.md\"}"), ERR_NONE);
    ASSERT_EQ(call(rig, 7, "read_memory", "{\"path\":\"skills/two/SKILL.md\"}"), ERR_NONE);
    ASSERT_EQ(call(rig, 7, "read_memory", "{\"path\":\"skills/free.md\"}"), ERR_NONE);
    ASSERT(!(judge(rig, 7, "search", "{\"pattern\":\"x\"}").attributes & TOOL_REFUSED));
    ASSERT(judge(rig, 7, "bash", "{\"command\":\"ls\"}").attributes & TOOL_REFUSED);
    ASSERT(judge(rig, 7, "read_file", "{\"path\":\"x\"}").attributes & TOOL_REFUSED);
}

DB_TEST(a_shared_skill_is_read_like_an_own_one)
{
    AUTO(rig) rig = rig_open(t);

    ASSERT_EQ(call(rig, 7, "read_memory", "{\"path\":\"skills/careful-research.md\"}"), ERR_NONE);
    ASSERT(judge(rig, 7, "bash", "{\"command\":\"ls\"}").attributes & TOOL_REFUSED);
    ASSERT_EQ(call(rig, 7, "read_memory",
                   "{\"path\":\"skills/careful-research/references/weighing.md\"}"),
              ERR_NONE);
    ASSERT_EQ(call(rig, 7, "read_memory", "{\"path\":\"skills/nothing.md\"}"), ERR_NOT_FOUND);
}

/* The text of a skill may be called skill.md, as skills-ref has it. */
DB_TEST(a_shared_skill_in_small_letters_is_in_use_as_well)
{
    AUTO(rig) rig = rig_open(t);
    const char *from, *to;

    rig_share(rig, "low", rig_text(rig, "low", "allowed-tools: search\n", "Do it."));
    from = arena_printf(&t->arena, "%s/low/SKILL.md", rig->root);
    to = arena_printf(&t->arena, "%s/low/skill.md", rig->root);
    ASSERT_EQ(rename(from, to), 0);
    rig_later(rig);
    ASSERT_EQ(call(rig, 7, "read_memory", "{\"path\":\"skills/low/skill.md\"}"), ERR_NONE);
    ASSERT_EQ(judge(rig, 7, "bash", "{\"command\":\"ls\"}").code, ERR_CAPABILITY_DENIED);
    ASSERT_EQ(call(rig, 8, "read_memory", "{\"path\":\"skills/low.md\"}"), ERR_NONE);
    ASSERT_EQ(judge(rig, 8, "bash", "{\"command\":\"ls\"}").code, ERR_CAPABILITY_DENIED);
}

DB_TEST(a_skill_that_is_off_is_never_in_use)
{
    AUTO(rig) rig = rig_open(t);
    struct skill skill;

    ASSERT_OK(rig_add(rig, "tea", "[\"read_file\"]", &skill));
    ASSERT_OK(UNIT(rig, skills_enable(rig->skills, &rig->agent, STR("tea"), false, &t->arena,
                                      &skill, &t->err)));
    ASSERT_EQ(call(rig, 7, "read_memory", "{\"path\":\"skills/tea.md\"}"), ERR_NONE);
    ASSERT(!(judge(rig, 7, "bash", "{\"command\":\"ls\"}").attributes & TOOL_REFUSED));
}

DB_TEST(an_agent_is_told_at_once_that_what_it_writes_is_no_skill)
{
    AUTO(rig) rig = rig_open(t);
    struct tool_verdict verdict =
        judge(rig, 7, "write_memory",
              "{\"path\":\"skills/tea.md\",\"content\":\"Boil.\",\"reason\":\"r\"}");

    ASSERT(verdict.attributes & TOOL_REFUSED);
    ASSERT_CONTAINS(verdict.message, "skills/tea.md is no valid skill");
    ASSERT_CONTAINS(verdict.message, "front matter");
    verdict = judge(rig, 7, "write_memory",
                    "{\"path\":\"skills/tea.md\",\"content\":\"---\\nname: tea\\n"
                    "description: x\\n---\\n\",\"reason\":\"r\"}");
    ASSERT(!(verdict.attributes & TOOL_REFUSED));
}

/* ---- scripts ---- */

static struct tool_preview shown;

static void on_shown(void *arg, const struct tool_preview *preview)
{
    struct test *t = arg;

    shown = *preview;
    shown.text = arena_str(&t->arena, preview->text);
    shown.details = arena_str(&t->arena, preview->details);
    shown.title = arena_str(&t->arena, preview->title);
}

static void preview(struct rig *rig, const char *arguments)
{
    struct test *t = rig->t;
    struct tool_call tool = { .agent = &rig->agent,
                              .run_n = 7,
                              .run_id = STR("r"),
                              .wake_reason = STR("userInitiated"),
                              .name = STR("run_skill_script"),
                              .arguments = str_from(arguments),
                              .sandbox = { .cwd = "/work" } };

    ASSERT_OK(tool_preview(rig->tools, &tool, NULL, on_shown, t, NULL, &t->err));
    loop_fake_advance(rig->loop, 10);
}

#define RUN_A "{\"skill\":\"tea\",\"script\":\"scripts/a.sh\",\"arguments\":[\"it's\"]}"

DB_TEST(a_person_sees_the_whole_script_and_what_it_is_called_with)
{
    AUTO(rig) rig = rig_open(t);
    struct skill skill;

    ASSERT_OK(rig_add(rig, "tea", "[]", &skill));
    ASSERT_OK(rig_put(rig, "skills/tea/scripts/a.sh", "#!/bin/sh\necho hello\n", "owner"));
    preview(rig, RUN_A);
    ASSERT_STR(shown.title, "Run scripts/a.sh of the skill tea");
    ASSERT_STR(shown.text, "#!/bin/sh\necho hello\n");
    ASSERT_CONTAINS(facts_text(t, shown.details),
                    "script: scripts/a.sh\nargument 1: it's\ndirectory: ");
    ASSERT_CONTAINS(facts_text(t, shown.details),
                    "\nends after: 30 s (the default)\nsandbox: on\n");
    ASSERT_CONTAINS(facts_text(t, shown.details), "\nbeside it: SKILL.md, ");
    ASSERT_CONTAINS(shown.details.p, "\"content\":\"#!/bin/sh\\necho hello\\n\"");
    ASSERT_CONTAINS(shown.details.p, "\"hash\":\"");
}

/* What a grant of a script is bound to: any other call asks again. */
DB_TEST(a_yes_to_a_script_covers_its_files_arguments_directory_and_walls)
{
    static const char *const list[] = { "/srv/x", NULL };
    AUTO(rig) rig = rig_open(t);
    struct str patterns[6];
    struct tool_call moved;
    struct tool_verdict verdict;
    struct skill skill;
    size_t n = 0;

    ASSERT_OK(rig_add(rig, "tea", "[]", &skill));
    ASSERT_OK(rig_put(rig, "skills/tea/scripts/a.sh", "#!/bin/sh\necho hello\n", "owner"));
    verdict = judge(rig, 7, "run_skill_script", RUN_A);
    ASSERT(verdict.attributes & TOOL_RISKY);
    ASSERT_CONTAINS(verdict.pattern.p, "\"files\":\"");
    patterns[n++] = verdict.pattern;
    patterns[n++] =
        judge(rig, 7, "run_skill_script", "{\"skill\":\"tea\",\"script\":\"a.sh\"}").pattern;
    moved = call_of(rig, 7, "run_skill_script", RUN_A);
    moved.directory = "/elsewhere";
    tool_judge(rig->tools, &moved, &t->arena, &verdict);
    patterns[n++] = verdict.pattern;
    moved.directory = NULL;
    moved.sandbox.allow_domains = list;
    tool_judge(rig->tools, &moved, &t->arena, &verdict);
    patterns[n++] = verdict.pattern;
    ASSERT_OK(rig_put(rig, "skills/tea/references/x.md", "read by the script", "owner"));
    patterns[n++] = judge(rig, 7, "run_skill_script", RUN_A).pattern;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            ASSERT(!str_eq(patterns[i], patterns[k]));
}

DB_TEST(scripts_that_can_not_be_shown_or_found_are_refused)
{
    AUTO(rig) rig = rig_open(t);
    struct tool_verdict verdict;
    char *big = arena_alloc(&t->arena, 50000, 1);
    struct skill skill;

    memset(big, 'x', 49999);
    ASSERT_OK(rig_add(rig, "tea", "[]", &skill));
    ASSERT_OK(rig_put(rig, "skills/tea/scripts/big.sh", big, "owner"));
    ASSERT_OK(rig_put(rig, "skills/tea/scripts/raw",
                      "\x7f"
                      "ELF\xff\xfe",
                      "owner"));
    ASSERT_OK(rig_put(rig, "skills/tea/notes.sh", "echo", "owner"));
    verdict = judge(rig, 7, "run_skill_script", "{\"skill\":\"tea\",\"script\":\"big.sh\"}");
    ASSERT_EQ(verdict.code, ERR_TOO_LARGE);
    verdict = judge(rig, 7, "run_skill_script", "{\"skill\":\"tea\",\"script\":\"scripts/raw\"}");
    ASSERT_EQ(verdict.code, ERR_UNSAFE_TARGET);
    verdict = judge(rig, 7, "run_skill_script", "{\"skill\":\"tea\",\"script\":\"notes.sh\"}");
    ASSERT_EQ(verdict.code, ERR_NOT_FOUND);
    ASSERT_CONTAINS(verdict.message, "it has: scripts/big.sh, scripts/raw");
    verdict = judge(rig, 7, "run_skill_script", "{\"skill\":\"none\",\"script\":\"x\"}");
    ASSERT_EQ(verdict.code, ERR_NOT_FOUND);
    verdict = judge(rig, 7, "run_skill_script",
                    "{\"skill\":\"tea\",\"script\":\"../tea/scripts/big.sh\"}");
    ASSERT_EQ(verdict.code, ERR_NOT_FOUND);
}

DB_TEST(a_script_is_named_by_its_whole_path_before_a_part_of_another)
{
    AUTO(rig) rig = rig_open(t);
    struct skill skill;

    ASSERT_OK(rig_add(rig, "tea", "[]", &skill));
    ASSERT_OK(rig_put(rig, "skills/tea/scripts/a.sh", "echo plain", "owner"));
    ASSERT_OK(rig_put(rig, "skills/tea/scripts/scripts/a.sh", "echo nested", "owner"));
    preview(rig, "{\"skill\":\"tea\",\"script\":\"scripts/a.sh\"}");
    ASSERT_CONTAINS(shown.text.p, "echo plain");
    preview(rig, "{\"skill\":\"tea\",\"script\":\"a.sh\"}");
    ASSERT_CONTAINS(shown.text.p, "echo plain");
    preview(rig, "{\"skill\":\"tea\",\"script\":\"scripts/scripts/a.sh\"}");
    ASSERT_CONTAINS(shown.text.p, "echo nested");
}

/* What a person looks at before they say yes is what is run. */
DB_TEST(a_script_that_shows_another_text_than_is_run_is_refused)
{
    static const struct {
        const char *content;
        bool refused;
    } cases[] = {
        { "#!/bin/sh\necho a # \u202e}; echo b\n", true }, /* turned around */
        { "#!/bin/sh\nif [ \u2066x\u2069 ]; then :; fi\n", true },
        { "#!/bin/sh\necho \u200fx\n", true },
        { "#!/bin/sh\nrm x \x1b[1A\x1b[2Kecho safe\n", true }, /* a terminal wipes the line */
        { "#!/bin/sh\nrm x\recho safe\n", true },              /* or writes over it */
        { "#!/bin/sh\nrm x\x08\x08ls\n", true },
        { "#!/bin/sh\necho \xc2\x9b"
          "2K\n",
          true },
        { "#!/bin/sh\nx=1\u2028rm y\n", true },
        { "#!/bin/sh\r\necho dos\r\n", false },
        { "#!/bin/sh\n\techo '\u2705\ufe0f \u05e9\u05dc\u05d5\u05dd na\u00efve'\n\f", false },
    };
    AUTO(rig) rig = rig_open(t);
    struct skill skill;

    ASSERT_OK(rig_add(rig, "tea", "[]", &skill));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tool_verdict verdict;

        ASSERT_OK(rig_put(rig, "skills/tea/scripts/a.sh", cases[i].content, "owner"));
        verdict = judge(rig, 7, "run_skill_script", RUN_A);
        if ((verdict.code == ERR_UNSAFE_TARGET) != cases[i].refused)
            FAIL("%zu: %d %s", i, verdict.code, verdict.message);
        if (cases[i].refused)
            ASSERT_CONTAINS(verdict.message, "scripts/a.sh:2: ");
    }
}

DB_TEST(arguments_of_a_script_that_show_another_text_are_refused)
{
    static const char *const arguments[] = { "a\\u202eb", "\\u001b[2K", "a\\rb", "\\u2069" };
    AUTO(rig) rig = rig_open(t);
    struct skill skill;

    ASSERT_OK(rig_add(rig, "tea", "[]", &skill));
    ASSERT_OK(rig_put(rig, "skills/tea/scripts/a.sh", "#!/bin/sh\necho hello\n", "owner"));
    for (size_t i = 0; i < ARRAY_LEN(arguments); i++) {
        struct tool_verdict verdict = judge(
            rig, 7, "run_skill_script",
            arena_printf(&t->arena,
                         "{\"skill\":\"tea\",\"script\":\"a.sh\",\"arguments\":[\"x\",\"%s\"]}",
                         arguments[i]));

        ASSERT_EQ(verdict.code, ERR_SCHEMA_VIOLATION);
        ASSERT_CONTAINS(verdict.message, "/arguments/1");
    }
    ASSERT_EQ(judge(rig, 7, "run_skill_script",
                    "{\"skill\":\"tea\",\"script\":\"a.sh\",\"arguments\":[\"a\\nb\\t\\u00e9\"]}")
                  .code,
              ERR_NONE);
}

DB_TEST(a_script_needs_the_sandbox)
{
    AUTO(rig) rig = rig_open(t);
    struct skill skill;

    ASSERT_OK(rig_add(rig, "tea", "[]", &skill));
    ASSERT_OK(rig_put(rig, "skills/tea/scripts/a.sh", "#!/bin/sh\necho hello\n", "owner"));
    ASSERT_EQ(call(rig, 7, "run_skill_script", RUN_A), ERR_SANDBOX_UNAVAILABLE);
}

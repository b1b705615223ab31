/* Agents as archives, on both engines: what goes in comes out, byte for byte.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/rand.h"
#include "base/redact.h"
#include "files/archive.h"
#include "rig.h"

static void put(struct rig *rig, const char *agent_id, const char *path, struct str content)
{
    struct test *t = rig->t;
    struct file_write write = { .tree = str_from(arena_printf(&t->arena, "agents/%s", agent_id)),
                                .path = str_from(path),
                                .content = content,
                                .author = STR("owner") };
    struct file file;

    rig_begin(rig);
    ASSERT_EQ(rig_end(rig, file_put(rig->files, &write, &t->arena, &file, &t->err)), 1);
}

/* Letters of one, two, three and four bytes, line ends and quotes. */
static struct str random_text(struct test *t, struct rand *rand, size_t max)
{
    static const char *const parts[] = {
        "a",         "\xc3\xa4", "\xe5\xb0\x8f", "\xf0\x9f\x90\xad", "\n", "\"", "\\", " ",
        "</script>", "\t"
    };
    AUTO_BUF out = BUF_INIT(1 << 20);
    uint64_t n = rand_below(rand, max);

    for (uint64_t i = 0; i < n; i++)
        buf_add_text(&out, parts[rand_below(rand, ARRAY_LEN(parts))]);
    return arena_str(&t->arena, buf_str(&out));
}

DB_TEST(what_is_imported_exports_the_same_bytes)
{
    AUTO(rig) rig = rig_open(t);
    struct rand_fake fake;
    struct rand *rand = &fake.rand;

    rand_fake_init(&fake, 7);

    for (int i = 0; i < 20; i++) {
        struct builder_form form = {
            .given = AGENT_NAME | AGENT_DESCRIPTION | AGENT_INSTRUCTIONS | AGENT_TOOLS,
            .display_name = str_from(arena_printf(&t->arena, "Agent \"%d\" \xf0\x9f\x90\xad", i)),
            .description = random_text(t, rand, 50),
            .instructions = random_text(t, rand, 2000),
            .tools = i % 3 == 0   ? STR("[]")
                     : i % 3 == 1 ? STR("[\"bash\",\"ask_user\"]")
                                  : STR(""),
        };
        struct agent agent = rig_create(rig, form), again;
        struct str first, second;
        uint64_t files = rand_below(rand, 5);

        for (uint64_t k = 0; k < files; k++)
            put(rig, agent.id, arena_printf(&t->arena, "knowledge/n%d/\xc3\xa4%d.md", i, (int)k),
                random_text(t, rand, 3000));
        first = rig_export(rig, agent.id);
        ASSERT(str_eq(first, rig_export(rig, agent.id)));
        ASSERT_EQ(rig_import(rig, first, &again), 0);
        ASSERT(strcmp(again.id, agent.id) != 0);
        second = rig_export(rig, again.id);
        ASSERT(str_eq(first, second));
    }
}

DB_TEST(imported_files_are_marked_and_memory_asks_again)
{
    AUTO(rig) rig = rig_open(t);
    struct builder_form form = { .given = AGENT_NAME | AGENT_AUTO_APPROVE | BUILDER_TEMPLATE,
                                 .display_name = STR("Coach"),
                                 .template = STR("gym-coach"),
                                 .auto_approve_memory = true };
    struct agent agent = rig_create(rig, form), again;
    struct file file;

    put(rig, agent.id, "knowledge/a.md", STR("I know."));
    ASSERT_EQ(rig_import(rig, rig_export(rig, agent.id), &again), 0);
    ASSERT_TEXT(again.id, "coach-2");
    ASSERT_TEXT(again.template, "gym-coach");
    ASSERT(!again.auto_approve_memory);
    ASSERT_EQ(file_get(rig->files, STR("agents/coach-2"), STR("knowledge/a.md"), &t->arena, &file,
                       &t->err),
              1);
    ASSERT_STR(file.taint, "import:the agent Coach");
    ASSERT_TEXT(again.taint, "import:the agent Coach");
    ASSERT_STR(file.content, "I know.");
}

DB_TEST(an_agent_with_a_secret_in_a_file_stays_here)
{
    AUTO(rig) rig = rig_open(t);
    struct builder_form form = { .given = AGENT_NAME, .display_name = STR("Coach") };
    struct agent agent = rig_create(rig, form);
    AUTO_BUF out = BUF_INIT(1 << 20);

    put(rig, agent.id, "knowledge/a.md", STR("fine"));
    put(rig, agent.id, "knowledge/b.md", STR("the word is xyzzy-plugh-42"));
    rig_export(rig, agent.id);
    ASSERT_OK(redact_register(STR("xyzzy-plugh-42")));
    ASSERT_FAILS(builder_export(rig->builder, &agent, &t->arena, &out, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(t->err.text, "knowledge/b.md");
    ASSERT(strstr(t->err.text, "xyzzy") == NULL);
    redact_forget(STR("xyzzy-plugh-42"));
    rig_export(rig, agent.id);
}

/* A note may speak of passwords; what is a secret by its form stays here. */
DB_TEST(only_what_is_surely_a_secret_keeps_an_agent_here)
{
    static const struct {
        const char *text;
        bool leaves;
    } cases[] = {
        { "The wifi password=hunter2 is on the fridge.", true },
        { "password: correct horse battery staple", true },
        { "Ask for the api_key before you begin.", true },
        { "curl -u admin:letmein http://router.local/", true },
        { "http://admin:letmein@router.local/", true },
        { "ghp_0123456789abcdefghijABCDEFGHIJ012345", false },
        { "key sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789-abcdef_AA",
          false },
        { "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"
          "-----END PRIVATE KEY-----\n",
          false },
    };
    AUTO(rig) rig = rig_open(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct agent agent = rig_create(
            rig, (struct builder_form){ .given = AGENT_NAME, .display_name = STR("Coach") });
        AUTO_BUF out = BUF_INIT(1 << 20);
        int r;

        put(rig, agent.id, "knowledge/a.md", str_from(cases[i].text));
        err_reset(&t->err);
        r = builder_export(rig->builder, &agent, &t->arena, &out, &t->err);
        if ((r == 0) != cases[i].leaves)
            FAIL("case %zu (%s) gave %d", i, cases[i].text, r);
        ASSERT(r == 0 || t->err.code == ERR_CONFLICT);
    }
}

static struct str archive_of(struct test *t, const char *settings)
{
    AUTO_BUF bytes = BUF_INIT(1 << 20);
    struct archive_entry entry = { .path = STR("agent.json"), .content = str_from(settings) };

    ASSERT_OK(archive_write(&entry, 1, &bytes, &t->err));
    return arena_str(&t->arena, buf_str(&bytes));
}

DB_TEST(what_is_not_here_is_left_out_of_an_import_and_said)
{
    AUTO(rig) rig = rig_open(t);
    struct agent agent;

    ASSERT_OK(rig_import(rig,
                         archive_of(t, "{\"format\":\"dormouse-agent\",\"version\":1,"
                                       "\"displayName\":\"A\",\"model\":\"far-away-9\",\"tools\":"
                                       "[\"bash\",\"teleport\",\"propose_agent\",\"ask_user\"]}"),
                         &agent));
    ASSERT_EQ(rig->warnings.n, 2);
    ASSERT_CONTAINS(rig->warnings.text[0], "\"far-away-9\"");
    ASSERT_CONTAINS(rig->warnings.text[1], "teleport, propose_agent");
    ASSERT(!agent.model_id);
    ASSERT_TEXT(agent.tools, "[\"bash\",\"ask_user\"]");
    /* Without any that is here it has none: an absent list would mean all. */
    ASSERT_OK(rig_import(rig,
                         archive_of(t, "{\"format\":\"dormouse-agent\",\"version\":1,"
                                       "\"displayName\":\"B\",\"tools\":[\"teleport\"]}"),
                         &agent));
    ASSERT_TEXT(agent.tools, "[]");
    ASSERT_OK(rig_import(rig,
                         archive_of(t, "{\"format\":\"dormouse-agent\",\"version\":1,"
                                       "\"displayName\":\"C\"}"),
                         &agent));
    ASSERT_EQ(rig->warnings.n, 0);
    ASSERT(!agent.tools);
}

DB_TEST(a_long_list_of_missing_tools_is_cut)
{
    AUTO(rig) rig = rig_open(t);
    AUTO_BUF settings = BUF_INIT(1 << 20);
    struct agent agent;

    buf_add_text(&settings, "{\"format\":\"dormouse-agent\",\"version\":1,"
                            "\"displayName\":\"A\",\"tools\":[\"bash\"");
    for (int i = 0; i < 2000; i++)
        buf_printf(&settings, ",\"no_such_tool_%d\"", i);
    buf_add_text(&settings, "]}");
    ASSERT_OK(rig_import(rig, archive_of(t, buf_text(&settings)), &agent));
    ASSERT_EQ(rig->warnings.n, 1);
    ASSERT(strlen(rig->warnings.text[0]) < 2000);
    ASSERT_CONTAINS(rig->warnings.text[0], " ...");
    ASSERT_TEXT(agent.tools, "[\"bash\"]");
}

DB_TEST(what_can_not_be_imported_leaves_nothing)
{
    static const char good[] =
        "{\"format\":\"dormouse-agent\",\"version\":1,\"displayName\":\"G\"}";
    const struct {
        struct archive_entry entries[2];
        enum err_code code;
    } cases[] = {
        { { { .path = STR("AGENTS.md"), .content = STR("x") } }, ERR_BAD_REQUEST },
        { { { .path = STR("agent.json"), .content = STR("[]") } }, ERR_SCHEMA_VIOLATION },
        { { { .path = STR("agent.json"), .content = STR("{\"a\":1,\"a\":2}") } }, ERR_BAD_REQUEST },
        { { { .path = STR("agent.json"), .content = str_from(good) },
            { .path = STR("other.md"), .content = STR("x") } },
          ERR_BAD_REQUEST },
        { { { .path = STR("agent.json"), .content = str_from(good) },
            { .path = STR("knowledge/a.md"), .content = STR("\xff") } },
          ERR_BAD_REQUEST },
    };
    AUTO(rig) rig = rig_open(t);
    struct agent_status *list;
    struct agent agent;
    size_t n;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF bytes = BUF_INIT(1 << 20);

        ASSERT_OK(
            archive_write(cases[i].entries, cases[i].entries[1].path.n ? 2 : 1, &bytes, &t->err));
        ASSERT_FAILS(rig_import(rig, buf_str(&bytes), &agent), cases[i].code);
    }
    ASSERT_OK(agent_status_list(rig->domain, &(struct agent_status_filter){ .destroyed = true },
                                &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 0);
}

#define SKILL_HEAD "---\nname: tea\ndescription: Makes tea when asked for it.\n---\n"

static int import_with(struct rig *rig, const char *path, struct str content)
{
    const struct archive_entry entries[] = {
        { .path = STR("agent.json"),
          .content = STR("{\"format\":\"dormouse-agent\",\"version\":1,\"displayName\":\"G\"}") },
        { .path = str_from(path), .content = content },
    };
    AUTO_BUF bytes = BUF_INIT(4 << 20);
    struct test *t = rig->t;
    struct agent agent;

    ASSERT_OK(archive_write(entries, ARRAY_LEN(entries), &bytes, &t->err));
    return rig_import(rig, buf_str(&bytes), &agent);
}

static struct str archive_with(struct test *t, const char *more)
{
    return archive_of(t, arena_printf(&t->arena,
                                      "{\"format\":\"dormouse-agent\",\"version\":2,"
                                      "\"displayName\":\"A\"%s}",
                                      more));
}

DB_TEST(settings_of_an_import_are_bounded)
{
    static const struct {
        const char *more, *said;
    } cases[] = {
        { ",\"sessionTtlSeconds\":60", NULL },
        { ",\"sessionTtlSeconds\":2592000", NULL },
        { ",\"sessionTtlSeconds\":59", "60 to 2592000" },
        { ",\"sessionTtlSeconds\":2592001", "60 to 2592000" },
        { ",\"sessionTtlSeconds\":-1", "60 to 2592000" },
        { ",\"sessionTtlSeconds\":9223372036854775807", "60 to 2592000" },
        { ",\"mode\":\"sleepy\"", "sleepy" },
        { ",\"tools\":[1]", "tools must be a list of names" },
        { ",\"tools\":{}", "tools" },
        { ",\"color\":\"red\"", "color" },
        { ",\"version\":3", "version" },
    };
    AUTO(rig) rig = rig_open(t);
    struct agent agent;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int r = rig_import(rig, archive_with(t, cases[i].more), &agent);

        if ((r == 0) != !cases[i].said)
            FAIL("%s: %s", cases[i].more, r ? test_err_text(t) : "was taken");
        if (cases[i].said)
            ASSERT_CONTAINS(test_err_text(t), cases[i].said);
    }
}

DB_TEST(settings_without_end_are_refused_for_their_size)
{
    AUTO(rig) rig = rig_open(t);
    AUTO_BUF more = BUF_INIT(1 << 20);
    struct agent agent;

    buf_add_text(&more, ",\"tools\":[\"bash\"");
    while (more.n < 400 * 1024)
        buf_add_text(&more, ",\"bash\"");
    buf_add_text(&more, "]");
    ASSERT(rig_import(rig, archive_with(t, buf_text(&more)), &agent) < 0);
    ASSERT_CONTAINS(test_err_text(t), "agent.json has 4");
}

/* Whoever moves an agent learns of it where the agent still is. */
DB_TEST(what_no_import_would_take_is_not_exported)
{
    static const struct {
        const char *path;
        size_t size;
        const char *text, *said;
    } cases[] = {
        { "skills/one/a.bin", MIB, NULL, NULL },
        { "skills/one/a.bin", MIB + 1, NULL,
          "skills/one/a.bin has 1048577 bytes; at most 1048576" },
        { "knowledge/a.md", 100 * KIB, NULL, NULL },
        { "knowledge/a.md", 100 * KIB + 1, NULL,
          "knowledge/a.md has 102401 bytes; at most 102400" },
        { "knowledge/a.md", 0, "\xff", "knowledge/a.md is not valid UTF-8" },
        { "skills/one/SKILL.md", 0, "not a skill", "SKILL.md" },
    };
    AUTO(rig) rig = rig_open(t);
    char *fill = arena_alloc(&t->arena, MIB + 2, 1);

    memset(fill, 'x', MIB + 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct agent agent = rig_create(
            rig, (struct builder_form){ .given = AGENT_NAME, .display_name = STR("Coach") });
        AUTO_BUF out = BUF_INIT(32 << 20);
        int r;

        put(rig, agent.id, cases[i].path,
            cases[i].text ? str_from(cases[i].text) : str_of(fill, cases[i].size));
        err_reset(&t->err);
        r = builder_export(rig->builder, &agent, &t->arena, &out, &t->err);
        if ((r == 0) != !cases[i].said)
            FAIL("%s of %zu bytes: %s", cases[i].path, cases[i].size,
                 r ? test_err_text(t) : "was exported");
        if (cases[i].said)
            ASSERT_CONTAINS(test_err_text(t), cases[i].said);
        else
            ASSERT_EQ(rig_import(rig, buf_str(&out), &agent), 0);
    }
}

TEST(an_agent_of_more_than_an_archive_holds_is_not_exported, .param = &db_test_sqlite)
{
    AUTO(rig) rig = rig_open(t);
    struct agent large =
        rig_create(rig, (struct builder_form){ .given = AGENT_NAME, .display_name = STR("Large") });
    struct agent many =
        rig_create(rig, (struct builder_form){ .given = AGENT_NAME, .display_name = STR("Many") });
    AUTO_BUF out = BUF_INIT(32 << 20);
    char *fill = arena_alloc(&t->arena, MIB, 1);
    struct file file;

    for (int i = 0; i < 16; i++)
        put(rig, large.id, arena_printf(&t->arena, "skills/one/%d.bin", i), str_of(fill, MIB));
    ASSERT_FAILS(builder_export(rig->builder, &large, &t->arena, &out, &t->err), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), " bytes in all; at most 16777216 are allowed");
    rig_begin(rig);
    for (int i = 0; i < 999; i++)
        ASSERT_OK(file_put(
            rig->files,
            &(struct file_write){ .tree = STR("agents/many"),
                                  .path = str_from(arena_printf(&t->arena, "knowledge/%d.md", i)),
                                  .author = STR("owner") },
            &t->arena, &file, &t->err));
    rig_end(rig, 0);
    ASSERT_FAILS(builder_export(rig->builder, &many, &t->arena, &out, &t->err), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "1001 files; at most 1000");
}

DB_TEST(skills_of_an_import_are_checked_as_if_they_were_typed)
{
    const struct {
        const char *path, *content, *says;
    } cases[] = {
        { "skills/tea/SKILL.md", "no front matter", "skills/tea.md is no valid skill" },
        { "skills/tea/SKILL.md", "---\nname: tea\n---\nx", "description" },
        { "skills/coffee/SKILL.md", SKILL_HEAD, "coffee" },
        { "skills/tea/SKILL.md", SKILL_HEAD "\xff", "skills/tea/SKILL.md is not valid UTF-8" },
        { "skills/tea/notes.md", "\xff", "skills/tea/notes.md is not valid UTF-8" },
    };
    AUTO(rig) rig = rig_open(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_FAILS(import_with(rig, cases[i].path, str_from(cases[i].content)), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(t->err.text, cases[i].says);
    }
    err_reset(&t->err);
    ASSERT_OK(import_with(rig, "skills/tea/SKILL.md", STR(SKILL_HEAD "Boil water.")));
    ASSERT_OK(import_with(rig, "skills/tea/leaf.png", STR("\x89PNG\xff")));
}

DB_TEST(text_of_an_imported_skill_is_bounded)
{
    AUTO(rig) rig = rig_open(t);
    size_t n = (1 << 20) + 1;
    char *text = arena_alloc(&t->arena, n, 1);

    memset(text, 'x', n);
    memcpy(text, SKILL_HEAD, sizeof(SKILL_HEAD) - 1);
    ASSERT_FAILS(import_with(rig, "skills/tea/SKILL.md", str_of(text, n)), ERR_TOO_LARGE);
    ASSERT_FAILS(import_with(rig, "skills/tea/more.md", str_of(text, n)), ERR_TOO_LARGE);
}

DB_TEST(a_copy_has_the_files_and_a_destroyed_agent_has_none)
{
    AUTO(rig) rig = rig_open(t);
    struct builder_form form = { .given = AGENT_NAME, .display_name = STR("Coach") };
    struct agent agent = rig_create(rig, form), copy;
    struct file file;

    put(rig, agent.id, "knowledge/a.md", STR("I know."));
    rig_begin(rig);
    ASSERT_OK(rig_end(rig, builder_duplicate(rig->builder, &agent, STR_NONE, &t->arena, &copy,
                                             &rig->warnings, &t->err)));
    ASSERT_TEXT(copy.id, "coach-copy");
    ASSERT_FAILS(builder_destroy(rig->builder, &agent, STR("coach"), &t->err), ERR_BAD_REQUEST);
    err_reset(&t->err);
    ASSERT_OK(builder_destroy(rig->builder, &agent, STR("Coach"), &t->err));
    ASSERT_EQ(
        file_get(rig->files, STR("agents/coach"), STR("knowledge/a.md"), &t->arena, &file, &t->err),
        0);
    ASSERT_EQ(file_get_version(rig->files, STR("agents/coach"), STR("knowledge/a.md"), 1, &t->arena,
                               &file, &t->err),
              1);
    ASSERT_EQ(file_get(rig->files, STR("agents/coach-copy"), STR("knowledge/a.md"), &t->arena,
                       &file, &t->err),
              1);
}

DB_TEST(the_first_agent_begins_like_its_template_and_keeps_what_people_made_of_it)
{
    AUTO(rig) rig = rig_open(t);
    struct builder_form form = { .given = AGENT_INSTRUCTIONS, .instructions = STR("Mine.") };
    struct agent first;

    rig_begin(rig);
    ASSERT_OK(rig_end(
        rig, builder_ensure_first(rig->builder, "Day Planner", &t->arena, &first, &t->err)));
    ASSERT_TEXT(first.id, "day-planner");
    ASSERT_TEXT(first.display_name, "Day Planner");
    ASSERT_CONTAINS(first.description, "Plans your day");
    ASSERT_CONTAINS(first.instructions, "You help one person to plan");
    rig_begin(rig);
    ASSERT_OK(rig_end(
        rig, builder_change(rig->builder, STR("day-planner"), &form, &t->arena, &first, &t->err)));
    rig_begin(rig);
    ASSERT_OK(rig_end(
        rig, builder_ensure_first(rig->builder, "Day Planner", &t->arena, &first, &t->err)));
    ASSERT_TEXT(first.instructions, "Mine.");
}

DB_TEST(an_agent_that_was_made_bare_before_stays_so)
{
    AUTO(rig) rig = rig_open(t);
    struct agent bare = { .id = "planner", .kind = "planner", .display_name = "Planner" }, found;

    rig_begin(rig);
    ASSERT_OK(rig_end(rig, agent_add(rig->domain, rig->change, &bare, 1, &t->err)));
    rig_begin(rig);
    ASSERT_OK(
        rig_end(rig, builder_ensure_first(rig->builder, "Planner", &t->arena, &found, &t->err)));
    ASSERT_TEXT(found.instructions, "");
    ASSERT_TEXT(found.description, "");
}

DB_TEST(the_wizard_is_made_once_and_belongs_to_nobody)
{
    AUTO(rig) rig = rig_open(t);
    struct builder_form form = { .given = AGENT_NAME, .display_name = STR("x") };
    struct agent wizard, again;
    AUTO_BUF out = BUF_INIT(1 << 20);

    rig_begin(rig);
    ASSERT_OK(rig_end(rig, builder_ensure_wizard(rig->builder, &t->arena, &wizard, &t->err)));
    rig_begin(rig);
    ASSERT_OK(rig_end(rig, builder_ensure_wizard(rig->builder, &t->arena, &again, &t->err)));
    ASSERT_EQ(wizard.n, again.n);
    rig_begin(rig);
    ASSERT_FAILS(rig_end(rig, builder_change(rig->builder, STR(BUILDER_WIZARD_ID), &form, &t->arena,
                                             &again, &t->err)),
                 ERR_BAD_REQUEST);
    rig_begin(rig);
    ASSERT_FAILS(rig_end(rig, builder_duplicate(rig->builder, &wizard, STR_NONE, &t->arena, &again,
                                                &rig->warnings, &t->err)),
                 ERR_BAD_REQUEST);
    err_reset(&t->err);
    ASSERT_FAILS(builder_export(rig->builder, &wizard, &t->arena, &out, &t->err), ERR_BAD_REQUEST);
    err_reset(&t->err);
    ASSERT_FAILS(builder_destroy(rig->builder, &wizard, STR("Agent builder"), &t->err),
                 ERR_BAD_REQUEST);
}

/* An older binary made it with other words. */
DB_TEST(the_wizard_of_an_older_binary_is_brought_up_to_date)
{
    AUTO(rig) rig = rig_open(t);
    struct agent wizard, old = { .id = BUILDER_WIZARD_ID,
                                 .kind = "wizard",
                                 .display_name = "Agent builder",
                                 .instructions = "Other words.",
                                 .tools = "[\"ask_user\"]" };

    rig_begin(rig);
    ASSERT_OK(rig_end(rig, agent_add(rig->domain, rig->change, &old, NOW, &t->err)));
    rig_begin(rig);
    ASSERT_OK(rig_end(rig, builder_ensure_wizard(rig->builder, &t->arena, &wizard, &t->err)));
    ASSERT_CONTAINS(wizard.tools, "propose_agent");
    ASSERT_OK(agent_get(rig->domain, STR(BUILDER_WIZARD_ID), &t->arena, &wizard, &t->err));
    ASSERT_CONTAINS(wizard.tools, "propose_agent");
    ASSERT(strcmp(wizard.instructions, "Other words.") != 0);
}

/* Edits of memory: paths, what is proposed, what is applied.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/utf8.h"
#include "memory/edit.h"
#include "rig.h"

struct desk {
    struct rig rig;
    struct clock_fake clock;
    struct loop *loop;
    struct files *files;
};

static struct desk *desk_open(struct test *t)
{
    struct desk *desk = ARENA_NEW(&t->arena, struct desk);

    desk->rig = rig_open(t);
    clock_fake_init(&desk->clock, NOW);
    desk->loop = loop_new_fake(&desk->clock);
    loop_attach(desk->loop, desk->rig.domain);
    ASSERT_OK(files_new(&(struct files_config){ .loop = desk->loop,
                                                .agent_domain = desk->rig.domain,
                                                .change = desk->rig.change },
                        &desk->files, &t->err));
    return desk;
}

static void desk_close(struct desk *desk)
{
    files_free(desk->files);
    loop_free(desk->loop);
    rig_close(&desk->rig);
}

static int propose(struct desk *desk, const struct memory_edit *edit,
                   struct memory_proposal *ret_proposal)
{
    struct test *t = desk->rig.t;

    err_reset(&t->err);
    return memory_propose(desk->files, &desk->rig.agent, edit, &t->arena, ret_proposal, &t->err);
}

static int apply(struct desk *desk, const struct memory_edit *edit, struct str operation_id)
{
    struct test *t = desk->rig.t;
    struct memory_proposal proposal;
    struct file file;
    int r;

    if (propose(desk, edit, &proposal) < 0)
        return -1;
    ASSERT_OK(loop_unit_begin(desk->loop, desk->rig.domain, &t->err));
    r = memory_apply(desk->files, &desk->rig.agent, edit, &proposal, STR("item"), 1, operation_id,
                     &t->arena, &file, &t->err);
    ASSERT_OK(loop_unit_end(desk->loop, r >= 0, &t->err));
    loop_fake_tick(desk->loop);
    return r;
}

static struct memory_edit edit_of(const char *path, enum memory_operation operation,
                                  const char *content)
{
    return (struct memory_edit){ .path = str_from(path),
                                 .operation = operation,
                                 .content = str_from(content),
                                 .reason = STR("a test") };
}

static int write_file(struct desk *desk, const char *path, const char *content)
{
    struct memory_edit edit = edit_of(path, MEMORY_WRITE, content);

    return apply(desk, &edit, STR_NONE);
}

/* ---- paths ---- */

#define X63 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
#define X64 X63 "f"

TEST(people_put_no_file_where_settings_are_shown)
{
    static const struct {
        const char *tree, *path;
        bool admitted;
    } cases[] = {
        { "agents/planner", "AGENTS.md", false },
        { "agents/planner", "agents.md", false },
        { "agents/planner", "tools.json", false },
        { "agents/planner", "Tools.JSON", false },
        { "agents/planner", "tools.jso", true },
        { "agents/planner", "knowledge/AGENTS.md", true },
        { "users/owner", "AGENTS.md", true },
        { "agents/planner", "skills/a/SKILL.md", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        err_reset(&t->err);
        if ((memory_admits(str_from(cases[i].tree), str_from(cases[i].path), &t->err) == 0) !=
            cases[i].admitted)
            FAIL("%s/%s", cases[i].tree, cases[i].path);
        if (!cases[i].admitted)
            ASSERT_CONTAINS(test_err_text(t), "settings");
    }
}

TEST(paths_are_what_the_tree_allows)
{
    static const struct {
        const char *path, *store;
        bool read, write;
    } cases[] = {
        { "knowledge/a.md", "knowledge/a.md", true, true },
        { "knowledge/work/b.txt", "knowledge/work/b.txt", true, true },
        { "knowledge/caf\xC3\xA9.md", "knowledge/caf\xC3\xA9.md", true, true },
        { "skills/tea.md", "skills/tea/SKILL.md", true, true },
        { "skills/pdf-processing.md", "skills/pdf-processing/SKILL.md", true, true },
        { "skills/caf\xC3\xA9.md", "skills/caf\xC3\xA9/SKILL.md", true, true },
        { "skills/\u6280\u80FD.md", "skills/\u6280\u80FD/SKILL.md", true, true },
        { "skills/" X64 ".md", "skills/" X64 "/SKILL.md", true, true },
        { "skills/\u6280" X63 ".md", "skills/\u6280" X63 "/SKILL.md", true, true },
        { "skills/x" X64 ".md", NULL, false, false },
        { "skills/\u6280" X64 ".md", NULL, false, false },
        { "skills/\U00020000" X63 ".md", NULL, false, false }, /* two units */
        { "skills/tea_pot.md", NULL, false, false },
        { "skills/tea pot.md", NULL, false, false },
        { "skills/tea/SKILL.md", "skills/tea/SKILL.md", true, false },
        { "skills/tea/references/a.md", "skills/tea/references/a.md", true, false },
        { "AGENTS.md", "AGENTS.md", true, false },
        { "tools.json", "tools.json", true, false },
        { "skills/Tea.md", NULL, false, false },
        { "skills/tea", NULL, false, false },
        { "skills/-tea.md", NULL, false, false },
        { "skills/tea-.md", NULL, false, false },
        { "skills/.md", NULL, false, false },
        { "skills/a--b.md", NULL, false, false },
        { "knowledge", NULL, false, false },
        { "knowledge/", NULL, false, false },
        { "agents.md", NULL, false, false },
        { "Knowledge/a.md", NULL, false, false },
        { "/knowledge/a.md", NULL, false, false },
        { "knowledge/../AGENTS.md", NULL, false, false },
        { "knowledge/./a.md", NULL, false, false },
        { "knowledge\\a.md", NULL, false, false },
        { "knowledge/a\\..\\b", NULL, false, false },
        { "knowledge/%2e%2e%2fa", NULL, false, false },
        { "knowledge/\xC0\xAE\xC0\xAE/a", NULL, false, false },
        { "knowledge/a.md ", NULL, false, false },
        { "knowledge/a.md.", NULL, false, false },
        { "knowledge/.git", NULL, false, false },
        { "knowledge/nul", NULL, false, false },
        { "", NULL, false, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str store = STR_NONE;
        bool read, write;

        read = memory_path(str_from(cases[i].path), false, &t->arena, &store, &t->err) == 0;
        if (read != cases[i].read || (read && !str_is(store, cases[i].store)))
            FAIL("reading %s", cases[i].path);
        if (!read)
            ASSERT_EQ(t->err.code, ERR_PATH_DENIED);
        err_reset(&t->err);
        write = memory_path(str_from(cases[i].path), true, &t->arena, &store, &t->err) == 0;
        if (write != cases[i].write)
            FAIL("writing %s", cases[i].path);
        err_reset(&t->err);
    }
}

TEST(a_stored_path_is_shown_as_agents_write_it)
{
    static const struct {
        const char *stored, *seen;
    } cases[] = {
        { "knowledge/tea.md", "knowledge/tea.md" },
        { "skills/brew/SKILL.md", "skills/brew.md" },
        { "skills/brew/notes.md", "skills/brew/notes.md" },
        { "skills/Not A Name/SKILL.md", "skills/Not A Name/SKILL.md" },
        { "skills/a/b/SKILL.md", "skills/a/b/SKILL.md" },
        { "skills/SKILL.md", "skills/SKILL.md" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_STR(memory_seen_path(str_from(cases[i].stored), &t->arena), cases[i].seen);
}

TEST(path_with_nul_is_refused)
{
    struct str store;

    ASSERT_FAILS(memory_path(str_of("knowledge/a\0b", 13), true, &t->arena, &store, &t->err),
                 ERR_PATH_DENIED);
}

/* ---- proposing ---- */

DB_TEST(proposal_shows_what_will_be)
{
    struct desk *desk = desk_open(t);
    struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_APPEND, "- two\n");
    struct memory_proposal p;

    ASSERT_OK(propose(desk, &edit, &p));
    ASSERT(!p.exists);
    ASSERT_EQ(p.base, 0);
    ASSERT_STR(p.proposed, "- two\n");
    ASSERT_CONTAINS(arena_str(&t->arena, p.diff).p, "--- /dev/null\n+++ knowledge/a.md\n");
    ASSERT_EQ(write_file(desk, "knowledge/a.md", "- one"), 1);
    ASSERT_OK(propose(desk, &edit, &p));
    ASSERT(p.exists);
    ASSERT_EQ(p.base, 1);
    ASSERT_STR(p.current, "- one");
    ASSERT_STR(p.proposed, "- one\n- two\n");
    ASSERT_EQ(p.total_after, 12);
    edit.operation = MEMORY_DELETE;
    edit.content = STR_NONE;
    ASSERT_OK(propose(desk, &edit, &p));
    ASSERT_EQ(p.proposed.n, 0);
    ASSERT_EQ(p.total_after, 0);
    ASSERT_CONTAINS(arena_str(&t->arena, p.diff).p, "+++ /dev/null");
    desk_close(desk);
}

DB_TEST(content_that_is_no_text_is_refused)
{
    static const char *const texts[] = {
        "\xFF",
        "\xC0\xAF",
        "\xED\xA0\x80",
        "a\x01",
        "a\x7F",
        "\x1B[31m",
        ("\xC2\x9B"
         "31m"),
        "\xC2\x85",
        "a\x1F",
    };
    struct desk *desk = desk_open(t);
    struct memory_proposal p;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_WRITE, texts[i]);

        ASSERT_FAILS(propose(desk, &edit, &p), ERR_SCHEMA_VIOLATION);
        edit = edit_of("knowledge/a.md", MEMORY_WRITE, "fine");
        edit.reason = str_from(texts[i]);
        ASSERT_FAILS(propose(desk, &edit, &p), ERR_SCHEMA_VIOLATION);
    }
    desk_close(desk);
}

TEST(faults_of_a_text_are_named_with_their_place)
{
    static const struct {
        const char *content, *reason, *said;
    } cases[] = {
        { "ab\x01", "", "content: there is a control character (0x01) at byte 2" },
        { "\u00e9\xC2\x9B", "", "content: there is a control character (0x9B) at byte 2" },
        { "ok\xFF", "", "content: it is not valid UTF-8, from byte 2 on" },
        { "ok", "\x1B[2J", "reason: there is a control character (0x1B) at byte 0" },
        { "ok", "a\u202eb", "reason: there is a text direction character (U+202E) at byte 1" },
        { "\u00a0\t\r\n~", "\u00a0\t\n", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_WRITE, cases[i].content);

        edit.reason = str_from(cases[i].reason);
        err_reset(&t->err);
        if (!cases[i].said) {
            ASSERT_OK(memory_edit_check(&edit, &t->arena, &t->err));
            continue;
        }
        ASSERT_FAILS(memory_edit_check(&edit, &t->arena, &t->err), ERR_SCHEMA_VIOLATION);
        ASSERT_CONTAINS(test_err_text(t), cases[i].said);
    }
}

TEST(bounds_of_a_reason_and_a_file_are_kept_to_the_byte)
{
    struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_WRITE, "x");
    char *text = arena_alloc(&t->arena, LIMIT_MEMORY_FILE_BYTES + 2, 1);

    memset(text, 'x', LIMIT_MEMORY_FILE_BYTES + 1);
    edit.reason = str_of(text, 4096);
    edit.content = str_of(text, LIMIT_MEMORY_FILE_BYTES);
    ASSERT_OK(memory_edit_check(&edit, &t->arena, &t->err));
    edit.content.n++;
    ASSERT_FAILS(memory_edit_check(&edit, &t->arena, &t->err), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "would have 102401 bytes; at most 102400 are allowed");
    edit.content.n--;
    edit.reason.n++;
    err_reset(&t->err);
    ASSERT_FAILS(memory_edit_check(&edit, &t->arena, &t->err), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "the reason has 4097 bytes; at most 4096 are allowed");
}

DB_TEST(an_addition_fills_a_file_to_its_bound_and_no_further)
{
    struct desk *desk = desk_open(t);
    char *text = arena_alloc(&t->arena, LIMIT_MEMORY_FILE_BYTES + 1, 1);
    struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_APPEND, "tail");
    struct memory_proposal p;

    memset(text, 'x', LIMIT_MEMORY_FILE_BYTES - 5); /* a line end comes between */
    ASSERT_OK(write_file(desk, "knowledge/a.md", text));
    ASSERT_OK(propose(desk, &edit, &p));
    ASSERT_EQ(p.proposed.n, LIMIT_MEMORY_FILE_BYTES);
    ASSERT(str_ends(p.proposed, STR("x\ntail")));
    edit.content = STR("tails");
    ASSERT_FAILS(propose(desk, &edit, &p), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "102401 bytes with what is there");
    desk_close(desk);
}

DB_TEST(a_path_is_shown_as_its_file_is_spelt)
{
    struct desk *desk = desk_open(t);
    struct files *files = desk->files;
    const struct agent *agent = &desk->rig.agent;
    struct memory_edit gone = edit_of("knowledge/Caf\u00e9.md", MEMORY_DELETE, "");

    gone.content = STR_NONE;
    ASSERT_OK(write_file(desk, "knowledge/Caf\u00e9.md", "x"));
    ASSERT_STR(memory_spelling(files, agent, STR("knowledge/CAF\u00c9.MD"), false, &t->arena),
               "knowledge/Caf\u00e9.md");
    ASSERT_STR(memory_spelling(files, agent, STR("knowledge/other.md"), false, &t->arena),
               "knowledge/other.md");
    ASSERT_STR(memory_spelling(files, agent, STR("../x"), false, &t->arena), "../x");
    ASSERT_STR(memory_spelling(NULL, agent, STR("knowledge/CAFE"), false, &t->arena),
               "knowledge/CAFE");
    ASSERT_OK(apply(desk, &gone, STR_NONE));
    ASSERT_STR(memory_spelling(files, agent, STR("knowledge/CAF\u00c9.MD"), false, &t->arena),
               "knowledge/CAF\u00c9.MD");
    ASSERT_STR(memory_spelling(files, agent, STR("knowledge/CAF\u00c9.MD"), true, &t->arena),
               "knowledge/Caf\u00e9.md");
    desk_close(desk);
}

DB_TEST(a_difference_of_the_longest_files_is_whole)
{
    struct desk *desk = desk_open(t);
    AUTO_BUF old = BUF_INIT(LIMIT_MEMORY_FILE_BYTES), new = BUF_INIT(LIMIT_MEMORY_FILE_BYTES);
    struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_WRITE, "");
    struct memory_proposal p;

    for (int i = 0; i < 9000; i++) {
        buf_printf(&old, "old %d\n", i);
        buf_printf(&new, "\u00e9 %d\n", i);
    }
    ASSERT_OK(write_file(desk, "knowledge/a.md", buf_text(&old)));
    edit.content = buf_str(&new);
    ASSERT_OK(propose(desk, &edit, &p));
    ASSERT(str_ends(p.diff, STR("\n+\u00e9 8999\n")));
    desk_close(desk);
}

/* The person who decides reads the reason: it says what it says. */
DB_TEST(a_reason_that_changes_how_it_reads_is_refused)
{
    static const char *const reasons[] = { "safe \u202eexe.txt", "a\u2067b", "\u200fx", "x\u061c" };
    struct desk *desk = desk_open(t);
    struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_WRITE, "fine");
    struct memory_proposal p;

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        edit.reason = str_from(reasons[i]);
        ASSERT_FAILS(propose(desk, &edit, &p), ERR_SCHEMA_VIOLATION);
        ASSERT_CONTAINS(test_err_text(t), "reason: there is a ");
    }
    edit.reason = STR("\u05e9\u05dc\u05d5\u05dd \u2764\ufe0f, na\u00efve");
    ASSERT_OK(propose(desk, &edit, &p));
    desk_close(desk);
}

DB_TEST(operations_want_what_they_need)
{
    struct desk *desk = desk_open(t);
    struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_WRITE, NULL);
    enum memory_operation operation;
    struct memory_proposal p;

    ASSERT_FAILS(propose(desk, &edit, &p), ERR_SCHEMA_VIOLATION);
    edit.content = STR("");
    ASSERT_OK(propose(desk, &edit, &p));
    edit.operation = MEMORY_APPEND;
    ASSERT_FAILS(propose(desk, &edit, &p), ERR_SCHEMA_VIOLATION);
    edit = edit_of("knowledge/a.md", MEMORY_DELETE, "text");
    ASSERT_FAILS(propose(desk, &edit, &p), ERR_SCHEMA_VIOLATION);
    edit.content = STR_NONE;
    ASSERT_FAILS(propose(desk, &edit, &p), ERR_NOT_FOUND);
    err_reset(&t->err);
    ASSERT_OK(memory_operation_of(STR_NONE, &operation, &t->err));
    ASSERT_EQ(operation, MEMORY_WRITE);
    ASSERT_OK(memory_operation_of(STR("delete"), &operation, &t->err));
    ASSERT_EQ(operation, MEMORY_DELETE);
    ASSERT_FAILS(memory_operation_of(STR("Write"), &operation, &t->err), ERR_BAD_REQUEST);
    desk_close(desk);
}

static struct str many(struct test *t, size_t n)
{
    char *text = arena_alloc(&t->arena, n, 1);

    memset(text, 'x', n);
    return str_of(text, n);
}

DB_TEST(size_is_bounded_for_a_file_and_told_for_all)
{
    struct desk *desk = desk_open(t);
    struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_WRITE, NULL);
    struct memory_proposal p;

    edit.content = many(t, LIMIT_MEMORY_FILE_BYTES + 1);
    ASSERT_FAILS(propose(desk, &edit, &p), ERR_TOO_LARGE);
    edit.content = many(t, LIMIT_MEMORY_WARN_BYTES);
    ASSERT_OK(propose(desk, &edit, &p));
    ASSERT(!p.warn && !p.full);
    edit.content = many(t, LIMIT_MEMORY_WARN_BYTES + 1);
    ASSERT_OK(propose(desk, &edit, &p));
    ASSERT(p.warn && !p.full);
    edit.content = many(t, LIMIT_MEMORY_FILE_BYTES);
    ASSERT_OK(propose(desk, &edit, &p));
    ASSERT(p.warn && !p.full);
    ASSERT_EQ(apply(desk, &edit, STR_NONE), 1);
    edit = edit_of("knowledge/b.md", MEMORY_WRITE, "y");
    ASSERT_OK(propose(desk, &edit, &p));
    ASSERT(p.full);
    ASSERT_EQ(apply(desk, &edit, STR_NONE), 1);
    desk_close(desk);
}

/* ---- applying ---- */

DB_TEST(file_that_is_another_by_now_is_not_overwritten)
{
    struct desk *desk = desk_open(t);
    struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_WRITE, "mine");
    struct memory_proposal p;
    struct file file;
    int r;

    ASSERT_OK(propose(desk, &edit, &p));
    ASSERT_EQ(write_file(desk, "knowledge/a.md", "theirs"), 1);
    ASSERT_OK(loop_unit_begin(desk->loop, desk->rig.domain, &t->err));
    r = memory_apply(desk->files, &desk->rig.agent, &edit, &p, STR("item"), 1, STR("op"), &t->arena,
                     &file, &t->err);
    ASSERT_EQ(r, -1);
    ASSERT_EQ(t->err.code, ERR_VERSION_CONFLICT);
    ASSERT_OK(loop_unit_end(desk->loop, false, NULL));
    desk_close(desk);
}

DB_TEST(longest_reason_still_has_room_for_who_proposed_it)
{
    struct desk *desk = desk_open(t);
    struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_WRITE, "one");
    char *reason = arena_alloc(&t->arena, 4096, 1);
    struct file file;

    memset(reason, 'r', 4096);
    edit.reason = str_of(reason, 4096);
    edit.edited = true;
    ASSERT_EQ(apply(desk, &edit, STR("op")), 1);
    ASSERT_EQ(memory_read(desk->files, &desk->rig.agent, edit.path, &t->arena, &file, &t->err), 1);
    ASSERT_STR(file.author, "owner");
    ASSERT_EQ(file.reason.n, 4096);
    ASSERT(str_ends(file.reason, STR(" (edited what planner proposed)")));
    desk_close(desk);
}

DB_TEST(operation_is_known_once_it_was_applied)
{
    struct desk *desk = desk_open(t);
    struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_WRITE, "one");
    int64_t base = -1, version = -1;

    ASSERT_EQ(memory_applied(desk->rig.domain, STR("op1"), &base, &version, &t->err), 0);
    ASSERT_EQ(memory_applied(desk->rig.domain, STR_NONE, &base, &version, &t->err), 0);
    ASSERT_EQ(apply(desk, &edit, STR("op1")), 1);
    ASSERT_EQ(memory_applied(desk->rig.domain, STR("op1"), &base, &version, &t->err), 1);
    ASSERT_EQ(base, 0);
    ASSERT_EQ(version, 1);
    edit = edit_of("knowledge/a.md", MEMORY_DELETE, NULL);
    ASSERT_EQ(apply(desk, &edit, STR("op2")), 1);
    ASSERT_EQ(memory_applied(desk->rig.domain, STR("op2"), &base, &version, &t->err), 1);
    ASSERT_EQ(base, 1);
    ASSERT_EQ(version, 2);
    /* Written anew after a deletion: proposed against no file. */
    edit = edit_of("knowledge/a.md", MEMORY_WRITE, "again");
    ASSERT_EQ(apply(desk, &edit, STR("op3")), 1);
    ASSERT_EQ(memory_applied(desk->rig.domain, STR("op3"), &base, &version, &t->err), 1);
    ASSERT_EQ(base, 0);
    ASSERT_EQ(version, 3);
    desk_close(desk);
}

/* ---- reading ---- */

DB_TEST(settings_are_files_that_can_be_read)
{
    struct desk *desk = desk_open(t);
    struct agent agent = desk->rig.agent;
    struct file file;

    agent.instructions = "Be kind.";
    ASSERT_EQ(memory_read(desk->files, &agent, STR("AGENTS.md"), &t->arena, &file, &t->err), 1);
    ASSERT_STR(file.content, "Be kind.");
    ASSERT_EQ(file.version, 0);
    agent.tools = "[\"bash\",\"read_memory\"]";
    ASSERT_EQ(memory_read(desk->files, &agent, STR("tools.json"), &t->arena, &file, &t->err), 1);
    ASSERT_STR(file.content, "[\"bash\",\"read_memory\"]\n");
    agent.tools = NULL;
    ASSERT_EQ(memory_read(desk->files, &agent, STR("tools.json"), &t->arena, &file, &t->err), 1);
    ASSERT_STR(file.content, "[\"*\"]\n");
    ASSERT_EQ(memory_read(desk->files, &agent, STR("knowledge/none"), &t->arena, &file, &t->err),
              0);
    ASSERT_EQ(write_file(desk, "skills/tea.md", "boil"), 1);
    ASSERT_EQ(memory_read(desk->files, &agent, STR("skills/tea.md"), &t->arena, &file, &t->err), 1);
    ASSERT_STR(file.path, "skills/tea.md");
    ASSERT_STR(file.content, "boil");
    desk_close(desk);
}

static const char *listed(struct desk *desk, const char *directory)
{
    struct test *t = desk->rig.t;
    AUTO_BUF out = BUF_INIT(4096);
    struct file *files;
    size_t n;

    ASSERT_OK(memory_list(desk->files, &desk->rig.agent, str_from(directory), &t->arena, &files, &n,
                          &t->err));
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%.*s ", STR_ARG(files[i].path));
    return arena_text(&t->arena, buf_text(&out));
}

DB_TEST(list_shows_paths_as_agents_know_them)
{
    struct desk *desk = desk_open(t);
    struct file *files;
    size_t n;

    ASSERT_EQ(write_file(desk, "skills/tea.md", "boil"), 1);
    ASSERT_EQ(write_file(desk, "knowledge/b.md", "b"), 1);
    ASSERT_EQ(write_file(desk, "knowledge/a/c.md", "c"), 1);
    ASSERT_TEXT(listed(desk, ""),
                "AGENTS.md knowledge/a/c.md knowledge/b.md skills/tea.md tools.json ");
    ASSERT_TEXT(listed(desk, "knowledge"), "knowledge/a/c.md knowledge/b.md ");
    ASSERT_TEXT(listed(desk, "knowledge/a/"), "knowledge/a/c.md ");
    ASSERT_TEXT(listed(desk, "skills"), "skills/tea.md ");
    ASSERT_TEXT(listed(desk, "skills/none"), "");
    ASSERT_FAILS(
        memory_list(desk->files, &desk->rig.agent, STR("../x"), &t->arena, &files, &n, &t->err),
        ERR_PATH_DENIED);
    err_reset(&t->err);
    ASSERT_FAILS(
        memory_list(desk->files, &desk->rig.agent, STR("secrets"), &t->arena, &files, &n, &t->err),
        ERR_PATH_DENIED);
    desk_close(desk);
}

DB_TEST(agents_do_not_see_each_others_files)
{
    struct desk *desk = desk_open(t);
    struct agent other = desk->rig.agent;
    struct file file, *files;
    size_t n;

    ASSERT_EQ(write_file(desk, "knowledge/a.md", "mine"), 1);
    other.id = "other";
    ASSERT_EQ(memory_read(desk->files, &other, STR("knowledge/a.md"), &t->arena, &file, &t->err),
              0);
    ASSERT_OK(memory_list(desk->files, &other, STR("knowledge"), &t->arena, &files, &n, &t->err));
    ASSERT_EQ(n, 0);
    desk_close(desk);
}

/* ---- details ---- */

DB_TEST(details_are_json_whatever_is_in_the_files)
{
    struct desk *desk = desk_open(t);
    struct memory_edit edit = edit_of("knowledge/a.md", MEMORY_WRITE, "\"</script>\xE2\x80\xAE\n");
    AUTO_BUF out = BUF_INIT(1 << 22);
    struct memory_proposal p;
    AUTO_JSON value = NULL;
    struct file file;

    ASSERT_OK(loop_unit_begin(desk->loop, desk->rig.domain, &t->err));
    ASSERT_OK(file_put(desk->files,
                       &(struct file_write){ .tree = memory_tree(&desk->rig.agent, &t->arena),
                                             .path = STR("knowledge/a.md"),
                                             .content = STR("\xFF\x00\x01 not text"),
                                             .author = STR("owner") },
                       &t->arena, &file, &t->err));
    ASSERT_OK(loop_unit_end(desk->loop, true, &t->err));
    edit.taint = STR("file,web");
    ASSERT_OK(propose(desk, &edit, &p));
    memory_details(&edit, &p, &out);
    ASSERT_OK(json_parse(buf_str(&out), &value, &t->err));
    ASSERT(utf8_valid(json_str(json_find(value, "current_content"))));
    ASSERT_EQ(json_object_array_length(json_find(value, "taint")), 1); /* files are one's own */
    ASSERT(json_object_array_length(json_find(value, "warnings")) >= 1);
    ASSERT(json_object_array_length(json_find(value, "suspicious_flags")) >= 1);
    desk_close(desk);
}

/* ---- taint ---- */

DB_TEST(a_message_says_where_all_of_its_thread_came_from)
{
    AUTO_RIG rig = rig_open(t);
    struct message first, last;
    struct thread again;
    int64_t n[3];

    n[0] = rig_append(&rig, (struct message){ .kind = MESSAGE_TOOL_RESULT,
                                              .content = STR("{\"output\":1}"),
                                              .taint = STR("web:a") });
    n[1] = rig_append(&rig, (struct message){ .kind = MESSAGE_TOOL_RESULT,
                                              .content = STR("{\"output\":1}"),
                                              .taint = STR("file,web:b") });
    n[2] = rig_append(
        &rig, (struct message){ .kind = MESSAGE_USER, .content = STR("{\"text\":\"hi\"}") });
    ASSERT_OK(message_get_n(rig.domain, n[0], &t->arena, &first, &t->err));
    ASSERT_STR(first.thread_taint, "web:a");
    ASSERT_OK(message_get_n(rig.domain, n[2], &t->arena, &last, &t->err));
    ASSERT_STR(last.thread_taint, "file,web:a,web:b");
    ASSERT_EQ(last.taint.n, 0);
    ASSERT_OK(thread_get_n(rig.domain, rig.thread.n, &t->arena, &again, &t->err));
    ASSERT_STR(again.taint, "file,web:a,web:b");
}

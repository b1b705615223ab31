/* Versions, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/hash.h"
#include "rig.h"

static struct file get(struct rig *rig, const char *path)
{
    struct test *t = rig->t;
    struct file file = { .n = 0 };

    ASSERT_OK(file_get(rig->files, TREE, str_from(path), &t->arena, &file, &t->err));
    return file;
}

static size_t versions_of(struct rig *rig, const char *path)
{
    struct test *t = rig->t;
    struct file *versions;
    size_t count;

    ASSERT_OK(file_history(rig->files, TREE, str_from(path), 0, 0, &t->arena, &versions, &count,
                           &t->err));
    return count;
}

static int restore(struct rig *rig, const char *path, int64_t version, struct file *ret_file)
{
    struct test *t = rig->t;
    int r;

    err_reset(&t->err);
    ASSERT_OK(loop_unit_begin(rig->loop, rig->domain, &t->err));
    r = file_restore(rig->files, TREE, str_from(path), version, STR("owner"), STR("undo"),
                     &t->arena, ret_file, &t->err);
    ASSERT_OK(loop_unit_end(rig->loop, r >= 0, NULL));
    loop_fake_tick(rig->loop);
    return r;
}

DB_TEST(what_is_written_is_read_back_with_who_and_why)
{
    AUTO(rig) rig = rig_open(t);
    char hash[SHA256_TEXT_SIZE];
    struct file made, file;

    ASSERT_EQ(rig_put(rig,
                      &(struct file_write){ .tree = TREE,
                                            .path = STR("knowledge/plan.md"),
                                            .content = STR("run\0more"),
                                            .author = STR("agent:coach"),
                                            .reason = STR("was asked to"),
                                            .taint = STR("web,file"),
                                            .inbox_id = STR("i-1"),
                                            .run_n = 7 },
                      &made),
              1);
    file = get(rig, "knowledge/plan.md");
    sha256_text(STR("run\0more"), hash);
    ASSERT_EQ(file.n, made.n);
    ASSERT_EQ(file.version, 1);
    ASSERT_EQ(file.size, 8);
    ASSERT(str_eq(file.content, STR("run\0more")));
    ASSERT_STR(file.hash, hash);
    ASSERT_STR(made.hash, hash);
    ASSERT_STR(file.author, "agent:coach");
    ASSERT_STR(file.reason, "was asked to");
    ASSERT_STR(file.taint, "web,file");
    ASSERT_STR(file.inbox_id, "i-1");
    ASSERT_STR(file.content_type, "text/markdown");
    ASSERT_EQ(file.created_at, NOW);
    ASSERT_EQ(file.updated_at, NOW);
}

DB_TEST(a_change_is_a_version_and_the_old_ones_stay)
{
    AUTO(rig) rig = rig_open(t);
    struct file file, *versions;
    size_t count;

    ASSERT_EQ(rig_write(rig, "a.md", "one", 0, &file), 1);
    clock_advance(&rig->clock, 1000);
    ASSERT_EQ(rig_write(rig, "a.md", "two", 1, &file), 1);
    ASSERT_EQ(file.version, 2);
    ASSERT_EQ(file.created_at, NOW);
    ASSERT_EQ(file.updated_at, NOW + 1000);
    ASSERT_STR(get(rig, "a.md").content, "two");
    ASSERT_EQ(file_get_version(rig->files, TREE, STR("a.md"), 1, &t->arena, &file, &t->err), 1);
    ASSERT_STR(file.content, "one");
    ASSERT_EQ(file.updated_at, NOW);
    ASSERT_EQ(file_get_version(rig->files, TREE, STR("a.md"), 3, &t->arena, &file, &t->err), 0);
    ASSERT_OK(
        file_history(rig->files, TREE, STR("a.md"), 0, 0, &t->arena, &versions, &count, &t->err));
    ASSERT_EQ(count, 2);
    ASSERT_EQ(versions[0].version, 2);
    ASSERT_EQ(versions[1].version, 1);
    ASSERT_EQ(versions[1].content.n, 0);
    ASSERT_OK(
        file_history(rig->files, TREE, STR("a.md"), 2, 5, &t->arena, &versions, &count, &t->err));
    ASSERT_EQ(count, 1);
    ASSERT_EQ(versions[0].version, 1);
    ASSERT_EQ(versions_of(rig, "none.md"), 0);
}

DB_TEST(the_same_content_makes_no_version)
{
    AUTO(rig) rig = rig_open(t);
    struct file file;

    ASSERT_EQ(rig_write(rig, "a.md", "one", 0, &file), 1);
    ASSERT_EQ(rig_write(rig, "a.md", "one", FILE_ANY_VERSION, &file), 0);
    ASSERT_EQ(file.version, 1);
    ASSERT_STR(file.content, "one");
    ASSERT_EQ(versions_of(rig, "a.md"), 1);
    ASSERT_EQ(rig_write(rig, "empty.md", "", 0, &file), 1);
    ASSERT_EQ(rig_write(rig, "empty.md", "", 1, &file), 0);
    ASSERT_EQ(get(rig, "empty.md").version, 1);
}

DB_TEST(a_writer_who_did_not_know_the_newest_version_is_refused)
{
    AUTO(rig) rig = rig_open(t);
    struct file file;

    ASSERT_FAILS(rig_write(rig, "a.md", "x", 1, &file), ERR_VERSION_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "no such file");
    ASSERT_EQ(rig_write(rig, "a.md", "one", 0, &file), 1);
    ASSERT_FAILS(rig_write(rig, "a.md", "x", 0, &file), ERR_VERSION_CONFLICT);
    ASSERT_EQ(rig_write(rig, "a.md", "two", 1, &file), 1);
    ASSERT_FAILS(rig_write(rig, "a.md", "x", 1, &file), ERR_VERSION_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "version 2");
    ASSERT_FAILS(rig_remove(rig, "a.md", 1, &file), ERR_VERSION_CONFLICT);
    ASSERT_STR(get(rig, "a.md").content, "two");
}

DB_TEST(a_removed_file_is_gone_and_comes_back_by_restoring)
{
    AUTO(rig) rig = rig_open(t);
    struct file file, *rows;
    size_t count;

    ASSERT_EQ(rig_put(rig,
                      &(struct file_write){ .tree = TREE,
                                            .path = STR("a.md"),
                                            .content = STR("one"),
                                            .author = STR("agent:coach"),
                                            .taint = STR("web") },
                      &file),
              1);
    ASSERT_EQ(rig_remove(rig, "a.md", 1, &file), 1);
    ASSERT(file.deleted);
    ASSERT_EQ(file.version, 2);
    ASSERT_EQ(get(rig, "a.md").n, 0);
    ASSERT_OK(file_list(rig->files, TREE, STR(""), &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 0);
    ASSERT_EQ(rig_remove(rig, "a.md", FILE_ANY_VERSION, &file), 0);
    ASSERT_EQ(versions_of(rig, "a.md"), 2);
    ASSERT_FAILS(restore(rig, "a.md", 2, &file), ERR_BAD_REQUEST);
    ASSERT_FAILS(restore(rig, "a.md", 9, &file), ERR_NOT_FOUND);
    ASSERT_FAILS(restore(rig, "never.md", 1, &file), ERR_NOT_FOUND);
    ASSERT_EQ(restore(rig, "a.md", 1, &file), 1);
    file = get(rig, "a.md");
    ASSERT_EQ(file.version, 3);
    ASSERT_STR(file.content, "one");
    ASSERT_STR(file.author, "owner");
    ASSERT_STR(file.reason, "undo");
    ASSERT_STR(file.taint, "web");
    ASSERT_EQ(restore(rig, "a.md", 1, &file), 0);
}

/* Under whatever name, and whoever brings it. Other words in its place are the writer's own. */
DB_TEST(a_text_keeps_where_it_came_from)
{
    AUTO(rig) rig = rig_open(t);
    struct file_write write = {
        .tree = TREE, .path = STR("a.md"), .content = STR("theirs"), .author = STR("owner")
    };
    struct file file;

    write.taint = STR("web");
    ASSERT_EQ(rig_put(rig, &write, &file), 1);
    write.taint = STR_NONE;
    write.path = STR("b.md");
    ASSERT_EQ(rig_put(rig, &write, &file), 1);
    ASSERT_STR(file.taint, "web");
    write.path = STR("c.md");
    write.content = STR("mine");
    ASSERT_EQ(rig_put(rig, &write, &file), 1);
    ASSERT_EQ(file.taint.n, 0);
    write.taint = STR("file");
    write.path = STR("d.md");
    write.content = STR("theirs");
    ASSERT_EQ(rig_put(rig, &write, &file), 1);
    ASSERT_STR(file.taint, "file,web");
}

DB_TEST(whoever_never_saw_a_removed_file_may_make_it_anew)
{
    AUTO(rig) rig = rig_open(t);
    struct file file;

    ASSERT_EQ(rig_write(rig, "a.md", "one", 0, &file), 1);
    ASSERT_EQ(rig_remove(rig, "a.md", 1, &file), 1);
    ASSERT_EQ(rig_write(rig, "A.md", "new", 0, &file), 1);
    ASSERT_EQ(file.version, 3);
    ASSERT_STR(get(rig, "a.md").path, "A.md");
}

DB_TEST(an_operation_is_applied_once)
{
    AUTO(rig) rig = rig_open(t);
    struct file_write write = { .tree = TREE,
                                .path = STR("a.md"),
                                .content = STR("one"),
                                .base = 0,
                                .author = STR("owner"),
                                .operation_id = STR("op-1") };
    struct file file;

    ASSERT_EQ(rig_put(rig, &write, &file), 1);
    ASSERT_EQ(rig_put(rig, &write, &file), 0);
    ASSERT_EQ(file.version, 1);
    ASSERT_EQ(rig_write(rig, "a.md", "two", 1, &file), 1);
    ASSERT_EQ(rig_put(rig, &write, &file), 0);
    ASSERT_EQ(file.version, 1);
    ASSERT_STR(file.content, "one");
    ASSERT_STR(get(rig, "a.md").content, "two");
    write.path = STR("b.md");
    ASSERT_FAILS(rig_put(rig, &write, &file), ERR_CONFLICT);
    /* Nor is it that of a file which is there. */
    ASSERT_EQ(rig_write(rig, "b.md", "other", 0, &file), 1);
    ASSERT_FAILS(rig_put(rig, &write, &file), ERR_CONFLICT);
    ASSERT_STR(get(rig, "b.md").content, "other");
}

DB_TEST(an_operation_that_found_nothing_to_change_stays_done)
{
    AUTO(rig) rig = rig_open(t);
    struct file_write write = { .tree = TREE,
                                .path = STR("a.md"),
                                .content = STR("one"),
                                .base = FILE_ANY_VERSION,
                                .author = STR("owner"),
                                .operation_id = STR("op-1") };
    struct file file;

    ASSERT_EQ(rig_write(rig, "a.md", "one", 0, &file), 1);
    ASSERT_EQ(rig_put(rig, &write, &file), 0);
    ASSERT_EQ(rig_write(rig, "a.md", "two", 1, &file), 1);
    ASSERT_EQ(rig_put(rig, &write, &file), 0);
    ASSERT_STR(get(rig, "a.md").content, "two");
}

DB_TEST(a_tree_lists_what_lies_below_a_prefix_in_order)
{
    AUTO(rig) rig = rig_open(t);
    static const char *const paths[] = { "knowledge/b.md", "AGENTS.md", "knowledge/a/x.md",
                                         "knowledge0.md",  "Ü.md",      "knowledge/Z.md" };
    struct file file, *rows;
    size_t count;
    int64_t bytes;

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        ASSERT_EQ(rig_write(rig, paths[i], "12345", 0, &file), 1);
    ASSERT_OK(file_list(rig->files, TREE, STR(""), &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 6);
    ASSERT_STR(rows[0].path, "AGENTS.md");
    ASSERT_STR(rows[1].path, "knowledge/Z.md");
    ASSERT_STR(rows[5].path, "Ü.md");
    ASSERT_EQ(rows[0].content.n, 0);
    ASSERT_EQ(rows[0].size, 5);
    ASSERT_OK(file_list(rig->files, TREE, STR("knowledge/"), &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 3);
    ASSERT_OK(file_list(rig->files, TREE, STR("knowledge/a"), &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 1);
    ASSERT_STR(rows[0].path, "knowledge/a/x.md");
    ASSERT_OK(
        file_list(rig->files, STR("agents/other"), STR(""), &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 0);
    ASSERT_OK(file_tree_size(rig->files, TREE, &bytes, &count, &t->err));
    ASSERT_EQ(bytes, 30);
    ASSERT_EQ(count, 6);
    ASSERT_OK(file_tree_size(rig->files, STR("users/me"), &bytes, &count, &t->err));
    ASSERT_EQ(bytes, 0);
}

DB_TEST(a_path_has_one_spelling)
{
    AUTO(rig) rig = rig_open(t);
    struct file file;

    ASSERT_EQ(rig_write(rig, "knowledge/Plan.md", "one", 0, &file), 1);
    ASSERT_FAILS(rig_write(rig, "knowledge/plan.md", "x", 1, &file), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "knowledge/Plan.md");
    ASSERT_STR(get(rig, "KNOWLEDGE/plan.md").path, "knowledge/Plan.md");
}

DB_TEST(a_file_can_not_stand_where_a_folder_is)
{
    AUTO(rig) rig = rig_open(t);
    struct file file;

    ASSERT_EQ(rig_write(rig, "knowledge/a/b.md", "one", 0, &file), 1);
    ASSERT_FAILS(rig_write(rig, "knowledge", "x", 0, &file), ERR_CONFLICT);
    ASSERT_FAILS(rig_write(rig, "KNOWLEDGE/A", "x", 0, &file), ERR_CONFLICT);
    ASSERT_FAILS(rig_write(rig, "knowledge/a/b.md/c", "x", 0, &file), ERR_CONFLICT);
    ASSERT_EQ(rig_write(rig, "knowledge/a-", "x", 0, &file), 1);
    ASSERT_EQ(rig_remove(rig, "knowledge/a/b.md", 1, &file), 1);
    ASSERT_EQ(rig_write(rig, "knowledge/a", "x", 0, &file), 1);
    ASSERT_FAILS(restore(rig, "knowledge/a/b.md", 1, &file), ERR_CONFLICT);
}

DB_TEST(other_trees_and_ill_formed_words_are_refused)
{
    AUTO(rig) rig = rig_open(t);
    const struct str trees[] = {
        STR(""),        STR("agents"),   STR("agents/"),   STR("agents/../x"), STR("agents/a/b"),
        STR("other/a"), STR("agents/A"), STR("/agents/a"), STR("agents/a\0b")
    };
    struct file_write write = { .path = STR("a.md"), .author = STR("owner") };
    struct file file;

    for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
        write.tree = trees[i];
        ASSERT_FAILS(rig_put(rig, &write, &file), ERR_PATH_DENIED);
    }
    write.tree = STR("agents/system:builder-wizard");
    write.author = STR("");
    ASSERT_FAILS(rig_put(rig, &write, &file), ERR_BAD_REQUEST);
    write.author = STR("owner");
    write.reason = STR("a\0b");
    ASSERT_FAILS(rig_put(rig, &write, &file), ERR_BAD_REQUEST);
    write.reason = STR("a\xff");
    ASSERT_FAILS(rig_put(rig, &write, &file), ERR_BAD_REQUEST);
    write.reason = str_of(arena_alloc(&t->arena, 5000, 1), 5000);
    ASSERT_FAILS(rig_put(rig, &write, &file), ERR_TOO_LARGE);
    write.reason = STR("");
    write.content = str_of(arena_alloc(&t->arena, FILE_BYTES_MAX + 1, 1), FILE_BYTES_MAX + 1);
    ASSERT_FAILS(rig_put(rig, &write, &file), ERR_TOO_LARGE);
    write.content = STR("");
    ASSERT_EQ(rig_put(rig, &write, &file), 1);
}

struct seen {
    struct file_watcher watcher;
    int calls;
    bool refuse;
    char last[64];
};

static int note(struct file_watcher *watcher, struct str tree, const struct file *after,
                struct err *err)
{
    struct seen *seen = CONTAINER_OF(watcher, struct seen, watcher);

    seen->calls++;
    snprintf(seen->last, sizeof(seen->last), "%.*s:%.*s@%lld=%.*s%s", STR_ARG(tree),
             STR_ARG(after->path), (long long)after->version, STR_ARG(after->content),
             after->deleted ? "!" : "");
    return seen->refuse ? err_set(err, ERR_SCHEMA_VIOLATION, "no") : 0;
}

DB_TEST(whoever_watches_hears_every_version_and_may_refuse_it)
{
    AUTO(rig) rig = rig_open(t);
    struct seen first = { .watcher = { .written = note } }, second = first;
    struct file file;

    files_watch(rig->files, &first.watcher);
    files_watch(rig->files, &second.watcher);
    ASSERT_EQ(rig_write(rig, "a.md", "one", 0, &file), 1);
    ASSERT_TEXT(second.last, "agents/coach:a.md@1=one");
    ASSERT_EQ(rig_write(rig, "a.md", "one", 1, &file), 0);
    ASSERT_EQ(first.calls, 1);
    first.refuse = true;
    ASSERT_FAILS(rig_write(rig, "a.md", "two", 1, &file), ERR_SCHEMA_VIOLATION);
    ASSERT_EQ(second.calls, 1);
    ASSERT_STR(get(rig, "a.md").content, "one");
    first.refuse = false;
    ASSERT_EQ(rig_remove(rig, "a.md", 1, &file), 1);
    ASSERT_TEXT(first.last, "agents/coach:a.md@2=!");
}

DB_TEST(removing_a_tree_removes_every_file_of_it_alone)
{
    AUTO(rig) rig = rig_open(t);
    struct seen seen = { .watcher = { .written = note } };
    struct file file;
    size_t count;
    int64_t bytes;

    ASSERT_EQ(rig_write(rig, "a.md", "one", 0, &file), 1);
    ASSERT_EQ(rig_write(rig, "b/c.md", "two", 0, &file), 1);
    ASSERT_EQ(rig_put(rig,
                      &(struct file_write){ .tree = STR("agents/coach2"),
                                            .path = STR("a.md"),
                                            .content = STR("kept"),
                                            .author = STR("owner") },
                      &file),
              1);
    files_watch(rig->files, &seen.watcher);
    ASSERT_OK(loop_unit_begin(rig->loop, rig->domain, &t->err));
    ASSERT_OK(file_tree_remove(rig->files, TREE, STR("owner"), STR("destroyed"), &t->err));
    ASSERT_OK(loop_unit_end(rig->loop, true, &t->err));
    loop_fake_tick(rig->loop);
    ASSERT_EQ(seen.calls, 2);
    ASSERT_OK(file_tree_size(rig->files, TREE, &bytes, &count, &t->err));
    ASSERT_EQ(count, 0);
    ASSERT_OK(file_tree_size(rig->files, STR("agents/coach2"), &bytes, &count, &t->err));
    ASSERT_EQ(count, 1);
    ASSERT_EQ(restore(rig, "b/c.md", 1, &file), 1);
}

/* ---- for those who keep something beside files ---- */

DB_TEST(the_stamp_moves_when_a_file_may_be_another)
{
    AUTO(rig) rig = rig_open(t);
    struct file_write write = { .tree = TREE,
                                .path = STR("a.md"),
                                .content = STR("one"),
                                .base = FILE_ANY_VERSION,
                                .author = STR("owner") };
    uint64_t before = files_stamp(rig->files), after;
    struct file file;

    ASSERT_EQ(files_stamp(rig->files), before);
    ASSERT_EQ(rig_put(rig, &write, &file), 1);
    after = files_stamp(rig->files);
    ASSERT(after != before);
    ASSERT_EQ(rig_put(rig, &write, &file), 0);
    ASSERT_EQ(files_stamp(rig->files), after);
    files_touch(rig->files);
    ASSERT(files_stamp(rig->files) != after);
    after = files_stamp(rig->files);
    clock_advance(&rig->clock, 1000);
    ASSERT_EQ(files_stamp(rig->files) != after, domain_is_shared(rig->domain));
}

static int never(struct file_watcher *watcher, struct str tree, const struct file *after,
                 struct err *err)
{
    (void)watcher;
    (void)tree;
    return str_is(after->path, "bad.md") ? err_set(err, ERR_CONFLICT, "not this one") : 0;
}

static int hears(struct file_watcher *watcher, struct str tree, const struct file *after,
                 struct err *err)
{
    (void)watcher, (void)tree, (void)after, (void)err;
    return 0;
}

DB_TEST(who_watches_is_asked_before_anything_is_written)
{
    AUTO(rig) rig = rig_open(t);
    struct file_watcher deaf = { .written = hears }, strict = { .written = hears, .check = never };
    struct file bad = { .path = STR("bad.md") }, good = { .path = STR("good.md") };

    ASSERT_OK(file_check(rig->files, TREE, &bad, &t->err));
    files_watch(rig->files, &deaf);
    files_watch(rig->files, &strict);
    ASSERT_OK(file_check(rig->files, TREE, &good, &t->err));
    ASSERT_FAILS(file_check(rig->files, TREE, &bad, &t->err), ERR_CONFLICT);
}

static size_t deleted_below(struct rig *rig, struct str prefix, int64_t since, struct file **rows)
{
    struct test *t = rig->t;
    size_t count;

    ASSERT_OK(file_list_deleted(rig->files, TREE, prefix, since, &t->arena, rows, &count, &t->err));
    return count;
}

DB_TEST(removed_files_are_listed_from_their_removal_on_until_they_are_back)
{
    AUTO(rig) rig = rig_open(t);
    static const char *const paths[] = { "skills/b/x.md", "skills/a/SKILL.md", "skills/c.md",
                                         "knowledge/d.md" };
    struct file file, *rows;

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        ASSERT_EQ(rig_write(rig, paths[i], "text", 0, &file), 1);
    ASSERT_EQ(deleted_below(rig, STR(""), 0, &rows), 0);
    for (size_t i = 0; i < 2; i++)
        ASSERT_EQ(rig_remove(rig, paths[i], 1, &file), 1);
    ASSERT_EQ(deleted_below(rig, STR("skills/"), NOW, &rows), 2);
    ASSERT_STR(rows[0].path, "skills/a/SKILL.md");
    ASSERT(rows[0].deleted);
    ASSERT_EQ(rows[0].version, 2);
    ASSERT_EQ(rows[0].updated_at, NOW);
    ASSERT_EQ(deleted_below(rig, STR("skills/"), NOW + 1, &rows), 0);
    ASSERT_EQ(deleted_below(rig, STR("skills/b/"), 0, &rows), 1);
    ASSERT_EQ(deleted_below(rig, STR("Skills/"), 0, &rows), 0);
    ASSERT_EQ(deleted_below(rig, STR("knowledge/"), 0, &rows), 0);
    loop_fake_advance(rig->loop, 5);
    ASSERT_EQ(rig_remove(rig, paths[3], 1, &file), 1);
    ASSERT_EQ(deleted_below(rig, STR(""), NOW + 5, &rows), 1);
    ASSERT_STR(rows[0].path, "knowledge/d.md");
    ASSERT_EQ(restore(rig, "skills/a/SKILL.md", 1, &file), 1);
    ASSERT_EQ(deleted_below(rig, STR("skills/"), 0, &rows), 1);
    ASSERT_STR(rows[0].path, "skills/b/x.md");
    ASSERT_FAILS(file_list_deleted(rig->files, STR("x/y"), STR(""), 0, &t->arena, &rows,
                                   &(size_t){ 0 }, &t->err),
                 ERR_PATH_DENIED);
}

DB_TEST(a_prefix_may_be_anything_and_finds_what_begins_so)
{
    AUTO(rig) rig = rig_open(t);
    struct str longest = str_of(arena_alloc(&t->arena, FILE_PATH_MAX + 2, 1), FILE_PATH_MAX + 1);
    static const struct {
        struct str prefix;
        size_t found;
    } cases[] = {
        { { "a%_';--/", 8 }, 1 },  { { "a%", 2 }, 1 },        { { "%", 1 }, 0 },
        { { "/", 1 }, 0 },         { { "../", 3 }, 0 },       { { "./a", 3 }, 0 },
        { { "\xC3\xA9/", 3 }, 1 }, { { "\xC3\x89/", 3 }, 0 }, { { "//", 2 }, 0 },
    };
    struct file file, *rows;
    size_t count;

    ASSERT_EQ(rig_write(rig, "a%_';--/x", "1", 0, &file), 1);
    ASSERT_EQ(rig_write(rig, "é/x", "1", 0, &file), 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_OK(file_list(rig->files, TREE, cases[i].prefix, &t->arena, &rows, &count, &t->err));
        if (count != cases[i].found)
            FAIL("%zu below \"%.*s\"", count, STR_ARG(cases[i].prefix));
    }
    memset((char *)longest.p, '/', longest.n);
    ASSERT_FAILS(file_list(rig->files, TREE, longest, &t->arena, &rows, &count, &t->err),
                 ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "prefix: at most 1024 bytes of valid UTF-8");
    err_reset(&t->err);
    ASSERT_FAILS(file_list(rig->files, TREE, STR("\xFF/"), &t->arena, &rows, &count, &t->err),
                 ERR_PATH_DENIED);
    err_reset(&t->err);
    ASSERT_FAILS(file_list(rig->files, TREE, str_of("a\0/", 3), &t->arena, &rows, &count, &t->err),
                 ERR_PATH_DENIED);
}

DB_TEST(history_is_read_in_pages_from_the_newest)
{
    AUTO(rig) rig = rig_open(t);
    struct file file, *rows;
    char text[20];
    size_t count;

    for (int i = 0; i < 105; i++) {
        snprintf(text, sizeof(text), "%d", i);
        ASSERT_EQ(rig_write(rig, "a.md", text, i, &file), 1);
    }
    ASSERT_OK(file_history(rig->files, TREE, STR("a.md"), 0, 0, &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 100);
    ASSERT_EQ(rows[0].version, 105);
    ASSERT_EQ(rows[0].content.n, 0);
    ASSERT_OK(file_history(rig->files, TREE, STR("a.md"), 6, 3, &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 3);
    ASSERT_EQ(rows[0].version, 5);
    ASSERT_OK(
        file_history(rig->files, TREE, STR("a.md"), -1, 5000, &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 105);
    ASSERT_OK(file_history(rig->files, TREE, STR("a.md"), 1, 1, &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 0);
    ASSERT_OK(file_history(rig->files, TREE, STR("b.md"), 0, 0, &t->arena, &rows, &count, &t->err));
    ASSERT_EQ(count, 0);
    ASSERT_EQ(file_get_version(rig->files, TREE, STR("a.md"), 106, &t->arena, &file, &t->err), 0);
    ASSERT_EQ(file_get_version(rig->files, TREE, STR("a.md"), 0, &t->arena, &file, &t->err), 0);
    ASSERT_EQ(file_get_version(rig->files, TREE, STR("b.md"), 1, &t->arena, &file, &t->err), 0);
    ASSERT_FAILS(restore(rig, "a.md", 106, &file), ERR_NOT_FOUND);
    ASSERT_CONTAINS(test_err_text(t), "file a.md has no version 106");
}

DB_TEST(words_and_content_are_bounded_to_the_byte)
{
    AUTO(rig) rig = rig_open(t);
    char *text = arena_alloc(&t->arena, FILE_BYTES_MAX + 1, 1);
    struct file_write write = { .tree = TREE, .path = STR("a.md"), .base = FILE_ANY_VERSION };
    struct {
        const char *name;
        struct str *word;
        size_t max;
    } words[] = {
        { "author", &write.author, 256 },  { "type", &write.type, 256 },
        { "taint", &write.taint, 4096 },   { "inbox id", &write.inbox_id, 256 },
        { "reason", &write.reason, 4096 }, { "operation id", &write.operation_id, 256 },
    };
    struct file file;

    memset(text, 'x', FILE_BYTES_MAX);
    write.author = STR("owner");
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        char said[100];

        *words[i].word = str_of(text, words[i].max + 1);
        snprintf(said, sizeof(said), "%s of a file: %zu bytes; at most %zu are allowed",
                 words[i].name, words[i].max + 1, words[i].max);
        ASSERT_FAILS(rig_put(rig, &write, &file), ERR_TOO_LARGE);
        ASSERT_CONTAINS(test_err_text(t), said);
        *words[i].word = str_of("a\0b", 3);
        ASSERT_FAILS(rig_put(rig, &write, &file), ERR_BAD_REQUEST);
        *words[i].word = str_of(text, words[i].max);
    }
    write.content = str_of(text, FILE_BYTES_MAX);
    ASSERT_EQ(rig_put(rig, &write, &file), 1);
    file = get(rig, "a.md");
    ASSERT_EQ(file.size, FILE_BYTES_MAX);
    ASSERT(str_eq(file.content, write.content));
    ASSERT_EQ(file.reason.n, 4096);
    ASSERT_EQ(file.taint.n, 4096);
}

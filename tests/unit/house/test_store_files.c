/* The databases of a data directory: what is missing, empty, cut off or another's is named.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/domain.h"
#include "db/migrations.h"
#include "harness/test.h"
#include "house/store_files.h"

static struct domain *opened(struct test *t, const char *dir, const char *name)
{
    bool agent = strcmp(name, "agent") == 0;
    const struct domain_config how = {
        .name = name,
        .url = arena_printf(&t->arena, "sqlite:%s/%s.sqlite", dir, name),
        .migrations = agent ? migrations_agent : migrations_journal,
        .migration_count = agent ? migrations_agent_count : migrations_journal_count,
    };
    struct domain *domain = NULL;

    ASSERT_OK(domain_open(&how, &domain, &t->err));
    return domain;
}

/* As a daemon opens it. */
static int start(struct test *t, const char *dir)
{
    AUTO(domain) journal = NULL;
    AUTO(domain) agent = NULL;

    err_reset(&t->err);
    if (store_files_begin(dir, &t->err) < 0)
        return -1;
    journal = opened(t, dir, "journal");
    agent = opened(t, dir, "agent");
    return store_files_made(dir, journal, agent, &t->err);
}

static const char *made(struct test *t, const char *name)
{
    const char *dir = test_path(t, name);

    ASSERT_EQ(mkdir(dir, 0700), 0);
    ASSERT_OK(start(t, dir));
    return dir;
}

static const char *in(struct test *t, const char *dir, const char *name)
{
    return arena_printf(&t->arena, "%s/%s", dir, name);
}

TEST(a_fresh_directory_starts_and_starts_again)
{
    const char *dir = made(t, "data");

    ASSERT_OK(start(t, dir));
    ASSERT(access(in(t, dir, "making"), F_OK) < 0);
}

TEST(a_crash_while_the_files_are_made_is_no_loss)
{
    const char *dir = test_path(t, "data");
    AUTO(domain) journal = NULL;

    ASSERT_EQ(mkdir(dir, 0700), 0);
    ASSERT_OK(store_files_begin(dir, &t->err));
    journal = opened(t, dir, "journal");
    domain_free(TAKE(journal));
    ASSERT_OK(start(t, dir));
}

static void lose(const char *path)
{
    ASSERT_EQ(unlink(path), 0);
}

static void empty(const char *path)
{
    ASSERT_EQ(truncate(path, 0), 0);
}

static void cut(const char *path)
{
    ASSERT_EQ(truncate(path, 8192), 0);
}

static void cut_in_page(const char *path)
{
    struct stat st;

    ASSERT_EQ(stat(path, &st), 0);
    ASSERT_EQ(truncate(path, st.st_size - 100), 0);
}

static void cut_in_head(const char *path)
{
    ASSERT_EQ(truncate(path, 50), 0);
}

static void overwrite(const char *path)
{
    char text[4096];

    memset(text, 'x', sizeof(text));
    test_write_file(path, text, sizeof(text));
}

TEST(whatever_is_wrong_with_one_file_is_named_and_nothing_starts)
{
    static const struct {
        void (*harm)(const char *path);
        const char *says;
    } harms[] = {
        { lose, "is missing" },        { empty, "is empty" },
        { cut, "is cut off" },         { cut_in_page, "is cut off" },
        { cut_in_head, "is cut off" }, { overwrite, "is not a database" },
    };
    static const char *const names[] = { "journal.sqlite", "agent.sqlite" };

    for (size_t i = 0; i < ARRAY_LEN(harms); i++)
        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            const char *dir = made(t, arena_printf(&t->arena, "data-%zu-%zu", i, k));

            harms[i].harm(in(t, dir, names[k]));
            ASSERT_EQ(start(t, dir), -1);
            ASSERT_EQ(t->err.code, ERR_INTEGRITY_FAILED);
            ASSERT_CONTAINS(test_err_text(t), names[k]);
            ASSERT_CONTAINS(test_err_text(t), harms[i].says);
            ASSERT_CONTAINS(test_err_text(t), "dormouse restore");
            ASSERT_CONTAINS(test_err_text(t), "no backup of it is known");
        }
}

TEST(a_file_of_another_directory_is_named)
{
    const char *one = made(t, "one"), *other = made(t, "other");

    ASSERT_EQ(rename(in(t, other, "agent.sqlite"), in(t, one, "agent.sqlite")), 0);
    ASSERT_EQ(start(t, one), -1);
    ASSERT_EQ(t->err.code, ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "different data directories");
}

TEST(a_file_of_another_domain_is_named)
{
    const char *dir = made(t, "data");
    const struct domain_config how = {
        .name = "agent",
        .url = arena_printf(&t->arena, "sqlite:%s/journal.sqlite", dir),
        .migrations = migrations_agent,
        .migration_count = migrations_agent_count,
    };
    AUTO(domain) domain = NULL;

    ASSERT_FAILS(domain_open(&how, &domain, &t->err), ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "the database of another domain");
}

TEST(backups_that_are_still_there_are_named_newest_first)
{
    const char *dir = made(t, "data");

    for (int i = 0; i < 25; i++) {
        const char *path = test_path(t, arena_printf(&t->arena, "b%d.tar", i));

        test_write_file(path, "x", 1);
        store_files_note_backup(dir, path, INT64_C(1767225600000) + i);
    }
    lose(test_path(t, "b24.tar"));
    lose(in(t, dir, "agent.sqlite"));
    ASSERT_EQ(start(t, dir), -1);
    ASSERT_CONTAINS(test_err_text(t), "b23.tar (2026-01-01), ");
    if (strstr(test_err_text(t), "b24.tar"))
        FAIL("a backup that is gone is named: %s", test_err_text(t));
    ASSERT_CONTAINS(store_files_cure(dir, &t->arena), "b23.tar --data ");
}

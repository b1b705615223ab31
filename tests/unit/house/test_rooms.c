/* The rooms open together or not at all, and close in any state.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "db/migrations.h"
#include "harness/test.h"
#include "house/rooms.h"

struct site {
    struct loop *loop;
    struct domain *journal, *agent;
    struct rooms rooms;
};

static struct domain *open_domain(struct test *t, struct site *site, const char *name,
                                  const struct migration *migrations, size_t count)
{
    const char *file = arena_printf(&t->arena, "%s.sqlite", name);
    const struct domain_config how = {
        .name = name,
        .url = arena_printf(&t->arena, "sqlite:%s", test_path(t, file)),
        .migrations = migrations,
        .migration_count = count,
        .sync = DB_SYNC_NORMAL,
    };
    struct domain *domain;

    ASSERT_OK(domain_open(&how, &domain, &t->err));
    loop_attach(site->loop, domain);
    return domain;
}

static void site_open(struct test *t, struct site *site)
{
    *site = (struct site){ .rooms = ROOMS_INIT };
    ASSERT_OK(loop_new(NULL, &site->loop, &t->err));
    site->journal = open_domain(t, site, "journal", migrations_journal, migrations_journal_count);
    site->agent = open_domain(t, site, "agent", migrations_agent, migrations_agent_count);
}

static int site_wake(struct test *t, struct site *site, const char *name, const char *cwd)
{
    static const struct model_spec models[] = { { .id = "near", .provider = "offline" } };
    const struct rooms_config how = { .data_dir = test_dir(t),
                                      .loop = site->loop,
                                      .journal = site->journal,
                                      .agent = site->agent,
                                      .models = models,
                                      .model_count = 1,
                                      .agent_name = name,
                                      .agent_model = "near",
                                      .cwd = cwd };

    err_reset(&t->err);
    return rooms_open(&site->rooms, &how, &t->err);
}

static void site_close(struct site *site)
{
    site->rooms.loop = site->loop;
    rooms_release(&site->rooms);
    domain_free(site->agent);
    domain_free(site->journal);
}

static void write_policy(struct test *t, const char *text)
{
    test_write_file(test_path(t, "policy.yaml"), text, strlen(text));
}

static bool count_agent(void *arg, const struct agent *agent)
{
    (void)agent;
    ++*(unsigned *)arg;
    return true;
}

TEST(rooms_that_were_never_opened_are_released)
{
    struct rooms rooms = ROOMS_INIT;

    (void)t;
    rooms_stop(&rooms);
    rooms_release(&rooms);
    rooms_release(&rooms);
}

TEST(the_first_start_makes_somebody_to_talk_to_and_the_second_nobody_else)
{
    struct site site;
    struct agent agent;
    unsigned first = 0, second = 0;

    site_open(t, &site);
    ASSERT_OK(site_wake(t, &site, "Ada Lovelace", "/"));
    ASSERT_OK(agent_get(site.agent, STR("ada-lovelace"), &t->arena, &agent, &t->err));
    ASSERT_TEXT(agent.display_name, "Ada Lovelace");
    ASSERT_OK(agent_get(site.agent, STR(BUILDER_WIZARD_ID), &t->arena, &agent, &t->err));
    ASSERT_OK(agent_each(site.agent, count_agent, &first, &t->err));
    ASSERT_TEXT(site.rooms.cwd, "/");
    site_close(&site);

    site_open(t, &site);
    ASSERT_OK(site_wake(t, &site, "Grace", "/"));
    ASSERT_OK(agent_each(site.agent, count_agent, &second, &t->err));
    ASSERT_EQ(second, first);
    rooms_stop(&site.rooms);
    rooms_stop(&site.rooms);
    site_close(&site);
}

TEST(work_begins_where_the_process_is_unless_it_is_said)
{
    struct site site;

    ASSERT_EQ(chdir("/usr"), 0);
    site_open(t, &site);
    ASSERT_OK(site_wake(t, &site, "Ada", NULL));
    ASSERT_TEXT(site.rooms.cwd, "/usr");
    site_close(&site);
}

/* A guard that can't be read is no guard: nothing starts, and the file is named. */
TEST(a_policy_that_cant_be_meant_keeps_the_rooms_shut)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "guards: [", "policy.yaml" },
        { "nonsense: 1\n", "policy.yaml" },
        { "\xff\xfe", "policy.yaml" },
        { "- 1\n", "policy.yaml" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site site;

        write_policy(t, cases[i].text);
        site_open(t, &site);
        if (site_wake(t, &site, "Ada", "/") >= 0)
            FAIL("%s was taken for a policy", cases[i].text);
        ASSERT_CONTAINS(test_err_text(t), cases[i].says);
        ASSERT(site.rooms.runner == NULL);
        site_close(&site);
    }
}

TEST(a_policy_that_cant_be_opened_keeps_the_rooms_shut)
{
    struct site site;

    ASSERT_EQ(mkdir(test_path(t, "policy.yaml"), 0700), 0);
    site_open(t, &site);
    ASSERT(site_wake(t, &site, "Ada", "/") < 0);
    ASSERT_CONTAINS(test_err_text(t), "policy.yaml");
    ASSERT(t->err.code != ERR_NOT_FOUND);
    site_close(&site);
    ASSERT_EQ(rmdir(test_path(t, "policy.yaml")), 0);
    site_open(t, &site);
    ASSERT_OK(site_wake(t, &site, "Ada", "/"));
    ASSERT(site.rooms.policy == NULL);
    site_close(&site);
}

TEST(the_policy_that_comes_as_an_example_is_in_force_when_it_is_there)
{
    const char *path = arena_printf(&t->arena, "%s/share/policy.example.yaml", test_source_root());
    struct site site;

    write_policy(t, test_read_file(t, path).p);
    site_open(t, &site);
    ASSERT_OK(site_wake(t, &site, "Ada", "/"));
    ASSERT(site.rooms.policy != NULL);
    ASSERT_EQ(strlen(site.rooms.policy_hash), 64);
    ASSERT(str_eq(site.rooms.policy_text, test_read_file(t, path)));
    site_close(&site);
}

/* ---- directories ---- */

static int start_in(struct test *t, struct site *site, const char *cwd, struct run_info *ret_info)
{
    const struct run_request request = { .prompt = STR("hello"), .cwd = str_from(cwd) };

    err_reset(&t->err);
    return run_start(site->rooms.runner, &request, &t->arena, ret_info, &t->err);
}

static void put_settings(struct test *t, const char *dir, const char *text)
{
    const char *folder = arena_printf(&t->arena, "%s/.dormouse", test_path(t, dir));

    mkdir(test_path(t, dir), 0700);
    mkdir(folder, 0700);
    test_write_file(arena_printf(&t->arena, "%s/config.yaml", folder), text, strlen(text));
}

/* The rooms are open already, and their own directory is another one. */
TEST(a_directorys_file_holds_for_runs_there)
{
    struct run_info info;
    struct site site;

    site_open(t, &site);
    ASSERT_OK(site_wake(t, &site, "Ada", "/"));
    put_settings(t, "p", "sandbox: { limits: { timeout: 10s } }");
    mkdir(test_path(t, "p/sub"), 0700);
    ASSERT_OK(start_in(t, &site, test_path(t, "p/sub"), &info));
    put_settings(t, "p", "sandbox:\n  enabled: false\n");
    ASSERT_FAILS(start_in(t, &site, test_path(t, "p/sub"), &info), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t),
                    "/p/.dormouse/config.yaml:2:12: `sandbox.enabled` would loosen");
    ASSERT_OK(start_in(t, &site, test_dir(t), &info));
    /* By where it is, not by its name. */
    ASSERT_EQ(symlink(test_path(t, "p/sub"), test_path(t, "link")), 0);
    ASSERT_FAILS(start_in(t, &site, test_path(t, "link"), &info), ERR_BAD_REQUEST);
    site_close(&site);
}

TEST(folders_that_agents_may_not_read_are_not_watched)
{
    static const char *const denied[] = { "/no-home/.ssh", "/no-home/.gnupg/x", "/no-home/a/.env",
                                          "/no-home/.local/share/dormouse/files" };
    const char *before = getenv("HOME") ? arena_text(&t->arena, getenv("HOME")) : NULL;
    struct site site;

    setenv("HOME", "/no-home", 1);
    unsetenv("XDG_DATA_HOME");
    unsetenv("DORMOUSE_DATA");
    site_open(t, &site);
    ASSERT_OK(site_wake(t, &site, "Ada", "/"));
    for (size_t i = 0; i < ARRAY_LEN(denied); i++) {
        err_reset(&t->err);
        ASSERT_FAILS(waker_folder_check(site.rooms.waker, str_from(denied[i]), &t->err),
                     ERR_PATH_DENIED);
    }
    err_reset(&t->err);
    ASSERT_FAILS(waker_folder_check(site.rooms.waker, STR("/no-home/inbox"), &t->err),
                 ERR_NOT_FOUND);
    site_close(&site);
    if (before)
        setenv("HOME", before, 1);
}

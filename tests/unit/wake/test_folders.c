/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alert_rig.h"
#include "wake/folders_int.h"

struct watch {
    struct alert alert;
    struct folders *folders;
    const char *dir;
};

static void watch_start(struct watch *w)
{
    static const char *denied[3] = { NULL, ".secrets.txt" };

    denied[0] = test_path(w->alert.t, "data");
    denied[2] = arena_printf(&w->alert.t->arena, "%s/private.txt", w->dir);
    w->folders = folders_new(&(struct folders_config){ .loop = w->alert.loop,
                                                       .agent_domain = w->alert.agents,
                                                       .change = w->alert.change,
                                                       .rules = { .denied = denied, .count = 3 } });
    loop_fake_advance(w->alert.loop, 1);
}

static void watch_open(struct watch *w, struct test *t, const char *glob)
{
    char real[4096];

    alert_open(&w->alert, t);
    ASSERT(realpath(test_dir(t), real)); /* /tmp may be a link */
    w->dir = arena_printf(&t->arena, "%s/inbox", real);
    ASSERT_EQ(mkdir(w->dir, 0700), 0);
    alert_subscribe(&w->alert, alert_agent(&w->alert, "clerk", "[]"),
                    (struct subscription){ .source = WAKE_FILES,
                                           .folder = str_from(w->dir),
                                           .glob = str_from(glob),
                                           .prompt = STR("File it.") });
}

static void watch_close(struct watch *w)
{
    folders_free(w->folders);
    alert_stop(&w->alert);
}
#define AUTO_WATCH __attribute__((cleanup(watch_close))) struct watch

static void put(struct watch *w, const char *name, const char *text)
{
    test_write_file(arena_printf(&w->alert.t->arena, "%s/%s", w->dir, name), text, strlen(text));
}

static size_t wakes(struct watch *w, struct wake_job **ret_jobs)
{
    struct test *t = w->alert.t;
    struct wake_job *jobs;
    size_t count;

    loop_fake_tick(w->alert.loop);
    loop_fake_advance(w->alert.loop, 2000);
    ASSERT_OK(wake_list(w->alert.agents, &(struct wake_filter){ .limit = 500 }, &t->arena, &jobs,
                        &count, &t->err));
    if (ret_jobs)
        *ret_jobs = jobs;
    return count;
}

static const char *payload(struct watch *w, const struct wake_job *job)
{
    return arena_copy(&w->alert.t->arena, job->payload.p, job->payload.n);
}

DB_TEST(a_file_that_is_written_wakes_once_for_each_state)
{
    AUTO_WATCH w = { 0 };
    struct wake_job *jobs;

    watch_open(&w, t, NULL);
    put(&w, "old.txt", "was there before");
    watch_start(&w);
    ASSERT_EQ(folders_counts(w.folders).watched, 1);
    ASSERT_EQ(wakes(&w, NULL), 0);
    put(&w, "a.txt", "one");
    put(&w, "a.txt", "two"); /* within the quiet time */
    ASSERT_EQ(wakes(&w, &jobs), 1);
    ASSERT_STR(jobs[0].agent_id, "clerk");
    ASSERT_CONTAINS(payload(&w, &jobs[0]), "/inbox/a.txt\",\"change\":\"changed\",\"size\":3");
    ASSERT_CONTAINS(payload(&w, &jobs[0]), "\"taint\":\"file\"");
    ASSERT_CONTAINS(payload(&w, &jobs[0]), "\"prompt\":\"File it.\"");
    put(&w, "a.txt", "three!");
    ASSERT_EQ(wakes(&w, NULL), 2);
    ASSERT_EQ(wakes(&w, NULL), 2);
}

DB_TEST(moves_and_deletions_wake_and_passing_files_do_not)
{
    AUTO_WATCH w = { 0 };
    struct wake_job *jobs;
    const char *outside;

    watch_open(&w, t, NULL);
    watch_start(&w);
    outside = test_path(t, "outside.txt");
    test_write_file(outside, "x", 1);
    ASSERT_EQ(rename(outside, arena_printf(&t->arena, "%s/in.txt", w.dir)), 0);
    ASSERT_EQ(wakes(&w, &jobs), 1);
    ASSERT_CONTAINS(payload(&w, &jobs[0]), "in.txt\",\"change\":\"changed\"");
    ASSERT_EQ(unlink(arena_printf(&t->arena, "%s/in.txt", w.dir)), 0);
    ASSERT_EQ(wakes(&w, &jobs), 2);
    ASSERT_CONTAINS(payload(&w, &jobs[0]), "in.txt\",\"change\":\"deleted\"");
    /* an editor's way of writing */
    put(&w, "draft.tmp", "x");
    ASSERT_EQ(rename(arena_printf(&t->arena, "%s/draft.tmp", w.dir),
                     arena_printf(&t->arena, "%s/draft.txt", w.dir)),
              0);
    ASSERT_EQ(wakes(&w, &jobs), 3);
    ASSERT_CONTAINS(payload(&w, &jobs[0]), "draft.txt");
}

DB_TEST(only_files_that_are_asked_for_wake)
{
    AUTO_WATCH w = { 0 };
    struct wake_job *jobs;

    watch_open(&w, t, "*.txt");
    watch_start(&w);
    put(&w, "a.md", "x");
    put(&w, ".hidden.txt", "x");
    ASSERT_EQ(mkdir(arena_printf(&t->arena, "%s/folder.txt", w.dir), 0700), 0);
    ASSERT_EQ(symlink("/etc/passwd", arena_printf(&t->arena, "%s/link.txt", w.dir)), 0);
    put(&w, "odd \"name\".txt", "x");
    loop_fake_advance(w.alert.loop, 120000);
    ASSERT_EQ(wakes(&w, &jobs), 1);
    ASSERT_CONTAINS(payload(&w, &jobs[0]), "odd \\\"name\\\".txt");
}

DB_TEST(what_changed_while_nobody_watched_is_found)
{
    AUTO_WATCH w = { 0 };

    watch_open(&w, t, NULL);
    put(&w, "before.txt", "x");
    watch_start(&w);
    put(&w, "seen.txt", "x");
    ASSERT_EQ(wakes(&w, NULL), 1);
    folders_free(TAKE(w.folders));
    alert_stop(&w.alert);

    put(&w, "missed.txt", "x");
    alert_start(&w.alert);
    watch_start(&w);
    ASSERT_EQ(wakes(&w, NULL), 2);
    /* and once */
    folders_free(TAKE(w.folders));
    alert_stop(&w.alert);
    alert_start(&w.alert);
    watch_start(&w);
    ASSERT_EQ(wakes(&w, NULL), 2);
}

/* Is a scan under way? */
static bool scanning(struct watch *w)
{
    map_each (&w->folders->folders, entry)
        if (folder_has_scan(entry->value))
            return true;
    return false;
}

DB_TEST(a_large_folder_is_read_in_several_ticks)
{
    AUTO_WATCH w = { 0 };
    int ticks = 0;

    watch_open(&w, t, NULL);
    for (int i = 0; i < 3 * FOLDER_SCAN_STEP; i++)
        put(&w, arena_printf(&t->arena, "old%d", i), "x");
    watch_start(&w);
    ASSERT_EQ(wakes(&w, NULL), 0);
    folders_free(TAKE(w.folders));
    alert_stop(&w.alert);

    for (int i = 0; i < 30; i++)
        put(&w, arena_printf(&t->arena, "new%d", i), "x");
    alert_start(&w.alert);
    w.folders = folders_new(&(struct folders_config){
        .loop = w.alert.loop, .agent_domain = w.alert.agents, .change = w.alert.change });
    do {
        loop_fake_tick(w.alert.loop);
        ticks++;
    } while (scanning(&w) && ticks < 100);
    ASSERT(ticks > 3 && ticks < 100);
    ASSERT_EQ(wakes(&w, NULL), 30);
    ASSERT(!scanning(&w));
}

DB_TEST(folders_are_watched_as_subscriptions_say)
{
    AUTO_WATCH w = { 0 };
    struct subscription *s;
    struct alert *a = &w.alert;

    watch_open(&w, t, NULL);
    watch_start(&w);
    s = alert_subscribe(
        a, alert_agent(a, "other", "[]"),
        (struct subscription){ .source = WAKE_FILES,
                               .folder = str_from(arena_printf(&t->arena, "%s/later", w.dir)) });
    folders_look(w.folders);
    loop_fake_tick(a->loop);
    ASSERT_EQ(folders_counts(w.folders).missing, 1);
    /* it comes to be */
    ASSERT_EQ(mkdir(arena_printf(&t->arena, "%s/later", w.dir), 0700), 0);
    loop_fake_advance(a->loop, 31000);
    ASSERT_EQ(folders_counts(w.folders).watched, 2);
    put(&w, "later/x.txt", "x");
    ASSERT_EQ(wakes(&w, NULL), 1);
    /* it goes, and comes again */
    ASSERT_EQ(rename(arena_printf(&t->arena, "%s/later", w.dir), test_path(t, "gone")), 0);
    loop_fake_tick(a->loop);
    loop_fake_advance(a->loop, 100);
    ASSERT_EQ(folders_counts(w.folders).missing, 1);
    alert_begin(a);
    ASSERT_OK(subscription_remove(a->agents, a->change, s->id, alert_now(a), &t->err));
    alert_end(a);
    folders_look(w.folders);
    loop_fake_tick(a->loop);
    ASSERT_EQ(folders_counts(w.folders).missing, 0);
    ASSERT_EQ(folders_counts(w.folders).watched, 1);
}

DB_TEST(many_files_at_once_all_wake)
{
    AUTO_WATCH w = { 0 };

    watch_open(&w, t, NULL);
    watch_start(&w);
    for (int i = 0; i < 450; i++)
        put(&w, arena_printf(&t->arena, "f%d", i), "x");
    ASSERT_EQ(wakes(&w, NULL), 450);
}

/* ---- where nothing is watched ---- */

TEST(folders_that_may_not_be_watched_are_refused)
{
    char real[4096];
    const char *data, *inside, *link, *beside;
    const char *denied[1];
    struct folder_rules rules = { .denied = denied, .count = 1 };

    ASSERT(realpath(test_dir(t), real));
    data = arena_printf(&t->arena, "%s/data", real);
    inside = arena_printf(&t->arena, "%s/data/files", real);
    beside = arena_printf(&t->arena, "%s/database", real);
    link = arena_printf(&t->arena, "%s/link", real);
    denied[0] = data;
    ASSERT_EQ(mkdir(data, 0700), 0);
    ASSERT_EQ(mkdir(inside, 0700), 0);
    ASSERT_EQ(mkdir(beside, 0700), 0);
    ASSERT_EQ(symlink(inside, link), 0);
    ASSERT_OK(folder_check(&rules, str_from(beside), &t->err));
    ASSERT_FAILS(folder_check(&rules, str_from(data), &t->err), ERR_PATH_DENIED);
    t->err = ERR_INIT;
    ASSERT_FAILS(folder_check(&rules, str_from(inside), &t->err), ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "which is not watched");
    t->err = ERR_INIT;
    ASSERT_FAILS(folder_check(&rules, str_from(link), &t->err), ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "it is a symbolic link, and links are not followed");
    t->err = ERR_INIT;
    ASSERT_FAILS(folder_check(&rules, str_from(arena_printf(&t->arena, "%s/x/y", link)), &t->err),
                 ERR_PATH_DENIED); /* neither is what is not there yet */
    ASSERT_CONTAINS(test_err_text(t), "leads through a symbolic link");
    t->err = ERR_INIT;
    ASSERT_FAILS(folder_check(&rules, str_from(arena_printf(&t->arena, "%s/none", data)), &t->err),
                 ERR_PATH_DENIED);
    t->err = ERR_INIT;
    ASSERT_FAILS(folder_check(&rules, STR("/etc/passwd"), &t->err), ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "/etc/passwd: it is a file");
    t->err = ERR_INIT;
    ASSERT_EQ(symlink(real, arena_printf(&t->arena, "%s/up", beside)), 0);
    ASSERT_FAILS(
        folder_check(&rules, str_from(arena_printf(&t->arena, "%s/up/database", beside)), &t->err),
        ERR_PATH_DENIED);
    ASSERT_CONTAINS(test_err_text(t), "leads through a symbolic link");
    t->err = ERR_INIT;
    ASSERT_FAILS(folder_check(&rules, str_from(arena_printf(&t->arena, "%s/none", real)), &t->err),
                 ERR_NOT_FOUND);
    t->err = ERR_INIT;
    ASSERT_FAILS(folder_check(&rules, STR("tmp"), &t->err), ERR_BAD_REQUEST);
    t->err = ERR_INIT;
    ASSERT_FAILS(folder_check(&rules, STR("/tmp\0x"), &t->err), ERR_BAD_REQUEST);
    /* a denied place that is itself reached by a link is denied where it lies */
    denied[0] = link;
    t->err = ERR_INIT;
    ASSERT_FAILS(folder_check(&rules, str_from(inside), &t->err), ERR_PATH_DENIED);
}

/* As the settings write it: home by `~`, a name for every file of that name, relative ones. */
TEST(places_are_denied_however_the_settings_name_them)
{
    static const char *const denied[] = { "~/.ssh", ".env", "./private" };
    static const struct {
        const char *folder;
        bool watched;
    } cases[] = {
        { "home/.ssh", false }, { "home/.ssh/keys", false }, { "home/keys", false },
        { "home/.env", false }, { "home/.ENV", false },      { "home/private", true },
        { "private", false },   { "private/deep", false },   { "home", true },
        { "home/.sshd", true }, { "home/.env2", true },
    };
    const char *before = getenv("HOME") ? arena_text(&t->arena, getenv("HOME")) : NULL;
    char real[4096];
    const struct folder_rules rules = { .denied = denied,
                                        .count = ARRAY_LEN(denied),
                                        .base = real };

    ASSERT(realpath(test_dir(t), real));
    setenv("HOME", test_path(t, "home"), 1);
    mkdir(test_path(t, "home"), 0700);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        mkdir(test_path(t, cases[i].folder), 0700);
    mkdir(test_path(t, "home/.ssh/keys"), 0700);
    mkdir(test_path(t, "private/deep"), 0700);
    /* The denied place is a link: what it leads to is denied, too. */
    rmdir(test_path(t, "home/.ssh/keys"));
    rmdir(test_path(t, "home/.ssh"));
    ASSERT_EQ(symlink("keys", test_path(t, "home/.ssh")), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *folder = arena_printf(&t->arena, "%s/%s", real, cases[i].folder);

        t->err = ERR_INIT;
        if ((folder_check(&rules, str_from(folder), &t->err) == 0) != cases[i].watched)
            FAIL("%s: %s", folder, cases[i].watched ? test_err_text(t) : "it would be watched");
    }
    if (before)
        setenv("HOME", before, 1);
    else
        unsetenv("HOME");
}

DB_TEST(a_denied_file_wakes_nobody)
{
    AUTO_WATCH w = { 0 };

    watch_open(&w, t, ".*");
    put(&w, ".secrets.txt", "before"); /* found by the scan */
    watch_start(&w);
    put(&w, ".Secrets.txt", "after");
    put(&w, ".other.txt", "x");
    ASSERT_EQ(wakes(&w, NULL), 1);
    alert_subscribe(&w.alert, alert_agent(&w.alert, "porter", "[]"),
                    (struct subscription){ .source = WAKE_FILES, .folder = str_from(w.dir) });
    put(&w, "private.txt", "x");
    put(&w, "public.txt", "x");
    ASSERT_EQ(wakes(&w, NULL), 2);
}

DB_TEST(a_folder_in_the_data_directory_is_not_watched_whatever_was_stored)
{
    AUTO_WATCH w = { 0 };
    struct alert *a = &w.alert;

    watch_open(&w, t, NULL);
    ASSERT_EQ(mkdir(test_path(t, "data"), 0700), 0);
    alert_subscribe(
        a, alert_agent(a, "spy", "[]"),
        (struct subscription){ .source = WAKE_FILES, .folder = str_from(test_path(t, "data")) });
    watch_start(&w);
    ASSERT_EQ(folders_counts(w.folders).watched, 1);
    ASSERT_EQ(folders_counts(w.folders).missing, 1);
}

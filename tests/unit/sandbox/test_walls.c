/* What bubblewrap is told, without starting it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "harness/test.h"
#include "sandbox/walls.h"

static const struct walls_how how = { .own = NULL };

static const char *real_dir(struct test *t, const char *name)
{
    char *real;

    mkdir(test_path(t, name), 0755);
    real = realpath(test_path(t, name), NULL);
    ASSERT(real);
    name = arena_text(&t->arena, real);
    free(real);
    return name;
}

/* Where this run of arguments begins, -1 when it is not there. */
static int find(const struct walls *w, const char *a, const char *b, const char *c)
{
    for (size_t i = 0; i + 2 < w->args.n; i++)
        if (strcmp(w->args.items[i], a) == 0 && strcmp(w->args.items[i + 1], b) == 0 &&
            (!c || strcmp(w->args.items[i + 2], c) == 0))
            return (int)i;
    return -1;
}

TEST(denied_places_come_after_writable_ones)
{
    const char *home = real_dir(t, "home");
    const char *keys = real_dir(t, "home/keys");
    const char *const write[] = { "~", NULL }, *const deny[] = { "~/keys", NULL };
    AUTO_WALLS w = { .cwd = NULL };

    ASSERT_OK(walls_build(&(struct sandbox_spec){ .cwd = home,
                                                  .home = home,
                                                  .allow_write = write,
                                                  .deny_read = deny,
                                                  .allow_home = true },
                          &how, &w, &t->err));
    ASSERT(find(&w, "--bind", home, home) >= 0);
    ASSERT(find(&w, "--tmpfs", keys, NULL) > find(&w, "--bind", home, home));
    ASSERT(find(&w, "--remount-ro", keys, NULL) > find(&w, "--tmpfs", keys, NULL));
}

TEST(a_writable_place_below_a_denied_one_is_not_bound)
{
    const char *home = real_dir(t, "home");
    const char *keys = real_dir(t, "home/keys"), *below = real_dir(t, "home/keys/below");
    const char *const write[] = { "~/keys/below", NULL }, *const deny[] = { "~/keys", NULL };
    AUTO_WALLS w = { .cwd = NULL };

    ASSERT_OK(walls_build(&(struct sandbox_spec){ .cwd = home,
                                                  .home = home,
                                                  .allow_write = write,
                                                  .deny_read = deny,
                                                  .allow_home = true },
                          &how, &w, &t->err));
    ASSERT(find(&w, "--bind", below, below) < 0);
    ASSERT(find(&w, "--tmpfs", keys, NULL) >= 0);
}

TEST(names_are_found_below_the_writable_places)
{
    const char *home = real_dir(t, "home"), *deep;
    const char *const write[] = { ".", NULL }, *const deny[] = { ".env", NULL };
    AUTO_WALLS w = { .cwd = NULL };

    real_dir(t, "home/a");
    real_dir(t, "home/a/b");
    real_dir(t, "home/node_modules");
    test_write_file(test_path(t, "home/a/b/.env"), "x", 1);
    test_write_file(test_path(t, "home/node_modules/.env"), "x", 1);
    test_write_file(test_path(t, "home/a/env"), "x", 1);
    ASSERT_EQ(symlink("nowhere", test_path(t, "home/a/.env")), 0);
    ASSERT_OK(walls_build(&(struct sandbox_spec){ .cwd = home,
                                                  .home = home,
                                                  .allow_write = write,
                                                  .deny_read = deny,
                                                  .allow_home = true },
                          &how, &w, &t->err));
    deep = arena_printf(&t->arena, "%s/a/b/.env", home);
    ASSERT(find(&w, "--ro-bind", "/dev/null", deep) >= 0);
    deep = arena_printf(&t->arena, "%s/node_modules/.env", home);
    ASSERT(find(&w, "--ro-bind", "/dev/null", deep) >= 0);
    /* The link that leads nowhere leads to nothing that could be covered. */
    ASSERT_EQ(w.found.n, 2);
    ASSERT(!w.names_cut);
    ASSERT_EQ(w.deny_names.n, 1);
}

TEST(specifications_that_can_not_be_are_refused)
{
    const char *home = real_dir(t, "home");
    static const char *const proc[] = { "/proc", NULL }, *const root[] = { "/", NULL };
    static const char *const dots[] = { "absent/../../x", NULL };
    const char *const here[] = { ".", NULL }, *const itself[] = { "./", NULL };
    const struct {
        struct sandbox_spec spec;
        enum err_code code;
    } specs[] = {
        { { .cwd = "relative" }, ERR_BAD_REQUEST },
        { { .cwd = NULL }, ERR_BAD_REQUEST },
        { { .cwd = "/nowhere/at/all" }, ERR_NOT_FOUND },
        { { .cwd = home, .allow_write = proc }, ERR_BAD_REQUEST },
        { { .cwd = home, .allow_write = dots }, ERR_BAD_REQUEST },
        { { .cwd = home, .deny_read = root }, ERR_BAD_REQUEST },
        { { .cwd = home, .deny_read = itself }, ERR_BAD_REQUEST },
        { { .cwd = home, .data_dir = home }, ERR_BAD_REQUEST },
    };

    (void)here;
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        AUTO_WALLS w = { .cwd = NULL };

        ASSERT_FAILS(walls_build(&specs[i].spec, &how, &w, &t->err), specs[i].code);
        err_reset(&t->err);
    }
}

/* ".." behind what is not there may mean anything once it is. */
TEST(no_place_climbs_out_of_what_is_not_there)
{
    static const char *const places[] = {
        "absent/..",           "absent/../x",         "absent/x/..", "absent/x/../..",
        "absent/../",          "~/absent/..",         "/absent/..",  "/absent/../etc",
        "/absent/../../etc/x", "/absent/x/../../etc",
    };
    const char *home = real_dir(t, "home");

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const char *const list[] = { places[i], NULL };
        AUTO_WALLS writing = { .cwd = NULL };
        AUTO_WALLS reading = { .cwd = NULL };

        if (walls_build(
                &(struct sandbox_spec){
                    .cwd = home, .home = home, .allow_write = list, .allow_home = true },
                &how, &writing, &t->err) == 0)
            FAIL("%s may be written", places[i]);
        ASSERT_CONTAINS(err_message(&t->err, 0), places[i]);
        err_reset(&t->err);
        if (walls_build(&(struct sandbox_spec){ .cwd = home, .home = home, .deny_read = list },
                        &how, &reading, &t->err) == 0)
            FAIL("%s is denied", places[i]);
        ASSERT_CONTAINS(err_message(&t->err, 0), places[i]);
        err_reset(&t->err);
    }
}

TEST(names_that_only_look_like_climbing_are_names)
{
    static const char *const places[] = { "absent/..x", "absent/x..", "/absent/...", "x/../absent",
                                          "." };
    const char *home = real_dir(t, "home");

    real_dir(t, "home/x");
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const char *const list[] = { places[i], NULL };
        AUTO_WALLS w = { .cwd = NULL };

        ASSERT_OK(walls_build(
            &(struct sandbox_spec){
                .cwd = home, .home = home, .allow_write = list, .allow_home = true },
            &how, &w, &t->err));
        ASSERT_EQ(w.allow_write.n, strcmp(places[i], ".") == 0);
    }
}

TEST(so_many_places_and_no_more_are_named)
{
    static const struct {
        bool deny;
        size_t n;
        bool fits;
    } counts[] = {
        { false, WALLS_PATHS_MAX, true },
        { false, WALLS_PATHS_MAX + 1, false },
        { true, WALLS_PATHS_MAX / 2, true },
        { true, WALLS_PATHS_MAX / 2 + 1, false },
    };
    const char *home = real_dir(t, "home");

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        const char *list[WALLS_PATHS_MAX + 2] = { NULL };
        struct sandbox_spec spec = { .cwd = home, .home = home };
        AUTO_WALLS w = { .cwd = NULL };

        for (size_t k = 0; k < counts[i].n; k++)
            list[k] = "/absent";
        *(counts[i].deny ? &spec.deny_read : &spec.allow_write) = list;
        if (counts[i].fits)
            ASSERT_OK(walls_build(&spec, &how, &w, &t->err));
        else
            ASSERT_FAILS(walls_build(&spec, &how, &w, &t->err), ERR_TOO_LARGE);
    }
}

TEST(a_place_that_is_not_there_is_left_out)
{
    const char *home = real_dir(t, "home");
    const char *const write[] = { "absent", NULL }, *const deny[] = { "~/absent/too", NULL };
    AUTO_WALLS w = { .cwd = NULL };

    ASSERT_OK(walls_build(&(struct sandbox_spec){ .cwd = home,
                                                  .home = home,
                                                  .allow_write = write,
                                                  .deny_read = deny,
                                                  .allow_home = true },
                          &how, &w, &t->err));
    ASSERT_EQ(w.allow_write.n, 0);
    ASSERT(find(&w, "--tmpfs", arena_printf(&t->arena, "%s/absent/too", home), NULL) < 0);
}

TEST(settings_are_denied_also_where_there_are_none_and_nothing_is_made)
{
    const char *home = real_dir(t, "home");
    const char *own = arena_printf(&t->arena, "%s/.dormouse", home);
    const char *const write[] = { ".", NULL };
    AUTO_WALLS w = { .cwd = NULL };

    ASSERT_OK(walls_build(&(struct sandbox_spec){ .cwd = home, .allow_write = write }, &how, &w,
                          &t->err));
    ASSERT_TEXT(w.deny_write.items[0], own);
    ASSERT(find(&w, "--ro-bind", own, own) < 0);
    ASSERT(access(own, F_OK) < 0);
}

TEST(settings_behind_a_link_are_bound_where_they_are)
{
    const char *home = real_dir(t, "home"), *shared = real_dir(t, "shared");
    const char *own = arena_printf(&t->arena, "%s/.dormouse", home);
    const char *const write[] = { ".", shared, NULL };
    AUTO_WALLS w = { .cwd = NULL };

    ASSERT_EQ(symlink(shared, own), 0);
    ASSERT_OK(walls_build(&(struct sandbox_spec){ .cwd = home, .allow_write = write }, &how, &w,
                          &t->err));
    ASSERT(find(&w, "--ro-bind", own, own) < 0);
    ASSERT(find(&w, "--ro-bind", shared, shared) >= 0);
}

/* Between the judgement and the walls somebody put a link there. */
TEST(a_place_that_became_a_link_is_refused)
{
    const char *home = real_dir(t, "home"), *out = real_dir(t, "home/out");
    const char *socket = arena_printf(&t->arena, "%s/socket", home);
    const char *const list[] = { out, NULL }, *const sockets[] = { socket, NULL };
    const struct {
        const char *what;
        struct sandbox_spec spec;
    } cases[] = {
        { "the writable place", { .cwd = home, .allow_write = list, .resolved = true } },
        { "the working directory", { .cwd = out, .resolved = true } },
        { "the socket", { .cwd = home, .allow_unix_sockets = sockets, .resolved = true } },
    };

    ASSERT_EQ(mknod(socket, S_IFSOCK | 0600, 0), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_WALLS w = { .cwd = NULL };

        ASSERT_OK(walls_build(&cases[i].spec, &how, &w, &t->err));
    }
    rmdir(out);
    ASSERT_EQ(symlink("..", out), 0);
    ASSERT_EQ(rename(socket, arena_printf(&t->arena, "%s/other", home)), 0);
    ASSERT_EQ(symlink("other", socket), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_WALLS w = { .cwd = NULL };

        err_reset(&t->err);
        ASSERT_FAILS(walls_build(&cases[i].spec, &how, &w, &t->err), ERR_PATH_DENIED);
        ASSERT_CONTAINS(test_err_text(t), cases[i].what);
        ASSERT_CONTAINS(test_err_text(t), "has become a link to");
    }
}

/* Links are resolved by the keeper: what the hand is told are real paths. */
TEST(writable_places_reach_the_hand_as_real_paths)
{
    const char *home = real_dir(t, "home"), *far = real_dir(t, "far");
    const char *link = arena_printf(&t->arena, "%s/link", home);
    const char *const write[] = { "link", "link/../far", "./link/", NULL };
    AUTO_WALLS w = { .cwd = NULL };

    ASSERT_EQ(symlink(far, link), 0);
    ASSERT_OK(walls_build(&(struct sandbox_spec){ .cwd = home, .allow_write = write }, &how, &w,
                          &t->err));
    ASSERT_EQ(w.allow_write.n, 3);
    for (size_t i = 0; i < w.allow_write.n; i++)
        ASSERT_TEXT(w.allow_write.items[i], far);
}

TEST(with_walls_off_nothing_is_built_or_made)
{
    const char *home = real_dir(t, "home");
    const char *const write[] = { ".", NULL };
    AUTO_WALLS w = { .cwd = NULL };

    ASSERT_OK(walls_build(&(struct sandbox_spec){ .cwd = home, .allow_write = write, .off = true },
                          &how, &w, &t->err));
    ASSERT_EQ(w.args.n, 0);
    ASSERT_EQ(w.allow_write.n, 1);
    ASSERT(w.deny_write.n > 1);
}

TEST(a_system_without_bubblewrap_says_what_to_install)
{
    ASSERT_EQ(setenv("PATH", "/nowhere", 1), 0);
    ASSERT_FAILS(sandbox_available(&t->err), ERR_SANDBOX_UNAVAILABLE);
    ASSERT_CONTAINS(err_message(&t->err, 0), "apt install bubblewrap");
    /* Kept. */
    ASSERT_FAILS(sandbox_available(&t->err), ERR_SANDBOX_UNAVAILABLE);
}

TEST(a_bubblewrap_that_an_agent_may_have_made_is_not_run)
{
    const char *home = real_dir(t, "home"), *bin = real_dir(t, "home/bin");
    const char *fake = arena_printf(&t->arena, "%s/bwrap", bin);
    const char *const write[] = { ".", NULL };
    AUTO_WALLS w = { .cwd = NULL };

    test_write_file(fake, "#!/bin/sh\n", 10);
    ASSERT_EQ(chmod(fake, 0755), 0);
    ASSERT_EQ(setenv("PATH", bin, 1), 0);
    ASSERT_FAILS(
        walls_build(&(struct sandbox_spec){ .cwd = home, .allow_write = write }, &how, &w, &t->err),
        ERR_SANDBOX_UNAVAILABLE);
    ASSERT_CONTAINS(err_message(&t->err, 0), "take it off PATH");
}

TEST(a_bubblewrap_that_fails_is_quoted)
{
    static const char script[] =
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n";

    test_write_file(test_path(t, "bwrap"), script, strlen(script));
    ASSERT_EQ(chmod(test_path(t, "bwrap"), 0755), 0);
    ASSERT_EQ(setenv("PATH", test_dir(t), 1), 0);
    ASSERT_FAILS(sandbox_available(&t->err), ERR_SANDBOX_UNAVAILABLE);
    ASSERT_CONTAINS(err_message(&t->err, 0), "No permissions to create new namespace");
    ASSERT_CONTAINS(err_message(&t->err, 0), "unprivileged_userns_clone");
}

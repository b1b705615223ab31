/* Files that tools outside obey without asking: git's hooks and settings, editors' tasks, shells'
 * start files. Nothing inside can plant one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rig.h"
#include "sandbox/guarded.h"

/* As a person would, outside. */
static void outside(struct rig *rig, const char *command)
{
    struct test *t = rig->t;
    const char *whole = arena_printf(&t->arena,
                                     "cd '%s' && export HOME='%s' GIT_CONFIG_NOSYSTEM=1 && (%s) "
                                     ">/dev/null 2>&1",
                                     rig->project, rig->home, command);

    if (system(whole) != 0) /* NOLINT(cert-env33-c): a test's own words */
        FAIL("%s", command);
}

static bool is_there(struct rig *rig, const char *name)
{
    struct stat st;

    return lstat(arena_printf(&rig->t->arena, "%s/%s", rig->project, name), &st) == 0;
}

#define MAKE_REPOSITORY                                                                            \
    "git init -q . && git config user.name me && git config user.email me@example.org && "         \
    "git commit -q --allow-empty -m first"

static void init_repository(struct rig *rig, struct test *t)
{
    rig_init(rig, t);
    outside(rig, MAKE_REPOSITORY);
}

/* Each way to make a name, with NAME for it. */
static const char *const ways[] = {
    "echo x > NAME",
    "mkdir NAME",
    "mkdir -p NAME/deep",
    "echo x > plain-$$; mv plain-$$ NAME",
    "echo x > plain-$$; ln plain-$$ NAME",
    "ln -s readme NAME",
    "rm -f away; ln -s NAME away; echo x > away",
    "echo x > /proc/self/cwd/NAME",
    "ln -sfn /proc/self/cwd here; echo x > here/NAME",
    "cd sub && echo x > ../NAME",
    "mkfifo NAME",
    "python3 -c 'import os; d = os.open(\".\", os.O_RDONLY); "
    "os.close(os.open(\"NAME\", os.O_CREAT | os.O_WRONLY, dir_fd=d))'",
};

static const char *with_name(struct rig *rig, const char *way, const char *name)
{
    struct test *t = rig->t;
    const char *at;
    char *out = arena_text(&t->arena, "");

    while ((at = strstr(way, "NAME"))) {
        out = arena_printf(&t->arena, "%s%.*s%s", out, (int)(at - way), way, name);
        way = at + 4;
    }
    return arena_printf(&t->arena, "%s%s", out, way);
}

TEST(no_guarded_name_can_be_made_in_any_way)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig, "mkdir sub");
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        rig_bash(&rig, with_name(&rig, ways[i], ".envrc"));
        if (rig_exit(&rig) == 0 || is_there(&rig, ".envrc"))
            FAIL("%s: %s", ways[i], rig.text);
    }
    ASSERT(rig_noticed(&rig, "settings: .envrc by"));
    rig_end(&rig);
}

/* A program that changes the path while it is looked at may win, and has nothing of it. */
TEST(a_race_for_a_guarded_name_leaves_nothing)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig, arena_printf(&t->arena, "%s race .envrc", rig_probe(&rig)));
    printf("  the race was %s\n", rig_text(&rig, "limit")[0] ? "won, and set aside" : "lost");
    ASSERT(!is_there(&rig, ".envrc"));
    rig_end(&rig);
}

TEST(every_guarded_name_is_refused_and_leaves_nothing)
{
    struct rig rig;

    rig_init(&rig, t);
    for (size_t i = 0; guarded_names[i]; i++) {
        rig_bash(&rig, arena_printf(&t->arena, "echo x > '%s'", guarded_names[i]));
        if (rig_exit(&rig) == 0)
            FAIL("%s could be made", guarded_names[i]);
        rig_bash(&rig, arena_printf(&t->arena, "mkdir '%s'", guarded_names[i]));
        if (rig_exit(&rig) == 0)
            FAIL("the directory %s could be made", guarded_names[i]);
        rig_call(&rig, "write_file",
                 arena_printf(&t->arena, "{\"path\":\"%s\",\"content\":\"x\"}", guarded_names[i]));
        ASSERT_EQ(rig.err.code, ERR_PATH_DENIED);
    }
    ASSERT_TEXT(rig_bash(&rig, "ls -A"), ".env\nreadme\n");
    rig_end(&rig);
    for (size_t i = 0; guarded_names[i]; i++)
        if (is_there(&rig, guarded_names[i]))
            FAIL("%s was left behind", guarded_names[i]);
}

TEST(what_is_there_can_not_be_changed_or_replaced)
{
    static const char *const tries[] = {
        "echo x >> .vscode/tasks.json",
        "echo x > .vscode/new",
        "mv .vscode away",
        "rm -r .vscode",
        "mkdir v && mv -T v .vscode",
        "echo x >> .envrc",
        "rm .envrc",
        "echo x > y; mv y .envrc",
        "chmod 777 .envrc",
    };
    struct rig rig;

    rig_init(&rig, t);
    outside(&rig, "mkdir .vscode; echo '{}' > .vscode/tasks.json; echo true > .envrc");
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        rig_bash(&rig, tries[i]);
        if (rig_exit(&rig) == 0)
            FAIL("%s: %s", tries[i], rig.text);
    }
    ASSERT_TEXT(rig_bash(&rig, "cat .vscode/tasks.json .envrc"), "{}\ntrue\n");
    rig_end(&rig);
}

TEST(git_runs_nothing_that_a_command_planted)
{
    static const char *const tries[] = {
        "git config core.fsmonitor 'touch pwned'",
        "git config --worktree core.hooksPath /tmp",
        "echo '[core]' >> .git/config",
        "echo 'touch pwned' > .git/hooks/post-commit",
        "mv .git/hooks .git/other",
        "mv .git .git2",
        "rm -rf .git/hooks",
        "echo ../x > .git/commondir",
        "cp .git/config .git/config.worktree",
        "ln -f .git/config c && echo x >> c",
    };
    struct rig rig;

    init_repository(&rig, t);
    outside(&rig, "mkdir inner && cd inner && " MAKE_REPOSITORY);
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
        for (int k = 0; k < 2; k++) {
            rig_bash(&rig, arena_printf(&t->arena, "cd %s/%s; %s", rig.project, k ? "inner" : ".",
                                        tries[i]));
            if (rig_exit(&rig) == 0)
                FAIL("%s: %s", tries[i], rig.text);
        }
    rig_bash(&rig, arena_printf(&t->arena, "cd %s/inner; echo x > .envrc", rig.project));
    ASSERT(rig_exit(&rig) != 0);
    rig_end(&rig);
    outside(&rig, "git status && git commit --allow-empty -m second && test ! -e pwned");
}

TEST(git_works_as_usual)
{
    struct rig rig;

    init_repository(&rig, t);
    rig_bash(&rig, "set -e; export GIT_CONFIG_NOSYSTEM=1; echo a > a; git add a; git commit -qm a; "
                   "git checkout -q -b topic; echo b >> a; git commit -qam b; git tag t; "
                   "git stash list; git checkout -q -; git merge -q topic; git gc -q; "
                   "git log --oneline | wc -l; git status --short a");
    if (rig_exit(&rig) != 0)
        FAIL("%s", rig.text);
    ASSERT_CONTAINS(rig_text(&rig, "output"), "3\n");
    rig_end(&rig);
}

TEST(what_is_made_deeper_is_set_aside_and_reported)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig,
             "mkdir -p deep/x/.vscode; echo x > deep/x/.envrc; echo x > deep/x/.vscode/tasks.json");
    ASSERT_TEXT(rig_text(&rig, "limit"), "settings");
    ASSERT(!is_there(&rig, "deep/x/.envrc") && is_there(&rig, "deep/x/.envrc.set-aside-1"));
    ASSERT(!is_there(&rig, "deep/x/.vscode"));
    ASSERT(rig_noticed(&rig, "deep/x/.envrc was made"));
    /* An ordinary repository stays one. */
    rig_bash(&rig, "git init -q sub && cd sub && git remote add origin https://example.org/x && "
                   "git -c user.name=a -c user.email=b commit -q --allow-empty -m one");
    ASSERT_EQ(rig_exit(&rig), 0);
    ASSERT_TEXT(rig_text(&rig, "limit"), "");
    ASSERT(is_there(&rig, "sub/.git/config"));
    rig_bash(&rig, arena_printf(&t->arena,
                                "cd %s/sub; git config core.fsmonitor 'touch pwned'; "
                                "echo 'touch pwned' > .git/hooks/post-commit; "
                                "chmod +x .git/hooks/post-commit; rm -f pwned",
                                rig.project));
    ASSERT_TEXT(rig_text(&rig, "limit"), "settings");
    rig_end(&rig);
    outside(&rig, "cd sub && rm -f pwned; git status; git -c user.name=a -c user.email=b commit -q "
                  "--allow-empty -m two; test ! -e pwned");
}

TEST(a_place_that_holds_the_home_needs_a_word)
{
    static const char *const places[][2] = { { "~" }, { "/" }, { ".." } };
    struct rig rig;

    rig_init(&rig, t);
    for (size_t i = 0; i < 3; i++) {
        rig.spec.allow_write = (const char *const[]){ places[i][0], NULL };
        rig.spec.allow_home = false;
        rig_call(&rig, "bash", "{\"command\":\"true\"}");
        ASSERT_EQ(rig.err.code, ERR_BAD_REQUEST);
        ASSERT_CONTAINS(err_message(&rig.err, 0), "sandbox.security.allowHome");
        rig_end_hand(&rig);
    }
    rig.spec.allow_write = (const char *const[]){ "~", NULL };
    rig.spec.allow_home = true;
    rig_bash(&rig, "echo x > ~/new");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_bash(&rig, "echo x > ~/.bashrc");
    ASSERT(rig_exit(&rig) != 0);
    rig_end(&rig);
}

TEST(only_plain_settings_of_git_are_plain)
{
    static const struct {
        const char *text;
        bool plain;
    } cases[] = {
        { "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n", true },
        { "[remote \"origin\"]\n\turl = https://x\n\tfetch = +refs/*\n# c\n", true },
        { "[core]\n\tfsmonitor = x\n", false },
        { "[core] fsmonitor = x\n", false },
        { "[core]\n\thooksPath = x\n", false },
        { "[CORE]\n\tFileMode = true\n\tPager = x\n", false },
        { "[alias]\n\tst = !x\n", false },
        { "[include]\n\tpath = x\n", false },
        { "[includeIf \"gitdir:/\"]\n\tpath = x\n", false },
        { "[filter \"x\"]\n\tsmudge = y\n", false },
        { "[user]\n\tname = a\\\n[core]\n", false },
        { "[core.x]\n\tfilemode = 1\n[credential]\nhelper = !x\n", false },
        { "", true },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (guarded_config_is_plain(str_from(cases[i].text)) != cases[i].plain)
            FAIL("%s", cases[i].text);
}

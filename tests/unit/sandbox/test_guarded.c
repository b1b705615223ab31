/* Files that tools outside obey without asking: git's hooks and settings, editors' tasks, shells'
 * start files. Nothing inside can plant one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <unistd.h>

#include "rig.h"
#include "sandbox/git_config.h"
#include "sandbox/guarded.h"

#define MAKE_REPOSITORY                                                                            \
    "git init -q . && git config user.name me && git config user.email me@example.org && "         \
    "git commit -q --allow-empty -m first"

static void init_repository(struct rig *rig, struct test *t)
{
    rig_init(rig, t);
    rig_outside(rig, MAKE_REPOSITORY);
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
        if (rig_exit(&rig) == 0 || rig_is_there(&rig, ".envrc"))
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
    ASSERT(!rig_is_there(&rig, ".envrc"));
    rig_end(&rig);
}

static const char *entry_path(struct test *t, const struct guarded_name *g)
{
    return g->way[0] ? arena_printf(&t->arena, "%s/%s", g->way, g->name) : g->name;
}

/* As a file, as a directory, by a tool; with what is on the way to it made first, and brought. */
static void refuse_entry(struct rig *rig, const char *root, const struct guarded_name *g)
{
    struct test *t = rig->t;
    const char *path = entry_path(t, g);
    const char *command = arena_printf(
        &t->arena,
        "cd '%s'; w='%s'; p='%s'; mkdir -p \"./$w\"; echo x > \"$p\" && exit 1; "
        "mkdir \"$p\" && exit 2; if [ -n \"$w\" ]; then rm -rf new; mkdir -p \"new/$p\"; "
        "rmdir -p \"$w\"; mv -T \"new/${w%%/*}\" \"${w%%/*}\" && exit 3; "
        "ln -s \"new/${w%%/*}\" \"${w%%/*}\" && exit 4; rm -rf new; fi; true",
        root, g->way, path);

    rig_bash(rig, command);
    if (rig_exit(rig) != 0)
        FAIL("%s: %s", path, rig->text);
    rig_call(rig, "write_file",
             arena_printf(&t->arena, "{\"path\":\"%s/%s\",\"content\":\"x\"}", root, path));
    if (rig->err.code != ERR_PATH_DENIED)
        FAIL("%s was written: %s", path, rig->text);
}

TEST(every_guarded_name_is_refused_and_leaves_nothing)
{
    struct rig rig;

    rig_init(&rig, t);
    for (const struct guarded_name *g = guarded_names; g->name; g++)
        refuse_entry(&rig, rig.project, g);
    ASSERT_TEXT(rig_bash(&rig, "ls -A"), ".env\nreadme\n");
    rig_end(&rig);
    for (const struct guarded_name *g = guarded_names; g->name; g++)
        if (rig_is_there(&rig, entry_path(t, g)))
            FAIL("%s was left behind", g->name);
}

TEST(every_guarded_name_of_a_home_is_refused)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.allow_write = (const char *const[]){ "~", NULL };
    rig.spec.allow_home = true;
    for (const struct guarded_name *g = guarded_home; g->name; g++)
        refuse_entry(&rig, rig.home, g);
    for (const struct guarded_name *g = guarded_names; g->name; g++)
        refuse_entry(&rig, rig.home, g);
    rig_end(&rig);
}

/* What is there, where a home may be written to: read-only, and nothing on the way to it moves. */
TEST(what_is_there_in_a_home_stays)
{
    static const char *const tries[] = {
        "echo x >> ~/.config/git/config",
        "mv ~/.config ~/x",
        "mv ~/.local/state ~/x",
        "echo > ~/.local/state/dormouse/data-dirs",
        "rm ~/.local/state/dormouse/data-dirs",
        "echo x > ~/.local/bin/ls",
    };
    struct rig rig;

    rig_init(&rig, t);
    rig_outside(&rig, "mkdir -p ~/.config/git ~/.local/state/dormouse ~/.local/bin; "
                      "echo '[user]' > ~/.config/git/config; "
                      "echo /x > ~/.local/state/dormouse/data-dirs");
    rig.spec.allow_write = (const char *const[]){ "~", NULL };
    rig.spec.allow_home = true;
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        rig_bash(&rig, tries[i]);
        if (rig_exit(&rig) == 0)
            FAIL("%s: %s", tries[i], rig.text);
    }
    rig_bash(&rig, "echo x > ~/.config/other && echo x > ~/.local/other");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end(&rig);
}

/* One that can be run and not read shows nobody what it makes. */
TEST(a_program_that_hides_its_memory_makes_no_names)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig, "cp /usr/bin/touch t && chmod 111 t && ./t .envrc");
    ASSERT(rig_exit(&rig) != 0 && !rig_is_there(&rig, ".envrc"));
    ASSERT(rig_noticed(&rig, "settings: a name by t refused"));
    ASSERT_TEXT(rig_text(&rig, "limit"), "");
    rig_bash(&rig, "chmod 755 t && ./t other");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end(&rig);
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
    rig_outside(&rig, "mkdir .vscode; echo '{}' > .vscode/tasks.json; echo true > .envrc");
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
    rig_outside(&rig, "mkdir inner && cd inner && " MAKE_REPOSITORY);
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
    rig_outside(&rig, "git status && git commit --allow-empty -m second && test ! -e pwned");
}

/* Whatever one run does to a repository, the next one knows it for one. */
TEST(a_repository_that_was_taken_apart_is_guarded_by_the_next_start)
{
    static const char *const tries[] = {
        "git config core.fsmonitor 'touch pwned'",
        "echo 'touch pwned' > .git/hooks/post-commit",
        "echo '[core]' >> .git/modules/a/config",
        "echo x > .git/modules/a/hooks/post-commit",
        "echo '[core]' >> bare.git/config",
        "echo x > bare.git/hooks/post-commit",
        "mv bare.git other",
    };
    struct rig rig;

    init_repository(&rig, t);
    rig_outside(&rig, "git init -q --bare bare.git && git init -q --bare .git/modules/a");
    rig_bash(&rig, "mv .git/HEAD h1; mv .git/objects o1; mv .git/modules/a/HEAD h2; "
                   "mv .git/modules/a/objects o2; mv bare.git/HEAD h3");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end_hand(&rig);
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        rig_bash(&rig, tries[i]);
        if (rig_exit(&rig) == 0)
            FAIL("%s: %s", tries[i], rig.text);
    }
    rig_end(&rig);
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
        { "[submodule \"]url = \"]update = !x\n", false },
        { "[remote \"x]\n\turl = y\n", false },
        { "[user]\n\tname = \"a\n", false },
        { "", true },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (git_config_is_plain(str_from(cases[i].text)) != cases[i].plain)
            FAIL("%s", cases[i].text);
}

/* Each was missing once. */
TEST(names_that_were_forgotten_are_in_the_tables)
{
    static const char *const trees[] = { ".factory", ".augment", ".cline",      ".clinerules",
                                         ".copilot", ".kilo",    ".qoder",      ".codebuddy",
                                         "hk.pkl",   ".hooks",   ".shadowenv.d" };
    static const char *const homes[] = {
        ".local/lib",
        ".direnvrc",
        ".config/direnv",
        ".ipython",
        ".julia",
        ".gdbearlyinit",
        ".config/gdb",
        ".vscode-server",
        ".xmonad",
        ".vnc",
        ".rhosts",
        ".k5login",
        ".forward",
        ".procmailrc",
        ".dotnet/tools",
        ".yarn/bin",
        ".local/share/gnome-shell",
        ".local/share/nautilus-python",
    };

    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
        if (!guarded_has(guarded_names, arena_printf(&t->arena, "/a/%s", trees[i]), false))
            FAIL("%s", trees[i]);
    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++)
        if (!guarded_has(guarded_home, arena_printf(&t->arena, "/a/%s", homes[i]), false))
            FAIL("%s", homes[i]);
}

/* What git obeys besides its own directory: files that a configuration names, and what it goes on
 * with after a rebase that stopped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "rig.h"
#include "sandbox/git_config.h"

#define MAKE_REPOSITORY                                                                            \
    "git init -q . && git config user.name me && git config user.email me@example.org && "         \
    "git commit -q --allow-empty -m first"
#define EMPTY_PROJECT "find . -mindepth 1 -maxdepth 1 ! -name readme -exec rm -rf {} +"

/* A configuration, made by a person, and a command that must fail and leave pwned unmade. */
static const struct named {
    const char *before, *command;
} named[] = {
    /* a directory of hooks: there, not there, by other ways */
    { "git config core.hooksPath tools/h; mkdir -p tools/h", "echo x > tools/h/pre-commit" },
    { "git config core.hooksPath tools/h; mkdir -p tools/h; echo x > tools/h/pre-commit",
      "echo x >> tools/h/pre-commit" },
    { "git config core.hooksPath tools/h; mkdir -p tools/h", "mv tools other" },
    { "git config core.hooksPath tools/h; mkdir -p tools/h", "mv tools/h tools/other" },
    { "git config core.hooksPath tools/h", "mkdir -p tools/h" },
    { "git config core.hooksPath ./tools//h/", "mkdir -p tools/h" },
    { "git config core.hooksPath \"$PWD/h\"", "mkdir h" },
    { "git config core.hooksPath x/../h; mkdir x", "mkdir h" },
    { "git config core.hooksPath .", "echo x > post-commit" },
    { "git config core.hooksPath l/h; mkdir -p real/h; ln -s real l", "echo x > real/h/pre-push" },
    { "git config core.hooksPath l/h; mkdir -p real/h; ln -s real l",
      "mkdir -p e/h; rm l; mv e l; test -e l/h" },
    { "git config core.hooksPath l; mkdir real; ln -s real l", "echo x > real/pre-push" },
    { "mkdir s; cd s; " MAKE_REPOSITORY "; git config core.hooksPath h; mkdir h",
      "echo x > s/h/pre-commit" },
    { "git init -q --bare b.git; git -C b.git config core.hooksPath h; mkdir b.git/h",
      "echo x > b.git/h/update" },
    { "git worktree add -q w -b w; git config core.hooksPath h; mkdir w/h",
      "echo x > w/h/post-checkout" },
    { "git config extensions.worktreeConfig true; git config --worktree core.hooksPath h; mkdir h",
      "echo x > h/pre-commit" },
    /* a user's home by name; a way over what is not there, which may become a link */
    { "git config core.hooksPath \"~$(id -un)/../../../../..$PWD/h\"", "mkdir h" },
    { "git config include.path \"~$(id -un)/../../../../..$PWD/inc\"", "echo x > inc" },
    { "git config core.pager \"~$(id -un)/../../../../..$PWD/p -x\"", "echo x > p" },
    { "git config core.hooksPath no/../h", "mkdir h" },
    { "git config core.hooksPath no/nor/../../h", "mkdir no; mkdir h" },
    { "git config core.hooksPath no/../d/../h; mkdir d", "mkdir h" },
    { "git config core.hooksPath no/../../project/h", "mkdir h" },
    { "git config include.path ../a/no/../deep/inc", "mkdir -p a/deep; echo x > a/deep/inc" },
    { "git config include.path ../a/no/../deep/inc; mkdir -p a/deep; touch a/deep/inc",
      "echo x > a/deep/inc" },
    { "git config include.path ../no/../inc", "mkdir -p x/y; echo x > x/inc; ln -s x/y no" },
    { "git config include.path ../no/../inc; touch inc",
      "mkdir -p x/y; echo x > x/inc; ln -s x/y no" },
    { "git config core.pager no/../p", "echo x > p" },
    { "git config core.hooksPath ':(optional)h'", "mkdir h" },
    /* further configuration, to any depth */
    { "git config include.path ../my.conf; touch my.conf", "echo '[core]' >> my.conf" },
    { "git config include.path ../my.conf", "echo '[core]' >> my.conf" },
    { "git config includeIf.onbranch:x.path ../my.conf", "echo '[core]' >> my.conf" },
    { "printf '[include]path = \"../a.conf\" # c\\n' >> .git/config; "
      "printf '[core]\\n\\thooksPath = \\\\\\nh\\n[include]\\npath=b.conf\\n' > a.conf",
      "echo '[core]' >> b.conf" },
    { "git config include.path ../a.conf; git config -f a.conf core.hooksPath h", "mkdir h" },
    { "git config core.hooksPath h; git config -f a.conf include.path a.conf; "
      "git config include.path ../a.conf",
      "mkdir h" },
    /* commands */
    { "git config core.fsmonitor tools/watch; mkdir tools; touch tools/watch",
      "echo x > tools/watch" },
    { "git config core.fsmonitor tools/watch", "mkdir tools; echo x > tools/watch" },
    { "git config core.pager 'sh -c \"exec ./p.sh\"'; touch p.sh", "echo x > p.sh" },
    { "git config diff.x.textconv 'python3 conv.py'; touch conv.py", "echo x > conv.py" },
    { "git config filter.x.clean \"'tools/my clean' %f\"; mkdir tools; touch 'tools/my clean'",
      "echo x > 'tools/my clean'" },
    { "git config filter.x.smudge 'FOO=1 tools/s; true'", "mkdir tools; echo x > tools/s" },
    { "git config merge.x.driver './m %O'", "echo x > m" },
    { "git config credential.helper '!./c'", "echo x > c" },
    { "git config alias.st '!scripts/st'", "mkdir scripts; echo x > scripts/st" },
    { "git config alias.st '!sh -c \"exec scripts/st\"'; mkdir scripts; touch scripts/st; "
      "chmod +x scripts/st",
      "echo x > scripts/st" },
    { "git config gpg.program ./gpg", "echo x > gpg" },
    { "git config init.templateDir t; mkdir t", "mkdir -p t/hooks" },
};

/* Each of n, in a project of its own. */
static void check_named(struct rig *rig, const struct named *list, size_t n)
{
    for (const struct named *one = list; one < list + n; one++) {
        rig_outside(rig, one->before);
        rig_bash(rig, one->command);
        /* A name of several directories can be moved in whole, and is set aside then. */
        if (rig_exit(rig) == 0 && strcmp(rig_text(rig, "limit"), "settings") != 0)
            FAIL("%s; %s: %s", one->before, one->command, rig->text);
        rig_end_hand(rig);
        rig->notice_count = 0;
        rig_outside(rig, EMPTY_PROJECT);
    }
}

TEST(what_a_configuration_names_can_not_be_made_or_changed)
{
    struct rig rig;

    rig_init(&rig, t);
    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        struct named one = named[i];

        one.before = arena_printf(&t->arena, "%s; %s", MAKE_REPOSITORY, one.before);
        check_named(&rig, &one, 1);
    }
    rig_end(&rig);
}

TEST(what_the_configuration_of_a_repository_around_a_place_names_is_guarded)
{
#define AROUND "mkdir -p pkg/one; " MAKE_REPOSITORY "; "
    /* The command works in pkg/one. */
    static const struct named around[] = {
        { AROUND "git config diff.external pkg/one/dx", "echo x > dx" },
        { AROUND "git config include.path ../pkg/one/inc", "echo x > inc" },
        { AROUND "git config core.hooksPath pkg/one/h", "mkdir h" },
        { AROUND "git config core.hooksPath pkg/one", "echo x > pre-commit" },
        { AROUND "git config include.path ../a; git config -f a core.hooksPath pkg/one/h",
          "mkdir h" },
        /* around a repository too */
        { AROUND "(cd pkg/one; " MAKE_REPOSITORY "); git config core.pager pkg/one/p",
          "echo x > p" },
        /* in a further working tree, by a link, in a git directory */
        { MAKE_REPOSITORY "; git worktree add -q pkg -b w; mkdir pkg/one; "
                          "git config core.fsmonitor one/f; mv .git other.git; "
                          "echo \"gitdir: $PWD/other.git/worktrees/pkg\" > pkg/.git",
          "echo x > f" },
        { AROUND "git config core.fsmonitor pkg/one/f; mv .git o; ln -s o .git", "echo x > f" },
        { AROUND "git config core.fsmonitor pkg/one/f; mv .git o; echo gitdir: o > g; "
                 "ln -s g .git",
          "echo x > f" },
        { "git init -q --bare pkg; mkdir pkg/one; git -C pkg config core.hooksPath one/h",
          "mkdir h" },
        /* the home's, where the repository begins */
        { AROUND "printf '[core]\\nhooksPath = pkg/one/h\\n' > ../.gitconfig", "mkdir h" },
    };
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.cwd = test_path(t, "home/project/pkg/one");
    check_named(&rig, around, ARRAY_LEN(around));
    rig_end(&rig);
}

TEST(what_the_configuration_of_the_home_names_is_guarded_where_no_repository_is)
{
    static const struct named home[] = {
        { "printf '[include]\\npath = ~/project/team.inc\\n' > ../.gitconfig",
          "echo x > team.inc" },
        { "printf '[include]\\npath = project/team.inc\\n' > ../.gitconfig", "echo x > team.inc" },
        { "printf '[core]\\nhooksPath = ~/project/h\\n' > ../.gitconfig", "mkdir h" },
        { "printf '[core]\\npager = ./p\\n' > ../.gitconfig", "echo x > p" },
        { "rm ../.gitconfig; mkdir -p ../.config/git; "
          "printf '[include]\\npath = ~/project/team.inc\\n' > ../.config/git/config",
          "echo x > team.inc" },
    };
    struct rig rig;

    rig_init(&rig, t);
    check_named(&rig, home, ARRAY_LEN(home));
    rig_end(&rig);
}

TEST(what_the_configuration_of_the_home_names_in_a_repository_is_guarded)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_outside(&rig, MAKE_REPOSITORY "; printf '[core]\\nhooksPath = h\\n' > ../.gitconfig");
    rig_bash(&rig, "mkdir h");
    ASSERT(rig_exit(&rig) != 0 && !rig_is_there(&rig, "h"));
    rig_end(&rig);
}

TEST(what_the_configuration_of_the_home_names_in_new_repositories_is_set_aside)
{
#define INIT_NEW "git init -q newr; "
    static const struct {
        const char *config, *command, *path;
        bool stays;
    } cases[] = {
        { "hooksPath = .hk", INIT_NEW "mkdir newr/.hk; echo x > newr/.hk/pre-commit", "newr/.hk",
          false },
        { "hooksPath = .hk", "mkdir -p newr/.hk; echo x > newr/.hk/x; " INIT_NEW, "newr/.hk",
          false },
        { "hooksPath = ./t//h/", INIT_NEW "mkdir -p newr/t/h; echo x > newr/t/h/x", "newr/t/h",
          false },
        { "hooksPath = t/h", "mkdir -p e/h; echo x > e/h/x; " INIT_NEW "ln -s ../e newr/t",
          "newr/t", false },
        { "hooksPath = .hk", "git init -q --bare newr; mkdir newr/.hk; echo x > newr/.hk/update",
          "newr/.hk", false },
        { "hooksPath = .hk", "mkdir -p newr/.hk; echo x > newr/.hk/x; echo gitdir: x > newr/.git",
          "newr/.hk", false },
        { "pager = ./p -x", INIT_NEW "echo x > newr/p", "newr/p", false },
        { "pager = sh -c 't/p'", INIT_NEW "mkdir newr/t; echo x > newr/t/p", "newr/t/p", false },
        /* where git obeys nothing of it */
        { "hooksPath = .hk", "mkdir -p newr/.hk; echo x > newr/.hk/pre-commit", "newr/.hk", true },
        { "hooksPath = hooks", "git init -q --bare newr; touch newr/hooks/x.sample",
          "newr/hooks/x.sample", true },
        { "pager = less -x", INIT_NEW "echo x > newr/less", "newr/less", true },
        { "hooksPath = .", INIT_NEW "echo x > newr/notes", "newr/notes", true },
    };
    struct rig rig;

    rig_init(&rig, t);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool told;

        rig_outside(&rig, arena_printf(&t->arena, "printf '%%s\\n' '[core]' \"%s\" > ../.gitconfig",
                                       cases[i].config));
        rig_bash(&rig, cases[i].command);
        told = strcmp(rig_text(&rig, "limit"), "settings") == 0;
        if (told == cases[i].stays || rig_is_there(&rig, cases[i].path) != cases[i].stays)
            FAIL("%s; %s: %s", cases[i].config, cases[i].command, rig.text);
        rig_end_hand(&rig);
        rig.notice_count = 0;
        rig_outside(&rig, EMPTY_PROJECT);
    }
    rig_end(&rig);
}

/* As long as it names nothing here, work goes on. */
TEST(a_configuration_that_names_nothing_in_the_tree_keeps_nobody_from_working)
{
    static const char *const settings[] = {
        "core.hooksPath /dev/null",
        "core.hooksPath /nowhere/h",
        "core.fsmonitor true",
        "core.pager less",
        "alias.co checkout",
        "alias.src 'log src'",
        "alias.todo '!cat notes src/a src/new'",
        "core.editor 'src -w'",
        "core.hooksPath ../../h",
        "core.hooksPath made/../../../h",
        "core.hooksPath made/..",
        "core.pager '~nobody-of-that-name/h'",
        "include.path ../made/../kept",
        "include.path /nowhere/x",
    };
    struct rig rig;

    rig_init(&rig, t);
    rig_outside(&rig, MAKE_REPOSITORY "; mkdir src; touch src/a notes kept");
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        rig_outside(&rig, arena_printf(&t->arena, "git config --add %s", settings[i]));
    rig_bash(&rig, "set -e; echo x > src/a; echo x > src/new; echo x > notes; echo x > checkout; "
                   "mkdir h made; mv src src2; echo x > less; "
                   "git add less; git -c core.fsmonitor=false commit -qm less");
    if (rig_exit(&rig) != 0 || rig_text(&rig, "limit")[0])
        FAIL("%s", rig.text);
    rig_end(&rig);
}

TEST(settings_are_read_as_git_reads_them)
{
    static const struct {
        const char *text, *section, *key, *value; /* of the last one; NULL: there is none */
        bool broken;
    } cases[] = {
        { "[core]\n\thooksPath = a b \n", "core", "hookspath", "a b", false },
        { "\xef\xbb\xbf[core]a=b", "core", "a", "b", false },
        { "[Core] HooksPath=\"a ; b\" ; c", "core", "hookspath", "a ; b", false },
        { "[a \"x\\\"]\\\\\"]\r\nk = v\\t\\\\\\\"w\r\n", "a", "k", "v\t\\\"w", false },
        { "[a.B]\nk", "a", "k", "", false },
        { "[a]\nk = v\\\n  w # x\n", "a", "k", "v  w", false },
        { "[a]\nk = v # x\\\nl = w\n", "a", "l", "w", false },
        { "[a \"]url = \"]k = v", "a", "k", "v", false },
        { "[a]\n1 = x\nk = v", "a", "k", "v", true },
        { "[a]\nk = \"v\nl = w", "a", "l", "w", true },
        { "[a]\nk = \\x\n", NULL, NULL, NULL, true },
        { "[a]\nk v\n", NULL, NULL, NULL, true },
        { "[a \"b\nk = v", "a", "k", "v", true },
        { "[]\nk = v", "", "k", "v", true },
        { "", NULL, NULL, NULL, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct git_config config = { .rest = str_from(cases[i].text) };
        struct git_setting setting, last = { .key = "" };

        while (git_config_next(&config, &setting))
            last = setting;
        if (config.broken != cases[i].broken || !last.key[0] != !cases[i].key ||
            (cases[i].key &&
             (strcmp(last.section, cases[i].section) != 0 || strcmp(last.key, cases[i].key) != 0 ||
              strcmp(last.value, cases[i].value) != 0)))
            FAIL("%s: [%s] %s = %s", cases[i].text, last.section, last.key, last.value);
    }
}

/* Files of a rebase, cherry-pick or revert that stopped, and whether they stay. */
static const struct sequence {
    const char *file, *text;
    bool stays;
} sequences[] = {
    { "rebase-merge/git-rebase-todo", "pick 1234 x\\n# c\\n; c\\nfixup -C 1 y\\nbreak\\n", true },
    { "rebase-merge/git-rebase-todo", "noop\\n", true },
    { "rebase-merge/git-rebase-todo", "pick 1234 x\\nexec ./x\\n", false },
    { "rebase-merge/git-rebase-todo", "  x touch pwned\\n", false },
    { "rebase-merge/git-rebase-todo", "x\\ttouch pwned", false },
    { "rebase-merge/git-rebase-todo", "unknown 1\\n", false },
    { "rebase-merge/strategy", "ort\\n", true },
    { "rebase-merge/strategy", "x/../evil\\n", false },
    { "rebase-apply/strategy", "evil\\n", false },
    { "sequencer/todo", "pick 1234 x\\n", true },
    { "sequencer/todo", "exec x\\n", false },
    { "sequencer/opts", "[options]\\n\\tedit = true\\n\\tstrategy = ours\\n", true },
    { "sequencer/opts", "[options]\\n\\tstrategy = evil\\n", false },
    { "sequencer/opts", "[options]\\n\\tedit \\\\\\n = x\\n", false },
    { "sl/config", "[alias]\\n", false },
};

TEST(a_rebase_that_stopped_runs_nothing_that_a_command_planted)
{
    static const char *const gits[] = { ".git", "s/.git", ".git/modules/m", "b.x", "d/.GIT" };
    struct rig rig;

    rig_init(&rig, t);
    for (size_t k = 0; k < ARRAY_LEN(gits); k++) {
        /* One is known by its name alone. */
        rig_outside(&rig,
                    arena_printf(&t->arena, "git init -q --bare %s; rm -rf d/.GIT/*", gits[k]));
        for (size_t i = 0; i < ARRAY_LEN(sequences); i++) {
            const struct sequence *s = &sequences[i];
            const char *path = arena_printf(&t->arena, "%s/%s", gits[k], s->file);

            rig_bash(&rig, arena_printf(&t->arena, "mkdir -p $(dirname %s); printf '%s' > %s", path,
                                        s->text, path));
            if (rig_is_there(&rig, path) != s->stays ||
                (strcmp(rig_text(&rig, "limit"), "settings") == 0) == s->stays)
                FAIL("%s %s: %s", path, s->text, rig.text);
            rig_bash(&rig, arena_printf(&t->arena, "rm -rf $(dirname %s)", path));
        }
        rig_bash(&rig, arena_printf(&t->arena,
                                    "mkdir x; echo exec x > x/git-rebase-todo; ln -s \"$PWD/x\" "
                                    "%s/rebase-merge",
                                    gits[k]));
        ASSERT(!rig_is_there(&rig, arena_printf(&t->arena, "%s/rebase-merge", gits[k])));
        rig_bash(&rig, "rm -r x");
    }
    rig_end(&rig);
}

TEST(a_rebase_works_as_usual)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_outside(&rig, MAKE_REPOSITORY
                "; echo a > f; git add f; git commit -qm a; git checkout -qb topic; "
                "echo b > f; git commit -qam b; echo c > g; git add g; "
                "git commit -qm c; git checkout -q -; echo d > f; git commit -qam d; "
                "git checkout -q topic");
    rig_bash(&rig, "git rebase @{-1}");
    ASSERT(rig_exit(&rig) != 0);
    ASSERT_TEXT(rig_text(&rig, "limit"), "");
    rig_bash(&rig, "echo e > f; git add f; GIT_EDITOR=true git rebase --continue");
    if (rig_exit(&rig) != 0 || rig_text(&rig, "limit")[0])
        FAIL("%s", rig.text);
    ASSERT_TEXT(rig_bash(&rig, "cat f g; git status --short f g"), "e\nc\n");
    rig_end(&rig);
}

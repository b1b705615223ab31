/* What tools outside obey and a command made or changed deeper in a place: it is found wherever it
 * is hidden, set aside and told.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/stat.h>
#include <unistd.h>

#include "rig.h"

TEST(what_is_made_deeper_is_set_aside_and_reported)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig,
             "mkdir -p deep/x/.vscode; echo x > deep/x/.envrc; echo x > deep/x/.vscode/tasks.json");
    ASSERT_TEXT(rig_text(&rig, "limit"), "settings");
    ASSERT(!rig_is_there(&rig, "deep/x/.envrc") && rig_is_there(&rig, "deep/x/.envrc.set-aside-1"));
    ASSERT(!rig_is_there(&rig, "deep/x/.vscode"));
    ASSERT(rig_noticed(&rig, "deep/x/.envrc was made or changed"));
    /* An ordinary repository stays one. */
    rig_bash(&rig, "git init -q sub && cd sub && git remote add origin https://example.org/x && "
                   "git -c user.name=a -c user.email=b commit -q --allow-empty -m one");
    ASSERT_EQ(rig_exit(&rig), 0);
    ASSERT_TEXT(rig_text(&rig, "limit"), "");
    ASSERT(rig_is_there(&rig, "sub/.git/config"));
    rig_bash(&rig, arena_printf(&t->arena,
                                "cd %s/sub; git config core.fsmonitor 'touch pwned'; "
                                "echo 'touch pwned' > .git/hooks/post-commit; "
                                "chmod +x .git/hooks/post-commit; rm -f pwned",
                                rig.project));
    ASSERT_TEXT(rig_text(&rig, "limit"), "settings");
    rig_end(&rig);
    rig_outside(&rig,
                "cd sub && rm -f pwned; git status; git -c user.name=a -c user.email=b commit -q "
                "--allow-empty -m two; test ! -e pwned");
}

/* Ways to hide one, each in an empty project; what must be gone afterwards, and a name of what it
 * was set aside as. before is done by a person. */
static const struct hiding {
    const char *before, *command, *gone, *aside;
} hidings[] = {
    /* a directory that looks like git's */
    { "true", "mkdir -p A/objects; echo x > A/HEAD; echo x > A/.envrc", "A/.envrc",
      "A/.envrc.set-aside-1" },
    { "true", "mkdir objects refs deep; echo x > HEAD; echo x > deep/.envrc", "deep/.envrc",
      "deep/.envrc.set-aside-1" },
    { "true", "git init -q s; mkdir -p s/.git/x/.vscode", "s/.git/x/.vscode",
      "s/.git/x/.vscode.set-aside-1" },
    { "true", "git init -q s; mkdir -p s/.git/objects/x; echo x > s/.git/objects/x/.envrc",
      "s/.git/objects/x/.envrc", "s/.git/objects/x/.envrc.set-aside-1" },
    { "true", "mkdir -p node_modules/x; echo x > node_modules/x/.envrc", "node_modules/x/.envrc",
      "node_modules/x/.envrc.set-aside-1" },
    /* a directory that its owner may not list, search or write */
    { "true", "mkdir -p a/b; echo x > a/b/.envrc; chmod 311 a/b", "a/b/.envrc",
      "a/b/.envrc.set-aside-1" },
    { "true", "mkdir -p a/b; echo x > a/b/.envrc; chmod 400 a/b; chmod 100 a", "a/b/.envrc",
      "a/b/.envrc.set-aside-1" },
    { "true", "mkdir -p a/b; echo x > a/b/.envrc; chmod 0 a/b a", "a/b/.envrc",
      "a/b/.envrc.set-aside-1" },
    { "true", "mkdir a; echo x > a/.envrc; chmod 555 a", "a/.envrc", "a/.envrc.set-aside-1" },
    { "mkdir -p a/.idea/x; echo 1 > a/.idea/x/y", "echo 2 > a/.idea/x/y; chmod 0 a/.idea/x",
      "a/.idea", "a/.idea.set-aside-1" },
    /* all usual names are taken */
    { "mkdir a; for i in $(seq 100); do touch a/.envrc.set-aside-$i; done", "echo x > a/.envrc",
      "a/.envrc", "a/.envrc.set-aside-100" },
    /* many levels; a name on the way that is a link */
    { "true",
      "d=$(printf 'd/%.0s' $(seq 40)); mkdir -p $d; echo x > $d/.envrc; mkdir z; "
      "echo x > z/.envrc",
      "z/.envrc", "z/.envrc.set-aside-1" },
    { "true", "mkdir -p a/b; echo x > a/b/hgrc; ln -s b a/.hg", "a/.hg", "a/.hg.set-aside-1" },
    { "true", "mkdir -p a/.hg; echo x > a/.hg/hgrc", "a/.hg/hgrc", "a/.hg/hgrc.set-aside-1" },
    { "true", "mkdir -p a/.jj/repo; echo x > a/.jj/repo/config.toml", "a/.jj/repo/config.toml",
      "a/.jj/repo/config.toml.set-aside-1" },
    /* what looks old: moved in whole, or changed in place two levels down */
    { "true",
      "mkdir -p /tmp/d/e; echo x > /tmp/d/e/.envrc; touch -d 2001-01-01 /tmp/d/e/.envrc; "
      "mv /tmp/d m",
      "m/e/.envrc", "m/e/.envrc.set-aside-1" },
    /* what was there, moved to another directory by itself */
    { "mkdir -p s/e m; echo x > s/e/.envrc", "mv s/e/.envrc m", "m/.envrc",
      "m/.envrc.set-aside-1" },
    { "mkdir -p s/.vscode m; echo x > s/.vscode/y", "mv s/.vscode m", "m/.vscode",
      "m/.vscode.set-aside-1" },
    { "mkdir -p s/e m; echo x > s/e/.envrc", "ln s/e/.envrc m", "m/.envrc",
      "m/.envrc.set-aside-1" },
    { "mkdir -p s/.idea/x; echo 1 > s/.idea/x/y", "mv s m; echo 2 > m/.idea/x/y", "m/.idea",
      "m/.idea.set-aside-1" },
    { "mkdir -p s/.idea/x; echo 1 > s/.idea/x/y", "echo 2 > s/.idea/x/y", "s/.idea",
      "s/.idea.set-aside-1" },
    { "mkdir -p s/.husky/_; echo 1 > s/.husky/_/husky.sh",
      "echo 2 > s/.husky/_/husky.sh; touch -d 2001-01-01 s/.husky/_/husky.sh", "s/.husky",
      "s/.husky.set-aside-1" },
    { "mkdir s; echo 1 > s/other; ln -s other s/.envrc", "echo 2 > s/other", "s/.envrc",
      "s/.envrc.set-aside-1" },
    { "mkdir s; echo 1 > s/.envrc; ln s/.envrc s/second", "echo 2 > s/second", "s/.envrc",
      "s/.envrc.set-aside-1" },
    /* git directories inside of git's, and split ones */
    { "true", "git init -q s; git init -q --bare s/.git/x; git -C s/.git/x config core.fsmonitor x",
      "s/.git/x/config", "s/.git/x/config.set-aside-1" },
    { "true",
      "git init -q --bare c; mkdir -p g w; mv c/HEAD g; echo ../c > g/commondir; "
      "git config -f c/config core.fsmonitor x; echo gitdir: ../g > w/.git",
      "c/config", "c/config.set-aside-1" },
    /* in another case, for a file system that does not tell them apart */
    { "true", "mkdir -p a/.GIT/Hooks; mv a/.GIT/Hooks a/.GIT/hooks; echo x > a/.GIT/hooks/update",
      "a/.GIT/hooks", "a/.GIT/hooks.set-aside-1" },
    { "mkdir -p a/.Git", "printf '[core]\nfsmonitor = x\n' > a/.Git/config", "a/.Git/config",
      "a/.Git/config.set-aside-1" },
    { "true", "mkdir -p a/.VSCode; echo x > a/.VSCode/tasks.json", "a/.VSCode",
      "a/.VSCode.set-aside-1" },
};

TEST(nothing_that_tools_outside_obey_can_be_hidden_deeper)
{
    struct rig rig;

    rig_init(&rig, t);
    for (size_t i = 0; i < sizeof(hidings) / sizeof(hidings[0]); i++) {
        const struct hiding *h = &hidings[i];

        rig_outside(&rig, h->before);
        rig_bash(&rig, h->command);
        rig_end_hand(&rig);
        rig_outside(&rig, "chmod -R u+rwX .");
        if (rig_is_there(&rig, h->gone) || !rig_is_there(&rig, h->aside) ||
            strcmp(rig_text(&rig, "limit"), "settings") != 0)
            FAIL("%s: %s", h->command, rig.text);
        if (!rig_noticed(&rig, arena_printf(&t->arena, "%s was made or changed", h->gone)))
            FAIL("%s: not told", h->command);
        rig.notice_count = 0;
        rig_outside(&rig, "find . -mindepth 1 -maxdepth 1 ! -name readme -exec rm -rf {} +");
    }
    rig_end(&rig);
}

/* No command at all: files that the hand itself writes. */
static const struct written {
    const char *before, *operation, *arguments, *gone, *aside;
} written[] = {
    { "true", "write_file", "{\"path\":\"a/.envrc\",\"content\":\"x\"}", "a/.envrc",
      "a/.envrc.set-aside-1" },
    { "true", "write_file", "{\"path\":\"a/b/.vscode/tasks.json\",\"content\":\"{}\"}",
      "a/b/.vscode", "a/b/.vscode.set-aside-1" },
    { "true", "write_file",
      "{\"path\":\"lib/.git/config\",\"content\":\"[core]\\n\\tfsmonitor = x\\n\"}",
      "lib/.git/config", "lib/.git/config.set-aside-1" },
    { "mkdir -p s/d; ln -s d/.envrc s/l", "write_file", "{\"path\":\"s/l\",\"content\":\"x\"}",
      "s/d/.envrc", "s/d/.envrc.set-aside-1" },
    { "mkdir s; echo one > s/.envrc", "edit_file",
      "{\"path\":\"s/.envrc\",\"old\":\"one\",\"new\":\"two\"}", "s/.envrc",
      "s/.envrc.set-aside-1" },
    { "mkdir s; echo one > s/.envrc; ln -s .envrc s/l", "edit_file",
      "{\"path\":\"s/l\",\"old\":\"one\",\"new\":\"two\"}", "s/.envrc", "s/.envrc.set-aside-1" },
};

TEST(nothing_that_tools_outside_obey_is_written_by_any_operation)
{
    struct rig rig;

    rig_init(&rig, t);
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
        const struct written *w = &written[i];

        rig_outside(&rig, w->before);
        if (strcmp(w->operation, "edit_file") == 0)
            rig_call(&rig, "read_file", w->arguments);
        rig_call(&rig, w->operation, w->arguments);
        if (rig_is_there(&rig, w->gone) || !rig_is_there(&rig, w->aside) ||
            strcmp(rig_text(&rig, "limit"), "settings") != 0)
            FAIL("%s %s: %s%s", w->operation, w->arguments, rig.text, err_message(&rig.err, 0));
        if (!strstr(rig_text(&rig, "message"), w->gone) ||
            !rig_noticed(&rig, arena_printf(&t->arena, "%s was made or changed", w->gone)))
            FAIL("%s %s: not told", w->operation, w->arguments);
        rig_end_hand(&rig);
        rig.notice_count = 0;
        rig_outside(&rig, "find . -mindepth 1 -maxdepth 1 ! -name readme -exec rm -rf {} +");
    }
    /* What is harmless stays, and nothing is said. */
    rig_call(&rig, "write_file", "{\"path\":\"a/plain\",\"content\":\"x\"}");
    ASSERT(rig_is_there(&rig, "a/plain"));
    ASSERT_TEXT(rig_text(&rig, "limit"), "");
    rig_end(&rig);
}

/* Names that move the cursor, or begin a line that the hand never said. */
TEST(names_in_notices_are_seen_as_they_are)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig, "d=$'a\\e[2K\\r\\nset_aside: b\\xff'; mkdir \"$d\"; echo x > \"$d/.envrc\"; "
                   "cp /bin/touch $'t\\e\\n'; ./$'t\\e\\n' .envrc");
    ASSERT(rig_noticed(&rig, "a␛[2K␍␊set_aside: b<FF>/.envrc was made or changed"));
    ASSERT(rig_noticed(&rig, "t␛"));
    ASSERT(strstr(rig_text(&rig, "message"), "a␛[2K␍␊set_aside: b<FF>/.envrc"));
    for (size_t i = 0; i < rig.notice_count; i++) {
        const char *line = strchr(rig.notices[i], '\n');

        ASSERT(!strpbrk(rig.notices[i], "\x1b\r"));
        /* The one line that begins is ours. */
        ASSERT(!line || (strncmp(line, "\nwhat ends in .set-aside was only renamed", 30) == 0 &&
                         !strchr(line + 1, '\n')));
    }
    rig_end(&rig);
}

/* A file there that may not be read is covered, and so the directory can't be renamed. It is told
 * however much else there is to tell. */
TEST(what_lies_beside_a_covered_file_is_set_aside)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_outside(&rig, "mkdir -p s/.vscode/x; echo k > s/.vscode/.env; echo k > s/.vscode/x/.env");
    rig_bash(&rig, "echo 1 > s/.vscode/tasks.json; echo 2 > s/.vscode/x/y; mkdir s/.vscode/z; "
                   "ln -s / s/.vscode/z/l; echo > s/.vscode/a.set-aside-x; mkdir {1..800}; "
                   "for i in {1..800}; do echo > $i/.envrc; done");
    ASSERT_TEXT(rig_text(&rig, "limit"), "settings");
    rig_outside(&rig, "cd s/.vscode && test ! -e tasks.json && test -e tasks.json.set-aside-1 && "
                      "test -e a.set-aside-x.set-aside-1 && test ! -e x/y && test -e "
                      "x/y.set-aside-1 && test ! -L z/l && "
                      "test $(cat .env x/.env | wc -l) = 2");
    ASSERT(rig_noticed(&rig, arena_printf(&t->arena, "set_aside: %s/s/.vscode was", rig.project)));
    ASSERT(rig_noticed(&rig, " more"));
    /* Once. */
    rig.notice_count = 0;
    rig_bash(&rig, "true");
    ASSERT_TEXT(rig_text(&rig, "limit"), "");
    rig_bash(&rig, "echo 1 > s/.vscode/tasks.json");
    ASSERT_TEXT(rig_text(&rig, "limit"), "settings");
    ASSERT(!rig_is_there(&rig, "s/.vscode/tasks.json"));
    rig_end(&rig);
}

static void on_closed(void *arg)
{
    struct rig *rig = arg;

    rig->hand = NULL;
    loop_stop(rig->loop);
}

/* By a process that goes on until the end: the last look comes when it is gone. */
TEST(what_is_made_until_the_end_is_set_aside)
{
    struct rig rig;

    for (int waits = 0; waits < 2; waits++) {
        rig_init(&rig, t);
        rig_bash(&rig, "mkdir -p d; (while :; do echo x > d/.envrc; done) >/dev/null 2>&1 &");
        rig_outside(&rig, "until test -e d/.envrc; do :; done");
        rig.notice_count = 0;
        hand_close(rig.hand, on_closed, &rig);
        if (waits)
            hand_close_wait(&rig.hand, 1);
        while (rig.hand)
            ASSERT_OK(loop_run(rig.loop, &t->err));
        ASSERT(!rig_is_there(&rig, "d/.envrc"));
        ASSERT(rig_noticed(&rig, "d/.envrc was made or changed"));
        rig_outside(&rig, "rm -r d");
        rig_end(&rig);
    }
}

/* What was there and is not touched stays, however it is hidden, and so do the modes. */
/* With the directory that holds it, it is what it was. */
TEST(what_moves_along_with_its_directory_stays)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_outside(&rig, "mkdir -p a/b/.vscode a/b/.husky c; echo x > a/b/.vscode/tasks.json; "
                      "echo x > a/b/.husky/pre-commit; echo x > a/.envrc; "
                      "ln -s .envrc a/.exrc");
    rig_bash(&rig, "mv a a2 && mv a2/b c/b");
    ASSERT_TEXT(rig_text(&rig, "limit"), "");
    rig_bash(&rig, "mv c/b b");
    ASSERT_TEXT(rig_text(&rig, "limit"), "");
    ASSERT(rig_is_there(&rig, "b/.vscode/tasks.json") && rig_is_there(&rig, "b/.husky") &&
           rig_is_there(&rig, "a2/.envrc") && rig_is_there(&rig, "a2/.exrc"));
    ASSERT(!rig_noticed(&rig, "set_aside"));
    rig_end(&rig);
}

TEST(what_git_brings_is_told_with_how_to_have_it_back)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_outside(&rig,
                "git init -q s && cd s && mkdir -p d/.husky && echo x > d/.husky/pre-commit && "
                "git add . && git -c user.name=a -c user.email=b commit -qm one");
    rig_bash(&rig, "git clone -q s new");
    ASSERT_TEXT(rig_text(&rig, "limit"), "settings");
    ASSERT(rig_is_there(&rig, "s/d/.husky") && !rig_is_there(&rig, "new/d/.husky"));
    ASSERT(rig_noticed(&rig, "new/d/.husky was made or changed"));
    ASSERT(rig_noticed(&rig, "was only renamed, also where git brought it (clone, checkout)"));
    ASSERT(rig_noticed(&rig, "when the run is over give it its former name"));
    /* By the next start it is a person's. */
    rig_end_hand(&rig);
    rig_outside(&rig, "mv new/d/.husky.set-aside-1 new/d/.husky");
    rig_bash(&rig, "true");
    ASSERT_TEXT(rig_text(&rig, "limit"), "");
    ASSERT(rig_is_there(&rig, "new/d/.husky"));
    rig_end(&rig);
}

#define LONG_NAME "$(printf 'n%.0s' $(seq 250))"
/* Ways to be out of sight, and what is said of it. */
static const struct cut {
    const char *command, *where, *why;
} cuts[] = {
    { "mkdir -p z/$(printf 'd/%.0s' $(seq 70))", "/project/z/d/d", "it lies too deep" },
    { "mkdir y; cd y; for i in $(seq 20); do mkdir " LONG_NAME " && cd n* || exit; done",
      "/project/y/nnn", "too long a path" },
};

TEST(a_look_that_was_cut_short_says_where)
{
    struct rig rig;

    rig_init(&rig, t);
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        rig_bash(&rig, cuts[i].command);
        if (strcmp(rig_text(&rig, "limit"), "settings") != 0 || !rig_noticed(&rig, cuts[i].where) ||
            !rig_noticed(&rig, cuts[i].why) ||
            !rig_noticed(&rig, "was not looked through for settings that tools outside obey"))
            FAIL("%s: %s", cuts[i].command, rig.text);
        /* It is said once, … */
        rig.notice_count = 0;
        rig_bash(&rig, arena_printf(&t->arena, "cd %s", rig.project));
        ASSERT(rig.notice_count == 0 && !rig_text(&rig, "limit")[0]);
        /* … and of what was there at the start nobody is accused; what comes is told all the same.
         */
        rig_end_hand(&rig);
        rig_bash(&rig, "true");
        ASSERT(rig_noticed(&rig, cuts[i].why) && !rig_text(&rig, "limit")[0]);
        rig.notice_count = 0;
    }
    rig_bash(&rig, "mkdir -p x/$(printf 'd/%.0s' $(seq 70))");
    ASSERT_TEXT(rig_text(&rig, "limit"), "settings");
    ASSERT(rig_noticed(&rig, "/project/x/d/d"));
    rig_end(&rig);
}

TEST(what_nobody_touched_stays_as_it_is)
{
    struct rig rig;
    struct stat st;

    rig_init(&rig, t);
    rig_outside(&rig, "mkdir -p s/.vscode/x a/.idea/x; echo 1 > s/.vscode/x/y; echo 1 > s/.envrc; "
                      "ln -s .envrc s/.profile; mkdir -p s/.direnv; echo 1 > a/.idea/x/y; "
                      "chmod 311 a/.idea/x; chmod 100 a/.idea; chmod 0 a");
    for (int i = 0; i < 3; i++) {
        rig_bash(&rig, "cat s/.vscode/x/y s/.envrc; echo x > s/other; mkdir -p s/more");
        if (rig_exit(&rig) != 0 || rig_text(&rig, "limit")[0])
            FAIL("%s", rig.text);
    }
    rig_end(&rig);
    ASSERT_EQ(stat(arena_printf(&t->arena, "%s/a", rig.project), &st), 0);
    ASSERT_EQ(st.st_mode & 07777, 0);
    rig_outside(&rig, "chmod 700 a; test $(stat -c %a a/.idea) = 100; chmod 700 a/.idea; "
                      "test $(stat -c %a a/.idea/x) = 311; chmod 700 a/.idea/x");
}

TEST(what_was_set_aside_is_told_however_much_was_refused)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig, "for i in $(seq 30); do echo x > .envrc; done 2>/dev/null; mkdir d; "
                   "echo x > d/.envrc");
    ASSERT(rig_noticed(&rig, "settings: .envrc by"));
    ASSERT(rig_noticed(&rig, "set_aside: "));
    ASSERT(rig_noticed(&rig, "d/.envrc was made or changed"));
    rig_end(&rig);
}

/* Of somebody else: nobody inside can have made it, and nobody inside can look through it. */
TEST(a_strangers_directory_that_can_not_be_listed_is_told)
{
    struct rig rig;

    if (geteuid() != 0)
        SKIP("only root can give something away");
    rig_init(&rig, t);
    rig_bash(&rig, "true");
    rig_outside(&rig, "mkdir c && echo x > c/.envrc && chown -R 12345 c && chmod 711 c");
    rig_bash(&rig, "true");
    ASSERT(rig_noticed(&rig, "c can't be listed"));
    /* What is asked for by its name is found, and can't be moved by us. */
    ASSERT(rig_noticed(&rig, "c/.envrc was made or changed"));
    ASSERT(rig_noticed(&rig, "look at it before you work there"));
    rig_end(&rig);
}

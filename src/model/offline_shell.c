/* Running: commands that a person names, a few that go by other names, a project's own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/offline_files_int.h"
#include "model/offline_int.h"

static void run(struct offline_turn *turn, const char *command)
{
    if (turn->round == 0)
        offline_bash(turn, command);
    else
        offline_report(turn);
}

/* a: the command */
void offline_run(struct offline_turn *turn)
{
    struct str command = turn->match.cap[0];

    if (!str_trim(command).n) {
        offline_say(turn, "Which command? For example \"run git status\".");
        return;
    }
    run(turn, arena_copy(turn->arena, command.p, command.n));
}

void offline_run_fixed(struct offline_turn *turn)
{
    run(turn, turn->arg);
}

/* The whole text is a command: "git status". */
void offline_run_direct(struct offline_turn *turn)
{
    const struct offline_words *w = &turn->words;
    size_t begin = w->word[0].begin, end = w->word[w->n - 1].end;

    run(turn, arena_copy(turn->arena, w->text.p + begin, end - begin));
}

bool offline_is_command(const struct offline_words *words)
{
    static const char *const programs[] = {
        "git",     "make",   "ls",    "pwd",    "npm",   "npx",   "cargo", "go",    "python",
        "python3", "pip",    "node",  "gcc",    "clang", "cmake", "meson", "ninja", "pytest",
        "docker",  "date",   "uname", "whoami", "df",    "du",    "wc",    "rg",    "sed",
        "awk",     "tree",   "ps",    "curl",   "wget",  "tar",   "unzip", "chmod", "mkdir",
        "touch",   "mv",     "cp",    "rm",     "echo",  "diff",  "stat",  "file",  "env",
        "id",      "uptime", "free",  "jq",     "sort",  "sudo",  "head",  "tail",  "chown",
        "ln",      "kill",   "apt",   "ssh",
    };
    static const char *const english[] = { "a",    "an",    "the",  "me", "my",   "it",
                                           "sure", "this",  "that", "to", "is",   "for",
                                           "some", "these", "and",  "on", "ahead" };
    struct str first;

    if (!words->n || words->word[0].quoted)
        return false;
    first = words->word[0].raw;
    if (first.n > 2 && (str_starts(first, STR("./")) || str_starts(first, STR("../"))))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(english) && words->n > 1; i++) {
        if (str_is(words->word[1].low, english[i]))
            return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        if (str_is(first, programs[i]))
            return true;
    }
    return false;
}

/* ---- what a project calls its tests and its build ---- */

static const struct {
    const char *mark, *test, *build;
} projects[] = {
    { "Makefile", "make test", "make" },
    { "Cargo.toml", "cargo test", "cargo build" },
    { "package.json", "npm test", "npm run build" },
    { "go.mod", "go test ./...", "go build ./..." },
    { "pyproject.toml", "python3 -m pytest", "python3 -m build" },
    { "meson.build", "meson test -C build", "ninja -C build" },
    { "CMakeLists.txt", "ctest --test-dir build", "cmake --build build" },
};

static const char *project_command(const struct offline_listing *list, bool test)
{
    for (size_t i = 0; i < ARRAY_LEN(projects); i++) {
        for (size_t k = 0; k < list->n; k++) {
            if (str_is(list->entry[k].name, projects[i].mark))
                return test ? projects[i].test : projects[i].build;
        }
    }
    return NULL;
}

/* "run the tests": looks at the folder first to learn how. */
void offline_project(struct offline_turn *turn)
{
    bool test = str_is(str_from(turn->arg), "test");
    struct offline_listing list;
    const char *command;

    if (turn->round == 0) {
        offline_ask_listing(turn, STR("."));
        return;
    }
    if (turn->round > 1 || !offline_listing_read(turn, STR("."), &list)) {
        offline_report(turn);
        return;
    }
    command = project_command(&list, test);
    if (command)
        offline_bash(turn, command);
    else
        offline_say(turn,
                    "I don't see how this project is %s: there is no Makefile, package.json, "
                    "Cargo.toml or the like. Name the command: \"run ...\".",
                    test ? "tested" : "built");
}

/* a: file */
void offline_count_lines(struct offline_turn *turn)
{
    struct str path = offline_place(turn, 0);

    run(turn, arena_printf(turn->arena, "wc -l -- %s", offline_quote(turn->arena, path)));
}

/* What may stand at the end of a command line, for the shells' completion.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_COMPLETE_H
#define DORMOUSE_CLI_COMPLETE_H

#include "base/arena.h"
#include "base/buf.h"
#include "cli/command.h"

/* A line as far as it is typed. */
struct complete {
    const struct cli_command *const *commands;
    const struct cli_command *command; /* NULL: not named yet */
    const char *path;                  /* the words of commands so far, "" before the first */
    const char *cur;                   /* the word that is being typed */
    const char *data, *agent;          /* --data and --agent (or AGENT), NULL when not given */
    const struct cli_option *pending;  /* cur is its value */
    bool help, ended;                  /* `help` stands first; `--` was typed */
    size_t operands;                   /* before cur */
    struct arena arena;
    struct buf *out;
};

/* Adds a line for every word that fits: "WORD\tWHAT IT IS". ":file" and ":dir" stand for names of
 * files and directories, which shells know better. words[0] is the program, the last of the n is
 * being typed, maybe empty. A daemon that runs is asked for ids; none is started. */
void complete_line(struct buf *out, const struct cli_command *const *commands,
                   const char *const *words, size_t n);

/* A candidate, when it begins with what is typed; says may be empty. */
void complete_add(struct complete *line, const char *before, struct str word, struct str says);
/* What name (AGENT, ID, FILE, --model) stands for (complete_values.c). */
void complete_values(struct complete *line, const char *before, const char *name);

/* The script for bash, zsh or fish. */
const char *complete_script(const char *shell);

#endif

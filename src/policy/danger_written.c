/* Programs that the command itself wrote and then calls.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

/* "#!/bin/sh -e", "#!/usr/bin/env python3": the program that runs the text; p NULL when it doesn't
 * say. */
static struct str first_line_program(struct str text)
{
    struct str line, word;

    if (!str_starts(text, STR("#!")) || !str_split(&text, '\n', &line))
        return STR_NONE;
    line = str_skip(line, 2);
    while (str_split(&line, ' ', &word))
        if (word.n > 0 && !danger_is_option(word) && !str_is(danger_base(word), "env"))
            return danger_base(str_trim(word));
    return STR_NONE;
}

/* The script as the program would read it that its first line names. */
static bool run_first_line(struct danger_scan *scan, const struct danger_command *command,
                           struct str text)
{
    struct str program = first_line_program(text);
    struct danger_command call = *command;

    if (!program.p)
        return false;
    call.words = ARENA_NEW_N(scan->arena, struct danger_word, ++call.n);
    call.words[0].text = program;
    memcpy(call.words + 1, command->words, command->n * sizeof(*call.words));
    return danger_run_script(scan, &call, program);
}

void danger_run_written(struct danger_scan *scan, const struct danger_command *command)
{
    struct str path = command->words[0].text, outer = scan->script;
    struct danger_stream program;

    bool found = str_find_char(path, '/') >= 0 || danger_find_var(scan, STR("PATH"));

    if (!found || str_eq(danger_base(path), scan->script))
        return;
    program = danger_read_file(scan, path);
    danger_judge_source(scan, program.facts);
    if (!program.text.p || run_first_line(scan, command, program.text))
        return;
    scan->script = danger_base(path);
    danger_run_text(scan, program.text, command->in);
    scan->script = outer;
}

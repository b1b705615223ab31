/* dormouse journal add: a task from plain words.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/nearest.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/jot.h"
#include "cli/term.h"

/* A word that is nearly one that would have been understood, on the error stream. */
static void say_kept(struct jot *jot, struct str title)
{
    static const char *const words[] = { "tomorrow", "tonight", "monday",   "tuesday", "wednesday",
                                         "thursday", "friday",  "saturday", "sunday",  "!urgent",
                                         "!high",    "!medium", "!low",     "today" };
    struct str word;

    while (title.p && str_split(&title, ' ', &word)) {
        const char *typed = arena_printf(&jot->arena, "%.*s", STR_ARG(word)), *meant;

        if (word.n < 4)
            continue;
        meant = nearest_name(typed, words, ARRAY_LEN(words));
        if (!meant || str_eq_nocase(word, str_from(meant)))
            continue;
        term_text(stderr, arena_printf(&jot->arena, "\"%s\" was kept as text; did you mean %s?\n",
                                       typed, meant));
    }
}

static int run_quick(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JSON answer = NULL;
    AUTO_JOT jot;
    struct json_object *parsed, *task, *labels;
    char when[JOT_WHEN_SIZE];
    struct str text;

    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    jot_says(&jot, "text", "");
    text = jot_words(&jot, 0);
    json_object_object_add(body, "text", json_object_new_string_len(text.p, (int)text.n));
    json_object_object_add(body, "preview", json_object_new_boolean(cli_has(args, "preview")));
    if (jot_ask(&jot, "POST", body, &answer, "quick") < 0)
        return jot_fail(&jot);
    if (cli_json(args))
        return jot_print(&jot, json_object_get(answer));
    parsed = json_find(answer, "parsed");
    task = json_find(answer, "task");
    if (task)
        printf("Added %.*s", STR_ARG(jot_member(task, "id")));
    else
        printf("Would add");
    jot_line(&jot, ": ", jot_member(parsed, "title"));
    if (jot_member(parsed, "due").n)
        printf("  due       %s\n", jot_when(&jot, jot_member(parsed, "due"), when));
    if (json_find(parsed, "estimateMinutes"))
        printf("  takes     %s\n",
               jot_span(json_object_get_int64(json_find(parsed, "estimateMinutes")) * 60000, when));
    if (jot_member(parsed, "priority").n)
        jot_line(&jot, "  priority  ", jot_member(parsed, "priority"));
    if (jot_member(parsed, "category").n)
        jot_line(&jot, "  category  ", jot_member(parsed, "category"));
    say_kept(&jot, jot_member(parsed, "title"));
    labels = json_find(parsed, "labels");
    for (size_t i = 0; i < json_length(labels); i++)
        jot_line(&jot, "  label     ", json_str(json_object_array_get_idx(labels, i)));
    return CLI_DONE;
}

static const struct cli_option quick_options[] = {
    { .name = "preview", .help = "only say what was understood" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_add = {
    .name = "journal add",
    .operands = "WORD...",
    .summary = "Adds a task from plain words",
    .details = "Days, times, how long it takes, #labels, @category and !priority are understood "
               "wherever they stand; the rest is the title:\n\n"
               "  dormouse journal add \"Fix fence tomorrow 2h #home\"",
    .options = quick_options,
    .operands_min = 1,
    .operands_max = -1,
    .run = run_quick,
};

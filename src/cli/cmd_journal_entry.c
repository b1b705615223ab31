/* dormouse journal note, workout, measure, category, label: entries and what sorts them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/jot.h"
#include "cli/term.h"

#define LIST_MAX 10000

/* ---- making entries ---- */

static const struct jot_option entry_members[] = {
    { "title", "title", JOT_TEXT },
    { "at", "at", JOT_MOMENT },
    { "category", "categoryId", JOT_CATEGORY },
    { NULL, NULL, 0 },
};

#define ENTRY_OPTIONS                                                                              \
    { .name = "title", .value = "TEXT", .help = "a line that names it" },                          \
        { .name = "at",                                                                            \
          .value = "TIME",                                                                         \
          .help = "when it was: 9:00, \"yesterday 18:00\", friday (noon)" },                       \
    {                                                                                              \
        .name = "category", .value = "CATEGORY", .help = "its name or id"                          \
    }

int jot_entry(struct jot *jot, struct json_object *body, const char *kind,
              struct json_object **ret_answer)
{
    jot_add(body, "kind", str_from(kind));
    if (jot_take(jot, entry_members, body) < 0)
        return -1;
    return jot_ask(jot, "POST", body, ret_answer, "entries");
}

static int add_entry(struct jot *jot, struct json_object *body, const char *kind)
{
    struct json_object *answer;

    if (jot_entry(jot, body, kind, &answer) < 0)
        return jot_fail(jot);
    return jot_done(jot, answer, "Noted");
}

static int run_note(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JOT jot;

    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    jot_says(&jot, "body", "TEXT");
    jot_add(body, "body", jot_words(&jot, 0));
    return add_entry(&jot, body, "note");
}

static const struct cli_option entry_options[] = {
    ENTRY_OPTIONS,
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_note_add = {
    .name = "journal note add",
    .operands = "TEXT...",
    .summary = "Notes something",
    .options = entry_options,
    .operands_min = 1,
    .operands_max = -1,
    .run = run_note,
};

static int run_workout(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JOT jot;
    int64_t minutes = 0;

    if (jot_open(&jot, args) < 0 ||
        (cli_value(args, "for") && jot_minutes(&jot, cli_value(args, "for"), &minutes) < 0))
        return jot_fail(&jot);
    jot_says(&jot, "subtype", "KIND");
    jot_says(&jot, "body", "TEXT");
    jot_says(&jot, "durationMs", "--for");
    jot_add(body, "subtype", str_from(cli_operand(args, 0)));
    jot_add(body, "body", jot_words(&jot, 1));
    if (minutes)
        json_object_object_add(body, "durationMs", json_object_new_int64(minutes * 60000));
    return add_entry(&jot, body, "workout");
}

static const struct cli_option workout_options[] = {
    { .name = "for", .value = "LONG", .help = "how long it took: 45m, 1h30" },
    ENTRY_OPTIONS,
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_workout_add = {
    .name = "journal workout add",
    .operands = "KIND [TEXT...]",
    .summary = "Notes a workout",
    .details = "KIND is a word of yours (run, gym); agents may wait for it:\n\n"
               "  dormouse journal workout add run along the river --for 35m",
    .options = workout_options,
    .operands_min = 1,
    .operands_max = -1,
    .run = run_workout,
};

static int run_measure(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JSON value = NULL;
    AUTO_JOT jot;

    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    if (json_parse(str_from(cli_operand(args, 1)), &value, NULL) < 0 ||
        !(json_object_is_type(value, json_type_double) ||
          json_object_is_type(value, json_type_int))) {
        err_set(&jot.err, ERR_BAD_REQUEST, "VALUE must be a number, not \"%.40s\"",
                cli_operand(args, 1));
        return cli_misused(args, &jot.err);
    }
    jot_says(&jot, "subtype", "KIND");
    jot_says(&jot, "value", "VALUE");
    jot_says(&jot, "unit", "UNIT");
    jot_add(body, "subtype", str_from(cli_operand(args, 0)));
    json_object_object_add(body, "value", json_object_get(value));
    jot_add(body, "unit", str_from(cli_operand(args, 2)));
    return add_entry(&jot, body, "measurement");
}

const struct cli_command cli_cmd_journal_measure_add = {
    .name = "journal measure add",
    .operands = "KIND VALUE [UNIT]",
    .summary = "Notes a measurement",
    .details = "  dormouse journal measure add weight 71.5 kg",
    .options = entry_options,
    .operands_min = 2,
    .operands_max = 3,
    .run = run_measure,
};

/* ---- listing entries ---- */

/* "35 min", "71.5 kg"; "" when it has neither. */
static const char *how_much(struct json_object *entry, char ret_text[JOT_WHEN_SIZE])
{
    struct json_object *took = json_find(entry, "durationMs"), *value = json_find(entry, "value");
    struct str unit = jot_member(entry, "unit");

    ret_text[0] = '\0';
    if (took)
        jot_span(json_object_get_int64(took), ret_text);
    else if (value)
        snprintf(ret_text, JOT_WHEN_SIZE, "%.10g%s%.*s", json_object_get_double(value),
                 unit.n ? " " : "", STR_ARG(utf8_truncate(unit, 20)));
    return ret_text;
}

static void print_entries(struct jot *jot, struct json_object *items)
{
    static const char *const head[] = { "ID", "WHEN", "KIND", "HOW MUCH", "WHAT", NULL };
    size_t width = jot_id_width(items);
    struct columns columns;

    columns_init(&columns, head);
    for (size_t i = 0; i < json_length(items); i++) {
        struct json_object *entry = json_object_array_get_idx(items, i);
        char when[JOT_WHEN_SIZE], much[JOT_WHEN_SIZE];
        struct str what =
            jot_member(entry, "title").n ? jot_member(entry, "title") : jot_member(entry, "body");

        columns_add(&columns,
                    (struct str[]){ str_take(jot_member(entry, "id"), width),
                                    str_from(jot_clock(jot, jot_member(entry, "at"), when)),
                                    jot_member(entry, "subtype").n ? jot_member(entry, "subtype")
                                                                   : jot_member(entry, "kind"),
                                    str_from(how_much(entry, much)), what });
    }
    columns_print(&columns, stdout);
    columns_release(&columns);
}

int jot_entries(const struct cli_args *args, const char *kind, const char *empty)
{
    AUTO_JSON items = NULL;
    AUTO_JOT jot;
    bool more;

    if (jot_open(&jot, args) < 0 ||
        jot_list(&jot, arena_printf(&jot.arena, "entries?order=newest&limit=500&kind=%s", kind),
                 500, &items, &more) < 0)
        return jot_fail(&jot);
    if (cli_json(args)) {
        cli_print_lines(items);
        return CLI_DONE;
    }
    if (json_length(items))
        print_entries(&jot, items);
    else
        printf("%s\n", empty);
    jot_say_more(more, "`dormouse journal export` has all of them");
    return CLI_DONE;
}

static int run_notes(const struct cli_args *args)
{
    return jot_entries(args, "note", "No notes. `dormouse journal note add TEXT` makes one.");
}

static int run_workouts(const struct cli_args *args)
{
    return jot_entries(args, "workout",
                       "No workouts. `dormouse journal workout add run --for 30m` notes one.");
}

static int run_measures(const struct cli_args *args)
{
    return jot_entries(args, "measurement",
                       "No measurements. `dormouse journal measure add weight 71.5 kg` notes one.");
}

#define LIST_COMMAND(name_, function, text)                                                        \
    {                                                                                              \
        .name = "journal " name_ " list", .operands = "", .summary = (text), .run = (function),    \
    }
const struct cli_command cli_cmd_journal_note_list =
    LIST_COMMAND("note", run_notes, "Lists notes, newest first");
const struct cli_command cli_cmd_journal_workout_list =
    LIST_COMMAND("workout", run_workouts, "Lists workouts, newest first");
const struct cli_command cli_cmd_journal_measure_list =
    LIST_COMMAND("measure", run_measures, "Lists measurements, newest first");

static int run_entry_rm(const struct cli_args *args)
{
    return jot_each(args, "DELETE", "entries", "", "Deleted");
}

static int run_entry_restore(const struct cli_args *args)
{
    return jot_each(args, "POST", "entries", "/restore", "Restored");
}

/* "workout run: 35 min, yesterday 18:00", then what else there is. */
static void print_entry(struct jot *jot, struct json_object *entry)
{
    AUTO_BUF first = BUF_INIT(4 * KIB);
    char when[JOT_WHEN_SIZE], much[JOT_WHEN_SIZE];

    buf_add_str(&first, jot_member(entry, "kind"));
    if (jot_member(entry, "subtype").n)
        buf_printf(&first, " %.*s", STR_ARG(jot_member(entry, "subtype")));
    if (*how_much(entry, much))
        buf_printf(&first, ": %s", much);
    buf_printf(&first, ", %s", jot_clock(jot, jot_member(entry, "at"), when));
    jot_line(jot, "", buf_str(&first));
    if (jot_member(entry, "categoryId").n)
        jot_line(jot, "category  ", jot_category_name(jot, jot_member(entry, "categoryId")));
    if (jot_member(entry, "title").n)
        jot_line(jot, "", jot_member(entry, "title"));
    if (jot_member(entry, "body").n)
        jot_line(jot, "", jot_member(entry, "body"));
}

static int run_entry_show(const struct cli_args *args)
{
    AUTO_JSON answer = NULL;
    AUTO_JOT jot;

    if (jot_open(&jot, args) < 0 ||
        jot_ask(&jot, "GET", NULL, &answer, "entries/%s", jot_part(&jot, cli_operand(args, 0))) < 0)
        return jot_fail(&jot);
    if (cli_json(args))
        return jot_print(&jot, json_object_get(answer));
    print_entry(&jot, answer);
    return CLI_DONE;
}

#define ENTRY_COMMAND(verb, function, many, text)                                                  \
    {                                                                                              \
        .name = "journal entry " verb, .operands = (many) < 0 ? "ENTRY..." : "ENTRY",              \
        .summary = (text), .operands_min = 1, .operands_max = (many), .run = (function),           \
    }
const struct cli_command cli_cmd_journal_entry_show =
    ENTRY_COMMAND("show", run_entry_show, 1, "Shows a note, workout or measurement");
const struct cli_command cli_cmd_journal_entry_rm =
    ENTRY_COMMAND("rm", run_entry_rm, -1, "Deletes notes, workouts or measurements");
const struct cli_command cli_cmd_journal_entry_restore =
    ENTRY_COMMAND("restore", run_entry_restore, -1, "Brings deleted entries back");

/* ---- categories and labels ---- */

static int add_named(const struct cli_args *args, const char *plural)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JOT jot;
    struct json_object *answer;

    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    jot_says(&jot, "name", "NAME");
    jot_says(&jot, "color", "--color");
    jot_says(&jot, "id", "--id");
    jot_add(body, "name", jot_words(&jot, 0));
    jot_add(body, "color", str_from(cli_value(args, "color")));
    jot_add(body, "id", str_from(cli_value(args, "id")));
    if (jot_ask(&jot, "POST", body, &answer, "%s", plural) < 0)
        return jot_fail(&jot);
    return jot_done(&jot, answer, "Added");
}

static int list_named(const struct cli_args *args, const char *plural)
{
    static const char *const head[] = { "ID", "COLOR", "NAME", NULL };
    AUTO_JSON items = NULL;
    struct columns columns;
    AUTO_JOT jot;
    bool more;

    if (jot_open(&jot, args) < 0 ||
        jot_list(&jot, arena_printf(&jot.arena, "%s?limit=1000", plural), LIST_MAX, &items, &more) <
            0)
        return jot_fail(&jot);
    columns_init(&columns, head);
    for (size_t i = 0; i < json_length(items); i++) {
        struct json_object *item = json_object_array_get_idx(items, i);

        if (cli_json(args))
            cli_print_json(json_object_get(item));
        else
            columns_add(&columns, (struct str[]){ jot_member(item, "id"), jot_member(item, "color"),
                                                  jot_member(item, "name") });
    }
    if (!cli_json(args) && json_length(items))
        columns_print(&columns, stdout);
    else if (!cli_json(args))
        printf("There are no %s yet. `dormouse journal %s add NAME` makes one.\n", plural,
               strcmp(plural, "labels") == 0 ? "label" : "category");
    if (!cli_json(args))
        jot_say_more(more, "");
    columns_release(&columns);
    return CLI_DONE;
}

static const struct jot_option named_members[] = {
    { "name", "name", JOT_TEXT },
    { "color", "color", JOT_TEXT },
    { NULL, NULL, 0 },
};

static int set_named(const struct cli_args *args, const char *plural)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JOT jot;
    struct json_object *answer;
    struct str id;

    if (jot_open(&jot, args) < 0 || jot_take(&jot, named_members, body) < 0)
        return jot_fail(&jot);
    if (strcmp(plural, "categories") == 0 && cli_value(args, "archived"))
        json_object_object_add(
            body, "archived",
            json_object_new_boolean(strcmp(cli_value(args, "archived"), "yes") == 0));
    if (!json_object_object_length(body))
        return jot_idle(&jot, "--name, --color ...");
    if (jot_named(&jot, plural, cli_operand(args, 0), &id) < 0 ||
        jot_ask(&jot, "PATCH", body, &answer, "%s/%.*s", plural, STR_ARG(id)) < 0)
        return jot_fail(&jot);
    return jot_done(&jot, answer, "Changed");
}

static int remove_named(const struct cli_args *args, const char *plural)
{
    AUTO_JOT jot;
    struct json_object *answer;
    struct str id;

    if (jot_open(&jot, args) < 0 || jot_named(&jot, plural, cli_operand(args, 0), &id) < 0 ||
        jot_ask(&jot, "DELETE", NULL, &answer, "%s/%.*s", plural, STR_ARG(id)) < 0)
        return jot_fail(&jot);
    answer = json_object_new_object();
    jot_add(answer, "id", id);
    return jot_done(&jot, answer, "Deleted");
}

static const struct cli_option make_options[] = {
    { .name = "color", .value = "COLOR", .help = "#3b82f6" },
    { .name = "id", .value = "ID", .help = "a short id of yours, which agents are given" },
    { .name = NULL },
};
static const struct cli_option category_options[] = {
    { .name = "name", .value = "NAME", .help = "what it is called" },
    { .name = "color", .value = "COLOR", .help = "#3b82f6; none" },
    { .name = "archived", .value = "YES", .help = "not offered any more", .choices = "yes no" },
    { .name = NULL },
};
static const struct cli_option label_options[] = {
    { .name = "name", .value = "NAME", .help = "what it is called" },
    { .name = "color", .value = "COLOR", .help = "#3b82f6; none" },
    { .name = NULL },
};

#define NAMED(word, plural, upper)                                                                 \
    static int run_##word##_add(const struct cli_args *args)                                       \
    {                                                                                              \
        return add_named(args, plural);                                                            \
    }                                                                                              \
    static int run_##word##_list(const struct cli_args *args)                                      \
    {                                                                                              \
        return list_named(args, plural);                                                           \
    }                                                                                              \
    static int run_##word##_set(const struct cli_args *args)                                       \
    {                                                                                              \
        return set_named(args, plural);                                                            \
    }                                                                                              \
    static int run_##word##_rm(const struct cli_args *args)                                        \
    {                                                                                              \
        return remove_named(args, plural);                                                         \
    }                                                                                              \
    const struct cli_command cli_cmd_journal_##word##_add = {                                      \
        .name = "journal " #word " add",                                                           \
        .operands = "NAME...",                                                                     \
        .summary = "Adds a " #word,                                                                \
        .options = make_options,                                                                   \
        .operands_min = 1,                                                                         \
        .operands_max = -1,                                                                        \
        .run = run_##word##_add,                                                                   \
    };                                                                                             \
    const struct cli_command cli_cmd_journal_##word##_list = {                                     \
        .name = "journal " #word " list",                                                          \
        .operands = "",                                                                            \
        .summary = "Lists " plural,                                                                \
        .run = run_##word##_list,                                                                  \
    };                                                                                             \
    const struct cli_command cli_cmd_journal_##word##_set = {                                      \
        .name = "journal " #word " set",                                                           \
        .operands = (upper),                                                                       \
        .summary = "Changes a " #word,                                                             \
        .options = word##_options,                                                                 \
        .operands_min = 1,                                                                         \
        .operands_max = 1,                                                                         \
        .run = run_##word##_set,                                                                   \
    };                                                                                             \
    const struct cli_command cli_cmd_journal_##word##_rm = {                                       \
        .name = "journal " #word " rm",                                                            \
        .operands = (upper),                                                                       \
        .summary = "Deletes a " #word,                                                             \
        .operands_min = 1,                                                                         \
        .operands_max = 1,                                                                         \
        .run = run_##word##_rm,                                                                    \
    };

NAMED(category, "categories", "CATEGORY")
NAMED(label, "labels", "LABEL")

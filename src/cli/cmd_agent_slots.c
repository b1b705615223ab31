/* dormouse agent slots: what an agent keeps in mind between its runs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/talk.h"

static const char *const names[] = { "primaryGoal", "activeTaskId", "openLoopIds",
                                     "preferenceByKey" };
#define PREFERENCE "preferenceByKey."

/* ---- what was typed ---- */

static struct json_object *text_or_null(struct str text)
{
    return text.n ? json_object_new_string_len(text.p, (int)text.n) : NULL;
}

static struct json_object *list_of(struct str text)
{
    struct json_object *list = json_object_new_array();
    struct str one;

    while (text.n && str_split(&text, ',', &one)) {
        one = str_trim(one);
        if (one.n)
            json_object_array_add(list, text_or_null(one));
    }
    return list;
}

/* One preference beside those that there are. */
static void set_preference(struct json_object *state, struct json_object *body, struct str key,
                           struct str value)
{
    struct json_object *all = json_find(body, "preferenceByKey");
    struct json_object_iter was;
    char name[256];

    if (!all) {
        all = json_object_new_object();
        json_object_object_add(body, "preferenceByKey", all);
        json_object_object_foreachC(json_find(state, "preferenceByKey"), was)
            json_object_object_add(all, was.key, json_object_get(was.val));
    }
    snprintf(name, sizeof(name), "%.*s", STR_ARG(key));
    if (value.n)
        json_object_object_add(all, name, text_or_null(value));
    else
        json_object_object_del(all, name);
}

static int read_slot(struct json_object *state, struct json_object *body, const char *typed,
                     struct err *err)
{
    struct str value = str_from(typed), key;

    if (!strchr(typed, '=') || !str_split(&value, '=', &key) || !key.n)
        return err_set(err, ERR_BAD_REQUEST,
                       "a slot is set with KEY=VALUE, and taken away with KEY=; not \"%.60s\"",
                       typed);
    if (str_is(key, "primaryGoal") || str_is(key, "activeTaskId"))
        json_object_object_add(body, str_is(key, "primaryGoal") ? "primaryGoal" : "activeTaskId",
                               text_or_null(value));
    else if (str_is(key, "openLoopIds"))
        json_object_object_add(body, "openLoopIds", list_of(value));
    else if (str_is(key, "preferenceByKey") && !value.n)
        json_object_object_add(body, "preferenceByKey", json_object_new_object());
    else if (str_starts(key, STR(PREFERENCE)) && key.n > strlen(PREFERENCE) && key.n < 256)
        set_preference(state, body, str_skip(key, strlen(PREFERENCE)), value);
    else
        return err_set(err, ERR_BAD_REQUEST,
                       "there is no slot \"%.*s\"; there are primaryGoal=TEXT, activeTaskId=ID, "
                       "openLoopIds=ID,ID and preferenceByKey.NAME=TEXT",
                       key.n > 60 ? 60 : (int)key.n, key.p);
    return 0;
}

/* ---- showing ---- */

static void print_slots(struct json_object *state)
{
    static const char *const head[] = { "SLOT", "VERSION", "VALUE", NULL };
    struct json_object *versions = json_find(state, "slotVersions");
    struct columns columns;

    columns_init(&columns, head);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct json_object *value = json_find(state, names[i]);
        int64_t version = 0;
        char number[24];

        json_get_i64(versions, names[i], &version, NULL);
        snprintf(number, sizeof(number), "%lld", (long long)version);
        columns_add(&columns,
                    (struct str[]){ str_from(names[i]), str_from(number),
                                    json_object_is_type(value, json_type_string)
                                        ? json_str(value)
                                        : str_from(value ? json_object_to_json_string_ext(
                                                               value, JSON_C_TO_STRING_PLAIN)
                                                         : "") });
    }
    columns_print(&columns, stdout);
    columns_release(&columns);
}

static int read_slots(const struct cli_args *args, struct json_object *state,
                      struct json_object *body, struct err *err)
{
    for (size_t i = 1; i < cli_operand_count(args); i++)
        if (read_slot(state, body, cli_operand(args, i), err) < 0)
            return -1;
    return 0;
}

static int change(struct talk *talk, const char *path, struct json_object *body,
                  struct json_object **state, struct err *err)
{
    AUTO_JSON after = NULL;
    AUTO_BUF text = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&text);

    json_write_value(&w, body);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "that is more than slots can hold");
    if (talk_ask(talk, "PATCH", path, buf_str(&text), &after, err) < 0)
        return -1;
    json_object_put(*state);
    *state = TAKE(after);
    return 0;
}

static int run_slots(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO(talk) talk = NULL;
    AUTO_JSON state = NULL;
    AUTO_JSON body = json_object_new_object();
    struct err err = ERR_INIT;

    buf_add_text(&path, "/api/v1/agents/");
    decide_add_segment(&path, cli_operand(args, 0));
    buf_add_text(&path, "/state");
    if (talk_open(args, &talk, &err) < 0 ||
        talk_ask(talk, "GET", buf_text(&path), STR_NONE, &state, &err) < 0)
        return cli_fail(args, &err);
    if (read_slots(args, state, body, &err) < 0)
        return cli_misused(args, &err);
    if (cli_operand_count(args) > 1 && change(talk, buf_text(&path), body, &state, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args))
        cli_print_json(json_object_get(state));
    else
        print_slots(state);
    return CLI_DONE;
}

const struct cli_command cli_cmd_agent_slots = {
    .name = "agent slots",
    .operands = "AGENT [KEY=VALUE...]",
    .summary = "Shows what an agent keeps in mind, or sets it",
    .details = "Each slot has a version that grows with every change, by the agent or by you. An "
               "empty value takes a slot away.\n\n"
               "  dormouse agent slots coach 'primaryGoal=Run 10 km in May'\n"
               "  dormouse agent slots coach preferenceByKey.tone=short activeTaskId=\n"
               "  dormouse agent slots coach openLoopIds=ID,ID",
    .operands_min = 1,
    .operands_max = 17,
    .run = run_slots,
};

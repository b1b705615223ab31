/* A subscription as people type it, made into what the daemon takes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/subscribe_form.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "change/token.h"
#include "cli/said.h"
#include "cli/talk.h"

/* The innermost reason: what a token looks like inside is nobody's concern, unless it was typed. */
static int refuse_token(const char *option, const char *typed, struct err *err)
{
    char why[ERR_TEXT_MAX] = "";
    bool whole = strcmp(option, "token") == 0;

    if (whole)
        return err_wrap(err, "--token");
    for (unsigned i = 0; err_message(err, i); i++)
        snprintf(why, sizeof(why), "%s", err_message(err, i));
    err_reset(err);
    return err_set(err, ERR_BAD_REQUEST, "--%s %.60s: %s", option, typed,
                   str_starts(str_from(why), STR("token: ")) ? why + 7 : why);
}

/* A token as people write it. What is wrong with it is said of the option. */
static int add_token(struct json_object *list, const char *option, const char *typed,
                     struct str text, struct err *err)
{
    struct token token;

    if (token_parse_text(text, &token, err) < 0)
        return refuse_token(option, typed, err);
    json_object_array_add(list, json_object_new_string_len(text.p, (int)text.n));
    return 0;
}

/* --key TASK, --subtype workoutType=run, --id ID, --token sub:workoutType:run. */
static int read_tokens(const struct cli_args *args, struct json_object *list, struct err *err)
{
    static const struct {
        const char *option, *prefix;
    } kinds[] = { { "key", "k:" }, { "subtype", "sub:" }, { "id", "id:" }, { "token", "" } };

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        const char *option = kinds[k].option, *value;

        for (size_t i = 0; (value = cli_value_at(args, option, i)); i++) {
            AUTO_BUF text = BUF_INIT(4 * KIB);
            const char *sign = strchr(value, '=');

            buf_add_text(&text, kinds[k].prefix);
            if (strcmp(option, "subtype") != 0)
                buf_add_text(&text, value);
            else if (!sign || sign == value || !sign[1])
                return err_set(err, ERR_BAD_REQUEST,
                               "--subtype is written KIND=VALUE (workoutType=run), not \"%.60s\"",
                               value);
            else
                buf_printf(&text, "%.*s:%s", (int)(sign - value), value, sign + 1);
            if (add_token(list, option, value, buf_str(&text), err) < 0)
                return -1;
        }
    }
    return 0;
}

static void add_list(struct json_object *body, const char *key, struct str text)
{
    struct json_object *list = json_object_new_array();
    struct str one;

    json_object_object_add(body, key, list);
    while (text.p && str_split(&text, ',', &one)) {
        one = str_trim(one);
        if (one.n)
            json_object_array_add(list, json_object_new_string_len(one.p, (int)one.n));
    }
}

/* "7:00-22:00"; before it days, behind it a zone: "mo,tu,we 7:00-22:00 Europe/Berlin". */
static int read_hours(const char *typed, struct json_object *body, struct err *err)
{
    struct json_object *hours = json_object_new_object();
    struct str text = str_trim(str_from(typed)), days, zone = STR_NONE, from;
    char clock[2][16];
    ptrdiff_t space;
    size_t at = 0;

    json_object_object_add(body, "activeHours", hours);
    while (at < text.n && (text.p[at] < '0' || text.p[at] > '9'))
        at++;
    days = str_trim(str_take(text, at));
    text = str_skip(text, at);
    space = str_find_char(text, ' ');
    if (space >= 0) {
        zone = str_trim(str_skip(text, (size_t)space));
        text = str_take(text, (size_t)space);
    }
    if (!str_split(&text, '-', &from) || !text.p || from.n < 4 || from.n > 5 || text.n < 4 ||
        text.n > 5)
        return err_set(err, ERR_BAD_REQUEST,
                       "--hours is written 7:00-22:00, with days and a zone \"mo,tu,we 7:00-22:00 "
                       "Europe/Berlin\", not \"%.60s\"",
                       typed);
    snprintf(clock[0], sizeof(clock[0]), "%s%.*s", from.n == 4 ? "0" : "", STR_ARG(from));
    snprintf(clock[1], sizeof(clock[1]), "%s%.*s", text.n == 4 ? "0" : "", STR_ARG(text));
    json_object_object_add(hours, "from", json_object_new_string(clock[0]));
    json_object_object_add(hours, "to", json_object_new_string(clock[1]));
    if (days.n)
        add_list(hours, "days", days);
    if (zone.n)
        json_object_object_add(hours, "zone", json_object_new_string_len(zone.p, (int)zone.n));
    return 0;
}

/* "90", "90s", "10m", "2h", "1d" in seconds. */
static int read_seconds(const char *typed, int64_t *ret_seconds, struct err *err)
{
    struct str text = str_from(typed);
    int64_t unit = 1;

    if (text.n > 1) {
        char last = text.p[text.n - 1];

        unit = last == 'd' ? 86400 : last == 'h' ? 3600 : last == 'm' ? 60 : 1;
        if (unit > 1 || last == 's')
            text = str_take(text, text.n - 1);
    }
    if (str_to_i64(text, ret_seconds) < 0 || *ret_seconds < 0 || *ret_seconds > 30 * 86400 / unit)
        return err_set(err, ERR_BAD_REQUEST,
                       "--cooldown is a time such as 10m, 2h or 1d, at most 30d; not \"%.40s\"",
                       typed);
    *ret_seconds *= unit;
    return 0;
}

/* The first key says where changes come from: AGENT, AGENT_MESSAGE and their like are those of
 * agents. With ids alone it is the journal, unless --agents says otherwise. */
static const char *source_of(const struct cli_args *args, struct json_object *tokens)
{
    struct str key = STR_NONE;

    if (cli_has(args, "webhook"))
        return "webhook";
    if (cli_value(args, "folder"))
        return "files";
    for (size_t i = 0; i < json_length(tokens) && !key.n; i++)
        if (str_starts(json_str(json_object_array_get_idx(tokens, i)), STR("k:")))
            key = json_str(json_object_array_get_idx(tokens, i));
    return cli_has(args, "agents") || str_starts(key, STR("k:AGENT")) ? "agent" : "journal";
}

/* What says nothing about files or calls is not dropped, but refused. */
static int check_together(const struct cli_args *args, struct err *err)
{
    static const char *const changes[] = { "key",    "subtype", "id",     "token",
                                           "agents", "where",   "authors" };
    const char *other = cli_has(args, "webhook") ? "webhook" : "folder";

    if (cli_has(args, "webhook") && cli_has(args, "folder"))
        return err_set(err, ERR_BAD_REQUEST,
                       "--folder and --webhook are two subscriptions; make one after the other");
    if (cli_has(args, "glob") && !cli_has(args, "folder"))
        return err_set(err, ERR_BAD_REQUEST, "--glob is for files; give --folder DIR too");
    for (size_t i = 0; cli_has(args, other) && i < ARRAY_LEN(changes); i++)
        if (cli_has(args, changes[i]))
            return err_set(err, ERR_BAD_REQUEST,
                           "--%s is for changes of records, --%s waits for %s; make two "
                           "subscriptions, or leave one of them out",
                           changes[i], other, cli_has(args, "webhook") ? "calls" : "files");
    return 0;
}

/* From here, when it is not from the root. */
static int read_folder(const char *typed, struct json_object *body, struct err *err)
{
    char here[LIMIT_PATH_BYTES];
    AUTO_BUF path = BUF_INIT(2 * LIMIT_PATH_BYTES);

    if (*typed != '/') {
        if (!getcwd(here, sizeof(here)))
            return err_set(err, ERR_BAD_REQUEST, "--folder: where this is can't be said: %s",
                           strerror(errno));
        buf_printf(&path, "%s/", here);
    }
    buf_add_text(&path, strcmp(typed, ".") == 0 ? "" : typed);
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.p[--path.n] = '\0';
    json_object_object_add(body, "folder", json_object_new_string(buf_text(&path)));
    return 0;
}

int subscribe_form(const struct cli_args *args, struct json_object *body, struct err *err)
{
    static const char *const texts[][2] = { { "where", "predicate" },
                                            { "glob", "glob" },
                                            { "prompt", "prompt" } };
    struct json_object *tokens = json_object_new_array();
    const char *source;
    int64_t seconds;

    json_object_object_add(body, "tokens", tokens);
    if (check_together(args, err) < 0 || read_tokens(args, tokens, err) < 0)
        return -1;
    source = source_of(args, tokens);
    json_object_object_add(body, "source", json_object_new_string(source));
    json_object_object_add(body, "name",
                           json_object_new_string(cli_value(args, "name")  ? cli_value(args, "name")
                                                  : cli_value(args, "key") ? cli_value(args, "key")
                                                                           : source));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (cli_value(args, texts[i][0]))
            json_object_object_add(body, texts[i][1],
                                   json_object_new_string(cli_value(args, texts[i][0])));
    if (cli_value(args, "folder") && read_folder(cli_value(args, "folder"), body, err) < 0)
        return -1;
    if (!cli_has(args, "folder") && !cli_has(args, "webhook") && !json_length(tokens))
        return err_set(err, ERR_BAD_REQUEST,
                       "what should wake it? give --key TASK (or WORKOUT, NOTE, RATING ...), "
                       "--subtype, --id, --token, --folder DIR or --webhook");
    if (cli_value(args, "authors"))
        add_list(body, "authors", str_from(cli_value(args, "authors")));
    if (cli_value(args, "hours") && read_hours(cli_value(args, "hours"), body, err) < 0)
        return -1;
    if (cli_value(args, "cooldown")) {
        if (read_seconds(cli_value(args, "cooldown"), &seconds, err) < 0)
            return -1;
        json_object_object_add(body, "cooldownSeconds", json_object_new_int64(seconds));
    }
    return 0;
}

int subscribe_send(const struct cli_args *args, const char *path, struct json_object *body,
                   struct json_object **ret_answer, struct err *err)
{
    static const struct said_word words[] = {
        { "authors", "--authors" },
        { "activeHours", "--hours" },
        { "predicate", "--where" },
        { "folder", "--folder" },
        { "glob", "--glob" },
        { "name", "--name" },
        { "prompt", "--prompt" },
        { "days", "--days" },
        { "cooldownSeconds", "--cooldown" },
        { NULL, NULL },
    };
    AUTO_BUF text = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&text);

    json_write_value(&w, body);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "that is more than a subscription can hold");
    if (talk_once(args, "POST", path, buf_str(&text), ret_answer, err) == 0)
        return 0;
    said_by(words, err);
    return -1;
}

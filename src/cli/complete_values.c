/* What the names in the table of commands stand for, when it is completed: ids of what a daemon
 * that runs knows, and the words of fixed lists.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "change/token.h"
#include "cli/complete.h"
#include "cli/decide.h"
#include "cli/talk.h"
#include "house/data_dir.h"

#define PATIENCE_S 2 /* whoever presses a key does not wait longer */

/* command: its first word, "" for any. In path "AGENT/" stands for the agent of the line. */
struct source {
    const char *command, *name, *path, *list, *id, *says;
};
static const struct source sources[] = {
    { "", "AGENT", "agents", "agents", "id", "displayName" },
    { "subscribe", "ID", "subscriptions", "items", "id", "name" },
    { "timer", "ID", "timers", "items", "id", "name" },
    { "inbox", "ID", "inbox", "items", "id", "title" },
    { "approve", "ID", "inbox", "items", "id", "title" },
    { "reject", "ID", "inbox", "items", "id", "title" },
    { "edit", "ID", "inbox", "items", "id", "title" },
    { "answer", "ID", "inbox", "items", "id", "title" },
    { "model", "ID", "models", "models", "id", "provider" },
    { "", "--model", "models", "models", "id", "provider" },
    { "", "--template", "templates", "templates", "id", "name" },
    { "", "RUN", "runs", "runs", "runId", "prompt" },
    { "", "WAKE", "wakes", "items", "runKey", "why" },
    { "", "THREAD", "AGENT/threads", "threads", "id", "title" },
    { "", "SKILL", "AGENT/skills", "skills", "name", "description" },
    { "", "TASK", "journal/tasks", "items", "id", "title" },
    { "", "CATEGORY", "journal/categories", "items", "name", "" },
    { "", "LABEL", "journal/labels", "items", "name", "" },
};

static const char *const account_names[] = { "slack", "google", NULL };
static const struct {
    const char *name;
    const char *const *words;
} fixed[] = { { "KEY", token_semantic_keys }, { "ACCOUNT", account_names } };

static bool begins(const struct complete *line, const char *word)
{
    size_t n = strlen(word);

    return strncmp(line->path, word, n) == 0 && (!n || line->path[n] == ' ' || !line->path[n]);
}

/* ---- asking ---- */

static int open_talk(const struct complete *line, struct talk **ret_talk, struct err *err)
{
    AUTO_TEXT dir = NULL;
    char path[LIMIT_PATH_BYTES];

    if (data_dir_resolve(line->data, &dir, err) < 0)
        return -1;
    if (snprintf(path, sizeof(path), "%s/dormouse.sock", dir) >= (int)sizeof(path))
        return -1;
    return talk_connect(path, ret_talk, err);
}

static int get(struct talk *talk, const char *path, struct json_object **ret_answer)
{
    AUTO_BUF whole = BUF_INIT(4 * KIB);
    struct err ignored = ERR_INIT;

    buf_printf(&whole, "/api/v1/%s", path);
    return talk_ask(talk, "GET", buf_text(&whole), STR_NONE, ret_answer, &ignored);
}

/* The agent of the line, or the only one. */
static int add_agent(const struct complete *line, struct talk *talk, struct buf *path)
{
    AUTO_JSON answer = NULL;
    struct json_object *agents;

    buf_add_text(path, "agents/");
    if (line->agent) {
        decide_add_segment(path, line->agent);
        return 0;
    }
    if (get(talk, "agents", &answer) < 0)
        return -1;
    agents = json_find(answer, "agents");
    if (json_length(agents) != 1)
        return -1;
    buf_add_str(path, json_member(json_object_array_get_idx(agents, 0), "id"));
    return 0;
}

static void add_items(struct complete *line, const char *before, const struct source *source)
{
    AUTO(talk) talk = NULL;
    AUTO_JSON answer = NULL;
    AUTO_BUF path = BUF_INIT(4 * KIB);
    const char *rest = source->path;
    struct err ignored = ERR_INIT;
    struct json_object *items;

    alarm(PATIENCE_S);
    if (open_talk(line, &talk, &ignored) < 0)
        return;
    if (str_starts(str_from(rest), STR("AGENT/"))) {
        if (add_agent(line, talk, &path) < 0)
            return;
        rest += strlen("AGENT");
    }
    buf_add_text(&path, rest);
    if (get(talk, buf_text(&path), &answer) < 0)
        return;
    items = json_find(answer, source->list);
    for (size_t i = 0; i < json_length(items); i++) {
        struct json_object *one = json_object_array_get_idx(items, i);

        complete_add(line, before, json_member(one, source->id), json_member(one, source->says));
    }
    alarm(0);
}

/* ---- all kinds ---- */

/* Where names stand for files: PATH of memory is inside an agent. */
static const char *files_of(const struct complete *line, const char *name)
{
    static const char *const files[] = {
        "FILE", "PATH", "SCHEMA", "INSTANCE", "COMMAND", "ARGUMENT"
    };

    if (strcmp(name, "DIR") == 0)
        return ":dir";
    for (size_t i = 0; i < ARRAY_LEN(files) && !begins(line, "memory"); i++)
        if (strcmp(name, files[i]) == 0)
            return ":file";
    return NULL;
}

void complete_values(struct complete *line, const char *before, const char *name)
{
    if (files_of(line, name))
        buf_printf(line->out, "%s\n", files_of(line, name));
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        for (size_t k = 0; strcmp(fixed[i].name, name) == 0 && fixed[i].words[k]; k++)
            complete_add(line, before, str_from(fixed[i].words[k]), STR_NONE);
    for (size_t i = 0; i < ARRAY_LEN(sources); i++)
        if (strcmp(sources[i].name, name) == 0 && begins(line, sources[i].command))
            add_items(line, before, &sources[i]);
}

/* The slash commands of a conversation: one table, from which help and completion follow.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "cli/chat_int.h"
#include "cli/decide.h"
#include "cli/log_reader.h"
#include "cli/term.h"
#include "run/trace.h"

#define RECALLED 6 /* messages shown when a conversation is resumed */

struct command {
    const char *name, *operand, *help;
    int (*run)(struct chat *chat, struct str operand, struct err *err);
    void (*offer)(struct chat *chat, chat_offer_fn *offer, void *to); /* operands; NULL: none */
};

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

static void print(struct str text)
{
    char *copy = alloc_copy(text.p ? text.p : "", text.n);

    term_text(stdout, copy);
    free(copy);
}

static int get(struct chat *chat, const char *path, struct json_object **ret_body, struct err *err)
{
    return talk_ask(chat->talk, "GET", path, STR_NONE, ret_body, err);
}

/* The agent whose threads are meant: the first one is the one that greets. */
static int agent_path(struct chat *chat, const char *rest, struct buf *path, struct err *err)
{
    AUTO_JSON agents = NULL;
    struct json_object *list = NULL;
    char *id = NULL;

    if (!chat->agent) {
        if (get(chat, "/api/v1/agents", &agents, err) < 0)
            return -1;
        json_get_array(agents, "agents", &list, NULL);
        if (!json_length(list))
            return err_set(err, ERR_NOT_FOUND, "nobody has spoken here yet");
        chat_set(&id, member(json_object_array_get_idx(list, 0), "id"));
    }
    buf_add_text(path, "/api/v1/agents/");
    decide_add_segment(path, id ? id : chat->agent);
    buf_add_text(path, rest);
    free(id);
    return 0;
}

/* Calls fn for every object of the list `key` at path. */
static int each(struct chat *chat, const char *path, const char *key,
                void (*fn)(struct json_object *item, void *arg), void *arg, struct err *err)
{
    AUTO_JSON body = NULL;
    struct json_object *list = NULL;

    if (get(chat, path, &body, err) < 0 || json_get_array(body, key, &list, err) < 0)
        return -1;
    for (size_t i = 0; i < json_length(list); i++)
        fn(json_object_array_get_idx(list, i), arg);
    return 0;
}

/* ---- what may follow a command ---- */

struct offering {
    chat_offer_fn *offer;
    void *to;
    const char *key;
};

static void offer_one(struct json_object *item, void *arg)
{
    struct offering *offering = arg;
    char *word = NULL;

    chat_set(&word, member(item, offering->key));
    if (word)
        offering->offer(offering->to, word);
    free(word);
}

static void offer_agents(struct chat *chat, chat_offer_fn *offer, void *to)
{
    struct offering offering = { offer, to, "id" };
    struct err err = ERR_INIT;

    each(chat, "/api/v1/agents", "agents", offer_one, &offering, &err);
}

static void offer_models(struct chat *chat, chat_offer_fn *offer, void *to)
{
    struct offering offering = { offer, to, "id" };
    struct err err = ERR_INIT;

    each(chat, "/api/v1/models", "models", offer_one, &offering, &err);
}

static void offer_threads(struct chat *chat, chat_offer_fn *offer, void *to)
{
    struct offering offering = { offer, to, "id" };
    AUTO_BUF path = BUF_INIT(4096);
    struct err err = ERR_INIT;

    if (agent_path(chat, "/threads?limit=20", &path, &err) == 0)
        each(chat, buf_text(&path), "threads", offer_one, &offering, &err);
}

static void offer_modes(struct chat *chat, chat_offer_fn *offer, void *to)
{
    (void)chat;
    offer(to, "structured");
    offer(to, "wiggum");
}

/* ---- conversations ---- */

static int run_new(struct chat *chat, struct str operand, struct err *err)
{
    char id[UUID_TEXT_SIZE];

    (void)operand, (void)err;
    uuid_next_text(&chat->ids, id);
    chat_set(&chat->session, str_from(id));
    chat_set(&chat->thread, STR_NONE);
    printf("A new conversation.\n");
    return 0;
}

static void print_thread(struct json_object *thread, void *arg)
{
    int64_t messages = 0;

    (void)arg;
    json_get_i64(thread, "messages", &messages, NULL);
    printf("%.*s  %4lld messages  ", STR_ARG(str_take(member(thread, "updatedAt"), 16)),
           (long long)messages);
    print(member(thread, "id"));
    printf("\n");
}

static int run_threads(struct chat *chat, struct str operand, struct err *err)
{
    AUTO_BUF path = BUF_INIT(4096);

    (void)operand;
    if (agent_path(chat, "/threads?limit=20", &path, err) < 0)
        return -1;
    return each(chat, buf_text(&path), "threads", print_thread, NULL, err);
}

struct recall {
    struct json_object *messages[RECALLED];
    size_t n;
    bool rejoins; /* what was said since the last question comes with the run's events */
};

static void recall_one(struct json_object *message, void *arg)
{
    struct recall *recall = arg;
    struct str kind = member(message, "kind");

    if (recall->rejoins && recall->n == 0 && !str_is(kind, "user"))
        return;
    if (recall->n < RECALLED && (str_is(kind, "user") || str_is(kind, "thought")) &&
        member(json_find(message, "content"), "text").n)
        recall->messages[recall->n++] = json_object_get(message);
}

/* The newest come first. */
static void show_recalled(struct chat *chat, struct recall *recall)
{
    while (recall->n) {
        struct json_object *message = recall->messages[--recall->n];
        struct str text = member(json_find(message, "content"), "text");

        if (str_is(member(message, "kind"), "user")) {
            fputs(term_style(stdout, TERM_BOLD), stdout);
            printf("> ");
            print(text);
            printf("%s\n", term_style(stdout, TERM_PLAIN));
        } else {
            chat_show_text(chat, text);
        }
        json_object_put(message);
    }
}

static void take_newest(struct json_object *thread, void *arg)
{
    char **id = arg;

    if (!*id)
        chat_set(id, member(thread, "id"));
}

static int newest_thread(struct chat *chat, struct err *err)
{
    AUTO_BUF path = BUF_INIT(4096);
    char *id = NULL;

    if (agent_path(chat, "/threads?limit=1", &path, err) < 0 ||
        each(chat, buf_text(&path), "threads", take_newest, &id, err) < 0)
        return -1;
    if (!id)
        return err_set(err, ERR_NOT_FOUND, "there is no earlier conversation");
    free(chat->thread);
    chat->thread = id;
    return 0;
}

struct waiting {
    struct chat *chat;
    char *run_id;
};

static void find_waiting(struct json_object *run, void *arg)
{
    struct waiting *waiting = arg;
    struct str status = member(run, "status");

    if (!waiting->run_id && waiting->chat->thread &&
        str_is(member(run, "threadId"), waiting->chat->thread) &&
        (str_is(status, "waiting") || str_is(status, "running")))
        chat_set(&waiting->run_id, member(run, "runId"));
}

/* The run of this conversation that is under way or waits becomes chat->run_id; or none. */
static int find_run(struct chat *chat, struct err *err)
{
    struct waiting waiting = { .chat = chat };

    chat->run_id[0] = '\0';
    if (each(chat, "/api/v1/runs?limit=100", "runs", find_waiting, &waiting, err) < 0)
        return -1;
    if (waiting.run_id)
        snprintf(chat->run_id, sizeof(chat->run_id), "%s", waiting.run_id);
    free(waiting.run_id);
    return 0;
}

/* Its events from the beginning bring what it asks. */
static int rejoin(struct chat *chat, struct err *err)
{
    char path[200];
    int r;

    snprintf(path, sizeof(path), "/api/v1/runs/%s/events", chat->run_id);
    r = talk_again(chat->talk, &chat->stream, err);
    if (r == 0)
        r = talk_follow(chat->stream, "GET", path, STR_NONE, err);
    if (r == 0)
        r = chat_follow(chat, err);
    talk_free(chat->stream);
    chat->stream = NULL;
    return r;
}

static int recall(struct chat *chat, struct err *err)
{
    struct recall recall = { .rejoins = chat->run_id[0] != '\0' };
    AUTO_BUF path = BUF_INIT(8192);
    int r;

    if (agent_path(chat, "/threads/", &path, err) < 0)
        return -1;
    decide_add_segment(&path, chat->thread);
    buf_add_text(&path, "/messages?limit=40");
    r = each(chat, buf_text(&path), "messages", recall_one, &recall, err);
    show_recalled(chat, &recall);
    return r;
}

int chat_resume(struct chat *chat, struct str id, struct err *err)
{
    if (id.n)
        chat_set(&chat->thread, id);
    else if (newest_thread(chat, err) < 0)
        return -1;
    if (find_run(chat, err) < 0 || recall(chat, err) < 0) {
        chat_set(&chat->thread, STR_NONE);
        return -1;
    }
    return chat->run_id[0] ? rejoin(chat, err) : 0;
}

static int run_resume(struct chat *chat, struct str operand, struct err *err)
{
    return chat_resume(chat, operand, err);
}

/* ---- settings ---- */

static int run_mode(struct chat *chat, struct str operand, struct err *err)
{
    if (operand.n && !str_is(operand, "structured") && !str_is(operand, "wiggum"))
        return err_set(err, ERR_BAD_REQUEST, "/mode takes structured or wiggum, not %.*s",
                       STR_ARG(str_take(operand, 40)));
    if (operand.n)
        chat_set(&chat->mode, operand);
    printf("Mode: %s\n", chat->mode ? chat->mode : "structured");
    return 0;
}

static int run_model(struct chat *chat, struct str operand, struct err *err)
{
    (void)err;
    if (operand.n)
        chat_set(&chat->model, operand);
    printf("Model: %s\n", chat->model ? chat->model : "the agent's own");
    return 0;
}

static void print_agent(struct json_object *agent, void *arg)
{
    (void)arg;
    print(member(agent, "id"));
    printf("  ");
    print(member(agent, "displayName"));
    printf("\n");
}

static int run_agent(struct chat *chat, struct str operand, struct err *err)
{
    if (!operand.n)
        return each(chat, "/api/v1/agents", "agents", print_agent, NULL, err);
    chat_set(&chat->agent, operand);
    return run_new(chat, STR_NONE, err);
}

/* ---- what waits, what runs ---- */

static void print_item(struct json_object *item, void *arg)
{
    size_t *n = arg;

    ++*n;
    printf("%.*s  %.*s  ", STR_ARG(str_take(member(item, "id"), 8)),
           STR_ARG(str_take(member(item, "kind"), 20)));
    print(member(item, "title"));
    printf("\n");
}

static int run_inbox(struct chat *chat, struct str operand, struct err *err)
{
    size_t n = 0;

    if (operand.n)
        return chat_decide_item(chat, operand, err);
    if (each(chat, "/api/v1/inbox", "items", print_item, &n, err) < 0)
        return -1;
    printf(n ? "/inbox ID decides one.\n" : "Nothing waits for you.\n");
    return 0;
}

static int run_cancel(struct chat *chat, struct str operand, struct err *err)
{
    (void)operand;
    if (!chat->run_id[0])
        return err_set(err, ERR_NOT_FOUND, "nothing has run yet");
    return chat_cancel(chat, err);
}

static void print_line(void *arg, struct str line)
{
    (void)arg;
    fwrite(line.p, 1, line.n, stdout);
    putchar('\n');
}

static int show_trace(struct chat *chat, struct str operand, struct err *err)
{
    AUTO_LOG_READER reader = { .config = NULL };
    int64_t n;

    (void)operand;
    if (!chat->run_id[0])
        return err_set(err, ERR_NOT_FOUND, "nothing has run yet");
    if (log_reader_open(chat->args, &reader, err) < 0 ||
        log_reader_find(&reader, chat->run_id, &n, err) < 0)
        return -1;
    return run_trace(reader.domain, n, reader.program, false, print_line, NULL, err);
}

static int run_quit(struct chat *chat, struct str operand, struct err *err)
{
    (void)operand, (void)err;
    chat->leave = true;
    return 0;
}

static int run_help(struct chat *chat, struct str operand, struct err *err);

static const struct command commands[] = {
    { "/help", "", "shows this", run_help, NULL },
    { "/new", "", "begins a new conversation", run_new, NULL },
    { "/threads", "", "lists earlier conversations", run_threads, NULL },
    { "/resume", "[THREAD]", "goes on with one, or with the newest", run_resume, offer_threads },
    { "/mode", "[MODE]", "structured asks before it acts, wiggum goes on by itself", run_mode,
      offer_modes },
    { "/model", "[ID]", "the model to think with", run_model, offer_models },
    { "/agent", "[ID]", "lists agents, or speaks with another", run_agent, offer_agents },
    { "/inbox", "[ID]", "what waits for you, or decides one", run_inbox, NULL },
    { "/cancel", "", "cancels the last run, if it still waits", run_cancel, NULL },
    { "/trace", "", "tells the last run event by event", show_trace, NULL },
    { "/quit", "", "leaves, as Ctrl-D does", run_quit, NULL },
};

static int run_help(struct chat *chat, struct str operand, struct err *err)
{
    (void)chat, (void)operand, (void)err;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        printf("  %-8s %-8s  %s\n", commands[i].name, commands[i].operand, commands[i].help);
    printf("A line that ends with a backslash goes on in the next; \"\"\" begins and ends several "
           "lines.\nCtrl-C cancels what runs, Tab completes, Ctrl-D leaves.\n");
    return 0;
}

void chat_command(struct chat *chat, struct str line)
{
    struct str rest = str_trim(line), name;
    struct err err = ERR_INIT;

    str_split(&rest, ' ', &name);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (!str_is(name, commands[i].name))
            continue;
        if (commands[i].run(chat, str_trim(rest), &err) < 0)
            chat_say_error(chat, &err);
        return;
    }
    err_set(&err, ERR_BAD_REQUEST, "there is no command %.*s; /help lists them",
            STR_ARG(str_take(name, 40)));
    chat_say_error(chat, &err);
}

struct filter {
    chat_offer_fn *offer;
    void *to;
    struct str begins;
};

static void offer_filtered(void *to, const char *word)
{
    struct filter *filter = to;

    if (str_starts(str_from(word), filter->begins))
        filter->offer(filter->to, word);
}

void chat_complete(void *arg, struct str before, chat_offer_fn *offer, void *to)
{
    struct filter filter = { offer, to, before };
    struct str rest = before, name = before;
    bool operand = str_find_char(before, ' ') >= 0;

    if (!before.n || before.p[0] != '/')
        return;
    if (operand)
        str_split(&rest, ' ', &name);
    filter.begins = operand ? rest : before;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (!operand)
            offer_filtered(&filter, commands[i].name);
        else if (str_is(name, commands[i].name) && commands[i].offer)
            commands[i].offer(arg, offer_filtered, &filter);
    }
}

/* dormouse threads list, show, rename, rm, restore: conversations at the terminal.
 *
 * A conversation's id names its agent ("planner:session:..."; "planner:run:..." when something woke
 * it), so that alone is enough to type; with --agent what follows "session:" is.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/show.h"
#include "cli/talk.h"
#include "cli/term.h"
#include "cli/woke.h"

#define PAGE      500   /* messages asked for at once */
#define SHOWN_MAX 10000 /* messages of one `show` */

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

static void print_line(struct str text)
{
    AUTO_BUF line = BUF_INIT(LIMIT_JSON_BYTES);

    buf_add_str(&line, text);
    term_text(stdout, buf_text(&line));
    putchar('\n');
}

/* ---- list ---- */

static void add_rows(struct columns *columns, struct str agent, struct json_object *threads)
{
    for (size_t i = 0; i < json_length(threads); i++) {
        struct json_object *thread = json_object_array_get_idx(threads, i);
        int64_t messages = 0, pending = 0;
        AUTO_BUF title = BUF_INIT(LIMIT_JSON_BYTES);
        char count[24], ago[AGO_SIZE];

        json_get_i64(thread, "messages", &messages, NULL);
        json_get_i64(thread, "pending", &pending, NULL);
        snprintf(count, sizeof(count), "%lld", (long long)messages);
        columns_add(columns, (struct str[]){ member(thread, "id"), agent, str_from(count),
                                             str_from(ago_text(member(thread, "updatedAt"),
                                                               clock_wall_ms(clock_system()), ago)),
                                             pending ? STR("waits for you") : STR(""),
                                             woke_title(member(thread, "title"), &title) });
    }
}

/* Those of one agent: rows, or JSON lines when columns is NULL. */
static int list_of(const struct cli_args *args, struct talk *talk, struct str agent,
                   struct columns *columns, struct err *err)
{
    AUTO_BUF path = BUF_INIT(16 * KIB);
    AUTO_BUF id = BUF_INIT(4 * KIB);
    AUTO_JSON answer = NULL;
    struct json_object *threads;

    buf_add_str(&id, agent);
    buf_add_text(&path, "/api/v1/agents/");
    decide_add_segment(&path, buf_text(&id));
    buf_add_text(&path, "/threads?limit=100");
    if (cli_value(args, "query")) {
        buf_add_text(&path, "&query=");
        decide_add_segment(&path, cli_value(args, "query"));
    }
    if (talk_ask(talk, "GET", buf_text(&path), STR_NONE, &answer, err) < 0)
        return -1;
    threads = json_find(answer, "threads");
    if (columns)
        add_rows(columns, agent, threads);
    else
        cli_print_lines(threads);
    return 0;
}

static int list_all(const struct cli_args *args, struct talk *talk, struct columns *columns,
                    struct err *err)
{
    AUTO_JSON answer = NULL;
    struct json_object *agents;

    if (cli_value(args, "agent"))
        return list_of(args, talk, str_from(cli_value(args, "agent")), columns, err);
    if (talk_ask(talk, "GET", "/api/v1/agents?system=true", STR_NONE, &answer, err) < 0)
        return -1;
    agents = json_find(answer, "agents");
    for (size_t i = 0; i < json_length(agents); i++)
        if (list_of(args, talk, member(json_object_array_get_idx(agents, i), "id"), columns, err) <
            0)
            return -1;
    return 0;
}

static int run_list(const struct cli_args *args)
{
    static const char *const head[] = { "ID", "AGENT", "MESSAGES", "LAST", "STATE", "TITLE", NULL };
    AUTO(talk) talk = NULL;
    struct columns columns;
    struct err err = ERR_INIT;
    int r;

    columns_init(&columns, head);
    r = talk_open(args, &talk, &err);
    if (r == 0)
        r = list_all(args, talk, cli_json(args) ? NULL : &columns, &err);
    if (r == 0 && !cli_json(args)) {
        if (columns.n > 1)
            columns_print(&columns, stdout);
        else
            printf("no conversations\n");
    }
    columns_release(&columns);
    return r < 0 ? cli_fail(args, &err) : CLI_DONE;
}

static const struct cli_option list_options[] = {
    { .name = "agent", .value = "AGENT", .help = "of one agent only" },
    { .name = "query", .value = "TEXT", .help = "only those whose title has this text" },
    { .name = NULL },
};

const struct cli_command cli_cmd_threads_list = {
    .name = "threads list",
    .operands = "",
    .summary = "Lists conversations, those with the last word first",
    .details = "The newest 100 of each agent. With --json each is a line of its own.",
    .options = list_options,
    .run = run_list,
};

/* ---- one ---- */

/* The agent's part of a whole id; empty when it is none. */
static struct str agent_of(struct str id)
{
    static const char *const kinds[] = { ":session:", ":run:", ":wizard:" };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        ptrdiff_t at = str_find(id, str_from(kinds[i]));

        if (at > 0)
            return str_take(id, (size_t)at);
    }
    return STR_NONE;
}

static int thread_path(const struct cli_args *args, const char *rest, struct buf *out,
                       struct err *err)
{
    struct str id = str_from(cli_operand(args, 0));
    AUTO_BUF agent = BUF_INIT(4 * KIB);

    if (!cli_value(args, "agent") && !agent_of(id).n)
        return err_set(
            err, ERR_BAD_REQUEST,
            "\"%.*s\" does not say whose conversation it is; give the whole id (`dormouse "
            "threads list` shows it) or --agent",
            STR_ARG(str_take(id, 80)));
    if (cli_value(args, "agent"))
        buf_add_text(&agent, cli_value(args, "agent"));
    else
        buf_add_str(&agent, agent_of(id));
    buf_add_text(out, "/api/v1/agents/");
    decide_add_segment(out, buf_text(&agent));
    buf_add_text(out, "/threads/");
    decide_add_segment(out, cli_operand(args, 0));
    buf_add_text(out, rest);
    return 0;
}

static int ask(const struct cli_args *args, struct talk *talk, const char *method, const char *rest,
               struct str body, struct json_object **ret_answer, struct err *err)
{
    AUTO_BUF path = BUF_INIT(16 * KIB);

    if (thread_path(args, rest, &path, err) < 0)
        return -1;
    return talk_ask(talk, method, buf_text(&path), body, ret_answer, err);
}

#define AGENT_OPTION                                                                               \
    {                                                                                              \
        .name = "agent", .value = "AGENT", .help = "whose it is, when the id does not say so"      \
    }

static const struct cli_option agent_options[] = { AGENT_OPTION, { .name = NULL } };

/* ---- show ---- */

static void print_message(struct json_object *message)
{
    struct str kind = member(message, "kind"), text = member(json_find(message, "content"), "text");
    bool user = str_is(kind, "user");

    if (str_is(kind, "action")) {
        printf("%s[%.*s]%s\n", term_style(stdout, TERM_DIM),
               STR_ARG(str_take(member(message, "toolName"), 80)), term_style(stdout, TERM_PLAIN));
        return;
    }
    if (json_find(message, "error")) {
        AUTO_BUF why = BUF_INIT(64 * KIB);

        show_why(json_find(message, "error"), &why);
        printf("%s  ", term_style(stdout, TERM_DIM));
        print_line(buf_str(&why));
        printf("%s", term_style(stdout, TERM_PLAIN));
        return;
    }
    if (!text.n) /* a tool's answer: it is in the log of its run */
        return;
    printf("%s%s", term_style(stdout, user ? TERM_BOLD : TERM_PLAIN), user ? "> " : "");
    print_line(text);
    printf("%s", term_style(stdout, TERM_PLAIN));
}

/* Pages come newest first, and so do the messages of a page. */
static int collect(const struct cli_args *args, struct talk *talk, struct json_object *pages,
                   struct err *err)
{
    int64_t before = 0;
    size_t seen = 0;

    do {
        struct json_object *answer = NULL;
        char rest[96];

        snprintf(rest, sizeof(rest), "/messages?limit=%d", PAGE);
        if (before)
            snprintf(rest, sizeof(rest), "/messages?limit=%d&before=%lld", PAGE, (long long)before);
        if (ask(args, talk, "GET", rest, STR_NONE, &answer, err) < 0)
            return -1;
        json_object_array_add(pages, answer);
        seen += json_length(json_find(answer, "messages"));
        before = 0;
        json_get_i64(answer, "before", &before, NULL);
    } while (before && seen < SHOWN_MAX);
    if (before)
        fprintf(stderr, "only the newest %zu messages are shown\n", seen);
    return 0;
}

static void each_message(struct json_object *pages, bool json)
{
    for (size_t i = json_length(pages); i-- > 0;) {
        struct json_object *list = json_find(json_object_array_get_idx(pages, i), "messages");

        for (size_t k = json_length(list); k-- > 0;) {
            struct json_object *message = json_object_array_get_idx(list, k);

            if (json)
                cli_print_json(json_object_get(message));
            else
                print_message(message);
        }
    }
}

static int run_show(const struct cli_args *args)
{
    AUTO_BUF title = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_JSON pages = json_object_new_array();
    AUTO_JSON thread = NULL;
    AUTO(talk) talk = NULL;
    struct err err = ERR_INIT;

    if (talk_open(args, &talk, &err) < 0 ||
        ask(args, talk, "GET", "", STR_NONE, &thread, &err) < 0 ||
        collect(args, talk, pages, &err) < 0)
        return cli_fail(args, &err);
    if (!cli_json(args)) {
        printf("%s", term_style(stdout, TERM_BOLD));
        print_line(woke_title(member(thread, "title"), &title));
        printf("%s%s", term_style(stdout, TERM_PLAIN),
               member(thread, "deletedAt").n
                   ? "(removed; `dormouse threads restore` brings it back)\n"
                   : "");
        putchar('\n');
    }
    each_message(pages, cli_json(args));
    return CLI_DONE;
}

const struct cli_command cli_cmd_threads_show = {
    .name = "threads show",
    .operands = "THREAD",
    .summary = "Shows what was said in a conversation, the oldest first",
    .details =
        "With --json each message is a line of its own. `dormouse chat --thread THREAD` goes "
        "on with it.",
    .options = agent_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_show,
};

/* ---- changing ---- */

static int finish(const struct cli_args *args, struct json_object *thread, const char *text)
{
    AUTO_BUF line = BUF_INIT(4 * KIB);

    if (cli_json(args)) {
        cli_print_json(thread ? json_object_get(thread) : json_object_new_object());
        return CLI_DONE;
    }
    buf_printf(&line, "%s %.*s", text,
               STR_ARG(thread ? member(thread, "title") : str_from(cli_operand(args, 0))));
    print_line(buf_str(&line));
    return CLI_DONE;
}

static int change(const struct cli_args *args, const char *method, const char *rest,
                  struct str body, const char *said)
{
    AUTO_JSON thread = NULL;
    AUTO(talk) talk = NULL;
    struct err err = ERR_INIT;

    if (talk_open(args, &talk, &err) < 0 || ask(args, talk, method, rest, body, &thread, &err) < 0)
        return cli_fail(args, &err);
    return finish(args, thread, said);
}

static int run_rename(const struct cli_args *args)
{
    AUTO_BUF body = BUF_INIT(64 * KIB);
    struct json_writer w = JSON_WRITER(&body);

    json_write_object_begin(&w);
    json_put_text(&w, "title", cli_operand(args, 1));
    json_write_object_end(&w);
    return change(args, "PATCH", "", buf_str(&body), "renamed to");
}

const struct cli_command cli_cmd_threads_rename = {
    .name = "threads rename",
    .operands = "THREAD TITLE",
    .summary = "Gives a conversation a title; an empty one takes it back",
    .options = agent_options,
    .operands_min = 2,
    .operands_max = 2,
    .run = run_rename,
};

static int run_rm(const struct cli_args *args)
{
    return change(args, "DELETE", "", STR_NONE, "removed");
}

const struct cli_command cli_cmd_threads_rm = {
    .name = "threads rm",
    .operands = "THREAD",
    .summary = "Removes a conversation from lists and search; `threads restore` brings it back",
    .options = agent_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_rm,
};

static int run_restore(const struct cli_args *args)
{
    return change(args, "POST", "/restore", STR("{}"), "restored");
}

const struct cli_command cli_cmd_threads_restore = {
    .name = "threads restore",
    .operands = "THREAD",
    .summary = "Brings back a conversation that was removed",
    .options = agent_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_restore,
};

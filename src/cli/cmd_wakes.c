/* dormouse wakes: what woke agents, and what did not and why. dormouse wake AGENT: now.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/keeper.h"
#include "cli/talk.h"
#include "cli/term.h"

#define KEY_CHARS     12
#define ITEM_CHARS    8
#define ABOUT_BYTES   60
#define PAGE          500 /* asked for at once */
#define WAKE_LINE_MAX (64 * KIB)
#define AFTER_SIZE    64

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

static int64_t now_ms(void)
{
    return clock_wall_ms(clock_system());
}

/* ---- what a run waits for ---- */

/* Of a wake whose run is under way: the run knows which item it waits for. Without an answer
 * nothing is added; a list is not refused for that. */
static void add_wait(struct talk *talk, struct json_object *wake, struct buf *out)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON run = NULL;
    struct err ignored = ERR_INIT;
    struct str kind, item;

    if (!str_is(member(wake, "status"), "running") || !member(wake, "runId").n)
        return;
    buf_printf(&path, "/api/v1/runs/%.*s", STR_ARG(member(wake, "runId")));
    if (talk_ask(talk, "GET", buf_text(&path), STR_NONE, &run, &ignored) < 0 ||
        !str_is(member(run, "status"), "waiting"))
        return;
    kind = member(run, "waitKind");
    item = str_take(member(run, "waitItem"), ITEM_CHARS);
    if (str_is(kind, "rate_limit"))
        buf_add_text(out, "waits for the model, which takes no more for a while");
    else if (item.n)
        buf_printf(out, "waits for an answer: `dormouse inbox %.*s`", STR_ARG(item));
    else if (str_is(kind, "inbox"))
        buf_add_text(out, "waits for an answer: `dormouse inbox`");
}

/* ---- one ---- */

static void print_named(const char *label, struct str text)
{
    AUTO_BUF line = BUF_INIT(WAKE_LINE_MAX);

    if (!text.n)
        return;
    buf_printf(&line, "%-11s %.*s", label, STR_ARG(text));
    term_text(stdout, buf_text(&line));
    putchar('\n');
}

static void print_member(struct json_object *wake, const char *key, const char *label)
{
    print_named(label, member(wake, key));
}

static int show_one(const struct cli_args *args, struct err *err)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_BUF wait = BUF_INIT(4 * KIB);
    AUTO(talk) talk = NULL;
    AUTO_JSON wake = NULL;
    struct json_object *details;

    buf_add_text(&path, "/api/v1/wakes/");
    decide_add_segment(&path, cli_operand(args, 0));
    if (talk_open(args, &talk, err) < 0 ||
        talk_ask(talk, "GET", buf_text(&path), STR_NONE, &wake, err) < 0)
        return -1;
    if (cli_json(args)) {
        cli_print_json(TAKE(wake));
        return 0;
    }
    print_member(wake, "runKey", "wake");
    print_member(wake, "agentId", "agent");
    print_member(wake, "reason", "reason");
    print_member(wake, "name", "by");
    print_member(wake, "rule", "by");
    print_member(wake, "reasonId", "of");
    print_member(wake, "status", "status");
    add_wait(talk, wake, &wait);
    print_member(wake, "why", "why");
    print_named("now", buf_str(&wait));
    print_member(wake, "errorCode", "error");
    print_member(wake, "coalescedInto", "did it");
    print_member(wake, "runId", "run");
    print_member(wake, "scheduledAt", "set for");
    print_member(wake, "notBefore", "not before");
    print_member(wake, "createdAt", "queued");
    print_member(wake, "startedAt", "started");
    print_member(wake, "endedAt", "ended");
    details = json_find(wake, "details");
    if (details) {
        puts("about");
        term_text(stdout, json_object_to_json_string_ext(
                              details, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
        putchar('\n');
    }
    return 0;
}

/* ---- many ---- */

/* What it is called, else what it is, else as much of its id as tells it from others. */
static struct str name_of(struct json_object *one)
{
    if (member(one, "name").n)
        return member(one, "name");
    return member(one, "rule").n ? member(one, "rule")
                                 : str_take(member(one, "reasonId"), KEY_CHARS);
}

static void add_cause(struct json_object *wake, struct buf *out)
{
    struct str of = member(wake, "reasonId");
    struct json_object *again = json_find(json_find(wake, "details"), "again");

    if (str_is(of, "sleep"))
        buf_add_text(out, " end of its sleep");
    else if (str_is(of, "resume"))
        buf_add_text(out, " end of its pause, stop or dormancy");
    else if (again)
        buf_printf(out, " tries again: %.*s %.*s", STR_ARG(member(again, "reason")),
                   STR_ARG(member(again, "name").n ? member(again, "name")
                                                   : str_take(member(again, "wake"), KEY_CHARS)));
    else if (name_of(wake).n && !str_is(member(wake, "reason"), "manual"))
        buf_printf(out, " %.*s", STR_ARG(name_of(wake))); /* a person's wake has an id of its own */
}

/* ... and what changed: "task Fix fence", "task Fix fence and 2 more", a file, words. */
static void add_about(struct json_object *wake, struct buf *out)
{
    struct json_object *records = json_find(wake, "records"), *details = json_find(wake, "details");
    struct json_object *files = json_find(details, "files"), *one;
    int64_t count = 0;

    json_get_i64(wake, "recordCount", &count, NULL);
    if (json_length(records)) {
        one = json_object_array_get_idx(records, 0);
        buf_printf(
            out, ": %.*s %.*s", STR_ARG(member(one, "type")),
            STR_ARG(utf8_truncate(member(one, "title").n ? member(one, "title") : member(one, "id"),
                                  ABOUT_BYTES)));
        if (count > 1)
            buf_printf(out, " and %lld more", (long long)(count - 1));
    } else if (json_length(files)) {
        buf_printf(out, ": %.*s", STR_ARG(member(json_object_array_get_idx(files, 0), "path")));
    } else if (member(details, "words").n) {
        buf_printf(out, ": %.*s", STR_ARG(utf8_truncate(member(details, "words"), ABOUT_BYTES)));
    }
}

static const char *reason_text(struct json_object *wake, struct buf *out)
{
    buf_add_str(out, member(wake, "reason"));
    add_cause(wake, out);
    add_about(wake, out);
    return buf_text(out);
}

/* A wake that waits says until when, one whose run waits for what. */
static const char *why_text(struct talk *talk, struct json_object *wake, struct buf *out)
{
    char when[AGO_SIZE];

    add_wait(talk, wake, out);
    if (!out->n)
        buf_add_str(out, member(wake, "why"));
    if (member(wake, "coalescedInto").n)
        buf_printf(out, ": %.*s", STR_ARG(str_take(member(wake, "coalescedInto"), KEY_CHARS)));
    if (str_is(member(wake, "status"), "queued") && member(wake, "notBefore").n)
        buf_printf(out, "%s%s", out->n ? ": " : "",
                   ago_text(member(wake, "notBefore"), now_ms(), when));
    return buf_text(out);
}

static void print_wakes(struct talk *talk, struct json_object *wakes)
{
    static const char *const head[] = { "WAKE", "WHEN", "AGENT", "REASON", "STATUS", "WHY", NULL };
    struct columns columns;

    columns_init(&columns, head);
    columns.shrinks = 3;
    for (size_t i = 0; i < json_length(wakes); i++) {
        struct json_object *one = json_object_array_get_idx(wakes, i);
        AUTO_BUF reason = BUF_INIT(4 * KIB);
        AUTO_BUF why = BUF_INIT(4 * KIB);
        char ago[AGO_SIZE];

        columns_add(&columns,
                    (struct str[]){ str_take(member(one, "runKey"), KEY_CHARS),
                                    str_from(ago_text(member(one, "createdAt"), now_ms(), ago)),
                                    member(one, "agentId"), str_from(reason_text(one, &reason)),
                                    member(one, "status"), str_from(why_text(talk, one, &why)) });
    }
    columns_print(&columns, stdout);
    columns_release(&columns);
}

static void add_query(struct buf *path, const char *key, const char *value)
{
    if (!value)
        return;
    buf_printf(path, "&%s=", key);
    decide_add_segment(path, value);
}

/* A page of at most n, after the place where the one before ended; afterwards that of this one, ""
 * when it was the last. */
static int read_page(const struct cli_args *args, struct talk *talk, int64_t n,
                     char after[AFTER_SIZE], struct json_object **ret_page, struct err *err)
{
    AUTO_BUF path = BUF_INIT(8 * KIB);

    buf_printf(&path, "/api/v1/wakes?limit=%lld", (long long)n);
    add_query(&path, "after", *after ? after : NULL);
    add_query(&path, "agent", cli_value(args, "agent"));
    add_query(&path, "status", cli_value(args, "status"));
    add_query(&path, "reason", cli_value(args, "reason"));
    add_query(&path, "reasonId", cli_value(args, "of"));
    if (talk_ask(talk, "GET", buf_text(&path), STR_NONE, ret_page, err) < 0)
        return -1;
    snprintf(after, AFTER_SIZE, "%.*s", STR_ARG(member(*ret_page, "after")));
    return 0;
}

/* Who was not woken, and by what. A change that can't be judged is nobody's. */
static void add_skipped(struct json_object *skip, struct buf *out)
{
    bool removed = false;

    json_get_bool(skip, "removed", &removed, NULL);
    if (!member(skip, "agentId").n)
        buf_printf(out, "Nobody was woken by the change %.*s", STR_ARG(member(skip, "reasonId")));
    else
        buf_printf(out, "%.*s was not woken by %.*s%s", STR_ARG(member(skip, "agentId")),
                   STR_ARG(name_of(skip)), removed ? " (removed)" : "");
}

/* What met a subscription, or a timer's time, and woke nobody: a line for each reason. */
static void print_skips(struct json_object *skips)
{
    for (size_t i = 0; i < json_length(skips); i++) {
        struct json_object *one = json_object_array_get_idx(skips, i);
        AUTO_BUF line = BUF_INIT(4 * KIB);
        char ago[AGO_SIZE];
        int64_t count = 0;

        json_get_i64(one, "count", &count, NULL);
        buf_add_text(&line, i ? "" : "\n");
        add_skipped(one, &line);
        buf_printf(&line, ", %lld time%s, last %s: %.*s\n", (long long)count, count == 1 ? "" : "s",
                   ago_text(member(one, "lastAt"), now_ms(), ago), STR_ARG(member(one, "why")));
        term_text(stdout, buf_text(&line));
    }
}

/* How many of them stand in the page. As JSON they go out page by page: there may be any number. */
static size_t print_page(const struct cli_args *args, struct talk *talk, struct json_object *page)
{
    struct json_object *wakes = json_find(page, "items"), *skips = json_find(page, "skips");

    if (cli_json(args)) {
        cli_print_lines(wakes);
        cli_print_lines(skips);
    } else {
        if (json_length(wakes))
            print_wakes(talk, wakes);
        print_skips(skips);
    }
    return json_length(wakes) + json_length(skips);
}

static void print_none(const struct cli_args *args)
{
    if (cli_value(args, "agent") || cli_value(args, "status") || cli_value(args, "reason") ||
        cli_value(args, "of"))
        puts("No wakes of this kind.");
    else
        puts("No wakes. Agents wake by subscriptions, by timers, with `dormouse wake AGENT`, or "
             "when somebody speaks to them.");
}

static int show_many(const struct cli_args *args, struct err *err)
{
    const char *typed = cli_value(args, "limit");
    int64_t left = cli_has(args, "all") ? INT64_MAX : 50;
    char after[AFTER_SIZE] = "";
    AUTO(talk) talk = NULL;
    size_t shown = 0;

    if (typed && (str_to_i64(str_from(typed), &left) < 0 || left < 1))
        return err_set(err, ERR_BAD_REQUEST, "--limit takes a number from 1 on, not \"%.40s\"",
                       typed);
    if (talk_open(args, &talk, err) < 0)
        return -1;
    do {
        int64_t n = left < PAGE ? left : PAGE;
        AUTO_JSON page = NULL;

        if (read_page(args, talk, n, after, &page, err) < 0)
            return -1;
        shown += print_page(args, talk, page);
        left -= (int64_t)json_length(json_find(page, "items"));
    } while (*after && left > 0);
    if (!shown && !cli_json(args))
        print_none(args);
    keeper_hint_timers(args, talk);
    return 0;
}

static int run_wakes(const struct cli_args *args)
{
    struct err err = ERR_INIT;
    int r = cli_operand_count(args) ? show_one(args, &err) : show_many(args, &err);

    return r < 0 ? cli_fail(args, &err) : CLI_DONE;
}

static const struct cli_option wakes_options[] = {
    { .name = "agent", .value = "AGENT", .help = "of one agent" },
    { .name = "status",
      .value = "STATUS",
      .help = "with one status",
      .choices = "queued running completed skipped_sleeping skipped_destroyed skipped_paused "
                 "skipped_killed skipped_noop coalesced failed_terminal" },
    { .name = "reason",
      .value = "REASON",
      .help = "what woke (subscription, timer, manual, userInitiated), or what kept from it "
              "(author, rate_limited)" },
    { .name = "of", .value = "ID", .help = "of one subscription or timer" },
    { .name = "limit", .value = "N", .help = "how many, 50 by default" },
    { .name = "all", .help = "every one there ever was" },
    { .name = NULL },
};

const struct cli_command cli_cmd_wakes = {
    .name = "wakes",
    .operands = "[WAKE]",
    .summary = "Lists what woke agents, and what did not and why; or shows one wake",
    .details =
        "Every wake has a key made of its cause, and ends: as a run (completed, failed_terminal), "
        "as part of another wake's run (coalesced), or skipped with a reason. One that is queued "
        "says what it waits for, and until when. What people said to agents is listed, too "
        "(userInitiated). The beginning of a key is enough to name one.\n\n"
        "  dormouse wakes --agent coach --status skipped_noop\n"
        "  dormouse wakes --json --all",
    .options = wakes_options,
    .operands_max = 1,
    .run = run_wakes,
};

/* ---- now ---- */

static int write_form(const struct cli_args *args, struct buf *body, struct err *err)
{
    struct json_writer w = JSON_WRITER(body);

    json_write_object_begin(&w);
    if (cli_operand(args, 1)) {
        json_put_text(&w, "words", cli_operand(args, 1));
    }
    if (cli_value(args, "request")) {
        json_put_text(&w, "requestId", cli_value(args, "request"));
    }
    json_write_object_end(&w);
    return json_write_end(&w) < 0 ? err_set(err, ERR_TOO_LARGE, "that is too long") : 0;
}

static int run_wake(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_BUF body = BUF_INIT(256 * KIB);
    AUTO_JSON wake = NULL;
    struct err err = ERR_INIT;

    if (write_form(args, &body, &err) < 0)
        return cli_fail(args, &err);
    buf_add_text(&path, "/api/v1/agents/");
    decide_add_segment(&path, cli_operand(args, 0));
    buf_add_text(&path, "/wake");
    if (talk_once(args, "POST", buf_text(&path), buf_str(&body), &wake, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args))
        cli_print_json(TAKE(wake));
    else
        printf("%.*s is woken: `dormouse wakes %.*s` says what came of it\n",
               STR_ARG(member(wake, "agentId")),
               STR_ARG(str_take(member(wake, "runKey"), KEY_CHARS)));
    return CLI_DONE;
}

static const struct cli_option wake_options[] = {
    { .name = "request", .value = "ID", .help = "the same id again wakes nobody twice" },
    { .name = NULL },
};

const struct cli_command cli_cmd_wake = {
    .name = "wake",
    .operands = "AGENT [WORDS]",
    .summary = "Wakes an agent now",
    .details =
        "It wakes with a run of its own, and with what else waits for it. Nobody is in that "
        "conversation: `dormouse chat AGENT` talks to it. An agent that is paused, stopped or "
        "destroyed is not woken: that is an error.\n\n"
        "  dormouse wake coach 'Have a look at yesterday.'",
    .options = wake_options,
    .operands_min = 1,
    .operands_max = 2,
    .run = run_wake,
};

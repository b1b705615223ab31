/* dormouse inbox: what waits for a person, what was decided, and what was granted for longer.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/pane.h"
#include "cli/show.h"
#include "cli/talk.h"
#include "cli/term.h"

#define ID_CHARS      8
#define PAGE          200
#define PREVIEW_LINES 6
#define ASKED_BYTES   100 /* of a question, in a list */

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

static int64_t now_ms(void)
{
    return clock_wall_ms(clock_system());
}

static const char *const head[] = { "ID", "WHEN", "AGENT", "STATE", "WHAT", NULL };

static bool is_question(struct json_object *item)
{
    return str_is(member(item, "kind"), "question");
}

/* Nothing waits for it: it tells of something that was done. */
static bool is_notice(struct json_object *item)
{
    return str_is(member(item, "kind"), "escalated");
}

static struct str state_word(struct json_object *item)
{
    struct str state = member(item, "state");

    return is_notice(item) && str_is(state, "approved") ? STR("seen") : state;
}

/* "bash: Run a command"; of a question what is asked. */
static void add_what(struct buf *out, struct json_object *item)
{
    struct str tool = member(item, "toolName");
    struct str asked = is_question(item) ? member(json_find(item, "body"), "question") : STR_NONE;

    if (asked.n) {
        buf_add_str(out, utf8_truncate(asked, ASKED_BYTES));
        buf_add_text(out, asked.n > ASKED_BYTES ? " …" : "");
        return;
    }
    if (tool.n)
        buf_printf(out, "%.*s: ", STR_ARG(tool));
    buf_add_str(out, member(item, "title"));
}

static void add_row(struct columns *columns, struct json_object *item)
{
    AUTO_BUF what = BUF_INIT(16 * KIB);
    struct str agent = member(item, "agentName");
    char ago[AGO_SIZE];

    add_what(&what, item);
    columns_add(columns,
                (struct str[]){ str_take(member(item, "id"), ID_CHARS),
                                str_from(ago_text(member(item, "createdAt"), now_ms(), ago)),
                                agent.n ? agent : member(item, "agentId"), state_word(item),
                                buf_str(&what) });
}

/* ---- lists ---- */

/* The items of a page, oldest first; after: the number that the next page begins behind, or 0. */
static int get_page(struct talk *talk, const char *state, int64_t *after,
                    struct json_object **ret_page, struct err *err)
{
    char path[160];
    int n = snprintf(path, sizeof(path), "/api/v1/inbox?state=%s&limit=%d", state, PAGE);

    if (*after)
        snprintf(path + n, sizeof(path) - (size_t)n, "&after=%lld", (long long)*after);
    if (talk_ask(talk, "GET", path, STR_NONE, ret_page, err) < 0)
        return -1;
    *after = 0;
    json_get_i64(*ret_page, "after", after, NULL);
    return 0;
}

/* The beginning: all of it is shown where it is decided. */
static void print_item_below(struct json_object *item)
{
    AUTO(pane) pane = pane_new(stdout);
    size_t left;

    pane_item(pane, item);
    left = pane_lines(pane) > PREVIEW_LINES + 1 ? pane_lines(pane) - PREVIEW_LINES : 0;
    pane_show(pane, left ? PREVIEW_LINES : 0);
    if (left)
        printf("  … %zu more lines: dormouse inbox %.*s\n", left,
               STR_ARG(str_take(member(item, "id"), ID_CHARS)));
}

/* Each comes with the beginning of what it is about. */
static void print_pending(struct json_object *items)
{
    struct columns columns;
    size_t n = json_length(items);

    columns_init(&columns, head);
    for (size_t i = 0; i < n; i++)
        add_row(&columns, json_object_array_get_idx(items, i));
    columns_print_row(&columns, 0, stdout);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            putchar('\n');
        columns_print_row(&columns, i + 1, stdout);
        print_item_below(json_object_array_get_idx(items, i));
    }
    columns_release(&columns);
}

static void print_all(struct json_object *items)
{
    struct columns columns;
    size_t n = json_length(items);

    columns_init(&columns, head);
    for (size_t i = 0; i < n; i++)
        add_row(&columns, json_object_array_get_idx(items, i));
    columns_print(&columns, stdout);
    columns_release(&columns);
}

/* What can be typed about these, and nothing else. */
static void print_verbs(struct json_object *items)
{
    enum { APPROVE, REJECT, EDIT, ANSWER, VERBS };
    static const char *const verbs[VERBS] = { "approve ID", "reject ID", "edit ID",
                                              "answer ID TEXT" };
    bool can[VERBS] = { false }, notice = false;
    const char *before = "Decide with `dormouse ";
    size_t left = 0;

    for (size_t i = 0; i < json_length(items); i++) {
        struct json_object *item = json_object_array_get_idx(items, i);
        bool question = is_question(item);

        notice |= is_notice(item);
        if (is_notice(item))
            continue;
        can[question ? ANSWER : APPROVE] = can[REJECT] = true;
        can[EDIT] |= !question && !str_is(member(item, "kind"), "unknown_effect");
    }
    for (size_t i = 0; i < VERBS; i++)
        left += can[i];
    putchar('\n');
    for (size_t i = 0; i < VERBS; i++) {
        if (!can[i])
            continue;
        printf("%s%s`", before, verbs[i]);
        before = --left > 1 ? ", `" : " or `";
    }
    printf("%s`dormouse inbox ID` shows all of one.\n", can[REJECT] ? "; " : "");
    if (notice)
        puts("Of what was set aside, `dormouse approve ID` says that you have seen it.");
}

static void print_page(const struct cli_args *args, struct json_object *items)
{
    if (cli_json(args)) {
        cli_print_lines(items);
    } else if (cli_has(args, "all")) {
        print_all(items);
    } else {
        print_pending(items);
        print_verbs(items);
    }
}

static int list_items(const struct cli_args *args, struct talk *talk, struct err *err)
{
    int64_t after = 0;
    size_t n = 0;

    do {
        AUTO_JSON page = NULL;
        struct json_object *items;

        if (get_page(talk, cli_has(args, "all") ? "all" : "pending", &after, &page, err) < 0)
            return -1;
        items = json_find(page, "items");
        n += json_length(items);
        if (json_length(items))
            print_page(args, items);
    } while (after);
    if (n == 0 && !cli_json(args))
        puts(cli_has(args, "all") ? "The inbox has never held anything."
                                  : "Nothing waits for you.");
    return 0;
}

/* ---- one ---- */

/* Long ones are broken by the pane, so that nothing in them stands where a fact begins. */
static void add_fact(struct pane *pane, const char *name, struct str value)
{
    if (value.n)
        pane_fact(pane, str_from(name), value, false);
}

static void print_item(struct json_object *item)
{
    AUTO_BUF what = BUF_INIT(16 * KIB);
    AUTO(pane) pane = NULL;
    struct show show;
    char ago[AGO_SIZE];

    add_what(&what, item);
    pane = pane_new(stdout);
    add_fact(pane, "item", member(item, "id"));
    add_fact(pane, "what", buf_str(&what));
    add_fact(pane, "state", state_word(item));
    add_fact(pane, "agent", member(item, "agentId"));
    add_fact(pane, "run", member(item, "runId"));
    add_fact(pane, "asked", str_from(ago_text(member(item, "createdAt"), now_ms(), ago)));
    if (str_is(member(item, "state"), "pending"))
        add_fact(pane, "expires", str_from(ago_text(member(item, "expiresAt"), now_ms(), ago)));
    add_fact(pane, "reason", member(item, "reason"));
    if (is_question(item))
        add_fact(pane, "answer", member(item, "answer"));
    pane_own(pane, TERM_PLAIN, "", STR_NONE);
    pane_item(pane, item);
    pane_show(pane, 0);
    show_init(&show, stdout);
    if (str_is(member(item, "state"), "pending")) {
        putchar('\n');
        show_how_to_decide(&show, member(item, "id"), member(item, "kind"));
    }
}

static int show_one(const struct cli_args *args, struct talk *talk, struct err *err)
{
    struct json_object *item = NULL;

    if (decide_get_item(talk, str_from(cli_operand(args, 0)), &item, err) < 0)
        return -1;
    if (cli_json(args)) {
        cli_print_json(item);
        return 0;
    }
    print_item(item);
    json_object_put(item);
    return 0;
}

/* ---- grants ---- */

static void add_grant(struct columns *columns, struct json_object *grant)
{
    char since[AGO_SIZE], used[AGO_SIZE];
    struct str last = member(grant, "usedAt");

    columns_add(columns, (struct str[]){
                             member(grant, "id"),
                             str_from(ago_text(member(grant, "createdAt"), now_ms(), since)),
                             last.n ? str_from(ago_text(last, now_ms(), used)) : STR("never"),
                             member(grant, "agentId"), str_take(member(grant, "inboxId"), ID_CHARS),
                             member(grant, "covers") });
}

static void print_grants(const struct cli_args *args, struct json_object *grants)
{
    static const char *const titles[] = { "ID", "SINCE", "USED", "AGENT", "ITEM", "WHAT", NULL };
    size_t n = json_length(grants);
    struct columns columns;

    if (cli_json(args)) {
        cli_print_lines(grants);
        return;
    }
    if (n == 0) {
        puts("Nothing is granted: every call that needs approval asks.");
        return;
    }
    columns_init(&columns, titles);
    for (size_t i = 0; i < n; i++)
        add_grant(&columns, json_object_array_get_idx(grants, i));
    columns_print(&columns, stdout);
    columns_release(&columns);
}

static int list_grants(const struct cli_args *args, struct talk *talk, struct err *err)
{
    AUTO_JSON answer = NULL;

    if (talk_ask(talk, "GET", "/api/v1/grants", STR_NONE, &answer, err) < 0)
        return -1;
    print_grants(args, json_find(answer, "grants"));
    return 0;
}

static int revoke(const struct cli_args *args, struct talk *talk, struct err *err)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON answer = NULL;
    struct json_object *out;

    buf_add_text(&path, "/api/v1/grants/");
    decide_add_segment(&path, cli_value(args, "revoke"));
    if (talk_ask(talk, "DELETE", buf_text(&path), STR_NONE, &answer, err) < 0)
        return -1;
    if (!cli_json(args)) {
        puts("Revoked: it asks again from now on.");
        return 0;
    }
    out = json_object_new_object();
    json_object_object_add(out, "revoked", json_object_new_string(cli_value(args, "revoke")));
    cli_print_json(out);
    return 0;
}

/* ---- the command ---- */

static int wrong_mix(const struct cli_args *args)
{
    int n = cli_has(args, "all") + cli_has(args, "grants") + cli_has(args, "revoke") +
            (cli_operand_count(args) > 0);
    struct err err = ERR_INIT;

    if (n < 2)
        return 0;
    err_set(&err, ERR_BAD_REQUEST, "only one of ID, --all, --grants and --revoke can be given");
    cli_fail(args, &err);
    return -1;
}

static int run_inbox(const struct cli_args *args)
{
    AUTO(talk) talk = NULL;
    struct err err = ERR_INIT;
    int r;

    if (wrong_mix(args) < 0)
        return CLI_USAGE;
    if (talk_open(args, &talk, &err) < 0)
        return cli_fail(args, &err);
    r = cli_has(args, "grants")   ? list_grants(args, talk, &err)
        : cli_has(args, "revoke") ? revoke(args, talk, &err)
        : cli_operand_count(args) ? show_one(args, talk, &err)
                                  : list_items(args, talk, &err);
    return r < 0 ? cli_fail(args, &err) : CLI_DONE;
}

static const struct cli_option options[] = {
    { .name = "all", .help = "also what was decided, newest first" },
    { .name = "grants", .help = "what was approved for a run or for always instead" },
    { .name = "revoke", .value = "ID", .help = "take a grant back" },
    { .name = NULL },
};

const struct cli_command cli_cmd_inbox = {
    .name = "inbox",
    .operands = "[ID]",
    .summary = "Lists what waits for a person, or shows one item whole",
    .details =
        "Each item comes with the beginning of what would happen: where a command would run, then "
        "its text, or the diff. `dormouse inbox ID` shows all of it. Text of agents stands behind "
        "a vertical bar; lines without it are Dormouse's own. Ids are shortened; every command "
        "takes a unique beginning. With --json each item is a line of its own.\n\n"
        "What you approved with `dormouse approve --run` or --always is listed by --grants, each "
        "with what it "
        "covers: exactly these arguments, in this directory, inside these walls. --revoke makes "
        "it ask again; it takes the beginning of the grant's id, or of the item's.",
    .options = options,
    .operands_max = 1,
    .run = run_inbox,
};

/* dormouse subscribe preview: what would have woken an agent lately.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/subscribe_form.h"
#include "cli/talk.h"
#include "cli/term.h"

static void print_match(struct json_object *match)
{
    struct json_object *records = json_find(match, "records");
    char ago[AGO_SIZE];
    AUTO_BUF line = BUF_INIT(64 * KIB);
    bool yes = str_is(json_member(match, "outcome"), "yes");

    ago_text(json_member(match, "at"), clock_wall_ms(clock_system()), ago);
    buf_printf(&line, "%-13s %s", ago, yes ? "wakes" : "no:");
    if (!yes)
        buf_printf(&line, " %.*s", STR_ARG(json_member(match, "why")));
    else if (json_member(match, "notBefore").n)
        buf_printf(&line, " later, when its hours began (%.*s)",
                   STR_ARG(json_member(match, "notBefore")));
    for (size_t i = 0; i < json_length(records); i++) {
        struct json_object *record = json_object_array_get_idx(records, i);

        buf_printf(&line, "%s%.*s \"%.*s\"", i ? ", " : "  ", STR_ARG(json_member(record, "type")),
                   STR_ARG(json_member(record, "title")));
    }
    buf_add_char(&line, '\n');
    term_text(stdout, buf_text(&line));
}

/* "1,340 changes": as people write numbers. */
static void add_count(struct buf *out, int64_t n)
{
    char digits[32];
    int many = snprintf(digits, sizeof(digits), "%lld", (long long)n);

    for (int i = 0; i < many; i++)
        buf_printf(out, "%s%c", i && (many - i) % 3 == 0 ? "," : "", digits[i]);
}

/* " (the newest 200 of 1,340 shown)", or nothing when that is all. */
static void add_cut(struct buf *out, struct json_object *items, int64_t all, bool matched)
{
    int64_t shown = 0;

    for (size_t i = 0; i < json_length(items); i++)
        shown +=
            str_is(json_member(json_object_array_get_idx(items, i), "outcome"), "yes") == matched;
    if (shown >= all)
        return;
    buf_printf(out, " (the newest %lld of ", (long long)shown);
    add_count(out, all);
    buf_add_text(out, " shown)");
}

static void print_sum(struct json_object *answer, int64_t days)
{
    struct json_object *items = json_find(answer, "items");
    int64_t matched = 0, unmatched = 0;
    AUTO_BUF line = BUF_INIT(KIB);

    json_get_i64(answer, "matched", &matched, NULL);
    json_get_i64(answer, "unmatched", &unmatched, NULL);
    if (!matched && !unmatched) {
        printf("Nothing of this kind happened in %lld day%s.\n", (long long)days,
               days == 1 ? "" : "s");
        return;
    }
    buf_printf(&line, "\nIn %lld day%s ", (long long)days, days == 1 ? "" : "s");
    add_count(&line, matched);
    buf_printf(&line, " change%s would have woken it", matched == 1 ? "" : "s");
    add_cut(&line, items, matched, true);
    if (unmatched) {
        buf_add_text(&line, ", ");
        add_count(&line, unmatched);
        buf_add_text(&line, " not");
        add_cut(&line, items, unmatched, false);
    }
    printf("%s.\n", buf_text(&line));
}

static int run_preview(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;
    struct json_object *items;
    int64_t days = 7;

    if (cli_number(args, "days", 1, 90, &days, &err) < 0)
        return cli_misused(args, &err);
    if (subscribe_form(args, body, &err) < 0)
        return cli_fail(args, &err);
    json_object_object_add(body, "agentId", json_object_new_string(cli_operand(args, 0)));
    json_object_object_add(body, "days", json_object_new_int64(days));
    if (subscribe_send(args, "/api/v1/subscriptions/preview", body, &answer, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args)) {
        cli_print_json(json_object_get(answer));
        return CLI_DONE;
    }
    items = json_find(answer, "items");
    for (size_t i = 0; i < json_length(items); i++)
        print_match(json_object_array_get_idx(items, i));
    print_sum(answer, days);
    return CLI_DONE;
}

static const struct cli_option preview_options[] = {
    { .name = "days", .value = "N", .help = "how far back; 7 unless given" },
    SUBSCRIBE_FORM_OPTIONS,
    { .name = NULL },
};

const struct cli_command cli_cmd_subscribe_preview = {
    .name = "subscribe preview",
    .operands = "AGENT",
    .summary = "Shows what would have woken an agent lately",
    .details = "Every change of these days is judged and counted; listed are the newest 200 that "
               "would have woken it, and the newest 200 that would not, with the reason.\n\n"
               "  dormouse subscribe preview coach --key WORKOUT --days 30",
    .options = preview_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_preview,
};

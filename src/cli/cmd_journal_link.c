/* dormouse journal link add, list, rm: what leads from one record to another.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/jot.h"

#define LIST_MAX 1000

#define RECORD_WORDS                                                                               \
    "RECORD is an id or the beginning of one, of whatever kind, a day that has a plan, or words "  \
    "that stand in the title of one open task only."

static int run_add(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    const char *relation = cli_value(args, "relation"), *from_type, *to_type;
    struct json_object *answer;
    struct str from, to;
    AUTO_JOT jot;

    if (jot_open(&jot, args) < 0 || jot_record(&jot, cli_operand(args, 0), &from_type, &from) < 0 ||
        jot_record(&jot, cli_operand(args, 1), &to_type, &to) < 0)
        return jot_fail(&jot);
    jot_says(&jot, "relation", "--relation");
    jot_says(&jot, "fromId", "FROM");
    jot_says(&jot, "toId", "TO");
    jot_add(body, "relation", str_from(relation ? relation : "related"));
    jot_add(body, "fromType", str_from(from_type));
    jot_add(body, "fromId", from);
    jot_add(body, "toType", str_from(to_type));
    jot_add(body, "toId", to);
    if (jot_ask(&jot, "POST", body, &answer, "entry-links") < 0)
        return jot_fail(&jot);
    return jot_done(&jot, answer, "Linked");
}

static const struct cli_option add_options[] = {
    { .name = "relation",
      .value = "RELATION",
      .help = "what FROM is to TO; related unless given",
      .choices = "about follow_up source report related" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_link_add = {
    .name = "journal link add",
    .operands = "FROM TO",
    .summary = "Links one record to another",
    .details = "Each is an id or the beginning of one, of whatever kind, a day that has a plan, or "
               "words that stand in the title of one open task only:\n\n"
               "  dormouse journal link add fence today --relation about",
    .options = add_options,
    .operands_min = 2,
    .operands_max = 2,
    .run = run_add,
};

/* ---- list ---- */

static const char *end_of(struct jot *jot, struct json_object *link, const char *type,
                          const char *id)
{
    return arena_printf(&jot->arena, "%.*s %.*s", STR_ARG(jot_member(link, type)),
                        STR_ARG(jot_member(link, id)));
}

static void print_links(struct jot *jot, struct json_object *items)
{
    static const char *const head[] = { "ID", "FROM", "RELATION", "TO", NULL };
    size_t width = jot_id_width(items);
    struct columns columns;

    columns_init(&columns, head);
    for (size_t i = 0; i < json_length(items); i++) {
        struct json_object *link = json_object_array_get_idx(items, i);

        columns_add(&columns, (struct str[]){ str_take(jot_member(link, "id"), width),
                                              str_from(end_of(jot, link, "fromType", "fromId")),
                                              jot_member(link, "relation"),
                                              str_from(end_of(jot, link, "toType", "toId")) });
    }
    columns_print(&columns, stdout);
    columns_release(&columns);
}

static int run_list(const struct cli_args *args)
{
    AUTO_JSON items = NULL;
    const char *path = "entry-links?limit=500", *type;
    AUTO_JOT jot;
    struct str id;
    bool more;

    if (jot_open(&jot, args) < 0 ||
        (cli_operand(args, 0) && jot_record(&jot, cli_operand(args, 0), &type, &id) < 0))
        return jot_fail(&jot);
    if (cli_operand(args, 0))
        path = arena_printf(&jot.arena, "%s&targetId=%.*s", path, STR_ARG(id));
    if (jot_list(&jot, path, LIST_MAX, &items, &more) < 0)
        return jot_fail(&jot);
    if (cli_json(args)) {
        cli_print_lines(items);
        return CLI_DONE;
    }
    if (json_length(items))
        print_links(&jot, items);
    else
        printf("No links. `dormouse journal link add FROM TO` makes one.\n");
    jot_say_more(more, "name a record to see its links alone");
    return CLI_DONE;
}

const struct cli_command cli_cmd_journal_link_list = {
    .name = "journal link list",
    .operands = "[RECORD]",
    .summary = "Lists links, all or those from and to one record",
    .details = RECORD_WORDS " With --json each link is a line of its own.",
    .operands_max = 1,
    .run = run_list,
};

static int run_rm(const struct cli_args *args)
{
    return jot_each(args, "DELETE", "entry-links", "", "Deleted");
}

const struct cli_command cli_cmd_journal_link_rm = {
    .name = "journal link rm",
    .operands = "LINK...",
    .summary = "Deletes links; what they led to stays",
    .details = "`dormouse journal link list` shows the ids.",
    .operands_min = 1,
    .operands_max = -1,
    .run = run_rm,
};

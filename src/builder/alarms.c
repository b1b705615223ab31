/* What wakes an agent from its first day, and what it reaches of the journal.
 *
 * A template's subscriptions and timers are stored in the unit that stores the agent, so there is
 * never an agent that waits for half of what it was made for. Categories may be given by name;
 * stored are ids.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "builder/builder_int.h"
#include "builder/template.h"
#include "journal/journal.h"
#include "journal/list.h"
#include "tool/tool.h"
#include "wake/wake.h"

/* ---- made with the agent ---- */

static int add_subscription(struct builder *builder, const struct subscription *from,
                            const struct agent *agent, struct err *err)
{
    const struct builder_config *config = &builder->config;
    struct subscription subscription = *from;
    char token[WEBHOOK_TOKEN_SIZE];

    subscription.agent_n = agent->n;
    subscription.agent_id = str_from(agent->id);
    return subscription_add(config->agent_domain, config->change, &subscription,
                            builder_now(builder), token, err);
}

static int add_timer(struct builder *builder, const struct template_timer *from,
                     const struct agent *agent, struct arena *arena, struct err *err)
{
    const struct builder_config *config = &builder->config;
    struct timer timer = { .agent_n = agent->n,
                           .agent_id = str_from(agent->id),
                           .name = str_from(from->name),
                           .rrule = str_from(from->rrule),
                           .prompt = str_from(from->prompt),
                           .active = true };

    return timer_add(config->agent_domain, config->change, &timer, builder_now(builder), arena,
                     err);
}

int builder_add_alarms(struct builder *builder, const struct template *from,
                       const struct agent *agent, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < from->subscription_count; i++)
        if (add_subscription(builder, &from->subscriptions[i], agent, err) < 0)
            return err_wrap(err, "\"%.*s\"", STR_ARG(from->subscriptions[i].name));
    for (size_t i = 0; i < from->timer_count; i++)
        if (add_timer(builder, &from->timers[i], agent, arena, err) < 0)
            return err_wrap(err, "\"%s\"", from->timers[i].name);
    if (builder->waker)
        waker_look(builder->waker);
    return 0;
}

/* ---- categories ---- */

/* All of them: there are tens, not thousands. */
int builder_categories(struct builder *builder, struct arena *arena, struct record **ret_list,
                       size_t *ret_count, struct err *err)
{
    const struct record_filter filter = { .type = RECORD_CATEGORY, .limit = 1000 };
    bool more;

    *ret_list = NULL;
    *ret_count = 0;
    if (!builder->config.journal)
        return 0;
    return record_list(builder->config.journal, &filter, arena, ret_list, ret_count, &more, err);
}

/* An id counts before a name. NULL: neither is there. */
static const struct record *find_category(const struct record *list, size_t n, struct str given)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i].id, given))
            return &list[i];
    for (size_t i = 0; i < n; i++)
        if (str_eq_nocase(record_str(&list[i], "name"), given))
            return &list[i];
    return NULL;
}

/* bad_request, with those there are. */
static int no_category(const struct record *all, size_t n, struct str given, struct err *err)
{
    AUTO_BUF names = BUF_INIT(1024);

    given = utf8_truncate(given, 80);
    if (n == 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "there is no category \"%.*s\", nor any other; make it first: dormouse "
                       "journal category add NAME",
                       STR_ARG(given));
    for (size_t i = 0; i < n; i++)
        buf_printf(&names, "%s%.*s", i ? ", " : "", STR_ARG(record_str(&all[i], "name")));
    return err_set(err, ERR_BAD_REQUEST, "there is no category \"%.*s\"; there are: %s%s",
                   STR_ARG(given), buf_text(&names), names.full ? ", ..." : "");
}

static bool list_names(struct json_object *list, struct str name)
{
    for (size_t i = 0; i < json_length(list); i++)
        if (str_eq(json_str(json_object_array_get_idx(list, i)), name))
            return true;
    return false;
}

int builder_category_ids(struct builder *builder, struct str given, const char *kept,
                         struct arena *arena, const char **ret_ids, struct err *err)
{
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&out);
    AUTO_JSON list = NULL;
    AUTO_JSON has = NULL;
    struct record *all;
    size_t n;

    *ret_ids = given.n ? arena_copy(arena, given.p, given.n) : "";
    if (json_parse(given, &list, NULL) < 0 || !json_object_is_type(list, json_type_array))
        return 0; /* it is refused with its reason where agents are checked */
    if ((kept && json_parse(str_from(kept), &has, err) < 0) ||
        builder_categories(builder, arena, &all, &n, err) < 0)
        return -1;
    json_write_array_begin(&w);
    for (size_t i = 0; i < json_length(list); i++) {
        struct json_object *item = json_object_array_get_idx(list, i);
        struct str name = json_str(item);
        const struct record *found = find_category(all, n, name);

        if (!found && name.n && builder->config.journal && !str_is(name, "*") &&
            !list_names(has, name))
            return no_category(all, n, name, err);
        if (found)
            json_write_str(&w, found->id);
        else
            json_write_value(&w, item);
    }
    json_write_array_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the list of categories is too long");
    *ret_ids = arena_text(arena, buf_text(&out));
    return 0;
}

int builder_category_names(struct builder *builder, const char *ids, struct arena *arena,
                           const char **ret_names, struct err *err)
{
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&out);
    AUTO_JSON list = NULL;
    struct record *all;
    size_t n;

    if (json_parse(str_from(ids ? ids : "[]"), &list, err) < 0 ||
        builder_categories(builder, arena, &all, &n, err) < 0)
        return -1;
    json_write_array_begin(&w);
    for (size_t i = 0; i < json_length(list); i++) {
        struct str id = json_str(json_object_array_get_idx(list, i));
        const struct record *found = find_category(all, n, id);

        json_write_str(&w, found ? record_str(found, "name") : id);
    }
    json_write_array_end(&w);
    *ret_names = arena_text(arena, buf_text(&out));
    return 0;
}

/* ---- advice ---- */

void builder_warn(struct builder_warnings *warnings, const char *text)
{
    if (warnings->n < BUILDER_WARNINGS_MAX)
        warnings->text[warnings->n++] = text;
}

/* Of agents that have no list of tools nobody said that they are for the journal. */
static bool uses_journal(const struct agent *agent)
{
    AUTO_JSON tools = NULL;

    if (!agent->tools || json_parse(str_from(agent->tools), &tools, NULL) < 0 ||
        !json_object_is_type(tools, json_type_array))
        return false;
    for (size_t i = 0; i < json_length(tools); i++) {
        const struct tool_contract *contract =
            tool_contract_find(json_str(json_object_array_get_idx(tools, i)));

        if (contract && strcmp(contract->tool_class, "journal") == 0)
            return true;
    }
    return false;
}

static int advise_absent(struct builder *builder, const struct agent *agent,
                         struct json_object *list, struct arena *arena,
                         struct builder_warnings *warnings, struct err *err)
{
    struct record *all;
    size_t n;

    if (!builder->config.journal)
        return 0;
    if (builder_categories(builder, arena, &all, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < json_length(list); i++) {
        struct str id = json_str(json_object_array_get_idx(list, i));

        if (!str_is(id, "*") && !find_category(all, n, id))
            builder_warn(warnings,
                         arena_printf(arena,
                                      "There is no category \"%.*s\" (any more), and a new one of "
                                      "that name will not be in reach. Set them again: dormouse "
                                      "agent set %s --categories NAMES.",
                                      STR_ARG(utf8_truncate(id, 80)), agent->id));
    }
    return 0;
}

int builder_advise(struct builder *builder, const struct agent *agent, struct arena *arena,
                   struct builder_warnings *warnings, struct err *err)
{
    AUTO_JSON list = NULL;

    if (agent->allowed_category_ids &&
        (json_parse(str_from(agent->allowed_category_ids), &list, err) < 0 ||
         !json_object_is_type(list, json_type_array)))
        return err_wrap(err, "the categories of %s", agent->id);
    if (json_length(list) > 0)
        return advise_absent(builder, agent, list, arena, warnings, err);
    if (uses_journal(agent))
        builder_warn(
            warnings,
            arena_printf(arena,
                         "%s has no categories yet, so it reaches nothing of the journal and no "
                         "change there wakes it. Give it some: dormouse agent set %s --categories "
                         "NAMES (all: every one).",
                         agent->display_name, agent->id));
    return 0;
}

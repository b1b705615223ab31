/* /inbox and /grants: what waits for a person, and what a person allowed for longer.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/uuid.h"
#include "serve/api_int.h"

#define PAGE_BYTES (8 * MIB)

/* ---- looking ---- */

static int read_state(struct str text, enum inbox_state *ret_state, struct err *err)
{
    *ret_state = INBOX_PENDING;
    if (!text.p)
        return 0;
    if (str_is(text, "all")) {
        *ret_state = INBOX_STATE_NONE;
        return 0;
    }
    for (enum inbox_state state = INBOX_PENDING; state <= INBOX_WITHDRAWN; state++) {
        if (str_is(text, inbox_state_name(state))) {
            *ret_state = state;
            return 0;
        }
    }
    return err_set(err, ERR_BAD_REQUEST,
                   "state must be all, pending, approved, edited, answered, rejected, expired or "
                   "withdrawn, not \"%.*s\"",
                   STR_ARG(str_take(text, 80)));
}

static void write_items(struct serve_request *request, const struct inbox_item *items, size_t n,
                        bool full)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    size_t written = 0;

    json_write_object_begin(&w);
    json_put_array(&w, "items");
    /* Changes of memory bring their texts: a page of them may be shorter than asked for. */
    for (; written < n && (!written || json.n < PAGE_BYTES); written++)
        api_write_item(&w, &items[written]);
    json_write_array_end(&w);
    if (full || written < n)
        json_put_i64(&w, "after", items[written - 1].n);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_inbox_list(struct serve_request *request)
{
    int64_t after = 0, limit = 100;
    enum inbox_state state;
    struct inbox_item *items;
    struct err err = ERR_INIT;
    size_t n;

    if (api_check_query(request) < 0 || api_query_i64(request, "after", 1, INT64_MAX, &after) < 0 ||
        api_query_i64(request, "limit", 1, 500, &limit) < 0)
        return;
    if (read_state(serve_request_query(request, "state"), &state, &err) < 0 ||
        inbox_list(api_of(request)->config.agent_domain, state, after, (int)limit,
                   serve_request_arena(request), &items, &n, &err) < 0)
        serve_reply_error(request, &err);
    else
        write_items(request, items, n, n == (size_t)limit);
}

static void reply_item(struct serve_request *request, const struct inbox_item *item,
                       const bool *applied)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    if (!applied) {
        api_write_item(&w, item);
    } else {
        json_write_object_begin(&w);
        json_put_bool(&w, "applied", *applied);
        json_write_key(&w, "item");
        api_write_item(&w, item);
        json_write_object_end(&w);
    }
    api_reply(request, 200, &json, &w);
}

void api_inbox_get(struct serve_request *request)
{
    struct inbox_item item;

    if (api_check_query(request) == 0 && api_item(request, &item) == 0)
        reply_item(request, &item, NULL);
}

/* ---- deciding ---- */

static int read_verb(struct str text, enum inbox_state *ret_state, struct err *err)
{
    static const struct {
        const char *verb;
        enum inbox_state state;
    } verbs[] = {
        { "approve", INBOX_APPROVED },
        { "reject", INBOX_REJECTED },
        { "edit", INBOX_EDITED },
        { "answer", INBOX_ANSWERED },
    };

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        if (str_is(text, verbs[i].verb)) {
            *ret_state = verbs[i].state;
            return 0;
        }
    }
    return err_set(err, ERR_SCHEMA_VIOLATION,
                   "decision must be approve, reject, edit or answer, not \"%.*s\"",
                   STR_ARG(str_take(text, 80)));
}

static int read_scope(struct str text, enum inbox_scope *ret_scope, struct err *err)
{
    if (!text.n || str_is(text, "once"))
        *ret_scope = INBOX_ONCE;
    else if (str_is(text, "run"))
        *ret_scope = INBOX_FOR_RUN;
    else if (str_is(text, "always"))
        *ret_scope = INBOX_ALWAYS;
    else
        return err_set(err, ERR_SCHEMA_VIOLATION, "scope must be once, run or always, not \"%.*s\"",
                       STR_ARG(str_take(text, 80)));
    return 0;
}

static struct str as_text(struct json_object *value, struct arena *arena)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    json_write_value(&w, value);
    return json_write_end(&w) < 0 ? STR_NONE : arena_str(arena, buf_str(&json));
}

/* What was shown is the whole file as it would be, so what a person makes of it is that, too. */
static int edit_memory(const struct inbox_item *item, struct json_object *edited,
                       struct arena *arena, struct str *ret_arguments, struct err *err)
{
    AUTO_JSON arguments = NULL;

    if (item->kind != INBOX_MEMORY)
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "edited_content goes with a change of memory; this is of kind %s",
                       inbox_kind_name(item->kind));
    if (!json_object_is_type(edited, json_type_string))
        return err_set(err, ERR_SCHEMA_VIOLATION, "edited_content must be a string, not %s",
                       json_type_name(edited));
    if (json_parse(item->body, &arguments, err) < 0)
        return -1;
    json_object_object_add(arguments, "operation", json_object_new_string("write"));
    json_object_object_add(arguments, "content", json_object_get(edited));
    *ret_arguments = as_text(arguments, arena);
    return 0;
}

int api_read_decision(const struct api_decision *from, const struct inbox_item *item,
                      struct arena *arena, struct inbox_decision *ret_decision, struct err *err)
{
    struct json_object *given;

    *ret_decision =
        (struct inbox_decision){ .by = API_OWNER, .reason = from->reason, .anyway = from->anyway };
    if (read_verb(from->decision, &ret_decision->state, err) < 0 ||
        read_scope(from->scope, &ret_decision->scope, err) < 0)
        return -1;
    if (ret_decision->scope != INBOX_ONCE && ret_decision->state != INBOX_APPROVED)
        return err_set(err, ERR_SCHEMA_VIOLATION, "a scope goes with approve only");
    if ((from->edited || from->input) && ret_decision->state != INBOX_EDITED)
        return err_set(err, ERR_SCHEMA_VIOLATION, "%s goes with edit only",
                       from->input ? "input" : "edited_content");
    if (from->answer && ret_decision->state != INBOX_ANSWERED)
        return err_set(err, ERR_SCHEMA_VIOLATION, "answer goes with answer only");
    if (from->edited)
        return edit_memory(item, from->edited, arena, &ret_decision->answer, err);
    given = ret_decision->state == INBOX_EDITED ? from->input : from->answer;
    if (ret_decision->state == INBOX_EDITED && !given)
        return err_set(err, ERR_SCHEMA_VIOLATION, "edit needs input: the arguments as an object");
    if (ret_decision->state == INBOX_ANSWERED && !given)
        return err_set(err, ERR_SCHEMA_VIOLATION, "answer needs answer");
    if (ret_decision->state == INBOX_EDITED || ret_decision->state == INBOX_ANSWERED)
        ret_decision->answer = as_text(given, arena);
    return 0;
}

static const struct json_field decision_fields[] = {
    JSON_FIELD(struct api_decision, decision, "decision", JSON_STR, .required = true),
    JSON_FIELD(struct api_decision, scope, "scope", JSON_STR),
    JSON_FIELD(struct api_decision, reason, "reason", JSON_STR),
    JSON_FIELD(struct api_decision, input, "input", JSON_OBJECT),
    JSON_FIELD(struct api_decision, edited, "edited_content", JSON_ANY),
    JSON_FIELD(struct api_decision, answer, "answer", JSON_ANY),
    JSON_FIELD(struct api_decision, anyway, "anyway", JSON_BOOL),
    { .name = NULL },
};

void api_inbox_decide(struct serve_request *request)
{
    struct api *api = api_of(request);
    AUTO_JSON body = NULL;
    struct api_decision read = { .decision = STR_NONE };
    struct inbox_decision decision;
    struct inbox_item item;
    struct err err = ERR_INIT;
    bool applied;
    int r;

    if (api_check_query(request) < 0 || api_body(request, decision_fields, &read, &body) < 0 ||
        api_item(request, &item) < 0)
        return;
    r = api_read_decision(&read, &item, serve_request_arena(request), &decision, &err);
    if (r == 0)
        r = run_decide(api->config.runner, item.id, &decision, &err);
    applied = r > 0;
    if (r < 0 ||
        inbox_get(api->config.agent_domain, item.id, serve_request_arena(request), &item, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_item(request, &item, &applied);
}

/* ---- grants ---- */

struct grants {
    struct json_writer *w;
    struct domain *domain;
    struct arena *arena;
};

static bool write_grant(void *arg, const struct approval_grant *grant)
{
    struct grants *grants = arg;
    struct inbox_item item = { .run_id = STR_NONE };
    AUTO_BUF words = BUF_INIT(LIMIT_JSON_BYTES);
    struct err err = ERR_INIT;
    struct agent agent;

    json_write_object_begin(grants->w);
    json_put_some_str(grants->w, "id", grant->id);
    if (agent_get_n(grants->domain, grant->agent_n, grants->arena, &agent, &err) == 0)
        json_put_some_text(grants->w, "agentId", agent.id);
    json_put_some_text(grants->w, "scope", grant->run_n ? "run" : "always");
    if (grant->run_n && inbox_get(grants->domain, grant->inbox_id, grants->arena, &item, &err) == 0)
        json_put_some_str(grants->w, "runId", item.run_id);
    json_put_some_str(grants->w, "toolName", grant->tool_name);
    grant_words(grant->pattern, grant->run_n ? INBOX_FOR_RUN : INBOX_ALWAYS, &words);
    json_put_str(grants->w, "covers", buf_str(&words));
    api_put_json(grants->w, "pattern", grant->pattern);
    json_put_some_str(grants->w, "inboxId", grant->inbox_id);
    json_put_some_str(grants->w, "grantedBy", grant->granted_by);
    json_put_some_time(grants->w, "createdAt", grant->created_at);
    json_put_some_time(grants->w, "usedAt", grant->used_at);
    json_write_object_end(grants->w);
    return true;
}

void api_grants_list(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct grants grants = { &w, api_of(request)->config.agent_domain,
                             serve_request_arena(request) };
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0)
        return;
    json_write_object_begin(&w);
    json_put_array(&w, "grants");
    if (grant_each(grants.domain, write_grant, &grants, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

/* What was revoked is not in force, and can be named by its whole id only. */
static int find_grant(struct serve_request *request, struct str *ret_id, struct err *err)
{
    struct str typed = serve_request_param(request, "id");

    if (grant_find_id(api_of(request)->config.agent_domain, typed, serve_request_arena(request),
                      ret_id, err) == 0)
        return 0;
    if (err->code != ERR_NOT_FOUND || typed.n < UUID_TEXT_SIZE - 1)
        return -1;
    err_reset(err);
    *ret_id = typed;
    return 0;
}

void api_grants_revoke(struct serve_request *request)
{
    const struct api_config *config = &api_of(request)->config;
    struct err err = ERR_INIT;
    struct str id;
    int r;

    if (api_check_query(request) < 0)
        return;
    r = find_grant(request, &id, &err);
    if (r == 0 && (r = loop_unit_begin(config->loop, config->agent_domain, &err)) == 0) {
        r = grant_revoke(config->agent_domain, id, clock_wall_ms(loop_clock(config->loop)), &err);
        if (loop_unit_end(config->loop, r >= 0, r >= 0 ? &err : NULL) < 0)
            r = -1;
    }
    if (r < 0) {
        serve_reply_error(request, &err);
    } else if (api_reply_begin(request) == 0) {
        serve_reply_empty(request, 204);
        api_reply_end(request);
    }
}

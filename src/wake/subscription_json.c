/* Subscriptions as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_put.h"
#include "wake/predicate.h"
#include "wake/subscription_int.h"

/* ---- reading ---- */

struct given {
    struct str name, source, predicate, folder, glob, prompt;
    struct json_object *tokens, *authors, *hours;
    int64_t cooldown_s;
    bool active;
};

/* "k:TASK" */
static int read_token_text(struct str text, struct arena *arena, struct token *ret_token,
                           struct err *err)
{
    return token_parse_text(arena_str(arena, text), ret_token, err);
}

static int read_token(struct json_object *item, struct arena *arena, struct token *ret_token,
                      struct err *err)
{
    struct {
        struct str class, name_space, value;
    } given = { 0 };
    const struct json_field fields[] = {
        JSON_FIELD(__typeof__(given), class, "class", JSON_STR, .required = true),
        JSON_FIELD(__typeof__(given), name_space, "namespace", JSON_STR),
        JSON_FIELD(__typeof__(given), value, "value", JSON_STR, .required = true),
        { 0 },
    };

    if (json_object_is_type(item, json_type_string))
        return read_token_text(json_str(item), arena, ret_token, err);
    if (!json_object_is_type(item, json_type_object))
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "a text such as \"k:TASK\", or an object with class and value, is needed");
    if (json_read(item, fields, JSON_REFUSE_UNKNOWN, &given, err) < 0)
        return -1;
    *ret_token = (struct token){ .class = token_class_of(given.class),
                                 .name_space = arena_str(arena, given.name_space),
                                 .value = arena_str(arena, given.value) };
    if (!ret_token->class)
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "/class: \"%.*s\" is none of semanticKey, subtypeToken, entityId",
                       given.class.n > 40 ? 40 : (int)given.class.n, given.class.p);
    return 0;
}

static int read_tokens(struct subscription *s, struct json_object *list, struct arena *arena,
                       struct err *err)
{
    size_t n = json_length(list);
    struct token *tokens;

    if (n > SUBSCRIPTION_TOKENS_MAX)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/tokens: %zu of them; at most %d are allowed", n,
                       SUBSCRIPTION_TOKENS_MAX);
    tokens = ARENA_NEW_N(arena, struct token, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (read_token(json_object_array_get_idx(list, i), arena, &tokens[i], err) < 0)
            return err_wrap(err, "/tokens/%zu", i);
    }
    s->tokens = tokens;
    s->token_count = n;
    return 0;
}

static int read_authors(struct subscription *s, struct json_object *list, struct err *err)
{
    unsigned authors = 0;

    for (size_t i = 0; i < json_length(list); i++) {
        struct str name = json_str(json_object_array_get_idx(list, i));
        unsigned one = name.n ? subscription_authors_of(name) : 0;

        if (!one || str_find_char(name, ',') >= 0)
            return err_set(err, ERR_SCHEMA_VIOLATION,
                           "/authors/%zu: \"%.*s\" is none of human, agent, sync, self", i,
                           name.n > 40 ? 40 : (int)name.n, name.p ? name.p : "");
        authors |= one;
    }
    if (!authors)
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "/authors: at least one of human, agent, sync, self is needed");
    s->authors = authors;
    return 0;
}

static int read_source(struct subscription *s, struct str name, struct err *err)
{
    enum wake_source source = wake_source_of(name);

    if (!source)
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "/source: \"%.*s\" is none of journal, agent, files, webhook",
                       name.n > 40 ? 40 : (int)name.n, name.p);
    if (s->n && source != s->source)
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "/source: it is %s and stays so; make another subscription instead",
                       wake_source_name(s->source));
    s->source = source;
    return 0;
}

/* A null there takes the hours away. */
static int read_hours(struct subscription *s, struct json_object *object, struct json_object *hours,
                      struct err *err)
{
    struct json_object *there;

    if (hours)
        return active_hours_parse(hours, &s->hours, err);
    if (json_object_object_get_ex(object, "activeHours", &there))
        s->hours = (struct active_hours){ 0 };
    return 0;
}

static int apply(struct subscription *s, struct json_object *object, const struct given *given,
                 struct arena *arena, struct err *err)
{
    if (given->source.p && read_source(s, given->source, err) < 0)
        return -1;
    if (given->tokens && read_tokens(s, given->tokens, arena, err) < 0)
        return -1;
    if (given->authors && read_authors(s, given->authors, err) < 0)
        return -1;
    if (read_hours(s, object, given->hours, err) < 0)
        return -1;
    if (given->cooldown_s < 0 || given->cooldown_s > SUBSCRIPTION_COOLDOWN_MAX / 1000)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/cooldownSeconds: 0 to %lld are allowed",
                       (long long)(SUBSCRIPTION_COOLDOWN_MAX / 1000));
    s->name = arena_str(arena, given->name);
    s->predicate = arena_str(arena, given->predicate);
    s->folder = arena_str(arena, given->folder);
    s->glob = arena_str(arena, given->glob);
    s->prompt = arena_str(arena, given->prompt);
    s->cooldown_ms = given->cooldown_s * 1000;
    s->active = given->active;
    return 0;
}

int subscription_read(struct subscription *s, struct json_object *object, struct arena *arena,
                      struct err *err)
{
    static const struct json_field fields[] = {
        JSON_FIELD(struct given, name, "name", JSON_STR),
        JSON_FIELD(struct given, source, "source", JSON_STR),
        JSON_FIELD(struct given, predicate, "predicate", JSON_STR),
        JSON_FIELD(struct given, folder, "folder", JSON_STR),
        JSON_FIELD(struct given, glob, "glob", JSON_STR),
        JSON_FIELD(struct given, prompt, "prompt", JSON_STR),
        JSON_FIELD(struct given, tokens, "tokens", JSON_ARRAY),
        JSON_FIELD(struct given, authors, "authors", JSON_ARRAY),
        JSON_FIELD(struct given, hours, "activeHours", JSON_OBJECT),
        JSON_FIELD(struct given, cooldown_s, "cooldownSeconds", JSON_I64),
        JSON_FIELD(struct given, active, "active", JSON_BOOL),
        { 0 },
    };
    struct given given = {
        .name = s->name,
        .predicate = s->predicate,
        .folder = s->folder,
        .glob = s->glob,
        .prompt = s->prompt,
        .cooldown_s = s->cooldown_ms / 1000,
        .active = s->n ? s->active : true,
    };

    if (!json_object_is_type(object, json_type_object))
        return err_set(err, ERR_SCHEMA_VIOLATION, "a subscription is an object");
    if (json_read(object, fields, JSON_REFUSE_UNKNOWN, &given, err) < 0)
        return -1;
    return apply(s, object, &given, arena, err);
}

/* ---- writing ---- */

static void write_tokens(struct json_writer *w, const struct subscription *s)
{
    json_put_array(w, "tokens");
    for (size_t i = 0; i < s->token_count; i++) {
        json_write_object_begin(w);
        json_put_str(w, "class", str_from(token_class_name(s->tokens[i].class)));
        if (s->tokens[i].name_space.n)
            json_put_str(w, "namespace", s->tokens[i].name_space);
        json_put_str(w, "value", s->tokens[i].value);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static void write_authors(struct json_writer *w, unsigned authors)
{
    json_put_array(w, "authors");
    for (int author = CHANGE_BY_HUMAN; author <= CHANGE_BY_SYNC; author++) {
        if (authors & (1u << author))
            json_write_text(w, change_author_name((enum change_author)author));
    }
    if (authors & SUBSCRIPTION_BY_SELF)
        json_write_text(w, "self");
    json_write_array_end(w);
}

static void write_settings(struct json_writer *w, const struct subscription *s)
{
    AUTO_BUF predicate = BUF_INIT(SUBSCRIPTION_PREDICATE_MAX);

    predicate_typed(s->predicate, &predicate);
    json_put_str(w, "predicate", buf_str(&predicate));
    write_authors(w, s->authors);
    if (s->hours.set) {
        json_write_key(w, "activeHours");
        active_hours_write(w, &s->hours);
    }
    json_put_i64(w, "cooldownSeconds", s->cooldown_ms / 1000);
    if (s->folder.n)
        json_put_str(w, "folder", s->folder);
    if (s->glob.n)
        json_put_str(w, "glob", s->glob);
    json_put_str(w, "prompt", s->prompt);
    json_put_bool(w, "active", s->active);
}

void subscription_write_members(struct json_writer *w, const struct subscription *s)
{
    json_put_str(w, "id", s->id);
    json_put_str(w, "agentId", s->agent_id);
    json_put_str(w, "name", s->name);
    json_put_str(w, "source", str_from(wake_source_name(s->source)));
    write_tokens(w, s);
    write_settings(w, s);
    json_put_some_time(w, "lastWakeAt", s->last_wake_at);
    json_put_some_time(w, "createdAt", s->created_at);
    json_put_some_time(w, "updatedAt", s->updated_at);
}

void subscription_write(struct json_writer *w, const struct subscription *s)
{
    json_write_object_begin(w);
    subscription_write_members(w, s);
    json_write_object_end(w);
}

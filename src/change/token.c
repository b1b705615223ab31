/* Tokens: their two texts, and the list that a batch stores.
 *
 * The list is written sorted and without repetitions, so that equal sets have equal texts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "change/token.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "base/utf8.h"

/* TOKENS_MAX of the longest tokens, every sign of them escaped, fit. */
#define LIST_BYTES LIMIT_JSON_BYTES

const char *const token_semantic_keys[] = {
    "TASK",          "CHECKLIST",    "TIME_ENTRY", "DAY_PLAN", "RATING", "NOTE",
    "WORKOUT",       "AUDIO",        "CATEGORY",   "LABEL",    "AGENT",  "AGENT_STATE",
    "AGENT_MESSAGE", "AGENT_REPORT", "FILE",       "WEBHOOK",  NULL,
};

const char *const token_namespaces[] = {
    "taskStatus", "workoutType", "measurementType", "categoryId", NULL,
};

static const char *const class_names[] = {
    [TOKEN_CLASS_NONE] = "none",
    [TOKEN_SEMANTIC_KEY] = "semanticKey",
    [TOKEN_SUBTYPE] = "subtypeToken",
    [TOKEN_ENTITY_ID] = "entityId",
};

const char *token_class_name(enum token_class class)
{
    return class_names[class];
}

enum token_class token_class_of(struct str name)
{
    for (size_t i = TOKEN_SEMANTIC_KEY; i < ARRAY_LEN(class_names); i++)
        if (str_is(name, class_names[i]))
            return (enum token_class)i;
    return TOKEN_CLASS_NONE;
}

/* ---- what is allowed ---- */

static bool is_semantic_key(struct str value)
{
    for (size_t i = 0; token_semantic_keys[i]; i++)
        if (str_is(value, token_semantic_keys[i]))
            return true;
    return false;
}

static int refuse_semantic_key(struct str value, struct err *err)
{
    size_t n = 0;

    while (token_semantic_keys[n])
        n++;
    return nearest_refuse("semantic key", value, token_semantic_keys, n, err);
}

static bool namespace_is_plain(struct str name)
{
    if (name.n == 0 || name.n > TOKEN_NAMESPACE_MAX)
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '.' || c == '-' || c == '_'))
            return false;
    }
    return true;
}

static int check_namespace(const struct token *token, struct err *err)
{
    if (token->class != TOKEN_SUBTYPE && token->name_space.n)
        return err_set(err, ERR_BAD_REQUEST, "token: class %s takes no namespace, only %s does",
                       class_names[token->class], class_names[TOKEN_SUBTYPE]);
    if (token->class == TOKEN_SUBTYPE && !namespace_is_plain(token->name_space))
        return err_set(err, ERR_BAD_REQUEST,
                       "token: namespace \"%.*s\": expected 1 to %d letters, digits, '.', '-', '_'",
                       STR_ARG(utf8_truncate(token->name_space, 60)), TOKEN_NAMESPACE_MAX);
    return 0;
}

/* Words of any language, but nothing that ends a line, hides, or ends the key. */
static int check_value(struct str value, struct err *err)
{
    if (value.n == 0 || value.n > TOKEN_VALUE_MAX)
        return err_set(err, ERR_BAD_REQUEST, "token: a value of %zu bytes; 1 to %d are allowed",
                       value.n, TOKEN_VALUE_MAX);
    if (str_find_char(value, '|') >= 0 ||
        utf8_find_odd(value, 1u << UTF8_INVALID | 1u << UTF8_CONTROL, NULL, NULL))
        return err_set(err, ERR_BAD_REQUEST,
                       "token: a value must be printable UTF-8 without '|' and line ends");
    return 0;
}

int token_check(const struct token *token, struct err *err)
{
    if (token->class <= TOKEN_CLASS_NONE || token->class > TOKEN_ENTITY_ID)
        return err_set(err, ERR_BAD_REQUEST,
                       "token: the class must be semanticKey, subtypeToken or entityId");
    if (check_namespace(token, err) < 0 || check_value(token->value, err) < 0)
        return -1;
    if (token->class == TOKEN_SEMANTIC_KEY && !is_semantic_key(token->value))
        return refuse_semantic_key(token->value, err);
    return 0;
}

/* ---- texts ---- */

void token_key(const struct token *token, struct buf *out)
{
    buf_add_text(out, class_names[token->class]);
    buf_add_char(out, '|');
    buf_add_str(out, token->name_space.n ? token->name_space : STR("-"));
    buf_add_char(out, '|');
    buf_add_str(out, token->value);
}

static int refuse_text(struct str text, const char *why, struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST,
                   "token \"%.*s\": %s; expected k:KEY, id:ID or sub:NAMESPACE:VALUE",
                   STR_ARG(utf8_truncate(text, 80)), why);
}

static int split_subtype(struct str text, struct str rest, struct token *token, struct err *err)
{
    ptrdiff_t colon = str_find_char(rest, ':');

    if (colon < 0)
        return refuse_text(text, "a subtype needs a namespace and a value", err);
    *token = (struct token){ TOKEN_SUBTYPE, str_take(rest, (size_t)colon),
                             str_skip(rest, (size_t)colon + 1) };
    return 0;
}

int token_parse_text(struct str text, struct token *ret_token, struct err *err)
{
    struct token token = { 0 };

    if (!utf8_valid(text))
        return err_set(err, ERR_BAD_REQUEST,
                       "token: not UTF-8; expected k:KEY, id:ID or"
                       " sub:NAMESPACE:VALUE");
    if (str_starts(text, STR("k:")))
        token = (struct token){ TOKEN_SEMANTIC_KEY, STR_NONE, str_skip(text, 2) };
    else if (str_starts(text, STR("id:")))
        token = (struct token){ TOKEN_ENTITY_ID, STR_NONE, str_skip(text, 3) };
    else if (!str_starts(text, STR("sub:")))
        return refuse_text(text, "no prefix that there is", err);
    else if (split_subtype(text, str_skip(text, 4), &token, err) < 0)
        return -1;
    if (token_check(&token, err) < 0)
        return err_wrap(err, "token \"%.*s\"", STR_ARG(utf8_truncate(text, 80)));
    *ret_token = token;
    return 0;
}

void token_text(const struct token *token, struct buf *out)
{
    static const char *const prefix[] = {
        [TOKEN_SEMANTIC_KEY] = "k:", [TOKEN_SUBTYPE] = "sub:", [TOKEN_ENTITY_ID] = "id:"
    };

    buf_add_text(out, prefix[token->class]);
    if (token->class == TOKEN_SUBTYPE) {
        buf_add_str(out, token->name_space);
        buf_add_char(out, ':');
    }
    buf_add_str(out, token->value);
}

/* ---- lists ---- */

/* As token_key() orders them, without making the keys. In a key a namespace ends with '|', which
 * comes after every sign of a namespace: of two the longer is first where one begins the other. */
static int by_key(const void *left, const void *right)
{
    const struct token *a = left, *b = right;
    int order = strcmp(class_names[a->class], class_names[b->class]);

    if (order)
        return order;
    if (str_eq(a->name_space, b->name_space))
        return str_cmp(a->value, b->value);
    order = str_cmp(a->name_space, b->name_space);
    if (str_starts(a->name_space, b->name_space) || str_starts(b->name_space, a->name_space))
        order = -order;
    return order;
}

size_t tokens_unique(struct token *tokens, size_t n)
{
    size_t kept = 0;

    if (n)
        qsort(tokens, n, sizeof(*tokens), by_key);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || by_key(&tokens[kept - 1], &tokens[i]) != 0)
            tokens[kept++] = tokens[i];
    return kept;
}

static void write_token(struct json_writer *w, const struct token *token)
{
    json_write_array_begin(w);
    json_write_text(w, class_names[token->class]);
    if (token->name_space.n)
        json_write_str(w, token->name_space);
    else
        json_write_null(w);
    json_write_str(w, token->value);
    json_write_array_end(w);
}

struct str tokens_json(const struct token *tokens, size_t n, struct arena *arena)
{
    struct token *sorted = ARENA_NEW_N(arena, struct token, n + 1);
    AUTO_BUF text = BUF_INIT(LIST_BYTES);
    struct json_writer w = JSON_WRITER(&text);

    if (n)
        memcpy(sorted, tokens, n * sizeof(*tokens));
    n = tokens_unique(sorted, n);
    json_write_array_begin(&w);
    for (size_t i = 0; i < n; i++)
        write_token(&w, &sorted[i]);
    json_write_array_end(&w);
    BUG_IF(json_write_end(&w) < 0);
    return arena_str(arena, buf_str(&text));
}

static int read_token(struct json_object *item, struct arena *arena, struct token *ret_token,
                      struct err *err)
{
    struct json_object *part[3];
    struct token token;

    if (!json_object_is_type(item, json_type_array) || json_length(item) != 3)
        return err_set(err, ERR_BAD_REQUEST, "expected [class, namespace or null, value]");
    for (size_t i = 0; i < 3; i++) {
        part[i] = json_object_array_get_idx(item, i);
        if (!(json_object_is_type(part[i], json_type_string) || (i == 1 && !part[i])))
            return err_set(err, ERR_BAD_REQUEST, "part %zu is %s, expected a string%s", i,
                           json_type_name(part[i]), i == 1 ? " or null" : "");
    }
    if (part[1] && !json_str(part[1]).n)
        return err_set(err, ERR_BAD_REQUEST, "an empty namespace; no namespace is null");
    token =
        (struct token){ token_class_of(json_str(part[0])), json_str(part[1]), json_str(part[2]) };
    if (token_check(&token, err) < 0)
        return -1;
    token.name_space = arena_str(arena, token.name_space);
    token.value = arena_str(arena, token.value);
    *ret_token = token;
    return 0;
}

int tokens_parse(struct str json, struct arena *arena, struct token **ret_tokens, size_t *ret_n,
                 struct err *err)
{
    AUTO_JSON doc = NULL;
    struct token *tokens;
    size_t n;

    if (json_parse(json, &doc, err) < 0)
        return err_wrap(err, "tokens");
    if (!json_object_is_type(doc, json_type_array))
        return err_set(err, ERR_BAD_REQUEST, "tokens: expected an array, found %s",
                       json_type_name(doc));
    n = json_length(doc);
    if (n > TOKENS_MAX)
        return err_set(err, ERR_TOO_LARGE, "%zu tokens, at most %d are allowed", n, TOKENS_MAX);
    tokens = ARENA_NEW_N(arena, struct token, n + 1);
    for (size_t i = 0; i < n; i++)
        if (read_token(json_object_array_get_idx(doc, i), arena, &tokens[i], err) < 0)
            return err_wrap(err, "tokens: item %zu", i);
    *ret_tokens = tokens;
    *ret_n = n;
    return 0;
}

/* What names and texts of agents may hold. A name is shown beside what the agent asks for: one that
 * hides or turns characters around could make a person say yes to somebody else.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <json-c/json_object_iterator.h>
#include <string.h>

#include "agent/agent_int.h"
#include "agent/budget_int.h"
#include "base/json.h"
#include "base/timefmt.h"
#include "base/utf8.h"

#define ODD_IN_NAMES                                                                               \
    (1u << UTF8_INVALID | 1u << UTF8_CONTROL | 1u << UTF8_BIDI | 1u << UTF8_HIDDEN |               \
     1u << UTF8_ODD_SPACE | 1u << UTF8_PRIVATE)
#define ODD_IN_TEXTS (1u << UTF8_INVALID | 1u << UTF8_CONTROL | 1u << UTF8_BIDI)

#define ZERO_WIDTH_JOINER 0x200Du
#define EMOJI_SELECTOR    0xFE0Fu

static int refuse_odd(const char *what, enum utf8_oddity odd, uint32_t code, size_t at,
                      struct err *err)
{
    if (odd == UTF8_INVALID)
        return err_set(err, ERR_BAD_REQUEST, "%s is not valid UTF-8 at byte %zu", what, at);
    return err_set(err, ERR_BAD_REQUEST,
                   "%s has a %s (U+%04X) at byte %zu; it is not allowed there", what,
                   utf8_oddity_name(odd), code, at);
}

static bool is_emoji(uint32_t code)
{
    return (code >= 0x2190 && code <= 0x2BFF) || (code >= 0x1F000 && code <= 0x1FAFF) ||
           code == EMOJI_SELECTOR;
}

/* What joins emoji is seen: the emoji. It counts as such only right behind one. */
static bool joins_emoji(struct str name, size_t at, uint32_t code)
{
    size_t before = at;
    struct str rest;
    uint32_t last;

    if (code != ZERO_WIDTH_JOINER && code != EMOJI_SELECTOR)
        return false;
    while (before > 0 && ((unsigned char)name.p[--before] & 0xc0) == 0x80)
        continue;
    rest = str_of(name.p + before, at - before);
    return rest.n && utf8_decode(&rest, &last) == 0 && is_emoji(last);
}

int agent_line_check(const char *what, struct str name, struct err *err)
{
    size_t from = 0, at;
    uint32_t code;

    while (from < name.n) {
        enum utf8_oddity odd = utf8_find_odd(str_skip(name, from), ODD_IN_NAMES, &at, &code);

        if (odd == UTF8_PLAIN)
            return 0;
        at += from;
        if (odd != UTF8_HIDDEN || !joins_emoji(name, at, code))
            return refuse_odd(what, odd, code, at, err);
        from = at + 3;
    }
    return 0;
}

int agent_name_check(const char *what, struct str name, struct err *err)
{
    if (agent_line_check(what, name, err) < 0)
        return -1;
    if (!str_trim(name).n)
        return err_set(err, ERR_BAD_REQUEST, "%s is empty", what);
    if (str_trim(name).n != name.n)
        return err_set(err, ERR_BAD_REQUEST, "%s begins or ends with a space", what);
    if (utf8_count(name) > AGENT_NAME_MAX)
        return err_set(err, ERR_BAD_REQUEST, "%s has %zu characters; at most %d are allowed", what,
                       utf8_count(name), AGENT_NAME_MAX);
    return 0;
}

static bool is_layout(uint32_t code)
{
    return code == '\n' || code == '\t' || code == '\r';
}

int agent_text_check(const char *what, struct str text, size_t max, struct err *err)
{
    size_t from = 0, at;
    uint32_t code;

    if (text.n > max)
        return err_set(err, ERR_TOO_LARGE, "%s has %zu bytes; at most %zu are allowed", what,
                       text.n, max);
    while (from < text.n) {
        enum utf8_oddity odd = utf8_find_odd(str_skip(text, from), ODD_IN_TEXTS, &at, &code);

        if (odd == UTF8_PLAIN)
            return 0;
        at += from;
        if (odd != UTF8_CONTROL || !is_layout(code))
            return refuse_odd(what, odd, code, at, err);
        from = at + 1;
    }
    return 0;
}

#define TOOLS_MAX 500

/* A JSON list of names, each once. Whether there are such tools is known elsewhere. */
static int check_tools(const char *tools, struct err *err)
{
    AUTO_JSON list = NULL;

    if (json_parse(str_from(tools), &list, err) < 0)
        return err_wrap(err, "the tools");
    if (!json_object_is_type(list, json_type_array) || json_length(list) > TOOLS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "the tools must be a list of at most %d names",
                       TOOLS_MAX);
    for (size_t i = 0; i < json_length(list); i++) {
        struct str name = json_str(json_object_array_get_idx(list, i));

        if (!name.n)
            return err_set(err, ERR_BAD_REQUEST, "the tools: entry %zu is no name", i + 1);
        for (size_t k = 0; k < i; k++)
            if (str_eq(name, json_str(json_object_array_get_idx(list, k))))
                return err_set(err, ERR_BAD_REQUEST, "the tools name \"%.*s\" twice",
                               STR_ARG(str_take(name, 80)));
    }
    return 0;
}

int agent_mode_check(struct str mode, struct err *err)
{
    if (str_is(mode, "autonomous") || str_is(mode, "interactive") || str_is(mode, "hybrid"))
        return 0;
    return err_set(err, ERR_BAD_REQUEST, "mode \"%.*s\" is none of autonomous, interactive, hybrid",
                   STR_ARG(utf8_truncate(mode, 40)));
}

static int check_category(struct json_object *list, size_t i, struct err *err)
{
    const struct token token = { TOKEN_ENTITY_ID, STR_NONE,
                                 json_str(json_object_array_get_idx(list, i)) };

    if (token_check(&token, err) < 0)
        return err_wrap(err, "the categories: entry %zu is no id", i + 1);
    if (str_is(token.value, "*") && json_length(list) > 1)
        return err_set(err, ERR_BAD_REQUEST,
                       "the categories: \"*\" means all of them and stands alone");
    for (size_t k = 0; k < i; k++)
        if (str_eq(token.value, json_str(json_object_array_get_idx(list, k))))
            return err_set(err, ERR_BAD_REQUEST, "the categories name \"%.*s\" twice",
                           STR_ARG(utf8_truncate(token.value, 80)));
    return 0;
}

int agent_categories_check(struct str json, struct err *err)
{
    AUTO_JSON list = NULL;

    if (json_parse(json, &list, err) < 0)
        return err_wrap(err, "the categories");
    if (!json_object_is_type(list, json_type_array) || json_length(list) > AGENT_CATEGORIES_MAX)
        return err_set(err, ERR_BAD_REQUEST,
                       "the categories must be a list of at most %d ids, or [\"*\"]",
                       AGENT_CATEGORIES_MAX);
    for (size_t i = 0; i < json_length(list); i++)
        if (check_category(list, i, err) < 0)
            return -1;
    return 0;
}

/* What an extension may hold: numbers above 0. A key is "NAMESPACE.name". */
static const struct {
    const char *key;
    bool whole;
    double max;
} extension_keys[] = {
    { BUDGET_KEY_TOKENS, true, 1e12 },
    { BUDGET_KEY_COST, false, 1e9 },
    { BUDGET_KEY_TOOL_CALLS, true, 1e9 },
};

static int check_extension_key(const char *key, struct json_object *value, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(extension_keys); i++) {
        bool whole = extension_keys[i].whole;

        if (strcmp(key, extension_keys[i].key) != 0)
            continue;
        if ((json_object_is_type(value, json_type_int) ||
             (!whole && json_object_is_type(value, json_type_double))) &&
            json_object_get_double(value) > 0 &&
            json_object_get_double(value) <= extension_keys[i].max)
            return 0;
        return err_set(err, ERR_SCHEMA_VIOLATION, "%s must be a %snumber above 0, at most %.0f",
                       key, whole ? "whole " : "", extension_keys[i].max);
    }
    return err_set(err, ERR_SCHEMA_VIOLATION, "the extension: key \"%.80s\" is not registered",
                   key);
}

int agent_extension_check(const struct json_object *extension, struct err *err)
{
    struct json_object *object = (struct json_object *)extension;
    struct json_object_iterator at, end;

    if (!json_object_is_type(object, json_type_object))
        return err_set(err, ERR_SCHEMA_VIOLATION, "the extension must be an object");
    at = json_object_iter_begin(object);
    end = json_object_iter_end(object);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
        if (check_extension_key(json_object_iter_peek_name(&at), json_object_iter_peek_value(&at),
                                err) < 0)
            return -1;
    return 0;
}

static int check_extension_text(const char *text, struct err *err)
{
    AUTO_JSON extension = NULL;

    if (json_parse(str_from(text), &extension, err) < 0)
        return err_wrap(err, "the extension");
    return agent_extension_check(extension, err);
}

static int check_profile(struct str profile, struct err *err)
{
    bool good = profile.n >= 1 && profile.n <= 40;

    for (size_t i = 0; good && i < profile.n; i++)
        good = (profile.p[i] >= 'a' && profile.p[i] <= 'z') || profile.p[i] == '-' ||
               profile.p[i] == '_' || (profile.p[i] >= '0' && profile.p[i] <= '9');
    if (good)
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "profile \"%.*s\": 1 to 40 lower-case letters, digits, '-' and '_' are allowed",
                   STR_ARG(utf8_truncate(profile, 40)));
}

/* How it lives: NULL and 0 mean what an agent has when nothing is said. */
static int check_life(const struct agent *agent, unsigned fields, struct err *err)
{
    char span[TIMEFMT_SPAN_SIZE];

    if (fields & AGENT_MODE && agent->mode && agent_mode_check(str_from(agent->mode), err) < 0)
        return -1;
    if (fields & AGENT_CATEGORIES && agent->allowed_category_ids &&
        agent_categories_check(str_from(agent->allowed_category_ids), err) < 0)
        return -1;
    if (fields & AGENT_SESSION_TTL && agent->session_ttl_ms &&
        (agent->session_ttl_ms < AGENT_SESSION_TTL_MIN ||
         agent->session_ttl_ms > AGENT_SESSION_TTL_MAX))
        return err_set(err, ERR_BAD_REQUEST, "sessions end after 1 minute to 30 days, not %s",
                       timefmt_span(agent->session_ttl_ms, span));
    if (fields & AGENT_PROFILE && agent->profile &&
        check_profile(str_from(agent->profile), err) < 0)
        return -1;
    if (fields & AGENT_EXTENSION && agent->extension)
        return check_extension_text(agent->extension, err);
    return 0;
}

int agent_check_members(const struct agent *agent, unsigned fields, struct err *err)
{
    if (fields & AGENT_NAME && agent_name_check("the name", str_from(agent->display_name), err) < 0)
        return -1;
    if (fields & AGENT_DESCRIPTION && agent->description &&
        agent_text_check("the description", str_from(agent->description), 4 * AGENT_DESCRIPTION_MAX,
                         err) < 0)
        return -1;
    if (fields & AGENT_DESCRIPTION && agent->description &&
        utf8_count(str_from(agent->description)) > AGENT_DESCRIPTION_MAX)
        return err_set(err, ERR_TOO_LARGE, "the description has more than %d characters",
                       AGENT_DESCRIPTION_MAX);
    if (fields & AGENT_INSTRUCTIONS && agent->instructions &&
        agent_text_check("the instructions", str_from(agent->instructions), AGENT_INSTRUCTIONS_MAX,
                         err) < 0)
        return -1;
    if (fields & AGENT_TOOLS && agent->tools && check_tools(agent->tools, err) < 0)
        return -1;
    return check_life(agent, fields, err);
}

bool agent_is_system(struct str id)
{
    return str_starts(id, STR("system:"));
}

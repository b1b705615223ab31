/* Strict parsing of request targets.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/target.h"

#include "base/utf8.h"

static int decode(struct arena *arena, struct str raw, bool plus_is_space, const char *what,
                  struct str *ret_text, struct err *err)
{
    char *out = arena_alloc(arena, raw.n + 1, 1);
    size_t n = 0;

    for (size_t i = 0; i < raw.n; i++) {
        int high, low;
        char c = raw.p[i];

        if (c == '%') {
            high = i + 2 < raw.n ? hex_digit(raw.p[i + 1]) : -1;
            low = i + 2 < raw.n ? hex_digit(raw.p[i + 2]) : -1;
            if (high < 0 || low < 0)
                return err_set(err, ERR_BAD_REQUEST,
                               "%s: a %% must be followed by two hexadecimal digits", what);
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if ((unsigned char)c < 0x20 || c == 0x7F)
            return err_set(err, ERR_BAD_REQUEST, "%s holds a control character (0x%02x)", what,
                           (unsigned char)c);
        out[n++] = c;
    }
    if (!utf8_valid(str_of(out, n)))
        return err_set(err, ERR_BAD_REQUEST, "%s is not valid UTF-8", what);
    *ret_text = str_of(out, n);
    return 0;
}

int target_decode_segment(struct arena *arena, struct str raw, struct str *ret_text,
                          struct err *err)
{
    struct str text;

    if (decode(arena, raw, false, "the path", &text, err) < 0)
        return -1;
    if (str_is(text, ".") || str_is(text, ".."))
        return err_set(err, ERR_BAD_REQUEST, "the path holds a dot segment (\"%.*s\")",
                       STR_ARG(text));
    *ret_text = text;
    return 0;
}

static int parse_pair(struct arena *arena, struct str pair, struct target *target, struct err *err)
{
    ptrdiff_t eq = str_find_char(pair, '=');
    struct str raw_name = eq < 0 ? pair : str_take(pair, (size_t)eq);
    struct str raw_value = eq < 0 ? STR("") : str_skip(pair, (size_t)eq + 1);
    struct param *param = &target->query[target->query_count];

    if (target->query_count == TARGET_QUERY_MAX)
        return err_set(err, ERR_BAD_REQUEST, "the query has more than %d parameters",
                       TARGET_QUERY_MAX);
    if (decode(arena, raw_name, true, "the query", &param->name, err) < 0 ||
        decode(arena, raw_value, true, "the query", &param->value, err) < 0)
        return -1;
    if (param->name.n == 0)
        return err_set(err, ERR_BAD_REQUEST, "the query has a parameter without a name");
    for (unsigned i = 0; i < target->query_count; i++)
        if (str_eq(target->query[i].name, param->name))
            return err_set(err, ERR_BAD_REQUEST, "the query parameter \"%.*s\" is given twice",
                           STR_ARG(str_take(param->name, 80)));
    target->query_count++;
    return 0;
}

/* "http://host:port/path" as a proxy would send it. */
static int split_absolute(struct str raw, struct target *target, struct str *ret_rest)
{
    struct str rest;
    ptrdiff_t slash;

    if (raw.n < 7 || !str_eq_nocase(str_take(raw, 7), STR("http://")))
        return -1;
    rest = str_skip(raw, 7);
    slash = str_find_char(rest, '/');
    target->authority = str_take(rest, slash < 0 ? rest.n : (size_t)slash);
    *ret_rest = slash < 0 ? STR("/") : str_skip(rest, (size_t)slash);
    return target->authority.n > 0 ? 0 : -1;
}

int target_parse(struct arena *arena, struct str raw, struct target *ret_target, struct err *err)
{
    struct target target = { .authority = STR("") };
    struct str rest = raw, pair;
    ptrdiff_t mark;

    if (str_is(raw, "*")) { /* OPTIONS * */
        ret_target->authority = STR("");
        ret_target->path = STR("*");
        ret_target->query_count = 0;
        return 0;
    }
    if ((raw.n == 0 || raw.p[0] != '/') && split_absolute(raw, &target, &rest) < 0)
        return err_set(err, ERR_BAD_REQUEST, "the request target must begin with /");
    if (str_find_char(rest, '#') >= 0)
        return err_set(err, ERR_BAD_REQUEST, "the request target must not hold a fragment (#)");
    mark = str_find_char(rest, '?');
    target.path = str_take(rest, mark < 0 ? rest.n : (size_t)mark);
    rest = mark < 0 ? STR("") : str_skip(rest, (size_t)mark + 1);
    while (rest.n > 0 && str_split(&rest, '&', &pair))
        if (pair.n > 0 && parse_pair(arena, pair, &target, err) < 0)
            return -1;
    *ret_target = target;
    return 0;
}

struct str target_query(const struct target *target, const char *name)
{
    for (unsigned i = 0; i < target->query_count; i++)
        if (str_is(target->query[i].name, name))
            return target->query[i].value;
    return STR_NONE;
}

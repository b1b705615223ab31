/* JSON Pointer, RFC 6901.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"

int json_pointer_next(struct str *rest, char *out, size_t size, struct str *ret_token)
{
    const char *p = rest->p, *end = rest->n ? rest->p + rest->n : rest->p;
    size_t n = 0;

    if (p == end)
        return 0;
    if (*p++ != '/')
        return -1;
    for (; p < end && *p != '/'; p++) {
        char c = *p;

        if (c == '~') {
            if (++p == end || (*p != '0' && *p != '1'))
                return -1;
            c = *p == '0' ? '~' : '/';
        }
        if (n + 1 >= size)
            return -1;
        out[n++] = c;
    }
    out[n] = '\0';
    *ret_token = str_of(out, n);
    *rest = str_of(p, (size_t)(end - p));
    return 1;
}

void json_pointer_add(struct buf *out, struct str token)
{
    buf_add_char(out, '/');
    for (size_t i = 0; i < token.n; i++) {
        if (token.p[i] == '~')
            buf_add_text(out, "~0");
        else if (token.p[i] == '/')
            buf_add_text(out, "~1");
        else
            buf_add_char(out, token.p[i]);
    }
}

/* As RFC 6901 has it: "0" or digits without leading zero. */
static int array_index(struct str token, size_t *ret_index)
{
    uint64_t index;

    if (token.n == 0 || (token.n > 1 && token.p[0] == '0') || str_to_u64(token, &index) < 0 ||
        index > SIZE_MAX)
        return -1;
    *ret_index = (size_t)index;
    return 0;
}

int json_pointer_step(struct json_object **value, struct str token)
{
    size_t index;

    if (json_object_get_type(*value) == json_type_object) {
        struct json_object *member;

        /* Keys hold no NUL, so a token that does is absent. */
        if (memchr(token.p, '\0', token.n) || !json_object_object_get_ex(*value, token.p, &member))
            return -1;
        *value = member;
        return 0;
    }
    if (json_object_get_type(*value) != json_type_array || array_index(token, &index) < 0 ||
        index >= json_length(*value))
        return -1;
    *value = json_object_array_get_idx(*value, index);
    return 0;
}

int json_pointer_find(struct json_object *value, struct str pointer, struct json_object **ret_value,
                      struct err *err)
{
    struct str rest = pointer, token;
    char text[JSON_POINTER_MAX];
    int r;

    while ((r = json_pointer_next(&rest, text, sizeof(text), &token)) > 0)
        if (json_pointer_step(&value, token) < 0)
            return err_set(err, ERR_NOT_FOUND, "JSON pointer \"%.*s\": there is no \"%.60s\" in %s",
                           STR_ARG(pointer), token.p, value ? json_type_name(value) : "null");
    if (r < 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "JSON pointer \"%.*s\": expected \"\" or parts that begin with '/', with ~0 "
                       "for '~' and ~1 for '/'",
                       STR_ARG(pointer));
    *ret_value = value;
    return 0;
}

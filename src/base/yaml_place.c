/* Where the values of a YAML document stand: a JSON pointer followed through the tree of places.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/yaml_int.h"

/* ~1 is a slash and ~0 a tilde in a pointer's token. */
static bool token_is(struct str token, struct str key)
{
    size_t k = 0;

    for (size_t i = 0; i < token.n; i++, k++) {
        char c = token.p[i];

        if (c == '~' && i + 1 < token.n && (token.p[i + 1] == '0' || token.p[i + 1] == '1'))
            c = token.p[++i] == '0' ? '~' : '/';
        if (k >= key.n || key.p[k] != c)
            return false;
    }
    return k == key.n;
}

static const struct yaml_place *child(const struct yaml_place *place, struct str token)
{
    const struct yaml_place *at = place->first;
    uint64_t index = 0;

    if (at && !at->key.p) {
        if (str_to_u64(token, &index) < 0)
            return NULL;
        while (at && index-- > 0)
            at = at->next;
        return at;
    }
    while (at && !token_is(token, at->key))
        at = at->next;
    return at;
}

static bool find_place(const struct yaml *yaml, struct str pointer,
                       const struct yaml_place **ret_place)
{
    const struct yaml_place *place = yaml->places;
    struct str token;

    *ret_place = place;
    if (!place || (pointer.n && pointer.p[0] != '/'))
        return false;
    pointer = pointer.n ? str_skip(pointer, 1) : STR_NONE;
    while (str_split(&pointer, '/', &token)) {
        place = child(place, token);
        if (!place)
            return false;
        *ret_place = place;
    }
    return true;
}

bool yaml_where(const struct yaml *yaml, struct str pointer, struct yaml_position *ret_value)
{
    const struct yaml_place *place;
    bool found = find_place(yaml, pointer, &place);

    *ret_value = place ? place->value_at : (struct yaml_position){ 1, 1 };
    return found;
}

bool yaml_where_key(const struct yaml *yaml, struct str pointer, struct yaml_position *ret_key)
{
    const struct yaml_place *place;
    bool found = find_place(yaml, pointer, &place);

    *ret_key = place ? place->key_at : (struct yaml_position){ 1, 1 };
    return found;
}

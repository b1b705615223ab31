/* Names of tools on the wire: '.' travels as "__".
 *
 * A part between dots neither begins nor ends with '_' and has no "__" in it, so every "__" of a
 * wire name was a dot, and two names never share one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tool/tool_int.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* A single '_' between letters; '.' likewise. */
static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        if (is_letter(name.p[i]))
            continue;
        if ((name.p[i] != '.' && name.p[i] != '_') || i == 0 || i + 1 == name.n ||
            !is_letter(name.p[i - 1]))
            return false;
    }
    return name.n > 0;
}

int tool_wire_name(struct str name, char ret_wire[TOOL_NAME_MAX + 1], struct err *err)
{
    char wire[TOOL_NAME_MAX + 1];
    size_t n = 0;

    if (!is_name(name))
        return err_set(err, ERR_BAD_REQUEST,
                       "a tool's name has letters, digits and '-', joined by single '_' or '.'");
    for (size_t i = 0; i < name.n; i++) {
        size_t need = name.p[i] == '.' ? 2 : 1;

        if (n + need > TOOL_NAME_MAX)
            return err_set(err, ERR_BAD_REQUEST,
                           "a tool's name has at most %d characters, a dot counted twice",
                           TOOL_NAME_MAX);
        wire[n++] = name.p[i] == '.' ? '_' : name.p[i];
        if (need == 2)
            wire[n++] = '_';
    }
    wire[n] = '\0';
    memcpy(ret_wire, wire, n + 1);
    return 0;
}

int tool_name_of_wire(struct str wire, char ret_name[TOOL_NAME_MAX + 1], struct err *err)
{
    char name[TOOL_NAME_MAX + 1];
    size_t n = 0;

    if (wire.n > TOOL_NAME_MAX)
        return err_set(err, ERR_BAD_REQUEST, "a tool's name has at most %d characters",
                       TOOL_NAME_MAX);
    for (size_t i = 0; i < wire.n; i++) {
        bool dot = wire.p[i] == '_' && i + 1 < wire.n && wire.p[i + 1] == '_';

        name[n++] = dot ? '.' : wire.p[i];
        i += dot;
    }
    name[n] = '\0';
    if (!is_name(str_of(name, n)) || memchr(wire.p, '.', wire.n))
        return err_set(err, ERR_BAD_REQUEST, "this is no tool's name on the wire");
    memcpy(ret_name, name, n + 1);
    return 0;
}

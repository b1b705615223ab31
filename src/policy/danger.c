/* The entry: what can be seen without reading, then the reading.
 *
 * SPDX-License-Identifier: MIT
 */
#include "policy/danger.h"

#include "base/alloc.h"
#include "policy/danger_int.h"

bool danger_report(struct danger_scan *scan, const char *rule, const char *about)
{
    if (!scan->hit)
        *scan->found = (struct danger){ rule, about, scan->part };
    scan->hit = true;
    return true;
}

bool danger_obscure(struct danger_scan *scan)
{
    return danger_report(scan, "obscure",
                         "The command is nested or grown beyond what can be followed.");
}

/* Control characters and marks that reorder text make people see another command than is run. */
static bool is_hidden(struct str s, size_t i)
{
    unsigned char c = (unsigned char)s.p[i], b, d;

    if (c < 0x20)
        return c != '\n' && c != '\t' && c != '\r';
    if (c == 0x7f)
        return true;
    if (c != 0xe2 || i + 2 >= s.n)
        return false;
    b = (unsigned char)s.p[i + 1];
    d = (unsigned char)s.p[i + 2];
    return (b == 0x80 && d >= 0xaa && d <= 0xae) || (b == 0x81 && d >= 0xa6 && d <= 0xa9);
}

static bool find_hidden(struct danger_scan *scan, struct str command)
{
    for (size_t i = 0; i < command.n; i++)
        if (is_hidden(command, i)) {
            scan->part = str_take(str_skip(command, i), 3);
            return danger_report(scan, "hidden_text",
                                 "The command holds characters that hide what it does.");
        }
    return false;
}

bool danger_find(struct str command, struct danger *ret_danger)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct danger_scan *scan = ARENA_NEW(&arena, struct danger_scan);

    scan->arena = &arena;
    scan->found = ret_danger;
    scan->part = scan->outer = command;
    scan->budget = DANGER_BUDGET;
    if (command.n == 0)
        return false;
    if (command.n > DANGER_BYTES_MAX)
        return danger_obscure(scan);
    if (!find_hidden(scan, command))
        danger_run_text(scan, command, (struct danger_stream){ 0 });
    return scan->hit;
}

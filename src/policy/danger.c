/* The entry: what can be seen without reading, then the reading.
 *
 * SPDX-License-Identifier: MIT
 */
#include "policy/danger.h"

#include "base/alloc.h"
#include "base/utf8.h"
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

bool danger_charge(struct danger_scan *scan, size_t cost)
{
    if (cost > scan->budget)
        return !danger_obscure(scan);
    scan->budget -= cost;
    return true;
}

/* Characters that make people see another command than is run. The joiners that scripts and emoji
 * need, and the selectors of emoji, are let be. */
static bool is_hidden(uint32_t code)
{
    enum utf8_oddity oddity = utf8_oddity_of(code);

    if (code == 0x200c || code == 0x200d || code == 0xfe0e || code == 0xfe0f)
        return false;
    if (oddity == UTF8_CONTROL)
        return code != '\n' && code != '\t' && code != '\r';
    return oddity == UTF8_BIDI || oddity == UTF8_HIDDEN;
}

static bool find_hidden(struct danger_scan *scan, struct str command)
{
    struct str rest = command;

    while (rest.n > 0) {
        const char *from = rest.p;
        uint32_t code;

        if (utf8_decode(&rest, &code) == 0 && is_hidden(code)) {
            scan->part = str_of(from, (size_t)(rest.p - from));
            return danger_report(scan, "hidden_text",
                                 "The command holds characters that hide what it does.");
        }
    }
    return false;
}

static struct danger_scan *scan_new(struct arena *arena, struct str command, struct danger *found)
{
    struct danger_scan *scan = ARENA_NEW(arena, struct danger_scan);

    scan->arena = arena;
    scan->found = found;
    scan->part = scan->outer = command;
    scan->budget = DANGER_BUDGET;
    return scan;
}

bool danger_find(struct str command, struct danger *ret_danger)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct danger_scan *scan = scan_new(&arena, command, ret_danger);

    if (command.n == 0)
        return false;
    if (command.n > DANGER_BYTES_MAX)
        return danger_obscure(scan);
    if (find_hidden(scan, command))
        return true;
    danger_run_text(scan, command, (struct danger_stream){ 0 });
    if (!scan->hit && scan->sh_seen) { /* sh is bash on some machines and dash on others, which read
                                          some texts apart */
        size_t left = scan->budget;

        scan = scan_new(&arena, command, ret_danger);
        scan->budget = left;
        scan->sh_plain = true;
        danger_run_text(scan, command, (struct danger_stream){ 0 });
    }
    return scan->hit;
}

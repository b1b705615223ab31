/* The names of commands: which one a word means, and which only looks like one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_rules_int.h"

#define SHELLS "sh bash dash zsh ksh mksh ash fish csh tcsh rbash yash osh"

bool danger_is_shell(struct str name)
{
    return danger_is(name, SHELLS);
}

/* Letters of other scripts that look like Latin ones. */
static struct str looks_like(struct danger_scan *scan, struct str name)
{
    static const struct {
        const char *other;
        char latin;
    } alike[] = { { "а", 'a' }, { "е", 'e' }, { "о", 'o' }, { "р", 'p' }, { "с", 'c' },
                  { "х", 'x' }, { "у", 'y' }, { "і", 'i' }, { "ѕ", 's' }, { "ԁ", 'd' },
                  { "һ", 'h' }, { "м", 'm' }, { "т", 't' }, { "к", 'k' }, { "г", 'r' },
                  { "ո", 'n' }, { "ο", 'o' }, { "α", 'a' }, { "υ", 'u' }, { "ѡ", 'w' } };
    AUTO_BUF out = BUF_INIT(256);

    for (size_t i = 0; i < name.n;) {
        struct str rest = str_skip(name, i);
        size_t step = 1;
        char c = name.p[i];

        for (size_t k = 0; (unsigned char)c >= 0x80 && k < ARRAY_LEN(alike); k++)
            if (str_starts(rest, str_from(alike[k].other))) {
                step = strlen(alike[k].other);
                c = alike[k].latin;
            }
        if (rest.n >= 3 && str_starts(rest, STR("\xef\xbd"))) { /* full width, U+FF40 on */
            step = 3;
            c = (char)(rest.p[2] - '\x80' + 0x60);
        }
        buf_add_char(&out, c);
        i += step;
    }
    return arena_str(scan->arena, buf_str(&out));
}

static bool is_ascii(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] >= 0x80)
            return false;
    return true;
}

/* The i-th list of names that rules are for; NULL behind the last. */
static const char *names_of_rule(size_t i)
{
    for (size_t k = 0; k < DANGER_RULE_SETS; k++) {
        if (i < danger_rule_sets[k]->n)
            return danger_rule_sets[k]->at[i].names;
        i -= danger_rule_sets[k]->n;
    }
    return NULL;
}

static bool known_name(struct str name)
{
    const char *names;

    for (size_t i = 0; (names = names_of_rule(i)) != NULL; i++)
        if (danger_is(name, names))
            return true;
    return danger_is_shell(name) || danger_is(name, "sudo curl wget eval");
}

bool danger_looks_known(struct danger_scan *scan, struct str name)
{
    return !is_ascii(name) && known_name(looks_like(scan, name));
}

/* The name in the list that the pattern means; p NULL when none. */
static struct str matched(struct str pattern, const char *list)
{
    struct str rest = str_from(list), one;

    while (str_split(&rest, ' ', &one))
        if (danger_glob_is(pattern, one))
            return one;
    return STR_NONE;
}

struct str danger_name(struct str word)
{
    struct str name = danger_base(word);
    struct str found = matched(name, SHELLS " sudo env xargs python3 perl node");
    const char *names;

    if (str_starts(word, STR("/proc/")) && str_is(name, "exe"))
        return STR("sh"); /* whatever runs this: a shell, as far as it goes */
    for (size_t i = 0; !found.p && (names = names_of_rule(i)) != NULL; i++)
        found = matched(name, names);
    return found.p ? found : name;
}

/* Channel names by id, as they were last seen: so that a person who is asked reads "#general" and
 * not C024BE91L. A ring: the oldest goes when it is full.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "connect/connect_int.h"

#define NAMES_MAX 512

struct names {
    struct {
        char id[32], name[128];
    } items[NAMES_MAX];
    size_t n, next;
};

struct names *names_new(void)
{
    return NEW(struct names);
}

void names_free(struct names *names)
{
    free(names);
}

const char *names_find(const struct names *names, struct str id)
{
    for (size_t i = 0; i < names->n; i++)
        if (str_is(id, names->items[i].id))
            return names->items[i].name;
    return NULL;
}

void names_set(struct names *names, struct str id, struct str name)
{
    AUTO_BUF line = BUF_INIT(1000);
    size_t at;

    if (!id.n || id.n >= sizeof(names->items[0].id) || !name.n)
        return;
    for (at = 0; at < names->n && !str_is(id, names->items[at].id); at++)
        continue;
    if (at == names->n) {
        at = names->next;
        names->next = (names->next + 1) % NAMES_MAX;
        if (names->n < NAMES_MAX)
            names->n++;
    }
    utf8_one_line(utf8_truncate(name, sizeof(names->items[0].name) - 1), &line);
    name = utf8_truncate(buf_str(&line), sizeof(names->items[0].name) - 1);
    snprintf(names->items[at].id, sizeof(names->items[0].id), "%.*s", STR_ARG(id));
    snprintf(names->items[at].name, sizeof(names->items[0].name), "%.*s", STR_ARG(name));
}

/* Names of agents and of their states.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/agent.h"

#include "agent/agent_int.h"

static const char *const lifecycle_names[] = {
    [AGENT_LIFECYCLE_NONE] = "none", [AGENT_CREATED] = "created",     [AGENT_ACTIVE] = "active",
    [AGENT_DORMANT] = "dormant",     [AGENT_DESTROYED] = "destroyed",
};

const char *agent_lifecycle_name(enum agent_lifecycle lifecycle)
{
    return lifecycle_names[lifecycle];
}

enum agent_lifecycle agent_lifecycle_of(struct str name)
{
    for (size_t i = 1; i < ARRAY_LEN(lifecycle_names); i++)
        if (str_is(name, lifecycle_names[i]))
            return (enum agent_lifecycle)i;
    return AGENT_LIFECYCLE_NONE;
}

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_id_char(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == ':';
}

int agent_id_check(struct str id, struct err *err)
{
    bool good = id.n >= 1 && id.n <= AGENT_ID_MAX && is_letter(id.p[0]);

    for (size_t i = 0; good && i < id.n; i++)
        good = is_id_char(id.p[i]);
    if (good)
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "agent id \"%.*s\": 1 to %d lower-case letters, digits, '-', '_' and ':' are"
                   " allowed, beginning with a letter",
                   (int)(id.n > AGENT_ID_MAX ? AGENT_ID_MAX : id.n), id.n ? id.p : "",
                   AGENT_ID_MAX);
}

/* One '-' for each character that may not stand in an id; what is before the first letter goes. */
void agent_id_of_name(const char *name, char ret_id[AGENT_ID_MAX + 1])
{
    size_t n = 0;

    for (; *name && n < AGENT_ID_MAX; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name + ('a' - 'A')) : *name;

        if (((unsigned char)c & 0xc0) == 0x80) /* inside a character that has its '-' */
            continue;
        if (!is_id_char(c))
            c = '-';
        if (n > 0 || is_letter(c))
            ret_id[n++] = c;
    }
    while (n > 0 && ret_id[n - 1] == '-')
        n--;
    ret_id[n] = 0;
}

/* The words of the inbox.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/inbox.h"

#include "agent/agent_int.h"

static const char *const kind_names[] = { [INBOX_KIND_NONE] = "none",
#define X(id, name) [INBOX_##id] = (name),
                                          INBOX_KINDS(X)
#undef X
};
static const char *const state_names[] = {
    [INBOX_STATE_NONE] = "none", [INBOX_PENDING] = "pending",     [INBOX_APPROVED] = "approved",
    [INBOX_EDITED] = "edited",   [INBOX_ANSWERED] = "answered",   [INBOX_REJECTED] = "rejected",
    [INBOX_EXPIRED] = "expired", [INBOX_WITHDRAWN] = "withdrawn",
};
static const char *const scope_names[] = {
    [INBOX_ONCE] = "once",
    [INBOX_FOR_RUN] = "run",
    [INBOX_ALWAYS] = "always",
};

const char *inbox_kind_name(enum inbox_kind kind)
{
    return kind_names[kind];
}

const char *inbox_state_name(enum inbox_state state)
{
    return state_names[state];
}

const char *inbox_scope_name(enum inbox_scope scope)
{
    return scope_names[scope];
}

/* 0 when it is none of them. */
static size_t number_of(const char *const *names, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(name, names[i]))
            return i;
    return 0;
}

enum inbox_kind inbox_kind_of(struct str name)
{
    return (enum inbox_kind)number_of(kind_names, ARRAY_LEN(kind_names), name);
}

enum inbox_state inbox_state_of(struct str name)
{
    return (enum inbox_state)number_of(state_names, ARRAY_LEN(state_names), name);
}

enum inbox_scope inbox_scope_of(struct str name)
{
    return (enum inbox_scope)number_of(scope_names, ARRAY_LEN(scope_names), name);
}

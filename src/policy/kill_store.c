/* Kill switches: a handful of rows, all of them kept in memory.
 *
 * kill_is_on() stands before every effect, so it never asks the database. The list is short (one
 * row a switch, set by hand), so it is scanned.
 *
 * SPDX-License-Identifier: MIT
 */
#include "policy/kill.h"

#include <stdlib.h>
#include <string.h>

#include "db/db.h"

struct kill_switches {
    struct domain *domain;
    struct kill_switch *on; /* ordered by scope name and value; texts are owned */
    size_t n;
};

static const char *const scope_names[] = {
    [KILL_NONE] = "", [KILL_ALL] = "all", [KILL_AGENT] = "agent", [KILL_TOOLS] = "tools"
};

const char *kill_scope_name(enum kill_scope scope)
{
    return scope_names[scope];
}

enum kill_scope kill_scope_from(const char *name)
{
    for (unsigned i = KILL_ALL; i < ARRAY_LEN(scope_names); i++)
        if (strcmp(scope_names[i], name) == 0)
            return (enum kill_scope)i;
    return KILL_NONE;
}

int kill_refuse(const struct kill_switch *on, struct err *err)
{
    static const struct {
        const char *before, *after;
    } stopped[] = {
        [KILL_ALL] = { "the emergency stop", " is on" },
        [KILL_AGENT] = { "the agent ", " is stopped" },
        [KILL_TOOLS] = { "the class of tools ", " is stopped" },
    };
    const char *value = on->scope == KILL_ALL ? "" : on->value;

    return err_set(
        err, ERR_KILL_SWITCH_ACTIVE, "%s%s%s%s%.200s%s: `dormouse unkill --%s%s%s` lifts it",
        stopped[on->scope].before, value, stopped[on->scope].after, *on->reason ? " (" : "",
        on->reason, *on->reason ? ")" : "", kill_scope_name(on->scope), *value ? " " : "", value);
}

static void list_release(struct kill_switch *on, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free((char *)on[i].value);
        free((char *)on[i].reason);
    }
    free(on);
}

void kill_switches_free(struct kill_switches *kill)
{
    if (!kill)
        return;
    list_release(kill->on, kill->n);
    free(kill);
}

static char *copy(struct str text)
{
    return alloc_copy(text.p ? text.p : "", text.n);
}

/* A scope that this binary does not know was set by a newer one: it is on for everything, because
 * a stop that is not understood is a stop. Whoever lifts the stop of everything lifts it too. */
static enum kill_scope scope_of(struct str name)
{
    for (unsigned i = KILL_ALL; i < ARRAY_LEN(scope_names); i++)
        if (str_is(name, scope_names[i]))
            return (enum kill_scope)i;
    return KILL_ALL;
}

static int read_all(struct domain *domain, struct kill_switch **ret_on, size_t *ret_n,
                    struct err *err)
{
    AUTO(stmt) q = NULL;
    struct kill_switch *on = NULL;
    size_t n = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT scope, value, reason, since FROM kill_switches"
                       " ORDER BY scope, value"),
                   &q, err) < 0)
        return -1;
    while ((r = stmt_step(q, err)) > 0) {
        on = alloc_resize(on, n + 1, sizeof(*on));
        on[n++] = (struct kill_switch){ .scope = scope_of(stmt_str(q, "scope")),
                                        .value = copy(stmt_str(q, "value")),
                                        .reason = copy(stmt_str(q, "reason")),
                                        .since_ms = stmt_i64(q, "since") };
    }
    if (r < 0) {
        list_release(on, n);
        return -1;
    }
    *ret_on = on;
    *ret_n = n;
    return 0;
}

static bool same(const struct kill_switch *a, const struct kill_switch *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].scope != b[i].scope || strcmp(a[i].value, b[i].value) != 0)
            return false;
    return true;
}

int kill_reload(struct kill_switches *kill, struct err *err)
{
    struct kill_switch *on;
    bool changed;
    size_t n;

    if (read_all(kill->domain, &on, &n, err) < 0)
        return err_wrap(err, "read the kill switches");
    changed = n != kill->n || !same(on, kill->on, n);
    list_release(kill->on, kill->n);
    kill->on = on;
    kill->n = n;
    return changed;
}

int kill_open(struct domain *agent_domain, struct kill_switches **ret_kill, struct err *err)
{
    AUTO(kill_switches) kill = NEW(struct kill_switches);

    kill->domain = agent_domain;
    if (kill_reload(kill, err) < 0)
        return -1;
    *ret_kill = TAKE(kill);
    return 0;
}

static int check(enum kill_scope scope, const char *value, struct err *err)
{
    size_t n = strlen(value);

    if (scope < KILL_ALL || scope > KILL_TOOLS)
        return err_set(err, ERR_BAD_REQUEST, "a kill switch is for all, one agent, or tools");
    if (scope == KILL_ALL && n > 0)
        return err_set(err, ERR_BAD_REQUEST, "the kill switch for all takes no name");
    if (scope != KILL_ALL && (n == 0 || n > KILL_VALUE_MAX))
        return err_set(err, ERR_BAD_REQUEST, "a kill switch for %s names one in 1 to %d bytes",
                       scope == KILL_AGENT ? "an agent" : "a class of tools", KILL_VALUE_MAX);
    return 0;
}

/* Other processes on the database hear of it when it is committed. */
static int tell_others(struct domain *domain, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (!domain_is_shared(domain))
        return 0;
    if (db_prepare(domain_db(domain), SQL("SELECT pg_notify('" KILL_CHANNEL "', '') AS told"), &q,
                   err) < 0)
        return -1;
    return stmt_step(q, err) < 0 ? -1 : 0;
}

/* 1, or 0 when nothing changed. */
static int stored(struct kill_switches *kill, bool changed, struct err *err)
{
    if ((changed && tell_others(kill->domain, err) < 0) || kill_reload(kill, err) < 0)
        return -1;
    return changed;
}

int kill_set(struct kill_switches *kill, enum kill_scope scope, const char *value,
             const char *reason, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (check(scope, value, err) < 0)
        return -1;
    if (strlen(reason) > KILL_REASON_MAX)
        return err_set(err, ERR_TOO_LARGE, "the reason has more than %d bytes", KILL_REASON_MAX);
    if (db_prepare(domain_db(kill->domain),
                   SQL("INSERT INTO kill_switches (scope, value, reason, since)"
                       " VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, kill_scope_name(scope));
    stmt_bind_text(q, value);
    stmt_bind_text(q, reason);
    stmt_bind_i64(q, now_ms);
    if (stmt_run(q, err) < 0)
        return err_wrap(err, "set a kill switch");
    return stored(kill, stmt_changes(q) > 0, err);
}

int kill_clear(struct kill_switches *kill, enum kill_scope scope, const char *value,
               struct err *err)
{
    AUTO(stmt) q = NULL;

    if (check(scope, value, err) < 0)
        return -1;
    if (db_prepare(domain_db(kill->domain),
                   scope == KILL_ALL
                       ? SQL("DELETE FROM kill_switches WHERE scope NOT IN ('agent', 'tools')")
                       : SQL("DELETE FROM kill_switches WHERE scope = ? AND value = ?"),
                   &q, err) < 0)
        return -1;
    if (scope != KILL_ALL) {
        stmt_bind_text(q, kill_scope_name(scope));
        stmt_bind_text(q, value);
    }
    if (stmt_run(q, err) < 0)
        return err_wrap(err, "lift a kill switch");
    return stored(kill, stmt_changes(q) > 0, err);
}

static bool stands_in_the_way(const struct kill_switch *on, const char *agent_id,
                              const char *tool_class)
{
    switch (on->scope) {
    case KILL_AGENT:
        return agent_id && strcmp(on->value, agent_id) == 0;
    case KILL_TOOLS:
        return tool_class && strcmp(on->value, tool_class) == 0;
    default:
        return true;
    }
}

const struct kill_switch *kill_is_on(const struct kill_switches *kill, const char *agent_id,
                                     const char *tool_class)
{
    for (size_t i = 0; i < kill->n; i++)
        if (stands_in_the_way(&kill->on[i], agent_id, tool_class))
            return &kill->on[i];
    return NULL;
}

void kill_each(const struct kill_switches *kill,
               void (*fn)(void *arg, const struct kill_switch *on), void *arg)
{
    for (size_t i = 0; i < kill->n; i++)
        fn(arg, &kill->on[i]);
}

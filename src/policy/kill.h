/* Kill switches: all, one agent, or one class of tools. While one is on no new effect of that kind
 * starts. Set and lifted by people only; kept in kill_switches, known in memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_POLICY_KILL_H
#define DORMOUSE_POLICY_KILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/err.h"
#include "db/domain.h"

#define KILL_VALUE_MAX  128
#define KILL_REASON_MAX 1000
/* Where other processes on a shared database hear that switches were set or lifted. */
#define KILL_CHANNEL "dormouse_kills"

enum kill_scope { KILL_NONE = 0, KILL_ALL, KILL_AGENT, KILL_TOOLS };

struct kill_switch {
    enum kill_scope scope;
    const char *value;  /* agent id or tool class; "" for all */
    const char *reason; /* may be "" */
    int64_t since_ms;
};

struct kill_switches;

/* Reads what is on. */
int kill_open(struct domain *agent_domain, struct kill_switches **ret_kill, struct err *err);
void kill_switches_free(struct kill_switches *kill);
AUTO_DEFINE(kill_switches)

/* Inside a unit on the agent domain; takes effect for kill_is_on() at once. When the unit is rolled
 * back, call kill_reload(). Idempotent: 1 when it changed something, 0 when it was so already (the
 * first reason and time stay). bad_request for a value that does not fit the scope: none for all,
 * 1 to KILL_VALUE_MAX bytes for the others; a reason has at most KILL_REASON_MAX. */
int kill_set(struct kill_switches *kill, enum kill_scope scope, const char *value,
             const char *reason, int64_t now_ms, struct err *err);
int kill_clear(struct kill_switches *kill, enum kill_scope scope, const char *value,
               struct err *err);
/* Reads again what is on: 1 when that is something else than was known, 0. What is known stays when
 * it fails. */
int kill_reload(struct kill_switches *kill, struct err *err);

/* NULL when nothing stands in the way of this agent and, if given, this class; else the switch,
 * valid until the next change. Either may be NULL. */
const struct kill_switch *kill_is_on(const struct kill_switches *kill, const char *agent_id,
                                     const char *tool_class);
/* -1 with kill_switch_active: what is stopped, why, and the command that lifts just that. */
int kill_refuse(const struct kill_switch *on, struct err *err);
/* "all", "agent", "tools"; and back, KILL_NONE when it is none of them. */
const char *kill_scope_name(enum kill_scope scope);
enum kill_scope kill_scope_from(const char *name);
/* In the order of scope and value. */
void kill_each(const struct kill_switches *kill,
               void (*fn)(void *arg, const struct kill_switch *on), void *arg);

#endif

/* Risk: whether a person has to be asked, whether wiggum mode spares the question, what is never
 * done, and the attributes that the user's policy adds.
 *
 * Paths are looked at as text only, to decide about the question. Whether a file may be touched is
 * the hand's to say, which opens it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "bp/policy.h"
#include "policy/danger.h"
#include "tool/tool_int.h"

/* ---- paths as text ---- */

/* Appends the components of path; false when one is "..". */
static bool add_components(struct str path, struct buf *out)
{
    struct str part;

    while (str_split(&path, '/', &part)) {
        if (!part.n || str_is(part, "."))
            continue;
        if (str_is(part, ".."))
            return false;
        buf_add_char(out, '/');
        buf_add_str(out, part);
    }
    return true;
}

const char *risk_resolve(const struct sandbox_spec *spec, struct str path, struct arena *arena)
{
    AUTO_BUF full = BUF_INIT(64u << 10);
    const char *home = spec->home ? spec->home : getenv("HOME");
    bool in_home = str_is(path, "~") || str_starts(path, STR("~/"));
    bool ok = true;

    if (!path.n || (in_home && !home))
        return NULL;
    if (in_home) {
        ok = add_components(str_from(home), &full);
        path = str_skip(path, 1);
    } else if (path.p[0] != '/') {
        ok = add_components(str_from(spec->cwd ? spec->cwd : "/"), &full);
    }
    if (!ok || (path.n && !add_components(path, &full)) || full.full)
        return NULL;
    return full.n ? arena_str(arena, buf_str(&full)).p : "/";
}

const char *risk_target(const struct tool_call *call, struct str path, struct arena *arena)
{
    struct sandbox_spec from = call->sandbox;

    from.cwd = call_directory(call);
    return risk_resolve(&from, path, arena);
}

bool risk_below(const char *path, const char *root)
{
    size_t n = strlen(root);

    while (n > 1 && root[n - 1] == '/')
        n--;
    if (n == 1 && root[0] == '/')
        return true;
    return strncmp(path, root, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

static bool has_component(const char *path, const char *name)
{
    struct str rest = str_from(path), part;

    while (str_split(&rest, '/', &part))
        if (str_is(part, name))
            return true;
    return false;
}

static bool is_denied(const struct sandbox_spec *spec, const char *full, struct arena *arena)
{
    for (const char *const *p = spec->deny_read; p && *p; p++) {
        const char *root;

        if (!strchr(*p, '/') && (*p)[0] != '~') {
            if (has_component(full, *p))
                return true;
            continue;
        }
        root = risk_resolve(spec, str_from(*p), arena);
        if (!root || risk_below(full, root))
            return true;
    }
    return false;
}

bool risk_may_write(const struct sandbox_spec *spec, struct str path, struct arena *arena)
{
    const char *full = risk_resolve(spec, path, arena);

    if (!full || is_denied(spec, full, arena))
        return false;
    for (const char *const *p = spec->allow_write; p && *p; p++) {
        const char *root = risk_resolve(spec, str_from(*p), arena);

        if (root && risk_below(full, root))
            return true;
    }
    return false;
}

/* ---- attributes ---- */

bool tool_asks(const struct tool_contract *contract)
{
    if (contract->approval == TOOL_ASK_BY_RISK)
        return contract->mutating && contract->risk >= TOOL_RISK_MEDIUM;
    return contract->approval != TOOL_ASK_NEVER;
}

static bool asks(const struct judging *j)
{
    const struct tool_contract *contract = j->binding->entry->contract;
    const struct tool_impl *impl = j->binding->impl;

    if (!tool_asks(contract))
        return false;
    return !(impl->spared && j->arguments &&
             impl->spared(j->binding->impl_arg, j->call, j->arguments));
}

static bool is_waivable(const struct judging *j)
{
    const struct tool_binding *binding = j->binding;
    const struct sandbox_spec *spec = &j->call->sandbox;
    const char *target;

    if (!binding->builtin || binding->entry->contract->approval != TOOL_ASK_BY_RISK || spec->off)
        return false;
    if (binding->builtin->waiver == TOOL_WAIVER_WALLS)
        return true;
    if (binding->builtin->waiver != TOOL_WAIVER_WRITE_PATH || !j->arguments)
        return false;
    target = risk_target(j->call, json_str(json_find(j->arguments, binding->entry->path_argument)),
                         j->arena);
    return target && risk_may_write(spec, str_from(target), j->arena);
}

static void judge_danger(struct judging *j)
{
    struct str command = json_str(json_find(j->arguments, "command"));
    struct tool_verdict *v = j->verdict;
    struct danger danger;

    if (strcmp(j->binding->entry->contract->tool_class, "shell") != 0 ||
        !danger_find(command, &danger))
        return;
    v->attributes |= TOOL_DANGEROUS;
    v->attributes &= ~(uint32_t)TOOL_WAIVABLE;
    if (v->attributes & TOOL_KILLED)
        return;
    v->code = ERR_UNSAFE_TARGET;
    v->message = arena_printf(j->arena, "This command is never run (%s): %s Found in: %s",
                              danger.rule, danger.about, shown_word(danger.part, 300, j->arena));
}

static void judge_policy(struct judging *j)
{
    const struct tool_bed_config *config = &j->bed->config;
    struct expr_facts facts = {
        .tool = str_from(j->binding->entry->contract->name),
        .agent = str_from(j->call->agent->id),
        .mode = j->call->wiggum ? STR("wiggum") : STR("structured"),
        .args = j->arguments,
    };

    if (config->policy && config->program)
        j->verdict->policy_bits = bp_policy_classify(config->policy, config->program, &facts);
}

void judge_risk(struct judging *j)
{
    const struct tool_contract *contract = j->binding->entry->contract;
    struct tool_verdict *v = j->verdict;

    if (!contract->parallel_safe)
        v->attributes |= TOOL_SERIAL;
    if (asks(j))
        v->attributes |= TOOL_RISKY | (is_waivable(j) ? TOOL_WAIVABLE : 0);
    judge_danger(j);
    judge_policy(j);
}

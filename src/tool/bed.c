/* The bed: which handler does what contract says, for one daemon.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "tool/tool_int.h"

static const struct tool_builtin *builtin_find(const char *name)
{
    for (size_t i = 0; i < tool_builtin_count; i++)
        if (strcmp(tool_builtins[i].impl.name, name) == 0)
            return &tool_builtins[i];
    return NULL;
}

/* Keeps the order of names. */
static void bind(struct tool_bed *bed, struct tool_binding *binding)
{
    const char *name = binding->entry->contract->name;
    size_t at = bed->count;

    if (bed->count == bed->room) {
        bed->room = bed->room ? 2 * bed->room : 16;
        bed->bindings = alloc_resize(bed->bindings, bed->room, sizeof(void *));
        bed->contracts = alloc_resize(bed->contracts, bed->room, sizeof(void *));
    }
    while (at > 0 && strcmp(bed->bindings[at - 1]->entry->contract->name, name) > 0) {
        bed->bindings[at] = bed->bindings[at - 1];
        bed->contracts[at] = bed->contracts[at - 1];
        at--;
    }
    bed->bindings[at] = binding;
    bed->contracts[at] = binding->entry->contract;
    bed->count++;
}

static struct tool_bound *bound_find(struct tool_bed *bed, const char *name)
{
    struct tool_bound *at = bed->bound;

    while (at && strcmp(at->impl->name, name) != 0)
        at = at->next;
    return at;
}

static bool find_handler(struct tool_bed *bed, struct tool_binding *binding)
{
    const char *name = binding->entry->contract->name;
    const struct tool_bound *bound;

    binding->builtin = builtin_find(name);
    if (binding->builtin) {
        binding->impl = &binding->builtin->impl;
        binding->impl_arg = binding->builtin->needs_files ? bed : NULL;
        return !binding->builtin->needs_files || bed->config.files;
    }
    bound = bound_find(bed, name);
    if (!bound)
        return false;
    binding->impl = bound->impl;
    binding->impl_arg = bound->arg;
    return true;
}

/* At the first use: contracts are not read when a daemon starts. */
static void fill(struct tool_bed *bed)
{
    const struct tool_entry *entries;
    size_t count;

    if (bed->count)
        return;
    entries = tool_entries(&count);
    for (size_t i = 0; i < count; i++) {
        struct tool_binding *binding = ARENA_NEW(&bed->arena, struct tool_binding);

        binding->entry = &entries[i];
        if (find_handler(bed, binding))
            bind(bed, binding);
    }
}

void tool_bed_bind(struct tool_bed *bed, const struct tool_impl *impl, void *impl_arg)
{
    struct tool_bound *bound = ARENA_NEW(&bed->arena, struct tool_bound);

    BUG_IF(bed->count);
    *bound = (struct tool_bound){ .impl = impl, .arg = impl_arg, .next = bed->bound };
    bed->bound = bound;
}

void tool_bed_guard(struct tool_bed *bed, struct tool_guard *guard)
{
    guard->next = bed->guards;
    bed->guards = guard;
}

int tool_bed_new(const struct tool_bed_config *config, struct tool_bed **ret_bed, struct err *err)
{
    struct tool_bed *bed = NEW(struct tool_bed);

    (void)err;
    bed->config = *config;
    *ret_bed = bed;
    return 0;
}

void tool_bed_free(struct tool_bed *bed)
{
    struct err ended = ERR_INIT;

    if (!bed)
        return;
    err_set(&ended, ERR_CANCELLED, "the daemon ends");
    while (bed->jobs)
        job_drop(bed->jobs, &ended);
    for (size_t i = 0; i < bed->count; i++)
        if (bed->bindings[i]->added)
            contract_release((struct tool_entry *)bed->bindings[i]->entry);
    free(bed->bindings);
    free(bed->contracts);
    arena_release(&bed->arena);
    free(bed);
}

void tool_bed_set_policy(struct tool_bed *bed, const struct bp_policy *policy,
                         const struct bp_program *program, const char *policy_text_hash)
{
    bed->config.policy = policy;
    bed->config.program = program;
    bed->config.policy_text_hash = policy_text_hash;
}

struct tool_binding *bed_find(struct tool_bed *bed, struct str name)
{
    fill(bed);
    for (size_t i = 0; i < bed->count; i++)
        if (str_is(name, bed->contracts[i]->name) || str_is(name, bed->contracts[i]->wire))
            return bed->bindings[i];
    return NULL;
}

int tool_bed_add(struct tool_bed *bed, const char *contract_json, const struct tool_impl *impl,
                 void *impl_arg, struct err *err)
{
    struct tool_binding *binding = ARENA_NEW(&bed->arena, struct tool_binding);
    struct tool_entry *entry = ARENA_NEW(&bed->arena, struct tool_entry);

    entry->contract = ARENA_NEW(&bed->arena, struct tool_contract);
    if (contract_add(contract_json, &bed->arena, entry, err) < 0)
        return -1;
    if (strcmp(entry->contract->name, impl->name) != 0) {
        err_set(err, ERR_BAD_REQUEST, "the contract is of \"%s\" and the handler of \"%s\"",
                entry->contract->name, impl->name);
    } else if (bed_find(bed, str_from(entry->contract->wire))) {
        err_set(err, ERR_CONFLICT, "there is a tool \"%s\" already", entry->contract->name);
    } else {
        *binding = (struct tool_binding){
            .entry = entry, .impl = impl, .impl_arg = impl_arg, .added = true
        };
        bind(bed, binding);
        return 0;
    }
    contract_release(entry);
    return -1;
}

const struct tool_contract *const *tool_bed_contracts(struct tool_bed *bed, size_t *ret_count)
{
    fill(bed);
    *ret_count = bed->count;
    return bed->contracts;
}

const struct tool_contract *tool_bed_find(struct tool_bed *bed, struct str name)
{
    const struct tool_binding *binding = bed_find(bed, name);

    return binding ? binding->entry->contract : NULL;
}

static bool guards_offer(struct tool_bed *bed, const struct tool_contract *contract,
                         const struct agent *agent)
{
    for (struct tool_guard *guard = bed->guards; guard; guard = guard->next)
        if (guard->offers && !guard->offers(guard, contract, agent))
            return false;
    return true;
}

bool tool_bed_offers(struct tool_bed *bed, const struct tool_contract *contract,
                     const struct agent *agent, struct str wake_reason)
{
    const struct tool_binding *binding = bed_find(bed, str_from(contract->name));

    return binding && tool_offered(contract, agent, wake_reason) &&
           (!binding->impl->offered || binding->impl->offered(binding->impl_arg, agent)) &&
           guards_offer(bed, contract, agent);
}

bool tool_bed_uses_hand(struct tool_bed *bed, const struct tool_contract *contract)
{
    const struct tool_binding *binding = bed_find(bed, str_from(contract->name));

    return binding && (binding->impl->uses_hand || binding->impl->start == hand_tool_start);
}

/* One entry of the contract file into a struct tool_contract.
 *
 * Its form was checked by the schema; what a schema can't say is checked here: that references lead
 * somewhere, that the schemas in it compile, that the name can go on the wire.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "base/json_canonical.h"
#include "base/limits.h"
#include "base/schema.h"
#include "tool/tool_int.h"

/* As json-c reads it, before it becomes a contract. */
struct raw {
    struct str name, version, description, keyed, risk, policy, tool_class, approval, taint;
    struct str inbox_kind;
    struct str input_ref, output_ref;
    struct json_object *capabilities, *wake_reasons, *hosts, *scope, *effects, *input, *output;
    bool mutating, parallel_safe;
    int64_t timeout_s;
};

static const struct json_field fields[] = {
    JSON_FIELD(struct raw, name, "name", JSON_STR, .required = true),
    JSON_FIELD(struct raw, version, "version", JSON_STR, .required = true),
    JSON_FIELD(struct raw, description, "description", JSON_STR, .required = true),
    JSON_FIELD(struct raw, capabilities, "capabilitiesRequired", JSON_ARRAY, .required = true),
    JSON_FIELD(struct raw, wake_reasons, "allowedWakeReasons", JSON_ARRAY, .required = true),
    JSON_FIELD(struct raw, input, "inputSchema", JSON_ANY),
    JSON_FIELD(struct raw, input_ref, "inputSchemaRef", JSON_STR),
    JSON_FIELD(struct raw, output, "outputSchema", JSON_ANY),
    JSON_FIELD(struct raw, output_ref, "outputSchemaRef", JSON_STR),
    JSON_FIELD(struct raw, keyed, "idempotencyStrategy", JSON_STR, .required = true),
    JSON_FIELD(struct raw, scope, "scopeRules", JSON_ARRAY, .required = true),
    JSON_FIELD(struct raw, effects, "sideEffects", JSON_ANY, .required = true),
    JSON_FIELD(struct raw, risk, "riskLevel", JSON_STR, .required = true),
    JSON_FIELD(struct raw, policy, "dataMinimizationPolicyRef", JSON_STR, .required = true),
    JSON_FIELD(struct raw, tool_class, "toolClass", JSON_STR, .required = true),
    JSON_FIELD(struct raw, mutating, "mutating", JSON_BOOL, .required = true),
    JSON_FIELD(struct raw, approval, "approval", JSON_STR, .required = true),
    JSON_FIELD(struct raw, parallel_safe, "parallelSafe", JSON_BOOL, .required = true),
    JSON_FIELD(struct raw, timeout_s, "timeout", JSON_I64, .required = true),
    JSON_FIELD(struct raw, hosts, "egressHosts", JSON_ARRAY, .required = true),
    JSON_FIELD(struct raw, taint, "outputTaint", JSON_STR),
    JSON_FIELD(struct raw, inbox_kind, "inboxKind", JSON_STR),
    { .name = NULL },
};

static const char *const risk_names[] = { "none", "low", "medium", "high", NULL };
static const char *const keyed_names[] = { "unkeyed", "keyed", "read_only", NULL };
static const char *const approval_names[] = { "", "always", "byRisk", "never", NULL };

static int name_index(struct str name, const char *const *names, const char *what, struct err *err)
{
    for (int i = 0; names[i]; i++)
        if (str_is(name, names[i]) && name.n)
            return i;
    return err_set(err, ERR_SCHEMA_VIOLATION, "%s has no value \"%.*s\"", what, STR_ARG(name));
}

static const char *const *text_list(struct json_object *list, struct arena *arena)
{
    size_t n = json_length(list);
    const char **texts = ARENA_NEW_N(arena, const char *, n + 1);

    for (size_t i = 0; i < n; i++)
        texts[i] = arena_str(arena, json_str(json_object_array_get_idx(list, i))).p;
    return texts;
}

/* The schema itself, or the definition that a reference names. Borrowed. */
static int resolve(struct json_object *inline_schema, struct str ref, struct json_object *defs,
                   struct json_object **ret_schema, struct err *err)
{
    char name[128];

    if (!ref.n) {
        *ret_schema = inline_schema;
        return 0;
    }
    ref = str_skip(ref, sizeof("#/$defs/") - 1);
    snprintf(name, sizeof(name), "%.*s", STR_ARG(ref));
    *ret_schema = json_find(defs, name);
    if (!*ret_schema)
        return err_set(err, ERR_NOT_FOUND, "there is no definition \"%s\" under $defs", name);
    return 0;
}

static int compile(struct json_object *document, const char *what, struct arena *arena,
                   const char **ret_text, const struct schema **ret_schema, struct err *err)
{
    AUTO_BUF text = BUF_INIT(LIMIT_YAML_BYTES);
    struct schema *schema;

    if (json_canonical(document, &text, err) < 0 ||
        schema_compile(NULL, document, STR(""), 0, &schema, err) < 0)
        return err_wrap(err, "%s", what);
    *ret_text = arena_str(arena, buf_str(&text)).p;
    *ret_schema = schema;
    return 0;
}

/* Bounds of sizes say little to a model and much to a server that turns schemas into grammars:
 * llama-server spells a maxLength of 2000 out and refuses the whole request. Arguments are checked
 * with all of the schema. */
static void drop_bounds(struct json_object *schema)
{
    static const char *const bounds[] = { "minLength",     "maxLength",   "minItems",
                                          "maxItems",      "uniqueItems", "minProperties",
                                          "maxProperties", "pattern" };
    static const char *const maps[] = { "properties", "patternProperties", "$defs" };
    static const char *const lists[] = { "anyOf", "oneOf", "allOf", "prefixItems" };
    static const char *const inner[] = { "items", "additionalProperties", "not", "if", "then",
                                         "else" };

    if (!json_object_is_type(schema, json_type_object))
        return;
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
        json_object_object_del(schema, bounds[i]);
    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        struct json_object *map = json_find(schema, maps[i]);

        if (json_object_is_type(map, json_type_object)) {
            json_object_object_foreach(map, name, one)
            {
                (void)name;
                drop_bounds(one);
            }
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (size_t k = 0; k < json_length(json_find(schema, lists[i])); k++)
            drop_bounds(json_object_array_get_idx(json_find(schema, lists[i]), k));
    for (size_t i = 0; i < ARRAY_LEN(inner); i++)
        drop_bounds(json_find(schema, inner[i]));
}

static int schema_for_models(const char *schema, struct arena *arena, const char **ret_text,
                             struct err *err)
{
    AUTO_BUF text = BUF_INIT(LIMIT_YAML_BYTES);
    AUTO_JSON shown = NULL;

    if (json_parse(str_from(schema), &shown, err) < 0)
        return -1;
    drop_bounds(shown);
    if (json_canonical(shown, &text, err) < 0)
        return -1;
    *ret_text = arena_str(arena, buf_str(&text)).p;
    return 0;
}

static int read_schemas(const struct raw *raw, struct json_object *defs, struct arena *arena,
                        struct tool_entry *entry, struct err *err)
{
    struct tool_contract *c = entry->contract;
    struct json_object *input, *output;

    if (resolve(raw->input, raw->input_ref, defs, &input, err) < 0 ||
        resolve(raw->output, raw->output_ref, defs, &output, err) < 0)
        return -1;
    if (compile(input, "inputSchema", arena, &c->input_schema, &c->input, err) < 0 ||
        compile(output, "outputSchema", arena, &entry->output_schema, &c->output, err) < 0 ||
        schema_for_models(c->input_schema, arena, &c->shown_schema, err) < 0)
        return -1;
    return 0;
}

static int read_enums(const struct raw *raw, struct tool_contract *c, struct err *err)
{
    int risk = name_index(raw->risk, risk_names, "riskLevel", err);
    int keyed = name_index(raw->keyed, keyed_names, "idempotencyStrategy", err);
    int approval = name_index(raw->approval, approval_names, "approval", err);

    if (risk < 0 || keyed < 0 || approval < 0)
        return -1;
    c->risk = (enum tool_risk)risk;
    c->keyed = (enum tool_keyed)keyed;
    c->approval = (enum tool_approval)approval;
    c->inbox_kind = raw->inbox_kind.n ? inbox_kind_of(raw->inbox_kind) : INBOX_TOOL;
    return 0;
}

static int read_policy(const struct raw *raw, struct json_object *policies,
                       struct tool_entry *entry, struct err *err)
{
    struct json_object *policy;
    char name[64];
    int64_t bytes = 0;

    snprintf(name, sizeof(name), "%.*s", STR_ARG(raw->policy));
    policy = json_find(policies, name);
    if (!policy)
        return err_set(err, ERR_NOT_FOUND, "there is no dataMinimizationPolicy \"%s\"", name);
    if (json_get_i64(policy, "maxBytes", &bytes, err) < 0 ||
        json_get_bool(policy, "redact", &entry->redacts, err) < 0)
        return -1;
    entry->output_max = (size_t)bytes;
    return 0;
}

static void read_scope(const struct raw *raw, struct arena *arena, struct tool_entry *entry)
{
    struct json_object *rule;

    if (!json_length(raw->scope))
        return;
    rule = json_object_array_get_idx(raw->scope, 0);
    entry->path_argument = arena_str(arena, json_str(json_find(rule, "argument"))).p;
    entry->path_writes = str_is(json_str(json_find(rule, "access")), "write");
}

static void read_texts(const struct raw *raw, struct arena *arena, struct tool_contract *c)
{
    c->name = arena_str(arena, raw->name).p;
    c->version = arena_str(arena, raw->version).p;
    c->description = arena_str(arena, raw->description).p;
    c->tool_class = arena_str(arena, raw->tool_class).p;
    c->capabilities = text_list(raw->capabilities, arena);
    c->wake_reasons = text_list(raw->wake_reasons, arena);
    c->egress_hosts = text_list(raw->hosts, arena);
    c->entity_types = text_list(json_find(raw->effects, "entityTypes"), arena);
    c->tokens = text_list(json_find(raw->effects, "notificationTokens"), arena);
    c->output_taint = raw->taint.n ? arena_str(arena, raw->taint).p : NULL;
    c->mutating = raw->mutating;
    c->parallel_safe = raw->parallel_safe;
    c->timeout_ms = raw->timeout_s * 1000;
}

static int parse(struct json_object *json, struct json_object *defs, struct json_object *policies,
                 struct arena *arena, struct tool_entry *entry, struct err *err)
{
    struct raw raw = { .timeout_s = 0 };
    char wire[TOOL_NAME_MAX + 1];

    if (json_read(json, fields, 0, &raw, err) < 0)
        return -1;
    read_texts(&raw, arena, entry->contract);
    if (tool_wire_name(raw.name, wire, err) < 0)
        return -1;
    entry->contract->wire = arena_text(arena, wire);
    read_scope(&raw, arena, entry);
    if (read_enums(&raw, entry->contract, err) < 0 || read_policy(&raw, policies, entry, err) < 0)
        return -1;
    return read_schemas(&raw, defs, arena, entry, err);
}

int contract_parse(struct json_object *json, struct json_object *defs, struct json_object *policies,
                   struct arena *arena, struct tool_entry *ret_entry, struct err *err)
{
    struct str name = json_str(json_find(json, "name"));

    if (parse(json, defs, policies, arena, ret_entry, err) < 0) {
        contract_release(ret_entry);
        return err_wrap(err, "tool %.*s", STR_ARG(name));
    }
    return 0;
}

void contract_release(struct tool_entry *entry)
{
    schema_free((struct schema *)entry->contract->input);
    schema_free((struct schema *)entry->contract->output);
    entry->contract->input = entry->contract->output = NULL;
}

/* The contracts of the binary, read at the first use, and single ones that are added later.
 *
 * The file is part of the binary and the build's tests check it against its schema, so reading it
 * does not check again: what is wrong with it is our own mistake. What an embedder adds is checked
 * by that schema first.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/schema.h"
#include "base/yaml.h"
#include "tool/tool_int.h"

#define FILE_URI "https://dormouse.invalid/schema/agent_tool_contract_spec.schema.json"

static struct {
    bool read;
    struct yaml yaml; /* kept: contract_add() needs its policies and definitions */
    struct arena arena;
    struct tool_contract *contracts;
    struct tool_entry *entries;
    size_t count;
} spec; /* of this process, never released: it is constant once read */

static struct str contract_file(const char *name)
{
    for (const struct embed_file *file = tool_contract_files; file->name; file++)
        if (strcmp(file->name, name) == 0)
            return file->bytes;
    BUG("%s is not embedded", name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(json_str(json_find(*(struct json_object *const *)a, "name")).p,
                  json_str(json_find(*(struct json_object *const *)b, "name")).p);
}

static void read_tools(struct json_object *tools, struct json_object *defs,
                       struct json_object *policies)
{
    struct err err = ERR_INIT;
    char text[512];

    json_object_array_sort(tools, by_name);
    spec.count = json_length(tools);
    spec.contracts = ARENA_NEW_N(&spec.arena, struct tool_contract, spec.count);
    spec.entries = ARENA_NEW_N(&spec.arena, struct tool_entry, spec.count);
    for (size_t i = 0; i < spec.count; i++) {
        struct tool_entry *entry = &spec.entries[i];

        entry->contract = &spec.contracts[i];
        if (contract_parse(json_object_array_get_idx(tools, i), defs, policies, &spec.arena, entry,
                           &err) < 0)
            BUG("tool contracts: %s", err_format(&err, text, sizeof(text)));
    }
}

static void read_spec(void)
{
    struct err err = ERR_INIT;
    char text[512];

    if (spec.read)
        return;
    if (yaml_parse(contract_file("agent_tool_contract_spec.yaml"), "agent_tool_contract_spec.yaml",
                   &spec.yaml, &err) < 0)
        BUG("tool contracts: %s", err_format(&err, text, sizeof(text)));
    read_tools(json_find(spec.yaml.root, "tools"), json_find(spec.yaml.root, "$defs"),
               json_find(spec.yaml.root, "dataMinimizationPolicies"));
    spec.read = true;
}

const struct tool_contract *tool_contracts(size_t *ret_count)
{
    read_spec();
    *ret_count = spec.count;
    return spec.contracts;
}

const struct tool_entry *tool_entries(size_t *ret_count)
{
    read_spec();
    *ret_count = spec.count;
    return spec.entries;
}

const struct tool_contract *tool_contract_find(struct str name)
{
    read_spec();
    for (size_t i = 0; i < spec.count; i++)
        if (str_is(name, spec.contracts[i].name) || str_is(name, spec.contracts[i].wire))
            return &spec.contracts[i];
    return NULL;
}

/* ---- added ones ---- */

/* The schema of one entry, "#/$defs/tool" of the file's schema. */
static int entry_schema(struct schema **ret_schema, struct err *err)
{
    AUTO(schema_registry) registry = schema_registry_new();
    AUTO_JSON document = NULL;
    AUTO_JSON entry = json_object_new_object();

    if (json_parse(contract_file("agent_tool_contract_spec.schema.json"), &document, err) < 0 ||
        schema_registry_add(registry, STR(FILE_URI), document, err) < 0)
        return -1;
    json_object_object_add(entry, "$ref", json_object_new_string(FILE_URI "#/$defs/tool"));
    return schema_compile(registry, entry, STR(""), 0, ret_schema, err);
}

int contract_add(const char *contract_json, struct arena *arena, struct tool_entry *ret_entry,
                 struct err *err)
{
    AUTO(schema) schema = NULL;
    AUTO_JSON json = NULL;

    read_spec();
    if (json_parse(str_from(contract_json), &json, err) < 0)
        return err_wrap(err, "tool contract");
    if (entry_schema(&schema, err) < 0)
        return err_wrap(err, "schema of tool contracts");
    if (schema_validate(schema, json, NULL, err) < 0)
        return err_wrap(err, "tool contract");
    return contract_parse(json, json_find(spec.yaml.root, "$defs"),
                          json_find(spec.yaml.root, "dataMinimizationPolicies"), arena, ret_entry,
                          err);
}

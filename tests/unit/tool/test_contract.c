/* The contract file, and contracts that are added. */
#include <json-c/json.h>

#include "base/json.h"
#include "base/schema.h"
#include "base/yaml.h"
#include "bed.h"
#include "tool/tool_int.h"

static struct str share_file(struct test *t, const char *name)
{
    return test_read_file(t,
                          arena_printf(&t->arena, "%s/share/tools/%s", test_source_root(), name));
}

TEST(the_contract_file_fits_its_schema)
{
    AUTO(schema) schema = NULL;
    AUTO_JSON document = NULL;
    AUTO_YAML yaml = YAML_INIT;
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
    AUTO_BUF text = BUF_INIT(8192);

    ASSERT_OK(
        json_parse(share_file(t, "agent_tool_contract_spec.schema.json"), &document, &t->err));
    ASSERT_OK(schema_compile(NULL, document, STR(""), SCHEMA_ASSERT_FORMAT, &schema, &t->err));
    ASSERT_OK(yaml_parse(share_file(t, "agent_tool_contract_spec.yaml"), "spec", &yaml, &t->err));
    if (schema_validate(schema, yaml.root, &report, &t->err) < 0) {
        schema_report_text(&report, &text);
        FAIL("%s", buf_text(&text));
    }
}

/* Contracts without a handler here are those of other rooms. */
TEST(each_handler_has_a_contract)
{
    for (size_t k = 0; k < tool_builtin_count; k++)
        if (!tool_contract_find(str_from(tool_builtins[k].impl.name)))
            FAIL("%s has no contract", tool_builtins[k].impl.name);
}

TEST(contracts_are_in_byte_order_of_their_names)
{
    size_t n;
    const struct tool_contract *contracts = tool_contracts(&n);

    ASSERT(n >= tool_builtin_count);
    ASSERT_TEXT(contracts[0].name, "add_multiple_checklist_items");
    for (size_t i = 1; i < n; i++)
        ASSERT(strcmp(contracts[i - 1].name, contracts[i].name) < 0);
}

TEST(a_contract_says_what_its_file_says)
{
    const struct tool_contract *bash = tool_contract_find(STR("bash"));
    const struct tool_contract *edit = tool_contract_find(STR("edit_file"));
    const struct tool_contract *read = tool_contract_find(STR("read_file"));

    ASSERT_TEXT(bash->wire, "bash");
    ASSERT_TEXT(bash->tool_class, "shell");
    ASSERT_TEXT(bash->capabilities[0], "shell.run");
    ASSERT(!bash->capabilities[1]);
    ASSERT_TEXT(bash->wake_reasons[0], "userInitiated");
    ASSERT_EQ(bash->risk, TOOL_RISK_HIGH);
    ASSERT_EQ(bash->keyed, TOOL_UNKEYED);
    ASSERT_EQ(bash->approval, TOOL_ASK_BY_RISK);
    ASSERT(bash->mutating && !bash->parallel_safe);
    ASSERT_EQ(bash->timeout_ms, 615000);
    ASSERT_TEXT(bash->output_taint, "command");
    ASSERT(!bash->egress_hosts[0]);
    ASSERT_EQ(read->keyed, TOOL_READ_ONLY);
    ASSERT_EQ(read->approval, TOOL_ASK_NEVER);
    ASSERT(read->parallel_safe && !read->mutating);
    ASSERT_EQ(edit->risk, TOOL_RISK_MEDIUM);
    ASSERT(!tool_contract_find(STR("nope")));
}

/* Providers refuse combinations at the top; a description is paid for with every request. */
TEST(input_schemas_are_plain_and_descriptions_short)
{
    size_t n;
    const struct tool_contract *contracts = tool_contracts(&n);

    for (size_t i = 0; i < n; i++) {
        AUTO_JSON schema = NULL;

        ASSERT_OK(json_parse(str_from(contracts[i].input_schema), &schema, &t->err));
        ASSERT_STR(json_str(json_find(schema, "type")), "object");
        ASSERT(json_object_is_type(json_find(schema, "properties"), json_type_object));
        ASSERT(!json_find(schema, "oneOf") && !json_find(schema, "anyOf") &&
               !json_find(schema, "allOf"));
        ASSERT(!strstr(contracts[i].input_schema, "$ref"));
        if (strlen(contracts[i].input_schema) + strlen(contracts[i].description) > 3000)
            FAIL("%s is described at too much length", contracts[i].name);
    }
}

static void check_shown(struct test *t, const char *tool, struct json_object *all,
                        struct json_object *shown)
{
    static const char *const bounds[] = { "minLength",     "maxLength",   "minItems",
                                          "maxItems",      "uniqueItems", "minProperties",
                                          "maxProperties", "pattern" };
    struct json_object *names = json_find(all, "properties");

    for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
        if (json_find(shown, bounds[i]))
            FAIL("%s is shown with %s", tool, bounds[i]);
    ASSERT_EQ(json_length(json_find(all, "required")), json_length(json_find(shown, "required")));
    ASSERT(
        str_eq(json_str(json_find(all, "description")), json_str(json_find(shown, "description"))));
    if (json_object_is_type(names, json_type_object)) {
        json_object_object_foreach(names, name, one)
        {
            struct json_object *other = json_find(json_find(shown, "properties"), name);

            if (!other)
                FAIL("%s is shown without %s", tool, name);
            check_shown(t, tool, one, other);
        }
    }
    if (json_find(all, "items"))
        check_shown(t, tool, json_find(all, "items"), json_find(shown, "items"));
}

/* llama-server refuses a whole request for one bound that is too large for its grammars. */
TEST(models_are_shown_schemas_without_bounds_of_sizes_and_with_everything_else)
{
    size_t n, shorter = 0;
    const struct tool_contract *contracts = tool_contracts(&n);

    for (size_t i = 0; i < n; i++) {
        AUTO_JSON all = NULL;
        AUTO_JSON shown = NULL;

        ASSERT_OK(json_parse(str_from(contracts[i].input_schema), &all, &t->err));
        ASSERT_OK(json_parse(str_from(contracts[i].shown_schema), &shown, &t->err));
        check_shown(t, contracts[i].name, all, shown);
        shorter += strlen(contracts[i].shown_schema) < strlen(contracts[i].input_schema);
    }
    ASSERT(shorter > n / 2);
    ASSERT_CONTAINS(tool_contract_find(STR("search"))->shown_schema, "\"pattern\"");
}

TEST(a_contract_that_breaks_a_rule_is_not_added)
{
    static const struct {
        const char *more;
        enum err_code code;
        const char *says;
    } cases[] = {
        { "{\"version\":null}", ERR_SCHEMA_VIOLATION, "version" },
        { "{\"color\":\"red\"}", ERR_SCHEMA_VIOLATION, "color" },
        { "{\"inputSchema\":null}", ERR_SCHEMA_VIOLATION, "" },
        { "{\"inputSchemaRef\":\"#/$defs/fileChange\"}", ERR_SCHEMA_VIOLATION, "" },
        { "{\"inputSchema\":{\"type\":\"array\"}}", ERR_SCHEMA_VIOLATION, "" },
        { "{\"inputSchema\":{\"type\":\"object\",\"oneOf\":[]}}", ERR_SCHEMA_VIOLATION, "" },
        { "{\"inputSchema\":{\"type\":\"object\",\"minProperties\":-1}}", ERR_BAD_REQUEST,
          "inputSchema" },
        { "{\"outputSchema\":null,\"outputSchemaRef\":\"#/$defs/nowhere\"}", ERR_NOT_FOUND,
          "nowhere" },
        { "{\"riskLevel\":\"huge\"}", ERR_SCHEMA_VIOLATION, "/riskLevel" },
        { "{\"riskLevel\":\"high\"}", ERR_SCHEMA_VIOLATION, "/approval" },
        { "{\"mutating\":true}", ERR_SCHEMA_VIOLATION, "/idempotencyStrategy" },
        { "{\"idempotencyStrategy\":\"keyed\"}", ERR_SCHEMA_VIOLATION, "/idempotencyStrategy" },
        { "{\"dataMinimizationPolicyRef\":\"all\"}", ERR_NOT_FOUND, "\"all\"" },
        { "{\"timeout\":0}", ERR_SCHEMA_VIOLATION, "/timeout" },
        { "{\"timeout\":3601}", ERR_SCHEMA_VIOLATION, "/timeout" },
        { "{\"allowedWakeReasons\":[\"boredom\"]}", ERR_SCHEMA_VIOLATION, "/allowedWakeReasons/0" },
        { "{\"allowedWakeReasons\":[]}", ERR_SCHEMA_VIOLATION, "/allowedWakeReasons" },
        { "{\"capabilitiesRequired\":[]}", ERR_SCHEMA_VIOLATION, "/capabilitiesRequired" },
        { "{\"name\":\"a__b\"}", ERR_SCHEMA_VIOLATION, "/name" },
        { "{\"name\":\"other\"}", ERR_BAD_REQUEST, "\"other\"" },
        { "{\"name\":\"bash\"}", ERR_BAD_REQUEST, "\"bash\"" },
    };
    static const struct tool_impl impl = { .name = "mine" };
    AUTO(bed) bed = bed_new(t);
    size_t before, n;

    tool_bed_contracts(bed->tools, &before);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *contract = bed_contract(t, "mine", cases[i].more);

        if (tool_bed_add(bed->tools, contract, &impl, NULL, &t->err) == 0)
            FAIL("%s was taken", cases[i].more);
        if (t->err.code != cases[i].code || !strstr(test_err_text(t), cases[i].says))
            FAIL("%s: %s: %s", cases[i].more, err_name(t->err.code), test_err_text(t));
    }
    ASSERT_FAILS(tool_bed_add(bed->tools, "{", &impl, NULL, &t->err), ERR_BAD_REQUEST);
    tool_bed_contracts(bed->tools, &n);
    ASSERT_EQ(n, before);
}

TEST(a_name_is_given_once)
{
    static const struct tool_impl mine = { .name = "mine" }, bash = { .name = "bash" };
    AUTO(bed) bed = bed_new(t);
    const struct tool_contract *const *contracts;
    size_t n;

    ASSERT_OK(tool_bed_add(bed->tools, bed_contract(t, "mine", "{}"), &mine, NULL, &t->err));
    ASSERT_FAILS(tool_bed_add(bed->tools, bed_contract(t, "mine", "{}"), &mine, NULL, &t->err),
                 ERR_CONFLICT);
    ASSERT_FAILS(tool_bed_add(bed->tools, bed_contract(t, "bash", "{}"), &bash, NULL, &t->err),
                 ERR_CONFLICT);
    contracts = tool_bed_contracts(bed->tools, &n);
    ASSERT_EQ(n, 7);
    for (size_t i = 1; i < n; i++)
        ASSERT(strcmp(contracts[i - 1]->name, contracts[i]->name) < 0);
}

TEST(a_contract_may_refer_to_a_definition)
{
    static const struct tool_impl impl = { .name = "mine" };
    AUTO(bed) bed = bed_new(t);

    ASSERT_OK(tool_bed_add(
        bed->tools,
        bed_contract(t, "mine", "{\"inputSchema\":null,\"inputSchemaRef\":\"#/$defs/fileChange\"}"),
        &impl, NULL, &t->err));
    ASSERT_EQ(bed_judge(bed, "mine", "{}")->code, ERR_SCHEMA_VIOLATION);
}

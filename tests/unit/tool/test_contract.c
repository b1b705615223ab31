/* The contract file, and contracts that are added. */
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

TEST(each_contract_has_a_handler_and_each_handler_a_contract)
{
    size_t n;
    const struct tool_contract *contracts = tool_contracts(&n);

    ASSERT_EQ(n, tool_builtin_count);
    for (size_t i = 0; i < n; i++) {
        bool found = false;

        for (size_t k = 0; k < tool_builtin_count; k++)
            found |= strcmp(tool_builtins[k].impl.name, contracts[i].name) == 0;
        if (!found)
            FAIL("%s has no handler", contracts[i].name);
    }
    for (size_t k = 0; k < tool_builtin_count; k++)
        if (!tool_contract_find(str_from(tool_builtins[k].impl.name)))
            FAIL("%s has no contract", tool_builtins[k].impl.name);
}

TEST(contracts_are_in_byte_order_of_their_names)
{
    size_t n;
    const struct tool_contract *contracts = tool_contracts(&n);

    ASSERT_EQ(n, 6);
    ASSERT_TEXT(contracts[0].name, "ask_user");
    for (size_t i = 1; i < n; i++)
        ASSERT(strcmp(contracts[i - 1].name, contracts[i].name) < 0);
}

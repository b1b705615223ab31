/* JSON Schema as its callers see it: registry, compile errors, reports, limits.
 *
 * SPDX-License-Identifier: MIT
 */
#include "schema_check.h"

TEST(schema_finds_remote_documents_in_the_registry_only)
{
    AUTO(schema_registry) registry = schema_registry_new();
    AUTO(schema) schema = NULL;
    AUTO_JSON doc =
        parse(t, "{'$id':'http://x/dir/root.json','properties':{'a':{'$ref':'int.json'},"
                 "'b':{'$ref':'/other#pos'}}}");

    add_document(t, registry, "http://x/dir/int.json", "{'type':'integer'}");
    add_document(t, registry, "http://x/file",
                 "{'$id':'http://x/other','$defs':{'p':{'$anchor':'pos',"
                 "'minimum':0}}}");
    ASSERT_OK(schema_compile(registry, doc, STR(""), 0, &schema, &t->err));
    /* The schema keeps what it needs. */
    schema_registry_free(registry);
    registry = NULL;
    ASSERT(is_valid(t, schema, "{'a':1,'b':1}"));
    ASSERT(!is_valid(t, schema, "{'a':'x'}"));
    ASSERT(!is_valid(t, schema, "{'b':-1}"));
}

TEST(schema_knows_the_meta_schemas)
{
    AUTO(schema) schema = compile(t, "{'$ref':'https://json-schema.org/draft/2020-12/schema'}", 0);

    ASSERT(is_valid(t, schema, "{'type':'string','properties':{'a':{'minLength':3}}}"));
    ASSERT(!is_valid(t, schema, "{'type':'strin'}"));
    ASSERT(!is_valid(t, schema, "{'properties':{'a':{'minLength':-1}}}"));
    ASSERT(!is_valid(t, schema, "{'$defs':{'x':{'anyOf':[{'$ref':7}]}}}"));
    ASSERT(!is_valid(t, schema, "{'$id':'http://x/y#frag'}"));
}

TEST(schema_heeds_the_vocabularies_of_its_meta_schema)
{
    AUTO(schema_registry) registry = schema_registry_new();
    AUTO(schema) schema = NULL;
    AUTO_JSON doc = parse(t, "{'$schema':'http://x/meta','properties':{'a':{'minimum':5,'format':"
                             "'date'},'b':false}}");
    AUTO_JSON unknown = parse(t, "{'$schema':'http://x/strange'}");
    AUTO_JSON nowhere = parse(t, "{'$schema':'http://x/nowhere'}");

    add_document(t, registry, "http://x/meta",
                 "{'$vocabulary':{'https://json-schema.org/draft/2020-12/vocab/core':true,"
                 "'https://json-schema.org/draft/2020-12/vocab/applicator':true,"
                 "'https://json-schema.org/draft/2020-12/vocab/format-assertion':false,"
                 "'http://x/vocab/unknown':false}}");
    add_document(t, registry, "http://x/strange",
                 "{'$vocabulary':{'http://x/vocab/unknown':true}}");
    ASSERT_OK(schema_compile(registry, doc, STR(""), 0, &schema, &t->err));
    ASSERT(is_valid(t, schema, "{'a':1}"));
    ASSERT(!is_valid(t, schema, "{'a':'x'}"));
    ASSERT(!is_valid(t, schema, "{'b':1}"));
    ASSERT_FAILS(schema_compile(registry, unknown, STR(""), 0, &schema, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(t->err.text, "needs the vocabulary http://x/vocab/unknown");
    ASSERT_FAILS(schema_compile(registry, nowhere, STR(""), 0, &schema, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(t->err.text, "http://x/nowhere");
}

TEST(every_vocabulary_of_the_draft_can_be_required)
{
    static const char *const names[] = {
        "core",      "applicator",        "unevaluated",      "validation",
        "meta-data", "format-annotation", "format-assertion", "content"
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO(schema_registry) registry = schema_registry_new();
        AUTO(schema) schema = NULL;
        AUTO_JSON doc = parse(t, "{'$schema':'http://x/meta'}");

        add_document(t, registry, "http://x/meta",
                     arena_printf(&t->arena,
                                  "{'$vocabulary':{'https://json-schema.org/draft/2020-12/vocab/"
                                  "%s':true}}",
                                  names[i]));
        ASSERT_OK(schema_compile(registry, doc, STR(""), 0, &schema, &t->err));
    }
}

TEST(schema_compile_names_what_is_wrong_in_a_schema)
{
    static const struct {
        const char *schema, *message;
    } cases[] = {
        { "7", "expected an object or a boolean" },
        { "{'type':'strin'}", "schema #/type: must be null, boolean" },
        { "{'type':[1]}", "#/type" },
        { "{'type':[]}", "#/type" },
        { "{'properties':{'a/b':{'minLength':-1}}}",
          "schema #/properties/a~1b/minLength: must be an" },
        { "{'minLength':1.5}", "#/minLength" },
        { "{'minimum':'1'}", "#/minimum: must be a number" },
        { "{'multipleOf':0}", "#/multipleOf: must be greater than 0" },
        { "{'pattern':'('}", "#/pattern: regular expression" },
        { "{'pattern':7}", "#/pattern" },
        { "{'patternProperties':{'[':{}}}", "#/patternProperties: regular expression" },
        { "{'enum':1}", "#/enum" },
        { "{'required':'a'}", "#/required" },
        { "{'required':[1]}", "#/required" },
        { "{'dependentRequired':{'a':1}}", "#/dependentRequired" },
        { "{'dependentRequired':[]}", "#/dependentRequired" },
        { "{'dependentSchemas':[]}", "#/dependentSchemas" },
        { "{'properties':[]}", "#/properties" },
        { "{'patternProperties':[]}", "#/patternProperties" },
        { "{'properties':{'a':1}}",
          "#/properties: a schema must be an object or a boolean, found" },
        { "{'items':[{}]}", "#/items: a schema must be" },
        { "{'allOf':[]}", "#/allOf: must be an array of at least one" },
        { "{'anyOf':{}}", "#/anyOf" },
        { "{'oneOf':[1]}", "#/oneOf" },
        { "{'not':null}", "#/not" },
        { "{'uniqueItems':1}", "#/uniqueItems" },
        { "{'format':1}", "#/format" },
        { "{'contains':true,'maxContains':-1}", "#/maxContains" },
        { "{'$ref':1}", "#/$ref" },
        { "{'$dynamicRef':1}", "#/$dynamicRef" },
        { "{'$ref':'#/nowhere'}", "there is no such place" },
        { "{'$ref':'#nowhere'}", "there is no such place" },
        { "{'$ref':'#/a~2'}", "there is no such place" },
        { "{'$ref':'#%4'}", "there is no such place" },
        { "{'$ref':'#/x/0','x':[null]}", "found null" },
        { "{'$ref':'http://elsewhere/x'}", "documents are never fetched" },
        { "{'$ref':'#/$defs/a%00b','$defs':{'a':{}}}", "there is no such place" },
        { "{'$ref':'#/$defs/a%','$defs':{'a':{}}}", "there is no such place" },
        { "{'$ref':'#/allOf/-','allOf':[{}]}", "there is no such place" },
        { "{'$ref':'#/allOf/00','allOf':[{}]}", "there is no such place" },
        { "{'$ref':'#/allOf/1','allOf':[{}]}", "there is no such place" },
        { "{'$ref':'#/minimum/x','minimum':1}", "there is no such place" },
        { "{'$ref':'#/minimum','minimum':1}", "$ref: a schema must be an object or a boolean" },
        { "{'$ref':'#/required','required':[]}", "found array" },
        { "{'$dynamicRef':'#absent'}", "#/$dynamicRef: " },
        { "{'items':{'items':{'allOf':[true,{'type':1}]}}}",
          "schema #/items/items/allOf/1/type: " },
        { "{'$id':'http://x/a','$defs':{'b':{'$id':'b','not':{'type':1}}},'$ref':'b'}",
          "schema http://x/b#/not/type: " },
        { "{'$ref':'#/a/b~1c/0','a':{'b/c':[{'type':1}]}}", "schema #/a/b~1c/0/type: " },
        { "{'$ref':'#n','$defs':{'a':{'anyOf':[{'$anchor':'n','type':1}]}}}",
          "schema #/$defs/a/anyOf/0/type: " },
        { "{'$id':7}", "an $id must be a URI reference in a string, found integer" },
        { "{'$id':'http://x/a','not':{'$id':null}}", "schema http://x/a: an $id must be" },
        { "{'$schema':7}", "$schema must be a URI in a string" },
        { "{'additionalProperties':7}", "#/additionalProperties: a schema must be" },
        { "{'if':1}", "#/if: a schema must be" },
        { "{'if':true,'then':1}", "#/then: a schema must be" },
        { "{'if':true,'else':1}", "#/else: a schema must be" },
        { "{'prefixItems':[]}", "#/prefixItems: must be an array of at least one schema" },
        { "{'contains':1}", "#/contains: a schema must be" },
        { "{'contains':true,'minContains':'1'}", "#/minContains: must be an integer" },
        { "{'dependentSchemas':{'a':['b']}}", "#/dependentSchemas: a schema must be" },
        { "{'dependencies':{'a':1}}", "#/dependencies: a schema must be" },
        { "{'dependentRequired':{'a':[1]}}", "\"a\" must be an array of property names" },
        { "{'unevaluatedItems':1}", "#/unevaluatedItems: a schema must be" },
        { "{'multipleOf':-0.5}", "#/multipleOf: must be greater than 0" },
        { "{'multipleOf':null}", "#/multipleOf: must be a number" },
        { "{'maxLength':null}", "#/maxLength: must be an integer of at least 0" },
        { "{'maxItems':-1e0}", "#/maxItems: must be an integer of at least 0" },
        { "{'$anchor':7}", "beginning with a letter" },
        { "{'$anchor':''}", "beginning with a letter" },
        { "{'$anchor':'a b'}", "beginning with a letter" },
        { "{'$dynamicAnchor':'a/b'}", "$dynamicAnchor: expected a name" },
        { "{'$id':'http://x/y#z'}", "no fragment is allowed" },
        { "{'$anchor':'1a'}", "beginning with a letter" },
        { "{'$defs':{'a':{'$anchor':'x'},'b':{'$anchor':'x'}}}",
          "is the anchor of #/$defs/a already" },
        { "{'$defs':{'a':{'$id':'http://x/a'},'b':{'$id':'http://x/a'}}}", "two schemas have" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON doc = parse(t, cases[i].schema);
        AUTO(schema) schema = NULL;

        if (schema_compile(NULL, doc, STR(""), 0, &schema, &t->err) == 0)
            FAIL("%s was accepted", cases[i].schema);
        ASSERT_CONTAINS(t->err.text, cases[i].message);
    }
}

static const char *report_of(struct test *t, const char *schema_text, const char *instance_text)
{
    AUTO(schema) schema = compile(t, schema_text, 0);
    AUTO_JSON instance = parse(t, instance_text);
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
    AUTO_BUF text = BUF_INIT(1 << 16);

    ASSERT_FAILS(schema_validate(schema, instance, &report, &t->err), ERR_SCHEMA_VIOLATION);
    schema_report_text(&report, &text);
    return arena_text(&t->arena, buf_text(&text));
}

TEST(schema_errors_are_sentences_with_both_places)
{
    static const char *const cases[][3] = {
        { "{'$id':'http://x/s','properties':{'models':{'items':{'properties':{'provider':{'enum':["
          "'openai','anthropic']}}}}}}",
          "{'models':[{'provider':'x'}]}",
          "/models/0/provider: must be one of openai, anthropic (schema "
          "http://x/s#/properties/models/items/properties/provider/enum)\n" },
        { "{'type':'object'}", "[]",
          "the whole value: must be an object, found array (schema #/type)\n" },
        { "{'type':['string','null']}", "1",
          "the whole value: must be a string or null, found integer (schema #/type)\n" },
        { "{'properties':{'model':{},'tools':{}},'additionalProperties':false}", "{'modle':1}",
          "/modle: unknown property; did you mean \"model\"? (schema #/additionalProperties)\n" },
        { "{'properties':{'model':{},'tools':{}},'additionalProperties':false}", "{'a/b':1}",
          "/a~1b: unknown property; allowed are model, tools (schema #/additionalProperties)\n" },
        { "{'additionalProperties':false}", "{'x':1}",
          "/x: unknown property; none is allowed (schema #/additionalProperties)\n" },
        { "{'required':['a','b']}", "{}",
          "the whole value: the property \"a\" is required (schema #/required)\n"
          "the whole value: the property \"b\" is required (schema #/required)\n" },
        { "{'dependentRequired':{'a':['b']}}", "{'a':1}",
          "the whole value: the property \"b\" is required together with \"a\" (schema "
          "#/dependentRequired)\n" },
        { "{'items':{'minimum':3,'multipleOf':2}}", "[1]",
          "/0: must be at least 3 (schema #/items/minimum)\n"
          "/0: must be a multiple of 2 (schema #/items/multipleOf)\n" },
        { "{'exclusiveMaximum':1.5,'maximum':1,'exclusiveMinimum':7}", "2",
          "the whole value: must be at most 1 (schema #/maximum)\n"
          "the whole value: must be less than 1.5 (schema #/exclusiveMaximum)\n"
          "the whole value: must be greater than 7 (schema #/exclusiveMinimum)\n" },
        { "{'minLength':3,'pattern':'^a'}", "'b'",
          "the whole value: must have at least 3 characters, found 1 (schema #/minLength)\n"
          "the whole value: must match the pattern ^a (schema #/pattern)\n" },
        { "{'maxLength':1}", "'bc'",
          "the whole value: must have at most 1 characters, found 2 (schema #/maxLength)\n" },
        { "{'const':'x'}", "1", "the whole value: must be \"x\" (schema #/const)\n" },
        { "{'minItems':2,'uniqueItems':true}", "[]",
          "the whole value: must have at least 2 items, found 0 (schema #/minItems)\n" },
        { "{'maxItems':2,'uniqueItems':true}", "[1,2,1]",
          "the whole value: must have at most 2 items, found 3 (schema #/maxItems)\n"
          "the whole value: items must differ; 0 and 2 are the same (schema #/uniqueItems)\n" },
        { "{'minProperties':1}", "{}",
          "the whole value: must have at least 1 properties, found 0 (schema #/minProperties)\n" },
        { "{'maxProperties':0}", "{'a':1}",
          "the whole value: must have at most 0 properties, found 1 (schema #/maxProperties)\n" },
        { "{'prefixItems':[true],'items':false}", "[1,2]",
          "/1: no item is allowed after the first 1 (schema #/items)\n" },
        { "{'not':{}}", "1",
          "the whole value: must not match the schema under \"not\" (schema #/not)\n" },
        { "false", "1", "the whole value: nothing is allowed here (schema #)\n" },
        { "{'$ref':'#/$defs/n','$defs':{'n':{'type':'null'}}}", "1",
          "the whole value: must be null, found integer (schema #/$defs/n/type)\n" },
        { "{'anyOf':[{'type':'string'},{'properties':{'kind':{'const':'b'},'n':{'type':'integer'}}}"
          "]}",
          "{'kind':'b','n':'x'}",
          "the whole value: must match at least one of 2 alternatives (schema #/anyOf)\n"
          "/n: must be an integer, found string (schema #/anyOf/1/properties/n/type)\n" },
        { "{'oneOf':[{'type':'string'},{'type':'null'}]}", "1",
          "the whole value: must match exactly one of 2 alternatives, and matches none (schema "
          "#/oneOf)\n" },
        { "{'oneOf':[{},{}]}", "1",
          "the whole value: must match exactly one of 2 alternatives, and matches several (schema "
          "#/oneOf)\n" },
        { "{'propertyNames':{'maxLength':1}}", "{'ab':1}",
          "/ab: must have at most 1 characters, found 2 (schema #/propertyNames/maxLength)\n" },
        { "{'contains':{'const':1}}", "[2]",
          "the whole value: must contain at least 1 items that match \"contains\", found 0 (schema "
          "#/contains)\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(report_of(t, cases[i][0], cases[i][1]), cases[i][2]);
}

TEST(schema_report_is_bounded)
{
    AUTO(schema) schema = compile(t, "{'items':{'type':'string'}}", 0);
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
    AUTO_JSON array = json_object_new_array();
    AUTO_BUF text = BUF_INIT(1 << 16);

    for (int i = 0; i < 100; i++)
        json_object_array_add(array, json_object_new_int(i));
    ASSERT_FAILS(schema_validate(schema, array, &report, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_EQ(report.n, SCHEMA_ERRORS_MAX);
    ASSERT(report.more);
    schema_report_text(&report, &text);
    ASSERT_CONTAINS(buf_text(&text), "/31: must be a string");
    ASSERT_CONTAINS(buf_text(&text), "and more");
}

TEST(schema_that_refers_to_itself_without_end_is_refused)
{
    static const char *const loops[] = {
        "{'$ref':'#'}",
        "{'$ref':'#/$defs/a','$defs':{'a':{'$ref':'#/$defs/b'},'b':{'$ref':'#/$defs/a'}}}",
        "{'anyOf':[{'type':'null'},{'not':{'$ref':'#'}}]}",
        "{'$dynamicAnchor':'x','if':{'$dynamicRef':'#x'}}",
    };

    for (size_t i = 0; i < ARRAY_LEN(loops); i++) {
        AUTO(schema) schema = compile(t, loops[i], 0);
        AUTO_JSON one = json_object_new_int(1);

        ASSERT_FAILS(schema_validate(schema, one, NULL, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(t->err.text, "without end");
    }
}

/* Each level doubles the work: 2^40 visits if nobody counted. */
TEST(schema_work_is_bounded, .timeout_s = 60)
{
    AUTO_BUF text = BUF_INIT(1 << 16);
    AUTO(schema) schema = NULL;
    AUTO_JSON one = json_object_new_int(1);

    buf_add_text(&text, "{'$ref':'#/$defs/d0','$defs':{");
    for (int i = 0; i < 40; i++)
        buf_printf(&text, "'d%d':{'allOf':[{'$ref':'#/$defs/d%d'},{'$ref':'#/$defs/d%d'}]},", i,
                   i + 1, i + 1);
    buf_add_text(&text, "'d40':{}}}");
    schema = compile(t, buf_text(&text), 0);
    ASSERT_FAILS(schema_validate(schema, one, NULL, &t->err), ERR_TOO_LARGE);
}

TEST(schema_says_when_a_pattern_is_too_slow)
{
    AUTO(schema) schema = compile(t, "{'pattern':'^(a+)+$'}", 0);
    AUTO_JSON text = json_object_new_string("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");

    ASSERT_FAILS(schema_validate(schema, text, NULL, &t->err), ERR_TIMEOUT);
}

TEST(schema_accepts_deep_instances)
{
    AUTO(schema) schema = compile(t, "{'$ref':'https://json-schema.org/draft/2020-12/schema'}", 0);
    AUTO_BUF text = BUF_INIT(1 << 16);

    for (int i = 0; i < 63; i++)
        buf_add_text(&text, "{'not':{'items':");
    buf_add_text(&text, "{'type':'null'}");
    for (int i = 0; i < 63; i++)
        buf_add_text(&text, "}}");
    ASSERT(is_valid(t, schema, buf_text(&text)));
}

TEST(schema_registry_prefers_where_a_document_lies)
{
    AUTO(schema_registry) registry = schema_registry_new();
    AUTO(schema) schema = NULL;
    AUTO_JSON doc =
        parse(t, "{'properties':{'a':{'$ref':'http://x/two'},'b':{'$ref':'http://x/id'}}}");
    AUTO_JSON other = parse(t, "{}");

    add_document(t, registry, "http://x/one",
                 "{'$id':'http://x/id','type':'null','$defs':{'y':{'$id':"
                 "'http://x/two','type':'null'}}}");
    add_document(t, registry, "http://x/two", "{'$id':'http://x/id','type':'string'}");
    ASSERT_OK(schema_compile(registry, doc, STR(""), 0, &schema, &t->err));
    ASSERT(is_valid(t, schema, "{'a':'s','b':null}"));
    ASSERT(!is_valid(t, schema, "{'a':null}"));
    ASSERT_FAILS(schema_registry_add(registry, STR("http://x/one"), other, &t->err), ERR_CONFLICT);
}

/* Parsed text is never this deep; a value made by hand may be. */
TEST(schema_depth_is_bounded)
{
    AUTO(schema) schema = compile(t, "{'items':{'$ref':'#'}}", 0);
    AUTO_JSON deep = json_object_new_array();

    for (int i = 0; i < 3000; i++) {
        struct json_object *outer = json_object_new_array();

        json_object_array_add(outer, deep);
        deep = outer;
    }
    ASSERT_FAILS(schema_validate(schema, deep, NULL, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(t->err.text, "nested too deeply");
}

/* Each subschema knows its place; if it held the text of it, these would be 20 GB. */
TEST(schema_with_a_long_key_around_many_subschemas_stays_small)
{
    AUTO_BUF text = BUF_INIT(1 << 22);
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
    AUTO_JSON value = json_object_new_object();
    AUTO_JSON doc = NULL;
    AUTO(schema) schema = NULL;
    size_t key_at;

    buf_add_text(&text, "{\"properties\":{\"");
    key_at = text.n;
    for (int i = 0; i < 1 << 20; i++)
        buf_add_char(&text, 'k');
    json_object_object_add(value, text.p + key_at, json_object_new_int(1));
    buf_add_text(&text, "\":{\"allOf\":[{\"type\":\"null\"}");
    for (int i = 0; i < 20000; i++)
        buf_printf(&text, ",{\"$anchor\":\"a%d\"}", i);
    buf_add_text(&text, "]}}}");
    ASSERT_OK(json_parse(buf_str(&text), &doc, &t->err));
    ASSERT_OK(schema_compile(NULL, doc, STR(""), 0, &schema, &t->err));
    ASSERT_FAILS(schema_validate(schema, value, &report, &t->err), ERR_SCHEMA_VIOLATION);
    /* A place that is too long to be shown is cut. */
    ASSERT_EQ(report.n, 1);
    ASSERT(strlen(report.errors[0].instance) < 4096);
    ASSERT(strlen(report.errors[0].keyword) < 4096);
}

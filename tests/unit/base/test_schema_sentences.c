/* What JSON Schema says to people, to the letter: of schemas that can't be compiled, of values that
 * do not fit, of documents that can't be registered.
 *
 * SPDX-License-Identifier: MIT
 */
#include "schema_check.h"

struct refusal {
    const char *schema, *message;
    enum err_code code; /* 0: ERR_BAD_REQUEST */
};

static void check_refusal(struct test *t, const struct refusal *row)
{
    AUTO_JSON doc = parse(t, row->schema);
    AUTO(schema) schema = NULL;
    int r = schema_compile(NULL, doc, STR("http://h/s"), SCHEMA_ASSERT_FORMAT, &schema, &t->err);

    if (r >= 0)
        test_case_failed("%s was accepted", row->schema);
    else if (schema || t->err.code != (row->code ? row->code : ERR_BAD_REQUEST))
        test_case_failed("%s: %s", row->schema, err_name(t->err.code));
    else if (strcmp(t->err.text, row->message) != 0)
        test_case_failed("%s said \"%s\", expected \"%s\"", row->schema, t->err.text, row->message);
    else
        test_case_passed();
}

#define HERE   "schema http://h/s#"
#define TYPES  "must be null, boolean, object, array, string, number or integer, or a list of these"
#define COUNT  "must be an integer of at least 0"
#define SCHEMA "a schema must be an object or a boolean, found "
#define LIST   "must be an array of at least one schema"
#define NAMES  "must be an array of property names"
#define ANCHOR                                                                                     \
    "expected a name of letters, digits, '-', '_' and '.', beginning with a letter or '_'"
#define UNKNOWN ", which is not known here; documents are never fetched, add it to the registry"

TEST(schema_sentences_about_schemas_name_place_and_expectation)
{
    static const struct refusal rows[] = {
        { "7", "schema http://h/s: expected an object or a boolean, found integer", 0 },
        { "null", "schema http://h/s: expected an object or a boolean, found null", 0 },
        { "'x'", "schema http://h/s: expected an object or a boolean, found string", 0 },
        { "[]", "schema http://h/s: expected an object or a boolean, found array", 0 },
        { "{'type':'String'}", HERE "/type: " TYPES, 0 },
        { "{'type':['string','any']}", HERE "/type: " TYPES, 0 },
        { "{'type':[['string']]}", HERE "/type: " TYPES, 0 },
        { "{'type':null}", HERE "/type: " TYPES, 0 },
        { "{'type':{}}", HERE "/type: " TYPES, 0 },
        { "{'enum':{'a':1}}", HERE "/enum: must be an array", 0 },
        { "{'enum':'a'}", HERE "/enum: must be an array", 0 },
        { "{'maximum':'1'}", HERE "/maximum: must be a number", 0 },
        { "{'minimum':null}", HERE "/minimum: must be a number", 0 },
        { "{'exclusiveMaximum':true}", HERE "/exclusiveMaximum: must be a number", 0 },
        { "{'exclusiveMinimum':[]}", HERE "/exclusiveMinimum: must be a number", 0 },
        { "{'multipleOf':'2'}", HERE "/multipleOf: must be a number", 0 },
        { "{'multipleOf':0.0}", HERE "/multipleOf: must be greater than 0", 0 },
        { "{'multipleOf':-1}", HERE "/multipleOf: must be greater than 0", 0 },
        { "{'maxLength':'1'}", HERE "/maxLength: " COUNT, 0 },
        { "{'minLength':-1}", HERE "/minLength: " COUNT, 0 },
        { "{'maxItems':1.5}", HERE "/maxItems: " COUNT, 0 },
        { "{'minItems':true}", HERE "/minItems: " COUNT, 0 },
        { "{'maxProperties':[]}", HERE "/maxProperties: " COUNT, 0 },
        { "{'minProperties':-0.5}", HERE "/minProperties: " COUNT, 0 },
        { "{'contains':true,'minContains':-1}", HERE "/minContains: " COUNT, 0 },
        { "{'contains':true,'maxContains':0.5}", HERE "/maxContains: " COUNT, 0 },
        { "{'pattern':['a']}", HERE "/pattern: must be a regular expression in a string", 0 },
        { "{'pattern':'a)'}",
          HERE "/pattern: regular expression \"a)\": ')' without '(' at position 2", 0 },
        { "{'patternProperties':{'(?i)a':{}}}",
          HERE "/patternProperties: regular expression \"(?i)a\": unknown kind of group at "
               "position 2",
          0 },
        { "{'format':null}", HERE "/format: must be a string", 0 },
        { "{'uniqueItems':'true'}", HERE "/uniqueItems: must be true or false", 0 },
        { "{'uniqueItems':0}", HERE "/uniqueItems: must be true or false", 0 },
        { "{'required':true}", HERE "/required: " NAMES, 0 },
        { "{'required':{'a':1}}", HERE "/required: " NAMES, 0 },
        { "{'required':['a',null]}", HERE "/required: " NAMES, 0 },
        { "{'dependentRequired':['a']}", HERE "/dependentRequired: must be an object", 0 },
        { "{'dependentRequired':{'a':'b'}}", HERE "/dependentRequired: \"a\" " NAMES, 0 },
        { "{'dependentRequired':{'a':{}}}", HERE "/dependentRequired: \"a\" " NAMES, 0 },
        { "{'dependentSchemas':true}", HERE "/dependentSchemas: must be an object", 0 },
        { "{'dependentSchemas':{'a':1}}", HERE "/dependentSchemas: " SCHEMA "integer", 0 },
        { "{'dependencies':1}", HERE "/dependencies: must be an object", 0 },
        { "{'dependencies':{'a':[1]}}", HERE "/dependencies: " SCHEMA "array", 0 },
        { "{'properties':null}", HERE "/properties: must be an object of schemas", 0 },
        { "{'properties':{'a':'b'}}", HERE "/properties: " SCHEMA "string", 0 },
        { "{'patternProperties':true}", HERE "/patternProperties: must be an object of schemas",
          0 },
        { "{'patternProperties':{'a':[]}}", HERE "/patternProperties: " SCHEMA "array", 0 },
        { "{'additionalProperties':null}", HERE "/additionalProperties: " SCHEMA "null", 0 },
        { "{'propertyNames':'a'}", HERE "/propertyNames: " SCHEMA "string", 0 },
        { "{'items':7.5}", HERE "/items: " SCHEMA "number", 0 },
        { "{'items':[]}", HERE "/items: " SCHEMA "array", 0 },
        { "{'prefixItems':{}}", HERE "/prefixItems: " LIST, 0 },
        { "{'prefixItems':[1]}", HERE "/prefixItems: " SCHEMA "integer", 0 },
        { "{'contains':null}", HERE "/contains: " SCHEMA "null", 0 },
        { "{'unevaluatedItems':[]}", HERE "/unevaluatedItems: " SCHEMA "array", 0 },
        { "{'unevaluatedProperties':1}", HERE "/unevaluatedProperties: " SCHEMA "integer", 0 },
        { "{'allOf':true}", HERE "/allOf: " LIST, 0 },
        { "{'anyOf':[]}", HERE "/anyOf: " LIST, 0 },
        { "{'oneOf':{}}", HERE "/oneOf: " LIST, 0 },
        { "{'allOf':[true,'a']}", HERE "/allOf: " SCHEMA "string", 0 },
        { "{'not':7}", HERE "/not: " SCHEMA "integer", 0 },
        { "{'if':'a'}", HERE "/if: " SCHEMA "string", 0 },
        { "{'if':true,'then':null}", HERE "/then: " SCHEMA "null", 0 },
        { "{'if':true,'else':[]}", HERE "/else: " SCHEMA "array", 0 },
        { "{'$ref':{}}", HERE "/$ref: must be a URI reference in a string", 0 },
        { "{'$dynamicRef':null}", HERE "/$dynamicRef: must be a URI reference in a string", 0 },
        { "{'$ref':'#/$defs/x'}",
          HERE "/$ref: \"#/$defs/x\": there is no such place in \"http://h/s\"", 0 },
        { "{'$ref':'#x'}", HERE "/$ref: \"#x\": there is no such place in \"http://h/s\"", 0 },
        { "{'$ref':'t'}", HERE "/$ref: \"t\" leads to http://h/t" UNKNOWN, 0 },
        { "{'not':{'$ref':'../a/./b#c'}}",
          HERE "/not/$ref: \"../a/./b#c\" leads to http://h/a/b" UNKNOWN, 0 },
        { "{'$id':'http://o/d/','$ref':'e'}",
          "schema http://o/d/#/$ref: \"e\" leads to http://o/d/e" UNKNOWN, 0 },
        { "{'$schema':'https://json-schema.org/draft/2019-09/schema','$recursiveRef':'#'}",
          HERE "/$recursiveRef: is not supported; use $dynamicRef of 2020-12", 0 },
        { "{'$schema':['x']}", "$schema must be a URI in a string, found array", 0 },
        { "{'$id':true}",
          "schema http://h/s: an $id must be a URI reference in a string, found boolean", 0 },
        { "{'$id':'a#b'}", "schema $id \"a#b\": no fragment is allowed; use $anchor", 0 },
        { "{'not':{'$anchor':'-a'}}", "schema #/not/$anchor: " ANCHOR, 0 },
        { "{'items':{'$dynamicAnchor':'a:b'}}", "schema #/items/$dynamicAnchor: " ANCHOR, 0 },
        { "{'$defs':{'p':{'$anchor':'a'},'q':{'$anchor':'a'}}}",
          "schema #/$defs/q/$anchor: \"a\" is the anchor of #/$defs/p already", ERR_CONFLICT },
        { "{'not':{'$id':'b'},'items':{'$id':'http://h/b'}}",
          "two schemas have the identifier \"http://h/b\"", ERR_CONFLICT },
        { "{'$defs':{'a/b':{'items':{'allOf':[{},{'type':1}]}}},'$ref':'#/$defs/a~1b'}",
          HERE "/$defs/a~1b/items/allOf/1/type: " TYPES, 0 },
        { "{'properties':{'~':{'dependentSchemas':{'x':{'maxLength':-1}}}}}",
          HERE "/properties/~0/dependentSchemas/x/maxLength: " COUNT, 0 },
        { "{'if':true,'then':{'patternProperties':{'^a':{'enum':1}}}}",
          HERE "/then/patternProperties/^a/enum: must be an array", 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_refusal(t, &rows[i]);
}

struct complaint {
    const char *schema, *instance, *report;
};

static void check_complaint(struct test *t, const struct complaint *row)
{
    AUTO(schema) schema = compile(t, row->schema, SCHEMA_ASSERT_FORMAT);
    AUTO_JSON instance = parse(t, row->instance);
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
    AUTO_BUF text = BUF_INIT(1 << 16), first = BUF_INIT(1 << 16);

    ASSERT_FAILS(schema_validate(schema, instance, &report, &t->err), ERR_SCHEMA_VIOLATION);
    schema_report_text(&report, &text);
    buf_printf(&first, "%s\n", t->err.text);
    if (strcmp(buf_text(&text), row->report) != 0)
        test_case_failed("%s with %s said\n%sexpected\n%s", row->schema, row->instance,
                         buf_text(&text), row->report);
    else if (!str_starts(buf_str(&text), buf_str(&first)))
        test_case_failed("%s: the error is not the first of the report", t->err.text);
    else
        test_case_passed();
}

#define WHOLE "the whole value: "

TEST(schema_sentences_about_values_name_both_places)
{
    static const struct complaint rows[] = {
        { "{'type':'null'}", "0", WHOLE "must be null, found integer (schema #/type)\n" },
        { "{'type':'boolean'}", "null",
          WHOLE "must be true or false, found null (schema #/type)\n" },
        { "{'type':'integer'}", "1.5", WHOLE "must be an integer, found number (schema #/type)\n" },
        { "{'type':'number'}", "'1'", WHOLE "must be a number, found string (schema #/type)\n" },
        { "{'type':'array'}", "{}", WHOLE "must be an array, found object (schema #/type)\n" },
        { "{'type':['array','object','null']}", "true",
          WHOLE "must be an array or an object or null, found boolean (schema #/type)\n" },
        { "{'enum':[]}", "1", WHOLE "nothing is allowed here (schema #/enum)\n" },
        { "{'enum':[null,true,1.50,'a','',[1],{'b':1}]}", "2",
          WHOLE "must be one of null, true, 1.50, a, \"\", an array, an object (schema #/enum)\n" },
        { "{'enum':[1,2,3,4,5,6,7,8]}", "9",
          WHOLE "must be one of 1, 2, 3, 4, 5, 6, 7, 8 (schema #/enum)\n" },
        { "{'enum':[1,2,3,4,5,6,7,8,9,10]}", "11",
          WHOLE "must be one of 1, 2, 3, 4, 5, 6, 7, 8 and 2 more (schema #/enum)\n" },
        { "{'const':null}", "0", WHOLE "must be null (schema #/const)\n" },
        { "{'const':[1]}", "[]", WHOLE "must be an array (schema #/const)\n" },
        { "{'const':{}}", "[]", WHOLE "must be an object (schema #/const)\n" },
        { "{'const':1e2}", "99", WHOLE "must be 1e2 (schema #/const)\n" },
        { "{'const':'a\\nb'}", "''", WHOLE "must be \"a\\nb\" (schema #/const)\n" },
        { "{'minimum':0.10}", "0.09", WHOLE "must be at least 0.10 (schema #/minimum)\n" },
        { "{'multipleOf':0.01}", "0.075",
          WHOLE "must be a multiple of 0.01 (schema #/multipleOf)\n" },
        { "{'maxLength':1}", "'\xf0\x9f\x90\xb2\xc3\xa9'",
          WHOLE "must have at most 1 characters, found 2 (schema #/maxLength)\n" },
        { "{'format':'date'}", "'x'", WHOLE "must be a date (2026-11-15) (schema #/format)\n" },
        { "{'format':'ipv6'}", "'x'", WHOLE "must be an IPv6 address (schema #/format)\n" },
        { "{'format':'uuid'}", "'x'", WHOLE "must be a UUID (schema #/format)\n" },
        { "{'format':'uri'}", "'x'", WHOLE "must be an absolute URI (schema #/format)\n" },
        { "{'format':'regex'}", "'('",
          WHOLE "must be a regular expression (ECMA-262) (schema #/format)\n" },
        { "{'items':{'items':{'type':'null'}}}", "[[null],[null,1]]",
          "/1/1: must be null, found integer (schema #/items/items/type)\n" },
        { "{'prefixItems':[true,{'const':1}]}", "[0,0]",
          "/1: must be 1 (schema #/prefixItems/1/const)\n" },
        { "{'items':false}", "[1]", "/0: no item is allowed after the first 0 (schema #/items)\n" },
        { "{'prefixItems':[true,true],'items':false}", "[1,2,3,4]",
          "/2: no item is allowed after the first 2 (schema #/items)\n" },
        { "{'prefixItems':[false]}", "[1]",
          "/0: nothing is allowed here (schema #/prefixItems/0)\n" },
        { "{'contains':{'const':1},'minContains':2}", "[1]",
          WHOLE "must contain at least 2 items that match \"contains\", found 1 (schema "
                "#/minContains)\n" },
        { "{'contains':{'const':1},'maxContains':1}", "[1,1,1]",
          WHOLE "must contain at most 1 items that match \"contains\", found 3 (schema "
                "#/maxContains)\n" },
        { "{'uniqueItems':true}", "[1,[2],{'a':1},[2.0]]",
          WHOLE "items must differ; 1 and 3 are the same (schema #/uniqueItems)\n" },
        { "{'uniqueItems':true}", "[1,2,3,4,5,6,7,8,9,'x',11,12,'x']",
          WHOLE "items must differ; 9 and 12 are the same (schema #/uniqueItems)\n" },
        { "{'properties':{'a':{'properties':{'b c':{'type':'null'}}}}}", "{'a':{'b c':0}}",
          "/a/b c: must be null, found integer (schema #/properties/a/properties/b c/type)\n" },
        { "{'properties':{'a':false}}", "{'a':1}",
          "/a: nothing is allowed here (schema #/properties/a)\n" },
        { "{'patternProperties':{'^/':{'type':'null'}}}", "{'/~':1}",
          "/~1~0: must be null, found integer (schema #/patternProperties/^~1/type)\n" },
        { "{'additionalProperties':{'type':'null'}}", "{'a':1,'b':null,'c':''}",
          "/a: must be null, found integer (schema #/additionalProperties/type)\n"
          "/c: must be null, found string (schema #/additionalProperties/type)\n" },
        { "{'properties':{'colour':{},'size':{}},'additionalProperties':false}",
          "{'color':1,'sice':1,'weight':1}",
          "/color: unknown property; did you mean \"colour\"? (schema #/additionalProperties)\n"
          "/sice: unknown property; did you mean \"size\"? (schema #/additionalProperties)\n"
          "/weight: unknown property; allowed are colour, size (schema #/additionalProperties)\n" },
        { "{'propertyNames':{'pattern':'^[a-z]+$'}}", "{'a':1,'B':2}",
          "/B: must match the pattern ^[a-z]+$ (schema #/propertyNames/pattern)\n" },
        { "{'dependentSchemas':{'a':{'required':['b']}}}", "{'a':1}",
          WHOLE "the property \"b\" is required (schema #/dependentSchemas/a/required)\n" },
        { "{'dependencies':{'a':['b','c']}}", "{'a':1}",
          WHOLE "the property \"b\" is required together with \"a\" (schema #/dependencies)\n" WHOLE
                "the property \"c\" is required together with \"a\" (schema #/dependencies)\n" },
        { "{'unevaluatedItems':false}", "[1,2]",
          "/0: this item is not allowed here (schema #/unevaluatedItems)\n"
          "/1: this item is not allowed here (schema #/unevaluatedItems)\n" },
        { "{'properties':{'a':true},'unevaluatedProperties':false}", "{'a':1,'b':2}",
          "/b: this property is not allowed here (schema #/unevaluatedProperties)\n" },
        { "{'unevaluatedProperties':{'type':'null'}}", "{'b':2}",
          "/b: must be null, found integer (schema #/unevaluatedProperties/type)\n" },
        { "{'allOf':[{'minimum':5},{'multipleOf':2}]}", "3",
          WHOLE "must be at least 5 (schema #/allOf/0/minimum)\n" WHOLE
                "must be a multiple of 2 (schema #/allOf/1/multipleOf)\n" },
        { "{'if':{'type':'string'},'then':{'minLength':2}}", "'a'",
          WHOLE "must have at least 2 characters, found 1 (schema #/then/minLength)\n" },
        { "{'if':{'type':'string'},'else':{'minimum':2}}", "1",
          WHOLE "must be at least 2 (schema #/else/minimum)\n" },
        { "{'$id':'http://x/a','$ref':'b#/items','$defs':{'b':{'$id':'b','items':{'const':1}}}}",
          "2", WHOLE "must be 1 (schema http://x/b#/items/const)\n" },
        { "{'oneOf':[{'required':['a']},{'required':['b']}]}", "{'a':1,'b':1}",
          WHOLE
          "must match exactly one of 2 alternatives, and matches several (schema #/oneOf)\n" },
        { "{'oneOf':[{'properties':{'k':{'const':'x'}}},{'properties':{'k':{'const':'y'},'n':{"
          "'minimum':1}}}]}",
          "{'k':'y','n':0}",
          WHOLE "must match exactly one of 2 alternatives, and matches none (schema #/oneOf)\n"
                "/k: must be \"x\" (schema #/oneOf/0/properties/k/const)\n" },
        { "{'items':{'not':{'const':1}}}", "[0,1]",
          "/1: must not match the schema under \"not\" (schema #/items/not)\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_complaint(t, &rows[i]);
}

TEST(schema_sentences_about_the_registry_name_the_identifier)
{
    AUTO(schema_registry) registry = schema_registry_new();
    AUTO_JSON other = parse(t, "{'type':'null'}");
    AUTO_JSON number = parse(t, "7");

    add_document(t, registry, "http://h/a", "{'$defs':{'x':{'$id':'x','type':'string'}}}");
    ASSERT_FAILS(schema_registry_add(registry, STR("http://h/a"), other, &t->err), ERR_CONFLICT);
    ASSERT_TEXT(t->err.text, "two schemas have the identifier \"http://h/a\"");
    ASSERT_FAILS(schema_registry_add(registry, STR("http://h/n"), number, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_TEXT(t->err.text, "schema http://h/n: expected an object or a boolean, found integer");
}

TEST(schema_identifiers_and_references_have_a_limit)
{
    static const struct {
        const char *before, *message;
        enum err_code code;
    } cases[] = {
        { "{'$id':'http://h/", "a schema's $id has more than 4096 bytes", ERR_TOO_LARGE },
        { "{'$id':'", "a schema's $id has more than 4096 bytes", ERR_TOO_LARGE },
        { "{'$ref':'", "a reference has more than 4096 bytes", ERR_BAD_REQUEST },
        { "{'$ref':'http://h/", "a reference has more than 4096 bytes", ERR_BAD_REQUEST },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF text = BUF_INIT(8192);
        AUTO_JSON doc = NULL;
        AUTO(schema) schema = NULL;

        buf_add_text(&text, cases[i].before);
        for (int n = 0; n < 4096; n++)
            buf_add_char(&text, 'x');
        buf_add_text(&text, "'}");
        doc = parse(t, buf_text(&text));
        ASSERT_FAILS(schema_compile(NULL, doc, STR("http://h/s"), 0, &schema, &t->err),
                     cases[i].code);
        ASSERT_CONTAINS(t->err.text, cases[i].message);
    }
}

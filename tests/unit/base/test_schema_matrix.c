/* Every keyword against every type of value: which it looks at, which it lets pass.
 *
 * SPDX-License-Identifier: MIT
 */
#include "schema_check.h"

/* One column of a row each. */
static const char *const columns[] = { "null",  "true", "0",     "7",  "1.5",    "''",
                                       "'abc'", "[]",   "[1,1]", "{}", "{'a':1}" };

struct matrix_row {
    const char *schema;
    const char *verdicts; /* '.' valid, 'x' not */
};

static void check_matrix_row(struct test *t, const struct matrix_row *row, unsigned flags)
{
    AUTO(schema) schema = compile(t, row->schema, flags);

    ASSERT_EQ(strlen(row->verdicts), ARRAY_LEN(columns));
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        if (is_valid(t, schema, columns[i]) == (row->verdicts[i] == '.'))
            test_case_passed();
        else
            test_case_failed("%s with %s: expected %s", row->schema, columns[i],
                             row->verdicts[i] == '.' ? "valid" : "invalid");
    }
}

#define CHECK_MATRIX(rows, flags)                                                                  \
    for (size_t i_ = 0; i_ < ARRAY_LEN(rows); i_++)                                                \
    check_matrix_row(t, &(rows)[i_], (flags))

TEST(schema_matrix_of_types_and_values)
{
    static const struct matrix_row rows[] = {
        { "true", "..........." },
        { "false", "xxxxxxxxxxx" },
        { "{}", "..........." },
        { "{'type':'null'}", ".xxxxxxxxxx" },
        { "{'type':'boolean'}", "x.xxxxxxxxx" },
        { "{'type':'integer'}", "xx..xxxxxxx" },
        { "{'type':'number'}", "xx...xxxxxx" },
        { "{'type':'string'}", "xxxxx..xxxx" },
        { "{'type':'array'}", "xxxxxxx..xx" },
        { "{'type':'object'}", "xxxxxxxxx.." },
        { "{'type':['null']}", ".xxxxxxxxxx" },
        { "{'type':['integer','string']}", "xx..x..xxxx" },
        { "{'type':['number','integer']}", "xx...xxxxxx" },
        { "{'type':['null','object']}", ".xxxxxxxx.." },
        { "{'type':['array','boolean','string']}", "x.xxx....xx" },
        { "{'enum':[]}", "xxxxxxxxxxx" },
        { "{'enum':[null]}", ".xxxxxxxxxx" },
        { "{'enum':[0,'',[],{},null]}", ".x.xx.x.x.x" },
        { "{'enum':[1.50,[1,1.0],{'a':1e0}]}", "xxxx.xxx.x." },
        { "{'enum':['null','true','0','7']}", "xxxxxxxxxxx" },
        { "{'enum':[false,true,1]}", "x.xxxxxxxxx" },
        { "{'const':null}", ".xxxxxxxxxx" },
        { "{'const':false}", "xxxxxxxxxxx" },
        { "{'const':true}", "x.xxxxxxxxx" },
        { "{'const':-0.0}", "xx.xxxxxxxx" },
        { "{'const':7.0}", "xxx.xxxxxxx" },
        { "{'const':70e-1}", "xxx.xxxxxxx" },
        { "{'const':''}", "xxxxx.xxxxx" },
        { "{'const':'ABC'}", "xxxxxxxxxxx" },
        { "{'const':[]}", "xxxxxxx.xxx" },
        { "{'const':[1]}", "xxxxxxxxxxx" },
        { "{'const':{'a':1.0}}", "xxxxxxxxxx." },
        { "{'const':{'a':'1'}}", "xxxxxxxxxxx" },
    };

    CHECK_MATRIX(rows, 0);
}

TEST(schema_matrix_of_limits)
{
    static const struct matrix_row rows[] = {
        { "{'minimum':2}", "..x.x......" },
        { "{'minimum':1.5}", "..x........" },
        { "{'minimum':7}", "..x.x......" },
        { "{'minimum':7.000000000000000000001}", "..xxx......" },
        { "{'maximum':1.5}", "...x......." },
        { "{'maximum':0}", "...xx......" },
        { "{'maximum':-1e-300}", "..xxx......" },
        { "{'maximum':1e300}", "..........." },
        { "{'exclusiveMaximum':1.5}", "...xx......" },
        { "{'exclusiveMaximum':7}", "...x......." },
        { "{'exclusiveMinimum':0}", "..x........" },
        { "{'exclusiveMinimum':-0.0}", "..x........" },
        { "{'exclusiveMinimum':1.5}", "..x.x......" },
        { "{'multipleOf':7}", "....x......" },
        { "{'multipleOf':0.5}", "..........." },
        { "{'multipleOf':2}", "...xx......" },
        { "{'multipleOf':1e-300}", "..........." },
        { "{'multipleOf':1e300}", "...xx......" },
        { "{'multipleOf':123456789012345678901234567890}", "...xx......" },
        { "{'minLength':0}", "..........." },
        { "{'minLength':1}", ".....x....." },
        { "{'minLength':3}", ".....x....." },
        { "{'minLength':4}", ".....xx...." },
        { "{'minLength':123456789012345678901234567890}", ".....xx...." },
        { "{'maxLength':0}", "......x...." },
        { "{'maxLength':2.0}", "......x...." },
        { "{'maxLength':3}", "..........." },
        { "{'maxLength':123456789012345678901234567890}", "..........." },
        { "{'minItems':1}", ".......x..." },
        { "{'minItems':3}", ".......xx.." },
        { "{'maxItems':0}", "........x.." },
        { "{'maxItems':1e0}", "........x.." },
        { "{'maxItems':2}", "..........." },
        { "{'minProperties':1}", ".........x." },
        { "{'minProperties':2}", ".........xx" },
        { "{'maxProperties':0}", "..........x" },
        { "{'maxProperties':1}", "..........." },
        { "{'uniqueItems':true}", "........x.." },
        { "{'uniqueItems':false}", "..........." },
        { "{'pattern':'b'}", ".....x....." },
        { "{'pattern':'^b'}", ".....xx...." },
        { "{'pattern':'^$'}", "......x...." },
        { "{'pattern':''}", "..........." },
    };

    CHECK_MATRIX(rows, 0);
}

TEST(schema_matrix_of_parts)
{
    static const struct matrix_row rows[] = {
        { "{'required':[]}", "..........." },
        { "{'required':['a']}", ".........x." },
        { "{'required':['A']}", ".........xx" },
        { "{'required':['a\\u0000']}", ".........xx" },
        { "{'properties':{}}", "..........." },
        { "{'properties':{'a':false}}", "..........x" },
        { "{'properties':{'b':false}}", "..........." },
        { "{'properties':{'a':{'type':'string'}}}", "..........x" },
        { "{'patternProperties':{'.':false}}", "..........x" },
        { "{'patternProperties':{'b|c':false}}", "..........." },
        { "{'patternProperties':{'':{'const':1}}}", "..........." },
        { "{'additionalProperties':false}", "..........x" },
        { "{'additionalProperties':true}", "..........." },
        { "{'additionalProperties':{'minimum':2}}", "..........x" },
        { "{'properties':{'a':true},'additionalProperties':false}", "..........." },
        { "{'patternProperties':{'^a$':true},'additionalProperties':false}", "..........." },
        { "{'propertyNames':false}", "..........x" },
        { "{'propertyNames':{'minLength':2}}", "..........x" },
        { "{'propertyNames':{'type':'number'}}", "..........x" },
        { "{'propertyNames':{'enum':['a']}}", "..........." },
        { "{'dependentRequired':{'a':['b']}}", "..........x" },
        { "{'dependentRequired':{'b':['a']}}", "..........." },
        { "{'dependentSchemas':{'a':false}}", "..........x" },
        { "{'dependencies':{'a':['a']}}", "..........." },
        { "{'dependencies':{'a':{'minProperties':2}}}", "..........x" },
        { "{'items':false}", "........x.." },
        { "{'items':{'maximum':0}}", "........x.." },
        { "{'items':{'const':1}}", "..........." },
        { "{'prefixItems':[false]}", "........x.." },
        { "{'prefixItems':[true,false]}", "........x.." },
        { "{'prefixItems':[true,true,false]}", "..........." },
        { "{'prefixItems':[true],'items':false}", "........x.." },
        { "{'prefixItems':[true,true],'items':false}", "..........." },
        { "{'contains':{'const':1}}", ".......x..." },
        { "{'contains':false}", ".......xx.." },
        { "{'contains':{'const':1},'maxContains':1}", ".......xx.." },
        { "{'contains':{'const':1},'minContains':0}", "..........." },
        { "{'contains':{'const':1},'minContains':3}", ".......xx.." },
        { "{'contains':true,'minContains':0,'maxContains':0}", "........x.." },
        { "{'minContains':9}", "..........." },
        { "{'unevaluatedItems':false}", "........x.." },
        { "{'unevaluatedItems':{'const':1}}", "..........." },
        { "{'unevaluatedProperties':false}", "..........x" },
        { "{'unevaluatedProperties':{'const':2}}", "..........x" },
    };

    CHECK_MATRIX(rows, 0);
}

TEST(schema_matrix_of_logic)
{
    static const struct matrix_row rows[] = {
        { "{'not':{'type':'string'}}", ".....xx...." },
        { "{'not':{'not':{'type':'string'}}}", "xxxxx..xxxx" },
        { "{'not':false}", "..........." },
        { "{'not':true}", "xxxxxxxxxxx" },
        { "{'allOf':[{'type':'number'},{'minimum':1}]}", "xxx..xxxxxx" },
        { "{'allOf':[true,true]}", "..........." },
        { "{'allOf':[true,false]}", "xxxxxxxxxxx" },
        { "{'anyOf':[{'type':'string'},{'type':'number'}]}", "xx.....xxxx" },
        { "{'anyOf':[false,true]}", "..........." },
        { "{'anyOf':[false]}", "xxxxxxxxxxx" },
        { "{'oneOf':[{'type':'number'},{'minimum':1}]}", "...xx......" },
        { "{'oneOf':[true,true]}", "xxxxxxxxxxx" },
        { "{'oneOf':[false,true,false]}", "..........." },
        { "{'oneOf':[{'type':'integer'},{'type':'number'},{'type':'string'}]}", "xxxx...xxxx" },
        { "{'if':{'type':'number'},'then':{'minimum':1},'else':{'type':['string','null']}}",
          ".xx....xxxx" },
        { "{'if':{'type':'number'},'then':false}", "..xxx......" },
        { "{'if':{'type':'number'},'else':false}", "xx...xxxxxx" },
        { "{'if':false}", "..........." },
        { "{'then':false,'else':false}", "..........." },
        { "{'if':true,'else':false}", "..........." },
        { "{'if':false,'then':false}", "..........." },
        { "{'if':true,'then':false}", "xxxxxxxxxxx" },
        { "{'$ref':'#/$defs/s','$defs':{'s':{'type':'string'}}}", "xxxxx..xxxx" },
        { "{'$ref':'#/$defs/s','minLength':1,'$defs':{'s':{'type':'string'}}}", "xxxxxx.xxxx" },
        { "{'$dynamicRef':'#s','$defs':{'s':{'$dynamicAnchor':'s','type':'string'}}}",
          "xxxxx..xxxx" },
        { "{'allOf':[{'$ref':'#/$defs/a'},{'not':{'$ref':'#/$defs/b'}}],'$defs':{'a':{'type':"
          "['string','array']},'b':{'maxItems':0,'maxLength':0}}}",
          "xxxxxx.x.xx" },
        { "{'x-unknown':false}", "..........." },
        { "{'$comment':'false','title':'x','default':7,'examples':[1]}", "..........." },
        { "{'contentEncoding':'base64','contentMediaType':'application/json'}", "..........." },
        { "{'deprecated':true,'readOnly':true,'writeOnly':true}", "..........." },
    };

    CHECK_MATRIX(rows, 0);
}

TEST(schema_matrix_of_formats_concerns_strings_alone)
{
    static const char *const names[] = { "date-time", "date", "time", "duration", "email",
                                         "uri",       "uuid", "ipv4", "ipv6" };
    static const struct matrix_row rows[] = {
        { "{'format':'json-pointer'}", "......x...." },
        { "{'format':'relative-json-pointer'}", ".....xx...." },
        { "{'format':'uri-reference'}", "..........." },
        { "{'format':'regex'}", "..........." },
        { "{'format':'hostname'}", "..........." },
        { "{'format':''}", "..........." },
    };

    CHECK_MATRIX(rows, SCHEMA_ASSERT_FORMAT);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *schema = arena_printf(&t->arena, "{'format':'%s'}", names[i]);

        check_matrix_row(t, &(struct matrix_row){ schema, ".....xx...." }, SCHEMA_ASSERT_FORMAT);
        check_matrix_row(t, &(struct matrix_row){ schema, "..........." }, 0);
    }
}

/* What a keyword says of nothing, alone, it says of a member and of an item too. */
TEST(schema_matrix_holds_inside_members_and_items)
{
    static const struct matrix_row rows[] = {
        { "{'type':'string'}", "xxxxx..xxxx" }, { "{'minimum':2}", "..x.x......" },
        { "{'minItems':1}", ".......x..." },    { "{'required':['a']}", ".........x." },
        { "{'pattern':'b'}", ".....x....." },   { "{'const':null}", ".xxxxxxxxxx" },
    };
    static const char *const wrappers[][2] = {
        { "{'items':%s}", "[%s]" },
        { "{'prefixItems':[true,%s]}", "[0,%s]" },
        { "{'properties':{'k':%s}}", "{'k':%s}" },
        { "{'patternProperties':{'^k':%s}}", "{'kk':%s}" },
        { "{'additionalProperties':%s}", "{'k':%s}" },
        { "{'unevaluatedProperties':%s}", "{'k':%s}" },
        { "{'unevaluatedItems':%s}", "[%s]" },
        { "{'contains':%s}", "[%s]" },
        { "{'properties':{'p':{'items':{'properties':{'q':%s}}}}}", "{'p':[{},{'q':%s}]}" },
        { "{'allOf':[{'$ref':'#/$defs/r'}],'$defs':{'r':{'items':%s}}}", "[%s]" },
        { "{'not':{'not':{'items':%s}}}", "[%s]" },
    };

    for (size_t w = 0; w < ARRAY_LEN(wrappers); w++) {
        for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
            AUTO_BUF text = BUF_INIT(1024);
            const char *hole = strstr(wrappers[w][0], "%s");
            AUTO(schema) schema = NULL;

            buf_add(&text, wrappers[w][0], (size_t)(hole - wrappers[w][0]));
            buf_add_text(&text, rows[r].schema);
            buf_add_text(&text, hole + 2);
            schema = compile(t, buf_text(&text), 0);
            for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
                AUTO_BUF value = BUF_INIT(1024);

                hole = strstr(wrappers[w][1], "%s");
                buf_add(&value, wrappers[w][1], (size_t)(hole - wrappers[w][1]));
                buf_add_text(&value, columns[i]);
                buf_add_text(&value, hole + 2);
                if (is_valid(t, schema, buf_text(&value)) != (rows[r].verdicts[i] == '.'))
                    FAIL("%s with %s", buf_text(&text), buf_text(&value));
            }
        }
    }
}

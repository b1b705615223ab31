/* What the keywords of JSON Schema mean, beyond the public suite: tables of schema, value, verdict.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "schema_check.h"

TEST(schema_contains_counts_matches_and_marks_them)
{
    static const struct row rows[] = {
        { "{'contains':{'minimum':5}}", "[3,4,5]", true },
        { "{'contains':{'minimum':5}}", "[3,4]", false },
        { "{'contains':{'minimum':5}}", "[]", false },
        { "{'contains':{'minimum':5}}", "{}", true },
        { "{'contains':true}", "[]", false },
        { "{'contains':true}", "[null]", true },
        { "{'contains':false}", "['x']", false },
        { "{'contains':false,'minContains':0}", "['x']", true },
        { "{'contains':{'const':1},'minContains':0}", "[]", true },
        { "{'contains':{'const':1},'minContains':0,'maxContains':1}", "[1,1]", false },
        { "{'contains':{'const':1},'minContains':2}", "[1,2]", false },
        { "{'contains':{'const':1},'minContains':2.0}", "[1,1]", true },
        { "{'contains':{'const':1},'maxContains':1}", "[1,2]", true },
        { "{'contains':{'const':1},'maxContains':1}", "[1,1.0]", false },
        { "{'contains':{'const':1},'minContains':3,'maxContains':1}", "[1,1]", false },
        { "{'minContains':3}", "[]", true },
        { "{'maxContains':0}", "[1]", true },
        { "{'contains':{'type':'string'},'unevaluatedItems':false}", "['a','b']", true },
        { "{'contains':{'type':'string'},'unevaluatedItems':false}", "['a',1]", false },
        { "{'prefixItems':[true],'contains':{'type':'string'},'unevaluatedItems':false}", "[1,'a']",
          true },
        { "{'contains':{'type':'string'},'minContains':0,'unevaluatedItems':false}", "[1]", false },
        { "{'allOf':[{'contains':{'multipleOf':2}},{'contains':{'multipleOf':3}}],"
          "'unevaluatedItems':{'multipleOf':5}}",
          "[2,3,4,5,6]", true },
        { "{'allOf':[{'contains':{'multipleOf':2}},{'contains':{'multipleOf':3}}],"
          "'unevaluatedItems':{'multipleOf':5}}",
          "[2,3,4,7,8]", false },
        { "{'if':{'contains':{'const':'a'}},'then':{'if':{'contains':{'const':'b'}}},"
          "'unevaluatedItems':false}",
          "['a','b','a']", true },
        { "{'if':{'contains':{'const':'a'}},'then':{'if':{'contains':{'const':'b'}}},"
          "'unevaluatedItems':false}",
          "['b','b']", false },
    };

    CHECK_ROWS(rows, 0);
}

TEST(schema_dependencies_apply_when_the_property_is_there)
{
    static const struct row rows[] = {
        { "{'dependentSchemas':{'a':{'required':['b']}}}", "{'a':1,'b':2}", true },
        { "{'dependentSchemas':{'a':{'required':['b']}}}", "{'a':1}", false },
        { "{'dependentSchemas':{'a':{'required':['b']}}}", "{'b':1}", true },
        { "{'dependentSchemas':{'a':{'required':['b']}}}", "['a']", true },
        { "{'dependentSchemas':{'a':true,'b':false}}", "{'a':1}", true },
        { "{'dependentSchemas':{'a':true,'b':false}}", "{'b':1}", false },
        { "{'dependentSchemas':{'a\\tb':{'minProperties':2}}}", "{'a\\tb':1}", false },
        { "{'properties':{'x':{}},'dependentSchemas':{'a':{'properties':{'b':{}},"
          "'additionalProperties':false}}}",
          "{'a':1,'x':1}", false },
        { "{'properties':{'a':{}},'dependentSchemas':{'a':{'properties':{'b':{}}}},"
          "'unevaluatedProperties':false}",
          "{'a':1,'b':2}", true },
        { "{'properties':{'a':{}},'dependentSchemas':{'a':{'properties':{'b':{}}}},"
          "'unevaluatedProperties':false}",
          "{'b':2}", false },
        { "{'dependentRequired':{'a':[]}}", "{'a':1}", true },
        { "{'dependentRequired':{'a':['b','c']}}", "{'a':1,'b':2}", false },
        { "{'dependencies':{'a':['b']}}", "{'a':1}", false },
        { "{'dependencies':{'a':{'properties':{'b':{'type':'string'}}}}}", "{'a':1,'b':2}", false },
        { "{'dependencies':{'a':['b']}}", "{'b':1}", true },
    };

    CHECK_ROWS(rows, 0);
}

/* Every keyword that holds subschemas: what is named inside can be referred to from outside. */
TEST(schema_anchors_and_ids_are_found_under_every_keyword)
{
    static const char *const maps[] = { "$defs",       "properties",   "patternProperties",
                                        "definitions", "dependencies", "dependentSchemas" };
    static const char *const lists[] = { "allOf", "anyOf", "oneOf", "prefixItems" };
    static const char *const ones[] = {
        "items",
        "contains",
        "additionalProperties",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
        "contentSchema",
        "additionalItems",
        "unevaluatedItems",
        "unevaluatedProperties",
    };
    static const char *const around[][2] = { { "{'a':", "}" }, { "[true,", "]" }, { "", "" } };
    static const struct {
        const char *const *names;
        size_t n;
    } keywords[] = { { maps, ARRAY_LEN(maps) },
                     { lists, ARRAY_LEN(lists) },
                     { ones, ARRAY_LEN(ones) } };

    for (size_t shape = 0; shape < ARRAY_LEN(keywords); shape++)
        for (size_t i = 0; i < keywords[shape].n; i++)
            for (int by_id = 0; by_id < 2; by_id++) {
                const char *inner = by_id ? "{'$id':'http://x/here','type':'integer'}"
                                          : "{'$anchor':'here','type':'integer'}";
                const char *text =
                    arena_printf(&t->arena, "{'$ref':'%s','properties':{'z':{'%s':%s%s%s}}}",
                                 by_id ? "http://x/here" : "#here", keywords[shape].names[i],
                                 around[shape][0], inner, around[shape][1]);
                const struct row rows[] = { { text, "1", true }, { text, "'x'", false } };

                CHECK_ROWS(rows, 0);
            }
}

TEST(schema_anchors_and_ids_are_found_only_where_schemas_stand)
{
    static const struct row rows[] = {
        { "{'$ref':'#foo','$defs':{'A':{'$anchor':'foo','type':'integer'}}}", "1", true },
        { "{'$ref':'#foo','$defs':{'A':{'$anchor':'foo','type':'integer'}}}", "'x'", false },
        { "{'$ref':'http://x/bar#foo','$defs':{'A':{'$id':'http://x/bar','$anchor':'foo',"
          "'type':'integer'}}}",
          "'x'", false },
        { "{'$id':'http://x/root','$ref':'http://x/nested.json#foo','$defs':{'A':{"
          "'$id':'nested.json','$defs':{'B':{'$anchor':'foo','type':'integer'}}}}}",
          "'x'", false },
        /* The same name in two resources. */
        { "{'$id':'http://x/foobar','$ref':'child1#my','$defs':{'A':{'$id':'child1','allOf':["
          "{'$id':'child2','$anchor':'my','type':'number'},{'$anchor':'my','type':'string'}]}}}",
          "'a'", true },
        { "{'$id':'http://x/foobar','$ref':'child1#my','$defs':{'A':{'$id':'child1','allOf':["
          "{'$id':'child2','$anchor':'my','type':'number'},{'$anchor':'my','type':'string'}]}}}",
          "1", false },
        /* Data that looks like a schema. */
        { "{'$defs':{'e':{'enum':[{'$anchor':'my','type':'null'}]},'r':{'$anchor':'my',"
          "'type':'string'},'z':{'const':{'$anchor':'my'}}},'anyOf':[{'$ref':'#/$defs/e'},"
          "{'$ref':'#my'}]}",
          "'x'", true },
        { "{'$defs':{'e':{'enum':[{'$anchor':'my','type':'null'}]},'r':{'$anchor':'my',"
          "'type':'string'}},'anyOf':[{'$ref':'#/$defs/e'},{'$ref':'#my'}]}",
          "null", false },
        { "{'$defs':{'u':{'not':{'unknown':[{'$id':'http://x/i','type':'null'}]}},"
          "'r':{'$id':'http://x/i','type':'string'},'c':{'const':{'$id':'http://x/i'}}},"
          "'$ref':'http://x/i'}",
          "'x'", true },
        { "{'properties':{'$id':{'type':'string'},'$ref':{'type':'string'}}}", "{'$ref':1}",
          false },
        { "{'properties':{'$ref':{'$ref':'#/$defs/s'}},'$defs':{'s':{'type':'string'}}}",
          "{'$ref':'a'}", true },
        { "{'$id':'urn:uuid:deadbeef-1234-00ff-ff00-4321feebdaed','properties':{'f':{'$ref':"
          "'urn:uuid:deadbeef-1234-00ff-ff00-4321feebdaed#/$defs/b'}},'$defs':{'b':{'type':"
          "'string'}}}",
          "{'f':1}", false },
        { "{'$id':'file:///c:/folder/file.json','$defs':{'f':{'type':'number'}},'allOf':[{'$ref':"
          "'#/$defs/f'}]}",
          "'x'", false },
        { "{'$id':'http://x/d/e/f.json','$ref':'../g.json','$defs':{'a':{'$id':'/d/g.json','type':"
          "'null'}}}",
          "1", false },
    };

    CHECK_ROWS(rows, 0);
}

TEST(schema_references_follow_pointers_with_escapes)
{
    static const struct row rows[] = {
        { "{'$defs':{'a/b':{'type':'integer'}},'$ref':'#/$defs/a~1b'}", "'x'", false },
        { "{'$defs':{'a~b':{'type':'integer'}},'$ref':'#/$defs/a~0b'}", "'x'", false },
        { "{'$defs':{'a%b':{'type':'integer'}},'$ref':'#/$defs/a%25b'}", "'x'", false },
        { "{'$defs':{'a b':{'type':'integer'}},'$ref':'#/$defs/a%20b'}", "'x'", false },
        { "{'$defs':{'':{'$defs':{'':{'type':'number'}}}},'$ref':'#/$defs//$defs/'}", "'x'",
          false },
        { "{'prefixItems':[{'type':'integer'},{'$ref':'#/prefixItems/0'}]}", "[1,'x']", false },
        /* Below a keyword that is unknown, and through one that is data. */
        { "{'x-own':{'y':{'type':'boolean'}},'$ref':'#/x-own/y'}", "1", false },
        { "{'const':{'x':{'type':'boolean'}},'properties':{'a':{'$ref':'#/const/x'}}}",
          "{'x':{'type':'boolean'}}", true },
        { "{'definitions':{'s':{'type':'string'}},'$ref':'#/definitions/s'}", "1", false },
        /* Siblings of $ref count. */
        { "{'$ref':'#/$defs/s','maxLength':2,'$defs':{'s':{'type':'string'}}}", "'abc'", false },
        { "{'$ref':'#/$defs/s','maxLength':2,'$defs':{'s':{'type':'string'}}}", "'ab'", true },
        { "{'$ref':'#/$defs/f','$defs':{'f':false}}", "1", false },
        { "{'properties':{'n':{'$ref':'#'}},'additionalProperties':false}", "{'n':{'n':{'m':1}}}",
          false },
        { "{'properties':{'n':{'$ref':'#'}},'additionalProperties':false}", "{'n':{'n':{}}}",
          true },
        { "{'$ref':'http://x/if','if':{'$id':'http://x/if','type':'integer'}}", "'x'", false },
        { "{'$ref':'#/$defs/a/$defs/b','$defs':{'a':{'$id':'http://x/a','$defs':{'b':{'$ref':"
          "'#/$defs/c'},'c':{'type':'null'}}}}}",
          "1", false },
        { "{'$ref':'#/contentSchema','contentSchema':{'type':'null'}}", "1", false },
    };

    CHECK_ROWS(rows, 0);
}

TEST(schema_dynamic_references_look_outwards)
{
    static const struct row rows[] = {
        /* No dynamic anchor at the first place: an ordinary reference. */
        { "{'$dynamicRef':'#/$defs/a','$defs':{'a':{'$dynamicAnchor':'x','type':'null'}}}", "1",
          false },
        { "{'$id':'http://x/"
          "r','$ref':'list','$defs':{'foo':{'$dynamicAnchor':'items','type':'string'},"
          "'list':{'$id':'list','type':'array','items':{'$dynamicRef':'#items'},'$defs':{'d':{"
          "'$dynamicAnchor':'items'}}}}}",
          "['a',1]", false },
        { "{'$id':'http://x/r','$ref':'list','$defs':{'foo':{'$anchor':'items','type':'string'},"
          "'list':{'$id':'list','type':'array','items':{'$dynamicRef':'#items'},'$defs':{'d':{"
          "'$dynamicAnchor':'items'}}}}}",
          "['a',1]", true },
        /* An anchor of that name at the first place, but not a dynamic one. */
        { "{'$id':'http://x/"
          "r','$ref':'list','$defs':{'foo':{'$dynamicAnchor':'items','type':'string'},"
          "'list':{'$id':'list','type':'array','items':{'$dynamicRef':'#items'},'$defs':{'d':{"
          "'$anchor':'items'}}}}}",
          "['a',1]", true },
        /* A resource in between, without the anchor, does not matter; with it, the outer one wins.
         */
        { "{'$id':'http://x/"
          "r','$ref':'mid','$defs':{'foo':{'$dynamicAnchor':'items','type':'string'},"
          "'mid':{'$id':'mid','$ref':'list','$defs':{'i':{'$dynamicAnchor':'items','type':'null'}}}"
          ","
          "'list':{'$id':'list','type':'array','items':{'$dynamicRef':'#items'},'$defs':{'d':{"
          "'$dynamicAnchor':'items'}}}}}",
          "['a']", true },
        { "{'$id':'http://x/"
          "tree','$dynamicAnchor':'node','properties':{'data':true,'kids':{'items':{"
          "'$dynamicRef':'#node'}}},'$defs':{}}",
          "{'kids':[{'daat':1}]}", true },
        { "{'$id':'http://x/strict','$dynamicAnchor':'node','$ref':'tree','unevaluatedProperties':"
          "false,'$defs':{'t':{'$id':'tree','$dynamicAnchor':'node','properties':{'data':true,'"
          "kids':{"
          "'items':{'$dynamicRef':'#node'}}}}}}",
          "{'kids':[{'daat':1}]}", false },
        { "{'$id':'http://x/strict','$dynamicAnchor':'node','$ref':'tree','unevaluatedProperties':"
          "false,'$defs':{'t':{'$id':'tree','$dynamicAnchor':'node','properties':{'data':true,'"
          "kids':{"
          "'items':{'$dynamicRef':'#node'}}}}}}",
          "{'kids':[{'data':1}]}", true },
        /* Left scopes do not count: the reference in `if` was left again. */
        { "{'$id':'http://x/m','if':{'$id':'first','$defs':{'t':{'$dynamicAnchor':'t','type':"
          "'number'}}},'then':{'$id':'second','$ref':'start','$defs':{'t':{'$dynamicAnchor':'t','"
          "type':"
          "'null'}}},'$defs':{'start':{'$id':'start','$dynamicRef':'inner#t'},'inner':{'$id':'"
          "inner',"
          "'$dynamicAnchor':'t','type':'string'}}}",
          "null", true },
        { "{'$id':'http://x/m','if':{'$id':'first','$defs':{'t':{'$dynamicAnchor':'t','type':"
          "'number'}}},'then':{'$id':'second','$ref':'start','$defs':{'t':{'$dynamicAnchor':'t','"
          "type':"
          "'null'}}},'$defs':{'start':{'$id':'start','$dynamicRef':'inner#t'},'inner':{'$id':'"
          "inner',"
          "'$dynamicAnchor':'t','type':'string'}}}",
          "1", false },
    };

    CHECK_ROWS(rows, 0);
}

TEST(schema_unevaluated_sees_only_branches_that_hold)
{
    static const struct row rows[] = {
        { "{'anyOf':[{'properties':{'a':{'const':1}},'required':['a']},{'properties':{'b':true}}],"
          "'unevaluatedProperties':false}",
          "{'a':2,'b':1}", false },
        { "{'anyOf':[{'properties':{'a':{'const':1}},'required':['a']},{'properties':{'b':true}}],"
          "'unevaluatedProperties':false}",
          "{'a':1,'b':1}", true },
        { "{'oneOf':[{'properties':{'a':true},'required':['a']},{'properties':{'b':true},'required'"
          ":"
          "['b']}],'unevaluatedProperties':false}",
          "{'a':1}", true },
        { "{'not':{'not':{'properties':{'a':true}}},'unevaluatedProperties':false}", "{'a':1}",
          false },
        { "{'if':{'properties':{'a':{'const':1}},'required':['a']},'then':{'properties':{'b':true}}"
          ","
          "'else':{'properties':{'c':true}},'unevaluatedProperties':false}",
          "{'a':1,'b':2}", true },
        { "{'if':{'properties':{'a':{'const':1}},'required':['a']},'then':{'properties':{'b':true}}"
          ","
          "'else':{'properties':{'c':true}},'unevaluatedProperties':false}",
          "{'a':2,'c':2}", false },
        { "{'if':{'properties':{'a':true}},'unevaluatedProperties':false}", "{'a':1}", true },
        /* A cousin's marks are not seen, a child's are. */
        { "{'allOf':[{'properties':{'a':true}},{'unevaluatedProperties':false}]}", "{'a':1}",
          false },
        { "{'allOf':[{'unevaluatedProperties':true}],'unevaluatedProperties':false}", "{'a':1}",
          true },
        { "{'properties':{'a':true},'allOf':[{'unevaluatedProperties':{'type':'string'}}],"
          "'unevaluatedProperties':false}",
          "{'b':'x'}", true },
        { "{'allOf':[{'patternProperties':{'^x':true}},{'additionalProperties':{'type':'string'}}],"
          "'unevaluatedProperties':false}",
          "{'y':'s'}", true },
        { "{'$ref':'#/$defs/b','properties':{'f':true},'unevaluatedProperties':false,'$defs':{'b':{"
          "'properties':{'g':true}}}}",
          "{'f':1,'g':2}", true },
        { "{'unevaluatedProperties':{'maxLength':2}}", "{'a':'abc'}", false },
        { "{'prefixItems':[true],'unevaluatedItems':{'type':'string'}}", "[1,'a',2]", false },
        { "{'allOf':[{'prefixItems':[true,true]}],'prefixItems':[true],'unevaluatedItems':false}",
          "[1,2]", true },
        { "{'anyOf':[{'prefixItems':[true,{'const':'b'}]},{'prefixItems':[true]}],'"
          "unevaluatedItems':"
          "false}",
          "[1,'b']", true },
        { "{'anyOf':[{'prefixItems':[true,{'const':'b'}]},{'prefixItems':[true]}],'"
          "unevaluatedItems':"
          "false}",
          "[1,'c']", false },
        { "{'items':true,'unevaluatedItems':false}", "[1,2]", true },
        { "{'unevaluatedItems':false}", "[]", true },
        { "{'unevaluatedItems':false}", "{'a':1}", true },
        { "{'properties':{'list':{'unevaluatedItems':false}},'unevaluatedProperties':false}",
          "{'list':[1]}", false },
        { "{'$dynamicRef':'#d','unevaluatedProperties':false,'$defs':{'d':{'$dynamicAnchor':'d',"
          "'properties':{'a':true}}}}",
          "{'a':1}", true },
        { "{'propertyNames':{'maxLength':5},'unevaluatedProperties':false}", "{'a':1}", false },
    };

    CHECK_ROWS(rows, 0);
}

/* More members than fit one word of marks. */
TEST(schema_unevaluated_works_on_many_members)
{
    AUTO(schema)
    open = compile(t,
                   "{'allOf':[{'patternProperties':{'^k':true}},{'anyOf':[{'properties'"
                   ":{'z':true}},{'minProperties':1}]}],'unevaluatedProperties':false}",
                   0);
    AUTO_JSON object = json_object_new_object();

    for (int i = 0; i < 200; i++) {
        char key[16];

        snprintf(key, sizeof(key), "k%d", i);
        json_object_object_add(object, key, NULL);
    }
    json_object_object_add(object, "z", NULL);
    ASSERT_OK(schema_validate(open, object, NULL, &t->err));
    json_object_object_add(object, "other", NULL);
    ASSERT_FAILS(schema_validate(open, object, NULL, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(t->err.text, "/other: this property is not allowed here");
}

TEST(schema_numbers_are_mathematical)
{
    static const struct row rows[] = {
        { "{'type':'integer'}", "1.0", true },
        { "{'type':'integer'}", "1e3", true },
        { "{'type':'integer'}", "1.5", false },
        { "{'type':'integer'}", "12345678910111213141516171819202122232425262728293031", true },
        { "{'type':['integer','null']}", "null", true },
        { "{'type':'number'}", "1", true },
        { "{'type':'boolean'}", "0", false },
        { "{'const':1}", "1.0", true },
        { "{'const':1}", "true", false },
        { "{'const':[0]}", "[false]", false },
        { "{'enum':[0]}", "false", false },
        { "{'const':null}", "null", true },
        { "{'const':null}", "false", false },
        { "{'const':{'a':1,'b':2}}", "{'b':2.0,'a':1}", true },
        { "{'enum':[]}", "1", false },
        { "{'maximum':18446744073709551615}", "18446744073709551600", true },
        { "{'maximum':18446744073709551615}", "18446744073709551616", false },
        { "{'exclusiveMaximum':972783798187987123879878123.18878137}",
          "972783798187987123879878123.188781371", false },
        { "{'minimum':-18446744073709551615}", "-18446744073709551616", false },
        { "{'exclusiveMinimum':0.1}", "0.1000000000000000001", true },
        { "{'multipleOf':0.01}", "19.99", true },
        { "{'multipleOf':0.01}", "19.991", false },
        { "{'type':'integer','multipleOf':0.5}", "1e308", true },
        { "{'type':'integer','multipleOf':0.123456789}", "1e308", false },
        { "{'maxLength':2}", "'\xf0\x9f\x98\x80\xf0\x9f\x98\x80'", true },
        { "{'minLength':2}", "'\xf0\x9f\x98\x80'", false },
        { "{'minLength':2.0}", "'a'", false },
        { "{'maxItems':123456789012345678901234567890}", "[]", true },
        { "{'uniqueItems':true}", "[1,true,'1',[1],[true],{'a':1},{'a':true},null,0,false]", true },
        { "{'uniqueItems':true}", "[1,2,3,4,5,6,7,8,9,10,11,12,{'a':[1]},{'a':[1.0]}]", false },
        { "{'uniqueItems':false}", "[1,1]", true },
        { "{'uniqueItems':true}", "[1,1.0]", false },
    };

    CHECK_ROWS(rows, 0);
}

/* The same schema on the same value twice is no loop. */
TEST(schema_may_visit_a_place_twice)
{
    static const struct row rows[] = {
        { "{'$defs':{'int':{'type':'integer'}},'allOf':[{'properties':{'f':{'$ref':'#/$defs/"
          "int'}}},"
          "{'additionalProperties':{'$ref':'#/$defs/int'}}]}",
          "{'f':1}", true },
        { "{'$defs':{'int':{'type':'integer'}},'allOf':[{'properties':{'f':{'$ref':'#/$defs/"
          "int'}}},"
          "{'additionalProperties':{'$ref':'#/$defs/int'}}]}",
          "{'f':'x'}", false },
    };

    CHECK_ROWS(rows, 0);
}

TEST(schema_booleans_and_null_are_values)
{
    static const struct row rows[] = {
        { "true", "1", true },
        { "false", "null", false },
        { "{}", "null", true },
        { "{'properties':{'a':{'type':'null'}}}", "{'a':null}", true },
        { "{'properties':{'a':{'type':'string'}}}", "{'a':null}", false },
        { "{'required':['a']}", "{'a':null}", true },
        { "{'items':{'type':'null'}}", "[null,null]", true },
        { "{'properties':{'__proto__':{'type':'number'}},'required':['toString']}",
          "{'__proto__':'x'}", false },
        { "{'required':['a\\u0000b']}", "{'a':1}", false },
    };

    CHECK_ROWS(rows, 0);
}

TEST(schema_reads_older_drafts_by_their_rules)
{
    static const struct row rows[] = {
        { "{'$schema':'http://json-schema.org/draft-07/schema#','items':[{'type':'string'}],"
          "'additionalItems':{'type':'null'}}",
          "['a',null]", true },
        { "{'$schema':'http://json-schema.org/draft-07/schema#','items':[{'type':'string'}],"
          "'additionalItems':{'type':'null'}}",
          "['a',1]", false },
        { "{'$schema':'http://json-schema.org/draft-07/schema#','items':{'type':'string'},"
          "'additionalItems':false}",
          "['a','b']", true },
        { "{'$schema':'http://json-schema.org/draft-07/schema#','prefixItems':[{'type':'string'}]}",
          "[1]", true },
        { "{'$schema':'http://json-schema.org/draft-07/schema#','dependentRequired':{'a':['b']}}",
          "{'a':1}", true },
        { "{'$schema':'http://json-schema.org/draft-07/schema#','definitions':{'s':{'$id':'http://"
          "x/s',"
          "'type':'string'}},'properties':{'a':{'$ref':'http://x/s','maxLength':1}}}",
          "{'a':'long'}", true },
        { "{'$schema':'http://json-schema.org/draft-06/"
          "schema#','$ref':'#s','definitions':{'x':{'$id':"
          "'#s','type':'string'}}}",
          "1", false },
        { "{'$schema':'https://json-schema.org/draft/2019-09/schema','items':[{'type':'string'}],"
          "'unevaluatedItems':false}",
          "['a',1]", false },
        { "{'$schema':'https://json-schema.org/draft/2019-09/"
          "schema','dependentRequired':{'a':['b']}}",
          "{'a':1}", false },
        { "{'$schema':'https://json-schema.org/draft/2019-09/schema','contains':{'const':1},"
          "'unevaluatedItems':false}",
          "[1]", false },
        { "{'$schema':'https://json-schema.org/draft/2019-09/"
          "schema','prefixItems':[{'type':'string'}]}",
          "[1]", true },
        /* An embedded resource with a draft of its own. */
        { "{'$ref':'http://x/old','$defs':{'o':{'$id':'http://x/old','$schema':"
          "'http://json-schema.org/draft-07/schema#','prefixItems':[{'type':'string'}]}}}",
          "[1]", true },
    };
    static const char *const refused[] = {
        "{'$schema':'https://json-schema.org/draft/2019-09/schema','$recursiveRef':'#'}",
        "{'$schema':'http://json-schema.org/draft-04/schema#','maximum':1,'exclusiveMaximum':true}",
    };

    CHECK_ROWS(rows, 0);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        AUTO_JSON doc = parse(t, refused[i]);
        AUTO(schema) schema = NULL;

        ASSERT_FAILS(schema_compile(NULL, doc, STR(""), 0, &schema, &t->err), ERR_BAD_REQUEST);
    }
}

TEST(schema_identifiers_resolve_against_the_nearest_resource)
{
    static const struct row rows[] = {
        /* An empty fragment says nothing. */
        { "{'$id':'http://x/a#','$ref':'http://x/a#/$defs/s','$defs':{'s':{'type':'string'}}}", "1",
          false },
        { "{'$id':'http://x/a','$ref':'http://x/a#','maximum':1}", "2", false },
        /* Each $id is the base of what is below it. */
        { "{'$id':'http://x/d/root','$ref':'sub/in','$defs':{'i':{'$id':'sub/in','$ref':'deep',"
          "'$defs':{'j':{'$id':'deep','type':'null'}}}}}",
          "1", false },
        { "{'$id':'http://x/d/root','$ref':'sub/in','$defs':{'i':{'$id':'sub/in','$ref':"
          "'http://x/d/sub/deep','$defs':{'j':{'$id':'deep','type':'null'}}}}}",
          "1", false },
        { "{'$id':'http://x/d/','$ref':'e/','$defs':{'i':{'$id':'e/','$ref':'../f','$defs':{'j':{"
          "'$id':'../f','type':'null'}}}}}",
          "1", false },
        { "{'$id':'http://x/a?v=1','$ref':'?v=1#/$defs/s','$defs':{'s':{'type':'string'}}}", "1",
          false },
        { "{'$id':'http://x/a','$ref':'//y/b','$defs':{'s':{'$id':'http://y/b','type':'null'}}}",
          "1", false },
        { "{'$id':'urn:example:a','$ref':'urn:example:a#q','$defs':{'a':{'$anchor':'q','type':"
          "'null'}}}",
          "1", false },
        { "{'$id':'tag:x,2026:a','$ref':'tag:x,2026:b','$defs':{'a':{'$id':'tag:x,2026:b','type':"
          "'null'}}}",
          "1", false },
        { "{'$ref':'child','$defs':{'a':{'$id':'child','type':'null'}}}", "1", false },
        /* # is the embedded resource, not the document. */
        { "{'$id':'http://x/o','properties':{'in':{'$id':'i','properties':{'n':{'$ref':'#'}},"
          "'additionalProperties':false}}}",
          "{'in':{'n':{'n':{}}},'more':1}", true },
        { "{'$id':'http://x/o','properties':{'in':{'$id':'i','properties':{'n':{'$ref':'#'}},"
          "'additionalProperties':false}}}",
          "{'in':{'n':{'more':1}}}", false },
        { "{'$id':'http://x/o','$defs':{'s':{'type':'null'}},'properties':{'in':{'$id':'i','$defs':"
          "{'s':{'type':'string'}},'$ref':'#/$defs/s'}}}",
          "{'in':'text'}", true },
        /* Names may be percent-encoded, and a dynamic anchor is an ordinary one too. */
        { "{'$ref':'#%66oo','$defs':{'a':{'$anchor':'foo','type':'null'}}}", "1", false },
        { "{'$ref':'#foo','$defs':{'a':{'$dynamicAnchor':'foo','type':'null'}}}", "1", false },
        { "{'$ref':'#/%24defs/a%2Fb%7E0','$defs':{'a':{'b~':{'type':'null'}}}}", "1", false },
        { "{'$ref':'#/%24defs/a~1b','$defs':{'a/b':{'type':'null'}}}", "1", false },
        { "{'$ref':'#/$defs/%C3%A9','$defs':{'\xc3\xa9':{'type':'null'}}}", "1", false },
        { "{'$anchor':'a','$dynamicAnchor':'b','allOf':[{'properties':{'x':{'$ref':'#a'},'y':{"
          "'$ref':'#b'}}}],'type':'object'}",
          "{'x':{'y':1}}", false },
        /* Below `not`, `if` and contentSchema, which hold schemas as well. */
        { "{'$ref':'#a','not':{'not':{'if':{'$anchor':'a','type':'null'}}}}", "1", false },
        { "{'$ref':'#a','contentSchema':{'$anchor':'a','type':'null'}}", "1", false },
        /* then and else without if apply to nothing, but may be referred to. */
        { "{'then':false,'else':false}", "1", true },
        { "{'$ref':'#/then','then':{'type':'null'}}", "1", false },
        /* Both kinds of reference at once, and in a reference's target. */
        { "{'$ref':'#/$defs/a','$dynamicRef':'#/$defs/b','$defs':{'a':{'minimum':2},'b':{'maximum':"
          "4}}}",
          "5", false },
        { "{'$ref':'#/$defs/a','$dynamicRef':'#/$defs/b','$defs':{'a':{'minimum':2},'b':{'maximum':"
          "4}}}",
          "1", false },
        { "{'$ref':'#/$defs/t','$defs':{'t':true,'f':false}}", "1", true },
        { "{'$dynamicRef':'#/$defs/f','$defs':{'t':true,'f':false}}", "1", false },
    };

    CHECK_ROWS(rows, 0);
}

TEST(schema_dynamic_scope_is_the_way_that_was_taken)
{
    static const struct row rows[] = {
        /* The name may be percent-encoded here too. */
        { "{'$id':'http://x/r','$ref':'list','$defs':{'s':{'$dynamicAnchor':'T','type':'string'},"
          "'list':{'$id':'list','items':{'$dynamicRef':'#%54'},'$defs':{'d':{'$dynamicAnchor':'T'}}"
          "}}}",
          "[1]", false },
        /* By way of another resource's name. */
        { "{'$id':'http://x/r','$ref':'list','$defs':{'s':{'$dynamicAnchor':'T','type':'string'},"
          "'list':{'$id':'list','items':{'$dynamicRef':'list#T'},'$defs':{'d':{'$dynamicAnchor':'T'"
          "}}}}}",
          "[1]", false },
        /* Entered directly, the resource around an embedded one is not on the way. */
        { "{'$id':'http://x/r','$ref':'in','$defs':{'out':{'$id':'out','$defs':{'s':{"
          "'$dynamicAnchor':'T','type':'string'},'in':{'$id':'in','items':{'$dynamicRef':'#T'},"
          "'$defs':{'d':{'$dynamicAnchor':'T'}}}}}}}",
          "[1]", true },
        { "{'$id':'http://x/r','$ref':'out','$defs':{'out':{'$id':'out','$ref':'in','$defs':{'s':{"
          "'$dynamicAnchor':'T','type':'string'},'in':{'$id':'in','items':{'$dynamicRef':'#T'},"
          "'$defs':{'d':{'$dynamicAnchor':'T'}}}}}}}",
          "[1]", false },
        /* A pointer into a resource enters it. */
        { "{'$id':'http://x/r','$ref':'out#/$defs/go','$defs':{'out':{'$id':'out','$defs':{'go':{"
          "'$ref':'in'},'s':{'$dynamicAnchor':'T','type':'string'},'in':{'$id':'in','items':{"
          "'$dynamicRef':'#T'},'$defs':{'d':{'$dynamicAnchor':'T'}}}}}}}",
          "[1]", false },
        /* Two ways to one list: numbers by the one, strings by the other. */
        { "{'$id':'http://x/r','properties':{'n':{'$ref':'nums'},'s':{'$ref':'strs'}},'$defs':{"
          "'nums':{'$id':'nums','$ref':'list','$defs':{'t':{'$dynamicAnchor':'T','type':'number'}}}"
          ","
          "'strs':{'$id':'strs','$ref':'list','$defs':{'t':{'$dynamicAnchor':'T','type':'string'}}}"
          ","
          "'list':{'$id':'list','items':{'$dynamicRef':'#T'},'$defs':{'d':{'$dynamicAnchor':'T'}}}}"
          "}",
          "{'n':[1,2],'s':['a']}", true },
        { "{'$id':'http://x/r','properties':{'n':{'$ref':'nums'},'s':{'$ref':'strs'}},'$defs':{"
          "'nums':{'$id':'nums','$ref':'list','$defs':{'t':{'$dynamicAnchor':'T','type':'number'}}}"
          ","
          "'strs':{'$id':'strs','$ref':'list','$defs':{'t':{'$dynamicAnchor':'T','type':'string'}}}"
          ","
          "'list':{'$id':'list','items':{'$dynamicRef':'#T'},'$defs':{'d':{'$dynamicAnchor':'T'}}}}"
          "}",
          "{'n':[1,2],'s':[1]}", false },
        /* What it evaluates counts for the one who asked. */
        { "{'$id':'http://x/r','$ref':'base','unevaluatedProperties':false,'$defs':{'t':{"
          "'$dynamicAnchor':'T','properties':{'a':true}},'base':{'$id':'base','$dynamicRef':'#T',"
          "'properties':{'b':true},'$defs':{'d':{'$dynamicAnchor':'T','properties':{'c':true}}}}}}",
          "{'a':1,'b':2}", true },
        { "{'$id':'http://x/r','$ref':'base','unevaluatedProperties':false,'$defs':{'t':{"
          "'$dynamicAnchor':'T','properties':{'a':true}},'base':{'$id':'base','$dynamicRef':'#T',"
          "'properties':{'b':true},'$defs':{'d':{'$dynamicAnchor':'T','properties':{'c':true}}}}}}",
          "{'c':1}", false },
    };

    CHECK_ROWS(rows, 0);
}

/* One keyword each that evaluates 'a' of {'a':1,'b':2}, or the first item of [1,2]. */
TEST(schema_unevaluated_knows_every_keyword_that_applies_in_place)
{
    static const char *const a[] = {
        "'properties':{'a':true}",
        "'patternProperties':{'^a':true}",
        "'allOf':[{'properties':{'a':true}}]",
        "'anyOf':[{'properties':{'a':true}},false]",
        "'oneOf':[{'properties':{'a':true}},false]",
        "'if':{'properties':{'a':true}},'else':{'properties':{'b':true}}",
        "'if':false,'else':{'properties':{'a':true}},'then':{'properties':{'b':true}}",
        "'if':true,'then':{'properties':{'a':true}},'else':{'properties':{'b':true}}",
        "'dependentSchemas':{'a':{'properties':{'a':true}},'c':{'properties':{'b':true}}}",
        "'$ref':'#/$defs/a','$defs':{'a':{'properties':{'a':true}}}",
        "'$dynamicRef':'#a','$defs':{'a':{'$dynamicAnchor':'a','properties':{'a':true}}}",
        "'allOf':[{'allOf':[{'if':{'properties':{'a':true}}}]}]",
        "'allOf':[{'properties':{'a':true}},{'not':{'required':['z'],'properties':{'b':true}}}]",
        "'properties':{'a':true,'c':{'properties':{'b':true}}}",
    };
    static const char *const first[] = {
        "'prefixItems':[true]",
        "'contains':{'const':1}",
        "'allOf':[{'contains':{'const':1}}]",
        "'anyOf':[{'prefixItems':[true]},{'contains':{'const':3}}]",
        "'oneOf':[{'prefixItems':[{'type':'null'}]},{'prefixItems':[true]}]",
        "'if':{'prefixItems':[true]},'else':{'items':true}",
        "'$ref':'#/$defs/a','$defs':{'a':{'prefixItems':[true]}}",
        "'prefixItems':[{'unevaluatedItems':true}]",
        "'contains':{'const':1},'minContains':0,'maxContains':1",
    };

    for (size_t i = 0; i < ARRAY_LEN(a); i++) {
        const struct row rows[] = {
            { arena_printf(&t->arena, "{%s,'unevaluatedProperties':false}", a[i]), "{'a':1}",
              true },
            { arena_printf(&t->arena, "{%s,'unevaluatedProperties':false}", a[i]), "{'a':1,'b':2}",
              false },
            { arena_printf(&t->arena, "{%s,'unevaluatedProperties':{'const':2}}", a[i]),
              "{'a':1,'b':2}", true },
            { arena_printf(&t->arena, "{'allOf':[{%s}],'unevaluatedProperties':false}",
                           "'unevaluatedProperties':true"),
              "{'a':1,'b':2}", true },
        };

        CHECK_ROWS(rows, 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(first); i++) {
        const struct row rows[] = {
            { arena_printf(&t->arena, "{%s,'unevaluatedItems':false}", first[i]), "[1]", true },
            { arena_printf(&t->arena, "{%s,'unevaluatedItems':false}", first[i]), "[1,2]", false },
            { arena_printf(&t->arena, "{%s,'unevaluatedItems':{'const':2}}", first[i]), "[1,2]",
              true },
        };

        CHECK_ROWS(rows, 0);
    }
}

TEST(schema_types_of_values_decide_which_keywords_look)
{
    static const char *const schemas[] = {
        "{'maximum':0,'exclusiveMaximum':0,'minimum':9,'exclusiveMinimum':9,'multipleOf':7}",
        "{'minLength':9,'maxLength':0,'pattern':'^x$'}",
        "{'minItems':9,'maxItems':0,'items':false,'prefixItems':[false],'contains':false,"
        "'uniqueItems':true,'unevaluatedItems':false}",
        "{'minProperties':9,'maxProperties':0,'required':['x'],'properties':{'a':false},"
        "'patternProperties':{'':false},'additionalProperties':false,'propertyNames':false,"
        "'dependentRequired':{'a':['x']},'dependentSchemas':{'a':false},"
        "'unevaluatedProperties':false}",
    };
    static const char *const values[] = { "1", "'a'", "[2,2]", "{'a':1}", "null", "true" };

    for (size_t i = 0; i < ARRAY_LEN(schemas); i++) {
        AUTO(schema) schema = compile(t, schemas[i], 0);

        for (size_t j = 0; j < ARRAY_LEN(values); j++)
            if (is_valid(t, schema, values[j]) != (i != j))
                FAIL("%s with %s", schemas[i], values[j]);
    }
}

TEST(schema_names_of_properties_are_checked_as_strings)
{
    static const struct row rows[] = {
        { "{'propertyNames':{'maxLength':1}}", "{'ab':1}", false },
        { "{'propertyNames':{'type':'integer'}}", "{'1':1}", false },
        { "{'propertyNames':{'enum':['a']}}", "{'a':1}", true },
        { "{'propertyNames':{'const':'a'}}", "{'a':1,'b':1}", false },
        { "{'propertyNames':true}", "{'a':1}", true },
        { "{'propertyNames':false}", "{}", true },
        { "{'propertyNames':{'pattern':'^.$'}}", "{'\xf0\x9f\x98\x80':1}", true },
        /* It evaluates names, not what they stand for. */
        { "{'propertyNames':true,'unevaluatedProperties':false}", "{'a':1}", false },
        { "{'patternProperties':{'^a':{'type':'null'},'b$':{'type':'string'}}}", "{'ab':null}",
          false },
        { "{'properties':{'a':true},'patternProperties':{'a':false}}", "{'a':1}", false },
        { "{'properties':{'a':false},'additionalProperties':true}", "{'a':1}", false },
        { "{'patternProperties':{'a':true},'additionalProperties':false}", "{'xax':1}", true },
        { "{'allOf':[{'properties':{'a':true}}],'additionalProperties':false}", "{'a':1}", false },
    };

    CHECK_ROWS(rows, 0);
}

TEST(schema_draft_of_a_meta_schema_is_that_of_its_own)
{
    AUTO(schema_registry) registry = schema_registry_new();
    static const struct {
        const char *schema, *value;
        bool valid;
    } rows[] = {
        /* items as a list is of draft 7 and before; $ref stands alone there. */
        { "{'$schema':'http://x/seven','items':[{'type':'string'}]}", "[1]", false },
        { "{'$schema':'http://x/seven#','definitions':{'a':{}},'$ref':'#/definitions/a','type':"
          "'null'}",
          "1", true },
        { "{'$schema':'http://x/twice','items':[{'type':'string'}]}", "[1]", false },
        { "{'$schema':'http://x/self','prefixItems':[{'type':'string'}]}", "[1]", false },
        { "{'$schema':'https://json-schema.org/draft-07/schema#','items':[{'type':'string'}]}",
          "[1]", false },
        { "{'$schema':'http://json-schema.org/draft/2020-12/schema','prefixItems':[{'type':"
          "'string'}]}",
          "[1]", false },
        /* Keywords that a draft does not have say nothing. */
        { "{'$schema':'http://json-schema.org/draft-06/schema#','if':true,'then':false}", "1",
          true },
        { "{'$schema':'http://json-schema.org/draft-04/schema#','const':2,'contains':false,"
          "'propertyNames':false}",
          "[1]", true },
        { "{'$schema':'http://json-schema.org/draft-07/schema#','unevaluatedItems':false,"
          "'dependentSchemas':{'a':false},'$dynamicRef':'#nowhere'}",
          "[1]", true },
        /* A 2020-12 resource inside a document of draft 7. */
        { "{'$schema':'http://json-schema.org/draft-07/schema#','properties':{'a':{'$id':"
          "'http://x/new','$schema':'https://json-schema.org/draft/2020-12/schema','prefixItems':["
          "{'type':'string'}]}}}",
          "{'a':[1]}", false },
    };

    add_document(t, registry, "http://x/seven",
                 "{'$schema':'http://json-schema.org/draft-07/schema#','$vocabulary':{'x':true}}");
    add_document(t, registry, "http://x/twice", "{'$schema':'http://x/seven'}");
    add_document(t, registry, "http://x/self", "{'$schema':'http://x/self'}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_JSON doc = parse(t, rows[i].schema);
        AUTO(schema) schema = NULL;

        ASSERT_OK(schema_compile(registry, doc, STR(""), 0, &schema, &t->err));
        if (is_valid(t, schema, rows[i].value) != rows[i].valid)
            FAIL("%s with %s", rows[i].schema, rows[i].value);
    }
}

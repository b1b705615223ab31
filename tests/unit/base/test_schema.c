/* JSON Schema beyond the public suite: keywords in combination, references, errors, limits.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/schema.h"

#include <stdio.h>

#include "base/json.h"
#include "base/json_write.h"
#include "harness/test.h"

/* Single quotes stand for double ones here, for the reader's sake. */
static struct json_object *parse(struct test *t, const char *quoted)
{
    struct json_object *value = NULL;
    char *text = arena_text(&t->arena, quoted);

    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';

    t->err = ERR_INIT;
    if (json_parse_flags(str_from(text), JSON_BIG_INTEGERS, &value, &t->err) < 0)
        FAIL("%s: %s", text, test_err_text(t));
    return value;
}

static struct schema *compile(struct test *t, const char *text, unsigned flags)
{
    AUTO_JSON doc = parse(t, text);
    struct schema *schema = NULL;

    if (schema_compile(NULL, doc, STR(""), flags, &schema, &t->err) < 0)
        FAIL("%s: %s", text, test_err_text(t));
    return schema;
}

static bool is_valid(struct test *t, const struct schema *schema, const char *text)
{
    AUTO_JSON instance = parse(t, text);
    int r = schema_validate(schema, instance, NULL, &t->err);

    if (r < 0 && t->err.code != ERR_SCHEMA_VIOLATION)
        FAIL("%s: %s", text, test_err_text(t));
    return r == 0;
}

struct row {
    const char *schema, *instance;
    bool valid;
};

static void check_rows(struct test *t, const struct row *rows, size_t n, unsigned flags)
{
    for (size_t i = 0; i < n; i++) {
        AUTO(schema) schema = compile(t, rows[i].schema, flags);

        if (is_valid(t, schema, rows[i].instance) != rows[i].valid)
            FAIL("%s with %s: expected %s", rows[i].schema, rows[i].instance,
                 rows[i].valid ? "valid" : "invalid");
    }
}
#define CHECK_ROWS(rows, flags) check_rows(t, (rows), ARRAY_LEN(rows), (flags))

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

TEST(schema_format_is_an_annotation_unless_asserted)
{
    static const struct row annotation[] = {
        { "{'format':'date'}", "'nonsense'", true },
        { "{'contentEncoding':'base64','contentMediaType':'application/"
          "json','contentSchema':false}",
          "'not base64'", true },
    };
    static const struct row asserted[] = {
        { "{'format':'date'}", "'nonsense'", false },
        { "{'format':'date'}", "7", true },
        { "{'format':'no-such-format'}", "'x'", true },
        { "{'format':'hostname'}", "'-bad-'", true },
    };

    CHECK_ROWS(annotation, 0);
    CHECK_ROWS(asserted, SCHEMA_ASSERT_FORMAT);
}

TEST(schema_formats_follow_their_rfcs)
{
    static const struct {
        const char *format, *text;
        bool valid;
    } cases[] = {
        { "date", "2024-02-29", true },
        { "date", "2023-02-29", false },
        { "date", "1900-02-29", false },
        { "date", "2000-02-29", true },
        { "date", "2026-13-01", false },
        { "date", "2026-04-31", false },
        { "date", "2026-1-1", false },
        { "date", "2026-01-01 ", false },
        { "date", "1963-06-1\xe0\xa7\xaa", false },
        { "time", "08:30:06Z", true },
        { "time", "08:30:06z", true },
        { "time", "08:30:06", false },
        { "time", "24:00:00Z", false },
        { "time", "23:59:60Z", true },
        { "time", "22:59:60Z", false },
        { "time", "23:58:60Z", false },
        { "time", "01:29:60+01:30", true },
        { "time", "23:29:60+23:30", true },
        { "time", "15:59:60-08:00", true },
        { "time", "00:29:60-23:30", true },
        { "time", "23:59:60+01:00", false },
        { "time", "12:00:00.52Z", true },
        { "time", "12:00:00.Z", false },
        { "time", "12:00:00+24:00", false },
        { "time", "12:00:00+00:60", false },
        { "time", "12:00:00-00:00", true },
        { "time", "12:00:00+0000", false },
        { "date-time", "1963-06-19T08:30:06.283185Z", true },
        { "date-time", "1963-06-19t08:30:06z", true },
        { "date-time", "1998-12-31T15:59:60.123-08:00", true },
        { "date-time", "1998-12-31T23:58:60Z", false },
        { "date-time", "1963-06-19 08:30:06Z", false },
        { "date-time", "1963-06-19T08:30:06", false },
        { "date-time", "2013-350T01:01:01Z", false },
        { "duration", "P4DT12H30M5S", true },
        { "duration", "P1Y2M3D", true },
        { "duration", "PT36H", true },
        { "duration", "P2W", true },
        { "duration", "P2W1D", false },
        { "duration", "P", false },
        { "duration", "PT", false },
        { "duration", "P1YT", false },
        { "duration", "P1D2H", false },
        { "duration", "P1", false },
        { "duration", "4DT12H", false },
        { "duration", "PT0.5S", false },
        { "email", "joe.bloggs@example.com", true },
        { "email", "te~st+x@localhost", true },
        { "email", "\"joe bloggs\"@example.com", true },
        { "email", "\"joe@bloggs\"@example.com", true },
        { "email", "joe@[127.0.0.1]", true },
        { "email", "joe@[IPv6:::1]", true },
        { "email", "joe@[127.0.0.300]", false },
        { "email", ".a@example.com", false },
        { "email", "a.@example.com", false },
        { "email", "a..b@example.com", false },
        { "email", "a@b@example.com", false },
        { "email", "a@-example.com", false },
        { "email", "a@exam=ple.com", false },
        { "email", "a@", false },
        { "email", "@b", false },
        { "email", "nothing", false },
        { "email", "\"a\"b\"@example.com", false },
        { "uuid", "2EB8AA08-aa98-11ea-b4aa-73b441d16380", true },
        { "uuid", "2eb8aa08aa9811eab4aa73b441d16380", false },
        { "uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d1638", false },
        { "uuid", "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380", false },
        { "uuid", "{2eb8aa08-aa98-11ea-b4aa-73b441d1638}", false },
        { "ipv4", "192.168.0.1", true },
        { "ipv4", "0.0.0.0", true },
        { "ipv4", "256.0.0.1", false },
        { "ipv4", "1.2.3", false },
        { "ipv4", "1.2.3.4.5", false },
        { "ipv4", "01.2.3.4", false },
        { "ipv4", "0x7f.0.0.1", false },
        { "ipv4", "1.2.3.4/24", false },
        { "ipv4", "1.2.3.", false },
        { "ipv6", "::", true },
        { "ipv6", "::1", true },
        { "ipv6", "1:2:3:4:5:6:7:8", true },
        { "ipv6", "1:2:3:4:5:6::8", true },
        { "ipv6", "::ffff:192.168.0.1", true },
        { "ipv6", "1:2:3:4:5:6:1.2.3.4", true },
        { "ipv6", "12345::", false },
        { "ipv6", "1:2:3:4:5:6:7:8:9", false },
        { "ipv6", "1::2::3", false },
        { "ipv6", ":1:2:3:4:5:6:7", false },
        { "ipv6", "1:2:3:4:5:6:7:", false },
        { "ipv6", "1:2:3:4:5:6:7", false },
        { "ipv6", "::1.2.3.4:5", false },
        { "ipv6", "::192.168.0.256", false },
        { "ipv6", "fe80::a%eth1", false },
        { "ipv6", "::g", false },
        { "ipv6", "", false },
        { "json-pointer", "", true },
        { "json-pointer", "/a~0b~1c/0", true },
        { "json-pointer", "/a~2", false },
        { "json-pointer", "a", false },
        { "relative-json-pointer", "1/a", true },
        { "relative-json-pointer", "0#", true },
        { "relative-json-pointer", "01/a", false },
        { "relative-json-pointer", "/a", false },
        { "relative-json-pointer", "0##", false },
        { "regex", "^a+$", true },
        { "regex", "^(abc]", false },
        { "regex", "\\a", false },
        { "uri", "http://foo.bar/?q=Test%20URL-encoded%20stuff#x", true },
        { "uri", "urn:oasis:names:specification:docbook:dtd:xml:4.1.2", true },
        { "uri", "/abc", false },
        { "uri", "http:// no", false },
        { "uri-reference", "/abc", true },
        { "uri-reference", "\\\\WINDOWS\\share", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON text = json_object_new_string(cases[i].text);
        AUTO(schema)
        schema = compile(t, arena_printf(&t->arena, "{'format':'%s'}", cases[i].format),
                         SCHEMA_ASSERT_FORMAT);
        int r = schema_validate(schema, text, NULL, &t->err);

        if ((r == 0) != cases[i].valid)
            FAIL("%s: \"%s\" should be %s", cases[i].format, cases[i].text,
                 cases[i].valid ? "valid" : "invalid");
    }
}

static void add(struct test *t, struct schema_registry *registry, const char *uri, const char *text)
{
    AUTO_JSON doc = parse(t, text);

    ASSERT_OK(schema_registry_add(registry, str_from(uri), doc, &t->err));
}

TEST(schema_finds_remote_documents_in_the_registry_only)
{
    AUTO(schema_registry) registry = schema_registry_new();
    AUTO(schema) schema = NULL;
    AUTO_JSON doc =
        parse(t, "{'$id':'http://x/dir/root.json','properties':{'a':{'$ref':'int.json'},"
                 "'b':{'$ref':'/other#pos'}}}");

    add(t, registry, "http://x/dir/int.json", "{'type':'integer'}");
    add(t, registry, "http://x/file",
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

    add(t, registry, "http://x/meta",
        "{'$vocabulary':{'https://json-schema.org/draft/2020-12/vocab/core':true,"
        "'https://json-schema.org/draft/2020-12/vocab/applicator':true,"
        "'https://json-schema.org/draft/2020-12/vocab/format-assertion':false,"
        "'http://x/vocab/unknown':false}}");
    add(t, registry, "http://x/strange", "{'$vocabulary':{'http://x/vocab/unknown':true}}");
    ASSERT_OK(schema_compile(registry, doc, STR(""), 0, &schema, &t->err));
    ASSERT(is_valid(t, schema, "{'a':1}"));
    ASSERT(!is_valid(t, schema, "{'a':'x'}"));
    ASSERT(!is_valid(t, schema, "{'b':1}"));
    ASSERT_FAILS(schema_compile(registry, unknown, STR(""), 0, &schema, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(t->err.text, "needs the vocabulary http://x/vocab/unknown");
    ASSERT_FAILS(schema_compile(registry, nowhere, STR(""), 0, &schema, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(t->err.text, "http://x/nowhere");
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

TEST(schema_registry_prefers_where_a_document_lies)
{
    AUTO(schema_registry) registry = schema_registry_new();
    AUTO(schema) schema = NULL;
    AUTO_JSON doc =
        parse(t, "{'properties':{'a':{'$ref':'http://x/two'},'b':{'$ref':'http://x/id'}}}");
    AUTO_JSON other = parse(t, "{}");

    add(t, registry, "http://x/one",
        "{'$id':'http://x/id','type':'null','$defs':{'y':{'$id':"
        "'http://x/two','type':'null'}}}");
    add(t, registry, "http://x/two", "{'$id':'http://x/id','type':'string'}");
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

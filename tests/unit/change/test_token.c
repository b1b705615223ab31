/* Tokens: three classes, two texts, one list.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "change/token.h"
#include "harness/test.h"

static struct token key(const char *value)
{
    return (struct token){ TOKEN_SEMANTIC_KEY, STR_NONE, str_from(value) };
}

static struct token id(const char *value)
{
    return (struct token){ TOKEN_ENTITY_ID, STR_NONE, str_from(value) };
}

static struct token sub(const char *name_space, const char *value)
{
    return (struct token){ TOKEN_SUBTYPE, str_from(name_space), str_from(value) };
}

static const char *repeated(struct test *t, char c, size_t n)
{
    char *text = ARENA_NEW_N(&t->arena, char, n + 1);

    memset(text, c, n);
    return text;
}

TEST(classes_have_the_names_of_the_contract)
{
    ASSERT_TEXT(token_class_name(TOKEN_SEMANTIC_KEY), "semanticKey");
    ASSERT_TEXT(token_class_name(TOKEN_SUBTYPE), "subtypeToken");
    ASSERT_TEXT(token_class_name(TOKEN_ENTITY_ID), "entityId");
    ASSERT_EQ(token_class_of(STR("subtypeToken")), TOKEN_SUBTYPE);
    ASSERT_EQ(token_class_of(STR("none")), TOKEN_CLASS_NONE);
    ASSERT_EQ(token_class_of(STR("SemanticKey")), TOKEN_CLASS_NONE);
    ASSERT_EQ(token_class_of(STR_NONE), TOKEN_CLASS_NONE);
}

TEST(a_key_is_class_namespace_or_dash_and_value)
{
    struct token tokens[] = { key("TASK"), sub("workoutType", "running"), id("t-1") };
    static const char *const want[] = { "semanticKey|-|TASK", "subtypeToken|workoutType|running",
                                        "entityId|-|t-1" };

    for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
        AUTO_BUF out = BUF_INIT(200);

        ASSERT_OK(token_check(&tokens[i], &t->err));
        token_key(&tokens[i], &out);
        ASSERT_TEXT(buf_text(&out), want[i]);
    }
}

TEST(a_token_that_breaks_a_rule_is_refused)
{
    const char *longest = repeated(t, 'x', TOKEN_VALUE_MAX + 1);
    const char *wide = repeated(t, 'n', TOKEN_NAMESPACE_MAX + 1);
    const struct token bad[] = {
        { TOKEN_CLASS_NONE, STR_NONE, STR("x") },
        { (enum token_class)9, STR_NONE, STR("x") },
        key("task"),
        key("TASKS"),
        key(""),
        id(""),
        id("a|b"),
        id("a\nb"),
        id("a\x7f"),
        id("\xff"),
        id("\xe2\x80\xa8"), /* a line end that only some see */
        id(longest),
        sub("", "v"),
        sub("a b", "v"),
        sub("a:b", "v"),
        sub("a|b", "v"),
        sub("\xc3\xa4", "v"),
        sub(wide, "v"),
        sub("n", ""),
        { TOKEN_ENTITY_ID, STR("n"), STR("v") },
        { TOKEN_SEMANTIC_KEY, STR("n"), STR("TASK") },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ASSERT_FAILS(token_check(&bad[i], &t->err), ERR_BAD_REQUEST);
    ASSERT_OK(token_check(
        &(struct token){ TOKEN_SUBTYPE, str_from(wide + 1), str_from(longest + 1) }, &t->err));
}

TEST(a_wrong_semantic_key_is_answered_with_the_one_that_was_meant)
{
    struct token token = key("TAKS");

    ASSERT_FAILS(token_check(&token, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "\"TAKS\"; did you mean \"TASK\"?");
}

TEST(a_strange_semantic_key_is_answered_with_those_that_there_are)
{
    struct token token = key("BANANA");

    ASSERT_FAILS(token_check(&token, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "\"BANANA\"");
    ASSERT_CONTAINS(test_err_text(t), "TASK, CHECKLIST, TIME_ENTRY");
    ASSERT_CONTAINS(test_err_text(t), "WEBHOOK");
}

TEST(words_of_any_language_are_values)
{
    struct token tokens[] = { id("größe"), sub("workoutType", "走る"), id("a:b c\"d\\e") };

    for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
        ASSERT_OK(token_check(&tokens[i], &t->err));
}

/* ---- the former form ---- */

TEST(the_former_form_is_read_strictly)
{
    static const struct {
        const char *text;
        enum token_class class;
        const char *name_space, *value;
    } cases[] = {
        { "k:TASK", TOKEN_SEMANTIC_KEY, "", "TASK" },
        { "id:t-1", TOKEN_ENTITY_ID, "", "t-1" },
        { "id:a:b", TOKEN_ENTITY_ID, "", "a:b" },
        { "sub:workoutType:running", TOKEN_SUBTYPE, "workoutType", "running" },
        { "sub:n:a:b", TOKEN_SUBTYPE, "n", "a:b" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct token token;
        AUTO_BUF back = BUF_INIT(200);

        ASSERT_OK(token_parse_text(str_from(cases[i].text), &token, &t->err));
        ASSERT_EQ(token.class, cases[i].class);
        ASSERT_STR(token.name_space, cases[i].name_space);
        ASSERT_STR(token.value, cases[i].value);
        token_text(&token, &back);
        ASSERT_TEXT(buf_text(&back), cases[i].text);
    }
}

TEST(anything_else_of_the_former_form_is_refused_with_a_reason)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "no prefix" },
        { "TASK", "no prefix" },
        { "K:TASK", "no prefix" },
        { " k:TASK", "no prefix" },
        { "key:TASK", "no prefix" },
        { "k:", "1 to 200" },
        { "k:task", "no semantic key" },
        { "k:TASK ", "no semantic key" },
        { "id:", "1 to 200" },
        { "id:a|b", "without '|'" },
        { "sub:running", "a namespace and a value" },
        { "sub::running", "namespace" },
        { "sub:n:", "1 to 200" },
        { "sub:a b:c", "namespace" },
        { "id:\xff", "not UTF-8" },
    };
    struct token token = { .class = TOKEN_SUBTYPE };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_FAILS(token_parse_text(str_from(cases[i].text), &token, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), cases[i].says);
    }
    ASSERT_EQ(token.class, TOKEN_SUBTYPE);
}

/* ---- lists ---- */

TEST(a_list_is_sorted_and_names_each_token_once)
{
    struct token tokens[] = { key("TASK"), id("b"), sub("n", "v"),  id("a"),
                              key("TASK"), id("b"), sub("na", "v"), key("AGENT") };
    struct str json = tokens_json(tokens, ARRAY_LEN(tokens), &t->arena);

    ASSERT_STR(json, "[[\"entityId\",null,\"a\"],[\"entityId\",null,\"b\"],"
                     "[\"semanticKey\",null,\"AGENT\"],[\"semanticKey\",null,\"TASK\"],"
                     "[\"subtypeToken\",\"na\",\"v\"],[\"subtypeToken\",\"n\",\"v\"]]");
    ASSERT_STR(tokens_json(NULL, 0, &t->arena), "[]");
    ASSERT_STR(tokens[0].value, "TASK");
}

TEST(the_order_of_a_list_is_that_of_the_keys)
{
    static const char *const names[] = { "a", "ab", "a.b", "a-b", "b", "Z", "zz", "z" };

    for (uint64_t seed = 0; seed < 500; seed++) {
        struct token tokens[20];
        struct rand_fake rand;
        char last[300] = "";
        size_t n;

        rand_fake_init(&rand, seed);
        for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
            tokens[i] = rand_below(&rand.rand, 2) ? id(names[rand_below(&rand.rand, 8)])
                                                  : sub(names[rand_below(&rand.rand, 8)],
                                                        names[rand_below(&rand.rand, 8)]);
        n = tokens_unique(tokens, ARRAY_LEN(tokens));
        for (size_t i = 0; i < n; i++) {
            AUTO_BUF text = BUF_INIT(200);

            token_key(&tokens[i], &text);
            ASSERT(strcmp(last, buf_text(&text)) < 0);
            strcpy(last, buf_text(&text));
        }
    }
}

TEST(a_list_survives_being_written_and_read)
{
    struct token tokens[] = { key("NOTE"), id("a\"\\b"), sub("measurementType", "größe") }, *back;
    struct str json = tokens_json(tokens, ARRAY_LEN(tokens), &t->arena);
    size_t n;

    ASSERT_OK(tokens_parse(json, &t->arena, &back, &n, &t->err));
    ASSERT_EQ(n, 3);
    ASSERT(str_eq(tokens_json(back, n, &t->arena), json));
}

TEST(a_list_that_is_none_is_refused_and_says_which_item)
{
    static const struct {
        const char *json, *says;
    } cases[] = {
        { "", "tokens" },
        { "{}", "expected an array" },
        { "[1]", "item 0" },
        { "[[\"semanticKey\",null,\"TASK\"],[\"entityId\",null]]", "item 1" },
        { "[[\"entityId\",null,\"a\",1]]", "item 0" },
        { "[[null,null,\"a\"]]", "part 0 is null" },
        { "[[\"entityId\",null,7]]", "part 2 is integer" },
        { "[[\"entityId\",\"\",\"a\"]]", "empty namespace" },
        { "[[\"entity\",null,\"a\"]]", "the class must be" },
        { "[[\"subtypeToken\",null,\"a\"]]", "namespace" },
        { "[[\"semanticKey\",null,\"TASKS\"]]", "no semantic key" },
    };
    struct token *tokens = NULL;
    size_t n = 77;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_FAILS(tokens_parse(str_from(cases[i].json), &t->arena, &tokens, &n, &t->err),
                     ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), cases[i].says);
    }
    ASSERT_EQ(n, 77);
}

TEST(a_list_of_too_many_is_refused)
{
    AUTO_BUF json = BUF_INIT(4 << 20);
    struct token *tokens;
    size_t n;

    buf_add_char(&json, '[');
    for (int i = 0; i <= TOKENS_MAX; i++)
        buf_printf(&json, "%s[\"entityId\",null,\"%d\"]", i ? "," : "", i);
    buf_add_char(&json, ']');
    ASSERT_FAILS(tokens_parse(buf_str(&json), &t->arena, &tokens, &n, &t->err), ERR_TOO_LARGE);
}

TEST(the_longest_list_that_is_allowed_can_be_written)
{
    struct token *tokens = ARENA_NEW_N(&t->arena, struct token, TOKENS_MAX);
    char name[TOKEN_NAMESPACE_MAX + 1], value[TOKEN_VALUE_MAX + 1];

    memset(name, 'n', TOKEN_NAMESPACE_MAX);
    name[TOKEN_NAMESPACE_MAX] = 0;
    for (size_t i = 0; i < TOKENS_MAX; i++) {
        memset(value, '"', TOKEN_VALUE_MAX);
        value[snprintf(value, sizeof(value), "%zu", i)] = '"';
        value[TOKEN_VALUE_MAX] = 0;
        tokens[i] = sub(name, arena_text(&t->arena, value));
    }
    ASSERT(tokens_json(tokens, TOKENS_MAX, &t->arena).n > 10000000);
}

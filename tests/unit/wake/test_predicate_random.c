/* Predicates against a second, naive reading of the language: random trees are written as text in
 * random ways, and each must hold for a random record exactly when the tree does.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json_write.h"
#include "base/rand.h"
#include "harness/test.h"
#include "record_of.h"
#include "wake/predicate.h"

#define ROUNDS 20000

/* The fields that take part, each with values that meet each other often. */
enum kind { WORDS, NUMBERS, TEXTS, DAYS_, TRUTHS };
static const struct field {
    enum record_type type;
    const char *name;
    enum kind kind;
    const char *values[4]; /* as JSON */
} fields[] = {
    { RECORD_TASK, "status", WORDS, { "\"OPEN\"", "\"DONE\"", "\"BLOCKED\"" } },
    { RECORD_TASK, "estimateMinutes", NUMBERS, { "1", "15", "90", "100000" } },
    { RECORD_TASK, "categoryId", TEXTS, { "\"gym\"", "\"gym2\"", "\"home\"" } },
    { RECORD_TASK, "due", DAYS_, { "\"2026-11-30\"", "\"2026-12-01\"", "\"2027-01-01\"" } },
    { RECORD_ENTRY, "kind", WORDS, { "\"note\"", "\"workout\"" } },
    { RECORD_ENTRY, "value", NUMBERS, { "-1.5", "0", "70.5" } },
    { RECORD_ENTRY, "subtype", TEXTS, { "\"yoga\"", "\"yo\"", "\"run\"" } },
    { RECORD_CHECKLIST_ITEM, "checked", TRUTHS, { "true", "false" } },
};
static const enum record_type types[] = { RECORD_TASK, RECORD_ENTRY, RECORD_CHECKLIST_ITEM };

struct tree {
    char op; /* & | ! or a comparison: = # < { > } n N i p */
    const struct tree *a, *b;
    const struct field *field;
    const char *literal[3];
    unsigned literals;
};

static const char *pick_value(struct rand *rand, const struct field *field)
{
    unsigned n = 0;

    while (n < ARRAY_LEN(field->values) && field->values[n])
        n++;
    return field->values[rand_below(rand, n)];
}

static const struct tree *random_tree(struct rand *rand, struct arena *arena, unsigned depth)
{
    static const char signs[][10] = { "=#iinN", "=#<{>}nN", "=#ipnN", "=#<{>}inN", "=#in" };
    struct tree *tree = ARENA_NEW(arena, struct tree);
    unsigned what = depth ? (unsigned)rand_below(rand, 8) : 7;

    if (what < 5) {
        tree->op = what < 2 ? '&' : what < 4 ? '|' : '!';
        tree->a = random_tree(rand, arena, depth - 1);
        tree->b = tree->op == '!' ? NULL : random_tree(rand, arena, depth - 1);
        return tree;
    }
    tree->field = &fields[rand_below(rand, ARRAY_LEN(fields))];
    tree->op = signs[tree->field->kind][rand_below(rand, strlen(signs[tree->field->kind]))];
    tree->literals = tree->op == 'i' ? 1 + (unsigned)rand_below(rand, 3) : 1;
    for (unsigned i = 0; i < tree->literals; i++)
        tree->literal[i] = pick_value(rand, tree->field);
    return tree;
}

/* ---- as text ---- */

static void space(struct rand *rand, struct buf *out)
{
    static const char *const some[] = { " ", "  ", "\t", "\n ", " " };

    buf_add_text(out, some[rand_below(rand, ARRAY_LEN(some))]);
}

static void write_comparison(struct rand *rand, const struct tree *tree, struct buf *out)
{
    static const char keys[] = "=#<{>}nNip";
    static const char *const signs[] = { "==", "!=", "<",  "<=", ">",
                                         ">=", "==", "!=", "in", "prefix" };

    buf_printf(out, "%s.%s", record_type_name(tree->field->type), tree->field->name);
    space(rand, out);
    buf_add_text(out, signs[strchr(keys, tree->op) - keys]);
    space(rand, out);
    if (tree->op == 'n' || tree->op == 'N') {
        buf_add_text(out, "null");
        return;
    }
    if (tree->op == 'i')
        buf_add_char(out, '[');
    for (unsigned i = 0; i < tree->literals; i++)
        buf_printf(out, "%s%s", i ? "," : "", tree->literal[i]);
    if (tree->op == 'i')
        buf_add_char(out, ']');
}

static int binds(char op)
{
    return op == '|' ? 0 : op == '&' ? 1 : 2;
}

static void write_tree(struct rand *rand, const struct tree *tree, int around, struct buf *out)
{
    bool parens = binds(tree->op) < around || rand_below(rand, 6) == 0;

    if (parens)
        buf_add_char(out, '(');
    if (tree->op == '!') {
        buf_add_text(out, "not ");
        write_tree(rand, tree->a, 2, out);
    } else if (tree->b) {
        write_tree(rand, tree->a, binds(tree->op), out);
        space(rand, out);
        buf_add_text(out, tree->op == '&' ? "and" : "or");
        space(rand, out);
        write_tree(rand, tree->b, binds(tree->op), out);
    } else {
        write_comparison(rand, tree, out);
    }
    if (parens)
        buf_add_char(out, ')');
}

/* ---- the naive reading: values are JSON text ---- */

/* given: what each field of `fields` holds, NULL for null. */
static int order_of(const struct field *field, const char *value, const char *literal)
{
    double a, b;

    if (field->kind != NUMBERS)
        return strcmp(value, literal);
    a = strtod(value, NULL);
    b = strtod(literal, NULL);
    return a < b ? -1 : a > b;
}

static bool is_true(const struct tree *tree, enum record_type type, const char *const *given)
{
    const char *value;
    int order;

    if (tree->op == '!')
        return !is_true(tree->a, type, given);
    if (tree->op == '&')
        return is_true(tree->a, type, given) && is_true(tree->b, type, given);
    if (tree->op == '|')
        return is_true(tree->a, type, given) || is_true(tree->b, type, given);
    if (tree->field->type != type)
        return false;
    value = given[tree->field - fields];
    if (tree->op == 'n' || tree->op == 'N')
        return (value == NULL) == (tree->op == 'n');
    if (!value)
        return false;
    if (tree->op == 'p') /* without the closing quote */
        return strncmp(value, tree->literal[0], strlen(tree->literal[0]) - 1) == 0;
    for (unsigned i = 0; i < tree->literals; i++) {
        order = order_of(tree->field, value, tree->literal[i]);
        if (tree->op == '=' || tree->op == 'i' ? order == 0
            : tree->op == '#'                  ? order != 0
            : tree->op == '<'                  ? order < 0
            : tree->op == '{'                  ? order <= 0
            : tree->op == '>'                  ? order > 0
                                               : order >= 0)
            return true;
    }
    return false;
}

/* ---- both ---- */

static struct record random_record(struct test *t, struct rand *rand, const char **given)
{
    AUTO_BUF text = BUF_INIT(1000);
    enum record_type type = types[rand_below(rand, ARRAY_LEN(types))];

    buf_add_char(&text, '{');
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        bool nullable = fields[i].kind != WORDS && fields[i].kind != TRUTHS;

        given[i] = NULL;
        if (fields[i].type != type || (nullable && rand_below(rand, 3) == 0))
            continue;
        given[i] = pick_value(rand, &fields[i]);
        buf_printf(&text, "%s\"%s\":%s", text.n > 1 ? "," : "", fields[i].name, given[i]);
    }
    buf_add_char(&text, '}');
    return record_of(t, type, buf_text(&text));
}

TEST(random_predicates_hold_when_a_naive_reading_says_so, .timeout_s = 120)
{
    struct rand_fake rand;
    unsigned yes = 0;

    rand_fake_init(&rand, 20261116);
    for (int i = 0; i < ROUNDS; i++) {
        AUTO_BUF text = BUF_INIT(PREDICATE_BYTES_MAX);
        AUTO(predicate) predicate = NULL;
        const char *given[ARRAY_LEN(fields)];
        const struct tree *tree = random_tree(&rand.rand, &t->arena, (unsigned)(i % 5));
        struct record record = random_record(t, &rand.rand, given);
        bool expected = is_true(tree, record.type, given);

        write_tree(&rand.rand, tree, 0, &text);
        if (predicate_parse(buf_str(&text), &predicate, &t->err) < 0)
            FAIL("%s: %s", buf_text(&text), test_err_text(t));
        if (predicate_matches(predicate, &record, STR_NONE) != expected)
            FAIL("round %d: %s should be %s", i, buf_text(&text), expected ? "true" : "false");
        yes += expected;
        arena_reset(&t->arena);
    }
    /* Both answers came up often, or this shows little. */
    ASSERT(yes > ROUNDS / 5 && yes < ROUNDS * 4 / 5);
}

/* Whatever is typed is refused or read; what is read can be asked. */
TEST(damaged_predicates_never_break_anything, .timeout_s = 120)
{
    static const char seed[] =
        "task.categoryId == \"gym\" and (task.priority <= 1 or not task.due < "
        "\"2026-12-01\") or entry.kind in [\"workout\", \"note\"]";
    static const char bytes[] = "()[]\"\\,.=<>! ntoaedi019\xc3";
    struct record task = record_of(t, RECORD_TASK, "{\"title\":\"x\",\"status\":\"OPEN\"}");
    struct rand_fake rand;
    unsigned read = 0;

    rand_fake_init(&rand, 7);
    for (int i = 0; i < ROUNDS; i++) {
        AUTO(predicate) predicate = NULL;
        char text[sizeof(seed)];
        unsigned times = 1 + (unsigned)rand_below(&rand.rand, 3);

        memcpy(text, seed, sizeof(seed));
        for (unsigned k = 0; k < times; k++)
            text[rand_below(&rand.rand, sizeof(seed) - 1)] =
                bytes[rand_below(&rand.rand, sizeof(bytes) - 1)];
        t->err = ERR_INIT;
        if (predicate_parse(str_of(text, sizeof(seed) - 1), &predicate, &t->err) < 0) {
            ASSERT_EQ(t->err.code, ERR_BAD_REQUEST);
            continue;
        }
        predicate_matches(predicate, &task, STR_NONE);
        read++;
    }
    ASSERT(read > 0);
}

/* Random expressions against values that are worked out while they are written, without a parser:
 * a chain of `or` holds if one of its parts does, and so on down to comparisons of literals and
 * facts, each judged here in the plainest way.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/expr.h"
#include "random_program.h"

#define EXPRESSIONS 20000

struct writer {
    struct dice dice;
    struct buf text;
    unsigned parts;
};

static void space(struct writer *w)
{
    static const char *const spaces[] = { " ", " ", "  ", "\t", "\n ", " \r\n" };

    buf_add_text(&w->text, spaces[dice_roll(&w->dice, 6)]);
}

static void word(struct writer *w, const char *text)
{
    space(w);
    buf_add_text(&w->text, text);
    space(w);
}

/* ---- comparisons ---- */

/* Short texts over two letters meet often. */
static const char *const texts[] = { "", "a", "b", "ab", "ba", "aab", "abab", "b-a" };
static const char *const numbers[] = { "-2", "-0.5", "0", "1", "1.5", "2e1" };
static const double values[] = { -2, -0.5, 0, 1, 1.5, 20 };

static bool naive_glob(const char *pattern, const char *text)
{
    if (!*pattern)
        return !*text;
    if (*pattern == '*')
        return naive_glob(pattern + 1, text) || (*text && naive_glob(pattern, text + 1));
    return *text && (*pattern == '?' || *pattern == *text) && naive_glob(pattern + 1, text + 1);
}

static void quoted(struct writer *w, const char *text)
{
    const char *quote = dice_roll(&w->dice, 2) ? "\"" : "'";

    buf_printf(&w->text, "%s%s%s", quote, text, quote);
}

/* A text as a literal, or as the argument that holds it: args.t has all of them in order. */
static const char *text_operand(struct writer *w)
{
    uint32_t which = dice_roll(&w->dice, BP_COUNT(texts));

    if (dice_roll(&w->dice, 2))
        quoted(w, texts[which]);
    else
        buf_printf(&w->text, "args.t[%u]", which);
    return texts[which];
}

static bool write_text_comparison(struct writer *w)
{
    static const char *const ops[] = { "==", "!=", "prefix", "suffix", "contains" };
    uint32_t op = dice_roll(&w->dice, 5);
    const char *a = text_operand(w), *b;
    size_t na = strlen(a), nb;

    word(w, ops[op]);
    b = text_operand(w);
    nb = strlen(b);
    switch (op) {
    case 0:
        return strcmp(a, b) == 0;
    case 1:
        return strcmp(a, b) != 0;
    case 2:
        return strncmp(a, b, nb) == 0;
    case 3:
        return na >= nb && strcmp(a + na - nb, b) == 0;
    default:
        return strstr(a, b) != NULL;
    }
}

static bool write_glob(struct writer *w)
{
    const char *a = text_operand(w);
    char pattern[6] = "";

    for (uint32_t i = 0, n = dice_roll(&w->dice, 6); i < n; i++)
        pattern[i] = "ab*?*"[dice_roll(&w->dice, 5)];
    word(w, "matches");
    quoted(w, pattern);
    return naive_glob(pattern, a);
}

static bool write_number_comparison(struct writer *w)
{
    static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=" };
    uint32_t op = dice_roll(&w->dice, 6), a = dice_roll(&w->dice, 6), b = dice_roll(&w->dice, 6);
    double x = values[a], y = values[b];
    bool results[] = { x == y, x != y, x<y, x <= y, x> y, x >= y };

    if (dice_roll(&w->dice, 2))
        buf_add_text(&w->text, numbers[a]);
    else
        buf_printf(&w->text, "args.n[%u]", a);
    word(w, ops[op]);
    buf_add_text(&w->text, numbers[b]);
    return results[op];
}

static bool write_list(struct writer *w)
{
    const char *a = text_operand(w);
    bool found = false;

    word(w, "in");
    buf_add_char(&w->text, '[');
    for (uint32_t i = 0, n = dice_roll(&w->dice, 4); i < n; i++) {
        const char *item = texts[dice_roll(&w->dice, BP_COUNT(texts))];

        buf_add_text(&w->text, i ? "," : "");
        space(w);
        quoted(w, item);
        found = found || strcmp(item, a) == 0;
    }
    buf_add_char(&w->text, ']');
    return found;
}

/* What is there and what is not, and comparisons across types, which are never true but for !=. */
static bool write_odd(struct writer *w)
{
    static const struct {
        const char *text;
        bool holds;
    } odd[] = {
        { "args.t exists", true },
        { "args.t[8] exists", false },
        { "args.n.x exists", false },
        { "args.none exists", true },
        { "args.none == null", true },
        { "args.t[0] == 0", false },
        { "args.n[2] == false", false },
        { "args.n[3] != '1'", true },
        { "'1' < 2", false },
        { "args.t contains 'ab'", true },
        { "args.n contains 'ab'", false },
        { "args.n contains 1.5", true },
        { "tool == agent", false },
        { "mode exists", false },
        { "true", true },
        { "false", false },
        { "true == true", true },
        { "null == null", true },
    };
    uint32_t which = dice_roll(&w->dice, BP_COUNT(odd));

    buf_add_text(&w->text, odd[which].text);
    return odd[which].holds;
}

/* ---- and, or, not ---- */

static bool write_or(struct writer *w, unsigned depth);

static bool write_not(struct writer *w, unsigned depth)
{
    static bool (*const atoms[])(struct writer *) = { write_text_comparison, write_glob,
                                                      write_number_comparison, write_list,
                                                      write_odd };
    bool holds;

    w->parts++;
    if (depth && dice_roll(&w->dice, 4) == 0) {
        word(w, "not");
        return !write_not(w, depth - 1);
    }
    if (depth && dice_roll(&w->dice, 3) == 0) {
        buf_add_char(&w->text, '(');
        holds = write_or(w, depth - 1);
        buf_add_char(&w->text, ')');
        return holds;
    }
    return atoms[dice_roll(&w->dice, BP_COUNT(atoms))](w);
}

static bool write_and(struct writer *w, unsigned depth)
{
    bool holds = write_not(w, depth);

    while (w->parts < 60 && dice_roll(&w->dice, 3) == 0) {
        word(w, "and");
        holds = write_not(w, depth) && holds;
    }
    return holds;
}

static bool write_or(struct writer *w, unsigned depth)
{
    bool holds = write_and(w, depth);

    while (w->parts < 60 && dice_roll(&w->dice, 3) == 0) {
        word(w, "or");
        holds = write_and(w, depth) || holds;
    }
    return holds;
}

static struct json_object *make_args(void)
{
    struct json_object *args = json_object_new_object(), *t = json_object_new_array(),
                       *n = json_object_new_array();

    for (unsigned i = 0; i < BP_COUNT(texts); i++)
        json_object_array_add(t, json_object_new_string(texts[i]));
    for (unsigned i = 0; i < BP_COUNT(values); i++)
        json_object_array_add(n, json_object_new_double(values[i]));
    json_object_object_add(args, "t", t);
    json_object_object_add(args, "n", n);
    json_object_object_add(args, "none", NULL);
    return args;
}

TEST(random_expressions_have_the_value_that_was_worked_out_while_writing_them)
{
    struct json_object *args = make_args();
    struct expr_facts facts = { STR("a"), STR("ab"), STR_NONE, args };
    struct writer w = { .dice = { 99 }, .text = BUF_INIT(1 << 16) };
    unsigned held = 0;

    for (int i = 0; i < EXPRESSIONS; i++) {
        AUTO_ARENA arena = ARENA_INIT;
        const struct expr *e;
        bool holds;

        buf_clear(&w.text);
        w.parts = 0;
        holds = write_or(&w, 4);
        if (expr_parse(buf_str(&w.text), &arena, &e, &t->err) < 0)
            FAIL("%s\n  %s", buf_text(&w.text), test_err_text(t));
        if (expr_holds(e, &facts) != holds)
            FAIL("%s\n  should be %d", buf_text(&w.text), holds);
        held += holds;
    }
    ASSERT(held > EXPRESSIONS / 5 && held < EXPRESSIONS * 4 / 5);
    buf_release(&w.text);
    json_object_put(args);
}

TEST(any_beginning_of_an_expression_is_parsed_or_refused_with_a_column)
{
    struct writer w = { .dice = { 7 }, .text = BUF_INIT(1 << 16) };
    unsigned refused = 0;

    for (int i = 0; i < 300; i++) {
        buf_clear(&w.text);
        w.parts = 0;
        write_or(&w, 4);
        for (size_t n = 0; n <= w.text.n; n++) {
            AUTO_ARENA arena = ARENA_INIT;
            const struct expr *e;
            /* A copy that ends where it ends, so that reading on is noticed. */
            struct str part = str_of(memcpy(malloc(n + 1), buf_text(&w.text), n), n);

            err_reset(&t->err);
            if (expr_parse(part, &arena, &e, &t->err) < 0) {
                ASSERT_EQ(t->err.code, ERR_SCHEMA_VIOLATION);
                ASSERT_CONTAINS(test_err_text(t), "column ");
                refused++;
            }
            free((char *)part.p);
        }
    }
    ASSERT(refused > 1000);
    buf_release(&w.text);
}

TEST(globs_match_as_the_plainest_definition_says)
{
    struct dice d = { 3 };
    unsigned matched = 0;

    for (int i = 0; i < 50000; i++) {
        char pattern[8] = "", text[10] = "";

        for (uint32_t k = 0, n = dice_roll(&d, 8); k < n; k++)
            pattern[k] = "ab?*"[dice_roll(&d, 4)];
        for (uint32_t k = 0, n = dice_roll(&d, 10); k < n; k++)
            text[k] = "ab"[dice_roll(&d, 2)];
        if (expr_glob(str_from(pattern), str_from(text)) != naive_glob(pattern, text))
            FAIL("%s against %s", pattern, text);
        matched += naive_glob(pattern, text);
    }
    ASSERT(matched > 5000);
}

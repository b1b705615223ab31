/* Names of skills: lower-case letters, digits and single hyphens, at most 64.
 *
 * Which characters are letters is what skills-ref takes for letters: Latin with its extensions,
 * Cyrillic, unified ideographs, and combining marks. Names are compared in form NFKC, so that
 * "cafe" with an accent after the e and "café" are one name. The tables (letters.h) hold only what
 * can become a name.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "skill/letters.h"
#include "skill/skill_int.h"

#define NAME_BYTES_MAX 4096 /* of what is normalised; longer is refused by its length anyway */

void problem_add(struct problems *problems, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    if (problems->n == SKILL_PROBLEMS_MAX)
        return;
    if (!problems->items)
        problems->items = ARENA_NEW_N(problems->arena, struct skill_problem, SKILL_PROBLEMS_MAX);
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    problems->items[problems->n++].text =
        arena_str(problems->arena, utf8_truncate(str_from(text), sizeof(text) - 4));
}

size_t text_units(struct str text)
{
    size_t n = 0;

    while (text.n) {
        uint32_t code;

        n += utf8_decode(&text, &code) == 0 && code > 0xFFFF ? 2 : 1;
    }
    return n;
}

/* ---- tables ---- */

/* Index of the row whose first member is code, or -1. */
static ptrdiff_t row_of(const void *rows, size_t count, size_t size, uint32_t code)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        uint32_t at;

        memcpy(&at, (const char *)rows + middle * size, sizeof(at));
        if (at == code)
            return (ptrdiff_t)middle;
        if (at < code)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static uint32_t lower_of(uint32_t code)
{
    ptrdiff_t at = row_of(letter_lowers, letter_lower_count, sizeof(letter_lowers[0]), code);

    return at < 0 ? code : letter_lowers[at].lower;
}

static unsigned order_of(uint32_t code)
{
    if (code < LETTER_ORDER_FIRST || code - LETTER_ORDER_FIRST >= letter_order_count)
        return 0;
    return letter_orders[code - LETTER_ORDER_FIRST];
}

static uint32_t whole_of(uint32_t first, uint32_t second)
{
    for (size_t i = 0; i < letter_pair_count; i++)
        if (letter_pairs[i].first == first && letter_pairs[i].second == second)
            return letter_pairs[i].whole;
    return 0;
}

static bool is_letter(uint32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= 0xC0 && c <= 0x24F) || (c >= 0x300 && c <= 0x36F) || (c >= 0x400 && c <= 0x4FF) ||
           (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF);
}

/* ---- NFKC ---- */

struct letters {
    uint32_t *codes;
    size_t n;
};

static void add_decomposed(struct letters *letters, uint32_t code)
{
    ptrdiff_t at = row_of(letter_parts, letter_part_count, sizeof(letter_parts[0]), code);

    if (at < 0) {
        letters->codes[letters->n++] = code;
        return;
    }
    for (size_t i = 0; i < LETTER_PARTS_MAX && letter_parts[at].parts[i]; i++)
        letters->codes[letters->n++] = letter_parts[at].parts[i];
}

/* Marks on one letter in the order of their classes; equal ones stay as they stand. */
static void order_marks(struct letters *letters)
{
    for (size_t i = 1; i < letters->n; i++) {
        uint32_t code = letters->codes[i];
        unsigned order = order_of(code);
        size_t at = i;

        for (; order && at > 0 && order_of(letters->codes[at - 1]) > order; at--)
            letters->codes[at] = letters->codes[at - 1];
        letters->codes[at] = code;
    }
}

static void compose(struct letters *letters)
{
    size_t kept = 0, starter = 0;
    bool some = false;
    unsigned last = 0; /* class of what was kept behind the starter */

    for (size_t i = 0; i < letters->n; i++) {
        uint32_t code = letters->codes[i], whole = 0;
        unsigned order = order_of(code);

        if (some && (kept == starter + 1 || last < order))
            whole = whole_of(letters->codes[starter], code);
        if (whole) {
            letters->codes[starter] = whole;
            continue;
        }
        if (!order) {
            starter = kept;
            some = true;
        }
        last = order;
        letters->codes[kept++] = code;
    }
    letters->n = kept;
}

struct str name_compose(struct str name, struct arena *arena)
{
    struct letters letters = { .n = 0 };
    char *out;
    size_t n = 0;

    name = utf8_truncate(name, NAME_BYTES_MAX);
    letters.codes = ARENA_NEW_N(arena, uint32_t, name.n * LETTER_PARTS_MAX + 1);
    while (name.n) {
        uint32_t code;

        add_decomposed(&letters, utf8_decode(&name, &code) < 0 ? UTF8_REPLACEMENT : code);
    }
    order_marks(&letters);
    compose(&letters);
    out = arena_alloc(arena, letters.n * UTF8_MAX_BYTES + 1, 1);
    for (size_t i = 0; i < letters.n; i++)
        n += utf8_encode(letters.codes[i], out + n);
    return str_of(out, n);
}

/* ---- rules ---- */

struct looks {
    bool upper, other, doubled;
};

static struct looks look_at(struct str name)
{
    struct looks looks = { .upper = false };
    uint32_t before = 0;

    while (name.n) {
        uint32_t code;

        if (utf8_decode(&name, &code) < 0)
            code = UTF8_REPLACEMENT;
        looks.upper |= lower_of(code) != code;
        looks.other |= code != '-' && !is_letter(code);
        looks.doubled |= code == '-' && before == '-';
        before = code;
    }
    return looks;
}

void name_check(struct str name, struct str directory, struct problems *problems)
{
    struct str normal = name_compose(name, problems->arena);
    struct str shown = utf8_truncate(normal, 200);
    struct looks looks = look_at(normal);
    size_t units = text_units(normal);

    if (units > LIMIT_SKILL_NAME)
        problem_add(problems, "name: \"%.*s\" has %zu characters; at most %d are allowed",
                    STR_ARG(shown), units, LIMIT_SKILL_NAME);
    if (looks.upper)
        problem_add(problems, "name: \"%.*s\" must be lower case", STR_ARG(shown));
    if (normal.n && (normal.p[0] == '-' || normal.p[normal.n - 1] == '-'))
        problem_add(problems, "name: must not begin or end with a hyphen");
    if (looks.doubled)
        problem_add(problems, "name: must not hold two hyphens in a row");
    if (looks.other)
        problem_add(problems,
                    "name: \"%.*s\" holds other characters than letters, digits and hyphens",
                    STR_ARG(shown));
    if (directory.n && !str_eq(name_compose(directory, problems->arena), normal))
        problem_add(problems, "name: \"%.*s\" must be the name of its directory, \"%.*s\"",
                    STR_ARG(shown), STR_ARG(utf8_truncate(directory, 200)));
}

static int refuse_long(struct str name, struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST, "name: \"%.*s\" has more than the %d characters allowed",
                   STR_ARG(utf8_truncate(name, 200)), LIMIT_SKILL_NAME);
}

int skill_normalise_name(struct str name, char ret_name[SKILL_NAME_BYTES], struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct str rest = name_compose(name, &arena);
    size_t n = 0, count = 0;
    bool gap = false;

    if (name.n > NAME_BYTES_MAX)
        return refuse_long(name, err);
    while (rest.n) {
        uint32_t code;

        if (utf8_decode(&rest, &code) < 0 || !is_letter(code)) {
            gap = true;
            continue;
        }
        gap = gap && n > 0;
        count += gap ? 2 : 1;
        if (count > LIMIT_SKILL_NAME)
            return refuse_long(name, err);
        if (gap)
            ret_name[n++] = '-';
        gap = false;
        n += utf8_encode(lower_of(code), ret_name + n); /* letters have at most 3 bytes */
    }
    ret_name[n] = '\0';
    return n ? 0 : err_set(err, ERR_BAD_REQUEST, "name: must have letters or digits");
}

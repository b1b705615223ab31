/* The kinds of sources, their lists and their words.
 *
 * SPDX-License-Identifier: MIT
 */
#include "change/taint.h"

#include "base/alloc.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/path.h"
#include "base/redact.h"
#include "base/utf8.h"

#define LABELS_OF_KIND 5   /* further ones become the kind alone */
#define SOURCES_MAX    200 /* of two lists */
#define NAMED_MAX      4   /* in a warning */
#define WORD_LETTERS   3   /* shorter words say nothing about where a text is from */

static const struct taint_row {
    const char *name;
    bool warns, blocks;
    const char *labelled, *alone;
} taint_rows[] = { [TAINT_OTHER] = { "other", true, true, NULL, NULL },
#define X(id, name, warns, blocks, labelled, alone)                                                \
    [TAINT_##id] = { name, warns, blocks, labelled, alone },
                   TAINT_KINDS(X)
#undef X
};

const char *taint_kind_name(enum taint_kind kind)
{
    return taint_rows[kind].name;
}

bool taint_kind_warns(enum taint_kind kind)
{
    return taint_rows[kind].warns;
}

/* ---- one source ---- */

static struct str source_kind(struct str source)
{
    ptrdiff_t colon = str_find_char(source, ':');

    return colon < 0 ? source : str_take(source, (size_t)colon);
}

static struct str source_label(struct str source)
{
    ptrdiff_t colon = str_find_char(source, ':');

    return colon < 0 ? STR_NONE : str_skip(source, (size_t)colon + 1);
}

static const struct taint_row *source_row(struct str source)
{
    struct str kind = source_kind(source);

    for (size_t i = 1; i < ARRAY_LEN(taint_rows); i++) {
        if (str_is(kind, taint_rows[i].name))
            return &taint_rows[i];
    }
    return &taint_rows[TAINT_OTHER];
}

/* A label is somebody's text, too: it holds no secret, stands in one line of ours and can't end a
 * source. Secrets go first: half of one is not recognised. */
static struct str clean_label(struct str label, struct arena *arena)
{
    AUTO_BUF safe = BUF_INIT(8 * KIB);
    AUTO_BUF line = BUF_INIT(KIB);
    char *text;

    redact(utf8_truncate(label, KIB), &safe);
    utf8_one_line(utf8_truncate(buf_str(&safe), KIB / 4), &line);
    text = arena_copy(arena, line.p, line.n);
    for (size_t i = 0; i < line.n; i++) {
        if (text[i] == ',')
            text[i] = ';';
    }
    return str_trim(utf8_truncate(str_trim(str_of(text, line.n)), TAINT_LABEL_MAX));
}

struct str taint_source(enum taint_kind kind, struct str label, struct arena *arena)
{
    const char *name = taint_rows[kind].name;
    struct str clean = label.n ? clean_label(label, arena) : STR_NONE;

    return clean.n ? str_from(arena_printf(arena, "%s:%.*s", name, STR_ARG(clean)))
                   : str_from(name);
}

/* ---- lists ---- */

static bool next_source(struct str *rest, struct str *ret_source)
{
    while (rest->p && str_split(rest, ',', ret_source)) {
        if (ret_source->n)
            return true;
    }
    return false;
}

static bool has_source(struct str list, struct str source)
{
    struct str one;

    while (next_source(&list, &one)) {
        if (str_eq(one, source))
            return true;
    }
    return false;
}

static bool has_all(struct str list, struct str of)
{
    struct str one;

    while (next_source(&of, &one)) {
        if (!has_source(list, one))
            return false;
    }
    return true;
}

struct sources {
    struct str at[SOURCES_MAX];
    size_t n;
};

/* In its place, once. A kind alone stands before its labels. */
static void sources_add(struct sources *s, struct str source)
{
    size_t i = s->n;

    for (size_t k = 0; k < s->n; k++) {
        if (str_eq(s->at[k], source))
            return;
    }
    if (s->n == SOURCES_MAX)
        return;
    for (; i > 0 && str_cmp(s->at[i - 1], source) > 0; i--)
        s->at[i] = s->at[i - 1];
    s->at[i] = source;
    s->n++;
}

/* One label more than are kept of a kind: it is said that there are others. */
static void sources_add_list(struct sources *s, struct str list)
{
    struct str one;

    while (next_source(&list, &one)) {
        size_t labels = 0;

        for (size_t i = 0; i < s->n; i++)
            labels += str_eq(source_kind(s->at[i]), source_kind(one)) && source_label(s->at[i]).n &&
                      !str_eq(s->at[i], one);
        sources_add(s, source_label(one).n && labels >= LABELS_OF_KIND ? source_kind(one) : one);
    }
}

struct str taint_join(struct str a, struct str b, struct arena *arena)
{
    struct sources s = { .n = 0 };
    AUTO_BUF out = BUF_INIT(TAINT_MAX);

    if (has_all(a, b))
        return a;
    sources_add_list(&s, a);
    sources_add_list(&s, b);
    for (size_t i = 0; i < s.n; i++)
        buf_printf(&out, "%s%.*s", i ? "," : "", STR_ARG(s.at[i]));
    if (!out.full)
        return arena_str(arena, buf_str(&out));
    buf_release(&out); /* more than fits with labels: the kinds alone say enough */
    out = BUF_INIT(TAINT_MAX);
    for (size_t i = 0; i < s.n; i++) {
        if (!i || !str_eq(source_kind(s.at[i]), source_kind(s.at[i - 1])))
            buf_printf(&out, "%s%.*s", out.n ? "," : "", STR_ARG(source_kind(s.at[i])));
    }
    return arena_str(arena, buf_str(&out));
}

bool taint_warns(struct str taint)
{
    struct str one;

    while (next_source(&taint, &one)) {
        if (source_row(one)->warns)
            return true;
    }
    return false;
}

bool taint_covers(struct str shown, struct str now)
{
    struct str one;

    while (next_source(&now, &one)) {
        if (source_row(one)->warns && !has_source(shown, one))
            return false;
    }
    return true;
}

bool taint_blocks(struct str taint)
{
    struct str one;

    while (next_source(&taint, &one)) {
        if (source_row(one)->blocks)
            return true;
    }
    return false;
}

/* ---- words ---- */

static void source_say(struct str source, struct buf *out)
{
    const struct taint_row *row = source_row(source);
    struct str kind = source_kind(source), label = source_label(source);

    if (row->alone)
        buf_printf(out, "%s", label.n ? row->labelled : row->alone);
    else
        buf_printf(out, "%.*s", STR_ARG(kind));
    if (label.n)
        buf_printf(out, " %.*s", STR_ARG(label));
}

void taint_write(struct json_writer *w, struct str taint)
{
    struct str one;

    json_write_array_begin(w);
    while (next_source(&taint, &one)) {
        AUTO_BUF words = BUF_INIT(KIB);

        if (!source_row(one)->warns)
            continue;
        source_say(one, &words);
        json_write_str(w, buf_str(&words));
    }
    json_write_array_end(w);
}

void taint_put(struct json_writer *w, struct str taint)
{
    if (!taint_warns(taint))
        return;
    json_write_key(w, "taint");
    taint_write(w, taint);
}

void taint_warning(struct str taint, struct buf *out)
{
    struct str one, rest = taint;
    size_t n = 0, more = 0;

    if (!taint_warns(taint))
        return;
    buf_add_text(out, "Text that others wrote was read before this was asked, and may have steered "
                      "the agent: ");
    while (next_source(&rest, &one)) {
        if (!source_row(one)->warns)
            continue;
        if (n == NAMED_MAX) {
            more++;
            continue;
        }
        buf_add_text(out, n++ ? "; " : "");
        source_say(one, out);
    }
    if (more)
        buf_printf(out, "; and %zu more", more);
    buf_add_char(out, '.');
}

/* ---- whose words ---- */

static bool is_letter(uint32_t code)
{
    return code >= 0x80 || (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') ||
           (code >= 'A' && code <= 'Z');
}

/* Scripts from here on are written without blanks: each character counts. */
static bool is_word_alone(uint32_t code)
{
    return code >= 0x2E80;
}

/* The next word that counts, in the form in which two are compared. False: there is none. */
static bool next_word(struct str *rest, struct buf *folded)
{
    while (rest->n) {
        const char *begin = rest->p;
        size_t letters = 0, n = 0;

        while (rest->n) {
            struct str before = *rest;
            uint32_t code = 0;

            if (utf8_decode(rest, &code) < 0 || !is_letter(code))
                break;
            if (is_word_alone(code) && letters) {
                *rest = before;
                break;
            }
            n += before.n - rest->n;
            letters += is_word_alone(code) ? WORD_LETTERS : 1;
            if (is_word_alone(code))
                break;
        }
        buf_clear(folded);
        if (letters >= WORD_LETTERS && path_fold(str_of(begin, n), folded) == 0 && folded->n)
            return true;
    }
    return false;
}

bool taint_stays(struct str before, struct str after)
{
    AUTO_BUF word = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_MAP words = MAP_INIT;

    while (next_word(&before, &word))
        map_put(&words, buf_str(&word), &words);
    while (next_word(&after, &word)) {
        if (map_find(&words, buf_str(&word)))
            return true;
    }
    return false;
}

/* The walk over a text: at each place that may begin a secret the matching file is asked.
 *
 * Every matcher either takes what it looked at or looks at a bounded number of bytes, which
 * keeps the walk linear. A mark found in the text is copied whole and acts like any other
 * separator, in this walk and in the next, so a second redaction sees the same words.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/redact.h"

#include <json-c/json.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/redact_int.h"

#define PASSES_MAX 4
#define PEM_BEGIN  "-----BEGIN "

struct walk {
    struct str text;
    struct buf *out;
    size_t at;
    bool boundary;   /* a word may begin here */
    bool line_start; /* see redact_pair() */
    struct str tool; /* called on this line, see redact_place() */
    size_t cut_at;   /* a secret ahead that was noted, such as a URL's password … */
    size_t cut_end;  /* … to here; 0: none */
    bool sure;       /* only what is a secret by its own form */
    bool opaque;     /* only what says nothing, see redact_shown() */
};

/* What is looked for. */
enum which { ALL, SURE, OPAQUE };

static struct str walk_rest(const struct walk *walk)
{
    return str_skip(walk->text, walk->at);
}

static void copy(struct walk *walk, size_t n)
{
    buf_add(walk->out, walk->text.p + walk->at, n);
    walk->at += n;
}

static bool apply(struct walk *walk, struct redact_hit hit)
{
    if (hit.cut == 0 || (walk->opaque && !redact_is_opaque(str_take(
                                             str_skip(walk->text, walk->at + hit.keep), hit.cut))))
        return false;
    copy(walk, hit.keep);
    buf_add_text(walk->out, REDACT_MARK);
    walk->at += hit.cut;
    walk->boundary = true;
    walk->line_start = false;
    return true;
}

/* Most words are too short to be a token; those of several parts go on after the word. */
static bool may_be_token(struct str rest, size_t word)
{
    return word >= REDACT_TOKEN_MIN || (word < rest.n && strchr(".~:", rest.p[word]));
}

/* What stands before the secret is walked like any text: a URL's user may be a token itself. */
static void note(struct walk *walk, struct redact_hit hit)
{
    if (walk->cut_end || !hit.cut || walk->sure)
        return;
    walk->cut_at = walk->at + hit.keep;
    walk->cut_end = walk->cut_at + hit.cut;
}

static void walk_word(struct walk *walk)
{
    struct str rest = walk_rest(walk), word;
    size_t n = 1;

    while (n < rest.n && redact_is_word(rest.p[n]) &&
           !(rest.p[n] == '-' && str_starts(str_skip(rest, n), STR(PEM_BEGIN))))
        n++;
    if (walk->boundary && may_be_token(rest, n) && apply(walk, redact_token(rest)))
        return;
    word = str_take(rest, n);
    if (walk->boundary && !walk->sure &&
        apply(walk, redact_pair(walk->text, walk->at, word, walk->line_start)))
        return;
    if (walk->boundary && !walk->cut_end)
        note(walk, redact_place(walk->text, walk->at, word, walk->tool));
    if (walk->boundary && redact_is_tool(word))
        walk->tool = word;
    if (walk->cut_end && walk->at < walk->cut_at && walk->at + n > walk->cut_at)
        n = walk->cut_at - walk->at;
    copy(walk, n);
    walk->boundary = false;
    walk->line_start = false;
}

/* Escapes end a word although they end in letters: \n, \u0041, %3D. */
static size_t escape_length(struct str rest)
{
    if (rest.p[0] == '%' && rest.n >= 3)
        return 3;
    if (rest.p[0] == '\\' && rest.n >= 6 && rest.p[1] == 'u')
        return 6;
    if (rest.p[0] == '\\' && rest.n >= 2)
        return 2;
    return 1;
}

/* Steps over n bytes that are not of a word, unless a mark begins among them. */
static void walk_other(struct walk *walk)
{
    struct str rest = walk_rest(walk);
    char c = rest.p[0];

    if (str_starts(rest, STR(REDACT_MARK))) {
        copy(walk, sizeof(REDACT_MARK) - 1);
        walk->line_start = false;
    } else {
        size_t n = escape_length(rest);
        ptrdiff_t mark = str_find(str_take(str_skip(rest, 1), n + 13), STR(REDACT_MARK));

        if (mark >= 0 && (size_t)mark + 1 < n)
            n = (size_t)mark + 1;
        if (walk->cut_end && walk->at + n > walk->cut_at)
            n = walk->cut_at - walk->at;
        copy(walk, n);
        if (c == '\n' || (c == '\\' && n == 2 && rest.p[1] == 'n')) {
            walk->line_start = true;
            walk->tool = STR_NONE;
        } else if (c != ' ' && c != '\t' && c != '"' && c != '\'') {
            walk->line_start = false;
        }
    }
    walk->boundary = true;
}

/* True when the walk has come to the secret that was noted. */
static bool cut_url(struct walk *walk)
{
    size_t end = walk->cut_end;

    if (end == 0 || walk->at < walk->cut_at)
        return false;
    walk->cut_end = 0;
    return walk->at < end && apply(walk, (struct redact_hit){ 0, end - walk->at });
}

static void walk_patterns(struct str text, enum which which, struct buf *out)
{
    struct walk walk = {
        .text = text,
        .out = out,
        .boundary = true,
        .line_start = true,
        .sure = which == SURE,
        .opaque = which == OPAQUE,
    };

    while (walk.at < text.n && !out->full) {
        struct str rest = walk_rest(&walk);
        char c = rest.p[0];

        if (cut_url(&walk))
            continue;
        if (c == '-' && str_starts(rest, STR(PEM_BEGIN)) && apply(&walk, redact_pem(rest)))
            continue;
        if (c == ':' && (str_starts(rest, STR("://")) || str_starts(rest, STR(":\\/\\/"))))
            note(&walk, redact_url(rest));
        if (c == '%' && !walk.cut_end)
            note(&walk, redact_encoded_url(rest));
        if (c == '-' && walk.line_start && rest.n > 1 && rest.p[1] == ' ')
            copy(&walk, 1); /* a YAML list item begins a line, too */
        else if (redact_is_word(c))
            walk_word(&walk);
        else
            walk_other(&walk);
    }
}

/* Patterns come before registered values, so that a password which merely begins with one goes as
 * a whole, and after them, because a value taken out of a word may lay another one bare. */
static void redact_both(struct str text, enum which which, struct buf *out)
{
    AUTO_BUF first = BUF_INIT(4 * text.n + sizeof(REDACT_MARK));
    AUTO_BUF second = BUF_INIT(4 * first.max);

    walk_patterns(text, which, &first);
    redact_registered(buf_str(&first), &second);
    walk_patterns(buf_str(&second), which, out);
}

static void redact_once(struct str text, enum which which, struct buf *out)
{
    if (text.n && redact_has_registered())
        redact_both(text, which, out);
    else
        walk_patterns(text, which, out);
}

bool redact_finds(struct str text)
{
    AUTO_BUF patterns = BUF_INIT(4 * text.n + sizeof(REDACT_MARK));
    AUTO_BUF registered = BUF_INIT(4 * text.n + sizeof(REDACT_MARK));

    walk_patterns(text, SURE, &patterns);
    if (!str_eq(buf_str(&patterns), text))
        return true;
    if (!text.n || !redact_has_registered())
        return false;
    redact_registered(text, &registered);
    return !str_eq(buf_str(&registered), text);
}

/* A mark may end what a quote had held open, and so bring the next secret to light. So a text that
 * was changed is looked at again, until nothing changes. */
static int redact_which(struct str text, enum which which, struct buf *out)
{
    AUTO_BUF before = BUF_INIT(out->max);
    size_t start = out->n;

    redact_once(text, which, out);
    for (int pass = 1; pass < PASSES_MAX && !out->full; pass++) {
        struct str now = str_skip(buf_str(out), start);

        if (str_eq(now, pass == 1 ? text : buf_str(&before)))
            break;
        buf_clear(&before);
        buf_add_str(&before, now);
        out->n = start;
        redact_once(buf_str(&before), which, out);
    }
    return out->full ? -1 : 0;
}

int redact(struct str text, struct buf *out)
{
    return redact_which(text, ALL, out);
}

int redact_shown(struct str text, struct buf *out)
{
    return redact_which(text, OPAQUE, out);
}

static struct json_object *copy_string(struct json_object *value)
{
    struct str text =
        str_of(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    AUTO_BUF out = BUF_INIT(4 * text.n + sizeof(REDACT_MARK));

    redact(text, &out);
    return json_object_new_string_len(buf_text(&out), (int)out.n);
}

/* A number is kept unless its digits are a registered secret. */
static struct json_object *copy_number(struct json_object *value)
{
    struct str text = str_from(json_object_get_string(value));
    AUTO_BUF out = BUF_INIT(4 * text.n + sizeof(REDACT_MARK));
    struct json_object *result = NULL;

    redact(text, &out);
    if (!str_eq(buf_str(&out), text))
        return json_object_new_string(REDACT_MARK);
    json_object_deep_copy(value, &result, NULL);
    return result;
}

static struct json_object *copy_json(struct json_object *value, bool secret, unsigned depth);

/* Whether another member names the one called `value_key` as a secret. */
static bool is_named_secret(struct json_object *object, struct str value_key)
{
    struct json_object_iter member;

    if (!str_eq_nocase(value_key, STR("value")))
        return false; /* spares a walk over all members for each */
    json_object_object_foreachC(object, member)
    {
        if (json_object_is_type(member.val, json_type_string) &&
            redact_names_value(str_from(member.key), str_from(json_object_get_string(member.val)),
                               value_key))
            return true;
    }
    return false;
}

static struct json_object *copy_object(struct json_object *value, unsigned depth)
{
    struct json_object *result = json_object_new_object();
    struct json_object_iter member;

    json_object_object_foreachC(value, member)
    {
        struct str name = str_from(member.key);
        AUTO_BUF clean = BUF_INIT(4 * name.n + sizeof(REDACT_MARK));

        redact(name, &clean);
        json_object_object_add(
            result, buf_text(&clean),
            copy_json(member.val, redact_key(name) || is_named_secret(value, name), depth + 1));
    }
    return result;
}

static struct json_object *copy_json(struct json_object *value, bool secret, unsigned depth)
{
    enum json_type type = json_object_get_type(value);
    struct json_object *result;

    if (type == json_type_null || (secret && type == json_type_boolean))
        return json_object_get(value);
    if (depth >= LIMIT_JSON_DEPTH)
        return json_object_new_string(REDACT_MARK);
    if (type == json_type_object)
        return copy_object(value, depth);
    if (type == json_type_array) {
        result = json_object_new_array();
        for (size_t i = 0; i < json_length(value); i++)
            json_object_array_add(
                result, copy_json(json_object_array_get_idx(value, i), secret, depth + 1));
        return result;
    }
    if (secret && !(type == json_type_string && json_object_get_string_len(value) == 0))
        return json_object_new_string(REDACT_MARK);
    return type == json_type_string ? copy_string(value) : copy_number(value);
}

struct json_object *redact_json(struct json_object *value)
{
    return copy_json(value, false, 0);
}

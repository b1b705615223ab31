/* Content too long for a prompt: texts lose their middle and say how much.
 *
 * All texts in the content share the space: those below a common limit stay whole, the others are
 * cut to it, keeping two thirds from their front and one from their end. Where texts are not what
 * makes it long (ten thousand numbers), the whole is taken for one text.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/utf8.h"
#include "memory/message_int.h"

#define NOTE_BYTES 48 /* room for the words about what is left out */
#define TEXT_MIN   64 /* a text is never cut to less */

/* ---- one text ---- */

static struct str tail_of(struct str text, size_t n)
{
    struct str tail = str_skip(text, text.n - n);

    while (tail.n > 0 && ((unsigned char)*tail.p & 0xc0) == 0x80)
        tail = str_skip(tail, 1);
    return tail;
}

static struct str cut_middle(struct str text, size_t max, struct arena *arena)
{
    size_t keep = max > NOTE_BYTES + TEXT_MIN ? max - NOTE_BYTES : TEXT_MIN;
    AUTO_BUF out = BUF_INIT(max + TEXT_MIN + 2 * NOTE_BYTES);
    struct str head, tail;

    if (text.n <= keep + NOTE_BYTES)
        return text;
    head = utf8_truncate(text, keep - keep / 3);
    tail = tail_of(text, keep / 3);
    buf_add_str(&out, head); /* zero bytes and all */
    buf_printf(&out, "\n[... %zu bytes left out ...]\n", text.n - head.n - tail.n);
    buf_add_str(&out, tail);
    return arena_str(arena, buf_str(&out));
}

/* ---- all texts of a value ---- */

struct texts {
    struct json_object **at;
    size_t count, cap;
    size_t bytes;
};

static void collect(struct json_object *value, struct texts *texts, struct arena *arena)
{
    if (json_object_is_type(value, json_type_string)) {
        ARENA_ROOM(arena, texts->at, texts->count, texts->cap);
        texts->at[texts->count++] = value;
        texts->bytes += json_str(value).n;
    } else if (json_object_is_type(value, json_type_object)) {
        for (struct lh_entry *at = lh_table_head(json_object_get_object(value)); at;
             at = lh_entry_next(at))
            collect(lh_entry_v(at), texts, arena);
    } else if (json_object_is_type(value, json_type_array)) {
        for (size_t i = 0; i < json_length(value); i++)
            collect(json_object_array_get_idx(value, i), texts, arena);
    }
}

static size_t bytes_with_limit(const struct texts *texts, size_t limit)
{
    size_t bytes = 0;

    for (size_t i = 0; i < texts->count; i++) {
        size_t n = json_str(texts->at[i]).n;

        bytes += n < limit ? n : limit;
    }
    return bytes;
}

/* The greatest length that lets all of them fit. */
static size_t common_limit(const struct texts *texts, size_t allowed)
{
    size_t low = 0, high = texts->bytes;

    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;

        if (bytes_with_limit(texts, middle) <= allowed)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static struct str write_value(struct json_object *value, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES * 6);
    struct json_writer w = JSON_WRITER(&out);

    json_write_value(&w, value);
    json_write_end(&w);
    return arena_str(arena, buf_str(&out));
}

/* The value within about max bytes, as text; STR_NONE when its texts are not the reason. */
static struct str shorten_value(struct json_object *value, size_t max, struct arena *arena)
{
    struct texts texts = { .count = 0 };
    struct str whole = write_value(value, arena);
    size_t other, limit;

    if (whole.n <= max)
        return whole;
    collect(value, &texts, arena);
    other = whole.n - texts.bytes;
    if (other >= max || texts.count == 0)
        return STR_NONE;
    limit = common_limit(&texts, max - other);
    for (size_t i = 0; i < texts.count; i++) {
        struct str cut = cut_middle(json_str(texts.at[i]), limit, arena);

        if (json_str(texts.at[i]).n > limit)
            json_object_set_string_len(texts.at[i], cut.p, (int)cut.n);
    }
    whole = write_value(value, arena);
    return whole.n <= max + max / 4 ? whole : STR_NONE;
}

/* ---- by kind ---- */

static const char *member_of(enum message_kind kind)
{
    return kind == MESSAGE_ACTION ? "arguments" : kind == MESSAGE_TOOL_RESULT ? "output" : "text";
}

static struct str as_one_text(enum message_kind kind, struct str text, size_t max,
                              struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&out);

    json_write_object_begin(&w);
    json_put_str(&w, member_of(kind), cut_middle(text, max, arena));
    json_write_object_end(&w);
    json_write_end(&w);
    return arena_str(arena, buf_str(&out));
}

/* Arguments are a text that is JSON itself: it stays so, or says what it was. */
static void shorten_arguments(struct json_object *content, size_t max, struct arena *arena)
{
    AUTO_JSON arguments = NULL;
    struct str text = json_str(json_find(content, "arguments"));
    struct str shorter;

    if (text.n <= max)
        return;
    if (json_parse(text, &arguments, NULL) < 0)
        shorter = cut_middle(text, max, arena);
    else
        shorter = shorten_value(arguments, max, arena);
    if (!shorter.p)
        shorter =
            str_from(arena_printf(arena, "{\"left_out\":\"%zu bytes of arguments\"}", text.n));
    json_object_object_add(content, "arguments",
                           json_object_new_string_len(shorter.p, (int)shorter.n));
}

/* Without its opaque part, which comes back untouched when it is to be kept. */
static struct str shorten_object(enum message_kind kind, struct json_object *content,
                                 size_t max_bytes, bool keep_opaque, struct arena *arena)
{
    AUTO_JSON opaque = json_object_get(json_find(content, "opaque"));
    struct str shorter;

    if (kind == MESSAGE_ACTION) {
        shorten_arguments(content, max_bytes, arena);
        shorter = write_value(content, arena);
        return shorter.n <= 2 * max_bytes + NOTE_BYTES ? shorter : STR_NONE;
    }
    json_object_object_del(content, "opaque");
    if (opaque && !keep_opaque)
        json_object_object_del(content, "thinking");
    shorter = shorten_value(content, max_bytes, arena);
    if (!shorter.p || !opaque || !keep_opaque)
        return shorter;
    json_object_object_add(content, "opaque", TAKE(opaque));
    return write_value(content, arena);
}

struct str message_shorten(enum message_kind kind, struct str content, size_t max_bytes,
                           bool keep_opaque, struct arena *arena)
{
    AUTO_JSON value = NULL;
    struct str shorter;

    if (content.n <= max_bytes)
        return content;
    if (json_parse_flags(content, JSON_BIG_INTEGERS, &value, NULL) < 0 ||
        !json_object_is_type(value, json_type_object))
        return as_one_text(kind, content, max_bytes, arena);
    shorter = shorten_object(kind, value, max_bytes, keep_opaque, arena);
    return shorter.p ? shorter : as_one_text(kind, content, max_bytes, arena);
}

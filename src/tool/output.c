/* What a handler gave, made into what is kept and sent: checked against the contract, without
 * secrets, and bounded.
 *
 * Bounding keeps the beginning and the end of long texts and the first items of long lists, says
 * where something is missing, and sets "truncated". It tries with ever smaller pieces until the
 * whole fits.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/redact.h"
#include "base/schema.h"
#include "base/utf8.h"
#include "tool/tool_int.h"

#define TEXT_MIN  64
#define OUT_SLACK 256

/* ---- bounding ---- */

struct bounds {
    size_t text, items;
    bool cut; /* something was left out */
};

/* The last max bytes of text, beginning with a whole character. */
static struct str tail_of(struct str text, size_t max)
{
    struct str tail = str_skip(text, text.n - max);

    while (tail.n && ((unsigned char)tail.p[0] & 0xC0) == 0x80)
        tail = str_skip(tail, 1);
    return tail;
}

static struct json_object *bound_text(struct str text, struct bounds *bounds)
{
    AUTO_BUF out = BUF_INIT(bounds->text + OUT_SLACK);
    struct str head, tail;

    if (text.n <= bounds->text)
        return json_object_new_string_len(text.p, (int)text.n);
    bounds->cut = true;
    head = utf8_truncate(text, bounds->text / 2);
    tail = tail_of(text, bounds->text / 2);
    buf_add_str(&out, head);
    buf_printf(&out, "\n[... %zu bytes left out ...]\n", text.n - head.n - tail.n);
    buf_add_str(&out, tail);
    return json_object_new_string_len(out.p, (int)out.n);
}

static struct json_object *bound(struct json_object *value, struct bounds *bounds)
{
    struct json_object_iter it;
    struct json_object *copy;

    switch (json_object_get_type(value)) {
    case json_type_string:
        return bound_text(json_str(value), bounds);
    case json_type_array:
        copy = json_object_new_array();
        for (size_t i = 0; i < json_length(value); i++) {
            bounds->cut |= i >= bounds->items;
            if (i < bounds->items)
                json_object_array_add(copy, bound(json_object_array_get_idx(value, i), bounds));
        }
        return copy;
    case json_type_object:
        copy = json_object_new_object();
        json_object_object_foreachC(value, it)
        {
            bool fits = (size_t)json_object_object_length(copy) < bounds->items &&
                        strlen(it.key) <= bounds->text;

            bounds->cut |= !fits;
            if (fits)
                json_object_object_add(copy, it.key, bound(it.val, bounds));
        }
        return copy;
    default:
        return json_object_get(value);
    }
}

static void write_value(struct json_object *value, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);

    json_write_value(&w, value);
}

/* ---- the whole ---- */

static struct json_object *mark(struct json_object *value, const char *key)
{
    if (json_object_is_type(value, json_type_object))
        json_object_object_add(value, key, json_object_new_boolean(true));
    return value;
}

static struct str write_bounded(struct json_object *value, size_t max, struct arena *arena)
{
    struct bounds bounds = { .text = max, .items = max };

    for (;;) {
        AUTO_BUF out = BUF_INIT(max);
        AUTO_JSON part = bound(value, &bounds);

        if (bounds.cut)
            mark(part, "truncated");
        write_value(part, &out);
        if (!out.full)
            return arena_str(arena, buf_str(&out));
        if (bounds.text <= TEXT_MIN)
            return STR("{\"truncated\":true}");
        bounds.text /= 2;
        bounds.items = bounds.items > 4096 ? 2048 : bounds.items / 2 + 1;
    }
}

static struct json_object *without_secrets(struct json_object *value)
{
    struct json_object *clean = redact_json(value);

    return json_equal(clean, value) ? clean : mark(clean, "redacted");
}

int output_make(const struct tool_entry *entry, struct str text, struct arena *arena,
                struct str *ret_text, struct err *err)
{
    AUTO_JSON value = NULL;
    AUTO_JSON clean = NULL;
    struct err why = ERR_INIT;
    char message[400];

    if (json_parse(text, &value, &why) < 0 ||
        schema_validate(entry->contract->output, value, NULL, &why) < 0)
        return err_set(err, ERR_PROVIDER_FAILED,
                       "the result of %s is not what its contract says: %s", entry->contract->name,
                       err_format(&why, message, sizeof(message)));
    clean = entry->redacts ? without_secrets(value) : json_object_get(value);
    *ret_text = write_bounded(clean, entry->output_max, arena);
    return 0;
}

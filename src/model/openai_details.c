/* OpenRouter's reasoning_details: blocks of thinking, signed or encrypted by the model behind it,
 * that must be sent back unchanged with the next turn.
 *
 * They stream in pieces. A piece continues the block before it when both have the same type and
 * index; texts are put together, other members (a signature, an id) are set once they are known.
 * Servers that send none never see any.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json_object_iterator.h>

#include "base/json_write.h"
#include "model/openai_int.h"

#define DETAILS_MAX 4096 /* blocks */

static bool is_text_member(const char *name)
{
    return strcmp(name, "text") == 0 || strcmp(name, "summary") == 0 || strcmp(name, "data") == 0;
}

static bool continues(struct json_object *last, struct json_object *piece)
{
    return last && str_eq(model_json_str(last, "type"), model_json_str(piece, "type")) &&
           model_json_i64(last, "index", -1) >= 0 &&
           model_json_i64(last, "index", -1) == model_json_i64(piece, "index", -1);
}

static void merge_text(struct json_object *last, const char *name, struct str more)
{
    AUTO_BUF text = BUF_INIT(2 * MODEL_TEXT_MAX);

    buf_add_str(&text, model_json_str(last, name));
    buf_add_str(&text, more);
    json_object_object_add(last, name, json_object_new_string_len(buf_text(&text), (int)text.n));
}

static void merge(struct json_object *last, struct json_object *piece)
{
    struct json_object_iterator at = json_object_iter_begin(piece),
                                end = json_object_iter_end(piece);

    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        const char *name = json_object_iter_peek_name(&at);
        struct json_object *value = json_object_iter_peek_value(&at);

        if (is_text_member(name) && json_object_is_type(value, json_type_string))
            merge_text(last, name, json_str(value));
        else if (value)
            json_object_object_add(last, name, json_object_get(value));
    }
}

/* Bytes that a piece adds, by the text it would be written as. */
static size_t weight(struct json_object *piece)
{
    return strlen(json_object_to_json_string_ext(piece, JSON_C_TO_STRING_PLAIN));
}

int openai_details_add(struct openai_state *state, struct json_object *pieces)
{
    size_t n = json_object_is_type(pieces, json_type_array) ? json_length(pieces) : 0;

    for (size_t i = 0; i < n; i++) {
        struct json_object *piece = json_object_array_get_idx(pieces, i), *last = NULL;
        size_t have;

        if (!json_object_is_type(piece, json_type_object))
            continue;
        if (!state->details)
            state->details = json_object_new_array();
        have = json_length(state->details);
        state->detail_bytes += weight(piece);
        if (state->detail_bytes > MODEL_TEXT_MAX || have >= DETAILS_MAX)
            return -1;
        if (have > 0)
            last = json_object_array_get_idx(state->details, have - 1);
        if (continues(last, piece))
            merge(last, piece);
        else
            json_object_array_add(state->details, json_object_get(piece));
    }
    return 0;
}

void openai_details_end(struct model_exchange *x, struct openai_state *state)
{
    AUTO_BUF text = BUF_INIT(2 * MODEL_TEXT_MAX);
    struct json_writer w = JSON_WRITER(&text);

    if (!state->details)
        return;
    json_write_value(&w, state->details);
    if (json_write_end(&w) == 0)
        exchange_opaque(x, buf_str(&text));
}

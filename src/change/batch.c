/* The keys of changes, and a batch while it grows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "change/batch.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/limits.h"

static const char *const author_names[] = {
    [CHANGE_BY_NONE] = "none",
    [CHANGE_BY_HUMAN] = "human",
    [CHANGE_BY_AGENT] = "agent",
    [CHANGE_BY_SYNC] = "sync",
};

const char *change_author_name(enum change_author author)
{
    return author_names[author];
}

enum change_author change_author_of(struct str name)
{
    for (size_t i = CHANGE_BY_HUMAN; i < ARRAY_LEN(author_names); i++)
        if (str_is(name, author_names[i]))
            return (enum change_author)i;
    return CHANGE_BY_NONE;
}

/* ---- keys ---- */

static bool has_bar(struct str text)
{
    return str_find_char(text, '|') >= 0;
}

int change_unit_key(const struct change_unit *unit, char ret_key[SHA256_TEXT_SIZE], struct err *err)
{
    AUTO_BUF text = BUF_INIT(64 * KIB);

    if (!unit->host_id.n || unit->counter <= 0 || !unit->payload_type.n || !unit->payload_id.n)
        return err_set(err, ERR_MISSING_CHANGE_PROVENANCE,
                       "a change of %.*s \"%.*s\": host, counter, type and id are needed",
                       STR_ARG(unit->payload_type.n ? unit->payload_type : STR("no type")),
                       STR_ARG(str_take(unit->payload_id, 60)));
    /* The id is last and may hold anything; in the others a bar would make two keys one. */
    if (has_bar(unit->host_id) || has_bar(unit->payload_type))
        return err_set(err, ERR_MISSING_CHANGE_PROVENANCE,
                       "a change by host \"%.*s\" of type \"%.*s\": neither may hold '|'",
                       STR_ARG(str_take(unit->host_id, 60)),
                       STR_ARG(str_take(unit->payload_type, 60)));
    buf_add_text(&text, "v1|local|");
    buf_add_str(&text, unit->host_id);
    buf_add_char(&text, '|');
    buf_add_i64(&text, unit->counter);
    buf_add_char(&text, '|');
    buf_add_str(&text, unit->payload_type);
    buf_add_char(&text, '|');
    buf_add_str(&text, unit->payload_id);
    if (text.full)
        return err_set(err, ERR_TOO_LARGE, "a change's type and id are longer than %u bytes",
                       64 * KIB);
    sha256_text(buf_str(&text), ret_key);
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

size_t change_keys_unique(struct str *keys, size_t n)
{
    size_t kept = 0;

    if (n)
        qsort(keys, n, sizeof(*keys), by_text);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !str_eq(keys[kept - 1], keys[i]))
            keys[kept++] = keys[i];
    return kept;
}

void change_logical_key(const struct str *unit_keys, size_t n, char ret_key[SHA256_TEXT_SIZE])
{
    struct str *sorted = NEW_N(struct str, n + 1);
    struct sha256 hash;
    uint8_t digest[SHA256_BYTES];

    if (n)
        memcpy(sorted, unit_keys, n * sizeof(*unit_keys));
    n = change_keys_unique(sorted, n);
    sha256_init(&hash);
    sha256_add(&hash, STR("v1|"));
    for (size_t i = 0; i < n; i++) {
        if (i)
            sha256_add(&hash, STR(","));
        sha256_add(&hash, sorted[i]);
    }
    sha256_finish(&hash, digest);
    hex_encode(digest, sizeof(digest), ret_key);
    free(sorted);
}

/* ---- a batch ---- */

/* Twice the room when it is full. */
static void *grown(struct arena *arena, void *old, size_t n, size_t *room, size_t size)
{
    size_t wanted = *room ? 2 * *room : 8;
    void *wider;

    if (n < *room)
        return old;
    wider = arena_alloc(arena, wanted, size);
    if (n)
        memcpy(wider, old, n * size);
    *room = wanted;
    return wider;
}

static void add_token(struct change_batch *batch, enum token_class class, struct str name_space,
                      struct str value)
{
    if (!value.n)
        return;
    batch->tokens = grown(batch->arena, batch->tokens, batch->token_count, &batch->token_room,
                          sizeof(batch->tokens[0]));
    batch->tokens[batch->token_count++] = (struct token){
        class,
        arena_str(batch->arena, name_space),
        arena_str(batch->arena, value),
    };
}

void change_batch_unit(struct change_batch *batch, const struct change *change, int64_t counter,
                       struct str payload_type, struct str payload_id)
{
    batch->units = grown(batch->arena, batch->units, batch->unit_count, &batch->unit_room,
                         sizeof(batch->units[0]));
    batch->units[batch->unit_count++] = (struct change_unit){
        .host_id = arena_str(batch->arena, str_from(change_host_id(change))),
        .counter = counter,
        .payload_type = arena_str(batch->arena, payload_type),
        .payload_id = arena_str(batch->arena, payload_id),
    };
    change_batch_id(batch, payload_id);
}

void change_batch_key(struct change_batch *batch, const char *semantic_key)
{
    add_token(batch, TOKEN_SEMANTIC_KEY, STR_NONE, str_from(semantic_key));
}

void change_batch_subtype(struct change_batch *batch, const char *name_space, struct str value)
{
    add_token(batch, TOKEN_SUBTYPE, str_from(name_space), value);
}

void change_batch_id(struct change_batch *batch, struct str entity_id)
{
    add_token(batch, TOKEN_ENTITY_ID, STR_NONE, entity_id);
}

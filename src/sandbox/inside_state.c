/* What the hand remembers between operations, and how it is told to the keeper.
 *
 * File operations run one at a time (the lane) because they share the map of what was read; a
 * search or a command only looks at the rules and has a working directory of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/inside_state.h"

#include <json-c/json.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json_put.h"
#include "sandbox/drain_int.h"
#include "sandbox/inside_int.h"

#define READ_FILES_MAX 2000

static pthread_mutex_t cwd_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lane = PTHREAD_MUTEX_INITIALIZER;
static struct op_state shared;
static struct map files;
static char *told; /* what the keeper knows of files */

void inside_state_init(const struct inside_setup *setup)
{
    struct json_object *read = json_find(setup->state, "read");
    struct str cwd = json_str(json_find(setup->state, "cwd"));
    struct json_object_iter at;

    shared.rules = (struct op_rules){ .allow_write = setup->allow_write,
                                      .deny_read = setup->deny_read,
                                      .deny_names = setup->deny_names,
                                      .deny_write = setup->deny_write };
    shared.cwd = cwd.n > 0 ? alloc_copy(cwd.p, cwd.n) : alloc_text(setup->cwd);
    shared.files_read = &files;
    if (!read || !json_object_is_type(read, json_type_object))
        return;
    json_object_object_foreachC(read, at)
    {
        free(map_put(&files, str_from(at.key), alloc_text(json_object_get_string(at.val))));
    }
}

void inside_state_borrow(struct op_state *state, struct arena *arena)
{
    pthread_mutex_lock(&cwd_lock);
    *state = shared;
    state->cwd = arena_text(arena, shared.cwd);
    pthread_mutex_unlock(&cwd_lock);
}

void op_state_set_cwd(struct op_ctx *ctx, const char *cwd)
{
    ctx->state->cwd = arena_text(ctx->arena, cwd);
    pthread_mutex_lock(&cwd_lock);
    free(shared.cwd);
    shared.cwd = alloc_text(cwd);
    pthread_mutex_unlock(&cwd_lock);
}

void inside_lane_enter(void)
{
    pthread_mutex_lock(&lane);
}

void inside_lane_leave(void)
{
    pthread_mutex_unlock(&lane);
}

/* The oldest are forgotten: such a file has to be read again before it is overwritten. */
static void forget_oldest(void)
{
    while (map_count(&files) > READ_FILES_MAX) {
        size_t at = 0;
        struct map_entry *entry = map_next(&files, &at);
        char *key = alloc_copy(entry->key.p, entry->key.n);

        free(map_remove(&files, str_from(key)));
        free(key);
    }
}

static void write_files(struct json_writer *w)
{
    json_write_object_begin(w);
    map_each (&files, entry) {
        json_write_key_str(w, entry->key);
        json_write_text(w, entry->value);
    }
    json_write_object_end(w);
}

void inside_state_write(struct json_writer *w, bool in_lane)
{
    AUTO_BUF text = BUF_INIT(FRAME_BYTES / 2);
    struct json_writer inner = JSON_WRITER(&text);

    json_write_object_begin(w);
    json_write_key(w, "cwd");
    pthread_mutex_lock(&cwd_lock);
    json_write_text(w, shared.cwd);
    pthread_mutex_unlock(&cwd_lock);
    if (in_lane) {
        forget_oldest();
        write_files(&inner);
        if (json_write_end(&inner) == 0 && (!told || strcmp(told, buf_text(&text)) != 0)) {
            json_put_raw(w, "read", buf_str(&text));
            free(told);
            told = buf_take(&text);
        }
    }
    json_write_object_end(w);
}

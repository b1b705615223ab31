/* Loading whole files, remembering what was read, showing differences.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/op_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/diff.h"
#include "base/file.h"
#include "base/json.h"

int op_check(const struct op_ctx *ctx, struct err *err)
{
    if (ctx->cancelled && atomic_load_explicit(ctx->cancelled, memory_order_relaxed))
        return err_set(err, ERR_CANCELLED, "the request was cancelled");
    if (ctx->deadline_ms && clock_mono_ms(clock_system()) >= ctx->deadline_ms)
        return err_set(err, ERR_TIMEOUT, "the time for this request is over");
    return 0;
}

int op_path_argument(struct json_object *arguments, struct str *ret_path, struct err *err)
{
    int r = json_get_str(arguments, "path", ret_path, err);

    if (r == 0)
        return err_set(err, ERR_BAD_REQUEST, "path is missing; expected the name of a file");
    return r < 0 ? -1 : 0;
}

void op_file_release(struct op_file *file)
{
    buf_release(&file->text);
}

int op_file_load(struct op_ctx *ctx, const struct access_place *place, struct op_file *ret_file,
                 struct err *err)
{
    AUTO_FD fd = -1;

    ret_file->exists = false;
    ret_file->sha256[0] = '\0';
    if (place->fd < 0)
        return 0;
    if (access_open(ctx, place, &fd, &ret_file->st, err) < 0)
        return -1;
    if (ret_file->st.st_size > OP_FILE_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "%s has %lld bytes; at most %u can be handled as a whole", place->path,
                       (long long)ret_file->st.st_size, OP_FILE_MAX);
    if (file_read_fd(fd, place->path, &ret_file->text, err) < 0)
        return -1;
    ret_file->exists = true;
    sha256_text(buf_str(&ret_file->text), ret_file->sha256);
    return 0;
}

/* ---- what was read ---- */

static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;

bool op_seen_find(struct op_state *state, const char *path, char ret_sha256[SHA256_TEXT_SIZE])
{
    const char *found;

    pthread_mutex_lock(&seen_lock);
    found = map_find(state->files_read, str_from(path));
    if (found)
        snprintf(ret_sha256, SHA256_TEXT_SIZE, "%s", found);
    pthread_mutex_unlock(&seen_lock);
    return found != NULL;
}

void op_seen_put(struct op_state *state, const char *path, const char *sha256)
{
    struct map_entry *oldest;
    size_t at = 0;

    pthread_mutex_lock(&seen_lock);
    free(map_remove(state->files_read, str_from(path)));
    if (map_count(state->files_read) >= OP_SEEN_MAX &&
        (oldest = map_next(state->files_read, &at)) != NULL)
        free(map_remove(state->files_read, oldest->key));
    free(map_put(state->files_read, str_from(path), alloc_text(sha256)));
    pthread_mutex_unlock(&seen_lock);
}

void op_seen_clear(struct op_state *state)
{
    pthread_mutex_lock(&seen_lock);
    map_each (state->files_read, entry)
        free(entry->value);
    map_release(state->files_read);
    pthread_mutex_unlock(&seen_lock);
}

static int check_way(struct json_object *arguments, const struct access_place *place,
                     struct err *err)
{
    struct json_object *value;
    bool without_links = false;

    if (json_get_bool(arguments, "without_links", &without_links, err) < 0)
        return -1;
    if (without_links && place->linked)
        return err_set(err, ERR_VERSION_CONFLICT,
                       "the path leads to %s by a link, which nobody decided about: decide anew",
                       place->path);
    if (json_object_object_get_ex(arguments, "expected_path", &value) &&
        !str_is(json_str(value), place->path))
        return err_set(
            err, ERR_VERSION_CONFLICT,
            "the path leads to %s now, and led to %.*s when it was decided about: decide "
            "anew",
            place->path, STR_ARG(str_take(json_str(value), LIMIT_PATH_BYTES)));
    return 0;
}

int op_check_version(struct json_object *arguments, const struct access_place *place,
                     const struct op_file *file, struct err *err)
{
    const char *path = place->path;
    struct json_object *value;
    struct str expected;

    if (check_way(arguments, place, err) < 0)
        return -1;
    if (!json_object_object_get_ex(arguments, "expected_version", &value))
        return 0;
    expected = json_str(value);
    if (value && !expected.p)
        return err_set(err, ERR_BAD_REQUEST,
                       "expected_version is no text; expected a SHA-256 in "
                       "hexadecimal, or null");
    if (!value && file->exists)
        return err_set(err, ERR_VERSION_CONFLICT, "%s was made meanwhile; read it and decide anew",
                       path);
    if (value && !str_is(expected, file->sha256))
        return err_set(err, ERR_VERSION_CONFLICT, "%s %s meanwhile; read it and decide anew", path,
                       file->exists ? "was changed" : "was removed");
    return 0;
}

/* ---- differences ---- */

static const char *why_no_diff(const struct op_file *old, struct str text)
{
    if (old->text.n > OP_DIFF_FROM || text.n > OP_DIFF_FROM)
        return "the texts are too large";
    if (memchr(buf_text(&old->text), '\0', old->text.n) || memchr(text.p, '\0', text.n))
        return "not text";
    return NULL;
}

void op_write_diff(struct json_writer *out, const char *path, const struct op_file *old,
                   struct str text, size_t max)
{
    AUTO_BUF shown = BUF_INIT(max);
    AUTO_DIFF diff = DIFF_INIT;
    const char *why = why_no_diff(old, text);

    if (!why && diff_make(buf_str(&old->text), text, &diff, NULL) < 0)
        why = "the texts are too large";
    if (!why && diff_unified(&diff, old->exists ? path : NULL, path, DIFF_CONTEXT, &shown) < 0)
        why = "the difference is too long";
    json_write_key(out, why ? "diff_omitted" : "diff");
    if (why)
        json_write_text(out, why);
    else
        json_write_str(out, buf_str(&shown));
}

/* write_file: a new file, or a new text for one that was read and is unchanged since.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_put.h"
#include "sandbox/op_file.h"

struct write {
    struct access_place place;
    struct op_file old;
    struct str content;
};

#define WRITE_INIT ((struct write){ .place = ACCESS_PLACE_INIT, .old = OP_FILE_INIT })

static void write_release(struct write *w)
{
    access_release(&w->place);
    op_file_release(&w->old);
}
#define AUTO_WRITE __attribute__((cleanup(write_release))) struct write

/* Why overwriting is not safe, with what to do. */
static int check_read_before(struct op_ctx *ctx, const struct write *w, struct err *err)
{
    char seen[SHA256_TEXT_SIZE];

    if (!w->old.exists)
        return 0;
    if (!op_seen_find(ctx->state, w->place.path, seen))
        return err_set(err, ERR_CONFLICT,
                       "%s exists and was not read yet: read it with read_file first, or change a "
                       "part of it with edit_file",
                       w->place.path);
    if (strcmp(seen, w->old.sha256) != 0)
        return err_set(err, ERR_CONFLICT,
                       "%s was changed since it was read: read it again with read_file, then write",
                       w->place.path);
    return 0;
}

static int get_content(struct json_object *arguments, struct str *ret_content, struct err *err)
{
    int r = json_get_str(arguments, "content", ret_content, err);

    if (r == 0)
        return err_set(err, ERR_BAD_REQUEST, "content is missing; expected the new text");
    if (r > 0 && ret_content->n > OP_FILE_MAX)
        return err_set(err, ERR_TOO_LARGE, "content has %zu bytes; at most %u are allowed",
                       ret_content->n, OP_FILE_MAX);
    return r < 0 ? -1 : 0;
}

static int prepare(struct op_ctx *ctx, struct json_object *arguments, struct write *w,
                   struct err *err)
{
    struct str path;

    if (op_path_argument(arguments, &path, err) < 0 ||
        get_content(arguments, &w->content, err) < 0 ||
        access_write(ctx, path, &w->place, err) < 0 ||
        op_file_load(ctx, &w->place, &w->old, err) < 0 ||
        op_check_version(arguments, &w->place, &w->old, err) < 0)
        return -1;
    return check_read_before(ctx, w, err);
}

int op_write_file(struct op_ctx *ctx, struct json_object *arguments, struct json_writer *out,
                  struct err *err)
{
    AUTO_WRITE w = WRITE_INIT;
    char sha256[SHA256_TEXT_SIZE];
    bool kept = true;

    if (prepare(ctx, arguments, &w, err) < 0)
        return -1;
    sha256_text(w.content, sha256);
    if (strcmp(sha256, w.old.sha256) != 0 &&
        op_file_replace(ctx, &w.place, &w.old, w.content, &kept, err) < 0)
        return -1;
    op_seen_put(ctx->state, w.place.path, sha256);
    json_write_object_begin(out);
    json_put_text(out, "path", w.place.path);
    json_put_bool(out, "created", !w.old.exists);
    json_put_u64(out, "bytes", w.content.n);
    json_put_text(out, "sha256", sha256);
    /* Of a new file the difference is its text, which the caller has. */
    if (w.old.exists)
        op_write_diff(out, w.place.path, &w.old, w.content, OP_DIFF_MAX);
    if (!kept) {
        json_put_text(out, "note", "the owner or mode could not be kept");
    }
    json_write_object_end(out);
    return 0;
}

int op_preview_write(struct op_ctx *ctx, struct json_object *arguments, struct json_writer *out,
                     struct err *err)
{
    AUTO_WRITE w = WRITE_INIT;

    if (prepare(ctx, arguments, &w, err) < 0)
        return -1;
    json_write_object_begin(out);
    json_put_text(out, "path", w.place.path);
    json_put_bool(out, "exists", w.old.exists);
    json_put_text(out, "target_version", w.old.exists ? w.old.sha256 : NULL);
    op_write_diff(out, w.place.path, &w.old, w.content, OP_DIFF_SEEN);
    json_write_object_end(out);
    return 0;
}

/* edit_file: exact replacements in a file, shown as a difference.
 *
 * That `old` is found is what makes an edit safe; the file need not have been read whole before.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_put.h"
#include "base/utf8.h"
#include "sandbox/op_edit.h"
#include "sandbox/op_file.h"

struct editing {
    struct access_place place;
    struct op_file old;
    struct edit edits[EDIT_COUNT_MAX];
    size_t count;
    struct buf text;
    size_t replacements;
};

#define EDITING_INIT                                                                               \
    ((struct editing){                                                                             \
        .place = ACCESS_PLACE_INIT, .old = OP_FILE_INIT, .text = BUF_INIT(OP_FILE_MAX) })

static void editing_release(struct editing *e)
{
    access_release(&e->place);
    op_file_release(&e->old);
    buf_release(&e->text);
}
#define AUTO_EDITING __attribute__((cleanup(editing_release))) struct editing

static int get_edit(struct json_object *object, struct edit *ret_edit, struct err *err)
{
    int has_old = json_get_str(object, "old", &ret_edit->old_text, err);
    int has_new = has_old < 0 ? -1 : json_get_str(object, "new", &ret_edit->new_text, err);

    if (has_old < 0 || has_new < 0 || json_get_bool(object, "all", &ret_edit->all, err) < 0)
        return -1;
    if (!has_old || !has_new)
        return err_set(err, ERR_BAD_REQUEST, "%s is missing; an edit has old and new",
                       has_old ? "new" : "old");
    return 0;
}

static int get_edits(struct json_object *arguments, struct editing *e, struct err *err)
{
    struct json_object *list;
    int r = json_get_array(arguments, "edits", &list, err);

    if (r < 0)
        return -1;
    if (r == 0) {
        e->count = 1;
        return get_edit(arguments, &e->edits[0], err);
    }
    if (json_find(arguments, "old") || json_find(arguments, "new"))
        return err_set(err, ERR_BAD_REQUEST, "give either edits or old and new, not both");
    e->count = json_length(list);
    if (e->count < 1 || e->count > EDIT_COUNT_MAX)
        return err_set(err, ERR_BAD_REQUEST, "edits has %zu items; 1 to %d are allowed", e->count,
                       EDIT_COUNT_MAX);
    for (size_t i = 0; i < e->count; i++)
        if (get_edit(json_object_array_get_idx(list, i), &e->edits[i], err) < 0)
            return err_wrap(err, "edits[%zu]", i);
    return 0;
}

static int prepare(struct op_ctx *ctx, struct json_object *arguments, struct editing *e,
                   struct err *err)
{
    struct str path;

    if (op_path_argument(arguments, &path, err) < 0 || get_edits(arguments, e, err) < 0 ||
        op_check(ctx, err) < 0 || access_write(ctx, path, &e->place, err) < 0 ||
        op_file_load(ctx, &e->place, &e->old, err) < 0 ||
        op_check_version(arguments, &e->place, &e->old, err) < 0)
        return -1;
    if (!e->old.exists)
        return err_set(err, ERR_NOT_FOUND, "%s does not exist; write_file makes files",
                       e->place.path);
    if (edit_apply(buf_str(&e->old.text), e->edits, e->count, &e->text, &e->replacements, err) < 0)
        return err_wrap(err, "edit %s", e->place.path);
    if (str_eq(buf_str(&e->text), buf_str(&e->old.text)))
        return err_set(err, ERR_BAD_REQUEST, "the edits undo each other: %s would not change",
                       e->place.path);
    return 0;
}

/* Who knew the whole text before knows it after. */
static void remember(struct op_ctx *ctx, const struct editing *e, const char *sha256)
{
    char seen[SHA256_TEXT_SIZE];

    if (op_seen_find(ctx->state, e->place.path, seen) && strcmp(seen, e->old.sha256) == 0)
        op_seen_put(ctx->state, e->place.path, sha256);
}

int op_edit_file(struct op_ctx *ctx, struct json_object *arguments, struct json_writer *out,
                 struct err *err)
{
    AUTO_EDITING e = EDITING_INIT;
    char sha256[SHA256_TEXT_SIZE];
    bool kept = true;

    if (prepare(ctx, arguments, &e, err) < 0 ||
        op_file_replace(ctx, &e.place, &e.old, buf_str(&e.text), &kept, err) < 0)
        return -1;
    sha256_text(buf_str(&e.text), sha256);
    remember(ctx, &e, sha256);
    json_write_object_begin(out);
    json_put_text(out, "path", e.place.path);
    json_put_u64(out, "replacements", e.replacements);
    json_put_u64(out, "bytes", e.text.n);
    json_put_text(out, "sha256", sha256);
    op_write_diff(out, e.place.path, &e.old, buf_str(&e.text), OP_DIFF_MAX);
    if (!kept) {
        json_put_text(out, "note", "the owner or mode could not be kept");
    }
    json_write_object_end(out);
    return 0;
}

int op_preview_edit(struct op_ctx *ctx, struct json_object *arguments, struct json_writer *out,
                    struct err *err)
{
    AUTO_EDITING e = EDITING_INIT;

    if (prepare(ctx, arguments, &e, err) < 0)
        return -1;
    json_write_object_begin(out);
    json_put_text(out, "path", e.place.path);
    json_put_bool(out, "exists", true);
    json_put_text(out, "target_version", e.old.sha256);
    json_put_u64(out, "replacements", e.replacements);
    op_write_diff(out, e.place.path, &e.old, buf_str(&e.text), OP_DIFF_SEEN);
    json_write_object_end(out);
    return 0;
}

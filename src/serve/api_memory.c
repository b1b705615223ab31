/* /agents/{id}/memory: what an agent keeps, read and changed by the person it belongs to.
 *
 * Shapes and names are the seed's (snake_case). The person's own changes are versions like any
 * other, with "owner" as their author; nobody has to approve them. They may say which version they
 * follow, and are refused when it is another by now.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/limits.h"
#include "base/utf8.h"
#include "change/taint.h"
#include "memory/edit.h"
#include "serve/api_int.h"
#include "skill/skill.h"

/* ---- members ---- */

static void write_file(struct json_writer *w, const struct file *file)
{
    json_write_object_begin(w);
    json_put_str(w, "path", file->path);
    json_put_str(w, "content_type", file->content_type);
    json_put_some_time(w, "created_at", file->created_at);
    json_put_some_time(w, "updated_at", file->updated_at);
    json_put_i64(w, "size_bytes", file->size);
    json_put_i64(w, "version", file->version);
    json_put_bool(w, "writable", file->version > 0);
    taint_put(w, file->taint);
    json_write_object_end(w);
}

/* What is no text is sent with its bytes replaced; it can still be restored and deleted. */
static void write_content(struct json_writer *w, const struct file *file)
{
    AUTO_BUF text = BUF_INIT(3 * FILE_BYTES_MAX + 16);

    utf8_sanitise(file->content, &text);
    json_write_object_begin(w);
    json_put_str(w, "path", file->path);
    json_put_str(w, "content", buf_str(&text));
    json_put_str(w, "content_type", file->content_type);
    json_put_some_time(w, "updated_at", file->updated_at);
    json_put_i64(w, "size_bytes", file->size);
    json_put_i64(w, "version", file->version);
    json_put_str(w, "author", file->author);
    json_put_str(w, "reason", file->reason);
    json_put_bool(w, "writable", file->version > 0);
    if (file->deleted)
        json_put_bool(w, "deleted", true);
    json_put_some_str(w, "inbox_id", file->inbox_id);
    taint_put(w, file->taint);
    json_write_object_end(w);
}

/* ---- which file ---- */

struct place {
    struct agent agent;
    struct str seen, path, tree; /* as agents see it; the store's */
};

static struct files *files_of(struct serve_request *request)
{
    return api_of(request)->config.files;
}

/* The agent of {id} and the file of {path...}; answers when there is something wrong with them. */
static int find_place(struct serve_request *request, bool write, struct place *ret_place)
{
    struct arena *arena = serve_request_arena(request);
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_agent(request, &ret_place->agent) < 0)
        return -1;
    ret_place->seen = serve_request_param(request, "path");
    ret_place->tree = memory_tree(&ret_place->agent, arena);
    if (memory_path(ret_place->seen, write, arena, &ret_place->path, &err) == 0)
        return 0;
    serve_reply_error(request, &err);
    return -1;
}

static int refuse_absent(const struct place *place, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "the agent %s has no file %.*s", place->agent.id,
                   STR_ARG(place->seen));
}

static void reply_content(struct serve_request *request, int status, struct file *file)
{
    AUTO_BUF json = BUF_INIT(4 * LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    file->path = memory_seen_path(file->path, serve_request_arena(request));
    write_content(&w, file);
    api_reply(request, status, &json, &w);
}

/* ---- looking ---- */

/* What stands in the agent's folder and was not taken, or could not be written there, and why. */
static void write_problems(struct serve_request *request, struct json_writer *w,
                           const struct agent *agent)
{
    struct arena *arena = serve_request_arena(request);
    struct str tree = memory_tree(agent, arena);
    struct file_problem *problems;
    size_t n;

    files_problems(files_of(request), arena, &problems, &n);
    json_put_array(w, "problems");
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(problems[i].tree, tree))
            continue;
        json_write_object_begin(w);
        json_put_str(w, "path", problems[i].path);
        json_put_str(w, "message", problems[i].text);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

void api_memory_list(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct file *files;
    struct agent agent;
    struct err err = ERR_INIT;
    int64_t total = 0;
    size_t n;

    if (api_check_query(request) < 0 || api_agent(request, &agent) < 0)
        return;
    if (memory_list(files_of(request), &agent, STR_NONE, serve_request_arena(request), &files, &n,
                    &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_array(&w, "files");
    for (size_t i = 0; i < n; i++) {
        write_file(&w, &files[i]);
        total += files[i].version ? files[i].size : 0;
    }
    json_write_array_end(&w);
    write_problems(request, &w, &agent);
    json_put_i64(&w, "total_bytes", total);
    json_put_i64(&w, "limit_bytes", LIMIT_MEMORY_FULL_BYTES);
    if (total > LIMIT_MEMORY_WARN_BYTES)
        json_put_some_text(&w, "warning",
                           total > LIMIT_MEMORY_FULL_BYTES
                               ? "The agent's memory is larger than 100 KB: it may cost attention."
                               : "The agent's memory is nearly full: 80 of 100 KB are used.");
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

static int get_file(struct serve_request *request, const struct place *place, int64_t version,
                    struct file *ret_file, struct err *err)
{
    struct arena *arena = serve_request_arena(request);
    int r = version
                ? file_get_version(files_of(request), place->tree, place->path, version, arena,
                                   ret_file, err)
                : memory_read(files_of(request), &place->agent, place->seen, arena, ret_file, err);

    if (r == 0 && version)
        return err_set(err, ERR_NOT_FOUND, "the agent %s has no version %lld of %.*s",
                       place->agent.id, (long long)version, STR_ARG(place->seen));
    return r == 0 ? refuse_absent(place, err) : r < 0 ? -1 : 0;
}

void api_memory_get(struct serve_request *request)
{
    struct err err = ERR_INIT;
    struct place place;
    struct file file;
    int64_t version = 0;

    if (find_place(request, false, &place) < 0 ||
        api_query_i64(request, "version", 1, INT64_MAX, &version) < 0)
        return;
    if (get_file(request, &place, version, &file, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_content(request, 200, &file);
}

static void write_version(struct json_writer *w, const struct file *file)
{
    json_write_object_begin(w);
    json_put_i64(w, "version", file->version);
    json_put_i64(w, "size_bytes", file->size);
    json_put_str(w, "author", file->author);
    json_put_str(w, "reason", file->reason);
    json_put_some_time(w, "created_at", file->updated_at);
    json_put_bool(w, "deleted", file->deleted);
    json_put_some_str(w, "inbox_id", file->inbox_id);
    taint_put(w, file->taint);
    json_write_object_end(w);
}

void api_memory_history(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    int64_t before = 0, limit = 100;
    struct file *versions;
    struct err err = ERR_INIT;
    struct place place;
    size_t n;
    int r;

    if (find_place(request, false, &place) < 0 ||
        api_query_i64(request, "before", 1, INT64_MAX, &before) < 0 ||
        api_query_i64(request, "limit", 1, 500, &limit) < 0)
        return;
    r = file_history(files_of(request), place.tree, place.path, before, (int)limit,
                     serve_request_arena(request), &versions, &n, &err);
    if (r >= 0 && n == 0 && !before)
        r = refuse_absent(&place, &err);
    if (r < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_str(&w, "path", place.seen);
    json_put_array(&w, "versions");
    for (size_t i = 0; i < n; i++)
        write_version(&w, &versions[i]);
    json_write_array_end(&w);
    if (n == (size_t)limit)
        json_put_i64(&w, "before", versions[n - 1].version);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

/* ---- changing ---- */

/* In a unit of its own. restore 0: the write itself. */
static int put_file(struct serve_request *request, const struct place *place,
                    const struct file_write *write, int64_t restore, struct file *ret_file,
                    struct err *err)
{
    const struct api_config *config = &api_of(request)->config;
    struct arena *arena = serve_request_arena(request);
    int r;

    if (loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = restore ? file_restore(config->files, place->tree, place->path, restore, API_OWNER,
                               write->reason, arena, ret_file, err)
                : file_put(config->files, write, arena, ret_file, err);
    if (loop_unit_end(config->loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r;
}

struct put_body {
    struct str content, reason;
    int64_t base;
};

static const struct json_field put_fields[] = {
    JSON_FIELD(struct put_body, content, "content", JSON_STR, .required = true),
    JSON_FIELD(struct put_body, reason, "reason", JSON_STR),
    JSON_FIELD(struct put_body, base, "base_version", JSON_I64),
    { .name = NULL },
};

/* A file that is there keeps its spelling. An edit does not vouch for the rest of its text: where
 * it came from stays with it. 1 there is one, 0 none. */
static int follow_file(struct serve_request *request, struct place *place, struct file_write *write,
                       struct err *err)
{
    struct arena *arena = serve_request_arena(request);
    struct file now;
    int r = file_get(files_of(request), write->tree, write->path, arena, &now, err);

    if (r <= 0)
        return r;
    write->taint = now.taint;
    write->path = place->path = now.path;
    place->seen = memory_seen_path(now.path, arena);
    return 1;
}

void api_memory_put(struct serve_request *request)
{
    struct put_body body = { .base = FILE_ANY_VERSION };
    struct arena *arena = serve_request_arena(request);
    struct file_write write;
    struct err err = ERR_INIT;
    AUTO_JSON json = NULL;
    struct place place;
    struct file file;
    int there = 0;

    if (find_place(request, true, &place) < 0 || api_body(request, put_fields, &body, &json) < 0)
        return;
    write = (struct file_write){ .tree = place.tree,
                                 .path = place.path,
                                 .content = body.content.p ? body.content : STR(""),
                                 .base = body.base,
                                 .author = API_OWNER,
                                 .reason = body.reason };
    if (memory_edit_check(&(struct memory_edit){ .path = place.seen,
                                                 .content = write.content,
                                                 .reason = body.reason },
                          arena, &err) < 0 ||
        (there = follow_file(request, &place, &write, &err)) < 0 ||
        skills_check_file(place.path, write.content, arena, &err) < 0 ||
        put_file(request, &place, &write, 0, &file, &err) < 0 ||
        get_file(request, &place, 0, &file, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_content(request, there ? 200 : 201, &file);
}

void api_memory_delete(struct serve_request *request)
{
    struct file_write write = { .remove = true, .base = FILE_ANY_VERSION, .author = API_OWNER };
    struct err err = ERR_INIT;
    struct place place;
    struct file file;

    if (find_place(request, true, &place) < 0 ||
        api_query_i64(request, "base_version", 1, INT64_MAX, &write.base) < 0)
        return;
    write.tree = place.tree;
    write.path = place.path;
    write.reason = serve_request_query(request, "reason");
    if (get_file(request, &place, 0, &file, &err) < 0 ||
        put_file(request, &place, &write, 0, &file, &err) < 0) {
        serve_reply_error(request, &err);
    } else if (api_reply_begin(request) == 0) {
        serve_reply_empty(request, 204);
        api_reply_end(request);
    }
}

struct restore_body {
    struct str reason;
    int64_t version;
};

static const struct json_field restore_fields[] = {
    JSON_FIELD(struct restore_body, version, "version", JSON_I64, .required = true),
    JSON_FIELD(struct restore_body, reason, "reason", JSON_STR),
    { .name = NULL },
};

void api_memory_restore(struct serve_request *request)
{
    struct restore_body body = { .version = 0 };
    struct err err = ERR_INIT;
    AUTO_JSON json = NULL;
    struct place place;
    struct file file;
    int r;

    if (find_place(request, true, &place) < 0 ||
        api_body(request, restore_fields, &body, &json) < 0)
        return;
    r = body.version < 1
            ? err_set(&err, ERR_SCHEMA_VIOLATION, "version: must be a number from 1 on")
            : put_file(request, &place, &(struct file_write){ .reason = body.reason }, body.version,
                       &file, &err);
    if (r >= 0)
        r = file_get_version(files_of(request), place.tree, place.path, file.version,
                             serve_request_arena(request), &file, &err);
    if (r < 0)
        serve_reply_error(request, &err);
    else
        reply_content(request, 200, &file);
}

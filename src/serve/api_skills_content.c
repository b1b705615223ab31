/* /agents/{id}/skills: archives of skills, and single files of one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "serve/api_skills_int.h"

/* ---- archives ---- */

void api_skills_import(struct serve_request *request)
{
    struct api *api = api_of(request);
    struct arena *arena = serve_request_arena(request);
    struct archive_entry *entries;
    struct skill made = { .name = STR_NONE };
    struct agent agent;
    struct err err = ERR_INIT;
    size_t count;
    int r;

    if (api_check_query(request) < 0 || api_agent(request, &agent) < 0)
        return;
    r = archive_read(serve_request_body(request), NULL, arena, &entries, &count, &err);
    if (r == 0)
        r = loop_unit_begin(api->config.loop, api->config.agent_domain, &err);
    if (r == 0)
        r = api_skills_unit_end(
            api, skills_import(api->config.skills, &agent, entries, count, arena, &made, &err),
            &err);
    if (r < 0)
        serve_reply_error(request, &err);
    else
        api_skills_reply(request, 201, &agent, made.name);
}

struct validate_body {
    struct str content;
};

static const struct json_field validate_fields[] = {
    JSON_FIELD(struct validate_body, content, "content", JSON_STR, .required = true),
    { .name = NULL },
};

/* A JSON body holds the text of a SKILL.md; anything else is an archive. */
static int read_to_validate(struct serve_request *request, struct json_object **ret_body,
                            struct archive_entry **ret_entries, size_t *ret_count)
{
    struct arena *arena = serve_request_arena(request);
    struct str bytes = serve_request_body(request);
    struct validate_body read = { .content = STR_NONE };
    struct err err = ERR_INIT;

    if (!str_trim(bytes).n || str_trim(bytes).p[0] == '{') {
        if (api_body(request, validate_fields, &read, ret_body) < 0)
            return -1;
        *ret_entries = ARENA_NEW(arena, struct archive_entry);
        **ret_entries = (struct archive_entry){ .path = STR("SKILL.md"), .content = read.content };
        *ret_count = 1;
        return 0;
    }
    if (archive_read(bytes, NULL, arena, ret_entries, ret_count, &err) == 0)
        return 0;
    serve_reply_error(request, &err);
    return -1;
}

void api_skills_validate(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    AUTO_JSON body = NULL;
    struct archive_entry *entries;
    struct skill_problem *problems;
    struct str name = STR_NONE;
    size_t count, n;

    if (api_check_query(request) < 0 || read_to_validate(request, &body, &entries, &count) < 0)
        return;
    n = skill_validate_archive(entries, count, serve_request_arena(request), &problems, &name);
    json_write_object_begin(&w);
    json_put_bool(&w, "valid", n == 0);
    json_put_array(&w, "problems");
    for (size_t i = 0; i < n; i++)
        json_write_str(&w, problems[i].text);
    json_write_array_end(&w);
    json_put_some_str(&w, "name", name);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

/* ---- files ---- */

static const struct archive_entry *find_file(const struct archive_entry *entries, size_t count,
                                             struct str path)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(entries[i].path, path))
            return &entries[i];
    return NULL;
}

/* What is no text comes as base64. */
static void write_content(struct json_writer *w, const struct archive_entry *entry)
{
    bool text = utf8_valid(entry->content);
    AUTO_BUF base64 = BUF_INIT(2 * entry->content.n + 64);

    if (!text)
        base64_encode(entry->content, &base64);
    json_write_object_begin(w);
    json_put_some_str(w, "path", entry->path);
    json_put_str(w, "content", text ? entry->content : buf_str(&base64));
    json_put_some_text(w, "encoding", text ? "utf-8" : "base64");
    json_put_some_text(w, "content_type", text ? "text/plain" : "application/octet-stream");
    json_put_i64(w, "size_bytes", (int64_t)entry->content.n);
    json_write_object_end(w);
}

void api_skills_file(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct arena *arena = serve_request_arena(request);
    struct str id = serve_request_param(request, "skillId");
    struct str path = serve_request_param(request, "path");
    const struct archive_entry *entry = NULL;
    struct archive_entry *entries;
    struct agent agent;
    struct err err = ERR_INIT;
    size_t count;
    int r;

    if (api_check_query(request) < 0 || api_agent(request, &agent) < 0)
        return;
    r = skills_files(api_of(request)->config.skills, &agent, id, arena, &entries, &count, &err);
    if (r == 0) {
        api_skills_absent(request, &agent, id);
        return;
    }
    if (r > 0)
        entry = find_file(entries, count, path);
    if (!entry) {
        if (r > 0)
            err_set(&err, ERR_NOT_FOUND, "the skill has no file \"%.*s\"",
                    STR_ARG(utf8_truncate(path, 200)));
        serve_reply_error(request, &err);
        return;
    }
    write_content(&w, entry);
    api_reply(request, 200, &json, &w);
}

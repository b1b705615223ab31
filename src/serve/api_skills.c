/* /agents/{id}/skills: an agent's skills, in the shapes of the agent builder (snake_case).
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/utf8.h"
#include "serve/api_skills_int.h"

/* ---- what is told of a skill ---- */

static void write_files(struct json_writer *w, const struct archive_entry *entries, size_t count)
{
    json_put_array(w, "files");
    for (size_t i = 0; i < count; i++)
        json_write_str(w, entries[i].path);
    json_write_array_end(w);
}

static void write_skill(struct json_writer *w, const struct skill *skill, struct arena *arena,
                        const struct archive_entry *entries, size_t count)
{
    json_write_object_begin(w);
    json_put_some_str(w, "id",
                      skill->shared
                          ? str_from(arena_printf(arena, "shared:%.*s", STR_ARG(skill->name)))
                          : skill->id);
    json_put_some_str(w, "name", skill->name);
    json_put_str(w, "description", skill->description);
    json_put_str(w, "instructions", skill->instructions);
    json_put_some_time(w, "created_at", skill->created_at);
    json_put_some_time(w, "updated_at", skill->updated_at);
    json_put_some_str(w, "license", skill->license);
    json_put_some_str(w, "compatibility", skill->compatibility);
    api_put_json(w, "metadata", skill->metadata.n ? skill->metadata : STR("{}"));
    api_put_json(w, "allowed_tools", skill->allowed_tools.n ? skill->allowed_tools : STR("[]"));
    json_put_some_str(w, "source", skill->source);
    json_put_bool(w, "shared", skill->shared);
    json_put_bool(w, "enabled", skill->enabled);
    json_put_some_str(w, "content_hash", skill->content_hash);
    json_put_some_str(w, "signature", skill->signature);
    json_put_some_str(w, "problem", skill->problem);
    write_files(w, entries, count);
    json_write_object_end(w);
}

/* With its instructions and the names of its files. */
struct whole {
    struct skill skill;
    struct archive_entry *entries;
    size_t count;
};

static int write_whole(struct serve_request *request, struct json_writer *w,
                       const struct agent *agent, struct str id, struct whole *ret_whole,
                       struct err *err)
{
    struct arena *arena = serve_request_arena(request);
    int r = skills_get(api_of(request)->config.skills, agent, id, arena, &ret_whole->skill, err);

    if (r <= 0)
        return r;
    r = skills_files(api_of(request)->config.skills, agent, id, arena, &ret_whole->entries,
                     &ret_whole->count, err);
    if (r <= 0)
        return r;
    write_skill(w, &ret_whole->skill, arena, ret_whole->entries, ret_whole->count);
    return 1;
}

void api_skills_list(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct arena *arena = serve_request_arena(request);
    struct err err = ERR_INIT;
    struct whole whole;
    struct skill *list;
    struct agent agent;
    size_t n;

    if (api_check_query(request) < 0 || api_agent(request, &agent) < 0)
        return;
    if (skills_list(api_of(request)->config.skills, &agent, arena, &list, &n, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_array(&w, "skills");
    for (size_t i = 0; i < n; i++) {
        if (write_whole(request, &w, &agent, list[i].name, &whole, &err) < 0) {
            serve_reply_error(request, &err);
            return;
        }
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_skills_absent(struct serve_request *request, const struct agent *agent, struct str id)
{
    struct err err = ERR_INIT;

    err_set(&err, ERR_NOT_FOUND, "the agent %s has no skill \"%.*s\"", agent->id,
            STR_ARG(utf8_truncate(id, 200)));
    serve_reply_error(request, &err);
}

static void write_warnings(struct serve_request *request, struct json_writer *w,
                           const struct skill *skill, const struct archive_entry *entries,
                           size_t count)
{
    struct str warnings[SKILL_WARNINGS_MAX];
    size_t n = skills_warnings(api_of(request)->config.skills, skill, entries, count,
                               serve_request_arena(request), warnings);

    json_put_array(w, "warnings");
    for (size_t i = 0; i < n; i++)
        json_write_str(w, warnings[i]);
    json_write_array_end(w);
}

void api_skills_reply(struct serve_request *request, int status, const struct agent *agent,
                      struct str id)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct err err = ERR_INIT;
    struct whole whole;
    int r;

    json_write_object_begin(&w);
    json_write_key(&w, "skill");
    r = write_whole(request, &w, agent, id, &whole, &err);
    if (r < 0) {
        serve_reply_error(request, &err);
        return;
    }
    if (r == 0) {
        api_skills_absent(request, agent, id);
        return;
    }
    if (status == 201)
        write_warnings(request, &w, &whole.skill, whole.entries, whole.count);
    json_write_object_end(&w);
    api_reply(request, status, &json, &w);
}

void api_skills_get(struct serve_request *request)
{
    struct agent agent;

    if (api_check_query(request) == 0 && api_agent(request, &agent) == 0)
        api_skills_reply(request, 200, &agent, serve_request_param(request, "skillId"));
}

/* ---- making and changing ---- */

struct skill_body {
    struct str name, description, instructions, license, compatibility;
    struct json_object *metadata, *allowed_tools, *enabled;
};

static const struct json_field skill_fields[] = {
    JSON_FIELD(struct skill_body, name, "name", JSON_STR),
    JSON_FIELD(struct skill_body, description, "description", JSON_STR),
    JSON_FIELD(struct skill_body, instructions, "instructions", JSON_STR),
    JSON_FIELD(struct skill_body, license, "license", JSON_STR),
    JSON_FIELD(struct skill_body, compatibility, "compatibility", JSON_STR),
    JSON_FIELD(struct skill_body, metadata, "metadata", JSON_OBJECT),
    JSON_FIELD(struct skill_body, allowed_tools, "allowed_tools", JSON_ARRAY),
    JSON_FIELD(struct skill_body, enabled, "enabled", JSON_ANY),
    { .name = NULL },
};

/* Values that are no text are refused: what is enforced and kept has to be what was meant. */
static int check_texts(struct json_object *value, const char *name, struct err *err)
{
    if (json_object_is_type(value, json_type_array)) {
        for (size_t i = 0; i < json_length(value); i++)
            if (!json_object_is_type(json_object_array_get_idx(value, i), json_type_string))
                return err_set(err, ERR_BAD_REQUEST, "%s: item %zu must be text", name, i + 1);
    } else if (value) {
        struct json_object_iter it;

        json_object_object_foreachC(value, it)
        {
            if (!json_object_is_type(it.val, json_type_string))
                return err_set(err, ERR_BAD_REQUEST, "%s: \"%.60s\" must be text", name, it.key);
        }
    }
    return 0;
}

static struct str as_text(struct json_object *value, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&out);

    if (!value)
        return STR_NONE;
    json_write_value(&w, value);
    return arena_str(arena, buf_str(&out));
}

static int read_skill(struct serve_request *request, const struct skill_body *body,
                      struct skill *ret_skill, struct err *err)
{
    struct arena *arena = serve_request_arena(request);

    if (check_texts(body->metadata, "metadata", err) < 0 ||
        check_texts(body->allowed_tools, "allowed_tools", err) < 0)
        return -1;
    if (body->enabled && !json_object_is_type(body->enabled, json_type_boolean))
        return err_set(err, ERR_BAD_REQUEST, "enabled: must be true or false");
    *ret_skill = (struct skill){
        .name = body->name,
        .description = body->description,
        .instructions = body->instructions,
        .license = body->license,
        .compatibility = body->compatibility,
        .metadata = as_text(body->metadata, arena),
        .allowed_tools = as_text(body->allowed_tools, arena),
    };
    return 0;
}

static bool changes_text(const struct skill *skill)
{
    return skill->name.p || skill->description.p || skill->instructions.p || skill->license.p ||
           skill->compatibility.p || skill->metadata.p || skill->allowed_tools.p;
}

int api_skills_unit_end(struct api *api, int r, struct err *err)
{
    if (loop_unit_end(api->config.loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r < 0 ? -1 : 0;
}

void api_skills_add(struct serve_request *request)
{
    struct api *api = api_of(request);
    struct arena *arena = serve_request_arena(request);
    struct skill_body read = { .name = STR_NONE };
    AUTO_JSON body = NULL;
    struct skill skill, made = { .name = STR_NONE };
    struct agent agent;
    struct err err = ERR_INIT;
    int r;

    if (api_check_query(request) < 0 || api_body(request, skill_fields, &read, &body) < 0 ||
        api_agent(request, &agent) < 0)
        return;
    r = read_skill(request, &read, &skill, &err);
    if (r == 0)
        r = loop_unit_begin(api->config.loop, api->config.agent_domain, &err);
    if (r == 0)
        r = api_skills_unit_end(
            api, skills_add(api->config.skills, &agent, &skill, API_OWNER, arena, &made, &err),
            &err);
    if (r < 0)
        serve_reply_error(request, &err);
    else
        api_skills_reply(request, 201, &agent, made.name);
}

static int change(struct api *api, const struct agent *agent, struct str id,
                  const struct skill *skill, struct json_object *enabled, struct arena *arena,
                  struct skill *ret_skill, struct err *err)
{
    int r = 0;

    if (loop_unit_begin(api->config.loop, api->config.agent_domain, err) < 0)
        return -1;
    if (changes_text(skill)) {
        r = skills_change(api->config.skills, agent, id, skill, API_OWNER, arena, ret_skill, err);
        id = r < 0 ? id : ret_skill->name;
    }
    if (r == 0 && enabled)
        r = skills_enable(api->config.skills, agent, id, json_object_get_boolean(enabled), arena,
                          ret_skill, err);
    return api_skills_unit_end(api, r, err);
}

void api_skills_change(struct serve_request *request)
{
    struct api *api = api_of(request);
    struct arena *arena = serve_request_arena(request);
    struct str id = serve_request_param(request, "skillId");
    struct skill_body read = { .name = STR_NONE };
    AUTO_JSON body = NULL;
    struct skill skill, changed = { .name = id };
    struct agent agent;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, skill_fields, &read, &body) < 0 ||
        api_agent(request, &agent) < 0)
        return;
    if (read_skill(request, &read, &skill, &err) < 0 ||
        change(api, &agent, id, &skill, read.enabled, arena, &changed, &err) < 0)
        serve_reply_error(request, &err);
    else
        api_skills_reply(request, 200, &agent, changed.name);
}

void api_skills_remove(struct serve_request *request)
{
    struct api *api = api_of(request);
    struct agent agent;
    struct err err = ERR_INIT;
    int r;

    if (api_check_query(request) < 0 || api_agent(request, &agent) < 0)
        return;
    r = loop_unit_begin(api->config.loop, api->config.agent_domain, &err);
    if (r == 0)
        r = api_skills_unit_end(api,
                                skills_remove(api->config.skills, &agent,
                                              serve_request_param(request, "skillId"), API_OWNER,
                                              &err),
                                &err);
    if (r < 0) {
        serve_reply_error(request, &err);
    } else if (api_reply_begin(request) == 0) {
        serve_reply_empty(request, 204);
        api_reply_end(request);
    }
}

void api_skills_restore(struct serve_request *request)
{
    struct api *api = api_of(request);
    struct skill back = { .name = STR_NONE };
    struct agent agent;
    struct err err = ERR_INIT;
    int r;

    if (api_check_query(request) < 0 || api_agent(request, &agent) < 0)
        return;
    r = loop_unit_begin(api->config.loop, api->config.agent_domain, &err);
    if (r == 0)
        r = api_skills_unit_end(api,
                                skills_restore(api->config.skills, &agent,
                                               serve_request_param(request, "skillId"), API_OWNER,
                                               serve_request_arena(request), &back, &err),
                                &err);
    if (r < 0)
        serve_reply_error(request, &err);
    else
        api_skills_reply(request, 200, &agent, back.name);
}

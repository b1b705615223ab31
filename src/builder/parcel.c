/* An agent as one archive.
 *
 *   agent.json    settings as canonical JSON: what a person chose, no ids, times or permissions
 *   AGENTS.md     its instructions
 *   skills/...    its skills
 *   knowledge/... what it knows
 *   wakes.json    subscriptions and timers, when there are any (wakes.c)
 *
 * The same agent is the same bytes, and an agent that was imported exports what it was made of.
 * A secret never goes out: neither one that is kept here nor what is one by its form (a token, a
 * private key). A note that merely speaks of a password is what the agent knows, and goes. Coming
 * in, nothing is trusted: the archive is bounded, every member checked as if a person had typed it,
 * files are marked as imported, and what a person has to allow here (memory without approval,
 * categories of the journal) is not taken over.
 *
 * Version 1 had neither mode, session nor wakes.json; such archives are read as they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <string.h>

#include "base/json.h"
#include "base/json_canonical.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/redact.h"
#include "base/utf8.h"
#include "builder/builder_int.h"
#include "change/taint.h"
#include "files/archive.h"
#include "files/files.h"
#include "memory/edit.h"
#include "skill/skill.h"

#define FORMAT         "dormouse-agent"
#define VERSION        2
#define SETTINGS_BYTES (256 * KIB)

static const struct archive_limits limits = { 1000, 1 * MIB, 16 * MIB };

static bool is_kept(struct str path)
{
    return str_starts(path, STR("skills/")) || str_starts(path, STR("knowledge/"));
}

/* ---- both ways ---- */

static int check_size(const struct archive_entry *entry, size_t max, struct err *err)
{
    if (entry->content.n <= max)
        return 0;
    return err_set(err, ERR_TOO_LARGE, "%.*s has %zu bytes; at most %zu are allowed",
                   STR_ARG(str_take(entry->path, 200)), entry->content.n, max);
}

/* What agents and people read. What lies beside a skill may be anything. */
static int check_text(const struct archive_entry *entry, size_t max, struct err *err)
{
    if (check_size(entry, max, err) < 0)
        return -1;
    if (!utf8_valid(entry->content))
        return err_set(err, ERR_BAD_REQUEST, "%.*s is not valid UTF-8",
                       STR_ARG(str_take(entry->path, 200)));
    return 0;
}

static int check_skill(const struct archive_entry *entry, struct arena *arena, struct err *err)
{
    if (!str_ends(entry->path, STR(".md")))
        return check_size(entry, limits.entry_bytes, err);
    if (check_text(entry, SKILL_TEXT_MAX, err) < 0)
        return -1;
    return skills_check_file(entry->path, entry->content, arena, err);
}

static int check_entry(const struct archive_entry *entry, struct arena *arena, struct err *err)
{
    struct str path = entry->path;

    if (str_is(path, "AGENTS.md"))
        return 0; /* as the agent's instructions */
    if (str_is(path, "agent.json"))
        return check_text(entry, SETTINGS_BYTES, err);
    if (str_is(path, "wakes.json"))
        return check_text(entry, BUILDER_WAKES_BYTES, err);
    if (!is_kept(path))
        return err_set(
            err, ERR_BAD_REQUEST,
            "%.*s has no place in an agent; there are agent.json, AGENTS.md, wakes.json, skills/ "
            "and knowledge/",
            STR_ARG(str_take(path, 200)));
    if (str_starts(path, STR("skills/")))
        return check_skill(entry, arena, err);
    return check_text(entry, LIMIT_MEMORY_FILE_BYTES, err);
}

/* ---- out ---- */

static int write_settings(const struct agent *agent, struct arena *arena, struct str *ret_text,
                          struct err *err)
{
    AUTO_BUF plain = BUF_INIT(SETTINGS_BYTES);
    AUTO_BUF canonical = BUF_INIT(SETTINGS_BYTES);
    struct json_writer w = JSON_WRITER(&plain);
    AUTO_JSON value = NULL;

    json_write_object_begin(&w);
    json_put_text(&w, "format", FORMAT);
    json_put_i64(&w, "version", VERSION);
    json_put_text(&w, "displayName", agent->display_name);
    json_put_text(&w, "description", agent->description);
    json_put_text(&w, "mode", agent->mode);
    json_put_i64(&w, "sessionTtlSeconds", agent->session_ttl_ms / 1000);
    if (agent->template) {
        json_put_text(&w, "template", agent->template);
    }
    if (agent->model_id) {
        json_put_text(&w, "model", agent->model_id);
    }
    if (agent->tools) {
        json_put_raw(&w, "tools", str_from(agent->tools));
    }
    if (agent->extension && strcmp(agent->extension, "{}") != 0) {
        json_put_raw(&w, "extension", str_from(agent->extension));
    }
    json_write_object_end(&w);
    if (json_write_end(&w) < 0 || json_parse(buf_str(&plain), &value, err) < 0 ||
        json_canonical(value, &canonical, err) < 0)
        return err_wrap(err, "agent.json");
    buf_add_text(&canonical, "\n");
    *ret_text = arena_str(arena, buf_str(&canonical));
    return 0;
}

static int refuse_secrets(const struct archive_entry *entry, struct err *err)
{
    if (!redact_finds(entry->content))
        return 0;
    return err_set(err, ERR_CONFLICT,
                   "%.*s holds a secret, so the agent is not exported; take it out of the file "
                   "first",
                   STR_ARG(str_take(entry->path, 200)));
}

static int add_files(struct builder *builder, const struct agent *agent, struct arena *arena,
                     struct archive_entry **entries, size_t *count, struct err *err)
{
    struct str tree = builder_tree(agent->id, arena);
    struct archive_entry *all;
    struct file *list = NULL, file;
    size_t n = 0;

    if (builder->config.files &&
        file_list(builder->config.files, tree, STR(""), arena, &list, &n, err) < 0)
        return -1;
    all = ARENA_NEW_N(arena, struct archive_entry, n + *count + 1);
    memcpy(all, *entries, *count * sizeof(*all));
    for (size_t i = 0; i < n; i++) {
        int r = is_kept(list[i].path)
                    ? file_get(builder->config.files, tree, list[i].path, arena, &file, err)
                    : 0;

        if (r < 0)
            return -1;
        if (r > 0)
            all[(*count)++] = (struct archive_entry){ .path = file.path, .content = file.content };
    }
    *entries = all;
    return 0;
}

/* add_files() left room for it. */
static int add_wakes(struct builder *builder, const struct agent *agent, struct arena *arena,
                     struct archive_entry *entries, size_t *count, struct err *err)
{
    struct str text;

    if (builder_wakes_write(builder, agent, arena, &text, err) < 0)
        return -1;
    if (text.n)
        entries[(*count)++] = (struct archive_entry){ .path = STR("wakes.json"), .content = text };
    return 0;
}

/* What no import would take is told of where the agent still is. */
static int check_entries(const struct archive_entry *entries, size_t count, struct arena *arena,
                         struct err *err)
{
    size_t total = 0;

    if (count > limits.entries)
        return err_set(err, ERR_TOO_LARGE, "there are %zu files; at most %zu are allowed", count,
                       limits.entries);
    for (size_t i = 0; i < count; i++)
        total += entries[i].content.n;
    if (total > limits.total_bytes)
        return err_set(err, ERR_TOO_LARGE, "there are %zu bytes in all; at most %zu are allowed",
                       total, limits.total_bytes);
    for (size_t i = 0; i < count; i++)
        if (check_entry(&entries[i], arena, err) < 0 || refuse_secrets(&entries[i], err) < 0)
            return -1;
    return 0;
}

int builder_export(struct builder *builder, const struct agent *agent, struct arena *arena,
                   struct buf *out, struct err *err)
{
    struct archive_entry first[2] = { { .path = STR("agent.json") },
                                      { .path = STR("AGENTS.md"),
                                        .content = str_from(agent->instructions) } };
    struct archive_entry *entries = first;
    size_t count = ARRAY_LEN(first);

    if (agent_is_system(str_from(agent->id)))
        return err_set(err, ERR_BAD_REQUEST, "%s is part of Dormouse and is not exported",
                       agent->id);
    if (write_settings(agent, arena, &first[0].content, err) < 0 ||
        add_files(builder, agent, arena, &entries, &count, err) < 0 ||
        add_wakes(builder, agent, arena, entries, &count, err) < 0)
        return -1;
    if (check_entries(entries, count, arena, err) < 0)
        return err_wrap(err, "%s can't be exported", agent->id);
    return archive_write(entries, count, out, err);
}

/* ---- in ---- */

struct settings {
    struct str format, display_name, description, template, model, mode;
    int64_t version, session_ttl_s;
    struct json_object *tools, *extension;
};

static const struct json_field settings_fields[] = {
    JSON_FIELD(struct settings, format, "format", JSON_STR, .required = true),
    JSON_FIELD(struct settings, version, "version", JSON_I64, .required = true),
    JSON_FIELD(struct settings, display_name, "displayName", JSON_STR, .required = true),
    JSON_FIELD(struct settings, description, "description", JSON_STR),
    JSON_FIELD(struct settings, template, "template", JSON_STR),
    JSON_FIELD(struct settings, model, "model", JSON_STR),
    JSON_FIELD(struct settings, mode, "mode", JSON_STR),
    JSON_FIELD(struct settings, session_ttl_s, "sessionTtlSeconds", JSON_I64),
    JSON_FIELD(struct settings, tools, "tools", JSON_ARRAY),
    JSON_FIELD(struct settings, extension, "extension", JSON_OBJECT),
    { .name = NULL },
};

static const struct archive_entry *entry_of(const struct archive_entry *entries, size_t count,
                                            const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (str_is(entries[i].path, path))
            return &entries[i];
    return NULL;
}

static int read_settings(const struct archive_entry *entry, struct json_object **ret_value,
                         struct settings *ret_settings, struct err *err)
{
    if (!entry)
        return err_set(err, ERR_BAD_REQUEST, "this is no agent: the archive has no agent.json");
    if (json_parse(entry->content, ret_value, err) < 0 ||
        json_read(*ret_value, settings_fields, JSON_REFUSE_UNKNOWN, ret_settings, err) < 0)
        return err_wrap(err, "agent.json");
    if (!str_is(ret_settings->format, FORMAT))
        return err_set(err, ERR_BAD_REQUEST, "agent.json: format must be \"" FORMAT "\"");
    if (ret_settings->version < 1 || ret_settings->version > VERSION)
        return err_set(err, ERR_BAD_REQUEST,
                       "agent.json: version %lld is not known here; %d is the newest",
                       (long long)ret_settings->version, VERSION);
    if (ret_settings->session_ttl_s &&
        (ret_settings->session_ttl_s < AGENT_SESSION_TTL_MIN / 1000 ||
         ret_settings->session_ttl_s > AGENT_SESSION_TTL_MAX / 1000))
        return err_set(err, ERR_BAD_REQUEST, "agent.json: sessionTtlSeconds is from %lld to %lld",
                       AGENT_SESSION_TTL_MIN / 1000, AGENT_SESSION_TTL_MAX / 1000);
    return 0;
}

/* ---- what is not here ---- */

static struct str take_model(struct builder *builder, struct str model, struct arena *arena,
                             struct builder_warnings *warnings)
{
    if (!model.n || builder_has_model(builder, model))
        return model;
    builder_warn(warnings,
                 arena_printf(arena,
                              "There is no model \"%.*s\" here: the agent has the default one.",
                              STR_ARG(utf8_truncate(model, 80))));
    return STR_NONE;
}

/* The names that mean something here as a JSON list, the others in a warning. */
static struct str take_tools(struct builder *builder, struct json_object *tools,
                             struct arena *arena, struct builder_warnings *warnings)
{
    AUTO_BUF kept = BUF_INIT(SETTINGS_BYTES);
    AUTO_BUF left = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&kept);

    if (!tools)
        return STR_NONE;
    json_write_array_begin(&w);
    for (size_t i = 0; i < json_length(tools); i++) {
        struct json_object *item = json_object_array_get_idx(tools, i);
        struct str name = json_str(item);

        if (!name.n || builder_has_tool(builder, name)) /* what is no name is refused later */
            json_write_value(&w, item);
        else
            buf_printf(&left, "%s%.*s", left.n ? ", " : "", STR_ARG(utf8_truncate(name, 80)));
    }
    json_write_array_end(&w);
    if (left.n)
        builder_warn(warnings,
                     arena_printf(arena, "These tools are not here and were left out: %s%s",
                                  buf_text(&left), left.full ? " ..." : ""));
    return arena_str(arena, buf_str(&kept));
}

static void make_form(struct builder *builder, const struct settings *from, struct str instructions,
                      struct str id, struct arena *arena, struct builder_form *ret_form,
                      struct builder_warnings *ret_warnings)
{
    *ret_form = (struct builder_form){
        .given = AGENT_NAME | AGENT_DESCRIPTION | AGENT_INSTRUCTIONS | AGENT_MODEL | AGENT_TOOLS |
                 (id.n ? BUILDER_ID : 0) | (from->mode.n ? AGENT_MODE : 0) |
                 (from->session_ttl_s ? AGENT_SESSION_TTL : 0) |
                 (from->extension ? AGENT_EXTENSION : 0),
        .id = id,
        .display_name = from->display_name,
        .description = from->description,
        .instructions = instructions,
        .mode = from->mode,
        .session_ttl_ms = from->session_ttl_s * 1000,
        .extension =
            from->extension
                ? str_from(json_object_to_json_string_ext(from->extension, JSON_C_TO_STRING_PLAIN))
                : STR_NONE,
        .model = take_model(builder, from->model, arena, ret_warnings),
        .tools = take_tools(builder, from->tools, arena, ret_warnings),
        .taint = taint_source(TAINT_IMPORT,
                              str_from(arena_printf(arena, "the agent %.*s",
                                                    STR_ARG(str_take(from->display_name, 80)))),
                              arena),
    };
}

static int put_files(struct builder *builder, const struct agent *agent,
                     const struct archive_entry *entries, size_t count, struct arena *arena,
                     struct err *err)
{
    struct str tree = builder_tree(agent->id, arena);
    struct file file;

    for (size_t i = 0; i < count; i++) {
        struct file_write write = { .tree = tree,
                                    .path = entries[i].path,
                                    .content = entries[i].content,
                                    .author = STR("owner"),
                                    .reason = STR("imported"),
                                    .taint = str_from(agent->taint) };

        if (!is_kept(entries[i].path))
            continue;
        if (!builder->config.files)
            return err_set(err, ERR_INTERNAL, "there is no place for files");
        if (file_put(builder->config.files, &write, arena, &file, err) < 0)
            return err_wrap(err, "%.*s", STR_ARG(str_take(entries[i].path, 200)));
    }
    return 0;
}

static int put_wakes(struct builder *builder, const struct agent *agent,
                     const struct archive_entry *entry, struct arena *arena,
                     struct builder_warnings *notes, struct err *err)
{
    if (!entry)
        return 0;
    return builder_wakes_read(builder, entry->content, agent, arena, notes, err) < 0
               ? err_wrap(err, "wakes.json")
               : 0;
}

int builder_import(struct builder *builder, struct str bytes, struct str id, struct arena *arena,
                   struct agent *ret_agent, struct builder_warnings *ret_warnings, struct err *err)
{
    const struct archive_entry *persona;
    struct archive_entry *entries;
    struct settings settings = { .tools = NULL };
    struct builder_form form;
    AUTO_JSON value = NULL;
    size_t count;

    if (archive_read(bytes, &limits, arena, &entries, &count, err) < 0 ||
        read_settings(entry_of(entries, count, "agent.json"), &value, &settings, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (check_entry(&entries[i], arena, err) < 0)
            return -1;
    persona = entry_of(entries, count, "AGENTS.md");
    make_form(builder, &settings, persona ? persona->content : STR(""), id, arena, &form,
              ret_warnings);
    if (builder_create_from(builder, &form, settings.template, arena, ret_agent, err) < 0 ||
        put_files(builder, ret_agent, entries, count, arena, err) < 0 ||
        put_wakes(builder, ret_agent, entry_of(entries, count, "wakes.json"), arena, ret_warnings,
                  err) < 0)
        return -1;
    return builder_advise(builder, ret_agent, arena, ret_warnings, err);
}

/* ---- beside archives ---- */

int builder_copy_files(struct builder *builder, const char *from_id, const char *to_id,
                       struct arena *arena, struct err *err)
{
    struct str from = builder_tree(from_id, arena), to = builder_tree(to_id, arena);
    struct file *list, file, made;
    size_t n;

    if (!builder->config.files)
        return 0;
    if (file_list(builder->config.files, from, STR(""), arena, &list, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct file_write write = { .tree = to, .path = list[i].path, .author = STR("owner") };
        int r = file_get(builder->config.files, from, list[i].path, arena, &file, err);

        if (r < 0)
            return -1;
        write.content = file.content;
        write.type = file.content_type;
        write.taint = file.taint;
        write.reason = str_from(arena_printf(arena, "copied from %s", from_id));
        if (r > 0 && file_put(builder->config.files, &write, arena, &made, err) < 0)
            return -1;
    }
    return 0;
}

/* What a call is known by (CONTRACTS §5).
 *
 *   argumentsHash  = H(arguments as received)
 *   actionStableId = H("act|v1|" tool "|" H(canonical arguments) "|" scope "|" targets "|"
 * occurrence) operationId    = H("op|v1|" runKey "|" actionStableId)
 *
 * Arguments are kept and hashed as received: that hash is what approvals are bound to. The ids of
 * an action are for finding the same intent again, after a crash or when a model writes it with
 * other white space, so they take the canonical form. Arguments that have none (no JSON, integers
 * that doubles can't hold) stand there as received. scope and targets are canonical JSON lists, so
 * no two different sets of fields give the same text.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/json_canonical.h"
#include "base/json_write.h"
#include "tool/tool_int.h"

/* Appends the canonical form; false (and nothing appended) when there is none. */
static bool add_canonical(struct json_object *value, struct buf *out)
{
    struct err err = ERR_INIT;
    size_t before = out->n;

    if (json_canonical(value, out, &err) == 0)
        return true;
    out->n = before;
    return false;
}

static struct str scope_snapshot(const struct judging *j)
{
    AUTO_BUF text = BUF_INIT(1u << 20);
    AUTO_JSON list = NULL;
    const char *ids = j->call->agent->allowed_category_ids;
    struct err err = ERR_INIT;

    if (!ids || strcmp(ids, "[]") == 0 || json_parse(str_from(ids), &list, &err) < 0 ||
        !add_canonical(list, &text))
        return STR("[]");
    return arena_str(j->arena, buf_str(&text));
}

/* ["file:src/main.c"] for a call with a path, else []. */
static void add_targets(const struct judging *j, struct buf *out)
{
    const char *argument = j->binding ? j->binding->entry->path_argument : NULL;
    struct str path = argument ? json_str(json_find(j->arguments, argument)) : STR_NONE;
    AUTO_BUF ref = BUF_INIT(TOOL_ARGUMENTS_MAX);
    AUTO_JSON list = NULL;

    if (!path.n) {
        buf_add_text(out, "[]");
        return;
    }
    buf_add_text(&ref, "file:");
    buf_add_str(&ref, path);
    list = json_object_new_array();
    json_object_array_add(list, json_object_new_string_len(ref.p, (int)ref.n));
    add_canonical(list, out);
}

static void stable_id(struct str head, uint32_t occurrence, char ret_id[SHA256_TEXT_SIZE])
{
    AUTO_BUF text = BUF_INIT(2 * TOOL_ARGUMENTS_MAX);

    buf_add_str(&text, head);
    buf_add_char(&text, '|');
    buf_add_u64(&text, occurrence);
    sha256_text(buf_str(&text), ret_id);
}

static void operation_id(struct str run_id, const char *action, char ret_id[SHA256_TEXT_SIZE])
{
    AUTO_BUF text = BUF_INIT(64u << 10);

    buf_add_text(&text, "op|v1|");
    buf_add_str(&text, run_id);
    buf_add_char(&text, '|');
    buf_add_text(&text, action);
    sha256_text(buf_str(&text), ret_id);
}

/* A new reference to the arguments, without what a model says of them. */
static struct json_object *without_note(const struct judging *j)
{
    const struct tool_builtin *builtin = j->binding ? j->binding->builtin : NULL;
    struct json_object *copy;
    struct json_object_iter it;

    if (!builtin || !builtin->note_argument)
        return json_object_get(j->arguments);
    copy = json_object_new_object();
    json_object_object_foreachC(j->arguments, it)
    {
        if (strcmp(it.key, builtin->note_argument) != 0)
            json_object_object_add(copy, it.key, json_object_get(it.val));
    }
    return copy;
}

/* Where it matters: what a hand does is done in a directory and between walls. */
static void add_place(const struct judging *j, struct json_object *pattern)
{
    char walls[SHA256_TEXT_SIZE];

    if (!j->binding || !tool_bed_uses_hand(j->bed, j->binding->entry->contract))
        return;
    walls_hash(&j->call->sandbox, walls);
    json_object_object_add(pattern, "directory", json_object_new_string(call_directory(j->call)));
    json_object_object_add(pattern, "walls", json_object_new_string(walls));
    if (j->call->sandbox.off)
        json_object_object_add(pattern, "unsandboxed", json_object_new_boolean(true));
}

/* {"arguments":…,"directory":…,"files":…,"tool":…,"walls":…}; argumentsHash instead when they have
 * no canonical form. Empty when what would run is not known. */
static struct str grant_pattern(const struct judging *j, struct str name, bool canonical)
{
    const struct tool_impl *impl = j->binding ? j->binding->impl : NULL;
    AUTO_BUF text = BUF_INIT(2 * TOOL_ARGUMENTS_MAX);
    AUTO_JSON pattern = json_object_new_object();
    char files[SHA256_TEXT_SIZE];

    json_object_object_add(pattern, "tool", json_object_new_string_len(name.p, (int)name.n));
    add_place(j, pattern);
    if (impl && impl->files) {
        if (!j->arguments || impl->files(j->binding->impl_arg, j->call, j->arguments, files) < 0)
            return STR_NONE;
        json_object_object_add(pattern, "files", json_object_new_string(files));
    }
    if (canonical)
        json_object_object_add(pattern, "arguments", without_note(j));
    else
        json_object_object_add(pattern, "argumentsHash",
                               json_object_new_string(j->verdict->arguments_hash));
    /* A name or directory that is no UTF-8 could not be said: it is decided each time. */
    return add_canonical(pattern, &text) ? arena_str(j->arena, buf_str(&text)) : STR_NONE;
}

/* What is sent, what is remembered and whom an agent makes is decided each time. */
static bool is_grantable(const struct judging *j)
{
    const struct tool_contract *contract = j->binding ? j->binding->entry->contract : NULL;

    return contract && contract->approval != TOOL_ASK_ALWAYS &&
           (contract->inbox_kind == INBOX_TOOL || contract->inbox_kind == INBOX_SKILL_SCRIPT);
}

void judge_ids(struct judging *j)
{
    struct tool_verdict *v = j->verdict;
    struct str name = j->binding ? str_from(j->binding->entry->contract->name) : j->call->name;
    AUTO_BUF canonical = BUF_INIT(2 * TOOL_ARGUMENTS_MAX);
    AUTO_BUF head = BUF_INIT(2 * TOOL_ARGUMENTS_MAX);
    bool is_canonical = j->arguments && add_canonical(j->arguments, &canonical);
    char hash[SHA256_TEXT_SIZE];

    sha256_text(j->call->arguments, v->arguments_hash);
    if (is_canonical && !str_eq(buf_str(&canonical), j->call->arguments))
        sha256_text(buf_str(&canonical), hash);
    else
        memcpy(hash, v->arguments_hash, sizeof(hash));
    v->scope_snapshot = scope_snapshot(j);
    buf_add_text(&head, "act|v1|");
    buf_add_str(&head, name);
    buf_add_char(&head, '|');
    buf_add_text(&head, hash);
    buf_add_char(&head, '|');
    buf_add_str(&head, v->scope_snapshot);
    buf_add_char(&head, '|');
    add_targets(j, &head);
    stable_id(buf_str(&head), 0, v->intent_id);
    if (j->call->occurrence)
        stable_id(buf_str(&head), j->call->occurrence, v->action_stable_id);
    else
        memcpy(v->action_stable_id, v->intent_id, sizeof(v->action_stable_id));
    operation_id(j->call->run_id, v->action_stable_id, v->operation_id);
    if (is_grantable(j))
        v->pattern = grant_pattern(j, name, is_canonical);
}

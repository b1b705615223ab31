/* The table of handlers. A tool is a contract in share/tools/agent_tool_contract_spec.yaml and a
 * row here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_put.h"
#include "base/redact.h"
#include "base/utf8.h"
#include "tool/tool_int.h"

/* ---- what schemas do not say ---- */

static int no_nul(struct json_object *arguments, const char *key, struct err *err)
{
    struct str text = json_str(json_find(arguments, key));

    if (text.n && memchr(text.p, '\0', text.n))
        return err_set(err, ERR_SCHEMA_VIOLATION, "/%s: must not hold a NUL character", key);
    return 0;
}

static size_t marks_in(struct str text)
{
    size_t n = 0;

    for (ptrdiff_t at; (at = str_find(text, STR(REDACT_MARK))) >= 0; n++)
        text = str_skip(text, (size_t)at + sizeof(REDACT_MARK) - 1);
    return n;
}

/* Results are redacted before a model sees them. A mark that comes back stands for a secret that it
 * was not shown: written to a file it would destroy the secret. */
static int refuse_mark(const char *where, struct err *err)
{
    return err_set(err, ERR_UNSAFE_TARGET,
                   "%s: %s stands for a secret that you were not shown; writing it would destroy "
                   "the secret. Change the text around it with edit_file",
                   where, REDACT_MARK);
}

static int check_bash(void *arg, const struct tool_call *call, struct json_object *arguments,
                      struct err *err)
{
    (void)arg;
    (void)call;
    if (no_nul(arguments, "command", err) < 0)
        return -1;
    if (marks_in(json_str(json_find(arguments, "command"))))
        return refuse_mark("/command", err);
    return 0;
}

static int check_read(void *arg, const struct tool_call *call, struct json_object *arguments,
                      struct err *err)
{
    (void)arg;
    (void)call;
    return no_nul(arguments, "path", err);
}

static int check_write(void *arg, const struct tool_call *call, struct json_object *arguments,
                       struct err *err)
{
    (void)arg;
    (void)call;
    if (no_nul(arguments, "path", err) < 0)
        return -1;
    if (marks_in(json_str(json_find(arguments, "content"))))
        return refuse_mark("/content", err);
    return 0;
}

/* A mark that stands in the file itself is matched by old; new may then keep it. */
static int check_replacement(struct json_object *edit, struct err *err)
{
    if (marks_in(json_str(json_find(edit, "new"))) > marks_in(json_str(json_find(edit, "old"))))
        return refuse_mark("/new", err);
    return 0;
}

static int check_edit(void *arg, const struct tool_call *call, struct json_object *arguments,
                      struct err *err)
{
    struct json_object *edits = json_find(arguments, "edits");
    bool one = json_find(arguments, "old") || json_find(arguments, "new");

    (void)arg;
    (void)call;
    if (no_nul(arguments, "path", err) < 0)
        return -1;
    if (!edits && !(json_find(arguments, "old") && json_find(arguments, "new")))
        return err_set(err, ERR_SCHEMA_VIOLATION, "give old and new, or edits");
    if (edits && (one || json_find(arguments, "all")))
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "give either edits or old, new and all, not both");
    if (!edits)
        return check_replacement(arguments, err);
    for (size_t i = 0; i < json_length(edits); i++)
        if (check_replacement(json_object_array_get_idx(edits, i), err) < 0)
            return -1;
    return 0;
}

static int check_search(void *arg, const struct tool_call *call, struct json_object *arguments,
                        struct err *err)
{
    (void)arg;
    (void)call;
    if (!json_find(arguments, "pattern") && !json_find(arguments, "glob"))
        return err_set(err, ERR_SCHEMA_VIOLATION, "give pattern, glob or both");
    if (no_nul(arguments, "glob", err) < 0)
        return -1;
    return no_nul(arguments, "path", err);
}

/* ---- ask_user ---- */

/* {"question":…,"choices":[…]}, safe to show. */
static int ask_user_start(struct tool_job *job, struct err *err)
{
    struct json_object *arguments = tool_job_arguments(job);
    struct json_object *choices = json_find(arguments, "choices");
    struct arena *arena = tool_job_arena(job);
    struct tool_result result = { .waits = true };
    AUTO_BUF text = BUF_INIT(1u << 20);
    AUTO_BUF body = BUF_INIT(1u << 20);
    struct json_writer w = JSON_WRITER(&body);

    (void)err;
    shown_text(json_str(json_find(arguments, "question")), 1u << 16, &text);
    json_write_object_begin(&w);
    json_put_str(&w, "question", buf_str(&text));
    json_put_array(&w, "choices");
    for (size_t i = 0; i < json_length(choices); i++)
        json_write_text(&w,
                        shown_word(json_str(json_object_array_get_idx(choices, i)), 1000, arena));
    json_write_array_end(&w);
    json_write_object_end(&w);
    result.question = buf_str(&body);
    tool_job_finish(job, &result);
    return 0;
}

const struct tool_builtin tool_builtins[] = {
    { .impl = { .name = "ask_user", .start = ask_user_start, .preview = preview_question } },
    { .impl = { .name = "bash",
                .check = check_bash,
                .start = hand_tool_start,
                .preview = preview_command },
      .waiver = TOOL_WAIVER_WALLS,
      .tells_timeout = true,
      .note_argument = "description" },
    { .impl = { .name = "edit_file",
                .check = check_edit,
                .start = hand_tool_start,
                .preview = hand_tool_preview },
      .waiver = TOOL_WAIVER_WRITE_PATH,
      .preview_operation = "preview_edit" },
    { .impl = { .name = "list_memory", .start = list_memory_start }, .needs_files = true },
    { .impl = { .name = "read_file", .check = check_read, .start = hand_tool_start } },
    { .impl = { .name = "read_memory", .check = memory_path_check, .start = read_memory_start },
      .needs_files = true },
    { .impl = { .name = "search", .check = check_search, .start = hand_tool_start } },
    { .impl = { .name = "write_file",
                .check = check_write,
                .start = hand_tool_start,
                .preview = hand_tool_preview },
      .waiver = TOOL_WAIVER_WRITE_PATH,
      .preview_operation = "preview_write" },
    { .impl = { .name = "write_memory",
                .check = memory_tool_check,
                .spared = memory_tool_spared,
                .danger = memory_tool_danger,
                .start = write_memory_start,
                .preview = write_memory_preview },
      .needs_files = true },
};
const size_t tool_builtin_count = ARRAY_LEN(tool_builtins);

/* What a person sees before deciding: a title, and the text of what would be done.
 *
 * All of it may have come from a model or a file, so it is made safe to look at, and secrets are
 * taken out: it is stored with the inbox item. But what is seen is what would be done: nothing is
 * taken out that could be run, a command is shown to its end, and no empty room pushes a part of it
 * out of sight.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/redact.h"
#include "tool/tool_int.h"

#define TITLE_MAX   300
#define COMMAND_MAX (512u << 10) /* all of the longest command, and where it would run */
#define LINES_SEEN  4            /* empty ones in a row */
#define BLANKS_SEEN 100
#define WHY_MAX     1000 /* on one line: more could pose as ours */

static struct str made_safe(struct tool_job *job, struct str text, size_t max)
{
    AUTO_BUF clean = BUF_INIT(TOOL_ARGUMENTS_MAX);
    AUTO_BUF shown = BUF_INIT(16 * max + 256);

    redact_shown(text, &clean);
    shown_text(buf_str(&clean), max, &shown);
    return arena_str(&job->arena, buf_str(&shown));
}

void preview_make(struct tool_job *job, const struct tool_preview *preview)
{
    job->preview = *preview;
    job->preview.title = made_safe(job, preview->title, TITLE_MAX);
    job->preview.kind = arena_str(&job->arena, preview->kind);
    job->preview.text = made_safe(
        job, preview->text, str_is(preview->kind, "command") ? COMMAND_MAX : TOOL_PREVIEW_MAX);
    job->preview.details = arena_str(&job->arena, preview->details);
}

int preview_arguments(struct tool_job *job, struct err *err)
{
    struct tool_preview preview = { .kind = STR("text") };

    (void)err;
    preview.title =
        str_from(arena_printf(&job->arena, "Use %s", job->binding->entry->contract->name));
    preview.text = str_from(json_object_to_json_string_ext(
        job->arguments, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
    tool_job_shown(job, &preview, STR(""));
    return 0;
}

/* ---- commands ---- */

/* Where the next command begins: the hand knows when there was one before. */
static struct str current_directory(struct tool_job *job)
{
    struct str state = job->hand ? hand_state(job->hand) : STR_NONE;
    const char *cwd = job->call.sandbox.cwd;
    AUTO_JSON value = NULL;
    struct err err = ERR_INIT;
    struct str known;

    if (state.n && json_parse(state, &value, &err) == 0) {
        known = json_str(json_find(value, "cwd"));
        if (known.n)
            return arena_str(&job->arena, known);
    }
    return str_from(cwd ? cwd : "/");
}

/* The command with its empty room counted instead of shown: what stands behind a thousand blanks or
 * lines is not seen by somebody who believes to have seen the end. */
static void add_command(struct buf *out, struct str command)
{
    while (command.n) {
        size_t n = 0, lines = 0;

        while (n < command.n && strchr(" \t\r\n", command.p[n]) && command.p[n])
            lines += command.p[n++] == '\n';
        if (lines > LINES_SEEN)
            buf_printf(out, "\n[%zu empty lines]\n", lines - 1);
        else if (n > BLANKS_SEEN)
            buf_printf(out, " [%zu blanks] ", n);
        else
            buf_add(out, command.p, n);
        command = str_skip(command, n);
        for (n = 0; n < command.n && !(command.p[n] && strchr(" \t\r\n", command.p[n]));)
            n++;
        buf_add(out, command.p, n);
        command = str_skip(command, n);
    }
}

static void add_list(struct buf *out, const char *what, const char *const *list, const char *none)
{
    buf_printf(out, "%s ", what);
    if (!list || !list[0])
        buf_add_text(out, none);
    for (const char *const *p = list; p && *p; p++)
        buf_printf(out, "%s%s", p == list ? "" : ", ", *p);
    buf_add_char(out, '\n');
}

static void add_place(struct buf *out, const struct sandbox_spec *spec)
{
    if (spec->off) {
        buf_add_text(out, "WITHOUT A SANDBOX: it can do all that you can do\n");
        return;
    }
    buf_add_text(out, "in the sandbox\n");
    add_list(out, "may write to:", spec->allow_write, "nothing");
    add_list(out, "may reach:", spec->allow_domains, "no network");
}

int preview_command(struct tool_job *job, struct err *err)
{
    struct tool_preview preview = { .title = STR("Run a command"), .kind = STR("command") };
    struct str command = json_str(json_find(job->arguments, "command"));
    struct str why = json_str(json_find(job->arguments, "description"));
    struct str cwd = current_directory(job);
    AUTO_BUF text = BUF_INIT(TOOL_ARGUMENTS_MAX);
    AUTO_BUF version = BUF_INIT(8192);

    (void)err;
    add_command(&text, command);
    buf_printf(&text, "\n\nin %.*s, ", STR_ARG(cwd));
    add_place(&text, &job->call.sandbox);
    if (why.n)
        buf_printf(&text, "the agent says: %s\n", shown_word(why, WHY_MAX, &job->arena));
    preview.text = buf_str(&text);
    buf_printf(&version, "cwd:%.*s", STR_ARG(cwd));
    tool_job_shown(job, &preview, buf_str(&version));
    return 0;
}

/* ---- questions ---- */

int preview_question(struct tool_job *job, struct err *err)
{
    struct tool_preview preview = { .title = STR("Answer a question"), .kind = STR("text") };

    (void)err;
    preview.text = json_str(json_find(job->arguments, "question"));
    tool_job_shown(job, &preview, STR(""));
    return 0;
}

/* What a person sees before deciding: a title, facts in our own words, and the whole text of what
 * would be done.
 *
 * The text may have come from a model or a file, so it is made safe to look at, and secrets are
 * taken out: it is stored with the inbox item. Nothing of it is left out. What is too long to be
 * shown is refused, since nobody could approve what they have not seen. Facts (the directory, the
 * time limit, the walls, whom a message goes to) are never part of the text: the page and the
 * terminal draw the text inside a frame, and nothing that an agent writes can stand outside of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/redact.h"
#include "base/unseen.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "tool/tool_int.h"

#define TITLE_MAX 300

static struct str made_safe(struct tool_job *job, struct str text,
                            void (*make)(struct str text, struct buf *out))
{
    AUTO_BUF clean = BUF_INIT(TOOL_ARGUMENTS_MAX);
    AUTO_BUF shown = BUF_INIT(16 * TOOL_PREVIEW_MAX);

    redact_shown(text, &clean);
    make(buf_str(&clean), &shown);
    return arena_str(&job->arena, buf_str(&shown));
}

/* ---- facts ---- */

static void fact_add(struct tool_job *job, const char *name, struct str value, bool warn)
{
    struct tool_fact *fact = ARENA_NEW(&job->arena, struct tool_fact), **last = &job->facts;

    *fact = (struct tool_fact){ .name = name,
                                .value = made_safe(job, value, visible_line),
                                .warn = warn };
    while (*last)
        last = &(*last)->next;
    *last = fact;
}

void tool_job_fact(struct tool_job *job, const char *name, struct str value)
{
    if (value.n)
        fact_add(job, name, value, false);
}

void tool_job_warn(struct tool_job *job, const char *name, struct str value)
{
    fact_add(job, name, value, true);
}

/* One fact for each: a name with a comma in it can't pose as two. */
static void fact_list(struct tool_job *job, const char *name, const char *const *list,
                      const char *none)
{
    if (!list || !list[0])
        tool_job_fact(job, name, str_from(none));
    for (const char *const *p = list; p && *p; p++)
        tool_job_fact(job, name, str_from(*p));
}

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

static void fact_limits(struct tool_job *job, const struct sandbox_spec *spec)
{
    uint64_t memory = spec->memory_bytes ? spec->memory_bytes : SANDBOX_MEMORY_BYTES;
    uint64_t disk = spec->disk_bytes ? spec->disk_bytes : SANDBOX_DISK_BYTES;
    uint64_t processes = spec->processes ? spec->processes : SANDBOX_PROCESSES;

    tool_job_fact(
        job, "limits",
        str_from(arena_printf(&job->arena, "%llu MiB of memory, %llu MiB written, %llu processes",
                              (unsigned long long)(memory >> 20), (unsigned long long)(disk >> 20),
                              (unsigned long long)processes)));
}

struct str tool_job_place(struct tool_job *job)
{
    const struct sandbox_spec *spec = &job->call.sandbox;
    struct str directory = current_directory(job);
    int64_t limit_ms = spec->time_limit_ms ? spec->time_limit_ms : LIMIT_BASH_TIMEOUT_MS;
    int64_t seconds = limit_ms / 1000;
    int given = json_get_i64(job->arguments, "timeout_s", &seconds, NULL);

    tool_job_fact(job, "directory", directory);
    tool_job_fact(job, "ends after",
                  str_from(arena_printf(&job->arena, "%lld s%s", (long long)seconds,
                                        given > 0 ? "" : " (the default)")));
    if (spec->off) {
        tool_job_warn(job, "sandbox", STR("NONE: it can do all that you can do"));
        return directory;
    }
    tool_job_fact(job, "sandbox", STR("on"));
    fact_list(job, "may write to", spec->allow_write, "nothing");
    fact_list(job, "may reach", spec->allow_domains, "no network");
    if (spec->allow_unix_sockets && spec->allow_unix_sockets[0])
        fact_list(job, "may connect to", spec->allow_unix_sockets, "");
    fact_limits(job, spec);
    return directory;
}

/* The handler's object with our facts as its first member. */
static struct str with_facts(struct tool_job *job, struct str details)
{
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&out);

    if (!job->facts)
        return arena_str(&job->arena, details);
    json_write_object_begin(&w);
    json_put_array(&w, "facts");
    for (const struct tool_fact *fact = job->facts; fact; fact = fact->next) {
        json_write_object_begin(&w);
        json_put_text(&w, "name", fact->name);
        json_put_str(&w, "value", fact->value);
        if (fact->warn)
            json_put_bool(&w, "warn", true);
        json_write_object_end(&w);
    }
    json_write_array_end(&w);
    if (details.n < 3 || details.p[0] != '{') {
        json_write_object_end(&w);
    } else {
        buf_add_char(&out, ',');
        buf_add_str(&out, str_skip(details, 1));
    }
    return out.full ? STR_NONE : arena_str(&job->arena, buf_str(&out));
}

/* ---- what is not seen ---- */

/* Told once for each kind. */
struct unseen_look {
    unsigned kinds;
    void (*say)(struct unseen_look *look, const char *what);
    struct tool_job *job;
    struct buf *out;
};

/* What an argument holds that a reader of it misses or is misled by. */
static void unseen_in_text(struct unseen_look *look, const char *name, struct str text)
{
    struct unseen_run run;

    for (size_t at = 0; unseen_next(text, &at, &run);) {
        AUTO_BUF what = BUF_INIT(4096);

        if (!unseen_misleads(run.kind) || look->kinds & 1u << run.kind)
            continue;
        look->kinds |= 1u << run.kind;
        buf_printf(&what, "%s, in %.200s (U+%04X)", unseen_about(run.kind), name,
                   (unsigned)run.first);
        look->say(look, buf_text(&what));
    }
}

static void unseen_in_value(struct unseen_look *look, const char *name, struct json_object *value)
{
    struct json_object_iter it;

    if (json_object_is_type(value, json_type_string)) {
        unseen_in_text(look, name, json_str(value));
    } else if (json_object_is_type(value, json_type_array)) {
        for (size_t i = 0; i < json_length(value); i++)
            unseen_in_value(look, name, json_object_array_get_idx(value, i));
    } else if (json_object_is_type(value, json_type_object)) {
        json_object_object_foreachC(value, it)
        {
            unseen_in_text(look, "a name", str_from(it.key));
            unseen_in_value(look, it.key, it.val);
        }
    }
}

#define UNSEEN_FACT "hidden in it"

static void unseen_fact(struct unseen_look *look, const char *what)
{
    tool_job_warn(look->job, UNSEEN_FACT, str_from(arena_text(&look->job->arena, what)));
}

static void unseen_sentence(struct unseen_look *look, const char *what)
{
    buf_printf(look->out, "%s" UNSEEN_FACT ": %s.", look->out->n ? " " : "", what);
}

void tool_danger(struct tool_bed *bed, const struct tool_call *call, struct buf *out)
{
    const struct tool_binding *binding = bed_find(bed, call->name);
    struct unseen_look look = { .say = unseen_sentence, .out = out };
    AUTO_JSON arguments = NULL;

    if (!binding || json_parse(call->arguments, &arguments, NULL) < 0)
        return;
    if (binding->impl->danger)
        binding->impl->danger(binding->impl_arg, call, arguments, out);
    else
        unseen_in_value(&look, "the arguments", arguments);
}

/* ---- all of it ---- */

int preview_check(const struct tool_preview *preview, struct err *err)
{
    if (preview->text.n <= TOOL_PREVIEW_MAX && preview->details.n <= TOOL_DETAILS_MAX)
        return 0;
    return err_set(err, ERR_TOO_LARGE,
                   "it is too long to be shown to a person, who would have to approve it unseen: "
                   "%zu bytes, at most %u; do it in smaller parts",
                   preview->text.n, TOOL_PREVIEW_MAX);
}

void preview_make(struct tool_job *job, const struct tool_preview *preview)
{
    struct unseen_look look = { .say = unseen_fact, .job = job };

    /* A change of memory has flags of its own, which name the places. */
    if (!job->binding->impl->danger)
        unseen_in_value(&look, "the arguments", job->arguments);
    job->preview = *preview;
    job->preview.title = made_safe(job, utf8_truncate(preview->title, TITLE_MAX), visible_line);
    job->preview.kind = arena_str(&job->arena, preview->kind);
    job->preview.text = made_safe(job, preview->text, visible_text);
    job->preview.details = with_facts(job, preview->details);
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

int preview_command(struct tool_job *job, struct err *err)
{
    struct tool_preview preview = { .title = STR("Run a command"), .kind = STR("command") };
    struct str cwd = tool_job_place(job);
    AUTO_BUF version = BUF_INIT(8192);

    (void)err;
    tool_job_fact(job, "the agent says", json_str(json_find(job->arguments, "description")));
    preview.text = json_str(json_find(job->arguments, "command"));
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

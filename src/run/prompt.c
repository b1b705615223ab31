/* The prompt of a turn: system text and tools first, which stay the same from turn to turn, then
 * the newest messages of the thread, and last when and where it is asked: whatever changes with
 * every request stands behind what a provider can keep.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/embed.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "base/visible.h"
#include "base/zone.h"
#include "change/taint.h"
#include "memory/edit.h"
#include "run/run_int.h"

extern const struct embed_file run_prompts[];

static struct str prompt_text(const char *name)
{
    for (const struct embed_file *file = run_prompts; file->name; file++) {
        if (strcmp(file->name, name) == 0)
            return str_trim(file->bytes);
    }
    BUG("no prompt %s", name);
}

/* ---- system ---- */

#define PATHS_SHOWN 100

static bool has_tool(const struct run *run, const char *name)
{
    struct tool_bed *tools = run->runner->config.tools;
    const struct tool_contract *contract = tool_bed_find(tools, str_from(name));

    return contract && tool_bed_offers(tools, contract, &run->agent, run->row.wake_reason);
}

/* Paths only: what they hold is read when it is needed. The same files give the same bytes. A path
 * may be a stranger's words, like what its file holds. */
static int say_memory(const struct run *run, struct arena *arena, struct buf *out,
                      struct str *ret_taint, struct err *err)
{
    struct str taint = STR_NONE;
    struct file *files;
    size_t count, shown = 0, left = 0;

    if (memory_list(run->runner->config.files, &run->agent, STR("knowledge"), arena, &files, &count,
                    err) < 0)
        return err_wrap(err, "list the agent's memory");
    buf_add_text(out, "\n\n");
    buf_add_str(out, prompt_text("memory.md"));
    for (size_t i = 0; i < count; i++) {
        if (shown == PATHS_SHOWN) {
            left++;
            continue;
        }
        buf_printf(out, "%s- %.*s", shown++ ? "\n" : "\n\nYour files:\n", STR_ARG(files[i].path));
        taint = taint_join(taint, files[i].taint, arena);
    }
    if (left)
        buf_printf(out, "\n- and %zu more, which list_memory names", left);
    *ret_taint = taint;
    return 0;
}

/* Made anew only when some file may be another: it is a part of every request. */
static int add_memory(const struct run *run, struct arena *arena, struct buf *out,
                      struct str *taint, struct err *err)
{
    struct memory_said *said = &run->runner->said[(uint64_t)run->agent.n % RUNNER_LISTS];
    uint64_t stamp;

    if (!run->runner->config.files || !has_tool(run, "read_memory"))
        return 0;
    stamp = files_stamp(run->runner->config.files);
    if (!said->text.n || said->agent_n != run->agent.n || said->stamp != stamp) {
        AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
        struct str from;

        if (say_memory(run, arena, &text, &from, err) < 0)
            return -1;
        buf_release(&said->text);
        buf_release(&said->taint);
        *said = (struct memory_said){
            .agent_n = run->agent.n, .stamp = stamp, .text = text, .taint = BUF_INIT(TAINT_MAX)
        };
        buf_add_str(&said->taint, from);
        text = BUF_INIT(LIMIT_JSON_BYTES);
    }
    buf_add_str(out, buf_str(&said->text));
    *taint = taint_join(*taint, buf_str(&said->taint), arena);
    return 0;
}

/* Skills and the like; a turn goes on without them when they can't be read. */
static void add_more(const struct run *run, struct arena *arena, struct buf *out, struct str *taint)
{
    struct str from = STR_NONE;
    const struct runner_config *config = &run->runner->config;
    AUTO_BUF more = BUF_INIT(LIMIT_JSON_BYTES);
    struct err err = ERR_INIT;

    if (!config->more_system)
        return;
    if (config->more_system(config->more_system_arg, &run->agent, &more, arena, &from, &err) < 0) {
        LOG_WARN("run", "a part of the system text could not be made", LOG_ERR(&err));
        return;
    }
    if (more.n) {
        buf_add_text(out, "\n\n");
        buf_add_str(out, str_trim(buf_str(&more)));
    }
    *taint = taint_join(*taint, from, arena);
}

/* The name, the instructions and all that is added below carry where they came from. */
static int system_text(const struct run *run, struct arena *arena, struct str *ret_text,
                       struct str *ret_taint, struct err *err)
{
    struct str taint = str_from(run->agent.taint);
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct str text = prompt_text("run.md"), mark = STR("{name}");
    ptrdiff_t at = str_find(text, mark);

    buf_add_str(&out, str_take(text, (size_t)at));
    buf_add_text(&out, run->agent.display_name);
    buf_add_str(&out, str_skip(text, (size_t)at + mark.n));
    if (bp_record(run->engine, 0) & RUN_WIGGUM) {
        buf_add_text(&out, "\n\n");
        buf_add_str(&out, prompt_text("wiggum.md"));
    }
    if (run->agent.instructions[0]) {
        buf_add_text(&out, "\n\nYour instructions:\n");
        buf_add_text(&out, run->agent.instructions);
    }
    if (add_memory(run, arena, &out, &taint, err) < 0)
        return -1;
    add_more(run, arena, &out, &taint);
    *ret_text = arena_str(arena, buf_str(&out));
    *ret_taint = taint;
    return 0;
}

/* ---- when and where ---- */

/* Wednesday, 2026-11-18T07:03 in Europe/Berlin (UTC+01:00): models take dates as tools do. */
static void say_time(int64_t now_ms, struct buf *out)
{
    static const char *const weekdays[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
                                            "Friday", "Saturday", "Sunday" };
    char name[ZONE_NAME_MAX + 1], local[TIMEFMT_SIZE];
    AUTO(zone) zone = NULL;
    struct err none = ERR_INIT;
    int64_t east = 0, now = now_ms / 1000;

    zone_system(name);
    if (zone_open(str_from(name), &zone, &none) == 0)
        east = zone_offset(zone, now);
    else
        snprintf(name, sizeof(name), "UTC");
    timefmt_rfc3339((now + east) * 1000, local);
    buf_printf(out, "%s, %.16s in %s (UTC%c%02lld:%02lld)",
               weekdays[(((now + east) / 86400 + 3) % 7 + 7) % 7], local, name,
               east < 0 ? '-' : '+', llabs(east) / 3600, llabs(east) / 60 % 60);
}

static struct str present_text(const struct run *run, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(8 * KIB);

    buf_add_text(&out, "[It is ");
    say_time(clock_wall_ms(loop_clock(run->runner->config.loop)), &out);
    buf_add_text(&out, ". The working directory is ");
    visible_line(run->row.cwd, &out);
    buf_add_text(&out, ".]");
    return arena_str(arena, buf_str(&out));
}

/* ---- tools ---- */

static void add_tools(const struct run *run, struct arena *arena, struct model_request *request)
{
    size_t n;
    const struct tool_contract *const *contracts =
        tool_bed_contracts(run->runner->config.tools, &n);
    struct model_tool *tools = ARENA_NEW_N(arena, struct model_tool, n ? n : 1);

    request->tools = tools;
    request->tool_count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!tool_bed_offers(run->runner->config.tools, contracts[i], &run->agent,
                             run->row.wake_reason))
            continue;
        tools[request->tool_count++] =
            (struct model_tool){ .name = str_from(contracts[i]->wire),
                                 .description = str_from(contracts[i]->description),
                                 .input_schema = str_from(contracts[i]->shown_schema) };
    }
}

/* ---- messages ---- */

static int add_messages(struct run *run, bool check, struct model_request *request, struct err *err)
{
    const struct model_message *kept;
    struct model_message *all;
    size_t n;

    if (prompt_cache_load(run, &kept, &n, &run->prompt.texts, err) < 0)
        return -1;
    request->messages = kept;
    request->message_count = n;
    if (!check)
        return 0;
    all = ARENA_NEW_N(&run->prompt.arena, struct model_message, n + 1);
    memcpy(all, kept, n * sizeof(*all));
    all[n] = (struct model_message){ .role = MODEL_USER, .text = prompt_text("check.md") };
    request->messages = all;
    request->message_count = n + 1;
    return 0;
}

int run_prompt_build(struct run *run, bool check, struct model_request *ret_request,
                     struct err *err)
{
    struct arena *arena = &run->prompt.arena;
    struct str taint;

    *ret_request = (struct model_request){
        .model_id = arena_copy(arena, run->row.model_id.p, run->row.model_id.n),
        .present = present_text(run, arena),
        .stable = true,
    };
    if (system_text(run, arena, &ret_request->system, &taint, err) < 0)
        return -1;
    if (!str_eq(taint, run->system_taint)) /* it is needed when the answer is there */
        run->system_taint = arena_str(&run->arena, taint);
    add_tools(run, arena, ret_request);
    return add_messages(run, check, ret_request, err);
}

void run_prompt_release(struct run *run)
{
    prompt_texts_unref(run->prompt.texts);
    run->prompt.texts = NULL;
    arena_release(&run->prompt.arena);
}

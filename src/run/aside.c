/* What a command made that tools outside obey, and the hand set aside: a person should know before
 * working there.
 *
 * Nothing waits for the item. It stays until somebody says that it was seen, also when the run is
 * long over.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/hash.h"
#include "base/log.h"
#include "run/run_int.h"

static int aside_item(struct runner *runner, const struct run_record *row, const char *id,
                      struct str detail, int64_t now, struct err *err)
{
    struct inbox_item item = {
        .id = str_from(id),
        .kind = INBOX_ESCALATED,
        .state = INBOX_PENDING,
        .agent_n = row->agent_n,
        .thread_n = row->thread_n,
        .run_n = row->n,
        .title = STR("Set aside what tools outside would obey"),
        .body = STR("{\"note\":\"set_aside\"}"),
        .preview_kind = STR("text"),
        .preview = detail,
        .created_at = now,
    };

    return inbox_add(runner->config.agent_domain, runner->config.change, &item, err);
}

static int aside_in_run(struct run *run, struct str detail, struct err *err)
{
    char id[SHA256_TEXT_SIZE];
    int r;

    if (run_unit_begin(run, err) < 0)
        return -1;
    run_new_id(run, id);
    r = aside_item(run->runner, &run->row, id, detail, run->unit.now, err);
    if (r == 0)
        r = run_offer_note(run, "set_aside", detail, err);
    return run_unit_end(run, r == 0, err) < 0 ? -1 : r;
}

static int aside_alone(struct runner *runner, struct str run_key, struct str detail,
                       struct err *err)
{
    int64_t now = clock_wall_ms(loop_clock(runner->config.loop));
    AUTO_BUF text = BUF_INIT(1024);
    AUTO_ARENA arena = ARENA_INIT;
    char id[SHA256_TEXT_SIZE];
    struct run_record row;
    int r;

    if (run_record_get(runner->config.agent_domain, run_key, &arena, &row, err) < 0)
        return -1;
    buf_printf(&text, "id|v1|%.*s|aside %lld", STR_ARG(run_key), (long long)now);
    sha256_text(buf_str(&text), id);
    if (loop_unit_begin(runner->config.loop, runner->config.agent_domain, err) < 0)
        return -1;
    r = aside_item(runner, &row, id, detail, now, err);
    return loop_unit_end(runner->config.loop, r == 0, r == 0 ? err : NULL) < 0 ? -1 : r;
}

void run_aside(struct runner *runner, struct str run_key, struct str detail)
{
    struct run *run = map_find(&runner->runs, run_key);
    struct err err = ERR_INIT;
    int r = run && !run->ended && !run->unit.open ? aside_in_run(run, detail, &err)
                                                  : aside_alone(runner, run_key, detail, &err);

    if (r < 0)
        LOG_WARN("run", "what was set aside could not be stored", LOG_STR("run", run_key),
                 LOG_STR("what", detail), LOG_ERR(&err));
}

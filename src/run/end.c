/* Ending a run that can't go on: its program is another one, or its log is not what was written.
 *
 * No program is asked. A note in the log says why; then every open call gets its result and whoever
 * was asked about it is no longer, then the error and done, as clients expect of any run. Replay
 * takes the rows after that note as they are (replay.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json_write.h"
#include "base/log.h"
#include "run/run_int.h"

static int record(struct run *run, enum run_event_type type, uint16_t key, bool outside,
                  struct err *err)
{
    const struct bp_event event = { .type = (uint8_t)type, .key = key };
    const struct bp_place by = { .thread = outside ? NULL : run_program.threads };

    run_record_selected(run, &event, &by);
    if (!run->unit.failed)
        return 0;
    *err = run->unit.err;
    return -1;
}

static int record_note(struct run *run, struct err *err)
{
    AUTO_BUF data = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&data);

    json_write_object_begin(&w);
    json_write_key(&w, "note");
    json_write_text(&w, RUN_NOTE_ENDED);
    json_write_key(&w, "code");
    json_write_str(&w, run->row.error_code);
    json_write_key(&w, "detail");
    json_write_str(&w, run->row.error_message);
    json_write_object_end(&w);
    run->unit.said = (struct run_said){ .data = buf_str(&data) };
    return record(run, RUN_EV_NOTE, 0, true, err);
}

static int end_call(struct run_call *call, const struct err *why, struct err *err)
{
    struct run *run = call->run;

    call->no_code = why->code;
    call->no_message = run->row.error_message;
    if (call->acting && !call->asked) {
        /* It was under way when the process ended. */
        call->unknown = true;
        call->no_message = STR("It is not known whether this was done.");
        if (operation_mark_unknown(run->runner->config.agent_domain, call->operation_n,
                                   run->unit.now, err) < 0)
            return -1;
    }
    return record(run, RUN_EV_SETTLED, call->key, false, err);
}

static int end_all(struct run *run, const struct err *why, struct err *err)
{
    char text[ERR_TEXT_MAX];

    run->decreed = true;
    run->row.error_code = str_from(err_name(why->code));
    run->row.error_message = str_from(arena_text(&run->arena, err_format(why, text, sizeof(text))));
    if (record_note(run, err) < 0)
        return -1;
    for (uint16_t key = 1; key <= RUN_CALLS_MAX; key++) {
        if (run->calls[key].live && end_call(&run->calls[key], why, err) < 0)
            return -1;
    }
    if (record(run, RUN_EV_GIVE_UP, 0, false, err) < 0)
        return -1;
    return record(run, RUN_EV_DONE, 0, false, err);
}

void run_end_with(struct runner *runner, struct str run_key, const struct err *why)
{
    struct run *run = run_new(runner);
    struct err err = ERR_INIT;
    int r;

    run_hold(run);
    r = run_read_plain(run, run_key, &err);
    if (r == 0)
        r = run_unit_begin(run, &err);
    if (r == 0) {
        r = end_all(run, why, &err);
        if (run_unit_end(run, r == 0, &err) < 0)
            r = -1;
    }
    if (r == 0)
        LOG_WARN("run", "a run ended: it can't go on", LOG_STR("run", run_key), LOG_ERR(why));
    else if (err.code != ERR_CONFLICT)
        LOG_ERROR("run", "a run can't go on and could not be ended", LOG_STR("run", run_key),
                  LOG_ERR(&err));
    run_unhold(run);
}

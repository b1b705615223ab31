/* Stamps of rows, and their batches.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/stamp_int.h"

#include "change/batch.h"
#include "change/vclock.h"
#include "db/db.h"

int stamp_next(struct domain *domain, struct change *change, struct str what, struct str before,
               struct arena *arena, struct stamp *ret_stamp, struct err *err)
{
    struct vclock seen = { 0 };

    if (before.n && vclock_parse(before, arena, &seen, err) < 0)
        return err_wrap(err, "the vector clock of %.*s", STR_ARG(what));
    ret_stamp->counter = change_next(change);
    ret_stamp->host = change_host_in(change, domain);
    seen = vclock_with(&seen, str_from(change_host_id(change)), ret_stamp->counter, arena);
    ret_stamp->clock = vclock_text(&seen, arena);
    return 0;
}

void stamp_bind(struct stmt *q, const struct stamp *stamp)
{
    stmt_bind_str(q, stamp->clock);
    stmt_bind_i64(q, stamp->host);
    stmt_bind_i64(q, stamp->counter);
}

int stamp_tell(struct domain *domain, struct change *change, const struct stamp *stamp,
               struct str payload_type, struct str id, struct str agent_id, int64_t now_ms,
               struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct change_batch batch = CHANGE_BATCH(&arena, CHANGE_BY_HUMAN);

    change_batch_unit(&batch, change, stamp->counter, payload_type, id);
    change_batch_key(&batch, "AGENT");
    change_batch_id(&batch, agent_id);
    return change_batch_write(domain, change, &batch, now_ms, err) < 0 ? -1 : 0;
}

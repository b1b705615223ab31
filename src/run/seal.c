/* Sealing rows of runs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/seal.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

enum seal_kind { SEAL_TEXT = 0, SEAL_NUMBER, SEAL_REAL, SEAL_STATUS };

static const struct seal_field {
    const char *column;
    enum seal_kind kind;
    size_t at;
} fields[] = {
#define SEALED(member, how)                                                                        \
    {                                                                                              \
#member, how, offsetof(struct run_record, member)                                          \
    }
    SEALED(run_key, SEAL_TEXT),
    SEALED(agent_n, SEAL_NUMBER),
    SEALED(thread_n, SEAL_NUMBER),
    SEALED(wake_reason, SEAL_TEXT),
    SEALED(status, SEAL_STATUS),
    SEALED(mode, SEAL_TEXT),
    SEALED(model_id, SEAL_TEXT),
    SEALED(cwd, SEAL_TEXT),
    SEALED(program_hash, SEAL_TEXT),
    SEALED(settings, SEAL_TEXT),
    SEALED(prompt_n, SEAL_NUMBER),
    SEALED(result_n, SEAL_NUMBER),
    SEALED(wait_kind, SEAL_TEXT),
    SEALED(wait_until, SEAL_NUMBER),
    SEALED(active_ms, SEAL_NUMBER),
    SEALED(iterations, SEAL_NUMBER),
    SEALED(tool_calls, SEAL_NUMBER),
    SEALED(input_tokens, SEAL_NUMBER),
    SEALED(output_tokens, SEAL_NUMBER),
    SEALED(cached_tokens, SEAL_NUMBER),
    SEALED(cost, SEAL_REAL),
    SEALED(stop_reason, SEAL_TEXT),
    SEALED(error_code, SEAL_TEXT),
    SEALED(error_message, SEAL_TEXT),
    SEALED(rerun_of_n, SEAL_NUMBER),
    SEALED(override_code, SEAL_TEXT),
    SEALED(wake_key, SEAL_TEXT),
    SEALED(created_at, SEAL_NUMBER),
    SEALED(ended_at, SEAL_NUMBER),
#undef SEALED
};

static struct str seal_text(const struct seal_field *field, const char *at, char room[40])
{
    switch (field->kind) {
    case SEAL_TEXT:
        return *(const struct str *)(const void *)at;
    case SEAL_NUMBER:
        snprintf(room, 40, "%lld", (long long)*(const int64_t *)(const void *)at);
        break;
    case SEAL_REAL:
        snprintf(room, 40, "%.17g", *(const double *)(const void *)at);
        break;
    case SEAL_STATUS:
        return str_from(run_status_name(*(const enum run_status *)(const void *)at));
    }
    return str_from(room);
}

void run_seal(const struct run_record *run, char ret_seal[SHA256_TEXT_SIZE])
{
    uint8_t digest[SHA256_BYTES];
    struct sha256 hash;
    char room[40], head[64];

    sha256_init(&hash);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct str text = seal_text(&fields[i], (const char *)run + fields[i].at, room);

        snprintf(head, sizeof(head), "%s %zu ", fields[i].column, text.n);
        sha256_add(&hash, str_from(head));
        sha256_add(&hash, text);
    }
    sha256_finish(&hash, digest);
    hex_encode(digest, sizeof(digest), ret_seal);
}

static int seal_differs(const char *column, struct err *err)
{
    return err_set(err, ERR_INTEGRITY_FAILED, "%s of the run is not what its log says", column);
}

/* Logs that were written before there were seals say this much. */
int run_seal_check(const struct run_record *run, struct str data, int64_t at, struct err *err)
{
    AUTO_JSON said = NULL;
    struct str reason, sealed;
    char seal[SHA256_TEXT_SIZE];

    if (!data.n)
        return 0;
    if (json_parse(data, &said, err) < 0)
        return err_wrap(err, "how it ended");
    reason = json_str(json_find(said, "stopReason"));
    sealed = json_str(json_find(said, "seal"));
    if (!str_eq(run->stop_reason, reason))
        return seal_differs("stop_reason", err);
    if (!str_is(reason, run->status == RUN_DONE        ? "end_turn"
                        : run->status == RUN_CANCELLED ? "cancelled"
                                                       : "error"))
        return seal_differs("status", err);
    if (run->ended_at != at)
        return seal_differs("ended_at", err);
    run_seal(run, seal);
    if (sealed.n && !str_is(sealed, seal))
        return err_set(err, ERR_INTEGRITY_FAILED,
                       "the row of the run is not as it was when the run ended");
    return 0;
}

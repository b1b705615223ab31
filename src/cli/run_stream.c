/* The events of one run as they come.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/run_stream.h"

#include <poll.h>
#include <stdio.h>

#include "base/json.h"

#define RETRIES  6
#define RETRY_MS 50 /* then twice as long each time */

int run_stream_start(struct run_stream *stream, struct talk *talk, const char *path,
                     struct str body, struct err *err)
{
    *stream = (struct run_stream){ .talk = talk };
    return talk_follow(talk, "POST", path, body, err);
}

void run_stream_release(struct run_stream *stream)
{
    talk_free(stream->talk);
    stream->talk = NULL;
}

/* ---- finding it again ---- */

static int reconnect(struct run_stream *stream, struct err *err)
{
    struct talk *fresh = NULL;
    char path[RUN_ID_SIZE + 96];

    if (talk_again(stream->talk, &fresh, err) < 0)
        return -1;
    snprintf(path, sizeof(path), "/api/v1/runs/%s/events?after=%lld", stream->run_id,
             (long long)stream->seq);
    if (talk_follow(fresh, "GET", path, STR_NONE, err) < 0) {
        talk_free(fresh);
        return -1;
    }
    talk_free(stream->talk);
    stream->talk = fresh;
    return 0;
}

static int find_again(struct run_stream *stream, struct err *err)
{
    if (stream->keep || !stream->run_id[0])
        return -1;
    for (int i = 0; i < RETRIES; i++) {
        err_reset(err);
        if (reconnect(stream, err) == 0)
            return 0;
        if (err->code == ERR_NOT_FOUND)
            return -1;
        poll(NULL, 0, RETRY_MS << i);
    }
    return -1;
}

/* ---- events ---- */

static void note(struct run_stream *stream, struct json_object *event)
{
    struct str run = json_str(json_find(event, "runId"));
    bool partial = false;

    if (run.n && run.n < sizeof(stream->run_id))
        snprintf(stream->run_id, sizeof(stream->run_id), "%.*s", STR_ARG(run));
    json_get_bool(event, "isPartial", &partial, NULL);
    if (!partial)
        json_get_i64(event, "seq", &stream->seq, NULL);
}

int run_stream_next(struct run_stream *stream, struct str *ret_json, struct json_object **ret_event,
                    struct err *err)
{
    for (;;) {
        int r = talk_next(stream->talk, 0, ret_json, err);

        if (r == 2)
            return 2;
        if (r == 1 && json_parse(*ret_json, ret_event, NULL) == 0) {
            note(stream, *ret_event);
            return 1;
        }
        if (r == 1) /* nothing that the daemon sends */
            continue;
        if (r == 0)
            err_set(err, ERR_PROVIDER_FAILED,
                    "the daemon ended the stream before the run was done");
        if (find_again(stream, err) < 0)
            return -1;
    }
}

/* The events of one run as they come, over connections that may break.
 *
 * A daemon that goes away is found again, or a keeper is started, and the stream goes on after the
 * last recorded event that was seen: none is missed, none comes twice. Partial texts may.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_RUN_STREAM_H
#define DORMOUSE_CLI_RUN_STREAM_H

#include "cli/talk.h"

#define RUN_ID_SIZE 128

struct run_stream {
    struct talk *talk;        /* owned */
    bool keep;                /* no other connection can be made */
    char run_id[RUN_ID_SIZE]; /* "" until the first event */
    int64_t seq;              /* of the last recorded event */
};

/* The request that begins the run (POST), on talk, which becomes the stream's. */
int run_stream_start(struct run_stream *stream, struct talk *talk, const char *path,
                     struct str body, struct err *err);
void run_stream_release(struct run_stream *stream);

/* 1: an event, as text (valid until the next call) and read, to be put; 2: none is there now;
 * -1: the stream has ended and can't be found again. Waits only while it reconnects. */
int run_stream_next(struct run_stream *stream, struct str *ret_json, struct json_object **ret_event,
                    struct err *err);

#endif

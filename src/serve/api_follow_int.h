/* A follower, for the files that follow: its life (api_follow.c), what it reads of the log
 * (api_follow_log.c), what it hears live (api_follow_live.c).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_API_FOLLOW_INT_H
#define DORMOUSE_SERVE_API_FOLLOW_INT_H

#include "serve/api_int.h"

enum follow_state {
    FOLLOW_NEW = 0, /* the head of the answer is not sent yet */
    FOLLOW_HELD,
    FOLLOW_LOG,
    FOLLOW_LIVE,
    FOLLOW_OVER,
};

struct api_follower {
    struct api *api;
    struct api_follower *next, **link;
    struct serve_client *client; /* NULL: gone */
    char *thread_id, *run_id;    /* run_id NULL: all runs of the thread */
    char *agent_id;
    uint64_t thread_hash;
    int64_t start, last;        /* every event in (start, last] was sent */
    int64_t seen_from, seen_to; /* while a resume fills in what came before: sent already */
    struct run_heard heard[2];  /* parts of text and thinking that were sent, or left out */
    enum follow_state state;
    bool held, queued;
    struct loop_effect effect;
    struct loop_timer hold;
};

/* Frees what it holds, and itself; it is in no list any more. */
void api_follower_destroy(struct api_follower *follower);

/* Goes on with the log when everything written is committed. */
void api_follower_read(struct api_follower *follower);
/* Are there events in the log that it has not got? */
bool api_follower_lacks(struct api_follower *follower);
/* A recorded event. -1: the client takes no more. */
int api_follower_send(struct api_follower *follower, const struct run_public *event,
                      struct serve_event *shared);
/* It has all there will be. */
void api_follower_end(struct api_follower *follower);
/* A client that is behind hears more when it has taken what is queued. */
bool api_follower_has_room(const struct api_follower *follower);
/* What it has missed of an answer that a model is giving. */
void api_follower_catch_up(struct api_follower *follower);

/* Nothing of other processes is looked for any more. */
void api_followers_look_end(struct api *api);

#endif

/* See fake_hand.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fake_hand.h"

#include <stdlib.h>

struct hand_job {
    struct hand *hand;
    struct hand_job *next;
    char *operation, *arguments;
    hand_done_fn *done;
    void *arg;
    bool cancelled;
    struct loop_timer soon;
};

struct hand {
    struct hand_config config;
    struct hand_job *jobs;
    char *state;
    bool stubborn;
};

static unsigned alive;

struct hand *hand_new(const struct hand_config *config)
{
    struct hand *hand = NEW(struct hand);

    hand->config = *config;
    alive++;
    return hand;
}

static void finish(struct hand_job *job, const struct hand_reply *reply)
{
    struct hand_job **link = &job->hand->jobs;

    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
    loop_timer_stop(job->hand->config.loop, &job->soon);
    job->done(job->arg, reply);
    free(job->operation);
    free(job->arguments);
    free(job);
}

static void finish_cancelled(struct hand_job *job)
{
    struct hand_reply reply = { .err = ERR_INIT };

    err_set(&reply.err, ERR_CANCELLED, "the hand's job was cancelled");
    finish(job, &reply);
}

void hand_free(struct hand *hand)
{
    if (!hand)
        return;
    while (hand->jobs)
        finish_cancelled(hand->jobs);
    free(hand->state);
    free(hand);
    alive--;
}

void hand_close(struct hand *hand, void (*closed)(void *arg), void *arg)
{
    hand_free(hand);
    closed(arg);
}

void hand_close_wait(struct hand *const *hands, size_t n)
{
    (void)hands, (void)n;
    BUG("it is closed at once");
}

static void on_soon(struct loop_timer *timer)
{
    finish_cancelled((struct hand_job *)(void *)((char *)timer - offsetof(struct hand_job, soon)));
}

int hand_call(struct hand *hand, const char *operation, struct str arguments, hand_done_fn *done,
              void *arg, struct hand_job **ret_job, struct err *err)
{
    struct hand_job *job, **link = &hand->jobs;

    if (strcmp(operation, "refused") == 0)
        return err_set(err, ERR_RATE_LIMITED, "the hand is busy");
    job = NEW(struct hand_job);
    job->hand = hand;
    job->operation = alloc_text(operation);
    job->arguments = alloc_copy(arguments.p, arguments.n);
    job->done = done;
    job->arg = arg;
    job->soon.fire = on_soon;
    while (*link)
        link = &(*link)->next;
    *link = job;
    *ret_job = job;
    return 0;
}

void hand_cancel(struct hand_job *job)
{
    job->cancelled = true;
    if (!job->hand->stubborn)
        loop_timer_start(job->hand->config.loop, &job->soon, 0);
}

void hand_set_state(struct hand *hand, struct str json)
{
    free(hand->state);
    hand->state = alloc_copy(json.p, json.n);
}

struct str hand_state(const struct hand *hand)
{
    return str_from(hand->state);
}

int hand_pid(const struct hand *hand, uint64_t *ret_stamp)
{
    (void)hand;
    *ret_stamp = 0;
    return 0;
}

struct hand_job *fake_hand_waiting(struct hand *hand)
{
    return hand->jobs;
}

const char *fake_hand_operation(const struct hand_job *job)
{
    return job->operation;
}

const char *fake_hand_arguments(const struct hand_job *job)
{
    return job->arguments;
}

bool fake_hand_cancelled(const struct hand_job *job)
{
    return job->cancelled;
}

void fake_hand_answer(struct hand *hand, const char *result)
{
    struct hand_reply reply = { .err = ERR_INIT, .result = str_from(result) };

    finish(hand->jobs, &reply);
}

void fake_hand_fail(struct hand *hand, enum err_code code, const char *message)
{
    struct hand_reply reply = { .err = ERR_INIT };

    err_set(&reply.err, code, "%s", message);
    finish(hand->jobs, &reply);
}

void fake_hand_stubborn(struct hand *hand, bool stubborn)
{
    hand->stubborn = stubborn;
}

void fake_hand_set_state(struct hand *hand, const char *json)
{
    hand_set_state(hand, str_from(json));
}

void fake_hand_notice(struct hand *hand, const char *kind, const char *detail)
{
    struct hand_notice notice = { .kind = kind, .detail = str_from(detail) };

    if (hand->config.on_notice)
        hand->config.on_notice(hand->config.arg, &notice);
}

unsigned fake_hands_alive(void)
{
    return alive;
}

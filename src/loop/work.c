/* Jobs for the thread pool: at most LOOP_WORK_MAX are inside, the others wait here in order.
 *
 * A cancelled job that waits is finished by the pool's way round all the same (as a job whose run
 * is skipped), so that done() always comes from the loop and never from inside a call.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "loop/loop_int.h"

static void submit_next(struct loop *loop)
{
    while (loop->waiting && loop->work_running < LOOP_WORK_MAX) {
        struct loop_work_job *job = loop->waiting;

        loop->waiting = job->next;
        if (!loop->waiting)
            loop->waiting_end = &loop->waiting;
        loop->work_waiting--;
        loop->work_running++;
        loop->ops->submit(loop, job);
    }
}

int loop_work(struct loop *loop, struct loop_work *work, struct err *err)
{
    struct loop_work_job *job;

    BUG_IF(work->job);
    if (loop->work_waiting >= LOOP_WORK_WAITING)
        return err_set(err, ERR_RATE_LIMITED, "%d jobs wait for the thread pool already",
                       LOOP_WORK_WAITING);
    job = NEW(struct loop_work_job);
    job->loop = loop;
    job->work = work;
    work->job = job;
    *loop->waiting_end = job;
    loop->waiting_end = &job->next;
    loop->work_waiting++;
    submit_next(loop);
    return 0;
}

void loop_work_cancel(struct loop *loop, struct loop_work *work)
{
    (void)loop;
    if (work->job)
        __atomic_store_n(&work->job->cancelled, true, __ATOMIC_RELAXED);
}

bool loop_work_cancelled(const struct loop_work *work)
{
    return __atomic_load_n(&work->job->cancelled, __ATOMIC_RELAXED);
}

void loop_work_run(struct loop_work_job *job)
{
    if (!loop_work_cancelled(job->work))
        job->work->run(job->work);
}

void loop_work_finished(struct loop_work_job *job)
{
    struct loop *loop = job->loop;
    struct loop_work *work = job->work;
    bool cancelled = loop_work_cancelled(work);

    loop->work_running--;
    work->job = NULL;
    free(job);
    work->done(work, cancelled);
    submit_next(loop);
}

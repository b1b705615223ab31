/* Jobs in the thread pool, on libuv and on the fake loop.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#include "harness/test.h"
#include "loop/loop_int.h"

struct job {
    struct loop_work work; /* first */
    struct loop *loop;
    int *left;        /* stops the loop when it reaches 0 */
    sem_t *gate;      /* waited for in the pool, when set */
    pthread_t thread; /* where it ran */
    int ran, done, cancelled;
};

static int inside, inside_most; /* jobs in the pool at a time */

static void job_run(struct loop_work *work)
{
    struct job *job = (struct job *)work;
    int now = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    int most = __atomic_load_n(&inside_most, __ATOMIC_SEQ_CST);

    while (now > most && !__atomic_compare_exchange_n(&inside_most, &most, now, false,
                                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    if (job->gate)
        sem_wait(job->gate);
    job->thread = pthread_self();
    job->ran++;
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

static void job_done(struct loop_work *work, bool cancelled)
{
    struct job *job = (struct job *)work;

    job->done++;
    job->cancelled += cancelled;
    if (job->left && --*job->left == 0)
        loop_stop(job->loop);
}

static void jobs_init(struct job *jobs, int n, struct loop *loop, int *left)
{
    for (int i = 0; i < n; i++)
        jobs[i] = (struct job){ { job_run, job_done }, .loop = loop, .left = left };
    if (left)
        *left = n;
}

TEST(jobs_run_in_other_threads_and_end_on_the_loop)
{
    AUTO(loop) loop = NULL;
    struct job jobs[50];
    int left;

    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    jobs_init(jobs, ARRAY_LEN(jobs), loop, &left);
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
        ASSERT_OK(loop_work(loop, &jobs[i].work, &t->err));
    ASSERT_OK(loop_run(loop, &t->err));
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        ASSERT(jobs[i].ran == 1 && jobs[i].done == 1 && !jobs[i].cancelled);
        ASSERT(!pthread_equal(jobs[i].thread, pthread_self()));
    }
    ASSERT(inside_most >= 1 && inside_most <= LOOP_WORK_MAX);
}

TEST(a_waiting_job_that_is_cancelled_never_runs)
{
    AUTO(loop) loop = NULL;
    struct job jobs[LOOP_WORK_MAX + 2];
    int left;
    sem_t gate;

    sem_init(&gate, 0, 0);
    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    jobs_init(jobs, ARRAY_LEN(jobs), loop, &left);
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        jobs[i].gate = &gate;
        ASSERT_OK(loop_work(loop, &jobs[i].work, &t->err));
    }
    loop_work_cancel(loop, &jobs[LOOP_WORK_MAX].work);
    ASSERT_EQ(jobs[LOOP_WORK_MAX].done, 0);
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
        sem_post(&gate);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT(jobs[LOOP_WORK_MAX].ran == 0 && jobs[LOOP_WORK_MAX].cancelled == 1);
    ASSERT(jobs[LOOP_WORK_MAX + 1].ran == 1 && jobs[LOOP_WORK_MAX + 1].cancelled == 0);
}

static void until_cancelled(struct loop_work *work)
{
    struct job *job = (struct job *)work;

    sem_post(job->gate);
    while (!loop_work_cancelled(work))
        sched_yield();
    job->ran++;
}

TEST(a_running_job_is_told_that_it_was_cancelled)
{
    AUTO(loop) loop = NULL;
    struct job job;
    int left;
    sem_t started;

    sem_init(&started, 0, 0);
    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    jobs_init(&job, 1, loop, &left);
    job.work.run = until_cancelled;
    job.gate = &started;
    ASSERT_OK(loop_work(loop, &job.work, &t->err));
    sem_wait(&started);
    loop_work_cancel(loop, &job.work);
    ASSERT_OK(loop_run(loop, &t->err));
    ASSERT(job.ran == 1 && job.cancelled == 1);
    loop_work_cancel(loop, &job.work);
}

TEST(the_queue_of_jobs_is_bounded)
{
    struct clock_fake clock;
    AUTO(loop) loop = NULL;
    struct job jobs[LOOP_WORK_MAX + LOOP_WORK_WAITING + 1];
    size_t last = ARRAY_LEN(jobs) - 1;

    clock_fake_init(&clock, 0);
    loop = loop_new_fake(&clock);
    jobs_init(jobs, ARRAY_LEN(jobs), loop, NULL);
    for (size_t i = 0; i < last; i++)
        ASSERT_OK(loop_work(loop, &jobs[i].work, &t->err));
    ASSERT_FAILS(loop_work(loop, &jobs[last].work, &t->err), ERR_RATE_LIMITED);
    loop_fake_advance(loop, 0);
    for (size_t i = 0; i < last; i++)
        ASSERT(jobs[i].ran == 1 && jobs[i].done == 1);
    ASSERT_OK(loop_work(loop, &jobs[last].work, &t->err));
    loop_fake_advance(loop, 0);
    ASSERT_EQ(jobs[last].done, 1);
}

TEST(a_fake_job_runs_in_the_next_tick_and_not_before)
{
    struct clock_fake clock;
    AUTO(loop) loop = NULL;
    struct job jobs[2];

    clock_fake_init(&clock, 0);
    loop = loop_new_fake(&clock);
    jobs_init(jobs, 2, loop, NULL);
    ASSERT_OK(loop_work(loop, &jobs[0].work, &t->err));
    ASSERT_OK(loop_work(loop, &jobs[1].work, &t->err));
    loop_work_cancel(loop, &jobs[1].work);
    ASSERT(jobs[0].ran == 0 && jobs[1].done == 0);
    loop_fake_tick(loop);
    ASSERT(jobs[0].ran == 1 && jobs[0].done == 1);
    ASSERT(jobs[1].ran == 0 && jobs[1].cancelled == 1);
}

/* Whose a run is, where several processes write to one database.
 *
 * A run belongs to the host and the lease number in its row. A unit begins by locking that row and
 * comparing it with what this process loaded: when another has taken the run over, or ended it, the
 * two differ, nothing is written, and the run goes from memory. The lock lasts until the commit, so
 * whoever takes runs over waits for a unit that is about to be committed and finds all of it. So
 * does whoever destroys its agent: nothing is written for one that is gone. What is left of its run
 * is ended when it is loaded again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"
#include "run/run_int.h"

int64_t runner_host(const struct runner *runner)
{
    return runner->fence ? change_host(runner->config.change) : 0;
}

static int lost(const struct run *run, struct err *err)
{
    return err_set(err, ERR_LEASE_LOST, "the run %.12s is no longer this host's",
                   run->row.run_key.p);
}

int run_take(struct run *run, struct err *err)
{
    struct runner *runner = run->runner;
    int64_t host = runner_host(runner);

    if (!runner->fence)
        return 0;
    if (run->row.ended_at)
        return lost(run, err);
    if (run->row.host_n == host && run->row.fence == runner->fence)
        return 0;
    run->row.host_n = host;
    run->row.fence = runner->fence;
    return run_own(runner->config.agent_domain, run->row.n, host, runner->fence, err);
}

/* It was read before its row was locked: the host that had it may have written since, or have gone
 * on with it. */
static int check_read(struct run *run, const struct run_owner *owner, struct err *err)
{
    struct runner *runner = run->runner;
    int64_t rows;

    if (run_event_count(runner->config.agent_domain, run->row.n, &rows, err) < 0)
        return -1;
    if (rows != run->rows || (owner->host_n != runner_host(runner) && !owner->waits))
        return lost(run, err);
    return 0;
}

int run_check_own(struct run *run, struct err *err)
{
    struct runner *runner = run->runner;
    struct run_owner is;
    int r;

    if (!runner->fence || !run->row.n)
        return 0;
    r = run_lock(runner->config.agent_domain, run->row.n, &is, err);
    if (r < 0)
        return -1;
    if (r == 0 || is.ended || is.host_n != run->row.host_n || is.fence != run->row.fence)
        return lost(run, err);
    if (is.host_n == runner_host(runner) && is.fence == runner->fence)
        return 0;
    return check_read(run, &is, err) < 0 ? -1 : run_take(run, err);
}

int run_check_alive(struct run *run, struct err *err)
{
    if (!run->runner->fence || !run->row.n)
        return 0;
    return agent_hold_alive(run->runner->config.agent_domain, run->row.agent_n, err);
}

void runner_set_fence(struct runner *runner, int64_t fence)
{
    if (fence == runner->fence)
        return;
    runner->fence = fence;
    map_each (&runner->runs, entry) {
        struct run *run = entry->value;

        if (run->row.fence == fence)
            continue;
        run_hold(run);
        run_give_back(run);
        run_unhold(run);
    }
    runner_reload(runner, 0);
}

int64_t runner_take_over(struct runner *runner, int64_t host_n, struct err *err)
{
    int64_t n =
        run_own_all(runner->config.agent_domain, host_n, runner_host(runner), runner->fence, err);

    BUG_IF(!runner->fence);
    if (n > 0) {
        runner_reload(runner, 0);
        runner_watch_waits(runner);
    }
    return n;
}

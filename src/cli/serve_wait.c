/* Waiting for Postgres: a loop of its own with nothing but the server's own routes, and a timer
 * that tries to open a domain, after pauses that grow to half a minute.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/serve_wait.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "cli/cli_int.h"
#include "cli/domains.h"
#include "cli/notify.h"
#include "loop/loop.h"
#include "serve/serve.h"

#define WAIT_FIRST_MS 1000
#define WAIT_MAX_MS   30000
/* A service manager that waits for READY=1 is asked for more time at each try. */
#define WAIT_MORE_TIME "EXTEND_TIMEOUT_USEC=120000000\nSTATUS=waiting for Postgres"

struct waiting {
    const struct serve_wait *how;
    struct loop *loop;
    struct serve *serve;
    struct loop_timer timer;
    int64_t pause_ms;
};

bool serve_wait_may_help(const struct config *config, const struct err *why)
{
    return why->code == ERR_STORAGE_FAILED && !domains_is_local(config, DOMAIN_JOURNAL);
}

static size_t wait_health(void *arg, struct serve_health *out, size_t max)
{
    size_t n = 0;

    (void)arg;
    for (size_t i = 0; i < DOMAINS_COUNT && n < max; i++, n++) {
        snprintf(out[n].name, sizeof(out[n].name), "%s", domains_name(i));
        snprintf(out[n].status, sizeof(out[n].status), "%s",
                 domain_health_name(i == DOMAIN_INDEX ? DOMAIN_OK : DOMAIN_AWAY));
    }
    return n;
}

static void wait_stopped(void *arg)
{
    struct waiting *waiting = arg;

    loop_stop(waiting->loop);
}

static void wait_over(struct waiting *waiting)
{
    if (waiting->serve)
        serve_stop(waiting->serve, 0, wait_stopped, waiting);
    else
        loop_stop(waiting->loop);
}

static void wait_try(struct loop_timer *timer)
{
    struct waiting *waiting = CONTAINER_OF(timer, struct waiting, timer);
    const struct serve_wait *how = waiting->how;
    AUTO(domain) domain = NULL;
    struct err err = ERR_INIT;

    notify_send(WAIT_MORE_TIME);
    if (domains_open_one(how->config, how->data_dir, DOMAIN_JOURNAL, false, &domain, &err) == 0 ||
        !serve_wait_may_help(how->config, &err)) {
        wait_over(waiting);
        return;
    }
    waiting->pause_ms = 2 * waiting->pause_ms < WAIT_MAX_MS ? 2 * waiting->pause_ms : WAIT_MAX_MS;
    loop_timer_start(waiting->loop, timer, waiting->pause_ms);
}

/* Without it the daemon waits as well: another one may have the port. */
static void wait_answer(struct waiting *waiting)
{
    const struct serve_config config = { .listen = waiting->how->listen,
                                         .token_path = waiting->how->token_path,
                                         .version = DORMOUSE_VERSION,
                                         .health = wait_health };
    struct err err = ERR_INIT;

    if (getenv("LISTEN_FDS"))
        return;
    if (serve_start(waiting->loop, &config, &waiting->serve, &err) < 0)
        LOG_WARN("serve", "nobody is told at /healthz that the daemon waits", LOG_ERR(&err));
}

int serve_wait(const struct serve_wait *how, const struct err *why, struct err *err)
{
    struct waiting waiting = { .how = how,
                               .timer = { .fire = wait_try },
                               .pause_ms = WAIT_FIRST_MS };
    int r;

    LOG_WARN("store", "Postgres can't be reached; the daemon waits for it", LOG_ERR(why));
    if (loop_new(NULL, &waiting.loop, err) < 0)
        return -1;
    signal(SIGHUP, SIG_IGN); /* a terminal that closes does not end a daemon */
    signal(SIGPIPE, SIG_IGN);
    wait_answer(&waiting);
    notify_send(WAIT_MORE_TIME);
    loop_timer_start(waiting.loop, &waiting.timer, waiting.pause_ms);
    r = loop_run(waiting.loop, err);
    serve_free(waiting.serve);
    loop_free(waiting.loop);
    if (r == 0)
        LOG_INFO("store", "Postgres answers");
    return r;
}

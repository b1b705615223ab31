/* Secrets of models, fetched in the thread pool: a keyring may ask a person for its password first,
 * and meanwhile the loop must go on.
 *
 * One fetch is under way at a time, so that whoever gives secrets need not expect two calls at
 * once. What it brings goes to every exchange that waits for the same name; those that wait for
 * another one are next. Nothing is kept: a secret that was set anew holds from the next request.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/redact.h"
#include "model/exchange_int.h"
#include "policy/secret.h"

struct key_job {
    struct loop_work work;         /* first */
    struct model_gateway *gateway; /* NULL: it was freed meanwhile */
    int (*secret)(void *arg, const char *ref, struct buf *out, struct err *err);
    void *arg;
    char *ref;
    struct buf value;
    struct err err; /* of a fetch that failed */
};

static unsigned fetching;

static void job_free(struct key_job *job)
{
    secrets_wipe(&job->value);
    free(job->ref);
    free(job);
}

/* What stands in a header has no spaces, and a line feed would begin another header. */
static int check_value(const char *ref, struct str value, struct err *err)
{
    for (size_t i = 0; i < value.n; i++)
        if ((unsigned char)value.p[i] < 0x21 || (unsigned char)value.p[i] > 0x7E)
            return err_set(err, ERR_SECRET_UNAVAILABLE,
                           "the secret \"%s\" holds spaces or control characters, which no key"
                           " does: dormouse secret set %s",
                           ref, ref);
    return 0;
}

/* In a thread of the pool. */
static void fetch(struct loop_work *work)
{
    struct key_job *job = (struct key_job *)(void *)work;

    if (job->secret(job->arg, job->ref, &job->value, &job->err) == 0)
        check_value(job->ref, buf_str(&job->value), &job->err);
    else if (!job->err.code)
        err_set(&job->err, ERR_SECRET_UNAVAILABLE, "the secret \"%s\" can't be read", job->ref);
}

/* The exchange that has waited longest in this state, or NULL. */
static struct model_exchange *oldest(struct model_gateway *gateway, enum key_state state)
{
    struct model_exchange *found = NULL;

    for (struct model_exchange *x = gateway->exchanges; x; x = x->core->next)
        if (x->core->key == state)
            found = x;
    return found;
}

static void hand_over(struct model_exchange *x, const struct key_job *job)
{
    struct err err = job->err;

    if (!err.code) {
        buf_add_str(&x->core->secret, buf_str(&job->value));
        redact_register(buf_str(&x->core->secret));
        if (exchange_go(x, &err) == 0)
            return;
    }
    exchange_fail(x, &err, -1);
}

static void fetched(struct loop_work *work, bool cancelled);

static int fetch_for(struct model_exchange *x, struct err *err)
{
    struct model_gateway *gateway = x->gateway;
    struct key_job *job = NEW(struct key_job);

    job->work.run = fetch;
    job->work.done = fetched;
    job->gateway = gateway;
    job->secret = gateway->config.secret;
    job->arg = gateway->config.arg;
    job->ref = alloc_text(x->spec->secret_ref);
    job->value = BUF_INIT(MODEL_SECRET_MAX);
    if (loop_work(gateway->config.loop, &job->work, err) < 0) {
        job_free(job);
        return -1;
    }
    gateway->key_job = job;
    fetching++;
    return 0;
}

static void fetch_next(struct model_gateway *gateway)
{
    struct model_exchange *x;
    struct err err = ERR_INIT;

    while (!gateway->key_job && (x = oldest(gateway, KEY_WANTED)))
        if (fetch_for(x, &err) < 0)
            exchange_fail(x, &err, -1);
}

/* Callbacks may start and cancel others meanwhile: who gets this one is settled before the first.
 */
static void fetched(struct loop_work *work, bool cancelled)
{
    struct key_job *job = (struct key_job *)(void *)work;
    struct model_gateway *gateway = job->gateway;
    struct model_exchange *x;

    fetching--;
    if (gateway) {
        gateway->key_job = NULL;
        if (cancelled && !job->err.code) /* the loop ends */
            err_set(&job->err, ERR_CANCELLED, "the secret was not fetched any more");
        for (x = gateway->exchanges; x; x = x->core->next)
            if (x->core->key == KEY_WANTED && strcmp(x->spec->secret_ref, job->ref) == 0)
                x->core->key = KEY_COME;
        while ((x = oldest(gateway, KEY_COME)))
            hand_over(x, job);
        fetch_next(gateway);
    }
    job_free(job);
}

int key_want(struct model_exchange *x, struct err *err)
{
    const char *ref = x->spec->secret_ref;

    if (!x->gateway->config.secret)
        return err_set(err, ERR_SECRET_UNAVAILABLE,
                       "the secret \"%s\" is not set: dormouse secret set %s", ref, ref);
    if (!x->gateway->key_job && fetch_for(x, err) < 0)
        return -1;
    x->core->key = KEY_WANTED;
    return 0;
}

void key_close(struct model_gateway *gateway)
{
    if (gateway->key_job)
        gateway->key_job->gateway = NULL;
    gateway->key_job = NULL;
}

unsigned keys_fetching(void)
{
    return fetching;
}

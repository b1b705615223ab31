/* Secrets on their way to a model: fetched beside the loop, shared, refused where they would travel
 * in clear text, and gone when the exchange is.
 *
 * SPDX-License-Identifier: MIT
 */
#include <semaphore.h>
#include <time.h>

#include "base/redact.h"
#include "model_rig.h"

#define ANSWER                                                                                     \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}" \
    "\n\ndata: [DONE]\n\n"

static const struct say answers[] = { { 200, NULL, ANSWER }, { 0 } };
static const struct model_message hello = { .role = MODEL_USER, .text = { "Hello", 5 } };
static const struct model_request simple = { .model_id = "m",
                                             .messages = &hello,
                                             .message_count = 1 };

static void never_done(void *arg, const struct model_reply *reply, const struct err *err,
                       int64_t retry_after_ms)
{
    (void)arg, (void)reply, (void)err, (void)retry_after_ms;
    FAIL("done, although it never started");
}
static const struct model_sink never = { .on_done = never_done };

static void named(struct model_rig *rig, struct model_gateway_config *config)
{
    (void)config;
    rig->spec.secret_ref = "k1";
}

/* ---- what is there, what is missing ---- */

TEST(a_secret_that_cant_be_sent_ends_the_exchange_and_nothing_is_sent)
{
    static const struct {
        const char *value, *says;
    } cases[] = {
        { NULL, "dormouse secret set k1" },
        { "line one\nX-Evil: 1", "spaces or control characters" },
        { "two words", "spaces or control characters" },
        { "tab\there", "spaces or control characters" },
        { "schl\xC3\xBCssel", "spaces or control characters" },
        { "del\x7F", "spaces or control characters" },
    };
    static const char *const providers[] = { "openai", "anthropic", "functiongemma" };

    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(providers); i++) {
        struct model_rig rig;
        struct ask ask = ASK_INIT;

        model_rig_open(&rig, t, providers[i % ARRAY_LEN(providers)], answers, named);
        rig.secret = cases[i / ARRAY_LEN(providers)].value;
        ask_run(&ask, &rig, NULL);
        ASSERT_ASK_FAILED(&ask, ERR_SECRET_UNAVAILABLE);
        ASSERT_CONTAINS(ask_error(&ask), cases[i / ARRAY_LEN(providers)].says);
        ASSERT(!strstr(ask_error(&ask), "Evil") && !strstr(ask_error(&ask), "two words"));
        ASSERT_EQ(rig.peer.shared->requests, 0);
        ASSERT_EQ(ask.retry_after_ms, -1);
        ask_release(&ask);
        model_rig_close(&rig);
    }
}

static void no_secrets(struct model_rig *rig, struct model_gateway_config *config)
{
    named(rig, config);
    config->secret = NULL;
}

TEST(a_gateway_without_secrets_says_at_once_which_one_is_missing)
{
    struct model_rig rig;
    struct model_exchange *x;

    model_rig_open(&rig, t, "anthropic", answers, no_secrets);
    ASSERT_FAILS(model_start(rig.gateway, &simple, &never, NULL, &x, &t->err),
                 ERR_SECRET_UNAVAILABLE);
    ASSERT_CONTAINS(test_err_text(t), "dormouse secret set k1");
    model_rig_close(&rig);
}

static int mute(void *arg, const char *ref, struct buf *out, struct err *err)
{
    (void)arg, (void)ref, (void)out, (void)err;
    return -1;
}

static void mute_store(struct model_rig *rig, struct model_gateway_config *config)
{
    named(rig, config);
    config->secret = mute;
}

TEST(a_store_that_fails_without_a_word_is_a_failure_all_the_same)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "openai", answers, mute_store);
    ask_run(&ask, &rig, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_SECRET_UNAVAILABLE);
    ASSERT_CONTAINS(ask_error(&ask), "\"k1\" can't be read");
    ask_release(&ask);
    model_rig_close(&rig);
}

static bool redacted(const char *text)
{
    AUTO_BUF out = BUF_INIT(4096);

    redact(str_from(text), &out);
    return !strstr(buf_text(&out), text);
}

/* Waits until the request has arrived there, so that its key was fetched; then cancels. */
struct watch {
    struct loop_timer timer; /* first */
    struct ask *ask;
    bool hidden;
};

static void look_at_log(struct loop_timer *timer)
{
    struct watch *watch = (struct watch *)(void *)timer;
    struct model_rig *rig = watch->ask->rig;

    if (__atomic_load_n(&rig->peer.shared->requests, __ATOMIC_SEQ_CST) == 0) {
        loop_timer_start(rig->loop, timer, 1);
        return;
    }
    watch->hidden = redacted("planted-canary-3141");
    model_cancel(watch->ask->x);
}

TEST(a_key_is_hidden_from_logs_while_the_exchange_lasts_and_forgotten_after)
{
    static const struct say open[] = { { 200, NULL, "", SAY_OPEN }, { 0 } };
    struct model_rig rig;
    struct ask ask = ASK_INIT;
    struct watch watch = { .timer = { .fire = look_at_log }, .ask = &ask };

    model_rig_open(&rig, t, "anthropic", open, named);
    rig.secret = "planted-canary-3141";
    ASSERT(!redacted(rig.secret));
    ask_start(&ask, &rig, NULL);
    loop_timer_start(rig.loop, &watch.timer, 1);
    rig_wait(&rig);
    ASSERT_ASK_FAILED(&ask, ERR_CANCELLED);
    ASSERT(watch.hidden);
    ASSERT_CONTAINS(rig.peer.shared->last_head, "x-api-key: planted-canary-3141");
    ASSERT(!redacted("planted-canary-3141"));
    ask_release(&ask);
    model_rig_close(&rig);
}

/* ---- a store that takes its time ---- */

/* As a keyring does that asks for its password: blocks until it is let go. */
static struct {
    sem_t asked, let_go;
    unsigned calls;
    bool late; /* it was not let go in time: the loop stood still */
    const char *value;
    char refs[128];
} store;

static int slow_store(void *arg, const char *ref, struct buf *out, struct err *err)
{
    struct timespec until;

    (void)arg, (void)err;
    __atomic_add_fetch(&store.calls, 1, __ATOMIC_SEQ_CST);
    strncat(store.refs, ref, sizeof(store.refs) - strlen(store.refs) - 1);
    strncat(store.refs, " ", sizeof(store.refs) - strlen(store.refs) - 1);
    sem_post(&store.asked);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    if (sem_timedwait(&store.let_go, &until) < 0)
        store.late = true;
    return buf_add_text(out, store.value);
}

static void slowly(struct model_rig *rig, struct model_gateway_config *config)
{
    named(rig, config);
    memset(&store, 0, sizeof(store));
    sem_init(&store.asked, 0, 0);
    sem_init(&store.let_go, 0, 0);
    store.value = "sk-slow-value-1";
    config->secret = slow_store;
}

static void let_go(struct loop_timer *timer)
{
    (void)timer;
    sem_post(&store.let_go);
}

TEST(a_keyring_that_asks_a_person_does_not_stop_the_loop)
{
    struct loop_timer timer = { .fire = let_go };
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "openai", answers, slowly);
    ask_start(&ask, &rig, NULL);
    sem_wait(&store.asked);
    loop_timer_start(rig.loop, &timer, 1); /* fires only where the loop runs */
    rig_wait(&rig);
    ASSERT(!store.late);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_CONTAINS(rig.peer.shared->last_head, "Authorization: Bearer sk-slow-value-1");
    ask_release(&ask);
    model_rig_close(&rig);
}

TEST(many_that_wait_for_one_secret_share_a_fetch)
{
    struct loop_timer timer = { .fire = let_go };
    struct model_rig rig;
    struct ask asks[12];

    model_rig_open(&rig, t, "openai", answers, slowly);
    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        asks[i] = ASK_INIT;
        ask_start(&asks[i], &rig, NULL);
    }
    loop_timer_start(rig.loop, &timer, 1);
    rig_wait(&rig);
    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        ASSERT_REPLIED(&asks[i], MODEL_STOP_END);
        ask_release(&asks[i]);
    }
    ASSERT_EQ(store.calls, 1);
    /* The next one asks again: nothing is kept. */
    asks[0] = ASK_INIT;
    store.value = "sk-other-value-2";
    sem_post(&store.let_go);
    ask_run(&asks[0], &rig, NULL);
    ASSERT_EQ(store.calls, 2);
    ASSERT_CONTAINS(rig.peer.shared->last_head, "Bearer sk-other-value-2");
    ask_release(&asks[0]);
    model_rig_close(&rig);
}

static struct model_spec two_specs[2];

static void two_names(struct model_rig *rig, struct model_gateway_config *config)
{
    slowly(rig, config);
    two_specs[0] = two_specs[1] = rig->spec;
    two_specs[1].id = "n";
    two_specs[1].secret_ref = "k2";
    config->models = two_specs;
    config->model_count = 2;
}

TEST(other_secrets_are_fetched_one_after_the_other_in_the_order_of_asking)
{
    struct model_request other = simple;
    struct model_rig rig;
    struct ask one = ASK_INIT, two = ASK_INIT, three = ASK_INIT;

    other.model_id = "n";
    model_rig_open(&rig, t, "openai", answers, two_names);
    ask_start(&one, &rig, NULL);
    ask_start(&two, &rig, &other);
    ask_start(&three, &rig, NULL); /* comes with the first */
    sem_wait(&store.asked);
    ASSERT_EQ(__atomic_load_n(&store.calls, __ATOMIC_SEQ_CST), 1); /* never two at once */
    sem_post(&store.let_go);
    sem_post(&store.let_go);
    rig_wait(&rig);
    ASSERT_REPLIED(&one, MODEL_STOP_END);
    ASSERT_REPLIED(&two, MODEL_STOP_END);
    ASSERT_REPLIED(&three, MODEL_STOP_END);
    ASSERT_TEXT(store.refs, "k1 k2 ");
    ask_release(&one);
    ask_release(&two);
    ask_release(&three);
    model_rig_close(&rig);
}

TEST(cancelled_while_its_secret_is_fetched_it_ends_at_once_and_nothing_is_sent)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT, next = ASK_INIT;

    model_rig_open(&rig, t, "openai", answers, slowly);
    ask_start(&ask, &rig, NULL);
    sem_wait(&store.asked);
    model_cancel(ask.x);
    rig_wait(&rig); /* although the store still waits */
    ASSERT_ASK_FAILED(&ask, ERR_CANCELLED);
    ASSERT_EQ(rig.peer.shared->requests, 0);
    ask_start(&next, &rig, NULL); /* joins what is under way */
    sem_post(&store.let_go);
    rig_wait(&rig);
    ASSERT_REPLIED(&next, MODEL_STOP_END);
    ASSERT_EQ(store.calls, 1);
    ASSERT_EQ(rig.peer.shared->requests, 1);
    ask_release(&ask);
    ask_release(&next);
    model_rig_close(&rig);
}

TEST(a_gateway_may_go_while_a_secret_is_fetched)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "functiongemma", answers, slowly);
    ask_start(&ask, &rig, NULL);
    sem_wait(&store.asked);
    model_gateway_free(TAKE(rig.gateway));
    ASSERT_ASK_FAILED(&ask, ERR_CANCELLED);
    sem_post(&store.let_go);
    ask_release(&ask);
    model_rig_close(&rig); /* the loop waits for the fetch and drops what it brought */
}

static struct ask *second;

/* The first that ends starts another from inside its callback. */
static void start_another(void *arg, const struct model_reply *reply, const struct err *err,
                          int64_t retry_after_ms)
{
    struct ask *ask = arg;

    (void)reply, (void)retry_after_ms;
    ask->dones++;
    ask->err = *err;
    ask_start(second, ask->rig, NULL);
}

TEST(one_that_is_started_when_another_one_fails_is_fetched_for_anew)
{
    static const struct model_sink sink = { .on_done = start_another };
    struct model_rig rig;
    struct ask first = ASK_INIT, next = ASK_INIT;

    model_rig_open(&rig, t, "openai", answers, named);
    first.rig = &rig;
    second = &next;
    rig.secret = NULL;
    rig.waiting = 0;
    ASSERT_OK(model_start(rig.gateway, &simple, &sink, &first, &first.x, &t->err));
    ASSERT_OK(loop_run(rig.loop, &t->err));
    ASSERT_ASK_FAILED(&first, ERR_SECRET_UNAVAILABLE);
    ASSERT_ASK_FAILED(&next, ERR_SECRET_UNAVAILABLE);
    ASSERT_EQ(rig.secrets, 2);
    ask_release(&first);
    ask_release(&next);
    model_rig_close(&rig);
}

/* ---- consent, again ---- */

static void withdraw(struct loop_timer *timer);
static struct model_rig *consenting;

static void withdraw(struct loop_timer *timer)
{
    (void)timer;
    consenting->consent = false;
    sem_post(&store.let_go);
}

static void far_and_slow(struct model_rig *rig, struct model_gateway_config *config)
{
    slowly(rig, config);
    rig->spec.base_url = "https://192.0.2.1/v1"; /* documentation: nobody is there */
    rig->consent = true;
}

TEST(consent_that_is_withdrawn_while_the_secret_is_fetched_counts)
{
    struct loop_timer timer = { .fire = withdraw };
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "openai", NULL, far_and_slow);
    consenting = &rig;
    ask_start(&ask, &rig, NULL);
    loop_timer_start(rig.loop, &timer, 1);
    rig_wait(&rig);
    ASSERT_ASK_FAILED(&ask, ERR_PRIVACY_CONFIRMATION_REQUIRED);
    ASSERT_EQ(rig.consents, 2);
    ask_release(&ask);
    model_rig_close(&rig);
}

/* ---- in clear text ---- */

static const char *address;

static void at_address(struct model_rig *rig, struct model_gateway_config *config)
{
    static const struct http_retry_policy once = { .max_attempts = 1 };

    named(rig, config);
    rig->secret = "sk-clear-value-1";
    rig->consent = true;
    rig->spec.base_url = address;
    config->retry = &once;
    config->limits = (struct http_limits){ .connect_ms = 50, .first_byte_ms = 50, .total_ms = 200 };
}

TEST(a_key_does_not_leave_unencrypted_for_the_public_internet)
{
    static const struct {
        const char *url;
        bool refused;
    } cases[] = {
        { "http://models.example.org/v1", true },
        { "HTTP://models.example.org/v1", true },
        { "http://192.0.2.1:8000/v1", true },
        { "http://8.8.8.8/", true },
        { "http://[2001:4860:4860::8888]/v1", true },
        { "http://0x08080808/", true },
        { "http://printer.local/v1", true }, /* whoever answers for a name */
        { "http://localhost.example.org/", true },
        { "http://169.254.169.254/", true },
        { "https://192.0.2.1/v1", false },
        { "http://127.0.0.1:9/v1", false },
        { "http://[::1]:9/v1", false },
        { "http://localhost:9/v1", false },
        { "http://10.255.255.254:9/v1", false },
        { "http://[fd00::ffff]:9/v1", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct model_rig rig;
        struct model_exchange *x = NULL;
        struct ask ask = ASK_INIT;

        address = cases[i].url;
        model_rig_open(&rig, t, i % 2 ? "openai" : "anthropic", NULL, at_address);
        if (cases[i].refused) {
            ASSERT_FAILS(model_start(rig.gateway, &simple, &never, NULL, &x, &t->err),
                         ERR_BAD_REQUEST);
            ASSERT_CONTAINS(test_err_text(t), "set base_url to an https:// address");
            ASSERT_CONTAINS(test_err_text(t), "\"k1\"");
            err_reset(&t->err);
            ASSERT_EQ(rig.secrets, 0);
        } else {
            ask_run(&ask, &rig, NULL);
            ASSERT(!ask.replied && ask.err.code != ERR_BAD_REQUEST);
            ASSERT_EQ(rig.secrets, 1);
        }
        ask_release(&ask);
        model_rig_close(&rig);
    }
}

static void keyless(struct model_rig *rig, struct model_gateway_config *config)
{
    at_address(rig, config);
    rig->spec.secret_ref = NULL;
}

TEST(without_a_key_plain_http_is_the_users_own_choice)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    address = "http://192.0.2.1:9/v1";
    model_rig_open(&rig, t, "openai", NULL, keyless);
    ask_run(&ask, &rig, NULL);
    ASSERT(!ask.replied && ask.err.code != ERR_BAD_REQUEST);
    ask_release(&ask);
    model_rig_close(&rig);
}

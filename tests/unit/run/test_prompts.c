/* What models are shown: a prefix that stays, a bounded window, and a cache that changes nothing.
 * And what clients are shown while it comes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/rand.h"
#include "memory/context.h"
#include "run/run_int.h"
#include "stage.h"

/* ---- the prefix ---- */

/* All but what closes the list of messages. */
static size_t open_end(const char *request)
{
    return strlen(request) - strlen("]}");
}

DB_TEST(prompt_of_the_next_request_begins_with_that_of_the_last)
{
    struct stage *stage = stage_new(t);
    char *before;

    stage_says(stage, "!note {\"n\":1}\n!poke {\"n\":2}");
    stage_says(stage, "First.");
    stage_says(stage, "~hm|Second.");
    stage_says(stage, "?");
    stage_run(stage, "one");
    before = arena_text(&t->arena, stage->last_request);
    ASSERT_CONTAINS(before, "\"tools\":[\"");
    stage_run(stage, "two");
    ASSERT(strncmp(before, stage->last_request, open_end(before)) == 0);
    ASSERT(strlen(stage->last_request) > strlen(before));
    before = arena_text(&t->arena, stage->last_request);
    stage_crash(stage);
    stage_says(stage, "Third.");
    stage_run(stage, "three");
    ASSERT(strncmp(before, stage->last_request, open_end(before)) == 0);
    stage_free(stage);
}

/* A model that is not told can't plan a day, and one that is told first reads all of it anew. */
DB_TEST(time_zone_and_directory_are_said_last_and_nowhere_before)
{
    static const struct {
        const char *zone, *says;
    } cases[] = {
        { "Europe/Berlin", "[It is Saturday, 2026-11-14T23:13 in Europe/Berlin (UTC+01:00). The "
                           "working directory is /tmp.]" },
        { "America/St_Johns", "[It is Saturday, 2026-11-14T18:43 in America/St_Johns (UTC-03:30). "
                              "The working directory is /tmp.]" },
        { "Asia/Kolkata", "[It is Sunday, 2026-11-15T03:43 in Asia/Kolkata (UTC+05:30). The "
                          "working directory is /tmp.]" },
        { "UTC", "[It is Saturday, 2026-11-14T22:13 in UTC (UTC+00:00). The working directory is "
                 "/tmp.]" },
    };
    struct stage *stage = stage_new(t);
    char *before;

    clock_set_wall(&stage->clock, INT64_C(1794694380000));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        setenv("TZ", cases[i].zone, 1);
        stage_says(stage, "zone");
        stage_run(stage, "where?");
        ASSERT_TEXT(stage->last_present, cases[i].says);
    }
    unsetenv("TZ");

    stage_says(stage, "a");
    stage_says(stage, "b");
    stage_run(stage, "one");
    before = arena_text(&t->arena, stage->last_request);
    loop_fake_advance(stage->loop, DAYS(400));
    stage_run(stage, "two");
    ASSERT(strncmp(before, stage->last_request, open_end(before)) == 0);
    ASSERT_CONTAINS(stage->last_present, "2027-12-");
    stage_free(stage);
}

/* ---- the window ---- */

DB_TEST(long_conversation_is_cut_and_the_model_is_told_how_much)
{
    struct stage *stage = stage_new(t);
    AUTO_BUF text = BUF_INIT(1u << 16);
    int64_t left_out = 0;
    const char *note;

    stage->config.context_tokens = 1000;
    stage_crash(stage);
    for (int i = 0; i < 400; i++)
        buf_printf(&text, "word%d ", i);
    for (int i = 0; i < 6; i++) {
        stage_says(stage, "ok");
        stage_run(stage, buf_text(&text));
        ASSERT(strlen(stage->last_request) < 20000);
    }
    note = strstr(stage->last_request, "earlier messages of this conversation are not shown.]");
    ASSERT(note != NULL);
    while (note[-1] != '[')
        note--;
    left_out = strtoll(note, NULL, 10);
    ASSERT(left_out > 0 && left_out < 12);
    stage_free(stage);
}

/* What prompt_cache_load() gives against what a fresh cache, which reads everything, gives. */
static void compare(struct stage *stage, struct run *run)
{
    struct test *t = stage->t;
    struct prompt_cache *kept = stage->runner->prompts;
    const struct model_message *a, *b;
    struct prompt_texts *texts_a, *texts_b;
    size_t n_a, n_b;

    ASSERT_OK(prompt_cache_load(run, &a, &n_a, &texts_a, &t->err));
    stage->runner->prompts = prompt_cache_new();
    ASSERT_OK(prompt_cache_load(run, &b, &n_b, &texts_b, &t->err));
    ASSERT_EQ(n_a, n_b);
    for (size_t i = 0; i < n_a; i++) {
        ASSERT_EQ(a[i].role, b[i].role);
        ASSERT(str_eq(a[i].text, b[i].text));
        ASSERT(str_eq(a[i].call_id, b[i].call_id));
        ASSERT_EQ(a[i].failed, b[i].failed);
        ASSERT_EQ(a[i].call_count, b[i].call_count);
        for (size_t c = 0; c < a[i].call_count; c++)
            ASSERT(str_eq(a[i].calls[c].arguments, b[i].calls[c].arguments));
    }
    prompt_texts_unref(texts_a);
    prompt_texts_unref(texts_b);
    prompt_cache_free(stage->runner->prompts);
    stage->runner->prompts = kept;
}

static const char *random_text(struct test *t, struct rand_fake *rand)
{
    size_t n = rand_below(&rand->rand, 8) ? 1 + rand_below(&rand->rand, 200)
                                          : 1 + rand_below(&rand->rand, 9000);
    char *text = arena_printf(&t->arena, "%*s", (int)n, "x");

    for (size_t i = 0; i < n; i++)
        text[i] = "abc de\n"[rand_below(&rand->rand, 7)];
    text[0] = 'a';
    return text;
}

DB_TEST(cached_window_is_what_reading_everything_gives)
{
    struct stage *stage = stage_new(t);
    struct rand_fake rand;

    rand_fake_init(&rand, 5);
    stage->config.context_tokens = 1500;
    stage_crash(stage);
    for (int i = 0; i < 25; i++) {
        struct run *run;
        struct str id;

        if (rand_below(&rand.rand, 2))
            stage_says(stage, "!note {\"n\":1}\n!nosuch {}");
        stage_says(stage, "?");
        id = stage_run(stage, random_text(t, &rand));
        run = map_find(&stage->runner->runs, id);
        ASSERT(run != NULL);
        compare(stage, run);
        if (rand_below(&rand.rand, 3) == 0) {
            stage_answer(stage, "!note {\"m\":1}");
            compare(stage, run);
        }
        stage_answer(stage, random_text(t, &rand));
    }
    stage_free(stage);
}

/* ---- deltas ---- */

DB_TEST(partial_events_carry_the_coming_seq_and_their_place)
{
    struct stage *stage = stage_new(t);
    AUTO_BUF thinking = BUF_INIT(1024);
    AUTO_BUF text = BUF_INIT(1024);

    stage_says(stage, "~let me see, what is it|It is the blue one, of course.");
    stage_run(stage, "which");
    ASSERT_TEXT(stage_story(stage), "init thinking text done");
    ASSERT(stage->partial_count > 5);
    for (size_t i = 0; i < stage->partial_count; i++) {
        AUTO_JSON event = NULL;
        struct str type, content;
        int64_t seq = 0, offset = -1;
        bool partial = false;

        ASSERT_OK(json_parse(str_from(stage->partials[i]), &event, &t->err));
        type = json_str(json_find(event, "type"));
        content = json_str(json_find(event, "content"));
        json_get_i64(event, "seq", &seq, NULL);
        json_get_i64(event, "offset", &offset, NULL);
        json_get_bool(event, "isPartial", &partial, NULL);
        ASSERT(partial);
        ASSERT_EQ(seq, str_is(type, "thinking") ? 2 : 3);
        ASSERT_EQ(offset, str_is(type, "thinking") ? thinking.n : text.n);
        buf_add_str(str_is(type, "thinking") ? &thinking : &text, content);
    }
    ASSERT_EQ(stage->seqs[1], 2);
    ASSERT_EQ(stage->seqs[2], 3);
    ASSERT_TEXT(buf_text(&thinking), "let me see, what is it");
    ASSERT_TEXT(buf_text(&text), "It is the blue one, of course.");
    ASSERT_CONTAINS(stage_last(stage, "text"), buf_text(&text));
    stage_free(stage);
}

struct late {
    struct run_listener listener;
    struct stage *stage;
    struct buf said[2]; /* text, thinking: by the events that were published */
    int64_t seqs[2];
    unsigned asked, told;
};

static void tell_whole(void *arg, const struct run_public *event)
{
    struct late *late = arg;
    struct test *t = late->stage->t;
    AUTO_JSON json = NULL;

    ASSERT_OK(json_parse(event->json, &json, &t->err));
    ASSERT(str_eq(json_str(json_find(json, "content")), buf_str(&late->said[event->musing])));
    ASSERT_EQ(event->seq, late->seqs[event->musing]);
    ASSERT_EQ(event->offset, 0);
    ASSERT_EQ(event->until, (int64_t)late->said[event->musing].n);
    late->told++;
}

static void tell_rest(void *arg, const struct run_public *event)
{
    struct late *late = arg;
    struct test *t = late->stage->t;
    struct str whole = buf_str(&late->said[event->musing]);
    AUTO_JSON json = NULL;

    ASSERT_OK(json_parse(event->json, &json, &t->err));
    ASSERT(str_eq(json_str(json_find(json, "content")), str_skip(whole, 3)));
    ASSERT_EQ(event->offset, 3);
    late->told++;
}

static void tell_nobody(void *arg, const struct run_public *event)
{
    (void)arg;
    FAIL("nobody should hear %.*s", STR_ARG(event->json));
}

static void hear_late(struct run_listener *listener, const struct run_public *event)
{
    struct late *late = CONTAINER_OF(listener, struct late, listener);
    struct test *t = late->stage->t;
    struct runner *runner = late->stage->runner;
    const struct run_heard none[2] = { { 0, 0 } };
    struct run_heard some[2], all[2];
    AUTO_JSON json = NULL;

    if (!event->partial)
        return;
    ASSERT_OK(json_parse(event->json, &json, &t->err));
    buf_add_str(&late->said[event->musing], json_str(json_find(json, "content")));
    late->seqs[event->musing] = event->seq;
    late->asked += (late->said[0].n > 0) + (late->said[1].n > 0);
    run_partials(runner, event->thread_id, event->run_id, none, tell_whole, late);
    run_partials(runner, event->thread_id, STR_NONE, none, tell_whole, late);
    run_partials(runner, event->thread_id, STR("another"), none, tell_nobody, NULL);
    run_partials(runner, STR("another"), event->run_id, none, tell_nobody, NULL);
    for (int i = 0; i < 2; i++) {
        some[i] = (struct run_heard){ late->seqs[i], 3 };
        all[i] = (struct run_heard){ late->seqs[i], (int64_t)late->said[i].n };
    }
    run_partials(runner, event->thread_id, event->run_id, all, tell_nobody, NULL);
    if (late->said[0].n > 3 && late->said[1].n > 3)
        run_partials(runner, event->thread_id, event->run_id, some, tell_rest, late);
}

DB_TEST(what_is_being_said_can_be_heard_from_its_beginning)
{
    static const char *const answers[] = { "~let me see|It is the blue one.",
                                           "^It is the blue one.|was that right" };

    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct stage *stage = stage_new(t);
        struct late late = { .listener = { .event = hear_late },
                             .stage = stage,
                             .said = { BUF_INIT(1024), BUF_INIT(1024) } };

        runner_listen(stage->runner, &late.listener);
        stage_says(stage, answers[i]);
        stage_run(stage, "which");
        ASSERT(late.asked > 5 && late.told > 2 * late.asked);
        run_partials(stage->runner, str_from(stage->threads[0]), STR_NONE,
                     (struct run_heard[2]){ { 0, 0 } }, tell_nobody, NULL);
        runner_unlisten(stage->runner, &late.listener);
        buf_release(&late.said[0]);
        buf_release(&late.said[1]);
        stage_free(stage);
    }
}

/* The seq of every partial event of a type is that of the whole one. */
static void check_partials(struct stage *stage)
{
    struct test *t = stage->t;

    for (size_t i = 0; i < stage->partial_count; i++) {
        AUTO_JSON event = NULL;
        struct str type;
        int64_t seq = 0, whole = -1;

        ASSERT_OK(json_parse(str_from(stage->partials[i]), &event, &t->err));
        type = json_str(json_find(event, "type"));
        json_get_i64(event, "seq", &seq, NULL);
        for (size_t e = 0; e < stage->event_count; e++) {
            if (str_is(type, stage->types[e]))
                whole = stage->seqs[e];
        }
        ASSERT_EQ(seq, whole);
    }
}

DB_TEST(thinking_that_comes_after_text_keeps_the_seq_that_was_told)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "^It is the blue one.|was that right");
    stage_run(stage, "which");
    ASSERT_TEXT(stage_story(stage), "init text thinking done");
    ASSERT(stage->partial_count > 5);
    check_partials(stage);
    ASSERT_CONTAINS(stage_last(stage, "done"), "\"result\":\"It is the blue one.\"");
    stage_free(stage);
}

static bool wants_text(struct run_listener *listener, struct str thread_id, struct str run_id,
                       const char *type)
{
    (void)listener, (void)thread_id, (void)run_id;
    return strcmp(type, "text") == 0;
}

DB_TEST(partial_text_has_its_seq_also_when_nobody_wants_the_thinking)
{
    struct stage *stage = stage_new(t);

    stage->listener.wants = wants_text;
    stage_says(stage, "~let me see|It is the blue one.");
    stage_run(stage, "which");
    ASSERT_TEXT(stage_story(stage), "text");
    ASSERT(stage->partial_count > 2);
    check_partials(stage);
    stage_free(stage);
}

/* ---- more threads than are kept ---- */

DB_TEST(threads_beyond_those_kept_are_asked_about_with_their_own_words)
{
    struct stage *stage = stage_new(t);

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 65; i++) {
            const char *word = arena_printf(&t->arena, "word-%d-%d.", i, round);
            struct run_request request = {
                .prompt = str_from(word),
                .session_id = str_from(arena_printf(&t->arena, "s%d", i)),
            };

            stage_says(stage, "yes");
            stage_run_with(stage, &request);
            ASSERT_CONTAINS(stage->last_request, word);
            ASSERT_CONTAINS(stage->last_request, arena_printf(&t->arena, "word-%d-0.", i));
            ASSERT(
                !strstr(stage->last_request, arena_printf(&t->arena, "word-%d-0.", (i + 64) % 65)));
        }
    }
    stage_free(stage);
}

/* ---- envelopes ---- */

struct seen {
    struct test *t;
    size_t actions, results;
    int64_t operation_n, action_n;
};

static bool see(void *arg, const struct message *message)
{
    struct seen *seen = arg;

    if (message->kind == MESSAGE_TOOL_RESULT) {
        seen->results++;
        seen->operation_n = message->operation_n;
        seen->action_n = message->action_ref_n;
        ASSERT_STR(message->status, "success");
    } else if (message->kind == MESSAGE_ACTION) {
        seen->actions++;
        ASSERT_STR(message->action_type, "tool_call");
        ASSERT_STR(message->tool_name, "note");
        ASSERT_STR(message->scope_snapshot, "[]");
        ASSERT_EQ(message->arguments_hash.n, 64);
        ASSERT(message->operation_n > 0);
        ASSERT_EQ(message->operation_n, seen->operation_n);
        ASSERT_EQ(message->n, seen->action_n);
        ASSERT_STR(message->model_id, "test");
        ASSERT_STR(message->prompt_id, RUN_PROMPT_ID);
    } else if (message->kind == MESSAGE_THOUGHT) {
        ASSERT_STR(message->model_id, "test");
        ASSERT_STR(message->prompt_version, RUN_PROMPT_VERSION);
    }
    ASSERT(message->run_n > 0);
    return true;
}

DB_TEST(messages_carry_their_envelopes_from_the_first_row)
{
    struct stage *stage = stage_new(t);
    struct seen seen = { .t = t };
    struct thread thread;

    stage_says(stage, "!note {\"n\":1}");
    stage_says(stage, "ok");
    stage_run(stage, "go");
    ASSERT_EQ(thread_find(stage->domain, stage->info.thread_id, &t->arena, &thread, &t->err), 1);
    ASSERT_OK(message_each_back(stage->domain, thread.n, 0, see, &seen, &t->err));
    ASSERT_EQ(seen.actions, 1);
    ASSERT_EQ(seen.results, 1);
    stage_free(stage);
}

/* ---- resuming a stream ---- */

static bool count(void *arg, const struct run_public *event)
{
    int64_t *last = arg;

    ASSERT_EQ(event->seq, *last + 1);
    *last = event->seq;
    return true;
}

DB_TEST(stream_is_resumed_exactly_after_any_seq)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "!note {}\n!poke {}");
    stage_says(stage, "ok");
    stage_run(stage, "go");
    for (int64_t after = 0; after <= (int64_t)stage->event_count; after++) {
        int64_t last = after;

        ASSERT_OK(run_events_after(stage->runner, stage->info.thread_id, STR_NONE, after, count,
                                   &last, &t->err));
        ASSERT_EQ(last, stage->event_count);
    }
    ASSERT_FAILS(
        run_events_after(stage->runner, STR("no:thread"), STR_NONE, 0, count, NULL, &t->err),
        ERR_NOT_FOUND);
    stage_free(stage);
}

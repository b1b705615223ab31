/* The reader on the loop.
 *
 * It looks when a tick has written batches (change_written()), when the debounce of the oldest one
 * ends, and when it is told that other processes wrote some (reader_look()). In a shared database a
 * batch can be read once every transaction that is older has ended, wherever that is: while one is
 * held back by such, and only then, it looks again after a while. It reads at the end of a tick,
 * when what the journal's units wrote is committed: a batch that could still be rolled back must
 * not wake anybody.
 *
 * Debounce goes by the batch's time. When clocks were set back that lies ahead of now; so what was
 * seen once is also read when it has been seen for as long, by the clock that never jumps.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/log.h"
#include "wake/reader_int.h"

#define JUDGED           500
#define DEBOUNCE_MS      100
#define SYNC_DEBOUNCE_MS 1000
#define HELD_MAX_MS      2000
#define RETRY_MS         1000

struct feed {
    const char *name; /* "journal" */
    enum wake_source source;
    struct domain *domain;
    /* All up to here were seen at that moment, and wait. */
    struct change_cursor seen;
    int64_t seen_mono_ms;
};

struct reader {
    struct reader_config config;
    unsigned refs;
    bool stopped;
    struct feed feeds[2];
    unsigned feed_count;
    struct loop_tick_hook hook;
    uint64_t written;        /* batches, when it last looked */
    struct loop_timer timer; /* debounce, or another try */
    int64_t held_ms;         /* how long it last waited for older transactions; 0: for none */
    struct loop_effect look; /* at the end of the tick */
    struct loop_effect told; /* after the commit of wakes */
    bool look_queued, told_queued;
    struct reader_counts counts;
};

/* ---- life ---- */

static void unref(struct reader *reader)
{
    if (--reader->refs)
        return;
    free(reader);
}

static void look_soon(struct reader *reader)
{
    if (reader->stopped || reader->look_queued)
        return;
    reader->look_queued = true;
    reader->refs++;
    loop_after_commit(reader->config.loop, &reader->look);
    loop_wake(reader->config.loop);
}

void reader_look(struct reader *reader)
{
    look_soon(reader);
}

/* The earliest of what it is asked for. */
static void arm(struct reader *reader, int64_t delay_ms)
{
    int64_t due = clock_mono_ms(loop_clock(reader->config.loop)) + delay_ms;

    if (reader->stopped || (reader->timer.heap_index && reader->timer.due_ms <= due))
        return;
    loop_timer_start(reader->config.loop, &reader->timer, delay_ms);
}

static void on_tick(struct loop_tick_hook *hook)
{
    struct reader *reader = CONTAINER_OF(hook, struct reader, hook);
    uint64_t written = change_written(reader->config.change);

    if (written == reader->written)
        return;
    reader->written = written;
    look_soon(reader);
}

static void on_timer(struct loop_timer *timer)
{
    look_soon(CONTAINER_OF(timer, struct reader, timer));
}

static void on_told(struct loop_effect *effect)
{
    struct reader *reader = CONTAINER_OF(effect, struct reader, told);

    reader->told_queued = false;
    if (!reader->stopped && reader->config.queued)
        reader->config.queued(reader->config.arg);
    unref(reader);
}

/* Nothing of the page has become true, or it is not known: it is read again. */
static void on_untold(struct loop_effect *effect, const struct err *why)
{
    struct reader *reader = CONTAINER_OF(effect, struct reader, told);

    (void)why;
    reader->told_queued = false;
    arm(reader, RETRY_MS);
    unref(reader);
}

static void tell_after_commit(struct reader *reader)
{
    if (reader->told_queued)
        return;
    reader->told_queued = true;
    reader->refs++;
    loop_after_commit(reader->config.loop, &reader->told);
}

/* ---- debounce ---- */

static bool is_before(struct change_cursor a, struct change_cursor b)
{
    return a.txid != b.txid ? a.txid < b.txid : a.n < b.n;
}

/* How long the batch must still lie; 0: it is ripe. */
static int64_t unripe_ms(const struct reader *reader, const struct feed *feed,
                         const struct change_row *row)
{
    struct clock *clock = loop_clock(reader->config.loop);
    int64_t debounce = row->author == CHANGE_BY_SYNC ? reader->config.sync_debounce_ms
                                                     : reader->config.debounce_ms;
    int64_t left = row->created_at + debounce - clock_wall_ms(clock);

    if (left > 0 && !is_before(feed->seen, row->at)) {
        int64_t by_mono = feed->seen_mono_ms + debounce - clock_mono_ms(clock);

        left = by_mono < left ? by_mono : left;
    }
    return left <= 0 ? 0 : left < debounce ? left : debounce;
}

static size_t count_ripe(struct reader *reader, struct feed *feed, const struct change_row *rows,
                         size_t count)
{
    size_t ripe = 0;
    int64_t left = 0;

    while (ripe < count && (left = unripe_ms(reader, feed, &rows[ripe])) == 0)
        ripe++;
    if (ripe == count)
        return ripe;
    if (is_before(feed->seen, rows[count - 1].at)) {
        feed->seen = rows[count - 1].at;
        feed->seen_mono_ms = clock_mono_ms(loop_clock(reader->config.loop));
    }
    arm(reader, left);
    return ripe;
}

/* ---- pages ---- */

static int bury_batch(struct reader_page *page, const struct feed *feed, struct change_cursor at,
                      const struct err *why, struct err *err)
{
    char *ref =
        arena_printf(page->arena, "%s:%lld:%lld", feed->name, (long long)at.txid, (long long)at.n);

    LOG_WARN("wake", "a change batch wakes nobody", LOG_TEXT("batch", ref), LOG_ERR(why));
    page->counts.dead++;
    return reader_bury(page->agents, "change_batches", str_from(ref), why, page->now_ms, err);
}

/* What becomes of the batches after a place, in one unit. damaged: the one there can't be read, and
 * this is why. */
struct step {
    struct change_cursor from;
    struct change_cursor damaged_at;
    const struct err *damaged;
    const struct change_row *rows;
    size_t count;
    int64_t after; /* of the first row, subscriptions up to here were judged before */
    size_t done;   /* rows that are judged whole now */
    int64_t part;  /* of the row after those: up to this subscription; 0: nothing */
};

/* 1 the whole batch, 0 part of it. */
static int judge_row(struct reader_page *page, const struct feed *feed,
                     const struct change_row *row, int64_t *after, struct err *err)
{
    struct err why = ERR_INIT;

    if (reader_check(row, &why) < 0)
        return bury_batch(page, feed, row->at, &why, err) < 0 ? -1 : 1;
    return reader_judge(page, row, after, err);
}

static int judge_rows(struct reader_page *page, const struct feed *feed, struct step *step,
                      struct err *err)
{
    int64_t after = step->after;

    step->done = 0;
    step->part = 0;
    while (step->done < step->count && page->left > 0) {
        int r = judge_row(page, feed, &step->rows[step->done], &after, err);

        if (r < 0)
            return -1;
        if (r == 0) {
            step->part = after;
            break;
        }
        step->done++;
        after = 0;
    }
    return reader_keep_misses(page, err);
}

/* Where the cursors stand afterwards. 1, or 0: somebody else has moved them. */
static int move_on(struct reader_page *page, const struct feed *feed, const struct step *step,
                   struct err *err)
{
    int r = 1;

    if (step->done)
        r = reader_move(page->agents, feed->name, step->from, step->rows[step->done - 1].at,
                        page->now_ms, err);
    if (r == 1 && step->done && step->after &&
        reader_end_part(page->agents, feed->name, step->rows[0].at, err) < 0)
        return -1;
    if (r == 1 && step->part &&
        reader_set_part(page->agents, feed->name, step->rows[step->done].at, step->part,
                        page->now_ms, err) < 0)
        return -1;
    return r;
}

static int take_step(struct reader *reader, struct feed *feed, struct step *step,
                     struct reader_page *page, struct err *err)
{
    /* Of two daemons the second waits here, and then finds that the first has done it. */
    int r = reader_move(page->agents, feed->name, step->from,
                        step->damaged ? step->damaged_at : step->from, page->now_ms, err);

    if (r <= 0)
        return r;
    if (step->damaged)
        return bury_batch(page, feed, step->damaged_at, step->damaged, err) < 0 ? -1 : 1;
    if (judge_rows(page, feed, step, err) < 0)
        return -1;
    r = move_on(page, feed, step, err);
    if (r == 1 && page->counts.wakes)
        tell_after_commit(reader);
    return r;
}

static void add_counts(struct reader_counts *to, const struct reader_counts *from)
{
    to->batches += from->batches;
    to->wakes += from->wakes;
    to->skips += from->skips;
    to->dead += from->dead;
    for (size_t i = 0; i < ARRAY_LEN(to->misses); i++)
        to->misses[i] += from->misses[i];
}

/* 1 done, 0 somebody else did it. */
static int step_in_unit(struct reader *reader, struct feed *feed, struct step *step,
                        struct arena *arena, struct err *err)
{
    struct reader_page page = {
        .agents = reader->config.agent_domain,
        .journal = reader->config.journal,
        .source = feed->source,
        .arena = arena,
        .now_ms = clock_wall_ms(loop_clock(reader->config.loop)),
        .left = reader->config.judged,
    };
    int r;

    if (loop_unit_begin(reader->config.loop, page.agents, err) < 0)
        return -1;
    r = take_step(reader, feed, step, &page, err);
    reader_page_release(&page);
    if (loop_unit_end(reader->config.loop, r == 1, r == 1 ? err : NULL) < 0)
        return -1;
    if (r == 1)
        add_counts(&reader->counts, &page.counts);
    return r;
}

/* The first batch after the cursor can't be read: it is passed over. */
static int pass_damaged(struct reader *reader, struct feed *feed, struct change_cursor from,
                        const struct err *why, struct arena *arena, struct err *err)
{
    struct step step = { .from = from, .damaged = why };
    int r = change_batch_next(feed->domain, from, &step.damaged_at, err);

    return r <= 0 ? r : step_in_unit(reader, feed, &step, arena, err);
}

/* The batches after the cursor; when one of them is damaged, those one by one. 1 there may be more.
 */
static int read_page(struct reader *reader, struct feed *feed, int limit, struct arena *arena,
                     struct err *err)
{
    struct step step = { 0 };
    struct err why = ERR_INIT;
    struct change_row *rows;
    size_t count;
    int r;

    if (reader_cursor(reader->config.agent_domain, feed->name, &step.from, err) < 0)
        return -1;
    if (change_batches_after(feed->domain, step.from, limit, arena, &rows, &count, &why) < 0) {
        if (why.code == ERR_INTEGRITY_FAILED && limit > 1)
            return read_page(reader, feed, 1, arena, err);
        if (why.code == ERR_INTEGRITY_FAILED)
            return pass_damaged(reader, feed, step.from, &why, arena, err) < 0 ? -1 : 1;
        *err = why;
        return -1;
    }
    step.rows = rows;
    step.count = count_ripe(reader, feed, rows, count);
    if (!step.count)
        return 0;
    if (reader_part(reader->config.agent_domain, feed->name, rows[0].at, &step.after, err) < 0)
        return -1;
    r = step_in_unit(reader, feed, &step, arena, err);
    return r < 0 ? -1 : r == 0 || step.done < step.count || step.count == (size_t)limit;
}

/* 1 there may be more. */
static int read_feed(struct reader *reader, struct feed *feed, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;

    /* What a unit of this tick wrote to the journal is not true yet. */
    if (feed->source == WAKE_JOURNAL && domain_in_transaction(feed->domain))
        return 1;
    return read_page(reader, feed, READER_PAGE, &arena, err);
}

/* Nobody tells when the older transactions have ended. */
static void wait_for_older(struct reader *reader)
{
    int64_t longest =
        reader->config.debounce_ms > HELD_MAX_MS ? reader->config.debounce_ms : HELD_MAX_MS;
    bool held = false;

    for (unsigned i = 0; i < reader->feed_count && !held; i++) {
        struct err err = ERR_INIT;

        if (domain_is_shared(reader->feeds[i].domain) &&
            reader_held_back(reader->feeds[i].domain, &held, &err) < 0)
            held = true;
    }
    if (!held)
        reader->held_ms = 0;
    else if (!reader->held_ms)
        reader->held_ms = reader->config.debounce_ms;
    else
        reader->held_ms = 2 * reader->held_ms < longest ? 2 * reader->held_ms : longest;
    if (held)
        arm(reader, reader->held_ms);
}

static void on_look(struct loop_effect *effect)
{
    struct reader *reader = CONTAINER_OF(effect, struct reader, look);
    bool more = false;

    reader->look_queued = false;
    for (unsigned i = 0; i < reader->feed_count && !reader->stopped; i++) {
        struct err err = ERR_INIT;
        int r = read_feed(reader, &reader->feeds[i], &err);

        more |= r == 1;
        if (r < 0 && loop_is_healthy(reader->config.loop)) {
            LOG_WARN("wake", "batches could not be read; they are read again in a second",
                     LOG_TEXT("domain", reader->feeds[i].name), LOG_ERR(&err));
            arm(reader, RETRY_MS);
        }
    }
    if (more)
        look_soon(reader);
    else if (!reader->stopped)
        wait_for_older(reader);
    unref(reader);
}

static void on_no_look(struct loop_effect *effect, const struct err *why)
{
    struct reader *reader = CONTAINER_OF(effect, struct reader, look);

    (void)why;
    reader->look_queued = false;
    unref(reader);
}

/* ---- making one ---- */

static void add_feed(struct reader *reader, const char *name, enum wake_source source,
                     struct domain *domain)
{
    reader->feeds[reader->feed_count++] =
        (struct feed){ .name = name, .source = source, .domain = domain };
}

static int64_t or_default(int64_t given, int64_t otherwise)
{
    return given ? given : otherwise;
}

int reader_new(const struct reader_config *config, struct reader **ret_reader, struct err *err)
{
    struct reader *reader = NEW(struct reader);

    (void)err;
    reader->config = *config;
    reader->config.debounce_ms = or_default(config->debounce_ms, DEBOUNCE_MS);
    reader->config.sync_debounce_ms = or_default(config->sync_debounce_ms, SYNC_DEBOUNCE_MS);
    reader->config.judged = config->judged > 0 ? config->judged : JUDGED;
    reader->refs = 1;
    reader->hook.after_tick = on_tick;
    reader->timer.fire = on_timer;
    reader->look = (struct loop_effect){ .run = on_look, .drop = on_no_look };
    reader->told = (struct loop_effect){ .run = on_told, .drop = on_untold };
    reader->written = change_written(config->change);
    if (config->journal)
        add_feed(reader, "journal", WAKE_JOURNAL, journal_domain(config->journal));
    add_feed(reader, "agent", WAKE_AGENT, config->agent_domain);
    loop_add_tick_hook(config->loop, &reader->hook);
    look_soon(reader);
    *ret_reader = reader;
    return 0;
}

void reader_stop(struct reader *reader)
{
    if (reader->stopped)
        return;
    reader->stopped = true;
    loop_remove_tick_hook(reader->config.loop, &reader->hook);
    loop_timer_stop(reader->config.loop, &reader->timer);
}

void reader_free(struct reader *reader)
{
    if (!reader)
        return;
    reader_stop(reader);
    unref(reader);
}

/* ---- what it has seen ---- */

struct reader_counts reader_counts(const struct reader *reader)
{
    return reader->counts;
}

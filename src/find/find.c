/* Keeping the index up to date, and asking it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "find/find.h"

#include <stdlib.h>

#include "base/log.h"
#include "find/find_int.h"

#define SOON_MS      500 /* after something happened: a run says many things in a row */
#define MORE_MS      20  /* between slices */
#define LIMIT_NORMAL 20
#define LIMIT_MAX    100
#define NAMES_MAX    8 /* agents, and conversations, before texts */

static const char *const kinds[] = {
    [FIND_KIND_NONE] = "none",       [FIND_MESSAGE] = "message",
    [FIND_THREAD] = "thread",        [FIND_FILE] = "file",
    [FIND_AGENT] = "agent",          [FIND_TASK] = "task",
    [FIND_CHECKLIST] = "checklist",  [FIND_CHECKLIST_ITEM] = "checklistItem",
    [FIND_TIME_ENTRY] = "timeEntry", [FIND_DAY_PLAN] = "dayPlan",
    [FIND_ENTRY] = "entry",
};

const char *find_kind_name(enum find_kind kind)
{
    return kinds[kind];
}

enum find_kind find_kind_of(struct str name)
{
    for (size_t i = FIND_TASK; i < FIND_KINDS_END; i++)
        if (str_is(name, kinds[i]))
            return (enum find_kind)i;
    return FIND_KIND_NONE;
}

/* ---- catching up ---- */

/* 1 when a source may have more. */
static int read_slices(struct find *find, struct err *err)
{
    size_t messages = 0, files = 0, records = 0;

    find->forgot = false;
    if (find_read_messages(find, FIND_SLICE, &messages, err) < 0 ||
        find_read_files(find, FIND_SLICE, &files, err) < 0 ||
        (find->config.journal && find_read_journal(find, FIND_SLICE, &records, err) < 0))
        return -1;
    return messages == FIND_SLICE || files == FIND_SLICE || records >= FIND_SLICE;
}

int find_catch_up(struct find *find, struct err *err)
{
    int r;

    if (loop_unit_begin(find->config.loop, find->config.index_domain, err) < 0)
        return -1;
    r = read_slices(find, err);
    if (r >= 0 && find->forgot)
        r = read_slices(find, err);
    if (loop_unit_end(find->config.loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r;
}

static void arm(struct find *find, int64_t delay_ms)
{
    if (find->armed)
        return;
    find->armed = true;
    loop_timer_start(find->config.loop, &find->timer, delay_ms);
}

static void fire(struct loop_timer *timer)
{
    struct find *find = CONTAINER_OF(timer, struct find, timer);
    struct err err = ERR_INIT;
    int r = find_catch_up(find, &err);

    find->armed = false;
    if (r < 0 && loop_is_healthy(find->config.loop))
        LOG_WARN("find", "the index stays behind", LOG_ERR(&err));
    else if (r > 0)
        arm(find, MORE_MS);
}

void find_wake(struct find *find)
{
    arm(find, SOON_MS);
}

struct find *find_new(const struct find_config *config)
{
    struct find *find = NEW(struct find);

    *find = (struct find){ .config = *config, .timer = { .fire = fire } };
    arm(find, SOON_MS);
    return find;
}

void find_free(struct find *find)
{
    if (!find)
        return;
    loop_timer_stop(find->config.loop, &find->timer);
    free(find);
}

/* ---- searching ---- */

static int search(struct find *find, struct find_hits *hits, size_t limit, struct err *err)
{
    hits->max = hits->scope == FIND_IN_JOURNAL ? 0 : limit < NAMES_MAX ? limit : NAMES_MAX;
    if (find_agents(find, hits, err) < 0)
        return -1;
    hits->max = hits->count + NAMES_MAX < limit ? hits->count + NAMES_MAX : limit;
    if (hits->scope != FIND_IN_JOURNAL && find_threads(find, hits, err) < 0)
        return -1;
    hits->max = limit;
    return find_documents(find, hits, err);
}

int find_search(struct find *find, const struct find_query *query, struct arena *arena,
                struct find_result **ret_results, size_t *ret_count, struct err *err)
{
    size_t limit = query->limit <= 0          ? LIMIT_NORMAL
                   : query->limit > LIMIT_MAX ? LIMIT_MAX
                                              : (size_t)query->limit;
    struct find_hits hits = { .arena = arena, .agent_id = query->agent_id, .scope = query->scope };
    struct find_words words;
    int more;

    find_words(query->text, &words);
    hits.words = &words;
    hits.results = ARENA_NEW_N(arena, struct find_result, limit);
    more = find_catch_up(find, err);
    if (more < 0)
        return -1;
    if (more)
        arm(find, MORE_MS);
    if (words.n && search(find, &hits, limit, err) < 0)
        return -1;
    *ret_results = hits.results;
    *ret_count = hits.count;
    return 0;
}

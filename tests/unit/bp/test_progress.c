/* Progress proofs on random programs against a search that asks of each state anew whether the end
 * can be reached.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/map.h"
#include "bp/explore_int.h"
#include "random_program.h"

#define STATES_MAX 1500

/* Every state by priority, with all its steps that are not COOP, as a plain list. */
struct plain {
    const struct model *model;
    struct state states[STATES_MAX + 1];
    unsigned steps[STATES_MAX + 1][256], step_count[STATES_MAX + 1];
    bool ends[STATES_MAX + 1];
    unsigned count;
    bool full;
    struct map known;
};

/* Index + 1 of the state, or 0 when there is no room. */
static unsigned plain_find(struct plain *p, const struct state *state)
{
    uint64_t words[MODEL_WORDS_MAX];
    struct str key = str_of((const char *)words, p->model->words * sizeof(words[0]));
    void *found;

    model_pack(p->model, state, words);
    found = map_find(&p->known, key);
    if (found)
        return (unsigned)(uintptr_t)found;
    if (p->count == STATES_MAX) {
        p->full = true;
        return 0;
    }
    p->states[p->count++] = *state;
    map_put(&p->known, key, (void *)(uintptr_t)p->count);
    return p->count;
}

static void plain_step(struct plain *p, unsigned node, const struct bp_event *event)
{
    unsigned flags = p->model->program->types[event->type].flags;
    uint8_t order[MODEL_KEYS_MAX + 1];
    const struct model_thread *bad;
    struct state to = { .alive = 0 };
    unsigned next;

    if (flags & BP_FINAL) {
        p->ends[node] = true;
        return;
    }
    model_apply(p->model, &p->states[node], event, &to, &bad);
    model_canonical(p->model, &to, true, order);
    next = plain_find(p, &to);
    if (next && !(flags & BP_COOP) && p->step_count[node] < 256)
        p->steps[node][p->step_count[node]++] = next - 1;
}

static void plain_explore(struct plain *p)
{
    static struct bp_event offers[MODEL_EVENTS_MAX];
    struct state start = { .alive = 0 };

    model_start(p->model, &start);
    plain_find(p, &start);
    for (unsigned node = 0; node < p->count && !p->full; node++) {
        struct model_wish wish;
        unsigned at = 0, n;

        if (model_next(p->model, &p->states[node], &at, &wish)) {
            plain_step(p, node, &wish.event);
            continue;
        }
        n = model_offers(p->model, &p->states[node], true, offers);
        for (unsigned i = 0; i < n; i++)
            plain_step(p, node, &offers[i]);
    }
}

/* Can the end be reached from here? Looked for from the node forward, for each node anew. */
static bool reaches_end(const struct plain *p, unsigned node)
{
    static unsigned queue[STATES_MAX];
    static bool seen[STATES_MAX];
    unsigned head = 0, tail = 0;

    memset(seen, 0, sizeof(seen));
    queue[tail++] = node;
    seen[node] = true;
    while (head < tail) {
        unsigned at = queue[head++];

        if (p->ends[at])
            return true;
        for (unsigned i = 0; i < p->step_count[at]; i++)
            if (!seen[p->steps[at][i]]) {
                seen[p->steps[at][i]] = true;
                queue[tail++] = p->steps[at][i];
            }
    }
    return false;
}

TEST(progress_is_judged_as_by_asking_every_state_anew, .timeout_s = 300)
{
    static struct plain p;
    unsigned open = 0, stuck = 0;
    struct dice d = { 7 };

    for (int i = 0; i < 150; i++) {
        struct bp_check_options options = { .keys = 2, .states_max = 4 * STATES_MAX };
        AUTO_ARENA arena = ARENA_INIT;
        const struct bp_program *program = random_program(&d, false, &arena);
        AUTO_REPORT report = { .program = NULL };
        AUTO_MODEL model = { .program = NULL };
        const struct bp_finding *f;
        bool all = true;

        ASSERT_OK(model_init(&model, program, 2, (struct model_scope){ .environment = true }, NULL,
                             &t->err));
        memset(&p, 0, sizeof(p));
        p.model = &model;
        plain_explore(&p);
        ASSERT_OK(bp_check(program, &options, &report, &t->err));
        f = bp_finding_find(&report, BP_PROGRESS);
        for (unsigned node = 0; node < p.count && all && !p.full; node++)
            all = reaches_end(&p, node);
        if (!p.full && f->verdict != BP_BOUND) {
            ASSERT_EQ(f->verdict, all ? BP_PROVED : BP_VIOLATED);
            open += all;
            stuck += !all;
        }
        map_release(&p.known);
    }
    printf("  %u with a way, %u without\n", open, stuck);
    ASSERT(stuck > 40);
}

/* The table language of behavioral programs.
 *
 * A behavioral program is a set of threads that know nothing of each other. Each is a constant
 * array of synchronisation points; at a point a thread may request one event, wait for events and
 * block events. Whenever every thread stands at a point, one event that is requested and not
 * blocked is selected, and all threads that requested it or wait for it move on. Events also come
 * from outside, when nothing inside is selectable. That is all: what a program does is what its
 * threads ask for minus what its threads forbid, so a rule is added by adding a thread.
 *
 * Tables hold no code: an event is a type, a key and attribute bits, and a selector tests those.
 * So selection is a few integer operations, rules may come from a file, and the state space is
 * finite, which is what the checker (check.h) explores. The same tables run in engine.h.
 *
 * A lock that lets one holder in at a time, and a rule that nobody enters while it is closed:
 *
 *     enum { EV_NONE, EV_WANT, EV_ENTER, EV_LEAVE, EV_CLOSE, EV_OPEN };
 *     static const struct bp_type types[] = {
 *         [EV_WANT] = { "want", BP_EXT | BP_KEYED | BP_BIRTH },
 *         [EV_ENTER] = { "enter", BP_KEYED },
 *         [EV_LEAVE] = { "leave", BP_EXT | BP_KEYED | BP_RETIRE },
 *         [EV_CLOSE] = { "close", BP_EXT },
 *         [EV_OPEN] = { "open", BP_EXT },
 *     };
 *     static const struct bp_point visitor[] = {            // one instance a key
 *         { .request = BP_MINE(EV_ENTER) },
 *         { .wait = { BP_ON_MINE(EV_LEAVE) }, .block = { BP_ON(EV_ENTER) } },
 *     };
 *     static const struct bp_point closed[] = {
 *         { .wait = { BP_ON(EV_CLOSE) } },
 *         { .wait = { BP_ON(EV_OPEN, .go = BP_GO(0)) }, .block = { BP_ON(EV_ENTER) } },
 *     };
 *     static const struct bp_thread threads[] = {
 *         { BP_TABLE("visitor", visitor), .spawn = BP_ON(EV_WANT) },
 *         { BP_TABLE("closed", closed), .kind = BP_GUARD },
 *     };
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_BP_H
#define DORMOUSE_BP_BP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define BP_TYPES_MAX   64 /* type 0 means "none", so 63 are usable */
#define BP_BITS_MAX    32
#define BP_KEYS_MAX    4096
#define BP_THREADS_MAX 2048
#define BP_POINTS_MAX  200
#define BP_LIMITS_MAX  16
#define BP_TIMES_MAX   0x7fff
#define BP_WAITS       4
#define BP_BLOCKS      3
#define BP_UNTILS      3

/* Something that happened, or is about to. Two events are the same when type, key and bits are:
 * detail is the caller's own handle (an id of what was said), carried along and never looked at. */
struct bp_event {
    uint8_t type;
    uint16_t key;  /* 1 .. key_max for a KEYED type, else 0 */
    uint32_t bits; /* attributes, computed once when the event is made */
    uint64_t detail;
};

/* Where a thread goes when something matched: the next point (past the last one it ends), the
 * point with this index, or nowhere: it ends. Waiting for an event with .go = BP_END is an
 * interrupt. */
#define BP_NEXT  0
#define BP_GO(n) ((uint8_t)((n) + 1))
#define BP_END   255

/* A set of events: the type is one of `types`, the bits hold all of `has` and none of `lacks`,
 * and with `mine` the key is the thread's own. types == 0 is the empty set, an unused place.
 *     BP_ON_MINE(EV_ANSWER, .lacks = ALLOWED)    a "no" about my key */
struct bp_sel {
    uint64_t types; /* bit t for type t */
    uint32_t has, lacks;
    bool mine;  /* only with my key; false: with any key, or none */
    uint8_t go; /* where to go from a wait or until; no meaning in block and spawn */
};

/* One event to ask for. Its bits are those of the program's record, of the key's record when the
 * event is mine, and `set`.
 *     BP_MINE(EV_DENIED, .go = BP_GO(0)) */
struct bp_req {
    uint8_t type; /* 0: nothing is requested */
    bool mine;    /* needed for a KEYED type: the event carries my key */
    uint8_t go;
    uint32_t set;
};

/* A synchronisation point. When an event is selected the thread takes the first that matches:
 * until, its own request, wait[0], wait[1] ... A thread that nothing matches stays. */
struct bp_point {
    const char *name; /* what the thread is doing here, for people; NULL: it has a number */
    struct bp_req request;
    struct bp_sel wait[BP_WAITS];
    struct bp_sel block[BP_BLOCKS]; /* none of these is selected while a thread stands here */
    /* wait[0] must match this many times before the thread goes on: a constant (0 means 1), or
     * BP_LIMIT(i) for the program's limit i. Counting begins anew when the point is entered. */
    uint16_t times;
    bool bad; /* in a property thread: reaching this point breaks the property */
};

#define BP_LIMIT(i) ((uint16_t)(0x8000 | (i)))

enum bp_kind {
    BP_PROGRAM = 0, /* does the work */
    BP_GUARD,       /* a rule. Runs like PROGRAM; the proofs say for each what breaks without it */
    BP_ENVIRONMENT, /* what may be assumed of the outside: blocks EXT events, in progress proofs */
    BP_PROPERTY,    /* watches in safety proofs: only waits, and marks bad points */
};

/* A thread, or with `spawn` a template of threads: an instance begins when an event of the set is
 * selected, and sees events from the next one on. Spawned by a KEYED type it has that event's key
 * and is the only instance of its template with that key: while it lives further matches do
 * not begin another. Priority is the order of declaration; within a template, the birth of keys. */
struct bp_thread {
    const char *name;
    const struct bp_point *at;
    uint8_t n;
    uint8_t kind;
    uint16_t max; /* instances at most, 0: one a key. The event that would exceed it is refused */
    struct bp_sel spawn;            /* types == 0: one instance, there from the beginning */
    struct bp_sel until[BP_UNTILS]; /* as if the first waits of every point */
};

enum bp_flag {
    BP_EXT = 1,     /* comes from outside (bp_offer); no thread may request it */
    BP_KEYED = 2,   /* speaks of a key */
    BP_BIRTH = 4,   /* EXT, KEYED: begins its key, whose record takes the event's bits */
    BP_LATCH = 8,   /* rewrites the record: of its key, or of the program when it is not KEYED */
    BP_RETIRE = 16, /* KEYED: ends its key, all threads of it included; the key may be born again */
    BP_COOP = 32,   /* EXT: progress may not depend on it (cancel, kill) */
    BP_FINAL = 64,  /* where progress leads to */
    BP_OPEN = 128,  /* not EXT: guards of a user policy may request it */
};

/* A record is a set of attribute bits that requests inherit. It changes by BIRTH and LATCH events
 * only: a LATCH replaces those of the bits that its type may carry and keeps the others. */
struct bp_type {
    const char *name;
    uint16_t flags;
    uint32_t bits; /* attributes that an event from outside may carry, or a LATCH replace */
};

/* A number that is fixed when an engine is made. */
struct bp_limit {
    const char *name;
    uint16_t value;   /* unless the engine is given another */
    uint16_t checked; /* what the checker uses: small, since each count is a state of its own */
};

struct bp_program {
    const char *name;
    const char *about; /* one sentence */
    const struct bp_type *types;
    const struct bp_thread *threads;
    const char *const *bits; /* names of the attributes, bit 0 first */
    const struct bp_limit *limits;
    uint16_t type_count; /* with the reserved type 0 */
    uint16_t thread_count;
    uint16_t bit_count;
    uint16_t limit_count;
};

#define BP_TYPE(t) (UINT64_C(1) << (t))
#define BP_ON(t, ...)                                                                              \
    {                                                                                              \
        .types = BP_TYPE(t), __VA_ARGS__                                                           \
    }
#define BP_ON_MINE(t, ...)                                                                         \
    {                                                                                              \
        .types = BP_TYPE(t), .mine = true, __VA_ARGS__                                             \
    }
#define BP_ON_ANY(mask, ...)                                                                       \
    {                                                                                              \
        .types = (mask), __VA_ARGS__                                                               \
    }
#define BP_ASK(t, ...)                                                                             \
    {                                                                                              \
        .type = (t), __VA_ARGS__                                                                   \
    }
#define BP_MINE(t, ...)                                                                            \
    {                                                                                              \
        .type = (t), .mine = true, __VA_ARGS__                                                     \
    }
#define BP_TABLE(text, points)                                                                     \
    .name = (text), .at = (points), .n = sizeof(points) / sizeof((points)[0])
#define BP_COUNT(array) (uint16_t)(sizeof(array) / sizeof((array)[0]))

/* Refuses what can't be meant, with a message that names thread, point and what is allowed:
 * dangling go, a request of an EXT type, a keyed request without a key, selectors of unknown types
 * or attributes, points that no go leads to, blocks without effect, missing names and so on. A
 * program is checked once, before it is run or explored; what follows takes it as sound. */
int bp_program_check(const struct bp_program *program, struct err *err);

/* Digest of everything that decides what a program does, names included. Two programs with the
 * same digest select the same events. */
#define BP_HASH_BYTES 32
void bp_program_hash(const struct bp_program *program, uint8_t hash[BP_HASH_BYTES]);

/* The thread with this name, or -1. */
int bp_thread_find(const struct bp_program *program, const char *name);
/* The program without that thread, in arena. NULL when it has none of that name. */
const struct bp_program *bp_program_without(const struct bp_program *program, const char *name,
                                            struct arena *arena);

/* Texts for people. "act(2, risky)"; "2 (waits for the answer)". */
void bp_event_text(const struct bp_program *program, const struct bp_event *event, struct buf *out);
void bp_point_text(const struct bp_thread *thread, unsigned point, struct buf *out);
/* "act, observe where risky and not allowed" */
void bp_sel_text(const struct bp_program *program, const struct bp_sel *sel, struct buf *out);

static inline bool bp_sel_matches(const struct bp_sel *sel, const struct bp_event *event,
                                  uint16_t own_key)
{
    return (sel->types >> event->type & 1) && (event->bits & sel->has) == sel->has &&
           !(event->bits & sel->lacks) && (!sel->mine || event->key == own_key);
}

/* Index of the point that go leads to from `point`, or -1: the thread ends. */
static inline int bp_target(const struct bp_thread *thread, unsigned point, uint8_t go)
{
    unsigned next = go == BP_NEXT ? point + 1 : go - 1u;

    return go == BP_END || next >= thread->n ? -1 : (int)next;
}

static inline bool bp_is_keyed(const struct bp_program *program, const struct bp_thread *thread)
{
    return thread->spawn.types &&
           program->types[__builtin_ctzll(thread->spawn.types)].flags & BP_KEYED;
}

/* Every registered example, ends with NULL. */
extern const struct bp_program *const bp_programs[];

#endif

/* See rules.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/yaml.h"
#include "bp/policy.h"

#define POLICY_NAME "a former policy"
#define KEY_PREFIX  "policy|"
#define KEY_SIZE    (sizeof(KEY_PREFIX) + 2 * BP_HASH_BYTES)

/* Rules of another time; program NULL: this build can't make them. */
struct run_rules {
    struct run_rules *next;
    uint8_t hash[BP_HASH_BYTES];
    const struct bp_program *program;
    struct bp_policy *policy;
    struct arena arena;
};

/* ---- identity ---- */

static bool same(const uint8_t a[BP_HASH_BYTES], const uint8_t b[BP_HASH_BYTES])
{
    return memcmp(a, b, BP_HASH_BYTES) == 0;
}

/* What a policy's expressions say is not in the tables, so its text is part of who they are. */
static void identify(const struct bp_program *program, struct str policy_text,
                     uint8_t ret_hash[BP_HASH_BYTES])
{
    struct sha256 md;

    bp_program_hash(program, ret_hash);
    if (program == &run_program || !policy_text.n)
        return;
    sha256_init(&md);
    sha256_add(&md, STR("rules|v1|"));
    sha256_add(&md, str_of((const char *)ret_hash, BP_HASH_BYTES));
    sha256_add(&md, policy_text);
    sha256_finish(&md, ret_hash);
}

/* The program of this build and nothing but a policy's guards after it. */
static bool is_of_this_build(const struct bp_program *program)
{
    return program->thread_count >= run_program.thread_count &&
           memcmp(program->threads, run_program.threads,
                  run_program.thread_count * sizeof(program->threads[0])) == 0;
}

static const char *key_of(const uint8_t hash[BP_HASH_BYTES], char ret_key[KEY_SIZE])
{
    memcpy(ret_key, KEY_PREFIX, sizeof(KEY_PREFIX));
    hex_encode(hash, BP_HASH_BYTES, ret_key + sizeof(KEY_PREFIX) - 1);
    return ret_key;
}

/* ---- the book ---- */

void run_rulebook_init(struct run_rulebook *book, struct domain *domain,
                       const struct bp_program *program, struct str policy_text)
{
    *book = (struct run_rulebook){ .domain = domain, .program = program };
    identify(program, policy_text, book->hash);
}

void run_rulebook_release(struct run_rulebook *book)
{
    struct run_rules *next;

    for (struct run_rules *rules = book->former; rules; rules = next) {
        next = rules->next;
        bp_policy_free(rules->policy);
        arena_release(&rules->arena);
        free(rules);
    }
    book->former = NULL;
}

int run_rulebook_keep(const struct run_rulebook *book, struct str policy_text, struct err *err)
{
    char key[KEY_SIZE];

    return rules_put(book->domain, key_of(book->hash, key), policy_text, err);
}

/* A policy that was sound once; in a build that refuses it, it is one that can't be made. */
static void make(struct run_rules *rules, struct str text)
{
    AUTO_YAML yaml = YAML_INIT;
    const struct bp_program *program;
    uint8_t hash[BP_HASH_BYTES];

    if (yaml_parse(text, POLICY_NAME, &yaml, NULL) < 0 ||
        bp_policy_parse(&yaml, POLICY_NAME, &rules->policy, NULL) < 0 ||
        run_program_with_policy(rules->policy, &rules->arena, &program, NULL) < 0)
        return;
    identify(program, text, hash);
    if (same(hash, rules->hash))
        rules->program = program;
}

static int look_up(struct run_rulebook *book, struct run_rules *rules, struct err *err)
{
    uint8_t bare[BP_HASH_BYTES];
    char key[KEY_SIZE];
    struct str text;
    int found;

    if (!is_of_this_build(book->program))
        return 0;
    bp_program_hash(&run_program, bare);
    if (same(bare, rules->hash)) {
        rules->program = &run_program;
        return 0;
    }
    found = rules_get(book->domain, key_of(rules->hash, key), &rules->arena, &text, err);
    if (found == 1)
        make(rules, text);
    return found < 0 ? -1 : 0;
}

int run_rulebook_find(struct run_rulebook *book, const uint8_t hash[BP_HASH_BYTES],
                      const struct bp_program **ret_program, struct err *err)
{
    struct run_rules *rules = book->former;

    if (same(hash, book->hash)) {
        *ret_program = book->program;
        return 1;
    }
    while (rules && !same(rules->hash, hash))
        rules = rules->next;
    if (!rules) {
        rules = NEW(struct run_rules);
        *rules = (struct run_rules){ .next = book->former, .arena = ARENA_INIT };
        memcpy(rules->hash, hash, BP_HASH_BYTES);
        if (look_up(book, rules, err) < 0) {
            arena_release(&rules->arena);
            free(rules);
            return -1;
        }
        book->former = rules;
    }
    if (!rules->program)
        return 0;
    *ret_program = rules->program;
    return 1;
}

int run_rulebook_get(struct run_rulebook *book, const uint8_t hash[BP_HASH_BYTES],
                     const struct bp_program **ret_program, struct err *err)
{
    int r = run_rulebook_find(book, hash, ret_program, err);
    char then[2 * BP_HASH_BYTES + 1], now[2 * BP_HASH_BYTES + 1];

    if (r != 0)
        return r < 0 ? -1 : 0;
    hex_encode(hash, BP_HASH_BYTES, then);
    hex_encode(book->hash, BP_HASH_BYTES, now);
    return err_set(err, ERR_RESUME_CONFLICT,
                   "it was recorded with the rules %.16s, which this program can't make any more; "
                   "those of today are %.16s",
                   then, now);
}

/* ---- a change ---- */

static int read_calls(struct json_object *calls, struct run_change *change, struct err *err)
{
    for (unsigned key = 1; key <= RUN_CALLS_MAX; key++) {
        char name[8];
        int64_t bits = 0;

        snprintf(name, sizeof(name), "%u", key);
        if (json_get_i64(calls, name, &bits, err) < 0)
            return -1;
        if (bits & ~(int64_t)RUN_POLICY_BITS)
            return err_set(err, ERR_INTEGRITY_FAILED, "call %u has attributes of no policy", key);
        change->attributes[key] = (uint32_t)bits;
    }
    return 0;
}

int run_change_read(struct str data, struct run_change *ret_change, struct err *err)
{
    AUTO_JSON value = NULL;
    struct json_object *calls;

    *ret_change = (struct run_change){ 0 };
    if (json_parse(data, &value, err) < 0)
        return -1;
    if (hex_decode(json_str(json_find(value, "program")), ret_change->hash, BP_HASH_BYTES) < 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "it does not say under which rules");
    calls = json_find(value, "calls");
    return calls ? read_calls(calls, ret_change, err) : 0;
}

void run_change_write(const struct run_change *change, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    char text[2 * BP_HASH_BYTES + 1];

    hex_encode(change->hash, BP_HASH_BYTES, text);
    json_write_object_begin(&w);
    json_put_text(&w, "program", text);
    json_put_object(&w, "calls");
    for (unsigned key = 1; key <= RUN_CALLS_MAX; key++) {
        if (!change->attributes[key])
            continue;
        snprintf(text, sizeof(text), "%u", key);
        json_put_i64(&w, text, change->attributes[key]);
    }
    json_write_object_end(&w);
    json_write_object_end(&w);
}

void run_past_add(struct run_past *past, const struct bp_event *event)
{
    if (past->count == past->room) {
        past->room = past->room ? 2 * past->room : 64;
        past->events = alloc_resize(past->events, past->room, sizeof(past->events[0]));
    }
    past->events[past->count++] = *event;
}

void run_past_release(struct run_past *past)
{
    free(past->events);
    *past = (struct run_past){ 0 };
}

/* The event as it would have been, had its call always been what the new policy finds it to be. */
static struct bp_event in_new_terms(const struct bp_engine *engine, const struct bp_event *event,
                                    const struct run_change *change)
{
    unsigned flags = run_program.types[event->type].flags;
    struct bp_event now = *event;

    now.bits &= ~RUN_POLICY_BITS;
    if (flags & BP_KEYED && flags & (BP_BIRTH | BP_LATCH))
        now.bits |= change->attributes[event->key];
    else if (flags & BP_KEYED && !(flags & BP_EXT))
        now.bits |= bp_record(engine, event->key) & RUN_POLICY_BITS;
    return now;
}

int run_change_follow(struct bp_engine *engine, const struct run_past *past,
                      const struct run_change *change, struct err *err)
{
    static const struct bp_event changed = { .type = RUN_EV_POLICY };

    for (size_t i = 0; i < past->count; i++) {
        struct bp_event event = in_new_terms(engine, &past->events[i], change);

        if (bp_follow(engine, &event) < 0)
            return err_set(err, ERR_INTEGRITY_FAILED, "row %zu can't have happened", i + 1);
    }
    return bp_follow(engine, &changed);
}

/* Windows kept between turns.
 *
 * Threads are append-only, so what is kept stays true; before it is used its last message is
 * compared with the thread's head, and what came after it is read. When the two don't meet (another
 * process wrote, a row was taken back) it is forgotten and read anew. Entries stand in a list, the
 * one read last first.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "memory/context_int.h"

#define ENTRIES_MAX 256
#define ENTRY_PART  4 /* one thread holds at most this part of the whole */

/* A message with what was made of it. */
struct kept {
    struct message raw;
    struct str content; /* as shown */
    int64_t tokens_approx;
    int64_t share; /* for which that was made; 0: not yet */
    bool keep_opaque;
};

struct entry {
    struct entry *next;
    int64_t thread_n;
    struct arena arena; /* texts */
    struct kept *kept;  /* oldest first, without gaps, up to the thread's end */
    size_t count, cap;
};

struct context_cache {
    struct entry *entries;
    size_t max_bytes;
    struct message_mark *marks; /* scratch: room for CONTEXT_MARKS */
};

/* ---- entries ---- */

static void entry_free(struct entry *entry)
{
    arena_release(&entry->arena);
    free(entry->kept);
    free(entry);
}

static size_t entry_size(const struct entry *entry)
{
    return sizeof(*entry) + entry->arena.total + entry->cap * sizeof(*entry->kept);
}

static void entry_add(struct entry *entry, const struct message *messages, size_t count)
{
    if (entry->count + count > entry->cap) {
        entry->cap = entry->count + count + entry->cap / 2;
        entry->kept = alloc_resize(entry->kept, entry->cap, sizeof(*entry->kept));
    }
    for (size_t i = 0; i < count; i++)
        entry->kept[entry->count++] = (struct kept){ .raw = messages[i] };
}

/* Takes the thread's entry out of the list; NULL when there is none. */
static struct entry *take(struct context_cache *cache, int64_t thread_n)
{
    for (struct entry **at = &cache->entries; *at; at = &(*at)->next)
        if ((*at)->thread_n == thread_n) {
            struct entry *entry = *at;

            *at = entry->next;
            entry->next = NULL;
            return entry;
        }
    return NULL;
}

/* To the front; those at the end go when there are too many. */
static void put(struct context_cache *cache, struct entry *entry)
{
    size_t bytes = 0, count = 0;

    if (entry_size(entry) > cache->max_bytes / ENTRY_PART) {
        entry_free(entry);
        return;
    }
    entry->next = cache->entries;
    cache->entries = entry;
    for (struct entry **at = &cache->entries; *at;) {
        bytes += entry_size(*at);
        if (bytes > cache->max_bytes || ++count > ENTRIES_MAX) {
            struct entry *old = *at;

            *at = old->next;
            bytes -= entry_size(old);
            entry_free(old);
        } else {
            at = &(*at)->next;
        }
    }
}

struct context_cache *context_cache_new(size_t max_bytes)
{
    struct context_cache *cache = NEW(struct context_cache);

    cache->marks = NEW_N(struct message_mark, CONTEXT_MARKS);
    cache->max_bytes = max_bytes ? max_bytes : CONTEXT_CACHE_BYTES;
    return cache;
}

void context_cache_drop(struct context_cache *cache, int64_t thread_n)
{
    struct entry *entry;

    while (cache->entries &&
           (entry = take(cache, thread_n ? thread_n : cache->entries->thread_n)) != NULL)
        entry_free(entry);
}

void context_cache_free(struct context_cache *cache)
{
    if (!cache)
        return;
    context_cache_drop(cache, 0);
    free(cache->marks);
    free(cache);
}

size_t context_cache_size(const struct context_cache *cache)
{
    size_t bytes = 0;

    for (const struct entry *entry = cache->entries; entry; entry = entry->next)
        bytes += entry_size(entry);
    return bytes;
}

/* ---- keeping up ---- */

static bool is_head(const struct message *message, const struct thread *thread)
{
    return message->n == thread->last_message_n && message->ordinal == thread->message_count &&
           message->tokens_total == thread->tokens_total;
}

/* Reads what was appended. 1: the entry ends where the thread does, 0: they don't meet. */
static int catch_up(struct entry *entry, struct domain *domain, const struct thread *thread,
                    struct err *err)
{
    AUTO_ARENA scratch = ARENA_INIT;
    const struct message *last = &entry->kept[entry->count - 1].raw;
    int64_t missing = thread->message_count - last->ordinal;
    struct message *messages;
    size_t count;

    if (missing == 0)
        return is_head(last, thread);
    if (missing < 0 || missing > CONTEXT_MESSAGES_MAX)
        return 0;
    messages = ARENA_NEW_N(&scratch, struct message, (size_t)missing);
    if (message_load_from(domain, thread->n, last->n + 1, (size_t)missing, &entry->arena, messages,
                          &count, err) < 0)
        return -1;
    if (count != (size_t)missing || messages[0].prev_n != last->n ||
        !is_head(&messages[count - 1], thread))
        return 0;
    entry_add(entry, messages, count);
    return 1;
}

/* The newest `count` of the thread into an entry that holds nothing. */
static int fill(struct entry *entry, struct domain *domain, int64_t first_n, size_t count,
                struct err *err)
{
    AUTO_ARENA scratch = ARENA_INIT;
    struct message *messages = ARENA_NEW_N(&scratch, struct message, count);
    size_t got;

    arena_release(&entry->arena);
    entry->arena = ARENA_INIT;
    entry->count = 0;
    if (message_load_from(domain, entry->thread_n, first_n, count, &entry->arena, messages, &got,
                          err) < 0)
        return -1;
    entry_add(entry, messages, got);
    return 0;
}

static void mark_kept(const struct entry *entry, struct context_tail *tail)
{
    tail->count = entry->count < CONTEXT_MARKS ? entry->count : CONTEXT_MARKS;
    for (size_t i = 0; i < tail->count; i++) {
        const struct message *message = &entry->kept[entry->count - 1 - i].raw;

        tail->marks[i] = (struct message_mark){ .n = message->n,
                                                .kind = message->kind,
                                                .ordinal = message->ordinal,
                                                .tokens_approx = message->tokens_approx,
                                                .tokens_total = message->tokens_total,
                                                .action_ref_n = message->action_ref_n };
    }
    tail->whole = tail->count > 0 && tail->marks[tail->count - 1].ordinal == 1;
}

/* ---- showing ---- */

static void show(struct entry *entry, struct kept *kept, int64_t share, bool keep_opaque)
{
    struct message shown;

    if (kept->share == share && kept->keep_opaque == keep_opaque)
        return;
    shown = kept->raw;
    context_shorten(&shown, share, keep_opaque, &entry->arena);
    kept->content = shown.content;
    kept->tokens_approx = shown.tokens_approx;
    kept->share = share;
    kept->keep_opaque = keep_opaque;
}

/* The texts that message_load_from() fills. */
static void list_texts(struct message *message, struct str *ret_texts[8])
{
    ret_texts[0] = &message->content;
    ret_texts[1] = &message->tool_name;
    ret_texts[2] = &message->call_id;
    ret_texts[3] = &message->status;
    ret_texts[4] = &message->error_code;
    ret_texts[5] = &message->error_message;
    ret_texts[6] = &message->model_id;
    ret_texts[7] = &message->taint;
}

/* All texts of a message in one piece of the arena, each with a NUL. */
static void own_texts(struct message *message, struct arena *arena)
{
    struct str *texts[8];
    size_t bytes = 0;
    char *at;

    list_texts(message, texts);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        bytes += texts[i]->p ? texts[i]->n + 1 : 0;
    at = arena_alloc(arena, bytes, 1);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i]->p) {
            memcpy(at, texts[i]->p, texts[i]->n);
            texts[i]->p = at;
            at += texts[i]->n + 1;
        }
}

static void give(struct kept *kept, struct arena *arena, struct message *ret_message)
{
    *ret_message = kept->raw;
    ret_message->content = kept->content;
    ret_message->tokens_approx = kept->tokens_approx;
    own_texts(ret_message, arena);
}

static void show_newest(struct entry *entry, size_t count, int64_t share, struct arena *arena,
                        struct context *context)
{
    struct kept *first = entry->kept + entry->count - count;
    size_t under_way = 0;

    for (size_t i = count; i > 0 && under_way == 0; i--)
        if (first[i - 1].raw.kind == MESSAGE_USER)
            under_way = i - 1;
    context->messages = ARENA_NEW_N(arena, struct message, count);
    context->count = count;
    context->left_out = first[0].raw.ordinal - 1;
    for (size_t i = 0; i < count; i++) {
        show(entry, &first[i], share, i >= under_way);
        give(&first[i], arena, &context->messages[i]);
        context->tokens += first[i].tokens_approx + MESSAGE_TOKENS_EACH;
    }
}

/* With an entry that is empty or ends where the thread does. */
static int load(struct entry *entry, struct message_mark *marks, struct domain *domain,
                const struct thread *thread, int64_t budget, struct arena *arena,
                struct context *context, struct err *err)
{
    struct context_tail tail = { .domain = domain, .thread_n = thread->n, .marks = marks };
    size_t count;

    mark_kept(entry, &tail);
    if (context_choose(&tail, thread, budget, &count, err) < 0)
        return -1;
    if (count == 0)
        return 0;
    /* Too little is kept, or the window has moved on and most of it is not needed any more. */
    if ((count > entry->count || entry->count > count + count / 2 + 16) &&
        fill(entry, domain, tail.marks[count - 1].n, count, err) < 0)
        return -1;
    show_newest(entry, count < entry->count ? count : entry->count,
                context_share(tail.marks, count, budget), arena, context);
    return 0;
}

/* The entry to work with: the kept one when it can keep up, else an empty one. */
static int current(struct context_cache *cache, struct domain *domain, const struct thread *thread,
                   struct entry **ret_entry, struct err *err)
{
    struct entry *entry = take(cache, thread->n);
    int r = entry ? catch_up(entry, domain, thread, err) : 0;

    if (r <= 0 && entry) {
        entry_free(entry);
        entry = NULL;
    }
    if (r < 0)
        return -1;
    if (!entry) {
        entry = NEW(struct entry);
        entry->thread_n = thread->n;
        entry->arena = ARENA_INIT;
    }
    *ret_entry = entry;
    return 0;
}

int context_load_cached(struct context_cache *cache, struct domain *domain,
                        const struct thread *thread, int64_t budget_tokens, struct arena *arena,
                        struct context *ret_context, struct err *err)
{
    int64_t budget = budget_tokens > 0 ? budget_tokens : CONTEXT_TOKENS_DEFAULT;
    struct context context = { .count = 0 };
    struct entry *entry = NULL;
    int r = current(cache, domain, thread, &entry, err);

    if (r == 0)
        r = load(entry, cache->marks, domain, thread, budget, arena, &context, err);
    if (r < 0 || context.count == 0) {
        if (entry)
            entry_free(entry);
    } else {
        put(cache, entry);
    }
    if (r < 0)
        return err_wrap(err, "read the context of thread %.*s", STR_ARG(thread->id));
    *ret_context = context;
    return 0;
}

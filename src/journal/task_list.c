/* Pages of tasks.
 *
 * A list is a merge of streams, each a range of one index in the order asked for: open tasks are
 * one, open and closed ones two, those of three categories three. What the index can't say (text,
 * label, a category in the order of priority) is looked at row by row, SCAN_MAX rows a page at
 * most; a page that reaches this is short and goes on at its cursor. What is found by a value that
 * few tasks have is loaded and sorted instead.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/path.h"
#include "journal/list_int.h"

#define PAGE_DEFAULT 50
#define PAGE_MAX     500
#define SCAN_MAX     20000
#define CHUNK_MAX    4000
#define FEW_MAX      1000
#define STREAMS_MAX  32
#define TEXT_MAX     200
#define NO_DAY       "9999-12-31"

/* ---- scopes ---- */

const struct journal_scope journal_all = { .all = true };

bool journal_in_scope(const struct journal_scope *scope, struct str category_id)
{
    if (!scope || scope->all)
        return true;
    for (size_t i = 0; i < scope->n; i++) {
        if (category_id.n > 0 && str_eq(scope->categories[i], category_id))
            return true;
    }
    return false;
}

static bool is_limited(const struct journal_scope *scope)
{
    return scope && !scope->all;
}

bool scope_names(const struct journal_scope *scope, size_t i)
{
    struct str category = scope->categories[i];

    for (size_t k = 0; k < i; k++) {
        if (str_eq(scope->categories[k], category))
            return false;
    }
    return record_id_valid(category);
}

/* ---- keys and cursors ---- */

static int cmp_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int task_key_cmp(enum task_order order, const struct task_key *a, const struct task_key *b)
{
    int due = str_cmp(a->due, b->due), priority = cmp_i64(a->priority, b->priority), first, second;

    if (order == TASKS_BY_UPDATED) {
        first = cmp_i64(b->updated_at, a->updated_at);
        return first ? first : cmp_i64(b->n, a->n);
    }
    first = order == TASKS_BY_DUE ? due : priority;
    second = order == TASKS_BY_DUE ? priority : due;
    return first ? first : second ? second : cmp_i64(a->n, b->n);
}

static const char order_letters[] = "dpu";

static struct str cursor_text(enum task_order order, const struct task_key *key,
                              struct arena *arena)
{
    return str_from(arena_printf(arena, "%c~%.*s~%lld~%lld~%lld", order_letters[order],
                                 STR_ARG(key->due), (long long)key->priority,
                                 (long long)key->updated_at, (long long)key->n));
}

static int bad_cursor(struct str text, struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST,
                   "/after: \"%.*s\" is no cursor of this list; take `next` of the page before",
                   STR_ARG(str_take(text, 60)));
}

static int cursor_parse(struct str text, enum task_order order, struct task_key *ret_key,
                        struct err *err)
{
    struct str rest = text, letter, due, field;
    int64_t *numbers[] = { &ret_key->priority, &ret_key->updated_at, &ret_key->n };

    if (!str_split(&rest, '~', &letter) || letter.n != 1 || letter.p[0] != order_letters[order] ||
        !str_split(&rest, '~', &due) || !record_day_valid(due, true))
        return bad_cursor(text, err);
    ret_key->due = due;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        if (!str_split(&rest, '~', &field) || str_to_i64(field, numbers[i]) < 0)
            return bad_cursor(text, err);
    }
    return rest.p ? bad_cursor(text, err) : 0;
}

/* Before everything. */
static struct task_key first_key(const struct task_filter *filter)
{
    struct task_key key = { .due = STR(""), .priority = -1, .updated_at = INT64_MAX };

    if (filter->order == TASKS_BY_UPDATED)
        key.n = INT64_MAX;
    else if (filter->order == TASKS_BY_DUE && filter->due_from.n > 0)
        key.due = filter->due_from;
    return key;
}

/* ---- what a row must be ---- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* folded is in lower case and not empty. Most titles do not even have its first letter. */
static bool has_plain(struct str title, struct str folded)
{
    char small = folded.p[0], big = small >= 'a' && small <= 'z' ? (char)(small & ~0x20) : small;

    if (title.n < folded.n || (!memchr(title.p, small, title.n) && !memchr(title.p, big, title.n)))
        return false;
    for (size_t i = 0; i + folded.n <= title.n; i++) {
        size_t k = 0;

        while (k < folded.n && lower(title.p[i + k]) == folded.p[k])
            k++;
        if (k == folded.n)
            return true;
    }
    return false;
}

/* Eight at a time: it is asked of every title. */
static bool is_plain(struct str text)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    uint64_t bits = 0, word;
    size_t i = 0;

    for (; i + sizeof(word) <= text.n; i += sizeof(word)) {
        memcpy(&word, text.p + i, sizeof(word));
        bits |= word;
    }
    for (; i < text.n; i++)
        bits |= (unsigned char)text.p[i];
    return (bits & high) == 0;
}

static bool has_folded(struct str title, struct str folded)
{
    AUTO_BUF other = BUF_INIT(NAME_BYTES_MAX * 8);

    return path_fold(title, &other) == 0 && str_find(buf_str(&other), folded) >= 0;
}

bool task_title_wanted(const struct task_wanted *wanted, struct str title)
{
    if (wanted->folded.n == 0)
        return true;
    /* Most are plain, and need no tables. */
    return is_plain(title) ? has_plain(title, wanted->folded) : has_folded(title, wanted->folded);
}

/* A day covers all its times. */
static bool due_within(struct str due, struct str from, struct str to)
{
    if (from.n == 0 && to.n == 0)
        return true;
    if (str_is(due, NO_DAY) || str_cmp(due, from) < 0)
        return false;
    return to.n == 0 || str_cmp(str_take(due, to.n), to) <= 0;
}

bool task_row_wanted(const struct task_wanted *wanted, const struct task_row *row)
{
    const struct task_filter *filter = wanted->filter;

    if (wanted->label && !row->labelled)
        return false;
    if (filter->status.n > 0
            ? !str_eq(row->status, filter->status)
            : !wanted->both_states && task_status_is_closed(row->status) != wanted->closed)
        return false;
    if (wanted->category_id.n > 0 && !str_eq(row->category_id, wanted->category_id))
        return false;
    return journal_in_scope(filter->scope, row->category_id) &&
           due_within(row->due, filter->due_from, filter->due_to);
}

/* ---- one page ---- */

struct listing {
    struct journal *journal;
    const struct task_filter *filter;
    struct arena *arena;
    struct task_wanted wanted;
    struct task_key after;
    struct task_stream streams[STREAMS_MAX];
    size_t stream_count;
    int limit, chunk, seen;
    struct task_hit page[PAGE_MAX];
    size_t count;
    struct str next;
    struct err *err;
};

static int read_filter(struct listing *l)
{
    const struct task_filter *filter = l->filter;

    if (filter->text.n > TEXT_MAX)
        return err_set(l->err, ERR_BAD_REQUEST, "/q: has %zu bytes; at most %d are looked for",
                       filter->text.n, TEXT_MAX);
    if ((filter->due_from.n && !record_day_valid(filter->due_from, true)) ||
        (filter->due_to.n && !record_day_valid(filter->due_to, true)))
        return err_set(
            l->err, ERR_BAD_REQUEST, "/%s: is not a day; write YYYY-MM-DD or YYYY-MM-DDTHH:MM",
            filter->due_from.n && !record_day_valid(filter->due_from, true) ? "dueFrom" : "dueTo");
    for (size_t i = 0; filter->status.n > 0 && !str_is(filter->status, task_statuses[i]); i++) {
        if (!task_statuses[i + 1])
            return err_set(l->err, ERR_BAD_REQUEST,
                           "/status: \"%.*s\" is not one of OPEN, GROOMED, IN_PROGRESS, BLOCKED,"
                           " ON_HOLD, DONE, REJECTED",
                           STR_ARG(str_take(filter->status, 40)));
    }
    l->wanted = (struct task_wanted){
        .filter = filter,
        .folded = name_fold(str_trim(filter->text), l->arena),
        .category_id = filter->category_id,
        .label = filter->label_id.n > 0,
        .both_states = filter->any,
        .closed = filter->closed,
    };
    if (is_limited(filter->scope) && filter->scope->n == 1 && filter->category_id.n == 0)
        l->wanted.category_id = filter->scope->categories[0];
    l->after = first_key(filter);
    if (filter->after.n > 0)
        return cursor_parse(filter->after, filter->order, &l->after, l->err);
    return 0;
}

static bool is_id_or_none(struct str id)
{
    return id.n == 0 || record_id_valid(id);
}

/* Nothing can be in it, whatever there is. */
static bool is_empty(const struct listing *l)
{
    const struct journal_scope *scope = l->filter->scope;

    if (!is_id_or_none(l->wanted.category_id) || !is_id_or_none(l->filter->label_id))
        return true;
    return is_limited(scope) &&
           (scope->n == 0 ||
            (l->wanted.category_id.n > 0 && !journal_in_scope(scope, l->wanted.category_id)));
}

static void add_stream(struct listing *l, enum task_drive drive, struct str equal, bool closed)
{
    l->streams[l->stream_count++] =
        (struct task_stream){ .drive = drive, .equal = equal, .closed = closed, .at = l->after };
}

/* Once for open and once for closed ones, as asked for. */
static void add_states(struct listing *l, enum task_drive drive, struct str equal)
{
    bool by_status = l->filter->status.n > 0;
    bool closed = by_status ? task_status_is_closed(l->filter->status) : l->filter->closed;

    if (!by_status && l->filter->any)
        add_stream(l, drive, equal, !closed);
    add_stream(l, drive, equal, closed);
}

static void choose_by_due(struct listing *l)
{
    const struct journal_scope *scope = l->filter->scope;

    if (l->wanted.category_id.n > 0) {
        add_states(l, DRIVE_CATEGORY_DUE, l->wanted.category_id);
    } else if (is_limited(scope) && scope->n * 2 <= STREAMS_MAX) {
        for (size_t i = 0; i < scope->n; i++) {
            if (scope_names(scope, i))
                add_states(l, DRIVE_CATEGORY_DUE, scope->categories[i]);
        }
    } else if (l->filter->status.n > 0) {
        add_stream(l, DRIVE_STATUS_DUE, l->filter->status, false);
    } else {
        add_states(l, DRIVE_CLOSED_DUE, STR_NONE);
    }
}

static void choose_streams(struct listing *l)
{
    if (l->filter->order == TASKS_BY_DUE)
        choose_by_due(l);
    else if (l->filter->order == TASKS_BY_PRIORITY)
        add_states(l, DRIVE_CLOSED_PRIORITY, STR_NONE);
    else
        add_stream(l, DRIVE_UPDATED, STR_NONE, false);
}

/* ---- merging ---- */

static int fill(struct listing *l, struct task_stream *stream)
{
    while (stream->taken == stream->hits.n && !stream->dry && l->seen < SCAN_MAX) {
        int r = task_stream_fill(l->journal, stream, &l->wanted, l->chunk, (size_t)l->limit + 1,
                                 l->arena, l->err);

        if (r < 0)
            return -1;
        l->seen += r;
        l->chunk = l->chunk * 2 < CHUNK_MAX ? l->chunk * 2 : CHUNK_MAX;
        /* By due day, nothing that is wanted follows the last day. */
        if (l->filter->order == TASKS_BY_DUE && l->filter->due_to.n > 0 && !stream->dry &&
            !due_within(stream->at.due, STR(""), l->filter->due_to))
            stream->dry = true;
    }
    return 0;
}

/* The stream whose next task comes first; NULL: none has one. */
static struct task_stream *first_stream(struct listing *l)
{
    struct task_stream *best = NULL;

    for (size_t i = 0; i < l->stream_count; i++) {
        struct task_stream *stream = &l->streams[i];

        if (stream->taken == stream->hits.n)
            continue;
        if (!best || task_key_cmp(l->filter->order, &stream->hits.at[stream->taken].key,
                                  &best->hits.at[best->taken].key) < 0)
            best = stream;
    }
    return best;
}

/* Up to where every stream was looked at; NULL when all were looked at to their end. */
static const struct task_key *looked_at(struct listing *l)
{
    const struct task_key *least = NULL;

    for (size_t i = 0; i < l->stream_count; i++) {
        const struct task_stream *stream = &l->streams[i];

        if (stream->taken == stream->hits.n && !stream->dry &&
            (!least || task_key_cmp(l->filter->order, &stream->at, least) < 0))
            least = &stream->at;
    }
    return least;
}

static int merge(struct listing *l)
{
    for (;;) {
        struct task_stream *stream;
        const struct task_hit *hit;
        const struct task_key *limit;

        for (size_t i = 0; i < l->stream_count; i++) {
            if (fill(l, &l->streams[i]) < 0)
                return -1;
        }
        stream = first_stream(l);
        hit = stream ? &stream->hits.at[stream->taken] : NULL;
        limit = looked_at(l);
        if (!hit && !limit)
            return 0;
        if (!hit || (limit && task_key_cmp(l->filter->order, &hit->key, limit) > 0)) {
            l->next = cursor_text(l->filter->order, limit, l->arena);
            return 0;
        }
        if (l->count == (size_t)l->limit) {
            l->next = cursor_text(l->filter->order, &l->page[l->count - 1].key, l->arena);
            return 0;
        }
        l->page[l->count++] = *hit;
        stream->taken++;
    }
}

/* ---- few ---- */

static int by_key(const void *a, const void *b, void *order)
{
    return task_key_cmp(*(enum task_order *)order, &((const struct task_hit *)a)->key,
                        &((const struct task_hit *)b)->key);
}

/* 1 done, 0 they are not few. */
static int try_few(struct listing *l, enum task_few by, struct str value)
{
    enum task_order order = l->filter->order;
    struct task_hits hits;
    int r = task_few_count(l->journal, by, value, FEW_MAX, l->err);

    if (r < 0 || r == FEW_MAX)
        return r < 0 ? -1 : 0;
    if (task_few_load(l->journal, by, value, &l->wanted, l->arena, &hits, l->err) < 0)
        return -1;
    if (hits.n > 0)
        qsort_r(hits.at, hits.n, sizeof(*hits.at), by_key, &order);
    for (size_t i = 0; i < hits.n; i++) {
        if (task_key_cmp(order, &hits.at[i].key, &l->after) <= 0)
            continue;
        if (l->count == (size_t)l->limit) {
            l->next = cursor_text(order, &hits.at[i - 1].key, l->arena);
            break;
        }
        l->page[l->count++] = hits.at[i];
    }
    return 1;
}

static int try_all_few(struct listing *l)
{
    int r = 0;

    if (l->wanted.label)
        return try_few(l, FEW_BY_LABEL, l->filter->label_id);
    if (l->filter->order == TASKS_BY_DUE)
        return 0;
    if (l->wanted.category_id.n > 0)
        r = try_few(l, FEW_BY_CATEGORY, l->wanted.category_id);
    if (r == 0 && l->filter->status.n > 0)
        r = try_few(l, FEW_BY_STATUS, l->filter->status);
    return r;
}

int task_list(struct journal *journal, const struct task_filter *filter, struct arena *arena,
              struct task_page *ret_page, struct err *err)
{
    struct listing *l = ARENA_NEW(arena, struct listing);
    struct task_page page = { .count = 0 };
    int r;

    l->journal = journal;
    l->filter = filter;
    l->arena = arena;
    l->err = err;
    l->limit = filter->limit <= 0         ? PAGE_DEFAULT
               : filter->limit < PAGE_MAX ? filter->limit
                                          : PAGE_MAX;
    l->chunk = l->limit + 1;
    if (read_filter(l) < 0)
        return -1;
    r = is_empty(l) ? 1 : try_all_few(l);
    if (r == 0) {
        choose_streams(l);
        r = merge(l);
    }
    if (r < 0)
        return -1;
    page.next = l->next;
    page.tasks = ARENA_NEW_N(arena, struct record, l->count + 1);
    if (task_hits_load(journal, l->page, l->count, arena, page.tasks, &page.count, err) < 0)
        return -1;
    *ret_page = page;
    return 0;
}

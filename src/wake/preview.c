/* Previews: batches of the past, page by page, newest first. The records of a page are read at
 * once, each of them once, and every batch is judged with its share.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/preview.h"
#include "base/map.h"
#include "wake/match.h"

static bool shares_token(const struct subscription *s, const struct change_row *row)
{
    for (size_t i = 0; i < s->token_count; i++) {
        for (size_t j = 0; j < row->token_count; j++) {
            const struct token *a = &s->tokens[i], *b = &row->tokens[j];

            if (a->class == b->class && str_eq(a->value, b->value) &&
                str_eq(a->name_space, b->name_space))
                return true;
        }
    }
    return false;
}

int preview_begin(struct preview *preview, struct err *err)
{
    preview->matched = preview->unmatched = 0;
    preview->before = CHANGE_PLACE_END;
    return subscription_check(&preview->subscription, err);
}

static struct domain *domain_of(const struct preview *preview)
{
    switch (preview->subscription.source) {
    case WAKE_JOURNAL:
        return journal_domain(preview->journal);
    case WAKE_AGENT:
        return preview->agent_domain;
    default:
        return NULL;
    }
}

/* ---- the records of a page ---- */

struct shelf {
    struct arena *arena;
    struct map by_ref; /* type and id: number of a record and 1 */
    struct record *records;
    struct str *categories;
    size_t count;
};

static struct str ref_key(struct arena *arena, enum record_type type, struct str id)
{
    return str_from(arena_printf(arena, "%d %.*s", type, STR_ARG(id)));
}

static int shelf_load(struct shelf *shelf, struct journal *journal, const struct change_row *rows,
                      size_t n, struct err *err)
{
    struct record_ref *refs;
    size_t room = 0, count = 0;

    for (size_t i = 0; i < n; i++)
        room += rows[i].unit_count;
    refs = ARENA_NEW_N(shelf->arena, struct record_ref, room + 1);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < rows[i].unit_count; k++) {
            refs[count].type = match_unit_record(&rows[i].unit[k], &refs[count].id);
            count += refs[count].type != RECORD_NONE;
        }
    }
    if (journal_get_all(journal, refs, count, shelf->arena, &shelf->records, &shelf->count, err) <
            0 ||
        journal_categories_of(journal, shelf->records, shelf->count, shelf->arena,
                              &shelf->categories, err) < 0)
        return err_wrap(err, "read what was changed");
    for (size_t i = 0; i < shelf->count; i++)
        map_put(&shelf->by_ref, ref_key(shelf->arena, shelf->records[i].type, shelf->records[i].id),
                (void *)(i + 1)); // NOLINT(performance-no-int-to-ptr)
    return 0;
}

/* What a batch changed, each record once. */
static void shelf_share(const struct shelf *shelf, struct match_batch *batch)
{
    size_t n = batch->row->unit_count;
    struct map seen = MAP_INIT;

    batch->records = ARENA_NEW_N(shelf->arena, struct record, n + 1);
    batch->categories = ARENA_NEW_N(shelf->arena, struct str, n + 1);
    batch->loaded = true;
    for (size_t i = 0; i < n; i++) {
        struct str id, key;
        enum record_type type = match_unit_record(&batch->row->unit[i], &id);
        size_t at;

        key = ref_key(shelf->arena, type, id);
        at = (size_t)map_find(&shelf->by_ref, key);
        if (!at || map_find(&seen, key))
            continue;
        map_put(&seen, key, batch);
        batch->categories[batch->count] = shelf->categories[at - 1];
        batch->records[batch->count++] = shelf->records[at - 1];
    }
    map_release(&seen);
}

/* ---- judging ---- */

static int64_t first_hour(const struct subscription *s, int64_t at_ms)
{
    int64_t next;

    return active_hours_hold(&s->hours, at_ms, &next) ? 0 : next;
}

static int judge(struct preview *preview, const struct shelf *shelf, const struct change_row *row,
                 struct err *err)
{
    const struct subscription *s = &preview->subscription;
    struct match_batch batch = {
        .source = s->source, .journal = preview->journal, .row = row, .arena = shelf->arena
    };
    struct preview_match one = { .row = row };
    int64_t *count;

    if (s->source == WAKE_JOURNAL)
        shelf_share(shelf, &batch);
    if (match_judge(&batch, s, preview->agent, shelf->arena, &one.match, err) < 0)
        return -1;
    if (one.match.outcome == MATCH_YES)
        one.not_before = first_hour(s, row->created_at);
    count = one.match.outcome == MATCH_YES ? &preview->matched : &preview->unmatched;
    if (++*count <= preview->limit)
        preview->tell(preview->arg, &one);
    return 0;
}

/* How many of the rows one step judges. */
static size_t step_rows(const struct change_row *rows, size_t n)
{
    size_t units = 0, i;

    for (i = 0; i < n && (i == 0 || units + rows[i].unit_count <= PREVIEW_STEP_UNITS); i++)
        units += rows[i].unit_count;
    return i;
}

static int judge_rows(struct preview *preview, struct change_row *rows, size_t n,
                      struct arena *arena, struct err *err)
{
    struct shelf shelf = { .arena = arena, .by_ref = MAP_INIT };
    size_t count = 0;
    int r = 0;

    for (size_t i = 0; i < n; i++)
        if (shares_token(&preview->subscription, &rows[i]))
            rows[count++] = rows[i];
    if (count && preview->subscription.source == WAKE_JOURNAL)
        r = shelf_load(&shelf, preview->journal, rows, count, err);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = judge(preview, &shelf, &rows[i], err);
    map_release(&shelf.by_ref);
    return r;
}

int preview_step(struct preview *preview, struct err *err)
{
    struct domain *domain = domain_of(preview);
    AUTO_ARENA arena = ARENA_INIT;
    struct change_row *rows;
    size_t n, some;

    if (!domain)
        return 0;
    if (change_batches_before(domain, preview->since_ms, preview->before, PREVIEW_STEP_BATCHES,
                              &arena, &rows, &n, err) < 0)
        return -1;
    if (!n)
        return 0;
    some = step_rows(rows, n);
    preview->before = (struct change_place){ rows[some - 1].created_at, rows[some - 1].at.n };
    if (judge_rows(preview, rows, some, &arena, err) < 0)
        return -1;
    return some < n || n == PREVIEW_STEP_BATCHES;
}

int64_t preview_shown(const struct preview *preview, bool matched)
{
    int64_t count = matched ? preview->matched : preview->unmatched;

    return count < preview->limit ? count : preview->limit;
}

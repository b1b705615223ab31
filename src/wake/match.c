/* Judging batches: who wrote it, does the predicate hold for what was changed, may the agent see
 * it. In this order, so that nothing is read for a batch that its author alone rules out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/match.h"
#include "base/json.h"
#include "wake/predicate.h"

static const struct {
    const char *name, *why;
} outcomes[] = {
    [MATCH_YES] = { "yes", "it matched" },
    [MATCH_AUTHOR] = { "author", "the subscription does not ask for changes of this author" },
    [MATCH_OWN] = { "own", "the agent wrote it itself" },
    [MATCH_PREDICATE] = { "predicate", "no changed record satisfies the predicate" },
    [MATCH_SCOPE] = { "scope", "the change lies outside of the agent's categories" },
    [MATCH_FAILED] = { "failed", "it could not be judged; its predicate or prompt needs mending" },
    [MATCH_RATE_LIMITED] = { "rate_limited", "its webhook was called more often than it takes" },
    [MATCH_TOKENS] = { "tokens", "the change has none of the subscription's tokens" },
};

const char *match_outcome_name(enum match_outcome outcome)
{
    return outcomes[outcome].name;
}

const char *match_outcome_why(enum match_outcome outcome)
{
    return outcomes[outcome].why;
}

/* ---- authors ---- */

static enum match_outcome judge_author(const struct subscription *s, const struct agent *agent,
                                       const struct change_row *row)
{
    bool own = row->author == CHANGE_BY_AGENT && str_is(row->author_id, agent->id);

    if (own && (s->authors & SUBSCRIPTION_BY_SELF))
        return MATCH_YES;
    if (!(s->authors & (1u << row->author)))
        return MATCH_AUTHOR;
    return own ? MATCH_OWN : MATCH_YES;
}

/* ---- records ---- */

enum record_type match_unit_record(const struct change_unit *unit, struct str *ret_id)
{
    struct str rest = unit->payload_id;

    *ret_id = unit->payload_id;
    if (!str_is(unit->payload_type, "taskLabel"))
        return record_type_of(unit->payload_type);
    str_split(&rest, ':', ret_id);
    return RECORD_TASK;
}

static int load_records(struct match_batch *batch, struct err *err)
{
    const struct change_row *row = batch->row;
    struct record_ref *refs;
    size_t n = 0;

    if (batch->loaded || batch->source != WAKE_JOURNAL)
        return 0;
    refs = ARENA_NEW_N(batch->arena, struct record_ref, row->unit_count + 1);
    for (size_t i = 0; i < row->unit_count; i++) {
        refs[n].type = match_unit_record(&row->unit[i], &refs[n].id);
        n += refs[n].type != RECORD_NONE;
    }
    if (journal_get_all(batch->journal, refs, n, batch->arena, &batch->records, &batch->count,
                        err) < 0)
        return err_wrap(err, "read what batch %.*s changed", STR_ARG(row->local_batch_id));
    batch->loaded = true;
    return 0;
}

static struct str list_ids(const struct record *labels, size_t n, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(64 * KIB);

    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s\"%.*s\"", i ? "," : "[", STR_ARG(labels[i].id));
    if (n)
        buf_add_char(&out, ']');
    return arena_str(arena, buf_str(&out));
}

/* Once for all subscriptions of the batch that ask for them. */
static int load_labels(struct match_batch *batch, struct err *err)
{
    struct record *tasks = ARENA_NEW_N(batch->arena, struct record, batch->count + 1);
    struct record **labels;
    size_t *counts, n = 0;

    if (batch->label_ids)
        return 0;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->records[i].type == RECORD_TASK)
            tasks[n++] = batch->records[i];
    if (task_labels_of(batch->journal, tasks, n, batch->arena, &labels, &counts, err) < 0)
        return -1;
    batch->label_ids = ARENA_NEW_N(batch->arena, struct str, batch->count + 1);
    for (size_t i = 0, k = 0; i < batch->count; i++) {
        batch->label_ids[i] = STR_NONE;
        if (batch->records[i].type != RECORD_TASK)
            continue;
        batch->label_ids[i] = list_ids(labels[k], counts[k], batch->arena);
        k++;
    }
    return 0;
}

/* ---- scope ---- */

/* What a list of categories allows; a list that can't be read allows nothing. */
static void read_scope(const char *text, struct arena *arena, struct journal_scope *ret_scope)
{
    AUTO_JSON list = NULL;
    struct err err = ERR_INIT;
    struct str *ids;
    size_t n;

    *ret_scope = (struct journal_scope){ 0 };
    if (!text || json_parse(str_from(text), &list, &err) < 0 ||
        !json_object_is_type(list, json_type_array))
        return;
    n = json_length(list);
    ids = ARENA_NEW_N(arena, struct str, n + 1);
    for (size_t i = 0; i < n; i++) {
        ids[i] = arena_str(arena, json_str(json_object_array_get_idx(list, i)));
        ret_scope->all |= str_is(ids[i], "*");
    }
    ret_scope->categories = ids;
    ret_scope->n = n;
}

/* A link lies in two places, and is seen by who may see both. */
static int in_scope(struct match_batch *batch, size_t i, const struct journal_scope *scope,
                    struct err *err)
{
    if (scope->all)
        return 1;
    if (batch->records[i].type == RECORD_ENTRY_LINK)
        return record_in_scope(batch->journal, scope, &batch->records[i], err);
    if (!batch->categories && journal_categories_of(batch->journal, batch->records, batch->count,
                                                    batch->arena, &batch->categories, err) < 0)
        return -1;
    return journal_in_scope(scope, batch->categories[i]);
}

/* ---- the whole ---- */

static int pick_records(struct match_batch *batch, const struct predicate *predicate,
                        const struct journal_scope *scope, struct arena *arena, struct match *match,
                        struct err *err)
{
    match->records = ARENA_NEW_N(arena, struct record, batch->count + 1);
    for (size_t i = 0; i < batch->count; i++) {
        int r;

        if (!predicate_matches(predicate, &batch->records[i],
                               batch->label_ids ? batch->label_ids[i] : STR_NONE))
            continue;
        r = in_scope(batch, i, scope, err);
        if (r < 0)
            return -1;
        if (r)
            match->records[match->record_count++] = batch->records[i];
        else
            match->hidden_count++;
    }
    return 0;
}

static int judge_records(struct match_batch *batch, const struct subscription *s,
                         const struct agent *agent, struct arena *arena, struct match *match,
                         struct err *err)
{
    AUTO(predicate) predicate = NULL;
    struct journal_scope scope;

    if (predicate_parse(s->predicate, &predicate, err) < 0)
        return err_wrap(err, "subscription %.*s", STR_ARG(s->id));
    read_scope(agent->allowed_category_ids, arena, &scope);
    if (load_records(batch, err) < 0 ||
        (predicate_asks_labels(predicate) && load_labels(batch, err) < 0) ||
        pick_records(batch, predicate, &scope, arena, match, err) < 0)
        return -1;
    if (match->record_count)
        match->outcome = MATCH_YES;
    else if (match->hidden_count)
        match->outcome = MATCH_SCOPE;
    else /* what was changed can't be read any more: only who may see all learns of it */
        match->outcome = s->predicate.n || batch->count ? MATCH_PREDICATE
                         : scope.all                    ? MATCH_YES
                                                        : MATCH_SCOPE;
    return 0;
}

int match_judge(struct match_batch *batch, const struct subscription *s, const struct agent *agent,
                struct arena *arena, struct match *ret_match, struct err *err)
{
    *ret_match = (struct match){ .outcome = judge_author(s, agent, batch->row) };
    if (ret_match->outcome != MATCH_YES || batch->source != WAKE_JOURNAL)
        return 0;
    return judge_records(batch, s, agent, arena, ret_match, err);
}

int subscription_judge(struct journal *journal, const struct subscription *s,
                       const struct agent *agent, const struct change_row *row, struct arena *arena,
                       struct match *ret_match, struct err *err)
{
    struct match_batch batch = {
        .source = s->source, .journal = journal, .row = row, .arena = arena
    };

    return match_judge(&batch, s, agent, arena, ret_match, err);
}

/* ---- when ---- */

static int64_t after_hours(const struct subscription *s, int64_t at_ms)
{
    int64_t next;

    return active_hours_hold(&s->hours, at_ms, &next) ? at_ms : next;
}

int64_t match_when(const struct subscription *s, int64_t now_ms, enum wake_held *ret_held)
{
    int64_t last = s->last_wake_at, free = now_ms, when;

    if (last > now_ms && last <= after_hours(s, now_ms + s->cooldown_ms))
        when = last;
    else {
        if (last && last <= now_ms && last + s->cooldown_ms > now_ms)
            free = last + s->cooldown_ms;
        when = after_hours(s, free);
    }
    if (when <= now_ms)
        *ret_held = WAKE_HELD_NONE;
    else
        *ret_held = after_hours(s, when - 1) == when ? WAKE_HELD_HOURS : WAKE_HELD_COOLDOWN;
    return when;
}

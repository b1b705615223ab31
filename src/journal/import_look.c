/* What importing a file would make: how many records, and which categories and labels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/map.h"
#include "journal/import_int.h"
#include "journal/journal_int.h"

#define SET 500 /* looked for at once */

struct looking {
    struct journal *journal;
    struct import_look *look;
    struct arena *arena;
    struct map seen[2];
    struct import_states states;
    struct err *err;
};

/* A name that nobody has is remembered once, in letters of either case. */
static int look_for(struct looking *l, enum record_type type, struct str name)
{
    struct import_names *names = type == RECORD_CATEGORY ? &l->look->categories : &l->look->labels;
    struct map *seen = &l->seen[type == RECORD_LABEL];
    char *folded = arena_copy(l->arena, name.p, name.n);
    struct record record;
    int r;

    for (size_t i = 0; i < name.n; i++)
        folded[i] = (char)(folded[i] >= 'A' && folded[i] <= 'Z' ? folded[i] | 0x20 : folded[i]);
    if (!name.n || map_find(seen, str_of(folded, name.n)))
        return 0;
    map_put(seen, str_of(folded, name.n), l);
    r = record_by_name(l->journal, type, name, l->arena, &record, l->err);
    if (r == 0 && names->count++ < IMPORT_NAMES_MAX)
        names->names[names->count - 1] = arena_str(l->arena, name);
    return r < 0 ? -1 : 0;
}

static int look_at(struct looking *l, const struct import_record *record)
{
    enum record_type type = record->whole ? record->whole->type : RECORD_NONE;

    if (type == RECORD_CATEGORY || type == RECORD_LABEL)
        return look_for(l, type, record_str(record->whole, "name"));
    if (record->whole)
        return 0; /* its labels are ids */
    if (look_for(l, RECORD_CATEGORY, record->category) < 0)
        return -1;
    for (size_t i = 0; i < record->label_count; i++)
        if (look_for(l, RECORD_LABEL, record->labels[i]) < 0)
            return -1;
    return 0;
}

static void count(struct import_result *result, const struct import_record *record)
{
    bool category = record->whole && record->whole->type == RECORD_CATEGORY;

    result->tasks += !record->is_event;
    if (record->is_event && !record->whole)
        import_count_event(result, record);
    result->categories += category;
    result->others += record->whole && record->is_event && !category;
}

static bool is_it(const struct record *record, struct record_ref ref)
{
    return record->type == ref.type && str_eq(record->id, ref.id);
}

static const struct record *find_among(const struct record *records, size_t n,
                                       struct record_ref ref)
{
    for (size_t i = 0; i < n; i++)
        if (is_it(&records[i], ref))
            return &records[i];
    return NULL;
}

/* Those that are there, or that somebody deleted, are not made. */
static int count_some(struct looking *l, const struct import_record *records, size_t n)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct record_ref refs[SET];
    struct record *found;
    size_t found_count, at = 0;

    for (size_t i = 0; i < n; i++)
        refs[i] = (struct record_ref){ import_type(&records[i]), records[i].id };
    if (journal_get_all(l->journal, refs, n, &arena, &found, &found_count, l->err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        /* found stands in the order of refs */
        const struct record *old = at < found_count && is_it(&found[at], refs[i])
                                       ? &found[at++]
                                       : find_among(found, at, refs[i]);
        int state = old ? import_state_of(l->journal, &l->states, old, l->err) : IMPORT_ABSENT;

        if (state < 0)
            return -1;
        import_count_state(&l->look->counts, state);
        if (state == IMPORT_ABSENT)
            count(&l->look->counts, &records[i]);
    }
    return 0;
}

int import_look(struct journal *journal, const struct import *import, struct arena *arena,
                struct import_look *ret_look, struct err *err)
{
    struct looking l = { .journal = journal, .look = ret_look, .arena = arena, .err = err };
    int r = 0;

    *ret_look = (struct import_look){ .categories.count = 0 };
    for (size_t i = 0; r == 0 && i < import->count; i += SET)
        r = count_some(&l, &import->records[i], import->count - i < SET ? import->count - i : SET);
    for (size_t i = 0; r == 0 && i < import->count; i++)
        r = look_at(&l, &import->records[i]);
    map_release(&l.seen[0]);
    map_release(&l.seen[1]);
    return r;
}

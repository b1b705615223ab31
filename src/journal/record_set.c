/* Records by their ids, many at once: what a batch of changes names.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/map.h"
#include "journal/journal_int.h"
#include "journal/list_int.h"

#define STEPS_MAX 8 /* as far as journal_category_of() goes */

/* A name in the map; of what no record has for an id, one that none is put under. */
struct key {
    char text[RECORD_ID_MAX + 8];
};

static struct str key_of(enum record_type type, struct str id, struct key *key)
{
    int n = snprintf(key->text, sizeof(key->text), "%d:%.*s", type,
                     STR_ARG(record_id_valid(id) ? id : STR("")));

    return str_of(key->text, (size_t)n);
}

/* What was found, by type and id. */
struct found {
    struct journal *journal;
    struct arena *arena;
    struct map by_key; /* struct record; of what is asked for and not there: the map itself */
};

static struct record *find(const struct found *found, enum record_type type, struct str id)
{
    struct key key;
    void *value = map_find(&found->by_key, key_of(type, id, &key));

    return value == &found->by_key ? NULL : value;
}

static int load_some(struct found *found, enum record_type type, const struct str *ids, size_t n,
                     struct err *err)
{
    struct record *records;
    size_t count;

    if (record_load_set(found->journal, type, ids, n, found->arena, &records, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct key key;

        map_put(&found->by_key, key_of(type, records[i].id, &key), &records[i]);
    }
    return 0;
}

/* Those of one type that nobody has looked for yet. */
static int load_type(struct found *found, enum record_type type, const struct record_ref *refs,
                     size_t n, struct err *err)
{
    struct str ids[SET_MAX];
    size_t set = 0;

    for (size_t i = 0; i < n; i++) {
        struct key key;

        if (refs[i].type != type || map_find(&found->by_key, key_of(type, refs[i].id, &key)))
            continue;
        map_put(&found->by_key, key_of(type, refs[i].id, &key), &found->by_key);
        ids[set++] = refs[i].id;
        if (set == SET_MAX) {
            if (load_some(found, type, ids, set, err) < 0)
                return -1;
            set = 0;
        }
    }
    return set ? load_some(found, type, ids, set, err) : 0;
}

static int load(struct found *found, const struct record_ref *refs, size_t n, struct err *err)
{
    bool wanted[RECORD_TYPES_END] = { false };

    for (size_t i = 0; i < n; i++)
        wanted[refs[i].type] = true;
    for (int type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++)
        if (wanted[type] && load_type(found, (enum record_type)type, refs, n, err) < 0)
            return -1;
    return 0;
}

int journal_get_all(struct journal *journal, const struct record_ref *refs, size_t n,
                    struct arena *arena, struct record **ret_records, size_t *ret_count,
                    struct err *err)
{
    struct found found = { .journal = journal, .arena = arena };
    struct record *records = ARENA_NEW_N(arena, struct record, n + 1);
    size_t count = 0;
    int r = load(&found, refs, n, err);

    for (size_t i = 0; r == 0 && i < n; i++) {
        struct record *record = find(&found, refs[i].type, refs[i].id);

        if (!record || record->type == RECORD_NONE)
            continue;
        records[count++] = *record;
        record->type = RECORD_NONE; /* given */
    }
    map_release(&found.by_key);
    *ret_records = records;
    *ret_count = count;
    return r;
}

/* ---- categories ---- */

/* One step up for all that have not arrived. How many go on. */
static size_t step_all(const struct record *at, bool *done, size_t n, struct record_ref *refs,
                       struct str *categories)
{
    size_t going = 0;

    for (size_t i = 0; i < n; i++) {
        refs[i] = (struct record_ref){ RECORD_NONE, STR_NONE };
        if (done[i])
            continue;
        done[i] = category_step(&at[i], &categories[i], &refs[i].type, &refs[i].id);
        if (done[i])
            refs[i].type = RECORD_NONE;
        else
            going++;
    }
    return going;
}

static void arrive(const struct found *found, struct record *at, bool *done, size_t n,
                   const struct record_ref *refs)
{
    for (size_t i = 0; i < n; i++) {
        const struct record *up = done[i] ? NULL : find(found, refs[i].type, refs[i].id);

        if (up)
            at[i] = *up;
        else
            done[i] = true;
    }
}

int journal_categories_of(struct journal *journal, const struct record *records, size_t n,
                          struct arena *arena, struct str **ret_categories, struct err *err)
{
    struct found found = { .journal = journal, .arena = arena };
    struct str *categories = ARENA_NEW_N(arena, struct str, n + 1);
    struct record *at = ARENA_NEW_N(arena, struct record, n + 1);
    struct record_ref *refs = ARENA_NEW_N(arena, struct record_ref, n + 1);
    bool *done = ARENA_NEW_N(arena, bool, n + 1);
    int r = 0;

    for (size_t i = 0; i < n; i++)
        at[i] = records[i];
    for (int steps = 0; r == 0 && steps < STEPS_MAX; steps++) {
        if (step_all(at, done, n, refs, categories) == 0)
            break;
        r = load(&found, refs, n, err);
        if (r == 0)
            arrive(&found, at, done, n, refs);
    }
    map_release(&found.by_key);
    *ret_categories = categories;
    return r;
}

/* Taking an import back.
 *
 * Every step of an import that has an id is an operation whose answer lists what it made: pairs of
 * type and id. Undoing deletes those, the last first; operations are remembered for 48 hours. Each
 * write of an undo is an operation too: what was deleted at its moment was not deleted by somebody
 * who did not want it, and an import may make it again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_write.h"
#include "journal/import_int.h"
#include "journal/journal_int.h"

#define STEPS_MAX  10000
#define AT_ONCE    500 /* deletions in one write: what hangs on them goes along */
#define ID_MAX     40
#define MADE_BYTES (4 * 1024 * 1024)
#define UNDO       "import_undo"

bool import_id_valid(struct str id)
{
    return id.n <= ID_MAX && record_id_valid(id);
}

struct str import_step_id(struct str id, size_t offset, struct arena *arena)
{
    return str_from(arena_printf(arena, "import:%.*s:%09zu", STR_ARG(id), offset));
}

struct str import_made(const struct journal_write *write, struct arena *arena)
{
    const struct change_batch *batch = journal_batch(write);
    AUTO_BUF out = BUF_INIT(MADE_BYTES);
    struct json_writer w = JSON_WRITER(&out);

    json_write_array_begin(&w);
    for (size_t i = 0; i < batch->unit_count; i++) {
        json_write_str(&w, batch->units[i].payload_type);
        json_write_str(&w, batch->units[i].payload_id);
    }
    json_write_array_end(&w);
    return json_write_end(&w) < 0 ? STR("[]") : arena_str(arena, buf_str(&out));
}

int import_state_of(struct journal *journal, struct import_states *states,
                    const struct record *record, struct err *err)
{
    int r;

    if (!record->deleted_at)
        return IMPORT_THERE;
    if (states->asked != record->deleted_at) {
        r = operation_at(journal, UNDO, record->deleted_at, err);
        if (r < 0)
            return -1;
        *states = (struct import_states){ .asked = record->deleted_at, .undone = r > 0 };
    }
    return states->undone ? IMPORT_ABSENT : IMPORT_DELETED;
}

void import_count_state(struct import_result *result, int state)
{
    result->there += state == IMPORT_THERE;
    result->deleted += state == IMPORT_DELETED;
}

/* One of them: deleted, or kept because others use it. */
static int remove_one(struct journal_write *write, struct json_object *made, size_t i,
                      struct import_undone *undone, struct err *err)
{
    enum record_type type = record_type_of(json_str(json_object_array_get_idx(made, i)));
    struct str id = json_str(json_object_array_get_idx(made, i + 1));
    struct err why = ERR_INIT;
    struct record record;
    int r;

    if (type == RECORD_NONE)
        return 0;
    r = journal_get(write->journal, type, id, write->arena, &record, err);
    if (r <= 0)
        return r;
    r = journal_remove(write, type, id, &why);
    if (r < 0 && why.code != ERR_CONFLICT) {
        *err = why;
        return -1;
    }
    undone->kept += r < 0;
    undone->removed += r > 0;
    return 0;
}

static int remove_some(struct journal *journal, struct json_object *made, size_t from, size_t end,
                       struct import_undone *undone, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct journal_author author = { .kind = CHANGE_BY_HUMAN, .operation = STR(UNDO) };
    struct journal_write *write;
    char id[UUID_TEXT_SIZE];
    struct str done;

    change_new_id(journal->change, id);
    author.operation_id = str_from(arena_printf(&arena, UNDO ":%s", id));
    if (journal_begin(journal, &author, &arena, &write, &done, err) <= 0)
        return -1;
    for (size_t i = end; i >= from + 2; i -= 2) {
        if (remove_one(write, made, i - 2, undone, err) == 0)
            continue;
        journal_end(write, false, STR_NONE, NULL);
        return -1;
    }
    return journal_end(write, true, STR_NONE, err);
}

static int undo_step(struct journal *journal, struct str result, struct import_undone *undone,
                     struct err *err)
{
    AUTO_JSON made = NULL;
    size_t n;

    if (json_parse(result, &made, err) < 0)
        return -1;
    n = json_object_is_type(made, json_type_array) ? json_length(made) & ~(size_t)1 : 0;
    while (n) {
        size_t from = n > 2 * AT_ONCE ? n - 2 * AT_ONCE : 0;

        if (remove_some(journal, made, from, n, undone, err) < 0)
            return -1;
        n = from;
    }
    return 0;
}

int import_undo(struct journal *journal, struct str id, struct arena *arena,
                struct import_undone *ret_undone, struct err *err)
{
    struct str *results = ARENA_NEW_N(arena, struct str, STEPS_MAX);
    static const char *const ends[] = { ":", "." };
    size_t n = 0;

    *ret_undone = (struct import_undone){ .removed = 0 };
    if (!import_id_valid(id))
        return err_set(err, ERR_BAD_REQUEST, "\"%.*s\" is no import's id",
                       STR_ARG(str_take(id, ID_MAX)));
    /* A file that came in parts has an id for each: ID.0, ID.1 ... */
    for (size_t i = 0; i < ARRAY_LEN(ends) && !n; i++)
        if (operation_results(journal,
                              str_from(arena_printf(arena, "import:%.*s%s", STR_ARG(id), ends[i])),
                              arena, results, STEPS_MAX, &n, err) < 0)
            return -1;
    if (!n)
        return err_set(err, ERR_NOT_FOUND,
                       "there is no import \"%.*s\"; they are remembered for 48 hours",
                       STR_ARG(id));
    for (size_t i = 0; i < n; i++)
        if (undo_step(journal, results[i], ret_undone, err) < 0)
            return -1;
    return 0;
}

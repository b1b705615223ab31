/* Records by the beginning of their id.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/prefix.h"
#include "journal/journal_int.h"
#include "journal/record_store_int.h"

static const struct {
    struct sql sql;
    struct prefix_words words;
} rows[] = {
#define X(id_, name, key)                                                                          \
    [RECORD_##id_] = {                                                                             \
        { "SELECT id FROM " id_##_TABLE " WHERE id >= ? AND id < ? || '~' ORDER BY id LIMIT 5" },  \
        { name, name "s", "dormouse journal", "what there is" },                                   \
    },
    RECORD_TYPES(X)
#undef X
};

int journal_find_prefix(struct journal *journal, enum record_type type, struct str prefix,
                        struct arena *arena, struct str *ret_id, struct err *err)
{
    struct record record;
    int r;

    if (!record_id_valid(prefix))
        return err_set(err, ERR_NOT_FOUND, "there is no %s \"%.*s\"", record_type_name(type),
                       STR_ARG(str_take(prefix, RECORD_ID_MAX)));
    r = journal_get_any(journal, type, prefix, arena, &record, err);
    if (r < 0)
        return -1;
    if (r == 1) {
        *ret_id = record.id;
        return 0;
    }
    if (prefix.n < PREFIX_MIN)
        return err_set(err, ERR_NOT_FOUND, "there is no %s \"%.*s\"", record_type_name(type),
                       STR_ARG(prefix));
    return prefix_find(domain_db(journal->domain), rows[type].sql, prefix, &rows[type].words, arena,
                       ret_id, err);
}

/* Records by the beginning of their id.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/prefix.h"

#include "base/buf.h"

#define SHOWN_BYTES 80
#define ID_BYTES    20

/* How much of the ids tells them from each other; they are in order. */
static size_t bytes_to_tell(const struct str *ids, size_t count)
{
    size_t most = ID_BYTES;

    for (size_t i = 1; i < count; i++) {
        size_t same = 0;

        while (same < ids[i - 1].n && same < ids[i].n && ids[i - 1].p[same] == ids[i].p[same])
            same++;
        most = same + 1 > most ? same + 1 : most;
    }
    return most;
}

static int refuse_several(struct str prefix, const struct str *ids, size_t count,
                          const struct prefix_words *words, struct err *err)
{
    AUTO_BUF names = BUF_INIT(1024);
    size_t shown = count < PREFIX_ROWS ? count : PREFIX_ROWS - 1, bytes = bytes_to_tell(ids, shown);

    for (size_t i = 0; i < shown; i++)
        buf_printf(&names, "%s%.*s", i ? ", " : "", STR_ARG(str_take(ids[i], bytes)));
    if (count == PREFIX_ROWS)
        buf_add_text(&names, " and more");
    return err_set(err, ERR_BAD_REQUEST, "\"%.*s\" begins several %s: %s",
                   STR_ARG(str_take(prefix, SHOWN_BYTES)), words->several, buf_text(&names));
}

int prefix_find(struct db *db, struct sql sql, struct str prefix, const struct prefix_words *words,
                struct arena *arena, struct str *ret_id, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct str ids[PREFIX_ROWS];
    size_t count = 0;
    int r;

    if (prefix.n < PREFIX_MIN)
        return err_set(err, ERR_BAD_REQUEST,
                       "%s \"%.*s\": give at least the first %d characters of its id", words->one,
                       STR_ARG(prefix), PREFIX_MIN);
    if (db_prepare(db, sql, &q, err) < 0)
        return -1;
    stmt_bind_str(q, prefix);
    stmt_bind_str(q, prefix);
    while ((r = stmt_step(q, err)) == 1 && count < PREFIX_ROWS)
        ids[count++] = arena_str(arena, stmt_str(q, "id"));
    if (r < 0)
        return -1;
    if (count == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no %s \"%.*s\"; `%s` shows %s", words->one,
                       STR_ARG(str_take(prefix, SHOWN_BYTES)), words->command, words->shows);
    if (count > 1 && !str_eq(ids[0], prefix))
        return refuse_several(prefix, ids, count, words, err);
    *ret_id = ids[0];
    return 0;
}

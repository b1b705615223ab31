/* Any text as a query: words of it, and an FTS5 expression that SQLite takes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sqlite3.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "find/find.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static sqlite3_stmt *prepare(void)
{
    static sqlite3_stmt *q;
    sqlite3 *db;

    if (q)
        return q;
    BUG_IF(sqlite3_open(":memory:", &db) != SQLITE_OK);
    BUG_IF(sqlite3_exec(db,
                        "CREATE VIRTUAL TABLE t USING fts5 (body);"
                        "INSERT INTO t VALUES ('a zebra crossing');",
                        NULL, NULL, NULL) != SQLITE_OK);
    BUG_IF(sqlite3_prepare_v2(db, "SELECT rowid FROM t WHERE t MATCH ?", -1, &q, NULL) !=
           SQLITE_OK);
    return q;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_BUF expression = BUF_INIT(16384);
    struct find_words words;
    sqlite3_stmt *q = prepare();
    int r;

    find_words(str_of((const char *)bytes, n), &words);
    BUG_IF(words.n > FIND_WORDS_MAX);
    for (size_t i = 0; i < words.n; i++)
        BUG_IF(!words.word[i].n || !utf8_valid(words.word[i]) ||
               memchr(words.word[i].p, '"', words.word[i].n));
    find_expression(&words, &expression);
    BUG_IF(expression.full);
    if (!words.n)
        return 0;
    BUG_IF(!find_in(&words, str_of((const char *)bytes, n)));
    sqlite3_bind_text(q, 1, expression.p, (int)expression.n, SQLITE_TRANSIENT);
    r = sqlite3_step(q);
    BUG_IF(r != SQLITE_ROW && r != SQLITE_DONE);
    sqlite3_reset(q);
    return 0;
}

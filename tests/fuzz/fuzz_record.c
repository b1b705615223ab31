/* Fields of a record as JSON: the first byte says the type. What is taken over can be written and
 * taken over again with the same meaning.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/json.h"
#include "journal/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void again(const struct record *record, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(64 << 20);
    AUTO_JSON json = NULL;
    struct json_writer w = JSON_WRITER(&out);
    struct record copy = { .type = record->type };

    record_write(&w, record);
    BUG_IF(json_write_end(&w) < 0);
    BUG_IF(json_parse(buf_str(&out), &json, NULL) < 0);
    json_object_object_del(json, "id");
    BUG_IF(record_apply(&copy, json, arena, NULL) < 0);
    for (size_t i = 0; i < RECORD_FIELDS_MAX; i++) {
        BUG_IF(copy.v[i].set != record->v[i].set || copy.v[i].i != record->v[i].i);
        BUG_IF(!str_eq(copy.v[i].s, record->v[i].s));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_JSON json = NULL;
    struct record record = { .type = RECORD_NONE };
    struct err err = ERR_INIT;

    if (n == 0)
        return 0;
    record.type = (enum record_type)(1 + bytes[0] % (RECORD_TYPES_END - 1));
    if (json_parse(str_of((const char *)bytes + 1, n - 1), &json, &err) < 0)
        return 0;
    if (record_apply(&record, json, &arena, &err) == 0)
        again(&record, &arena);
    else
        BUG_IF(err.code != ERR_SCHEMA_VIOLATION);
    return 0;
}

/* Whatever the strict parser accepts, json-c parses to the same value, the writer writes back, and
 * the canonical form is a fixed point.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json_tokener.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_canonical.h"
#include "base/json_write.h"
#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* json-c 0.16 takes some escaped pairs (U+1DE00) for half of one and reads U+FFFD. */
static bool has_escaped_pair(struct str text)
{
    return str_find(text, STR("\\ud")) >= 0 || str_find(text, STR("\\uD")) >= 0;
}

static void same_as_json_c(const char *text, size_t n, struct json_object *value)
{
    struct json_tokener *tok = json_tokener_new_ex(LIMIT_JSON_DEPTH + 2);
    AUTO_JSON other = NULL;

    json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
    /* With the NUL, so that a number at the end is finished. */
    other = json_tokener_parse_ex(tok, text, (int)n + 1);
    BUG_IF(json_tokener_get_error(tok) != json_tokener_success);
    json_tokener_free(tok);
    if (has_escaped_pair(str_of(text, n)))
        return;
    BUG_IF(!json_equal(value, other));
    BUG_IF(json_hash(value) != json_hash(other));
}

static void writes_back(struct json_object *value)
{
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_JSON again = NULL;
    struct json_writer w = JSON_WRITER(&out);

    json_write_value(&w, value);
    BUG_IF(json_write_end(&w) < 0);
    BUG_IF(json_parse(buf_str(&out), &again, NULL) < 0);
    BUG_IF(!json_equal(value, again));
}

static void canonical_is_stable(struct json_object *value)
{
    AUTO_BUF once = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_BUF twice = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_JSON again = NULL;

    if (json_canonical(value, &once, NULL) < 0)
        return;
    BUG_IF(json_parse_flags(buf_str(&once), JSON_BIG_INTEGERS, &again, NULL) < 0);
    BUG_IF(json_canonical(again, &twice, NULL) < 0);
    BUG_IF(!str_eq(buf_str(&once), buf_str(&twice)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_TEXT text = alloc_copy((const char *)bytes, n);
    struct err err = ERR_INIT;
    AUTO_JSON value = NULL;

    if (json_parse(str_of((const char *)bytes, n), &value, &err) < 0) {
        BUG_IF(err.code == ERR_NONE || value);
        return 0;
    }
    same_as_json_c(text, n, value);
    writes_back(value);
    canonical_is_stable(value);
    return 0;
}

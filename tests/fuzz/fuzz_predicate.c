/* Predicates of subscriptions: whatever text is refused with a column, or can be asked about every
 * type of record; and "not (P)" says the opposite of P.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/buf.h"
#include "wake/predicate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fill(struct record *record, struct str text)
{
    for (size_t i = 0; i < RECORD_FIELDS_MAX; i++)
        record->v[i] = (struct record_value){ .set = (text.n + i) % 3 != 0,
                                              .i = (int64_t)i - 2,
                                              .f = (double)text.n,
                                              .s = str_take(text, i) };
}

static void ask(struct str text, const struct predicate *predicate, const struct predicate * not )
{
    for (int type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++) {
        struct record record = { .type = (enum record_type)type, .id = text };
        bool holds;

        fill(&record, text);
        holds = predicate_matches(predicate, &record, STR_NONE);
        BUG_IF(not &&predicate_matches(not, &record, STR_NONE) == holds);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(predicate) predicate = NULL;
    AUTO(predicate) not = NULL;
    AUTO(predicate) plain = NULL;
    AUTO_BUF turned = BUF_INIT(2 * PREDICATE_BYTES_MAX);
    AUTO_BUF typed = BUF_INIT(2 * PREDICATE_BYTES_MAX);
    struct str text = str_of((const char *)data, size);
    struct err err = ERR_INIT;

    if (predicate_parse(text, &predicate, &err) < 0) {
        BUG_IF(err.code != ERR_BAD_REQUEST);
        return 0;
    }
    buf_printf(&turned, "not (%.*s)", STR_ARG(text));
    if (predicate_parse(buf_str(&turned), &not, &err) < 0)
        not = NULL; /* empty, or at a limit */
    ask(text, predicate, not );
    /* what people are shown of it is a predicate, too */
    predicate_typed(text, &typed);
    BUG_IF(typed.n > text.n || predicate_parse(buf_str(&typed), &plain, &err) < 0);
    return 0;
}

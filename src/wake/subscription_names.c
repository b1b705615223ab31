/* What people name in a subscription: categories and labels by their names, records by their ids.
 *
 * Names are looked up once, when a subscription is made or changed, and kept as ids: a category
 * that gets another name still is what was meant. What can't be found would never match, so it is
 * refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "journal/list.h"
#include "wake/predicate.h"
#include "wake/subscription_int.h"

#define NAMES_SHOWN 1000

struct naming {
    struct journal *journal;
    struct arena *arena;
};

/* ---- categories and labels ---- */

static int no_such_name(const struct naming *naming, enum record_type type, struct str text,
                        struct err *err)
{
    const struct record_filter filter = { .type = type, .limit = NAMES_SHOWN };
    AUTO_BUF names = BUF_INIT(ERR_TEXT_MAX / 2);
    struct record *all;
    size_t n = 0;
    bool more;

    if (record_list(naming->journal, &filter, naming->arena, &all, &n, &more, err) < 0)
        return -1;
    text = utf8_truncate(text, 80);
    if (n == 0)
        return err_set(err, ERR_BAD_REQUEST, "there is no %s \"%.*s\", nor any other",
                       record_type_name(type), STR_ARG(text));
    for (size_t i = 0; i < n && !names.full; i++)
        buf_printf(&names, "%s%.*s", i ? ", " : "", STR_ARG(record_str(&all[i], "name")));
    return err_set(err, ERR_BAD_REQUEST, "there is no %s \"%.*s\"; there are %s%s",
                   record_type_name(type), STR_ARG(text), buf_text(&names),
                   names.full ? ", ..." : "");
}

/* An id counts before a name. Names are unique, whatever case their letters have. */
static int find_name(void *arg, enum record_type type, struct str text, struct str *ret_id,
                     struct err *err)
{
    const struct naming *naming = arg;
    struct record record;
    int r = 0;

    if (record_id_valid(text))
        r = journal_get(naming->journal, type, text, naming->arena, &record, err);
    if (r == 0)
        r = journal_find_name(naming->journal, type, text, naming->arena, &record, err);
    if (r <= 0)
        return r < 0 ? -1 : no_such_name(naming, type, text, err);
    *ret_id = record.id;
    return 0;
}

/* ---- tokens ---- */

static bool has_token(const struct subscription *s, const struct token *token)
{
    for (size_t i = 0; s && i < s->token_count; i++) {
        if (s->tokens[i].class == token->class && str_eq(s->tokens[i].value, token->value) &&
            str_eq(s->tokens[i].name_space, token->name_space))
            return true;
    }
    return false;
}

static int name_token(struct naming *naming, struct token *token, struct err *err)
{
    struct record record;
    int r;

    if (token->class == TOKEN_SUBTYPE && str_is(token->name_space, "categoryId"))
        return find_name(naming, RECORD_CATEGORY, token->value, &token->value, err);
    if (token->class != TOKEN_ENTITY_ID || !record_id_valid(token->value))
        return 0; /* subscription_check() says what is wrong with it */
    r = journal_find_id(naming->journal, token->value, naming->arena, &record, err);
    if (r < 0)
        return -1;
    return r ? 0
             : err_set(
                   err, ERR_BAD_REQUEST,
                   "the journal has no record with the id \"%.*s\"; `dormouse search WORDS` and "
                   "the lists of `dormouse journal` show ids",
                   STR_ARG(token->value));
}

static int name_tokens(struct naming *naming, struct subscription *s,
                       const struct subscription *stored, struct err *err)
{
    struct token *tokens = ARENA_NEW_N(naming->arena, struct token, s->token_count + 1);

    for (size_t i = 0; i < s->token_count; i++) {
        tokens[i] = s->tokens[i];
        if (!has_token(stored, &tokens[i]) && name_token(naming, &tokens[i], err) < 0)
            return err_wrap(err, "token %zu", i + 1);
    }
    s->tokens = tokens;
    return 0;
}

/* ---- the whole ---- */

static int name_predicate(struct naming *naming, struct subscription *s,
                          const struct subscription *stored, struct err *err)
{
    const struct predicate_names names = { .find = find_name, .arg = naming };
    AUTO_BUF bound = BUF_INIT(SUBSCRIPTION_PREDICATE_MAX);
    AUTO_BUF typed = BUF_INIT(SUBSCRIPTION_PREDICATE_MAX);

    if (stored)
        predicate_typed(stored->predicate, &typed);
    if (stored &&
        (str_eq(s->predicate, stored->predicate) || str_eq(s->predicate, buf_str(&typed)))) {
        s->predicate = stored->predicate;
        return 0;
    }
    if (predicate_bind(s->predicate, &names, &bound, err) < 0)
        return err_wrap(err, "predicate");
    s->predicate = arena_str(naming->arena, buf_str(&bound));
    return 0;
}

int subscription_name(struct subscription *s, const struct subscription *stored,
                      struct journal *journal, struct arena *arena, struct err *err)
{
    struct naming naming = { journal, arena };

    if (s->source != WAKE_JOURNAL || !journal)
        return 0;
    if (s->token_count > SUBSCRIPTION_TOKENS_MAX)
        return 0; /* refused with its reason where it is checked */
    return name_tokens(&naming, s, stored, err) < 0 ? -1 : name_predicate(&naming, s, stored, err);
}

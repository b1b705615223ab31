/* Subscriptions: what they may be.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/limits.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "wake/predicate.h"
#include "wake/subscription_int.h"

static const char *const source_names[] = { "none", "journal", "agent", "files", "webhook" };

const char *wake_source_name(enum wake_source source)
{
    return source_names[source];
}

enum wake_source wake_source_of(struct str name)
{
    for (size_t i = 1; i < ARRAY_LEN(source_names); i++) {
        if (str_is(name, source_names[i]))
            return (enum wake_source)i;
    }
    return WAKE_SOURCE_NONE;
}

/* ---- authors ---- */

#define AUTHORS_ALL                                                                                \
    (1u << CHANGE_BY_HUMAN | 1u << CHANGE_BY_AGENT | 1u << CHANGE_BY_SYNC | SUBSCRIPTION_BY_SELF)

void subscription_authors_text(unsigned authors, struct buf *out)
{
    for (int author = CHANGE_BY_HUMAN; author <= CHANGE_BY_SYNC; author++) {
        if (authors & (1u << author))
            buf_printf(out, "%s%s", out->n ? "," : "",
                       change_author_name((enum change_author)author));
    }
    if (authors & SUBSCRIPTION_BY_SELF)
        buf_printf(out, "%sself", out->n ? "," : "");
}

unsigned subscription_authors_of(struct str text)
{
    struct str rest = text, name;
    unsigned authors = 0;

    while (text.n && str_split(&rest, ',', &name))
        authors |= str_is(name, "self") ? SUBSCRIPTION_BY_SELF : 1u << change_author_of(name);
    return authors & AUTHORS_ALL;
}

/* ---- tokens ---- */

/* Whose records a semantic key stands for. */
static enum wake_source key_source(struct str key)
{
    return str_is(key, "FILE")             ? WAKE_FILES
           : str_is(key, "WEBHOOK")        ? WAKE_WEBHOOK
           : str_starts(key, STR("AGENT")) ? WAKE_AGENT
                                           : WAKE_JOURNAL;
}

/* One of the list, or a sentence that says what there is: "there is no namespace "x"; ...". */
static int check_word(const char *what, struct str value, const char *const *words, struct err *err)
{
    size_t n = 0;

    for (; words[n]; n++)
        if (str_is(value, words[n]))
            return 0;
    return nearest_refuse(what, value, words, n, err);
}

static int check_subtype(const struct subscription *s, const struct token *token, struct err *err)
{
    size_t count;
    const struct record_field *fields = record_fields(RECORD_TASK, &count);

    if (s->source != WAKE_JOURNAL)
        return err_set(err, ERR_BAD_REQUEST,
                       "changes of agents have no subtypes; wait for a key such as AGENT_MESSAGE, "
                       "or for an id");
    if (check_word("namespace", token->name_space, token_namespaces, err) < 0)
        return -1;
    if (!str_is(token->name_space, "taskStatus"))
        return 0;
    return check_word("taskStatus", token->value,
                      fields[record_field_index(RECORD_TASK, STR("status"))].words, err);
}

static int check_id(const struct token *token, struct err *err)
{
    if (record_id_valid(token->value))
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "\"%.*s\" is no id; one has 1 to %d letters, digits, '-', '_' and '.'",
                   STR_ARG(utf8_truncate(token->value, 60)), RECORD_ID_MAX);
}

static int check_token(const struct subscription *s, const struct token *token, struct err *err)
{
    if (token_check(token, err) < 0)
        return -1;
    if (token->class == TOKEN_SUBTYPE)
        return check_subtype(s, token, err);
    if (token->class == TOKEN_ENTITY_ID)
        return s->source == WAKE_JOURNAL ? check_id(token, err) : 0;
    if (token->class == TOKEN_SEMANTIC_KEY && key_source(token->value) != s->source)
        return err_set(err, ERR_BAD_REQUEST, "the source %s has no changes of the key %.*s; %s has",
                       wake_source_name(s->source), STR_ARG(token->value),
                       wake_source_name(key_source(token->value)));
    return 0;
}

static int check_tokens(const struct subscription *s, struct err *err)
{
    bool wanted = s->source == WAKE_JOURNAL || s->source == WAKE_AGENT;

    if (!wanted && s->token_count)
        return err_set(err, ERR_BAD_REQUEST, "tokens are for the sources journal and agent, not %s",
                       wake_source_name(s->source));
    if (wanted && !s->token_count)
        return err_set(err, ERR_BAD_REQUEST,
                       "at least one token is needed, such as the semantic key TASK");
    if (s->token_count > SUBSCRIPTION_TOKENS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "%zu tokens; at most %d are allowed", s->token_count,
                       SUBSCRIPTION_TOKENS_MAX);
    for (size_t i = 0; i < s->token_count; i++) {
        if (check_token(s, &s->tokens[i], err) < 0)
            return err_wrap(err, "token %zu", i + 1);
    }
    return 0;
}

const char *subscription_key(const struct subscription *s, struct arena *arena)
{
    if (s->source == WAKE_FILES || s->source == WAKE_WEBHOOK)
        return s->source == WAKE_FILES ? "FILE" : "WEBHOOK";
    for (size_t i = 0; i < s->token_count; i++) {
        if (s->tokens[i].class == TOKEN_SEMANTIC_KEY)
            return arena_copy(arena, s->tokens[i].value.p, s->tokens[i].value.n);
    }
    return NULL;
}

/* ---- the rest ---- */

static int check_predicate(const struct subscription *s, struct err *err)
{
    AUTO(predicate) predicate = NULL;

    if (s->source != WAKE_JOURNAL && s->predicate.n)
        return err_set(err, ERR_BAD_REQUEST,
                       "a predicate is for records of the journal; the source is %s",
                       wake_source_name(s->source));
    if (predicate_parse(s->predicate, &predicate, err) < 0)
        return err_wrap(err, "predicate");
    return 0;
}

static int check_folder(const struct subscription *s, struct err *err)
{
    struct str rest = s->folder, name;

    if (s->source != WAKE_FILES && (s->folder.n || s->glob.n))
        return err_set(err, ERR_BAD_REQUEST, "folder and glob are for the source files, not %s",
                       wake_source_name(s->source));
    if (s->source != WAKE_FILES)
        return 0;
    if (s->folder.n < 2 || s->folder.p[0] != '/' || s->folder.n > LIMIT_PATH_BYTES ||
        memchr(s->folder.p, '\0', s->folder.n))
        return err_set(err, ERR_BAD_REQUEST,
                       "folder \"%.*s\": the absolute path of a folder is needed, such as "
                       "/home/ann/inbox",
                       s->folder.n > 200 ? 200 : (int)s->folder.n, s->folder.p ? s->folder.p : "");
    rest = str_skip(rest, 1);
    while (str_split(&rest, '/', &name)) {
        if (!name.n || str_is(name, ".") || str_is(name, ".."))
            return err_set(
                err, ERR_BAD_REQUEST,
                "folder \"%.*s\": a path without empty names, \".\" and \"..\" is needed",
                s->folder.n > 200 ? 200 : (int)s->folder.n, s->folder.p);
    }
    if (s->glob.n > SUBSCRIPTION_GLOB_MAX || (s->glob.n && memchr(s->glob.p, '/', s->glob.n)))
        return err_set(err, ERR_BAD_REQUEST,
                       "glob: a pattern for names without a slash, of at most %d bytes",
                       SUBSCRIPTION_GLOB_MAX);
    return 0;
}

static int check_times(const struct subscription *s, struct err *err)
{
    const struct active_hours *h = &s->hours;

    if (s->cooldown_ms < 0 || s->cooldown_ms > SUBSCRIPTION_COOLDOWN_MAX)
        return err_set(err, ERR_BAD_REQUEST, "a cooldown is 0 to %lld seconds",
                       (long long)(SUBSCRIPTION_COOLDOWN_MAX / 1000));
    if (h->set && (h->from_min < 0 || h->from_min >= 1440 || h->to_min < 0 || h->to_min > 1440 ||
                   h->from_min == h->to_min))
        return err_set(err, ERR_BAD_REQUEST, "active hours are two different times of the day");
    return 0;
}

int subscription_check(struct subscription *s, struct err *err)
{
    if (!s->source)
        return err_set(err, ERR_BAD_REQUEST,
                       "the source is missing: journal, agent, files or webhook");
    if (!s->authors)
        s->authors = 1u << CHANGE_BY_HUMAN;
    if (s->authors & ~AUTHORS_ALL)
        return err_set(err, ERR_BAD_REQUEST, "authors are human, agent, sync and self");
    if (s->name.n && agent_name_check("the subscription's name", s->name, err) < 0)
        return -1;
    if (agent_text_check("the prompt", s->prompt, SUBSCRIPTION_PROMPT_MAX, err) < 0)
        return -1;
    if (check_tokens(s, err) < 0 || check_predicate(s, err) < 0 || check_folder(s, err) < 0)
        return -1;
    return check_times(s, err);
}

/* Tokens: what a change is about, in three classes, for those who wait for changes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CHANGE_TOKEN_H
#define DORMOUSE_CHANGE_TOKEN_H

#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum token_class {
    TOKEN_CLASS_NONE = 0,
    TOKEN_SEMANTIC_KEY, /* TASK, WORKOUT ... */
    TOKEN_SUBTYPE,      /* namespace and value: workoutType running */
    TOKEN_ENTITY_ID,
};
const char *token_class_name(enum token_class class); /* "semanticKey" */
enum token_class token_class_of(struct str name);

struct token {
    enum token_class class;
    struct str name_space; /* of a subtype, and of nothing else */
    struct str value;
};

/* The semantic keys there are (CONTRACTS §8), ending with NULL. */
extern const char *const token_semantic_keys[];
/* The namespaces of subtypes that changes of the journal have, ending with NULL. */
extern const char *const token_namespaces[];

#define TOKEN_VALUE_MAX     200 /* bytes */
#define TOKEN_NAMESPACE_MAX 100
#define TOKENS_MAX          30000 /* of one list */

/* A namespace exactly for subtypes; a semantic key that there is; value 1 to 200 bytes of printable
 * UTF-8 without '|'; namespace of letters, digits, '.', '-', '_'. Else bad_request. */
int token_check(const struct token *token, struct err *err);
/* "class|namespace or -|value" */
void token_key(const struct token *token, struct buf *out);
/* As people write and read them: "k:TASK", "id:ID", "sub:NAMESPACE:VALUE". Anything else is
 * refused, saying what it was and what is allowed; nothing is guessed. Texts point into text. */
int token_parse_text(struct str text, struct token *ret_token, struct err *err);
void token_text(const struct token *token, struct buf *out);

/* Sorts them by key and drops repetitions; how many remain. */
size_t tokens_unique(struct token *tokens, size_t n);
/* [["semanticKey",null,"TASK"],...]: sorted by key, each once. Of checked tokens, at most
 * TOKENS_MAX different ones. */
struct str tokens_json(const struct token *tokens, size_t n, struct arena *arena);
/* What tokens_json() writes, in any order. Each is checked; texts are copied. */
int tokens_parse(struct str json, struct arena *arena, struct token **ret_tokens, size_t *ret_n,
                 struct err *err);

#endif

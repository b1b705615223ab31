/* Redaction: secrets are replaced by a mark before text is logged, stored or shown.
 *
 * Two things are looked for. Values that were registered, as they are and in the forms they take
 * inside other text (base64 in all three alignments, percent-encoded, JSON-escaped). And what
 * looks like a secret: keys of well-known services by their prefix, JSON Web Tokens, private
 * keys, credentials in headers, cookies, URLs, .netrc and flags of tools, and the value of a key
 * or element with a telling name (`password=`, "api_key": "…", TOKEN=… and so on).
 *
 * The work is linear in the text, the result is at most four times as long plus one mark, and
 * redacting it again changes nothing. All of it may be called from any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_REDACT_H
#define DORMOUSE_BASE_REDACT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

struct json_object;

#define REDACT_MARK        "***REDACTED***"
#define REDACT_SECRETS_MAX 256
#define REDACT_SECRET_MIN  6 /* bytes; a shorter one would blot out ordinary text */
#define REDACT_SECRET_MAX  4096

/* Appends text to out without its secrets. -1 when out is full: out then holds a redacted
 * front. */
int redact(struct str text, struct buf *out);

/* The same for a text that a person decides about: what is taken out are registered values and
 * pieces of letters and digits that mean nothing. What could be read or run stays, whatever name it
 * stands under. */
int redact_shown(struct str text, struct buf *out);

/* Whether text surely holds a secret: a registered one, a token of a known form or a private key.
 * What redact() takes out on suspicion, because of the name it stands under, does not count. */
bool redact_finds(struct str text);

/* From now on this value is a secret; a copy is held in memory until it is forgotten as often as
 * it was registered. -1 when it is shorter or longer than allowed or too many are held. */
int redact_register(struct str secret);
void redact_forget(struct str secret);
/* Wipes all of them. */
void redact_forget_all(void);

/* Whether a value under this name is a secret by its name alone: "password", "X-Api-Key",
 * "clientSecret", but not "max_tokens", "secret_ref" or "nextPageToken". */
bool redact_key(struct str key);

/* A deep copy, for the caller to put: strings redacted, scalars under a telling key replaced,
 * also a `value` beside a `name` that tells; member names redacted like any text. NULL for NULL.
 * Stops descending at
 * LIMIT_JSON_DEPTH, where the rest becomes the mark. */
struct json_object *redact_json(struct json_object *value);

#endif

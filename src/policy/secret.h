/* Secrets: named, kept where only the owner can read them, and given out to the one place that
 * sends them.
 *
 * Stores, in this order: the desktop's Secret Service (libsecret, opened when used), else a sealed
 * file DATA/secrets (libsodium; its key from $DORMOUSE_MASTER_KEY_FILE or DATA/secrets.key, made at
 * first use with mode 0600). A key file that is named is a choice: then the Secret Service is left
 * alone. Reading looks into both, so that what was set without a desktop is still found with one; a
 * name that is set goes to the first and out of the other. Everything else knows names only.
 *
 * The calls block: the sealed file for a moment, the Secret Service for at most
 * SECRET_SERVICE_MS (a person may have to unlock it). Values that were given out or set are
 * registered with base/redact.h, so that no log or event shows them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_POLICY_SECRET_H
#define DORMOUSE_POLICY_SECRET_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define SECRET_NAME_MAX   64 /* letters, digits, - _ . ; begins with a letter or digit */
#define SECRET_VALUE_MAX  8192
#define SECRET_COUNT_MAX  256 /* in the sealed file */
#define SECRET_SERVICE_MS 20000

struct secrets;

/* Nothing is opened before the first use. Never NULL. */
struct secrets *secrets_new(const char *data_dir);
void secrets_free(struct secrets *secrets);
AUTO_DEFINE(secrets)

/* Where they are kept, for people: "Secret Service (login)", "sealed file DATA/secrets with key
 * DATA/secrets.key". */
int secrets_where(struct secrets *secrets, struct buf *out, struct err *err);
/* The name in the form above? Else bad_request. */
int secrets_check_name(const char *name, struct err *err);
/* Replaces. Empty values, NUL and values over the maximum are refused. */
int secrets_set(struct secrets *secrets, const char *name, struct str value, struct err *err);
/* Appends the value; secret_unavailable names it and `dormouse secret set NAME`. Clear out with
 * secrets_wipe() after use. */
int secrets_get(struct secrets *secrets, const char *name, struct buf *out, struct err *err);
/* Lets base/redact.h know the value if it is in the sealed file, so that no tool shows it before
 * its first use. Nobody is asked to unlock anything. */
void secrets_recognise(struct secrets *secrets, const char *name);
/* not_found when there is none. */
int secrets_remove(struct secrets *secrets, const char *name, struct err *err);
/* Names in order. */
int secrets_list(struct secrets *secrets, void (*fn)(void *arg, const char *name), void *arg,
                 struct err *err);
/* Overwrites and releases. */
void secrets_wipe(struct buf *value);

#endif

/* Errors: a code that programs test, and a chain of causes that people read.
 *
 * A function that can fail returns a negative number and fills the struct err that its caller
 * passed last; on success it does not touch it. Each caller on the way up may add what it was
 * doing with err_wrap(). The struct holds its text, so nothing is allocated and nothing is freed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_ERR_H
#define DORMOUSE_BASE_ERR_H

#include <stdarg.h>
#include <stdint.h>

/* name, HTTP status, sentence for people. The names are part of the API. */
#define ERR_CODES(X)                                                                               \
    X(BAD_REQUEST, "bad_request", 400, "The request was not understood.")                          \
    X(UNAUTHORIZED, "unauthorized", 401, "A valid token is needed.")                               \
    X(NOT_FOUND, "not_found", 404, "There is no such thing here.")                                 \
    X(CONFLICT, "conflict", 409, "This does not fit with what is already there.")                  \
    X(VERSION_CONFLICT, "version_conflict", 409, "It was changed by someone else meanwhile.")      \
    X(TOO_LARGE, "too_large", 413, "It is larger than allowed.")                                   \
    X(SCHEMA_VIOLATION, "schema_violation", 422, "The data does not have the agreed form.")        \
    X(OUT_OF_SCOPE, "out_of_scope", 403, "The agent may not touch this.")                          \
    X(CAPABILITY_DENIED, "capability_denied", 403, "The agent was not given this ability.")        \
    X(CONFIRMATION_REQUIRED, "confirmation_required", 403, "A person has to confirm this first.")  \
    X(BUDGET_EXCEEDED, "budget_exceeded", 429, "The budget for this is used up.")                  \
    X(UNSAFE_TARGET, "unsafe_target", 403, "The target is not safe to act on.")                    \
    X(MODEL_NOT_ALLOWED, "model_not_allowed", 403, "This model is not allowed here.")              \
    X(NETWORK_DENIED, "network_denied", 403, "This network address is not allowed.")               \
    X(PRIVACY_CONFIRMATION_REQUIRED, "privacy_confirmation_required", 403,                         \
      "A person has to agree to this provider's privacy terms first.")                             \
    X(SECRET_UNAVAILABLE, "secret_unavailable", 403, "A secret that this needs is not set.")       \
    X(AGENT_DESTROYED, "agent_destroyed", 409, "The agent no longer exists.")                      \
    X(AGENT_PAUSED, "agent_paused", 409, "The agent is paused.")                                   \
    X(KILL_SWITCH_ACTIVE, "kill_switch_active", 403, "The emergency stop is on.")                  \
    X(MISSING_CHANGE_PROVENANCE, "missing_change_provenance", 422,                                 \
      "The change does not say where it came from.")                                               \
    X(ITERATIONS_EXCEEDED, "iterations_exceeded", 429, "The allowed number of rounds is used up.") \
    X(RESUME_CONFLICT, "resume_conflict", 409, "It can't be resumed from this point.")             \
    X(REJECTED, "rejected", 403, "A person said no.")                                              \
    X(EXPIRED, "expired", 409, "It waited too long and has expired.")                              \
    X(WITHDRAWN, "withdrawn", 409, "The question was taken back.")                                 \
    X(RATE_LIMITED, "rate_limited", 429, "Too many requests; try again later.")                    \
    X(LEASE_LOST, "lease_lost", 409, "Another process has taken this over.")                       \
    X(WAKE_REASON_DENIED, "wake_reason_denied", 403, "This may not be done for such a wake.")      \
    X(CONTEXT_TOO_LONG, "context_too_long", 413, "The text is too long for the model.")            \
    X(INTEGRITY_FAILED, "integrity_failed", 500, "Stored data is damaged or was altered.")         \
    X(EFFECT_UNKNOWN, "effect_unknown", 409, "It is not known whether this was done.")             \
    X(PATH_DENIED, "path_denied", 403, "This path is not allowed.")                                \
    X(SANDBOX_UNAVAILABLE, "sandbox_unavailable", 503, "This system can't isolate commands.")      \
    X(TIMEOUT, "timeout", 504, "It took too long.")                                                \
    X(CANCELLED, "cancelled", 409, "It was cancelled.")                                            \
    X(STORAGE_FAILED, "storage_failed", 503,                                                       \
      "It is not known whether this was saved; try again with the same key.")                      \
    X(PROVIDER_FAILED, "provider_failed", 502, "The other side failed.")                           \
    X(INTERNAL, "internal", 500, "Something went wrong inside Dormouse.")

enum err_code {
    ERR_NONE = 0,
#define X(id, name, status, sentence) ERR_##id,
    ERR_CODES(X)
#undef X
        ERR_CODE_COUNT
};

#define ERR_TEXT_MAX  960
#define ERR_DEPTH_MAX 8

/* Messages lie one after the other in text, innermost first, each with its NUL. When text or
 * depth is used up, further context is dropped and `cut` says so. */
struct err {
    enum err_code code;
    uint8_t depth;
    uint8_t cut;
    uint16_t used;
    char text[ERR_TEXT_MAX];
};

#define ERR_INIT ((struct err){ .code = ERR_NONE })

/* Both return -1, so that a failing function can end with `return err_set(...)`. err may be
 * NULL when the caller wants no detail. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int err_set_v(struct err *err, enum err_code code, const char *fmt, va_list args);
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__ /* so that it follows no path on which they return anything else */
#define err_set(...)   ((err_set)(__VA_ARGS__), -1)
#define err_set_v(...) ((err_set_v)(__VA_ARGS__), -1)
#define err_wrap(...)  ((err_wrap)(__VA_ARGS__), -1)
#endif

void err_reset(struct err *err);
/* The i-th message, 0 = outermost context; NULL past the innermost cause. */
const char *err_message(const struct err *err, unsigned i);
/* "outer: inner: innermost" into out (NUL-terminated, cut to size); returns out. */
const char *err_format(const struct err *err, char *out, unsigned size);

const char *err_name(enum err_code code);
const char *err_sentence(enum err_code code);
int err_http_status(enum err_code code);
/* ERR_NONE when there is no such name. */
enum err_code err_from_name(const char *name);

#endif

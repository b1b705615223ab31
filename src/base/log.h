/* Structured logging: one line an event, with typed fields.
 *
 *     LOG_INFO("serve", "listening", LOG_TEXT("address", address), LOG_I64("port", port));
 *
 * A terminal gets readable text, in colour unless NO_COLOR is set; anything else gets JSON lines.
 * Every message, string and error passes redaction, and a field with a telling name (`token`)
 * never shows its value. A field whose name the line has already gets a number: `port_2`. A line is
 * one write(2) of at most LOG_LINE_MAX bytes, which pipes take whole, so lines of several threads
 * or processes do not mix. When the reader is slow and the descriptor does not block, lines are
 * dropped and counted, and the next line says how many.
 *
 * Either log or return an error, never both.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_LOG_H
#define DORMOUSE_BASE_LOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

enum log_level {
    LOG_LEVEL_UNSET = 0,
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_INFO,
    LOG_LEVEL_WARN,
    LOG_LEVEL_ERROR,
    LOG_LEVEL_OFF,
};

enum log_format {
    LOG_FORMAT_AUTO = 0, /* TEXT on a terminal, JSON otherwise */
    LOG_FORMAT_TEXT,
    LOG_FORMAT_JSON,
};

#define LOG_LINE_MAX  4096 /* PIPE_BUF */
#define LOG_VALUE_MAX 1024 /* bytes of one string shown; then it is cut and ends in … */

struct log {
    int fd;
    enum log_level level;
    enum log_format format; /* not AUTO once opened */
    bool colour;
    struct clock *clock;
    uint64_t dropped; /* lines since the last one written */
    bool torn;        /* the last line went out in part */
    pthread_mutex_t lock;
};

struct log_config {
    int fd;
    enum log_level level;   /* UNSET: from DORMOUSE_LOG, else INFO */
    enum log_format format; /* AUTO: DORMOUSE_LOG_FORMAT, else by fd */
    struct clock *clock;    /* NULL: the system's */
};

/* Fills log. Fails with ERR_BAD_REQUEST, and the allowed words, when DORMOUSE_LOG or
 * DORMOUSE_LOG_FORMAT is asked and makes no sense. fd stays the caller's. */
int log_open(struct log *log, const struct log_config *config, struct err *err);
int log_level_parse(struct str name, enum log_level *ret_level, struct err *err);
int log_format_parse(struct str name, enum log_format *ret_format, struct err *err);
const char *log_level_name(enum log_level level);

/* The log that the macros write to: standard error at INFO until main() gives it another one,
 * which must live as long as the process. NULL goes back to standard error. */
void log_use(struct log *log);
struct log *log_current(void);

enum log_type {
    LOG_TYPE_NONE = 0,
    LOG_TYPE_STR,
    LOG_TYPE_I64,
    LOG_TYPE_U64,
    LOG_TYPE_F64,
    LOG_TYPE_BOOL,
    LOG_TYPE_ERR,
};

struct log_field {
    const char *key;
    enum log_type type;
    union {
        struct str s;
        int64_t i;
        uint64_t u;
        double f;
        bool b;
        const struct err *err;
    };
};

#define LOG_STR(k, v)                                                                              \
    {                                                                                              \
        .key = (k), .type = LOG_TYPE_STR, .s = (v)                                                 \
    }
/* NULL shows as an empty string. */
#define LOG_TEXT(k, v)                                                                             \
    {                                                                                              \
        .key = (k), .type = LOG_TYPE_STR, .s = str_from(v)                                         \
    }
#define LOG_I64(k, v)                                                                              \
    {                                                                                              \
        .key = (k), .type = LOG_TYPE_I64, .i = (v)                                                 \
    }
#define LOG_U64(k, v)                                                                              \
    {                                                                                              \
        .key = (k), .type = LOG_TYPE_U64, .u = (v)                                                 \
    }
#define LOG_F64(k, v)                                                                              \
    {                                                                                              \
        .key = (k), .type = LOG_TYPE_F64, .f = (v)                                                 \
    }
#define LOG_BOOL(k, v)                                                                             \
    {                                                                                              \
        .key = (k), .type = LOG_TYPE_BOOL, .b = (v)                                                \
    }
/* Its code and its whole chain of causes, as `code` and `error`. */
#define LOG_ERR(e)                                                                                 \
    {                                                                                              \
        .key = "error", .type = LOG_TYPE_ERR, .err = (e)                                           \
    }

/* Writes one line; does nothing when level is below the log's. Keeps errno. */
void log_write(struct log *log, enum log_level level, const char *component, const char *message,
               const struct log_field *fields, size_t n);

/* The arguments of a line that is not shown are not evaluated. */
#define LOG_TO(log_, level_, component_, message_, ...)                                            \
    do {                                                                                           \
        struct log *to_ = (log_);                                                                  \
        if ((level_) >= to_->level) {                                                              \
            const struct log_field fields_[] = { { .key = NULL }, __VA_ARGS__ };                   \
            log_write(to_, (level_), (component_), (message_), fields_ + 1,                        \
                      sizeof(fields_) / sizeof(fields_[0]) - 1);                                   \
        }                                                                                          \
    } while (0)
#define LOG_DEBUG(...) LOG_TO(log_current(), LOG_LEVEL_DEBUG, __VA_ARGS__)
#define LOG_INFO(...)  LOG_TO(log_current(), LOG_LEVEL_INFO, __VA_ARGS__)
#define LOG_WARN(...)  LOG_TO(log_current(), LOG_LEVEL_WARN, __VA_ARGS__)
#define LOG_ERROR(...) LOG_TO(log_current(), LOG_LEVEL_ERROR, __VA_ARGS__)

#endif

/* Log lines: text for people, JSON for programs.
 *
 * A line is put together in a buffer of fixed size. Fields that no longer fit are left out and
 * the line says so, hence a JSON line is whole in any case. Values are redacted first and cut
 * afterwards: a secret that is cut in two would no longer be recognised.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/redact.h"
#include "base/timefmt.h"
#include "base/utf8.h"

#define TAIL_ROOM      64            /* for "cut" and "dropped" at the end of a line */
#define VALUE_READ_MAX (64u * 1024u) /* bytes of a value that are looked at */

static struct log log_stderr = {
    .fd = 2,
    .level = LOG_LEVEL_INFO,
    .format = LOG_FORMAT_JSON,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};
static struct log *current = &log_stderr;

void log_use(struct log *log)
{
    __atomic_store_n(&current, log ? log : &log_stderr, __ATOMIC_RELEASE);
}

struct log *log_current(void)
{
    return __atomic_load_n(&current, __ATOMIC_ACQUIRE);
}

static const char *const level_names[] = {
    [LOG_LEVEL_DEBUG] = "debug", [LOG_LEVEL_INFO] = "info", [LOG_LEVEL_WARN] = "warn",
    [LOG_LEVEL_ERROR] = "error", [LOG_LEVEL_OFF] = "off",
};

const char *log_level_name(enum log_level level)
{
    return level > LOG_LEVEL_UNSET && level <= LOG_LEVEL_OFF ? level_names[level] : "unset";
}

int log_level_parse(struct str name, enum log_level *ret_level, struct err *err)
{
    for (int level = LOG_LEVEL_DEBUG; level <= LOG_LEVEL_OFF; level++)
        if (str_eq_nocase(name, str_from(level_names[level]))) {
            *ret_level = (enum log_level)level;
            return 0;
        }
    return err_set(err, ERR_BAD_REQUEST,
                   "log level \"%.*s\" is unknown; allowed: debug, info, warn, error, off",
                   STR_ARG(str_take(name, 64)));
}

int log_format_parse(struct str name, enum log_format *ret_format, struct err *err)
{
    if (str_eq_nocase(name, STR("auto")))
        *ret_format = LOG_FORMAT_AUTO;
    else if (str_eq_nocase(name, STR("text")))
        *ret_format = LOG_FORMAT_TEXT;
    else if (str_eq_nocase(name, STR("json")))
        *ret_format = LOG_FORMAT_JSON;
    else
        return err_set(err, ERR_BAD_REQUEST,
                       "log format \"%.*s\" is unknown; allowed: auto, text, json",
                       STR_ARG(str_take(name, 64)));
    return 0;
}

int log_open(struct log *log, const struct log_config *config, struct err *err)
{
    const char *level_text = getenv("DORMOUSE_LOG"), *format_text = getenv("DORMOUSE_LOG_FORMAT");
    const char *no_colour = getenv("NO_COLOR");
    enum log_level level = config->level;
    enum log_format format = config->format;

    if (level == LOG_LEVEL_UNSET && level_text && *level_text &&
        log_level_parse(str_from(level_text), &level, err) < 0)
        return err_wrap(err, "environment variable DORMOUSE_LOG");
    if (format == LOG_FORMAT_AUTO && format_text && *format_text &&
        log_format_parse(str_from(format_text), &format, err) < 0)
        return err_wrap(err, "environment variable DORMOUSE_LOG_FORMAT");
    if (format == LOG_FORMAT_AUTO)
        format = isatty(config->fd) ? LOG_FORMAT_TEXT : LOG_FORMAT_JSON;
    *log = (struct log){
        .fd = config->fd,
        .level = level == LOG_LEVEL_UNSET ? LOG_LEVEL_INFO : level,
        .format = format,
        .colour = isatty(config->fd) && !(no_colour && *no_colour),
        .clock = config->clock ? config->clock : clock_system(),
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    return 0;
}

enum quoting { UNQUOTED, QUOTED, JSON };

/* One code point, escaped where a terminal or a parser would take it for more than text. */
static void add_escaped(struct buf *out, uint32_t code, enum quoting quoting)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";

    for (size_t i = quoting == UNQUOTED ? 4 : 0; i < sizeof(named) - 1; i += 2)
        if (code == (uint32_t)named[i]) {
            buf_printf(out, "\\%c", named[i + 1]);
            return;
        }
    switch (utf8_oddity_of(code)) {
    case UTF8_CONTROL:
    case UTF8_BIDI:
        if (quoting == JSON)
            buf_printf(out, "\\u%04x", code);
        else
            buf_printf(out, code < 0x100 ? "\\x%02x" : "\\u%04x", code);
        return;
    default:
        buf_add_utf8(out, code);
    }
}

/* Bytes at the front that need no look: ASCII without controls, quotes and backslashes. */
static size_t plain_run(struct str s)
{
    size_t n = 0;

    while (n < s.n && s.p[n] >= ' ' && s.p[n] < 0x7F && s.p[n] != '"' && s.p[n] != '\\')
        n++;
    return n;
}

/* Valid UTF-8, cut to LOG_VALUE_MAX and escaped. */
static void add_clean(struct buf *out, struct str text, enum quoting quoting)
{
    size_t from = out->n;

    while (text.n && !out->full) {
        size_t left = LOG_VALUE_MAX - (out->n - from), run = plain_run(text);
        uint32_t code = UTF8_REPLACEMENT;

        if (out->n - from >= LOG_VALUE_MAX) {
            buf_add_text(out, "…");
            return;
        }
        if (run) {
            run = run < left ? run : left;
            buf_add(out, text.p, run);
            text = str_skip(text, run);
            continue;
        }
        utf8_decode(&text, &code);
        add_escaped(out, code, quoting);
    }
}

static void add_value(struct buf *out, struct str text, enum quoting quoting)
{
    AUTO_BUF clean = BUF_INIT(4 * VALUE_READ_MAX + sizeof(REDACT_MARK));

    redact(str_take(text, VALUE_READ_MAX), &clean);
    add_clean(out, buf_str(&clean), quoting);
}

static void add_number(struct buf *out, double value)
{
    char text[40];

    if (!isfinite(value)) {
        buf_add_text(out, isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    buf_add_text(out, text);
}

static bool needs_quotes(struct str s)
{
    if (s.n == 0)
        return true;
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || strchr("\"=\\", s.p[i]))
            return true;
    return false;
}

static void add_string(struct buf *out, struct str value, bool json)
{
    bool quotes = json || needs_quotes(value);

    if (quotes)
        buf_add_char(out, '"');
    add_value(out, value, json ? JSON : quotes ? QUOTED : UNQUOTED);
    if (quotes)
        buf_add_char(out, '"');
}

static void add_field_value(struct buf *out, const struct log_field *field, bool json)
{
    if (redact_key(str_from(field->key)) && field->type != LOG_TYPE_BOOL) {
        add_string(out, STR(REDACT_MARK), json);
        return;
    }
    switch (field->type) {
    case LOG_TYPE_STR:
        add_string(out, field->s, json);
        break;
    case LOG_TYPE_I64:
        buf_printf(out, "%lld", (long long)field->i);
        break;
    case LOG_TYPE_U64:
        buf_printf(out, "%llu", (unsigned long long)field->u);
        break;
    case LOG_TYPE_F64:
        add_number(out, field->f);
        break;
    case LOG_TYPE_BOOL:
        buf_add_text(out, field->b ? "true" : "false");
        break;
    case LOG_TYPE_ERR:
    case LOG_TYPE_NONE:
        break;
    }
}

struct line {
    struct buf text;
    bool json;
    bool colour;
    bool cut;
};

static void add_key(struct line *line, const char *key)
{
    if (line->json) {
        buf_add_text(&line->text, ",\"");
        add_clean(&line->text, str_from(key), JSON);
        buf_add_text(&line->text, "\":");
        return;
    }
    buf_add_text(&line->text, line->colour ? " \033[2m" : " ");
    add_clean(&line->text, str_from(key), UNQUOTED);
    buf_add_text(&line->text, line->colour ? "=\033[0m" : "=");
}

/* Undone when it does not fit. */
static void add_field(struct line *line, const struct log_field *field)
{
    size_t before = line->text.n;

    if (field->type == LOG_TYPE_ERR) {
        char text[ERR_TEXT_MAX + 64];
        struct log_field code = LOG_TEXT("code", err_name(field->err->code));
        struct log_field chain = LOG_TEXT("error", err_format(field->err, text, sizeof(text)));

        add_field(line, &code);
        add_field(line, &chain);
        return;
    }
    if (field->type == LOG_TYPE_NONE)
        return;
    add_key(line, field->key);
    add_field_value(&line->text, field, line->json);
    if (line->text.full) {
        line->text.full = false;
        line->text.n = before;
        line->cut = true;
    }
}

static void add_head(struct line *line, int64_t now, enum log_level level, const char *component,
                     const char *message)
{
    static const char *const colours[] = { [LOG_LEVEL_DEBUG] = "\033[2m",
                                           [LOG_LEVEL_INFO] = "\033[32m",
                                           [LOG_LEVEL_WARN] = "\033[33m",
                                           [LOG_LEVEL_ERROR] = "\033[31m",
                                           [LOG_LEVEL_OFF] = "" };
    char time[TIMEFMT_SIZE];

    timefmt_rfc3339(now, time);
    if (line->json) {
        buf_printf(&line->text, "{\"at\":\"%s\",\"level\":\"%s\",\"component\":", time,
                   log_level_name(level));
        add_string(&line->text, str_from(component), true);
        buf_add_text(&line->text, ",\"message\":");
        add_string(&line->text, str_from(message), true);
        return;
    }
    buf_printf(&line->text, "%s %s%-5s%s ", time, line->colour ? colours[level] : "",
               log_level_name(level), line->colour ? "\033[0m" : "");
    add_value(&line->text, str_from(component), UNQUOTED);
    buf_add_text(&line->text, ": ");
    add_value(&line->text, str_from(message), UNQUOTED);
}

static void add_tail(struct line *line, uint64_t dropped)
{
    line->text.max += TAIL_ROOM;
    if (line->cut)
        buf_add_text(&line->text, line->json ? ",\"cut\":true" : " cut=true");
    if (dropped)
        buf_printf(&line->text, line->json ? ",\"dropped\":%llu" : " dropped=%llu",
                   (unsigned long long)dropped);
    buf_add_text(&line->text, line->json ? "}\n" : "\n");
}

/* A part that did not go out is tried again only after an interrupt: waiting for a slow reader
 * would stop the loop. */
static void send_line(struct log *log, struct str text)
{
    ssize_t n;

    do
        n = write(log->fd, text.p, text.n);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        log->dropped++;
    else
        log->dropped = 0;
}

void log_write(struct log *log, enum log_level level, const char *component, const char *message,
               const struct log_field *fields, size_t n)
{
    struct line line = { .json = log->format == LOG_FORMAT_JSON, .colour = log->colour };
    struct clock *clock = log->clock ? log->clock : clock_system();
    int saved = errno;

    if (level < log->level || level == LOG_LEVEL_OFF)
        return;
    line.text = BUF_INIT(LOG_LINE_MAX - TAIL_ROOM);
    add_head(&line, clock_wall_ms(clock), level, component, message);
    for (size_t i = 0; i < n; i++)
        add_field(&line, &fields[i]);
    pthread_mutex_lock(&log->lock);
    add_tail(&line, log->dropped);
    send_line(log, buf_str(&line.text));
    pthread_mutex_unlock(&log->lock);
    buf_release(&line.text);
    errno = saved;
}

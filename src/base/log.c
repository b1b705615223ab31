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
#include "base/redact_int.h"
#include "base/timefmt.h"
#include "base/utf8.h"

#define TAIL_ROOM      64 /* for "cut" and "dropped" at the end of a line */
#define FIELDS_MAX     64 /* of a line; further ones are left out like those that don't fit */
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

#define NUMBER_SIZE 40

static void format_double(double value, char text[NUMBER_SIZE])
{
    if (!isfinite(value)) {
        snprintf(text, NUMBER_SIZE, "%s",
                 isnan(value) ? "\"nan\""
                 : value > 0  ? "\"inf\""
                              : "\"-inf\"");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
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
    AUTO_BUF clean = BUF_INIT(4 * NUMBER_SIZE + sizeof(REDACT_MARK));
    char number[NUMBER_SIZE];

    if (field->type == LOG_TYPE_STR) {
        add_string(out, field->s, json);
        return;
    }
    if (field->type == LOG_TYPE_BOOL) {
        buf_add_text(out, field->b ? "true" : "false");
        return;
    }
    if (field->type == LOG_TYPE_I64)
        snprintf(number, sizeof(number), "%lld", (long long)field->i);
    else if (field->type == LOG_TYPE_U64)
        snprintf(number, sizeof(number), "%llu", (unsigned long long)field->u);
    else
        format_double(field->f, number);
    /* The digits may be a registered secret. */
    redact(str_from(number), &clean);
    if (str_is(buf_str(&clean), number))
        buf_add_text(out, number);
    else
        add_string(out, STR(REDACT_MARK), json);
}

struct line {
    struct buf text;
    const char *keys[FIELDS_MAX]; /* written so far */
    size_t key_count;
    bool json;
    bool colour;
    bool cut;
};

/* A name that the line has already, of itself or by an earlier field, would make two members of
 * one name: parsers refuse that or drop one. */
static bool is_taken(const struct line *line, const char *key)
{
    static const char *const own[] = { "at", "level", "component", "message", "cut", "dropped" };

    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (strcmp(key, own[i]) == 0)
            return true;
    for (size_t i = 0; i < line->key_count; i++)
        if (strcmp(key, line->keys[i]) == 0)
            return true;
    return false;
}

static void add_key(struct line *line, const char *key)
{
    buf_add_text(&line->text, line->json ? ",\"" : line->colour ? " \033[2m" : " ");
    add_value(&line->text, str_from(key), line->json ? JSON : UNQUOTED);
    if (is_taken(line, key))
        buf_printf(&line->text, "_%zu", line->key_count + 1);
    buf_add_text(&line->text, line->json ? "\":" : line->colour ? "=\033[0m" : "=");
    line->keys[line->key_count++] = key;
}

/* Undone when it does not fit. */
static void add_field(struct line *line, const struct log_field *field, bool secret)
{
    size_t before = line->text.n;

    if (line->key_count == FIELDS_MAX) {
        line->cut = true;
        return;
    }
    add_key(line, field->key);
    if ((secret || redact_key(str_from(field->key))) && field->type != LOG_TYPE_BOOL)
        add_string(&line->text, STR(REDACT_MARK), line->json);
    else
        add_field_value(&line->text, field, line->json);
    if (line->text.full) {
        line->text.full = false;
        line->text.n = before;
        line->cut = true;
    }
}

/* The last word of a message that did not fit into the error may be the front of a secret, which
 * is not recognised as one any more. */
static void add_error(struct line *line, const struct err *err)
{
    struct log_field code = LOG_TEXT("code", err_name(err->code));
    AUTO_BUF chain = BUF_INIT(2 * ERR_TEXT_MAX);

    for (unsigned i = 0; i < err->depth; i++) {
        struct str message = str_from(err_message(err, i));
        bool cut = i == 0 && err->cut && err->used == sizeof(err->text);

        while (cut && message.n && message.p[message.n - 1] != ' ')
            message.n--;
        buf_add_text(&chain, i ? ": " : "");
        buf_add_str(&chain, message);
        buf_add_text(&chain, cut ? "…" : "");
    }
    add_field(line, &code, false);
    add_field(line, &(struct log_field)LOG_STR("error", buf_str(&chain)), false);
}

static void add_fields(struct line *line, const struct log_field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct log_field *before = i ? &fields[i - 1] : NULL;

        if (fields[i].type == LOG_TYPE_ERR)
            add_error(line, fields[i].err);
        else if (fields[i].type != LOG_TYPE_NONE)
            add_field(
                line, &fields[i],
                before && before->type == LOG_TYPE_STR &&
                    redact_names_value(str_from(before->key), before->s, str_from(fields[i].key)));
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

/* A line that did not go out is tried again only after an interrupt: waiting for a slow reader
 * would stop the loop. text begins with a newline, which goes out when the line before did so only
 * in part (a socket, a full disk). */
static void send_line(struct log *log, struct str text)
{
    ssize_t n;

    text = str_skip(text, log->torn ? 0 : 1);
    do
        n = write(log->fd, text.p, text.n);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)text.n) {
        log->dropped = 0;
        log->torn = false;
    } else {
        log->dropped++;
        log->torn |= n > 0;
    }
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
    buf_add_char(&line.text, '\n'); /* see send_line() */
    add_head(&line, clock_wall_ms(clock), level, component, message);
    add_fields(&line, fields, n);
    pthread_mutex_lock(&log->lock);
    add_tail(&line, log->dropped);
    send_line(log, buf_str(&line.text));
    pthread_mutex_unlock(&log->lock);
    buf_release(&line.text);
    errno = saved;
}

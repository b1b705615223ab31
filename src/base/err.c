/* Error chains and the table of codes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/err.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *sentence;
    int status;
} err_table[ERR_CODE_COUNT] = { [ERR_NONE] = { "none", "Nothing went wrong.", 200 },
#define X(id, name_, status_, sentence_) [ERR_##id] = { name_, sentence_, status_ },
                                ERR_CODES(X)
#undef X
};

/* How many bytes follow the first one of a character; 0 when it is no first one, or the only one.
 */
static size_t bytes_after(unsigned char first)
{
    return first < 0xC2 || first > 0xF4 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
}

/* Messages quote how something begins: a character that was cut there, or here, is left out. */
static size_t without_cut_characters(char *text, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0, whole; i < n; i += whole) {
        size_t wanted = bytes_after((unsigned char)text[i]);

        for (whole = 1;
             whole <= wanted && i + whole < n && ((unsigned char)text[i + whole] & 0xC0) == 0x80;)
            whole++;
        if (whole <= wanted)
            continue;
        memmove(text + kept, text + i, whole);
        kept += whole;
    }
    text[kept] = '\0';
    return kept;
}

static void err_push(struct err *err, const char *fmt, va_list args)
{
    size_t room = sizeof(err->text) - err->used;
    int n;

    if (err->depth == ERR_DEPTH_MAX || room < 2) {
        err->cut = 1;
        return;
    }
    /* Whoever called began it; the analyzer loses that between two of our functions.
     * NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    n = vsnprintf(err->text + err->used, room, fmt, args);
    if (n < 0)
        n = 0;
    if ((size_t)n >= room) {
        n = (int)room - 1;
        err->cut = 1;
    }
    err->used += (uint16_t)(without_cut_characters(err->text + err->used, (size_t)n) + 1);
    err->depth++;
}

int(err_set_v)(struct err *err, enum err_code code, const char *fmt, va_list args)
{
    if (!err)
        return -1;
    err_reset(err);
    err->code = code;
    err_push(err, fmt, args);
    return -1;
}

int(err_set)(struct err *err, enum err_code code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    err_set_v(err, code, fmt, args);
    va_end(args);
    return -1;
}

int(err_wrap)(struct err *err, const char *fmt, ...)
{
    va_list args;

    if (!err)
        return -1;
    va_start(args, fmt);
    err_push(err, fmt, args);
    va_end(args);
    return -1;
}

void err_reset(struct err *err)
{
    err->code = ERR_NONE;
    err->depth = 0;
    err->cut = 0;
    err->used = 0;
}

const char *err_message(const struct err *err, unsigned i)
{
    const char *p = err->text;

    if (i >= err->depth)
        return NULL;
    for (unsigned skip = err->depth - 1 - i; skip > 0; skip--)
        p += strlen(p) + 1;
    return p;
}

const char *err_format(const struct err *err, char *out, unsigned size)
{
    size_t used = 0;

    if (size == 0)
        return out;
    out[0] = '\0';
    for (unsigned i = 0; i < err->depth && used + 1 < size; i++) {
        int n = snprintf(out + used, size - used, "%s%s", i ? ": " : "", err_message(err, i));

        used += n > 0 ? (size_t)n : 0;
    }
    without_cut_characters(out, strlen(out));
    return out;
}

const char *err_name(enum err_code code)
{
    return code < ERR_CODE_COUNT ? err_table[code].name : err_table[ERR_INTERNAL].name;
}

const char *err_sentence(enum err_code code)
{
    return code < ERR_CODE_COUNT ? err_table[code].sentence : err_table[ERR_INTERNAL].sentence;
}

int err_http_status(enum err_code code)
{
    return code < ERR_CODE_COUNT ? err_table[code].status : err_table[ERR_INTERNAL].status;
}

enum err_code err_from_name(const char *name)
{
    for (int code = ERR_NONE + 1; code < ERR_CODE_COUNT; code++)
        if (strcmp(err_table[code].name, name) == 0)
            return (enum err_code)code;
    return ERR_NONE;
}

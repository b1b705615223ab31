/* Reading and writing content lines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "journal/ics.h"

#include <stdio.h>

#include "base/timefmt.h"
#include "base/utf8.h"
#include "journal/import_int.h"

#define FOLD_AT 75

/* ---- reading ---- */

/* A line with those that go on in it (they begin with a space or a tab). */
static bool unfold(struct ics_reader *r, struct str *ret_text, size_t *ret_number)
{
    struct str line, more;

    *ret_number = r->line + 1;
    if (!import_line(&r->rest, &line))
        return false;
    r->line++;
    *ret_text = line;
    if (!r->rest.n || (r->rest.p[0] != ' ' && r->rest.p[0] != '\t'))
        return true;
    {
        AUTO_BUF whole = BUF_INIT(IMPORT_BYTES_MAX);

        buf_add_str(&whole, line);
        while (r->rest.n && (r->rest.p[0] == ' ' || r->rest.p[0] == '\t') &&
               import_line(&r->rest, &more)) {
            r->line++;
            buf_add_str(&whole, str_skip(more, 1));
        }
        *ret_text = arena_str(r->arena, buf_str(&whole));
    }
    return true;
}

static bool is_name(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

static struct str take_name(struct str *rest)
{
    size_t n = 0;

    while (n < rest->n && is_name(rest->p[n]))
        n++;
    *rest = str_skip(*rest, n);
    return str_of(rest->p - n, n);
}

/* Of a parameter; quoted or up to the next sign that means something. */
static bool take_param_value(struct str *rest, struct str *ret_value)
{
    size_t n = 0;

    if (rest->n && rest->p[0] == '"') {
        *rest = str_skip(*rest, 1);
        while (n < rest->n && rest->p[n] != '"')
            n++;
        if (n == rest->n)
            return false;
        *ret_value = str_take(*rest, n);
        *rest = str_skip(*rest, n + 1);
        return true;
    }
    while (n < rest->n && rest->p[n] != ';' && rest->p[n] != ':')
        n++;
    *ret_value = str_take(*rest, n);
    *rest = str_skip(*rest, n);
    return true;
}

static bool take_params(struct str *rest, struct ics_line *line)
{
    while (rest->n && rest->p[0] == ';') {
        struct ics_param param;

        *rest = str_skip(*rest, 1);
        param.name = take_name(rest);
        if (!param.name.n || !rest->n || rest->p[0] != '=')
            return false;
        *rest = str_skip(*rest, 1);
        if (!take_param_value(rest, &param.value))
            return false;
        while (rest->n && rest->p[0] == ',') { /* only the first of several counts */
            struct str ignored;

            *rest = str_skip(*rest, 1);
            if (!take_param_value(rest, &ignored))
                return false;
        }
        if (line->param_count < ICS_PARAMS_MAX)
            line->params[line->param_count++] = param;
    }
    return true;
}

int ics_next(struct ics_reader *reader, struct ics_line *ret_line)
{
    struct str text;

    *ret_line = (struct ics_line){ .number = 0 };
    do {
        if (!unfold(reader, &text, &ret_line->number))
            return 0;
    } while (!str_trim(text).n);
    ret_line->name = take_name(&text);
    if (!ret_line->name.n || !take_params(&text, ret_line) || !text.n || text.p[0] != ':')
        return -1;
    ret_line->value = str_skip(text, 1);
    return 1;
}

struct str ics_param(const struct ics_line *line, const char *name)
{
    for (size_t i = 0; i < line->param_count; i++)
        if (str_eq_nocase(line->params[i].name, str_from(name)))
            return line->params[i].value;
    return STR_NONE;
}

struct str ics_text(struct str value, struct arena *arena)
{
    char *out;
    size_t n = 0;

    if (str_find_char(value, '\\') < 0)
        return value;
    out = arena_alloc(arena, value.n + 1, 1);
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];

        if (c == '\\' && i + 1 < value.n) {
            c = value.p[++i];
            if (c == 'n' || c == 'N')
                c = '\n';
        }
        out[n++] = c;
    }
    return str_of(out, n);
}

bool ics_split(struct str *rest, struct str *ret_part)
{
    size_t n = 0;

    if (!rest->p)
        return false;
    while (n < rest->n && rest->p[n] != ',')
        n += rest->p[n] == '\\' && n + 1 < rest->n ? 2 : 1;
    *ret_part = str_take(*rest, n);
    *rest = n < rest->n ? str_skip(*rest, n + 1) : STR_NONE;
    return true;
}

/* ---- writing ---- */

static void put_folded(struct buf *out, struct str line)
{
    size_t room = FOLD_AT;

    while (line.n > room) {
        struct str part = utf8_truncate(line, room);

        if (!part.n)
            part = str_take(line, room);
        buf_add_str(out, part);
        buf_add_text(out, "\r\n ");
        line = str_skip(line, part.n);
        room = FOLD_AT - 1; /* the space counts */
    }
    buf_add_str(out, line);
    buf_add_text(out, "\r\n");
}

void ics_put(struct buf *out, const char *name, const char *value)
{
    AUTO_BUF line = BUF_INIT(4096);

    buf_printf(&line, "%s:%s", name, value);
    put_folded(out, buf_str(&line));
}

void ics_put_text(struct buf *out, const char *name, struct str text)
{
    AUTO_BUF line = BUF_INIT(8 * 1024 * 1024);

    buf_printf(&line, "%s:", name);
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == '\\' || c == ';' || c == ',')
            buf_add_char(&line, '\\');
        if (c == '\n')
            buf_add_text(&line, "\\n");
        else if ((unsigned char)c >= ' ' || c == '\t')
            buf_add_char(&line, c);
    }
    put_folded(out, buf_str(&line));
}

void ics_time(int64_t at_ms, char ret_text[ICS_TIME_SIZE])
{
    char text[TIMEFMT_SIZE];

    timefmt_rfc3339(at_ms, text);
    snprintf(ret_text, ICS_TIME_SIZE, "%.4s%.2s%.2sT%.2s%.2s%.2sZ", text, text + 5, text + 8,
             text + 11, text + 14, text + 17);
}

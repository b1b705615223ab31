/* What echo and printf print.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

/* Who reads the escapes. Shells differ about echo: what some of them decode is decoded, but nothing
 * is lost that others would leave. */
enum reader { ECHO, ECHO_E, PRINTF };

/* What stands behind a backslash and is no number. */
static void unescape_char(char c, enum reader reader, struct buf *out)
{
    static const char from[] = "ntrabfve", to[] = "\n\t\r    \x01";
    const char *at = c ? strchr(from, c) : NULL;

    if (at && (reader != ECHO || c == 'n' || c == 't')) {
        buf_add_char(out, to[at - from] == ' ' ? MARK_UNKNOWN : to[at - from]);
        return;
    }
    if (reader == ECHO || (reader == ECHO_E && c != '\\'))
        buf_add_char(out, '\\');
    buf_add_char(out, c);
}

/* Backslash escapes as echo -e and printf know them. */
static void unescape(struct str from, enum reader reader, struct buf *out)
{
    for (size_t i = 0; i < from.n; i++) {
        unsigned value = 0, digits = 0;
        char c = from.p[i];

        if (c != '\\' || i + 1 >= from.n) {
            buf_add_char(out, c);
            continue;
        }
        c = from.p[++i];
        if (c == 'x')
            for (; digits < 2 && i + 1 < from.n && hex_digit(from.p[i + 1]) >= 0; digits++)
                value = value * 16 + (unsigned)hex_digit(from.p[++i]);
        else if (c >= '0' && c <= '7')
            for (value = (unsigned)(c - '0'), digits = 1;
                 digits < 4 && i + 1 < from.n && from.p[i + 1] >= '0' && from.p[i + 1] <= '7';
                 digits++)
                value = value * 8 + (unsigned)(from.p[++i] - '0');
        if (digits)
            buf_add_char(out, value >= 0x20 && value < 0x7f ? (char)value
                              : value == '\n'               ? '\n'
                                                            : MARK_UNKNOWN);
        else
            unescape_char(c, reader, out);
    }
}

/* A format with its words, again while words are left; each conversion takes one, whatever its
 * letter. */
static void print_format(struct danger_scan *scan, const struct danger_command *command, size_t at,
                         struct buf *out)
{
    AUTO_BUF plain = BUF_INIT(DANGER_BYTES_MAX);
    struct str format;
    size_t before;

    unescape(danger_plain(scan, command->words[at++].text), PRINTF, &plain);
    format = buf_str(&plain);

    do {
        before = at;
        for (size_t i = 0; i < format.n; i++) {
            if (format.p[i] != '%' || i + 1 >= format.n) {
                buf_add_char(out, format.p[i]);
            } else if (format.p[++i] == '%') {
                buf_add_char(out, '%');
            } else {
                while (i + 1 < format.n && strchr("-+ #0123456789.", format.p[i]))
                    i++;
                if (at < command->n && format.p[i] == 'b')
                    unescape(danger_plain(scan, command->words[at++].text), ECHO_E, out);
                else if (at < command->n)
                    buf_add_str(out, danger_plain(scan, command->words[at++].text));
            }
        }
    } while (at > before && at < command->n && out->n < DANGER_FIELD_MAX);
}

struct str danger_printed(struct danger_scan *scan, const struct danger_command *command,
                          struct str name, size_t from)
{
    AUTO_BUF text = BUF_INIT(DANGER_BYTES_MAX), out = BUF_INIT(DANGER_BYTES_MAX);
    enum reader reader = ECHO;

    if (str_is(name, "echo")) {
        for (; from < command->n && danger_is(command->words[from].text, "-n -e -E -ne -en");
             from++)
            if (str_find_char(command->words[from].text, 'e') > 0)
                reader = ECHO_E;
        buf_add_str(&text, danger_joined(scan, command, from));
        buf_add_char(&text, '\n');
        unescape(buf_str(&text), reader, &out);
        return arena_str(scan->arena, buf_str(&out));
    }
    if (from < command->n && str_is(command->words[from].text, "--"))
        from++;
    if (from < command->n)
        print_format(scan, command, from, &out);
    return arena_str(scan->arena, buf_str(&out));
}

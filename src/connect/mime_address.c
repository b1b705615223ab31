/* Addresses of mail, as RFC 5321 lets them travel: a dot-atom at a domain of ASCII labels. Quoted
 * local parts, comments and address literals exist in the grammar and hardly elsewhere: refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/utf8.h"
#include "connect/mime.h"

#define LOCAL_MAX  64
#define DOMAIN_MAX 253
#define NAME_MAX_  200

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_local(struct str s)
{
    if (!s.n || s.n > LOCAL_MAX || s.p[0] == '.' || s.p[s.n - 1] == '.' ||
        str_find(s, STR("..")) >= 0)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && !strchr("!#$%&'*+-/=?^_`{|}~.", s.p[i] ? s.p[i] : ' '))
            return false;
    return true;
}

static bool is_label(struct str s)
{
    if (!s.n || s.n > 63 || s.p[0] == '-' || s.p[s.n - 1] == '-')
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && s.p[i] != '-')
            return false;
    return true;
}

static bool is_domain(struct str s)
{
    struct str rest = s, label;

    if (!s.n || s.n > DOMAIN_MAX || s.p[s.n - 1] == '.')
        return false;
    while (str_split(&rest, '.', &label))
        if (!is_label(label))
            return false;
    return true;
}

static bool is_address(struct str s)
{
    ptrdiff_t at = str_find_char(s, '@');

    return at > 0 && is_local(str_take(s, (size_t)at)) && is_domain(str_skip(s, (size_t)at + 1));
}

static int refuse(struct str text, struct err *err)
{
    AUTO_BUF shown = BUF_INIT(400);

    utf8_one_line(utf8_truncate(text, 80), &shown);
    return err_set(err, ERR_BAD_REQUEST,
                   "\"%s\" is no mail address; write ada@example.org or Ada Lovelace "
                   "<ada@example.org>",
                   buf_text(&shown));
}

static bool is_name(struct str name)
{
    size_t at;
    uint32_t code;

    return name.n <= NAME_MAX_ && utf8_valid(name) && str_find_char(name, '<') < 0 &&
           str_find_char(name, '>') < 0 &&
           utf8_find_odd(name, 1u << UTF8_CONTROL | 1u << UTF8_BIDI, &at, &code) == UTF8_PLAIN;
}

int mime_find_address(struct str text, struct str *ret_name, struct str *ret_address,
                      struct err *err)
{
    struct str all = str_trim(text), name = STR_NONE, address = all;
    ptrdiff_t open = str_find_char(all, '<');

    if (open >= 0) {
        if (all.p[all.n - 1] != '>')
            return refuse(text, err);
        name = str_trim(str_take(all, (size_t)open));
        address = str_take(str_skip(all, (size_t)open + 1), all.n - (size_t)open - 2);
        if (name.n >= 2 && name.p[0] == '"' && name.p[name.n - 1] == '"')
            name = str_take(str_skip(name, 1), name.n - 2);
    }
    if (!is_address(address) || !is_name(name) || memchr(text.p ? text.p : "", '\n', text.n) ||
        memchr(text.p ? text.p : "", '\r', text.n))
        return refuse(text, err);
    *ret_name = name;
    *ret_address = address;
    return 0;
}

static bool is_ascii(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] >= 0x7f)
            return false;
    return true;
}

int mime_write_address(struct str text, size_t column, struct buf *out, struct err *err)
{
    struct str name, address;

    if (mime_find_address(text, &name, &address, err) < 0)
        return -1;
    if (!name.n) {
        buf_add_str(out, address);
        return 0;
    }
    if (is_ascii(name) && str_find(name, STR("=?")) < 0) {
        buf_add_char(out, '"');
        for (size_t i = 0; i < name.n; i++) {
            if (name.p[i] == '"' || name.p[i] == '\\')
                buf_add_char(out, '\\');
            buf_add_char(out, name.p[i]);
        }
        buf_add_char(out, '"');
    } else {
        mime_encode_words(name, column, out);
    }
    buf_printf(out, " <%.*s>", STR_ARG(address));
    return 0;
}

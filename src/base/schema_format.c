/* Formats that can be asserted, strictly by their RFCs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/schema_int.h"
#include "base/uri.h"

#define LOCAL_PART_MAX 64
#define DOMAIN_MAX     255
#define LABEL_MAX      63

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Takes n digits off the front of *s. */
static bool take_digits(struct str *s, size_t n, int *ret_value)
{
    int value = 0;

    if (s->n < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!is_digit(s->p[i]))
            return false;
        value = value * 10 + (s->p[i] - '0');
    }
    *s = str_skip(*s, n);
    *ret_value = value;
    return true;
}

static bool take_char(struct str *s, char c)
{
    if (s->n == 0 || s->p[0] != c)
        return false;
    *s = str_skip(*s, 1);
    return true;
}

/* ---- RFC 3339 ---- */

static int days_in_month(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && leap ? 29 : days[month - 1];
}

static bool take_date(struct str *s)
{
    int year, month, day;

    return take_digits(s, 4, &year) && take_char(s, '-') && take_digits(s, 2, &month) &&
           take_char(s, '-') && take_digits(s, 2, &day) && month >= 1 && month <= 12 && day >= 1 &&
           day <= days_in_month(year, month);
}

/* Minutes east of UTC. */
static bool take_offset(struct str *s, int *ret_minutes)
{
    int hours, minutes, sign = 1;

    *ret_minutes = 0;
    if (take_char(s, 'Z') || take_char(s, 'z'))
        return true;
    if (take_char(s, '-'))
        sign = -1;
    else if (!take_char(s, '+'))
        return false;
    if (!take_digits(s, 2, &hours) || !take_char(s, ':') || !take_digits(s, 2, &minutes) ||
        hours > 23 || minutes > 59)
        return false;
    *ret_minutes = sign * (hours * 60 + minutes);
    return true;
}

static bool take_time(struct str *s)
{
    int hour, minute, second, offset, utc;

    if (!take_digits(s, 2, &hour) || !take_char(s, ':') || !take_digits(s, 2, &minute) ||
        !take_char(s, ':') || !take_digits(s, 2, &second))
        return false;
    if (take_char(s, '.')) {
        if (s->n == 0 || !is_digit(s->p[0]))
            return false;
        while (s->n > 0 && is_digit(s->p[0]))
            *s = str_skip(*s, 1);
    }
    if (!take_offset(s, &offset) || hour > 23 || minute > 59 || second > 60)
        return false;
    /* A leap second is the last of a UTC day. */
    utc = ((hour * 60 + minute - offset) % 1440 + 1440) % 1440;
    return second < 60 || utc == 23 * 60 + 59;
}

static bool is_date(struct str s)
{
    return take_date(&s) && s.n == 0;
}

static bool is_time(struct str s)
{
    return take_time(&s) && s.n == 0;
}

static bool is_date_time(struct str s)
{
    return take_date(&s) && (take_char(&s, 'T') || take_char(&s, 't')) && take_time(&s) && s.n == 0;
}

/* Units in the given order without a gap: "YMD" takes 1Y2M3D, 2M, 1M3D, but not 1Y3D. */
static bool take_units(struct str *s, const char *units)
{
    bool any = false;

    for (; *units; units++) {
        struct str rest = *s;

        while (rest.n > 0 && is_digit(rest.p[0]))
            rest = str_skip(rest, 1);
        if (rest.n == s->n || !take_char(&rest, *units)) {
            if (any)
                return true;
            continue;
        }
        any = true;
        *s = rest;
    }
    return any;
}

/* RFC 3339, appendix A. */
static bool is_duration(struct str s)
{
    bool date;

    if (!take_char(&s, 'P'))
        return false;
    if (take_units(&s, "W"))
        return s.n == 0;
    date = take_units(&s, "YMD");
    if (take_char(&s, 'T'))
        return take_units(&s, "HMS") && s.n == 0;
    return date && s.n == 0;
}

/* ---- RFC 5321 ---- */

static bool is_quoted_local(struct str s)
{
    if (s.n < 2 || s.p[0] != '"' || s.p[s.n - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < s.n; i++) {
        if (s.p[i] == '\\')
            i++;
        else if (s.p[i] == '"')
            return false;
        if (i + 1 >= s.n || s.p[i] < 0x20 || s.p[i] > 0x7e)
            return false;
    }
    return true;
}

static bool is_dot_local(struct str s)
{
    struct str atom;

    if (s.n == 0)
        return false;
    while (str_split(&s, '.', &atom)) {
        if (atom.n == 0)
            return false;
        for (size_t i = 0; i < atom.n; i++)
            if (!is_alnum(atom.p[i]) && !(atom.p[i] && strchr("!#$%&'*+-/=?^_`{|}~", atom.p[i])))
                return false;
    }
    return true;
}

static bool is_domain(struct str s)
{
    struct str label;

    if (s.n == 0 || s.n > DOMAIN_MAX)
        return false;
    if (s.p[0] == '[') {
        if (s.p[s.n - 1] != ']' || s.n < 2)
            return false;
        s = str_of(s.p + 1, s.n - 2);
        if (s.n >= 5 && str_eq_nocase(str_take(s, 5), STR("IPv6:")))
            return uri_is_ipv6(str_skip(s, 5));
        return uri_is_ipv4(s);
    }
    while (str_split(&s, '.', &label)) {
        if (label.n == 0 || label.n > LABEL_MAX || label.p[0] == '-' || label.p[label.n - 1] == '-')
            return false;
        for (size_t i = 0; i < label.n; i++)
            if (!is_alnum(label.p[i]) && label.p[i] != '-')
                return false;
    }
    return true;
}

static bool is_email(struct str s)
{
    size_t at = s.n;
    struct str local;

    while (at > 0 && s.p[at - 1] != '@')
        at--;
    if (at == 0)
        return false;
    local = str_take(s, at - 1);
    return local.n <= LOCAL_PART_MAX && (is_dot_local(local) || is_quoted_local(local)) &&
           is_domain(str_skip(s, at));
}

/* ---- the rest ---- */

static bool is_uuid(struct str s)
{
    if (s.n != 36)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        char c = s.p[i];

        if (dash ? c != '-' : !is_digit(c) && !((c | 0x20) >= 'a' && (c | 0x20) <= 'f'))
            return false;
    }
    return true;
}

static bool is_regex(struct str s)
{
    AUTO(regex) regex = NULL;

    return regex_compile(s, &regex, NULL) == 0;
}

static bool is_json_pointer(struct str s)
{
    if (s.n > 0 && s.p[0] != '/')
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '~' && (i + 1 == s.n || (s.p[i + 1] != '0' && s.p[i + 1] != '1')))
            return false;
    return true;
}

static bool is_relative_json_pointer(struct str s)
{
    size_t n = 0;

    while (n < s.n && is_digit(s.p[n]))
        n++;
    if (n == 0 || (n > 1 && s.p[0] == '0'))
        return false;
    s = str_skip(s, n);
    return str_is(s, "#") || is_json_pointer(s);
}

static const struct schema_format formats[] = {
    { "date-time", "a date and time with offset (2026-11-15T20:00:00Z)", is_date_time },
    { "date", "a date (2026-11-15)", is_date },
    { "time", "a time with offset (20:00:00Z)", is_time },
    { "duration", "a duration (P1DT12H)", is_duration },
    { "email", "an e-mail address", is_email },
    { "uri", "an absolute URI", uri_is_valid },
    { "uri-reference", "a URI or a relative reference", uri_is_valid_reference },
    { "uuid", "a UUID", is_uuid },
    { "ipv4", "an IPv4 address", uri_is_ipv4 },
    { "ipv6", "an IPv6 address", uri_is_ipv6 },
    { "json-pointer", "a JSON Pointer", is_json_pointer },
    { "relative-json-pointer", "a relative JSON Pointer", is_relative_json_pointer },
    { "regex", "a regular expression (ECMA-262)", is_regex },
};

const struct schema_format *schema_format_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (str_is(name, formats[i].name))
            return &formats[i];
    return NULL;
}

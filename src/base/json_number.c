/* Doubles to the shortest text and back, and exact decimal arithmetic for comparisons.
 *
 * Formatting: printf rounds correctly, so the n-digit decimal closest to v is known for every n,
 * and 15 digits are enough for every decimal of up to 15 digits. Where the interval of decimals
 * that read back as v is symmetric, the closest n-digit one lies inside whenever any does. At
 * powers of two it is twice as wide above v as below: there the next one up is tried as well.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json_number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"

#define DIGITS_MAX   LIMIT_JSON_NUMBER_BYTES
#define EXPONENT_MAX 1000000000 /* beyond this all exponents are alike: the double is 0 */
/* Powers of 2 and 5 in a number of DIGITS_MAX digits: more factors of ten change no divisibility.
 */
#define TENS_MAX    (DIGITS_MAX * 4)
#define LIMB        1000000000u
#define LIMB_DIGITS 9

__extension__ typedef unsigned __int128 u128;

static locale_t plain_locale;

/* glibc's own "C" locale: nothing is allocated. */
__attribute__((constructor)) static void plain_locale_init(void)
{
    plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double json_number_read(const char *text)
{
    return strtod_l(text, NULL, plain_locale);
}

/* ---- shortest digits ---- */

struct shortest {
    char digits[DBL_DECIMAL_DIG + 2];
    int n;
    int point; /* value = 0.DIGITS * 10^point */
};

/* The n-digit decimal nearest to value > 0. The radix character depends on the locale: skip it. */
static void nearest(double value, int n, struct shortest *s)
{
    char text[64];
    const char *p;

    snprintf(text, sizeof(text), "%.*e", n - 1, value);
    s->n = 0;
    for (p = text; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9' && s->n < n)
            s->digits[s->n++] = *p;
    s->digits[s->n] = '\0';
    s->point = (*p ? atoi(p + 1) : 0) + 1;
}

static bool reads_back(const struct shortest *s, double value)
{
    char text[64];

    snprintf(text, sizeof(text), "%se%d", s->digits, s->point - s->n);
    return json_number_read(text) == value;
}

static void next_up(struct shortest *s)
{
    int i = s->n - 1;

    while (i >= 0 && s->digits[i] == '9')
        s->digits[i--] = '0';
    if (i >= 0) {
        s->digits[i]++;
        return;
    }
    s->digits[0] = '1';
    s->point++;
}

static bool is_power_of_two(double value)
{
    int exponent;

    return frexp(value, &exponent) == 0.5;
}

static bool try_digits(double value, int n, struct shortest *s)
{
    nearest(value, n, s);
    if (reads_back(s, value))
        return true;
    if (!is_power_of_two(value))
        return false;
    next_up(s);
    return reads_back(s, value);
}

static void find_shortest(double value, struct shortest *s)
{
    /* Below the normal range fewer digits count, so the 15-digit shortcut does not hold. */
    int n = value < DBL_MIN ? 1 : DBL_DIG;

    while (!try_digits(value, n, s) && n < DBL_DECIMAL_DIG)
        n++;
    while (s->n > 1 && s->digits[s->n - 1] == '0')
        s->digits[--s->n] = '\0';
}

/* ECMA-262, Number::toString, steps 6 to 10; n and k there are point and n here. */
static size_t lay_out(const struct shortest *s, char *out)
{
    int length;

    if (s->n <= s->point && s->point <= 21)
        length = snprintf(out, JSON_NUMBER_MAX - 1, "%s%.*s", s->digits, s->point - s->n,
                          "00000000000000000000");
    else if (0 < s->point && s->point <= 21)
        length = snprintf(out, JSON_NUMBER_MAX - 1, "%.*s.%s", s->point, s->digits,
                          s->digits + s->point);
    else if (-6 < s->point && s->point <= 0)
        length = snprintf(out, JSON_NUMBER_MAX - 1, "0.%.*s%s", -s->point, "00000", s->digits);
    else
        length = snprintf(out, JSON_NUMBER_MAX - 1, "%c%s%se%+d", s->digits[0], s->n > 1 ? "." : "",
                          s->digits + 1, s->point - 1);
    return (size_t)length;
}

size_t json_number_format(double value, char out[JSON_NUMBER_MAX])
{
    struct shortest s;
    size_t sign = value < 0;

    if (value == 0)
        return (size_t)sprintf(out, "0");
    if (fabs(value) < 1e15 && value == (double)(int64_t)value)
        return (size_t)sprintf(out, "%lld", (long long)value);
    if (sign)
        *out++ = '-';
    find_shortest(fabs(value), &s);
    return sign + lay_out(&s, out);
}

/* ---- exact decimals ---- */

/* (negative ? -1 : 1) * DIGITS * 10^exponent; no zeros at either end; zero has no digits. */
struct decimal {
    bool negative;
    int n;
    int64_t exponent;
    char digits[DIGITS_MAX + 1];
};

static int64_t read_exponent(const char *p)
{
    bool negative = *p == '-';
    int64_t value = 0;

    if (*p == '-' || *p == '+')
        p++;
    for (; *p >= '0' && *p <= '9'; p++)
        if (value < EXPONENT_MAX)
            value = value * 10 + (*p - '0');
    return negative ? -value : value;
}

static void decimal_read(const char *p, struct decimal *d)
{
    bool fraction = false;

    d->n = 0;
    d->exponent = 0;
    d->negative = *p == '-';
    for (p += d->negative; *p && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        d->exponent -= fraction;
        if ((d->n > 0 || *p != '0') && d->n < DIGITS_MAX)
            d->digits[d->n++] = *p;
    }
    if (*p)
        d->exponent += read_exponent(p + 1);
    while (d->n > 0 && d->digits[d->n - 1] == '0')
        d->n--, d->exponent++;
    if (d->n == 0)
        d->negative = false, d->exponent = 0;
}

/* The text that a parsed double remembers, or NULL. */
static const char *number_text(const struct json_object *value)
{
    const char *text;

    if (json_object_get_type(value) != json_type_double)
        return NULL;
    text = json_object_get_userdata((struct json_object *)value);
    return text && strlen(text) <= DIGITS_MAX ? text : NULL;
}

static bool is_unsigned_big(const struct json_object *value)
{
    return json_object_get_type(value) == json_type_int &&
           json_object_get_int64(value) == INT64_MAX && json_object_get_uint64(value) > INT64_MAX;
}

const char *json_number_text(const struct json_object *value, char out[JSON_NUMBER_MAX])
{
    const char *text = number_text(value);

    if (text)
        return text;
    if (json_object_get_type(value) == json_type_double)
        json_number_format(json_object_get_double(value), out);
    else if (is_unsigned_big(value))
        snprintf(out, JSON_NUMBER_MAX, "%llu", (unsigned long long)json_object_get_uint64(value));
    else
        snprintf(out, JSON_NUMBER_MAX, "%lld", (long long)json_object_get_int64(value));
    return out;
}

static void decimal_from(const struct json_object *value, struct decimal *d)
{
    char text[JSON_NUMBER_MAX];

    decimal_read(json_number_text(value, text), d);
}

static int magnitude_cmp(const struct decimal *a, const struct decimal *b)
{
    int64_t top_a = a->exponent + a->n, top_b = b->exponent + b->n;
    int n = a->n < b->n ? a->n : b->n, r;

    if (a->n == 0 || b->n == 0)
        return (a->n != 0) - (b->n != 0);
    if (top_a != top_b)
        return top_a < top_b ? -1 : 1;
    r = memcmp(a->digits, b->digits, (size_t)n);
    return r ? r : (a->n > b->n) - (a->n < b->n);
}

static int decimal_cmp(const struct decimal *a, const struct decimal *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    return a->negative ? magnitude_cmp(b, a) : magnitude_cmp(a, b);
}

/* Up to 18 digits, as an integer. */
static uint64_t small_digits(const struct decimal *d)
{
    uint64_t value = 0;

    for (int i = 0; i < d->n; i++)
        value = value * 10 + (uint64_t)(d->digits[i] - '0');
    return value;
}

static uint64_t ten_to_mod(int64_t power, uint64_t modulus)
{
    u128 base = 10 % modulus, result = 1 % modulus;

    for (; power > 0; power >>= 1) {
        if (power & 1)
            result = result * base % modulus;
        base = base * base % modulus;
    }
    return (uint64_t)result;
}

static bool small_divides(const struct decimal *value, int64_t tens, uint64_t divisor)
{
    uint64_t rest = 0;

    for (int i = 0; i < value->n; i++)
        rest = (rest * 10 + (uint64_t)(value->digits[i] - '0')) % divisor;
    return (u128)rest * ten_to_mod(tens, divisor) % divisor == 0;
}

/* Natural numbers, least limb first. */
struct natural {
    int n;
    uint32_t limb[DIGITS_MAX / LIMB_DIGITS + 3];
};

static void natural_push_digit(struct natural *x, unsigned digit)
{
    uint64_t carry = digit;

    for (int i = 0; i < x->n; i++) {
        carry += (uint64_t)x->limb[i] * 10;
        x->limb[i] = (uint32_t)(carry % LIMB);
        carry /= LIMB;
    }
    if (carry)
        x->limb[x->n++] = (uint32_t)carry;
}

static bool natural_less(const struct natural *a, const struct natural *b)
{
    if (a->n != b->n)
        return a->n < b->n;
    for (int i = a->n - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i];
    return false;
}

static void natural_subtract(struct natural *a, const struct natural *b)
{
    int64_t borrow = 0;

    for (int i = 0; i < a->n; i++) {
        int64_t x = (int64_t)a->limb[i] - (i < b->n ? b->limb[i] : 0) + borrow;

        borrow = x < 0 ? -1 : 0;
        a->limb[i] = (uint32_t)(x < 0 ? x + LIMB : x);
    }
    while (a->n > 0 && a->limb[a->n - 1] == 0)
        a->n--;
}

/* Long division by a divisor of many digits, keeping only the rest. */
static bool big_divides(const struct decimal *value, int64_t tens, const struct decimal *divisor)
{
    struct natural by = { .n = 0 }, rest = { .n = 0 };

    if (tens > TENS_MAX)
        tens = TENS_MAX;
    for (int i = 0; i < divisor->n; i++)
        natural_push_digit(&by, (unsigned)(divisor->digits[i] - '0'));
    for (int64_t i = 0; i < value->n + tens; i++) {
        natural_push_digit(&rest, i < value->n ? (unsigned)(value->digits[i] - '0') : 0);
        while (!natural_less(&rest, &by))
            natural_subtract(&rest, &by);
    }
    return rest.n == 0;
}

/* ---- json-c numbers ---- */

bool json_is_number(const struct json_object *value)
{
    enum json_type type = json_object_get_type(value);

    return type == json_type_int || type == json_type_double;
}

/* Whether the double alone says less than the text or integer does. */
static bool is_long(const struct json_object *value)
{
    const char *text = number_text(value);

    if (json_object_get_type(value) == json_type_int) {
        int64_t i = json_object_get_int64(value);

        return i > (INT64_C(1) << 53) || i < -(INT64_C(1) << 53);
    }
    /* Below the normal range a double has fewer digits than even a short text. */
    return text && (strlen(text) > DBL_DIG || fabs(json_object_get_double(value)) < DBL_MIN);
}

bool json_number_is_integer(const struct json_object *value)
{
    double d;

    if (json_object_get_type(value) == json_type_int)
        return true;
    if (json_object_get_type(value) != json_type_double)
        return false;
    if (is_long(value)) {
        struct decimal exact;

        decimal_from(value, &exact);
        return exact.exponent >= 0;
    }
    d = json_object_get_double(value);
    return isfinite(d) && d == floor(d);
}

double json_number_double(const struct json_object *value)
{
    if (is_unsigned_big(value))
        return (double)json_object_get_uint64(value);
    return json_object_get_double(value);
}

bool json_number_i64(const struct json_object *value, int64_t *ret_value)
{
    char digits[24];
    struct decimal d;

    if (json_object_get_type(value) == json_type_int) {
        if (is_unsigned_big(value))
            return false;
        *ret_value = json_object_get_int64(value);
        return true;
    }
    if (!json_number_is_integer(value))
        return false;
    decimal_from(value, &d);
    if (d.n + d.exponent > 19)
        return false;
    snprintf(digits, sizeof(digits), "%s%.*s%.*s", d.negative ? "-" : "", d.n, d.digits,
             (int)d.exponent, "0000000000000000000");
    return str_to_i64(d.n ? str_from(digits) : STR("0"), ret_value) == 0;
}

int json_number_cmp(const struct json_object *a, const struct json_object *b)
{
    double x = json_number_double(a), y = json_number_double(b);
    struct decimal exact_a, exact_b;

    /* Rounding keeps the order, so only equal doubles need a closer look. */
    if (x != y)
        return x < y ? -1 : 1;
    if (!is_long(a) && !is_long(b))
        return 0;
    decimal_from(a, &exact_a);
    decimal_from(b, &exact_b);
    return decimal_cmp(&exact_a, &exact_b);
}

bool json_number_is_multiple(const struct json_object *value, const struct json_object *divisor)
{
    struct decimal a, b;

    if (json_object_get_type(value) == json_type_int &&
        json_object_get_type(divisor) == json_type_int && !is_unsigned_big(value) &&
        !is_unsigned_big(divisor))
        return json_object_get_int64(value) % json_object_get_int64(divisor) == 0;
    decimal_from(value, &a);
    decimal_from(divisor, &b);
    if (a.n == 0)
        return true;
    /* a ends in no zero, so it is no multiple of ten times anything. */
    if (a.exponent < b.exponent)
        return false;
    if (b.n <= 18)
        return small_divides(&a, a.exponent - b.exponent, small_digits(&b));
    return big_divides(&a, a.exponent - b.exponent, &b);
}

/* Numbers as JSON means them: decimal, exact, independent of the locale.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_JSON_NUMBER_H
#define DORMOUSE_BASE_JSON_NUMBER_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for any finite double as json_number_format() writes it, with NUL. */
#define JSON_NUMBER_MAX 32

/* The nearest double of a JSON number text; infinite when it overflows. */
double json_number_read(const char *text);
/* Writes value as ECMAScript's Number::toString does: the shortest digits that read back as the
 * same double, and of those the closest; "0" for -0. value is finite. Returns the length. */
size_t json_number_format(double value, char out[JSON_NUMBER_MAX]);

/* The functions below take int, uint64 and double values of json-c; a double that was parsed is
 * read by its text, so 9007199254740993.0 and 0.1 mean exactly what was written. */
bool json_is_number(const struct json_object *value);
/* No fraction: 1, 1.0, 1e3. */
bool json_number_is_integer(const struct json_object *value);
double json_number_double(const struct json_object *value);
/* The text as it was parsed, else the shortest (in out). The value is finite. */
const char *json_number_text(const struct json_object *value, char out[JSON_NUMBER_MAX]);
/* The value when it is an integer within int64, exact. */
bool json_number_i64(const struct json_object *value, int64_t *ret_value);
/* < 0, 0, > 0, exact. */
int json_number_cmp(const struct json_object *a, const struct json_object *b);
/* Whether value / divisor is an integer, exact. divisor > 0. */
bool json_number_is_multiple(const struct json_object *value, const struct json_object *divisor);

#endif

/* YAML 1.2 into a json-c tree, with a position for every value.
 *
 * What JSON can hold is accepted: the core schema's null, booleans, integers, floats and strings,
 * mappings with string keys, sequences. Refused, with line, column and what is allowed: duplicate
 * keys, keys that are not strings, tags outside the core schema, .inf and .nan, merge keys, more
 * than one document, depth above LIMIT_JSON_DEPTH, more than LIMIT_YAML_BYTES. Aliases are copied
 * within a small budget, so a few bytes can't grow into gigabytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_YAML_H
#define DORMOUSE_BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct json_object;
struct yaml_place;

#define YAML_NODES_MAX       100000
#define YAML_ALIAS_NODES_MAX 1000 /* made by aliases, in the whole document */

struct yaml {
    struct json_object *root; /* NULL is null */
    struct yaml_place *places;
    struct arena arena;
};

#define YAML_INIT ((struct yaml){ .root = NULL })

struct yaml_position {
    unsigned line, column; /* from 1 */
};

/* Parses one document; an empty text is null. Errors are ERR_BAD_REQUEST or ERR_TOO_LARGE and read
 * "NAME:LINE:COLUMN: …". */
int yaml_parse(struct str text, const char *name, struct yaml *ret_yaml, struct err *err);
void yaml_release(struct yaml *yaml);
#define AUTO_YAML __attribute__((cleanup(yaml_release))) struct yaml

/* Where the value at a JSON pointer ("/models/0/id", "" the root) stands, and where its key does
 * (an item's own place in a sequence). When there is no such value, the nearest one above it, and
 * false. */
bool yaml_where(const struct yaml *yaml, struct str pointer, struct yaml_position *ret_value);
bool yaml_where_key(const struct yaml *yaml, struct str pointer, struct yaml_position *ret_key);

#endif

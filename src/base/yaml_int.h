/* Between the files of YAML.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_YAML_INT_H
#define DORMOUSE_BASE_YAML_INT_H

#include "base/buf.h"
#include "base/yaml.h"

enum yaml_tag {
    YAML_TAG_NONE = 0, /* resolve by how it looks */
    YAML_TAG_STR,
    YAML_TAG_INT,
    YAML_TAG_FLOAT,
    YAML_TAG_BOOL,
    YAML_TAG_NULL,
    YAML_TAG_MAP,
    YAML_TAG_SEQ,
    YAML_TAG_OTHER,
};

/* What a plain scalar is by the core schema; tag NONE or a scalar's tag. -1 with *ret_fault, a
 * reason for people, when the text does not fit its tag or JSON can't hold it. NULL is null. */
int yaml_scalar(struct str text, enum yaml_tag tag, struct json_object **ret_value,
                const char **ret_fault);

/* Appends what a quoted scalar says, given the bytes between its quotes; invalid UTF-8 when an
 * escape is no character. */
void yaml_unquote(struct str raw, char quote, struct buf *out);

/* A tree of places beside the tree of values. */
struct yaml_place {
    struct str key; /* of a member; STR_NONE for an item or the root */
    struct yaml_position value_at, key_at;
    struct yaml_place *first, *last, *next;
};

#endif

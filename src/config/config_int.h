/* The field table of the configuration, and what its parts share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CONFIG_CONFIG_INT_H
#define DORMOUSE_CONFIG_CONFIG_INT_H

#include <json-c/json_object.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/yaml.h"
#include "config/config.h"

enum config_kind {
    CONFIG_KIND_NONE = 0,
    CONFIG_TEXT,     /* const char *, NULL when not set */
    CONFIG_BOOL,     /* bool */
    CONFIG_INT,      /* int64_t, 0 when not set */
    CONFIG_NUMBER,   /* double, 0 when not set */
    CONFIG_DURATION, /* int64_t milliseconds: "30s" or a number */
    CONFIG_BYTES,    /* int64_t: "1GiB" or a number */
    CONFIG_CHOICE,   /* int, index into choices */
    CONFIG_LIST,     /* struct config_list */
    CONFIG_RECORDS,  /* struct { record *items; size_t n; } */
};

/* What a directory's file may do to a key. */
enum config_tighten {
    CONFIG_NEVER = 0, /* not set it at all */
    CONFIG_LOWER,     /* set a lower value; not set counts as the highest */
    CONFIG_TRUE,      /* set it to true */
    CONFIG_FALSE,
    CONFIG_FEWER_PATHS, /* name paths: what both they and those before allow is left */
    CONFIG_FEWER_HOSTS, /* name hosts at or below those allowed */
    CONFIG_MORE,        /* add to a list */
};

struct config_field {
    const char *path; /* "server.listen", in a record relative to it; NULL ends a table */
    enum config_kind kind;
    size_t offset;
    const char *initial; /* as a variable would say it; NULL: not set */
    const char *choices; /* "openai anthropic" */
    enum config_tighten tighten;
    bool secret;    /* never shown */
    bool reference; /* names a secret */
    const struct config_field *record;
    size_t record_size;
};

/* Where a key's value came from. All zero: built in. */
struct config_origin {
    const char *name; /* file, or "$NAME" of a variable */
    unsigned line;    /* 0 for a variable */
};

extern const struct config_field config_fields[];
extern const size_t config_field_count;

/* A file that was read: its tree, and where each value stands. */
struct config_layer {
    const char *name;
    struct json_object *tree; /* borrowed; NULL: nothing in it */
    struct yaml yaml;         /* empty for the environment: it has no places */
};

/* 1 read, 0 absent or empty, -1 after adding a problem. To be released in any case. */
int config_layer_read(const char *path, struct config_layer *layer,
                      struct config_problems *problems);
int config_layer_parse(struct str text, const char *name, struct config_layer *layer,
                       struct config_problems *problems);
void config_layer_release(struct config_layer *layer);

/* Checks a layer against the schema and adds what is wrong, with near names for unknown keys. */
void config_validate(const struct config_layer *layer, struct config_problems *problems);
/* Frees what config_validate() keeps between two files. */
void config_validate_done(void);

/* The JSON that a variable's text means for a field. Caller owns it. */
int config_value_from_text(const struct config_field *field, struct str text,
                           struct json_object **ret_value, struct err *err);
/* Stores a value that passed the schema into record at the field's offset; texts go to arena. */
int config_field_set(const struct config_field *field, struct json_object *value, void *record,
                     struct arena *arena, struct err *err);
/* -1 with err when it is malformed or does not fit. */
int config_parse_duration(struct str text, int64_t *ret_ms, struct err *err);
/* As people write it: 10m, 1MiB. */
void config_add_duration(int64_t ms, struct buf *out);
void config_add_bytes(int64_t bytes, struct buf *out);
int config_parse_bytes(struct str text, int64_t *ret_bytes, struct err *err);

/* Dotted path into a tree of objects; NULL when absent. */
struct json_object *config_tree_find(struct json_object *tree, const char *path);
/* Sets a leaf, making the objects above it; takes value. */
void config_tree_set(struct json_object *tree, const char *path, struct json_object *value);

/* Fills config from its defaults and config->tree. */
int config_fill(struct config *config, struct err *err);

/* Of the list of writable places, in a run whose directory is cwd: absolute, links followed. -1
 * with err for one that can't be, or that a link leads out of where its name is. */
int config_places(struct config *config, const char *cwd, struct err *err);
/* Reports what in the file of the directory dir goes beyond tightening config (which is filled,
 * with resolved places), else merges it into config->tree and records the origins. */
void config_overlay(struct config *config, const struct config_layer *layer, const char *dir,
                    struct config_problems *problems);
/* Reads DORMOUSE_* and the two variables of the state store into a tree, which the caller owns
 * (NULL when there is none); origins of the fields that they set are in ret_names, one per field.
 */
struct json_object *config_environment(char *const *environment, const char **ret_names,
                                       struct config_problems *problems);
/* What no schema can say: ids that repeat, a model that is not there, a secret in plain sight. */
void config_cross_check(const struct config *config, const struct config_layer *file,
                        struct config_problems *problems);

void config_problem_add(struct config_problems *problems, const char *file, unsigned line,
                        unsigned column, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* The same, at the place where the layer holds this JSON pointer. */
void config_problem_at(struct config_problems *problems, const struct config_layer *layer,
                       const char *pointer, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same, where the key stands. */
void config_problem_key(struct config_problems *problems, const struct config_layer *layer,
                        const char *pointer, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* "/sandbox/limits" of "sandbox.limits" into out. */
void config_pointer(const char *path, char *out, size_t size);
/* The line of the value at pointer, 0 when the layer has no lines. */
unsigned config_layer_line(const struct config_layer *layer, const char *pointer);

#endif

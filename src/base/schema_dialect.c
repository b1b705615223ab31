/* Which draft and which vocabularies hold for a schema resource.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>

#include "base/json.h"
#include "base/schema_int.h"
#include "base/uri.h"

#define DIALECT           "https://json-schema.org/draft/2020-12/schema"
#define META_CHAIN_MAX    8
#define VOCABULARY_PREFIX "https://json-schema.org/draft/2020-12/vocab/"
#define DIALECT_VOCABULARIES                                                                       \
    (SCHEMA_CORE | SCHEMA_APPLICATOR | SCHEMA_UNEVALUATED | SCHEMA_VALIDATION | SCHEMA_META_DATA | \
     SCHEMA_FORMAT_ANNOTATION | SCHEMA_CONTENT)

static const struct {
    const char *name;
    unsigned bit;
} vocabulary_names[] = {
    { "core", SCHEMA_CORE },
    { "applicator", SCHEMA_APPLICATOR },
    { "unevaluated", SCHEMA_UNEVALUATED },
    { "validation", SCHEMA_VALIDATION },
    { "meta-data", SCHEMA_META_DATA },
    { "format-annotation", SCHEMA_FORMAT_ANNOTATION },
    { "format-assertion", SCHEMA_FORMAT_ASSERTION },
    { "content", SCHEMA_CONTENT },
};

static unsigned vocabulary_bit(struct str uri)
{
    if (!str_starts(uri, STR(VOCABULARY_PREFIX)))
        return 0;
    uri = str_skip(uri, sizeof(VOCABULARY_PREFIX) - 1);
    for (size_t i = 0; i < ARRAY_LEN(vocabulary_names); i++)
        if (str_is(uri, vocabulary_names[i].name))
            return vocabulary_names[i].bit;
    return 0;
}

static int read_vocabulary(struct schema_compiler *c, struct json_object *vocabulary,
                           struct str dialect, unsigned *ret_bits)
{
    unsigned bits = SCHEMA_CORE;
    struct lh_entry *entry;

    if (json_object_get_type(vocabulary) != json_type_object)
        return err_set(c->err, ERR_BAD_REQUEST, "meta-schema %.*s: $vocabulary must be an object",
                       STR_ARG(dialect));
    lh_foreach(json_object_get_object(vocabulary), entry)
    {
        const char *uri = lh_entry_k(entry);
        unsigned bit = vocabulary_bit(str_from(uri));

        if (!bit && json_object_get_boolean(lh_entry_v(entry)))
            return err_set(c->err, ERR_BAD_REQUEST,
                           "meta-schema %.*s needs the vocabulary %s, which is not known",
                           STR_ARG(dialect), uri);
        bits |= bit;
    }
    *ret_bits = bits;
    return 0;
}

static const struct {
    const char *uri; /* after http:// or https://: people write either */
    unsigned draft;
} drafts[] = {
    { "json-schema.org/draft/2020-12/schema", 2020 },
    { "json-schema.org/draft/2019-09/schema", 2019 },
    { "json-schema.org/draft-07/schema", 7 },
    { "json-schema.org/draft-06/schema", 6 },
    { "json-schema.org/draft-04/schema", 4 },
};

/* 0 when it is none of them. */
static unsigned known_draft(struct str dialect)
{
    if (str_starts(dialect, STR("http://")))
        dialect = str_skip(dialect, 7);
    else if (str_starts(dialect, STR("https://")))
        dialect = str_skip(dialect, 8);
    for (size_t i = 0; i < ARRAY_LEN(drafts); i++)
        if (str_is(dialect, drafts[i].uri))
            return drafts[i].draft;
    return 0;
}

/* The draft of a meta-schema is that of its own $schema, or of that one's, and so on. */
static unsigned draft_of_meta(struct schema_compiler *c, const struct schema_resource *meta)
{
    for (int i = 0; meta && i < META_CHAIN_MAX; i++) {
        struct str dialect = uri_without_fragment(json_str(json_find(meta->root, "$schema")));
        unsigned draft = known_draft(dialect);

        if (draft)
            return draft;
        meta = schema_registry_find(&c->local, dialect);
    }
    return drafts[0].draft;
}

static int read_meta(struct schema_compiler *c, struct str dialect, struct schema_unit *unit)
{
    const struct schema_resource *meta = schema_registry_find(&c->local, dialect);
    struct json_object *vocabulary;

    if (!meta)
        return err_set(c->err, ERR_BAD_REQUEST,
                       "$schema \"%.*s\" is not known; use " DIALECT
                       " or add the meta-schema to the registry",
                       STR_ARG(dialect));
    unit->draft = draft_of_meta(c, meta);
    vocabulary = unit->draft >= 2019 ? json_find(meta->root, "$vocabulary") : NULL;
    return vocabulary ? read_vocabulary(c, vocabulary, dialect, &unit->vocabularies) : 0;
}

int schema_find_dialect(struct schema_compiler *c, const struct schema_resource *resource,
                        struct schema_unit *unit)
{
    struct json_object *value = NULL;
    struct str dialect;

    while (resource && !(value = json_find(resource->root, "$schema")))
        resource = resource->outer;
    unit->vocabularies = DIALECT_VOCABULARIES;
    unit->draft = drafts[0].draft;
    if (!value)
        return 0;
    dialect = uri_without_fragment(json_str(value));
    if (!dialect.p)
        return err_set(c->err, ERR_BAD_REQUEST, "$schema must be a URI in a string, found %s",
                       json_type_name(value));
    unit->draft = known_draft(dialect);
    return unit->draft ? 0 : read_meta(c, dialect, unit);
}

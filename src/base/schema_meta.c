/* The meta-schemas of draft 2020-12, from share/schema/draft2020-12, parsed when first needed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>

#include "base/embed.h"
#include "base/json.h"
#include "base/schema_int.h"

extern const struct embed_file meta_schema_files[];

static struct schema_registry meta;

static void load(void)
{
    schema_registry_init(&meta, NULL);
    for (const struct embed_file *file = meta_schema_files; file->name; file++) {
        struct err err = ERR_INIT;
        AUTO_JSON document = NULL;

        if (json_parse(file->bytes, &document, &err) < 0 ||
            schema_registry_add(&meta, json_str(json_find(document, "$id")), document, &err) < 0)
            BUG("meta-schema %s: %s", file->name, err_message(&err, 0));
    }
}

__attribute__((destructor)) static void unload(void)
{
    schema_registry_release(&meta);
}

const struct schema_registry *schema_meta_registry(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    return &meta;
}

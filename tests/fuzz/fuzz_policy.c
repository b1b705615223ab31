/* Policies from JSON trees: any tree loads or is refused; what loads is applied to every program,
 * and what can be applied is sound and runs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/yaml.h"
#include "bp/engine.h"
#include "bp/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static struct json_object *parse(const uint8_t *bytes, size_t n)
{
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *tree = NULL;

    if (n && n < 65536)
        tree = json_tokener_parse_ex(tokener, (const char *)bytes, (int)n);
    json_tokener_free(tokener);
    return tree;
}

static void run(const struct bp_program *program)
{
    struct bp_engine *engine = bp_new(program, 2, &(struct bp_options){ .steps_max = 100 });

    for (unsigned round = 0; round < 2; round++)
        for (unsigned type = 1; type < program->type_count; type++)
            for (uint16_t key = 0; key < 2; key++)
                bp_offer(engine,
                         &(struct bp_event){
                             .type = (uint8_t)type, .key = key, .bits = program->types[type].bits },
                         NULL);
    bp_free(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct expr_facts facts = { STR("bash"), STR("coach"), STR("structured"), NULL };
    AUTO(bp_policy) policy = NULL;
    struct json_object *tree = parse(bytes, n);
    struct err err = ERR_INIT;
    int r = bp_policy_parse(&(struct yaml){ .root = tree }, "policy", &policy, &err);

    json_object_put(tree);
    if (r < 0 && err.code == ERR_NONE)
        abort(); /* refused without a reason */
    if (r < 0)
        return 0;
    for (int i = 0; bp_programs[i]; i++) {
        AUTO_ARENA arena = ARENA_INIT;
        const struct bp_program *combined;

        bp_policy_is_for(policy, bp_programs[i]);
        if (bp_policy_apply(bp_programs[i], policy, &arena, &combined, NULL) < 0)
            continue;
        bp_policy_classify(policy, combined, &facts);
        run(combined);
    }
    return 0;
}

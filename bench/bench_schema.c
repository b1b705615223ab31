/* schema: validations per second of a typical tool input, schema compiled once; yardstick is
 * json-c's own parse of the same input, measured in turns with it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json_tokener.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/schema.h"

#define ROUNDS   5
#define ROUND_NS 80000000

static const char schema_text[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
    "\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096},"
    "\"edits\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":50,\"items\":{\"$ref\":\"#/$defs/"
    "edit\"}},"
    "\"mode\":{\"enum\":[\"dry-run\",\"apply\",\"force\"]},"
    "\"priority\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9},"
    "\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true},"
    "\"limits\":{\"type\":\"object\",\"properties\":{\"seconds\":{\"type\":\"number\","
    "\"exclusiveMinimum\":0},\"bytes\":{\"type\":\"integer\"}},\"additionalProperties\":false}},"
    "\"required\":[\"path\",\"edits\",\"mode\"],\"additionalProperties\":false,"
    "\"$defs\":{\"edit\":{\"type\":\"object\",\"properties\":{\"line\":{\"type\":\"integer\","
    "\"minimum\":1},\"old\":{\"type\":\"string\"},\"new\":{\"type\":\"string\"}},"
    "\"required\":[\"line\",\"new\"],\"additionalProperties\":false}}}";

static const char input_text[] =
    "{\"path\":\"memory/knowledge/projects.md\",\"mode\":\"apply\",\"priority\":3,"
    "\"labels\":[\"garden\",\"weekly\",\"review\"],\"limits\":{\"seconds\":2.5,\"bytes\":65536},"
    "\"edits\":[{\"line\":12,\"old\":\"- [ ] write the report\",\"new\":\"- [x] write the "
    "report\"},"
    "{\"line\":40,\"old\":\"status: open\",\"new\":\"status: done\"},"
    "{\"line\":57,\"new\":\"- [ ] ask Anna about the garden plan for the coming spring\"}]}";

struct bench {
    struct schema *schema;
    struct json_object *input;
};

static void validate(struct bench *b)
{
    if (schema_validate(b->schema, b->input, NULL, NULL) < 0)
        BUG("the input must be valid");
}

static void parse(struct bench *b)
{
    AUTO_JSON input = NULL;

    (void)b;
    if (json_parse(str_of(input_text, sizeof(input_text) - 1), &input, NULL) < 0)
        BUG("the input must parse");
}

static void parse_and_validate(struct bench *b)
{
    AUTO_JSON input = NULL;

    if (json_parse(str_of(input_text, sizeof(input_text) - 1), &input, NULL) < 0 ||
        schema_validate(b->schema, input, NULL, NULL) < 0)
        BUG("the input must be valid");
}

static void json_c_parse(struct bench *b)
{
    AUTO_JSON input = json_tokener_parse(input_text);

    (void)b;
    BUG_IF(!input);
}

static void measure(struct bench *b, void (*what)(struct bench *b), int64_t *calls, int64_t *ns)
{
    struct clock *clock = clock_system();
    int64_t start = clock_mono_ns(clock), now, n = 0;

    do {
        for (int i = 0; i < 64; i++)
            what(b);
        n += 64;
        now = clock_mono_ns(clock);
    } while (now - start < ROUND_NS);
    *calls += n;
    *ns += now - start;
}

static void print(const char *name, double value, double yardstick)
{
    printf("{\"bench\":\"%s\",\"value\":%.0f,\"unit\":\"per second\",\"yardstick\":\"json-c parse "
           "of the "
           "same input\",\"yardstick_value\":%.0f,\"ratio\":%.2f}\n",
           name, value, yardstick, value / yardstick);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*what)(struct bench *b);
    } figures[] = {
        { "schema.validate", validate },
        { "schema.parse_validate", parse_and_validate },
        { "json.parse", parse },
        { NULL, json_c_parse },
    };
    int64_t calls[ARRAY_LEN(figures)] = { 0 }, ns[ARRAY_LEN(figures)] = { 0 };
    double rates[ARRAY_LEN(figures)];
    struct bench b = { NULL, NULL };
    AUTO_JSON document = NULL;

    if (json_parse(str_from(schema_text), &document, NULL) < 0 ||
        schema_compile(NULL, document, STR(""), 0, &b.schema, NULL) < 0 ||
        json_parse(str_of(input_text, sizeof(input_text) - 1), &b.input, NULL) < 0)
        BUG("bad schema or input");
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < ARRAY_LEN(figures); i++)
            measure(&b, figures[i].what, &calls[i], &ns[i]);
    for (size_t i = 0; i < ARRAY_LEN(figures); i++)
        rates[i] = (double)calls[i] * 1e9 / (double)ns[i];
    for (size_t i = 0; figures[i].name; i++)
        print(figures[i].name, rates[i], rates[ARRAY_LEN(figures) - 1]);
    json_object_put(b.input);
    schema_free(b.schema);
    return 0;
}

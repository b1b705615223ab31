/* What a person is told of an item in our own words: facts about it, and why to look twice.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "agent/agent_int.h"
#include "agent/inbox.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "change/taint.h"

#define VIEW_DANGERS (256u << 10)

/* Whose text may have steered the agent. */
static void view_taint(struct json_writer *w, struct str taint)
{
    AUTO_BUF text = BUF_INIT(16u << 10);

    taint_warning(taint, &text);
    if (text.n)
        json_write_str(w, buf_str(&text));
}

void inbox_say_flags(size_t count, struct buf *out)
{
    if (count == 1)
        buf_add_text(out, "One place of the text is suspicious.");
    else if (count)
        buf_printf(out, "%zu places of the text are suspicious.", count);
}

static void view_flags(struct json_writer *w, struct json_object *flags)
{
    AUTO_BUF text = BUF_INIT(128);

    inbox_say_flags(json_object_is_type(flags, json_type_array) ? json_length(flags) : 0, &text);
    if (text.n)
        json_write_str(w, buf_str(&text));
}

static void view_warnings(struct json_writer *w, struct json_object *facts)
{
    size_t n = json_object_is_type(facts, json_type_array) ? json_length(facts) : 0;

    for (size_t i = 0; i < n; i++) {
        struct json_object *fact = json_object_array_get_idx(facts, i);
        AUTO_BUF text = BUF_INIT(64u << 10);
        bool warn = false;

        if (json_get_bool(fact, "warn", &warn, NULL) < 1 || !warn)
            continue;
        buf_printf(&text, "%.*s: %.*s.", STR_ARG(json_str(json_find(fact, "name"))),
                   STR_ARG(json_str(json_find(fact, "value"))));
        json_write_str(w, buf_str(&text));
    }
}

/* What each yes would cover. */
static void view_choices(struct json_writer *w, const struct inbox_item *item)
{
    if (item->kind != INBOX_TOOL && item->kind != INBOX_SKILL_SCRIPT)
        return;
    json_put_array(w, "choices");
    for (enum inbox_scope scope = INBOX_ONCE; scope <= INBOX_ALWAYS; scope++) {
        AUTO_BUF words = BUF_INIT(LIMIT_JSON_BYTES);

        if (scope != INBOX_ONCE && !item->pattern.n)
            break;
        grant_words(item->pattern, scope, &words);
        json_write_object_begin(w);
        json_put_text(w, "scope", inbox_scope_name(scope));
        json_put_str(w, "covers", buf_str(&words));
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

/* An array of sentences; false when there are none. */
static bool view_dangers(const struct inbox_item *item, struct json_object *details,
                         struct json_object *facts, struct buf *out)
{
    struct json_writer list = JSON_WRITER(out);

    json_write_array_begin(&list);
    view_taint(&list, item->taint);
    view_flags(&list, json_find(details, "suspicious_flags"));
    view_warnings(&list, facts);
    json_write_array_end(&list);
    return json_write_end(&list) == 0 && out->n > 2;
}

void inbox_put_view(struct json_writer *w, const struct inbox_item *item, bool with_details)
{
    AUTO_BUF dangers = BUF_INIT(VIEW_DANGERS);
    AUTO_JSON details = NULL;
    struct json_object *facts;

    if (item->details.n)
        json_parse(item->details, &details, NULL);
    facts = json_object_get(json_find(details, "facts"));
    if (facts) {
        json_put_value(w, "facts", facts);
        json_object_object_del(details, "facts");
    }
    if (with_details && details && json_object_object_length(details) > 0)
        json_put_value(w, "details", details);
    if (view_dangers(item, details, facts, &dangers))
        json_put_raw(w, "danger", buf_str(&dangers));
    view_choices(w, item);
    json_object_put(facts);
}

void inbox_danger(const struct inbox_item *item, struct buf *out)
{
    AUTO_BUF dangers = BUF_INIT(VIEW_DANGERS);
    AUTO_JSON details = NULL;
    AUTO_JSON list = NULL;

    if (item->details.n)
        json_parse(item->details, &details, NULL);
    if (!view_dangers(item, details, json_find(details, "facts"), &dangers) ||
        json_parse(buf_str(&dangers), &list, NULL) < 0)
        return;
    for (size_t i = 0; i < json_length(list); i++)
        buf_printf(out, "%s%.*s", i ? " " : "",
                   STR_ARG(json_str(json_object_array_get_idx(list, i))));
}

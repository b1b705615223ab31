/* What a grant covers, in a sentence.
 *
 * It is made from the pattern that calls are compared with, so that it can say nothing else.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "agent/inbox.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/utf8.h"

#define GRANT_ARGUMENTS_SHOWN 300 /* bytes; the item and the list show all of them beside it */

/* What turns text around or hides stands as its number. */
static void grant_add_visible(struct buf *out, struct str text)
{
    uint32_t code;

    while (text.n) {
        struct str before = text;

        if (utf8_decode(&text, &code) < 0)
            buf_add_text(out, "\xEF\xBF\xBD");
        else if (utf8_oddity_of(code) == UTF8_PLAIN)
            buf_add(out, before.p, before.n - text.n);
        else
            buf_printf(out, "<U+%04X>", (unsigned)code);
    }
}

static void grant_add_arguments(struct buf *out, struct json_object *pattern)
{
    struct json_object *arguments = json_find(pattern, "arguments");
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&text);
    struct str shown;

    if (!arguments) {
        buf_add_text(out, "exactly the arguments that were shown");
        return;
    }
    json_write_value(&w, arguments);
    shown = utf8_truncate(buf_str(&text), GRANT_ARGUMENTS_SHOWN);
    buf_add_text(out, "exactly ");
    grant_add_visible(out, shown);
    if (shown.n < text.n)
        buf_printf(out, "… (all %zu bytes of it)", text.n);
}

void grant_words(struct str pattern, enum inbox_scope scope, struct buf *out)
{
    AUTO_JSON value = NULL;
    struct str directory;

    if (scope == INBOX_ONCE) {
        buf_add_text(out, "This call, once.");
        return;
    }
    buf_add_text(out, scope == INBOX_FOR_RUN ? "Until this run ends: "
                                             : "From now on, for this agent: ");
    if (json_parse(pattern, &value, NULL) < 0) {
        buf_add_text(out, "exactly the call that was shown.");
        return;
    }
    grant_add_visible(out, json_str(json_find(value, "tool")));
    buf_add_text(out, " with ");
    grant_add_arguments(out, value);
    if (json_find(value, "files"))
        buf_add_text(out, ", with the skill's files as they are now");
    directory = json_str(json_find(value, "directory"));
    if (directory.n) {
        buf_add_text(out, ", in ");
        grant_add_visible(out, directory);
        buf_add_text(out, json_find(value, "unsandboxed") ? ", WITHOUT A SANDBOX"
                                                          : ", inside the walls as they are now");
    }
    buf_add_text(out, ". Anything else asks again.");
}

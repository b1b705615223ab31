/* What a person is shown of an edit, as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json_put.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "change/taint.h"
#include "memory/edit.h"

#define MATCH_MAX 300 /* bytes of a match; its place says how long it is */

/* What is there may be anything: a person put it there. */
static void key_any(struct json_writer *w, const char *key, struct str text)
{
    AUTO_BUF clean = BUF_INIT(LIMIT_JSON_BYTES);

    if (utf8_valid(text)) {
        json_put_str(w, key, text);
        return;
    }
    utf8_sanitise(text, &clean);
    json_put_str(w, key, buf_str(&clean));
}

static void write_current(struct json_writer *w, const struct memory_proposal *p)
{
    if (p->exists) {
        key_any(w, "current_content", p->current);
        return;
    }
    json_put_null(w, "current_content");
}

static void write_flags(struct json_writer *w, const struct memory_proposal *p)
{
    json_put_array(w, "suspicious_flags");
    for (size_t i = 0; i < p->flag_count; i++) {
        const struct memory_flag *flag = &p->flags[i];

        json_write_object_begin(w);
        json_put_str(w, "pattern", str_from(flag->pattern));
        json_put_str(w, "match", utf8_truncate(flag->match, MATCH_MAX));
        json_put_str(w, "description", str_from(flag->description));
        json_put_str(w, "severity",
                     flag->severity == MEMORY_DANGER ? STR("danger") : STR("warning"));
        json_put_i64(w, "start", (int64_t)flag->start);
        json_put_i64(w, "end", (int64_t)flag->end);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static void write_warning(struct json_writer *w, const char *text)
{
    json_write_text(w, text);
}

static void write_warnings(struct json_writer *w, const struct memory_edit *edit,
                           const struct memory_proposal *p)
{
    char text[200];

    json_put_array(w, "warnings");
    if (p->warn) {
        snprintf(text, sizeof(text), "The agent's memory will hold %lld KB; %s %d KB.",
                 (long long)(p->total_after + 1023) / 1024,
                 p->full ? "that is more than" : "it should stay below",
                 LIMIT_MEMORY_FULL_BYTES / 1024);
        write_warning(w, text);
    }
    if (p->exists && !utf8_valid(p->current))
        write_warning(w, "The file that is there is not text; bytes are shown as \xEF\xBF\xBD.");
    if (edit->operation == MEMORY_WRITE && p->exists && str_eq(p->current, p->proposed))
        write_warning(w, "Nothing would change.");
    json_write_array_end(w);
}

void memory_details(const struct memory_edit *edit, const struct memory_proposal *proposal,
                    struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);

    json_write_object_begin(&w);
    json_put_str(&w, "path", proposal->path);
    json_put_str(&w, "operation", str_from(memory_operation_name(edit->operation)));
    write_current(&w, proposal);
    json_put_str(&w, "proposed_content", proposal->proposed);
    json_put_str(&w, "reason", edit->reason);
    write_flags(&w, proposal);
    write_warnings(&w, edit, proposal);
    json_write_key(&w, "taint");
    taint_write(&w, proposal->taint.n ? proposal->taint : edit->taint);
    key_any(&w, "diff", proposal->diff);
    json_put_i64(&w, "base_version", proposal->base);
    json_put_i64(&w, "total_bytes", proposal->total_after);
    json_write_object_end(&w);
}

/* The journal as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/base64.h"
#include "base/json_put.h"
#include "journal/export.h"
#include "journal/list.h"

#define PAGE 500

static void put_base64(struct json_writer *w, struct str bytes)
{
    AUTO_BUF out = BUF_INIT(bytes.n * 2 + 8);

    base64_encode(bytes, &out);
    json_write_str(w, buf_str(&out));
}

struct writing {
    struct journal *journal;
    struct json_writer *w;
    struct arena *arena; /* of one page */
    bool attachments;
};

static int put_content(struct writing *writing, const struct record *record, struct err *err)
{
    struct str bytes = STR_NONE;
    int r;

    if (!writing->attachments)
        return 0;
    r = attachment_content(writing->journal, record->id, writing->arena, &bytes, err);
    if (r < 0)
        return -1;
    json_write_key(writing->w, "content");
    put_base64(writing->w, bytes);
    return 0;
}

static void put_labels(struct json_writer *w, const struct record *labels, size_t n)
{
    json_put_array(w, "labelIds");
    for (size_t i = 0; i < n; i++)
        json_write_str(w, labels[i].id);
    json_write_array_end(w);
}

static int put_page(struct writing *writing, const struct record *records, size_t n,
                    struct err *err)
{
    struct record **labels = NULL;
    size_t *counts = NULL;
    bool tasks = n && records[0].type == RECORD_TASK;

    if (tasks &&
        task_labels_of(writing->journal, records, n, writing->arena, &labels, &counts, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(writing->w);
        record_write_members(writing->w, &records[i]);
        if (tasks)
            put_labels(writing->w, labels[i], counts[i]);
        if (records[i].type == RECORD_ATTACHMENT && put_content(writing, &records[i], err) < 0)
            return -1;
        json_write_object_end(writing->w);
    }
    return 0;
}

static int put_type(struct writing *writing, enum record_type type, struct err *err)
{
    struct record_filter filter = { .type = type, .limit = PAGE };
    bool more = true;

    json_put_array(writing->w, record_list_name(type));
    while (more) {
        struct record *records;
        size_t n;

        arena_reset(writing->arena);
        if (record_list(writing->journal, &filter, writing->arena, &records, &n, &more, err) < 0 ||
            put_page(writing, records, n, err) < 0)
            return -1;
        if (n)
            filter.after = records[n - 1].n;
        if (writing->w->out->full)
            return err_set(err, ERR_TOO_LARGE, "the journal is larger than %zu bytes as JSON",
                           writing->w->out->max);
    }
    json_write_array_end(writing->w);
    return 0;
}

int export_json(struct journal *journal, bool attachments, struct buf *out, struct err *err)
{
    AUTO_ARENA page = ARENA_INIT;
    struct json_writer w = JSON_WRITER(out);
    struct writing writing = {
        .journal = journal, .w = &w, .arena = &page, .attachments = attachments
    };

    json_write_object_begin(&w);
    json_put_text(&w, "format", "dormouse-journal");
    json_put_i64(&w, "version", 1);
    for (int type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++)
        if (put_type(&writing, (enum record_type)type, err) < 0)
            return -1;
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the journal is larger than %zu bytes as JSON",
                       out->max);
    return 0;
}

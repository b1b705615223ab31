/* /journal/attachments: bytes of entries, in and out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/api_journal_int.h"
#include "serve/range.h"

static int add_attachment(struct api_journal_work *work, struct err *err)
{
    struct attachment_file file = {
        .file_name = serve_request_query(work->request, "fileName"),
        .content_type = serve_request_header(work->request, "content-type"),
        .bytes = serve_request_body(work->request),
    };
    struct str entry_id = serve_request_query(work->request, "entryId");
    struct record entry, record;

    if (!entry_id.n || !file.file_name.n)
        return err_set(err, ERR_BAD_REQUEST, "?%s= is missing: %s",
                       entry_id.n ? "fileName" : "entryId",
                       entry_id.n ? "what the file is called" : "the entry that it belongs to");
    if (serve_request_query(work->request, "contentType").n)
        file.content_type = serve_request_query(work->request, "contentType");
    if (!file.content_type.n)
        file.content_type = STR("application/octet-stream");
    if (api_journal_record(work, RECORD_ENTRY, entry_id, false, &entry, err) < 0)
        return err_wrap(err, "entryId");
    if (!file.bytes.n)
        return err_set(err, ERR_BAD_REQUEST, "the file is empty; there is nothing to keep");
    file.entry_id = entry.id;
    if (attachment_add(work->write, &file, &record, err) < 0)
        return -1;
    return api_journal_put(work, &record, err);
}

void api_attachments_add(struct serve_request *request)
{
    api_journal_do(
        request, &(struct api_journal_job){ .status = 201, .bytes = true, .work = add_attachment });
}

/* Whatever somebody stored must not become a page of ours: it is a download, in a box of its own.
 * Pictures and sound still show in a page that names them. */
void api_attachments_content(struct serve_request *request)
{
    struct api_journal_work work = { .request = request,
                                     .journal = api_journal(request),
                                     .arena = serve_request_arena(request) };
    struct err err = ERR_INIT;
    struct record record;
    struct str bytes = STR_NONE;
    int r;

    if (api_check_query(request) < 0)
        return;
    r = work.journal ? api_journal_record(&work, RECORD_ATTACHMENT,
                                          serve_request_param(request, "id"), false, &record, &err)
                     : err_set(&err, ERR_NOT_FOUND, "there is no journal here");
    if (r == 0)
        r = attachment_content(work.journal, record.id, work.arena, &bytes, &err);
    if (r < 0) {
        serve_reply_error(request, &err);
        return;
    }
    serve_reply_header(request, "Content-Disposition", "attachment");
    serve_reply_header(request, "Content-Security-Policy", "sandbox; default-src 'none'");
    serve_reply_file(
        request, arena_printf(work.arena, "%.*s", STR_ARG(record_str(&record, "contentType"))),
        arena_printf(work.arena, "%.*s", STR_ARG(record_str(&record, "sha256"))), bytes);
}

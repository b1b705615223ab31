/* Reading an HTTP/1.1 answer.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/answer.h"

#define CHUNK_SIZE_DIGITS 12

void answer_init(struct answer *answer)
{
    *answer = (struct answer){ .in = BUF_INIT(ANSWER_IN_BYTES) };
}

void answer_release(struct answer *answer)
{
    buf_release(&answer->in);
}

void answer_next(struct answer *answer)
{
    struct buf in = answer->in;

    *answer = (struct answer){ .in = in };
}

static int malformed(struct err *err, const char *what)
{
    return err_set(err, ERR_PROVIDER_FAILED, "the daemon's answer is not HTTP: %s", what);
}

/* ---- lines ---- */

/* 1 and the line without its end, which stays in the buffer; 0 not there yet; -1 too long. */
static int peek_line(const struct answer *answer, struct str *ret_line, size_t *ret_used,
                     struct err *err)
{
    struct str all = buf_str(&answer->in);
    ptrdiff_t end = str_find_char(all, '\n');

    if (end < 0)
        return all.n > ANSWER_HEAD_BYTES ? malformed(err, "a line without end") : 0;
    *ret_used = (size_t)end + 1;
    *ret_line = str_take(all, (size_t)end);
    if (ret_line->n && ret_line->p[ret_line->n - 1] == '\r')
        ret_line->n--;
    return 1;
}

/* ---- the head ---- */

static int read_status(struct answer *answer, struct str line, struct err *err)
{
    int64_t status;

    if (!str_starts(line, STR("HTTP/1.")) || line.n < 12 || line.p[8] != ' ' ||
        str_to_i64(str_take(str_skip(line, 9), 3), &status) < 0 || status < 100 ||
        (line.n > 12 && line.p[12] != ' '))
        return malformed(err, "no status");
    answer->status = (int)status;
    answer->kind = ANSWER_TO_END;
    return 0;
}

static int read_field(struct answer *answer, struct str line, struct err *err)
{
    struct str name, value = line;

    if (str_find_char(line, ':') < 1 || !str_split(&value, ':', &name))
        return malformed(err, "a header without a name");
    value = str_trim(value);
    if (str_eq_nocase(name, STR("Content-Length"))) {
        if (str_to_u64(value, &answer->left) < 0)
            return malformed(err, "Content-Length");
        if (answer->kind != ANSWER_CHUNKED)
            answer->kind = ANSWER_LENGTH;
    } else if (str_eq_nocase(name, STR("Transfer-Encoding"))) {
        if (!str_eq_nocase(value, STR("chunked")))
            return malformed(err, "Transfer-Encoding");
        answer->kind = ANSWER_CHUNKED;
    } else if (str_eq_nocase(name, STR("Connection"))) {
        answer->close = str_eq_nocase(value, STR("close"));
    }
    return 0;
}

static void end_head(struct answer *answer)
{
    answer->head = 0;
    if (answer->status < 200) { /* 100 Continue: the answer comes after it */
        answer->at = ANSWER_STATUS;
        return;
    }
    answer->at = ANSWER_BODY;
    if (answer->kind == ANSWER_CHUNKED)
        answer->left = 0;
    if (answer->status == 204 || answer->status == 304 ||
        (answer->kind == ANSWER_LENGTH && answer->left == 0)) {
        answer->kind = ANSWER_NONE;
        answer->at = ANSWER_OVER;
    }
}

int answer_head(struct answer *answer, struct err *err)
{
    struct str line;
    size_t used;
    int r;

    while (answer->at == ANSWER_STATUS || answer->at == ANSWER_FIELDS) {
        r = peek_line(answer, &line, &used, err);
        if (r <= 0)
            return r;
        answer->head += used;
        if (answer->head > ANSWER_HEAD_BYTES)
            return malformed(err, "too many headers");
        if (answer->at == ANSWER_STATUS) {
            if (read_status(answer, line, err) < 0)
                return -1;
            answer->at = ANSWER_FIELDS;
        } else if (line.n == 0) {
            end_head(answer);
        } else if (read_field(answer, line, err) < 0) {
            return -1;
        }
        buf_consume(&answer->in, used);
    }
    return 1;
}

/* ---- the body ---- */

static int read_chunk_size(struct str line, uint64_t *ret_size, struct err *err)
{
    uint64_t size = 0;
    size_t n = 0;

    for (; n < line.n && hex_digit(line.p[n]) >= 0; n++) {
        if (n == CHUNK_SIZE_DIGITS)
            return malformed(err, "a chunk beyond all bounds");
        size = size * 16 + (unsigned)hex_digit(line.p[n]);
    }
    if (n == 0 || (n < line.n && line.p[n] != ';' && line.p[n] != ' '))
        return malformed(err, "a chunk without size");
    *ret_size = size;
    return 0;
}

/* The line before a chunk, or the empty one after it. 1 taken, 0 not there yet, -1. */
static int next_chunk(struct answer *answer, struct err *err)
{
    struct str line;
    size_t used;
    int r = peek_line(answer, &line, &used, err);

    if (r <= 0)
        return r;
    if (answer->chunk_ended) {
        if (line.n)
            return malformed(err, "a chunk longer than it said");
        answer->chunk_ended = false;
    } else {
        if (read_chunk_size(line, &answer->left, err) < 0)
            return -1;
        if (answer->left == 0)
            answer->at = ANSWER_TRAILER;
    }
    buf_consume(&answer->in, used);
    return 1;
}

static int skip_trailer(struct answer *answer, struct err *err)
{
    struct str line;
    size_t used;
    int r;

    while ((r = peek_line(answer, &line, &used, err)) == 1) {
        answer->head += used;
        if (answer->head > ANSWER_HEAD_BYTES)
            return malformed(err, "too many headers");
        if (line.n == 0)
            answer->at = ANSWER_OVER;
        buf_consume(&answer->in, used);
        if (answer->at == ANSWER_OVER)
            return 0;
    }
    return r;
}

int answer_piece(struct answer *answer, struct str *ret_piece, struct err *err)
{
    int r;

    while (answer->at == ANSWER_BODY && answer->kind == ANSWER_CHUNKED && answer->left == 0) {
        r = next_chunk(answer, err);
        if (r <= 0)
            return r;
    }
    if (answer->at == ANSWER_TRAILER)
        return skip_trailer(answer, err);
    if (answer->at != ANSWER_BODY)
        return 0;
    *ret_piece = buf_str(&answer->in);
    if (answer->kind != ANSWER_TO_END && ret_piece->n > answer->left)
        ret_piece->n = (size_t)answer->left;
    return ret_piece->n > 0;
}

void answer_took(struct answer *answer, size_t n)
{
    buf_consume(&answer->in, n);
    if (answer->kind == ANSWER_TO_END)
        return;
    answer->left -= n;
    if (answer->left > 0)
        return;
    if (answer->kind == ANSWER_LENGTH)
        answer->at = ANSWER_OVER;
    else
        answer->chunk_ended = true;
}

int answer_closed(struct answer *answer, struct err *err)
{
    if (answer->at == ANSWER_BODY && answer->kind == ANSWER_TO_END)
        answer->at = ANSWER_OVER;
    if (answer->at == ANSWER_OVER)
        return 0;
    return err_set(err, ERR_PROVIDER_FAILED, "the daemon went away in the middle of an answer");
}

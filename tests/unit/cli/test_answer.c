/* HTTP answers, whole, cut at every byte, and broken.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "cli/answer.h"
#include "harness/test.h"

/* Feeds text in pieces of `step` bytes, the first of `first`; the body goes to out. Returns what
 * the parser said last: 1 over, 0 more is needed, -1. */
static int feed(struct answer *answer, struct str text, size_t first, size_t step, struct buf *out,
                struct err *err)
{
    size_t at = 0, n = first;
    struct str piece;
    int r;

    for (;;) {
        if (n > text.n - at)
            n = text.n - at;
        buf_add(&answer->in, text.p + at, n);
        at += n;
        n = step;
        r = answer_head(answer, err);
        while (r == 1 && (r = answer_piece(answer, &piece, err)) == 1) {
            buf_add_str(out, piece);
            answer_took(answer, piece.n);
        }
        if (r < 0)
            return -1;
        if (answer->at == ANSWER_OVER)
            return 1;
        if (at == text.n)
            return 0;
    }
}

static const struct {
    const char *name, *text, *body;
    int status;
} good[] = {
    { "length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", 200 },
    { "empty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", 200 },
    { "204", "HTTP/1.1 204 No Content\r\n\r\n", "", 204 },
    { "chunked",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n \r\nA\r\n0123456789"
      "\r\n0\r\n\r\n",
      "hello 0123456789", 200 },
    { "chunk extension and trailer",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n",
      "ok", 200 },
    { "chunk of line ends",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n",
      200 },
    { "after continue",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\ncontent-length:2\r\n\r\nno", "no",
      404 },
    { "bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "ok", 200 },
    { "chunked beats a length",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 99\r\n\r\n1\r\nx\r\n0\r\n"
      "\r\n",
      "x", 200 },
};

TEST(answers_are_the_same_wherever_they_are_cut)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct str text = str_from(good[i].text);

        for (size_t first = 0; first <= text.n; first++) {
            for (size_t step = 1; step <= text.n; step += text.n - 1) {
                AUTO_BUF body = BUF_INIT(1000);
                struct answer answer;

                answer_init(&answer);
                if (feed(&answer, text, first, step, &body, &t->err) != 1 ||
                    !str_is(buf_str(&body), good[i].body) || answer.status != good[i].status ||
                    answer.in.n)
                    FAIL("%s cut at %zu: \"%s\"", good[i].name, first, buf_text(&body));
                answer_release(&answer);
            }
        }
    }
}

TEST(an_answer_that_ends_early_is_not_whole)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct str text = str_from(good[i].text);

        for (size_t n = 0; n < text.n; n++) {
            AUTO_BUF body = BUF_INIT(1000);
            struct answer answer;

            answer_init(&answer);
            if (feed(&answer, str_take(text, n), n, 1, &body, &t->err) != 0)
                FAIL("%s is over after %zu of %zu bytes", good[i].name, n, text.n);
            ASSERT_FAILS(answer_closed(&answer, &t->err), ERR_PROVIDER_FAILED);
            err_reset(&t->err);
            answer_release(&answer);
        }
    }
}

TEST(an_answer_without_length_ends_with_the_connection)
{
    AUTO_BUF body = BUF_INIT(1000);
    struct answer answer;

    answer_init(&answer);
    ASSERT_EQ(feed(&answer, STR("HTTP/1.1 200 OK\r\n\r\nall of it"), 3, 2, &body, &t->err), 0);
    ASSERT_OK(answer_closed(&answer, &t->err));
    ASSERT_EQ(answer.at, ANSWER_OVER);
    ASSERT_TEXT(buf_text(&body), "all of it");
    answer_release(&answer);
}

TEST(two_answers_in_one_read_are_two)
{
    AUTO_BUF body = BUF_INIT(1000);
    struct str text = STR("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 500 X\r\n"
                          "Content-Length: 1\r\nConnection: close\r\n\r\nb");
    struct answer answer;

    answer_init(&answer);
    ASSERT_EQ(feed(&answer, text, text.n, 1, &body, &t->err), 1);
    ASSERT(!answer.close);
    answer_next(&answer);
    ASSERT_EQ(feed(&answer, STR(""), 0, 1, &body, &t->err), 1);
    ASSERT_EQ(answer.status, 500);
    ASSERT(answer.close);
    ASSERT_TEXT(buf_text(&body), "ab");
    answer_release(&answer);
}

TEST(what_is_not_http_is_refused)
{
    static const char *const bad[] = {
        "SSH-2.0-OpenSSH_9.2\r\n",
        "\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 OK\r\n\r\n",
        "HTTP/1.1 20x OK\r\n\r\n",
        "HTTP/1.1 -20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1x\r\na\r\n0\r\n\r\n",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        AUTO_BUF body = BUF_INIT(1000);
        struct answer answer;

        answer_init(&answer);
        err_reset(&t->err);
        if (feed(&answer, str_from(bad[i]), 1, 1, &body, &t->err) != -1)
            FAIL("accepted: %s", bad[i]);
        ASSERT_EQ(t->err.code, ERR_PROVIDER_FAILED);
        answer_release(&answer);
    }
}

TEST(heads_and_trailers_without_end_are_refused)
{
    static const char *const begin[] = {
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
    };

    for (size_t i = 0; i < 2; i++) {
        for (int one_line = 0; one_line < 2; one_line++) {
            AUTO_BUF body = BUF_INIT(1000);
            AUTO_BUF text = BUF_INIT(1 << 20);
            struct answer answer;

            buf_add_text(&text, begin[i]);
            while (text.n < 2 * ANSWER_HEAD_BYTES)
                buf_add_text(&text, one_line ? "aaaaaaaaaaaaaaaa" : "X-Header: again\r\n");
            answer_init(&answer);
            err_reset(&t->err);
            ASSERT_EQ(feed(&answer, buf_str(&text), 4000, 4000, &body, &t->err), -1);
            answer_release(&answer);
        }
    }
}

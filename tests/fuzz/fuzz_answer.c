/* Answers of a server: cut in two at a place the input chooses, the body must be the same as whole.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_all(struct answer *answer, struct buf *out)
{
    struct str piece;
    int r = answer_head(answer, NULL);

    while (r == 1 && (r = answer_piece(answer, &piece, NULL)) == 1) {
        buf_add_str(out, piece);
        answer_took(answer, piece.n);
    }
    return r;
}

/* Reads bytes in two parts; the result in out. */
static int run(const uint8_t *data, size_t size, size_t cut, struct buf *out)
{
    struct answer answer;
    int r;

    answer_init(&answer);
    buf_add(&answer.in, data, cut);
    r = read_all(&answer, out);
    if (r >= 0) {
        buf_add(&answer.in, data + cut, size - cut);
        r = read_all(&answer, out);
    }
    if (r >= 0)
        r = answer_closed(&answer, NULL) < 0 ? 0 : 1;
    answer_release(&answer);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole = BUF_INIT(1 << 20), cut = BUF_INIT(1 << 20);
    size_t at;
    int a, b;

    if (size < 2 || size > 100000)
        return 0;
    at = (size_t)(data[0] << 8 | data[1]) % (size - 1);
    a = run(data + 2, size - 2, size - 2, &whole);
    b = run(data + 2, size - 2, at, &cut);
    if (a != b || (a >= 0 && (whole.n != cut.n || (whole.n && memcmp(whole.p, cut.p, whole.n)))))
        abort();
    buf_release(&whole);
    buf_release(&cut);
    return 0;
}

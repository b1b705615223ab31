/* Our mail beside others': `mime-main read` turns a message on standard input into JSON,
 * `mime-main write TO SUBJECT` a body into a message.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "connect/mime.h"

#define INPUT_MAX (8u << 20)

static void read_all(struct buf *out)
{
    char piece[65536];
    ssize_t n;

    while ((n = read(STDIN_FILENO, piece, sizeof(piece))) > 0)
        buf_add(out, piece, (size_t)n);
}

static void show(struct str bytes)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_BUF json = BUF_INIT(INPUT_MAX);
    struct json_writer w = JSON_WRITER(&json);
    struct mime_message m;

    mime_read(bytes, &arena, &m);
    json_write_object_begin(&w);
    json_put_str(&w, "from", m.from);
    json_put_str(&w, "to", m.to);
    json_put_str(&w, "subject", m.subject);
    json_put_str(&w, "text", m.text);
    json_put_array(&w, "attachments");
    for (size_t i = 0; i < m.n_attachments; i++) {
        json_write_object_begin(&w);
        json_put_str(&w, "name", m.attachments[i].name);
        json_put_str(&w, "type", m.attachments[i].type);
        json_put_i64(&w, "bytes", (int64_t)m.attachments[i].bytes);
        json_write_object_end(&w);
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    puts(buf_text(&json));
}

int main(int argc, char **argv)
{
    AUTO_BUF input = BUF_INIT(INPUT_MAX);
    AUTO_BUF out = BUF_INIT(INPUT_MAX);
    struct err err = ERR_INIT;
    struct mime_mail mail;
    struct str to;

    read_all(&input);
    if (argc == 2 && strcmp(argv[1], "read") == 0) {
        show(buf_str(&input));
        return 0;
    }
    if (argc != 4 || strcmp(argv[1], "write") != 0)
        return 2;
    to = str_from(argv[2]);
    mail = (struct mime_mail){
        .to = &to, .n_to = 1, .subject = str_from(argv[3]), .body = buf_str(&input)
    };
    if (mime_write(&mail, &out, &err) < 0)
        return 1;
    fwrite(out.p, 1, out.n, stdout);
    return 0;
}

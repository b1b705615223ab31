/* What was typed, kept from one conversation to the next: one entry a line, \n for a newline.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/redact.h"
#include "cli/chat_int.h"

#define HISTORY_BYTES (4u << 20)
#define ENTRY_BYTES   (64u << 10)

static char *history_path(const char *data_dir)
{
    AUTO_BUF path = BUF_INIT(8192);

    buf_printf(&path, "%s/chat_history", data_dir);
    return buf_take(&path);
}

static void escape(struct str entry, struct buf *out)
{
    for (size_t i = 0; i < entry.n; i++) {
        if (entry.p[i] == '\n')
            buf_add_text(out, "\\n");
        else if (entry.p[i] == '\\')
            buf_add_text(out, "\\\\");
        else if (entry.p[i])
            buf_add_char(out, entry.p[i]);
    }
}

static void unescape(struct str line, struct buf *out)
{
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '\\' && i + 1 < line.n)
            buf_add_char(out, line.p[++i] == 'n' ? '\n' : line.p[i]);
        else
            buf_add_char(out, line.p[i]);
    }
}

bool chat_history_wants(struct str entry)
{
    AUTO_BUF clean = BUF_INIT(4 * ENTRY_BYTES + 256);

    if (!entry.n || entry.p[0] == ' ' || entry.n > ENTRY_BYTES)
        return false;
    return redact(entry, &clean) == 0 && str_eq(buf_str(&clean), entry);
}

/* Only the newest lines are kept, when there are twice as many. */
static void shorten(const char *path, struct str text, size_t lines)
{
    struct err err = ERR_INIT;

    if (lines < 2 * CHAT_HISTORY_LINES)
        return;
    for (; lines > CHAT_HISTORY_LINES; lines--)
        text = str_skip(text, (size_t)str_find_char(text, '\n') + 1);
    file_write_atomic(path, text, 0600, &err);
}

void chat_history_each(const char *data_dir, void (*fn)(void *arg, const char *entry), void *arg)
{
    char *path = history_path(data_dir);
    AUTO_BUF text = BUF_INIT(HISTORY_BYTES);
    struct str rest, line;
    struct err err = ERR_INIT;
    size_t lines = 0, at = 0;

    file_read(path, &text, &err);
    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    rest = buf_str(&text);
    while (rest.n && str_split(&rest, '\n', &line)) {
        AUTO_BUF entry = BUF_INIT(ENTRY_BYTES);

        if (at++ + CHAT_HISTORY_LINES < lines || !line.n)
            continue;
        unescape(line, &entry);
        fn(arg, buf_text(&entry));
    }
    shorten(path, buf_str(&text), lines);
    free(path);
}

void chat_history_add(const char *data_dir, struct str entry)
{
    char *path;
    AUTO_BUF line = BUF_INIT(2 * ENTRY_BYTES + 2);
    AUTO_FD fd = -1;

    if (!chat_history_wants(entry))
        return;
    path = history_path(data_dir);
    escape(entry, &line);
    buf_add_char(&line, '\n');
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        file_write_all(fd, buf_str(&line));
    free(path);
}

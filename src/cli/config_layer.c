/* One file of the configuration: read, parsed, with a place for every value.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/config_int.h"

#define MESSAGE_MAX 1024

void config_problems_release(struct config_problems *problems)
{
    arena_release(&problems->arena);
}

static void add_problem(struct config_problems *problems, const char *file, unsigned line,
                        unsigned column, const char *fmt, va_list args)
{
    AUTO_BUF message = BUF_INIT(MESSAGE_MAX);

    if (problems->n == CONFIG_PROBLEMS_MAX) {
        problems->more++;
        return;
    }
    buf_vprintf(&message, fmt, args);
    problems->items[problems->n++] = (struct config_problem){
        .file = arena_text(&problems->arena, file),
        .line = line,
        .column = column,
        .message = arena_text(&problems->arena, buf_text(&message)),
    };
}

void config_problem_add(struct config_problems *problems, const char *file, unsigned line,
                        unsigned column, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add_problem(problems, file, line, column, fmt, args);
    va_end(args);
}

void config_problem_at(struct config_problems *problems, const struct config_layer *layer,
                       const char *pointer, const char *fmt, ...)
{
    unsigned line = 0, column = 0;
    va_list args;

    config_layer_where(layer, pointer, &line, &column);
    va_start(args, fmt);
    add_problem(problems, layer->name, line, column, fmt, args);
    va_end(args);
}

int config_layer_where(const struct config_layer *layer, const char *pointer, unsigned *ret_line,
                       unsigned *ret_column)
{
    (void)layer, (void)pointer, (void)ret_line, (void)ret_column;
    return 0;
}

/* 1 read, 0 absent, -1 with a problem. */
static int read_text(const char *path, struct buf *text, struct config_problems *problems)
{
    struct stat st;
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return 0;
        config_problem_add(problems, path, 0, 0, "can't be read: %s", strerror(errno));
        return -1;
    }
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        config_problem_add(problems, path, 0, 0, "is not a file");
        close(fd);
        return -1;
    }
    while ((n = read(fd, buf_reserve(text, 4096), 4096)) > 0)
        buf_grown(text, (size_t)n);
    close(fd);
    return 1;
}

int config_layer_read(const char *path, struct config_layer *layer,
                      struct config_problems *problems)
{
    AUTO_BUF text = BUF_INIT(LIMIT_CONFIG_BYTES + 4096);
    struct err err = ERR_INIT;
    int r = read_text(path, &text, problems);

    layer->name = path;
    if (r <= 0)
        return r;
    if (text.n > LIMIT_CONFIG_BYTES) {
        config_problem_add(problems, path, 0, 0, "is larger than %u KiB", LIMIT_CONFIG_BYTES / KIB);
        return -1;
    }
    if (json_parse(buf_str(&text), &layer->tree, &err) < 0) {
        config_problem_add(problems, path, 0, 0, "%s", err_message(&err, 0));
        return -1;
    }
    return layer->tree ? 1 : 0;
}

void config_layer_release(struct config_layer *layer)
{
    json_object_put(layer->tree);
    layer->tree = NULL;
}

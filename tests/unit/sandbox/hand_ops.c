/* SPDX-License-Identifier: MIT */
#include "hand_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "sandbox/op_file.h"

/* Each test is a process; what it was given stays reachable until it ends. */
static struct ops *kept_ops;
static struct json_object **kept;
static size_t kept_n;

__attribute__((destructor)) static void free_kept(void)
{
    for (size_t i = 0; i < kept_n; i++)
        json_object_put(kept[i]);
    free(kept);
    if (kept_ops)
        op_seen_clear(&kept_ops->state);
    free(kept_ops);
}

struct ops *ops_new(struct test *t)
{
    struct ops *ops = kept_ops = NEW(struct ops);
    char real[PATH_MAX];

    ASSERT(realpath(test_dir(t), real));
    ops->root = arena_text(&t->arena, real);
    ops->files_read = MAP_INIT;
    ops->allow[0] = arena_printf(&t->arena, "%s/w", real);
    ops->deny[0] = arena_printf(&t->arena, "%s/secret", real);
    ops->names[0] = ".env";
    ops->state = (struct op_state){
        .rules = { .allow_write = ops->allow, .deny_read = ops->deny, .deny_names = ops->names },
        .cwd = arena_text(&t->arena, ops->allow[0]),
        .files_read = &ops->files_read,
    };
    ops->ctx = (struct op_ctx){ .state = &ops->state,
                                .arena = &t->arena,
                                .cancelled = &ops->cancelled,
                                .deadline_ms = clock_mono_ms(clock_system()) + SECONDS(50) };
    ASSERT_EQ(mkdir(ops->allow[0], 0755), 0);
    ASSERT_EQ(mkdir(ops->deny[0], 0755), 0);
    return ops;
}

struct json_object *ops_try(struct test *t, struct ops *ops, op_fn *fn, const char *fmt, ...)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_BUF result = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer writer = JSON_WRITER(&result);
    AUTO_JSON arguments = NULL;
    struct json_object *value;
    va_list args;

    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    err_reset(&t->err);
    if (json_parse(buf_str(&text), &arguments, &t->err) < 0)
        FAIL("the test's own arguments: %s", test_err_text(t));
    if (fn(&ops->ctx, arguments, &writer, &t->err) < 0) {
        ASSERT(t->err.code != ERR_NONE);
        return NULL;
    }
    ASSERT_EQ(json_write_end(&writer), 0);
    ASSERT_OK(json_parse(buf_str(&result), &value, &t->err));
    kept = alloc_resize(kept, kept_n + 1, sizeof(*kept));
    kept[kept_n++] = value;
    return value;
}

const char *ops_path(struct test *t, struct ops *ops, const char *name)
{
    return arena_printf(&t->arena, "%s/w/%s", ops->root, name);
}

void ops_write(struct test *t, struct ops *ops, const char *name, const char *text)
{
    char *path = arena_text(&t->arena, ops_path(t, ops, name));

    for (char *slash = path + strlen(ops->root) + 3; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            FAIL("mkdir %s", path);
        *slash = '/';
    }
    test_write_file(path, text, strlen(text));
}

const char *ops_text(struct test *t, struct ops *ops, const char *name)
{
    return test_read_file(t, ops_path(t, ops, name)).p;
}

static struct json_object *at(struct json_object *result, const char *pointer)
{
    struct str rest = str_from(pointer), part;

    while (result && str_split(&rest, '/', &part)) {
        char token[64] = "";

        memcpy(token, part.p, part.n < sizeof(token) ? part.n : 0);
        if (json_pointer_step(&result, str_from(token)) < 0)
            return NULL;
    }
    return result;
}

const char *ops_str(struct json_object *result, const char *pointer)
{
    return json_str(at(result, pointer)).p;
}

int64_t ops_int(struct json_object *result, const char *pointer)
{
    struct json_object *value = at(result, pointer);

    return value ? json_object_get_int64(value) : -1;
}

int ops_bool(struct json_object *result, const char *pointer)
{
    struct json_object *value = at(result, pointer);

    return value ? json_object_get_boolean(value) : -1;
}

static _Noreturn void run_child(const char *dir, const char *const *argv, int out_fd)
{
    int null_fd = open("/dev/null", O_RDWR);

    if (chdir(dir) == 0) {
        dup2(null_fd, 0);
        dup2(out_fd, 1);
        setenv("LC_ALL", "C", 1);
        setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
        setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
        execvp(argv[0], (char *const *)argv);
    }
    _exit(127);
}

const char *ops_run(struct test *t, const char *dir, int most, const char *const *argv)
{
    const char *path = test_path(t, "run-output");
    AUTO_FD fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    pid_t pid = fork();
    int status;

    if (pid == 0)
        run_child(dir, argv, fd);
    ASSERT(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > most)
        FAIL("%s ended with %d (is it installed?)", argv[0], status);
    return test_read_file(t, path).p;
}

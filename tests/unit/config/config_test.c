/* SPDX-License-Identifier: MIT */
#include "config_test.h"

#include <stdio.h>
#include <sys/stat.h>

static void put(const char *path, const char *text)
{
    remove(path);
    if (text)
        test_write_file(path, text, strlen(text));
}

struct config *config_case_load(struct test *t, const struct config_case *c,
                                struct config_problems *problems)
{
    static char *const nothing[] = { NULL };
    struct config_sources sources = { .data_dir = test_dir(t), .work_dir = test_path(t, "work") };
    struct config *config = NULL;

    mkdir(sources.work_dir, 0700);
    mkdir(test_path(t, "work/.dormouse"), 0700);
    put(test_path(t, "config.yaml"), c->file);
    put(test_path(t, "work/.dormouse/config.yaml"), c->work);
    sources.environment = c->variables ? (char *const *)(uintptr_t)c->variables : nothing;
    err_reset(&t->err);
    config_load(&sources, &config, problems, &t->err);
    return config;
}

const char *config_problem_text(struct test *t, const struct config_problems *problems, size_t i)
{
    const struct config_problem *p = &problems->items[i];
    const char *file;

    if (i >= problems->n)
        return "";
    file = strrchr(p->file, '/') ? strrchr(p->file, '/') + 1 : p->file;
    if (!p->line)
        return arena_printf(&t->arena, "%s: %s", file, p->message);
    return arena_printf(&t->arena, "%s:%u:%u: %s", file, p->line, p->column, p->message);
}

const char *config_wrong(struct test *t, const char *file)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config) config = config_case_load(t, &(struct config_case){ .file = file }, &problems);

    if (config || problems.n == 0)
        return "it is valid";
    return config_problem_text(t, &problems, 0);
}

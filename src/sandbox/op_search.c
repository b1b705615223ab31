/* search: files by name and lines by pattern, best first.
 *
 * Rank of a file: its name matches the pattern, then one of its lines looks like a definition, then
 * how many lines match (in powers of two, so that near numbers do not decide), then its path. The
 * shown lines are shared out so that no file hides the others.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/json_put.h"
#include "sandbox/op_file.h"
#include "sandbox/search.h"

#define LIMIT_DEFAULT 100
#define LIMIT_MOST    1000
#define CONTEXT_MOST  10
#define QUOTA_FIRST   3           /* lines of a file before others get theirs */
#define TEXT_MOST     (256 * KIB) /* bytes of all lines together */

struct asked {
    struct str path, pattern, glob;
    bool regex, ignore_case, files_only, hidden, no_ignore;
    int64_t context, limit;
};

static int read_asked(struct json_object *arguments, struct asked *a, struct err *err)
{
    const struct {
        const char *name;
        struct str *to;
    } texts[] = { { "path", &a->path }, { "pattern", &a->pattern }, { "glob", &a->glob } };
    const struct {
        const char *name;
        bool *to;
    } switches[] = {
        { "regex", &a->regex },           { "ignore_case", &a->ignore_case },
        { "files_only", &a->files_only }, { "hidden", &a->hidden },
        { "no_ignore", &a->no_ignore },
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (json_get_str(arguments, texts[i].name, texts[i].to, err) < 0)
            return -1;
    for (size_t i = 0; i < ARRAY_LEN(switches); i++)
        if (json_get_bool(arguments, switches[i].name, switches[i].to, err) < 0)
            return -1;
    return json_get_i64(arguments, "context", &a->context, err) < 0 ||
                   json_get_i64(arguments, "limit", &a->limit, err) < 0
               ? -1
               : 0;
}

struct job {
    struct op_ctx *ctx;
    struct asked asked;
    struct access_place root;
    struct pattern *pattern;
    struct search_request request;
    struct search_result result;
    struct search_found **order; /* by rank */
};

static void job_release(struct job *job)
{
    access_release(&job->root);
    pattern_free(job->pattern);
    search_result_release(&job->result);
}

static int check_asked(const struct asked *a, struct err *err)
{
    if (!a->pattern.p && !a->glob.p)
        return err_set(err, ERR_BAD_REQUEST,
                       "pattern and glob are missing; at least one is needed");
    if (a->limit < 1 || a->limit > LIMIT_MOST)
        return err_set(err, ERR_BAD_REQUEST, "limit is %lld; 1 to %d are allowed",
                       (long long)a->limit, LIMIT_MOST);
    if (a->context < 0 || a->context > CONTEXT_MOST)
        return err_set(err, ERR_BAD_REQUEST, "context is %lld; 0 to %d lines are allowed",
                       (long long)a->context, CONTEXT_MOST);
    return 0;
}

static int prepare(struct job *job, struct json_object *arguments, struct err *err)
{
    struct asked *a = &job->asked;
    struct search_request *r = &job->request;

    *a = (struct asked){ .path = STR("."), .limit = LIMIT_DEFAULT };
    if (read_asked(arguments, a, err) < 0 || check_asked(a, err) < 0)
        return -1;
    if (a->pattern.p &&
        pattern_compile(a->pattern, a->regex, a->ignore_case, &job->pattern, err) < 0)
        return -1;
    if (a->glob.p && search_glob_parse(a->glob, job->ctx->arena, &r->glob, err) < 0)
        return -1;
    r->pattern = job->pattern;
    r->files_only = a->files_only;
    r->hidden = a->hidden;
    r->no_ignore = a->no_ignore;
    return op_check(job->ctx, err) < 0 ? -1 : access_read(job->ctx, a->path, &job->root, err);
}

/* ---- rank ---- */

static unsigned magnitude(uint64_t n)
{
    return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
}

struct ranked {
    struct search_found *found;
    bool named;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->named != y->named)
        return x->named ? -1 : 1;
    if (x->found->defines != y->found->defines)
        return x->found->defines ? -1 : 1;
    if (magnitude(x->found->count) != magnitude(y->found->count))
        return magnitude(x->found->count) > magnitude(y->found->count) ? -1 : 1;
    return strcmp(x->found->path, y->found->path);
}

static bool is_named(struct pattern_run *run, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct pattern_hit hit;

    pattern_begin(run);
    return name[0] && pattern_find(run, name, name + strlen(name), NULL, NULL, &hit) > 0;
}

static void rank(struct job *job)
{
    size_t n = job->result.n;
    struct ranked *ranked = NEW_N(struct ranked, n ? n : 1);
    AUTO(pattern_run) run = job->pattern ? pattern_run_new(job->pattern) : NULL;

    for (size_t i = 0; i < n; i++)
        ranked[i] = (struct ranked){ .found = &job->result.found[i],
                                     .named = run && is_named(run, job->result.found[i].path) };
    /* A plain list stays in the order of its paths. */
    if (run)
        qsort(ranked, n, sizeof(*ranked), by_rank);
    job->order = ARENA_NEW_N(job->ctx->arena, struct search_found *, n ? n : 1);
    for (size_t i = 0; i < n; i++)
        job->order[i] = ranked[i].found;
    free(ranked);
}

/* The most lines that each file may show, so that `limit` is used up if it can be. */
static size_t quota(const struct job *job)
{
    uint64_t limit = (uint64_t)job->asked.limit;

    for (uint64_t q = QUOTA_FIRST;; q *= 2) {
        uint64_t sum = 0;

        for (size_t i = 0; i < job->result.n && sum < limit; i++)
            sum += job->order[i]->count < q ? job->order[i]->count : q;
        if (sum >= limit || q >= limit)
            return (size_t)(q < limit ? q : limit);
    }
}

/* ---- the result ---- */

/* As the other tools take it: relative to the working directory where that is possible. */
static const char *shown_path(const struct job *job, const char *below)
{
    const char *root = strcmp(job->root.path, "/") == 0 ? "" : job->root.path;
    char *full = arena_printf(job->ctx->arena, "%s%s%s", root, below[0] ? "/" : "", below);
    size_t n = strlen(job->ctx->state->cwd);

    return strncmp(full, job->ctx->state->cwd, n) == 0 && full[n] == '/' ? full + n + 1 : full;
}

static void write_context(struct json_writer *out, const char *key, const struct str *lines,
                          unsigned n)
{
    if (n == 0)
        return;
    json_put_array(out, key);
    for (unsigned i = 0; i < n; i++)
        json_write_str(out, lines[i]);
    json_write_array_end(out);
}

static void write_line(struct json_writer *out, const char *path, const struct search_line *line)
{
    json_write_object_begin(out);
    json_put_text(out, "path", path);
    json_put_u64(out, "line", line->number);
    json_put_str(out, "text", line->text);
    write_context(out, "before", line->before, line->before_n);
    write_context(out, "after", line->after, line->after_n);
    json_write_object_end(out);
}

static size_t write_lines(struct job *job, struct json_writer *out)
{
    size_t limit = (size_t)job->asked.limit, most = quota(job), shown = 0, began = out->out->n;
    struct search_line *lines = ARENA_NEW_N(job->ctx->arena, struct search_line, most);

    for (size_t i = 0; i < job->result.n && shown < limit; i++) {
        size_t max = limit - shown < most ? limit - shown : most;
        size_t n = search_lines(job->ctx, &job->root, job->pattern, job->order[i]->path,
                                (unsigned)job->asked.context, max, lines);
        const char *path = shown_path(job, job->order[i]->path);

        for (size_t k = 0; k < n && out->out->n - began < TEXT_MOST; k++, shown++)
            write_line(out, path, &lines[k]);
        if (out->out->n - began >= TEXT_MOST)
            break;
    }
    return shown;
}

static size_t write_files(struct job *job, struct json_writer *out)
{
    size_t shown = 0, limit = (size_t)job->asked.limit;

    for (; shown < job->result.n && shown < limit; shown++) {
        json_write_object_begin(out);
        json_put_text(out, "path", shown_path(job, job->order[shown]->path));
        json_write_object_end(out);
    }
    return shown;
}

static void write_skipped(struct json_writer *out, const struct search_result *r)
{
    if (!r->binary && !r->unreadable && !r->costly)
        return;
    json_put_object(out, "skipped");
    if (r->binary) {
        json_put_u64(out, "binary", r->binary);
    }
    if (r->unreadable) {
        json_put_u64(out, "unreadable", r->unreadable);
    }
    if (r->costly) {
        json_put_u64(out, "costly_lines", r->costly);
    }
    json_write_object_end(out);
}

static void write_result(struct job *job, struct json_writer *out)
{
    const struct search_result *r = &job->result;
    bool lines = job->pattern && !job->asked.files_only;
    uint64_t total = lines ? r->lines : r->files;
    size_t shown;

    json_write_object_begin(out);
    json_put_array(out, "matches");
    shown = lines ? write_lines(job, out) : write_files(job, out);
    json_write_array_end(out);
    json_put_u64(out, "files", r->files);
    json_put_u64(out, "total", total);
    json_put_bool(out, "truncated", shown < total || r->cut);
    json_put_u64(out, "searched", r->looked);
    write_skipped(out, r);
    if (r->cut) {
        json_write_key(out, "note");
        json_write_text(out, "too many files: the search ended early; narrow it with path");
    }
    json_write_object_end(out);
}

int op_search(struct op_ctx *ctx, struct json_object *arguments, struct json_writer *out,
              struct err *err)
{
    __attribute__((cleanup(job_release))) struct job job = { .ctx = ctx,
                                                             .root = ACCESS_PLACE_INIT,
                                                             .result = SEARCH_RESULT_INIT };

    if (prepare(&job, arguments, err) < 0)
        return -1;
    if (search_run(ctx, &job.root, &job.request, &job.result, err) < 0)
        return err_wrap(err, "search %s", job.root.path);
    rank(&job);
    write_result(&job, out);
    return op_check(ctx, err);
}

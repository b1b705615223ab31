/* search.grep: fixed texts and expressions over a 200 MB tree of source-like files, against
 * `rg` over the same tree in turns. Both count every matching line of every file under the same
 * ignore rules; the counts must be equal, or the figure is not ok. rg is timed as a process, as its
 * users have it; the hand's search as a request to a process that runs, as agents have it.
 *
 * bench-search [MEGABYTES] [ROUNDS]
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/rand.h"
#include "sandbox/op_int.h"

#define FILE_BYTES 12000 /* on average */
#define DIR_FILES  40
#define ROUNDS     7
#define TARGET     2.0

extern char **environ;

static const char *const words[] = {
    "buffer",  "length",  "return", "static", "struct", "const",   "char",    "size_t", "index",
    "result",  "value",   "table",  "entry",  "offset", "handler", "request", "reply",  "session",
    "context", "channel", "if",     "else",   "while",  "for",     "switch",  "case",   "break",
    "NULL",    "true",    "false",  "memory", "string", "number",  "options", "config", "parse",
    "write",   "read",    "open",   "close",  "flush",  "lookup",  "insert",  "remove", "update",
};

/* ---- the tree ---- */

static void add_line(struct buf *out, struct rand *rand)
{
    uint64_t kind = rand_below(rand, 1000);
    unsigned n = 2 + (unsigned)rand_below(rand, 9);

    if (kind < 60) {
        buf_add_char(out, '\n');
        return;
    }
    for (uint64_t i = rand_below(rand, 4); i > 0; i--)
        buf_add_text(out, "    ");
    for (unsigned i = 0; i < n; i++)
        buf_printf(out, "%s%s%s", i ? " " : "", words[rand_below(rand, ARRAY_LEN(words))],
                   rand_below(rand, 5) == 0 ? "_" : "");
    if (kind < 62)
        buf_printf(out, "dormouse_needle(%u);", (unsigned)rand_below(rand, 100));
    else if (kind < 70)
        buf_printf(out, " /* Z\xC3\xBCrich %u */", (unsigned)rand_below(rand, 100));
    else if (kind < 200)
        buf_printf(out, " = 0x%04x;", (unsigned)rand_below(rand, 65536));
    buf_add_char(out, '\n');
}

static void write_tree(const char *root, uint64_t bytes)
{
    struct rand_fake rand;
    uint64_t written = 0;

    rand_fake_init(&rand, 7117);
    for (unsigned i = 0; written < bytes; i++) {
        AUTO_BUF text = BUF_INIT(MIB);
        char path[512];
        size_t size = FILE_BYTES / 2 + rand_below(&rand.rand, FILE_BYTES);
        AUTO_FD fd = -1;

        snprintf(path, sizeof(path), "%s/d%u", root, i / DIR_FILES / 20);
        if (i % DIR_FILES == 0)
            mkdir(path, 0700);
        snprintf(path, sizeof(path), "%s/d%u/m%u", root, i / DIR_FILES / 20, i / DIR_FILES);
        if (i % DIR_FILES == 0)
            mkdir(path, 0700);
        while (text.n < size)
            add_line(&text, &rand.rand);
        snprintf(path, sizeof(path), "%s/d%u/m%u/f%u.%s", root, i / DIR_FILES / 20, i / DIR_FILES,
                 i, i % 10 == 9 ? "o" : "c");
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || file_write_all(fd, buf_str(&text)) < 0)
            BUG("write %s: %s", path, strerror(errno));
        written += text.n;
    }
}

static void write_ignore(const char *root)
{
    char path[512];
    AUTO_FD fd = -1;

    snprintf(path, sizeof(path), "%s/.ignore", root);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || file_write_all(fd, STR("*.o\n/d0/m3/\n!f129.o\n")) < 0)
        BUG("write %s", path);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

/* ---- the two sides ---- */

struct query {
    const char *name, *pattern;
    bool regex, ignore_case;
};

static const struct query queries[] = {
    { "fixed", "dormouse_needle", false, false },
    { "fixed_nocase", "DORMOUSE_needle", false, true },
    { "regex", "dormouse_n[a-e]+dle\\([0-9]+\\)", true, false },
    { "regex_alternatives", "[a-z]+_ [a-z]+_ 0x[0-9]{2}ff|n(ee|oo)dle\\(4[0-9]\\)", true, false },
    { "regex_no_literal", "n(ee|oo)d[a-z]+\\([0-9]{2}\\)", true, false },
};

static uint64_t run_rg(const char *root, const struct query *q)
{
    char out[] = "/tmp/dormouse-bench-rg.XXXXXX";
    const char *argv[] = { "rg",
                           "-c",
                           "--no-messages",
                           "--no-config",
                           q->regex ? "-e" : "-Fe",
                           q->pattern,
                           q->ignore_case ? "-i" : "-s",
                           root,
                           NULL };
    posix_spawn_file_actions_t actions;
    AUTO_FD fd = mkstemp(out);
    AUTO_BUF text = BUF_INIT(64 * MIB);
    struct str rest, line;
    uint64_t total = 0;
    int status;
    pid_t pid;

    unlink(out);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, 1);
    if (posix_spawnp(&pid, "rg", &actions, NULL, (char *const *)argv, environ) != 0 ||
        waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
        BUG("rg did not run");
    posix_spawn_file_actions_destroy(&actions);
    lseek(fd, 0, SEEK_SET);
    if (file_read_fd(fd, "rg's output", &text, NULL) < 0)
        BUG("rg's output");
    rest = buf_str(&text);
    while (str_split(&rest, '\n', &line)) {
        const char *colon = line.n ? memrchr(line.p, ':', line.n) : NULL;

        total += colon ? strtoull(colon + 1, NULL, 10) : 0;
    }
    return total;
}

static uint64_t run_ours(const char *root, const struct query *q)
{
    static struct map files_read;
    AUTO_ARENA arena = ARENA_INIT;
    struct op_state state = { .cwd = (char *)root, .files_read = &files_read };
    struct op_ctx ctx = { .state = &state, .arena = &arena };
    AUTO_BUF result = BUF_INIT(16 * MIB);
    struct json_writer out = JSON_WRITER(&result);
    AUTO_JSON arguments = json_object_new_object();
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;
    int64_t total = 0;

    json_object_object_add(arguments, "pattern", json_object_new_string(q->pattern));
    json_object_object_add(arguments, "regex", json_object_new_boolean(q->regex));
    json_object_object_add(arguments, "ignore_case", json_object_new_boolean(q->ignore_case));
    if (op_search(&ctx, arguments, &out, &err) < 0)
        BUG("search: %s", err.text);
    if (json_parse(buf_str(&result), &answer, &err) < 0 ||
        json_get_i64(answer, "total", &total, &err) < 0)
        BUG("search's answer: %s", err.text);
    return (uint64_t)total;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool measure(const char *root, const struct query *q, unsigned megabytes, unsigned rounds)
{
    double ours[64], theirs[64], ratio;
    uint64_t ours_total = 0, rg_total = 0;
    bool ok;

    for (unsigned i = 0; i < rounds + 1; i++) {
        int64_t began = clock_mono_ns(clock_system()), between;

        ours_total = run_ours(root, q);
        between = clock_mono_ns(clock_system());
        rg_total = run_rg(root, q);
        if (i == 0)
            continue; /* reads the tree into memory */
        ours[i - 1] = (double)(between - began) / 1e6;
        theirs[i - 1] = (double)(clock_mono_ns(clock_system()) - between) / 1e6;
    }
    qsort(ours, rounds, sizeof(*ours), by_number);
    qsort(theirs, rounds, sizeof(*theirs), by_number);
    ratio = ours[rounds / 2] / theirs[rounds / 2];
    ok = ours_total == rg_total && ours_total > 0 && ratio <= TARGET;
    printf("{\"bench\":\"search.grep\",\"query\":\"%s\",\"megabytes\":%u,\"lines\":%llu,"
           "\"value\":%.1f,\"unit\":\"ms\",\"yardstick\":\"rg -c\",\"yardstick_value\":%.1f,"
           "\"yardstick_lines\":%llu,\"ratio\":%.2f,\"target\":%.1f,\"ok\":%s}\n",
           q->name, megabytes, (unsigned long long)ours_total, ours[rounds / 2], theirs[rounds / 2],
           (unsigned long long)rg_total, ratio, TARGET, ok ? "true" : "false");
    fflush(stdout);
    return ok;
}

int main(int argc, char **argv)
{
    /* MEGABYTES ROUNDS; `make bench` gives every benchmark the binary's path instead. */
    unsigned megabytes = argc > 2 ? (unsigned)atoi(argv[1]) : 200;
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : ROUNDS;
    char root[] = "/tmp/dormouse-bench-search.XXXXXX";
    bool ok = true;

    if (!mkdtemp(root) || megabytes == 0 || rounds == 0 || rounds > 64)
        BUG("bench-search [MEGABYTES] [ROUNDS up to 64]");
    write_tree(root, (uint64_t)megabytes * 1000000);
    write_ignore(root);
    for (size_t i = 0; i < ARRAY_LEN(queries); i++)
        ok &= measure(root, &queries[i], megabytes, rounds);
    nftw(root, remove_one, 32, FTW_DEPTH | FTW_PHYS);
    return ok ? 0 : 1;
}

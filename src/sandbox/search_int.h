/* Inside the search: directories that are walked, and files that are read.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_SEARCH_INT_H
#define DORMOUSE_SANDBOX_SEARCH_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "sandbox/ignore.h"
#include "sandbox/search.h"

#define SEARCH_BUFFER_FIRST (256u << 10)
#define SEARCH_BUFFER_MAX   (16u << 20) /* the longest line; longer ones are cut in pieces */
#define SEARCH_STEP         (1u << 20)  /* of large files, what is matched at a time */

/* ---- one file, in pieces of whole lines ---- */

struct search_reader {
    int fd;
    char *p;
    size_t n, cap;  /* bytes in p, and its size */
    size_t used;    /* of these, already given out */
    uint64_t size;  /* as fstat has it */
    uint64_t total; /* read so far */
    bool end;
};
#define SEARCH_READER_INIT ((struct search_reader){ .fd = -1 })
/* Begins with fd, which stays the caller's; the buffer is kept from file to file. */
void search_reader_begin(struct search_reader *reader, int fd, uint64_t size);
void search_reader_release(struct search_reader *reader);
/* The next piece, which ends with a line (or is the last). 1: there is one, 0: end, -1: errno. */
int search_reader_next(struct search_reader *reader, struct str *ret_piece);

/* Opens a file in a directory so that nothing waits or leads elsewhere; -1 when it is not to be
 * read. */
int search_open_file(int dir_fd, const char *name, const struct access_ids *ids,
                     uint64_t *ret_size);
/* A path below root_fd without following links. flags as for open(). */
int search_open_beneath(int root_fd, const char *path, int flags);
/* The same name by name, for kernels and filters without openat2(). */
int search_open_walking(int root_fd, const char *path, int flags);

/* ---- the ignore rules that hold in a directory ---- */

struct search_rules {
    const struct search_rules *parent;
    size_t path_n;            /* bytes of the absolute path of their directory */
    struct ignore *ignore;    /* .ignore, NULL when there is none */
    struct ignore *gitignore; /* .gitignore */
    struct ignore *exclude;   /* .git/info/exclude */
    bool is_repository;       /* rules of git further up do not count */
};
/* path is absolute. */
bool search_ignored(const struct search_rules *rules, struct str path, bool is_dir);
/* Reads the three of an open directory; which of them are there is known from its listing. */
void search_rules_load(struct search_rules *rules, int dir_fd, bool ignore, bool gitignore,
                       bool git);
void search_rules_release(struct search_rules *rules);
/* The rules of the directories above path, up to the repository's: a chain in the arena, or NULL.
 * Its ignore files are released by search_rules_release() on each. */
struct search_rules *search_rules_above(struct op_ctx *ctx, const char *path);

/* ---- work that threads share ---- */

#define SEARCH_LIST_BYTES (64u << 10) /* of one getdents() */

/* A directory that is walked. */
struct search_dir {
    struct search_rules rules; /* first: children point at it */
    struct search_dir *parent;
    atomic_uint refs;  /* itself while it is read, children, groups */
    atomic_uint files; /* groups that still need fd and names */
    int fd;
    dev_t dev;
    char *path; /* absolute; "" is "/" */
    size_t path_n;
    char *names; /* one after the other, each with its NUL */
};

/* A piece of work. */
struct search_item {
    struct search_dir *dir;
    const char *first; /* files from here; NULL: the directory itself */
    unsigned n;
};

/* What all threads share. */
struct search {
    struct op_ctx *ctx;
    const struct search_request *request;
    struct access_ids ids;
    int root_fd;
    size_t root_n; /* bytes of the root's path and the slash after it */
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct search_item *stack;
    size_t n, cap;
    unsigned busy;    /* threads that may still add work */
    atomic_bool stop; /* an error, or enough */
    atomic_ullong looked;
    struct err err;
    struct search_result *result;
};

/* What one thread has for itself. */
struct search_worker {
    struct search *search;
    struct pattern_run *run;
    struct search_reader reader;
    struct search_result result;
    struct buf path;
    char *list;
};

/* Puts work on the stack; the lock is held. */
void search_push(struct search *search, struct search_item item);
/* Whether a worker has to end, for any reason; arg is the struct search. */
bool search_must_stop(void *arg);

/* One reference is the caller's. Never NULL. */
struct search_dir *search_dir_new(struct search_dir *parent, const char *path, size_t path_n);
void search_dir_unref(struct search_dir *dir);
/* A group of its files is done, or the directory read; drops the reference that this had. */
void search_dir_done(struct search_dir *dir);

void search_do_dir(struct search_worker *worker, struct search_dir *dir);
void search_do_group(struct search_worker *worker, const struct search_item *group);
/* Matches the file that the worker's reader has begun. */
void search_match_file(struct search_worker *worker, struct str path);
void search_add_found(struct search_worker *worker, struct str path, uint64_t count, bool defines);

#endif

/* The view on disk, between its files.
 *
 * Who does what: view.c on the loop decides and speaks to the database; the pool walks
 * (view_scan.c) and writes (view_write.c). One job at a time is in the pool. While it is, the loop
 * touches nothing of view_tree.seen, so the job may read it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FILES_VIEW_INT_H
#define DORMOUSE_FILES_VIEW_INT_H

#include <sys/stat.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "files/files_int.h"

#define VIEW_FILE_MAX     (1 * MIB)   /* bytes of a file that is not below knowledge/ */
#define VIEW_STAGE        ".dormouse" /* in each tree: what is being written, and what came out */
#define VIEW_STATE        ".state"    /* in the view: what was last seen on disk */
#define VIEW_SLICE_FILES  128         /* changes of one scan */
#define VIEW_SLICE_BYTES  (8 * MIB)
#define VIEW_PROBLEMS_MAX 100

/* What is on disk at a path, as far as is known. */
struct view_stat {
    int64_t mtime_ns, size;
    uint64_t ino;
    /* Touched so shortly before it was looked at that a later change need not show in the time. */
    bool racy;
};
struct view_seen {
    int64_t version; /* of which this is the content; 0: none */
    char hash[SHA256_TEXT_SIZE];
    struct view_stat stat;
    int64_t missing_ms; /* since when it is not there, monotonic; 0: it is */
    unsigned scan;      /* the last that met it */
};

struct view_tree {
    char *name;      /* agents/ID */
    struct map seen; /* path: struct view_seen */
    bool dirty;      /* somebody did something there */
    bool heads;      /* the rows are to be compared, from `after` on */
    char *after;
    unsigned scan;
};

struct view_problem {
    char *tree, *path, *text;
    int64_t at;
    bool scanned; /* found by a scan, which finds it again as long as it lasts */
};

struct view_want {
    bool busy, again; /* is being written; was changed once more meanwhile */
};
/* What is to be done with what lies in a stage. */
struct view_chore {
    bool keep;
    char *tree, *path;
    struct view_chore *next;
};

struct uv_poll_s;
struct view_found;
struct view_op;
struct view_scan;

struct view {
    struct files *files; /* NULL once closed */
    struct loop *loop;
    unsigned refs;
    char *dir;
    int dir_fd, inotify_fd; /* -1: not open */
    bool ready;             /* dir is open and the state was read */
    struct map trees;       /* name: struct view_tree */
    struct map watches; /* descriptor: struct view_tree, or the view itself for its own folders */
    struct map wanted;  /* "TREE PATH": struct view_want */
    struct view_chore *chores, **chores_end;
    struct view_job *job; /* in the pool */
    struct view_problem problems[VIEW_PROBLEMS_MAX];
    size_t problem_count;
    /* What is to come; monotonic ms, VIEW_NEVER: not. */
    struct loop_timer timer;
    int64_t pump_due, scan_due, retry_due, save_due, poll_due, events_since;
    int64_t retry_ms;
    bool list_trees; /* folders of trees came or went */
    bool more_rows;  /* trees that the database holds were not all met yet, from `after` on */
    char *after;
    const struct view_found *recording; /* the version that is being put came from the disk */
    struct uv_poll_s *poll;
    bool polling;
    struct loop_tick_hook hook; /* instead of poll, on a fake loop */
};
#define VIEW_NEVER INT64_MAX

int view_new(struct files *files, const char *dir, struct view **ret_view, struct err *err);
void view_close(struct view *view);
void view_ref(struct view *view);
void view_unref(struct view *view);
/* Inside a unit: the version appears on disk after the commit. */
void view_written(struct view *view, struct str tree, const struct file *after);
/* The timer is set for what comes first; due at once where `now`. */
void view_arm(struct view *view, bool now);
int64_t view_now(struct view *view); /* monotonic ms */

/* ---- what is known (view_known.c) ---- */

/* Made when it is new. */
struct view_tree *view_tree_of(struct view *view, struct str name);
void view_tree_free(struct view_tree *tree);
void view_problem_release(struct view_problem *problem);
void view_want(struct view *view, struct str tree, struct str path);
void view_problem(struct view *view, struct str tree, struct str path, const char *text,
                  bool scanned);
void view_problem_clear(struct view *view, struct str tree, struct str path);

/* ---- changes on disk (view_watch.c) ---- */

void view_watch_start(struct view *view);
void view_watch_stop(struct view *view);
/* Tells of events again: none are read while a job adds watches. */
void view_watch_resume(struct view *view);
void view_watch_add(struct view *view, const int *watches, size_t n, void *whose);

/* ---- what jobs found, into the database (view_record.c) ---- */

void view_record_scan(struct view *view, struct view_scan *scan);
void view_record_op(struct view *view, struct view_op *op);
void view_seen_put(struct view_tree *tree, struct str path, int64_t version, const char *hash,
                   const struct view_stat *stat);
void view_seen_remove(struct view_tree *tree, struct str path);
/* Compares a page of rows with what is on disk. */
int view_record_page(struct view *view, struct view_tree *tree, struct err *err);

/* ---- in the pool ---- */

/* Opens DIR/agents/ID without following links; made when `make`. -1 with errno. */
int view_open_tree(int dir_fd, const char *tree, bool make);
void view_fill_stat(const struct stat *st, struct view_stat *ret);
/* Reads a regular file and hashes it. 1 read, 0 larger than max, -1 with errno. */
int view_read(int fd, size_t max, struct arena *arena, struct str *ret_content,
              char hash[SHA256_TEXT_SIZE]);
size_t view_max_bytes(struct str path);

struct view_found {
    struct str path, content;
    char hash[SHA256_TEXT_SIZE];
    struct view_stat stat;
    bool staged; /* it came out of an exchange whose end was not recorded */
    struct view_found *next;
};
struct view_note {
    struct str path;
    const char *text;
    struct view_note *next;
};
struct view_scan {
    /* In. */
    int dir_fd, inotify_fd;
    struct view_tree *tree;
    struct arena arena;
    bool only_notes; /* nothing is found, nothing changed */
    /* Out. */
    struct view_found *found, **found_end; /* other than what was seen */
    struct view_found *touched;            /* same content, other time */
    struct view_note *notes;
    int *watches; /* descriptors */
    size_t watch_count, watch_room, note_count, found_count, found_bytes;
    bool absent, partly, unwatched, more;
};
void view_scan_run(struct view_scan *scan);

enum view_result {
    VIEW_FAILED = 0, /* to be tried again */
    VIEW_DONE,
    VIEW_BLOCKED, /* something stands there that is not ours to move */
};
enum view_do { VIEW_WRITE = 0, VIEW_REMOVE, VIEW_DROP_STAGED, VIEW_KEEP_STAGED };
struct view_op {
    enum view_do what;
    const char *tree;
    const char *path;
    struct str content;
    char hash[SHA256_TEXT_SIZE], expected[SHA256_TEXT_SIZE]; /* "": nothing */
    int64_t version;
    /* Out. */
    enum view_result result;
    const char *why;
    bool strange; /* what is there is no file: for a walk to tell */
    struct view_stat stat;
    struct view_found *displaced;
    struct view_op *next;
};
void view_op_run(int dir_fd, struct view_op *op, struct arena *arena);

/* ---- what was seen, kept (view_state.c) ---- */

/* Gives one entry of the text at a time; false at the end or at what is not understood. */
struct view_state_line {
    struct str tree, path;
    struct view_seen seen;
};
bool view_state_next(struct str *rest, struct view_state_line *ret_line);
void view_state_add(struct buf *out, const char *tree, struct str path,
                    const struct view_seen *seen);

#endif

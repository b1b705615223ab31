/* The hand's own parts: what it is told, how it closes itself in, and how it serves.
 *
 * In order: setup is read; rlimits; Landlock; the seccomp filter, whose refusals a thread answers
 * and reports; then either requests are served (one thread each) or one command is run. The hand
 * is process 1 of its namespace: it collects whoever ends, nothing inside can signal or trace it,
 * and when it ends the kernel kills the rest.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_INSIDE_INT_H
#define DORMOUSE_SANDBOX_INSIDE_INT_H

#include <dirent.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/json.h"
#include "sandbox/frame.h"
#include "sandbox/op_int.h"
#include "sandbox/place.h"

/* ---- setup: inside_setup.c ---- */

/* What the keeper wrote into a memory file before the start; trusted. */
struct inside_setup {
    struct json_object *doc; /* holds the texts */
    bool off;
    const char *cwd;
    /* end with NULL */
    const char **allow_write, **deny_read, **deny_names, **deny_write, **obeyed, **sockets, **argv;
    struct place_view *views; /* what must be seen from inside */
    size_t view_count;
    uint64_t memory, processes, disk, files;
    int64_t time_limit_ms;     /* 0: none (one command), else of a command that names none */
    int groups;                /* descriptors for joining control groups */
    int proxy_port;            /* 0: no network at all */
    struct json_object *state; /* of an earlier hand; may be NULL */
};
int inside_setup_read(int fd, struct inside_setup *setup, struct err *err);
void inside_setup_release(struct inside_setup *setup);

/* ---- before the walls, as root: inside_stage.c ---- */

/* Lends the places to the hand's user, becomes that user and executes path. Returns only when that
 * failed, which was said on stderr. */
void inside_stage(const struct inside_setup *setup, const char *path, char **argv);

/* ---- walls of its own ---- */

/* 0, or the step that failed in err. A kernel without Landlock is no failure: *ret_abi is 0. */
int inside_landlock(const struct inside_setup *setup, int *ret_abi, struct err *err);
/* From now on this thread, and what it starts, can read and remove in writable places and nothing
 * else. False where the kernel can't. */
bool inside_landlock_no_more(const struct inside_setup *setup);
/* Installs the filter and gives the descriptor where refused calls arrive. Where we can't connect
 * in place of commands there are no Unix sockets but pairs, and connect() goes on. */
int inside_seccomp(bool connects, int *ret_listener, struct err *err);
/* The name of a refused call ("mount"), never NULL. */
const char *inside_call_name(int nr);
int inside_rlimits(const struct inside_setup *setup, struct err *err);

/* ---- notices: inside_notice.c ---- */

/* Sends a notice, in serve mode to the keeper, else to stderr. Any thread; at most
 * NOTICES_PER_SECOND, the rest is counted and said with the next. */
#define NOTICES_PER_SECOND 8
#define NOTICE_MAX         4000 /* bytes of one */
void inside_notice(const char *kind, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same about what the hand did (set something aside, ended what went over a limit), by a count
 * of its own: refusals never use it up. */
#define NOTICES_DONE_PER_SECOND 64
void inside_notice_done(const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Where they go: a function that takes one frame's JSON; NULL: stderr. */
void inside_notice_to(void (*send)(struct str json));
/* Starts the thread that answers calls which the filter asks about: names
 * that may be made go on, connect() is done for the caller, all else is refused with EPERM. It must
 * not be under the filter itself, so it comes before that. */
int inside_answer_start(struct err *err);
/* Where the filter asks. */
int inside_answer_listen(int listener, struct err *err);

/* ---- connections: inside_connect.c ---- */

struct seccomp_notif;
/* Whether the kernel lets us take a command's socket. Before we hide from others. */
bool inside_connect_works(void);
/* Holds the sockets outside that are listed. */
int inside_connect_init(const struct inside_setup *setup, struct err *err);
/* Does what the caller asked for, or refuses it, and answers; later, in a thread of its own. */
void inside_connect(int listener, const struct seccomp_notif *ask);

/* ---- processes: inside_proc.c ---- */

struct proc_info {
    pid_t pid, parent, session;
    pid_t thread; /* one that lives, when the first has ended before the others; else 0 */
    bool zombie;
    uint64_t bytes;   /* its own: resident or in swap, with the tables of its pages */
    uint64_t shared;  /* mapped and in memory, shared with whomever: no less than its part of it */
    uint64_t started; /* clock ticks since the system's start */
    unsigned threads;
    char name[32];
};
#define PROCS_MAX 4096
/* Our descendants, and those that were left to us; returns their number, at most PROCS_MAX.
 * *ret_list is to be freed. */
size_t procs_read(struct proc_info **ret_list);
#define PROC_PATH_MAX 96
/* "/proc/PID/what", or what a living thread says where the first one has ended. */
void proc_path(const struct proc_info *p, const char *what, char out[PROC_PATH_MAX]);
/* Whether there are more than that, zombies and all, besides us; reads no more than it must. For
 * process 1. */
bool procs_more_than(size_t limit);
/* Signals the session that leader leads and all descendants of its members. Returns how many. */
int procs_kill(pid_t leader, int sig);
/* All of them, until none is left. */
void procs_kill_all(void);

/* ---- what they hold: inside_held.c ---- */

/* Upper bounds, in bytes where nothing else is said. */
struct held {
    uint64_t shared;                       /* mapped memory that has no owner */
    uint64_t buffers;                      /* in pipes and sockets */
    uint64_t unnamed_bytes, unnamed_files; /* open or mapped in a writable place, and removed */
    uint64_t in_flight;                    /* descriptors sent and not yet received */
    unsigned unseen;                       /* processes that can't be looked at */
};
/* Before the filter. */
void inside_held_init(void);
void inside_held(const struct proc_info *list, size_t n, const char *const *places,
                 struct held *ret_held);
/* Of shared mappings that have no owner: what is in memory or in swap and mapped now, exactly. */
uint64_t inside_held_mapped(const struct proc_info *list, size_t n);

/* ---- guarded names (guarded.h): inside_create.c, inside_guard.c, inside_deep.c ---- */

enum inside_create {
    CREATE_OTHER = 0, /* no call that makes a name, or one that is refused for another reason */
    CREATE_GOES_ON,
    CREATE_REFUSED, /* the name is guarded */
    CREATE_DENIED,  /* the place may not be read */
    CREATE_UNSEEN,  /* we can't see what would be made */
};
struct seccomp_data;
/* reads: other processes' memory can be read here, where they don't hide it. */
void inside_create_init(const struct inside_setup *setup, bool reads);
/* About a call that the filter asked us about; pid is the thread that waits. */
enum inside_create inside_create(const struct seccomp_data *data, pid_t pid, char name[256]);

#define INSIDE_MESSAGE_MAX 400
/* Remembers what is at the places that setup denies writing to, and everything guarded that is
 * there, deeper. */
void inside_guard(const struct inside_setup *setup);
/* Whether something else is there now: it is set aside and reported, and message (of the last)
 * says so. Any thread. */
bool inside_guard_look(char message[INSIDE_MESSAGE_MAX]);
/* The last one: ends everything first, and waits until nobody is left and busy (NULL: nobody) says
 * no more, but not for ever. From the thread that collects. */
bool inside_guard_last(bool (*busy)(void), char message[INSIDE_MESSAGE_MAX]);
/* Sets path aside, whose last name in dir is name, and says so: it was made or changed. True when
 * it is still there, and holds nothing that anybody obeys. */
bool inside_guard_aside(int dir, const char *name, const char *path,
                        char message[INSIDE_MESSAGE_MAX]);
/* Something that was found: all of one look are told in one notice, first what needs somebody. */
void inside_guard_tell(const char *message, bool first);
/* Why not all of a directory was looked at: inside_cut.c. */
enum cut_why {
    CUT_HERE = 0, /* the number of entries of all places was reached in it */
    CUT_DEEP,
    CUT_LONG,
    CUT_MUCH,
};
/* Tells it once; at the start it is only remembered, and told by the next look. Whether it was not
 * so from the start. */
bool cut_note(const char *path, enum cut_why why, bool starting, char message[INSIDE_MESSAGE_MAX]);
void inside_deep_init(const struct inside_setup *setup);
bool inside_deep_look(char message[INSIDE_MESSAGE_MAX]);

/* ---- getting at what a command closed: inside_reach.c ---- */

struct reach {
    int fd;
    bool listed; /* else it can only be asked about names (fstatat) */
    bool given;  /* the mode was changed */
    mode_t mode; /* and was this */
};
/* A directory, not through a link. False when it is none, or is out of reach. */
bool reach_open(struct reach *reach, int dir, const char *name);
/* NULL when it can't be read after all. */
DIR *reach_list(const struct reach *reach);
void reach_close(struct reach *reach);
/* Renames name to "name.set-aside-1" (2, 3, ..., then something random), which is then in aside.
 * dir may be open for its path only. False with errno. */
bool inside_set_aside(int dir, const char *name, char aside[NAME_MAX + 1]);
/* Of a directory that can't be renamed, since it is a mount point: each file in it, at any depth,
 * but for mount points, which nobody inside can change. How many were left. */
int inside_set_aside_within(int dir, const char *name, int depth);

/* ---- guarded things as they were: inside_inventory.c ---- */

struct thing {
    mode_t type; /* S_IFMT */
    bool fresh;  /* changed so lately that the next change might look the same */
    bool cut;    /* there is more of it than was looked at */
    struct sha256 hash;
    uint8_t digest[SHA256_BYTES];
    dev_t home_dev; /* the directory that holds it */
    ino_t home_ino;
};
/* False when there is none. */
bool thing_see(struct thing *thing, int dir, const char *name);
/* Whether it is just as it was kept, at path or wherever the directory that holds it was then. */
bool inventory_has(const char *path, const struct thing *thing);
void inventory_keep(const char *path, const struct thing *thing);

/* ---- children: inside_child.c ---- */

/* One running command; the caller's memory. */
struct inside_child {
    pid_t pid;
    int event;                        /* an eventfd, readable when it has ended */
    const char *limit;                /* for which it was ended ("memory"), else NULL */
    char message[INSIDE_MESSAGE_MAX]; /* about that */
    atomic_bool ended;                /* set after status */
    int status;                       /* as wait() gives it */
    struct inside_child *next;
};
struct inside_spawn {
    const char *const *argv; /* argv[0] is looked up in PATH */
    const char *cwd;
    int fds[3];   /* become 0, 1, 2 */
    int extra;    /* becomes OP_BASH_CWD_FD; -1: none */
    bool session; /* of its own */
};
#define OP_BASH_CWD_FD 198
int inside_child_start(const struct inside_spawn *spawn, struct inside_child *child,
                       struct err *err);
/* Forgets it. */
void inside_child_release(struct inside_child *child);
/* Collects whoever has ended; called when SIGCHLD came. Whether others are left. */
bool inside_reap(void);
/* While it is closed nothing is started. */
void inside_gate(bool close);
/* Tells all commands under way that they are being ended because of a limit. */
void inside_child_over(const char *limit, const char *message);

/* ---- memory: inside_memory.c ---- */

void inside_memory_init(const struct inside_setup *setup);
/* Whether all together use more than the limit; message then says so. */
bool inside_memory_over(const struct proc_info *list, size_t n, char message[INSIDE_MESSAGE_MAX]);
/* After everybody was ended: what would be left of it. */
void inside_memory_clear(void);

/* ---- disk: inside_disk.c ---- */

void inside_disk_init(const struct inside_setup *setup);
/* The limit that was passed ("disk", "files"), which message then says; NULL: none. */
const char *inside_disk_over(const struct proc_info *list, size_t n,
                             char message[INSIDE_MESSAGE_MAX]);
/* Whether a limit was passed and still is: then nothing may be written, as message says. */
bool inside_disk_full(char message[INSIDE_MESSAGE_MAX]);
/* What runs from now on can't write, so nobody is ended for what others write to the same disk: it
 * may be removing. Until the limit is no longer passed. */
void inside_disk_hold(void);

/* ---- the watch: inside_watch.c ---- */

#define INSIDE_LOOK_MS 40 /* until the first look */

/* What there is before anything runs. */
void inside_watch_init(const struct inside_setup *setup);
/* Looks at processes, memory and disk. Returns in how many milliseconds to look again. */
int inside_watch_look(void);
/* Something was started: look soon. Any thread. */
void inside_watch_wake(void);
/* A thread that looks. */
int inside_watch_start(struct err *err);

/* ---- the two ways to work ---- */

int inside_serve(const struct inside_setup *setup, int socket);
int inside_exec(const struct inside_setup *setup, int socket);

#endif

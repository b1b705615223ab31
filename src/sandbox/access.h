/* The one check of paths that every file operation of the hand goes through.
 *
 * A path is walked from the root, name by name, each opened from the directory before it and never
 * followed by the kernel: links are read and their text is walked in turn, `..` goes back to the
 * directory that was held. So what the rules are asked about is exactly what is then opened, made
 * or replaced, relative to the directory that is held; nothing that is swapped in meanwhile
 * matters.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_ACCESS_H
#define DORMOUSE_SANDBOX_ACCESS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "sandbox/op_int.h"

#define ACCESS_DEPTH_MAX 256 /* directories below each other */
#define ACCESS_LINKS_MAX 40  /* links on one way, as the kernel has it */
#define ACCESS_RULES_MAX 256 /* deny_read rules whose targets are compared by inode */

/* Where a path leads. Texts live in the request's arena. */
struct access_place {
    int dir_fd;          /* O_PATH: the directory that holds it; itself for "/" */
    int fd;              /* O_PATH: itself; -1 when there is nothing (access_write only) */
    const char *path;    /* absolute, without links, `.` and `..` */
    const char *name;    /* the last name of path, "" for "/" */
    const char *missing; /* directories to be made below dir_fd ("a/b"); NULL when none */
    bool linked;         /* a link was followed on the way */
    struct stat st;      /* of fd */
};

#define ACCESS_PLACE_INIT ((struct access_place){ .dir_fd = -1, .fd = -1 })

/* Resolves path (absolute, or relative to the state's cwd; "~/" is HOME). ERR_NOT_FOUND when it
 * does not exist; ERR_PATH_DENIED when a rule or the system forbids it, when it lies in a process
 * file system, and for names in deny_names anywhere on the way; ERR_BAD_REQUEST when it is no path.
 */
int access_read(struct op_ctx *ctx, struct str path, struct access_place *ret_place,
                struct err *err);
/* The same for what is to be written or made: it must also lie in allow_write and not in
 * deny_write, and it may be
 * missing, with the directories above it. Makes nothing. */
int access_write(struct op_ctx *ctx, struct str path, struct access_place *ret_place,
                 struct err *err);
void access_release(struct access_place *place);
#define AUTO_PLACE __attribute__((cleanup(access_release))) struct access_place

/* Opens what was resolved for reading: regular files only, so that nothing waits. ret_st is what
 * was opened, which may be newer than place->st. */
int access_open(struct op_ctx *ctx, const struct access_place *place, int *ret_fd,
                struct stat *ret_st, struct err *err);
/* Makes the missing directories; dir_fd is then the last of them. */
int access_make_parents(struct access_place *place, struct err *err);

/* The first of the rules (ending with NULL, or none) that path equals or lies below; NULL when
 * none.
 */
const char *access_rule_of(const char *const *rules, struct str path);
/* For a walk that goes on by itself from a place. */
bool access_name_denied(const struct op_rules *rules, struct str name);
/* path is absolute and real. */
bool access_path_denied(const struct op_rules *rules, struct str path);

/* What the deny_read rules name at this moment, so that it is known under every other name too
 * (hard links, bind mounts, links in the rules themselves). */
struct access_ids {
    struct {
        dev_t dev;
        ino_t ino;
    } id[ACCESS_RULES_MAX];
    unsigned n;
};
void access_ids_load(const struct op_rules *rules, struct access_ids *ret_ids);
bool access_ids_have(const struct access_ids *ids, const struct stat *st);

/* An errno as the error of an operation: "what path: why". */
int access_fail(struct err *err, int number, const char *what, const char *path);
/* "named pipe", "directory", ... */
const char *access_type_name(mode_t mode);

#endif

/* The inventory: every guarded thing deeper in a writable place (guarded.h) as it was before the
 * first command, or as it was when the hand last found it harmless.
 *
 * A thing is remembered by a digest of what nobody can forge without setting the clock: device,
 * inode and time of the last change of a file, and the same of everything in a directory. A link
 * counts with what it leads to. So an equal digest means that nobody has touched it, however old
 * something looks that was moved there. A thing that moved along with the directory that holds it
 * is the same thing; one that was moved into another directory is new there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sandbox/inside_int.h"

#define THING_ENTRIES 200000 /* of one directory, looked at */
#define THING_DEPTH   24
#define FRESH_MS      40 /* the clock of a file system may stand still for so long */

static struct map inventory; /* digests by path */
static struct map homes;     /* digests with the directory that held them, as keys */

struct thing_look {
    struct thing *thing;
    unsigned entries;
};

static void thing_stat(struct thing_look *look, const char *name, const struct stat *st)
{
    bool directory = S_ISDIR(st->st_mode);
    struct timespec now;
    /* A directory is what it holds; its own times change when it is opened up for a look. */
    uint64_t facts[] = { st->st_dev,
                         st->st_ino,
                         st->st_mode & S_IFMT,
                         directory ? 0 : st->st_mode,
                         directory ? 0 : (uint64_t)st->st_size,
                         directory ? 0 : (uint64_t)st->st_ctim.tv_sec,
                         directory ? 0 : (uint64_t)st->st_ctim.tv_nsec,
                         strlen(name) };

    clock_gettime(CLOCK_REALTIME, &now);
    if (!directory &&
        (now.tv_sec - st->st_ctim.tv_sec) * 1000 + (now.tv_nsec - st->st_ctim.tv_nsec) / 1000000 <
            FRESH_MS)
        look->thing->fresh = true;
    sha256_add(&look->thing->hash, str_of((const char *)facts, sizeof(facts)));
    sha256_add(&look->thing->hash, str_from(name));
}

static void thing_dir(struct thing_look *look, int dir, const char *name, int depth);

static void thing_entry(struct thing_look *look, int dir, const char *name, int depth)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    thing_stat(look, name, &st);
    if (S_ISDIR(st.st_mode))
        thing_dir(look, dir, name, depth);
}

/* In the order of the directory, which stays the same while nothing changes in it. One that is not
 * ours and can't be listed counts by its own times. */
static void thing_dir(struct thing_look *look, int dir, const char *name, int depth)
{
    const struct dirent *entry;
    struct reach reach;
    struct stat st;
    DIR *open_dir;

    if (depth > THING_DEPTH)
        look->thing->cut = true;
    if (depth > THING_DEPTH || !reach_open(&reach, dir, name))
        return;
    open_dir = reach.listed ? reach_list(&reach) : NULL;
    while (open_dir && !look->thing->cut && (entry = readdir(open_dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        look->thing->cut = ++look->entries > THING_ENTRIES;
        thing_entry(look, reach.fd, entry->d_name, depth + 1);
    }
    if (open_dir)
        closedir(open_dir);
    else if (fstat(reach.fd, &st) == 0)
        sha256_add(&look->thing->hash, str_of((const char *)&st.st_ctim, sizeof(st.st_ctim)));
    reach_close(&reach);
}

bool thing_see(struct thing *thing, int dir, const char *name)
{
    struct thing_look look = { .thing = thing };
    struct stat st, home;
    int fd;

    thing->fresh = thing->cut = false;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    thing->type = st.st_mode & S_IFMT;
    if (fstat(dir, &home) < 0)
        return false;
    thing->home_dev = home.st_dev;
    thing->home_ino = home.st_ino;
    sha256_init(&thing->hash);
    thing_entry(&look, dir, name, 0);
    if (S_ISLNK(st.st_mode) && fstatat(dir, name, &st, 0) == 0) {
        thing_stat(&look, "", &st);
        fd = S_ISDIR(st.st_mode) ? openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        if (fd >= 0) {
            thing_dir(&look, fd, ".", 0);
            close(fd);
        }
    }
    sha256_finish(&thing->hash, thing->digest);
    return true;
}

#define HOME_BYTES (SHA256_BYTES + 2 * sizeof(uint64_t))

static struct str thing_home(const struct thing *thing, char key[HOME_BYTES])
{
    uint64_t home[] = { thing->home_dev, thing->home_ino };

    memcpy(key, thing->digest, SHA256_BYTES);
    memcpy(key + SHA256_BYTES, home, sizeof(home));
    return str_of(key, HOME_BYTES);
}

bool inventory_has(const char *path, const struct thing *thing)
{
    const uint8_t *digest = map_find(&inventory, str_from(path));
    char key[HOME_BYTES];

    return (digest && memcmp(digest, thing->digest, SHA256_BYTES) == 0) ||
           (thing->home_ino && map_find(&homes, thing_home(thing, key)));
}

void inventory_keep(const char *path, const struct thing *thing)
{
    uint8_t *digest = alloc_zero(1, SHA256_BYTES);
    char key[HOME_BYTES];

    memcpy(digest, thing->digest, SHA256_BYTES);
    free(map_put(&inventory, str_from(path), digest));
    if (thing->home_ino)
        map_put(&homes, thing_home(thing, key), &homes);
}

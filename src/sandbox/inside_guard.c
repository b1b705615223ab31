/* Guarded names that are there after all (guarded.h): what was there at the start is bound
 * read-only by the walls, and making one is refused (inside_create.c), but a program may win a
 * race, and with walls off nothing is refused.
 *
 * So the hand looks after each operation that writes. One that was not there when the hand started,
 * or that took the place of another, is set aside under a name that nobody reads, and the command
 * fails. It is not removed: somebody else may have made it at that moment. One that a background
 * process makes later is found after the next operation, or by the last look, when no process is
 * left.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/place.h"
#include "base/visible.h"
#include "sandbox/inside_int.h"

#define SEEN_BYTES 201  /* of a path in a message */
#define LAST_MS    2000 /* for the end of those who were killed */

struct guarded {
    const char *path;
    bool there;
    dev_t dev;
    ino_t ino;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct guarded *guarded;
static size_t count;
/* What one look has found, and what a person can do about it. */
#define HINT                                                                                       \
    "what ends in .set-aside was only renamed, also where git brought it (clone, checkout): if "   \
    "you "                                                                                         \
    "want it, look at it, and when the run is over give it its former name"
#define MORE_BYTES (40 + sizeof(HINT))
static struct {
    char text[NOTICE_MAX - MORE_BYTES];
    size_t n, first; /* bytes; of those that come first */
    unsigned more;
    bool renamed; /* something was */
} told;

static void see(struct guarded *g)
{
    struct stat st;

    g->there = lstat(g->path, &st) == 0;
    if (g->there) {
        g->dev = st.st_dev;
        g->ino = st.st_ino;
    }
}

void inside_guard(const struct inside_setup *setup)
{
    while (setup->deny_write[count])
        count++;
    guarded = NEW_N(struct guarded, count + 1);
    for (size_t i = 0; i < count; i++) {
        guarded[i].path = setup->deny_write[i];
        see(&guarded[i]);
    }
    inside_deep_init(setup);
}

/* Each message ends its line. */
void inside_guard_tell(const char *message, bool first)
{
    size_t n = strlen(message) + 1, at;

    while (first && told.n > told.first && told.n + n > sizeof(told.text)) {
        for (told.n--; told.n > told.first && told.text[told.n - 1] != '\n';)
            told.n--;
        told.more++;
    }
    if (told.n + n > sizeof(told.text)) {
        told.more++;
        return;
    }
    at = first ? told.first : told.n;
    memmove(told.text + at + n, told.text + at, told.n - at);
    memcpy(told.text + at, message, n - 1);
    told.text[at + n - 1] = '\n';
    told.n += n;
    told.first += first ? n : 0;
}

static void guard_tell_all(void)
{
    const char *hint = told.renamed ? "\n" HINT : "";

    if (told.n && told.more)
        inside_notice_done("set_aside", "%.*s\nand %u more%s", (int)told.n - 1, told.text,
                           told.more, hint);
    else if (told.n)
        inside_notice_done("set_aside", "%.*s%s", (int)told.n - 1, told.text, hint);
    told.n = told.first = told.more = 0;
    told.renamed = false;
}

bool inside_guard_aside(int dir, const char *name, const char *path,
                        char message[INSIDE_MESSAGE_MAX])
{
    char aside[NAME_MAX + 1], seen[SEEN_BYTES], seen_aside[100];
    bool done = inside_set_aside(dir, name, aside), within;
    int failed = errno;

    within = !done && inside_set_aside_within(dir, name, 0) == 0;
    visible_name(path, seen, sizeof(seen));
    if (done)
        snprintf(message, INSIDE_MESSAGE_MAX,
                 "%s was made or changed; tools outside obey it without asking: it is now "
                 "called %s",
                 seen, visible_name(aside, seen_aside, sizeof(seen_aside)));
    else if (within)
        snprintf(message, INSIDE_MESSAGE_MAX,
                 "%s was made or changed; tools outside obey it without asking: the names of all "
                 "files in it now end in .set-aside-1 or the like",
                 seen);
    else
        snprintf(message, INSIDE_MESSAGE_MAX,
                 "%s was made or changed; tools outside obey it without asking, and it can't "
                 "be set aside (%s): look at it before you work there",
                 seen, strerror(failed));
    told.renamed = told.renamed || done || within;
    inside_guard_tell(message, !done);
    return within;
}

static void guard_aside(const struct guarded *g, char message[INSIDE_MESSAGE_MAX])
{
    const char *slash = strrchr(g->path, '/');
    char dir[LIMIT_PATH_BYTES];
    int fd;

    snprintf(dir, sizeof(dir), "%.*s", slash == g->path ? 1 : (int)(slash - g->path), g->path);
    fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    inside_guard_aside(fd, slash + 1, g->path, message);
    if (fd >= 0)
        close(fd);
}

/* A way over ".." that has come into being and leads to what is guarded under its own name. */
static bool guard_is_other_way(const struct guarded *g)
{
    for (size_t i = 0; place_climbs(g->path) && i < count; i++)
        if (&guarded[i] != g && guarded[i].there && guarded[i].dev == g->dev &&
            guarded[i].ino == g->ino)
            return true;
    return false;
}

/* True when it is no longer what it was. */
static bool look_at(struct guarded *g, char message[INSIDE_MESSAGE_MAX])
{
    struct guarded before = *g;
    char seen[SEEN_BYTES];

    see(g);
    if (!g->there && !before.there)
        return false;
    if (!g->there) {
        snprintf(message, INSIDE_MESSAGE_MAX,
                 "%s, which leads to what tools outside obey, was removed",
                 visible_name(g->path, seen, sizeof(seen)));
        inside_guard_tell(message, true);
        return true;
    }
    if (before.there && before.dev == g->dev && before.ino == g->ino)
        return false;
    if (!before.there && guard_is_other_way(g)) {
        g->there = false;
        return false;
    }
    guard_aside(g, message);
    see(g);
    return true;
}

bool inside_guard_look(char message[INSIDE_MESSAGE_MAX])
{
    bool changed = false;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        if (look_at(&guarded[i], message))
            changed = true;
    changed = inside_deep_look(message) || changed;
    guard_tell_all();
    pthread_mutex_unlock(&lock);
    return changed;
}

bool inside_guard_last(bool (*busy)(void), char message[INSIDE_MESSAGE_MAX])
{
    int64_t until = clock_mono_ms(clock_system()) + LAST_MS;

    do {
        procs_kill_all();
        if (!inside_reap() && !(busy && busy()))
            break;
        poll(NULL, 0, 1);
    } while (clock_mono_ms(clock_system()) < until);
    return inside_guard_look(message);
}

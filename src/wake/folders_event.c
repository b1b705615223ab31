/* Folders: from files that changed to wakes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/json_put.h"
#include "change/taint.h"
#include "sandbox/glob.h"
#include "wake/folders_int.h"
#include "wake/match.h"

/* One file as it is now. */
struct file_event {
    struct folder *folder;
    const char *path, *name;
    bool deleted;
    int64_t size, mtime_ns, ctime_ns;
    uint64_t inode;
};

static int64_t ns_of(struct timespec at)
{
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* 1 a file, or one that is gone; 0 nothing that wakes. */
static int look_at(struct folder *folder, const char *path, struct file_event *ret_event)
{
    struct stat st;

    *ret_event =
        (struct file_event){ .folder = folder, .path = path, .name = strrchr(path, '/') + 1 };
    if (folder->fd < 0)
        return 0;
    if (fstatat(folder->fd, ret_event->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        ret_event->deleted = errno == ENOENT;
        return ret_event->deleted;
    }
    if (!S_ISREG(st.st_mode))
        return 0;
    ret_event->size = st.st_size;
    ret_event->mtime_ns = ns_of(st.st_mtim);
    ret_event->ctime_ns = ns_of(st.st_ctim);
    ret_event->inode = st.st_ino;
    return 1;
}

static void event_id_of(const struct file_event *event, int64_t now_ms,
                        char ret_id[SHA256_TEXT_SIZE])
{
    AUTO_BUF text = BUF_INIT(2 * LIMIT_PATH_BYTES);

    buf_printf(&text, "file|v1|%s|", event->path);
    if (event->deleted)
        buf_printf(&text, "deleted|%lld", (long long)now_ms);
    else
        buf_printf(&text, "%lld|%lld|%llu", (long long)event->mtime_ns, (long long)event->size,
                   (unsigned long long)event->inode);
    sha256_text(buf_str(&text), ret_id);
}

static void write_payload(const struct subscription *s, const struct file_event *event,
                          struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);

    json_write_object_begin(&w);
    if (s->prompt.n) {
        json_put_str(&w, "prompt", s->prompt);
    }
    json_put_array(&w, "files");
    json_write_object_begin(&w);
    json_put_text(&w, "path", event->path);
    json_put_text(&w, "change", event->deleted ? "deleted" : "changed");
    if (!event->deleted) {
        json_put_i64(&w, "size", event->size);
    }
    json_write_object_end(&w);
    json_write_array_end(&w);
    json_put_text(&w, "taint", taint_kind_name(TAINT_FILE)); /* a name is a file's text, too */
    json_write_object_end(&w);
}

/* Hidden files only for a pattern that asks for them. */
static bool is_asked_for(const struct subscription *s, struct str name)
{
    if (name.p[0] == '.' && !(s->glob.n && s->glob.p[0] == '.'))
        return false;
    return !s->glob.n || glob_match(s->glob, name);
}

static int wake_for(struct folders *folders, const struct subscription *s,
                    const struct file_event *event, int64_t now_ms, struct err *err)
{
    AUTO_BUF payload = BUF_INIT(WAKE_PAYLOAD_MAX);
    char id[SHA256_TEXT_SIZE];
    int r;

    if (!is_asked_for(s, str_from(event->name)))
        return 0;
    event_id_of(event, now_ms, id);
    write_payload(s, event, &payload);
    r = match_wake_source(folders->config.agent_domain, s, str_from(id), buf_str(&payload), now_ms,
                          err);
    return r < 0 && err->code == ERR_AGENT_DESTROYED ? 0 : r;
}

static int wake_all(struct folders *folders, const struct file_event *event, int64_t now_ms,
                    struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct subscription *list;
    size_t count;
    int queued = 0;

    if (folder_subscriptions(folders->config.agent_domain, event->folder->path, &arena, &list,
                             &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        int r = wake_for(folders, &list[i], event, now_ms, err);

        if (r < 0)
            return -1;
        queued |= r;
    }
    if (!event->deleted &&
        folder_stamp_up(folders->config.agent_domain,
                        change_host_in(folders->config.change, folders->config.agent_domain),
                        event->folder->path, event->ctime_ns, now_ms, err) < 0)
        return -1;
    return queued;
}

int folders_flush(struct folders *folders, int64_t now_ms, struct err *err)
{
    int64_t mono = clock_mono_ms(loop_clock(folders->config.loop));
    int queued = 0, files = 0;

    map_each (&folders->pending, entry) {
        struct pending *pending = entry->value;
        struct file_event event;
        AUTO_TEXT path = NULL;
        int r;

        if (pending->due_ms > mono || files == FOLDER_UNIT_FILES)
            continue;
        files++;
        path = alloc_copy(entry->key.p, entry->key.n);
        if (!folder_denied_by(&folders->config.rules, path) &&
            look_at(pending->folder, path, &event) && !(event.deleted && pending->born)) {
            r = wake_all(folders, &event, now_ms, err);
            if (r < 0)
                return -1;
            queued |= r;
        }
        pending->due_ms = -1; /* done, if this lasts */
    }
    return queued;
}

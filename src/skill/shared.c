/* Skills for every agent: those bundled with Dormouse, and the directories of a folder.
 *
 * The folder is looked at when somebody asks, at most once a second; a SKILL.md is read again only
 * when its stamp (time, size, inode) is another, and of all of them together no more than
 * TEXTS_BYTES, so that a look costs the loop milliseconds at most. One in the folder wins over a
 * bundled one of the same name. What is not valid is listed with its problem, switched off.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/file.h"
#include "base/path.h"
#include "skill/skill_int.h"

#define SHARED_MAX  200
#define LOOK_MS     1000
#define TEXTS_BYTES (4 << 20) /* of all SKILL.md of the folder */

extern const struct embed_file skill_bundled[]; /* "weekly-review/SKILL.md" */

/* Of one skill, read when it is used. */
static const struct archive_limits folder_limits = { .entries = 200,
                                                     .entry_bytes = 1 << 20,
                                                     .total_bytes = 4 << 20 };

void shared_release(struct shared *shared)
{
    arena_release(&shared->arena);
    *shared = (struct shared){ .root = shared->root };
}

/* ---- one skill ---- */

static void fill(struct shared_skill *item, struct str name, struct str text, const char *source,
                 struct arena *arena)
{
    struct problems problems = { .arena = arena };

    front_read(text, name, arena, &item->skill, &problems);
    item->skill.name = arena_str(arena, name);
    item->skill.shared = true;
    item->skill.source = str_from(source);
    item->skill.enabled = problems.n == 0;
    item->skill.instructions = STR_NONE; /* read when they are asked for */
    if (problems.n) {
        item->skill.problem = problems.items[0].text;
        item->skill.description = STR_NONE;
        item->skill.allowed_tools = STR("[]");
        item->skill.metadata = STR("{}");
    }
}

/* ---- bundled ---- */

static struct str first_part(struct str path)
{
    return str_take(path, (size_t)str_find_char(path, '/'));
}

static void add_bundled(struct shared *shared)
{
    const struct embed_file *file = skill_bundled;

    while (file->name && shared->n < SHARED_MAX) {
        struct str name = first_part(str_from(file->name));
        struct shared_skill *item = &shared->items[shared->n++];
        char *hash = arena_alloc(&shared->arena, SHA256_TEXT_SIZE, 1);
        size_t n = 0;

        while (file[n].name && str_eq(first_part(str_from(file[n].name)), name))
            n++;
        *item = (struct shared_skill){ .count = n };
        item->entries = ARENA_NEW_N(&shared->arena, struct archive_entry, n);
        for (size_t i = 0; i < n; i++)
            item->entries[i] =
                (struct archive_entry){ .path = str_skip(str_from(file[i].name), name.n + 1),
                                        .content = file[i].bytes };
        fill(item, name, skill_find_text(item->entries, n)->content, "bundled", &shared->arena);
        skills_hash(item->entries, n, hash);
        item->skill.content_hash = str_from(hash);
        file += n;
    }
}

/* ---- the folder ---- */

static void take_stamp(const struct stat *st, int64_t stamp[4])
{
    stamp[0] = st->st_mtim.tv_sec;
    stamp[1] = st->st_mtim.tv_nsec;
    stamp[2] = (int64_t)st->st_size;
    stamp[3] = (int64_t)st->st_ino;
}

/* Only what lies in the folder itself: links lead elsewhere. */
static int open_text(int root, const char *name, struct arena *arena, struct stat *ret_stat)
{
    static const char *const names[] = { "SKILL.md", "skill.md" };
    struct err err = ERR_INIT;
    int fd = -1;

    for (size_t i = 0; i < ARRAY_LEN(names) && fd < 0; i++)
        path_open_beneath(root, arena_printf(arena, "%s/%s", name, names[i]), O_RDONLY | O_NONBLOCK,
                          0, &fd, &err);
    if (fd >= 0 && (fstat(fd, ret_stat) < 0 || !S_ISREG(ret_stat->st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

static struct shared_skill *place_for(struct shared *shared, struct str name)
{
    for (size_t i = 0; i < shared->n; i++)
        if (str_eq(shared->items[i].skill.name, name))
            return &shared->items[i];
    return shared->n < SHARED_MAX ? &shared->items[shared->n++] : NULL;
}

static void refuse(struct shared_skill *item, const char *name, struct arena *arena)
{
    item->skill = (struct skill){ .name = str_from(arena_text(arena, name)),
                                  .metadata = STR("{}"),
                                  .allowed_tools = STR("[]"),
                                  .source = STR("folder"),
                                  .problem = STR("the folder of shared skills holds more than 4 MB "
                                                 "of SKILL.md; this one was not read"),
                                  .shared = true };
}

static void add_folder_skill(struct shared *shared, int root, const char *name)
{
    AUTO_BUF text = BUF_INIT(SKILL_TEXT_MAX);
    struct err err = ERR_INIT;
    struct shared_skill *item;
    struct stat st;
    AUTO_FD fd = open_text(root, name, &shared->arena, &st);

    if (fd < 0)
        return;
    item = place_for(shared, str_from(name));
    if (!item)
        return;
    *item =
        (struct shared_skill){ .path = arena_printf(&shared->arena, "%s/%s", shared->root, name) };
    take_stamp(&st, item->stamp);
    if (shared->bytes + (size_t)st.st_size > TEXTS_BYTES) {
        refuse(item, name, &shared->arena);
        return;
    }
    if (file_read_fd(fd, name, &text, &err) < 0)
        buf_clear(&text);
    shared->bytes += text.n;
    fill(item, str_from(name), buf_str(&text), "folder", &shared->arena);
    item->skill.created_at = item->skill.updated_at = st.st_mtim.tv_sec * 1000;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct shared_skill *)a)->skill.name,
                   ((const struct shared_skill *)b)->skill.name);
}

/* The names of the folder, sorted; NULL-terminated. */
static char **read_names(const char *root, struct arena *arena, size_t *ret_count)
{
    char **names = ARENA_NEW_N(arena, char *, SHARED_MAX);
    DIR *dir = opendir(root);
    struct dirent *entry;
    size_t n = 0;

    while (dir && (entry = readdir(dir)) && n < SHARED_MAX)
        if (entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN))
            names[n++] = arena_text(arena, entry->d_name);
    if (dir)
        closedir(dir);
    *ret_count = n;
    return names;
}

/* One number of everything that would be read: another one means that something changed. */
static int64_t folder_stamp(int root, char **names, size_t n, struct arena *arena)
{
    uint64_t sum = 1469598103934665603u;

    for (size_t i = 0; i < n; i++) {
        struct stat st = { 0 };
        int64_t stamp[4];
        AUTO_FD fd = open_text(root, names[i], arena, &st);

        if (fd < 0) /* another file may come and go behind a name */
            st = (struct stat){ 0 };
        take_stamp(&st, stamp);
        for (const char *p = names[i]; *p; p++)
            sum = (sum ^ (unsigned char)*p) * 1099511628211u;
        for (size_t k = 0; k < ARRAY_LEN(stamp); k++)
            sum = (sum ^ (uint64_t)stamp[k]) * 1099511628211u;
    }
    return (int64_t)(sum >> 1);
}

static void load(struct shared *shared, int root, char **names, size_t n)
{
    arena_release(&shared->arena);
    shared->arena = ARENA_INIT;
    shared->items = ARENA_NEW_N(&shared->arena, struct shared_skill, SHARED_MAX);
    shared->n = 0;
    shared->bytes = 0;
    add_bundled(shared);
    for (size_t i = 0; i < n; i++)
        add_folder_skill(shared, root, names[i]);
    qsort(shared->items, shared->n, sizeof(shared->items[0]), by_name);
}

const struct shared_skill *shared_list(struct shared *shared, int64_t now_ms, size_t *ret_count)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_FD root = -1;
    char **names = NULL;
    size_t n = 0;
    int64_t stamp;

    *ret_count = shared->n;
    if (shared->items && now_ms - shared->looked_at < LOOK_MS)
        return shared->items;
    shared->looked_at = now_ms;
    if (shared->root)
        root = open(shared->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root >= 0)
        names = read_names(shared->root, &arena, &n);
    stamp = folder_stamp(root, names, n, &arena);
    if (!shared->items || stamp != shared->stamp)
        load(shared, root, names, n);
    shared->stamp = stamp;
    *ret_count = shared->n;
    return shared->items;
}

const struct shared_skill *shared_find(struct shared *shared, int64_t now_ms, struct str name)
{
    size_t n;
    const struct shared_skill *items = shared_list(shared, now_ms, &n);

    for (size_t i = 0; i < n; i++)
        if (str_eq(items[i].skill.name, name))
            return &items[i];
    return NULL;
}

int shared_entries(const struct shared_skill *item, struct arena *arena,
                   struct archive_entry **ret_entries, size_t *ret_count, struct err *err)
{
    if (item->path)
        return archive_read_dir(item->path, &folder_limits, arena, ret_entries, ret_count, err);
    *ret_entries = item->entries;
    *ret_count = item->count;
    return 0;
}

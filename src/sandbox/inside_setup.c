/* What the keeper tells the hand before it starts.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "sandbox/cgroup.h"
#include "sandbox/inside_int.h"

static const char **read_list(struct json_object *doc, const char *key)
{
    struct json_object *list = json_find(doc, key);
    size_t n = json_length(list);
    const char **texts = NEW_N(const char *, n + 1);

    for (size_t i = 0; i < n; i++)
        texts[i] = json_object_get_string(json_object_array_get_idx(list, i));
    return texts;
}

static int read_view(struct json_object *item, struct place_view *view)
{
    struct str is = json_str(json_find(item, "is")), dev, ino;

    view->path = json_object_get_string(json_find(item, "path"));
    view->covered = json_object_get_boolean(json_find(item, "covered"));
    view->bound = json_object_get_boolean(json_find(item, "bound"));
    view->lent = json_object_get_boolean(json_find(item, "lent"));
    if (!view->path || !str_split(&is, ' ', &dev) || !str_split(&is, ' ', &ino) ||
        str_to_u64(dev, &view->dev) < 0 || str_to_u64(ino, &view->ino) < 0 ||
        str_to_u64(is, &view->entry) < 0)
        return -1;
    return 0;
}

static int read_views(struct inside_setup *setup, struct err *err)
{
    struct json_object *list = json_find(setup->doc, "views");
    size_t n = json_length(list);

    setup->views = NEW_N(struct place_view, n + 1);
    for (size_t i = 0; i < n; i++)
        if (read_view(json_object_array_get_idx(list, i), &setup->views[setup->view_count++]) < 0)
            return err_set(err, ERR_BAD_REQUEST, "read setup: view %zu", i);
    return 0;
}

static uint64_t read_number(struct json_object *doc, const char *key)
{
    int64_t value = 0;

    json_get_i64(doc, key, &value, NULL);
    return value > 0 ? (uint64_t)value : 0;
}

int inside_setup_read(int fd, struct inside_setup *setup, struct err *err)
{
    AUTO_BUF text = BUF_INIT(FRAME_BYTES);

    memset(setup, 0, sizeof(*setup));
    if (lseek(fd, 0, SEEK_SET) < 0 || file_read_fd(fd, "setup", &text, err) < 0)
        return err_set(err, ERR_INTERNAL, "read setup: %s", strerror(errno));
    if (json_parse(buf_str(&text), &setup->doc, err) < 0)
        return err_wrap(err, "read setup");
    setup->off = json_object_get_boolean(json_find(setup->doc, "off"));
    setup->cwd = json_object_get_string(json_find(setup->doc, "cwd"));
    setup->allow_write = read_list(setup->doc, "allowWrite");
    setup->deny_read = read_list(setup->doc, "denyRead");
    setup->deny_names = read_list(setup->doc, "denyNames");
    setup->deny_write = read_list(setup->doc, "denyWrite");
    setup->obeyed = read_list(setup->doc, "obeyed");
    setup->sockets = read_list(setup->doc, "sockets");
    setup->argv = read_list(setup->doc, "argv");
    setup->memory = read_number(setup->doc, "memory");
    setup->processes = read_number(setup->doc, "processes");
    setup->disk = read_number(setup->doc, "disk");
    setup->files = read_number(setup->doc, "files");
    setup->time_limit_ms = (int64_t)read_number(setup->doc, "timeLimit");
    setup->proxy_port = (int)read_number(setup->doc, "proxyPort");
    setup->groups = (int)read_number(setup->doc, "groups");
    setup->state = json_find(setup->doc, "state");
    if (!setup->cwd)
        return err_set(err, ERR_BAD_REQUEST, "read setup: no cwd");
    if (setup->groups > CGROUP_FILES_MAX)
        return err_set(err, ERR_BAD_REQUEST, "read setup: %d groups", setup->groups);
    return read_views(setup, err);
}

void inside_setup_release(struct inside_setup *setup)
{
    free(setup->allow_write);
    free(setup->deny_read);
    free(setup->deny_names);
    free(setup->deny_write);
    free(setup->obeyed);
    free(setup->sockets);
    free(setup->argv);
    free(setup->views);
    json_object_put(setup->doc);
    memset(setup, 0, sizeof(*setup));
}

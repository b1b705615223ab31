/* libcurl, opened when the first request is made: a daemon that makes none does not carry it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/dl.h"
#include "loop/http_curl_int.h"

#define SYMBOL(name)                                                                               \
    {                                                                                              \
        "curl_" #name, (void **)&opened.name                                                       \
    }

int http_lib_load(const struct http_lib **ret_lib, struct err *err)
{
    static struct http_lib opened;
    static bool ready;
    static const struct dl_symbol symbols[] = {
        SYMBOL(global_init),
        SYMBOL(multi_init),
        SYMBOL(multi_cleanup),
        SYMBOL(multi_setopt),
        SYMBOL(multi_add_handle),
        SYMBOL(multi_remove_handle),
        SYMBOL(multi_socket_action),
        SYMBOL(multi_assign),
        SYMBOL(multi_info_read),
        SYMBOL(easy_init),
        SYMBOL(easy_cleanup),
        SYMBOL(easy_reset),
        SYMBOL(easy_setopt),
        SYMBOL(easy_getinfo),
        SYMBOL(easy_pause),
        SYMBOL(easy_strerror),
        SYMBOL(slist_append),
        SYMBOL(slist_free_all),
        SYMBOL(url),
        SYMBOL(url_cleanup),
        SYMBOL(url_set),
        SYMBOL(url_get),
        SYMBOL(free),
    };

    if (!ready) {
        if (dl_load("libcurl.so.4", symbols, ARRAY_LEN(symbols), err) < 0)
            return -1;
        if (opened.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
            return err_set(err, ERR_INTERNAL, "libcurl does not start");
        ready = true;
    }
    *ret_lib = &opened;
    return 0;
}

#define BARE_MAX 256

/* Descriptors that a child would inherit, but for the standard three; -1 when there are more than
 * BARE_MAX or the system does not say. */
static int list_bare(int fds[BARE_MAX])
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    if (!dir)
        return -1;
    for (struct dirent *entry; n <= BARE_MAX && (entry = readdir(dir)) != NULL;) {
        int fd = (int)strtol(entry->d_name, NULL, 10), flags = fd > 2 ? fcntl(fd, F_GETFD) : -1;

        if (flags < 0 || (flags & FD_CLOEXEC))
            continue;
        if (n < BARE_MAX)
            fds[n] = fd;
        n++;
    }
    closedir(dir);
    return n <= BARE_MAX ? n : -1;
}

static bool contains(const int *fds, int n, int fd)
{
    for (int i = 0; i < n; i++)
        if (fds[i] == fd)
            return true;
    return false;
}

CURLM *http_lib_multi(const struct http_lib *lib)
{
    int before[BARE_MAX], after[BARE_MAX];
    int n_before = list_bare(before), n_after;
    CURLM *multi = lib->multi_init();

    if (!multi || n_before < 0)
        return multi;
    n_after = list_bare(after);
    for (int i = 0; i < n_after; i++)
        if (!contains(before, n_before, after[i]))
            fcntl(after[i], F_SETFD, FD_CLOEXEC);
    return multi;
}

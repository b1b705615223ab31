/* libcurl, opened when the first request is made: a daemon that makes none does not carry it.
 *
 * SPDX-License-Identifier: MIT
 */
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
        SYMBOL(global_init),         SYMBOL(multi_init),       SYMBOL(multi_cleanup),
        SYMBOL(multi_setopt),        SYMBOL(multi_add_handle), SYMBOL(multi_remove_handle),
        SYMBOL(multi_socket_action), SYMBOL(multi_assign),     SYMBOL(multi_info_read),
        SYMBOL(easy_init),           SYMBOL(easy_cleanup),     SYMBOL(easy_reset),
        SYMBOL(easy_setopt),         SYMBOL(easy_getinfo),     SYMBOL(easy_pause),
        SYMBOL(easy_strerror),       SYMBOL(slist_append),     SYMBOL(slist_free_all),
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

/* Hosts and the list of those that are admitted.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/proxy_int.h"

static int parse_port(struct str text, uint16_t *ret_port, struct err *err)
{
    uint64_t port;

    if (text.n > 5 || str_to_u64(text, &port) < 0 || port == 0 || port > 65535)
        return err_set(err, ERR_BAD_REQUEST, "a port is a number from 1 to 65535");
    *ret_port = (uint16_t)port;
    return 0;
}

/* Takes ":port" off the end of *host. */
static int split_port(struct str *host, uint16_t *ret_port, struct err *err)
{
    ptrdiff_t colon;
    size_t end;

    *ret_port = 0;
    if (host->n > 0 && host->p[0] == '[') {
        ptrdiff_t close = str_find_char(*host, ']');

        if (close < 0)
            return err_set(err, ERR_BAD_REQUEST, "an address in brackets lacks the closing one");
        end = (size_t)close + 1;
        if (end == host->n)
            return 0;
        colon = host->p[end] == ':' ? (ptrdiff_t)end : -1;
    } else {
        colon = str_find_char(*host, ':');
        if (colon < 0)
            return 0;
        end = (size_t)colon;
    }
    if (colon < 0 || parse_port(str_skip(*host, end + 1), ret_port, err) < 0)
        return err_set(err, ERR_BAD_REQUEST, "what follows the host is not a port");
    *host = str_take(*host, end);
    return 0;
}

int proxy_host_parse(struct str text, struct proxy_host *ret, struct err *err)
{
    struct proxy_host host = { .port = 0 };
    int literal;

    if (split_port(&text, &host.port, err) < 0)
        return -1;
    literal = dns_literal(text, &host.addr);
    if (literal < 0 || (literal == 0 && !dns_name_ok(text)))
        return err_set(err, ERR_BAD_REQUEST, "this is neither a host name nor an address");
    host.numeric = literal > 0;
    if (host.numeric) {
        dns_addr_text(&host.addr, host.name);
    } else {
        for (size_t i = 0; i < text.n; i++)
            host.name[i] =
                text.p[i] >= 'A' && text.p[i] <= 'Z' ? (char)(text.p[i] | 0x20) : text.p[i];
        host.name[text.n] = '\0';
    }
    *ret = host;
    return 0;
}

/* ---- the list ---- */

static int parse_entry(const char *text, struct proxy_entry *ret, struct err *err)
{
    struct str host = str_from(text);

    ret->below = str_starts(host, STR("*."));
    if (ret->below)
        host = str_skip(host, 2);
    if (proxy_host_parse(host, &ret->host, err) < 0)
        return err_wrap(err, "allowed host %.300s", text);
    if (ret->below && ret->host.numeric)
        return err_set(err, ERR_BAD_REQUEST, "allowed host %.300s: nothing is below an address",
                       text);
    return 0;
}

int proxy_list_init(struct proxy_list *list, const char *const *texts, struct err *err)
{
    *list = (struct proxy_list){ NULL, 0 };
    for (; texts && texts[list->n]; list->n++) {
        if (list->n == PROXY_ENTRIES_MAX) {
            proxy_list_release(list);
            return err_set(err, ERR_TOO_LARGE, "more than %d allowed hosts", PROXY_ENTRIES_MAX);
        }
        list->entries = alloc_resize(list->entries, list->n + 1, sizeof(*list->entries));
        if (parse_entry(texts[list->n], &list->entries[list->n], err) < 0) {
            proxy_list_release(list);
            return -1;
        }
    }
    return 0;
}

void proxy_list_release(struct proxy_list *list)
{
    free(list->entries);
    *list = (struct proxy_list){ NULL, 0 };
}

static bool port_fits(const struct proxy_entry *entry, uint16_t port)
{
    return entry->host.port ? entry->host.port == port : port == 80 || port == 443;
}

static bool entry_is(const struct proxy_entry *entry, const struct proxy_host *host)
{
    size_t n = strlen(host->name), suffix = strlen(entry->host.name);

    if (entry->host.numeric || host->numeric)
        return entry->host.numeric && host->numeric && dns_addr_eq(&entry->host.addr, &host->addr);
    if (!entry->below)
        return strcmp(entry->host.name, host->name) == 0;
    return n > suffix + 1 && host->name[n - suffix - 1] == '.' &&
           strcmp(host->name + n - suffix, entry->host.name) == 0;
}

bool proxy_list_has(const struct proxy_list *list, const struct proxy_host *host)
{
    for (size_t i = 0; i < list->n; i++)
        if (port_fits(&list->entries[i], host->port) && entry_is(&list->entries[i], host))
            return true;
    return false;
}

bool proxy_list_reaches(const struct proxy_list *list, const struct dns_addr *addr, uint16_t port)
{
    struct proxy_host host = { .numeric = true, .addr = *addr, .port = port };

    return dns_allowed(&dns_policy_public_only, addr) || proxy_list_has(list, &host);
}

/* A proxy in a process of its own, and blocking clients to speak to it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_PROXY_RIG_H
#define DORMOUSE_TESTS_PROXY_RIG_H

#include "harness/test.h"
#include "sandbox/proxy.h"

/* What the other process saw. */
struct rig_shared {
    unsigned refusals, lookups;
    char host[300], why[600];
    uint16_t port;
    struct proxy_counts counts;
};

struct rig {
    int pid, control;
    const char *path; /* of the socket */
    struct rig_shared *shared;
};

/* A name and what it leads to: addresses separated by blanks, "" none, "-" never answers. */
struct rig_name {
    const char *name, *addresses;
};

/* config's socket_path, resolver, on_refused and arg are the rig's. names may be NULL. */
void rig_start(struct test *t, struct rig *rig, const struct proxy_config *config,
               const struct rig_name *names);
/* Fails the test when the process did not end well (leaks, open handles). */
void rig_stop(struct test *t, struct rig *rig);

/* A client; reading gives up after 20 seconds. */
int rig_client(struct test *t, const struct rig *rig);
void rig_send(int fd, const char *text);
/* Until the text or the end; all that was read. */
const char *rig_read_until(struct test *t, int fd, const char *text);
/* Everything up to the end. */
const char *rig_read(struct test *t, int fd);
/* Sends a request and reads all of the answer. */
const char *rig_ask(struct test *t, const struct rig *rig, const char *request);

#endif

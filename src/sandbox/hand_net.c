/* The sandbox's way out, when the specification names hosts: a proxy on a socket in a directory of
 * its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/hand_net.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/hand_int.h"
#include "sandbox/proxy.h"
#include "sandbox/walls.h"

#define DETAIL_MAX 512

struct hand_net {
    struct proxy *proxy;
    char dir[64], socket[80];
    hand_net_refused_fn *refused;
    void *arg;
};

static void on_refused(void *arg, const struct proxy_refusal *refusal)
{
    struct hand_net *net = arg;
    char detail[DETAIL_MAX];

    snprintf(detail, sizeof(detail), "%s", refusal->why);
    if (net->refused)
        net->refused(net->arg, detail);
}

/* The name of a socket is short, so the data directory will not do. */
static int make_dir(struct hand_net *net, struct err *err)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");

    if (!runtime || runtime[0] != '/' || strlen(runtime) > 32 || access(runtime, W_OK) < 0)
        runtime = "/tmp";
    snprintf(net->dir, sizeof(net->dir), "%s/dormouse-XXXXXX", runtime);
    if (!mkdtemp(net->dir))
        return err_set(err, ERR_INTERNAL, "directory for the proxy's socket: %s", strerror(errno));
    snprintf(net->socket, sizeof(net->socket), "%s/proxy", net->dir);
    return 0;
}

int hand_net_start(struct loop *loop, const char *const *allow_domains,
                   hand_net_refused_fn *refused, void *arg, struct hand_net **ret_net,
                   struct err *err)
{
    struct hand_net *net = NEW(struct hand_net);

    net->refused = refused;
    net->arg = arg;
    if (make_dir(net, err) < 0) {
        free(net);
        return -1;
    }
    if (proxy_start(loop,
                    &(struct proxy_config){ .socket_path = net->socket,
                                            .allow_domains = allow_domains,
                                            .on_refused = on_refused,
                                            .arg = net },
                    &net->proxy, err) < 0) {
        hand_net_free(net);
        return -1;
    }
    /* The hand's forwarder connects, which is another user when we are root. */
    if (walls_is_root() &&
        (chmod(net->dir, 0711) < 0 || chown(net->socket, HAND_UID, (gid_t)-1) < 0)) {
        err_set(err, ERR_INTERNAL, "the proxy's socket %s: %s", net->socket, strerror(errno));
        hand_net_free(net);
        return -1;
    }
    *ret_net = net;
    return 0;
}

const char *hand_net_socket(const struct hand_net *net)
{
    return net ? net->socket : NULL;
}

void hand_net_free(struct hand_net *net)
{
    if (!net)
        return;
    proxy_free(net->proxy);
    rmdir(net->dir);
    free(net);
}

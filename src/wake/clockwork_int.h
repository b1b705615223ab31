/* The inside of the clockwork.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_CLOCKWORK_INT_H
#define DORMOUSE_WAKE_CLOCKWORK_INT_H

#include "wake/clockwork.h"

struct told;
struct uv_poll_s;

struct clockwork {
    struct clockwork_config config;
    struct loop_timer alarm; /* of what is due next */
    struct loop_timer step;  /* there is something to do now, or once more later */
    bool stopped, failing;

    struct told *told; /* of a page that is not durable yet; the next one waits for it */
    bool again;        /* somebody asked meanwhile */

    char here_name[ZONE_NAME_MAX + 1]; /* "": not looked yet */
    struct zone *here;
    bool moving; /* timers are being moved to it, those up to moved_n were */
    int64_t moved_n;

    int inotify_fd;
    struct uv_poll_s *poll;
};

void clockwork_watch_start(struct clockwork *clockwork);
void clockwork_watch_stop(struct clockwork *clockwork);

#endif

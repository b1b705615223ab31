/* Everything that runs under one data directory, wired together: databases, secrets, models, tools
 * and the runner. The daemon opens it; commands reach it through the daemon's socket.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_HOUSE_H
#define DORMOUSE_CLI_HOUSE_H

#include "cli/domains.h"
#include "cli/models.h"
#include "house/rooms.h"
#include "loop/loop.h"
#include "policy/kill.h"
#include "policy/secret.h"
#include "run/run.h"

struct config;

struct house {
    const struct config *config;
    const char *data_dir;
    int lock_fd; /* before house_open(): that of data_dir_be_next(), or -1 */
    struct domains domains;
    struct loop *loop;
    struct secrets *secrets;
    struct models specs;
    struct house_learned *learned; /* configurations that were read since */
    struct models_access access;
    struct rooms rooms;
    /* Of the rooms, when it is awake. */
    struct change *change;
    struct kill_switches *kill;
    struct model_gateway *models;
    struct runner *runner;
};

#define HOUSE_INIT ((struct house){ .lock_fd = -1, .rooms = ROOMS_INIT })

/* Takes the lock, opens the domains and makes the loop. config outlives the house. Fails with
 * conflict when another process holds the data directory. */
int house_open(struct house *house, const struct config *config, const char *data_dir,
               struct err *err);
/* Models, tools and the runner: runs that were under way go on with the loop's first ticks. */
int house_wake(struct house *house, struct err *err);
/* Models of a configuration that was read anew (taken, also when this fails) and that the house
 * does not know can be used from now on. Those it knows stay as they are. */
int house_learn(struct house *house, struct config *config, struct err *err);
/* Ends effects without a record; nothing of the loop's is used after this but loop_free(). */
void house_sleep(struct house *house);
/* In the opposite order of opening; the lock goes last. Safe on a house that was never opened. */
void house_release(struct house *house);

#endif

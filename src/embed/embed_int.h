/* Shared by the files of the library.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_EMBED_EMBED_INT_H
#define DORMOUSE_EMBED_EMBED_INT_H

#include "house/rooms.h"
#include <dormouse.h>

struct dm_house {
    struct rooms rooms;
    struct loop *loop;
    struct domain *journal, *agent;
    int lock_fd;
    char *directory;
    bool temporary;
    char *agent_name, *cwd;
    struct config *config;
    dm_model_fn *model_call;
    void *model_arg;
    dm_event_fn *on_event;
    void *event_arg;
    struct model_spec spec;
    struct run_listener listener;
    struct embed_tool *tools;
    bool working; /* inside dm_step() */
};

/* Always -1. error may be NULL. */
int embed_fail(struct dm_error *error, const struct err *err);

/* ---- embed_model.c ---- */
int embed_model_call(void *call_arg, const struct model_request *request,
                     const struct model_sink *sink, void *arg, struct err *err);

/* ---- embed_tool.c ---- */
void embed_tools_free(struct dm_house *house);

#endif

/* A subscription as people type it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_SUBSCRIBE_FORM_H
#define DORMOUSE_CLI_SUBSCRIBE_FORM_H

#include "base/err.h"
#include "cli/command.h"

struct json_object;

/* Adds the members of a subscription to body, from the options below. */
int subscribe_form(const struct cli_args *args, struct json_object *body, struct err *err);
/* POSTs it; errors name the options. */
int subscribe_send(const struct cli_args *args, const char *path, struct json_object *body,
                   struct json_object **ret_answer, struct err *err);

/* clang-format off */
#define SUBSCRIBE_FORM_OPTIONS \
    { .name = "key", .value = "KEY", .repeats = true, \
      .help = "TASK, WORKOUT, NOTE, RATING, AGENT_MESSAGE and others" }, \
    { .name = "subtype", .value = "KIND=V", .repeats = true, \
      .help = "such as workoutType=run, taskStatus=DONE" }, \
    { .name = "id", .value = "ID", .help = "of one record", .repeats = true }, \
    { .name = "token", .value = "TOKEN", .repeats = true, \
      .help = "any of these: k:TASK, sub:workoutType:run, id:ID" }, \
    { .name = "agents", .help = "--id is of agents and what is theirs, not of the journal" }, \
    { .name = "where", .value = "PREDICATE", .help = "task.categoryId == \"gym\"" }, \
    { .name = "authors", .value = "LIST", .help = "human (unless given), agent, sync, self" }, \
    { .name = "hours", .value = "HOURS", \
      .help = "only then: \"mo,tu 7:00-22:00 Europe/Berlin\"" }, \
    { .name = "cooldown", .value = "TIME", .help = "at most once in this time: 10m, 2h" }, \
    { .name = "folder", .value = "DIR", .help = "files of this folder instead" }, \
    { .name = "glob", .value = "PATTERN", .help = "only such files: *.pdf" }, \
    { .name = "webhook", .help = "calls from elsewhere instead" }, \
    { .name = "name", .value = "NAME", .help = "what it is called" }, \
    { .name = "prompt", .value = "TEXT", .help = "what the agent is told when it wakes" }
/* clang-format on */

#endif

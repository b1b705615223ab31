/* git's configuration, read as git reads it: which of its settings are harmless, and which name a
 * file that git runs or obeys.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_GIT_CONFIG_H
#define DORMOUSE_SANDBOX_GIT_CONFIG_H

#include <stdbool.h>

#include "base/limits.h"
#include "base/str.h"

#define GIT_NAME_BYTES 64

/* A reader; begin with the text in rest and all else zero. */
struct git_config {
    struct str rest;
    char section[GIT_NAME_BYTES]; /* in lower case, without its subsection */
    bool broken;                  /* something was no setting and was passed over; git would stop */
};
struct git_setting {
    char section[GIT_NAME_BYTES], key[GIT_NAME_BYTES]; /* in lower case */
    char value[LIMIT_PATH_BYTES];                      /* without quotes and escapes */
};
/* False at the end. What is longer than it may be is passed over as broken. */
bool git_config_next(struct git_config *config, struct git_setting *ret_setting);

/* Whether git runs or reads nothing of others by this configuration: only settings that every fresh
 * clone has. */
bool git_config_is_plain(struct str text);

/* What the value is. */
enum git_names {
    GIT_NAMES_NOTHING = 0,
    GIT_NAMES_CONFIG,  /* a file with more settings, relative to the one that names it */
    GIT_NAMES_HOOKS,   /* a directory of hooks */
    GIT_NAMES_PATH,    /* a file or directory that git obeys */
    GIT_NAMES_COMMAND, /* a command, some words of which may be files */
    GIT_NAMES_ALIAS,   /* the same, in a person's own words: it may name what it works on */
};
enum git_names git_setting_names(const struct git_setting *setting);
/* Takes the next word off a command, as a shell would split it; what is expanded stays as it is. */
bool git_command_word(struct str *rest, char ret_word[LIMIT_PATH_BYTES]);

/* Of a rebase, cherry-pick or revert under way: whether going on with it runs nothing but git. name
 * is the file's last one; one that we don't know is never plain. */
bool git_sequence_is_plain(const char *name, struct str text);

#endif

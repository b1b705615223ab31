/* What agents ask to remember: the tree they see, the rules of its paths, suspicious text, and what
 * a person is shown before deciding.
 *
 *   AGENTS.md       the agent's instructions, read only
 *   tools.json      its tools, read only
 *   skills/NAME.md  a skill; the file skills/NAME/SKILL.md of the store
 *   knowledge/...   what it knows
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MEMORY_EDIT_H
#define DORMOUSE_MEMORY_EDIT_H

#include "agent/agent.h"
#include "files/files.h"

#define MEMORY_FILE_BYTES (100 * 1024) /* more is refused */
#define MEMORY_WARN_BYTES (80 * 1024)  /* all files together: told */
#define MEMORY_FULL_BYTES (100 * 1024) /* told louder, never refused */

enum memory_severity { MEMORY_WARNING = 1, MEMORY_DANGER };
struct memory_flag {
    const char *pattern;     /* the rule: its expression, or its name where it is no expression */
    struct str match;        /* what was found */
    const char *description; /* "Contains URL" */
    enum memory_severity severity;
    size_t start, end; /* bytes of the text */
};
/* Everything suspicious in a text in order of place, at most 200. Texts lie in arena. */
size_t memory_flags(struct str text, struct arena *arena, struct memory_flag **ret_flags);

enum memory_operation { MEMORY_WRITE = 0, MEMORY_APPEND, MEMORY_DELETE };

/* May an agent write there? path_denied names the rule. ret_path is the store's path. */
int memory_path(struct str path, bool write, struct arena *arena, struct str *ret_path,
                struct err *err);
/* What an agent reads: also AGENTS.md and tools.json. 1 found, 0 there is none. ret_file->taint
 * says where untrusted text in it came from. */
int memory_read(struct files *files, const struct agent *agent, struct str path,
                struct arena *arena, struct file *ret_file, struct err *err);
/* Paths as agents see them, in order. directory empty: all. */
int memory_list(struct files *files, const struct agent *agent, struct str directory,
                struct arena *arena, struct file **ret_files, size_t *ret_count, struct err *err);

struct memory_edit {
    struct str path; /* as the agent sees it */
    enum memory_operation operation;
    struct str content, reason;
    struct str taint; /* of the thread that asks */
};
/* An edit against what is there now: what will be, what is suspicious, what a person should know.
 */
struct memory_proposal {
    struct str store_path;
    bool exists;
    struct str current, proposed; /* proposed empty for a deletion */
    int64_t base;                 /* version of current; 0: none */
    struct str diff;              /* unified */
    struct memory_flag *flags;    /* of proposed, places in it */
    size_t flag_count;
    int64_t total_after; /* bytes of the agent's memory afterwards */
    bool warn, full;
};
int memory_propose(struct files *files, const struct agent *agent, const struct memory_edit *edit,
                   struct arena *arena, struct memory_proposal *ret_proposal, struct err *err);
/* Inside a unit: the proposal as a version. version_conflict when the file is another by now. */
int memory_apply(struct files *files, const struct agent *agent, const struct memory_edit *edit,
                 const struct memory_proposal *proposal, struct str inbox_id, int64_t run_n,
                 struct str operation_id, struct arena *arena, struct file *ret_file,
                 struct err *err);

#endif

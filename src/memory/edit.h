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
#include "base/buf.h"
#include "files/files.h"

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
    bool edited;      /* a person made it of what the agent proposed: they are its author */
};
/* An edit against what is there now: what will be, what is suspicious, what a person should know.
 */
struct memory_proposal {
    struct str path, store_path; /* path: as the agent sees it, spelt as what is there */
    bool exists;
    struct str current, proposed; /* proposed empty for a deletion */
    int64_t base;                 /* version of current; 0: none */
    struct str diff;              /* unified */
    struct memory_flag *flags;    /* of proposed, places in it */
    size_t flag_count;
    struct str taint;    /* of what will be there; an addition keeps that of what was */
    int64_t total_after; /* bytes of the agent's memory afterwards */
    bool warn, full;
};
const char *memory_operation_name(enum memory_operation operation);
/* "write", "append", "delete"; empty: write. bad_request otherwise. */
int memory_operation_of(struct str name, enum memory_operation *ret_operation, struct err *err);
/* What needs no look at the text that is there: path, form and size of the new one. */
int memory_edit_check(const struct memory_edit *edit, struct arena *arena, struct err *err);
int memory_propose(struct files *files, const struct agent *agent, const struct memory_edit *edit,
                   struct arena *arena, struct memory_proposal *ret_proposal, struct err *err);
/* The same without what only a person looks at (diff, flags): enough to apply it. */
int memory_prepare(struct files *files, const struct agent *agent, const struct memory_edit *edit,
                   struct arena *arena, struct memory_proposal *ret_proposal, struct err *err);
/* Inside a unit: the proposal as a version. version_conflict when the file is another by now. */
int memory_apply(struct files *files, const struct agent *agent, const struct memory_edit *edit,
                 const struct memory_proposal *proposal, struct str inbox_id, int64_t run_n,
                 struct str operation_id, struct arena *arena, struct file *ret_file,
                 struct err *err);

/* Was this operation applied? 1: ret_base is the version that it found, ret_version the one that it
 * made. For what is asked again after a crash. */
int memory_applied(struct domain *domain, struct str operation_id, int64_t *ret_base,
                   int64_t *ret_version, struct err *err);
/* What a person is shown, as a JSON object: path, operation, current_content, proposed_content,
 * reason, suspicious_flags, warnings, taint, diff. Safe to look at only after escaping. */
void memory_details(const struct memory_edit *edit, const struct memory_proposal *proposal,
                    struct buf *out);

/* What people put into the view (files_config.admits): AGENTS.md and tools.json are made of the
 * agent's settings and are no files. */
int memory_admits(struct str tree, struct str path, struct err *err);
/* The tree of an agent's files: "agents/ID". */
struct str memory_tree(const struct agent *agent, struct arena *arena);
/* The path as agents see it, of the store's. */
struct str memory_seen_path(struct str store_path, struct arena *arena);
/* The path as its file is spelt, of any spelling: as agents see it. As given when there is no such
 * file; removed says that it was one until just now. */
struct str memory_spelling(struct files *files, const struct agent *agent, struct str path,
                           bool removed, struct arena *arena);

#endif

/* Between the files of this room.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SKILL_SKILL_INT_H
#define DORMOUSE_SKILL_SKILL_INT_H

#include "base/hash.h"
#include "skill/skill.h"

#define SKILL_PROBLEMS_MAX 32

/* Problems as they are found; more than the cap are counted by the last one. */
struct problems {
    struct arena *arena;
    struct skill_problem *items;
    size_t n;
};
void problem_add(struct problems *problems, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- name.c ---- */

/* NFKC of a name as far as its characters can be in one; the rest stays as it is. */
struct str name_compose(struct str name, struct arena *arena);
/* Everything that is wrong with a name that is not empty. directory may be empty: not compared. */
void name_check(struct str name, struct str directory, struct problems *problems);
/* In UTF-16 units, as the limits of the format are counted. */
size_t text_units(struct str text);

/* ---- validate.c ---- */

/* The entries without the one directory that wraps them all, whose name is returned; empty: none
 * does. */
struct str archive_unwrap(const struct archive_entry *entries, size_t count,
                          struct archive_entry *out);

/* ---- front.c ---- */

/* Reads the text of a SKILL.md; every problem is added. Without any, *ret_skill is whole. */
void front_read(struct str text, struct str directory, struct arena *arena, struct skill *ret_skill,
                struct problems *problems);
/* JSON list of names from the text "Read Bash(git:*)" or "read, write". */
struct str front_tools(struct str text, struct arena *arena);

/* ---- shared.c: bundled ones, and those of a folder ---- */

struct shared_skill {
    struct skill skill;
    struct archive_entry *entries; /* bundled: embedded; folder: read when asked for */
    size_t count;
    const char *path; /* of its directory; NULL: bundled */
    int64_t stamp[4]; /* of its SKILL.md, to see a change */
};
struct shared {
    const char *root;
    struct arena arena; /* of the skills below, made anew when the folder changed */
    struct shared_skill *items;
    size_t n, bytes;   /* bytes: of the texts that were read */
    int64_t looked_at; /* monotonic; 0: never */
    int64_t stamp;     /* of the folder as a whole */
};
void shared_release(struct shared *shared);
/* In order of name; looks at the folder at most once a second. Valid until the next call. */
const struct shared_skill *shared_list(struct shared *shared, int64_t now_ms, size_t *ret_count);
const struct shared_skill *shared_find(struct shared *shared, int64_t now_ms, struct str name);
/* Read now: what is on disk may be another than what was listed. */
int shared_entries(const struct shared_skill *item, struct arena *arena,
                   struct archive_entry **ret_entries, size_t *ret_count, struct err *err);

/* ---- skill_store.c ---- */

int skill_store_list(struct skills *skills, int64_t agent_n, struct arena *arena,
                     struct skill **ret_skills, size_t *ret_count, struct err *err);
/* By id or name. 1 found, 0 there is none. */
int skill_store_find(struct skills *skills, int64_t agent_n, struct str id, struct arena *arena,
                     struct skill *ret_skill, struct err *err);
/* skill->id empty: a new row, whose id is set. */
int skill_store_put(struct skills *skills, int64_t agent_n, struct skill *skill,
                    struct arena *arena, struct err *err);
int skill_store_remove(struct skills *skills, int64_t agent_n, struct str name, struct err *err);
/* The one of this id or name that was removed last. 1 found, 0 there is none. */
int skill_store_find_removed(struct skills *skills, int64_t agent_n, struct str id,
                             struct arena *arena, struct skill *ret_skill, struct err *err);
int skill_store_bring_back(struct skills *skills, const struct skill *skill, struct err *err);

/* Whether the agent does without this shared skill: 1 it does, 0 it does not. */
int skill_store_is_off(struct skills *skills, int64_t agent_n, struct str name, struct err *err);
int skill_store_set_off(struct skills *skills, int64_t agent_n, struct str name, bool off,
                        struct err *err);

struct skill_use {
    struct str skill, allowed_tools, content_hash;
};
int skill_store_use(struct skills *skills, int64_t run_n, const struct skill *skill,
                    struct err *err);
int skill_store_uses(struct skills *skills, int64_t run_n, struct arena *arena,
                     struct skill_use **ret_uses, size_t *ret_count, struct err *err);

/* ---- skills.c ---- */

/* What the system prompt says of an agent's skills, for as long as they stay the same. */
struct skills_said {
    int64_t agent_n;
    uint64_t stamp; /* files_stamp() */
    int64_t shared; /* of the folder */
    bool made;
    struct buf text, taint;
};
#define SKILLS_SAID 64

struct skills {
    struct skills_config config;
    struct file_watcher watcher;
    struct tool_guard guard;
    struct shared shared;
    const char *source; /* of what is written now: "import"; NULL: by its author */
    struct skills_said said[SKILLS_SAID]; /* by the agent's number */
};
struct str skills_tree(const struct agent *agent, struct arena *arena);
int64_t skills_now(const struct skills *skills);

/* ---- watch.c: the table follows the files ---- */

int watch_written(struct file_watcher *watcher, struct str tree, const struct file *after,
                  struct err *err);

int watch_check(struct file_watcher *watcher, struct str tree, const struct file *after,
                struct err *err);

/* ---- use.c: a skill in use narrows what its run may call ---- */

int use_judge(struct tool_guard *guard, const struct tool_call *call,
              const struct tool_contract *contract, struct json_object *arguments, struct err *err);
void use_succeeded(struct tool_guard *guard, const struct tool_call *call,
                   const struct tool_contract *contract, struct json_object *arguments);
int use_read_memory(struct tool_guard *guard, const struct tool_call *call, struct str path,
                    struct arena *arena, struct str *ret_content, struct err *err);
/* Whether a name of allowed-tools, ours or one of the wild, means this tool. */
bool use_names_tool(struct str name, const char *tool);
/* Does the list (JSON) allow this call? An empty list allows all. */
bool use_allows(struct str allowed_tools, const char *tool, struct json_object *arguments);

/* ---- script.c ---- */

extern const struct tool_impl script_tool;

/* ---- sign.c ---- */

/* One hash of all files and their paths, in whatever order they are given. */
void skills_hash(const struct archive_entry *entries, size_t count,
                 char ret_hash[SHA256_TEXT_SIZE]);
/* The same, where content is each file's hash already. */
void skills_hash_of_hashes(const struct archive_entry *entries, size_t count,
                           char ret_hash[SHA256_TEXT_SIZE]);
struct str sign_check_hash(struct str signature, const struct archive_entry *hashes, size_t count,
                           const char *const *trusted_keys, struct arena *arena);
/* What the file SIGNATURE says of the rest: "" there is none, "unverified", or the trusted key. */
struct str sign_check(const struct archive_entry *entries, size_t count,
                      const char *const *trusted_keys, struct arena *arena);

#endif

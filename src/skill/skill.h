/* Skills: the Agent Skills format, per agent (files under skills/NAME/ of its tree, indexed by the
 * table skills) and shared (directories of a folder).
 *
 * Disclosure in three stages: name and description stand in the system prompt; SKILL.md is read
 * when the agent needs it; references, assets and scripts when SKILL.md points to them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SKILL_SKILL_H
#define DORMOUSE_SKILL_SKILL_H

#include "agent/agent.h"
#include "base/buf.h"
#include "base/limits.h"
#include "files/archive.h"
#include "files/files.h"
#include "tool/tool.h"

#define SKILL_NAME_BYTES (3 * LIMIT_SKILL_NAME + 1)
#define SKILL_TEXT_MAX   (1 << 20) /* bytes of a SKILL.md */

struct skill {
    struct str id; /* empty: shared */
    struct str name, description, license, compatibility;
    struct str metadata;      /* JSON object */
    struct str allowed_tools; /* JSON list; empty list: not restricted */
    struct str instructions;  /* the body below the front matter; only where it says so */
    struct str source;        /* made, import, agent, file; shared ones: bundled, folder */
    struct str content_hash;  /* of all its files and their paths */
    struct str signature;     /* "" none; "unverified"; else the trusted key that signed it */
    struct str problem;       /* why it can't be used; empty: it can */
    bool shared, enabled;
    int64_t created_at, updated_at;
};

/* "PDF Processing" -> "pdf-processing". Refused when nothing is left, or too much: a name that was
 * cut would be another one. */
int skill_normalise_name(struct str name, char ret_name[SKILL_NAME_BYTES], struct err *err);
/* The text of a SKILL.md. Each problem names what, where and what is allowed. */
int skill_parse(struct str text, struct arena *arena, struct skill *ret_skill, struct err *err);
/* Problems of a directory as skills-ref validate sees them; 0 of them: valid. directory_name must
 * be the skill's name. */
struct skill_problem {
    struct str text;
};
size_t skill_validate(const struct archive_entry *entries, size_t count, struct str directory_name,
                      struct arena *arena, struct skill_problem **ret_problems);
/* The same of an archive, which may wrap the skill in its directory. ret_name: as far as known. */
size_t skill_validate_archive(const struct archive_entry *entries, size_t count,
                              struct arena *arena, struct skill_problem **ret_problems,
                              struct str *ret_name);
/* Its SKILL.md (or skill.md); NULL when there is none. */
const struct archive_entry *skill_find_text(const struct archive_entry *entries, size_t count);
/* A SKILL.md of these fields. */
void skill_write(const struct skill *skill, struct buf *out);

struct skills;
struct skills_config {
    struct loop *loop;
    struct domain *agent_domain;
    struct change *change;
    struct files *files;
    struct tool_bed *tools;  /* gets run_skill_script, and the scope of a skill in use */
    const char *shared_root; /* a folder of skills for all agents; NULL: none */
    /* Public keys (ed25519, 64 hexadecimal digits) whose signatures are believed; NULL: none. Ends
     * with NULL. */
    const char *const *trusted_keys;
};
/* Before the first use of the bed; freed after it. */
int skills_new(const struct skills_config *config, struct skills **ret_skills, struct err *err);
void skills_free(struct skills *skills);
AUTO_DEFINE(skills)

/* An agent's own and the shared ones, in order of name; own ones win. Without instructions. */
int skills_list(struct skills *skills, const struct agent *agent, struct arena *arena,
                struct skill **ret_skills, size_t *ret_count, struct err *err);
/* By id or name; with instructions. 1 found, 0 there is none. */
int skills_get(struct skills *skills, const struct agent *agent, struct str id, struct arena *arena,
               struct skill *ret_skill, struct err *err);
/* Inside a unit. conflict when the name is taken. by: "owner" or "agent:ID". */
int skills_add(struct skills *skills, const struct agent *agent, const struct skill *skill,
               struct str by, struct arena *arena, struct skill *ret_skill, struct err *err);
int skills_change(struct skills *skills, const struct agent *agent, struct str id,
                  const struct skill *skill, struct str by, struct arena *arena,
                  struct skill *ret_skill, struct err *err);
/* Inside a unit. What has a problem stays off: conflict. A shared one goes on or off for this agent
 * alone. */
int skills_enable(struct skills *skills, const struct agent *agent, struct str id, bool enabled,
                  struct arena *arena, struct skill *ret_skill, struct err *err);
int skills_remove(struct skills *skills, const struct agent *agent, struct str id, struct str by,
                  struct err *err);
/* Inside a unit: the skill that was removed last under this id or name, with every file it had then
 * and as it was (on or off, id, source). not_found when none was; conflict when the name is taken
 * again or its files are no longer those it had. */
int skills_restore(struct skills *skills, const struct agent *agent, struct str id, struct str by,
                   struct arena *arena, struct skill *ret_skill, struct err *err);
/* Inside a unit: a directory with all its files, also wrapped in one directory of the archive. All
 * or nothing; replaces nothing: conflict when the name is taken. */
int skills_import(struct skills *skills, const struct agent *agent,
                  const struct archive_entry *entries, size_t count, struct arena *arena,
                  struct skill *ret_skill, struct err *err);
/* What a person should know of a skill that came from elsewhere, as sentences; none: nothing. */
#define SKILL_WARNINGS_MAX 3
size_t skills_warnings(const struct skills *skills, const struct skill *skill,
                       const struct archive_entry *entries, size_t count, struct arena *arena,
                       struct str ret_warnings[SKILL_WARNINGS_MAX]);
/* What is to be written as this file of an agent's tree: bad_request says why it is no SKILL.md
 * when it should be one ("skills/NAME.md", "skills/NAME/SKILL.md"). Other paths are fine. */
int skills_check_file(struct str path, struct str content, struct arena *arena, struct err *err);
/* Every file of a skill, its SKILL.md first, with content; by id or name. 1 found, 0 there is none.
 */
int skills_files(struct skills *skills, const struct agent *agent, struct str id,
                 struct arena *arena, struct archive_entry **ret_entries, size_t *ret_count,
                 struct err *err);
/* What an agent reads below skills/ of what is not its own: "skills/NAME.md" or
 * "skills/NAME/references/x.md" of a shared skill. 1 found, 0 there is none. */
int skills_read_shared(struct skills *skills, const struct agent *agent, struct str path,
                       struct arena *arena, struct str *ret_content, struct err *err);
/* What the system prompt says of an agent's skills; empty when it has none. The same skills give
 * the same bytes. ret_taint: of the names and descriptions in it; in arena, untouched when it has
 * none. */
int skills_prompt(struct skills *skills, const struct agent *agent, struct buf *out,
                  struct arena *arena, struct str *ret_taint, struct err *err);

#endif

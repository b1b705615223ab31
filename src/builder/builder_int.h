/* Inside the room.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BUILDER_BUILDER_INT_H
#define DORMOUSE_BUILDER_BUILDER_INT_H

#include "builder/builder.h"

struct builder {
    struct builder_config config;
    struct runner *runner;
    struct waker *waker;
};

int64_t builder_now(const struct builder *builder);
/* "agents/ID", the tree of its files. */
struct str builder_tree(const char *agent_id, struct arena *arena);

/* What builder_create() would store, id aside. */
int builder_preview(struct builder *builder, const struct builder_form *form, struct arena *arena,
                    struct agent *ret_agent, struct err *err);

/* builder_create() of a form without template, that remembers what it was made from. */
int builder_create_from(struct builder *builder, const struct builder_form *form,
                        struct str template, struct arena *arena, struct agent *ret_agent,
                        struct err *err);

/* Whether there is such a model, and such a tool for everybody. */
bool builder_has_model(struct builder *builder, struct str model);
bool builder_has_tool(struct builder *builder, struct str name);

/* One sentence more; beyond BUILDER_WARNINGS_MAX they are dropped. */
void builder_warn(struct builder_warnings *warnings, const char *text);

/* ---- alarms.c ---- */
/* Inside a unit: the subscriptions and timers of what the agent was made from. */
struct template;
int builder_add_alarms(struct builder *builder, const struct template *from,
                       const struct agent *agent, struct arena *arena, struct err *err);
/* Categories of the journal; none without one. */
struct record;
int builder_categories(struct builder *builder, struct arena *arena, struct record **ret_list,
                       size_t *ret_count, struct err *err);
/* The other way round: names where ids stood. */
int builder_category_names(struct builder *builder, const char *ids, struct arena *arena,
                           const char **ret_names, struct err *err);
/* The same list with ids where names of categories stood. bad_request, with those there are: one
 * that is not there. What stands in kept (a list too; NULL: none) may be gone since. */
int builder_category_ids(struct builder *builder, struct str given, const char *kept,
                         struct arena *arena, const char **ret_ids, struct err *err);

/* ---- parcel.c ---- */
/* Inside a unit. */
int builder_copy_files(struct builder *builder, const char *from_id, const char *to_id,
                       struct arena *arena, struct err *err);

/* ---- wakes.c ---- */
#define BUILDER_WAKES_BYTES (1024 * 1024) /* of one file of an archive */
/* What wakes it as canonical JSON; empty: nothing does. too_large. */
int builder_wakes_write(struct builder *builder, const struct agent *agent, struct arena *arena,
                        struct str *ret_text, struct err *err);
/* Inside a unit: makes what such a text says for the agent. The text may be hostile. */
int builder_wakes_read(struct builder *builder, struct str text, const struct agent *agent,
                       struct arena *arena, struct builder_warnings *notes, struct err *err);
/* Inside a unit: the same for another agent, switched off. */
int builder_wakes_copy(struct builder *builder, const struct agent *from, const struct agent *to,
                       struct arena *arena, struct builder_warnings *notes, struct err *err);

/* ---- builder_store.c ---- */
/* Keys of the agent's runs that have not ended. */
int builder_open_runs(struct domain *domain, int64_t agent_n, struct arena *arena,
                      struct str **ret_keys, size_t *ret_count, struct err *err);

/* ---- wizard_tools.c ---- */
void wizard_bind(struct builder *builder);

#endif

/* The guided conversation that makes an agent: what its files share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_OFFLINE_WIZARD_INT_H
#define DORMOUSE_MODEL_OFFLINE_WIZARD_INT_H

#include "model/offline_int.h"

#define WIZARD_TOOLS_MAX      64
#define WIZARD_CATEGORIES_MAX 64

/* The form as it follows from everything that was said. */
struct wizard_form {
    struct str purpose, name;
    bool template_known; /* decided, also when there is none */
    struct json_object *template;
    bool tools_known, style_known, terse;
    bool categories_known, all_categories; /* of the journal; none unless named */
    struct str categories[WIZARD_CATEGORIES_MAX];
    size_t category_count;
    struct str added[WIZARD_TOOLS_MAX], removed[WIZARD_TOOLS_MAX];
    size_t added_count, removed_count;
};

struct wizard {
    struct offline_turn *turn;
    struct json_object *templates, *tools; /* lists; NULL: not asked for yet */
    struct json_object *categories;        /* of the journal; NULL or empty: there are none */
    struct wizard_form form;
    bool rejected;     /* the last proposal was, and nothing changed since */
    struct str made;   /* id of the agent that the last proposal made; empty: none */
    struct str advice; /* what the person should know of it */
    struct buf notice; /* what was made of the newest message */
    bool lost;         /* nothing was made of it */
};

/* ---- offline_wizard.c ---- */
/* The template that fits what the agent is for; NULL: none does. */
struct json_object *wizard_suggest(const struct wizard *w);
/* Tools that the form has, at most WIZARD_TOOLS_MAX. */
size_t wizard_tools(const struct wizard *w, struct str *ret_names);
struct json_object *wizard_tool(const struct wizard *w, struct str name);

/* Adds or leaves out the tools that a phrase names; false: it names none. */
bool wizard_change_tools(struct wizard *w, struct str phrase, bool add);
/* Whether it has tools of the journal, and there are categories to choose from. */
bool wizard_needs_categories(const struct wizard *w);
/* Takes the categories that a phrase names ("all", "none"); false: it names none. */
bool wizard_take_categories(struct wizard *w, struct str phrase);
/* The template whose name or id is in text; NULL: none. */
struct json_object *wizard_template(const struct wizard *w, struct str text);

/* ---- offline_wizard_hear.c ---- */
/* One message of the person. */
void wizard_hear(struct wizard *w, struct str text);

/* ---- offline_wizard_say.c ---- */
/* Asks for what is missing; false: nothing is. */
bool wizard_ask(struct wizard *w);
/* The form as arguments of propose_agent. */
void wizard_propose(struct wizard *w);

#endif

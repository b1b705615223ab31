/* What the routes of skills share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_API_SKILLS_INT_H
#define DORMOUSE_SERVE_API_SKILLS_INT_H

#include "files/archive.h"
#include "serve/api_int.h"
#include "skill/skill.h"

/* Replies with the skill as it is now; 201 adds what it should be warned of. */
void api_skills_reply(struct serve_request *request, int status, const struct agent *agent,
                      struct str id);
/* Replies that the agent has no such skill. */
void api_skills_absent(struct serve_request *request, const struct agent *agent, struct str id);
/* Ends the unit around a change, whose result r is: 0, or -1 when either failed. */
int api_skills_unit_end(struct api *api, int r, struct err *err);

#endif

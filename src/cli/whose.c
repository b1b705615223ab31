/* SPDX-License-Identifier: MIT */
#include "cli/whose.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "cli/decide.h"

static struct str id_of(struct json_object *agents, size_t i)
{
    return json_str(json_find(json_object_array_get_idx(agents, i), "id"));
}

static int refuse_many(struct json_object *agents, const char *what, struct err *err)
{
    AUTO_BUF names = BUF_INIT(2 * KIB);

    for (size_t i = 0; i < json_length(agents); i++)
        buf_printf(&names, "%s%.*s", i ? ", " : "", STR_ARG(id_of(agents, i)));
    return err_set(err, ERR_BAD_REQUEST, "whose %s? Give --agent: %s", what, buf_text(&names));
}

int whose_add(const struct cli_args *args, struct talk *talk, const char *what, struct buf *path,
              struct err *err)
{
    AUTO_JSON answer = NULL;
    AUTO_TEXT only = NULL;
    struct json_object *agents;

    if (cli_value(args, "agent")) {
        decide_add_segment(path, cli_value(args, "agent"));
        return 0;
    }
    if (talk_ask(talk, "GET", "/api/v1/agents", STR_NONE, &answer, err) < 0)
        return -1;
    agents = json_find(answer, "agents");
    if (!agents || json_length(agents) == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no agent yet");
    if (json_length(agents) > 1)
        return refuse_many(agents, what, err);
    only = alloc_copy(id_of(agents, 0).p, id_of(agents, 0).n);
    decide_add_segment(path, only);
    return 0;
}

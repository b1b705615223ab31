/* The wizard: an agent of Dormouse itself that makes agents by talking.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/embed.h"
#include "builder/builder_int.h"

extern const struct embed_file builder_prompt_files[];

static const char *prompt(void)
{
    for (const struct embed_file *file = builder_prompt_files; file->name; file++)
        if (strcmp(file->name, "wizard.md") == 0)
            return file->bytes.p;
    BUG("wizard.md is not embedded");
}

#define WIZARD_TOOLS "[\"ask_user\",\"list_templates\",\"list_tools\",\"propose_agent\"]"

/* What a newer binary says in other words is brought up to date. */
static int refresh(struct builder *builder, struct agent *agent, struct err *err)
{
    struct agent to = { .id = agent->id, .instructions = prompt(), .tools = WIZARD_TOOLS };

    if (strcmp(agent->instructions, to.instructions) == 0 && agent->tools &&
        strcmp(agent->tools, to.tools) == 0)
        return 0;
    agent->instructions = to.instructions;
    agent->tools = to.tools;
    return agent_change(builder->config.agent_domain, builder->config.change, &to,
                        AGENT_INSTRUCTIONS | AGENT_TOOLS, builder_now(builder), err);
}

int builder_ensure_wizard(struct builder *builder, struct arena *arena, struct agent *ret_agent,
                          struct err *err)
{
    const struct builder_config *config = &builder->config;
    struct agent agent = { .id = BUILDER_WIZARD_ID,
                           .kind = "wizard",
                           .display_name = "Agent builder",
                           .description = "Makes agents with you by asking what you need.",
                           .instructions = prompt(),
                           .tools = WIZARD_TOOLS };
    struct err absent = ERR_INIT;

    if (agent_get(config->agent_domain, STR(BUILDER_WIZARD_ID), arena, ret_agent, &absent) == 0)
        return refresh(builder, ret_agent, err) < 0 ? -1 : 0;
    if (absent.code != ERR_NOT_FOUND) {
        *err = absent;
        return -1;
    }
    if (agent_add(config->agent_domain, config->change, &agent, builder_now(builder), err) < 0)
        return -1;
    return agent_get(config->agent_domain, STR(BUILDER_WIZARD_ID), arena, ret_agent, err);
}

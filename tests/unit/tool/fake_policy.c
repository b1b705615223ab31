/* Kill switches and dangerous commands for this suite until the policy room has them. */
#include "policy/danger.h"
#include "policy/kill.h"

struct kill_switches {
    struct kill_switch on;
};

const struct kill_switch *kill_is_on(const struct kill_switches *kill, const char *agent_id,
                                     const char *tool_class)
{
    (void)agent_id;
    (void)tool_class;
    return kill->on.scope ? &kill->on : NULL;
}

bool danger_find(struct str command, struct danger *ret_danger)
{
    if (!str_starts(command, STR("rm -rf /")))
        return false;
    *ret_danger = (struct danger){ "recursive_delete_of_root", "It deletes the system.", command };
    return true;
}

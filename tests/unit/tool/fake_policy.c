/* Dangerous commands for this suite until the policy room has them. */
#include "policy/danger.h"

bool danger_find(struct str command, struct danger *ret_danger)
{
    if (!str_starts(command, STR("rm -rf /")))
        return false;
    *ret_danger = (struct danger){ "recursive_delete_of_root", "It deletes the system.", command };
    return true;
}

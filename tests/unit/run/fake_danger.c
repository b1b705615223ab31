#include "policy/danger.h"
bool danger_find(struct str command, struct danger *ret_danger)
{
    (void)command;
    (void)ret_danger;
    return false;
}

/* A person's own guards, added to the program of every run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/policy.h"

#include "run/program.h"

_Static_assert(RUN_FINISHED == 1 << 15, "a policy numbers its attributes from 16 on");

int run_program_with_policy(const struct bp_policy *policy, struct arena *arena,
                            const struct bp_program **ret_program, struct err *err)
{
    if (!bp_policy_is_for(policy, &run_program)) {
        *ret_program = &run_program;
        return 0;
    }
    return bp_policy_apply(&run_program, policy, arena, ret_program, err);
}

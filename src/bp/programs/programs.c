/* The one list of programs that `dormouse verify` checks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/programs/programs_int.h"

const struct bp_program *const bp_programs[] = {
    &bp_program_approval,
    &bp_program_modes,
    &bp_program_lease,
    NULL,
};

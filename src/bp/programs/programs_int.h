/* The example programs, one file each; programs.c lists them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_PROGRAMS_INT_H
#define DORMOUSE_BP_PROGRAMS_INT_H

#include "bp/bp.h"

extern const struct bp_program bp_program_approval;
extern const struct bp_program bp_program_modes;
extern const struct bp_program bp_program_lease;

#endif

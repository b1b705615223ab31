/* A person's own guards, added to the program of every run, and refused when they would leave a run
 * that can't end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/policy.h"

#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "bp/check.h"
#include "run/program.h"

#define POLICY_STATES (200u * 1000)

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

/* Who keeps a wish from happening, where the run stands at the end of the trace. */
static void policy_name_blockers(const struct bp_trace *trace, const struct bp_program *program,
                                 struct buf *out)
{
    for (unsigned i = 0; i < trace->end_count; i++) {
        const struct bp_stand *stand = &trace->ends[i];

        if (stand->wish.type && stand->blocked_by.thread)
            buf_printf(out, "%s%s keeps `%s` from happening", out->n ? "; " : "",
                       stand->blocked_by.thread->name, program->types[stand->wish.type].name);
    }
}

int run_policy_check(const struct bp_program *program, struct err *err)
{
    const struct bp_check_options options = { .keys = 1,
                                              .states_max = POLICY_STATES,
                                              .only_progress = true };
    AUTO_REPORT report = { .program = NULL };
    AUTO_BUF why = BUF_INIT(4096);
    const struct bp_finding *finding;

    if (bp_check(program, &options, &report, err) < 0)
        return -1;
    finding = bp_finding_find(&report, BP_PROGRESS);
    if (finding->verdict == BP_PROVED)
        return 1;
    if (finding->verdict != BP_VIOLATED)
        return 0;
    policy_name_blockers(&finding->trace, program, &why);
    return err_set(
        err, ERR_SCHEMA_VIOLATION,
        "a run could come to a place from which it can't go on or end (%s); give what is "
        "blocked a way out, as share/policy.example.yaml does with `denied`: `dormouse "
        "verify` shows the way there",
        why.n ? buf_text(&why) : "nothing is left to happen");
}

int run_policy_check_file(const char *data_dir, struct err *err)
{
    AUTO(bp_policy) policy = NULL;
    AUTO_ARENA arena = ARENA_INIT;
    const struct bp_program *program;
    char path[LIMIT_PATH_BYTES];

    snprintf(path, sizeof(path), "%s/policy.yaml", data_dir);
    if (access(path, F_OK) < 0)
        return 0;
    if (bp_policy_load(path, &policy, err) < 0 ||
        run_program_with_policy(policy, &arena, &program, err) < 0)
        return -1;
    if (program != &run_program && run_policy_check(program, err) < 0)
        return err_wrap(err, "%s", path);
    return 1;
}

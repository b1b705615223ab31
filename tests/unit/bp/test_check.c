/* SPDX-License-Identifier: MIT */
#include "bp/check.h"

#include <stdio.h>

#include "bp/programs/programs_int.h"
#include "harness/test.h"

static void print_report(const struct bp_program *p, const struct bp_report *report)
{
    AUTO_BUF text = BUF_INIT(1 << 20);

    printf("== %s\n", p->name);
    for (unsigned i = 0; i < report->finding_count; i++) {
        struct bp_finding *f = &report->findings[i];

        printf("%s: %s %lu states %lu transitions %.3f s depth %u bytes %lu;", f->name,
               bp_verdict_name(f->verdict), f->stats.states, f->stats.transitions, f->stats.seconds,
               f->stats.depth, f->stats.bytes);
        for (unsigned k = 0; k < f->rests_count; k++)
            printf(" %s", f->rests_on[k]);
        puts("");
        if (f->verdict == BP_VIOLATED) {
            bp_trace_text(p, &f->trace, &text);
            puts(buf_text(&text));
            buf_clear(&text);
        }
    }
    for (unsigned i = 0; i < report->unreachable_count; i++)
        printf("unreachable %s %d\n", report->unreachable[i].thread->name,
               report->unreachable[i].point);
    printf("never %lx\n", report->never);
}

TEST(approval_thin)
{
    for (int i = 0; bp_programs[i]; i++) {
        AUTO_REPORT report = { .program = NULL };

        ASSERT_OK(bp_check(bp_programs[i], NULL, &report, &t->err));
        print_report(bp_programs[i], &report);
    }
    for (int i = 0; bp_programs[i]; i++)
        for (int k = 0; k < bp_programs[i]->thread_count; k++) {
            AUTO_REPORT report = { .program = NULL };
            const struct bp_program *p;
            if (bp_programs[i]->threads[k].kind != BP_GUARD)
                continue;
            p = bp_program_without(bp_programs[i], bp_programs[i]->threads[k].name, &t->arena);
            ASSERT_OK(bp_check(p, NULL, &report, &t->err));
            printf("without %s %s: %s:", bp_programs[i]->name, bp_programs[i]->threads[k].name,
                   bp_verdict_name(bp_report_verdict(&report)));
            for (unsigned j = 0; j < report.finding_count; j++)
                if (report.findings[j].verdict == BP_VIOLATED)
                    printf(" %s", report.findings[j].name);
            puts("");
        }
}

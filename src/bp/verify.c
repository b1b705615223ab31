/* The report of the checker, for people and for programs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/verify.h"

#include <json-c/json.h>
#include <string.h>

#include "base/alloc.h"
#include "bp/explain.h"
#include "bp/policy.h"

#define TEXT_MAX (1 << 20)

/* ---- for people ---- */

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_support(const struct bp_finding *f, FILE *out)
{
    for (unsigned i = 0; i < f->rests_count; i++)
        fprintf(out, "%s%s", i ? ", " : "; rests on ", f->rests_on[i]);
    fputc('\n', out);
}

static void print_way_out(const struct bp_program *program, FILE *out)
{
    fputs("    From here no", out);
    for (unsigned t = 1; t < program->type_count; t++)
        if (program->types[t].flags & BP_FINAL)
            fprintf(out, " %s", program->types[t].name);
    fputs(" can be reached without a person stepping in.\n", out);
}

static void print_finding(const struct bp_program *program, const struct bp_finding *f, FILE *out)
{
    AUTO_BUF text = BUF_INIT(TEXT_MAX);

    if (f->verdict == BP_UNKNOWN)
        return;
    fprintf(out, "  %-9s %-28s %llu state%s, %.0f ms", bp_verdict_name(f->verdict), f->name,
            (unsigned long long)f->stats.states, plural(f->stats.states), f->stats.seconds * 1e3);
    print_support(f, out);
    if (f->verdict != BP_VIOLATED)
        return;
    bp_trace_text(program, &f->trace, &text);
    fputs(buf_text(&text), out);
    if (strcmp(f->name, BP_PROGRESS) == 0)
        print_way_out(program, out);
}

static void print_unreached(const struct bp_report *report, FILE *out)
{
    AUTO_BUF text = BUF_INIT(TEXT_MAX);

    for (unsigned i = 0; i < report->unreachable_count; i++) {
        buf_clear(&text);
        bp_point_text(report->unreachable[i].thread, report->unreachable[i].point, &text);
        fprintf(out, "  never at  %s %s\n", report->unreachable[i].thread->name, buf_text(&text));
    }
    for (unsigned t = 1; t < report->program->type_count; t++)
        if (report->never >> t & 1)
            fprintf(out, "  never     %s\n", report->program->types[t].name);
}

static void print_report(const struct bp_report *report, FILE *out)
{
    fprintf(out, "%s: %s, %u keys\n", report->program->name,
            report->program->about ? report->program->about : "", report->keys);
    for (unsigned i = 0; i < report->finding_count; i++)
        print_finding(report->program, &report->findings[i], out);
    print_unreached(report, out);
}

/* ---- for programs ---- */

static void add_text(struct json_object *to, const char *key, const char *text)
{
    json_object_object_add(to, key, json_object_new_string(text));
}

static struct json_object *trace_json(const struct bp_program *program,
                                      const struct bp_trace *trace)
{
    struct json_object *o = json_object_new_object();
    struct json_object *steps = json_object_new_array(), *ends = json_object_new_array();

    for (unsigned i = 0; i < trace->step_count; i++) {
        struct json_object *step = json_object_new_object();
        AUTO_BUF text = BUF_INIT(4096);

        bp_event_text(program, &trace->steps[i].event, &text);
        add_text(step, "event", buf_text(&text));
        if (trace->steps[i].by.thread)
            json_object_object_add(step, "by", bp_place_json(&trace->steps[i].by));
        json_object_array_add(steps, step);
    }
    for (unsigned i = 0; i < trace->end_count; i++)
        json_object_array_add(ends, bp_place_json(&trace->ends[i]));
    json_object_object_add(o, "steps", steps);
    json_object_object_add(o, "then", ends);
    return o;
}

static struct json_object *finding_json(const struct bp_program *program,
                                        const struct bp_finding *f)
{
    struct json_object *o = json_object_new_object();

    add_text(o, "program", program->name);
    add_text(o, "property", f->name);
    add_text(o, "verdict", bp_verdict_name(f->verdict));
    json_object_object_add(o, "states", json_object_new_uint64(f->stats.states));
    json_object_object_add(o, "transitions", json_object_new_uint64(f->stats.transitions));
    json_object_object_add(o, "depth", json_object_new_int64(f->stats.depth));
    json_object_object_add(o, "bytes", json_object_new_uint64(f->stats.bytes));
    json_object_object_add(o, "seconds", json_object_new_double(f->stats.seconds));
    if (f->rests_on) {
        struct json_object *names = json_object_new_array();

        for (unsigned i = 0; i < f->rests_count; i++)
            json_object_array_add(names, json_object_new_string(f->rests_on[i]));
        json_object_object_add(o, "restsOn", names);
    }
    if (f->verdict == BP_VIOLATED)
        json_object_object_add(o, "counterexample", trace_json(program, &f->trace));
    return o;
}

static void write_line(struct json_object *o, FILE *out)
{
    fprintf(out, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
    json_object_put(o);
}

static void write_report(const struct bp_report *report, FILE *out)
{
    for (unsigned i = 0; i < report->finding_count; i++)
        if (report->findings[i].verdict != BP_UNKNOWN)
            write_line(finding_json(report->program, &report->findings[i]), out);
    for (unsigned i = 0; i < report->unreachable_count; i++) {
        struct json_object *o = json_object_new_object();

        add_text(o, "program", report->program->name);
        json_object_object_add(o, "neverAt", bp_place_json(&report->unreachable[i]));
        write_line(o, out);
    }
    for (unsigned t = 1; t < report->program->type_count; t++) {
        struct json_object *o;

        if (!(report->never >> t & 1))
            continue;
        o = json_object_new_object();
        add_text(o, "program", report->program->name);
        add_text(o, "never", report->program->types[t].name);
        write_line(o, out);
    }
}

/* ---- all of it ---- */

static void show_progress(void *ctx, const char *what, const struct bp_check_stats *stats,
                          uint64_t queue)
{
    const char *program = ctx;

    fprintf(stderr, "%s, %s: %llu states, %llu to look at, %.0f a second\n", program, what,
            (unsigned long long)stats->states, (unsigned long long)queue,
            stats->seconds > 0 ? (double)stats->states / stats->seconds : 0.0);
}

static int verify_one(const struct bp_program *program, const struct bp_verify_options *o,
                      FILE *out, struct err *err)
{
    struct bp_check_options options = { .keys = o->keys, .states_max = o->states_max };
    AUTO_REPORT report = { .program = NULL };

    if (o->show_progress) {
        options.progress = show_progress;
        options.ctx = (void *)(uintptr_t)program->name;
    }
    if (bp_check(program, &options, &report, err) < 0)
        return -1;
    if (o->json)
        write_report(&report, out);
    else
        print_report(&report, out);
    return (int)bp_report_verdict(&report);
}

static int worse(int a, int b)
{
    static const int rank[] = {
        [BP_UNKNOWN] = 0, [BP_PROVED] = 1, [BP_BOUND] = 2, [BP_VIOLATED] = 3
    };

    return rank[b] > rank[a] ? b : a;
}

static int verify_programs(const struct bp_verify_options *o, const struct bp_policy *policy,
                           FILE *out, struct err *err)
{
    const struct bp_program *const *programs = o->programs ? o->programs : bp_programs;
    unsigned checked = 0;
    int verdict = BP_PROVED;

    for (unsigned i = 0; programs[i]; i++) {
        const struct bp_program *program = programs[i];
        AUTO_ARENA arena = ARENA_INIT;
        int r;

        if (o->only && strcmp(o->only, program->name) != 0)
            continue;
        if (policy) {
            if (!bp_policy_is_for(policy, program))
                continue;
            if (bp_policy_apply(program, policy, &arena, &program, err) < 0)
                return -1;
        }
        r = verify_one(program, o, out, err);
        if (r < 0)
            return -1;
        verdict = worse(verdict, r);
        checked++;
    }
    if (!checked && o->only)
        return err_set(err, ERR_NOT_FOUND, "there is no program %s%s", o->only,
                       policy ? " that the policy is for" : "");
    if (!checked)
        return err_set(err, ERR_NOT_FOUND, "there is no program that the policy is for");
    return verdict;
}

int bp_verify_all(const struct bp_verify_options *options, FILE *out, struct err *err)
{
    AUTO(bp_policy) policy = NULL;

    if (options->policy_path && bp_policy_load(options->policy_path, &policy, err) < 0)
        return -1;
    return verify_programs(options, policy, out, err);
}

/* The report of the checker, for people and for programs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/verify.h"

#include <json-c/json.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
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

static void print_bound(const struct bp_finding *f, FILE *out)
{
    if (f->stats.full)
        fprintf(out, "; gave up at %llu MB of memory: the rest is unknown\n",
                (unsigned long long)(f->stats.bytes >> 20));
    else
        fputs("; gave up, a larger --bound goes on: the rest is unknown\n", out);
}

static void print_finding(const struct bp_program *program, const struct bp_finding *f, FILE *out)
{
    AUTO_BUF text = BUF_INIT(TEXT_MAX);

    if (f->verdict == BP_UNKNOWN) {
        fprintf(out, "  %-9s %-28s no event is FINAL; %llu state%s\n", "skipped", f->name,
                (unsigned long long)f->stats.states, plural(f->stats.states));
        return;
    }
    fprintf(out, "  %-9s %-28s %llu state%s, %.0f ms", bp_verdict_name(f->verdict), f->name,
            (unsigned long long)f->stats.states, plural(f->stats.states), f->stats.seconds * 1e3);
    if (f->verdict == BP_BOUND)
        print_bound(f, out);
    else
        print_support(f, out);
    if (f->verdict != BP_VIOLATED)
        return;
    bp_trace_text(program, &f->trace, &text);
    fputs(buf_text(&text), out);
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

static void add_event(struct json_object *to, const char *key, const struct bp_program *program,
                      const struct bp_event *event)
{
    AUTO_BUF text = BUF_INIT(4096);

    bp_event_text(program, event, &text);
    add_text(to, key, buf_text(&text));
}

static struct json_object *stand_json(const struct bp_program *program,
                                      const struct bp_stand *stand)
{
    struct json_object *o = bp_place_json(&stand->place);

    if (stand->wish.type)
        add_event(o, "requests", program, &stand->wish);
    if (stand->blocked_by.thread)
        json_object_object_add(o, "blockedBy", bp_place_json(&stand->blocked_by));
    return o;
}

static struct json_object *trace_json(const struct bp_program *program,
                                      const struct bp_trace *trace)
{
    struct json_object *o = json_object_new_object();
    struct json_object *steps = json_object_new_array(), *ends = json_object_new_array();

    for (unsigned i = 0; i < trace->step_count; i++) {
        struct json_object *step = json_object_new_object();

        add_event(step, "event", program, &trace->steps[i].event);
        if (trace->steps[i].by.thread)
            json_object_object_add(step, "by", bp_place_json(&trace->steps[i].by));
        json_object_array_add(steps, step);
    }
    for (unsigned i = 0; i < trace->end_count; i++)
        json_object_array_add(ends, stand_json(program, &trace->ends[i]));
    json_object_object_add(o, "steps", steps);
    json_object_object_add(o, "closedAt", json_object_new_int64(trace->closed_at));
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

#define QUIET_MS   400 /* quicker proofs show nothing */
#define BETWEEN_MS 100

struct display {
    FILE *out;
    struct clock *clock;
    const char *program;
    uint64_t bound;
    int64_t begun_ms, drawn_ms;
    bool drawn;
};

static void draw_progress(void *ctx, const char *what, const struct bp_check_stats *stats,
                          uint64_t queue)
{
    struct display *d = ctx;
    int64_t now = clock_mono_ms(d->clock);

    if (now - d->begun_ms < QUIET_MS || (d->drawn && now - d->drawn_ms < BETWEEN_MS))
        return;
    fprintf(d->out,
            "\r\033[K%s, %s: %llu states (%llu %% of the bound), %llu to look at, %.0f a second",
            d->program, what, (unsigned long long)stats->states,
            (unsigned long long)(stats->states * 100 / d->bound), (unsigned long long)queue,
            stats->seconds > 0 ? (double)stats->states / stats->seconds : 0.0);
    fflush(d->out);
    d->drawn_ms = now;
    d->drawn = true;
}

static void clear_progress(const struct display *d)
{
    if (!d->drawn)
        return;
    fputs("\r\033[K", d->out);
    fflush(d->out);
}

static int verify_one(const struct bp_program *program, const struct bp_verify_options *o,
                      FILE *out, struct err *err)
{
    struct bp_check_options options = { .keys = o->keys,
                                        .states_max = o->states_max,
                                        .clock = o->clock };
    struct display display = { .out = o->progress,
                               .clock = o->clock ? o->clock : clock_system(),
                               .program = program->name,
                               .bound = o->states_max ? o->states_max : BP_CHECK_STATES };
    AUTO_REPORT report = { .program = NULL };
    int r;

    display.begun_ms = clock_mono_ms(display.clock);
    if (o->progress) {
        options.progress = draw_progress;
        options.ctx = &display;
    }
    r = bp_check(program, &options, &report, err);
    clear_progress(&display);
    if (r < 0)
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

    if (policy && bp_policy_fits(policy, programs, err) < 0)
        return -1;
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
    if (!checked)
        return err_set(err, ERR_NOT_FOUND, "there is no program %s%s", o->only ? o->only : "at all",
                       policy ? " that the policy is for" : "");
    return verdict;
}

int bp_verify_all(const struct bp_verify_options *options, FILE *out, struct err *err)
{
    AUTO(bp_policy) policy = NULL;

    if (options->policy_path && bp_policy_load(options->policy_path, &policy, err) < 0)
        return -1;
    return verify_programs(options, policy, out, err);
}

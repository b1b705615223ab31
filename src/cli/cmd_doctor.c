/* dormouse doctor
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/doctor_int.h"
#include "cli/term.h"

#define MESSAGE_MAX 2048
#define MESSAGE_AT  23 /* column */

static const struct {
    const char *word;
    enum term_style style;
} looks[] = {
    [DOCTOR_OK] = { "ok", TERM_GREEN },
    [DOCTOR_WARN] = { "warn", TERM_YELLOW },
    [DOCTOR_FAIL] = { "fail", TERM_RED },
};

void doctor_add(struct doctor *doctor, enum doctor_status status, const char *name, const char *fix,
                const char *fmt, ...)
{
    AUTO_BUF message = BUF_INIT(MESSAGE_MAX);
    va_list args;

    if (doctor->n == DOCTOR_LINES_MAX)
        return;
    va_start(args, fmt);
    buf_vprintf(&message, fmt, args);
    va_end(args);
    doctor->lines[doctor->n++] = (struct doctor_line){
        .status = status,
        .name = name,
        .message = arena_text(&doctor->arena, buf_text(&message)),
        .fix = fix,
    };
}

static void print_line(const struct doctor_line *line)
{
    AUTO_BUF text = BUF_INIT(2 * MESSAGE_MAX);

    printf("%s%-5s%s %-16s ", term_style(stdout, looks[line->status].style),
           looks[line->status].word, term_style(stdout, TERM_PLAIN), line->name);
    term_wrap(&text, str_from(line->message), MESSAGE_AT, MESSAGE_AT, term_width(stdout));
    /* What to type stays one line: it is copied. */
    if (line->fix)
        buf_printf(&text, "%*stry: %s\n", MESSAGE_AT, "", line->fix);
    term_text(stdout, buf_text(&text));
}

static void print_json(const struct doctor *doctor, bool well)
{
    struct json_object *out = json_object_new_object(), *checks = json_object_new_array();

    for (size_t i = 0; i < doctor->n; i++) {
        const struct doctor_line *line = &doctor->lines[i];
        struct json_object *row = json_object_new_object();

        json_object_object_add(row, "name", json_object_new_string(line->name));
        json_object_object_add(row, "status", json_object_new_string(looks[line->status].word));
        json_object_object_add(row, "message", json_object_new_string(line->message));
        if (line->fix)
            json_object_object_add(row, "fix", json_object_new_string(line->fix));
        json_object_array_add(checks, row);
    }
    json_object_object_add(out, "ok", json_object_new_boolean(well));
    json_object_object_add(out, "checks", checks);
    cli_print_json(out);
}

static unsigned count(const struct doctor *doctor, enum doctor_status status)
{
    unsigned n = 0;

    for (size_t i = 0; i < doctor->n; i++)
        n += doctor->lines[i].status == status;
    return n;
}

static int run_doctor(const struct cli_args *args)
{
    static void (*const checks[])(struct doctor * doctor) = {
        doctor_data, doctor_databases, doctor_policy,   doctor_sqlite,
        doctor_port, doctor_sandbox,   doctor_optional,
    };
    struct doctor doctor = { .data_dir = cli_data_dir(args) };
    AUTO(config) config = doctor_config(&doctor);
    unsigned broken;

    doctor.config = config;
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        checks[i](&doctor);
    broken = count(&doctor, DOCTOR_FAIL);
    if (cli_json(args)) {
        print_json(&doctor, broken == 0);
    } else {
        for (size_t i = 0; i < doctor.n; i++)
            print_line(&doctor.lines[i]);
        printf("\n%u in order, %u to look at, %u broken\n", count(&doctor, DOCTOR_OK),
               count(&doctor, DOCTOR_WARN), broken);
    }
    arena_release(&doctor.arena);
    return broken ? CLI_FAILED : CLI_DONE;
}

const struct cli_command cli_cmd_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "Looks at everything Dormouse needs and says what to type where it is missing",
    .details =
        "Checks the data directory and who holds it, the configuration, the databases "
        "(structure, foreign keys, migrations), wakes that nobody takes and timers, the day's "
        "budgets and what they stop, free space, the "
        "libraries, the address to listen on, and how well this system can isolate "
        "commands. It changes nothing and "
        "may run beside the daemon. The exit code is 1 when something needed is broken.",
    .run = run_doctor,
};

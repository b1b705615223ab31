/* A run with side effects in a process of its own, which ends itself by SIGKILL where it is told.
 *
 *   run-main DIR [before|after|start|effect N]
 *
 * The real loop, a SQLite file with every commit on the disk, the runner, a model inside, and tools
 * that append a line to DIR/effects: `note` (keyed: its operation's id stands in the line, and one
 * that is there already is not written again), `poke` (unkeyed) and `send` (keyed, asks a person).
 * The first call begins the run, later ones take up what is open. A person inside says yes to what
 * is asked; asked about an unknown effect, the person looks into the file.
 *
 * before, after: dies right before or right after the commit that holds row N of the log.
 * start, effect: dies right before or right after the Nth line is written, so its acknowledgement
 * is lost. Prints {"status","rows","commits","lines","replay","versions"} when the run has ended;
 * commits are the first rows of those that this process made.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "db/migrations.h"
#include "run/log_int.h"
#include "run/program.h"
#include "run/run.h"

struct scene {
    char effects[512], url[512];
    struct domain *domain;
    struct loop *loop;
    struct change *change;
    struct kill_switches *kill;
    struct files *files;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct runner *runner;
    struct loop_timer person;
    struct run_info info;
    struct arena arena;
};

static const char *place = "";
static long at, rows, pending_rows, lines;
static long firsts[1000]; /* row of each commit */
static size_t first_count;

static void must(int r, const struct err *err, const char *what)
{
    char text[ERR_TEXT_MAX];

    if (r >= 0)
        return;
    fprintf(stderr, "run-main: %s: %s\n", what, err_format(err, text, sizeof(text)));
    exit(1);
}

static void die(void)
{
    raise(SIGKILL);
}

/* ---- where it dies ---- */

int __real_run_event_append(struct domain *domain, const struct run_event_row *row, int64_t *ret_n,
                            struct err *err);
int __wrap_run_event_append(struct domain *domain, const struct run_event_row *row, int64_t *ret_n,
                            struct err *err);
int __real_domain_commit(struct domain *domain, struct err *err);
int __wrap_domain_commit(struct domain *domain, struct err *err);

int __wrap_run_event_append(struct domain *domain, const struct run_event_row *row, int64_t *ret_n,
                            struct err *err)
{
    pending_rows++;
    return __real_run_event_append(domain, row, ret_n, err);
}

int __wrap_domain_commit(struct domain *domain, struct err *err)
{
    bool here = at > rows && at <= rows + pending_rows;
    int r;

    if (here && strcmp(place, "before") == 0)
        die();
    r = __real_domain_commit(domain, err);
    if (r == 0 && here && strcmp(place, "after") == 0)
        die();
    if (pending_rows && first_count < sizeof(firsts) / sizeof(firsts[0]))
        firsts[first_count++] = rows + 1;
    rows += pending_rows;
    pending_rows = 0;
    return r;
}

/* ---- the tools ---- */

static bool is_written(const struct scene *scene, const char *text)
{
    char line[256];
    FILE *file = fopen(scene->effects, "r");
    bool found = false;

    while (file && fgets(line, sizeof(line), file))
        found = found || strstr(line, text);
    if (file)
        fclose(file);
    return found;
}

static void append(const struct scene *scene, const char *text)
{
    int fd = open(scene->effects, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    lines++;
    if (lines == at && strcmp(place, "start") == 0)
        die();
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fsync(fd) < 0)
        exit(1);
    close(fd);
    if (lines == at && strcmp(place, "effect") == 0)
        die();
}

static void append_line(struct tool_job *job, bool keyed)
{
    struct scene *scene = tool_job_impl_arg(job);
    struct str text = json_str(json_find(tool_job_arguments(job), "text"));
    struct str id = tool_job_operation_id(job);
    const struct tool_result done = { .output = STR("{\"ok\":true}") };
    char line[256], key[80];

    snprintf(key, sizeof(key), "%.*s", STR_ARG(id));
    snprintf(line, sizeof(line), "%.*s %s\n", STR_ARG(text), keyed ? key : "-");
    if (!keyed || !is_written(scene, key))
        append(scene, line);
    tool_job_finish(job, &done);
}

static int act_keyed(struct tool_job *job, struct err *err)
{
    (void)err;
    append_line(job, true);
    return 0;
}

static int act_unkeyed(struct tool_job *job, struct err *err)
{
    (void)err;
    append_line(job, false);
    return 0;
}

#define CONTRACT(name, strategy, approval)                                                         \
    "{\"name\":\"" name                                                                            \
    "\",\"version\":\"1.0.0\",\"description\":\"Appends a line to the file.\","                    \
    "\"capabilitiesRequired\":[\"test\"],\"allowedWakeReasons\":[\"userInitiated\"],"              \
    "\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":true,"                                 \
    "\"idempotencyStrategy\":\"" strategy "\",\"scopeRules\":[],"                                  \
    "\"sideEffects\":{\"entityTypes\":[],\"notificationTokens\":[]},\"riskLevel\":\"medium\","     \
    "\"dataMinimizationPolicyRef\":\"workspace\",\"toolClass\":\"test\",\"mutating\":true,"        \
    "\"approval\":\"" approval "\",\"parallelSafe\":true,\"timeout\":60,\"egressHosts\":[]}"

static const struct {
    const char *contract;
    struct tool_impl impl;
} tools[] = {
    { CONTRACT("note", "keyed", "never"), { .name = "note", .start = act_keyed } },
    { CONTRACT("poke", "unkeyed", "never"), { .name = "poke", .start = act_unkeyed } },
    { CONTRACT("send", "keyed", "byRisk"), { .name = "send", .start = act_keyed } },
};

/* ---- the model: which turn it is, is in what it is shown ---- */

#define TEA                                                                                        \
    "{\"path\":\"knowledge/a.md\",\"operation\":\"append\",\"content\":\"- tea\\n\","              \
    "\"reason\":\"said so\"}"

static const struct turn {
    const char *tools[2], *texts[2];
} turns[] = {
    { { "note" }, { "{\"text\":\"keyed\"}" } },
    { { "note", "note" }, { "{\"text\":\"left\"}", "{\"text\":\"right\"}" } },
    { { "poke" }, { "{\"text\":\"unkeyed\"}" } },
    { { "send" }, { "{\"text\":\"approved\"}" } },
    { { "write_memory" }, { TEA } },            /* approved: one version, one line */
    { { "note" }, { "{\"text\":\"keyed\"}" } }, /* the same once more is another line */
};

static int answer(void *call_arg, const struct model_request *request,
                  const struct model_sink *sink, void *arg, struct err *err)
{
    struct model_reply reply = { .stop = MODEL_STOP_END };
    struct model_call calls[2];
    char ids[2][16];
    size_t turn = 0;

    (void)call_arg;
    (void)err;
    for (size_t i = 0; i < request->message_count; i++)
        turn += request->messages[i].call_count > 0;
    if (turn == sizeof(turns) / sizeof(turns[0])) {
        reply.text = STR("All of it is done.");
        sink->on_done(arg, &reply, NULL, -1);
        return 0;
    }
    for (size_t i = 0; i < 2 && turns[turn].tools[i]; i++) {
        snprintf(ids[i], sizeof(ids[i]), "t%zu_%zu", turn, i);
        calls[i] = (struct model_call){ .id = str_from(ids[i]),
                                        .name = str_from(turns[turn].tools[i]),
                                        .arguments = str_from(turns[turn].texts[i]) };
        reply.call_count++;
    }
    reply.calls = calls;
    reply.stop = MODEL_STOP_CALLS;
    sink->on_done(arg, &reply, NULL, -1);
    return 0;
}

/* ---- the person ---- */

static void decide(struct scene *scene, const struct inbox_item *item)
{
    struct inbox_decision decision = { .state = INBOX_APPROVED, .by = STR("owner") };
    struct err err = ERR_INIT;

    if (item->kind == INBOX_UNKNOWN_EFFECT && is_written(scene, "unkeyed"))
        decision.state = INBOX_REJECTED;
    must(run_decide(scene->runner, item->id, &decision, &err), &err, "decide");
}

static void look(struct loop_timer *timer)
{
    struct scene *scene = CONTAINER_OF(timer, struct scene, person);
    AUTO_ARENA arena = ARENA_INIT;
    struct inbox_item *items;
    struct err err = ERR_INIT;
    size_t n;

    must(inbox_list(scene->domain, INBOX_PENDING, 0, 0, &arena, &items, &n, &err), &err, "inbox");
    for (size_t i = 0; i < n; i++)
        decide(scene, &items[i]);
    must(run_get(scene->runner, scene->info.run_id, &arena, &scene->info, &err), &err, "get");
    scene->info.run_id = arena_str(&scene->arena, scene->info.run_id);
    scene->info.status = arena_str(&scene->arena, scene->info.status);
    if (scene->info.ended_at)
        loop_stop(scene->loop);
    else
        loop_timer_start(scene->loop, timer, 1);
}

/* ---- the scene ---- */

static bool count_row(void *arg, const struct run_row *row)
{
    (void)row;
    (*(long *)arg)++;
    return true;
}

static void begin(struct scene *scene)
{
    const struct run_request request = { .prompt = STR("Write the lines."),
                                         .session_id = STR("s"),
                                         .turn_id = STR("1") };
    struct run_info *infos;
    struct err err = ERR_INIT;
    size_t n;

    must(run_list(scene->runner, STR_NONE, 0, 1, &scene->arena, &infos, &n, &err), &err, "list");
    if (n == 0) {
        must(run_start(scene->runner, &request, &scene->arena, &scene->info, &err), &err, "start");
        return;
    }
    scene->info = infos[0];
    must(run_log_each(scene->domain, infos[0].n, count_row, &rows, &err), &err, "log");
}

static void open_scene(struct scene *scene, const char *dir)
{
    static struct model_spec spec = { .id = "inside", .provider = "call", .call = answer };
    const struct domain_config domain = { .name = "agent",
                                          .url = scene->url,
                                          .migrations = migrations_agent,
                                          .migration_count = migrations_agent_count };
    struct model_gateway_config models = { .models = &spec, .model_count = 1 };
    struct tool_bed_config bed = { .policy_text_hash = "" };
    struct runner_config runner = { .default_agent_name = "Planner",
                                    .default_model = "inside",
                                    .default_cwd = "/" };
    struct err err = ERR_INIT;

    snprintf(scene->effects, sizeof(scene->effects), "%s/effects", dir);
    snprintf(scene->url, sizeof(scene->url), "sqlite:%s/agent.sqlite", dir);
    must(domain_open(&domain, &scene->domain, &err), &err, "open");
    must(loop_new(NULL, &scene->loop, &err), &err, "loop");
    loop_attach(scene->loop, scene->domain);
    must(change_open(scene->domain, NULL, NULL, &scene->change, &err), &err, "change");
    must(kill_open(scene->domain, &scene->kill, &err), &err, "kill");
    must(files_new(&(struct files_config){ .loop = scene->loop,
                                           .agent_domain = scene->domain,
                                           .change = scene->change },
                   &scene->files, &err),
         &err, "files");
    bed.files = runner.files = scene->files;
    models.loop = bed.loop = runner.loop = scene->loop;
    bed.agent_domain = runner.agent_domain = scene->domain;
    bed.kill = runner.kill = scene->kill;
    must(model_gateway_new(&models, &scene->models, &err), &err, "models");
    must(tool_bed_new(&bed, &scene->tools, &err), &err, "tools");
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
        must(tool_bed_add(scene->tools, tools[i].contract, &tools[i].impl, scene, &err), &err,
             "tool");
    runner.change = scene->change;
    runner.models = scene->models;
    runner.tools = scene->tools;
    must(runner_new(&runner, &scene->runner, &err), &err, "runner");
}

static void close_scene(struct scene *scene)
{
    runner_stop(scene->runner);
    model_gateway_free(scene->models);
    tool_bed_free(scene->tools);
    files_free(scene->files);
    loop_free(scene->loop);
    runner_free(scene->runner);
    kill_switches_free(scene->kill);
    change_free(scene->change);
    domain_free(scene->domain);
    arena_release(&scene->arena);
}

/* How often the approved memory was written. */
static size_t count_versions(struct scene *scene)
{
    struct err err = ERR_INIT;
    struct file *versions;
    size_t n;

    must(file_history(scene->files, STR("agents/planner"), STR("knowledge/a.md"), 0, 0,
                      &scene->arena, &versions, &n, &err),
         &err, "history");
    return n;
}

int main(int argc, char **argv)
{
    struct scene scene = { .arena = ARENA_INIT };
    struct run_replay_report report;
    struct err err = ERR_INIT;
    int replayed;

    if (argc != 2 && argc != 4) {
        fprintf(stderr, "run-main DIR [before|after|start|effect N]\n");
        return 2;
    }
    if (argc == 4) {
        place = argv[2];
        at = atol(argv[3]);
    }
    open_scene(&scene, argv[1]);
    begin(&scene);
    scene.person.fire = look;
    loop_timer_start(scene.loop, &scene.person, 1);
    must(loop_run(scene.loop, &err), &err, "run");
    replayed = run_replay_check(scene.domain, scene.info.n, &run_program, &report, &err);
    must(replayed, &err, "replay");
    printf("{\"status\":\"%.*s\",\"rows\":%ld,\"commits\":[", STR_ARG(scene.info.status),
           (long)report.rows);
    for (size_t i = 0; i < first_count; i++)
        printf("%s%ld", i ? "," : "", firsts[i]);
    printf("],\"lines\":%ld,\"replay\":%s,\"versions\":%zu}\n", lines,
           report.ended ? "true" : "false", count_versions(&scene));
    close_scene(&scene);
    return 0;
}

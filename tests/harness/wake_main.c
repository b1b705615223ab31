/* From a line in the journal to the end of the run that it wakes, in a process of its own, which
 * ends itself by SIGKILL where it is told.
 *
 *   wake-main DIR [before|after|start|effect N]
 *
 * The real loop, two SQLite files with every commit on the disk, the reader, the queue, the runner,
 * a model inside, and a tool that appends a line to DIR/effects (keyed: a line of its operation
 * that is there is not written again). An agent has two subscriptions. A person writes three
 * workouts, each as an operation that is done once: the second while the first has not been read
 * yet (its debounce is open), the third when the first run acts. The first call makes agent and
 * subscriptions; every call goes on with whatever is not done.
 *
 * before, after: dies right before or right after its Nth commit, of either file, after the agent
 * was made. start, effect: right before or after the Nth line. Prints {"commits","lines"} when all
 * wakes have ended.
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
#include "run/program.h"
#include "wake/wake.h"

#define DEBOUNCE_MS 40
#define WORKOUTS    3

struct scene {
    char effects[512];
    struct domain *journal_domain, *domain;
    struct loop *loop;
    struct change *change;
    struct journal *journal;
    struct kill_switches *kill;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct runner *runner;
    struct waker *waker;
    struct loop_timer person;
    struct arena arena;
    int64_t quiet_since; /* 0: it is not */
    bool written[WORKOUTS];
};

static const char *place = "";
static long at, commits, lines;
static bool armed;

static void must(int r, const struct err *err, const char *what)
{
    char text[ERR_TEXT_MAX];

    if (r >= 0)
        return;
    fprintf(stderr, "wake-main: %s: %s\n", what, err_format(err, text, sizeof(text)));
    exit(1);
}

static void die(void)
{
    raise(SIGKILL);
}

/* ---- where it dies ---- */

int __real_domain_commit(struct domain *domain, struct err *err);
int __wrap_domain_commit(struct domain *domain, struct err *err);

int __wrap_domain_commit(struct domain *domain, struct err *err)
{
    bool here;
    int r;

    commits += armed;
    here = armed && commits == at;
    if (here && strcmp(place, "before") == 0)
        die();
    r = __real_domain_commit(domain, err);
    if (here && strcmp(place, "after") == 0)
        die();
    return r;
}

/* ---- the tool ---- */

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

static int act(struct tool_job *job, struct err *err)
{
    struct scene *scene = tool_job_impl_arg(job);
    const struct tool_result done = { .output = STR("{\"ok\":true}") };
    char line[160];

    (void)err;
    snprintf(line, sizeof(line), "%.*s\n", STR_ARG(tool_job_operation_id(job)));
    if (!is_written(scene, line))
        append(scene, line);
    tool_job_finish(job, &done);
    return 0;
}

#define CONTRACT                                                                                   \
    "{\"name\":\"note\",\"version\":\"1.0.0\",\"description\":\"Appends a line to the file.\","    \
    "\"capabilitiesRequired\":[\"test\"],\"allowedWakeReasons\":[\"subscription\"],"               \
    "\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":true,"                                 \
    "\"idempotencyStrategy\":\"keyed\",\"scopeRules\":[],"                                         \
    "\"sideEffects\":{\"entityTypes\":[],\"notificationTokens\":[]},\"riskLevel\":\"low\","        \
    "\"dataMinimizationPolicyRef\":\"workspace\",\"toolClass\":\"test\",\"mutating\":true,"        \
    "\"approval\":\"never\",\"parallelSafe\":true,\"timeout\":60,\"egressHosts\":[]}"

static const struct tool_impl note = { .name = "note", .start = act };

/* ---- the model: acts once, then is done ---- */

static int answer(void *call_arg, const struct model_request *request,
                  const struct model_sink *sink, void *arg, struct err *err)
{
    const struct model_call call = { .id = STR("c"), .name = STR("note"), .arguments = STR("{}") };
    bool acted = request->messages[request->message_count - 1].role == MODEL_TOOL;
    const struct model_reply reply = { .text = acted ? STR("Noted.") : STR_NONE,
                                       .calls = &call,
                                       .call_count = acted ? 0 : 1,
                                       .stop = acted ? MODEL_STOP_END : MODEL_STOP_CALLS };

    (void)call_arg;
    (void)err;
    sink->on_done(arg, &reply, NULL, -1);
    return 0;
}

/* ---- the person ---- */

static void write_workout(struct scene *scene, int i)
{
    static const char *const operations[] = { "w0", "w1", "w2" };
    const struct journal_author author = { .kind = CHANGE_BY_HUMAN,
                                           .operation_id = str_from(operations[i]),
                                           .operation = STR("workout"),
                                           .arguments_hash = STR("1") };
    AUTO_JSON fields = NULL;
    struct journal_write *write;
    struct record record;
    struct str result;
    struct err err = ERR_INIT;
    int r;

    must(json_parse(STR("{\"kind\":\"workout\",\"subtype\":\"running\",\"title\":\"5 km\"}"),
                    &fields, &err),
         &err, "fields");
    r = journal_begin(scene->journal, &author, &scene->arena, &write, &result, &err);
    must(r, &err, "begin");
    scene->written[i] = true;
    if (r == 0)
        return;
    must(journal_create(write, RECORD_ENTRY, STR_NONE, fields, &record, &err), &err, "create");
    must(journal_end(write, true, STR("{}"), &err), &err, "end");
}

static bool is_done(struct scene *scene)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct wake_job *jobs;
    struct err err = ERR_INIT;
    size_t n, open = 0;

    must(wake_list(scene->domain, &(struct wake_filter){ .limit = 500 }, &arena, &jobs, &n, &err),
         &err, "list");
    for (size_t i = 0; i < n; i++)
        open += jobs[i].status == WAKE_QUEUED || jobs[i].status == WAKE_RUNNING;
    return open == 0 && n >= 2;
}

/* The third workout is written while the first run is under way, or when there was one. */
static void look(struct loop_timer *timer)
{
    struct scene *scene = CONTAINER_OF(timer, struct scene, person);
    int64_t now = clock_mono_ms(clock_system());
    FILE *file = fopen(scene->effects, "r");

    if (file && !scene->written[2])
        write_workout(scene, 2);
    if (file)
        fclose(file);
    if (!scene->written[2] || !is_done(scene))
        scene->quiet_since = 0;
    else if (!scene->quiet_since)
        scene->quiet_since = now;
    if (scene->quiet_since && now - scene->quiet_since > 5 * DEBOUNCE_MS)
        loop_stop(scene->loop);
    else
        loop_timer_start(scene->loop, timer, 5);
}

static void second_workout(struct loop_timer *timer)
{
    struct scene *scene = CONTAINER_OF(timer, struct scene, person);

    write_workout(scene, 1);
    timer->fire = look;
    loop_timer_start(scene->loop, timer, 5);
}

/* ---- the scene ---- */

static struct domain *open_domain(const char *dir, const char *name,
                                  const struct migration *migrations, size_t n)
{
    char url[600];
    struct domain *domain;
    struct err err = ERR_INIT;

    snprintf(url, sizeof(url), "sqlite:%s/%s.sqlite", dir, name);
    must(domain_open(
             &(struct domain_config){
                 .name = name, .url = url, .migrations = migrations, .migration_count = n },
             &domain, &err),
         &err, "open");
    return domain;
}

static void add_agent(struct scene *scene)
{
    const struct token keys[] = { { TOKEN_SEMANTIC_KEY, STR_NONE, STR("WORKOUT") },
                                  { TOKEN_SUBTYPE, STR("workoutType"), STR("running") } };
    struct agent agent = {
        .id = "coach", .kind = "coach", .display_name = "Coach", .allowed_category_ids = "[\"*\"]"
    };
    char token[WEBHOOK_TOKEN_SIZE];
    struct err err = ERR_INIT;

    must(domain_begin(scene->domain, &err), &err, "begin");
    must(agent_add(scene->domain, scene->change, &agent, 1, &err), &err, "agent");
    for (size_t i = 0; i < 2; i++) {
        struct subscription s = { .agent_n = agent.n,
                                  .agent_id = STR("coach"),
                                  .source = WAKE_JOURNAL,
                                  .tokens = &keys[i],
                                  .token_count = 1,
                                  .active = true };

        must(subscription_add(scene->domain, scene->change, &s, 1, token, &err), &err, "subscribe");
    }
    must(domain_commit(scene->domain, &err), &err, "commit");
}

static void make_agent(struct scene *scene)
{
    struct agent agent;
    struct err err = ERR_INIT;

    if (agent_get(scene->domain, STR("coach"), &scene->arena, &agent, &err) < 0)
        add_agent(scene);
}

static void open_runner(struct scene *scene)
{
    static struct model_spec spec = { .id = "inside", .provider = "call", .call = answer };
    struct model_gateway_config models = { .loop = scene->loop, .models = &spec, .model_count = 1 };
    struct tool_bed_config bed = { .loop = scene->loop,
                                   .agent_domain = scene->domain,
                                   .kill = scene->kill,
                                   .policy_text_hash = "" };
    struct runner_config runner = { .loop = scene->loop,
                                    .agent_domain = scene->domain,
                                    .change = scene->change,
                                    .kill = scene->kill,
                                    .default_agent_name = "Planner",
                                    .default_model = "inside",
                                    .default_cwd = "/" };
    struct err err = ERR_INIT;

    must(model_gateway_new(&models, &scene->models, &err), &err, "models");
    must(tool_bed_new(&bed, &scene->tools, &err), &err, "tools");
    must(tool_bed_add(scene->tools, CONTRACT, &note, scene, &err), &err, "tool");
    runner.models = scene->models;
    runner.tools = scene->tools;
    must(runner_new(&runner, &scene->runner, &err), &err, "runner");
}

static void open_scene(struct scene *scene, const char *dir)
{
    struct err err = ERR_INIT;

    snprintf(scene->effects, sizeof(scene->effects), "%s/effects", dir);
    scene->journal_domain =
        open_domain(dir, "journal", migrations_journal, migrations_journal_count);
    scene->domain = open_domain(dir, "agent", migrations_agent, migrations_agent_count);
    must(loop_new(NULL, &scene->loop, &err), &err, "loop");
    loop_attach(scene->loop, scene->journal_domain);
    loop_attach(scene->loop, scene->domain);
    must(change_open(scene->domain, NULL, NULL, &scene->change, &err), &err, "change");
    must(change_join(scene->change, scene->journal_domain, &err), &err, "change");
    must(kill_open(scene->domain, &scene->kill, &err), &err, "kill");
    make_agent(scene);
    armed = true;
    scene->journal = journal_new(&(struct journal_config){ .loop = scene->loop,
                                                           .domain = scene->journal_domain,
                                                           .change = scene->change,
                                                           .zone = "UTC" });
    open_runner(scene);
    must(waker_new(&(struct waker_config){ .loop = scene->loop,
                                           .agent_domain = scene->domain,
                                           .journal = scene->journal,
                                           .change = scene->change,
                                           .runner = scene->runner,
                                           .kill = scene->kill,
                                           .zone = "UTC",
                                           .debounce_ms = DEBOUNCE_MS },
                   &scene->waker, &err),
         &err, "waker");
}

static void close_scene(struct scene *scene)
{
    waker_stop(scene->waker);
    runner_stop(scene->runner);
    model_gateway_free(scene->models);
    tool_bed_free(scene->tools);
    loop_free(scene->loop);
    waker_free(scene->waker);
    runner_free(scene->runner);
    journal_free(scene->journal);
    kill_switches_free(scene->kill);
    change_free(scene->change);
    domain_free(scene->domain);
    domain_free(scene->journal_domain);
    arena_release(&scene->arena);
}

int main(int argc, char **argv)
{
    struct scene scene = { .arena = ARENA_INIT };
    struct err err = ERR_INIT;

    if (argc != 2 && argc != 4) {
        fprintf(stderr, "wake-main DIR [before|after|start|effect N]\n");
        return 2;
    }
    if (argc == 4) {
        place = argv[2];
        at = atol(argv[3]);
    }
    open_scene(&scene, argv[1]);
    write_workout(&scene, 0);
    scene.person.fire = second_workout;
    loop_timer_start(scene.loop, &scene.person, DEBOUNCE_MS / 2);
    must(loop_run(scene.loop, &err), &err, "run");
    printf("{\"commits\":%ld,\"lines\":%ld}\n", commits, lines);
    close_scene(&scene);
    return 0;
}

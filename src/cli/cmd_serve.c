/* dormouse serve: the daemon.
 *
 * Started in an order that leaves nothing behind when a step fails: configuration, data directory
 * and its lock, databases, loop, server. Then one line with the link on standard output; the rest
 * goes to the log. A signal asks the server to say goodbye, the loop ends after the tick under
 * way, and everything is closed in the opposite order; the lock goes last.
 *
 * A keeper (--keeper) is the same daemon for the commands of one moment: it has no port, only the
 * Unix socket, and ends by itself when no client is left, no run has an effect under way and no
 * alarm rings soon. Somebody who wants its place sends SIGUSR1: then it waits for no alarm, and for
 * a daemon, which is next at the lock, it goes as if it were stopped.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <json-c/json.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/address.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "cli/as_user.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/house.h"
#include "cli/keeper.h"
#include "cli/notify.h"
#include "cli/serve_wait.h"
#include "config/config.h"
#include "house/data_dir.h"
#include "loop/child.h"
#include "loop/loop.h"
#include "serve/api.h"
#include "serve/serve.h"
#include "wake/health.h"

#define GOODBYE_MS      5000
#define KEEPER_FIRST_MS 10000 /* for the client that started it to come */

static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };

struct daemon {
    const struct cli_args *args;
    struct config *config;
    struct log log;
    struct house house;
    struct find *find;
    struct api *api;
    struct serve *serve;
    uv_signal_t on_signal[ARRAY_LEN(signals)];
    struct loop_timer unused;
    bool keeper, watching, stopping;
    bool unwanted; /* of a keeper: somebody waits for its place */
    int64_t go_at; /* then it waits for effects no longer */
    char token_path[LIMIT_PATH_BYTES], socket_path[LIMIT_PATH_BYTES];
};

/* ---- stopping ---- */

static void goodbye_said(void *arg)
{
    struct daemon *daemon = arg;

    loop_stop(daemon->house.loop);
}

static void make_place(struct daemon *daemon)
{
    if (!daemon->keeper)
        return;
    if (!daemon->unwanted)
        daemon->go_at = clock_mono_ms(loop_clock(daemon->house.loop)) + KEEPER_EFFECT_MS;
    daemon->unwanted = true;
    if (daemon->unused.heap_index || data_dir_has_next(cli_data_dir(daemon->args)))
        loop_timer_start(daemon->house.loop, &daemon->unused, 0);
}

static void got_signal(uv_signal_t *handle, int number)
{
    struct daemon *daemon = handle->data;

    /* There is nothing to read again, and a terminal that closes must not end the daemon. */
    if (number == SIGHUP)
        return;
    if (number == SIGUSR1) {
        make_place(daemon);
        return;
    }
    /* Asked twice: end as a crash would, which the next start is made for. */
    if (daemon->stopping) {
        LOG_WARN("serve", "asked again to stop, not waiting for clients");
        _exit(CLI_FAILED);
    }
    daemon->stopping = true;
    notify_send("STOPPING=1");
    LOG_INFO("serve", "stopping", LOG_TEXT("signal", strsignal(number)));
    serve_stop(daemon->serve, GOODBYE_MS, goodbye_said, daemon);
}

/* ---- a keeper ---- */

/* When the next alarm, or a wake that is queued for later, is due, if it is soon; else 0. */
static int64_t soon(const struct daemon *daemon)
{
    AUTO_ARENA arena = ARENA_INIT;
    int64_t now = clock_wall_ms(loop_clock(daemon->house.loop)), at;
    struct wake_health health;
    struct err err = ERR_INIT;

    if (wake_health(daemon->house.domains.at[DOMAIN_AGENT], now, &arena, &health, &err) < 0)
        return 0;
    at = health.next_alarm;
    if (health.next_queued && (!at || health.next_queued < at))
        at = health.next_queued;
    return at && at < now + KEEPER_ALARM_MS ? at : 0;
}

static void not_needed(struct loop_timer *timer)
{
    struct daemon *daemon = CONTAINER_OF(timer, struct daemon, unused);
    bool replaced = daemon->unwanted && data_dir_has_next(cli_data_dir(daemon->args));
    int64_t at;

    if (daemon->stopping || (serve_connections(daemon->serve) > 0 && !replaced))
        return; /* when they have gone, this is asked again */
    if (runner_active(daemon->house.runner) > 0 &&
        !(replaced && clock_mono_ms(loop_clock(daemon->house.loop)) >= daemon->go_at)) {
        loop_timer_start(daemon->house.loop, timer, KEEPER_LINGER_MS);
        return;
    }
    at = daemon->unwanted ? 0 : soon(daemon);
    if (at) {
        loop_alarm_start(daemon->house.loop, timer, at + KEEPER_LINGER_MS);
        return;
    }
    daemon->stopping = true;
    LOG_INFO("serve", replaced ? "stopping: a daemon takes this keeper's place"
                               : "stopping: nobody needs this keeper any more");
    serve_stop(daemon->serve, GOODBYE_MS, goodbye_said, daemon);
}

static void clients_gone(void *arg)
{
    struct daemon *daemon = arg;

    if (daemon->keeper)
        loop_timer_start(daemon->house.loop, &daemon->unused, KEEPER_LINGER_MS);
}

static void wait_for_clients(struct daemon *daemon)
{
    daemon->unused.fire = not_needed;
    if (!daemon->keeper)
        return;
    loop_timer_start(daemon->house.loop, &daemon->unused, KEEPER_FIRST_MS);
    if (data_dir_has_next(cli_data_dir(daemon->args))) /* its signal came before we heard any */
        make_place(daemon);
}

/* ---- signals ---- */

static void watch_signals(struct daemon *daemon)
{
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        uv_signal_init(loop_uv(daemon->house.loop), &daemon->on_signal[i]);
        daemon->on_signal[i].data = daemon;
        uv_signal_start(&daemon->on_signal[i], got_signal, signals[i]);
    }
    daemon->watching = true;
}

static void daemon_release(struct daemon *daemon)
{
    for (size_t i = 0; daemon->watching && i < ARRAY_LEN(signals); i++)
        uv_close((uv_handle_t *)&daemon->on_signal[i], NULL);
    api_free(daemon->api);
    find_free(daemon->find);
    house_sleep(&daemon->house);
    serve_free(daemon->serve);
    house_release(&daemon->house);
    config_free(daemon->config);
    log_use(NULL);
}

/* ---- starting ---- */

static size_t health(void *arg, struct serve_health *out, size_t max)
{
    struct daemon *daemon = arg;
    size_t n = 0;

    for (; n < DOMAINS_COUNT && n < max; n++) {
        struct domain *domain = daemon->house.domains.at[n];
        struct err err = ERR_INIT;
        bool answers = domain_probe(domain, &err) == 0;
        enum domain_health found = domain_health(domain);

        snprintf(out[n].name, sizeof(out[n].name), "%s", domains_name(n));
        snprintf(out[n].status, sizeof(out[n].status), "%s",
                 found == DOMAIN_OK && !answers ? "failing" : domain_health_name(found));
    }
    return n;
}

static void warn(void *arg, const char *text)
{
    (void)arg;
    LOG_WARN("serve", text);
}

/* A token from the configuration gets a file of its own: DATA/token stays what it was. */
static int place_token(struct daemon *daemon, struct err *err)
{
    const char *dir = cli_data_dir(daemon->args), *token = daemon->config->server_token;

    snprintf(daemon->token_path, sizeof(daemon->token_path), "%s/%s", dir,
             token ? "token.config" : "token");
    if (!token)
        return 0;
    return file_write_atomic(daemon->token_path, str_from(token), 0600, err);
}

static int reload(void *arg, struct err *err)
{
    struct daemon *daemon = arg;
    struct config *config;

    if (cli_config(daemon->args, &config, err) < 0)
        return -1;
    return house_learn(&daemon->house, config, err);
}

static const char *listen_of(const struct daemon *daemon)
{
    const char *typed = cli_value(daemon->args, "listen");

    return daemon->keeper ? "" : typed ? typed : daemon->config->server_listen;
}

/* A keeper's command waits for an answer; a daemon may be started before its Postgres is. */
static int open_store(struct daemon *daemon, struct err *err)
{
    const struct serve_wait how = { .config = daemon->config,
                                    .data_dir = cli_data_dir(daemon->args),
                                    .listen = listen_of(daemon),
                                    .token_path = daemon->token_path };

    for (;;) {
        struct err why = ERR_INIT;

        if (!daemon->keeper)
            daemon->house.lock_fd = keeper_replace(how.data_dir);
        if (house_open(&daemon->house, daemon->config, how.data_dir, &why) == 0)
            return 0;
        if (daemon->keeper || !serve_wait_may_help(daemon->config, &why)) {
            *err = why;
            return -1;
        }
        house_release(&daemon->house);
        if (serve_wait(&how, &why, err) < 0)
            return -1;
    }
}

static int open_house(struct daemon *daemon, struct err *err)
{
    const char *dir = cli_data_dir(daemon->args);

    if (!daemon->keeper && (data_dir_prepare(dir, err) < 0 || place_token(daemon, err) < 0))
        return -1;
    if (open_store(daemon, err) < 0)
        return -1;
    snprintf(daemon->socket_path, sizeof(daemon->socket_path), "%s/dormouse.sock", dir);
    if (house_wake(&daemon->house, err) < 0)
        return -1;
    daemon->find = find_new(&(struct find_config){
        .loop = daemon->house.loop,
        .agent_domain = daemon->house.domains.at[DOMAIN_AGENT],
        .index_domain = daemon->house.domains.at[DOMAIN_INDEX],
        .journal = daemon->house.rooms.journal,
    });
    daemon->api = api_new(&(struct api_config){
        .runner = daemon->house.runner,
        .agent_domain = daemon->house.domains.at[DOMAIN_AGENT],
        .loop = daemon->house.loop,
        .change = daemon->house.change,
        .journal = daemon->house.rooms.journal,
        .kill = daemon->house.kill,
        .files = daemon->house.rooms.files,
        .models = daemon->house.models,
        .tools = daemon->house.rooms.tools,
        .builder = daemon->house.rooms.builder,
        .skills = daemon->house.rooms.skills,
        .find = daemon->find,
        .terms = models_terms,
        .reload = reload,
        .reload_arg = daemon,
        .connect = daemon->house.rooms.connect,
        .secrets = daemon->house.secrets,
        .waker = daemon->house.rooms.waker,
    });
    return 0;
}

static int start_server(struct daemon *daemon, struct err *err)
{
    const struct serve_config how = {
        .listen = listen_of(daemon),
        .token_path = daemon->keeper ? NULL : daemon->token_path,
        .socket_path = daemon->socket_path,
        .inherit = !cli_value(daemon->args, "listen") && !daemon->keeper,
        .hosts = daemon->config->server_hosts.items,
        .version = DORMOUSE_VERSION,
        .routes = api_routes(daemon->api),
        .route_tables = API_ROUTE_TABLES,
        .health = health,
        .warn = warn,
        .idle = clients_gone,
        .arg = daemon,
    };

    if (serve_start(daemon->house.loop, &how, &daemon->serve, err) < 0)
        return -1;
    child_set_files(serve_nofile(daemon->serve));
    return 0;
}

/* Nobody reads a keeper's standard error: DATA/keeper.log takes it, with what a library may print
 * before it gives up. Without it a keeper works as well. */
static int keep_log(const struct daemon *daemon, struct err *err)
{
    const char *dir = cli_data_dir(daemon->args);
    char path[LIMIT_PATH_BYTES];
    struct stat st;
    int fd;

    if (data_dir_prepare(dir, err) < 0)
        return -1;
    if (snprintf(path, sizeof(path), "%s/" KEEPER_LOG, dir) >= (int)sizeof(path))
        return 0;
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        if (st.st_size > KEEPER_LOG_BYTES && ftruncate(fd, 0) < 0)
            LOG_WARN("serve", KEEPER_LOG " could not be begun anew");
        dup2(fd, STDERR_FILENO);
    }
    close(fd);
    return 0;
}

static int open_log(struct daemon *daemon, struct err *err)
{
    const struct log_config log = { .fd = STDERR_FILENO };

    if (daemon->keeper && keep_log(daemon, err) < 0)
        return -1;
    if (log_open(&daemon->log, &log, err) < 0)
        return -1;
    log_use(&daemon->log);
    return 0;
}

static int start(struct daemon *daemon, struct err *err)
{
    if (cli_config(daemon->args, &daemon->config, err) < 0 || open_log(daemon, err) < 0)
        return -1;
    if (open_house(daemon, err) < 0 || start_server(daemon, err) < 0)
        return -1;
    watch_signals(daemon);
    wait_for_clients(daemon);
    LOG_INFO("serve", "started", LOG_TEXT("version", DORMOUSE_VERSION),
             LOG_TEXT("url", serve_url(daemon->serve)),
             LOG_TEXT("data", cli_data_dir(daemon->args)));
    if (geteuid() == 0)
        LOG_WARN("serve",
                 "runs as root; agents' commands run as an unprivileged user of their own, "
                 "but the daemon itself needs no root either: serve --user NAME");
    return 0;
}

/* ---- telling ---- */

/* The browser outlives us and nobody waits for it: a grandchild, which init collects. */
static void open_browser(const struct daemon *daemon, const char *url)
{
    struct rlimit files;
    pid_t pid = fork();
    int null_fd;

    if (pid < 0) {
        LOG_WARN("serve", "no browser could be started");
        return;
    }
    if (pid > 0) {
        waitpid(pid, NULL, 0);
        return;
    }
    setsid();
    if (fork() != 0)
        _exit(0);
    null_fd = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; fd++)
        dup2(null_fd, fd);
    close_range(3, ~0u, 0);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = serve_nofile(daemon->serve);
        setrlimit(RLIMIT_NOFILE, &files);
    }
    execlp("xdg-open", "xdg-open", url, (char *)NULL);
    _exit(127);
}

static void tell(struct daemon *daemon)
{
    AUTO_BUF login = BUF_INIT(1024);
    struct json_object *out;

    if (!daemon->keeper)
        serve_login_url(daemon->serve, &login);
    if (cli_json(daemon->args)) {
        out = json_object_new_object();
        json_object_object_add(out, "url", json_object_new_string(serve_url(daemon->serve)));
        if (!daemon->keeper)
            json_object_object_add(out, "login", json_object_new_string(buf_text(&login)));
        json_object_object_add(out, "pid", json_object_new_int(getpid()));
        cli_print_json(out);
    } else {
        puts(daemon->keeper ? daemon->socket_path : buf_text(&login));
    }
    fflush(stdout);
    if (!daemon->keeper)
        notify_send("READY=1");
    if (cli_has(daemon->args, "open"))
        open_browser(daemon, buf_text(&login));
}

static int check_listen(const struct cli_args *args, struct err *err)
{
    const char *typed = cli_value(args, "listen");
    struct address address;

    if (cli_has(args, "keeper") && (typed || cli_has(args, "open")))
        return err_set(err, ERR_BAD_REQUEST,
                       "--keeper has no port: it goes without --listen and --open");
    if (!typed || address_parse(str_from(typed), &address, err) == 0)
        return 0;
    return err_wrap(err, "--listen");
}

/* A daemon lives for months: what a large answer needed for a moment goes back to the system. Left
 * to itself, the allocator of glibc raises these limits with every large block that is freed. */
#define KEPT_FREE_BYTES   (1 * MIB)
#define SMALL_BLOCK_BYTES (256 * KIB)

static void keep_memory_small(void)
{
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, KEPT_FREE_BYTES);
    mallopt(M_MMAP_THRESHOLD, SMALL_BLOCK_BYTES);
#endif
}

static int run_serve(const struct cli_args *args)
{
    __attribute__((cleanup(daemon_release))) struct daemon daemon = {
        .args = args, .house = HOUSE_INIT, .keeper = cli_has(args, "keeper")
    };
    struct err err = ERR_INIT;

    keep_memory_small();
    if (daemon.keeper) /* until it is listened to: who waits for the keeper needs its answer */
        signal(SIGUSR1, SIG_IGN);
    if (check_listen(args, &err) < 0)
        return cli_misused(args, &err);
    if (cli_value(args, "user") && as_user(cli_value(args, "user"), &err) < 0)
        return cli_fail(args, &err);
    if (start(&daemon, &err) < 0)
        return cli_fail(args, &err);
    tell(&daemon);
    if (loop_run(daemon.house.loop, &err) < 0)
        return cli_fail(args, &err);
    LOG_INFO("serve", "stopped");
    return CLI_DONE;
}

static const struct cli_option options[] = {
    { .name = "listen",
      .value = "ADDRESS",
      .help = "where to listen, instead of server.listen (127.0.0.1:7117); port 0 takes any" },
    { .name = "user",
      .value = "NAME",
      .help = "started by root: give up root and be that user, with its home and data" },
    { .name = "open", .help = "open the page in a browser" },
    { .name = "keeper",
      .help = "no port, only the Unix socket; ends by itself when no client, no run and no alarm "
              "of the next two hours needs it" },
    { .name = NULL },
};

const struct cli_command cli_cmd_serve = {
    .name = "serve",
    .operands = "",
    .summary = "Runs the daemon with its HTTP interface and web page",
    .details =
        "Prints one link, which logs a browser in once, and then works until SIGTERM or "
        "SIGINT: it finishes what it is doing, tells its clients, and exits with 0; asked "
        "twice, it ends at once. The "
        "log goes to standard error, as JSON lines unless that is a terminal.\n\n"
        "Only one daemon can use a data directory. Under systemd it tells when it is ready, "
        "and takes over sockets that were opened for it:\n\n"
        "  systemctl --user enable --now dormouse\n\n"
        "It needs no root. Started by root, name the user that it should be (--user); "
        "without that it stays root, says so, and runs what agents ask for as an unprivileged "
        "user of its own.\n\n"
        "With store.url it waits for a Postgres that can't be reached yet, and answers 503 at "
        "/healthz until then; an address, user or password that Postgres refuses ends it at "
        "once.\n\n"
        "Commands that find no daemon start one with --keeper, and need not be told to. A "
        "keeper logs to keeper.log in the data directory, which begins anew past 1 MB. It stays "
        "for an alarm of the next two hours; timers, folders and webhooks need this daemon. This "
        "daemon takes over from a keeper, also while a client has a run open: the keeper gives a "
        "command under way three seconds, and the client goes on with this daemon.",
    .options = options,
    .run = run_serve,
};

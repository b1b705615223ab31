/* http.hello: requests per second over keep-alive, against nginx with one worker that gives the
 * same answer, measured in turns with wrk.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "serve/serve.h"

#define ROUNDS 5
#define TARGET 0.5

static char dir[] = "/tmp/dormouse-bench-XXXXXX";

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), by_value);
    return values[ROUNDS / 2];
}

/* Requests per second as wrk counts them; 0 when it did not run or any answer was an error. */
static double run_wrk(unsigned port)
{
    char command[200], line[256];
    double rate = 0;
    FILE *out;

    snprintf(command, sizeof(command), "wrk -t1 -c32 -d1s http://127.0.0.1:%u/healthz 2>&1", port);
    out = popen(command, "r"); // NOLINT(cert-env33-c)
    while (out && fgets(line, sizeof(line), out)) {
        if (strstr(line, "Non-2xx") || strstr(line, "Socket errors"))
            rate = -1e12;
        if (strncmp(line, "Requests/sec:", 13) == 0)
            rate += strtod(line + 13, NULL);
    }
    if (out)
        pclose(out);
    return rate > 0 ? rate : 0;
}

/* The child serves until it is killed; its port comes through a pipe. */
static pid_t start_ours(unsigned *ret_port)
{
    char token[100];
    struct serve_config config = { .listen = "127.0.0.1:0",
                                   .token_path = token,
                                   .version = "0.1.0" };
    int ends[2];
    pid_t pid;

    snprintf(token, sizeof(token), "%s/token", dir);
    if (pipe(ends) < 0 || (pid = fork()) < 0)
        return -1;
    if (pid == 0) {
        struct loop *loop;
        struct serve *serve;
        struct err err = ERR_INIT;
        unsigned port;

        if (loop_new(NULL, &loop, &err) < 0 || serve_start(loop, &config, &serve, &err) < 0)
            _exit(1);
        port = serve_port(serve);
        if (write(ends[1], &port, sizeof(port)) != sizeof(port))
            _exit(1);
        loop_run(loop, &err);
        _exit(0);
    }
    close(ends[1]);
    if (read(ends[0], ret_port, sizeof(*ret_port)) != sizeof(*ret_port))
        return -1;
    close(ends[0]);
    return pid;
}

static int write_config(unsigned port)
{
    char path[100];
    FILE *file;

    snprintf(path, sizeof(path), "%s/nginx.conf", dir);
    file = fopen(path, "we");
    if (!file)
        return -1;
    fprintf(
        file,
        "daemon off; master_process off; worker_processes 1; pid %s/pid; error_log %s/error;\n"
        "events { worker_connections 1024; }\n"
        "http { access_log off; keepalive_requests 100000000; client_body_temp_path %s/a;\n"
        "proxy_temp_path %s/b; fastcgi_temp_path %s/c; uwsgi_temp_path %s/d; scgi_temp_path %s/e;\n"
        "server { listen 127.0.0.1:%u; location / { default_type application/json;\n"
        "add_header Cache-Control no-store; add_header X-Content-Type-Options nosniff;\n"
        "return 200 '{\"status\":\"ok\",\"version\":\"0.1.0\",\"domains\":{}}'; } } }\n",
        dir, dir, dir, dir, dir, dir, dir, port);
    return fclose(file);
}

static pid_t start_nginx(unsigned port)
{
    char path[100];
    pid_t pid;

    if (write_config(port) < 0 || (pid = fork()) < 0)
        return -1;
    snprintf(path, sizeof(path), "%s/nginx.conf", dir);
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(126);
        execlp("nginx", "nginx", "-p", dir, "-c", path, (char *)NULL);
        execl("/usr/sbin/nginx", "nginx", "-p", dir, "-c", path, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void stop(pid_t pid)
{
    if (pid <= 0)
        return;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void remove_dir(void)
{
    char command[120];

    snprintf(command, sizeof(command), "rm -rf %s", dir);
    if (system(command) != 0) // NOLINT(cert-env33-c)
        fprintf(stderr, "could not remove %s\n", dir);
}

int main(void)
{
    double ours[ROUNDS], theirs[ROUNDS], ratio;
    unsigned port = 0, nginx_port;
    pid_t serve_pid, nginx_pid;

    if (!mkdtemp(dir))
        return 1;
    serve_pid = start_ours(&port);
    nginx_port = port > 40000 ? port - 1000 : port + 1000;
    nginx_pid = start_nginx(nginx_port);
    for (int i = 0; i < 3 && run_wrk(nginx_port) == 0; i++)
        ;
    run_wrk(port);
    for (int i = 0; i < ROUNDS; i++) {
        ours[i] = run_wrk(port);
        theirs[i] = run_wrk(nginx_port);
    }
    stop(serve_pid);
    stop(nginx_pid);
    remove_dir();
    median(ours);
    if (median(theirs) == 0) {
        printf("{\"bench\":\"http.hello\",\"error\":\"nginx or wrk did not run\",\"ok\":false}\n");
        return 1;
    }
    ratio = ours[ROUNDS / 2] / theirs[ROUNDS / 2];
    printf(
        "{\"bench\":\"http.hello\",\"value\":%.0f,\"unit\":\"requests/s\",\"yardstick\":\"nginx, "
        "one worker\",\"yardstick_value\":%.0f,\"ratio\":%.2f,\"target\":%.2f,\"ok\":%s}\n",
        ours[ROUNDS / 2], theirs[ROUNDS / 2], ratio, TARGET, ratio >= TARGET ? "true" : "false");
    return ratio >= TARGET ? 0 : 1;
}

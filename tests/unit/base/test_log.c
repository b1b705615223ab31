/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/redact.h"
#include "harness/test.h"

/* A log into a pipe, at a fixed time. */
struct sink {
    struct log log;
    struct clock_fake clock;
    int pipe[2];
    char text[1 << 16];
};

static void sink_open(struct test *t, struct sink *sink, enum log_format format)
{
    clock_fake_init(&sink->clock, INT64_C(1700000000123));
    ASSERT_EQ(pipe2(sink->pipe, O_NONBLOCK), 0);
    ASSERT_OK(log_open(&sink->log,
                       &(struct log_config){ .fd = sink->pipe[1],
                                             .level = LOG_LEVEL_INFO,
                                             .format = format,
                                             .clock = &sink->clock.clock },
                       &t->err));
}

static const char *sink_read(struct sink *sink)
{
    ssize_t n = read(sink->pipe[0], sink->text, sizeof(sink->text) - 1);

    sink->text[n > 0 ? n : 0] = '\0';
    return sink->text;
}

TEST(log_writes_json_lines_with_typed_fields)
{
    struct sink sink;

    sink_open(t, &sink, LOG_FORMAT_JSON);
    LOG_TO(&sink.log, LOG_LEVEL_WARN, "db", "slow \"query\"", LOG_TEXT("table", "runs"),
           LOG_I64("ms", -12), LOG_U64("rows", UINT64_MAX), LOG_F64("share", 0.1),
           LOG_BOOL("retry", true), LOG_STR("part", str_of("abcdef", 3)), LOG_F64("bad", NAN),
           LOG_TEXT("none", NULL));
    ASSERT_TEXT(sink_read(&sink),
                "{\"at\":\"2023-11-14T22:13:20.123Z\",\"level\":\"warn\",\"component\":\"db\","
                "\"message\":\"slow \\\"query\\\"\",\"table\":\"runs\",\"ms\":-12,"
                "\"rows\":18446744073709551615,\"share\":0.1,\"retry\":true,\"part\":\"abc\","
                "\"bad\":\"nan\",\"none\":\"\"}\n");
}

TEST(log_writes_text_that_people_read)
{
    struct sink sink;

    sink_open(t, &sink, LOG_FORMAT_TEXT);
    LOG_TO(&sink.log, LOG_LEVEL_INFO, "serve", "listening on \"all\"",
           LOG_TEXT("address", "127.0.0.1"), LOG_TEXT("name", "two words"), LOG_TEXT("none", ""),
           LOG_I64("port", 7117));
    ASSERT_TEXT(sink_read(&sink), "2023-11-14T22:13:20.123Z info  serve: listening on \"all\" "
                                  "address=127.0.0.1 name=\"two words\" none=\"\" port=7117\n");
    sink.log.colour = true;
    LOG_TO(&sink.log, LOG_LEVEL_ERROR, "serve", "stopped", LOG_I64("port", 1));
    ASSERT_TEXT(sink_read(&sink), "2023-11-14T22:13:20.123Z \033[31merror\033[0m serve: stopped "
                                  "\033[2mport=\033[0m1\n");
}

TEST(log_writes_code_and_causes_of_an_error)
{
    struct sink sink;
    struct err err = ERR_INIT;

    err_set(&err, ERR_TIMEOUT, "no answer");
    err_wrap(&err, "ask peer");
    sink_open(t, &sink, LOG_FORMAT_JSON);
    LOG_TO(&sink.log, LOG_LEVEL_ERROR, "sync", "failed", LOG_ERR(&err));
    ASSERT_CONTAINS(sink_read(&sink), "\"code\":\"timeout\",\"error\":\"ask peer: no answer\"}");
}

TEST(log_shows_nothing_below_its_level_and_evaluates_nothing)
{
    struct sink sink;
    int evaluated = 0;

    sink_open(t, &sink, LOG_FORMAT_JSON);
    LOG_TO(&sink.log, LOG_LEVEL_DEBUG, "x", "hidden", LOG_I64("n", ++evaluated));
    log_write(&sink.log, LOG_LEVEL_DEBUG, "x", "hidden", NULL, 0);
    sink.log.level = LOG_LEVEL_OFF;
    LOG_TO(&sink.log, LOG_LEVEL_ERROR, "x", "hidden");
    log_write(&sink.log, LOG_LEVEL_OFF, "x", "hidden", NULL, 0);
    ASSERT_TEXT(sink_read(&sink), "");
    ASSERT_EQ(evaluated, 0);
}

TEST(log_redacts_messages_values_names_and_errors)
{
    struct err err = ERR_INIT;
    struct sink sink;
    const char *text;

    err_set(&err, ERR_INTERNAL, "open postgresql://ann:hunter2@db/x");
    sink_open(t, &sink, LOG_FORMAT_JSON);
    LOG_TO(&sink.log, LOG_LEVEL_INFO, "x", "got password=hunter2", LOG_TEXT("token", "hunter2"),
           LOG_I64("secret", 4711), LOG_TEXT("note", "Authorization: Bearer hunter2"),
           LOG_ERR(&err), LOG_BOOL("has_password", true));
    text = sink_read(&sink);
    ASSERT(strstr(text, "hunter2") == NULL);
    ASSERT(strstr(text, "4711") == NULL);
    ASSERT_CONTAINS(text, "\"token\":\"***REDACTED***\"");
    ASSERT_CONTAINS(text, "postgresql://ann:***REDACTED***@db/x");
    ASSERT_CONTAINS(text, "\"has_password\":true");
}

TEST(log_escapes_what_would_forge_a_line_or_steer_a_terminal)
{
    struct sink sink;
    const char *text;

    sink_open(t, &sink, LOG_FORMAT_TEXT);
    LOG_TO(&sink.log, LOG_LEVEL_INFO, "x", "a\nb\033[2J", LOG_TEXT("v", "\r\nerror x: \u202Egnp"),
           LOG_TEXT("bad", "\xff\xfe"), LOG_TEXT("k\ney", "1"));
    text = sink_read(&sink);
    ASSERT_CONTAINS(text, "x: a\\nb\\x1b[2J v=\"\\r\\nerror x: \\u202egnp\" bad=\uFFFD\uFFFD");
    ASSERT_EQ(strchr(text, '\n') - text, (int)strlen(text) - 1);
    sink.log.format = LOG_FORMAT_JSON;
    LOG_TO(&sink.log, LOG_LEVEL_INFO, "x", "a\nb\033\x7f\u2028");
    ASSERT_CONTAINS(sink_read(&sink), "\"a\\nb\\u001b\\u007f\\u2028\"");
}

TEST(log_lines_are_bounded_and_stay_whole_json)
{
    struct json_object *line, *cut;
    struct sink sink;
    AUTO_BUF big = BUF_INIT(300000);

    while (big.n < 200000)
        buf_add_text(&big, "\"é\n");
    sink_open(t, &sink, LOG_FORMAT_JSON);
    LOG_TO(&sink.log, LOG_LEVEL_INFO, buf_text(&big), buf_text(&big), LOG_STR("a", buf_str(&big)),
           LOG_STR("b", buf_str(&big)), LOG_STR("c", buf_str(&big)), LOG_I64("last", 1));
    sink_read(&sink);
    ASSERT(strlen(sink.text) <= LOG_LINE_MAX);
    line = json_tokener_parse(sink.text);
    ASSERT(line != NULL);
    ASSERT(json_object_object_get_ex(line, "cut", &cut) && json_object_get_boolean(cut));
    ASSERT(json_object_object_get_ex(line, "last", NULL));
    json_object_put(line);
}

TEST(log_counts_lines_that_a_full_pipe_refused)
{
    unsigned written = 0, dropped = 0;
    struct sink sink;
    char count[64];

    sink_open(t, &sink, LOG_FORMAT_JSON);
    while (sink.log.dropped == 0 && ++written < 100000)
        LOG_TO(&sink.log, LOG_LEVEL_INFO, "x", "fill", LOG_I64("n", written));
    for (dropped = 1; dropped < 5; dropped++)
        LOG_TO(&sink.log, LOG_LEVEL_INFO, "x", "refused");
    while (read(sink.pipe[0], sink.text, sizeof(sink.text)) > 0)
        ;
    errno = 99;
    LOG_TO(&sink.log, LOG_LEVEL_INFO, "x", "again");
    ASSERT_EQ(errno, 99);
    snprintf(count, sizeof(count), "\"message\":\"again\",\"dropped\":%u}", dropped);
    ASSERT_CONTAINS(sink_read(&sink), count);
    LOG_TO(&sink.log, LOG_LEVEL_INFO, "x", "fine");
    ASSERT(strstr(sink_read(&sink), "dropped") == NULL);
}

static void *write_many(void *log)
{
    for (int i = 0; i < 500; i++)
        LOG_TO((struct log *)log, LOG_LEVEL_INFO, "thread", "a line of some length",
               LOG_TEXT("filler", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
    return NULL;
}

TEST(log_lines_of_threads_and_processes_do_not_mix)
{
    const char *path = test_path(t, "log");
    int fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    pthread_t threads[4];
    struct str rest, line;
    unsigned lines = 0;
    struct log log;
    pid_t child;

    ASSERT_OK(log_open(&log, &(struct log_config){ .fd = fd, .level = LOG_LEVEL_INFO }, &t->err));
    child = fork();
    if (child == 0) {
        write_many(&log);
        _exit(0);
    }
    for (int i = 0; i < 4; i++)
        ASSERT_EQ(pthread_create(&threads[i], NULL, write_many, &log), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    waitpid(child, NULL, 0);
    rest = test_read_file(t, path);
    while (str_split(&rest, '\n', &line) && line.n) {
        ASSERT(str_starts(line, STR("{\"at\":")) && str_ends(line, STR("x\"}")));
        lines++;
    }
    ASSERT_EQ(lines, 2500);
    close(fd);
}

TEST(log_level_and_format_come_from_the_environment)
{
    struct log log;

    unsetenv("DORMOUSE_LOG");
    unsetenv("DORMOUSE_LOG_FORMAT");
    ASSERT_OK(log_open(&log, &(struct log_config){ .fd = 1 }, &t->err));
    ASSERT_EQ(log.level, LOG_LEVEL_INFO);
    setenv("DORMOUSE_LOG", "Debug", 1);
    setenv("DORMOUSE_LOG_FORMAT", "text", 1);
    ASSERT_OK(log_open(&log, &(struct log_config){ .fd = 1 }, &t->err));
    ASSERT_EQ(log.level, LOG_LEVEL_DEBUG);
    ASSERT_EQ(log.format, LOG_FORMAT_TEXT);
    ASSERT_OK(log_open(
        &log, &(struct log_config){ .fd = 1, .level = LOG_LEVEL_ERROR, .format = LOG_FORMAT_JSON },
        &t->err));
    ASSERT_EQ(log.level, LOG_LEVEL_ERROR);
    ASSERT_EQ(log.format, LOG_FORMAT_JSON);
    setenv("DORMOUSE_LOG", "loud", 1);
    ASSERT_FAILS(log_open(&log, &(struct log_config){ .fd = 1 }, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t),
                    "DORMOUSE_LOG: log level \"loud\" is unknown; allowed: debug");
    setenv("DORMOUSE_LOG", "off", 1);
    setenv("DORMOUSE_LOG_FORMAT", "xml", 1);
    ASSERT_FAILS(log_open(&log, &(struct log_config){ .fd = 1 }, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "allowed: auto, text, json");
}

TEST(log_uses_text_and_colour_on_a_terminal_unless_told_otherwise)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    struct log log;

    if (terminal < 0)
        SKIP("no pseudo terminal here");
    ASSERT_EQ(grantpt(terminal) | unlockpt(terminal), 0);
    unsetenv("NO_COLOR");
    unsetenv("DORMOUSE_LOG_FORMAT");
    ASSERT_OK(log_open(&log, &(struct log_config){ .fd = terminal }, &t->err));
    ASSERT_EQ(log.format, LOG_FORMAT_TEXT);
    ASSERT(log.colour);
    setenv("NO_COLOR", "1", 1);
    ASSERT_OK(log_open(&log, &(struct log_config){ .fd = terminal }, &t->err));
    ASSERT(!log.colour);
    close(terminal);
}

TEST(log_macros_write_to_the_log_in_use)
{
    struct sink sink;

    sink_open(t, &sink, LOG_FORMAT_JSON);
    log_use(&sink.log);
    LOG_DEBUG("x", "one");
    LOG_INFO("x", "two");
    LOG_WARN("x", "three", LOG_I64("n", 3));
    LOG_ERROR("x", "four");
    log_use(NULL);
    ASSERT_EQ(log_current()->fd, 2);
    ASSERT_CONTAINS(sink_read(&sink), "\"two\"");
    ASSERT_CONTAINS(sink.text, "\"three\",\"n\":3");
    ASSERT_CONTAINS(sink.text, "\"four\"");
    ASSERT(strstr(sink.text, "\"one\"") == NULL);
    ASSERT_TEXT(log_level_name(LOG_LEVEL_UNSET), "unset");
}

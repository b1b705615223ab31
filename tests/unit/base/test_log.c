/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/rand.h"
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

/* Whatever is logged: one line, bounded, that a strict parser takes, without the secret. */
TEST(log_writes_json_that_a_strict_parser_takes_whatever_is_logged)
{
    static const char *const keys[] = { "a",       "level", "at",      "message", "cut",
                                        "dropped", "code",  "k\"\n\\", "é",       "password",
                                        "\xff",    "name",  "value",   "" };
    struct rand_fake rand;
    struct sink sink;

    ASSERT_EQ(redact_register(STR("plumtree")), 0);
    rand_fake_init(&rand, 41);
    sink_open(t, &sink, LOG_FORMAT_JSON);
    for (int i = 0; i < 3000; i++) {
        struct log_field fields[12] = { { .key = NULL } };
        size_t n = rand_below(&rand.rand, ARRAY_LEN(fields) + 1);
        char bytes[12][200];
        struct err err = ERR_INIT;
        struct json_object *line;

        for (size_t k = 0; k < n; k++) {
            size_t length = rand_below(&rand.rand, sizeof(bytes[k]));

            rand_fill(&rand.rand, bytes[k], length);
            if (length > 40)
                memcpy(bytes[k] + rand_below(&rand.rand, length - 8), "plumtree", 8);
            fields[k].key = keys[rand_below(&rand.rand, ARRAY_LEN(keys))];
            fields[k].type = (enum log_type)rand_below(&rand.rand, LOG_TYPE_ERR + 1);
            if (fields[k].type == LOG_TYPE_STR)
                fields[k].s = str_of(bytes[k], length);
            else if (fields[k].type == LOG_TYPE_ERR)
                fields[k].err = &err;
            else
                rand_fill(&rand.rand, &fields[k].u, fields[k].type == LOG_TYPE_BOOL ? 0 : 8);
        }
        err_set(&err, ERR_INTERNAL, "%.*s", (int)sizeof(bytes[0]) - 1, n ? bytes[0] : "x");
        log_write(&sink.log, LOG_LEVEL_INFO, i % 7 ? "x" : "plumtree", i % 5 ? "m" : bytes[0],
                  fields, n);
        sink_read(&sink);
        ASSERT(strlen(sink.text) <= LOG_LINE_MAX);
        ASSERT(strchr(sink.text, '\n') == sink.text + strlen(sink.text) - 1);
        ASSERT(strstr(sink.text, "plumtree") == NULL);
        if (json_parse(str_from(sink.text), &line, &t->err) < 0)
            FAIL("%s: %s", test_err_text(t), sink.text);
        json_object_put(line);
    }
    redact_forget_all();
}

TEST(log_gives_a_name_that_is_taken_a_number)
{
    struct err err = ERR_INIT;
    struct sink sink;

    err_set(&err, ERR_TIMEOUT, "late");
    sink_open(t, &sink, LOG_FORMAT_JSON);
    LOG_TO(&sink.log, LOG_LEVEL_INFO, "x", "m", LOG_I64("port", 1), LOG_I64("port", 2),
           LOG_TEXT("level", "3"), LOG_ERR(&err), LOG_ERR(&err));
    ASSERT_CONTAINS(
        sink_read(&sink),
        "\"message\":\"m\",\"port\":1,\"port_2\":2,\"level_3\":\"3\",\"code\":\"timeout\","
        "\"error\":\"late\",\"code_6\":\"timeout\",\"error_7\":\"late\"}\n");
}

TEST(log_leaves_out_fields_past_its_cap_and_says_so)
{
    struct log_field fields[200];
    struct sink sink;

    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        fields[i] = (struct log_field)LOG_BOOL(i % 2 ? "a" : "b", true);
    sink_open(t, &sink, LOG_FORMAT_JSON);
    log_write(&sink.log, LOG_LEVEL_INFO, "x", "m", fields, ARRAY_LEN(fields));
    ASSERT_CONTAINS(sink_read(&sink), "\"a_64\":true,\"cut\":true}\n");
}

TEST(log_hides_what_two_fields_or_a_number_give_away)
{
    struct sink sink;

    ASSERT_EQ(redact_register(STR("482913")), 0);
    sink_open(t, &sink, LOG_FORMAT_JSON);
    LOG_TO(&sink.log, LOG_LEVEL_INFO, "env", "set", LOG_TEXT("name", "DB_PASSWORD"),
           LOG_TEXT("value", "hunter2"), LOG_TEXT("key", "HOME"), LOG_TEXT("value", "/home"),
           LOG_I64("pin", 482913), LOG_U64("n", 1482913), LOG_F64("f", 482913.25),
           LOG_I64("ok", 48291));
    ASSERT_CONTAINS(sink_read(&sink),
                    "\"name\":\"DB_PASSWORD\",\"value\":\"***REDACTED***\",\"key\":\"HOME\","
                    "\"value_4\":\"/home\",\"pin\":\"***REDACTED***\",\"n\":\"***REDACTED***\","
                    "\"f\":\"***REDACTED***\",\"ok\":48291}");
    redact_forget_all();
}

/* What is cut off in the middle of a secret is not recognised any more. */
TEST(log_leaves_out_the_last_word_of_an_error_that_was_cut_off)
{
    struct err err = ERR_INIT, deep = ERR_INIT;
    struct sink sink;
    char filler[ERR_TEXT_MAX];

    memset(filler, 'x', sizeof(filler));
    filler[sizeof(err.text) - 30] = '\0';
    err_set(&err, ERR_INTERNAL, "%s postgresql://ann:hunter2hunter2hunter2@db/x", filler);
    ASSERT(err.cut);
    sink_open(t, &sink, LOG_FORMAT_JSON);
    LOG_TO(&sink.log, LOG_LEVEL_ERROR, "db", "failed", LOG_ERR(&err));
    ASSERT(strstr(sink_read(&sink), "postgresql") == NULL);
    ASSERT(strstr(sink.text, "hunter") == NULL);
    err_set(&deep, ERR_INTERNAL, "innermost cause");
    for (int i = 0; i < 2 * ERR_DEPTH_MAX; i++)
        err_wrap(&deep, "step %d", i);
    LOG_TO(&sink.log, LOG_LEVEL_ERROR, "db", "failed", LOG_ERR(&deep));
    ASSERT_CONTAINS(sink_read(&sink), "step 0: innermost cause\"");
}

TEST(log_begins_a_new_line_after_one_that_went_out_in_part)
{
    struct rlimit before, limit;
    const char *path = test_path(t, "log");
    int fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    struct str rest, line;
    struct log log;

    signal(SIGXFSZ, SIG_IGN);
    ASSERT_OK(log_open(
        &log, &(struct log_config){ .fd = fd, .level = LOG_LEVEL_INFO, .format = LOG_FORMAT_JSON },
        &t->err));
    LOG_TO(&log, LOG_LEVEL_INFO, "x", "whole");
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){ (rlim_t)lseek(fd, 0, SEEK_END) + 20, before.rlim_max };
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    LOG_TO(&log, LOG_LEVEL_INFO, "x", "torn");
    LOG_TO(&log, LOG_LEVEL_INFO, "x", "refused");
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    LOG_TO(&log, LOG_LEVEL_INFO, "x", "next");
    LOG_TO(&log, LOG_LEVEL_INFO, "x", "last");
    rest = test_read_file(t, path);
    ASSERT(str_split(&rest, '\n', &line) && str_ends(line, STR("\"whole\"}")));
    ASSERT(str_split(&rest, '\n', &line));
    ASSERT_EQ(line.n, 20);
    ASSERT(str_split(&rest, '\n', &line) && str_ends(line, STR("\"next\",\"dropped\":2}")));
    ASSERT(str_starts(line, STR("{\"at\"")));
    ASSERT(str_split(&rest, '\n', &line) && str_ends(line, STR("\"last\"}")));
    close(fd);
}

static void *switch_logs(void *arg)
{
    struct log **logs = arg;

    for (int i = 0; i < 2000; i++)
        log_use(logs[i % 2]);
    return NULL;
}

/* Also run under ThreadSanitizer. */
TEST(log_in_use_may_be_changed_while_threads_write)
{
    int fd = open("/dev/null", O_WRONLY);
    struct log a, b, *logs[] = { &a, &b };
    struct log_config config = { .fd = fd, .level = LOG_LEVEL_INFO, .format = LOG_FORMAT_JSON };
    pthread_t switcher, writers[3];

    ASSERT_OK(log_open(&a, &config, &t->err));
    ASSERT_OK(log_open(&b, &config, &t->err));
    log_use(&a);
    ASSERT_EQ(pthread_create(&switcher, NULL, switch_logs, logs), 0);
    for (size_t i = 0; i < ARRAY_LEN(writers); i++)
        ASSERT_EQ(pthread_create(&writers[i], NULL, write_many, log_current()), 0);
    for (int i = 0; i < 500; i++)
        LOG_INFO("x", "password=hunter2", LOG_I64("i", i));
    for (size_t i = 0; i < ARRAY_LEN(writers); i++)
        pthread_join(writers[i], NULL);
    pthread_join(switcher, NULL);
    log_use(NULL);
    ASSERT_EQ(a.dropped + b.dropped, 0);
    close(fd);
}

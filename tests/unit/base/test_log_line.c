/* Lines of the log: each level in each format, numbers of every size, and where values are cut.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "harness/test.h"

struct sink {
    struct log log;
    struct clock_fake clock;
    int pipe[2];
    char text[1 << 14];
};

static void sink_open(struct test *t, struct sink *sink, enum log_level level,
                      enum log_format format)
{
    clock_fake_init(&sink->clock, INT64_C(1700000000123));
    ASSERT_EQ(pipe2(sink->pipe, O_NONBLOCK), 0);
    ASSERT_OK(log_open(
        &sink->log,
        &(struct log_config){
            .fd = sink->pipe[1], .level = level, .format = format, .clock = &sink->clock.clock },
        &t->err));
}

static const char *sink_read(struct sink *sink)
{
    ssize_t n = read(sink->pipe[0], sink->text, sizeof(sink->text) - 1);

    sink->text[n > 0 ? n : 0] = '\0';
    return sink->text;
}

TEST(log_shows_each_level_from_its_own_on)
{
    for (int shown = LOG_LEVEL_DEBUG; shown <= LOG_LEVEL_OFF; shown++) {
        struct sink sink;

        sink_open(t, &sink, (enum log_level)shown, LOG_FORMAT_TEXT);
        for (int level = LOG_LEVEL_DEBUG; level <= LOG_LEVEL_ERROR; level++) {
            const char *text;

            log_write(&sink.log, (enum log_level)level, "c", "m", NULL, 0);
            text = sink_read(&sink);
            if (level < shown)
                ASSERT_TEXT(text, "");
            else
                ASSERT_TEXT(text, arena_printf(&t->arena, "2023-11-14T22:13:20.123Z %-5s c: m\n",
                                               log_level_name((enum log_level)level)));
        }
        close(sink.pipe[0]);
        close(sink.pipe[1]);
    }
}

TEST(log_writes_numbers_so_that_they_read_back_the_same)
{
    static const double values[] = { 0.1,     1.0 / 3, 1e300, -2.5e-300, DBL_MAX,
                                     DBL_MIN, 1e15,    1e21,  123456789, 0.30000000000000004 };
    struct sink sink;

    sink_open(t, &sink, LOG_LEVEL_INFO, LOG_FORMAT_JSON);
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        const char *at;

        LOG_TO(&sink.log, LOG_LEVEL_INFO, "c", "m", LOG_F64("v", values[i]));
        at = strstr(sink_read(&sink), "\"v\":");
        ASSERT(at != NULL);
        ASSERT(strtod(at + 4, NULL) == values[i]);
    }
    LOG_TO(&sink.log, LOG_LEVEL_INFO, "c", "m", LOG_F64("a", INFINITY), LOG_F64("b", -INFINITY),
           LOG_I64("min", INT64_MIN), LOG_I64("max", INT64_MAX), LOG_U64("zero", 0));
    ASSERT_CONTAINS(sink_read(&sink), "\"a\":\"inf\",\"b\":\"-inf\",\"min\":-9223372036854775808,"
                                      "\"max\":9223372036854775807,\"zero\":0}\n");
}

TEST(log_cuts_a_value_at_its_bound_and_marks_it)
{
    for (size_t n = LOG_VALUE_MAX - 1; n <= LOG_VALUE_MAX + 1; n++) {
        char value[LOG_VALUE_MAX + 2], expected[LOG_VALUE_MAX + 16];
        struct sink sink;

        memset(value, 'v', n);
        value[n] = '\0';
        snprintf(expected, sizeof(expected), "\"v\":\"%.*s%s\"}\n", LOG_VALUE_MAX, value,
                 n > LOG_VALUE_MAX ? "…" : "");
        sink_open(t, &sink, LOG_LEVEL_INFO, LOG_FORMAT_JSON);
        LOG_TO(&sink.log, LOG_LEVEL_INFO, "c", "m", LOG_TEXT("v", value));
        ASSERT_CONTAINS(sink_read(&sink), expected);
    }
}

TEST(log_quotes_text_values_only_where_they_need_it)
{
    static const struct {
        const char *value, *written;
    } cases[] = {
        { "plain", "v=plain" },
        { "two words", "v=\"two words\"" },
        { "a=b", "v=\"a=b\"" },
        { "say \"x\"", "v=\"say \\\"x\\\"\"" },
        { "", "v=\"\"" },
        { "line\nfeed", "v=\"line\\nfeed\"" },
        { "c\\d", "v=\"c\\\\d\"" },
        { "caf\u00E9", "v=caf\u00E9" },
        { "\033[31m", "v=\"\\x1b[31m\"" },
    };
    struct sink sink;

    sink_open(t, &sink, LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        LOG_TO(&sink.log, LOG_LEVEL_INFO, "c", "m", LOG_TEXT("v", cases[i].value));
        ASSERT_TEXT(
            sink_read(&sink),
            arena_printf(&t->arena, "2023-11-14T22:13:20.123Z info  c: m %s\n", cases[i].written));
    }
}

TEST(log_hides_a_password_of_a_command_line)
{
    struct sink sink;

    sink_open(t, &sink, LOG_LEVEL_INFO, LOG_FORMAT_JSON);
    LOG_TO(&sink.log, LOG_LEVEL_INFO, "exec", "ran", LOG_TEXT("command", "curl -u ann:hunter2 x"));
    ASSERT_CONTAINS(sink_read(&sink), "\"command\":\"curl -u ann:***REDACTED*** x\"");
}

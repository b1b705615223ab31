/* What each key of the configuration allows, and the place that a mistake is reported at.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/buf.h"
#include "config/config_int.h"
#include "config_test.h"

#define DURATION "` must be a number with ms, s, m, h or d, like 30s"
#define DOMAIN_NAME                                                                                \
    ".0` must be a host like example.org, *.example.org, example.org:8080 or [::1]:8080, without " \
    "scheme or path"
#define ADDRESS          "` must be an address and a port, like 127.0.0.1:7117 or [::1]:7117"
#define HOST             ".0` must be a host name, with a port or without, like mouse.example.org"
#define WEB_URL          "` must begin with http:// or https:// and hold no user name or password"
#define ID               "` must be letters, digits, dots, dashes or underscores and begin with a letter or digit"
#define BYTES            "` must be a number with B, KiB, MiB or GiB, like 1GiB"
#define TOKEN            "` must be 43 letters, digits, - or _"
#define STORE            "` must be `sqlite:` or begin with postgresql://"
#define BOOL_NOT_STRING  "` must be true or false, found string"
#define BOOL_NOT_INTEGER "` must be true or false, found integer"
#define YEAR             "` must be at most 365d"
#define X42              "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* One value of one key. says: what follows "`the.key" in the message, NULL when it is valid; at:
 * how far into the value the place lies (into a list, or past a quotation mark). */
struct limit_case {
    const char *path, *value, *says;
    int at;
};

/* clang-format off: a row is a line */
static const struct limit_case cases[] = {
    { "agent.name", "Ada" },
    { "agent.name", "\"\"", "` must have at least 1 characters, found 0", 1 },
    { "agent.name", "5", "` must be a string, found integer" },
    { "agent.name", "[a]", "` must be a string, found array" },
    { "agent.name", "'é'" },
    { "agent.model", "offline" },
    { "agent.model", "-x", ID },
    { "agent.model", "\"a b\"", ID, 1 },
    { "agent.model", "true", "` must be a string, found boolean" },
    { "connect.slack.base_url", "http://127.0.0.1:1/api" },
    { "connect.slack.base_url", "ftp://h", WEB_URL },
    { "connect.google.base_url", "https://h" },
    { "connect.google.base_url", "\"http://u@h\"", WEB_URL, 1 },
    { "connect.google.auth_url", "https://h/auth" },
    { "connect.google.auth_url", "x", WEB_URL },
    { "connect.google.token_url", "https://h/token" },
    { "connect.google.token_url", "x", WEB_URL },
    { "connect.google.client_id", "a.apps" },
    { "connect.google.client_id", "\"\"", "` must have at least 1 characters, found 0", 1 },
    { "connect.google.client_secret_ref", "google-client" },
    { "connect.google.client_secret_ref", "\"a b\"",
      "` must be the name of a stored secret: letters, digits, dots, dashes, underscores or "
      "slashes",
      1 },
    { "skills.root", "/s" },
    { "skills.root", "\"\"", "` must have at least 1 characters, found 0", 1 },
    { "sandbox.security.allowHome", "true" },
    { "sandbox.security.allowHome", "1", BOOL_NOT_INTEGER },
    { "sandbox.enabled", "true" },
    { "sandbox.enabled", "no", BOOL_NOT_STRING },
    { "sandbox.enabled", "\"true\"", BOOL_NOT_STRING, 1 },
    { "sandbox.enabled", "1", BOOL_NOT_INTEGER },
    { "sandbox.security.allowWrite", "[]" },
    { "sandbox.security.allowWrite", "[a, b]" },
    { "sandbox.security.allowWrite", "[a, a]", "` items must differ; 0 and 1 are the same" },
    { "sandbox.security.allowWrite", ".", "` must be an array, found string" },
    { "sandbox.security.allowWrite", "[a, \"\"]", ".1` must have at least 1 characters, found 0",
      5 },
    { "sandbox.security.allowWrite", "[a, 5]", ".1` must be a string, found integer", 4 },
    { "sandbox.security.allowUnixSockets", "[]" },
    { "sandbox.security.allowUnixSockets", "[/x, y/z]" },
    { "sandbox.security.allowUnixSockets", "[x, x]", "` items must differ; 0 and 1 are the same" },
    { "sandbox.security.allowUnixSockets", "/x", "` must be an array, found string" },
    { "sandbox.security.denyRead", "[/x]" },
    { "sandbox.security.denyRead", "[x, x]", "` items must differ; 0 and 1 are the same" },
    { "sandbox.security.denyRead", "null", "` must be an array, found null" },
    { "sandbox.security.allowedDomains", "[a.org]" },
    { "sandbox.security.allowedDomains", "['*.a.org']" },
    { "sandbox.security.allowedDomains", "[\"https://a.org\"]", DOMAIN_NAME, 2 },
    { "sandbox.security.allowedDomains", "['a.org:80', '*.a.org:65535', '10.0.0.1:8080']" },
    { "sandbox.security.allowedDomains", "['[::1]:8080', '[2001:db8::1]']" },
    { "sandbox.security.allowedDomains", "[\"a.org:\"]", DOMAIN_NAME, 2 },
    { "sandbox.security.allowedDomains", "[\"a.org:0\"]", DOMAIN_NAME, 2 },
    { "sandbox.security.allowedDomains", "[\"a.org:123456\"]", DOMAIN_NAME, 2 },
    { "sandbox.security.allowedDomains", "[\"a.org:80/x\"]", DOMAIN_NAME, 2 },
    { "sandbox.security.allowedDomains", "[\"*.[::1]:80\"]", DOMAIN_NAME, 2 },
    { "sandbox.security.allowedDomains", "[\"*\"]", DOMAIN_NAME, 2 },
    { "sandbox.security.allowedDomains", "[a.*.org]", DOMAIN_NAME, 1 },
    { "sandbox.security.allowedDomains", "[-a.org]", DOMAIN_NAME, 1 },
    { "sandbox.security.allowedDomains", "[a..org]", DOMAIN_NAME, 1 },
    { "sandbox.limits.timeout", "1ms" },
    { "sandbox.limits.timeout", "1" },
    { "sandbox.limits.timeout", "0", "` must be at least 1ms" },
    { "sandbox.limits.timeout", "0s", DURATION },
    { "sandbox.limits.timeout", "-1s", DURATION },
    { "sandbox.limits.timeout", "1.5s", DURATION },
    { "sandbox.limits.timeout", "1w", DURATION },
    { "sandbox.limits.timeout", "1S", DURATION },
    { "sandbox.limits.timeout", "forever", DURATION },
    { "sandbox.limits.timeout", "31536000000" },
    { "sandbox.limits.timeout", "31536000001", "` must be at most 365d" },
    { "sandbox.limits.timeout", "1.5", "` must be a string or an integer, found number" },
    { "sandbox.limits.timeout", "01s", DURATION },
    { "sandbox.limits.memory", "1MiB" },
    { "sandbox.limits.memory", "1048576" },
    { "sandbox.limits.memory", "1048575", "` must be at least 1MiB" },
    { "sandbox.limits.memory", "1B", "` must be at least 1MiB" },
    { "sandbox.limits.memory", "1023KiB", "` must be at least 1MiB" },
    { "sandbox.limits.memory", "1GB", BYTES },
    { "sandbox.limits.memory", "0MiB", BYTES },
    { "sandbox.limits.memory", "1TiB", BYTES },
    { "sandbox.limits.processes", "1" },
    { "sandbox.limits.processes", "4096" },
    { "sandbox.limits.processes", "0", "` must be at least 1" },
    { "sandbox.limits.processes", "4097", "` must be at most 4096" },
    { "sandbox.limits.processes", "1.5", "` must be an integer, found number" },
    { "sandbox.limits.processes", "\"4\"", "` must be an integer, found string", 1 },
    { "sandbox.limits.processes", "4.0" },
    { "sandbox.limits.files", "1" },
    { "sandbox.limits.files", "10000000" },
    { "sandbox.limits.files", "0", "` must be at least 1" },
    { "sandbox.limits.files", "10000001", "` must be at most 10000000" },
    { "sandbox.limits.disk", "1MiB" },
    { "sandbox.limits.disk", "1023KiB", "` must be at least 1MiB" },
    { "sandbox.limits.disk", "1TiB", BYTES },
    { "server.listen", "127.0.0.1:0" },
    { "server.listen", "\"[::1]:1\"" },
    { "server.listen", "\":80\"", ADDRESS, 1 },
    { "server.listen", "\"127.0.0.1:\"", ADDRESS, 1 },
    { "server.listen", "\"127.0.0.1:65535\"" },
    { "server.listen", "\"http://127.0.0.1:1\"", ADDRESS, 1 },
    { "server.listen", "\"::1\"", ADDRESS, 1 },
    { "server.listen", "\"[::g]:1\"", ADDRESS, 1 },
    { "skills.trusted_keys",
      "[\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"]" },
    { "skills.trusted_keys", "[\"abc\"]", ".0` must be 64 hexadecimal digits", 2 },
    { "server.hosts", "[mouse.example.org]" },
    { "server.hosts", "[\"m.org:80\"]" },
    { "server.hosts", "[\"m org\"]", HOST, 2 },
    { "server.hosts", "[\"http://m.org\"]", HOST, 2 },
    { "server.hosts", "m.org", "` must be an array, found string" },
    { "server.token", X42 "x" },
    { "server.token", X42, TOKEN },
    { "server.token", X42 "xx", TOKEN },
    { "server.token", "\"" X42 "!\"", TOKEN, 1 },
    { "store.url", "\"sqlite:\"" },
    { "store.url", "postgres://h/d" },
    { "store.url", "postgresql://h/d" },
    { "store.url", "\"sqlite:/x\"", STORE, 1 },
    { "store.url", "\"http://h\"", STORE, 1 },
    { "store.url", "\"\"", STORE, 1 },
    { "budget.tokens_per_day", "1" },
    { "budget.tokens_per_day", "1000000000000" },
    { "budget.tokens_per_day", "0", "` must be at least 1" },
    { "budget.tokens_per_day", "1000000000001", "` must be at most 1000000000000" },
    { "budget.tokens_per_day", "-5", "` must be at least 1" },
    { "budget.cost_per_day", "0.01" },
    { "budget.cost_per_day", "0", "` must be greater than 0" },
    { "budget.cost_per_day", "1000000000" },
    { "budget.cost_per_day", "1000000001", "` must be at most 1000000000" },
    { "budget.cost_per_day", "five", "` must be a number, found string" },
    { "budget.all.tokens_per_day", "1" },
    { "budget.all.tokens_per_day", "1000000000000" },
    { "budget.all.tokens_per_day", "0", "` must be at least 1" },
    { "budget.all.tokens_per_day", "1000000000001", "` must be at most 1000000000000" },
    { "budget.all.tokens_per_day", "-5", "` must be at least 1" },
    { "budget.all.cost_per_day", "0.01" },
    { "budget.all.cost_per_day", "0", "` must be greater than 0" },
    { "budget.all.cost_per_day", "1000000000" },
    { "budget.all.cost_per_day", "1000000001", "` must be at most 1000000000" },
    { "budget.all.cost_per_day", "five", "` must be a number, found string" },
    { "budget.all.tool_calls_per_day", "1" },
    { "budget.all.tool_calls_per_day", "1000000000" },
    { "budget.all.tool_calls_per_day", "1000000001", "` must be at most 1000000000" },
    { "budget.all.tool_calls_per_day", "0", "` must be at least 1" },
    { "budget.tool_calls_per_day", "1" },
    { "budget.tool_calls_per_day", "1000000000" },
    { "budget.tool_calls_per_day", "1000000001", "` must be at most 1000000000" },
    { "budget.tool_calls_per_day", "0", "` must be at least 1" },
    { "scheduler.max_concurrent_runs", "1" },
    { "scheduler.max_concurrent_runs", "256" },
    { "scheduler.max_concurrent_runs", "0", "` must be at least 1" },
    { "scheduler.max_concurrent_runs", "257", "` must be at most 256" },
    { "scheduler.wakes_per_agent_per_hour", "1" },
    { "scheduler.wakes_per_agent_per_hour", "3600" },
    { "scheduler.wakes_per_agent_per_hour", "0", "` must be at least 1" },
    { "scheduler.wakes_per_agent_per_hour", "3601", "` must be at most 3600" },
    { "scheduler.lease", "3s" },
    { "scheduler.lease", "2999ms", "` must be at least 3s" },
    { "scheduler.lease", "10m" },
    { "scheduler.lease", "11m", "` must be at most 10m" },
    { "scheduler.lease", "0s", DURATION },
    { "scheduler.poll", "100" },
    { "scheduler.poll", "99", "` must be at least 100ms" },
    { "scheduler.poll", "1h" },
    { "scheduler.poll", "61m", "` must be at most 1h" },
    { "scheduler.cooldown", "0s" },
    { "scheduler.cooldown", "0" },
    { "scheduler.cooldown", "-1", "` must be at least 0ms" },
    { "scheduler.cooldown", "forever", DURATION },
    { "sandbox.limits.timeout", "365d" },
    { "sandbox.limits.timeout", "366d", YEAR },
    { "sandbox.limits.timeout", "999999999d", YEAR },
    { "scheduler.cooldown", "365d" },
    { "scheduler.cooldown", "999999999h", YEAR },
};
/* clang-format on */

/* The file that sets one key, a line for each part of its name. Returns the last line's indent. */
static int write_key(struct buf *out, const char *path, const char *value, int *ret_lines)
{
    struct str rest = str_from(path), name;
    int indent = -2;

    *ret_lines = 0;
    while (str_split(&rest, '.', &name)) {
        indent += 2;
        buf_printf(out, "%s%*s%.*s:", *ret_lines ? "\n" : "", indent, "", STR_ARG(name));
        ++*ret_lines;
    }
    buf_printf(out, " %s\n", value);
    return indent;
}

static int column_of_value(const char *path, int indent)
{
    const char *name = strrchr(path, '.') ? strrchr(path, '.') + 1 : path;

    return indent + (int)strlen(name) + 3;
}

TEST(every_key_has_its_limits_and_names_the_place_beyond_them)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct limit_case *c = &cases[i];
        AUTO_BUF file = BUF_INIT(4096);
        int lines, indent = write_key(&file, c->path, c->value, &lines);
        const char *expected = "it is valid", *actual = config_wrong(t, buf_text(&file));

        if (c->says)
            expected = arena_printf(&t->arena, "config.yaml:%d:%d: `%s%s", lines,
                                    column_of_value(c->path, indent) + c->at, c->path, c->says);
        if (strcmp(actual, expected) != 0)
            FAIL("%s: %s gives\n  \"%s\", expected\n  \"%s\"", c->path, c->value, actual, expected);
    }
}

TEST(every_key_has_a_row_in_the_table_of_limits)
{
    for (const struct config_field *f = config_fields; f->path; f++) {
        bool good = f->kind == CONFIG_RECORDS, bad = good;

        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
            if (strcmp(cases[i].path, f->path) == 0)
                *(cases[i].says ? &bad : &good) = true;
        if (!good || !bad)
            FAIL("%s has no %s value in the table", f->path, good ? "bad" : "good");
    }
}

/* A text as long as a key allows, and one longer. */
TEST(texts_have_a_longest_length)
{
    static const struct {
        const char *path;
        int longest;
    } texts[] = {
        { "agent.name", 64 },
        { "skills.root", 4096 },
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        for (int over = 0; over <= 1; over++) {
            char *text = arena_alloc(&t->arena, (size_t)texts[i].longest + 2, 1);
            AUTO_BUF file = BUF_INIT(8192);
            int lines;

            memset(text, 'x', (size_t)(texts[i].longest + over));
            write_key(&file, texts[i].path, text, &lines);
            ASSERT_CONTAINS(config_wrong(t, buf_text(&file)), over ? "must have at most" : "valid");
        }
}

TEST(lists_have_a_longest_length)
{
    static const struct {
        const char *path;
        int most;
    } lists[] = {
        { "server.hosts", 16 },
        { "sandbox.security.allowWrite", 256 },
        { "sandbox.security.allowUnixSockets", 256 },
        { "sandbox.security.denyRead", 256 },
        { "sandbox.security.allowedDomains", 256 },
    };

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (int over = 0; over <= 1; over++) {
            AUTO_BUF file = BUF_INIT(16384), list = BUF_INIT(8192);
            int lines;

            for (int k = 0; k < lists[i].most + over; k++)
                buf_printf(&list, "%sx%d", k ? ", " : "[", k);
            buf_add_char(&list, ']');
            write_key(&file, lists[i].path, buf_text(&list), &lines);
            ASSERT_CONTAINS(config_wrong(t, buf_text(&file)), over ? "must have at most" : "valid");
        }
}

TEST(numbers_that_are_none_are_refused_by_the_parser)
{
    ASSERT_CONTAINS(config_wrong(t, "budget:\n  cost_per_day: .inf\n"),
                    "config.yaml:2:17: \".inf\": infinity and NaN are not allowed");
    ASSERT_CONTAINS(config_wrong(t, "budget:\n  cost_per_day: .nan\n"), "infinity and NaN");
    ASSERT_CONTAINS(config_wrong(t, "server:\n  listen: 127.0.0.1:65536\n"),
                    "config.yaml:2:11: listen address \"127.0.0.1:65536\" is not understood");
}

/* Secrets, models and accounts: what is kept for others' doors, over the interface.
 *
 * SPDX-License-Identifier: MIT
 */
#include "home.h"

#define KEY "sk-this-is-never-shown-again"

TEST(a_secret_is_taken_and_never_given)
{
    struct home *home = home_start(t);
    const char *answer;

    CHECK({ "GET", "/api/v1/secrets", "", "200", "{\"secrets\":[]}" },
          { "POST", "/api/v1/secrets/far-key/test", "", "200", "\"ok\":false" },
          { "PUT", "/api/v1/secrets/far-key", "{\"value\":\"" KEY "\"}", "204", "" },
          { "GET", "/api/v1/secrets", "", "200", "\"usedBy\":[\"model far\"]" },
          { "POST", "/api/v1/secrets/far-key/test", "", "200",
            "\"ok\":true,\"message\":\"The secret is set and can be read. It is used by: model "
            "far.\"" },
          { "PUT", "/api/v1/secrets/spare", "{\"value\":\"x\"}", "204", "" },
          { "POST", "/api/v1/secrets/spare/test", "", "200", "can be read.\"}" });
    answer = ASK("GET", "/api/v1/secrets", "");
    ASSERT(strstr(answer, KEY) == NULL);
    ASSERT(strstr(strstr(answer, "far-key"), "\"name\":\"spare\"") != NULL);
    CHECK({ "DELETE", "/api/v1/secrets/far-key", "", "204", "" },
          { "DELETE", "/api/v1/secrets/far-key", "", "404", "far-key" },
          { "POST", "/api/v1/secrets/far-key/test", "", "200", "dormouse secret set far-key" });
    home_end(home);
}

/* Names from outside become parts of a store's keys; values are bounded. */
TEST(a_secret_has_a_plain_name_and_a_bounded_value)
{
    struct home *home = home_start(t);
    char *longest = arena_alloc(&t->arena, 1, 65), *longer = arena_alloc(&t->arena, 1, 66);
    char *value = arena_alloc(&t->arena, 1, 8194);

    memset(longest, 'n', 64);
    memset(longer, 'n', 65);
    memset(value, 'v', 8193);
    CHECK({ "PUT", arena_printf(&t->arena, "/api/v1/secrets/%s", longest), "{\"value\":\"x\"}",
            "204", "" },
          { "PUT", arena_printf(&t->arena, "/api/v1/secrets/%s", longer), "{\"value\":\"x\"}",
            "400", "64" },
          { "PUT", "/api/v1/secrets/a%00b", "{\"value\":\"x\"}", "400", "" },
          { "PUT", "/api/v1/secrets/a%2fb", "{\"value\":\"x\"}", "400", "" },
          { "PUT", "/api/v1/secrets/.hidden", "{\"value\":\"x\"}", "400", "letter" },
          { "PUT", "/api/v1/secrets/%F0%9F%94%91", "{\"value\":\"x\"}", "400", "" },
          { "PUT", "/api/v1/secrets/a", "{\"value\":\"\"}", "400", "" },
          { "PUT", "/api/v1/secrets/a", "{\"value\":\"a\\u0000b\"}", "4", "" },
          { "PUT", "/api/v1/secrets/a", "{\"value\":null}", "422", "value" },
          { "PUT", "/api/v1/secrets/a", "{}", "422", "/value: required but absent" },
          { "PUT", "/api/v1/secrets/a", "{\"value\":\"x\",\"name\":\"b\"}", "422", "name" },
          { "PUT", "/api/v1/secrets/a?value=x", "{\"value\":\"x\"}", "400", "query" },
          { "PUT", "/api/v1/secrets/a", arena_printf(&t->arena, "{\"value\":\"%s\"}", value), "4",
            "8192" });
    value[8192] = '\0';
    CHECK({ "PUT", "/api/v1/secrets/a", arena_printf(&t->arena, "{\"value\":\"%s\"}", value), "204",
            "" },
          { "GET", "/api/v1/secrets", "", "200", "\"name\":\"a\"" });
    home_end(home);
}

TEST(text_goes_to_a_far_model_only_while_a_person_agrees)
{
    struct home *home = home_start(t);

    CHECK({ "GET", "/api/v1/models", "", "200", "\"consent\":\"not_needed\"" },
          { "GET", "/api/v1/models", "", "200",
            "{\"id\":\"far\",\"provider\":\"openai\",\"model\":\"big\",\"host\":\"far.example\","
            "\"local\":false,\"consent\":\"needed\"" },
          { "POST", "/api/v1/models/far/consent", "{}", "422", "/policy_version" },
          { "POST", "/api/v1/models/far/consent", "{\"policy_version\":\"v0\"}", "409",
            "have version \\\"v1\\\"" },
          { "POST", "/api/v1/models/m/consent", "{\"policy_version\":\"v1\"}", "400",
            "runs on this machine" },
          { "DELETE", "/api/v1/models/far/consent", "", "404", "" },
          { "POST", "/api/v1/models/far/consent", "{\"policy_version\":\"v1\"}", "200",
            "\"consent\":\"given\"" },
          { "POST", "/api/v1/models/far/consent", "{\"policy_version\":\"v1\"}", "200",
            "\"consent\":\"given\"" },
          { "DELETE", "/api/v1/models/far/consent", "", "200", "\"consent\":\"needed\"" },
          { "DELETE", "/api/v1/models/far/consent", "", "404", "" },
          /* a name goes to its end */
          { "POST", "/api/v1/models/far%00x/consent", "{\"policy_version\":\"v1\"}", "4", "" },
          { "GET", "/api/v1/models", "", "200",
            "\"host\":\"far.example\",\"local\":false,"
            "\"consent\":\"needed\"" });
    ASSERT_CONTAINS(
        ask_in_vain(t, home, "POST", "/api/v1/models/far/consent", "{\"policy_version\":\"v1\"}"),
        "\"code\":\"storage_failed\"");
    CHECK({ "GET", "/api/v1/models", "", "200", "\"consent\":\"needed\"" });
    home_end(home);
}

TEST(accounts_that_are_not_connected_say_so_and_go_quietly)
{
    struct home *home = home_start(t);

    CHECK({ "GET", "/api/v1/credentials/slack/status", "", "200", "\"configured\":false" },
          { "GET", "/api/v1/credentials/google/status", "", "200", "\"configured\":false" },
          { "DELETE", "/api/v1/credentials/slack", "", "204", "" },
          { "DELETE", "/api/v1/credentials/google", "", "204", "" },
          { "POST", "/api/v1/credentials/slack", "{}", "422", "/token: required but absent" },
          { "POST", "/api/v1/credentials/slack", "{\"token\":\"\"}", "4", "token" },
          { "POST", "/api/v1/credentials/slack", "{\"token\":\"xoxb-a\\r\\nX: y\"}", "4", "token" },
          { "POST", "/api/v1/credentials/slack/test", "", "4", "" },
          { "POST", "/api/v1/credentials/google/start", "{}", "422", "/flow" },
          { "POST", "/api/v1/credentials/google/start", "{\"flow\":\"magic\"}", "4", "flow" },
          { "POST", "/api/v1/credentials/google/finish", "{\"code\":\"x\"}", "422", "/state" },
          { "POST", "/api/v1/credentials/google/finish", "{\"code\":\"x\",\"state\":\"y\"}", "4",
            "" });
    home_end(home);
}

/* The page a browser lands on says nothing of what the link brought: it may be anybody's. */
TEST(a_link_back_from_google_that_nobody_asked_for_shows_plain_words)
{
    struct home *home = home_start(t);
    const char *answer =
        ASK("GET", "/oauth/google/callback?state=%3Cscript%3E&code=c&error=%3Cb%3E", "");

    ASSERT_CONTAINS(answer, "HTTP/1.1 4");
    ASSERT_CONTAINS(answer, "<h1>That did not work</h1>");
    ASSERT(strstr(answer, "script>") == NULL);
    ASSERT(strstr(answer, "<b>") == NULL);
    home_end(home);
}

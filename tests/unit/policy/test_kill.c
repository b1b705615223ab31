/* Kill switches, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "db/db.h"
#include "db/migrations.h"
#include "harness/db_test.h"
#include "policy/kill.h"

static struct domain *open_agent(struct test *t)
{
    return db_test_open(t, migrations_agent, migrations_agent_count);
}

static struct kill_switches *open_kill(struct test *t, struct domain *domain)
{
    struct kill_switches *kill;

    ASSERT_OK(kill_open(domain, &kill, &t->err));
    return kill;
}

static int set(struct test *t, struct kill_switches *kill, struct domain *domain,
               enum kill_scope scope, const char *value, const char *why)
{
    int r;

    ASSERT_OK(domain_begin(domain, &t->err));
    r = kill_set(kill, scope, value, why, 1000, &t->err);
    ASSERT_OK(domain_commit(domain, &t->err));
    return r;
}

static int clear(struct test *t, struct kill_switches *kill, struct domain *domain,
                 enum kill_scope scope, const char *value)
{
    int r;

    ASSERT_OK(domain_begin(domain, &t->err));
    r = kill_clear(kill, scope, value, &t->err);
    ASSERT_OK(domain_commit(domain, &t->err));
    return r;
}

DB_TEST(nothing_is_stopped_at_first)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(kill_switches) kill = open_kill(t, domain);

    ASSERT(!kill_is_on(kill, "ada", "bash"));
    ASSERT(!kill_is_on(kill, NULL, NULL));
}

DB_TEST(each_scope_stops_just_its_own)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(kill_switches) kill = open_kill(t, domain);
    const struct kill_switch *on;

    ASSERT_EQ(set(t, kill, domain, KILL_AGENT, "ada", "too eager"), 1);
    on = kill_is_on(kill, "ada", "bash");
    ASSERT(on);
    ASSERT_EQ(on->scope, KILL_AGENT);
    ASSERT_TEXT(on->value, "ada");
    ASSERT_TEXT(on->reason, "too eager");
    ASSERT_EQ(on->since_ms, 1000);
    ASSERT(!kill_is_on(kill, "bob", "bash"));
    ASSERT(!kill_is_on(kill, "ad", "bash"));
    ASSERT(!kill_is_on(kill, NULL, "ada"));

    ASSERT_EQ(set(t, kill, domain, KILL_TOOLS, "net", ""), 1);
    ASSERT(kill_is_on(kill, "bob", "net"));
    ASSERT(!kill_is_on(kill, "bob", NULL));
    ASSERT(!kill_is_on(kill, "net", "bash"));

    ASSERT_EQ(set(t, kill, domain, KILL_ALL, "", "stop"), 1);
    ASSERT(kill_is_on(kill, "bob", "bash"));
    ASSERT(kill_is_on(kill, NULL, NULL));
}

DB_TEST(setting_twice_keeps_the_first_reason)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(kill_switches) kill = open_kill(t, domain);

    ASSERT_EQ(set(t, kill, domain, KILL_ALL, "", "first"), 1);
    ASSERT_EQ(set(t, kill, domain, KILL_ALL, "", "second"), 0);
    ASSERT_TEXT(kill_is_on(kill, NULL, NULL)->reason, "first");
    ASSERT_EQ(clear(t, kill, domain, KILL_ALL, ""), 1);
    ASSERT_EQ(clear(t, kill, domain, KILL_ALL, ""), 0);
    ASSERT(!kill_is_on(kill, NULL, NULL));
}

DB_TEST(lifting_one_leaves_the_others)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(kill_switches) kill = open_kill(t, domain);

    set(t, kill, domain, KILL_AGENT, "ada", "");
    set(t, kill, domain, KILL_AGENT, "bob", "");
    set(t, kill, domain, KILL_TOOLS, "ada", "");
    ASSERT_EQ(clear(t, kill, domain, KILL_AGENT, "ada"), 1);
    ASSERT(!kill_is_on(kill, "ada", NULL));
    ASSERT(kill_is_on(kill, "bob", NULL));
    ASSERT(kill_is_on(kill, NULL, "ada"));
}

DB_TEST(switches_outlive_the_process)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(kill_switches) kill = open_kill(t, domain);
    AUTO(kill_switches) again = NULL;

    set(t, kill, domain, KILL_AGENT, "ada", "why not");
    again = open_kill(t, domain);
    ASSERT_TEXT(kill_is_on(again, "ada", NULL)->reason, "why not");
}

DB_TEST(a_rolled_back_switch_is_off_after_a_reload)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(kill_switches) kill = open_kill(t, domain);

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_EQ(kill_set(kill, KILL_ALL, "", "", 1, &t->err), 1);
    ASSERT(kill_is_on(kill, NULL, NULL));
    domain_rollback(domain);
    ASSERT_EQ(kill_reload(kill, &t->err), 1);
    ASSERT(!kill_is_on(kill, NULL, NULL));
    ASSERT_EQ(kill_reload(kill, &t->err), 0);
}

DB_TEST(values_that_do_not_fit_are_refused)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(kill_switches) kill = open_kill(t, domain);
    char *long_text = arena_alloc(&t->arena, KILL_REASON_MAX + 2, 1);

    memset(long_text, 'x', KILL_REASON_MAX + 1);
    ASSERT_FAILS(kill_set(kill, KILL_ALL, "ada", "", 1, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(kill_set(kill, KILL_AGENT, "", "", 1, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(kill_set(kill, KILL_TOOLS, long_text, "", 1, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(kill_set(kill, KILL_NONE, "", "", 1, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(kill_set(kill, KILL_ALL, "", long_text, 1, &t->err), ERR_TOO_LARGE);
    ASSERT_FAILS(kill_clear(kill, KILL_AGENT, "", &t->err), ERR_BAD_REQUEST);
    ASSERT(!kill_is_on(kill, NULL, NULL));
}

DB_TEST(quotes_in_a_name_are_just_a_name)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(kill_switches) kill = open_kill(t, domain);
    const char *name = "x'; DELETE FROM kill_switches; --";

    set(t, kill, domain, KILL_ALL, "", "");
    set(t, kill, domain, KILL_AGENT, name, name);
    ASSERT_EQ(clear(t, kill, domain, KILL_ALL, ""), 1);
    ASSERT_TEXT(kill_is_on(kill, name, NULL)->reason, name);
}

DB_TEST(a_scope_of_a_newer_binary_stops_everything)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(kill_switches) kill = open_kill(t, domain);

    ASSERT_OK(db_exec(
        domain_db(domain),
        SQL("INSERT INTO kill_switches (scope, value, since) VALUES ('host', 'h', 1)"), &t->err));
    ASSERT_OK(kill_reload(kill, &t->err));
    ASSERT(kill_is_on(kill, "anyone", "anything"));
    set(t, kill, domain, KILL_AGENT, "ada", "");
    ASSERT_EQ(clear(t, kill, domain, KILL_AGENT, "h"), 0);
    ASSERT(kill_is_on(kill, "anyone", "anything"));
    ASSERT_EQ(clear(t, kill, domain, KILL_ALL, ""), 1);
    ASSERT(!kill_is_on(kill, "anyone", "anything"));
    ASSERT(kill_is_on(kill, "ada", NULL));
}

DB_TEST(bounds_of_names_and_reasons_are_kept_to_the_byte)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(kill_switches) kill = open_kill(t, domain);
    char name[KILL_VALUE_MAX + 2], reason[KILL_REASON_MAX + 2];

    memset(name, 'n', sizeof(name));
    memset(reason, 'r', sizeof(reason));
    name[KILL_VALUE_MAX + 1] = reason[KILL_REASON_MAX + 1] = '\0';
    ASSERT_FAILS(kill_set(kill, KILL_AGENT, name, "", 1, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "a kill switch for an agent names one in 1 to 128 bytes");
    ASSERT_FAILS(kill_set(kill, KILL_TOOLS, "", "", 1, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "a class of tools names one in 1 to 128 bytes");
    ASSERT_FAILS(kill_set(kill, KILL_AGENT, "a", reason, 1, &t->err), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "more than 1000 bytes");
    ASSERT_FAILS(kill_clear(kill, KILL_ALL, "a", &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "takes no name");
    ASSERT_FAILS(kill_clear(kill, KILL_TOOLS + 1, "a", &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "for all, one agent, or tools");
    name[KILL_VALUE_MAX] = reason[KILL_REASON_MAX] = '\0';
    ASSERT_EQ(set(t, kill, domain, KILL_AGENT, name, reason), 1);
    ASSERT_TEXT(kill_is_on(kill, name, NULL)->reason, reason);
    ASSERT_EQ(kill_refuse(kill_is_on(kill, name, NULL), &t->err), -1);
    ASSERT_CONTAINS(test_err_text(t), "lifts it"); /* a long reason is cut, not the command */
}

DB_TEST(a_database_that_fails_says_what_it_was_for_and_changes_nothing_known)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(kill_switches) kill = open_kill(t, domain);
    AUTO(kill_switches) other = NULL;

    set(t, kill, domain, KILL_AGENT, "ada", "");
    ASSERT_OK(db_exec(domain_db(domain), SQL("DROP TABLE kill_switches"), &t->err));
    ASSERT_FAILS(kill_reload(kill, &t->err), ERR_INTERNAL);
    ASSERT_CONTAINS(test_err_text(t), "read the kill switches");
    ASSERT_FAILS(kill_set(kill, KILL_AGENT, "bob", "", 1, &t->err), ERR_INTERNAL);
    ASSERT_FAILS(kill_clear(kill, KILL_AGENT, "ada", &t->err), ERR_INTERNAL);
    ASSERT_FAILS(kill_open(domain, &other, &t->err), ERR_INTERNAL);
    ASSERT(kill_is_on(kill, "ada", NULL));
    ASSERT(!kill_is_on(kill, "bob", NULL));
}

struct seen {
    unsigned n;
    char text[200];
};

static void see(void *arg, const struct kill_switch *on)
{
    struct seen *seen = arg;
    size_t at = strlen(seen->text);

    seen->n++;
    snprintf(seen->text + at, sizeof(seen->text) - at, "%s:%s ", kill_scope_name(on->scope),
             on->value);
}

DB_TEST(all_that_is_on_can_be_listed_in_order)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(kill_switches) kill = open_kill(t, domain);
    struct seen seen = { 0, "" };

    set(t, kill, domain, KILL_TOOLS, "net", "");
    set(t, kill, domain, KILL_AGENT, "b", "");
    set(t, kill, domain, KILL_AGENT, "Z", "");
    set(t, kill, domain, KILL_ALL, "", "");
    kill_each(kill, see, &seen);
    ASSERT_EQ(seen.n, 4);
    ASSERT_TEXT(seen.text, "agent:Z agent:b all: tools:net ");
}

TEST(a_refusal_names_what_is_stopped_and_the_command_that_lifts_it)
{
    static const struct {
        struct kill_switch on;
        const char *said;
    } cases[] = {
        { { KILL_ALL, "", "", 1 }, "the emergency stop is on: `dormouse unkill --all` lifts it" },
        { { KILL_ALL, "", "on fire", 1 },
          "the emergency stop is on (on fire): `dormouse unkill --all` lifts it" },
        { { KILL_AGENT, "coach", "", 1 },
          "the agent coach is stopped: `dormouse unkill --agent coach` lifts it" },
        { { KILL_TOOLS, "shell", "no 100%s", 1 },
          "the class of tools shell is stopped (no 100%s): `dormouse unkill --tools shell` lifts "
          "it" },
        { { KILL_ALL, "of a newer binary", "", 1 },
          "the emergency stop is on: `dormouse unkill --all` lifts it" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;

        ASSERT_EQ(kill_refuse(&cases[i].on, &err), -1);
        ASSERT_EQ(err.code, ERR_KILL_SWITCH_ACTIVE);
        ASSERT_TEXT(err_message(&err, 0), cases[i].said);
    }
}

TEST(scope_names_go_both_ways)
{
    ASSERT_EQ(kill_scope_from("all"), KILL_ALL);
    ASSERT_EQ(kill_scope_from("agent"), KILL_AGENT);
    ASSERT_EQ(kill_scope_from("tools"), KILL_TOOLS);
    ASSERT_EQ(kill_scope_from("everything"), KILL_NONE);
    ASSERT_EQ(kill_scope_from(""), KILL_NONE);
    ASSERT_TEXT(kill_scope_name(KILL_TOOLS), "tools");
}

/* Whole commands inside this process: what they print and how they end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/args_int.h"
#include "cli/domains.h"
#include "config/config.h"
#include "ran.h"
#include "sandbox/hand_int.h"

/* A data directory with the three databases, as a daemon leaves it. */
static void make_data(struct test *t)
{
    static const char *const names[] = { "journal", "agent", "index" };

    write_config(t, "agent: { name: Ada }\n");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO(domain) domain = NULL;
        AUTO(config) config = NULL;
        const struct config_sources sources = { .data_dir = test_path(t, "data") };

        ASSERT_OK(config_load(&sources, &config, NULL, &t->err));
        ASSERT_OK(domains_open_one(config, sources.data_dir, i, false, &domain, &t->err));
        ASSERT_TEXT(domains_name(i), names[i]);
    }
}

TEST(help_goes_to_standard_output)
{
    struct ran all = RUN("help"), one = RUN("help", "serve"), group = RUN("config", "-h");

    ASSERT_EQ(all.code, CLI_DONE);
    ASSERT_CONTAINS(all.out, "usage: dormouse COMMAND");
    ASSERT_TEXT(all.err, "");
    ASSERT_CONTAINS(one.out, "usage: dormouse serve");
    ASSERT_CONTAINS(group.out, "usage: dormouse config COMMAND");
    ASSERT_TEXT(RUN("serve", "--help").out, one.out);
    ASSERT_TEXT(member(t, RUN("help", "serve", "--json").out, "/text"), one.out);
}

TEST(usage_errors_go_to_standard_error_and_end_with_two)
{
    struct ran ran = RUN("serve", "--lissten", "x");

    ASSERT_EQ(ran.code, CLI_USAGE);
    ASSERT_TEXT(ran.out, "");
    ASSERT_CONTAINS(ran.err, "did you mean --listen?\nsee `dormouse help serve`\n");
    ASSERT_TEXT(RUN("nothing").err,
                "dormouse: no command `nothing`; `dormouse help` lists them all\n");
    ran = RUN("nothing", "--json");
    ASSERT_EQ(ran.code, CLI_USAGE);
    ASSERT_TEXT(ran.err, "");
    ASSERT_TEXT(member(t, ran.out, "/error/code"), "bad_request");
    ASSERT_EQ(RUN("--json").code, CLI_USAGE);
    ASSERT_EQ(RUN("help", "nonsense").code, CLI_USAGE);
    ASSERT_EQ(RUN("help", "config", "nonsense").code, CLI_USAGE);
    ASSERT_EQ(RUN("version", "--data=").code, CLI_USAGE);
}

TEST(what_follows_two_dashes_is_not_json)
{
    struct ran ran = RUN("version", "--", "--json");

    ASSERT_EQ(ran.code, CLI_USAGE);
    ASSERT_TEXT(ran.out, "");
}

TEST(the_version_is_told)
{
    struct ran ran = RUN("version");

    ASSERT_EQ(ran.code, CLI_DONE);
    ASSERT_CONTAINS(ran.out, "dormouse 0.");
    ASSERT_CONTAINS(ran.out, "  sqlite         3.");
    ASSERT_TEXT(RUN("--version").out, ran.out);
    ASSERT_CONTAINS(member(t, RUN("version", "--json").out, "/libraries/libuv"), "1.");
}

TEST(config_check_lists_problems)
{
    struct ran ran;

    ASSERT_TEXT(RUN("config", "check").out, "the configuration is valid\n");
    write_config(t, "a: 1\nb: 2\n");
    ran = RUN("config", "check");
    ASSERT_EQ(ran.code, CLI_FAILED);
    ASSERT_CONTAINS(ran.out, "data/config.yaml:1:1: no key `a`");
    ASSERT_CONTAINS(ran.out, "data/config.yaml:2:1: no key `b`");
    ran = RUN("config", "check", "--json");
    ASSERT_EQ(ran.code, CLI_FAILED);
    ASSERT_TEXT(member(t, ran.out, "/valid"), "false");
    ASSERT_TEXT(member(t, ran.out, "/problems/1/line"), "2");
    ran = RUN("config", "show", "--json");
    ASSERT_EQ(ran.code, CLI_FAILED);
    ASSERT_CONTAINS(member(t, ran.out, "/error/message"), "2 problems");
}

TEST(config_show_tells_values_and_origins)
{
    struct ran ran;

    write_config(t, "budget:\n  cost_per_day: 0.7\n");
    ran = RUN("config", "show");
    ASSERT_CONTAINS(ran.out, "\nbudget.cost_per_day                 0.7             ");
    ASSERT_CONTAINS(ran.out, "\nserver.token                        (not set)");
    ran = RUN("config", "show", "--json");
    ASSERT_TEXT(member(t, ran.out, "/values/budget.cost_per_day"), "0.7");
    ASSERT_CONTAINS(member(t, ran.out, "/origins/budget.cost_per_day"), "config.yaml:2");
    ASSERT_TEXT(member(t, ran.out, "/origins/skills.root"), "default");
}

TEST(schema_check_tells_what_is_wrong)
{
    const char *schema = test_path(t, "s.json"), *good = test_path(t, "g.yaml");
    const char *bad = test_path(t, "b.json");
    struct ran ran;

    test_write_file(schema, "{\"properties\":{\"a\":{\"type\":\"string\"}}}", 38);
    test_write_file(good, "a: x\n", 5);
    test_write_file(bad, "{\"a\":1}", 7);
    ASSERT_TEXT(RUN("schema", "check", schema, good).out, "valid\n");
    ran = RUN("schema", "check", schema, bad);
    ASSERT_EQ(ran.code, CLI_FAILED);
    ASSERT_CONTAINS(ran.out, "/a: must be a string");
    ran = RUN("schema", "check", schema, bad, "--json");
    ASSERT_TEXT(member(t, ran.out, "/errors/0/instance"), "/a");
    ASSERT_CONTAINS(member(t, ran.out, "/errors/0/schema"), "#/properties/a/type");
    ran = RUN("schema", "check", schema, test_path(t, "absent"));
    ASSERT_EQ(ran.code, CLI_FAILED);
    ASSERT_CONTAINS(ran.err, "absent");
    ASSERT_CONTAINS(RUN("schema", "check", schema, good, "--ref", "=x").err, "URI=FILE");
    ASSERT_EQ(RUN("schema", "check", schema, good, "--ref", "urn:a=/nowhere").code, CLI_FAILED);
}

TEST(verify_proves_and_refuses_nonsense, .timeout_s = 300)
{
    ASSERT_EQ(RUN("verify").code, CLI_DONE);
    ASSERT_EQ(RUN("verify", "--bound", "5").code, CLI_FAILED);
    ASSERT_EQ(RUN("verify", "--bound", "five").code, CLI_USAGE);
    ASSERT_EQ(RUN("verify", "--policy", test_path(t, "absent")).code, CLI_FAILED);
}

TEST(doctor_reads_a_data_directory)
{
    const char *hand = test_path(t, "dormouse-hand");
    struct ran ran;

    test_write_file(hand, "#!/bin/sh\n", 10);
    chmod(hand, 0700);
    hand_set_path(hand);
    setenv("DORMOUSE_SERVER_LISTEN", "127.0.0.1:0", 1);
    ASSERT_CONTAINS(RUN("doctor").out, "will be created at first use");
    make_data(t);
    ran = RUN("doctor");
    ASSERT_EQ(ran.code, CLI_DONE);
    ASSERT_CONTAINS(ran.out, "(mode 0700)");
    ASSERT_CONTAINS(ran.out, "agent database   sound, schema version ");
    ASSERT_CONTAINS(ran.out, " 0 broken\n");
    ASSERT_EQ(chmod(test_path(t, "data"), 0755), 0);
    ASSERT_CONTAINS(RUN("doctor").out,
                    "is open to others (mode 0755)\n                       try: chmod 700");
    test_write_file(test_path(t, "data/journal.sqlite"), "nonsense", 8);
    ran = RUN("doctor", "--json");
    ASSERT_EQ(ran.code, CLI_FAILED);
    ASSERT_TEXT(member(t, ran.out, "/ok"), "false");
    ASSERT_CONTAINS(RUN("doctor").out, "restore a backup");
}

TEST(doctor_fails_without_the_program_that_does_the_work)
{
    struct ran ran;

    setenv("DORMOUSE_SERVER_LISTEN", "127.0.0.1:0", 1);
    make_data(t);
    hand_set_path(test_path(t, "dormouse-hand"));
    ran = RUN("doctor");
    ASSERT_EQ(ran.code, CLI_FAILED);
    ASSERT_CONTAINS(ran.out, "dormouse-hand");
    ASSERT_CONTAINS(ran.out, " 1 broken\n");
}

TEST(doctor_says_what_the_configuration_turned_off)
{
    write_config(t, "sandbox: { enabled: false }\nserver: { listen: '0.0.0.0:0' }\n");
    ASSERT_CONTAINS(RUN("doctor").out, "turned off: agents' commands can touch");
    ASSERT_CONTAINS(RUN("doctor").out, "can be reached from other machines");
    write_config(t, "sandbox: 5\n");
    ASSERT_EQ(RUN("doctor").code, CLI_FAILED);
    ASSERT_CONTAINS(RUN("doctor").out, "config.yaml:1:10: `sandbox` must be");
}

TEST(doctor_without_a_usable_directory_says_what_to_do)
{
    setenv("DORMOUSE_SERVER_LISTEN", "127.0.0.1:0", 1);
    test_write_file(test_path(t, "file"), "", 0);
    ASSERT_CONTAINS(RUN("doctor", "--data", test_path(t, "file")).out, "it is not a directory");
    ASSERT_CONTAINS(RUN("doctor", "--data", test_path(t, "file/below")).out, "Not a directory");
}

TEST(a_backup_holds_every_database)
{
    const char *file = test_path(t, "b.tar");
    struct ran ran;

    ran = RUN("backup", file);
    ASSERT_EQ(ran.code, CLI_FAILED);
    ASSERT_CONTAINS(ran.err, "there is nothing to back up");
    make_data(t);
    ran = RUN("backup", file);
    ASSERT_EQ(ran.code, CLI_DONE);
    ASSERT_CONTAINS(ran.out, "b.tar: 4 files, ");
    ASSERT_CONTAINS(ran.out, "restore with: ");
    ran = RUN("backup", file, "--json");
    ASSERT_EQ(ran.code, CLI_FAILED);
    ASSERT_TEXT(member(t, ran.out, "/error/code"), "conflict");
    ran = RUN("backup", test_path(t, "c.tar"), "--json");
    ASSERT_TEXT(member(t, ran.out, "/files/0/name"), "journal.sqlite");
    ASSERT_TEXT(member(t, ran.out, "/files/3/name"), "config.yaml");
    ASSERT_EQ(strlen(member(t, ran.out, "/files/0/sha256")), 64);
}

TEST(serve_refuses_before_it_starts_anything)
{
    ASSERT_EQ(RUN("serve", "--listen", "nonsense:").code, CLI_USAGE);
    write_config(t, "zebra: 1\n");
    ASSERT_EQ(RUN("serve", "--listen", "127.0.0.1:0").code, CLI_FAILED);
    ASSERT(access(test_path(t, "data/lock"), F_OK) < 0);
    write_config(t, "store: { url: 'postgresql://127.0.0.1:none/x' }\n");
    ASSERT_EQ(RUN("serve", "--listen", "127.0.0.1:0").code, CLI_FAILED);
}

TEST(policy_codes_end_with_denied)
{
    static const struct {
        enum err_code code;
        int exit;
    } cases[] = {
        { ERR_CAPABILITY_DENIED, CLI_DENIED },  { ERR_NETWORK_DENIED, CLI_DENIED },
        { ERR_SECRET_UNAVAILABLE, CLI_FAILED }, { ERR_NOT_FOUND, CLI_FAILED },
        { ERR_INTERNAL, CLI_FAILED },
    };
    AUTO_ARGS args = { .command = NULL };

    fclose(stderr);
    stderr = tmpfile();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;

        err_set(&err, cases[i].code, "no");
        ASSERT_EQ(cli_fail(&args, &err), cases[i].exit);
    }
}

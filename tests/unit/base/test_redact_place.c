/* Secrets known by the place they stand in, and texts that merely look alike.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "base/redact.h"
#include "harness/test.h"

#define M "***REDACTED***"

static const char *redacted(struct test *t, struct str text)
{
    AUTO_BUF out = BUF_INIT(4 * text.n + sizeof(M));
    AUTO_BUF again = BUF_INIT(16 * text.n + sizeof(M));

    ASSERT_EQ(redact(text, &out), 0);
    ASSERT_EQ(redact(buf_str(&out), &again), 0);
    ASSERT_TEXT(buf_text(&again), buf_text(&out));
    return arena_copy(&t->arena, buf_text(&out), out.n);
}

struct example {
    const char *text, *expected;
};

static void check_all(struct test *t, const struct example *examples, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ASSERT_TEXT(redacted(t, str_from(examples[i].text)), examples[i].expected);
}

static void check_harmless(struct test *t, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ASSERT_TEXT(redacted(t, str_from(texts[i])), texts[i]);
}

TEST(redact_hides_passwords_in_flags_of_tools)
{
    static const struct example examples[] = {
        { "curl -u ann:hunter2 https://a.example/", "curl -u ann:" M " https://a.example/" },
        { "curl -uann:hunter2 https://a.example/", "curl -uann:" M " https://a.example/" },
        { "curl -U ann:hunter2", "curl -U ann:" M },
        { "curl --user ann:hunter2 -s", "curl --user ann:" M " -s" },
        { "curl --user=ann:hunter2 -s", "curl --user=ann:" M " -s" },
        { "curl --proxy-user ann:hunter2", "curl --proxy-user ann:" M },
        { "curl -u 'ann:hun ter;2' x", "curl -u 'ann:" M "' x" },
        { "curl -u \"ann:hun'ter2\" x", "curl -u \"ann:" M "\" x" },
        { "curl -u :hunter2 x", "curl -u :" M " x" },
        { "curl -u ann:hun:ter2 x", "curl -u ann:" M " x" },
        { "curl -u ann:hun\\!ter2 x", "curl -u ann:" M " x" },
        { "/usr/bin/curl -s -u ann:hunter2;ls", "/usr/bin/curl -s -u ann:" M ";ls" },
        { "$(curl -u ann:hunter2)", "$(curl -u ann:" M ")" },
        { "curl -s \\\n  -u ann:hunter2 \\\n  x", "curl -s \\\n  -u ann:" M " \\\n  x" },
        { "{\"cmd\":\"curl -u ann:hunter2\"}", "{\"cmd\":\"curl -u ann:" M "\"}" },
        { "{\"cmd\":\"curl -u ann:hunter2\\nls\"}", "{\"cmd\":\"curl -u ann:" M "\\nls\"}" },
        { "curl -H 'Authorization: Bearer abc' -u ann:hunter2",
          "curl -H 'Authorization: Bearer " M "' -u ann:" M },
        { "curl -u ann:one -u bob:two", "curl -u ann:" M " -u bob:" M },
        { "mysql -u root -phunter2 db", "mysql -u root -p" M " db" },
        { "mysql -pmypassword", "mysql -p" M },
        { "mysqldump -p'hunter 2' db", "mysqldump -p'" M "' db" },
        { "mysqladmin -phunter2 ping", "mysqladmin -p" M " ping" },
        { "sshpass -p hunter2 ssh host", "sshpass -p " M " ssh host" },
        { "sshpass -phunter2 ssh host", "sshpass -p" M " ssh host" },
        { "redis-cli -h a -a hunter2 ping", "redis-cli -h a -a " M " ping" },
    };

    check_all(t, examples, ARRAY_LEN(examples));
}

TEST(redact_leaves_flags_that_hold_no_password)
{
    static const char *const texts[] = {
        "docker run -u 1000:1000 image",
        "docker run --user ann:staff image",
        "sudo -u postgres psql",
        "chown -R ann:staff /srv",
        "curl -u ann https://a.example:8080/",
        "curl -u ann: https://a.example/",
        "curl -u \"$USER:$PASSWORD\" x",
        "curl -u ann:${PASSWORD} x",
        "curl -u ann:$(cat secret.txt) x",
        "curl -u -s x:y",
        "curl --user-agent a:b",
        "curl https://a.example/\ndocker run -u 1000:1000 image",
        "curl x\\ndocker run -u ann:staff",
        "curly -u ann:staff and libcurl -u ann:staff",
        "mysql -p db",
        "mysql -u root -h a.example -P 3306",
        "mkdir -p one/two",
        "ssh -p 2222 host",
        "redis-cli -a",
        "sshpass -p $SSHPASS ssh host",
        "sshpass -e ssh host",
    };

    check_harmless(t, texts, ARRAY_LEN(texts));
}

TEST(redact_hides_passwords_of_netrc)
{
    static const struct example examples[] = {
        { "machine a.example login ann password hunter2",
          "machine a.example login ann password " M },
        { "machine a.example\n  login ann\n  password hunter2\nmachine b",
          "machine a.example\n  login ann\n  password " M "\nmachine b" },
        { "machine localhost\tlogin\tann\tpassword\thunter2",
          "machine localhost\tlogin\tann\tpassword\t" M },
        { "default login ann password hunter2", "default login ann password " M },
        { "machine a.example password hunter2 login ann",
          "machine a.example password " M " login ann" },
        { "machine a.example login ann password one\nmachine b.example login bob password two\n",
          "machine a.example login ann password " M "\nmachine b.example login bob password " M
          "\n" },
    };
    static const char *const texts[] = {
        "machine learning password manager",
        "the login page password field",
        "this machine has no login and password rules apply",
        "default password rules",
        "machine a.example login ann",
        "machine a.example login ann password",
        "machine a.example login ann password ",
        "machine a.example login ann account password hunter2",
        "machine a.example login ann password $PASSWORD",
        "slot-machine-a.example login ann passwords stay",
    };

    check_all(t, examples, ARRAY_LEN(examples));
    check_harmless(t, texts, ARRAY_LEN(texts));
}

TEST(redact_hides_elements_of_xml_with_telling_names)
{
    static const struct example examples[] = {
        { "<password>hunter2</password>", "<password>" M "</password>" },
        { "<server>\n <username>ann</username>\n <password>a b &amp; c</password>\n</server>",
          "<server>\n <username>ann</username>\n <password>" M "</password>\n</server>" },
        { "<apiKey scope=\"all\">abc</apiKey>", "<apiKey scope=\"all\">" M "</apiKey>" },
        { "<client-secret>\nline\nline\n</client-secret>", "<client-secret>" M "</client-secret>" },
        { "<DbPassword>x</DbPassword><n>1</n>", "<DbPassword>" M "</DbPassword><n>1</n>" },
        { "<password hint=\"sk-1234567890abcdefghij\">x</password>",
          "<password hint=\"" M "\">" M "</password>" },
        { "<token>a1b2c3d4</token>", "<token>" M "</token>" },
        { "<add key=\"ApiKey\" value=\"hunter2\"/>", "<add key=\"ApiKey\" value=\"" M "\"/>" },
    };
    static const char *const texts[] = {
        "<password></password>",
        "<password> </password>",
        "<password/>hunter2<password/>",
        "<password>${db.password}</password>",
        "<password><encrypted/></password>",
        "usage: tool --token <token> <password> <file>",
        "<username>ann</username>",
        "<passwordPolicy>strict</passwordPolicy>",
        "<nextPageToken>x1y2z3a4</nextPageToken>",
        "a <password>b",
        "if (a <token && b> token)",
        "std::map<token>(x)</b>",
        "<password>null</password>",
    };

    check_all(t, examples, ARRAY_LEN(examples));
    check_harmless(t, texts, ARRAY_LEN(texts));
}

TEST(redact_hides_passwords_in_connection_strings)
{
    static const struct example examples[] = {
        { "Server=db;User Id=ann;Password=hunter2;Trusted=no",
          "Server=db;User Id=ann;Password=" M ";Trusted=no" },
        { "Driver={x};Uid=ann;Pwd=hunter2;", "Driver={x};Uid=ann;Pwd=" M ";" },
        { "Server=db;Password={hun;ter2};X=1", "Server=db;Password={" M "};X=1" },
        { "Server=db;Pwd={hun ter2}", "Server=db;Pwd={" M "}" },
        { "\"Server=db;Pwd={hunter2}\"", "\"Server=db;Pwd={" M "}\"" },
        { "Server=db;Password=\"a;b\";X=1", "Server=db;Password=\"" M "\";X=1" },
        { "host=db user=ann password=hunter2 dbname=x",
          "host=db user=ann password=" M " dbname=x" },
        { "host=db password='hun ter2' dbname=x", "host=db password='" M "' dbname=x" },
        { "jdbc:mysql://db/x?user=ann&password=hunter2&ssl=1",
          "jdbc:mysql://db/x?user=ann&password=" M "&ssl=1" },
        { "AccountName=a;AccountKey=abcdefghijklmnopqrstuvwxyz0123456789+/ABCDEFGHIJKLMNOPQRS"
          "TUVWXYZ0123456789+/abcdefghijklm==;EndpointSuffix=core.windows.net",
          "AccountName=a;AccountKey=" M ";EndpointSuffix=core.windows.net" },
        { "SharedAccessKeyName=Root;SharedAccessKey=abc+/ABCDE=",
          "SharedAccessKeyName=Root;SharedAccessKey=" M },
    };
    static const char *const texts[] = {
        "<Input password={value} />",
        "x;password={value}.trim()",
        "x;password={}",
        "x;password={one\ntwo};",
        "x;driver={ODBC Driver 18};y",
        "Server=db;Trusted_Connection=yes;",
    };

    check_all(t, examples, ARRAY_LEN(examples));
    check_harmless(t, texts, ARRAY_LEN(texts));
}

TEST(redact_hides_passwords_of_urls_inside_urls)
{
    static const struct example examples[] = {
        { "https://a.example/?next=https%3A%2F%2Fann%3Ahunter2%40b.example%2F",
          "https://a.example/?next=https%3A%2F%2Fann%3A" M "%40b.example%2F" },
        { "u=postgres%3a%2f%2fann%3ahunter2%40db%2fx&n=1",
          "u=postgres%3a%2f%2fann%3a" M "%40db%2fx&n=1" },
        { "https%3A%2F%2Fann:hunter2%40b.example", "https%3A%2F%2Fann:" M "%40b.example" },
        { "https%3A%2F%2Fann:hunter2@b.example", "https%3A%2F%2Fann:" M "@b.example" },
        { "https%3A%2F%2F%3Ahunter2%40b", "https%3A%2F%2F%3A" M "%40b" },
        { "https%3A%2F%2Fann%3Ap%40ss%40b", "https%3A%2F%2Fann%3A" M "%40b" },
    };
    static const char *const texts[] = {
        "next=https%3A%2F%2Fb.example%3A8080%2Fx",
        "next=https%3A%2F%2Fb.example%2Fx%3Ay%40z",
        "next=https%3A%2F%2Fann%40b.example",
        "next=https%3A%2F%2Fb.example&mail=a%3Ab%40c.example",
        "next=https%3A%2F%2Fann%3A%40b.example",
        "50%3A%2F%2",
        "%3A%2F%2F",
    };

    check_all(t, examples, ARRAY_LEN(examples));
    check_harmless(t, texts, ARRAY_LEN(texts));
}

/* The samples are cut in two so that no scanner of this source takes them for real. */
TEST(redact_hides_tokens_of_bots_registries_and_webhooks)
{
    static const struct example examples[] = {
        { "MTIzNDU2Nzg5MDEyMzQ1Njc4"
          ".GaBcDe.abcdefghijklmnopqrstuvwxyz0123456789AB",
          M },
        { "Bot OTk5OTk5OTk5OTk5OTk5OTk5"
          ".X-_9zz.abcdefghijklmnopqrstuvwxyz0",
          "Bot " M },
        { "mfa."
          "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghij",
          M },
        { "https://api.telegram.org/bot123456789:"
          "AAabcdefghijklmnopqrstuvwxyz0123456/getMe",
          "https://api.telegram.org/bot123456789:" M "/getMe" },
        { "pypi-"
          "AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMA",
          M },
        { "//registry.example/:_authToken=npm_"
          "abcdefghijklmnopqrstuvwxyz0123456789",
          "//registry.example/:_authToken=" M },
        { "//registry.example/:_auth=YW5uOmh1bnRlcjI=", "//registry.example/:_auth=" M },
        { "_auth = \"YW5uOmh1bnRlcjI=\"", "_auth = \"" M "\"" },
        { "https://hooks.slack.com/"
          "services/T000/B000/XXXX.",
          "https://hooks.slack.com/services/" M "." },
        { "https://hooks.slack.com/"
          "workflows/T000/A000/123/XXXX",
          "https://hooks.slack.com/workflows/" M },
        { "\"https:\\/\\/hooks.slack.com\\/"
          "services\\/T000\\/B000\\/XXXX\"",
          "\"https:\\/\\/hooks.slack.com\\/services\\/" M "\"" },
        { "https://ptb.discord.com/"
          "api/webhooks/123/abc-def_ghi?wait=1",
          "https://ptb.discord.com/api/webhooks/" M "?wait=1" },
        { "https://outlook.office.com/"
          "webhook/01-23@45-67/IncomingWebhook/89ab/cdef",
          "https://outlook.office.com/webhook/" M },
    };
    static const char *const texts[] = {
        "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcD.abcdefghijklmnopqrstuvwxyz0123456789AB",
        "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.abcdefghijklmnopqrstuvwxyz",
        "MTIzNDU2Nzg5MDEyMzQ1.GaBcDe.abcdefghijklmnopqrstuvwxyz0123456789AB",
        "NotificationManagerService.handle.abcdefghijklmnopqrstuvwxyz0123456789",
        "mfa.is.required",
        "bot123456789:AAshort",
        "robot123456789:AAabcdefghijklmnopqrstuvwxyz0123456",
        "_auth=basic",
        "_auth",
        "https://hooks.slack.com/docs/services",
        "https://hooks.slack.com/services/",
        "https://discord.com/api/users/123",
        "{\"type\":\"service_account\",\"private_key_id\":\"0123456789abcdef0123\"}",
    };

    check_all(t, examples, ARRAY_LEN(examples));
    check_harmless(t, texts, ARRAY_LEN(texts));
}

TEST(redact_of_places_is_idempotent_and_bounded_on_random_mixtures)
{
    static const char *const parts[] = {
        "curl",
        " -u ",
        "-u",
        "ann:",
        "hunter2",
        "'",
        "\"",
        "\n",
        " ",
        "\\n",
        "machine ",
        "a.example ",
        "login ",
        "password ",
        "<password>",
        "</password>",
        "<token ",
        ">",
        ";Pwd={",
        "}",
        ";",
        "%3A%2F%2F",
        "%3A",
        "%40",
        "://",
        "@",
        M,
        "sshpass -p ",
        "mysql -px",
        "_auth=YTpi",
        "password=",
        "redis-cli ",
        "-a x",
        "$(",
        "${X}",
        "\\",
        "Bearer ",
        "abcdef12345",
        "/",
        "*",
        "=",
        "ghp_",
        "abcdefghijklmnopqrstuvwxyz0123456789",
    };
    struct rand_fake rand;

    rand_fake_init(&rand, 77);
    for (int i = 0; i < 30000; i++) {
        AUTO_BUF text = BUF_INIT(10000);
        size_t n = 1 + rand_below(&rand.rand, 24);

        while (n--)
            buf_add_text(&text, parts[rand_below(&rand.rand, ARRAY_LEN(parts))]);
        redacted(t, buf_str(&text));
        arena_release(&t->arena);
    }
}

TEST(redact_of_places_stays_within_four_times_the_text)
{
    static const char *const units[] = { " -pxy",        " -p x",    " -a x",         " -ua:b",
                                         "<pwd>x</pwd>", ";Pwd={x}", "%3A%2F%2F:x%40" };
    static const char *const tools[] = { "mysql", "sshpass", "redis-cli", "curl", "", "", "" };

    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        AUTO_BUF text = BUF_INIT(1u << 20);

        buf_add_text(&text, tools[i]);
        for (int k = 0; k < 2000; k++)
            buf_add_text(&text, units[i]);
        ASSERT(strstr(redacted(t, buf_str(&text)), M));
    }
}

/* SPDX-License-Identifier: MIT */
#include "base/redact.h"

#include <json-c/json.h>
#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "harness/test.h"

#define M "***REDACTED***"

static const char *redacted(struct test *t, struct str text)
{
    AUTO_BUF out = BUF_INIT(16u << 20);
    AUTO_BUF again = BUF_INIT(16u << 20);

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

TEST(redact_hides_what_the_seed_lists)
{
    static const struct example examples[] = {
        { "api_key=sk-xxx", "api_key=" M },
        { "Authorization: Bearer xxx", "Authorization: Bearer " M },
        { "password=xxx", "password=" M },
        { "sk-1234567890abcdefghij", M },
        { "use pk-1234567890abcdefghij now", "use " M " now" },
        { "(rk-1234567890abcdefghij)", "(" M ")" },
        { "{\"config\": {\"api_key\": \"sk-1234567890abcdefghij\"}}",
          "{\"config\": {\"api_key\": \"" M "\"}}" },
    };

    check_all(t, examples, ARRAY_LEN(examples));
}

/* The samples are cut in two so that no scanner of this source takes them for real. */
TEST(redact_hides_keys_of_services_by_their_prefix)
{
    static const char *const keys[] = {
        "AKIA"
        "IOSFODNN7EXAMPLE",
        "ASIA"
        "IOSFODNN7EXAMPLE",
        "AIza"
        "SyA1234567890abcdefghijklmnopqrstuv",
        "ya29."
        "a0AfH6SMBx1234567890abcdefghij_klm",
        "GOCSPX-"
        "abcdefghij1234567890abcd",
        "ghp_"
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "gho_"
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "github_pat_"
        "11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789",
        "glpat-"
        "abcdefghij1234567890",
        "xoxb-"
        "123456789012-123456789012-abcdefghijkl",
        "xoxp-"
        "123456789012-abcdef",
        "xapp-"
        "1-A012-345678901234-abcdef0123456789",
        "sk_live_"
        "abcdefghijklmnop12345678",
        "rk_test_"
        "abcdefghijklmnop12345678",
        "whsec_"
        "abcdefghijklmnop1234567890",
        "sk-ant-"
        "api03-abcdefghijklmnop_qrstuvwxyz-0123456789",
        "sk-proj-"
        "abcdefghijklmnop1234567890",
        "sk-"
        "abcdefghijklmnopqrstuvwxyz",
        "hf_"
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "npm_"
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "dop_v1_"
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "SG."
        "abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789abcdefg",
        "eyJ"
        "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
        "eyJ"
        "hbGciOiJSU0EtT0FFUCJ9.abcd.efgh.ijkl.mnop",
        "abc8Q~"
        "abcdefghijklmnopqrstuvwxyz0123456",
    };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        static const char *const frames[] = { "%s",   "see %s.",    "\"%s\",",  "x=%s&y=1",
                                              "(%s)", "line\n%s\n", "\\n%s\\n", "%%3D%s" };

        for (size_t k = 0; k < ARRAY_LEN(frames); k++) {
            char text[512];
            const char *clean;

            snprintf(text, sizeof(text), frames[k], keys[i]);
            clean = redacted(t, str_from(text));
            if (!strstr(clean, M) || strstr(clean, keys[i] + 12))
                FAIL("\"%s\" became \"%s\"", text, clean);
        }
    }
    ASSERT_TEXT(redacted(t, STR("123456789:"
                                "AAabcdefghijklmnopqrstuvwxyz0123456")),
                "123456789:" M);
}

TEST(redact_hides_private_keys_whole_or_cut_off)
{
    static const struct example examples[] = {
        { "a\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B==\n-----END PRIVATE "
          "KEY-----\nb",
          "a\n" M "\nb" },
        { "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE\n"
          "-----END RSA PRIVATE KEY-----",
          M },
        { "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAA", M },
        { "-----BEGIN PGP PRIVATE KEY BLOCK-----\nabcd\n-----END PGP PRIVATE KEY BLOCK-----", M },
        { "{\"type\":\"service_account\",\"private_key\":\"-----BEGIN PRIVATE KEY-----\\nMIIE\\n"
          "-----END PRIVATE KEY-----\\n\",\"client_email\":\"x@y.z\"}",
          "{\"type\":\"service_account\",\"private_key\":\"" M "\",\"client_email\":\"x@y.z\"}" },
        { "key: '-----BEGIN EC PRIVATE KEY-----\\nMIIE\\n-----END EC PRIVATE KEY-----\\n'!",
          "key: '" M "\\n'!" },
        { "private_key: \"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n\"",
          "private_key: \"" M "\n\"" },
        { "password=-----BEGIN PRIVATE KEY-----\nMIIE\n", "password=" M },
        { "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----",
          "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----" },
        { "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
          "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----" },
    };

    check_all(t, examples, ARRAY_LEN(examples));
}

TEST(redact_hides_headers_and_cookies)
{
    static const struct example examples[] = {
        { "GET / HTTP/1.1\r\nAuthorization: Basic dXNlcjpwYXNz\r\nHost: a\r\n",
          "GET / HTTP/1.1\r\nAuthorization: Basic " M "\r\nHost: a\r\n" },
        { "authorization: a b c\nx: 1", "authorization: " M "\nx: 1" },
        { "Proxy-Authorization: Digest username=\"u\", response=\"r\"",
          "Proxy-Authorization: Digest " M },
        { "curl -H 'Authorization: token abcdef' https://a",
          "curl -H 'Authorization: token " M "' https://a" },
        { "{\"Authorization\": \"Bearer abc\", \"a\": 1}",
          "{\"Authorization\": \"Bearer " M "\", \"a\": 1}" },
        { "Cookie: sid=abc; theme=dark\r\nAccept: */*", "Cookie: " M "\r\nAccept: */*" },
        { "Set-Cookie: sid=abc; HttpOnly\n", "Set-Cookie: " M "\n" },
        { "X-Api-Key: abcdef", "X-Api-Key: " M },
        { "sent Bearer abcdef1234567890 to it", "sent Bearer " M " to it" },
        { "bearer abcdefghijklmnopqrstuvwxyz", "bearer " M },
        { "with Basic dXNlcjpwYXNzd29yZA== there", "with Basic " M " there" },
    };

    check_all(t, examples, ARRAY_LEN(examples));
}

TEST(redact_hides_passwords_in_urls_and_keeps_user_and_host)
{
    static const struct example examples[] = {
        { "postgresql://ann:s3cret@db.example/x", "postgresql://ann:" M "@db.example/x" },
        { "redis://:pw@host:6379", "redis://:" M "@host:6379" },
        { "http://u:p@ss@h/", "http://u:" M "@h/" },
        { "https://ghp_abcdefghijklmnopqrstuvwxyz0123456789:x@github.com/a",
          "https://" M ":" M "@github.com/a" },
        { "https://ghp_abcdefghijklmnopqrstuvwxyz0123456789@github.com/a",
          "https://" M "@github.com/a" },
        { "amqp://u:pa/ss@h:5672/v", "amqp://u:" M "@h:5672/v" },
        { "\"mongodb+srv://u:p%40@c.net/?a=b\"", "\"mongodb+srv://u:" M "@c.net/?a=b\"" },
        { "https://hooks.slack.com/services/T00/B00/XXXX end",
          "https://hooks.slack.com/services/" M " end" },
        { "https://s.blob.core.windows.net/c?sv=1&sig=abcdefghijklmnopqrstuv%3D&se=2",
          "https://s.blob.core.windows.net/c?sv=1&sig=" M "&se=2" },
        { "https://a/?token=abc12345&x=1", "https://a/?token=" M "&x=1" },
        { "https://host:8080/path@2x.png", "https://host:8080/path@2x.png" },
        { "https://user@host/", "https://user@host/" },
        { "http://[::1]:80/a@b", "http://[::1]:80/a@b" },
        { "https://a.b/c:d@e", "https://a.b/c:d@e" },
    };

    check_all(t, examples, ARRAY_LEN(examples));
}

TEST(redact_hides_values_under_telling_names)
{
    static const struct example examples[] = {
        { "{\"password\":\"a\\\"b\",\"n\":1}", "{\"password\":\"" M "\",\"n\":1}" },
        { "{\\\"password\\\":\\\"abc\\\",\\\"n\\\":1}",
          "{\\\"password\\\":\\\"" M "\\\",\\\"n\\\":1}" },
        { "{'secret': 'x y z'}", "{'secret': '" M "'}" },
        { "db:\n  password: correct horse battery\n  user: ann\n",
          "db:\n  password: " M "\n  user: ann\n" },
        { "  - token: abc123def\n", "  - token: " M "\n" },
        { "key:\n  client_secret: |\n    line one\n    line two\n  next: 1\n",
          "key:\n  client_secret: " M "\n  next: 1\n" },
        { "export GITHUB_TOKEN=abc123def456", "export GITHUB_TOKEN=" M },
        { "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\nA=1",
          "AWS_SECRET_ACCESS_KEY=" M "\nA=1" },
        { "aws_secret_access_key = wJalrXUtnFEMI", "aws_secret_access_key = " M },
        { "AccountName=a;AccountKey=abc123==;EndpointSuffix=b",
          "AccountName=a;AccountKey=" M ";EndpointSuffix=b" },
        { "a=1&access_token=abc&b=2", "a=1&access_token=" M "&b=2" },
        { "client%5Fsecret%3Dabcdef%26", "client%5Fsecret%3D" M },
        { "tool --password hunter2 --verbose", "tool --password " M " --verbose" },
        { "tool --api-key=abc", "tool --api-key=" M },
        { "const apiKey = \"abc\";", "const apiKey = \"" M "\";" },
        { "conf[\"password\"] = 'x'", "conf[\"password\"] = '" M "'" },
        { "DB_PASS=1234", "DB_PASS=" M },
        { "clientSecret => 'abc'", "clientSecret => '" M "'" },
        { "passphrase: \"unclosed quote\nnext", "passphrase: \"" M "\nnext" },
        { "password=" M "tail", "password=" M "tail" },
    };

    check_all(t, examples, ARRAY_LEN(examples));
}

TEST(redact_leaves_ordinary_text_alone)
{
    static const char *const texts[] = {
        "",
        "The password was changed; a new token is needed, and the secret is out.",
        "Basic authentication and bearer tokens are explained below. Basic Understanding of it.",
        "He was the bearer of good news, the bearer certificate.",
        "019a8a7b-6c5d-7abc-8def-0123456789ab",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "/home/ann/.config/app/tokens/file-2024-01-01_secret.txt",
        "max_tokens=4096, token_count: 12, tokens: 7, next_token=abc123def",
        "{\"nextPageToken\": \"x1y2z3a4\"}",
        "secret_ref: openai, password_policy: strict, secrets: inherit",
        "if (token == NULL) return token->kind; token = next_token(p); self.password = password",
        "password=${DB_PASSWORD} token=$GITHUB_TOKEN secret: {{ vault.secret }} key=$(cat key)",
        "\"password\": {\"type\": \"string\"}, \"token\": null, password: Optional",
        "def login(user, password=None, token: str = \"\"): pass",
        "sk-learn and sk-learn-contrib-extras-for-everyone, pk_orders_20240101123456, rk-4",
        "AKIA is a prefix; AIza too; ghp_ as well; eyJ alone; eyJhbGciOi.x",
        "https://example.com/a/b?c=d#e https://user@example.com ftp://host:21/",
        "std::string token::name; a ? b : c; password::hash()",
        "12:34:56 passed: 12, failed: 0; pass: 12",
        "apikey=load_key(\"name\") apiKey: process.env.OPENAI_API_KEY",
        "cookie: a small sweet biscuit",
        "it is a secret: never shown to anyone; credentials: dict) -> list, tokens: list[str]",
        "prep.headers[\"Authorization\"] = build(user); head->cookie = next; NULL_PASSWORD = 1,",
        "*ret_token = (struct json_token){ 0 }; token = Name.Builtin.Pseudo.Long.One",
        "#define sk_CMS_RevocationInfoChoiceLong_set(sk, i) pk_orders_20240101123456",
        "žluťoučký kůň 日本語 😀 \xff\xfe",
        "the quick-brown_fox-jumps-over-the-lazy-dog-1234567890",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        ASSERT_TEXT(redacted(t, str_from(texts[i])), texts[i]);
}

TEST(redact_key_goes_by_how_a_name_ends)
{
    static const char *const yes[] = { "password",
                                       "Password",
                                       "DB_PASSWORD",
                                       "user-password",
                                       "dbPassword",
                                       "PGPASS",
                                       "db_pass",
                                       "api_key",
                                       "apiKey",
                                       "APIKey",
                                       "X-Api-Key",
                                       "clientSecret",
                                       "secret",
                                       "token",
                                       "authToken",
                                       "GITHUB_TOKEN",
                                       "private_key",
                                       "passphrase",
                                       "Authorization",
                                       "Set-Cookie",
                                       "credentials",
                                       "pwd",
                                       "aws_secret_access_key",
                                       "accessToken",
                                       "csrf_token" };
    static const char *const no[] = {
        "",        "_",      "max_tokens",    "tokens",      "secret_ref",      "pass",
        "compass", "passed", "nextPageToken", "page_token",  "eos_token",       "monkey",
        "key",     "author", "public_key",    "primary_key", "password_policy", "tokenizer",
        "bypass"
    };

    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        if (!redact_key(str_from(yes[i])))
            FAIL("%s is not seen", yes[i]);
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        if (redact_key(str_from(no[i])))
            FAIL("%s is taken for a secret", no[i]);
}

TEST(redact_hides_registered_values_in_all_their_forms)
{
    static const struct example examples[] = {
        { "value p4ss/w\"rd here", "value " M " here" },
        { "xp4ss/w\"rdx", "x" M "x" },
        { "{\"a\":\"p4ss/w\\\"rd\"}", "{\"a\":\"" M "\"}" },
        { "{\"a\":\"p4ss\\/w\\\"rd\"}", "{\"a\":\"" M "\"}" },
        { "q=p4ss%2Fw%22rd&b", "q=" M "&b" },
        { "q=p4ss%2fw%22rd&b", "q=" M "&b" },
        /* base64 of the value, of "u:" + value and of "ab" + value + "!" */
        { "<cDRzcy93InJk>", "<" M ">" },
        { "user=dTpwNHNzL3cicmQ=", "user=dTp" M "Q=" },
        { "it YWJwNHNzL3cicmQh ok", "it YWJ" M "h ok" },
    };

    ASSERT_EQ(redact_register(STR("p4ss/w\"rd")), 0);
    for (size_t i = 0; i < 6; i++)
        ASSERT_TEXT(redacted(t, str_from(examples[i].text)), examples[i].expected);
    for (size_t i = 6; i < ARRAY_LEN(examples); i++) {
        const char *clean = redacted(t, str_from(examples[i].text));

        ASSERT_CONTAINS(clean, M);
        ASSERT(strstr(clean, "NHNzL3") == NULL && strstr(clean, "DRzcy93") == NULL);
    }
    redact_forget(STR("p4ss/w\"rd"));
    ASSERT_TEXT(redacted(t, STR("xp4ss/w\"rdx")), "xp4ss/w\"rdx");
}

TEST(redact_register_counts_uses_and_refuses_what_is_unfit)
{
    char many[32], huge[REDACT_SECRET_MAX + 1];

    memset(huge, 'x', sizeof(huge));
    ASSERT_EQ(redact_register(STR("short")), -1);
    ASSERT_EQ(redact_register(str_of(huge, sizeof(huge))), -1);
    ASSERT_EQ(redact_register(STR("plumtree")), 0);
    ASSERT_EQ(redact_register(STR("plumtree")), 0);
    redact_forget(STR("plumtree"));
    ASSERT_TEXT(redacted(t, STR("a plumtree")), "a " M);
    ASSERT_TEXT(redacted(t, STR("password=plumtree1")), "password=" M);
    ASSERT_TEXT(redacted(t, STR("xplumtreesk-1234567890abcdefghij")), "x" M M);
    redact_forget(STR("plumtree"));
    redact_forget(STR("plumtree"));
    ASSERT_TEXT(redacted(t, STR("a plumtree")), "a plumtree");
    for (int i = 0; i < REDACT_SECRETS_MAX; i++) {
        snprintf(many, sizeof(many), "secret number %d", i);
        ASSERT_EQ(redact_register(str_from(many)), 0);
    }
    ASSERT_EQ(redact_register(STR("one too many")), -1);
    ASSERT_TEXT(redacted(t, STR("secret number 77 and secret number 255")), M " and " M);
    redact_forget_all();
    ASSERT_TEXT(redacted(t, STR("secret number 77")), "secret number 77");
}

TEST(redact_register_survives_a_secret_that_looks_like_the_mark)
{
    ASSERT_EQ(redact_register(STR("REDACTED")), 0);
    ASSERT_EQ(redact_register(STR("x***RED")), 0);
    ASSERT_TEXT(redacted(t, STR("x" M " REDACTED")), "x" M " " M);
    redact_forget_all();
}

TEST(redact_stops_at_the_cap_with_a_redacted_front)
{
    AUTO_BUF out = BUF_INIT(20);

    ASSERT_EQ(redact(STR("password=hunter2 and more words than fit in twenty bytes"), &out), -1);
    ASSERT(strstr(buf_text(&out), "hunter") == NULL);
}

TEST(redact_is_linear_on_hostile_input)
{
    static const char *const pieces[] = {
        "password=(",
        "password={{",
        "://",
        "://a:",
        "-----BEGIN PRIVATE KEY-----!",
        "cookie:",
        "Authorization: ",
        "eyJ.",
        "token=\"",
        "Basic ",
        "Bearer ",
        "%3D",
        "\\",
        "a:AA",
        "sk-",
        "password:\n",
        "secret: |\n ",
        "--token ",
        "*",
        "***REDACTED**",
        "sig=",
        "ghp_a-",
    };

    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        AUTO_BUF text = BUF_INIT(2u << 20);
        AUTO_BUF out = BUF_INIT(16u << 20);
        clock_t start = clock();

        while (text.n < 1u << 20)
            buf_add_text(&text, pieces[i]);
        ASSERT_EQ(redact(buf_str(&text), &out), 0);
        ASSERT(out.n <= 4 * text.n + strlen(M));
        /* CPU time, under sanitizers; quadratic work would take minutes. */
        if (clock() - start > 5 * CLOCKS_PER_SEC)
            FAIL("1 MiB of \"%s\" took %ld ms", pieces[i],
                 (clock() - start) / (CLOCKS_PER_SEC / 1000));
    }
}

TEST(redact_is_idempotent_on_random_mixtures)
{
    static const char *const pieces[] = {
        "password",
        "token",
        "=",
        ":",
        " ",
        "\n",
        "\"",
        "'",
        "\\",
        "a1b2c3d4",
        "://",
        "@",
        "/",
        M,
        "***",
        "Bearer",
        "Authorization",
        "sk-1234567890abcdefgh",
        "eyJhbGciOi",
        ".",
        "%3D",
        "cookie",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "|",
        "${",
        "}",
        ",",
        "--",
        "  ",
        "\\n",
        "(",
        "plumtree",
        "Basic",
        "dTpw",
        "- ",
        "&",
        "sig=",
        "abcdefghijklmnopqrstu",
    };
    struct rand_fake rand;

    rand_fake_init(&rand, 9);
    ASSERT_EQ(redact_register(STR("plumtree")), 0);
    for (int i = 0; i < 60000; i++) {
        AUTO_BUF text = BUF_INIT(10000);
        AUTO_BUF once = BUF_INIT(100000);
        AUTO_BUF twice = BUF_INIT(100000);

        for (size_t n = 1 + rand_below(&rand.rand, 12); n > 0; n--)
            buf_add_text(&text, pieces[rand_below(&rand.rand, ARRAY_LEN(pieces))]);
        ASSERT_EQ(redact(buf_str(&text), &once), 0);
        ASSERT_EQ(redact(buf_str(&once), &twice), 0);
        ASSERT(once.n <= 4 * text.n + strlen(M));
        if (!str_eq(buf_str(&once), buf_str(&twice)))
            FAIL("\"%s\"\n  became \"%s\"\n  then   \"%s\"", buf_text(&text), buf_text(&once),
                 buf_text(&twice));
        ASSERT(strstr(buf_text(&once), "plumtree") == NULL);
    }
    redact_forget_all();
}

TEST(redact_json_goes_by_key_and_by_content)
{
    struct json_object *value = json_tokener_parse(
        "{\"user\":\"ann\",\"password\":\"x\",\"pin\":{\"token\":12345},\"n\":[1,2.5,true,null],"
        "\"credentials\":[\"a\",{\"name\":\"b\"}],\"note\":\"key is sk-1234567890abcdefghij\","
        "\"secret\":null,\"api_key\":\"\",\"has_password\":false}");
    struct json_object *clean = redact_json(value);

    ASSERT_TEXT(json_object_to_json_string_ext(clean, JSON_C_TO_STRING_PLAIN),
                "{\"user\":\"ann\",\"password\":\"" M "\",\"pin\":{\"token\":\"" M
                "\"},\"n\":[1,2.5,true,null],\"credentials\":[\"" M "\",{\"name\":\"b\"}],"
                "\"note\":\"key is " M "\",\"secret\":null,\"api_key\":\"\","
                "\"has_password\":false}");
    ASSERT_CONTAINS(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), "12345");
    json_object_put(clean);
    json_object_put(value);
    ASSERT(redact_json(NULL) == NULL);
}

TEST(redact_json_hides_registered_values_in_names_and_stops_at_depth)
{
    struct json_object *deep = json_object_new_string("deep"), *clean;

    for (int i = 0; i < 200; i++) {
        struct json_object *outer = json_object_new_array();

        json_object_array_add(outer, deep);
        deep = outer;
    }
    clean = redact_json(deep);
    ASSERT_CONTAINS(json_object_to_json_string_ext(clean, JSON_C_TO_STRING_PLAIN), "[[\"" M "\"]");
    json_object_put(clean);
    json_object_put(deep);
    ASSERT_EQ(redact_register(STR("plumtree")), 0);
    deep = json_tokener_parse("{\"plumtree\":\"a plumtree b\"}");
    clean = redact_json(deep);
    ASSERT_TEXT(json_object_to_json_string_ext(clean, JSON_C_TO_STRING_PLAIN),
                "{\"" M "\":\"a " M " b\"}");
    json_object_put(clean);
    json_object_put(deep);
    redact_forget_all();
}

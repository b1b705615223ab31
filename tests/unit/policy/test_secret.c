/* Secrets: the sealed file, its key, and the Secret Service.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/redact.h"
#include "harness/test.h"
#include "policy/secret_int.h"
#include "policy/sodium_lib.h"

#define CANARY "canary-7f3a9b-value"

/* No desktop, no named key. */
static struct secrets *headless(struct test *t)
{
    unsetenv("DBUS_SESSION_BUS_ADDRESS");
    unsetenv("XDG_RUNTIME_DIR");
    unsetenv("SECRET_BACKEND");
    unsetenv("DORMOUSE_MASTER_KEY_FILE");
    return secrets_new(test_dir(t));
}

static void set(struct test *t, struct secrets *secrets, const char *name, const char *value)
{
    ASSERT_OK(secrets_set(secrets, name, str_from(value), &t->err));
}

static const char *get(struct test *t, struct secrets *secrets, const char *name)
{
    struct buf value = BUF_INIT(SECRET_VALUE_MAX);
    const char *text;

    ASSERT_OK(secrets_get(secrets, name, &value, &t->err));
    text = arena_copy(&t->arena, buf_text(&value), value.n);
    secrets_wipe(&value);
    ASSERT(!value.p);
    return text;
}

static void add_name(void *arg, const char *name)
{
    strcat(arg, name);
    strcat(arg, " ");
}

static const char *names(struct test *t, struct secrets *secrets)
{
    char *text = arena_alloc(&t->arena, 40000, 1);

    ASSERT_OK(secrets_list(secrets, add_name, text, &t->err));
    return text;
}

/* ---- the sealed file ---- */

TEST(a_secret_comes_back_and_only_by_its_name)
{
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF out = BUF_INIT(100);

    set(t, secrets, "openai", CANARY);
    ASSERT_TEXT(get(t, secrets, "openai"), CANARY);
    ASSERT_FAILS(secrets_get(secrets, "opena", &out, &t->err), ERR_SECRET_UNAVAILABLE);
    ASSERT_CONTAINS(test_err_text(t), "`dormouse secret set opena`");
    ASSERT_EQ(out.n, 0);
}

TEST(an_unset_secret_is_unavailable_and_makes_no_file)
{
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF out = BUF_INIT(100);

    ASSERT_FAILS(secrets_get(secrets, "a", &out, &t->err), ERR_SECRET_UNAVAILABLE);
    ASSERT_FAILS(secrets_remove(secrets, "a", &t->err), ERR_NOT_FOUND);
    ASSERT_TEXT(names(t, secrets), "");
    ASSERT(access(test_path(t, "secrets"), F_OK) < 0);
    ASSERT(access(test_path(t, "secrets.key"), F_OK) < 0);
}

TEST(setting_replaces_and_names_are_in_order)
{
    AUTO(secrets) secrets = headless(t);

    set(t, secrets, "m", "1");
    set(t, secrets, "z", "2");
    set(t, secrets, "a", "3");
    set(t, secrets, "m", "a much longer value than before");
    ASSERT_TEXT(names(t, secrets), "a m z ");
    ASSERT_TEXT(get(t, secrets, "a"), "3");
    ASSERT_TEXT(get(t, secrets, "m"), "a much longer value than before");
    ASSERT_TEXT(get(t, secrets, "z"), "2");
    set(t, secrets, "a", "short");
    set(t, secrets, "z", "s");
    ASSERT_TEXT(names(t, secrets), "a m z ");
    ASSERT_TEXT(get(t, secrets, "a"), "short");
    ASSERT_TEXT(get(t, secrets, "m"), "a much longer value than before");
}

TEST(removing_leaves_the_others)
{
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF out = BUF_INIT(100);

    set(t, secrets, "a", "1");
    set(t, secrets, "b", "2");
    set(t, secrets, "c", "3");
    ASSERT_OK(secrets_remove(secrets, "b", &t->err));
    ASSERT_TEXT(names(t, secrets), "a c ");
    ASSERT_FAILS(secrets_get(secrets, "b", &out, &t->err), ERR_SECRET_UNAVAILABLE);
    ASSERT_FAILS(secrets_remove(secrets, "b", &t->err), ERR_NOT_FOUND);
    ASSERT_OK(secrets_remove(secrets, "a", &t->err));
    ASSERT_OK(secrets_remove(secrets, "c", &t->err));
    ASSERT_TEXT(names(t, secrets), "");
    set(t, secrets, "a", "again");
    ASSERT_TEXT(get(t, secrets, "a"), "again");
}

TEST(another_process_s_view_is_the_same)
{
    AUTO(secrets) secrets = headless(t);
    AUTO(secrets) other = secrets_new(test_dir(t));

    set(t, secrets, "a", "1");
    set(t, other, "b", "2");
    ASSERT_TEXT(names(t, secrets), "a b ");
}

TEST(the_files_hold_neither_name_nor_value_and_are_the_owner_s_alone)
{
    AUTO(secrets) secrets = headless(t);
    struct stat st;
    struct str bytes;

    set(t, secrets, "openai-production", CANARY);
    bytes = test_read_file(t, test_path(t, "secrets"));
    ASSERT(str_starts(bytes, STR("dormouse secrets 1\n")));
    ASSERT(str_find(bytes, STR(CANARY)) < 0);
    ASSERT(str_find(bytes, STR("openai")) < 0);
    ASSERT_EQ(stat(test_path(t, "secrets"), &st), 0);
    ASSERT_EQ(st.st_mode & 07777, 0600);
    ASSERT_EQ(stat(test_path(t, "secrets.key"), &st), 0);
    ASSERT_EQ(st.st_mode & 07777, 0600);
    ASSERT_EQ(st.st_size, 65);
}

TEST(the_same_secrets_never_look_the_same_twice)
{
    AUTO(secrets) secrets = headless(t);
    struct str first, second;

    set(t, secrets, "a", CANARY);
    first = test_read_file(t, test_path(t, "secrets"));
    set(t, secrets, "a", CANARY);
    second = test_read_file(t, test_path(t, "secrets"));
    ASSERT_EQ(first.n, second.n);
    ASSERT(memcmp(first.p + 19, second.p + 19, 24) != 0);
    ASSERT(memcmp(first.p + 43, second.p + 43, first.n - 43) != 0);
}

TEST(every_altered_byte_is_noticed_and_the_file_left_alone)
{
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF out = BUF_INIT(100);
    struct str bytes, after;
    char *altered;

    set(t, secrets, "a", "1");
    bytes = test_read_file(t, test_path(t, "secrets"));
    altered = arena_copy(&t->arena, bytes.p, bytes.n);
    for (size_t i = 0; i < bytes.n; i++) {
        altered[i] ^= 0x40;
        test_write_file(test_path(t, "secrets"), altered, bytes.n);
        ASSERT_FAILS(secrets_get(secrets, "a", &out, &t->err), ERR_INTEGRITY_FAILED);
        ASSERT_FAILS(secrets_set(secrets, "b", STR("x"), &t->err), ERR_INTEGRITY_FAILED);
        ASSERT_FAILS(secrets_remove(secrets, "a", &t->err), ERR_INTEGRITY_FAILED);
        after = test_read_file(t, test_path(t, "secrets"));
        ASSERT(str_eq(after, str_of(altered, bytes.n)));
        altered[i] ^= 0x40;
    }
    for (size_t n = 0; n < bytes.n; n++) {
        test_write_file(test_path(t, "secrets"), bytes.p, n);
        ASSERT_FAILS(secrets_get(secrets, "a", &out, &t->err), ERR_INTEGRITY_FAILED);
    }
}

TEST(a_wrong_key_says_so_and_destroys_nothing)
{
    AUTO(secrets) secrets = headless(t);
    struct str before;
    char other[66];

    set(t, secrets, "a", CANARY);
    before = test_read_file(t, test_path(t, "secrets"));
    memset(other, '7', 64);
    other[64] = '\n';
    test_write_file(test_path(t, "other.key"), other, 65);
    chmod(test_path(t, "other.key"), 0600);
    setenv("DORMOUSE_MASTER_KEY_FILE", test_path(t, "other.key"), 1);
    ASSERT_FAILS(secrets_set(secrets, "a", STR("x"), &t->err), ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "the key is another one");
    ASSERT(str_eq(test_read_file(t, test_path(t, "secrets")), before));
    unsetenv("DORMOUSE_MASTER_KEY_FILE");
    ASSERT_TEXT(get(t, secrets, "a"), CANARY);
}

TEST(a_lost_key_is_not_replaced_by_a_new_one)
{
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF out = BUF_INIT(100);

    set(t, secrets, "a", CANARY);
    ASSERT_EQ(rename(test_path(t, "secrets.key"), test_path(t, "kept")), 0);
    ASSERT_FAILS(secrets_get(secrets, "a", &out, &t->err), ERR_SECRET_UNAVAILABLE);
    ASSERT_FAILS(secrets_set(secrets, "b", STR("x"), &t->err), ERR_SECRET_UNAVAILABLE);
    ASSERT_CONTAINS(test_err_text(t), "put the key back");
    ASSERT(access(test_path(t, "secrets.key"), F_OK) < 0);
    ASSERT_EQ(rename(test_path(t, "kept"), test_path(t, "secrets.key")), 0);
    ASSERT_TEXT(get(t, secrets, "a"), CANARY);
}

TEST(a_named_key_is_used_and_never_made)
{
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF where = BUF_INIT(10000);

    setenv("DORMOUSE_MASTER_KEY_FILE", test_path(t, "my.key"), 1);
    ASSERT_FAILS(secrets_set(secrets, "a", STR("x"), &t->err), ERR_SECRET_UNAVAILABLE);
    ASSERT_CONTAINS(test_err_text(t), "openssl rand -hex 32");
    ASSERT(access(test_path(t, "my.key"), F_OK) < 0);
    test_write_file(test_path(t, "my.key"),
                    "00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff", 64);
    chmod(test_path(t, "my.key"), 0400);
    set(t, secrets, "a", "x");
    ASSERT_TEXT(get(t, secrets, "a"), "x");
    ASSERT(access(test_path(t, "secrets.key"), F_OK) < 0);
    ASSERT_OK(secrets_where(secrets, &where, &t->err));
    ASSERT_CONTAINS(buf_text(&where), "sealed file ");
    ASSERT_CONTAINS(buf_text(&where), "/my.key");
}

TEST(a_key_file_that_others_can_use_is_refused)
{
    static const mode_t modes[] = { 0640, 0604, 0660, 0666, 0610, 0601, 0620 };
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF out = BUF_INIT(100);

    set(t, secrets, "a", "1");
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        chmod(test_path(t, "secrets.key"), modes[i]);
        ASSERT_FAILS(secrets_get(secrets, "a", &out, &t->err), ERR_SECRET_UNAVAILABLE);
        ASSERT_CONTAINS(test_err_text(t), "chmod 600");
    }
    chmod(test_path(t, "secrets.key"), 0400);
    ASSERT_TEXT(get(t, secrets, "a"), "1");
}

TEST(a_key_file_of_someone_else_is_refused)
{
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF out = BUF_INIT(100);

    if (geteuid() != 0)
        SKIP("only root can give files away");
    set(t, secrets, "a", "1");
    ASSERT_EQ(chown(test_path(t, "secrets.key"), 65534, 65534), 0);
    ASSERT_FAILS(secrets_get(secrets, "a", &out, &t->err), ERR_SECRET_UNAVAILABLE);
    ASSERT_CONTAINS(test_err_text(t), "belongs to user 65534");
}

TEST(key_files_that_hold_no_key_are_refused)
{
    static const char *const texts[] = {
        "",
        "\n",
        "short\n",
        "0011223344556677889900aabbccddeeff0011223344556677889900aabbccdd\nmore",
        "0011223344556677889900aabbccddeeff0011223344556677889900aabbccd",
        "zz11223344556677889900aabbccddeeff0011223344556677889900aabbccdd",
    };
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF out = BUF_INIT(100);

    set(t, secrets, "a", "1");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        test_write_file(test_path(t, "secrets.key"), texts[i], strlen(texts[i]));
        ASSERT_FAILS(secrets_get(secrets, "a", &out, &t->err), ERR_SECRET_UNAVAILABLE);
        ASSERT_CONTAINS(test_err_text(t), "64 hexadecimal digits");
    }
}

TEST(a_key_that_is_a_pipe_or_directory_does_not_hang)
{
    AUTO(secrets) secrets = headless(t);

    setenv("DORMOUSE_MASTER_KEY_FILE", test_path(t, "pipe"), 1);
    ASSERT_EQ(mkfifo(test_path(t, "pipe"), 0600), 0);
    ASSERT_FAILS(secrets_set(secrets, "a", STR("x"), &t->err), ERR_SECRET_UNAVAILABLE);
    setenv("DORMOUSE_MASTER_KEY_FILE", test_dir(t), 1);
    ASSERT_FAILS(secrets_set(secrets, "a", STR("x"), &t->err), ERR_SECRET_UNAVAILABLE);
}

TEST(a_data_directory_that_is_not_there_is_an_error)
{
    AUTO(secrets) secrets = headless(t);
    AUTO(secrets) gone = secrets_new(test_path(t, "no/where"));

    ASSERT_FAILS(secrets_set(gone, "a", STR("x"), &t->err), ERR_STORAGE_FAILED);
    (void)secrets;
}

TEST(a_sealed_file_that_can_t_be_read_is_an_error_and_left_alone)
{
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF out = BUF_INIT(100);
    char text[1];

    set(t, secrets, "a", "1");
    ASSERT_EQ(unlink(test_path(t, "secrets")), 0);
    ASSERT_EQ(mkdir(test_path(t, "secrets"), 0700), 0);
    ASSERT(secrets_get(secrets, "a", &out, &t->err) < 0);
    ASSERT_CONTAINS(test_err_text(t), test_path(t, "secrets"));
    t->err = ERR_INIT;
    ASSERT(secrets_set(secrets, "a", STR("2"), &t->err) < 0);
    t->err = ERR_INIT;
    ASSERT(secrets_list(secrets, add_name, text, &t->err) < 0);
    ASSERT_EQ(rmdir(test_path(t, "secrets")), 0);
    set(t, secrets, "a", "3"); /* with the key that was there */
    ASSERT_TEXT(get(t, secrets, "a"), "3");
}

/* Seals any bytes with the key that is there, as only its owner can. */
static void seal(struct test *t, struct str plain)
{
    static const char head[] = "dormouse secrets 1\n";
    static const uint8_t nonce[crypto_aead_xchacha20poly1305_ietf_NPUBBYTES];
    AUTO_BUF file = BUF_INIT(1 << 20);
    uint8_t key[SECRET_KEY_BYTES];
    unsigned long long n;
    char *end;

    ASSERT_OK(
        hex_decode(str_take(test_read_file(t, test_path(t, "secrets.key")), 64), key, sizeof(key)));
    ASSERT_OK(sodium_lib_load(&t->err));
    buf_add_text(&file, head);
    buf_add(&file, nonce, sizeof(nonce));
    end = buf_reserve(&file, plain.n + crypto_aead_xchacha20poly1305_ietf_ABYTES);
    na.crypto_aead_xchacha20poly1305_ietf_encrypt((uint8_t *)end, &n, (const uint8_t *)plain.p,
                                                  plain.n, (const uint8_t *)head, strlen(head),
                                                  NULL, nonce, key);
    buf_grown(&file, (size_t)n);
    test_write_file(test_path(t, "secrets"), file.p, file.n);
}

TEST(a_sealed_file_whose_records_lead_nowhere_is_refused_and_left_alone)
{
    static const struct str plains[] = {
        { "\0", 1 },                    /* no name */
        { "\1", 1 },                    /* a name behind the end */
        { "\1a", 2 },                   /* no length of a value */
        { "\1a\5", 3 },                 /* half of one */
        { "\1a\5\0xxxx", 8 },           /* a value that ends too early */
        { "\1a\1\0x\1b\377\377x", 10 }, /* the second one */
        { "\377a\1\0x", 5 },
    };
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF many = BUF_INIT(1 << 16), out = BUF_INIT(100);
    char text[100] = "";
    struct str before;

    set(t, secrets, "a", "1");
    for (int i = 0; i <= SECRET_COUNT_MAX; i++)
        buf_add(&many, "\1a\1\0x", 5);
    for (size_t i = 0; i <= ARRAY_LEN(plains); i++) {
        seal(t, i < ARRAY_LEN(plains) ? plains[i] : buf_str(&many));
        before = test_read_file(t, test_path(t, "secrets"));
        ASSERT_FAILS(secrets_get(secrets, "a", &out, &t->err), ERR_INTEGRITY_FAILED);
        ASSERT_CONTAINS(test_err_text(t), "holds no list of secrets");
        ASSERT_FAILS(secrets_set(secrets, "b", STR("2"), &t->err), ERR_INTEGRITY_FAILED);
        ASSERT_FAILS(secrets_list(secrets, add_name, text, &t->err), ERR_INTEGRITY_FAILED);
        ASSERT(str_eq(test_read_file(t, test_path(t, "secrets")), before));
        ASSERT_TEXT(text, "");
    }
    many.n -= 5;
    seal(t, buf_str(&many)); /* as many as there may be */
    ASSERT_TEXT(get(t, secrets, "a"), "x");
    seal(t, STR(""));
    ASSERT_TEXT(names(t, secrets), "");
}

TEST(names_and_values_are_checked)
{
    static const char *const bad[] = {
        "", "-a", ".a", "_a", "a b", "a/b", "a\n", "é", "a=b", "a:b"
    };
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF out = BUF_INIT(100);
    char *big = arena_alloc(&t->arena, SECRET_VALUE_MAX + 2, 1);
    char name[SECRET_NAME_MAX + 2];

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ASSERT_FAILS(secrets_set(secrets, bad[i], STR("x"), &t->err), ERR_BAD_REQUEST);
        ASSERT_FAILS(secrets_get(secrets, bad[i], &out, &t->err), ERR_BAD_REQUEST);
        ASSERT_FAILS(secrets_remove(secrets, bad[i], &t->err), ERR_BAD_REQUEST);
    }
    memset(name, 'n', sizeof(name));
    name[SECRET_NAME_MAX + 1] = '\0';
    ASSERT_FAILS(secrets_set(secrets, name, STR("x"), &t->err), ERR_BAD_REQUEST);
    name[SECRET_NAME_MAX] = '\0';
    memset(big, 'v', SECRET_VALUE_MAX + 1);
    ASSERT_FAILS(secrets_set(secrets, "a", str_from(big), &t->err), ERR_TOO_LARGE);
    ASSERT_FAILS(secrets_set(secrets, "a", STR(""), &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(secrets_set(secrets, "a", str_of("a\0b", 3), &t->err), ERR_BAD_REQUEST);
    big[SECRET_VALUE_MAX] = '\0';
    set(t, secrets, name, big);
    ASSERT_TEXT(get(t, secrets, name), big);
    ASSERT_FAILS(secrets_get(secrets, name, &out, &t->err), ERR_TOO_LARGE);
}

TEST(the_sealed_file_has_a_cap)
{
    AUTO(secrets) secrets = headless(t);
    char name[16];

    for (int i = 0; i < SECRET_COUNT_MAX; i++) {
        snprintf(name, sizeof(name), "n%03d", i);
        set(t, secrets, name, "x");
    }
    ASSERT_FAILS(secrets_set(secrets, "more", STR("x"), &t->err), ERR_TOO_LARGE);
    set(t, secrets, "n100", "may be replaced");
    ASSERT_TEXT(get(t, secrets, "n100"), "may be replaced");
    ASSERT_TEXT(get(t, secrets, "n255"), "x");
}

TEST(writers_at_the_same_time_lose_nothing)
{
    AUTO(secrets) secrets = headless(t);
    char name[16];
    int status;

    for (int child = 0; child < 4; child++)
        if (fork() == 0) {
            for (int i = 0; i < 8; i++) {
                snprintf(name, sizeof(name), "c%d-%d", child, i);
                if (secrets_set(secrets, name, STR("x"), NULL) < 0)
                    _exit(1);
            }
            _exit(0);
        }
    for (int child = 0; child < 4; child++) {
        ASSERT(wait(&status) > 0);
        ASSERT_EQ(status, 0);
    }
    ASSERT_EQ(strlen(names(t, secrets)), 4 * 8 * 5);
}

TEST(values_are_redacted_from_then_on)
{
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF out = BUF_INIT(1000);

    set(t, secrets, "a", CANARY);
    redact_forget_all();
    redact(STR("it is " CANARY "!"), &out);
    ASSERT_CONTAINS(buf_text(&out), CANARY);
    buf_clear(&out);
    get(t, secrets, "a");
    redact(STR("it is " CANARY "!"), &out);
    ASSERT(!strstr(buf_text(&out), CANARY));
}

TEST(a_sealed_value_can_be_known_before_its_use)
{
    AUTO(secrets) secrets = headless(t);
    AUTO_BUF out = BUF_INIT(1000);

    secrets_recognise(secrets, "a");
    secrets_recognise(secrets, "../a");
    ASSERT(access(test_path(t, "secrets.key"), F_OK) < 0);
    set(t, secrets, "a", CANARY);
    redact_forget_all();
    secrets_recognise(secrets, "b");
    redact(STR("it is " CANARY "!"), &out);
    ASSERT_CONTAINS(buf_text(&out), CANARY);
    buf_clear(&out);
    secrets_recognise(secrets, "a");
    redact(STR("it is " CANARY "!"), &out);
    ASSERT(!strstr(buf_text(&out), CANARY));
}

TEST(no_memory_to_lock_is_no_reason_to_fail)
{
    AUTO(secrets) secrets = headless(t);
    struct rlimit none = { 0, 0 };

    setrlimit(RLIMIT_MEMLOCK, &none);
    set(t, secrets, "a", "1");
    ASSERT_TEXT(get(t, secrets, "a"), "1");
}

/* ---- the Secret Service ---- */

/* libsecret's file backend leaks the entity tag of every write. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libglib-2.0.so\n";
}

/* libsecret with its own file instead of a bus: the same calls, no desktop. */
static struct secrets *desktop(struct test *t)
{
    struct secrets *secrets = headless(t);

    setenv("SECRET_BACKEND", "file", 1);
    setenv("SECRET_FILE_TEST_PASSWORD", "x", 1);
    setenv("SECRET_FILE_TEST_PATH", test_path(t, "keyring"), 1);
    return secrets;
}

TEST(the_secret_service_comes_first)
{
    AUTO(secrets) secrets = desktop(t);
    AUTO_BUF where = BUF_INIT(10000);

    set(t, secrets, "b", CANARY);
    set(t, secrets, "a", "1");
    ASSERT_TEXT(get(t, secrets, "b"), CANARY);
    ASSERT_TEXT(names(t, secrets), "a b ");
    ASSERT(access(test_path(t, "secrets"), F_OK) < 0);
    ASSERT_EQ(access(test_path(t, "keyring"), F_OK), 0);
    ASSERT_OK(secrets_where(secrets, &where, &t->err));
    ASSERT_CONTAINS(buf_text(&where), "Secret Service");
    ASSERT_OK(secrets_remove(secrets, "b", &t->err));
    ASSERT_FAILS(secrets_remove(secrets, "b", &t->err), ERR_NOT_FOUND);
    ASSERT_TEXT(names(t, secrets), "a ");
    set(t, secrets, "a", "2");
    ASSERT_TEXT(get(t, secrets, "a"), "2");
    ASSERT_TEXT(names(t, secrets), "a ");
}

TEST(two_data_directories_do_not_share_secrets)
{
    AUTO(secrets) secrets = desktop(t);
    AUTO(secrets) other = secrets_new(test_path(t, "other"));
    AUTO_BUF out = BUF_INIT(100);

    set(t, secrets, "a", "1");
    ASSERT_FAILS(secrets_get(other, "a", &out, &t->err), ERR_SECRET_UNAVAILABLE);
    ASSERT_TEXT(names(t, other), "");
    ASSERT_FAILS(secrets_remove(other, "a", &t->err), ERR_NOT_FOUND);
    ASSERT_TEXT(get(t, secrets, "a"), "1");
}

TEST(what_was_sealed_without_a_desktop_is_found_with_one_and_moves_there_when_set)
{
    AUTO(secrets) secrets = headless(t);
    AUTO(secrets) later = NULL;

    set(t, secrets, "a", "sealed");
    set(t, secrets, "b", "sealed too");
    later = desktop(t);
    ASSERT_TEXT(get(t, later, "a"), "sealed");
    set(t, later, "a", "kept");
    ASSERT_TEXT(get(t, later, "a"), "kept");
    ASSERT_TEXT(names(t, later), "a b ");
    unsetenv("SECRET_BACKEND");
    ASSERT_TEXT(names(t, secrets), "b ");
}

TEST(a_value_set_while_the_desktop_was_away_is_not_undone_when_it_comes_back)
{
    AUTO(secrets) secrets = desktop(t);
    AUTO(secrets) away = NULL;
    AUTO(secrets) back = NULL;

    set(t, secrets, "a", "leaked");
    unsetenv("SECRET_BACKEND");
    away = secrets_new(test_dir(t));
    set(t, away, "a", "rotated");
    back = desktop(t);
    ASSERT_TEXT(get(t, back, "a"), "rotated");
    ASSERT_TEXT(names(t, back), "a ");
    ASSERT_OK(secrets_remove(back, "a", &t->err));
    ASSERT_TEXT(names(t, back), "");
}

TEST(a_sealed_file_that_does_not_open_leaves_the_desktop_s_secrets_in_reach)
{
    AUTO(secrets) secrets = desktop(t);
    AUTO_BUF out = BUF_INIT(100);

    set(t, secrets, "a", "1");
    test_write_file(test_path(t, "secrets"), "not sealed", 10);
    ASSERT_TEXT(get(t, secrets, "a"), "1");
    ASSERT_FAILS(secrets_get(secrets, "b", &out, &t->err), ERR_SECRET_UNAVAILABLE);
    ASSERT_EQ(out.n, 0);
}

TEST(a_named_key_leaves_the_secret_service_alone)
{
    AUTO(secrets) secrets = desktop(t);

    test_write_file(test_path(t, "my.key"),
                    "00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff", 64);
    chmod(test_path(t, "my.key"), 0600);
    setenv("DORMOUSE_MASTER_KEY_FILE", test_path(t, "my.key"), 1);
    set(t, secrets, "a", "x");
    ASSERT(access(test_path(t, "keyring"), F_OK) < 0);
    ASSERT_EQ(access(test_path(t, "secrets"), F_OK), 0);
}

TEST(a_bus_without_an_answer_falls_back_to_the_sealed_file_in_time)
{
    AUTO(secrets) secrets = headless(t);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int64_t began = clock_mono_ms(clock_system());
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char bus[200];

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", test_path(t, "bus"));
    ASSERT_EQ(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    ASSERT_EQ(listen(fd, 5), 0);
    snprintf(bus, sizeof(bus), "unix:path=%s", address.sun_path);
    setenv("DBUS_SESSION_BUS_ADDRESS", bus, 1);
    set(t, secrets, "a", "1");
    ASSERT_TEXT(get(t, secrets, "a"), "1");
    ASSERT_EQ(access(test_path(t, "secrets"), F_OK), 0);
    ASSERT(clock_mono_ms(clock_system()) - began < 15000);
    close(fd);
}

TEST(a_bus_that_is_not_there_falls_back_at_once)
{
    AUTO(secrets) secrets = headless(t);

    setenv("XDG_RUNTIME_DIR", test_dir(t), 1);
    test_write_file(test_path(t, "bus"), "", 0);
    set(t, secrets, "a", "1");
    ASSERT_TEXT(get(t, secrets, "a"), "1");
    ASSERT_EQ(access(test_path(t, "secrets"), F_OK), 0);
}

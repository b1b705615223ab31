/* The sealed file: all secrets in one authenticated box, replaced whole.
 *
 *     "dormouse secrets 1\n" | nonce, 24 bytes | XChaCha20-Poly1305 of the records
 *
 * The first line is authenticated with the rest. A record is a byte for the length of the name, the
 * name, two bytes (low first) for the length of the value, the value; records are ordered by name.
 * The nonce is random at every write: at 192 bits they do not meet. What is open lies in memory of
 * libsodium's own kind (locked where the system lets us, left out of core dumps, between guard
 * pages, wiped when freed), and a file that can't be opened is never written over.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/rand.h"
#include "policy/secret_int.h"
#include "policy/sodium_lib.h"

#define HEAD        "dormouse secrets 1\n"
#define HEAD_BYTES  (sizeof(HEAD) - 1)
#define NONCE_BYTES crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define TAG_BYTES   crypto_aead_xchacha20poly1305_ietf_ABYTES
#define OVERHEAD    (HEAD_BYTES + NONCE_BYTES + TAG_BYTES)
#define RECORD_MAX  (1 + SECRET_NAME_MAX + 2 + SECRET_VALUE_MAX)
#define PLAIN_MAX   ((size_t)SECRET_COUNT_MAX * RECORD_MAX)
#define LOCK_MS     5000

_Static_assert(SECRET_KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "key size");

/* The records in the open. */
struct box {
    uint8_t *p; /* sodium_malloc; NULL before box_alloc() */
    size_t n;
};

static void box_release(struct box *box)
{
    if (box->p)
        na.sodium_free(box->p);
    box->p = NULL;
}
#define AUTO_BOX __attribute__((cleanup(box_release))) struct box

static int box_alloc(struct box *box, size_t n, struct err *err)
{
    box->n = n;
    box->p = na.sodium_malloc(n ? n : 1);
    if (!box->p)
        return err_set(err, ERR_INTERNAL, "no memory for secrets: %s", strerror(errno));
    return 0;
}

/* ---- records ---- */

struct record {
    struct str name, value;
    size_t at, n; /* in the box */
};

/* The record at *at, which moves past it. False at the end; a length that leads out of the box is
 * *ret_bad: only somebody with the key could have written it. */
static bool next_record(const struct box *box, size_t *at, struct record *ret, bool *ret_bad)
{
    const char *p = (const char *)box->p + *at;
    size_t left = box->n - *at, name, value;

    if (left == 0)
        return false;
    name = box->p[*at];
    *ret_bad = left < 1 + name + 2 || name == 0 || name > SECRET_NAME_MAX;
    if (*ret_bad)
        return false;
    value = box->p[*at + 1 + name] | (size_t)box->p[*at + 2 + name] << 8;
    *ret_bad = left < 3 + name + value;
    if (*ret_bad)
        return false;
    *ret =
        (struct record){ str_of(p + 1, name), str_of(p + 3 + name, value), *at, 3 + name + value };
    *at += ret->n;
    return true;
}

static int check_records(const struct box *box, struct err *err)
{
    struct record record;
    size_t at = 0, count = 0;
    bool bad = false;

    while (next_record(box, &at, &record, &bad))
        count++;
    if (bad || count > SECRET_COUNT_MAX)
        return err_set(err, ERR_INTEGRITY_FAILED, "the sealed file holds no list of secrets");
    return 0;
}

static bool find_record(const struct box *box, const char *name, struct record *ret)
{
    size_t at = 0;
    bool bad;

    while (next_record(box, &at, ret, &bad))
        if (str_is(ret->name, name))
            return true;
    return false;
}

/* ---- the file ---- */

struct sealed {
    char path[LIMIT_PATH_BYTES];
    uint8_t key[SECRET_KEY_BYTES];
    int key_fd;
};

static void sealed_release(struct sealed *sealed)
{
    explicit_bzero(sealed->key, sizeof(sealed->key));
    file_close_auto(&sealed->key_fd);
}
#define AUTO_SEALED __attribute__((cleanup(sealed_release))) struct sealed

/* Whoever writes holds the key file's lock from reading to replacing. */
static int lock(int fd, struct err *err)
{
    static const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };

    for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; waited += 10) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_set(err, ERR_STORAGE_FAILED, "lock the key file: %s", strerror(errno));
        if (waited >= LOCK_MS)
            return err_set(err, ERR_CONFLICT,
                           "another process has been changing the secrets for "
                           "5 seconds; try again");
        nanosleep(&pause, NULL);
    }
    return 0;
}

static int sealed_open(struct sealed *sealed, const char *data_dir, bool write, struct err *err)
{
    secret_file_path(data_dir, sealed->path, sizeof(sealed->path));
    if (sodium_lib_load(err) < 0 ||
        secret_key_load(data_dir, write, sealed->key, &sealed->key_fd, err) < 0)
        return -1;
    return write ? lock(sealed->key_fd, err) : 0;
}

static int unseal(const struct sealed *sealed, struct str bytes, struct box *ret_box,
                  struct err *err)
{
    const uint8_t *p = (const uint8_t *)bytes.p;
    size_t n = bytes.n - OVERHEAD;
    unsigned long long used = 0;

    if (bytes.n < OVERHEAD || memcmp(p, HEAD, HEAD_BYTES) != 0)
        return err_set(err, ERR_INTEGRITY_FAILED,
                       "%s is not a file of sealed secrets; it was left "
                       "as it is",
                       sealed->path);
    if (box_alloc(ret_box, n, err) < 0)
        return -1;
    if (na.crypto_aead_xchacha20poly1305_ietf_decrypt(
            ret_box->p, &used, NULL, p + HEAD_BYTES + NONCE_BYTES, n + TAG_BYTES, p, HEAD_BYTES,
            p + HEAD_BYTES, sealed->key) != 0)
        return err_set(err, ERR_INTEGRITY_FAILED,
                       "%s does not open with this key: the key is another one, or the file was "
                       "altered; it was left as it is",
                       sealed->path);
    return check_records(ret_box, err);
}

/* An absent file is an empty box. */
static int sealed_read(const struct sealed *sealed, struct box *ret_box, struct err *err)
{
    AUTO_BUF bytes = BUF_INIT(PLAIN_MAX + OVERHEAD);
    struct err why = ERR_INIT;

    if (file_read(sealed->path, &bytes, &why) == 0)
        return unseal(sealed, buf_str(&bytes), ret_box, err);
    if (why.code == ERR_NOT_FOUND)
        return box_alloc(ret_box, 0, err);
    if (err)
        *err = why;
    return -1;
}

static int sealed_write(const struct sealed *sealed, const struct box *box, struct err *err)
{
    AUTO_BUF bytes = BUF_INIT(PLAIN_MAX + OVERHEAD);
    uint8_t nonce[NONCE_BYTES];
    unsigned long long used;
    char *end;

    rand_fill(rand_system(), nonce, sizeof(nonce));
    buf_add(&bytes, HEAD, HEAD_BYTES);
    buf_add(&bytes, nonce, sizeof(nonce));
    end = buf_reserve(&bytes, box->n + TAG_BYTES);
    BUG_IF(!end);
    na.crypto_aead_xchacha20poly1305_ietf_encrypt((uint8_t *)end, &used, box->p, box->n,
                                                  (const uint8_t *)HEAD, HEAD_BYTES, NULL, nonce,
                                                  sealed->key);
    buf_grown(&bytes, (size_t)used);
    return file_write_atomic(sealed->path, buf_str(&bytes), 0600, err);
}

/* ---- changing ---- */

static size_t put(uint8_t *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    return n;
}

/* Where a record of this name belongs. */
static size_t place_of(const struct box *box, const char *name)
{
    struct record record;
    size_t at = 0, place = 0;
    bool bad;

    while (next_record(box, &at, &record, &bad) && str_cmp(record.name, str_from(name)) < 0)
        place = at;
    return place;
}

/* The old records with the one of this name left out, and put in anew when value is not empty. */
static int rebuilt(const struct box *old, const char *name, struct str value, struct box *ret_box,
                   struct err *err)
{
    size_t name_n = strlen(name), place = place_of(old, name), out = 0;
    struct record gone = { .at = place };
    size_t after;

    BUG_IF(!old->p);
    if (!find_record(old, name, &gone))
        gone = (struct record){ .at = place };
    after = gone.at + gone.n;
    if (box_alloc(ret_box, old->n - gone.n + (value.n ? 3 + name_n + value.n : 0), err) < 0)
        return -1;
    BUG_IF(!ret_box->p);
    if (gone.at)
        out += put(ret_box->p, old->p, gone.at);
    if (value.n) {
        ret_box->p[out++] = (uint8_t)name_n;
        out += put(ret_box->p + out, name, name_n);
        ret_box->p[out++] = (uint8_t)value.n;
        ret_box->p[out++] = (uint8_t)(value.n >> 8);
        out += put(ret_box->p + out, value.p, value.n);
    }
    if (old->n > after)
        put(ret_box->p + out, old->p + after, old->n - after);
    return 0;
}

static size_t count(const struct box *box)
{
    struct record record;
    size_t at = 0, n = 0;
    bool bad;

    while (next_record(box, &at, &record, &bad))
        n++;
    return n;
}

/* 1 when the name was there before. */
static int change(const char *data_dir, const char *name, struct str value, struct err *err)
{
    AUTO_SEALED sealed = { .key_fd = -1 };
    AUTO_BOX old = { NULL, 0 }, new = { NULL, 0 };
    struct record record;
    bool known;

    if (sealed_open(&sealed, data_dir, true, err) < 0 || sealed_read(&sealed, &old, err) < 0)
        return -1;
    known = find_record(&old, name, &record);
    if (!known && value.n == 0)
        return 0;
    if (!known && count(&old) == SECRET_COUNT_MAX)
        return err_set(err, ERR_TOO_LARGE, "the sealed file holds %d secrets already",
                       SECRET_COUNT_MAX);
    if (rebuilt(&old, name, value, &new, err) < 0 || sealed_write(&sealed, &new, err) < 0)
        return -1;
    return known;
}

/* ---- the store ---- */

static bool file_present(const char *data_dir)
{
    char path[LIMIT_PATH_BYTES];

    secret_file_path(data_dir, path, sizeof(path));
    return access(path, F_OK) == 0;
}

static int file_where(const char *data_dir, struct buf *out, struct err *err)
{
    char path[LIMIT_PATH_BYTES], key[LIMIT_PATH_BYTES];

    (void)err;
    secret_file_path(data_dir, path, sizeof(path));
    secret_key_path(data_dir, key, sizeof(key));
    buf_printf(out, "sealed file %s with key %s", path, key);
    return 0;
}

static int file_set(const char *data_dir, const char *name, struct str value, struct err *err)
{
    return change(data_dir, name, value, err) < 0 ? -1 : 0;
}

static int file_remove(const char *data_dir, const char *name, struct err *err)
{
    return change(data_dir, name, STR_NONE, err);
}

static int file_get(const char *data_dir, const char *name, struct buf *out, struct err *err)
{
    AUTO_SEALED sealed = { .key_fd = -1 };
    AUTO_BOX box = { NULL, 0 };
    struct record record;

    if (sealed_open(&sealed, data_dir, false, err) < 0 || sealed_read(&sealed, &box, err) < 0)
        return -1;
    if (!find_record(&box, name, &record))
        return 0;
    return secret_append(out, record.value, err) < 0 ? -1 : 1;
}

static int file_list(const char *data_dir, void (*fn)(void *arg, const char *name), void *arg,
                     struct err *err)
{
    AUTO_SEALED sealed = { .key_fd = -1 };
    AUTO_BOX box = { NULL, 0 };
    char name[SECRET_NAME_MAX + 1];
    struct record record;
    size_t at = 0;
    bool bad;

    if (sealed_open(&sealed, data_dir, false, err) < 0 || sealed_read(&sealed, &box, err) < 0)
        return -1;
    while (next_record(&box, &at, &record, &bad)) {
        memcpy(name, record.name.p, record.name.n);
        name[record.name.n] = '\0';
        fn(arg, name);
    }
    return 0;
}

const struct secret_store secret_sealed = {
    .present = file_present,
    .where = file_where,
    .set = file_set,
    .get = file_get,
    .remove = file_remove,
    .list = file_list,
};

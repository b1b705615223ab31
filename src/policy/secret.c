/* Secrets: names are checked here, then the stores are asked in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "policy/secret.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/redact.h"
#include "policy/secret_int.h"

/* A desktop may come up after the daemon: a Secret Service that did not answer is tried again. */
#define TRY_AGAIN_MS 60000

struct secrets {
    char *data_dir;
    bool asked, answered; /* the Secret Service */
    int64_t asked_ms;
};

struct secrets *secrets_new(const char *data_dir)
{
    struct secrets *secrets = NEW(struct secrets);

    secrets->data_dir = alloc_text(data_dir);
    return secrets;
}

void secrets_free(struct secrets *secrets)
{
    if (!secrets)
        return;
    free(secrets->data_dir);
    free(secrets);
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

int secrets_check_name(const char *name, struct err *err)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (!is_alnum(name[i]) && (i == 0 || !strchr("-_.", name[i])))
            return err_set(err, ERR_BAD_REQUEST,
                           "the name of a secret has letters, digits, '-', '_' and '.', and begins "
                           "with a letter or digit; byte %zu is none of them",
                           i + 1);
    if (n == 0 || n > SECRET_NAME_MAX)
        return err_set(err, ERR_BAD_REQUEST, "the name of a secret has 1 to %d bytes, not %zu",
                       SECRET_NAME_MAX, n);
    return 0;
}

static int check_value(const char *name, struct str value, struct err *err)
{
    if (value.n == 0)
        return err_set(err, ERR_BAD_REQUEST, "the value of secret %s is empty", name);
    if (value.n > SECRET_VALUE_MAX)
        return err_set(err, ERR_TOO_LARGE, "the value of secret %s has more than %d bytes", name,
                       SECRET_VALUE_MAX);
    if (str_find_char(value, '\0') >= 0)
        return err_set(err, ERR_BAD_REQUEST, "the value of secret %s has a NUL byte", name);
    return 0;
}

static bool service_answers(struct secrets *secrets)
{
    int64_t now = clock_mono_ms(clock_system());

    if (secret_key_named() || !secret_service.present(secrets->data_dir))
        return false;
    if (!secrets->asked || (!secrets->answered && now - secrets->asked_ms > TRY_AGAIN_MS)) {
        secrets->asked = true;
        secrets->asked_ms = now;
        secrets->answered = secret_service_answers();
    }
    return secrets->answered;
}

/* The store that new values go to. */
static const struct secret_store *first_store(struct secrets *secrets)
{
    return service_answers(secrets) ? &secret_service : &secret_sealed;
}

int secrets_where(struct secrets *secrets, struct buf *out, struct err *err)
{
    return first_store(secrets)->where(secrets->data_dir, out, err);
}

int secrets_set(struct secrets *secrets, const char *name, struct str value, struct err *err)
{
    const struct secret_store *store = first_store(secrets);

    if (secrets_check_name(name, err) < 0 || check_value(name, value, err) < 0)
        return -1;
    if (store->set(secrets->data_dir, name, value, err) < 0)
        return err_wrap(err, "set secret %s", name);
    redact_register(value);
    /* An older value must not come back when the desktop is away. */
    if (store == &secret_service && secret_sealed.present(secrets->data_dir) &&
        secret_sealed.remove(secrets->data_dir, name, err) < 0)
        return err_wrap(err, "secret %s is set; take its older value out of the sealed file", name);
    return 0;
}

static int absent(const char *name, const struct err *service, struct err *err)
{
    char text[256];

    if (service->code == ERR_NONE)
        return err_set(err, ERR_SECRET_UNAVAILABLE,
                       "secret %s is not set; type `dormouse secret set %s`", name, name);
    return err_set(err, ERR_SECRET_UNAVAILABLE,
                   "secret %s is not in the sealed file, and the Secret Service can't be asked "
                   "(%s); type `dormouse secret set %s`",
                   name, err_format(service, text, sizeof(text)), name);
}

int secrets_get(struct secrets *secrets, const char *name, struct buf *out, struct err *err)
{
    struct err service = ERR_INIT, sealed = ERR_INIT;
    size_t before = out->n;
    int r = 0;

    if (secrets_check_name(name, err) < 0)
        return -1;
    /* Setting takes the value out of the sealed file when the Secret Service has it, so what is
     * still sealed was set later, while the desktop was away. */
    if (secret_sealed.present(secrets->data_dir))
        r = secret_sealed.get(secrets->data_dir, name, out, &sealed);
    if (r <= 0 && first_store(secrets) == &secret_service &&
        secret_service.get(secrets->data_dir, name, out, &service) > 0)
        r = 1;
    if (r < 0) {
        if (err)
            *err = sealed;
        return err_wrap(err, "get secret %s", name);
    }
    if (r == 0)
        return absent(name, &service, err);
    redact_register(str_skip(buf_str(out), before));
    return 0;
}

void secrets_recognise(struct secrets *secrets, const char *name)
{
    struct buf value = BUF_INIT(SECRET_VALUE_MAX);
    struct err err = ERR_INIT;

    if (secrets_check_name(name, &err) == 0 && secret_sealed.present(secrets->data_dir) &&
        secret_sealed.get(secrets->data_dir, name, &value, &err) > 0)
        redact_register(buf_str(&value));
    secrets_wipe(&value);
}

int secrets_remove(struct secrets *secrets, const char *name, struct err *err)
{
    int in_service = 0, sealed = 0;

    if (secrets_check_name(name, err) < 0)
        return -1;
    if (first_store(secrets) == &secret_service)
        in_service = secret_service.remove(secrets->data_dir, name, err);
    if (in_service >= 0 && secret_sealed.present(secrets->data_dir))
        sealed = secret_sealed.remove(secrets->data_dir, name, err);
    if (in_service < 0 || sealed < 0)
        return err_wrap(err, "remove secret %s", name);
    if (!in_service && !sealed)
        return err_set(err, ERR_NOT_FOUND, "there is no secret %s", name);
    return 0;
}

/* ---- names of both stores, each once ---- */

struct names {
    char **items;
    size_t n;
};

static void keep_name(void *arg, const char *name)
{
    struct names *names = arg;

    if (names->n == 2 * (size_t)SECRET_COUNT_MAX)
        return;
    names->items = alloc_resize(names->items, names->n + 1, sizeof(char *));
    names->items[names->n++] = alloc_text(name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int secrets_list(struct secrets *secrets, void (*fn)(void *arg, const char *name), void *arg,
                 struct err *err)
{
    struct names names = { NULL, 0 };
    int r = 0;

    if (first_store(secrets) == &secret_service)
        r = secret_service.list(secrets->data_dir, keep_name, &names, err);
    if (r >= 0 && secret_sealed.present(secrets->data_dir))
        r = secret_sealed.list(secrets->data_dir, keep_name, &names, err);
    if (names.n > 0)
        qsort(names.items, names.n, sizeof(char *), by_name);
    for (size_t i = 0; i < names.n; i++) {
        if (r >= 0 && (i == 0 || strcmp(names.items[i - 1], names.items[i]) != 0))
            fn(arg, names.items[i]);
    }
    for (size_t i = 0; i < names.n; i++)
        free(names.items[i]);
    free(names.items);
    return r < 0 ? err_wrap(err, "list the secrets") : 0;
}

int secret_append(struct buf *out, struct str value, struct err *err)
{
    /* Growing copies what was there and frees it as it is: begin with an empty buffer. */
    if (buf_add_str(out, value) < 0)
        return err_set(err, ERR_TOO_LARGE, "the secret has %zu bytes, more than fit here", value.n);
    return 0;
}

void secrets_wipe(struct buf *value)
{
    if (value->p)
        explicit_bzero(value->p, value->cap);
    buf_release(value);
}

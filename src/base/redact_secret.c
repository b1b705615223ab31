/* Registered secrets and the forms they take inside other text.
 *
 * A form is found by its first four bytes: a bitmap of their hashes says at most places that no
 * form begins here, and otherwise the few of that hash are compared. Bytes that are no longer
 * needed are wiped.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/redact_int.h"

#define LEAD_BYTES 4
#define BUCKETS    1024
#define FORMS_MAX  11
#define FORM_MIN   REDACT_SECRET_MIN

struct form {
    struct form *next; /* of its bucket */
    char *p;
    size_t n;
    unsigned bucket;
};

struct secret {
    char *p;
    size_t n;
    unsigned uses;
    struct form *forms[FORMS_MAX];
    size_t form_count;
};

static struct {
    pthread_rwlock_t lock;
    struct secret *secrets[REDACT_SECRETS_MAX];
    size_t count;
    struct form *buckets[BUCKETS];
} held = { .lock = PTHREAD_RWLOCK_INITIALIZER };

static unsigned bucket_of(const char *p)
{
    uint32_t lead;

    memcpy(&lead, p, sizeof(lead));
    return (lead * 2654435761u) >> 22;
}

static void wipe(char *p, size_t n)
{
    if (p)
        explicit_bzero(p, n);
    free(p);
}

static void add_form(struct secret *secret, struct str text)
{
    struct form *form;

    if (text.n < FORM_MIN)
        return;
    for (size_t i = 0; i < secret->form_count; i++)
        if (str_eq(str_of(secret->forms[i]->p, secret->forms[i]->n), text))
            return;
    BUG_IF(secret->form_count == FORMS_MAX);
    form = NEW(struct form);
    form->p = alloc_copy(text.p, text.n);
    form->n = text.n;
    form->bucket = bucket_of(text.p);
    form->next = held.buckets[form->bucket];
    held.buckets[form->bucket] = form;
    secret->forms[secret->form_count++] = form;
}

static void drop_form(struct form *form)
{
    struct form **link = &held.buckets[form->bucket];

    while (*link != form)
        link = &(*link)->next;
    *link = form->next;
    wipe(form->p, form->n);
    free(form);
}

/* The base64 digits that depend on the secret alone when `before` bytes stand before it in the
 * encoded text (modulo 3): those shared with a neighbour are left out. */
static void add_base64(struct secret *secret, unsigned before, const char *alphabet)
{
    size_t bits = 8 * (before + secret->n), first = (8 * before + 5) / 6, last = bits / 6;
    char *text = alloc_zero(last + 1, 1);

    for (size_t digit = first; digit < last; digit++) {
        unsigned value = 0;

        for (size_t bit = 6 * digit; bit < 6 * digit + 6; bit++) {
            unsigned char byte = (unsigned char)secret->p[bit / 8 - before];

            value = value << 1 | (byte >> (7 - bit % 8) & 1u);
        }
        text[digit - first] = alphabet[value];
    }
    add_form(secret, str_of(text, last - first));
    wipe(text, last);
}

static void add_percent(struct secret *secret, const char *digits)
{
    static const char plain[] = "-._~";
    AUTO_BUF text = BUF_INIT(3 * secret->n);

    for (size_t i = 0; i < secret->n; i++) {
        unsigned char c = (unsigned char)secret->p[i];

        if (redact_is_alnum((char)c) || (c && strchr(plain, c))) {
            buf_add_char(&text, (char)c);
        } else {
            buf_add_char(&text, '%');
            buf_add_char(&text, digits[c >> 4]);
            buf_add_char(&text, digits[c & 15]);
        }
    }
    add_form(secret, buf_str(&text));
    explicit_bzero(text.p, text.n);
}

static void add_json(struct secret *secret, bool escape_slash)
{
    AUTO_BUF text = BUF_INIT(6 * secret->n);

    for (size_t i = 0; i < secret->n; i++) {
        static const char named[] = "\bb\ff\nn\rr\tt\"\"\\\\";
        unsigned char c = (unsigned char)secret->p[i];
        const char *name = NULL;

        for (size_t k = 0; k < sizeof(named) - 1; k += 2)
            if (named[k] == (char)c)
                name = &named[k + 1];
        if (name || (c == '/' && escape_slash)) {
            buf_add_char(&text, '\\');
            buf_add_char(&text, name ? *name : '/');
        } else if (c < 0x20) {
            buf_printf(&text, "\\u%04x", c);
        } else {
            buf_add_char(&text, (char)c);
        }
    }
    add_form(secret, buf_str(&text));
    explicit_bzero(text.p, text.n);
}

static void add_forms(struct secret *secret)
{
    static const char standard[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    add_form(secret, str_of(secret->p, secret->n));
    for (unsigned before = 0; before < 3; before++) {
        add_base64(secret, before, standard);
        add_base64(secret, before, url);
    }
    add_percent(secret, "0123456789ABCDEF");
    add_percent(secret, "0123456789abcdef");
    add_json(secret, false);
    add_json(secret, true);
}

static size_t find_secret(struct str value)
{
    size_t i = 0;

    while (i < held.count && !str_eq(str_of(held.secrets[i]->p, held.secrets[i]->n), value))
        i++;
    return i;
}

int redact_register(struct str value)
{
    int r = 0;
    size_t i;

    if (value.n < REDACT_SECRET_MIN || value.n > REDACT_SECRET_MAX)
        return -1;
    pthread_rwlock_wrlock(&held.lock);
    i = find_secret(value);
    if (i < held.count) {
        held.secrets[i]->uses++;
    } else if (held.count == REDACT_SECRETS_MAX) {
        r = -1;
    } else {
        struct secret *secret = NEW(struct secret);

        secret->p = alloc_copy(value.p, value.n);
        secret->n = value.n;
        secret->uses = 1;
        add_forms(secret);
        held.secrets[i] = secret;
        __atomic_store_n(&held.count, held.count + 1, __ATOMIC_RELEASE);
    }
    pthread_rwlock_unlock(&held.lock);
    return r;
}

static void drop_secret(size_t i)
{
    struct secret *secret = held.secrets[i];

    for (size_t k = 0; k < secret->form_count; k++)
        drop_form(secret->forms[k]);
    wipe(secret->p, secret->n);
    free(secret);
    held.secrets[i] = held.secrets[held.count - 1];
    __atomic_store_n(&held.count, held.count - 1, __ATOMIC_RELEASE);
}

void redact_forget(struct str value)
{
    size_t i;

    pthread_rwlock_wrlock(&held.lock);
    i = find_secret(value);
    if (i < held.count && --held.secrets[i]->uses == 0)
        drop_secret(i);
    pthread_rwlock_unlock(&held.lock);
}

void redact_forget_all(void)
{
    pthread_rwlock_wrlock(&held.lock);
    while (held.count)
        drop_secret(held.count - 1);
    pthread_rwlock_unlock(&held.lock);
}

bool redact_has_registered(void)
{
    return __atomic_load_n(&held.count, __ATOMIC_ACQUIRE) > 0;
}

/* Bytes of the longest form that begins at `at` and ends by `end`. */
static size_t form_at(struct str text, size_t at, size_t end)
{
    size_t best = 0;

    if (end - at < LEAD_BYTES)
        return 0;
    for (const struct form *form = held.buckets[bucket_of(text.p + at)]; form; form = form->next)
        if (form->n > best && form->n <= end - at && memcmp(form->p, text.p + at, form->n) == 0)
            best = form->n;
    return best;
}

static size_t next_mark(struct str text, size_t at)
{
    ptrdiff_t mark = str_find(str_skip(text, at), STR(REDACT_MARK));

    return mark < 0 ? text.n : at + (size_t)mark;
}

void redact_registered(struct str text, struct buf *out)
{
    size_t at = 0, copied = 0, mark = next_mark(text, 0);

    pthread_rwlock_rdlock(&held.lock);
    while (at < text.n) {
        size_t n;

        if (at == mark) {
            at += sizeof(REDACT_MARK) - 1;
            mark = next_mark(text, at);
            continue;
        }
        n = form_at(text, at, mark);
        if (n == 0) {
            at++;
            continue;
        }
        buf_add(out, text.p + copied, at - copied);
        buf_add_text(out, REDACT_MARK);
        copied = at += n;
    }
    pthread_rwlock_unlock(&held.lock);
    buf_add(out, text.p + copied, text.n - copied);
}

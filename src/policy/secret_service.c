/* The desktop's Secret Service, by libsecret's simple interface.
 *
 * libsecret talks over D-Bus and may wait for a person or for a service that hangs. So each call
 * runs in a thread of its own; when it takes too long it is cancelled and left behind with what it
 * owns. A secret is found by three attributes: the application, the data directory that it belongs
 * to, and its name.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <libsecret/secret.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/dl.h"
#include "base/limits.h"
#include "base/timefmt.h"
#include "policy/secret_int.h"

#define PROBE_MS 3000

#define SECRET_FUNCTIONS(X)                                                                        \
    X(secret_password_clearv_sync)                                                                 \
    X(secret_password_free)                                                                        \
    X(secret_password_lookupv_nonpageable_sync)                                                    \
    X(secret_password_searchv_sync)                                                                \
    X(secret_password_storev_sync)                                                                 \
    X(secret_retrievable_get_attributes)
#define GLIB_FUNCTIONS(X)                                                                          \
    X(g_error_free)                                                                                \
    X(g_hash_table_insert)                                                                         \
    X(g_hash_table_lookup)                                                                         \
    X(g_hash_table_new)                                                                            \
    X(g_hash_table_unref)                                                                          \
    X(g_list_free)                                                                                 \
    X(g_str_equal)                                                                                 \
    X(g_str_hash)
#define GIO_FUNCTIONS(X)                                                                           \
    X(g_cancellable_cancel)                                                                        \
    X(g_cancellable_new)
#define GOBJECT_FUNCTIONS(X) X(g_object_unref)

static struct {
#define X(name) __typeof__(name) *(name);
    SECRET_FUNCTIONS(X)
    GLIB_FUNCTIONS(X)
    GIO_FUNCTIONS(X)
    GOBJECT_FUNCTIONS(X)
#undef X
    bool loaded;
} lib;

static int load(struct err *err)
{
#define X(name) { #name, (void **)&lib.name },
    static const struct dl_symbol secret[] = { SECRET_FUNCTIONS(X) };
    static const struct dl_symbol glib[] = { GLIB_FUNCTIONS(X) };
    static const struct dl_symbol gio[] = { GIO_FUNCTIONS(X) };
    static const struct dl_symbol gobject[] = { GOBJECT_FUNCTIONS(X) };
#undef X

    if (lib.loaded)
        return 0;
    if (dl_load("libsecret-1.so.0", secret, ARRAY_LEN(secret), err) < 0 ||
        dl_load("libglib-2.0.so.0", glib, ARRAY_LEN(glib), err) < 0 ||
        dl_load("libgio-2.0.so.0", gio, ARRAY_LEN(gio), err) < 0 ||
        dl_load("libgobject-2.0.so.0", gobject, ARRAY_LEN(gobject), err) < 0)
        return err_wrap(err, "the Secret Service needs libsecret (Debian package libsecret-1-0)");
    lib.loaded = true;
    return 0;
}

static const SecretSchema schema = {
    .name = "org.dormouse.Secret",
    .flags = SECRET_SCHEMA_NONE,
    .attributes = { { "application", SECRET_SCHEMA_ATTRIBUTE_STRING },
                    { "data", SECRET_SCHEMA_ATTRIBUTE_STRING },
                    { "name", SECRET_SCHEMA_ATTRIBUTE_STRING },
                    { NULL, SECRET_SCHEMA_ATTRIBUTE_STRING } },
};

/* ---- one call in a thread ---- */

struct job {
    void (*run)(struct job *job);
    /* What is asked and what comes back; only one side touches them at a time. */
    char data_dir[LIMIT_PATH_BYTES], name[SECRET_NAME_MAX + 1], value[SECRET_VALUE_MAX + 1];
    char (*names)[SECRET_NAME_MAX + 1];
    size_t names_n;
    bool found;
    struct err err;

    GCancellable *cancel;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool done;
    int holders; /* the caller and the thread; under mutex */
};

static void job_drop(struct job *job)
{
    int left;

    pthread_mutex_lock(&job->mutex);
    left = --job->holders;
    pthread_mutex_unlock(&job->mutex);
    if (left > 0)
        return;
    explicit_bzero(job->value, sizeof(job->value));
    lib.g_object_unref(job->cancel);
    pthread_mutex_destroy(&job->mutex);
    pthread_cond_destroy(&job->ended);
    free(job->names);
    free(job);
}

static void *job_thread(void *arg)
{
    struct job *job = arg;

    job->run(job);
    pthread_mutex_lock(&job->mutex);
    job->done = true;
    pthread_cond_signal(&job->ended);
    pthread_mutex_unlock(&job->mutex);
    job_drop(job);
    return NULL;
}

static struct job *job_new(void (*run)(struct job *job), const char *data_dir, const char *name)
{
    struct job *job = NEW(struct job);
    pthread_condattr_t attr;

    job->run = run;
    snprintf(job->data_dir, sizeof(job->data_dir), "%s", data_dir);
    snprintf(job->name, sizeof(job->name), "%s", name);
    job->cancel = lib.g_cancellable_new();
    job->holders = 1;
    pthread_mutex_init(&job->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&job->ended, &attr);
    pthread_condattr_destroy(&attr);
    return job;
}

static bool wait_for(struct job *job, int ms)
{
    struct timespec until;
    bool done;
    int r = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&job->mutex);
    while (!job->done && r != ETIMEDOUT)
        r = pthread_cond_timedwait(&job->ended, &job->mutex, &until);
    done = job->done;
    pthread_mutex_unlock(&job->mutex);
    return done;
}

/* 0 when it ran to its end well. The job stays the caller's to drop. */
static int job_run(struct job *job, int ms, struct err *err)
{
    pthread_t thread;

    job->holders = 2;
    if (pthread_create(&thread, NULL, job_thread, job) != 0) {
        job->holders = 1;
        return err_set(err, ERR_INTERNAL, "start a thread: %s", strerror(errno));
    }
    pthread_detach(thread);
    if (!wait_for(job, ms)) {
        char span[TIMEFMT_SPAN_SIZE];

        lib.g_cancellable_cancel(job->cancel);
        return err_set(err, ERR_TIMEOUT, "the Secret Service did not answer within %s",
                       timefmt_span(ms, span));
    }
    if (job->err.code == ERR_NONE)
        return 0;
    if (err)
        *err = job->err;
    return -1;
}

/* ---- what runs there ---- */

static GHashTable *attributes(struct job *job)
{
    GHashTable *table = lib.g_hash_table_new(lib.g_str_hash, lib.g_str_equal);
    static char keys[][16] = { "application", "data", "name" }, dormouse[] = "dormouse";

    lib.g_hash_table_insert(table, keys[0], dormouse);
    lib.g_hash_table_insert(table, keys[1], job->data_dir);
    if (*job->name)
        lib.g_hash_table_insert(table, keys[2], job->name);
    return table;
}

static void failed(struct job *job, GError *error)
{
    err_set(&job->err, ERR_SECRET_UNAVAILABLE, "the Secret Service failed: %s", error->message);
    lib.g_error_free(error);
}

static void run_set(struct job *job)
{
    GHashTable *table = attributes(job);
    GError *error = NULL;
    char label[SECRET_NAME_MAX + 32];

    snprintf(label, sizeof(label), "Dormouse: %s", job->name);
    lib.secret_password_storev_sync(&schema, table, SECRET_COLLECTION_DEFAULT, label, job->value,
                                    job->cancel, &error);
    explicit_bzero(job->value, sizeof(job->value));
    lib.g_hash_table_unref(table);
    if (error)
        failed(job, error);
}

static void run_get(struct job *job)
{
    GHashTable *table = attributes(job);
    GError *error = NULL;
    char *value;

    value = lib.secret_password_lookupv_nonpageable_sync(&schema, table, job->cancel, &error);
    lib.g_hash_table_unref(table);
    if (error) {
        failed(job, error);
        return;
    }
    if (!value)
        return;
    job->found = strlen(value) < sizeof(job->value);
    if (job->found)
        snprintf(job->value, sizeof(job->value), "%s", value);
    else
        err_set(&job->err, ERR_TOO_LARGE, "the stored value has more than %d bytes",
                SECRET_VALUE_MAX);
    lib.secret_password_free(value);
}

static void run_remove(struct job *job)
{
    GHashTable *table = attributes(job);
    GError *error = NULL;

    job->found = lib.secret_password_clearv_sync(&schema, table, job->cancel, &error);
    lib.g_hash_table_unref(table);
    if (error)
        failed(job, error);
}

static void keep_name(struct job *job, GHashTable *found)
{
    static const char key[] = "name";
    const char *name = lib.g_hash_table_lookup(found, key);

    if (!name || job->names_n == SECRET_COUNT_MAX || secrets_check_name(name, NULL) < 0)
        return;
    job->names = alloc_resize(job->names, job->names_n + 1, sizeof(*job->names));
    snprintf(job->names[job->names_n++], sizeof(*job->names), "%s", name);
}

static void run_list(struct job *job)
{
    GHashTable *table = attributes(job);
    GError *error = NULL;
    GList *items;

    items =
        lib.secret_password_searchv_sync(&schema, table, SECRET_SEARCH_ALL, job->cancel, &error);
    lib.g_hash_table_unref(table);
    for (GList *at = items; at; at = at->next) {
        GHashTable *found = lib.secret_retrievable_get_attributes(at->data);

        keep_name(job, found);
        lib.g_hash_table_unref(found);
        lib.g_object_unref(at->data);
    }
    lib.g_list_free(items);
    if (error)
        failed(job, error);
}

/* ---- the store ---- */

/* A session bus, or libsecret told to use another backend than the bus. */
static bool service_present(const char *data_dir)
{
    const char *bus = getenv("DBUS_SESSION_BUS_ADDRESS"), *runtime = getenv("XDG_RUNTIME_DIR");
    const char *backend = getenv("SECRET_BACKEND");
    char path[LIMIT_PATH_BYTES];

    (void)data_dir;
    if ((bus && *bus) || (backend && *backend))
        return true;
    if (!runtime || !*runtime)
        return false;
    snprintf(path, sizeof(path), "%s/bus", runtime);
    return access(path, F_OK) == 0;
}

bool secret_service_answers(void)
{
    struct job *job;
    int r;

    if (load(NULL) < 0)
        return false;
    job = job_new(run_list, "", "probe");
    r = job_run(job, PROBE_MS, NULL);
    job_drop(job);
    return r == 0;
}

static int service_where(const char *data_dir, struct buf *out, struct err *err)
{
    (void)data_dir, (void)err;
    buf_add_text(out, "Secret Service (default collection)");
    return 0;
}

static int service_set(const char *data_dir, const char *name, struct str value, struct err *err)
{
    struct job *job;
    int r;

    if (load(err) < 0)
        return -1;
    job = job_new(run_set, data_dir, name);
    memcpy(job->value, value.p, value.n);
    r = job_run(job, SECRET_SERVICE_MS, err);
    job_drop(job);
    return r;
}

static int service_get(const char *data_dir, const char *name, struct buf *out, struct err *err)
{
    struct job *job;
    int r;

    if (load(err) < 0)
        return -1;
    job = job_new(run_get, data_dir, name);
    r = job_run(job, SECRET_SERVICE_MS, err);
    if (r == 0 && job->found)
        r = secret_append(out, str_from(job->value), err) < 0 ? -1 : 1;
    job_drop(job);
    return r;
}

static int service_remove(const char *data_dir, const char *name, struct err *err)
{
    struct job *job;
    int r;

    if (load(err) < 0)
        return -1;
    job = job_new(run_remove, data_dir, name);
    r = job_run(job, SECRET_SERVICE_MS, err);
    if (r == 0)
        r = job->found;
    job_drop(job);
    return r;
}

static int service_list(const char *data_dir, void (*fn)(void *arg, const char *name), void *arg,
                        struct err *err)
{
    struct job *job;
    int r;

    if (load(err) < 0)
        return -1;
    job = job_new(run_list, data_dir, "");
    r = job_run(job, SECRET_SERVICE_MS, err);
    for (size_t i = 0; r == 0 && i < job->names_n; i++)
        fn(arg, job->names[i]);
    job_drop(job);
    return r;
}

const struct secret_store secret_service = {
    .present = service_present,
    .where = service_where,
    .set = service_set,
    .get = service_get,
    .remove = service_remove,
    .list = service_list,
};

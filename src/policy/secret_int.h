/* The two stores of secrets, behind one table.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_POLICY_SECRET_INT_H
#define DORMOUSE_POLICY_SECRET_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/secret.h"

/* Names and values were checked by the caller. get and remove give 1 when it was there, 0 when it
 * was not. */
struct secret_store {
    /* Worth asking at all? Cheap: opens no library. */
    bool (*present)(const char *data_dir);
    int (*where)(const char *data_dir, struct buf *out, struct err *err);
    int (*set)(const char *data_dir, const char *name, struct str value, struct err *err);
    int (*get)(const char *data_dir, const char *name, struct buf *out, struct err *err);
    int (*remove)(const char *data_dir, const char *name, struct err *err);
    int (*list)(const char *data_dir, void (*fn)(void *arg, const char *name), void *arg,
                struct err *err);
};
extern const struct secret_store secret_sealed, secret_service;

/* Opens libsecret and asks it something that needs no unlocking; bounded in time. */
bool secret_service_answers(void);

/* True when the owner named a key file, which chooses the sealed file. */
bool secret_key_named(void);

#define SECRET_KEY_BYTES 32

/* The key of the sealed file. make: creates DATA/secrets.key when it is absent and nothing was
 * sealed yet. *ret_fd is the open key file, whose lock orders writers. */
int secret_key_load(const char *data_dir, bool make, uint8_t ret_key[SECRET_KEY_BYTES], int *ret_fd,
                    struct err *err);
/* The key file's path into out. */
void secret_key_path(const char *data_dir, char *out, size_t size);
void secret_file_path(const char *data_dir, char *out, size_t size);

/* Appends without leaving a copy behind: room is made before. */
int secret_append(struct buf *out, struct str value, struct err *err);

#endif

/* The configuration's models as the gateway wants them, with what the gateway asks for: keys and
 * whether a person agreed. Whoever runs models (serve, run, model test) uses these.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_MODELS_H
#define DORMOUSE_CLI_MODELS_H

#include "base/arena.h"
#include "base/err.h"
#include "model/model.h"
#include "policy/consent.h"

struct config;
struct domain;
struct secrets;

struct models {
    struct model_spec *items;
    size_t n;
    struct arena arena;
};

/* Texts are borrowed from config, paths are made absolute: config must outlive it. */
void models_init(struct models *models, const struct config *config, const char *data_dir);
void models_release(struct models *models);
#define AUTO_MODELS __attribute__((cleanup(models_release))) struct models
/* NULL when there is none of this id; "offline" is there besides, as in the gateway. */
const struct model_spec *models_find(const struct models *models, const char *id);

/* Opens every model as a start does: a script that is missing or wrong is named. Nothing is asked.
 */
int models_check(const struct config *config, const char *data_dir, struct err *err);

/* The arg of the two functions below, for struct model_gateway_config. Neither is owned. */
struct models_access {
    struct secrets *secrets; /* NULL: there are none */
    struct domain *agent;    /* where consents are kept; NULL: there are none */
};
int models_secret(void *arg, const char *ref, struct buf *out, struct err *err);
int models_consent(void *arg, const struct model_spec *spec, struct err *err);

/* Where requests of this model go: "this machine", or a host. Valid as long as arena. */
const char *models_where(const struct model_spec *spec, struct arena *arena);
/* What a person is asked to agree to. */
void models_terms(const struct model_spec *spec, struct arena *arena,
                  struct consent_terms *ret_terms);

#endif

/* What of the environment gets inside: a list of harmless names, and what the specification adds.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "sandbox/forward.h"
#include "sandbox/walls_int.h"

/* Passed on as they are. Anything else may hold a secret. */
static const char *const passed[] = {
    "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "COLORTERM", "USER", "LOGNAME",
};

static void set(struct walls *w, const char *name, const char *value)
{
    walls_add(w, &w->env, arena_printf(&w->arena, "%s=%s", name, value));
}

static void set_proxy(struct walls *w, const struct sandbox_spec *spec)
{
    struct forward_env env;

    forward_env(WALLS_PROXY_PORT, spec->allow_domains, &env);
    for (size_t i = 0; env.list[i]; i++)
        walls_add(w, &w->env, arena_text(&w->arena, env.list[i]));
}

void walls_env(struct walls *w, const struct sandbox_spec *spec, bool proxy)
{
    const char *path = getenv("PATH");

    set(w, "PATH", path && *path ? path : "/usr/local/bin:/usr/bin:/bin");
    set(w, "HOME", w->home);
    set(w, "TMPDIR", "/tmp");
    set(w, "SHELL", "/bin/bash");
    set(w, "DORMOUSE_SANDBOX", spec->off ? "off" : "1");
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
        if (getenv(passed[i]))
            set(w, passed[i], getenv(passed[i]));
    if (proxy)
        set_proxy(w, spec);
    for (size_t i = 0; spec->env && spec->env[i]; i++)
        walls_add(w, &w->env, arena_text(&w->arena, spec->env[i]));
}

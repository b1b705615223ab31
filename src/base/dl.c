/* dlopen with a table of symbols.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/dl.h"

#include <dlfcn.h>

int dl_load(const char *soname, const struct dl_symbol *symbols, size_t n, struct err *err)
{
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return err_set(err, ERR_INTERNAL, "open library %s: %s", soname, dlerror());
    for (size_t i = 0; i < n; i++)
        if (!dlsym(library, symbols[i].name)) {
            dlclose(library);
            return err_set(err, ERR_INTERNAL, "library %s has no function %s", soname,
                           symbols[i].name);
        }
    for (size_t i = 0; i < n; i++)
        *symbols[i].slot = dlsym(library, symbols[i].name);
    return 0;
}

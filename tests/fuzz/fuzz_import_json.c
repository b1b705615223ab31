/* SPDX-License-Identifier: MIT
 */
#include "import_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    return import_file(IMPORT_JSON, bytes, n);
}

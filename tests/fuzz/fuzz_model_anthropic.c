/* Fuzz target: an answer of the Messages API.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    return fuzz_stream("anthropic", bytes, n);
}

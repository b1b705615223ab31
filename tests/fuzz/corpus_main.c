/* Runs a fuzz target over every file of its corpus directory, as an ordinary test suite.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define INPUT_BYTES_MAX (1u << 20)

static int run_file(const char *dir, const char *name)
{
    static uint8_t bytes[INPUT_BYTES_MAX];
    char path[4096];
    uint8_t *input;
    size_t n;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return -1;
    }
    n = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    /* A block of exactly n bytes, so that reading past the end is seen by AddressSanitizer. */
    input = malloc(n ? n : 1);
    if (!input)
        return -1;
    for (size_t i = 0; i < n; i++)
        input[i] = bytes[i];
    LLVMFuzzerTestOneInput(input, n);
    free(input);
    return 0;
}

int main(int argc, char **argv)
{
    unsigned passed = 0, failed = 0;
    DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;

    if (!dir) {
        fprintf(stderr, "usage: %s CORPUS_DIR\n", argv[0]);
        return 2;
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        if (run_file(argv[1], entry->d_name) < 0)
            failed++;
        else
            passed++;
    }
    closedir(dir);
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed || passed == 0;
}

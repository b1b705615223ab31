/* git's configuration: the reader ends, and what is plain names nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "sandbox/git_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_words(const char *value)
{
    struct str rest = str_from(value);
    char word[LIMIT_PATH_BYTES];
    size_t left = rest.n + 1;

    while (git_command_word(&rest, word)) {
        BUG_IF(rest.n >= left || strlen(word) >= sizeof(word));
        left = rest.n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = str_of(n ? (const char *)bytes : "", n);
    struct git_config config = { .rest = text };
    bool plain = git_config_is_plain(text);
    struct git_setting setting;
    size_t left = n + 1;

    while (git_config_next(&config, &setting)) {
        BUG_IF(config.rest.n >= left);
        left = config.rest.n;
        BUG_IF(strlen(setting.section) >= GIT_NAME_BYTES || !setting.key[0] ||
               strlen(setting.key) >= GIT_NAME_BYTES);
        BUG_IF(plain && git_setting_names(&setting) != GIT_NAMES_NOTHING);
        check_words(setting.value);
    }
    BUG_IF(config.rest.n > 0 || (plain && config.broken));
    /* A strategy of git's own is one word, and no instruction. */
    BUG_IF(git_sequence_is_plain("strategy", text) &&
           git_sequence_is_plain("git-rebase-todo", text));
    git_sequence_is_plain("opts", text);
    return 0;
}

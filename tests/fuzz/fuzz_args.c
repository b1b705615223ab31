/* Command lines: every input line is a word.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "cli/args_int.h"
#include "cli/help_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define WORDS_MAX 64

static void use(const struct cli_args *args)
{
    AUTO_BUF page = BUF_INIT(HELP_BYTES_MAX);
    size_t n = cli_operand_count(args);

    for (size_t i = 0; i < args->typed_count; i++)
        if (args->typed[i].option->value && !args->typed[i].value)
            abort();
    if (cli_operand(args, n) != NULL || (n > 0 && !cli_operand(args, n - 1)))
        abort();
    if (!args->command || cli_has(args, "help"))
        return;
    if (n < (size_t)args->command->operands_min)
        abort();
    help_command(&page, args->command);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO_ARGS args = { .command = NULL };
    struct str rest = str_of((const char *)bytes, n), word;
    char *argv[WORDS_MAX + 1] = { NULL };
    struct err err = ERR_INIT;
    int argc = 1;

    argv[0] = alloc_text("dormouse");
    while (argc < WORDS_MAX && rest.p && str_split(&rest, '\n', &word))
        argv[argc++] = alloc_copy(word.p, word.n);
    if (cli_parse(&args, cli_commands, argc, argv, &err) == 0)
        use(&args);
    else if (err.code != ERR_BAD_REQUEST)
        abort();
    /* What args points to must not be used any more. */
    cli_args_release(&args);
    args = (struct cli_args){ .command = NULL };
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    return 0;
}

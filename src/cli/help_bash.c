/* A bash completion script, from the command table.
 *
 * The script is plain bash: the first words choose the command, its options and the kind of its
 * operands come from tables in the script itself, so completing starts no process.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/args_int.h"
#include "cli/help_int.h"

static void add_option_words(struct buf *out, const struct cli_option *options)
{
    for (; options && options->name; options++)
        buf_printf(out, " --%s", options->name);
}

/* The first words; a group's name once. */
static void add_first_words(struct buf *out, const struct cli_command *const *commands)
{
    const char *last = "";

    for (; *commands; commands++) {
        size_t len = strcspn((*commands)->name, " ");

        if (strncmp(last, (*commands)->name, len) != 0 || (last[len] != ' ' && last[len]))
            buf_printf(out, " %.*s", (int)len, (*commands)->name);
        last = (*commands)->name;
    }
}

static void add_subcommands(struct buf *out, const struct cli_command *const *commands)
{
    for (size_t i = 0; commands[i]; i++) {
        const char *space = strchr(commands[i]->name, ' ');
        size_t len = space ? (size_t)(space - commands[i]->name) : 0;

        if (!space || (i > 0 && strncmp(commands[i - 1]->name, commands[i]->name, len + 1) == 0))
            continue;
        buf_printf(out, "    %.*s) subs=\"", (int)len, commands[i]->name);
        for (size_t j = i; commands[j]; j++)
            if (strncmp(commands[j]->name, commands[i]->name, len + 1) == 0)
                buf_printf(out, "%s%s", j > i ? " " : "", commands[j]->name + len + 1);
        buf_add_text(out, "\" ;;\n");
    }
}

/* What follows an option: its choices, files, directories, or nothing. */
static void add_values(struct buf *out, const char *command, const struct cli_option *options)
{
    for (; options && options->name; options++) {
        if (!options->value)
            continue;
        buf_printf(out, "    \"%s --%s\") ", command, options->name);
        if (options->choices)
            buf_printf(out, "kind=words; words=\"%s\"", options->choices);
        else if (strcmp(options->value, "FILE") == 0)
            buf_add_text(out, "kind=file");
        else if (strcmp(options->value, "DIR") == 0)
            buf_add_text(out, "kind=dir");
        else
            buf_add_text(out, "kind=none");
        buf_add_text(out, " ;;\n");
    }
}

static void add_operand_kind(struct buf *out, const struct cli_command *command)
{
    const char *kind = "none";

    if (strcmp(command->name, "help") == 0)
        kind = "command";
    else if (command->operands_max != 0)
        kind = "file";
    buf_printf(out, "    \"%s\") opts=\"", command->name);
    add_option_words(out, command->options);
    add_option_words(out, cli_global_options);
    buf_printf(out, "\"; kind=%s ;;\n", kind);
}

static const char script_head[] =
    "# bash completion for dormouse; made by `dormouse help --completion bash`\n"
    "_dormouse()\n"
    "{\n"
    "    local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"\" first=\"\" second=\"\" word skip=\"\"\n"
    "    local commands group subs=\"\" opts kind=none words=\"\" i\n"
    "    COMPREPLY=()\n"
    "    [ \"$COMP_CWORD\" -gt 0 ] && prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
    "    # bash splits --x=V into three words\n"
    "    if [ \"$cur\" = \"=\" ]; then cur=\"\"\n"
    "    elif [ \"$prev\" = \"=\" ]; then prev=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=\"${COMP_WORDS[i]}\"\n"
    "        if [ -n \"$skip\" ]; then skip=\"\"; continue; fi\n"
    "        case \"$word\" in\n"
    "        --data) skip=1 ;;\n"
    "        -* | =) ;;\n"
    "        *)\n"
    "            if [ -z \"$first\" ]; then first=\"$word\"\n"
    "            elif [ -z \"$second\" ]; then second=\"$word\"; fi ;;\n"
    "        esac\n"
    "    done\n";

static const char script_tail[] =
    "    case \"$kind\" in\n"
    "    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") "
    ";;\n"
    "    dir) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") "
    ";;\n"
    "    words) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\") ;;\n"
    "    esac\n"
    "}\n"
    "complete -F _dormouse dormouse\n";

static void add_tables(struct buf *out, const struct cli_command *const *commands)
{
    buf_add_text(out, "    commands=\"");
    add_first_words(out, commands);
    buf_add_text(out, "\"\n    opts=\"");
    add_option_words(out, cli_global_options);
    buf_add_text(out, "\"\n    group=\"$first\"\n"
                      "    if [ \"$first\" = help ]; then group=\"$second\"; fi\n"
                      "    case \"$group\" in\n");
    add_subcommands(out, commands);
    buf_add_text(out, "    esac\n"
                      "    if [ -n \"$subs\" ] && [ \"$group\" = \"$first\" ]; then "
                      "first=\"$first${second:+ $second}\"; fi\n"
                      "    case \"$first\" in\n"
                      "    \"\") kind=words; words=\"$commands\" ;;\n");
    for (size_t i = 0; commands[i]; i++)
        add_operand_kind(out, commands[i]);
    buf_add_text(out, "    *) if [ -n \"$subs\" ] && [ -z \"$second\" ]; then kind=words; "
                      "words=\"$subs\"; fi ;;\n    esac\n"
                      "    if [ \"$kind\" = command ]; then kind=words; "
                      "words=\"$subs\"; [ -z \"$second\" ] && words=\"$commands\"; fi\n"
                      "    case \"$cur\" in -*) kind=words; words=\"$opts\" ;; esac\n"
                      "    case \"$first $prev\" in\n");
    for (size_t i = 0; commands[i]; i++)
        add_values(out, commands[i]->name, commands[i]->options);
    buf_add_text(out, "    esac\n    case \"$prev\" in --data) kind=dir ;; esac\n");
}

void help_completion_bash(struct buf *out, const struct cli_command *const *commands)
{
    buf_add_text(out, script_head);
    add_tables(out, commands);
    buf_add_text(out, script_tail);
}

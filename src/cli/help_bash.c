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

/* The next words after the first len bytes of name, each once. */
static void add_next_words(struct buf *out, const struct cli_command *const *commands,
                           const char *name, size_t len)
{
    AUTO_BUF words = BUF_INIT(HELP_BYTES_MAX);

    for (; *commands; commands++) {
        const char *rest = (*commands)->name + len + 1;
        AUTO_BUF word = BUF_INIT(128);

        if (strncmp((*commands)->name, name, len) != 0 || (*commands)->name[len] != ' ')
            continue;
        buf_printf(&word, "%.*s ", (int)strcspn(rest, " "), rest);
        if (str_find(buf_str(&words), buf_str(&word)) < 0)
            buf_add_str(&words, buf_str(&word));
    }
    buf_add_str(out, str_trim(buf_str(&words)));
}

/* Every beginning of a longer name, where it comes first. */
static void add_groups(struct buf *out, const struct cli_command *const *commands)
{
    for (size_t i = 0; commands[i]; i++) {
        const char *name = commands[i]->name;

        for (const char *space = strchr(name, ' '); space; space = strchr(space + 1, ' ')) {
            size_t len = (size_t)(space - name);

            if (i > 0 && strncmp(commands[i - 1]->name, name, len + 1) == 0)
                continue;
            buf_printf(out, "        \"%.*s\") subs=\"", (int)len, name);
            add_next_words(out, commands, name, len);
            buf_add_text(out, "\" ;;\n");
        }
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

    if (strcmp(command->name, "help") != 0 && command->operands_max != 0)
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
    "    local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"\" path=\"\" command=\"\" word skip=\"\"\n"
    "    local commands subs=\"\" help=\"\" ended=\"\" opts kind=none words=\"\" i\n"
    "    COMPREPLY=()\n"
    "    [ \"$COMP_CWORD\" -gt 0 ] && prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
    "    # bash splits --x=V into three words\n"
    "    if [ \"$cur\" = \"=\" ]; then cur=\"\"\n"
    "    elif [ \"$prev\" = \"=\" ]; then prev=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=\"${COMP_WORDS[i]}\"\n"
    "        if [ -n \"$skip\" ]; then skip=\"\"; continue; fi\n"
    "        case \"$word\" in\n"
    "        --data) skip=1; continue ;;\n"
    "        -* | =) continue ;;\n"
    "        esac\n"
    "        if [ -n \"$ended\" ]; then continue; fi\n"
    "        if [ \"$path$word\" = help ] && [ -z \"$help\" ]; then help=1; continue; fi\n"
    "        path=\"${path:+$path }$word\" subs=\"\"\n"
    "        case \"$path\" in\n";

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

static void add_names(struct buf *out, const struct cli_command *const *commands)
{
    buf_add_text(out, "        *) ended=1 ;;\n        esac\n        case \"$path\" in\n        ");
    for (size_t i = 0; commands[i]; i++)
        buf_printf(out, "%s\"%s\"", i ? " | " : "", commands[i]->name);
    buf_add_text(out, ") command=\"$path\" ;;\n        esac\n    done\n");
}

static void add_tables(struct buf *out, const struct cli_command *const *commands)
{
    add_groups(out, commands);
    add_names(out, commands);
    buf_add_text(out, "    commands=\"");
    add_first_words(out, commands);
    buf_add_text(out, "\"\n    opts=\"");
    add_option_words(out, cli_global_options);
    buf_add_text(out, "\"\n"
                      "    if [ -n \"$help\" ]; then command=help; fi\n"
                      "    case \"$command\" in\n");
    for (size_t i = 0; commands[i]; i++)
        add_operand_kind(out, commands[i]);
    buf_add_text(out, "    esac\n"
                      "    if [ -z \"$path\" ]; then kind=words; words=\"$commands\"\n"
                      "    elif [ -n \"$subs\" ]; then kind=words; words=\"$subs\"; fi\n"
                      "    case \"$cur\" in -*) kind=words; words=\"$opts\" ;; esac\n"
                      "    case \"$command $prev\" in\n");
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

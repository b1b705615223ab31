/* What was typed and is not known: which name may have been meant, else where all of them stand.
 *
 * Every mistake of this kind ends here: commands, words after a group, options, values that are
 * chosen from a list. What is typed as an option and is an operand (`timer add --rrule RULE`) is
 * one of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/nearest.h"
#include "cli/args_int.h"

#define NAMES_MAX 256

struct names {
    const char *all[NAMES_MAX];
    size_t n;
};

static void add_name(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->all[i], name) == 0)
            return;
    if (names->n < NAMES_MAX)
        names->all[names->n++] = name;
}

static const char *nearest_of(const struct names *names, const char *typed)
{
    return nearest_name(typed, names->all, names->n);
}

/* ---- commands ---- */

/* The words that may stand behind group, which is empty for the first. */
static void next_words(const struct cli_command *const *commands, const char *group,
                       struct arena *arena, struct names *names)
{
    size_t len = strlen(group);

    for (; *commands; commands++) {
        const char *name = (*commands)->name;

        if (len && (strncmp(name, group, len) != 0 || name[len] != ' '))
            continue;
        name += len ? len + 1 : 0;
        add_name(names, arena_copy(arena, name, strcspn(name, " ")));
    }
}

const char *cli_meant_word(const struct cli_command *const *commands, const char *group,
                           const char *typed, struct arena *arena)
{
    struct names names = { .n = 0 };

    next_words(commands, group, arena, &names);
    return nearest_of(&names, typed);
}

int cli_unknown_command(const struct cli_command *const *commands, const char *group,
                        const char *typed, struct arena *arena, struct err *err)
{
    const char *near = typed ? cli_meant_word(commands, group, typed, arena) : NULL;
    const char *space = *group ? " " : "";
    struct names names = { .n = 0 };
    AUTO_BUF allowed = BUF_INIT(1024);

    if (near)
        return err_set(err, ERR_BAD_REQUEST, "no command `%s%s%.64s`; did you mean `%s%s%s`?",
                       group, space, typed, group, space, near);
    if (!*group)
        return err_set(err, ERR_BAD_REQUEST, "no command `%.64s`; `dormouse help` lists them all",
                       typed);
    next_words(commands, group, arena, &names);
    for (size_t i = 0; i < names.n; i++)
        buf_printf(&allowed, "%s%s", i ? ", " : "", names.all[i]);
    if (!typed)
        return err_set(err, ERR_BAD_REQUEST, "`%s` needs one of: %s", group, buf_text(&allowed));
    return err_set(err, ERR_BAD_REQUEST, "no command `%s %.64s`; there is: %s", group, typed,
                   buf_text(&allowed));
}

/* ---- options ---- */

static void option_names(const struct cli_option *options, struct names *names)
{
    for (; options && options->name; options++)
        add_name(names, options->name);
}

/* "SCHEMA INSTANCE [FILE...]" as the options that people take them for: schema, instance, file. */
static void operand_names(const struct cli_command *command, struct arena *arena,
                          struct names *names)
{
    for (const char *at = command->operands; *at;) {
        size_t n = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-");

        if (n > 1) {
            char *name = arena_copy(arena, at, n);

            for (char *p = name; *p; p++)
                *p = (char)tolower((unsigned char)*p);
            add_name(names, name);
        }
        at += n ? n : 1;
    }
}

int cli_unknown_option(const struct cli_args *args, const char *typed, struct arena *arena,
                       struct err *err)
{
    const struct cli_command *command = args->command;
    const char *page = command ? command->name : args->group, *near;
    struct names options = { .n = 0 }, operands = { .n = 0 };

    if (command)
        option_names(command->options, &options);
    option_names(cli_global_options, &options);
    near = nearest_of(&options, typed);
    if (command && !near) {
        operand_names(command, arena, &operands);
        if (nearest_of(&operands, typed))
            return err_set(err, ERR_BAD_REQUEST,
                           "no option --%.64s; it is given without one: `dormouse %s %s`", typed,
                           command->name, command->operands);
    }
    if (near)
        return err_set(err, ERR_BAD_REQUEST, "no option --%.64s; did you mean --%s?", typed, near);
    return err_set(err, ERR_BAD_REQUEST, "no option --%.64s; `dormouse help%s%s` lists them", typed,
                   page ? " " : "", page ? page : "");
}

/* ---- values ---- */

int cli_check_choice(const struct cli_option *option, const char *value, struct arena *arena,
                     struct err *err)
{
    struct names names = { .n = 0 };
    const char *near;

    for (const char *at = option->choices; *at;) {
        size_t n = strcspn(at, " ");

        add_name(&names, arena_copy(arena, at, n));
        if (strcmp(names.all[names.n - 1], value) == 0)
            return 0;
        at += n + strspn(at + n, " ");
    }
    near = nearest_of(&names, value);
    return err_set(err, ERR_BAD_REQUEST, "--%s takes one of: %s; not `%.64s`%s%s%s", option->name,
                   option->choices, value, near ? "; did you mean `" : "", near ? near : "",
                   near ? "`?" : "");
}

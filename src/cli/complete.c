/* Completion: one reading of the line for all shells.
 *
 * The scripts of the shells only pass the words on and show what comes back, so a command that is
 * added is completed everywhere. A line that is half typed is no mistake: what can't be read is
 * passed over.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/complete.h"

#include <ctype.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/args_int.h"
#include "cli/help_int.h"

#define SAYS_BYTES 80

/* Titles come from anywhere: nothing in them reaches the terminal as a command. */
static bool is_plain(struct str text)
{
    for (size_t i = 0; text.p && i < text.n; i++)
        if (iscntrl((unsigned char)text.p[i]))
            return false;
    return true;
}

void complete_add(struct complete *line, const char *before, struct str word, struct str says)
{
    struct str typed = str_from(line->cur + strlen(before));

    says = utf8_truncate(says, SAYS_BYTES);
    if (!word.n || !str_starts(word, typed) || !is_plain(word))
        return;
    buf_printf(line->out, "%s%.*s", before, STR_ARG(word));
    for (size_t i = 0; says.p && i < says.n; i++) {
        if (i == 0)
            buf_add_char(line->out, '\t');
        buf_add_char(line->out, is_plain(str_of(says.p + i, 1)) ? says.p[i] : ' ');
    }
    buf_add_char(line->out, '\n');
}

/* ---- reading ---- */

static const struct cli_option *option_of(const struct complete *line, const char *word)
{
    size_t len = strcspn(word + 2, "=");
    const struct cli_option *found = NULL;

    if (line->command)
        found = cli_find_option(line->command->options, word + 2, len);
    return found ? found : cli_find_option(cli_global_options, word + 2, len);
}

static void take_value(struct complete *line, const struct cli_option *option, const char *value)
{
    if (strcmp(option->name, "data") == 0)
        line->data = value;
    if (strcmp(option->name, "agent") == 0)
        line->agent = value;
}

static void take_option(struct complete *line, const char *word)
{
    const struct cli_option *option = option_of(line, word);
    const char *sign = strchr(word, '=');

    if (option && option->value && sign)
        take_value(line, option, sign + 1);
    else if (option && option->value)
        line->pending = option;
}

/* The name of the operand at this place: "FILE" of "ENTRY [FILE...]"; "" when there is none. */
static const char *operand_name(struct complete *line)
{
    struct str rest = str_from(line->command->operands), one, last = STR_NONE;

    for (size_t i = 0; rest.n && str_split(&rest, ' ', &one); i++) {
        last = one;
        if (i == line->operands)
            break;
        if (!rest.n && str_find(one, STR("...")) < 0)
            last = STR_NONE;
    }
    while (last.n && *last.p == '[')
        last = str_skip(last, 1);
    while (last.n && !isupper((unsigned char)last.p[last.n - 1]))
        last = str_take(last, last.n - 1);
    return arena_copy(&line->arena, last.p ? last.p : "", last.n);
}

static void take_word(struct complete *line, const char *word)
{
    const char *longer = *line->path ? arena_printf(&line->arena, "%s %s", line->path, word) : word;
    int used = 0;
    const struct cli_command *found = cli_find_command(line->commands, 1, &longer, &used);

    if (!line->help && !*line->path && strcmp(word, "help") == 0) {
        line->help = true;
        line->command = found;
    } else if (!line->operands && (found || cli_is_group(line->commands, longer))) {
        line->path = longer;
        line->command = line->help ? line->command : found;
    } else {
        if (line->command && strcmp(operand_name(line), "AGENT") == 0)
            line->agent = word;
        line->operands++;
    }
}

static void read_word(struct complete *line, const char *word)
{
    if (line->pending) {
        take_value(line, line->pending, word);
        line->pending = NULL;
    } else if (!line->ended && strcmp(word, "--") == 0) {
        line->ended = true;
    } else if (!line->ended && str_starts(str_from(word), STR("--"))) {
        take_option(line, word);
    } else if (line->ended || *word != '-') {
        take_word(line, word);
    }
}

/* ---- answering ---- */

static void add_options(struct complete *line, const struct cli_option *options)
{
    for (; options && options->name; options++)
        complete_add(line, "", str_from(arena_printf(&line->arena, "--%s", options->name)),
                     str_from(options->help));
}

/* The words that may follow; a group is described by the commands it has. */
static void add_words(struct complete *line)
{
    size_t len = strlen(line->path);

    for (size_t i = 0; line->commands[i]; i++) {
        const char *name = line->commands[i]->name, *word = name + (len ? len + 1 : 0);
        size_t n;

        if (len && (strncmp(name, line->path, len) != 0 || name[len] != ' '))
            continue;
        n = (size_t)(word - name) + strcspn(word, " ");
        if (i && strncmp(line->commands[i - 1]->name, name, n) == 0 &&
            (line->commands[i - 1]->name[n] == ' ' || !line->commands[i - 1]->name[n]))
            continue; /* commands of a group stand together */
        complete_add(line, "", str_of(word, n - (size_t)(word - name)),
                     name[n] ? STR_NONE : str_from(line->commands[i]->summary));
    }
}

static void add_topics(struct complete *line)
{
    for (const struct help_topic *topic = help_topics; topic->name; topic++)
        complete_add(line, "", str_from(topic->name), str_from(topic->summary));
}

static void add_values(struct complete *line, const char *before, const struct cli_option *option)
{
    struct str rest = str_from(option->choices), one;

    if (option->choices)
        while (str_split(&rest, ' ', &one))
            complete_add(line, before, one, STR_NONE);
    else if (strcmp(option->value, "ID") == 0 || strcmp(option->value, "NAME") == 0)
        complete_values(line, before, arena_printf(&line->arena, "--%s", option->name));
    else
        complete_values(line, before, option->value);
}

static void answer(struct complete *line)
{
    const char *sign = strchr(line->cur, '=');
    const struct cli_option *option = NULL;

    if (!line->ended && !line->pending && strncmp(line->cur, "--", 2) == 0 && sign)
        option = option_of(line, line->cur);
    if (line->pending) {
        add_values(line, "", line->pending);
    } else if (option && option->value) {
        add_values(line, arena_copy(&line->arena, line->cur, (size_t)(sign - line->cur) + 1),
                   option);
    } else if (!line->ended && *line->cur == '-') {
        add_options(line, line->command ? line->command->options : NULL);
        add_options(line, cli_global_options);
    } else {
        if (!line->operands)
            add_words(line);
        if (line->help && !*line->path && !line->operands)
            add_topics(line);
        if (line->command && !line->help)
            complete_values(line, "", operand_name(line));
    }
}

void complete_line(struct buf *out, const struct cli_command *const *commands,
                   const char *const *words, size_t n)
{
    struct complete line = {
        .commands = commands, .path = "", .cur = "", .arena = ARENA_INIT, .out = out
    };

    /* bash makes three words of --x=V */
    for (size_t i = 1; i + 1 < n; i++)
        if (strcmp(words[i], "=") != 0)
            read_word(&line, words[i]);
    if (n > 1 && strcmp(words[n - 1], "=") != 0)
        line.cur = words[n - 1];
    answer(&line);
    arena_release(&line.arena);
}

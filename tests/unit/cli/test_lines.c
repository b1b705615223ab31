/* Command lines of the product, one each: what the parser makes of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "cli/args_int.h"
#include "harness/test.h"

/* line: words separated by one space, `''` for an empty one. meaning: the command, its typed
 * options in the order of the tables, then the operands; or "!" and the error's message. */
static const struct {
    const char *line, *meaning;
} cases[] = {
    { "serve", "serve" },
    { "serve --listen 127.0.0.1:0", "serve listen=127.0.0.1:0" },
    { "serve --listen=127.0.0.1:0", "serve listen=127.0.0.1:0" },
    { "serve --listen=", "serve listen=" },
    { "serve --listen ''", "serve listen=" },
    { "serve --listen=[::1]:80", "serve listen=[::1]:80" },
    { "serve --listen --open", "serve listen=--open" },
    { "serve --listen --", "serve listen=--" },
    { "serve --listen -", "serve listen=-" },
    { "serve --open --listen x", "serve listen=x open" },
    { "serve --open --open", "serve open" },
    { "--data /d serve", "serve data=/d" },
    { "--data=/d serve --json", "serve data=/d json" },
    { "--json --data /d serve --open", "serve open data=/d json" },
    { "serve --", "serve" },
    { "-- serve", "serve" },
    { "serve -h", "serve help" },
    { "-h serve", "serve help" },
    { "--help --json serve", "serve json help" },
    { "serve extra -h", "serve help: extra" },
    { "serve extra", "!`serve` does not take `extra`" },
    { "serve ''", "!`serve` does not take ``" },
    { "serve -", "!`serve` does not take `-`" },
    { "serve -- --open", "!`serve` does not take `--open`" },
    { "serve --listen", "!--listen needs a value: --listen ADDRESS" },
    { "serve --listen x --listen y", "!--listen may be given only once" },
    { "serve --open=yes", "!--open takes no value" },
    { "serve --open=", "!--open takes no value" },
    { "serve --lisen x", "!no option --lisen; did you mean --listen?" },
    { "serve --Listen x", "!no option --Listen; did you mean --listen?" },
    { "serve --opne", "!no option --opne; did you mean --open?" },
    { "serve --port 80", "!no option --port; `dormouse help serve` lists them" },
    { "serve -p", "!no option -p; options are written with two dashes" },
    { "serve -open", "!no option -open; options are written with two dashes" },
    { "serve ---open", "!no option ---open" },
    { "--listen x serve", "!no option --listen" },
    { "--data", "!--data needs a value: --data DIR" },
    { "serve --data", "!--data needs a value: --data DIR" },
    { "--data a --data b serve", "!--data may be given only once" },
    { "--data a serve --data b", "!--data may be given only once" },
    { "--json=1 serve", "!--json takes no value" },
    { "--json --json doctor", "doctor json" },
    { "doctor", "doctor" },
    { "doctor --json", "doctor json" },
    { "doctor --fix", "!no option --fix; `dormouse help doctor` lists them" },
    { "doctor now", "!`doctor` does not take `now`" },
    { "docter", "!no command `docter`; did you mean `doctor`?" },
    { "doct", "!no command `doct`; did you mean `doctor`?" },
    { "Doctor", "!no command `Doctor`; did you mean `doctor`?" },
    { "config check", "config check" },
    { "config --json check", "config check json" },
    { "config check --data=x", "config check data=x" },
    { "config show --json", "config show json" },
    { "config", "!`config` needs one of: check, show" },
    { "config -h", "(config) help" },
    { "config --help --json", "(config) json help" },
    { "config chekc", "!no command `config chekc`; did you mean `config check`?" },
    { "config chekc -h", "!no command `config chekc`; did you mean `config check`?" },
    { "config edit", "!no command `config edit`; there is: check, show" },
    { "config serve", "!no command `config serve`; there is: check, show" },
    { "config check file", "!`config check` does not take `file`" },
    { "config show agent.name", "!`config show` does not take `agent.name`" },
    { "confg check", "!no command `confg`; did you mean `config`?" },
    { "check", "!no command `check`; `dormouse help` lists them all" },
    { "schema check s i", "schema check: s i" },
    { "schema check - i", "schema check: - i" },
    { "schema check s -", "schema check: s -" },
    { "schema check -- -s -i", "schema check: -s -i" },
    { "schema check s -- --json", "schema check: s --json" },
    { "schema check s i --ref a=b", "schema check ref=a=b: s i" },
    { "schema check --ref a=b s --ref=c=d i", "schema check ref=a=b ref=c=d: s i" },
    { "schema check --assert-format s i", "schema check assert-format: s i" },
    { "schema check s", "!`schema check` needs SCHEMA INSTANCE" },
    { "schema check", "!`schema check` needs SCHEMA INSTANCE" },
    { "schema check -h", "schema check help" },
    { "schema check s i x", "!`schema check` does not take `x`; it takes SCHEMA INSTANCE" },
    { "schema check s i --ref", "!--ref needs a value: --ref URI=FILE" },
    { "schema check s i --refs a=b", "!no option --refs; did you mean --ref?" },
    { "schema check s i --assert", "!no option --assert; did you mean --assert-format?" },
    { "schema check s i --assert-format=no", "!--assert-format takes no value" },
    { "schema", "!`schema` needs one of: check" },
    { "schema chek s i", "!no command `schema chek`; did you mean `schema check`?" },
    { "schema s i", "!no command `schema s`; there is: check" },
    { "verify", "verify" },
    { "verify --policy p.yaml --bound 10", "verify policy=p.yaml bound=10" },
    { "verify --bound=-1", "verify bound=-1" },
    { "verify --bound -1", "verify bound=-1" },
    { "verify --bound", "!--bound needs a value: --bound N" },
    { "verify --bound 1 --bound 2", "!--bound may be given only once" },
    { "verify --policy a --policy b", "!--policy may be given only once" },
    { "verify p.yaml", "!`verify` does not take `p.yaml`" },
    { "verify --polcy x", "!no option --polcy; did you mean --policy?" },
    { "verfy", "!no command `verfy`; did you mean `verify`?" },
    { "backup f.tar", "backup: f.tar" },
    { "backup -- -f.tar", "backup: -f.tar" },
    { "backup ''", "backup: " },
    { "backup f.tar --json --data d", "backup data=d json: f.tar" },
    { "backup", "!`backup` needs FILE" },
    { "backup a b", "!`backup` does not take `b`; it takes FILE" },
    { "backup -f x", "!no option -f; options are written with two dashes" },
    { "backup --force x", "!no option --force; `dormouse help backup` lists them" },
    { "bakcup x", "!no command `bakcup`; did you mean `backup`?" },
    { "version", "version" },
    { "version --json", "version json" },
    { "--version", "() version" },
    { "--version --json", "() json version" },
    { "serve --version", "serve version" },
    { "version now", "!`version` does not take `now`" },
    { "verison", "!no command `verison`; did you mean `version`?" },
    { "-v", "!no option -v; options are written with two dashes" },
    { "-V", "!no option -V; options are written with two dashes" },
    { "-help", "!no option -help; options are written with two dashes" },
    { "help", "help" },
    { "help serve", "help: serve" },
    { "help config show", "help: config show" },
    { "help --man", "help man" },
    { "help --markdown", "help markdown" },
    { "help --completion bash", "help completion=bash" },
    { "help --completion=bash", "help completion=bash" },
    { "help --completion zsh", "help completion=zsh" },
    { "help --completion csh", "!--completion takes one of: bash zsh fish; not `csh`" },
    { "help --complete -- dormouse --li", "help complete: dormouse --li" },
    { "help --completion", "!--completion needs a value" },
    { "help --mam", "!no option --mam; did you mean --man?" },
    { "-h", "() help" },
    { "--help", "() help" },
    { "--json", "() json" },
    { "--", "()" },
    { "-", "!no command `-`; `dormouse help` lists them all" },
    { "''", "!no command ``; `dormouse help` lists them all" },
    { "--", "()" },
    { "--=", "!no option --" },
    { "--=x", "!no option --" },
    { "start", "!no command `start`" },
    { "stop", "!no command `stop`" },
    { "rm -rf", "!no command `rm`" },
    { "SERVE", "!no command `SERVE`" },
};

/* Splits the line in place; returns the number of words. */
static int split(struct test *t, const char *line, char **argv, int max)
{
    struct str rest = str_from(line), word;
    int argc = 1;

    argv[0] = arena_text(&t->arena, "dormouse");
    while (argc < max && str_split(&rest, ' ', &word)) {
        bool empty = str_is(word, "''");

        argv[argc++] = arena_copy(&t->arena, word.p, empty ? 0 : word.n);
    }
    return argc;
}

static void add_typed(struct buf *out, const struct cli_args *args,
                      const struct cli_option *options)
{
    for (; options && options->name; options++) {
        if (!cli_has(args, options->name))
            continue;
        if (!options->value)
            buf_printf(out, " %s", options->name);
        for (size_t i = 0; options->value && cli_value_at(args, options->name, i); i++)
            buf_printf(out, " %s=%s", options->name, cli_value_at(args, options->name, i));
    }
}

static void add_meaning(struct buf *out, const struct cli_args *args)
{
    if (args->command)
        buf_add_text(out, args->command->name);
    else
        buf_printf(out, "(%s)", args->group ? args->group : "");
    if (args->command)
        add_typed(out, args, args->command->options);
    add_typed(out, args, cli_global_options);
    for (size_t i = 0; i < cli_operand_count(args); i++)
        buf_printf(out, "%s%s", i ? " " : ": ", cli_operand(args, i));
}

TEST(every_command_line_of_the_table_means_what_it_says)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARGS args = { .command = NULL };
        AUTO_BUF meaning = BUF_INIT(1024);
        const char *expected = cases[i].meaning;
        char *argv[16];
        int argc = split(t, cases[i].line, argv, 16);
        bool same;

        err_reset(&t->err);
        if (cli_parse(&args, cli_commands, argc, argv, &t->err) < 0)
            buf_printf(&meaning, "!%s", err_message(&t->err, 0));
        else
            add_meaning(&meaning, &args);
        /* Of a message its beginning is enough. */
        same = *expected == '!' ? str_starts(buf_str(&meaning), str_from(expected))
                                : str_is(buf_str(&meaning), expected);
        if (same)
            test_case_passed();
        else
            test_case_failed("`%s` means \"%s\", expected \"%s\"", cases[i].line,
                             buf_text(&meaning), expected);
    }
}

/* One letter left out, doubled or swapped with the next: the name that was meant is offered. */
/* One letter left out, added, changed, or two beside each other that changed places. */
static bool one_step(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), same = 0;

    while (same < n && same < m && a[same] == b[same])
        same++;
    a += same;
    b += same;
    if (n == m)
        return strcmp(a + 1, b + 1) == 0 ||
               (a[0] == b[1] && a[1] == b[0] && strcmp(a + 2, b + 2) == 0);
    return n == m + 1 ? strcmp(a + 1, b) == 0 : m == n + 1 && strcmp(a, b + 1) == 0;
}

/* `rus` is as near to `run` as to `runs`: either will do. */
static bool names_one_as_near(struct test *t, const char *typed)
{
    for (size_t i = 0; cli_commands[i]; i++) {
        const char *name = cli_commands[i]->name;
        const char *word = arena_copy(&t->arena, name, strcspn(name, " "));

        if (one_step(typed, word) &&
            strstr(err_message(&t->err, 0), arena_printf(&t->arena, "did you mean `%s`?", word)))
            return true;
    }
    return false;
}

TEST(a_command_with_one_mistake_is_still_understood)
{
    for (size_t i = 0; cli_commands[i]; i++) {
        const char *name = cli_commands[i]->name;
        size_t n = strcspn(name, " ");
        const char *word = arena_copy(&t->arena, name, n);

        for (size_t at = 1; at + 1 < n; at++) {
            const char *const wrong[] = {
                arena_printf(&t->arena, "%.*s%s", (int)at, word, word + at + 1),
                arena_printf(&t->arena, "%.*s%c%s", (int)at, word, word[at], word + at),
                arena_printf(&t->arena, "%.*s%c%c%s", (int)at, word, word[at + 1], word[at],
                             word + at + 2),
            };

            for (size_t k = 0; k < ARRAY_LEN(wrong); k++) {
                AUTO_ARGS args = { .command = NULL };
                char *argv[] = { arena_text(&t->arena, "dormouse"), arena_text(&t->arena, wrong[k]),
                                 NULL };

                if (strcmp(wrong[k], word) == 0) /* two equal letters changed places */
                    continue;
                err_reset(&t->err);
                ASSERT_FAILS(cli_parse(&args, cli_commands, 2, argv, &t->err), ERR_BAD_REQUEST);
                if (!names_one_as_near(t, wrong[k]))
                    FAIL("%s for %s", err_message(&t->err, 0), word);
            }
        }
    }
}

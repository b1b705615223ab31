/* What the command itself made known: variables, arguments, functions, files, links.
 *
 * Branches are not weighed, so the last value holds; what there is no room for makes the command
 * obscure, because what is forgotten would be read as empty.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "policy/danger_int.h"

/* ---- variables ---- */

/* Variables that name code which other programs load, and those whose value is expanded. */
#define LOADED   "BASH_ENV ENV LD_AUDIT LD_PRELOAD PERL5OPT PYTHONSTARTUP NODE_OPTIONS RUBYOPT"
#define EXPANDED "PS0 PS1 PS2 PS4"

/* Variables that only bash sets. */
#define SET_BY_BASH "BASH BASHPID EUID FUNCNAME HOSTNAME RANDOM SECONDS UID"

const struct danger_var *danger_find_var(const struct danger_scan *scan, struct str name)
{
    for (size_t i = 0; i < scan->vars_n; i++)
        if (str_eq(scan->vars[i].name, name))
            return &scan->vars[i];
    return NULL;
}

/* As other programs know it: in capitals. */
static bool is_exported(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] >= 'a' && name.p[i] <= 'z')
            return false;
    return true;
}

/* The files that the value names, as the command wrote them: "--require /tmp/x.js". */
static void judge_loaded(struct danger_scan *scan, struct str value)
{
    struct str word;

    while (!scan->hit && str_split(&value, ' ', &word)) {
        struct danger_stream code = danger_read_file(scan, word);

        danger_judge_source(scan, code.facts);
        if (code.text.p)
            danger_run_text_by(scan, "sh", code.text, (struct danger_stream){ 0 });
    }
}

/* A shell's history that goes nowhere. */
static bool forgets(struct str name, struct str value)
{
    if (str_is(name, "HISTFILE"))
        return value.n == 0 || str_is(value, "/dev/null");
    return danger_is(name, "HISTSIZE HISTFILESIZE") && str_is(value, "0");
}

void danger_judge_var(struct danger_scan *scan, struct str name, struct str value)
{
    if (is_exported(name) && danger_names_command(name))
        danger_run_value(scan, name, value);
    if (danger_is(name, LOADED))
        judge_loaded(scan, value);
    if (danger_is(name, EXPANDED))
        danger_expand_text(scan, value);
    if (forgets(name, value))
        danger_report(scan, "traces_wiped", "It would remove the traces of what was done.");
}

void danger_set_var(struct danger_scan *scan, struct str name, struct str value, unsigned facts)
{
    struct danger_var *var = (struct danger_var *)danger_find_var(scan, name);

    if (str_is(name, "IFS"))
        scan->ifs = value;
    danger_judge_var(scan, name, value);
    if (!var && scan->vars_n == DANGER_VARS_MAX)
        danger_obscure(scan);
    else if (!var)
        var = &scan->vars[scan->vars_n++];
    if (var)
        *var = (struct danger_var){ name, value, facts };
}

void danger_unset_var(struct danger_scan *scan, struct str name)
{
    struct danger_var *var = (struct danger_var *)danger_find_var(scan, name);

    if (var)
        *var = scan->vars[--scan->vars_n];
}

/* $1 and so on, which a script may have been given. */
static bool argument(const struct danger_scan *scan, size_t i, struct str *ret)
{
    static const char unknown[] = { MARK_UNKNOWN };

    if (scan->args.unknown && i > 0)
        *ret = str_of(unknown, 1);
    else if (i < scan->args.n)
        *ret = scan->args.words[i].text;
    else if (i == 0)
        *ret = STR("bash");
    else
        return false;
    return true;
}

static bool environment(struct danger_scan *scan, struct str name, struct str *ret)
{
    static const char unknown[] = { MARK_UNKNOWN }, home[] = { MARK_HOME };
    static const char data[] = { MARK_HOME, '/', '.', 'l', 'o', 'c', 'a', 'l', '/', 's', 'h', 'a',
                                 'r',       'e', '/', 'd', 'o', 'r', 'm', 'o', 'u', 's', 'e' };

    if (scan->plain && danger_is(name, SET_BY_BASH))
        return false;
    if (str_is(name, "HOME"))
        *ret = str_of(home, 1);
    else if (str_is(name, "DORMOUSE_DATA"))
        *ret = str_of(data, sizeof(data));
    else if (str_is(name, "XDG_DATA_HOME"))
        *ret = str_of(data, sizeof(data) - 9);
    else if (str_is(name, "PWD"))
        *ret = scan->cwd.n ? scan->cwd : STR(".");
    else if (danger_is(name, "SHELL BASH"))
        *ret = STR("/bin/bash");
    else if (str_is(name, "FUNCNAME"))
        *ret = scan->function.n ? scan->function : STR("");
    else if (danger_is(name, "PATH USER LOGNAME TMPDIR LANG TERM OLDPWD HOSTNAME RANDOM SECONDS "
                             "PPID UID EUID BASHPID LINENO XDG_RUNTIME_DIR XDG_CONFIG_HOME "
                             "XDG_CACHE_HOME ? # $ ! - _ REPLY"))
        *ret = str_of(unknown, 1);
    else
        return false;
    return true;
}

bool danger_value_of(struct danger_scan *scan, struct str name, struct str *ret)
{
    const struct danger_var *var = danger_find_var(scan, name);
    size_t i = 0;

    if (var) {
        *ret = var->value;
        return true;
    }
    if (name.n == 0 || name.n > 4 || name.p[0] < '0' || name.p[0] > '9')
        return environment(scan, name, ret);
    for (size_t k = 0; k < name.n; k++)
        i = i * 10 + (size_t)(name.p[k] - '0');
    return argument(scan, i, ret);
}

/* ---- functions ---- */

struct danger_function *danger_find_function(struct danger_scan *scan, struct str name)
{
    for (size_t i = 0; i < scan->functions_n; i++)
        if (str_eq(scan->functions[i].name, name))
            return &scan->functions[i];
    return NULL;
}

void danger_add_function(struct danger_scan *scan, struct str name, struct str body, bool alias)
{
    struct danger_function *function = danger_find_function(scan, name);

    if (!function && scan->functions_n == DANGER_NAMES_MAX)
        danger_obscure(scan);
    else if (!function)
        function = &scan->functions[scan->functions_n++];
    if (function)
        *function = (struct danger_function){ .name = name, .body = body, .alias = alias };
}

/* ---- files ---- */

void danger_add_link(struct danger_scan *scan, struct str name, struct str target)
{
    if (scan->links_n == DANGER_LINKS_MAX)
        danger_obscure(scan);
    else
        scan->links[scan->links_n++] = (struct danger_link){ name, target };
}

void danger_add_file(struct danger_scan *scan, struct str path, struct danger_stream holds)
{
    struct str name = danger_base(path);

    if (name.n == 0 || (!holds.facts && !holds.text.p))
        return;
    if (scan->files_n == DANGER_FILES_MAX)
        danger_obscure(scan);
    else
        scan->files[scan->files_n++] = (struct danger_file){ name, holds.text, holds.facts };
}

void danger_join(struct danger_scan *scan, struct danger_stream *all, struct danger_stream one)
{
    all->facts |= one.facts;
    if (all->text.p && all->text.n == 0)
        all->text = one.text;
    else if (all->text.p && one.text.p && all->text.n + one.text.n < DANGER_FIELD_MAX &&
             danger_charge(scan, (all->text.n + one.text.n) / DANGER_COPIED))
        all->text =
            str_from(arena_printf(scan->arena, "%.*s%.*s", STR_ARG(all->text), STR_ARG(one.text)));
    else
        all->text = STR_NONE;
}

struct danger_stream danger_read_file(struct danger_scan *scan, struct str path)
{
    struct str name = danger_base(path);
    struct danger_stream all = { .text = STR("") };
    bool any = false;

    for (size_t i = 0; i < scan->files_n; i++) {
        const struct danger_file *file = &scan->files[i];

        if (!str_eq(file->name, name))
            continue;
        any = true;
        danger_join(scan, &all, (struct danger_stream){ file->facts, file->text });
    }
    return any ? all : (struct danger_stream){ 0 };
}

/* Reading git's configuration, and the tables of its settings.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/git_config.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"

/* ---- the reader ---- */

/* The next character, -1 at the end. Lines may end in CR LF. */
static int config_get(struct git_config *config)
{
    if (config->rest.n > 1 && config->rest.p[0] == '\r' && config->rest.p[1] == '\n')
        config->rest = str_skip(config->rest, 1);
    if (config->rest.n == 0)
        return -1;
    config->rest = str_skip(config->rest, 1);
    return (unsigned char)config->rest.p[-1];
}

static int config_peek(const struct git_config *config)
{
    struct git_config ahead = *config;

    return config_get(&ahead);
}

static void config_skip_line(struct git_config *config)
{
    for (int c = 0; c >= 0 && c != '\n';)
        c = config_get(config);
}

/* What git would stop at. */
static bool config_break(struct git_config *config)
{
    config->broken = true;
    config_skip_line(config);
    return false;
}

/* A name of letters, digits and hyphens, in lower case. False when there is none, or it is too
 * long. */
static bool config_name(struct git_config *config, char name[GIT_NAME_BYTES])
{
    size_t n = 0;

    while (isalnum(config_peek(config)) || config_peek(config) == '-') {
        int c = config_get(config);

        if (n + 1 >= GIT_NAME_BYTES)
            return false;
        name[n++] = (char)tolower(c);
    }
    name[n] = '\0';
    return n > 0;
}

static void config_blanks(struct git_config *config)
{
    while (config_peek(config) == ' ' || config_peek(config) == '\t')
        config_get(config);
}

/* After "[": section], section.sub] or section "sub"]. */
static bool config_section(struct git_config *config)
{
    int c;

    if (!config_name(config, config->section))
        return config_break(config);
    while (isalnum(c = config_peek(config)) || c == '-' || c == '.')
        config_get(config);
    config_blanks(config);
    if (config_peek(config) == '"') {
        config_get(config);
        while ((c = config_get(config)) >= 0 && c != '"' && c != '\n')
            if (c == '\\' && (c = config_get(config)) == '\n')
                break;
        if (c != '"') {
            config->broken = true;
            return false;
        }
    }
    return config_get(config) == ']' || config_break(config);
}

/* After a backslash; false when git knows no such thing. */
static bool config_escaped(int c, char *ret_char)
{
    static const char escapes[] = "tbn\\\"", meant[] = "\t\b\n\\\"";
    const char *at = c > 0 ? strchr(escapes, c) : NULL;

    if (at)
        *ret_char = meant[at - escapes];
    return at != NULL;
}

/* After "=", to the end of the line. */
static bool config_value(struct git_config *config, char value[LIMIT_PATH_BYTES])
{
    size_t n = 0, end = 0; /* blanks at the end do not count */
    bool quoted = false;
    int c;

    config_blanks(config);
    while ((c = config_get(config)) >= 0 && c != '\n') {
        char out = (char)c;
        bool blank = !quoted && isspace(c);

        if (!quoted && (c == '#' || c == ';')) {
            config_skip_line(config);
            break;
        }
        if (c == '"') {
            quoted = !quoted;
            end = n;
            continue;
        }
        if (c == '\\' && config_peek(config) == '\n') {
            config_get(config);
            continue;
        }
        if (c == '\\' && !config_escaped(config_get(config), &out))
            return config_break(config);
        if (out == '\0' || n + 1 >= LIMIT_PATH_BYTES)
            return config_break(config);
        value[n++] = out;
        if (!blank)
            end = n;
    }
    value[end] = '\0';
    config->broken = config->broken || quoted;
    return !quoted;
}

bool git_config_next(struct git_config *config, struct git_setting *ret_setting)
{
    static const struct str mark = { "\xef\xbb\xbf", 3 };

    if (!config->section[0] && str_starts(config->rest, mark))
        config->rest = str_skip(config->rest, mark.n);
    while (config->rest.n > 0) {
        int c = config_peek(config);

        if (isspace(c)) {
            config_get(config);
        } else if (c == '#' || c == ';') {
            config_skip_line(config);
        } else if (c == '[') {
            config_get(config);
            config_section(config);
        } else if (!isalpha(c) || !config_name(config, ret_setting->key)) {
            config_break(config);
        } else {
            memcpy(ret_setting->section, config->section, GIT_NAME_BYTES);
            ret_setting->value[0] = '\0';
            config_blanks(config);
            c = config_peek(config);
            if (c == '=')
                config_get(config);
            if (c == '=' ? config_value(config, ret_setting->value)
                         : c < 0 || c == '\n' || config_break(config))
                return true;
        }
    }
    return false;
}

/* ---- what a setting means ---- */

static bool setting_is(const char *keys, const char *key)
{
    size_t n = strlen(key);

    for (const char *at = keys; (at = strstr(at, key)); at += n)
        if ((at == keys || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return strcmp(keys, "*") == 0;
}

bool git_config_is_plain(struct str text)
{
    static const struct {
        const char *section, *keys;
    } plain[] = {
        { "core", "repositoryformatversion filemode bare logallrefupdates ignorecase "
                  "precomposeunicode symlinks autocrlf eol compression sharedrepository" },
        { "extensions", "objectformat refstorage worktreeconfig" },
        { "remote", "url fetch tagopt" },
        { "branch", "remote merge rebase" },
        { "submodule", "url active path branch" },
        { "user", "name email" },
        { "init", "defaultbranch" },
    };
    struct git_config config = { .rest = text };
    struct git_setting setting;

    /* A line that goes on below, which no clone has. */
    if (str_find(text, STR("\\\n")) >= 0 || str_find(text, STR("\\\r\n")) >= 0)
        return false;
    while (git_config_next(&config, &setting)) {
        bool known = false;

        for (size_t i = 0; i < ARRAY_LEN(plain); i++)
            known = known || (strcmp(plain[i].section, setting.section) == 0 &&
                              setting_is(plain[i].keys, setting.key));
        if (!known)
            return false;
    }
    return !config.broken;
}

enum git_names git_setting_names(const struct git_setting *setting)
{
    /* With a subsection or without. */
    static const struct {
        const char *section, *keys;
        enum git_names names;
    } table[] = {
        { "include", "path", GIT_NAMES_CONFIG },
        { "includeif", "path", GIT_NAMES_CONFIG },
        { "core", "hookspath", GIT_NAMES_HOOKS },
        { "init", "templatedir", GIT_NAMES_PATH },
        { "core", "fsmonitor sshcommand pager editor askpass gitproxy alternaterefscommand",
          GIT_NAMES_COMMAND },
        { "alias", "*", GIT_NAMES_ALIAS },
        { "browser", "cmd path", GIT_NAMES_COMMAND },
        { "credential", "helper", GIT_NAMES_COMMAND },
        { "diff", "external command textconv", GIT_NAMES_COMMAND },
        { "difftool", "cmd path", GIT_NAMES_COMMAND },
        { "filter", "clean smudge process", GIT_NAMES_COMMAND },
        { "gc", "recentobjectshook", GIT_NAMES_COMMAND },
        { "gpg", "program defaultkeycommand", GIT_NAMES_COMMAND },
        { "hook", "command", GIT_NAMES_COMMAND },
        { "imap", "tunnel", GIT_NAMES_COMMAND },
        { "interactive", "difffilter", GIT_NAMES_COMMAND },
        { "man", "cmd path", GIT_NAMES_COMMAND },
        { "merge", "driver", GIT_NAMES_COMMAND },
        { "mergetool", "cmd path", GIT_NAMES_COMMAND },
        { "pager", "*", GIT_NAMES_COMMAND },
        { "remote", "uploadpack receivepack", GIT_NAMES_COMMAND },
        { "sendemail", "sendmailcmd smtpserver tocmd cccmd headercmd", GIT_NAMES_COMMAND },
        { "sequence", "editor", GIT_NAMES_COMMAND },
        { "submodule", "update", GIT_NAMES_COMMAND },
        { "tar", "command", GIT_NAMES_COMMAND },
        { "trailer", "command cmd", GIT_NAMES_COMMAND },
        { "uploadpack", "packobjectshook", GIT_NAMES_COMMAND },
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (strcmp(table[i].section, setting->section) == 0 &&
            setting_is(table[i].keys, setting->key))
            /* Without "!" an alias is a command of git's own. */
            return table[i].names == GIT_NAMES_ALIAS && setting->value[0] != '!' ? GIT_NAMES_NOTHING
                                                                                 : table[i].names;
    return GIT_NAMES_NOTHING;
}

bool git_command_word(struct str *rest, char ret_word[LIMIT_PATH_BYTES])
{
    static const char between[] = " \t\n!;&|()<>=`";
    size_t n = 0;
    char quote = '\0';

    while (rest->n > 0 && strchr(between, rest->p[0]))
        *rest = str_skip(*rest, 1);
    if (rest->n == 0)
        return false;
    for (; rest->n > 0 && (quote || !strchr(between, rest->p[0])); *rest = str_skip(*rest, 1)) {
        char c = rest->p[0];

        if (c == quote) {
            quote = '\0';
        } else if (!quote && (c == '"' || c == '\'')) {
            quote = c;
        } else if (n + 1 < LIMIT_PATH_BYTES) {
            if (c == '\\' && quote != '\'' && rest->n > 1)
                *rest = str_skip(*rest, 1);
            ret_word[n++] = rest->p[0];
        }
    }
    ret_word[n] = '\0';
    return true;
}

/* ---- what git would go on with ---- */

static bool sequence_has(const char *words, struct str word)
{
    struct str left = str_from(words), one;

    while (str_split(&left, ' ', &one))
        if (str_eq(one, word))
            return true;
    return false;
}

/* Others are programs that git looks for, also by a path. */
static bool sequence_strategy(struct str name)
{
    return sequence_has("ort recursive resolve octopus ours subtree", name);
}

/* Lines with instructions: only "exec" runs something, and what we don't know may. */
static bool sequence_todo(struct str text)
{
    struct str line;

    while (str_split(&text, '\n', &line)) {
        size_t n = 0;

        line = str_trim(line);
        while (n < line.n && !isspace((unsigned char)line.p[n]))
            n++;
        /* A comment begins with a character of the person's choice, but with no letter. */
        if (line.n == 0 || (!isalnum((unsigned char)line.p[0]) && line.p[0] > ' '))
            continue;
        if (!sequence_has("pick p revert reword r edit e squash s fixup f drop d break b label l "
                          "reset t merge m update-ref u noop",
                          str_take(line, n)))
            return false;
    }
    return true;
}

static bool sequence_options(struct str text)
{
    struct git_config config = { .rest = text };
    struct git_setting setting;

    while (git_config_next(&config, &setting))
        if (strcmp(setting.key, "strategy") == 0 && !sequence_strategy(str_from(setting.value)))
            return false;
    return !config.broken;
}

bool git_sequence_is_plain(const char *name, struct str text)
{
    if (strcmp(name, "strategy") == 0)
        return sequence_strategy(str_trim(text));
    if (strcmp(name, "opts") == 0)
        return sequence_options(text);
    return (strcmp(name, "git-rebase-todo") == 0 || strcmp(name, "todo") == 0) &&
           sequence_todo(text);
}

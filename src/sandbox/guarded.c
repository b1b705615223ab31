/* The table of guarded names, and git's settings that are harmless.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/guarded.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

const char *const guarded_names[] = {
    ".dormouse",
    /* editors: tasks that start with the folder, interpreters, terminals */
    ".vscode",
    ".idea",
    ".devcontainer",
    /* directories that run something when one enters them, or commits in them */
    ".envrc",
    ".direnv",
    ".mise.toml",
    "mise.toml",
    ".husky",
    ".pre-commit-config.yaml",
    /* a home's: shells, readline, git, ssh, npm, passwords for hosts */
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".inputrc",
    ".gitconfig",
    ".npmrc",
    ".netrc",
    ".ssh",
    ".gnupg",
    ".xprofile",
    ".xinitrc",
    ".xsessionrc",
    NULL,
};

const char *const guarded_git[] = { "hooks", "config", "config.worktree", "commondir", NULL };

bool guarded_has(const char *const *names, const char *name)
{
    for (size_t i = 0; names[i]; i++)
        if (strcasecmp(names[i], name) == 0)
            return true;
    return false;
}

/* ---- git's settings ---- */

static const struct {
    const char *section;
    const char *keys; /* with a space before and after each */
} plain[] = {
    { "core", " repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode"
              " symlinks autocrlf eol compression sharedrepository " },
    { "extensions", " objectformat refstorage worktreeconfig " },
    { "remote", " url fetch tagopt " },
    { "branch", " remote merge rebase " },
    { "submodule", " url active path branch " },
    { "user", " name email " },
    { "init", " defaultbranch " },
};

static bool config_section(struct str line, char section[64], struct str *ret_rest)
{
    long end = str_find(line, STR("]"));
    size_t n = 1;

    if (end < 0)
        return false;
    while (n < (size_t)end && n < 60 && (isalnum((unsigned char)line.p[n]) || line.p[n] == '-')) {
        section[n - 1] = (char)tolower((unsigned char)line.p[n]);
        n++;
    }
    section[n - 1] = '\0';
    *ret_rest = str_trim(str_skip(line, (size_t)end + 1));
    return true;
}

static bool config_key(const char *section, struct str line)
{
    char key[64] = " ";
    size_t n = 0;

    while (n < line.n && n < 60 && (isalnum((unsigned char)line.p[n]) || line.p[n] == '-')) {
        key[n + 1] = (char)tolower((unsigned char)line.p[n]);
        n++;
    }
    key[n + 1] = ' ';
    key[n + 2] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (strcmp(plain[i].section, section) == 0 && n > 0 && strstr(plain[i].keys, key))
            return true;
    return false;
}

bool guarded_config_is_plain(struct str text)
{
    char section[64] = "";
    struct str line;

    while (str_split(&text, '\n', &line)) {
        line = str_trim(line);
        /* A line that goes on below may be anything. */
        if (line.n > 0 && line.p[line.n - 1] == '\\')
            return false;
        if (line.n > 0 && line.p[0] == '[' && !config_section(line, section, &line))
            return false;
        if (line.n == 0 || line.p[0] == '#' || line.p[0] == ';')
            continue;
        if (!config_key(section, line))
            return false;
    }
    return true;
}

/* The table of guarded names.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/guarded.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

const struct guarded_name guarded_names[] = {
    { "", ".dormouse" },
    /* editors: tasks that start with the folder, language servers, terminals */
    { "", ".vscode" },
    { "", ".idea" },
    { "", ".fleet" },
    { "", ".zed" },
    { "", ".theia" },
    { "", ".helix" },
    { "", ".devcontainer" },
    { "", ".devcontainer.json" },
    { "", ".exrc" },
    { "", ".vimrc" },
    { "", ".lvimrc" },
    { "", ".nvimrc" },
    { "", ".nvim.lua" },
    { ".vim", "coc-settings.json" },
    { "", ".dir-locals.el" },
    { "", ".dir-locals-2.el" },
    /* assistants: servers and hooks that they start */
    { "", ".claude" },
    { "", ".mcp.json" },
    { "", ".cursor" },
    { "", ".windsurf" },
    { "", ".gemini" },
    { "", ".qwen" },
    { "", ".codex" },
    { "", ".aider.conf.yml" },
    { "", ".continue" },
    { "", ".continuerc.json" },
    { "", ".roo" },
    { "", ".kilocode" },
    { "", ".kiro" },
    { "", ".amazonq" },
    { "", ".junie" },
    { "", ".trae" },
    { "", ".opencode" },
    { "", "opencode.json" },
    { "", "opencode.jsonc" },
    { "", ".crush.json" },
    { "", "crush.json" },
    { "", ".factory" },
    { "", ".augment" },
    { "", ".cline" },
    { "", ".clinerules" },
    { "", ".copilot" },
    { "", ".kilo" },
    { "", ".qoder" },
    { "", ".codebuddy" },
    /* debuggers and interpreters that read where they are started */
    { "", ".gdbinit" },
    { "", ".lldbinit" },
    { "", ".pdbrc" },
    { "", ".irbrc" },
    { "", ".pryrc" },
    { "", ".byebugrc" },
    { "", ".iex.exs" },
    { "", ".ghci" },
    { "", ".ocamlinit" },
    { "", ".Rprofile" },
    { "", ".Renviron" },
    /* directories that run something, or choose what is run, when one enters them */
    { "", ".envrc" },
    { "", ".direnv" },
    { "", ".autoenv" },
    { "", ".autoenv.zsh" },
    { "", ".mise" },
    { "", "mise" },
    { "", ".mise.toml" },
    { "", "mise.toml" },
    { "", ".mise.local.toml" },
    { "", "mise.local.toml" },
    { ".config", "mise" },
    { ".config", "mise.toml" },
    { ".config", "mise.local.toml" },
    { "", ".rtx.toml" },
    { "", ".tool-versions" },
    { "", ".shadowenv.d" },
    /* what runs with a commit */
    { "", ".husky" },
    { "", ".huskyrc" },
    { "", ".githooks" },
    { "", ".git-hooks" },
    { "", ".hooks" },
    { "", "hk.pkl" },
    { "", ".pre-commit-config.yaml" },
    { "", ".pre-commit-config.yml" },
    { "", "prek.toml" },
    { "", ".overcommit.yml" },
    { "", ".local-overcommit.yml" },
    { "", ".lefthook" },
    { "", ".lefthook-local" },
    { "", "lefthook.yml" },
    { "", "lefthook.yaml" },
    { "", "lefthook.json" },
    { "", "lefthook.jsonc" },
    { "", "lefthook.toml" },
    { "", ".lefthook.yml" },
    { "", ".lefthook.yaml" },
    { "", ".lefthook.json" },
    { "", ".lefthook.jsonc" },
    { "", ".lefthook.toml" },
    { "", "lefthook-local.yml" },
    { "", "lefthook-local.yaml" },
    { "", "lefthook-local.json" },
    { "", "lefthook-local.jsonc" },
    { "", "lefthook-local.toml" },
    { "", ".lefthook-local.yml" },
    { "", ".lefthook-local.yaml" },
    { "", ".lefthook-local.json" },
    { "", ".lefthook-local.jsonc" },
    { "", ".lefthook-local.toml" },
    { ".config", "lefthook.yml" },
    { ".config", "lefthook.yaml" },
    { ".config", "lefthook.json" },
    { ".config", "lefthook.jsonc" },
    { ".config", "lefthook.toml" },
    { ".config", "lefthook-local.yml" },
    { ".config", "lefthook-local.yaml" },
    { ".config", "lefthook-local.json" },
    { ".config", "lefthook-local.jsonc" },
    { ".config", "lefthook-local.toml" },
    /* other version controls */
    { ".hg", "hgrc" },
    { ".hg", "hgrc-not-shared" },
    { ".sl", "config" },
    { ".jj/repo", "config.toml" },
    { ".pijul", "config" },
    /* package managers: where their own program comes from, what it loads */
    { "", ".npmrc" },
    { "", ".yarnrc" },
    { "", ".yarnrc.yml" },
    { ".yarn", "releases" },
    { ".yarn", "plugins" },
    { ".yarn", "sdks" },
    { "", ".pnpmfile.cjs" },
    { "", ".pnpmfile.mjs" },
    { ".cargo", "config" },
    { ".cargo", "config.toml" },
    /* a home's: shells, readline, git, ssh, passwords for hosts */
    { "", ".bashrc" },
    { "", ".bash_profile" },
    { "", ".bash_login" },
    { "", ".bash_logout" },
    { "", ".bash_aliases" },
    { "", ".profile" },
    { "", ".zshrc" },
    { "", ".zshenv" },
    { "", ".zprofile" },
    { "", ".zlogin" },
    { "", ".zlogout" },
    { "", ".inputrc" },
    { "", ".gitconfig" },
    { "", ".netrc" },
    { "", ".ssh" },
    { "", ".gnupg" },
    { "", ".xprofile" },
    { "", ".xinitrc" },
    { "", ".xsessionrc" },
    { "", NULL },
};

const struct guarded_name guarded_home[] = {
    /* shells and sessions */
    { "", ".bash_completion" },
    { "", ".bashrc.d" },
    { "", ".cshrc" },
    { "", ".tcshrc" },
    { "", ".login" },
    { "", ".kshrc" },
    { "", ".mkshrc" },
    { "", ".oh-my-zsh" },
    { "", ".zsh" },
    { "", ".pam_environment" },
    { "", ".xsession" },
    { "", ".xserverrc" },
    { "", ".gnomerc" },
    { "", ".xmonad" },
    { "", ".vnc" },
    { "", ".rhosts" },
    { "", ".k5login" },
    { "", ".forward" },
    { "", ".procmailrc" },
    { "", ".direnvrc" },
    { ".config", "fish" },
    { ".config", "zsh" },
    { ".config", "nushell" },
    { ".config", "powershell" },
    { ".config", "starship.toml" },
    { ".config", "direnv" },
    { ".config", "autostart" },
    { ".config", "autostart-scripts" },
    { ".config", "plasma-workspace" },
    { ".config", "systemd" },
    { ".config", "environment.d" },
    { ".config", "i3" },
    { ".config", "sway" },
    { ".config", "hypr" },
    { ".config", "openbox" },
    { ".config", "awesome" },
    { ".config", "bspwm" },
    { ".config", "sxhkd" },
    { ".config", "xfce4" },
    { ".local/share", "systemd" },
    { ".local/share", "dbus-1" },
    { ".local/share", "applications" },
    { ".local/share", "bash-completion" },
    { ".local/share", "fish" },
    { ".local/share", "gnome-shell" },
    { ".local/share", "nautilus-python" },
    /* terminals */
    { "", ".tmux.conf" },
    { "", ".tmux" },
    { "", ".screenrc" },
    { ".config", "tmux" },
    { ".config", "kitty" },
    { ".config", "alacritty" },
    { ".config", "foot" },
    { ".config", "ghostty" },
    { ".config", "wezterm" },
    { "", ".wezterm.lua" },
    /* where programs are looked for */
    { "", "bin" },
    { ".local", "bin" },
    { ".cargo", "bin" },
    { ".cargo", "env" },
    { "go", "bin" },
    { ".bun", "bin" },
    { ".deno", "bin" },
    { ".yarn", "bin" },
    { ".dotnet", "tools" },
    { ".local", "lib" },
    { "", ".npm-global" },
    { "", ".nvm" },
    { "", ".volta" },
    { "", ".asdf" },
    { "", ".pyenv" },
    { "", ".rbenv" },
    { ".local/share", "mise" },
    /* editors and assistants */
    { "", ".vim" },
    { "", ".gvimrc" },
    { "", ".vscode-server" },
    { "", ".emacs" },
    { "", ".emacs.d" },
    { ".config", "emacs" },
    { ".config", "nvim" },
    { ".config", "vim" },
    { ".local/share", "nvim" },
    { ".config", "helix" },
    { ".config", "zed" },
    { ".config/Code", "User" },
    { ".config/VSCodium", "User" },
    { ".config/Cursor", "User" },
    { "", ".claude.json" },
    { ".config", "claude" },
    { ".config", "opencode" },
    { ".config", "crush" },
    /* version control, fetching, containers, packages */
    { ".config", "git" },
    { ".config", "jj" },
    { "", ".jjconfig.toml" },
    { "", ".hgrc" },
    { ".config", "hg" },
    { ".config", "gh" },
    { "", ".curlrc" },
    { "", ".wgetrc" },
    { "", ".docker" },
    { "", ".kube" },
    { ".config", "pip" },
    { "", ".pip" },
    { "", ".pypirc" },
    { ".gradle", "init.gradle" },
    { ".gradle", "init.d" },
    { ".m2", "settings.xml" },
    { "", ".psqlrc" },
    { "", ".sqliterc" },
    { "", ".pythonrc" },
    { "", ".ipython" },
    { "", ".julia" },
    { "", ".gdbearlyinit" },
    { ".config", "gdb" },
    { "", ".mailcap" },
    { "", ".muttrc" },
    /* Dormouse: its settings, and the list of data directories that are denied */
    { ".config", "dormouse" },
    { ".local/state", "dormouse" },
    { "", NULL },
};

const char *const guarded_git[] = { "hooks", "config", "config.worktree", "commondir", NULL };

/* No "info/attributes": it only chooses among the commands that a configuration names, as any
 * .gitattributes in the tree does. */
const struct guarded_name guarded_git_later[] = {
    { "rebase-merge", "git-rebase-todo" },
    { "rebase-merge", "strategy" },
    { "rebase-apply", "strategy" },
    { "sequencer", "todo" },
    { "sequencer", "opts" },
    { "sl", "config" }, /* Sapling's */
    { "", NULL },
};

/* path without its last "/tail"; NULL when it does not end so. */
static const char *guarded_tail(const char *path, size_t n, const char *tail, size_t tail_n)
{
    const char *at = path + n - tail_n;

    if (n <= tail_n || at[-1] != '/' || strncasecmp(at, tail, tail_n) != 0)
        return NULL;
    return at - 1;
}

static bool guarded_ends(const char *path, size_t n, const struct guarded_name *entry)
{
    const char *rest = guarded_tail(path, n, entry->name, strlen(entry->name));

    return rest && (entry->way[0] == '\0' ||
                    guarded_tail(path, (size_t)(rest - path), entry->way, strlen(entry->way)));
}

static bool guarded_on_the_way(const char *path, size_t n, const char *way)
{
    for (size_t end = strcspn(way, "/");; end += 1 + strcspn(way + end + 1, "/")) {
        if (end > 0 && guarded_tail(path, n, way, end))
            return true;
        if (way[end] == '\0')
            return false;
    }
}

bool guarded_has(const struct guarded_name *names, const char *path, bool link)
{
    const char *last = strrchr(path, '/') + 1;
    size_t n = strlen(path);

    /* Most names differ in their first two letters from all of these. */
    for (; names->name; names++) {
        if (tolower((unsigned char)names->name[0]) == tolower((unsigned char)last[0]) &&
            tolower((unsigned char)names->name[1]) == tolower((unsigned char)last[1]) &&
            guarded_ends(path, n, names))
            return true;
        if (link && guarded_on_the_way(path, n, names->way))
            return true;
    }
    return false;
}

bool guarded_is_git_mark(const char *name)
{
    static const char *const marks[] = { "HEAD", "objects", "refs", "commondir" };

    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (strcasecmp(marks[i], name) == 0)
            return true;
    return false;
}

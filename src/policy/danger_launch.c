/* Programs that start another one behind a word of theirs: uv run, bundle exec, tmux new, bwrap.
 *
 * Which of the words begins the command depends on options that are theirs to know. So each word
 * within reach is tried as the first one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "policy/danger_int.h"

static const struct launcher {
    const char *names;
    const char *after; /* the command follows one of these; "": the name itself */
    size_t reach;      /* words behind it that may begin the command */
} launchers[] = {
    { "npm pnpm yarn bun bundle direnv mise rbenv pyenv", "exec", 2 },
    { "uv poetry pipenv pdm hatch rye conda mamba micromamba", "run", 3 },
    { "perf", "record stat trace", 3 },
    { "gdb rr", "--args record", 1 },
    { "ip", "exec", 2 },
    { "screen", "-d -m -dm -dmS", 2 },
    { "tmux",
      "new new-session neww new-window send send-keys split-window splitw run run-shell "
      "respawn-pane if-shell",
      6 },
    { "xterm urxvt konsole gnome-terminal alacritty kitty foot xfce4-terminal", "-e -x --", 1 },
    { "i3-msg swaymsg hyprctl", "exec", 1 },
    { "bwrap systemd-nspawn proot nsenter", "", 32 },
    { "valgrind faketime sshpass entr watchexec cgexec hyperfine sem catchsegv", "", 4 },
};

static void run_from(struct danger_scan *scan, const struct danger_command *command, size_t i)
{
    struct str word = command->words[i].text, cwd = scan->cwd;

    if (danger_is_option(word))
        return;
    if (str_find_char(word, ' ') >= 0)
        danger_run_text_by(scan, "sh", danger_plain(scan, word), (struct danger_stream){ 0 });
    else
        danger_run_words(scan, command, i);
    scan->cwd = cwd;
}

void danger_run_launched(struct danger_scan *scan, const struct danger_command *command,
                         struct str name)
{
    for (size_t k = 0; k < ARRAY_LEN(launchers); k++) {
        const struct launcher *launcher = &launchers[k];
        size_t from = 0;

        if (!danger_is(name, launcher->names))
            continue;
        while (launcher->after[0] && from < command->n &&
               !(from > 0 && danger_is(command->words[from].text, launcher->after)))
            from++;
        for (size_t i = 1; i <= launcher->reach && from + i < command->n && !scan->hit; i++)
            run_from(scan, command, from + i);
    }
}

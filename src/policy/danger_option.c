/* Options of other programs that are followed by a command for a shell.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "policy/danger_int.h"

static const struct {
    const char *names, *before; /* the command stands behind this in a word */
    bool at_start;
} options[] = {
    { "tar bsdtar", "--checkpoint-action=exec=", true },
    { "tar bsdtar", "--to-command=", true },
    { "tar bsdtar", "--use-compress-program=", true },
    { "ssh scp sftp", "ProxyCommand=", false },
    { "ssh scp sftp", "LocalCommand=", false },
    { "rsync", "--rsh=", true },
    { "vi vim nvim view ex", "!", true },
    { "vi vim nvim view ex", "+!", true },
    { "git", "!", true }, /* of an alias or a credential helper */
    { "git", "=!", false },
    { "git", "core.editor=", true },
    { "git", "core.pager=", true },
    { "git", "core.sshCommand=", true },
    { "git", "diff.external=", true },
    { "git", "sequence.editor=", true },
};

void danger_run_options(struct danger_scan *scan, const struct danger_command *command,
                        struct str name)
{
    for (size_t k = 0; k < ARRAY_LEN(options); k++) {
        struct str before = str_from(options[k].before);

        if (!danger_is(name, options[k].names))
            continue;
        for (size_t i = 1; i < command->n && !scan->hit; i++) {
            struct str word = danger_plain(scan, command->words[i].text);
            ptrdiff_t at = str_find(word, before);

            if (at == 0 || (at > 0 && !options[k].at_start))
                danger_run_text_by(scan, "sh", str_skip(word, (size_t)at + before.n),
                                   (struct danger_stream){ 0 });
        }
    }
}

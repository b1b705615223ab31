/* Rules about what is lost: files, disks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "policy/danger_rules_int.h"

/* ---- deletion ---- */

static bool rm_root(struct danger_scan *scan, const struct danger_command *command)
{
    if (danger_has_word(command, "--no-preserve-root"))
        return true;
    return danger_has_flag(command, "rR", "recursive") && danger_any_vital(scan, command, 0);
}

/* find / -delete, without a test that narrows it. */
static bool find_root(struct danger_scan *scan, const struct danger_command *command)
{
    bool deletes = danger_has_word(command, "-delete");

    for (size_t i = 1; i + 1 < command->n; i++)
        if (danger_is(command->words[i].text, "-exec -execdir -ok -okdir") &&
            danger_is(danger_base(command->words[i + 1].text), "rm shred unlink"))
            deletes = true;
    return deletes && !danger_find_narrowed(command) && danger_find_vital(scan, command).p;
}

static bool rsync_root(struct danger_scan *scan, const struct danger_command *command)
{
    bool deletes = false;

    for (size_t i = 1; i < command->n; i++)
        deletes = deletes || str_starts(command->words[i].text, STR("--delete")) ||
                  str_is(command->words[i].text, "--del");
    return deletes && danger_operand(command, 1) &&
           danger_path_vital(danger_path(scan, command->words[command->n - 1].text)) &&
           !danger_is(command->words[command->n - 1].text, ". ./");
}

static bool mv_root(struct danger_scan *scan, const struct danger_command *command)
{
    bool into = danger_into_directory(command);
    const struct danger_word *word;

    for (size_t i = 0; (word = danger_operand(command, i)) != NULL; i++) {
        struct str path = danger_path(scan, word->text);

        if (!into && !danger_operand(command, i + 1))
            break; /* where they go */
        if (path.n > 0 && (path.p[0] == '/' || path.p[0] == MARK_HOME) && danger_path_vital(path))
            return true;
    }
    return false;
}

/* ---- disks ---- */

static bool on_device(struct danger_scan *scan, const struct danger_command *command)
{
    return danger_any_device(scan, command);
}

static bool partition(struct danger_scan *scan, const struct danger_command *command)
{
    return danger_any_device(scan, command) && !danger_has_flag(command, "lp", "list") &&
           !danger_has_word(command, "print");
}

static bool dd_device(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++)
        if (str_starts(command->words[i].text, STR("of=")) &&
            danger_path_device(danger_path(scan, str_skip(command->words[i].text, 3))))
            return true;
    return false;
}

static bool copy_device(struct danger_scan *scan, const struct danger_command *command)
{
    return command->n > 2 &&
           danger_path_device(danger_path(scan, command->words[command->n - 1].text));
}

static bool volume_gone(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan;
    return danger_has_word(command, "luksFormat luksErase erase destroy format sanitize");
}

static const struct danger_rule rules[] = {
#define DELETE                                                                                     \
    "recursive_delete_of_root",                                                                    \
        "It would delete the system, a home or all of the working directory."
    { "rm srm", rm_root, DELETE },
    { "find", find_root, DELETE },
    { "rsync", rsync_root, DELETE },
    { "mv", mv_root, DELETE },
#undef DELETE
#define DISK "disk_overwritten", "It would overwrite a disk or the machine's memory."
    { "mkfs mke2fs mkswap wipefs blkdiscard badblocks shred tee truncate", on_device, DISK },
    { "fdisk sfdisk cfdisk gdisk sgdisk parted hdparm", partition, DISK },
    { "dd dcfldd pv", dd_device, DISK },
    { "cp install", copy_device, DISK },
    { "cryptsetup zpool nvme", volume_gone, DISK },
    { "pvremove vgremove lvremove", danger_always, DISK },
#undef DISK
};

const struct danger_rules danger_rules_delete = { rules, ARRAY_LEN(rules) };

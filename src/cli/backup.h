/* What `dormouse backup` writes and `dormouse restore` reads: a tar archive with these files and a
 * manifest that has the size and the hash of each.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_BACKUP_H
#define DORMOUSE_CLI_BACKUP_H

#include <stdbool.h>

#define BACKUP_FORMAT   1
#define BACKUP_MANIFEST "manifest.json"

/* May a backup have a file of this name? */
bool backup_has(const char *name);

#endif

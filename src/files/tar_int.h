/* The header that the tar writer and the reader share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FILES_TAR_INT_H
#define DORMOUSE_FILES_TAR_INT_H

#define TAR_BLOCK 512

struct tar_header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a tar header is one block");

#endif

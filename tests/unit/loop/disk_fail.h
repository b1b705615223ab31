/* Makes SQLite's next writes or syncs fail, below the library: writes by its table of system
 * calls, syncs because this program defines fdatasync() itself.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_DISK_FAIL_H
#define DORMOUSE_TESTS_DISK_FAIL_H

enum disk_fault { DISK_WELL = 0, DISK_WRITE_FAILS, DISK_SYNC_FAILS };

/* The nth write or sync from now on fails, and all after it. 0: none. */
void disk_fail(enum disk_fault fault, int nth);
/* Whether it came to that. */
int disk_failed(void);

#endif

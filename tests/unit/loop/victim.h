/* Ticks as fast as it can until it is killed: each tick writes a group of rows and, once that is
 * committed, writes the group's number (an int64_t) to fd. For a forked process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_VICTIM_H
#define DORMOUSE_TESTS_VICTIM_H

#define VICTIM_ROWS 3

_Noreturn void victim_run(const char *path, int fd);

#endif

/* Telling the service manager how we are: systemd's notification datagrams.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_NOTIFY_H
#define DORMOUSE_CLI_NOTIFY_H

/* Sends state ("READY=1", "STOPPING=1") to the socket named by NOTIFY_SOCKET. 1 sent, 0 nobody
 * asked, -1 it could not be sent (errno); the daemon goes on in any case. Never blocks. */
int notify_send(const char *state);

#endif

/* Every number that bounds something in more than one room. Those that a user may change are
 * also in the configuration.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_LIMITS_H
#define DORMOUSE_BASE_LIMITS_H

#define KIB 1024u
#define MIB (1024u * 1024u)

#define LIMIT_JSON_DEPTH        128
#define LIMIT_JSON_BYTES        (16 * MIB)
#define LIMIT_JSON_NUMBER_BYTES 1024 /* characters of one number */
#define LIMIT_YAML_BYTES        (1 * MIB)
#define LIMIT_CONFIG_BYTES      (256 * KIB)
#define LIMIT_PATH_BYTES        4096
#define LIMIT_PATH_NAME_BYTES   255

#define LIMIT_HTTP_BODY_BYTES    (10 * MIB) /* request body that the server accepts */
#define LIMIT_HTTP_HEADER_BYTES  (8 * KIB)
#define LIMIT_WEBSOCKET_BYTES    (1 * MIB) /* one message */
#define LIMIT_CLIENT_QUEUE_BYTES (1 * MIB) /* unsent bytes of one SSE or WebSocket client */

#define LIMIT_MEMORY_FILE_BYTES (100 * 1024) /* more is refused */
#define LIMIT_MEMORY_WARN_BYTES (80 * 1024)  /* all files together: told */
#define LIMIT_MEMORY_FULL_BYTES (100 * 1024) /* told louder, never refused */

#define LIMIT_SKILL_NAME          64 /* characters */
#define LIMIT_SKILL_DESCRIPTION   1024
#define LIMIT_SKILL_COMPATIBILITY 500

#define LIMIT_RUN_ITERATIONS     100 /* unless it was asked for otherwise */
#define LIMIT_BASH_TIMEOUT_MS    30000
#define LIMIT_CHILD_OUTPUT_BYTES (1 * MIB)

#endif

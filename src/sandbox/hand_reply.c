/* What a hand says, read with suspicion: it lives with whatever the agent ran.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "sandbox/hand_int.h"

#define MESSAGE_MAX 2048
#define READ_MAX    4096 /* files in its state */
#define HASH_CHARS  64

static const char *const kinds[] = { "seccomp",  "disk",   "files",  "memory",   "processes",
                                     "settings", "socket", "denied", "set_aside" };

static int nonsense(struct err *err, const char *what)
{
    return err_set(err, ERR_BAD_REQUEST, "%s", what);
}

static int read_error(struct json_object *error, struct hand_frame *frame, struct err *err)
{
    struct str code, message;
    char name[64];

    if (!json_object_is_type(error, json_type_object))
        return nonsense(err, "an error that is no object");
    code = json_str(json_find(error, "code"));
    message = json_str(json_find(error, "message"));
    if (code.n == 0 || code.n >= sizeof(name) || !message.p || message.n > MESSAGE_MAX)
        return nonsense(err, "an error without code or message");
    memcpy(name, code.p, code.n);
    name[code.n] = '\0';
    if (strlen(name) != code.n || err_from_name(name) == ERR_NONE)
        return nonsense(err, "an error with an unknown code");
    frame->failed = true;
    err_set(&frame->err, err_from_name(name), "%.*s", STR_ARG(message));
    return 0;
}

static bool hash_ok(struct str hash)
{
    if (hash.n != HASH_CHARS)
        return false;
    for (size_t i = 0; i < hash.n; i++)
        if (!strchr("0123456789abcdef", hash.p[i]) || hash.p[i] == '\0')
            return false;
    return true;
}

static int check_read(struct json_object *read, struct err *err)
{
    struct json_object_iter at;

    if (!json_object_is_type(read, json_type_object))
        return nonsense(err, "a state whose files are no object");
    if (json_object_object_length(read) > READ_MAX)
        return nonsense(err, "a state with too many files");
    json_object_object_foreachC(read, at)
    {
        if (at.key[0] != '/' || strlen(at.key) > LIMIT_PATH_BYTES || !hash_ok(json_str(at.val)))
            return nonsense(err, "a state with something that is no file");
    }
    return 0;
}

static int read_state(struct json_object *state, struct hand_frame *frame, struct err *err)
{
    struct json_object *cwd, *read = NULL;

    if (!json_object_is_type(state, json_type_object))
        return nonsense(err, "a state that is no object");
    cwd = json_find(state, "cwd");
    frame->cwd = json_str(cwd);
    if (cwd && (frame->cwd.n == 0 || frame->cwd.p[0] != '/' || frame->cwd.n > LIMIT_PATH_BYTES ||
                memchr(frame->cwd.p, '\0', frame->cwd.n)))
        return nonsense(err, "a state whose cwd is no path");
    read = json_find(state, "read");
    if (read && check_read(read, err) < 0)
        return -1;
    frame->read = read;
    return 0;
}

static int read_reply(struct hand_frame *frame, struct err *err)
{
    struct json_object *error = NULL, *state = NULL;
    bool failed = json_object_object_get_ex(frame->doc, "error", &error);
    bool fine = json_object_object_get_ex(frame->doc, "result", &frame->result);

    if (json_get_i64(frame->doc, "id", &frame->id, NULL) != 1 || frame->id <= 0)
        return nonsense(err, "a reply without a number");
    if (failed == fine)
        return nonsense(err, "a reply with neither result nor error, or both");
    frame->said = HAND_SAID_REPLY;
    if (failed)
        return read_error(error, frame, err);
    if (json_object_object_get_ex(frame->doc, "state", &state))
        return read_state(state, frame, err);
    return 0;
}

static int read_notice(struct json_object *notice, struct hand_frame *frame, struct err *err)
{
    struct str kind = json_str(json_find(notice, "kind"));

    frame->detail = json_str(json_find(notice, "detail"));
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(kind, kinds[i]))
            frame->kind = kinds[i];
    if (!frame->kind || !frame->detail.p || frame->detail.n > HAND_DETAIL_MAX)
        return nonsense(err, "a notice of an unknown kind");
    frame->said = HAND_SAID_NOTICE;
    return 0;
}

int hand_frame_read(struct str json, struct hand_frame *frame, struct err *err)
{
    struct json_object *part = NULL;
    int64_t version = 0;

    memset(frame, 0, sizeof(*frame));
    if (json_parse(json, &frame->doc, err) < 0)
        return -1;
    if (!json_object_is_type(frame->doc, json_type_object))
        return nonsense(err, "something that is no object");
    if (json_object_object_get_ex(frame->doc, "notice", &part))
        return read_notice(part, frame, err);
    if (json_object_object_get_ex(frame->doc, "hello", &part)) {
        if (json_get_i64(frame->doc, "hello", &version, NULL) != 1 || version != 1)
            return nonsense(err, "a greeting of another version");
        frame->said = HAND_SAID_HELLO;
        return 0;
    }
    return read_reply(frame, err);
}

void hand_frame_release(struct hand_frame *frame)
{
    json_object_put(frame->doc);
    memset(frame, 0, sizeof(*frame));
}

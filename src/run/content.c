/* What a row of the log refers to, as a digest.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/content.h"

#include <string.h>

#include "run/program.h"

enum run_content run_content_kind(const struct bp_event *event)
{
    switch (event->type) {
    case RUN_EV_START:
    case RUN_EV_MUSING:
    case RUN_EV_SAID:
    case RUN_EV_CALL:
    case RUN_EV_THOUGHT:
    case RUN_EV_SETTLED:
    case RUN_EV_DONE:
        return RUN_CONTENT_MESSAGE;
    case RUN_EV_ACTED:
        return event->bits & RUN_UNKNOWN ? RUN_CONTENT_INBOX : RUN_CONTENT_MESSAGE;
    case RUN_EV_GATE:
    case RUN_EV_WAITING:
    case RUN_EV_ANSWER:
    case RUN_EV_EDIT:
    case RUN_EV_ASKED:
    case RUN_EV_TOLD:
        return RUN_CONTENT_INBOX;
    case RUN_EV_ACT:
        return RUN_CONTENT_OPERATION;
    default:
        return RUN_CONTENT_NONE;
    }
}

static void add(struct sha256 *hash, struct str text)
{
    uint64_t n = text.n;

    sha256_add(hash, str_of((const char *)&n, sizeof(n)));
    sha256_add(hash, text);
}

static bool is_answer(const struct bp_event *event)
{
    return event->type == RUN_EV_ANSWER || event->type == RUN_EV_EDIT || event->type == RUN_EV_TOLD;
}

static void item_digest(const struct bp_event *event, const struct inbox_item *item,
                        uint8_t ret_digest[SHA256_BYTES])
{
    struct sha256 hash;

    sha256_init(&hash);
    add(&hash, item->id);
    add(&hash, str_from(inbox_kind_name(item->kind)));
    add(&hash, item->tool_name);
    add(&hash, item->title);
    add(&hash, item->body);
    add(&hash, item->preview);
    add(&hash, item->digest);
    add(&hash, item->preview_kind);
    add(&hash, item->taint);
    if (item->details.n)
        add(&hash, item->details);
    if (is_answer(event)) {
        add(&hash, str_from(inbox_state_name(item->state)));
        add(&hash, item->decided_by);
        add(&hash, item->reason);
        add(&hash, item->answer);
        add(&hash, item->scope == INBOX_ALWAYS    ? STR("always")
                   : item->scope == INBOX_FOR_RUN ? STR("run")
                                                  : STR("once"));
    }
    sha256_finish(&hash, ret_digest);
}

void run_content_digest(const struct bp_event *event, const struct message *message,
                        const struct inbox_item *item, uint8_t ret_digest[SHA256_BYTES])
{
    memset(ret_digest, 0, SHA256_BYTES);
    if (message)
        message_digest(message, ret_digest);
    else if (item)
        item_digest(event, item, ret_digest);
}

int run_content_load(struct domain *domain, const struct bp_event *event, int64_t ref,
                     struct arena *arena, struct run_named *ret_named, struct err *err)
{
    enum run_content kind = ref ? run_content_kind(event) : RUN_CONTENT_NONE;

    ret_named->is_message = NULL;
    ret_named->is_item = NULL;
    if (kind == RUN_CONTENT_MESSAGE) {
        ret_named->is_message = &ret_named->message;
        return message_get_n(domain, ref, arena, &ret_named->message, err);
    }
    if (kind != RUN_CONTENT_INBOX)
        return 0;
    ret_named->is_item = &ret_named->item;
    if (inbox_get_n(domain, ref, arena, &ret_named->item, err) == 0)
        return 0;
    if (err->code == ERR_NOT_FOUND)
        err->code = ERR_INTEGRITY_FAILED;
    return -1;
}

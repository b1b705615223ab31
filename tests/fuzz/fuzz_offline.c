/* The offline model: whatever is said and whatever tools answer, it comes to an end in text.
 *
 * The first line is what a person says, or with tabs for line breaks what an agent is told when it
 * wakes; every further one is the answer to a round of calls; one that begins with '!' is a
 * failure.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "model/offline_int.h"

#define ROUNDS 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct model_tool tools[] = {
        { STR("bash"), STR(""), STR("{\"properties\":{\"command\":{}}}") },
        { STR("read_file"), STR(""), STR("{\"properties\":{\"path\":{}}}") },
        { STR("edit_file"), STR(""), STR("{\"properties\":{\"path\":{},\"old\":{},\"new\":{}}}") },
        { STR("search"), STR(""), STR("{\"properties\":{\"glob\":{},\"pattern\":{}}}") },
        { STR("resolve_task_reference"), STR(""), STR("{}") },
        { STR("update_task_fields"), STR(""), STR("{}") },
        { STR("read_memory"), STR(""), STR("{}") },
        { STR("write_memory"), STR(""), STR("{}") },
        { STR("ask_user"), STR(""), STR("{}") },
        { STR("create_retrospective_time_entry"), STR(""), STR("{}") },
        { STR("list_time_entries"), STR(""), STR("{}") },
        { STR("read_task"), STR(""), STR("{}") },
        { STR("create_follow_up_task"), STR(""), STR("{}") },
        { STR("conclude_task_with_rollover"), STR(""), STR("{}") },
        { STR("get_or_create_day_plan"), STR(""), STR("{}") },
        { STR("list_tasks_in_scope"), STR(""), STR("{}") },
        { STR("upsert_day_plan_blocks"), STR(""), STR("{}") },
        { STR("get_ratings_summary"), STR(""), STR("{}") },
        { STR("write_report"), STR(""), STR("{}") },
        { STR("start_task_timer"), STR(""), STR("{}") },
        { STR("stop_task_timer"), STR(""), STR("{}") },
        { STR("create_or_update_rating"), STR(""), STR("{}") },
    };
    struct model_message messages[1 + ROUNDS * (1 + OFFLINE_CALLS_MAX)];
    struct model_request request = { .tools = tools,
                                     .tool_count = ARRAY_LEN(tools),
                                     .messages = messages };
    AUTO_ARENA arena = ARENA_INIT;
    struct str rest = { (const char *)data, size }, line = STR_NONE;
    char *said;

    if (!size || size > 20000)
        return 0;
    (void)str_split(&rest, '\n', &line);
    said = arena_copy(&arena, line.p, line.n);
    for (size_t i = 0; i < line.n; i++)
        said[i] = said[i] == '\t' ? '\n' : said[i];
    messages[0] = (struct model_message){ .role = MODEL_USER, .text = str_of(said, line.n) };
    request.message_count = 1;
    for (unsigned round = 0;; round++) {
        struct offline_turn turn;
        struct model_call *calls = ARENA_NEW_N(&arena, struct model_call, OFFLINE_CALLS_MAX);

        offline_think(&request, 0, &arena, &turn);
        BUG_IF(!turn.call_count && !turn.say.n);
        memcpy(calls, turn.calls, sizeof(turn.calls));
        messages[request.message_count++] = (struct model_message){ .role = MODEL_ASSISTANT,
                                                                    .calls = calls,
                                                                    .call_count = turn.call_count };
        if (!turn.call_count) {
            offline_turn_release(&turn);
            return 0;
        }
        BUG_IF(round >= OFFLINE_ROUNDS_MAX);
        if (!rest.p || !str_split(&rest, '\n', &line))
            line = STR("");
        for (size_t i = 0; i < turn.call_count; i++)
            messages[request.message_count++] =
                (struct model_message){ .role = MODEL_TOOL,
                                        .call_id = calls[i].id,
                                        .tool_name = calls[i].name,
                                        .text = line,
                                        .failed = line.n && line.p[0] == '!' };
        offline_turn_release(&turn);
    }
}

/* A complete program with an agent in it: a model of its own (this one always calls a tool, then
 * speaks), and a tool of its own.
 *
 *     cc embed.c $(pkg-config --cflags --libs dormouse) -o embed && ./embed
 *
 * SPDX-License-Identifier: MIT
 */
#include <dormouse.h>
#include <stdio.h>
#include <string.h>

/* Thinks: asks for the tool first, and says what it heard from it then. */
static int my_model(void *arg, const struct dm_model_request *request, struct dm_answer *answer)
{
    const struct dm_message *last = request->messages[request->message_count - 1];

    (void)arg;
    if (last->role == DM_TOOL) {
        dm_answer_text(answer, "The weather: ");
        dm_answer_text(answer, last->text);
    } else {
        dm_answer_call(answer, NULL, "weather", "{\"city\":\"Berlin\"}");
    }
    dm_answer_done(answer);
    return 0;
}

/* Acts. A real one would begin something and call dm_tool_done() when it has ended. */
static int weather(void *arg, const char *arguments, const char *operation_id,
                   struct dm_tool_job *job)
{
    int *calls = arg;

    (void)operation_id;
    ++*calls;
    if (!strstr(arguments, "Berlin"))
        return -1;
    dm_tool_done(job, "{\"sky\":\"clear\",\"degrees\":21}");
    return 0;
}

static void print_event(void *arg, const char *run_id, const char *json)
{
    (void)arg;
    (void)run_id;
    printf("%s\n", json);
}

static int failed(const struct dm_error *error)
{
    fprintf(stderr, "%s: %s\n", error->code, error->message);
    return 1;
}

int main(void)
{
    static const char contract[] =
        "{\"name\":\"weather\",\"description\":\"The weather of a city, now.\","
        "\"inputSchema\":{\"type\":\"object\",\"required\":[\"city\"],"
        "\"properties\":{\"city\":{\"type\":\"string\"}}},"
        /* It only looks, so it needs no approval and may be tried again. */
        "\"idempotencyStrategy\":\"read_only\",\"riskLevel\":\"none\",\"mutating\":false,"
        "\"approval\":\"never\"}";
    struct dm_agent_config config = DM_AGENT_CONFIG_INIT;
    struct dm_prompt prompt = DM_PROMPT_INIT;
    struct dm_house *house;
    struct dm_error error;
    char run[DM_ID_SIZE];
    int calls = 0, state;

    prompt.prompt = "What is the weather?";
    config.model_call = my_model;
    config.on_event = print_event;
    if (dm_open(&config, &house, &error) < 0)
        return failed(&error);
    if (dm_add_tool(house, contract, weather, &calls, &error) < 0 ||
        dm_start(house, &prompt, run, &error) < 0) {
        dm_close(house);
        return failed(&error);
    }
    state = dm_run_until(house, run, 10000, &error);
    dm_close(house);
    if (state < 0)
        return failed(&error);
    return state == DM_DONE && calls == 1 ? 0 : 1;
}

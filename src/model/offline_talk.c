/* Talking: what it is, what it can do here, and whether it is done.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/offline_int.h"

static const struct {
    const char *tool; /* shown when this one was given */
    const char *example;
} abilities[] = {
    { "search", "what is in this folder?" },
    { "search", "find TODO in src" },
    { "read_file", "show README.md" },
    { "bash", "run git status" },
    { "bash", "tidy this folder" },
    { "edit_file", "replace foo with bar in notes.txt" },
    { "write_file", "write hello to hello.txt" },
    { "create_task", "add a task to call Ada" },
    { "list_tasks_in_scope", "list my tasks" },
    { "create_retrospective_time_entry", "log 30 minutes on the tax report" },
    { "list_time_entries", "what did I do last week?" },
    { "upsert_day_plan_blocks", "plan my day" },
    { "conclude_task_with_rollover", "done with the fence" },
    { "set_alarm", "start a pomodoro" },
    { "set_alarm", "remind me in 20 minutes to call Ada" },
    { "write_memory", "remember that I like tea" },
    { "read_memory", "what do you remember about tea?" },
};

static void say_examples(struct offline_turn *turn)
{
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(abilities); i++) {
        if (!offline_tool(turn, abilities[i].tool))
            continue;
        if (n++ == 0)
            offline_say(turn, "You can ask me for example:\n");
        offline_say(turn, "    %s\n", abilities[i].example);
    }
    if (!n)
        offline_say(turn, "I was given no tool that I know how to use, so I can only talk.\n");
}

static void say_what_i_am(struct offline_turn *turn)
{
    offline_say(turn,
                "I am Dormouse's built-in offline model: a set of rules, not a language model. "
                "I understand simple requests in English and use the tools I am given. ");
}

void offline_greet(struct offline_turn *turn)
{
    offline_say(turn, "Hello! ");
    say_what_i_am(turn);
    say_examples(turn);
}

void offline_who(struct offline_turn *turn)
{
    say_what_i_am(turn);
    offline_say(turn,
                "Nothing you write to me leaves this machine. For real conversation configure "
                "a model (dormouse model add).");
}

void offline_help(struct offline_turn *turn)
{
    say_what_i_am(turn);
    say_examples(turn);
    if (turn->request->tool_count) {
        offline_say(turn, "Tools that I was given:");
        for (size_t i = 0; i < turn->request->tool_count && i < 60; i++)
            offline_say(turn, "%s %.*s", i ? "," : "", STR_ARG(turn->request->tools[i].name));
        offline_say(turn, ".\n");
    }
}

/* Rows whose answer is a fixed sentence. */
void offline_answer(struct offline_turn *turn)
{
    offline_say(turn, "%s", turn->arg);
}

void offline_unknown(struct offline_turn *turn)
{
    if (turn->round > 0) {
        offline_report(turn);
        return;
    }
    turn->gave_up = true;
    offline_say(turn, "I did not understand that. I am rules, not a language model: I know simple "
                      "requests in English, and no rule fits this one. ");
    say_examples(turn);
}

bool offline_asks_done(struct str text)
{
    return str_find(text, STR("{\"done\"")) >= 0 || str_find(text, STR("\"done\":")) >= 0;
}

static bool is_answer(const struct model_message *message)
{
    return message->role == MODEL_ASSISTANT && message->call_count == 0;
}

/* The question comes after the work. It is done when nothing would be done next, were it not asked,
 * and the person was told what came of it. */
void offline_done(struct offline_turn *turn)
{
    struct model_request before = *turn->request;
    AUTO_ARENA arena = ARENA_INIT;
    struct offline_turn next;
    bool more = false, gave_up = false;

    while (before.message_count > 0) {
        const struct model_message *m = &before.messages[before.message_count - 1];

        if (m->role == MODEL_USER && !offline_asks_done(m->text))
            break;
        if (m->role != MODEL_USER && !(m->role == MODEL_ASSISTANT && offline_asks_done(m->text)))
            break;
        before.message_count--;
    }
    if (before.message_count > 0) {
        offline_think(&before, turn->now_ms, &arena, &next);
        more = next.call_count > 0 || !is_answer(&before.messages[before.message_count - 1]);
        gave_up = next.gave_up;
        offline_turn_release(&next);
    }
    offline_say(turn, "{\"done\": %s%s}", more ? "false" : "true",
                !more && gave_up ? ", \"gave_up\": true" : "");
}

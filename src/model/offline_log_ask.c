/* Time for which no task is called as the person said: asks whether to log it without one, or to
 * make the task first, where the agent can.
 *
 * Choices follow from the categories of round 0, so that the answer is read against the same list.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/offline_log_int.h"

#include "base/json.h"
#include "base/json_put.h"
#include "base/utf8.h"

#define CATEGORIES_MAX 5 /* two choices each, and one more: a question has at most 12 */
#define ASK_BYTES      (16u << 10)
#define SHOWN          80
#define LEAVE          "Leave it"

static const char *const name_title[] = { "title", NULL };
static const char *const name_category[] = { "categoryId", "category_id", NULL };

static struct json_object *category(const struct offline_turn *turn, size_t i)
{
    const struct offline_result *result = offline_result_of(turn, "list_allowed_categories");
    struct json_object *list = result ? json_find(result->json, "categories") : NULL;

    return json_object_is_type(list, json_type_array) && i < json_length(list) && i < CATEGORIES_MAX
               ? json_object_array_get_idx(list, i)
               : NULL;
}

/* NULL: the agent makes no tasks. */
static const char *choice(struct offline_turn *turn, struct str words, size_t i, bool task)
{
    struct str name = utf8_truncate(json_str(json_find(category(turn, i), "name")), SHOWN);

    if (!task)
        return arena_printf(turn->arena, "Log it in %.*s, without a task", STR_ARG(name));
    if (!offline_tool(turn, "create_task"))
        return NULL;
    return arena_printf(turn->arena, "Make the task \"%.*s\" in %.*s, and log it there",
                        STR_ARG(utf8_truncate(words, SHOWN)), STR_ARG(name));
}

static void ask(struct offline_turn *turn, struct str words)
{
    AUTO_BUF json = BUF_INIT(ASK_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_put_text(&w, "question",
                  arena_printf(turn->arena, "I found no task \"%.*s\". Where shall the time count?",
                               STR_ARG(utf8_truncate(words, SHOWN))));
    json_put_array(&w, "choices");
    for (size_t i = 0; category(turn, i); i++) {
        json_write_text(&w, choice(turn, words, i, false));
        if (choice(turn, words, i, true))
            json_write_text(&w, choice(turn, words, i, true));
    }
    json_write_text(&w, LEAVE);
    json_write_array_end(&w);
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, "ask_user"), buf_str(&json));
}

/* By its words, or by its number in the list. */
static bool is_said(struct str said, const char *text, int64_t number)
{
    int64_t n;

    return text &&
           (str_eq_nocase(said, str_from(text)) || (str_to_i64(said, &n) == 0 && n == number));
}

/* The category that was chosen, and whether with a task; NULL: none. */
static struct json_object *answered(struct offline_turn *turn, struct str words, bool *ret_task)
{
    const struct offline_result *asked = offline_result_of(turn, "ask_user");
    struct str said = str_trim(json_str(json_find(asked->json, "answer")));
    int64_t number = 0;

    for (size_t i = 0; category(turn, i); i++) {
        for (int task = 0; task < 2; task++) {
            const char *text = choice(turn, words, i, task);

            number += text != NULL;
            *ret_task = task;
            if (is_said(said, text, number))
                return category(turn, i);
        }
    }
    return NULL;
}

/* Something else is called so, or nobody could look. */
static bool may_be_a_task(const struct offline_turn *turn)
{
    const struct offline_result *result = offline_result_of(turn, "resolve_task_reference");
    bool elsewhere = false;

    if (!result || result->failed)
        return true;
    (void)json_get_bool(result->json, "outOfReach", &elsewhere, NULL);
    return elsewhere || json_length(json_find(result->json, "candidates")) > 0;
}

enum offline_untasked offline_untasked(struct offline_turn *turn, struct str words,
                                       struct offline_arg *ret_for)
{
    const struct offline_result *made = offline_result_of(turn, "create_task");
    struct json_object *chosen;
    bool task;

    if (may_be_a_task(turn) || !category(turn, 0) || !offline_tool(turn, "ask_user"))
        return UNTASKED_NOT;
    if (!offline_result_of(turn, "ask_user")) {
        ask(turn, words);
        return UNTASKED_WAIT;
    }
    if (offline_failed(turn))
        return UNTASKED_WAIT;
    if (made) {
        *ret_for = (struct offline_arg){
            .names = offline_name_task,
            .text = json_str(json_find(json_find(made->json, "task"), "id")),
        };
        return UNTASKED_LOG;
    }
    chosen = answered(turn, words, &task);
    if (!chosen) {
        offline_say(turn, "Then I logged nothing.");
        return UNTASKED_WAIT;
    }
    *ret_for =
        (struct offline_arg){ .names = name_category, .text = json_str(json_find(chosen, "id")) };
    if (!task)
        return UNTASKED_LOG;
    offline_call(turn, offline_tool(turn, "create_task"),
                 (struct offline_arg[]){ { .names = name_title, .text = words }, *ret_for }, 2);
    return UNTASKED_WAIT;
}

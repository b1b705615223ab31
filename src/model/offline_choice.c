/* Tasks to choose from: what each is called, and which one an answer means.
 *
 * Two tasks may have one title. Then category, day and status tell them apart, where the answer
 * that lists them has these.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/utf8.h"
#include "model/offline_choice_int.h"

#define TITLE_SHOWN    180
#define CATEGORY_SHOWN 60

static struct str member(struct json_object *json, const char *name)
{
    return json_str(json_find(json, name));
}

static struct str title_of(struct json_object *list, size_t i)
{
    return utf8_truncate(member(json_object_array_get_idx(list, i), "title"), TITLE_SHOWN);
}

static bool is_shared(struct json_object *list, size_t i)
{
    for (size_t k = 0; k < json_length(list); k++) {
        if (k != i && str_eq_nocase(title_of(list, k), title_of(list, i)))
            return true;
    }
    return false;
}

bool offline_shares_title(struct json_object *list)
{
    for (size_t i = 0; i < json_length(list); i++) {
        if (is_shared(list, i))
            return true;
    }
    return false;
}

const char *offline_choice(struct offline_turn *turn, struct json_object *answer,
                           struct json_object *list, size_t i)
{
    struct json_object *task = json_object_array_get_idx(list, i);
    struct str id = member(task, "categoryId"), due = member(task, "due"),
               status = member(task, "status"), title = title_of(list, i);
    struct str category = utf8_truncate(
        id.n ? member(json_find(answer, "categoryNames"), id.p) : STR_NONE, CATEGORY_SHOWN);
    bool open = !status.n || str_is(status, "OPEN");

    if (!is_shared(list, i))
        return arena_copy(turn->arena, title.p, title.n);
    return arena_printf(turn->arena, "%.*s%s%.*s%s%s%.*s%s%.*s", STR_ARG(title),
                        category.n ? " (" : "", STR_ARG(category), category.n ? ")" : "",
                        due.n ? ", due " : "", STR_ARG(due), open ? "" : ", ",
                        STR_ARG(open ? STR_NONE : status));
}

/* "2", "2. Running": 2; 0: it begins with no number. */
static size_t number_of(struct str said)
{
    size_t n = 0, number = 0;

    while (n < said.n && n < 3 && said.p[n] >= '0' && said.p[n] <= '9')
        number = 10 * number + (size_t)(said.p[n++] - '0');
    return n == said.n || said.p[n] == '.' ? number : 0;
}

struct json_object *offline_chosen(struct offline_turn *turn, struct json_object *answer,
                                   struct json_object *list, struct str said)
{
    struct json_object *found = NULL;
    size_t number = number_of(said), fitting = 0;

    if (number)
        return number <= json_length(list) ? json_object_array_get_idx(list, number - 1) : NULL;
    for (size_t i = 0; i < json_length(list); i++) {
        bool whole = str_eq_nocase(str_from(offline_choice(turn, answer, list, i)), said);

        if (!whole && !str_eq_nocase(title_of(list, i), said))
            continue;
        found = json_object_array_get_idx(list, i);
        fitting++;
    }
    return fitting == 1 ? found : NULL;
}

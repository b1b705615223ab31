/* Making an agent without a language model: a form that is filled by talking.
 *
 * Everything follows from the messages. What people said is gone through from the beginning
 * (offline_wizard_hear.c): each sentence fills the next empty place of the form or corrects one
 * that is filled ("call it Coach", "without bash"); a proposal that was accepted ends the form, one
 * that was rejected waits for a correction. So a conversation that is resumed goes on where it was.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "model/offline_wizard_int.h"

/* ---- tools ---- */

struct json_object *wizard_tool(const struct wizard *w, struct str name)
{
    for (size_t i = 0; w->tools && i < json_length(w->tools); i++) {
        struct json_object *tool = json_object_array_get_idx(w->tools, i);

        if (str_eq(json_str(json_find(tool, "name")), name))
            return tool;
    }
    return NULL;
}

/* What people call a tool. */
static struct str synonym(struct str word)
{
    static const struct {
        const char *said, *part;
    } table[] = {
        { "shell", "bash" },      { "terminal", "bash" },    { "commands", "bash" },
        { "command", "bash" },    { "files", "file" },       { "questions", "ask" },
        { "question", "ask" },    { "asking", "ask" },       { "mail", "gmail" },
        { "email", "gmail" },     { "e-mail", "gmail" },     { "writing", "write" },
        { "memories", "memory" }, { "searching", "search" },
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_is(word, table[i].said))
            return str_from(table[i].part);
    return word;
}

static bool in_list(const struct str *list, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i], name))
            return true;
    return false;
}

static void list_add(struct str *list, size_t *n, struct str name)
{
    if (!in_list(list, *n, name) && *n < WIZARD_TOOLS_MAX)
        list[(*n)++] = name;
}

static void list_drop(struct str *list, size_t *n, struct str name)
{
    for (size_t i = 0; i < *n; i++)
        if (str_eq(list[i], name)) {
            list[i] = list[--*n];
            return;
        }
}

/* The tools that a phrase names: "slack and the shell", "write_file". */
static size_t tools_named(const struct wizard *w, struct str phrase, struct str *ret_names)
{
    struct offline_words words;
    size_t n = 0;

    offline_words_split(phrase, w->turn->arena, &words);
    for (size_t i = 0; i < words.n; i++) {
        struct str part = synonym(words.word[i].low);

        for (size_t k = 0; part.n >= 3 && k < json_length(w->tools); k++) {
            struct str name = json_str(json_find(json_object_array_get_idx(w->tools, k), "name"));
            bool same = wizard_tool(w, part) ? str_eq(name, part) : offline_contains(name, part);

            if (same && !str_is(part, "the") && !str_is(part, "and") && !str_is(part, "tool") &&
                !str_is(part, "tools"))
                list_add(ret_names, &n, name);
        }
    }
    return n;
}

static void base_tools(const struct wizard *w, struct str *names, size_t *n)
{
    static const char *const plain[] = { "ask_user", "list_memory", "read_memory", "write_memory" };
    struct json_object *of = json_find(w->form.template, "tools");

    for (size_t i = 0; i < json_length(of); i++)
        list_add(names, n, json_str(json_object_array_get_idx(of, i)));
    for (size_t i = 0; !of && i < ARRAY_LEN(plain); i++)
        list_add(names, n, str_from(plain[i]));
}

size_t wizard_tools(const struct wizard *w, struct str *ret_names)
{
    struct str all[WIZARD_TOOLS_MAX];
    size_t n = 0, kept = 0;

    base_tools(w, all, &n);
    for (size_t i = 0; i < w->form.added_count; i++)
        list_add(all, &n, w->form.added[i]);
    for (size_t i = 0; i < n; i++)
        if (wizard_tool(w, all[i]) && !in_list(w->form.removed, w->form.removed_count, all[i]))
            ret_names[kept++] = all[i];
    return kept;
}

static void note_names(struct wizard *w, const char *what, const struct str *names, size_t n)
{
    buf_printf(&w->notice, "%s ", what);
    for (size_t i = 0; i < n; i++)
        buf_printf(&w->notice, "%s%.*s", i ? ", " : "", STR_ARG(names[i]));
    buf_add_text(&w->notice, ".\n\n");
}

bool wizard_change_tools(struct wizard *w, struct str phrase, bool add)
{
    struct wizard_form *form = &w->form;
    struct str names[WIZARD_TOOLS_MAX];
    size_t n = tools_named(w, phrase, names);

    for (size_t i = 0; i < n; i++) {
        list_drop(add ? form->removed : form->added,
                  add ? &form->removed_count : &form->added_count, names[i]);
        list_add(add ? form->added : form->removed, add ? &form->added_count : &form->removed_count,
                 names[i]);
    }
    if (n)
        note_names(w, add ? "Added:" : "Left out:", names, n);
    return n > 0;
}

/* ---- categories ---- */

static size_t category_count(const struct wizard *w)
{
    return json_length(w->categories);
}

bool wizard_needs_categories(const struct wizard *w)
{
    struct str names[WIZARD_TOOLS_MAX];
    size_t n = category_count(w) ? wizard_tools(w, names) : 0;

    for (size_t i = 0; i < n; i++)
        if (json_find(wizard_tool(w, names[i]), "journal"))
            return true;
    return false;
}

static bool is_letter(struct str text, size_t at)
{
    unsigned char c = at < text.n ? (unsigned char)text.p[at] : ' ';

    return c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* As whole words: who says "Workouts" has not said "Work". */
static bool names_it(struct str text, struct str name)
{
    for (size_t i = 0; name.n && i + name.n <= text.n; i++)
        if (str_eq_nocase(str_of(text.p + i, name.n), name) &&
            (i == 0 || !is_letter(text, i - 1)) && !is_letter(text, i + name.n))
            return true;
    return false;
}

static void note_categories(struct wizard *w)
{
    struct wizard_form *form = &w->form;

    if (form->all_categories)
        buf_add_text(&w->notice, "It may reach all of the journal.\n\n");
    else if (!form->category_count)
        buf_add_text(&w->notice, "It will reach nothing of the journal.\n\n");
    else
        note_names(w, "Of the journal it may reach:", form->categories, form->category_count);
}

bool wizard_take_categories(struct wizard *w, struct str phrase)
{
    struct wizard_form *form = &w->form;
    struct offline_words words;
    bool all = false, none = false;
    size_t n = 0;

    offline_words_split(phrase, w->turn->arena, &words);
    for (size_t i = 0; i < words.n; i++) {
        struct str word = words.word[i].low;

        all |= str_is(word, "all") || str_is(word, "everything") || str_is(word, "every");
        none |= str_is(word, "none") || str_is(word, "nothing") || str_is(word, "no");
    }
    for (size_t i = 0; i < category_count(w) && n < WIZARD_CATEGORIES_MAX; i++) {
        struct str name = json_str(json_object_array_get_idx(w->categories, i));

        if (names_it(phrase, name))
            form->categories[n++] = name;
    }
    if (!n && !all && !none)
        return false;
    form->category_count = n;
    form->all_categories = all && !n;
    form->categories_known = true;
    note_categories(w);
    return true;
}

/* ---- templates ---- */

struct json_object *wizard_template(const struct wizard *w, struct str text)
{
    for (size_t i = 0; i < json_length(w->templates); i++) {
        struct json_object *template = json_object_array_get_idx(w->templates, i);
        struct str name = json_str(json_find(template, "name"));
        struct str id = json_str(json_find(template, "id"));

        if (text.n && (offline_contains(text, name) || offline_contains(text, id)))
            return template;
    }
    return NULL;
}

/* Words that tell what somebody needs, beside those of the template's own description. */
static const struct {
    const char *id, *words;
} tells[] = {
    { "gym-coach",
      "gym workout workouts training train fitness muscle running strength exercise sport" },
    { "planner",
      "plan planning day week schedule todo todos tasks appointments organise organize" },
    { "strategist", "decide decision decisions strategy options choose career business" },
    { "research-assistant",
      "research papers documents summarise summarize read reading code notes" },
    { "inbox-helper", "mail mails email emails inbox messages message reply replies letters" },
};

static int score(struct json_object *template, const struct offline_words *words)
{
    struct str id = json_str(json_find(template, "id"));
    int sum = 0;

    for (size_t i = 0; i < words->n; i++) {
        struct str word = words->word[i].low;

        if (word.n >= 4 && offline_contains(json_str(json_find(template, "name")), word))
            sum += 3;
        if (word.n >= 5 && offline_contains(json_str(json_find(template, "description")), word))
            sum += 1;
        for (size_t k = 0; k < ARRAY_LEN(tells); k++) {
            struct str rest = str_from(tells[k].words), tell;

            while (str_is(id, tells[k].id) && str_split(&rest, ' ', &tell))
                sum += str_eq(tell, word) ? 3 : 0;
        }
    }
    return sum;
}

struct json_object *wizard_suggest(const struct wizard *w)
{
    struct offline_words words;
    struct json_object *best = NULL;
    int most = 2; /* a word of the description alone is chance */

    offline_words_split(w->form.purpose, w->turn->arena, &words);
    for (size_t i = 0; i < json_length(w->templates); i++) {
        struct json_object *template = json_object_array_get_idx(w->templates, i);
        int n = score(template, &words);

        if (n > most) {
            most = n;
            best = template;
        }
    }
    return best;
}

/* ---- the conversation ---- */

static struct json_object *list_in(const struct model_message *m, const char *key,
                                   struct json_object *before)
{
    AUTO_JSON value = NULL;
    struct json_object *list;

    if (m->failed || json_parse(m->text, &value, NULL) < 0)
        return before;
    list = json_find(value, key);
    if (!json_object_is_type(list, json_type_array))
        return before;
    json_object_put(before);
    return json_object_get(list);
}

static void find_lists(struct wizard *w)
{
    const struct model_request *request = w->turn->request;

    for (size_t i = 0; i < request->message_count; i++) {
        const struct model_message *m = &request->messages[i];

        if (m->role == MODEL_TOOL && str_is(m->tool_name, "list_templates"))
            w->templates = list_in(m, "templates", w->templates);
        if (m->role == MODEL_TOOL && str_is(m->tool_name, "list_tools"))
            w->tools = list_in(m, "tools", w->tools);
        if (m->role == MODEL_TOOL && str_is(m->tool_name, "list_tools"))
            w->categories = list_in(m, "categories", w->categories);
    }
}

static struct str advice_of(const struct wizard *w, struct json_object *warnings)
{
    AUTO_BUF text = BUF_INIT(16 << 10);

    for (size_t i = 0; i < json_length(warnings); i++)
        buf_printf(&text, "\n⚠️ %.*s\n",
                   STR_ARG(json_str(json_object_array_get_idx(warnings, i))));
    return arena_str(w->turn->arena, buf_str(&text));
}

static void hear_result(struct wizard *w, const struct model_message *m)
{
    AUTO_JSON value = NULL;

    if (m->failed || json_parse(m->text, &value, NULL) < 0) {
        w->rejected = true;
        return;
    }
    w->form = (struct wizard_form){ .purpose = STR_NONE };
    w->rejected = false;
    w->made = arena_str(w->turn->arena, json_str(json_find(value, "agent_id")));
    w->advice = advice_of(w, json_find(value, "warnings"));
}

static void hear_all(struct wizard *w)
{
    const struct model_request *request = w->turn->request;

    for (size_t i = 0; i < request->message_count; i++) {
        const struct model_message *m = &request->messages[i];

        if (m->role == MODEL_USER && str_trim(m->text).n)
            wizard_hear(w, m->text);
        else if (m->role == MODEL_TOOL && str_is(m->tool_name, "propose_agent"))
            hear_result(w, m);
    }
}

static void look_around(struct wizard *w)
{
    const struct model_tool *templates = offline_tool(w->turn, "list_templates");
    const struct model_tool *tools = offline_tool(w->turn, "list_tools");

    if (w->turn->round > 0 || !templates || !tools) {
        offline_say(w->turn, "I can't see which templates and tools there are, so I can't make an "
                             "agent now. Please try again later.\n");
        return;
    }
    offline_call_json(w->turn, templates, STR("{}"));
    offline_call_json(w->turn, tools, STR("{}"));
}

static void refused(struct wizard *w)
{
    const struct offline_result *result = offline_result_of(w->turn, "propose_agent");

    if (result && result->failed && result->code != ERR_REJECTED)
        offline_say(w->turn, "That could not be made: %.*s\n\n", STR_ARG(result->error));
    else if (result && result->error.n)
        offline_say(w->turn, "Not so, then (%.*s).\n\n", STR_ARG(result->error));
    offline_say(w->turn,
                "What shall I change? I understand \"call it NAME\", \"without TOOL\", \"add "
                "TOOL\", \"use the NAME template\", \"it may reach CATEGORY\", \"terse\", "
                "\"friendly\" and \"start over\".\n");
}

void offline_wizard(struct offline_turn *turn)
{
    struct wizard w = { .turn = turn, .notice = BUF_INIT(4096) };

    find_lists(&w);
    if (!w.templates || !w.tools) {
        look_around(&w);
    } else {
        hear_all(&w);
        if (w.made.n)
            offline_say(
                turn,
                "Done: the agent is made, its id is %.*s. Say hello to it on its page. When "
                "you want another one, tell me what it should do.\n%.*s",
                STR_ARG(w.made), STR_ARG(w.advice));
        else if (w.rejected)
            refused(&w);
        else if (!wizard_ask(&w))
            wizard_propose(&w);
    }
    json_object_put(w.templates);
    json_object_put(w.tools);
    json_object_put(w.categories);
    buf_release(&w.notice);
}

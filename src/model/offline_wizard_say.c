/* What the guided conversation asks, and the form that comes of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/utf8.h"
#include "model/offline_wizard_int.h"

#define FORM_BYTES        (256u << 10)
#define NAME_CHARACTERS   80
#define DESCRIPTION_BYTES 300

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

/* ---- asking ---- */

static void ask_purpose(struct wizard *w)
{
    if (w->lost) {
        offline_say(w->turn, "I did not understand that. What should the agent do for you? One or "
                             "two sentences are enough.\n");
        return;
    }
    offline_say(
        w->turn,
        "I make agents with you. I am a set of rules, not a language model: I ask one thing "
        "at a time and take words as they are.\n\nWhat should the agent do for you? One or "
        "two sentences are enough.\n");
}

static void say_templates(struct wizard *w)
{
    for (size_t i = 0; i < json_length(w->templates); i++)
        offline_say(w->turn, "%s%.*s", i ? ", " : "",
                    STR_ARG(member(json_object_array_get_idx(w->templates, i), "name")));
}

static void ask_template(struct wizard *w)
{
    struct json_object *fits = wizard_suggest(w);

    if (w->lost)
        offline_say(w->turn, "I did not understand that. ");
    if (fits)
        offline_say(w->turn,
                    "The template **%.*s** fits: %.*s\n\nShall I begin with it? Say yes, no, "
                    "or another name: ",
                    STR_ARG(member(fits, "name")), STR_ARG(member(fits, "description")));
    else
        offline_say(w->turn,
                    "None of my templates is made for that. Say \"none\" to begin empty, or "
                    "a name: ");
    say_templates(w);
    offline_say(w->turn, ".\n");
}

static void ask_name(struct wizard *w)
{
    if (w->lost)
        offline_say(w->turn, "That can't be its name. ");
    if (w->form.template)
        offline_say(w->turn, "What shall it be called? \"yes\" means %.*s.\n",
                    STR_ARG(member(w->form.template, "name")));
    else
        offline_say(w->turn, "What shall it be called?\n");
}

static struct str first_sentence(struct str text)
{
    ptrdiff_t end = str_find(text, STR(". "));

    return end < 0 ? text : str_take(text, (size_t)end + 1);
}

static void ask_tools(struct wizard *w)
{
    struct str names[WIZARD_TOOLS_MAX];
    size_t n = wizard_tools(w, names);

    if (w->lost)
        offline_say(w->turn, "I know no such tool, or did not understand that.\n\n");
    if (!n)
        offline_say(w->turn, "It would have no tools: it could only talk.\n");
    else
        offline_say(w->turn, "It would have these tools:\n");
    for (size_t i = 0; i < n; i++) {
        struct json_object *tool = wizard_tool(w, names[i]);
        bool asks = !str_is(member(tool, "asks"), "never");

        offline_say(w->turn, "- `%.*s`%s %.*s\n", STR_ARG(names[i]),
                    asks ? " (⚠️ asks you first):" : ":",
                    STR_ARG(first_sentence(member(tool, "description"))));
    }
    offline_say(w->turn, "\nIs that right? Say yes, \"without %.*s\" or \"add\" and a name.\n",
                STR_ARG(n ? names[n - 1] : STR("bash")));
    if (!w->lost)
        return;
    offline_say(w->turn, "There are: ");
    for (size_t i = 0; i < json_length(w->tools); i++)
        offline_say(w->turn, "%s%.*s", i ? ", " : "",
                    STR_ARG(member(json_object_array_get_idx(w->tools, i), "name")));
    offline_say(w->turn, ".\n");
}

static void ask_categories(struct wizard *w)
{
    size_t n = json_length(w->categories);

    if (w->lost)
        offline_say(w->turn, "I know no such category. ");
    offline_say(w->turn,
                "Which categories of the journal may it reach? There %s: ", n == 1 ? "is" : "are");
    for (size_t i = 0; i < n; i++)
        offline_say(w->turn, "%s%.*s", i ? ", " : "",
                    STR_ARG(json_str(json_object_array_get_idx(w->categories, i))));
    offline_say(w->turn, ". Say their names, \"all\" or \"none\"; what is not named it does not "
                         "see, and no change there wakes it.\n");
}

static void ask_style(struct wizard *w)
{
    if (w->lost)
        offline_say(w->turn, "I know two ways. ");
    offline_say(w->turn,
                "How should it talk? \"friendly\" says what it can and can't do, offers options as "
                "A) B) C), learns from corrections and makes suggestions; \"terse\" does its work "
                "and no more.\n");
}

bool wizard_ask(struct wizard *w)
{
    const struct wizard_form *form = &w->form;

    if (form->name.n && utf8_count(form->name) > NAME_CHARACTERS) {
        offline_say(w->turn, "That is too long for a name. ");
        w->form.name = STR_NONE;
    }
    offline_say(w->turn, "%s", buf_text(&w->notice));
    if (!form->purpose.n)
        ask_purpose(w);
    else if (!form->template_known)
        ask_template(w);
    else if (!form->name.n)
        ask_name(w);
    else if (!form->tools_known)
        ask_tools(w);
    else if (wizard_needs_categories(w) && !form->categories_known)
        ask_categories(w);
    else if (!form->style_known)
        ask_style(w);
    else
        return false;
    return true;
}

/* ---- proposing ---- */

/* On one line, without an end in the middle of a character. */
static struct str one_line(struct str text, size_t max, struct arena *arena)
{
    struct str cut = utf8_truncate(text, max);
    char *copy = arena_copy(arena, cut.p, cut.n);

    for (size_t i = 0; i < cut.n; i++)
        if ((unsigned char)copy[i] < ' ')
            copy[i] = ' ';
    return str_of(copy, cut.n);
}

static void write_instructions(struct wizard *w, struct buf *out)
{
    struct json_object *template = w->form.template;

    if (template)
        buf_printf(out, "%.*s\nWhat the person wants from you, in their words:\n\n",
                   STR_ARG(member(template, "instructions")));
    else
        buf_add_text(out, "You work for one person. What they want from you, in their words:\n\n");
    buf_printf(out, "> %.*s\n",
               STR_ARG(one_line(w->form.purpose, w->form.purpose.n, w->turn->arena)));
    if (!template)
        buf_add_text(out,
                     "\nAsk when you lack something you need to know, one thing at a time. Say "
                     "plainly what you can't do.\n");
    if (w->form.terse)
        buf_add_text(out,
                     "\nBe terse: answer in as few words as are clear, and add nothing that was "
                     "not asked for.\n");
}

static void put(struct json_writer *out, const char *key, struct str text)
{
    json_put_str(out, key, text);
}

static void put_list(struct json_writer *out, const char *key, const struct str *names, size_t n)
{
    json_put_array(out, key);
    for (size_t i = 0; i < n; i++)
        json_write_str(out, names[i]);
    json_write_array_end(out);
}

void wizard_propose(struct wizard *w)
{
    const struct model_tool *tool = offline_tool(w->turn, "propose_agent");
    const struct str patterns[] = { STR("communication"), STR("learning"), STR("suggestions") };
    const struct str all = STR("*");
    AUTO_BUF instructions = BUF_INIT(FORM_BYTES);
    AUTO_BUF json = BUF_INIT(2 * FORM_BYTES);
    struct json_writer out = JSON_WRITER(&json);
    struct json_object *template = w->form.template;
    struct str names[WIZARD_TOOLS_MAX];
    size_t n = wizard_tools(w, names);

    write_instructions(w, &instructions);
    json_write_object_begin(&out);
    put(&out, "displayName", w->form.name);
    put(&out, "description",
        template ? member(template, "description")
                 : one_line(w->form.purpose, DESCRIPTION_BYTES, w->turn->arena));
    put(&out, "instructions", buf_str(&instructions));
    put_list(&out, "tools", names, n);
    if (w->form.all_categories)
        put_list(&out, "categories", &all, 1);
    else if (w->form.category_count)
        put_list(&out, "categories", w->form.categories, w->form.category_count);
    if (template)
        put(&out, "template", member(template, "id"));
    if (!w->form.terse)
        put_list(&out, "patterns", patterns, ARRAY_LEN(patterns));
    json_write_object_end(&out);
    offline_say(w->turn, "Here is %.*s. Look it over, change what you like, and accept it.\n",
                STR_ARG(w->form.name));
    offline_call_json(w->turn, tool, arena_str(w->turn->arena, buf_str(&json)));
}

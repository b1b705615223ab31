/* What a person says to the guided conversation, one message at a time: answers to what was asked,
 * and corrections at any time, also several in one message.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "model/offline_wizard_int.h"

/* ---- words ---- */

static bool matches(const struct offline_words *words, const char *const *table,
                    struct offline_match *ret_match)
{
    for (size_t i = 0; table[i]; i++)
        if (offline_match(table[i], words, ret_match))
            return true;
    return false;
}

static bool is_yes(const struct offline_words *words)
{
    static const char *const table[] = {
        "yes|y|yep|yeah|ok|okay|sure|please|accept|propose ...",
        "fine|good|great|perfect|right|correct ...",
        "sounds good|great|fine ...",
        "that|this is fine|good|ok|right ...",
        "do it ...",
        "go ahead ...",
        "looks good|fine|right ...",
        NULL,
    };
    struct offline_match match;

    return matches(words, table, &match);
}

static bool is_no(const struct offline_words *words)
{
    static const char *const table[] = {
        "no|nope|none|nothing|neither|blank|empty|without|scratch",
        "no template|thanks|thank ...",
        "from scratch ...",
        "none of them|these|those ...",
        NULL,
    };
    struct offline_match match;

    return matches(words, table, &match);
}

static bool is_greeting(const struct offline_words *words)
{
    static const char *const table[] = {
        "hi|hello|hey|hallo|moin|greetings ...",
        "good morning|evening|day|afternoon ...",
        "help|start|begin|new",
        "what can you do ...",
        "[i] [want|need|make|create] [to] [make|create|build] an|a [new] agent",
        NULL
    };
    struct offline_match match;

    return matches(words, table, &match) && words->n < 8;
}

/* ---- hearing ---- */

static bool has_letters(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'))
            return true;
    }
    return false;
}

static struct str bare(struct str text)
{
    text = str_trim(text);
    while (text.n && strchr("\"'.!,;:", text.p[text.n - 1]))
        text.n--;
    while (text.n && strchr("\"'", text.p[0]))
        text = str_skip(text, 1);
    return str_trim(text);
}

static bool hear_name(struct wizard *w, const struct offline_words *words)
{
    static const char *const table[] = {
        "[let] [us] [i] [would|will|want|like] [to] call|name|rename it|him|her|them [to] {a}",
        "lets|let's call|name it|him|her|them {a}",
        "[the|its|his|her] name is|should [be] {a}",
        "rename [it] to {a}",
        NULL,
    };
    struct offline_match match;

    if (!matches(words, table, &match) || !bare(match.cap[0]).n)
        return false;
    w->form.name = bare(match.cap[0]);
    buf_printf(&w->notice, "Its name: %.*s.\n\n", STR_ARG(str_take(w->form.name, 200)));
    return true;
}

static bool hear_tools(struct wizard *w, const struct offline_words *words)
{
    static const char *const less[] = { "without|remove|drop|minus|not|no {a}",
                                        "leave|take out|away {a}", "leave|take {a} out|away",
                                        "[it] [should] [must] not use|have {a}", NULL };
    static const char *const more[] = { "add|with|plus|also|include {a}",
                                        "[it] needs|should [also] [have|use] {a}",
                                        "give it [also] {a}", NULL };
    struct offline_match match;

    if (matches(words, less, &match))
        return wizard_change_tools(w, match.cap[0], false);
    if (matches(words, more, &match))
        return wizard_change_tools(w, match.cap[0], true);
    return false;
}

static bool hear_template(struct wizard *w, const struct offline_words *words)
{
    static const char *const table[] = { "use|using|take|choose [the] {a}",
                                         "begin|start with [the] {a}", "[the] {a} template", NULL };
    struct offline_match match;
    struct json_object *template;

    if (!matches(words, table, &match))
        return false;
    template = wizard_template(w, match.cap[0]);
    if (!template)
        return false;
    w->form.template = template;
    w->form.template_known = true;
    buf_printf(&w->notice, "Its template: %.*s.\n\n",
               STR_ARG(json_str(json_find(template, "name"))));
    return true;
}

static bool hear_style(struct wizard *w, const struct offline_words *words)
{
    static const char *const terse[] = {
        "[be] [make] [it] [more] terse|short|brief|laconic|quiet ...", NULL
    };
    static const char *const warm[] = {
        "[be] [make] [it] [more] friendly|warm|chatty|helpful|detailed|open ...", NULL
    };
    struct offline_match match;
    bool is_terse = matches(words, terse, &match);

    if (!is_terse && !matches(words, warm, &match))
        return false;
    w->form.terse = is_terse;
    w->form.style_known = true;
    buf_printf(&w->notice, "It will be %s.\n\n", is_terse ? "terse" : "friendly");
    return true;
}

static bool hear_categories(struct wizard *w, const struct offline_words *words)
{
    static const char *const table[] = {
        "[it|he|she] may|can|should|shall reach|see [the] [category|categories] {a}",
        "[the] category|categories [is|are] {a}",
        "[let] [it] reach {a}",
        NULL,
    };
    struct offline_match match;

    return matches(words, table, &match) && wizard_take_categories(w, match.cap[0]);
}

static bool hear_purpose(struct wizard *w, const struct offline_words *words)
{
    static const char *const table[] = {
        "it|he|she is for {a}",
        "it|he|she is about {a}",
        "it|he|she should help [me] [with] {a}",
        "[the|its] purpose is {a}",
        "change the purpose to {a}",
        "make it about {a}",
        NULL,
    };
    struct offline_match match;

    if (!matches(words, table, &match) || !bare(match.cap[0]).n)
        return false;
    w->form.purpose = bare(match.cap[0]);
    buf_printf(&w->notice, "What it is for: %.*s.\n\n", STR_ARG(str_take(w->form.purpose, 400)));
    return true;
}

/* A correction of what is in the form, or of what will be. */
static bool hear_correction(struct wizard *w, struct str text)
{
    struct offline_words words;

    offline_words_split(text, w->turn->arena, &words);
    offline_words_unpolite(&words);
    return hear_name(w, &words) || hear_template(w, &words) || hear_categories(w, &words) ||
           hear_tools(w, &words) || hear_style(w, &words) || hear_purpose(w, &words);
}

/* ---- several things in one message ---- */

/* "actually, call it Ben": what people say before they come to the point. A bare "no" stays. */
static struct str to_the_point(struct str text)
{
    static const char *const fillers[] = { "actually", "wait",    "well", "hm",     "hmm", "oh",
                                           "sorry",    "instead", "then", "rather", "and", "but",
                                           "no,",      "nope,",   "ok,",  "okay,",  "now" };
    bool found;

    do {
        ptrdiff_t space = str_find_char(text = str_trim(text), ' ');
        struct str word = str_take(text, space < 0 ? 0 : (size_t)space);

        found = false;
        for (size_t i = 0; i < ARRAY_LEN(fillers) && word.n && !found; i++)
            found = str_eq_nocase(word, str_from(fillers[i])) ||
                    (str_ends(word, STR(",")) &&
                     str_eq_nocase(str_take(word, word.n - 1), str_from(fillers[i])));
        if (found)
            text = str_skip(text, word.n);
    } while (found);
    return text;
}

/* Where the next thing may begin; *ret_length: of what parts them. */
static ptrdiff_t next_part(struct str text, size_t from, size_t *ret_length)
{
    static const struct {
        const char *text;
        size_t length; /* the word of a longer one is part of what follows */
    } marks[] = {
        { ", ", 2 },    { "; ", 2 }, { ". ", 2 },      { " and ", 5 },
        { " but ", 5 }, { "\n", 1 }, { " using ", 1 }, { " without ", 1 },
    };
    ptrdiff_t first = -1;

    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        ptrdiff_t at = str_find(str_skip(text, from), str_from(marks[i].text));

        if (at >= 0 && (first < 0 || at + (ptrdiff_t)from < first)) {
            first = at + (ptrdiff_t)from;
            *ret_length = marks[i].length;
        }
    }
    return first;
}

static bool is_correction(const struct wizard *w, struct str text)
{
    struct wizard trial = *w; /* what is allocated lies in the arena of the turn */
    bool heard;

    trial.notice = BUF_INIT(4096);
    heard = hear_correction(&trial, to_the_point(text));
    buf_release(&trial.notice);
    return heard;
}

#define PARTS_MAX 8

/* Hears every part of text that is a correction. What comes before the first that is one of several
 * is left over. */
static struct str hear_corrections(struct wizard *w, struct str text, bool *ret_heard)
{
    struct str left = to_the_point(text);
    size_t from = 0, length = 0;

    *ret_heard = false;
    for (int i = 0; i < PARTS_MAX; i++) {
        ptrdiff_t at = next_part(left, from, &length);
        struct str right = at < 0 ? STR_NONE : str_skip(left, (size_t)at + length);
        size_t n = 0;
        ptrdiff_t end = at < 0 ? -1 : next_part(right, 0, &n);

        if (at < 0)
            break;
        from = (size_t)at + length;
        if (!is_correction(w, end < 0 ? right : str_take(right, (size_t)end)))
            continue;
        left = str_take(left, (size_t)at);
        hear_corrections(w, right, ret_heard);
        *ret_heard = true;
        break;
    }
    if (!hear_correction(w, left))
        return left;
    *ret_heard = true;
    return STR_NONE;
}

/* "a coach called Big Ben for running": the name ends where the sentence goes on. */
static void hear_called(struct wizard *w, struct str text)
{
    static const struct str says[] = { { " called ", 8 }, { " named ", 7 } };
    static const struct str ends[] = { { " for ", 5 },   { " who ", 5 }, { " that ", 6 },
                                       { " which ", 7 }, { " to ", 4 },  { " and ", 5 },
                                       { ", ", 2 },      { ". ", 2 },    { "\n", 1 } };

    for (size_t i = 0; i < ARRAY_LEN(says); i++) {
        ptrdiff_t at = str_find(text, says[i]);
        struct str name = str_trim(str_skip(text, at < 0 ? text.n : (size_t)at + says[i].n));
        bool quoted = name.n && name.p[0] == '"';
        ptrdiff_t end = quoted ? str_find_char(str_skip(name, 1), '"') : -1;

        if (quoted && end >= 0)
            name = str_take(name, (size_t)end + 2);
        for (size_t k = 0; !quoted && k < ARRAY_LEN(ends); k++) {
            end = str_find(name, ends[k]);
            if (end >= 0)
                name = str_take(name, (size_t)end);
        }
        if (bare(name).n)
            w->form.name = bare(name);
    }
}

/* Who is to write mails needs the tools for it; what else a purpose may mean is for the template.
 */
static void hear_services(struct wizard *w)
{
    static const char *const services[] = { "slack", "mail", "email", "gmail", "calendar" };
    struct offline_words words;

    offline_words_split(w->form.purpose, w->turn->arena, &words);
    for (size_t i = 0; i < ARRAY_LEN(services); i++)
        for (size_t k = 0; k < words.n; k++)
            if (str_is(words.word[k].low, services[i]) && !w->form.removed_count)
                wizard_change_tools(w, words.word[k].low, true);
}

/* What it is for, and what else the first message says. */
static void hear_first(struct wizard *w, struct str text)
{
    struct str left;
    bool heard;

    w->form.purpose = str_trim(text);
    left = hear_corrections(w, text, &heard);
    if (heard && left.n)
        w->form.purpose = left;
    hear_called(w, w->form.purpose);
    hear_services(w);
}

/* ---- answers ---- */

static void hear_answer(struct wizard *w, const struct offline_words *words)
{
    struct wizard_form *form = &w->form;
    struct json_object *suggested = form->template ? form->template : wizard_suggest(w);

    if (!form->template_known) {
        form->template = is_no(words) ? NULL : wizard_template(w, words->text);
        if (!form->template && is_yes(words))
            form->template = suggested;
        form->template_known = form->template || is_no(words);
        w->lost = !form->template_known;
    } else if (!form->name.n) {
        if (is_yes(words) && form->template)
            form->name = json_str(json_find(form->template, "name"));
        else if (!is_yes(words) && !is_no(words) && has_letters(words->text))
            form->name = bare(words->text);
        w->lost = !form->name.n;
    } else if (!form->tools_known) {
        form->tools_known = is_yes(words);
        w->lost = !form->tools_known;
    } else if (wizard_needs_categories(w) && !form->categories_known) {
        w->lost = !wizard_take_categories(w, words->text);
    } else if (!form->style_known) {
        form->style_known = is_yes(words);
        w->lost = !form->style_known;
    } else {
        w->lost = !is_yes(words);
    }
}

/* What is left over beside corrections counts when it is a yes or a no. */
static void hear_more(struct wizard *w, struct str text)
{
    struct offline_words words, rest;
    struct str left;
    bool heard;

    offline_words_split(text, w->turn->arena, &words);
    offline_words_unpolite(&words);
    left = hear_corrections(w, text, &heard);
    if (!heard) {
        hear_answer(w, &words);
        w->rejected = w->rejected && w->lost;
        return;
    }
    w->rejected = false;
    offline_words_split(left, w->turn->arena, &rest);
    if (left.n && (is_yes(&rest) || is_no(&rest))) {
        hear_answer(w, &rest);
        w->lost = false;
    }
}

void wizard_hear(struct wizard *w, struct str text)
{
    static const char *const again[] = {
        "start over ...", "begin again ...", "start again ...",        "from the beginning",
        "reset",          "new agent",       "forget it|that|all ...", NULL
    };
    struct offline_words words;
    struct offline_match match;

    buf_clear(&w->notice);
    w->lost = false;
    w->made = STR_NONE;
    offline_words_split(to_the_point(text), w->turn->arena, &words);
    offline_words_unpolite(&words);
    if (matches(&words, again, &match)) {
        w->form = (struct wizard_form){ .purpose = STR_NONE };
        w->rejected = false;
    } else if (w->form.purpose.n) {
        hear_more(w, text);
    } else if (!has_letters(text)) {
        w->lost = true;
    } else if (!is_greeting(&words)) {
        hear_first(w, text);
    }
}

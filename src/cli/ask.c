/* Asking a person at a terminal.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/ask.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/show_int.h"

#define BIT(word) (1u << (word))

static const struct word {
    enum ask_word word;
    const char *text, *also; /* the second is the command of that name */
    const char *help;
} words[] = {
    { ASK_YES, "yes", "approve", "do exactly this, once" },
    { ASK_NO, "no", "reject", "do not; words after it tell the agent why: no, not today" },
    { ASK_EDIT, "edit", NULL, "change it first; what you leave in the editor is done" },
    { ASK_RUN, "run", "for this run", "yes, and for the rest of this run" },
    { ASK_ALWAYS, "always", NULL, "yes, and from now on; `dormouse inbox --grants` lists it" },
    { ASK_SHOW, "show", NULL, "show all of it again" },
    { ASK_HELP, "help", "?", NULL },
};

/* Which words an item takes: by its kind, and by the scopes that it offers. Questions are answered
 * in the person's own words. */
static unsigned ask_offers(struct json_object *item)
{
    static const struct {
        const char *kind;
        unsigned words;
    } kinds[] = {
        { "tool", BIT(ASK_EDIT) },
        { "memory", BIT(ASK_EDIT) },
    };
    static const struct {
        const char *scope;
        unsigned words;
    } scopes[] = { { "run", BIT(ASK_RUN) }, { "always", BIT(ASK_ALWAYS) } };
    unsigned offered = BIT(ASK_YES) | BIT(ASK_NO) | BIT(ASK_SHOW) | BIT(ASK_HELP);
    struct json_object *choices = json_find(item, "choices");

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(show_member(item, "kind"), kinds[i].kind))
            offered |= kinds[i].words;
    /* There is nothing to refuse: it was done. */
    if (str_is(show_member(item, "kind"), "escalated"))
        offered &= ~BIT(ASK_NO);
    for (size_t i = 0; i < json_length(choices); i++)
        for (size_t k = 0; k < ARRAY_LEN(scopes); k++)
            if (str_is(show_member(json_object_array_get_idx(choices, i), "scope"),
                       scopes[k].scope))
                offered |= scopes[k].words;
    return str_is(show_member(item, "kind"), "question") ? 0 : offered;
}

/* ---- words ---- */

static bool ask_is(struct str line, const char *word)
{
    return word && str_eq_nocase(line, str_from(word));
}

/* "no, not today" and "no not today": the reason without the comma. */
static bool ask_is_no(struct str line, const char *word, struct str *ret_reason)
{
    struct str begin = str_take(line, strlen(word)), rest = str_skip(line, strlen(word));

    if (!str_eq_nocase(begin, str_from(word)) || !rest.n || !strchr(" ,:", rest.p[0]))
        return false;
    while (rest.n && strchr(" ,:", rest.p[0]))
        rest = str_skip(rest, 1);
    *ret_reason = rest;
    return true;
}

enum ask_word ask_word_of(struct str line, unsigned offered, struct str *ret_reason)
{
    *ret_reason = STR_NONE;
    line = str_trim(line);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const struct word *one = &words[i];

        if (!(offered & BIT(one->word)))
            continue;
        if (ask_is(line, one->text) || ask_is(line, one->also))
            return one->word;
        if (one->word == ASK_NO &&
            (ask_is_no(line, one->text, ret_reason) || ask_is_no(line, one->also, ret_reason)))
            return ASK_NO;
    }
    return ASK_NONE;
}

void ask_list_words(unsigned offered, struct buf *out)
{
    size_t before = out->n;

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (offered & BIT(words[i].word))
            buf_printf(out, "%s%s", out->n > before ? ", " : "", words[i].text);
}

void ask_help(unsigned offered, FILE *out)
{
    /* What takes no no was done already. */
    bool notice = !(offered & BIT(ASK_NO));

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (offered & BIT(words[i].word) && words[i].help)
            fprintf(out, "  %-7s %s\n", words[i].text,
                    notice && words[i].word == ASK_YES ? "you have seen it" : words[i].help);
    fputs("Ctrl-C cancels the run, Ctrl-D leaves it waiting: `dormouse inbox` shows it.\n", out);
}

/* ---- one question ---- */

/* Lines of a page: the prompt has room below it. */
static size_t ask_page(const struct ask *ask)
{
    return ask->paged ? (size_t)term_height(ask->out) - 2 : 0;
}

void ask_draw(struct ask *ask)
{
    struct str title = show_member(ask->item, "title");
    AUTO(pane) head = pane_new(ask->out);

    pane_free(ask->pane);
    ask->pane = pane_new(ask->out);
    ask->width = term_width(ask->out);
    ask->height = term_height(ask->out);
    ask->continues = term_continues();
    ask->sure = false;
    pane_own(head, TERM_YELLOW, "? ", title.n ? title : show_member(ask->item, "toolName"));
    pane_show(head, 0);
    pane_item(ask->pane, ask->item);
    pane_show(ask->pane, ask_page(ask));
}

bool ask_is_lost(const struct ask *ask)
{
    return ask->paged &&
           (ask->continues != term_continues() || ask->width != term_width(ask->out) ||
            ask->height != term_height(ask->out));
}

void ask_begin(struct ask *ask, FILE *out, struct json_object *item, unsigned without)
{
    *ask = (struct ask){ .out = out,
                         .item = item,
                         .offered = ask_offers(item) & ~without,
                         .paged = term_height(out) > 0 };
    ask_draw(ask);
}

static void ask_drop_edited(struct ask *ask)
{
    if (ask->has_edited)
        decide_edited_release(&ask->edited);
    ask->has_edited = false;
}

void ask_release(struct ask *ask)
{
    json_object_put(ask->item);
    pane_free(ask->pane);
    free(ask->reason);
    ask_drop_edited(ask);
    *ask = (struct ask){ .item = NULL };
}

void ask_edit_refused(struct ask *ask, struct decide_edited *edited)
{
    ask_drop_edited(ask);
    ask->edited = *edited;
    *edited = (struct decide_edited)DECIDE_EDITED_INIT;
    ask->has_edited = ask->sure = true;
    ask->pending = ASK_EDIT;
}

bool ask_take_edited(struct ask *ask, const struct decide *decide, struct decide_edited *ret_edited)
{
    if (!ask->has_edited || !decide->anyway)
        return false;
    *ret_edited = ask->edited;
    ask->has_edited = false;
    return true;
}

bool ask_is_paging(const struct ask *ask)
{
    return !pane_ended(ask->pane);
}

void ask_prompt(const struct ask *ask, struct buf *out)
{
    if (ask_is_paging(ask))
        buf_printf(out, "Line %zu of %zu; Enter shows more%s: ", pane_shown(ask->pane),
                   pane_lines(ask->pane), ask->offered & BIT(ASK_NO) ? ", no rejects" : "");
    else if (!ask->offered)
        buf_add_text(out, "Your answer: ");
    else if (ask->sure)
        buf_add_text(
            out, "This is dangerous, see above. Type anyway to approve it all the same, or no: ");
    else {
        struct str kind = show_member(ask->item, "kind");

        buf_add_text(out, str_is(kind, "unknown_effect")
                              ? "Nobody knows whether it was done. Do it again? "
                          : str_is(kind, "escalated") ? "Have you seen it? "
                                                      : "Allow it? ");
        ask_list_words(ask->offered, out);
        buf_add_text(out, ": ");
    }
}

/* A choice's number stands for it. */
static struct str ask_choice(struct json_object *item, struct str text)
{
    struct json_object *choices = NULL;
    int64_t n = 0;

    json_get_array(json_find(item, "body"), "choices", &choices, NULL);
    if (choices && str_to_i64(text, &n) == 0 && n >= 1 && (size_t)n <= json_length(choices))
        return json_str(json_object_array_get_idx(choices, (size_t)n - 1));
    return text;
}

static void ask_keep(struct ask *ask, struct str text)
{
    free(ask->reason);
    ask->reason = text.n ? alloc_copy(text.p, text.n) : NULL;
}

/* A yes, whether to this or to what the editor makes of it. */
static enum ask_result ask_approve(struct ask *ask, enum ask_word word, struct decide *ret_decide)
{
    bool anyway = ask->sure || ask->anyway;

    ask->sure = json_length(json_find(ask->item, "danger")) && !anyway;
    ask->pending = word;
    if (ask->sure)
        return ASK_AGAIN;
    *ret_decide = (struct decide){ .decision = word == ASK_EDIT ? "edit" : "approve",
                                   .anyway = anyway,
                                   .scope = word == ASK_RUN      ? "run"
                                            : word == ASK_ALWAYS ? "always"
                                                                 : NULL };
    return word == ASK_EDIT ? ASK_EDITING : ASK_DECIDED;
}

static enum ask_result ask_act(struct ask *ask, enum ask_word word, struct decide *ret_decide)
{
    switch (word) {
    case ASK_YES:
    case ASK_RUN:
    case ASK_ALWAYS:
    case ASK_EDIT:
        return ask_approve(ask, word, ret_decide);
    case ASK_NO:
        *ret_decide = (struct decide){ .decision = "reject", .reason = ask->reason };
        return ASK_DECIDED;
    case ASK_SHOW:
        pane_rewind(ask->pane);
        pane_show(ask->pane, ask_page(ask));
        return ASK_AGAIN;
    default:
        ask_help(ask->offered, ask->out);
        return ASK_AGAIN;
    }
}

enum ask_result ask_take(struct ask *ask, struct str line, struct decide *ret_decide)
{
    bool paging = ask_is_paging(ask), sure = ask->sure;
    unsigned offered = paging || sure ? BIT(ASK_NO) & ask->offered : ask->offered;
    struct str reason;
    enum ask_word word;

    line = str_trim(line);
    if (paging && !line.n) {
        pane_show(ask->pane, ask_page(ask));
        return ASK_AGAIN;
    }
    if (!line.n)
        return ASK_AGAIN;
    if (!ask->offered && !paging) {
        ask_keep(ask, ask_choice(ask->item, line));
        *ret_decide = (struct decide){ .decision = "answer", .answer = ask->reason };
        return ASK_DECIDED;
    }
    if (sure && ask_is(line, "anyway"))
        return ask_approve(ask, ask->pending, ret_decide);
    ask->sure = false;
    word = ask_word_of(line, offered, &reason);
    ask_keep(ask, reason);
    if (word == ASK_NONE && (paging || sure))
        return ASK_AGAIN;
    return ask_act(ask, word, ret_decide);
}

/* What the daemon refuses, in the words of the command that was typed.
 *
 * Over HTTP an error names the member of the request (/upserts/0: /endTime: ...). Who typed a
 * command knows options and operands: --due, FROM. A member that no word was given for is said in
 * plain words: startedAt is "started at". What stands in quotes is left as it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/limits.h"
#include "cli/jot.h"

#define RESTORE "POST .../restore"
#define ARCHIVE "{\"archived\": true}"

void jot_says(struct jot *jot, const char *member, const char *word)
{
    BUG_IF(jot->word_count == JOT_WORDS_MAX);
    jot->words[jot->word_count++] = (struct jot_word){ member, word };
}

/* The word given last for it counts. */
static const char *word_of(const struct jot *jot, struct str member)
{
    for (size_t i = jot->word_count; i > 0; i--)
        if (str_is(member, jot->words[i - 1].member))
            return jot->words[i - 1].word;
    return NULL;
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_letter(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

/* "estimateMinutes": letters, the first small, a capital among them. */
static bool is_member(struct str word)
{
    bool capital = false;

    for (size_t i = 1; i < word.n; i++)
        capital |= is_upper(word.p[i]) && !is_upper(word.p[i - 1]);
    return capital && !is_upper(word.p[0]);
}

/* "categoryId" is "category". */
static void say_plainly(struct buf *out, struct str member)
{
    if (member.n > 2 && str_ends(member, STR("Id")))
        member.n -= 2;
    for (size_t i = 0; i < member.n; i++) {
        if (is_upper(member.p[i]))
            buf_add_text(out, " ");
        buf_add_char(out, (char)(is_upper(member.p[i]) ? member.p[i] | 0x20 : member.p[i]));
    }
}

static void say_member(const struct jot *jot, struct buf *out, struct str member)
{
    const char *word = word_of(jot, member);

    if (word)
        buf_add_text(out, word);
    else
        say_plainly(out, member);
}

/* "/upserts/0: /endTime: " and "/endTime: "; the innermost name counts. */
static struct str take_place(struct str *text)
{
    struct str member = STR_NONE;
    const char *colon;

    while (text->n > 1 && text->p[0] == '/' && is_letter(text->p[1]) &&
           (colon = memchr(text->p, ':', text->n))) {
        struct str path = str_of(text->p, (size_t)(colon - text->p)), segment;

        if (memchr(path.p, ' ', path.n))
            break;
        while (path.p && str_split(&path, '/', &segment))
            if (segment.n && is_letter(segment.p[0]))
                member = segment;
        *text = str_trim(str_skip(*text, (size_t)(colon - text->p) + 1));
    }
    return member;
}

/* The first that stands in quotes. */
static struct str quoted(struct str text)
{
    struct str before, name;

    if (!str_split(&text, '"', &before) || !text.p || !str_split(&text, '"', &name) || !text.p)
        return STR("ID");
    return name;
}

/* "/endTime: " is "TO: ". */
static void say_place(const struct jot *jot, struct buf *out, struct str *text)
{
    struct str member = take_place(text);
    const char *word = word_of(jot, member);

    if (!member.n || (word && !*word))
        return;
    say_member(jot, out, member);
    buf_add_text(out, ": ");
}

static void say(const struct jot *jot, struct buf *out, struct str text)
{
    struct str whole = text;
    bool in_quotes = false;

    while (text.n) {
        size_t n = 0;

        if (!in_quotes && (!out->n || str_ends(buf_str(out), STR(": "))))
            say_place(jot, out, &text);

        while (n < text.n && is_letter(text.p[n]))
            n++;
        if (!in_quotes && str_starts(text, STR(ARCHIVE))) {
            n = strlen(ARCHIVE);
            buf_printf(out, "`dormouse journal category set \"%.*s\" --archived yes`",
                       STR_ARG(quoted(whole)));
        } else if (in_quotes || n == 0) {
            n = n ? n : 1;
            in_quotes ^= text.p[0] == '"';
            buf_add_str(out, str_take(text, n));
        } else if (str_starts(text, STR(RESTORE))) {
            n = strlen(RESTORE);
            buf_printf(out, "`dormouse journal restore %.*s`", STR_ARG(quoted(whole)));
        } else if (is_member(str_take(text, n))) {
            say_member(jot, out, str_take(text, n));
        } else {
            buf_add_str(out, str_take(text, n));
        }
        text = str_skip(text, n);
    }
}

int jot_refused(struct jot *jot)
{
    AUTO_BUF out = BUF_INIT(ERR_TEXT_MAX + KIB);
    struct str text = str_from(arena_text(&jot->arena, err_message(&jot->err, 0)));
    enum err_code code = jot->err.code;

    say(jot, &out, text);
    err_reset(&jot->err);
    return err_set(&jot->err, code, "%s", buf_text(&out));
}

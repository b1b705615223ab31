/* Skills: when the prompt lists one that the person names, or whose words they use, its SKILL.md is
 * read and its steps are laid out. Rules can't do what a skill asks; they can show it faithfully
 * and say so.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "model/offline_int.h"

#define SKILLS_HEAD STR("## Skills\n")
#define STEPS_MAX   20
#define WORDS_MIN   3 /* of a description, that have to be said */

struct listed {
    struct str name, description;
};

/* Takes the next "- **NAME**: DESCRIPTION" off the front. */
static bool next_listed(struct str *rest, struct listed *ret_skill)
{
    struct str line;

    while (str_split(rest, '\n', &line)) {
        ptrdiff_t end;

        if (!str_starts(line, STR("- **")))
            continue;
        line = str_skip(line, 4);
        end = str_find(line, STR("**: "));
        if (end <= 0)
            continue;
        *ret_skill = (struct listed){ .name = str_take(line, (size_t)end),
                                      .description = str_skip(line, (size_t)end + 4) };
        return true;
    }
    return false;
}

static struct str skills_part(const struct model_request *request)
{
    ptrdiff_t at = str_find(request->system, SKILLS_HEAD);

    return at < 0 ? STR("") : str_skip(request->system, (size_t)at);
}

static bool was_said(const struct offline_turn *turn, struct str word)
{
    for (size_t i = 0; i < turn->words.n; i++)
        if (str_eq_nocase(turn->words.word[i].low, word))
            return true;
    return false;
}

/* "weekly-review" as one word, or each of its parts. */
static bool names_it(const struct offline_turn *turn, struct str name)
{
    struct str rest = name, part;

    if (was_said(turn, name))
        return true;
    while (str_split(&rest, '-', &part))
        if (!was_said(turn, part))
            return false;
    return true;
}

/* Long words of the description that were said; short ones mean nothing. */
static size_t common_words(const struct offline_turn *turn, struct str description)
{
    struct offline_words words;
    size_t n = 0;

    offline_words_split(description, turn->arena, &words);
    for (size_t i = 0; i < words.n; i++) {
        bool before = words.word[i].low.n < 6;

        for (size_t k = 0; k < i && !before; k++)
            before = str_eq(words.word[k].low, words.word[i].low);
        n += !before && was_said(turn, words.word[i].low);
    }
    return n;
}

static bool find_named(const struct offline_turn *turn, bool asked, struct listed *ret_skill)
{
    struct str rest = skills_part(turn->request);
    struct listed skill;

    while (next_listed(&rest, &skill)) {
        if (names_it(turn, skill.name) && (!asked || was_said(turn, STR("skill")))) {
            *ret_skill = skill;
            return true;
        }
    }
    return false;
}

/* The one with the most words in common; two that fit alike are none. */
static bool find_described(const struct offline_turn *turn, struct listed *ret_skill)
{
    struct str rest = skills_part(turn->request);
    size_t best = WORDS_MIN - 1;
    struct listed skill;
    bool found = false;

    while (next_listed(&rest, &skill)) {
        size_t n = common_words(turn, skill.description);

        if (n == best)
            found = false;
        if (n <= best)
            continue;
        best = n;
        *ret_skill = skill;
        found = true;
    }
    return found;
}

/* ---- laying it out ---- */

static struct str without_front(struct str text)
{
    ptrdiff_t end;

    if (!str_starts(text, STR("---\n")))
        return text;
    end = str_find(str_skip(text, 4), STR("\n---"));
    return end < 0 ? text : str_skip(text, 4 + (size_t)end + 4);
}

/* "3. Do this" or "- do that"; *ret_text is what follows. */
static bool is_step(struct str line, struct str *ret_text)
{
    size_t n = 0;

    line = str_trim(line);
    while (n < line.n && line.p[n] >= '0' && line.p[n] <= '9')
        n++;
    if (n && n + 1 < line.n && (line.p[n] == '.' || line.p[n] == ')') && line.p[n + 1] == ' ')
        *ret_text = str_trim(str_skip(line, n + 1));
    else if (line.n > 2 && (line.p[0] == '-' || line.p[0] == '*') && line.p[1] == ' ')
        *ret_text = str_trim(str_skip(line, 2));
    else
        return false;
    return true;
}

static size_t say_steps(struct offline_turn *turn, struct str body)
{
    struct str line, text;
    size_t n = 0, more = 0;

    while (str_split(&body, '\n', &line)) {
        if (!is_step(line, &text))
            continue;
        if (n == STEPS_MAX) {
            more++;
            continue;
        }
        offline_say(turn, "%zu. %.*s\n", ++n, STR_ARG(text));
    }
    if (more)
        offline_say(turn, "(and %zu more)\n", more);
    return n;
}

static void say_text(struct offline_turn *turn, struct str body)
{
    struct str line;
    size_t n = 0;

    while (n < STEPS_MAX && str_split(&body, '\n', &line)) {
        if (!str_trim(line).n)
            continue;
        offline_say(turn, "%.*s\n", STR_ARG(utf8_truncate(line, 600)));
        n++;
    }
}

static void use(struct offline_turn *turn, const struct listed *skill)
{
    const struct model_tool *reader = offline_tool(turn, "read_memory");
    const struct offline_result *text = offline_result_of(turn, "read_memory");
    const struct offline_arg args[] = {
        { .names = offline_name_path,
          .text = str_from(arena_printf(turn->arena, "skills/%.*s.md", STR_ARG(skill->name))) },
    };
    struct str body;

    if (!reader) {
        offline_lacks(turn, "read a skill", "read_memory");
        return;
    }
    if (turn->round == 0) {
        offline_call(turn, reader, args, ARRAY_LEN(args));
        return;
    }
    if (offline_failed(turn) || !text)
        return;
    body = str_trim(without_front(text->output));
    offline_say(turn, "[Using skill: %.*s]\n\n", STR_ARG(skill->name));
    if (!body.n) {
        offline_say(turn, "The skill has no instructions.");
        return;
    }
    offline_say(turn, "I am a set of rules and can't carry these out for you, but this is how the "
                      "skill goes about it:\n\n");
    if (!say_steps(turn, body))
        say_text(turn, body);
}

bool offline_skill_asked(struct offline_turn *turn)
{
    struct listed skill;

    if (!find_named(turn, true, &skill))
        return false;
    use(turn, &skill);
    return true;
}

bool offline_skill_fits(struct offline_turn *turn)
{
    struct listed skill;

    if (!find_named(turn, false, &skill) && !find_described(turn, &skill))
        return false;
    use(turn, &skill);
    return true;
}

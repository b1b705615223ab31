/* The offline model's small languages: words, patterns, shell words, and the table of intents as a
 * whole.
 *
 * The matcher is compared with regular expressions that the C library runs, the quoting with what a
 * shell makes of it, and the table is walked: each row must be the first that fits some sentence,
 * else it could go.
 *
 * SPDX-License-Identifier: MIT
 */
#include <regex.h>
#include <stdio.h>

#include <json-c/json.h>

#include "base/json.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "offline_rig.h"

/* ---- words ---- */

static const char *split(struct test *t, const char *text, bool unpolite)
{
    AUTO_BUF out = BUF_INIT(8192);
    struct offline_words *words = ARENA_NEW(&t->arena, struct offline_words);

    offline_words_split(str_from(text), &t->arena, words);
    if (unpolite)
        offline_words_unpolite(words);
    for (size_t i = 0; i < words->n; i++)
        buf_printf(&out, "%s%.*s%s", i ? "|" : "", STR_ARG(words->word[i].raw),
                   words->word[i].quoted ? "!" : "");
    return arena_text(&t->arena, buf_text(&out));
}

TEST(text_is_split_into_words_without_marks_and_politeness)
{
    static const struct {
        const char *text, *words, *unpolite;
    } cases[] = {
        { "", "", "" },
        { "  \t\n ", "", "" },
        { "show README.md", "show|README.md", "show|README.md" },
        { "Show README.md!", "Show|README.md", "Show|README.md" },
        { "show \"my file.txt\" now", "show|my file.txt!|now", "show|my file.txt!" },
        { "say 'a b' and `c d`", "say|a b!|and|c d!", "say|a b!|and|c d!" },
        { "please list files", "please|list|files", "list|files" },
        { "Could you please list files for me, thanks", "Could|you|please|list|files|for|me|thanks",
          "list|files" },
        { "please", "please", "please" }, /* a word is left */
        { "list files please", "list|files|please", "list|files" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_TEXT(split(t, cases[i].text, false), cases[i].words);
        ASSERT_TEXT(split(t, cases[i].text, true), cases[i].unpolite);
    }
}

TEST(words_stay_inside_their_text_whatever_it_is)
{
    static const char likely[] = "ab .,!?'\"`-_/*~$\n\t\\\xC3\xA4\xFF";
    struct offline_words *words = ARENA_NEW(&t->arena, struct offline_words);
    struct rand_fake rand;
    char text[4000];

    rand_fake_init(&rand, 31);
    for (int round = 0; round < 500; round++) {
        size_t n = rand_below(&rand.rand, round % 50 ? 60 : sizeof(text)), at = 0;

        for (size_t i = 0; i < n; i++)
            text[i] = likely[rand_below(&rand.rand, sizeof(likely) - 1)];
        offline_words_split(str_of(text, n), &t->arena, words);
        ASSERT(words->n <= OFFLINE_WORDS_MAX);
        for (size_t i = 0; i < words->n; i++) {
            ASSERT(words->word[i].begin >= at && words->word[i].end > words->word[i].begin);
            ASSERT(words->word[i].end <= n);
            at = words->word[i].end;
        }
    }
}

/* ---- patterns ---- */

/* The pattern as a regular expression over words that each end with a space. */
static void as_regex(const char *pattern, struct buf *out)
{
    struct str rest = str_from(pattern), element;

    buf_add_char(out, '^');
    while (rest.n && str_split(&rest, ' ', &element)) {
        if (str_is(element, "..."))
            buf_add_text(out, "([^ ]+ )*");
        else if (element.p[0] == '{')
            buf_add_text(out, "([^ ]+ )+");
        else if (element.p[0] == '<')
            buf_add_text(out, "[^ ]+ ");
        else if (element.p[0] == '[')
            buf_printf(out, "((%.*s) )?", (int)element.n - 2, element.p + 1);
        else
            buf_printf(out, "(%.*s) ", STR_ARG(element));
    }
    buf_add_char(out, '$');
}

static bool regex_matches(const char *pattern, const char *sentence)
{
    AUTO_BUF text = BUF_INIT(4096);
    AUTO_BUF spaced = BUF_INIT(8192);
    struct str rest = str_from(sentence), word;
    regex_t regex;
    bool found;

    as_regex(pattern, &text);
    ASSERT_EQ(regcomp(&regex, buf_text(&text), REG_EXTENDED | REG_NOSUB), 0);
    while (rest.n && str_split(&rest, ' ', &word))
        if (word.n)
            buf_printf(&spaced, "%.*s ", STR_ARG(word));
    found = regexec(&regex, buf_text(&spaced), 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

static struct str pick_one(struct rand *rand, struct str list)
{
    struct str rest = list, one = list;
    size_t n = 1;

    for (size_t i = 0; i < list.n; i++)
        n += list.p[i] == '|';
    for (size_t k = rand_below(rand, n) + 1; k > 0; k--)
        if (!str_split(&rest, '|', &one))
            break;
    return one;
}

/* A sentence that the pattern stands for. plain: what may be absent is. */
static const char *speak(struct test *t, struct rand *rand, const char *pattern, bool plain)
{
    static const char *const fillers[] = { "zebra", "notes.txt", "src", "quark", "90", "tomorrow" };
    AUTO_BUF out = BUF_INIT(4096);
    struct str rest = str_from(pattern), element;

    while (rest.n && str_split(&rest, ' ', &element)) {
        const char *filler = fillers[rand_below(rand, ARRAY_LEN(fillers))];
        bool absent = plain || rand_below(rand, 2), may = element.p[0] == '[';
        struct str chosen = pick_one(rand, may ? str_of(element.p + 1, element.n - 2) : element);

        if (str_is(element, "..."))
            buf_printf(&out, "%s", absent ? "" : "zebra quark ");
        else if (element.p[0] == '{')
            buf_printf(&out, "%s %s", filler, absent ? "" : "quark ");
        else if (element.p[0] == '<')
            buf_printf(&out, "%s ", filler);
        else if (!may || !absent)
            buf_printf(&out, "%.*s ", STR_ARG(chosen));
    }
    return arena_printf(&t->arena, "%.*s", STR_ARG(str_trim(buf_str(&out))));
}

static size_t row_count(void)
{
    size_t n = 0;

    while (offline_intents[n].pattern)
        n++;
    return n;
}

static bool matches(struct test *t, const char *pattern, const char *sentence)
{
    struct offline_words *words = ARENA_NEW(&t->arena, struct offline_words);
    struct offline_match match;

    offline_words_split(str_from(sentence), &t->arena, words);
    return offline_match(pattern, words, &match);
}

TEST(the_matcher_agrees_with_regular_expressions)
{
    size_t rows = row_count();
    struct rand_fake rand;
    unsigned fits = 0;

    rand_fake_init(&rand, 32);
    for (int round = 0; round < 4000; round++) {
        const char *of = offline_intents[rand_below(&rand.rand, rows)].pattern;
        const char *pattern =
            round % 2 ? of : offline_intents[rand_below(&rand.rand, rows)].pattern;
        const char *sentence = speak(t, &rand.rand, of, false);
        bool found = matches(t, pattern, sentence);

        /* "$|!" are no words of a sentence that was split. */
        if (strchr(pattern, '$') || strchr(of, '$'))
            continue;
        fits += found;
        if (found != regex_matches(pattern, sentence))
            FAIL("\"%s\" and \"%s\": %d", pattern, sentence, found);
    }
    ASSERT(fits > 1900); /* every second sentence was made for its pattern */
}

TEST(captures_are_the_words_that_they_stand_for)
{
    static const struct {
        const char *pattern, *sentence, *a, *b;
    } cases[] = {
        { "move {a} to {b}", "move one two to three", "one two", "three" },
        { "move {a} to {b}", "move to to to", "to", "to" },
        { "find <a> in {b}", "find x in the y z", "x", "the y z" },
        { "[the] {a}", "the end", "end", NULL },
        { "[the] {a}", "the", "the", NULL },
        { "say {a} ...", "say x y", "x", NULL }, /* as little as fits */
        { "log {a} on {b}", "log 1 hour on on call", "1 hour", "on call" },
        { "say <a>", "say \"two words\"", "two words", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct offline_words *words = ARENA_NEW(&t->arena, struct offline_words);
        struct offline_match match;

        offline_words_split(str_from(cases[i].sentence), &t->arena, words);
        ASSERT(offline_match(cases[i].pattern, words, &match));
        ASSERT_STR(match.cap[0], cases[i].a);
        if (cases[i].b)
            ASSERT_STR(match.cap[1], cases[i].b);
        else
            ASSERT(match.cap[1].p == NULL);
    }
}

TEST(every_row_of_the_table_is_the_first_for_some_sentence)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 33);
    for (size_t row = 0; row < row_count(); row++) {
        const char *sentence = "";
        bool first = false;

        for (int attempt = 0; attempt < 200 && !first; attempt++) {
            size_t k = 0;

            sentence = speak(t, &rand.rand, offline_intents[row].pattern, attempt == 0);
            while (k < row && !matches(t, offline_intents[k].pattern, sentence))
                k++;
            first = k == row;
        }
        if (!first)
            FAIL("row %zu never comes first: %s (\"%s\")", row, offline_intents[row].pattern,
                 sentence);
    }
}

/* ---- whatever tools answer ---- */

#define ANY(name_)                                                                                 \
    {                                                                                              \
        { name_, sizeof(name_) - 1 }, { "", 0 },                                                   \
        {                                                                                          \
            "{}", 2                                                                                \
        }                                                                                          \
    }

static const struct model_tool every_tool[] = {
    ANY("add_multiple_checklist_items"),
    ANY("ask_user"),
    ANY("bash"),
    ANY("conclude_task_with_rollover"),
    ANY("create_follow_up_task"),
    ANY("create_or_update_rating"),
    ANY("create_retrospective_time_entry"),
    ANY("create_task"),
    ANY("edit_file"),
    ANY("get_or_create_day_plan"),
    ANY("get_ratings_summary"),
    ANY("list_alarms"),
    ANY("list_allowed_categories"),
    ANY("list_emails"),
    ANY("list_entries_in_scope"),
    ANY("list_events"),
    ANY("list_memory"),
    ANY("list_slack_channels"),
    ANY("list_tasks_in_scope"),
    ANY("list_time_entries"),
    ANY("read_file"),
    ANY("read_memory"),
    ANY("read_task"),
    ANY("resolve_task_reference"),
    ANY("search"),
    ANY("send_slack_message"),
    ANY("set_alarm"),
    ANY("start_task_timer"),
    ANY("stop_task_timer"),
    ANY("update_task_due_date"),
    ANY("update_task_fields"),
    ANY("update_task_priority"),
    ANY("upsert_day_plan_blocks"),
    ANY("write_file"),
    ANY("write_memory"),
    ANY("write_report"),
};

/* Every list that is looked for, with one item whose texts are all this. */
static const char *lists_of(struct test *t, const char *text)
{
    static const char *const lists[] = { "channels",   "emails",  "events",  "tasks", "items",
                                         "candidates", "entries", "matches", "lines", "categories",
                                         "alarms",     "blocks",  "files",   "labels" };
    static const char *const members[] = { "id",      "name",  "title", "path", "text", "from",
                                           "subject", "start", "due",   "note", "body", "content" };
    AUTO_BUF item = BUF_INIT(1u << 20);
    AUTO_BUF out = BUF_INIT(1u << 22);

    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        buf_printf(&item, "%s\"%s\":\"%s\"", i ? "," : "{", members[i], text);
    buf_add_text(&item, "}");
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        buf_printf(&out, "%s\"%s\":[%s]", i ? "," : "{", lists[i], buf_text(&item));
    buf_printf(&out, ",\"content\":\"%s\",\"path\":\"%s\"}", text, text);
    return arena_text(&t->arena, buf_text(&out));
}

static void answer_all(struct test *t, const char *sentence, const char *answer, bool fails)
{
    struct rig rig;
    unsigned rounds = 0;

    rig_begin(&rig, t, every_tool, ARRAY_LEN(every_tool));
    rig_user(&rig, sentence);
    rig_think(&rig);
    for (; rig.turn.call_count; rounds++) {
        size_t n = rig.turn.call_count;

        if (rounds > OFFLINE_ROUNDS_MAX)
            FAIL("\"%s\" has no end with \"%.60s\"", sentence, answer);
        for (size_t i = 0; i < n; i++) {
            struct json_object *arguments = NULL;

            if (json_parse(rig.turn.calls[i].arguments, &arguments, &t->err) < 0)
                FAIL("\"%s\" calls with %.*s", sentence, STR_ARG(rig.turn.calls[i].arguments));
            json_object_put(arguments);
            if (fails)
                rig_failure(&rig, i, answer);
            else
                rig_result(&rig, i, answer);
        }
        rig_think(&rig);
    }
    if (!rig.turn.say.n || !utf8_valid(buf_str(&rig.turn.say)))
        FAIL("\"%s\" after \"%.60s\" ends in \"%s\"", sentence, answer, buf_text(&rig.turn.say));
    rig_end(&rig);
}

TEST(every_row_ends_in_text_whatever_tools_answer)
{
    AUTO_BUF mice = BUF_INIT(4096);
    const char *answers[] = {
        "", "no JSON", "[]", "7", "{}", "[null,7,{}]", lists_of(t, ""), NULL
    };
    struct rand_fake rand;

    /* Wherever it is cut after an even number of bytes, that is within a mouse. */
    buf_add_char(&mice, 'x');
    for (int i = 0; i < 160; i++)
        buf_add_text(&mice, "\xf0\x9f\x90\xad");
    answers[ARRAY_LEN(answers) - 1] = lists_of(t, buf_text(&mice));
    rand_fake_init(&rand, 35);
    for (size_t row = 0; row < row_count(); row++) {
        const char *sentence = speak(t, &rand.rand, offline_intents[row].pattern, true);

        for (size_t i = 0; i < ARRAY_LEN(answers); i++)
            answer_all(t, sentence, answers[i], false);
        answer_all(t, sentence, "", true);
        answer_all(t, sentence, buf_text(&mice), true);
    }
}

TEST(a_sentence_without_end_does_not_take_for_ever)
{
    AUTO_BUF text = BUF_INIT(1u << 20);

    for (int i = 0; i < 20000; i++)
        buf_add_text(&text, "to to in ");
    /* Three wide captures in a row: the steps of the matcher are bounded. */
    ASSERT(!matches(t, "move {a} to {b} in {c} nowhere", buf_text(&text)));
    for (size_t row = 0; row < row_count(); row++)
        (void)matches(t, offline_intents[row].pattern, buf_text(&text));
}

/* ---- shell words ---- */

TEST(a_shell_reads_a_quoted_word_as_what_it_was)
{
    static const char likely[] = "ab '\"$`\\!*?[]{}()<>|&;#~-=\n\t%\xC3\xA4";
    AUTO_BUF command = BUF_INIT(1u << 16);
    AUTO_BUF wanted = BUF_INIT(1u << 16);
    AUTO_BUF got = BUF_INIT(1u << 16);
    struct rand_fake rand;
    char word[40], block[4096];
    size_t n;
    FILE *sh;

    rand_fake_init(&rand, 34);
    buf_add_text(&command, "printf '%s|'");
    for (int i = 0; i < 300; i++) {
        n = rand_below(&rand.rand, sizeof(word));
        for (size_t k = 0; k < n; k++)
            word[k] = likely[rand_below(&rand.rand, sizeof(likely) - 1)];
        buf_printf(&command, " %s", offline_quote(&t->arena, str_of(word, n)));
        buf_printf(&wanted, "%.*s|", (int)n, word);
    }
    sh = popen(buf_text(&command), "r");
    ASSERT(sh != NULL);
    while ((n = fread(block, 1, sizeof(block), sh)) > 0)
        buf_add(&got, block, n);
    ASSERT_EQ(pclose(sh), 0);
    ASSERT_STR(buf_str(&got), buf_text(&wanted));
    /* What needs no marks gets none, and nothing is taken for an option or a home. */
    ASSERT_TEXT(offline_quote(&t->arena, STR("src/a-b_c.txt")), "src/a-b_c.txt");
    ASSERT_TEXT(offline_quote(&t->arena, STR("")), "''");
    ASSERT_TEXT(offline_quote(&t->arena, STR("-rf")), "'-rf'");
    ASSERT_TEXT(offline_quote(&t->arena, STR("~root")), "'~root'");
}

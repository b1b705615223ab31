/* The guided conversation that makes agents, without a language model.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "offline_rig.h"

#define NO_ARGUMENTS                                                                               \
    {                                                                                              \
        "{\"type\":\"object\",\"properties\":{}}",                                                 \
            sizeof("{\"type\":\"object\",\"properties\":{}}") - 1                                  \
    }

static const struct model_tool wizard_hands[] = {
    { { "list_templates", 14 }, { "x", 1 }, NO_ARGUMENTS },
    { { "list_tools", 10 }, { "x", 1 }, NO_ARGUMENTS },
    { { "propose_agent", 13 }, { "x", 1 }, NO_ARGUMENTS },
};

#define TEMPLATES                                                                                  \
    "{\"templates\":[{\"id\":\"gym-coach\",\"name\":\"Gym Coach\",\"description\":\"Trains.\","    \
    "\"tools\":[\"ask_user\",\"write_file\"],\"instructions\":\"Train well.\\n\"},"                \
    "{\"id\":\"planner\",\"name\":\"Planner\",\"description\":\"Plans.\",\"tools\":[\"ask_user\"]" \
    ","                                                                                            \
    "\"instructions\":\"Plan.\\n\"}]}"
#define TOOLS                                                                                      \
    "{\"tools\":[{\"name\":\"ask_user\",\"description\":\"Asks. More.\",\"asks\":\"never\"},"      \
    "{\"name\":\"bash\",\"description\":\"Runs.\",\"asks\":\"a person is asked first\"},"          \
    "{\"name\":\"send_slack_message\",\"description\":\"Sends.\",\"asks\":\"a person\"},"          \
    "{\"name\":\"write_file\",\"description\":\"Writes.\",\"asks\":\"a person is asked first\"}]," \
    "\"models\":[\"offline\"],\"patterns\":[]}"

static void begin(struct rig *rig, struct test *t, const char *first)
{
    rig_begin(rig, t, wizard_hands, ARRAY_LEN(wizard_hands));
    rig_user(rig, first);
    ASSERT_TEXT(rig_think(rig), "list_templates {}; list_tools {}");
    rig_result(rig, 0, TEMPLATES);
    rig_result(rig, 1, TOOLS);
}

static const char *say(struct rig *rig, const char *text)
{
    rig_user(rig, text);
    return rig_think(rig);
}

/* The arguments of the proposal in an answer. */
static struct json_object *proposal(struct rig *rig)
{
    struct test *t = rig->t;
    struct json_object *value = NULL;

    ASSERT_EQ(rig->turn.call_count, 1);
    ASSERT_STR(rig->turn.calls[0].name, "propose_agent");
    ASSERT_OK(json_parse(rig->turn.calls[0].arguments, &value, &t->err));
    return value;
}

TEST(the_wizard_fills_its_form_by_asking)
{
    AUTO_JSON form = NULL;
    struct rig rig;

    begin(&rig, t, "hello");
    ASSERT_CONTAINS(rig_think(&rig), "What should the agent do");
    ASSERT_CONTAINS(say(&rig, "Help me with my workouts"), "**Gym Coach** fits");
    ASSERT_CONTAINS(say(&rig, "yes"), "What shall it be called?");
    ASSERT_CONTAINS(say(&rig, "Coach."), "`write_file` (⚠️ asks you first)");
    ASSERT_CONTAINS(say(&rig, "yes"), "How should it talk?");
    ASSERT_CONTAINS(say(&rig, "friendly"), "Here is Coach");
    form = proposal(&rig);
    ASSERT_STR(json_str(json_find(form, "displayName")), "Coach");
    ASSERT_STR(json_str(json_find(form, "template")), "gym-coach");
    ASSERT_CONTAINS(json_str(json_find(form, "instructions")).p, "Train well.");
    ASSERT_CONTAINS(json_str(json_find(form, "instructions")).p, "Help me with my workouts");
    ASSERT_EQ(json_object_array_length(json_find(form, "tools")), 2);
    ASSERT_EQ(json_object_array_length(json_find(form, "patterns")), 3);
    rig_end(&rig);
}

/* ---- categories of the journal ---- */

#define JOURNAL_TOOLS                                                                              \
    "{\"tools\":[{\"name\":\"ask_user\",\"description\":\"Asks.\",\"asks\":\"never\"},"            \
    "{\"name\":\"write_file\",\"description\":\"Writes.\",\"asks\":\"a person\","                  \
    "\"journal\":true}],\"models\":[],\"patterns\":[],"                                            \
    "\"categories\":[\"Work\",\"Workouts\",\"Caf\xc3\xa9 \\u0026 more\"]}"

/* Up to where categories are asked for; what it says then. */
static const char *begin_journal(struct rig *rig, struct test *t)
{
    rig_begin(rig, t, wizard_hands, ARRAY_LEN(wizard_hands));
    rig_user(rig, "help me with my training");
    rig_think(rig);
    rig_result(rig, 0, TEMPLATES);
    rig_result(rig, 1, JOURNAL_TOOLS);
    rig_think(rig);
    say(rig, "yes");
    say(rig, "call it Coach");
    return say(rig, "yes");
}

TEST(who_works_with_the_journal_is_given_categories_by_the_person)
{
    static const struct {
        const char *said, *heard, *categories;
    } cases[] = {
        { "Workouts", "may reach: Workouts.", "[ \"Workouts\" ]" },
        { "work", "may reach: Work.", "[ \"Work\" ]" },
        { "work and workouts please", "may reach: Work, Workouts.", "[ \"Work\", \"Workouts\" ]" },
        { "Caf\xc3\xa9 & more", "may reach: Caf", NULL },
        { "all", "all of the journal", "[ \"*\" ]" },
        { "everything", "all of the journal", "[ \"*\" ]" },
        { "all of Work", "may reach: Work.", "[ \"Work\" ]" },
        { "none", "nothing of the journal", "" },
        { "nothing", "nothing of the journal", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON form = NULL;
        struct json_object *list;
        struct rig rig;
        const char *said;

        ASSERT_CONTAINS(begin_journal(&rig, t), "There are: Work, Workouts, Caf");
        said = say(&rig, cases[i].said);
        if (!strstr(said, cases[i].heard) || !strstr(said, "How should it talk?"))
            FAIL("case %zu: %s", i, said);
        say(&rig, "terse");
        form = proposal(&rig);
        list = json_find(form, "categories");
        if (cases[i].categories && !*cases[i].categories)
            ASSERT(list == NULL);
        else if (cases[i].categories)
            ASSERT_TEXT(json_object_to_json_string(list), cases[i].categories);
        else
            ASSERT_EQ(json_object_array_length(list), 1);
        rig_end(&rig);
    }
}

TEST(a_category_that_is_not_there_is_asked_about_again)
{
    struct rig rig;

    begin_journal(&rig, t);
    ASSERT_CONTAINS(say(&rig, "Worko"), "I know no such category");
    ASSERT_CONTAINS(say(&rig, "homework"), "I know no such category");
    ASSERT_CONTAINS(say(&rig, "work2"), "I know no such category");
    ASSERT_CONTAINS(say(&rig, "work\xc3\xb6"), "I know no such category");
    ASSERT_CONTAINS(say(&rig, "yes"), "I know no such category");
    ASSERT_CONTAINS(say(&rig, "workouts"), "How should it talk?");
    rig_end(&rig);
}

TEST(categories_can_be_said_early_and_corrected_later)
{
    AUTO_JSON form = NULL;
    struct rig rig;

    begin_journal(&rig, t);
    ASSERT_CONTAINS(say(&rig, "it may reach everything"), "all of the journal");
    say(&rig, "terse");
    rig_failure(&rig, 0, "rejected: too much");
    rig_think(&rig);
    ASSERT_CONTAINS(say(&rig, "actually, the categories are Work and Workouts"), "Here is Coach");
    form = proposal(&rig);
    ASSERT_EQ(json_object_array_length(json_find(form, "categories")), 2);
    rig_end(&rig);
}

TEST(who_has_no_tool_of_the_journal_is_not_asked_about_it)
{
    struct rig rig;

    begin_journal(&rig, t);
    ASSERT_CONTAINS(say(&rig, "without write_file"), "How should it talk?");
    rig_end(&rig);
}

TEST(what_the_maker_warns_of_is_told)
{
    struct rig rig;

    begin_journal(&rig, t);
    say(&rig, "none");
    say(&rig, "terse");
    rig_result(&rig, 0, "{\"agent_id\":\"coach\",\"warnings\":[\"It reaches nothing.\",\"Two.\"]}");
    ASSERT_CONTAINS(rig_think(&rig), "its id is coach");
    ASSERT_CONTAINS(rig_think(&rig), "It reaches nothing.");
    ASSERT_CONTAINS(rig_think(&rig), "Two.");
    rig_end(&rig);
}

TEST(the_wizard_takes_a_purpose_first_and_says_when_no_template_fits)
{
    struct rig rig;

    begin(&rig, t, "Sort my stamp collection");
    ASSERT_CONTAINS(rig_think(&rig), "None of my templates is made for that");
    ASSERT_CONTAINS(say(&rig, "the blue one"), "I did not understand that");
    ASSERT_CONTAINS(say(&rig, "none"), "What shall it be called?");
    rig_end(&rig);
}

TEST(the_wizard_understands_corrections_at_any_time)
{
    AUTO_JSON form = NULL;
    struct rig rig;
    struct json_object *tools;

    begin(&rig, t, "hi");
    rig_think(&rig);
    say(&rig, "plan my week");
    ASSERT_CONTAINS(say(&rig, "use the gym coach template"), "What shall it be called");
    ASSERT_CONTAINS(say(&rig, "please call it \"Big Jo\""), "these tools");
    ASSERT_CONTAINS(say(&rig, "add slack and the shell"), "Added: send_slack_message, bash");
    ASSERT_CONTAINS(say(&rig, "without slack"), "Left out: send_slack_message");
    ASSERT_CONTAINS(say(&rig, "without unicorns"), "I know no such tool");
    ASSERT_CONTAINS(say(&rig, "ok"), "How should it talk?");
    say(&rig, "terse");
    form = proposal(&rig);
    tools = json_find(form, "tools");
    ASSERT_EQ(json_object_array_length(tools), 3);
    ASSERT_STR(json_str(json_object_array_get_idx(tools, 2)), "bash");
    ASSERT(json_find(form, "patterns") == NULL);
    ASSERT_STR(json_str(json_find(form, "displayName")), "Big Jo");
    rig_end(&rig);
}

static bool has_tool(struct json_object *form, const char *name)
{
    struct json_object *tools = json_find(form, "tools");

    for (size_t i = 0; i < json_object_array_length(tools); i++)
        if (str_is(json_str(json_object_array_get_idx(tools, i)), name))
            return true;
    return false;
}

/* What is said in one go counts like what is said one by one. */
TEST(the_wizard_hears_several_things_in_one_message)
{
    static const struct {
        const char *first, *then[4]; /* until it proposes */
        const char *name, *template;
        bool bash, slack, terse;
        const char *purpose;
    } cases[] = {
        { "A coach called \"Big Ben\" for running, using the gym coach template, without "
          "write_file, friendly",
          { "yes" },
          "Big Ben",
          "gym-coach",
          false,
          false,
          false,
          "A coach called \"Big Ben\" for running" },
        { "A coach called Big Ben using the gym coach template",
          { "yes", "terse" },
          "Big Ben",
          "gym-coach",
          false,
          false,
          true,
          "A coach called Big Ben" },
        { "help me train",
          { "yes, call it Iron Jo and add bash", "yes", "terse" },
          "Iron Jo",
          "gym-coach",
          true,
          false,
          true,
          "help me train" },
        { "plan my week and post it to Slack",
          { "yes", "Anna and Bert", "yes", "terse" },
          "Anna and Bert",
          "planner",
          false,
          true,
          true,
          "plan my week and post it to Slack" },
        { "plan my week and post it to Slack",
          { "without Slack", "no template", "Week Helper 2", "ok, be terse" },
          "Week Helper 2",
          NULL,
          false,
          false,
          true,
          "plan my week and post it to Slack" },
        { "plan my week",
          { "no, it is for swimming, not running", "none", "wait, actually name it Captain Fin",
            "yes and be friendly" },
          "Captain Fin",
          NULL,
          false,
          false,
          false,
          "swimming, not running" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON form = NULL;
        struct rig rig;

        begin(&rig, t, cases[i].first);
        rig_think(&rig);
        for (size_t k = 0; k < 4 && cases[i].then[k]; k++)
            say(&rig, cases[i].then[k]);
        if (rig.turn.call_count != 1 && (say(&rig, "yes"), rig.turn.call_count != 1))
            FAIL("case %zu: no proposal but %s", i, rig_think(&rig));
        form = proposal(&rig);
        ASSERT_STR(json_str(json_find(form, "displayName")), cases[i].name);
        if (cases[i].template)
            ASSERT_STR(json_str(json_find(form, "template")), cases[i].template);
        else
            ASSERT(!json_find(form, "template"));
        ASSERT_EQ(has_tool(form, "bash"), cases[i].bash);
        ASSERT_EQ(has_tool(form, "send_slack_message"), cases[i].slack);
        ASSERT_EQ(json_find(form, "patterns") == NULL, cases[i].terse);
        ASSERT_CONTAINS(json_str(json_find(form, "instructions")).p,
                        arena_printf(&t->arena, "> %s\n", cases[i].purpose));
        rig_end(&rig);
    }
}

TEST(the_wizard_says_what_it_made_of_a_correction)
{
    struct rig rig;

    begin(&rig, t, "plan my week");
    rig_think(&rig);
    ASSERT_CONTAINS(say(&rig, "actually, rename it to Captain Plan"), "Its name: Captain Plan.");
    ASSERT_CONTAINS(say(&rig, "be brief"), "It will be terse.");
    ASSERT_CONTAINS(say(&rig, "it should help me with stamps"), "What it is for: stamps.");
    ASSERT_CONTAINS(say(&rig, "take the planner"), "Its template: Planner.");
    ASSERT_CONTAINS(say(&rig, "wait, start over"), "What should the agent do for you?");
    ASSERT_CONTAINS(say(&rig, "???"), "I did not understand that. What should the agent do");
    ASSERT_CONTAINS(say(&rig, "read my papers"), "Say \"none\" to begin empty");
    say(&rig, "none");
    ASSERT_CONTAINS(say(&rig, "no"), "That can't be its name.");
    ASSERT_CONTAINS(say(&rig, "!!!"), "That can't be its name.");
    ASSERT_CONTAINS(say(&rig, "I would call it Sam"), "these tools");
    rig_end(&rig);
}

static void until_proposal(struct rig *rig, struct test *t)
{
    begin(rig, t, "hi");
    rig_think(rig);
    say(rig, "Help me with my workouts");
    say(rig, "yes");
    say(rig, "Coach");
    say(rig, "yes");
    say(rig, "friendly");
}

TEST(a_rejected_proposal_waits_for_a_correction)
{
    AUTO_JSON form = NULL;
    struct rig rig;

    until_proposal(&rig, t);
    rig_failure(&rig, 0, "rejected: another name");
    ASSERT_CONTAINS(rig_think(&rig), "Not so, then (another name)");
    ASSERT_CONTAINS(say(&rig, "what is the weather"), "What shall I change?");
    ASSERT_CONTAINS(say(&rig, "call it Jo"), "Here is Jo");
    form = proposal(&rig);
    ASSERT_STR(json_str(json_find(form, "displayName")), "Jo");
    rig_end(&rig);
}

TEST(an_accepted_proposal_ends_the_form_and_the_next_one_is_empty)
{
    struct rig rig;

    until_proposal(&rig, t);
    rig_result(&rig, 0, "{\"agent_id\":\"coach\"}");
    ASSERT_CONTAINS(rig_think(&rig), "its id is coach");
    ASSERT_CONTAINS(say(&rig, "Plan my week"), "**Planner** fits");
    rig_end(&rig);
}

TEST(what_is_odd_makes_the_wizard_ask_and_not_break)
{
    static const char *const odd[] = { "\"",
                                       "''",
                                       "...",
                                       "yes no yes no",
                                       "call it",
                                       "without",
                                       "{}",
                                       "\xf0\x9f\x90\xad",
                                       "add add add",
                                       "no",
                                       "use the template" };
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        begin(&rig, t, "hi");
        rig_think(&rig);
        for (int k = 0; k < 5; k++)
            ASSERT(say(&rig, odd[i])[0] != 0);
        rig_end(&rig);
    }
}

TEST(without_its_lists_the_wizard_says_so)
{
    struct rig rig;

    rig_begin(&rig, t, wizard_hands, ARRAY_LEN(wizard_hands));
    rig_user(&rig, "hi");
    rig_think(&rig);
    rig_failure(&rig, 0, "storage_failed: no");
    rig_failure(&rig, 1, "storage_failed: no");
    ASSERT_CONTAINS(rig_think(&rig), "I can't see which templates");
    rig_end(&rig);
}

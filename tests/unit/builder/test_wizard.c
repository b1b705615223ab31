/* The wizard's tools, called as a run calls them: what it is told, what the person is shown, what
 * is made of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/link.h"
#include "harness/facts.h"
#include "rig.h"
#include "wake/subscription.h"
#include "wake/timer.h"

struct desktop {
    struct rig *rig;
    struct agent wizard;
    struct tool_call call;
    struct tool_job *job;
    struct tool_preview preview;
    struct tool_result result;
    int done;
};

static struct str keep(struct desktop *d, struct str text)
{
    return text.n ? arena_str(&d->rig->t->arena, text) : STR_NONE;
}

static void on_shown(void *arg, const struct tool_preview *preview)
{
    struct desktop *d = arg;

    d->preview = *preview;
    d->preview.title = keep(d, preview->title);
    d->preview.text = keep(d, preview->text);
    d->preview.details = keep(d, preview->details);
    d->done++;
}

static void on_done(void *arg, const struct tool_result *result)
{
    struct desktop *d = arg;

    d->result = *result;
    d->result.output = keep(d, result->output);
    d->done++;
}

static struct desktop *desktop_open(struct rig *rig)
{
    struct test *t = rig->t;
    struct desktop *d = ARENA_NEW(&t->arena, struct desktop);

    d->rig = rig;
    rig_begin(rig);
    ASSERT_OK(rig_end(rig, builder_ensure_wizard(rig->builder, &t->arena, &d->wizard, &t->err)));
    d->call = (struct tool_call){ .agent = &d->wizard,
                                  .thread_id = STR("w:session:s"),
                                  .run_id = STR("run"),
                                  .run_n = 1,
                                  .wake_reason = STR("userInitiated") };
    return d;
}

static void wait_for(struct desktop *d)
{
    for (int i = 0; i < 8 && !d->done; i++)
        loop_fake_tick(d->rig->loop);
    ASSERT_EQ(d->done, 1);
}

/* Why it is refused; NULL: it is not. */
static const char *judge(struct desktop *d, const char *tool, const char *arguments)
{
    struct test *t = d->rig->t;
    struct tool_verdict verdict;

    d->call.name = str_from(tool);
    d->call.arguments = str_from(arguments);
    tool_judge(d->rig->tools, &d->call, &t->arena, &verdict);
    return verdict.attributes & TOOL_REFUSED ? verdict.message : NULL;
}

static void show(struct desktop *d, const char *arguments)
{
    struct test *t = d->rig->t;

    ASSERT(judge(d, "propose_agent", arguments) == NULL);
    err_reset(&t->err);
    d->done = 0;
    ASSERT_OK(tool_preview(d->rig->tools, &d->call, NULL, on_shown, d, &d->job, &t->err));
    wait_for(d);
    ASSERT_EQ(d->preview.err.code, ERR_NONE);
}

/* The answer. */
static const char *run(struct desktop *d, const char *tool, const char *arguments,
                       const char *operation)
{
    struct test *t = d->rig->t;

    d->call.name = str_from(tool);
    d->call.arguments = str_from(arguments);
    d->done = 0;
    err_reset(&t->err);
    ASSERT_OK(tool_start(d->rig->tools, &d->call, str_from(operation), str_from(d->preview.digest),
                         NULL, on_done, d, &d->job, &t->err));
    wait_for(d);
    ASSERT_EQ(d->result.err.code, ERR_NONE);
    return d->result.output.p;
}

/* Shown, accepted, made. */
static struct agent make(struct desktop *d, const char *arguments, const char *id)
{
    struct test *t = d->rig->t;
    struct agent agent;

    show(d, arguments);
    run(d, "propose_agent", arguments, arena_printf(&t->arena, "op-%s", id));
    ASSERT_OK(agent_get(d->rig->domain, str_from(id), &t->arena, &agent, &t->err));
    return agent;
}

#define FORM(more)                                                                                 \
    "{\"displayName\":\"Coach\",\"description\":\"Trains.\",\"instructions\":\"Be kind.\","        \
    "\"tools\":[\"ask_user\",\"read_task\"]" more "}"

DB_TEST(the_wizard_is_told_of_tools_categories_and_templates)
{
    AUTO(rig) rig = rig_open(t);
    struct desktop *d = desktop_open(rig);
    const char *out;

    ASSERT_CONTAINS(run(d, "list_tools", "{}", "o1"), "\"categories\":[]");
    rig_category(rig, "c-sport", "Sport");
    rig_category(rig, "c-work", "Work \"A\"");
    out = run(d, "list_tools", "{}", "o2");
    ASSERT_CONTAINS(out, "\"categories\":[\"Sport\",\"Work \\\"A\\\"\"]");
    ASSERT_CONTAINS(out, "\"name\":\"read_task\"");
    ASSERT_CONTAINS(out, "\"journal\":true");
    ASSERT_CONTAINS(out, "\"models\":[");
    ASSERT_CONTAINS(out, "\"title\":\"How you talk\"");
    ASSERT(strstr(out, "propose_agent") == NULL);
    out = run(d, "list_templates", "{}", "o3");
    ASSERT_CONTAINS(out, "\"id\":\"gym-coach\"");
    ASSERT_CONTAINS(out, "\"patterns\":[\"communication\"");
}

DB_TEST(the_person_sees_what_a_proposal_reaches_and_waits_for)
{
    AUTO(rig) rig = rig_open(t);
    struct desktop *d = desktop_open(rig);

    rig_category(rig, "c-sport", "Sport");
    show(d, FORM(",\"categories\":[\"sport\"],\"template\":\"planner\""));
    ASSERT_STR(d->preview.title, "Make the agent Coach");
    ASSERT_STR(d->preview.text, "Be kind.");
    ASSERT_CONTAINS(facts_text(t, d->preview.details),
                    "wakes: A task is done\nwakes: Every day at 07:00\n");
    ASSERT_CONTAINS(facts_text(t, d->preview.details), "\nreads in the journal: [\"Sport\"]\n");
    ASSERT(strstr(facts_text(t, d->preview.details), "note:") == NULL);
    ASSERT_CONTAINS(d->preview.details.p, "\"categories\":[\"Sport\"]");
    ASSERT_CONTAINS(d->preview.details.p, "\"template\":\"planner\"");
    show(d, FORM(",\"categories\":[\"*\"]"));
    ASSERT_CONTAINS(facts_text(t, d->preview.details), "\nreads in the journal: all categories\n");
    ASSERT(strstr(facts_text(t, d->preview.details), "wakes:") == NULL);
    show(d, FORM(""));
    ASSERT_CONTAINS(facts_text(t, d->preview.details), "\nreads in the journal: no categories\n");
    ASSERT_CONTAINS(facts_text(t, d->preview.details), "\nnote: Coach has no categories yet");
    ASSERT_CONTAINS(d->preview.details.p, "\"categories\":[]");
}

/* The details as clients see them: facts stand beside them. */
static const char *form_of(struct desktop *d)
{
    struct test *t = d->rig->t;
    AUTO_JSON value = NULL;

    ASSERT_OK(json_parse(d->preview.details, &value, &t->err));
    json_object_object_del(value, "facts");
    return arena_text(&t->arena, json_object_to_json_string(value));
}

/* What the page sends back after an edit is the form that it was shown. */
DB_TEST(the_form_that_is_shown_is_a_proposal_itself)
{
    AUTO(rig) rig = rig_open(t);
    struct desktop *d = desktop_open(rig);
    const char *details;

    rig_category(rig, "c-sport", "Sport");
    show(
        d,
        FORM(",\"categories\":[\"Sport\"],\"template\":\"gym-coach\",\"patterns\":[\"learning\"]"));
    details = form_of(d);
    ASSERT_CONTAINS(details, "When you are corrected");
    show(d, details);
    ASSERT_TEXT(form_of(d), details);
}

DB_TEST(what_is_accepted_is_made_with_its_categories_and_knows_its_maker)
{
    AUTO(rig) rig = rig_open(t);
    struct desktop *d = desktop_open(rig);
    struct subscription *waits;
    struct agent_link *links;
    struct agent agent;
    size_t n;

    rig_category(rig, "c-sport", "Sport");
    agent = make(d, FORM(",\"categories\":[\"SPORT\"],\"template\":\"gym-coach\""), "coach");
    ASSERT_TEXT(agent.allowed_category_ids, "[\"c-sport\"]");
    ASSERT_TEXT(agent.kind, "gym_coach");
    ASSERT_TEXT(agent.tools, "[\"ask_user\",\"read_task\"]");
    ASSERT(strstr(d->result.output.p, "warnings") == NULL);
    ASSERT_OK(subscription_list(rig->domain, agent.n, &t->arena, &waits, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_OK(agent_links_from(rig->domain, AGENT_LINK_AGENT_PARENT, STR("coach"), 10, &t->arena,
                               &links, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(links[0].to_id, BUILDER_WIZARD_ID);
    /* After a crash the same operation finds it. */
    ASSERT_CONTAINS(run(d, "propose_agent", d->call.arguments.p, "op-coach"),
                    "\"agent_id\":\"coach\"");
    ASSERT_FAILS(agent_get(rig->domain, STR("coach-2"), &t->arena, &agent, &t->err), ERR_NOT_FOUND);
}

DB_TEST(who_was_made_without_categories_is_warned_of)
{
    AUTO(rig) rig = rig_open(t);
    struct desktop *d = desktop_open(rig);
    struct agent agent = make(d, FORM(""), "coach");

    ASSERT_TEXT(agent.allowed_category_ids, "[]");
    ASSERT_CONTAINS(d->result.output.p, "\"warnings\":[\"Coach has no categories yet");
    ASSERT_CONTAINS(d->result.output.p, "dormouse agent set coach --categories");
}

DB_TEST(what_is_wrong_with_a_proposal_is_said_before_anybody_is_asked)
{
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        { FORM(",\"categories\":[\"Sprot\"]"), "there is no category \"Sprot\"; there are: Sport" },
        { FORM(",\"categories\":[\"Sport\",\"*\"]"), "alone" },
        { FORM(",\"categories\":[\"Sport\",\"c-sport\"]"), "twice" },
        { FORM(",\"categories\":\"Sport\""), "/categories" },
        { FORM(",\"categories\":[7]"), "/categories" },
        { FORM(",\"template\":\"nope\""), "there are: gym-coach" },
        { FORM(",\"model\":\"nope\""), "there is no model" },
        { FORM(",\"patterns\":[\"nope\"]"), "there is no pattern" },
        { FORM(",\"id\":\"planner\""), "id" },
        { FORM(",\"autoApproveMemory\":true"), "autoApproveMemory" },
        { "{\"displayName\":\"a\\u202eb\",\"description\":\"\",\"instructions\":\"\",\"tools\":[]}",
          "U+202E" },
        { "{\"displayName\":\"A\",\"description\":\"\",\"instructions\":\"\",\"tools\":"
          "[\"propose_agent\"]}",
          "there is no tool" },
        { "{\"displayName\":\"A\"}", "description" },
    };
    AUTO(rig) rig = rig_open(t);
    struct desktop *d = desktop_open(rig);

    rig_category(rig, "c-sport", "Sport");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *why = judge(d, "propose_agent", cases[i].arguments);

        if (!why || !strstr(why, cases[i].says))
            FAIL("case %zu: %s", i, why ? why : "it was taken");
    }
}

/* A model that never heard of categories, and a house without a journal. */
DB_TEST(without_a_journal_categories_are_taken_as_they_are)
{
    AUTO(rig) rig = rig_open(t);
    struct builder_config config = { .loop = rig->loop,
                                     .agent_domain = rig->domain,
                                     .change = rig->change,
                                     .models = rig->models,
                                     .files = rig->files };
    AUTO(builder) bare = builder_new(&config);
    struct builder_form form = { .given = AGENT_NAME | AGENT_CATEGORIES,
                                 .display_name = STR("A"),
                                 .categories = STR("[\"Sport\"]") };
    struct builder_warnings warnings = { .n = 0 };
    struct agent agent;

    rig_begin(rig);
    ASSERT_OK(rig_end(rig, builder_create(bare, &form, &t->arena, &agent, &t->err)));
    ASSERT_TEXT(agent.allowed_category_ids, "[\"Sport\"]");
    ASSERT_OK(builder_advise(bare, &agent, &t->arena, &warnings, &t->err));
    ASSERT_EQ(warnings.n, 0);
}

static struct builder_form with_categories(const char *name, const char *list)
{
    return (struct builder_form){ .given = AGENT_NAME | AGENT_CATEGORIES,
                                  .display_name = str_from(name),
                                  .categories = str_from(list) };
}

DB_TEST(names_of_categories_become_ids)
{
    AUTO(rig) rig = rig_open(t);
    struct agent agent;

    rig_category(rig, "c-sport", "Sport");
    rig_category(rig, "Work", "Chores"); /* an id counts before a name */
    rig_category(rig, "c-work", "Work");
    rig_category(rig, "c-home", "Home & garden");
    agent = rig_create(rig, with_categories("A", "[\"sPORT\",\"Work\",\"home & garden\"]"));
    ASSERT_TEXT(agent.allowed_category_ids, "[\"c-sport\",\"Work\",\"c-home\"]");
    agent = rig_create(rig, with_categories("B", "[\"Chores\"]"));
    ASSERT_TEXT(agent.allowed_category_ids, "[\"Work\"]");
}

static void refuses(struct rig *rig, const struct builder_form *form, struct str changed,
                    const char *says)
{
    struct test *t = rig->t;
    struct agent agent;

    rig_begin(rig);
    ASSERT_FAILS(
        rig_end(rig, changed.n
                         ? builder_change(rig->builder, changed, form, &t->arena, &agent, &t->err)
                         : builder_create(rig->builder, form, &t->arena, &agent, &t->err)),
        ERR_BAD_REQUEST);
    ASSERT_CONTAINS(err_message(&t->err, 0), says);
}

/* A name that is kept would not become the category that gets it later. */
DB_TEST(a_category_that_is_not_there_is_refused)
{
    AUTO(rig) rig = rig_open(t);
    struct builder_form sprot = with_categories("A", "[\"Sprot\"]"), some, odd;
    struct agent agent;

    refuses(rig, &sprot, STR_NONE,
            "there is no category \"Sprot\", nor any other; make it first: dormouse journal "
            "category add");
    rig_category(rig, "c-sport", "Sport");
    refuses(rig, &sprot, STR_NONE, "there is no category \"Sprot\"; there are: Sport");
    agent = rig_create(rig, with_categories("A", "[\"Sport\"]"));
    refuses(rig, &sprot, str_from(agent.id), "there is no category \"Sprot\"; there are: Sport");
    some = with_categories("A", "[\"Sport\",\"Nope\"]");
    refuses(rig, &some, str_from(agent.id), "there is no category \"Nope\"");
    odd = with_categories("A", "[\"\"]");
    refuses(rig, &odd, str_from(agent.id), "entry 1 is no id");
    odd = with_categories("A", "[7]");
    refuses(rig, &odd, STR_NONE, "entry 1 is no id");
}

/* Who has one that is gone can still be given others. */
DB_TEST(a_category_that_is_gone_may_stay_and_is_said)
{
    AUTO(rig) rig = rig_open(t);
    struct agent old = {
        .id = "old", .display_name = "Old", .kind = "custom", .allowed_category_ids = "[\"c-gone\"]"
    };
    struct builder_form form = with_categories("Old", "[\"c-gone\",\"Sport\"]");
    struct builder_warnings warnings = { .n = 0 };
    struct agent agent;

    rig_category(rig, "c-sport", "Sport");
    rig_begin(rig);
    ASSERT_OK(rig_end(rig, agent_add(rig->domain, rig->change, &old, 1, &t->err)));
    rig_begin(rig);
    ASSERT_OK(
        rig_end(rig, builder_change(rig->builder, STR("old"), &form, &t->arena, &agent, &t->err)));
    ASSERT_TEXT(agent.allowed_category_ids, "[\"c-gone\",\"c-sport\"]");
    ASSERT_OK(builder_advise(rig->builder, &agent, &t->arena, &warnings, &t->err));
    ASSERT_EQ(warnings.n, 1);
    ASSERT_CONTAINS(warnings.text[0], "There is no category \"c-gone\" (any more)");
    ASSERT_CONTAINS(warnings.text[0], "dormouse agent set old --categories");
}

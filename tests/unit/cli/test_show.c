/* Events as people see them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <pty.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/json.h"
#include "cli/show.h"
#include "harness/test.h"

/* What a pipe gets of these events, one JSON text each. */
static const char *shown(struct test *t, const char *const *events)
{
    char *text = NULL;
    size_t n = 0;
    FILE *file = open_memstream(&text, &n);
    const char *copy;
    struct show show;

    show_init(&show, file);
    for (; *events; events++) {
        AUTO_JSON event = NULL;

        ASSERT_OK(json_parse(str_from(*events), &event, &t->err));
        show_event(&show, event);
    }
    show_release(&show);
    fclose(file);
    copy = arena_text(&t->arena, text);
    free(text);
    return copy;
}

#define SHOWN(...) shown(t, (const char *const[]){ __VA_ARGS__, NULL })

/* ---- text ---- */

TEST(streamed_text_appears_once)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"text\",\"seq\":4,\"content\":\"Hel\",\"isPartial\":true,"
                      "\"offset\":0}",
                      "{\"type\":\"text\",\"seq\":4,\"content\":\"lo\",\"isPartial\":true,"
                      "\"offset\":3}",
                      "{\"type\":\"text\",\"seq\":4,\"content\":\"Hello\",\"isPartial\":false}"),
                "Hello\n");
}

TEST(text_that_begins_anew_after_a_lost_connection_appears_once)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"text\",\"seq\":4,\"content\":\"Hello wo\",\"isPartial\":true,"
                      "\"offset\":0}",
                      "{\"type\":\"text\",\"seq\":4,\"content\":\"Hello world\",\"isPartial\":true,"
                      "\"offset\":0}",
                      "{\"type\":\"text\",\"seq\":4,\"content\":\"world!\",\"isPartial\":true,"
                      "\"offset\":6}",
                      "{\"type\":\"text\",\"seq\":4,\"content\":\"Hello world!\"}"),
                "Hello world!\n");
}

TEST(text_whose_beginning_was_missed_waits_for_the_whole)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"text\",\"seq\":4,\"content\":\"llo wo\",\"isPartial\":true,"
                      "\"offset\":2}",
                      "{\"type\":\"text\",\"seq\":4,\"content\":\"Hello world\"}"),
                "Hello world\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"text\",\"seq\":4,\"content\":\"He\",\"isPartial\":true,"
                      "\"offset\":0}",
                      "{\"type\":\"text\",\"seq\":4,\"content\":\"o w\",\"isPartial\":true,"
                      "\"offset\":4}",
                      "{\"type\":\"text\",\"seq\":4,\"content\":\"Hello world\"}"),
                "Hello world\n");
}

TEST(memory_is_shown_as_text_and_files_by_their_names)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_result\",\"toolName\":\"read_memory\",\"output\":{\"path\":"
                      "\"knowledge/a.md\",\"content\":\"- tea\\n- rain\\n\",\"version\":1}}"),
                "  - tea\n  - rain\n");
    ASSERT_TEXT(
        SHOWN("{\"type\":\"tool_result\",\"toolName\":\"list_memory\",\"output\":{\"files\":["
              "{\"path\":\"knowledge/a.md\",\"bytes\":3},{\"path\":\"AGENTS.md\"}]}}"),
        "  knowledge/a.md\n  AGENTS.md\n");
    ASSERT_TEXT(
        SHOWN("{\"type\":\"tool_result\",\"toolName\":\"list_memory\",\"output\":{\"files\":[]}}"),
        "  (empty)\n");
    ASSERT_TEXT(
        SHOWN("{\"type\":\"tool_result\",\"toolName\":\"write_memory\",\"output\":{\"path\":"
              "\"knowledge/a.md\",\"version\":2,\"bytes\":21}}"),
        "  version 2, 21 bytes\n");
}

TEST(two_texts_begin_on_lines_of_their_own)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"text\",\"seq\":1,\"content\":\"a\"}",
                      "{\"type\":\"text\",\"seq\":2,\"content\":\"b\\n\"}",
                      "{\"type\":\"text\",\"seq\":3,\"content\":\"c\",\"isPartial\":true}"),
                "a\nb\nc\n");
}

TEST(nothing_from_a_model_reaches_the_terminal_as_a_command)
{
    const char *text = SHOWN(
        "{\"type\":\"text\",\"seq\":1,\"content\":\"\\u001b]0;owned\\u0007\\u009b31m\\r\"}",
        "{\"type\":\"tool_use\",\"toolName\":\"bash\",\"input\":{\"command\":\"\\u001b[2J\"}}",
        "{\"type\":\"tool_result\",\"toolName\":\"bash\",\"output\":{\"exit_code\":0,\"output\":"
        "\"\\u001b[1A\\u0008\"}}",
        "{\"type\":\"approval_gate\",\"title\":\"\\u001bc\",\"previewKind\":\"diff\",\"preview\":"
        "\"+\\u001b[0m\"}",
        "{\"type\":\"error\",\"code\":\"internal\",\"message\":\"\\u001b[5m\"}");

    for (const char *p = text; *p; p++)
        ASSERT((unsigned char)*p >= 0x20 || *p == '\n');
    ASSERT(!strstr(text, "\xc2\x9b"));
    ASSERT_CONTAINS(text, "\\x1b]0;owned\\x07");
}

TEST(thinking_is_not_for_pipes)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"thinking\",\"seq\":1,\"content\":\"hm\"}"), "");
}

/* ---- tools ---- */

TEST(calls_are_one_line_each)
{
    ASSERT_TEXT(
        SHOWN("{\"type\":\"tool_use\",\"toolName\":\"bash\",\"input\":{\"command\":\"ls\\nrm x\","
              "\"timeout_s\":5}}",
              "{\"type\":\"tool_use\",\"toolName\":\"read_file\",\"input\":{\"path\":\"a/b.c\"}}",
              "{\"type\":\"tool_use\",\"toolName\":\"search\",\"input\":{\"pattern\":\"a/b\","
              "\"glob\":\"*.c\",\"path\":\"src\"}}",
              "{\"type\":\"tool_use\",\"toolName\":\"search\",\"input\":{\"glob\":\"*.c\"}}",
              "{\"type\":\"tool_use\",\"toolName\":\"other\",\"input\":{\"url\":\"http://x/y\"}}",
              "{\"type\":\"tool_use\",\"toolName\":\"none\",\"input\":{}}",
              "{\"type\":\"tool_use\",\"toolName\":\"broken\",\"input\":\"{not json\"}"),
        "• bash  ls …\n"
        "• read_file  a/b.c\n"
        "• search  a/b  in *.c  below src\n"
        "• search  *.c\n"
        "• other  {\"url\":\"http://x/y\"}\n"
        "• none  \n"
        "• broken  \"{not json\"\n");
}

TEST(tools_of_the_journal_are_shown_in_words)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_use\",\"toolName\":\"start_task_timer\",\"input\":"
                      "{\"taskId\":\"01a1\",\"description\":\"Session\"}}",
                      "{\"type\":\"tool_result\",\"toolName\":\"start_task_timer\",\"output\":"
                      "{\"timeEntry\":{}},\"words\":\"Leg day, since 16:00\"}"),
                "• start_task_timer  description Session\n"
                "  Leg day, since 16:00\n");
}

TEST(an_answer_is_shown_as_it_was_said)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_result\",\"toolName\":\"ask_user\",\"output\":"
                      "{\"answer\":\"the blue one\"}}"),
                "  the blue one\n");
}

TEST(a_commands_output_comes_with_how_it_ended)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_result\",\"toolName\":\"bash\",\"output\":{\"exit_code\":2,"
                      "\"stdout\":\"a\\nb\\n\",\"stderr\":\"bad\"}}"),
                "  a\n  b\n  bad\n  exit code 2\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_result\",\"toolName\":\"bash\",\"output\":{\"exit_code\":"
                      "null,\"signal\":9,\"output\":\"\"}}"),
                "  ended by signal 9\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_result\",\"toolName\":\"bash\",\"output\":{\"exit_code\":"
                      "null,\"signal\":15,\"timed_out\":true}}"),
                "  ended: it took too long\n");
    ASSERT_TEXT(
        SHOWN("{\"type\":\"tool_result\",\"toolName\":\"bash\",\"output\":{\"exit_code\":0}}"), "");
}

TEST(long_output_keeps_its_beginning_and_end)
{
    AUTO_BUF event = BUF_INIT(100000);
    const char *text;

    buf_add_text(&event,
                 "{\"type\":\"tool_result\",\"toolName\":\"bash\",\"output\":{\"output\":\"");
    for (int i = 1; i <= 500; i++)
        buf_printf(&event, "line %d\\n", i);
    buf_add_text(&event, "\"}}");
    text = SHOWN(buf_text(&event));
    ASSERT_CONTAINS(text, "  line 4\n  … 488 more lines\n  line 493\n");
    ASSERT_CONTAINS(text, "  line 500\n");
    ASSERT(!strstr(text, "line 5\n"));
}

TEST(one_line_too_many_is_shown_and_not_counted)
{
    AUTO_BUF event = BUF_INIT(10000);

    buf_add_text(&event, "{\"type\":\"tool_result\",\"toolName\":\"x\",\"output\":\"");
    for (int i = 1; i <= 13; i++)
        buf_printf(&event, "%d\\n", i);
    buf_add_text(&event, "\"}");
    ASSERT_CONTAINS(SHOWN(buf_text(&event)), "  13\n");
    ASSERT(!strstr(SHOWN(buf_text(&event)), "more"));
}

TEST(directories_files_and_matches_have_their_own_forms)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_result\",\"toolName\":\"read_file\",\"output\":{\"kind\":"
                      "\"directory\",\"entries\":[\"a/\",\"b.c\"],\"total\":1200}}"),
                "  a/\n  b.c\n  1200 in all\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_result\",\"toolName\":\"read_file\",\"output\":{\"kind\":"
                      "\"directory\",\"entries\":[],\"total\":0}}"),
                "  (empty)\n");
    ASSERT_TEXT(
        SHOWN("{\"type\":\"tool_result\",\"toolName\":\"read_file\",\"output\":{\"kind\":"
              "\"text\",\"lines\":{\"first\":1,\"last\":40,\"total\":200},\"text\":\"x\"}}"),
        "  lines 1 to 40 of 200\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_result\",\"toolName\":\"read_file\",\"output\":{\"kind\":"
                      "\"image\",\"bytes\":77}}"),
                "  image, 77 bytes\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_result\",\"toolName\":\"search\",\"output\":{\"matches\":["
                      "{\"path\":\"a.c\",\"line\":3,\"text\":\"  int x;\"},{\"path\":\"b/c.h\"}],"
                      "\"total\":9}}"),
                "  a.c:3: int x;\n  b/c.h\n  9 in all\n");
    ASSERT_TEXT(
        SHOWN("{\"type\":\"tool_result\",\"toolName\":\"search\",\"output\":{\"matches\":[]}}"),
        "  nothing found\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_result\",\"toolName\":\"write_file\",\"output\":{\"path\":"
                      "\"a\",\"created\":true,\"bytes\":5}}"),
                "  created, 5 bytes\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_result\",\"toolName\":\"edit_file\",\"output\":{\"path\":"
                      "\"a\",\"diff\":\"-x\\n+y\\n\"}}"),
                "  -x\n  +y\n");
    ASSERT_TEXT(
        SHOWN("{\"type\":\"tool_result\",\"toolName\":\"other\",\"output\":{\"a\":\"b/c\"}}"),
        "  {\"a\":\"b/c\"}\n");
}

TEST(results_of_another_shape_than_promised_do_no_harm)
{
    static const char *const tools[] = { "bash", "read_file", "write_file", "search", "ask_user" };
    static const char *const outputs[] = {
        "null",
        "[]",
        "17",
        "\"text\"",
        "{}",
        "{\"entries\":3,\"matches\":{},\"lines\":[],\"output\":7,\"diff\":{},\"exit_code\":\"x\"}",
        "{\"entries\":[1,null,{}],\"matches\":[1,null,\"x\"],\"lines\":\"x\"}",
    };

    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
        for (size_t j = 0; j < sizeof(outputs) / sizeof(outputs[0]); j++)
            SHOWN(arena_printf(&t->arena,
                               "{\"type\":\"tool_result\",\"toolName\":\"%s\",\"output\":%s}",
                               tools[i], outputs[j]));
    SHOWN("{}", "[]", "{\"type\":7}", "{\"type\":\"text\",\"content\":[]}",
          "{\"type\":\"waiting\"}", "{\"type\":\"approval_gate\",\"preview\":1}",
          "{\"type\":\"done\"}", "{\"type\":\"error\"}", "{\"type\":\"iteration\"}");
}

TEST(an_error_of_a_tool_is_shown)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"tool_result\",\"toolName\":\"bash\",\"status\":\"failed\","
                      "\"error\":{\"code\":\"timeout\",\"message\":\"too slow\"}}"),
                "  too slow\n");
}

/* It has not failed: somebody, or nobody, decided so. */
TEST(a_call_that_was_not_made_says_whose_word_that_was)
{
    static const struct {
        const char *code, *message, *words;
    } calls[] = {
        { "rejected", "not today", "  you rejected it: not today\n" },
        { "rejected", "A person said no.", "  you rejected it\n" },
        { "expired", "It waited too long and has expired.",
          "  not done: nobody decided in time\n" },
        { "withdrawn", "The question was taken back.",
          "  not done: the question was taken back\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        ASSERT_TEXT(SHOWN(arena_printf(&t->arena,
                                       "{\"type\":\"tool_result\",\"toolName\":\"bash\",\"status\":"
                                       "\"failed\",\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}",
                                       calls[i].code, calls[i].message)),
                    calls[i].words);
}

/* ---- what waits ---- */

TEST(what_waits_is_shown_with_what_would_happen_and_what_to_type)
{
    ASSERT_TEXT(
        SHOWN("{\"type\":\"approval_gate\",\"gateId\":\"0123456789abcdef\",\"toolName\":"
              "\"bash\",\"title\":\"Run a command\",\"previewKind\":\"command\","
              "\"preview\":\"make\\n\",\"facts\":[{\"name\":\"directory\",\"value\":\"/tmp\"},"
              "{\"name\":\"may reach\",\"value\":\"no network\"}]}",
              "{\"type\":\"waiting\",\"itemId\":\"0123456789abcdef\",\"kind\":\"tool\"}"),
        "? Run a command\n"
        "  directory     /tmp\n"
        "  may reach     no network\n"
        "│ make\n"
        "Waiting for you:  dormouse approve 01234567   or   dormouse reject 01234567\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"waiting\",\"itemId\":\"abcdef0123\",\"kind\":\"question\","
                      "\"title\":\"Which one?\"}"),
                "? Which one?\n"
                "Waiting for you:  dormouse answer abcdef01 TEXT\n");
}

#define MEMORY                                                                                     \
    "{\"type\":\"memory_edit_request\",\"request_id\":\"0123456789\",\"path\":\"knowledge/a.md\"," \
    "\"operation\":\"append\",\"current_content\":\"- tea\\n\",\"proposed_content\":"              \
    "\"- tea\\nsee https://x.example now\\n\",\"reason\":\"you \\u001b[31msaid so\","              \
    "\"suspicious_flags\":[{\"pattern\":\"p\",\"match\":\"https://x.example\",\"description\":"    \
    "\"Contains "                                                                                  \
    "URL\",\"severity\":\"warning\",\"start\":10,\"end\":27}],\"warnings\":[\"Untrusted "          \
    "text was read before this was written: web.\"],\"taint\":[\"web\"],\"diff\":"                 \
    "\"--- knowledge/a.md\\n+++ knowledge/a.md\\n@@ -1 +1,2 @@\\n - tea\\n"                        \
    "+see https://x.example now\\n\"}"

TEST(memory_is_shown_with_its_reason_its_diff_and_what_is_suspicious)
{
    ASSERT_TEXT(SHOWN(MEMORY,
                      "{\"type\":\"waiting\",\"itemId\":\"0123456789\",\"kind\":\"memory\"}",
                      "{\"type\":\"memory_edit_complete\",\"request_id\":\"0123456789\","
                      "\"success\":true,\"path\":\"knowledge/a.md\"}"),
                "? Add to knowledge/a.md\n"
                "  because       you ␛[31msaid so\n"
                "│ --- knowledge/a.md\n"
                "│ +++ knowledge/a.md\n"
                "│ @@ -1 +1,2 @@\n"
                "│  - tea\n"
                "│ +see https://x.example now\n"
                "  ! warning, line 2: Contains URL: https://x.example\n"
                "  ! Untrusted text was read before this was written: web.\n"
                "Waiting for you:  dormouse approve 01234567   or   dormouse reject 01234567\n"
                "  memory was changed: knowledge/a.md\n");
}

TEST(memory_that_was_refused_says_why)
{
    ASSERT_TEXT(
        SHOWN("{\"type\":\"memory_edit_complete\",\"success\":false,\"path\":\"knowledge/a\","
              "\"error\":{\"code\":\"rejected\",\"message\":\"no\"}}"),
        "  memory stays as it is: knowledge/a (no)\n");
}

TEST(hidden_characters_of_memory_are_written_out)
{
    ASSERT_CONTAINS(SHOWN("{\"type\":\"memory_edit_request\",\"request_id\":\"1\",\"path\":\"a\","
                          "\"operation\":\"write\",\"proposed_content\":"
                          "\"a\xE2\x80\x8B\xE2\x80\xAE\",\"diff\":\"@@ -0,0 +1 @@\\n"
                          "+a\xE2\x80\x8B\xE2\x80\xAE\\n\"}"),
                    "│ +a<U+200B><U+202E>\n");
}

TEST(memory_with_members_of_the_wrong_kind_is_shown_all_the_same)
{
    SHOWN("{\"type\":\"memory_edit_request\"}",
          "{\"type\":\"memory_edit_request\",\"suspicious_flags\":3,\"warnings\":{},\"diff\":[]}",
          "{\"type\":\"memory_edit_request\",\"suspicious_flags\":[1,{\"start\":-1,\"end\":5},"
          "{\"start\":9007199254740991,\"end\":9007199254740992}],\"diff\":\"@@ -1 "
          "+99999999999999999999 @@\\n+x\\n@@ -1 +9 @@\\n+y\\n\",\"proposed_content\":\"x\"}",
          "{\"type\":\"memory_edit_complete\",\"error\":7}");
}

/* ---- the end ---- */

TEST(errors_say_what_to_do)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"error\",\"code\":\"iterations_exceeded\",\"message\":\"too "
                      "many\",\"recoverable\":false}"),
                "! too many\n  go on in the same conversation (dormouse chat --thread THREAD), or "
                "allow more rounds: dormouse run --max-iterations N\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"error\",\"code\":\"provider_failed\",\"message\":\"try "
                      "again\",\"recoverable\":true}"),
                "! try again\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"error\",\"code\":\"kill_switch_active\",\"message\":\"on; "
                      "`dormouse unkill` lifts it\"}"),
                "! on; `dormouse unkill` lifts it\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"error\",\"code\":\"timeout\"}"), "! It took too long.\n");
}

TEST(rounds_and_cancelling_are_shown)
{
    ASSERT_TEXT(SHOWN("{\"type\":\"iteration\",\"count\":3}",
                      "{\"type\":\"done\",\"stopReason\":\"cancelled\"}"),
                "── round 3\nCancelled.\n");
    ASSERT_TEXT(SHOWN("{\"type\":\"done\",\"stopReason\":\"end_turn\"}"), "");
}

/* ---- terminals ---- */

struct terminal {
    FILE *out;
    int main_fd;
};

static struct terminal open_terminal(void)
{
    struct winsize size = { .ws_col = 80, .ws_row = 24 };
    struct terminal terminal;
    int fd;

    if (openpty(&terminal.main_fd, &fd, NULL, NULL, &size) < 0)
        SKIP("no pseudo terminal");
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    terminal.out = fdopen(fd, "w");
    return terminal;
}

/* All up to the mark: a terminal gives what was written in pieces. */
static const char *read_terminal(struct test *t, struct terminal *terminal, const char *mark)
{
    const size_t room = 1 << 16;
    char *text = arena_alloc(&t->arena, room, 1);
    size_t n = 0;
    ssize_t more;

    fflush(terminal->out);
    text[0] = '\0';
    while (!strstr(text, mark) && (more = read(terminal->main_fd, text + n, room - n - 1)) > 0) {
        n += (size_t)more;
        text[n] = '\0';
    }
    return text;
}

static void show_one(struct test *t, struct terminal *terminal, const char *json)
{
    AUTO_JSON event = NULL;
    struct show show;

    ASSERT_OK(json_parse(str_from(json), &event, &t->err));
    show_init(&show, terminal->out);
    show_event(&show, event);
}

TEST(a_terminal_gets_a_diff_in_colours)
{
    struct terminal terminal = open_terminal(), plain = open_terminal();
    const char *text;

    show_one(
        t, &terminal,
        "{\"type\":\"approval_gate\",\"title\":\"Edit a\",\"previewKind\":\"diff\",\"preview\":"
        "\"--- a\\n+++ a\\n@@ -1 +1 @@\\n-old\\n+new\\n\"}");
    text = read_terminal(t, &terminal, "+new");
    ASSERT_CONTAINS(text, "\033[33m? Edit a\033[0m");
    ASSERT_CONTAINS(text, "│ \033[31m-old\033[0m");
    ASSERT_CONTAINS(text, "│ \033[32m+new");
    ASSERT_CONTAINS(text, "│ \033[1m+++ a\033[0m");
    setenv("NO_COLOR", "1", 1);
    show_one(t, &plain, "{\"type\":\"error\",\"code\":\"timeout\",\"message\":\"it took long\"}");
    ASSERT(!strchr(read_terminal(t, &plain, "it took long"), '\033'));
}

TEST(a_terminal_gets_suspicious_text_marked_in_its_place)
{
    struct terminal terminal = open_terminal();

    show_one(t, &terminal, MEMORY);
    ASSERT_CONTAINS(read_terminal(t, &terminal, "web."),
                    "│ \033[32m+see \033[0m\033[7;33mhttps://x.example\033[0m\033[32m now\033[0m");
}

TEST(a_terminal_is_told_what_a_run_took)
{
    struct terminal terminal = open_terminal();
    AUTO_JSON run = NULL;
    AUTO_JSON waited = NULL;
    struct show show;

    ASSERT_OK(json_parse(STR("{\"createdAt\":\"2026-01-01T00:00:00.000Z\",\"endedAt\":"
                             "\"2026-01-01T00:59:05.250Z\",\"activeMs\":65250,\"waitedMs\":999,"
                             "\"inputTokens\":1200,\"outputTokens\":34,\"cost\":0.0123}"),
                         &run, &t->err));
    ASSERT_OK(json_parse(STR("{\"endedAt\":\"2026-01-01T00:59:05.250Z\",\"activeMs\":4200,"
                             "\"waitedMs\":3301000,\"cost\":0.5}"),
                         &waited, &t->err));
    show_init(&show, terminal.out);
    show_cost(&show, run);
    ASSERT_CONTAINS(read_terminal(t, &terminal, "0.0123"),
                    "done in 1 min 05 s · 1200 tokens in, 34 out · cost 0.0123");
    show_cost(&show, waited);
    ASSERT_CONTAINS(read_terminal(t, &terminal, "0.5"),
                    "done in 4.2 s, waited 55 min 01 s for you · cost 0.5000");
    show_init(&show, stdout);
    show_cost(&show, NULL);
}

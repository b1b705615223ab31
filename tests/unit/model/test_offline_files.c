/* Conversations with the offline model about folders, files and commands.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "offline_rig.h"

TEST(offline_lists_a_folder_from_what_search_found)
{
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "what is in this folder?");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"files\":[\"Makefile\",\"README.md\"]}");
    rig_result(&rig, 1,
               "{\"files\":[\"src/main.c\",\"src/a.c\",\"docs/x.md\"],\"truncated\":true}");
    ASSERT_TEXT(rig_think(&rig), "This folder has 2 files and 2 folders:\n\n    docs/\n    src/\n"
                                 "    Makefile\n    README.md\n"
                                 "The listing was cut: there may be more.\n");
    rig_end(&rig);
}

TEST(offline_lists_a_folder_that_read_file_reads)
{
    struct rig rig;

    rig_begin(&rig, t, rig_hands, rig_hands_count);
    rig_user(&rig, "what is in src?");
    ASSERT_TEXT(rig_think(&rig), "read_file {\"path\":\"src\"}");
    rig_result(&rig, 0,
               "{\"path\":\"src\",\"kind\":\"directory\",\"entries\":[\"a.c\",\"b/\","
               "\"l@\"],\"total\":3,\"truncated\":false}");
    ASSERT_TEXT(rig_think(&rig), "src has 2 files and 1 folder:\n\n    b/\n    a.c\n    l\n");
    rig_end(&rig);
}

TEST(offline_tidies_no_links)
{
    struct rig rig;

    rig_begin(&rig, t, rig_hands, rig_hands_count);
    rig_user(&rig, "tidy this folder");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"entries\":[\"a.png\",\"b.png@\",\"c.png/\"]}");
    ASSERT_CONTAINS(rig_think(&rig), "\"mkdir -p Images && mv -nv -- a.png Images/\"");
    rig_end(&rig);
}

TEST(offline_lists_plain_lines_matches_and_nothing_alike)
{
    static const struct {
        const char *first, *second, *answer;
    } cases[] = {
        { "a.c\nsrc/\n", "", "This folder has 1 file and 1 folder:\n\n    src/\n    a.c\n" },
        { "{\"matches\":[{\"path\":\"./a.c\"}]}", "[]",
          "This folder has 1 file and 0 folders:\n\n    a.c\n" },
        { "[]", "{\"matches\":[]}", "This folder has nothing in it that I can see." },
        { "\"a.c\\nb.c\"", "{}", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_plain, rig_plain_count);
        rig_user(&rig, "what is in this folder?");
        rig_think(&rig);
        rig_result(&rig, 0, cases[i].first);
        rig_result(&rig, 1, cases[i].second);
        if (cases[i].answer)
            ASSERT_TEXT(rig_think(&rig), cases[i].answer);
        else
            ASSERT_CONTAINS(rig_think(&rig), "    b.c\n");
        rig_end(&rig);
    }
}

TEST(offline_tidies_by_kind_and_reports_what_was_moved)
{
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "tidy this folder");
    rig_think(&rig);
    rig_result(&rig, 0, "[\"a.png\",\"b.pdf\",\"it's.PNG\",\"unknown.xyz\",\".hidden.png\"]");
    rig_result(&rig, 1, "[\"Images/old.png\"]");
    ASSERT_TEXT(rig_think(&rig),
                "bash {\"command\":\"mkdir -p Images Documents && mv -nv -- a.png 'it'\\\\''s.PNG' "
                "Images/ && mv -nv -- b.pdf Documents/\"} | I would like to sort 3 files by kind "
                "into: Images Documents.\n");
    rig_result(&rig, 0, RIG_MOVES);
    ASSERT_CONTAINS(rig_think(&rig), "2 files were moved:\n\n    renamed 'a.png' -> ");
    rig_end(&rig);
}

TEST(offline_tidies_another_folder_from_inside_it)
{
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "tidy \"my stuff\"");
    rig_think(&rig);
    rig_result(&rig, 0, "[\"my stuff/a.zip\"]");
    rig_result(&rig, 1, "[]");
    ASSERT_CONTAINS(rig_think(&rig),
                    "cd -- 'my stuff' && mkdir -p Archives && mv -nv -- a.zip Archives/");
    rig_failure(&rig, 0, "{\"error\":{\"code\":\"rejected\",\"message\":\"not my zip\"}}");
    ASSERT_CONTAINS(rig_think(&rig), "\" was rejected: not my zip\n\nNothing else was done.");
    rig_end(&rig);
}

TEST(offline_leaves_projects_and_tidy_folders_alone)
{
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "tidy this folder");
    rig_think(&rig);
    rig_result(&rig, 0, "[\"Makefile\",\"logo.png\"]");
    rig_result(&rig, 1, "[]");
    ASSERT_CONTAINS(rig_think(&rig), "I left everything where it is: Makefile says");
    rig_end(&rig);

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "tidy this folder");
    rig_think(&rig);
    rig_result(&rig, 0, "[\"x.unknown\"]");
    rig_result(&rig, 1, "[]");
    ASSERT_CONTAINS(rig_think(&rig), "There is nothing to tidy: of 1 file none");
    rig_end(&rig);
}

TEST(offline_says_what_a_command_said_and_how_it_ended)
{
    static const struct {
        const char *result, *says;
        bool failed;
    } cases[] = {
        { "{\"exit_code\":0,\"stdout\":\"all good\\n\",\"stderr\":\"\"}",
          "make test says:\n\n    all good\n", false },
        { "{\"exitCode\":2,\"output\":\"boom\",\"stderr\":\"no rule\"}",
          "make test failed with exit code 2.\n\n    boom\nno rule\n", false },
        { "{\"exit_code\":2,\"output\":\"boom\"}", "make test failed with exit code 2.", true },
        { "{\"exit_code\":0,\"stdout\":\"\"}", "make test is done; it printed nothing.", false },
        { "rejected: too dangerous", "The command \"make test\" was rejected: too dangerous\n",
          true },
        { "expired: two days went by", "\"make test\" was not decided on in time: two days", true },
        { "withdrawn: the run ended", "\"make test\" was withdrawn: the run ended\n", true },
        { "cancelled: by you", "\"make test\" was cancelled: by you\n", true },
        { "timeout: 30 s", "\"make test\" took too long: 30 s\n", true },
        { "unsafe_target: never run: rm -rf /", "\" was refused: never run: rm -rf /\n", true },
        { "capability_denied: no shell here", "\" was refused: no shell here\n", true },
        { "path_denied: ~/.ssh", "\" was refused: ~/.ssh\n", true },
        { "network_denied: evil.example", "\" was refused: evil.example\n", true },
        { "kill_switch_active: all", "\" was refused: all\n", true },
        { "out_of_scope: not yours", "\" was refused: not yours\n", true },
        { "internal: a bug", "\" did not work: a bug\n", true },
        { "no_such_code: text", "\" did not work: no_such_code: text\n", true },
        { ": odd", "\" did not work: : odd\n", true },
        { "{\"error\":{\"code\":\"rejected\",\"message\":\"no\"}}", "\" was rejected: no\n", true },
        { "{\"error\":{\"code\":\"timeout\"}}", "\" took too long: timeout\n", true },
        { "", "\"make test\" did not work, without a reason.\n", true },
        { "plain output", "make test says:\n\n    plain output\n", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_plain, rig_plain_count);
        rig_user(&rig, "run make test");
        rig_think(&rig);
        (cases[i].failed ? rig_failure : rig_result)(&rig, 0, cases[i].result);
        ASSERT_CONTAINS(rig_think(&rig), cases[i].says);
        rig_end(&rig);
    }
}

TEST(offline_shows_a_bounded_part_of_long_output)
{
    AUTO_BUF text = BUF_INIT(1u << 20);
    struct rig rig;

    for (int i = 0; i < 5000; i++)
        buf_printf(&text, "line %d\n", i);
    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "show big.txt");
    rig_think(&rig);
    rig_result(&rig, 0, buf_text(&text));
    ASSERT_CONTAINS(rig_think(&rig), "    line 19\n... and 3980 more lines, and the tool had cut");
    ASSERT(rig.turn.say.n < OFFLINE_TEXT_MAX);
    rig_end(&rig);
}

TEST(offline_reads_before_it_edits_and_stops_when_it_may_not)
{
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "replace \"old text\" with new in notes.txt");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"content\":\"old text\"}");
    ASSERT_TEXT(rig_think(&rig), "edit_file {\"path\":\"notes.txt\",\"edits\":[{\"old_string\":"
                                 "\"old text\",\"new_string\":\"new\"}]}");
    rig_result(&rig, 0, "{}");
    ASSERT_CONTAINS(rig_think(&rig), "I replaced \"old text\" by \"new\" in notes.txt.");
    rig_end(&rig);

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "replace a with b in c.txt");
    rig_think(&rig);
    rig_failure(&rig, 0, "not_found: c.txt");
    ASSERT_CONTAINS(rig_think(&rig), "read_file did not work: c.txt\n\nNothing else was done.");
    rig_end(&rig);
}

TEST(offline_learns_from_the_folder_how_a_project_is_tested)
{
    static const struct {
        const char *files, *says;
    } cases[] = {
        { "[\"Makefile\"]", "bash {\"command\":\"make test\"}" },
        { "[\"Cargo.toml\"]", "bash {\"command\":\"cargo test\"}" },
        { "[\"package.json\"]", "bash {\"command\":\"npm test\"}" },
        { "[\"notes.txt\"]", "I don't see how this project is tested" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_plain, rig_plain_count);
        rig_user(&rig, "run the tests");
        rig_think(&rig);
        rig_result(&rig, 0, cases[i].files);
        rig_result(&rig, 1, "[]");
        ASSERT_CONTAINS(rig_think(&rig), cases[i].says);
        rig_end(&rig);
    }
}

TEST(offline_searches_and_says_where)
{
    struct rig rig;

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "find TODO in src");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"matches\":[{\"path\":\"src/a.c\",\"line\":3,\"text\":\" // TODO \"}]}");
    ASSERT_TEXT(rig_think(&rig), "1 place with \"TODO\":\n\n    src/a.c:3: // TODO\n");
    rig_end(&rig);

    rig_begin(&rig, t, rig_plain, rig_plain_count);
    rig_user(&rig, "find TODO in src");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"matches\":[]}");
    ASSERT_TEXT(rig_think(&rig), "I found no \"TODO\" in src.");
    rig_end(&rig);
}

/* ---- files by their names ---- */

#define LISTING(...) "{\"kind\":\"directory\",\"entries\":[" __VA_ARGS__ "],\"total\":3}"

TEST(offline_finds_the_readme_however_it_is_spelled)
{
    static const struct {
        const char *said, *listing, *then;
    } cases[] = {
        { "show me the readme", LISTING("\"src/\",\"README.md\""),
          "read_file {\"path\":\"README.md\"}" },
        { "cat README", LISTING("\"README\",\"readme.txt\""), "read_file {\"path\":\"README\"}" },
        { "show the Makefile", LISTING("\"makefile\""), "read_file {\"path\":\"makefile\"}" },
        { "what is in the license?", LISTING("\"LICENSE\",\"LICENSE.old\""),
          "read_file {\"path\":\"LICENSE\"}" },
        { "show the readme", LISTING("\"readme/\",\"x.md\""), "There is no file readme here." },
        { "show the readme", "[]", "There is no file readme here." },
        { "show the readme", LISTING("\"READMES.md\",\".readme\""),
          "There is no file readme here." },
        { "explain the changelog", LISTING("\"CHANGELOG.md\""),
          "read_file {\"path\":\"CHANGELOG.md\"} | I am rules and can't explain" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_hands, rig_hands_count);
        rig_user(&rig, cases[i].said);
        ASSERT_TEXT(rig_think(&rig), "read_file {\"path\":\".\"}");
        rig_result(&rig, 0, cases[i].listing);
        ASSERT_CONTAINS(rig_think(&rig), cases[i].then);
        if (rig.turn.call_count) {
            rig_result(&rig, 0, "     1\tall of it");
            ASSERT_CONTAINS(rig_think(&rig), ":\n\n         1\tall of it");
        }
        rig_end(&rig);
    }
}

TEST(offline_shows_facts_of_what_is_no_text)
{
    static const struct {
        const char *result, *says;
    } cases[] = {
        { "{\"kind\":\"binary\",\"bytes\":300,\"type\":\"application/zip\"}",
          "a.png is no text (application/zip, 300 bytes): I can't show it." },
        { "{\"kind\":\"image\",\"bytes\":1}", "a.png is no text (image, 1 bytes)" },
        { "{\"kind\":\"binary\"}", "a.png is no text (binary, 0 bytes)" },
        { "{\"kind\":\"text\",\"content\":\"x\"}", "a.png:\n\n    x\n" },
        { "{\"kind\":7,\"content\":\"x\"}", "a.png:\n\n    x\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_hands, rig_hands_count);
        rig_user(&rig, "show a.png");
        rig_think(&rig);
        rig_result(&rig, 0, cases[i].result);
        ASSERT_CONTAINS(rig_think(&rig), cases[i].says);
        rig_end(&rig);
    }
}

TEST(offline_says_whether_something_was_really_moved)
{
    static const struct {
        const char *said, *stdout_text, *says;
    } cases[] = {
        { "rename a.txt to b.txt", "renamed 'a.txt' -> 'b.txt'\\n", "I moved a.txt to b.txt." },
        { "rename a.txt to b.txt", "",
          "There is b.txt already, and I don't overwrite: nothing was moved." },
        { "copy a.txt to b.txt", "'a.txt' -> 'b.txt'\\n", "I copied a.txt to b.txt." },
        { "copy a.txt to b.txt", "", "nothing was copied." },
        { "delete a.txt", "", "I deleted a.txt." },
        { "delete the docs folder", "", "I deleted docs." },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_hands, rig_hands_count);
        rig_user(&rig, cases[i].said);
        rig_think(&rig);
        rig_result(&rig, 0,
                   arena_printf(&t->arena, "{\"exit_code\":0,\"stdout\":\"%s\",\"stderr\":\"\"}",
                                cases[i].stdout_text));
        ASSERT_CONTAINS(rig_think(&rig), cases[i].says);
        rig_end(&rig);
        /* And when the command failed, what it said. */
        rig_begin(&rig, t, rig_hands, rig_hands_count);
        rig_user(&rig, cases[i].said);
        rig_think(&rig);
        rig_result(&rig, 0, "{\"exit_code\":1,\"stdout\":\"\",\"stderr\":\"No such file\"}");
        ASSERT_CONTAINS(rig_think(&rig), "failed with exit code 1.\nNo such file");
        rig_end(&rig);
    }
}

TEST(offline_does_not_put_documents_into_documents_of_documents)
{
    static const struct {
        const char *said;
        bool moves;
    } cases[] = {
        { "tidy Documents", false },      { "tidy documents/", false },
        { "tidy ~/Documents", false },    { "tidy My-Documents", true },
        { "tidy Documents/inbox", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, rig_hands, rig_hands_count);
        rig_user(&rig, cases[i].said);
        rig_think(&rig);
        rig_result(&rig, 0, LISTING("\"a.txt\",\"b.pdf\""));
        if (cases[i].moves)
            ASSERT_CONTAINS(rig_think(&rig),
                            "mkdir -p Documents && mv -nv -- a.txt b.pdf Documents/");
        else
            ASSERT_CONTAINS(rig_think(&rig), "There is nothing to tidy: of 2 files none");
        rig_end(&rig);
    }
}

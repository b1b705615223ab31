/* Hashes and ids, against those that vectors.py computes from the formulas alone. */
#include "bed.h"
#include "tool/tool_int.h"

static const struct {
    const char *tool, *arguments, *categories;
    uint32_t occurrence;
    const char *hash, *action, *operation;
} vectors[] = {
    { "bash", "{\"command\":\"ls\"}", "[]", 0,
      "4cf29611a66934862f29acfcc817e30b905c1ab73d5e65831413eb6b454d49db",
      "c3fef46f88590dcb23bd0cef49446e038d859a7824a1f252489ab13e922886dc",
      "8a04d98564f9e6ec756896996748663728dd9850d21803728b1060c4283f2208" },
    { "bash", "{\"command\":\"ls\"}", "[]", 2,
      "4cf29611a66934862f29acfcc817e30b905c1ab73d5e65831413eb6b454d49db",
      "684e7f6d5db7204a86e5002d008ba75327dc17b0abfc5b26a96664b12245d08e",
      "9e51cd76a47001a536b3fed232d63bcd4d86520f062f6e88172a0c921afb8ab2" },
    { "write_file", "{ \"path\" : \"b\\u00e9\", \"content\":\"1.0\" }", "[ \"home\", \"work\" ]", 0,
      "fae5624d8dfea6dac4780ffa8248ea7b4e243417b75c1e40b1750ae13e9d117b",
      "9799c11fad20bc6bff71de586a7bf0ad00fa732ff5f5a3db93d3ebd620d73724",
      "661950ee94e335be0feeed0180bcec55d6a41a986dbd45ce5df8dae80fd83d43" },
    /* No canonical form: as received. */
    { "nope", "{\"a\":9007199254740993}", "[]", 0,
      "d509df67f639ccc7538a0e52d149de6b89e9a93e16d350095bb4478957f410ca",
      "93e1478fa1b035b4c53f5074fde45c8d9b47b1c63945b4a51bc8658d9b114e1f",
      "22beab09a36e75c5a5f36a5d5da533c75a8785bcd2e0062b369be17e9b547e79" },
    { "nope", "{broken", NULL, 0,
      "be302461cda285db3ed2d45fb767b23e08ca8808b35a638009937df22b332d73",
      "07442202e54c55aa795372c10065ea3f5faba08e27881ca7bf8999ed29412bbe",
      "57833c2f83145fecef316c9d1f0e1aea4305098131ff6dc0a41a35ac082c55be" },
};

TEST(ids_are_those_of_the_formulas)
{
    AUTO(bed) bed = bed_new(t);

    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        bed->agent.allowed_category_ids = vectors[i].categories;
        bed->call.occurrence = vectors[i].occurrence;
        bed_judge(bed, vectors[i].tool, vectors[i].arguments);
        ASSERT_TEXT(bed->verdict.arguments_hash, vectors[i].hash);
        ASSERT_TEXT(bed->verdict.action_stable_id, vectors[i].action);
        ASSERT_TEXT(bed->verdict.operation_id, vectors[i].operation);
        if (!vectors[i].occurrence)
            ASSERT_TEXT(bed->verdict.intent_id, vectors[i].action);
    }
    ASSERT_TEXT(vectors[0].action, bed_judge(bed, "bash", "{\"command\":\"ls\"}")->intent_id);
}

TEST(the_same_intent_in_other_words_is_the_same_action_with_another_hash)
{
    AUTO(bed) bed = bed_new(t);
    struct tool_verdict a = *bed_judge(bed, "search", "{\"pattern\":\"x\",\"limit\":10}");
    struct tool_verdict b =
        *bed_judge(bed, "search", "{ \"limit\": 1e1, \"pattern\": \"\\u0078\" }");

    ASSERT_TEXT(a.action_stable_id, b.action_stable_id);
    ASSERT_TEXT(a.operation_id, b.operation_id);
    ASSERT(str_eq(a.pattern, b.pattern));
    ASSERT(strcmp(a.arguments_hash, b.arguments_hash) != 0);
}

TEST(another_scope_target_run_or_occurrence_is_another_operation)
{
    AUTO(bed) bed = bed_new(t);
    struct tool_verdict first = *bed_judge(bed, "read_file", "{\"path\":\"a\"}");

    ASSERT(strcmp(bed_judge(bed, "read_file", "{\"path\":\"b\"}")->intent_id, first.intent_id) !=
           0);
    ASSERT(strcmp(bed_judge(bed, "search", "{\"path\":\"a\"}")->intent_id, first.intent_id) != 0);
    bed->call.run_id = STR("run2");
    bed_judge(bed, "read_file", "{\"path\":\"a\"}");
    ASSERT_TEXT(bed->verdict.action_stable_id, first.action_stable_id);
    ASSERT(strcmp(bed->verdict.operation_id, first.operation_id) != 0);
    bed->agent.allowed_category_ids = "[\"work\"]";
    ASSERT(strcmp(bed_judge(bed, "read_file", "{\"path\":\"a\"}")->intent_id, first.intent_id) !=
           0);
    ASSERT_STR(bed->verdict.scope_snapshot, "[\"work\"]");
}

/* Fields are joined by '|': a path with one in it must not pass for another set of fields. */
TEST(a_separator_in_a_field_makes_no_other_field)
{
    AUTO(bed) bed = bed_new(t);
    struct tool_verdict a;

    bed->agent.allowed_category_ids = "[\"x\"]";
    a = *bed_judge(bed, "nope|y", "{}");
    bed->agent.allowed_category_ids = "[\"x|y\"]";
    ASSERT(strcmp(bed_judge(bed, "nope", "{}")->intent_id, a.intent_id) != 0);
}

TEST(the_pattern_of_a_grant_names_tool_arguments_directory_and_walls)
{
    AUTO(bed) bed = bed_new(t);
    char walls[SHA256_TEXT_SIZE];

    walls_hash(&bed->call.sandbox, walls);
    ASSERT_STR(bed_judge(bed, "bash", "{ \"command\": \"ls\" }")->pattern,
               arena_printf(&t->arena,
                            "{\"arguments\":{\"command\":\"ls\"},"
                            "\"directory\":\"/home/ada/work\",\"tool\":\"bash\","
                            "\"walls\":\"%s\"}",
                            walls));
    ASSERT_STR(bed_judge(bed, "bash", "{\"command\":9007199254740993}")->pattern,
               arena_printf(&t->arena,
                            "{\"argumentsHash\":"
                            "\"2475a6c828c0b51343d76134ea1d34f826e3cc4d66e00e8de41c57c8058e53ed\","
                            "\"directory\":\"/home/ada/work\",\"tool\":\"bash\",\"walls\":\"%s\"}",
                            walls));
}

/* Whatever differs of where a command would run, an earlier yes does not cover it. */
TEST(the_pattern_of_a_grant_changes_with_everything_around_the_call)
{
    static const char *const list[] = { "/srv/x", NULL };
    AUTO(bed) bed = bed_new(t);
    const struct tool_call base = bed->call;
    struct str patterns[20];
    size_t n = 0;

#define TAKE_PATTERN(change)                                                                       \
    bed->call = base;                                                                              \
    change;                                                                                        \
    patterns[n++] = arena_str(&t->arena, bed_judge(bed, "bash", "{\"command\":\"ls\"}")->pattern)
    TAKE_PATTERN((void)0);
    TAKE_PATTERN(bed->call.directory = "/home/ada/work/sub");
    TAKE_PATTERN(bed->call.directory = "/");
    TAKE_PATTERN(bed->call.sandbox.cwd = "/srv");
    TAKE_PATTERN(bed->call.sandbox.off = true);
    TAKE_PATTERN(bed->call.sandbox.allow_write = list);
    TAKE_PATTERN(bed->call.sandbox.deny_read = list);
    TAKE_PATTERN(bed->call.sandbox.allow_domains = list);
    TAKE_PATTERN(bed->call.sandbox.env = list);
    TAKE_PATTERN(bed->call.sandbox.allow_unix_sockets = list);
    TAKE_PATTERN(bed->call.sandbox.time_limit_ms = 1);
    TAKE_PATTERN(bed->call.sandbox.memory_bytes = 1);
    TAKE_PATTERN(bed->call.sandbox.processes = 1);
    TAKE_PATTERN(bed->call.sandbox.disk_bytes = 1);
    TAKE_PATTERN(bed->call.sandbox.files = 1);
    TAKE_PATTERN(bed->call.sandbox.allow_home = true);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            ASSERT(!str_eq(patterns[i], patterns[k]));
    /* The hand says where it stands, and it stands where the run began. */
    TAKE_PATTERN(bed->call.directory = "/home/ada/work");
    ASSERT(str_eq(patterns[n - 1], patterns[0]));
#undef TAKE_PATTERN
}

/* Else "always" would hold until the model finds other words. */
TEST(what_the_agent_says_of_a_command_is_no_part_of_a_grant)
{
    AUTO(bed) bed = bed_new(t);
    struct tool_verdict plain = *bed_judge(bed, "bash", "{\"command\":\"ls\"}");

    bed_judge(bed, "bash", "{\"command\":\"ls\",\"description\":\"look around\"}");
    ASSERT(str_eq(bed->verdict.pattern, plain.pattern));
    ASSERT(strcmp(bed->verdict.arguments_hash, plain.arguments_hash) != 0);
    bed_judge(bed, "bash", "{\"command\":\"ls\",\"timeout_s\":5}");
    ASSERT(!str_eq(bed->verdict.pattern, plain.pattern));
}

TEST(what_can_not_be_said_can_not_be_granted)
{
    AUTO(bed) bed = bed_new(t);

    bed->call.directory = "/tmp/\xff";
    ASSERT_EQ(bed_judge(bed, "bash", "{\"command\":\"ls\"}")->pattern.n, 0);
}

/* ---- digests ---- */

TEST(digests_are_those_of_the_formula)
{
    static const char hash[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    AUTO(bed) bed = bed_new(t);
    char digest[SHA256_TEXT_SIZE];

    tool_bed_set_policy(bed->tools, NULL, NULL, "p1");
    bed->call.arguments = STR("{\"command\":\"ls\"}");
    approval_digest(bed->tools, &bed->call, "bash", STR("cwd:/home/ada/work"), digest);
    ASSERT_TEXT(digest, "db7f14fed919e10e6f07ad320cdab9abc252ae2d2ead545e74dac5b0aa1f405a");
    tool_bed_set_policy(bed->tools, NULL, NULL, NULL);
    bed->call.arguments = STR("{\"path\":\"a\",\"old\":\"x\",\"new\":\"y\"}");
    approval_digest(bed->tools, &bed->call, "edit_file", str_from(hash), digest);
    ASSERT_TEXT(digest, "0a78c739d213d83905a290d425bf24121ea3f4dd4bb9c4a48f38b48130588039");
    bed->call.arguments = STR("{\"path\":\"a\",\"content\":\"x\"}");
    approval_digest(bed->tools, &bed->call, "write_file", STR("absent"), digest);
    ASSERT_TEXT(digest, "680d5156ca3c7ab6bd8352383d87de3dd554e7ff5a20fda7d7cc48ebef0d5aa4");
}

TEST(a_digest_changes_with_everything_that_was_shown)
{
    static const char *const more[] = { "example.org", NULL };
    static const char *const moved[] = { "/srv", NULL };
    AUTO(bed) bed = bed_new(t);
    struct tool_call base = bed->call;
    char digests[11][SHA256_TEXT_SIZE];
    size_t n = 0;

#define TAKE_DIGEST(version)                                                                       \
    approval_digest(bed->tools, &bed->call, "bash", STR(version), digests[n++])
    base.arguments = STR("{\"command\":\"ls\"}");
    bed->call = base;
    TAKE_DIGEST("1");
    TAKE_DIGEST("2");
    bed->call.arguments = STR("{\"command\": \"ls\"}");
    TAKE_DIGEST("1");
    bed->call = base;
    bed->call.sandbox.allow_domains = more;
    TAKE_DIGEST("1");
    bed->call = base;
    bed->call.sandbox.allow_unix_sockets = more;
    TAKE_DIGEST("1");
    bed->call = base;
    bed->call.sandbox.allow_write = moved;
    TAKE_DIGEST("1");
    bed->call = base;
    bed->call.sandbox.off = true;
    TAKE_DIGEST("1");
    bed->call = base;
    bed->call.sandbox.cwd = "/srv";
    TAKE_DIGEST("1");
    bed->call = base;
    bed->call.directory = "/srv";
    TAKE_DIGEST("1");
    bed->call = base;
    bed->call.sandbox.time_limit_ms = 1;
    TAKE_DIGEST("1");
    bed->call = base;
    tool_bed_set_policy(bed->tools, NULL, NULL, "other");
    TAKE_DIGEST("1");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            ASSERT(strcmp(digests[i], digests[k]) != 0);
}

/* ---- names on the wire ---- */

TEST(names_go_on_the_wire_and_come_back)
{
    static const char *const names[][2] = {
        { "bash", "bash" },
        { "fs.list", "fs__list" },
        { "mcp.git-hub.create_issue", "mcp__git-hub__create_issue" },
        { "A.b.C.d", "A__b__C__d" },
        { "0", "0" },
    };
    char text[TOOL_NAME_MAX + 1];

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        ASSERT_OK(tool_wire_name(str_from(names[i][0]), text, &t->err));
        ASSERT_TEXT(text, names[i][1]);
        ASSERT_OK(tool_name_of_wire(str_from(names[i][1]), text, &t->err));
        ASSERT_TEXT(text, names[i][0]);
    }
}

TEST(names_that_could_be_taken_for_others_are_refused)
{
    static const char *const names[] = { "",     "a__b", "_a", "a_",   "a._b",
                                         "a_.b", ".a",   "a.", "a..b", "a b",
                                         "a/b",  "a\nb", "ä",  "a:b",  "a___b" };
    static const char *const wires[] = { "",      "_",      "__",  "a__", "__a",
                                         "a___b", "a____b", "a.b", "a b" };
    char text[TOOL_NAME_MAX + 1] = "untouched";

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        ASSERT_FAILS(tool_wire_name(str_from(names[i]), text, &t->err), ERR_BAD_REQUEST);
    for (size_t i = 0; i < ARRAY_LEN(wires); i++)
        ASSERT_FAILS(tool_name_of_wire(str_from(wires[i]), text, &t->err), ERR_BAD_REQUEST);
    ASSERT_TEXT(text, "untouched");
}

TEST(a_name_fills_the_wire_to_its_last_character)
{
    char name[80], text[TOOL_NAME_MAX + 1];

    memset(name, 'a', sizeof(name));
    ASSERT_OK(tool_wire_name(str_of(name, 64), text, &t->err));
    ASSERT_FAILS(tool_wire_name(str_of(name, 65), text, &t->err), ERR_BAD_REQUEST);
    name[30] = '.';
    ASSERT_OK(tool_wire_name(str_of(name, 63), text, &t->err));
    ASSERT_EQ(strlen(text), 64);
    ASSERT_FAILS(tool_wire_name(str_of(name, 64), text, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(tool_name_of_wire(str_of(name, 65), text, &t->err), ERR_BAD_REQUEST);
}

/* Every name of a small alphabet: what is taken comes back as itself, and no two share a wire name.
 */
TEST(no_two_names_share_a_wire_name)
{
    static const char letters[] = "a_.";
    char name[8], wire[TOOL_NAME_MAX + 1], back[TOOL_NAME_MAX + 1];
    unsigned taken = 0;

    for (unsigned n = 1; n <= 7; n++)
        for (unsigned code = 0; code < 2187; code++) {
            unsigned rest = code;

            for (unsigned i = 0; i < n; i++, rest /= 3)
                name[i] = letters[rest % 3];
            if (tool_wire_name(str_of(name, n), wire, &t->err) < 0)
                continue;
            taken++;
            ASSERT_OK(tool_name_of_wire(str_from(wire), back, &t->err));
            ASSERT(str_is(str_of(name, n), back));
        }
    ASSERT(taken > 20);
}

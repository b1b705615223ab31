/* SPDX-License-Identifier: MIT */
#include "harness/test.h"
#include "skill/skill_int.h"

static struct skill again(struct test *t, const struct skill *skill)
{
    AUTO_BUF text = BUF_INIT(1 << 20);
    struct skill read;

    skill_write(skill, &text);
    if (skill_parse(buf_str(&text), &t->arena, &read, &t->err) < 0)
        FAIL("%s\n%s", test_err_text(t), buf_text(&text));
    return read;
}

TEST(a_simple_skill_is_written_as_a_person_would)
{
    struct skill skill = { .name = STR("my-skill"),
                           .description = STR("Does this. Use when that happens"),
                           .license = STR("MIT"),
                           .metadata = STR("{\"author\":\"me\"}"),
                           .allowed_tools = STR("[\"read_file\",\"Bash(git:*)\"]"),
                           .instructions = STR("# Do\n\nit") };
    AUTO_BUF text = BUF_INIT(4096);

    skill_write(&skill, &text);
    ASSERT_TEXT(buf_text(&text),
                "---\nname: my-skill\ndescription: Does this. Use when that happens\n"
                "license: MIT\nmetadata:\n  author: me\nallowed-tools:\n"
                "  - read_file\n  - \"Bash(git:*)\"\n---\n\n# Do\n\nit\n");
}

TEST(any_text_comes_back_as_it_was)
{
    static const char *const texts[] = {
        "plain",        "with: colon",
        "# no comment", "a --- b ---- c -----",
        "\"quoted\"",   "it's",
        "null",         "true",
        "2026-01-31",   "42",
        "- item",       "[list]",
        "{map}",        "tab\tand\nline",
        "ends with -",  "*alias",
        "&anchor",      "!tag",
        "%directive",   "back\\slash",
        "<b>&amp;</b>", "emoji 🎉 ünd mehr",
        "no",           "a #b",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct skill skill = { .name = STR("x"),
                               .description = str_from(texts[i]),
                               .license = str_from(texts[i]),
                               .compatibility = str_from(texts[i]) };
        struct skill read = again(t, &skill);

        ASSERT_STR(read.description, texts[i]);
        ASSERT_STR(read.license, texts[i]);
        ASSERT_STR(read.compatibility, texts[i]);
    }
}

TEST(odd_metadata_and_tools_come_back)
{
    struct skill skill = {
        .name = STR("x"),
        .description = STR("y"),
        .metadata = STR("{\"a: b\":\"--- x\",\"\":\"empty key\",\"n\":\"1\"}"),
        .allowed_tools = STR("[\"Bash(a b:*)\",\"x y\",\"---\"]"),
    };
    struct skill read = again(t, &skill);

    ASSERT_STR(read.metadata, "{\"a: b\":\"--- x\",\"\":\"empty key\",\"n\":\"1\"}");
    ASSERT_STR(read.allowed_tools, "[\"Bash(a b:*)\",\"x y\",\"---\"]");
}

TEST(what_is_no_list_or_map_is_not_written)
{
    static const char *const others[] = { "null", "3", "\"x\"", "true", "{\"a\"", "[1", "" };

    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct skill skill = { .name = STR("x"),
                               .description = STR("y"),
                               .metadata = str_from(others[i]),
                               .allowed_tools = str_from(others[i]) };
        AUTO_BUF out = BUF_INIT(1000);

        skill_write(&skill, &out);
        ASSERT_TEXT(buf_text(&out), "---\nname: x\ndescription: \"y\"\n---\n");
    }
}

TEST(instructions_with_fences_of_their_own_stay_whole)
{
    struct skill skill = { .name = STR("x"),
                           .description = STR("y"),
                           .instructions = STR("---\nname: other\n---\ntext") };

    ASSERT_STR(again(t, &skill).instructions, "---\nname: other\n---\ntext");
}

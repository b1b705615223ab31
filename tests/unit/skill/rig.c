/* SPDX-License-Identifier: MIT */
#include "rig.h"

#include <sys/stat.h>

static void open_rooms(struct rig *rig)
{
    struct test *t = rig->t;

    ASSERT_OK(files_new(&(struct files_config){ .loop = rig->loop,
                                                .agent_domain = rig->domain,
                                                .change = rig->change },
                        &rig->files, &t->err));
    ASSERT_OK(tool_bed_new(&(struct tool_bed_config){ .loop = rig->loop,
                                                      .agent_domain = rig->domain,
                                                      .files = rig->files,
                                                      .policy_text_hash = "" },
                           &rig->tools, &t->err));
    ASSERT_OK(skills_new(&(struct skills_config){ .loop = rig->loop,
                                                  .agent_domain = rig->domain,
                                                  .change = rig->change,
                                                  .files = rig->files,
                                                  .tools = rig->tools,
                                                  .shared_root = rig->root,
                                                  .trusted_keys = rig->keys },
                         &rig->skills, &t->err));
}

struct rig *rig_open(struct test *t)
{
    return rig_open_trusting(t, NULL);
}

struct rig *rig_open_trusting(struct test *t, const char *const *keys)
{
    struct rig *rig = NEW(struct rig);

    rig->t = t;
    rig->keys = keys;
    rig->domain = db_test_open(t, migrations_agent, migrations_agent_count);
    ASSERT_OK(change_open(rig->domain, NULL, NULL, &rig->change, &t->err));
    clock_fake_init(&rig->clock, NOW);
    rig->loop = loop_new_fake(&rig->clock);
    loop_attach(rig->loop, rig->domain);
    rig->root = test_path(t, "shared");
    open_rooms(rig);
    rig->agent = (struct agent){ .id = "coach", .kind = "custom", .display_name = "Coach" };
    ASSERT_OK(UNIT(rig, agent_add(rig->domain, rig->change, &rig->agent, NOW, &t->err)));
    return rig;
}

void rig_free(struct rig *rig)
{
    tool_bed_free(rig->tools);
    files_free(rig->files);
    loop_free(rig->loop);
    skills_free(rig->skills);
    change_free(rig->change);
    domain_free(rig->domain);
    free(rig);
}

const char *rig_text(struct rig *rig, const char *name, const char *more, const char *body)
{
    return arena_printf(&rig->t->arena, "---\nname: %s\ndescription: Does %s\n%s---\n%s", name,
                        name, more, body);
}

int rig_add(struct rig *rig, const char *name, const char *tools, struct skill *ret_skill)
{
    struct test *t = rig->t;
    struct skill skill = { .name = str_from(name),
                           .description = str_from(arena_printf(&t->arena, "Does %s", name)),
                           .allowed_tools = str_from(tools),
                           .instructions = STR("Do it.") };

    return UNIT(rig, skills_add(rig->skills, &rig->agent, &skill, STR("owner"), &t->arena,
                                ret_skill, &t->err));
}

int rig_put(struct rig *rig, const char *path, const char *content, const char *author)
{
    struct test *t = rig->t;
    struct file_write write = { .tree = STR("agents/coach"),
                                .path = str_from(path),
                                .content = str_from(content),
                                .base = FILE_ANY_VERSION,
                                .author = str_from(author) };
    struct file file;

    return UNIT(rig, file_put(rig->files, &write, &t->arena, &file, &t->err));
}

int rig_delete(struct rig *rig, const char *path)
{
    struct test *t = rig->t;
    struct file_write write = { .tree = STR("agents/coach"),
                                .path = str_from(path),
                                .remove = true,
                                .base = FILE_ANY_VERSION,
                                .author = STR("owner") };
    struct file file;

    return UNIT(rig, file_put(rig->files, &write, &t->arena, &file, &t->err));
}

bool rig_has(struct rig *rig, const char *id)
{
    struct test *t = rig->t;
    struct skill skill;
    int r = skills_get(rig->skills, &rig->agent, str_from(id), &t->arena, &skill, &t->err);

    ASSERT_OK(r);
    return r == 1;
}

struct skill rig_get(struct rig *rig, const char *id)
{
    struct test *t = rig->t;
    struct skill skill;
    int r = skills_get(rig->skills, &rig->agent, str_from(id), &t->arena, &skill, &t->err);

    ASSERT_OK(r);
    if (r == 0)
        FAIL("there is no skill %s", id);
    return skill;
}

void rig_share(struct rig *rig, const char *name, const char *text)
{
    const char *path = arena_printf(&rig->t->arena, "%s/%s", rig->root, name);

    mkdir(rig->root, 0755);
    mkdir(path, 0755);
    test_write_file(arena_printf(&rig->t->arena, "%s/SKILL.md", path), text, strlen(text));
}

void rig_later(struct rig *rig)
{
    loop_fake_advance(rig->loop, 1500);
}

struct skill *rig_list(struct rig *rig, size_t *ret_count)
{
    struct test *t = rig->t;
    struct skill *skills;

    ASSERT_OK(skills_list(rig->skills, &rig->agent, &t->arena, &skills, ret_count, &t->err));
    return skills;
}

size_t rig_own_count(struct rig *rig)
{
    size_t n, own = 0;
    struct skill *skills = rig_list(rig, &n);

    for (size_t i = 0; i < n; i++)
        own += !skills[i].shared;
    return own;
}

const char *rig_content(struct rig *rig, const char *path)
{
    struct test *t = rig->t;
    struct file file;
    int r = file_get(rig->files, STR("agents/coach"), str_from(path), &t->arena, &file, &t->err);

    ASSERT_OK(r);
    return r == 1 ? arena_str(&t->arena, file.content).p : NULL;
}

const char *rig_taint(struct rig *rig, const char *path)
{
    struct test *t = rig->t;
    struct file file;

    ASSERT_EQ(file_get(rig->files, STR("agents/coach"), str_from(path), &t->arena, &file, &t->err),
              1);
    return file.taint.p ? file.taint.p : "";
}

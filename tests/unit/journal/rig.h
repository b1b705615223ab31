/* A journal on a loop that never sleeps: 18 February 2026, ten in the morning in Berlin.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_JOURNAL_RIG_H
#define DORMOUSE_TESTS_JOURNAL_RIG_H

#include <stdio.h>

#include "base/json.h"
#include "base/timefmt.h"
#include "db/db_fault.h"
#include "db/migrations.h"
#include "harness/db_test.h"
#include "journal/journal.h"

#define NOW INT64_C(1771405200000) /* 2026-02-18T09:00:00Z */

struct rig {
    struct test *t;
    struct clock_fake clock;
    struct db_fault fault;
    struct loop *loop;
    struct domain *agent, *domain;
    struct change *change;
    struct journal *journal;
    struct journal_write *write;
};

static inline void rig_open(struct rig *rig, struct test *t)
{
    const char *url = db_test_domain_url(t, "journal");
    struct domain_config config = { .name = "journal",
                                    .url = url,
                                    .migrations = migrations_journal,
                                    .migration_count = migrations_journal_count,
                                    .fault = &rig->fault };

    /* It only says who this host is: a file does for both engines, and takes a tenth of the time.
     */
    struct domain_config agent = { .name = "agent",
                                   .url = db_test_file_url(t, "agent", "agent.sqlite"),
                                   .migrations = migrations_agent,
                                   .migration_count = migrations_agent_count };

    *rig = (struct rig){ .t = t };
    clock_fake_init(&rig->clock, NOW);
    rig->loop = loop_new_fake(&rig->clock);
    ASSERT_OK(domain_open(&agent, &rig->agent, &t->err));
    ASSERT_OK(domain_open(&config, &rig->domain, &t->err));
    ASSERT_OK(change_open(rig->agent, &rig->clock.clock, NULL, &rig->change, &t->err));
    ASSERT_OK(change_join(rig->change, rig->domain, &t->err));
    loop_attach(rig->loop, rig->domain);
    rig->journal = journal_new(&(struct journal_config){
        .loop = rig->loop, .domain = rig->domain, .change = rig->change, .zone = "Europe/Berlin" });
}

static inline void rig_close(struct rig *rig)
{
    journal_free(rig->journal);
    loop_free(rig->loop);
    change_free(rig->change);
    domain_free(rig->domain);
    domain_free(rig->agent);
}
#define AUTO_RIG __attribute__((cleanup(rig_close))) struct rig

/* Opens a unit of a person. */
static inline struct journal_write *rig_begin(struct rig *rig)
{
    struct test *t = rig->t;
    struct journal_author author = { .kind = CHANGE_BY_HUMAN };

    ASSERT_EQ(journal_begin(rig->journal, &author, &t->arena, &rig->write, NULL, &t->err), 1);
    return rig->write;
}

static inline void rig_end(struct rig *rig)
{
    struct test *t = rig->t;

    ASSERT_OK(journal_end(rig->write, true, STR_NONE, &t->err));
    loop_fake_tick(rig->loop);
}

static inline void rig_drop(struct rig *rig)
{
    struct test *t = rig->t;

    ASSERT_OK(journal_end(rig->write, false, STR_NONE, &t->err));
    loop_fake_tick(rig->loop);
}

/* JSON with ' for ". Ends with the process. */
static inline struct json_object *rig_json(struct test *t, const char *text)
{
    char *json = arena_text(&t->arena, text);
    struct json_object *value = NULL;

    for (char *at = json; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    ASSERT_OK(json_parse(str_from(json), &value, &t->err));
    return value;
}

/* One record in a unit of its own; its id. */
static inline struct str rig_add_as(struct rig *rig, enum record_type type, const char *id,
                                    const char *fields)
{
    struct test *t = rig->t;
    struct json_object *json = rig_json(t, fields);
    struct record record;

    rig_begin(rig);
    ASSERT_OK(journal_create(rig->write, type, str_from(id), json, &record, &t->err));
    rig_end(rig);
    json_object_put(json);
    return record.id;
}

static inline struct str rig_add(struct rig *rig, enum record_type type, const char *fields)
{
    return rig_add_as(rig, type, "", fields);
}

/* What journal_create() says, with nothing kept when it fails. */
static inline int rig_try(struct rig *rig, enum record_type type, const char *id,
                          const char *fields)
{
    struct test *t = rig->t;
    struct json_object *json = rig_json(t, fields);
    int r;

    t->err = ERR_INIT;
    rig_begin(rig);
    r = journal_create(rig->write, type, str_from(id), json, NULL, &t->err);
    r < 0 ? rig_drop(rig) : rig_end(rig);
    json_object_put(json);
    return r;
}

static inline int rig_set(struct rig *rig, enum record_type type, struct str id, const char *fields)
{
    struct test *t = rig->t;
    struct json_object *json = rig_json(t, fields);
    int r;

    t->err = ERR_INIT;
    rig_begin(rig);
    r = journal_change(rig->write, type, id, json, NULL, &t->err);
    r < 0 ? rig_drop(rig) : rig_end(rig);
    json_object_put(json);
    return r;
}

static inline int rig_remove(struct rig *rig, enum record_type type, struct str id)
{
    struct test *t = rig->t;
    int r;

    t->err = ERR_INIT;
    rig_begin(rig);
    r = journal_remove(rig->write, type, id, &t->err);
    r < 0 ? rig_drop(rig) : rig_end(rig);
    return r;
}

static inline int rig_restore(struct rig *rig, enum record_type type, struct str id)
{
    struct test *t = rig->t;
    int r;

    t->err = ERR_INIT;
    rig_begin(rig);
    r = journal_restore(rig->write, type, id, &t->err);
    r < 0 ? rig_drop(rig) : rig_end(rig);
    return r;
}

static inline struct record rig_get(struct rig *rig, enum record_type type, struct str id)
{
    struct test *t = rig->t;
    struct record record = { .type = RECORD_NONE };

    ASSERT_EQ(journal_get_any(rig->journal, type, id, &t->arena, &record, &t->err), 1);
    return record;
}

static inline bool rig_there(struct rig *rig, enum record_type type, struct str id)
{
    struct test *t = rig->t;
    struct record record;
    int r = journal_get(rig->journal, type, id, &t->arena, &record, &t->err);

    ASSERT_OK(r);
    return r == 1;
}

/* All batches there are. */
static inline struct change_row *rig_batches(struct rig *rig, size_t *ret_count)
{
    struct test *t = rig->t;
    struct change_row *rows = NULL;

    ASSERT_OK(change_batches_after(rig->domain, (struct change_cursor){ 0, 0 }, 10000, &t->arena,
                                   &rows, ret_count, &t->err));
    return rows;
}

/* The record as it is written, with what is new in each test left out. */
static inline const char *rig_text(struct test *t, const struct record *record)
{
    AUTO_BUF out = BUF_INIT(1 << 20);
    struct json_writer w = JSON_WRITER(&out);

    record_write(&w, record);
    ASSERT_OK(json_write_end(&w));
    return arena_text(&t->arena, buf_text(&out));
}

#endif

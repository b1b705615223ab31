/* The observation that a run begins with: why it woke, what it is asked to do, what changed.
 *
 * The wording is share/prompts/wake.md. Records are shown as they are when the run begins, each
 * once, as far as the agent may see them. Text from outside is marked, and taints the run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/observe_int.h"

#include "base/embed.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/map.h"
#include "change/taint.h"
#include "journal/list.h"

extern const struct embed_file wake_prompts[];

/* The lines below "# NAME". */
static struct str words(const char *name)
{
    struct str rest = wake_prompts[0].bytes;

    for (struct str line; rest.n; rest = str_skip(rest, line.n)) {
        ptrdiff_t end = str_find(rest, STR("\n"));

        line = str_take(rest, end < 0 ? rest.n : (size_t)end + 1);
        if (str_starts(line, STR("# ")) && str_is(str_trim(str_skip(line, 2)), name)) {
            struct str text = str_skip(rest, line.n);
            ptrdiff_t next = str_find(text, STR("\n# "));

            return str_trim(next < 0 ? text : str_take(text, (size_t)next));
        }
    }
    BUG("no words for %s", name);
}

struct observing {
    struct journal *journal;
    struct journal_scope scope;
    struct arena *arena;
    struct observed *out;
    struct buf text;
    struct map said; /* prompts and records that stand there already */
    size_t left_out;
    bool outside; /* something is from outside */
};

/* True: it is new. */
static bool first_time(struct observing *o, const char *kind, struct str what)
{
    struct str key = str_from(arena_printf(o->arena, "%s|%.*s", kind, STR_ARG(what)));

    if (map_find(&o->said, key))
        return false;
    map_put(&o->said, key, o);
    return true;
}

static bool is_full(const struct observing *o)
{
    return o->text.n > OBSERVE_BYTES_MAX;
}

/* ---- records ---- */

static void add_taint(struct observing *o, struct str taint)
{
    o->out->taint = taint_join(o->out->taint, taint, o->arena);
}

static int may_see(struct observing *o, const struct record *record, struct err *err)
{
    struct str category;

    if (o->scope.all)
        return 1;
    if (journal_category_of(o->journal, record, o->arena, &category, err) < 0)
        return -1;
    return journal_in_scope(&o->scope, category);
}

static void show_record(struct observing *o, const struct record *record, struct str author)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    o->out->shown++;
    if (o->out->shown > OBSERVE_RECORDS_MAX || is_full(o)) {
        o->left_out++;
        return;
    }
    record_write(&w, record);
    add_taint(o, record_taint(record, o->arena));
    if (o->out->shown == 1)
        buf_printf(&o->text, "\n%.*s\n", STR_ARG(words("changed")));
    buf_printf(&o->text, "- %s %.*s, by %.*s: ", record_type_name(record->type),
               STR_ARG(record->id), STR_ARG(author.n ? author : STR("human")));
    if (json.n <= OBSERVE_RECORD_BYTES_MAX)
        buf_add_str(&o->text, buf_str(&json));
    else
        buf_printf(&o->text, "%zu bytes, read it with your tools", json.n);
    buf_add_char(&o->text, '\n');
}

static int add_record(struct observing *o, struct json_object *named, struct str author,
                      struct err *err)
{
    struct str type_name, id;
    enum record_type type;
    struct record record;
    int r;

    if (!json_object_is_type(named, json_type_array) || json_length(named) != 2)
        return 0;
    type_name = json_str(json_object_array_get_idx(named, 0));
    id = json_str(json_object_array_get_idx(named, 1));
    type = record_type_of(type_name);
    if (!type || !first_time(o, "record", id))
        return 0;
    r = journal_get(o->journal, type, id, o->arena, &record, err);
    if (r <= 0)
        return r;
    r = may_see(o, &record, err);
    if (r > 0)
        show_record(o, &record, author);
    return r < 0 ? -1 : 0;
}

static int add_records(struct observing *o, struct json_object *payload, struct err *err)
{
    struct json_object *records = json_find(payload, "records");
    struct str author = json_str(json_find(payload, "author"));

    if (!o->journal || !records || !json_object_is_type(records, json_type_array))
        return 0;
    o->out->names_records |= json_length(records) > 0;
    for (size_t i = 0; i < json_length(records); i++) {
        if (add_record(o, json_object_array_get_idx(records, i), author, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- what was said or sent ---- */

static void add_text(struct observing *o, const char *kind, struct str text)
{
    if (!text.n || is_full(o) || !first_time(o, kind, text))
        return;
    buf_printf(&o->text, "\n%.*s%s\n", STR_ARG(str_take(text, OBSERVE_WORDS_BYTES_MAX)),
               text.n > OBSERVE_WORDS_BYTES_MAX ? " [cut]" : "");
}

static void add_event(struct observing *o, struct json_object *event)
{
    struct str body = json_str(json_find(event, "body"));

    if (!event || is_full(o))
        return;
    buf_printf(&o->text, "\n%.*s\n<<<\n%.*s%s\n>>>\n", STR_ARG(words("event")),
               STR_ARG(str_take(body, OBSERVE_WORDS_BYTES_MAX)),
               body.n > OBSERVE_WORDS_BYTES_MAX ? " [cut]" : "");
    o->out->has_words = true;
}

static void add_files(struct observing *o, struct json_object *files)
{
    if (!files || !json_object_is_type(files, json_type_array) || json_length(files) == 0)
        return;
    o->out->has_words = true;
    buf_printf(&o->text, "\n%.*s\n", STR_ARG(words("files")));
    for (size_t i = 0; i < json_length(files); i++) {
        struct json_object *file = json_object_array_get_idx(files, i);

        if (is_full(o)) {
            o->left_out++;
            continue;
        }
        buf_printf(&o->text, "- %.*s: %.*s\n", STR_ARG(json_str(json_find(file, "change"))),
                   STR_ARG(json_str(json_find(file, "path"))));
    }
}

static void add_missed(struct observing *o, struct json_object *missed)
{
    int64_t count = 0;

    if (missed && json_get_i64(missed, "count", &count, NULL) > 0 && count > 1)
        buf_printf(&o->text, "\nIt stands for %lld times that were missed.\n", (long long)count);
}

/* On one line, as JSON: what is in the note can't look like anything else. */
static void add_alarm(struct observing *o, struct json_object *alarm)
{
    if (!alarm || is_full(o))
        return;
    buf_printf(&o->text, "- alarm: %s\n",
               json_object_to_json_string_ext(alarm, JSON_C_TO_STRING_PLAIN |
                                                         JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* ---- a wake ---- */

static void merge_seen(struct observing *o, const struct vclock *counters)
{
    o->out->seen = vclock_merge(&o->out->seen, counters, o->arena);
}

static const char *heading(const struct wake_job *job)
{
    if (wake_in_conversation(job))
        return "alarm";
    if (wake_is_catchup(job))
        return job->reason_id.p; /* "sleep", "retry", "resume" */
    if (str_is(job->reason, "timer") || str_is(job->reason, "recoveryCatchup"))
        return str_is(job->reason, "timer") ? "timer" : "recoveryCatchup";
    return str_is(job->reason, "subscription") ? "subscription" : "manual";
}

static int add_job(struct observing *o, const struct wake_job *job, struct err *err)
{
    AUTO_JSON payload = NULL;
    struct vclock counters = claim_counters(job, o->arena);

    /* A timer and a person want something by themselves. */
    o->out->has_words |= !str_is(job->reason, "subscription") && !wake_is_catchup(job);
    if (!job->payload.n || json_parse(job->payload, &payload, err) < 0)
        return job->payload.n ? err_wrap(err, "wake %.*s", STR_ARG(job->run_key)) : 0;
    merge_seen(o, &counters);
    add_text(o, "words", json_str(json_find(payload, "words")));
    add_text(o, "prompt", json_str(json_find(payload, "prompt")));
    add_alarm(o, json_find(payload, "alarm"));
    add_missed(o, json_find(payload, "missed"));
    add_event(o, json_find(payload, "event"));
    add_files(o, json_find(payload, "files"));
    add_taint(o, arena_str(o->arena, json_str(json_find(payload, "taint"))));
    return add_records(o, payload, err);
}

static void read_scope(const char *allowed, struct arena *arena, struct journal_scope *ret_scope)
{
    AUTO_JSON list = NULL;
    struct str *ids;
    size_t n;

    *ret_scope = (struct journal_scope){ 0 };
    if (!allowed || json_parse(str_from(allowed), &list, NULL) < 0 ||
        !json_object_is_type(list, json_type_array))
        return;
    n = json_length(list);
    ids = ARENA_NEW_N(arena, struct str, n ? n : 1);
    for (size_t i = 0; i < n; i++) {
        ids[i] = arena_str(arena, json_str(json_object_array_get_idx(list, i)));
        ret_scope->all |= str_is(ids[i], "*");
    }
    ret_scope->categories = ids;
    ret_scope->n = n;
}

/* The end of a sleep has nothing of its own to tell, and its heading says what follows. */
static bool stands_for_earlier(const struct wake_job *jobs, size_t n)
{
    return n == 1 && strcmp(heading(&jobs[0]), "sleep") == 0;
}

static int write_all(struct observing *o, const struct wake_job *jobs, size_t n, size_t earlier,
                     struct err *err)
{
    size_t before = 0, after = 0;

    buf_printf(&o->text, "[wake: %.*s%s%.*s]\n%.*s\n", STR_ARG(jobs[0].reason),
               jobs[0].reason_id.n ? " " : "", STR_ARG(jobs[0].reason_id),
               STR_ARG(words(heading(&jobs[0]))));
    for (size_t i = 0; i < n; i++) {
        if (earlier && i == n - earlier && !stands_for_earlier(jobs, i)) {
            before = o->text.n;
            buf_printf(&o->text, "\n%.*s\n", STR_ARG(words("earlier")));
            after = o->text.n;
        }
        if (add_job(o, &jobs[i], err) < 0)
            return -1;
    }
    if (after && o->text.n == after) /* nothing of it is there any more: no heading either */
        o->text.p[o->text.n = before] = '\0';
    if (o->left_out)
        buf_printf(&o->text, "- and %zu more, which your tools find\n", o->left_out);
    buf_printf(&o->text, "\n%.*s", STR_ARG(words("end")));
    return 0;
}

int observe(struct journal *journal, const char *allowed, const struct wake_job *jobs, size_t n,
            size_t earlier, struct arena *arena, struct observed *ret_observed, struct err *err)
{
    struct observing o = { .journal = journal,
                           .arena = arena,
                           .out = ret_observed,
                           .text = BUF_INIT(LIMIT_JSON_BYTES),
                           .said = MAP_INIT };
    int r;

    *ret_observed = (struct observed){ 0 };
    read_scope(allowed, arena, &o.scope);
    r = write_all(&o, jobs, n, earlier, err);
    ret_observed->text = arena_str(arena, buf_str(&o.text));
    buf_release(&o.text);
    map_release(&o.said);
    return r;
}

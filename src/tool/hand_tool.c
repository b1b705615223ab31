/* Tools that are operations of the hand: bash, read_file, write_file, edit_file, search.
 *
 * The arguments go to the hand as they were received. When a person approved a change of a file,
 * where its path led and what stood there go along as expected_path and expected_version, so that
 * the hand compares and writes in one step: there is no time between. Of a file the version is
 * both: "HASH:PATH", or "absent:PATH". A call that a grant covers follows no link (without_links):
 * nobody was shown where one leads.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "tool/tool_int.h"

#define REPLY_MAX (16u << 20)
#define ABSENT    "absent" /* the version of what is not there */

/* ---- calls of the hand ---- */

static void on_reply(void *arg, const struct hand_reply *reply)
{
    struct hand_wait *wait = arg;
    struct tool_job *job = wait->job;
    void (*fn)(struct tool_job * job, const struct hand_reply *reply) = wait->reply;

    free(wait);
    if (!job)
        return;
    job->hand_wait = NULL;
    fn(job, reply);
}

int tool_job_ask_hand(struct tool_job *job, const char *operation, struct str arguments,
                      void (*fn)(struct tool_job *job, const struct hand_reply *reply),
                      struct err *err)
{
    struct hand_wait *wait;

    if (!job->hand)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "%s needs a hand, and this run has none",
                       job->binding->entry->contract->name);
    wait = NEW(struct hand_wait);
    *wait = (struct hand_wait){ .job = job, .reply = fn };
    if (hand_call(job->hand, operation, arguments, on_reply, wait, &wait->hand_job, err) < 0) {
        free(wait);
        return -1;
    }
    job->hand_wait = wait;
    return 0;
}

void job_forget_hand(struct tool_job *job)
{
    struct hand_wait *wait = job->hand_wait;

    if (!wait)
        return;
    wait->job = NULL;
    job->hand_wait = NULL;
    hand_cancel(wait->hand_job);
}

void job_cancel_hand(struct tool_job *job)
{
    hand_cancel(job->hand_wait->hand_job);
}

/* ---- acting ---- */

static void fail_from(struct tool_job *job, const struct hand_reply *reply)
{
    struct err err = reply->err;

    if (job->ending) {
        err_reset(&err);
        job_end_error(job, &err);
    }
    job_fail(job, &err);
}

/* A command that ran out of its own time has output all the same. */
static void note_timeout(struct tool_job *job, struct tool_result *result)
{
    AUTO_JSON value = NULL;
    struct err err = ERR_INIT;
    bool timed_out = false;

    if (!job->binding->builtin->tells_timeout || json_parse(result->output, &value, &err) < 0)
        return;
    json_get_bool(value, "timed_out", &timed_out, &err);
    if (timed_out)
        err_set(&result->err, ERR_TIMEOUT, "the command took longer than allowed and was ended");
}

/* May the hand write only to what a person knows of? */
static bool has_conditions(const struct tool_job *job)
{
    return job->binding->builtin->preview_operation && (job->version_known || job->call.granted);
}

static void on_acted(struct tool_job *job, const struct hand_reply *reply)
{
    struct tool_result result = { .err = ERR_INIT };

    if (reply->err.code == ERR_VERSION_CONFLICT && has_conditions(job)) {
        job_stale(job);
    } else if (reply->err.code != ERR_NONE) {
        fail_from(job, reply);
    } else if (!reply->result.n) {
        err_set(&result.err, ERR_PROVIDER_FAILED, "the hand answered with nothing");
        job_fail(job, &result.err);
    } else {
        result.output = reply->result;
        note_timeout(job, &result);
        tool_job_finish(job, &result);
    }
}

/* expected_path, and expected_version: the hash, or null for a file that must not be there. */
static void put_version(struct json_writer *w, struct str version)
{
    struct str path = version, hash = STR_NONE;

    str_split(&path, ':', &hash);
    json_put_str(w, "expected_path", path);
    json_write_key(w, "expected_version");
    if (str_is(hash, ABSENT))
        json_write_null(w);
    else
        json_write_str(w, hash);
}

/* The arguments with what must be so when the hand writes. */
static void add_conditions(const struct tool_job *job, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    struct json_object_iter it;

    json_write_object_begin(&w);
    json_object_object_foreachC(job->arguments, it)
    {
        json_put_value(&w, it.key, it.val);
    }
    if (job->call.granted) {
        json_put_bool(&w, "without_links", true);
    }
    if (job->version_known)
        put_version(&w, job->version);
    json_write_object_end(&w);
}

int hand_tool_start(struct tool_job *job, struct err *err)
{
    const struct tool_builtin *builtin = job->binding->builtin;
    AUTO_BUF arguments = BUF_INIT(REPLY_MAX);

    if (has_conditions(job)) {
        add_conditions(job, &arguments);
        if (arguments.full)
            return err_set(err, ERR_TOO_LARGE, "the arguments are too long");
        return tool_job_ask_hand(job, builtin->impl.name, buf_str(&arguments), on_acted, err);
    }
    return tool_job_ask_hand(job, builtin->impl.name,
                             job->call.arguments.n ? job->call.arguments : STR("{}"), on_acted,
                             err);
}

/* ---- what a change of a file would do ---- */

static bool is_hash(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!strchr("0123456789abcdef", text.p[i]))
            return false;
    return text.n == 2 * SHA256_BYTES;
}

/* Of the hand's reply, which is not trusted: where the path leads. */
static int read_path(struct json_object *value, struct str *ret_path, struct err *err)
{
    struct str path = json_str(json_find(value, "path"));

    if (!path.n || path.p[0] != '/' || path.n > LIMIT_PATH_BYTES || memchr(path.p, '\0', path.n))
        return err_set(err, ERR_PROVIDER_FAILED, "the hand did not say where the path leads");
    *ret_path = path;
    return 0;
}

/* The same for what stands there: a hash, or ABSENT for null. */
static int read_hash(struct json_object *value, struct str *ret_hash, struct err *err)
{
    struct json_object *version;

    if (!json_object_is_type(value, json_type_object) ||
        !json_object_object_get_ex(value, "target_version", &version))
        return err_set(err, ERR_PROVIDER_FAILED, "the hand did not say which version it compared");
    if (!version) {
        *ret_hash = STR(ABSENT);
        return 0;
    }
    *ret_hash = json_str(version);
    if (!is_hash(*ret_hash))
        return err_set(err, ERR_PROVIDER_FAILED, "the hand named a version that is no hash");
    return 0;
}

static struct str file_title(const struct tool_job *job, bool exists)
{
    struct str path = json_str(json_find(job->arguments, job->binding->entry->path_argument));
    struct arena *arena = tool_job_arena((struct tool_job *)job);

    return str_from(
        arena_printf(arena, "%s %s", exists ? "Change" : "Create", shown_word(path, 200, arena)));
}

/* Without a difference, all that would be written is shown; an edit that can't be shown is refused.
 */
static void show_change(struct tool_job *job, struct json_object *value, struct str path,
                        struct tool_preview *preview)
{
    struct str why = json_str(json_find(value, "diff_omitted"));
    struct str content = json_str(json_find(job->arguments, "content"));
    struct str asked = json_str(json_find(job->arguments, "path"));
    const char *plain = risk_target(&job->call, asked, &job->arena);

    tool_job_fact(job, "file", asked);
    tool_job_fact(job, "relative to", str_from(call_directory(&job->call)));
    if (!plain || !str_is(path, plain))
        tool_job_fact(job, "leads to", path);
    preview->text = json_str(json_find(value, "diff"));
    if (!why.n)
        return;
    if (!json_find(job->arguments, "content")) {
        err_set(&preview->err, ERR_TOO_LARGE,
                "the change can't be shown to a person (%.*s), so nobody could approve it",
                STR_ARG(str_take(why, 100)));
        return;
    }
    tool_job_fact(job, "no comparison", why);
    preview->kind = STR("text");
    preview->text = content;
}

static void on_previewed(struct tool_job *job, const struct hand_reply *reply)
{
    struct tool_preview preview = { .err = reply->err, .kind = STR("diff") };
    AUTO_BUF version = BUF_INIT(2 * LIMIT_PATH_BYTES);
    AUTO_JSON value = NULL;
    struct str hash = STR_NONE, path = STR_NONE;

    preview.title = file_title(job, true);
    if (job->ending) {
        fail_from(job, reply);
        return;
    }
    if (reply->err.code == ERR_NONE && json_parse(reply->result, &value, &preview.err) == 0 &&
        read_hash(value, &hash, &preview.err) == 0 && read_path(value, &path, &preview.err) == 0) {
        preview.title = file_title(job, !str_is(hash, ABSENT));
        show_change(job, value, path, &preview);
        buf_printf(&version, "%.*s:%.*s", STR_ARG(hash), STR_ARG(path));
    }
    tool_job_shown(job, &preview, version.n ? buf_str(&version) : STR("?"));
}

int hand_tool_preview(struct tool_job *job, struct err *err)
{
    return tool_job_ask_hand(job, job->binding->builtin->preview_operation,
                             job->call.arguments.n ? job->call.arguments : STR("{}"), on_previewed,
                             err);
}

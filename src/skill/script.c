/* run_skill_script: a script of a skill, shown whole before it runs, run only in the sandbox.
 *
 * What a person says yes to is the script together with all files of the skill (it may read or call
 * them): the hash of both. A yes that lasts is a grant like any other, bound to that hash, to the
 * arguments, to the directory and to the walls.
 *
 * To run, the files of the skill are written into the private /tmp of the run's hand, in pieces
 * that fit into a command, and the script is started there from the working directory of the run.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/utf8.h"
#include "sandbox/hand.h"
#include "skill/skill_int.h"

#define SCRIPT_MAX  (48u << 10) /* bytes; a preview shows no more */
#define FILES_MAX   (2u << 20)  /* bytes of a skill that is copied */
#define COMMAND_MAX (96u << 10) /* bytes of one command: the system takes 128 KiB */
#define TIMEOUT_S   30

struct script {
    struct archive_entry *entries;
    size_t count;
    const struct archive_entry *entry;
    struct str skill;            /* its name */
    char hash[SHA256_TEXT_SIZE]; /* of the skill and which script of it */
};

/* ---- finding ---- */

static int choose(struct script *script, struct str wanted, struct err *err)
{
    AUTO_BUF names = BUF_INIT(1000);
    bool whole = false;

    for (size_t i = 0; i < script->count; i++) {
        struct str path = script->entries[i].path;

        if (!str_starts(path, STR("scripts/")))
            continue;
        if (str_eq(path, wanted) ||
            (!whole && str_eq(str_skip(path, sizeof("scripts/") - 1), wanted)))
            script->entry = &script->entries[i];
        whole |= str_eq(path, wanted);
        buf_printf(&names, "%s%.*s", names.n ? ", " : "", STR_ARG(path));
    }
    if (script->entry)
        return 0;
    return err_set(err, ERR_NOT_FOUND, "skill %.*s has no script \"%.*s\"; it has: %s",
                   STR_ARG(script->skill), STR_ARG(str_take(wanted, 200)),
                   names.n ? buf_text(&names) : "none");
}

/* Where the text would be shown as another than it is: marks that turn it around, and control
 * characters, which a terminal obeys. A carriage return is fine at the end of a line. */
static bool find_deceit(struct str text, size_t *ret_at, uint32_t *ret_code)
{
    struct str rest = text;

    while (rest.n) {
        enum utf8_oddity odd;

        *ret_at = text.n - rest.n;
        if (utf8_decode(&rest, ret_code) < 0)
            return true;
        odd = utf8_oddity_of(*ret_code);
        if (odd == UTF8_BIDI)
            return true;
        if (odd != UTF8_CONTROL || *ret_code == '\n' || *ret_code == '\t' || *ret_code == '\f' ||
            (*ret_code == '\r' && rest.n && rest.p[0] == '\n'))
            continue;
        return true;
    }
    return false;
}

static unsigned line_of(struct str text, size_t at)
{
    unsigned line = 1;

    for (size_t i = 0; i < at; i++)
        line += text.p[i] == '\n';
    return line;
}

static int check_content(const struct script *script, struct err *err)
{
    struct str text = script->entry->content;
    size_t total = 0, at;
    uint32_t code;

    if (text.n > SCRIPT_MAX)
        return err_set(err, ERR_TOO_LARGE, "%.*s has %zu bytes; more than %u can't be shown whole",
                       STR_ARG(script->entry->path), text.n, SCRIPT_MAX);
    if (!utf8_valid(text) || str_find_char(text, '\0') >= 0)
        return err_set(err, ERR_UNSAFE_TARGET, "%.*s is not text, so it can't be shown",
                       STR_ARG(script->entry->path));
    if (find_deceit(text, &at, &code))
        return err_set(err, ERR_UNSAFE_TARGET,
                       "%.*s:%u: U+%04X makes it look like another text than is run",
                       STR_ARG(script->entry->path), line_of(text, at), code);
    for (size_t i = 0; i < script->count; i++)
        total += script->entries[i].content.n;
    if (total > FILES_MAX)
        return err_set(err, ERR_TOO_LARGE, "the skill has %zu bytes; at most %u are copied to run",
                       total, FILES_MAX);
    return 0;
}

static void take_hash(struct script *script)
{
    char files[SHA256_TEXT_SIZE];
    AUTO_BUF text = BUF_INIT(8192);

    skills_hash(script->entries, script->count, files);
    buf_printf(&text, "%s  %.*s\n", files, STR_ARG(script->entry->path));
    sha256_text(buf_str(&text), script->hash);
}

static int find(struct skills *skills, const struct agent *agent, struct json_object *arguments,
                struct arena *arena, struct script *ret_script, struct err *err)
{
    struct script script = { .entry = NULL };
    struct str name = json_str(json_find(arguments, "skill"));
    struct skill skill;
    int r = skills_get(skills, agent, name, arena, &skill, err);

    if (r < 0)
        return -1;
    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no skill \"%.*s\"", STR_ARG(name));
    if (!skill.enabled)
        return err_set(err, ERR_CAPABILITY_DENIED, "the skill %.*s is switched off",
                       STR_ARG(skill.name));
    script.skill = skill.name;
    if (skills_files(skills, agent, name, arena, &script.entries, &script.count, err) < 0 ||
        choose(&script, json_str(json_find(arguments, "script")), err) < 0 ||
        check_content(&script, err) < 0)
        return -1;
    take_hash(&script);
    *ret_script = script;
    return 0;
}

static int script_check(void *arg, const struct tool_call *call, struct json_object *arguments,
                        struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct json_object *list = json_find(arguments, "arguments");
    struct script script;
    uint32_t code;
    size_t at;

    for (size_t i = 0; i < json_length(list); i++) {
        struct str text = json_str(json_object_array_get_idx(list, i));

        if (find_deceit(text, &at, &code))
            return err_set(err, ERR_SCHEMA_VIOLATION,
                           "/arguments/%zu: must not hold U+%04X, which changes how it is shown", i,
                           code);
    }
    return find(arg, call->agent, arguments, &arena, &script, err);
}

static int script_files(void *arg, const struct tool_call *call, struct json_object *arguments,
                        char ret_hash[SHA256_TEXT_SIZE])
{
    AUTO_ARENA arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct script script;

    if (find(arg, call->agent, arguments, &arena, &script, &err) < 0)
        return -1;
    memcpy(ret_hash, script.hash, SHA256_TEXT_SIZE);
    return 0;
}

/* ---- words for a shell ---- */

static void add_quoted(struct buf *out, struct str text)
{
    buf_add_char(out, '\'');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\'')
            buf_add_text(out, "'\\''");
        else
            buf_add_char(out, text.p[i]);
    }
    buf_add_char(out, '\'');
}

static void add_arguments(struct buf *out, struct json_object *arguments)
{
    struct json_object *list = json_find(arguments, "arguments");

    for (size_t i = 0; i < json_length(list); i++) {
        buf_add_char(out, ' ');
        add_quoted(out, json_str(json_object_array_get_idx(list, i)));
    }
}

/* ---- what a person sees ---- */

static struct str make_details(const struct script *script, struct json_object *arguments,
                               struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(1u << 20);
    struct json_writer w = JSON_WRITER(&out);
    struct json_object *list = json_find(arguments, "arguments");

    json_write_object_begin(&w);
    json_put_str(&w, "skill", script->skill);
    json_put_str(&w, "script", script->entry->path);
    json_write_key(&w, "arguments");
    if (list)
        json_write_value(&w, list);
    else
        json_write_raw(&w, STR("[]"));
    json_put_str(&w, "content", script->entry->content);
    json_put_text(&w, "hash", script->hash);
    json_write_object_end(&w);
    return arena_str(arena, buf_str(&out));
}

/* What it is called with, where it runs, and which files of the skill lie beside it. */
static void show_facts(struct tool_job *job, const struct script *script,
                       struct json_object *arguments)
{
    struct json_object *list = json_find(arguments, "arguments");
    struct arena *arena = tool_job_arena(job);

    tool_job_fact(job, "script", script->entry->path);
    for (size_t i = 0; i < json_length(list); i++) {
        struct str text = json_str(json_object_array_get_idx(list, i));

        tool_job_fact(job, arena_printf(arena, "argument %zu", i + 1),
                      text.n ? text : STR("(empty)"));
    }
    tool_job_place(job);
    for (size_t i = 0; i < script->count; i++)
        if (&script->entries[i] != script->entry)
            tool_job_fact(
                job, "beside it",
                str_from(arena_printf(arena, "%.*s, %zu bytes", STR_ARG(script->entries[i].path),
                                      script->entries[i].content.n)));
}

static int script_preview(struct tool_job *job, struct err *err)
{
    struct json_object *arguments = tool_job_arguments(job);
    struct arena *arena = tool_job_arena(job);
    struct tool_preview preview = { .err = ERR_INIT, .kind = STR("text") };
    struct script script;

    if (find(tool_job_impl_arg(job), tool_job_call(job)->agent, arguments, arena, &script, err) < 0)
        return -1;
    show_facts(job, &script, arguments);
    preview.title = str_from(arena_printf(arena, "Run %.*s of the skill %.*s",
                                          STR_ARG(script.entry->path), STR_ARG(script.skill)));
    preview.text = script.entry->content;
    preview.details = make_details(&script, arguments, arena);
    tool_job_shown(job, &preview, str_from(script.hash));
    return 0;
}

/* ---- running ---- */

/* The commands of one run, in order: those that copy, then the one that runs. In the job's arena.
 */
struct running {
    struct arena *arena;
    struct str *commands;
    size_t count, at;
};

struct copying {
    struct running *running;
    size_t room;
    const char *dir;
    struct buf command;
};

static void add_command(struct running *running, size_t *room, struct str command)
{
    if (running->count == *room) {
        struct str *more = ARENA_NEW_N(running->arena, struct str, *room ? 2 * *room : 16);

        if (running->count)
            memcpy(more, running->commands, running->count * sizeof(*more));
        running->commands = more;
        *room = *room ? 2 * *room : 16;
    }
    running->commands[running->count++] = arena_str(running->arena, command);
}

static void flush(struct copying *copying)
{
    if (copying->command.n)
        add_command(copying->running, &copying->room, buf_str(&copying->command));
    buf_clear(&copying->command);
}

/* Appends a piece of a file; base64 has nothing that a shell reads. */
static void copy_piece(struct copying *copying, struct str path, struct str piece, bool first)
{
    size_t size = 4 * ((piece.n + 2) / 3);
    char *text = arena_alloc(copying->running->arena, size + 1, 1);
    AUTO_BUF target = BUF_INIT(4096);

    EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)(piece.p ? piece.p : ""),
                    (int)piece.n);
    buf_printf(&target, "%s/%.*s", copying->dir, STR_ARG(path));
    if (copying->command.n + size + 2 * target.n + 200 > COMMAND_MAX)
        flush(copying);
    if (!copying->command.n)
        buf_add_text(&copying->command, "set -e; umask 077\n");
    if (first) {
        buf_add_text(&copying->command, "mkdir -p -- \"$(dirname -- ");
        add_quoted(&copying->command, buf_str(&target));
        buf_add_text(&copying->command, ")\"\n");
    }
    buf_printf(&copying->command, "printf %%s '%s' | base64 -d %s ", text, first ? ">" : ">>");
    add_quoted(&copying->command, buf_str(&target));
    buf_add_char(&copying->command, '\n');
}

static void copy_file(struct copying *copying, const struct archive_entry *entry)
{
    struct str rest = entry->content;
    bool first = true;

    do {
        struct str piece = str_take(rest, 60000); /* a multiple of three */

        copy_piece(copying, entry->path, piece, first);
        rest = str_skip(rest, piece.n);
        first = false;
    } while (rest.n);
}

/* A script without an interpreter of its own is told by its ending. */
static const char *interpreter(const struct archive_entry *entry)
{
    static const struct {
        struct str ending;
        const char *program;
    } known[] = {
        { { ".py", 3 }, "python3 " },
        { { ".js", 3 }, "node " },
        { { ".mjs", 4 }, "node " },
        { { ".bash", 5 }, "bash " },
    };

    if (str_starts(entry->content, STR("#!")))
        return "";
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_ends(entry->path, known[i].ending))
            return known[i].program;
    return "sh ";
}

static void build(struct running *running, const struct script *script,
                  struct json_object *arguments, struct str operation_id)
{
    struct copying copying = { .running = running, .command = BUF_INIT(COMMAND_MAX + 8192) };
    AUTO_BUF last = BUF_INIT(1u << 20);
    AUTO_BUF target = BUF_INIT(4096);

    copying.dir =
        arena_printf(running->arena, "/tmp/skill-%.*s", STR_ARG(str_take(operation_id, 16)));
    for (size_t i = 0; i < script->count; i++)
        copy_file(&copying, &script->entries[i]);
    flush(&copying);
    buf_release(&copying.command);
    buf_printf(&target, "%s/%.*s", copying.dir, STR_ARG(script->entry->path));
    buf_printf(&last, "trap 'rm -rf -- %s' EXIT; chmod u+x -- ", copying.dir);
    add_quoted(&last, buf_str(&target));
    buf_printf(&last, "\nexport SKILL_DIR='%s'\n%s", copying.dir, interpreter(script->entry));
    add_quoted(&last, buf_str(&target));
    add_arguments(&last, arguments);
    add_command(running, &copying.room, buf_str(&last));
}

static void finish(struct tool_job *job, const struct hand_reply *reply)
{
    struct tool_result result = { .err = reply->err, .output = reply->result };
    AUTO_JSON value = NULL;
    struct err ignored = ERR_INIT;
    bool timed_out = false;

    if (reply->err.code == ERR_NONE && json_parse(reply->result, &value, &ignored) == 0)
        json_get_bool(value, "timed_out", &timed_out, &ignored);
    if (timed_out)
        err_set(&result.err, ERR_TIMEOUT, "the script took longer than allowed and was ended");
    tool_job_finish(job, &result);
}

static bool went_well(const struct hand_reply *reply, struct err *ret_err)
{
    AUTO_JSON value = NULL;
    int64_t code = -1;

    if (reply->err.code != ERR_NONE) {
        *ret_err = reply->err;
        return false;
    }
    if (json_parse(reply->result, &value, ret_err) < 0)
        return false;
    json_get_i64(value, "exit_code", &code, NULL);
    if (code == 0)
        return true;
    err_set(ret_err, ERR_PROVIDER_FAILED, "the skill's files could not be copied into the sandbox");
    return false;
}

static int next_command(struct tool_job *job, struct err *err);

static void on_reply(struct tool_job *job, const struct hand_reply *reply)
{
    const struct running *running = tool_job_data(job);
    struct hand_reply failed = { .err = ERR_INIT };

    if (running->at == running->count)
        finish(job, reply);
    else if (!went_well(reply, &failed.err) || next_command(job, &failed.err) < 0)
        finish(job, &failed);
}

static int next_command(struct tool_job *job, struct err *err)
{
    struct running *running = tool_job_data(job);
    AUTO_BUF out = BUF_INIT(2u << 20);
    struct json_writer w = JSON_WRITER(&out);
    bool last = running->at + 1 == running->count;
    int64_t timeout = TIMEOUT_S;

    json_get_i64(tool_job_arguments(job), "timeout_s", &timeout, NULL);
    json_write_object_begin(&w);
    json_put_str(&w, "command", running->commands[running->at++]);
    json_put_i64(&w, "timeout_s", last ? timeout : TIMEOUT_S);
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the arguments of the script are too long");
    return tool_job_ask_hand(job, "bash", buf_str(&out), on_reply, err);
}

static int script_start(struct tool_job *job, struct err *err)
{
    struct json_object *arguments = tool_job_arguments(job);
    struct arena *arena = tool_job_arena(job);
    struct running *running = ARENA_NEW(arena, struct running);
    struct script script;

    if (find(tool_job_impl_arg(job), tool_job_call(job)->agent, arguments, arena, &script, err) < 0)
        return -1;
    running->arena = arena;
    build(running, &script, arguments, tool_job_operation_id(job));
    tool_job_set_data(job, running);
    return next_command(job, err);
}

const struct tool_impl script_tool = {
    .name = "run_skill_script",
    .check = script_check,
    .files = script_files,
    .start = script_start,
    .preview = script_preview,
    .uses_hand = true,
};

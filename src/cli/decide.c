/* A person's word on an inbox item, and the editor for arguments.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/decide.h"

#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"

/* ---- sending ---- */

void decide_add_segment(struct buf *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
                     (*p >= 'A' && *p <= 'Z') || *p == '-' || *p == '_' || *p == '.' || *p == ':';

        if (plain)
            buf_add_char(out, *p);
        else
            buf_printf(out, "%%%02X", (unsigned char)*p);
    }
}

int decide_get_item(struct talk *talk, struct str id, struct json_object **ret_item,
                    struct err *err)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_TEXT copy = alloc_copy(id.p, id.n);

    buf_add_text(&path, "/api/v1/inbox/");
    decide_add_segment(&path, copy);
    if (path.full)
        return err_set(err, ERR_BAD_REQUEST, "the id is too long");
    return talk_ask(talk, "GET", buf_text(&path), STR_NONE, ret_item, err);
}

/* The word that was typed for it. */
static const char *decide_word(const struct decide *decide)
{
    static const char *const words[][2] = { { "approve", "yes" }, { "reject", "no" } };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(decide->decision, words[i][0]) == 0)
            return words[i][1];
    return decide->decision;
}

/* Which decision counts: one that was not answered may have been taken, and then the next comes too
 * late. */
static int decide_say_what_counts(struct talk *talk, const char *id, const struct decide *decide,
                                  struct err *err)
{
    AUTO_JSON item = NULL;
    struct err unknown = ERR_INIT;
    struct str state;

    if (err->code == ERR_TIMEOUT || err->code == ERR_PROVIDER_FAILED)
        return err_wrap(err, "your %s may have arrived", decide_word(decide));
    if (err->code != ERR_CONFLICT || decide_get_item(talk, str_from(id), &item, &unknown) < 0)
        return -1;
    state = json_str(json_find(item, "state"));
    if (!state.n || str_is(state, "pending"))
        return -1;
    err_reset(err);
    return err_set(err, ERR_CONFLICT, "it was %.*s before: your %s came too late", STR_ARG(state),
                   decide_word(decide));
}

int decide_send(struct talk *talk, const char *id, const struct decide *decide,
                struct json_object **ret_answer, struct err *err)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_BUF body = BUF_INIT(LIMIT_HTTP_BODY_BYTES);
    struct json_writer w = JSON_WRITER(&body);

    buf_add_text(&path, "/api/v1/inbox/");
    decide_add_segment(&path, id);
    if (buf_add_text(&path, "/decision") < 0)
        return err_set(err, ERR_BAD_REQUEST, "the id is too long");
    json_write_object_begin(&w);
    json_put_given(&w, "decision", decide->decision);
    json_put_given(&w, "scope", decide->scope);
    json_put_given(&w, "reason", decide->reason);
    json_put_given(&w, "answer", decide->answer);
    if (decide->anyway)
        json_put_bool(&w, "anyway", true);
    if (decide->input) {
        json_put_value(&w, "input", decide->input);
    }
    if (decide->content) {
        json_put_str(&w, "edited_content", buf_str(decide->content));
    }
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the decision is too long");
    if (talk_ask(talk, "POST", buf_text(&path), buf_str(&body), ret_answer, err) < 0)
        return decide_say_what_counts(talk, id, decide, err);
    return 0;
}

/* ---- editing ---- */

static const char *editor(void)
{
    const char *const names[] = { "VISUAL", "EDITOR" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return value;
    }
    return "vi";
}

/* The editor has the terminal: Ctrl-C is its own business while it runs. */
static int run_editor(const char *file, struct err *err)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    AUTO_BUF command = BUF_INIT(4 * KIB);
    int status = 0;
    pid_t pid;

    buf_printf(&command, "exec %s \"$1\"", editor());
    sigaction(SIGINT, &ignore, &before);
    pid = fork();
    if (pid == 0) {
        struct sigaction plain = { .sa_handler = SIG_DFL };

        sigaction(SIGINT, &plain, NULL);
        execl("/bin/sh", "sh", "-c", buf_text(&command), "sh", file, (char *)NULL);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    sigaction(SIGINT, &before, NULL);
    if (pid < 0)
        return err_set(err, ERR_INTERNAL, "fork: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return err_set(err, ERR_CANCELLED,
                       "the editor (%s) ended without success; nothing was decided", editor());
    return 0;
}

/* A file of its own in TMPDIR with this text, in path. */
static int write_file(struct str text, const char *ending, char path[LIMIT_PATH_BYTES],
                      struct err *err)
{
    const char *dir = getenv("TMPDIR");
    int fd;

    if (snprintf(path, LIMIT_PATH_BYTES, "%s/dormouse-XXXXXX%s", dir && *dir ? dir : "/tmp",
                 ending) >= LIMIT_PATH_BYTES)
        return err_set(err, ERR_BAD_REQUEST, "TMPDIR is too long");
    fd = mkstemps(path, (int)strlen(ending));
    if (fd < 0)
        return err_set(err, ERR_STORAGE_FAILED, "%s: %s", path, strerror(errno));
    if (file_write_all(fd, text) < 0) {
        err_set(err, ERR_STORAGE_FAILED, "write %s: %s", path, strerror(errno));
        close(fd);
        unlink(path);
        return -1;
    }
    close(fd);
    return 0;
}

static int edit_file(struct str text, const char *ending, struct buf *ret_text, struct err *err)
{
    char path[LIMIT_PATH_BYTES];
    int r;

    if (write_file(text, ending, path, err) < 0)
        return -1;
    r = run_editor(path, err);
    if (r == 0)
        r = file_read(path, ret_text, err);
    unlink(path);
    return r;
}

int decide_edit(struct json_object *input, struct json_object **ret_input, struct err *err)
{
    AUTO_BUF before = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_JSON value = NULL;

    buf_add_text(&before, json_object_to_json_string_ext(
                              input, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                         JSON_C_TO_STRING_NOSLASHESCAPE));
    buf_add_char(&before, '\n');
    if (edit_file(buf_str(&before), ".json", &text, err) < 0)
        return -1;
    if (json_parse(buf_str(&text), &value, err) < 0)
        return err_wrap(err, "what you wrote is not JSON");
    if (!json_object_is_type(value, json_type_object))
        return err_set(err, ERR_BAD_REQUEST, "the arguments must be a JSON object");
    if (json_equal(value, input))
        return 0;
    *ret_input = TAKE(value);
    return 1;
}

int decide_edit_item(struct json_object *item, struct decide_edited *edited, struct err *err)
{
    if (str_is(json_str(json_find(item, "kind")), "memory")) {
        edited->is_text = true;
        return decide_edit_text(json_str(json_find(json_find(item, "details"), "proposed_content")),
                                &edited->content, err);
    }
    if (!json_find(item, "input"))
        return err_set(err, ERR_BAD_REQUEST, "this item has no arguments to edit");
    return decide_edit(json_find(item, "input"), &edited->input, err);
}

void decide_edited_release(struct decide_edited *edited)
{
    json_object_put(edited->input);
    buf_release(&edited->content);
}

int decide_edit_text(struct str text, struct buf *ret_text, struct err *err)
{
    if (edit_file(text, ".md", ret_text, err) < 0)
        return -1;
    return !str_eq(buf_str(ret_text), text);
}

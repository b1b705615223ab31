/* A hand on a real loop.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "loop/child.h"
#include "loop/loop_int.h"
#include "sandbox/hand_int.h"

#define PATIENCE_MS 30000

struct patience {
    struct loop_timer timer; /* first */
    struct rig *rig;
    bool over;
};

static const char *const deny[] = { "~/.ssh", "~/.aws", ".env", NULL };
static const char *const writable[] = { ".", NULL };

static const char *make_dir(struct test *t, const char *path)
{
    const char *full = test_path(t, path);

    if (mkdir(full, 0755) < 0 && errno != EEXIST)
        FAIL("mkdir %s", full);
    return full;
}

static void plant(struct test *t, const char *path, const char *text)
{
    test_write_file(test_path(t, path), text, strlen(text));
}

void rig_init(struct rig *rig, struct test *t)
{
    struct err err = ERR_INIT;

    if (sandbox_available(&err) < 0)
        SKIP("%s", err_message(&err, 0));
    memset(rig, 0, sizeof(*rig));
    rig->t = t;
    child_set_launcher(LAUNCHER_PATH);
    hand_set_path(HAND_PATH);
    ASSERT_OK(loop_new(NULL, &rig->loop, &t->err));
    rig->home = make_dir(t, "home");
    make_dir(t, "home/.ssh");
    plant(t, "home/.ssh/id_ed25519", "canary-ssh-key");
    rig->project = make_dir(t, "home/project");
    plant(t, "home/project/.env", "canary-env");
    plant(t, "home/project/readme", "hello from the project\n");
    plant(t, "home/notes", "notes outside the project\n");
    rig->data = make_dir(t, "home/data");
    plant(t, "home/data/token", "canary-token");
    rig->spec = (struct sandbox_spec){ .cwd = rig->project,
                                       .allow_write = writable,
                                       .deny_read = deny,
                                       .data_dir = rig->data,
                                       .home = rig->home,
                                       .time_limit_ms = 20000 };
}

static void on_notice(void *arg, const struct hand_notice *notice)
{
    struct rig *rig = arg;

    if (rig->notice_count < RIG_NOTICES)
        rig->notices[rig->notice_count++] =
            arena_printf(&rig->t->arena, "%s: %.*s", notice->kind, STR_ARG(notice->detail));
}

void rig_start(struct rig *rig)
{
    rig->hand = hand_new(&(struct hand_config){
        .loop = rig->loop, .spec = rig->spec, .on_notice = on_notice, .arg = rig });
}

static void lose_patience(struct loop_timer *timer)
{
    struct patience *patience = (struct patience *)timer;

    patience->over = true;
    loop_stop(patience->rig->loop);
}

void rig_run_until(struct rig *rig, const bool *flag)
{
    struct patience patience = { .timer = { .fire = lose_patience }, .rig = rig };

    loop_timer_start(rig->loop, &patience.timer, PATIENCE_MS);
    while (!*flag && !patience.over)
        if (loop_run(rig->loop, &rig->t->err) < 0)
            FAIL("loop: %s", test_err_text(rig->t));
    loop_timer_stop(rig->loop, &patience.timer);
    if (!*flag)
        FAIL("nothing came within %d ms", PATIENCE_MS);
}

/* ---- the child of a hand that was freed is collected by the loop ---- */

struct collecting {
    struct loop_timer timer; /* first */
    struct loop *loop;
};

static void look_again(struct loop_timer *timer)
{
    struct collecting *wait = (struct collecting *)timer;

    if (wait->loop->children > 0)
        loop_timer_start(wait->loop, timer, 2);
    else
        loop_stop(wait->loop);
}

void rig_end_hand(struct rig *rig)
{
    struct collecting wait = { .timer = { .fire = look_again }, .loop = rig->loop };

    hand_free(rig->hand);
    rig->hand = NULL;
    while (rig->loop->children > 0) {
        loop_timer_start(rig->loop, &wait.timer, 0);
        loop_run(rig->loop, NULL);
        loop_timer_stop(rig->loop, &wait.timer);
    }
}

void rig_end(struct rig *rig)
{
    rig_end_hand(rig);
    json_object_put(rig->doc);
    loop_free(rig->loop);
}

static void on_done(void *arg, const struct hand_reply *reply)
{
    struct rig *rig = arg;

    rig->answered = true;
    rig->err = reply->err;
    rig->text = arena_copy(&rig->t->arena, reply->result.p ? reply->result.p : "", reply->result.n);
    json_object_put(rig->doc);
    rig->doc = NULL;
    if (reply->result.n > 0 && json_parse(reply->result, &rig->doc, &rig->t->err) < 0)
        FAIL("result: %s", test_err_text(rig->t));
    loop_stop(rig->loop);
}

void rig_call(struct rig *rig, const char *operation, const char *arguments)
{
    struct test *t = rig->t;

    if (!rig->hand)
        rig_start(rig);
    rig->answered = false;
    ASSERT_OK(hand_call(rig->hand, operation, str_from(arguments), on_done, rig, NULL, &t->err));
    rig_run_until(rig, &rig->answered);
}

const char *rig_text(const struct rig *rig, const char *key)
{
    struct str s = json_str(json_find(rig->doc, key));

    return arena_copy(&rig->t->arena, s.p ? s.p : "", s.n);
}

int rig_exit(const struct rig *rig)
{
    int64_t code = -1;

    json_get_i64(rig->doc, "exit_code", &code, NULL);
    return (int)code;
}

const char *rig_bash(struct rig *rig, const char *command)
{
    AUTO_BUF text = BUF_INIT(1 * MIB);
    struct json_writer w = JSON_WRITER(&text);

    json_write_object_begin(&w);
    json_put_text(&w, "command", command);
    json_put_bool(&w, "merge", true);
    json_write_object_end(&w);
    rig_call(rig, "bash", buf_text(&text));
    if (rig->err.code != ERR_NONE)
        FAIL("%s: %s: %s", command, err_name(rig->err.code), err_message(&rig->err, 0));
    return rig_text(rig, "output");
}

void rig_outside(struct rig *rig, const char *command)
{
    struct test *t = rig->t;
    const char *whole = arena_printf(&t->arena,
                                     "cd '%s' && export HOME='%s' GIT_CONFIG_NOSYSTEM=1 && (%s) "
                                     ">/dev/null 2>&1",
                                     rig->project, rig->home, command);

    if (system(whole) != 0) /* NOLINT(cert-env33-c): a test's own words */
        FAIL("%s", command);
}

bool rig_is_there(struct rig *rig, const char *name)
{
    struct stat st;

    return lstat(arena_printf(&rig->t->arena, "%s/%s", rig->project, name), &st) == 0;
}

bool rig_noticed(const struct rig *rig, const char *part)
{
    for (size_t i = 0; i < rig->notice_count; i++)
        if (strstr(rig->notices[i], part))
            return true;
    return false;
}

/* Wherever it was built (in /tmp, which commands have their own of; in root's home, where they have
 * nothing to look for), it is copied to where they work. */
const char *rig_probe(struct rig *rig)
{
    struct test *t = rig->t;
    AUTO_BUF program = BUF_INIT(256 * MIB);
    const char *path = arena_printf(&t->arena, "%s/sandbox-probe", rig->project);

    if (access(path, X_OK) < 0) {
        ASSERT_OK(file_read(SANDBOX_PROBE_PATH, &program, &t->err));
        ASSERT_OK(file_write_atomic(path, buf_str(&program), 0755, &t->err));
    }
    return path;
}

/* An edit that an agent asks for: checked, set against what is there, and applied once a person (or
 * a setting of theirs) said yes.
 *
 * Everything is checked again when it is applied: time has passed, and the person may have written
 * another text.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory/edit.h"

#include "base/diff.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "change/taint.h"

#define REASON_MAX (4 * KIB)
#define DIFF_MAX   (448 * KIB) /* all of it is shown; longer ones are refused */

static const char *const operations[] = {
    [MEMORY_WRITE] = "write",
    [MEMORY_APPEND] = "append",
    [MEMORY_DELETE] = "delete",
};

const char *memory_operation_name(enum memory_operation operation)
{
    return operations[operation];
}

int memory_operation_of(struct str name, enum memory_operation *ret_operation, struct err *err)
{
    if (!name.n)
        name = str_from(operations[MEMORY_WRITE]);
    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        if (str_is(name, operations[i])) {
            *ret_operation = (enum memory_operation)i;
            return 0;
        }
    }
    return err_set(err, ERR_BAD_REQUEST, "operation must be write, append or delete, not \"%.*s\"",
                   STR_ARG(str_take(name, 40)));
}

/* ---- checks ---- */

/* Tabs and line ends are text; other control characters have no business in a note: a terminal may
 * obey them, U+009B as much as escape. */
static int check_text(const char *what, struct str text, struct err *err)
{
    struct str rest = text;

    if (!utf8_valid(text))
        return err_set(err, ERR_SCHEMA_VIOLATION, "%s: it is not valid UTF-8, from byte %zu on",
                       what, utf8_valid_prefix(text));
    while (rest.n) {
        size_t at = text.n - rest.n;
        uint32_t code = 0;

        utf8_decode(&rest, &code);
        if ((code < ' ' && code != '\t' && code != '\n' && code != '\r') ||
            (code >= 0x7F && code < 0xA0))
            return err_set(err, ERR_SCHEMA_VIOLATION,
                           "%s: there is a control character (0x%02X) at byte %zu", what,
                           (unsigned)code, at);
    }
    return 0;
}

/* A person reads the reason before they decide: nothing in it may change what they see. */
static int check_reason(struct str reason, struct err *err)
{
    enum utf8_oddity odd;
    uint32_t code;
    size_t at;

    odd = utf8_find_odd(reason, 1u << UTF8_BIDI, &at, &code);
    if (odd != UTF8_PLAIN)
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "reason: there is a %s (U+%04X) at byte %zu, which changes how it reads",
                       utf8_oddity_name(odd), (unsigned)code, at);
    return 0;
}

static int too_large(const struct memory_edit *edit, size_t bytes, const char *how, struct err *err)
{
    return err_set(
        err, ERR_TOO_LARGE,
        "file %.*s would have %zu bytes%s; at most %d are allowed. Split it, or keep less",
        STR_ARG(edit->path), bytes, how, LIMIT_MEMORY_FILE_BYTES);
}

int memory_edit_check(const struct memory_edit *edit, struct arena *arena, struct err *err)
{
    struct str store_path;

    if (memory_path(edit->path, true, arena, &store_path, err) < 0)
        return -1;
    if (edit->reason.n > REASON_MAX)
        return err_set(err, ERR_TOO_LARGE, "the reason has %zu bytes; at most %d are allowed",
                       edit->reason.n, REASON_MAX);
    if (check_text("reason", edit->reason, err) < 0 || check_reason(edit->reason, err) < 0)
        return -1;
    if (edit->operation == MEMORY_DELETE)
        return edit->content.n ? err_set(err, ERR_SCHEMA_VIOLATION,
                                         "content: a deletion has none; use write to replace")
                               : 0;
    if (!edit->content.p || (edit->operation == MEMORY_APPEND && !edit->content.n))
        return err_set(err, ERR_SCHEMA_VIOLATION, "content: %s needs some",
                       memory_operation_name(edit->operation));
    if (edit->content.n > LIMIT_MEMORY_FILE_BYTES)
        return too_large(edit, edit->content.n, "", err);
    return check_text("content", edit->content, err);
}

/* ---- against what is there ---- */

static struct str author_of(const struct agent *agent, struct arena *arena)
{
    return str_from(arena_printf(arena, "agent:%s", agent->id));
}

static int make_proposed(const struct memory_edit *edit, struct arena *arena,
                         struct memory_proposal *p, struct err *err)
{
    bool gap = p->current.n && p->current.p[p->current.n - 1] != '\n';
    size_t n = p->current.n + gap + edit->content.n;
    char *text;

    if (edit->operation == MEMORY_DELETE && !p->exists)
        return err_set(err, ERR_NOT_FOUND, "there is no file %.*s to delete", STR_ARG(edit->path));
    if (edit->operation == MEMORY_DELETE) {
        p->proposed = STR("");
        return 0;
    }
    if (edit->operation == MEMORY_WRITE) {
        p->proposed = edit->content;
        return 0;
    }
    if (n > LIMIT_MEMORY_FILE_BYTES)
        return too_large(edit, n, " with what is there", err);
    text = arena_alloc(arena, n + 1, 1);
    memcpy(text, p->current.p ? p->current.p : "", p->current.n);
    if (gap)
        text[p->current.n] = '\n';
    memcpy(text + p->current.n + gap, edit->content.p, edit->content.n);
    p->proposed = str_of(text, n);
    return 0;
}

static int make_diff(const struct memory_edit *edit, struct arena *arena, struct memory_proposal *p,
                     struct err *err)
{
    AUTO_BUF out = BUF_INIT(DIFF_MAX);
    AUTO_DIFF diff = DIFF_INIT;
    const char *name = arena_str(arena, p->path).p;

    if (diff_make(p->current, p->proposed, &diff, err) < 0)
        return -1;
    diff_unified(&diff, p->exists ? name : NULL, edit->operation == MEMORY_DELETE ? NULL : name,
                 DIFF_CONTEXT, &out);
    if (out.full || p->current.n > DIFF_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "%s: the change is too long to be shown to a person (more than %d KB), so "
                       "nobody could approve it",
                       name, (int)(DIFF_MAX / KIB));
    p->diff = arena_str(arena, buf_str(&out));
    return 0;
}

static int count_total(struct files *files, struct str tree, const struct file *now,
                       struct memory_proposal *p, struct err *err)
{
    int64_t bytes;
    size_t count;

    if (file_tree_size(files, tree, &bytes, &count, err) < 0)
        return -1;
    p->total_after = bytes - (p->exists ? now->size : 0) + (int64_t)p->proposed.n;
    p->warn = p->total_after > LIMIT_MEMORY_WARN_BYTES;
    p->full = p->total_after > LIMIT_MEMORY_FULL_BYTES;
    return 0;
}

/* Whoever keeps something beside the file would refuse it: a skill that is none. */
static int check_watchers(struct files *files, struct str tree, const struct agent *agent,
                          const struct memory_edit *edit, const struct memory_proposal *p,
                          struct arena *arena, struct err *err)
{
    const struct file after = { .path = p->store_path,
                                .content = p->proposed,
                                .size = (int64_t)p->proposed.n,
                                .deleted = edit->operation == MEMORY_DELETE,
                                .author = author_of(agent, arena) };

    return file_check(files, tree, &after, err);
}

int memory_prepare(struct files *files, const struct agent *agent, const struct memory_edit *edit,
                   struct arena *arena, struct memory_proposal *ret_proposal, struct err *err)
{
    struct memory_proposal p = { .exists = false };
    struct str tree = memory_tree(agent, arena);
    struct file now = { .n = 0 };
    int r;

    if (memory_edit_check(edit, arena, err) < 0 ||
        memory_path(edit->path, true, arena, &p.store_path, err) < 0)
        return -1;
    r = file_get(files, tree, p.store_path, arena, &now, err);
    if (r < 0)
        return -1;
    p.exists = r > 0;
    if (p.exists)
        p.store_path = now.path;
    p.path = p.exists ? memory_seen_path(now.path, arena) : edit->path;
    p.current = p.exists ? now.content : STR_NONE;
    p.base = p.exists ? now.version : 0;
    if (make_proposed(edit, arena, &p, err) < 0 ||
        check_watchers(files, tree, agent, edit, &p, arena, err) < 0 ||
        count_total(files, tree, &now, &p, err) < 0)
        return -1;
    if (edit->operation == MEMORY_APPEND)
        p.taint = taint_join(edit->taint, now.taint, arena);
    else if (edit->operation == MEMORY_WRITE)
        p.taint = edit->taint;
    *ret_proposal = p;
    return 0;
}

int memory_propose(struct files *files, const struct agent *agent, const struct memory_edit *edit,
                   struct arena *arena, struct memory_proposal *ret_proposal, struct err *err)
{
    struct memory_proposal p;

    if (memory_prepare(files, agent, edit, arena, &p, err) < 0 ||
        make_diff(edit, arena, &p, err) < 0)
        return -1;
    p.flag_count = memory_flags(p.proposed, arena, &p.flags);
    *ret_proposal = p;
    return 0;
}

/* Whose words they are is the author; whose idea it was stays to be read. */
static struct str edited_reason(const struct agent *agent, const struct memory_edit *edit,
                                struct arena *arena)
{
    const char *note = arena_printf(arena, "edited what %s proposed", agent->id);
    struct str reason = utf8_truncate(edit->reason, REASON_MAX - strlen(note) - 3);

    if (!reason.n)
        return str_from(note);
    return str_from(arena_printf(arena, "%.*s (%s)", STR_ARG(reason), note));
}

int memory_apply(struct files *files, const struct agent *agent, const struct memory_edit *edit,
                 const struct memory_proposal *proposal, struct str inbox_id, int64_t run_n,
                 struct str operation_id, struct arena *arena, struct file *ret_file,
                 struct err *err)
{
    struct file_write write = {
        .tree = memory_tree(agent, arena),
        .path = proposal->store_path,
        .remove = edit->operation == MEMORY_DELETE,
        .content = proposal->proposed,
        .base = proposal->base,
        .author = edit->edited ? STR("owner") : author_of(agent, arena),
        .reason = edit->edited ? edited_reason(agent, edit, arena) : edit->reason,
        .taint = proposal->taint,
        .inbox_id = inbox_id,
        .run_n = run_n,
        .operation_id = operation_id,
    };

    if (memory_edit_check(edit, arena, err) < 0)
        return -1;
    return file_put(files, &write, arena, ret_file, err);
}

/* Applying edits.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/op_edit.h"

#include "base/alloc.h"

#define NEAR_MAX  600 /* bytes of a message that show near misses */
#define SHOWN_MAX 10  /* places that are listed */

static size_t count_char(struct str s, char c)
{
    size_t n = 0;

    for (const char *p = s.p, *end = s.p + s.n; p < end; p++, n++)
        if (!(p = memchr(p, c, (size_t)(end - p))))
            break;
    return n;
}

/* Every LF of the text follows a CR, and there is one. */
static bool is_crlf(struct str text)
{
    size_t lines = 0;

    for (const char *p = text.p, *end = text.p + text.n;
         p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++, lines++)
        if (p == text.p || p[-1] != '\r')
            return false;
    return lines > 0;
}

/* A copy with CR before every LF that has none. */
static void add_cr(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\n' && (i == 0 || text.p[i - 1] != '\r'))
            buf_add_char(out, '\r');
        buf_add_char(out, text.p[i]);
    }
}

static const char *find(struct str text, size_t from, struct str needle)
{
    return memmem(text.p + from, text.n - from, needle.p, needle.n);
}

static size_t count_found(struct str text, struct str needle)
{
    size_t n = 0, at = 0;

    for (const char *p; (p = find(text, at, needle)) != NULL; n++)
        at = (size_t)(p - text.p) + needle.n;
    return n;
}

static int too_many(struct str text, struct str old_text, size_t found, struct err *err)
{
    AUTO_BUF lines = BUF_INIT(200);
    size_t at = 0, line = 1, shown = 0;

    for (const char *p; shown < SHOWN_MAX && (p = find(text, at, old_text)) != NULL; shown++) {
        size_t to = (size_t)(p - text.p);

        line += count_char(str_of(text.p + at, to - at), '\n');
        buf_printf(&lines, "%s%zu", shown ? ", " : "", line);
        line += count_char(old_text, '\n');
        at = to + old_text.n;
    }
    return err_set(
        err, ERR_CONFLICT,
        "old occurs %zu times (lines %s%s): add lines around it so that it is unique, or "
        "set all",
        found, buf_text(&lines), found > shown ? ", …" : "");
}

static int not_found(struct str text, struct str old_text, struct err *err)
{
    AUTO_BUF near = BUF_INIT(NEAR_MAX);

    edit_near(text, old_text, &near);
    return err_set(err, ERR_CONFLICT, "old does not occur in the file%s%s",
                   near.n ? "; near misses:\n" : ", nor anything near it: read the file again",
                   buf_text(&near));
}

static int replace(struct str text, const struct edit *edit, struct buf *out, size_t *ret_n,
                   struct err *err)
{
    size_t found = count_found(text, edit->old_text), at = 0;

    if (found == 0)
        return not_found(text, edit->old_text, err);
    if (found > 1 && !edit->all)
        return too_many(text, edit->old_text, found, err);
    for (const char *p; (p = find(text, at, edit->old_text)) != NULL;) {
        buf_add(out, text.p + at, (size_t)(p - text.p) - at);
        buf_add_str(out, edit->new_text);
        at = (size_t)(p - text.p) + edit->old_text.n;
    }
    buf_add(out, text.p + at, text.n - at);
    if (out->full)
        return err_set(err, ERR_TOO_LARGE, "the text would be longer than %zu bytes", out->max);
    *ret_n += found;
    return 0;
}

static int check(const struct edit *edit, struct err *err)
{
    if (edit->old_text.n == 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "old is empty; expected the text to be replaced (write_file makes files)");
    if (str_eq(edit->old_text, edit->new_text))
        return err_set(err, ERR_BAD_REQUEST, "old and new are the same: nothing to change");
    return 0;
}

static int apply_one(struct str text, bool crlf, const struct edit *edit, struct buf *out,
                     size_t *ret_n, struct err *err)
{
    AUTO_BUF old_text = BUF_INIT(2 * edit->old_text.n);
    AUTO_BUF new_text = BUF_INIT(2 * edit->new_text.n);
    struct edit with_cr = { .all = edit->all };

    if (check(edit, err) < 0)
        return -1;
    if (!crlf)
        return replace(text, edit, out, ret_n, err);
    add_cr(edit->old_text, &old_text);
    add_cr(edit->new_text, &new_text);
    with_cr.old_text = buf_str(&old_text);
    with_cr.new_text = buf_str(&new_text);
    /* As it stands first: a text such as "\n" alone may be meant. */
    if (count_found(text, with_cr.old_text) == 0 && count_found(text, edit->old_text) > 0)
        with_cr.old_text = edit->old_text;
    return replace(text, &with_cr, out, ret_n, err);
}

int edit_apply(struct str text, const struct edit *edits, size_t n, struct buf *ret_text,
               size_t *ret_replacements, struct err *err)
{
    AUTO_BUF from = BUF_INIT(ret_text->max);
    AUTO_BUF to = BUF_INIT(ret_text->max);
    bool crlf = is_crlf(text);
    size_t replaced = 0;

    for (size_t i = 0; i < n; i++) {
        struct buf swap;

        buf_clear(&to);
        if (apply_one(i ? buf_str(&from) : text, crlf, &edits[i], &to, &replaced, err) < 0)
            return n > 1 ? err_wrap(err, "edit %zu of %zu", i + 1, n) : -1;
        swap = from;
        from = to;
        to = swap;
    }
    buf_release(ret_text);
    *ret_text = from;
    from = BUF_INIT(0);
    *ret_replacements = replaced;
    return 0;
}

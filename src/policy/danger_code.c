/* Code of other languages: not followed, but read for commands in its strings and for what only a
 * few lines of it can mean.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

static const struct pattern {
    const char *all[3], *rule, *about;
} patterns[] = {
#define SHELL "reverse_shell", "A shell would be handed to the network."
    { { "socket", "connect", "dup2" }, SHELL },
    { { "socket", "connect", "pty" }, SHELL },
    { { "socket", "connect", "/bin/" }, SHELL },
    { { "fsockopen", "exec", "" }, SHELL },
    { { "TCPSocket", "exec", "" }, SHELL },
    { { "Socket", "STDIN", "exec" }, SHELL },
#undef SHELL
    { { "b64decode", "exec", "" },
      "decoded_text_run",
      "Text that was encoded to be unreadable would be run." },
#define BOMB "fork_bomb", "It would start processes without end."
    { { "fork while fork", "", "" }, BOMB },
    { { "os.fork()", "while", "" }, BOMB },
#undef BOMB
#define LOAD "download_piped_to_shell", "What a server sends would be run as it comes."
    { { "urlopen", "exec(", "" }, LOAD },
    { { "requests.", "exec(", "" }, LOAD },
    { { "http", "eval(", "" }, LOAD },
    { { "http", "eval)", "" }, LOAD },
    { { "http", "eval get", "" }, LOAD },
    { { "http", "eval URI", "" }, LOAD },
#undef LOAD
    { { "rmtree", "Path.home())", "" }, "recursive_delete_of_root", "It would delete a home." },
};

static bool has(struct str code, const char *text)
{
    return str_find(code, str_from(text)) >= 0;
}

static bool find_pattern(struct danger_scan *scan, struct str code)
{
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        const struct pattern *p = &patterns[i];

        if (has(code, p->all[0]) && has(code, p->all[1]) && has(code, p->all[2]))
            return danger_report(scan, p->rule, p->about);
    }
    return false;
}

static bool is_quote(char c)
{
    return c == '\'' || c == '"' || c == '`';
}

/* The string at code.p[0], which is a quote; false when it never ends. */
static bool read_string(struct str code, struct str *ret)
{
    ptrdiff_t end = str_find_char(str_skip(code, 1), code.p[0]);

    if (end < 0)
        return false;
    *ret = str_take(str_skip(code, 1), (size_t)end);
    return true;
}

/* ---- deleting ---- */

static bool is_vital(struct danger_scan *scan, struct str path)
{
    return path.n > 0 && danger_path_vital(danger_path(scan, danger_home(scan, path)));
}

/* rmtree("/"), rmSync('/', ...), rm_rf(File.expand_path("~")) */
static bool find_deletion(struct danger_scan *scan, struct str code)
{
    static const char *const names[] = { "rmtree",      "rmSync",          "rmdirSync",
                                         "rm_rf",       "rm_r(",           "remove_dir_all",
                                         "rimraf",      "removeSync",      "removeAll",
                                         "remove_tree", "delete-directory" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct str rest = code;
        ptrdiff_t at;

        while ((at = str_find(rest, str_from(names[i]))) >= 0) {
            struct str path;
            size_t n = 0;

            rest = str_skip(rest, (size_t)at + strlen(names[i]));
            while (n < rest.n && n < 40 && !is_quote(rest.p[n]) && !strchr(";\n", rest.p[n]))
                n++;
            if (n < rest.n && is_quote(rest.p[n]) && read_string(str_skip(rest, n), &path) &&
                is_vital(scan, path))
                return danger_report(scan, "recursive_delete_of_root",
                                     "It would delete the system, a home or all of the working "
                                     "directory.");
        }
    }
    return false;
}

/* ---- commands in strings ---- */

/* Between two strings: 0 when they belong to different things, '+' when they are one text, ',' when
 * they are words of one list. */
static char joint(struct str between)
{
    char found = '+';

    for (size_t i = 0; i < between.n; i++) {
        if (between.p[i] == ',')
            found = ',';
        else if (!strchr(" \t\n+.", between.p[i]))
            return 0;
    }
    return found;
}

static void run_strings(struct danger_scan *scan, struct str code)
{
    AUTO_BUF all = BUF_INIT(DANGER_FIELD_MAX);
    size_t last = 0;

    for (size_t i = 0; i < code.n && !scan->hit; i++) {
        struct str text;
        char between;

        if (!is_quote(code.p[i]))
            continue;
        if (!read_string(str_skip(code, i), &text))
            return;
        between = last ? joint(str_of(code.p + last, i - last)) : 0;
        if (!between)
            buf_clear(&all);
        else if (between == ',')
            buf_add_char(&all, ' ');
        buf_add_str(&all, text);
        danger_run_text_by(scan, "sh", text, (struct danger_stream){ 0 });
        if (between)
            danger_run_text_by(scan, "sh", arena_str(scan->arena, buf_str(&all)),
                               (struct danger_stream){ 0 });
        i += text.n + 1;
        last = i + 1;
    }
}

/* `...`: what Perl, PHP and Ruby run. */
static void run_backticks(struct danger_scan *scan, struct str code)
{
    for (size_t i = 0; i < code.n && !scan->hit; i++) {
        struct str text;

        if (code.p[i] != '`' || !read_string(str_skip(code, i), &text))
            continue;
        danger_run_text_by(scan, "sh", text, (struct danger_stream){ 0 });
        i += text.n + 1;
    }
}

/* qx(...), %x{...} */
static void run_quoted(struct danger_scan *scan, struct str code)
{
    static const char opens[] = "([{</|!", closes[] = ")]}>/|!";

    for (size_t i = 0; i + 2 < code.n && !scan->hit; i++) {
        const char *open = code.p[i + 2] ? strchr(opens, code.p[i + 2]) : NULL;
        struct str rest = str_skip(code, i + 3);
        ptrdiff_t end;

        if (!open || !strchr("q%", code.p[i]) || code.p[i + 1] != 'x')
            continue;
        end = str_find_char(rest, closes[open - opens]);
        if (danger_charge(scan, DANGER_COMMAND) && end > 0)
            danger_run_text_by(scan, "sh", str_take(rest, (size_t)end),
                               (struct danger_stream){ 0 });
    }
}

/* ---- files in strings ---- */

/* The name of what is called with the string behind it: "os.remove" of "x; os.remove(". */
static struct str called(struct str before)
{
    size_t n;

    while (before.n && strchr("([ ", before.p[before.n - 1]))
        before.n--;
    for (n = before.n; n > 0 && !strchr("([{;, \n=", before.p[n - 1]);)
        n--;
    return str_skip(before, n);
}

/* Is the string between these two opened to be written, or removed? */
static bool is_written(struct str before, struct str after)
{
    static const char *const ahead[] = { "unlink",   "remove", "rename",      "write",
                                         "Write",    "append", "symlink",     "copy",
                                         "truncate", ">",      "put_contents" };
    static const char *const behind[] = { ").write", ").unlink", ").touch", ").append" };
    struct str name = called(before);

    for (size_t i = 0; i < ARRAY_LEN(ahead); i++)
        if (str_find(name, str_from(ahead[i])) >= 0)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(behind); i++)
        if (str_starts(after, str_from(behind[i])))
            return true;
    while (after.n && strchr(", '\"", after.p[0]))
        after = str_skip(after, 1);
    return after.n > 1 && strchr("wax>", after.p[0]) && strchr("'\"+b", after.p[1]);
}

static void judge_strings(struct danger_scan *scan, struct str code)
{
    for (size_t i = 0; i < code.n && !scan->hit; i++) {
        size_t from = i > 20 ? i - 20 : 0;
        struct str path, before = str_of(code.p + from, i - from);
        unsigned how = DANGER_READS;

        if (!is_quote(code.p[i]))
            continue;
        if (!read_string(str_skip(code, i), &path))
            return;
        i += path.n + 1;
        if (str_starts(path, STR(">")) || is_written(before, str_skip(code, i + 1)))
            how = DANGER_WRITES;
        while (path.n && strchr("<>+ ", path.p[0]))
            path = str_skip(path, 1);
        if (path.n && strchr("/~", path.p[0]))
            danger_judge_place(scan, danger_home(scan, path), how);
    }
}

/* ---- all of it ---- */

bool danger_code_runs(struct str code)
{
    static const char *const names[] = { "system",   "exec",  "popen",   "subprocess",  "spawn",
                                         "getline",  "cmd",   "Command", "run-program", "execute",
                                         "passthru", "shell", "PROGRAM", "| \"" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (has(code, names[i]))
            return true;
    return false;
}

void danger_run_code(struct danger_scan *scan, struct str code)
{
    if (find_pattern(scan, code) || find_deletion(scan, code))
        return;
    judge_strings(scan, code);
    run_quoted(scan, code);
    if (danger_code_runs(code))
        run_strings(scan, code);
    else
        run_backticks(scan, code);
}

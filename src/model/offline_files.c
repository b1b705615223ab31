/* Looking: what is in a folder, what is in a file, where something is.
 *
 * Folders are listed with read_file where it says that it reads directories, or with search where
 * it takes a glob, since looking then needs no shell; with the shell otherwise. What search lists
 * are files: folders are those that files were found in.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "model/offline_files_int.h"
#include "model/offline_int.h"

#define PLACE_MAX 300 /* bytes of what may be a path that a person typed */

/* ---- names ---- */

static struct str drop_first_word(struct str text, const char *const *words)
{
    struct str rest = text, word;

    if (!text.n || !str_split(&rest, ' ', &word) || !rest.p)
        return text;
    for (size_t i = 0; words[i]; i++) {
        if (str_eq_nocase(word, str_from(words[i])))
            return str_trim(rest);
    }
    return text;
}

static struct str drop_last_word(struct str text, const char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        struct str word = str_from(words[i]);

        if (text.n > word.n + 1 && text.p[text.n - word.n - 1] == ' ' &&
            str_eq_nocase(str_skip(text, text.n - word.n), word))
            return str_trim(str_take(text, text.n - word.n));
    }
    return text;
}

static struct str place_of(struct str words)
{
    static const char *const front[] = { "the",   "this",    "that",    "my",        "our",
                                         "a",     "file",    "folder",  "directory", "called",
                                         "named", "current", "working", "whole",     "all",
                                         "of",    NULL };
    static const char *const back[] = { "folder",   "directory", "dir", "file", "here",
                                        "contents", "again",     "too", NULL };
    static const char *const here[] = {
        "folder",  "directory",  "dir",        "here",     "this",    "there",     "it",   "place",
        "project", "repo",       "repository", "codebase", "code",    "workspace", "desk", "mess",
        "files",   "everything", "tree",       "current",  "working", NULL
    };
    struct str text = str_trim(words), before;

    do {
        before = text;
        text = drop_first_word(drop_last_word(text, back), front);
    } while (text.n < before.n);
    for (size_t i = 0; here[i]; i++) {
        if (str_eq_nocase(text, str_from(here[i])))
            return STR(".");
    }
    return text.n ? text : STR(".");
}

struct str offline_place(const struct offline_turn *turn, int i)
{
    if (!turn->match.cap[i].p)
        return STR(".");
    return turn->match.quoted[i] ? turn->match.cap[i] : place_of(turn->match.cap[i]);
}

bool offline_is_file(struct str name)
{
    static const char *const known[] = { "makefile",  "dockerfile", "license", "licence", "readme",
                                         "changelog", "authors",    "todo",    "notes",   NULL };
    ptrdiff_t dot = -1;

    if (!name.n || name.p[name.n - 1] == '/')
        return false;
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '/')
            dot = -1;
        else if (name.p[i] == '.' && i > 0 && name.p[i - 1] != '/' && name.p[i - 1] != '.')
            dot = (ptrdiff_t)i;
    }
    if (dot > 0 && (size_t)dot + 1 < name.n)
        return true;
    for (size_t i = 0; known[i]; i++) {
        if (str_eq_nocase(name, str_from(known[i])))
            return true;
    }
    return false;
}

/* ---- listing ---- */

static struct str under(struct offline_turn *turn, struct str place, const char *glob)
{
    while (place.n > 1 && place.p[place.n - 1] == '/')
        place.n--;
    if (str_is(place, "."))
        return str_from(glob);
    return str_from(arena_printf(turn->arena, "%.*s/%s", STR_ARG(place), glob));
}

static bool call_glob(struct offline_turn *turn, const struct model_tool *tool, struct str glob)
{
    const struct offline_arg args[] = { { .names = offline_name_glob, .text = glob } };

    return offline_call(turn, tool, args, ARRAY_LEN(args));
}

bool offline_ask_listing(struct offline_turn *turn, struct str place)
{
    const struct model_tool *search = offline_tool(turn, "search");
    const struct model_tool *read = offline_tool(turn, "read_file");
    const struct offline_arg path[] = { { .names = offline_name_path, .text = place } };

    if (read && str_find(read->description, STR("directory")) >= 0)
        return offline_call(turn, read, path, ARRAY_LEN(path));
    if (search && offline_takes(search, offline_name_glob))
        return call_glob(turn, search, under(turn, place, "*")) &&
               call_glob(turn, search, under(turn, place, "*/*"));
    return offline_bash(
        turn, arena_printf(turn->arena, "ls -A -p -- %s", offline_quote(turn->arena, place)));
}

/* A line of a listing, relative to place: "a.c", "src/" or "src/b.c". */
static struct str relative(struct str line, struct str place)
{
    if (str_starts(line, STR("./")))
        line = str_skip(line, 2);
    if (str_starts(place, STR("./")))
        place = str_skip(place, 2);
    if (str_starts(line, place) && line.n > place.n) {
        if (line.p[place.n] == '/')
            return str_skip(line, place.n + 1);
        if (place.n && place.p[place.n - 1] == '/')
            return str_skip(line, place.n);
    }
    return line;
}

static void add_entry(struct offline_listing *list, struct str name, bool folder, bool link)
{
    if (!name.n || list->n == OFFLINE_ENTRIES_MAX)
        return;
    for (size_t i = 0; i < list->n; i++) {
        if (str_eq(list->entry[i].name, name))
            return;
    }
    list->entry[list->n++] = (struct offline_entry){ name, folder, link };
    list->folders += folder;
}

static int entry_order(const void *a, const void *b)
{
    const struct offline_entry *x = a, *y = b;

    if (x->folder != y->folder)
        return x->folder ? -1 : 1;
    return str_cmp(x->name, y->name);
}

bool offline_listing_read(struct offline_turn *turn, struct str place,
                          struct offline_listing *ret_list)
{
    ret_list->entry = ARENA_NEW_N(turn->arena, struct offline_entry, OFFLINE_ENTRIES_MAX);
    ret_list->n = ret_list->folders = 0;
    ret_list->cut = false;
    for (size_t i = 0; i < turn->result_count; i++) {
        const struct offline_result *r = &turn->results[i];

        if (r->round != 0)
            continue;
        if (r->failed || r->exit_code > 0)
            return false;
        ret_list->cut = ret_list->cut || r->cut;
        for (size_t k = 0; k < r->line_count; k++) {
            struct str name = relative(r->lines[k], place);
            ptrdiff_t slash = str_find_char(name, '/');
            /* read_file marks links so. */
            bool link = str_is(r->tool, "read_file") && str_ends(name, STR("@"));

            add_entry(ret_list,
                      slash >= 0 ? str_take(name, (size_t)slash) : str_take(name, name.n - link),
                      slash >= 0, link);
        }
    }
    if (ret_list->n)
        qsort(ret_list->entry, ret_list->n, sizeof(ret_list->entry[0]), entry_order);
    return turn->result_count > 0;
}

static void say_listing(struct offline_turn *turn, struct str place,
                        const struct offline_listing *list)
{
    size_t files = list->n - list->folders;
    const char *where =
        str_is(place, ".") ? "This folder" : arena_copy(turn->arena, place.p, place.n);

    if (!list->n) {
        offline_say(turn, "%s has nothing in it that I can see.", where);
        return;
    }
    offline_say(turn, "%s has %zu file%s and %zu folder%s:\n", where, files, files == 1 ? "" : "s",
                list->folders, list->folders == 1 ? "" : "s");
    for (size_t i = 0; i < list->n && i < 2 * OFFLINE_SHOWN_LINES; i++)
        offline_say(turn, "    %.*s%s\n", STR_ARG(list->entry[i].name),
                    list->entry[i].folder ? "/" : "");
    if (list->n > 2 * OFFLINE_SHOWN_LINES)
        offline_say(turn, "... and %zu more.\n", list->n - 2 * OFFLINE_SHOWN_LINES);
    if (list->cut)
        offline_say(turn, "The listing was cut: there may be more.\n");
}

static void list_place(struct offline_turn *turn, struct str place)
{
    struct offline_listing list;

    if (turn->round == 0) {
        offline_ask_listing(turn, place);
        return;
    }
    if (offline_listing_read(turn, place, &list))
        say_listing(turn, place, &list);
    else
        offline_report(turn);
}

void offline_list(struct offline_turn *turn)
{
    list_place(turn, offline_place(turn, 0));
}

/* ---- reading ---- */

static void ask_file(struct offline_turn *turn, struct str path)
{
    const struct model_tool *tool = offline_tool(turn, "read_file");
    const struct offline_arg args[] = { { .names = offline_name_path, .text = path } };

    if (tool)
        offline_call(turn, tool, args, ARRAY_LEN(args));
    else
        offline_bash(turn,
                     arena_printf(turn->arena, "cat -- %s", offline_quote(turn->arena, path)));
}

/* What is no text comes as facts about it. */
static bool say_facts(struct offline_turn *turn, struct str path, const struct offline_result *file)
{
    struct str kind = json_str(json_find(file->json, "kind")),
               type = json_str(json_find(file->json, "type"));
    int64_t bytes = 0;

    if (!str_is(kind, "binary") && !str_is(kind, "image"))
        return false;
    (void)json_get_i64(file->json, "bytes", &bytes, NULL);
    offline_say(turn, "%.*s is no text (%.*s, %lld bytes): I can't show it.", STR_ARG(path),
                STR_ARG(type.n ? type : kind), (long long)bytes);
    return true;
}

static void say_file(struct offline_turn *turn, struct str path)
{
    const struct offline_result *last = offline_result_last(turn);

    if (offline_failed(turn) || say_facts(turn, path, last))
        return;
    if (last->exit_code > 0 || !last->line_count) {
        offline_report(turn);
        return;
    }
    offline_say(turn, "%.*s:\n", STR_ARG(path));
    offline_report_lines(turn, last);
}

static void read_place(struct offline_turn *turn, struct str path)
{
    if (turn->round == 0)
        ask_file(turn, path);
    else
        say_file(turn, path);
}

/* "the readme": the one file of the folder with that name in any spelling, with any ending. */
static struct str spelled(const struct offline_listing *list, struct str name)
{
    struct str found = STR_NONE;

    for (size_t i = list->folders; i < list->n; i++) {
        struct str entry = list->entry[i].name;
        ptrdiff_t dot = str_find_char(entry, '.');

        if (str_eq(entry, name))
            return entry;
        if (str_eq_nocase(dot > 0 ? str_take(entry, (size_t)dot) : entry, name) && !found.n)
            found = entry;
    }
    return found;
}

/* A name without an ending is looked for in the folder first. */
static void read_by_name(struct offline_turn *turn, struct str name)
{
    struct offline_listing list;
    struct str file;

    if (turn->round == 0) {
        offline_ask_listing(turn, STR("."));
        return;
    }
    if (!offline_listing_read(turn, STR("."), &list)) {
        offline_report(turn);
        return;
    }
    file = spelled(&list, name);
    if (!file.n)
        offline_say(turn, "There is no file %.*s here.", STR_ARG(name));
    else if (turn->round == 1)
        ask_file(turn, file);
    else
        say_file(turn, file);
}

/* "what is in X": a file or a folder, by its looks. */
void offline_look(struct offline_turn *turn)
{
    struct str place = offline_place(turn, 0);

    if (place.n > PLACE_MAX) /* a speech, and no name */
        offline_unknown(turn);
    else if (!offline_is_file(place))
        list_place(turn, place);
    else if (str_find_char(place, '.') < 0 && str_find_char(place, '/') < 0)
        read_by_name(turn, place);
    else
        read_place(turn, place);
}

/* "explain X": honest about what it is not. */
void offline_explain(struct offline_turn *turn)
{
    struct str place = offline_place(turn, 0);

    bool folder = str_is(place, ".") || str_find_char(place, '/') >= 0;

    if (!offline_is_file(place) && !folder) {
        offline_unknown(turn);
        return;
    }
    if (turn->round > 0 && place.n <= PLACE_MAX)
        offline_say(turn, "I am rules and can't explain, judge or translate what is in it; I can "
                          "show it.\n");
    offline_look(turn);
}

/* ---- searching ---- */

static struct str regex_escaped(struct offline_turn *turn, struct str text, const char *fmt)
{
    AUTO_BUF out = BUF_INIT(8192);

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] && strchr("\\^$.|?*+()[]{}/", text.p[i]))
            buf_add_char(&out, '\\');
        buf_add_char(&out, text.p[i]);
    }
    if (strcmp(fmt, "word") == 0)
        return str_from(arena_printf(turn->arena, "\\b%s\\b", buf_text(&out)));
    return arena_str(turn->arena, buf_str(&out));
}

/* pattern is plain text where the tool says so with a member `regex` or `literal`, else a regular
 * expression. */
static bool ask_search(struct offline_turn *turn, struct str what, struct str place, bool word)
{
    static const char *const name_regex[] = { "regex", "is_regex", NULL };
    const struct model_tool *search = offline_tool(turn, "search");
    struct offline_arg args[3];
    size_t n = 1;

    if (!search)
        return offline_bash(turn, arena_printf(turn->arena, "grep -rnI%s -F -e %s -- %s",
                                               word ? "w" : "", offline_quote(turn->arena, what),
                                               offline_quote(turn->arena, place)));
    args[0] = (struct offline_arg){ .names = offline_name_pattern, .text = what };
    if (offline_takes(search, name_regex)) {
        if (word)
            args[n++] = (struct offline_arg){ .names = name_regex, .number = 1, .is_bool = true };
    } else if (!word && offline_takes(search, offline_name_literal)) {
        args[n++] =
            (struct offline_arg){ .names = offline_name_literal, .number = 1, .is_bool = true };
    } else {
        args[0].text = regex_escaped(turn, what, "text");
    }
    if (word)
        args[0].text = regex_escaped(turn, what, "word");
    if (!str_is(place, "."))
        args[n++] =
            (struct offline_arg){ .names = offline_name_glob,
                                  .text =
                                      offline_is_file(place) ? place : under(turn, place, "**") };
    return offline_call(turn, search, args, n);
}

static void search_place(struct offline_turn *turn, struct str what, struct str place, bool word)
{
    const struct offline_result *last;

    if (turn->round == 0) {
        ask_search(turn, what, place, word);
        return;
    }
    if (offline_failed(turn))
        return;
    last = offline_result_last(turn);
    if (!last->line_count && last->exit_code <= 1) {
        offline_say(turn, "I found no \"%.*s\"%s%.*s.", STR_ARG(what),
                    str_is(place, ".") ? " here" : " in ",
                    STR_ARG(str_is(place, ".") ? STR_NONE : place));
        return;
    }
    if (last->exit_code > 1) {
        offline_report(turn);
        return;
    }
    offline_say(turn, "%zu place%s with \"%.*s\":\n", last->line_count,
                last->line_count == 1 ? "" : "s", STR_ARG(what));
    offline_report_lines(turn, last);
}

void offline_search(struct offline_turn *turn)
{
    search_place(turn, turn->match.cap[0], offline_place(turn, 1), false);
}

void offline_defined(struct offline_turn *turn)
{
    static const char *const front[] = { "the",  "function", "struct", "class",    "variable",
                                         "type", "method",   "macro",  "constant", NULL };
    struct str what = turn->match.cap[0], before;

    do {
        before = what;
        what = drop_first_word(what, front);
    } while (what.n < before.n);
    search_place(turn, what, offline_place(turn, 1), str_find_char(what, ' ') < 0);
}

/* ---- files by name ---- */

static void find_glob(struct offline_turn *turn, const char *glob)
{
    const struct model_tool *search = offline_tool(turn, "search");
    const struct offline_result *last;

    if (turn->round == 0) {
        if (search && offline_takes(search, offline_name_glob))
            call_glob(turn, search, str_from(arena_printf(turn->arena, "**/%s", glob)));
        else
            offline_bash(turn, arena_printf(turn->arena, "find . -name %s",
                                            offline_quote(turn->arena, str_from(glob))));
        return;
    }
    if (offline_failed(turn))
        return;
    last = offline_result_last(turn);
    if (last->exit_code > 0) {
        offline_report(turn);
        return;
    }
    if (!last->line_count) {
        offline_say(turn, "I found no file named %s here.", glob);
        return;
    }
    offline_say(turn, "%zu file%s named %s:\n", last->line_count, last->line_count == 1 ? "" : "s",
                glob);
    offline_report_lines(turn, last);
}

void offline_find_file(struct offline_turn *turn)
{
    struct str name = offline_place(turn, 0);

    find_glob(turn, arena_printf(turn->arena, "%.*s", STR_ARG(name)));
}

/* "find all python files": by a word for the kind. */
void offline_find_kind(struct offline_turn *turn)
{
    static const struct {
        const char *word, *glob;
    } kinds[] = {
        { "python", "*.py" },   { "javascript", "*.js" }, { "typescript", "*.ts" },
        { "markdown", "*.md" }, { "text", "*.txt" },      { "header", "*.h" },
        { "shell", "*.sh" },    { "image", "*.png" },     { "yaml", "*.yaml" },
    };
    struct str word = turn->match.cap[0];

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (str_eq_nocase(word, str_from(kinds[i].word))) {
            find_glob(turn, kinds[i].glob);
            return;
        }
    }
    if (str_find_char(word, '*') >= 0)
        find_glob(turn, arena_copy(turn->arena, word.p, word.n));
    else if (word.n && word.p[0] == '.')
        find_glob(turn, arena_printf(turn->arena, "*%.*s", STR_ARG(word)));
    else
        find_glob(turn, arena_printf(turn->arena, "*.%.*s", STR_ARG(word)));
}

/* "find X": a file when it looks like one, else a text. */
void offline_find(struct offline_turn *turn)
{
    struct str what = turn->match.cap[0];

    if (str_eq_nocase(what, STR("todo")) || str_eq_nocase(what, STR("todos")))
        search_place(turn, STR("TODO"), STR("."), false); /* the mark, rather than a file */
    else if (str_find_char(what, ' ') < 0 &&
             (str_find_char(what, '*') >= 0 || offline_is_file(what)))
        find_glob(turn, arena_copy(turn->arena, what.p, what.n));
    else
        search_place(turn, what, STR("."), false);
}

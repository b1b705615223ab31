/* Changing: writing, replacing, moving, copying, deleting.
 *
 * A file is read before it is edited, so that the host can see that what is changed is what was
 * there. Moves and copies never overwrite (-n). Whether any of it may be done is not decided here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_put.h"
#include "model/offline_int.h"

static struct str capture(const struct offline_turn *turn, int i)
{
    return turn->match.cap[i];
}

/* ---- write ---- */

/* "a poem about cheese" is no text but a wish for one. */
static bool is_wish(const struct offline_turn *turn)
{
    static const char *const kinds[] = { "poem",    "story",  "letter", "essay",  "haiku",
                                         "email",   "mail",   "joke",   "song",   "summary",
                                         "article", "report", "script", "program" };
    struct str rest = capture(turn, 0), word;

    if (turn->match.quoted[0] || !str_split(&rest, ' ', &word) ||
        (!str_eq_nocase(word, STR("a")) && !str_eq_nocase(word, STR("an"))))
        return false;
    while (str_split(&rest, ' ', &word))
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
            if (str_eq_nocase(word, str_from(kinds[i])))
                return true;
    return false;
}

/* a: text, b: file */
void offline_write(struct offline_turn *turn)
{
    const struct model_tool *tool = offline_tool(turn, "write_file");
    struct str path = offline_place(turn, 1), text = capture(turn, 0);
    struct offline_arg args[] = {
        { .names = offline_name_path, .text = path },
        { .names = offline_name_content,
          .text = text.p ? str_from(arena_printf(turn->arena, "%.*s\n", STR_ARG(text))) : STR("") },
    };

    if (is_wish(turn)) {
        offline_say(turn,
                    "I am rules and can't make up a text. Give me the text itself, in quotes where "
                    "it must be taken literally: write \"...\" to %.*s.",
                    STR_ARG(path));
        return;
    }
    if (turn->round == 0 && tool) {
        offline_call(turn, tool, args, ARRAY_LEN(args));
        return;
    }
    if (turn->round == 0) {
        offline_lacks(turn, "write files", "write_file");
        return;
    }
    if (!offline_failed(turn))
        offline_say(turn, "I wrote %.*s.", STR_ARG(path));
}

/* a: text, b: file */
void offline_append(struct offline_turn *turn)
{
    struct str path = offline_place(turn, 1);
    const struct offline_result *last;

    if (turn->round == 0) {
        offline_bash(turn, arena_printf(turn->arena, "printf '%%s\\n' %s >> %s",
                                        offline_quote(turn->arena, capture(turn, 0)),
                                        offline_quote(turn->arena, path)));
        return;
    }
    last = offline_result_last(turn);
    if (offline_failed(turn))
        return;
    if (last->exit_code > 0)
        offline_report(turn);
    else
        offline_say(turn, "I added a line to %.*s.", STR_ARG(path));
}

/* ---- replace ---- */

/* {"path":..,"edits":[{"old..":..,"new..":..}]} for tools that take several at once. */
static bool call_edits(struct offline_turn *turn, const struct model_tool *tool, struct str path,
                       struct str from, struct str to)
{
    AUTO_BUF out = BUF_INIT(64u << 10);
    AUTO_JSON schema = NULL;
    struct json_writer w = JSON_WRITER(&out);
    struct json_object *item;
    const char *name, *old_name, *new_name;

    if (json_parse(tool->input_schema, &schema, NULL) < 0)
        return false;
    item = json_find(json_find(json_find(schema, "properties"), "edits"), "items");
    name = offline_name_in(schema, offline_name_path);
    old_name = offline_name_in(item, offline_name_old);
    new_name = offline_name_in(item, offline_name_new);
    if (!name || !old_name || !new_name)
        return false;
    json_write_object_begin(&w);
    json_put_str(&w, name, path);
    json_put_array(&w, "edits");
    json_write_object_begin(&w);
    json_put_str(&w, old_name, from);
    json_put_str(&w, new_name, to);
    json_write_object_end(&w);
    json_write_array_end(&w);
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return false;
    offline_call_json(turn, tool, buf_str(&out));
    return true;
}

static void ask_edit(struct offline_turn *turn, const struct model_tool *tool, struct str path)
{
    const struct offline_arg args[] = { { .names = offline_name_path, .text = path },
                                        { .names = offline_name_old, .text = capture(turn, 0) },
                                        { .names = offline_name_new, .text = capture(turn, 1) } };

    if (offline_takes(tool, offline_name_old)) {
        offline_call(turn, tool, args, ARRAY_LEN(args));
        return;
    }
    if (!call_edits(turn, tool, path, capture(turn, 0), capture(turn, 1)) && !turn->say.n)
        offline_say(turn,
                    "I can't use the tool %.*s: I don't know what it calls the old and the "
                    "new text.",
                    STR_ARG(tool->name));
}

/* a: old, b: new, c: file */
void offline_replace(struct offline_turn *turn)
{
    const struct model_tool *read = offline_tool(turn, "read_file");
    const struct model_tool *edit = offline_tool(turn, "edit_file");
    struct str path = offline_place(turn, 2);
    const struct offline_arg args[] = { { .names = offline_name_path, .text = path } };
    bool edited = offline_result_of(turn, "edit_file") != NULL;

    if (!edit) {
        offline_lacks(turn, "edit files", "edit_file");
        return;
    }
    if (turn->round == 0 && read) {
        offline_call(turn, read, args, ARRAY_LEN(args));
        return;
    }
    if (turn->round > 0 && offline_failed(turn))
        return;
    if (!edited) {
        ask_edit(turn, edit, path);
        return;
    }
    offline_say(turn, "I replaced \"%.*s\" by \"%.*s\" in %.*s.", STR_ARG(capture(turn, 0)),
                STR_ARG(capture(turn, 1)), STR_ARG(path));
}

/* ---- files as a whole ---- */

static void run_then_say(struct offline_turn *turn, const char *command, const char *done)
{
    const struct offline_result *last = offline_result_last(turn);

    if (turn->round == 0) {
        offline_bash(turn, command);
        return;
    }
    if (offline_failed(turn))
        return;
    if (last->exit_code > 0)
        offline_report(turn);
    else
        offline_say(turn, "%s", done);
}

/* program tells what it did (-v) and does nothing where something stands already (-n). */
static void two_paths(struct offline_turn *turn, const char *program, const char *done)
{
    struct str from = offline_place(turn, 0), to = offline_place(turn, 1);
    const struct offline_result *last = offline_result_last(turn);
    bool acted = last && last->line_count > 0;

    run_then_say(
        turn,
        arena_printf(turn->arena, "%s -- %s %s", program, offline_quote(turn->arena, from),
                     offline_quote(turn->arena, to)),
        acted ? arena_printf(turn->arena, "I %s %.*s to %.*s.", done, STR_ARG(from), STR_ARG(to))
              : arena_printf(turn->arena,
                             "There is %.*s already, and I don't overwrite: nothing was "
                             "%s.",
                             STR_ARG(to), done));
}

void offline_move(struct offline_turn *turn)
{
    two_paths(turn, "mv -nv", "moved");
}

void offline_copy(struct offline_turn *turn)
{
    two_paths(turn, "cp -nrv", "copied");
}

/* "the docs folder", "docs/": only an empty one goes. */
static bool is_folder(struct str words)
{
    return str_ends(words, STR(" folder")) || str_ends(words, STR(" directory")) ||
           str_ends(words, STR("/"));
}

void offline_delete(struct offline_turn *turn)
{
    struct str path = offline_place(turn, 0);

    if (str_is(path, ".") || str_is(path, "/") || str_is(path, "..")) {
        offline_say(turn, "I delete single files and empty folders by name, for example \"delete "
                          "notes.txt\", never all of a folder.");
        return;
    }
    run_then_say(turn,
                 arena_printf(turn->arena, "%s -- %s",
                              is_folder(turn->match.cap[0]) ? "rmdir" : "rm",
                              offline_quote(turn->arena, path)),
                 arena_printf(turn->arena, "I deleted %.*s.", STR_ARG(path)));
}

void offline_make_folder(struct offline_turn *turn)
{
    struct str path = offline_place(turn, 0);

    run_then_say(turn,
                 arena_printf(turn->arena, "mkdir -p -- %s", offline_quote(turn->arena, path)),
                 arena_printf(turn->arena, "The folder %.*s is there.", STR_ARG(path)));
}

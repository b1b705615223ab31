/* "Tidy this folder": look, then move files of a known kind into a folder for that kind.
 *
 * Careful by rule: only the folder's own files, only kinds that are in the table, nothing hidden,
 * nothing that is overwritten (mv -n), nothing at all where files belong to a project. What was
 * really moved is read from mv's own report.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "model/offline_files_int.h"
#include "model/offline_int.h"

#define MOVES_MAX 200

static const struct {
    const char *folder, *extensions;
} kinds[] = {
    { "Images", "png jpg jpeg gif webp svg bmp tif tiff heic" },
    { "Documents", "pdf doc docx odt rtf txt md epub tex" },
    { "Tables", "csv tsv xls xlsx ods" },
    { "Slides", "ppt pptx odp key" },
    { "Archives", "zip tar gz tgz bz2 xz zst 7z rar" },
    { "Audio", "mp3 wav flac ogg m4a opus aac" },
    { "Video", "mp4 mkv mov avi webm m4v" },
};

/* Files that tell that the others are where they are for a reason. */
static const char *const project_marks[] = { "Makefile",     "CMakeLists.txt", "meson.build",
                                             "package.json", "Cargo.toml",     "pyproject.toml",
                                             "go.mod",       "setup.py",       "pom.xml",
                                             "build.gradle", ".git",           "Gemfile" };

static struct str extension(struct str name)
{
    for (size_t i = name.n; i > 1; i--) {
        if (name.p[i - 1] == '.')
            return str_skip(name, i);
    }
    return STR_NONE;
}

/* Index into kinds, or -1: it stays. */
static int kind_of(const struct offline_entry *entry)
{
    struct str ext = extension(entry->name);

    if (entry->folder || entry->link || !ext.n || entry->name.p[0] == '.' ||
        str_starts(entry->name, STR("README")) || str_starts(entry->name, STR("LICENSE")))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct str rest = str_from(kinds[i].extensions), one;

        while (str_split(&rest, ' ', &one)) {
            if (str_eq_nocase(ext, one))
                return (int)i;
        }
    }
    return -1;
}

static const char *project_mark(const struct offline_listing *list)
{
    for (size_t i = 0; i < list->n; i++) {
        for (size_t k = 0; k < ARRAY_LEN(project_marks); k++) {
            if (str_is(list->entry[i].name, project_marks[k]))
                return project_marks[k];
        }
    }
    return NULL;
}

/* Appends "&& mv -nv -- a b Folder/" for one kind; returns how many files. */
static size_t add_moves(struct offline_turn *turn, const struct offline_listing *list, int kind,
                        size_t room, struct buf *folders, struct buf *moves)
{
    AUTO_BUF names = BUF_INIT(32u << 10);
    size_t n = 0;

    for (size_t i = 0; i < list->n && n < room; i++) {
        if (kind_of(&list->entry[i]) != kind)
            continue;
        buf_printf(&names, " %s", offline_quote(turn->arena, list->entry[i].name));
        n++;
    }
    if (!n || names.full)
        return 0;
    buf_printf(folders, " %s", kinds[kind].folder);
    buf_printf(moves, " && mv -nv --%s %s/", buf_text(&names), kinds[kind].folder);
    return n;
}

static bool is_home_of(struct str place, const char *folder)
{
    struct str name = str_from(folder);

    while (place.n > 0 && place.p[place.n - 1] == '/')
        place.n--;
    return place.n >= name.n && str_eq_nocase(str_skip(place, place.n - name.n), name) &&
           (place.n == name.n || place.p[place.n - name.n - 1] == '/');
}

static void propose(struct offline_turn *turn, struct str place, const struct offline_listing *list)
{
    AUTO_BUF folders = BUF_INIT(4096);
    AUTO_BUF moves = BUF_INIT(48u << 10);
    const char *mark = project_mark(list);
    size_t n = 0;

    if (mark) {
        offline_say(turn,
                    "I left everything where it is: %s says that this is a project, and its "
                    "files may be needed where they are. Ask me for a folder inside it, for "
                    "example \"tidy docs\", or say which file goes where.",
                    mark);
        return;
    }
    for (size_t kind = 0; kind < ARRAY_LEN(kinds); kind++)
        if (!is_home_of(place, kinds[kind].folder)) /* no Documents/Documents */
            n += add_moves(turn, list, (int)kind, MOVES_MAX - n, &folders, &moves);
    if (!n) {
        offline_say(turn,
                    "There is nothing to tidy: of %zu file%s none is of a kind that I would sort "
                    "elsewhere (images, documents, tables, slides, archives, audio, video).",
                    list->n - list->folders, list->n - list->folders == 1 ? "" : "s");
        return;
    }
    if (!offline_tool(turn, "bash")) {
        offline_lacks(turn, "move files", "bash");
        return;
    }
    offline_say(turn, "I would like to sort %zu file%s by kind into:%s.\n", n, n == 1 ? "" : "s",
                buf_text(&folders));
    offline_bash(turn,
                 arena_printf(turn->arena, "%s%smkdir -p%s%s", str_is(place, ".") ? "" : "cd -- ",
                              str_is(place, ".") ? ""
                                                 : arena_printf(turn->arena, "%s && ",
                                                                offline_quote(turn->arena, place)),
                              buf_text(&folders), buf_text(&moves)));
}

static void report(struct offline_turn *turn)
{
    const struct offline_result *last = offline_result_last(turn);
    size_t moved = 0;

    if (!last || last->failed) {
        offline_failed(turn);
        return;
    }
    for (size_t i = 0; i < last->line_count; i++)
        moved += str_starts(last->lines[i], STR("renamed ")) ||
                 str_find(last->lines[i], STR("' -> '")) >= 0;
    if (last->exit_code > 0)
        offline_say(turn, "It was not finished: the command ended with exit code %lld. ",
                    (long long)last->exit_code);
    offline_say(turn, "%zu file%s moved%s\n", moved, moved == 1 ? " was" : "s were",
                moved ? ":" : ".");
    offline_report_lines(turn, last);
    if (last->error.n)
        offline_say(turn, "%.*s\n", STR_ARG(utf8_truncate(last->error, 400)));
    offline_say(turn,
                "Files of kinds that I don't know, hidden files and folders stayed where they "
                "were; nothing was overwritten.");
}

void offline_tidy(struct offline_turn *turn)
{
    struct str place = offline_place(turn, 0);
    struct offline_listing list;

    if (turn->round == 0)
        offline_ask_listing(turn, place);
    else if (turn->round > 1)
        report(turn);
    else if (offline_listing_read(turn, place, &list))
        propose(turn, place, &list);
    else
        offline_report(turn);
}

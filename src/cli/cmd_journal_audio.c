/* dormouse journal audio add, list, save: recordings, kept in the journal with their bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/jot.h"
#include "journal/moves.h"

/* By the ending of the name. */
static const char *media_type(const char *file)
{
    static const char *const endings[][2] = {
        { ".ogg", "audio/ogg" },   { ".oga", "audio/ogg" }, { ".opus", "audio/ogg" },
        { ".mp3", "audio/mpeg" },  { ".m4a", "audio/mp4" }, { ".aac", "audio/aac" },
        { ".flac", "audio/flac" }, { ".wav", "audio/wav" }, { ".webm", "audio/webm" },
    };
    const char *dot = strrchr(file, '.');

    for (size_t i = 0; dot && i < ARRAY_LEN(endings); i++)
        if (str_eq_nocase(str_from(dot), str_from(endings[i][0])))
            return endings[i][1];
    return "application/octet-stream";
}

/* ---- add ---- */

static int attach(struct jot *jot, struct str entry_id, const char *file, struct str bytes)
{
    AUTO_JSON answer = NULL;
    AUTO_BUF path = BUF_INIT(16 * KIB);
    const char *slash = strrchr(file, '/');

    buf_add_text(&path, "/api/v1/journal/attachments");
    jot_query(jot, &path, "entryId", arena_printf(&jot->arena, "%.*s", STR_ARG(entry_id)));
    jot_query(jot, &path, "fileName", slash ? slash + 1 : file);
    jot_query(jot, &path, "contentType", media_type(file));
    if (talk_ask(jot->talk, "POST", buf_text(&path), bytes, &answer, &jot->err) < 0)
        return jot_refused(jot);
    return 0;
}

static int run_add(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_BUF bytes = BUF_INIT(ATTACHMENT_MAX);
    const char *file = cli_operand(args, 0), *slash = strrchr(file, '/');
    struct json_object *entry;
    AUTO_JOT jot;

    if (jot_open(&jot, args) < 0 || file_read(file, &bytes, &jot.err) < 0)
        return jot_fail(&jot);
    if (!bytes.n) {
        err_set(&jot.err, ERR_BAD_REQUEST, "%.200s is empty; there is nothing to keep", file);
        return jot_fail(&jot);
    }
    jot_says(&jot, "body", "TEXT");
    jot_says(&jot, "fileName", "FILE");
    jot_add(body, "body", jot_words(&jot, 1));
    if (!cli_value(args, "title"))
        jot_add(body, "title", str_from(slash ? slash + 1 : file));
    if (jot_entry(&jot, body, "audio", &entry) < 0)
        return jot_fail(&jot);
    if (attach(&jot, jot_member(entry, "id"), file, buf_str(&bytes)) < 0) {
        struct err why = jot.err;
        struct json_object *none;

        /* A recording without its sound is none. */
        jot.err = ERR_INIT;
        jot_ask(&jot, "DELETE", NULL, &none, "entries/%.*s", STR_ARG(jot_member(entry, "id")));
        json_object_put(entry);
        jot.err = why;
        return jot_fail(&jot);
    }
    return jot_done(&jot, entry, "Noted");
}

static const struct cli_option add_options[] = {
    { .name = "title",
      .value = "TEXT",
      .help = "a line that names it; the file's name unless given" },
    { .name = "at",
      .value = "TIME",
      .help = "when it was: 9:00, \"yesterday 18:00\", friday (noon)" },
    { .name = "category", .value = "CATEGORY", .help = "its name or id" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_audio_add = {
    .name = "journal audio add",
    .operands = "FILE [TEXT...]",
    .summary = "Keeps a recording, at most 10 MB",
    .details = "The bytes are copied into the journal; TEXT is what is said or heard in it.",
    .options = add_options,
    .operands_min = 1,
    .operands_max = -1,
    .run = run_add,
};

/* ---- list and save ---- */

static int run_list(const struct cli_args *args)
{
    return jot_entries(args, "audio",
                       "No recordings. `dormouse journal audio add FILE` keeps one.");
}

const struct cli_command cli_cmd_journal_audio_list = {
    .name = "journal audio list",
    .operands = "",
    .summary = "Lists recordings, newest first",
    .run = run_list,
};

static int run_save(const struct cli_args *args)
{
    AUTO_JSON entry = NULL;
    AUTO_JSON files = NULL;
    AUTO_BUF bytes = BUF_INIT(ATTACHMENT_MAX);
    struct json_object *file;
    AUTO_JOT jot;

    if (jot_open(&jot, args) < 0 ||
        jot_ask(&jot, "GET", NULL, &entry, "entries/%s", jot_part(&jot, cli_operand(args, 0))) <
            0 ||
        jot_ask(&jot, "GET", NULL, &files, "attachments?entryId=%.*s",
                STR_ARG(jot_member(entry, "id"))) < 0)
        return jot_fail(&jot);
    file = json_object_array_get_idx(json_find(files, "items"), 0);
    if (!file) {
        err_set(&jot.err, ERR_NOT_FOUND, "entry \"%.100s\" has no file", cli_operand(args, 0));
        return jot_fail(&jot);
    }
    if (talk_bytes(args, "GET",
                   arena_printf(&jot.arena, "/api/v1/journal/attachments/%.*s/content",
                                STR_ARG(jot_member(file, "id"))),
                   STR_NONE, &bytes, &jot.err) < 0 ||
        file_write_atomic(cli_operand(args, 1), buf_str(&bytes), 0600, &jot.err) < 0)
        return jot_fail(&jot);
    if (cli_json(args))
        return jot_print(&jot, json_object_get(file));
    printf("Wrote %zu bytes to %s\n", bytes.n, cli_operand(args, 1));
    return CLI_DONE;
}

const struct cli_command cli_cmd_journal_audio_save = {
    .name = "journal audio save",
    .operands = "ENTRY FILE",
    .summary = "Writes the file of an entry where you say",
    .operands_min = 2,
    .operands_max = 2,
    .run = run_save,
};

/* The table of the journal's routes, and the schemas of its records.
 *
 * Every type has the same six routes; what differs is which filters its list knows. The schemas are
 * made from the same tables of fields that check what comes in.
 *
 * SPDX-License-Identifier: MIT
 */
#include "journal/import.h"
#include "serve/api_journal_int.h"

#define BASE "/api/v1/journal/"
#define QUERY(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define PAGED      "after", "limit"
#define SPAN       "from", "to", "order"
#define SHORT_BODY (64 * KIB)
#define NO_BODY    (4 * KIB)

#define LIST(plural, schema, ...)                                                                  \
    {                                                                                              \
        .method = "GET", .pattern = BASE plural, .run = api_journal_list,                          \
        .query = QUERY(__VA_ARGS__), .gives = schema "List",                                       \
        .summary = "Records of the journal: " plural ".",                                          \
    }
#define CREATE(plural, schema)                                                                     \
    {                                                                                              \
        .method = "POST", .pattern = BASE plural, .run = api_journal_create,                       \
        .body_max = JOURNAL_BODY, .takes = "New" schema, .gives = (schema), .status = 201,         \
        .once = true, .summary = "Makes one of the " plural "; once for each Idempotency-Key.",    \
    }
#define ONE(plural, schema)                                                                        \
    {                                                                                              \
        .method = "GET",                                                                           \
        .pattern = BASE plural "/{id}",                                                            \
        .run = api_journal_get,                                                                    \
        .query = QUERY("deleted"),                                                                 \
        .gives = (schema),                                                                         \
        .summary = "One of the " plural "; deleted=true: also when it was deleted.",               \
    },                                                                                             \
        {                                                                                          \
            .method = "PATCH",                                                                     \
            .pattern = BASE plural "/{id}",                                                        \
            .run = api_journal_change,                                                             \
            .body_max = JOURNAL_BODY,                                                              \
            .once = true,                                                                          \
            .header = "If-Match",                                                                  \
            .takes = schema "Change",                                                              \
            .gives = (schema),                                                                     \
            .summary = "Changes what is given of one of the " plural "; null takes a value away.", \
        },                                                                                         \
        {                                                                                          \
            .method = "DELETE",                                                                    \
            .pattern = BASE plural "/{id}",                                                        \
            .run = api_journal_remove,                                                             \
            .once = true,                                                                          \
            .header = "If-Match",                                                                  \
            .status = 204,                                                                         \
            .summary = "Deletes one of the " plural ", with what hangs on it.",                    \
        },                                                                                         \
    {                                                                                              \
        .method = "POST", .pattern = BASE plural "/{id}/restore", .run = api_journal_restore,      \
        .body_max = NO_BODY, .once = true, .gives = (schema),                                      \
        .summary = "Brings one of the deleted " plural " back, with what went along.",             \
    }

const struct serve_route api_journal_table[] = {
    { .method = "POST",
      .pattern = BASE "quick",
      .run = api_journal_quick,
      .once = true,
      .body_max = SHORT_BODY,
      .takes = "QuickRequest",
      .gives = "Quick",
      .summary = "A task from one line of plain words; preview: only what was understood." },
    { .method = "POST",
      .pattern = BASE "import",
      .run = api_journal_import,
      .body_max = IMPORT_BYTES_MAX,
      .query = QUERY("format", "name", "preview", "skipBad", "offset", "limit", "import"),
      .bytes = true,
      .gives = "Import",
      .summary =
          "Makes records from a file (the body): format csv, todotxt, markdown, ics or json; name: "
          "what it is called, by which warnings name its texts." },
    { .method = "POST",
      .pattern = BASE "import/{id}/undo",
      .run = api_journal_import_undo,
      .body_max = NO_BODY,
      .gives = "ImportUndone",
      .summary = "Deletes what an import made that said import=ID, within 48 hours." },
    { .method = "GET",
      .pattern = BASE "export",
      .run = api_journal_export,
      .answer = SERVE_FILE,
      .query = QUERY("format", "attachments"),
      .summary = "Everything as one file: format json (attachments=true: with files) or ics." },
    { .method = "GET",
      .pattern = BASE "timer",
      .run = api_timer_get,
      .gives = "RunningTimer",
      .summary = "The time entry that runs, or null." },
    { .method = "POST",
      .pattern = BASE "timer/start",
      .run = api_timer_start,
      .once = true,
      .body_max = SHORT_BODY,
      .takes = "TimerStart",
      .gives = "RunningTimer",
      .summary = "Starts the timer, on a task or not; what ran is stopped." },
    { .method = "POST",
      .pattern = BASE "timer/stop",
      .run = api_timer_stop,
      .once = true,
      .body_max = SHORT_BODY,
      .takes = "TimerStop",
      .gives = "RunningTimer",
      .summary = "Stops the timer." },
    { .method = "GET",
      .pattern = BASE "days/{day}",
      .run = api_days_get,
      .gives = "Day",
      .summary = "A day (2026-02-18, today): plan, blocks, time, entries, due tasks, ratings." },
    { .method = "PUT",
      .pattern = BASE "days/{day}/blocks",
      .run = api_days_blocks,
      .once = true,
      .body_max = JOURNAL_BODY,
      .takes = "DayBlocks",
      .gives = "Day",
      .summary = "Changes blocks of a day's plan together; they may not overlap." },
    { .method = "PUT",
      .pattern = BASE "days/{day}/pins",
      .run = api_days_pins,
      .once = true,
      .body_max = SHORT_BODY,
      .takes = "DayPins",
      .gives = "Day",
      .summary = "The tasks that are pinned to a day." },

    LIST("categories", "Category", PAGED),
    CREATE("categories", "Category"),
    ONE("categories", "Category"),
    LIST("labels", "Label", PAGED),
    CREATE("labels", "Label"),
    ONE("labels", "Label"),

    { .method = "GET",
      .pattern = BASE "tasks",
      .run = api_tasks_list,
      .query = QUERY("status", "closed", "categoryId", "labelId", "dueFrom", "dueTo", "q", "order",
                     PAGED),
      .gives = "TaskList",
      .summary = "Tasks by due day, priority or last change; open ones unless closed says true or "
                 "any." },
    CREATE("tasks", "Task"),
    ONE("tasks", "Task"),
    { .method = "POST",
      .pattern = BASE "tasks/{id}/labels",
      .run = api_tasks_labels,
      .once = true,
      .body_max = SHORT_BODY,
      .takes = "TaskLabels",
      .gives = "Task",
      .summary = "The labels that a task has from now on, by name or id." },
    { .method = "POST",
      .pattern = BASE "tasks/{id}/follow-up",
      .run = api_tasks_follow_up,
      .once = true,
      .body_max = SHORT_BODY,
      .takes = "FollowUpRequest",
      .gives = "FollowUp",
      .summary = "A new task that carries on what is open in this one." },

    LIST("checklists", "Checklist", "taskId", PAGED),
    CREATE("checklists", "Checklist"),
    ONE("checklists", "Checklist"),
    { .method = "POST",
      .pattern = BASE "checklists/{id}/items",
      .run = api_checklists_add,
      .once = true,
      .body_max = JOURNAL_BODY,
      .takes = "ChecklistTitles",
      .gives = "ChecklistItemList",
      .status = 201,
      .summary = "Adds items at the end of a checklist." },
    { .method = "POST",
      .pattern = BASE "checklist-items/move",
      .run = api_checklists_move,
      .once = true,
      .body_max = SHORT_BODY,
      .takes = "ChecklistMove",
      .gives = "ChecklistMoved",
      .summary = "Moves items to the end of another checklist." },
    LIST("checklist-items", "ChecklistItem", "checklistId", PAGED),
    CREATE("checklist-items", "ChecklistItem"),
    ONE("checklist-items", "ChecklistItem"),
    LIST("time-entries", "TimeEntry", "taskId", SPAN, PAGED),
    CREATE("time-entries", "TimeEntry"),
    ONE("time-entries", "TimeEntry"),
    LIST("day-plans", "DayPlan", SPAN, PAGED),
    CREATE("day-plans", "DayPlan"),
    ONE("day-plans", "DayPlan"),
    LIST("day-plan-blocks", "DayPlanBlock", "planId", "taskId", SPAN, PAGED),
    CREATE("day-plan-blocks", "DayPlanBlock"),
    ONE("day-plan-blocks", "DayPlanBlock"),
    { .method = "GET",
      .pattern = BASE "ratings/summary",
      .run = api_ratings_summary,
      .query = QUERY("from", "to"),
      .gives = "RatingSummary",
      .summary = "How many ratings of each dimension, and their mean." },
    LIST("ratings", "Rating", "targetId", "dimension", SPAN, PAGED),
    { .method = "POST",
      .pattern = BASE "ratings",
      .run = api_ratings_put,
      .once = true,
      .body_max = SHORT_BODY,
      .takes = "NewRating",
      .gives = "Rating",
      .summary = "Rates something; a rating of the same target and dimension is changed." },
    ONE("ratings", "Rating"),
    LIST("entries", "Entry", "kind", SPAN, PAGED),
    CREATE("entries", "Entry"),
    ONE("entries", "Entry"),
    LIST("attachments", "Attachment", "entryId", PAGED),
    { .method = "POST",
      .pattern = BASE "attachments",
      .run = api_attachments_add,
      .once = true,
      .body_max = ATTACHMENT_MAX,
      .query = QUERY("entryId", "fileName", "contentType"),
      .bytes = true,
      .gives = "Attachment",
      .status = 201,
      .summary = "Adds a file to an entry: the body is its bytes, as contentType or the header of "
                 "that name says." },
    ONE("attachments", "Attachment"),
    { .method = "GET",
      .pattern = BASE "attachments/{id}/content",
      .run = api_attachments_content,
      .answer = SERVE_FILE,
      .also = 206,
      .header = "Range",
      .summary = "What an attachment holds, or the range of its bytes that is asked for." },
    LIST("entry-links", "EntryLink", "targetId", PAGED),
    CREATE("entry-links", "EntryLink"),
    ONE("entry-links", "EntryLink"),
};
const size_t api_journal_count = ARRAY_LEN(api_journal_table);

/* ---- schemas ---- */

enum shape { SHAPE_FULL, SHAPE_NEW, SHAPE_CHANGE };

/* What is taken may be empty: then there is none. */
static void write_line(struct json_writer *w, const struct record_field *field, enum shape shape)
{
    json_put_text(w, "type", "string");
    if (field->max) {
        json_put_i64(w, "maxLength", field->max);
    }
    if (field->form == FORM_COLOR)
        json_put_text(w, "pattern",
                      shape == SHAPE_FULL ? "^#[0-9a-fA-F]{6}$" : "^(#[0-9a-fA-F]{6})?$");
}

static void write_number(struct json_writer *w, const struct record_field *field)
{
    json_put_text(w, "type", field->kind == FIELD_INT ? "integer" : "number");
    if (field->kind != FIELD_INT)
        return;
    json_put_i64(w, "minimum", field->min);
    json_put_i64(w, "maximum", field->max);
}

/* What is taken may be the number of the word, where that says how much. */
static void write_words(struct json_writer *w, const struct record_field *field, enum shape shape)
{
    json_put_array(w, "enum");
    for (size_t i = 0; field->words[i]; i++)
        json_write_text(w, field->words[i]);
    for (int64_t i = 0; field->ordinal && shape != SHAPE_FULL && field->words[i]; i++)
        json_write_i64(w, i);
    json_write_array_end(w);
}

static void write_type(struct json_writer *w, const struct record_field *field, enum shape shape)
{
    switch (field->kind) {
    case FIELD_LINE:
    case FIELD_TEXT:
        write_line(w, field, shape);
        break;
    case FIELD_WORD:
        write_words(w, field, shape);
        break;
    case FIELD_INT:
    case FIELD_REAL:
        write_number(w, field);
        break;
    case FIELD_BOOL:
        json_put_text(w, "type", "boolean");
        break;
    case FIELD_TIME:
        json_put_text(w, "type", "string");
        json_put_text(w, "format", "date-time");
        break;
    case FIELD_DAY:
        json_put_text(w, "type", "string");
        json_put_text(w, "description",
                      field->clock ? "YYYY-MM-DD or YYYY-MM-DDTHH:MM, local" : "YYYY-MM-DD, local");
        break;
    case FIELD_ID:
        json_put_text(w, "type", "string");
        if (field->ref)
            json_put_text(w, "description", record_type_name(field->ref));
        break;
    case FIELD_IDS:
        json_put_text(w, "type", "array");
        json_put_raw(w, "items", STR("{\"type\":\"string\"}"));
        break;
    }
}

static bool shows(const struct record_field *field, enum shape shape)
{
    return shape == SHAPE_FULL || !field->read_only;
}

static void write_property(struct json_writer *w, const struct record_field *field,
                           enum shape shape)
{
    json_put_object(w, field->name);
    if (field->nullable && shape != SHAPE_FULL) {
        json_put_array(w, "anyOf");
        json_write_object_begin(w);
        write_type(w, field, shape);
        json_write_object_end(w);
        json_write_raw(w, STR("{\"type\":\"null\"}"));
        json_write_array_end(w);
    } else {
        write_type(w, field, shape);
    }
    json_write_object_end(w);
}

static void write_required(struct json_writer *w, const struct record_field *fields, size_t n,
                           enum shape shape)
{
    if (shape == SHAPE_CHANGE)
        return;
    json_put_array(w, "required");
    if (shape == SHAPE_FULL)
        json_write_text(w, "id");
    for (size_t i = 0; i < n; i++)
        if (fields[i].required || (shape == SHAPE_FULL && !fields[i].nullable))
            json_write_text(w, fields[i].name);
    json_write_array_end(w);
}

/* What is not of the tables: stamps, and of a task labels and what it comes with. */
static void write_more(struct json_writer *w, enum record_type type, enum shape shape)
{
    static const char stamp[] = "{\"type\":\"string\",\"format\":\"date-time\"}";
    static const char *const stamps[] = { "createdAt", "updatedAt", "deletedAt" };

    for (size_t i = 0; shape == SHAPE_FULL && i < ARRAY_LEN(stamps); i++) {
        json_put_raw(w, stamps[i], str_from(stamp));
    }
    if (shape == SHAPE_FULL)
        json_put_raw(w, "version",
                     STR("{\"type\":\"string\",\"description\":\"Another one whenever it was"
                         " changed: for If-Match.\"}"));
    if (type == RECORD_CHECKLIST && shape == SHAPE_FULL) {
        json_write_key(w, "items");
        json_write_raw(w,
                       STR("{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/"
                           "ChecklistItem\"},\"description\":\"Of the checklists of one task.\"}"));
    }
    if (type != RECORD_TASK)
        return;
    json_put_raw(w, shape == SHAPE_FULL ? "labelIds" : "labels",
                 STR("{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"));
    if (shape != SHAPE_FULL)
        return;
    json_put_raw(w, "labels",
                 STR("{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Label\"},"
                     "\"description\":\"Of one task alone, as what follows.\"}"));
    json_put_raw(w, "checklists",
                 STR("{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/"
                     "Checklist\"},\"description\":\"Each with its items.\"}"));
    json_put_raw(w, "timeMs", STR("{\"type\":\"integer\"}"));
    json_put_raw(w, "links",
                 STR("{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/"
                     "EntryLink\"}}"));
}

static void write_schema(struct json_writer *w, enum record_type type, const char *name,
                         enum shape shape)
{
    size_t n;
    const struct record_field *fields = record_fields(type, &n);

    json_put_object(w, name);
    json_put_text(w, "type", "object");
    write_required(w, fields, n, shape);
    if (shape != SHAPE_FULL) {
        json_put_bool(w, "additionalProperties", false);
    }
    json_put_object(w, "properties");
    /* That of a rating follows from what is rated. */
    if (shape == SHAPE_FULL || (shape == SHAPE_NEW && type != RECORD_RATING)) {
        json_put_raw(w, "id", STR("{\"type\":\"string\",\"maxLength\":100}"));
    }
    for (size_t i = 0; i < n; i++)
        if (shows(&fields[i], shape))
            write_property(w, &fields[i], shape);
    write_more(w, type, shape);
    json_write_object_end(w);
    json_write_object_end(w);
}

static void write_list(struct json_writer *w, struct arena *arena, const char *schema)
{
    json_write_key(w, arena_printf(arena, "%sList", schema));
    json_write_raw(
        w, str_from(arena_printf(arena,
                                 "{\"type\":\"object\",\"required\":[\"items\"],\"properties\":{"
                                 "\"items\":{\"type\":\"array\",\"items\":{\"$ref\":"
                                 "\"#/components/schemas/%s\"}},\"next\":{\"type\":\"string\","
                                 "\"description\":\"There is more: the next page's after.\"}}}",
                                 schema)));
}

void api_journal_schemas(struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    AUTO_ARENA arena = ARENA_INIT;

    json_write_object_begin(&w);
#define X(id, plural, schema)                                                                      \
    write_schema(&w, RECORD_##id, schema, SHAPE_FULL);                                             \
    write_schema(&w, RECORD_##id, "New" schema, SHAPE_NEW);                                        \
    write_schema(&w, RECORD_##id, schema "Change", SHAPE_CHANGE);                                  \
    write_list(&w, &arena, schema);
    API_RECORDS(X)
#undef X
    json_write_object_end(&w);
    BUG_IF(json_write_end(&w) < 0);
}

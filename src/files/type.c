/* What kind of content a file has, by its name.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "files/files_int.h"

static const struct {
    const char *ending, *type;
} types[] = {
    { ".md", "text/markdown" },      { ".markdown", "text/markdown" },
    { ".txt", "text/plain" },        { ".json", "application/json" },
    { ".yaml", "application/yaml" }, { ".yml", "application/yaml" },
    { ".csv", "text/csv" },          { ".html", "text/html" },
    { ".css", "text/css" },          { ".js", "text/javascript" },
    { ".xml", "application/xml" },   { ".py", "text/x-python" },
    { ".sh", "text/x-shellscript" }, { ".c", "text/x-c" },
    { ".svg", "image/svg+xml" },     { ".png", "image/png" },
    { ".jpg", "image/jpeg" },        { ".jpeg", "image/jpeg" },
    { ".gif", "image/gif" },         { ".webp", "image/webp" },
    { ".pdf", "application/pdf" },
};

struct str file_type_of(struct str path, struct str content)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct str ending = str_from(types[i].ending);

        if (path.n > ending.n && str_eq_nocase(str_skip(path, path.n - ending.n), ending))
            return str_from(types[i].type);
    }
    return utf8_valid(content) ? STR("text/plain") : STR("application/octet-stream");
}

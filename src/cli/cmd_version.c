/* dormouse version
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <uv.h>
#include <zlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <libfyaml.h>
#include <microhttpd.h>
#include <pcre2.h>

#include "base/alloc.h"
#include "base/dl.h"
#include "base/str.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "db/engine.h"

#define VERSION_TEXT 64

static void sqlite_version(char *out, size_t size)
{
    snprintf(out, size, "%s", db_sqlite_version());
}

static void uv_text(char *out, size_t size)
{
    snprintf(out, size, "%s", uv_version_string());
}

static void json_text(char *out, size_t size)
{
    snprintf(out, size, "%s", json_c_version());
}

static void mhd_text(char *out, size_t size)
{
    snprintf(out, size, "%s", MHD_get_version());
}

static void openssl_text(char *out, size_t size)
{
    snprintf(out, size, "%s", OpenSSL_version(OPENSSL_VERSION_STRING));
}

static void zlib_text(char *out, size_t size)
{
    snprintf(out, size, "%s", zlibVersion());
}

static void fyaml_text(char *out, size_t size)
{
    snprintf(out, size, "%s", fy_library_version());
}

static void pcre_text(char *out, size_t size)
{
    char text[VERSION_TEXT] = "";

    pcre2_config(PCRE2_CONFIG_VERSION, text);
    snprintf(out, size, "%.*s", (int)strcspn(text, " "), text);
}

/* The two that are opened only when used. Absent is not an error here; doctor speaks about it. */
static void curl_text(char *out, size_t size)
{
    char *(*curl_version_text)(void) = NULL;
    struct dl_symbol symbols[] = { { "curl_version", (void **)&curl_version_text } };
    struct str text, first;

    if (dl_load("libcurl.so.4", symbols, ARRAY_LEN(symbols), NULL) < 0) {
        snprintf(out, size, "absent");
        return;
    }
    text = str_from(curl_version_text()); /* "libcurl/7.88.1 OpenSSL/3.0 ..." */
    str_split(&text, ' ', &first);
    if (str_starts(first, STR("libcurl/")))
        first = str_skip(first, 8);
    snprintf(out, size, "%.*s", STR_ARG(first));
}

static void pq_text(char *out, size_t size)
{
    int (*pq_version)(void) = NULL;
    struct dl_symbol symbols[] = { { "PQlibVersion", (void **)&pq_version } };

    if (dl_load("libpq.so.5", symbols, ARRAY_LEN(symbols), NULL) < 0)
        snprintf(out, size, "absent");
    else
        snprintf(out, size, "%d.%d", pq_version() / 10000, pq_version() % 10000);
}

static const struct library {
    const char *name;
    void (*version)(char *out, size_t size);
} libraries[] = {
    { "sqlite", sqlite_version }, { "libuv", uv_text },       { "libmicrohttpd", mhd_text },
    { "json-c", json_text },      { "libfyaml", fyaml_text }, { "pcre2", pcre_text },
    { "openssl", openssl_text },  { "zlib", zlib_text },      { "libcurl", curl_text },
    { "libpq", pq_text },
};

static void print_json(void)
{
    struct json_object *out = json_object_new_object(), *libs = json_object_new_object();
    char text[VERSION_TEXT];

    json_object_object_add(out, "version", json_object_new_string(DORMOUSE_VERSION));
    json_object_object_add(out, "build", json_object_new_string(DORMOUSE_BUILD));
    json_object_object_add(out, "compiler", json_object_new_string(DORMOUSE_COMPILER));
    for (size_t i = 0; i < ARRAY_LEN(libraries); i++) {
        libraries[i].version(text, sizeof(text));
        json_object_object_add(libs, libraries[i].name, json_object_new_string(text));
    }
    json_object_object_add(out, "libraries", libs);
    cli_print_json(out);
}

int cli_version_page(const struct cli_args *args)
{
    char text[VERSION_TEXT];

    if (cli_json(args)) {
        print_json();
        return CLI_DONE;
    }
    printf("dormouse %s (%s, %s)\n", DORMOUSE_VERSION, DORMOUSE_BUILD, DORMOUSE_COMPILER);
    for (size_t i = 0; i < ARRAY_LEN(libraries); i++) {
        libraries[i].version(text, sizeof(text));
        printf("  %-14s %s\n", libraries[i].name, text);
    }
    return CLI_DONE;
}

const struct cli_command cli_cmd_version = {
    .name = "version",
    .operands = "",
    .summary = "Prints the version, how it was built, and the libraries it runs with",
    .run = cli_version_page,
};

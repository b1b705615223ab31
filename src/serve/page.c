/* Embedded files: the page, its style and its script.
 *
 * They are part of the binary, compressed at build time. The response of each is made at its first
 * use and then shared by all requests; it only points at the binary's own memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/page_int.h"

#include <stdio.h>
#include <stdlib.h>

#include "serve/serve_int.h"

static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self'; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'";

/* What the page asks for first. Named in its head, the answers are on their way while its script
 * still is. web/src/main.tsx asks for the same, letter by letter; no more than a browser has
 * connections for, beside the files. */
#define FIRST_INBOX  "</api/v1/inbox>; rel=preload; as=fetch; crossorigin; fetchpriority=low"
#define FIRST_AGENTS "</api/v1/agents>; rel=preload; as=fetch; crossorigin; fetchpriority=low"

/* A file is answered in several forms. */
enum form {
    FORM_GZIP = 1,
    FORM_UNCHANGED = 2, /* 304, without the bytes */
    FORM_HOME = 4,      /* the page at / */
    FORM_COUNT = 8,
};

void page_init(struct serve *serve)
{
    serve->pages = NEW_N(struct MHD_Response *, page_count * FORM_COUNT);
}

void page_release(struct serve *serve)
{
    for (size_t i = 0; i < page_count * FORM_COUNT; i++)
        if (serve->pages[i])
            MHD_destroy_response(serve->pages[i]);
    free(serve->pages);
}

static void etag_of(const struct page *page, unsigned form, char out[48])
{
    snprintf(out, 48, "\"%s%s\"", page->hash, form & FORM_GZIP ? "-gz" : "");
}

static bool is_html(const struct page *page)
{
    return strncmp(page->type, "text/html", 9) == 0;
}

static void add_html_headers(struct MHD_Response *response, const struct page *page, unsigned form)
{
    MHD_add_response_header(response, "Content-Security-Policy", policy);
    MHD_add_response_header(response, "X-Frame-Options", "DENY");
    MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    if (strcmp(page->name, "index.html") != 0)
        return;
    MHD_add_response_header(response, "Link",
                            form & FORM_HOME ? FIRST_AGENTS ", " FIRST_INBOX : FIRST_INBOX);
}

static struct MHD_Response *make_response(const struct page *page, unsigned form)
{
    struct str bytes = form & FORM_UNCHANGED ? STR("")
                       : form & FORM_GZIP    ? str_of((const char *)page->gzip, page->gzip_n)
                                             : str_of((const char *)page->bytes, page->n);
    struct MHD_Response *response = MHD_create_response_from_buffer(
        bytes.n, (void *)(uintptr_t)bytes.p, MHD_RESPMEM_PERSISTENT);
    char etag[48];

    if (!response)
        BUG("out of memory for a response");
    etag_of(page, form, etag);
    MHD_add_response_header(response, "ETag", etag);
    MHD_add_response_header(response, "Vary", "Accept-Encoding");
    MHD_add_response_header(response, "Cache-Control",
                            page->hashed ? "public, max-age=31536000, immutable" : "no-cache");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    if (!(form & FORM_UNCHANGED))
        MHD_add_response_header(response, "Content-Type", page->type);
    if ((form & (FORM_GZIP | FORM_UNCHANGED)) == FORM_GZIP)
        MHD_add_response_header(response, "Content-Encoding", "gzip");
    if (is_html(page))
        add_html_headers(response, page, form);
    return response;
}

/* "q=0", "Q=0.000": not wanted at all. */
static bool is_refused(struct str params)
{
    struct str param;

    while (params.p && str_split(&params, ';', &param)) {
        param = str_trim(param);
        if (!str_eq_nocase(str_take(param, 2), STR("q=")))
            continue;
        param = str_skip(param, 2);
        while (param.n > 0 && (param.p[0] == '0' || param.p[0] == '.'))
            param = str_skip(param, 1);
        return param.n == 0;
    }
    return false;
}

bool page_accepts_gzip(struct str header)
{
    bool any = false;
    struct str word, name;

    while (header.p && str_split(&header, ',', &word)) {
        if (!str_split(&word, ';', &name))
            continue;
        name = str_trim(name);
        if (str_eq_nocase(name, STR("gzip")) || str_eq_nocase(name, STR("x-gzip")))
            return !is_refused(word);
        if (str_is(name, "*"))
            any = !is_refused(word);
    }
    return any;
}

bool page_etag_listed(struct str header, const char *etag)
{
    struct str word;

    if (!header.p)
        return false;
    while (str_split(&header, ',', &word)) {
        word = str_trim(word);
        if (str_starts(word, STR("W/")))
            word = str_skip(word, 2);
        if (str_is(word, etag) || str_is(word, "*"))
            return true;
    }
    return false;
}

static const struct page *page_find(struct str name)
{
    for (size_t i = 0; i < page_count; i++)
        if (str_is(name, pages[i].name))
            return &pages[i];
    return NULL;
}

static void reply_page(struct serve_request *request, const struct page *page, int status)
{
    struct serve *serve = serve_request_serve(request);
    unsigned form = str_is(request->target.path, "/") ? FORM_HOME : 0;
    struct MHD_Response **slot;
    char etag[48];

    if (page->gzip_n > 0 && page_accepts_gzip(serve_request_header(request, "Accept-Encoding")))
        form |= FORM_GZIP;
    etag_of(page, form, etag);
    if (status == 200 && page_etag_listed(serve_request_header(request, "If-None-Match"), etag)) {
        form |= FORM_UNCHANGED;
        status = 304;
    }
    slot = &serve->pages[(size_t)(page - pages) * FORM_COUNT + form];
    if (!*slot)
        *slot = make_response(page, form);
    reply_shared(request, status, *slot);
}

/* "/api", "/api/v1/x", "/assets/x": never a view, whatever the browser hopes for. */
static bool is_below(struct str path, struct str top)
{
    return str_starts(path, top) && (path.n == top.n || path.p[top.n] == '/');
}

int page_reply_missing(struct serve_request *request, struct str path)
{
    const struct page *page = page_find(STR("index.html"));
    struct str accept = serve_request_header(request, "Accept"), word, type;

    if (!page || is_below(path, STR("/api")) || is_below(path, STR("/assets")))
        return -1;
    while (accept.p && str_split(&accept, ',', &word))
        if (str_split(&word, ';', &type) && str_eq_nocase(str_trim(type), STR("text/html"))) {
            reply_page(request, page, 404);
            return 0;
        }
    return -1;
}

int page_reply(struct serve_request *request, const char *name)
{
    const struct page *page = page_find(str_from(name));

    if (!page)
        return -1;
    reply_page(request, page, strcmp(name, "login-failed.html") == 0 ? 403 : 200);
    return 0;
}

bool page_is_view(struct str path)
{
    static const char *const views[] = { "agents",   "inbox", "journal", "runs",
                                         "settings", "wakes", "wizard" };
    struct str first;

    if (!str_starts(path, STR("/")))
        return false;
    path = str_skip(path, 1);
    if (!str_split(&path, '/', &first))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(views); i++)
        if (str_is(first, views[i]))
            return true;
    return false;
}

void page_home(struct serve_request *request)
{
    if (page_reply(request, "index.html") < 0)
        BUG("the start page was not embedded");
}

void page_run(struct serve_request *request)
{
    struct str name = serve_request_param(request, "name");
    const struct page *page = str_ends(name, STR(".html")) ? NULL : page_find(name);
    struct err err = ERR_INIT;

    if (page) {
        reply_page(request, page, 200);
        return;
    }
    err_set(&err, ERR_NOT_FOUND, "there is no file %.*s", STR_ARG(str_take(name, 100)));
    serve_reply_error(request, &err);
}

/* Reading with libarchive.
 *
 * Names in headers are bytes of some character set. libarchive converts them by the locale; the
 * daemon has none, so each call runs in C.UTF-8, for this thread alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "files/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/dl.h"

#define FUNCTIONS(X)                                                                               \
    X(archive_read_new)                                                                            \
    X(archive_read_free)                                                                           \
    X(archive_read_support_filter_gzip)                                                            \
    X(archive_read_support_format_tar)                                                             \
    X(archive_read_support_format_zip_seekable)                                                    \
    X(archive_read_open_memory)                                                                    \
    X(archive_read_next_header)                                                                    \
    X(archive_read_data)                                                                           \
    X(archive_error_string)                                                                        \
    X(archive_format)                                                                              \
    X(archive_format_name)                                                                         \
    X(archive_filter_bytes)                                                                        \
    X(archive_entry_pathname)                                                                      \
    X(archive_entry_filetype)                                                                      \
    X(archive_entry_hardlink)                                                                      \
    X(archive_entry_size)                                                                          \
    X(archive_entry_size_is_set)                                                                   \
    X(archive_entry_perm)                                                                          \
    X(archive_entry_is_encrypted)

static struct {
#define X(name) __typeof__(name) *(name);
    FUNCTIONS(X)
#undef X
} lib;
static locale_t utf8_locale;
static struct err lib_err;
static int lib_result;

static void load(void)
{
    static const struct dl_symbol symbols[] = {
#define X(name) { #name, (void **)&lib.name },
        FUNCTIONS(X)
#undef X
    };

    lib_result = dl_load("libarchive.so.13", symbols, ARRAY_LEN(symbols), &lib_err);
    if (lib_result < 0)
        err_wrap(&lib_err, "archives need libarchive (Debian package libarchive13)");
    utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

struct unpack {
    struct archive *archive;
};

static locale_t enter(void)
{
    return uselocale(utf8_locale ? utf8_locale : LC_GLOBAL_LOCALE);
}

static int fail(struct unpack *unpack, struct err *err)
{
    const char *why = lib.archive_error_string(unpack->archive);

    return err_set(err, ERR_BAD_REQUEST, "%.200s", why ? why : "it is damaged");
}

int unpack_open(struct str bytes, struct unpack **ret_unpack, struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    AUTO(unpack) unpack = NULL;
    locale_t before;
    int r;

    pthread_once(&once, load);
    if (lib_result < 0) {
        if (err)
            *err = lib_err;
        return -1;
    }
    unpack = NEW(struct unpack);
    unpack->archive = lib.archive_read_new();
    BUG_IF(!unpack->archive);
    lib.archive_read_support_filter_gzip(unpack->archive);
    lib.archive_read_support_format_tar(unpack->archive);
    /* By its directory at the end; the other reader takes what comes before one that is missing. */
    lib.archive_read_support_format_zip_seekable(unpack->archive);
    before = enter();
    r = lib.archive_read_open_memory(unpack->archive, bytes.p, bytes.n);
    uselocale(before);
    if (r != ARCHIVE_OK)
        return fail(unpack, err);
    *ret_unpack = TAKE(unpack);
    return 0;
}

void unpack_free(struct unpack *unpack)
{
    if (unpack)
        lib.archive_read_free(unpack->archive);
    free(unpack);
}

static enum unpack_kind kind_of(struct archive_entry *entry)
{
    if (lib.archive_entry_hardlink(entry))
        return UNPACK_LINK;
    switch (lib.archive_entry_filetype(entry)) {
    case AE_IFREG:
        return UNPACK_FILE;
    case AE_IFDIR:
        return UNPACK_FOLDER;
    case AE_IFLNK:
        return UNPACK_LINK;
    case AE_IFCHR:
    case AE_IFBLK:
    case AE_IFIFO:
    case AE_IFSOCK:
        return UNPACK_DEVICE;
    default:
        return UNPACK_OTHER;
    }
}

/* "ZIP 2.0 (deflation)". */
static bool is_method_allowed(struct unpack *unpack)
{
    const char *name = lib.archive_format_name(unpack->archive);

    if ((lib.archive_format(unpack->archive) & ARCHIVE_FORMAT_BASE_MASK) != ARCHIVE_FORMAT_ZIP)
        return true;
    return name && (strstr(name, "(deflation)") || strstr(name, "(uncompressed)"));
}

int unpack_next(struct unpack *unpack, struct unpack_entry *ret_entry, struct err *err)
{
    struct archive_entry *entry;
    locale_t before = enter();
    int r = lib.archive_read_next_header(unpack->archive, &entry);

    if (r == ARCHIVE_OK || r == ARCHIVE_WARN)
        *ret_entry = (struct unpack_entry){
            .name = lib.archive_entry_pathname(entry),
            .kind = kind_of(entry),
            .size = lib.archive_entry_size_is_set(entry) ? lib.archive_entry_size(entry) : -1,
            .executable = lib.archive_entry_perm(entry) & 0111,
            .encrypted = lib.archive_entry_is_encrypted(entry),
        };
    uselocale(before);
    if (r == ARCHIVE_EOF)
        return 0;
    if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
        return fail(unpack, err);
    if (!ret_entry->encrypted && ret_entry->kind == UNPACK_FILE && !is_method_allowed(unpack))
        return err_set(err, ERR_BAD_REQUEST, "entry \"%.200s\": %s; only deflate is read",
                       ret_entry->name ? ret_entry->name : "",
                       lib.archive_format_name(unpack->archive));
    return 1;
}

int unpack_read(struct unpack *unpack, char *out, size_t room, size_t *ret_n, struct err *err)
{
    la_ssize_t n = lib.archive_read_data(unpack->archive, out, room);

    if (n < 0)
        return fail(unpack, err);
    *ret_n = (size_t)n;
    return 0;
}

int64_t unpack_cost(struct unpack *unpack)
{
    return lib.archive_filter_bytes(unpack->archive, 0);
}

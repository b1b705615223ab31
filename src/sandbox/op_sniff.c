/* Kinds of files, by their first bytes: a table of signatures, and the four common image formats,
 * whose heads also tell the size of the picture.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/op_sniff.h"

#include "base/alloc.h"

#define NUL_WITHIN 8192 /* as git and most tools have it */

static const struct {
    struct str sign;
    const char *type;
} signatures[] = {
    { { "%PDF-", 5 }, "application/pdf" },
    { { "PK\3\4", 4 }, "application/zip" },
    { { "\x1f\x8b", 2 }, "application/gzip" },
    { { "BZh", 3 }, "application/x-bzip2" },
    { { "\xfd"
        "7zXZ\0",
        6 },
      "application/x-xz" },
    { { "\x28\xb5\x2f\xfd", 4 }, "application/zstd" },
    { { "7z\xbc\xaf\x27\x1c", 6 }, "application/x-7z-compressed" },
    { { "\x7f"
        "ELF",
        4 },
      "application/x-executable" },
    { { "\0asm", 4 }, "application/wasm" },
    { { "SQLite format 3\0", 16 }, "application/vnd.sqlite3" },
    { { "OggS", 4 }, "audio/ogg" },
    { { "fLaC", 4 }, "audio/flac" },
    { { "ID3", 3 }, "audio/mpeg" },
    { { "\xff\xfe", 2 }, "text/plain; charset=utf-16" },
    { { "\xfe\xff", 2 }, "text/plain; charset=utf-16" },
};

static uint32_t be16(const char *p)
{
    return (uint32_t)(unsigned char)p[0] << 8 | (unsigned char)p[1];
}

static uint32_t be32(const char *p)
{
    return be16(p) << 16 | be16(p + 2);
}

static uint32_t le16(const char *p)
{
    return (uint32_t)(unsigned char)p[1] << 8 | (unsigned char)p[0];
}

static uint32_t le24(const char *p)
{
    return le16(p) | (uint32_t)(unsigned char)p[2] << 16;
}

static bool sniff_png(struct str head, struct sniff *ret)
{
    if (!str_starts(head, STR("\x89PNG\r\n\x1a\n")))
        return false;
    ret->type = "image/png";
    if (head.n >= 24 && memcmp(head.p + 12, "IHDR", 4) == 0) {
        ret->width = be32(head.p + 16);
        ret->height = be32(head.p + 20);
    }
    return true;
}

static bool sniff_gif(struct str head, struct sniff *ret)
{
    if (!str_starts(head, STR("GIF87a")) && !str_starts(head, STR("GIF89a")))
        return false;
    ret->type = "image/gif";
    if (head.n >= 10) {
        ret->width = le16(head.p + 6);
        ret->height = le16(head.p + 8);
    }
    return true;
}

/* Frame headers are C0 to CF but for the three that are tables. */
static bool is_jpeg_frame(unsigned char marker)
{
    return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

static bool sniff_jpeg(struct str head, struct sniff *ret)
{
    size_t at = 2;

    if (!str_starts(head, STR("\xff\xd8\xff")))
        return false;
    ret->type = "image/jpeg";
    /* Segments: FF, marker, length with itself. Each step goes at least two bytes on. */
    while (at + 9 <= head.n && (unsigned char)head.p[at] == 0xFF) {
        unsigned char marker = (unsigned char)head.p[at + 1];

        if (marker == 0xFF) {
            at++;
            continue;
        }
        if (is_jpeg_frame(marker)) {
            ret->height = be16(head.p + at + 5);
            ret->width = be16(head.p + at + 7);
            break;
        }
        if (be16(head.p + at + 2) < 2)
            break;
        at += 2 + be16(head.p + at + 2);
    }
    return true;
}

static bool sniff_webp(struct str head, struct sniff *ret)
{
    if (head.n < 16 || memcmp(head.p, "RIFF", 4) != 0 || memcmp(head.p + 8, "WEBPVP8", 7) != 0)
        return false;
    ret->type = "image/webp";
    if (head.n < 30)
        return true;
    if (head.p[15] == ' ') {
        ret->width = le16(head.p + 26) & 0x3FFF;
        ret->height = le16(head.p + 28) & 0x3FFF;
    } else if (head.p[15] == 'L') {
        uint32_t bits = le24(head.p + 21) | (uint32_t)(unsigned char)head.p[24] << 24;

        ret->width = (bits & 0x3FFF) + 1;
        ret->height = (bits >> 14 & 0x3FFF) + 1;
    } else if (head.p[15] == 'X') {
        ret->width = le24(head.p + 24) + 1;
        ret->height = le24(head.p + 27) + 1;
    }
    return true;
}

struct sniff sniff(struct str head)
{
    struct sniff found = { .kind = SNIFF_IMAGE };

    if (sniff_png(head, &found) || sniff_gif(head, &found) || sniff_jpeg(head, &found) ||
        sniff_webp(head, &found))
        return found;
    found.kind = SNIFF_BINARY;
    for (size_t i = 0; i < ARRAY_LEN(signatures); i++)
        if (str_starts(head, signatures[i].sign)) {
            found.type = signatures[i].type;
            return found;
        }
    found.type = "application/octet-stream";
    if (head.n && memchr(head.p, '\0', head.n < NUL_WITHIN ? head.n : NUL_WITHIN))
        return found;
    return (struct sniff){ .kind = SNIFF_TEXT };
}

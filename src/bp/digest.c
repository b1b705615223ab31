/* The identity of a program: SHA-256 over all that decides what it does, each number in a fixed
 * width and each text with its length, so that no two programs are written alike.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/hash.h"
#include "bp/bp.h"

#define DIGEST_VERSION 1 /* of the form below */

static void put_number(struct sha256 *md, uint64_t number)
{
    uint8_t bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    sha256_add(md, str_of((const char *)bytes, sizeof(bytes)));
}

static void put_text(struct sha256 *md, const char *text)
{
    size_t n = text ? strlen(text) : 0;

    put_number(md, n);
    sha256_add(md, str_of(text ? text : "", n));
}

static void put_sels(struct sha256 *md, const struct bp_sel *sels, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        put_number(md, sels[i].types);
        put_number(md, (uint64_t)sels[i].has << 32 | sels[i].lacks);
        put_number(md, (uint64_t)sels[i].mine << 8 | sels[i].go);
    }
}

static void put_point(struct sha256 *md, const struct bp_point *point)
{
    const struct bp_req *req = &point->request;

    put_text(md, point->name);
    put_number(md, (uint64_t)req->set << 32 | (uint64_t)req->type << 16 | (uint64_t)req->mine << 8 |
                       req->go);
    put_sels(md, point->wait, BP_WAITS);
    put_sels(md, point->block, BP_BLOCKS);
    put_number(md, (uint64_t)point->times << 8 | point->bad);
}

static void put_thread(struct sha256 *md, const struct bp_thread *thread)
{
    put_text(md, thread->name);
    put_number(md, (uint64_t)thread->n << 32 | (uint64_t)thread->kind << 16 | thread->max);
    put_sels(md, &thread->spawn, 1);
    put_sels(md, thread->until, BP_UNTILS);
    for (unsigned i = 0; i < thread->n; i++)
        put_point(md, &thread->at[i]);
}

static void put_program(struct sha256 *md, const struct bp_program *program)
{
    put_number(md, DIGEST_VERSION);
    put_text(md, program->name);
    put_number(md, (uint64_t)program->type_count << 48 | (uint64_t)program->thread_count << 32 |
                       (uint64_t)program->bit_count << 16 | program->limit_count);
    for (unsigned i = 0; i < program->type_count; i++) {
        put_text(md, program->types[i].name);
        put_number(md, (uint64_t)program->types[i].flags << 32 | program->types[i].bits);
    }
    for (unsigned i = 0; i < program->bit_count; i++)
        put_text(md, program->bits[i]);
    for (unsigned i = 0; i < program->limit_count; i++) {
        put_text(md, program->limits[i].name);
        put_number(md, (uint64_t)program->limits[i].value << 16 | program->limits[i].checked);
    }
    for (unsigned i = 0; i < program->thread_count; i++)
        put_thread(md, &program->threads[i]);
}

void bp_program_hash(const struct bp_program *program, uint8_t hash[BP_HASH_BYTES])
{
    struct sha256 md;

    sha256_init(&md);
    put_program(&md, program);
    sha256_finish(&md, hash);
}

/* FunctionGemma's control-token format: prompts out, calls in.
 *
 *   <start_of_turn>developer
 *   SYSTEM
 *   You are a model that can do function calling with the following functions
 *   <start_function_declaration>declaration:NAME{description:<escape>..<escape>,parameters:{..}}
 *   <end_function_declaration><end_of_turn>
 *   <start_of_turn>user
 *   TEXT<end_of_turn>
 *   <start_of_turn>model
 *   <start_function_call>call:NAME{key:<escape>text<escape>,n:1}<end_function_call>
 *   <start_function_response>response:NAME{key:value}<end_function_response>TEXT<end_of_turn>
 *
 * (each on one line but for the breaks after a turn's role, and before the next turn). Strings
 * stand between two <escape>, other values as in JSON, keys bare. Members are sorted by key, as the
 * model's own template does it.
 *
 * gemma_format.c writes prompts, gemma_parse.c splits what the model says into text and calls while
 * it streams, gemma_value.c reads the arguments of a call and mends what is safe to mend.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_GEMMA_INT_H
#define DORMOUSE_MODEL_GEMMA_INT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "model/model.h"

/* ---- prompts ---- */

#define GEMMA_PROMPT_MAX (16u << 20)

/* Control tokens inside texts that people or tools wrote are broken up with a space, so that nobody
 * can end a turn or answer for a tool from inside. -1 with context_too_long past the buffer's cap,
 * with bad_request when a tool's schema is no JSON object. */
int gemma_prompt(const struct model_request *request, struct buf *out, struct err *err);

/* ---- answers ---- */

#define GEMMA_CALL_MAX  (256u << 10) /* bytes of one call */
#define GEMMA_BARE_MAX  (8u << 10)   /* of one without its start token */
#define GEMMA_DEPTH_MAX 32
#define GEMMA_NAME_MAX  128

/* What was mended in a call. Everything else is a problem, and the call fails. */
enum gemma_repair {
    GEMMA_NO_START = 1,        /* "call:name{..}" of a tool that was offered, without its token */
    GEMMA_NO_END = 2,          /* no <end_function_call> */
    GEMMA_NO_PREFIX = 4,       /* "name{..}" without "call:" */
    GEMMA_QUOTES = 8,          /* "text" or 'text' instead of <escape> */
    GEMMA_BARE_TEXT = 16,      /* a string without any mark */
    GEMMA_TRAILING_COMMA = 32, /* {a:1,} */
    GEMMA_OPEN_BRACES = 64,    /* the last } or ] are missing */
    GEMMA_OPEN_STRING = 128,   /* the last string lacks its closing <escape> */
    GEMMA_JSON = 256,          /* {"name":..,"arguments":{..}}, or keys in quotes */
    GEMMA_PARENTHESES = 512,   /* name(..) */
    GEMMA_TYPE = 1024,         /* <escape>5<escape> where the schema wants a number, and so on */
    GEMMA_WORDS = 2048,        /* True, False, None */
    GEMMA_EQUALS = 4096,       /* key=value */
};

struct gemma_call {
    struct str name;
    struct str arguments; /* a JSON object */
    struct str problem;   /* empty: it can be executed */
    unsigned repairs;     /* of enum gemma_repair */
};

/* Reads what stands between the call's tokens. All of it lies in arena; tools tell which types are
 * wanted. Never fails: what can't be read has a problem. */
void gemma_call_read(struct str body, const struct model_tool *tools, size_t tool_count,
                     struct arena *arena, struct gemma_call *ret_call);

struct gemma_parser {
    void (*on_text)(void *arg, struct str text);
    void (*on_call)(void *arg, const struct gemma_call *call);
    void *arg;
    const struct model_tool *tools;
    size_t tool_count;
    struct buf held; /* what can't be decided yet */
    size_t scanned;  /* bytes of it that hold no token */
    bool in_call;
    bool bare;     /* the call came without its start token */
    bool at_start; /* of a line, where a bare call may begin */
    bool over;     /* the model has ended its turn: the rest is dropped */
};

void gemma_parser_init(struct gemma_parser *parser, const struct model_tool *tools,
                       size_t tool_count);
void gemma_parser_release(struct gemma_parser *parser);
/* Cut anywhere, the pieces give the same calls, and the same text when put together. */
void gemma_parser_feed(struct gemma_parser *parser, struct str piece);
/* No more comes. */
void gemma_parser_end(struct gemma_parser *parser);

#endif

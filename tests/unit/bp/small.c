/* SPDX-License-Identifier: MIT */
#include "small.h"

const struct bp_type small_types[SMALL_TYPES] = {
    [A] = { "a" },
    [B] = { "b" },
    [C] = { "c" },
    [D] = { "d" },
    [X] = { "x", BP_EXT, RED | BLUE | GREEN },
    [Y] = { "y", BP_EXT },
    [MODE] = { "mode", BP_EXT | BP_LATCH, GREEN },
    [BORN] = { "born", BP_EXT | BP_KEYED | BP_BIRTH, RED | BLUE },
    [EDIT] = { "edit", BP_EXT | BP_KEYED | BP_LATCH, RED },
    [K] = { "k", BP_KEYED },
    [L] = { "l", BP_KEYED },
    [E] = { "e", BP_EXT | BP_KEYED, RED },
    [OVER] = { "over", BP_KEYED | BP_RETIRE },
    [GONE] = { "gone", BP_EXT | BP_KEYED | BP_RETIRE },
    [TUNE] = { "tune", BP_LATCH, RED },
    [KEEP] = { "keep", BP_KEYED | BP_LATCH, BLUE | GREEN },
    [STOP] = { "stop", BP_EXT | BP_COOP },
    [FIN] = { "fin", BP_FINAL },
};

const char *const small_bits[3] = { "red", "blue", "green" };

static void hear(void *ctx, const struct bp_event *event, const struct bp_place *by)
{
    struct play *play = ctx;

    (void)by;
    bp_event_text(&play->program, event, &play->heard);
    buf_add_char(&play->heard, ' ');
}

void play_start(struct play *play, struct bp_program program, const struct bp_options *options)
{
    struct bp_options o = options ? *options : (struct bp_options){ .selected = NULL };
    struct err err = ERR_INIT;
    char text[512];

    *play =
        (struct play){ .program = program, .heard = BUF_INIT(1 << 20), .why = BUF_INIT(1 << 16) };
    if (bp_program_check(&play->program, &err) < 0)
        FAIL("%s", err_format(&err, text, sizeof(text)));
    o.selected = hear;
    o.ctx = play;
    play->engine = bp_new(&play->program, 4, &o);
    bp_run(play->engine, &play->refusal);
}

void play_release(struct play *play)
{
    bp_free(play->engine);
    buf_release(&play->heard);
    buf_release(&play->why);
}

bool play_offer(struct play *play, unsigned type, unsigned key, uint32_t bits)
{
    struct bp_event event = { .type = (uint8_t)type, .key = (uint16_t)key, .bits = bits };

    play->refusal = (struct bp_refusal){ .reason = BP_FINE };
    if (bp_offer(play->engine, &event, &play->refusal) == 0)
        return true;
    buf_clear(&play->why);
    bp_refusal_text(&play->program, &event, &play->refusal, &play->why);
    return false;
}

const char *play_heard(struct play *play)
{
    static char text[4096];

    snprintf(text, sizeof(text), "%s", buf_text(&play->heard));
    buf_clear(&play->heard);
    return text;
}

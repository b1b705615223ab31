/* The rules of tic-tac-toe, each a thread that knows nothing of the others: a square is taken once,
 * the players take turns, three in a line win, nine moves are a draw. X comes from outside; O is
 * played by threads that complete a line, stop one, or take the best free square.
 *
 * SPDX-License-Identifier: MIT
 */
#include "small.h"

enum { X0 = 1, O0 = 10, X_WINS = 19, O_WINS, DRAW, GAME_TYPES };

#define ALL_X  (UINT64_C(0x1ff) << X0)
#define ALL_O  (UINT64_C(0x1ff) << O0)
#define PLAYED (BP_TYPE(X_WINS) | BP_TYPE(O_WINS) | BP_TYPE(DRAW))

static const struct bp_type game_types[GAME_TYPES] = {
    [X0] = { "x0", BP_EXT },
    [X0 + 1] = { "x1", BP_EXT },
    [X0 + 2] = { "x2", BP_EXT },
    [X0 + 3] = { "x3", BP_EXT },
    [X0 + 4] = { "x4", BP_EXT },
    [X0 + 5] = { "x5", BP_EXT },
    [X0 + 6] = { "x6", BP_EXT },
    [X0 + 7] = { "x7", BP_EXT },
    [X0 + 8] = { "x8", BP_EXT },
    [O0] = { "o0" },
    [O0 + 1] = { "o1" },
    [O0 + 2] = { "o2" },
    [O0 + 3] = { "o3" },
    [O0 + 4] = { "o4" },
    [O0 + 5] = { "o5" },
    [O0 + 6] = { "o6" },
    [O0 + 7] = { "o7" },
    [O0 + 8] = { "o8" },
    [X_WINS] = { "x_wins", BP_FINAL },
    [O_WINS] = { "o_wins", BP_FINAL },
    [DRAW] = { "draw", BP_FINAL },
};

static const uint8_t lines[8][3] = { { 0, 1, 2 }, { 3, 4, 5 }, { 6, 7, 8 }, { 0, 3, 6 },
                                     { 1, 4, 7 }, { 2, 5, 8 }, { 0, 4, 8 }, { 2, 4, 6 } };

struct game {
    struct bp_thread threads[128];
    char names[128][24];
    unsigned n;
};

static void add(struct game *g, const char *name, unsigned number, const struct bp_point *at,
                unsigned n, enum bp_kind kind)
{
    snprintf(g->names[g->n], sizeof(g->names[0]), "%s_%u", name, number);
    g->threads[g->n] =
        (struct bp_thread){ .name = g->names[g->n], .at = at, .n = (uint8_t)n, .kind = kind };
    g->n++;
}

static struct bp_point *points(struct test *t, unsigned n)
{
    return ARENA_NEW_N(&t->arena, struct bp_point, n);
}

static uint64_t on_line(const uint8_t *line, unsigned first)
{
    return BP_TYPE(first + line[0]) | BP_TYPE(first + line[1]) | BP_TYPE(first + line[2]);
}

/* Three of a kind in the line: no more moves, then the result. */
static void add_line(struct test *t, struct game *g, unsigned number, unsigned first,
                     unsigned result)
{
    struct bp_point *at = points(t, 2);

    at[0].wait[0].types = on_line(lines[number], first);
    at[0].times = 3;
    at[1].request.type = (uint8_t)result;
    at[1].block[0].types = ALL_X | ALL_O;
    add(g, result == X_WINS ? "x_line" : "o_line", number, at, 2, BP_PROGRAM);
}

static void add_square(struct test *t, struct game *g, unsigned square)
{
    struct bp_point *at = points(t, 2);

    at[0].wait[0].types = at[1].block[0].types = BP_TYPE(X0 + square) | BP_TYPE(O0 + square);
    add(g, "square", square, at, 2, BP_GUARD);
}

/* Two of `first` in the line: O takes the third. */
static void add_third(struct test *t, struct game *g, unsigned number, unsigned which,
                      unsigned first)
{
    struct bp_point *at = points(t, 2);
    unsigned square = lines[number][which];

    at[0].wait[0].types = on_line(lines[number], first) & ~BP_TYPE(first + square);
    at[0].times = 2;
    at[1].request.type = (uint8_t)(O0 + square);
    add(g, first == O0 ? "complete" : "stop", number * 3 + which, at, 2, BP_PROGRAM);
}

static void add_rules(struct test *t, struct game *g)
{
    struct bp_point *turns = points(t, 2), *full = points(t, 2), *over = points(t, 2);

    for (unsigned i = 0; i < 8; i++)
        add_line(t, g, i, X0, X_WINS);
    for (unsigned i = 0; i < 8; i++)
        add_line(t, g, i, O0, O_WINS);
    for (unsigned i = 0; i < 9; i++)
        add_square(t, g, i);
    turns[0].wait[0].types = turns[1].block[0].types = ALL_X;
    turns[1].wait[0].types = turns[0].block[0].types = ALL_O;
    turns[1].wait[0].go = BP_GO(0);
    add(g, "turns", 0, turns, 2, BP_GUARD);
    full[0].wait[0].types = ALL_X | ALL_O;
    full[0].times = 9;
    full[1].request.type = DRAW;
    add(g, "full", 0, full, 2, BP_PROGRAM);
    over[0].wait[0].types = PLAYED;
    over[1].block[0].types = ALL_X | ALL_O;
    over[1].block[1].types = PLAYED;
    add(g, "over", 0, over, 2, BP_GUARD);
}

enum skill { BLIND, LOOKS, KNOWS_THE_FORK };

static void add_player(struct test *t, struct game *g, enum skill skill)
{
    static const uint8_t best[9] = { 4, 0, 2, 6, 8, 1, 3, 5, 7 };
    struct bp_point *at;

    for (unsigned i = 0; skill >= LOOKS && i < 24; i++)
        add_third(t, g, i / 3, i % 3, O0);
    for (unsigned i = 0; skill >= LOOKS && i < 24; i++)
        add_third(t, g, i / 3, i % 3, X0);
    if (skill >= KNOWS_THE_FORK) {
        at = points(t, 2); /* two opposite corners: a side, not a third corner */
        at[0].wait[0].types = BP_TYPE(X0) | BP_TYPE(X0 + 8);
        at[0].times = 2;
        at[1].request.type = O0 + 1;
        add(g, "fork", 0, at, 2, BP_PROGRAM);
    }
    for (unsigned i = 0; i < 9; i++) {
        at = points(t, 1);
        at[0].request.type = (uint8_t)(O0 + best[i]);
        add(g, "take", best[i], at, 1, BP_PROGRAM);
    }
}

static struct bp_program game_program(const struct game *g)
{
    return (struct bp_program){ .name = "tictactoe",
                                .types = game_types,
                                .threads = g->threads,
                                .type_count = GAME_TYPES,
                                .thread_count = (uint16_t)g->n };
}

static void start(struct test *t, struct play *p, enum skill skill)
{
    struct game *g = ARENA_NEW(&t->arena, struct game);

    add_rules(t, g);
    add_player(t, g, skill);
    play_start(p, game_program(g), NULL);
}

TEST(the_players_take_turns_and_the_best_free_square_is_taken)
{
    PLAY p;

    start(t, &p, BLIND);
    ASSERT_TEXT(play_heard(&p), "");
    ASSERT(play_offer(&p, X0 + 1, 0, 0));
    ASSERT_TEXT(play_heard(&p), "x1 o4 ");
    ASSERT(play_offer(&p, X0 + 2, 0, 0));
    ASSERT_TEXT(play_heard(&p), "x2 o0 ");
}

TEST(a_square_is_taken_once_and_the_refusal_names_it)
{
    PLAY p;

    start(t, &p, BLIND);
    ASSERT(play_offer(&p, X0, 0, 0));
    ASSERT(!play_offer(&p, X0, 0, 0));
    ASSERT_TEXT(buf_text(&p.why), "x0 is blocked by square_0 at 1");
    ASSERT(!play_offer(&p, X0 + 4, 0, 0));
    ASSERT_TEXT(buf_text(&p.why), "x4 is blocked by square_4 at 1");
    ASSERT(!play_offer(&p, O0 + 7, 0, 0));
    ASSERT_EQ(p.refusal.reason, BP_NOT_FROM_OUTSIDE);
    ASSERT_TEXT(play_heard(&p), "x0 o4 ");
}

TEST(whoever_completes_a_line_wins_and_the_game_is_over)
{
    PLAY p;

    start(t, &p, BLIND); /* O takes 4, 2 and does not look */
    ASSERT(play_offer(&p, X0, 0, 0));
    ASSERT(play_offer(&p, X0 + 3, 0, 0));
    ASSERT(play_offer(&p, X0 + 6, 0, 0));
    ASSERT_TEXT(play_heard(&p), "x0 o4 x3 o2 x6 x_wins ");
    ASSERT(!play_offer(&p, X0 + 8, 0, 0));
    ASSERT_EQ(p.refusal.reason, BP_BLOCKED);
    ASSERT_TEXT(play_heard(&p), "");
}

TEST(a_player_that_looks_stops_a_line_and_completes_its_own)
{
    PLAY stops, completes;

    start(t, &stops, LOOKS);
    ASSERT(play_offer(&stops, X0, 0, 0));
    ASSERT(play_offer(&stops, X0 + 3, 0, 0));
    ASSERT_TEXT(play_heard(&stops), "x0 o4 x3 o6 ");
    ASSERT(play_offer(&stops, X0 + 2, 0, 0)); /* 2, 4, 6 is stopped, 0, 1, 2 is not */
    ASSERT_TEXT(play_heard(&stops), "x2 o1 ");
    start(t, &completes, LOOKS);
    ASSERT(play_offer(&completes, X0, 0, 0));
    ASSERT(play_offer(&completes, X0 + 3, 0, 0));
    ASSERT(play_offer(&completes, X0 + 8, 0, 0)); /* leaves 2 open */
    ASSERT_TEXT(play_heard(&completes), "x0 o4 x3 o6 x8 o2 o_wins ");
}

/* Plays every game that begins with X in the corners 0 and 8. Returns how many X wins. */
static unsigned x_wins_of(struct test *t, enum skill skill, unsigned *ret_games)
{
    struct game *g = ARENA_NEW(&t->arena, struct game);
    struct bp_program program;
    uint8_t path[9] = { 0, 8, 0 };
    unsigned wins = 0, over;
    int depth = 2;

    add_rules(t, g);
    add_player(t, g, skill);
    program = game_program(g);
    over = (unsigned)bp_thread_find(&program, "over_0");
    *ret_games = 0;
    while (depth >= 2) {
        struct bp_engine *e = bp_new(&program, 0, NULL);
        int moves = 0;

        while (moves <= depth &&
               bp_offer(e, &(struct bp_event){ .type = (uint8_t)(X0 + path[moves]) }, NULL) == 0)
            moves++;
        if (moves > depth && bp_point_of(e, over, 0) == 0) {
            path[++depth] = 0;
            bp_free(e);
            continue;
        }
        if (moves > depth) {
            (*ret_games)++;
            for (unsigned i = 0; i < 8; i++)
                wins += bp_point_of(e, i, 0) == -1;
        }
        while (depth >= 2 && ++path[depth] > 8)
            depth--;
        bp_free(e);
    }
    return wins;
}

/* The fork of two opposite corners: who answers with a third corner has lost, however well it
 * looks; one more thread, and every game is saved. */
TEST(one_more_thread_saves_every_game_against_the_fork)
{
    unsigned games;

    ASSERT(x_wins_of(t, BLIND, &games) > 0);
    ASSERT(x_wins_of(t, LOOKS, &games) > 0);
    ASSERT(games >= 5);
    ASSERT_EQ(x_wins_of(t, KNOWS_THE_FORK, &games), 0);
    ASSERT(games > 3);
}

/* X needs three moves, O has two between them. */
TEST(the_checker_finds_the_shortest_game_that_x_wins)
{
    static const struct bp_point never[] = { { .wait = { BP_ON(X_WINS) } },
                                             { .name = "x has won", .bad = true } };
    struct game *g = ARENA_NEW(&t->arena, struct game);
    AUTO_REPORT report = { .program = NULL };
    struct bp_program program;
    const struct bp_finding *f;

    add_rules(t, g);
    add_player(t, g, BLIND);
    add(g, "x_never_wins", 0, never, 2, BP_PROPERTY);
    program = game_program(g);
    ASSERT_OK(bp_program_check(&program, &t->err));
    ASSERT_OK(bp_check(&program, &(struct bp_check_options){ .states_max = 20000, .whole = true },
                       &report, &t->err));
    f = bp_finding_find(&report, "x_never_wins_0");
    ASSERT_EQ(f->verdict, BP_VIOLATED);
    ASSERT_EQ(f->trace.step_count, 6);
    ASSERT_EQ(f->trace.steps[5].event.type, X_WINS);
    for (unsigned i = 0; i < 5; i++)
        ASSERT(BP_TYPE(f->trace.steps[i].event.type) & (i % 2 ? ALL_O : ALL_X));
    ASSERT_EQ(bp_trace_replay(&program, &f->trace, "x_never_wins_0", NULL), 0);
}

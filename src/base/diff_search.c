/* Myers' O(ND) difference algorithm in linear space.
 *
 * A box of the edit graph is searched from both corners at once; where the two fronts meet, the
 * shortest path passes, and the two boxes before and after that point are searched by themselves.
 * The fronts are kept by diagonal (x - y) as the furthest x reached.
 *
 * Two bounds keep it quick on large and unlike inputs. A search that has taken DIFF_COST_MAX steps
 * without meeting is cut at the furthest point that either front has reached; it was at least
 * that many lines forward. All searches together may look at DIFF_STEPS_MAX places, after which
 * each is cut after DIFF_COST_MIN steps. Elements that only one side has are taken out before.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/diff.h"
#include "base/diff_int.h"

struct box {
    ptrdiff_t a, a_end, b, b_end;
};

struct point {
    ptrdiff_t x, y;
};

struct search {
    const uint32_t *a, *b;
    bool *a_changed, *b_changed;
    const size_t *a_at, *b_at; /* place of each element in the caller's arrays */
    ptrdiff_t *forward;        /* furthest x by diagonal; valid from -b_n - 1 to a_n + 1 */
    ptrdiff_t *backward;
    size_t steps;
    bool minimal;
};

/* One front: the diagonals it has reached. */
struct front {
    ptrdiff_t *reach;
    ptrdiff_t low, high;
};

static void widen(struct front *front, ptrdiff_t least, ptrdiff_t most, ptrdiff_t unreached)
{
    if (front->low > least)
        front->reach[--front->low - 1] = unreached;
    else
        front->low++;
    if (front->high < most)
        front->reach[++front->high + 1] = unreached;
    else
        front->high--;
}

static bool step_forward(struct search *s, const struct box *box, struct front *f,
                         const struct front *back, bool odd, struct point *ret_meet)
{
    for (ptrdiff_t d = f->high; d >= f->low; d -= 2) {
        ptrdiff_t *reach = f->reach;
        ptrdiff_t x = reach[d - 1] >= reach[d + 1] ? reach[d - 1] + 1 : reach[d + 1];
        ptrdiff_t y = x - d;

        while (x < box->a_end && y < box->b_end && s->a[x] == s->b[y])
            x++, y++, s->steps++;
        reach[d] = x;
        s->steps++;
        if (odd && back->low <= d && d <= back->high && back->reach[d] <= x) {
            *ret_meet = (struct point){ x, y };
            return true;
        }
    }
    return false;
}

static bool step_backward(struct search *s, const struct box *box, struct front *f,
                          const struct front *fore, bool odd, struct point *ret_meet)
{
    for (ptrdiff_t d = f->high; d >= f->low; d -= 2) {
        ptrdiff_t *reach = f->reach;
        ptrdiff_t x = reach[d - 1] < reach[d + 1] ? reach[d - 1] : reach[d + 1] - 1;
        ptrdiff_t y = x - d;

        while (x > box->a && y > box->b && s->a[x - 1] == s->b[y - 1])
            x--, y--, s->steps++;
        reach[d] = x;
        s->steps++;
        if (!odd && fore->low <= d && d <= fore->high && x <= fore->reach[d]) {
            *ret_meet = (struct point){ x, y };
            return true;
        }
    }
    return false;
}

/* The point inside the box that a front has come furthest to. sign 1: towards the end. */
static ptrdiff_t furthest(const struct box *box, const struct front *front, int sign,
                          struct point *ret_point)
{
    ptrdiff_t best = -1;

    for (ptrdiff_t d = front->low; d <= front->high; d += 2) {
        ptrdiff_t x = front->reach[d], y, gone;

        if (x < box->a || x > box->a_end)
            continue;
        y = x - d;
        if (y < box->b || y > box->b_end)
            continue;
        gone = sign > 0 ? x - box->a + y - box->b : box->a_end - x + box->b_end - y;
        if (gone > best) {
            best = gone;
            *ret_point = (struct point){ x, y };
        }
    }
    return best;
}

static struct point give_up(struct search *s, const struct box *box, const struct front *fore,
                            const struct front *back)
{
    struct point from_start = { box->a, box->b }, from_end = { box->a_end, box->b_end };
    ptrdiff_t gone = furthest(box, fore, 1, &from_start);
    ptrdiff_t gone_back = furthest(box, back, -1, &from_end);

    s->minimal = false;
    return gone >= gone_back ? from_start : from_end;
}

/* A point on a shortest path through the box, or on a good one. The box is not empty on either
 * side and begins and ends with a difference, so the point is neither of its corners. */
static struct point split(struct search *s, const struct box *box)
{
    ptrdiff_t least = box->a - box->b_end, most = box->a_end - box->b;
    ptrdiff_t start = box->a - box->b, end = box->a_end - box->b_end;
    struct front fore = { s->forward, start, start }, back = { s->backward, end, end };
    bool odd = (start - end) & 1;
    struct point meet;

    fore.reach[start] = box->a;
    back.reach[end] = box->a_end;
    for (size_t cost = 1;; cost++) {
        widen(&fore, least, most, -1);
        if (step_forward(s, box, &fore, &back, odd, &meet))
            return meet;
        widen(&back, least, most, PTRDIFF_MAX);
        if (step_backward(s, box, &back, &fore, odd, &meet))
            return meet;
        if (cost >= (s->steps < DIFF_STEPS_MAX ? DIFF_COST_MAX : DIFF_COST_MIN))
            return give_up(s, box, &fore, &back);
    }
}

static void shrink(const struct search *s, struct box *box)
{
    while (box->a < box->a_end && box->b < box->b_end && s->a[box->a] == s->b[box->b])
        box->a++, box->b++;
    while (box->a < box->a_end && box->b < box->b_end &&
           s->a[box->a_end - 1] == s->b[box->b_end - 1])
        box->a_end--, box->b_end--;
}

/* Recurses into the smaller half only, so the stack stays logarithmic. */
static void compare(struct search *s, struct box box)
{
    for (;;) {
        struct box first, second;
        struct point at;

        shrink(s, &box);
        if (box.a == box.a_end || box.b == box.b_end)
            break;
        at = split(s, &box);
        first = (struct box){ box.a, at.x, box.b, at.y };
        second = (struct box){ at.x, box.a_end, at.y, box.b_end };
        if (at.x - box.a + at.y - box.b < box.a_end - at.x + box.b_end - at.y) {
            compare(s, first);
            box = second;
        } else {
            compare(s, second);
            box = first;
        }
    }
    for (ptrdiff_t i = box.a; i < box.a_end; i++)
        s->a_changed[s->a_at[i]] = true;
    for (ptrdiff_t i = box.b; i < box.b_end; i++)
        s->b_changed[s->b_at[i]] = true;
}

/* Keeps the elements that the other side has, with their places; marks the rest as changed. */
static size_t keep_common(const uint32_t *from, size_t n, const bool *in_other, bool *changed,
                          uint32_t *to, size_t *at)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (in_other[from[i]]) {
            to[kept] = from[i];
            at[kept++] = i;
        } else {
            changed[i] = true;
        }
    }
    return kept;
}

static void mark_present(const uint32_t *from, size_t n, bool *present)
{
    for (size_t i = 0; i < n; i++)
        present[from[i]] = true;
}

bool diff_search(const uint32_t *a, size_t a_n, const uint32_t *b, size_t b_n, bool *a_changed,
                 bool *b_changed)
{
    size_t all = a_n + b_n, a_kept, b_kept;
    uint32_t *kept = NEW_N(uint32_t, all + 1);
    size_t *at = NEW_N(size_t, all + 1);
    bool *in_a = NEW_N(bool, all + 1), *in_b = NEW_N(bool, all + 1);
    ptrdiff_t *reach;
    struct search s;

    mark_present(a, a_n, in_a);
    mark_present(b, b_n, in_b);
    a_kept = keep_common(a, a_n, in_b, a_changed, kept, at);
    b_kept = keep_common(b, b_n, in_a, b_changed, kept + a_kept, at + a_kept);
    reach = NEW_N(ptrdiff_t, 2 * (a_kept + b_kept + 4));
    s = (struct search){ .a = kept,
                         .b = kept + a_kept,
                         .a_changed = a_changed,
                         .b_changed = b_changed,
                         .a_at = at,
                         .b_at = at + a_kept,
                         .forward = reach + b_kept + 1,
                         .backward = reach + (a_kept + b_kept + 4) + b_kept + 1,
                         .minimal = true };
    compare(&s, (struct box){ 0, (ptrdiff_t)a_kept, 0, (ptrdiff_t)b_kept });
    free(kept);
    free(at);
    free(in_a);
    free(in_b);
    free(reach);
    return s.minimal;
}

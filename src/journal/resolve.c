/* Which task somebody means by a few words.
 *
 * Every word that was said looks for the title word that is nearest to it: the same, one that
 * begins so, or one with few letters different. The mean of these, weighted by how much of the
 * title was said, is the score; the same title is 1. Words that say nothing ("the", "my", "task")
 * do not count.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/path.h"
#include "journal/list_int.h"

#define SAID_MAX      500   /* bytes */
#define WORDS_MAX     24    /* of a text; later ones are not compared */
#define LETTERS_MAX   40    /* of a word that is compared by letters */
#define TITLES_MAX    20000 /* open ones that are compared */
#define CLOSED_MAX    5000
#define LIMIT_DEFAULT 5
#define LIMIT_MAX     20
#define SCORE_MIN     0.35
#define SURE_MIN      0.75
#define SURE_GAP      0.15

struct words {
    char folded[4096];
    struct str all; /* joined by single spaces */
    struct str at[WORDS_MAX];
    size_t n;
};

/* ---- words ---- */

static bool says_nothing(struct str word)
{
    static const char *const empty[] = { "a",  "an", "the", "my",  "our", "to",  "of",
                                         "in", "on", "at",  "for", "and", "task" };

    for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++) {
        if (str_is(word, empty[i]))
            return true;
    }
    return false;
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* Folded, in lower case, with one space between words. */
static void normalise(struct str text, struct words *words)
{
    AUTO_BUF folded = BUF_INIT(sizeof(words->folded) - 1);
    size_t n = 0;

    if (path_fold(text, &folded) < 0)
        buf_clear(&folded);
    for (size_t i = 0; i < folded.n; i++) {
        if (in_word(folded.p[i]))
            words->folded[n++] = folded.p[i];
        else if (n > 0 && words->folded[n - 1] != ' ')
            words->folded[n++] = ' ';
    }
    while (n > 0 && words->folded[n - 1] == ' ')
        n--;
    words->all = str_of(words->folded, n);
}

static void collect(struct words *words, bool all)
{
    struct str rest = words->all, word;

    words->n = 0;
    while (rest.n > 0 && words->n < WORDS_MAX && str_split(&rest, ' ', &word)) {
        if (word.n > 0 && (all || !says_nothing(word)))
            words->at[words->n++] = word;
    }
}

static void split(struct str text, struct words *ret_words)
{
    normalise(text, ret_words);
    collect(ret_words, false);
    if (ret_words->n == 0)
        collect(ret_words, true);
}

/* ---- likeness ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t edits(struct str a, struct str b)
{
    size_t row[LETTERS_MAX + 1];

    for (size_t j = 0; j <= b.n; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t above = row[j];

            row[j] = least(least(above, row[j - 1]) + 1, diagonal + (a.p[i - 1] != b.p[j - 1]));
            diagonal = above;
        }
    }
    return row[b.n];
}

static double likeness(struct str said, struct str word)
{
    size_t longer = said.n > word.n ? said.n : word.n, shorter = least(said.n, word.n);
    double like;

    if (str_eq(said, word))
        return 1;
    if (shorter >= 3 && (str_starts(word, said) || str_starts(said, word)))
        return 0.9;
    if (shorter < 4 || longer > LETTERS_MAX || longer - shorter > longer / 3)
        return 0;
    like = 1 - (double)edits(said, word) / (double)longer;
    return like < 0.6 ? 0 : like * 0.9;
}

static double score_of(const struct words *said, const struct words *title)
{
    double sum = 0, share;

    if (said->n == 0 || title->n == 0)
        return 0;
    if (str_eq(said->all, title->all))
        return 1;
    for (size_t i = 0; i < said->n; i++) {
        double best = 0;

        for (size_t k = 0; k < title->n; k++) {
            double like = likeness(said->at[i], title->at[k]);

            best = like > best ? like : best;
        }
        sum += best;
    }
    share = (double)least(said->n, title->n) / (double)title->n;
    return sum / (double)said->n * (0.65 + 0.3 * share);
}

/* ---- candidates ---- */

struct candidate {
    char id[RECORD_ID_MAX + 1];
    double score;
    bool closed;
};
struct search {
    struct words said, title;
    bool closed;
    struct candidate best[LIMIT_MAX];
    size_t count, limit;
};

static bool before(const struct candidate *a, const struct candidate *b)
{
    return a->closed != b->closed ? !a->closed : a->score > b->score;
}

/* Among the best, in order. */
static void keep(struct search *s, const struct candidate *found)
{
    size_t at = s->count;

    while (at > 0 && before(found, &s->best[at - 1]))
        at--;
    if (at == s->limit)
        return;
    if (s->count < s->limit)
        s->count++;
    memmove(&s->best[at + 1], &s->best[at], (s->count - at - 1) * sizeof(*found));
    s->best[at] = *found;
}

static void look_at(void *arg, struct str id, struct str title)
{
    struct search *s = arg;
    struct candidate found = { .closed = s->closed };

    split(title, &s->title);
    found.score = score_of(&s->said, &s->title);
    if (found.score < SCORE_MIN || id.n > RECORD_ID_MAX)
        return;
    memcpy(found.id, id.p, id.n);
    keep(s, &found);
}

static int look_in(struct journal *journal, const struct journal_scope *scope, struct search *s,
                   bool closed, struct err *err)
{
    int max = closed ? CLOSED_MAX : TITLES_MAX;

    s->closed = closed;
    if (!scope || scope->all)
        return task_titles(journal, closed, STR_NONE, max, look_at, s, err);
    for (size_t i = 0; i < scope->n; i++) {
        if (scope_names(scope, i) &&
            task_titles(journal, closed, scope->categories[i], max, look_at, s, err) < 0)
            return -1;
    }
    return 0;
}

/* One stands out: an open task that no other open one comes near and no closed one surpasses, or a
 * closed one that is named exactly while no open one comes into question. */
static bool is_sure(const struct search *s)
{
    const struct candidate *first = &s->best[0];

    if (s->count == 0 || first->score < SURE_MIN || (first->closed && first->score < 1))
        return false;
    for (size_t i = 1; i < s->count; i++) {
        double gap = first->score - s->best[i].score;

        if (s->best[i].closed != first->closed ? gap < 0
            : first->score >= 1                ? gap <= 0
                                               : gap < SURE_GAP)
            return false;
    }
    return true;
}

static int load_candidates(struct journal *journal, const struct search *s, size_t limit,
                           struct arena *arena, struct task_match *ret_match, struct err *err)
{
    size_t n = least(s->count, limit);

    ret_match->candidates = ARENA_NEW_N(arena, struct task_candidate, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct task_candidate *to = &ret_match->candidates[i];

        if (record_load(journal, RECORD_TASK, str_from(s->best[i].id), arena, &to->task, err) < 0)
            return -1;
        to->score = s->best[i].score;
    }
    ret_match->count = n;
    ret_match->sure = is_sure(s);
    return 0;
}

/* A task's id is as sure as it gets. 1 it is one. */
static int by_id(struct journal *journal, const struct journal_scope *scope, struct str words,
                 struct arena *arena, struct task_match *ret_match, struct err *err)
{
    struct record task;
    int r;

    if (!record_id_valid(words))
        return 0;
    r = journal_get(journal, RECORD_TASK, words, arena, &task, err);
    if (r <= 0)
        return r;
    if (!journal_in_scope(scope, record_str(&task, "categoryId")))
        return 0;
    ret_match->candidates = ARENA_NEW(arena, struct task_candidate);
    *ret_match->candidates = (struct task_candidate){ .task = task, .score = 1 };
    ret_match->count = 1;
    ret_match->sure = true;
    return 1;
}

int task_resolve(struct journal *journal, const struct journal_scope *scope, struct str words,
                 int limit, struct arena *arena, struct task_match *ret_match, struct err *err)
{
    struct search *s;
    struct task_match match = { .count = 0 };
    int r;

    words = str_trim(words);
    if (words.n == 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "no task is named: words of its title are needed, or its id");
    if (words.n > SAID_MAX)
        return err_set(err, ERR_BAD_REQUEST, "a task is named by %d bytes at most, not %zu",
                       SAID_MAX, words.n);
    r = by_id(journal, scope, words, arena, &match, err);
    if (r == 0) {
        s = ARENA_NEW(arena, struct search);
        s->limit = LIMIT_MAX;
        split(words, &s->said);
        if (s->said.n == 0)
            return err_set(err, ERR_BAD_REQUEST,
                           "\"%.*s\" names no task: words of its title are needed, or its id",
                           STR_ARG(words));
        if (look_in(journal, scope, s, false, err) < 0 || look_in(journal, scope, s, true, err) < 0)
            return -1;
        limit = limit <= 0 ? LIMIT_DEFAULT : limit < LIMIT_MAX ? limit : LIMIT_MAX;
        r = load_candidates(journal, s, (size_t)limit, arena, &match, err);
    }
    if (r < 0)
        return -1;
    *ret_match = match;
    return 0;
}

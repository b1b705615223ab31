/* Phrases: the text as words, each looked up by its first letter.
 *
 * A word is letters, digits and whatever is not ASCII; it is compared in lower case, without
 * apostrophes and without characters that nobody sees, so that "ig<zero width>nore" is "ignore",
 * and letters of full width and the like are plain ones. Text with marks of emphasis is read twice:
 * as it stands, and without them, so that "ig**no**re" is "ignore" too.
 *
 * A phrase is words with alternatives: "a|b" one of them, "?a|b" up to four of them or none, "~6"
 * up to six of any kind within the sentence. The first three rules are the seed's expressions, with
 * its meaning to the byte: no borders of words, white space between.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>

#include "base/utf8.h"
#include "memory/flags_int.h"

#define WORD_MAX 32 /* longer ones stand in no phrase */

struct entry;
struct word {
    const struct entry *entry; /* NULL: of no phrase */
    const char *p;             /* normalised */
    size_t n;
    size_t start, end;   /* in the text */
    bool spaced;         /* only white space, and some, before it */
    bool breaks;         /* a sentence or paragraph ended before it */
    bool latin, foreign; /* letters of that, of an alphabet that looks like it */
    bool joined;         /* marks of emphasis are no part of the text */
};

struct words {
    struct word *at;
    size_t count;
};

/* ---- the seed's ---- */

static const struct seed_rule {
    struct flag_rule rule;
    const char *first;
    size_t length; /* of it */
    const char *second;
} seed_rules[] = {
    { { "always\\s+(do|send|forward)", "Unconditional action", MEMORY_WARNING },
      "always",
      6,
      "do|send|forward" },
    { { "never\\s+(ask|check|verify)", "Bypass verification", MEMORY_DANGER },
      "never",
      5,
      "ask|check|verify" },
    { { "ignore\\s+(previous|user)", "Ignore instructions", MEMORY_DANGER },
      "ignore",
      6,
      "previous|user" },
};

/* ---- ours ---- */

#define OVERRIDES "ignore|disregard|forget|override|overrule|bypass|neglect|discard"
#define FILLERS   "?all|any|the|my|your|these|those|of|every|its|their|our|each|other"
#define EARLIER   "previous|prior|above|earlier|preceding|existing|original|initial|former|current"
#define RULES                                                                                      \
    "instruction|instructions|rules|directions|directives|guidelines|prompt|prompts|orders|"       \
    "constraints|restrictions|safeguards|policies|policy|guardrails|training|commands"
#define ASKS                                                                                       \
    "send|give|share|enter|provide|paste|post|forward|tell|email|upload|submit|reveal|type|text|"  \
    "collect|request|ask|supply|disclose|dm|message|leak|exfiltrate|print|show"
#define CREDENTIALS                                                                                \
    "password|passwords|passphrase|passphrases|passcode|pin|credential|credentials|apikey|"        \
    "apikeys|secrets|otp|ssn|cvv"

static const struct phrase {
    struct flag_rule rule;
    const char *words;
} phrases[] = {
    { { "override-instructions", "Tries to override instructions", MEMORY_DANGER },
      OVERRIDES " " FILLERS " " EARLIER " " FILLERS " " RULES },
    { { "override-instructions", "Tries to override instructions", MEMORY_DANGER },
      OVERRIDES " " FILLERS " ?system|safety|security|developer " RULES },
    { { "override-instructions", "Tries to override instructions", MEMORY_DANGER },
      "forget|disregard everything|anything ?you|that|i|we|were|have|been|are "
      "told|said|learned|know|knew|above|before" },
    { { "override-instructions", "Tries to override instructions", MEMORY_DANGER },
      "do|dont|not ?not|ever follow|obey|respect " FILLERS " ?" EARLIER " " RULES },
    { { "new-instructions", "Poses as new instructions", MEMORY_DANGER },
      "new|updated|revised|real|actual|true system ?level|wide " RULES },
    { { "new-instructions", "Poses as new instructions", MEMORY_DANGER },
      "your new|updated|real|actual|true " RULES },
    { { "new-role", "Gives the agent another role", MEMORY_DANGER }, "you are now" },
    { { "new-role", "Gives the agent another role", MEMORY_DANGER },
      "from now on ?always you are|will|must|shall|should|have" },
    { { "new-role", "Gives the agent another role", MEMORY_DANGER },
      "pretend|act|behave|respond|operate as ?if|though you ?are|have|had no|not|without" },
    { { "new-role", "Gives the agent another role", MEMORY_DANGER }, "do anything now" },
    { { "new-role", "Gives the agent another role", MEMORY_DANGER },
      "developer|debug|dan|god|jailbreak|unrestricted|admin mode" },
    { { "reveal-instructions", "Asks for the agent's own instructions", MEMORY_DANGER },
      "reveal|print|show|repeat|leak|output|display|dump " FILLERS " ?hidden|secret|full system "
      "prompt|message|instructions" },
    { { "hide-from-person", "Hides something from you", MEMORY_DANGER },
      "do|dont|not|never ?not|ever tell|inform|notify|alert|warn|mention|disclose|show|reveal "
      "?this|it|that|to|the|about|anything|your|a "
      "user|owner|person|human|anyone|anybody|operator" },
    { { "hide-from-person", "Hides something from you", MEMORY_DANGER },
      "without telling|informing|notifying|asking|alerting|warning ?the|your|a|any|first "
      "user|owner|person|human|anyone|anybody|permission|approval|confirmation|first|them|me|him|"
      "her" },
    { { "hide-from-person", "Hides something from you", MEMORY_DANGER },
      "keep|do|hide|conceal this|it|that ?a|from|as|in "
      "secret|hidden|user|owner|secretly|silently" },
    { { "skip-approval", "Does away with approval", MEMORY_DANGER },
      "without|skip|bypass|avoid|disable|ignore ?the|any|all|further|your|user|human|explicit "
      "approval|approvals|confirmation|confirmations|verification|permission|consent" },
    { { "skip-approval", "Does away with approval", MEMORY_DANGER },
      "no|dont|never ?further|explicit|user|human|more|need|needs approval|confirmation|permission "
      "?is|are|be needed|required|necessary" },
    { { "skip-approval", "Does away with approval", MEMORY_DANGER },
      "auto|automatically|always|silently approve|accept|confirm|authorize|authorise|execute|run" },
    { { "skip-approval", "Does away with approval", MEMORY_DANGER },
      "do|dont ?not ask|wait|check|verify ?for|with|the|me|first|any "
      "approval|confirmation|permission|user|owner|human|person" },
    { { "credential-request", "Asks for credentials", MEMORY_DANGER }, ASKS " ~6 " CREDENTIALS },
    { { "credential-request", "Asks for credentials", MEMORY_DANGER },
      ASKS " ~6 api|access|private|secret|ssh|auth|bearer|session|recovery|seed|security|card|"
           "verification|login|signing|encryption|bank "
           "key|keys|token|tokens|phrase|phrases|code|codes|number|details|secret|cookie|cookies" },
    { { "credential-request", "Asks for credentials", MEMORY_DANGER },
      ASKS " ~6 credit|debit card|cards" },
    { { "exfiltrate", "Sends things away", MEMORY_DANGER },
      "send|forward|post|upload|copy|bcc|cc|exfiltrate|transmit all|every|everything|any|each ~4 "
      "to" },
};

/* ---- words ---- */

static bool is_word_char(char c)
{
    return flag_is_alpha(c) || flag_is_digit(c) || c == '_' || (unsigned char)c >= 0x80;
}

/* What a letter of another alphabet tells, when it stands beside Latin ones. */
static void note_script(struct word *word, uint32_t code)
{
    /* Greek, Cyrillic, Armenian, Cherokee, Lisu: alphabets with letters that look like Latin ones
     */
    word->foreign |= (code >= 0x370 && code <= 0x58F) || (code >= 0x13A0 && code <= 0x13FF) ||
                     (code >= 0xA4D0 && code <= 0xA4FF) || (code >= 0xAB70 && code <= 0xABBF);
}

static bool is_emphasis(char c)
{
    return c == '*' || c == '_' || c == '~' || c == '`';
}

static size_t emphasis(struct str text)
{
    size_t n = 0;

    while (n < text.n && is_emphasis(text.p[n]))
        n++;
    return n;
}

/* Takes marks that stand inside a word off the text; false: the word ends with them. */
static bool take_emphasis(struct str *rest, const struct word *word)
{
    struct str after = str_skip(*rest, emphasis(*rest));

    if (!word->n || !after.n || !is_word_char(after.p[0]))
        return false;
    *rest = after;
    return true;
}

/* Takes one character of a word off the text; false at its end. */
static bool take_char(struct str *rest, struct word *word, char *out)
{
    struct str before = *rest;
    enum utf8_oddity odd;
    uint32_t code;
    char plain;

    if (!rest->n || flag_space(*rest))
        return false;
    if (word->joined && is_emphasis(rest->p[0]))
        return take_emphasis(rest, word);
    if ((unsigned char)rest->p[0] < 0x80) {
        bool quote = rest->p[0] == '\'';

        if (!is_word_char(rest->p[0]) &&
            !(quote && word->n && rest->n > 1 && is_word_char(rest->p[1])))
            return false;
        word->latin |= flag_is_alpha(rest->p[0]);
        if (!quote)
            out[word->n++] = flag_lower(rest->p[0]);
        *rest = str_skip(*rest, 1);
        return true;
    }
    if (utf8_decode(rest, &code) < 0)
        return true;
    odd = utf8_oddity_of(code);
    if (odd != UTF8_PLAIN || code == 0x2019 || flag_combines(code))
        return true;
    plain = flag_fold(code);
    if (plain) {
        word->latin |= flag_is_alpha(plain);
        out[word->n++] = plain;
        return true;
    }
    if (code >= 0x2010 && code <= 0x2E7F) { /* dashes, quotes, other signs */
        *rest = before;
        return false;
    }
    note_script(word, code);
    memcpy(out + word->n, before.p, before.n - rest->n);
    word->n += (uint32_t)(before.n - rest->n);
    return true;
}

/* The letters and digits that a word begins with, without a look at each for what is rare. */
static void take_plain(struct str *rest, struct word *word, char *out)
{
    const char *p = rest->p, *end = rest->p + rest->n;

    for (; p < end && (unsigned char)*p < 0x80 && is_word_char(*p); p++) {
        if (word->joined && *p == '_')
            break;
        word->latin |= flag_is_alpha(*p);
        out[word->n++] = flag_lower(*p);
    }
    *rest = str_of(p, (size_t)(end - p));
}

/* Marks around a word, not those of a list or a rule: they touch something. */
static size_t around_word(struct str rest, bool spaced)
{
    size_t n = emphasis(rest);

    return n && (!spaced || (n < rest.n && !flag_is_space(rest.p[n]))) ? n : 0;
}

/* What stands before the next word. */
static struct str skip_between(struct str rest, struct word *word)
{
    bool spaced = false, other = false;
    unsigned lines = 0;

    if (rest.n > 1 && rest.p[0] == ' ' && (flag_is_alpha(rest.p[1]) || flag_is_digit(rest.p[1]))) {
        word->spaced = true; /* as nearly always */
        return str_skip(rest, 1);
    }
    while (rest.n) {
        size_t space = flag_space(rest);
        struct str after = rest;
        uint32_t code;

        if (space) {
            lines += rest.p[0] == '\n';
            spaced = true;
            rest = str_skip(rest, space);
            continue;
        }
        if (word->joined && is_emphasis(rest.p[0])) {
            size_t marks = around_word(rest, spaced);

            other |= !marks;
            rest = str_skip(rest, emphasis(rest));
            continue;
        }
        if (is_word_char(rest.p[0])) {
            if ((unsigned char)rest.p[0] < 0x80 || utf8_decode(&after, &code) < 0 ||
                !(code >= 0x2010 && code <= 0x2E7F) || flag_fold(code))
                break;
            rest = after;
        } else {
            word->breaks |= strchr(".!?;", rest.p[0]) != NULL;
            rest = str_skip(rest, 1);
        }
        other = true;
    }
    word->spaced = spaced && !other;
    word->breaks |= lines > 1;
    return rest;
}

/* At least as many as there are: a word begins where another kind of byte was before. */
static size_t count_words(struct str text)
{
    size_t n = 1;

    for (size_t i = 1; i < text.n; i++)
        n += (unsigned char)text.p[i] >= 0x80 ||
             (is_word_char(text.p[i]) && !is_word_char(text.p[i - 1]));
    return n;
}

static struct words split(struct flag_search *search, bool joined)
{
    struct str text = search->text, rest = text;
    char *normal = arena_alloc(search->arena, text.n + 1, 1);
    struct words words = { .at = ARENA_NEW_N(search->arena, struct word, count_words(text) + 1) };

    while (rest.n) {
        struct word *word = &words.at[words.count];

        word->joined = joined;
        rest = skip_between(rest, word);
        word->p = normal;
        word->start = (uint32_t)(text.n - rest.n);
        take_plain(&rest, word, normal);
        while (take_char(&rest, word, normal))
            ;
        word->end = (uint32_t)(text.n - rest.n);
        normal += word->n;
        if (word->n)
            words.count++;
        else if (word->end == word->start && rest.n)
            rest = str_skip(rest, 1);
        if (!word->n)
            *word = (struct word){ .breaks = word->breaks };
    }
    return words;
}

/* ---- the seed's rules ---- */

static size_t begins_with_one(const struct word *word, const char *alternatives)
{
    struct str rest = str_from(alternatives), one;

    while (str_split(&rest, '|', &one)) {
        if (one.n <= word->n && memcmp(word->p, one.p, one.n) == 0)
            return one.n;
    }
    return 0;
}

/* Bytes of the text up to the n-th normalised one, for words that hold hidden characters. */
static size_t text_end(const struct flag_search *search, const struct word *word, size_t n)
{
    struct str rest = str_of(search->text.p + word->start, word->end - word->start);
    struct word seen = { .joined = word->joined };
    char scratch[4 * 16];

    if (word->n == rest.n)
        return word->start + n;
    while (seen.n < n && take_char(&rest, &seen, scratch))
        ;
    return word->end - rest.n;
}

/* What the text has as it stands is not told again for the text without its marks. */
static void add_once(struct flag_search *search, const struct flag_rule *rule, size_t start,
                     size_t end, bool joined)
{
    for (size_t i = search->from; joined && i < search->count && search->count < search->room;
         i++) {
        if (search->flags[i].start == start && search->flags[i].end == end)
            return;
    }
    flag_add(search, rule, start, end);
}

/* The seed's rules are exact about what they match; without marks it is another pattern. */
static void add_seed(struct flag_search *search, const struct flag_rule *rule, size_t start,
                     size_t end, bool joined)
{
    struct flag_rule veiled = *rule;

    veiled.pattern = "emphasis";
    add_once(search, joined ? &veiled : rule, start, end, joined);
}

static void find_seed(struct flag_search *search, const struct word *word, const struct word *next)
{
    for (size_t i = 0; i < ARRAY_LEN(seed_rules); i++) {
        const struct seed_rule *rule = &seed_rules[i];
        size_t n = rule->length, more;

        if (!next->spaced || word->n < n || memcmp(word->p + word->n - n, rule->first, n) != 0)
            continue;
        more = begins_with_one(next, rule->second);
        if (more)
            add_seed(search, &rule->rule,
                     word->n == word->end - word->start ? word->end - n : word->start,
                     text_end(search, next, more), word->joined);
    }
}

/* ---- phrases, made ready ---- */

/* Every list of alternatives is a set with a number; a word of the dictionary knows its sets, so
 * that a step of a phrase is one bit to look at. */
#define SETS_MAX  128
#define STEPS_MAX 8
#define SLOTS     1024 /* a power of two, several times the number of words */

struct entry {
    struct str word;
    uint64_t sets[SETS_MAX / 64];
    uint32_t begins; /* phrases that begin with it, as bits */
};

enum step_kind { STEP_END = 0, STEP_ONE, STEP_SOME, STEP_GAP };
struct step {
    enum step_kind kind;
    unsigned n; /* the set, or how many words */
};

struct dictionary {
    struct entry slots[SLOTS];
    struct step steps[ARRAY_LEN(phrases)][STEPS_MAX];
    unsigned sets;
};

/* The slot of a word, or the empty one where it belongs. */
static struct entry *slot_of(struct dictionary *dictionary, struct str word)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < word.n; i++)
        hash = (hash ^ (unsigned char)word.p[i]) * 16777619u;
    for (;; hash++) {
        struct entry *entry = &dictionary->slots[hash % SLOTS];

        if (!entry->word.n || str_eq(entry->word, word))
            return entry;
    }
}

static void add_set(struct dictionary *dictionary, struct str alternatives, uint32_t begins)
{
    unsigned set = dictionary->sets++;
    struct str one;

    BUG_IF(set >= SETS_MAX);
    while (str_split(&alternatives, '|', &one)) {
        struct entry *entry = slot_of(dictionary, one);

        entry->word = one;
        entry->sets[set / 64] |= UINT64_C(1) << set % 64;
        entry->begins |= begins;
    }
}

static void add_phrase(struct dictionary *dictionary, size_t n)
{
    struct step *step = dictionary->steps[n];
    struct str rest = str_from(phrases[n].words), token;

    for (; str_split(&rest, ' ', &token); step++) {
        BUG_IF(step - dictionary->steps[n] >= STEPS_MAX - 1);
        if (token.p[0] == '~') {
            *step = (struct step){ STEP_GAP, (unsigned)(token.p[1] - '0') };
            continue;
        }
        *step = (struct step){ token.p[0] == '?' ? STEP_SOME : STEP_ONE, dictionary->sets };
        add_set(dictionary, token.p[0] == '?' ? str_skip(token, 1) : token,
                step == dictionary->steps[n] ? UINT32_C(1) << n : 0);
    }
}

/* Made when first needed, and constant from then on. */
static struct dictionary dictionary;

static void fill_dictionary(void)
{
    _Static_assert(ARRAY_LEN(phrases) <= 32, "a bit for each");
    for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
        add_phrase(&dictionary, i);
}

/* ---- phrases, looked for ---- */

static bool is_in(const struct words *words, size_t at, unsigned set)
{
    const struct entry *entry = at < words->count ? words->at[at].entry : NULL;

    return entry && entry->sets[set / 64] >> set % 64 & 1;
}

/* One past the last word when the steps lead from here to the end, else 0. There is one gap at most
 * in a phrase, so this goes no deeper than two. */
static size_t match_from(const struct words *words, size_t at, const struct step *step)
{
    for (; step->kind != STEP_END; step++) {
        size_t end = 0;

        switch (step->kind) {
        case STEP_GAP:
            for (unsigned n = 0; n <= step->n && at < words->count && !end; n++, at++) {
                if (words->at[at].breaks)
                    return 0;
                if (step[1].kind == STEP_ONE && !is_in(words, at, step[1].n))
                    continue;
                end = match_from(words, at, step + 1);
            }
            return end;
        case STEP_SOME:
            for (unsigned n = 0; n < 4 && is_in(words, at, step->n); n++)
                at++;
            break;
        default:
            if (!is_in(words, at++, step->n))
                return 0;
            break;
        }
    }
    return at;
}

static void find_phrases(struct flag_search *search, const struct words *words, size_t at)
{
    const struct entry *entry = words->at[at].entry;

    for (uint32_t some = entry ? entry->begins : 0; some; some &= some - 1) {
        unsigned n = (unsigned)__builtin_ctz(some);
        size_t end = match_from(words, at, dictionary.steps[n]);

        if (!end)
            continue;
        add_once(search, &phrases[n].rule, words->at[at].start, words->at[end - 1].end,
                 words->at[at].joined);
        return;
    }
}

static void find_mixed(struct flag_search *search, const struct word *word)
{
    static const struct flag_rule rule = { "mixed-alphabets",
                                           "Mixes letters of different alphabets in one word",
                                           MEMORY_DANGER };

    if (word->latin && word->foreign)
        flag_add(search, &rule, word->start, word->end);
}

/* "i g n o r e": letters set apart, which a model reads as a word and no rule does. */
#define APART_MIN 8

static void find_apart(struct flag_search *search, const struct words *words, size_t *at)
{
    static const struct flag_rule rule = { "letters-apart", "Letters set apart, as to hide a word",
                                           MEMORY_WARNING };
    size_t first = *at;

    while (*at < words->count && words->at[*at].n == 1 && flag_is_alpha(words->at[*at].p[0]))
        ++*at;
    if (*at - first >= APART_MIN)
        flag_add(search, &rule, words->at[first].start, words->at[*at - 1].end);
    else if (*at == first)
        ++*at;
}

static void look_up(const struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        const struct entry *entry =
            words->at[i].n <= WORD_MAX
                ? slot_of(&dictionary, str_of(words->at[i].p, words->at[i].n))
                : NULL;

        words->at[i].entry = entry && entry->word.n ? entry : NULL;
    }
}

/* Is there a mark beside a letter? Most text has none, and is read once. */
static bool has_emphasis(struct str text)
{
    for (size_t i = 1; i < text.n; i++) {
        char a = text.p[i - 1], b = text.p[i];

        if (is_emphasis(a) != is_emphasis(b) && !flag_is_space(a) && !flag_is_space(b))
            return true;
    }
    return false;
}

static void search_words(struct flag_search *search, bool joined)
{
    struct words words = split(search, joined);

    look_up(&words);
    for (size_t i = 0; i < words.count && !joined;)
        find_apart(search, &words, &i);
    for (size_t i = 0; i < words.count; i++) {
        if (!joined)
            find_mixed(search, &words.at[i]);
        find_phrases(search, &words, i);
        if (i + 1 < words.count)
            find_seed(search, &words.at[i], &words.at[i + 1]);
    }
}

void flag_words(struct flag_search *search)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fill_dictionary);
    search_words(search, false);
    if (has_emphasis(search->text))
        search_words(search, true);
}

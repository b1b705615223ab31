/* Compiling and matching by PCRE2, with limits on the work.
 *
 * SPDX-License-Identifier: MIT
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/regex.h"

#include <pcre2.h>
#include <stdlib.h>

#include "base/regex_int.h"

#define MATCH_LIMIT 2000000
#define DEPTH_LIMIT 20000
#define HEAP_KIB    16384

struct regex {
    pcre2_code *code;
    pcre2_match_context *limits;
};

static int compile_translated(struct str pattern, struct str translated, struct regex *regex,
                              struct err *err)
{
    uint32_t options =
        PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C;
    PCRE2_SIZE offset;
    int code;

    regex->code =
        pcre2_compile((PCRE2_SPTR)translated.p, translated.n, options, &code, &offset, NULL);
    if (!regex->code) {
        char message[128];

        pcre2_get_error_message(code, (PCRE2_UCHAR *)message, sizeof(message));
        return err_set(err, ERR_BAD_REQUEST, "regular expression \"%.*s\": %s",
                       (int)(pattern.n < 200 ? pattern.n : 200), pattern.p, message);
    }
    regex->limits = pcre2_match_context_create(NULL);
    if (!regex->limits)
        BUG("no memory for a regular expression");
    pcre2_set_match_limit(regex->limits, MATCH_LIMIT);
    pcre2_set_depth_limit(regex->limits, DEPTH_LIMIT);
    pcre2_set_heap_limit(regex->limits, HEAP_KIB);
    return 0;
}

int regex_compile(struct str pattern, struct regex **ret_regex, struct err *err)
{
    AUTO_BUF translated = BUF_INIT(REGEX_PATTERN_MAX * 16);
    AUTO(regex) regex = NEW(struct regex);

    if (pattern.n > REGEX_PATTERN_MAX)
        return err_set(err, ERR_BAD_REQUEST,
                       "regular expression of %zu bytes; at most %d are allowed", pattern.n,
                       REGEX_PATTERN_MAX);
    if (regex_translate(pattern, &translated, err) < 0 ||
        compile_translated(pattern, buf_str(&translated), regex, err) < 0)
        return -1;
    *ret_regex = TAKE(regex);
    return 0;
}

void regex_free(struct regex *regex)
{
    if (!regex)
        return;
    pcre2_code_free(regex->code);
    pcre2_match_context_free(regex->limits);
    free(regex);
}

int regex_match(const struct regex *regex, struct str text, struct err *err)
{
    pcre2_match_data *match = pcre2_match_data_create(1, NULL);
    int r;

    if (!match)
        BUG("no memory for a match");
    r = pcre2_match(regex->code, (PCRE2_SPTR)(text.p ? text.p : ""), text.n, 0, 0, match,
                    regex->limits);
    pcre2_match_data_free(match);
    if (r >= 0)
        return 1;
    if (r == PCRE2_ERROR_NOMATCH)
        return 0;
    if (r == PCRE2_ERROR_MATCHLIMIT || r == PCRE2_ERROR_DEPTHLIMIT || r == PCRE2_ERROR_HEAPLIMIT)
        return err_set(err, ERR_TIMEOUT, "a regular expression took too much work on %zu bytes",
                       text.n);
    return err_set(err, ERR_BAD_REQUEST, "a regular expression could not be matched (PCRE2 %d)", r);
}

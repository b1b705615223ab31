/* Addresses, marks that imitate the system, markup.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory/flags_int.h"

/* ---- https?://\S+ ---- */

void flag_urls(struct flag_search *search)
{
    static const struct flag_rule rule = { "https?://\\S+", "Contains URL", MEMORY_WARNING };
    struct str text = search->text;

    for (size_t at = 0; at < text.n; at++) {
        size_t head, n;

        if (flag_lower(text.p[at]) != 'h')
            continue;
        head = flag_scheme(str_skip(text, at));
        n = head ? flag_unspaced(str_skip(text, at + head)) : 0;
        if (!n)
            continue;
        flag_add(search, &rule, at, at + head + n);
        at += head + n - 1;
    }
    search->urls = search->count;
}

/* ---- addresses of mail ---- */

static bool is_local(char c)
{
    return flag_is_alpha(c) || flag_is_digit(c) || c == '.' || c == '_' || c == '%' || c == '+' ||
           c == '-';
}

/* Bytes of [a-zA-Z0-9.-]+\.[a-zA-Z]{2,} at the front, the longest; 0: it is none. */
static size_t domain_length(struct str text)
{
    size_t run = 0, letters = 0;

    while (run < text.n && flag_is_domain(text.p[run]))
        run++;
    for (size_t at = run; at > 1; at--) {
        char c = text.p[at - 1];

        if (flag_is_alpha(c)) {
            letters++;
            continue;
        }
        if (c == '.' && letters >= 2)
            return at + letters;
        letters = 0;
    }
    return 0;
}

void flag_emails(struct flag_search *search)
{
    static const struct flag_rule rule = { "[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}",
                                           "Contains email", MEMORY_WARNING };
    struct str text = search->text;
    size_t from = 0;

    for (size_t at = 0; at < text.n; at++) {
        size_t start = at, n;

        if (text.p[at] != '@')
            continue;
        while (start > from && is_local(text.p[start - 1]))
            start--;
        from = at + 1;
        n = start < at ? domain_length(str_skip(text, at + 1)) : 0;
        if (!n)
            continue;
        flag_add(search, &rule, start, at + 1 + n);
        from = at + 1 + n;
        at += n;
    }
}

/* ---- marks ---- */

static const struct literal {
    const char *text; /* in lower case */
    struct flag_rule rule;
} literals[] = {
#define ROLE "role-mark", "Imitates a message of the system", MEMORY_DANGER
    { "<|im_start|>", { ROLE } },
    { "<|im_end|>", { ROLE } },
    { "<|system|>", { ROLE } },
    { "<|user|>", { ROLE } },
    { "<|assistant|>", { ROLE } },
    { "<|start_header_id|>", { ROLE } },
    { "<|eot_id|>", { ROLE } },
    { "<|endoftext|>", { ROLE } },
    { "<start_of_turn>", { ROLE } },
    { "<end_of_turn>", { ROLE } },
    { "[inst]", { ROLE } },
    { "[/inst]", { ROLE } },
    { "<<sys>>", { ROLE } },
    { "<system>", { ROLE } },
    { "</system>", { ROLE } },
    { "[system]", { ROLE } },
    { "[system message]", { ROLE } },
    { "### system:", { ROLE } },
    { "### instruction:", { ROLE } },
#undef ROLE
    { "<script", { "<script", "Contains a script", MEMORY_DANGER } },
    { "<iframe", { "<iframe", "Embeds another page", MEMORY_DANGER } },
    { "<object", { "<object", "Embeds something else", MEMORY_DANGER } },
    { "<embed", { "<embed", "Embeds something else", MEMORY_DANGER } },
    { "data:text/html", { "data:text/html", "Contains a page of its own", MEMORY_DANGER } },
    { "downloadstring(", { "shell-download", "Runs what it downloads", MEMORY_DANGER } },
    { "invoke-expression", { "shell-one-liner", "Runs text as a command", MEMORY_WARNING } },
    { "iex(", { "shell-one-liner", "Runs text as a command", MEMORY_WARNING } },
    { "iex (", { "shell-one-liner", "Runs text as a command", MEMORY_WARNING } },
#define UNSEEN "unseen", "Text that is not shown when rendered", MEMORY_WARNING
    { "<!--", { UNSEEN } },
    { "[//]:", { UNSEEN } },
    { "[comment]:", { UNSEEN } },
    { "display:none", { UNSEEN } },
    { "display: none", { UNSEEN } },
    { "font-size:0", { UNSEEN } },
    { "font-size: 0", { UNSEEN } },
#undef UNSEEN
    { "javascript:", { "javascript:", "Contains a script", MEMORY_DANGER } },
    { "-----begin ", { "-----BEGIN", "Contains a key or certificate", MEMORY_DANGER } },
};

void flag_literals(struct flag_search *search)
{
    struct str text = search->text;

    for (size_t at = 0; at < text.n; at++) {
        char c = flag_lower(text.p[at]);

        if (!c || !strchr("<[#j-dif", c))
            continue;
        for (size_t i = 0; i < ARRAY_LEN(literals); i++) {
            size_t n;

            if (c != literals[i].text[0] || !flag_begins(str_skip(text, at), literals[i].text))
                continue;
            n = strlen(literals[i].text);
            flag_add(search, &literals[i].rule, at, at + n);
            at += n - 1;
            break;
        }
    }
}

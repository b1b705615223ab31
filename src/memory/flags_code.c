/* Commands that fetch or decode something and run it, and text that was made unreadable.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory/flags_int.h"

/* ---- pipes to interpreters ---- */

#define PIPE_BACK  512 /* how far before the bar its command may begin */
#define PIPE_WORDS 6   /* "sudo -E env X=1 bash": words that may stand before the interpreter */

static const struct flag_rule pipe_rule = { "shell-pipe", "Pipes something into an interpreter",
                                            MEMORY_DANGER };
static const struct flag_rule subshell_rule = { "shell-download", "Runs what it downloads",
                                                MEMORY_DANGER };

static const char *const interpreters[] = {
    "sh",     "bash",      "zsh",  "dash", "ksh",        "fish",
    "python", "perl",      "ruby", "node", "php",        "pwsh",
    "iex",    "osascript", "deno", "bun",  "powershell", "invoke-expression",
    "lua",    NULL
};
static const char *const sources[] = { "curl",
                                       "wget",
                                       "fetch",
                                       "base64",
                                       "xxd",
                                       "openssl",
                                       "iwr",
                                       "irm",
                                       "nc",
                                       "ncat",
                                       "echo",
                                       "printf",
                                       "cat",
                                       "gunzip",
                                       "zcat",
                                       "unxz",
                                       "aria2c",
                                       "http",
                                       "invoke-webrequest",
                                       "invoke-restmethod",
                                       "tr",
                                       "rev",
                                       "sed",
                                       "awk",
                                       "jq",
                                       "tac",
                                       "gpg",
                                       "ssh",
                                       "gzip",
                                       "xz",
                                       "socat",
                                       "telnet",
                                       NULL };
static const char *const wrappers[] = { "sudo",   "env",     "exec",    "nohup",  "time",
                                        "doas",   "xargs",   "nice",    "ionice", "stdbuf",
                                        "setsid", "command", "busybox", NULL };
static const char *const takers[] = { "timeout", "chroot", NULL }; /* of a word of their own */

static bool is_command_char(char c)
{
    return flag_is_alpha(c) || (c >= '-' && c <= '9') || c == '_' || c == '=' || c == '+';
}

static bool is_in(struct str word, const char *const *list)
{
    for (; word.n && *list; list++) {
        if (flag_lower(word.p[0]) == (*list)[0] && str_eq_nocase(word, str_from(*list)))
            return true;
    }
    return false;
}

/* "/usr/bin/python3.11" -> "python" */
static struct str command_name(struct str word)
{
    for (size_t i = word.n; i > 0; i--) {
        if (word.p[i - 1] == '/') {
            word = str_skip(word, i);
            break;
        }
    }
    if (word.n > 4 && str_eq_nocase(str_skip(word, word.n - 4), STR(".exe")))
        word.n -= 4;
    while (word.n && (flag_is_digit(word.p[word.n - 1]) || word.p[word.n - 1] == '.'))
        word.n--;
    return word;
}

static struct str take_word(struct str *rest)
{
    struct str word;
    size_t n = 0;

    while (rest->n && strchr(" \t\\\"'", rest->p[0]))
        *rest = str_skip(*rest, 1);
    while (n < rest->n && is_command_char(rest->p[n]))
        n++;
    word = str_take(*rest, n);
    *rest = str_skip(*rest, n);
    return word;
}

/* Bytes from behind the bar to the end of the interpreter's name; 0: none stands there. */
static size_t interpreter_after(struct str text)
{
    struct str rest = str_take(text, PIPE_BACK), word;
    bool value = false; /* "-u root": one word may follow */

    if (rest.n && rest.p[0] == '&')
        rest = str_skip(rest, 1);
    while (rest.n && flag_is_space(rest.p[0])) /* a line may end behind the bar */
        rest = str_skip(rest, 1);
    for (unsigned i = 0; i < PIPE_WORDS; i++) {
        word = take_word(&rest);
        if (!word.n)
            return 0;
        if (is_in(command_name(word), interpreters))
            return (size_t)(rest.p - text.p);
        if (word.p[0] == '-' || is_in(command_name(word), takers)) {
            value = true;
        } else if (!is_in(command_name(word), wrappers) && str_find_char(word, '=') < 0) {
            if (!value)
                return 0;
            value = false;
        }
    }
    return 0;
}

static bool is_table_row(struct str text, size_t start)
{
    while (start > 0 && (text.p[start - 1] == ' ' || text.p[start - 1] == '\t'))
        start--;
    return start > 0 && text.p[start - 1] == '|';
}

/* The line so far: where a command that fetches or decodes began. */
struct line {
    bool known;
    size_t source;
};

static void find_bar(struct flag_search *search, size_t at, struct line *line)
{
    struct str text = search->text;
    size_t end;

    if (!line->known || at - line->source > PIPE_BACK || (at > 0 && text.p[at - 1] == '|') ||
        (at + 1 < text.n && text.p[at + 1] == '|') || is_table_row(text, line->source))
        return;
    end = interpreter_after(str_skip(text, at + 1));
    if (!end)
        return;
    flag_add(search, &pipe_rule, line->source, at + 1 + end);
    line->known = false;
}

/* $(curl ...), <(wget ...) */
static void find_subshell(struct flag_search *search, size_t at)
{
    struct str rest = str_skip(search->text, at + 1), word;

    if (!rest.n || rest.p[0] != '(')
        return;
    rest = str_skip(rest, 1);
    word = take_word(&rest);
    if (str_eq_nocase(word, STR("curl")) || str_eq_nocase(word, STR("wget")))
        flag_add(search, &subshell_rule, at, (size_t)(rest.p - search->text.p));
}

/* ---- code on the command line ---- */

static const struct flag_rule one_liner_rule = { "shell-one-liner",
                                                 "Runs code given on the command line",
                                                 MEMORY_WARNING };
static const struct flag_rule encoded_rule = { "shell-encoded",
                                               "Runs a command that was made unreadable",
                                               MEMORY_DANGER };

static bool is_powershell(struct str name)
{
    return str_eq_nocase(name, STR("powershell")) || str_eq_nocase(name, STR("pwsh"));
}

/* "-c", "-lc", "-pe", "--eval": is code what comes next? */
static const struct flag_rule *rule_of_option(struct str name, struct str option)
{
    static const char *const shells[] = {
        "sh", "bash", "zsh", "dash", "ksh", "fish", "python", NULL
    };
    static const char *const evals[] = { "perl", "ruby", "node", "lua", "osascript", "bun", NULL };
    struct str letters = str_skip(option, 1);
    char last = flag_lower(option.p[option.n - 1]);

    if (is_powershell(name)) { /* any beginning of the word will do */
        if (str_eq_nocase(letters, STR("ec")) ||
            (letters.n && letters.n <= 14 &&
             str_eq_nocase(letters, str_take(STR("encodedcommand"), letters.n))))
            return &encoded_rule;
        return letters.n && letters.n <= 7 &&
                       str_eq_nocase(letters, str_take(STR("command"), letters.n))
                   ? &one_liner_rule
                   : NULL;
    }
    if (str_eq_nocase(option, STR("--eval")))
        return is_in(name, evals) ? &one_liner_rule : NULL;
    if (letters.n < 1 || letters.n > 6 || letters.p[0] == '-')
        return NULL;
    if ((last == 'c' && is_in(name, shells)) || (last == 'e' && is_in(name, evals)) ||
        (last == 'r' && str_eq_nocase(name, STR("php"))))
        return &one_liner_rule;
    return NULL;
}

/* An interpreter at `at`, of n bytes, with options. */
static void find_one_liner(struct flag_search *search, size_t at, size_t n)
{
    struct str name = command_name(str_of(search->text.p + at, n));
    struct str rest = str_take(str_skip(search->text, at + n), PIPE_BACK), word;
    bool value = false; /* "-w hidden": one word may follow an option */

    for (unsigned i = 0; i < 2 * PIPE_WORDS; i++) {
        const struct flag_rule *rule;

        word = take_word(&rest);
        if (!word.n || (word.p[0] != '-' && !value))
            return;
        value = word.p[0] == '-';
        rule = value ? rule_of_option(name, word) : NULL;
        if (!rule)
            continue;
        if (rest.n > 1 && (rest.p[0] == ' ' || rest.p[0] == '\t') && !flag_is_space(rest.p[1]))
            flag_add(search, rule, at, (size_t)(word.p + word.n - search->text.p));
        return;
    }
}

void flag_pipes(struct flag_search *search)
{
    struct str text = search->text;
    struct line line = { false, 0 };

    for (size_t at = 0, n; at < text.n; at += n ? n : 1) {
        char c = text.p[at];

        for (n = 0; at + n < text.n && is_command_char(text.p[at + n]); n++)
            ;
        if (n) {
            if (is_in(command_name(str_of(text.p + at, n)), interpreters))
                find_one_liner(search, at, n);
            if (!line.known && is_in(command_name(str_of(text.p + at, n)), sources))
                line = (struct line){ true, at };
        } else if (c == '|') {
            find_bar(search, at, &line);
        } else if (c == '$' || c == '<') {
            find_subshell(search, at);
        } else if (c == '\n' && !(at && text.p[at - 1] == '\\')) {
            line.known = false;
        }
    }
}

/* ---- base64 ---- */

#define BLOB_MIN    40
#define BLOB_SAMPLE 4096 /* bytes of it that are decoded to see what it is */

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (flag_is_digit(c))
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* Lines of a wrapped blob are one. */
static size_t blob_end(struct str text, size_t at)
{
    size_t line = at, end = at;

    for (; end < text.n; end++) {
        if (digit_of(text.p[end]) >= 0)
            continue;
        if (text.p[end] == '\n' && end - line >= 60 && end + 1 < text.n &&
            digit_of(text.p[end + 1]) >= 0) {
            line = end + 1;
            continue;
        }
        break;
    }
    while (end < text.n && text.p[end] == '=')
        end++;
    return end;
}

struct blob {
    size_t digits, uppers, lowers, numbers, changes, hex, slashes, padding, newlines;
    size_t decoded, printable;
    size_t hex_decoded, hex_printable;
};

static void note_char(struct blob *blob, char c, char before)
{
    blob->uppers += c >= 'A' && c <= 'Z';
    blob->lowers += c >= 'a' && c <= 'z';
    blob->numbers += flag_is_digit(c);
    blob->hex += flag_is_digit(c) || (flag_lower(c) >= 'a' && flag_lower(c) <= 'f');
    blob->slashes += c == '/' || c == '-' || c == '_';
    blob->changes += flag_is_alpha(c) && flag_is_alpha(before) && (c >= 'a') != (before >= 'a');
    blob->changes += flag_is_digit(c) != flag_is_digit(before);
}

static unsigned hex_of(char c)
{
    return flag_is_digit(c) ? (unsigned)(c - '0') : (unsigned)(flag_lower(c) - 'a' + 10) & 15;
}

static bool is_printable(unsigned char byte)
{
    return (byte >= ' ' && byte < 127) || byte == '\n' || byte == '\t' || byte == '\r';
}

static void note_byte(struct blob *blob, unsigned char byte)
{
    blob->decoded++;
    blob->printable += is_printable(byte);
}

/* Two digits at a time, should it be hexadecimal. */
static void note_pair(struct blob *blob, char high, char low)
{
    unsigned char byte = (unsigned char)(hex_of(high) << 4 | hex_of(low));

    blob->hex_decoded++;
    blob->hex_printable += is_printable(byte);
}

static struct blob look_at(struct str text)
{
    struct blob blob = { 0 };
    uint32_t bits = 0;
    char before = 'a';

    for (size_t i = 0; i < text.n; i++) {
        int digit = digit_of(text.p[i]);

        blob.padding += text.p[i] == '=';
        blob.newlines += text.p[i] == '\n';
        if (digit < 0)
            continue;
        if (blob.digits < BLOB_SAMPLE)
            note_char(&blob, text.p[i], before);
        if (blob.digits % 2 && blob.digits < BLOB_SAMPLE)
            note_pair(&blob, before, text.p[i]);
        before = text.p[i];
        bits = bits << 6 | (uint32_t)digit;
        blob.digits++;
        if (blob.digits % 4 == 0 && blob.digits <= BLOB_SAMPLE) {
            note_byte(&blob, (unsigned char)(bits >> 16));
            note_byte(&blob, (unsigned char)(bits >> 8));
            note_byte(&blob, (unsigned char)bits);
        }
    }
    return blob;
}

/* Not a hash, a long name or a path. */
static bool is_blob(const struct blob *blob)
{
    size_t seen = blob->digits < BLOB_SAMPLE ? blob->digits : BLOB_SAMPLE;

    if (blob->padding > 2 || blob->digits % 4 == 1 || blob->hex == seen)
        return false;
    if (blob->decoded && blob->printable * 10 >= blob->decoded * 9)
        return true;
    return blob->uppers && blob->lowers && blob->numbers && blob->slashes * 8 < seen &&
           blob->changes * 4 >= seen;
}

static bool is_hex_text(const struct blob *blob)
{
    size_t seen = blob->digits < BLOB_SAMPLE ? blob->digits : BLOB_SAMPLE;

    return blob->hex == seen && blob->numbers < seen &&
           blob->hex_printable * 10 >= blob->hex_decoded * 9;
}

void flag_blobs(struct flag_search *search)
{
    static const struct flag_rule data = { "base64", "Contains encoded data", MEMORY_WARNING };
    static const struct flag_rule hidden = { "base64-text",
                                             "Contains encoded text that reads as "
                                             "text once decoded",
                                             MEMORY_DANGER };
    static const struct flag_rule hex = { "hex-text", "Contains text written as hexadecimal digits",
                                          MEMORY_DANGER };
    struct str text = search->text;

    for (size_t at = 0, end; at < text.n; at = end + 1) {
        struct blob blob;

        end = at;
        if (digit_of(text.p[at]) < 0)
            continue;
        end = blob_end(text, at);
        if (end - at < BLOB_MIN || flag_in_url(search, at))
            continue;
        blob = look_at(str_of(text.p + at, end - at));
        if (is_hex_text(&blob))
            flag_add(search, &hex, at, end);
        else if (is_blob(&blob))
            flag_add(search, blob.printable * 10 >= blob.decoded * 9 ? &hidden : &data, at, end);
    }
}

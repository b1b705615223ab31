/* Reading lines: with libedit on a terminal, plainly otherwise.
 *
 * libedit is opened when a conversation begins on a terminal; where it is missing, lines are read
 * plainly there too. Its characters come through get_char(), so that Ctrl-C and a resize, which
 * interrupt the read, are seen at once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "base/alloc.h"
#include "base/dl.h"
#include "base/utf8.h"
#include "cli/ask.h"
#include "cli/chat_int.h"
#include "cli/leave.h"
#include "cli/term.h"

#define LINE_BYTES (1u << 20)
#define CTRL_C     3
#define CTRL_D     4

volatile sig_atomic_t chat_interrupted;
static volatile sig_atomic_t resized;
static volatile sig_atomic_t breaks = -1; /* Ctrl-C in this run; -1: none is under way */

static struct {
    __typeof__(el_init) *el_init;
    __typeof__(el_set) *el_set;
    __typeof__(el_wset) *el_wset;
    __typeof__(el_gets) *el_gets;
    __typeof__(el_end) *el_end;
    __typeof__(el_line) *el_line;
    __typeof__(el_insertstr) *el_insertstr;
    __typeof__(el_resize) *el_resize;
    __typeof__(history_init) *history_init;
    __typeof__(history) *history;
    __typeof__(history_end) *history_end;
} lib;

static const struct dl_symbol symbols[] = {
    { "el_init", (void **)&lib.el_init },
    { "el_set", (void **)&lib.el_set },
    { "el_wset", (void **)&lib.el_wset },
    { "el_gets", (void **)&lib.el_gets },
    { "el_end", (void **)&lib.el_end },
    { "el_line", (void **)&lib.el_line },
    { "el_insertstr", (void **)&lib.el_insertstr },
    { "el_resize", (void **)&lib.el_resize },
    { "history_init", (void **)&lib.history_init },
    { "history", (void **)&lib.history },
    { "history_end", (void **)&lib.history_end },
};

struct chat_line {
    EditLine *el; /* NULL: plain lines */
    History *past;
    const char *data_dir;
    const char *prompt;
    char shown_prompt[256];
    chat_complete_fn *complete;
    void *arg;
    const struct ask *ask; /* what the line answers; NULL: it is a message */
    int continues;         /* term_continues() when the editor took the terminal */
    bool terminal, broken_off;
    struct chat_ear ear; /* fd NULL: nothing is heard */
    struct buf text;     /* plain: what was read */
    size_t used;
};

/* One line is read at a time, by one thread: the editor's callbacks find it here. */
static struct chat_line *reading;

static void on_screen(void)
{
    resized = 1;
}

static void on_interrupt(int number)
{
    (void)number;
    chat_interrupted++;
    /* The daemon may not answer what the first one asked of it. The editor has its own terminal
     * settings, and takes them back itself. */
    if (breaks >= 0 && ++breaks > 1 && !reading) {
        leave_say();
        _exit(CLI_FAILED);
    }
}

void chat_line_count_breaks(bool running)
{
    breaks = running ? 0 : -1;
}

static void wake_reader(void)
{
    chat_interrupted++;
}

/* ---- the editor's callbacks ---- */

static char *get_prompt(EditLine *el)
{
    (void)el;
    return reading->shown_prompt;
}

/* Until a key was pressed or a signal came; what is heard meanwhile is shown above the line. */
static void wait_for_key(EditLine *el)
{
    const struct chat_ear *ear = &reading->ear;

    while (ear->fd) {
        struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                                { .fd = ear->fd(ear->arg), .events = POLLIN } };

        if (fds[1].fd < 0 || poll(fds, 2, -1) <= 0 || fds[0].revents || chat_interrupted)
            return;
        if (fds[1].revents && ear->hear(ear->arg) && el)
            lib.el_set(el, EL_REFRESH);
    }
}

static bool is_lost(const struct chat_line *line)
{
    return line->ask && ask_is_lost(line->ask);
}

/* Another size, or the terminal was somebody else's while we were stopped: the editor takes it
 * again, and writes the line anew. */
static void take_screen(EditLine *el)
{
    resized = 0;
    if (!el)
        return;
    lib.el_resize(el);
    if (reading->continues == term_continues())
        return;
    reading->continues = term_continues();
    lib.el_set(el, EL_PREP_TERM, 0);
    lib.el_set(el, EL_PREP_TERM, 1);
    lib.el_set(el, EL_REFRESH);
}

/* A byte; -1 with errno, 0 at the end. */
static int get_byte(EditLine *el, unsigned char *ret_byte)
{
    for (;;) {
        ssize_t n;

        wait_for_key(el);
        if (is_lost(reading))
            return -1;
        n = chat_interrupted || resized ? -1 : read(STDIN_FILENO, ret_byte, 1);
        if (n == 1 && *ret_byte == '\0')
            *ret_byte = CTRL_D; /* typed before the editor had the terminal: Linux keeps it so */
        if (n >= 0)
            return (int)n;
        if (!chat_interrupted && !resized && errno != EINTR)
            return -1;
        if (chat_interrupted) {
            *ret_byte = CTRL_C;
            return 1;
        }
        take_screen(el);
    }
}

static int get_char(EditLine *el, wchar_t *ret_char)
{
    char bytes[UTF8_MAX_BYTES];
    size_t n = 0;
    uint32_t code = UTF8_REPLACEMENT;
    struct str rest;

    do {
        unsigned char byte;
        int r = get_byte(el, &byte);

        if (r <= 0)
            return r;
        if (byte == CTRL_C) {
            n = 1;
            bytes[0] = CTRL_C;
            break;
        }
        bytes[n++] = (char)byte;
        if (byte < 0x80)
            break;
    } while (n < UTF8_MAX_BYTES && !utf8_valid(str_of(bytes, n)));
    rest = str_of(bytes, n);
    utf8_decode(&rest, &code);
    *ret_char = (wchar_t)code;
    return 1;
}

static unsigned char break_off(EditLine *el, wint_t c)
{
    (void)el, (void)c;
    reading->broken_off = true;
    fputs("^C\n", stdout);
    fflush(stdout);
    return CC_NEWLINE;
}

/* ---- completion ---- */

struct offers {
    struct buf common; /* what all of them begin with */
    struct buf list;
    size_t n;
};

static void take_offer(void *to, const char *word)
{
    struct offers *offers = to;
    size_t same = 0;

    if (offers->n++ == 0) {
        buf_add_text(&offers->common, word);
    } else {
        while (same < offers->common.n && word[same] && offers->common.p[same] == word[same])
            same++;
        offers->common.n = same;
        offers->common.p[same] = '\0';
    }
    buf_printf(&offers->list, "%s%s", offers->n > 1 ? "  " : "", word);
}

/* The word before the cursor becomes what all offers begin with; they are listed when that adds
 * nothing. */
static unsigned char complete(EditLine *el, wint_t c)
{
    const LineInfo *info = lib.el_line(el);
    struct str before = str_of(info->buffer, (size_t)(info->cursor - info->buffer));
    struct offers offers = { .common = BUF_INIT(4096), .list = BUF_INIT(16384) };
    size_t word = before.n;
    unsigned char result = CC_ERROR;

    (void)c;
    while (word && before.p[word - 1] != ' ')
        word--;
    reading->complete(reading->arg, before, take_offer, &offers);
    if (offers.n == 1)
        buf_add_char(&offers.common, ' ');
    if (offers.n && offers.common.n > before.n - word) {
        lib.el_insertstr(el, buf_text(&offers.common) + (before.n - word));
        result = CC_REFRESH;
    } else if (offers.n > 1) {
        fputc('\n', stdout);
        term_text(stdout, buf_text(&offers.list));
        fputc('\n', stdout);
        fflush(stdout);
        result = CC_REDISPLAY;
    }
    buf_release(&offers.common);
    buf_release(&offers.list);
    return result;
}

/* ---- opening ---- */

static void remember(void *arg, const char *entry)
{
    struct chat_line *line = arg;
    HistEvent event;

    if (line->past)
        lib.history(line->past, &event, H_ENTER, entry);
}

static void open_editor(struct chat_line *line)
{
    struct err err = ERR_INIT;
    HistEvent event;

    if (dl_load("libedit.so.2", symbols, sizeof(symbols) / sizeof(symbols[0]), &err) < 0)
        return;
    line->el = lib.el_init("dormouse", stdin, stdout, stderr);
    if (!line->el)
        return;
    line->past = lib.history_init();
    lib.history(line->past, &event, H_SETSIZE, CHAT_HISTORY_LINES);
    lib.history(line->past, &event, H_SETUNIQUE, 1);
    lib.el_set(line->el, EL_SIGNAL, 0);
    lib.el_set(line->el, EL_EDITOR, "emacs");
    lib.el_set(line->el, EL_PROMPT_ESC, get_prompt, '\1');
    lib.el_set(line->el, EL_HIST, lib.history, line->past);
    lib.el_set(line->el, EL_GETCFN, get_char);
    /* The wide form: the other one loses the copies it makes. */
    lib.el_wset(line->el, EL_ADDFN, L"chat-complete", L"Completes a command", complete);
    lib.el_wset(line->el, EL_ADDFN, L"chat-break", L"Gives the line up", break_off);
    lib.el_set(line->el, EL_BIND, "^I", "chat-complete", NULL);
    lib.el_set(line->el, EL_BIND, "^C", "chat-break", NULL);
    lib.el_set(line->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    chat_history_each(line->data_dir, remember, line);
}

struct chat_line *chat_line_new(const char *data_dir, chat_complete_fn *complete_fn, void *arg)
{
    struct chat_line *line = NEW(struct chat_line);
    struct sigaction act = { .sa_handler = on_interrupt };
    const char *term = getenv("TERM");

    *line = (struct chat_line){
        .data_dir = data_dir, .complete = complete_fn, .arg = arg, .text = BUF_INIT(LINE_BYTES)
    };
    sigaction(SIGINT, &act, NULL);
    leave_catch(wake_reader);
    term_watch(on_screen);
    line->terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (line->terminal && term && strcmp(term, "dumb") != 0)
        open_editor(line);
    return line;
}

void chat_line_free(struct chat_line *line)
{
    if (!line)
        return;
    if (line->el)
        lib.el_end(line->el);
    if (line->past)
        lib.history_end(line->past);
    buf_release(&line->text);
    free(line);
}

bool chat_line_is_terminal(const struct chat_line *line)
{
    return line->terminal;
}

/* ---- reading ---- */

static enum chat_read read_edited(struct chat_line *line, struct str *ret_text)
{
    const char *text;
    int n = 0;

    line->broken_off = false;
    line->continues = term_continues();
    reading = line;
    text = lib.el_gets(line->el, &n);
    reading = NULL;
    if (line->broken_off)
        return CHAT_INTERRUPTED;
    if (!text || n <= 0)
        return CHAT_EOF;
    *ret_text = str_of(text, (size_t)n);
    if (ret_text->p[ret_text->n - 1] == '\n')
        ret_text->n--;
    return CHAT_LINE;
}

/* A line that is already there, or what was left at the end. */
static bool take_line(struct chat_line *line, bool ended, struct str *ret_text)
{
    struct str rest = str_skip(buf_str(&line->text), line->used);
    ptrdiff_t end = str_find_char(rest, '\n');

    if (end < 0 && (!ended || !rest.n) && line->text.n < LINE_BYTES)
        return false;
    *ret_text = end < 0 ? rest : str_take(rest, (size_t)end);
    line->used += ret_text->n + (end >= 0);
    if (ret_text->n && ret_text->p[ret_text->n - 1] == '\r')
        ret_text->n--;
    return true;
}

static enum chat_read read_plain(struct chat_line *line, struct str *ret_text)
{
    if (line->terminal) {
        fputs(line->prompt, stdout);
        fflush(stdout);
    }
    buf_consume(&line->text, line->used);
    line->used = 0;
    while (!take_line(line, false, ret_text)) {
        char bytes[4096];
        ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

        if (n < 0 && errno == EINTR && chat_interrupted)
            return CHAT_INTERRUPTED;
        if (is_lost(line))
            return CHAT_LOST;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return take_line(line, true, ret_text) ? CHAT_LINE : CHAT_EOF;
        buf_add(&line->text, bytes, (size_t)n);
    }
    return CHAT_LINE;
}

enum chat_read chat_line_read(struct chat_line *line, const char *prompt, struct str *ret_text)
{
    bool colours = term_colours(stdout);
    enum chat_read r;

    chat_interrupted = 0;
    if (leave_asked())
        return CHAT_EOF;
    line->prompt = prompt;
    snprintf(line->shown_prompt, sizeof(line->shown_prompt), "%s%s%s", colours ? "\1\033[1m\1" : "",
             prompt, colours ? "\1\033[0m\1" : "");
    r = line->el ? read_edited(line, ret_text) : read_plain(line, ret_text);
    chat_interrupted = 0;
    return leave_asked() ? CHAT_EOF : r;
}

enum chat_read chat_line_answer(struct chat_line *line, const struct ask *ask, const char *prompt,
                                struct str *ret_text)
{
    enum chat_read r;

    line->ask = ask;
    r = chat_line_read(line, prompt, ret_text);
    line->ask = NULL;
    if (r == CHAT_INTERRUPTED || leave_asked() || !ask_is_lost(ask))
        return r;
    fputc('\n', stdout);
    return CHAT_LOST;
}

bool chat_line_arm(struct chat_line *line)
{
    struct timespec left = { .tv_nsec = TERM_ARM_MS * 1000000L };

    if (!line->terminal)
        return true;
    chat_interrupted = 0;
    while (!chat_interrupted && nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
    term_forget_typed();
    buf_clear(&line->text);
    line->used = 0;
    return !chat_interrupted;
}

void chat_line_listen(struct chat_line *line, const struct chat_ear *ear)
{
    if (line->el)
        line->ear = *ear;
}

void chat_line_keep(struct chat_line *line, struct str entry)
{
    char *copy;

    if (!line->terminal || !chat_history_wants(entry))
        return;
    copy = alloc_copy(entry.p, entry.n);
    remember(line, copy);
    free(copy);
    chat_history_add(line->data_dir, entry);
}

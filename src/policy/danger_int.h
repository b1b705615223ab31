/* Reading a command as a shell would, for the classifier of dangerous ones.
 *
 *   danger_word.c    one word: quotes, escapes, expansions, braces, fields
 *   danger_parse.c   lists, pipelines, compound commands, here-documents
 *   danger_run.c     one simple command: prefixes that run another, what it prints
 *   danger_rules.c   the table of rules
 *   danger_files.c   the table of places
 *   danger_path.c    what a path means
 *
 * Nothing is run. Variables that the command set itself are known, the usual ones of the
 * environment are unknown, any other is empty, as it would be in the sandbox.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_POLICY_DANGER_INT_H
#define DORMOUSE_POLICY_DANGER_INT_H

#include "base/arena.h"
#include "base/buf.h"
#include "policy/danger.h"

/* Bytes in expanded text that stand for what a shell would treat specially. They can't come from
 * the command itself: a command with control characters in it is a finding. */
#define MARK_UNKNOWN '\x01' /* something that only running it would tell */
#define MARK_STAR    '\x03' /* an unquoted * */
#define MARK_ANY     '\x04' /* ? */
#define MARK_SET     '\x05' /* [ */
#define MARK_OPEN    '\x06' /* { */
#define MARK_CLOSE   '\x07' /* } */
#define MARK_COMMA   '\x08' /* , */
#define MARK_HOME    '\x0e' /* the home directory */
#define MARK_FIELD   '\x0f' /* the end of a field in an unquoted expansion */

#define DANGER_DEPTH_MAX  24
#define DANGER_WORDS_MAX  4096
#define DANGER_BYTES_MAX  (1 << 20) /* of the command */
#define DANGER_BUDGET     (4 << 20) /* bytes looked at in all, nested ones again */
#define DANGER_REDIRS_MAX 16
#define DANGER_VARS_MAX   64
#define DANGER_FIELD_MAX  (64 * 1024)

/* Where the bytes come from that a command prints. */
enum { FACT_DOWNLOAD = 1, FACT_DECODED = 2, FACT_NETWORK = 4 };

struct danger_word {
    struct str text; /* expanded, with marks */
    unsigned facts;  /* of the substitutions in it */
};

enum danger_redir_kind { REDIR_READ, REDIR_WRITE, REDIR_BOTH, REDIR_TEXT };

struct danger_redir {
    enum danger_redir_kind kind;
    struct danger_word word; /* the file, or for REDIR_TEXT what the command reads */
};

/* What a command reads or prints. */
struct danger_stream {
    unsigned facts;
    struct str text; /* p NULL: not known */
};

struct danger_command {
    struct danger_word *words;
    size_t n;
    struct danger_redir redirs[DANGER_REDIRS_MAX];
    size_t redirs_n;
    struct danger_stream in;
    bool in_pipe, background;
};

struct danger_var {
    struct str name, value;
    unsigned facts;
};

struct danger_scan {
    struct arena *arena;
    struct danger *found; /* set when hit */
    bool hit;
    struct str part;  /* of the command as given: what is being looked at */
    struct str outer; /* the command as given */
    unsigned depth;
    size_t budget;
    struct danger_var vars[DANGER_VARS_MAX];
    size_t vars_n;
    struct str cwd;          /* "" where it began; marks possible */
    struct str function;     /* whose body is being read */
    struct str downloads[8]; /* files that a download wrote */
    size_t downloads_n;
};

/* A reader of one text: the command itself, or what a nested shell would get. */
struct danger_reader {
    struct danger_scan *scan;
    struct str s;
    size_t at;
    size_t body_end; /* of the here-documents of this line; 0: none */
};

/* The first finding counts. Returns true. */
bool danger_report(struct danger_scan *scan, const char *rule, const char *about);
bool danger_obscure(struct danger_scan *scan);

/* ---- words ---- */

/* Appends the fields of the word at the reader to words; the reader stands behind it. */
void danger_read_word(struct danger_reader *reader, struct danger_word **words, size_t *n);
/* The text of a word that is not split: of an assignment, a redirection, a here-string. */
struct danger_word danger_read_single(struct danger_reader *reader);
/* The same for a here-document's body. */
struct danger_word danger_expand_text(struct danger_scan *scan, struct str text);
void danger_set_var(struct danger_scan *scan, struct str name, struct str value, unsigned facts);
/* The word as text that a nested shell would read: globs and braces as they were typed. */
struct str danger_plain(struct danger_scan *scan, struct str text);

/* ---- lists ---- */

/* Reads text as a script; what it prints. */
struct danger_stream danger_run_text(struct danger_scan *scan, struct str text,
                                     struct danger_stream in);
/* Reads up to the closing word or ')' (NULL: the end), which is consumed. */
struct danger_stream danger_run_list(struct danger_reader *reader, const char *closer,
                                     struct danger_stream in);

/* ---- commands ---- */

/* Judges it; what it prints. */
struct danger_stream danger_run_command(struct danger_scan *scan, struct danger_command *command);
/* The last part of a path. */
struct str danger_base(struct str path);
bool danger_is(struct str name, const char *list); /* one of words separated by blanks */
/* Is there an option like -r among the words (alone or in a bundle), or this long one? */
bool danger_has_flag(const struct danger_command *command, const char *letters, const char *longer);
/* The i-th word that is no option, from 0; NULL past the last. */
const struct danger_word *danger_operand(const struct danger_command *command, size_t i);

/* ---- rules ---- */

void danger_judge(struct danger_scan *scan, const struct danger_command *command);
/* The files that its words name, and those it is redirected to. */
void danger_judge_files(struct danger_scan *scan, const struct danger_command *command,
                        struct str name);
void danger_judge_redirections(struct danger_scan *scan, const struct danger_command *command);
/* Is this a shell or an interpreter that reads its script from standard input as called? */
bool danger_reads_script(const struct danger_command *command);
bool danger_is_shell(struct str name);

/* ---- paths ---- */

/* The path as seen from where the command began: "/usr", "~/x" with MARK_HOME, "a/b", "" here,
 * ".." above. A last part that means everything in a directory ("*") is left out. */
struct str danger_path(struct danger_scan *scan, struct str text);
/* Would removing all of it take the system, a home, or the working directory with it? */
bool danger_path_vital(struct str path);
/* A disk or the memory. */
bool danger_path_device(struct str path);
/* path is dir or below it; dir may begin with ~. */
bool danger_path_in(struct str path, const char *dir);
/* fnmatch over marks; the pattern is literal text but for its own '*'. */
bool danger_glob_is(struct str word, struct str name);

#endif

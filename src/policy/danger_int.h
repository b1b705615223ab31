/* Reading a command as a shell would, for the classifier of dangerous ones.
 *
 *   danger_word.c    one word: quotes, escapes, fields
 *   danger_expand.c  what $ and ` stand for in it
 *   danger_brace.c   what braces in it stand for
 *   danger_cut.c     parts of a known value
 *   danger_parse.c   lists, pipelines, compound commands
 *   danger_simple.c  simple commands: words, assignments, redirections, here-documents
 *   danger_known.c   what the command itself made known: variables, arguments, functions, files
 *   danger_run.c     one simple command: what it is, what it changes
 *   danger_output.c  what it writes and prints
 *   danger_wrap.c    commands that run another: env, sudo, xargs, find -exec
 *   danger_launch.c  the same for programs that start one behind a word of theirs
 *   danger_list.c    the paths that ls and find print
 *   danger_option.c  options, settings and variables whose value is run
 *   danger_script.c  shells and interpreters: where their script comes from
 *   danger_written.c programs that the command wrote
 *   danger_code.c    code of other languages
 *   danger_sed.c     programs of sed
 *   danger_escape.c  the shell's way out of ed, vi, psql and the like
 *   danger_make.c    makefiles
 *   danger_print.c   what echo and printf print
 *   danger_name.c    the names of commands
 *   danger_rules.c   the rules; their tables are danger_rules_*.c
 *   danger_files.c   which words are files that it reads or writes
 *   danger_place.c   the table of places
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
#define DANGER_ATTEMPT    4096      /* of these, what one more reading of the same words costs, */
#define DANGER_COMMAND    512       /* a simple command, which every rule is asked about, */
#define DANGER_WORD       128       /* and each of its words */
#define DANGER_COPIED     8         /* bytes that are only copied, for one of these */
#define DANGER_REDIRS_MAX 32
#define DANGER_VARS_MAX   256
#define DANGER_FILES_MAX  64
#define DANGER_NAMES_MAX  64 /* functions and aliases */
#define DANGER_LINKS_MAX  16
#define DANGER_FIELD_MAX  (64 * 1024)

/* Where the bytes come from that a command prints. */
enum { FACT_DOWNLOAD = 1, FACT_DECODED = 2, FACT_NETWORK = 4, FACT_SHELL = 8 };

struct danger_word {
    struct str text;   /* expanded, with marks */
    unsigned facts;    /* of the substitutions in it */
    struct str script; /* <(...): what the file holds that the word names; p NULL: not known */
    struct str sink;   /* >(...): the commands that get what is written to it */
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

/* A file that the command wrote, by the last part of its path. */
struct danger_file {
    struct str name, text;
    unsigned facts;
};

struct danger_function {
    struct str name, body;
    bool alias, running;
};

/* $0, $1 and so on. */
struct danger_args {
    const struct danger_word *words; /* words[0] is $0; NULL: none were given */
    size_t n;
    bool unknown; /* in the body of a function that is only being defined */
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
    struct str cwd;      /* "" where it began; marks possible */
    struct str function; /* whose body is being read */
    struct str script;   /* the file that is being read as one */
    struct str ifs;      /* what splits fields beside blanks */
    bool socket;         /* a descriptor was opened to the network */
    bool plain;          /* what is being read is run by a shell without what bash added */
    bool sh_plain;       /* sh is such a shell */
    bool sh_seen;        /* it matters what sh is */
    struct danger_args args;
    struct danger_file files[DANGER_FILES_MAX];
    size_t files_n;
    struct danger_function functions[DANGER_NAMES_MAX];
    size_t functions_n;
    struct danger_link {
        struct str name, target;
    } links[DANGER_LINKS_MAX];
    size_t links_n;
};

/* A reader of one text: the command itself, or what a nested shell would get. */
struct danger_reader {
    struct danger_scan *scan;
    struct str s;
    size_t at;
    size_t body_end; /* of the here-documents of this line; 0: none */
};

/* The byte that far ahead; -1 behind the end. */
static inline int danger_peek(const struct danger_reader *reader, size_t ahead)
{
    return reader->at + ahead < reader->s.n ? (unsigned char)reader->s.p[reader->at + ahead] : -1;
}

/* The first finding counts. Returns true. */
bool danger_report(struct danger_scan *scan, const char *rule, const char *about);
bool danger_obscure(struct danger_scan *scan);
/* Takes that much from the budget; false when there is not as much left, which is obscure. */
bool danger_charge(struct danger_scan *scan, size_t cost);

/* ---- words ---- */

/* Appends the fields of the word at the reader to words; the reader stands behind it. */
void danger_read_word(struct danger_reader *reader, struct danger_word **words, size_t *n);
/* The text of a word that is not split: of an assignment, a redirection, a here-string. */
struct danger_word danger_read_single(struct danger_reader *reader);
/* The same for a here-document's body. */
struct danger_word danger_expand_text(struct danger_scan *scan, struct str text);
/* What rest, as in ${name%rest}, leaves of a known value; false when it is not plain. */
bool danger_cut(struct str *value, struct str rest);
/* At "((": true when it is arithmetic, which is read for what it runs and left behind. */
bool danger_read_arithmetic(struct danger_reader *reader);
/* The word as text that a nested shell would read: globs and braces as they were typed. */
struct str danger_plain(struct danger_scan *scan, struct str text);

/* ---- what is known ---- */

void danger_set_var(struct danger_scan *scan, struct str name, struct str value, unsigned facts);
/* What other programs do with a variable of that name and value. */
void danger_judge_var(struct danger_scan *scan, struct str name, struct str value);
/* As if the command had never set it. */
void danger_unset_var(struct danger_scan *scan, struct str name);
/* NULL when the command did not set it. */
const struct danger_var *danger_find_var(const struct danger_scan *scan, struct str name);
/* False when it is not set. */
bool danger_value_of(struct danger_scan *scan, struct str name, struct str *ret);
void danger_add_function(struct danger_scan *scan, struct str name, struct str body, bool alias);
struct danger_function *danger_find_function(struct danger_scan *scan, struct str name);
void danger_add_link(struct danger_scan *scan, struct str name, struct str target);
void danger_add_file(struct danger_scan *scan, struct str path, struct danger_stream holds);
/* What the command wrote to that file; nothing when it didn't. */
struct danger_stream danger_read_file(struct danger_scan *scan, struct str path);
/* Both print: what is known of all, and where any of it came from. */
void danger_join(struct danger_scan *scan, struct danger_stream *all, struct danger_stream one);

/* ---- lists ---- */

/* Reads text as a script; what it prints. */
struct danger_stream danger_run_text(struct danger_scan *scan, struct str text,
                                     struct danger_stream in);
/* The same as the shell of that name would read it. */
struct danger_stream danger_run_text_by(struct danger_scan *scan, const char *shell,
                                        struct str text, struct danger_stream in);
/* Does it lack ((1)), [[ x ]], &>, $'x' and x+=y? */
bool danger_shell_plain(struct danger_scan *scan, struct str shell);
/* Reads up to the closing word or ')' (NULL: the end), which is consumed. */
struct danger_stream danger_run_list(struct danger_reader *reader, const char *closer,
                                     struct danger_stream in);

/* ---- simple commands ---- */

/* A newline, and with it the here-documents that began on its line. */
void danger_newline(struct danger_reader *reader);
/* Blanks, line continuations and a comment. */
void danger_skip_blanks(struct danger_reader *reader);
/* At a redirection: adds it; false when there is none. */
bool danger_read_redirection(struct danger_reader *reader, struct danger_command *command);
/* "2>", "10<", "{fd}>": the length of what stands before the redirection, else 0. */
size_t danger_descriptor(const struct danger_reader *reader);
bool danger_follows_pipe(const struct danger_reader *reader);
/* Words with blanks between them, as an array or the list of a for holds them. */
struct danger_word danger_all_of(struct danger_scan *scan, const struct danger_word *words,
                                 size_t n);
struct danger_stream danger_run_simple(struct danger_reader *reader, struct danger_stream in,
                                       bool piped);

/* ---- commands ---- */

/* Judges it; what it prints. */
struct danger_stream danger_run_command(struct danger_scan *scan, struct danger_command *command);
/* What it prints, when it runs no other command. */
struct danger_stream danger_output_of(struct danger_scan *scan,
                                      const struct danger_command *command, struct str name);
/* Copies and links of files that it makes. */
void danger_note_copies(struct danger_scan *scan, const struct danger_command *command,
                        struct str name);
/* Notes what the redirections of a command do with what it prints. */
void danger_note_output(struct danger_scan *scan, const struct danger_command *command,
                        struct danger_stream out);
/* A shell, an interpreter, eval and the like; true when it was one. */
bool danger_run_script(struct danger_scan *scan, const struct danger_command *command,
                       struct str name);
/* Is it a shell or a language whose -c or -e is known? */
bool danger_is_interpreter(struct str name);
/* When it calls a program by its path that the command wrote before: what that does. */
void danger_run_written(struct danger_scan *scan, const struct danger_command *command);
/* tar --to-command=, ssh -o ProxyCommand=, git -c core.pager= and the like. */
void danger_run_options(struct danger_scan *scan, const struct danger_command *command,
                        struct str name);
/* Does the name of an option, a setting or a variable say that its value is run? */
bool danger_names_command(struct str name);
/* Runs the value of such a name. */
void danger_run_value(struct danger_scan *scan, struct str name, struct str value);
/* sed's programs, the lines of ed, vi, psql and the like, makefiles. */
void danger_run_sed(struct danger_scan *scan, const struct danger_command *command);
void danger_run_escapes(struct danger_scan *scan, const struct danger_command *command,
                        struct str name);
void danger_run_make(struct danger_scan *scan, const struct danger_command *command);
/* uv run, tmux new, bwrap and the like. */
void danger_run_launched(struct danger_scan *scan, const struct danger_command *command,
                         struct str name);
/* The words from there on as a command of their own. */
void danger_run_words(struct danger_scan *scan, const struct danger_command *command, size_t from);
/* sudo, env, xargs ...; true when it was one. */
bool danger_run_wrapped(struct danger_scan *scan, const struct danger_command *command,
                        struct str name, struct danger_stream *ret_out);
/* What xargs reads, and the bytes between one item and the next. */
struct danger_items {
    struct danger_stream from;
    const char *between;
};
/* The command once for each item, which stands where the mark does. */
void danger_run_for_each(struct danger_scan *scan, const struct danger_command *inner,
                         struct danger_items items, struct str mark);
/* What ls prints; p NULL: not known. */
struct str danger_listed(struct danger_scan *scan, const struct danger_command *command);
/* find: what -exec runs, and the paths it prints when nothing narrows it. */
struct danger_stream danger_run_find(struct danger_scan *scan,
                                     const struct danger_command *command);
/* The vital directory that it begins at, the one where the command began aside; p NULL when none.
 */
struct str danger_find_vital(struct danger_scan *scan, const struct danger_command *command);
/* Does a test keep find from everything below its paths? */
bool danger_find_narrowed(const struct danger_command *command);
void danger_run_code(struct danger_scan *scan, struct str code);
/* Does it call something that runs commands? */
bool danger_code_runs(struct str code);
/* The words from there on, with blanks between them. */
struct str danger_joined(struct danger_scan *scan, const struct danger_command *command,
                         size_t from);
/* Reported when what comes from there would be run. */
void danger_judge_source(struct danger_scan *scan, unsigned facts);
/* What echo or printf prints; the words from there on are its arguments. */
struct str danger_printed(struct danger_scan *scan, const struct danger_command *command,
                          struct str name, size_t from);
bool danger_is_option(struct str word);
/* The last part of a path. */
struct str danger_base(struct str path);
bool danger_is(struct str name, const char *list); /* one of words separated by blanks */
/* Is there an option like -r among the words (alone or in a bundle), or this long one? */
bool danger_has_flag(const struct danger_command *command, const char *letters, const char *longer);
/* cp -t DIR, mv --target-directory=DIR: the last word is not where they go. */
bool danger_into_directory(const struct danger_command *command);
/* The i-th word that is no option, from 0; NULL past the last. */
const struct danger_word *danger_operand(const struct danger_command *command, size_t i);

/* ---- rules ---- */

void danger_judge(struct danger_scan *scan, const struct danger_command *command);
enum { DANGER_READS = 1, DANGER_WRITES = 2 };
/* A finding when the path is of a place that must not be read or written. */
void danger_judge_place(struct danger_scan *scan, struct str path, unsigned how);
/* The text of another language, in which "~" is the home directory. */
struct str danger_home(struct danger_scan *scan, struct str path);
/* The files that its words name, and those it is redirected to. */
void danger_judge_files(struct danger_scan *scan, const struct danger_command *command,
                        struct str name);
void danger_judge_redirections(struct danger_scan *scan, const struct danger_command *command);
bool danger_is_shell(struct str name);
/* The name that a command goes by: the last part of its path, a pattern like /bin/r? resolved. */
struct str danger_name(struct str word);

/* ---- paths ---- */

/* The path as seen from where the command began: "/usr", "~/x" with MARK_HOME, "a/b", "" here,
 * ".." above. A last part that means everything in a directory ("*") is left out. */
struct str danger_path(struct danger_scan *scan, struct str text);
/* Would removing all of it take the system, a home, or the working directory with it? */
bool danger_path_vital(struct str path);
/* A disk or the memory. */
bool danger_path_device(struct str path);
/* path is dir or below it; dir may begin with ~, and its last part end with '*'. */
bool danger_path_in(struct str path, const char *dir);
/* path is that very directory. */
bool danger_path_is(struct str path, const char *dir);
/* Is there an unquoted *, ? or [ in it? */
bool danger_has_glob(struct str text);
/* fnmatch over marks; the pattern is literal text but for its own '*'. */
bool danger_glob_is(struct str word, struct str name);

#endif

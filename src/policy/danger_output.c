/* What a command leaves behind: the files that it writes, and what it prints.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "policy/danger_int.h"

/* ---- files ---- */

static void note_download(struct danger_scan *scan, const struct danger_command *command)
{
    static const struct danger_stream download = { .facts = FACT_DOWNLOAD };

    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;
        ptrdiff_t is = str_find_char(word, '=');

        bool bundle = word.n > 2 && word.p[0] == '-' && word.p[1] != '-' &&
                      (word.p[word.n - 1] == 'o' || word.p[word.n - 1] == 'O');

        if ((bundle || danger_is(word, "-o -O --output --output-document")) && i + 1 < command->n &&
            !danger_is_option(command->words[i + 1].text))
            danger_add_file(scan, command->words[i + 1].text, download);
        else if (is > 0 && danger_is(str_take(word, (size_t)is), "--output --output-document"))
            danger_add_file(scan, str_skip(word, (size_t)is + 1), download);
        else if (word.n > 2 && word.p[0] == '-' && (word.p[1] == 'o' || word.p[1] == 'O'))
            danger_add_file(scan, str_skip(word, 2), download);
        else if (str_find(word, STR("://")) > 0)
            danger_add_file(scan, word, download);
    }
}

/* mount --bind FROM TO, mount -o bind FROM TO */
static bool binds(const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++)
        if (danger_is(command->words[i].text, "-B --bind -R --rbind -obind bind"))
            return true;
    return false;
}

/* Copies of files that the command wrote, links, and what tee writes. */
void danger_note_copies(struct danger_scan *scan, const struct danger_command *command,
                        struct str name)
{
    size_t first = danger_operand(command, 0) &&
                   danger_is(danger_operand(command, 0)->text, "bind rbind"); /* of mount -o */
    const struct danger_word *from = danger_operand(command, first);
    const struct danger_word *to = danger_operand(command, first + 1);

    if (!from)
        return;
    if (str_is(name, "tee"))
        danger_add_file(scan, from->text, command->in);
    else if (to && danger_is(name, "mv cp install"))
        danger_add_file(scan, to->text, danger_read_file(scan, from->text));
    else if (to && (str_is(name, "ln") ? danger_has_flag(command, "s", "symbolic")
                                       : str_is(name, "mount") && binds(command)))
        danger_add_link(scan, danger_path(scan, to->text), danger_path(scan, from->text));
}

void danger_note_output(struct danger_scan *scan, const struct danger_command *command,
                        struct danger_stream out)
{
    for (size_t i = 0; i < command->redirs_n; i++) {
        const struct danger_redir *redir = &command->redirs[i];

        if (redir->kind != REDIR_WRITE)
            continue;
        danger_add_file(scan, redir->word.text, out);
        if (redir->word.sink.p)
            danger_run_text(scan, redir->word.sink, out);
    }
    for (size_t i = 1; i < command->n; i++)
        if (command->words[i].sink.p)
            danger_run_text(scan, command->words[i].sink, command->in);
}

/* ---- what it prints ---- */

static bool decodes(const struct danger_command *command, struct str name)
{
    if (danger_is(name, "base64 base32 basenc"))
        return danger_has_flag(command, "dD", "decode");
    if (str_is(name, "xxd"))
        return danger_has_flag(command, "r", "revert");
    if (str_is(name, "openssl"))
        return danger_has_flag(command, "d", NULL);
    return danger_is(name, "uudecode rev") ||
           (danger_is(name, "tr sed awk gawk mawk cut perl paste fold") && command->in.text.p);
}

/* What passes on the lines that it reads, or some of them. A list of paths is not known any more
 * when it was narrowed. */
static struct str passed_on(const struct danger_command *command, struct str name)
{
    struct str in = command->in.text;

    if (danger_is(name, "tee sort"))
        return in;
    if (in.p && danger_is(name, "head tail grep egrep fgrep uniq nl tac shuf") &&
        !danger_has_glob(in))
        return in;
    return STR_NONE;
}

/* cat: its files, one after another. */
static void concatenate(struct danger_scan *scan, const struct danger_command *command,
                        struct danger_stream *out)
{
    const struct danger_word *file = danger_operand(command, 0);

    out->text = STR("");
    if (!file)
        out->text = command->in.text;
    for (size_t i = 0; (file = danger_operand(command, i)) != NULL; i++)
        danger_join(scan, out,
                    danger_is(file->text, "- /dev/stdin") ? command->in
                    : file->script.p ? (struct danger_stream){ file->facts, file->script }
                                     : danger_read_file(scan, file->text));
}

struct danger_stream danger_output_of(struct danger_scan *scan,
                                      const struct danger_command *command, struct str name)
{
    struct danger_stream out = { .facts = command->in.facts };

    for (size_t i = 1; i < command->n; i++)
        out.facts |= command->words[i].facts;
    if (danger_is(name, "curl wget fetch aria2c lynx w3m GET http https xh ftp lftp dig host "
                        "nslookup drill")) {
        note_download(scan, command);
        out.facts |= FACT_DOWNLOAD;
    }
    if (danger_is(name, "nc ncat netcat telnet socat") ||
        (str_is(name, "openssl") && danger_operand(command, 0) &&
         str_is(danger_operand(command, 0)->text, "s_client"))) {
        if (command->in.facts & FACT_SHELL)
            danger_report(scan, "reverse_shell", "A shell would be handed to the network.");
        out.facts |= FACT_NETWORK;
    }
    if (decodes(command, name))
        out.facts |= FACT_DECODED;
    else if (danger_is(name, "echo printf"))
        out.text = danger_printed(scan, command, name, 1);
    else if (str_is(name, "pwd"))
        out.text = scan->cwd.n ? scan->cwd : STR(".");
    else if (danger_is(name, "ls dir vdir"))
        out.text = danger_listed(scan, command);
    else if (str_is(name, "cat"))
        concatenate(scan, command, &out);
    else
        out.text = passed_on(command, name);
    return out;
}

/* What an approval is bound to: the tool, the arguments as received, the version of the target, the
 * policy, and where it would run. All of it was shown; when any of it is another at execution, the
 * answer was to another question.
 *
 *   digest = H("digest|v2|" tool "|" argumentsHash "|" targetVersion "|" policyHash "|" H(walls)
 *              "|" H(directory))
 *   walls  = the run's directory, off or on, the lists of the sandbox, each text with its length
 *            before it, and its limits
 *
 * Grants hold the same walls and directory (ids.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "tool/tool_int.h"

#define PLACE_MAX (1u << 20)

static void add_text(struct buf *place, const char *text)
{
    buf_printf(place, "%zu:%s,", strlen(text), text);
}

static void add_list(struct buf *place, const char *const *list)
{
    for (const char *const *p = list; p && *p; p++)
        add_text(place, *p);
    buf_add_char(place, ';');
}

void walls_hash(const struct sandbox_spec *spec, char ret_hash[SHA256_TEXT_SIZE])
{
    AUTO_BUF walls = BUF_INIT(PLACE_MAX);

    add_text(&walls, spec->cwd ? spec->cwd : "");
    buf_add_text(&walls, spec->off ? "off;" : "on;");
    add_list(&walls, spec->allow_write);
    add_list(&walls, spec->deny_read);
    add_list(&walls, spec->allow_domains);
    add_list(&walls, spec->env);
    buf_printf(&walls, "%lld,%llu,%llu,%llu,%llu,%d;", (long long)spec->time_limit_ms,
               (unsigned long long)spec->memory_bytes, (unsigned long long)spec->processes,
               (unsigned long long)spec->disk_bytes, (unsigned long long)spec->files,
               spec->allow_home);
    /* Answers from before there were any still hold. */
    if (spec->allow_unix_sockets && spec->allow_unix_sockets[0])
        add_list(&walls, spec->allow_unix_sockets);
    sha256_text(buf_str(&walls), ret_hash);
}

const char *call_directory(const struct tool_call *call)
{
    return call->directory ? call->directory : call->sandbox.cwd ? call->sandbox.cwd : "";
}

void approval_digest(const struct tool_bed *bed, const struct tool_call *call, const char *name,
                     struct str target_version, char ret_digest[SHA256_TEXT_SIZE])
{
    AUTO_BUF text = BUF_INIT(16u << 10);
    const char *policy = bed->config.policy_text_hash;
    char arguments[SHA256_TEXT_SIZE], walls[SHA256_TEXT_SIZE], directory[SHA256_TEXT_SIZE];

    sha256_text(call->arguments, arguments);
    walls_hash(&call->sandbox, walls);
    sha256_text(str_from(call_directory(call)), directory);
    buf_printf(&text, "digest|v2|%s|%s|%.*s|%s|%s|%s", name, arguments, STR_ARG(target_version),
               policy ? policy : "", walls, directory);
    sha256_text(buf_str(&text), ret_digest);
}

/* What an approval is bound to: the tool, the arguments as received, the version of the target, the
 * policy, and where it would run. All of it was shown; when any of it is another at execution, the
 * answer was to another question.
 *
 *   digest = H("digest|v1|" tool "|" argumentsHash "|" targetVersion "|" policyHash "|" H(place))
 *   place  = cwd, off or on, and the lists of the sandbox, each text with its length before it
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

static void place_hash(const struct sandbox_spec *spec, char ret_hash[SHA256_TEXT_SIZE])
{
    AUTO_BUF place = BUF_INIT(PLACE_MAX);

    add_text(&place, spec->cwd ? spec->cwd : "");
    buf_add_text(&place, spec->off ? "off;" : "on;");
    add_list(&place, spec->allow_write);
    add_list(&place, spec->deny_read);
    add_list(&place, spec->allow_domains);
    sha256_text(buf_str(&place), ret_hash);
}

void approval_digest(const struct tool_bed *bed, const struct tool_call *call, const char *name,
                     struct str target_version, char ret_digest[SHA256_TEXT_SIZE])
{
    AUTO_BUF text = BUF_INIT(16u << 10);
    const char *policy = bed->config.policy_text_hash;
    char arguments[SHA256_TEXT_SIZE], place[SHA256_TEXT_SIZE];

    sha256_text(call->arguments, arguments);
    place_hash(&call->sandbox, place);
    buf_printf(&text, "digest|v1|%s|%s|%.*s|%s|%s", name, arguments, STR_ARG(target_version),
               policy ? policy : "", place);
    sha256_text(buf_str(&text), ret_digest);
}

/* A policy from a file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/file.h"
#include "base/limits.h"
#include "bp/policy.h"

int bp_policy_load(const char *path, struct bp_policy **ret_policy, struct err *err)
{
    AUTO_BUF text = BUF_INIT(LIMIT_CONFIG_BYTES);
    struct json_object *tree;
    int r;

    if (file_read(path, &text, err) < 0)
        return err_wrap(err, "load policy %s", path);
    tree = json_tokener_parse(buf_text(&text));
    r = bp_policy_parse(tree, ret_policy, err);
    json_object_put(tree);
    return r < 0 ? err_wrap(err, "load policy %s", path) : 0;
}

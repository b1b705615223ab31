/* A policy from a file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/file.h"
#include "base/limits.h"
#include "base/yaml.h"
#include "bp/policy.h"

int bp_policy_load(const char *path, struct bp_policy **ret_policy, struct err *err)
{
    AUTO_BUF text = BUF_INIT(LIMIT_CONFIG_BYTES);
    AUTO_YAML yaml = YAML_INIT;

    if (file_read(path, &text, err) < 0 || yaml_parse(buf_str(&text), path, &yaml, err) < 0 ||
        bp_policy_parse(yaml.root, ret_policy, err) < 0)
        return err_wrap(err, "load policy %s", path);
    return 0;
}

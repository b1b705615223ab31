/* Calls as a model may write them: whatever the bytes, there is a verdict, the same each time, with
 * a reason that can be shown to people.
 *
 * The first byte chooses the circumstances; then comes the name, a line feed and the arguments.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/utf8.h"
#include "tool/tool.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const char *const allow_write[] = { ".", "~/notes", NULL };
static const char *const deny_read[] = { "~/.ssh", ".env", NULL };

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_text(const char *text)
{
    unsigned odd = (1u << UTF8_INVALID) | (1u << UTF8_CONTROL) | (1u << UTF8_BIDI);

    check(text && text[0]);
    check(utf8_find_odd(str_from(text), odd, NULL, NULL) == UTF8_PLAIN);
}

static void check_verdict(const struct tool_verdict *v)
{
    uint32_t no = TOOL_REFUSED | TOOL_DANGEROUS | TOOL_KILLED;

    check(!!(v->attributes & no) == (v->code != ERR_NONE));
    check(v->contract || (v->attributes & TOOL_REFUSED));
    check(!(v->attributes & TOOL_WAIVABLE) || (v->attributes & TOOL_RISKY));
    check(!(v->attributes & TOOL_WAIVABLE) || !(v->attributes & TOOL_DANGEROUS));
    if (v->code != ERR_NONE)
        check_text(v->message);
    check(strlen(v->arguments_hash) == 64 && strlen(v->intent_id) == 64 &&
          strlen(v->action_stable_id) == 64 && strlen(v->operation_id) == 64);
    check(utf8_valid(v->pattern)); /* empty: nothing that a grant could cover */
}

static void check_wire(struct str name)
{
    char wire[TOOL_NAME_MAX + 1], back[TOOL_NAME_MAX + 1];

    if (tool_wire_name(name, wire, NULL) == 0)
        check(tool_name_of_wire(str_from(wire), back, NULL) == 0 && str_is(name, back));
    if (tool_name_of_wire(name, back, NULL) == 0)
        check(tool_wire_name(str_from(back), wire, NULL) == 0 && str_is(name, wire));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct tool_bed *bed;
    AUTO_ARENA arena = ARENA_INIT;
    struct tool_verdict first, again;
    unsigned flags = n ? bytes[0] : 0;
    struct str rest = n ? str_of((const char *)bytes + 1, n - 1) : STR("");
    struct agent agent = { .id = "planner", .lifecycle = AGENT_ACTIVE, .paused = flags & 1 };
    struct tool_call call = {
        .agent = &agent,
        .run_id = STR("run"),
        .wake_reason = STR("userInitiated"),
        .wiggum = flags & 2,
        .sandbox = { .cwd = "/home/ada/work",
                     .home = "/home/ada",
                     .data_dir = "/home/ada/.dormouse",
                     .allow_write = allow_write,
                     .deny_read = deny_read,
                     .off = flags & 4 },
    };

    if (!bed)
        tool_bed_new(&(struct tool_bed_config){ .policy_text_hash = "" }, &bed, NULL);
    agent.tools = flags & 8 ? "[\"bash\"]" : NULL;
    if (!str_split(&rest, '\n', &call.name))
        return 0;
    call.arguments = flags & 16 ? STR("{}") : rest;
    call.problem = flags & 16 ? rest : STR_NONE;
    tool_judge(bed, &call, &arena, &first);
    tool_judge(bed, &call, &arena, &again);
    check_verdict(&first);
    check(first.attributes == again.attributes && first.code == again.code);
    check(strcmp(first.operation_id, again.operation_id) == 0);
    check(str_eq(first.pattern, again.pattern));
    check_wire(call.name);
    return 0;
}

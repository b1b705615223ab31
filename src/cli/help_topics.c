/* `dormouse help TOPIC`: what several commands have in common.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cli/help_int.h"

const struct help_term help_exit_codes[] = {
    { "0", "done" },
    { "1", "failed" },
    { "2", "wrong usage" },
    { "3", "waiting for a person; the inbox item was printed" },
    { "4", "denied by policy" },
    { NULL, NULL },
};

const struct help_term help_environment[] = {
    { "DORMOUSE_DATA", "the data directory when --data is not given" },
    { "XDG_DATA_HOME", "its dormouse folder is the data directory when neither is given; "
                       "~/.local/share stands in for it" },
    { "DORMOUSE_SECTION_KEY", "overrides a configuration key: DORMOUSE_SERVER_LISTEN stands for "
                              "server.listen" },
    { "STATE_STORE_BACKEND, DATABASE_URL", "the backend `postgres` with a URL means store.url" },
    { "DORMOUSE_MASTER_KEY_FILE",
      "the key of DATA/secrets, instead of DATA/secrets.key; chooses that "
      "file over the desktop's Secret Service" },
    { "NO_COLOR", "no colours, also on a terminal" },
    { NULL, NULL },
};

const struct help_term help_files[] = {
    { "DATA/config.yaml", "configuration" },
    { "./.dormouse/config.yaml", "configuration of a working directory, which may only tighten" },
    { "DATA/journal.sqlite", "what the human wrote" },
    { "DATA/agent.sqlite", "what agents made" },
    { "DATA/index.sqlite", "what can be rebuilt" },
    { "DATA/token", "the bearer token of the HTTP interface" },
    { "DATA/secrets", "secrets, sealed; where there is no Secret Service" },
    { "DATA/secrets.key", "the key of DATA/secrets, made at first use" },
    { "DATA/lock", "held by the running daemon" },
    { NULL, NULL },
};

static const char ids[] =
    "Lists show ids. The beginning of one is enough wherever a command takes an id, when no other "
    "begins so; four characters at least. Agents and models have ids that were chosen, such as "
    "`planner`; they are typed whole.\n\n"
    "A TASK of the journal is an id, the beginning of one, or words that stand in the title of one "
    "open task only, or of one closed task when no open one has them:\n\n"
    "  dormouse journal task done fence";

static const char times[] =
    "Days, in the journal: 2026-02-18, today, tomorrow, fri, \"in 3 days\", yesterday, \"last "
    "friday\", \"3 days ago\". Times of a day: 09:30, 9am, now, 2026-02-18T09:30, \"yesterday "
    "9:30\". "
    "How long: 90, 90m, 1h30, 1:30.\n\n"
    "Of timers and subscriptions: 45s, 90m, 2h, 1d. `agent sleep` takes 2h, 22:00 or \"tomorrow "
    "8:00\".\n\n"
    "Hours of a subscription: days, a span and a zone; only the span is needed:\n\n"
    "  --hours \"mo,tu 7:00-22:00 Europe/Berlin\"";

static const char rules[] =
    "A timer's rule is that of RFC 5545 without the prefix: FREQ (YEARLY, MONTHLY, WEEKLY, DAILY, "
    "HOURLY, MINUTELY), and what narrows it down, parted by semicolons. What it leaves open comes "
    "from the start. `dormouse timer next` shows when one fires:\n\n"
    "  dormouse timer next 'FREQ=DAILY;BYHOUR=7'\n"
    "  dormouse timer next 'FREQ=WEEKLY;BYDAY=MO,FR;BYHOUR=7'\n"
    "  dormouse timer next 'FREQ=MONTHLY;BYDAY=-1FR' --zone Europe/Berlin";

static const char predicates[] =
    "`subscribe --where` narrows down which changed records wake an agent:\n\n"
    "  task.categoryId == \"gym\" and (task.priority <= 1 or task.due < \"2026-12-01\")\n"
    "  entry.kind in [\"workout\", \"measurement\"] and not entry.subtype prefix \"yoga\"\n\n"
    "A field is TYPE.FIELD by the names of the API. It is compared with ==, !=, <, <=, >, >=, "
    "`in [...]` and `prefix`; `and`, `or`, `not` and brackets put comparisons together. Texts "
    "stand "
    "in double quotes; numbers, true, false and null as they are. Categories and labels are given "
    "by name or id.\n\n"
    "What could never hold is refused with its column. `dormouse subscribe preview` shows what "
    "would have woken an agent.";

const struct help_topic help_topics[] = {
    { "ids", "how records are named", ids, NULL },
    { "times", "how days, moments and spans are typed", times, NULL },
    { "rules", "when timers fire", rules, NULL },
    { "predicates", "which changes wake an agent", predicates, NULL },
    { "exit-codes", "what a command's exit code says", NULL, help_exit_codes },
    { "environment", "variables that are read", NULL, help_environment },
    { "files", "what lies in the data directory", NULL, help_files },
    { NULL, NULL, NULL, NULL },
};

const struct help_topic *help_topic_find(const char *name)
{
    for (const struct help_topic *topic = help_topics; topic->name; topic++)
        if (strcmp(topic->name, name) == 0)
            return topic;
    return NULL;
}

/* Telling a person what waits for a daemon while there is none.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/timefmt.h"
#include "cli/keeper.h"
#include "cli/talk.h"

void keeper_hint(const struct cli_args *args, const char *what)
{
    if (keeper_is_all(cli_data_dir(args)))
        fprintf(stderr, "note: %s while `dormouse serve` runs, and it does not\n", what);
}

/* Calls is() with the timers there are, until it says yes; false without a daemon to ask. */
static bool any_timer(struct talk *talk, bool (*is)(struct json_object *timer, int64_t since_ms),
                      int64_t since_ms)
{
    AUTO_JSON answer = NULL;
    struct err ignored = ERR_INIT;
    struct json_object *timers;

    if (talk_ask(talk, "GET", "/api/v1/timers", STR_NONE, &answer, &ignored) < 0)
        return false;
    timers = json_find(answer, "items");
    for (size_t i = 0; i < json_length(timers); i++)
        if (is(json_object_array_get_idx(timers, i), since_ms))
            return true;
    return false;
}

static bool will_fire(struct json_object *timer, int64_t since_ms)
{
    (void)since_ms;
    return json_find(timer, "nextRunAt");
}

void keeper_hint_timers(const struct cli_args *args, struct talk *talk)
{
    if (keeper_is_all(cli_data_dir(args)) && any_timer(talk, will_fire, 0))
        keeper_hint(args, "timers fire");
}

/* An alarm is a timer of one moment. */
static bool rings_late(struct json_object *timer, int64_t since_ms)
{
    int64_t late = clock_wall_ms(clock_system()) + KEEPER_ALARM_MS, made, rings;

    return str_is(json_str(json_find(timer, "kind")), "once") &&
           timefmt_parse(json_str(json_find(timer, "createdAt")), &made, NULL) == 0 &&
           timefmt_parse(json_str(json_find(timer, "nextRunAt")), &rings, NULL) == 0 &&
           made >= since_ms && rings >= late;
}

void keeper_hint_alarms(const struct cli_args *args, int64_t since_ms)
{
    AUTO(talk) talk = NULL;
    struct err ignored = ERR_INIT;

    if (keeper_is_all(cli_data_dir(args)) && talk_open(args, &talk, &ignored) == 0 &&
        any_timer(talk, rings_late, since_ms))
        keeper_hint(args, "an alarm more than two hours ahead rings");
}

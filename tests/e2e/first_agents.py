#!/usr/bin/env python3
"""Gym Coach, Planner, Strategist and Pomodoro with the offline model, at the terminal."""
import json
import os
import shlex
import sqlite3
import time

import yaml
from harness import ROOT, eventually, expect, expect_eq, expect_in, holder, is_dead, kill, main, test

ENDED = ("completed", "skipped_sleeping", "skipped_destroyed", "skipped_paused", "skipped_killed",
         "skipped_noop", "coalesced", "failed_terminal")


def wakes(box):
    """Those that nobody's word to the agent was."""
    out, _ = box.run("wakes", "--json")
    return [line for line in map(json.loads, out.splitlines()) if line["reason"] != "userInitiated" and "runKey" in line]


def asked(daemon, tool):
    """The item of the inbox about a tool, once there is one."""
    item = eventually(lambda: daemon.ask("GET", "/inbox")["items"], f"asked about {tool}")[0]
    expect_eq(item["toolName"], tool)
    return item


def ended(box, count):
    """All wakes, once so many are there and each has ended."""
    def all_ended():
        now = wakes(box)
        return len(now) == count and all(w["status"] in ENDED for w in now) and now
    return eventually(all_ended, f"{count} wakes have ended")


def records(daemon, kind):
    return daemon.ask("GET", f"/journal/{kind}?limit=100")["items"]


def reports(box, agent):
    db = sqlite3.connect(f"file:{box.data}/agent.sqlite?mode=ro", uri=True)
    found = db.execute("select r.content from agent_reports r join agents a on a.n = r.agent_n"
                       " where a.id = ? order by r.n", (agent,)).fetchall()
    db.close()
    return [json.loads(row[0]) for row in found]


def coach(box):
    daemon = box.serve()
    box.run("journal", "category", "add", "Sport")
    box.run("journal", "task", "add", "Running", "--category", "Sport")
    out, _ = box.run("agent", "create", "--template", "gym-coach", "--categories", "sport")
    expect_eq(out.splitlines(), ["made gym-coach (Gym Coach)", "  it wakes: A workout is logged (WORKOUT)"])
    return daemon


@test
def a_workout_wakes_the_coach_who_asks_and_logs_its_time_once(box):
    daemon = coach(box)
    box.run("journal", "workout", "add", "running", "--for", "35m", "--category", "Sport")
    item = asked(daemon, "create_retrospective_time_entry")
    expect_eq(records(daemon, "time-entries"), [])
    expect_in("Running", item["preview"])
    # The daemon dies while the person thinks: the question is still there.
    kill(daemon.pid)
    daemon = box.serve()
    expect_eq(asked(daemon, "create_retrospective_time_entry")["id"], item["id"])
    daemon.decide(item["id"])
    wake = ended(box, 1)[0]
    expect_eq((wake["status"], wake["reason"], wake["agentId"]), ("completed", "subscription", "gym-coach"))
    entry, = records(daemon, "time-entries")
    workout, = records(daemon, "entries")
    task, = records(daemon, "tasks")
    expect_eq((entry["sourceEntryId"], entry["taskId"]), (workout["id"], task["id"]))
    # Replaying the wake: after a restart, by its log, and by its answer again.
    daemon.decide(item["id"])
    kill(daemon.pid)
    daemon = box.serve()
    box.run("replay", "--check", wake["runId"])
    expect_eq(ended(box, 1), [wake])
    expect_eq(records(daemon, "time-entries"), [entry])
    # A change of the workout wakes it again; it sees that the time is there and asks nothing.
    daemon.ask("PATCH", f"/journal/entries/{workout['id']}", {"title": "Along the river"})
    ended(box, 2)
    expect_eq(daemon.ask("GET", "/inbox")["items"], [])
    expect_eq(records(daemon, "time-entries"), [entry])
    # Who did what to the entry can be followed from both sides, and the journal's own links know nothing of it.
    made, = [one for one in daemon.ask("GET", "/agents/gym-coach/links")["items"] if one["relation"] == "tool_effect"]
    expect_eq((made["to"], made["metadata"]["toolName"], made["metadata"]["runId"]),
              (entry["id"], "create_retrospective_time_entry", wake["runId"]))
    expect_eq(daemon.ask("GET", f"/links?to={entry['id']}")["items"], [made])
    expect_eq(daemon.ask("GET", f"/links?to={workout['id']}")["items"], [])
    shown, _ = box.run("agent", "show", "gym-coach", "--links")
    expect(any(line.split()[:3] == ["tool_effect", entry["id"], "create_retrospective_time_entry"]
               for line in shown.splitlines()), shown)
    expect_in(made, box.json("agent", "show", "gym-coach", "--links")["links"])
    for path in ("/links", "/links?to=", "/links?to=a%7Cb", f"/links?to={entry['id']}&limit=0", "/agents/gym-coach/links?limit=x"):
        expect_eq(daemon.ask("GET", path, status=400)["error"]["code"], "bad_request")
    daemon.stop()


@test
def a_workout_whose_time_is_taken_is_asked_about_and_not_dropped(box):
    daemon = coach(box)
    box.run("journal", "workout", "add", "running", "--for", "35m", "--category", "Sport")
    daemon.decide(asked(daemon, "create_retrospective_time_entry")["id"])
    ended(box, 1)
    box.run("journal", "workout", "add", "running", "--for", "15m", "--category", "Sport")
    item = asked(daemon, "ask_user")
    expect_in('overlaps time that is logged already on "Running": nothing was logged', " ".join(box.run("inbox", item["id"])[0].replace("\n┊ ", "").split()))
    box.run("answer", item["id"], "Log it for the category")
    daemon.decide(asked(daemon, "create_retrospective_time_entry")["id"])
    expect_eq([wake["status"] for wake in ended(box, 2)], ["completed"] * 2)
    expect_eq(sorted("taskId" in entry for entry in records(daemon, "time-entries")), [False, True])
    daemon.stop()


@test
def a_workout_that_was_corrected_meanwhile_is_logged_as_it_is_now(box):
    daemon = coach(box)
    workout = daemon.ask("POST", "/journal/entries", {"kind": "workout", "subtype": "running", "categoryId": records(daemon, "categories")[0]["id"],
                                                      "at": "2026-02-17T17:00:00Z", "durationMs": 600000}, status=201)
    old = asked(daemon, "create_retrospective_time_entry")
    daemon.ask("PATCH", f"/journal/entries/{workout['id']}", {"durationMs": 3000000})
    fresh = eventually(lambda: [i for i in daemon.ask("GET", "/inbox")["items"] if i["id"] != old["id"]], "asked again")[0]
    expect_in("Log 50 min", fresh["preview"])
    # The old question is not asked anew with what is no longer so.
    daemon.decide(old["id"])
    eventually(lambda: wakes(box)[-1]["status"] in ENDED, "the first wake has ended")
    expect_eq([i["id"] for i in daemon.ask("GET", "/inbox")["items"]], [fresh["id"]])
    expect_in("The workout was changed since I asked", box.run("trace", wakes(box)[-1]["runId"])[0])
    # A person may still mean another time than the workout says.
    meant = {**daemon.ask("GET", f"/inbox/{fresh['id']}")["input"], "endedAt": "2026-02-17T17:30:00.000Z"}
    daemon.decide(fresh["id"], "edit", input=meant)
    ended(box, 2)
    entry, = records(daemon, "time-entries")
    expect_eq((entry["sourceEntryId"], entry["endedAt"]), (workout["id"], "2026-02-17T17:30:00.000Z"))
    daemon.stop()


@test
def the_document_can_be_followed_word_for_word(box):
    daemon = box.serve()
    with open(os.path.join(ROOT, "docs", "agents.md")) as file:
        part = file.read().split("## The first agents\n")[1].split("\n## ")[0]
    commands = [shlex.split(line)[1:] for line in part.splitlines() if line.startswith("    dormouse ")]
    expect(len(commands) >= 8, "commands in docs/agents.md")
    for words in commands:
        if words == ["inbox"]:
            item = asked(daemon, "create_retrospective_time_entry")
        out, _ = box.run(*[item["id"] if word == "ITEM" else word for word in words])
        if words[0] == "approve":
            ended(box, 1)
        if words == ["journal", "time", "list"]:
            expect_in("Running", out)
    expect_eq(len(records(daemon, "time-entries")), 1)
    daemon.stop()


@test
def the_document_says_what_each_tool_needs(box):
    with open(os.path.join(ROOT, "share", "tools", "agent_tool_contract_spec.yaml")) as file:
        tools = [t for t in yaml.safe_load(file)["tools"] if t["toolClass"] in ("journal", "reports", "alarms", "slots")]
    with open(os.path.join(ROOT, "docs", "tools.md")) as file:
        said = {line.split("`")[1]: [part.strip() for part in line.split("|")[2:6]]
                for line in file if line.startswith("| `") and line.count("|") == 6}
    for tool in tools:
        schema = tool["inputSchema"]
        needs = schema.get("required", [])
        asks = tool["approval"] == "byRisk" and tool["mutating"] and tool["riskLevel"] in ("medium", "high")
        expect_eq(said.pop(tool["name"], None),
                  [", ".join(tool["capabilitiesRequired"]), " ".join(needs),
                   " ".join(k for k in schema["properties"] if k not in needs), "asks" if asks else ""])
    expect_eq(said, {})


@test
def what_the_person_refuses_is_not_logged(box):
    daemon = coach(box)
    box.run("journal", "workout", "add", "running", "--for", "35m", "--category", "Sport")
    daemon.decide(asked(daemon, "create_retrospective_time_entry")["id"], "reject", reason="not that one")
    expect_eq(ended(box, 1)[0]["status"], "completed")
    expect_eq(records(daemon, "time-entries"), [])
    daemon.stop()


@test
def a_workout_that_fits_two_tasks_is_asked_about_first(box):
    daemon = coach(box)
    box.run("journal", "task", "add", "Running", "--category", "Sport")
    box.run("journal", "workout", "add", "running", "--category", "Sport")
    items = eventually(lambda: [i for i in daemon.ask("GET", "/inbox")["items"]], "questions")
    expect_eq({item["toolName"] for item in items}, {"ask_user"})
    which = asked(daemon, "ask_user")
    daemon.decide(which["id"], "answer", answer="2. Running")
    def next_question():
        return [i for i in daemon.ask("GET", "/inbox")["items"] if i["id"] != which["id"]]
    long = eventually(next_question, "how long it took")[0]
    daemon.decide(long["id"], "answer", answer="1h30m")
    item = asked(daemon, "create_retrospective_time_entry")
    expect_eq(records(daemon, "time-entries"), [])
    daemon.decide(item["id"])
    ended(box, 1)
    expect_eq(len(records(daemon, "time-entries")), 1)
    daemon.stop()


@test
def changes_outside_of_its_categories_are_skipped_and_explained(box):
    daemon = coach(box)
    box.run("journal", "category", "add", "Private")
    box.run("journal", "workout", "add", "walking", "--for", "20m", "--category", "Private")
    wake = ended(box, 1)[0]
    expect_eq(wake["status"], "skipped_noop")
    expect(wake["why"], "a skip says why")
    expect_eq(box.runs(), [])
    daemon.stop()


@test
def who_has_no_categories_says_what_is_missing(box):
    daemon = box.serve()
    _, err = box.run("agent", "create", "--template", "gym-coach")
    expect_in("Gym Coach has no categories yet", err)
    expect_in("dormouse agent set gym-coach --categories", err)
    for template, words in (("strategist", "review my week"), ("pomodoro", "start a pomodoro"), ("planner", "plan my day")):
        made = box.json("agent", "create", "--template", template)["id"]
        said = str(daemon.start(words, agent=made).end())
        expect_in("I have no categories yet", said)
        expect_in(f"`dormouse agent set {made} --categories NAMES`", said)
    made = {t["id"]: t for t in daemon.ask("GET", "/templates")["templates"]}
    expect_eq([s["name"] for s in made["planner"]["subscriptions"]], ["A task is done"])
    expect_eq([t["rrule"] for t in made["planner"]["timers"]], ["FREQ=DAILY;BYHOUR=7"])
    expect_eq((made["pomodoro"]["kind"], made["pomodoro"]["mode"]), ("pomodoro", "interactive"))
    expect_eq(daemon.ask("GET", "/agents/gym-coach/timers")["items"], [])
    daemon.stop()


def morning():
    """A zone where it is about eight."""
    ahead = time.gmtime().tm_hour - 8
    return f"Etc/GMT{ahead if ahead <= 12 else ahead - 24:+d}"


@test
def an_answer_that_is_a_slip_is_no_none_of_these(box):
    daemon = coach(box)
    for title in ("Running shoes", "Running club"):
        box.run("journal", "task", "add", title, "--category", "Sport")
    box.run("journal", "task", "rm", next(t["id"] for t in records(daemon, "tasks") if t["title"] == "Running"))
    box.run("journal", "workout", "add", "running", "--for", "35m", "--category", "Sport")
    item = asked(daemon, "ask_user")
    _, said = box.run("answer", item["id"], "7", code=1)
    expect_in('there is no choice 7: 1 is "1. Running', said)
    expect_in('3 is "None of these"', said)
    box.run("answer", item["id"], "Runing shoes")
    again = eventually(lambda: [i for i in daemon.ask("GET", "/inbox")["items"] if i["id"] != item["id"]], "asked again")[0]
    expect_in('"Runing shoes" is none of the tasks.', again["body"]["question"])
    expect_eq(records(daemon, "time-entries"), [])
    box.run("answer", again["id"], "Running shoes")
    log = eventually(lambda: [i for i in daemon.ask("GET", "/inbox")["items"] if i["toolName"] == "create_retrospective_time_entry"],
                     "asked about the time")[0]
    expect_in("Running shoes", log["preview"])
    daemon.stop()


def planner(box, env=None):
    daemon = box.serve(env=env).bare()
    home = daemon.ask("POST", "/journal/categories", {"id": "home", "name": "Home"}, status=201)
    out, _ = box.run("agent", "create", "Day Planner", "--template", "planner", "--categories", "Home")
    first, second = out.splitlines()[1:]
    expect_eq(first, '  it wakes: A task is done (taskStatus=DONE where task.status == "DONE")')
    expect_in("            Every day at 07:00 (next ", second)
    expect_eq(daemon.ask("GET", "/agents/day-planner")["allowedCategoryIds"], [home["id"]])
    return daemon


@test
def the_planner_carries_what_is_open_in_a_finished_task(box):
    daemon = planner(box)
    task = daemon.ask("POST", "/journal/tasks", {"title": "Fix the fence", "categoryId": "home"}, status=201)
    steps = daemon.ask("POST", "/journal/checklists", {"taskId": task["id"], "title": "Steps"}, status=201)
    daemon.ask("POST", f"/journal/checklists/{steps['id']}/items", {"titles": ["buy wood", "paint"]}, status=201)
    box.run("journal", "task", "done", task["id"])
    item = asked(daemon, "create_follow_up_task")
    expect_in('Move item "paint" from "Steps" of "Fix the fence" to "Steps" of "Fix the fence, part 2"', item["preview"])
    daemon.decide(item["id"])
    expect_eq(ended(box, 1)[0]["status"], "completed")
    follows, = records(daemon, "tasks")  # the open ones
    whole = daemon.ask("GET", f"/journal/tasks/{follows['id']}")
    expect_eq([i["title"] for i in whole["checklists"][0]["items"]], ["buy wood", "paint"])
    # One without anything open needs nobody.
    plain = daemon.ask("POST", "/journal/tasks", {"title": "Call the bank", "categoryId": "home"}, status=201)
    box.run("journal", "task", "done", plain["id"])
    ended(box, 2)
    expect_eq(daemon.ask("GET", "/inbox")["items"], [])
    daemon.stop()


@test
def the_planner_of_the_first_start_wakes_as_its_template_says(box):
    daemon = box.serve()
    expect_eq([t["name"] for t in daemon.ask("GET", "/agents/planner/timers")["items"]], ["Every day at 07:00"])
    shown, _ = box.run("agent", "show", "planner")
    expect_in("wakes         A task is done (", shown)
    expect_in("              Every day at 07:00 (next ", shown)
    task = daemon.ask("POST", "/journal/tasks", {"title": "Fix the fence"}, status=201)
    steps = daemon.ask("POST", "/journal/checklists", {"taskId": task["id"], "title": "Steps"}, status=201)
    daemon.ask("POST", f"/journal/checklists/{steps['id']}/items", {"titles": ["paint"]}, status=201)
    box.run("journal", "task", "done", task["id"])
    item = asked(daemon, "create_follow_up_task")
    expect_eq(item["agentId"], "planner")
    daemon.decide(item["id"])
    expect_eq(ended(box, 1)[0]["status"], "completed")
    # What a person takes away stays away.
    daemon.bare().stop()
    daemon = box.serve()
    expect_eq((daemon.ask("GET", "/timers")["items"], daemon.ask("GET", "/subscriptions")["items"]), ([], []))
    daemon.stop()


@test
def the_planner_concludes_a_task_that_it_is_told_of(box):
    daemon = planner(box)
    task = daemon.ask("POST", "/journal/tasks", {"title": "Fix the fence", "categoryId": "home"}, status=201)
    steps = daemon.ask("POST", "/journal/checklists", {"taskId": task["id"], "title": "Steps"}, status=201)
    daemon.ask("POST", f"/journal/checklists/{steps['id']}/items", {"titles": ["paint"]}, status=201)
    run = daemon.start("conclude the task fix the fence", agent="day-planner")
    daemon.decide(asked(daemon, "conclude_task_with_rollover")["id"])
    run.end()
    expect_eq(daemon.ask("GET", f"/journal/tasks/{task['id']}")["status"], "DONE")
    expect_eq(len(records(daemon, "tasks")), 1)
    daemon.stop()


@test
def the_planner_plans_the_day_and_reports(box):
    daemon = planner(box, {"TZ": morning()})
    for title, priority in (("Later", "P3"), ("Soon", "P0")):
        daemon.ask("POST", "/journal/tasks", {"title": title, "priority": priority, "categoryId": "home",
                                              "estimateMinutes": 45}, status=201)
    box.run("wake", "day-planner")
    item = asked(daemon, "upsert_day_plan_blocks")
    expect_eq(records(daemon, "day-plan-blocks"), [])
    daemon.decide(item["id"])
    expect_eq(ended(box, 1)[0]["status"], "completed")
    report, = reports(box, "day-planner")
    expect_in("Plan for ", report["title"])
    for part in ("09:00 to 09:45 Soon", "10:00 to 10:45 Later", "Made by rules"):
        expect_in(part, report["text"])
    expect_eq(len(records(daemon, "day-plan-blocks")), 2)
    daemon.stop()


@test
def the_strategist_reports_on_ratings_and_plans(box):
    daemon = box.serve()
    box.run("journal", "category", "add", "Work")
    box.run("agent", "create", "--template", "strategist", "--categories", "Work")
    box.run("journal", "task", "add", "Ship it", "--category", "Work")
    task, = records(daemon, "tasks")
    for dimension, value in (("energy", 2), ("joy", 5)):
        daemon.ask("POST", "/journal/ratings", {"targetType": "task", "targetId": task["id"],
                                                "dimension": dimension, "value": value})
    box.run("wake", "strategist")
    expect_eq(ended(box, 1)[0]["status"], "completed")
    report, = reports(box, "strategist")
    for part in ("No time is logged", "No task was finished", "energy: 2.0 of 5, 1 time", "Best was joy; energy is what to look at first", "Ship it",
                 "Made by rules"):
        expect_in(part, report["text"])
    expect_eq(records(daemon, "tasks"), [task])
    current = daemon.ask("GET", "/agents/strategist/reports/current")["report"]
    expect_eq(current["freshness"]["stale"], False)
    link = {"relation": "report", "fromType": "task", "fromId": task["id"], "toType": "agentReport", "toId": current["id"]}
    daemon.ask("POST", "/journal/entry-links", link, status=201)
    answer = daemon.ask("POST", "/journal/entry-links", {**link, "toId": "nowhere"}, status=422)
    expect_in('/toId: there is no agentReport "nowhere"', answer["error"]["message"])
    expect_eq(len(records(daemon, "entry-links")), 1)
    daemon.stop()


def pomodoro(box):
    daemon = box.serve()
    box.run("journal", "category", "add", "Work")
    box.run("agent", "create", "--template", "pomodoro", "--categories", "Work")
    for title in ("Tax report", "Tax letter"):
        box.run("journal", "task", "add", title, "--category", "Work")
    return daemon


def move_alarm(box, name, ago_s):
    """Nobody has the data directory; the alarm is due so long ago."""
    at = int(time.time()) - ago_s
    local = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
    db = sqlite3.connect(f"{box.data}/agent.sqlite")
    changed = db.execute("update agent_timers set next_run_at = ?, next_local = ?, start_local = ?"
                         " where name = ? and deleted_at is null", (at * 1000, local, local, name)).rowcount
    # What it was set for follows from its link; the session is that much older, too.
    db.execute("update agent_links set metadata = json_set(metadata, '$.ringsAt', ?, '$.setAt', ?)"
               " where type = 'timer_thread' and json_extract(metadata, '$.name') = ?",
               (at * 1000, (at - 1500) * 1000, name))
    db.commit()
    db.close()
    expect_eq(changed, 1)


def ring_after_restart(box, daemon, name, ago_s):
    """The daemon dies; when it starts again, the alarm was due so long ago."""
    kill(daemon.pid)
    move_alarm(box, name, ago_s)
    return box.serve()


def session_ended(box):
    db = sqlite3.connect(f"file:{box.data}/journal.sqlite?mode=ro", uri=True)
    row = db.execute("select ended_at from time_entries").fetchone()
    db.close()
    return row and row[0]


NEEDS = "while `dormouse serve` runs, and it does not"


@test
def an_alarm_rings_without_a_daemon_and_what_needs_one_says_so(box):
    box.run("journal", "category", "add", "Work")
    box.run("journal", "task", "add", "Tax report", "--category", "Work")
    _, err = box.run("agent", "create", "--template", "pomodoro", "--categories", "Work")
    expect_eq(err, "")
    _, err = box.run("run", "--agent", "pomodoro", "start 25 minutes on the tax report")
    expect_eq(err, "")
    # The keeper stays for the alarm, but not in the way of a daemon.
    kept = holder(box.data)
    daemon = box.serve()
    eventually(lambda: is_dead(kept), "the keeper has made place")
    expect_eq(box.run("timer", "add", "--agent", "planner", "--every", "2h")[1], "")
    kill(daemon.pid)
    move_alarm(box, "session", -4)
    expect_eq(box.run("wakes")[1], f"note: timers fire {NEEDS}\n")
    kept = holder(box.data)
    eventually(lambda: session_ended(box), "the session has ended")
    expect_eq(holder(box.data), kept)
    # What a keeper does not stay for.
    for words, what in ((("timer", "add", "--agent", "planner", "--every", "5h"), "timers fire"),
                        (("agent", "create", "--template", "strategist", "--categories", "Work"), "timers fire"),
                        (("subscribe", "planner", "--folder", box.work), "files and webhooks wake agents"),
                        (("run", "remind me in 5 hours to call Ada"), "an alarm more than two hours ahead rings")):
        expect_eq(box.run(*words)[1], f"note: {what} {NEEDS}\n")
    expect_eq(box.run("subscribe", "planner", "--key", "NOTE")[1], "")
    checks = {line["name"]: line for line in box.json("doctor", env={"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"})["checks"]}
    expect_eq((checks["timers"]["status"], checks["timers"]["fix"]), ("warn", "dormouse serve"))
    expect_in("they fire while the daemon runs", checks["timers"]["message"])
    expect_in("not running", checks["daemon"]["message"])


@test
def a_session_rings_in_its_conversation_and_so_does_the_break_after_it(box):
    daemon = pomodoro(box)
    say = daemon.start("start 25 minutes on the tax report", agent="pomodoro", session="desk").end()
    expect_in("and I ring then", str(say))
    alarm, = daemon.ask("GET", "/agents/pomodoro/timers")["items"]
    expect_eq((alarm["name"], alarm["kind"], alarm["prompt"]), ("session", "once", "Tax report"))
    expect_in("The session on Tax report has 25 minutes left",
              str(daemon.start("how much time is left?", agent="pomodoro", session="desk").end()))
    daemon = ring_after_restart(box, daemon, "session", 1)
    wake = ended(box, 1)[0]
    expect_eq((wake["status"], wake["agentId"]), ("completed", "pomodoro"))
    runs = [r for r in box.runs() if r["runId"] == wake["runId"]]
    expect_eq(runs[0]["thread"], "pomodoro:session:desk")
    for part in ("25 minutes on Tax report are over", "I ring again in 5 minutes", "from 1 to 5"):
        expect_in(part, box.run("trace", wake["runId"])[0])
    entry, = records(daemon, "time-entries")
    expect(entry["endedAt"], "the timer has stopped")
    alarm, = daemon.ask("GET", "/agents/pomodoro/timers")["items"]
    expect_eq(alarm["name"], "break")
    # Nobody was there for the end of the break: it is told once, late, and nothing starts by itself.
    daemon = ring_after_restart(box, daemon, "break", 3600)
    late = ended(box, 2)[0]
    expect_eq((late["reason"], late["status"]), ("recoveryCatchup", "completed"))
    shown = box.run("trace", late["runId"])[0]
    for part in ("The break is over", "I could not ring then"):
        expect_in(part, shown)
    expect_eq(len(records(daemon, "time-entries")), 1)
    # "stop" with nothing to stop is no failure, and nothing rings any more.
    expect_in("No timer runs.", str(daemon.start("stop", agent="pomodoro", session="desk").end()))
    kill(daemon.pid)
    daemon = box.serve()
    expect_eq(len(ended(box, 2)), 2)
    daemon.stop()


@test
def a_session_that_is_stopped_does_not_ring(box):
    daemon = pomodoro(box)
    daemon.start("start 25 minutes on the tax report", agent="pomodoro", session="desk").end()
    daemon.start("stop", agent="pomodoro", session="desk").end()
    expect_eq(daemon.ask("GET", "/agents/pomodoro/timers")["items"], [])
    # A session that begins in a break ends it, and so does "stop".
    for words, left in (("break", ["break"]), ("start 25 minutes on the tax letter", ["session"]), ("break", ["break"]), ("stop", [])):
        daemon.start(words, agent="pomodoro", session="desk").end()
        expect_eq([t["name"] for t in daemon.ask("GET", "/agents/pomodoro/timers")["items"]], left)
    # Without a task it asks which.
    run = daemon.start("start a pomodoro", agent="pomodoro", session="desk")
    daemon.decide(asked(daemon, "ask_user")["id"], "answer", answer="Tax letter")
    expect_in('The timer for "Tax letter" runs', str(run.end()))
    daemon.stop()


@test
def what_can_be_answered_is_shown_with_the_question(box):
    daemon = pomodoro(box)
    out, _ = box.run("run", "--agent", "pomodoro", "start a pomodoro", code=3)
    expect_in("Which task is the session for?\n│ 1  Tax report\n│ 2  Tax letter\n", out)
    box.run("answer", daemon.ask("GET", "/inbox")["items"][0]["id"], "2")
    eventually(lambda: [t for t in daemon.ask("GET", "/agents/pomodoro/timers")["items"] if t["prompt"] == "Tax letter"], "the session has begun")
    daemon.stop()


@test
def a_session_of_a_laptop_that_slept_ends_when_it_should_have(box):
    daemon = pomodoro(box)
    daemon.start("start 25 minutes on the tax report", agent="pomodoro", session="desk").end()
    kill(daemon.pid)
    started = int(time.time()) - 9 * 3600
    db = sqlite3.connect(f"{box.data}/journal.sqlite")
    db.execute("update time_entries set started_at = ?", (started * 1000,))
    db.commit()
    db.close()
    daemon = ring_after_restart(box, box.serve(), "session", 9 * 3600 - 1500)
    ended(box, 1)
    entry, = records(daemon, "time-entries")
    whole = time.strptime(entry["endedAt"][:19], "%Y-%m-%dT%H:%M:%S")
    begun = time.strptime(entry["startedAt"][:19], "%Y-%m-%dT%H:%M:%S")
    expect(abs(time.mktime(whole) - time.mktime(begun) - 1500) <= 2, f"not 25 minutes: {entry}")
    expect_eq([t["name"] for t in daemon.ask("GET", "/agents/pomodoro/timers")["items"] if "nextRunAt" in t], [])
    daemon.stop()


@test
def what_a_new_user_types_is_understood(box):
    daemon = box.serve()
    for category, title in (("Sport", "Gym"), ("Home", "Fix the fence"), ("Work", "Tax report")):
        box.run("journal", "category", "add", category)
        box.run("journal", "task", "add", title, "--category", category)

    def say(words, *answers):
        run = daemon.start(words)
        for tool, answer in answers:
            item = asked(daemon, tool)
            daemon.decide(item["id"], *(("answer",) if answer else ("approve",)),
                          **({"answer": answer} if answer else {}))
        return str(run.end())
    expect_in("I logged 45 minutes on", say("log 45 minutes of gym yesterday",
                                            ("create_retrospective_time_entry", None)))
    expect_in("Gym, 45 minutes", say("what did I do yesterday?"))
    expect_in("45 minutes on", say("how long did I work on gym?"))
    expect_in("45 minutes on", say("log 45 minutes of sport", ("create_retrospective_time_entry", None)))
    expect_in("is done", say("done with fence", ("conclude_task_with_rollover", None)))
    expect_in("Fix the fence", say("what did I do today?"))
    expect_in("due", say("add a task to buy milk tomorrow", ("create_task", None)))
    expect_in("buy milk", say("what is due this week?"))
    expect_in("due", say("remind me on friday to call Bob", ("create_task", None)))
    expect_in("is due on", say("move the tax report to friday", ("update_task_due_date", None)))
    expect_in("I ring at", say("remind me in 20 minutes to call Ada"))
    expect_in("call Ada has 20 minutes left", say("how much time is left?"))
    expect_in("runs; 25 minutes are over at", say("start a pomodoro", ("ask_user", "Tax report")))
    expect_in("stopped after", say("stop"))
    daemon.stop()


@test
def what_was_not_understood_or_did_not_work_is_no_success_to_learn_from(box):
    with open(os.path.join(box.work, "note.txt"), "w") as file:
        file.write("tea")
    for words in ("make me a sandwich", "read the file nowhere.txt", "read the file note.txt"):
        box.run("run", "--mode", "wiggum", words)
    out, _ = box.run("trajectories", "export")
    told = {line["prompt"]: (line["outcome"], line["reward"]) for line in map(json.loads, out.splitlines())}
    expect_eq(told, {"make me a sandwich": ("failure", 0), "read the file nowhere.txt": ("failure", 0),
                     "read the file note.txt": ("success", 1)})


@test
def a_session_is_started_stopped_and_rated_in_chat(box):
    daemon = pomodoro(box)
    def say(words):
        return daemon.start(words, agent="pomodoro")
    expect_in("could be any of these", str(say("start 25 minutes on tax").end()))
    expect_eq(records(daemon, "time-entries"), [])
    expect_in("25 minutes are over at", str(say("start 25 minutes on the tax report").end()))
    box.run("journal", "time", "status")
    expect_in("How was it, from 1 to 5?", str(say("stop").end()))
    entry, = records(daemon, "time-entries")
    expect(entry["endedAt"], "the timer has stopped")
    run = say("4")
    daemon.decide(asked(daemon, "create_or_update_rating")["id"])
    run.end()
    rating, = records(daemon, "ratings")
    expect_eq((rating["targetId"], rating["dimension"], rating["value"]), (entry["id"], "focus", 4))
    daemon.stop()


main()

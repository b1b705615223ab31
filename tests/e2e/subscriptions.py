#!/usr/bin/env python3
"""What agents wait for, calls from elsewhere, reports and sessions: over REST and at the terminal,
against the daemon."""
import http.client
import json
import os
import time

from harness import eventually, expect, expect_eq, expect_in, main, test

TASKS = {"name": "tasks", "source": "journal",
         "tokens": [{"class": "semanticKey", "value": "TASK"}],
         "predicate": "task.priority <= 1"}


def call(daemon, path, body, **headers):
    """Without a token, as somebody elsewhere does."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", path, body, names)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text)


@test
def a_subscription_is_made_changed_previewed_and_removed(box):
    daemon = box.serve().bare()
    ask = daemon.ask
    ask("PATCH", "/agents/planner", {"allowedCategoryIds": ["*"]})
    ask("POST", "/journal/tasks", {"title": "Important", "priority": "P0"}, status=201)
    ask("POST", "/journal/tasks", {"title": "Not so", "priority": "P3"}, status=201)
    found = ask("POST", "/subscriptions/preview", {**TASKS, "agentId": "planner", "days": 7})
    expect_eq([(m["outcome"], [r.get("title") for r in m["records"]]) for m in found["items"]
               if m["outcome"] == "yes"], [("yes", ["Important"])])
    expect_eq(len(found["items"]), 2)
    expect_eq((found["matched"], found["unmatched"], found["cut"]), (1, 1, False))
    now = time.gmtime()
    hours = {"from": "%02d:00" % ((now.tm_hour + 3) % 24), "to": "%02d:00" % ((now.tm_hour + 4) % 24), "zone": "UTC"}
    found = ask("POST", "/subscriptions/preview", {**TASKS, "activeHours": hours, "agentId": "planner", "days": 7})
    expect_eq([m.get("notBefore", "")[11:16] for m in found["items"]], ["", hours["from"]])
    made = ask("POST", "/agents/planner/subscriptions", TASKS, status=201)
    expect_eq((made["agentId"], made["authors"], made["active"]), ("planner", ["human"], True))
    expect_eq([s["id"] for s in ask("GET", "/agents/planner/subscriptions")["items"]], [made["id"]])
    changed = ask("PATCH", f"/subscriptions/{made['id']}", {"cooldownSeconds": 60, "active": False})
    expect_eq((changed["cooldownSeconds"], changed["active"], changed["predicate"]),
              (60, False, TASKS["predicate"]))
    ask("DELETE", f"/subscriptions/{made['id']}", status=204)
    ask("GET", f"/subscriptions/{made['id']}", status=404)
    expect_eq(ask("GET", "/subscriptions")["items"], [])
    daemon.stop()


@test
def what_is_wrong_with_a_subscription_is_named(box):
    daemon = box.serve()
    for change, word in (({"predicate": "task.priority <= \"x\""}, "column"),
                         ({"tokens": []}, "token"), ({"colour": 1}, "colour"),
                         ({"source": "moon"}, "source"), ({"authors": ["dog"]}, "authors")):
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
        connection.request("POST", "/api/v1/agents/planner/subscriptions",
                           json.dumps({**TASKS, **change}),
                           {"Authorization": f"Bearer {daemon.token()}"})
        answer = connection.getresponse()
        text = answer.read().decode()
        expect(400 <= answer.status < 500, f"{change}: {answer.status} {text}")
        expect_in(word, text)
    daemon.ask("POST", "/subscriptions/preview", TASKS, status=422)
    daemon.stop()


@test
def a_hook_is_called_once_for_each_event_and_not_too_often(box):
    daemon = box.serve()
    made = daemon.ask("POST", "/agents/planner/subscriptions", {"name": "ci", "source": "webhook"},
                      status=201)
    expect_eq(made["url"], f"/api/v1/hooks/{made['token']}")
    again = daemon.ask("GET", f"/subscriptions/{made['id']}")
    expect("token" not in again, again)
    status, answer = call(daemon, made["url"], '{"built": true}', Webhook_Id="e1")
    expect_eq((status, answer), (202, {"accepted": True}))
    expect_eq(call(daemon, made["url"], '{"built": true}', Webhook_Id="e1")[0], 202)
    wakes = [w for w in daemon.ask("GET", "/wakes")["items"] if w["reasonId"] == made["id"]]
    expect_eq(len(wakes), 1)
    expect_eq(call(daemon, "/api/v1/hooks/nothing-like-a-token", "x")[0], 404)
    expect_eq(call(daemon, made["url"], "x" * 70000)[0], 413)
    codes = [call(daemon, made["url"], "x", Webhook_Id=f"f{i}")[0] for i in range(40)]
    expect_eq(set(codes), {202, 429})
    expect_eq(codes[:15], [202] * 15)
    expect(codes.count(429) >= 15, codes)
    # Nothing of a flood is written: not a wake, and the count of what was refused with the next call.
    accepted = codes.count(202)
    wakes = [w for w in daemon.ask("GET", "/wakes?limit=500")["items"] if w["reasonId"] == made["id"]]
    expect_eq(len(wakes), 1 + accepted)
    calls = daemon.ask("GET", f"/subscriptions/{made['id']}")["calls"]
    expect_eq(calls["received"], 2 + accepted)
    daemon.ask("DELETE", f"/subscriptions/{made['id']}", status=204)
    expect_eq(call(daemon, made["url"], "x", Webhook_Id="late")[0], 404)
    daemon.stop()


@test
def a_preview_counts_everything_and_says_that_its_list_is_cut(box):
    daemon = box.serve()
    daemon.ask("PATCH", "/agents/planner", {"allowedCategoryIds": ["*"]})
    for i in range(210):
        daemon.ask("POST", "/journal/tasks", {"title": f"Task {i}", "priority": "P0"}, status=201)
    found = daemon.ask("POST", "/subscriptions/preview", {**TASKS, "agentId": "planner"})
    expect_eq((found["matched"], found["unmatched"], found["cut"], len(found["items"])), (210, 0, True, 200))
    text = box.run("subscribe", "preview", "planner", "--key", "TASK")[0]
    expect_in("In 7 days 210 changes would have woken it (the newest 200 of 210 shown).", text)
    daemon.stop()


@test
def calls_that_were_refused_outlive_the_daemon_and_the_hook(box):
    daemon = box.serve()
    made = daemon.ask("POST", "/agents/planner/subscriptions", {"name": "ci", "source": "webhook"},
                      status=201)
    codes = [call(daemon, made["url"], "x", Webhook_Id=f"f{i}")[0] for i in range(40)]
    daemon.stop()
    daemon = box.serve()
    skips = daemon.ask("GET", "/wakes")["skips"]
    expect_eq([(s["skip"], s["name"], s["count"]) for s in skips], [("rate_limited", "ci", codes.count(429))])
    daemon.ask("DELETE", f"/subscriptions/{made['id']}", status=204)
    skips = daemon.ask("GET", "/wakes")["skips"]
    expect_eq([(s["name"], s["removed"], s["count"]) for s in skips], [("ci", True, codes.count(429))])
    expect_in("planner was not woken by ci (removed)", box.run("wakes")[0])
    daemon.stop()


@test
def a_flood_is_counted_while_the_daemon_runs(box):
    daemon = box.serve()
    made = daemon.ask("POST", "/agents/planner/subscriptions", {"name": "ci", "source": "webhook"},
                      status=201)
    codes = [call(daemon, made["url"], "x", Webhook_Id=f"f{i}")[0] for i in range(40)]
    eventually(lambda: sum(s["count"] for s in daemon.ask("GET", "/wakes").get("skips", []))
               == codes.count(429), "the refused calls are counted")
    daemon.stop()


@test
def a_category_is_named_and_meant_for_good(box):
    daemon = box.serve().bare()
    ask = daemon.ask
    ask("PATCH", "/agents/planner", {"allowedCategoryIds": ["*"]})
    gym = ask("POST", "/journal/categories", {"name": "Gym"}, status=201)
    where = 'task.categoryId == "gym"'
    box.run("subscribe", "planner", "--token", "k:TASK", "--where", where, "--name", "gym")
    text = box.run("subscribe", "planner", "--key", "TASK", "--where", 'task.categoryId == "garden"', code=1)[1]
    expect_in('column 20: there is no category "garden"; there are Gym', text)
    ask("PATCH", f"/journal/categories/{gym['id']}", {"name": "Sport"})
    ask("POST", "/journal/tasks", {"title": "Lift", "categoryId": gym["id"]}, status=201)
    wake = eventually(lambda: ask("GET", "/wakes")["items"], "a task of the category wakes")[0]
    expect_eq(wake["name"], "gym")
    tokens = ask("GET", f"/wakes/{wake['runKey']}")["details"]["affectedTokens"]
    expect_eq(tokens[:2], ["k:TASK", f"sub:categoryId:{gym['id']}"])
    made = ask("GET", "/subscriptions")["items"][0]
    expect_eq(made["predicate"], where)
    ask("PATCH", f"/subscriptions/{made['id']}", {"predicate": where, "cooldownSeconds": 5})
    frame = {"agentId": "planner", "source": "journal", "tokens": ["k:TASK"], "predicate": where}
    ask("POST", "/subscriptions/preview", frame, status=400)
    expect_eq(ask("POST", "/subscriptions/preview", {**frame, "subscriptionId": made["id"]})["matched"], 1)
    box.run("subscribe", "planner", "--subtype", "categoryId=sport", "--name", "by token")
    expect_in("categoryId=Sport", box.run("subscribe", "list")[0])
    found = ask("POST", "/subscriptions/preview", {"agentId": "planner", "source": "journal", "tokens": ["k:TASK"]})
    expect_eq(found["items"][0]["affectedTokens"], tokens)
    daemon.stop()


@test
def a_subscription_is_shown_with_all_that_was_given(box):
    made = box.json("subscribe", "planner", "--key", "TASK", "--where", 'task.title == "x"',
                    "--hours", "mo,tu 7:00-22:00 Europe/Berlin", "--cooldown", "2h",
                    "--authors", "human,agent", "--name", "Tasks", "--prompt", "Look.")
    limits = "by human, agent; mo, tu 07:00-22:00 Europe/Berlin; once in 2 h"
    expect_in(f'TASK where task.title == "x"; {limits}\n', box.run("subscribe", "list")[0])
    page, _ = box.run("subscribe", "show", made["id"])
    for line in (f"id          {made['id']}", "name        Tasks", "is          on",
                 'wakes for   TASK where task.title == "x"', f"only        {limits}",
                 "tells it    Look.", "last woke   never yet"):
        expect_in(line + "\n", page)
    expect_eq(box.json("subscribe", "show", made["id"][:23]), {k: v for k, v in made.items() if k != "warnings"})
    expect_in("there is no subscription", box.error("subscribe", "show", "ffffffff")["message"])
    hook = box.json("subscribe", "planner", "--webhook")
    page, _ = box.run("subscribe", "show", hook["id"])
    expect_in("wakes for   its webhook is called\n", page)
    expect_in("calls       0 received, 0 refused\n", page)
    expect(hook["token"] not in page, page)


@test
def a_label_is_named_and_wakes_when_a_task_gets_it(box):
    daemon = box.serve().bare()
    ask = daemon.ask
    ask("PATCH", "/agents/planner", {"allowedCategoryIds": ["*"]})
    label = ask("POST", "/journal/labels", {"name": "Urgent"}, status=201)
    where = 'task.labelIds in ["urgent"] and task.status != "DONE"'
    box.run("subscribe", "planner", "--key", "TASK", "--where", where, "--name", "urgent things")
    text = box.run("subscribe", "planner", "--key", "TASK", "--where", 'task.labelIds in ["later"]', code=1)[1]
    expect_in('column 19: there is no label "later"; there are Urgent', text)
    ask("PATCH", f"/journal/labels/{label['id']}", {"name": "Now"})
    box.run("journal", "task", "add", "Water plants", "--label", "Home")
    task = ask("POST", "/journal/tasks", {"title": "Fix roof"}, status=201)
    eventually(lambda: [one["count"] for one in ask("GET", "/wakes").get("skips", [])] == [2], "neither has it")
    box.run("journal", "task", "set", task["id"], "--label", "Now")
    wake = eventually(lambda: ask("GET", "/wakes")["items"], "a task that gets the label wakes")[0]
    expect_eq((wake["name"], wake["records"][0]["title"]), ("urgent things", "Fix roof"))
    expect_eq(ask("GET", "/subscriptions")["items"][0]["predicate"], where)


@test
def what_could_never_wake_is_refused_at_the_terminal(box):
    daemon = box.serve().bare()
    os.symlink(box.dir, box.path("link"))
    open(box.path("file"), "w", encoding="utf-8").close()
    for code, words, part in (
            (1, ("--key", "TASK", "--authors", "humn"), '--authors: "humn" is none of human'),
            (1, ("--key", "TASK", "--where", "x"), "--where: column 1"),
            (1, ("--key", "TASKS"), 'there is no semantic key "TASKS"; did you mean "TASK"?'),
            (1, ("--token", "TASK"), "expected k:KEY, id:ID or sub:NAMESPACE:VALUE"),
            (1, ("--subtype", "colour=red"), 'no namespace "colour"; there are: taskStatus'),
            (1, ("--id", "nosuch"), 'no record with the id "nosuch"'),
            (1, ("--key", "TASK", "--folder", box.dir), "--key is for changes of records"),
            (4, ("--folder", box.data), "which is not watched"),
            (4, ("--folder", box.path("link")), "it is a symbolic link"),
            (4, ("--folder", box.path("file")), "it is a file"),
            (1, ("--webhook", "--folder", box.dir), "two subscriptions")):
        expect_in(part, box.run("subscribe", "planner", *words, code=code)[1])
    expect_eq(daemon.ask("GET", "/subscriptions")["items"], [])
    daemon.stop()


@test
def wakes_are_found_by_reason_and_by_what_woke(box):
    daemon = box.serve()
    ask = daemon.ask
    ask("PATCH", "/agents/planner", {"allowedCategoryIds": ["*"]})
    timer = ask("POST", "/agents/planner/timers", {"intervalSeconds": 7200}, status=201)
    made = ask("POST", "/agents/planner/subscriptions", TASKS, status=201)
    ask("POST", "/journal/tasks", {"title": "Not so", "priority": "P3"}, status=201)
    ask("POST", "/agents/planner/wake", {"words": "Look."}, status=202)
    eventually(lambda: ask("GET", "/wakes").get("skips"), "a change did not wake")
    expect_eq([w["reason"] for w in ask("GET", "/wakes?reason=manual")["items"]], ["manual"])
    expect("skips" not in ask("GET", "/wakes?reason=manual"), "skips of another reason")
    found = ask("GET", "/wakes?reason=predicate")
    expect_eq((found["items"], [s["reasonId"] for s in found["skips"]]), ([], [made["id"]]))
    ask("GET", "/wakes?reason=moon", status=400)
    # What there is and has not woken yet is known; what there is not is no empty list.
    expect_eq(ask("GET", f"/wakes?reasonId={timer['id']}")["items"], [])
    ask("GET", "/wakes?reasonId=nosuch", status=404)
    expect_in('no subscription or timer "nosuch"', box.run("wakes", "--of", "nosuch", code=1)[1])
    expect_in("No wakes of this kind.", box.run("wakes", "--of", timer["id"][:13])[0])
    daemon.stop()


@test
def a_person_sets_slots_at_the_terminal(box):
    daemon = box.serve()
    box.run("agent", "slots", "planner", "primaryGoal=Run 10 km", "preferenceByKey.tone=short",
            "preferenceByKey.units=km", "openLoopIds=a, b")
    text = box.run("agent", "slots", "planner", "preferenceByKey.units=", "primaryGoal=")[0]
    expect_eq([line.split() for line in text.splitlines()[1:]],
              [["primaryGoal", "2"], ["activeTaskId", "0"], ["openLoopIds", "1", '["a","b"]'],
               ["preferenceByKey", "2", '{"tone":"short"}']])
    expect_eq(daemon.ask("GET", "/agents/planner/state")["slotVersions"]["primaryGoal"], 2)
    for words, part in (("colour=red", "there is no slot"), ("primaryGoal", "KEY=VALUE")):
        expect_in(part, box.run("agent", "slots", "planner", words, code=1)[1])
    daemon.stop()


@test
def an_agent_without_reports_says_so(box):
    daemon = box.serve()
    expect_eq(daemon.ask("GET", "/agents/planner/reports/current"), {"report": None})
    expect_eq(daemon.ask("GET", "/agents/planner/reports")["items"], [])
    daemon.ask("GET", "/agents/planner/reports?scope=yearly", status=400)
    expect_eq(daemon.ask("GET", "/agents/planner/sessions")["items"], [])
    daemon.ask("GET", "/agents/planner/sessions/none", status=404)
    daemon.ask("DELETE", "/agents/planner/sessions/none", status=404)
    daemon.stop()


@test
def a_conversation_is_a_session_until_it_is_closed(box):
    daemon = box.serve()
    ask = daemon.ask
    box.run("run", "Hello", "--agent", "planner", "--session", "desk")
    items = ask("GET", "/agents/planner/sessions?open=true")["items"]
    expect_eq([(s["id"], s["state"]) for s in items], [("planner:session:desk", "open")])
    expect("expiresAt" in items[0], items)
    agent = ask("GET", "/agents/planner")
    expect_eq((agent["openSessions"], agent["sessionExpiresAt"]), (1, items[0]["expiresAt"]))
    expect_in("talking       1", box.run("agent", "show", "planner")[0])
    expect_eq(ask("GET", "/agents/planner/sessions/desk")["id"], "planner:session:desk")
    ask("DELETE", "/agents/planner/sessions/desk", status=204)
    expect_eq(ask("GET", "/agents/planner/sessions/planner:session:desk")["state"], "person")
    expect_eq(ask("GET", "/agents/planner")["openSessions"], 0)
    daemon.stop()


@test
def what_woke_nobody_is_counted_and_said_after_a_restart_too(box):
    daemon = box.serve()
    daemon.ask("PATCH", "/agents/planner", {"allowedCategoryIds": ["*"]})
    made = daemon.ask("POST", "/agents/planner/subscriptions", TASKS, status=201)
    daemon.ask("POST", "/journal/tasks", {"title": "Not so", "priority": "P3"}, status=201)
    skips = eventually(lambda: daemon.ask("GET", "/wakes").get("skips"), "a skip")
    expect_eq([(s["skip"], s["count"], s["reasonId"]) for s in skips], [("predicate", 1, made["id"])])
    daemon.stop()
    lines = [json.loads(line) for line in box.run("wakes", "--json")[0].splitlines()]
    expect_eq([s["why"] for s in lines if "skip" in s],
              ["no changed record satisfies the predicate"])
    expect_in("planner was not woken by tasks, 1 time, last", box.run("wakes")[0])


@test
def agents_are_subscribed_at_the_terminal(box):
    run = box.run
    box.serve().bare().stop()
    expect_in("No agent waits", run("subscribe", "list")[0])
    expect_in("what should wake it?", run("subscribe", "planner", code=1)[1])
    made = json.loads(run("subscribe", "planner", "--key", "TASK", "--where", "task.priority <= 1",
                          "--hours", "mo,tu 7:00-22:00", "--cooldown", "10m", "--json")[0])
    expect_eq((made["cooldownSeconds"], made["activeHours"]["from"]), (600, "07:00"))
    expect_in("TASK where task.priority <= 1", run("subscribe", "list", "planner")[0])
    run("journal", "task", "add", "Pay rent", "--priority", "P0")
    run("agent", "set", "planner", "--categories", "*")
    expect_in('wakes  task "Pay rent"', run("subscribe", "preview", "planner", "--key", "TASK")[0])
    run("subscribe", "rm", made["id"][:13])
    expect_in("No agent waits", run("subscribe", "list")[0])
    expect_in("/api/v1/hooks/", run("subscribe", "planner", "--webhook", "--name", "ci")[0])
    expect_in("has no report yet", run("report", "planner")[0])


@test
def every_source_can_be_had_at_the_terminal(box):
    run = box.run
    run("agent", "create", "Listener", "--categories", "none")
    sources = []
    for words in (["--key", "TASK"], ["--key", "AGENT_MESSAGE"], ["--id", "planner", "--agents"], ["--webhook"],
                  ["--folder", "inbox"]):
        out, _ = run("subscribe", "listener", *words, "--json")
        sources.append(json.loads(out)["source"])
    expect_eq(sources, ["journal", "agent", "agent", "webhook", "files"])
    last = json.loads(run("subscribe", "list", "listener", "--json")[0].splitlines()[-1])
    expect_eq(last["folder"], box.work + "/inbox")  # from where it was typed
    expect_in("can't be watched", run("subscribe", "listener", "--folder", "none")[1])
    os.makedirs(box.work + "/there")
    expect("warning" not in run("subscribe", "listener", "--folder", "there")[1], "it is there")
    _, err = run("subscribe", "listener", "--key", "TASK", "--key", "AGENT", code=1)
    expect_in("no changes of the key AGENT", err)
    run("subscribe", "listener", "--key", "TASK", "--cooldown", "30d")
    expect_in("at most 30d", run("subscribe", "listener", "--key", "TASK", "--cooldown", "31d", code=1)[1])


@test
def who_could_never_be_woken_is_told_so(box):
    box.run("agent", "create", "Listener")
    _, err = box.run("subscribe", "listener", "--key", "TASK")
    expect_in("reaches no categories", err)
    _, err = box.run("subscribe", "listener", "--key", "AGENT_REPORT")
    expect_eq(err, "")
    box.run("agent", "set", "listener", "--categories", "all")
    _, err = box.run("subscribe", "listener", "--key", "TASK")
    expect_eq(err, "")


@test
def a_message_wakes_who_waits_for_messages(box):
    daemon = box.serve()
    box.run("agent", "create", "Listener", "--tools", "none", "--mode", "autonomous")
    box.run("subscribe", "listener", "--key", "AGENT_MESSAGE", "--authors", "human", "--name", "talk")
    box.run("run", "--agent", "planner", "hello there")

    def woken():
        found = [json.loads(line) for line in box.run("wakes", "--agent", "listener", "--json")[0].splitlines()]
        return [one for one in found if one["status"] == "completed"]

    expect_eq(len(eventually(woken, "it was woken")), 1)
    daemon.stop()


@test
def an_agent_is_shown_with_what_wakes_it(box):
    run = box.run
    run("journal", "category", "add", "Sport", "--id", "sp")
    run("agent", "create", "--template", "planner", "--categories", "sport", "--id", "p2")
    out = run("agent", "show", "p2")[0]
    for words in ("journal       Sport\n", "wakes         A task is done (", "Every day at 07:00 (next in ",
                  "session       ends after 30 min"):
        expect_in(words, out)
    run("agent", "set", "p2", "--categories", "none")
    expect_in("journal       nothing of it", run("agent", "show", "p2")[0])


@test
def every_run_is_explained_and_by_name(box):
    daemon = box.serve()
    box.run("agent", "create", "Listener", "--tools", "none", "--categories", "all")
    soon = box.json("subscribe", "listener", "--key", "TASK", "--name", "A task is new")
    box.run("journal", "task", "add", "Fix fence")

    def woke(count=1):
        found = [json.loads(line) for line in box.run("wakes", "--json")[0].splitlines()]
        return found if len(found) >= count and all("endedAt" in one for one in found) else None

    wake, = eventually(woke, "it woke")
    expect_eq((wake["name"], wake["recordCount"]), ("A task is new", 1))
    expect_eq([(one["type"], one["title"]) for one in wake["records"]], [("task", "Fix fence")])
    expect_eq(wake["details"], {"author": "human"})
    box.run("run", "Hello there", "--agent", "listener", "--session", "s")
    said, = [one for one in woke() if one["reason"] == "userInitiated"]
    expect_eq((said["status"], said["threadId"], said["why"]),
              ("completed", "listener:session:s", "a person spoke to it in the session s; its run is done"))
    expect_eq(said["details"], {"words": "Hello there"})
    expect_eq(daemon.ask("GET", f"/wakes/{said['runKey'][:8]}")["details"], {"words": "Hello there"})
    expect_eq(daemon.ask("GET", f"/runs/{said['runId']}")["runId"], said["runKey"])
    out, _ = box.run("wakes")
    expect_in("subscription A task is new: task Fix fence", out)
    expect_in("userInitiated: Hello there", out)
    expect_eq(daemon.ask("GET", "/agents/listener/state")["lastWakeAt"] >= said["createdAt"], True)
    box.run("subscribe", "disable", soon["id"])  # a wake that waits would go along with its runs
    box.run("subscribe", "listener", "--key", "TASK", "--name", "Slowly", "--cooldown", "1h")
    box.run("journal", "task", "add", "Paint door")
    eventually(lambda: woke(3), "the first woke")
    box.run("journal", "task", "add", "Oil hinge")

    def waits():
        return [one for one in ([json.loads(line) for line in box.run('wakes', '--json')[0].splitlines()]) if one.get("held") == "cooldown"]

    held, = eventually(waits, "the second waits")
    expect_eq(held["why"], "its subscription lets time pass between two wakes")
    expect_in("notBefore", held)
    expect_in("its subscription lets time pass between two wakes: in ", box.run("wakes", "--status", "queued")[0])
    daemon.stop()


@test
def what_came_in_a_pause_or_under_a_stop_is_made_up_for(box):
    daemon = box.serve()
    daemon.ask("POST", "/journal/categories", {"name": "Sport"}, status=201)
    box.run("agent", "create", "Gym", "--template", "gym-coach", "--categories", "Sport")
    made_up = 0
    for stop, go_on, status in ((("agent", "pause", "gym"), ("agent", "resume", "gym"), "skipped_paused"),
                                (("kill", "--all"), ("unkill", "--all"), "skipped_killed"),
                                (("kill", "--agent", "gym"), ("unkill", "--agent", "gym"), "skipped_killed"),
                                (("agent", "pause", "gym"), None, "skipped_paused")):
        before = len(daemon.ask("GET", f"/wakes?status={status}")["items"])
        box.run(*stop)
        box.run("journal", "workout", "add", "running", "--for", "35m", "--category", "Sport")
        eventually(lambda: len(daemon.ask("GET", f"/wakes?status={status}")["items"]) > before, status)
        # Whoever wakes it by hand hears what to do about it.
        code, http, ends, words = (("agent_paused", 409, 1, "agent resume gym") if status == "skipped_paused"
                                   else ("kill_switch_active", 403, 4, " ".join(go_on)))
        expect_eq(daemon.ask("POST", "/agents/gym/wake", {}, status=http)["error"]["code"], code)
        expect_in(words, box.error("wake", "gym", code=ends)["message"])
        if go_on:
            box.run(*go_on)
        else:
            daemon.ask("PATCH", "/agents/gym", {"paused": False})
        made_up += 1
        eventually(lambda: len([wake for wake in daemon.ask("GET", "/wakes?agent=gym&reasonId=resume")["items"]
                                if wake.get("runId")]) == made_up, "it is made up for")
    expect_in("end of its pause, stop or dormancy", box.run("wakes")[0])
    daemon.ask("PATCH", "/agents/gym", {"lifecycle": "dormant"})
    box.run("journal", "workout", "add", "running", "--for", "35m", "--category", "Sport")
    eventually(lambda: daemon.ask("GET", "/wakes?status=skipped_sleeping")["items"], "it does not wake")
    daemon.ask("PATCH", "/agents/gym", {"lifecycle": "active"})
    eventually(lambda: len([wake for wake in daemon.ask("GET", "/wakes?agent=gym&reasonId=resume")["items"]
                            if wake.get("runId")]) == made_up + 1, "that is made up for, too")


@test
def wakes_are_listed_to_the_last(box):
    daemon = box.serve()
    box.run("agent", "create", "Listener", "--tools", "none")
    for i in range(7):
        daemon.ask("POST", "/agents/listener/wake", {"requestId": f"r{i}"}, status=202)

    def listed(*words):
        return [json.loads(line)["n"] for line in box.run("wakes", "--json", *words)[0].splitlines()]

    expect_eq(listed("--all"), [7, 6, 5, 4, 3, 2, 1])
    expect_eq(listed("--limit", "2"), [7, 6])
    page = daemon.ask("GET", "/wakes?limit=3")
    expect_eq(daemon.ask("GET", f"/wakes?limit=3&after={page['after']}")["items"][0]["n"], 4)
    for after in ("4", "x", "0-0", "-1-2", "3-", "3-x"):
        daemon.ask("GET", f"/wakes?after={after}", status=400)
    expect_in("--limit takes", box.run("wakes", "--limit", "0", code=1)[1])
    daemon.stop()


main()

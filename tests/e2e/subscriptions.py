#!/usr/bin/env python3
"""What agents wait for, calls from elsewhere, reports and sessions: over REST and at the terminal,
against the daemon."""
import http.client
import json

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
    daemon = box.serve()
    ask = daemon.ask
    ask("PATCH", "/agents/planner", {"allowedCategoryIds": ["*"]})
    ask("POST", "/journal/tasks", {"title": "Important", "priority": "P0"}, status=201)
    ask("POST", "/journal/tasks", {"title": "Not so", "priority": "P3"}, status=201)
    found = ask("POST", "/subscriptions/preview", {**TASKS, "agentId": "planner", "days": 7})
    expect_eq([(m["outcome"], [r.get("title") for r in m["records"]]) for m in found["items"]
               if m["outcome"] == "yes"], [("yes", ["Important"])])
    expect_eq(len(found["items"]), 2)
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
    calls = daemon.ask("GET", f"/subscriptions/{made['id']}")["calls"]
    expect(calls["received"] >= 2, calls)
    daemon.ask("DELETE", f"/subscriptions/{made['id']}", status=204)
    expect_eq(call(daemon, made["url"], "x", Webhook_Id="late")[0], 404)
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
def agents_are_subscribed_at_the_terminal(box):
    run = box.run
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


main()

#!/usr/bin/env python3
"""Agents made, changed, copied, exported and destroyed; conversations; the wizard."""
import http.client
import io
import json
import tarfile
import threading

from harness import WAIT_S, Refused, eventually, expect, expect_eq, expect_in, main, test

WIZARD = "system:builder-wizard"


def raw(daemon, method, path, body=None, kind="application/gzip"):
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=WAIT_S)
    connection.request(method, "/api/v1" + path, body=body,
                       headers={"Authorization": f"Bearer {daemon.token()}", "Content-Type": kind})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer, data


def refused(daemon, method, path, body=None, status=400):
    return daemon.ask(method, path, body, status=status)["error"]


def ids(daemon, query=""):
    return [agent["id"] for agent in daemon.ask("GET", "/agents" + query)["agents"]]


def talk(daemon, thread, text, end=True):
    stream = daemon.start(text, agent=WIZARD, thread=thread)
    if not end:
        return stream.until("waiting"), stream
    return stream.end()["result"]


@test
def an_agent_is_made_changed_copied_and_destroyed(box):
    daemon = box.serve()
    agent = daemon.ask("POST", "/agents", {"displayName": "Gym Coach", "template": "gym-coach",
                                           "description": "Mine."}, status=201)
    expect_eq((agent["id"], agent["template"], agent["description"]), ("gym-coach", "gym-coach", "Mine."))
    expect_eq(agent["state"]["word"], "asleep")
    expect_in("When you are corrected", agent["instructions"])
    expect_eq(daemon.ask("POST", "/agents", {"displayName": "Gym Coach"}, status=201)["id"], "gym-coach-2")
    expect_eq(refused(daemon, "POST", "/agents", {"displayName": "X", "id": "gym-coach"}, 409)["code"], "conflict")
    changed = daemon.ask("PATCH", "/agents/gym-coach", {"displayName": "Coach", "tools": ["bash"], "paused": True})
    expect_eq((changed["displayName"], changed["tools"], changed["state"]["word"], changed["description"]),
              ("Coach", ["bash"], "paused", "Mine."))
    changed = daemon.ask("PATCH", "/agents/gym-coach", {"tools": None, "paused": False, "model": "offline"})
    expect("tools" not in changed, changed)
    copy = daemon.ask("POST", "/agents/gym-coach/duplicate", {}, status=201)
    expect_eq((copy["id"], copy["displayName"], copy["model"]), ("coach-copy", "Coach (copy)", "offline"))
    error = refused(daemon, "DELETE", "/agents/gym-coach", {"confirm": "coach"})
    expect_in("Coach", error["message"])
    refused(daemon, "DELETE", "/agents/gym-c", {"confirm": "Coach"}, 404)
    daemon.ask("DELETE", "/agents/gym-coach?confirm=Coach", status=204)
    daemon.ask("DELETE", "/agents/gym-coach", {"confirm": "Coach"}, status=204)
    expect_eq(ids(daemon), ["coach-copy", "gym-coach-2", "planner"])
    expect_eq(daemon.ask("GET", "/agents/gym-coach")["state"]["word"], "gone")
    expect_eq(refused(daemon, "PATCH", "/agents/gym-coach", {"displayName": "x"}, 409)["code"], "agent_destroyed")
    try:
        daemon.start("hi", agent="gym-coach")
        expect(False, "an agent that is gone was spoken to")
    except Refused as why:
        expect_eq(why.error["code"], "agent_destroyed")
    daemon.stop()


@test
def an_agent_has_a_mode_categories_sessions_and_a_life(box):
    daemon = box.serve()
    coach = {"displayName": "Coach", "allowedCategoryIds": ["gym"]}
    expect_in('no category "gym", nor any other', refused(daemon, "POST", "/agents", coach, 400)["message"])
    daemon.ask("POST", "/journal/categories", {"id": "gym", "name": "Gym"}, status=201)
    agent = daemon.ask("POST", "/agents", {"displayName": "Coach", "mode": "hybrid",
                                           "allowedCategoryIds": ["gym"], "sessionTtlSeconds": 600}, status=201)
    expect_eq((agent["mode"], agent["allowedCategoryIds"], agent["sessionTtlSeconds"], agent["lifecycle"]),
              ("hybrid", ["gym"], 600, "active"))
    agent = daemon.ask("PATCH", "/agents/coach", {"lifecycle": "dormant", "allowedCategoryIds": ["*"]})
    expect_eq((agent["lifecycle"], agent["allowedCategoryIds"], agent["mode"]), ("dormant", ["*"], "hybrid"))
    expect_eq(daemon.ask("PATCH", "/agents/coach", {"lifecycle": "active"})["lifecycle"], "active")
    for body, says in [
        ({"mode": "lazy"}, "autonomous, interactive, hybrid"),
        ({"lifecycle": "destroyed"}, "active or dormant"),
        ({"lifecycle": "created"}, "active or dormant"),
        ({"allowedCategoryIds": ["gym", "*"]}, "alone"),
        ({"allowedCategoryIds": ["gym", "gym"]}, "twice"),
        ({"allowedCategoryIds": ["gym", "Sprot"]}, 'there is no category "Sprot"; there are: Gym'),
        ({"allowedCategoryIds": "gym"}, "list"),
        ({"sessionTtlSeconds": 5}, "60"),
        ({"sessionTtlSeconds": "600"}, "integer"),
    ]:
        status = 422 if says in ("list", "60", "integer") else 400
        expect_in(says, refused(daemon, "PATCH", "/agents/coach", body, status)["message"])
    agent = daemon.ask("GET", "/agents/coach")
    expect_eq((agent["sessionTtlSeconds"], agent["allowedCategoryIds"]), (600, ["*"]))
    for words in (("create", "Other"), ("set", "coach")):
        _, err = box.run("agent", *words, "--categories", "Nope,Gym", code=1)
        expect_in('there is no category "Nope"; there are: Gym', err)
    daemon.stop()


@test
def what_is_wrong_with_an_agent_is_said(box):
    daemon = box.serve()
    cases = [
        ({}, "displayName is missing"),
        ({"displayName": ""}, "is empty"),
        ({"displayName": "a" * 81}, "at most 80"),
        ({"displayName": "a\u202eb"}, "U+202E"),
        ({"displayName": "a\u0000b"}, "U+0000"),
        ({"displayName": "a\nb"}, "U+000A"),
        ({"displayName": "A", "tools": ["nope"]}, 'no tool "nope"; there are: add_multiple_checklist_items, annotate_time_entry, ask_user'),
        ({"displayName": "A", "tools": ["propose_agent"]}, "no tool"),
        ({"displayName": "A", "tools": ["bash", "bash"]}, "twice"),
        ({"displayName": "A", "tools": "bash"}, "list of names"),
        ({"displayName": "A", "tools": [1]}, "tools must be a list of names"),
        ({"displayName": "A", "template": "nope"}, "there are: gym-coach"),
        ({"displayName": "A", "id": "Big"}, "lower-case"),
        ({"displayName": "A", "id": "system:x"}, "Dormouse's own"),
        ({"displayName": "A", "id": "../x"}, "lower-case"),
        ({"displayName": "A", "autoApproveMemory": "yes"}, "true or false"),
        ({"displayName": "A", "nme": "x"}, "nme"),
    ]
    for body, says in cases:
        error = daemon.ask("POST", "/agents", body, status=422 if "error" in body else
                           (422 if says in ("list of names", "true or false", "nme") else 400))["error"]
        expect_in(says, error["message"])
    big = {"displayName": "A", "instructions": "x" * (100 * 1024 + 1)}
    expect_eq(refused(daemon, "POST", "/agents", big, 413)["code"], "too_large")
    daemon.ask("POST", "/agents", {"displayName": "A", "instructions": "x" * 100 * 1024}, status=201)
    error = refused(daemon, "POST", "/agents", {"displayName": "A", "model": "nope"}, 400)
    expect_eq(error["code"], "bad_request")
    expect_eq(error["message"], 'there is no model "nope"; there are: offline')
    expect_in("there are: offline", refused(daemon, "PATCH", "/agents/a", {"model": "nope"}, 400)["message"])
    refused(daemon, "PATCH", f"/agents/{WIZARD}", {"displayName": "x"})
    refused(daemon, "PATCH", "/agents/nobody", {"displayName": "x"}, 404)
    expect_eq(ids(daemon), ["a", "planner"])
    daemon.stop()


@test
def two_clients_at_once_lose_nothing(box):
    daemon = box.serve()
    made, lock = [], threading.Lock()

    def create(_):
        agent = daemon.ask("POST", "/agents", {"displayName": "Twin"}, status=201)
        with lock:
            made.append(agent["id"])

    threads = [threading.Thread(target=create, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect_eq(sorted(made), ["twin"] + [f"twin-{i}" for i in range(2, 9)])

    changes = [{"description": "d"}, {"instructions": "i"}, {"tools": ["bash"]}, {"model": "offline"}]
    threads = [threading.Thread(target=lambda c=c: daemon.ask("PATCH", "/agents/twin", c)) for c in changes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    twin = daemon.ask("GET", "/agents/twin")
    expect_eq((twin["description"], twin["instructions"], twin["tools"], twin["model"]), ("d", "i", ["bash"], "offline"))
    daemon.stop()


@test
def destroying_ends_a_run_that_waits(box):
    box.script("""
  - expect: { user: go, results: 0 }
    reply: { calls: [{ name: bash, arguments: { command: "echo hi" } }] }
""")
    daemon = box.serve()
    agent = daemon.ask("POST", "/agents", {"displayName": "Doer"}, status=201)
    stream = daemon.start("go", agent="doer", cwd=box.work)
    item = stream.until("waiting")["itemId"]
    expect_eq(daemon.ask("GET", "/agents/doer")["state"]["word"], "waiting")
    expect_eq(daemon.ask("GET", "/agents/doer")["pending"], 1)
    daemon.ask("DELETE", "/agents/doer", {"confirm": "Doer"}, status=204)
    expect_eq(stream.end()["stopReason"], "error")
    expect_eq(daemon.ask("GET", f"/runs/{stream.key}")["error"]["code"], "agent_destroyed")
    eventually(lambda: daemon.ask("GET", f"/inbox/{item}")["state"] == "withdrawn", "the item is withdrawn")
    expect_eq(daemon.ask("GET", "/inbox")["items"], [])
    threads = daemon.ask("GET", "/agents/doer/threads")["threads"]
    expect_eq(len(threads), 1)
    messages = daemon.ask("GET", f"/agents/doer/threads/{threads[0]['id']}/messages")["messages"]
    expect_eq(messages[-1]["content"]["text"], "go")
    expect(agent["id"] == "doer", agent)
    daemon.stop()


@test
def an_archive_is_the_same_bytes_and_comes_back(box):
    daemon = box.serve()
    daemon.ask("POST", "/agents", {"displayName": "Gym Coach", "template": "gym-coach",
                                   "autoApproveMemory": True}, status=201)
    answer, first = raw(daemon, "GET", "/agents/gym-coach/export")
    expect_eq((answer.status, answer.getheader("Content-Type")), (200, "application/gzip"))
    expect_in("gym-coach.dormouse-agent.tar.gz", answer.getheader("Content-Disposition"))
    expect_eq(raw(daemon, "GET", "/agents/gym-coach/export")[1], first)
    names = tarfile.open(fileobj=io.BytesIO(first)).getnames()
    expect_eq(names, ["AGENTS.md", "agent.json", "wakes.json"])
    answer, body = raw(daemon, "POST", "/agents/import", first)
    made = json.loads(body)
    expect_eq((answer.status, made["id"], made["autoApproveMemory"]), (201, "gym-coach-2", False))
    expect_eq(raw(daemon, "GET", "/agents/gym-coach-2/export")[1], first)
    expect_eq(raw(daemon, "POST", "/agents/import?id=gym-coach", first)[0].status, 409)
    expect_eq(json.loads(raw(daemon, "POST", "/agents/import?id=third", first)[1])["id"], "third")
    daemon.ask("PATCH", "/agents/third", {"instructions": "my key is sk-ant-api03-" + "a1B2" * 20})
    answer, body = raw(daemon, "GET", "/agents/third/export")
    expect_eq(answer.status, 409)
    expect_in("AGENTS.md", json.loads(body)["error"]["message"])
    daemon.stop()


def pack(files, links=()):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in files:
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
        for name, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            tar.addfile(info)
    return out.getvalue()


@test
def a_hostile_archive_makes_nothing(box):
    daemon = box.serve()
    good = json.dumps({"format": "dormouse-agent", "version": 1, "displayName": "Guest"}).encode()

    def settings(**more):
        return json.dumps({**json.loads(good), **more}).encode()

    agent = ("agent.json", good)
    cases = [
        (b"", 400), (b"junk", 400),
        (pack([("AGENTS.md", b"hi")]), 400),
        (pack([("agent.json", b"{")]), 400),
        (pack([("agent.json", settings(format="x"))]), 400),
        (pack([("agent.json", settings(version=3))]), 400),
        (pack([("agent.json", settings(mode="lazy"))]), 400),
        (pack([("agent.json", settings(sessionTtlSeconds=-1))]), 400),
        (pack([("agent.json", settings(sessionTtlSeconds=1 << 62))]), 400),
        (pack([agent, ("wakes.json", b"x")]), 400),
        (pack([agent, ("wakes.json", b'{"timers":[{"rrule":"FREQ=YEARLY;BYHOUR=99"}]}')]), 400),
        (pack([agent, ("wakes.json", b'{"subscriptions":[{"source":"webhook","token":"mine"}]}')]), None),
        (pack([("agent.json", settings(id="planner"))]), None),
        (pack([("agent.json", settings(tools=[1]))]), 400),
        (pack([("agent.json", settings(tools="bash"))]), None),
        (pack([("agent.json", settings(displayName="a\u202eb"))]), 400),
        (pack([agent, ("AGENTS.md", b"\xff")]), 400),
        (pack([agent, ("AGENTS.md", b"x" * (100 * 1024 + 1))]), 413),
        (pack([agent, ("../evil", b"x")]), None),
        (pack([agent, ("/etc/evil", b"x")]), None),
        (pack([agent, ("knowledge/../../x", b"x")]), None),
        (pack([agent, ("other.txt", b"x")]), 400),
        (pack([agent, ("tools.json", b"x")]), 400),
        (pack([agent, ("knowledge/a.md", b"\xff\xfe")]), 400),
        (pack([agent, ("knowledge/a.md", b"x" * (100 * 1024 + 1))]), 413),
        (pack([agent, ("knowledge/a.md", b"x"), ("knowledge/A.md", b"y")]), None),
        (pack([agent], [("knowledge/l.md", "/etc/passwd")]), None),
        (pack([agent, ("knowledge/zeros", b"\0" * (64 << 20))]), None),
        (pack([agent] + [(f"knowledge/{i}.md", b"x") for i in range(1001)]), None),
    ]
    for i, (body, status) in enumerate(cases):
        answer, text = raw(daemon, "POST", "/agents/import", body)
        expect(answer.status >= 400 and answer.status < 500 and status in (None, answer.status),
               f"case {i}: {answer.status} {text!r}")
    expect_eq(ids(daemon, "?destroyed=true&system=true"), [WIZARD, "planner"])
    answer, _ = raw(daemon, "POST", "/agents/import", pack([agent, ("knowledge/a.md", b"I know.")]))
    expect_eq(answer.status, 201)
    again = raw(daemon, "GET", "/agents/guest/export")[1]
    expect_eq(tarfile.open(fileobj=io.BytesIO(again)).getnames(), ["AGENTS.md", "agent.json", "knowledge/a.md"])
    # A copy and the end of an agent take its files along.
    daemon.ask("POST", "/agents/guest/duplicate", {"displayName": "Second"}, status=201)
    copy = tarfile.open(fileobj=io.BytesIO(raw(daemon, "GET", "/agents/second/export")[1]))
    expect_eq(copy.extractfile("knowledge/a.md").read(), b"I know.")
    daemon.ask("DELETE", "/agents/guest?confirm=Guest", status=204)
    gone = tarfile.open(fileobj=io.BytesIO(raw(daemon, "GET", "/agents/guest/export")[1]))
    expect_eq(gone.getnames(), ["AGENTS.md", "agent.json"])
    daemon.stop()


@test
def what_wakes_an_agent_goes_with_it(box):
    daemon = box.serve()
    folder = box.path("inbox")
    daemon.ask("POST", "/agents", {"displayName": "Clerk", "template": "planner", "mode": "autonomous",
                                   "sessionTtlSeconds": 600}, status=201)
    hook = daemon.ask("POST", "/agents/clerk/subscriptions", {"source": "webhook", "name": "Door"}, status=201)
    daemon.ask("POST", "/agents/clerk/subscriptions", {"source": "files", "folder": folder, "active": False}, status=201)
    first = raw(daemon, "GET", "/agents/clerk/export")[1]
    inside = tarfile.open(fileobj=io.BytesIO(first)).extractfile("wakes.json").read().decode()
    for secret in (hook["token"], hook["id"], "clerk", "createdAt"):
        expect(secret not in inside, secret)
    made = json.loads(raw(daemon, "POST", "/agents/import", first)[1])
    expect_eq((made["id"], made["mode"], made["sessionTtlSeconds"], made["allowedCategoryIds"]),
              ("clerk-2", "autonomous", 600, []))
    expect(any(folder in text for text in made["warnings"]), made["warnings"])
    expect(any("no categories" in text for text in made["warnings"]), made["warnings"])
    expect_eq([one["name"] for one in made["webhooks"]], ["Door"])
    expect(made["webhooks"][0]["token"] != hook["token"], "a token was used twice")
    waits = daemon.ask("GET", "/agents/clerk-2/subscriptions")["items"]
    expect_eq([(one["source"], one["active"]) for one in waits],
              [("journal", True), ("webhook", True), ("files", False)])
    expect_eq([one["rrule"] for one in daemon.ask("GET", "/agents/clerk-2/timers")["items"]], ["FREQ=DAILY;BYHOUR=7"])
    expect_eq(raw(daemon, "GET", "/agents/clerk-2/export")[1], first)
    # Its door opens, and for it alone.
    expect_eq(raw(daemon, "POST", made["webhooks"][0]["url"].removeprefix("/api/v1"), b"{}", "application/json")[0].status, 202)
    calls = {one["agentId"]: one["calls"]["received"] for one in daemon.ask("GET", "/subscriptions")["items"] if "calls" in one}
    expect_eq(calls, {"clerk": 0, "clerk-2": 1})
    daemon.stop()


@test
def a_copy_has_what_wakes_the_first_switched_off(box):
    daemon = box.serve()
    daemon.ask("POST", "/agents", {"displayName": "Clerk", "template": "planner"}, status=201)
    copy = daemon.ask("POST", "/agents/clerk/duplicate", {}, status=201)
    expect(any("switched off" in text for text in copy["warnings"]), copy)
    waits = daemon.ask("GET", f"/agents/{copy['id']}/subscriptions")["items"]
    fires = daemon.ask("GET", f"/agents/{copy['id']}/timers")["items"]
    expect_eq([one["active"] for one in waits + fires], [False, False])
    expect_eq([one["active"] for one in daemon.ask("GET", "/agents/clerk/timers")["items"]], [True])
    shown = box.run("agent", "show", copy["id"])[0]
    expect_in("A task is done (taskStatus=DONE where task.status == \"DONE\"), switched off", shown)
    expect_in("Every day at 07:00, switched off", shown)
    expect_in("journal       nothing of it", shown)
    expect_in("Every day at 07:00 (next in ", box.run("timer", "enable", fires[0]["id"])[0])
    expect_in("A task is done", box.run("subscribe", "enable", waits[0]["id"])[0])
    expect_in("T07:00)", box.run("agent", "show", copy["id"])[0])
    expect_eq(box.json("subscribe", "disable", waits[0]["id"])["active"], False)
    expect_eq(box.json("timer", "disable", fires[0]["id"])["active"], False)
    shown = box.json("agent", "show", copy["id"])
    expect_eq(([one["active"] for one in shown["subscriptions"]], [one["active"] for one in shown["timers"]]), ([False], [False]))
    expect_eq(box.error("timer", "enable", "nope")["code"], "not_found")
    daemon.stop()


@test
def conversations_have_titles_and_can_be_put_away(box):
    daemon = box.serve()
    daemon.start("What is in\n this   folder?", session="one", cwd=box.work).end()
    daemon.start("hello there", session="two", cwd=box.work).end()
    threads = daemon.ask("GET", "/agents/planner/threads")["threads"]
    expect_eq([t["title"] for t in threads], ["hello there", "What is in this folder?"])
    expect(threads[0]["preview"] and not threads[0]["named"], threads)
    found = daemon.ask("GET", "/agents/planner/threads?query=FOLDER")["threads"]
    expect_eq([t["id"] for t in found], ["planner:session:one"])
    expect_eq(daemon.ask("GET", "/agents/planner/threads?query=100%25_")["threads"], [])
    renamed = daemon.ask("PATCH", "/agents/planner/threads/one", {"title": "  Folders <b>"})
    expect_eq((renamed["title"], renamed["named"]), ("Folders <b>", True))
    refused(daemon, "PATCH", "/agents/planner/threads/one", {"title": "x" * 201})
    refused(daemon, "PATCH", "/agents/planner/threads/one", {"title": "a\u202eb"})
    expect_eq(daemon.ask("PATCH", "/agents/planner/threads/one", {"title": ""})["title"], "What is in this folder?")
    daemon.ask("DELETE", "/agents/planner/threads/one", status=204)
    expect_eq(len(daemon.ask("GET", "/agents/planner/threads")["threads"]), 1)
    expect_in("deletedAt", json.dumps(daemon.ask("GET", "/agents/planner/threads/one")))
    daemon.ask("POST", "/agents/planner/threads/one/restore", {})
    expect_eq(len(daemon.ask("GET", "/agents/planner/threads")["threads"]), 2)
    # Speaking in one that was put away brings it back; it is the newest then.
    daemon.ask("DELETE", "/agents/planner/threads/one", status=204)
    daemon.start("hello again", session="one", cwd=box.work).end()
    threads = daemon.ask("GET", "/agents/planner/threads")["threads"]
    expect_eq([t["id"] for t in threads], ["planner:session:one", "planner:session:two"])
    page = daemon.ask("GET", "/agents/planner/threads?limit=1")
    rest = daemon.ask("GET", f"/agents/planner/threads?limit=1&before={page['before']}")["threads"]
    expect_eq(rest[0]["id"], "planner:session:two")
    # Another agent's conversation is not this one's.
    daemon.ask("POST", "/agents", {"displayName": "Other"}, status=201)
    refused(daemon, "GET", "/agents/other/threads/planner:session:one", status=404)
    refused(daemon, "DELETE", "/agents/other/threads/planner:session:one", status=404)
    daemon.stop()


@test
def a_conversation_with_a_run_under_way_is_not_put_away(box):
    box.script("""
  - expect: { user: go, results: 0 }
    reply: { calls: [{ name: bash, arguments: { command: "echo hi" } }] }
  - expect: { results: 1 }
    reply: { text: ok }
""")
    daemon = box.serve()
    stream = daemon.start("go", session="s", cwd=box.work)
    item = stream.until("waiting")["itemId"]
    expect_eq(refused(daemon, "DELETE", "/agents/planner/threads/s", status=409)["code"], "conflict")
    expect_eq(daemon.ask("GET", "/agents/planner/threads/s")["pending"], 1)
    daemon.decide(item)
    stream.end()
    daemon.ask("DELETE", "/agents/planner/threads/s", status=204)
    daemon.stop()


@test
def everything_said_and_written_is_found(box):
    daemon = box.serve()

    def search(q, more=""):
        from urllib.parse import quote
        return daemon.ask("GET", f"/search?q={quote(q)}{more}")["results"]

    daemon.start("hello, I saw the Z\u00fcrich zebra crossing", session="one", cwd=box.work).end()
    daemon.ask("POST", "/agents", {"displayName": "Zebra Keeper", "description": "Keeps."}, status=201)
    daemon.ask("PATCH", "/agents/planner/threads/one", {"title": "All about zebras"})
    found = search("zebra")
    expect_eq([hit["kind"] for hit in found][:3], ["agent", "thread", "message"])
    expect_eq((found[2]["threadId"], found[2]["title"]), ("planner:session:one", "All about zebras"))
    expect_in("zebra crossing", found[2]["snippet"])
    expect_eq([hit["kind"] for hit in search("zurich cross")], ["message"])
    expect_eq(search("zebra", "&agent=zebra-keeper")[0]["kind"], "agent")
    expect_eq(search("giraffe"), [])
    # The index's own language is text like any other.
    for text in ('"', "zebra OR giraffe", "zebra*", "NEAR(zebra crossing)", "body:zebra", "-zebra", "(", "^zebra",
                 "zebra AND NOT crossing", "' OR 1=1 --", "a" * 5000, "%", "\ud7ff"):
        search(text)
    expect_eq([hit for hit in search("zebra OR giraffe") if hit["kind"] == "message"], [])
    expect_eq([hit["kind"] for hit in search("the zebra crossing")], ["message"])
    expect_eq({hit["kind"] for hit in search("the")}, {"agent", "message"})
    refused(daemon, "GET", "/search?q=")
    refused(daemon, "GET", "/search?q=a&limit=0")
    refused(daemon, "GET", "/search?q=a&agent=nobody", status=404)
    # What was put away is not found, and what comes back is; files follow their last version.
    daemon.ask("DELETE", "/agents/planner/threads/one", status=204)
    expect_eq([hit["kind"] for hit in search("zebra")], ["agent"])
    daemon.ask("POST", "/agents/planner/threads/one/restore", {})
    expect_eq([hit["kind"] for hit in search("crossing")], ["message"])
    good = json.dumps({"format": "dormouse-agent", "version": 1, "displayName": "Guest"}).encode()
    raw(daemon, "POST", "/agents/import", pack([("agent.json", good), ("knowledge/owls.md", b"Owls see at night.")]))
    hit = search("owls night")[0]
    expect_eq((hit["kind"], hit["agentId"], hit["path"]), ("file", "guest", "knowledge/owls.md"))
    daemon.ask("DELETE", "/agents/guest?confirm=Guest", status=204)
    expect_eq(search("owls night"), [])
    # The wizard's conversations are found only when it is asked for.
    thread = daemon.ask("POST", "/wizard/threads", {}, status=201)["threadId"]
    talk(daemon, thread, "hello okapi")
    expect_eq(search("okapi"), [])
    expect_eq(len(search("okapi", "&agent=" + WIZARD)), 1)
    daemon.stop()
    # An index that is gone is made again.
    import glob
    import os
    for path in glob.glob(box.data + "/index*"):
        os.unlink(path)
    daemon = box.serve()
    expect_eq([hit["kind"] for hit in search("crossing")], ["message"])
    daemon.stop()


@test
def tools_and_templates_are_listed_for_people(box):
    daemon = box.serve()
    tools = {tool["name"]: tool for tool in daemon.ask("GET", "/tools")["tools"]}
    expect("propose_agent" not in tools and "enabled" not in tools["bash"], tools.keys())
    expect_eq((tools["bash"]["asks"], tools["read_file"]["asks"]), (True, False))
    for template in daemon.ask("GET", "/templates")["templates"]:
        expect(set(template["tools"]) <= set(tools), template)
        agent = daemon.ask("POST", "/agents", {"template": template["id"]}, status=201)
        expect_eq((agent["displayName"], agent["instructions"]), (template["name"], template["instructions"]))
    daemon.ask("PATCH", "/agents/strategist", {"tools": ["ask_user"]})
    daemon.ask("POST", "/kill", {"scope": "tools", "value": "shell"})
    listed = {tool["name"]: tool for tool in daemon.ask("GET", "/agents/strategist/tools")["tools"]}
    expect_eq((listed["ask_user"]["enabled"], listed["bash"]["enabled"]), (True, False))
    expect_eq((listed["ask_user"]["available"], listed["bash"]["available"]), (True, False))
    daemon.stop()


@test
def the_wizard_makes_an_agent_by_talking(box):
    daemon = box.serve()
    expect_eq(daemon.ask("GET", "/wizard/threads"), {"threads": []})
    begun = daemon.ask("POST", "/wizard/threads", {}, status=201)
    expect_eq(begun["agentId"], WIZARD)
    thread = begun["threadId"]
    expect_in("What should the agent do", talk(daemon, thread, "hello"))
    expect_in("Gym Coach", talk(daemon, thread, "Help me with my workouts and training"))
    expect_in("called", talk(daemon, thread, "yes"))
    expect_in("write_report", talk(daemon, thread, "call it Coach"))
    said = talk(daemon, thread, "without write_report and read_task")
    expect("`write_report`" not in said.split("these tools")[1], said)
    # It goes on after a restart.
    daemon.stop()
    daemon = box.serve()
    expect_in("terse", talk(daemon, thread, "yes"))
    waiting, stream = talk(daemon, thread, "friendly", end=False)
    expect_eq(waiting["kind"], "agent_proposal")
    expect_eq(ids(daemon), ["planner"])
    daemon.decide(waiting["itemId"], "reject", reason="another name")
    expect_in("What shall I change", stream.end()["result"])
    waiting, stream = talk(daemon, thread, "call it Trainer", end=False)
    expect_eq(waiting["title"], "Make the agent Trainer")
    daemon.decide(waiting["itemId"])
    expect_in("trainer", stream.end()["result"])
    result = [e for e in stream.whole() if e["type"] == "tool_result"][-1]
    expect_eq(result["output"]["agent_id"], "trainer")
    agent = daemon.ask("GET", "/agents/trainer")
    expect("write_report" not in agent["tools"] and "ask_user" in agent["tools"], agent)
    expect_in("Help me with my workouts", agent["instructions"])
    expect_eq(agent["instructions"].count("## When you are corrected"), 1)
    expect_eq(ids(daemon), ["planner", "trainer"])
    expect_eq(daemon.ask("GET", "/wizard/threads")["threads"][0]["title"], "hello")
    daemon.stop()


@test
def the_person_chooses_what_a_proposed_agent_reaches(box):
    daemon = box.serve()
    box.run("journal", "category", "add", "Sport")
    box.run("journal", "category", "add", "Money")
    sport = next(one["id"] for one in daemon.ask("GET", "/journal/categories")["items"] if one["name"] == "Sport")
    thread = daemon.ask("POST", "/wizard/threads", {}, status=201)["threadId"]
    for text in ("hello", "Help me with my workouts and training", "yes", "call it Coach"):
        talk(daemon, thread, text)
    expect_in("There are: Money, Sport", talk(daemon, thread, "yes"))
    expect_in("may reach: Sport", talk(daemon, thread, "sport"))
    waiting, stream = talk(daemon, thread, "terse", end=False)
    item = daemon.ask("GET", f"/inbox/{waiting['itemId']}")
    expect_eq(item["details"]["categories"], ["Sport"])
    expect_in("wakes: A workout is logged\n", daemon.facts(item["id"]))
    expect_in('reads in the journal: ["Sport"]\n', daemon.facts(item["id"]))
    # Sent back as the page does after an edit.
    daemon.decide(waiting["itemId"], "edit", input={**item["details"], "description": "Mine."})
    expect("⚠️" not in stream.end()["result"], "a warning that is not due")
    agent = daemon.ask("GET", "/agents/coach")
    expect_eq((agent["allowedCategoryIds"], agent["description"]), ([sport], "Mine."))
    expect_eq([one["name"] for one in daemon.ask("GET", "/agents/coach/subscriptions")["items"]], ["A workout is logged"])
    # Without any the person is told, in the proposal and when it is made.
    talk(daemon, thread, "Another one for my workouts and training")
    for text in ("yes", "call it Second", "yes", "none"):
        talk(daemon, thread, text)
    waiting, stream = talk(daemon, thread, "terse", end=False)
    expect_in("Second has no categories yet", daemon.facts(waiting["itemId"]))
    daemon.decide(waiting["itemId"])
    expect_in("dormouse agent set second --categories", stream.end()["result"])
    expect_eq(daemon.ask("GET", "/agents/second")["allowedCategoryIds"], [])
    made = [one for one in daemon.ask("GET", "/agents/second/links")["items"] if one["relation"] == "agent_parent"]
    expect_eq([one["to"] for one in made], [WIZARD])
    daemon.stop()


@test
def what_a_person_edits_is_what_is_made(box):
    daemon = box.serve()
    thread = daemon.ask("POST", "/wizard/threads", {}, status=201)["threadId"]
    for text in ("hi", "Sort stamps", "none", "Stamps", "yes"):
        talk(daemon, thread, text)
    waiting, stream = talk(daemon, thread, "terse", end=False)
    form = {"displayName": "Joe", "description": "d", "instructions": "i", "tools": ["ask_user"]}
    error = refused(daemon, "POST", f"/inbox/{waiting['itemId']}/decision",
                    {"decision": "approve", "scope": "always"})
    expect_in("each time", error["message"])
    daemon.decide(waiting["itemId"], "edit", input=form)
    expect_in("joe", stream.end()["result"])
    agent = daemon.ask("GET", "/agents/joe")
    expect_eq((agent["displayName"], agent["instructions"], agent["tools"]), ("Joe", "i", ["ask_user"]))
    daemon.stop()


@test
def only_the_wizard_has_the_wizards_tools(box):
    box.script("""
  - expect: { user: go, results: 0 }
    reply: { calls: [{ name: propose_agent, arguments: { displayName: X, description: d, instructions: i, tools: [] } }] }
  - expect: { results: 1 }
    reply: { text: "${result}" }
""")
    daemon = box.serve()
    stream = daemon.start("go", cwd=box.work)
    stream.end()
    result = [e for e in stream.whole() if e["type"] == "tool_result"][0]
    expect_eq(result["error"]["code"], "capability_denied")
    expect_eq(ids(daemon), ["planner"])
    daemon.stop()


def keyed(daemon, key, body, path="/agents", kind="application/json"):
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=WAIT_S)
    connection.request("POST", "/api/v1" + path, body=body if isinstance(body, bytes) else json.dumps(body),
                       headers={"Authorization": f"Bearer {daemon.token()}", "Content-Type": kind,
                                "Idempotency-Key": key})
    answer = connection.getresponse()
    data = json.loads(answer.read())
    connection.close()
    return answer.status, data


@test
def a_request_that_is_sent_again_makes_one_agent(box):
    daemon = box.serve()
    first = keyed(daemon, "k1", {"displayName": "Twin"})
    expect_eq((first[0], first[1]["id"]), (201, "twin"))
    expect_eq(keyed(daemon, "k1", {"displayName": "Twin"}), first)
    status, answer = keyed(daemon, "k1", {"displayName": "Other"})
    expect_eq((status, answer["error"]["code"]), (409, "conflict"))
    expect_in("new key", answer["error"]["message"])
    for key in ("", "x" * 201):
        expect_eq(keyed(daemon, key, {"displayName": "Other"})[0], 400)
    copy = keyed(daemon, "k2", {}, "/agents/twin/duplicate")
    expect_eq(keyed(daemon, "k2", {}, "/agents/twin/duplicate"), copy)
    archive = raw(daemon, "GET", "/agents/twin/export")[1]
    brought = keyed(daemon, "k3", archive, "/agents/import", "application/gzip")
    expect_eq(keyed(daemon, "k3", archive, "/agents/import", "application/gzip"), brought)
    expect_eq(ids(daemon), ["planner", "twin", "twin-2", "twin-copy"])
    # Also when the daemon died after it was made, and from several at once.
    daemon.kill()
    daemon = box.serve()
    expect_eq(keyed(daemon, "k1", {"displayName": "Twin"})[1]["id"], "twin")
    made = []
    threads = [threading.Thread(target=lambda: made.append(keyed(daemon, "k4", {"displayName": "Race"})))
               for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect_eq({(status, agent["id"]) for status, agent in made}, {(201, "race")})
    daemon.stop()


@test
def an_import_says_what_could_not_be_taken_over(box):
    daemon = box.serve()
    settings = {"format": "dormouse-agent", "version": 1, "displayName": "Guest", "model": "far-away",
                "tools": ["bash", "teleport", "propose_agent"]}
    answer, text = raw(daemon, "POST", "/agents/import", pack([("agent.json", json.dumps(settings).encode())]))
    agent = json.loads(text)
    expect_eq((answer.status, agent["tools"], agent.get("model")), (201, ["bash"], None))
    expect_eq(len(agent["warnings"]), 2)
    expect_in("far-away", agent["warnings"][0])
    expect_in("teleport, propose_agent", agent["warnings"][1])
    expect("warnings" not in daemon.ask("GET", "/agents/guest"), "warnings are of the import only")
    box.write("work/guest.tar.gz", "")
    with open(box.work + "/guest.tar.gz", "wb") as file:
        file.write(pack([("agent.json", json.dumps(settings).encode())]))
    out, err = box.run("agent", "import", "guest.tar.gz")
    expect_in("made guest-2 (Guest)", out)
    expect_in("warning: There is no model \"far-away\"", err)
    daemon.stop()


@test
def conversations_are_listed_shown_named_removed_and_found_at_the_terminal(box):
    daemon = box.serve()
    daemon.start("hello, I saw a zebra", session="one", cwd=box.work).end()
    daemon.start("the second thing", session="two", cwd=box.work).end()
    listed = box.run("threads", "list")[0]
    expect_in("planner:session:one", listed)
    expect_in("hello, I saw a zebra", listed)
    expect_eq({json.loads(line)["id"] for line in box.run("threads", "list", "--json")[0].splitlines()},
              {"planner:session:one", "planner:session:two"})
    shown = box.run("threads", "show", "planner:session:one")[0]
    expect_in("> hello, I saw a zebra", shown)
    messages = [json.loads(line) for line in box.run("threads", "show", "one", "--agent", "planner",
                                                     "--json")[0].splitlines()]
    expect_eq(messages[0]["content"]["text"], "hello, I saw a zebra")
    expect_eq([m["n"] for m in messages], sorted(m["n"] for m in messages))
    expect_in("does not say whose", box.error("threads", "show", "one")["message"])
    expect_eq(box.error("threads", "show", "planner:session:none")["code"], "not_found")
    expect_in("renamed to Stripes", box.run("threads", "rename", "planner:session:one", "Stripes")[0])
    expect_in("Stripes", box.run("threads", "list", "--query", "strip")[0])
    expect("planner:session:two" not in box.run("threads", "list", "--query", "strip")[0], "not asked for")
    found = box.run("search", "saw", "zeb")[0]
    expect_in("planner:session:one", found)
    expect_in("I saw a zebra", found)
    expect_eq(json.loads(box.run("search", "stripes", "--json")[0])["kind"], "thread")
    box.run("threads", "rm", "planner:session:one")
    expect_in("nothing found", box.run("search", "zebra")[0])
    expect("planner:session:one" not in box.run("threads", "list")[0], "it was removed")
    expect_in("restored Stripes", box.run("threads", "restore", "planner:session:one")[0])
    expect_in("zebra", box.run("search", "zebra", "--agent", "planner", "--limit", "1")[0])
    expect_eq(box.error("search", "x", "--limit", "0", code=2)["code"], "bad_request")
    # Nothing of what others wrote reaches the terminal as a command to it.
    daemon.start("\x1b[2Jclear", session="esc", cwd=box.work).end()
    expect("\x1b" not in box.run("threads", "show", "planner:session:esc")[0], "an escape came through")
    daemon.stop()


@test
def the_wizard_is_there_from_the_first_start(box):
    out, _ = box.run("chat", WIZARD, stdin="hello\n")
    expect_in("What should the agent do for you?", out)


@test
def the_command_line_does_all_of_it(box):
    box.write("work/persona.md", "Be brief.\n")
    made = box.json("agent", "create", "Ada", "--instructions", "persona.md", "--tools", "bash,ask_user")
    expect_eq((made["id"], made["instructions"], made["tools"]), ("ada", "Be brief.\n", ["bash", "ask_user"]))
    expect_in("changed ada (Ada L.)", box.run("agent", "set", "ada", "--name", "Ada L.", "--tools", "none")[0])
    expect_eq(box.json("agent", "show", "ada")["tools"], [])
    box.run("agent", "set", "ada", code=2)
    expect_in("made ada-l-copy", box.run("agent", "duplicate", "ada")[0])
    expect_in("ada.tar.gz", box.run("agent", "export", "ada", "ada.tar.gz")[0])
    expect_eq(box.error("agent", "export", "ada", "ada.tar.gz")["code"], "conflict")
    expect_in("made ada-l (Ada L.)", box.run("agent", "import", "ada.tar.gz")[0])
    box.run("agent", "destroy", "ada", code=1)
    box.run("agent", "destroy", "ada", "--confirm", "Ada L.")
    expect("gone" not in box.run("agent", "list")[0], "it is listed")
    expect_in("gone", box.run("agent", "list", "--all")[0])


main()

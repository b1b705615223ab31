#!/usr/bin/env python3
"""Runs that nobody started by hand, seen through every door: the feed of the page, the events of the
run, its thread, the trace and the terminal."""
import json
import os
import sqlite3

from harness import Stream, WebSocket, eventually, expect, expect_eq, expect_in, main, test


def wakes(box, *words):
    return [json.loads(line) for line in box.run("wakes", "--json", *words)[0].splitlines()]


def ended(box, count=1):
    def all_ended():
        found = wakes(box)
        return found if len(found) == count and all("endedAt" in one for one in found) else None

    return eventually(all_ended, f"{count} wakes have ended")


def until_run(stream, kind):
    while True:
        event = stream.until("run")
        if event["kind"] == kind:
            return event


@test
def the_feed_tells_of_wakes_reports_and_the_journal(box):
    daemon = box.serve()
    box.run("agent", "create", "--template", "strategist", "--categories", "all")
    stream = Stream(daemon, "GET", "/api/v1/activity")
    box.run("journal", "note", "add", "slept well")
    stream.until("journal")
    box.run("wake", "strategist")
    stream.until("wake")
    begun = until_run(stream, "init")
    expect_eq(begun["agentId"], "strategist")
    stream.until("report")
    expect_eq(until_run(stream, "done")["runId"], begun["runId"])
    box.run("subscribe", "strategist", "--key", "NOTE")
    expect_eq(stream.until("subscription")["agentId"], "strategist")
    daemon.stop()


@test
def the_feed_is_the_same_over_a_websocket(box):
    daemon = box.serve()
    path = "/api/v1/activity/ws"
    stream, socket = Stream(daemon, "GET", "/api/v1/activity"), WebSocket(daemon, path)
    stream.until("hello")
    hello = socket.hear()
    daemon.document().event(hello)
    expect_eq((hello["type"], hello["reset"]), ("hello", False))
    box.run("kill", "--all")
    told = socket.hear()
    expect_eq((told["type"], told["id"]), ("kill", hello["id"] + 1))
    expect_eq(told, stream.until("kill"))
    expect(f"id: {told['id']}\n".encode() in stream.lines, stream.lines)
    for after, reset in ((told["id"], False), (hello["id"], True)):
        expect_eq(WebSocket(daemon, f"{path}?after={after}").hear(), {"type": "hello", "id": told["id"], "reset": reset})
    daemon.ask("GET", "/activity/ws?after=x", status=400)
    socket.say("anybody there?")
    expect_eq(socket.hear(), None)  # nothing is read here
    daemon.stop()


@test
def a_run_of_a_wake_is_read_like_any_other(box):
    daemon = box.serve()
    box.run("agent", "create", "--template", "strategist", "--categories", "all")
    box.run("wake", "strategist")
    wake, = ended(box)
    expect_eq(wake["status"], "completed")
    events = daemon.follow(wake["runId"])
    expect_eq(events.until("init")["agentId"], "strategist")
    events.end()
    expect_eq({event["threadId"] for event in events.seen}, {wake["threadId"]})
    expect_eq(wake["threadId"], f"strategist:run:{wake['runKey']}")
    out, _ = box.run("trace", wake["runId"])
    expect_in("write_report", out)
    out, _ = box.run("threads", "show", wake["threadId"])
    expect_in("A person woke you.", out)
    box.run("threads", "rename", wake["threadId"], "A look around")
    expect_in("A look around", box.run("threads", "list")[0])
    daemon.stop()


@test
def whose_a_conversation_is_must_be_said(box):
    daemon = box.serve()
    for words in (["abc"], ["session:abc"], [":run:abc"], ["run:abc"]):
        _, err = box.run("threads", "show", *words, code=1)
        expect_in("does not say whose conversation it is", err)
    _, err = box.run("threads", "show", "planner:run:abc", code=1)
    expect("does not say" not in err, err)
    daemon.stop()


@test
def a_person_lets_an_agent_sleep_and_sees_its_state(box):
    daemon = box.serve()
    box.run("agent", "create", "Listener", "--tools", "none", "--categories", "all", "--mode", "autonomous")
    box.run("subscribe", "listener", "--key", "NOTE")
    out, _ = box.run("agent", "sleep", "listener", "2h")
    expect_eq(out, "listener sleeps; it ends in 2 h\n")
    expect_in("sleeps until  in 2 h", box.run("agent", "show", "listener")[0])
    box.run("journal", "note", "add", "quiet, please")

    def skipped():
        return [one for one in wakes(box) if one["status"] == "skipped_sleeping"]

    wake, = eventually(skipped, "it sleeps on")
    expect_in("sleep", wake["why"])
    end, = [one for one in wakes(box) if one["status"] == "queued"]  # one wake covers what it missed
    expect_eq(end["reason"], "recoveryCatchup")
    expect_eq(end["notBefore"], daemon.ask("GET", "/agents/listener/state")["sleepUntil"])
    expect_eq((end["held"], end["why"]), ("sleep", "the agent sleeps until then"))
    expect_eq(box.run("agent", "sleep", "listener", "none")[0], "listener does not sleep\n")
    expect("sleepUntil" not in daemon.ask("GET", "/agents/listener/state"), "it sleeps")
    caught, = ended(box, 2)[:1]  # what it missed it hears of now, and not in two hours
    expect_eq((caught["reason"], caught["reasonId"], caught["status"]), ("recoveryCatchup", "sleep", "completed"))
    for words, part, code in (("x y z", "neither how long nor a moment", 2),
                              ("2020-01-01T00:00:00Z", "lies in the past", 1)):
        expect_in(part, box.run("agent", "sleep", "listener", words, code=code)[1])
    daemon.stop()


@test
def slots_are_set_checked_and_survive(box):
    daemon = box.serve()
    path = "/agents/planner/state"
    expect_eq(daemon.ask("GET", path)["consecutiveFailureCount"], 0)
    wanted = {"primaryGoal": "A calm week", "activeTaskId": "t-1", "openLoopIds": ["a", "b"],
              "preferenceByKey": {"tone": "terse"}}
    state = daemon.ask("PATCH", path, wanted)
    expect_eq({key: state[key] for key in wanted}, wanted)
    daemon.kill()
    daemon = box.serve()
    expect_eq({key: daemon.ask("GET", path)[key] for key in wanted}, wanted)
    expect_in("goal          A calm week", box.run("agent", "show", "planner")[0])
    state = daemon.ask("PATCH", path, {"primaryGoal": None, "openLoopIds": None, "preferenceByKey": None})
    expect_eq((state.get("primaryGoal"), state["activeTaskId"], state["openLoopIds"], state["preferenceByKey"]),
              (None, "t-1", [], {}))
    for body, status in (({"primaryGoal": 7}, 422), ({"primaryGoal": "x" * 2001}, 413), ({"openLoopIds": "a"}, 400),
                         ({"openLoopIds": [1]}, 400), ({"preferenceByKey": {"a": 1}}, 400), ({"lastWakeAt": "x"}, 422),
                         ({"sleepUntil": "soon"}, 422), ({"sleepUntil": 5}, 422), ({"extension": {}}, 422)):
        daemon.ask("PATCH", path, body, status=status)
    expect_eq(daemon.ask("GET", path), state)
    daemon.ask("GET", "/agents/nobody/state", status=404)
    daemon.stop()


@test
def a_daemon_takes_over_from_a_keeper_that_is_done(box):
    box.run("journal", "note", "add", "without a daemon")  # its keeper lingers
    daemon = box.serve()
    expect_in("without a daemon", box.run("journal", "note", "list")[0])
    _, err = box.run("serve", "--listen", "127.0.0.1:0", code=1)  # a daemon is not waited for
    expect_in(f"another dormouse (process {daemon.pid})", err)
    daemon.stop()


@test
def doctor_knows_of_wakes_and_timers(box):
    def lines(name):
        checks = box.json("doctor", env={"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"})["checks"]
        return [line for line in checks if line["name"] == name]

    daemon = box.serve().bare()
    box.run("timer", "add", "--every", "2h")
    expect_eq([line["message"] for line in lines("wakes")], ["0 queued, 0 under way, nothing waits for you"])
    expect_eq([line["message"] for line in lines("timers")], ["1, the next in 2 h"])
    daemon.stop()
    db = sqlite3.connect(os.path.join(box.data, "agent.sqlite"))
    with db:
        db.execute("INSERT INTO wake_queue (run_key, agent_n, reason, thread_id, created_at)"
                   " VALUES ('key7', 1, 'manual', 'planner:run:key7', 1000)")
        db.execute("INSERT INTO dead_letters (source, ref, error_code, error_message, created_at)"
                   " VALUES ('journal', '7', 'integrity_failed', 'units: no JSON', 1000)")
    db.close()
    _, late = lines("wakes")
    expect_eq((late["status"], late["fix"]), ("warn", "dormouse serve"))
    expect_in("one has been due since", late["message"])
    changes, = lines("changes")
    expect_eq(changes["message"], "1 could not be read and woke nobody; the last: units: no JSON")
    expect_eq(changes["fix"], "dormouse wakes")
    expect_in("Nobody was woken by the change 7, 1 time, last ", box.run("wakes")[0])
    skip = box.json("wakes", "--reason", "unreadable")
    expect_eq((skip["reason"], skip["skip"], skip["count"]), ("change", "unreadable", 1))
    expect_eq(skip["why"], "it could not be judged for anybody; the last: units: no JSON")


main()

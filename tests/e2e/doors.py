#!/usr/bin/env python3
"""Runs that nobody started by hand, seen through every door: the feed of the page, the events of the
run, its thread, the trace and the terminal."""
import json
import os
import sqlite3

from harness import Stream, eventually, expect, expect_eq, expect_in, main, test


def wakes(box, *words):
    return [json.loads(line) for line in box.run("wakes", "--json", *words)[0].splitlines()]


def ended(box, count=1):
    def all_ended():
        found = wakes(box)
        return found if len(found) == count and all("endedAt" in one for one in found) else None

    return eventually(all_ended, f"{count} wakes have ended")


def until_wake(stream, kind):
    while True:
        event = stream.until("wake")
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
    begun = until_wake(stream, "init")
    expect_eq(begun["agentId"], "strategist")
    stream.until("report")
    expect_eq(until_wake(stream, "done")["runId"], begun["runId"])
    box.run("subscribe", "strategist", "--key", "NOTE")
    expect_eq(stream.until("subscription")["agentId"], "strategist")
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
        return [line for line in box.json("doctor")["checks"] if line["name"] == name]

    daemon = box.serve()
    box.run("timer", "add", "--every", "2h")
    expect_eq([line["message"] for line in lines("wakes")], ["0 queued, 0 under way, 0 waiting for you"])
    expect_eq([line["message"] for line in lines("timers")], ["1, the next in 2 h"])
    daemon.stop()
    db = sqlite3.connect(os.path.join(box.data, "agent.sqlite"))
    with db:
        db.execute("INSERT INTO wake_queue (run_key, agent_n, reason, thread_id, created_at)"
                   " VALUES ('k', 1, 'manual', 'planner:run:k', 1000)")
        db.execute("INSERT INTO dead_letters (source, ref, error_code, error_message, created_at)"
                   " VALUES ('journal', '7', 'integrity_failed', 'units: no JSON', 1000)")
    db.close()
    _, late = lines("wakes")
    expect_eq((late["status"], late["fix"]), ("warn", "dormouse serve"))
    expect_in("one has been due since", late["message"])
    changes, = lines("changes")
    expect_eq(changes["message"], "1 could not be read and woke nobody; the last: units: no JSON")


main()

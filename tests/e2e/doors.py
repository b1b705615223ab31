#!/usr/bin/env python3
"""Runs that nobody started by hand, seen through every door: the feed of the page, the events of the
run, its thread, the trace and the terminal."""
import json

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


main()

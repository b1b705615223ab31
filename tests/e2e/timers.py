#!/usr/bin/env python3
"""Timers at the terminal and over REST; every example of docs/timers.md."""
import datetime
import os
import shlex
import sqlite3
import time

from harness import ROOT, eventually, expect, expect_eq, expect_in, main, test


def examples():
    """(command, lines that it prints) of the document, which are indented by four spaces."""
    found = []
    with open(os.path.join(ROOT, "docs", "timers.md")) as file:
        for line in file:
            if line.startswith("    $ "):
                found.append((line[6:].strip(), []))
            elif line.startswith("    ") and found:
                found[-1][1].append(line[4:].rstrip("\n"))
    return found


@test
def the_document_shows_what_is_printed(box):
    shown = examples()
    expect(len(shown) >= 7, "examples in docs/timers.md")
    for command, want in shown:
        words = shlex.split(command)
        expect_eq(words[0], "dormouse")
        fails = want[0].startswith("dormouse:")
        out, err = box.run(*words[1:], code=1 if fails else 0)
        expect_eq((err if fails else out).splitlines(), want)


@test
def next_needs_no_data(box):
    box.run("timer", "next", "FREQ=DAILY", "--zone", "Asia/Tokyo")
    expect(not os.path.exists(box.data), "nothing is made")


@test
def bad_words_are_refused(box):
    for words, part in ((["FREQ=SECONDLY"], "FREQ:"), (["FREQ=DAILY", "--zone", "Mars/Base"], "Mars/Base"),
                        (["FREQ=DAILY", "--from", "soon"], "from:"), (["FREQ=DAILY", "--start", "noon"], "start:"),
                        (["FREQ=DAILY;COUNT=2;UNTIL=20300101"], "COUNT:"),
                        (["FREQ=DAILY;UNTIL=20300101T000000Z"], "UNTIL:"), (["A" * 600], "longer than")):
        expect_in(part, box.run("timer", "next", *words, code=1)[1])
    for count in ("0", "1001", "x"):
        expect_in("--count takes a number", box.run("timer", "next", "FREQ=DAILY", "--count", count, code=2)[1])
    expect_in('"bad_request"', box.run("timer", "next", "FREQ=X", "--json", code=1)[0])


@test
def a_timer_is_made_listed_changed_and_removed(box):
    daemon = box.serve().bare()
    made = daemon.ask("POST", "/agents/planner/timers",
                      {"rrule": "FREQ=DAILY;BYHOUR=7", "zone": "Europe/Berlin", "name": "Morning",
                       "prompt": "Plan my day."}, status=201)
    expect_eq((made["kind"], made["missed"], made["missedCap"], made["active"]), ("rrule", "once", 10, True))
    expect_eq(made["nextLocal"][10:], "T07:00:00")
    expect_eq(made["skips"], [])
    out = box.run("timer", "add", "--every", "90m", "--agent", "planner", "--missed", "skip")[0]
    expect_in("of planner; it fires in", out)
    box.run("timer", "add", "--at", "2099-01-01T00:00", "--name", "Century")
    listed = box.run("timer", "list")[0]
    for part in ("FREQ=DAILY;BYHOUR=7", "every 90 min", "at 2099-01-01T00:00:00", "Morning", "Century"):
        expect_in(part, listed)
    expect_eq(len(daemon.ask("GET", "/agents/planner/timers")["items"]), 3)
    changed = daemon.ask("PATCH", f"/timers/{made['id']}", {"rrule": "FREQ=DAILY;BYHOUR=9", "prompt": "Later."})
    expect_eq((changed["nextLocal"][10:], changed["prompt"], changed["name"]), ("T09:00:00", "Later.", "Morning"))
    same = daemon.ask("PATCH", f"/timers/{made['id']}", {"name": "Nine"})
    expect_eq((same["nextRunAt"], same["name"]), (changed["nextRunAt"], "Nine"))
    off = daemon.ask("PATCH", f"/timers/{made['id']}", {"active": False})
    expect_eq(off["active"], False)
    moved = daemon.ask("PATCH", f"/timers/{made['id']}",
                       {"rrule": None, "start": None, "zone": None, "intervalSeconds": 3600, "active": True})
    expect_eq((moved["kind"], moved["intervalSeconds"], "rrule" in moved), ("interval", 3600, False))
    box.run("timer", "rm", made["id"][:13])
    daemon.ask("GET", f"/timers/{made['id']}", status=404)
    expect_eq(len(daemon.ask("GET", "/timers?agent=planner")["items"]), 2)
    daemon.stop()
    daemon = box.serve()
    expect_eq(len(daemon.ask("GET", "/timers")["items"]), 2)
    daemon.stop()


@test
def what_is_no_timer_is_refused_by_name(box):
    daemon = box.serve().bare()
    for body, part in (({}, "rrule"), ({"rrule": "FREQ=X"}, "FREQ"), ({"rrule": "FREQ=DAILY", "zone": "X/Y"}, "zone"),
                       ({"start": "2001-01-01T00:00"}, "past"), ({"intervalSeconds": 5}, "intervalSeconds"),
                       ({"rrule": "FREQ=DAILY", "intervalSeconds": 600}, "intervalSeconds"),
                       ({"intervalSeconds": 600, "start": "2099-01-01T00:00"}, "start"),
                       ({"rrule": "FREQ=DAILY", "missed": "never"}, "missed"),
                       ({"rrule": "FREQ=DAILY", "missedCap": 101}, "missedCap"),
                       ({"rrule": "FREQ=DAILY;UNTIL=20010101", "start": "2000-01-01T00:00"}, "after now"),
                       ({"rrule": "FREQ=DAILY", "name": "x" * 81}, "name"),
                       ({"rrule": "FREQ=DAILY", "start": "x" * 50}, "start"),
                       ({"rrule": "FREQ=DAILY", "kind": "once"}, "rrule"), ({"kind": "often"}, "kind"),
                       ({"rrule": 7}, "rrule"), ({"colour": "red"}, "colour")):
        for status in (400, 422):
            try:
                answer = daemon.ask("POST", "/agents/planner/timers", body, status=status)
                break
            except AssertionError:
                if status == 422:
                    raise
        expect_in(part, answer["error"]["message"])
    daemon.ask("POST", "/agents/nobody/timers", {"rrule": "FREQ=DAILY"}, status=404)
    expect_eq(daemon.ask("GET", "/timers")["items"], [])
    expect_in("one of these", box.run("timer", "add", code=1)[1])
    expect_in("one of these", box.run("timer", "add", "FREQ=DAILY", "--every", "2h", code=1)[1])
    expect_in("--every", box.run("timer", "add", "--every", "often", code=1)[1])
    expect_in("there is no timer", box.run("timer", "rm", "nothere", code=1)[1])
    # At the terminal by what was typed.
    for words, part in ((("FREQ=X",), "the rule: FREQ"), (("FREQ=DAILY", "--zone", "X/Y"), "--zone: "),
                        (("--at", "soon"), "--at: "), (("FREQ=DAILY", "--start", "soon"), "--start: "),
                        (("--every", "5s"), "--every: is from 1m to 3660d"),
                        (("FREQ=DAILY", "--missed", "all", "--cap", "101"), "--cap: "),
                        (("FREQ=DAILY", "--missed", "all", "--cap", "0"), "--cap: "),
                        (("FREQ=DAILY", "--cap", "5"), "--missed all")):
        expect_in(part, box.run("timer", "add", *words, code=1)[1])
    expect_eq(daemon.ask("GET", "/timers")["items"], [])
    daemon.stop()


def wakes(box):
    """(reason, scheduledAt in s, status) of all wakes, taken or not."""
    db = sqlite3.connect(f"file:{box.data}/agent.sqlite?mode=ro", uri=True)
    try:
        return db.execute("SELECT reason, scheduled_at / 1000, 'queued' FROM wake_queue"
                          " UNION ALL SELECT reason, scheduled_at / 1000, status FROM wake_runs").fetchall()
    finally:
        db.close()


@test
def a_timer_fires_while_the_daemon_runs_and_after_it_was_off(box):
    daemon = box.serve()
    at = int(time.time()) + 4
    local = datetime.datetime.fromtimestamp(at, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    made = daemon.ask("POST", "/agents/planner/timers",
                      {"start": local, "zone": "UTC", "prompt": "what is the time"}, status=201)
    fired = eventually(lambda: wakes(box), "a wake of the timer")
    expect_eq([w[:2] for w in fired], [("timer", at)])
    ended = daemon.ask("GET", f"/timers/{made['id']}")
    expect("nextRunAt" not in ended, "it has ended")
    eventually(lambda: wakes(box)[0][2] == "completed", "the run of the wake")
    off = daemon.ask("POST", "/agents/planner/timers",
                     {"rrule": "FREQ=DAILY;BYHOUR=7", "start": "2020-01-01T00:00", "zone": "UTC"}, status=201)
    daemon.stop()
    db = sqlite3.connect(f"{box.data}/agent.sqlite")  # as if it had been off for long
    db.execute("UPDATE agent_timers SET next_local = '2020-03-01T07:00:00', next_run_at = 1583046000000"
               " WHERE id = ?", (off["id"],))
    db.commit()
    db.close()
    daemon = box.serve()
    eventually(lambda: len(wakes(box)) == 2, "one catch-up")
    expect_eq([w[0] for w in wakes(box)].count("recoveryCatchup"), 1)
    skips = daemon.ask("GET", f"/timers/{off['id']}")["skips"]
    expect_eq((len(skips), skips[0]["why"], skips[0]["first"]), (1, "missed", "2020-03-01T07:00:00.000Z"))
    expect(skips[0]["count"] > 2000, "every day that was missed is counted")
    daemon.stop()
    daemon = box.serve()
    expect_eq(len(wakes(box)), 2)
    daemon.stop()


@test
def rest_previews_what_the_terminal_shows(box):
    daemon = box.serve()
    ask = {"rrule": "FREQ=DAILY;BYHOUR=2;BYMINUTE=30", "zone": "Europe/Berlin", "from": "2026-03-28", "count": 3}
    got = daemon.ask("POST", "/timers/preview", ask)["occurrences"]
    expect_eq([o["time"] for o in got],
              ["2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"])
    expect_eq([o.get("clocks") for o in got], [None, "gap", None])
    expect_eq(got[1]["at"], "2026-03-29T01:00:00.000Z")
    daemon.ask("POST", "/timers/preview", {"rrule": "FREQ=DAILY", "count": 1001}, status=400)
    daemon.stop()


@test
def the_terminal_answers_quickly(box):
    began = time.monotonic()
    box.run("timer", "next", "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30", "--zone", "UTC", code=1)
    expect(time.monotonic() - began < 10, "a rule that never occurs is refused at once")


main()

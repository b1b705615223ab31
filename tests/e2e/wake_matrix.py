#!/usr/bin/env python3
"""kill -9 between any two commits and around every effect, from a line in the journal to run end.

A process with the real loop and stores (tests/harness/wake_main.c) dies right before and right after
each of its commits, of the journal's file and of the agents', and right before and right after each
line that the tool writes. That includes the time between a write and its reading (the debounce is
open). Started again, and again when it is killed a second time at its next commit, everything must
have come to its end: one terminal row for each batch and subscription, none of them twice, every run
the run of one wake, one line for each run, and nothing left in the queue.
"""
import hashlib
import os
import sqlite3
import sys
import tempfile

from matrix import Broken, run, sweep

WORKOUTS = 3
SUBSCRIPTIONS = 2
TERMINAL = {"completed", "coalesced", "skipped_noop"}
# How many ticks share a commit, and how many wakes share a run, depends on the machine: a process may
# end before it comes to its number. So many commits and lines there are in any case.
COMMITS = 8
ACTS = 1


def ask(folder, name, sql):
    with sqlite3.connect(os.path.join(folder, f"{name}.sqlite")) as db:
        return db.execute(sql).fetchall()


def expect(what, found, wanted):
    if found != wanted:
        raise Broken(f"{what}: {found}, expected {wanted}")


def wanted_keys(folder):
    batches = [row[0] for row in ask(folder, "journal", "SELECT logical_change_key FROM change_batches")]
    subscriptions = [row[0] for row in ask(folder, "agent", "SELECT id FROM agent_subscriptions")]
    expect("batches", len(set(batches)), WORKOUTS)
    expect("subscriptions", len(subscriptions), SUBSCRIPTIONS)
    return {hashlib.sha256(f"run|v1|subscription|coach|{s}|{b}".encode()).hexdigest()
            for s in subscriptions for b in batches}


def check(folder, _last):
    wakes = ask(folder, "agent", "SELECT run_key, status, run_n, ended_at FROM wake_runs")
    runs = ask(folder, "agent", "SELECT run_key, wake_key, status FROM runs")
    keys = wanted_keys(folder)
    expect("queued", ask(folder, "agent", "SELECT count(*) FROM wake_queue"), [(0,)])
    expect("keys of wakes", sorted(row[0] for row in wakes), sorted(keys))
    for key, status, _run, ended in wakes:
        if status not in TERMINAL or not ended:
            raise Broken(f"wake {key[:12]} is {status}")
    expect("flights", ask(folder, "agent", "SELECT count(*) FROM wake_runs WHERE flying = 1"), [(0,)])
    expect("runs of wakes", sorted(row[0] for row in runs),
           sorted(row[0] for row in wakes if row[1] == "completed"))
    for key, wake, status in runs:
        if key != wake or status != "done":
            raise Broken(f"run {key[:12]} of {wake} is {status}")
    with open(os.path.join(folder, "effects"), encoding="utf-8") as file:
        effects = file.read().split()
    expect("effects", len(effects), len(runs))
    expect("each once", len(set(effects)), len(effects))
    if not runs or len(runs) > WORKOUTS:
        raise Broken(f"{len(runs)} runs")


def places(binary):
    """Where it is killed: what an undisturbed process went through."""
    with tempfile.TemporaryDirectory() as folder:
        last = run(binary, folder)
        check(folder, last)
    return [(place, at) for place, number in (("before", last["commits"]), ("after", last["commits"]),
                                              ("start", last["lines"]), ("effect", last["lines"]))
            for at in range(1, number + 1)]


def main():
    binary = sys.argv[1]
    passed, failed, spared = sweep(binary, places(binary), check, lambda _folder: 1)
    for place, at in spared:
        if at <= (COMMITS if place in ("before", "after") else ACTS):
            failed += 1
            print(f"FAILED  {place} {at}: it was not killed")
    print(f"wake matrix: {passed} of {passed + failed}, {len(spared)} places were not come to")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

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
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

WAIT_S = 120
WORKOUTS = 3
SUBSCRIPTIONS = 2
TERMINAL = {"completed", "coalesced", "skipped_noop"}


class Broken(Exception):
    pass


def run(binary, folder, place=None, at=None):
    """What it printed, or None when it died as it was told."""
    words = [binary, folder] + ([place, str(at)] if place else [])
    done = subprocess.run(words, capture_output=True, text=True, timeout=WAIT_S)
    if done.returncode == -signal.SIGKILL and place:
        return None
    if done.returncode != 0:
        raise Broken(f"ended with {done.returncode}: {done.stderr.strip()[-600:]}")
    return json.loads(done.stdout)


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


def check(folder):
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


def undisturbed(binary):
    with tempfile.TemporaryDirectory() as folder:
        last = run(binary, folder)
        check(folder)
        return last["commits"], last["lines"]


def case(binary, place, at, again):
    """True: it was killed. How many ticks share a commit depends on the machine: there may be fewer."""
    with tempfile.TemporaryDirectory() as folder:
        killed = run(binary, folder, place, at) is None
        if killed and again:
            run(binary, folder, again, 1)
        if killed:
            run(binary, folder)
        check(folder)
        return killed


def main():
    binary = sys.argv[1]
    commits, lines = undisturbed(binary)
    cases = [(place, at, again) for again in (None, "before", "after")
             for place, last in (("before", commits), ("after", commits), ("start", lines),
                                 ("effect", lines))
             for at in range(1, last + 1)]
    failed = spared = 0
    kept = {}
    with ThreadPoolExecutor(2) as pool:
        jobs = [(one, pool.submit(case, binary, *one)) for one in cases]
        for (place, at, again), job in jobs:
            row = kept.setdefault((place, again), [0, 0])
            row[1] += 1
            try:
                spared += not job.result()
                row[0] += 1
            except (Broken, subprocess.TimeoutExpired, OSError, ValueError, sqlite3.Error) as why:
                failed += 1
                print(f"FAILED  killed {place} {at}"
                      f"{f', then {again} the next commit' if again else ''}: {why}")
    what = {"before": "before commit 1..", "after": "after commit 1..",
            "start": "before line 1..", "effect": "after line 1.."}
    for (place, again), (good, all_) in kept.items():
        text = f"killed {what[place]}{all_}" + (f", then {again} the next commit" if again else "")
        print(f"{'ok' if good == all_ else 'FAILED':8}{text}: {good} of {all_}")
    if spared > len(cases) // 5:
        print(f"FAILED  {spared} were not killed: they ended before")
        failed += 1
    print(f"wake matrix: {len(cases) - failed} of {len(cases)}, {spared} of them ended before the kill")
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""kill -9 at every recorded event of a run with side effects, and around every effect.

A process with the real loop and store (tests/harness/run_main.c) dies right before and right after
the commit of each row of its log, and right before and right after each line that a tool writes
(the acknowledgement is lost). Started again, and again when it is killed a second time during its
recovery, the run must finish, its log must replay, and the file must have exactly one line for each
act: keyed, unkeyed, approved, a parallel pair, and the same intent a second time. An approved edit
of memory must have made exactly one version.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

WAIT_S = 300
LINES = ["approved", "keyed", "keyed", "left", "right", "unkeyed"]


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


def check(folder, last):
    with open(os.path.join(folder, "effects"), encoding="utf-8") as file:
        lines = sorted(line.split()[0] for line in file)
    if lines != LINES:
        raise Broken(f"the file has {lines}")
    if last["status"] != "done" or not last["replay"]:
        raise Broken(f"the run is {last}")
    if last["versions"] != 1:
        raise Broken(f"the approved memory was written {last['versions']} times")


def undisturbed(binary):
    with tempfile.TemporaryDirectory() as folder:
        last = run(binary, folder)
        check(folder, last)
        return last["rows"], last["lines"]


def case(binary, place, at, again):
    """again: the first commit after the restart is the last one, too."""
    with tempfile.TemporaryDirectory() as folder:
        if run(binary, folder, place, at) is not None:
            raise Broken("it was not killed")
        if again:
            run(binary, folder, again, rows_of(binary, folder) + 1)
        check(folder, run(binary, folder))


def rows_of(_binary, folder):
    import sqlite3
    with sqlite3.connect(os.path.join(folder, "agent.sqlite")) as db:
        return db.execute("SELECT count(*) FROM run_events").fetchone()[0]


def main():
    binary = sys.argv[1]
    rows, lines = undisturbed(binary)
    cases = [(place, at, again) for again in (None, "before", "after")
             for place, last in (("before", rows), ("after", rows), ("start", lines),
                                 ("effect", lines))
             for at in range(1, last + 1)]
    failed = 0
    kept = {}
    with ThreadPoolExecutor(2) as pool:
        jobs = [(one, pool.submit(case, binary, *one)) for one in cases]
        for (place, at, again), job in jobs:
            row = kept.setdefault((place, again), [0, 0])
            row[1] += 1
            try:
                job.result()
                row[0] += 1
            except (Broken, subprocess.TimeoutExpired, OSError, ValueError) as why:
                failed += 1
                print(f"FAILED  killed {place} {at}"
                      f"{f', then {again} the next commit' if again else ''}: {why}")
    what = {"before": "before the commit of row 1..", "after": "after the commit of row 1..",
            "start": "before line 1..", "effect": "after line 1.."}
    for (place, again), (good, all_) in kept.items():
        text = f"killed {what[place]}{all_}" + (f", then {again} the next commit" if again else "")
        print(f"{'ok' if good == all_ else 'FAILED':8}{text}: {good} of {all_}")
    print(f"kill matrix: {len(cases) - failed} of {len(cases)}")
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""kill -9 at every commit of a run with side effects, and around every effect.

A process with the real loop and store (tests/harness/run_main.c) dies right before and right after
each commit that holds rows of its log, and right before and right after each line that a tool writes
(the acknowledgement is lost). Started again, and again when it is killed a second time during its
recovery, the run must finish, its log must replay, and the file must have exactly one line for each
act: keyed, unkeyed, approved, a parallel pair, and the same intent a second time. An approved edit
of memory must have made exactly one version.

Rows of one commit are one place: it is told by the first of them, as an undisturbed run had them.
With DORMOUSE_TEST_LONG every row is told, also when others share its commit.
"""
import os
import sqlite3
import sys
import tempfile

from matrix import LONG, Broken, run, sweep

LINES = ["approved", "keyed", "keyed", "left", "right", "unkeyed"]


def check(folder, last):
    with open(os.path.join(folder, "effects"), encoding="utf-8") as file:
        lines = sorted(line.split()[0] for line in file)
    if lines != LINES:
        raise Broken(f"the file has {lines}")
    if last["status"] != "done" or not last["replay"]:
        raise Broken(f"the run is {last}")
    if last["versions"] != 1:
        raise Broken(f"the approved memory was written {last['versions']} times")


def places(binary):
    """Where it is killed: what an undisturbed run went through."""
    with tempfile.TemporaryDirectory() as folder:
        last = run(binary, folder)
        check(folder, last)
    rows = range(1, last["rows"] + 1) if LONG else last["commits"]
    lines = range(1, last["lines"] + 1)
    print(f"{last['rows']} rows in {len(last['commits'])} commits, {last['lines']} lines")
    return [(place, at) for place, numbers in (("before", rows), ("after", rows), ("start", lines),
                                               ("effect", lines)) for at in numbers]


def next_commit(folder):
    """The number of the first row that is not there yet."""
    with sqlite3.connect(os.path.join(folder, "agent.sqlite")) as db:
        return db.execute("SELECT count(*) FROM run_events").fetchone()[0] + 1


def main():
    binary = sys.argv[1]
    passed, failed, spared = sweep(binary, places(binary), check, next_commit)
    for place, at in spared:
        failed += 1
        print(f"FAILED  {place} {at}: it was not killed")
    print(f"kill matrix: {passed} of {passed + failed}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

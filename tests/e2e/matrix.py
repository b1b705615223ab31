"""What the kill matrices share: a process that dies where it is told, and is started again.

What comes before the first place is the same for all of them and is made once; each process goes on
from a copy. What a killed process leaves is copied, too: for a plain start, and for two that are
killed a second time, right before and right after their next commit, and then started again.
"""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

WAIT_S = 300
AGAIN = (None, "before", "after")
LONG = bool(os.environ.get("DORMOUSE_TEST_LONG"))


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


def go_on(binary, folder, again, check, next_commit):
    if again:
        run(binary, folder, again, next_commit(folder))
    check(folder, run(binary, folder))


def case(binary, start, place, at, check, next_commit):
    """Whether it was killed, and what was wrong after each of AGAIN (None: nothing)."""
    with tempfile.TemporaryDirectory() as folder:
        left = shutil.copytree(start, os.path.join(folder, "left"))
        last = run(binary, left, place, at)
        if last is not None:
            check(left, last)
            return False, {again: None for again in AGAIN}
        wrong = {}
        for again in AGAIN:
            one = shutil.copytree(left, os.path.join(folder, str(again)))
            try:
                go_on(binary, one, again, check, next_commit)
                wrong[again] = None
            except (Broken, subprocess.TimeoutExpired, OSError, ValueError, sqlite3.Error) as why:
                wrong[again] = why
        return True, wrong


def sweep(binary, places, check, next_commit):
    """places: pairs of a place and a number. Prints what failed and a line for each place and kind of
    second kill; returns how many passed, how many failed, and which pairs ended before they were killed."""
    kept, spared = {}, []
    with tempfile.TemporaryDirectory() as start, ThreadPoolExecutor(2) as pool:
        if run(binary, start, "before", 1) is not None:
            raise Broken("it was not killed before its first commit")
        jobs = [(one, pool.submit(case, binary, start, *one, check, next_commit)) for one in places]
        for (place, at), job in jobs:
            try:
                killed, wrong = job.result()
            except (Broken, subprocess.TimeoutExpired, OSError, ValueError, sqlite3.Error) as why:
                killed, wrong = True, {again: why for again in AGAIN}
            if not killed:
                spared.append((place, at))
            for again, why in wrong.items():
                row = kept.setdefault((again, place), [0, 0])
                row[0] += why is None
                row[1] += 1
                if why is not None:
                    print(f"FAILED  killed {place} {at}{then(again)}: {why}")
    for again in AGAIN:
        for place in dict(places):
            good, all_ = kept[(again, place)]
            print(f"{'ok' if good == all_ else 'FAILED':8}killed {place} one of {all_}{then(again)}: {good} of {all_}")
    passed = sum(good for good, _ in kept.values())
    return passed, sum(all_ for _, all_ in kept.values()) - passed, spared


def then(again):
    return f", then {again} the next commit" if again else ""

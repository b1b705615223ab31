#!/usr/bin/env python3
"""Prints the hashes that test_ids.c expects, computed from the formulas in docs/tools.md alone."""
import hashlib


def h(text):
    return hashlib.sha256(text.encode()).hexdigest()


def ids(tool, received, canonical, scope, targets, occurrence, run):
    arguments = h(received if canonical is None else canonical)
    action = h(f"act|v1|{tool}|{arguments}|{scope}|{targets}|{occurrence}")
    return h(received), action, h(f"op|v1|{run}|{action}")


def lengths(texts):
    return "".join(f"{len(t.encode())}:{t}," for t in texts)


LS = '{"command":"ls"}'
WALLS = (
    lengths(["/home/ada/work"]) + "on;" + lengths([".", "/srv/shared"]) + ";"
    + lengths(["~/.ssh", ".env"]) + ";" + ";" + ";" + "0,0,0,0,0,0;"
)


def digest(tool, received, version, policy, directory="/home/ada/work"):
    return h(f"digest|v2|{tool}|{h(received)}|{version}|{policy}|{h(WALLS)}|{h(directory)}")


for name, values in {
    "bash": ids("bash", LS, LS, "[]", "[]", 0, "run1"),
    "bash, third": ids("bash", LS, LS, "[]", "[]", 2, "run1"),
    "write_file": ids(
        "write_file", '{ "path" : "b\\u00e9", "content":"1.0" }', '{"content":"1.0","path":"bé"}',
        '["home","work"]', '["file:bé"]', 0, "run1",
    ),
    "big number": ids("nope", '{"a":9007199254740993}', None, "[]", "[]", 0, "run1"),
    "broken": ids("nope", "{broken", None, "[]", "[]", 0, "run1"),
    "digests": (
        digest("bash", LS, "cwd:/home/ada/work", "p1"),
        digest("edit_file", '{"path":"a","old":"x","new":"y"}', "a" * 64, ""),
        digest("write_file", '{"path":"a","content":"x"}', "absent", ""),
    ),
}.items():
    print(name, *values, sep="\n    ")

#!/usr/bin/env python3
"""Transcripts in tests/transcripts: what is typed and asked, and every byte of what Dormouse answers.

usage: tests/e2e/transcripts.py DORMOUSE [PART-OF-A-NAME]

A transcript is played from its first line to its last in a fresh box beside a daemon, and must come
out as it stands there. It notices whatever no other test looks at: a member of an answer, a column
of a list, a word of a message. Its lines:

  # words               a remark
  $ dormouse words      a command at the terminal, as a shell would part it; what it wrote follows:
                        standard output as it is, standard error behind "! ", and how it ended if not with 0
  > METHOD PATH BODY    a request of the REST interface; its status and body follow. JSON is shown
                        with a line for each member, and for each element of a list, headers
                        where they differ from those of other answers
  @ write NAME TEXT     a file in the working directory; \\n and the like are read
  @ name RUN MEMBER     {RUN} in later lines is the first member of this name in the answer before
  @ bare                removes timers and subscriptions
  @ rest                waits until nothing runs and no wake is left

Ids are numbered in the order in which they appear (<1>, <2>) and may be used by later lines, those that
lists shorten are <id>; times
near the present are <now>, days <today>, <today+1>; whatever else differs each time has a name, too.

A change of the product that changes answers on purpose is written down by playing them once more:

    DORMOUSE_TEST_WRITE=1 tests/e2e/transcripts.py build/dormouse && git diff tests/transcripts
"""
import codecs
import datetime
import difflib
import glob
import http.client
import json
import os
import re
import shlex
import subprocess

import harness
from harness import BINARY, ROOT, WAIT_S, eventually, expect, main

WRITE = bool(os.environ.get("DORMOUSE_TEST_WRITE"))
# Ids and hashes that stand for ids, whole, and as lists shorten them.
WHOLE = re.compile(r"\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{64}|[0-9a-f]{40})\b")
SHORT = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{1,4}(?:-[0-9a-f]{1,4}(?:-[0-9a-f]{1,12})?)?)?\b"
                   r"|\b[0-9a-f]{12}\b|(?:(?<=^)|(?<=approve )|(?<=reject ))[0-9a-f]{8}\b")
# What else differs each time, by where it stands.
DIFFERS = [
    (re.compile(r'("version": ")[0-9a-f]{16}"'), r'\1<version>"'),
    (re.compile(r'("importId": "|import undo )[0-9a-f]{8}\b'), r"\1<import>"),
    # Prompts name the day and the directory.
    (re.compile(r'("(?:inputTokens|tokensToday|in)": |"tokens": {"used": )\d+'), r"\1<n>"),
    (re.compile(r"\b\d{5,} bytes"), "<n> bytes"),
    (re.compile(r"\b\d+ ms\b"), "<n> ms"),
    (re.compile(r'(/hooks/|"token": ")[\w-]{43}'), r"\1<key>"),
    (re.compile(r"\b\d+ (?:s|min) ago\b"), "just now"),
    (re.compile(r"\bin \d+ (?:min|h|days?)(?: \d+ min)?\b"), "in <while>"),
    (re.compile(r'("(?:tookMs|activeMs|waitedMs)": )\d+'), r"\1<ms>"),
]


class Names:
    """Gives what differs each time a name, and takes names back to what they stand for."""

    def __init__(self, box, daemon):
        self.known = {}
        self.given = {}
        self.fixed = [(daemon.token(), "<token>"), (f"127.0.0.1:{daemon.port}", "<address>"), (box.work, "<work>"),
                      (box.data, "<data>"), (box.dir, "<home>")]

    def number(self, match):
        return f"<{self.known.setdefault(match[0], len(self.known) + 1)}>"

    @staticmethod
    def day(date):
        away = (date - datetime.datetime.now(datetime.timezone.utc).date()).days
        return f"<today{away:+}>" if away else "<today>"

    def moment(self, match):
        try:
            at = datetime.datetime.fromisoformat(match[0].replace("Z", "+00:00"))
        except ValueError:
            return match[0]
        at = at if at.tzinfo else at.replace(tzinfo=datetime.timezone.utc)
        away = (at - datetime.datetime.now(datetime.timezone.utc)).total_seconds()
        if (at.minute, at.second, at.microsecond) == (0, 0, 0):  # not by a clock
            return self.day(at.date()) + match[0][10:] if abs(away) < 40 * 86400 else match[0]
        if abs(away - 1800) < 300:  # what half an hour of silence ends
            return "<now+30min>"
        days = round(away / 86400)
        if abs(days) <= 8 and abs(away - 86400 * days) < 900:
            return f"<now{days:+}>" if days else "<now>"
        return self.day(at.date()) + match[0][10:] if abs(away) < 40 * 86400 else match[0]

    def near_day(self, match):
        try:
            date = datetime.date.fromisoformat(match[0])
        except ValueError:
            return match[0]
        return self.day(date) if abs((date - datetime.date.today()).days) < 40 else match[0]

    def hide(self, text):
        for value, name in self.fixed:
            text = text.replace(value, name)
        text = SHORT.sub("<id>", WHOLE.sub(self.number, text))
        for value in self.known:
            text = re.sub(rf"\b{value[:8]}\b", "<id>", text)
        text = re.sub(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?", self.moment, text)
        text = re.sub(r"\b20\d\d-\d\d-\d\d\b", self.near_day, text)
        text = re.sub(r"\b20\d{6}T\d{6}Z\b", self.stamp, text)
        for pattern, name in DIFFERS:
            text = pattern.sub(name, text)
        return text

    def stamp(self, match):
        at = datetime.datetime.strptime(match[0], "%Y%m%dT%H%M%SZ").isoformat() + "Z"
        name = re.sub(".+", self.moment, at)
        return match[0] if name == at else name

    def show(self, text):
        for value, number in self.known.items():
            text = text.replace(f"<{number}>", value)
        for name, value in self.given.items():
            text = text.replace(f"{{{name}}}", value)
        text = re.sub(r"<today([+-]\d+)?>", lambda match: str(
            datetime.date.today() + datetime.timedelta(days=int(match[1] or 0))), text)
        return text.replace("<work>", self.fixed[2][0]).replace("<data>", self.fixed[3][0])


def shown(value):
    """JSON with a line for each member, and for each element of a list that a member is."""
    def brief(any):
        return json.dumps(any, ensure_ascii=False)
    if not isinstance(value, dict):
        return brief(value)
    lines = []
    for name, member in value.items():
        if isinstance(member, list) and member and isinstance(member[0], (dict, list)):
            lines.append(f"  {brief(name)}:")
            lines += [f"    {brief(one)}" for one in member]
        else:
            lines.append(f"  {brief(name)}: {brief(member)}")
    return "\n".join(lines)


class Player:
    def __init__(self, box, daemon):
        self.box, self.daemon = box, daemon
        self.names = Names(box, daemon)
        self.last = ""

    def command(self, words):
        done = subprocess.run([BINARY, *shlex.split(words)[1:]], cwd=self.box.work, env=self.box.env, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_S)
        self.last = done.stdout
        lines = [json_line(line) for line in done.stdout.splitlines()]
        lines += [f"! {line}" for line in done.stderr.splitlines()]
        return lines + ([f"(exit {done.returncode})"] if done.returncode else [])

    def request(self, words):
        method, path, body = (words + " " * 2).split(" ", 2)
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=WAIT_S)
        connection.request(method, path, body=body.strip() or None,
                           headers={"Authorization": f"Bearer {self.daemon.token()}",
                                    "Content-Type": "application/json"})
        answer = connection.getresponse()
        kind, text = answer.headers.get("Content-Type", ""), answer.read()
        connection.close()
        head = [f"{answer.status} {kind}".strip(), *unusual(answer.headers)]
        if kind.startswith("application/json") and text[:1] in (b"{", b"["):
            self.last = json.dumps(json.loads(text))
            return head + shown(json.loads(text)).splitlines()
        shows = kind.startswith(("text/", "application/json")) and not kind.startswith("text/html")
        return head + (text.decode().splitlines() if shows else [])

    def deed(self, words):
        name, _, rest = words.partition(" ")
        if name == "write":
            file, _, text = rest.partition(" ")
            self.box.write(f"work/{file}", codecs.decode(text, "unicode_escape"))
        elif name == "name":
            name, member = rest.split()
            found = re.search(rf'"{member}": ?"([^"]*)"', self.last)
            expect(found, f"there is no {member} in {self.last}")
            self.names.given[name] = found[1]
        elif name == "bare":
            self.daemon.bare()
        elif name == "rest":
            eventually(self.rests, "nothing runs and no wake is left")
        else:
            expect(False, f"@ {name}: write, name, bare or rest")
        return []

    def rests(self):
        runs = self.daemon.ask("GET", "/runs?limit=200")["runs"]
        wakes = self.daemon.ask("GET", "/wakes")["items"]
        waiting = {run["runId"] for run in runs if run["status"] == "waiting"}
        return all(run["status"] not in ("running", "queued") for run in runs) and \
            all(wake["status"] not in ("running", "queued") or wake.get("runId") in waiting for wake in wakes)

    def play(self, line):
        kind, words = line[0], self.names.show(line[2:])
        lines = {"$": self.command, ">": self.request, "@": self.deed}[kind](words)
        hidden = [self.names.hide(text).rstrip() for text in lines]
        hidden = [text for text in hidden if text != "DTEND:<now>"]  # of less than a second it has none
        if kind != "$":
            return hidden
        # Columns are as wide as the ids and times in them.
        return [line if line.startswith("{") else re.sub(r"(?<=\S)   +", "  ", line) for line in hidden]


def unusual(headers):
    """Headers of an answer that are not those of every answer with JSON, or are missing."""
    usual = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    heads = {name: value for name, value in headers.items()
             if name not in ("Date", "Content-Length", "Content-Type", "ETag", "Connection")}
    return [f"{name}: {value}" for name, value in heads.items() if usual.get(name) != value] + \
        [f"no {name}" for name in usual if name not in heads]


def json_line(line):
    """A line of JSON as it would be typed, so that numbers of members that a clock makes are found."""
    try:
        return json.dumps(json.loads(line), ensure_ascii=False) if line.startswith("{") else line
    except ValueError:
        return line


def outcome(box, path):
    """What the transcript is now."""
    box.env["TZ"] = "UTC"
    daemon = box.serve(env={"TZ": "UTC"})
    player = Player(box, daemon)
    lines = []
    with open(path) as file:
        for line in file.read().splitlines():
            if line[:2] in ("$ ", "> ", "@ "):
                lines += [line] + ["  " + text if text else "" for text in player.play(line)]
            elif line.startswith("#") or (line == "" and lines and lines[-1] != ""):
                lines.append(line)
    daemon.stop()
    return "\n".join(lines).rstrip() + "\n"


def transcript(path):
    def play(box):
        with open(path) as file:
            before = file.read()
        now = outcome(box, path)
        if WRITE and now != before:
            with open(path, "w") as file:
                file.write(now)
        difference = difflib.unified_diff(before.splitlines(), now.splitlines(), "transcript", "now", lineterm="", n=1)
        expect(WRITE or now == before, "\n".join(difference))
    play.__name__ = os.path.splitext(os.path.basename(path))[0]
    return play


harness.TESTS += [transcript(path) for path in sorted(glob.glob(os.path.join(ROOT, "tests/transcripts/*.txt")))]
main()

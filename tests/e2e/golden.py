#!/usr/bin/env python3
"""Scenarios of tests/golden: what an agent does about a wake, with a model that plays a script.

A scenario says what stands in the journal, what the person does, what the model answers, and what
must come of it: the tools in their order with how each ended, wakes with their statuses, records,
a report. Keys of a scenario:

  name      a sentence
  agents    [{template, id, categories}]
  journal   [{TYPE: fields}], made before there are agents
  model     steps of a model script (docs/model-scripts.md), chosen by state
  does      [{TYPE: fields} | {change: TYPE/ID, fields} | {delete: TYPE/ID} | {wake: WORDS, agent,
            request} | {say: WORDS, agent, session} | {rings: N}], what the person does then, one
            after the other; rings: waits until so many alarms of agents have rung
  decides   [{tool, decision, answer}], of what waits in the inbox, in this order
  expect    tools: [[NAME, OUTCOME]] of all runs in order (success, or the error's code), said: the
            last words, wakes: statuses in order, why: a part of a wake's reason, records: {TYPE:
            [fields]} (all there are, each with at least these), reports: [{title, text}], all that
            were written, word for word (none unless given), model: how often it was asked, hidden:
            words that no tool may have told, threads: where all of it was said
  twice     what the person did is sent again, the daemon killed and started: nothing may change

Every run must replay. One line a scenario.
"""
import glob
import http.client
import json
import os
import sqlite3

import yaml
from harness import ROOT, TESTS, eventually, expect, expect_eq, main

ENDED = {"completed", "skipped_sleeping", "skipped_destroyed", "skipped_paused", "skipped_killed",
         "skipped_noop", "coalesced", "failed_terminal"}


class Scene:
    def __init__(self, box, scenario):
        self.box, self.scenario = box, scenario
        steps = yaml.safe_dump(scenario.get("model", [{"reply": {"text": "unused"}}]), sort_keys=False)
        box.script(steps)
        self.daemon = box.serve().bare()
        self.count = 0

    def ask(self, *what, **how):
        return self.daemon.ask(*what, **how)

    def post(self, kind, fields, key=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.daemon.token()}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        connection.request("POST", f"/api/v1/journal/{kind}", json.dumps(fields), headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        expect(answer.status in (200, 201), f"POST {kind}: {answer.status} {text!r}")
        return json.loads(text)

    def prepare(self):
        for record in self.scenario.get("journal", []):
            for kind, fields in record.items():
                self.post(kind, fields)
        for agent in self.scenario["agents"]:
            form = {"template": agent["template"], "allowedCategoryIds": agent.get("categories", [])}
            if "id" in agent:
                form["id"] = agent["id"]
            self.ask("POST", "/agents", form, status=201)

    def act(self, index, deed):
        """What the person does; the same index again is the same request."""
        if "wake" in deed:
            self.ask("POST", f"/agents/{deed['agent']}/wake",
                     {"words": deed["wake"], "requestId": deed.get("request", f"golden-{index}")}, status=202)
        elif "say" in deed:
            more = {"session": deed["session"]} if "session" in deed else {}
            self.daemon.start(deed["say"], agent=deed["agent"], **more).close()
        elif "rings" in deed:
            eventually(lambda: len([w for w in self.wakes() if w["reason"] == "timer" and w["status"] in ENDED])
                       >= deed["rings"], "the alarm rings")
        elif "change" in deed:
            self.ask("PATCH", f"/journal/{deed['change']}", deed["fields"])
        elif "delete" in deed:
            self.ask("DELETE", f"/journal/{deed['delete']}", status=204)
        else:
            for kind, fields in deed.items():
                self.post(kind, fields, key=f"golden-{index}")

    # ---- what there is ----

    def wakes(self):
        """Those that nobody's word to the agent was, oldest first."""
        items = self.ask("GET", "/wakes?limit=200")["items"]
        return [wake for wake in reversed(items) if wake["reason"] != "userInitiated"]

    def runs(self):
        return list(reversed(self.box.runs()))

    def pending(self):
        return self.ask("GET", "/inbox")["items"]

    def rows(self, sql):
        db = sqlite3.connect(f"file:{self.box.data}/agent.sqlite?mode=ro", uri=True)
        found = db.execute(sql).fetchall()
        db.close()
        return found

    def batches_are_read(self):
        """Every change has been judged: nothing that could wake somebody is under way."""
        journal = sqlite3.connect(f"file:{self.box.data}/journal.sqlite?mode=ro", uri=True)
        newest = journal.execute("select coalesce(max(n), 0) from change_batches").fetchone()[0]
        journal.close()
        read = self.rows("select coalesce(max(n), 0) from wake_cursors where domain = 'journal'")
        return read[0][0] >= newest

    def is_quiet(self):
        return (self.batches_are_read() and all(w["status"] in ENDED for w in self.wakes())
                and all(r["status"] not in ("running", "waiting") for r in self.runs()))

    def settle(self):
        """Decides what waits, as the scenario says, until nothing goes on any more."""
        decisions = list(self.scenario.get("decides", []))
        while True:
            eventually(lambda: self.pending() or self.is_quiet(), "a question, or the end")
            waiting = self.pending()
            if not waiting:
                expect(not decisions, f"nobody was asked about {decisions}")
                return
            expect(decisions, f"asked about {waiting[0]['toolName']}, which the scenario does not say")
            how = dict(decisions.pop(0))
            expect_eq(waiting[0]["toolName"], how.pop("tool"))
            self.daemon.decide(waiting[0]["id"], how.pop("decision", "approve"), **how)
            eventually(lambda: waiting[0]["id"] not in [i["id"] for i in self.pending()], "it is decided")

    def trace(self):
        """[name, outcome] of every call, run after run; how often the model was asked; what was said."""
        calls, thoughts, said = [], 0, []
        for run in self.runs():
            out, _ = self.box.run("trace", run["runId"], "--json")
            for line in out.splitlines():
                event = json.loads(line)
                message = event.get("message", {})
                thoughts += event.get("type") == "thought"
                if event.get("type") == "settled":
                    calls.append([message["tool"], message["content"].get("error", {}).get("code", "success")])
                if event.get("type") == "said":
                    said.append(message["content"]["text"])
        return calls, thoughts, said

    def records(self, kind):
        more = ["&closed=false", "&closed=true"] if kind == "tasks" else [""]
        return [one for part in more for one in self.ask("GET", f"/journal/{kind}?limit=100{part}")["items"]]

    def state(self):
        """All that a repetition must not change."""
        kinds = ("tasks", "checklist-items", "time-entries", "day-plan-blocks", "ratings", "entries")
        return {
            "records": {kind: self.records(kind) for kind in kinds},
            "wakes": [(w["runKey"], w["status"]) for w in self.wakes()],
            "runs": [(r["runId"], r["status"]) for r in self.runs()],
            "reports": self.rows("select id from agent_reports order by id"),
        }


def check_records(scene, wanted):
    for kind, records in wanted.items():
        there = scene.records(kind)
        expect(len(there) == len(records), f"{len(there)} {kind}, not {len(records)}: {there}")
        for record in records:
            expect(any(record.items() <= {k: v for k, v in one.items() if k in record}.items()
                       for one in there), f"no {kind} is {record}: {there}")


def check(scene, expected):
    calls, thoughts, said = scene.trace()
    expect_eq(calls, [list(pair) for pair in expected["tools"]])
    if "model" in expected:
        expect_eq(thoughts, expected["model"])
    wakes = scene.wakes()
    if "wakes" in expected:
        expect_eq([w["status"] for w in wakes], expected["wakes"])
    if "why" in expected:
        expect(any(expected["why"] in w.get("why", "") for w in wakes), f"{expected['why']!r}: {wakes}")
    if "said" in expected:
        expect_eq(said[-1], expected["said"])
    reports = [json.loads(row[0]) for row in scene.rows("select content from agent_reports order by n")]
    expect_eq([{k: r.get(k) for k in ("title", "text")} for r in reports], expected.get("reports", []))
    if "threads" in expected:
        expect_eq(sorted({run["thread"] for run in scene.runs()}), expected["threads"])
    for word in expected.get("hidden", []):
        for run in scene.runs():
            shown, _ = scene.box.run("trace", run["runId"], "--json")
            results = [line for line in shown.splitlines() if json.loads(line).get("type") == "settled"]
            expect(not any(word in line for line in results), f"{word!r} was told: {results}")
    check_records(scene, expected.get("records", {}))


def repeat(scene):
    before = scene.state()
    for index, deed in enumerate(scene.scenario["does"]):
        if "say" not in deed and "rings" not in deed:
            scene.act(index, deed)
    eventually(scene.is_quiet, "the end of the repetition")
    expect_eq(scene.state(), before)
    scene.daemon.kill()
    scene.daemon = scene.box.serve()
    eventually(scene.is_quiet, "the end after a restart")
    expect_eq(scene.state(), before)


def play(scenario):
    def function(box):
        scene = Scene(box, scenario)
        scene.prepare()
        for index, deed in enumerate(scenario["does"]):
            scene.act(index, deed)
            if index + 1 == len(scenario["does"]):
                scene.settle()
            elif "say" in deed:
                eventually(lambda: scene.pending() or scene.is_quiet(), "it has answered")
            else:
                eventually(scene.batches_are_read, "the change is read")
        check(scene, scenario["expect"])
        if scenario.get("twice"):
            repeat(scene)
        scene.daemon.stop()
    return function


for path in sorted(glob.glob(os.path.join(ROOT, "tests", "golden", "*.yaml"))):
    with open(path) as file:
        one = play(yaml.safe_load(file))
    one.__name__ = os.path.basename(path)[:-5]
    TESTS.append(one)

main()

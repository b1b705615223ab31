#!/usr/bin/env python3
"""Kill switches while runs think, act and wait; wiggum runs and their trajectories; the doors as
they are described."""
import json
import os
import subprocess
import threading

from harness import WAIT_S, Refused, eventually, expect, expect_eq, expect_in, main, test
from model_server import ModelServer

STEPS = '''
  - expect: { user: "Is the task done?" }
    reply: { text: '{"done": true}' }
  - expect: { user: append, results: 0 }
    reply: { calls: [{ name: bash, arguments: { command: "echo line >> out.txt" } }] }
  - expect: { user: append, results: 1 }
    reply: { text: "appended" }
  - expect: { user: hold, results: 0 }
    reply: { calls: [{ name: bash, arguments: { command: "echo begun >> out.txt; read -r x < gate; echo ended >> out.txt" } }] }
  - expect: { user: hold, results: 1 }
    reply: { text: "held: ${result}" }
  - expect: { user: read, results: 0 }
    reply: { calls: [{ name: read_file, arguments: { path: a.txt } }] }
  - expect: { user: read, results: 1 }
    reply: { text: "read: ${result}" }
'''


def lines(box):
    try:
        with open(box.path("work/out.txt")) as file:
            return file.read().split()
    except FileNotFoundError:
        return []


def kill(box, daemon, *words, on=True):
    """Over the command line, which speaks to the daemon."""
    box.run("kill" if on else "unkill", *words)
    return daemon.ask("GET", "/kill")["switches"]


@test
def all_is_stopped_and_let_go_on(box):
    box.script(STEPS)
    os.mkfifo(box.path("work/gate"))
    daemon = box.serve()
    waiting = daemon.start("append", cwd=box.work)
    item = waiting.until("waiting")["itemId"]
    acting = daemon.start("hold", cwd=box.work, mode="wiggum")
    eventually(lambda: "begun" in lines(box), "the command has begun")
    switches = daemon.ask("POST", "/kill", {"scope": "all", "reason": "stop it"})
    expect_eq((switches["changed"], switches["switches"][0]["scope"]), (True, "all"))
    # What runs is ended and settled, and no new effect starts.
    done = acting.end()
    expect(done["stopReason"] in ("cancelled", "error"), done)
    expect_eq(lines(box), ["begun"])
    result = [event for event in acting.whole() if event["type"] == "tool_result"]
    expect_eq([event["status"] for event in result], ["failed"])
    try:
        daemon.start("append", cwd=box.work)
    except Refused as why:
        expect_eq(why.error["code"], "kill_switch_active")
    else:
        raise AssertionError("a run was started")
    # What waits stays, whatever is decided meanwhile; also over a restart.
    run = daemon.ask("GET", f"/runs/{waiting.key}")
    expect_eq(run["status"], "waiting")
    daemon.stop()
    daemon = box.serve()
    expect_eq(daemon.ask("GET", "/kill")["switches"][0]["reason"], "stop it")
    expect_eq(daemon.ask("GET", f"/runs/{waiting.key}")["status"], "waiting")
    expect_eq(lines(box), ["begun"])
    expect_eq(kill(box, daemon, "--all", on=False), [])
    daemon.decide(item)
    expect_eq(daemon.follow(waiting.key).end()["result"], "appended")
    expect_eq(lines(box), ["begun", "line"])


@test
def a_run_that_thinks_is_stopped(box):
    gone = threading.Event()
    server = ModelServer(box, lambda reply: gone.set() if reply.gone() else None)
    daemon = box.serve()
    stream = daemon.start("think")
    server.wait(1)
    expect_eq(len(kill(box, daemon, "--all")), 1)
    expect_eq(stream.until("error")["code"], "kill_switch_active")
    stream.end()
    expect(gone.wait(WAIT_S), "the model is still asked")
    expect_eq(len(server.seen), 1)


@test
def one_agent_is_stopped(box):
    box.script(STEPS)
    daemon = box.serve()
    daemon.start("append", cwd=box.work).until("waiting")
    agent = daemon.ask("GET", "/agents")["agents"][0]["id"]
    switches = kill(box, daemon, "--agent", agent)
    expect_eq([(s["scope"], s["value"]) for s in switches], [("agent", agent)])
    try:
        daemon.start("append", cwd=box.work)
    except Refused as why:
        expect_eq(why.error["code"], "kill_switch_active")
    else:
        raise AssertionError("a run was started")
    expect_eq(kill(box, daemon, "--agent", agent, on=False), [])
    stream = daemon.start("append", cwd=box.work)
    daemon.decide(stream.until("waiting")["itemId"])
    expect_eq(stream.end()["result"], "appended")
    error = daemon.ask("POST", "/kill", {"scope": "agent", "value": "nobody"}, status=404)["error"]
    expect_in("nobody", error["message"])


@test
def one_class_of_tools_is_stopped(box):
    box.script(STEPS)
    box.write("work/a.txt", "content\n")
    daemon = box.serve()
    kill(box, daemon, "--tools", "shell")
    stream = daemon.start("append", cwd=box.work)
    stream.end()
    result = next(event for event in stream.whole() if event["type"] == "tool_result")
    expect_eq((result["status"], result["error"]["code"]), ("failed", "kill_switch_active"))
    expect(not any(event["type"] == "waiting" for event in stream.seen), "somebody was asked")
    expect_eq(lines(box), [])
    # Others work.
    stream = daemon.start("read", cwd=box.work)
    expect_in("content", stream.end()["result"])
    error = daemon.ask("POST", "/kill", {"scope": "tools", "value": "shovel"}, status=400)["error"]
    expect_in("shell", error["message"])
    kill(box, daemon, "--tools", "shell", on=False)
    stream = daemon.start("append", cwd=box.work)
    daemon.decide(stream.until("waiting")["itemId"])
    stream.end()
    expect_eq(lines(box), ["line"])


@test
def a_yes_under_a_kill_switch_does_nothing_until_it_is_lifted(box):
    box.script(STEPS)
    daemon = box.serve()
    stream = daemon.start("append", cwd=box.work)
    item = stream.until("waiting")["itemId"]
    kill(box, daemon, "--all")
    connection_status = None
    try:
        daemon.decide(item)
    except AssertionError as why:
        connection_status = str(why)
    expect_eq(lines(box), [])
    expect_eq(daemon.ask("GET", f"/runs/{stream.key}")["status"], "waiting")
    kill(box, daemon, "--all", on=False)
    if connection_status:  # it was refused: the item still waits for an answer
        expect_in("kill_switch_active", connection_status)
        daemon.decide(item)
    expect_eq(stream.end()["result"], "appended")
    expect_eq(lines(box), ["line"])


# ---- wiggum ----


def counts(box, rounds, checks):
    """A model that appends a line each round and says done after `rounds` of them."""
    def answer(reply):
        if reply.is_check():
            checks.append(reply.results())
            return reply.check(done=reply.results() >= rounds)
        if reply.results() >= rounds:
            return reply.text("enough")
        reply.begin()
        reply.part({"reasoning_content": f"round {reply.results() + 1}"})
        reply.part({"tool_calls": [{"index": 0, "id": f"r{reply.results()}", "function": {
            "name": "bash", "arguments": json.dumps({"command": "echo line >> out.txt; wc -l out.txt"})}}]})
        return reply.finish("tool_calls")
    return ModelServer(box, answer)


@test
def wiggum_goes_on_until_it_is_done_and_tells_its_way(box):
    checks = []
    counts(box, 3, checks)
    daemon = box.serve()
    stream = daemon.start("three lines", mode="wiggum", cwd=box.work)
    done = stream.end()
    expect_eq((done["stopReason"], lines(box)), ("end_turn", ["line"] * 3))
    expect_eq([event["count"] for event in stream.whole() if event["type"] == "iteration"],
              list(range(1, done["iterations"] + 1)))
    expect(not any(event["type"] == "approval_gate" for event in stream.seen), "it asked")
    expect(checks and checks[-1] == 3, checks)
    limited = daemon.start("four more", mode="wiggum", cwd=box.work, maxIterations=2)
    done = limited.until("done")
    expect(done["stopReason"] == "error" or done.get("iterations") == 2, done)
    out, _ = box.run("trajectories", "export")
    found = [json.loads(line) for line in out.splitlines()]
    expect_eq(len(found), 2)
    by_id = {one["task_id"]: one for one in found}
    for one in found:
        check_trajectory(one)
    first, second = by_id[stream.key], by_id[limited.key]
    expect_eq((first["prompt"], first["outcome"], first["reward"]), ("three lines", "success", 1))
    expect_eq(len([step for step in first["steps"] if "echo line" in step["action"]]), 3)
    expect_in("3 out.txt", first["steps"][2]["observation"])
    expect_eq(first["steps"][0]["thinking"], "round 1")
    expect_eq((second["outcome"], second["reward"], second["iterations"]), ("failure", 0, 2))
    expect_eq(box.run("trajectories", "export", "--out", box.path("t.jsonl"))[0], "")
    with open(box.path("t.jsonl")) as file:
        expect_eq(file.read(), out)


def check_trajectory(one):
    """The Trajectory type: these members, of these types, and no others."""
    types = {"task_id": str, "prompt": str, "steps": list, "outcome": str, "iterations": int,
             "reward": (int, float)}
    expect_eq(set(one), set(types))
    for name, kind in types.items():
        expect(isinstance(one[name], kind), f"{name}: {one[name]!r}")
    expect_in(one["outcome"], ("success", "failure"))
    expect(one["steps"], "no steps")
    for step in one["steps"]:
        expect({"state", "action", "observation", "status"} <= set(step) <=
               {"state", "action", "observation", "status", "thinking", "exit_code"}, f"{set(step)}")
        expect_in(step["status"], ("completed", "failed", "refused"))
        expect(all(isinstance(value, int if name == "exit_code" else str)
                   for name, value in step.items()), step)


# ---- as it is written ----


@test
def curl_streams_as_the_readme_says(box):
    daemon = box.serve()
    command = (f'curl -sN -X POST 127.0.0.1:{daemon.port}/run -H "Authorization: Bearer $(cat DATA/token)"'
               " -H 'Content-Type: application/json' -d '{\"prompt\":\"Hello\"}'")
    os.symlink(box.data, box.path("work/DATA"))
    out = subprocess.run(["sh", "-c", command], cwd=box.work, capture_output=True, text=True,
                         timeout=WAIT_S, check=True).stdout
    events = [json.loads(line[6:]) for line in out.splitlines() if line.startswith("data: ")]
    expect_eq((events[0]["type"], events[-1]["type"]), ("init", "done"))
    expect_eq(events[-1]["stopReason"], "end_turn")
    expect(events[-1]["result"], "an empty answer")
    recorded = [event["seq"] for event in events if not event.get("isPartial")]
    expect_eq(recorded, list(range(1, len(recorded) + 1)))
    expect("id: 1\n" in out and "event: init\n" in out, out[:300])


@test
def the_folder_is_told_by_the_offline_model(box):
    box.write("work/letter.txt", "x")
    out, _ = box.run("run", "what is in this folder?", "--json")
    events = [json.loads(line) for line in out.splitlines()]
    expect_eq(events[-1]["type"], "done")
    expect_in("letter.txt", events[-1]["result"])


main()

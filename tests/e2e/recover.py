#!/usr/bin/env python3
"""Power cuts, full disks and killed processes in the middle of a run: it goes on, and nothing is
done twice."""
import json
import os
import signal
import subprocess
import threading
import time

from harness import WAIT_S, Refused, SmallDisk, Stream, eventually, expect, expect_eq, is_dead, main, test
from model_server import ModelServer

APPEND = '''
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
'''


def lines(box):
    try:
        with open(box.path("work/out.txt")) as file:
            return file.read().split()
    except FileNotFoundError:
        return []


def below(pid):
    """Processes below this one, as {pid: command line}."""
    found, todo = {}, [pid]
    while todo:
        done = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(todo.pop())],
                              capture_output=True, text=True, timeout=WAIT_S)
        for line in done.stdout.splitlines():
            child, args = line.split(None, 1)
            found[int(child)] = args
            todo.append(int(child))
    return found


def held(box, daemon, **more):
    """A run whose command has begun and waits at the gate."""
    if not os.path.exists(box.path("work/gate")):
        os.mkfifo(box.path("work/gate"))
    stream = daemon.start("hold", cwd=box.work, mode="wiggum", **more)
    eventually(lambda: lines(box) == ["begun"], "the command has begun")
    return stream


def open_gate(box):
    with open(box.path("work/gate"), "w") as gate:
        gate.write("go\n")


# ---- kill -9 of the daemon ----


@test
def a_run_that_waits_is_approved_after_a_power_cut(box):
    box.script(APPEND)
    daemon = box.serve()
    stream = daemon.start("append", cwd=box.work)
    item = stream.until("waiting")["itemId"]
    daemon.kill()
    daemon = box.serve()
    pending = daemon.ask("GET", "/inbox")["items"]
    expect_eq([entry["id"] for entry in pending], [item])
    for _ in range(3):  # however often it is sent
        daemon.decide(item)
    expect_eq(daemon.follow(stream.key).end()["result"], "appended")
    expect_eq(lines(box), ["line"])


@test
def a_power_cut_while_the_model_thinks_asks_it_again(box):
    hold = threading.Event()

    def think(reply):
        if not hold.is_set():
            return reply.gone()
        return reply.text("thought anew")

    server = ModelServer(box, think)
    daemon = box.serve()
    key = daemon.start("think").key
    server.wait(1)
    daemon.kill()
    hold.set()
    daemon = box.serve()
    expect_eq(daemon.follow(key).end()["result"], "thought anew")
    expect_eq(len(server.seen), 2)


@test
def a_power_cut_in_a_command_is_a_question_for_a_person(box):
    """What it did is not known: it is not repeated, and somebody decides."""
    box.script(APPEND)
    daemon = box.serve()
    stream = held(box, daemon)
    inside = below(daemon.pid)
    expect(inside, "no hand")
    daemon.kill()
    eventually(lambda: all(map(is_dead, inside)), f"all processes of the run have ended: {inside}")
    daemon = box.serve()
    again = daemon.follow(stream.key)
    waiting = again.until("waiting")
    expect_eq(waiting["kind"], "unknown_effect")
    expect_eq(lines(box), ["begun"])
    daemon.decide(waiting["itemId"], "reject", reason="leave it")
    expect_eq(again.end()["stopReason"], "end_turn")
    expect_eq(lines(box), ["begun"])


@test
def power_cuts_at_any_moment_double_nothing(box):
    """Cut after each event that a client sees, in turn."""
    box.script(APPEND)
    daemon = box.serve()
    done = 0
    for cut in ("init", "tool_use", "approval_gate", "waiting", "tool_result", "text", "done"):
        before = len(lines(box))
        stream = daemon.start("append", cwd=box.work)
        key = stream.key
        decided = False
        if cut in ("tool_result", "text", "done"):
            daemon.decide(stream.until("waiting")["itemId"])
            decided = True
        if cut != "init":
            stream.until(cut)
        daemon.kill()
        daemon = box.serve()
        again = daemon.follow(key)
        if not decided:
            daemon.decide(again.until("waiting")["itemId"])
        expect_eq(again.end()["result"], "appended")
        expect_eq((cut, len(lines(box))), (cut, before + 1))
        done += 1
    expect_eq(done, 7)


# ---- the hand ----


@test
def a_killed_hand_is_a_failed_call_and_the_run_goes_on(box):
    for victim in ("bwrap", " serve"):  # the wall, and the hand behind it
        box.script(APPEND)
        if os.path.exists(box.path("work/out.txt")):
            os.remove(box.path("work/out.txt"))
        daemon = box.serve()
        stream = held(box, daemon)
        inside = below(daemon.pid)
        found = [pid for pid, args in inside.items()
                 if victim in os.path.basename(args.split()[0]) or victim in args]
        expect(found, f"no {victim} in {inside}")
        os.kill(found[-1], signal.SIGKILL)
        result = stream.until("tool_result")
        expect_eq(result["status"], "failed")
        eventually(lambda: all(map(is_dead, inside)), f"all have ended: {below(daemon.pid)}")
        daemon.ask("POST", f"/runs/{stream.key}/cancel", {})
        stream.end()
        daemon.stop()


@test
def sigterm_in_a_command_ends_within_seconds(box):
    box.script(APPEND)
    daemon = box.serve()
    stream = held(box, daemon)
    inside = below(daemon.pid)
    begin = time.monotonic()
    daemon.stop()
    took = time.monotonic() - begin
    expect(took < WAIT_S / 4, f"it took {took} s")  # the command itself would never end
    eventually(lambda: all(map(is_dead, inside)), "all have ended")
    daemon = box.serve()
    again = daemon.follow(stream.key)
    waiting = again.until("waiting")
    daemon.decide(waiting["itemId"], "reject", reason="leave it")
    expect_eq(again.end()["stopReason"], "end_turn")


# ---- the store ----


class FullDisk:
    """A daemon on a small disk, with a run that waits for a person, and then no room for more."""

    def __init__(self, box):
        disk = SmallDisk(box, "6m")
        box.data = os.path.join(disk.path, "data")
        box.env["DORMOUSE_DATA"] = box.data
        os.mkdir(box.data, 0o700)
        with open(os.path.join(box.data, "script.yaml"), "w") as file:
            file.write("match: state\nsteps:\n" + APPEND)
        with open(os.path.join(box.data, "config.yaml"), "w") as file:
            file.write("agent: { model: rehearsal }\nmodels:\n"
                       "  - { id: rehearsal, provider: script, script: script.yaml }\n")
        self.box = box
        self.daemon = box.serve()
        self.stream = self.daemon.start("append", cwd=box.work)
        self.item = self.stream.until("waiting")["itemId"]
        self.filler = os.path.join(disk.path, "filler")
        with open(self.filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        why = eventually(self.refused, "a write is refused")
        expect_eq((why.status, why.error["code"]), (503, "storage_failed"))
        status, body = self.daemon.get("/healthz")
        expect_eq((status, json.loads(body)["domains"]["agent"]), (503, "read_only"))
        expect_eq(lines(box), [])

    def refused(self):
        """Rows that fit into the pages there are may still be written."""
        try:
            Stream(self.daemon, "POST", "/run",
                   {"prompt": "append " + "x" * 20000, "cwd": self.box.work}).close()
        except Refused as why:
            return why
        return None

    def free(self):
        os.remove(self.filler)


@test
def a_full_disk_is_said_once_and_left_by_itself(box):
    full = FullDisk(box)
    daemon = full.daemon
    error = daemon.ask("POST", f"/inbox/{full.item}/decision", {"decision": "approve"}, 503)
    expect_eq(error["error"]["code"], "storage_failed")
    full.free()
    eventually(lambda: daemon.get("/healthz")[0] == 200, "the daemon writes again")
    daemon.decide(full.item)
    expect_eq(daemon.follow(full.stream.key).end()["result"], "appended")
    expect_eq(lines(box), ["line"])
    box.check_runs()
    _, err = daemon.stop()
    said = [line for line in map(json.loads, err.splitlines()) if line["level"] in ("warn", "error")
            and line["component"] != "serve"]  # which says that the daemon is root
    expect_eq([(line["component"], line.get("domain")) for line in said], [("store", "agent")])
    expect_eq(err.count("takes writes again"), 1)
    box.replays = False  # the disk goes before the box does


@test
def a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(box):
    full = FullDisk(box)
    daemon, stream, item = full.daemon, full.stream, full.item
    full.free()
    daemon.kill()
    daemon = box.serve()
    expect_eq(daemon.get("/healthz")[0], 200)
    daemon.decide(item)
    expect_eq(daemon.follow(stream.key).end()["result"], "appended")
    expect_eq(lines(box), ["line"])
    box.check_runs()
    daemon.stop()
    box.replays = False  # the disk goes before the box does


@test
def a_second_daemon_is_refused(box):
    box.script(APPEND)
    daemon = box.serve()
    error = box.error("serve", "--listen", "127.0.0.1:0")
    expect_eq(error["code"], "conflict")
    expect_eq(daemon.get("/healthz")[0], 200)
    daemon.kill()
    box.serve()


@test
def two_hundred_waiting_runs_do_not_slow_the_start(box):
    box.script(APPEND)
    daemon = box.serve()
    streams = [daemon.start("append", cwd=box.work) for _ in range(200)]
    items = [stream.until("waiting")["itemId"] for stream in streams]
    for stream in streams:
        stream.close()
    daemon.kill()
    daemon = box.serve()
    expect(daemon.cpu_s() < 5, f"it took {daemon.cpu_s()} s of a processor")
    expect_eq(len(daemon.ask("GET", "/inbox?limit=500")["items"]), 200)
    daemon.decide(items[100])
    expect_eq(daemon.follow(streams[100].key).end()["result"], "appended")
    expect_eq(lines(box), ["line"])
    expect_eq(box.check_runs(), 200)
    box.replays = False  # it was done


main()

#!/usr/bin/env python3
"""A daemon that stood still (SIGSTOP) for longer than anybody waits for it: what was sent meanwhile
arrives, and what was decided twice is said as it counts. The doors wait side by side."""
import json
import os
import pty
import signal
import threading
import time

from harness import BINARY, WebSocket, eventually, expect, expect_in, main, test
from model_server import ModelServer

UNANSWERED = "the daemon has not answered for 60 s"


def model(reply):
    what, name = reply.prompt().split()[:2]
    if what == "hold":
        reply.handler.connection.settimeout(None)
        reply.handler.connection.recv(1)  # until the daemon leaves
    elif reply.results():
        reply.text("done")
    else:
        reply.call("write_memory", {"path": f"knowledge/{name}.md", "reason": "a test", "content": "as proposed\n"})


class Terminal:
    def __init__(self, box, *words):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(box.work)
            os.execve(BINARY, [BINARY, *words], {**box.env, "TERM": "dumb"})
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while data := os.read(self.fd, 65536):
                self.text += data.decode(errors="replace")
        except OSError:
            pass

    def type(self, text):
        os.write(self.fd, text.encode())

    def asks(self, times):
        eventually(lambda: self.text.count("Allow it?") == times, f"it asks {times} times: {self.text!r}")

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def run_of(daemon, prompt):
    return next((run for run in daemon.ask("GET", "/runs")["runs"] if run["prompt"] == prompt), {"status": None})


@test
def what_was_sent_to_a_daemon_that_stood_still_counts_and_is_said(box):
    ModelServer(box, model)
    daemon = box.serve()
    socket = WebSocket(daemon, "/api/v1/agents/planner/ws?thread=planner:session:ws")
    socket.say(json.dumps({"type": "message", "content": "hold ws"}))
    eventually(lambda: run_of(daemon, "hold ws")["status"] == "running", "the run of the WebSocket is under way")
    doors = {"run": Terminal(box, "run", "remember run"), "chat": Terminal(box, "chat")}
    eventually(lambda: "> " in doors["chat"].text, "chat reads")
    doors["chat"].type("remember chat\n")
    for door in doors.values():
        door.asks(1)
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        socket.say(json.dumps({"type": "cancel"}))
        for door in doors.values():
            door.type("yes\n")
        for name, door in doors.items():
            eventually(lambda: UNANSWERED in door.text, f"{name} says that no answer came: {door.text!r}")
            expect_in("your yes may have arrived", door.text)
            door.asks(2)
            door.type("no changed my mind\n")
        time.sleep(1)  # the no is on its way, and the daemon still stands
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    eventually(lambda: run_of(daemon, "hold ws")["status"] == "cancelled", "the cancel of the WebSocket arrived")
    for name, door in doors.items():
        eventually(lambda: run_of(daemon, f"remember {name}")["status"] == "done", f"{name}: the run is done")
        items = [item for item in daemon.ask("GET", "/inbox?state=all")["items"]
                 if item.get("runId") == run_of(daemon, f"remember {name}")["runId"]]
        expect(len(items) == 1 and items[0]["state"] in ("approved", "rejected"), items)
        # Whichever came first: the last word is what counted, or it is said that it did not.
        if items[0]["state"] == "approved":
            eventually(lambda: "it was approved before: your no came too late" in door.text,
                       f"{name} says what counted: {door.text!r}")
        door.close()
    socket.close()
    daemon.stop()


def stand_still(daemon, seconds, meanwhile):
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        meanwhile()
        time.sleep(seconds)  # the limit passes
    finally:
        os.kill(daemon.pid, signal.SIGCONT)


def command_model(reply):
    if reply.results():
        reply.text("done")
    else:
        reply.call("bash", {"command": "touch begun; until test -e go; do sleep 0.05; done; echo arrived", "timeout_s": 4})


@test
def what_a_command_said_meanwhile_is_read_before_its_sandbox_is_given_up(box):
    ModelServer(box, command_model)
    daemon = box.serve()
    stream = daemon.start("wait", cwd=box.work)
    daemon.decide(stream.until("waiting")["itemId"])
    eventually(lambda: os.path.exists(f"{box.work}/begun"), "the command runs")
    # 4 s for the command and 5 s for the answer of the sandbox
    stand_still(daemon, 9.5, lambda: open(f"{box.work}/go", "w").close())
    result = stream.until("tool_result", toolName="bash")
    expect_in("arrived", json.dumps(result))
    stream.end()
    daemon.stop()


if __name__ == "__main__":
    main()

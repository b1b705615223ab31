#!/usr/bin/env python3
"""Every control of every door arrives, however long nothing was said before it: 1, 25 and 70 seconds.

All doors wait side by side, so the suite takes little longer than its longest wait. The signals that
end a front end are here too: within a second it is gone, and says what becomes of the run."""
import http.client
import json
import os
import pty
import select
import signal
import socket
import subprocess
import threading
import time
import traceback

from harness import BINARY, WAIT_S, WebSocket, eventually, expect, expect_eq, expect_in, main, test
from model_server import ModelServer

IDLE_S = (1, 25, 70)
HELD = "hold"  # the model never answers
MEMORY = "remember"  # a call that waits for a person
QUESTION = "ask"
DANGER = "mislead"  # the same with text that is flagged


def model(reply):
    """What the model does is the first word of the prompt; the second makes each run its own."""
    what, name = reply.prompt().split()[:2]
    if what == HELD:
        reply.handler.connection.settimeout(None)
        reply.handler.connection.recv(1)  # until the daemon leaves
    elif reply.results():
        reply.text("done")
    elif what in (MEMORY, DANGER):
        reply.call("write_memory", {"path": f"knowledge/{name}.md", "reason": "a test",
                                    "content": "as proposed\n" if what == MEMORY else "as \u202eproposed\n"})
    else:
        reply.call("ask_user", {"question": f"Which, {name}?"})


class Case:
    """One control through one door after one wait."""

    def __init__(self, box, daemon, door, control, idle):
        self.box, self.daemon, self.control, self.idle = box, daemon, control, idle
        self.name = f"{door.__name__}-{control}-{idle}".lower()
        self.door = door
        self.prompt = {"cancel": HELD, "mode": HELD, "answer": QUESTION}.get(control, MEMORY) + " " + self.name
        self.run = self.item = None
        self.failure = None

    def find(self):
        """The run, and the item that it waits for."""
        runs = [run for run in self.daemon.ask("GET", "/runs?limit=500")["runs"]
                if run["prompt"] == self.prompt]
        if not runs:
            return False
        self.run = runs[0]["runId"]
        if self.prompt.startswith(HELD):
            return runs[0]["status"] == "running"
        items = [item for item in self.daemon.ask("GET", "/inbox")["items"] if item.get("runId") == self.run]
        self.item = items[0]["id"] if items else None
        return bool(items)

    def happened(self):
        run = self.daemon.ask("GET", f"/runs/{self.run}")
        if self.control == "mode":
            return run["mode"] == "wiggum"
        if self.control == "cancel":
            return run["status"] == "cancelled"
        state = self.daemon.ask("GET", f"/inbox/{self.item}")["state"]
        return run["status"] == "done" and state == {"approve": "approved", "reject": "rejected",
                                                      "edit": "edited", "answer": "answered"}[self.control]

    def go(self):
        try:
            door = self.door(self)
            try:
                eventually(self.find, f"{self.name}: the run stands where it is to be steered")
                door.wait(self.idle)
                getattr(door, self.control)()
                eventually(self.happened, f"{self.name}: {self.control} arrived; the door said {door.said()!r}")
                if self.control == "mode":
                    self.daemon.ask("POST", f"/runs/{self.run}/cancel", {})
            finally:
                door.close()
        except Exception:  # told in the main thread
            self.failure = f"{self.name}: {traceback.format_exc()}"


class Process:
    """A front end on pipes."""

    words = ()

    def __init__(self, case):
        self.case = case
        self.process = subprocess.Popen([BINARY, *self.words], cwd=case.box.work, env=case.box.env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.text = ""
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.text += line

    def wait(self, seconds):
        time.sleep(seconds)  # the idleness that is tested

    def line(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def said(self):
        return self.text

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()


class Stdio(Process):
    words = ("stdio",)
    controls = ("cancel", "approve", "reject", "edit", "answer", "mode")

    def __init__(self, case):
        super().__init__(case)
        self.line(json.dumps({"prompt": case.prompt}))

    def send(self, kind, **more):
        self.line(json.dumps({"type": kind, **more}))

    def decide(self, decision, **more):
        self.send("approval_response", gateId=self.case.item, decision=decision, **more)

    def cancel(self):
        self.send("cancel")

    def mode(self):
        self.send("setMode", mode="wiggum")

    def approve(self):
        self.decide("approve")

    def reject(self):
        self.decide("reject", reason="no")

    def edit(self):
        self.send("memory_edit_decision", request_id=self.case.item, decision="edit", edited_content="edited\n")

    def answer(self):
        self.decide("answer", answer="this one")


class Chat(Process):
    words = ("chat",)
    controls = ("cancel", "approve", "reject", "edit", "answer")

    def __init__(self, case):
        super().__init__(case)
        self.line(case.prompt)

    def cancel(self):
        self.process.send_signal(signal.SIGINT)

    def approve(self):
        self.line("yes")

    def reject(self):
        self.line("no, because")

    def edit(self):
        self.line("edit\nedited")

    def answer(self):
        self.line("this one")


class Run:
    """On a terminal: elsewhere nobody is asked."""

    words = ("run",)
    env = {}
    controls = ("cancel", "approve", "reject", "edit", "answer")

    def __init__(self, case):
        self.text = ""
        editor = case.box.write("editor", f"""echo '{getattr(case, "edited", "edited")}' > "$1"\n""")
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(case.box.work)
            os.execve(BINARY, [BINARY, *self.words, case.prompt],
                      {**case.box.env, "TERM": "xterm", "EDITOR": f"sh {editor}", **self.env})
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while data := os.read(self.fd, 65536):
                self.text += data.decode(errors="replace")
        except OSError:
            pass

    def wait(self, seconds):
        time.sleep(seconds)  # the idleness that is tested

    def type(self, text):
        os.write(self.fd, text.encode())

    def say(self, text):
        """What is typed before the question stands there is forgotten."""
        eventually(lambda: "Allow it?" in self.text or "Your answer:" in self.text, "it asks")
        self.type(text)

    def said(self):
        return self.text

    def cancel(self):
        self.type("\x03")

    def approve(self):
        self.say("yes\n")

    def reject(self):
        self.say("no\n")

    def edit(self):
        self.say("edit\n")

    def answer(self):
        self.say("this one\n")

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class Fenced(Run):
    """It can't connect again: its connections have to last."""

    words = ("run", "--sandbox")
    env = {"ASAN_OPTIONS": "detect_leaks=0"}
    controls = ("cancel", "approve", "answer")


class Http:
    """A connection that was made before the wait, and by an ordinary client's rules: what was closed
    is opened again; what comes unasked is a fault."""

    controls = ("cancel", "approve", "reject", "edit", "answer", "mode")
    used = False  # asked for something before

    def __init__(self, case):
        self.case = case
        self.answer_text = ""
        case.daemon.start(case.prompt).close()
        self.connection = self.open()
        if self.used:
            self.ask("GET", f"/runs/{case.daemon.ask('GET', '/runs?limit=1')['runs'][0]['runId']}")

    def open(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.case.daemon.port, timeout=WAIT_S)
        connection.connect()
        return connection

    def wait(self, seconds):
        time.sleep(seconds)  # the idleness that is tested
        if select.select([self.connection.sock], [], [], 0)[0]:
            expect_eq(self.connection.sock.recv(4096, socket.MSG_PEEK), b"")
            self.connection.close()
            self.connection = self.open()

    def ask(self, method, path, body=None):
        self.connection.request(method, "/api/v1" + path, body=None if body is None else json.dumps(body),
                                headers={"Authorization": f"Bearer {self.case.daemon.token()}",
                                         "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        self.answer_text = answer.read().decode()
        expect_eq((answer.status, self.answer_text if answer.status != 200 else ""), (200, ""))

    def decide(self, decision, **more):
        self.ask("POST", f"/inbox/{self.case.item}/decision", {"decision": decision, **more})

    def cancel(self):
        self.ask("POST", f"/runs/{self.case.run}/cancel", {})

    def mode(self):
        self.ask("POST", f"/runs/{self.case.run}/mode", {"mode": "wiggum"})

    def approve(self):
        self.decide("approve")

    def reject(self):
        self.decide("reject", reason="no")

    def edit(self):
        self.decide("edit", edited_content="edited\n")

    def answer(self):
        self.decide("answer", answer="this one")

    def said(self):
        return self.answer_text

    def close(self):
        self.connection.close()


class KeptHttp(Http):
    controls = ("cancel", "approve")
    used = True


class Ws:
    controls = ("cancel", "approve", "reject", "edit", "answer", "mode")

    def __init__(self, case):
        self.case = case
        self.heard = []
        self.socket = WebSocket(case.daemon, f"/api/v1/agents/planner/ws?thread=planner:session:{case.name}")
        threading.Thread(target=self.hear, daemon=True).start()
        self.send("message", content=case.prompt)

    def hear(self):
        try:
            while (event := self.socket.hear()) is not None:
                self.heard.append(event)
        except (OSError, ValueError):
            pass

    def wait(self, seconds):
        time.sleep(seconds)  # the idleness that is tested

    def send(self, kind, **more):
        self.socket.say(json.dumps({"type": kind, **more}))

    def decide(self, decision, **more):
        self.send("approval_response", gateId=self.case.item, decision=decision, **more)

    def cancel(self):
        self.send("cancel")

    def mode(self):
        self.send("setMode", mode="wiggum")

    def approve(self):
        self.decide("approve")

    def reject(self):
        self.decide("reject", reason="no")

    def edit(self):
        self.send("memory_edit_decision", request_id=self.case.item, decision="edit", edited_content="edited\n")

    def answer(self):
        self.decide("answer", answer="this one")

    def said(self):
        return self.heard[-3:]

    def close(self):
        self.socket.close()


class Inbox:
    """A command for each decision."""

    controls = ("approve", "reject", "edit", "answer")
    text = ""

    def __init__(self, case):
        self.case = case
        case.daemon.start(case.prompt).close()

    def wait(self, seconds):
        time.sleep(seconds)  # the idleness that is tested

    def approve(self):
        self.case.box.run("approve", self.case.item)

    def refused(self, verb, *words, **more):
        self.text = self.case.box.run(verb, self.case.item, *words, code=4, **more)[1]

    def reject(self):
        self.case.box.run("reject", self.case.item, "--reason", "no")

    def edit(self):
        self.case.box.run("edit", self.case.item, "--content", "-", stdin="edited\n")

    def answer(self):
        self.case.box.run("answer", self.case.item, "this one")

    def said(self):
        return self.text

    def close(self):
        pass


DOORS = (Run, Fenced, Chat, Stdio, Http, KeptHttp, Ws, Inbox)


@test
def every_control_arrives_after_any_idleness(box):
    ModelServer(box, model)
    daemon = box.serve()
    cases = [Case(box, daemon, door, control, idle)
             for idle in reversed(IDLE_S) for door in DOORS for control in door.controls]
    threads = [threading.Thread(target=case.go) for case in cases]
    for thread in threads:
        thread.start()
        time.sleep(0.02)  # not all at one moment
    for thread in threads:
        thread.join()
    failed = [case.failure for case in cases if case.failure]
    expect(not failed, f"{len(failed)} of {len(cases)} controls did not arrive:\n" + "\n".join(failed))
    daemon.stop()


# ---- danger ----

# What a yes is in each door, and what it is a second time.
APPROVALS = {
    Run: (lambda door: door.say("yes\n"), lambda door: door.type("anyway\n")),
    Chat: (lambda door: door.line("yes"), lambda door: door.line("anyway")),
    Stdio: (lambda door: door.decide("approve"), lambda door: door.decide("approve", anyway=True)),
    Http: (lambda door: refused(door, "approve"), lambda door: door.decide("approve", anyway=True)),
    Ws: (lambda door: door.decide("approve"), lambda door: door.decide("approve", anyway=True)),
    Inbox: (lambda door: door.refused("approve"), lambda door: door.case.box.run("approve", door.case.item, "--anyway")),
}
EDITED = {"edited_content": "edited\n"}
EDITS = {
    Run: (lambda door: door.say("edit\n"), lambda door: door.type("anyway\n")),
    Chat: (lambda door: door.line("edit"), lambda door: door.line("anyway\nedited")),
    Stdio: (lambda door: door.edit(), lambda door: door.send("memory_edit_decision", request_id=door.case.item,
                                                             decision="edit", anyway=True, **EDITED)),
    Http: (lambda door: refused(door, "edit", **EDITED), lambda door: door.decide("edit", anyway=True, **EDITED)),
    Ws: (lambda door: door.edit(), lambda door: door.send("memory_edit_decision", request_id=door.case.item,
                                                          decision="edit", anyway=True, **EDITED)),
    Inbox: (lambda door: door.refused("edit", "--content", "-", stdin="edited\n"),
            lambda door: door.case.box.run("edit", door.case.item, "--content", "-", "--anyway", stdin="edited\n")),
}


# The item is harmless, what the person makes of it is not: the same words, and the same second one.
PASTED = "so \u202edetidE\n"
PASTES = {
    Run: (lambda door: door.say("edit\n"), lambda door: when_asked(door, lambda: door.type("anyway\n"))),
    Chat: (lambda door: door.line("edit\n" + PASTED.strip()), lambda door: when_asked(door, lambda: door.line("anyway"))),
    Stdio: (lambda door: door.send("memory_edit_decision", request_id=door.case.item, decision="edit", edited_content=PASTED),
            lambda door: door.send("memory_edit_decision", request_id=door.case.item, decision="edit", anyway=True, edited_content=PASTED)),
    Http: (lambda door: refused(door, "edit", edited_content=PASTED), lambda door: door.decide("edit", anyway=True, edited_content=PASTED)),
    Ws: (lambda door: door.send("memory_edit_decision", request_id=door.case.item, decision="edit", edited_content=PASTED),
         lambda door: door.send("memory_edit_decision", request_id=door.case.item, decision="edit", anyway=True, edited_content=PASTED)),
    Inbox: (lambda door: door.refused("edit", "--content", "-", stdin=PASTED),
            lambda door: door.case.box.run("edit", door.case.item, "--content", "-", "--anyway", stdin=PASTED)),
}


def when_asked(door, act):
    eventually(lambda: "Type anyway" in str(door.said()), "it asks for the second word")
    act()


def refused(door, decision, **more):
    try:
        door.decide(decision, **more)
    except AssertionError:
        expect_in('"code":"confirmation_required"', door.said())
        return
    raise AssertionError(f"{decision} was taken")


@test
def a_yes_to_what_is_dangerous_takes_a_second_word_at_every_door(box):
    ModelServer(box, model)
    daemon = box.serve()
    for control, words in (("approve", APPROVALS), ("edit", EDITS)):
        for kind, (first, second) in words.items():
            case = Case(box, daemon, kind, control, 0)
            case.prompt = f"{DANGER} {case.name}"
            door = kind(case)
            eventually(case.find, f"{case.name}: a person is asked")
            first(door)
            eventually(lambda: "anyway" in str(door.said()), f"{case.name}: it is said that it needs a word more")
            item = daemon.ask("GET", f"/inbox/{case.item}")
            expect_eq((case.name, item["state"]), (case.name, "pending"))
            expect(item["danger"], item)
            second(door)
            eventually(case.happened, f"{case.name}: the second word decides; the door said {door.said()!r}")
            door.close()
    daemon.stop()


@test
def danger_that_an_edit_brings_in_takes_a_second_word_at_every_door(box):
    ModelServer(box, model)
    daemon = box.serve()
    for kind, (first, second) in PASTES.items():
        case = Case(box, daemon, kind, "edit", 0)
        case.edited = PASTED.strip()
        door = kind(case)
        eventually(case.find, f"{case.name}: a person is asked")
        first(door)
        eventually(lambda: "anyway" in str(door.said()), f"{case.name}: it is said that it needs a word more")
        expect_in("suspicious", str(door.said()))
        item = daemon.ask("GET", f"/inbox/{case.item}")
        expect_eq((case.name, item["state"], item.get("danger")), (case.name, "pending", None))
        second(door)
        eventually(case.happened, f"{case.name}: the second word decides; the door said {door.said()!r}")
        kept = daemon.ask("GET", f"/agents/planner/memory/knowledge/{case.name}.md")
        expect_eq((case.name, kept["content"]), (case.name, PASTED))
        door.close()
    daemon.stop()


@test
def hidden_characters_in_edited_arguments_take_a_second_word(box):
    """Of any tool, as when the agent had written them."""
    ModelServer(box, lambda reply: reply.text("done") if reply.results() else reply.call("write_file", {"path": "x.txt", "content": "a\n"}))
    daemon = box.serve()
    stream = daemon.start("write", cwd=box.work)
    item = stream.until("waiting")["itemId"]
    try:
        daemon.ask("POST", f"/inbox/{item}/decision", {"decision": "edit", "input": {"path": "x.txt", "content": "a \u202etxt.b\n"}})
        raise AssertionError("it was taken")
    except AssertionError as error:
        expect_in("confirmation_required", str(error))
        expect_in("hidden in it", str(error))
    expect_eq(daemon.ask("GET", f"/inbox/{item}")["state"], "pending")
    daemon.ask("POST", f"/inbox/{item}/decision", {"decision": "edit", "input": {"path": "x.txt", "content": "b\n"}})
    stream.end()
    daemon.stop()


# ---- signals ----


class Ended:
    """A front end with a run under way, and how it went after a signal."""

    def __init__(self, box, daemon, words, stdin, number):
        prompt = f"{HELD} {words[0]}-{number.name}"
        process = subprocess.Popen([BINARY, *[word.replace("PROMPT", prompt) for word in words]], cwd=box.work,
                                   env=box.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdin.write(stdin.replace("PROMPT", prompt))
        process.stdin.flush()
        self.run = eventually(lambda: [run for run in daemon.ask("GET", "/runs")["runs"]
                                       if run["prompt"] == prompt and run["status"] == "running"],
                              f"{words[0]} has begun its run")[0]["runId"]
        begun = time.monotonic()
        process.send_signal(number)
        self.code = process.wait(WAIT_S)
        self.seconds = time.monotonic() - begun
        self.err = process.stderr.read()
        for file in (process.stdin, process.stdout, process.stderr):
            file.close()


FRONT_ENDS = ((("run", "PROMPT"), ""), (("stdio",), '{"prompt":"PROMPT"}\n'), (("chat",), "PROMPT\n"))


@test
def sigterm_cancels_the_run_and_ends_the_front_end(box):
    ModelServer(box, model)
    daemon = box.serve()
    for words, stdin in FRONT_ENDS:
        ended = Ended(box, daemon, words, stdin, signal.SIGTERM)
        expect_eq(ended.code, 1)
        expect(ended.seconds < WAIT_S / 4, f"{words[0]} took {ended.seconds} s")
        eventually(lambda: daemon.ask("GET", f"/runs/{ended.run}")["status"] == "cancelled",
                   f"{words[0]}: the run is cancelled")
    daemon.stop()


@test
def sighup_ends_the_front_end_and_leaves_the_run(box):
    ModelServer(box, model)
    daemon = box.serve()
    for words, stdin in FRONT_ENDS:
        ended = Ended(box, daemon, words, stdin, signal.SIGHUP)
        expect_eq(ended.code, 1)
        expect(ended.seconds < WAIT_S / 4, f"{words[0]} took {ended.seconds} s")
        expect_in("goes on", ended.err)
        expect_eq(daemon.ask("GET", f"/runs/{ended.run}")["status"], "running")
        daemon.ask("POST", f"/runs/{ended.run}/cancel", {})
    daemon.stop()


@test
def a_daemon_that_does_not_answer_holds_nobody_up(box):
    """Stopped with SIGSTOP: the front end is gone all the same, and says that it left."""
    ModelServer(box, model)
    daemon = box.serve()
    process = subprocess.Popen([BINARY, "run", f"{HELD} stopped"], cwd=box.work, env=box.env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    eventually(lambda: [run for run in daemon.ask("GET", "/runs")["runs"] if run["status"] == "running"],
               "the run has begun")
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        process.send_signal(signal.SIGTERM)
        expect_eq(process.wait(WAIT_S), 1)
        expect_in("goes on", process.stderr.read())
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    process.stdout.close()
    process.stderr.close()


@test
def a_second_ctrl_c_leaves_at_once_although_the_daemon_does_not_answer(box):
    ModelServer(box, model)
    daemon = box.serve()
    for words, stdin in FRONT_ENDS:
        prompt = f"{HELD} twice-{words[0]}"
        process = subprocess.Popen([BINARY, *[word.replace("PROMPT", prompt) for word in words]], cwd=box.work,
                                   env=box.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdin.write(stdin.replace("PROMPT", prompt))
        process.stdin.flush()
        eventually(lambda: [run for run in daemon.ask("GET", "/runs")["runs"]
                            if run["prompt"] == prompt and run["status"] == "running"], f"{words[0]} has begun its run")
        os.kill(daemon.pid, signal.SIGSTOP)
        try:
            process.send_signal(signal.SIGINT)
            # Two that come together are one: the second is sent when the first was taken.
            eventually(lambda: not pending(process.pid, signal.SIGINT), "the first one was taken")
            begun = time.monotonic()
            process.send_signal(signal.SIGINT)
            expect_eq((words[0], process.wait(WAIT_S)), (words[0], 1))
            expect(time.monotonic() - begun < 30, f"{words[0]} left after {time.monotonic() - begun} s")
            expect_in("dormouse: left. A run that had begun goes on", process.stderr.read())
        finally:
            os.kill(daemon.pid, signal.SIGCONT)
        for file in (process.stdin, process.stdout, process.stderr):
            file.close()
    daemon.stop()


def pending(pid, number):
    with open(f"/proc/{pid}/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    return (int(fields["SigPnd"], 16) | int(fields["ShdPnd"], 16)) >> number - 1 & 1


@test
def an_orderly_stop_of_the_daemon_prints_no_line_that_is_no_event(box):
    ModelServer(box, model)
    for words, stdin in ((("run", "--json", "PROMPT"), ""), FRONT_ENDS[1]):
        daemon = box.serve()
        prompt = f"{HELD} stop-{words[0]}"
        process = subprocess.Popen([BINARY, *[word.replace("PROMPT", prompt) for word in words]], cwd=box.work,
                                   env=box.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        process.stdin.write(stdin.replace("PROMPT", prompt))
        process.stdin.flush()
        eventually(lambda: [run for run in daemon.ask("GET", "/runs")["runs"]
                            if run["prompt"] == prompt and run["status"] == "running"], f"{words[0]} has begun its run")
        daemon.stop()
        process.send_signal(signal.SIGTERM)  # by now a keeper goes on with the run
        events = [json.loads(line) for line in process.communicate(timeout=WAIT_S)[0].splitlines()]
        expect(events, f"{words[0]} printed events")
        expect_eq([event for event in events if "type" not in event], [])


if __name__ == "__main__":
    main()

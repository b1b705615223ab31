#!/usr/bin/env python3
"""Runs as people and programs start them: run, stdio, the inbox, kill switches, and the keeper that
serves them when no daemon does. The model is the built-in one, so what it does is known."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import sqlite3
import struct
import subprocess
import termios
import time

from harness import (BINARY, WAIT_S, Skip, eventually, expect, expect_eq, expect_in, holder, is_dead, kill,
                     kill_holder, main, test)
from model_server import ModelServer

LIST = "what is in this folder?"


def bash(command):
    return f"run the command {command}"


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def until(what, true):
    """Waits for something that happens by itself."""
    return eventually(true, what)


def keeper_pid(box):
    """The process that holds the data directory's lock; None when nobody does."""
    try:
        with open(os.path.join(box.data, "lock")) as file:
            pid = int(file.read().strip() or 0)
        with open(f"/proc/{pid}/cmdline") as file:
            return pid if "--keeper" in file.read() else None
    except (OSError, ValueError):
        return None


def keeper(box):
    """A keeper that was there before the command, and stays: somebody is connected to it. One that a
    command has started may be gone a second after the command."""
    process = subprocess.Popen([BINARY, "serve", "--keeper", "--json", "--data", box.data], cwd=box.work,
                               env=box.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    expect_eq(json.loads(process.stdout.readline())["pid"], process.pid)
    held = socket.socket(socket.AF_UNIX)
    held.connect(f"{box.data}/dormouse.sock")
    process.stdout.close()
    box.closing.append(held)
    return process


def power_cut(process):
    process.kill()
    process.wait()


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, box, *words, env=None):
        self.text = ""
        self.code = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(box.work)
            os.execve(BINARY, [BINARY, *words], {**box.env, "TERM": "xterm", **(env or {})})

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.text += data.decode(errors="replace")
        return bool(data)

    def wait(self, part, after=0):
        """Until this text is on the screen, behind what was there at `after`."""
        end = time.monotonic() + WAIT_S
        while part not in self.text[after:]:
            if time.monotonic() > end or not self.read(max(0, end - time.monotonic())):
                raise AssertionError(f"{part!r} did not come; on the screen: {self.text!r}")
        return self.text.index(part, after) + len(part)

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self, code):
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and self.read(max(0, end - time.monotonic())):
            pass
        if time.monotonic() >= end:
            os.kill(self.pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        expect(status == code, f"ended with {status}, expected {code}: {self.text!r}")
        return self.text


class Stdio:
    """A session whose lines depend on what came out."""

    def __init__(self, box):
        self.process = subprocess.Popen([BINARY, "stdio"], cwd=box.work, env=box.env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.events = []

    def send(self, **line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def wait(self, kind):
        while True:
            line = self.process.stdout.readline()
            expect(line, f"it ended before {kind}")
            self.events.append(json.loads(line))
            if self.events[-1]["type"] == kind:
                return self.events[-1]

    def end(self, code):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        expect_eq(self.process.wait(WAIT_S), code)
        self.events += lines(rest)


def waiting(box, prompt=None):
    """A run that waits for approval: (its id, the item's id)."""
    out, _ = box.run("run", prompt or bash("echo hello > made.txt"), "--json", code=3)
    events = lines(out)
    expect_eq(events[-1]["type"], "waiting")
    return events[-1]["runId"], events[-1]["itemId"]


def run_status(box, run_id):
    for run in lines(box.run("runs", "--json")[0]):
        if run["runId"] == run_id:
            return run["status"]
    raise AssertionError(f"no run {run_id}")


# ---- run ----


@test
def a_fresh_directory_answers(box):
    box.write("work/a.txt", "x")
    out, err = box.run("run", LIST, "--json")
    events = lines(out)
    expect_eq(err, "")
    recorded = [e["type"] for e in events if not e.get("isPartial")]
    expect_eq(recorded, ["init", "tool_use", "tool_result", "text", "done"])
    for event in events:
        expect({"type", "seq", "runId", "at"} <= set(event), event)
    expect_eq(events[-1]["stopReason"], "end_turn")
    expect_in("a.txt", events[-1]["result"])
    text = "".join(e["content"] for e in events if e["type"] == "text" and e["isPartial"])
    expect_eq(text, events[-1]["result"])


@test
def people_get_text_without_colours_in_a_pipe(box):
    box.write("work/a.txt", "x")
    out, _ = box.run("run", LIST, env={"TERM": "xterm"})
    expect_in("• read_file  .\n", out)
    expect_in("  a.txt\n", out)
    expect("\033" not in out and '"' not in out, out)


@test
def a_terminal_gets_colours_and_what_it_took(box):
    text = Terminal(box, "run", LIST).end(0)
    expect_in("\033[1m• read_file", text)
    expect_in(" s", text.splitlines()[-1])
    text = Terminal(box, "run", LIST, env={"NO_COLOR": "1"}).end(0)
    expect("\033[" not in text, text)


@test
def the_prompt_may_come_from_standard_input(box):
    box.write("work/b.txt", "x")
    out, _ = box.run("run", "-", "--json", stdin=LIST + "\n")
    expect_in("b.txt", lines(out)[-1]["result"])


@test
def wrong_usage_of_run_ends_with_two(box):
    expect_in("needs PROMPT", box.error("run", code=2)["message"])
    expect_in("empty", box.error("run", " \n", code=2)["message"])
    expect_in("--mode", box.error("run", "x", "--mode", "fast", code=2)["message"])
    expect_in("--max-iterations", box.error("run", "x", "--max-iterations", "0", code=2)["message"])
    expect_in("--cwd", box.error("run", "x", "--cwd", "/no/such/place", code=2)["message"])
    expect(not os.path.exists(box.data), "a mistake has made a data directory")


@test
def what_can_not_be_started_is_said(box):
    expect_eq(box.error("run", "x", "--model", "nope", code=4)["code"], "model_not_allowed")
    expect_eq(box.error("run", "x", "--agent", "nobody", code=1)["code"], "not_found")


@test
def a_conversation_goes_on_in_its_thread(box):
    first = lines(box.run("run", "hello", "--json")[0])[-1]
    second = lines(box.run("run", LIST, "--thread", first["threadId"], "--json")[0])
    expect_eq(second[-1]["threadId"], first["threadId"])
    expect(second[0]["seq"] > first["seq"], "the thread's events begin anew")
    expect(second[0]["runId"] != first["runId"], "the same run")


@test
def wiggum_needs_no_approval_in_the_sandbox(box):
    out, _ = box.run("run", bash("echo hello > made.txt"), "--mode", "wiggum", "--json")
    events = lines(out)
    if events[-1]["stopReason"] == "error":
        raise Skip(str(events[-2]))
    expect("approval_gate" not in [e["type"] for e in events], out)
    with open(os.path.join(box.work, "made.txt")) as file:
        expect_eq(file.read(), "hello\n")


# ---- approvals ----


@test
def what_can_not_be_done_is_told_to_the_model(box):
    """Nobody is asked about an edit of text that is not there, nor about a write outside the walls."""
    box.write("work/a.txt", "one\n")
    for name, arguments, part in (
        ("edit_file", '{ path: a.txt, old: two, new: three }', "a.txt"),
        ("write_file", '{ path: /usr/nowhere.txt, content: x }', "/usr"),
    ):
        box.script("  - expect: { results: 0 }\n"
                   "    reply: { calls: [{ name: read_file, arguments: { path: a.txt } }] }\n"
                   "  - expect: { results: 1 }\n"
                   f"    reply: {{ calls: [{{ name: {name}, arguments: {arguments} }}] }}\n"
                   "  - expect: { results: 2 }\n    reply: { text: '${result}' }\n")
        kill_holder(box.data)
        events = lines(box.run("run", "go", "--json")[0])
        if "sandbox_unavailable" in str(events):
            raise Skip(str(events))
        expect("approval_gate" not in [event["type"] for event in events], events)
        expect_eq(events[-1]["stopReason"], "end_turn")
        expect_in(part, events[-1]["result"])
        expect_in("Nothing waits", box.run("inbox")[0])


@test
def without_a_terminal_it_ends_with_three_and_says_how_to_decide(box):
    out, _ = box.run("run", bash("echo hello > made.txt"), code=3)
    expect_in("echo hello > made.txt", out)
    expect_in("  sandbox       on\n", out)
    item = lines(box.run("inbox", "--json")[0])[0]
    expect_in(f"dormouse approve {item['id'][:8]}", out)
    expect(not os.path.exists(f"{box.work}/made.txt"), "it acted before it was allowed")


@test
def an_approved_run_goes_on(box):
    run, item = waiting(box)
    out, _ = box.run("approve", item[:8])
    expect_in("Approved", out)
    until("the run is done", lambda: run_status(box, run) == "done")
    with open(os.path.join(box.work, "made.txt")) as file:
        expect_eq(file.read(), "hello\n")
    expect_in("Already approved", box.run("approve", item)[0])
    expect_eq(box.error("reject", item)["code"], "conflict")
    expect_in("Nothing waits", box.run("inbox")[0])
    expect_eq([i["state"] for i in lines(box.run("inbox", "--all", "--json")[0])], ["approved"])
    expect_in("approved", box.run("inbox", item[:6])[0])


@test
def a_rejected_call_is_told_to_the_agent(box):
    run, item = waiting(box)
    answer = box.json("reject", item, "--reason", "not on a Monday")
    expect_eq(answer["item"]["reason"], "not on a Monday")
    until("the run is done", lambda: run_status(box, run) == "done")
    expect(not os.path.exists(f"{box.work}/made.txt"), "it acted anyway")
    expect_in("not on a Monday", box.run("trace", run, "--json")[0])
    thread = lines(box.run("threads", "list", "--json")[0])[0]["id"]
    expect_in("you rejected it: not on a Monday", box.run("threads", "show", thread)[0])


@test
def edited_arguments_are_used(box):
    run, item = waiting(box)
    expect_in("no terminal", box.error("edit", item)["message"])
    expect_in("JSON", box.run("edit", item, "--input", "{nope", code=1)[1])
    box.json("edit", item, "--input", '{"command":"echo edited > made.txt"}')
    until("the run is done", lambda: run_status(box, run) == "done")
    with open(os.path.join(box.work, "made.txt")) as file:
        expect_eq(file.read(), "edited\n")


@test
def the_editor_edits(box):
    run, item = waiting(box)
    editor = box.write("editor", 'sed -i s/hello/edited/ "$1"\n')
    Terminal(box, "edit", item[:8], env={"EDITOR": f"sh {editor}"}).end(0)
    until("the run is done", lambda: run_status(box, run) == "done")
    with open(os.path.join(box.work, "made.txt")) as file:
        expect_eq(file.read(), "edited\n")


@test
def a_grant_covers_the_next_call_until_it_is_revoked(box):
    run, item = waiting(box)
    box.run("approve", item, "--always")
    until("the run is done", lambda: run_status(box, run) == "done")
    grant = lines(box.run("inbox", "--grants", "--json")[0])[0]
    expect_eq((grant["scope"], grant["toolName"]), ("always", "bash"))
    expect_in(grant["id"][:8], box.run("inbox", "--grants")[0])
    box.run("run", bash("echo hello > made.txt"), "--json")
    waiting(box, bash("echo another > made.txt"))
    box.run("inbox", "--revoke", grant["id"])
    expect_in("Nothing is granted", box.run("inbox", "--grants")[0])
    waiting(box)


@test
def a_grant_is_revoked_by_what_the_list_prints(box):
    """By the beginning of its id, and by that of the item in the same line; else it is said which are meant."""
    made = {}
    for word in ("one", "two"):
        run, item = waiting(box, bash(f"echo {word} > made.txt"))
        box.run("approve", item, "--always")
        until("the run is done", lambda: run_status(box, run) == "done")
        made[item[:8]] = [grant["id"] for grant in lines(box.run("inbox", "--grants", "--json")[0]) if grant["inboxId"] == item][0]
    (first, one), (second, two) = made.items()
    same = os.path.commonprefix([one, two])
    expect(len(same) >= 4, f"{one} and {two} were made in the same minute")
    said = box.error("inbox", "--revoke", same)["message"]
    for grant in (one, two):
        expect_in(grant[:len(same) + 1], said)
    said = box.error("inbox", "--revoke", "0000feed")["message"]
    expect_in("`dormouse inbox --grants` shows", said)
    expect_in(first, box.run("inbox", "--grants")[0])
    box.run("inbox", "--revoke", first)
    expect_eq([grant["id"] for grant in lines(box.run("inbox", "--grants", "--json")[0])], [two])
    box.run("inbox", "--revoke", two[:len(same) + 1])
    expect_in("Nothing is granted", box.run("inbox", "--grants")[0])


@test
def a_grant_holds_in_its_directory_only(box):
    """`cd` moves where a command runs: what was allowed elsewhere asks again."""
    os.makedirs(os.path.join(box.work, "sub"))
    made = "{ name: bash, arguments: { command: 'echo x >> made.txt' } }"
    moves = "{ name: bash, arguments: { command: 'cd sub' } }"
    box.script("  - expect: { user: once, results: 0 }\n"
               f"    reply: {{ calls: [{made}] }}\n"
               "  - expect: { user: moved, results: 0 }\n"
               f"    reply: {{ calls: [{moves}] }}\n"
               "  - expect: { user: moved, results: 1 }\n"
               f"    reply: {{ calls: [{made}] }}\n"
               "  - expect: { user: together, results: 0 }\n"
               f"    reply: {{ calls: [{moves}, {made}] }}\n"
               "  - expect: { user: together, results: 2 }\n    reply: { text: '${result}' }\n"
               "  - reply: { text: done }\n")
    run, item = waiting(box, "once")
    shown = lines(box.run("inbox", "--json")[0])[0]
    expect_eq([choice["scope"] for choice in shown["choices"]], ["once", "run", "always"])
    expect_in(f"in {box.work}, inside the walls as they are now", shown["choices"][2]["covers"])
    expect_in("From now on, for this agent: bash", " ".join(box.run("inbox", item)[0].split()))
    box.run("approve", item, "--always")
    until("the run is done", lambda: run_status(box, run) == "done")
    box.run("run", "once")
    with open(os.path.join(box.work, "made.txt")) as file:
        expect_eq(file.read(), "x\nx\n")
    # After the call that moves has come back, and in the same answer with it.
    run, item = waiting(box, "moved")
    box.run("approve", item, "--always")
    until("it asks again", lambda: any(i["runId"] == run for i in lines(box.run("inbox", "--json")[0])))
    box.run("reject", lines(box.run("inbox", "--json")[0])[0]["id"])
    box.run("run", "together", code=3)
    expect(not os.path.exists(f"{box.work}/sub/made.txt"), "it ran where nobody allowed it")
    item, = lines(box.run("inbox", "--json")[0])
    expect_in(f"in {box.work}/sub, inside the walls", item["choices"][2]["covers"])
    box.run("approve", item["id"])
    until("it ran where it was allowed", lambda: os.path.exists(f"{box.work}/sub/made.txt"))


@test
def a_grant_of_a_file_follows_no_link(box):
    """A link that is made after the yes leads where nobody was shown: it is asked, whichever grant it is."""
    write = "{ name: write_file, arguments: { path: g.txt, content: new } }"
    edit = "{ name: edit_file, arguments: { path: pa/f, old: one, new: two } }"
    moves = "{ name: bash, arguments: { command: 'mv pa pa.real; ln -s pb pa' } }"
    box.script("  - expect: { user: always, results: 0 }\n"
               f"    reply: {{ calls: [{write}] }}\n"
               "  - expect: { user: within, results: 0 }\n"
               f"    reply: {{ calls: [{edit}] }}\n"
               "  - expect: { user: within, results: 1 }\n"
               f"    reply: {{ calls: [{moves}] }}\n"
               "  - expect: { user: within, results: 2 }\n"
               f"    reply: {{ calls: [{edit}] }}\n"
               "  - reply: { text: done }\n")

    def there(name):
        with open(os.path.join(box.work, name)) as file:
            return file.read()

    def asked(run):
        until("it is asked", lambda: any(i["runId"] == run for i in lines(box.run("inbox", "--json")[0])))
        item, = lines(box.run("inbox", "--json")[0])
        return item["id"]

    def leads(item, name):
        expect_in(f"leads to {box.work}/{name}", " ".join(box.run("inbox", item)[0].split()))

    run, item = waiting(box, "always")
    box.run("approve", item, "--always")
    until("the run is done", lambda: run_status(box, run) == "done")
    os.remove(f"{box.work}/g.txt")
    box.run("run", "always")
    expect_eq(there("g.txt"), "new")
    os.remove(f"{box.work}/g.txt")
    os.symlink("elsewhere.txt", f"{box.work}/g.txt")
    for _ in range(2):  # a yes to the link, for always, is none to where it leads next time
        run, item = waiting(box, "always")
        expect(not os.path.exists(f"{box.work}/elsewhere.txt"), "it was written by a link")
        leads(item, "elsewhere.txt")
        box.run("approve", item, "--always")
        until("the run is done", lambda: run_status(box, run) == "done")
        expect_eq(there("elsewhere.txt"), "new")
        os.remove(f"{box.work}/elsewhere.txt")
    # In one run.
    for name in ("pa", "pb"):
        os.makedirs(os.path.join(box.work, name))
        with open(f"{box.work}/{name}/f", "w") as file:
            file.write("one")
    run, item = waiting(box, "within")
    box.run("approve", item, "--run")
    box.run("approve", asked(run))  # the command that makes the link
    item = asked(run)
    expect_eq((there("pa.real/f"), there("pb/f")), ("two", "one"))
    leads(item, "pb/f")
    box.run("reject", item)
    until("the run is done", lambda: run_status(box, run) == "done")
    expect_eq(there("pb/f"), "one")


@test
def for_this_run_is_not_for_every_command(box):
    box.script("  - expect: { results: 0 }\n"
               "    reply: { calls: [{ name: bash, arguments: { command: ls } }] }\n"
               "  - expect: { results: 1 }\n"
               "    reply: { calls: [{ name: bash, arguments: { command: 'touch made.txt' } }] }\n"
               "  - reply: { text: done }\n")
    run, item = waiting(box, "go")
    box.run("approve", item, "--run")
    until("it asks about the other command", lambda: lines(box.run("inbox", "--json")[0]))
    grant = lines(box.run("inbox", "--grants", "--json")[0])[0]
    expect_in('exactly {"command":"ls"}', grant["covers"])
    expect(not os.path.exists(f"{box.work}/made.txt"), "it acted")


@test
def ids_that_are_none_are_refused(box):
    for words in (["approve"], ["reject"], ["inbox"]):
        for name in ("zzzz", "a/../../x", "?state=all", "x y\r\nz"):
            expect(box.error(*words, name)["code"] in ("not_found", "bad_request"), name)
    expect_in("--run and --always", box.error("approve", "x", "--run", "--always", code=2)["message"])
    expect_in("only one of", box.error("inbox", "--all", "--grants", code=2)["message"])


ASK = '''
  - expect: { results: 0 }
    reply: { calls: [{ name: ask_user, arguments: { question: "Which colour?\\nThe fence is long%s.", choices: [red, blue] } }] }
  - expect: { results: 1 }
    reply: { text: "They said ${result}" }
''' % (" and has two sides" * 10)


@test
def a_question_is_read_and_answered_from_the_inbox(box):
    box.script(ASK)
    expect_in("dormouse answer", box.run("run", "paint", code=3)[0])
    item = lines(box.run("inbox", "--json")[0])[0]["id"]
    listed = box.run("inbox")[0]
    expect_in("Which colour? The fence is long and has", listed)
    expect_in("\n│ 1  red\n│ 2  blue\n", listed)
    shown = box.run("inbox", item[:8])[0]
    expect_in("\n│ Which colour?\n│ The fence is long and has two sides", shown)
    expect_in(f"\n│ 1  red\n│ 2  blue\n\nWaiting for you:  dormouse answer {item[:8]} TEXT\n", shown)
    expect_in("? Which colour?", box.run("chat", stdin=f"/inbox {item}\n")[0])
    box.run("answer", item[:8], "blue")
    expect_in("  answer        blue\n", box.run("inbox", item[:8])[0])
    expect_in("Which colour?", box.run("inbox", "--all")[0])


@test
def a_wake_whose_run_waits_says_for_what(box):
    box.script(ASK)
    daemon = box.serve()
    key = daemon.ask("POST", "/agents/planner/wake", {"words": "paint"}, 202)["runKey"]
    item = until("it asks", lambda: daemon.ask("GET", "/inbox")["items"])[0]["id"]
    said = f"waits for an answer: `dormouse inbox {item[:8]}`\n"
    until("its run waits", lambda: said in box.run("wakes")[0])
    row = [line for line in box.run("wakes")[0].splitlines() if line.startswith(key[:12])][0]
    expect_in(f"running  {said.strip()}", row)
    expect_in(f"now         {said}", box.run("wakes", key)[0])
    box.run("answer", item, "red")
    until("the run is over", lambda: daemon.ask("GET", f"/wakes/{key}")["status"] == "completed")
    expect("waits for" not in box.run("wakes")[0], box.run("wakes")[0])
    daemon.stop()


# ---- on a terminal ----


@test
def the_person_at_the_terminal_is_asked(box):
    terminal = Terminal(box, "run", bash("echo hello > made.txt"))
    terminal.wait("Allow it?")
    terminal.type("what?\n")
    at = terminal.wait("cancels the run")
    terminal.wait("Allow it?", at)
    terminal.type("yes\n")
    text = terminal.end(0)
    expect("dormouse approve" not in text, text)
    expect(os.path.exists(f"{box.work}/made.txt"), text)


def question_after_a_stop(terminal, at):
    """Stops the program and lets it go on; the question stands there again, and a yes that was typed meanwhile is none."""
    os.kill(terminal.pid, signal.SIGSTOP)
    os.waitpid(terminal.pid, os.WUNTRACED)
    terminal.type("yes\n")
    os.kill(terminal.pid, signal.SIGCONT)
    at = terminal.wait("│ echo hello > made.txt", at)
    return terminal.wait("Allow it?", at)


@test
def a_question_is_drawn_again_when_the_program_goes_on_after_a_stop(box):
    terminal = Terminal(box, "run", bash("echo hello > made.txt"))
    at = question_after_a_stop(terminal, terminal.wait("Allow it?"))
    terminal.type("no\n")
    expect_in("A person said no", terminal.end(0)[at:])
    expect(not os.path.exists(f"{box.work}/made.txt"), terminal.text)


@test
def approve_draws_its_question_again_when_it_goes_on_after_a_stop(box):
    box.run("run", bash("echo hello > made.txt"), code=3)
    terminal = Terminal(box, "approve", box.json("inbox")["id"])
    question_after_a_stop(terminal, terminal.wait("Allow it?"))
    terminal.type("no\n")
    terminal.end(0)
    expect(not os.path.exists(f"{box.work}/made.txt"), terminal.text)


@test
def a_question_is_drawn_again_for_a_window_of_another_size(box):
    terminal = Terminal(box, "run", bash("echo hello > made.txt # " + "long " * 30))
    at = terminal.wait("Allow it?")
    fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 50, 0, 0))
    again = terminal.wait("Allow it?", at)
    drawn = [line for line in terminal.text[at:again].split("\r\n") if "│" in line or "┊" in line]
    expect(len(drawn) > 2 and all(len(re.sub("\x1b[^m]*m", "", line)) <= 50 for line in drawn), drawn)
    terminal.type("no\n")
    terminal.end(0)


@test
def a_path_stands_nowhere_that_a_fact_could_begin(box):
    path = "n.txt" + " " * 46 + "state     approved by you"
    box.script(f"""
  - expect: {{ results: 0 }}
    reply: {{ calls: [{{ name: write_file, arguments: {{ path: {json.dumps(path)}, content: x }} }}] }}
  - reply: {{ text: "done" }}
""")
    box.run("run", "write", code=3)
    terminal = Terminal(box, "inbox", box.json("inbox")["id"])
    fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    shown = re.sub("\x1b[^m]*m", "", terminal.end(0)).split("\r\n")
    expect_eq([line.split() for line in shown if re.match(r"\s{0,4}state", line)], [["state", "pending"]])


@test
def the_person_may_say_no_and_why(box):
    terminal = Terminal(box, "run", bash("echo hello > made.txt"))
    terminal.wait("Allow it?")
    terminal.type("no, because of the cat\n")
    expect_in("because of the cat", terminal.end(0).split("Allow it?")[1])
    expect(not os.path.exists(f"{box.work}/made.txt"), "it acted anyway")


@test
def a_sentence_at_the_terminal_is_no_yes(box):
    terminal = Terminal(box, "run", bash("echo hello > made.txt"))
    at = terminal.wait("Allow it?")
    for said in ("always ask me first", "a bad idea", "run it elsewhere", "yes but not here", "edit it", "a", "y", "r"):
        terminal.type(f"{said}\n")
        at = terminal.wait("cancels the run", at)
        at = terminal.wait("Allow it?", at)
    terminal.type("NO not here\n")
    expect_in("not here", terminal.end(0))
    expect(not os.path.exists(f"{box.work}/made.txt"), "it acted anyway")
    expect_eq(box.run("inbox", "--grants", "--json")[0], "")


@test
def what_was_typed_before_the_question_decides_nothing(box):
    terminal = Terminal(box, "run", bash("echo hello > made.txt"))
    terminal.type("yes\nalways\nrun\n")
    at = terminal.wait("Allow it?")
    terminal.type("what?\n")  # an answer to it: all that came before would have been taken first
    at = terminal.wait("cancels the run", at)
    terminal.wait("Allow it?", at)
    expect_eq([i["state"] for i in lines(box.run("inbox", "--json")[0])], ["pending"])
    terminal.type("no\nyes\n")
    terminal.end(0)
    expect(not os.path.exists(f"{box.work}/made.txt"), "it acted anyway")


@test
def a_long_command_is_paged_and_not_approved_before_its_end(box):
    command = "\n".join(f"echo {i}" for i in range(60)) + "\necho hello > made.txt"
    box.script(f"""
  - expect: {{ user: long, results: 0 }}
    reply: {{ calls: [{{ name: bash, arguments: {{ command: {json.dumps(command)} }} }}] }}
  - reply: {{ text: "done" }}
""")
    terminal = Terminal(box, "run", "long")
    at = terminal.wait("Enter shows more")
    expect_in("  directory     " + box.work, terminal.text)
    expect_in("  ends after    30 s", terminal.text)
    expect("made.txt" not in terminal.text, terminal.text)
    for word in ("yes", "always"):
        terminal.type(f"{word}\n")
        at = terminal.wait("Enter shows more", at)
    expect_eq([i["state"] for i in lines(box.run("inbox", "--json")[0])], ["pending"])
    while "Allow it?" not in terminal.text:
        terminal.type("\n")
        terminal.wait(": ", at)
        at = len(terminal.text)
    expect_in("│ echo hello > made.txt", terminal.text)
    terminal.type("yes\n")
    terminal.end(0)
    expect(os.path.exists(f"{box.work}/made.txt"), terminal.text)


@test
def approve_on_a_terminal_shows_the_item_and_asks(box):
    run, item = waiting(box)
    terminal = Terminal(box, "approve", item[:8])
    terminal.wait("Allow it?")
    expect_in("│ echo hello > made.txt", terminal.text)
    terminal.type("yes\n")
    expect_in("Approved", terminal.end(0))
    until("the run is done", lambda: run_status(box, run) == "done")


@test
def the_person_may_edit(box):
    editor = box.write("editor", 'sed -i s/hello/edited/ "$1"\n')
    terminal = Terminal(box, "run", bash("echo hello > made.txt"),
                        env={"EDITOR": f"sh {editor}"})
    terminal.wait("Allow it?")
    terminal.type("edit\n")
    terminal.end(0)
    with open(os.path.join(box.work, "made.txt")) as file:
        expect_eq(file.read(), "edited\n")


@test
def end_of_input_leaves_it_waiting(box):
    terminal = Terminal(box, "run", bash("ls"))
    terminal.wait("Allow it?")
    terminal.type("\x04")
    expect_in("dormouse approve", terminal.end(3))
    expect_eq(len(lines(box.run("inbox", "--json")[0])), 1)


@test
def an_item_decided_elsewhere_lets_the_run_go_on(box):
    terminal = Terminal(box, "run", bash("echo hello > made.txt"))
    terminal.wait("Allow it?")
    box.run("approve", lines(box.run("inbox", "--json")[0])[0]["id"])
    terminal.end(0)
    expect(os.path.exists(f"{box.work}/made.txt"), terminal.text)


@test
def ctrl_c_cancels_the_run(box):
    terminal = Terminal(box, "run", bash("ls"))
    terminal.wait("Allow it?")
    terminal.type("\x03")
    expect_in("Cancelled.", terminal.end(1))
    expect_eq(lines(box.run("runs", "--json")[0])[0]["status"], "cancelled")
    expect_in("Nothing waits", box.run("inbox")[0])


@test
def ctrl_c_ends_a_command_under_way(box):
    name = f"600.{os.getpid()}"  # other suites sleep as well
    line = f"sleep\0{name}\0".encode()
    terminal = Terminal(box, "run", bash(f"sleep {name}"))
    terminal.wait("Allow it?")
    terminal.type("yes\n")
    until("it runs", lambda: [p for p in os.listdir("/proc") if p.isdigit() and is_command(p, line)])
    terminal.type("\x03")
    terminal.end(1)
    until("it has ended", lambda: not [p for p in os.listdir("/proc") if p.isdigit() and
                                       is_command(p, line)])


def is_command(pid, line):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read() == line
    except OSError:
        return False


@test
def behind_the_wall_it_shows_and_asks(box):
    """The leak checker wants to trace the process, which is what the wall forbids."""
    env = {"ASAN_OPTIONS": "detect_leaks=0"}
    out, _ = box.run("run", LIST, "--sandbox", "--json", env=env)
    expect_eq(lines(out)[-1]["stopReason"], "end_turn")
    terminal = Terminal(box, "run", bash("echo hello > made.txt"), "--sandbox", env=env)
    terminal.wait("Allow it?")
    with open(f"/proc/{terminal.pid}/status") as file:
        status = file.read()
    expect_in("NoNewPrivs:\t1", status)
    expect_in("Seccomp:\t2", status)
    expect("yes, no, run" in terminal.text, terminal.text)  # no editor behind the wall
    terminal.type("yes\n")
    terminal.end(0)
    expect(os.path.exists(f"{box.work}/made.txt"), terminal.text)


# ---- the keeper ----


@test
def the_keeper_ends_by_itself(box):
    box.run("run", LIST)
    pid = holder(box.data)
    expect(pid, "there was no keeper")
    until("the keeper has ended", lambda: is_dead(pid))
    box.run("run", LIST)
    expect(holder(box.data) not in (None, pid), "no keeper of its own")


@test
def many_commands_at_once_share_one_keeper(box):
    started = [subprocess.Popen([BINARY, "run", LIST, "--json"], cwd=box.work, env=box.env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for _ in range(6)]
    for process in started:
        out, err = process.communicate(timeout=WAIT_S)
        expect_eq(process.returncode, 0)
        expect_eq(lines(out)[-1]["stopReason"], "end_turn")
        expect_eq(err, "")
    expect_eq(len(lines(box.run("runs", "--json")[0])), 6)


@test
def a_daemon_that_runs_is_used(box):
    daemon = box.serve()
    box.run("run", LIST)
    with open(os.path.join(box.data, "lock")) as file:
        expect_eq(int(file.read()), daemon.pid)
    daemon.stop()


@test
def a_stale_socket_is_replaced(box):
    kept = keeper(box)
    box.run("run", LIST)
    power_cut(kept)
    expect(os.path.exists(f"{box.data}/dormouse.sock"), "the socket is gone")
    box.run("run", LIST)


@test
def a_data_directory_may_have_a_long_path(box):
    deep = os.path.join(box.dir, "d" * 100, "e" * 100)
    out, _ = box.run("run", LIST, "--json", "--data", deep)
    expect_eq(lines(out)[-1]["stopReason"], "end_turn")
    expect(os.path.exists(f"{deep}/dormouse.sock"), os.listdir(deep))


@test
def runs_are_listed_after_the_keeper_was_killed(box):
    kept = keeper(box)
    run, item = waiting(box)
    power_cut(kept)
    expect_eq(run_status(box, run), "waiting")
    box.run("approve", item)
    until("the run is done", lambda: run_status(box, run) == "done")
    expect(os.path.exists(f"{box.work}/made.txt"), "nothing was done")


@test
def a_front_end_finds_its_run_again(box):
    terminal = Terminal(box, "run", bash("echo hello >> made.txt"))
    terminal.wait("Allow it?")
    pid = keeper_pid(box)
    kill(pid)
    until("there is another keeper", lambda: keeper_pid(box) not in (None, pid))
    terminal.type("yes\n")
    terminal.end(0)
    with open(os.path.join(box.work, "made.txt")) as file:
        expect_eq(file.read(), "hello\n")


ACT = bash("echo hello >> made.txt")


def acted_once(box):
    with open(os.path.join(box.work, "made.txt")) as file:
        expect_eq(file.read(), "hello\n")


class AtTerminal:
    """A run that waits at a terminal."""

    def __init__(self, box):
        self.terminal = Terminal(box, "run", ACT)
        self.terminal.wait("Allow it?")

    def approve(self):
        """Once: the question stands, whoever serves the run now."""
        self.terminal.type("yes\n")

    def end(self):
        self.terminal.wait("made.txt is done")
        self.terminal.end(0)


class ByLine(Stdio):
    """A run that waits in a stdio session."""

    def __init__(self, box):
        super().__init__(box)
        self.send(prompt=ACT)
        self.item = self.wait("waiting")["itemId"]

    def approve(self):
        self.send(type="approval_response", gateId=self.item, decision="approve", scope="once")

    def end(self):
        self.wait("done")
        super().end(0)


def replaces_a_keeper(box, front, goes, there):
    """The daemon goes while a run waits, its client starts a keeper, and the next daemon replaces that. Who approves
    then, the client or somebody at the daemon's port, is heard, and the run acts once."""
    for own in (True, False):
        daemon = box.serve()
        client = front(box)
        goes(daemon)
        if there:
            until("there is a keeper", lambda: keeper_pid(box))
        daemon = box.serve()
        expect_eq(holder(box.data), daemon.pid)
        item, = daemon.ask("GET", "/inbox")["items"]
        if own:
            client.approve()
        else:
            daemon.decide(item["id"])
        client.end()
        acted_once(box)
        expect_eq(holder(box.data), daemon.pid)
        os.unlink(f"{box.work}/made.txt")
        daemon.stop()


@test
def a_stopped_daemon_comes_back_while_a_run_waits_at_a_terminal(box):
    replaces_a_keeper(box, AtTerminal, lambda daemon: daemon.stop(), there=True)


@test
def a_killed_daemon_comes_back_while_a_run_waits_at_a_terminal(box):
    replaces_a_keeper(box, AtTerminal, lambda daemon: daemon.kill(), there=True)


@test
def a_stopped_daemon_comes_back_while_a_stdio_run_waits(box):
    replaces_a_keeper(box, ByLine, lambda daemon: daemon.stop(), there=True)


@test
def a_killed_daemon_comes_back_while_a_stdio_run_waits(box):
    replaces_a_keeper(box, ByLine, lambda daemon: daemon.kill(), there=True)


@test
def a_daemon_that_comes_back_at_once_meets_the_keeper_at_any_moment(box):
    """While the client starts a keeper: before it has the lock, before it hears signals, before it is ready."""
    for _ in range(3):
        replaces_a_keeper(box, AtTerminal, lambda daemon: daemon.kill(), there=False)


@test
def of_two_daemons_one_replaces_the_keeper(box):
    client = AtTerminal(box)
    kept = keeper_pid(box)
    words = [BINARY, "serve", "--json", "--listen", "127.0.0.1:0"]
    both = [subprocess.Popen(words, cwd=box.work, env=box.env, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(2)]
    said = [json.loads(process.stdout.readline()) for process in both]
    won, = [process for process, line in zip(both, said) if "url" in line]
    lost, = [process for process in both if process is not won]
    refused, = [line["error"]["message"] for line in said if "error" in line]
    expect_eq(refused, f"another dormouse (process {won.pid}) uses {box.data}; stop it with: kill {won.pid}")
    expect_eq(lost.wait(WAIT_S), 1)
    until("the keeper has gone", lambda: is_dead(kept))
    client.approve()
    client.end()
    acted_once(box)
    won.terminate()
    expect_eq(won.wait(WAIT_S), 0)
    for process in both:
        process.stdout.close()


@test
def a_keeper_stays_for_whoever_is_no_daemon(box):
    """Somebody who sends the signal and is not next at the lock: `restore`, which would take the run's data away."""
    client = AtTerminal(box)
    kept = keeper_pid(box)
    box.run("backup", box.path("backup.tar"))
    expect_in(f"another dormouse (process {kept})", box.run("restore", "--force", box.path("backup.tar"), code=1)[1])
    expect_eq(keeper_pid(box), kept)
    client.approve()
    client.end()
    acted_once(box)


@test
def an_effect_under_way_ends_before_a_daemon_replaces_the_keeper(box):
    terminal = Terminal(box, "run", bash("echo begun >> made.txt; sleep 1; echo ended >> made.txt"))
    at = terminal.wait("Allow it?")
    terminal.type("yes\n")
    made = os.path.join(box.work, "made.txt")
    until("it has begun", lambda: os.path.exists(made) and os.path.getsize(made) > 0)
    daemon = box.serve()
    terminal.end(0)
    expect("Do it again?" not in terminal.text[at:], terminal.text)
    with open(made) as file:
        expect_eq(file.read(), "begun\nended\n")
    daemon.stop()


@test
def an_effect_that_takes_long_is_cut_off_as_by_a_restart(box):
    terminal = Terminal(box, "run", bash("echo begun >> made.txt; sleep 600"))
    at = terminal.wait("Allow it?")
    terminal.type("yes\n")
    made = os.path.join(box.work, "made.txt")
    until("it has begun", lambda: os.path.exists(made) and os.path.getsize(made) > 0)
    daemon = box.serve()
    terminal.wait("Do it again?", at)
    terminal.type("no\n")
    terminal.end(0)
    with open(made) as file:
        expect_eq(file.read(), "begun\n")
    daemon.stop()


@test
def an_effect_cut_off_by_a_crash_is_asked_about(box):
    terminal = Terminal(box, "run", bash("echo begun >> made.txt; sleep 60"))
    at = terminal.wait("Allow it?")
    terminal.type("yes\n")
    made = os.path.join(box.work, "made.txt")
    until("it has begun", lambda: os.path.exists(made) and os.path.getsize(made) > 0)
    kill(keeper_pid(box))
    terminal.wait("Do it again?", at)
    terminal.type("no\n")
    terminal.end(0)
    with open(os.path.join(box.work, "made.txt")) as file:
        expect_eq(file.read(), "begun\n")


@test
def a_broken_configuration_is_said_and_starts_nothing(box):
    box.config("nonsense: 1\n")
    expect_in("nonsense", box.error("run", LIST, code=1)["message"])


# ---- stop ----


@test
def the_emergency_stop_holds_until_it_is_lifted(box):
    expect_in("Nothing is stopped", box.run("kill")[0])
    out, _ = box.run("kill", "--all", "--reason", "smoke")
    expect_in("smoke", out)
    expect_eq(box.error("run", LIST, code=4)["code"], "kill_switch_active")
    until("the keeper has ended", lambda: keeper_pid(box) is None)
    expect_eq(box.json("kill")["switches"][0]["reason"], "smoke")
    expect_in("--all", box.error("unkill", code=2)["message"])
    expect_in("only one of", box.error("kill", "--all", "--tools", "shell", code=2)["message"])
    expect_eq(box.json("unkill", "--all")["switches"], [])
    box.run("run", LIST)


@test
def a_class_of_tools_can_be_stopped(box):
    box.run("kill", "--tools", "shell")
    out, _ = box.run("run", bash("ls"), "--json")
    expect("approval_gate" not in [e["type"] for e in lines(out)], out)
    expect_in("kill_switch_active", out)
    box.run("run", LIST)
    expect_in("Nothing is stopped", box.run("unkill", "--tools", "shell")[0])


@test
def a_paused_agent_starts_nothing(box):
    box.run("run", "hello")
    agent = lines(box.run("agent", "list", "--json")[0])[0]
    expect_in("is paused", box.run("agent", "pause", agent["id"][:4])[0])
    expect_eq(box.error("run", LIST)["code"], "agent_paused")
    expect_in("paused", box.run("agent", "list")[0])
    expect_eq(box.json("agent", "resume", agent["id"])["paused"], False)
    expect_in(agent["displayName"], box.run("agent", "show", agent["id"])[0])
    expect_eq(box.error("agent", "show", "nobody")["code"], "not_found")


@test
def a_rerun_is_a_new_run(box):
    first = lines(box.run("run", LIST, "--json")[0])[-1]
    second = lines(box.run("rerun", first["runId"][:8], "--json")[0])[-1]
    expect_eq(second["result"], first["result"])
    expect(second["runId"] != first["runId"], "the same run")
    expect(second["threadId"] != first["threadId"], "the same thread")
    expect_eq(box.error("rerun", "ffffffff")["code"], "not_found")


@test
def a_rerun_has_the_limits_of_the_earlier_run(box):
    daemon = box.serve()
    limits = {"maxIterations": 7, "maxTokens": 90000, "maxToolCalls": 5, "maxMs": 60000}
    first = daemon.start(LIST, mode="wiggum", cwd=box.work, **limits)
    first.end()
    out, err = box.run("rerun", first.key, "--json")
    events = lines(out)
    expect_eq(err, "")
    expect_eq({event["runId"] for event in events}, {events[0]["runId"]})
    expect_eq((events[0]["type"], events[-1]["type"]), ("init", "done"))
    expect_eq([event["seq"] for event in events if not event.get("isPartial")],
              list(range(1, 1 + len([e for e in events if not e.get("isPartial")]))))
    earlier, later = (daemon.ask("GET", f"/runs/{key}") for key in (first.key, events[0]["runId"]))
    same = ("prompt", "mode", "model", "cwd", "agentId", *limits)
    expect_eq({key: later.get(key) for key in same}, {key: earlier.get(key) for key in same})
    expect_eq({key: later[key] for key in limits}, limits)


@test
def a_limit_ends_the_rerun_as_it_ended_the_run(box):
    box.script('''
  - expect: { results: 0 }
    reply: { calls: [{ name: search, arguments: { glob: "*" } }] }
  - expect: { results: 1 }
    reply: { text: "looked" }
''')
    first = lines(box.run("run", "look", "--max-iterations", "1", "--json", code=1)[0])
    expect_eq(first[-1]["stopReason"], "error")
    second = lines(box.run("rerun", first[0]["runId"], "--json", code=1)[0])
    expect_eq([e["type"] for e in second], [e["type"] for e in first])
    told = [next(e for e in run if e["type"] == "error") for run in (first, second)]
    expect_eq(told[1]["code"], told[0]["code"])
    expect_eq(box.error("rerun", "abc")["code"], "bad_request")
    expect_in("needs RUN", box.error("rerun", code=2)["message"])


@test
def a_named_session_goes_on_where_it_was(box):
    first = lines(box.run("run", "hello", "--session", "diary", "--json")[0])
    again = lines(box.run("run", "hello", "--session", "diary", "--json")[0])
    other = lines(box.run("run", "hello", "--session", "other", "--json")[0])
    expect_in(":session:diary", first[-1]["threadId"])
    expect_eq(again[-1]["threadId"], first[-1]["threadId"])
    expect(other[-1]["threadId"] != first[-1]["threadId"], "two names, one conversation")
    expect(again[0]["seq"] == first[-1]["seq"] + 1, "the conversation has a gap")
    expect_eq(other[0]["seq"], 1)
    # By the id of its thread it is the same conversation.
    by_id = lines(box.run("run", "hello", "--thread", first[-1]["threadId"], "--json")[0])
    expect_eq(by_id[0]["seq"], again[-1]["seq"] + 1)
    for name, part in (("x" * 300, "bytes"), ("a\nb", "control character")):
        error = box.error("run", "hello", "--session", name)
        expect_eq(error["code"], "bad_request")
        expect_in(part, error["message"])


# ---- stdio ----


def stdio(box, *sent, code=0):
    out, _ = box.run("stdio", stdin="".join(line + "\n" for line in sent), code=code)
    return lines(out)


@test
def prompts_in_a_row_are_one_conversation(box):
    events = stdio(box, '{"prompt":"hello"}', '{"prompt":"what is in this folder?"}')
    done = [e for e in events if e["type"] == "done"]
    expect_eq([e["stopReason"] for e in done], ["end_turn", "end_turn"])
    expect_eq(len({e["threadId"] for e in events}), 1)
    seqs = [e["seq"] for e in events if not e.get("isPartial")]
    expect_eq(seqs, list(range(1, len(seqs) + 1)))


@test
def bad_lines_are_answered_by_number(box):
    events = stdio(box, "nonsense", "", "[1]", '{"type":"fly"}', '{"prompt":7}', '{"x":1}',
                   '{"type":"cancel"}', '{"type":"setMode","mode":"wiggum"}',
                   '{"type":"approval_response"}', '{"prompt":"hi","colour":"red"}',
                   '{"prompt":"hi","mode":"fast"}',
                   '{"type":"approval_response","gateId":"none","decision":"approve"}',
                   '{"prompt":"' + "x" * 1100000 + '"}', '{"prompt":"hello"}', code=1)
    errors = {e["line"]: e["code"] for e in events if e["type"] == "error"}
    expect_eq(sorted(errors), [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
    expect_eq(errors[13], "too_large")
    expect_eq(events[-1]["type"], "done")


@test
def decisions_come_by_line(box):
    session = Stdio(box)
    session.send(prompt=bash("echo hello > made.txt"))
    item = session.wait("waiting")
    session.send(type="approval_response", gateId=item["itemId"], decision="approve", scope="once")
    session.wait("done")
    session.send(prompt=bash("echo more > more.txt"))
    item = session.wait("waiting")
    session.send(type="approval_response", gateId=item["itemId"], decision="reject", reason="no")
    session.wait("done")
    session.end(0)
    expect(os.path.exists(f"{box.work}/made.txt"), "not done")
    expect(not os.path.exists(f"{box.work}/more.txt"), "done anyway")


@test
def changes_of_memory_are_decided_by_line(box):
    session = Stdio(box)
    for number, (said, success) in enumerate((({"decision": "edit", "edited_content": "- mine\n"}, True),
                                              ({"decision": "reject", "reason": "no"}, False))):
        session.send(prompt=f"remember that I like tea number {number}")
        request = session.wait("memory_edit_request")
        session.wait("waiting")
        session.send(type="memory_edit_decision", request_id=request["request_id"], **said)
        complete = session.wait("memory_edit_complete")
        expect_eq((complete["request_id"], complete["success"]), (request["request_id"], success))
        session.wait("done")
    session.send(type="memory_edit_decision", decision="approve")
    expect_eq(session.wait("error")["code"], "bad_request")
    session.end(0)
    expect_eq(box.run("memory", "cat", request["path"])[0], "- mine\n")


@test
def a_session_can_cancel(box):
    session = Stdio(box)
    session.send(prompt=bash("ls"))
    session.wait("waiting")
    session.send(type="cancel")
    expect_eq(session.wait("done")["stopReason"], "cancelled")
    session.end(1)


@test
def the_end_of_input_leaves_what_waits(box):
    events = stdio(box, json.dumps({"prompt": bash("ls")}), '{"prompt":"hello"}', code=3)
    expect_in("waiting", [e["type"] for e in events])
    expect_eq([e["line"] for e in events if e["type"] == "error"], [2])
    expect_eq(len(lines(box.run("inbox", "--json")[0])), 1)


@test
def an_empty_session_is_done(box):
    expect_eq(stdio(box), [])


# ---- what is told of a run afterwards ----


UNSEALED = {
    "n": "the log is found by it",
    "hand_state": "of a process that is gone", "hand_pid": "the same", "hand_stamp": "the same",
    "host_n": "who may go on with a run that is open", "fence": "the same",
    "updated_at": "nobody reads it of a run that has ended",
}


@test
def every_column_of_a_finished_run_is_sealed(box):
    box.run("run", LIST)
    run = box.runs()[0]["runId"]
    until("nobody has the directory", lambda: is_dead(holder(box.data)))
    db = sqlite3.connect(f"{box.data}/agent.sqlite", isolation_level=None)
    box.run("replay", "--check", run)
    columns = {row[1]: row[2] for row in db.execute("pragma table_info(runs)")}
    expect(set(UNSEALED) <= set(columns), "a column that is not there need not be exempt")
    unseen = []
    for column, kind in columns.items():
        before, = db.execute(f"select {column} from runs").fetchone()
        changed = {"INTEGER": (before or 0) + 1 if kind == "INTEGER" else 0, "REAL": 0.5,
                   "BLOB": b"x" * 32}.get(kind, "wiggum" if column == "mode" else "cancelled")
        if column in UNSEALED:
            continue
        db.execute(f"update runs set {column} = ?", (changed,))
        done = subprocess.run([BINARY, "replay", "--check", run], env=box.env, cwd=box.work, text=True,
                              capture_output=True, timeout=WAIT_S)
        if done.returncode == 0:
            unseen.append(column)
        db.execute(f"update runs set {column} = ?", (before,))
    expect_eq(unseen, [])
    db.execute("update runs set stop_reason = 'error', status = 'failed'")
    expect_in("stop_reason", box.error("replay", "--check", run)["message"])
    db.execute("update runs set stop_reason = 'end_turn', status = 'done'")
    box.run("replay", "--check", run)
    db.close()


@test
def a_trajectory_says_what_was_refused_and_how_commands_ended(box):
    def model(reply):
        if reply.is_check():
            reply.check(True)
        elif reply.results():
            reply.text("done")
        elif reply.prompt() == "remember":
            reply.call("write_memory", {"path": "knowledge/a.md", "content": "x", "reason": "y"})
        else:
            reply.call("bash", {"command": "exit 3"}, {"command": "true"})

    ModelServer(box, model)
    box.run("run", "remember", "--mode", "wiggum", code=3)
    box.run("reject", lines(box.run("inbox", "--json")[0])[0]["id"])
    until("it is done", lambda: box.runs()[0]["status"] == "done")
    box.run("run", "command", "--mode", "wiggum")
    told = {one["prompt"]: one for one in lines(box.run("trajectories", "export")[0])}
    refused, command = told["remember"], told["command"]
    expect_eq((refused["outcome"], refused["reward"]), ("failure", 0))
    expect_eq([step["status"] for step in refused["steps"]], ["refused"])
    expect("exit_code" not in refused["steps"][0], refused)
    expect_eq((command["outcome"], command["reward"]), ("success", 1))
    expect_eq(sorted((step["status"], step["exit_code"]) for step in command["steps"]),
              [("completed", 0), ("failed", 3)])


main()

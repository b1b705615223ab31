#!/usr/bin/env python3
"""dormouse chat on a pseudo terminal and on pipes. See harness.py for how suites run."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from harness import BINARY, WAIT_S, eventually, expect, holder, is_dead, kill, main, test


class Terminal:
    """A conversation on a terminal; what it prints is collected without its escape sequences."""

    def __init__(self, box, *words, columns=80, env=None):
        self.seen = ""
        self.raw = b""
        self.from_here = 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(box.work)
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
                os.execve(BINARY, [BINARY, "chat", *words],
                          dict(box.env, TERM="xterm", LANG="C.UTF-8", **(env or {})))
            finally:
                os._exit(127)
        box.closing.append(self)

    def type(self, text):
        self.from_here = len(self.seen)
        os.write(self.fd, text.encode())

    def edits(self):
        """The line is the program's to edit, not the terminal's."""
        return not termios.tcgetattr(self.fd)[3] & termios.ICANON

    def stop_and_go_on(self, typed=""):
        """As Ctrl-Z and fg with a shell that has the terminal in between, where something is typed."""
        eventually(self.edits, "the editor has the terminal")
        self.from_here = len(self.seen)
        os.kill(self.pid, signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)
        mode = termios.tcgetattr(self.fd)
        mode[3] |= termios.ICANON | termios.ECHO
        termios.tcsetattr(self.fd, termios.TCSANOW, mode)
        os.write(self.fd, typed.encode())
        os.kill(self.pid, signal.SIGCONT)
        eventually(self.edits, "the editor has the terminal again")

    def read(self, seconds):
        """False when the other side is closed."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            self.raw += os.read(self.fd, 65536)
        except OSError:
            return False
        text = self.raw.decode(errors="replace")
        self.seen = re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>])", "", text)
        return True

    def wait(self, part):
        """Until part has appeared after what was last typed."""
        end = time.monotonic() + WAIT_S
        while part not in self.seen[self.from_here:]:
            expect(time.monotonic() < end, f"{part!r} did not appear: {self.seen!r}")
            self.read(0.2)

    def prompt(self):
        """Until it asks for the next message: the prompt stands in a line of its own, and it is the
        last that was printed since something was typed."""
        end = time.monotonic() + WAIT_S
        while not re.search(r"\r\n(\r)?> $", self.seen[self.from_here:]):
            expect(time.monotonic() < end, f"no prompt came: {self.seen!r}")
            self.read(0.2)

    def ended(self):
        """The exit code, once it has ended."""
        end = time.monotonic() + WAIT_S
        while self.read(0.2):
            expect(time.monotonic() < end, f"it did not end: {self.seen!r}")
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


def begin(box, *words, **how):
    terminal = Terminal(box, *words, **how)
    terminal.wait("Ctrl-D leaves")
    terminal.prompt()
    return terminal


@test
def a_message_is_answered_and_ctrl_d_leaves(box):
    box.write("work/seen.txt", "x")
    chat = begin(box)
    chat.type("what is in this folder?\r")
    chat.wait("seen.txt")
    chat.prompt()
    chat.type("\x04")
    expect(chat.ended() == 0, "Ctrl-D is no failure")


@test
def ctrl_d_typed_while_a_run_goes_on_leaves_after_it(box):
    box.write("work/seen.txt", "x")
    chat = begin(box)
    chat.type("what is in this folder?\r")
    chat.wait("\n")
    chat.type("\x04")
    expect(chat.ended() == 0, "Ctrl-D is no failure")
    expect("1 file" in chat.seen, f"the run was not waited for: {chat.seen!r}")


@test
def a_stop_takes_the_terminal_and_gives_it_back(box):
    chat = Terminal(box)
    chat.prompt()
    chat.stop_and_go_on()
    chat.wait("> ")
    chat.type("read note.txt\n")
    chat.wait("there is no note.txt")
    chat.prompt()


@test
def a_question_is_drawn_again_after_a_stop_and_for_another_window(box):
    chat = Terminal(box)
    chat.prompt()
    chat.type("write milk to note.txt\n")
    chat.wait("Allow it?")
    chat.stop_and_go_on("yes\n")
    chat.wait("+milk")
    chat.wait("Allow it?")
    chat.from_here = len(chat.seen)
    fcntl.ioctl(chat.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 60, 0, 0))
    chat.wait("+milk")
    chat.wait("Allow it?")
    expect(not os.path.exists(f"{box.work}/note.txt"), chat.seen)
    chat.type("yes\n")
    chat.prompt()
    expect(os.path.exists(f"{box.work}/note.txt"), chat.seen)


@test
def an_approval_is_asked_inline_with_its_diff(box):
    chat = begin(box)
    chat.type("create a file notes.txt with the text hello\r")
    chat.wait("+hello")
    chat.wait("Allow it?")
    expect(not os.path.exists(box.path("work/notes.txt")), "it acted before it was allowed to")
    chat.type("?\r")
    chat.wait("do exactly this, once")
    chat.wait("Allow it?")
    chat.type("yes\r")
    chat.wait("notes.txt")
    chat.prompt()
    with open(box.path("work/notes.txt")) as file:
        expect(file.read().strip() == "hello", "another text was written")


@test
def a_no_is_told_with_its_reason(box):
    chat = begin(box)
    chat.type("create a file notes.txt with the text hello\r")
    chat.wait("Allow it?")
    chat.type("no, not today\r")
    chat.wait("not today")
    chat.prompt()
    expect(not os.path.exists(box.path("work/notes.txt")), "a no was not heeded")


@test
def what_was_typed_while_it_ran_decides_nothing(box):
    chat = begin(box)
    chat.type("create a file notes.txt with the text hello\ryes\ryes\r")
    chat.wait("Allow it?")
    chat.type("?\r")  # an answer to it: all that came before would have been taken first
    chat.wait("do exactly this, once")
    chat.wait("Allow it?")
    expect([json.loads(line)["state"] for line in box.run("inbox", "--json")[0].splitlines()] == ["pending"], chat.seen)
    expect(not os.path.exists(box.path("work/notes.txt")), "it was approved before it was shown")
    chat.type("no\r")
    chat.prompt()


@test
def ctrl_c_cancels_the_run_and_not_the_program(box):
    chat = begin(box)
    chat.type("run the command echo begun >> out.txt; sleep 600\r")
    chat.wait("Allow it?")
    chat.type("yes\r")
    eventually(lambda: words_of(box, "out.txt") == ["begun"], "the command has begun")
    chat.type("\x03")
    chat.wait("Cancelled.\r\n> ")
    chat.type("half")
    chat.wait("half")
    chat.type("\x03")
    chat.wait("^C\r\n> ")
    chat.type("\x03")
    chat.wait("/quit leaves")
    chat.type("/quit\r")
    expect(chat.ended() == 0, "it ended badly")


@test
def history_is_kept_without_secrets(box):
    chat = begin(box)
    chat.type("/mode structured\r")
    chat.wait("Mode: structured")
    chat.prompt()
    chat.type("/model password=hunter2hunter2\r")
    chat.wait("Model: ")
    chat.prompt()
    chat.type("/quit\r")
    chat.ended()
    path = box.path("data/chat_history")
    with open(path) as file:
        text = file.read()
    expect("/mode structured" in text and "hunter2" not in text, f"history: {text}")
    expect(os.stat(path).st_mode & 0o777 == 0o600, "others may read the history")
    again = begin(box)
    again.type("\x10\x10\r")  # past /quit
    again.wait("Mode: structured")


@test
def tab_completes_commands_and_what_follows_them(box):
    chat = begin(box)
    chat.type("/he\t\r")
    chat.wait("shows this")
    chat.wait("Ctrl-D leaves.\r\n> ")
    chat.type("/mode w\t\r")
    chat.wait("Mode: wiggum")


@test
def several_lines_are_one_message(box):
    out, _ = box.run("chat", stdin='"""\nhello\nthere\n"""\nhel\\\nlo\n/threads\n')
    expect("session" in out, f"no thread: {out}")


@test
def an_earlier_conversation_is_resumed(box):
    box.write("work/seen.txt", "x")
    box.run("chat", stdin="what is in this folder?\n")
    out, _ = box.run("chat", "--continue", stdin="/threads\n")
    expect("> what is in this folder?" in out and "seen.txt" in out, f"not shown: {out}")
    expect(out.count(":session:") == 1, f"more than one thread: {out}")


@test
def without_a_terminal_there_are_no_escapes(box):
    out, err = box.run("chat", stdin="hello\n/help\n")
    expect("\x1b" not in out + err and "/resume" in out, f"{out}{err}")


@test
def a_script_that_ends_at_an_approval_leaves_the_run_waiting(box):
    out, _ = box.run("chat", stdin="create a file notes.txt with the text hello\n", code=3)
    expect("dormouse approve" in out, out)


@test
def colours_are_off_when_asked(box):
    chat = begin(box, env={"NO_COLOR": "1"})
    chat.type("hello\r")
    chat.prompt()
    expect(b"\x1b[1m" not in chat.raw and b"\x1b[31m" not in chat.raw, repr(chat.raw))


@test
def a_narrow_terminal_gets_wrapped_lines(box):
    box.script('  - { reply: { text: "one two three four five", repeat: 4 } }\n')
    chat = begin(box, columns=24)
    chat.type("count\r")
    chat.wait("five\r\n")
    chat.prompt()
    answer = chat.seen[chat.from_here:].split("\r\n")[1:]
    expect(len(answer) > 4 and all(len(line) <= 24 for line in answer), chat.seen)


# ---- what waits ----


def words_of(box, name):
    """What a file of the run holds; nothing when it is not there."""
    if not os.path.exists(box.path(f"work/{name}")):
        return []
    with open(box.path(f"work/{name}")) as file:
        return file.read().split()


ASK = '''
  - expect: { results: 0 }
    reply: { calls: [{ name: ask_user, arguments: { question: "Which colour?", choices: [red, blue] } }] }
  - expect: { results: 1 }
    reply: { text: "They said ${result}" }
'''


@test
def a_question_is_answered_by_the_number_of_a_choice(box):
    box.script(ASK)
    chat = begin(box)
    chat.type("paint\r")
    chat.wait("Which colour?")
    chat.wait("2  blue")
    chat.wait("answer: ")
    chat.type("2\r")
    chat.wait("They said")
    chat.wait("blue")
    chat.prompt()


@test
def a_question_is_answered_in_other_words_on_pipes(box):
    box.script(ASK)
    out, _ = box.run("chat", stdin="paint\n\ngreen\n")
    expect("1  red" in out and "They said" in out and "green" in out, out)


@test
def an_editor_changes_what_is_done(box):
    editor = box.write("editor", '#!/bin/sh\nsed -i s/hello/changed/ "$1"\n')
    os.chmod(editor, 0o755)
    chat = begin(box, env={"EDITOR": editor})
    chat.type("create a file notes.txt with the text hello\r")
    chat.wait("Allow it?")
    chat.type("edit\r")
    chat.prompt()
    expect(words_of(box, "notes.txt") == ["changed"], chat.seen)


@test
def an_editor_that_changes_nothing_or_fails_asks_again(box):
    for editor, said in (("true", "Nothing was changed"), ("false", "nothing was decided")):
        chat = begin(box, env={"EDITOR": editor})
        chat.type("create a file notes.txt with the text hello\r")
        chat.wait("Allow it?")
        chat.type("edit\r")
        chat.wait(said)
        chat.wait("Allow it?")
        chat.type("no\r")
        chat.prompt()
    expect(not os.path.exists(box.path("work/notes.txt")), "it was written")


APPEND = '''
  - expect: { user: twice, results: 0 }
    reply: { calls: [{ name: bash, arguments: { command: "echo one >> out.txt" } }] }
  - expect: { user: twice, results: 1 }
    reply: { calls: [{ name: bash, arguments: { command: "echo two >> out.txt" } }] }
  - expect: { user: twice, results: 2 }
    reply: { text: "finished" }
  - expect: { user: again, results: 0 }
    reply: { calls: [{ name: bash, arguments: { command: "echo one >> out.txt" } }] }
  - expect: { user: again, results: 1 }
    reply: { calls: [{ name: bash, arguments: { command: "echo one >> out.txt" } }] }
  - expect: { user: again, results: 2 }
    reply: { text: "finished" }
  - expect: { user: same, results: 0 }
    reply: { calls: [{ name: bash, arguments: { command: "echo same >> out.txt" } }] }
  - expect: { user: same, results: 1 }
    reply: { text: "finished" }
  - expect: { user: hold, results: 0 }
    reply: { calls: [{ name: bash, arguments: { command: "echo begun >> out.txt; sleep 600" } }] }
  - expect: { user: hold, results: 1 }
    reply: { text: "finished" }
'''
CHOICES = "yes, no, "


@test
def a_line_of_json_changes_what_is_done_on_pipes(box):
    box.script(APPEND)
    out, _ = box.run("chat", stdin='same\nedit\n{"command": \nedit\n{"command": "echo other >> out.txt"}\n')
    expect(words_of(box, "out.txt") == ["other"] and "finished" in out, out)
    expect(out.count(CHOICES) == 2, f"what is no JSON was not asked again: {out}")


@test
def arguments_that_do_not_fit_are_asked_for_again(box):
    box.script(APPEND)
    out, _ = box.run("chat", stdin='same\nedit\n{"no": 1}\nyes\n')
    expect(words_of(box, "out.txt") == ["same"] and out.count(CHOICES) == 2, out)


@test
def a_sentence_decides_nothing_and_the_choices_are_explained(box):
    box.script(APPEND)
    for said in ("are you sure? that looks wrong", "you should not", "really?", "run it elsewhere",
                 "always ask me first", "now what?", "not sure", "explain this"):
        out, _ = box.run("chat", stdin=f"same\n{said}\n", code=3)
        expect("do exactly this, once" in out and out.count(CHOICES) == 2, f"{said!r}: {out}")
    expect(words_of(box, "out.txt") == [], "it was run")
    expect(box.run("inbox", "--grants", "--json")[0] == "", "a grant was left")
    waiting = [json.loads(line)["state"] for line in box.run("inbox", "--json")[0].splitlines()]
    expect(waiting == ["pending"] * 8, f"not all of them wait: {waiting}")


@test
def a_choice_may_be_spelled_out(box):
    box.script(APPEND)
    out, _ = box.run("chat", stdin="same\n YES \n")
    expect(words_of(box, "out.txt") == ["same"] and "finished" in out, out)


@test
def a_yes_for_the_run_is_asked_once(box):
    box.script(APPEND)
    out, _ = box.run("chat", stdin="again\nrun\nagain\nrun\n")
    expect(words_of(box, "out.txt") == ["one"] * 4, out)
    expect(out.count(CHOICES) == 2, f"once for each run: {out}")
    out, _ = box.run("chat", stdin="twice\nrun\nyes\n")
    expect(words_of(box, "out.txt") == ["one"] * 5 + ["two"], out)
    expect(out.count(CHOICES) == 2, f"another command was not asked about: {out}")


@test
def a_yes_for_always_lasts_until_it_is_taken_back(box):
    box.script(APPEND)
    out, _ = box.run("chat", stdin="same\n?\nalways\nsame\n")
    expect(out.count(CHOICES) == 2 and "dormouse inbox --grants" in out, out)  # again after ?
    grants, _ = box.run("inbox", "--grants", "--json")
    box.run("inbox", "--revoke", json.loads(grants.splitlines()[0])["id"])
    out, _ = box.run("chat", stdin="same\nyes\n")
    expect(out.count(CHOICES) == 1, f"not asked again: {out}")
    expect(words_of(box, "out.txt") == ["same"] * 3, out)


@test
def a_run_that_is_resumed_asks_only_what_still_waits(box):
    box.script(APPEND)
    box.run("chat", stdin="twice\nyes\n", code=3)
    out, _ = box.run("chat", "--continue", stdin="yes\n")
    expect(out.count(CHOICES) == 1, f"asked about what was decided: {out}")
    expect(words_of(box, "out.txt") == ["one", "two"] and "finished" in out, out)
    expect(out.count("finished") == 1, f"told twice: {out}")


@test
def an_item_is_shown_before_it_is_decided(box):
    box.script(APPEND)
    box.run("chat", stdin="same\n", code=3)
    item = json.loads(box.run("inbox", "--json")[0])["id"]
    out, _ = box.run("chat", stdin=f"/inbox\n/inbox {item[:8]}\nyes\n/inbox {item}\n/inbox a b\n")
    expect(out.index("echo same") < out.index(CHOICES), out)
    expect("It is approved already" in out and "! " in out, out)


@test
def a_command_that_was_cut_off_is_not_simply_repeated(box):
    box.script(APPEND)
    chat = begin(box)
    chat.type("hold\r")
    chat.wait(CHOICES)
    chat.type("yes\r")
    eventually(lambda: words_of(box, "out.txt") == ["begun"], "the command has begun")
    kill(holder(box.data))
    chat.wait("went away")
    chat.prompt()
    chat.type("/resume\r")
    chat.wait("Do it again?")
    chat.type("always\r")
    chat.wait("do exactly this, once")
    chat.wait("Do it again?")
    chat.type("no, leave it\r")
    chat.wait("finished")
    expect(words_of(box, "out.txt") == ["begun"], chat.seen)


@test
def the_last_run_is_told_event_by_event(box):
    box.script(APPEND)
    out, _ = box.run("chat", stdin="/trace\nsame\nyes\n/trace\n")
    run = box.runs()[0]["runId"]
    told, _ = box.run("trace", run)
    expect("nothing has run yet" in out and told in out, f"{told} is not in: {out}")


@test
def a_keeper_logs_where_its_message_says(box):
    path = os.path.join(box.data, "keeper.log")
    box.run("chat", stdin="hello\n")
    expect(os.stat(path).st_mode & 0o777 == 0o600, "others may read the log")
    with open(path) as file:
        expect('"started"' in file.read(), "nothing is logged")
    pid = holder(box.data)
    eventually(lambda: is_dead(pid), "the keeper has ended")
    with open(path, "a") as file:
        file.write("x" * (1 << 20))
    box.run("chat", stdin="hello\n")
    expect(os.stat(path).st_size < 1 << 20, "the log only grows")


main()

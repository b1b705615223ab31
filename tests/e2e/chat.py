#!/usr/bin/env python3
"""dormouse chat on a pseudo terminal and on pipes. See harness.py for how suites run."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from harness import BINARY, WAIT_S, expect, main, test


class Terminal:
    """A conversation on a terminal; what it prints is collected without its escape sequences."""

    def __init__(self, box, *words, columns=80, env=None):
        self.seen = ""
        self.raw = b""
        self.from_here = 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(box.work)
            os.execve(BINARY, [BINARY, "chat", *words],
                      dict(box.env, TERM="xterm", LANG="C.UTF-8", **(env or {})))
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        box.closing.append(self)

    def type(self, text):
        self.read(0.05)
        self.from_here = len(self.seen)
        os.write(self.fd, text.encode())

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
    return terminal


@test
def a_message_is_answered_and_ctrl_d_leaves(box):
    box.write("work/seen.txt", "x")
    chat = begin(box)
    chat.type("what is in this folder?\r")
    chat.wait("seen.txt")
    chat.wait("> ")
    chat.type("\x04")
    expect(chat.ended() == 0, "Ctrl-D is no failure")


@test
def an_approval_is_asked_inline_with_its_diff(box):
    chat = begin(box)
    chat.type("create a file notes.txt with the text hello\r")
    chat.wait("+hello")
    chat.wait("[y]es")
    expect(not os.path.exists(box.path("work/notes.txt")), "it acted before it was allowed to")
    chat.type("?\r")
    chat.wait("do this once")
    chat.type("y\r")
    chat.wait("notes.txt")
    chat.wait("> ")
    with open(box.path("work/notes.txt")) as file:
        expect(file.read().strip() == "hello", "another text was written")


@test
def a_no_is_told_with_its_reason(box):
    chat = begin(box)
    chat.type("create a file notes.txt with the text hello\r")
    chat.wait("[y]es")
    chat.type("n\r")
    chat.wait("why")
    chat.type("not today\r")
    chat.wait("not today")
    chat.wait("> ")
    expect(not os.path.exists(box.path("work/notes.txt")), "a no was not heeded")


@test
def ctrl_c_cancels_the_run_and_not_the_program(box):
    chat = begin(box)
    chat.type("run sleep 60\r")
    chat.wait("[y]es")
    chat.type("y\r")
    chat.read(1)
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
    chat.type("/model password=hunter2hunter2\r")
    chat.wait("Model: ")
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
    chat.wait("> ")
    expect(b"\x1b[1m" not in chat.raw and b"\x1b[31m" not in chat.raw, repr(chat.raw))


@test
def a_narrow_terminal_gets_wrapped_lines(box):
    chat = begin(box, columns=44)
    chat.type("hello\r")
    chat.wait("> ")
    chat.type("/quit\r")
    chat.ended()
    expect(all(len(line) <= 60 for line in chat.seen.split("\r\n")), chat.seen)


main()

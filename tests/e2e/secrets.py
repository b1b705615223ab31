#!/usr/bin/env python3
"""Secrets as a user keeps them: set from a terminal or a pipe, listed, removed, never shown."""
import os
import pty
import re
import resource
import select
import signal
import stat
import subprocess
import termios

from harness import BINARY, WAIT_S, expect, expect_eq, expect_in, main, test

CANARY = "canary-5d1f77-plum"


class Terminal:
    """A command on a terminal of its own, spoken to like a person does."""

    def __init__(self, box, *words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(box.work)
                os.execve(BINARY, [BINARY, *words], {**box.env, "TERM": "xterm"})
            finally:
                os._exit(127)
        self.seen = ""

    def until(self, text):
        while text not in self.seen:
            ready, _, _ = select.select([self.fd], [], [], WAIT_S)
            expect(ready, f"no {text!r} in {self.seen!r}")
            try:
                part = os.read(self.fd, 65536)
            except OSError:
                part = b""
            expect(part, f"ended before {text!r}: {self.seen!r}")
            self.seen += part.decode()

    def type(self, text):
        os.write(self.fd, text.encode())

    def echoes(self):
        return bool(termios.tcgetattr(self.fd)[3] & termios.ECHO)

    def end(self):
        while True:
            try:
                part = os.read(self.fd, 65536)
            except OSError:
                break
            if not part:
                break
            self.seen += part.decode()
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


@test
def a_secret_from_a_pipe_is_kept_and_listed_but_never_shown(box):
    out, err = box.run("secret", "set", "openai", stdin=CANARY + "\n")
    expect_in("openai is set, in the sealed file", out)
    expect_in(f"{box.data}/secrets.key", out)
    expect(CANARY not in out + err, out + err)
    expect_eq(box.run("secret", "list")[0], "openai\n")
    expect_eq(box.json("secret", "list"), {"names": ["openai"]})
    for name in ("secrets", "secrets.key"):
        found = os.stat(os.path.join(box.data, name))
        expect_eq(stat.S_IMODE(found.st_mode), 0o600)
        with open(os.path.join(box.data, name), "rb") as file:
            expect(CANARY.encode() not in file.read(), name)


@test
def a_secret_is_removed_once(box):
    answer = box.json("secret", "set", "b", stdin="x")
    expect_eq(answer["name"], "b")
    expect_in("sealed file", answer["where"])
    box.run("secret", "set", "a", stdin="x")
    expect_eq(box.json("secret", "list")["names"], ["a", "b"])
    expect_eq(box.json("secret", "rm", "b"), {"removed": "b"})
    expect_eq(box.run("secret", "list")[0], "a\n")
    expect_eq(box.error("secret", "rm", "b")["code"], "not_found")
    expect_eq(box.run("secret", "rm", "a")[0], "a is removed\n")


@test
def a_terminal_asks_without_echo(box):
    terminal = Terminal(box, "secret", "set", "openai")
    terminal.until("value of openai (not shown): ")
    expect(not terminal.echoes(), "the terminal echoes")
    terminal.type(CANARY + "\n")
    terminal.until("openai is set")
    expect(terminal.echoes(), "the terminal does not echo afterwards")
    expect_eq(terminal.end(), 0)
    expect(CANARY not in terminal.seen, terminal.seen)
    expect_eq(box.run("secret", "list")[0], "openai\n")


@test
def an_interrupted_prompt_gives_the_echo_back(box):
    terminal = Terminal(box, "secret", "set", "openai")
    terminal.until("(not shown): ")
    terminal.type("half a val\x03")
    _, status = os.waitpid(terminal.pid, 0)
    expect_eq(os.waitstatus_to_exitcode(status), -signal.SIGINT)
    expect(terminal.echoes(), "the terminal does not echo after an interruption")
    os.close(terminal.fd)
    expect("half" not in terminal.seen, terminal.seen)
    expect_in("No secrets.", box.run("secret", "list")[0])


@test
def wrong_names_and_values_are_refused(box):
    for name in ("a b", "../x", "é", "x" * 65):
        expect_eq(box.error("secret", "set", name, stdin="x")["code"], "bad_request")
    expect_eq(box.error("secret", "set", "a", stdin="")["code"], "bad_request")
    expect_eq(box.error("secret", "set", "a", stdin="\n")["code"], "bad_request")
    expect_eq(box.error("secret", "set", "a", stdin="x\0y")["code"], "bad_request")
    expect_eq(box.error("secret", "set", "a", stdin="x" * 8193)["code"], "too_large")
    expect_eq(box.error("secret", "set", "a", stdin="x" * 100000)["code"], "too_large")
    box.run("secret", "set", "a", stdin="x" * 8192 + "\n")
    expect_in("NAME", box.error("secret", "set", code=2)["message"])
    expect_in("`secret` needs one of", box.error("secret", code=2)["message"])


@test
def a_key_that_others_can_read_is_refused(box):
    box.run("secret", "set", "a", stdin="x")
    os.chmod(f"{box.data}/secrets.key", 0o644)
    problem = box.error("secret", "list")
    expect_eq(problem["code"], "secret_unavailable")
    expect_in("chmod 600", problem["message"])


@test
def a_named_key_file_is_used_and_known_to_the_configuration(box):
    key = box.write("master.key", "0123456789abcdef" * 4 + "\n")
    os.chmod(key, 0o600)
    env = {"DORMOUSE_MASTER_KEY_FILE": key}
    box.run("secret", "set", "a", stdin="x", env=env)
    expect(not os.path.exists(f"{box.data}/secrets.key"), "a second key was made")
    expect_eq(box.run("secret", "list", env=env)[0], "a\n")
    box.run("config", "check", env=env)
    expect_eq(box.error("secret", "list")["code"], "secret_unavailable")
    other = box.write("other.key", "f" * 64 + "\n")
    os.chmod(other, 0o600)
    problem = box.error("secret", "set", "a", stdin="y", env={"DORMOUSE_MASTER_KEY_FILE": other})
    expect_eq(problem["code"], "integrity_failed")
    expect_eq(box.run("secret", "list", env=env)[0], "a\n")


@test
def the_secret_service_is_preferred(box):
    env = {"SECRET_BACKEND": "file", "SECRET_FILE_TEST_PASSWORD": "x",
           "SECRET_FILE_TEST_PATH": box.path("keyring")}
    if "ASAN_OPTIONS" in box.env or "asan" in BINARY:
        env["ASAN_OPTIONS"] = "detect_leaks=0"  # libsecret's file backend leaks a little
    out, _ = box.run("secret", "set", "a", stdin=CANARY, env=env)
    expect_in("in the Secret Service", out)
    expect(not os.path.exists(f"{box.data}/secrets"), "it is in the sealed file, too")
    expect_eq(box.run("secret", "list", env=env)[0], "a\n")
    expect_in("No secrets.", box.run("secret", "list")[0])
    box.run("secret", "rm", "a", env=env)
    expect_in("No secrets.", box.run("secret", "list", env=env)[0])


@test
def a_backup_has_no_secrets_in_it(box):
    box.serve().stop()
    box.run("secret", "set", "a", stdin=CANARY)
    box.run("backup", box.path("b.tar"))
    names = subprocess.run(["tar", "-tf", box.path("b.tar")], capture_output=True, text=True,
                           check=True).stdout
    expect("secrets" not in names, names)
    with open(box.path("b.tar"), "rb") as file:
        expect(CANARY.encode() not in file.read(), "the value is in the backup")


@test
def a_crash_leaves_no_picture_of_the_memory(box):
    """A core file would lie in the working directory, which agents read."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        daemon = box.serve()
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
    now, _ = resource.prlimit(daemon.pid, resource.RLIMIT_CORE)
    daemon.stop()
    expect(now in (0, 1), f"a core of {now} bytes may be written")


@test
def the_library_is_opened_by_those_who_need_it(box):
    """Neither libsodium nor libsecret may slow down other commands."""
    needed = subprocess.run(["ldd", BINARY], capture_output=True, text=True, check=True).stdout
    expect(not re.search("libsodium|libsecret|libglib", needed), needed)


main()

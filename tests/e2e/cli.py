#!/usr/bin/env python3
"""Drives the built dormouse as a user would: every command, its errors, the daemon's life.

usage: tests/e2e/cli.py DORMOUSE [PART-OF-A-NAME]

Each test gets a fresh directory, an environment of its own and nothing of the caller's. The last
line counts what passed.
"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import traceback

BINARY = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WAIT_S = 30
TESTS = []


class Skip(Exception):
    pass


def test(function):
    TESTS.append(function)
    return function


class Box:
    """A fresh data directory, working directory and environment."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="dormouse-e2e-")
        self.data = os.path.join(self.dir, "data")
        self.work = os.path.join(self.dir, "work")
        os.mkdir(self.work)
        self.env = {"PATH": os.environ["PATH"], "HOME": self.dir, "DORMOUSE_DATA": self.data}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        self.daemons = []

    def close(self):
        for daemon in self.daemons:
            daemon.kill()
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def config(self, text):
        os.makedirs(self.data, mode=0o700, exist_ok=True)
        return self.write("data/config.yaml", text)

    def run(self, *words, code=0, env=None, stdin=None, **how):
        """Returns (stdout, stderr) after checking the exit code."""
        done = subprocess.run(
            [BINARY, *words], cwd=self.work, env=dict(self.env, **(env or {})), text=True,
            input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=WAIT_S, **how,
        )
        expect(done.returncode == code, f"{words} ended with {done.returncode}, expected {code}: "
                                        f"{done.stdout}{done.stderr}")
        return done.stdout, done.stderr

    def json(self, *words, code=0, **how):
        out, _ = self.run(*words, "--json", code=code, **how)
        expect(out.count("\n") == 1, f"{words} printed more than one line: {out}")
        return json.loads(out)

    def error(self, *words, code=1, **how):
        """The message of a failure, which must be the same for people and for programs."""
        answer = self.json(*words, code=code, **how)
        expect(set(answer) == {"error"} and set(answer["error"]) == {"code", "message"},
               f"not an error: {answer}")
        out, err = self.run(*words, code=code, **how)
        expect(out == "", f"an error on standard output: {out}")
        expect(answer["error"]["message"] in err, f"{answer} is not in: {err}")
        return answer["error"]

    def serve(self, *words, env=None):
        daemon = Daemon(self, words, env or {})
        self.daemons.append(daemon)
        return daemon


class Daemon:
    """A running `dormouse serve`."""

    def __init__(self, box, words, env):
        if "--listen" not in words:
            words = (*words, "--listen", "127.0.0.1:0")
        self.box = box
        self.process = subprocess.Popen(
            [BINARY, "serve", *words, "--json"], cwd=box.work, env=dict(box.env, **env),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.pid = self.process.pid
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"serve did not start: {self.process.communicate()}")
        self.hello = json.loads(line)
        self.port = int(self.hello["url"].rsplit(":", 1)[1])

    def get(self, path, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def stop(self, number=signal.SIGTERM, code=0):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WAIT_S)
        expect(self.process.returncode == code,
               f"serve ended with {self.process.returncode} after {number}: {out}{err}")
        return out, err

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def expect(true, message):
    if not true:
        raise AssertionError(message)


def expect_eq(a, b):
    expect(a == b, f"{a!r} is not {b!r}")


def expect_in(part, text):
    expect(part in text, f"{part!r} is not in {text!r}")


# ---- help, version, usage ----


@test
def version_names_the_libraries(box):
    answer = box.json("version")
    expect(re.fullmatch(r"\d+\.\d+\.\d+", answer["version"]), answer)
    expect({"sqlite", "libuv", "json-c", "libmicrohttpd"} <= set(answer["libraries"]), answer)
    out, _ = box.run("--version")
    expect_in(f"dormouse {answer['version']} (", out)
    expect_in(f"  sqlite         {answer['libraries']['sqlite']}\n", out)


@test
def help_exists_for_every_command(box):
    overview, _ = box.run("help")
    names = re.findall(r"^  ([a-z]+(?: [a-z]+)?)(?:  |\n)", overview.split("options of")[0], re.M)
    expect(len(names) >= 7, overview)
    for name in names:
        page, _ = box.run("help", *name.split())
        expect_in(f"usage: dormouse {name}", page)
        for words in ((*name.split(), "--help"), (*name.split(), "-h"), ("--help", *name.split())):
            expect_eq(box.run(*words)[0], page)
    group, _ = box.run("config", "--help")
    expect_in("config check", group)
    expect_eq(box.run("help", "config")[0], group)
    expect_in("usage:", box.json("help", "serve")["text"])


@test
def wrong_usage_ends_with_two(box):
    expect_in("did you mean `version`?", box.error("verison", code=2)["message"])
    expect_in("did you mean --listen?", box.error("serve", "--lisen", "x", code=2)["message"])
    expect_in("`config` needs one of", box.error("config", code=2)["message"])
    expect_in("a command is missing", box.error(code=2)["message"])
    expect_in("no command `nope`", box.error("help", "nope", code=2)["message"])
    expect_in("needs FILE", box.error("backup", code=2)["message"])
    expect_in("--data needs a directory", box.error("doctor", "--data", "", code=2)["message"])
    expect_in("see `dormouse help serve`", box.run("serve", "extra", code=2)[1])


@test
def a_full_disk_is_a_failure(box):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BINARY, "help"], stdout=full, stderr=subprocess.PIPE, env=box.env)
    expect_eq(done.returncode, 1)
    expect_in(b"No space left", done.stderr)


@test
def no_colours_in_a_pipe(box):
    for words in (["help"], ["doctor"], ["verison"]):
        done = subprocess.run([BINARY, *words], env=dict(box.env, TERM="xterm"),
                              capture_output=True, text=True, timeout=WAIT_S)
        expect("\033" not in done.stdout + done.stderr, done.stdout + done.stderr)


@test
def the_man_page_has_no_warnings(box):
    if not shutil.which("groff"):
        raise Skip("groff is not installed")
    page, _ = box.run("help", "--man")
    for form in ("utf8", "ascii"):
        done = subprocess.run(["groff", "-man", "-ww", "-T", form], input=page.encode(),
                              capture_output=True, timeout=WAIT_S)
        expect_eq(done.stderr, b"")
    text = re.sub(rb"\x1b\[[0-9;]*m|.\x08", b"", done.stdout).decode()
    for part in ("NAME", "SYNOPSIS", "config check", "--listen", "EXIT STATUS", "DORMOUSE_DATA"):
        expect_in(part, text)


# ---- bash completion ----


def complete(box, line):
    """What bash offers at the end of this line."""
    script = box.write("completion", box.run("help", "--completion", "bash")[0])
    words = line.split(" ")
    quoted = " ".join("'" + word + "'" for word in words)
    done = subprocess.run(
        ["bash", "--norc", "-c",
         f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
         "_dormouse; printf '%s\\n' \"${COMPREPLY[@]}\""],
        cwd=box.work, env=box.env, capture_output=True, text=True, timeout=WAIT_S,
    )
    expect_eq(done.stderr, "")
    return sorted(done.stdout.split())


@test
def bash_completes_commands_options_and_files(box):
    if not shutil.which("bash"):
        raise Skip("bash is not installed")
    box.write("work/schema.json", "{}")
    os.mkdir(box.path("work/sub"))
    expect_eq(complete(box, "dormouse ser"), ["serve"])
    expect({"serve", "doctor", "config", "backup"} <= set(complete(box, "dormouse ")), "commands")
    expect_eq(complete(box, "dormouse config "), ["check", "show"])
    expect_eq(complete(box, "dormouse config sh"), ["show"])
    expect_eq(complete(box, "dormouse serve --li"), ["--listen"])
    expect_eq(complete(box, "dormouse --json doc"), ["doctor"])
    expect_eq(complete(box, "dormouse --data sub doc"), ["doctor"])
    expect_eq(complete(box, "dormouse doctor --data "), ["sub"])
    expect_eq(complete(box, "dormouse help conf"), ["config"])
    expect_eq(complete(box, "dormouse help --completion "), ["bash"])
    expect_eq(complete(box, "dormouse help --completion = b"), ["bash"])
    expect_eq(complete(box, "dormouse backup s"), ["schema.json", "sub"])
    expect_eq(complete(box, "dormouse serve "), [])


# ---- the data directory ----


@test
def the_data_directory_is_found_in_its_order(box):
    def where(*words, env):
        checks = box.json("doctor", *words, env=env)["checks"]
        return next(c["message"] for c in checks if c["name"] == "data directory").split(" ")[0]

    expect_eq(where("--data", "here", env={}), os.path.join(os.path.realpath(box.work), "here"))
    expect_eq(where(env={}), box.data)
    expect_eq(where(env={"DORMOUSE_DATA": "", "XDG_DATA_HOME": "/x"}), "/x/dormouse")
    expect_eq(where(env={"DORMOUSE_DATA": ""}), f"{box.dir}/.local/share/dormouse")


@test
def a_bad_data_directory_is_refused_before_anything_starts(box):
    path = box.write("file", "")
    expect_in("it is not a directory", box.error("serve", "--data", path)["message"])
    expect_in("/proc/nowhere", box.error("serve", "--data", "/proc/nowhere")["message"])


# ---- doctor ----


def doctor(box, code=0, **how):
    answer = box.json("doctor", code=code, **how)
    expect_eq(answer["ok"], code == 0)
    for check in answer["checks"]:
        expect(check["status"] in ("ok", "warn", "fail"), check)
        expect(check["status"] == "ok" or check.get("fix") or check["name"] == "configuration",
               f"nothing to type: {check}")
    out, _ = box.run("doctor", code=code, **how)
    expect_in(" broken\n", out)
    return {check["name"]: check for check in answer["checks"]}


@test
def doctor_is_content_with_an_empty_and_with_a_used_directory(box):
    free = {"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"}
    checks = doctor(box, env=free)
    expect_in("will be created", checks["data directory"]["message"])
    expect(not os.path.exists(box.data), "doctor created the data directory")
    daemon = box.serve()
    checks = doctor(box, env={"DORMOUSE_SERVER_LISTEN": f"127.0.0.1:{daemon.port}"})
    expect_in(str(daemon.pid), checks["daemon"]["message"])
    expect_in("the daemon answers", checks["address"]["message"])
    for name in ("journal", "agent", "index"):
        expect_in("sound, schema version", checks[f"{name} database"]["message"])
    daemon.stop()
    expect_in("not running", doctor(box, env=free)["daemon"]["message"])


@test
def doctor_finds_what_is_broken(box):
    free = {"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"}
    box.serve().stop()
    with open(os.path.join(box.data, "agent.sqlite"), "r+b") as file:
        file.seek(0)
        file.write(b"this is no database, it was overwritten by something")
    checks = doctor(box, code=1, env=free)
    expect_eq(checks["agent database"]["status"], "fail")
    expect_eq(checks["journal database"]["status"], "ok")
    os.chmod(box.data, 0o755)
    expect_eq(doctor(box, code=1, env=free)["data directory"]["fix"], f"chmod 700 {box.data}")
    box.config("{ \"nonsense\": 1 }")
    expect_in("nonsense", doctor(box, code=1, env=free)["configuration"]["message"])


@test
def doctor_says_who_has_the_port(box):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        checks = doctor(box, code=1, env={"DORMOUSE_SERVER_LISTEN": listen})
        expect_in("taken by another program", checks["address"]["message"])
        expect_in(listen, box.error("serve", "--listen", listen)["message"])


@test
def doctor_says_when_postgres_is_out_of_reach(box):
    checks = doctor(box, code=1, env={"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0",
                                      "DORMOUSE_STORE_URL": "postgresql://127.0.0.1:1/x"})
    expect_eq(checks["Postgres"]["status"], "fail")


# ---- the daemon ----


@test
def serve_prints_one_link_and_answers(box):
    daemon = box.serve()
    expect_eq(daemon.hello["pid"], daemon.pid)
    expect(daemon.hello["login"].startswith(daemon.hello["url"] + "/login?code="), daemon.hello)
    expect_eq(daemon.get("/healthz")[0], 200)
    status, _ = daemon.get(daemon.hello["login"][len(daemon.hello["url"]):])
    expect(status in (200, 302, 303), status)
    out, err = daemon.stop()
    expect_eq(out, "")
    for line in err.splitlines():
        expect("message" in json.loads(line), line)


@test
def serve_without_json_prints_the_link_alone(box):
    with subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], env=box.env, cwd=box.work,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        line = process.stdout.readline()
        process.terminate()
        rest, _ = process.communicate(timeout=WAIT_S)
    expect(re.fullmatch(r"http://127\.0\.0\.1:\d+/login\?code=[\w-]+\n", line), line)
    expect_eq(rest, "")


@test
def serve_makes_private_files(box):
    daemon = box.serve()
    expect_eq(os.stat(box.data).st_mode & 0o777, 0o700)
    for name in os.listdir(box.data):
        mode = os.stat(os.path.join(box.data, name)).st_mode & 0o077
        expect(mode == 0, f"{name} is open to others")
    expect_in("dormouse.sock", os.listdir(box.data))
    daemon.stop()
    expect("dormouse.sock" not in os.listdir(box.data), "the socket stayed")


@test
def every_stopping_signal_ends_with_zero(box):
    for number in (signal.SIGTERM, signal.SIGINT):
        _, err = box.serve().stop(number)
        expect_in("stopped", err)


@test
def a_hangup_does_not_end_the_daemon(box):
    daemon = box.serve()
    daemon.process.send_signal(signal.SIGHUP)
    expect_eq(daemon.get("/healthz")[0], 200)
    daemon.stop()


@test
def an_idle_connection_does_not_hold_up_the_end(box):
    daemon = box.serve()
    with socket.create_connection(("127.0.0.1", daemon.port)) as idle:
        idle.send(b"GET /healthz HT")
        started = time.monotonic()
        daemon.stop()
        expect(time.monotonic() - started < 10, "stopping took too long")


@test
def asking_twice_ends_at_once_and_harms_nothing(box):
    daemon = box.serve()
    with socket.create_connection(("127.0.0.1", daemon.port)) as slow:
        slow.send(b"POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nhalf")
        expect_eq(daemon.get("/healthz")[0], 200)
        daemon.process.send_signal(signal.SIGTERM)
        expect_in("stopping", daemon.process.stderr.readline())
        started = time.monotonic()
        daemon.process.send_signal(signal.SIGTERM)
        daemon.process.wait(timeout=WAIT_S)
        expect(time.monotonic() - started < 4, "it still waited for the client")
        # 0 when the clients were gone before the second signal came.
        expect(daemon.process.returncode in (0, 1), daemon.process.returncode)
    box.serve().stop()


@test
def the_page_is_opened_in_a_browser(box):
    seen = box.path("seen")
    os.mkfifo(seen)
    browser = box.write("bin/xdg-open", f'#!/bin/sh\nprintf "%s" "$*" > {seen}\n')
    os.chmod(browser, 0o755)
    daemon = box.serve("--open", env={"PATH": f"{box.path('bin')}:{box.env['PATH']}"})
    with open(seen) as file:
        expect_eq(file.read(), daemon.hello["login"])
    daemon.stop()


@test
def a_log_level_that_makes_no_sense_is_refused(box):
    expect_in("DORMOUSE_LOG", box.error("serve", "--listen", "127.0.0.1:0",
                                        env={"DORMOUSE_LOG": "loud"})["message"])
    _, err = box.serve(env={"DORMOUSE_LOG": "error"}).stop()
    expect_eq(err, "")


@test
def a_second_daemon_is_told_who_is_there(box):
    daemon = box.serve()
    for _ in range(2):
        message = box.error("serve", "--listen", "127.0.0.1:0")["message"]
        expect_in(f"process {daemon.pid}", message)
        expect_in(box.data, message)
    expect_eq(daemon.get("/healthz")[0], 200)
    daemon.stop()
    box.serve().stop()


@test
def a_killed_daemon_leaves_nothing_in_the_way(box):
    for _ in range(5):
        daemon = box.serve()
        expect_eq(daemon.get("/healthz")[0], 200)
        daemon.kill()
    box.serve().stop()
    doctor(box, env={"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"})


@test
def a_taken_port_is_named_and_nothing_stays_locked(box):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        expect_in(listen, box.error("serve", "--listen", listen)["message"])
    box.serve("--listen", listen).stop()


@test
def a_wrong_address_is_wrong_usage(box):
    for listen in ("nonsense:x", "127.0.0.1:99999", "example.org:80", ""):
        box.error("serve", "--listen", listen, code=2)
    expect(not os.path.exists(box.data), "the data directory was created")


@test
def the_service_manager_is_told(box):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        path = box.path("notify")
        manager.bind(path)
        manager.settimeout(WAIT_S)
        daemon = box.serve(env={"NOTIFY_SOCKET": path})
        expect_eq(manager.recv(100), b"READY=1")
        daemon.stop()
        expect_eq(manager.recv(100), b"STOPPING=1")


@test
def sockets_of_the_service_manager_are_taken_over(box):
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        # exec keeps the process number that LISTEN_PID must name.
        script = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve --json 3<&"$1"'
        process = subprocess.Popen(
            ["sh", "-c", script, BINARY, str(listening.fileno())], env=box.env, cwd=box.work,
            pass_fds=[listening.fileno()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        hello = process.stdout.readline()
        expect(hello, f"did not start: {process.stderr.read() if not hello else ''}")
        expect_eq(json.loads(hello)["url"], f"http://127.0.0.1:{port}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
        connection.request("GET", "/healthz")
        expect_eq(connection.getresponse().status, 200)
        process.terminate()
        process.communicate(timeout=WAIT_S)
        expect_eq(process.returncode, 0)


@test
def a_database_of_a_newer_version_is_refused(box):
    box.serve().stop()
    path = os.path.join(box.data, "agent.sqlite")
    with sqlite3.connect(path) as db:
        tables = [row[0] for row in db.execute("select name from sqlite_master where type='table'")]
        table = next(name for name in tables if "migration" in name)
        columns = [row[1] for row in db.execute(f"pragma table_info({table})")]
        newest = db.execute(f"select {', '.join(columns)} from {table}").fetchall()[-1]
        row = [99 if name == "number" else value for name, value in zip(columns, newest)]
        db.execute(f"insert into {table} values ({', '.join('?' * len(row))})", row)
    expect_in("agent", box.error("serve", "--listen", "127.0.0.1:0")["message"])
    expect(not os.path.exists(os.path.join(box.data, "dormouse.sock")), "a socket was left")


# ---- backup ----


@test
def a_backup_restores(box):
    box.config("{ \"agent\": { \"name\": \"Restored\" } }")
    daemon = box.serve()
    expect_eq(daemon.get("/healthz")[0], 200)
    target = box.path("backup.tar")
    answer = box.json("backup", target)
    daemon.stop()
    expect_eq(os.stat(target).st_mode & 0o777, 0o600)
    expect_eq(answer["bytes"], os.stat(target).st_size)
    with tarfile.open(target) as archive:
        names = archive.getnames()
        manifest = json.load(archive.extractfile("manifest.json"))
        archive.extractall(box.path("restored"))
    expect_eq(sorted(names), ["agent.sqlite", "config.yaml", "index.sqlite", "journal.sqlite",
                              "manifest.json"])
    expect_eq(manifest["files"], answer["files"])
    import hashlib
    for row in manifest["files"]:
        with open(box.path(f"restored/{row['name']}"), "rb") as file:
            expect_eq(hashlib.sha256(file.read()).hexdigest(), row["sha256"])
    os.chmod(box.path("restored"), 0o700)
    os.remove(box.path("restored/manifest.json"))
    restored = {"DORMOUSE_DATA": box.path("restored"), "DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"}
    expect_eq(box.json("config", "show", env=restored)["values"]["agent.name"], "Restored")
    doctor(box, env=restored)
    box.serve(env=restored).stop()


@test
def a_backup_holds_what_was_written_while_the_daemon_runs(box):
    daemon = box.serve()
    path = os.path.join(box.data, "journal.sqlite")
    db = sqlite3.connect(path, timeout=WAIT_S)
    db.execute("create table probe (n integer)")
    db.executemany("insert into probe values (?)", [(n,) for n in range(5000)])
    db.commit()
    stop = threading.Event()

    def write_on():
        other = sqlite3.connect(path, timeout=WAIT_S)
        while not stop.is_set():
            other.execute("insert into probe values (-1)")
            other.commit()
        other.close()

    writer = threading.Thread(target=write_on)
    writer.start()
    try:
        box.run("backup", box.path("b.tar"))
    finally:
        stop.set()
        writer.join()
        db.close()
    daemon.stop()
    with tarfile.open(box.path("b.tar")) as archive:
        archive.extractall(box.path("out"))
    with sqlite3.connect(box.path("out/journal.sqlite")) as copy:
        expect_eq(copy.execute("select count(*) from probe where n >= 0").fetchone()[0], 5000)
        expect_eq(copy.execute("pragma integrity_check").fetchone()[0], "ok")


@test
def a_backup_never_overwrites_and_leaves_no_pieces(box):
    box.serve().stop()
    target = box.write("here.tar", "precious")
    expect_in("already there", box.error("backup", target)["message"])
    with open(target) as file:
        expect_eq(file.read(), "precious")
    box.error("backup", box.path("no/such/directory/b.tar"))
    os.mkdir(box.path("empty"))
    expect_in("nothing to back up",
              box.error("backup", box.path("x.tar"), "--data", box.path("empty"))["message"])
    with open(os.path.join(box.data, "journal.sqlite"), "r+b") as file:
        file.write(b"overwritten by something else entirely")
    box.error("backup", box.path("y.tar"))
    expect_eq(sorted(os.listdir(box.dir)), ["data", "empty", "here.tar", "work"])


@test
def an_interrupted_backup_leaves_no_pieces(box):
    box.serve().stop()
    with sqlite3.connect(os.path.join(box.data, "journal.sqlite")) as db:
        db.execute("create table bulk (b blob)")
        db.executemany("insert into bulk values (zeroblob(1000000))", [()] * 40)
    pieces = lambda: [n for n in os.listdir(box.dir) if n.startswith("b.tar")]
    with subprocess.Popen([BINARY, "backup", box.path("b.tar")], env=box.env, cwd=box.work,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not pieces() and process.poll() is None:
            pass
        process.send_signal(signal.SIGINT)
        process.wait(timeout=WAIT_S)
    # It was quicker than the signal, or nothing is left of it.
    expect_eq(pieces(), ["b.tar"] if process.returncode == 0 else [])


@test
def a_backup_of_postgres_is_left_to_postgres(box):
    box.config("{ \"store\": { \"url\": \"postgresql://h/db\" } }")
    expect_in("pg_dump", box.error("backup", box.path("b.tar"))["message"])


# ---- configuration ----


@test
def config_mistakes_are_named_by_file_and_line(box):
    path = box.config("agent:\n  name: Ada\nserver:\n  listn: x\nfeatures: { spawn: 3 }\n")
    out, _ = box.run("config", "check", code=1)
    lines = out.splitlines()
    expect_eq(len(lines), 2)
    expect_in(f"{path}:4:3: no key `listn`; did you mean `listen`?", out)
    expect_in(f"{path}:5:20: `features.spawn` must be", out)
    answer = box.json("config", "check", code=1)
    expect_eq(answer["valid"], False)
    expect_eq([(p["line"], p["column"]) for p in answer["problems"]], [(4, 3), (5, 20)])
    for words in (["serve", "--listen", "127.0.0.1:0"], ["config", "show"],
                  ["backup", box.path("b.tar")]):
        expect_in(f"{path}:4:3", box.error(*words)["message"])
    expect_eq(sorted(os.listdir(box.data)), ["config.yaml"])


@test
def a_good_configuration_is_shown_with_its_origins(box):
    box.config("agent:\n  name: Ada\nserver:\n  token: " + "x" * 43 + "\n")
    box.write("work/.dormouse/config.yaml", "sandbox: { limits: { timeout: 5s } }\n")
    expect_in("valid", box.run("config", "check")[0])
    expect_eq(box.json("config", "check"), {"valid": True, "problems": []})
    answer = box.json("config", "show", env={"DORMOUSE_RULES_ROOT": "/rules"})
    expect_eq(answer["values"]["agent.name"], "Ada")
    expect_eq(answer["origins"]["agent.name"], f"{box.data}/config.yaml:2")
    expect_in(".dormouse/config.yaml:1", answer["origins"]["sandbox.limits.timeout"])
    expect_eq(answer["origins"]["rules.root"], "$DORMOUSE_RULES_ROOT")
    expect_eq(answer["origins"]["store.url"], "default")
    out, _ = box.run("config", "show")
    expect("xxxx" not in out + json.dumps(answer), "a secret was shown")
    expect(re.search(r"^agent\.name +Ada +/", out, re.M), out)


@test
def a_working_directory_can_not_loosen(box):
    box.write("work/.dormouse/config.yaml", "sandbox:\n  enabled: false\n")
    expect_in("config.yaml:2:12: `sandbox.enabled` would loosen",
              box.error("serve", "--listen", "127.0.0.1:0")["message"])
    expect(not os.path.exists(box.data), "the data directory was created")


@test
def the_configured_address_and_token_are_used(box):
    token = "t" * 43
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    box.config(f"server: {{ listen: 127.0.0.1:{port}, token: {token} }}\n")
    process = subprocess.Popen([BINARY, "serve", "--json"], cwd=box.work, env=box.env, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        expect_eq(json.loads(process.stdout.readline())["url"], f"http://127.0.0.1:{port}")
        for bearer, status in ((token, 200), ("u" * 43, 401)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
            connection.request("GET", "/api/v1/openapi.json",
                               headers={"Authorization": f"Bearer {bearer}"})
            expect_eq(connection.getresponse().status, status)
            connection.close()
    finally:
        process.terminate()
        process.communicate(timeout=WAIT_S)
    expect_eq(process.returncode, 0)


@test
def documentation_and_example_are_what_the_schema_says(box):
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools/config-docs"), "--check"],
                          capture_output=True, text=True, timeout=WAIT_S)
    expect_eq((done.returncode, done.stderr), (0, ""))


# ---- schema check ----


@test
def a_schema_is_checked(box):
    schema = box.write("s.json", json.dumps({
        "type": "object", "required": ["id"], "additionalProperties": False,
        "properties": {"id": {"type": "string", "format": "uuid"}, "n": {"maximum": 3}}}))
    good = box.write("good.json", '{"id": "x"}')
    bad = box.write("bad.json", '{"id": 1, "n": 4, "z": 0}')
    box.write("good.yaml", "id: x\nn: 2\n")
    expect_eq(box.run("schema", "check", schema, good)[0], "valid\n")
    expect_eq(box.json("schema", "check", schema, good), {"valid": True, "errors": []})
    out, _ = box.run("schema", "check", schema, bad, code=1)
    expect_in("/id: must be a string", out)
    expect_in("#/properties/id/type", out)
    answer = box.json("schema", "check", schema, bad, code=1)
    expect_eq(answer["valid"], False)
    expect({"/id", "/n"} <= {e["instance"] for e in answer["errors"]}, answer)
    expect(all({"instance", "schema", "message"} == set(e) for e in answer["errors"]), answer)
    box.run("schema", "check", schema, box.path("good.yaml"))
    box.run("schema", "check", schema, "-", stdin='{"id": "y"}')
    box.run("schema", "check", "-", good, stdin="true")
    box.run("schema", "check", "/dev/stdin", good, stdin="true")
    expect_in("is larger than 16 MiB",
              box.error("schema", "check", "-", good, stdin=" " * (17 << 20))["message"])
    box.run("schema", "check", "-", good, stdin="false", code=1)
    box.run("schema", "check", schema, good, "--assert-format", code=1)


@test
def a_schema_finds_its_references(box):
    schema = box.write("s.json", '{"$ref": "https://example.org/a#/$defs/n"}')
    other = box.write("o.json", '{"$defs": {"n": {"$ref": "urn:b"}}}')
    third = box.write("t.yaml", "type: integer\n")
    one = box.write("one.json", "1")
    text = box.write("text.json", '"1"')
    refs = ["--ref", f"https://example.org/a={other}", f"--ref=urn:b={third}"]
    box.run("schema", "check", schema, one, *refs)
    box.run("schema", "check", schema, text, *refs, code=1)
    expect_in("https://example.org/a", box.error("schema", "check", schema, one)["message"])
    expect_in("URI=FILE", box.error("schema", "check", schema, one, "--ref", "x")["message"])


@test
def what_is_no_schema_or_no_json_is_an_error(box):
    one = box.write("one.json", "1")
    expect_in("absent.json", box.error("schema", "check", "absent.json", one)["message"])
    broken = box.write("broken.json", '{"a": 1,}')
    expect_in("broken.json", box.error("schema", "check", broken, one)["message"])
    anything = box.write("anything.json", "true")
    expect_in("1:9", box.error("schema", "check", anything, broken)["message"])
    wrong = box.write("wrong.json", '{"type": "nonsense"}')
    box.error("schema", "check", wrong, one)
    box.error("schema", "check", one, code=2)


# ---- verify ----


@test
def the_registered_programs_are_proved(box):
    out, _ = box.run("verify")
    expect(re.search(r"^  proved +\S+ +\d+ states", out, re.M), out)
    expect("violated" not in out, out)
    lines = [json.loads(line) for line in box.run("verify", "--json")[0].splitlines()]
    expect(len(lines) > 5 and all(line["verdict"] == "proved" for line in lines), lines)


@test
def a_bound_that_is_too_small_proves_nothing(box):
    expect_in("bound", box.run("verify", "--bound", "10", code=1)[0])
    for bound in ("0", "-1", "many", "99999999999999999999"):
        expect_in("--bound takes", box.error("verify", "--bound", bound, code=2)["message"])


@test
def a_policy_that_does_not_load_is_an_error(box):
    expect_in("absent.yaml", box.error("verify", "--policy", "absent.yaml")["message"])
    path = box.write("policy.yaml", "guards: 5\n")
    expect_in("policy.yaml", box.error("verify", "--policy", path)["message"])
    os.makedirs(box.data, mode=0o700)
    shutil.copy(path, os.path.join(box.data, "policy.yaml"))
    expect_in(f"{box.data}/policy.yaml", box.error("verify")["message"])


# ---- what is installed ----


@test
def the_unit_file_starts_serve(box):
    with open(os.path.join(ROOT, "share/systemd/dormouse.service.in")) as file:
        unit = file.read()
    expect_in("Type=notify\n", unit)
    expect_in("ExecStart=@bindir@/dormouse serve\n", unit)
    if not shutil.which("systemd-analyze"):
        raise Skip("systemd is not installed")
    path = box.write("dormouse.service", unit.replace("@bindir@/dormouse", BINARY))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True,
                          text=True, timeout=WAIT_S)
    expect("dormouse.service" not in done.stderr, done.stderr)


# ---- running all ----


def run(function):
    box = Box()
    try:
        function(box)
        return "ok"
    except Skip as why:
        print(f"  skipped: {why}")
        return "skipped"
    except Exception:  # every failure is one failed test
        traceback.print_exc(file=sys.stdout)
        return "FAILED"
    finally:
        box.close()


def main():
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    counts = {"ok": 0, "FAILED": 0, "skipped": 0}
    for function in TESTS:
        if part in function.__name__:
            result = run(function)
            counts[result] += 1
            print(f"{result:7} {function.__name__}", flush=True)
    print(f"{counts['ok']} passed, {counts['FAILED']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["FAILED"] or not counts["ok"] + counts["skipped"] else 0)


main()

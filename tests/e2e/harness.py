"""What the end-to-end suites in Python share: boxes, daemons, expectations, the runner.

usage of a suite: tests/e2e/SUITE.py DORMOUSE [PART-OF-A-NAME]

Each test gets a fresh directory, an environment of its own and nothing of the caller's. The last
line counts what passed.
"""
import glob
import http.client
import json
import os
import pwd
import random
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback

import shapes

BINARY = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WAIT_S = 120  # for what takes a second: this machine may be slow, and busy with other things
LONG = bool(os.environ.get("DORMOUSE_TEST_LONG"))  # sweep all of what else is looked at in part
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
        self.closing = []
        self.replays = True  # every run must replay at the end; False where a test alters its log

    def close(self):
        for daemon in self.daemons:
            daemon.kill()
        kill_holder(self.data)
        for thing in self.closing:
            thing.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def names(self):
        """What lies in the box, but for the home's note of data directories."""
        return sorted(set(os.listdir(self.dir)) - {".local"})

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

    def run(self, *words, code=0, env=None, stdin=None, seconds=WAIT_S, **how):
        """Returns (stdout, stderr) after checking the exit code."""
        done = subprocess.run(
            [BINARY, *words], cwd=self.work, env=dict(self.env, **(env or {})), text=True,
            input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds, **how,
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

    def script(self, steps, more=""):
        """The agent thinks with these steps (docs/model-scripts.md), chosen by state."""
        self.write("data/script.yaml", "match: state\nsteps:\n" + steps)
        self.config("agent: { model: rehearsal }\nmodels:\n"
                    "  - { id: rehearsal, provider: script, script: script.yaml }\n" + more)

    def runs(self):
        """Every run of the data directory, newest first."""
        out, _ = self.run("runs", "--json", "--limit", "1000")
        return [json.loads(line) for line in out.splitlines()]

    def check_runs(self):
        """Replays every run: each must be as its log says. Returns how many there were."""
        keys = [run["runId"] for run in self.runs()] if self.has_runs() else []
        for some in (keys[i:i + 100] for i in range(0, len(keys), 100)):
            self.run("replay", "--check", *some, seconds=4 * WAIT_S)
        return len(keys)

    def has_runs(self):
        if "DORMOUSE_STORE_URL" in self.env:
            return True
        path = os.path.join(self.data, "agent.sqlite")
        if not os.path.exists(path):
            return False
        try:
            db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            found = db.execute("select count(*) from runs").fetchone()[0]
        except sqlite3.Error:  # damaged on purpose
            return False
        db.close()
        return found > 0


class Daemon:
    """A running `dormouse serve`."""

    said = None  # its OpenAPI document

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
        if "url" not in self.hello:
            raise AssertionError(f"serve did not start: {line}")
        self.port = int(self.hello["url"].rsplit(":", 1)[1])

    def get(self, path, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def token(self):
        with open(os.path.join(self.box.data, "token")) as file:
            return file.read().strip()

    def ask(self, method, path, body=None, status=200):
        """A request of the REST interface; what it answers, read as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        connection.request(method, "/api/v1" + path,
                           body=None if body is None else json.dumps(body),
                           headers={"Authorization": f"Bearer {self.token()}",
                                    "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        expect(answer.status == status, f"{method} {path}: {answer.status} {text!r}")
        self.document().answer(method, "/api/v1" + path, answer.status,
                               answer.headers.get("Content-Type", ""), text, body)
        return json.loads(text) if text else None

    def bare(self):
        """Removes what wakes agents from the first start: for tests that count what they make."""
        for kind in ("timers", "subscriptions"):
            for one in self.ask("GET", f"/{kind}")["items"]:
                self.ask("DELETE", f"/{kind}/{one['id']}", status=204)
        return self

    def document(self):
        """What this binary says about its interface, asked for once."""
        if not Daemon.said:
            status, text = self.get("/api/v1/openapi.json", {"Authorization": f"Bearer {self.token()}"})
            expect(status == 200, f"there is no document: {status} {text!r}")
            Daemon.said = shapes.Document(text)
        return Daemon.said

    def start(self, prompt, **more):
        """Starts a run; its events come from the stream. Its id is known from here on: it can't be
        asked for when the daemon has been killed."""
        stream = Stream(self, "POST", "/run", {"prompt": prompt, **more})
        expect(stream.key, "a run without an id")
        return stream

    def follow(self, key, after=0):
        return Stream(self, "GET", f"/api/v1/runs/{key}/events?after={after}")

    def facts(self, item):
        """What Dormouse says of an inbox item, as lines."""
        return "".join(f"{fact['name']}: {fact['value']}\n" for fact in self.ask("GET", f"/inbox/{item}").get("facts", []))

    def decide(self, item, decision="approve", **more):
        """A person's word; a yes is meant, whatever is dangerous about it."""
        if decision in ("approve", "edit"):
            more = {"anyway": True, **more}
        return self.ask("POST", f"/inbox/{item}/decision", {"decision": decision, **more})

    def cpu_s(self):
        """Seconds of a processor that it has used, however many others wanted one."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss(self):
        """Resident bytes."""
        with open(f"/proc/{self.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) * 1024

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


class Stream:
    """The server-sent events of one request, each read as JSON."""

    def __init__(self, daemon, method, path, body=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=WAIT_S)
        self.connection.request(method, path, body=None if body is None else json.dumps(body),
                                headers={"Authorization": f"Bearer {daemon.token()}",
                                         "Accept": "text/event-stream",
                                         "Content-Type": "application/json"})
        self.answer = self.connection.getresponse()
        self.seen = []
        self.lines = []
        if self.answer.status != 200:
            raise Refused(self.answer.status, json.loads(self.answer.read())["error"])
        self.document = daemon.document()

    def next(self):
        """The next event; None at the end, also when the server was killed."""
        data = b""
        while True:
            try:
                line = self.answer.readline()
            except (http.client.IncompleteRead, ConnectionError):
                line = b""
            self.lines.append(line)
            if not line:
                return None
            if line.startswith(b"data:"):
                data += line[5:].strip()
            elif line == b"\n" and data:
                event = json.loads(data)
                self.document.event(event)
                self.seen.append(event)
                return event

    def until(self, kind, **members):
        """The next event of this type with these members."""
        while True:
            event = self.next()
            expect(event is not None, f"the stream ended before {kind} {members}: {self.told()}")
            if event.get("type") == kind and members.items() <= event.items():
                return event

    def end(self):
        """Reads to the end and returns the `done` event."""
        done = self.until("done")
        while self.next():
            pass
        return done

    @property
    def raw(self):
        return b"".join(self.lines)

    def whole(self):
        """What was recorded, without partial texts."""
        return [event for event in self.seen if not event.get("isPartial")]

    def told(self):
        return json.dumps(self.seen)[-2000:]

    @property
    def key(self):
        """The id of the run."""
        while not self.seen:
            expect(self.next() is not None, "no event came")
        return self.seen[0]["runId"]

    def close(self):
        self.connection.close()


class WebSocket:
    """A WebSocket that speaks whole texts."""

    def __init__(self, daemon, path):
        self.socket = socket.create_connection(("127.0.0.1", daemon.port), timeout=WAIT_S)
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\nUpgrade: websocket\r\n"
                            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                            f"Authorization: Bearer {daemon.token()}\r\n\r\n".encode())
        self.file = self.socket.makefile("rb")
        expect_in("101", self.file.readline().decode())
        while self.file.readline() != b"\r\n":
            pass

    def say(self, text):
        text = text.encode()
        size = bytes([0x80 | len(text)]) if len(text) < 126 else \
            b"\xfe" + len(text).to_bytes(2, "big") if len(text) < 65536 else b"\xff" + len(text).to_bytes(8, "big")
        self.socket.sendall(b"\x81" + size + bytes(4) + text)  # a mask of zeros changes nothing

    def hear(self):
        """The next text; None when it was closed."""
        while True:
            head = self.file.read(2)
            if len(head) < 2 or head[0] & 15 == 8:
                return None
            n = head[1] & 127
            n = int.from_bytes(self.file.read(2 if n == 126 else 8), "big") if n > 125 else n
            text = self.file.read(n)
            if head[0] & 15 == 1:
                return json.loads(text)
            if head[0] & 15 == 9:
                self.socket.sendall(b"\x8a" + bytes([0x80 | n]) + bytes(4) + text)

    def close(self):
        self.file.close()
        self.socket.close()


class Refused(Exception):
    def __init__(self, status, error):
        super().__init__(f"{status} {error}")
        self.status, self.error = status, error


class SmallDisk:
    """A file system of a few pages, for root alone."""

    def __init__(self, box, size):
        self.path = box.path("small")
        os.mkdir(self.path, 0o700)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs",
                               self.path], capture_output=True, timeout=WAIT_S)
        if done.returncode != 0:
            raise Skip("a small file system can't be mounted here")
        box.closing.append(self)

    def close(self):
        # Lazily: a process that is just ending may still have a file open.
        subprocess.run(["umount", "-l", self.path], check=True, timeout=WAIT_S)


class Postgres:
    """A Postgres server on a Unix socket in a directory of its own, never as root."""

    OPTIONS = "-F -c full_page_writes=off -c shared_buffers=16MB -c autovacuum=off -h ''"

    def __init__(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not found:
            raise AssertionError("Postgres is not installed (apt install postgresql)")
        self.bin = found[-1]
        self.dir = tempfile.mkdtemp(prefix="dormouse-pg-")
        self.user = {}
        if os.geteuid() == 0:
            entry = pwd.getpwnam("postgres")
            os.chown(self.dir, entry.pw_uid, entry.pw_gid)
            self.user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        self.tool("initdb", "-A", "trust", "-U", "dormouse", "--no-sync", "--locale=C", "-E",
                  "UTF8", "-D", f"{self.dir}/data")
        self.up()
        self.url = f"postgresql://dormouse@/postgres?host={self.dir}"

    def tool(self, name, *words):
        done = subprocess.run([f"{self.bin}/{name}", *words], cwd=self.dir, **self.user,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=2 * WAIT_S)
        expect(done.returncode == 0, f"{name}: {done.stderr}")

    def up(self):
        self.tool("pg_ctl", "-D", f"{self.dir}/data", "-w", "-t", str(WAIT_S), "-l", f"{self.dir}/log",
                  "-o", f"-k {self.dir} {self.OPTIONS}", "start")

    def down(self):
        self.tool("pg_ctl", "-D", f"{self.dir}/data", "-m", "immediate", "-w", "stop")

    def ask(self, sql):
        return subprocess.run([f"{self.bin}/psql", "-AtX", "-c", sql, self.url], text=True,
                              check=True, capture_output=True, timeout=WAIT_S).stdout.strip()

    def close(self):
        try:
            self.down()
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)


def expect(true, message):
    if not true:
        raise AssertionError(message)


def expect_eq(a, b):
    expect(a == b, f"{a!r} is not {b!r}")


def expect_in(part, text):
    expect(part in text, f"{part!r} is not in {text!r}")


def eventually(found, what, seconds=WAIT_S):
    """Waits for a state that nothing tells of: what `found` returns, once that is true."""
    end = time.monotonic() + seconds
    while True:
        result = found()
        if result:
            return result
        expect(time.monotonic() < end, f"after {seconds} s still not: {what}")
        time.sleep(0.01)


def is_dead(pid):
    """Also when nobody has asked for its exit code yet: not every first process does. Its first thread
    may be gone before the others, who still hold its files and locks."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            ended = file.read().rsplit(")", 1)[1].split()[0] in "ZX"
        return ended and len(os.listdir(f"/proc/{pid}/task")) <= 1
    except (FileNotFoundError, ProcessLookupError):
        return True


def kill(pid):
    """kill -9, and waits until its sockets and locks are free."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    eventually(lambda: is_dead(pid), f"process {pid} has ended")


def holder(data):
    """The process that its lock file names as the last one that had this data directory."""
    try:
        with open(os.path.join(data, "lock")) as file:
            return int(file.read().strip() or 0) or None
    except (OSError, ValueError):
        return None


def kill_holder(data):
    """A keeper lingers after its last command; nothing is left of a test that is over."""
    pid = holder(data)
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            if "--keeper" in file.read():
                kill(pid)
    except OSError:
        pass


def free_port():
    """A port that can be closed and opened again: none of those that the system gives to whoever asks
    for any, or another test would have it in between."""
    while True:
        port = random.randint(20000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


# ---- running all ----


def run(function):
    box = Box()
    try:
        function(box)
        if box.replays:
            box.check_runs()
        return "ok"
    except Skip as why:
        print(f"  skipped: {why}")
        return "skipped"
    except Exception:  # every failure is one failed test
        traceback.print_exc(file=sys.stdout)
        return "FAILED"
    finally:
        box.close()


def cpu_s():
    """Seconds of a processor that this process and the ended ones among its children have used."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def main():
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    counts = {"ok": 0, "FAILED": 0, "skipped": 0}
    for function in TESTS:
        if part in function.__name__:
            begun, used = time.monotonic(), cpu_s()
            result = run(function)
            counts[result] += 1
            print(f"{result:7} {function.__name__} ({time.monotonic() - begun:.1f} s,"
                  f" {cpu_s() - used:.1f} s of a processor)", flush=True)
    print(f"{counts['ok']} passed, {counts['FAILED']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["FAILED"] or not counts["ok"] + counts["skipped"] else 0)

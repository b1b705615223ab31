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
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
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
        self.closing = []

    def close(self):
        for daemon in self.daemons:
            daemon.kill()
        for thing in self.closing:
            thing.close()
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
        self.tool("pg_ctl", "-D", f"{self.dir}/data", "-w", "-t", "60", "-l", f"{self.dir}/log",
                  "-o", f"-k {self.dir} {self.OPTIONS}", "start")
        self.url = f"postgresql://dormouse@/postgres?host={self.dir}"

    def tool(self, name, *words):
        done = subprocess.run([f"{self.bin}/{name}", *words], cwd=self.dir, **self.user,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=2 * WAIT_S)
        expect(done.returncode == 0, f"{name}: {done.stderr}")

    def ask(self, sql):
        return subprocess.run([f"{self.bin}/psql", "-AtX", "-c", sql, self.url], text=True,
                              check=True, capture_output=True, timeout=WAIT_S).stdout.strip()

    def close(self):
        try:
            self.tool("pg_ctl", "-D", f"{self.dir}/data", "-m", "immediate", "-w", "stop")
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)


def expect(true, message):
    if not true:
        raise AssertionError(message)


def expect_eq(a, b):
    expect(a == b, f"{a!r} is not {b!r}")


def expect_in(part, text):
    expect(part in text, f"{part!r} is not in {text!r}")


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

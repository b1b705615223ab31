#!/usr/bin/env python3
"""The daemon's life from outside: starting, stopping, kills, doctor, backups, both engines."""
import hashlib
import http.client
import io
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tarfile
import threading
import time
import urllib.error
import urllib.request

from harness import (BINARY, LONG, ROOT, WAIT_S, Postgres, Skip, eventually, expect, expect_eq, expect_in, free_port,
                     holder, is_dead, main, test)


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
    expect_in("dormouse doctor", box.error("serve", "--listen", "127.0.0.1:0")["message"])
    expect("token" not in checks, checks)
    os.chmod(os.path.join(box.data, "token"), 0o644)
    expect_in("chmod 600", doctor(box, code=1, env=free)["token"]["message"])
    os.chmod(box.data, 0o755)
    expect_eq(doctor(box, code=1, env=free)["data directory"]["fix"], f"chmod 700 {box.data}")
    box.config("{ \"nonsense\": 1 }")
    expect_in("nonsense", doctor(box, code=1, env=free)["configuration"]["message"])


@test
def a_daemon_on_all_addresses_answers_by_address_and_not_by_name(box):
    daemon = box.serve("--listen", "0.0.0.0:0")
    expect_eq(daemon.hello["url"], f"http://127.0.0.1:{daemon.port}")
    expect_eq(daemon.get("/", {"Host": f"192.0.2.7:{daemon.port}"})[0], 200)
    expect_eq(daemon.get("/", {"Host": f"evil.example:{daemon.port}"})[0], 403)
    daemon.stop()


@test
def runs_with_long_prompts_come_in_smaller_pages(box):
    box.script("  - { times: 20, reply: { text: Read. } }\n")
    daemon = box.serve()
    count = 6
    for i in range(count):  # each is two million bytes of JSON: a quote is two
        daemon.start(f"{i} " + '"' * 1_000_000).until("done")
    got, before, pages = [], "", 0
    while before is not None:
        page = daemon.ask("GET", f"/runs?limit=500{before}")
        got += page["runs"]
        pages += 1
        before = f"&before={page['before']}" if "before" in page else None
    expect_eq([run["prompt"].split()[0] for run in got], [str(i) for i in reversed(range(count))])
    expect(1 < pages < count, f"{pages} pages")
    expect_eq(len(daemon.ask("GET", "/runs?limit=2")["runs"]), 2)
    expect_eq(daemon.ask("GET", f"/runs?limit=1&before={got[-1]['n']}"), {"runs": []})
    daemon.stop()


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
def doctor_does_not_call_a_schema_of_another_version_damage(box):
    free = {"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"}
    box.serve().stop()
    path = os.path.join(box.data, "agent.sqlite")
    with sqlite3.connect(path) as db:
        db.execute("insert into schema_migrations select 99, name, checksum, applied_at"
                   " from schema_migrations limit 1")
    check = doctor(box, code=1, env=free)["agent database"]
    expect_in("use a newer Dormouse", check["message"])
    expect_eq(check["fix"], "install the Dormouse that wrote it")
    os.remove(path)
    with sqlite3.connect(path) as db:  # what a kill between creating and filling leaves
        db.execute("pragma journal_mode=wal")
    check = doctor(box, env=free)["agent database"]
    expect_eq((check["status"], check["fix"]), ("warn", "dormouse serve"))
    box.serve().stop()
    expect_eq(doctor(box, env=free)["agent database"]["status"], "ok")


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
        daemon.get("/healthz")
        started = time.monotonic()
        daemon.stop()
        expect(time.monotonic() - started < 30, "stopping took too long")


@test
def asking_twice_ends_at_once_and_harms_nothing(box):
    # Once in three is enough: another process may have had the processor.
    took = []
    while not took or (min(took) >= 4 and len(took) < 3):
        took.append(asked_twice(box))
    expect(min(took) < 4, f"it still waited for the client: {took}")
    box.serve().stop()


def asked_twice(box):
    """Seconds that it took to end, with a client in the middle of a request."""
    daemon = box.serve()
    with socket.create_connection(("127.0.0.1", daemon.port)) as slow:
        slow.send(b"POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nhalf")
        expect_eq(daemon.get("/healthz")[0], 200)
        daemon.process.send_signal(signal.SIGTERM)
        while "stopping" not in (line := daemon.process.stderr.readline()):
            expect(line, "it ended without a word")
        started = time.monotonic()
        daemon.process.send_signal(signal.SIGTERM)
        daemon.process.wait(timeout=WAIT_S)
        took = time.monotonic() - started
        # 0 when the clients were gone before the second signal came.
        expect(daemon.process.returncode in (0, 1), daemon.process.returncode)
    return took


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
    listen = f"127.0.0.1:{free_port()}"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(listen.split(":")[1])))
        taken.listen()
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


FILES = {"files", "agent.sqlite", "dormouse.sock", "index.sqlite", "journal.sqlite", "lock", "making", "token"}


def strange_files(box):
    """Files in the data directory that no start knows."""
    names = {re.sub(r"-(wal|shm|journal)$", "", name) for name in os.listdir(box.data)}
    return sorted(names - FILES)


def start_and_kill(box, after_s):
    """The pause is where the kill falls; nothing waits for it to be long enough."""
    process = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], env=box.env,
                               cwd=box.work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after_s)
    process.kill()
    process.wait()


@test
def a_kill_at_any_moment_of_the_start_leaves_nothing_in_the_way(box):
    began = time.monotonic()
    box.serve().stop()
    whole = time.monotonic() - began
    seed = int(time.time())
    dice = random.Random(seed)
    for i in range(50 if LONG else 20):
        if i % 5 == 0:  # every fifth time the databases are made anew
            shutil.rmtree(box.data)
        start_and_kill(box, dice.uniform(0, whole))
        expect_eq((strange_files(box) if os.path.exists(box.data) else [], seed), ([], seed))
        if i % 5 == 4:
            daemon = box.serve()
            expect_eq((daemon.get("/healthz")[0], seed), (200, seed))
            daemon.stop()
            doctor(box, env={"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"})


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
    for row in manifest["files"]:
        with open(box.path(f"restored/{row['name']}"), "rb") as file:
            expect_eq(hashlib.sha256(file.read()).hexdigest(), row["sha256"])
    os.chmod(box.path("restored"), 0o700)
    os.remove(box.path("restored/manifest.json"))
    restored = {"DORMOUSE_DATA": box.path("restored"), "DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"}
    expect_eq(box.json("config", "show", env=restored)["values"]["agent.name"], "Restored")
    doctor(box, env=restored)
    box.serve(env=restored).stop()


def kept(box, text, **how):
    """A directory with a note of this text."""
    box.run("journal", "note", "add", text, **how)


def notes(box, data):
    out, _ = box.run("journal", "note", "list", "--json", env={"DORMOUSE_DATA": data})
    return [json.loads(line)["body"] for line in out.splitlines()]


def backed_up(box, name="backup.tar"):
    """A backup that has the note "one"; the directory itself has "two" as well."""
    kept(box, "one")
    box.run("backup", box.path(name))
    kept(box, "two")
    still(box.data)
    return box.path(name)


def still(data):
    """No keeper lingers."""
    eventually(lambda: holder(data) is None or is_dead(holder(data)), "the keeper has gone")


@test
def a_backup_is_checked_and_restored(box):
    file = backed_up(box)
    expect_in("whole backup", box.run("restore", "--check", file)[0])
    answer = box.json("restore", file, "--data", box.path("new"))
    expect_eq(answer["data"], box.path("new"))
    expect_eq({row["name"] for row in answer["manifest"]["files"]},
              {"journal.sqlite", "agent.sqlite", "index.sqlite"})
    expect_eq(notes(box, box.path("new")), ["one"])
    still(box.path("new"))
    expect_in("not empty", box.error("restore", file)["message"])
    expect_eq(sorted(notes(box, box.data)), ["one", "two"])
    still(box.data)
    answer = box.json("restore", file, "--force")
    expect_eq(notes(box, box.data), ["one"])
    expect_eq(sorted(notes(box, answer["aside"])), ["one", "two"])
    expect(not os.path.exists(box.data + ".restoring"), "a piece is left")
    still(box.data)
    still(answer["aside"])


@test
def a_running_daemon_is_not_restored_over(box):
    file = backed_up(box)
    daemon = box.serve()
    expect_eq(box.error("restore", file, "--force")["code"], "conflict")
    expect_eq(daemon.get("/healthz")[0], 200)
    daemon.stop()
    expect_eq(sorted(notes(box, box.data)), ["one", "two"])


def with_member(box, file, name):
    """The archive with another file in front of its own."""
    path = box.path("more.tar")
    with tarfile.open(file) as archive, tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as more:
        other = tarfile.TarInfo(name)
        other.size = 2
        more.addfile(other, io.BytesIO(b"{}"))
        for member in archive:
            more.addfile(member, archive.extractfile(member))
    with open(path, "rb") as archive:
        return archive.read()


@test
def a_damaged_backup_is_refused_before_anything_is_touched(box):
    file = backed_up(box)
    with open(file, "rb") as whole:
        bytes_ = whole.read()
    chance = random.Random(12)
    end = len(bytes_.rstrip(b"\0"))  # zeros behind the last entry fill up the archive and mean nothing
    places = [100, 600, end - 1] + [chance.randrange(end) for _ in range(8)]
    damaged = [bytes_[:at] + bytes([bytes_[at] ^ 1]) + bytes_[at + 1:] for at in places]
    damaged += [bytes_[:at] for at in (0, 511, 512, len(bytes_) // 2, len(bytes_) - 10240, len(bytes_) - 1)]
    damaged += [with_member(box, file, name) for name in ("secrets", "../elsewhere", "journal.sqlite", "manifest.json")]
    for i, bad in enumerate(damaged):
        with open(box.path("bad.tar"), "wb") as out:
            out.write(bad)
        for words in (("--check",), ("--force",)):
            done = subprocess.run([BINARY, "restore", box.path("bad.tar"), *words], env=box.env, cwd=box.work,
                                  text=True, capture_output=True, timeout=WAIT_S)
            expect(done.returncode == 1, f"damage {i} was not seen: {done.stdout}{done.stderr}")
    expect_eq(sorted(notes(box, box.data)), ["one", "two"])
    expect_eq([name for name in os.listdir(box.dir) if "restor" in name], [])


@test
def a_restore_that_is_killed_is_begun_again(box):
    file = backed_up(box)
    chance = random.Random(7)
    for _ in range(12):
        process = subprocess.Popen([BINARY, "restore", file, "--force"], env=box.env, cwd=box.work,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, 0.3))  # a moment that nobody chose
        process.kill()
        process.wait()
        found = sorted(notes(box, box.data))
        expect(found in (["one"], ["one", "two"]), f"half of it: {found}")
        still(box.data)
    box.run("restore", file, "--force")
    expect_eq(notes(box, box.data), ["one"])
    still(box.data)
    expect(not os.path.exists(box.data + ".restoring"), "a piece is left")
    aside = [box.path(name) for name in os.listdir(box.dir) if name.startswith("data.before-restore-")]
    expect(["one", "two"] in [sorted(notes(box, one)) for one in aside], f"what was there is gone: {aside}")
    for one in aside:
        still(one)


@test
def a_database_that_is_missing_is_not_made_anew(box):
    file = backed_up(box)
    for name, harm in (("agent", os.remove), ("journal", lambda path: open(path, "w").close())):
        harm(f"{box.data}/{name}.sqlite")
        for words in (("serve", "--listen", "127.0.0.1:0"), ("agent", "list")):
            error = box.error(*words)
            expect_eq(error["code"], "integrity_failed")
            expect_in(f"{name}.sqlite", error["message"])
            expect_in(file, error["message"])
        expect_in(f"dormouse restore {file}", doctor(box, code=1)[f"{name} database"]["fix"])
        box.run("restore", file, "--force")
        expect_eq(notes(box, box.data), ["one"])
        still(box.data)


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
    expect_eq(box.names(), ["data", "empty", "here.tar", "work"])


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


class Writer(threading.Thread):
    """Adds 0, 1, 2... to a table of the journal, each in a transaction of its own."""

    def __init__(self, path):
        super().__init__()
        self.path, self.count, self.ended = path, 0, threading.Event()

    def run(self):
        db = sqlite3.connect(self.path, timeout=WAIT_S)
        while not self.ended.is_set():
            db.execute("insert into probe values (?)", (self.count,))
            db.commit()
            self.count += 1
        db.close()

    def wait_for(self, count):
        while self.count < count and self.is_alive():
            time.sleep(0.001)

    def __enter__(self):
        with sqlite3.connect(self.path, timeout=WAIT_S) as db:
            db.execute("create table probe (n integer primary key)")
        db.close()
        self.start()
        return self

    def __exit__(self, *what):
        self.ended.set()
        self.join()


@test
def backups_under_load_restore_to_whole_prefixes(box):
    daemon = box.serve()
    copies = []
    with Writer(os.path.join(box.data, "journal.sqlite")) as writer:
        for i in range(3):
            writer.wait_for(writer.count + 50)
            acknowledged = writer.count
            box.run("backup", f"../copy-{i}.tar")  # a relative name, from the working directory
            copies.append((i, acknowledged))
            expect_eq(daemon.get("/healthz")[0], 200)
    daemon.stop()
    for i, acknowledged in copies:
        place = box.path(f"restored-{i}")
        os.mkdir(place, 0o700)
        subprocess.run(["tar", "-xf", box.path(f"copy-{i}.tar"), "-C", place], check=True)
        env = {"DORMOUSE_DATA": place, "DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"}
        with sqlite3.connect(os.path.join(place, "journal.sqlite")) as db:
            rows = [row[0] for row in db.execute("select n from probe order by n")]
        db.close()
        expect_eq(rows, list(range(len(rows))))
        expect(len(rows) >= acknowledged, f"{len(rows)} of {acknowledged} acknowledged")
        doctor(box, env=env)
        restored = box.serve(env=env)
        expect_eq(restored.get("/healthz")[0], 200)
        restored.stop()


# ---- Postgres ----


def postgres(box, **how):
    """A server of the box's own; see Postgres in the harness."""
    server = Postgres(**how)
    box.closing.append(server)
    return server


@test
def a_daemon_on_postgres_lives_through_a_kill(box):
    server = postgres(box)
    by_url = {"DORMOUSE_STORE_URL": server.url, "DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"}
    by_seed = {"STATE_STORE_BACKEND": "postgres", "DATABASE_URL": server.url,
               "DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"}
    for env in (by_url, by_seed):
        expect_eq(doctor(box, env=env)["journal database"]["message"], "not there yet (Postgres)")
    for i in range(4):
        daemon = box.serve(env=(by_url, by_seed)[i % 2])
        status, body = daemon.get("/healthz")
        expect_eq((status, json.loads(body)["domains"]),
                  (200, {"journal": "ok", "agent": "ok", "index": "ok"}))
        checks = doctor(box, env=by_seed)
        for name in ("journal", "agent"):
            expect(re.fullmatch(r"sound, schema version \d+ \(Postgres\)",
                                checks[f"{name} database"]["message"]), checks)
        daemon.kill()
    box.serve(env=by_url).stop()
    expect_eq(sorted(name for name in os.listdir(box.data) if name.endswith(".sqlite")),
              ["index.sqlite"])
    expect_in("pg_dump", box.error("backup", box.path("b.tar"), env=by_url)["message"])
    expect_eq(server.ask("select count(*) from agent.schema_migrations where number = 1"), "1")


def healths(port):
    """(status, domains), or None while nobody listens."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=WAIT_S) as answer:
            return answer.status, json.load(answer)["domains"]
    except urllib.error.HTTPError as answer:
        return answer.code, json.load(answer)["domains"]
    except (urllib.error.URLError, ConnectionError):
        return None


DOWN = {"journal": "away", "agent": "away", "index": "ok"}
UP = {"journal": "ok", "agent": "ok", "index": "ok"}


@test
def healthz_says_that_postgres_is_down_and_back(box):
    server = postgres(box)
    daemon = box.serve(env={"DORMOUSE_STORE_URL": server.url})
    expect_eq(healths(daemon.port), (200, UP))
    server.down()
    expect_eq(healths(daemon.port), (503, DOWN))
    daemon.ask("GET", "/runs", status=503)
    server.up()
    eventually(lambda: healths(daemon.port) == (200, UP), "Postgres is back")
    expect_eq(daemon.start("hello").end()["stopReason"], "end_turn")
    _, err = daemon.stop()
    expect_eq(err.count("can't be reached"), 2)  # one line for each domain
    expect_eq(err.count("takes writes again"), 2)


@test
def a_daemon_waits_for_its_postgres(box):
    server = postgres(box)
    server.down()
    port = free_port()
    env = dict(box.env, DORMOUSE_STORE_URL=server.url)
    process = subprocess.Popen([BINARY, "serve", "--json", "--listen", f"127.0.0.1:{port}"], cwd=box.work,
                               env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        eventually(lambda: healths(port) == (503, DOWN), "it says that it waits")
        server.up()
        expect_in("login", process.stdout.readline())
        expect_eq(healths(port), (200, UP))
        process.terminate()
        _, err = process.communicate(timeout=WAIT_S)
    finally:
        process.kill()
        process.communicate()
    expect_eq((process.returncode, err.count("waits for it"), err.count("Postgres answers")), (0, 1, 1))


@test
def several_daemons_share_one_postgres(box):
    server = postgres(box)
    daemons = [box.serve("--data", box.path(f"data-{i}"), env={"DORMOUSE_STORE_URL": server.url})
               for i in range(3)]
    for daemon in daemons:
        expect_eq(daemon.get("/healthz")[0], 200)
        daemon.stop()


@test
def postgres_that_is_not_as_it_should_be_is_named_without_its_password(box):
    server = postgres(box)
    secret = "geheim-3141592653"
    cases = (
        (f"postgresql://dormouse:{secret}@/absent?host={server.dir}", "absent"),
        (f"postgresql://nobody-here:{secret}@/postgres?host={server.dir}", "nobody-here"),
    )
    for url, part in cases:
        env = {"DORMOUSE_STORE_URL": url, "DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"}
        message = box.error("serve", env=env)["message"]
        expect_in(part, message)
        check = doctor(box, code=1, env=env)["journal database"]
        expect_eq(check["status"], "fail")
        expect_in(part, check["message"])
        shown = "".join(box.run("config", "show", env=env)) + message + json.dumps(check)
        expect(secret not in shown, shown)
    box.serve().stop()  # nothing stayed locked


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


main()

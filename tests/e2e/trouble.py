#!/usr/bin/env python3
"""Commands in trouble: full disks, files that can't be read, strange input, and what they say."""
import json
import os
import shutil
import socket
import sqlite3
import tarfile

from harness import WAIT_S, SmallDisk, expect, expect_eq, expect_in, main, test

FREE = {"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"}


def checks(box, *words, code=0, env=None):
    answer = box.json("doctor", *words, code=code, env={**FREE, **(env or {})})
    return {check["name"]: check for check in answer["checks"]}


# ---- backup ----


@test
def a_backup_onto_a_full_disk_fails_and_leaves_nothing(box):
    box.serve().stop()
    with sqlite3.connect(os.path.join(box.data, "journal.sqlite")) as db:
        db.execute("create table bulk (b blob)")
        db.executemany("insert into bulk values (randomblob(100000))", [()] * 20)
    db.close()
    disk = SmallDisk(box, "1m")
    target = os.path.join(disk.path, "b.tar")
    error = box.json("backup", target, code=1)["error"]
    expect_eq(error["code"], "storage_failed")
    expect_in("disk is full", error["message"])
    expect_eq(os.listdir(disk.path), [])
    box.run("backup", box.path("b.tar"))


@test
def a_backup_holds_policy_and_settings_but_no_token(box):
    box.config("agent: { name: Ada }\n")
    box.serve().stop()
    box.write("data/policy.yaml", "version: 1\n")
    box.write("data/notes.txt", "not ours\n")
    answer = box.json("backup", box.path("b.tar"))
    names = [row["name"] for row in answer["files"]]
    expect_eq(sorted(names), ["agent.sqlite", "config.yaml", "index.sqlite", "journal.sqlite",
                              "policy.yaml"])
    with tarfile.open(box.path("b.tar")) as archive:
        expect_eq(sorted(archive.getnames()), sorted([*names, "manifest.json"]))
        expect_eq({member.mode for member in archive.getmembers()}, {0o600})
        for row in answer["files"]:
            expect_eq(archive.getmember(row["name"]).size, row["bytes"])


@test
def a_backup_refuses_names_that_can_not_be(box):
    box.serve().stop()
    expect_in("is empty", box.error("backup", "")["message"])
    expect_in("too long", box.error("backup", "x" * 5000)["message"])
    box.error("backup", "/proc/b.tar")
    expect_in("already there", box.error("backup", box.data)["message"])
    os.symlink(box.path("nowhere"), box.path("link.tar"))
    box.error("backup", box.path("link.tar"))
    expect(not os.path.exists(box.path("nowhere")), "a link was followed")
    expect_eq(box.names(), ["data", "link.tar", "work"])


@test
def a_backup_stops_at_a_setting_that_is_no_file(box):
    box.serve().stop()
    os.mkdir(os.path.join(box.data, "policy.yaml"))
    expect_in("is not a regular file", box.error("backup", box.path("b.tar"))["message"])
    expect_eq(box.names(), ["data", "work"])


# ---- doctor ----


@test
def doctor_warns_of_a_disk_that_is_nearly_full(box):
    disk = SmallDisk(box, "200m")
    check = checks(box, "--data", disk.path)["free space"]
    expect_eq((check["status"], check["message"]), ("warn", "0.2 GiB"))
    expect_eq(check["fix"], f"du -xh {disk.path} | sort -h | tail")
    with open(os.path.join(disk.path, "filler"), "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 150 << 20)
    check = checks(box, "--data", disk.path, code=1)["free space"]
    expect_eq((check["status"], check["message"]), ("fail", "0.0 GiB"))


@test
def doctor_tells_people_what_it_tells_programs(box):
    os.makedirs(box.data, mode=0o755)
    os.chmod(box.data, 0o755)
    answer = box.json("doctor", env=FREE)
    out, err = box.run("doctor", env=FREE)
    expect_eq(err, "")
    for check in answer["checks"]:
        expect_in(f"{check['status']:<5} {check['name']:<16} {check['message']}\n", out)
        if "fix" in check:
            expect_in(f"{'':23}try: {check['fix']}\n", out)
    expect_eq(out.count("try: "), sum("fix" in check for check in answer["checks"]))


@test
def doctor_changes_nothing(box):
    box.serve().stop()

    def state():
        return {path: (os.stat(path).st_mode, open(path, "rb").read())
                for folder, _, names in os.walk(box.data)
                for path in (os.path.join(folder, name) for name in names)
                if not path.endswith((".sock", "-wal", "-shm"))}

    before = state()
    checks(box)
    expect_eq(state() == before, True)


@test
def doctor_finds_a_cut_off_database(box):
    box.serve().stop()
    path = os.path.join(box.data, "journal.sqlite")
    os.truncate(path, os.path.getsize(path) - 5000)
    check = checks(box, code=1)["journal database"]
    expect_eq(check["status"], "fail")
    expect_eq(check["fix"], f"restore a backup of {path} (dormouse help backup)")
    os.remove(path)
    expect_in("is missing", checks(box, code=1)["journal database"]["message"])


HANGS = """version: 1
for: [run]
guards:
  - name: hold_everything
    points:
      - block: [{ on: act }]
"""


@test
def a_policy_under_which_a_run_could_hang_is_refused_by_whoever_reads_it(box):
    box.serve().stop()
    box.write("data/policy.yaml", HANGS)
    out, err = box.run("serve", code=1)
    said = [err, box.error("run", "hello")["message"], checks(box, code=1)["policy"]["message"],
            box.error("config", "check")["message"]]
    for text in said:
        expect_in("policy.yaml", text)
        expect_in("hold_everything keeps `act` from happening", text)
        expect_in("dormouse verify", text)
    expect_in("violated", box.run("verify", code=1, seconds=4 * WAIT_S)[0])
    box.write("data/policy.yaml", "version: 1\n")
    expect_eq(box.json("config", "check")["valid"], True)
    box.serve().stop()


# ---- schema check ----


@test
def a_schema_check_names_what_it_can_not_read(box):
    one, bad = box.write("one.json", "1"), box.write("bad.yaml", "a: [\n")
    for words, part in (
        ((box.work, one), "Is a directory"),
        (("/nowhere.json", one), "No such file"),
        ((one, one), "expected an object or a boolean, found integer"),
        ((bad, one), "bad.yaml:"),
    ):
        expect_in(part, box.error("schema", "check", *words)["message"])
    for text in ("", "{", "1 2", "\x00", '{"a":1,"a":2}', "nul"):
        error = box.error("schema", "check", "-", one, stdin=text)
        expect_in("standard input", error["message"])


@test
def a_schema_check_refuses_bad_references(box):
    schema, one = box.write("s.json", "true"), box.write("one.json", "1")
    for ref in ("", "=", "=x", "urn:a=", "urn:a"):
        expect_in("--ref takes URI=FILE",
                  box.error("schema", "check", schema, one, "--ref", ref)["message"])
    expect_in("/nowhere",
              box.error("schema", "check", schema, one, "--ref", "urn:a=/nowhere")["message"])
    # The last equals sign divides: a URI may hold others.
    query = box.write("q.json", '{"$ref": "https://h/?a=b"}')
    box.run("schema", "check", query, one, "--ref", f"https://h/?a=b={schema}")


@test
def a_schema_check_reports_every_place(box):
    schema = box.write("s.yaml", "items: { type: integer, minimum: 3 }\nmaxItems: 3\n")
    rows = box.write("rows.json", '[1, "x", 3, 2]')
    answer = box.json("schema", "check", schema, rows, code=1)
    expect_eq(sorted(error["instance"] for error in answer["errors"]), ["", "/0", "/1", "/3"])
    out, _ = box.run("schema", "check", schema, rows, code=1)
    for error in answer["errors"]:
        expect_in(error["message"], out)
    many = box.write("many.json", json.dumps([0] * 5000))
    answer = box.json("schema", "check", schema, many, code=1)
    expect_eq(answer["more"], True)
    expect_in("and more", box.run("schema", "check", schema, many, code=1)[0])


# ---- verify and serve ----


@test
def verify_refuses_a_policy_that_is_none(box):
    for text in ("[]", "5", "guards: {", "zebra: 1\n", "guards: [5]\n"):
        path = box.write("bad.yaml", text)
        expect_in("bad.yaml", box.error("verify", "--policy", path)["message"])
    expect_in(box.work, box.error("verify", "--policy", box.work)["message"])


@test
def serve_refuses_addresses_that_make_no_sense(box):
    for address in ("", ":", "127.0.0.1:65536", "127.0.0.1:-1", "example.org:80", "[::1", "1.2.3:1",
                    "127.0.0.1:80:80", "http://127.0.0.1", "127.0.0.1:x"):
        expect_in("--listen", box.error("serve", "--listen", address, code=2)["message"])
    expect(not os.path.exists(box.data), "the data directory was created")


@test
def serve_tells_an_abstract_socket(box):
    name = f"dormouse-e2e-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + name)
        manager.settimeout(WAIT_S)
        daemon = box.serve(env={"NOTIFY_SOCKET": "@" + name})
        expect_eq(manager.recv(100), b"READY=1")
        daemon.stop()
        expect_eq(manager.recv(100), b"STOPPING=1")


@test
def serve_goes_on_when_nobody_listens_to_its_notes(box):
    for name in ("/nowhere/at/all", "relative", "@nobody", "/" * 200):
        daemon = box.serve(env={"NOTIFY_SOCKET": name})
        expect_eq(daemon.get("/healthz")[0], 200)
        daemon.stop()


@test
def a_data_directory_may_be_a_link(box):
    os.mkdir(box.path("real"), 0o700)
    os.symlink(box.path("real"), box.data)
    box.serve().stop()
    expect({"journal.sqlite", "lock", "token"} <= set(os.listdir(box.path("real"))), "files")
    checks(box)
    shutil.rmtree(box.path("real"))
    box.error("serve", "--listen", "127.0.0.1:0")


main()

#!/usr/bin/env python3
"""Skills as they are used: over REST, by runs, with scripts in the sandbox, after restarts, and with
archives that mean harm."""
import gzip
import http.client
import io
import json
import os
import signal
import tarfile
import time
import zipfile

from harness import WAIT_S, eventually, expect, expect_eq, expect_in, main, test

TEXT = "---\nname: tea\ndescription: Brews tea. Use when tea is wanted.\n{more}---\n\n1. Boil water.\n2. Wait.\n"


def post(daemon, path, data, status=201, kind="application/gzip"):
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=WAIT_S)
    connection.request("POST", "/api/v1" + path, body=data,
                       headers={"Authorization": f"Bearer {daemon.token()}", "Content-Type": kind})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    expect(answer.status == status, f"POST {path}: {answer.status} {text!r}")
    return json.loads(text)


def archive(files, form="gz"):
    out = io.BytesIO()
    if form == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
            for name, text in files.items():
                bundle.writestr(name, text)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w:gz" if form == "gz" else "w") as bundle:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            bundle.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


def skill_dir(box, name="tea", more="", **files):
    box.write(f"work/{name}/SKILL.md", TEXT.format(more=more).replace("name: tea", f"name: {name}"))
    for path, text in files.items():
        box.write(f"work/{name}/" + path.replace("__", "/").replace("_dot_", "."), text)
    return os.path.join(box.work, name)


# ---- REST ----


@test
def rest_makes_changes_and_removes_skills_in_the_agreed_shapes(box):
    daemon = box.serve()
    made = daemon.ask("POST", "/agents/planner/skills",
                      {"name": "PDF Processing", "description": "Reads PDFs", "instructions": "Read."},
                      201)["skill"]
    expect_eq(made["name"], "pdf-processing")
    for key in ("id", "name", "description", "instructions", "created_at", "updated_at", "metadata",
                "allowed_tools", "source", "shared", "enabled", "content_hash", "files"):
        expect(key in made, f"{key} is missing: {made}")
    listed = daemon.ask("GET", "/agents/planner/skills")["skills"]
    expect_eq([s["name"] for s in listed], sorted(s["name"] for s in listed))
    expect(made["id"] in [s["id"] for s in listed], listed)
    changed = daemon.ask("PUT", f"/agents/planner/skills/{made['id']}",
                         {"description": "Reads all PDFs", "allowed_tools": ["read_file"],
                          "metadata": {"by": "me"}, "license": "MIT"})["skill"]
    expect_eq(changed["id"], made["id"])
    expect_eq(changed["instructions"], "Read.")
    expect_eq(changed["allowed_tools"], ["read_file"])
    expect_eq(changed["metadata"], {"by": "me"})
    off = daemon.ask("PUT", f"/agents/planner/skills/{made['id']}", {"enabled": False})["skill"]
    expect_eq(off["enabled"], False)
    expect_eq(daemon.ask("GET", f"/agents/planner/skills/{made['id']}")["skill"], off)
    daemon.ask("DELETE", f"/agents/planner/skills/{made['id']}", status=204)
    daemon.ask("GET", f"/agents/planner/skills/{made['id']}", status=404)
    daemon.ask("DELETE", f"/agents/planner/skills/{made['id']}", status=404)


@test
def rest_refuses_what_is_no_skill(box):
    daemon = box.serve()
    path = "/agents/planner/skills"
    good = {"name": "tea", "description": "Tea", "instructions": "Boil."}
    daemon.ask("POST", path, good, 201)
    daemon.ask("POST", path, good, 409)
    daemon.ask("POST", path, {**good, "name": "Tea"}, 409)
    for wrong in ({"name": "!!", "description": "x"}, {"name": "x"}, {"description": "x"},
                  {"name": "x", "description": "x" * 1025}, {"name": "x", "description": " "},
                  {"name": "x", "description": "x", "compatibility": "x" * 501},
                  {"name": "x", "description": "x", "metadata": {"a": 1}},
                  {"name": "x", "description": "x", "allowed_tools": [1]}):
        daemon.ask("POST", path, wrong, 400)
    long = "n" * 65
    for wrong, told in (({**good, "name": long}, "more than the 64 characters"),
                        ({"name": "x", "description": "x"}, "instructions"),
                        ({"name": "x", "description": "x", "instructions": " \n"}, "instructions")):
        expect_in(told, daemon.ask("POST", path, wrong, 400)["error"]["message"])
    daemon.ask("PUT", path + "/tea", {"name": long}, 400)
    daemon.ask("PUT", path + "/tea", {"instructions": ""}, 400)
    expect_eq(daemon.ask("POST", path, {**good, "name": "N" * 64}, 201)["skill"]["name"], "n" * 64)
    daemon.ask("POST", path, {**good, "more": 1}, 422)
    daemon.ask("POST", "/agents/nobody/skills", good, 404)
    daemon.ask("PUT", path + "/nothing", {"description": "x"}, 404)
    daemon.ask("PUT", path + "/tea", {"description": ""}, 400)
    daemon.ask("DELETE", path + "/weekly-review", status=409)
    expect_eq(daemon.ask("GET", path + "/tea")["skill"]["description"], "Tea")


@test
def names_and_texts_that_look_like_markup_are_kept_as_text(box):
    daemon = box.serve()
    evil = "<script>alert(1)</script> \"quotes\" & 'more' --- \u202e"
    made = daemon.ask("POST", "/agents/planner/skills",
                      {"name": "<b>x</b>", "description": evil, "instructions": evil}, 201)["skill"]
    expect_eq(made["name"], "b-x-b")
    expect_eq(made["description"], evil)
    expect_eq(made["instructions"], evil.strip())


@test
def skills_are_checked_without_being_kept(box):
    daemon = box.serve()
    answer = daemon.ask("POST", "/skills/validate", {"content": TEXT.format(more="")})
    expect_eq(answer, {"valid": True, "problems": [], "name": "tea"})
    answer = daemon.ask("POST", "/skills/validate", {"content": TEXT.format(more="odd: 1\n")})
    expect_eq(answer["valid"], False)
    expect_in("odd", answer["problems"][0])
    answer = post(daemon, "/skills/validate", archive({"coffee/SKILL.md": TEXT.format(more="")}), 200)
    expect_in("directory", answer["problems"][0])
    expect_eq([s["name"] for s in daemon.ask("GET", "/agents/planner/skills")["skills"]
               if not s["shared"]], [])


# ---- archives ----


@test
def archives_of_every_form_bring_a_skill_with_its_files(box):
    daemon = box.serve()
    for form in ("gz", "tar", "zip"):
        files = {"tea/SKILL.md": TEXT.format(more=""), "tea/scripts/a.sh": "#!/bin/sh\necho a\n",
                 "tea/references/x.md": "X\n"}
        skill = post(daemon, "/agents/planner/skills/import", archive(files, form))["skill"]
        expect_eq(skill["files"], ["SKILL.md", "references/x.md", "scripts/a.sh"])
        got = daemon.ask("GET", "/agents/planner/skills/tea/files/scripts/a.sh")
        expect_eq(got["content"], "#!/bin/sh\necho a\n")
        daemon.ask("GET", "/agents/planner/skills/tea/files/scripts/none", status=404)
        daemon.ask("DELETE", "/agents/planner/skills/tea", status=204)


@test
def archives_that_mean_harm_are_refused_whole(box):
    daemon = box.serve()
    path = "/agents/planner/skills/import"
    good = TEXT.format(more="")
    for name in ("../escape.md", "/etc/x", "a/../../b", "C:\\x", "tea/\\..\\x", "tea/.hidden",
                 "tea/con.txt", "tea/a\u200bb.md"):
        answer = post(daemon, path, archive({"tea/SKILL.md": good, name: "x"}),
                      status=403)
        expect_eq(answer["error"]["code"], "path_denied")
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as bundle:
        member = tarfile.TarInfo("tea/SKILL.md")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        bundle.addfile(member)
    expect_in("it is a link", post(daemon, path, out.getvalue(), 400)["error"]["message"])
    post(daemon, path, b"not an archive at all", 400)
    expect_eq([s["name"] for s in daemon.ask("GET", "/agents/planner/skills")["skills"]
               if not s["shared"]], [])


@test
def a_bomb_costs_nothing(box):
    daemon = box.serve()
    data = b""
    zeros = gzip.compress(b"\0" * (1 << 26))  # once: what is joined in gzip is joined when it is read
    for i in range(64):
        member = tarfile.TarInfo(f"tea/{i}.bin")
        member.size = 1 << 26
        data += gzip.compress(member.tobuf()) + zeros
    before, used = daemon.rss(), daemon.cpu_s()
    answer = post(daemon, "/agents/planner/skills/import", data, 413)
    expect_eq(answer["error"]["code"], "too_large")
    expect(daemon.cpu_s() - used < 3, f"it took {daemon.cpu_s() - used} s of a processor")
    expect(daemon.rss() - before < 100 << 20, "it took much memory")


@test
def a_daemon_killed_while_it_imports_keeps_all_or_nothing(box):
    files = {f"tea/references/{i}.md": f"{i}\n" * 500 for i in range(300)}
    files["tea/SKILL.md"] = TEXT.format(more="")
    data = archive(files)
    for pause in (0.0, 0.005, 0.02, 0.05, 0.1, 0.2):
        daemon = box.serve()
        pid = os.fork()
        if pid == 0:
            try:
                post(daemon, "/agents/planner/skills/import", data)
            except BaseException:
                pass
            os._exit(0)
        time.sleep(pause)
        os.kill(daemon.pid, signal.SIGKILL)
        daemon.process.communicate()
        os.waitpid(pid, 0)
        daemon = box.serve()
        own = [s for s in daemon.ask("GET", "/agents/planner/skills")["skills"] if not s["shared"]]
        expect(len(own) in (0, 1), own)
        if own:
            expect_eq(len(own[0]["files"]), 301)
            daemon.ask("DELETE", "/agents/planner/skills/tea", status=204)
        daemon.stop()


# ---- commands ----


@test
def commands_add_show_switch_and_remove(box):
    skill_dir(box, scripts__a_dot_sh="#!/bin/sh\necho a\n")
    expect_in("scripts/a.sh", box.run("skill", "add", "tea")[0])
    expect_in("already", box.error("skill", "add", "tea")["message"])
    expect_in("Boil water", box.run("skill", "show", "tea")[0])
    expect_eq(box.json("skill", "disable", "tea")["enabled"], False)
    expect_in("off", [line for line in box.run("skill", "list")[0].splitlines() if "tea" in line][0])
    expect_eq(box.json("skill", "enable", "tea")["enabled"], True)
    box.run("skill", "rm", "tea")
    expect_in("no skill", box.error("skill", "show", "tea")["message"])
    restored = box.run("skill", "restore", "tea")[0]
    expect_in("Restored       tea", restored)
    expect_in("scripts/a.sh", restored)
    expect_in("Boil water", box.run("skill", "show", "tea")[0])
    expect_in("no skill", box.error("skill", "restore", "tea")["message"])
    box.run("skill", "rm", "tea")
    expect_eq(box.json("skill", "restore", "tea")["files"], ["SKILL.md", "scripts/a.sh"])
    box.run("skill", "rm", "tea")
    expect_in("there is no", box.error("skill", "add", "nothing")["message"])
    os.symlink("/etc/passwd", os.path.join(box.work, "tea", "link"))
    expect_in("link", box.error("skill", "add", "tea")["message"])


@test
def the_offline_model_uses_a_skill_with_its_prefix(box):
    skill_dir(box)
    box.run("skill", "add", "tea")
    out, _ = box.run("skill", "run", "tea", "for two")
    expect_in("[Using skill: tea]", out)
    expect_in("1. Boil water.", out)
    out, _ = box.run("run", "use the weekly-review skill")
    expect_in("[Using skill: weekly-review]", out)
    box.run("skill", "disable", "tea")
    expect("[Using skill: tea]" not in box.run("skill", "run", "tea")[0], "it was off")


# ---- a skill in use ----

NARROW = '''
  - expect: { results: 0 }
    reply: { calls: [{ name: read_memory, arguments: { path: skills/tea.md } }] }
  - expect: { results: 1 }
    reply: { calls: [{ name: bash, arguments: { command: echo hello } }] }
  - expect: { results: 2 }
    reply: { text: "[Using skill: tea] ended" }
'''


@test
def a_skill_in_use_narrows_what_its_run_may_call(box):
    box.script(NARROW)
    skill_dir(box, more="allowed-tools: read_file Bash(git:*)\n")
    daemon = box.serve()
    box.run("skill", "add", "tea")
    stream = daemon.start("tea please", cwd=box.work)
    result = stream.until("tool_result", toolName="bash")
    expect_in("capability_denied", json.dumps(result))
    expect_in("skill tea", json.dumps(result))
    stream.end()


@test
def a_skill_without_allowed_tools_restricts_nothing(box):
    box.script(NARROW)
    skill_dir(box)
    daemon = box.serve()
    box.run("skill", "add", "tea")
    stream = daemon.start("tea please", cwd=box.work)
    daemon.decide(stream.until("waiting")["itemId"])
    result = stream.until("tool_result", toolName="bash")
    expect_in("hello", json.dumps(result))
    stream.end()


# ---- scripts ----

SCRIPT = '''
  - expect: { results: 0 }
    reply: { calls: [{ name: run_skill_script, arguments: { skill: tea, script: scripts/a.sh, arguments: ["it's", "two words"] } }] }
  - expect: { results: 1 }
    reply: { text: ran }
'''
A_SH = '#!/bin/sh\necho "script: $1|$2"\ncat "$SKILL_DIR/references/x.md"\npwd\n'


def run_script(daemon, approve=True, scope="once", cwd=None):
    stream = daemon.start("run it", cwd=cwd or daemon.box.work)
    if approve:
        stream.until("waiting")
        item = daemon.ask("GET", "/inbox")["items"][0]
        expect_eq(item["kind"], "skill_script")
        expect_eq(item["details"]["content"], A_SH if approve is True else approve)
        expect_eq(item["details"]["skill"], "tea")
        expect_in("scripts/a.sh", json.dumps(item))
        expect_eq([choice["scope"] for choice in item["choices"]], ["once", "run", "always"])
        daemon.decide(item["id"], scope=scope)
    result = stream.until("tool_result", toolName="run_skill_script")
    stream.end()
    return result


@test
def a_script_is_shown_whole_once_and_runs_in_the_sandbox(box):
    box.script(SCRIPT)
    directory = skill_dir(box, scripts__a_dot_sh=A_SH, references__x_dot_md="reference\n")
    daemon = box.serve()
    box.run("skill", "add", directory)
    first = json.dumps(run_script(daemon))
    expect_in("script: it's|two words", first)
    expect_in("reference", first)
    expect_in(box.work, first)
    # One yes is one yes.
    expect_in("script: it's", json.dumps(run_script(daemon)))


@test
def a_lasting_yes_to_a_script_is_a_grant_bound_to_all_that_was_shown(box):
    box.script(SCRIPT)
    directory = skill_dir(box, scripts__a_dot_sh=A_SH, references__x_dot_md="reference\n")
    daemon = box.serve()
    box.run("skill", "add", directory)
    expect_in("script: it's", json.dumps(run_script(daemon, scope="always")))
    item = daemon.ask("GET", "/inbox?state=approved")["items"][0]
    expect_in("it's", item["choices"][2]["covers"])
    grant = daemon.ask("GET", "/grants")["grants"][0]
    expect_eq((grant["inboxId"], grant["toolName"]), (item["id"], "run_skill_script"))
    expect_eq(grant["covers"], item["choices"][2]["covers"])
    expect_in(box.work, grant["covers"])
    expect_in(grant["covers"][:60], box.run("inbox", "--grants")[0])
    run_script(daemon, approve=False)
    expect("usedAt" in daemon.ask("GET", "/grants")["grants"][0], "it was not used")
    daemon.stop()
    daemon = box.serve()
    run_script(daemon, approve=False)
    # Another directory, other arguments, another file beside it, and after it was taken back: it asks.
    other = os.path.join(box.work, "other")
    os.mkdir(other)
    run_script(daemon, cwd=other)
    daemon.ask("PUT", "/agents/planner/skills/tea", {"description": "Another"})
    run_script(daemon, scope="always")
    run_script(daemon, approve=False)
    for grant in daemon.ask("GET", "/grants")["grants"]:
        daemon.ask("DELETE", f"/grants/{grant['id']}", status=204)
    run_script(daemon)
    daemon.stop()
    box.script(SCRIPT.replace("two words", "three words"))
    daemon = box.serve()
    run_script(daemon)


@test
def a_script_that_is_rejected_does_not_run(box):
    box.script(SCRIPT)
    directory = skill_dir(box, scripts__a_dot_sh="#!/bin/sh\ntouch ran\n")
    daemon = box.serve()
    box.run("skill", "add", directory)
    stream = daemon.start("run it", cwd=daemon.box.work)
    stream.until("waiting")
    item = daemon.ask("GET", "/inbox")["items"][0]
    daemon.decide(item["id"], "reject", reason="no")
    stream.end()
    expect(not os.path.exists(os.path.join(box.work, "ran")), "it ran")


@test
def a_script_that_is_not_there_is_told_before_anybody_is_asked(box):
    box.script(SCRIPT.replace("scripts/a.sh", "scripts/other.sh"))
    daemon = box.serve()
    box.run("skill", "add", skill_dir(box, scripts__a_dot_sh=A_SH))
    stream = daemon.start("run it", cwd=daemon.box.work)
    result = json.dumps(stream.until("tool_result", toolName="run_skill_script"))
    expect_in("it has: scripts/a.sh", result)
    stream.end()
    expect_eq(daemon.ask("GET", "/inbox")["items"], [])


@test
def edits_on_disk_change_a_skill_and_a_broken_one_is_switched_off(box):
    daemon = box.serve()
    daemon.ask("POST", "/agents/planner/skills",
               {"name": "tea", "description": "Tea", "instructions": "Boil."}, 201)
    path = os.path.join(box.data, "files/agents/planner/skills/tea/SKILL.md")

    def wait(check):
        eventually(lambda: check(daemon.ask("GET", "/agents/planner/skills/tea")["skill"]), "it is read")

    eventually(lambda: os.path.exists(path), "it is in the folder")
    with open(path, "w") as file:
        file.write("---\nname: tea\ndescription: Green tea\n---\nSteep.\n")
    wait(lambda skill: skill["description"] == "Green tea" and skill["instructions"] == "Steep.")
    with open(path, "w") as file:
        file.write("oops\n")
    wait(lambda skill: not skill["enabled"] and "must begin" in skill["problem"])
    with open(path, "w") as file:
        file.write("---\nname: tea\ndescription: Black tea\n---\nSteep.\n")
    wait(lambda skill: skill["enabled"] and skill["description"] == "Black tea")


# ---- what a person should know ----


@test
def an_import_warns_of_scripts_unknown_tools_and_signatures(box):
    daemon = box.serve()
    answer = post(daemon, "/agents/planner/skills/import", archive({
        "tea/SKILL.md": TEXT.format(more="allowed-tools: Read Teleport Bash(git:*) Kettle(on)\n"),
        "tea/scripts/a.sh": "#!/bin/sh\n", "tea/scripts/b.py": "", "tea/SIGNATURE": "ed25519 00 00\n"}))
    expect_eq(len(answer["warnings"]), 3)
    expect_in("2 scripts (scripts/a.sh, scripts/b.py)", answer["warnings"][0])
    expect_in("not here: Teleport, Kettle(on)", answer["warnings"][1])
    expect_in("trusted key", answer["warnings"][2])
    made = daemon.ask("POST", "/agents/planner/skills",
                      {"name": "plain", "description": "Plain", "instructions": "x"}, 201)
    expect_eq(made["warnings"], [])
    skill_dir(box, "cup", scripts__a_dot_sh="#!/bin/sh\n")
    expect_in("warning: It has 1 script (scripts/a.sh)", box.run("skill", "add", "cup")[1])


@test
def a_file_that_is_no_text_comes_as_base64(box):
    import base64
    daemon = box.serve()
    png = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as bundle:
        bundle.writestr("tea/SKILL.md", TEXT.format(more=""))
        bundle.writestr("tea/assets/logo.png", png)
        bundle.writestr("tea/references/a.md", "text")
    post(daemon, "/agents/planner/skills/import", out.getvalue())
    got = daemon.ask("GET", "/agents/planner/skills/tea/files/assets/logo.png")
    expect_eq((got["encoding"], base64.b64decode(got["content"]), got["size_bytes"]), ("base64", png, len(png)))
    got = daemon.ask("GET", "/agents/planner/skills/tea/files/references/a.md")
    expect_eq((got["encoding"], got["content"]), ("utf-8", "text"))


@test
def a_shared_skill_is_switched_off_for_one_agent(box):
    daemon = box.serve()
    daemon.ask("POST", "/agents", {"displayName": "Ada"}, status=201)
    off = daemon.ask("PUT", "/agents/ada/skills/shared:weekly-review", {"enabled": False})["skill"]
    expect_eq((off["shared"], off["enabled"]), (True, False))
    states = {agent: {s["name"]: s["enabled"] for s in daemon.ask("GET", f"/agents/{agent}/skills")["skills"]}
              for agent in ("ada", "planner")}
    expect_eq((states["ada"]["weekly-review"], states["planner"]["weekly-review"]), (False, True))
    daemon.stop()
    daemon = box.serve()
    expect_eq(daemon.ask("GET", "/agents/ada/skills/weekly-review")["skill"]["enabled"], False)
    expect_in("whose skills? Give --agent: ada, planner", box.error("skill", "list")["message"])
    expect_eq(box.json("skill", "enable", "weekly-review", "--agent", "ada")["enabled"], True)
    error = daemon.ask("PUT", "/agents/ada/skills/weekly-review", {"description": "mine"}, 409)["error"]
    expect_in("switch it off", error["message"])


@test
def a_person_who_writes_no_skill_is_told_what_is_wrong(box):
    daemon = box.serve()
    error = daemon.ask("PUT", "/agents/planner/memory/skills/tea.md", {"content": "oops"}, 400)["error"]
    expect_in("is no valid skill", error["message"])
    daemon.ask("GET", "/agents/planner/skills/tea", status=404)
    daemon.ask("PUT", "/agents/planner/memory/skills/tea.md", {"content": TEXT.format(more="")}, 201)
    expect_eq(daemon.ask("GET", "/agents/planner/skills/tea")["skill"]["enabled"], True)


RESTART = '''
  - expect: { results: 0 }
    reply: { calls: [{ name: read_memory, arguments: { path: skills/tea.md } }] }
  - expect: { results: 1 }
    reply: { calls: [{ name: write_file, arguments: { path: a.txt, content: x } }] }
  - expect: { results: 2 }
    reply: { calls: [{ name: bash, arguments: { command: echo hello } }] }
  - expect: { results: 3 }
    reply: { text: "[Using skill: tea] ended" }
'''


@test
def a_skill_stays_in_use_when_the_daemon_dies_in_the_middle_of_a_run(box):
    box.script(RESTART)
    skill_dir(box, more="allowed-tools: write_file\n")
    daemon = box.serve()
    box.run("skill", "add", "tea")
    stream = daemon.start("tea please", cwd=box.work)
    waiting = stream.until("waiting")
    daemon.kill()
    daemon = box.serve()
    run = daemon.ask("GET", "/runs")["runs"][0]["runId"]
    daemon.decide(waiting["itemId"])
    stream = daemon.follow(run)
    result = stream.until("tool_result", toolName="bash")
    expect_in("capability_denied", json.dumps(result))
    expect_in("The skill tea is in use", json.dumps(result))
    expect_in("[Using skill: tea]", stream.end()["result"])


main()

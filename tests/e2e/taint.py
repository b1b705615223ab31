#!/usr/bin/env python3
"""Whose words are in a prompt: each way by which a stranger's text gets there is walked with a canary, and
the question that follows names the stranger. What a person wrote is walked the same way, and nobody is warned.

The agent may write its memory without asking. So a stranger's text in the prompt shows twice: the write waits
for a person, and the item says whose text it was."""
import http.client
import io
import json
import os
import shutil
import tarfile

from harness import Stream, eventually, expect, expect_eq, expect_in, main, test

# Every prompt that a step answers has the canary in it: else no step fits, and the run fails.
SCRIPT = """\
  - expect: {{ results: 0, user: "look at the tasks" }}
    reply: {{ calls: [{{ name: list_tasks_in_scope, arguments: {{}} }}] }}
  - expect: {{ results: 0, user: "look at the slots" }}
    reply: {{ calls: [{{ name: get_slots, arguments: {{}} }}] }}
  - expect: {{ results: 0, user: "keep in the slots" }}
    reply: {{ calls: [{{ name: set_slots, arguments: {{ primaryGoal: CANARY goal }} }}] }}
  - expect: {{ results: 0, user: "note it as a task" }}
    reply: {{ calls: [{{ name: create_task, arguments: {{ title: CANARY task }} }}] }}
  - expect: {{ results: 0, user: "print it" }}
    reply: {{ calls: [{{ name: bash, arguments: {{ command: echo CANARY }} }}] }}
  - expect: {{ results: 1, result: {{ tool: create_task }} }}
    reply: {{ text: done }}
  - expect: {{ results: 1, result: {{ tool: set_slots }} }}
    reply: {{ text: done }}
  - expect: {{ results: 1, result: {{ tool: write_memory }} }}
    reply: {{ text: done }}
  - expect: {{ results: 2, result: {{ tool: write_memory }} }}
    reply: {{ text: done }}
  - expect: {{ results: 1, result: CANARY }}
    reply: {{ calls: [{{ name: write_memory, arguments: {{ path: knowledge/{file}, operation: append, content: "noted\\n", reason: why }} }}] }}
  - expect: {{ results: 0, {where}: CANARY }}
    reply: {{ calls: [{{ name: write_memory, arguments: {{ path: knowledge/{file}, operation: append, content: "noted\\n", reason: why }} }}] }}
"""


def open_box(box, where="user", file="note.md", more=""):
    box.script(SCRIPT.format(where=where, file=file), more)
    daemon = box.serve()
    daemon.ask("POST", "/agents", {"id": "keen", "displayName": "Keen", "autoApproveMemory": True,
                                   "allowedCategoryIds": ["*"]}, status=201)
    return daemon


def items(daemon):
    return daemon.ask("GET", "/inbox")["items"]


def asked(daemon, *named):
    """One item waits, and names these strangers, once."""
    item = eventually(lambda: next(iter(items(daemon)), None), "a person is asked")
    warnings = [sentence for sentence in item["danger"] if sentence.startswith("Text that others wrote")]
    expect_eq(len(warnings), 1)
    for words in named:
        expect_in(words, warnings[0])
    expect(any(named[0] in source for source in item["taint"]), item["taint"])
    daemon.ask("POST", f"/inbox/{item['id']}/decision", {"decision": "reject"})
    return item


def clean(daemon, run):
    expect_eq(run.end()["stopReason"], "end_turn")
    expect_eq(items(daemon), [])


def raw(daemon, path, body, kind="text/plain", status=200):
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
    connection.request("POST", "/api/v1" + path, body,
                       {"Authorization": f"Bearer {daemon.token()}", "Content-Type": kind})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    expect(answer.status == status, f"{path}: {answer.status} {text!r}")
    return json.loads(text)


def hook(daemon, **more):
    made = daemon.ask("POST", "/agents/keen/subscriptions",
                      {"name": "deploys", "source": "webhook", **more}, status=201)
    raw(daemon, made["url"].removeprefix("/api/v1"), "CANARY", status=202)


def archive(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as bundle:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            bundle.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


def printed(daemon, box):
    """A command has printed the canary; the run goes on to what it makes of it."""
    run = daemon.start("print it", agent="keen", cwd=box.work)
    event = run.next()
    while event["type"] not in ("tool_result", "waiting"):
        event = run.next()
    if event["type"] == "waiting":
        daemon.decide(event["itemId"])
        run.until("tool_result")
    run.until("waiting")


# ---- the person's own ----


@test
def ones_own_words_journal_files_and_commands_warn_of_nothing(box):
    box.write("work/mine.txt", "CANARY\n")
    daemon = open_box(box)
    clean(daemon, daemon.start("CANARY", agent="keen", cwd=box.work))
    daemon.ask("POST", "/journal/tasks", {"title": "CANARY of mine"}, status=201)
    clean(daemon, daemon.start("look at the tasks", agent="keen", cwd=box.work))
    clean(daemon, daemon.start("keep in the slots", agent="keen", cwd=box.work))
    clean(daemon, daemon.start("look at the slots", agent="keen", cwd=box.work))
    # What a command prints is not a stranger's while it reaches nobody; memory asks all the same.
    printed(daemon, box)
    item = eventually(lambda: next(iter(items(daemon)), None), "a person is asked")
    expect("danger" not in item and "taint" not in item, item)
    daemon.stop()


# ---- six ways by which it was lost ----


@test
def a_webhook_is_named_and_so_is_the_run_that_is_made_again_of_it(box):
    daemon = open_box(box)
    hook(daemon)
    first = asked(daemon, "the webhook deploys")
    eventually(lambda: daemon.ask("GET", f"/runs/{first['runId']}")["status"] == "done", "it ends")
    Stream(daemon, "POST", f"/api/v1/runs/{first['runId']}/rerun", {}).until("waiting")
    again = asked(daemon, "the webhook deploys")
    expect(again["runId"] != first["runId"], again)
    daemon.stop()


@test
def a_record_keeps_a_strangers_words_whoever_touches_it(box):
    daemon = open_box(box)
    hook(daemon, prompt="note it as a task")
    item = eventually(lambda: next(iter(items(daemon)), None), "a person is asked")
    expect_eq((item["toolName"], item["taint"]), ("create_task", ["the webhook deploys"]))
    daemon.decide(item["id"])
    task = eventually(lambda: next(iter(daemon.ask("GET", "/journal/tasks")["items"]), None), "the task")
    path = f"/journal/tasks/{task['id']}"
    daemon.ask("PATCH", path, {"priority": "P0"})
    daemon.start("look at the tasks", agent="keen", cwd=box.work)
    asked(daemon, "the webhook deploys")
    daemon.ask("PATCH", path, {"title": "CANARY task, corrected"})
    daemon.start("look at the tasks", agent="keen", cwd=box.work)
    asked(daemon, "the webhook deploys")
    daemon.ask("PATCH", path, {"title": "mine"})  # nothing is left of it
    daemon.ask("POST", "/journal/tasks", {"title": "CANARY"}, status=201)
    clean(daemon, daemon.start("look at the tasks", agent="keen", cwd=box.work))
    daemon.stop()


IMPORTS = {
    "csv": "title\nCANARY of theirs\n",
    "todotxt": "CANARY of theirs\n",
    "markdown": "- [ ] CANARY of theirs\n",
    "ics": "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VTODO\r\nUID:1\r\nSUMMARY:CANARY of theirs\r\n"
           "END:VTODO\r\nEND:VCALENDAR\r\n",
}


@test
def every_format_of_an_import_is_named(box):
    daemon = open_box(box)
    for form, text in IMPORTS.items():
        raw(daemon, f"/journal/import?format={form}&name=theirs.{form}", text)
        daemon.start("look at the tasks", agent="keen", cwd=box.work)
        asked(daemon, f"theirs.{form}")
        for task in daemon.ask("GET", "/journal/tasks")["items"]:
            daemon.ask("DELETE", f"/journal/tasks/{task['id']}", status=204)
    daemon.stop()


@test
def an_imported_skill_is_named_by_its_description_alone(box):
    daemon = open_box(box, "system")
    raw(daemon, "/agents/keen/skills/import", archive({
        "tea/SKILL.md": "---\nname: tea\ndescription: CANARY brews tea.\n---\n\nBoil.\n"}),
        "application/gzip", 201)
    daemon.start("hello", agent="keen", cwd=box.work)
    asked(daemon, "the imported skill tea")
    daemon.stop()


@test
def an_imported_agent_is_named_by_its_instructions(box):
    daemon = open_box(box, "system")
    daemon.ask("POST", "/agents", {"id": "theirs", "displayName": "Theirs", "instructions": "CANARY"},
               status=201)
    bundle = os.path.join(box.dir, "theirs.tar.gz")
    box.run("agent", "export", "theirs", bundle)
    with open(bundle, "rb") as file:
        raw(daemon, "/agents/import?id=copy", file.read(), "application/gzip", 201)
    daemon.start("hello", agent="copy", cwd=box.work)
    asked(daemon, "imported: the agent Theirs")
    daemon.stop()


def remember(daemon):
    """A stranger's words in a file of the agent's memory, with a person's yes."""
    hook(daemon)
    item = eventually(lambda: next(iter(items(daemon)), None), "a person is asked")
    daemon.decide(item["id"])
    eventually(lambda: daemon.ask("GET", f"/runs/{item['runId']}")["status"] == "done", "it is done")


@test
def the_name_of_a_strangers_file_counts_in_the_system_prompt(box):
    daemon = open_box(box, "user", "CANARY.md")
    remember(daemon)
    daemon.start("a new CANARY conversation", agent="keen", cwd=box.work)
    asked(daemon, "the webhook deploys")
    daemon.stop()


@test
def a_file_that_is_renamed_on_disk_keeps_whose_words_it_holds(box):
    daemon = open_box(box)
    remember(daemon)
    folder = os.path.join(box.dir, "data/files/agents/keen/knowledge")
    if not os.path.isdir(folder):
        folder = next(d for d, _, f in os.walk(box.dir) if "note.md" in f)
    listed = lambda: {f["path"]: f.get("taint") for f in daemon.ask("GET", "/agents/keen/memory")["files"]}
    eventually(lambda: os.path.exists(f"{folder}/note.md"), "it is on disk")
    os.rename(f"{folder}/note.md", f"{folder}/other.md")
    eventually(lambda: "knowledge/other.md" in listed() and "knowledge/note.md" not in listed(), "renamed")
    expect_eq(listed()["knowledge/other.md"], ["the webhook deploys"])
    shutil.copyfile(f"{folder}/other.md", f"{folder}/copy.md")
    eventually(lambda: "knowledge/copy.md" in listed(), "copied")
    expect_eq(listed()["knowledge/copy.md"], ["the webhook deploys"])
    os.rename(f"{folder}/other.md", f"{folder}/third.md")
    with open(f"{folder}/third.md", "a", encoding="utf-8") as file:
        file.write("and more\n")
    eventually(lambda: "knowledge/third.md" in listed(), "renamed and edited")
    expect_eq(listed()["knowledge/third.md"], ["the webhook deploys"])
    daemon.stop()


# ---- what else passes text on ----


@test
def slots_keep_whose_words_they_hold(box):
    daemon = open_box(box)
    hook(daemon, prompt="keep in the slots")
    eventually(lambda: "CANARY" in json.dumps(daemon.ask("GET", "/agents/keen/state")), "the slot is set")
    daemon.start("look at the slots", agent="keen", cwd=box.work)
    asked(daemon, "the webhook deploys")
    daemon.stop()


@test
def a_command_that_can_reach_hosts_may_have_fetched_what_it_prints(box):
    daemon = open_box(box, more="sandbox: { security: { allowedDomains: [example.org] } }\n")
    printed(daemon, box)
    asked(daemon, "what a command may have fetched from example.org")
    daemon.stop()


if __name__ == "__main__":
    main()

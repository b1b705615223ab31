#!/usr/bin/env python3
"""The journal over REST and at the terminal, against the daemon."""
import datetime
import hashlib
import http.client
import json
import os
import re
import shlex
import sqlite3
import threading

from harness import eventually, expect, expect_eq, expect_in, main, test

TYPES = ["categories", "labels", "tasks", "checklists", "checklist-items", "time-entries",
         "day-plans", "day-plan-blocks", "ratings", "entries", "attachments", "entry-links"]


def raw(daemon, method, path, body=None, **headers):
    """Status, headers and bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, "/api/v1" + path, body,
                       {"Authorization": f"Bearer {daemon.token()}", **names})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


def refused(daemon, method, path, body, status, *words):
    answer = daemon.ask(method, path, body, status=status)
    for word in words:
        expect_in(word, answer["error"]["message"])


@test
def records_of_every_type_are_made_changed_deleted_and_restored(box):
    daemon = box.serve()
    ask = daemon.ask
    home = ask("POST", "/journal/categories", {"id": "home", "name": "Home"}, status=201)
    expect_eq(home["id"], "home")
    task = ask("POST", "/journal/tasks", {"title": "Fix the fence", "categoryId": "home",
                                          "due": "2026-03-01", "priority": "P1",
                                          "labels": ["garden", "Garden"]}, status=201)
    expect_eq((task["status"], task["priority"], len(task["labelIds"])), ("OPEN", "P1", 1))
    made = {
        "checklists": {"taskId": task["id"], "title": "Steps"},
        "time-entries": {"taskId": task["id"], "startedAt": "2026-02-18T09:00:00Z",
                         "endedAt": "2026-02-18T10:30:00Z", "description": "first half"},
        "day-plans": {"planDate": "2026-02-18"},
        "entries": {"kind": "workout", "subtype": "run", "durationMs": 1800000},
        "entry-links": {"relation": "related", "fromType": "task", "fromId": task["id"],
                        "toType": "category", "toId": "home"},
    }
    ids = {name: ask("POST", f"/journal/{name}", fields, status=201)["id"]
           for name, fields in made.items()}
    expect_eq(ids["day-plans"], "dayplan-2026-02-18")
    rating = ask("POST", "/journal/ratings", {"targetType": "task", "targetId": task["id"],
                                              "dimension": "joy", "value": 4})
    again = ask("POST", "/journal/ratings", {"targetType": "task", "targetId": task["id"],
                                             "dimension": "joy", "value": 2})
    expect_eq((again["id"], again["value"]), (rating["id"], 2))
    items = ask("POST", f"/journal/checklists/{ids['checklists']}/items",
                {"titles": ["buy wood", "paint"]}, status=201)["items"]
    whole = ask("GET", f"/journal/tasks/{task['id']}")
    expect_eq([i["title"] for i in whole["checklists"][0]["items"]], ["buy wood", "paint"])
    expect_eq(whole["timeMs"], 5400000)
    expect_eq(len(whole["links"]), 1)
    expect_eq([label["name"] for label in whole["labels"]], ["garden"])
    changed = ask("PATCH", f"/journal/tasks/{task['id']}", {"due": None, "status": "DONE"})
    expect("due" not in changed and "closedAt" in changed, changed)
    ask("DELETE", f"/journal/checklists/{ids['checklists']}", status=204)
    refused(daemon, "GET", f"/journal/checklist-items/{items[0]['id']}", None, 404, "deleted")
    ask("POST", f"/journal/checklists/{ids['checklists']}/restore", {})
    expect_eq(ask("GET", f"/journal/checklist-items/{items[0]['id']}")["title"], "buy wood")
    for name in TYPES:
        expect("items" in ask("GET", f"/journal/{name}"), name)
    daemon.stop()


@test
def the_document_describes_every_record(box):
    daemon = box.serve()
    document = daemon.ask("GET", "/openapi.json")
    schemas = document["components"]["schemas"]
    refs = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document)))
    expect(refs <= set(schemas), refs - set(schemas))
    for name in TYPES:
        expect({"get", "post"} <= set(document["paths"][f"/api/v1/journal/{name}"]), name)
        one = document["paths"][f"/api/v1/journal/{name}/{{id}}"]
        expect({"get", "patch", "delete"} <= set(one), name)
        expect("412" in one["patch"]["responses"] and "412" in one["delete"]["responses"], name)
        expect("412" not in one["get"]["responses"], name)
    content = document["paths"]["/api/v1/journal/attachments/{id}/content"]["get"]["responses"]
    expect({"200", "206", "416"} <= set(content), content)
    task = daemon.ask("POST", "/journal/tasks", {"title": "x", "due": "2026-03-01"}, status=201)
    expect(set(task) <= set(schemas["Task"]["properties"]), task)
    expect(set(schemas["Task"]["required"]) <= set(task), task)
    expect_eq(schemas["NewTask"]["required"], ["title"])
    expect("closedAt" not in schemas["TaskChange"]["properties"], "it can't be given")
    daemon.stop()


@test
def what_is_wrong_is_named_with_its_place(box):
    daemon = box.serve()
    refused(daemon, "POST", "/journal/tasks", {}, 422, "/title", "missing")
    link = {"relation": "about", "fromType": "category", "fromId": "nowhere", "toType": "foo", "toId": "x"}
    refused(daemon, "POST", "/journal/entry-links", link, 422, '/fromId: there is no category "nowhere"')
    refused(daemon, "POST", "/journal/entry-links", {**link, "fromType": "foo"}, 422, "/fromType", "task", "agentReport")
    refused(daemon, "POST", "/journal/tasks", {"title": "x", "due": "tomorrow"}, 422, "/due")
    refused(daemon, "POST", "/journal/tasks", {"title": "x", "colour": 1}, 422, "colour")
    refused(daemon, "POST", "/journal/tasks", {"title": "x", "categoryId": "no"}, 422, "/categoryId")
    refused(daemon, "POST", "/journal/tasks", {"title": "x", "labels": [1]}, 422, "/labels/0")
    refused(daemon, "GET", "/journal/tasks?order=size", None, 400, "due, priority or updated")
    refused(daemon, "GET", "/journal/tasks?limit=0", None, 400, "1 to 500")
    refused(daemon, "GET", "/journal/tasks?after=x", None, 400, "cursor")
    refused(daemon, "GET", "/journal/entries?after=x", None, 400, "cursor")
    refused(daemon, "GET", "/journal/entries?from=monday", None, 400, "2026-02-18")
    refused(daemon, "GET", "/journal/tasks/none", None, 404, "no task")
    refused(daemon, "GET", "/journal/days/2026-02-30", None, 400, "not a day")
    refused(daemon, "POST", "/journal/timer/stop", {}, 404)
    refused(daemon, "POST", "/journal/quick", {"text": "  "}, 400, "/text")
    refused(daemon, "PUT", "/journal/days/2026-02-18/blocks",
            {"upserts": [{"startTime": "2026-02-18T10:00:00Z"}]}, 422, "/upserts/0", "endTime")
    refused(daemon, "GET", "/journal/unicorns", None, 404)
    daemon.stop()


@test
def what_is_sent_twice_is_done_once(box):
    daemon = box.serve()
    body = json.dumps({"title": "Once"})
    first = raw(daemon, "POST", "/journal/tasks", body, Idempotency_Key="k1")
    again = raw(daemon, "POST", "/journal/tasks", body, Idempotency_Key="k1")
    expect_eq((first[0], again[0]), (201, 201))
    expect_eq(first[2], again[2])
    other = raw(daemon, "POST", "/journal/tasks", json.dumps({"title": "Other"}),
                Idempotency_Key="k1")
    expect_eq(other[0], 409)
    expect_eq(len(daemon.ask("GET", "/journal/tasks")["items"]), 1)
    daemon.stop()


@test
def a_day_is_planned_timed_and_rated(box):
    daemon = box.serve()
    ask = daemon.ask
    task = ask("POST", "/journal/quick", {"text": "Fix fence 2h #home"})["task"]
    expect_eq((task["title"], task["estimateMinutes"]), ("Fix fence", 120))
    preview = ask("POST", "/journal/quick", {"text": "Call mum tomorrow", "preview": True})
    expect("task" not in preview and preview["parsed"]["title"] == "Call mum", preview)
    day = ask("GET", "/journal/days/today")
    begin = day["from"]
    block = {"startTime": begin, "endTime": begin[:14] + "30:00Z", "taskId": task["id"]}
    day = ask("PUT", f"/journal/days/{day['day']}/blocks", {"upserts": [block]})
    expect_eq([b["taskId"] for b in day["blocks"]], [task["id"]])
    expect_eq([t["id"] for t in day["tasks"]], [task["id"]])
    refused(daemon, "PUT", f"/journal/days/{day['day']}/blocks", {"upserts": [block]}, 409,
            "/startTime", "before the block")
    day = ask("PUT", f"/journal/days/{day['day']}/pins", {"taskIds": [task["id"]]})
    expect_eq(day["plan"]["pinnedTaskIds"], [task["id"]])
    expect_eq(ask("GET", "/journal/timer"), {"entry": None})
    entry = ask("POST", "/journal/timer/start", {"taskId": task["id"]})["entry"]
    expect_eq(ask("GET", "/journal/timer")["entry"]["id"], entry["id"])
    expect("endedAt" in ask("POST", "/journal/timer/stop", {})["entry"], "it runs on")
    ask("POST", "/journal/ratings", {"targetType": "dayPlan", "targetId": f"dayplan-{day['day']}",
                                     "dimension": "energy", "value": 5})
    summary = ask("GET", f"/journal/ratings/summary?from={day['day']}")["items"]
    expect_eq([(s["dimension"], s["count"], s["mean"]) for s in summary], [("energy", 1, 5)])
    follow = ask("POST", f"/journal/tasks/{task['id']}/follow-up", {"title": "Paint fence",
                                                                   "closeAs": "DONE"})
    expect_eq(follow["task"]["title"], "Paint fence")
    expect_eq(ask("GET", f"/journal/tasks/{task['id']}")["status"], "DONE")
    daemon.stop()


@test
def lists_go_on_at_their_cursor(box):
    daemon = box.serve()
    for i in range(7):
        daemon.ask("POST", "/journal/tasks", {"title": f"t{i}", "due": f"2026-03-0{i + 1}"},
                   status=201)
        daemon.ask("POST", "/journal/entries", {"kind": "note", "title": f"n{i}"}, status=201)
    for path in ("/journal/tasks", "/journal/entries"):
        seen, after = [], ""
        while True:
            page = daemon.ask("GET", f"{path}?limit=3{after}")
            seen += [item["title"][1] for item in page["items"]]
            if "next" not in page:
                break
            after = f"&after={page['next']}"
        expect_eq("".join(seen), "0123456")
    daemon.stop()


@test
def files_of_entries_come_back_as_they_were(box):
    daemon = box.serve()
    note = daemon.ask("POST", "/journal/entries", {"kind": "audio", "title": "memo"}, status=201)
    content = bytes(range(256)) * 40
    status, _, body = raw(daemon, "POST",
                          f"/journal/attachments?entryId={note['id']}&fileName=memo.ogg", content,
                          Content_Type="audio/ogg")
    expect_eq(status, 201)
    record = json.loads(body)
    expect_eq((record["size"], record["contentType"]), (len(content), "audio/ogg"))
    status, headers, body = raw(daemon, "GET", f"/journal/attachments/{record['id']}/content")
    expect_eq((status, headers["Content-Type"], headers["Content-Disposition"]),
              (200, "audio/ogg", "attachment"))
    expect_eq(body, content)
    refused(daemon, "POST", "/journal/attachments?entryId=none&fileName=x", None, 404)
    daemon.stop()


@test
def of_two_who_change_a_record_the_second_is_told(box):
    daemon = box.serve()
    ask = daemon.ask
    made = {"tasks": {"title": "a"}, "categories": {"name": "a"}, "labels": {"name": "b"}, "checklists": {"title": "a"},
            "entries": {"kind": "note", "body": "a"}, "day-plans": {"planDate": "2026-02-18"},
            "time-entries": {"startedAt": "2026-02-18T09:00:00Z", "endedAt": "2026-02-18T10:00:00Z"}}
    changes = {"tasks": {"title": "b"}, "categories": {"name": "c"}, "labels": {"name": "d"}, "checklists": {"title": "b"},
               "entries": {"body": "b"}, "day-plans": {"note": "b"}, "time-entries": {"description": "b"}}
    def send(method, path, body, tag):
        status, headers, text = raw(daemon, method, path, body and json.dumps(body), Content_Type="application/json", If_Match=tag)
        return status, headers["ETag"], json.loads(text) if text else None
    for name, fields in made.items():
        path = f"/journal/{name}/" + ask("POST", f"/journal/{name}", fields, status=201)["id"]
        _, headers, text = raw(daemon, "GET", path)
        seen = headers["ETag"]
        expect_eq(seen, f'"{json.loads(text)["version"]}"')
        listed = [r["version"] for r in ask("GET", f"/journal/{name}")["items"] if path.endswith(r["id"])]
        expect_eq(listed, [seen.strip('"')])
        # Ada and Bob saw the same; Ada is first.
        status, tag, answer = send("PATCH", path, changes[name], seen)
        expect_eq((status, tag), (200, f'"{answer["version"]}"'))
        expect(tag != seen, name)
        status, _, answer = send("PATCH", path, made[name], seen)
        expect_eq((status, answer["error"]["code"]), (412, "version_conflict"))
        expect_in(tag, answer["error"]["message"])
        expect_eq(send("DELETE", path, None, seen)[0], 412)
        expect_eq(raw(daemon, "GET", path)[1]["ETag"], tag)
        expect_eq(send("PATCH", path, changes[name], f'"x", {tag}')[0], 200)
        expect_eq(send("PATCH", path, changes[name], "*")[0], 200)
        expect_eq(send("PATCH", path, changes[name], tag.strip('"'))[0], 200)
        for other in ('W/' + tag, tag[:-2] + '"', "", '"', ","):
            expect_eq(send("PATCH", path, changes[name], other)[0], 412)
        expect_eq(send("DELETE", path, None, tag)[0], 204)
    daemon.stop()


@test
def parts_of_a_recording_are_given_so_that_it_can_be_sought(box):
    daemon = box.serve()
    audio = daemon.ask("POST", "/journal/entries", {"kind": "audio", "title": "memo"}, status=201)
    content = bytes(range(256)) * 40
    made = json.loads(raw(daemon, "POST", f"/journal/attachments?entryId={audio['id']}&fileName=memo.ogg",
                          content, Content_Type="audio/ogg")[2])
    path = f"/journal/attachments/{made['id']}/content"
    _, headers, _ = raw(daemon, "GET", path)
    expect_eq((headers["Accept-Ranges"], headers["ETag"]), ("bytes", f'"{made["sha256"]}"'))
    for asked, part, said in [("bytes=0-99", content[:100], "bytes 0-99/10240"),
                              ("bytes=10000-", content[10000:], "bytes 10000-10239/10240"),
                              ("bytes=-10", content[-10:], "bytes 10230-10239/10240")]:
        status, headers, body = raw(daemon, "GET", path, Range=asked)
        expect_eq((status, headers["Content-Range"], headers["Content-Type"], body),
                  (206, said, "audio/ogg", part))
    status, headers, body = raw(daemon, "GET", path, Range="bytes=10240-")
    expect_eq((status, headers["Content-Range"]), (416, "bytes */10240"))
    expect_in("10240 bytes", json.loads(body)["error"]["message"])
    for asked in ["bytes=5-4", "bytes=0-1,4-5", "lines=1-2"]:
        expect_eq(raw(daemon, "GET", path, Range=asked)[::2], (200, content))
    status, _, body = raw(daemon, "GET", path, Range="bytes=0-9", If_Range=f'"{made["sha256"]}"')
    expect_eq((status, body), (206, content[:10]))
    status, _, body = raw(daemon, "GET", path, Range="bytes=0-9", If_Range='"of before"')
    expect_eq((status, body), (200, content))
    expect_eq(raw(daemon, "HEAD", path, Range="bytes=0-9")[0], 200)
    daemon.stop()


@test
def the_journal_is_found_by_its_words(box):
    daemon = box.serve()
    ask = daemon.ask

    def found(words, scope="journal"):
        return [(r["kind"], r["title"]) for r in
                ask("GET", f"/search?q={words}&scope={scope}")["results"]]

    task = ask("POST", "/journal/quick", {"text": "Fix fence\n- [ ] buy larch wood\nnear the brook"})["task"]
    note = ask("POST", "/journal/entries", {"kind": "note", "body": "a heron at the brook"},
               status=201)
    ask("POST", "/journal/time-entries", {"startedAt": "2026-02-18T09:00:00Z",
                                          "endedAt": "2026-02-18T10:00:00Z",
                                          "description": "dug post holes"}, status=201)
    expect_eq(sorted(found("brook")), [("entry", "a heron at the brook"), ("task", "Fix fence")])
    item = ask("GET", "/search?q=larch")["results"]
    expect_eq([(r["kind"], r["taskId"]) for r in item], [("checklistItem", task["id"])])
    expect_eq(found("post%20hol"), [("timeEntry", "dug post holes")])
    ask("PATCH", f"/journal/tasks/{task['id']}", {"title": "Mend gate"})
    expect_eq((found("fence"), found("gate")), ([], [("task", "Mend gate")]))
    ask("DELETE", f"/journal/entries/{note['id']}", status=204)
    expect_eq(found("heron"), [])
    ask("POST", f"/journal/entries/{note['id']}/restore", {})
    expect_eq(found("heron"), [("entry", "a heron at the brook")])
    expect_eq(found("heron", "agents"), [])
    refused(daemon, "GET", "/search?q=x&scope=moon", None, 400, "journal or agents")
    expect_in("Mend gate", box.run("journal", "search", "gate")[0])
    daemon.stop()


# ---- files ----

CSV = """\ufeffTitle;Due;Priority;Labels;Estimate;Category\r
"Fix; fence";2026-03-01;high;"home, garden";2h;Home\r
Paint;18.3.2026;C;;;Home\r
"""
TODO = """x 2026-02-18 2026-02-10 Call mum +family @phone due:2026-02-20
(A) Write will @home
"""
MARKDOWN = """# Garden
- [ ] Fix gate #wood due:2026-04-01
  - [x] buy hinge
  - [ ] mount it
- [x] Rake leaves
"""


@test
def files_of_other_programs_are_imported_once(box):
    for name, text, tasks in (("a.csv", CSV, 2), ("todo.txt", TODO, 2), ("b.md", MARKDOWN, 2)):
        path = box.write(name, text)
        expect_in(f"{tasks} would be made", box.run("journal", "import", path, "--preview")[0])
        expect_in(f"Made {tasks} task", box.run("journal", "import", path)[0])
        expect_in(f"Made 0 tasks; {tasks} w", box.run("journal", "import", path)[0])
    lines = [json.loads(line) for line in
             box.run("journal", "task", "list", "--all", "--json")[0].splitlines()]
    tasks = {task["title"]: task for task in lines}
    expect_eq(set(tasks), {"Fix; fence", "Paint", "Call mum", "Write will", "Fix gate",
                           "Rake leaves"})
    fence = tasks["Fix; fence"]
    expect_eq((fence["due"], fence["priority"], fence["estimateMinutes"], len(fence["labelIds"])),
              ("2026-03-01", "P1", 120, 2))
    expect_eq((tasks["Paint"]["due"], tasks["Call mum"]["status"]), ("2026-03-18", "DONE"))
    expect_in(tasks["Call mum"]["closedAt"][:10], ("2026-02-17", "2026-02-18"))  # of its midnight here
    gate = json.loads(box.run("journal", "task", "show", "gate", "--json")[0])
    expect_eq([(i["title"], i["checked"]) for i in gate["checklists"][0]["items"]],
              [("buy hinge", True), ("mount it", False)])


@test
def a_part_of_a_task_of_todoist_keeps_what_it_says(box):
    path = box.write("t.csv", "TYPE,CONTENT,DESCRIPTION,PRIORITY,INDENT,DATE,DURATION,DURATION_UNIT\n"
                     "task,Parent,,4,1,,,\ntask,Child @lbl,more of it,1,2,2026-12-24,45,minute\ntask,bare,,4,2,,,\n")
    expect_in("Made 2 tasks", box.run("journal", "import", path)[0])
    parent, child = (json.loads(box.run("journal", "task", "show", name, "--json")[0]) for name in ("Parent", "Child"))
    expect_eq([item["title"] for item in parent["checklists"][0]["items"]], ["bare"])
    expect_eq((child["notes"], child["due"], child["estimateMinutes"], child["priority"], len(child["labelIds"])),
              ("more of it", "2026-12-24", 45, "P0", 1))
    links = json.loads(box.run("journal", "export")[0])["entryLinks"]
    expect_eq([(link["fromId"], link["toId"]) for link in links], [(child["id"], parent["id"])])


@test
def an_import_calls_things_what_they_are(box):
    run = box.run
    time = box.write("t.csv", "Description,Start date,Start time,End date,End time\n"
                     "dug,2026-11-10,09:00:00,2026-11-10,10:00:00\nsat,2026-11-10,11:00:00,2026-11-10,12:00:00\n")
    expect_in("timeEntry dug", run("journal", "import", time, "--preview")[0])
    expect_in("Made 2 time entries\n", run("journal", "import", time)[0])
    calendar = box.write("c.ics", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:tea\r\nDTSTART:20261110T090000Z\r\n"
                         "END:VEVENT\r\nBEGIN:VJOURNAL\r\nSUMMARY:said\r\nDTSTART:20261110T090000Z\r\nEND:VJOURNAL\r\n"
                         "BEGIN:VTODO\r\nSUMMARY:wash\r\nEND:VTODO\r\nEND:VCALENDAR\r\n")
    said = run("journal", "import", calendar, "--preview")[0]
    for line in ("event     tea", "note      said", "task      wash"):
        expect_in(line, said)
    expect_in("Made 1 task, 1 event and 1 entry\n", run("journal", "import", calendar)[0])
    run("journal", "import", box.write("b.md", MARKDOWN))
    kept, other = box.path("kept.json"), box.path("other")
    run("journal", "export", kept)
    made = run("--data", other, "journal", "import", kept)[0].splitlines()[0]
    there = run("--data", other, "journal", "import", kept)[0]
    expect_in(f"; {sum(map(int, re.findall(r'[0-9]+', made)))} were there already", there)


@test
def a_preview_names_what_would_be_made_along(box):
    run = box.run
    run("journal", "category", "add", "home")
    path = box.write("a.csv", "title,category,labels\nFix,Home,wood\nPaint,Garden,\"Wood, colour\"\nRake,garden,\n")
    said = run("journal", "import", path, "--preview")[0]
    for part in ("new categories: Garden\n", "new labels: wood, colour\n", "3 would be made\n"):
        expect_in(part, said)
    run("journal", "import", path)
    said = run("journal", "import", path, "--preview")[0]
    expect("new " not in said, said)
    expect_in("0 would be made; 3 are there already", said)


@test
def an_import_is_taken_back(box):
    run = box.run
    run("journal", "category", "add", "Home")
    run("journal", "task", "add", "Mine", "--category", "home")
    before = run("journal", "export")[0]
    path = box.write("a.csv", "title,category,labels\nFix,Home,wood\nPaint,Garden,\n")
    other = box.write("b.md", MARKDOWN)
    undo = re.search(r"`dormouse journal import undo (\w+)`", run("journal", "import", path)[0]).group(1)
    again = json.loads(run("journal", "import", other, "--json")[0])["importId"]
    expect("undo" not in run("journal", "import", path)[0], "it made nothing")
    run("journal", "import", "undo", again)
    expect_in("Deleted 4", run("journal", "import", "undo", undo)[0])
    expect_eq(run("journal", "export")[0], before)
    expect_in("Deleted 0", run("journal", "import", "undo", undo)[0])
    expect_in("2 would be made\n", run("journal", "import", path, "--preview")[0])
    expect_in("Made 2 tasks\n", run("journal", "import", path)[0])
    run("journal", "task", "rm", "Paint")
    expect_in("Made 0 tasks; 1 was there already; 1 was deleted here", run("journal", "import", path)[0])
    expect_in("0 would be made; 1 is there already; 1 was deleted here", run("journal", "import", path, "--preview")[0])
    expect_in("remembered for 48 hours", run("journal", "import", "undo", "nothing", code=1)[1])


@test
def bad_lines_refuse_a_file_or_are_left_out(box):
    path = box.write("a.csv", "title,due\ngood,2026-03-01\nbad,someday\n")
    _, said = box.run("journal", "import", path, code=1)
    expect_in("line 3", said)
    expect_in("nothing was imported", said)
    expect_in("No tasks yet", box.run("journal", "task", "list")[0])
    expect_in("1 would be made; 1 can't be read", box.run("journal", "import", path, "--preview", code=1)[0])
    expect_in("Made 1 task; 1 line was left out",
              box.run("journal", "import", path, "--skip-bad", code=1)[0])
    expect_in("no column is called", box.run("journal", "import", box.write("c.csv", "a,b\n1,2\n"), code=1)[1])
    expect_in("BEGIN:VCALENDAR", box.run("journal", "import", box.write("d.ics", "hello"), code=1)[1])
    expect_in("--format", box.run("journal", "import", box.write("e.xyz", "hello"), code=1)[1])


@test
def what_is_exported_comes_back_the_same(box):
    run = box.run
    run("journal", "import", box.write("b.md", MARKDOWN))
    run("journal", "task", "add", "Odd, one; with \\ and ünïcode " + "long " * 30, "--due",
        "2026-05-01T16:30", "--notes", "two\nlines")
    run("journal", "workout", "add", "run", "by, the river", "--for", "30m")
    run("journal", "measure", "add", "weight", "71.5", "kg")
    run("journal", "plan", "block", "today", "9:00", "10:00", "--task", "gate", "--note", "early")
    run("journal", "time", "log", "gate", "--from", "yesterday 8:00", "--to", "8:30")
    first, again = run("journal", "export")[0], run("journal", "export")[0]
    expect_eq(first, again)
    names = list(json.loads(first))
    expect_eq(names[:5], ["format", "version", "categories", "labels", "tasks"])
    calendar = box.path("j.ics")
    run("journal", "export", calendar)
    expect_in("Made 0 tasks;", run("journal", "import", calendar)[0])
    other = box.path("other")
    run("--data", other, "journal", "import", calendar)
    back = box.path("k.ics")
    run("--data", other, "journal", "export", back)

    def same(path):
        with open(path, encoding="utf-8", newline="") as file:
            lines = file.read().split("\r\n")
        expect(all(len(line.encode()) <= 75 for line in lines), "a line is too long")
        stamps = ("DTSTAMP", "CREATED", "LAST-MODIFIED", "COMPLETED")
        return [line for line in lines if not line.startswith(stamps)]

    expect_eq(same(calendar), same(back))


@test
def an_exported_journal_is_read_again_byte_for_byte(box):
    run = box.run
    run("journal", "import", box.write("b.md", MARKDOWN))
    run("journal", "add", "Fix fence tomorrow 2h #home !high\n- wood")
    run("journal", "time", "log", "fence", "--from", "yesterday 8:00", "--to", "8:30")
    run("journal", "plan", "block", "today", "9:00", "10:00", "--task", "fence")
    run("journal", "plan", "pin", "today", "fence")
    run("journal", "rating", "add", "today", "energy", "4")
    run("journal", "measure", "add", "weight", "71.5", "kg")
    run("journal", "task", "done", "fence")
    kept = box.path("journal.json")
    run("journal", "export", kept, "--attachments")
    expect_in("Made 0 tasks;", run("journal", "import", kept)[0])
    other = box.path("other")
    said = json.loads(run("--data", other, "journal", "import", kept, "--json")[0])
    expect_eq((said["tasks"], said["there"], said["problems"]), (3, 0, 0))
    expect_eq(run("--data", other, "journal", "export", "--attachments")[0], run("journal", "export", "--attachments")[0])
    broken = box.write("broken.json", '{"format":"dormouse-journal","version":1,"tasks":[{"id":"x"}]}')
    said = run("journal", "import", broken, code=1)[1]
    expect_in("/tasks/0/createdAt", said)
    expect("line" not in said.splitlines()[0], said)


def stored(box):
    """How many tasks there are; every row's last write stands in a batch."""
    db = sqlite3.connect(f"file:{box.data}/journal.sqlite?mode=ro", uri=True, isolation_level=None)
    db.execute("begin")  # both as of one moment: the import goes on meanwhile
    units = set()
    for (text,) in db.execute("select units from change_batches"):
        units |= {(kind, key, counter) for _, counter, kind, key in json.loads(text)}
    rows = set(db.execute("select payload_type, payload_id, counter from sequence_log"))
    expect(rows <= units, rows - units)
    count = db.execute("select count(*) from tasks").fetchone()[0]
    db.close()
    return count


@test
def recordings_are_exported_and_come_back_byte_for_byte(box):
    run = box.run
    run("journal", "category", "add", "Home")
    run("journal", "task", "add", "Fix fence", "--category", "home", "--label", "wood")
    for i, size in enumerate((10 * 1024 * 1024, 3 * 1024 * 1024, 1)):
        path = box.path(f"memo{i}.ogg")
        with open(path, "wb") as file:
            file.write(hashlib.sha256(bytes([i])).digest() * (size // 32) + b"x" * (size % 32))
        run("journal", "audio", "add", path, "what Ann said", "--category", "home")
    kept, other, again = box.path("journal.json"), box.path("other"), box.path("again.json")
    expect("Not in it" not in run("journal", "export", kept)[1], "all of it is there")
    said = json.loads(run("--data", other, "journal", "import", kept, "--json")[0])
    expect_eq((said["tasks"], said["categories"], said["there"], said["problems"]), (1, 1, 0, 0))
    run("--data", other, "journal", "export", again)
    with open(kept, "rb") as first, open(again, "rb") as second:
        expect(first.read() == second.read(), "the journal is another one")
    said = json.loads(run("--data", other, "journal", "import", kept, "--json")[0])
    expect_eq((said["tasks"], said["categories"], said.get("others"), said["there"]), (0, 0, None, 9))
    memo = json.loads(run("--data", other, "journal", "audio", "list", "--json")[0].splitlines()[-1])
    run("--data", other, "journal", "audio", "save", memo["id"], box.path("back.ogg"))
    with open(box.path("memo0.ogg"), "rb") as first, open(box.path("back.ogg"), "rb") as second:
        expect(first.read() == second.read(), "it sounds different")
    with open(kept, "rb") as file:
        cut = file.read()[:-100]
    short = box.path("short.json")
    with open(short, "wb") as file:
        file.write(cut)
    expect_in("no journal that was exported", run("journal", "import", short, code=1)[1])


@test
def an_export_without_recordings_says_so(box):
    run = box.run
    run("journal", "audio", "add", box.write("memo.ogg", "sound"), "what Ann said")
    kept, other = box.path("journal.json"), box.path("other")
    expect_in("Not in it: what 1 attachment holds", run("journal", "export", kept, "--without-attachments")[1])
    expect_in("1 attachment was left out", run("--data", other, "journal", "import", kept)[1])
    expect_in("Ann", run("--data", other, "journal", "audio", "list")[0] + run("--data", other, "journal", "export")[0])
    run("journal", "export", kept)
    run("--data", other, "journal", "import", kept)
    expect_eq(run("--data", other, "journal", "export")[0], run("journal", "export")[0])
    expect_in("Not in it: ratings", run("journal", "export", box.path("j.ics"))[1])


@test
def an_import_that_is_killed_is_finished_by_importing_again(box):
    step, total = 500, 5000
    text = "title,labels,category\n" + "".join(f"Task {i},l{i % 3},Cat {i % 2}\n" for i in range(total))
    path, seen = box.write("long.csv", text), []
    for enough in (1, 2 * step, 5 * step):
        daemon = box.serve()

        def send():
            offset = 0
            while offset is not None:
                status, _, body = raw(daemon, "POST", f"/journal/import?format=csv&offset={offset}"
                                      f"&limit={step}", text.encode())
                expect_eq(status, 200)
                offset = json.loads(body).get("next")

        def quietly():
            try:
                send()
            except (OSError, http.client.HTTPException, ValueError):
                pass  # it was killed

        sender = threading.Thread(target=quietly)
        sender.start()
        eventually(lambda: stored(box) >= enough or not sender.is_alive(), "records")
        daemon.kill()
        sender.join()
        seen.append(stored(box))
        expect_eq(seen[-1] % step, 0)
    said = json.loads(box.run("journal", "import", path, "--json")[0])
    expect_eq((said["tasks"], said["there"]), (total - seen[-1], seen[-1]))
    expect_eq(stored(box), total)
    expect_eq(json.loads(box.run("journal", "import", path, "--json")[0])["there"], total)


@test
def an_import_that_was_begun_twice_is_taken_back_as_a_whole(box):
    text = "title,labels,category\n" + "".join(f"Task {i},l{i % 3},Cat {i % 2}\n" for i in range(3000))
    path, begun = box.write("long.csv", text), hashlib.sha256(text.encode()).hexdigest()[:8]
    daemon = box.serve()  # what a client that was stopped has asked for
    raw(daemon, "POST", f"/journal/import?format=csv&offset=0&limit=1000&import={begun}.first.0", text.encode())
    daemon.stop()
    out, told = box.run("journal", "import", path)
    expect_in("Made 2000 tasks; 1000 were there already", out)
    for said in (out, told):  # also before it begins
        expect_in(f"`dormouse journal import undo {begun}` takes it back", said)
    expect_in("Deleted 3005\n", box.run("journal", "import", "undo", begun)[0])
    expect_in("No tasks yet", box.run("journal", "task", "list")[0])
    expect_in("Made 3000 tasks\n", box.run("journal", "import", path)[0])


# ---- at the terminal ----


@test
def tasks_are_kept_at_the_terminal(box):
    run = box.run
    expect_in("No tasks yet", run("journal", "task", "list")[0])
    expect_in("takes     2 h", run("journal", "add", "Fix fence tomorrow 2h #home")[0])
    run("journal", "category", "add", "The Garden", "--id", "garden")
    run("journal", "task", "add", "Water", "the", "roses", "--due", "friday 16:00",
        "--category", "the garden", "--label", "wet", "--priority", "P1")
    listed = run("journal", "task", "list")[0]
    expect_in("tomorrow", listed)
    row = [line for line in listed.splitlines() if "Water the roses" in line][0]
    prefix = row.split()[0]
    run("journal", "checklist", "add", "roses", "fill can", "find roses")
    shown = json.loads(run("journal", "task", "show", prefix, "--json")[0])
    expect_eq((shown["title"], shown["priority"], shown["categoryId"]),
              ("Water the roses", "P1", "garden"))
    item = shown["checklists"][0]["items"][1]["id"]
    run("journal", "checklist", "check", item)
    expect_in("[x] find roses", run("journal", "task", "show", "roses")[0])
    expect_in("category  The Garden\n", run("journal", "task", "show", "roses")[0])
    run("journal", "task", "set", prefix, "--due", "none", "--estimate", "1h30")
    shown = json.loads(run("journal", "task", "show", prefix, "--json")[0])
    expect_eq((shown.get("due"), shown["estimateMinutes"]), (None, 90))
    run("journal", "task", "done", prefix)
    expect_in("DONE", run("journal", "task", "list", "--closed")[0])
    run("journal", "task", "rm", prefix)
    expect_in("No tasks that fit", run("journal", "task", "list", "--closed")[0])
    run("journal", "task", "restore", prefix)
    expect_in("Water the roses", run("journal", "task", "list", "--all", "--category", "garden")[0])


# Each command that writes, and for each of its options a value, the member that it becomes and what that is then.
# Names come last: the others find the record by its former one.
WRITES = [
    (["task", "add", "Paint"], {"due": ("2027-02-18", "due", "2027-02-18"), "priority": ("urgent", "priority", "P0"),
                                "status": ("in progress", "status", "IN_PROGRESS"), "category": ("The Garden", "categoryId", "garden"),
                                "label": ("wet", "labelIds", ["wet"]), "estimate": ("1h30", "estimateMinutes", 90),
                                "notes": ("both sides", "notes", "both sides"), "language": ("de-CH", "language", "de-CH")}),
    (["task", "set", "Fix"], {"due": ("2027-02-18", "due", "2027-02-18"), "priority": ("P3", "priority", "P3"),
                              "status": ("blocked", "status", "BLOCKED"), "category": ("garden", "categoryId", "garden"),
                              "label": ("wet", "labelIds", ["wet"]), "estimate": ("45m", "estimateMinutes", 45),
                              "notes": ("soon", "notes", "soon"), "language": ("en", "language", "en"), "title": ("Fix it", "title", "Fix it")}),
    (["time", "log", "--for", "10m"], {"category": ("garden", "categoryId", "garden"), "description": ("dug", "description", "dug")}),
    (["time", "set", "TIME"], {"task": ("fix", "taskId", "fix"), "category": ("garden", "categoryId", "garden"), "description": ("dug", "description", "dug")}),
    (["note", "add", "Ann came"], {"title": ("Ann", "title", "Ann"), "category": ("garden", "categoryId", "garden"),
                                   "at": ("2026-02-18T09:00", "at", "2026-02-18T")}),
    (["workout", "add", "running"], {"for": ("45m", "durationMs", 45 * 60_000), "title": ("Round the lake", "title", "Round the lake"),
                                     "category": ("garden", "categoryId", "garden"), "at": ("2026-02-18T09:00", "at", "2026-02-18T")}),
    (["measure", "add", "weight", "70.5"], {"title": ("Morning", "title", "Morning"), "category": ("garden", "categoryId", "garden"),
                                            "at": ("2026-02-18T09:00", "at", "2026-02-18T")}),
    (["rating", "add", "today", "joy", "4"], {"note": ("sun", "note", "sun")}),
    (["category", "add", "Home"], {"color": ("#3b82f6", "color", "#3b82f6"), "id": ("home", "id", "home")}),
    (["category", "set", "garden"], {"color": ("#3b82f6", "color", "#3b82f6"), "archived": ("yes", "archived", True), "name": ("Yard", "name", "Yard")}),
    (["label", "set", "wet"], {"color": ("#3b82f6", "color", "#3b82f6"), "name": ("damp", "name", "damp")}),
]


@test
def every_option_of_a_command_that_writes_reaches_the_record(box):
    daemon = box.serve()
    daemon.ask("POST", "/journal/categories", {"id": "garden", "name": "The Garden"}, status=201)
    daemon.ask("POST", "/journal/labels", {"id": "wet", "name": "wet"}, status=201)
    daemon.ask("POST", "/journal/tasks", {"id": "fix", "title": "Fix"}, status=201)
    time = daemon.ask("POST", "/journal/time-entries", {"startedAt": "2026-02-18T09:00:00Z", "endedAt": "2026-02-18T10:00:00Z"}, status=201)
    for words, options in WRITES:
        words = [time["id"] if word == "TIME" else word for word in words]
        helped = set(re.findall(r"^  --([a-z]+)", box.run("journal", *words[:2], "--help")[0], re.M))
        expect_eq(helped - {"data", "json", "help", "version", "from", "to", "day", "for"} - set(options), set())
        for option, (value, member, wanted) in options.items():
            made = json.loads(box.run("journal", *words, f"--{option}", value, "--json")[0])
            got = made.get(member)
            expect_eq((words, option, got[:len(wanted)] if member == "at" else got), (words, option, wanted))
            if words[:2] == ["category", "add"]:
                daemon.ask("DELETE", f"/journal/categories/{made['id']}", status=204)
    daemon.stop()


@test
def a_list_that_is_cut_says_so(box):
    """With one page, with several, and with a list that has no --limit."""
    daemon = box.serve()
    for i in range(3):
        daemon.ask("POST", "/journal/tasks", {"title": f"Task {i}"}, status=201)
    for limit, cut in (("1", True), ("2", True), ("3", False), ("600", False)):
        listed = box.run("journal", "task", "list", "--limit", limit)[0]
        expect_eq(("... and more; --limit N shows them" in listed, listed.count("Task ")), (cut, min(int(limit), 3)))
    for i in range(500):
        daemon.ask("POST", "/journal/entries", {"kind": "note", "body": f"Note {i}"}, status=201)
    expect("and more" not in box.run("journal", "note", "list")[0], "500 notes are all there are")
    daemon.ask("POST", "/journal/entries", {"kind": "note", "body": "One too many"}, status=201)
    listed = box.run("journal", "note", "list")[0]
    expect_in("... and more; `dormouse journal export` has all of them", listed)
    expect_in("One too many", listed)
    expect("Note 0\n" not in listed, "the oldest is left out")
    daemon.stop()


@test
def an_entry_is_shown_with_what_it_holds(box):
    def shown(*words):
        entry = box.json("journal", *words)
        return box.run("journal", "entry", "show", entry["id"])[0]
    box.run("journal", "category", "add", "Sport")
    at = ("--at", "yesterday 18:00")
    expect_eq(shown("measure", "add", "weight", "71.25", "kg", *at), "measurement weight: 71.25 kg, yesterday 18:00\n")
    expect_eq(shown("measure", "add", "steps", "12345678", *at), "measurement steps: 12345678, yesterday 18:00\n")
    expect_eq(shown("workout", "add", "run", "along the river", "--for", "1h30", "--category", "sport", *at),
              "workout run: 1 h 30 min, yesterday 18:00\ncategory  Sport\nalong the river\n")
    expect_eq(shown("note", "add", "the moon is up", *at), "note, yesterday 18:00\nthe moon is up\n")
    expect_eq(shown("note", "add", "it is up", "--title", "Moon", *at), "note, yesterday 18:00\nMoon\nit is up\n")


@test
def a_day_is_kept_at_the_terminal(box):
    run = box.run
    expect_in("Nothing is planned", run("journal", "plan")[0])
    run("journal", "task", "add", "Write")
    run("journal", "plan", "block", "today", "9:00", "10:30", "--task", "write")
    expect_in("09:00-10:30  Write", run("journal", "plan")[0])
    expect_in("before the block", run("journal", "plan", "block", "today", "10:00", "11:00",
                                  code=1)[1])
    run("journal", "time", "log", "write", "--from", "yesterday 8:00", "--for", "1h30")
    expect_in("1 h 30 min in all", run("journal", "time", "list")[0])
    run("journal", "time", "start", "write")
    expect_in("Write", run("journal", "time", "status")[0])
    run("journal", "time", "stop")
    expect_in("No timer runs", run("journal", "time", "status")[0])
    run("journal", "rating", "add", "today", "energy", "4")
    expect_in("energy", run("journal", "rating", "list")[0])
    run("journal", "workout", "add", "run", "along the river", "--for", "35m")
    expect_in("35 min", run("journal", "workout", "list")[0])
    run("journal", "measure", "add", "weight", "71.5", "kg")
    expect_in("71.5 kg", run("journal", "measure", "list")[0])
    run("journal", "note", "add", "the moon is up")
    expect_in("the moon is up", run("journal", "note", "list")[0])


@test
def time_is_mended_at_the_terminal(box):
    run = box.run
    run("journal", "task", "add", "Write")
    logged = json.loads(run("journal", "time", "log", "write", "--from", "yesterday 23:00", "--to",
                            "0:30", "--json")[0])
    shown = json.loads(run("journal", "plan", "--json")[0])
    expect_eq([e["id"] for e in shown["timeEntries"]], [logged["id"]])
    expect_eq(json.loads(run("journal", "plan", "tomorrow", "--json")[0])["timeEntries"], [])
    run("journal", "time", "set", logged["id"], "--to", "yesterday 23:45", "--description", "late")
    expect_eq(json.loads(run("journal", "plan", "--json")[0])["timeEntries"], [])
    expect_in("45 min", run("journal", "time", "list")[0])
    expect_in("nothing to change", run("journal", "time", "set", logged["id"], code=2)[1])
    expect_in("before --from", run("journal", "time", "set", logged["id"], "--to",
                                      "yesterday 22:00", code=1)[1])
    run("journal", "time", "rm", logged["id"][:14])
    expect_in("No time was noted", run("journal", "time", "list")[0])
    run("journal", "time", "restore", logged["id"])
    expect_in("late", run("journal", "time", "list")[0])
    run("journal", "time", "start", "write")
    expect_in("--at: lies before the timer began", run("journal", "time", "stop", "--at", "yesterday 9:00", code=1)[1])
    expect_in("Stopped after 0 min", run("journal", "time", "stop", "--at", "now")[0])
    expect_in("no timer runs", run("journal", "time", "stop", "--at", "now", code=1)[1])
    run("journal", "plan", "pin", "today", "write")
    expect_in("pinned\n  [ ] Write", run("journal", "plan")[0])


@test
def yesterday_is_a_day(box):
    run = box.run
    run("journal", "task", "add", "Fence")
    run("journal", "time", "log", "fence", "--from", "9:00", "--to", "10:00", "--day", "yesterday")
    run("journal", "time", "log", "fence", "--from", "yesterday 11:00", "--to", "Yesterday at 11:30")
    run("journal", "note", "add", "slept well", "--at", "yesterday 7:30")
    expect_in("90 min in all", run("journal", "time", "list", "--from", "yesterday", "--to", "yesterday")[0]
              .replace("1 h 30 min", "90 min"))
    expect_in("yesterday", run("journal", "plan", "yesterday")[0])
    expect_in("09:00-10:00  Fence", run("journal", "plan", "yesterday")[0])
    for words in ("yesterdays", "yesterday 25:00", "yesterday afternoon"):
        expect_in("is no moment", run("journal", "note", "add", "x", "--at", words, code=1)[1])
    run("journal", "plan", "pin", "yesterday", "fence")
    expect_in("pinned\n  [ ] Fence", run("journal", "plan", "yesterday")[0])


@test
def days_that_have_been_are_not_taken_for_those_to_come(box):
    run = box.run
    def add(*words, code=0):
        return json.loads(run("journal", *words, "--json", code=code)[0])
    now = datetime.datetime.now().astimezone()
    def local(text):
        return datetime.datetime.fromisoformat(text).astimezone(now.tzinfo)
    back = now - datetime.timedelta(days=3)
    friday = back.strftime("%A")
    # 9am is of the day that is given, as 9:00 is.
    for clock in ("9:00", "9am", "9 am", "at 9:00"):
        entry = add("time", "log", "--from", clock, "--for", "1h", "--day", "yesterday")
        expect_eq(local(entry["startedAt"]).date(), (now - datetime.timedelta(days=1)).date())
    entry = add("time", "log", "--from", "9:00", "--for", "1h", "--day", friday)
    expect_eq(local(entry["startedAt"]).date(), back.date())
    expect_eq(local(add("note", "add", "x", "--at", f"{friday} 9:30")["at"]).date(), back.date())
    expect_eq(local(add("note", "add", "x", "--at", "9:30 yesterday")["at"]).hour, 9)
    expect_eq(len(run("journal", "time", "list", "--from", friday, "--to", friday, "--json")[0].splitlines()), 1)
    rating = add("rating", "add", friday, "mood", "4")
    expect_eq(rating["targetId"], "dayplan-" + back.date().isoformat())
    # What is planned lies ahead.
    block = add("plan", "block", friday, "9am", "24:00")["blocks"][0]
    expect_eq(local(block["startTime"]).date(), (back + datetime.timedelta(days=7)).date())
    expect_eq(local(block["endTime"]).hour, 0)
    expect_eq(add("task", "add", "x", "--due", friday[:3])["due"], (back + datetime.timedelta(days=7)).date().isoformat())
    # Over midnight; what would take more than half a day is a mistake.
    entry = add("time", "log", "--from", "23:00", "--to", "1:00", "--day", friday)
    expect_eq(local(entry["endedAt"]) - local(entry["startedAt"]), datetime.timedelta(hours=2))
    expect_in("--to: lies before --from", run("journal", "time", "log", "--from", "yesterday 10:00", "--to", "9:00", code=1)[1])
    # Mending begins with the day that it was.
    entry = add("time", "set", entry["id"], "--to", "23:45")
    expect_eq((local(entry["endedAt"]).date(), local(entry["endedAt"]).minute), (back.date(), 45))
    entry = add("time", "set", entry["id"], "--to", "0:30")
    expect_eq(local(entry["endedAt"]).date(), (back + datetime.timedelta(days=1)).date())
    run("journal", "time", "start")
    expect_in("has not come yet", run("journal", "time", "stop", "--at", "tomorrow 9:00", code=1)[1])


@test
def an_end_without_a_day_is_of_the_day_of_the_beginning(box):
    run = box.run
    def took(*words):
        entry = json.loads(run("journal", "time", *words, "--json")[0])
        begin, end = (datetime.datetime.fromisoformat(entry[key]) for key in ("startedAt", "endedAt"))
        return (end - begin).total_seconds() / 60, entry["id"]
    friday = (datetime.datetime.now() - datetime.timedelta(days=3)).strftime("%A")
    for command in (("log",), ("set", took("log", "--from", "yesterday 7:00", "--for", "1h")[1])):
        for begin, end, minutes in (("yesterday 9:00", "10:00", 60), (f"{friday} 22:00", "2:00", 240),
                                    (f"{friday} 22:00", "23:30", 90), ("yesterday 9:00", "24:00", 900),
                                    ("yesterday 9:00", "yesterday 9:30", 30)):
            expect_eq((begin, end, took(*command, "--from", begin, "--to", end)[0]), (begin, end, minutes))
        for begin, end in (("yesterday 9:00", "8:00"), (f"{friday} 12:00", "0:30")):
            expect_eq(run("journal", "time", *command, "--from", begin, "--to", end, code=1)[1].splitlines()[0],
                      "dormouse: --to: lies before --from")


@test
def options_of_time_that_contradict_each_other_are_refused(box):
    run = box.run
    def log(*words, code=0):
        return run("journal", "time", "log", *words, code=code)[1]
    day = (datetime.datetime.now() - datetime.timedelta(days=5)).date().isoformat()
    for words, said in (
            (("--day", "yesterday", "--for", "1h"), "--day and --for do not say when it was"),
            (("--from", "yesterday 9:00", "--to", "10:00", "--for", "2h"), "--for contradicts --from and --to"),
            (("--day", day, "--from", "yesterday 9:00", "--for", "1h"), "--day and --from contradict each other"),
            (("--day", day, "--to", "yesterday 9:00", "--for", "1h"), "--day and --to contradict each other"),
            (("--day", "fryday", "--from", "9:00", "--for", "1h"), '--day: "fryday" is not a day'),
            (("--from", "soon", "--for", "1h"), '--from: "soon" is no moment'),
            (("--from", "yesterday 9:00", "--to", "soon"), '--to: "soon" is no moment'),
            (("--from", "yesterday 9:00", "--for", "ever"), '--for: "ever" is not how long')):
        expect_in(said, log(*words, code=1))
    expect_in("No time was noted", run("journal", "time", "list")[0])
    # What says the same twice is no contradiction.
    log("--from", "yesterday 9:00", "--to", "10:00", "--for", "1h")
    log("--day", "yesterday", "--from", "yesterday 9:00", "--for", "1h")
    log("--day", "yesterday", "--from", "23:00", "--to", "today 0:00")
    log("--day", day, "--to", "24:00", "--for", "1h")
    log("--day", "today", "--for", "1h")
    entry = json.loads(run("journal", "time", "list", "--json")[0].splitlines()[0])["id"]
    expect_in("--day is the day of --from and --to",
              run("journal", "time", "set", entry, "--day", "yesterday", "--description", "x", code=1)[1])


@test
def what_has_not_come_yet_is_neither_logged_nor_noted_nor_rated(box):
    run = box.run
    run("journal", "time", "start")
    ahead = (datetime.datetime.now() + datetime.timedelta(days=2)).date().isoformat()
    for words, option in (
            (("time", "stop", "--at", "tomorrow 9:00"), "--at: "),
            (("time", "log", "--from", "tomorrow 9:00", "--to", "10:00"), "--from: "),
            (("time", "log", "--from", "yesterday 9:00", "--to", "tomorrow 10:00"), "--to: "),
            (("time", "log", "--from", "yesterday 9:00", "--for", "100h"), "--for: less has passed since --from"),
            (("time", "log", "--day", "tomorrow", "--from", "9:00", "--to", "10:00"), "--day: "),
            (("time", "log", "--to", ahead + "T10:00", "--for", "1h"), "--to: "),
            (("note", "add", "x", "--at", "tomorrow 22:00"), "--at: "),
            (("workout", "add", "run", "--at", "in 2 hours"), "--at: "),
            (("rating", "add", "tomorrow", "mood", "4"), ""),
            (("rating", "add", ahead, "mood", "4"), "")):
        said = run("journal", *words, code=1)[1]
        expect_in(option, said)
        expect("has not come yet" in said or "less has passed" in said, said)
    run("journal", "time", "stop")
    entry = json.loads(run("journal", "time", "log", "--from", "yesterday 9:00", "--for", "1h", "--json")[0])["id"]
    for option in ("--from", "--to"):
        expect_in(f"{option}: ", run("journal", "time", "set", entry, option, "tomorrow 9:00", code=1)[1])
    # What is looked for may be to come.
    run("journal", "time", "list", "--to", "tomorrow")
    run("journal", "rating", "list", "--to", ahead)
    for words in (("time", "list"), ("rating", "list"), ("task", "list")):
        expect_in('--to: "soon" is not a day', run("journal", *words, "--to", "soon", code=1)[1])


@test
def a_length_is_typed_as_help_says(box):
    run = box.run
    for typed in ("90", "90m", "1h30", "1:30", "01:30", "1.5h"):
        run("journal", "time", "log", "--from", "yesterday 9:00", "--to", "10:30", "--for", typed)
        expect_eq(json.loads(run("journal", "task", "add", "x", "--estimate", typed, "--json")[0])["estimateMinutes"], 90)
    for typed in ("1:60", "0:00", "1:3", ":30", "1:", "-1:30", "1:-3", "1:30:00", "9999:00"):
        expect_in("is not how long", run("journal", "task", "add", "x", f"--estimate={typed}", code=1)[1])
    # Where both are taken, it is a time of day.
    run("agent", "create", "eve")
    if datetime.datetime.now().hour > 0:
        expect_in("past", run("agent", "sleep", "eve", "0:05", code=1)[1])


@test
def words_for_days_that_have_been_are_understood_wherever_one_is_taken(box):
    run = box.run
    now = datetime.datetime.now().astimezone()
    def noted(at):
        entry = json.loads(run("journal", "note", "add", "x", "--at", at, "--json")[0])
        return datetime.datetime.fromisoformat(entry["at"]).astimezone(now.tzinfo)
    back = now - datetime.timedelta(days=3)
    friday = back.strftime("%A")
    for at in ("3 days ago", friday, f"last {friday}", back.strftime("%-d.%-m."), back.date().isoformat()):
        expect_eq((noted(at).date(), noted(at).hour), (back.date(), 12))
    expect_eq((noted("3 days ago 9:00").date(), noted("9:00 3 days ago").hour), (back.date(), 9))
    expect(noted("today") >= now.replace(microsecond=0), "today, when nothing else is said, is now")
    expect_eq(json.loads(run("journal", "plan", f"last {friday}", "--json")[0])["day"], back.date().isoformat())
    run("journal", "time", "log", "--from", "3 days ago 9:00", "--to", "10:00")
    expect_in("1 h in all", run("journal", "time", "list", "--from", f"last {friday}", "--to", "3 days ago")[0])
    expect_in('--from: "yesterday" is a day; give the time, too: "yesterday 9:30"',
              run("journal", "time", "log", "--from", "yesterday", "--for", "1h", code=1)[1])


@test
def a_task_is_found_by_its_title_and_a_status_by_its_words(box):
    run = box.run
    for title in ("Pay", "Pay rent", "Pay the bill"):
        run("journal", "task", "add", title)
    run("journal", "task", "set", "pay", "--status", "in progress")
    expect_in("IN_PROGRESS", run("journal", "task", "show", "Pay")[0])
    expect_in("may be: ", run("journal", "task", "show", "pa", code=1)[1])
    for status in ("in_progress", "In-Progress", "IN_PROGRESS"):
        expect_eq(len(run("journal", "task", "list", "--status", status, "--json")[0].splitlines()), 1)
    expect_in("takes one of", run("journal", "task", "list", "--status", "inprogress", code=2)[1])
    run("journal", "task", "add", "pay")
    expect_in("may be: ", run("journal", "task", "done", "pay", code=1)[1])
    # Nothing is linked to itself.
    expect_in("TO: is the same as FROM", run("journal", "link", "add", "pay rent", "pay rent", code=1)[1])
    # A block that ends with the day.
    expect_in("22:00-24:00  late", run("journal", "plan", "block", "today", "22:00", "24:00", "--note", "late")[0])


@test
def a_day_of_another_year_is_shown_with_it(box):
    year = datetime.date.today().year + 1
    box.run("journal", "task", "add", "Renew the passport", "--due", f"{year}-05-12")
    weekday = datetime.date(year, 5, 12).strftime("%a")
    for command in (("list",), ("show", "passport")):
        expect_in(f"{weekday} 12 May {year}", box.run("journal", "task", *command)[0])


@test
def a_closed_task_is_found_by_its_title_when_no_open_one_has_it(box):
    run = box.run
    run("journal", "task", "add", "Call mum")
    run("journal", "task", "done", "mum")
    run("journal", "task", "set", "call mum", "--status", "open")
    expect_in("OPEN", run("journal", "task", "show", "mum")[0])
    run("journal", "task", "done", "mum")
    run("journal", "task", "add", "Call mum about the boat")
    expect_in("about the boat", run("journal", "task", "show", "mum")[0])
    run("journal", "task", "done", "boat")
    expect_in("\"mum\" may be, of closed tasks: Call mum about the boat (", run("journal", "task", "show", "mum", code=1)[1])
    expect_in("DONE", run("journal", "task", "show", "Call mum")[0])


@test
def what_the_document_types_works_in_its_order(box):
    """The section "At the terminal" of docs/journal.md, line by line."""
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "journal.md"), encoding="utf-8") as file:
        section = file.read().split("## At the terminal")[1].split("## ")[0]
    lines = [shlex.split(line)[1:] for line in section.splitlines() if line.startswith("    dormouse ")]
    expect(len(lines) > 5, lines)
    with open(box.path("memo.ogg"), "wb") as file:
        file.write(b"OggS")
    for words in lines:
        said = box.run(*[box.path(word) if word == "memo.ogg" else word for word in words])[0]
        if words[:3] == ["journal", "task", "list"]:
            expect_in("Fix fence", said)


@test
def recordings_are_kept_at_the_terminal(box):
    run = box.run
    expect_in("No recordings", run("journal", "audio", "list")[0])
    path, content = box.path("memo.OGG"), bytes(range(256)) * 999
    with open(path, "wb") as file:
        file.write(content)
    kept = json.loads(run("journal", "audio", "add", path, "call", "Ann", "--json")[0])
    expect_eq((kept["kind"], kept["title"], kept["body"]), ("audio", "memo.OGG", "call Ann"))
    expect_in("memo.OGG", run("journal", "audio", "list")[0])
    saved = json.loads(run("journal", "audio", "save", kept["id"], box.path("back.ogg"), "--json")[0])
    expect_eq((saved["contentType"], saved["size"], saved["sha256"]),
              ("audio/ogg", len(content), hashlib.sha256(content).hexdigest()))
    with open(box.path("back.ogg"), "rb") as file:
        expect_eq(file.read(), content)
    expect_in("No such file", run("journal", "audio", "add", box.path("none.ogg"), code=1)[1])
    with open(path, "ab") as file:
        file.truncate(10 * 1024 * 1024 + 1)
    run("journal", "audio", "add", path, code=1)
    expect_eq(len(run("journal", "audio", "list", "--json")[0].splitlines()), 1)
    note = json.loads(run("journal", "note", "add", "x", "--json")[0])
    expect_in("has no file", run("journal", "audio", "save", note["id"], box.path("x"), code=1)[1])


@test
def mistakes_at_the_terminal_say_what_is_allowed(box):
    run = box.run
    expect_in("needs one of: add, list", run("journal", "task", code=2)[1])
    expect_in("did you mean `journal task list`", run("journal", "task", "lst", code=2)[1])
    expect_in("there is no task", run("journal", "task", "show", "nothing", code=1)[1])
    expect_in("is not a day", run("journal", "task", "add", "x", "--due", "someday", code=1)[1])
    expect_in("none yet", run("journal", "task", "add", "x", "--category", "y", code=1)[1])
    expect_in("nothing to change", run("journal", "task", "set", "x", code=2)[1])
    run("journal", "task", "add", "Call Ann")
    run("journal", "task", "add", "Call Bob")
    expect_in("may be: Call Ann", run("journal", "task", "done", "call", code=1)[1])
    helps = "; `dormouse journal task show TASK` shows the ids of its items"
    for typed in ("party", "the party", "x"):
        expect_in(f'there is no checklist item "{typed}"{helps}', run("journal", "checklist", "check", typed, code=1)[1])
    expect_in("; `dormouse journal note list` shows notes", run("journal", "entry", "show", "party", code=1)[1])
    expect_in("; `dormouse journal time list` shows", run("journal", "time", "rm", "party", code=1)[1])


@test
def errors_at_the_terminal_name_what_was_typed(box):
    run = box.run
    for words, said in (
            (("plan", "block", "today", "10:00", "9:00"), "TO: does not lie after FROM"),
            (("task", "add", "x", "--estimate", "999999"), "--estimate: 999999 is not a whole number"),
            (("task", "add", ""), "TITLE: is empty"),
            (("task", "add", "x", "--label", ""), "--label: is empty"),
            (("category", "add", "x", "--color", "red"), '--color: "red" is not a color'),
            (("measure", "add", "weight", "5", "k" * 30), "UNIT: has 30 characters"),
            (("rating", "add", "today", "mood", "9"), "VALUE: 9 is not"),
            (("time", "log", "--from", "yesterday 10:00", "--to", "9:00"), "--to: lies before --from"),
            (("search", ""), "WORD is empty"),
            (("add", ""), "dormouse: the text does not say")):
        expect_in(said, run("journal", *words, code=1)[1])
    run("journal", "task", "add", "Fix fence")
    expect_in("item 2: is empty", run("journal", "checklist", "add", "fence", "wood", "", code=1)[1])
    expect("Checklist" not in run("journal", "task", "show", "fence")[0], "no list was made for it")
    expect_in("--list: is empty", run("journal", "checklist", "add", "fence", "x", "--list", "", code=1)[1])
    run("journal", "plan", "block", "today", "10:00", "12:00")
    expect_in("FROM: the block of 11:00 would begin before the block before it ends, at 12:00",
              run("journal", "plan", "block", "today", "11:00", "13:00", code=1)[1])


@test
def what_says_nothing_is_refused(box):
    run, daemon = box.run, box.serve()
    for text in ("", "  "):
        expect_in("TEXT: is empty; a note says something", run("journal", "note", "add", text, code=1)[1])
    run("journal", "note", "add", "", "--title", "Heron")
    refused(daemon, "POST", "/journal/entries", {"kind": "measurement", "subtype": "weight"}, 422, "/value: is missing")
    note = daemon.ask("POST", "/journal/entries", {"kind": "note", "body": "x"}, status=201)
    refused(daemon, "PATCH", f"/journal/entries/{note['id']}", {"body": None}, 422, "/body: is empty")
    expect_in("is empty; there is nothing to keep", run("journal", "audio", "add", box.write("a.ogg", ""), code=1)[1])
    expect_eq(len(run("journal", "audio", "list", "--json")[0]), 0)
    path = f"/journal/attachments?entryId={note['id']}&fileName="
    expect_eq(raw(daemon, "POST", path + "a.ogg", b"")[0], 400)
    status, _, body = raw(daemon, "POST", path + "../../etc/a.ogg", b"sound")
    expect_eq((status, json.loads(body)["fileName"]), (201, "a.ogg"))
    expect_eq(raw(daemon, "POST", path + "..", b"sound")[0], 422)
    refused(daemon, "PATCH", f"/journal/attachments/{json.loads(body)['id']}", {"fileName": "../x"}, 422,
            "/fileName", "without folders")
    for typed, said in (("Pay due:2026-13-45", "is no day"), ("Pay !9", "is no priority"), ("Pay 2026-02-30", "no calendar")):
        expect_in(said, run("journal", "add", typed, code=1)[1])
    expect_in('"tomorow" was kept as text; did you mean tomorrow?', run("journal", "add", "Pay tomorow")[1])
    for typed, priority in (("1", "P1"), ("p0", "P0"), ("P3", "P3"), ("urgent", "P0"), ("low", "P3")):
        task = json.loads(run("journal", "task", "add", "x", "--priority", typed, "--json")[0])
        expect_eq(task["priority"], priority)
    expect_in('--priority: "4" is no priority', run("journal", "task", "add", "x", "--priority", "4", code=1)[1])
    daemon.stop()


@test
def records_are_linked_and_rated_at_the_terminal(box):
    run = box.run
    expect_in("No links.", run("journal", "link", "list")[0])
    run("journal", "task", "add", "Fix fence")
    note = json.loads(run("journal", "note", "add", "a heron", "--json")[0])["id"]
    link = json.loads(run("journal", "link", "add", note[:13], "fence", "--relation", "about", "--json")[0])
    expect_eq((link["fromType"], link["fromId"], link["toType"], link["relation"]), ("entry", note, "task", "about"))
    run("journal", "note", "add", "another")
    for named in ("fence", note):
        expect_in(link["id"][:8], run("journal", "link", "list", named)[0])
    run("journal", "link", "rm", link["id"][:13])
    expect_in("No links.", run("journal", "link", "list", "fence")[0])
    run("journal", "restore", link["id"])
    expect_in("about", run("journal", "link", "list")[0])
    expect_in('"nowhere" is neither an id', run("journal", "link", "add", "nowhere", "fence", code=1)[1])
    expect_in("TO: there is no day plan", run("journal", "link", "add", "fence", "2026-01-02", code=1)[1])
    rated = json.loads(run("journal", "rating", "add", note, "joy", "5", "--json")[0])
    expect_eq((rated["targetType"], rated["targetId"]), ("entry", note))
    run("journal", "rating", "add", "2026-08-01", "energy", "1")
    august = ("journal", "rating", "list", "--from", "2026-08-01", "--to", "2026-08-01")
    expect_eq([json.loads(line)["dimension"] for line in run(*august, "--json")[0].splitlines()], ["energy"])
    expect_eq([json.loads(line)["dimension"] for line in run("journal", "rating", "list", "--from", "today", "--json")[0].splitlines()],
              ["joy"])
    home = json.loads(run("journal", "category", "add", "Home", "--json")[0])["id"]
    expect_in('DAY|RECORD: "category" is not', run("journal", "rating", "add", home, "joy", "5", code=1)[1])


@test
def what_was_deleted_is_restored_whatever_it_is(box):
    run = box.run
    note = json.loads(run("journal", "note", "add", "a heron", "--json")[0])["id"]
    home = json.loads(run("journal", "category", "add", "Home", "--json")[0])["id"]
    run("journal", "entry", "rm", note)
    expect_in(f"`dormouse journal restore {note}` undoes it", run("journal", "entry", "show", note, code=1)[1])
    expect_eq(json.loads(run("journal", "category", "rm", "home", "--json")[0]), {"id": home})
    expect_in(f"Restored {note}", run("journal", "restore", note, home)[0])
    expect_in("heron", run("journal", "entry", "show", note)[0])
    expect_in("Home", run("journal", "category", "list")[0])
    expect_in('has the id "nothing"', run("journal", "restore", "nothing", code=1)[1])


@test
def a_change_that_cant_be_read_hides_nothing_else_from_the_search(box):
    daemon = box.serve()
    box.run("journal", "task", "add", "Feed the zebra")
    daemon.stop()
    db = sqlite3.connect(f"{box.data}/journal.sqlite")
    row = dict(zip([c[1] for c in db.execute("pragma table_info(change_batches)")],
                   db.execute("select * from change_batches order by n desc limit 1").fetchone()))
    row.update(n=row["n"] + 1, local_batch_id="damaged", units="not json")
    db.execute(f"insert into change_batches ({', '.join(row)}) values ({', '.join('?' * len(row))})", list(row.values()))
    db.commit()
    db.close()
    box.serve()
    box.run("journal", "task", "add", "Feed the okapi")
    for animal in ("zebra", "okapi"):
        expect_in(f"Feed the {animal}", box.run("journal", "search", animal)[0])


main()

#!/usr/bin/env python3
"""Every route that the OpenAPI document has, asked for in every wrong way that can be thought of
without knowing what it does, beside the document: no answer may be one that it does not have.

usage: tests/e2e/routes.py DORMOUSE [PART-OF-A-NAME]
"""
import http.client
import json
import re

from harness import LONG, WAIT_S, Postgres, WebSocket, expect, expect_eq, expect_in, main, test

NOBODY = "019a0000-0000-7000-8000-000000000000"
# Statuses that may_refuse() in openapi.c answers for: they are named, or never come.
NAMED = {400, 401, 403, 404, 409, 413}
STREAMS = {("get", "/api/v1/activity"), ("get", "/api/v1/events")}  # they go on until one leaves


class Asker:
    """Asks over one connection, and looks at every answer beside the document."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.document = daemon.document()
        self.token = daemon.token()
        self.connection = None
        self.wrong = {}  # the first of each kind
        self.asked = 0

    def send(self, method, path, body, headers):
        if not self.connection:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=WAIT_S)
        self.connection.request(method, path, body=body, headers=headers)
        answer = self.connection.getresponse()
        kind = answer.headers.get("Content-Type", "")
        text = b"" if kind.startswith("text/event-stream") else answer.read()
        if not answer.isclosed() or answer.will_close:
            self.connection.close()
            self.connection = None
        return answer.status, kind, text, answer.headers

    def ask(self, method, route, path, body=None, token=True, kind="application/json"):
        headers = {"Content-Type": kind}
        if token:
            headers["Authorization"] = f"Bearer {self.token}"
        self.asked += 1
        at = f"{method} {path[:120]} {body if body is None else body[:120]!r}"
        try:
            status, kind, text, headers = self.send(method, path, body, headers)
        except (http.client.HTTPException, OSError) as error:
            self.connection = None
            self.note(method, route, f"{error!r}", at)
            return 0, {}
        operation = self.document.root["paths"][route].get(method.lower())
        try:
            self.look(method, path, operation, status, kind, text, body)
        except Exception as error:  # whatever is wrong with one is told with the others
            self.note(method, route, str(error), f"{at}: {status} {text[:200]!r}")
        return status, headers

    def note(self, method, route, why, at):
        self.wrong.setdefault((method, route, why), f"{at}: {why}")

    def look(self, method, path, operation, status, kind, text, body):
        expect(status < 500, "is our own fault")
        if status >= 400 and not kind.startswith("text/html"):
            error = json.loads(text)["error"]
            expect({"code", "message"} <= set(error) <= {"code", "message", "details"} and error["message"],
                   "is no error of the interface")
            expect("\ufffd" not in error["message"] or "\ufffd" in repr(body), "is cut within a character")
        if operation:
            if status in NAMED and not kind.startswith("text/html"):
                expect(str(status) in operation["responses"], f"the document has no {status}")
            self.document.answer(method.upper(), path, status, kind, text, self.given(body) if status < 400 else None)

    @staticmethod
    def given(body):
        """What a body says that was taken: null is as good as nothing, says the document."""
        body = json.loads(body) if body else None
        return {key: value for key, value in body.items() if value is not None} if isinstance(body, dict) else body

    def told(self):
        """Fails with one line for each kind of wrong answer of a route."""
        expect(not self.wrong, f"of {self.asked} answers are wrong:\n" + "\n".join(self.wrong.values()))


def operations(daemon):
    for route, methods in daemon.document().root["paths"].items():
        for method, operation in methods.items():
            yield route, method.upper(), operation


# A body that each schema takes, where {} is not one.
TAKEN = {
    "RunRequest": {"prompt": "hello"},
    "RerunRequest": {},
    "ModeRequest": {"mode": "structured"},
    "AgentForm": {"displayName": "Another"},
    "AgentCopy": {"displayName": "Copy"},
    "ThreadChange": {"title": "Named"},
    "MemoryWrite": {"content": "text"},
    "MemoryRestore": {"version": 1},
    "SkillRequest": {"name": "some-skill", "description": "Some.", "instructions": "Do."},
    "SkillText": {"content": "---\nname: a\ndescription: b\n---\n"},
    "TimerForm": {"rrule": "FREQ=DAILY", "prompt": "Look.", "name": "t"},
    "TimerPreview": {"rrule": "FREQ=DAILY"},
    "WakeRequest": {"words": "now"},
    "SubscriptionForm": {"source": "journal", "tokens": [{"class": "semanticKey", "value": "TASK"}]},
    "SubscriptionPreview": {"agentId": "mouse", "tokens": [{"class": "semanticKey", "value": "TASK"}]},
    "KillRequest": {"scope": "agent", "value": "mouse"},
    "DecisionRequest": {"decision": "reject"},
    "QuickRequest": {"text": "a line"},
    "TimerStart": {},
    "TimerStop": {},
    "DayBlocks": {"deletes": []},
    "DayPins": {"taskIds": []},
    "NewCategory": {"name": "Barn"},
    "NewLabel": {"name": "soon"},
    "NewTask": {"title": "Sleep"},
    "NewChecklist": {"title": "Before"},
    "NewTimeEntry": {"startedAt": "2026-01-01T10:00:00Z", "endedAt": "2026-01-01T11:00:00Z"},
    "NewEntry": {"kind": "note", "body": "Cold."},
    "FollowUpRequest": {"title": "Wake up"},
    "SecretValue": {"value": "s3cret-value"},
}


class World:
    """One of everything: which id stands for the hole of a route."""

    def __init__(self, box):
        self.daemon = box.serve()
        self.ids = {}
        self.agent = self.daemon.ask("POST", "/agents", {"displayName": "Mouse"}, status=201)["id"]
        self.base = f"/agents/{self.agent}"
        self.taken = dict(TAKEN)
        self.journal()
        self.things()

    def make(self, kind, schema, more=None):
        self.taken[schema] = {**self.taken.get(schema, {}), **(more or {})}
        status = 200 if schema == "NewRating" else 201
        made = self.daemon.ask("POST", f"/journal/{kind}", self.taken[schema], status=status)["id"]
        self.ids[f"/api/v1/journal/{kind}/"] = made
        return made

    def journal(self):
        self.make("categories", "NewCategory")
        self.make("labels", "NewLabel")
        task = self.make("tasks", "NewTask")
        checklist = self.make("checklists", "NewChecklist", {"taskId": task})
        self.make("checklist-items", "NewChecklistItem", {"checklistId": checklist, "title": "Nest"})
        self.make("time-entries", "NewTimeEntry", {"taskId": task})
        plan = self.make("day-plans", "NewDayPlan", {"planDate": "2026-01-01"})
        self.make("day-plan-blocks", "NewDayPlanBlock",
                  {"planId": plan, "startTime": "2026-01-01T08:00:00Z", "endTime": "2026-01-01T09:00:00Z"})
        self.make("ratings", "NewRating",
                  {"targetType": "task", "targetId": task, "dimension": "joy", "value": 3})
        entry = self.make("entries", "NewEntry")
        self.make("entry-links", "NewEntryLink", {"relation": "about", "fromType": "entry", "fromId": entry,
                                                  "toType": "task", "toId": task})
        self.ids["/api/v1/journal/days/"] = "2026-01-01"

    def things(self):
        ask = self.daemon.ask
        stream = self.daemon.start("hello", agent=self.agent)
        stream.end()
        self.ids["/api/v1/runs/"] = stream.key
        self.ids["/api/v1/agents/{id}/threads/"] = ask("GET", f"{self.base}/threads")["threads"][0]["id"]
        ask("PUT", f"{self.base}/memory/knowledge/notes.md", {"content": "# Notes\n"}, status=201)
        for hole in ("memory", "memory-history", "memory-restore"):
            self.ids[f"/api/v1/agents/{{id}}/{hole}/"] = "knowledge/notes.md"
        skill = ask("POST", f"{self.base}/skills", self.taken["SkillRequest"], status=201)
        self.ids["/api/v1/agents/{id}/skills/"] = skill["skill"]["id"]
        self.ids["/files/"] = "SKILL.md"
        self.ids["/api/v1/timers/"] = ask("POST", f"{self.base}/timers", self.taken["TimerForm"], status=201)["id"]
        self.ids["/api/v1/subscriptions/"] = ask("POST", f"{self.base}/subscriptions",
                                                 self.taken["SubscriptionForm"], status=201)["id"]
        self.ids["/api/v1/models/"] = ask("GET", "/models")["models"][0]["id"]
        self.ids["/api/v1/secrets/"] = "a-secret"
        ask("PUT", "/secrets/a-secret", self.taken["SecretValue"], status=204)
        self.ids["/api/v1/agents/"] = self.agent

    def path(self, route, hole=None):
        """The route with ids that are there; with `hole` in the last of its holes."""
        parts = re.split(r"(\{\w+\})", route)
        path = ""
        for i, part in enumerate(parts):
            if i % 2 == 0:
                path += part
            elif hole is not None and i == len(parts) - 2:
                path += hole
            else:
                before = "".join(parts[:i])
                path += next((value for key, value in self.ids.items() if before.endswith(key)), NOBODY)
        return path


# ---- the sweeps ----


def some(values, of):
    """All of them, or of a long list a few: others each time."""
    if LONG:
        return values
    some.at += 1
    return [value for i, value in enumerate(values) if (i + some.at) % of == 0]


some.at = 0


def body_schema(operation):
    media = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return media.get("schema", {}).get("$ref", "").rsplit("/", 1)[-1]


def ways(world):
    """Every operation, those that take things away last; with a body that is taken."""
    found = list(operations(world.daemon))
    for route, method, operation in sorted(found, key=lambda one: one[1] == "DELETE"):
        schema = body_schema(operation)
        yield route, method, operation, json.dumps(world.taken.get(schema, {})) if schema else None


HOLES = [NOBODY, "x", "%00", "%FF", "..", "%2e%2e%2fx", "a%0ab", "x" + "%F0%9F%90%AD" * 60, "x" * 3000, "-1", "%20",
         "'%22;--"]


def sweep_paths(world, asker):
    for route, method, operation, body in ways(world):
        if "{" in route:
            for hole in some(HOLES, 4):
                asker.ask(method, route, world.path(route, hole), body)


# The server's own: whatever else is asked with them, they answer.
BUILT_IN = {"/", "/assets/{name}", "/login", "/healthz", "/metrics", "/api/v1/openapi.json", "/api/v1/login-codes"}
WORDS = ["", "x", "-1", "0", "1", "99999999999999999999", "%00", "%FF", "a%0Ab", "x" + "%F0%9F%90%AD" * 100,
         "x" * 3000, "'%22;--", "2026-02-30", "2026-01-01T00:00:00Z", "true", "%25"]


def sweep_queries(world, asker):
    for route, method, operation, body in ways(world):
        if (method.lower(), route) in STREAMS or "101" in operation["responses"] or route in BUILT_IN:
            continue
        path = world.path(route, NOBODY if method == "DELETE" else None)
        for name in [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]:
            for word in some(WORDS, 4):
                asker.ask(method, route, f"{path}?{name}={word}", body)
            asker.ask(method, route, f"{path}?{name}", body)
            asker.ask(method, route, f"{path}?{name}=1&{name}=2", body)
        status, _ = asker.ask(method, route, f"{path}?nobody-knows=1", body)
        if status < 400:
            asker.note(method, route, "takes a query that nobody knows", path)


TEXTS = ['""', '"x"', '"a\\u0000b"', '"\\ud800"', '"\\u202e"', '"x%s"' % ("ä" * 100), '"%s"' % ("x" * 110000)]
VALUES = ["null", "true", "-1", "0", "1.5", "1e400", "99999999999999999999", "[]", "[null]", "[7]", '["x"]', "{}",
          '{"x":1}', *TEXTS]
BODIES = [None, "", "{", "[]", "null", "7", '"x"', '{"nobody-knows":1}', "{}", '{"a":1,"a":2}', "\ufeff{}", "[" * 2000,
          '{"a":' * 200 + "1" + "}" * 200, '{"a\\u0000b":1}', "\x00", "---\nname: a\n", "a,b\n1,2\n"]


def sweep_bodies(world, asker):
    schemas = world.daemon.document().root["components"]["schemas"]
    for route, method, operation, body in ways(world):
        path, schema = world.path(route, NOBODY if method == "DELETE" else None), body_schema(operation)
        if method == "GET" or route in BUILT_IN:
            continue
        for text in some(BODIES, 3):
            asker.ask(method, route, path, text and text.encode())
        for name in schemas[schema].get("properties", {}) if schema else []:
            for value in some(VALUES, 5):
                others = {key: one for key, one in json.loads(body).items() if key != name}
                text = json.dumps(others)[:-1] + (", " if others else "") + f'"{name}": {value}}}'
                asker.ask(method, route, path, text.encode())


def sweep(box, how):
    world = World(box)
    asker = Asker(world.daemon)
    how(world, asker)
    expect(asker.asked > 300, f"{asker.asked} questions are not all")
    asker.told()


def on_postgres(box):
    postgres = Postgres()
    box.closing.append(postgres)
    box.env["DORMOUSE_STORE_URL"] = postgres.url


MESSAGES = {
    "message": {"content": "hello"},
    "approval_response": {"gateId": NOBODY, "decision": "approve"},
    "memory_edit_decision": {"request_id": NOBODY, "decision": "approve"},
    "cancel": {"runId": NOBODY},
    "setMode": {"mode": "structured"},
    "resume": {"after": 0},
}
MEMBERS = ["type", "content", "text", "turnId", "mode", "model", "cwd", "maxIterations", "maxTokens", "maxToolCalls", "maxMs",
           "gateId", "decision", "scope", "reason", "input", "edited_content", "answer", "request_id", "runId", "after",
           "nobody-knows"]


# ---- tests ----


@test
def no_socket_is_led_astray_by_what_is_said(box):
    """Whatever is said is answered with events of the document, and so is the last word."""
    world = World(box)
    said = 0
    for kind, body in MESSAGES.items():
        speaker = WebSocket(world.daemon, f"/api/v1/agents/{world.agent}/ws?thread={kind}")
        box.closing.append(speaker)
        for text in BODIES[1:]:
            speaker.say(text)
            said += 1
        for name in MEMBERS:
            for value in some(VALUES, 5):
                others = {key: one for key, one in {"type": kind, **body}.items() if key != name}
                speaker.say(json.dumps(others)[:-1] + f', "{name}": {value}}}')
                said += 1
        speaker.say('{"type": "the last word"}')
        while True:
            event = speaker.hear()
            expect(event is not None, f"{kind}: the socket was closed")
            expect(event["type"] != "error" or event["code"] not in ("internal", "storage_failed"), f"{kind}: {event}")
            if event["type"] == "error" and "the last word" in event["message"]:
                break
            if "seq" in event:
                world.daemon.document().event(event)
    expect(said > 300, f"{said} messages are not all")



@test
def every_route_asks_for_the_token(box):
    world = World(box)
    asker = Asker(world.daemon)
    for route, method, operation, body in ways(world):
        if "security" in operation:
            continue
        for token in (None, "x", world.daemon.token()[:-1], world.daemon.token() + "x"):
            asker.token = token
            status, _ = asker.ask(method, route, world.path(route), body, token is not None)
            if status != 401:
                asker.note(method, route, f"{status} without the token", route)
    asker.told()


@test
def every_route_keeps_pages_of_other_sites_out(box):
    """With the token from a foreign page; with the cookie and no page, where something is done or a WebSocket opened."""
    world = World(box)
    asker = Asker(world.daemon)
    link = world.daemon.ask("POST", "/login-codes", status=201)["url"]
    _, _, _, headers = asker.send("GET", link[link.index("/login"):], None, {})
    cookie = {"Cookie": headers["Set-Cookie"].split(";")[0]}
    foreign = {"Authorization": f"Bearer {asker.token}", "Origin": "http://evil.example"}
    tried = 0
    for route, method, operation, body in ways(world):
        acts = method != "GET" or "101" in operation["responses"]
        for headers in (foreign, cookie) if acts else (foreign,):
            status, _, text, _ = asker.send(method, world.path(route), body, headers)
            tried += 1
            if status != 403 or b"network_denied" not in text:
                asker.note(method, route, f"{status} with {sorted(headers)}", route)
    expect(tried > 200, f"only {tried} were tried")
    expect_eq(asker.send("GET", "/api/v1/agents", None, cookie)[0], 200)
    asker.told()


@test
def every_path_names_the_methods_it_has(box):
    world = World(box)
    asker = Asker(world.daemon)
    paths = world.daemon.document().root["paths"]
    for route, methods in paths.items():
        path = world.path(route)
        # Another route may fit the same path: /agents/import is an agent's path, too.
        known = {name for other, names in paths.items()
                 if re.fullmatch(re.sub(r"\\{\w+\\}", ".+", re.escape(other)), path) for name in names}
        for method in {"get", "put", "post", "patch", "delete"} - known:
            status, headers = asker.ask(method.upper(), route, path, "{}")
            allowed = {name.strip().lower() for name in headers.get("Allow", "").split(",")}
            if status != 405 or not set(methods) <= allowed:
                asker.note(method, route, f"{status}, allowed are {sorted(allowed)}", path)
    asker.told()


@test
def no_route_is_led_astray_by_what_stands_in_its_path(box):
    sweep(box, sweep_paths)


@test
def no_route_is_led_astray_by_its_query(box):
    sweep(box, sweep_queries)


@test
def no_route_is_led_astray_by_its_body(box):
    sweep(box, sweep_bodies)


@test
def no_route_is_led_astray_on_postgres(box):
    on_postgres(box)
    world = World(box)
    asker = Asker(world.daemon)
    for how in (sweep_paths, sweep_queries, sweep_bodies):
        how(world, asker)
    asker.told()


@test
def what_was_put_away_comes_back(box):
    world = World(box)
    ask, agent = world.daemon.ask, world.base
    skill = world.ids["/api/v1/agents/{id}/skills/"]
    ask("DELETE", f"{agent}/skills/{skill}", status=204)
    ask("GET", f"{agent}/skills/{skill}", status=404)
    expect_eq(ask("POST", f"{agent}/skills/{skill}/restore")["skill"]["id"], skill)
    ask("POST", f"{agent}/skills/{skill}/restore", status=404)
    ask("PUT", f"{agent}/memory/knowledge/notes.md", {"content": "# Others\n"})
    expect_eq(ask("POST", f"{agent}/memory-restore/knowledge/notes.md", {"version": 1})["content"], "# Notes\n")
    ask("POST", f"{agent}/memory-restore/knowledge/notes.md", {"version": 99}, status=404)
    ask("POST", "/kill", {"scope": "agent", "value": world.agent})
    expect_eq(ask("DELETE", f"/kill?scope=agent&value={world.agent}"), {"changed": True, "switches": []})
    expect_eq(ask("DELETE", f"/kill?scope=agent&value={world.agent}"), {"changed": False, "switches": []})


@test
def an_attachment_is_renamed_removed_and_back(box):
    world = World(box)
    ask, entry = world.daemon.ask, world.ids["/api/v1/journal/entries/"]
    asker = Asker(world.daemon)
    path = f"/api/v1/journal/attachments?entryId={entry}&fileName=a%20b.txt&contentType=text/plain"
    status, _, text, _ = asker.send("POST", path, b"squeak", {"Authorization": f"Bearer {asker.token}"})
    expect_eq(status, 201)
    one = f"/journal/attachments/{json.loads(text)['id']}"

    def content():
        return world.daemon.get(f"/api/v1{one}/content", {"Authorization": f"Bearer {asker.token}"})

    expect_eq(content(), (200, b"squeak"))
    expect_eq(ask("PATCH", one, {"fileName": "c.txt"})["fileName"], "c.txt")
    ask("PATCH", one, {"fileName": ""}, status=422)
    ask("PATCH", one, {"size": 7}, status=422)
    ask("DELETE", one, status=204)
    expect_eq(content()[0], 404)
    expect_eq(ask("GET", one + "?deleted=true")["fileName"], "c.txt")
    expect_eq(ask("POST", one + "/restore")["fileName"], "c.txt")
    expect_eq(content(), (200, b"squeak"))


@test
def items_move_from_one_checklist_to_another(box):
    world = World(box)
    ask = world.daemon.ask
    here = world.ids["/api/v1/journal/checklists/"]
    there = ask("POST", "/journal/checklists", {"title": "After"}, status=201)["id"]
    item = world.ids["/api/v1/journal/checklist-items/"]
    move = {"itemIds": [item], "fromChecklistId": here, "toChecklistId": there}
    for name in move:
        ask("POST", "/journal/checklist-items/move", {key: move[key] for key in move if key != name}, status=422)
    ask("POST", "/journal/checklist-items/move", {**move, "itemIds": [NOBODY]}, status=404)
    expect_eq(ask("POST", "/journal/checklist-items/move", move), {"moved": 1})
    items = ask("GET", f"/journal/checklist-items?checklistId={there}")["items"]
    expect_eq([one["id"] for one in items], [item])
    ask("POST", "/journal/checklist-items/move", move, status=409)


@test
def an_unknown_member_is_refused_where_bodies_are_read_by_hand(box):
    world = World(box)
    day = "/journal/days/2026-01-01"
    checklist = f"/journal/checklists/{world.ids['/api/v1/journal/checklists/']}"
    task = f"/journal/tasks/{world.ids['/api/v1/journal/tasks/']}"
    for method, path, body in [("POST", "/journal/timer/start", {}), ("POST", "/journal/timer/stop", {}),
                               ("PUT", f"{day}/blocks", {}), ("PUT", f"{day}/pins", {"taskIds": []}),
                               ("POST", f"{task}/labels", {"labels": []}), ("POST", f"{task}/follow-up", {"title": "x"}),
                               ("POST", f"{task}/restore", {}), ("POST", f"{checklist}/items", {"titles": ["x"]}),
                               ("POST", "/journal/quick", {"text": "x"}), ("POST", "/journal/checklist-items/move", {}),
                               ("POST", "/journal/ratings", {"id": "mine"})]:
        error = world.daemon.ask(method, path, {**body, "tilte": 1}, status=422)["error"]
        expect(error["code"] == "schema_violation" and error["message"][0] == "/", f"{path}: {error}")
    expect_in("titles", world.daemon.ask("POST", f"{checklist}/items", {}, status=422)["error"]["message"])


if __name__ == "__main__":
    main()

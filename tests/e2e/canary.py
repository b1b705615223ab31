#!/usr/bin/env python3
"""Secrets that are planted everywhere and then looked for.

What may hold what:
- a *stored* secret is in the Authorization header at its provider, and sealed in DATA/secrets,
  where nobody reads it. It is nowhere else: not where a tool found it in a file, not in the
  answer of a server that repeats it;
- the daemon's environment is nowhere outside the daemon;
- what looks like a secret in what a tool brings is replaced by a mark before it is stored, sent to
  a model or shown. The file itself stays as it is.
"""
import base64
import http.client
import json
import os
import re
import shutil
import sqlite3
import tarfile
import urllib.parse

from accounts_server import SCOPES, AccountsServer, Fault
from harness import WAIT_S, Postgres, expect, expect_eq, expect_in, eventually, main, test
from model_server import ModelServer

MARK = "***REDACTED***"


class Planted:
    """One word of each kind, new each time, none of which looks like a key of a known service."""

    def __init__(self, box):
        self.stored = "Plum" + os.urandom(12).hex()
        self.environ = "Fig" + os.urandom(12).hex()
        self.file = "Quince" + os.urandom(12).hex()
        self.token = "ghp_" + os.urandom(18).hex()
        box.run("secret", "set", "near-key", stdin=self.stored + "\n")
        box.write("work/notes.txt", f"The password: {self.file}\nfor git: {self.token}\n"
                                    f"and {self.stored} as it is\nthe end\n")

    def forms(self):
        """Each word as it is; those that are known by value also in base64, at each alignment."""
        for name in ("stored", "environ", "file", "token"):
            word = getattr(self, name).encode()
            yield name, word
            for before in range(3) if name in ("stored", "environ") else ():
                text = base64.b64encode(b"x" * before + word)
                yield f"{name} in base64", text[4 if before else 0:len(text) - 4]


def descendants(pid):
    """Processes below this one, also inside the sandbox."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass  # it ended
    found = [pid]
    for at in found:
        found += [child for child, parent in parents.items() if parent == at]
    return found[1:]


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def files_of(box):
    for directory, _, names in os.walk(box.dir):
        for name in names:
            path = os.path.join(directory, name)
            if os.path.isfile(path) and path != box.path("work/notes.txt"):
                yield path, read(path)


def interfaces_of(box, daemon):
    """Everything that can be asked for, over HTTP and on the command line."""
    yield "/runs", daemon.ask("GET", "/runs")
    yield "/inbox", daemon.ask("GET", "/inbox?state=all")
    yield "/models", daemon.ask("GET", "/models")
    yield "/metrics", daemon.get("/metrics")[1].decode()
    for run in daemon.ask("GET", "/runs")["runs"]:
        key = run["runId"]
        yield "run", daemon.ask("GET", f"/runs/{key}")
        yield "events", daemon.ask("GET", f"/runs/{key}/events")
        yield "trace over HTTP", daemon.ask("GET", f"/runs/{key}/trace")
        yield "messages", daemon.ask("GET", f"/agents/{run['agentId']}/threads/{run['threadId']}"
                                            "/messages")
        yield "trace", box.run("trace", key)
        yield "trace --json", box.run("trace", key, "--json")
    yield "runs", box.run("runs", "--json")
    yield "trajectories", box.run("trajectories", "export")
    yield "config", box.run("config", "show")
    yield "models", box.run("model", "list", "--json")


def prompts_of(server):
    for headers, body in server.seen:
        yield "a prompt", body
        yield "a header", {k: v for k, v in headers.items() if k != "Authorization"}


def as_bytes(thing):
    if isinstance(thing, bytes):
        return thing
    return json.dumps(thing, ensure_ascii=False).encode()


def look(planted, places):
    """Fails with the place of the first planted word."""
    looked = 0
    for place, content in places:
        looked += 1
        content = as_bytes(content)
        for kind, word in planted.forms():
            at = content.find(word)
            expect(at < 0, f"the secret ({kind}) is in {place}: {content[max(0, at - 100):at + 60]}")
    return looked


def backup_of(box):
    box.run("backup", box.path("b.tar"))
    with tarfile.open(box.path("b.tar")) as archive:
        return [("backup " + m.name, archive.extractfile(m).read()) for m in archive]


def agent_reads_everything(reply):
    """Reads the notes with each tool, and shows the environment it has."""
    steps = {
        0: ("read_file", {"path": "notes.txt"}),
        1: ("search", {"pattern": "password|git|and", "regex": True}),
        2: ("bash", {"command": "cat notes.txt; base64 -w0 notes.txt; cat notes.txt >&2; env"}),
        3: ("bash", {"command": "read -r line < gate"}),
    }
    if reply.is_check():
        reply.check(done=reply.results() > len(steps) - 1)
    elif reply.results() in steps:
        reply.call(*steps[reply.results()])
    else:
        reply.text(f"I saw: {reply.body['messages'][-1]['content']}")


def walk(box, planted, store=None):
    """One run that meets every planted word, watched from all sides."""
    server = ModelServer(box, agent_reads_everything, secret="near-key")
    os.mkfifo(box.path("work/gate"))
    daemon = box.serve(env={"MY_SETTING": planted.environ, "OPENAI_API_KEY": planted.environ})
    stream = daemon.start("look around", mode="wiggum", cwd=box.work)
    for tool in ("read_file", "search", "bash"):
        result = stream.until("tool_result", toolName=tool)
        expect(result["status"] == "completed", result)
        expect_in(MARK, json.dumps(result["output"]))
    # The last command holds still until it is told to go on.
    server.wait(7)
    inside = eventually(lambda: [p for p in descendants(daemon.pid)
                                 if b"read -r line" in read(f"/proc/{p}/cmdline")],
                        "the command runs")
    expect(len(descendants(daemon.pid)) >= 2, "no hand")
    places = []
    for pid in descendants(daemon.pid):
        places += [(f"/proc/{pid}/environ", read(f"/proc/{pid}/environ")),
                   (f"/proc/{pid}/cmdline", read(f"/proc/{pid}/cmdline"))]
    expect(os.geteuid() != 0 or read(f"/proc/{inside[-1]}/environ"), "no environment was read")
    expect(any(name.endswith("-wal") for name in os.listdir(box.data)) or store, "no log to look at")
    look(planted, [*places, *files_of(box)])
    with open(box.path("work/gate"), "w") as gate:
        gate.write("go\n")
    stream.until("tool_result", toolName="bash")
    expect_eq(stream.end()["stopReason"], "end_turn")
    for headers, _ in server.seen:
        expect_eq(headers["Authorization"], f"Bearer {planted.stored}")
    expect_in(MARK, server.seen[-1][1].decode())
    looked = look(planted, [("the stream", stream.raw), *interfaces_of(box, daemon),
                            *prompts_of(server), *files_of(box)])
    expect(looked > 20, f"only {looked} places")
    return daemon


@test
def a_planted_secret_is_found_nowhere(box):
    planted = Planted(box)
    daemon = walk(box, planted)
    backup = backup_of(box)
    expect_in("backup agent.sqlite", [name for name, _ in backup])
    look(planted, [*backup, ("the log", daemon.stop()), *files_of(box)])
    with open(box.path("work/notes.txt")) as file:
        expect_in(planted.stored, file.read())  # what is the person's stays as it is


@test
def nor_with_postgres(box):
    planted = Planted(box)
    postgres = Postgres()
    box.closing.append(postgres)
    box.env["DORMOUSE_STORE_URL"] = postgres.url
    daemon = walk(box, planted, store=postgres)
    tables = postgres.ask("select table_schema || '.' || table_name from information_schema.tables"
                          " where table_schema in ('agent', 'journal')").split("\n")
    expect(len(tables) > 10, tables)
    look(planted, [(table, postgres.ask(f"select * from {table}")) for table in tables])
    look(planted, [("the log", daemon.stop())])


@test
def the_search_finds_what_is_there(box):
    """Or it would prove nothing."""
    planted = Planted(box)
    look(planted, files_of(box))
    for text in (f"xx{planted.stored}yy",
                 base64.b64encode(b"ab" + planted.stored.encode() + b"c").decode()):
        box.write("data/other.txt", text)
        try:
            look(planted, files_of(box))
        except AssertionError as found:
            expect_in("data/other.txt", str(found))
        else:
            raise AssertionError(f"not found: {text}")


@test
def a_server_that_repeats_its_key_is_not_believed(box):
    planted = Planted(box)

    def parrot(reply):
        half = len(planted.stored) // 2
        if reply.prompt() == "say":
            reply.begin()
            reply.part({"content": "your key is " + planted.stored[:half]})
            reply.part({"content": planted.stored[half:] + ", isn't it?"})
            reply.finish("stop")
        elif reply.prompt() == "think":
            reply.begin()
            reply.part({"reasoning_content": f"the key is {planted.stored}"})
            reply.part({"content": "well"})
            reply.finish("stop")
        elif reply.prompt() == "fail":
            reply.fail(401, f"Incorrect API key provided: {planted.stored}")
        else:
            reply.call("bash", {"command": f"echo {planted.stored}"})

    server = ModelServer(box, parrot, secret="near-key")
    daemon = box.serve()
    for prompt, code in (("say", "provider_failed"), ("think", "provider_failed"),
                         ("call", "provider_failed"), ("fail", "secret_unavailable")):
        stream = daemon.start(prompt, cwd=box.work)
        expect_eq(stream.until("error")["code"], code)
        expect_eq(stream.end()["stopReason"], "error")
        look(planted, [("the stream", stream.raw)])
    expect_eq(len(server.seen), 4)
    look(planted, [*interfaces_of(box, daemon), *prompts_of(server), *files_of(box),
                   ("the log", daemon.stop())])


@test
def a_secret_is_known_before_its_first_use(box):
    """A tool that was approved before a restart runs before any model is asked."""
    planted = Planted(box)
    server = ModelServer(box, lambda reply: reply.text("seen") if reply.results() else
                         reply.call("bash", {"command": "cat notes.txt"}), secret="near-key")
    daemon = box.serve()
    stream = daemon.start("look", cwd=box.work)
    item = stream.until("waiting")["itemId"]
    daemon.stop()
    daemon = box.serve()
    daemon.decide(item)
    stream = daemon.follow(stream.key)
    expect_eq(stream.end()["stopReason"], "end_turn")
    look(planted, [("the stream", stream.raw), *interfaces_of(box, daemon), *prompts_of(server),
                   *files_of(box), ("the log", daemon.stop())])


@test
def one_altered_row_is_found(box):
    """The log is what explains a run: no change of it goes unnoticed."""
    box.replays = False
    box.write("work/a.txt", "one\n")
    ModelServer(box, lambda reply: reply.text("there is one line") if reply.results() else
                reply.call("read_file", {"path": "a.txt"}))
    daemon = box.serve()
    stream = daemon.start("how many lines?", cwd=box.work)
    expect_eq(stream.end()["stopReason"], "end_turn")
    daemon.stop()
    expect_eq(box.check_runs(), 1)
    for statement in (
        "update run_events set bits = bits + 1 where n = (select max(n) from run_events)",
        "update run_events set at = at + 1 where n = (select min(n) + 1 from run_events)",
        "delete from run_events where n = (select min(n) + 2 from run_events)",
        "update agent_messages set content = replace(content, 'one line', 'two lines')"
        " where content like '%one line%'",
        "update agent_messages set content = replace(content, 'a.txt', 'b.txt')"
        " where content like '%a.txt%'",
    ):
        altered = shutil.copytree(box.data, box.path("altered"), dirs_exist_ok=True)
        db = sqlite3.connect(os.path.join(altered, "agent.sqlite"), isolation_level=None)
        expect(db.execute(statement).rowcount >= 1, f"nothing to alter: {statement}")
        db.close()
        error = box.error("replay", stream.key[:12], "--check", "--data", altered)
        expect_eq((statement, error["code"]), (statement, "integrity_failed"))

# ---- accounts elsewhere ----


class Accounts:
    """Tokens of accounts, planted by connecting them and looked for like the others."""

    def __init__(self, server):
        self.server = server
        self.slack = "xoxb-" + os.urandom(16).hex()
        self.client = "GOCSPX-" + os.urandom(12).hex()
        self.kept = "Medlar" + os.urandom(12).hex()  # set through the page
        server.slack.tokens[self.slack] = SCOPES
        server.google.clients["desk.apps"] = self.client

    def words(self):
        google = self.server.google
        yield "slack token", self.slack
        yield "client secret", self.client
        yield "a secret of the page", self.kept
        for token in google.refresh_tokens:
            yield "refresh token", token
        for token in google.access_tokens:
            yield "access token", token

    def forms(self):
        for name, word in self.words():
            yield name, word.encode()
            for before in range(3):
                text = base64.b64encode(b"x" * before + word.encode())
                yield f"{name} in base64", text[4 if before else 0:len(text) - 4]


def accounts_of(daemon):
    for path in ("/credentials/slack/status", "/credentials/google/status", "/secrets"):
        yield path, daemon.ask("GET", path)


def all_gets_of(daemon):
    """Every GET of the OpenAPI document, with ids of what there is; those that stream are read for
    a moment. What an id can't be found for is asked with one that is none."""
    document = daemon.ask("GET", "/openapi.json")
    run = daemon.ask("GET", "/runs")["runs"][0]
    item = (daemon.ask("GET", "/inbox?state=all")["items"] or [{}])[0]
    known = {"key": run["runId"], "name": "page-key", "threadId": run["threadId"],
             "thread": run["threadId"], "itemId": item.get("id", "none")}
    for path, methods in document["paths"].items():
        if "get" not in methods:
            continue
        ids = dict(known, id=item.get("id", "none") if "/inbox" in path else run["agentId"])
        for word in re.findall(r"{(\w+)}", path):
            path = path.replace("{%s}" % word, urllib.parse.quote(ids.get(word, "none"), safe=""))
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=WAIT_S)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {daemon.token()}"})
            sock = connection.sock
            answer = connection.getresponse()
            yield f"GET {path}", str(answer.headers).encode() + read_some(sock, answer)
        finally:
            connection.close()


def read_some(sock, answer):
    """All of it; of a stream that does not end what there is in a moment."""
    taken = b""
    if answer.headers.get_content_type() == "text/event-stream":
        sock.settimeout(0.5)
    try:
        while part := answer.read1(1 << 16):
            taken += part
    except TimeoutError:
        pass
    return taken


def page_of(daemon):
    """What a browser that is logged in gets: the page and all that it names."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port)
    connection.request("GET", daemon.hello["login"][len(daemon.hello["url"]):])
    answer = connection.getresponse()
    answer.read()
    headers = {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}
    seen, todo = set(), ["/"]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        status, body = daemon.get(path, headers)
        yield f"page {path}", body
        if status == 200:
            todo += [name.decode() for name in re.findall(rb"[\"'](/?assets/[\w./-]+)[\"']", body)]
            todo = [name if name.startswith("/") else "/" + name for name in todo]


def exports_of(box, daemon):
    for agent in daemon.ask("GET", "/agents")["agents"]:
        path = box.path("export.tar.gz")
        box.run("agent", "export", agent["id"], path)
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile():
                    yield f"export {member.name}", archive.extractfile(member).read()
        os.unlink(path)


def children_of(daemon):
    for pid in descendants(daemon.pid):
        yield f"/proc/{pid}/environ", read(f"/proc/{pid}/environ")
        yield f"/proc/{pid}/cmdline", read(f"/proc/{pid}/cmdline")


@test
def tokens_of_accounts_are_found_nowhere(box):
    """Also when the other side repeats them: in an error, a name, a mail."""
    server = AccountsServer()
    box.closing.append(server)
    box.config(server.config())
    accounts = Accounts(server)
    daemon = box.serve()
    daemon.ask("POST", "/credentials/slack", {"token": accounts.slack})
    flow = daemon.ask("POST", "/credentials/google/start",
                      {"flow": "loopback", "client_secret": accounts.client})
    code, state, _ = server.google.allow(flow["auth_url"])
    expect_eq(daemon.get(f"/oauth/google/callback?code={code}&state={state}")[0], 200)
    daemon.ask("PUT", "/secrets/page-key", {"value": accounts.kept}, status=204)
    daemon.ask("POST", "/secrets/page-key/test", {})
    expect_eq(len(list(accounts.words())), 5)
    server.google.add_mail(f"From: x <x@example.org>\r\nSubject: {accounts.slack}\r\n\r\n"
                           f"{accounts.client}\r\n".encode())
    server.slack.channels[1]["name"] = accounts.client
    parrot = Fault(200, json.dumps({"ok": False, "error": accounts.slack}).encode())
    server.trouble("/api/chat.postMessage", parrot)
    raws = []
    for prompt in ("list slack channels", "list my mail", "send 'hi' to #general on slack"):
        stream = daemon.start(prompt)
        if prompt.startswith("send"):
            daemon.decide(stream.until("waiting")["itemId"])
            item = stream.until("waiting")["itemId"]  # an answer that repeats the token says nothing
            daemon.decide(item, "reject", reason="no")
        stream.end()
        raws.append((prompt, stream.raw))
    expect_in(MARK.encode(), raws[0][1])  # a channel was named like a secret
    expect_in(MARK.encode(), raws[1][1])
    server.trouble("/api/auth.test", Fault(401, f'{{"ok":false,"x":"{accounts.slack}"}}'.encode()))
    daemon.ask("POST", "/credentials/slack/test", {}, status=502)
    box.write("work/notes.txt", "\n".join(word for _, word in accounts.words()))
    os.mkfifo(box.path("work/gate"))
    box.write("work/look.sh", "cat notes.txt; env; read -r line < gate\n")
    stream = daemon.start("run sh look.sh", cwd=box.work)
    daemon.decide(stream.until("waiting")["itemId"])
    eventually(lambda: [p for p in descendants(daemon.pid)
                        if b"look.sh" in read(f"/proc/{p}/cmdline")], "the command runs")
    look(accounts, children_of(daemon))
    with open(box.path("work/gate"), "w") as gate:
        gate.write("go\n")
    expect_in(MARK, json.dumps(stream.until("tool_result", toolName="bash")["output"]))
    stream.end()
    raws.append(("the command", stream.raw))
    routes, page = list(all_gets_of(daemon)), list(page_of(daemon))
    expect(len(routes) > 40, f"only {len(routes)} routes")
    expect(len(page) >= 3, f"only {[name for name, _ in page]}")
    exports = list(exports_of(box, daemon))
    expect(exports, "no agent was exported")
    expect(os.path.isdir(os.path.join(box.data, "files")), "no view of files")
    look(accounts, [*raws, *accounts_of(daemon), *interfaces_of(box, daemon), *files_of(box),
                    *backup_of(box), *routes, *page, *exports])
    look(accounts, [("the log", daemon.stop()), *files_of(box)])
    daemon = box.serve()
    expect_eq(len(daemon.ask("GET", "/secrets")["secrets"]), 4)
    for provider in ("slack", "google"):
        daemon.ask("DELETE", f"/credentials/{provider}", status=204)
    look(accounts, [*accounts_of(daemon), ("the log", daemon.stop()), *files_of(box)])


main()

#!/usr/bin/env python3
"""Models as a user meets them: listed, added, agreed to, tried out."""
import datetime
import http.server
import json
import os
import pty
import re
import select
import threading
import zoneinfo

from harness import BINARY, WAIT_S, expect, expect_eq, expect_in, main, test
from model_server import ModelServer

KEY = "sk-canary-81c2-fig"


class Server:
    """Says hello in Chat Completions, or answers with a status."""

    def __init__(self, status=200):
        seen = self.seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                seen.append((self.path, dict(self.headers), body))
                self.send_response(status)
                self.end_headers()
                if status != 200:
                    self.wfile.write(b'{"error":{"message":"bad key %s"}}' % KEY.encode())
                    return
                for part in ({"choices": [{"delta": {"content": "Hello, "}}]},
                             {"choices": [{"delta": {"content": "\u001b[31mmouse"},
                                           "finish_reason": "stop"}]},
                             {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}):
                    self.wfile.write(f"data: {json.dumps(part)}\n\n".encode())
                self.wfile.write(b"data: [DONE]\n\n")

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, box, *words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(box.work)
                os.execve(BINARY, [BINARY, *words], {**box.env, "TERM": "dumb"})
            finally:
                os._exit(127)
        self.seen = ""

    def read(self):
        ready, _, _ = select.select([self.fd], [], [], WAIT_S)
        expect(ready, f"nothing more after {self.seen!r}")
        try:
            part = os.read(self.fd, 65536).decode()
        except OSError:
            part = ""
        self.seen += part
        return part

    def until(self, text):
        while text not in self.seen:
            expect(self.read(), f"ended before {text!r}: {self.seen!r}")

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        while self.read():
            pass
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def far(box, *more):
    box.run("model", "add", "far", "--provider", "openai", "--model", "big", "--base-url",
            "https://models.invalid/v1", "--policy-version", "v1", "--retention", "30 days", *more)


@test
def without_configuration_there_is_the_offline_model(box):
    rows = box.json("model", "list")["models"]
    expect_eq([(row["id"], row["local"], row["consent"]) for row in rows],
              [("offline", True, "not needed")])
    expect(not os.path.exists(f"{box.data}/agent.sqlite"), "listing made a database")


@test
def a_model_is_added_and_the_rest_of_the_file_stays(box):
    before = "# my file\nagent:\n  name: Ada   # not me\n"
    box.config(before)
    box.run("model", "add", "near", "--provider", "openai", "--base-url", "http://127.0.0.1:9/v1")
    far(box, "--price-input", "3", "--price-output", "15.5", "--trains", "--secret", "the-key")
    with open(f"{box.data}/config.yaml") as file:
        text = file.read()
    expect(text.startswith(before), text)
    expect_eq(os.stat(f"{box.data}/config.yaml").st_mode & 0o777, 0o600)
    expect_eq(box.json("config", "check")["valid"], True)
    rows = {row["id"]: row for row in box.json("model", "list")["models"]}
    expect_eq(list(rows), ["near", "far", "offline"])
    expect_eq((rows["far"]["where"], rows["far"]["consent"]), ("models.invalid", "needed"))
    expect_eq(rows["far"]["price"], {"input": 3, "output": 15.5, "cached": 0})
    out, _ = box.run("model", "list")
    expect_in("ID       PROVIDER  WHERE           MODEL  CONSENT     PRICE", out)
    expect_in("3 in, 15.5 out", out)


@test
def a_daemon_that_runs_knows_a_model_at_once(box):
    server = Server()
    daemon = box.serve()
    expect_eq(box.error("run", "--model", "near", "hi", code=4)["code"], "model_not_allowed")
    out, _ = box.run("model", "add", "near", "--provider", "openai", "--base-url", server.url, "--model", "m")
    expect_in("the daemon that runs knows it", out)
    out, _ = box.run("run", "--model", "near", "hi")
    expect_in("Hello, ", out)
    far(box)
    expect_in("consent given", box.run("model", "consent", "far", "--yes")[0])
    answer = daemon.ask("POST", "/models/reload", {})
    expect_eq([(row["id"], row["consent"]) for row in answer["models"]],
              [("offline", "not_needed"), ("near", "not_needed"), ("far", "given")])
    box.config("models: [{ id: 7 }]\n")
    error = daemon.ask("POST", "/models/reload", {}, status=400)["error"]
    expect_in("config.yaml:1", error["message"])
    box.config("")
    daemon.ask("POST", "/models/reload", {"x": 1}, status=422)
    expect_eq(len(daemon.ask("POST", "/models/reload", {})["models"]), 3)


@test
def what_is_wrong_changes_nothing(box):
    far(box)
    with open(f"{box.data}/config.yaml") as file:
        before = file.read()
    expect_in("there is a model `far` already",
              box.error("model", "add", "far", "--provider", "openai", "--model", "x")["message"])
    expect_in("needs `model`", box.error("model", "add", "b", "--provider", "anthropic")["message"])
    expect_in("provider", box.error("model", "add", "b")["message"])
    expect_in("looks like a secret", box.error(
        "model", "add", "b", "--provider", "anthropic", "--model", "x", "--secret",
        "sk-ant-api03-" + "aB3" * 20)["message"])
    expect_in("a number is expected", box.error(
        "model", "add", "b", "--provider", "openai", "--model", "x", "--price-input", "dear")["message"])
    expect_in("must begin with http", box.error(
        "model", "add", "b", "--provider", "openai", "--base-url", "ftp://x")["message"])
    box.error("model", "add", "b", "--provider", "telepathy", code=2)
    with open(f"{box.data}/config.yaml") as file:
        expect_eq(file.read(), before)


@test
def a_linked_configuration_stays_linked(box):
    os.makedirs(box.data, mode=0o700, exist_ok=True)
    target = box.write("dotfiles/config.yaml", "agent:\n  name: Ada\n")
    os.symlink(target, f"{box.data}/config.yaml")
    far(box)
    expect(os.path.islink(f"{box.data}/config.yaml"), "the link was replaced")
    with open(target) as file:
        expect_in("id: far", file.read())


@test
def consent_is_asked_for_recorded_and_taken_back(box):
    far(box)
    error = box.error("model", "consent", "far", code=4)
    expect_eq(error["code"], "privacy_confirmation_required")
    error = box.error("model", "test", "far", code=4)
    expect_in("nobody has agreed to send text to models.invalid", error["message"])
    given = box.json("model", "consent", "far", "--yes")
    expect_eq((given["consent"], given["host"], given["policy_version"]),
              ("given", "models.invalid", "v1"))
    expect_eq(box.json("model", "list")["models"][0]["consent"], "given")
    # Another version of the terms asks again.
    with open(f"{box.data}/config.yaml") as file:
        text = file.read()
    box.config(text.replace("v1\n", "v2\n"))
    expect_eq(box.json("model", "list")["models"][0]["consent"], "needed")
    box.config(text)
    expect_eq(box.json("model", "list")["models"][0]["consent"], "given")
    box.run("model", "consent", "far", "--withdraw")
    expect_eq(box.json("model", "list")["models"][0]["consent"], "needed")
    expect_eq(box.error("model", "consent", "far", "--withdraw")["code"], "not_found")
    expect_eq(box.error("model", "consent", "nobody", "--yes")["code"], "not_found")


@test
def a_person_sees_the_facts_before_agreeing(box):
    far(box)
    for answer, code, state in (("n\n", 4, "needed"), ("\n", 4, "needed"), ("y\n", 0, "given")):
        terminal = Terminal(box, "model", "consent", "far")
        terminal.until("[y/N]")
        for fact in ("models.invalid", "v1", "30 days", "not said"):
            expect_in(fact, terminal.seen)
        terminal.type(answer)
        expect_eq(terminal.end(), code)
        expect_eq(box.json("model", "list")["models"][0]["consent"], state)


@test
def a_model_on_this_machine_needs_no_consent(box):
    box.run("model", "add", "near", "--provider", "openai", "--base-url", "http://localhost:9/v1")
    out, _ = box.run("model", "consent", "near")
    expect_in("not needed", out)


@test
def a_model_is_tried_out(box):
    server = Server()
    box.run("model", "add", "near", "--provider", "openai", "--base-url", server.url, "--model", "m",
            "--secret", "the-key", "--price-input", "1000")
    error = box.error("model", "test", "near")
    expect_eq(error["code"], "secret_unavailable")
    expect_in("dormouse secret set the-key", error["message"])
    expect_eq(server.seen, [])
    box.run("secret", "set", "the-key", stdin=KEY)
    answer = box.json("model", "test", "near")
    expect_eq((answer["text"], answer["input_tokens"], answer["output_tokens"], answer["estimated"]),
              ("Hello, \u001b[31mmouse", 9, 4, False))
    expect_eq(answer["cost"], 0.009)
    path, headers, body = server.seen[0]
    expect_eq((path, headers["Authorization"], body["model"]),
              ("/v1/chat/completions", f"Bearer {KEY}", "m"))
    out, _ = box.run("model", "test", "near")
    expect_in("near answered after ", out)
    expect_in("\\x1b[31mmouse", out)  # what a server says does not reach the terminal raw


@test
def a_refused_key_is_named_and_not_shown(box):
    server = Server(status=401)
    box.run("model", "add", "near", "--provider", "openai", "--base-url", server.url, "--secret",
            "the-key")
    box.run("secret", "set", "the-key", stdin=KEY)
    error = box.error("model", "test", "near")
    expect_in('check the secret "the-key": dormouse secret set the-key', error["message"])
    expect(KEY not in error["message"], error)


@test
def config_check_reads_the_scripts_of_models(box):
    box.config("agent: { model: rehearsal }\nmodels:\n  - { id: rehearsal, provider: script, script: play.yaml }\n")
    path = os.path.join(box.data, "play.yaml")
    cases = ((None, "play.yaml"), ("steps: [", "play.yaml"), ("steps:\n  - reply: { txt: hello }\n", "txt"))
    for text, named in cases:
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        expect_in(named, box.error("config", "check")["message"])
    with open(path, "w", encoding="utf-8") as file:
        file.write("steps:\n  - reply: { text: hello }\n")
    expect_eq(box.run("config", "check")[0], "the configuration is valid\n")


def tomorrow_by(reply):
    """The day after the one that the prompt names; a model has no other clock."""
    day = re.search(r"\d{4}-\d\d-\d\d", reply.present())[0]
    return str(datetime.date.fromisoformat(day) + datetime.timedelta(days=1))


@test
def a_model_that_knows_only_its_prompt_can_tell_the_day_and_where_it_is(box):
    seen = []

    def model(reply):
        seen.append(reply.present())
        if reply.results():
            reply.text(f"It is due {tomorrow_by(reply)}.")
        else:
            reply.call("read_file", {"path": re.search(r"directory is (/.*)\.\]$", reply.present())[1]})

    ModelServer(box, model)
    box.write("work/list.txt", "x")
    zone = "Pacific/Kiritimati"  # where it is tomorrow already
    here = datetime.datetime.now(zoneinfo.ZoneInfo(zone)).date()
    out, _ = box.run("run", "when is it due?", env={"TZ": zone})
    expect_in(str(here + datetime.timedelta(days=1)), out)
    expect_in("list.txt", out)
    expect_eq(len(seen), 2)
    for present in seen:
        expect_in(f"{here:%A}, {here}T", present)
        expect_in("in Pacific/Kiritimati (UTC+14:00)", present)


main()

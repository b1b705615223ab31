#!/usr/bin/env python3
"""No reply hangs a run: whatever a model says, the run goes on with an error or ends with one.

Each case is sent by a real HTTP server in the format of each provider, to a run in each mode, until the
model is told what came of it; then the server speaks sensibly. Fields stand here as JSON text, so that they can be what no
library would write.
"""
import http.server
import json
import re
import threading

from harness import eventually, expect, expect_eq, expect_in, main, test

NUL, LONE, BROKEN = b'"\\u0000"', b'"\\ud800x"', b'"\xff\xfe\xc3"'
EMPTY = b'"{}"'


def text(value):
    return json.dumps(value).encode()


def call(name=b'"note"', arguments=EMPTY, id=b'"c1"'):
    return {"name": name, "arguments": arguments, "id": id}


def deep(n):
    return text('{"a":' * n + "1" + "}" * n)


CASES = {
    "a NUL as name": [call(NUL)],
    "a NUL in a name": [call(b'"ba\\u0000sh"', text('{"command":"ls"}'))],
    "a NUL as id": [call(b'"bash"', id=NUL)],
    "a NUL in arguments": [call(b'"bash"', text('{"command":"a\\u0000b"}'))],
    "a NUL beside arguments": [call(b'"bash"', b'"{}\\u0000"')],
    "a NUL in a path": [call(b'"write_file"', text('{"path":"a\\u0000b","content":"x\\u0000"}'))],
    "a NUL in a question": [call(b'"ask_user"', b'"{\\"question\\":1}\\u0000"')],
    "a NUL in what is remembered": [call(b'"write_memory"', text(
        '{"path":"a\\u0000.md","operation":"write","content":"\\u0000","reason":"\\u0000"}'))],
    "a lone surrogate as name": [call(LONE)],
    "a lone surrogate in arguments": [call(b'"bash"', text('{"command":"\\ud800"}'))],
    "broken UTF-8 as name": [call(BROKEN)],
    "broken UTF-8 as id": [call(b'"bash"', id=BROKEN)],
    "broken UTF-8 in arguments": [call(b'"bash"', b'"{\\"command\\":\\"\xff\\"}"')],
    "no name": [call(b'""')],
    "no id": [call(b'"bash"', id=b'""')],
    "a name that is a number": [call(b"17")],
    "an id that is a number": [call(b'"bash"', id=b"17")],
    "a long name": [call(text("n" * 10000))],
    "a long id": [call(b'"bash"', id=text("i" * 10000))],
    "ten thousand calls": [call(text(f"n{i}"), id=text(f"i{i}")) for i in range(10000)],
    "the same id twice": [call(b'"bash"'), call(b'"read_file"')],
    "huge arguments": [call(b'"bash"', text('{"command":"' + "x" * 3000000 + '"}'))],
    "arguments past every limit": [call(b'"bash"', text('{"command":"' + "x" * 5000000 + '"}'))],
    "a number out of range": [call(b'"bash"', text('{"command":"ls","timeout_s":1e999}'))],
    "an integer out of range": [call(b'"bash"', text('{"command":"ls","timeout_s":' + "9" * 400 + "}"))],
    "nested arguments": [call(b'"bash"', deep(200))],
    "deeply nested arguments": [call(b'"bash"', deep(100000))],
    "arguments that are a list": [call(b'"bash"', text("[]"))],
    "arguments that are null": [call(b'"bash"', text("null"))],
    "arguments that are text": [call(b'"bash"', text('"ls"'))],
    "arguments that are a number": [call(b'"bash"', b"17")],
    "arguments twice": [call(b'"bash"', text('{"command":"ls"}{"command":"ls"}'))],
    "arguments that break off": [call(b'"bash"', text('{"command":"l'))],
    "a NUL as text": NUL,
    "a lone surrogate as text": LONE,
    "broken UTF-8 as text": BROKEN,
    "nothing": b'""',
    "control characters as text": text("".join(map(chr, range(32)))),
    "text past every limit": text("x" * 5000000),
}


def openai(reply):
    if isinstance(reply, bytes):
        delta = b'"content":' + reply
    else:
        calls = (b'{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}'
                 % (i, c["id"], c["name"], c["arguments"]) for i, c in enumerate(reply))
        delta = b'"tool_calls":[' + b",".join(calls) + b"]"
    return (b'data: {"choices":[{"index":0,"delta":{' + delta + b'},"finish_reason":"stop"}]}\n\n'
            b"data: [DONE]\n\n")


def anthropic(reply):
    out = [b'{"type":"message_start","message":{"usage":{"input_tokens":1}}}']
    for i, c in enumerate([reply] if isinstance(reply, bytes) else reply):
        if isinstance(c, bytes):
            start = b'{"type":"text","text":""}'
            delta = b'{"type":"text_delta","text":%s}' % c
        else:
            start = b'{"type":"tool_use","id":%s,"name":%s,"input":{}}' % (c["id"], c["name"])
            delta = b'{"type":"input_json_delta","partial_json":%s}' % c["arguments"]
        out += [b'{"type":"content_block_start","index":%d,"content_block":%s}' % (i, start),
                b'{"type":"content_block_delta","index":%d,"delta":%s}' % (i, delta)]
    out += [b'{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}',
            b'{"type":"message_stop"}']
    return b"".join(b"data: " + line + b"\n\n" for line in out)


def inner(value):
    """What stands between the quotes."""
    return value[1:-1] if value[:1] == b'"' else value


def functiongemma(reply):
    if isinstance(reply, bytes):
        said = inner(reply)
    else:
        said = b"".join(b"<start_function_call>call:" + inner(c["name"]) + inner(c["arguments"]) +
                        b"<end_function_call>" for c in reply)
    return b'data: {"content":"' + said + b'","stop":true}\n\n'


def answered(body):
    return any(mark in body for mark in ('"role":"assistant"', "<start_function_response>"))


class Server:
    """Says the case that the prompt names until it is told of its answer; then something sensible."""

    def __init__(self, box, form):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(handler):
                body = handler.rfile.read(int(handler.headers["Content-Length"])).decode()
                name = re.search(r"Case <([^>]*)>", body).group(1)
                if "Is the task done?" in body:
                    reply = text('{"done":true}')
                elif answered(body):
                    reply = text("All well.")
                else:
                    reply = CASES[name.split(", ")[0]]
                handler.send_response(200)
                handler.send_header("Content-Type", "text/event-stream")
                handler.end_headers()
                try:
                    handler.wfile.write(form(reply))
                except OSError:  # it was too much
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        box.closing.append(self)
        box.config("agent: { model: near }\nmodels:\n  - id: near\n    model: mock\n"
                   f"    provider: {form.__name__}\n"
                   f"    base_url: http://127.0.0.1:{self.server.server_port}\n")

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def begin(daemon, prompt, **more):
    stream = daemon.start(prompt, session=prompt, **more)
    stream.close()
    return stream.key


def check(daemon, name, key):
    """The run is over, or waits for a person who finds something in the inbox."""
    def stands():
        run = daemon.ask("GET", f"/runs/{key}")
        return run if run["status"] in ("done", "failed", "waiting") else None

    run = eventually(stands, f"{name}: the run to move")
    if run["status"] == "waiting":
        expect_eq((name, run.get("waitKind")), (name, "inbox"))
        item = daemon.ask("GET", f"/inbox/{run['waitItem']}")
        expect_eq((name, item["state"]), (name, "pending"))
        daemon.decide(item["id"], "reject")
        return check(daemon, name, key)
    if run["status"] == "failed":
        expect(run["error"]["message"], f"{name}: failed without a word")
    return run


def all_cases(box, form):
    Server(box, form)
    daemon = box.serve()
    runs = {f"{case}, {mode}": begin(daemon, f"Case <{case}, {mode}>", mode=mode)
            for case in CASES for mode in ("structured", "wiggum")}
    ends = {name: check(daemon, name, key) for name, key in runs.items()}
    # What can be told to the model is told to it: only what no run could keep ends one.
    for name, run in ends.items():
        if run["status"] == "failed":
            expect(run["error"]["code"] in ("too_large", "provider_failed"), f"{name}: {run['error']}")
    expect_eq(daemon.ask("GET", "/inbox")["items"], [])
    expect_eq(ends["a NUL as name, structured"]["result"], "All well.")
    daemon.stop()


@test
def no_reply_of_a_chat_completions_server_hangs_a_run(box):
    all_cases(box, openai)


@test
def no_reply_of_a_messages_server_hangs_a_run(box):
    all_cases(box, anthropic)


@test
def no_reply_of_a_small_model_hangs_a_run(box):
    all_cases(box, functiongemma)


@test
def an_error_that_is_no_text_ends_the_run_with_what_can_be_read_of_it(box):
    """Of the provider, not of the model: what it says goes into the run's row."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(400)
            self.end_headers()
            self.wfile.write(b'{"error":{"message":"no\\u0000 \xff\xfe way"}}')

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    box.config("agent: { model: near }\nmodels:\n  - { id: near, model: mock, provider: openai, "
               f"base_url: 'http://127.0.0.1:{server.server_port}' }}\n")
    daemon = box.serve()
    run = check(daemon, "an error", begin(daemon, "go"))
    expect_eq(run["status"], "failed")
    expect_in("near", run["error"]["message"])
    daemon.stop()
    server.shutdown()
    server.server_close()


main()

"""A model server on loopback that speaks Chat Completions, well or badly, as a test wants.

Each request is handed to the function that the test gave, with a Reply to write to; what was
received stays in `seen`. Requests are answered side by side.
"""
import http.server
import json
import socket
import threading

from harness import WAIT_S, expect


class Reply:
    """One answer under way."""

    def __init__(self, handler, body):
        self.handler = handler
        self.body = body
        self.headers = dict(handler.headers)

    def begin(self, status=200, **headers):
        self.handler.send_response(status)
        self.handler.send_header("Content-Type", "text/event-stream")
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()

    def bytes(self, data):
        self.handler.wfile.write(data)
        self.handler.wfile.flush()

    def part(self, delta, **more):
        self.bytes(b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, **more}]})
                   .encode() + b"\n\n")

    def text(self, text):
        self.begin()
        self.part({"role": "assistant", "content": text})
        self.finish("stop")

    def call(self, name, *calls):
        """Calls of one tool, with these arguments each."""
        self.begin()
        for i, arguments in enumerate(calls):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            self.part({"tool_calls": [{"index": i, "id": f"c{self.results()}x{i}",
                                       "type": "function",
                                       "function": {"name": name, "arguments": text}}]})
        self.finish("tool_calls")

    def finish(self, reason):
        self.part({}, finish_reason=reason)
        self.bytes(b"data: [DONE]\n\n")

    def fail(self, status, message, **headers):
        self.begin(status, **headers)
        self.bytes(json.dumps({"error": {"message": message}}).encode())

    def reset(self):
        """Ends the connection in the middle."""
        self.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                           b"\1\0\0\0\0\0\0\0")
        self.handler.connection.close()

    def gone(self):
        """Waits until the client has left."""
        self.handler.connection.settimeout(WAIT_S)
        try:
            return self.handler.connection.recv(1) == b""
        except ConnectionError:
            return True

    # ---- what was asked ----

    def results(self):
        """How many tool results there are."""
        return sum(message["role"] == "tool" for message in self.body["messages"])

    def prompt(self):
        """What the person said first."""
        said = next(m["content"] for m in self.body["messages"] if m["role"] == "user")
        return said.removesuffix("\n\n" + self.present())

    def present(self):
        """When and where it is asked: the last line of every request."""
        return self.body["messages"][-1]["content"].rsplit("\n\n", 1)[-1]

    def is_check(self):
        """Wiggum mode asks after each round whether the task is done."""
        return self.body["messages"][-1]["content"].startswith("Is the task done?")

    def check(self, done):
        self.text(json.dumps({"done": done} if done else {"done": False, "next": "the rest"}))


class ModelServer:
    """`answer(reply)` is called for each request, in a thread of its own."""

    def __init__(self, box, answer, secret=None):
        self.seen = []
        self.arrived = threading.Condition()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                reply = Reply(self, json.loads(raw))
                with outer.arrived:
                    outer.seen.append((dict(self.headers), raw))
                    outer.arrived.notify_all()
                try:
                    answer(reply)
                except OSError:  # the client left
                    pass
                self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        box.closing.append(self)
        ref = f"    secret_ref: {secret}\n" if secret else ""
        box.config("agent: { model: near }\nmodels:\n  - id: near\n    provider: openai\n"
                   f"    base_url: http://127.0.0.1:{self.port}/v1\n    model: mock\n{ref}")

    def wait(self, n):
        """Until n requests have come."""
        with self.arrived:
            expect(self.arrived.wait_for(lambda: len(self.seen) >= n, WAIT_S),
                   f"{len(self.seen)} of {n} requests came")

    def close(self):
        self.server.shutdown()
        self.server.server_close()

#!/usr/bin/env python3
"""Speaks as much of llama-server's protocol as the supervisor and the provider use.

The "model file" says how it behaves, a word and its arguments a line:
  loading N    the first N health checks say 503
  die TEXT     prints TEXT and exits with 3
  crash FILE   exits inside its first completion, unless FILE exists; makes FILE
  hang         never becomes healthy
  say JSON     pieces of the answer, a JSON list of strings
  overflow     answers that the prompt does not fit
  log TEXT     prints TEXT
"""
import argparse
import http.server
import json
import os
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--model", required=True)
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--ctx-size", type=int, default=0)
parser.add_argument("--special", action="store_true")
options = parser.parse_args()

how = {}
with open(options.model, encoding="utf-8") as file:
    for line in file:
        word, _, rest = line.strip().partition(" ")
        how[word] = rest

if "log" in how:
    print(how["log"], flush=True)
if "die" in how:
    print(how["die"], file=sys.stderr, flush=True)
    sys.exit(3)

loading = int(how.get("loading", "0"))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        global loading
        if self.path != "/health":
            self.answer(404, {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}})
        elif "hang" in how or loading > 0:
            loading -= 1
            self.answer(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
        else:
            self.answer(200, {"status": "ok"})

    def chunk(self, value):
        data = ("data: " + json.dumps(value) + "\n\n").encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "crash" in how and not os.path.exists(how["crash"]):
            open(how["crash"], "w").close()
            os._exit(7)
        if "overflow" in how:
            self.answer(400, {"error": {"code": 400, "message": "the request exceeds the available context size, try increasing it",
                                        "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 512}})
            return
        if self.path != "/completion" or not request["stream"] or "<start_of_turn>model\n" not in request["prompt"]:
            self.answer(400, {"error": {"code": 400, "message": "not a raw completion", "type": "invalid_request_error"}})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in json.loads(how.get("say", '["Hello"]')):
            self.chunk({"index": 0, "content": piece, "tokens": [], "stop": False, "id_slot": 0})
        self.chunk({"index": 0, "content": "", "stop": True, "stop_type": "limit" if "limit" in how else "word",
                    "model": "fake ctx %d" % options.ctx_size, "tokens_predicted": 5, "tokens_evaluated": 42,
                    "tokens_cached": 46, "timings": {"cache_n": 30, "prompt_n": 12}})
        self.wfile.write(b"0\r\n\r\n")


http.server.ThreadingHTTPServer((options.host, options.port), Handler).serve_forever()

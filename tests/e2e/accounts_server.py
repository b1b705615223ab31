"""Slack, Gmail, Calendar and Google's OAuth on loopback, as far as Dormouse speaks to them.

Bodies may be JSON or forms, parameters may stand in the query, as the real services take them. What
came in stays in `seen`; `trouble(path, fault)` makes the next request to a path go wrong. Run as a
program it serves until standard input ends, and prints its port, then the messages that it was sent for
each line it reads: foreign clients use it too.
"""
import base64
import hashlib
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse

SCOPES = "channels:read,groups:read,chat:write"


def channels(n):
    return [{"id": f"C{i:08d}", "name": "general" if i == 0 else f"room-{i}", "is_channel": True,
             "is_private": i % 3 == 2, "is_member": i % 2 == 0} for i in range(n)]


class Fault:
    """What goes wrong, once: a status with a body, or something below HTTP."""

    def __init__(self, status=200, body=b"", headers=None, kind="answer", done=False):
        self.status, self.body, self.headers = status, body, headers or {}
        self.kind = kind  # answer, reset, stall, huge
        self.done = done  # the request takes effect first


class Request:
    def __init__(self, handler):
        self.handler = handler
        self.method = handler.command
        url = urllib.parse.urlsplit(handler.path)
        self.path = url.path
        self.headers = dict(handler.headers)
        self.raw = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        self.query = dict(urllib.parse.parse_qsl(url.query))
        self.body = {}
        kind = handler.headers.get("Content-Type") or ""
        if "json" in kind and self.raw:
            self.body = json.loads(self.raw)
        elif "form" in kind:
            self.body = dict(urllib.parse.parse_qsl(self.raw.decode()))

    def given(self, name, otherwise=None):
        return self.body.get(name, self.query.get(name, otherwise))

    def bearer(self):
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    def answer(self, value, status=200, **headers):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.handler.send_response(status)
        self.handler.send_header("Content-Type", headers.pop("type", "application/json"))
        self.handler.send_header("Content-Length", str(len(body)))
        for name, text in headers.items():
            self.handler.send_header(name.replace("_", "-"), text)
        self.handler.end_headers()
        self.handler.wfile.write(body)


class Slack:
    def __init__(self):
        self.tokens = {}  # token -> scopes
        self.channels = channels(7)
        self.messages = []

    def answer(self, request):
        method = request.path.rsplit("/", 1)[1]
        scopes = self.tokens.get(request.bearer() or request.given("token"))
        if scopes is None:
            return {"ok": False, "error": "invalid_auth"}, {}
        needed = {"conversations.list": "channels:read", "conversations.info": "channels:read",
                  "chat.postMessage": "chat:write"}.get(method)
        headers = {"X_OAuth_Scopes": scopes}
        if needed and needed not in scopes:
            return {"ok": False, "error": "missing_scope", "needed": needed,
                    "provided": scopes}, headers
        return getattr(self, method.replace(".", "_"), self.unknown)(request), headers

    def unknown(self, _):
        return {"ok": False, "error": "unknown_method"}

    def auth_test(self, _):
        return {"ok": True, "url": "https://mice.slack.com/", "team": "Mice & Men", "user": "dormouse",
                "team_id": "T0MICE", "user_id": "U0BOT", "bot_id": "B0BOT"}

    def conversations_list(self, request):
        at = int(request.given("cursor") or 0)
        limit = min(int(request.given("limit", 100)), 3)  # small pages, as Slack may give
        page = self.channels[at:at + limit]
        after = at + limit
        return {"ok": True, "channels": page, "response_metadata": {
            "next_cursor": str(after) if after < len(self.channels) else ""}}

    def conversations_info(self, request):
        for channel in self.channels:
            if channel["id"] == request.given("channel"):
                return {"ok": True, "channel": channel}
        return {"ok": False, "error": "channel_not_found"}

    def chat_postMessage(self, request):
        channel = next((c for c in self.channels if c["id"] == request.given("channel")), None)
        if not channel:
            return {"ok": False, "error": "channel_not_found"}
        if not channel["is_member"]:
            return {"ok": False, "error": "not_in_channel"}
        self.messages.append((channel["id"], request.given("text")))
        return {"ok": True, "channel": channel["id"], "ts": f"1700000000.{len(self.messages):06d}",
                "message": {"type": "message", "text": request.given("text")}}


class Google:
    def __init__(self):
        self.address = "ada@example.org"
        self.clients = {"desk.apps": "desk-secret"}
        self.refresh_tokens, self.access_tokens, self.codes = set(), {}, {}
        self.device = None  # {"code", "state": pending|slow_down|allowed|denied|expired}
        self.rotates = False
        self.expires_in = 3600
        self.mails = {}  # id -> bytes
        self.labels = {}
        self.drafts, self.sent = [], []
        self.events = {}
        self.revoked = []
        self.scopes = ""

    def add_mail(self, raw, labels=("INBOX", "UNREAD")):
        key = f"m{len(self.mails) + 1}"
        self.mails[key] = raw
        self.labels[key] = list(labels)
        return key

    # ---- OAuth ----

    def grant(self, refresh=True):
        access = "ya29." + os.urandom(20).hex()
        self.access_tokens[access] = time.time() + self.expires_in
        answer = {"access_token": access, "expires_in": self.expires_in, "token_type": "Bearer",
                  "scope": self.scopes}
        if refresh:
            token = "1//" + os.urandom(20).hex()
            self.refresh_tokens.add(token)
            answer["refresh_token"] = token
        return answer

    def allow(self, auth_url):
        """What a browser and a person do with the address: the code and state that come back."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(auth_url).query))
        assert query["client_id"] in self.clients and query["response_type"] == "code", query
        assert query["code_challenge_method"] == "S256" and query["access_type"] == "offline", query
        code = "4/" + os.urandom(12).hex()
        self.codes[code] = (query["code_challenge"], query["redirect_uri"])
        self.scopes = query["scope"]
        return code, query["state"], query["redirect_uri"]

    def token(self, request):
        kind = request.given("grant_type")
        if self.clients.get(request.given("client_id")) != request.given("client_secret"):
            return {"error": "invalid_client"}, 401
        if kind == "authorization_code":
            challenge, redirect = self.codes.pop(request.given("code"), (None, None))
            digest = hashlib.sha256(request.given("code_verifier", "").encode()).digest()
            if not challenge or redirect != request.given("redirect_uri") or \
                    base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != challenge:
                return {"error": "invalid_grant", "error_description": "Bad Request"}, 400
            return self.grant(), 200
        if kind == "refresh_token":
            token = request.given("refresh_token")
            if token not in self.refresh_tokens:
                return {"error": "invalid_grant",
                        "error_description": "Token has been expired or revoked."}, 400
            if self.rotates:
                self.refresh_tokens.discard(token)
            return self.grant(refresh=self.rotates), 200
        if kind == "urn:ietf:params:oauth:grant-type:device_code":
            return self.device_token(request)
        return {"error": "unsupported_grant_type"}, 400

    def device_code(self, request):
        self.scopes = request.given("scope")
        self.device = {"code": os.urandom(12).hex(), "state": "authorization_pending"}
        return {"device_code": self.device["code"], "user_code": "GQVQ-JKEC", "interval": 1,
                "verification_url": "https://www.google.com/device", "expires_in": 1800}, 200

    def device_token(self, request):
        if not self.device or request.given("device_code") != self.device["code"]:
            return {"error": "invalid_grant"}, 400
        if self.device["state"] == "allowed":
            return self.grant(), 200
        return {"error": self.device["state"]}, 428 if "pending" in self.device["state"] else 403

    def revoke(self, request):
        token = request.given("token")
        self.revoked.append(token)
        known = token in self.refresh_tokens
        self.refresh_tokens.discard(token)
        return ({}, 200) if known else ({"error": "invalid_token"}, 400)

    # ---- the APIs ----

    def answer(self, request):
        path = request.path
        if path == "/token":
            return self.token(request)
        if path == "/device/code":
            return self.device_code(request)
        if path == "/revoke":
            return self.revoke(request)
        if self.access_tokens.get(request.bearer(), 0) < time.time():
            return self.error(401, "Request had invalid authentication credentials.",
                              "UNAUTHENTICATED")
        if path.startswith("/gmail/v1/users/me/"):
            return self.gmail(request, path[len("/gmail/v1/users/me/"):])
        if path.startswith("/calendar/v3/calendars/"):
            return self.calendar(request, path[len("/calendar/v3/calendars/"):])
        return self.error(404, "Not Found", "NOT_FOUND")

    @staticmethod
    def error(code, message, status):
        return {"error": {"code": code, "message": message, "status": status}}, code

    def gmail(self, request, path):
        if path == "profile":
            return {"emailAddress": self.address, "messagesTotal": len(self.mails)}, 200
        if path == "messages" and request.method == "GET":
            query = request.given("q", "")
            keys = [key for key in self.mails if "is:unread" not in query or
                    "UNREAD" in self.labels[key]]
            at, size = int(request.given("pageToken") or 0), int(request.given("maxResults", 100))
            answer = {"messages": [{"id": key, "threadId": "t" + key}
                                   for key in keys[at:at + size]],
                      "resultSizeEstimate": len(keys)}
            if at + size < len(keys):
                answer["nextPageToken"] = str(at + size)
            return answer, 200
        if path in ("messages/send", "drafts"):
            message = request.body["message"] if path == "drafts" else request.body
            raw = base64.urlsafe_b64decode(message["raw"] + "===")
            (self.drafts if path == "drafts" else self.sent).append((raw, message.get("threadId")))
            made = {"id": f"s{len(self.sent)}", "threadId": message.get("threadId", "t1")}
            return ({"id": f"r{len(self.drafts)}", "message": made} if path == "drafts"
                    else {**made, "labelIds": ["SENT"]}), 200
        key = path.split("/")[-1]
        if key not in self.mails:
            return self.error(404, "Requested entity was not found.", "NOT_FOUND")
        message = {"id": key, "threadId": "t" + key, "labelIds": self.labels[key],
                   "snippet": "A snippet", "sizeEstimate": len(self.mails[key])}
        if request.given("format") == "raw":
            message["raw"] = base64.urlsafe_b64encode(self.mails[key]).decode()
        else:
            head = self.mails[key].split(b"\r\n\r\n")[0].decode("utf-8", "replace")
            lines = head.replace("\r\n ", " ").replace("\r\n\t", " ").split("\r\n")
            message["payload"] = {"headers": [
                dict(zip(("name", "value"), line.split(": ", 1))) for line in lines
                if line.split(":")[0].lower() in ("from", "to", "subject", "date", "message-id",
                                                    "references")]}
        return message, 200

    def calendar(self, request, path):
        parts = path.split("/")
        if parts[1:] == ["events"] and request.method == "GET":
            items = sorted(self.events.values(), key=lambda e: e["start"].get(
                "dateTime", e["start"].get("date")))
            return {"kind": "calendar#events", "timeZone": "Europe/Berlin", "items": items}, 200
        if parts[1:] == ["events"]:
            key = f"e{len(self.events) + 1}"
            self.events[key] = {"id": key, "etag": '"1"', "status": "confirmed",
                                "htmlLink": f"https://calendar.example/{key}", **request.body}
            return self.events[key], 200
        event = self.events.get(parts[2])
        if not event:
            return self.error(404, "Not Found", "NOT_FOUND")
        if request.method == "PATCH":
            if request.headers.get("If-Match") not in (None, event["etag"]):
                return self.error(412, "Precondition Failed", "FAILED_PRECONDITION")
            event.update(request.body)
            event["etag"] = f'"{int(event["etag"].strip(chr(34))) + 1}"'
        return event, 200


class AccountsServer:
    def __init__(self):
        self.slack, self.google = Slack(), Google()
        self.seen, self.faults = [], {}
        self.arrived = threading.Condition()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                try:
                    outer.handle(Request(self))
                except OSError:  # the client left
                    self.close_connection = True

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_any

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def config(self):
        return (f"connect:\n  slack: {{ base_url: '{self.url}/api/' }}\n"
                f"  google: {{ base_url: '{self.url}', auth_url: '{self.url}/auth',"
                f" token_url: '{self.url}/token', client_id: desk.apps }}\n")

    def trouble(self, path, *faults):
        """The next requests to this path go wrong in these ways, one each."""
        self.faults.setdefault(path, []).extend(faults)

    def paths(self):
        return [request.path for request in self.seen]

    def wait(self, path, n=1, seconds=60):
        with self.arrived:
            assert self.arrived.wait_for(lambda: self.paths().count(path) >= n, seconds), self.paths()

    def handle(self, request):
        with self.arrived:
            self.seen.append(request)
            self.arrived.notify_all()
        fault = self.faults.get(request.path) and self.faults[request.path].pop(0)
        if fault and not fault.done:
            self.fail(request, fault)
            return
        if request.path.startswith("/api/"):
            value, headers = self.slack.answer(request)
            status = 200
        else:
            (value, status), headers = self.google.answer(request), {}
        if fault:
            self.fail(request, fault)
        else:
            request.answer(value, status, **headers)

    @staticmethod
    def fail(request, fault):
        connection = request.handler.connection
        if fault.kind == "reset":
            connection.setsockopt(1, 13, b"\1\0\0\0\0\0\0\0")  # SOL_SOCKET, SO_LINGER
            connection.close()
            request.handler.close_connection = True
        elif fault.kind == "stall":
            connection.settimeout(120)
            connection.recv(1)
            request.handler.close_connection = True
        elif fault.kind == "huge":
            request.handler.send_response(200)
            request.handler.send_header("Content-Type", "application/json")
            request.handler.send_header("Content-Length", str(100 << 20))
            request.handler.end_headers()
            for _ in range(100):
                request.handler.wfile.write(b" " * (1 << 20))
        else:
            request.answer(fault.body, fault.status, **fault.headers)


def main():
    server = AccountsServer()
    server.slack.tokens[sys.argv[1]] = SCOPES
    print(server.port, flush=True)
    for _ in sys.stdin:
        print(json.dumps(server.slack.messages), flush=True)


if __name__ == "__main__":
    main()

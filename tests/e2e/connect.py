#!/usr/bin/env python3
"""Slack, Gmail and Calendar against servers on loopback that speak these APIs, well and badly."""
import email
import email.policy
import http.client
import json
import os
import subprocess
import threading
import urllib.parse
import urllib.request


from accounts_server import SCOPES, AccountsServer, Fault
from harness import BINARY, Stream, eventually, expect, expect_eq, expect_in, main, test

TOKEN = "xoxb-not-a-real-token-" + os.urandom(8).hex()


def accounts(box, more=""):
    server = AccountsServer()
    box.closing.append(server)
    box.config(server.config() + more)
    server.slack.tokens[TOKEN] = SCOPES
    return server


def connect_slack(daemon):
    return daemon.ask("POST", "/credentials/slack", {"token": TOKEN})


@test
def a_slack_token_is_checked_and_kept(box):
    server = accounts(box)
    daemon = box.serve()
    expect_eq(daemon.ask("GET", "/credentials/slack/status"), {"configured": False})
    status = connect_slack(daemon)
    expect_eq((status["configured"], status["team"], status["user"]),
              (True, "Mice & Men", "dormouse"))
    expect_eq(status["scopes"], SCOPES.split(","))
    expect_eq(daemon.ask("POST", "/credentials/slack/test", {})["configured"], True)
    expect_eq(server.seen[0].headers["Authorization"], "Bearer " + TOKEN)
    daemon.stop()
    daemon = box.serve()
    expect_eq(daemon.ask("GET", "/credentials/slack/status")["team"], "Mice & Men")
    secrets = {s["name"]: s["usedBy"] for s in daemon.ask("GET", "/secrets")["secrets"]}
    expect_eq(secrets, {"slack-token": ["Slack"]})
    daemon.ask("DELETE", "/credentials/slack", status=204)
    expect_eq(daemon.ask("GET", "/credentials/slack/status"), {"configured": False})
    expect_eq(daemon.ask("GET", "/secrets")["secrets"], [])
    daemon.ask("DELETE", "/credentials/slack", status=204)
    daemon.ask("POST", "/credentials/slack/test", {}, status=404)


@test
def a_bad_slack_token_is_refused_in_words(box):
    server = accounts(box)
    daemon = box.serve()
    for token in ("", "xoxp-1234567890-abcdef", "xoxb-short", "xoxb-with space in it 123", "xapp-1-x"):
        error = daemon.ask("POST", "/credentials/slack", {"token": token}, status=400)["error"]
        expect_in("xoxb-", error["message"])
    expect_eq(server.seen, [])
    error = daemon.ask("POST", "/credentials/slack", {"token": "xoxb-" + "1" * 30},
                       status=401)["error"]
    expect_in("invalid_auth", error["message"])
    expect_eq(daemon.ask("GET", "/credentials/slack/status"), {"configured": False})
    expect_eq(daemon.ask("GET", "/secrets")["secrets"], [])
    daemon.ask("POST", "/credentials/slack", {}, status=422)
    server.close()
    daemon.ask("POST", "/credentials/slack", {"token": TOKEN}, status=502)


@test
def a_message_is_sent_when_a_person_says_yes(box):
    server = accounts(box)
    daemon = box.serve()
    connect_slack(daemon)
    stream = daemon.start("send 'hello there' to #general on slack", mode="wiggum")
    waiting = stream.until("waiting")
    item = daemon.ask("GET", f"/inbox/{waiting['itemId']}")
    expect_eq(item["toolName"], "send_slack_message")
    expect_in("#general", item["title"])
    expect_eq(item["preview"], "hello there")
    expect_eq(daemon.facts(item["id"]), "to: #general (C00000000)\nworkspace: Mice & Men\n")
    expect_eq(server.slack.messages, [])
    daemon.decide(waiting["itemId"])
    expect_eq(stream.end()["stopReason"], "end_turn")
    expect_eq(server.slack.messages, [("C00000000", "hello there")])
    expect_eq(server.paths().count("/api/conversations.list"), 3)  # 7 channels in pages of 3
    for request in server.seen:
        expect_eq(request.headers["Authorization"], "Bearer " + TOKEN)


@test
def a_message_that_may_have_been_sent_goes_to_the_inbox(box):
    server = accounts(box)
    daemon = box.serve()
    connect_slack(daemon)
    send = "/api/chat.postMessage"
    for fault in (Fault(kind="reset", done=True), Fault(500, b"oops", done=True),
                  Fault(200, b'{"ok":tr', done=True), Fault(200, b"<p>", {"type": "text/html"}),
                  Fault(200, b'{"ok":false,"error":"fatal_error"}'), Fault(kind="huge", done=True)):
        before = server.paths().count(send)
        server.trouble(send, fault)
        stream = daemon.start("send 'hello' to #general on slack")
        daemon.decide(stream.until("waiting")["itemId"])
        unknown = stream.until("waiting")
        item = daemon.ask("GET", f"/inbox/{unknown['itemId']}")
        expect_eq(item["kind"], "unknown_effect")
        expect_eq(server.paths().count(send), before + 1)  # never twice by itself
        daemon.decide(unknown["itemId"], "reject", reason="it is there")
        expect_eq(stream.end()["stopReason"], "end_turn")
        expect_eq(server.paths().count(send), before + 1)


@test
def what_surely_was_not_done_is_tried_again(box):
    server = accounts(box)
    daemon = box.serve()
    connect_slack(daemon)
    limited = Fault(429, b'{"ok":false,"error":"ratelimited"}', {"Retry_After": "0"})
    server.trouble("/api/chat.postMessage", limited)
    server.trouble("/api/conversations.list", Fault(503, b"later"), Fault(kind="reset"))
    stream = daemon.start("send 'hello' to #general on slack")
    daemon.decide(stream.until("waiting")["itemId"])
    expect_eq(stream.end()["stopReason"], "end_turn")
    expect_eq(server.slack.messages, [("C00000000", "hello")])
    server.trouble("/api/conversations.list",
                   Fault(429, b"{}", {"Retry_After": "3600"}))
    stream = daemon.start("list slack channels")
    result = stream.until("tool_result")
    expect_in("try again in 3600 s", json.dumps(result))


@test
def slack_says_what_is_missing(box):
    server = accounts(box)
    daemon = box.serve()
    connect_slack(daemon)
    server.slack.tokens[TOKEN] = "channels:read"
    for fault, words in ((None, "chat:write"),
                         (Fault(200, b'{"ok":false,"error":"not_in_channel"}'), "/invite"),
                         (Fault(200, b'{"ok":false,"error":"is_archived"}'), "archived"),
                         (Fault(200, b'{"ok":false,"error":"<b>\\u001b[31m"}'), "no reason"),
                         (Fault(302, b"", {"Location": "http://127.0.0.1:1/"}), "redirect"),
                         (Fault(200, b'{"ok":false,"error":"token_revoked"}'), "revoked")):
        if fault:
            server.slack.tokens[TOKEN] = SCOPES
            server.trouble("/api/chat.postMessage", fault)
        stream = daemon.start("send 'hello' to #general on slack")
        daemon.decide(stream.until("waiting")["itemId"])
        result = stream.until("tool_result", toolName="send_slack_message")
        expect_in(words, json.dumps(result))
        stream.end()
    expect_in("revoked", daemon.ask("GET", "/credentials/slack/status")["error"])
    expect_eq(server.slack.messages, [])


@test
def a_tool_without_an_account_says_what_to_do(box):
    accounts(box)
    daemon = box.serve()
    stream = daemon.start("list slack channels")
    text = json.dumps([stream.end(), stream.seen])
    expect_in("list_slack_channels", text)  # the offline model was not given it
    expect(not any(e["type"] == "tool_call" for e in stream.seen), stream.seen)

# ---- Google ----


def connect_google(daemon, server):
    flow = daemon.ask("POST", "/credentials/google/start",
                      {"flow": "loopback", "client_secret": "desk-secret"})
    code, state, redirect = server.google.allow(flow["auth_url"])
    expect_eq(redirect, f"http://127.0.0.1:{daemon.port}/oauth/google/callback")
    status, page = daemon.get(f"/oauth/google/callback?code={code}&state={state}")
    expect_eq(status, 200)
    expect_in(b"connected", page)
    return daemon.ask("GET", "/credentials/google/status")


def result_of(daemon, prompt, tool, approve=True):
    """What the tool answered in a run in which the model calls it."""
    stream = daemon.start(prompt)
    if approve:
        daemon.decide(stream.until("waiting")["itemId"])
    result = stream.until("tool_result", toolName=tool)
    stream.end()
    return result


def caller(box, server, *calls):
    """The agent makes these calls, one a turn."""
    steps = "".join(f"  - expect: {{ results: {i} }}\n    reply: {{ calls: [{{ name: {name}, "
                    f"arguments: {json.dumps(arguments, ensure_ascii=False)} }}] }}\n"
                    for i, (name, arguments) in enumerate(calls))
    box.script(steps + "  - reply: { text: done }\n", server.config())


@test
def google_is_connected_by_the_browser_that_comes_back(box):
    server = accounts(box)
    daemon = box.serve()
    expect_eq(daemon.ask("GET", "/credentials/google/status"), {"configured": False, "pending": False})
    status = connect_google(daemon, server)
    expect_eq((status["configured"], status["account"]), (True, "ada@example.org"))
    expect_eq(len(status["scopes"]), 3)
    names = [s["name"] for s in daemon.ask("GET", "/secrets")["secrets"]]
    expect_eq(names, ["google-client-secret", "google-refresh-token"])
    daemon.stop()
    daemon = box.serve()
    expect_eq(daemon.ask("GET", "/credentials/google/status")["account"], "ada@example.org")
    refresh = list(server.google.refresh_tokens)
    daemon.ask("DELETE", "/credentials/google", status=204)
    expect_eq(server.google.revoked, refresh)
    expect_eq(daemon.ask("GET", "/secrets")["secrets"], [])
    expect_eq(daemon.ask("GET", "/credentials/google/status")["configured"], False)


@test
def a_callback_that_nobody_waits_for_is_refused(box):
    server = accounts(box)
    daemon = box.serve()
    for query in ("", "?code=x&state=", "?code=x&state=abc", "?state=&error=access_denied"):
        expect_eq(daemon.get("/oauth/google/callback" + query)[0], 401)
    flow = daemon.ask("POST", "/credentials/google/start", {"flow": "loopback"})
    code, state, _ = server.google.allow(flow["auth_url"])
    expect_eq(daemon.get(f"/oauth/google/callback?code={code}&state={state}x")[0], 401)
    expect_eq(daemon.get(f"/oauth/google/callback?state={state}&error=access_denied")[0], 403)
    status = daemon.ask("GET", "/credentials/google/status")
    expect_eq((status["configured"], status["pending"]), (False, False))
    expect_in("not granted", status["error"])
    # A code is good once, and only with the verifier of the flow that it was made for.
    expect_eq(daemon.get(f"/oauth/google/callback?code={code}&state={state}")[0], 401)
    for body, words in (({"flow": "post"}, "device or loopback"),
                        ({"flow": "loopback", "redirect_uri": "http://evil.example/"}, "this machine")):
        error = daemon.ask("POST", "/credentials/google/start", body, status=400)["error"]
        expect_in(words, error["message"])


@test
def google_is_connected_by_a_code_that_is_typed_elsewhere(box):
    server = accounts(box)
    daemon = box.serve()
    start = {"flow": "device", "client_secret": "desk-secret"}
    flow = daemon.ask("POST", "/credentials/google/start", start)
    expect_eq((flow["user_code"], flow["verification_url"]),
              ("GQVQ-JKEC", "https://www.google.com/device"))
    expect("device_code" not in flow, flow)
    server.wait("/token")
    expect_eq(daemon.ask("GET", "/credentials/google/status")["pending"], True)
    server.google.device["state"] = "allowed"
    status = eventually(lambda: (s := daemon.ask("GET", "/credentials/google/status"))["configured"]
                        and s, "connected")
    expect_eq((status["account"], status["pending"]), ("ada@example.org", False))
    daemon.ask("POST", "/credentials/google/start", start)
    server.google.device["state"] = "access_denied"
    status = eventually(lambda: not (s := daemon.ask("GET", "/credentials/google/status"))["pending"]
                        and s, "given up")
    expect_in("access_denied", status["error"])
    expect_eq(status["configured"], True)  # the account from before is still there


@test
def tokens_are_refreshed_rotated_and_known_to_be_gone(box):
    server = accounts(box)
    server.google.add_mail(b"From: Bob <bob@example.org>\r\nSubject: Hi\r\n\r\nHello\r\n")
    daemon = box.serve()
    connect_google(daemon, server)
    expect_in("Bob", json.dumps(result_of(daemon, "list my mail", "list_emails", False)))
    server.google.access_tokens.clear()  # as if time had passed, or somebody had taken them back
    server.google.rotates = True
    first = set(server.google.refresh_tokens)
    expect_in("Bob", json.dumps(result_of(daemon, "list my mail", "list_emails", False)))
    expect(first.isdisjoint(server.google.refresh_tokens), "not rotated")
    daemon.stop()
    daemon = box.serve()
    expect_in("Bob", json.dumps(result_of(daemon, "list my mail", "list_emails", False)))
    server.google.access_tokens.clear()
    server.google.refresh_tokens.clear()
    failed = json.dumps(result_of(daemon, "list my mail", "list_emails", False))
    expect_in("revoked or has expired", failed)
    expect_in("dormouse connect google", failed)
    expect_in("revoked", daemon.ask("GET", "/credentials/google/status")["error"])


@test
def mail_is_listed_read_drafted_and_sent(box):
    server = accounts(box)
    key = server.google.add_mail(
        "From: =?utf-8?q?J=C3=BCrgen_M=C3=BCller?= <j@example.org>\r\nTo: ada@example.org\r\n"
        "Subject: =?utf-8?B?R3LDvMOfZQ==?=\r\nMessage-ID: <1@example.org>\r\n"
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
        "Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable"
        "\r\n\r\nSch=F6ne Gr=FC=DFe\r\n--b\r\nContent-Type: application/pdf; name=a.pdf\r\n"
        "Content-Transfer-Encoding: base64\r\n\r\nAAECAw==\r\n--b--\r\n".encode())
    mail = {"to": ["Jürgen Müller <j@example.org>"], "subject": "Re: Grüße", "body": "Danke schön!\n",
            "reply_to_id": key}
    caller(box, server, ("list_emails", {"query": "from:j"}), ("read_email", {"id": key}),
           ("draft_email", mail), ("send_email", mail))
    daemon = box.serve()
    connect_google(daemon, server)
    stream = daemon.start("go")
    listed = stream.until("tool_result", toolName="list_emails")["output"]
    expect_eq(listed["emails"][0]["subject"], "Grüße")
    read = stream.until("tool_result", toolName="read_email")["output"]
    expect_eq((read["from"], read["text"]), ("Jürgen Müller <j@example.org>", "Schöne Grüße"))
    expect_eq(read["attachments"], [{"name": "a.pdf", "type": "application/pdf", "bytes": 4}])
    expect_eq(stream.until("tool_result", toolName="draft_email")["status"], "completed")
    waiting = stream.until("waiting")
    item = daemon.ask("GET", f"/inbox/{waiting['itemId']}")
    expect_in("to: Jürgen Müller <j@example.org>\nsubject: Re: Grüße", daemon.facts(item["id"]))
    expect_eq((len(server.google.drafts), len(server.google.sent)), (1, 0))
    daemon.decide(waiting["itemId"])
    stream.until("tool_result", toolName="send_email")
    expect_eq(stream.end()["stopReason"], "end_turn")
    raw, thread = server.google.sent[0]
    expect_eq(thread, "t" + key)
    parsed = email.message_from_bytes(raw, policy=email.policy.default)
    expect_eq(str(parsed["Subject"]), "Re: Grüße")
    expect_eq(str(parsed["To"]), "Jürgen Müller <j@example.org>")
    expect_eq(parsed["In-Reply-To"], "<1@example.org>")
    expect_eq(parsed.get_content().replace("\r\n", "\n"), "Danke schön!\n")


@test
def a_mail_that_cannot_be_written_is_refused_before_anybody_is_asked(box):
    server = accounts(box)
    good = {"to": ["a@example.org"], "subject": "s", "body": "b"}
    caller(box, server, *(("send_email", {**good, **bad}) for bad in (
        {"to": ["a@example.org\nBcc: everybody@example.org"]}, {"subject": "x\r\nBcc: e@example.org"},
        {"to": ["not an address"]}, {"cc": ["a@b@c"]}, {"to": ["<script>@x"]})))
    daemon = box.serve()
    connect_google(daemon, server)
    stream = daemon.start("go")
    expect_eq(stream.end()["stopReason"], "end_turn")
    results = [e for e in stream.seen if e["type"] == "tool_result"]
    expect_eq(len(results), 5)
    expect(all(r["status"] == "failed" for r in results), results)
    expect_eq(server.google.sent, [])


@test
def events_are_listed_made_and_changed(box):
    server = accounts(box)
    server.google.events["e0"] = {"id": "e0", "etag": '"7"', "summary": "Tea", "start": {
        "dateTime": "2026-03-28T15:00:00+01:00", "timeZone": "Europe/Berlin"}, "end": {
        "dateTime": "2026-03-28T16:00:00+01:00", "timeZone": "Europe/Berlin"}}
    caller(box, server,
           ("list_events", {"from": "2026-03-28", "to": "2026-03-30", "time_zone": "Europe/Berlin"}),
           ("create_event", {"title": "Walk", "start": "2026-03-29T12:00", "end": "2026-03-29T13:30",
                             "time_zone": "Europe/Berlin"}),
           ("create_event", {"title": "Fair", "start": "2026-05-01", "end": "2026-05-02"}),
           ("create_event", {"title": "Gap", "start": "2026-03-29T02:30", "end": "2026-03-29T04:00",
                             "time_zone": "Europe/Berlin"}),
           ("update_event", {"event_id": "e0", "start": "2026-03-28T16:00", "end": "2026-03-28T17:00",
                             "time_zone": "Europe/Berlin"}))
    daemon = box.serve()
    connect_google(daemon, server)
    stream = daemon.start("go")
    expect_eq(stream.until("tool_result")["output"]["events"][0]["title"], "Tea")
    query = next(r.query for r in server.seen if r.path.endswith("/events"))
    expect_eq((query["timeMin"], query["timeMax"]),
              ("2026-03-27T23:00:00.000Z", "2026-03-29T22:00:00.000Z"))
    waiting = stream.until("waiting")
    expect_in("2026-03-29T12:00:00+02:00 (Europe/Berlin)", daemon.facts(waiting["itemId"]))
    daemon.decide(waiting["itemId"])
    daemon.decide(stream.until("waiting")["itemId"])
    refused = stream.until("tool_result", status="failed")
    expect_in("clocks are set forward", json.dumps(refused))
    waiting = stream.until("waiting")
    expect_in("now title: Tea", daemon.facts(waiting["itemId"]))
    server.google.events["e0"]["etag"] = '"8"'  # somebody else was faster: it is asked again
    daemon.decide(waiting["itemId"])
    again = stream.until("waiting")
    expect(again["itemId"] != waiting["itemId"], again)
    daemon.decide(again["itemId"])
    expect_eq(stream.end()["stopReason"], "end_turn")
    made = server.google.events
    expect_eq(made["e2"]["start"]["dateTime"], "2026-03-29T12:00:00+02:00")
    expect_eq(made["e3"]["end"]["date"], "2026-05-03")
    expect_eq(made["e0"]["start"]["dateTime"], "2026-03-28T16:00:00+01:00")
    patch = next(r for r in server.seen if r.method == "PATCH")
    expect_eq(patch.headers["If-Match"], '"8"')


@test
def google_that_fails_is_told_in_words(box):
    server = accounts(box)
    server.google.add_mail(b"Subject: x\r\n\r\ny")
    daemon = box.serve()
    connect_google(daemon, server)
    path = "/gmail/v1/users/me/messages"
    denied = json.dumps({"error": {"code": 403, "status": "PERMISSION_DENIED", "message":
                         "Request had insufficient authentication scopes."}}).encode()
    for faults, words in (([Fault(403, denied)], "scope"), ([Fault(200, b'{"messages":[')], "damaged"),
                          ([Fault(200, b"<html>", {"type": "text/html"})], "no JSON"),
                          ([Fault(500, b"{}")] * 3, "status 500"), ([Fault(kind="huge")], "too_large"),
                          ([Fault(429, b"{}", {"Retry_After": "120"})], "too many"),
                          ([Fault(302, b"", {"Location": "/x"})], "redirect")):
        server.trouble(path, *faults)
        result = result_of(daemon, "list my mail", "list_emails", False)
        expect_in(words, json.dumps(result))
    expect_eq(server.faults[path], [])

# ---- the command line ----


@test
def tools_say_which_account_they_need(box):
    server = accounts(box)
    daemon = box.serve()
    of_slack = {"list_slack_channels", "send_slack_message"}
    of_google = {"list_emails", "read_email", "draft_email", "send_email", "list_events",
                 "create_event", "update_event"}

    def missing(path):
        return {t["name"]: t["reason"] for t in daemon.ask("GET", path)["tools"]
                if not t["available"]}

    agent = daemon.ask("POST", "/agents", {"template": "inbox-helper"}, status=201)
    for path in ("/tools", f"/agents/{agent['id']}/tools"):
        expect_eq(missing(path), {**{name: "Slack is not connected" for name in of_slack},
                                  **{name: "Google is not connected" for name in of_google}})
    enabled = {t["name"] for t in daemon.ask("GET", f"/agents/{agent['id']}/tools")["tools"]
               if t["enabled"]}
    expect(of_slack < enabled and "list_emails" in enabled and "bash" not in enabled, enabled)
    connect_slack(daemon)
    expect_eq(set(missing("/tools")), of_google)
    connect_google(daemon, server)
    expect_eq(missing("/tools"), {})
    server.slack.tokens.clear()
    daemon.ask("POST", "/credentials/slack/test", {}, status=401)
    expect_eq(set(missing("/tools")), of_slack)
    expect_in("invalid_auth", missing("/tools")["send_slack_message"])


@test
def a_grant_that_google_was_not_told_of_is_the_persons_to_end(box):
    server = accounts(box)
    daemon = box.serve()
    connect_google(daemon, server)
    server.trouble("/revoke", *[Fault(503, b"later")] * 3)
    status = daemon.ask("DELETE", "/credentials/google")
    expect_eq(status, daemon.ask("GET", "/credentials/google/status"))
    expect_eq(status["configured"], False)
    expect_in("myaccount.google.com/permissions", status["error"])
    connect_google(daemon, server)
    server.trouble("/revoke", *[Fault(503, b"later")] * 3)
    expect_in("myaccount.google.com/permissions", box.run("connect", "remove", "google")[0])
    connect_google(daemon, server)
    expect("myaccount" not in box.run("connect", "remove", "google")[0], "it was told")
    expect_eq(daemon.ask("GET", "/credentials/google/status"),
              {"configured": False, "pending": False})
    expect_eq(daemon.ask("GET", "/secrets")["secrets"], [])


@test
def a_server_that_stalls_holds_up_nobody_else(box):
    """It has its time; meanwhile the daemon answers, and a person can end the run."""
    server = accounts(box)
    daemon = box.serve()
    connect_slack(daemon)
    server.trouble("/api/conversations.list", Fault(kind="stall"))
    stream = daemon.start("list slack channels")
    eventually(lambda: "/api/conversations.list" in server.paths(), "it was asked")
    expect_eq(daemon.ask("GET", "/credentials/slack/status")["configured"], True)
    daemon.ask("POST", f"/runs/{stream.key}/cancel", {})
    expect_eq(stream.end()["stopReason"], "cancelled")
    server.trouble("/api/auth.test", Fault(kind="stall"))
    ends = []

    def test_it():
        try:
            ends.append(daemon.ask("POST", "/credentials/slack/test", {}))
        except (AssertionError, OSError, http.client.HTTPException) as end:
            ends.append(str(end))

    thread = threading.Thread(target=test_it)
    thread.start()
    eventually(lambda: server.paths().count("/api/auth.test") == 2, "it was asked")
    daemon.stop()  # does not wait for it
    thread.join()
    expect(len(ends) == 1 and "configured" not in str(ends[0]), ends)


@test
def another_site_can_not_use_the_persons_cookie(box):
    """CSRF and DNS rebinding against what takes, tests and removes secrets."""
    server = accounts(box)
    daemon = box.serve()
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port)
    connection.request("GET", daemon.hello["login"][len(daemon.hello["url"]):])
    cookie = connection.getresponse().headers["Set-Cookie"].split(";")[0]
    connection.close()
    own = f"http://127.0.0.1:{daemon.port}"
    routes = (("POST", "/credentials/slack", {"token": TOKEN}),
              ("POST", "/credentials/slack/test", {}),
              ("POST", "/credentials/google/start", {"flow": "loopback"}),
              ("POST", "/credentials/google/finish", {"state": "x", "code": "y"}),
              ("PUT", "/secrets/near-key", {"value": "abc"}),
              ("POST", "/secrets/near-key/test", {}),
              ("DELETE", "/secrets/near-key", None),
              ("DELETE", "/credentials/slack", None),
              ("DELETE", "/credentials/google", None))

    def send(method, path, body, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=30)
        connection.request(method, "/api/v1" + path, body=json.dumps(body) if body is not None
                           else None, headers={"Cookie": cookie, **headers})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    before = len(server.seen)
    for method, path, body in routes:
        for headers in ({"Origin": "https://evil.example", "Content-Type": "application/json"},
                        {"Origin": "null", "Content-Type": "text/plain"},
                        {"Origin": f"http://127.0.0.1:{daemon.port + 1}",
                         "Content-Type": "application/json"},
                        {"Origin": own + ".evil.example", "Content-Type": "application/json"},
                        {"Content-Type": "application/json"},
                        {"Host": "evil.example", "Origin": "http://evil.example",
                         "Content-Type": "application/json"},
                        {"Host": "evil.example", "Origin": own,
                         "Content-Type": "application/json"}):
            status, text = send(method, path, body, **headers)
            expect(status in (403, 421, 400), (method, path, headers, status, text))
    for path in ("/secrets", "/credentials/slack/status", "/credentials/google/status"):
        status, _ = send("GET", path, None, Host="evil.example")
        expect(status in (403, 421, 400), (path, status))
    expect_eq(len(server.seen), before)
    expect_eq(daemon.ask("GET", "/secrets")["secrets"], [])
    expect_eq(daemon.ask("GET", "/credentials/google/status"),
              {"configured": False, "pending": False})
    # The page itself may: or all of this would prove nothing.
    status, text = send("POST", "/credentials/slack", {"token": TOKEN}, Origin=own,
                        **{"Content-Type": "application/json"})
    expect_eq((status, json.loads(text)["configured"]), (200, True))


@test
def accounts_are_connected_and_removed_on_the_command_line(box):
    server = accounts(box)
    out, err = box.run("connect", "slack", stdin=TOKEN + "\n")
    expect_eq((out, err), ("Slack is connected: dormouse in Mice & Men\n", ""))
    expect_in("xoxb-", box.error("connect", "slack", stdin="hello\n")["message"])
    browser = subprocess.Popen(
        [BINARY, "connect", "google", "--client-id", "desk.apps", "--json"], cwd=box.work,
        env=box.env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    browser.stdin.write("desk-secret\n")
    browser.stdin.close()
    url = next(line.strip() for line in browser.stderr if line.startswith("http"))
    code, state, redirect = server.google.allow(url)
    with urllib.request.urlopen(redirect + "favicon.ico") as page:
        page.read()
    with urllib.request.urlopen(f"{redirect}?code={urllib.parse.quote(code)}&state={state}") as page:
        expect_in(b"close this window", page.read())
    expect_eq(json.loads(browser.stdout.read())["account"], "ada@example.org")
    expect_eq(browser.wait(), 0)
    browser.stdout.close()
    browser.stderr.close()
    out, _ = box.run("connect", "list")
    expect_in("slack    connected  Mice & Men", out)
    expect_in("google   connected  ada@example.org", out)
    box.run("connect", "remove", "google")
    expect_eq(box.json("connect", "list")["google"]["configured"], False)
    expect_eq(len(server.google.revoked), 1)
    expect_in("slack or google", box.error("connect", "remove", "fax")["message"])


@test
def a_secret_says_what_it_is_for_and_what_is_wrong_with_it(box):
    box.config("models:\n  - { id: far, provider: openai, model: m, base_url: "
               "\"http://127.0.0.1:9/v1\", secret_ref: far-key }\n")
    daemon = box.serve()
    answer = daemon.ask("POST", "/secrets/far-key/test", {})
    expect_eq(answer["ok"], False)
    expect_in("dormouse secret set far-key", answer["message"])
    daemon.ask("PUT", "/secrets/far-key", {"value": "v" * 8192}, status=204)
    daemon.ask("PUT", "/secrets/far-key", {"value": "v" * 8193}, status=413)
    daemon.ask("PUT", "/secrets/far-key", {"value": "a\0b"}, status=400)
    daemon.ask("PUT", "/secrets/far-key", {"value": "a", "store": "x"}, status=422)
    daemon.ask("PUT", "/secrets/far-key", {}, status=422)
    expect_eq(daemon.ask("GET", "/secrets")["secrets"][0]["usedBy"], ["model far"])
    answer = daemon.ask("POST", "/secrets/far-key/test", {})
    expect_eq(answer["ok"], True)
    expect_in("model far", answer["message"])
    with open(os.path.join(box.data, "secrets"), "r+b") as file:  # somebody else's bytes
        file.seek(60)
        file.write(b"\0" * 8)
    daemon.stop()
    daemon = box.serve()
    answer = daemon.ask("POST", "/secrets/far-key/test", {})
    expect_eq(answer["ok"], False)
    expect("vvvv" not in json.dumps(answer), answer)


@test
def what_is_done_to_secrets_and_accounts_is_told_to_every_page(box):
    accounts(box)
    daemon = box.serve()
    stream = Stream(daemon, "GET", "/api/v1/activity")
    daemon.ask("PUT", "/secrets/near-key", {"value": "Plum-value-1234"}, status=204)
    expect_eq(stream.until("secret")["kind"], "changed")
    connect_slack(daemon)
    stream.until("secret")
    daemon.ask("DELETE", "/secrets/near-key", status=204)
    stream.until("secret")
    expect(b"Plum-value" not in stream.raw and TOKEN.encode() not in stream.raw, stream.raw)


@test
def secrets_are_set_tested_and_removed_and_never_shown(box):
    daemon = box.serve()
    daemon.ask("PUT", "/secrets/near-key", {"value": "Plum-value-1234"}, status=204)
    expect_eq(daemon.ask("POST", "/secrets/near-key/test", {})["ok"], True)
    listed = daemon.ask("GET", "/secrets")["secrets"]
    expect_eq([(s["name"], s["usedBy"]) for s in listed], [("near-key", [])])
    expect("Plum-value-1234" not in json.dumps(listed), listed)
    for name in ("no%20good", "..%2Fx", "-x", "x" * 65):
        daemon.ask("PUT", f"/secrets/{name}", {"value": "x"}, status=400)
    daemon.ask("PUT", "/secrets/near-key", {"value": ""}, status=400)
    daemon.ask("PUT", "/secrets/near-key", {"value": 7}, status=422)
    daemon.ask("DELETE", "/secrets/near-key", status=204)
    expect_eq(daemon.ask("POST", "/secrets/near-key/test", {})["ok"], False)
    daemon.ask("DELETE", "/secrets/near-key", status=404)


main()

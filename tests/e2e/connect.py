#!/usr/bin/env python3
"""Slack, Gmail and Calendar against servers on loopback that speak these APIs, well and badly."""
import json
import os


from accounts_server import SCOPES, AccountsServer, Fault
from harness import eventually, expect, expect_eq, expect_in, main, test

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
    expect_in("#general (C00000000) in Mice & Men\n\nhello there", item["preview"])
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


main()

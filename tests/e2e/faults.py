#!/usr/bin/env python3
"""Runs whose model server misbehaves, and clients that do not read."""
import json
import os
import socket
import threading
import time

from harness import WAIT_S, eventually, expect, expect_eq, expect_in, main, test
from model_server import ModelServer

MB = 1 << 20
SOON_S = WAIT_S / 4  # the server below holds still for WAIT_S; without that it is far less than a second


def answers_others(daemon):
    """The rest of the house is not hurt: a run with the built-in model, from prompt to done."""
    stream = daemon.start("hello", model="offline")
    expect_eq(stream.end()["stopReason"], "end_turn")


def fails(daemon, prompt, code):
    """A run that ends with this error; what it said before."""
    stream = daemon.start(prompt)
    error = stream.until("error")
    expect_eq(error["code"], code)
    expect_eq(stream.end()["stopReason"], "error")
    run = daemon.ask("GET", f"/runs/{stream.key}")
    expect_eq((run["status"], run["error"]["code"]), ("failed", code))
    return stream, error


def timed(function):
    begin = time.monotonic()
    function()
    return time.monotonic() - begin


# ---- slow and silent ----


@test
def a_server_that_drips_holds_up_nobody_and_can_be_cancelled(box):
    left = threading.Event()
    dripping = threading.Event()

    def drip(reply):
        reply.begin()
        reply.part({"content": "slow"})
        try:
            while True:
                for byte in b'data: {"choices": [{"delta": {"content": "ly"}}]}\n\n':
                    reply.bytes(bytes([byte]))
                    dripping.set()
                    time.sleep(0.005)
        finally:
            left.set()

    ModelServer(box, drip)
    daemon = box.serve()
    stream = daemon.start("go")
    text = ""
    while len(text) < len("slowly"):  # in as many pieces as came at a time
        text += stream.until("text", isPartial=True)["content"]
    expect(text.startswith("slowly"), text)
    answers_others(daemon)
    daemon.ask("POST", f"/runs/{stream.key}/cancel", {})
    expect_eq(stream.end()["stopReason"], "cancelled")
    expect(left.wait(WAIT_S), "the server is still spoken to")


@test
def a_server_that_says_nothing_is_cancelled_at_once(box):
    gone = threading.Event()

    def hang(reply):
        if reply.gone():
            gone.set()

    server = ModelServer(box, hang)
    daemon = box.serve()
    stream = daemon.start("go")
    server.wait(1)
    answers_others(daemon)
    took = timed(lambda: (daemon.ask("POST", f"/runs/{stream.key}/cancel", {}), stream.end()))
    expect(took < SOON_S, f"cancelling took {took} s")
    expect_eq(stream.seen[-1]["stopReason"], "cancelled")
    expect(gone.wait(WAIT_S), "the connection stays")
    # The same when the daemon ends: it waits for no model.
    stream = daemon.start("go")
    server.wait(2)
    took = timed(daemon.stop)
    expect(took < SOON_S, f"stopping took {took} s")
    # The run is neither lost nor forgotten: the next start asks again.
    box.serve()
    server.wait(3)


# ---- broken answers ----


@test
def a_stream_that_breaks_is_no_answer(box):
    def breaks(reply):
        if reply.prompt() == "whole":
            return reply.text("all of it")
        reply.begin()
        reply.part({"content": "half an ans"})
        if reply.prompt() == "reset":
            return reply.reset()
        if reply.prompt() == "middle":
            return reply.bytes(b'data: {"choices": [{"delta": {"con')
        return reply.bytes(b"data: {not json}\n\n")

    ModelServer(box, breaks)
    daemon = box.serve()
    for prompt in ("reset", "middle", "garbage"):
        stream, _ = fails(daemon, prompt, "provider_failed")
        events = daemon.ask("GET", f"/runs/{stream.key}/events")["events"]
        expect("half an ans" not in json.dumps(events), f"half an answer is kept: {events}")
    stream = daemon.start("whole")
    expect_eq(stream.end()["result"], "all of it")


@test
def a_hundred_megabytes_are_cut_off(box):
    sent = []

    def flood(reply):
        reply.begin()
        line = b'data: {"choices":[{"delta":{"content":"' + b"x" * MB + b'"}}]}\n\n'
        for _ in range(100):
            reply.bytes(line)
            sent.append(len(line))

    ModelServer(box, flood)
    daemon = box.serve()
    answers_others(daemon)
    before = daemon.rss()
    fails(daemon, "go", "too_large")
    expect(sum(sent) < 40 * MB, f"{sum(sent)} bytes were taken")
    expect(daemon.rss() - before < 120 * MB, f"{daemon.rss() - before} bytes more are resident")
    answers_others(daemon)


@test
def bytes_that_are_no_text_are_replaced(box):
    def strange(reply):
        reply.begin()
        reply.bytes(b'data: {"choices":[{"delta":{"content":"a\xff\xfeb"}}]}\n\n')
        reply.bytes(b'data: {"choices":[{"delta":{"content":"\\ud800c"}}]}\n\n')
        reply.finish("stop")

    ModelServer(box, strange)
    daemon = box.serve()
    stream = daemon.start("go")
    done = stream.end()
    expect_eq(done["stopReason"], "end_turn")
    expect("\ufffd" in done["result"] and done["result"].replace("\ufffd", "") == "abc",
           done["result"])
    expect_eq(daemon.ask("GET", f"/runs/{stream.key}")["result"], done["result"])


@test
def errors_of_the_server_are_tried_again_and_then_told(box):
    def refuse(reply):
        if reply.prompt() == "twice" and len(server.seen) >= 3:
            return reply.text("third time lucky")
        return reply.fail(500 if reply.prompt() != "limit" else 400, "the disk is on fire")

    server = ModelServer(box, refuse)
    daemon = box.serve()
    stream = daemon.start("twice")
    expect_eq(stream.end()["result"], "third time lucky")
    expect_eq(len(server.seen), 3)
    _, error = fails(daemon, "always", "provider_failed")
    expect_in("the disk is on fire", error["message"])
    expect(3 <= len(server.seen) - 3 <= 4, f"{len(server.seen)} requests")
    before = len(server.seen)
    fails(daemon, "limit", "bad_request")
    expect_eq(len(server.seen), before + 1)


@test
def a_rate_limit_is_waited_out_over_a_restart(box):
    first = []

    def limit(reply):
        if not first:
            first.append(time.monotonic())
            return reply.fail(429, "slow down", Retry_After="11")
        first.append(time.monotonic())
        return reply.text("now")

    server = ModelServer(box, limit)
    daemon = box.serve()
    stream = daemon.start("go")
    error = stream.until("error")
    expect_eq((error["code"], error["recoverable"]), ("rate_limited", True))
    run = daemon.ask("GET", f"/runs/{stream.key}")
    expect_eq(run["status"], "waiting")
    daemon.kill()
    daemon = box.serve()
    run = daemon.ask("GET", f"/runs/{stream.key}")
    if time.monotonic() - first[0] < 10.5:  # the start was not slower than what it waits for
        expect_eq((run["status"], len(server.seen)), ("waiting", 1))
    stream = daemon.follow(stream.key)
    expect_eq(stream.end()["result"], "now")
    expect_eq(len(server.seen), 2)
    expect(first[1] - first[0] >= 10.5, f"it came back after {first[1] - first[0]} s")


# ---- clients ----


def never_reads(daemon, prompt, room=4096):
    """Asks for a run and takes nothing of the answer."""
    client = socket.create_connection(("127.0.0.1", daemon.port))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    body = json.dumps({"prompt": prompt}).encode()
    client.sendall(b"POST /run HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
                   b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                   % (daemon.port, daemon.token().encode(), len(body), body))
    return client


def done_runs(daemon):
    """The eight newest, page by page: a page ends by its bytes, too."""
    runs = []
    while len(runs) < 8:
        before = f"&before={runs[-1]['n']}" if runs else ""
        page = daemon.ask("GET", f"/runs?limit={8 - len(runs)}{before}")["runs"]
        if not page:
            break
        runs += page
    return [run for run in runs if run["status"] == "done" and run["model"] == "rehearsal"]


@test
def clients_that_never_read_cost_a_bounded_queue_each(box):
    """1.6 MB of text for each of eight, of which nobody takes a byte."""
    box.script('  - { reply: { text: "%s", repeat: 400, chunk: { size: 4096 } } }\n' % ("x" * 4000))
    # Freed memory that a sanitizer keeps back is not what is measured here.
    daemon = box.serve(env={"ASAN_OPTIONS": "quarantine_size_mb=1"})
    answers_others(daemon)
    before = daemon.rss()
    clients = [never_reads(daemon, f"go {i}") for i in range(8)]
    eventually(lambda: len(done_runs(daemon)) == 8, "all runs are done", 2 * WAIT_S)
    grown = daemon.rss() - before
    expect(grown < 40 * MB, f"{grown} bytes more are resident")
    answers_others(daemon)
    # Who reads gets all of it.
    run = daemon.ask("GET", "/runs?limit=2")["runs"][-1]
    stream = daemon.follow(run["runId"])
    expect_eq(len(stream.end()["result"]), 400 * 4000)
    for client in clients:
        client.close()


@test
def a_client_that_reads_slowly_gets_all_of_it(box):
    """Long after the run has ended it still takes what was said: no stream is cut before that."""
    box.script('  - { reply: { text: "%s", repeat: 400, chunk: { size: 4096 } } }\n' % ("x" * 4000))
    daemon = box.serve()
    client = never_reads(daemon, "go", 65536)  # less, and the kernel waits longer than this client
    client.settimeout(WAIT_S)
    ended, left, text = None, 0, b""
    while more := client.recv(8192):
        text += more
        if ended is None and daemon.ask("GET", "/runs?limit=1")["runs"][0]["status"] == "done":
            ended = time.monotonic()
        if ended is None or time.monotonic() - ended < 4:
            time.sleep(0.1)
        else:  # that was long enough
            left += len(more)
    expect(left > MB, f"only {left} bytes were left: too fast to show anything")
    last = text.split(b"event: done\ndata: ")[-1].split(b"\n")[0]
    expect_eq(len(json.loads(last)["result"]), 400 * 4000)
    client.close()


@test
def a_client_that_leaves_does_not_end_its_run(box):
    hold = threading.Event()

    def wait(reply):
        hold.wait(WAIT_S)
        reply.text("finished all the same")

    server = ModelServer(box, wait)
    daemon = box.serve()
    stream = daemon.start("go")
    key = stream.key
    server.wait(1)
    stream.close()
    hold.set()
    expect_eq(daemon.follow(key).end()["result"], "finished all the same")


main()

#!/usr/bin/env python3
"""Two daemons on one Postgres: each has a data directory of its own, they share agents, runs and the wake queue."""
import contextlib
import json
import os
import signal

from harness import Box, Postgres, eventually, expect_eq, main, test

LEASE_S = 15


def says(text, delay_ms=0):
    return f"  - reply: {{ text: \"{text}\", delay_ms: {delay_ms} }}\n"


def pair(box):
    """Two boxes on one database."""
    postgres = Postgres()
    other = Box()
    box.closing += [other, postgres]
    for one in (box, other):
        one.env["DORMOUSE_STORE_URL"] = postgres.url
    return other, postgres


def status(daemon, key):
    return daemon.ask("GET", f"/wakes/{key}")["status"]


@contextlib.contextmanager
def frozen(daemon):
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(daemon.pid, signal.SIGCONT)


@test
def a_frozen_daemon_is_followed_and_its_late_writes_are_refused(box):
    other, postgres = pair(box)
    box.script(says("Finished by the first.", 4000))
    other.script(says("Finished by the second."))
    first, second = box.serve(), other.serve()
    with frozen(second):  # else it may be quicker to take the wake
        key = first.ask("POST", "/agents/planner/wake", {"words": "hello"}, 202)["runKey"]
        eventually(lambda: status(first, key) == "running", "the run is under way")
    with frozen(first):
        eventually(lambda: status(second, key) == "completed", "another daemon finishes it",
                   seconds=4 * LEASE_S)
        rows = postgres.ask("select count(*), max(n) from agent.run_events")
        messages = postgres.ask("select count(*), max(n) from agent.agent_messages")
    # Its model answers now; it hears that the run is another's, and works on.
    again = wake_again(first)
    eventually(lambda: status(first, again) == "completed", "the first one works again",
               seconds=4 * LEASE_S)
    expect_eq(postgres.ask(f"select count(*), max(e.n) from agent.run_events e join agent.runs r"
                           f" on r.n = e.run_n where r.run_key = '{key}'"), rows)
    expect_eq(postgres.ask(f"select count(*), max(m.n) from agent.agent_messages m join agent.runs r"
                           f" on r.n = m.run_n where r.run_key = '{key}'"), messages)
    expect_eq(postgres.ask("select count(*) from agent.wake_runs where flying = 1"), "0")
    expect_eq(postgres.ask(f"select status from agent.wake_runs where run_key = '{key}'"), "completed")


@test
def destroyed_by_one_daemon_nothing_is_written_by_the_other(box):
    """The model of the first answers with acts after the second has destroyed the agent: nobody hears of them."""
    other, postgres = pair(box)
    box.script("""
  - expect: { user: vanish }
    reply: { delay_ms: 3000, calls: [{ name: write_report, arguments: { title: Late, text: "I am gone." } },
                                     { name: create_task, arguments: { title: Late } }] }
  - expect: { user: witness }
    reply: { delay_ms: 4000, text: "I saw nothing." }
""")
    other.script(says("Not asked."))
    first, second = box.serve().bare(), other.serve()
    first.ask("POST", "/agents", {"displayName": "Victim", "template": "planner",
                                  "allowedCategoryIds": ["*"]}, 201)
    stream = first.start("vanish", agent="victim")
    second.ask("DELETE", "/agents/victim", {"confirm": "Victim"}, 204)
    run = f"run_n = (select n from agent.runs where run_key = '{stream.key}')"
    tables = {name: f"select count(*) from agent.{name} where {run}" for name in ("agent_messages", "run_events", "operations")}
    tables |= {name: f"select count(*) from agent.{name}" for name in ("agent_reports", "agent_links", "inbox", "agent_timers where active = 1",
                                                                      "agent_subscriptions where active = 1")}
    tables |= {"tasks": "select count(*) from journal.tasks", "batches": "select count(*) from journal.change_batches",
               "its batches": "select count(*) from agent.change_batches where author_id = 'victim'"}
    before = {name: postgres.ask(sql) for name, sql in tables.items()}
    expect_eq([before[name] for name in ("agent_reports", "agent_timers where active = 1", "agent_subscriptions where active = 1", "tasks")],
              ["0", "0", "0", "0"])
    row = "select status, stop_reason, error_code from agent.runs where run_key = '%s'" % stream.key
    expect_eq(postgres.ask(row), "failed|error|agent_destroyed")
    # The first one works on; by the time it has finished something else, the late answer has come and gone.
    eventually(lambda: first.ask("GET", f"/runs/{stream.key}")["status"] == "failed", "the first has noticed")
    asked = first.ask("POST", "/agents", {"displayName": "Witness"}, 201)["id"]
    expect_eq(first.start("witness", agent=asked).end()["stopReason"], "end_turn")
    expect_eq({name: postgres.ask(sql) for name, sql in tables.items()}, {**before, "agent_reports": "0"})
    expect_eq(postgres.ask(row), "failed|error|agent_destroyed")
    for door, verb, body in (("victim/wake", "POST", {"words": "up"}), ("victim/timers", "POST", {"rrule": "FREQ=DAILY"}),
                             ("victim/subscriptions", "POST", {"source": "webhook"}), ("victim", "PATCH", {"displayName": "x"})):
        expect_eq(first.ask(verb, f"/agents/{door}", body, 409)["error"]["code"], "agent_destroyed")


@test
def a_client_hears_the_end_of_a_run_that_another_daemon_ends(box):
    """It follows at the first daemon, by SSE and by thread; the answer is given to the second, which goes on with the run."""
    other, postgres = pair(box)
    box.env["DORMOUSE_SCHEDULER_POLL"] = "1h"
    box.script("  - reply: { calls: [{ name: ask_user, arguments: { question: \"Tea?\" } }] }\n")
    other.script(says("Tea it is."))
    first, second = box.serve(), other.serve()
    eventually(lambda: listeners(postgres) == "2", "both listen")
    stream = first.start("ask me")
    item = stream.until("waiting")["itemId"]
    late = first.follow(stream.key)
    second.decide(item, "answer", answer="yes")
    for one in (stream, late):
        expect_eq(one.end()["stopReason"], "end_turn")
        expect_eq([e["content"] for e in one.seen if e["type"] == "text" and not e.get("isPartial")], ["Tea it is."])
        seqs = [e["seq"] for e in one.seen if "seq" in e]
        expect_eq(seqs, list(range(1, len(seqs) + 1)))
    expect_eq(first.ask("GET", f"/runs/{stream.key}")["status"], "done")


def wake_again(daemon):
    return daemon.ask("POST", "/agents/planner/wake", {"words": "again"}, 202)["runKey"]


@test
def a_daemon_that_is_killed_is_followed(box):
    other, _ = pair(box)
    box.script(says("Finished by the first.", 60000))
    other.script(says("Finished by the second."))
    first = box.serve()
    key = first.ask("POST", "/agents/planner/wake", {"words": "hello"}, 202)["runKey"]
    eventually(lambda: status(first, key) == "running", "the run is under way")
    first.kill()
    second = other.serve()
    eventually(lambda: status(second, key) == "completed", "another daemon finishes it",
               seconds=4 * LEASE_S)


@test
def a_stop_at_one_daemon_stops_the_runs_of_the_other(box):
    other, postgres = pair(box)
    box.script(says("Never said.", 600_000) + says("Said after the stop."))
    other.script(says("Never asked."))
    first, second = box.serve(), other.serve()
    with frozen(second):  # else it may be quicker to take the wake
        key = first.ask("POST", "/agents/planner/wake", {"words": "hello"}, 202)["runKey"]
        eventually(lambda: status(first, key) == "running", "the run is under way")
    second.ask("POST", "/kill", {"scope": "all", "reason": "enough"})
    eventually(lambda: status(first, key) == "failed_terminal", "the run of the other one is ended")
    expect_eq(first.ask("GET", "/kill")["switches"][0]["reason"], "enough")
    refused = first.ask("POST", "/agents/planner/wake", {"words": "again"}, 403)
    expect_eq(refused["error"]["code"], "kill_switch_active")
    second.ask("DELETE", "/kill?scope=all")
    eventually(lambda: first.ask("GET", "/kill")["switches"] == [], "it is lifted there, too")


@test
def a_person_decides_at_any_daemon_while_the_run_is_under_way(box):
    other, _ = pair(box)
    box.script("""  - expect: { results: 0 }
    reply: { calls: [{ name: bash, arguments: { command: "echo one >> out.txt; read -r x < gate" } },
                     { name: bash, arguments: { command: "echo two >> out.txt" } }] }
  - expect: { results: 2 }
    reply: { text: "Both are done." }
""")
    other.script(says("Never asked."))
    first, second = box.serve(), other.serve()
    os.mkfifo(box.path("work/gate"))
    stream = first.start("write", cwd=box.work)
    eventually(lambda: len(second.ask("GET", "/inbox")["items"]) == 2, "it asks for both")
    one, two = sorted(second.ask("GET", "/inbox")["items"], key=lambda item: "two" in json.dumps(item))
    first.decide(one["id"])
    eventually(lambda: os.path.exists(box.path("work/out.txt")), "the first command has begun")
    expect_eq(second.ask("GET", f"/runs/{stream.key}")["status"], "running")
    expect_eq(second.decide(two["id"])["applied"], True)
    expect_eq(second.decide(two["id"])["applied"], False)
    with open(box.path("work/gate"), "w") as gate:
        gate.write("go\n")
    stream.until("done")
    with open(box.path("work/out.txt")) as file:
        expect_eq(file.read().split(), ["one", "two"])


@test
def wakes_queued_by_one_are_taken_by_the_other(box):
    other, postgres = pair(box)
    box.script(says("Done by the first.", 200))
    other.script(says("Done by the second.", 200))
    first, second = box.serve(), other.serve()
    agents = [first.ask("POST", "/agents", {"displayName": f"Agent {i}"}, 201)["id"] for i in range(12)]
    keys = [first.ask("POST", f"/agents/{agent}/wake", {"words": "go"}, 202)["runKey"] for agent in agents]
    eventually(lambda: all(status(second, key) == "completed" for key in keys), "all are done")
    expect_eq(postgres.ask("select count(*) from agent.runs where wake_key is not null"), str(len(keys)))
    expect_eq(postgres.ask("select count(distinct run_key) from agent.wake_runs"), str(len(keys)))


def queue_from_outside(postgres, key):
    """As another process stores a wake, and tells."""
    postgres.ask(f"begin; set local search_path = agent; insert into wake_queue (run_key, agent_n, reason, reason_id,"
                 f" thread_id, payload, priority, not_before, created_at) select '{key}', n, 'manual', '{key}',"
                 f" id || ':run:{key}', '{{}}', 0, -1, 1 from agents where id = 'planner';"
                 f" select pg_notify('dormouse_wakes', ''); commit")


def listeners(postgres):
    return postgres.ask("select count(*) from pg_stat_activity where application_name = 'dormouse-listener'"
                        " and state = 'idle' and query like 'LISTEN%'")


@test
def a_wake_is_heard_of_without_polling_also_after_the_connection_was_lost(box):
    postgres = Postgres()
    box.closing.append(postgres)
    box.env["DORMOUSE_STORE_URL"] = postgres.url
    box.env["DORMOUSE_SCHEDULER_POLL"] = "1h"
    box.script(says("Heard.") + says("Heard again."))
    daemon = box.serve()
    eventually(lambda: listeners(postgres) == "1", "it listens")
    queue_from_outside(postgres, "first")
    eventually(lambda: status(daemon, "first") == "completed", "what was told is taken")
    postgres.ask("select pg_terminate_backend(pid, 5000) from pg_stat_activity"
                 " where application_name = 'dormouse-listener'")
    queue_from_outside(postgres, "second")  # nobody hears it
    eventually(lambda: status(daemon, "second") == "completed", "what was missed is looked for")
    expect_eq(listeners(postgres), "1")


if __name__ == "__main__":
    main()

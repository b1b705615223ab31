#!/usr/bin/env python3
"""Day budgets, with a model that counts what reaches it."""
import threading

from harness import eventually, expect, expect_eq, expect_in, main, test
from model_server import ModelServer


def limits(**of):
    return {f"DORMOUSE_BUDGET_{name.upper()}": str(value) for name, value in of.items()}


def agent(daemon):
    return daemon.ask("GET", "/agents/planner")


def failed(stream):
    """The error that a run ended with."""
    error = stream.until("error")
    stream.end()
    return error


@test
def nothing_leaves_when_the_day_s_budget_is_too_small(box):
    model = ModelServer(box, lambda reply: reply.text("hello"))
    daemon = box.serve(env=limits(tokens_per_day=10))
    error = failed(daemon.start("hello"))
    expect_eq(error["error"]["code"] if "error" in error else error["code"], "budget_exceeded")
    expect_eq(len(model.seen), 0)
    expect_eq(agent(daemon)["budget"]["tokens"], {"used": 0, "reserved": 0, "limit": 10, "left": 10})
    out, _ = box.run("agent", "show", "planner")
    expect_in("0 of 10 used, 10 left", out)
    expect_in("budget of tokens", out)
    daemon.stop()


@test
def requests_at_the_same_time_can_not_all_pass_one_check(box):
    hold = threading.Event()
    most = []

    def answer(reply):
        most.append(reply.body["max_tokens"] if "max_tokens" in reply.body else reply.body["max_completion_tokens"])
        hold.wait(30)
        reply.text("hello")

    model = ModelServer(box, answer)
    daemon = box.serve(env=limits(all_tokens_per_day=30000))
    streams = [daemon.start(f"hello {i}") for i in range(6)]
    eventually(lambda: sum(run["status"] == "failed" for run in daemon.ask("GET", "/runs")["runs"]) > 0,
               "one was refused")
    budget = agent(daemon)["budget"]["all"]["tokens"]
    expect(budget["reserved"] <= 30000, f"{budget} is more than there is")
    expect(0 < len(model.seen) < 6, f"{len(model.seen)} requests left")
    expect(sum(most) < 30000, f"answers may have {most}")
    hold.set()
    for stream in streams:
        stream.end()
    budget = agent(daemon)["budget"]["all"]["tokens"]
    expect_eq(budget["reserved"], 0)
    expect(0 < budget["used"] < 30000, f"{budget}")
    daemon.stop()


@test
def what_was_under_way_when_the_daemon_died_is_counted(box):
    hold = threading.Event()

    def answer(reply):
        if len(model.seen) == 1:
            hold.wait(30)
        reply.text("hello")

    model = ModelServer(box, answer)
    daemon = box.serve(env=limits(tokens_per_day=200000))
    daemon.start("hello")
    model.wait(1)
    reserved = agent(daemon)["budget"]["tokens"]["reserved"]
    expect(reserved > 0, "nothing is reserved")
    daemon.kill()
    hold.set()
    daemon = box.serve(env=limits(tokens_per_day=200000))
    model.wait(2)
    tokens = eventually(lambda: (lambda t: t if t["reserved"] == 0 else None)(agent(daemon)["budget"]["tokens"]),
                        "the second request is settled")
    expect(tokens["used"] > reserved, f"{tokens}: {reserved} were under way")
    daemon.stop()


@test
def an_agent_has_limits_of_its_own_and_tool_calls_count(box):
    def answer(reply):
        if reply.results() < 3:
            reply.call("read_file", {"path": "a.txt"})
        else:
            reply.text("done")

    ModelServer(box, answer)
    box.write("work/a.txt", "text\n")
    daemon = box.serve()
    box.run("agent", "set", "planner", "--tool-calls-per-day", "2")
    error = failed(daemon.start("read it", cwd=box.work))
    expect_in("budget of tool calls for this agent is 2: 2 used", str(error))
    box.run("agent", "set", "planner", "--tool-calls-per-day", "none", "--tokens-per-day", "5")
    expect_in("budget of tokens", str(failed(daemon.start("read it", cwd=box.work))))
    box.run("agent", "set", "planner", "--tokens-per-day", "none")
    daemon.start("read it", cwd=box.work).end()
    expect_eq(agent(daemon)["budget"]["toolCalls"]["used"], 5)
    daemon.stop()


@test
def a_cost_that_nobody_knows_is_refused(box):
    box.config("agent: { model: far }\nmodels:\n  - { id: far, provider: openai, base_url: 'https://far.example/v1', model: x }\n"
               "budget: { cost_per_day: 1 }\n")
    daemon = box.serve()
    expect_in("model far has no price", str(failed(daemon.start("hello"))))
    daemon.stop()


@test
def a_folder_lowers_the_budget_of_its_runs(box):
    model = ModelServer(box, lambda reply: reply.text("hello"))
    box.write("work/p/.dormouse/config.yaml", "budget: { tokens_per_day: 20 }\n")
    daemon = box.serve()
    expect_in("budget of tokens", str(failed(daemon.start("hello", cwd=box.path("work/p")))))
    expect_eq(len(model.seen), 0)
    daemon.start("hello", cwd=box.work).end()
    expect_eq(len(model.seen), 1)
    daemon.stop()


@test
def keys_that_do_nothing_are_refused(box):
    for text in ("features: { spawn: true }", "retention: { trace: 1d }", "mcp: { servers: [] }",
                 "rules: { root: x }", "budget: { warn_at: 0.5 }", "budget: { runtime_per_day: 1h }"):
        box.config(text + "\n")
        out, _ = box.run("config", "check", code=1)
        expect_in("does not exist yet", out)


main()

#!/usr/bin/env python3
"""Day budgets, with a model that counts what reaches it."""
import json
import threading

from harness import Box, Postgres, eventually, expect, expect_eq, expect_in, main, test
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
def doctor_says_what_is_set_used_left_and_stopped(box):
    def lines():
        checks = json.loads(box.run("doctor", "--json")[0])["checks"]
        return {check["message"].split(" today")[0]: check for check in checks if check["name"] == "budget"}

    ModelServer(box, lambda reply: reply.text("hello"))
    daemon = box.serve()
    expect_in("none is set", next(iter(lines().values()))["message"])
    box.run("agent", "set", "planner", "--tokens-per-day", "9000000", "--tool-calls-per-day", "4")
    daemon.start("hello").end()
    used = agent(daemon)["budget"]["tokens"]["used"]
    line = lines()["agent planner"]
    expect_eq(line["status"], "ok")
    expect_in(f"{used} of 9000000 tokens used, {9000000 - used} left; 0 of 4 tool calls used, 4 left", line["message"])
    box.run("agent", "set", "planner", "--tokens-per-day", str(used), "--tool-calls-per-day", "none")
    line = lines()["agent planner"]
    expect_eq(line["status"], "warn")
    expect_in("it is used up: requests are refused until", line["message"])
    expect_in("--tokens-per-day", line["fix"])
    daemon.stop()


@test
def a_test_of_a_model_counts_for_all_agents(box):
    model = ModelServer(box, lambda reply: reply.text("hello " * 10))
    box.env.update(limits(all_tokens_per_day=100))
    daemon = box.serve()
    used = 0
    while (tokens := agent(daemon)["budget"]["all"]["tokens"])["left"] >= 80:  # what one takes at least
        expect_eq(tokens["used"], used)
        answer = box.json("model", "test", "near")
        used += answer["input_tokens"] + answer["output_tokens"]
    expect_eq((tokens["used"], tokens["reserved"]), (used, 0))
    expect_eq(agent(daemon)["budget"]["tokens"]["used"], 0)
    asked = len(model.seen)
    expect(asked > 0, "nothing was asked")
    expect_in("budget of tokens for all agents is 100", box.run("model", "test", "near", code=1)[1])
    expect_eq(len(model.seen), asked)
    daemon.stop()


@test
def limits_that_are_typed_have_one_form_and_say_it(box):
    """A comma is no point: 0,5 must not become another number. Amounts are shown with their unit."""
    box.run("agent", "create", "Thrifty")
    for option, typed, form in (("--cost-per-day", "0,5", "with a point, such as 0.5"), ("--cost-per-day", "0", "above 0"),
                                ("--cost-per-day", "5 USD", "currency of your models' prices"),
                                ("--tokens-per-day", "1.5", "a whole number from 1"), ("--tokens-per-day", "1,000", "such as 2000000"),
                                ("--tokens-per-day", "0", "whole number"), ("--tool-calls-per-day", "-1", "whole number")):
        said = box.error("agent", "set", "thrifty", option, typed)["message"]
        for part in (option, form, typed, "none for no limit"):
            expect_in(part, said)
    box.run("agent", "set", "thrifty", "--cost-per-day", "0.5", "--tokens-per-day", "10")
    expect_in("0 of 0.5 (in your models' currency) used", box.run("agent", "show", "thrifty")[0])
    daemon = box.serve()
    said = failed(daemon.start("hello", agent="thrifty"))["message"]
    expect_in("or raise it: `dormouse agent set AGENT --tokens-per-day N`", said)
    daemon.stop()


@test
def an_exported_agent_takes_its_budget_along(box):
    ModelServer(box, lambda reply: reply.text("hello"))
    daemon = box.serve()
    box.run("agent", "create", "Thrifty", "--tokens-per-day", "1234", "--cost-per-day", "0.5")
    box.run("agent", "export", "thrifty", "thrifty.tar.gz")
    copy = box.json("agent", "import", "thrifty.tar.gz")
    expect_eq(daemon.ask("GET", f"/agents/{copy['id']}")["budget"]["own"],
              {"tokensPerDay": 1234, "costPerDay": 0.5})
    daemon.stop()


@test
def two_daemons_on_one_database_can_not_both_pass_one_check(box):
    """Many rounds: both ask in the same moment, and there is room for one answer."""
    postgres, other = Postgres(), Box()
    box.closing += [other, postgres]
    hold = threading.Event()

    def answer(reply):
        hold.wait(30)
        reply.text("hello")

    models = []
    for one in (box, other):
        one.env["DORMOUSE_STORE_URL"] = postgres.url
        models.append(ModelServer(one, answer))
    room = limits(all_tokens_per_day=20000)
    first, second = box.serve(env=room), other.serve(env=room)
    streams = []
    for i in range(8):
        threads = [threading.Thread(target=lambda d=daemon: streams.append(d.start(f"hello {i}"))) for daemon in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    # What is not refused stands at a model, which does not answer yet.
    eventually(lambda: sum(len(model.seen) for model in models) +
               sum(run["status"] == "failed" for run in first.ask("GET", "/runs?limit=100")["runs"]) == 16,
               "each was refused or has left")
    tokens = first.ask("GET", "/agents/planner")["budget"]["all"]["tokens"]
    most = sum(body.get("max_tokens") or body.get("max_completion_tokens") for model in models for body in (json.loads(raw) for _, raw in model.seen))
    expect(tokens["used"] + tokens["reserved"] <= 20000, f"{tokens} is more than there is")
    expect(0 < most <= 20000, f"answers may have {most} tokens together")
    hold.set()
    for stream in streams:
        stream.end()
    tokens = second.ask("GET", "/agents/planner")["budget"]["all"]["tokens"]
    expect_eq(tokens["reserved"], 0)
    expect(0 < tokens["used"] <= 20000, f"{tokens}")
    first.stop()
    second.stop()


@test
def keys_that_do_nothing_are_refused(box):
    for text in ("features: { spawn: true }", "retention: { trace: 1d }", "mcp: { servers: [] }",
                 "rules: { root: x }", "budget: { warn_at: 0.5 }", "budget: { runtime_per_day: 1h }"):
        box.config(text + "\n")
        out, _ = box.run("config", "check", code=1)
        expect_in("does not exist yet", out)


main()

// Runs as independent clients see them: Node's fetch and npm's ws against a real daemon with scripted
// models, a real database and the real sandbox.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import WebSocket from "ws";
import { startHeld } from "./held_model.mjs";

const binary = process.env.SERVER;
const WAIT_MS = 120000;
let root, data, work, daemon, url, token, held;

// The model answers by what the newest message says and how many results it has seen since.
const script = `
match: state
steps:
  - expect: { user: "stream", results: 0 }
    reply: { text: "word ", repeat: 300, chunk: { size: 5, delay_ms: 4 } }
  - expect: { user: "flood", results: 0 }
    reply: { text: "0123456789", repeat: 60000, chunk: { size: 10 } }
  - expect: { user: "think", results: 0 }
    reply: { text: "late", delay_ms: 3600000 }
  - expect: { user: "muse", results: 0 }
    reply: { thinking: "Let me see.", text: "I see." }
  - expect: { user: "keep in mind", results: 0 }
    reply: { calls: [ { name: write_memory, arguments: { path: "knowledge/mind.md", content: "- tea\\n", reason: "said so" } } ] }
  - expect: { user: "append twice", results: 0 }
    reply: { calls: [ { name: bash, arguments: { command: "echo one >> twice.txt" } } ] }
  - expect: { user: "append twice", results: 1 }
    reply: { calls: [ { name: bash, arguments: { command: "echo one >> twice.txt" } } ] }
  - expect: { user: "append", results: 0 }
    reply: { text: "I will.", calls: [ { name: bash, arguments: { command: "echo line >> append.txt" } } ] }
  - expect: { user: "sleep", results: 0 }
    reply: { calls: [ { name: bash, arguments: { command: "touch asleep.txt; sleep 60" } } ] }
  - expect: { user: "ask", results: 0 }
    reply: { calls: [ { name: ask_user, arguments: { question: "Which colour?" } } ] }
  - expect: { result: { failed: true } }
    reply: { text: "It was not done." }
  - reply: { text: "Done." }
`;

const config = `
agent:
  model: scripted
models:
  - id: scripted
    provider: script
    script: ${"${SCRIPT}"}
  - id: held
    provider: openai
    base_url: ${"${HELD}"}
    model: held
  - id: far
    provider: openai
    base_url: https://models.example/v1
    model: far-1
    privacy: { policy_version: "2026-01", trains: false, retention: none, jurisdiction: EU }
`;

// ---- the daemon ----

function start(dir, words = ["--listen", "127.0.0.1:0"]) {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, ["serve", "--data", dir, "--json", ...words], {
      cwd: work,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "", log = "";
    child.stderr.on("data", (chunk) => (log += chunk));
    child.stdout.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\n")) resolve([child, JSON.parse(text)]);
    });
    child.on("exit", (code) => reject(new Error(`the daemon ended with ${code}: ${text}${log}`)));
  });
}

async function up() {
  let info;
  [daemon, info] = await start(data);
  url = info.url;
  token = readFileSync(path.join(data, "token"), "utf8").trim();
}

async function down(signal = "SIGTERM") {
  const gone = once(daemon, "exit");
  daemon.kill(signal);
  const [code] = await gone;
  if (signal === "SIGTERM") assert.equal(code, 0);
}

before(async () => {
  root = mkdtempSync(path.join(os.tmpdir(), "dormouse-e2e-run-"));
  data = path.join(root, "data");
  work = path.join(root, "work");
  mkdirSync(data, { mode: 0o700 });
  mkdirSync(work);
  writeFileSync(path.join(root, "script.yaml"), script);
  held = await startHeld();
  writeFileSync(path.join(data, "config.yaml"),
    config.replace("${SCRIPT}", path.join(root, "script.yaml")).replace("${HELD}", held.url));
  await up();
});

after(async () => {
  await down();
  held.close();
  rmSync(root, { recursive: true });
});

// ---- clients ----

async function ask(method, route, body, headers = {}) {
  const answer = await fetch(url + route, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text ? JSON.parse(text) : null };
}

const get = (route) => ask("GET", `/api/v1${route}`);
const post = (route, body) => ask("POST", `/api/v1${route}`, body);

async function* lines(stream) {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    const parts = rest.split("\n");
    rest = parts.pop();
    yield* parts;
  }
}

// Events of a stream as {id, event, data}; comments and retry are left out.
async function* events(stream) {
  let event = {};
  for await (const line of lines(stream)) {
    if (line === "") {
      if (event.data !== undefined) yield { ...event, data: JSON.parse(event.data) };
      event = {};
    } else if (!line.startsWith(":")) {
      const [, key, value] = line.match(/^(\w+): (.*)$/);
      event[key] = value;
    }
  }
}

async function follow(method, route, body, headers = {}) {
  const cut = new AbortController();
  const answer = await fetch(url + route, {
    method,
    headers: { Authorization: `Bearer ${token}`, Accept: "text/event-stream", ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: cut.signal,
  });
  assert.equal(answer.status, 200, await (answer.status === 200 ? "" : answer.text()));
  assert.match(answer.headers.get("content-type"), /^text\/event-stream/);
  return { events: events(answer.body), cut: () => cut.abort() };
}

// All of a run, its partial events apart.
async function run(body, on = async () => {}) {
  const { events } = await follow("POST", "/run", body);
  const recorded = [], partial = [];
  for await (const event of events) {
    (event.data.isPartial ? partial : recorded).push(event);
    await on(event.data);
  }
  return { recorded: recorded.map((event) => event.data), partial, raw: recorded };
}

const metrics = async () => (await fetch(`${url}/metrics`)).text();
const types = (list) => list.map((event) => event.type).join(" ");
const decide = (id, decision, more = {}) => post(`/inbox/${id}/decision`, { decision, ...more });

async function until(what, ms = WAIT_MS) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await what();
    if (found) return found;
    assert.ok(Date.now() < end, `waited too long for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

class Client {
  constructor(query = "", agent = "planner") {
    this.events = [];
    this.waiting = [];
    this.socket = new WebSocket(`${url.replace("http", "ws")}/api/v1/agents/${agent}/ws${query}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    this.closed = new Promise((resolve) => this.socket.on("close", (code) => resolve(code)));
    this.socket.setMaxListeners(0);
    this.socket.on("message", (bytes) => {
      this.events.push(JSON.parse(bytes));
      this.waiting = this.waiting.filter((check) => !check(this.events.at(-1)));
    });
  }

  async open() {
    await once(this.socket, "open");
    return this;
  }

  say(message) {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  recorded() {
    return this.events.filter((event) => event.seq !== undefined && !event.isPartial);
  }

  // The first event, from the start or from index on, that fits.
  next(fits, from = 0) {
    const matches = typeof fits === "string" ? (event) => event.type === fits && !event.isPartial : fits;
    return new Promise((resolve, reject) => {
      const fail = () => reject(new Error(`no ${fits} among ${types(this.recorded())}`));
      const timer = setTimeout(fail, WAIT_MS);
      this.socket.once("close", () => { // nothing more can come; a timer would keep this process
        clearTimeout(timer);
        fail();
      });
      const check = (event) => {
        if (event === undefined || !matches(event)) return false;
        clearTimeout(timer);
        resolve(event);
        return true;
      };
      if (!check(this.events.slice(from).find(matches))) this.waiting.push(check);
    });
  }

  async close() {
    this.socket.close(1000);
    return this.closed;
  }
}

const connect = (query, agent) => new Client(query, agent).open();
const session = (name) => `?thread=${name}`;

// ---- POST /run ----

test("a run streams its text and ends with done, and nothing after it", async () => {
  const { recorded, partial, raw } = await run({ prompt: "stream it" });
  assert.equal(types(recorded), "init text done");
  assert.equal(recorded[2].stopReason, "end_turn");
  assert.equal(recorded[1].content, "word ".repeat(300));
  assert.deepEqual(raw.map((event) => event.id), ["1", "2", "3"]);
  for (const event of raw) {
    assert.equal(event.event, event.data.type);
    assert.match(event.data.at, /^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/);
    assert.equal(event.data.runId, recorded[0].runId);
  }
  // What came before the client was there is in the recorded event alone.
  let offset = partial[0].data.offset;
  assert.equal(partial.map((event) => event.data.content).join(""), recorded[1].content.slice(offset));
  for (const event of partial) {
    assert.equal(event.id, undefined, "a partial event has no id");
    assert.equal(event.data.seq, 2);
    assert.equal(event.data.offset, offset);
    offset += event.data.content.length;
  }
});

test("thinking comes before the text", async () => {
  const { recorded } = await run({ prompt: "muse about it" });
  assert.equal(types(recorded), "init thinking text done");
  assert.equal(recorded[1].content, "Let me see.");
});

test("/api/v1/run is the same, and the offline model answers", async () => {
  const { events } = await follow("POST", "/api/v1/run", { prompt: "hello", model: "offline" });
  const seen = [];
  for await (const event of events) seen.push(event.data);
  assert.equal(seen[0].model, "offline");
  assert.equal(seen.at(-1).type, "done");
});

test("a client that leaves does not end the run", async () => {
  const { events, cut } = await follow("POST", "/run", { prompt: "stream on" });
  const { value } = await events.next();
  cut();
  const ended = await until(async () => {
    const { body } = await get(`/runs/${value.data.runId}`);
    return body.endedAt && body;
  });
  assert.equal(ended.status, "done");
  assert.equal(ended.result, "word ".repeat(300));
});

test("the same turn starts one run, however often it is sent", async () => {
  const body = { prompt: "hi", session: "turns", turnId: "t1" };
  const first = await run(body), again = await run(body);
  assert.deepEqual(again.recorded, first.recorded);
});

test("a stream that broke goes on after Last-Event-ID, without gap or double", async () => {
  const { events, cut } = await follow("POST", "/run", { prompt: "go", model: "held" });
  const answer = await held.next();
  answer.say("one ");
  let runId;
  for await (const event of events) {
    runId = event.data.runId;
    if (event.data.isPartial) break;
  }
  cut();
  const rest = await follow("GET", `/api/v1/runs/${runId}/events`, undefined, { "Last-Event-ID": "1" });
  answer.say("two");
  const seen = [];
  for await (const event of rest.events) {
    seen.push(event);
    if (event.data.isPartial && event.data.content.endsWith("two")) answer.end();
  }
  const recorded = seen.filter((event) => !event.data.isPartial);
  assert.equal(recorded.at(-1).data.result, "one two");
  assert.deepEqual(recorded.map((event) => event.id), ["2", "3"]);
  assert.ok(seen.length > recorded.length, "the rest of the text came live");
});

test("a browser that comes back after the end is told to stay away", async () => {
  const { recorded } = await run({ prompt: "hi" });
  const answer = await fetch(`${url}/api/v1/runs/${recorded[0].runId}/events`, {
    headers: { Authorization: `Bearer ${token}`, Accept: "text/event-stream", "Last-Event-ID": "3" },
  });
  assert.equal(answer.status, 204);
});

test("what is wrong with a request is said with its status", async () => {
  const wrong = [
    [400, "bad_request", "{"],
    [422, "schema_violation", "[]"],
    [422, "schema_violation", {}],
    [422, "schema_violation", { prompt: 5 }],
    [422, "schema_violation", { prompt: "x", nonsense: 1 }],
    [422, "schema_violation", { prompt: "x", mode: "fast" }],
    [400, "bad_request", { prompt: "  " }],
    [400, "bad_request", { prompt: "x", maxIterations: -1 }],
    [400, "bad_request", { prompt: "x", cwd: "relative" }],
    [404, "not_found", { prompt: "x", agent: "nobody" }],
    [413, "too_large", { prompt: "x".repeat(2 * 1024 * 1024) }],
  ];
  for (const [status, code, body] of wrong) {
    const answer = await fetch(`${url}/run`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const { error } = await answer.json();
    assert.equal(answer.status, status, JSON.stringify([body, error]).slice(0, 300));
    assert.equal(error.code, code);
    assert.ok(error.message.length > 10);
  }
  assert.equal((await fetch(`${url}/run`, { method: "POST", body: "{}" })).status, 401);
});

test("a second run in a thread that has one is refused, and so is a run that has ended", async () => {
  const { events, cut } = await follow("POST", "/run", { prompt: "think", session: "busy" });
  const { value } = await events.next();
  const second = await ask("POST", "/run", { prompt: "me too", session: "busy" });
  assert.equal(second.status, 409);
  assert.equal(second.body.error.code, "conflict");
  const cancelled = await post(`/runs/${value.data.runId}/cancel`);
  assert.equal(cancelled.status, 200);
  for await (const event of events) if (event.data.type === "done") assert.equal(event.data.stopReason, "cancelled");
  cut();
  assert.equal((await post(`/runs/${value.data.runId}/cancel`)).status, 200, "again is no mistake");
  assert.equal((await post(`/runs/${value.data.runId}/mode`, { mode: "wiggum" })).status, 409);
});

// ---- /runs ----

test("runs are listed newest first, page by page, and found by a beginning", async () => {
  for (const prompt of ["one", "two", "three"]) await run({ prompt });
  const all = (await get("/runs?limit=500")).body.runs;
  assert.equal(all[0].prompt, "three");
  const first = (await get("/runs?limit=2")).body;
  const second = (await get(`/runs?limit=2&before=${first.before}`)).body;
  assert.deepEqual([...first.runs, ...second.runs].map((one) => one.runId), all.slice(0, 4).map((one) => one.runId));
  assert.equal((await get("/runs?agent=planner&limit=1")).body.runs.length, 1);
  assert.equal((await get("/runs?agent=nobody")).status, 404);
  const { body } = await get(`/runs/${all[0].runId.slice(0, 12)}`);
  assert.equal(body.runId, all[0].runId);
  assert.equal((await get(`/runs/${all[0].runId.slice(0, 3)}`)).status, 400);
  assert.equal((await get("/runs/ffffffffffffffff")).status, 404);
  assert.equal((await get("/runs?limit=0")).status, 400);
  assert.equal((await get("/runs?limit=x")).status, 400);
  assert.equal((await get("/runs?sort=up")).status, 400);
});

test("the events of a run are a list with pages, the trace is the whole log", async () => {
  const { recorded } = await run({ prompt: "hi" });
  const { runId } = recorded[0];
  assert.deepEqual((await get(`/runs/${runId}/events`)).body,
    { events: recorded, after: 3, more: false, ended: true });
  const page = (await get(`/runs/${runId}/events?limit=2`)).body;
  assert.deepEqual([page.events.length, page.more, page.ended, page.after], [2, true, false, 2]);
  assert.deepEqual((await get(`/runs/${runId}/events?after=2`)).body.events, recorded.slice(2));
  const trace = (await get(`/runs/${runId}/trace`)).body;
  assert.equal(trace.run.runId ?? trace.run.id ?? trace.run.run, runId);
  assert.ok(trace.events.length > recorded.length);
  const text = await fetch(`${url}/api/v1/runs/${runId}/trace?format=text`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  assert.match(text.headers.get("content-type"), /^text\/plain/);
  assert.ok((await text.text()).split("\n").length > recorded.length);
  assert.equal((await get(`/runs/${runId}/trace?format=pdf`)).status, 400);
});

test("a rerun is a new run of the same prompt in a thread of its own", async () => {
  const { recorded } = await run({ prompt: "hi again", session: "original" });
  const { events } = await follow("POST", `/api/v1/runs/${recorded[0].runId}/rerun`, {});
  const seen = [];
  for await (const event of events) seen.push(event.data);
  assert.equal(seen.at(-1).type, "done");
  assert.notEqual(seen[0].runId, recorded[0].runId);
  assert.notEqual(seen[0].threadId, recorded[0].threadId);
  assert.equal((await get(`/runs/${seen[0].runId}`)).body.prompt, "hi again");
});

// ---- approvals ----

const file = (name) => path.join(work, name);
const content = (name) => (existsSync(file(name)) ? readFileSync(file(name), "utf8") : "");

async function approved(prompt, decision, more) {
  rmSync(file("append.txt"), { force: true });
  let gate, before;
  const told = await run({ prompt }, async (event) => {
    if (event.type !== "waiting") return;
    before = content("append.txt");
    gate = event.itemId;
    const answer = await decide(gate.slice(0, 10), decision, more);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.equal(answer.body.applied, true);
  });
  assert.equal(before, "", "nothing was done before the answer");
  return { ...told, gate };
}

test("nothing happens before a person approves, then it does, once", async () => {
  const { recorded, gate } = await approved("append it", "approve");
  assert.equal(types(recorded), "init text tool_use approval_gate waiting tool_result text done");
  assert.equal(recorded[3].gateId, gate);
  assert.match(recorded[3].preview, /echo line >> append.txt/);
  assert.equal(recorded[5].status, "completed");
  assert.equal(content("append.txt"), "line\n");
  const again = await decide(gate, "approve");
  assert.deepEqual([again.status, again.body.applied], [200, false]);
  const otherwise = await decide(gate, "reject");
  assert.deepEqual([otherwise.status, otherwise.body.error.code], [409, "conflict"]);
  assert.equal(content("append.txt"), "line\n");
});

test("a rejection goes back to the model with the reason", async () => {
  const { recorded, gate } = await approved("append no", "reject", { reason: "not today" });
  const result = recorded.find((event) => event.type === "tool_result");
  assert.equal(result.status, "failed");
  assert.deepEqual([result.error.code, result.error.message], ["rejected", "not today"]);
  assert.equal(recorded.at(-1).result, "It was not done.");
  assert.equal(content("append.txt"), "");
  const { body } = await get(`/inbox/${gate}`);
  assert.deepEqual([body.state, body.reason, body.decidedBy], ["rejected", "not today", "owner"]);
});

test("edited arguments are what is done", async () => {
  await approved("append other", "edit", { input: { command: "echo edited >> append.txt" } });
  assert.equal(content("append.txt"), "edited\n");
});

test("a decision that can't be is refused, and the item waits on", async () => {
  const wrong = [
    [422, {}],
    [422, { decision: "perhaps" }],
    [422, { decision: "approve", scope: "forever" }],
    [422, { decision: "reject", scope: "always" }],
    [422, { decision: "edit" }],
    [422, { decision: "edit", input: "echo" }],
    [422, { decision: "edit", input: { no_such: 1 } }],
    [400, { decision: "answer", answer: "yes" }],
  ];
  const { recorded } = await run({ prompt: "append wrongly" }, async (event) => {
    if (event.type !== "waiting") return;
    for (const [status, body] of wrong) {
      const answer = await post(`/inbox/${event.itemId}/decision`, body);
      assert.equal(answer.status, status, JSON.stringify([body, answer.body]));
    }
    assert.equal((await get(`/inbox/${event.itemId}`)).body.state, "pending");
    const { body } = await get("/inbox");
    assert.deepEqual(body.items.map((item) => item.id), [event.itemId]);
    assert.equal((await get(`/runs/${event.runId}`)).body.waitItem, event.itemId);
    const page = (await get(`/agents/planner/threads/${event.threadId}/messages?limit=1`)).body;
    assert.deepEqual([page.lastSeq, page.run.runId, page.run.status], [event.seq, event.runId, "waiting"]);
    await decide(event.itemId, "reject");
  });
  assert.equal(recorded.at(-1).stopReason, "end_turn");
  assert.equal((await decide("ffffffffffff", "approve")).status, 404);
  assert.equal((await decide("ff", "approve")).status, 400);
  assert.equal((await get("/inbox")).body.items.length, 0);
  assert.ok((await get("/inbox?state=rejected")).body.items.length > 0);
  assert.equal((await get("/inbox?state=lost")).status, 400);
});

test("approved for the run, the same call is not asked about again; for the next run it is", async () => {
  rmSync(file("twice.txt"), { force: true });
  let asked = 0;
  const on = async (event) => {
    if (event.type === "waiting") {
      asked++;
      await decide(event.itemId, "approve", { scope: "run" });
    }
  };
  await run({ prompt: "append twice" }, on);
  assert.equal(asked, 1);
  assert.equal(content("twice.txt"), "one\none\n");
  await run({ prompt: "append twice" }, on);
  assert.equal(asked, 2);
});

test("approved for always, exactly this call is not asked about until the grant is revoked", async () => {
  await approved("append always", "approve", { scope: "always" });
  const silent = await run({ prompt: "append again" });
  assert.ok(!types(silent.recorded).includes("approval_gate"));
  assert.equal(content("append.txt"), "line\nline\n");
  const { grants } = (await get("/grants")).body;
  const grant = grants.find((one) => one.scope === "always");
  assert.deepEqual([grant.toolName, grant.agentId], ["bash", "planner"]);
  assert.equal((await ask("DELETE", `/api/v1/grants/${grant.id.slice(0, 18)}`)).status, 204);
  assert.equal((await ask("DELETE", "/api/v1/grants/00000000-0000")).status, 404);
  await approved("append once more", "approve");
});

test("a question is answered and the answer reaches the model", async () => {
  const { recorded } = await run({ prompt: "ask me" }, async (event) => {
    if (event.type !== "waiting") return;
    assert.equal(event.kind, "question");
    assert.equal((await decide(event.itemId, "approve")).status, 400);
    assert.equal((await decide(event.itemId, "answer", { answer: "green" })).status, 200);
  });
  assert.match(JSON.stringify(recorded.find((event) => event.type === "tool_result").output), /green/);
});

// ---- modes, cancel, kill ----

test("a person may switch a waiting run to wiggum: it goes on unasked", async () => {
  rmSync(file("append.txt"), { force: true });
  const { recorded } = await run({ prompt: "append in wiggum" }, async (event) => {
    if (event.type !== "waiting") return;
    const answer = await post(`/runs/${event.runId}/mode`, { mode: "wiggum" });
    assert.deepEqual([answer.status, answer.body.mode], [200, "wiggum"]);
    assert.equal((await post(`/runs/${event.runId}/mode`, { mode: "fast" })).status, 422);
    assert.equal((await get(`/inbox/${event.itemId}`)).body.state, "withdrawn");
  });
  assert.equal(recorded.find((event) => event.type === "tool_result").status, "completed");
  assert.equal(content("append.txt"), "line\n");
});

test("cancel ends a command under way and settles the run", async () => {
  rmSync(file("asleep.txt"), { force: true });
  const { recorded } = await run({ prompt: "sleep now" }, async (event) => {
    if (event.type !== "waiting") return;
    await decide(event.itemId, "approve");
    await until(() => existsSync(file("asleep.txt")));
    assert.equal((await post(`/runs/${event.runId}/cancel`)).body.error, undefined);
  });
  assert.equal(recorded.at(-1).stopReason, "cancelled");
  assert.equal((await get(`/runs/${recorded[0].runId}`)).body.status, "cancelled");
});

test("the emergency stop refuses new runs until it is lifted", async () => {
  const on = await post("/kill", { scope: "all", reason: "smoke" });
  assert.deepEqual([on.status, on.body.changed, on.body.switches[0].reason], [200, true, "smoke"]);
  assert.equal((await post("/kill", { scope: "all" })).body.changed, false);
  const refused = await ask("POST", "/run", { prompt: "hi" });
  assert.equal(refused.body.error.code, "kill_switch_active");
  assert.equal((await get("/kill")).body.switches.length, 1);
  const off = await ask("DELETE", "/api/v1/kill?scope=all");
  assert.deepEqual([off.body.changed, off.body.switches], [true, []]);
  assert.equal((await ask("DELETE", "/api/v1/kill?scope=all")).body.changed, false);
  assert.equal((await run({ prompt: "hi" })).recorded.at(-1).stopReason, "end_turn");
  assert.equal((await post("/kill", { scope: "some" })).status, 422);
  assert.equal((await post("/kill", { scope: "agent", value: "nobody" })).status, 404);
  const unknown = await post("/kill", { scope: "tools", value: "rockets" });
  assert.equal(unknown.status, 400);
  assert.match(unknown.body.error.message, /shell/);
});

test("killing a class of tools ends its commands and leaves the talking", async () => {
  rmSync(file("asleep.txt"), { force: true });
  const { recorded } = await run({ prompt: "sleep again" }, async (event) => {
    if (event.type !== "waiting") return;
    await decide(event.itemId, "approve");
    await until(() => existsSync(file("asleep.txt")));
    await post("/kill", { scope: "tools", value: "shell" });
  });
  assert.equal(recorded.find((event) => event.type === "tool_result").error.code, "kill_switch_active");
  await ask("DELETE", "/api/v1/kill?scope=tools&value=shell");
});

// ---- agents and models ----

test("an agent can be looked at, paused and resumed", async () => {
  const { body } = await get("/agents");
  assert.deepEqual(body.agents.map((agent) => agent.id), ["planner"]);
  assert.equal((await get("/agents/plan")).body.id, "planner");
  assert.equal((await get("/agents/nobody")).status, 404);
  assert.equal((await post("/agents/planner/pause")).body.paused, true);
  assert.equal((await ask("POST", "/run", { prompt: "hi" })).body.error.code, "agent_paused");
  assert.equal((await post("/agents/planner/resume")).body.paused, false);
  await run({ prompt: "hi", session: "talk" });
  const { threads } = (await get("/agents/planner/threads?limit=1")).body;
  assert.equal(threads[0].id, "planner:session:talk");
  const messages = (await get("/agents/planner/threads/talk/messages")).body.messages;
  assert.deepEqual(messages.map((message) => message.kind), ["thought", "user"]);
  assert.deepEqual(messages[1].content, { text: "hi" });
  const page = (await get("/agents/planner/threads/planner:session:talk/messages?limit=1")).body;
  const rest = (await get(`/agents/planner/threads/talk/messages?before=${page.before}`)).body;
  assert.deepEqual([...page.messages, ...rest.messages], messages);
  assert.equal(page.lastSeq, threads[0].lastSeq);
  assert.deepEqual([page.run, rest.lastSeq, rest.run], [undefined, undefined, undefined]);
  assert.equal((await get("/agents/planner/threads/none/messages")).status, 404);
});

test("text leaves for a far model only after a person agreed to its terms", async () => {
  const { models } = (await get("/models")).body;
  assert.deepEqual(models.map((model) => [model.id, model.local, model.consent]),
    [["scripted", true, "not_needed"], ["held", true, "not_needed"], ["far", false, "needed"],
      ["offline", true, "not_needed"]]);
  assert.deepEqual(models[2].privacy,
    { policyVersion: "2026-01", trains: false, retention: "none", jurisdiction: "EU" });
  const { recorded } = await run({ prompt: "hi", model: "far" });
  assert.equal(recorded.find((event) => event.type === "error").code, "privacy_confirmation_required");
  assert.equal((await post("/models/far/consent", { policy_version: "2020-01" })).status, 409);
  assert.equal((await post("/models/far/consent", {})).status, 422);
  assert.equal((await post("/models/far/consent", { policy_version: "2026-01" })).body.consent, "given");
  assert.equal((await ask("DELETE", "/api/v1/models/far/consent")).body.consent, "needed");
  assert.equal((await ask("DELETE", "/api/v1/models/far/consent")).status, 404);
  assert.equal((await post("/models/none/consent", { policy_version: "1" })).status, 404);
  assert.equal((await post("/models/offline/consent", { policy_version: "" })).status, 400);
});

// ---- the WebSocket ----

test("ws: a message is answered by events of its thread", async () => {
  const client = await connect(session("ws1"));
  client.say({ type: "message", content: "stream please" });
  const done = await client.next("done");
  assert.equal(done.threadId, "planner:session:ws1");
  assert.equal(types(client.recorded()), "init text done");
  assert.deepEqual(client.recorded().map((event) => event.seq), [1, 2, 3]);
  const text = client.events.filter((event) => event.isPartial).map((event) => event.content).join("");
  assert.equal(text, "word ".repeat(300));
  client.say({ type: "message", text: "and now?" });
  await client.next((event) => event.type === "done" && event.seq > 3);
  assert.deepEqual(client.recorded().map((event) => event.seq), [1, 2, 3, 4, 5, 6]);
  assert.equal(await client.close(), 1000);
});

test("ws: without a thread it is the agent's main one", async () => {
  const client = await connect("");
  client.say({ type: "message", content: "hi" });
  assert.equal((await client.next("done")).threadId, "planner:session:main");
  await client.close();
});

test("ws: approve, reject, edit", async () => {
  const client = await connect(session("ws2"));
  rmSync(file("append.txt"), { force: true });
  const answers = [
    [{ decision: "approve" }, "line\n", "completed"],
    [{ decision: "reject", reason: "no" }, "line\n", "failed"],
    [{ decision: "edit", input: { command: "echo mine >> append.txt" } }, "line\nmine\n", "completed"],
  ];
  for (const [answer, after, status] of answers) {
    const from = client.events.length;
    client.say({ type: "message", content: "append over ws" });
    const { gateId } = await client.next("approval_gate", from);
    client.say({ type: "approval_response", gateId, ...answer });
    assert.equal((await client.next("tool_result", from)).status, status);
    await client.next("done", from);
    assert.equal(content("append.txt"), after);
  }
  const { gateId } = await client.next("approval_gate");
  const from = client.events.length;
  client.say({ type: "approval_response", gateId, decision: "reject" });
  assert.equal((await client.next("error", from)).code, "conflict");
  await client.close();
});

const decision = (request_id, more) => ({ type: "memory_edit_decision", request_id, ...more });
const mind = async () => (await get("/agents/planner/memory/knowledge/mind.md")).body;

test("ws: a change of memory is approved, edited, rejected", async () => {
  const client = await connect(session("mem1"));
  const answers = [
    [{ decision: "edit", edited_content: "- coffee\n" }, true, 1, "- coffee\n"],
    [{ decision: "approve" }, true, 2, "- tea\n"],
    [{ decision: "edit", edited_content: "- water\n" }, true, 4, "- water\n"],
    [{ decision: "reject", reason: "no" }, false, 4, "- water\n"],
  ];
  for (const [answer, success, version, text] of answers) {
    const from = client.events.length;
    client.say({ type: "message", content: "keep in mind" });
    const { request_id } = await client.next("memory_edit_request", from);
    client.say(decision(request_id, { decision: "edit" }));
    assert.equal((await client.next("error", from)).code, "schema_violation");
    client.say(decision(request_id, answer));
    const complete = await client.next("memory_edit_complete", from);
    assert.deepEqual([complete.request_id, complete.success, complete.path], [request_id, success, "knowledge/mind.md"]);
    await client.next("done", from);
    const file = await mind();
    assert.deepEqual([file.version, file.content], [version, text]);
    // What is there already is not asked about: the person writes something else meanwhile.
    if (text === "- tea\n") await post("/agents/planner/memory-restore/knowledge/mind.md", { version: 1 });
  }
  await client.close();
});

test("ws: a change of memory that two decide in the same moment is decided once", async () => {
  const [a, b] = [await connect(session("mem2")), await connect(session("mem2"))];
  for (let round = 0; round < 10; round++) {
    const before = (await mind()).version;
    const [fromA, fromB] = [a.events.length, b.events.length];
    a.say({ type: "message", content: "keep in mind" });
    const { request_id } = await b.next("memory_edit_request", fromB);
    await a.next("memory_edit_request", fromA);
    a.say(decision(request_id, { decision: "edit", edited_content: `- a${round}\n` }));
    b.say(decision(request_id, { decision: "edit", edited_content: `- b${round}\n` }));
    const late = await Promise.race([a.next("error", fromA), b.next("error", fromB)]);
    assert.equal(late.code, "conflict");
    await Promise.all([a.next("done", fromA), b.next("done", fromB)]);
    const lost = a.events.slice(fromA).some((event) => event.type === "error") ? "a" : "b";
    const file = await mind();
    assert.deepEqual([file.version, file.content], [before + 1, `- ${lost === "a" ? "b" : "a"}${round}\n`]);
    const told = a.events.slice(fromA).filter((event) => event.type === "memory_edit_complete");
    assert.equal(told.length, 1);
  }
  await Promise.all([a.close(), b.close()]);
});

test("ws: scopes reach further than one call", async () => {
  const client = await connect(session("ws3"));
  rmSync(file("twice.txt"), { force: true });
  client.say({ type: "message", content: "append twice" });
  const { gateId } = await client.next("approval_gate");
  client.say({ type: "approval_response", gateId, decision: "approve", scope: "run" });
  await client.next("done");
  assert.equal(client.recorded().filter((event) => event.type === "approval_gate").length, 1);
  assert.equal(content("twice.txt"), "one\none\n");
  await client.close();
});

test("ws: cancel and setMode act on the run under way", async () => {
  const client = await connect(session("ws4"));
  client.say({ type: "cancel" });
  assert.equal((await client.next("error")).code, "not_found");
  client.say({ type: "message", content: "think long" });
  await client.next("init");
  client.say({ type: "cancel" });
  assert.equal((await client.next("done")).stopReason, "cancelled");
  const from = client.events.length;
  rmSync(file("append.txt"), { force: true });
  client.say({ type: "message", content: "append by mode" });
  await client.next("waiting", from);
  client.say({ type: "setMode", mode: "wiggum" });
  assert.equal((await client.next("tool_result", from)).status, "completed");
  await client.next("done", from);
  assert.equal(content("append.txt"), "line\n");
  await client.close();
});

test("ws: what can't be understood is answered and ends nothing", async () => {
  const client = await connect(session("ws5"));
  const wrong = [
    ["{", "bad_request"],
    ["[]", "schema_violation"],
    ["null", "schema_violation"],
    [{}, "schema_violation"],
    [{ type: "dance" }, "schema_violation"],
    [{ type: 7 }, "schema_violation"],
    [{ type: "message" }, "bad_request"],
    [{ type: "message", content: "" }, "bad_request"],
    [{ type: "message", content: 5 }, "schema_violation"],
    [{ type: "message", content: "x", extra: 1 }, "schema_violation"],
    [{ type: "message", content: "x", mode: "fast" }, "schema_violation"],
    [{ type: "message", content: "x", model: "none" }, "model_not_allowed"],
    [{ type: "approval_response" }, "schema_violation"],
    [{ type: "approval_response", gateId: "ffffffff", decision: "approve" }, "not_found"],
    [{ type: "approval_response", gateId: "", decision: "approve" }, "not_found"],
    [{ type: "setMode" }, "schema_violation"],
    [{ type: "setMode", mode: "wiggum" }, "not_found"],
    [{ type: "resume" }, "schema_violation"],
    [{ type: "resume", after: -1 }, "bad_request"],
    [{ type: "resume", after: 99 }, "bad_request"],
  ];
  for (const [message, code] of wrong) {
    const from = client.events.length;
    client.say(message);
    const error = await client.next("error", from);
    assert.equal(error.code, code, JSON.stringify([message, error]));
    assert.equal(error.recoverable, true);
    assert.equal(error.seq, undefined);
  }
  client.say({ type: "message", content: "still there?" });
  assert.equal((await client.next("done")).stopReason, "end_turn");
  await client.close();
});

// A connection that did not say where to begin is held until its first message does.
test("ws: what comes first decides where the events begin", async () => {
  const first = await connect(session("first"));
  first.say({ type: "message", content: "hi" });
  await first.next("done");
  const past = first.recorded();
  assert.deepEqual(past.map((event) => event.seq), past.map((event, i) => i + 1));

  const begins = {
    // Nothing of the past; what it began itself from the first event on.
    message: async (client) => {
      client.say({ type: "message", content: "hi" });
      await client.next("done");
      return client.recorded()[0].seq;
    },
    // All of it, in order.
    resume: async (client) => {
      client.say({ type: "resume", after: 0 });
      await client.next("done");
      return client.recorded()[0].seq;
    },
    // What can't be understood decides nothing: resume may still say where.
    garbage: async (client) => {
      for (const [i, wrong] of ["{", '{"type":"dance"}', '{"type":"resume","after":"x"}'].entries()) {
        client.say(wrong);
        await until(() => client.events.length === i + 1);
        assert.equal(client.events[i].type, "error");
      }
      client.say({ type: "resume", after: 1 });
      await client.next("done");
      return client.recorded()[0].seq;
    },
    // A refused message was one all the same: live from here, the past on request.
    refused: async (client) => {
      client.say({ type: "setMode", mode: "wiggum" });
      assert.equal((await client.next("error")).code, "not_found");
      assert.deepEqual(client.recorded(), []);
      client.say({ type: "resume", after: 2 });
      await client.next("done");
      return client.recorded()[0].seq;
    },
  };
  for (const [name, begin, at] of [
    ["resume", begins.resume, () => 1],
    ["garbage", begins.garbage, () => 2],
    ["refused", begins.refused, () => 3],
    ["message", begins.message, () => past.length + 1],
  ]) {
    const client = await connect(session("first"));
    assert.equal(await begin(client), at(), name);
    const seqs = client.recorded().map((event) => event.seq);
    assert.deepEqual(seqs, seqs.map((seq, i) => seqs[0] + i), name);
    await client.close();
  }
  await first.close();
});

test("ws: a limit can't be moved by setMode, and the run goes on as it was", async () => {
  const client = await connect(session("limit"));
  client.say({ type: "message", content: "think long", maxIterations: 9 });
  const { runId } = await client.next("init");
  for (const maxIterations of [5, 0, "many", {}]) {
    const from = client.events.length;
    client.say({ type: "setMode", mode: "wiggum", maxIterations });
    const error = await client.next("error", from);
    assert.equal(error.code, "bad_request");
    assert.match(error.message, /^maxIterations can't be changed while the run goes on/);
    assert.match(error.message, /cancel it and start another with maxIterations$/);
  }
  client.say({ type: "cancel" });
  await client.next("done");
  const { body } = await get(`/runs/${runId}`);
  assert.deepEqual([body.maxIterations, body.mode], [9, "structured"]);
  await client.close();
});

test("ws: who comes to a thread that is busy is told so, and may go on", async () => {
  const client = await connect(session("ws6"));
  client.say({ type: "message", content: "think of it" });
  await client.next("init");
  client.say({ type: "message", content: "and this" });
  assert.equal((await client.next("error")).code, "conflict");
  client.say({ type: "cancel" });
  await client.next("done");
  await client.close();
});

test("ws: a thread of another agent, or no agent, is not opened", async () => {
  const refused = (query, agent) => new Promise((resolve) => {
    const client = new Client(query, agent);
    client.socket.on("error", () => {});
    client.socket.on("unexpected-response", (request, response) => resolve(response.statusCode));
    client.socket.on("open", () => resolve(101));
  });
  assert.equal(await refused("", "nobody"), 404);
  assert.equal(await refused("?after=x"), 400);
  assert.equal(await refused("?thraed=x"), 400);
});

// What a stranger says of the gate and the run is refused with not_found, word by word the same.
async function refusedAll(client, gateId, runId) {
  const messages = [
    { type: "approval_response", gateId, decision: "reject" },
    { type: "memory_edit_decision", request_id: gateId, decision: "reject" },
    { type: "setMode", runId, mode: "wiggum" },
    { type: "cancel", runId },
  ];
  for (const message of messages) {
    const from = client.events.length;
    client.say(message);
    const error = await client.next("error", from);
    assert.equal(error.code, "not_found", JSON.stringify([message, error]));
    assert.match(error.message, /this agent has no such (item|run)/);
  }
}

test("ws: an agent's connection decides nothing of another agent, and steers none of its runs", async () => {
  assert.equal((await post("/agents", { id: "stranger", displayName: "Stranger" })).status, 201);
  const owner = await connect(session("foreign"));
  const stranger = await connect(session("foreign"), "stranger");
  rmSync(file("append.txt"), { force: true });
  for (const [content, gate] of [["append alone", "gateId"], ["keep in mind", "request_id"]]) {
    const from = owner.events.length;
    owner.say({ type: "message", content });
    const asked = await owner.next((event) => event[gate] !== undefined, from);
    const { runId } = await owner.next("waiting", from);
    await refusedAll(stranger, asked[gate], runId);
    await refusedAll(stranger, "00000000-0000-7000-8000-000000000000", "00000000-0000-7000-8000-000000000000");
    assert.equal((await get(`/inbox/${asked[gate]}`)).body.state, "pending");
    assert.equal((await get(`/runs/${runId}`)).body.status, "waiting");
    owner.say({ type: "cancel", runId });
    await owner.next("done", from);
  }
  assert.ok(!existsSync(file("append.txt")));
  await Promise.all([owner.close(), stranger.close()]);
});

test("ws: ids are whole, a beginning of one decides nothing", async () => {
  const client = await connect(session("exact"));
  client.say({ type: "message", content: "append by a beginning" });
  const { gateId } = await client.next("approval_gate");
  const { runId } = await client.next("waiting");
  await refusedAll(client, gateId.slice(0, -1), runId.slice(0, -1));
  assert.equal((await get(`/inbox/${gateId}`)).body.state, "pending");
  client.say({ type: "cancel", runId });
  assert.equal((await client.next("done")).stopReason, "cancelled");
  await client.close();
});

test("ws: two clients of one thread see the same, whoever speaks", async () => {
  const [a, b] = [await connect(session("ws7")), await connect(session("ws7"))];
  a.say({ type: "message", content: "append together" });
  const { gateId } = await b.next("approval_gate");
  b.say({ type: "approval_response", gateId, decision: "reject" });
  await Promise.all([a.next("done"), b.next("done")]);
  assert.deepEqual(b.recorded(), a.recorded());
  await Promise.all([a.close(), b.close()]);
});

test("ws: reconnecting in the middle of a stream misses nothing and gets nothing twice", async () => {
  for (const how of ["message", "query"]) {
    const thread = `ws8-${how}`;
    const first = await connect(session(thread));
    first.say({ type: "message", content: "stream to me" });
    await first.next((event) => event.isPartial && event.offset > 100);
    first.socket.terminate();
    const last = first.recorded().at(-1).seq;
    const second = await connect(session(thread) + (how === "query" ? `&after=${last}` : ""));
    if (how === "message") second.say({ type: "resume", after: last });
    await second.next("done");
    const seqs = [...first.recorded(), ...second.recorded()].map((event) => event.seq);
    assert.deepEqual(seqs, [1, 2, 3]);
    await second.close();
  }
});

test("ws: at every place of a conversation resuming gives exactly the rest", async () => {
  const client = await connect(session("ws9"));
  for (const text of ["hi", "muse", "bye"]) {
    const from = client.events.length;
    client.say({ type: "message", content: text });
    await client.next("done", from);
  }
  const all = client.recorded();
  for (let after = 0; after <= all.length; after++) {
    const again = await connect(session("ws9"));
    again.say({ type: "resume", after });
    if (after < all.length) await again.next((event) => event.seq === all.length);
    assert.deepEqual(again.recorded(), all.slice(after));
    // Asked again on the same connection, nothing comes twice; what is missing comes.
    again.say({ type: "resume", after: 0 });
    await until(() => again.recorded().length === all.length);
    again.say({ type: "message", content: "" });
    await again.next("error");
    assert.deepEqual(again.recorded().map((event) => event.seq).sort((a, b) => a - b), all.map((event) => event.seq));
    await again.close();
  }
  await client.close();
});

test("ws: clients that come and go while events flow each get every event once", async () => {
  const speaker = await connect(session("ws10"));
  const listeners = [];
  let speaking = true;
  const talk = (async () => {
    for (let i = 0; i < 20; i++) {
      const from = speaker.events.length;
      speaker.say({ type: "message", content: `number ${i}` });
      await speaker.next("done", from);
    }
    speaking = false;
  })();
  while (speaking) {
    const after = speaker.recorded().at(-1)?.seq ?? 0;
    const client = await connect(`${session("ws10")}&after=${after}`);
    listeners.push([after, client]);
  }
  await talk;
  const last = speaker.recorded().length;
  assert.equal(last, 60);
  assert.ok(listeners.length > 3, `${listeners.length} listeners`);
  for (const [after, client] of listeners) {
    if (after < last) await client.next((event) => event.seq === last);
    const seqs = client.recorded().map((event) => event.seq);
    assert.deepEqual(seqs, Array.from({ length: last - after }, (_, i) => after + 1 + i));
    await client.close();
  }
  await speaker.close();
});

test("ws: who only listens gets events as they come", async () => {
  const listener = await connect(session("ws11"));
  const speaker = await connect(session("ws11"));
  speaker.say({ type: "message", content: "hi" });
  await Promise.all([listener.next("done"), speaker.next("done")]);
  assert.deepEqual(listener.recorded(), speaker.recorded());
  await Promise.all([listener.close(), speaker.close()]);
});

const overflows = async () => Number((await metrics()).match(/^dormouse_stream_overflows_total (\d+)$/m)[1]);

// How such a client was closed.
async function floods(thread) {
  const slow = await connect(session(thread));
  const before = await overflows();
  slow.socket.pause();
  slow.say({ type: "message", content: "flood me" });
  await until(async () => (await overflows()) > before);
  slow.socket.resume();
  return [slow, await slow.closed];
}

test("ws: a client that never reads is closed with 1013 and can come back", async () => {
  let slow, code, thread;
  // A close frame behind bytes that nobody takes is given two seconds; a busy machine may take them.
  for (let i = 0; i < 5 && code !== 1013; i++) [slow, code] = await floods((thread = `slow${i}`));
  assert.equal(code, 1013);
  await until(async () => (await get("/runs?limit=1")).body.runs[0].endedAt);
  const again = await connect(session(thread));
  again.say({ type: "resume", after: slow.recorded().at(-1)?.seq ?? 0 });
  await again.next("done");
  assert.deepEqual([...slow.recorded(), ...again.recorded()].map((event) => event.seq), [1, 2, 3]);
  assert.equal(again.recorded().find((event) => event.type === "text").content.length, 600000);
  await again.close();
});

test("ws: a message past the limit closes with 1009", async () => {
  const client = await connect(session("big"));
  client.socket.on("error", () => {});
  client.say({ type: "message", content: "x".repeat(1024 * 1024) });
  assert.equal(await client.closed, 1009);
});

// ---- across restarts ----

test("a waiting run outlives the daemon: resumed, approved, done", async () => {
  rmSync(file("append.txt"), { force: true });
  const client = await connect(session("restart"));
  client.say({ type: "message", content: "append after a restart" });
  const { gateId } = await client.next("approval_gate");
  await client.next("waiting");
  await down();
  assert.equal(await client.closed, 1001);
  await up();
  const again = await connect(session("restart"));
  again.say({ type: "resume", after: client.recorded().at(-1).seq });
  again.say({ type: "approval_response", gateId, decision: "approve" });
  await again.next("done");
  assert.equal(types([...client.recorded(), ...again.recorded()]),
    "init text tool_use approval_gate waiting tool_result text done");
  assert.equal(content("append.txt"), "line\n");
  await again.close();
});

test("a stream cut by kill -9 goes on after the restart, every event once", async () => {
  const client = await connect(session("crash"));
  client.socket.on("error", () => {});
  client.say({ type: "message", content: "go", model: "held" });
  (await held.next()).say("half of ");
  await client.next((event) => event.isPartial);
  await down("SIGKILL");
  await client.closed;
  await up();
  const anew = await held.next();
  anew.say("all of it");
  anew.end();
  const again = await connect(`${session("crash")}&after=${client.recorded().at(-1).seq}`);
  const done = await again.next("done");
  assert.deepEqual([done.stopReason, done.result], ["end_turn", "all of it"]);
  assert.deepEqual([...client.recorded(), ...again.recorded()].map((event) => event.seq), [1, 2, 3]);
  await again.close();
});

// ---- the document, the keeper ----

test("every route of the document answers, and its answers fit their schemas by name", async () => {
  const document = (await get("/openapi.json")).body;
  for (const route of ["/run", "/api/v1/runs/{key}/events", "/api/v1/inbox/{id}/decision", "/api/v1/kill",
    "/api/v1/agents/{id}/ws", "/api/v1/models/{id}/consent"]) assert.ok(document.paths[route], route);
  const refs = JSON.stringify(document.paths).match(/#\/components\/schemas\/\w+/g);
  assert.ok(refs.length > 20);
  for (const ref of refs) assert.ok(document.components.schemas[ref.split("/").at(-1)], ref);
  for (const [route, name] of [["/runs", "RunList"], ["/inbox", "InboxList"], ["/agents", "AgentList"],
    ["/models", "ModelList"], ["/kill", "KillList"], ["/grants", "GrantList"]]) {
    const { required } = document.components.schemas[name];
    const { body } = await get(route);
    for (const key of required) assert.ok(key in body, `${route}: ${key}`);
  }
});

function overSocket(dir, method, route, body) {
  return new Promise((resolve, reject) => {
    const request = http.request({ socketPath: path.join(dir, "dormouse.sock"), path: route, method, agent: false },
      (answer) => {
        let text = "";
        answer.on("data", (chunk) => (text += chunk));
        answer.on("end", () => resolve({ status: answer.statusCode, text }));
      });
    request.on("error", reject);
    request.end(body && JSON.stringify(body));
  });
}

test("a keeper serves its socket without a token, outlasts its runs and ends by itself", async () => {
  const dir = path.join(root, "kept");
  const [keeper, info] = await start(dir, ["--keeper"]);
  keeper.removeAllListeners("exit");
  assert.deepEqual(Object.keys(info), ["url", "pid"]);
  assert.equal(info.url, "");
  const exit = once(keeper, "exit");
  const answer = await overSocket(dir, "POST", "/run", { prompt: "hello" });
  assert.equal(answer.status, 200);
  assert.match(answer.text, /"type":"done"/);
  assert.ok(!existsSync(path.join(dir, "token")));
  assert.deepEqual(await exit, [0, null]);
  assert.ok(!existsSync(path.join(dir, "dormouse.sock")));
});

test("a keeper stays while somebody is connected", async () => {
  const dir = path.join(root, "held");
  const [keeper] = await start(dir, ["--keeper"]);
  keeper.removeAllListeners("exit");
  const held = net.connect(path.join(dir, "dormouse.sock"));
  await once(held, "connect");
  await overSocket(dir, "GET", "/healthz");
  await new Promise((resolve) => setTimeout(resolve, 2500)); // longer than it lingers
  assert.equal(keeper.exitCode, null);
  const exit = once(keeper, "exit");
  held.destroy();
  assert.deepEqual(await exit, [0, null]);
});

test("a keeper beside a daemon says whose the directory is", async () => {
  const second = spawn(binary, ["serve", "--keeper", "--json", "--data", data], { cwd: work });
  let said = "";
  second.stdout.on("data", (chunk) => (said += chunk));
  const [code] = await once(second, "exit");
  assert.equal(code, 1);
  assert.equal(JSON.parse(said).error.code, "conflict");
});

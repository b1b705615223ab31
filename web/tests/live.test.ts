// Staying current: the store, the activity stream, and a thread's socket, with everything outside faked.
import assert from "node:assert/strict";
import test from "node:test";
import { ActivityStream, touched, type World } from "../src/api/activity";
import { backoff } from "../src/api/backoff";
import { ApiError } from "../src/api/client";
import { ThreadSocket, type SocketWorld, type Wire } from "../src/api/socket";
import { Store } from "../src/api/store";
import type { RunEvent } from "../src/api/types";

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

// ---- waiting ----

test("the wait doubles to its most, and begins anew after success", () => {
  const wait = backoff(() => 1, 500, 15_000);
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map(() => wait.next()), [500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
  wait.reset();
  assert.equal(wait.next(), 500);
  assert.equal(backoff(() => 0).next(), 375);
});

// ---- store ----

function library() {
  const asked: string[] = [];
  const open: { path: string; give: (value: unknown) => void; fail: (error: Error) => void }[] = [];
  const waits: (() => void)[] = [];
  const store = new Store((path) => {
    asked.push(path);
    return new Promise((give, fail) => open.push({ path, give, fail }));
  }, (_, run) => void waits.push(run));
  return { asked, open, store, waits };
}

test("what is watched is read once, however many watch", async () => {
  const { store, asked, open } = library();
  let told = 0;
  store.watch("/a", () => told++);
  store.watch("/a", () => told++);
  open[0]?.give(1);
  await settle();
  assert.deepEqual([asked, told, store.peek("/a").data], [["/a"], 2, 1]);
});
test("what was asked for ahead is not asked for again by who watches it", async () => {
  const { store, asked, open } = library();
  store.ahead("/a");
  store.ahead("/a");
  let told = 0;
  store.watch("/a", () => told++);
  open[0]?.give(1);
  await settle();
  store.ahead("/a");
  assert.deepEqual([asked, told, store.peek("/a").data], [["/a"], 1, 1]);
});
test("what was expected and did not come to be is not shown as if it had", async () => {
  const { store, open } = library();
  store.watch("/a", () => undefined);
  open[0]?.give("open");
  await settle();
  store.put("/a", () => "done");
  assert.equal(store.peek("/a").data, "done");
  store.invalidate("/a"); // as every change does in the end, well or not
  open[1]?.fail(new ApiError(0, "offline", "the server does not answer"));
  await settle();
  assert.equal(store.peek("/a").data, "open");
});
test("a reading from before that fails takes no expectation away", async () => {
  const { store, open } = library();
  store.watch("/a", () => undefined);
  open[0]?.give("open");
  await settle();
  store.invalidate("/a");
  store.put("/a", () => "done");
  open[1]?.fail(new ApiError(0, "offline", "the server does not answer"));
  await settle();
  assert.equal(store.peek("/a").data, "done");
});
test("a request that did not reach the server is tried again, one that was refused is not", async () => {
  const { store, asked, open, waits } = library();
  store.watch("/a", () => undefined);
  store.watch("/b", () => undefined);
  open[0]?.fail(new ApiError(0, "offline", "the server does not answer"));
  open[1]?.fail(new ApiError(403, "", "this is not allowed"));
  await settle();
  assert.equal(waits.length, 1);
  for (const run of waits) run();
  assert.deepEqual(asked, ["/a", "/b", "/a"]);
});
test("what is stale is read again when it is watched, and else when it is next watched", async () => {
  const { store, asked, open } = library();
  const leave = store.watch("/a/1", () => undefined);
  open[0]?.give(1);
  await settle();
  store.invalidate("/a");
  assert.deepEqual(asked, ["/a/1", "/a/1"]);
  open[1]?.give(2);
  await settle();
  leave();
  store.invalidate("/a");
  assert.equal(asked.length, 2);
  store.watch("/a/1", () => undefined);
  assert.equal(asked.length, 3);
  assert.equal(store.peek("/a/1").data, 2);
});
test("a change during a read is read after it", async () => {
  const { store, asked, open } = library();
  store.watch("/a", () => undefined);
  store.invalidate("/a");
  store.invalidate("/a");
  assert.equal(asked.length, 1);
  open[0]?.give("old");
  await settle();
  assert.equal(asked.length, 2);
  open[1]?.give("new");
  await settle();
  assert.deepEqual([asked.length, store.peek("/a").data], [2, "new"]);
});
test("a failure keeps what was there, and says so", async () => {
  const { store, open } = library();
  store.watch("/a", () => undefined);
  open[0]?.give(1);
  await settle();
  store.invalidate();
  open[1]?.fail(new ApiError(0, "offline", "the server does not answer"));
  await settle();
  const { data, error } = store.peek("/a");
  assert.equal(data, 1);
  assert.ok(error instanceof ApiError && error.offline);
});
test("only what begins with the prefix is read again", async () => {
  const { store, asked, open } = library();
  for (const path of ["/runs", "/runs/1", "/inbox"]) store.watch(path, () => undefined);
  open.forEach((read) => read.give(0));
  await settle();
  store.invalidate("/runs");
  assert.deepEqual(asked.slice(3), ["/runs", "/runs/1"]);
});

// ---- activity ----

class FakeWire implements Wire {
  onopen: ((event: unknown) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  sent: string[] = [];
  constructor(readonly path: string) {}
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.onclose?.({ code: 1000 });
  }
  say(event: unknown): void {
    this.onmessage?.({ data: JSON.stringify(event) });
  }
}
function listening(probe: () => Promise<void> = () => Promise.resolve()) {
  const wires: FakeWire[] = [];
  const stale: string[][] = [];
  const timers: { ms: number; run: () => void }[] = [];
  const world: World = {
    open: (path) => {
      const wire = new FakeWire(path);
      wires.push(wire);
      return wire;
    },
    probe, random: () => 1,
    later: (ms, run) => void timers.push({ ms, run }),
    stale: (...paths) => void stale.push(paths),
  };
  const activity = new ActivityStream(world);
  activity.start();
  const tick = (): void => timers.splice(0).forEach(({ run }) => run());
  return { activity, wires, stale, timers, tick };
}

test("what was read before the stream began is read again, after the first look", () => {
  const { activity, wires, stale, tick } = listening();
  wires[0]?.say({ type: "hello", reset: false, id: 10 });
  assert.deepEqual([activity.state, stale], ["online", []]);
  tick();
  assert.deepEqual(stale, [[]]);
});
test("what was read before a reset is read again at once", () => {
  const { wires, stale } = listening();
  wires[0]?.say({ type: "hello", reset: true, id: 10 });
  assert.deepEqual(stale, [[]]);
});
test("events of one moment are one reading", () => {
  const { wires, stale, tick } = listening();
  wires[0]?.say({ type: "hello", reset: false, id: 10 });
  wires[0]?.say({ type: "inbox", itemId: "x", id: 11 });
  wires[0]?.say({ type: "inbox", itemId: "y", id: 12 });
  tick();
  assert.deepEqual(stale.slice(1), [["/inbox", "/agents", "/runs"]]);
});
test("a stream that broke goes on after the last event, and reads anew only when something was missed", async () => {
  const { wires, stale, tick } = listening();
  wires[0]?.say({ type: "hello", reset: false, id: 10 });
  wires[0]?.say({ type: "kill", id: 11 });
  tick();
  wires[0]?.onclose?.({ code: 1006 });
  await settle();
  tick();
  assert.equal(wires[1]?.path, "/activity/ws?after=11");
  const before = stale.length;
  wires[1]?.say({ type: "hello", reset: false, id: 11 });
  assert.equal(stale.length, before);
  wires[1]?.onclose?.({ code: 1006 });
  await settle();
  tick();
  wires[2]?.say({ type: "hello", reset: true, id: 15 });
  assert.deepEqual(stale.at(-1), []);
});
test("while the server is away it is tried again, ever more slowly, and said", async () => {
  const { activity, wires, timers, tick } = listening(() => Promise.reject(new ApiError(0, "offline", "x")));
  wires[0]?.say({ type: "hello", reset: false, id: 1 });
  tick();
  const waits: number[] = [];
  for (let i = 0; i < 4; i++) {
    wires.at(-1)?.onclose?.({ code: 1006 });
    await settle();
    waits.push(timers[0]?.ms ?? 0);
    tick();
  }
  assert.equal(activity.state, "offline");
  assert.deepEqual(waits, [500, 1000, 2000, 4000]);
  assert.equal(wires.length, 5);
  wires.at(-1)?.say({ type: "hello", reset: true, id: 2 });
  assert.equal(activity.state, "online");
});
test("a browser that is not logged in stops trying and says so", async () => {
  const { activity, wires, timers } = listening(() => Promise.reject(new ApiError(401, "unauthorized", "x")));
  wires[0]?.onclose?.({ code: 1006 });
  await settle();
  assert.deepEqual([activity.state, timers.length, wires.length], ["loggedOut", 0, 1]);
});
test("a late word or a second end of a connection that is gone means nothing", async () => {
  const { wires, stale, timers, tick } = listening();
  wires[0]?.say({ type: "hello", reset: false, id: 1 });
  tick();
  wires[0]?.onclose?.({ code: 1001 });
  wires[0]?.onclose?.({ code: 1006 });
  await settle();
  assert.equal(timers.length, 1);
  tick();
  const before = stale.length;
  wires[0]?.say({ type: "kill", id: 2 });
  tick();
  assert.deepEqual([stale.length, wires.length, wires[1]?.path], [before, 2, "/activity/ws?after=1"]);
});
test("nonsense on the stream is nothing", () => {
  const { activity, wires, timers } = listening();
  wires[0]?.onmessage?.({ data: "{broken" });
  wires[0]?.onmessage?.({ data: new ArrayBuffer(2) });
  assert.deepEqual([activity.state, timers.length], ["connecting", 0]);
});
test("each kind of change makes the right paths stale", () => {
  const id = { agentId: "system:x", runId: "r1" };
  assert.ok(touched({ type: "memory", ...id }).includes("/agents/system%3Ax/memory"));
  assert.ok(touched({ type: "skill", ...id }).includes("/agents/system%3Ax/skills"));
  assert.deepEqual(touched({ type: "run", kind: "text", ...id }), ["/runs/r1"]);
  assert.ok(touched({ type: "run", kind: "done", ...id }).includes("/runs"));
  assert.ok(touched({ type: "subscription", ...id }).includes("/agents/system%3Ax/subscriptions"));
  assert.ok(touched({ type: "subscription" }).includes("/agents")); // it was named by its own id
  assert.ok(touched({ type: "kill" }).includes("/kill"));
  for (const path of ["/wakes", "/timers", "/agents"]) assert.ok(touched({ type: "wake" }).includes(path));
  assert.ok(touched({ type: "run", kind: "init", ...id }).includes("/wakes"));
  assert.ok(touched({ type: "report", ...id }).includes("/agents/system%3Ax/reports"));
  assert.deepEqual(touched({ type: "subscription" }), ["/agents", "/subscriptions"]);
  assert.deepEqual(touched({ type: "something new" }), []);
});

// ---- a thread ----

function talking(seq = 0) {
  const wires: FakeWire[] = [];
  const timers: { ms: number; run: () => void }[] = [];
  const heard: RunEvent[] = [];
  const refused: string[] = [];
  const world: SocketWorld = {
    open: (path) => {
      const wire = new FakeWire(path);
      wires.push(wire);
      return wire;
    },
    later: (ms, run) => {
      const timer = { ms, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
    random: () => 1,
  };
  const socket = new ThreadSocket("coach", "coach:session:main", seq, { event: (event) => heard.push(event), refused: ({ code }) => refused.push(code) }, world);
  const tick = (): void => timers.splice(0).forEach(({ run }) => run());
  return { socket, wires, timers, heard, refused, tick };
}
const text = (seq: number, more = {}): Record<string, unknown> => ({ type: "text", seq, runId: "r", threadId: "t", at: "", content: `c${seq}`, ...more });

test("a thread is taken up after the last event that the page has", () => {
  const { wires } = talking(41);
  assert.equal(wires[0]?.path, "/api/v1/agents/coach/ws?thread=coach%3Asession%3Amain&after=41");
});
test("recorded events come once and in order, whatever the connection does", async () => {
  const { wires, heard, tick, socket } = talking(0);
  let log = 0;
  const server = (wire: FakeWire): void => {
    const after = Number(/after=(\d+)/.exec(wire.path)?.[1]);
    wire.onopen?.(null);
    // Sends some of the log, now and then one twice, and breaks.
    for (let seq = after + 1; seq <= Math.min(after + 3, 20); seq++) {
      log = Math.max(log, seq);
      wire.say(text(seq));
      if (seq % 4 === 0) wire.say(text(seq));
    }
  };
  for (let i = 0; i < 12; i++) {
    const wire = wires.at(-1) as FakeWire;
    server(wire);
    wire.onclose?.({ code: 1006 });
    wire.say(text(99)); // a late frame of a connection that is gone
    await settle();
    tick();
  }
  assert.deepEqual(heard.map((event) => event.seq), Array.from({ length: 20 }, (_, i) => i + 1));
  assert.equal(socket.seq, 20);
});
test("partial texts are passed on, and don't move the place", () => {
  const { wires, heard, socket } = talking(4);
  wires[0]?.onopen?.(null);
  wires[0]?.say(text(5, { isPartial: true, offset: 0 }));
  wires[0]?.say(text(5, { isPartial: true, offset: 2 }));
  wires[0]?.say(text(5));
  wires[0]?.say(text(5, { isPartial: true, offset: 4 }));
  assert.deepEqual([heard.length, socket.seq], [3, 5]);
});
test("what is sent while the connection is away goes out when it is back, once", () => {
  const { wires, socket, tick } = talking();
  assert.equal(socket.send({ type: "message", content: "early" }), true);
  wires[0]?.onopen?.(null);
  assert.deepEqual(wires[0]?.sent, ['{"type":"message","content":"early"}']);
  wires[0]?.onclose?.({ code: 1006 });
  socket.send({ type: "message", content: "later" });
  tick();
  wires[1]?.onopen?.(null);
  assert.deepEqual(wires[1]?.sent, ['{"type":"message","content":"later"}']);
  for (let i = 0; i < 60; i++) wires[1]?.onclose?.({ code: 1006 });
  const took = Array.from({ length: 60 }, () => socket.send({ type: "cancel" })).filter(Boolean).length;
  assert.equal(took, 50);
});
test("a message whose run did not begin is sent again by the next connection, with the same turn", () => {
  const { wires, socket, tick } = talking(3);
  const sent = (i: number): string[] => (wires[i]?.sent ?? []).map((line) => (JSON.parse(line) as { turnId?: string; type: string }).turnId ?? "-");
  wires[0]?.onopen?.(null);
  for (const turnId of ["a", "b"]) socket.send({ type: "message", content: turnId, turnId });
  socket.send({ type: "cancel" }); // a moment's wish: never sent later
  wires[0]?.say({ type: "init", seq: 4, runId: "r", threadId: "t", at: "" });
  wires[0]?.onclose?.({ code: 1006 });
  socket.send({ type: "message", content: "c", turnId: "c" });
  tick();
  wires[1]?.onopen?.(null);
  assert.deepEqual([sent(0), sent(1)], [["a", "b", "-"], ["b", "c"]]);
  wires[1]?.say({ type: "init", seq: 4, runId: "r", threadId: "t", at: "" }); // heard before: means nothing
  wires[1]?.onclose?.({ code: 1006 });
  tick();
  wires[2]?.onopen?.(null);
  assert.deepEqual(sent(2), ["b", "c"]);
  for (const seq of [5, 6]) wires[2]?.say({ type: "init", seq, runId: `r${seq}`, threadId: "t", at: "" });
  wires[2]?.onclose?.({ code: 1006 });
  tick();
  wires[3]?.onopen?.(null);
  assert.deepEqual(sent(3), []);
});
test("a message that was refused is not sent again", () => {
  const { wires, socket, refused, tick } = talking(3);
  wires[0]?.onopen?.(null);
  socket.send({ type: "message", content: "a", turnId: "a" });
  wires[0]?.say({ type: "error", code: "killed", message: "no", recoverable: true });
  wires[0]?.onclose?.({ code: 1006 });
  tick();
  wires[1]?.onopen?.(null);
  assert.deepEqual([refused, wires[1]?.sent], [["killed"], []]);
});
test("a refusal is an answer, not an event, and nonsense is nothing", () => {
  const { wires, heard, refused, socket } = talking(3);
  wires[0]?.onopen?.(null);
  wires[0]?.say({ type: "error", code: "bad_request", message: "no", recoverable: true });
  wires[0]?.onmessage?.({ data: "{broken" });
  wires[0]?.onmessage?.({ data: new ArrayBuffer(2) });
  assert.deepEqual([heard.length, refused, socket.seq], [0, ["bad_request"], 3]);
});
test("a closed thread stays closed", () => {
  const { wires, socket, timers } = talking();
  wires[0]?.onopen?.(null);
  socket.close();
  assert.deepEqual([socket.state, timers.length, wires.length, socket.send({})], ["closed", 0, 1, false]);
});

test("an answer that was asked for before a change does not take the change back", async () => {
  const { store, open, asked } = library();
  store.watch("/a", () => undefined);
  open[0]?.give("before");
  await settle();
  store.invalidate("/a"); // is being read ...
  store.put<string>("/a", () => "changed"); // ... when somebody changes it
  open[1]?.give("before");
  await settle();
  assert.equal(store.peek("/a").data, "changed");
  store.invalidate("/a"); // the change is done
  open[2]?.give("after");
  await settle();
  assert.deepEqual([store.peek("/a").data, asked.length], ["after", 3]);
});

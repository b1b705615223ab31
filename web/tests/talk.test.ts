// A conversation from its messages and events, in every order they may come.
import assert from "node:assert/strict";
import test from "node:test";
import { argumentsOf, moved, NO_TALK, opened, prepend, sent, unsent, withPrompt, type Entry, type Talk } from "../src/views/agent/entries";
import type { Message, RunEvent } from "../src/api/types";

const second = (n: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
const said = (n: number, kind: Message["kind"], content: Record<string, unknown>, more: Partial<Message> = {}): Message =>
  ({ id: `m${n}`, n, kind, createdAt: second(n), content, ...more });
const call = (n: number, id: string, name = "bash"): Message => said(n, "action", { arguments: '{"command":"ls"}' }, { toolCallId: id, toolName: name });
const result = (n: number, id: string, more: Partial<Message> = {}): Message =>
  said(n, "toolResult", { output: `of ${n}` }, { toolCallId: id, status: "success", ...more });

type Body = RunEvent extends infer E ? (E extends RunEvent ? Omit<E, "seq" | "runId" | "threadId" | "at"> : never) : never;
const event = (seq: number, body: Body, runId = "r1"): RunEvent => ({ seq, runId, threadId: "t", at: second(seq), ...body }) as RunEvent;
const text = (seq: number, content: string): RunEvent => event(seq, { type: "text", content });
const piece = (seq: number, offset: number, content: string, type: "text" | "thinking" = "text"): RunEvent =>
  event(seq, { type, content, offset, isPartial: true });
const init = (seq: number, runId = "r1"): RunEvent => event(seq, { type: "init", model: "offline", agentId: "a", mode: "structured" }, runId);
const use = (seq: number, toolCallId: string): RunEvent => event(seq, { type: "tool_use", toolCallId, toolName: "bash", input: { command: "ls" } });
const done = (seq: number, stopReason = "end_turn"): RunEvent => event(seq, { type: "done", stopReason });
const all = (talk: Talk, events: RunEvent[]): Talk => events.reduce(moved, talk);

/** What a reader sees of an entry. */
const seen = (entry: Entry): string =>
  entry.kind === "tool" ? `${entry.name} ${entry.callId} ${entry.status}` : `${entry.kind}: ${entry.text}`;
const shown = (talk: Talk): string[] => talk.entries.map(seen);

test("messages become what a reader sees", () => {
  const talk = opened([
    said(1, "user", { text: "hi" }), said(2, "thought", { thinking: "hm", text: "Let me look." }), call(3, "c1"),
    result(5, "c1"), said(6, "thought", { text: "Two files." }), said(7, "system", { text: "Compacted." }), said(8, "summary", {}),
  ], null);
  assert.deepEqual(shown(talk), ["user: hi", "thinking: hm", "text: Let me look.", "bash c1 completed", "text: Two files.", "note: Compacted."]);
  const tool = talk.entries[3] as Extract<Entry, { kind: "tool" }>;
  assert.deepEqual([tool.input, tool.output, tool.ms], [{ command: "ls" }, "of 5", 2000]);
  assert.equal(new Set(talk.entries.map((entry) => entry.key)).size, talk.entries.length);
});
test("arguments that are no JSON stay text", () => {
  assert.deepEqual([argumentsOf("{oops"), argumentsOf(undefined), argumentsOf({ a: 1 }), argumentsOf("[1]")], ["{oops", null, { a: 1 }, [1]]);
});
test("a call id that is used again is settled where it is open", () => {
  const talk = opened([call(1, "c"), result(2, "c"), call(3, "c"), result(4, "c", { status: "error", error: { code: "denied", message: "No." } })], null);
  const [first, again] = talk.entries as Extract<Entry, { kind: "tool" }>[];
  assert.deepEqual([first?.status, first?.output, again?.status, again?.error?.code], ["completed", "of 2", "failed", "denied"]);
  const live = all(NO_TALK, [use(1, "c"), use(2, "c"), event(3, { type: "tool_result", toolCallId: "c", toolName: "bash", status: "completed", output: "b" })]);
  assert.deepEqual(shown(live), ["bash c open", "bash c completed"]);
});
test("a call whose result stands on a newer page gets it when its page comes", () => {
  const page = opened([result(11, "c1"), said(12, "thought", { text: "Done." })], null);
  assert.deepEqual([shown(page), page.orphans.length], [["text: Done."], 1]);
  const still = prepend(page, [said(9, "user", { text: "more" })]);
  assert.equal(still.orphans.length, 1);
  const both = prepend(still, [said(7, "user", { text: "go" }), call(8, "c1")]);
  assert.deepEqual(shown(both), ["user: go", "bash c1 completed", "user: more", "text: Done."]);
  assert.equal(both.orphans.length, 0);
});
test("an open call waits while its run does, and has ended when no run is left", () => {
  assert.deepEqual(shown(opened([call(1, "c")], { id: "r1", status: "waiting" })), ["bash c open"]);
  assert.deepEqual(shown(opened([call(1, "c")], null)), ["bash c failed"]);
});
test("a text grows by its pieces and becomes whole", () => {
  let talk = all(NO_TALK, [init(1), piece(2, 0, "Grü"), piece(2, 4, "ße"), piece(2, 7, " 🐭")]);
  assert.deepEqual(shown(talk), ["text: Grüße 🐭"]);
  talk = all(talk, [text(2, "Grüße 🐭!"), done(3)]);
  assert.deepEqual([shown(talk), talk.run], [["text: Grüße 🐭!"], null]);
});
test("a piece after a gap is left out, one that overlaps replaces, one after the whole is nothing", () => {
  let talk = all(NO_TALK, [piece(2, 0, "abc"), piece(2, 9, "xyz")]);
  assert.deepEqual(shown(talk), ["text: abc"]);
  talk = moved(talk, piece(2, 1, "BCD"));
  assert.deepEqual(shown(talk), ["text: aBCD"]);
  talk = all(talk, [text(2, "all"), piece(2, 3, "late"), piece(2, 0, "late")]);
  assert.deepEqual(shown(talk), ["text: all"]);
  assert.deepEqual(shown(moved(NO_TALK, piece(2, 5, "mid"))), []);
});
test("an answer that begins anew replaces what there was of it, whatever it was", () => {
  const talk = all(NO_TALK, [piece(2, 0, "half a", "thinking"), piece(2, 0, "Hello")]);
  assert.deepEqual(shown(talk), ["text: Hello"]);
});
test("a whole thought leaves the text after it growing, and ends what came before", () => {
  let talk = all(NO_TALK, [piece(2, 0, "hm", "thinking"), piece(3, 0, "Hel"), event(2, { type: "thinking", content: "hm." })]);
  assert.deepEqual(shown(talk), ["thinking: hm.", "text: Hel"]);
  talk = all(talk, [piece(3, 3, "lo"), text(3, "Hello")]);
  assert.deepEqual(shown(talk), ["thinking: hm.", "text: Hello"]);
  assert.deepEqual(shown(all(NO_TALK, [piece(2, 0, "gone"), text(3, "kept")])), ["text: kept"]);
  assert.deepEqual(shown(all(NO_TALK, [piece(3, 0, "later"), event(2, { type: "thinking", content: "first" })])), ["thinking: first", "text: later"]);
});
test("an empty whole is nothing to see", () => {
  assert.deepEqual(shown(all(NO_TALK, [text(2, "")])), []);
  assert.deepEqual(shown(all(NO_TALK, [piece(2, 0, "x"), text(2, "")])), []);
});
test("any place to stop and reconnect gives the same conversation", () => {
  const events = [init(1), event(2, { type: "thinking", content: "hm" }), text(3, "Looking."), use(4, "c1"),
    event(5, { type: "approval_gate", gateId: "g", toolName: "bash", input: {}, title: "Run" }), event(6, { type: "waiting", itemId: "g", kind: "tool", title: "Run" }),
    event(7, { type: "tool_result", toolCallId: "c1", toolName: "bash", status: "completed", output: "of 7" }), text(8, "Two files."), done(9)];
  const messages: [number, Message][] = [[0, said(1, "user", { text: "look" })], [3, said(3, "thought", { thinking: "hm", text: "Looking." })],
    [4, call(4, "c1")], [7, result(7, "c1")], [8, said(8, "thought", { text: "Two files." })]];
  const want = ["user: look", "thinking: hm", "text: Looking.", "bash c1 completed", "text: Two files."];
  for (let seq = 1; seq <= 9; seq++) {
    if (seq === 2) continue; // the thought's message comes with both of its events
    const page = messages.filter(([at]) => at <= seq).map(([, message]) => message);
    const open = seq < 9 ? { id: "r1", status: seq === 5 || seq === 6 ? ("waiting" as const) : ("running" as const) } : null;
    const talk = all(opened(page, open), events.filter((one) => one.seq > seq));
    assert.deepEqual([shown(talk), talk.run], [want, null], `after ${seq}`);
  }
});
test("what was sent stands there at once, and is taken back when it is refused", () => {
  const mine = sent(NO_TALK, "t1", "hello", second(0));
  assert.deepEqual((mine.entries[0] as { sending?: boolean }).sending, true);
  assert.deepEqual(shown(unsent(mine)), []);
  const taken = moved(mine, init(1));
  assert.deepEqual((taken.entries[0] as { sending?: boolean }).sending, false);
  assert.deepEqual(shown(unsent(taken)), ["user: hello"]);
});
test("the prompt of another window stands before its answer, even when it is known later, and once", () => {
  const begin = init(5);
  let talk = all(opened([said(1, "user", { text: "old" })], null), [begin, text(6, "answer"), done(7), init(8, "r2"), text(9, "next")]);
  talk = withPrompt(talk, begin, "question");
  talk = withPrompt(talk, begin, "question");
  assert.deepEqual(shown(talk), ["user: old", "user: question", "text: answer", "text: next"]);
  assert.deepEqual(shown(withPrompt(NO_TALK, begin, "alone")), ["user: alone"]);
});
test("who waits and who works is told by the events", () => {
  let talk = moved(NO_TALK, init(1));
  assert.deepEqual(talk.run, { id: "r1", status: "running" });
  talk = moved(talk, event(2, { type: "waiting", itemId: "i", kind: "question", title: "?" }));
  assert.equal(talk.run?.status, "waiting");
  talk = moved(talk, event(3, { type: "memory_edit_complete", request_id: "i", success: true, path: "knowledge/x.md" }));
  assert.equal(talk.run?.status, "running");
  assert.equal(moved(NO_TALK, event(4, { type: "iteration", count: 2 })).run, null);
});
test("a run that is stopped ends its calls and its half texts, and says so", () => {
  const talk = all(NO_TALK, [init(1), use(2, "c1"), piece(3, 0, "ha"), done(4, "cancelled")]);
  assert.deepEqual([shown(talk), talk.run], [["bash c1 failed", "note: Stopped."], null]);
});
test("a failure is told in words, and the run ends with its done", () => {
  const talk = all(NO_TALK, [init(1), event(2, { type: "error", code: "model_failed", message: "The model does not answer.", recoverable: false }), done(3, "error")]);
  assert.deepEqual(shown(talk), ["note: The model does not answer."]);
  assert.equal((talk.entries[0] as { tone?: string }).tone, "danger");
});
test("how a run ended is read back as it was told", () => {
  const end = (after: number, more: object = {}) => ({ runId: "r1", after, stopReason: "cancelled" as const, at: "2026-01-01T00:00:09Z", ...more });
  const messages = [said(1, "user", { text: "go" }), said(2, "thought", { text: "Well." }), said(3, "user", { text: "again" })];
  assert.deepEqual(shown(opened(messages, null, [end(2)])), ["user: go", "text: Well.", "note: Stopped.", "user: again"]);
  const failed = opened(messages, null, [end(3, { stopReason: "error", error: { code: "model_failed", message: "No answer." } })]);
  assert.deepEqual(shown(failed).at(-1), "note: No answer.");
  const over = prepend(opened([messages[2] as never], null, [end(3)]), messages.slice(0, 2), [end(2)]);
  assert.deepEqual(shown(over), ["user: go", "text: Well.", "user: again", "note: Stopped."]);
  const twice = moved(opened(messages, { id: "r1", status: "running" }, [end(3)]), done(9, "cancelled"));
  assert.deepEqual(shown(twice).filter((line) => line.startsWith("note")), ["note: Stopped."]);
});
test("a failure that was tried again is gone when the run goes on", () => {
  const hiccup = event(2, { type: "error", code: "rate_limited", message: "Too many requests.", recoverable: true });
  const talk = all(NO_TALK, [init(1), hiccup]);
  assert.deepEqual(shown(talk), ["note: Too many requests."]);
  assert.deepEqual(shown(all(talk, [piece(3, 0, "So")])), ["text: So"]);
});
test("a result of a call that nobody knows changes nothing", () => {
  const talk = moved(NO_TALK, event(2, { type: "tool_result", toolCallId: "zz", toolName: "bash", status: "failed", error: { code: "denied", message: "No." } }));
  assert.deepEqual(talk.entries, []);
});
test("a long answer grows in time that fits its length", () => {
  const part = "word ".repeat(20);
  let talk = NO_TALK;
  const begun = performance.now();
  for (let i = 0; i < 5000; i++) talk = moved(talk, piece(2, i * part.length, part));
  assert.equal((talk.entries[0] as { text: string }).text.length, 5000 * part.length);
  assert.ok(performance.now() - begun < 2000, `${performance.now() - begun} ms`);
});

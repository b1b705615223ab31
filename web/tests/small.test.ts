// Routes, keys, words and numbers.
import assert from "node:assert/strict";
import test from "node:test";
import { at, query, sentence } from "../src/api/client";
import type { InboxItem, TraceEvent } from "../src/api/types";
import { bytes, duration, money, relative, short, since, tokens } from "../src/format";
import { named, resolve, standing, type Key } from "../src/keys";
import { match } from "../src/router";
import { score } from "../src/shell/palette";
import { alarmName, left, pending } from "../src/views/shared/alarms";
import { resultPath } from "../src/views/shared/place";
import { memoryOf, questionOf, summary, taintOf, target, verbs } from "../src/views/inbox/words";
import { plainText } from "../src/views/shared/runs";
import { clock, spans, timeline } from "../src/views/runs/timeline";

test("paths fit patterns, and give their parts back", () => {
  assert.deepEqual(match("/agents/{id}", "/agents/system%3Ax"), { id: "system:x" });
  assert.deepEqual(match("/agents/{id}/{thread...}", "/agents/a/a%3Asession%3Am/x"), { id: "a", thread: "a:session:m/x" });
  assert.deepEqual(match("/", "/"), {});
  for (const path of ["/agents", "/agents/a/b", "/inbox"]) assert.equal(match("/agents/{id}", path), null, path);
  assert.deepEqual(match("/agents/{id}", "/agents/%E0%A4%A"), { id: "%E0%A4%A" });
});
test("paths to the server are escaped part by part", () => {
  assert.equal(at`/agents/${"a b"}/memory/${"knowledge/../x?.md"}`, "/agents/a%20b/memory/knowledge/../x%3F.md");
  assert.equal(query({ a: 1, b: undefined, c: "", d: "x&y" }), "?a=1&d=x%26y");
});
test("failures are sentences", () => {
  assert.equal(sentence(new Error("the file is gone")), "The file is gone.");
  assert.equal(sentence("why?"), "Why?");
});
test("keys in a row, and the view before the shell", () => {
  const seen: string[] = [];
  const key = (keys: string, name = keys): Key => ({ keys, label: "", run: () => void seen.push(name) });
  const table = [key("g i"), key("g h"), key("a", "shell"), key("?"), key("a", "view"), key("Ctrl k")];
  assert.equal(resolve(table, "", "g"), "wait");
  assert.equal((resolve(table, "g", "i") as Key).keys, "g i");
  (resolve(table, "", "a") as Key).run();
  (resolve(table, "g", "a") as Key).run();
  assert.deepEqual(seen, ["view", "view"]);
  assert.equal(resolve(table, "", "z"), null);
  assert.equal(named({ key: "K", ctrlKey: true, metaKey: false }), "Ctrl k");
  assert.equal(named({ key: "k", ctrlKey: false, metaKey: true }), "Ctrl k");
  assert.equal(named({ key: "?", ctrlKey: false, metaKey: false }), "?");
});
test("times are relative where that helps", () => {
  const now = new Date(2026, 10, 16, 12, 0, 0).getTime();
  const ago = (ms: number): string => relative(now - ms, now);
  assert.deepEqual([ago(1000), ago(5 * 60_000), ago(3 * 3_600_000), ago(26 * 3_600_000)], ["just now", "5 min ago", "09:00", "yesterday 10:00"]);
  assert.equal(relative(new Date(2026, 2, 12).getTime(), now), "12 Mar");
  assert.equal(relative(new Date(2024, 2, 12).getTime(), now), "12 Mar 2024");
  assert.equal(relative(now + 3_600_000, now), "at 13:00");
  assert.equal(relative(new Date(2026, 1, 19, 7).getTime(), new Date(2026, 1, 18, 12).getTime()), "tomorrow 07:00");
  assert.equal(relative("nonsense", now), "");
});
test("numbers have units", () => {
  assert.deepEqual([4, 1800, 192_000, 7_500_000].map(duration), ["4 ms", "1.8 s", "3 min 12 s", "2 h 5 min"]);
  assert.deepEqual([412, 1234, 12_345, 1_234_567].map(short), ["412", "1.2k", "12k", "1.2M"]);
  assert.deepEqual([tokens(1), money(0), money(0.0012), money(1.5), bytes(3174)], ["1 token", "free", "0.0012", "1.50", "3.1 KB"]);
  assert.deepEqual([0, 1023, 1024, 102_400, 1024 * 1024, 1_100_000].map(bytes), ["0 B", "1023 B", "1 KB", "100 KB", "1 MB", "1 MB"]);
});
test("search wants every word, beginnings first", () => {
  assert.ok(score("Gym Coach", "coa gy") > 0);
  assert.equal(score("Gym Coach", "coa x"), 0);
  assert.ok(score("Coach", "co") > score("A coach", "co") && score("A coach", "co") > score("Taco", "co"));
});
test("what is found opens where it is shown: the wizard's conversations in the wizard", () => {
  const found = { kind: "message" as const, title: "x", snippet: "", agentId: "planner", threadId: "planner:session:a/b" };
  assert.equal(resultPath(found), "/agents/planner/planner%3Asession%3Aa%2Fb");
  assert.equal(resultPath({ ...found, agentId: "system:builder-wizard", threadId: "system:builder-wizard:session:1" }), "/wizard/system%3Abuilder-wizard%3Asession%3A1");
  assert.equal(resultPath({ kind: "file", title: "x", snippet: "", agentId: "planner", path: "knowledge/a b.md" }), "/agents/planner?panel=memory&file=knowledge%2Fa%20b.md");
});
test("one line of Markdown has no marks", () => {
  assert.equal(plainText("**Done**: `x`\n\n| a | b |\n|---|---|\n| 1 | 2 |"), "Done: x a b 1 2");
  assert.equal(plainText("sandbox_unavailable"), "sandbox_unavailable");
});

// ---- items ----

const item = (more: Partial<InboxItem>): InboxItem => ({ id: "1", n: 1, kind: "tool", state: "pending", createdAt: "", ...more });
test("an item is a sentence, of every kind", () => {
  assert.equal(summary(item({ title: "Run a command" })), "wants to run a command");
  assert.equal(summary(item({ kind: "question", body: { question: "45 or 60?\nmore", choices: ["45"] } })), "asks: 45 or 60?");
  assert.equal(summary(item({ kind: "memory", details: { path: "knowledge/a.md", operation: "write", current_content: null, proposed_content: "x" } })), "wants to remember knowledge/a.md");
  assert.equal(summary(item({ kind: "memory", details: { path: "knowledge/a.md", operation: "delete", current_content: "y" } })), "wants to delete knowledge/a.md");
  assert.match(summary(item({ kind: "agent_proposal", details: { displayName: "Coach" } })), /“Coach”/);
  for (const kind of ["consent", "spawn", "unknown_effect", "input_required", "escalated", "skill_script", "persona", "config", "of the future"])
    assert.ok(summary(item({ kind: kind as InboxItem["kind"] })).length > 3, kind);
});
test("items with parts missing or wrong are still shown", () => {
  for (const bad of [null, 7, "x", [], { path: 3 }, { question: {} }, { choices: "no" }]) {
    for (const kind of ["tool", "memory", "question", "agent_proposal"] as const) {
      const odd = item({ kind, body: bad, input: bad, details: bad as Record<string, unknown> });
      assert.equal(typeof summary(odd), "string");
      assert.equal(typeof target(odd), "string");
      assert.ok(Array.isArray(questionOf(odd).choices));
      assert.equal(memoryOf(odd), null);
    }
  }
});
test("only what fits may be said to an item", () => {
  assert.deepEqual(verbs(item({})), { approve: true, edit: true, reject: true, answer: false });
  assert.deepEqual(verbs(item({ kind: "question" })), { approve: false, edit: false, reject: true, answer: true });
  assert.deepEqual(verbs(item({ state: "rejected" })), { approve: false, edit: false, reject: false, answer: false });
  assert.equal(verbs(item({ kind: "memory", details: { path: "a", operation: "delete" } })).edit, false);
});
test("taint is whose text was read, and nothing when it was one's own", () => {
  assert.deepEqual(taintOf(item({ taint: ["mail from Ann, Bob"] })), ["mail from Ann, Bob"]);
  assert.deepEqual(taintOf(item({})), []);
});

// ---- a run ----

const event = (row: number, ms: number, type: string, more: Partial<TraceEvent> = {}): TraceEvent => ({
  row, at: new Date(Date.UTC(2026, 0, 1) + ms).toISOString(), type, attributes: [], by: null, ...more,
});
test("a run is told in the order that people read it, with what stood in the way", () => {
  const lines = timeline([
    event(1, 0, "start", { message: { id: "", kind: "user", content: { text: "train" } } }),
    event(2, 0, "think"),
    event(3, 1800, "call", { key: 1, attributes: ["risky"], message: { id: "", kind: "action", tool: "bash", content: { arguments: '{"command":"ls"}' } } }),
    event(4, 1800, "thought", { tookMs: 1800, data: { in: 412, out: 96 } }),
    event(5, 1800, "gate", { key: 1, by: { thread: "ask_first", point: 0, doing: "wants to ask" }, item: { id: "i1", kind: "tool", title: "Run a command" } }),
    event(6, 193_800, "answer", { key: 1, tookMs: 192_000, attributes: ["allowed"], item: { id: "i1", kind: "tool", state: "approved", decidedBy: "owner" } }),
    event(7, 193_804, "acted", { key: 1, tookMs: 4, message: { id: "", kind: "toolResult", content: { output: "a" } } }),
    event(8, 193_804, "settled", { key: 1 }),
    event(9, 193_900, "done", { tookMs: 193_900, data: { stopReason: "end_turn" } }),
  ]);
  assert.deepEqual(lines.map((line) => line.label), ["start", "think", "call", "asks", "person", "acted", "done"]);
  assert.equal(lines[1]?.text, "412 → 96 tokens");
  assert.equal(lines[2]?.text, "bash ls");
  assert.match(lines[3]?.note ?? "", /blocked by approval gate/);
  assert.equal(lines[4]?.text, "approved by you");
  assert.deepEqual(spans(lines).map((span) => span.lane), ["model", "person", "tools"]);
  for (const span of spans(lines)) assert.ok(span.x >= 0 && span.x + span.width <= 1.01);
});
test("what was denied says by which rule and why", () => {
  const [line] = timeline([
    event(1, 0, "denied", { key: 1, by: { thread: "refuse_danger", point: 0, doing: "refuses" } }),
    event(2, 0, "settled", { key: 1, message: { id: "", kind: "toolResult", tool: "bash", content: { error: { code: "unsafe_target", message: "no" } } } }),
  ]);
  assert.deepEqual([line?.label, line?.text, line?.note], ["blocked", "bash: no", "by dangerous commands are never run"]);
});
test("what a person rejected is told as that, not as a failure", () => {
  const settled = (error: { code: string; message: string }) => timeline([
    event(1, 0, "denied", { key: 1, by: { thread: "a_no_stays_no", point: 0, doing: "refuses" } }),
    event(2, 0, "settled", { key: 1, message: { id: "", kind: "toolResult", tool: "bash", content: { error } } }),
  ])[0];
  const told = (code: string, message: string) => { const line = settled({ code, message }); return [line?.label, line?.text, line?.note, line?.tone]; };
  assert.deepEqual(told("rejected", "A person said no."), ["not done", "bash: you rejected it", undefined, "muted"]);
  assert.deepEqual(told("rejected", "not today"), ["not done", "bash: you rejected it", "“not today”", "muted"]);
  assert.deepEqual(told("expired", "It waited too long and has expired."), ["not done", "bash: nobody decided in time", undefined, "muted"]);
});
test("every key stands alone unless it only moves, or nobody types it in a sentence", () => {
  const means = (keys: string, stands?: "first" | "anywhere") => standing({ keys, ...(stands && { stands }) });
  assert.deepEqual(["x", "e", "Delete", "Enter", "g i", "2"].map((keys) => means(keys)), Array.from({ length: 6 }, () => "alone"));
  assert.deepEqual(["Ctrl k", "ArrowDown", "Escape"].map((keys) => means(keys)), Array.from({ length: 3 }, () => "anywhere"));
  assert.deepEqual([means("j", "anywhere"), means("/", "first")], ["anywhere", "first"]);
});
test("an empty log and unknown events are no trouble", () => {
  assert.deepEqual(timeline([]), []);
  assert.equal(timeline([event(1, 0, "of_the_future")])[0]?.label, "of the future");
  assert.deepEqual([clock(1800), clock(194_000), clock(3_700_000)], ["1.8 s", "3:14", "1:01:40"]);
});

test("since when something is so is said by the clock", () => {
  const now = new Date(2026, 2, 12, 15, 0).getTime();
  assert.equal(since(now - 10_000, now), "just now");
  assert.equal(since(new Date(2026, 2, 12, 9, 12), now), "since 09:12");
  assert.equal(since(new Date(2026, 2, 11, 23, 5), now), "since yesterday 23:05");
  assert.equal(since(new Date(2026, 1, 3, 9, 0), now), "since 3 Feb");
  assert.equal(since(new Date(2024, 1, 3, 9, 0), now), "since 3 Feb 2024");
  assert.equal(since("never", now), "");
});

test("an alarm that has not rung is counted down, an ordinary timer is none", () => {
  const timer = { id: "1", agentId: "pomodoro", name: "session", kind: "once" as const, missed: "once" as const, prompt: "Tax report", nextRunAt: "2026-02-18T10:25:00Z", active: true, threadId: "t" };
  const { threadId: _, ...plain } = timer;
  const { nextRunAt: __, ...rung } = timer;
  const earlier = { ...timer, id: "2", agentId: "other", nextRunAt: "2026-02-18T10:05:00Z" };
  assert.deepEqual(pending([plain, rung, timer, earlier, { ...timer, active: false }]).map(({ id }) => id), ["2", "1"]);
  assert.deepEqual(pending([timer, earlier], "pomodoro").map(alarmName), ["Session: Tax report"]);
  const at = Date.parse("2026-02-18T10:25:00Z");
  assert.deepEqual([25 * 60_000, 1500, 1, -9, 3_600_000].map((ms) => left(at, at - ms)), ["25:00", "0:02", "0:01", "0:00", "1:00:00"]);
});

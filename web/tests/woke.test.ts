// What woke an agent, in people's words, from what the agent was told.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { isWake, wakeTitle, wokeBy } from "../src/views/shared/woke";

const END = "Do what your instructions say about this, with your tools.";
const wake = (head: string, ...paragraphs: string[]): string => [`[wake: ${head}]\nSomething that you wait for has changed.`, ...paragraphs, END].join("\n\n");
const record = (type: string, id: string, fields: object): string => `- ${type} ${id}, by human: ${JSON.stringify({ id, ...fields })}`;
const names = { subscriptions: new Map([["s1", "A workout is logged"]]), timers: new Map([["t1", "Every day at 07:00"]]) };

test("a wake is called by the name of what woke it, and by what changed", () => {
  const text = wake("subscription s1", "Log its time.", `What changed, as it is now:\n${record("entry", "e1", { kind: "workout", subtype: "run", body: "by the lake" })}`);
  assert.equal(wakeTitle(text, names), "A workout is logged: run");
  assert.equal(wakeTitle(text), "Something changed: run");
  assert.deepEqual(wokeBy(text)?.told, ["Log its time."]);
  assert.deepEqual(wokeBy(text)?.changes, [{ type: "entry", id: "e1", title: "run" }]);
});
test("each reason has its words", () => {
  assert.equal(wakeTitle(wake("timer t1", "Plan today."), names), "Every day at 07:00");
  assert.equal(wakeTitle(wake("timer gone"), names), "By the clock");
  assert.equal(wakeTitle(wake("manual x", "write a report please"), names), "You woke it: write a report please");
  assert.equal(wakeTitle(wake("manual x"), names), "You woke it");
  assert.equal(wakeTitle(wake("alarm a1")), "An alarm it had set");
  assert.equal(wakeTitle(wake("recoveryCatchup t9")), "Caught up on what was missed");
  assert.equal(wakeTitle(wake("somethingNew")), "Woke by itself");
});
test("several changes are counted, and one whose JSON is not there is called by its type", () => {
  const list = [record("task", "a", { title: "Fence" }), record("timeEntry", "b", {}), "- task c, by agent: 90000 bytes, read it with your tools"].join("\n");
  const text = wake("subscription s1", `What changed, as it is now:\n${list}`, "Left over from before, because you slept or a run failed:");
  assert.deepEqual(wokeBy(text)?.changes.map(({ title }) => title), ["Fence", "time entry", "task"]);
  assert.equal(wakeTitle(text, names), "A workout is logged: 3 changes");
  assert.deepEqual(wokeBy(text)?.told, ["Left over from before, because you slept or a run failed:"]);
});
test("a title that was cut still has its words; other texts are no wakes", () => {
  assert.equal(wakeTitle("[wake: subscription s1] Something that you wai…", names), "A workout is logged");
  assert.equal(wakeTitle("[wake: manual 01a1e37e-732e-75c6-85…"), "You woke it");
  for (const text of ["", "wake: manual x", "[Wake: manual x]", "hello [wake: manual x]", undefined]) {
    assert.equal(isWake(text), false);
    assert.equal(wakeTitle(text), null);
  }
});
test("every reason that agents are told of has words here", () => {
  const prompts = readFileSync(path.join(WEB_ROOT, "../share/prompts/wake.md"), "utf8");
  const parts = new Set(["changed", "event", "files", "earlier", "end"]); // of the text, not reasons
  const reasons = [...prompts.matchAll(/^# (\w+)$/gm)].map((found) => found[1] as string).filter((name) => !parts.has(name));
  assert.ok(reasons.length >= 4);
  for (const reason of reasons) assert.notEqual(wakeTitle(wake(`${reason} x`)), "Woke by itself", reason);
});

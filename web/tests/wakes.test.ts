// Timers as rules, subscriptions and wakes in words.
import assert from "node:assert/strict";
import test from "node:test";
import type { Matched, Subscription, Wake } from "../src/api/wakes";
import { draft, inWords, rule, simple, whenOf, wrong, type When } from "../src/views/wakes/rrule";
import { turned } from "../src/views/wakes/timer-form";
import { cause, columnOf, explained, inWords as subscriptionWords, look, paced } from "../src/views/wakes/words";

const simples: [When, string, string][] = [
  [{ how: "daily", time: "07:00" }, "FREQ=DAILY;BYHOUR=7;BYMINUTE=0", "every day at 07:00"],
  [{ how: "weekdays", time: "18:05" }, "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=18;BYMINUTE=5", "Monday to Friday at 18:05"],
  [{ how: "weekly", time: "00:00", days: ["MO", "SU"] }, "FREQ=WEEKLY;BYDAY=MO,SU;BYHOUR=0;BYMINUTE=0", "every Monday, Sunday at 00:00"],
  [{ how: "monthly", time: "09:30", day: 22 }, "FREQ=MONTHLY;BYMONTHDAY=22;BYHOUR=9;BYMINUTE=30", "on the 22nd of each month at 09:30"],
  [{ how: "monthly", time: "09:30", day: -1 }, "FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=9;BYMINUTE=30", "on the last day of each month at 09:30"],
];
test("simple choices are rules, and the rules are those choices again", () => {
  for (const [when, text, said] of simples) {
    assert.equal(rule(when), text);
    assert.deepEqual(simple(text), when);
    assert.equal(inWords(when), said);
    assert.deepEqual(whenOf({ kind: "rrule", rrule: text }), when);
  }
  assert.equal(rule({ how: "weekly", time: "07:00", days: ["WE", "MO"] }), "FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=7;BYMINUTE=0");
});
test("what is none of the choices stays a rule, word for word", () => {
  for (const text of ["FREQ=DAILY", "FREQ=DAILY;BYHOUR=7,19", "FREQ=WEEKLY;BYDAY=1MO;BYHOUR=7", "FREQ=DAILY;BYHOUR=7;COUNT=3", "FREQ=DAILY;BYHOUR=99", "FREQ=MONTHLY;BYMONTHDAY=32;BYHOUR=7", "FREQ=DAILY;FREQ=DAILY;BYHOUR=7", "nonsense", ""])
    assert.deepEqual(whenOf({ kind: "rrule", rrule: text, start: "2026-02-18T07:00:00" }), { how: "rule", rule: text, start: "2026-02-18T07:00:00" }, text);
  assert.equal(rule({ how: "rule", rule: " RRULE:FREQ=DAILY ", start: "" }), "FREQ=DAILY");
});
test("a timer that becomes one of another kind takes nothing along", () => {
  assert.deepEqual(draft({ how: "once", at: "2026-02-18T07:00" }), { kind: "once", rrule: null, start: "2026-02-18T07:00", intervalSeconds: null });
  assert.deepEqual(draft({ how: "every", minutes: 90 }), { kind: "interval", rrule: null, start: null, intervalSeconds: 5400 });
  assert.deepEqual(draft({ how: "daily", time: "07:00" }), { kind: "rrule", rrule: "FREQ=DAILY;BYHOUR=7;BYMINUTE=0", start: null, intervalSeconds: null });
  assert.deepEqual(whenOf({ kind: "interval", intervalSeconds: 5400 }), { how: "every", minutes: 90 });
  assert.deepEqual(turned({ how: "weekdays", time: "18:05" }, "weekly"), { how: "weekly", time: "18:05", days: ["MO", "TU", "WE", "TH", "FR"] });
});
test("what is missing is asked for", () => {
  const bad: When[] = [{ how: "daily", time: "" }, { how: "weekly", time: "07:00", days: [] }, { how: "monthly", time: "07:00", day: 0 }, { how: "once", at: "" }, { how: "every", minutes: 0 }, { how: "every", minutes: 1.5 }, { how: "rule", rule: " ", start: "" }];
  for (const when of bad) assert.ok(wrong(when), JSON.stringify(when));
  for (const [when] of simples) assert.equal(wrong(when), null);
  assert.deepEqual([1, 60, 90, 1440, 2880].map((minutes) => inWords({ how: "every", minutes })), ["every minute", "every hour", "every 90 minutes", "every 24 hours", "every 2 days"]);
});

const subscription: Subscription = { id: "s", agentId: "a", name: "", source: "journal", tokens: [{ class: "semanticKey", value: "TASK" }, { class: "semanticKey", value: "WORKOUT" }], predicate: "", authors: ["human"], cooldownSeconds: 0, prompt: "", active: true };
test("a subscription is a sentence", () => {
  assert.equal(subscriptionWords(subscription), "you change a task or a workout");
  assert.equal(subscriptionWords({ ...subscription, predicate: "task.priority <= 1", cooldownSeconds: 300, activeHours: { from: "07:00", to: "22:00", days: ["mo", "tu"] } }),
    "you change a task or a workout, where task.priority <= 1, between 07:00 and 22:00 on Mon and Tue, at most every 5 min");
  assert.equal(subscriptionWords({ ...subscription, source: "files", folder: "/in", glob: "*.md" }), "a file in /in (*.md) changes");
});
const wake = (more: Partial<Wake>): Wake => ({ runKey: "k", agentId: "a", reason: "subscription", status: "completed", createdAt: "", ...more });
test("a wake says why, and what became of it", () => {
  const names = { subscriptions: new Map([["s", "workouts"]]), timers: new Map([["t", "mornings"]]) };
  assert.equal(cause(wake({ reasonId: "s", records: [{ type: "timeEntry", id: "1" }] }), names), "workouts: a time entry changed");
  assert.equal(cause(wake({ reasonId: "gone", name: "A task is new", records: [{ type: "task", id: "1", title: "Fix fence" }], recordCount: 3 }), names), "A task is new: Fix fence and 2 more");
  assert.equal(cause(wake({ details: { files: [{}, {}, {}], fileCount: 7 } })), "7 files changed");
  assert.equal(cause(wake({ name: "Orders", details: { event: {} } })), "Orders: a webhook was called");
  assert.equal(cause(wake({})), "something changed");
  assert.equal(cause(wake({ reason: "timer", name: "session", details: { alarm: {} } })), "an alarm it had set: session");
  assert.equal(cause(wake({ reason: "userInitiated", details: { words: "hello" } })), "you spoke to it: hello");
  assert.equal(cause(wake({ reason: "timer", reasonId: "t" }), names), "by the clock: mornings");
  assert.equal(cause(wake({ reason: "recoveryCatchup", details: { missed: { count: 9 } } })), "caught up on 9 missed times");
  assert.equal(cause(wake({ reason: "recoveryCatchup", reasonId: "retry", details: { again: { name: "mornings" } } })), "tries again what failed: mornings");
  assert.equal(cause(wake({ reason: "recoveryCatchup", reasonId: "resume" })), "goes on after a pause, stop or dormancy");
  assert.equal(cause(wake({ reason: "manual", details: { words: "hello" } })), "you woke it: hello");
  assert.equal(explained(wake({ why: "the agent is paused" })), "The agent is paused.");
  assert.match(explained(wake({ status: "queued", why: "it has just woken", notBefore: new Date(Date.now() + 30_000).toISOString() })), /^It has just woken; it wakes now\.$/);
  assert.equal(cause(wake({ reason: "timer", reasonId: "sleep" })), "its sleep was over");
  assert.equal(explained(wake({ status: "failed_terminal", errorCode: "lease_lost" })), "It ended with lease lost.");
  assert.equal(look("unheard_of" as Wake["status"]).word, "unheard of");
});
test("the column of a wrong condition is found in what is said about it", () => {
  assert.deepEqual(["predicate: column 18: no such field", "Column 3", "no such agent"].map(columnOf), [18, 3, 0]);
});

test("the last week is told with the time that must lie between wakes", () => {
  const at = (minute: number, outcome = "yes"): Matched => ({ at: new Date(Date.UTC(2026, 1, 18, 9, minute)).toISOString(), author: "human", outcome, records: [] });
  const paces = (minutes: number[], seconds: number): string => paced(minutes.map((minute) => at(minute)).reverse(), seconds).map(({ pace }) => pace).reverse().join();
  assert.equal(paces([0, 1, 2], 0), "wakes,wakes,wakes");
  const opens = at(30).at; // changes of the night wait for the morning together
  assert.deepEqual(paced([at(31), { ...at(2), notBefore: opens }, { ...at(1), notBefore: opens }], 0).map(({ pace }) => pace), ["wakes", "joins", "waits"]);
  assert.equal(paces([0, 1, 2, 9], 600), "wakes,waits,joins,joins");
  assert.equal(paces([0, 10, 20], 600), "wakes,wakes,wakes");
  // The one that waited wakes at 10; what comes at 12 waits until 20, what comes at 20 is free again by 30.
  assert.equal(paces([0, 1, 12, 15, 20, 29, 30], 600), "wakes,waits,waits,joins,waits,joins,waits");
  assert.deepEqual(paced([at(1, "hours"), at(0)], 60).map(({ pace }) => pace), ["no", "wakes"]);
});

// The journal's own arithmetic: days, blocks, quick add, filters, orders, ratings.
import assert from "node:assert/strict";
import test from "node:test";
import type { Quick, Rating, Span as QuickSpan, TimeEntry } from "../src/api/journal";
import { lines, ratedDay, ticks } from "../src/views/journal/chart-model";
import { at, gaps, hours, lanes, momentAt, settle, slot, snap, STEP, stretched, tall, top, type Span } from "../src/views/journal/day-model";
import { ALL, address, narrowed, read, tasksPath } from "../src/views/journal/filters";
import { moved, positions } from "../src/views/journal/order";
import { pieces, understood } from "../src/views/journal/quick-model";
import { byDay } from "../src/views/journal/time";
import { counted, formatOf } from "../src/views/journal/transfer";
import { addDays, clock, daysBetween, dayOf, dayWord, dueWord, entryName, gist, isDay, length, localInput, measured, minutesOf, momentOf, running, sameClocks, setZone } from "../src/views/journal/words";

const BERLIN = "Europe/Berlin";
const HOUR = 3_600_000;
const t = (text: string): number => Date.parse(text);
const plain: Span = { from: t("2026-02-18T00:00:00+01:00"), to: t("2026-02-19T00:00:00+01:00") };
const spring: Span = { from: t("2026-03-29T00:00:00+01:00"), to: t("2026-03-30T00:00:00+02:00") };
const autumn: Span = { from: t("2026-10-25T00:00:00+02:00"), to: t("2026-10-26T00:00:00+01:00") };
const span = (from: string, to: string): Span => ({ from: t(`2026-02-18T${from}:00+01:00`), to: t(`2026-02-18T${to}:00+01:00`) });

// ---- entries ----

test("an entry is called by its title, its kind or its first words, and says what was measured", () => {
  const entry = { id: "1", kind: "note" as const };
  assert.equal(entryName({ ...entry, title: "Idea", body: "A bench" }), "Idea");
  assert.equal(entryName({ ...entry, kind: "workout", subtype: "leg_day" }), "leg day");
  assert.equal(entryName({ ...entry, body: "\n## A bench under the oak\nmore" }), "A bench under the oak");
  assert.equal(entryName({ ...entry, body: "word ".repeat(40) }), `${"word ".repeat(15)}word…`);
  assert.equal(entryName(entry), "Note");
  assert.equal(measured({ ...entry, kind: "measurement", value: 0, unit: "kg" }), "0 kg");
  assert.equal(gist({ ...entry, kind: "workout", title: "Run", durationMs: 2_700_000, body: "Slow." }), "45 min · Slow.");
  assert.equal(gist({ ...entry, body: "Only words" }), "");
});

// ---- days and lengths ----

test("local days are counted without clocks", () => {
  assert.equal(addDays("2026-03-28", 2), "2026-03-30");
  assert.equal(addDays("2024-02-28", 1), "2024-02-29");
  assert.equal(daysBetween("2026-10-24", "2026-10-27"), 3);
  assert.equal(dayOf("2026-02-18T23:30:00Z", BERLIN), "2026-02-19");
  for (const wrong of ["", "2026-02-30", "2026-2-3", "soon", "2026-13-01"]) assert.ok(!isDay(wrong), wrong);
  assert.ok(isDay("2024-02-29"));
});
test("a day is said as people say it, late is said in words", () => {
  const now = "2026-02-18";
  assert.deepEqual(["2026-02-18", "2026-02-19", "2026-02-17", "2026-02-20", "2026-03-12", "2024-03-12"].map((day) => dayWord(day, now)),
    ["today", "tomorrow", "yesterday", "Friday", "12 Mar", "12 Mar 2024"]);
  assert.deepEqual(dueWord("2026-02-16", false, now), { word: "late: 16 Feb", tone: "danger" });
  assert.deepEqual(dueWord("2026-02-16", true, now), { word: "16 Feb", tone: "plain" });
  assert.deepEqual(dueWord("2026-02-18T16:00", false, now), { word: "today 16:00", tone: "accent" });
});
test("lengths are read as they are typed and written as they are read", () => {
  const typed: [string, number | null][] = [["2h", 120], ["2h30", 150], ["1.5 h", 90], ["1,5h", 90], ["90", 90], ["1:30", 90], ["45 min", 45], ["2 hours 5 minutes", 125], ["", null], ["h", null], ["soon", null], ["1:75", null], ["-5", null]];
  for (const [text, minutes] of typed) assert.equal(minutesOf(text), minutes, text);
  assert.deepEqual([0, 45, 60, 150].map(length), ["0 min", "45 min", "1 h", "2 h 30 min"]);
  for (const minutes of [1, 59, 60, 61, 600, 1439]) assert.equal(minutesOf(length(minutes)), minutes);
  assert.equal(running(3_909_000), "1:05:09");
});

// ---- blocks ----

test("a moment and its place in the column are the same thing", () => {
  assert.equal(top(plain.from, plain), 0);
  assert.equal(tall(plain), 24 * 60);
  for (const time of [plain.from, plain.from + 5 * HOUR, plain.to]) assert.equal(at(top(time, plain), plain), time);
  assert.equal(snap(plain.from + 8 * 60_000, plain), plain.from + STEP);
  assert.equal(snap(plain.from + 7 * 60_000, plain), plain.from);
});
test("a day has the hours that its clocks show", () => {
  const labels = (day: Span): string[] => hours(day, BERLIN).map(({ label }) => label);
  assert.equal(labels(plain).length, 24);
  assert.deepEqual([labels(spring).length, labels(spring).slice(0, 4)], [23, ["00:00", "01:00", "03:00", "04:00"]]);
  assert.deepEqual([labels(autumn).length, labels(autumn).slice(0, 5)], [25, ["00:00", "01:00", "02:00", "02:00", "03:00"]]);
});
test("a clock time is a moment: skipped ones the next minute, doubled ones the first", () => {
  assert.equal(momentAt("09:00", plain, BERLIN), t("2026-02-18T09:00:00+01:00"));
  assert.equal(momentAt("02:30", spring, BERLIN), t("2026-03-29T03:00:00+02:00"));
  assert.equal(momentAt("09:00", spring, BERLIN), t("2026-03-29T09:00:00+02:00"));
  assert.equal(momentAt("02:30", autumn, BERLIN), t("2026-10-25T02:30:00+02:00"));
  assert.equal(momentAt("23:45", autumn, BERLIN), t("2026-10-25T23:45:00+01:00"));
  assert.equal(momentAt("00:00", autumn, BERLIN, true), autumn.to);
  assert.equal(momentAt("00:00", autumn, BERLIN), autumn.from);
});
test("what is free is what is left", () => {
  assert.deepEqual(gaps([], plain), [plain]);
  assert.deepEqual(gaps([span("10:00", "11:00"), span("09:00", "10:00")], plain), [{ from: plain.from, to: t("2026-02-18T09:00:00+01:00") }, { from: t("2026-02-18T11:00:00+01:00"), to: plain.to }]);
  assert.deepEqual(gaps([plain], plain), []);
});
test("a block that is dropped on another goes to the nearest free place", () => {
  const others = [span("09:00", "10:00"), span("10:30", "12:00")];
  assert.deepEqual(settle(others, span("07:00", "08:00"), plain), span("07:00", "08:00"));
  assert.deepEqual(settle(others, span("09:15", "10:15"), plain), span("08:00", "09:00"));
  assert.deepEqual(settle(others, span("09:50", "10:20"), plain), span("10:00", "10:30"));
  assert.deepEqual(settle(others, span("11:50", "12:50"), plain), span("12:00", "13:00"));
  assert.deepEqual(settle([], { from: plain.to - HOUR / 2, to: plain.to + HOUR / 2 }, plain), { from: plain.to - HOUR, to: plain.to });
  assert.equal(settle([plain], span("09:00", "10:00"), plain), null);
});
test("keys move a block past its neighbour, never back", () => {
  const others = [span("09:00", "10:00")];
  assert.deepEqual(settle(others, span("08:15", "09:15"), plain, 1), span("10:00", "11:00"));
  assert.deepEqual(settle(others, span("09:45", "10:45"), plain, -1), span("08:00", "09:00"));
  assert.equal(settle([], { from: plain.to - HOUR + STEP, to: plain.to + STEP }, plain, 1), null);
  assert.equal(settle([], { from: plain.from - STEP, to: plain.from + HOUR - STEP }, plain, -1), null);
});
test("an edge stops at a neighbour, at the day, and before nothing is left", () => {
  const others = [span("08:00", "09:00"), span("11:00", "12:00")];
  const block = span("09:30", "10:00");
  const time = (text: string): number => t(`2026-02-18T${text}:00+01:00`);
  assert.deepEqual(stretched(others, block, "to", time("10:30"), plain), span("09:30", "10:30"));
  assert.deepEqual(stretched(others, block, "to", time("11:45"), plain), span("09:30", "11:00"));
  assert.deepEqual(stretched(others, block, "to", time("07:00"), plain), span("09:30", "09:45"));
  assert.deepEqual(stretched(others, block, "from", time("08:10"), plain), span("09:00", "10:00"));
  assert.deepEqual(stretched(others, block, "from", time("13:00"), plain), span("09:45", "10:00"));
  assert.equal(stretched([], block, "to", plain.to + HOUR, plain).to, plain.to);
});
test("the next free slot is later today, else the first of the day", () => {
  const time = t("2026-02-18T09:07:00+01:00");
  assert.deepEqual(slot([span("09:00", "10:00")], time, HOUR, plain), span("10:00", "11:00"));
  assert.deepEqual(slot([{ from: t("2026-02-18T09:00:00+01:00"), to: plain.to }], time, HOUR, plain), span("00:00", "01:00"));
  assert.equal(slot([plain], time, HOUR, plain), null);
});
test("times that overlap stand beside each other, others have the whole width", () => {
  const all = lanes([span("09:00", "11:00"), span("10:00", "10:30"), span("10:15", "11:30"), span("12:00", "13:00")]);
  assert.deepEqual(all.map(({ lane, of }) => [lane, of]), [[0, 3], [1, 3], [2, 3], [0, 1]]);
});

// ---- quick add ----

const mark = (kind: QuickSpan["kind"], start: number, end: number): QuickSpan => ({ kind, start, end, value: "" });
test("the text of quick add is cut where it was understood, and nothing of it is lost", () => {
  const text = "Fix 🪵 fence tomorrow 2h #home";
  const spans = [mark("label", 25, 30), mark("day", 13, 21), mark("estimate", 22, 24)];
  const cut = pieces(text, spans);
  assert.equal(cut.map((piece) => piece.text).join(""), text);
  assert.deepEqual(cut.filter((piece) => piece.kind).map((piece) => [piece.kind, piece.text]), [["day", "tomorrow"], ["estimate", "2h"], ["label", "#home"]]);
});
test("spans of an older text mark nothing wrong", () => {
  for (const spans of [[mark("day", 0, 99)], [mark("day", 5, 5)], [mark("day", 3, 1)], [mark("day", 0, 3), mark("label", 1, 2)]])
    assert.equal(pieces("Fix it", spans).map((piece) => piece.text).join(""), "Fix it");
  assert.deepEqual(pieces("", [mark("day", 0, 1)]), []);
});
test("what will be made is said in words", () => {
  const quick: Quick = { title: "Fix fence", due: "2026-02-19T16:00", estimateMinutes: 120, priority: "P1", category: "Home", labels: ["wood"], items: ["a", "b"], spans: [] };
  assert.deepEqual(understood(quick, "2026-02-18").map(({ text }) => text), ["Fix fence", "due tomorrow 16:00", "2 h", "priority high", "in Home", "#wood", "2 items"]);
});

// ---- filters ----

test("filters are in the address, and the address gives them back", () => {
  assert.equal(address(ALL), "/journal");
  const filters = { ...ALL, show: "closed" as const, category: "a&b", text: "fence #1", order: "priority" as const };
  const path = address(filters);
  assert.deepEqual(read(new URLSearchParams(path.slice(path.indexOf("?")))), filters);
  assert.deepEqual(read(new URLSearchParams("show=never&status=LOST&due=x&order=chance")), ALL);
  assert.ok(narrowed(filters) && !narrowed({ ...ALL, order: "updated" }));
});
test("the server is asked for what the address says", () => {
  const asked = (filters: Partial<typeof ALL>, after?: string): URLSearchParams => new URL(`http://x${tasksPath({ ...ALL, ...filters }, "2026-02-18", after)}`).searchParams;
  assert.equal(asked({}).get("closed"), "false");
  assert.equal(asked({ show: "all" }).get("closed"), "any");
  assert.equal(asked({ status: "BLOCKED", show: "open" }).get("status"), "BLOCKED");
  assert.deepEqual([asked({ due: "late" }).get("dueFrom"), asked({ due: "late" }).get("dueTo")], [null, "2026-02-17"]);
  assert.deepEqual([asked({ due: "week" }).get("dueFrom"), asked({ due: "week" }).get("dueTo")], ["2026-02-18", "2026-02-24"]);
  assert.equal(asked({ text: "  x  " }).get("q"), "x");
  assert.equal(asked({}, "c1").get("after"), "c1");
});

// ---- order, log, ratings, import ----

test("a checklist in another order changes only what must change", () => {
  const list = ["a", "b", "c", "d"].map((id, position) => ({ id, position }));
  assert.deepEqual(moved(list, 0, 2).map(({ id }) => id), ["b", "c", "a", "d"]);
  assert.deepEqual(positions(moved(list, 3, 2)), [{ id: "d", position: 2 }, { id: "c", position: 3 }]);
  assert.deepEqual(positions(list), []);
  assert.deepEqual(positions([{ id: "a", position: 3 }, { id: "b", position: 9 }]), []);
  assert.deepEqual(positions([{ id: "a", position: 0 }, { id: "b", position: 0 }]), [{ id: "b", position: 1 }]);
  assert.deepEqual(moved(list, 9, 0), list);
});
test("logged time is summed by the day it began on", () => {
  const entry = (id: string, startedAt: string, endedAt: string): TimeEntry => ({ id, startedAt, endedAt });
  const days = byDay([entry("a", "2026-02-17T09:00:00Z", "2026-02-17T10:00:00Z"), entry("b", "2026-02-18T09:00:00Z", "2026-02-18T09:30:00Z"), entry("c", "2026-02-18T11:00:00Z", "2026-02-18T10:00:00Z")]);
  assert.deepEqual(days.map((day) => [day.entries.map(({ id }) => id), day.ms / 60_000]), [[["c", "b"], 30], [["a"], 60]]);
});
test("ratings become a line for each dimension, by the day that they speak of", () => {
  const rating = (dimension: string, value: number, targetId: string): Rating => ({ id: `${dimension}${targetId}${value}`, targetType: "dayPlan", targetId, dimension, value, ratedAt: "2026-02-20T08:00:00Z" });
  const all = lines([rating("mood", 4, "dayplan-2026-02-18"), rating("mood", 2, "dayplan-2026-02-18"), rating("energy", 5, "dayplan-2026-02-17"), rating("energy", 1, "dayplan-2026-01-01")], "2026-02-01", "2026-02-28");
  assert.deepEqual(all, [{ dimension: "energy", points: [{ day: "2026-02-17", mean: 5, count: 1 }] }, { dimension: "mood", points: [{ day: "2026-02-18", mean: 3, count: 2 }] }]);
  assert.equal(ratedDay({ id: "x", targetType: "task", targetId: "t", dimension: "d", value: 1, ratedAt: "2026-02-20T12:00:00Z" }), "2026-02-20");
  assert.deepEqual(ticks("2026-02-01", "2026-02-03", 6), ["2026-02-01", "2026-02-02", "2026-02-03"]);
  const many = ticks("2026-01-01", "2026-12-31", 6);
  assert.deepEqual([many.length, many[4]], [5, "2026-12-31"]);
  assert.deepEqual([...new Set(many.slice(1).map((day, i) => daysBetween(many[i] as string, day)))], [73]);
});
test("what a file is, by its name and else by its look", () => {
  assert.equal(formatOf("x.CSV", "- [ ] a"), "csv");
  assert.equal(formatOf("", "BEGIN:VCALENDAR\r\n"), "ics");
  assert.equal(formatOf("", '{"format":"dormouse-journal"}'), "json");
  assert.equal(formatOf("", "# Home\n- [ ] Fix fence"), "markdown");
  assert.equal(formatOf("", "title,due\nFix fence,2026-02-18"), "csv");
  assert.equal(formatOf("", "(A) Fix fence +home @out"), "todotxt");
  assert.equal(counted({ tasks: 2, categories: 1, there: 3, events: 0 }), "2 tasks, 1 category, 3 known already");
  assert.equal(counted({}), "nothing");
});

test("times are those of the journal's zone, whatever the browser's is, and what is typed means them", () => {
  for (const zone of [BERLIN, "Asia/Kolkata", "America/New_York", "UTC", "Pacific/Chatham"]) {
    setZone(zone);
    for (const time of ["2026-02-18T23:30:00.000Z", "2026-03-29T00:30:00.000Z", "2026-03-29T01:30:00.000Z", "2026-07-01T12:00:00.000Z"]) {
      assert.equal(momentOf(localInput(time)), time, `${zone} ${time}`);
      assert.equal(localInput(time), `${dayOf(time, zone)}T${clock(time, zone)}`);
    }
  }
  setZone(BERLIN);
  assert.equal(localInput("2026-02-18T23:30:00Z"), "2026-02-19T00:30");
  assert.equal(momentOf("2026-07-01T14:00"), "2026-07-01T12:00:00.000Z");
  assert.match(momentOf("2026-03-29T02:30"), /^2026-03-29T0[01]:30/); // clocks skip it: an hour to one side
  assert.equal(momentOf("soon"), "");
  assert.ok(sameClocks("Europe/Berlin", "Europe/Paris") && !sameClocks("UTC", "Asia/Kolkata"));
  setZone(undefined);
});

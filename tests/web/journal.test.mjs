// The journal in a real browser against a real daemon: quick add, tasks by keyboard, a task and its
// checklists, a day whose blocks move, time, ratings, entries, import; each looked at in light, dark, narrow.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { a11y, alone, becomes, Daemon, judgeLooks, launch, open, shoot, types } from "./browser.mjs";

let browser;
let daemon;
let zone; // the browser is where the daemon is
let today;
const made = {};
const day = (n) => new Date(Date.parse(`${today.day}T12:00:00Z`) + n * 86_400_000).toISOString().slice(0, 10);
const put = (type, fields) => daemon.ask("POST", `/journal/${type}`, fields);
const tasks = async (query = "") => (await daemon.ask("GET", `/journal/tasks${query}`)).items;

before(async () => {
  daemon = await new Daemon(process.env.SERVER).start();
  browser = await launch();
  today = await daemon.ask("GET", "/journal/days/today");
  zone = today.zone;
  made.home = await put("categories", { name: "Home", color: "#8f5410" });
  made.gym = await put("categories", { name: "Gym", color: "#23704a" });
  made.fence = await put("tasks", { title: "Fix the fence", due: day(0), estimateMinutes: 90, priority: "P1", categoryId: made.home.id, labels: ["wood"], notes: "The **third** post is rotten.\n\n<script>alert(1)</script>" });
  made.list = await put("checklists", { taskId: made.fence.id, title: "Steps" });
  for (const title of ["Buy posts", "Dig holes", "Paint"]) await put("checklist-items", { checklistId: made.list.id, title });
  await put("tasks", { title: "Call the tax office", due: day(-3), priority: "P0" });
  await put("tasks", { title: "Leg day", due: `${day(0)}T18:00`, categoryId: made.gym.id, status: "IN_PROGRESS" });
});
after(async () => {
  await browser?.close();
  await daemon?.remove();
});

/** A page for one test; its faults are the test's. */
async function visit(t, path, options) {
  const { page, faults, context } = await open(browser, daemon, { at: path, zone, ...options });
  t.after(async () => {
    await page.unrouteAll({ behavior: "ignoreErrors" }); // a held answer may still be under way
    await context.close();
    assert.deepEqual(faults, []);
  });
  if (path) await page.locator("main h1").first().waitFor({ state: "attached" });
  return page;
}

test("one line becomes a task, and shows what it understood before it is added", async (t) => {
  const page = await visit(t, "/journal");
  await page.locator(".task-row").first().waitFor(); // keys before it stands are lost
  await page.keyboard.press("n");
  await page.waitForFunction(() => document.activeElement?.matches("input, textarea"));
  await page.keyboard.type("Oil the gate tomorrow 2h #wood");
  const hint = page.locator(".quick-hint");
  await hint.getByText("due tomorrow").waitFor();
  assert.match(await hint.textContent(), /Oil the gate.*due tomorrow.*2 h.*#wood/);
  assert.deepEqual(await page.locator(".quick-marks mark").allTextContents(), ["tomorrow", "2h", "#wood"]);
  assert.deepEqual(await a11y(page), []);
  await shoot(page, "journal-quick-light");
  await page.keyboard.press("Enter");
  await page.getByText("Added: Oil the gate").waitFor();
  await page.getByRole("link", { name: /Oil the gate/ }).waitFor();
  const [task] = await tasks("?q=Oil");
  assert.equal(task.due, day(1));
  assert.equal(task.estimateMinutes, 120);
});

test("tasks are moved through, done, undone and deleted with keys", async (t) => {
  for (const title of ["Zebra one", "Zebra two", "Zebra three"]) await put("tasks", { title });
  const page = await visit(t, "/journal?q=Zebra");
  await page.locator(".task-row").nth(2).waitFor();
  const titles = await page.locator(".task-title").allTextContents();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.waitForFunction((title) => document.activeElement?.textContent?.includes(title), titles[1]);
  await page.keyboard.press("k");
  await page.waitForFunction((title) => document.activeElement?.textContent?.includes(title), titles[0]);
  await alone(page, "x");
  await page.getByText(`Done: ${titles[0]}`).waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".task-row").length === 2);
  assert.deepEqual((await tasks("?q=Zebra&closed=true")).map((task) => task.title), [titles[0]]);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".task-row").nth(2).waitFor();
  assert.equal((await tasks("?q=Zebra")).length, 3);
  await page.locator(".task-link").first().focus();
  await page.keyboard.press("Delete");
  await page.getByText(/Deleted: Zebra/).waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".task-row").length === 2);
  await page.getByRole("button", { name: "Undo" }).last().click();
  await page.locator(".task-row").nth(2).waitFor();
  await page.locator(".task-link").first().focus();
  await page.keyboard.press("e");
  await page.waitForURL("**/journal/tasks/*");
});

test("a sentence typed beside the boxes does nothing to the tasks, in a list or in one", async (t) => {
  const made = [];
  for (const title of ["Yak one", "Yak two"]) made.push((await put("tasks", { title })).id);
  const page = await visit(t, "/journal?q=Yak", { clock: true });
  await page.locator(".task-row").nth(1).waitFor();
  const all = async () => (await tasks("?q=Yak")).map((task) => [task.title, task.status]).sort();
  const before = await all();
  for (const [i, where] of [["tasks", "/journal?q=Yak"], ["task", `/journal/tasks/${made[0]}`]].entries()) {
    if (i) await page.goto(daemon.url + where[1]);
    await page.locator(i ? ".task-main" : ".task-row").first().waitFor();
    for (const sentence of ["next week, then fix it", "x-ray at ten", "he exits", "a fox jumps"]) {
      if (!i) await page.locator(".task-link").first().focus();
      await types(page, sentence, 110);
      await page.clock.runFor(600); // longer than a key needs to act
      assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, where[1], `after "${sentence}"`);
      assert.equal(await page.getByRole("dialog").count(), 0, `after "${sentence}"`);
      assert.equal(await page.locator(".task-main textarea").count(), 0, `after "${sentence}"`);
      assert.deepEqual(await all(), before, `after "${sentence}"`);
    }
  }
  // On purpose it goes, and what it was meant for is what it is done to.
  await alone(page, "x");
  await becomes(async () => (await daemon.ask("GET", `/journal/tasks/${made[0]}`)).status, "DONE");
});

test("filters are in the address, and back brings them back", async (t) => {
  const page = await visit(t, "/journal");
  await page.getByLabel("Category").selectOption({ label: "Gym" });
  await page.waitForURL(/category=/);
  await page.waitForFunction(() => document.querySelectorAll(".task-row").length === 1);
  await page.getByText("Leg day").click();
  await page.getByRole("article", { name: "Leg day" }).waitFor();
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll(".task-row").length === 1);
  await page.getByLabel("Words in the title").fill("nothing like this");
  await page.getByText("No task is like that").waitFor();
  await page.getByRole("button", { name: "Show all open tasks" }).click();
  await page.getByText("Fix the fence").waitFor();
  await page.getByLabel("Due", { exact: true }).selectOption("late");
  await page.waitForFunction(() => document.querySelectorAll(".task-row").length === 1);
  assert.match(await page.textContent(".task-row"), /Call the tax office.*late/);
});

test("a task is changed where it stands, and nothing in its notes runs", async (t) => {
  const page = await visit(t, `/journal/tasks/${made.fence.id}`);
  await page.getByText("The third post is rotten.").waitFor();
  assert.equal(await page.locator("main script, main img").count(), 0);
  const title = page.getByRole("textbox", { name: "Title" });
  await title.fill("Mend the fence");
  await title.press("Enter");
  await page.getByLabel("Priority").selectOption("P0");
  const estimate = page.getByLabel("Takes");
  await estimate.fill("soon");
  await page.getByText("A length, like").waitFor();
  await estimate.fill("2h 30");
  await estimate.press("Enter");
  await page.getByLabel("Add a label").fill("garden");
  await page.keyboard.press("Enter");
  await page.getByText("#garden").waitFor();
  const task = await daemon.ask("GET", `/journal/tasks/${made.fence.id}`);
  assert.deepEqual([task.title, task.priority, task.estimateMinutes, task.labels.map((label) => label.name).sort()], ["Mend the fence", "P0", 150, ["garden", "wood"]]);
  await page.getByRole("button", { name: "Edit", exact: false }).first().click();
  await page.getByLabel("Notes, in Markdown").fill("Only the *fourth* now.");
  await page.keyboard.press("Control+Enter");
  await page.locator(".task-notes em", { hasText: "fourth" }).waitFor();
  assert.deepEqual(await a11y(page), []);
});

test("notes that somebody else changed meanwhile are shown before they are written over", async (t) => {
  const { id } = await put("tasks", { title: "Shared", notes: "first" });
  const notes = async () => (await daemon.ask("GET", `/journal/tasks/${id}`)).notes;
  const page = await visit(t, `/journal/tasks/${id}`);
  await page.getByRole("button", { name: "Edit", exact: false }).first().click();
  await page.getByLabel("Notes, in Markdown").fill("mine");
  let first = true;
  await page.route(`**/journal/tasks/${id}`, async (route) => {
    if (first && route.request().method() === "PATCH") {
      first = false;
      await daemon.ask("PATCH", `/journal/tasks/${id}`, { notes: "theirs" });
    }
    await route.continue();
  });
  await page.keyboard.press("Control+Enter");
  await page.getByText("changed elsewhere since you began").waitFor();
  await page.locator(".notes-now", { hasText: "theirs" }).waitFor({ state: "attached" });
  assert.equal(await notes(), "theirs");
  const writing = page.getByLabel("Notes, in Markdown").and(page.locator(":not([readonly])"));
  await writing.waitFor(); // the change may be heard of before the refusal
  assert.equal(await writing.inputValue(), "mine");
  await writing.press("Control+Enter");
  await page.locator(".task-notes", { hasText: "mine" }).waitFor();
  assert.equal(await notes(), "mine");
});

test("a checklist is added to, checked, and put in order with keys", async (t) => {
  const page = await visit(t, `/journal/tasks/${made.fence.id}`);
  const items = async () => (await daemon.ask("GET", `/journal/tasks/${made.fence.id}`)).checklists[0].items.map((item) => (item.checked ? `*${item.title}` : item.title));
  await page.getByRole("checkbox", { name: "Buy posts" }).check();
  await page.getByLabel("New item in Steps").fill("Clean up");
  await page.keyboard.press("Enter");
  await page.getByRole("checkbox", { name: "Clean up" }).waitFor();
  await page.getByRole("checkbox", { name: "Paint" }).focus();
  await page.keyboard.press("Alt+ArrowUp");
  await page.getByText("Paint: now 2 of 4").waitFor({ state: "attached" });
  await page.waitForFunction(() => [...document.querySelectorAll(".item-row .check")].map((box) => box.getAttribute("aria-label")).join() === "Buy posts,Paint,Dig holes,Clean up");
  await becomes(items, ["*Buy posts", "Paint", "Dig holes", "Clean up"]);
  await page.getByRole("button", { name: "Start the clock" }).click();
  await page.getByRole("group", { name: "The clock runs" }).waitFor();
  assert.equal((await daemon.ask("GET", "/journal/timer")).entry.taskId, made.fence.id);
  await page.getByRole("button", { name: "Stop the clock" }).click();
  await page.getByRole("group", { name: "The clock runs" }).waitFor({ state: "detached" });
  assert.equal((await daemon.ask("GET", "/journal/timer")).entry, null);
});

test("open items are carried into a follow-up", async (t) => {
  const task = await put("tasks", { title: "Plant trees" });
  const list = await put("checklists", { taskId: task.id, title: "Trees" });
  for (const title of ["Oak", "Lime"]) await put("checklist-items", { checklistId: list.id, title, checked: title === "Oak" });
  const page = await visit(t, `/journal/tasks/${task.id}`);
  await page.getByRole("checkbox", { name: "Lime" }).waitFor();
  await page.keyboard.press("f");
  await page.getByLabel("What comes next").fill("Plant the rest");
  await page.getByRole("button", { name: "Make it" }).click();
  await page.getByRole("article", { name: "Plant the rest" }).waitFor();
  await page.getByRole("checkbox", { name: "Lime" }).waitFor();
  await page.getByText("follows").waitFor();
  assert.equal((await daemon.ask("GET", `/journal/tasks/${task.id}`)).status, "DONE");
});

const blocksOf = async () => (await daemon.ask("GET", `/journal/days/${day(2)}`)).blocks.map((block) => [block.startTime, block.endTime].map((time) => new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: zone })).join("-")).sort();
/** What is done, and the answer to what the page then says to the server. */
const saved = async (page, act, { method = "PUT", path = /\/blocks$/ } = {}) => {
  const answer = page.waitForResponse((response) => response.request().method() === method && path.test(new URL(response.url()).pathname));
  await act();
  assert.ok((await answer).ok());
};
const drag = async (page, x, from, ...to) => {
  await page.mouse.move(x, from);
  await page.mouse.down();
  for (const y of to) await page.mouse.move(x, y, { steps: 3 });
  await page.mouse.up();
};

test("blocks of a day are made, moved and resized, by hand and by keys", async (t) => {
  const page = await visit(t, `/journal/day/${day(2)}`);
  await page.getByRole("region", { name: "Hours of the day" }).waitFor(); // keys before it stands are lost
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog", { name: "New block" });
  await dialog.getByLabel("From").fill("09:00");
  await dialog.getByLabel("To").fill("10:00");
  await dialog.getByLabel("Note").fill("Deep work");
  await saved(page, () => dialog.getByRole("button", { name: "Save" }).click());
  const block = page.locator(".block", { hasText: "Deep work" });
  await block.waitFor();
  assert.deepEqual(await blocksOf(), ["09:00-10:00"]);
  await block.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await becomes(blocksOf, ["09:30-10:45"]);
  // By hand: an hour down is 60 px.
  const box = await block.boundingBox();
  await saved(page, () => drag(page, box.x + 60, box.y + 30, box.y + 60, box.y + 90));
  assert.deepEqual(await blocksOf(), ["10:30-11:45"]);
  await page.getByRole("button", { name: /^10:30 to 11:45: Deep work/ }).waitFor();
  const after = await block.boundingBox();
  await saved(page, () => drag(page, after.x + 60, after.y + after.height - 3, after.y + after.height + 12));
  assert.deepEqual(await blocksOf(), ["10:30-12:00"]);
  await block.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Block" }).getByLabel("Note").fill("Deeper work");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".block", { hasText: "Deeper work" }).waitFor();
  // A click on a free hour makes one there.
  const sheet = await page.locator(".hours-sheet").boundingBox();
  await page.mouse.click(sheet.x + 200, sheet.y + 14.2 * 60);
  await saved(page, () => page.getByRole("dialog", { name: "New block" }).getByRole("button", { name: "Save" }).click());
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.deepEqual(await blocksOf(), ["10:30-12:00", "14:00-14:30"]);
  await page.getByRole("button", { name: /^14:00 to 14:30/ }).focus();
  await saved(page, () => page.keyboard.press("Delete"));
  await page.getByText("The block is deleted.").waitFor();
  assert.deepEqual(await blocksOf(), ["10:30-12:00"]);
  assert.deepEqual(await a11y(page), []);
});

test("what is due is dragged into the day, pinned, and the day is rated", async (t) => {
  const page = await visit(t, "/journal/day");
  const row = page.locator(".day-task", { hasText: "Leg day" });
  await row.waitFor();
  await page.getByText("late:").first().waitFor();
  await row.getByRole("button", { name: "Pin Leg day to this day" }).click();
  await page.getByRole("button", { name: "Unpin Leg day" }).waitFor();
  await page.locator(".day-task", { hasText: "Leg day" }).dragTo(page.locator(".hours-sheet"), { targetPosition: { x: 220, y: 20 * 60 } });
  await page.locator(".block", { hasText: "Leg day" }).waitFor();
  await page.getByRole("group", { name: "energy" }).getByLabel("4 of 5").check({ force: true });
  await becomes(async () => (await daemon.ask("GET", `/journal/days/${day(0)}`)).ratings.map((rating) => [rating.dimension, rating.value]), [["energy", 4]]);
  const planned = await daemon.ask("GET", `/journal/days/${day(0)}`);
  assert.equal(planned.plan.pinnedTaskIds.length, 1);
  assert.equal(planned.blocks.length, 1);
});

test("a day on which clocks change has the hours that it has", async (t) => {
  const { page, faults, context } = await open(browser, daemon, { at: null, zone: "Europe/Berlin" });
  t.after(() => context.close());
  // This machine's clocks may never change: the days of one whose do.
  const spans = { "2026-03-29": ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"], "2026-10-25": ["2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"] };
  await page.route("**/api/v1/journal/days/2026-*", async (route) => {
    const [from, to] = spans[route.request().url().split("/").pop()];
    await route.fulfill({ json: { ...(await (await route.fetch()).json()), from, to, zone: "Europe/Berlin" } });
  });
  await page.goto(`${daemon.url}/journal/day/2026-03-29`);
  await page.locator(".hour").nth(20).waitFor({ state: "attached" });
  assert.equal(await page.locator(".hour").count(), 23);
  await page.goto(`${daemon.url}/journal/day/2026-10-25`);
  await page.locator(".hour").nth(24).waitFor({ state: "attached" });
  assert.equal(await page.locator(".hour").count(), 25);
  assert.deepEqual((await page.locator(".hour").allTextContents()).slice(1, 5), ["01:00", "02:00", "02:00", "03:00"]);
  assert.deepEqual(faults, []);
});

test("time is logged, changed and taken back; entries are written; lists are imported", async (t) => {
  const page = await visit(t, "/journal/time");
  await page.getByRole("button", { name: "Add time" }).click();
  await page.getByLabel("What was done").fill("Reading");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: /Reading/ }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("Deleted: the logged time").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: /Reading/ }).waitFor();
  await page.goto(`${daemon.url}/journal/entries`);
  await page.getByRole("button", { name: "New entry" }).click();
  await page.getByRole("dialog").getByLabel("Workout").check({ force: true });
  await page.getByLabel("Title").fill("Leg day");
  await page.getByLabel("How long").fill("1h 15");
  await page.getByLabel("Which kind").fill("Legs");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: /Leg day.*1 h 15 min/s }).waitFor();
  const [entry] = (await daemon.ask("GET", "/journal/entries?kind=workout")).items;
  assert.deepEqual([entry.subtype, entry.durationMs], ["legs", 4_500_000]);
  await page.getByRole("button", { name: "Import or export" }).click();
  assert.deepEqual(await a11y(page), []);
  await page.getByRole("button", { name: "Close" }).click();
});

/** A second of nothing, as a recording. */
const silence = () => {
  const bytes = Buffer.alloc(44 + 8000, 128);
  bytes.write("RIFF", 0); bytes.writeUInt32LE(36 + 8000, 4); bytes.write("WAVEfmt ", 8); bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20); bytes.writeUInt16LE(1, 22); bytes.writeUInt32LE(8000, 24); bytes.writeUInt32LE(8000, 28);
  bytes.writeUInt16LE(1, 32); bytes.writeUInt16LE(8, 34); bytes.write("data", 36); bytes.writeUInt32LE(8000, 40);
  return bytes;
};

test("a recording is added, found among the others, and plays", async (t) => {
  const page = await visit(t, "/journal/entries?kind=audio");
  await page.getByText("Nothing written yet").waitFor();
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog", { name: "New entry" });
  assert.ok(await dialog.getByRole("button", { name: "Save" }).isDisabled()); // a recording without sound is none
  await dialog.locator("input[type=file]").setInputFiles({ name: "birds.wav", mimeType: "audio/wav", buffer: silence() });
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: /birds.wav/ }).click();
  const player = page.getByRole("dialog", { name: "Recording" }).locator("audio");
  await page.waitForFunction(() => document.querySelector("audio")?.readyState >= 1 && document.querySelector("audio").duration > 0.9);
  assert.equal(await player.getAttribute("aria-label"), "Play birds.wav");
  assert.deepEqual(await a11y(page), []);
  await shoot(page, "journal-recording");
});

test("a day names what was noted as it begins, and says what was measured", async (t) => {
  const at = new Date(Date.parse(today.from) + 8 * 3_600_000 + 3 * 86_400_000).toISOString();
  await put("entries", { kind: "note", body: "# \n\nThe oak needs water before the frost comes back in the middle of the coming week, says Ada.", at });
  await put("entries", { kind: "measurement", subtype: "weight", value: 72.4, unit: "kg", at });
  const page = await visit(t, `/journal/day/${day(3)}`);
  const log = page.getByRole("region", { name: "Logged" });
  await log.getByRole("link", { name: /^The oak needs water before the frost.*…$/ }).waitFor();
  assert.match(await log.textContent(), /Measurement.*weight 72\.4 kg/);
});

test("records are linked and taken apart, from both ends; an entry is rated", async (t) => {
  const note = await put("entries", { kind: "note", title: "Wood prices" });
  const page = await visit(t, `/journal/entries?entry=${note.id}`);
  await page.getByRole("button", { name: "Link a task" }).click();
  await page.getByLabel("It is", { exact: true }).selectOption("about");
  await page.getByRole("combobox", { name: "the task" }).fill("fence");
  await page.getByRole("option", { name: /fence/ }).click();
  await page.getByRole("button", { name: "Link", exact: true }).click();
  await page.getByRole("link", { name: /fence/ }).waitFor();
  await page.getByRole("group", { name: "mood" }).getByLabel("5 of 5").check({ force: true });
  await becomes(async () => (await daemon.ask("GET", `/journal/ratings?targetId=${note.id}`)).items.map((rating) => rating.value), [5]);
  assert.deepEqual(await a11y(page), []);
  await shoot(page, "journal-entry-links");
  await page.goto(`${daemon.url}/journal/tasks/${made.fence.id}`);
  const links = page.getByRole("region", { name: "Links" });
  await links.getByRole("link", { name: "Wood prices" }).waitFor();
  await links.getByRole("button", { name: "Take this link away" }).click();
  await links.getByText("Linked to nothing yet.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await links.getByRole("link", { name: "Wood prices" }).waitFor();
});

test("import, export and search have addresses, and what has none says so", async (t) => {
  const page = await visit(t, "/journal/import");
  await page.getByRole("dialog", { name: "Import or export" }).getByLabel("Or paste it").waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/journal$/);
  await page.goto(`${daemon.url}/journal/export`);
  await page.getByRole("link", { name: "JSON, complete" }).waitFor();
  await page.goto(`${daemon.url}/journal/search`);
  await page.getByLabel("Words in the journal").fill("tax");
  await page.getByRole("link", { name: /Call the tax office/ }).click();
  await page.getByRole("article", { name: "Call the tax office" }).waitFor();
  await page.goto(`${daemon.url}/journal/nowhere`);
  await page.getByText("There is no such part of the journal").waitFor();
});

test("many tasks scroll without as many rows", async (t) => {
  const list = Array.from({ length: 350 }, (_, i) => put("tasks", { title: `Many ${String(i).padStart(3, "0")}` }));
  await Promise.all(list);
  const page = await visit(t, "/journal?q=Many");
  await page.locator(".task-row").first().waitFor();
  assert.ok((await page.locator(".task-row").count()) < 60);
  for (let tries = 0; tries < 60 && !(await page.getByText("Many 349").count()); tries++) {
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.waitForTimeout(60);
  }
  assert.equal(await page.getByText("Many 349").count(), 1);
  assert.ok((await page.locator(".task-row").count()) < 60);
});

const VIEWS = ["/journal", "/journal/day", "/journal/time", "/journal/ratings", "/journal/entries", "/journal/categories", "/journal/search?q=fence", "/wakes"];
test("every part of the journal is accessible and fits: light, dark, narrow", async (t) => {
  for (const [back, energy, mood] of [[6, 2, 3], [5, 3, 3], [4, 3, 5], [2, 4, 4], [1, 5, 4]])
    for (const [dimension, value] of [["energy", energy], ["mood", mood]])
      await daemon.ask("POST", "/journal/ratings", { targetType: "dayPlan", targetId: `dayplan-${day(-back)}`, dimension, value, ratedAt: new Date(Date.now() - back * 86_400_000).toISOString() });
  await put("entries", { kind: "measurement", subtype: "weight", value: 72.4, unit: "kg" });
  await put("entries", { kind: "note", title: "Idea", body: "A bench under the oak." });
  const at = (hour, minute = 0) => new Date(Date.parse(today.from) + hour * 3_600_000 + minute * 60_000).toISOString();
  await put("time-entries", { taskId: made.fence.id, startedAt: at(9, 10), endedAt: at(10, 40), description: "posts" });
  await put("time-entries", { startedAt: at(11), endedAt: at(11, 30), description: "mail" });
  await daemon.ask("PUT", `/journal/days/${day(0)}/blocks`, { upserts: [{ taskId: made.fence.id, categoryId: made.home.id, startTime: at(9), endTime: at(10, 30) }, { note: "Lunch", startTime: at(12), endTime: at(12, 45) }, { note: "Mail", startTime: at(14), endTime: at(14, 15) }], deletes: [] });
  const page = await visit(t, null);
  const problems = [];
  for (const path of [...VIEWS, `/journal/tasks/${made.fence.id}`]) {
    await page.goto(daemon.url + path);
    await page.locator("main h1").first().waitFor({ state: "attached" });
    problems.push(...await judgeLooks(page, path.replace(made.fence.id, "one").replace(/\W+/g, "-").replace(/^-/, "")));
  }
  assert.deepEqual(problems, []);
});

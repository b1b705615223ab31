// Alertness as it is lived with: what happens elsewhere appears by itself, wakes are told in words, files
// wake agents, reports grow stale; items and files of the journal move and come back; a long import stops
// and goes on; the clock that runs takes nobody's place; two zones are told apart.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { a11y, becomes, Daemon, launch, open, shoot } from "./browser.mjs";

const REPORT = '{ calls: [{ name: write_report, arguments: { title: "The week", text: "- **three** workouts", confidence: 0.8 } }] }';
const script = `match: any
steps:
  - { expect: { user: "report", results: 0 }, times: 20, reply: ${REPORT} }
  - { times: 200, reply: { text: "Noted." } }
`;
let browser;
let daemon;
let folder; // that an agent watches
let home; // the journal's zone

before(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), "dormouse-drop-"));
  daemon = await (await new Daemon(process.env.SERVER, { script }).start()).bare();
  browser = await launch();
  await daemon.ask("PATCH", "/agents/planner", { allowedCategoryIds: ["*"], mode: "hybrid" });
  home = (await daemon.ask("GET", "/journal/days/today")).zone;
});
after(async () => {
  await browser?.close();
  await daemon?.remove();
  rmSync(folder, { recursive: true, force: true });
});
async function visit(t, where, options = {}) {
  const { page, faults, context } = await open(browser, daemon, { at: where, zone: home, ...options });
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  await page.locator("main h1").first().waitFor({ state: "attached" });
  return page;
}
const put = (type, fields) => daemon.ask("POST", `/journal/${type}`, fields);
const PANEL = "/agents/planner?panel=wakes";
/** What else was written at the beginning has been read by now: from here on only events tell. */
const quiet = async (page) => {
  let last = Date.now();
  const note = () => (last = Date.now());
  page.on("request", note);
  while (Date.now() - last < 1200) await page.waitForTimeout(50);
  page.off("request", note);
};

test("the page asks for what it shows first once, and before its script has come", async (t) => {
  const { page, context } = await open(browser, daemon, { at: null, zone: home });
  t.after(() => context.close());
  const asked = [];
  const said = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  page.on("console", (message) => said.push(message.text()));
  await page.goto(daemon.url, { waitUntil: "commit" });
  await page.locator(".home-agents li").first().waitFor();
  for (const one of ["/api/v1/agents", "/api/v1/inbox"]) assert.equal(asked.filter((path_) => path_ === one).length, 1, `${one} in ${asked}`);
  const begun = await page.evaluate(() => Object.fromEntries(performance.getEntriesByType("resource").map((entry) => [new URL(entry.name).pathname, [entry.startTime, entry.responseEnd]])));
  const bundle = Object.entries(begun).find(([name]) => /\/assets\/index\..*\.js$/.test(name))?.[1];
  for (const one of ["/api/v1/agents", "/api/v1/inbox"]) assert.ok(begun[one][0] < bundle[1], `${one} began at ${begun[one][0]}, the script came at ${bundle[1]}`);
  assert.deepEqual(said.filter((line) => /preload/i.test(line)), []);
});

test("views of the journal and of wakes are there, not only shown", async () => {
  for (const where of ["/journal", "/journal/day", "/wakes"]) assert.equal((await fetch(daemon.url + where)).status, 200, where);
});

test("wakes, rules and timers made elsewhere appear by themselves, also a wake that led to nothing", async (t) => {
  const page = await visit(t, "/wakes");
  await quiet(page);
  await daemon.ask("POST", "/agents", { displayName: "Resting", id: "resting", mode: "autonomous", allowedCategoryIds: ["*"] });
  await daemon.ask("POST", "/agents/resting/subscriptions", { name: "sport", source: "journal", tokens: ["k:WORKOUT"] });
  await daemon.ask("POST", "/agents/resting/pause", {});
  await put("entries", { kind: "workout", subtype: "run", durationMs: 60_000 });
  await page.locator(".wake", { hasText: "sport" }).locator(".badge", { hasText: "skipped: paused" }).waitFor();
  const panel = await visit(t, PANEL);
  await panel.getByText("Nothing yet: a task").waitFor();
  await quiet(panel);
  const made = await daemon.ask("POST", "/agents/planner/subscriptions", { name: "tasks", source: "journal", tokens: [{ class: "semanticKey", value: "TASK" }], prompt: "Look." });
  await panel.getByRole("switch", { name: "tasks" }).waitFor();
  await daemon.ask("PATCH", `/subscriptions/${made.id}`, { name: "every task" }); // its path names no agent
  await panel.getByRole("switch", { name: "every task" }).waitFor();
  await daemon.ask("POST", "/agents/planner/timers", { rrule: "FREQ=DAILY;BYHOUR=7", name: "mornings" });
  await panel.getByRole("switch", { name: "mornings" }).waitFor();
});

test("what woke an agent is told in words: in its conversation, the list, runs and home", async (t) => {
  const page = await visit(t, "/wakes");
  await put("tasks", { title: "Water the roses" });
  const row = page.locator(".wake", { hasText: "every task" });
  await row.locator(".badge", { hasText: "done" }).waitFor();
  await page.goto(`${daemon.url}/agents/planner`);
  await page.locator(".woke-title", { hasText: "every task: Water the roses" }).waitFor();
  await page.getByRole("button", { name: "Conversations: every task" }).waitFor();
  assert.ok(!(await page.locator(".woke-title, .woke-told").allTextContents()).join().includes("[wake:"));
  assert.deepEqual(await a11y(page), []);
  await shoot(page, "agent-woken-light");
  await page.getByText("All that it was told").click();
  await page.getByText(/\[wake: subscription/).waitFor();
  await page.locator(".woke").getByRole("link", { name: "Water the roses" }).click();
  await page.getByRole("article", { name: "Water the roses" }).waitFor();
  for (const [where, list] of [["/runs", ".run-row"], ["/", ".happen"]]) {
    await page.goto(daemon.url + where);
    await page.locator(list, { hasText: "every task: Water the roses" }).waitFor();
    assert.equal(await page.getByText("[wake:").count(), 0);
  }
  await page.locator(".happen", { hasText: "Water the roses" }).click();
  await page.getByText("Woke because: every task: Water the roses").waitFor();
});

test("a wake that begins another conversation takes nothing away from who is writing", async (t) => {
  const page = await visit(t, "/agents/planner");
  const box = page.getByRole("textbox", { name: /Write to/ });
  await box.fill("Half a sentence");
  await quiet(page);
  const title = await page.getByRole("button", { name: /^Conversations: / }).getAttribute("aria-label");
  await daemon.ask("POST", "/agents/planner/wake", { words: "Look around", requestId: "meanwhile" });
  await becomes(async () => (await daemon.ask("GET", "/wakes?limit=5")).items.find((one) => one.reasonId === "meanwhile").status, "completed");
  await quiet(page);
  assert.equal(await box.inputValue(), "Half a sentence");
  assert.equal(await page.getByRole("button", { name: /^Conversations: / }).getAttribute("aria-label"), title);
  await page.goto(`${daemon.url}/agents/planner`); // opened anew: the newest
  await page.getByRole("button", { name: "Conversations: You woke it" }).waitFor();
});

test("a folder that is watched: a file dropped there wakes, by the rule's name", async (t) => {
  const page = await visit(t, PANEL);
  await page.getByRole("region", { name: "Something changes" }).getByRole("button", { name: "Add" }).click();
  const dialog = page.getByRole("dialog", { name: "Wake up when…" });
  await dialog.getByLabel("It wakes when").selectOption("files");
  await dialog.getByText("The whole path of a folder").waitFor();
  assert.ok(await dialog.getByRole("button", { name: "Save" }).isDisabled());
  await dialog.getByLabel("Folder").fill(folder);
  await dialog.getByLabel("Only files like").fill("*.md");
  await dialog.getByLabel("What it is told").fill("Read it.");
  await dialog.getByLabel("Name").fill("dropped notes");
  assert.deepEqual(await a11y(page), []);
  await shoot(page, "wakes-folder-light");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("switch", { name: "dropped notes" }).waitFor();
  await page.getByText(`a file in ${folder} (*.md) changes`).waitFor();
  writeFileSync(path.join(folder, "other.txt"), "not this");
  writeFileSync(path.join(folder, "idea.md"), "A bench under the oak.");
  await page.locator(".wake", { hasText: "dropped notes" }).locator(".badge", { hasText: "done" }).first().waitFor();
  const [made] = (await daemon.ask("GET", "/agents/planner/subscriptions")).items.filter(({ name }) => name === "dropped notes");
  assert.deepEqual([made.folder, made.glob], [folder, "*.md"]);
});

test("hours and pauses between are kept, and the last week says what they would have held back", async (t) => {
  const page = await visit(t, PANEL);
  await page.getByRole("region", { name: "Something changes" }).getByRole("button", { name: "Add" }).click();
  const dialog = page.getByRole("dialog", { name: "Wake up when…" });
  await dialog.getByLabel("a note or measurement").check();
  await dialog.getByLabel("a task", { exact: true }).uncheck();
  await dialog.getByText("It would not have woken in the last week").waitFor();
  for (const title of ["one", "two", "three"]) await put("entries", { kind: "note", title });
  await dialog.getByLabel("At most").selectOption("3600");
  await dialog.getByText("It would have woken 2 times in the last week").waitFor();
  assert.deepEqual(await dialog.locator(".match > :last-child").allTextContents(), ["with the one after it", "later: it has just woken", "wakes"]);
  await dialog.getByRole("switch", { name: "Only at certain hours" }).check();
  await dialog.getByText(`By the clocks of ${home}.`).waitFor();
  await dialog.getByLabel("From").fill("08:00");
  await dialog.getByLabel("To", { exact: true }).fill("20:30");
  for (const day of ["Saturday", "Sunday"]) await dialog.getByLabel(day).uncheck();
  await dialog.getByLabel("Name").fill("notes");
  await shoot(page, "wakes-hours-light");
  assert.deepEqual(await a11y(page), []);
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("between 08:00 and 20:30 on Mon, Tue, Wed, Thu and Fri, at most every 1 h").waitFor();
  const [made] = (await daemon.ask("GET", "/agents/planner/subscriptions")).items.filter(({ name }) => name === "notes");
  assert.deepEqual(made.activeHours, { days: ["mo", "tu", "we", "th", "fr"], from: "08:00", to: "20:30" });
  assert.equal(made.cooldownSeconds, 3600);
  await page.getByRole("button", { name: "Change notes" }).click();
  const again = page.getByRole("dialog", { name: "Wakes up when" });
  assert.equal(await again.getByLabel("At most").inputValue(), "3600");
  await again.getByRole("switch", { name: "Only at certain hours" }).uncheck();
  await again.getByRole("button", { name: "Save" }).click();
  await again.waitFor({ state: "detached" });
  assert.equal((await daemon.ask("GET", "/agents/planner/subscriptions")).items.find(({ name }) => name === "notes").activeHours ?? null, null);
});

test("a report appears when it is written, and says when and why it is stale", async (t) => {
  const page = await visit(t, "/agents/planner?panel=report");
  await page.getByText("No report yet").waitFor();
  await quiet(page);
  await daemon.run("write a report");
  await page.locator(".report", { hasText: "The week" }).locator(".badge", { hasText: "fresh" }).waitFor();
  await put("tasks", { title: "Something after it" });
  await page.locator(".report .badge", { hasText: "stale" }).waitFor();
  assert.match(await page.locator(".report-stale").textContent(), /\w+ .*\w+\./); // a sentence
  assert.deepEqual(await a11y(page), []);
  await shoot(page, "agent-report-stale-light");
});

test("items move between checklists, by menu and by hand, and come back", async (t) => {
  const task = await put("tasks", { title: "Shed" });
  for (const [title, items] of [["Wood", ["Beams", "Boards", "Screws"]], ["Roof", ["Felt"]]]) {
    const list = await put("checklists", { taskId: task.id, title });
    for (const item of items) await put("checklist-items", { checklistId: list.id, title: item, checked: item === "Boards" });
  }
  const lists = async () => Object.fromEntries((await daemon.ask("GET", `/journal/tasks/${task.id}`)).checklists.map((list) => [list.title, list.items.map((item) => item.title)]));
  const page = await visit(t, `/journal/tasks/${task.id}`);
  const of = (name) => page.getByRole("region", { name: `Checklist ${name}` });
  const shown = (name, ...titles) => page.waitForFunction(([label, wanted]) =>
    [...document.querySelectorAll(`[aria-label="Checklist ${label}"] .check`)].map((box) => box.getAttribute("aria-label")).join() === wanted, [name, titles.join()]);
  const answered = async (act) => {
    const answer = page.waitForResponse((response) => /\/checklist-items\/move$/.test(response.url()));
    await act();
    assert.ok((await answer).ok());
  };
  await page.getByRole("button", { name: "More for Screws" }).click();
  await answered(() => page.getByRole("menuitem", { name: "Move to Roof" }).click());
  await shown("Roof", "Felt", "Screws");
  assert.deepEqual(await lists(), { Wood: ["Beams", "Boards"], Roof: ["Felt", "Screws"] });
  await answered(() => page.getByRole("button", { name: "Undo" }).last().click());
  await shown("Wood", "Beams", "Boards", "Screws");
  // By hand, before another; what is checked stays so.
  const row = (title) => page.locator(".item-row").filter({ has: page.getByRole("checkbox", { name: title, exact: true }) });
  await answered(() => row("Boards").locator(".grip").dragTo(row("Felt")));
  await shown("Roof", "Boards", "Felt");
  assert.ok(await of("Roof").getByRole("checkbox", { name: "Boards" }).isChecked());
  await becomes(lists, { Wood: ["Beams", "Screws"], Roof: ["Boards", "Felt"] });
  // Into a list, not on an item: at its end.
  await answered(() => row("Beams").locator(".grip").dragTo(of("Roof").getByLabel("New item in Roof")));
  await shown("Roof", "Boards", "Felt", "Beams");
  assert.deepEqual(await a11y(page), []);
});

test("a file of an entry is added, read back, deleted and brought back", async (t) => {
  const entry = await put("entries", { kind: "note", title: "Plan", body: "See the file." });
  const page = await visit(t, `/journal/entries?entry=${entry.id}`);
  const dialog = page.getByRole("dialog", { name: "Note" });
  await dialog.locator("input[type=file]").setInputFiles({ name: "plan ä.txt", mimeType: "text/plain", buffer: Buffer.from("a bench") });
  const link = dialog.getByRole("link", { name: "plan ä.txt" });
  await link.waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  assert.equal(download.suggestedFilename(), "plan ä.txt");
  let text = "";
  for await (const bytes of await download.createReadStream()) text += bytes;
  assert.equal(text, "a bench");
  assert.deepEqual(await a11y(page), []);
  await dialog.getByRole("button", { name: "Delete plan ä.txt" }).click();
  await link.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await link.waitFor();
});

test("a long list is imported step by step, stops when the server goes, and goes on without making anything twice", async (t) => {
  const page = await visit(t, "/journal");
  const { entries: before } = { entries: (await daemon.ask("GET", "/journal/tasks?q=Brick&limit=1")).items.length };
  assert.equal(before, 0);
  let steps = 0;
  await page.route("**/api/v1/journal/import*", async (route) => {
    if (route.request().url().includes("preview")) return route.continue();
    steps++;
    return steps === 2 ? route.abort() : route.continue();
  });
  await page.getByRole("button", { name: "Import or export" }).click();
  const dialog = page.getByRole("dialog", { name: "Import or export" });
  const list = Array.from({ length: 1200 }, (_, i) => `- [ ] Brick ${i}`).join("\n");
  await dialog.locator("input[type=file]").setInputFiles({ name: "bricks.md", mimeType: "text/markdown", buffer: Buffer.from(list) });
  await dialog.getByText("bricks.md").waitFor();
  await dialog.getByRole("button", { name: "Look at it first" }).click();
  await dialog.getByText("This makes 1200 tasks").waitFor();
  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  await dialog.getByText(/Stopped after 500 of 1200: 500 tasks so far/).waitFor();
  await dialog.getByText("The server does not answer.").waitFor();
  assert.equal(await dialog.getByRole("progressbar", { name: "Imported so far" }).getAttribute("value"), "500");
  assert.deepEqual(await a11y(page), []);
  await shoot(page, "journal-import-stopped-light");
  await dialog.getByRole("button", { name: "Go on" }).click();
  await page.getByText("Imported 1200 tasks.").waitFor();
  assert.equal(steps, 4); // 500, none, 500, 200
  const seen = new Set();
  for (let after; ;) {
    const answer = await daemon.ask("GET", `/journal/tasks?q=Brick&limit=500${after ? `&after=${encodeURIComponent(after)}` : ""}`);
    for (const { title } of answer.items) {
      assert.ok(!seen.has(title), title);
      seen.add(title);
    }
    after = answer.next;
    if (!after) break;
  }
  assert.equal(seen.size, 1200);
});

test("where the browser's clock is another, the journal keeps its own and says so", async (t) => {
  const other = home === "Asia/Tokyo" ? "Europe/Berlin" : "Asia/Tokyo";
  const at = new Date(Date.parse((await daemon.ask("GET", "/journal/days/today")).from) + 10 * 3_600_000);
  await put("time-entries", { startedAt: at.toISOString(), endedAt: new Date(at.getTime() + 3_600_000).toISOString(), description: "Two clocks" });
  const there = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: home });
  const page = await visit(t, "/journal/time", { zone: other });
  await page.getByText(`Days and times of ${home}, where Dormouse runs; this browser is in ${other}.`).waitFor();
  const row = page.getByRole("button", { name: /Two clocks/ });
  assert.ok((await row.textContent()).startsWith(there));
  await row.click();
  const dialog = page.getByRole("dialog", { name: "Logged time" });
  assert.ok((await dialog.getByLabel("From").inputValue()).endsWith(`T${there}`));
  await dialog.getByLabel("What was done").fill("One clock");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: /One clock/ }).waitFor();
  const [entry] = (await daemon.ask("GET", "/journal/time-entries?order=newest")).items.filter(({ description }) => description === "One clock");
  assert.equal(Date.parse(entry.startedAt), at.getTime());
  const same = await visit(t, "/journal/time");
  await same.getByRole("button", { name: /One clock/ }).waitFor();
  assert.equal(await same.locator(".journal-zone").count(), 0);
});

test("a clock that runs stands beside everything else, from 360 px to wide", async (t) => {
  const task = await put("tasks", { title: "A task whose name is far too long for any header that there is" });
  await daemon.ask("POST", "/journal/timer/start", { taskId: task.id });
  t.after(() => daemon.ask("POST", "/journal/timer/stop", {}));
  const page = await visit(t, "/", { width: 360, height: 700 });
  await page.getByRole("group", { name: "The clock runs" }).waitFor();
  for (const width of [360, 481, 821, 1021, 1241, 1280, 1421, 1501]) { // styles alone know the width
    await page.setViewportSize({ width, height: 700 });
    await page.waitForFunction((wanted) => innerWidth === wanted, width);
    const wrong = await page.evaluate(() => {
      const out = [];
      const boxes = [...document.querySelectorAll(".header .brand, .header .nav-link, .header .clock, .header .search-button, .header .stop")]
        .map((one) => [one.textContent, one.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
      for (const [name, box] of boxes) if (box.left < -0.5 || box.right > innerWidth + 0.5) out.push(`${name} outside`);
      for (const [i, [a, one]] of boxes.entries())
        for (const [b, two] of boxes.slice(i + 1))
          if (one.left < two.right - 1 && two.left < one.right - 1 && one.top < two.bottom - 1 && two.top < one.bottom - 1) out.push(`${a} over ${b}`);
      if (document.documentElement.scrollWidth > innerWidth) out.push("the page is too wide");
      return out;
    });
    assert.deepEqual([width, ...wrong], [width]);
    assert.ok(await page.getByRole("button", { name: /Stop all/ }).isVisible());
    if (width === 360) await shoot(page, "clock-narrow");
    if (width === 1280) {
      assert.deepEqual(await a11y(page), []);
      await shoot(page, "clock-light");
    }
  }
});

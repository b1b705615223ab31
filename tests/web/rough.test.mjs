// The page when things go wrong: a server that is away, text that is not saved yet, two tabs, words without
// end, a window of 360 px.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { becomes, Daemon, judge, launch, NARROW, open } from "./browser.mjs";

const LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft".repeat(2);
const WRITE = `{ calls: [{ name: write_memory, arguments: { path: "knowledge/${"long".repeat(20)}.md", operation: write, content: "${LONG}", reason: "${LONG}" } }] }`;
const script = `match: any
steps:
  - { expect: { user: "remember", results: 0 }, times: 9, reply: ${WRITE} }
  - { times: 99, reply: { text: "${LONG}\\n\\n| ${LONG} | b |\\n|---|---|\\n| 1 | 2 |" } }
`;
let browser;
let daemon;
let zone;
let task;
before(async () => {
  daemon = await (await new Daemon(process.env.SERVER, { script }).start()).bare();
  browser = await launch();
  zone = (await daemon.ask("GET", "/journal/days/today")).zone;
  task = await put("tasks", { title: "Fix the fence", notes: "The third post." });
});
after(async () => {
  await browser?.close();
  await daemon?.remove();
});
const put = (type, fields) => daemon.ask("POST", `/journal/${type}`, fields);
const notes = async () => (await daemon.ask("GET", `/journal/tasks/${task.id}`)).notes;
async function visit(t, where, options) {
  const { page, faults, context } = await open(browser, daemon, { at: where, zone, ...options });
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  await page.locator("main h1").first().waitFor({ state: "attached" });
  return page;
}
/** Requests with this method fail as if the server were away, until the answer is called. */
async function cut(page, method, path) {
  const drop = (route) => (route.request().method() === method ? route.abort("connectionrefused") : route.fallback());
  await page.route(path, drop);
  return () => page.unroute(path, drop);
}
/** Requests with this method are answered only when the answer is called. */
async function hold(page, method, path) {
  let free;
  const freed = new Promise((resolve) => (free = resolve));
  const wait = async (route) => {
    if (route.request().method() === method) await freed;
    await route.fallback();
  };
  await page.route(path, wait);
  return async () => {
    free();
    await page.unroute(path, wait);
  };
}
const writing = (page) => page.getByLabel("Notes, in Markdown");

test("a view whose style did not come at first comes with its style", async (t) => {
  const page = await visit(t, "/");
  let dropped = 0;
  await page.route("**/assets/*.css", (route) => (dropped++ === 0 ? route.abort("connectionrefused") : route.continue()));
  await page.getByRole("link", { name: "Settings" }).click();
  await page.locator(".settings").waitFor();
  assert.ok(dropped >= 2, `asked ${dropped} times`);
  assert.equal(await page.locator(".settings").evaluate((box) => getComputedStyle(box).display), "grid");
});

test("notes that could not be saved stay where they are, and are saved later", async (t) => {
  const page = await visit(t, `/journal/tasks/${task.id}`);
  await page.locator(".task-notes").waitFor();
  await page.keyboard.press("e");
  await writing(page).fill("What took me twenty minutes.");
  const back = await cut(page, "PATCH", "**/journal/tasks/*");
  await page.keyboard.press("Control+Enter");
  await page.getByText(/^Not saved/).waitFor();
  assert.equal(await writing(page).inputValue(), "What took me twenty minutes.");
  await page.reload();
  await writing(page).waitFor();
  assert.equal(await writing(page).inputValue(), "What took me twenty minutes.");
  await back();
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".task-notes", { hasText: "twenty minutes" }).waitFor();
  assert.equal(await notes(), "What took me twenty minutes.");
});

test("notes outlive another view, tell of a change made elsewhere, and come back when thrown away", async (t) => {
  const page = await visit(t, `/journal/tasks/${task.id}`);
  await page.locator(".task-notes").waitFor();
  await page.keyboard.press("e");
  await writing(page).fill("Mine.");
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  await page.goBack();
  await writing(page).waitFor();
  assert.equal(await writing(page).inputValue(), "Mine.");
  await daemon.ask("PATCH", `/journal/tasks/${task.id}`, { notes: "Theirs." });
  await page.getByText("changed elsewhere since you began").waitFor();
  await page.getByText("What they say now").click();
  await page.locator(".notes-now", { hasText: "Theirs." }).waitFor();
  await writing(page).press("Escape");
  await page.locator(".task-notes", { hasText: "Theirs." }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  assert.equal(await writing(page).inputValue(), "Mine.");
  await writing(page).press("Control+Enter");
  await page.locator(".task-notes", { hasText: "Mine." }).waitFor();
  assert.equal(await notes(), "Mine.");
});

test("a title and a note of the day that could not be saved stay, and nothing is shown as done that is not", async (t) => {
  const page = await visit(t, `/journal/tasks/${task.id}`);
  const back = await cut(page, "PATCH", "**/journal/**");
  const told = await hold(page, "GET", `**/journal/tasks/${task.id}`); // the page can't know yet what the server has
  const title = page.getByRole("textbox", { name: "Title" });
  await title.fill("Mend the gate");
  await title.press("Enter");
  await page.getByText(/^Not saved/).waitFor();
  assert.equal(await title.inputValue(), "Mend the gate");
  await back();
  await title.focus();
  await title.press("Enter");
  await told();
  await becomes(async () => (await daemon.ask("GET", `/journal/tasks/${task.id}`)).title, "Mend the gate");

  await page.goto(`${daemon.url}/journal/day`);
  const note = page.getByLabel("Note of the day");
  await note.waitFor();
  const free = await cut(page, "POST", "**/journal/day-plans");
  await note.fill("A good day.");
  await note.blur();
  await page.getByText("Not saved yet; it stays here.").waitFor();
  assert.equal(await note.inputValue(), "A good day.");
  await free();
  await page.getByRole("button", { name: "Save it now" }).click();
  await becomes(async () => (await daemon.ask("GET", "/journal/days/today")).plan?.note, "A good day.");
  await page.getByText("Not saved yet").waitFor({ state: "detached" });
});

test("Esc and the arrow lead back within the page, never out of it", async (t) => {
  const page = await visit(t, "/");
  const inside = async (where) => {
    await page.waitForFunction((path) => location.pathname === path, where);
    assert.equal(new URL(page.url()).host, new URL(daemon.url).host);
  };
  await page.goto(`${daemon.url}/journal/tasks/${task.id}`); // as from a link: nothing of this page is before it
  await page.getByRole("button", { name: "Back to the tasks" }).click();
  await inside("/journal");
  await page.locator(".task-row").first().waitFor();
  await page.locator("body").press("Escape");
  await inside("/");
  await page.locator("body").press("Escape"); // there is nothing above
  await inside("/");
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await inside("/runs");
  await page.locator("body").press("Escape");
  await inside("/");
});

test("a form that could not look ahead while the server was away does so when it is back", async (t) => {
  const page = await visit(t, "/agents/planner?panel=wakes");
  await page.getByRole("region", { name: "By the clock" }).getByRole("button", { name: "Add" }).waitFor();
  const listen = new URL(daemon.url).host;
  await daemon.stop();
  await page.getByText("The server does not answer.").waitFor();
  await page.getByRole("region", { name: "By the clock" }).getByRole("button", { name: "Add" }).click();
  const dialog = page.getByRole("dialog", { name: "New timer" });
  await dialog.getByText(/does not answer/).waitFor();
  await daemon.start(listen);
  await dialog.locator(".next-times li").first().waitFor();
  assert.ok(await dialog.getByRole("button", { name: "Save" }).isEnabled());
});

test("what was typed in a form is not thrown away by a key or a click beside it", async (t) => {
  const page = await visit(t, "/journal/entries");
  const dialog = page.getByRole("dialog", { name: "New entry" });
  await page.getByRole("button", { name: "New entry" }).waitFor();
  await page.keyboard.press("n");
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" }); // nothing was typed
  await page.keyboard.press("n");
  const text = dialog.getByLabel("Text, in Markdown");
  await text.fill("Dear diary");
  await page.keyboard.press("Escape");
  await dialog.getByText("What you typed is not saved.").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Go on writing");
  await page.keyboard.press("Enter");
  await dialog.getByRole("button", { name: "Save" }).waitFor();
  assert.equal(await text.evaluate((box) => box === document.activeElement), true);
  await page.mouse.click(4, 400);
  await dialog.getByText("What you typed is not saved.").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await text.inputValue(), "Dear diary");
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Throw it away" }).click();
  await dialog.waitFor({ state: "detached" });
});

test("an entry whose recording did not go through is made once", async (t) => {
  const page = await visit(t, "/journal/entries?new=audio");
  const back = await cut(page, "POST", "**/journal/attachments?*");
  const dialog = page.getByRole("dialog", { name: "New entry" });
  await dialog.locator("input[type=file]").setInputFiles({ name: "walk.ogg", mimeType: "audio/ogg", buffer: Buffer.from("OggS") });
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText(/^Not saved/).waitFor();
  await back();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual((await daemon.ask("GET", "/journal/entries?kind=audio")).items.map((entry) => entry.title), ["walk.ogg"]);
});

test("a memory file that was changed in another tab is not written over unseen", async (t) => {
  await daemon.ask("PUT", "/agents/planner/memory/knowledge/two.md", { content: "one\n", base_version: 0 });
  const page = await visit(t, "/agents/planner?file=knowledge/two.md");
  const dialog = page.getByRole("dialog", { name: "knowledge/two.md" });
  await dialog.getByRole("tab", { name: "Edit" }).click();
  await dialog.getByLabel("Content").fill("mine\n");
  const read = page.waitForResponse((response) => response.url().includes("two.md") && response.request().method() === "GET");
  await daemon.ask("PUT", "/agents/planner/memory/knowledge/two.md", { content: "theirs\n", base_version: 1 });
  await read; // this tab knows of it
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText(/^Could not save/).waitFor();
  assert.equal(await dialog.getByLabel("Content").inputValue(), "mine\n");
  assert.equal((await daemon.ask("GET", "/agents/planner/memory/knowledge/two.md")).content, "theirs\n");
});

test("a word without end widens no view", async (t) => {
  const category = await put("categories", { name: LONG.slice(0, 90) });
  const long = await put("tasks", { title: LONG, notes: LONG, categoryId: category.id, labels: [LONG.slice(0, 60)], due: "2020-01-01", priority: "P0" });
  const list = await put("checklists", { taskId: long.id, title: LONG });
  await put("checklist-items", { checklistId: list.id, title: LONG });
  await put("entries", { kind: "note", title: LONG, body: LONG, categoryId: category.id });
  await put("time-entries", { taskId: long.id, description: LONG, startedAt: new Date(Date.now() - 3_600_000).toISOString(), endedAt: new Date().toISOString() });
  await daemon.ask("POST", "/agents", { displayName: LONG.slice(0, 80), id: "endless", description: LONG });
  await daemon.ask("POST", "/agents/planner/subscriptions", { name: LONG.slice(0, 80), source: "journal", tokens: ["k:RATING"], prompt: LONG });
  const { runId } = await daemon.run(`remember ${LONG}`, "waiting");
  await daemon.run(LONG);
  const page = await visit(t, "/");
  const found = [];
  for (const where of ["/", "/inbox", "/agents", "/agents/endless", "/agents/planner?panel=wakes", "/runs", ...(runId ? [`/runs/${runId}`] : []), "/wakes", "/journal?show=all", `/journal/tasks/${long.id}`,
    "/journal/day", "/journal/time", "/journal/entries", "/journal/categories", `/journal/search?q=${encodeURIComponent(LONG.slice(0, 40))}`]) {
    await page.goto(daemon.url + where);
    await page.locator("main h1").first().waitFor({ state: "attached" });
    for (const size of [{ width: 1280, height: 860 }, NARROW]) {
      await page.setViewportSize(size);
      await page.waitForFunction(() => !document.querySelector(".skeleton"));
      // No page that must be moved to be read, no part of it that hides under another's edge.
      found.push(...await page.evaluate(([at, wide]) => {
        const out = document.documentElement.scrollWidth > innerWidth ? [`${at} ${wide}: ${document.documentElement.scrollWidth - innerWidth} px too wide`] : [];
        for (const box of document.querySelectorAll(".chat-scroll, .tab-panel")) if (box.scrollWidth > box.clientWidth + 1) out.push(`${at} ${wide}: ${box.className} scrolls`);
        return out;
      }, [where, size.width]));
    }
  }
  assert.deepEqual(found, []);
});

test("on a narrow window the part one is in is seen, filters fold, and titles are read whole", async (t) => {
  const page = await visit(t, "/journal/search", NARROW);
  const within = (selector) => page.locator(selector).evaluate((link) => { const { left, right } = link.getBoundingClientRect(); return left >= 0 && right <= innerWidth; });
  assert.ok(await within(".journal-here"));
  await page.goto(`${daemon.url}/settings/about`);
  await page.locator(".settings-here").waitFor();
  assert.ok(await within(".settings-here"));
  await page.goto(`${daemon.url}/journal`);
  await page.locator(".task-row").first().waitFor();
  assert.equal(await page.getByLabel("Category").isVisible(), false);
  await page.getByRole("button", { name: "More filters" }).click();
  await page.getByLabel("Due", { exact: true }).selectOption("today");
  await page.getByRole("button", { name: "Fewer filters (1)" }).waitFor();
  const whole = "Ask the neighbour whether the fence between the gardens may be taller than before";
  const one = await put("tasks", { title: whole });
  await page.goto(`${daemon.url}/journal/tasks/${one.id}`);
  const title = page.getByRole("textbox", { name: "Title" });
  await title.waitFor();
  assert.ok(await title.evaluate((box) => box.scrollHeight <= box.clientHeight && box.scrollWidth <= box.clientWidth), "a title is cut");
  assert.deepEqual(await judge(page, "journal-title-narrow"), []);
});

test("on a narrow window the letters of a chart are not scaled down, and the focus is never under the bars", async (t) => {
  const today = (await daemon.ask("GET", "/journal/days/today")).day;
  await put("ratings", { targetType: "dayPlan", targetId: `dayplan-${today}`, dimension: "energy", value: 4 });
  const page = await visit(t, "/journal/ratings", NARROW);
  await page.locator(".chart svg text").first().waitFor();
  await page.waitForFunction(() => document.querySelector(".chart svg").getScreenCTM().a > 0.95);
  for (let i = 0; i < 12; i++) await put("tasks", { title: `Number ${i}` });
  await page.goto(`${daemon.url}/journal?q=Number`);
  await page.locator(".task-row").nth(11).waitFor();
  await page.locator(".task-row .check").first().focus();
  for (let i = 0; i < 22; i++) {
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => {
      const { top, bottom } = document.activeElement.getBoundingClientRect();
      return !document.activeElement.closest("main") || (top >= document.querySelector(".header").getBoundingClientRect().bottom && bottom <= document.querySelector(".nav").getBoundingClientRect().top);
    }), `step ${i}: ${await page.evaluate(() => document.activeElement.outerHTML.slice(0, 120))}`);
  }
});

test("ratings that fill more than one page are all in the chart", async (t) => {
  const { day } = await daemon.ask("GET", "/journal/days/today");
  const rating = (dimension) => ({ id: dimension, targetType: "dayPlan", targetId: `dayplan-${day}`, dimension, value: 3 });
  const page = await visit(t, "/journal");
  await page.route("**/journal/ratings?*", (route) => {
    const second = new URL(route.request().url()).searchParams.get("after") === "more";
    return route.fulfill({ json: second ? { items: [rating("mood")] } : { items: [rating("energy")], next: "more" } });
  });
  await page.getByRole("link", { name: "Ratings" }).click();
  await page.locator(".legend li").nth(1).waitFor();
  assert.deepEqual(await page.locator(".legend-name").allTextContents(), ["energy", "mood"]);
});

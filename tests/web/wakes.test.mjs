// What wakes an agent, in a real browser against a real daemon: subscriptions with a look at the last week,
// timers with their next times, webhooks, waking now, every wake explained; import with a look first.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { a11y, becomes, Daemon, judge, judgeLooks, launch, NARROW, open, shoot } from "./browser.mjs";

let browser;
let daemon;
let gym;
const script = "match: any\nsteps:\n  - times: 50\n    reply: { text: \"Noted.\" }\n";
before(async () => {
  daemon = await (await new Daemon(process.env.SERVER, { script }).start()).bare();
  browser = await launch();
  gym = await daemon.ask("POST", "/journal/categories", { name: "Gym" });
  await daemon.ask("PATCH", "/agents/planner", { allowedCategoryIds: ["*"] });
  await daemon.ask("POST", "/journal/tasks", { title: "Squats", categoryId: gym.id });
  await daemon.ask("POST", "/journal/tasks", { title: "Taxes" });
});
after(async () => {
  await browser?.close();
  await daemon?.remove();
});
async function visit(t, path, options) {
  const { page, faults, context } = await open(browser, daemon, { at: path, ...options });
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  if (path) await page.locator("main h1").first().waitFor({ state: "attached" });
  return page;
}
const PANEL = "/agents/planner?panel=wakes";
const subscriptions = async () => (await daemon.ask("GET", "/agents/planner/subscriptions")).items;
const timers = async () => (await daemon.ask("GET", "/agents/planner/timers")).items;

test("a condition that is wrong is marked at its column, a right one shows what it would have woken for", async (t) => {
  const page = await visit(t, PANEL);
  await page.getByRole("region", { name: "Something changes" }).getByRole("button", { name: "Add" }).click();
  const dialog = page.getByRole("dialog", { name: "Wake up when…" });
  await dialog.getByText("It would have woken 2 times in the last week").waitFor();
  await dialog.getByLabel("Only where").fill('task.priority == "soon"');
  await dialog.getByText(/column \d+/i).first().waitFor();
  assert.match(await dialog.locator(".caret").textContent(), /\n +\^$/);
  assert.ok(await dialog.getByRole("button", { name: "Save" }).isDisabled());
  assert.deepEqual(await a11y(page), []);
  await shoot(page, "wakes-predicate-light");
  await dialog.getByLabel("Only where").fill(`task.categoryId == "${gym.id}"`);
  await dialog.getByText("It would have woken 1 time in the last week").waitFor();
  assert.match(await dialog.locator(".matches").textContent(), /Squats/);
  await dialog.getByLabel("At most").selectOption("300");
  await dialog.getByLabel("What it is told").fill("Look at it.");
  await dialog.getByLabel("Name").fill("gym tasks");
  await shoot(page, "wakes-form-light");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("switch", { name: "gym tasks" }).waitFor();
  const [made] = await subscriptions();
  assert.deepEqual([made.name, made.cooldownSeconds, made.authors, made.tokens], ["gym tasks", 300, ["human"], [{ class: "semanticKey", value: "TASK" }]]);
  await page.getByRole("switch", { name: "gym tasks" }).uncheck();
  await page.waitForFunction(() => !document.querySelector(".rule-row input").checked);
  await becomes(async () => (await subscriptions())[0].active, false);
  await page.getByRole("button", { name: "Change gym tasks" }).click();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("switch", { name: "gym tasks" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("switch", { name: "gym tasks" }).waitFor();
});

test("a week with more than the list holds says so", async (t) => {
  const page = await visit(t, PANEL);
  await page.route("**/api/v1/subscriptions/preview", async (route) => {
    const answer = await route.fetch();
    return route.fulfill({ response: answer, json: { ...(await answer.json()), matched: 1340, cut: true } });
  });
  await page.getByRole("region", { name: "Something changes" }).getByRole("button", { name: "Add" }).click();
  const dialog = page.getByRole("dialog", { name: "Wake up when…" });
  await dialog.getByText(/^It would have woken at least \d+ times? in the last week$/).waitFor();
  await dialog.getByText(/^\d+ of 1,340 matches shown, the newest\.$/).waitFor();
});

test("a webhook's address is shown once, and works", async (t) => {
  const page = await visit(t, PANEL);
  await page.getByRole("region", { name: "Something changes" }).getByRole("button", { name: "Add" }).click();
  await page.getByLabel("It wakes when").selectOption("webhook");
  await page.getByLabel("Name").fill("doorbell");
  await page.getByRole("button", { name: "Save" }).click();
  const secret = page.getByRole("dialog", { name: "The webhook's address" });
  await secret.waitFor();
  const address = await secret.locator("code").textContent();
  assert.deepEqual(await a11y(page), []);
  await secret.getByRole("button", { name: "I have kept it" }).click();
  assert.equal((await fetch(address, { method: "POST", body: "ding" })).status, 202);
  await page.reload();
  await page.getByRole("switch", { name: "doorbell" }).waitFor();
  assert.ok(!(await page.content()).includes(address.split("/").pop()));
});

test("a timer is made from simple choices, shows its next times, and a rule that is wrong says why", async (t) => {
  const page = await visit(t, PANEL);
  await page.getByRole("region", { name: "By the clock" }).getByRole("button", { name: "Add" }).click();
  const dialog = page.getByRole("dialog", { name: "New timer" });
  await dialog.locator(".next-times li").nth(4).waitFor();
  await dialog.getByLabel("It wakes").selectOption("weekly");
  await dialog.getByLabel("Wednesday").check({ force: true });
  await dialog.getByLabel("At", { exact: true }).fill("18:30");
  await dialog.getByText("every Monday, Wednesday at 18:30").waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll(".next-times li")].length === 5 && [...document.querySelectorAll(".next-times li")].every((li) => /^(Mon|Wed),? .*18:30/.test(li.textContent)));
  await dialog.getByLabel("What it is told").fill("Plan the week.");
  await shoot(page, "wakes-timer-light");
  assert.deepEqual(await a11y(page), []);
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("switch", { name: /every Monday, Wednesday/ }).waitFor();
  const [made] = await timers();
  assert.deepEqual([made.kind, made.rrule, made.missed, made.prompt], ["rrule", "FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=18;BYMINUTE=30", "once", "Plan the week."]);
  await page.getByRole("button", { name: /Change every Monday/ }).click();
  const again = page.getByRole("dialog", { name: "Timer" });
  assert.equal(await again.getByLabel("It wakes").inputValue(), "weekly");
  await again.getByLabel("It wakes").selectOption("rule");
  await again.getByLabel("Rule").fill("FREQ=SOMETIMES");
  await again.locator("p.danger").waitFor();
  assert.ok(await again.getByRole("button", { name: "Save" }).isDisabled());
  await again.getByLabel("It wakes").selectOption("every");
  await again.getByLabel("Minutes between").fill("90");
  await again.getByRole("button", { name: "Save" }).click();
  await again.waitFor({ state: "detached" });
  assert.deepEqual((await timers()).map((timer) => [timer.kind, timer.intervalSeconds]), [["interval", 5400]]);
});

test("an agent is woken now, and the wake is explained everywhere", async (t) => {
  const page = await visit(t, PANEL);
  await page.getByRole("button", { name: "Wake now" }).click();
  await page.getByRole("dialog").getByLabel("What it is told").fill("Good morning");
  await page.getByRole("dialog").getByRole("button", { name: "Wake now" }).click();
  await page.getByText("Planner wakes.").waitFor();
  await page.locator(".wake", { hasText: "you woke it" }).waitFor();
  await page.goto(`${daemon.url}/wakes`);
  const row = page.locator(".wake", { hasText: "you woke it" });
  await row.locator(".badge", { hasText: "done" }).waitFor();
  await row.getByText("you woke it: Good morning").waitFor();
  await row.getByRole("button").click();
  await row.getByText("All that is known of it").click();
  await row.locator(".wake-rest").getByText("Good morning").waitFor();
  await page.getByLabel("What became of it").selectOption("failed_terminal");
  await page.getByText("No wake is like that").waitFor();
  await page.goto(daemon.url);
  await page.locator(".home-agent", { hasText: "Planner" }).getByText(/woke/).waitFor();
  await page.locator(".home-agent", { hasText: "Planner" }).getByText(/wakes/).waitFor();
});

test("what waits says until when, what woke nobody is counted with its reason, and one cause can be looked at alone", async (t) => {
  const add = (fields) => daemon.ask("POST", "/agents/planner/subscriptions", { source: "journal", tokens: [{ class: "semanticKey", value: "NOTE" }], ...fields });
  const patient = await add({ name: "patient", cooldownSeconds: 3600 });
  const others = await add({ name: "only others", authors: ["agent"] });
  const page = await visit(t, PANEL);
  for (const title of ["Snow", "Rain"]) {
    await daemon.ask("POST", "/journal/entries", { kind: "note", title });
    await page.locator(".wake", { hasText: `patient: ${title}` }).waitFor(); // else both may be one change
  }
  const held = page.locator(".wake", { hasText: "patient: Rain" });
  await held.getByText(/Its subscription lets time pass between two wakes; it wakes (at|tomorrow) \d\d:\d\d/).waitFor();
  const skipped = page.getByRole("region", { name: "What did not wake it" });
  await skipped.getByText(/only others: the subscription does not ask for changes of this author/).waitFor();
  await skipped.getByText(/2 times, last/).waitFor();
  assert.deepEqual(await a11y(page), []);
  await page.goto(`${daemon.url}/wakes`);
  await page.getByText("What could have woken somebody, and did not: 2 times").click();
  await page.locator(".skips", { hasText: "Planner only others" }).waitFor();
  await page.getByLabel("Woken by").selectOption({ label: "patient" });
  await page.waitForFunction(() => document.querySelectorAll(".wake").length === 2);
  const row = page.locator(".wake", { hasText: "Rain" });
  await row.getByRole("button").click();
  await row.getByRole("list", { name: "What changed" }).getByRole("link", { name: "Rain" }).waitFor();
  await shoot(page, "wakes-held-light");
  assert.deepEqual(await a11y(page), []);
  await row.getByRole("link", { name: "Rain" }).click();
  await page.getByRole("dialog", { name: "Note" }).waitFor();
  for (const one of [patient, others]) await daemon.ask("DELETE", `/subscriptions/${one.id}`);
});

test("what it reaches and how it lives is set in its settings", async (t) => {
  const page = await visit(t, "/agents/planner?panel=settings");
  await page.getByRole("switch", { name: "Everything" }).uncheck();
  await page.getByLabel("Gym").check();
  await page.getByLabel("It", { exact: true }).selectOption("interactive");
  await page.getByLabel(/A session ends/).selectOption("7200");
  const settled = async () => {
    const agent = await daemon.ask("GET", "/agents/planner");
    return [agent.allowedCategoryIds, agent.mode, agent.sessionTtlSeconds];
  };
  await becomes(settled, [[gym.id], "interactive", 7200]);
  assert.deepEqual(await a11y(page), []);
  await daemon.ask("PATCH", "/agents/planner", { mode: "hybrid", allowedCategoryIds: ["*"] });
});

test("what an agent keeps in mind is shown with how often it was set, and is a person's to change", async (t) => {
  const task = await daemon.ask("POST", "/journal/tasks", { title: "Mow the lawn" });
  await daemon.ask("PATCH", "/agents/planner/state", { primaryGoal: "A quiet week", activeTaskId: task.id, preferenceByKey: { best_hour: "mornings" } });
  await daemon.ask("PATCH", "/agents/planner/state", { primaryGoal: "A quiet month", sleepUntil: new Date(Date.now() + 86_400_000).toISOString() });
  const page = await visit(t, "/agents/planner?panel=report");
  const mind = page.getByRole("region", { name: "In mind" });
  await mind.getByText("Goal set 2 times").waitFor();
  await mind.getByRole("link", { name: "Mow the lawn" }).waitFor();
  await mind.getByText("best hour: mornings").waitFor();
  assert.deepEqual(await a11y(page), []);
  await shoot(page, "agent-mind-light");
  await mind.getByRole("button", { name: "End its sleep" }).click();
  await mind.getByRole("button", { name: "End its sleep" }).waitFor({ state: "detached" });
  await mind.getByLabel("Goal").fill("A loud month");
  await mind.getByLabel("Goal").press("Enter");
  await mind.getByText("Goal set 3 times").waitFor();
  assert.equal((await daemon.ask("GET", "/agents/planner/state")).primaryGoal, "A loud month");
});

test("a list is looked at before it is imported, line by line", async (t) => {
  const page = await visit(t, "/journal");
  await page.getByRole("button", { name: "Import or export" }).click();
  const dialog = page.getByRole("dialog", { name: "Import or export" });
  await dialog.getByLabel("Or paste it").fill("# Garden\n- [ ] Prune the roses #outside\n- [x] Buy soil\n");
  assert.equal(await dialog.getByLabel("It is").inputValue(), "markdown");
  await dialog.getByRole("button", { name: "Look at it first" }).click();
  await dialog.getByText("This makes 2 tasks").waitFor();
  assert.match(await dialog.getByRole("status").textContent(), /A new category: Garden/);
  assert.match(await dialog.getByRole("status").textContent(), /A new label: #outside/);
  assert.match(await dialog.getByRole("list", { name: "What is in it" }).textContent(), /Prune the roses.*Buy soil/);
  await shoot(page, "journal-import-light");
  assert.deepEqual(await a11y(page), []);
  assert.equal((await daemon.ask("GET", "/journal/tasks?q=roses")).items.length, 0);
  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  await page.getByText(/^Imported/).waitFor();
  assert.equal((await daemon.ask("GET", "/journal/tasks?q=roses")).items.length, 1);
  await page.getByRole("button", { name: "Import or export" }).click();
  await dialog.getByLabel("Or paste it").fill("# Garden\n- [ ] Prune the roses #outside\n- [x] Buy soil\n- [ ] Rake\n");
  await dialog.getByRole("button", { name: "Look at it first" }).click();
  await dialog.getByText("2 of its records are there already").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or go to" }).fill("roses");
  await page.getByRole("option", { name: /Prune the roses/ }).click();
  await page.getByRole("article", { name: "Prune the roses" }).waitFor();
});

test("wakes and reports are accessible and fit: light, dark, narrow", async (t) => {
  const page = await visit(t, null);
  const problems = [];
  for (const path of ["/wakes", PANEL, "/agents/planner?panel=report", "/agents/planner?panel=settings"]) {
    await page.goto(daemon.url + path);
    await page.locator("main h1").first().waitFor({ state: "attached" });
    // Where there is little room the panels are a sheet, which is opened below.
    problems.push(...await judgeLooks(page, path.replace(/\W+/g, "-").replace(/^-/, ""), path === "/wakes" ? { narrow: NARROW } : {}));
  }
  await page.setViewportSize(NARROW);
  await page.goto(daemon.url + PANEL);
  await page.getByRole("button", { name: /Memory, skills, tools, wakes/ }).click();
  await page.getByRole("heading", { name: "Wakes up when" }).waitFor();
  problems.push(...await judge(page, "agents-planner-wakes-narrow"));
  assert.deepEqual(problems, []);
});

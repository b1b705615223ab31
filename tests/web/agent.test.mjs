// The agent view in a real browser: what agents and the world write never becomes code; nothing is lost
// by reloading, a second window or a restart; ten thousand messages scroll; and every panel, used.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { startHeld } from "../e2e/held_model.mjs";
import { a11y, Daemon, judgeLooks, launch, open, press, shoot } from "./browser.mjs";

const EVIL = [
  "<script>window.hacked = 1</script>", "<img src=x onerror=\"window.hacked = 2\">", "<svg onload=\"window.hacked = 3\"></svg>",
  "[click](javascript:window.hacked=4)", "![pixel](http://evil.example/pixel.png)", "[data](data:text/html,<script>window.hacked=5</script>)",
  "<iframe src=\"http://evil.example/\"></iframe>", "<style>body{display:none}</style>", "<a href=\"JaVaScRiPt:window.hacked=6\">x</a>",
  "<form action=\"http://evil.example/\"><input name=a></form>", "<base href=\"http://evil.example/\">", "[ref]: http://evil.example/ 'x'",
  "<details ontoggle=\"window.hacked=7\" open>", "`<b>code</b>`", "\u202Etxt.exe \u200Bhidden",
].join("\n\n");

const script = `
match: any
steps:
  - expect: { user: "evil call", results: 0 }
    times: 9
    reply: { text: ${JSON.stringify(EVIL)}, calls: [{ name: bash, arguments: { command: ${JSON.stringify("echo '<script>window.hacked=8</script><img src=x onerror=window.hacked=9>'")} } }] }
  - expect: { user: "evil call", results: 1 }
    times: 9
    reply: { text: "It said \${result}" }
  - expect: { user: "evil memory", results: 0 }
    times: 9
    reply: { calls: [{ name: write_memory, arguments: { path: "knowledge/evil.md", operation: write, content: ${JSON.stringify(EVIL)}, reason: "<img src=x onerror=window.hacked=10>" } }] }
  - expect: { user: "evil memory", results: 1 }
    times: 9
    reply: { text: "Kept." }
  - expect: { user: "ask me", results: 0 }
    times: 9
    reply: { calls: [{ name: ask_user, arguments: { question: "45 or 60 minutes?", choices: ["45 minutes", "60 minutes"] } }] }
  - expect: { user: "ask me", results: 1 }
    times: 9
    reply: { text: "Then that long." }
  - times: 200
    reply: { text: "Said: \${user}" }
`;

let browser;
let daemon;
let held;
before(async () => {
  held = await startHeld();
  const config = `  - { id: held, provider: openai, base_url: "${held.url}", model: held }\n`; // goes on with the models
  daemon = await (await new Daemon(process.env.SERVER, { script, config }).start()).bare();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await daemon?.remove();
  held?.close();
});

const away = (fault) => /WebSocket connection .*(ERR_CONNECTION_REFUSED|closed before|ERR_SOCKET_NOT_CONNECTED)/.test(fault);
async function visit(t, where, options) {
  const { page, faults, context } = await open(browser, daemon, { at: null, ...options });
  await page.addInitScript(() => {
    globalThis.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  t.after(async () => {
    const state = await page.evaluate(() => ({ hacked: globalThis.hacked, violations: globalThis.violations })).catch(() => ({}));
    await context.close();
    assert.deepEqual(faults.filter((fault) => !away(fault)), []);
    assert.deepEqual([state.hacked, state.violations ?? []], [undefined, []]);
  });
  await page.goto(daemon.url + where);
  await page.locator("main h1").first().waitFor();
  return page;
}
const box = (page) => page.getByRole("textbox", { name: /^Write to/ });
const answers = (page) => page.locator(".said:not(.said-user)");
async function say(page, text) {
  await box(page).fill(text);
  await box(page).press("Enter");
  await page.locator(".said-user", { hasText: text }).last().waitFor();
}
const idle = (page) => page.getByRole("button", { name: "Send" }).waitFor();
const ended = (page) => page.waitForFunction(() => { const box = document.querySelector(".chat-scroll"); return box.scrollHeight - box.scrollTop - box.clientHeight < 2; });

test("a call that you rejected reads as that, now and in the history", async (t) => {
  const page = await visit(t, "/agents/planner/rejected");
  await say(page, "evil call");
  await press(page.locator(".waiting-item").getByRole("button", { name: /^Reject/ }));
  await page.getByLabel(/Why not/).fill("not today");
  await page.keyboard.press("Enter");
  for (let i = 0; i < 2; i++) {
    await page.locator(".tool-line").getByText("you rejected it").waitFor();
    assert.equal(await page.locator(".tool").getByText(/failed/).count(), 0);
    await page.locator(".tool-line").first().click();
    await page.locator(".tool-body").getByText("You rejected it. Reason: “not today”.").waitFor();
    assert.equal(await page.locator(".tool-body").getByText(/failed/i).count(), 0);
    if (i === 0) assert.deepEqual(await judgeLooks(page, "agent-rejected"), []);
    await page.reload();
  }
});

test("what agents, tools and memory say never becomes code, and loads nothing", async (t) => {
  const page = await visit(t, "/agents/planner/evil");
  await say(page, "evil call");
  await press(page.locator(".waiting-item").getByRole("button", { name: /^Approve/ }));
  await answers(page).filter({ hasText: "It said" }).waitFor();
  await idle(page);
  await page.locator(".tool-line").first().click();
  await say(page, "evil memory");
  await page.locator(".waiting-item mark, .waiting-item .flag").first().waitFor();
  await page.locator(".waiting-item .diff-scroll").focus();
  await page.keyboard.press("End"); // nothing is approved before its end was shown
  await press(page.locator(".waiting-item").getByRole("button", { name: /^Approve/ }));
  await press(page.locator(".waiting-item").getByRole("button", { name: "Approve anyway" })); // places of it are suspicious
  await answers(page).filter({ hasText: "Kept." }).waitFor();
  await page.getByRole("button", { name: /^knowledge\/evil\.md/ }).click();
  await page.getByRole("dialog").getByText("hidden").waitFor();
  await page.keyboard.press("Escape");
  const links = await page.locator(".md a").evaluateAll((all) => all.map((link) => link.href).filter((href) => /^(javascript|data):/i.test(href)));
  assert.deepEqual(links, []);
  assert.equal(await page.locator("main img, main iframe, main svg[onload], main form[action], main style, main base").count(), 0);
  await page.reload();
  await answers(page).filter({ hasText: "Kept." }).waitFor();
  await page.goto(`${daemon.url}/agents`);
  await page.getByRole("link", { name: "Planner" }).waitFor();
});

test("a name full of markup is only a name", async (t) => {
  const name = "<img src=x onerror=hacked=1>";
  await daemon.ask("POST", "/agents", { displayName: name, id: "marked", description: EVIL.slice(0, 400).replaceAll("\n", " ") });
  await daemon.ask("POST", "/agents/marked/skills", { name: "evil", description: "<script>window.hacked=1</script>", instructions: EVIL });
  const page = await visit(t, "/agents/marked?panel=skills");
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await page.getByRole("button", { name: /^evil/ }).click();
  await page.getByRole("dialog").getByText("hidden").waitFor();
  await page.goto(`${daemon.url}/agents`);
  await page.getByRole("link", { name }).waitFor();
});

test("text that grows stays where its reader is, and a reload in the middle loses nothing", async (t) => {
  const page = await visit(t, "/agents/planner/slow");
  for (let i = 0; i < 12; i++) {
    await say(page, `line ${i}\nand\nmore\nlines`);
    await answers(page).filter({ hasText: `Said: line ${i}` }).waitFor();
    await idle(page);
  }
  await daemon.ask("PATCH", "/agents/planner", { model: "held" });
  await say(page, "slowly");
  const answer = await held.next();
  const line = "One two three four five six seven eight nine ten. ".repeat(8);
  answer.say(line);
  await answers(page).filter({ hasText: "One two" }).waitFor();
  await ended(page);
  const scroll = page.locator(".chat-scroll");
  await scroll.hover();
  await page.mouse.wheel(0, -600);
  await page.waitForFunction(() => { const box = document.querySelector(".chat-scroll"); return box.scrollHeight - box.scrollTop - box.clientHeight > 300; });
  answer.say(line);
  await page.getByRole("button", { name: "New", exact: true }).waitFor();
  const top = await scroll.evaluate((box) => box.scrollTop);
  const length = await page.evaluate(() => document.querySelector(".chat-list").offsetHeight);
  answer.say(line);
  await page.waitForFunction((was) => document.querySelector(".chat-list").offsetHeight > was, length);
  assert.equal(await scroll.evaluate((box) => box.scrollTop), top);
  await page.getByRole("button", { name: "New", exact: true }).click();
  await ended(page);
  await page.reload();
  await page.locator(".said-user", { hasText: "slowly" }).waitFor();
  answer.say(line);
  answer.end();
  await page.waitForFunction(() => (document.querySelector(".chat-list")?.innerText.match(/One two three/g) ?? []).length === 32);
  await idle(page);
  assert.equal(await page.locator(".said-user", { hasText: "slowly" }).count(), 1);
  await ended(page);
  await daemon.ask("PATCH", "/agents/planner", { model: "rehearsal" });
});

test("two windows see one conversation, whoever writes and decides", async (t) => {
  const one = await visit(t, "/agents/planner/both");
  const two = await visit(t, "/agents/planner/both");
  await say(one, "from the first");
  await answers(two).filter({ hasText: "Said: from the first" }).waitFor();
  await two.locator(".said-user", { hasText: "from the first" }).waitFor();
  await idle(two);
  await say(two, "ask me");
  await one.locator(".waiting-item").waitFor();
  await two.locator(".waiting-item").waitFor();
  assert.equal(await two.evaluate(() => document.activeElement.matches(".composer textarea")), true);
  await press(one.locator(".waiting-item").getByRole("button", { name: /^60 minutes/ }));
  await two.waitForFunction(() => document.activeElement?.matches(".composer textarea"));
  await answers(two).filter({ hasText: "Then that long." }).waitFor();
  await two.locator(".waiting-item").waitFor({ state: "detached" });
  await idle(one);
  const text = async (page) => (await page.locator(".said-user .said-bubble, .said:not(.said-user) .md, .tool-name").allInnerTexts()).map((line) => line.trim());
  assert.deepEqual(await text(one), ["from the first", "Said: from the first", "ask me", "ask_user", "Then that long."]);
  assert.deepEqual(await text(two), await text(one));
});

test("a run that waits goes on after a restart, in the page that stayed open", async (t) => {
  const page = await visit(t, "/agents/planner/restart");
  await say(page, "ask me");
  await page.locator(".waiting-item").waitFor();
  const listen = new URL(daemon.url).host;
  await daemon.stop();
  await daemon.start(listen);
  await press(page.locator(".waiting-item").getByRole("button", { name: /^45 minutes/ }));
  await answers(page).filter({ hasText: "Then that long." }).waitFor();
  await say(page, "and more");
  await answers(page).filter({ hasText: "Said: and more" }).waitFor();
  assert.equal(await answers(page).filter({ hasText: "Then that long." }).count(), 1);
});

test("what is written while the daemon is away is said when it is back, once", async (t) => {
  const page = await visit(t, "/agents/planner/away");
  await say(page, "before");
  await answers(page).filter({ hasText: "Said: before" }).waitFor();
  await idle(page);
  const listen = new URL(daemon.url).host;
  await daemon.stop();
  await page.getByText("Connecting again…").waitFor();
  await say(page, "while away");
  await page.getByText("sending…").waitFor();
  await daemon.start(listen);
  await answers(page).filter({ hasText: "Said: while away" }).waitFor();
  const { messages } = await daemon.ask("GET", "/agents/planner/threads/away/messages");
  assert.equal(messages.filter((message) => message.kind === "user").length, 2);
});

test("ten thousand messages scroll smoothly from the end to the beginning", { timeout: 600_000 }, async (t) => {
  const listen = new URL(daemon.url).host;
  await daemon.stop();
  const made = spawnSync("python3", ["-c", `
import glob, json, sqlite3, sys
db = sqlite3.connect(glob.glob(sys.argv[1] + "/**/agent.sqlite*", recursive=True)[0])
(agent,) = db.execute("SELECT n FROM agents WHERE id = 'planner'").fetchone()
db.execute("INSERT INTO threads (id, agent_n, message_count, created_at, updated_at) VALUES ('planner:session:long', ?, 10000, 1, 1)", (agent,))
(thread,) = db.execute("SELECT n FROM threads WHERE id = 'planner:session:long'").fetchone()
for i in range(10000):
    text = f"message {i}: " + "some words of a sentence " * (1 + i * 7 % 23)
    db.execute("INSERT INTO agent_messages (id, agent_n, thread_n, kind, created_at, ordinal, tokens_total, content, host_n, counter)"
               " VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0, 0)",
               (f"long-{i}", agent, thread, "thought" if i % 2 else "user", 1700000000000 + i * 1000, i + 1, json.dumps({"text": text})))
db.commit()
`, daemon.data], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  await daemon.start(listen);
  const page = await visit(t, "/agents/planner/long");
  await page.getByText(/^message 9999:/).waitFor();
  await ended(page);
  const frames = await page.evaluate(async () => {
    const box = document.querySelector(".chat-scroll");
    const times = [];
    // What a frame costs here when nothing moves.
    const calm = [];
    for (let frame = 0; frame < 60; frame++) {
      const from = performance.now();
      await new Promise(requestAnimationFrame);
      calm.push(performance.now() - from);
    }
    let last = performance.now();
    let still = 0;
    const begun = last;
    // A hand on the wheel first, then as fast as it goes.
    for (let frame = 0; performance.now() - begun < 500_000; frame++) {
      box.scrollTop -= frame < 200 ? 300 : 8000;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      if (frame < 200) times.push(now - last);
      last = now;
      still = box.scrollTop === 0 && document.querySelector(".chat-list").innerText.includes("message 0:") ? still + 1 : 0;
      if (still > 5) break;
    }
    return { times: times.sort((a, b) => a - b), calm: calm.sort((a, b) => a - b)[30], rows: document.querySelectorAll(".chat-row").length, reached: still > 5, height: box.scrollHeight };
  });
  // Who waits at the top has nothing to scroll: what did not come is asked for again.
  const again = await visit(t, "/agents/planner/long");
  await again.getByText(/^message 9999:/).waitFor();
  let refused = 0;
  await again.route(/messages\?.*before=/, (route) => (refused++ < 2 ? route.abort() : route.continue()));
  await again.evaluate(() => { document.querySelector(".chat-scroll").scrollTop = 0; });
  await again.getByText(/Could not load older messages/).waitFor();
  await again.waitForFunction(() => document.querySelector(".chat-scroll").scrollTop > 1000);
  assert.ok(refused > 2);
  const at = (part) => frames.times[Math.floor(frames.times.length * part)];
  t.diagnostic(`${frames.times.length} frames, median ${at(0.5).toFixed(1)} ms, 95 % ${at(0.95).toFixed(1)} ms, worst ${at(0.999).toFixed(1)} ms, ${frames.rows} rows, ${frames.height} px`);
  assert.equal(frames.reached, true);
  assert.ok(frames.rows < 60, `${frames.rows} rows are on the page`);
  assert.ok(at(0.5) < 100 + 2 * frames.calm, `a frame takes ${at(0.5)} ms, ${frames.calm} ms when nothing moves`);
});

test("memory: added, changed, compared, brought back, deleted and undeleted", async (t) => {
  const page = await visit(t, "/agents/planner/panels?panel=memory");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "File name" }).fill("people.md");
  await dialog.getByRole("textbox", { name: "Content" }).fill("- Ada\n");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: /^knowledge\/people\.md/ }).click();
  await dialog.getByRole("tab", { name: "Edit" }).click();
  await dialog.getByRole("textbox", { name: "Content" }).fill("- Ada\n- Grace\n");
  await dialog.getByRole("textbox", { name: /^Why/ }).fill("met her");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Grace").waitFor();
  await dialog.getByRole("tab", { name: "History" }).click();
  await dialog.getByText("met her").waitFor();
  await dialog.getByRole("button", { name: "Bring back" }).click();
  const content = async () => (await daemon.ask("GET", "/agents/planner/memory/knowledge/people.md")).content;
  await page.getByText("is back.").waitFor();
  assert.equal(await content(), "- Ada\n");
  await page.getByRole("button", { name: "Undo" }).last().click();
  await dialog.getByText("Grace").waitFor();
  assert.equal(await content(), "- Ada\n- Grace\n");
  await dialog.getByRole("tab", { name: "Text" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: /^knowledge\/people\.md/ }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).last().click();
  await page.getByRole("button", { name: /^knowledge\/people\.md/ }).waitFor();
  assert.equal(await content(), "- Ada\n- Grace\n");
});

test("skills: imported, switched off, changed, deleted and undeleted", async (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "skill-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const packed = path.join(folder, "tidy.tar.gz");
  spawnSync("mkdir", ["-p", path.join(folder, "tidy/references")]);
  writeFileSync(path.join(folder, "tidy/SKILL.md"), "---\nname: tidy\ndescription: Tidies a desk. Use when it is messy.\n---\n1. Sort.\n2. Throw away. See [more](references/more.md).\n");
  writeFileSync(path.join(folder, "tidy/references/more.md"), "Keep what you use.\n");
  assert.equal(spawnSync("tar", ["-czf", packed, "-C", folder, "tidy"]).status, 0);
  const page = await visit(t, "/agents/planner/panels?panel=skills");
  await page.locator("input[type=file][aria-label='Skill archive']").first().setInputFiles(packed);
  await page.getByText("tidy was imported").waitFor();
  const skill = async () => (await daemon.ask("GET", "/agents/planner/skills")).skills.find((one) => one.name === "tidy");
  const switched = page.waitForResponse((response) => response.request().method() === "PUT");
  await page.getByRole("switch", { name: "Use tidy" }).click();
  await switched;
  assert.equal((await skill()).enabled, false);
  await page.getByRole("button", { name: /^tidy/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "references/more.md" }).click();
  await dialog.getByText("Keep what you use.").waitFor();
  assert.deepEqual(await a11y(page), []);
  await dialog.getByRole("button", { name: "Change" }).click();
  await dialog.getByRole("textbox", { name: "Description" }).fill("Tidies a desk quickly. Use when it is messy.");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("Tidies a desk quickly").waitFor();
  const before = await skill();
  await page.getByRole("button", { name: /^tidy/ }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: /^tidy/ }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).last().click();
  await page.getByRole("button", { name: /^tidy/ }).waitFor();
  const { updated_at: since, ...back } = await skill();
  const { updated_at: until, ...whole } = before;
  assert.deepEqual(back, whole); // its id, files, hash, and that it is off
  assert.ok(since >= until);
  assert.deepEqual(back.files, ["SKILL.md", "references/more.md"]);
  assert.equal((await daemon.ask("GET", `/agents/planner/skills/${back.id}/files/references/more.md`)).content, "Keep what you use.\n");
});

test("conversations: found, renamed, deleted and undeleted", async (t) => {
  const page = await visit(t, "/agents/planner/walnut");
  await say(page, "about a walnut tree");
  await answers(page).filter({ hasText: "Said: about" }).waitFor();
  await idle(page);
  await page.getByRole("button", { name: "Conversations: about a walnut tree" }).click();
  const sheet = page.getByRole("dialog", { name: "Conversations" });
  await sheet.getByRole("searchbox").fill("walnut");
  await sheet.getByRole("button", { name: "Rename about a walnut tree" }).click();
  await page.getByRole("dialog", { name: "Rename the conversation" }).getByRole("textbox").fill("Trees");
  await page.keyboard.press("Enter");
  await sheet.getByRole("button", { name: "Delete Trees" }).waitFor();
  await shoot(page, "agent-threads-light");
  assert.deepEqual(await a11y(page), []);
  await sheet.getByRole("button", { name: "Delete Trees" }).click();
  await page.getByText("The conversation was deleted.").waitFor();
  await page.getByRole("button", { name: "Undo" }).last().click();
  await page.waitForFunction(async () => (await (await fetch("/api/v1/agents/planner/threads/walnut")).json()).title === "Trees");
});

test("settings: changed, duplicated, exported, destroyed by its name, and imported again", async (t) => {
  await daemon.ask("POST", "/agents", { displayName: "Passing Guest", id: "guest", instructions: "Be brief." });
  const page = await visit(t, "/agents/guest?panel=settings");
  await page.getByRole("textbox", { name: "What it is for" }).fill("To be here for a while");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForFunction(async () => (await (await fetch("/api/v1/agents/guest")).json()).description === "To be here for a while");
  assert.deepEqual(await a11y(page), []);
  await shoot(page, "agent-settings-light");
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export" }).click();
  const archive = await (await download).path();
  assert.deepEqual([...readFileSync(archive).subarray(0, 2)], [0x1f, 0x8b]);
  await page.getByRole("button", { name: "Destroy Passing Guest" }).click();
  const dialog = page.getByRole("dialog");
  assert.equal(await dialog.getByRole("button", { name: "Destroy", exact: true }).isDisabled(), true);
  await dialog.getByRole("textbox").fill("Passing Guest");
  await dialog.getByRole("button", { name: "Destroy", exact: true }).click();
  await page.getByText("Passing Guest is gone.").waitFor();
  await page.getByRole("link", { name: "Passing Guest" }).waitFor({ state: "detached" });
  const kept = path.join(path.dirname(archive), "guest.tar.gz");
  writeFileSync(kept, readFileSync(archive));
  await page.locator("input[type=file]").setInputFiles(kept);
  await page.getByRole("heading", { level: 1, name: "Passing Guest" }).waitFor();
  rmSync(kept);
});

test("settings tell what is used and left of the day's budget", async (t) => {
  assert.equal(spawnSync(daemon.binary, ["agent", "set", "planner", "--tokens-per-day", "5000000", "--data", daemon.data]).status, 0);
  const page = await visit(t, "/agents/planner/budget");
  await page.getByRole("tab", { name: "Settings" }).click();
  await page.getByText(/^tokens today: .* of 5.0M used, .* left$/).waitFor();
  assert.equal(await page.getByRole("progressbar", { name: "tokens today" }).getAttribute("max"), "5000000");
});

test("a day's budget is set, changed and taken away on the page", async (t) => {
  const page = await visit(t, "/agents/planner/budget");
  await page.getByRole("tab", { name: "Settings" }).click();
  const budget = page.getByRole("region", { name: "Budget" });
  const own = async () => (await daemon.ask("GET", "/agents/planner")).budget.own;
  for (const [label, typed, form] of [["Cost a day", "0,5", "with a point: 0.5"], ["Tokens a day", "1.5", "A whole number"], ["Tool calls a day", "0", "A whole number"], ["Cost a day", "five", "currency of your models"]]) {
    await budget.getByLabel(label).fill("");
    await page.keyboard.type(typed);
    assert.equal(await budget.getByLabel(label).inputValue(), typed);
    await budget.getByRole("button", { name: "Save the budget" }).click();
    const said = await budget.getByRole("alert").textContent();
    assert.ok(said.includes(typed) && said.includes(form) && said.includes("Empty is no limit."), said);
    if (typed === "0,5") assert.deepEqual(await judgeLooks(page, "agent-budget-wrong"), []);
    assert.ok([undefined, 5000000].includes((await own())?.tokensPerDay) && (await own())?.costPerDay === undefined);
    await budget.getByRole("button", { name: "Discard" }).click();
  }
  await budget.getByLabel("Tokens a day").fill("4000000");
  await budget.getByLabel("Cost a day").fill("2.5");
  await budget.getByRole("button", { name: "Save the budget" }).click();
  await budget.getByText(/^tokens today: .* of 4.0M used/).waitFor();
  await budget.getByText(/^cost today \(in your models' currency\): .* left$/).waitFor();
  assert.deepEqual(await own(), { tokensPerDay: 4000000, costPerDay: 2.5 });
  assert.deepEqual(await judgeLooks(page, "agent-budget"), []);
  await budget.getByLabel("Tokens a day").fill("");
  await budget.getByLabel("Cost a day").fill("");
  await budget.getByLabel("Tool calls a day").fill("7");
  await budget.getByRole("button", { name: "Save the budget" }).click();
  await budget.getByText(/^tool calls today: .* of 7 used/).waitFor();
  assert.deepEqual(await own(), { toolCallsPerDay: 7 });
  assert.equal(await budget.getByText(/^tokens today/).count(), 0);
  await budget.getByLabel("Tool calls a day").fill("");
  await budget.getByRole("button", { name: "Save the budget" }).click();
  await page.waitForFunction(() => !document.querySelector(".budget-bar"));
  assert.equal(await own(), undefined);
});

test("on a phone the panels are a sheet, and nothing is wider than the screen", async (t) => {
  const page = await visit(t, "/agents/planner/panels", { width: 360, height: 740 });
  await page.getByRole("button", { name: "Memory, skills, tools, wakes and settings" }).click();
  for (const name of ["Memory", "Skills", "Tools", "Settings"]) {
    await page.getByRole("tab", { name }).click();
    await page.getByRole("tabpanel").getByRole("heading", { name }).first().waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    await shoot(page, `agent-sheet-${name.toLowerCase()}-narrow`);
    assert.deepEqual(await a11y(page), [], name);
  }
});

test("an agent that does not exist is said in words", async (t) => {
  const { page, context } = await open(browser, daemon, { at: "/agents/nobody" });
  t.after(() => context.close());
  await page.getByText(/nobody/).first().waitFor();
});

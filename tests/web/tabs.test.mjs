// Many tabs of one browser. It has six connections to a server for requests, whatever the number of tabs: none of
// them may be held by a page that only listens, or what a person does in any of the tabs waits for one to be closed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { becomes, Daemon, launch, open, press } from "./browser.mjs";

const VIEWS = ["/inbox", "/agents/planner", "/inbox", "/", "/runs", "/wakes", "/inbox", "/agents/planner"];
const SOON_MS = 30_000; // for what takes a second, and without a free connection never comes
const script = `
match: any
steps:
  - { expect: { user: "write", results: 0 }, times: 9, reply: { calls: [{ name: bash, arguments: { command: "echo hi >> x.txt" } }] } }
  - { times: 99, reply: { text: "Done." } }
`;

let browser;
let context;
let daemon;
let faults;
const tabs = [];
before(async () => {
  daemon = await (await new Daemon(process.env.SERVER, { script }).start()).bare();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await daemon?.remove();
});

const command = (...words) => execFileSync(process.env.SERVER, [...words, "--data", daemon.data], { encoding: "utf8" });
const isStopped = () => daemon.ask("GET", "/kill").then(({ switches }) => switches.some(({ scope }) => scope === "all"));
const everywhere = (state) => Promise.all(tabs.map((tab) => tab.locator(".banner", { hasText: "Everything is stopped" }).waitFor({ state })));
const approve = (tab) => tab.locator("main").getByRole("button", { name: /^Approve/ }).first();

test("eight tabs of one browser load, and none keeps another from it", async () => {
  ({ context, faults } = await open(browser, daemon, { at: null }));
  await context.pages()[0].close();
  context.setDefaultTimeout(SOON_MS);
  for (const view of VIEWS) {
    const tab = await context.newPage();
    await tab.goto(daemon.url + view);
    await tab.locator("main h1").first().waitFor({ state: "attached" });
    await tab.waitForFunction(() => !document.querySelector(".skeleton"));
    tabs.push(tab);
  }
});

test("what changes elsewhere shows in every tab", async () => {
  command("kill", "--all");
  await everywhere("visible");
  command("unkill", "--all");
  await everywhere("hidden");
});

test("an approval in one of them arrives, and the others see it", async () => {
  const { runId } = await daemon.run("write", "waiting");
  const inboxes = tabs.filter((_, i) => VIEWS[i] === "/inbox");
  for (const tab of inboxes) await approve(tab).waitFor();
  await inboxes[1].bringToFront();
  await press(approve(inboxes[1]));
  await becomes(async () => (await daemon.ask("GET", `/runs/${runId}`)).status, "done");
  for (const tab of inboxes) await approve(tab).waitFor({ state: "hidden" });
});

test("Stop all in the first arrives, and every tab says so", async () => {
  await tabs[0].getByRole("button", { name: "Stop all" }).click();
  await becomes(isStopped, true);
  await everywhere("visible");
  await tabs[7].locator("header").getByRole("button", { name: "Resume" }).click();
  await becomes(isStopped, false);
  await everywhere("hidden");
});

test("tabs that are closed take nothing from the others, nor does a server that comes back", async () => {
  for (const tab of tabs.splice(0, 2)) await tab.close();
  command("kill", "--all");
  await everywhere("visible");
  const { host } = new URL(daemon.url);
  await daemon.stop();
  command("unkill", "--all");
  await daemon.start(host);
  await everywhere("hidden");
  assert.deepEqual(faults, []);
});

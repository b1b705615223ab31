// What a person does in a page arrives, however long nothing was said before it: over the WebSocket of a chat, and
// over connections that the browser kept from the last request. All pages wait side by side, each in a context with
// connections of its own, so the suite takes little longer than its longest wait.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as idle } from "node:timers/promises";
import { becomes, Daemon, launch, open, press } from "./browser.mjs";

const IDLE_S = [25, 70];
const script = `
match: any
steps:
  - expect: { user: "hold" }
    times: 99
    reply: { delay_ms: 3000000, text: "too late" }
  - expect: { user: "write", results: 0 }
    times: 99
    reply: { calls: [{ name: bash, arguments: { command: "echo hi >> x.txt" } }] }
  - times: 999
    reply: { text: "Done." }
`;

let browser;
let daemon;
before(async () => {
  daemon = await (await new Daemon(process.env.SERVER, { script }).start()).bare();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await daemon?.remove();
});

const runs = async (prompt) => (await daemon.ask("GET", "/runs?limit=500")).runs.filter((run) => run.prompt === prompt);
const status = (prompt) => async () => (await runs(prompt)).map((run) => run.status);
async function say(page, text) {
  const box = page.getByRole("textbox", { name: /^Write to/ });
  await box.fill(text);
  await box.press("Enter");
}
const approve = (page) => press(page.locator(".item").getByRole("button", { name: /^Approve/ }));
/** A run that a page elsewhere is about, and where that page is. */
async function begun(prompt, until) {
  const event = await daemon.run(prompt, until);
  return { run: `/runs/${event.runId}`, item: `/inbox/${event.itemId}` };
}

// begin: what stands in the page when nothing more is done; act: what a person does then; last: how the run ends.
const doors = {
  "a message, in the chat": {
    begin: async (page, name) => say(page, `first ${name}`),
    still: (name) => [`first ${name}`, "done"],
    act: async (page, name) => say(page, `message ${name}`),
    last: (name) => [`message ${name}`, "done"],
  },
  "an approval, in the chat": {
    begin: async (page, name) => say(page, `write ${name}`),
    still: (name) => [`write ${name}`, "waiting"],
    act: approve,
    last: (name) => [`write ${name}`, "done"],
  },
  "a cancellation, in the chat": {
    begin: async (page, name) => say(page, `hold ${name}`),
    still: (name) => [`hold ${name}`, "running"],
    act: (page) => page.getByRole("button", { name: /^Stop Planner/ }).click(),
    last: (name) => [`hold ${name}`, "cancelled"],
  },
  "an approval, in the inbox": {
    at: async (name) => (await begun(`write ${name}`, "waiting")).item,
    still: (name) => [`write ${name}`, "waiting"],
    act: approve,
    last: (name) => [`write ${name}`, "done"],
  },
  "a cancellation, in the page of a run": {
    at: async (name) => (await begun(`hold ${name}`, "init")).run,
    still: (name) => [`hold ${name}`, "running"],
    act: (page) => page.locator("main").getByRole("button", { name: /^(Stop|Cancel)/ }).click(),
    last: (name) => [`hold ${name}`, "cancelled"],
  },
};

async function arrives(door, seconds, name) {
  const { context, page, faults } = await open(browser, daemon, { at: door.at ? await door.at(name) : `/agents/planner/${name}` });
  await door.begin?.(page, name);
  const [prompt, state] = door.still(name);
  await becomes(status(prompt), [state]);
  await idle(seconds * 1000); // the idleness that is tested
  await door.act(page, name);
  const [acted, end] = door.last(name);
  await becomes(status(acted), [end]);
  await context.close();
  assert.deepEqual(faults, []);
}

test("every control of a page arrives after any idleness", { concurrency: true }, async (t) => {
  const all = Object.entries(doors).flatMap(([what, door], i) => IDLE_S.map((seconds) => ({ what, door, seconds, name: `idle-${i}-${seconds}` })));
  await Promise.all(all.map(({ what, door, seconds, name }) => t.test(`${what}, after ${seconds} s`, () => arrives(door, seconds, name))));
});

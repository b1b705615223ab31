// A daemon of its own and a browser that is logged in to it, for the tests of the page.
//
// Every page fails its test when it logs an error, breaks the Content-Security-Policy, or asks another
// host for anything.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, "../..");
const need = createRequire(path.join(root, "web", "package.json"));
export const { chromium } = need("playwright-core");
const axe = readFileSync(need.resolve("axe-core/axe.min.js"), "utf8");
const screenshots = path.join(root, "build", "screenshots");

const READY_MS = 120_000; // for what takes a second: a sanitized binary, a browser, a busy machine

// None of the ports that the system gives to whoever asks for any: a daemon that is started again finds
// its own still free.
const somePort = () => 20_000 + Math.floor(Math.random() * 12_000);

/** Starts the binary; resolves when it has printed where it listens. */
export class Daemon {
  constructor(binary, { config = "", script = "" } = {}) {
    this.binary = binary;
    this.data = mkdtempSync(path.join(os.tmpdir(), "dormouse-web-"));
    this.work = mkdtempSync(path.join(os.tmpdir(), "dormouse-work-")); // no agent may work inside DATA
    if (script) writeFileSync(path.join(this.data, "script.yaml"), script);
    const models = "agent: { model: rehearsal }\nmodels:\n  - { id: rehearsal, provider: script, script: script.yaml }\n";
    writeFileSync(path.join(this.data, "config.yaml"), (script ? models : "") + config);
  }

  async start(listen) {
    for (;;) {
      try {
        return await this.startAt(listen ?? `127.0.0.1:${somePort()}`);
      } catch (error) {
        if (listen || !/already in use/.test(error.message)) throw error;
      }
    }
  }

  async startAt(listen) {
    this.child = spawn(this.binary, ["serve", "--data", this.data, "--listen", listen, "--json"], {
      cwd: this.work, stdio: ["ignore", "pipe", "pipe"],
    });
    this.log = "";
    this.child.stderr.on("data", (bytes) => (this.log += bytes));
    const said = await new Promise((resolve, reject) => {
      let text = "";
      const timer = setTimeout(() => reject(new Error(`the daemon said nothing: ${this.log}`)), READY_MS);
      this.child.on("close", (code) => {
        clearTimeout(timer);
        reject(new Error(`the daemon ended with ${code}: ${text}${this.log}`));
      });
      this.child.stdout.on("data", (bytes) => {
        text += bytes;
        if (!text.includes("\n")) return;
        clearTimeout(timer);
        resolve(text.split("\n")[0]);
      });
    });
    this.info = JSON.parse(said);
    if (this.info.error) throw new Error(`the daemon did not start: ${said}`);
    this.url = this.info.url;
    return this;
  }

  /** A request with the token. */
  async ask(method, route, body) {
    const token = readFileSync(path.join(this.data, "token"), "utf8").trim();
    const answer = await fetch(`${this.url}/api/v1${route}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${route}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** Removes what wakes agents from the first start: for tests that count what they make. */
  async bare() {
    for (const kind of ["timers", "subscriptions"])
      for (const { id } of (await this.ask("GET", `/${kind}`)).items) await this.ask("DELETE", `/${kind}/${id}`);
    return this;
  }

  /** Starts a run and reads its events until one of this type; the rest goes on by itself. */
  async run(prompt, until = "done") {
    const token = readFileSync(path.join(this.data, "token"), "utf8").trim();
    const answer = await fetch(`${this.url}/run`, {
      method: "POST", headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify({ prompt, cwd: this.work }),
    });
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of answer.body) {
      text += decoder.decode(bytes, { stream: true });
      const events = [...text.matchAll(/^data: (.*)$/gm)].slice(0, text.endsWith("\n") ? undefined : -1).map((match) => JSON.parse(match[1]));
      const found = events.find((event) => event.type === until);
      if (found) return found; // leaving the loop ends the connection, not the run
    }
    throw new Error(`no ${until} came: ${text}`);
  }

  async loginLink() {
    return (await this.ask("POST", "/login-codes", {})).url;
  }

  async stop() {
    if (!this.child) return;
    const child = this.child;
    this.child = null;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await gone;
  }

  async remove() {
    await this.stop();
    for (const folder of [this.data, this.work]) rmSync(folder, { recursive: true, force: true });
  }
}

/** The engine alone, without what a window needs: a page costs half of what it does in all of Chromium. */
/** Waits for a state that nothing tells of: what `read` gives becomes `wanted`, or the test says what it is. */
export async function becomes(read, wanted) {
  const text = JSON.stringify(wanted);
  for (const end = Date.now() + 60_000; Date.now() < end && JSON.stringify(await read()) !== text;) await new Promise((done) => setTimeout(done, 50));
  assert.deepEqual(await read(), wanted);
}
/** Until single keys mean the item that was chosen, and its buttons take a press. */
export async function ready(page) {
  await page.locator(".item .button-key:not(.button-key-off)").first().waitFor();
  await page.waitForFunction(() => !document.querySelector(".item [aria-disabled=true]"));
}
/** Presses a button that decides until it was taken: one that has just moved (clicking scrolls) takes no press, and a
 * press that came early begins its rest anew. */
export async function press(button) {
  for (;;) {
    const one = await button.elementHandle();
    await one.evaluate((element) => new Promise((done) => {
      const look = () => (element.isConnected && element.ariaDisabled === "true" ? requestAnimationFrame(look) : done());
      look();
    }));
    await one.click();
    if (await one.evaluate((element) => !element.isConnected || element.disabled)) return;
  }
}
/** Presses a key as somebody does who means it: a moment after the last one. */
export async function alone(page, key) {
  await page.evaluate(() => new Promise((done) => setTimeout(done, 450)));
  await page.keyboard.press(key);
}
/** Types at a person's speed, by the page's own clock (`clock: true` in open()): no time of ours is spent, and a busy
 * machine makes no pauses in the middle of a word. */
export async function types(page, text, delay) {
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 3000)); // not what is past by the time it is heard
  for (const char of text) {
    await page.keyboard.type(char);
    await page.clock.runFor(delay);
  }
  await page.clock.resume();
}
/** Chooses the item that is shown in the inbox. */
export async function pick(page) {
  await page.locator(".item").waitFor();
  await page.keyboard.press("ArrowDown");
  await ready(page);
}
export const launch = (executablePath = "/usr/bin/chromium-headless-shell") =>
  chromium.launch({ executablePath, timeout: READY_MS, args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"] });

/** A logged-in page, at a path or, when that is null, nowhere yet. `link`: logged in by opening the link, as
 * people do. faults collects what must not be in any page of its context; the test looks at it in the end. */
export async function open(browser, daemon, { at = "/", link = false, width = 1280, height = 860, dark = false, reduced = true, zone = "Europe/Berlin", clock = false } = {}) {
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme: dark ? "dark" : "light", reducedMotion: reduced ? "reduce" : "no-preference",
    locale: "en-GB", timezoneId: zone,
  });
  context.setDefaultTimeout(READY_MS);
  const page = await context.newPage();
  if (clock) await page.clock.install();
  const faults = [];
  context.on("console", (message) => {
    // A refused request is the browser's own line; what the page makes of it is looked at elsewhere.
    if (message.type() === "error" && !/^Failed to load resource|^WebSocket connection to .*(ERR_CONNECTION_REFUSED|Unexpected response code)/.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  context.on("weberror", (error) => faults.push(`error: ${error.error().message}`));
  context.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (!["data:", "blob:"].includes(protocol) && host !== new URL(daemon.url).host) faults.push(`asked ${request.url()}`);
  });
  context.on("dialog", (dialog) => {
    faults.push(`a dialog opened: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const login = await daemon.loginLink();
  if (link) await page.goto(login);
  else await context.request.get(login, { maxRedirects: 0 }); // its cookies are the context's
  if (at !== null && !link) await page.goto(daemon.url + at);
  if (at !== null || link) await page.waitForSelector(".header");
  return { context, page, faults };
}

/** What axe finds wrong, as lines. `colours`: only what other colours can make wrong, for a page that was
 * looked at in light before. */
export async function a11y(page, { colours = false } = {}) {
  // The policy refuses injected script tags; evaluate() goes around the page, not through it.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  const rules = colours ? { type: "rule", values: ["color-contrast", "link-in-text-block"] } : ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const { violations } = await page.evaluate((runOnly) => globalThis.axe.run({ exclude: ["[role=tooltip]"] }, { resultTypes: ["violations"], runOnly }), rules);
  // The order of headings inside a message is its writer's.
  const ours = violations.filter((found) => found.id !== "heading-order" || !found.nodes.every((node) => /class="md-h/.test(node.html)));
  return ours.map((found) => `${found.id}: ${found.help} (${found.nodes.map((node) => node.target.join(" ")).slice(0, 4).join(", ")})`);
}

export const NARROW = { width: 360, height: 740 };

/** Pages and boxes that scroll into emptiness: what is hidden from the eye lies outside of what holds it, or the
 * page is longer than what stands on it. */
export const emptiness = (page) => page.evaluate(() => {
  const found = [];
  const long = document.documentElement.scrollHeight - Math.max(innerHeight, Math.ceil(document.body.getBoundingClientRect().bottom + scrollY));
  if (long > 1) found.push(`${long} px of emptiness below the page`);
  for (const hidden of document.querySelectorAll(".visually-hidden")) {
    if (getComputedStyle(hidden).position === "absolute" && hidden.offsetParent !== hidden.parentElement && hidden.offsetParent !== null) found.push(`"${hidden.textContent.slice(0, 40)}" lies in ${hidden.offsetParent.tagName}.${hidden.offsetParent.className}`);
  }
  return found;
});

/** What is wrong with a view as it stands: wider or longer than it should be, or not for everybody. */
export async function judge(page, name, options) {
  await page.waitForFunction(() => !document.querySelector(".skeleton"));
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const found = [...(over > 0 ? [`${over} px too wide`] : []), ...await emptiness(page), ...await a11y(page, options)];
  await shoot(page, name);
  return found.map((line) => `${name}: ${line}`);
}

/** The same in light and, as only colours differ, in the dark; then in windows of other sizes. The page's
 * script knows neither colours nor widths: styles alone do, so it is loaded once. */
export async function judgeLooks(page, name, sizes = { narrow: NARROW }) {
  const found = await judge(page, `${name}-light`);
  await page.emulateMedia({ colorScheme: "dark" });
  found.push(...await judge(page, `${name}-dark`, { colours: true }));
  await page.emulateMedia({ colorScheme: "light" });
  const size = page.viewportSize();
  for (const [look, other] of Object.entries(sizes)) {
    await page.setViewportSize(other);
    await page.waitForFunction((width) => innerWidth === width, other.width);
    found.push(...await judge(page, `${name}-${look}`));
  }
  await page.setViewportSize(size);
  return found;
}

/** A picture in build/screenshots, for who wants to see: DORMOUSE_TEST_SCREENSHOTS=1. */
export async function shoot(page, name, { full = false, always = false } = {}) {
  if (!always && !process.env.DORMOUSE_TEST_SCREENSHOTS) return;
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: full });
}

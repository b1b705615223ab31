// A daemon of its own and a browser that is logged in to it, for the tests of the page.
//
// Every page fails its test when it logs an error, breaks the Content-Security-Policy, or asks another
// host for anything.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, "../..");
const need = createRequire(path.join(root, "web", "package.json"));
export const { chromium } = need("playwright-core");
export const axePath = need.resolve("axe-core/axe.min.js");
export const screenshots = path.join(root, "build", "screenshots");

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
    const { readFileSync } = await import("node:fs");
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

  /** Starts a run and reads its events until one of this type; the rest goes on by itself. */
  async run(prompt, until = "done") {
    const { readFileSync } = await import("node:fs");
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

export const launch = () =>
  chromium.launch({ executablePath: "/usr/bin/chromium", timeout: READY_MS, args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"] });

/** A logged-in page. faults collects what must not be; the test looks at it in the end. */
export async function open(browser, daemon, { width = 1280, height = 860, dark = false, reduced = true, zone = "Europe/Berlin" } = {}) {
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme: dark ? "dark" : "light", reducedMotion: reduced ? "reduce" : "no-preference",
    locale: "en-GB", timezoneId: zone,
  });
  context.setDefaultTimeout(READY_MS);
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => {
    // A refused request is the browser's own line; what the page makes of it is looked at elsewhere.
    if (message.type() === "error" && !/^Failed to load resource|^WebSocket connection to .*ERR_CONNECTION_REFUSED/.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (!["data:", "blob:"].includes(protocol) && host !== new URL(daemon.url).host) faults.push(`asked ${request.url()}`);
  });
  page.on("dialog", (dialog) => {
    faults.push(`a dialog opened: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(await daemon.loginLink());
  await page.waitForSelector(".header");
  return { context, page, faults };
}

/** What axe finds wrong, as lines. */
export async function a11y(page, { exclude = [] } = {}) {
  // The policy refuses injected script tags; evaluate() goes around the page, not through it.
  const { readFileSync } = await import("node:fs");
  await page.evaluate(readFileSync(axePath, "utf8"));
  const { violations } = await page.evaluate((skip) => globalThis.axe.run({ exclude: ["[role=tooltip]", ...skip] }, {
    resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  }), exclude);
  // The order of headings inside a message is its writer's.
  const ours = violations.filter((found) => found.id !== "heading-order" || !found.nodes.every((node) => /class="md-h/.test(node.html)));
  return ours.map((found) => `${found.id}: ${found.help} (${found.nodes.map((node) => node.target.join(" ")).slice(0, 4).join(", ")})`);
}

export async function shoot(page, name, { full = false } = {}) {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: full });
}

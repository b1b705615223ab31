// ui.bundle: compressed bytes that the browser loads before the first paint.
// ui.firstpaint: from the click to the first content, in Chromium on loopback, with an empty cache.
// ui.home: from the click until the agents, read from the server, are on the screen; same rounds.
import http from "node:http";
import { Daemon, launch } from "../tests/web/browser.mjs";

const BUNDLE_MAX = 250_000;
const PAINT_MAX_MS = 300;
const ROUNDS = 15;

const print = (line) => console.log(JSON.stringify(line));

/** Bytes of the body as they come over the wire, and the body's text. */
function wire(url) {
  return new Promise((resolve, reject) => {
    http.get(url, { headers: { "Accept-Encoding": "gzip" } }, (answer) => {
      let n = 0;
      answer.on("data", (bytes) => (n += bytes.length));
      answer.on("end", () => resolve(n));
    }).on("error", reject);
  });
}

async function bundle(daemon) {
  const html = await (await fetch(daemon.url)).text();
  const assets = [...new Set([...html.matchAll(/\/assets\/[^"]+/g)].map(([path]) => path))];
  const sizes = await Promise.all(["/", ...assets].map((path) => wire(daemon.url + path)));
  const value = sizes.reduce((sum, n) => sum + n, 0);
  print({ bench: "ui.bundle", files: sizes.length, value, unit: "bytes", target: BUNDLE_MAX, ok: value < BUNDLE_MAX });
}

/** In the page: when something was painted first, and the frame that had the list of agents. */
async function shown() {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  while (!document.querySelector(".home-agents li")) await frame();
  await frame(); // painted, not only there
  const home = performance.now();
  for (;;) {
    const [entry] = performance.getEntriesByName("first-contentful-paint");
    if (entry) return { paint: entry.startTime, home };
    await frame();
  }
}

function figure(bench, times, target) {
  times.sort((a, b) => a - b);
  const value = Math.round(times[Math.floor(times.length / 2)]);
  print({ bench, rounds: times.length, value, unit: "ms", best: Math.round(times[0]), worst: Math.round(times.at(-1)), ...(target ? { target, ok: value < target } : {}) });
}

async function firstPaint(daemon, browser) {
  const paints = [];
  const homes = [];
  for (let i = 0; i < ROUNDS; i++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
    const page = await context.newPage();
    await page.request.get(await daemon.loginLink(), { maxRedirects: 0 }).catch(() => undefined);
    // commit: the script below watches from the beginning, not from when all has been loaded.
    await page.goto(daemon.url, { waitUntil: "commit" });
    const { paint, home } = await page.evaluate(shown);
    if (i > 0) { // the first one starts the renderer
      paints.push(paint);
      homes.push(home);
    }
    await context.close();
  }
  figure("ui.firstpaint", paints, PAINT_MAX_MS);
  figure("ui.home", homes);
}

const daemon = await new Daemon(process.argv[2]).start();
let browser;
try {
  await bundle(daemon);
  browser = await launch("/usr/bin/chromium");
  await firstPaint(daemon, browser);
} finally {
  await browser?.close();
  await daemon.remove();
}

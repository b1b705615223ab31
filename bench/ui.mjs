// ui.bundle: compressed bytes that the browser loads before the first paint.
// ui.firstpaint: from the click to the first content, in Chromium on loopback, with an empty cache.
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

async function firstPaint(daemon, browser) {
  const times = [];
  for (let i = 0; i < ROUNDS; i++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
    const page = await context.newPage();
    await page.request.get(await daemon.loginLink(), { maxRedirects: 0 }).catch(() => undefined);
    await page.goto(daemon.url);
    const paint = await page.evaluate(async () => {
      for (;;) {
        const [entry] = performance.getEntriesByName("first-contentful-paint");
        if (entry) return entry.startTime;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    });
    if (!(await page.locator(".header").count())) throw new Error("the page is not logged in");
    if (i > 0) times.push(paint); // the first one starts the renderer
    await context.close();
  }
  times.sort((a, b) => a - b);
  const value = Math.round(times[Math.floor(times.length / 2)]);
  print({ bench: "ui.firstpaint", rounds: times.length, value, unit: "ms", best: Math.round(times[0]), worst: Math.round(times.at(-1)), target: PAINT_MAX_MS, ok: value < PAINT_MAX_MS });
}

const daemon = await new Daemon(process.argv[2]).start();
let browser;
try {
  await bundle(daemon);
  browser = await launch();
  await firstPaint(daemon, browser);
} finally {
  await browser?.close();
  await daemon.remove();
}

// The server as independent clients see it: Node's own HTTP, npm's ws and eventsource. Run with
// serve-main, which has routes for tests, and with dormouse itself, which has what people get.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import EventSource from "eventsource";
import WebSocket from "ws";

const binary = process.env.SERVER;
const real = path.basename(binary) === "dormouse";
// With the routes of serve-main, and with the configuration of dormouse.
const testRoute = real ? () => {} : test;
const testConfig = real ? test : () => {};
let data, child, info, token;

function words(dir, listen = "127.0.0.1:0") {
  return real ? ["serve", "--data", dir, "--listen", listen, "--json"] : [dir, listen];
}

function start(dir, more = {}) {
  return new Promise((resolve, reject) => {
    const process_ = spawn(binary, words(dir), {
      env: { ...process.env, SERVE_TEST_FAST: "1", ...more },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let text = "";
    process_.stdout.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\n")) resolve([process_, JSON.parse(text)]);
    });
    process_.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
}

function ended(process_) {
  return new Promise((resolve) => process_.on("exit", (code, signal) => resolve({ code, signal })));
}

const bearer = () => ({ Authorization: `Bearer ${token}` });

before(async () => {
  data = mkdtempSync(path.join(os.tmpdir(), "dormouse-e2e-"));
  [child, info] = await start(data);
  token = readFileSync(path.join(data, "token"), "utf8").trim();
});

after(async () => {
  const exit = ended(child);
  child.kill("SIGKILL");
  await exit; // it may still write
  rmSync(data, { recursive: true });
});

test("token and socket belong to their owner alone", () => {
  assert.equal(statSync(path.join(data, "token")).mode & 0o777, 0o600);
  assert.equal(statSync(path.join(data, "dormouse.sock")).mode & 0o777, 0o600);
});

test("fetch reads health, page and assets", async () => {
  const health = await fetch(`${info.url}/healthz`);
  assert.equal(health.status, 200);
  assert.equal((await health.json()).status, "ok");
  const page = await fetch(`${info.url}/`);
  const html = await page.text();
  assert.match(html, /<title>Dormouse<\/title>/);
  const assets = [...html.matchAll(/\/assets\/[^"]+/g)].map((match) => match[0]);
  assert.ok(assets.length >= 3);
  for (const asset of assets) {
    const answer = await fetch(info.url + asset);
    assert.equal(answer.status, 200, asset);
    assert.match(answer.headers.get("cache-control"), /immutable/);
    assert.ok((await answer.arrayBuffer()).byteLength > 0);
  }
});

test("openapi names the routes, and they answer", async () => {
  const document = await (await fetch(`${info.url}/api/v1/openapi.json`, { headers: bearer() })).json();
  assert.equal(document.openapi, "3.1.0");
  for (const [route, item] of Object.entries(document.paths)) {
    const answer = await fetch(info.url + route, { method: "OPTIONS", headers: bearer() });
    const allowed = answer.headers.get("allow").split(", ").filter((name) => !/OPTIONS|HEAD/.test(name));
    assert.deepEqual(methodsOf(document, route), allowed.sort(), route);
  }
});

// What the document says of a path; /agents/import is also an /agents/{id}.
function methodsOf(document, path) {
  const fits = (pattern) => new RegExp(`^${pattern.replace(/{\w+\.\.\.}/g, ".+").replace(/{\w+}/g, "[^/]+")}$`).test(path);
  const items = Object.entries(document.paths).filter(([pattern]) => pattern === path || fits(pattern));
  return [...new Set(items.flatMap(([, item]) => Object.keys(item)))].map((name) => name.toUpperCase()).sort();
}

const needs = (route) => (route.endsWith("/search") ? "?q=word" : route === "/api/v1/links" ? "?to=planner" : "");

// A GET that the document describes answers with a status and a type that the document has.
test("openapi tells the truth about status and type", async () => {
  const document = await (await fetch(`${info.url}/api/v1/openapi.json`, { headers: bearer() })).json();
  const html = await (await fetch(info.url)).text();
  const asset = html.match(/\/assets\/([^"]+)/)[1];
  for (const [route, item] of Object.entries(document.paths)) {
    if (!item.get || item.get.responses["101"] || /^\/(login|oauth\/)/.test(route)) continue;
    if (/{(?!name})/.test(route)) continue; // names something that is not there; run.test.mjs asks for what is
    const path = info.url + route.replace("{name}", asset) + needs(route);
    const cut = new AbortController();
    const answer = await fetch(path, { headers: bearer(), signal: cut.signal });
    cut.abort();
    assert.equal(answer.status, 200, route);
    const [type] = Object.keys(item.get.responses["200"].content);
    if (type !== "*/*") assert.equal(answer.headers.get("content-type").split(";")[0], type, route);
    const bare = await fetch(path, { method: "HEAD" });
    assert.equal(bare.status, "security" in item.get ? 200 : 401, route);
  }
});

test("the one-time link sets a cookie, once", async () => {
  const head = await fetch(info.login, { method: "HEAD", redirect: "manual" });
  assert.equal(head.headers.get("set-cookie"), null);
  const first = await fetch(info.login, { redirect: "manual" });
  assert.equal(first.status, 303);
  assert.equal(first.headers.get("location"), "/");
  const [cookie, ...flags] = first.headers.get("set-cookie").split("; ");
  assert.deepEqual(flags.sort(), ["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Strict"]);
  assert.match(cookie, new RegExp(`^dormouse_${new URL(info.url).port}=v1\\.\\d+\\.[\\w-]{43}$`));
  const api = await fetch(`${info.url}/api/v1/openapi.json`, { headers: { cookie } });
  assert.equal(api.status, 200);
  const again = await fetch(info.login, { redirect: "manual" });
  assert.equal(again.status, 403);
});

testRoute("a body of the limit comes back whole, one byte more is refused", async () => {
  const body = Buffer.alloc(10 * 1024 * 1024, "x");
  const good = await fetch(`${info.url}/api/v1/test/echo`, { method: "POST", headers: bearer(), body });
  assert.equal((await good.arrayBuffer()).byteLength, body.length);
  const request = http.request(`${info.url}/api/v1/test/echo`, {
    method: "POST",
    headers: { ...bearer(), "Content-Length": body.length + 1, Expect: "100-continue" },
  });
  const status = await new Promise((resolve, reject) => {
    request.on("response", (response) => resolve(response.statusCode));
    request.on("error", reject);
    request.flushHeaders();
  });
  request.destroy();
  assert.equal(status, 413);
});

test("eventsource follows the status feed", async () => {
  const source = new EventSource(`${info.url}/api/v1/events`, { headers: bearer() });
  const events = [];
  await new Promise((resolve, reject) => {
    source.addEventListener("status", (event) => {
      events.push(event);
      if (events.length === 2) resolve();
    });
    source.onerror = (error) => reject(new Error(error.message || "the feed broke"));
  });
  source.close();
  const ids = events.map((event) => Number(event.lastEventId));
  assert.equal(ids[1], ids[0] + 1);
  assert.equal(JSON.parse(events[1].data).status, "ok");
});

function open(route, options = {}) {
  return new WebSocket(info.url.replace("http", "ws") + route, { headers: bearer(), ...options });
}

testRoute("ws echoes text, bytes, fragments and big messages", async () => {
  const socket = open("/api/v1/test/echo");
  await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject));
  const next = () => new Promise((resolve) => socket.once("message", (bytes, binary) => resolve([bytes, binary])));
  socket.send("häzel");
  assert.deepEqual(await next(), [Buffer.from("häzel"), false]);
  const big = Buffer.alloc(1024 * 1024, 7);
  socket.send(big);
  const [echoed, isBinary] = await next();
  assert.ok(isBinary && echoed.equals(big));
  socket.send("frag", { fin: false });
  socket.send("ments", { fin: true });
  assert.deepEqual(await next(), [Buffer.from("fragments"), false]);
  const pong = new Promise((resolve) => socket.once("pong", resolve));
  socket.ping("are you there");
  assert.equal(String(await pong), "are you there");
  const closed = new Promise((resolve) => socket.on("close", (code) => resolve(code)));
  socket.close(1000);
  assert.equal(await closed, 1000);
});

testRoute("ws messages past the limit close with 1009", async () => {
  const socket = open("/api/v1/test/echo");
  await new Promise((resolve) => socket.on("open", resolve));
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.on("close", (code) => resolve(code)));
  socket.send(Buffer.alloc(1024 * 1024 + 1));
  assert.equal(await closed, 1009);
});

test("ws of another origin or without a token is refused", async () => {
  const refused = (options) =>
    new Promise((resolve) => {
      const socket = open("/api/v1/events/ws", options);
      socket.on("unexpected-response", (request, response) => resolve(response.statusCode));
      socket.on("open", () => resolve(101));
    });
  assert.equal(await refused({ origin: "http://evil.example" }), 403);
  assert.equal(await refused({ headers: {} }), 401);
});

test("the Unix socket answers its owner without a token", async () => {
  const status = await new Promise((resolve, reject) => {
    http.get({ socketPath: path.join(data, "dormouse.sock"), path: "/api/v1/openapi.json" },
      (response) => resolve(response.statusCode)).on("error", reject);
  });
  assert.equal(status, 200);
});

testConfig("a name from the configuration is let in, straight and behind a TLS proxy", async () => {
  const dir = mkdtempSync(path.join(data, "hosts-"));
  const [named, where] = await start(dir, { DORMOUSE_SERVER_HOSTS: "mouse.example" });
  const { port } = new URL(where.url);
  const status = (headers) => new Promise((resolve, reject) => {
    http.get({ port, host: "127.0.0.1", path: "/healthz", headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on("error", reject);
  });
  assert.equal(await status({ Host: "mouse.example" }), 200);
  assert.equal(await status({ Host: `mouse.example:${port}`, Origin: "https://mouse.example" }), 200);
  assert.equal(await status({ Host: "mouse.example", Origin: "https://other.example" }), 403);
  assert.equal(await status({ Host: "other.example" }), 403);
  const exit = ended(named);
  named.kill("SIGTERM");
  assert.deepEqual(await exit, { code: 0, signal: null });
});

test("a second server on the same port says what to do", async () => {
  const other = spawn(binary, words(mkdtempSync(path.join(data, "other-")), new URL(info.url).host));
  let said = "";
  other.stdout.on("data", (chunk) => (said += chunk)); // as JSON, or
  other.stderr.on("data", (chunk) => (said += chunk));
  const { code } = await ended(other);
  assert.equal(code, 1);
  assert.match(said, /already in use.*--listen/s);
});

test("SIGTERM ends streams with a reason and the process with 0", async () => {
  const dir = mkdtempSync(path.join(data, "stop-"));
  const [victim, where] = await start(dir);
  const secret = readFileSync(path.join(dir, "token"), "utf8").trim();
  const headers = { Authorization: `Bearer ${secret}` };
  const socket = new WebSocket(where.url.replace("http", "ws") + "/api/v1/events/ws", { headers });
  await new Promise((resolve) => socket.once("message", resolve));
  const source = new EventSource(`${where.url}/api/v1/events`, { headers });
  await new Promise((resolve) => source.addEventListener("status", resolve));
  const goodbye = new Promise((resolve) => source.addEventListener("goodbye", (event) => {
    source.close();
    resolve(JSON.parse(event.data).reason);
  }));
  const closed = new Promise((resolve) => socket.on("close", (code, reason) => resolve([code, String(reason)])));
  const exit = ended(victim);
  victim.kill("SIGTERM");
  assert.equal(await goodbye, "the server is stopping");
  assert.deepEqual(await closed, [1001, "the server is stopping"]);
  assert.deepEqual(await exit, { code: 0, signal: null });
  const refused = await new Promise((resolve) =>
    net.connect(Number(new URL(where.url).port), "127.0.0.1").on("error", (error) => resolve(error.code))
      .on("connect", () => resolve("connected")));
  assert.equal(refused, "ECONNREFUSED");
});

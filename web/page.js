// The start page: shows what /healthz says, then follows the status feed. No state of its own.
"use strict";

const byId = (id) => document.getElementById(id);
const words = {
  ok: ["good", "Awake and well"],
  degraded: ["warn", "Running, but something needs you"],
  stopping: ["warn", "Going to sleep"],
};
let heardAt = 0;

function setState(kind, text) {
  const state = byId("state");
  if (state.textContent !== text) state.textContent = text;
  state.className = `state ${kind}`;
}

function domainText(domains) {
  const names = Object.keys(domains);
  if (names.length === 0) return "none opened yet";
  return names.map((name) => `${name}: ${domains[name].replace("_", " ")}`).join(", ");
}

function ago(ms) {
  const seconds = Math.round(ms / 1000);
  if (seconds < 2) return "just now";
  if (seconds < 90) return `${seconds} seconds ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} minutes ago`;
  return `${Math.round(seconds / 3600)} hours ago`;
}

function showStatus(status) {
  const [kind, text] = words[status.status] || ["warn", status.status];
  setState(kind, text);
  byId("version").textContent = status.version;
  byId("domains").textContent = domainText(status.domains);
  if ("uptimeMs" in status) {
    const since = new Date(Date.now() - status.uptimeMs);
    byId("since").textContent = since.toLocaleString();
    byId("connections").textContent = status.connections;
    heardAt = Date.now();
  }
  for (const id of ["since", "connections", "heard"]) {
    const hidden = !("uptimeMs" in status);
    byId(id).hidden = hidden;
    byId(id).previousElementSibling.hidden = hidden;
  }
  byId("heard").textContent = ago(0);
  byId("facts").hidden = false;
}

function follow() {
  const source = new EventSource("/api/v1/events");
  source.addEventListener("status", (event) => {
    byId("login").hidden = true;
    showStatus(JSON.parse(event.data));
  });
  source.addEventListener("goodbye", () => setState("warn", "The server is stopping"));
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) {
      // Refused, not broken: this browser is not logged in.
      byId("login").hidden = heardAt > 0;
      if (heardAt > 0) setState("danger", "The server does not answer; reload to try again");
    } else {
      setState("danger", "The server does not answer; trying again");
    }
  };
}

async function start() {
  try {
    const answer = await fetch("/healthz");
    showStatus(await answer.json());
  } catch {
    setState("danger", "The server does not answer");
  }
  follow();
}

setInterval(() => {
  if (heardAt > 0) byId("heard").textContent = ago(Date.now() - heardAt);
}, 1000);
start();

// The stream that says what changed, anywhere, without content. Each event marks the paths it speaks of
// as stale; after a gap everything is. It also is how the page knows whether the server is there.
//
// It is a WebSocket, because a browser has six connections to a server for requests, whatever the number of
// tabs: an EventSource in each of six tabs would leave none for what a person decides. WebSockets have a
// limit of their own, 200 or more.
import { backoff } from "./backoff";
import { ask, ApiError } from "./client";
import { dial, type Wire } from "./socket";
import { store } from "./store";
import type { Activity } from "./types";

export type Connection = "connecting" | "online" | "offline" | "loggedOut";

/** The paths that an event makes stale. */
export function touched(event: Activity): string[] {
  // An event that names no agent may be about any.
  const of = (part: string): string => (event.agentId ? `/agents/${encodeURIComponent(event.agentId)}/${part}` : "/agents");
  const run = event.runId ? `/runs/${encodeURIComponent(event.runId)}` : "/runs";
  switch (event.type) {
    case "run":
      // Lists change when a run begins, waits or ends; what is in between is in the run alone.
      if (["text", "thinking", "tool_use", "iteration"].includes(event.kind ?? "")) return [run];
      return [run, "/runs", "/agents", "/wakes", "/timers"]; // agents set alarms
    case "inbox":
      return ["/inbox", "/agents", "/runs"];
    case "agent":
      return ["/agents", "/inbox"];
    case "thread":
      return [of("threads"), "/wizard", "/agents"];
    case "memory":
      return [of("memory")];
    case "skill":
      return [of("skills")];
    case "journal":
      return ["/journal"];
    case "wake":
      return ["/wakes", "/timers", "/agents"];
    case "subscription":
      return [of("subscriptions"), "/subscriptions"];
    case "timer":
      return ["/timers", "/agents"];
    case "report":
      return [of("reports")];
    case "kill":
      return ["/kill", "/agents"];
    case "grant":
      return ["/grants"];
    case "model":
      return ["/models"];
    case "secret":
      return ["/secrets", "/models", "/credentials"];
    default:
      return [];
  }
}

export interface World {
  open(path: string): Wire;
  /** Why the stream does not open: throws what a plain request meets. */
  probe(): Promise<void>;
  later(ms: number, run: () => void): void;
  random(): number;
  stale(...prefixes: string[]): void;
}

const GATHER_MS = 60;
const FIRST_MS = 1000; // what was read at the very beginning is read again after the first look, not in it

export class ActivityStream {
  state: Connection = "connecting";
  private watchers = new Set<() => void>();
  private pending = new Set<string>();
  private wait;
  private wire: Wire | null = null;
  private last = 0; // id of the newest event heard

  constructor(private world: World) {
    this.wait = backoff(() => world.random());
  }

  start(): void {
    if (!this.wire) this.connect();
  }

  subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  private become(state: Connection): void {
    if (this.state === state) return;
    this.state = state;
    for (const watcher of [...this.watchers]) watcher();
  }

  private connect(): void {
    const wire = this.world.open(this.last ? `/activity/ws?after=${this.last}` : "/activity/ws");
    this.wire = wire;
    wire.onmessage = (message) => {
      if (wire === this.wire && typeof message.data === "string") this.heard(message.data);
    };
    wire.onclose = () => {
      if (wire === this.wire) this.lost();
    };
  }

  private heard(data: string): void {
    let event: Activity;
    try {
      event = JSON.parse(data) as Activity;
    } catch {
      return;
    }
    if (event.type === "hello") this.greeted(event);
    else this.changed(event);
    this.last = event.id ?? this.last;
  }

  /** From here on nothing is missed. What was read before may be older: it is read again, unless the
      server says that nothing happened since the last event that was heard. */
  private greeted(hello: Activity): void {
    if (hello.reset !== false || this.state === "offline") this.world.stale();
    else if (!this.last) this.world.later(FIRST_MS, () => this.world.stale());
    this.wait.reset();
    this.become("online");
  }

  private changed(event: Activity): void {
    const first = this.pending.size === 0;
    for (const path of touched(event)) this.pending.add(path);
    if (first && this.pending.size > 0) this.world.later(GATHER_MS, () => this.flush());
  }

  private flush(): void {
    const paths = [...this.pending];
    this.pending.clear();
    this.world.stale(...paths);
  }

  private lost(): void {
    this.wire = null;
    this.world.probe().then(
      () => this.retry("connecting"),
      (error: unknown) => {
        if (error instanceof ApiError && error.loggedOut) this.become("loggedOut");
        else this.retry("offline");
      },
    );
  }

  private retry(state: Connection): void {
    // A stream that broke and comes back at once is nobody's concern.
    if (state === "offline" || this.state !== "online") this.become(state);
    this.world.later(this.wait.next(), () => {
      if (!this.wire) this.connect();
    });
  }

  /** The person asks: don't wait. */
  now(): void {
    this.wait.reset();
    if (!this.wire) this.connect();
  }
}

export const activity = new ActivityStream({
  open: (path) => dial(`/api/v1${path}`),
  probe: async () => {
    await ask("GET", "/kill");
  },
  later: (ms, run) => void setTimeout(run, ms),
  random: Math.random,
  stale: (...prefixes) => store.invalidate(...prefixes),
});

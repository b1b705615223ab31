// The stream that says what changed, anywhere, without content. Each event marks the paths it speaks of
// as stale; after a gap everything is. It also is how the page knows whether the server is there.
import { backoff } from "./backoff";
import { ask, ApiError } from "./client";
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

export interface StreamEvent {
  data: string;
  lastEventId?: string;
}
export interface Stream {
  addEventListener(type: string, listener: (event: StreamEvent) => void): void;
  onerror: ((event: unknown) => void) | null;
  close(): void;
}
export interface World {
  open(path: string): Stream;
  /** Why the stream does not open: throws what a plain request meets. */
  probe(): Promise<void>;
  later(ms: number, run: () => void): void;
  random(): number;
  stale(...prefixes: string[]): void;
}

const TYPES = ["run", "inbox", "agent", "thread", "memory", "skill", "kill", "grant", "model", "secret", "journal", "wake", "subscription", "timer", "report"];
const GATHER_MS = 60;
const FIRST_MS = 1000; // what was read at the very beginning is read again after the first look, not in it

export class ActivityStream {
  state: Connection = "connecting";
  private watchers = new Set<() => void>();
  private listeners = new Set<(event: Activity) => void>();
  private pending = new Set<string>();
  private wait;
  private stream: Stream | null = null;
  private last = ""; // id of the newest event heard

  constructor(private world: World) {
    this.wait = backoff(() => world.random());
  }

  start(): void {
    if (!this.stream) this.connect();
  }

  subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };
  listen(listener: (event: Activity) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private become(state: Connection): void {
    if (this.state === state) return;
    this.state = state;
    for (const watcher of [...this.watchers]) watcher();
  }

  private connect(): void {
    const stream = this.world.open(this.last ? `/activity?after=${this.last}` : "/activity");
    this.stream = stream;
    stream.addEventListener("hello", (event) => this.greeted(event));
    for (const type of TYPES)
      stream.addEventListener(type, (event) => {
        this.last = event.lastEventId ?? this.last;
        this.heard(event.data);
      });
    stream.addEventListener("goodbye", () => this.lost(stream));
    stream.onerror = () => this.lost(stream);
  }

  /** From here on nothing is missed. What was read before may be older: it is read again, unless the
      server says that nothing happened since the last event that was heard. */
  private greeted(event: StreamEvent): void {
    let reset = true;
    try {
      reset = (JSON.parse(event.data) as { reset?: boolean }).reset !== false;
    } catch {
      // Then to be sure.
    }
    if (reset || this.state === "offline") this.world.stale();
    else if (!this.last) this.world.later(FIRST_MS, () => this.world.stale());
    this.last = event.lastEventId ?? "";
    this.wait.reset();
    this.become("online");
  }

  private heard(data: string): void {
    let event: Activity;
    try {
      event = JSON.parse(data) as Activity;
    } catch {
      return;
    }
    for (const listener of [...this.listeners]) listener(event);
    const first = this.pending.size === 0;
    for (const path of touched(event)) this.pending.add(path);
    if (first && this.pending.size > 0) this.world.later(GATHER_MS, () => this.flush());
  }

  private flush(): void {
    const paths = [...this.pending];
    this.pending.clear();
    this.world.stale(...paths);
  }

  private lost(stream: Stream): void {
    if (this.stream !== stream) return;
    stream.close();
    this.stream = null;
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
      if (!this.stream) this.connect();
    });
  }

  /** The person asks: don't wait. */
  now(): void {
    this.wait.reset();
    if (!this.stream) this.connect();
  }
}

export const activity = new ActivityStream({
  open: (path) => new EventSource(`/api/v1${path}`) as Stream,
  probe: async () => {
    await ask("GET", "/kill");
  },
  later: (ms, run) => void setTimeout(run, ms),
  random: Math.random,
  stale: (...prefixes) => store.invalidate(...prefixes),
});

// One thread of an agent over its WebSocket. Recorded events come to the listener once each and in
// order of seq, whatever the connection does: a new connection resumes after the last one heard, and
// what comes twice is dropped. Partial texts (no record yet) are passed on as they come.
//
// A message with a turnId goes out until its run begins: what was given to a connection that then broke is
// given to the next one again. The server knows a turn by its id and begins it once.
import { backoff } from "./backoff";
import type { RunEvent } from "./types";

export interface Wire {
  send(text: string): void;
  close(): void;
  onopen: ((event: unknown) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason?: string }) => void) | null;
}
export interface SocketWorld {
  open(path: string): Wire;
  later(ms: number, run: () => void): () => void;
  random(): number;
}
export type SocketState = "connecting" | "open" | "waiting" | "closed";
/** What can't be done: an answer to what we sent, not an event of the thread. */
export interface Refusal {
  code: string;
  message: string;
}
export interface ThreadListener {
  event(event: RunEvent): void;
  refused?(refusal: Refusal): void;
  state?(state: SocketState): void;
}

interface Outgoing {
  text: string;
  turn: boolean; // begins a run, and may be sent again
}

const QUEUE_MAX = 50; // messages typed while the connection is away

export class ThreadSocket {
  state: SocketState = "connecting";
  private wire: Wire | null = null;
  private queue: Outgoing[] = []; // not sent yet
  private unheard: Outgoing[] = []; // sent; whether they arrived is not known yet
  private wait;
  private cancelRetry: (() => void) | null = null;

  /** seq: the last recorded event that the caller has (a thread's lastSeq); events after it follow. */
  constructor(
    private agent: string,
    private thread: string,
    public seq: number,
    private listener: ThreadListener,
    private world: SocketWorld = browser,
  ) {
    this.wait = backoff(() => world.random());
    this.connect();
  }

  private become(state: SocketState): void {
    if (this.state === state) return;
    this.state = state;
    this.listener.state?.(state);
  }

  private connect(): void {
    const agent = encodeURIComponent(this.agent);
    const thread = encodeURIComponent(this.thread);
    const wire = this.world.open(`/api/v1/agents/${agent}/ws?thread=${thread}&after=${this.seq}`);
    this.wire = wire;
    wire.onopen = () => {
      this.become("open");
      for (const message of [...this.unheard.splice(0), ...this.queue.splice(0)]) this.put(wire, message);
    };
    wire.onmessage = (message) => {
      if (wire === this.wire && typeof message.data === "string") this.heard(message.data);
    };
    wire.onclose = () => {
      if (wire === this.wire) this.lost();
    };
  }

  private heard(text: string): void {
    let event: RunEvent | ({ type: string; seq?: undefined } & Refusal);
    try {
      event = JSON.parse(text) as typeof event;
    } catch {
      return;
    }
    this.wait.reset(); // it speaks: the next loss begins anew
    if (event.seq === undefined) {
      if (event.type !== "error") return;
      this.unheard.length = 0; // a no is an answer: asking again would hear it again
      this.listener.refused?.({ code: event.code, message: event.message });
      return;
    }
    const partial = "isPartial" in event && event.isPartial === true;
    if (event.seq <= this.seq) return;
    if (!partial) this.seq = event.seq;
    if (event.type === "init") this.unheard.shift();
    this.listener.event(event as RunEvent);
  }

  private lost(): void {
    this.wire = null;
    if (this.state === "closed") return;
    this.become("waiting");
    this.cancelRetry = this.world.later(this.wait.next(), () => this.connect());
  }

  private put(wire: Wire, message: Outgoing): void {
    if (message.turn) this.unheard.push(message);
    wire.send(message.text);
  }

  /** Sends now or when the connection is back. false: too much waits already. */
  send(message: Record<string, unknown>): boolean {
    if (this.state === "closed" || this.queue.length + this.unheard.length >= QUEUE_MAX) return false;
    const outgoing = { text: JSON.stringify(message), turn: message["turnId"] !== undefined };
    if (this.wire && this.state === "open") this.put(this.wire, outgoing);
    else this.queue.push(outgoing);
    return true;
  }

  close(): void {
    this.become("closed");
    this.cancelRetry?.();
    this.wire?.close();
    this.wire = null;
  }
}

export const dial = (path: string): Wire => {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  return new WebSocket(`${scheme}//${location.host}${path}`) as Wire;
};
const browser: SocketWorld = {
  open: dial,
  later: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

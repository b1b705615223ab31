// A conversation as it is shown: made from the thread's messages, then moved on by its events. Pure, so
// that every order of messages, events and reconnects can be tested.
import type { Failure, Message, RunEvent } from "../../api/types";

interface Base {
  key: string;
  at: string;
}
export type Entry = Base &
  (
    | { kind: "user"; text: string; sending?: boolean }
    | { kind: "text"; text: string; partial?: boolean }
    | { kind: "thinking"; text: string; partial?: boolean }
    | {
        kind: "tool";
        callId: string;
        name: string;
        input: unknown;
        status: "open" | "completed" | "failed";
        output?: unknown;
        error?: Failure;
        ms?: number;
      }
    | { kind: "note"; text: string; tone: "plain" | "danger" }
  );

export interface Talk {
  entries: Entry[];
  run: { id: string; status: "running" | "waiting" } | null;
}
export const NO_TALK: Talk = { entries: [], run: null };

const text = (value: unknown): string => (typeof value === "string" ? value : "");

function argumentsOf(raw: unknown): unknown {
  if (typeof raw !== "string") return raw ?? null;
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    return raw;
  }
}

function settle(entries: Entry[], callId: string, at: string, result: {
  status: "completed" | "failed"; output?: unknown; error?: Failure | undefined;
}): Entry[] {
  // The newest open call of this id: a model may use an id again in another turn.
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i] as Entry;
    if (entry.kind !== "tool" || entry.callId !== callId || entry.status !== "open") continue;
    const ms = Date.parse(at) - Date.parse(entry.at);
    const next: Entry = { ...entry, status: result.status, output: result.output, ms };
    if (result.error) next.error = result.error;
    return [...entries.slice(0, i), next, ...entries.slice(i + 1)];
  }
  return entries;
}

/** Messages oldest first. Results of calls that stand before them are left out: an older page brings both. */
export function fromMessages(messages: readonly Message[]): Entry[] {
  let entries: Entry[] = [];
  for (const message of messages) {
    const { content = {}, createdAt: at } = message;
    const key = `m${message.n}`;
    switch (message.kind) {
      case "user":
      case "observation":
        entries.push({ key, at, kind: "user", text: text(content["text"]) });
        break;
      case "thought":
        if (content["thinking"]) entries.push({ key: `${key}t`, at, kind: "thinking", text: text(content["thinking"]) });
        if (content["text"]) entries.push({ key, at, kind: "text", text: text(content["text"]) });
        break;
      case "action":
        entries.push({
          key, at, kind: "tool", callId: message.toolCallId ?? key, name: message.toolName ?? "",
          input: argumentsOf(content["arguments"]), status: "open",
        });
        break;
      case "toolResult":
        entries = settle(entries, message.toolCallId ?? "", at, {
          status: message.status === "success" ? "completed" : "failed",
          output: content["output"],
          error: message.error ?? (content["error"] as Failure | undefined),
        });
        break;
      default:
        if (content["text"]) entries.push({ key, at, kind: "note", tone: "plain", text: text(content["text"]) });
    }
  }
  return entries;
}

/** Older messages before what is shown. */
export const prepend = (talk: Talk, older: readonly Message[]): Talk => ({
  ...talk,
  entries: [...fromMessages(older), ...talk.entries],
});

/** What the person has just sent, shown before the server has it. */
export const sent = (talk: Talk, turn: string, words: string, at: string): Talk => ({
  ...talk,
  entries: [...talk.entries, { key: `u${turn}`, at, kind: "user", text: words, sending: true }],
});
export const unsent = (talk: Talk): Talk => ({
  ...talk,
  entries: talk.entries.filter((entry) => !(entry.kind === "user" && entry.sending)),
});

/** Partial texts have the seq of the whole; offset counts bytes, and an overlap replaces. */
function grow(entries: Entry[], kind: "text" | "thinking", event: { seq: number; at: string; content: string; offset?: number }): Entry[] {
  const key = `e${event.seq}`;
  const last = entries[entries.length - 1];
  if (last?.key === key && (last.kind === "text" || last.kind === "thinking")) {
    const have = new TextEncoder().encode(last.text);
    const offset = event.offset ?? have.length;
    if (offset > have.length) return entries; // a piece was left out: the whole follows
    const kept = new TextDecoder().decode(have.subarray(0, offset));
    return [...entries.slice(0, -1), { ...last, text: kept + event.content }];
  }
  if ((event.offset ?? 0) > 0) return entries;
  return [...entries, { key, at: event.at, kind, text: event.content, partial: true }];
}

function whole(entries: Entry[], kind: "text" | "thinking", event: { seq: number; at: string; content: string }): Entry[] {
  const key = `e${event.seq}`;
  const entry: Entry = { key, at: event.at, kind, text: event.content };
  const at = entries.findIndex((old) => old.key === key);
  // Partial texts of anything else can't become whole any more.
  const kept = entries.filter((old, i) => i === at || !("partial" in old && old.partial));
  if (at < 0) return event.content ? [...kept, entry] : kept;
  return kept.map((old) => (old.key === key ? entry : old));
}

const arrived = (entries: Entry[]): Entry[] =>
  entries.map((entry) => (entry.kind === "user" && entry.sending ? { ...entry, sending: false } : entry));

/** One recorded (or partial) event. prompt: what began the run, when this page did not send it. */
export function moved(talk: Talk, event: RunEvent): Talk {
  const { entries, run } = talk;
  const key = `e${event.seq}`;
  switch (event.type) {
    case "init":
      return { entries: arrived(entries), run: { id: event.runId, status: "running" } };
    case "text":
    case "thinking": {
      const next = event.isPartial ? grow(entries, event.type, event) : whole(entries, event.type, event);
      return { entries: next, run: { id: event.runId, status: "running" } };
    }
    case "tool_use":
      return {
        run: { id: event.runId, status: "running" },
        entries: [
          ...entries,
          { key, at: event.at, kind: "tool", callId: event.toolCallId, name: event.toolName, input: event.input, status: "open" },
        ],
      };
    case "tool_result":
      return {
        run: { id: event.runId, status: "running" },
        entries: settle(entries, event.toolCallId, event.at, { status: event.status, output: event.output, error: event.error }),
      };
    case "approval_gate":
    case "memory_edit_request":
    case "waiting":
      return { entries, run: { id: event.runId, status: "waiting" } };
    case "error":
      return { run, entries: [...entries, { key, at: event.at, kind: "note", tone: "danger", text: event.message }] };
    case "done": {
      const rest = entries.filter((entry) => !("partial" in entry && entry.partial));
      if (event.stopReason === "cancelled") rest.push({ key, at: event.at, kind: "note", tone: "plain", text: "Stopped." });
      return { entries: rest, run: null };
    }
    default:
      return run ? { entries, run: { ...run, status: "running" } } : talk;
  }
}

/** A run that somebody else began here: its prompt stands before its first event. */
export function withPrompt(talk: Talk, run: string, prompt: string, at: string): Talk {
  const key = `p${run}`;
  if (talk.entries.some((entry) => entry.key === key)) return talk;
  return { ...talk, entries: [...talk.entries, { key, at, kind: "user", text: prompt }] };
}

// A conversation as it is shown: made from the thread's messages, then moved on by its events. Pure, so
// that every order of messages, events and reconnects can be tested.
import type { Failure, Message, RunEnd, RunEvent } from "../../api/types";

interface Base {
  key: string;
  at: string;
}
export type Entry = Base &
  (
    | { kind: "user"; text: string; sending?: boolean; woke?: boolean }
    | { kind: "text" | "thinking"; text: string; partial?: number } // partial: its bytes so far
    | {
        kind: "tool";
        callId: string;
        name: string;
        input: unknown;
        status: "open" | "completed" | "failed";
        output?: unknown;
        words?: string; // the output as a person reads it
        error?: Failure;
        ms?: number;
      }
    | { kind: "note"; text: string; tone: "plain" | "danger"; passing?: boolean } // passing: it is tried again
  );

export interface Talk {
  entries: Entry[];
  run: { id: string; status: "running" | "waiting" } | null;
  orphans: Message[]; // results whose calls stand in messages that were not read yet
}
export const NO_TALK: Talk = { entries: [], run: null, orphans: [] };

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** JSON in a text as what it means; else as it is. */
export function argumentsOf(raw: unknown): unknown {
  if (typeof raw !== "string") return raw ?? null;
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    return raw;
  }
}

interface Result {
  status: "completed" | "failed";
  output?: unknown;
  words?: string | undefined;
  error?: Failure | undefined;
}
/** null: no such call is open. */
function settle(entries: Entry[], callId: string, at: string, result: Result): Entry[] | null {
  // The newest open call of this id: a model may use an id again in another turn.
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i] as Entry;
    if (entry.kind !== "tool" || entry.callId !== callId || entry.status !== "open") continue;
    const ms = Math.max(0, Date.parse(at) - Date.parse(entry.at));
    const next: Entry = { ...entry, status: result.status, output: result.output, ms };
    if (result.words) next.words = result.words;
    if (result.error) next.error = result.error;
    return [...entries.slice(0, i), next, ...entries.slice(i + 1)];
  }
  return null;
}

const ENDED: Failure = { code: "cancelled", message: "The run ended before this did." };
/** Calls that no run works on any more. */
const ended = (entries: Entry[]): Entry[] =>
  entries.map((entry) => (entry.kind === "tool" && entry.status === "open" ? { ...entry, status: "failed", error: ENDED } : entry));

/** What is said of a run that did not end with an answer: the same live and read back. */
function endNote(runId: string, at: string, stopReason: string, error?: { message: string }): Entry | null {
  const key = `end-${runId}`;
  if (stopReason === "cancelled") return { key, at, kind: "note", tone: "plain", text: "Stopped." };
  return error ? { key, at, kind: "note", tone: "danger", text: error.message } : null;
}

/** Messages oldest first. */
export function fromMessages(messages: readonly Message[], ends: readonly RunEnd[] = []): Pick<Talk, "entries" | "orphans"> {
  const entries: Entry[] = [];
  const orphans: Message[] = [];
  for (const message of messages) {
    const { content = {}, createdAt: at } = message;
    const key = `m${message.n}`;
    switch (message.kind) {
      case "user":
      case "observation":
        entries.push({ key, at, kind: "user", text: text(content["text"]), ...(message.kind === "observation" ? { woke: true } : {}) });
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
      case "toolResult": {
        const settled = settle(entries, message.toolCallId ?? "", at, {
          status: message.status === "success" ? "completed" : "failed",
          output: content["output"],
          words: message.words,
          error: message.error ?? (content["error"] as Failure | undefined),
        });
        if (settled) entries.splice(0, entries.length, ...settled);
        else orphans.push(message);
        break;
      }
      default:
        if (content["text"]) entries.push({ key, at, kind: "note", tone: "plain", text: text(content["text"]) });
    }
    const end = ends.find(({ after }) => after === message.n);
    const note = end && endNote(end.runId, end.at, end.stopReason, end.error);
    if (note) entries.push(note);
  }
  return { entries, orphans };
}

/** The newest messages, and the run that has not ended. */
export function opened(messages: readonly Message[], run: Talk["run"], ends: readonly RunEnd[] = []): Talk {
  const { entries, orphans } = fromMessages(messages, ends);
  return { entries: run ? entries : ended(entries), orphans, run };
}

/** Older messages before what is shown. Calls in them whose results stand below get these now. */
export function prepend(talk: Talk, older: readonly Message[], ends: readonly RunEnd[] = []): Talk {
  const { entries, orphans } = fromMessages([...older, ...talk.orphans], ends);
  const known = new Set(talk.entries.map((entry) => entry.key)); // a run may reach over both pages
  return { ...talk, orphans, entries: [...ended(entries).filter((entry) => !known.has(entry.key)), ...talk.entries] };
}

/** What the person has just sent, shown before the server has it. */
export const sent = (talk: Talk, turn: string, words: string, at: string): Talk => ({
  ...talk,
  entries: [...talk.entries, { key: `u${turn}`, at, kind: "user", text: words, sending: true }],
});
export const unsent = (talk: Talk): Talk => ({
  ...talk,
  entries: talk.entries.filter((entry) => !(entry.kind === "user" && entry.sending)),
});

interface Piece {
  type: "text" | "thinking";
  seq: number;
  at: string;
  content: string;
  offset?: number;
}
const isPartial = (entry: Entry): boolean => "partial" in entry && entry.partial !== undefined;
const size = (words: string): number => new TextEncoder().encode(words).length;

/** Partial texts have the seq of the whole; offset counts bytes, and an overlap replaces. */
function grow(entries: Entry[], { type: kind, seq, at, content, offset }: Piece): Entry[] {
  const key = `e${seq}`;
  const i = entries.findIndex((entry) => entry.key === key);
  const old = entries[i];
  if (!old) return (offset ?? 0) > 0 ? entries : [...entries, { key, at, kind, text: content, partial: size(content) }];
  if (!isPartial(old) || (old.kind !== "text" && old.kind !== "thinking")) return entries; // it is whole already
  const have = old.partial ?? 0;
  const from = offset ?? have;
  if (from > have) return entries; // a piece was left out: the whole follows
  const kept = from === have ? old.text : new TextDecoder().decode(new TextEncoder().encode(old.text).subarray(0, from));
  const next: Entry = { ...old, kind, text: kept + content, partial: from + size(content) };
  return [...entries.slice(0, i), next, ...entries.slice(i + 1)];
}

function whole(entries: Entry[], { type: kind, seq, at, content }: Piece): Entry[] {
  const key = `e${seq}`;
  const entry: Entry = { key, at, kind, text: content };
  const known = entries.some((old) => old.key === key);
  // Partial texts before it can't become whole any more; one after it still may.
  const kept = entries.filter((old) => old.key === key || !isPartial(old) || Number(old.key.slice(1)) > seq);
  if (known) return content ? kept.map((old) => (old.key === key ? entry : old)) : kept.filter((old) => old.key !== key);
  if (!content) return kept;
  const place = kept.findIndex(isPartial);
  return place < 0 ? [...kept, entry] : [...kept.slice(0, place), entry, ...kept.slice(place)];
}

const arrived = (entries: Entry[]): Entry[] =>
  entries.map((entry) => (entry.kind === "user" && entry.sending ? { ...entry, sending: false } : entry));

/** A failure that was tried again is past when the run goes on. */
const goesOn = (talk: Talk, event: RunEvent): Talk =>
  event.type !== "error" && talk.entries.some((entry) => entry.kind === "note" && entry.passing)
    ? { ...talk, entries: talk.entries.filter((entry) => !(entry.kind === "note" && entry.passing)) }
    : talk;

/** One recorded (or partial) event. prompt: what began the run, when this page did not send it. */
export function moved(before: Talk, event: RunEvent): Talk {
  const talk = goesOn(before, event);
  const { entries, run } = talk;
  const key = `e${event.seq}`;
  switch (event.type) {
    case "init":
      return { ...talk, entries: arrived(entries), run: { id: event.runId, status: "running" } };
    case "text":
    case "thinking": {
      const next = event.isPartial ? grow(entries, event) : whole(entries, event);
      return { ...talk, entries: next, run: { id: event.runId, status: "running" } };
    }
    case "tool_use":
      return {
        ...talk,
        run: { id: event.runId, status: "running" },
        entries: [
          ...entries,
          { key, at: event.at, kind: "tool", callId: event.toolCallId, name: event.toolName, input: event.input, status: "open" },
        ],
      };
    case "tool_result":
      return {
        ...talk,
        run: { id: event.runId, status: "running" },
        entries: settle(entries, event.toolCallId, event.at, { status: event.status, output: event.output, words: event.words, error: event.error }) ?? entries,
      };
    case "notice":
      return { ...talk, entries: [...entries, { key, at: event.at, kind: "note", tone: "plain", text: event.content }] };
    case "approval_gate":
    case "memory_edit_request":
    case "waiting":
      return { ...talk, run: { id: event.runId, status: "waiting" } };
    case "error": {
      const note: Entry = event.recoverable
        ? { key, at: event.at, kind: "note", tone: "danger", text: event.message, passing: true }
        : { key: `end-${event.runId}`, at: event.at, kind: "note", tone: "danger", text: event.message };
      return { ...talk, entries: [...entries.filter((entry) => entry.key !== note.key), note] };
    }
    case "done": {
      const rest = ended(entries.filter((entry) => !isPartial(entry)));
      const note = event.stopReason === "cancelled" ? endNote(event.runId, event.at, "cancelled") : null;
      return { ...talk, entries: note ? [...rest.filter((entry) => entry.key !== note.key), note] : rest, run: null };
    }
    default:
      return run ? { ...talk, run: { ...run, status: "running" } } : talk;
  }
}

/** A run that somebody else began here: its prompt stands before the events that came meanwhile. */
export function withPrompt(talk: Talk, init: { seq: number; runId: string; at: string }, prompt: string): Talk {
  const key = `p${init.runId}`;
  const { entries } = talk;
  if (entries.some((entry) => entry.key === key)) return talk;
  const after = entries.findIndex((entry) =>
    entry.key === `end-${init.runId}` || (entry.key.startsWith("e") && Number(entry.key.slice(1)) > init.seq));
  const i = after < 0 ? entries.length : after;
  return { ...talk, entries: [...entries.slice(0, i), { key, at: init.at, kind: "user", text: prompt }, ...entries.slice(i)] };
}

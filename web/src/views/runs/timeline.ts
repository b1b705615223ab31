// A run's log as lines for people: who did what, when, how long it took, and what stood in the way.
import type { Failure, TraceEvent } from "../../api/types";
import { duration, firstLine, words } from "../../format";
import { notMadeWords, plainText, reasonOf } from "../shared/runs";
import { wakeTitle } from "../shared/woke";

export type Lane = "model" | "tools" | "person" | "run";
export interface Line {
  key: string;
  lane: Lane;
  at: number; // ms since the run began
  from: number; // where its bar begins
  label: string;
  text: string;
  note?: string;
  tone?: "good" | "warn" | "danger" | "muted";
  detail?: unknown; // shown when it is opened
  markdown?: string;
  item?: string;
}

/** Rules of the program by the name of their thread, as a person would say them. */
const RULES: Record<string, string> = {
  ask_first: "approval gate: a risky act needs your word first",
  a_no_stays_no: "your no",
  no_danger: "dangerous commands are never run",
  refuse_danger: "dangerous commands are never run",
  no_refused: "the call was refused before it began",
  refuse_refused: "the call was refused before it began",
  no_killed_class: "this class of tools is stopped",
  refuse_killed_class: "this class of tools is stopped",
  kill: "everything is stopped",
  iterations: "the limit of iterations",
  tool_calls: "the limit of tool calls",
};
export const rule = (thread: string): string => RULES[thread] ?? words(thread);

const failure = (event: TraceEvent): Failure | undefined => event.message?.content?.["error"] as Failure | undefined;
const text = (value: unknown): string => (typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value));

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
/** The one argument that says most. */
export function gist(args: unknown): string {
  if (!args || typeof args !== "object") return firstLine(text(args), 100);
  const members = args as Record<string, unknown>;
  const known = ["command", "path", "url", "query", "question", "channel", "to", "title"].find((key) => typeof members[key] === "string");
  const first = known ?? Object.keys(members).find((key) => typeof members[key] === "string");
  return first ? firstLine(String(members[first]), 100) : "";
}

const STOP: Record<string, string> = { end_turn: "it had an answer", cancelled: "it was stopped", error: "it could not go on" };
const number = (value: unknown): number => (typeof value === "number" ? value : 0);

interface Call {
  tool: string;
  args: unknown;
}

/** One line of an event; null when another line says it already. */
function line(event: TraceEvent, calls: Map<number, Call>, denied: Map<number, string>): Omit<Line, "key" | "at" | "from"> | null {
  const call = event.key === undefined ? undefined : calls.get(event.key);
  const tool = words(event.message?.tool ?? event.item?.tool ?? event.operation?.tool ?? call?.tool ?? "");
  const wrong = failure(event);
  const content = event.message?.content ?? {};
  switch (event.type) {
    case "start":
      return { lane: "run", label: "start", text: wakeTitle(text(content["text"])) ?? firstLine(text(content["text"]), 160), detail: event.data, ...(text(content["text"]).length > 160 ? { markdown: text(content["text"]) } : {}) };
    case "musing":
      return { lane: "model", label: "thinking", text: firstLine(plainText(text(content["thinking"])), 140), tone: "muted", markdown: text(content["thinking"]) };
    case "said":
      return { lane: "model", label: "says", text: firstLine(plainText(text(content["text"])), 140), markdown: text(content["text"]) };
    case "thought": {
      const { in: input, out, cached, estimated } = event.data ?? {};
      const share = number(cached) ? `, ${number(cached)} from cache` : "";
      return { lane: "model", label: "think", text: `${number(input)} → ${number(out)} tokens${share}${estimated ? " (estimated)" : ""}`, ...(event.attributes.includes("failed") ? { tone: "danger" as const, note: "failed" } : {}) };
    }
    case "call": {
      const args = parsed(content["arguments"]);
      if (event.key !== undefined) calls.set(event.key, { tool: event.message?.tool ?? "", args });
      const judged = event.attributes.filter((word) => ["risky", "dangerous", "refused", "class_killed"].includes(word)).map(words);
      return { lane: "tools", label: "call", text: `${tool} ${gist(args)}`.trim(), detail: args, ...(judged.length ? { note: judged.join(", "), tone: "warn" as const } : {}) };
    }
    case "gate":
      return { lane: "person", label: "asks", text: event.item?.title ?? tool, note: `blocked by ${rule(event.by?.thread ?? "ask_first")}`, tone: "warn", ...(event.item ? { item: event.item.id } : {}) };
    case "asked":
      return { lane: "person", label: "asks", text: gist(parsed(event.item?.body)) || (event.item?.title ?? "a question"), ...(event.item ? { item: event.item.id } : {}) };
    case "answer": {
      const yes = event.attributes.includes("allowed");
      const who = event.item?.decidedBy === "owner" || !event.item?.decidedBy ? "you" : event.item.decidedBy;
      const word = event.item?.state ?? (yes ? "approved" : "rejected");
      return { lane: "person", label: "person", text: `${word} by ${who}`, tone: yes ? "good" : "muted", ...(event.item?.reason ? { note: `“${event.item.reason}”` } : {}), ...(event.item ? { item: event.item.id } : {}) };
    }
    case "told":
      return { lane: "person", label: "person", text: "answered by you", tone: "good", ...(event.item ? { item: event.item.id } : {}) };
    case "edit":
      return { lane: "person", label: "edit", text: "arguments changed by you", detail: event.data };
    case "denied":
      if (event.key !== undefined) denied.set(event.key, rule(event.by?.thread ?? ""));
      return null;
    case "acted":
      return wrong
        ? { lane: "tools", label: "acted", text: `${tool}: ${wrong.message}`, note: wrong.code, tone: "danger", detail: content }
        : { lane: "tools", label: "acted", text: tool, tone: "good", detail: content["output"] ?? content };
    case "settled": {
      const why = event.key === undefined ? undefined : denied.get(event.key);
      if (why === undefined) return null;
      if (wrong && notMadeWords(wrong)) return { lane: "tools", label: "not done", text: `${tool}: ${notMadeWords(wrong)}`, tone: "muted", detail: content, ...(reasonOf(wrong) ? { note: `“${reasonOf(wrong)}”` } : {}) };
      return { lane: "tools", label: "blocked", text: `${tool}: ${wrong?.message ?? "not done"}`, note: `by ${why}`, tone: "danger", detail: content };
    }
    case "done": {
      const reason = text(event.data?.["stopReason"]);
      return { lane: "run", label: "done", text: STOP[reason] ?? words(reason || "over"), tone: reason === "error" ? "danger" : reason === "cancelled" ? "muted" : "good" };
    }
    case "cancel": return { lane: "person", label: "stop", text: "the run was stopped", tone: "warn" };
    case "kill": return { lane: "person", label: "stop", text: "everything was stopped", tone: "danger" };
    case "unkill": return { lane: "person", label: "resume", text: "agents may work again" };
    case "give_up": return { lane: "run", label: "gives up", text: event.by ? rule(event.by.thread) : "", tone: "danger" };
    case "spent": return { lane: "run", label: "limit", text: "a budget is spent", tone: "warn", detail: event.data };
    case "set_mode": return { lane: "person", label: "mode", text: event.attributes.includes("wiggum") ? "wiggum" : "structured" };
    case "resume": return { lane: "run", label: "resume", text: "after a restart", tone: "muted" };
    case "check": case "checked": return event.type === "checked" ? { lane: "model", label: "check", text: event.attributes.includes("finished") ? "finished" : "not finished yet" } : null;
    case "note": return { lane: "run", label: "note", text: text(event.data?.["text"] ?? event.data), tone: "muted" };
    case "think": case "act": case "observe": case "waiting": case "judged": return null;
    default: return { lane: "run", label: words(event.type), text: "", detail: event };
  }
}

export function timeline(events: readonly TraceEvent[]): Line[] {
  const first = events[0];
  if (!first) return [];
  const start = Date.parse(first.at);
  const calls = new Map<number, Call>();
  const denied = new Map<number, string>();
  const lines: Line[] = [];
  let asked = 0; // where the lines of the present thought begin
  for (const event of events) {
    const made = line(event, calls, denied);
    const at = Date.parse(event.at) - start;
    const took = event.type === "done" ? 0 : event.tookMs ?? 0;
    if (event.type === "think") asked = lines.length;
    if (!made) continue;
    const whole: Line = { ...made, key: String(event.row), at, from: Math.max(0, at - took) };
    // The log has a thought after what came of it; people read it before.
    if (event.type === "thought") lines.splice(asked, 0, whole);
    else lines.push(whole);
  }
  return lines;
}
/** Every event as it is, for who wants all. */
export const raw = (events: readonly TraceEvent[]): Line[] => {
  const start = Date.parse(events[0]?.at ?? "");
  return events.map((event) => {
    const at = Date.parse(event.at) - start;
    const who = event.by ? `${rule(event.by.thread)} ${event.by.doing}` : "from outside";
    return { key: String(event.row), lane: "run", at, from: at, label: event.type, text: who, note: event.attributes.join(", "), detail: event } as Line;
  });
};

export const took = (one: Line): string => (one.at > one.from ? duration(one.at - one.from) : "");
/** "24 ms", "1.8 s", "3:14". */
export function clock(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n: number): string => String(n).padStart(2, "0");
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

export interface Span {
  key: string;
  lane: Exclude<Lane, "run">;
  x: number; // 0 to 1
  width: number;
  line: Line;
}
/** Where bars stand: long waits are pressed together, so that milliseconds beside days can be seen. */
export function spans(lines: readonly Line[]): Span[] {
  const points = [...new Set(lines.flatMap((one) => [one.from, one.at]))].sort((a, b) => a - b);
  const place = new Map<number, number>();
  let sum = 0;
  for (const [i, point] of points.entries()) {
    if (i > 0) sum += Math.log2(2 + point - (points[i - 1] as number));
    place.set(point, sum);
  }
  const whole = sum || 1;
  return lines.flatMap((one) => {
    if (one.lane === "run" || one.at === one.from) return [];
    const x = (place.get(one.from) ?? 0) / whole;
    return [{ key: one.key, lane: one.lane, x, width: Math.max(0.006, (place.get(one.at) ?? 0) / whole - x), line: one }];
  });
}

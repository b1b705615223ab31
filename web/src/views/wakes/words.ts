// What wakes an agent, and what became of it, in people's words.
import type { Author, Matched, Source, Subscription, Token, Wake, WakeStatus } from "../../api/wakes";
import { duration, plural, relative, words } from "../../format";
import type { Tone } from "../../ui";
import type { WakeNames } from "../shared/woke";

export const STATUS: Record<WakeStatus, { word: string; tone: Tone }> = {
  queued: { word: "waits", tone: "plain" },
  running: { word: "awake", tone: "info" },
  completed: { word: "done", tone: "good" },
  skipped_sleeping: { word: "slept on", tone: "plain" },
  skipped_destroyed: { word: "skipped: gone", tone: "plain" },
  skipped_paused: { word: "skipped: paused", tone: "warn" },
  skipped_killed: { word: "skipped: stopped", tone: "warn" },
  skipped_noop: { word: "nothing to do", tone: "plain" },
  coalesced: { word: "joined another", tone: "plain" },
  failed_terminal: { word: "failed", tone: "danger" },
};
export const STATUSES = Object.keys(STATUS) as WakeStatus[];
export const look = (status: WakeStatus): { word: string; tone: Tone } => STATUS[status] ?? { word: words(status), tone: "plain" };

export const SOURCE: Record<Source, string> = {
  journal: "something in the journal changes", agent: "an agent says or makes something", files: "a file changes", webhook: "a webhook is called",
};
/** What may change, by the keys that changes carry. */
export const KEYS: Record<"journal" | "agent", { value: string; word: string }[]> = {
  journal: [
    { value: "TASK", word: "a task" }, { value: "CHECKLIST", word: "a checklist" }, { value: "NOTE", word: "a note or measurement" }, { value: "WORKOUT", word: "a workout" },
    { value: "TIME_ENTRY", word: "logged time" }, { value: "DAY_PLAN", word: "the plan of a day" }, { value: "RATING", word: "a rating" }, { value: "AUDIO", word: "a recording" },
    { value: "CATEGORY", word: "a category" }, { value: "LABEL", word: "a label" },
  ],
  agent: [
    { value: "AGENT_REPORT", word: "a report" }, { value: "AGENT_MESSAGE", word: "a message" }, { value: "AGENT_STATE", word: "an agent's state" }, { value: "AGENT", word: "an agent itself" },
  ],
};
const KEY_WORDS = new Map([...KEYS.journal, ...KEYS.agent].map(({ value, word }) => [value, word]));
export const tokenWord = (token: Token): string =>
  token.class === "semanticKey" ? KEY_WORDS.get(token.value) ?? words(token.value.toLowerCase())
    : token.class === "subtypeToken" ? `${words(token.namespace ?? "")} ${token.value}`.trim() : `record ${token.value.slice(0, 8)}`;

export const AUTHOR: Record<Author, string> = { human: "you", agent: "other agents", sync: "another machine", self: "itself" };
const list = (all: string[], last = "or"): string => (all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} ${last} ${all[all.length - 1]}`);

const DAY_NAMES: Record<string, string> = { mo: "Mon", tu: "Tue", we: "Wed", th: "Thu", fr: "Fri", sa: "Sat", su: "Sun" };
/** "you change a task where …, 07:00 to 22:00, at most every 5 min". */
export function inWords(subscription: Subscription): string {
  const { source, tokens, predicate, authors, activeHours, cooldownSeconds, folder, glob } = subscription;
  const what = source === "files" ? `a file in ${folder ?? "a folder"}${glob ? ` (${glob})` : ""} changes`
    : source === "webhook" ? SOURCE.webhook
      : `${list(authors.map((author) => AUTHOR[author] ?? author))} ${source === "agent" ? "change" : "change"} ${list(tokens.map(tokenWord)) || "anything"}`;
  const days = activeHours?.days?.length && activeHours.days.length < 7 ? ` on ${list(activeHours.days.map((day) => DAY_NAMES[day] ?? day), "and")}` : "";
  return [
    what, predicate && `where ${predicate}`, activeHours && `between ${activeHours.from} and ${activeHours.to}${days}`,
    cooldownSeconds > 0 && `at most every ${duration(cooldownSeconds * 1000)}`,
  ].filter(Boolean).join(", ");
}

export const kind = (type: string): string => words(type.replace(/([A-Z])/g, " $1").toLowerCase());
/** What changed: "Fix fence", "Fix fence and 2 more", "2 files changed"; "": nothing that is known. */
function what({ records, recordCount, details = {} }: Wake): string {
  const files = details["files"] as unknown[] | undefined;
  const [first] = records ?? [];
  const more = Math.max(recordCount ?? 0, records?.length ?? 0) - 1;
  if (files?.length) return `${plural(Number(details["fileCount"] ?? files.length), "file")} changed`;
  if (details["event"]) return "a webhook was called";
  if (!first) return "";
  return `${first.title || `a ${kind(first.type)} changed`}${more > 0 ? ` and ${more} more` : ""}`;
}
/** Why it woke: "A task is new: Fix fence". */
export function cause(wake: Wake, names?: WakeNames): string {
  const details = wake.details ?? {};
  const missed = details["missed"] as { count?: number } | undefined;
  const again = details["again"] as { name?: string } | undefined;
  const said = typeof details["words"] === "string" && details["words"] ? `: ${details["words"]}` : "";
  if (wake.reasonId === "sleep") return "its sleep was over";
  const name = wake.name || (wake.reasonId && (names?.subscriptions.get(wake.reasonId) || names?.timers.get(wake.reasonId))) || "";
  switch (wake.reason) {
    case "timer": return details["alarm"] ? `an alarm it had set${name ? `: ${name}` : ""}` : `by the clock${name ? `: ${name}` : ""}`;
    case "recoveryCatchup": return again ? `tries again what failed${again.name ? `: ${again.name}` : ""}` : `${missed?.count ? `caught up on ${plural(missed.count, "missed time")}` : wake.reasonId === "resume" ? "goes on after a pause, stop or dormancy" : "caught up on what it missed"}${name ? `: ${name}` : ""}`;
    case "manual": return `you woke it${said}`;
    case "userInitiated": return `you spoke to it${said}`;
    case "subscription": return [name, what(wake)].filter(Boolean).join(": ") || "something changed";
    default: return words(wake.reason);
  }
}
const begun = (text: string): string => (text ? text.charAt(0).toUpperCase() + text.slice(1) : "");
/** Who made the change; undefined: nobody did, or it is not known. */
export function authorOf(wake: Wake): string | undefined {
  const { author, authorId } = (wake.details ?? {}) as { author?: Author; authorId?: string };
  return !author ? undefined : author === "agent" && authorId ? authorId : AUTHOR[author] ?? author;
}
/** One sentence that explains how it stands; of one that waits, until when. */
export function explained(wake: Wake): string {
  if (wake.status === "queued" && wake.notBefore && Date.parse(wake.notBefore) > Date.now())
    return `${begun(wake.why || "it waits")}; it wakes ${relative(wake.notBefore)}.`;
  if (wake.why) return /[.!?]$/.test(wake.why) ? begun(wake.why) : `${begun(wake.why)}.`;
  switch (wake.status) {
    case "queued": return "It waits for its turn.";
    case "running": return "The agent is at it now.";
    case "completed": return "The agent ran and ended well.";
    case "coalesced": return "Another wake of the same agent took this along.";
    case "failed_terminal": return wake.errorCode ? `It ended with ${words(wake.errorCode)}.` : "It failed.";
    default: return `${begun(look(wake.status).word)}.`;
  }
}
/** What a match leads to where there must be time between wakes, or hours are kept: a wake at once, one that
    waits, or a part in the wake that waits already. Newest first, as they come. */
export function paced(items: readonly Matched[], cooldownSeconds: number): { item: Matched; pace: "wakes" | "waits" | "joins" | "no" }[] {
  let free = -Infinity; // when the next may wake
  let waits = -Infinity; // when the one that waits wakes
  return [...items].reverse().map((item) => {
    if (item.outcome !== "yes") return { item, pace: "no" as const };
    const at = Date.parse(item.at);
    if (at < waits) return { item, pace: "joins" as const };
    const due = Math.max(at, free, item.notBefore ? Date.parse(item.notBefore) : at);
    free = due + cooldownSeconds * 1000;
    if (due === at) return { item, pace: "wakes" as const };
    waits = due;
    return { item, pace: "waits" as const };
  }).reverse();
}
/** The column that a message about a predicate names; 0: none. */
export const columnOf = (message: string): number => Number(/column (\d+)/i.exec(message)?.[1] ?? 0);

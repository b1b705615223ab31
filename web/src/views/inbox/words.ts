// What an item is, in a sentence.
import type { InboxItem, ItemState, MemoryEdit } from "../../api/types";
import { firstLine, words } from "../../format";
import type { Tone } from "../../ui";

const record = (value: unknown): Record<string, unknown> =>
  value && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** What a memory item shows; null when it is none or lacks it. */
export function memoryOf(item: InboxItem): MemoryEdit | null {
  const details = record(item.details);
  if (item.kind !== "memory" || typeof details["path"] !== "string") return null;
  return {
    ...(details as unknown as MemoryEdit),
    current_content: typeof details["current_content"] === "string" ? details["current_content"] : null,
    proposed_content: text(details["proposed_content"]),
  };
}

export interface Question {
  question: string;
  choices: string[];
}
export function questionOf(item: InboxItem): Question {
  const body = record(item.details ?? item.body ?? item.input);
  const source = text(body["question"]) ? body : record(item.body ?? item.input);
  const choices = source["choices"];
  return {
    question: text(source["question"]) || item.title || "A question",
    choices: Array.isArray(choices) ? choices.map((choice) => (typeof choice === "string" ? choice : JSON.stringify(choice))) : [],
  };
}

export const inputOf = (item: InboxItem): Record<string, unknown> => record(item.input ?? item.body);
export const detailsOf = (item: InboxItem): Record<string, unknown> =>
  Object.keys(record(item.details)).length > 0 ? record(item.details) : inputOf(item);

export const KIND: Record<string, string> = {
  tool: "Action", memory: "Memory", question: "Question", consent: "Consent", spawn: "New helper",
  unknown_effect: "Unclear outcome", input_required: "Input needed", escalated: "For you to know",
  agent_proposal: "New agent", skill_script: "Skill script", persona: "Persona", config: "Settings",
};
export const kindWord = (item: InboxItem): string => KIND[item.kind] ?? words(item.kind);

/** The line of the list: what is wanted, as specific as it fits. */
export function summary(item: InboxItem): string {
  const memory = memoryOf(item);
  if (memory) {
    const verb = memory.operation === "delete" ? "delete" : memory.current_content === null ? "remember" : "change";
    return `wants to ${verb} ${memory.path}`;
  }
  switch (item.kind) {
    case "question": return `asks: ${firstLine(questionOf(item).question)}`;
    case "agent_proposal": return `proposes the agent “${text(detailsOf(item)["displayName"]) || "unnamed"}”`;
    case "skill_script": {
      const { skill, script } = { ...inputOf(item), ...detailsOf(item) };
      return text(skill) && text(script) ? `wants to run ${text(script)} of the skill ${text(skill)}` : "wants to run a skill's script";
    }
    case "unknown_effect": return `does not know whether this happened: ${item.title ?? words(item.toolName ?? "an action")}`;
    case "escalated": return "ran a command that made files which your tools would run; they were renamed";
    case "consent": return item.title ?? "needs your consent";
    case "tool": {
      const title = item.title || words(item.toolName ?? "do something");
      return `wants to ${title.charAt(0).toLowerCase()}${title.slice(1)}`;
    }
    default: return item.title ?? kindWord(item).toLowerCase();
  }
}
/** A second line: the command, the address, the path. */
export function target(item: InboxItem): string {
  const memory = memoryOf(item);
  if (memory) return memory.reason ? firstLine(memory.reason) : "";
  if (item.kind === "question") return questionOf(item).choices.join(" · ");
  if (item.preview) return firstLine(item.preview, 160);
  const input = inputOf(item);
  const first = ["command", "path", "url", "channel", "to", "query"].map((key) => input[key]).find((value) => typeof value === "string");
  return first ? firstLine(String(first), 160) : "";
}

/** Whose text the agent had read when it asked: only what others wrote. */
export function taintOf(item: InboxItem): string[] {
  return Array.isArray(item.taint) ? item.taint : [];
}

const STATE: Record<ItemState, { word: string; tone: Tone }> = {
  pending: { word: "waiting", tone: "accent" },
  approved: { word: "approved", tone: "good" },
  edited: { word: "approved with changes", tone: "good" },
  answered: { word: "answered", tone: "good" },
  rejected: { word: "rejected", tone: "plain" },
  expired: { word: "expired", tone: "plain" },
  withdrawn: { word: "withdrawn", tone: "plain" },
};
/** What tells of something that was done is seen, not approved. */
export const stateOf = (item: InboxItem): { word: string; tone: Tone } =>
  item.kind === "escalated" && item.state === "approved" ? { word: "seen", tone: "plain" } : STATE[item.state];
/** Which words a person may say. */
export function verbs(item: InboxItem): { approve: boolean; edit: boolean; reject: boolean; answer: boolean } {
  const pending = item.state === "pending";
  const question = item.kind === "question" || item.kind === "input_required";
  return {
    approve: pending && !question,
    edit: pending && ["tool", "memory", "agent_proposal"].includes(item.kind) && !(memoryOf(item)?.operation === "delete"),
    reject: pending && item.kind !== "escalated",
    answer: pending && question,
  };
}

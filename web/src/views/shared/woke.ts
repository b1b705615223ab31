// What an agent is told when it wakes (share/prompts/wake.md), taken apart for people: its first line names
// what woke it, its last paragraph is always the same, records stand in lines of their own.
import { useMemo } from "react";
import { useGet } from "../../api/store";

export interface WakeNames {
  subscriptions: Map<string, string>;
  timers: Map<string, string>;
}
export interface Woke {
  reason: string;
  id: string;
  told: string[]; // paragraphs: what its subscription, timer or person says
  changes: { type: string; id: string; title: string }[];
}

const HEAD = /^\[wake: (\w+)(?: ([^\]\s]*))?\]?/;
const RECORD = /^- (\w+) (\S+), by [^:]*: (.*)$/;

export const isWake = (text: string | undefined): boolean => !!text && HEAD.test(text);

const spaced = (type: string): string => type.replace(/([A-Z])/g, " $1").toLowerCase();
/** The title of a record, or its kind: as much as its JSON tells. */
function titleOf(type: string, json: string): string {
  try {
    const record = JSON.parse(json) as Record<string, unknown>;
    const words = [record["title"], record["subtype"], record["body"], record["description"], record["dimension"], record["name"]];
    const first = words.find((word) => typeof word === "string" && word);
    return typeof first === "string" ? first : spaced(type);
  } catch {
    return spaced(type);
  }
}

/** null: it is no wake. */
export function wokeBy(text: string): Woke | null {
  const head = HEAD.exec(text);
  if (!head) return null;
  const [, ...paragraphs] = text.slice(head[0].length).split(/\n{2,}/);
  const told: string[] = [];
  const changes: Woke["changes"] = [];
  for (const paragraph of paragraphs.slice(0, -1)) {
    const rest = paragraph.split("\n").filter((line) => {
      const found = RECORD.exec(line);
      if (found) changes.push({ type: found[1] ?? "", id: found[2] ?? "", title: titleOf(found[1] ?? "", found[3] ?? "") });
      return !found;
    });
    const kept = rest.join("\n").trim();
    if (kept && !/^What changed, as it is now:$/.test(kept)) told.push(kept);
  }
  return { reason: head[1] ?? "", id: head[2] ?? "", told, changes };
}

const WORDS: Record<string, string> = {
  subscription: "Something changed", timer: "By the clock", alarm: "An alarm it had set", recoveryCatchup: "Caught up on what was missed", sleep: "Slept until now", retry: "Tried again what failed", resume: "Went on after a pause, stop or dormancy", manual: "You woke it", userInitiated: "You spoke to it",
};
/** "A workout is logged: run", "You woke it: write a report"; null: it is no wake. Also of a text that was cut. */
export function wakeTitle(text: string | undefined, names?: WakeNames): string | null {
  const woke = wokeBy(text ?? "");
  if (!woke) return null;
  const name = names?.subscriptions.get(woke.id) ?? names?.timers.get(woke.id) ?? (woke.reason === "recoveryCatchup" ? WORDS[woke.id] : undefined) ?? WORDS[woke.reason] ?? "Woke by itself";
  const [change] = woke.changes;
  const about = woke.changes.length > 1 ? `${woke.changes.length} changes` : change?.title ?? (woke.reason === "manual" ? woke.told[0] : undefined);
  return about ? `${name}: ${about}` : name;
}

const named = (list: { id: string; name: string }[] | undefined): Map<string, string> => new Map((list ?? []).map(({ id, name }) => [id, name]));
/** What wakes agents, by name; read only when it is needed. */
export function useWakeNames(on: boolean): WakeNames {
  const subscriptions = useGet<{ items: { id: string; name: string }[] }>(on ? "/subscriptions" : null).data?.items;
  const timers = useGet<{ items: { id: string; name: string }[] }>(on ? "/timers" : null).data?.items;
  return useMemo(() => ({ subscriptions: named(subscriptions), timers: named(timers) }), [subscriptions, timers]);
}

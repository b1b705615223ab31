// Runs in words.
import type { Failure, Run, RunStatus } from "../../api/types";
import { firstLine, relative } from "../../format";
import type { Tone } from "../../ui";
import { wakeTitle, type WakeNames } from "./woke";

export const RUN: Record<RunStatus, { word: string; tone: Tone }> = {
  queued: { word: "queued", tone: "plain" },
  running: { word: "running", tone: "info" },
  waiting: { word: "waits for you", tone: "accent" },
  done: { word: "done", tone: "good" },
  cancelled: { word: "stopped", tone: "plain" },
  failed: { word: "failed", tone: "danger" },
};
/** A run that waits does not always wait for you. */
export const runLook = (run: Run): { word: string; tone: Tone } =>
  run.status !== "waiting" || !run.waitKind || run.waitKind === "inbox" ? RUN[run.status]
    : { word: run.waitKind === "rate_limit" ? "waits for the model" : "waits", tone: "plain" };

/** What it was asked, or why it woke, in a line. */
export const asked = (run: Run, names?: WakeNames): string => firstLine(wakeTitle(run.prompt, names) ?? plainText(run.prompt ?? ""), 140);

/** When a run that was rate limited asks the model again. */
export const resting = (run: Run): string =>
  `the model takes no more for a while${run.waitUntil ? `; it is asked again ${relative(run.waitUntil)}` : ""}`;

/** How it stands or what came of it, for a line under what it was asked. */
export function standing(run: Run): string {
  if (run.status === "waiting") return run.waitKind === "rate_limit" ? resting(run) : "needs your word to go on";
  if (run.status === "running") return "under way";
  if (run.status === "queued") return "waits for its turn";
  if (run.error) return run.error.message;
  return run.result ? firstLine(plainText(run.result), 140) : RUN[run.status].word;
}
/** Markdown without its marks, for one line. */
export const plainText = (text: string): string =>
  text.replace(/```[\s\S]*?```/g, " ").replace(/\|?[\s:|-]*\|[\s:|-]*/g, " ").replace(/^[\s#>]+/gm, " ").replace(/[*`]+/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\s+/g, " ").trim();

const dayOf = (time: string | Date): string => new Date(time).toDateString();
export const today = (runs: Run[], now = new Date()): Run[] => runs.filter((run) => dayOf(run.createdAt) === dayOf(now));

/** How many whole days a list of the newest runs covers: a list that was cut says nothing of the days before. */
export function daysKnown(runs: Run[], most: number, days: number, now = new Date()): number {
  const oldest = runs[runs.length - 1];
  if (!oldest || runs.length < most) return days;
  const start = new Date(oldest.createdAt);
  start.setHours(0, 0, 0, 0);
  return Math.max(1, Math.min(days, Math.floor((now.getTime() - start.getTime()) / 86_400_000)));
}
/** How many of each of the last days, the oldest first. */
export function perDay<I>(items: I[], time: (item: I) => string, amount: (item: I) => number, days: number, now = new Date()): { label: string; value: number }[] {
  const sums = new Map<string, number>();
  for (const item of items) sums.set(dayOf(time(item)), (sums.get(dayOf(time(item))) ?? 0) + amount(item));
  return Array.from({ length: days }, (_, i) => {
    const day = new Date(now);
    day.setDate(day.getDate() - (days - 1 - i));
    const label = i === days - 1 ? "today" : day.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
    return { label, value: sums.get(day.toDateString()) ?? 0 };
  });
}

const NOT_MADE: Record<string, string> = {
  rejected: "you rejected it", expired: "nobody decided in time", withdrawn: "the question was taken back", cancelled: "not done: the run ended first",
};
/** Why a call was not made, where that is no failure; else "". */
export const notMadeWords = (error: Failure): string => NOT_MADE[error.code] ?? "";
/** What the person gave as a reason for a no; a no without one has a sentence of ours. */
export const reasonOf = (error: Failure): string => (error.code === "rejected" && error.message !== "A person said no." ? error.message : "");

// Where blocks stand in a day. Moments are milliseconds; a day is the span that the server names, so a
// day on which clocks change has 23 or 25 hours and nothing here needs to know why.
import { clock } from "./words";

export interface Span {
  from: number;
  to: number;
}
export const STEP = 15 * 60_000;
const HOUR = 3_600_000;
export const PX = 60 / HOUR; // height of an hour: 60 px

export const top = (at: number, day: Span): number => (at - day.from) * PX;
export const tall = (span: Span): number => (span.to - span.from) * PX;
export const at = (y: number, day: Span): number => day.from + y / PX;
/** To the nearest quarter of an hour since the day began. */
export const snap = (time: number, day: Span): number => day.from + Math.round((time - day.from) / STEP) * STEP;
export const overlap = (a: Span, b: Span): boolean => a.from < b.to && b.from < a.to;
const clamp = (n: number, low: number, high: number): number => Math.max(low, Math.min(high, n));

/** What is free between the others, in order. */
export function gaps(others: readonly Span[], day: Span): Span[] {
  const out: Span[] = [];
  let from = day.from;
  for (const one of [...others].sort((a, b) => a.from - b.from)) {
    if (one.from > from) out.push({ from, to: Math.min(one.from, day.to) });
    from = Math.max(from, one.to);
  }
  if (from < day.to) out.push({ from, to: day.to });
  return out.filter((gap) => gap.to > gap.from);
}

/** The free place of this length nearest to the wish; with a direction, the first one that way: a block
    that is moved by keys goes past its neighbour. null: there is none. */
export function settle(others: readonly Span[], wish: Span, day: Span, direction: -1 | 0 | 1 = 0): Span | null {
  const length = wish.to - wish.from;
  const starts = gaps(others, day)
    .filter((gap) => gap.to - gap.from >= length)
    .map((gap) => clamp(wish.from, gap.from, gap.to - length))
    .filter((start) => (direction > 0 ? start >= wish.from : direction < 0 ? start <= wish.from : true));
  starts.sort((a, b) => Math.abs(a - wish.from) - Math.abs(b - wish.from));
  const start = starts[0];
  return start === undefined ? null : { from: start, to: start + length };
}

/** One edge somewhere else: not over a neighbour, not out of the day, never shorter than a step. */
export function stretched(others: readonly Span[], block: Span, edge: "from" | "to", time: number, day: Span): Span {
  if (edge === "to") {
    const next = Math.min(day.to, ...others.filter((one) => one.from >= block.to).map((one) => one.from));
    return { ...block, to: clamp(time, Math.min(block.from + STEP, next), next) };
  }
  const before = Math.max(day.from, ...others.filter((one) => one.to <= block.from).map((one) => one.to));
  return { ...block, from: clamp(time, before, Math.max(block.to - STEP, before)) };
}

/** The first free place from then on, else the first of the day. */
export function slot(others: readonly Span[], from: number, length: number, day: Span): Span | null {
  const start = snap(from, day);
  return settle(others, { from: start, to: start + length }, day, 1) ?? settle(others, { from: day.from, to: day.from + length }, day, 1);
}

/** The lines of the hours that this day has, with what clocks show there: an hour that is skipped is not
    there, one that comes twice is there twice. */
export function hours(day: Span, zone?: string): { at: number; label: string }[] {
  const out = [];
  for (let time = day.from; time < day.to; time += HOUR) out.push({ at: time, label: clock(time, zone) });
  return out;
}

const minutes = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));
/** The moment when clocks show this on that day: the first of two; where they skip it, the next minute that
    they show. "00:00" as an end is the end of the day. */
export function momentAt(shown: string, day: Span, zone?: string, end = false): number {
  const wanted = minutes(shown);
  if (end && wanted === 0) return day.to;
  const guess = day.from + wanted * 60_000;
  const off = minutes(clock(guess, zone)) - wanted;
  const near = guess - off * 60_000;
  if (minutes(clock(near, zone)) === wanted) {
    const earlier = near - HOUR;
    return earlier >= day.from && minutes(clock(earlier, zone)) === wanted ? earlier : near;
  }
  let time = Math.min(near, guess);
  while (time < day.to && minutes(clock(time, zone)) < wanted) time += 60_000;
  return time;
}

/** Beside each other where they overlap: which lane each takes, of how many. */
export function lanes<S extends Span>(spans: readonly S[]): { span: S; lane: number; of: number }[] {
  const out: { span: S; lane: number; of: number }[] = [];
  let group: typeof out = [];
  let until = -Infinity;
  const close = (): void => {
    const of = Math.max(0, ...group.map(({ lane }) => lane)) + 1;
    group.forEach((one) => (one.of = of));
    group = [];
  };
  for (const span of [...spans].sort((a, b) => a.from - b.from || b.to - a.to)) {
    if (span.from >= until) close();
    const taken = new Set(group.filter((one) => one.span.to > span.from).map(({ lane }) => lane));
    let lane = 0;
    while (taken.has(lane)) lane++;
    const one = { span, lane, of: 1 };
    group.push(one);
    out.push(one);
    until = Math.max(until, span.to);
  }
  close();
  return out;
}

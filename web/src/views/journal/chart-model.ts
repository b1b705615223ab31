// Ratings as lines over days.
import type { Rating } from "../../api/journal";
import { addDays, dayOf, daysBetween } from "./words";

export interface Line {
  dimension: string;
  points: { day: string; mean: number; count: number }[];
}
/** The day that a rating speaks of: of a day's plan that day, else when it was rated. */
export const ratedDay = (rating: Rating): string =>
  rating.targetType === "dayPlan" && rating.targetId.startsWith("dayplan-") ? rating.targetId.slice(8) : dayOf(rating.ratedAt ?? rating.createdAt ?? 0);

/** The mean of each day, by dimension, in the order of the alphabet. */
export function lines(ratings: readonly Rating[], from: string, to: string): Line[] {
  const sums = new Map<string, Map<string, { sum: number; count: number }>>();
  for (const rating of ratings) {
    const day = ratedDay(rating);
    if (day < from || day > to) continue;
    const days = sums.get(rating.dimension) ?? new Map<string, { sum: number; count: number }>();
    const old = days.get(day) ?? { sum: 0, count: 0 };
    days.set(day, { sum: old.sum + rating.value, count: old.count + 1 });
    sums.set(rating.dimension, days);
  }
  return [...sums].sort(([a], [b]) => a.localeCompare(b)).map(([dimension, days]) => ({
    dimension, points: [...days].sort(([a], [b]) => a.localeCompare(b)).map(([day, { sum, count }]) => ({ day, mean: sum / count, count })),
  }));
}
/** Days for the marks below, evenly apart up to the last: at most this many. */
export function ticks(from: string, to: string, most: number): string[] {
  const step = Math.max(1, Math.ceil(daysBetween(from, to) / (most - 1)));
  const out = [to];
  for (let day = addDays(to, -step); day >= from; day = addDays(day, -step)) out.unshift(day);
  return out;
}

// Numbers and times as people read them.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const clock = (date: Date): string => date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
const sameDay = (a: Date, b: Date): boolean => a.toDateString() === b.toDateString();

/** "just now", "5 min ago", "09:12", "yesterday 09:12", "12 Mar", "12 Mar 2024"; "at 16:00", "tomorrow 07:00", "14 Mar 07:00". */
export function relative(time: string | number | Date, now: number = Date.now()): string {
  const date = new Date(time);
  const past = now - date.getTime();
  if (Number.isNaN(past)) return "";
  if (past < 0 && past > -MINUTE) return "now";
  if (past < 0 && sameDay(date, new Date(now))) return `at ${clock(date)}`;
  if (past < 0) return `${sameDay(date, new Date(now + DAY)) ? "tomorrow" : exactDay(date, now)} ${clock(date)}`; // what comes is kept to the minute
  if (past < 45_000) return "just now";
  if (past < HOUR) return `${Math.max(1, Math.round(past / MINUTE))} min ago`;
  if (sameDay(date, new Date(now))) return clock(date);
  if (sameDay(date, new Date(now - DAY))) return `yesterday ${clock(date)}`;
  return exactDay(date, now);
}
/** "since 09:12", "since yesterday 09:12", "since 12 Mar"; "just now". */
export function since(time: string | number | Date, now: number = Date.now()): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  if (now - date.getTime() < 45_000) return "just now";
  if (sameDay(date, new Date(now))) return `since ${clock(date)}`;
  return `since ${sameDay(date, new Date(now - DAY)) ? `yesterday ${clock(date)}` : exactDay(date, now)}`;
}
function exactDay(date: Date, now: number): string {
  const year = date.getFullYear() === new Date(now).getFullYear() ? {} : ({ year: "numeric" } as const);
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...year });
}
export const exact = (time: string | number | Date): string =>
  new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** "4 ms", "1.8 s", "3 min 12 s", "2 h 5 min". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.round(hours / 24)} days`;
}

/** "412", "12.3k", "1.2M". */
export function short(n: number): string {
  if (n < 1000) return String(n);
  if (n < 9_950) return `${(n / 1000).toFixed(1)}k`;
  if (n < 999_500) return `${Math.round(n / 1000)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}
export const tokens = (n: number): string => `${short(n)} token${n === 1 ? "" : "s"}`;
/** By the models' prices, in their currency, which only the person knows. */
export const money = (amount: number): string =>
  amount === 0 ? "free" : amount < 0.01 ? amount.toFixed(4) : amount.toFixed(2);
/** "512 B", "3.1 KB", "100 KB": of 1024, as the limits are; the tenths only where they say something. */
export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  const [amount, unit] = n < 1024 * 1024 - 512 ? [n / 1024, "KB"] : [n / (1024 * 1024), "MB"];
  return `${amount < 9.95 ? amount.toFixed(1).replace(/\.0$/, "") : Math.round(amount)} ${unit}`;
}
export const plural = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/** "web_search" and "skill-script" as words. */
export const words = (name: string): string => name.replace(/[_-]+/g, " ");
export const firstLine = (text: string, most = 120): string => {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
};

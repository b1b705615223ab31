// When an agent wakes by the clock: the simple choices, the rules that they stand for, and the way back.
// What is none of the simple choices stays a rule, word for word.
import type { Timer, TimerDraft } from "../../api/wakes";

export const DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"] as const;
export type WeekDay = (typeof DAYS)[number];
const NAMES: Record<WeekDay, string> = { MO: "Monday", TU: "Tuesday", WE: "Wednesday", TH: "Thursday", FR: "Friday", SA: "Saturday", SU: "Sunday" };
export const dayName = (day: WeekDay): string => NAMES[day];

export type When =
  | { how: "daily" | "weekdays"; time: string }
  | { how: "weekly"; time: string; days: WeekDay[] }
  | { how: "monthly"; time: string; day: number } // 1 to 31; -1: the last
  | { how: "once"; at: string } // local: 2026-02-18T07:00
  | { how: "every"; minutes: number }
  | { how: "rule"; rule: string; start: string };
export type How = When["how"];

const clock = (time: string): string => `BYHOUR=${Number(time.slice(0, 2))};BYMINUTE=${Number(time.slice(3, 5))}`;
const WORKDAYS = "MO,TU,WE,TH,FR";

export function rule(when: When): string | null {
  switch (when.how) {
    case "daily": return `FREQ=DAILY;${clock(when.time)}`;
    case "weekdays": return `FREQ=WEEKLY;BYDAY=${WORKDAYS};${clock(when.time)}`;
    case "weekly": return `FREQ=WEEKLY;BYDAY=${DAYS.filter((day) => when.days.includes(day)).join(",")};${clock(when.time)}`;
    case "monthly": return `FREQ=MONTHLY;BYMONTHDAY=${when.day};${clock(when.time)}`;
    case "rule": return when.rule.trim().replace(/^RRULE:/i, "");
    default: return null;
  }
}
/** What the server is told: all of it, so that a timer may become one of another kind. */
export function draft(when: When): Required<Pick<TimerDraft, "kind" | "rrule" | "start" | "intervalSeconds">> {
  if (when.how === "once") return { kind: "once", rrule: null, start: when.at, intervalSeconds: null };
  if (when.how === "every") return { kind: "interval", rrule: null, start: null, intervalSeconds: when.minutes * 60 };
  return { kind: "rrule", rrule: rule(when), start: when.how === "rule" && when.start ? when.start : null, intervalSeconds: null };
}

const two = (n: number): string => String(n).padStart(2, "0");
/** The parts of a rule, when each is there once. */
function parts(text: string): Map<string, string> | null {
  const out = new Map<string, string>();
  for (const part of text.toUpperCase().split(";")) {
    const [name, value, ...more] = part.split("=");
    if (!name || !value || more.length > 0 || out.has(name)) return null;
    out.set(name, value);
  }
  return out;
}
const only = (found: Map<string, string>, ...names: string[]): boolean => found.size === names.length && names.every((name) => found.has(name));

export function simple(text: string): When | null {
  const found = parts(text);
  if (!found) return null;
  const hour = found.get("BYHOUR") ?? "";
  const minute = found.get("BYMINUTE") ?? "0";
  if (!/^\d{1,2}$/.test(hour) || !/^\d{1,2}$/.test(minute) || Number(hour) > 23 || Number(minute) > 59) return null;
  const time = `${two(Number(hour))}:${two(Number(minute))}`;
  const clocks = found.has("BYMINUTE") ? ["BYHOUR", "BYMINUTE"] : ["BYHOUR"];
  if (found.get("FREQ") === "DAILY" && only(found, "FREQ", ...clocks)) return { how: "daily", time };
  if (found.get("FREQ") === "WEEKLY" && only(found, "FREQ", "BYDAY", ...clocks)) {
    const named = (found.get("BYDAY") ?? "").split(",");
    const days = DAYS.filter((day) => named.includes(day));
    if (days.length !== named.length) return null;
    return days.join(",") === WORKDAYS ? { how: "weekdays", time } : { how: "weekly", time, days };
  }
  const day = Number(found.get("BYMONTHDAY"));
  if (found.get("FREQ") === "MONTHLY" && only(found, "FREQ", "BYMONTHDAY", ...clocks) && Number.isInteger(day) && (day === -1 || (day >= 1 && day <= 31)))
    return { how: "monthly", time, day };
  return null;
}
export function whenOf(timer: Pick<Timer, "kind" | "rrule" | "start" | "intervalSeconds">): When {
  if (timer.kind === "once") return { how: "once", at: (timer.start ?? "").slice(0, 16) };
  const seconds = timer.intervalSeconds ?? 0;
  if (timer.kind === "interval" && seconds % 60 === 0) return { how: "every", minutes: seconds / 60 };
  return simple(timer.rrule ?? "") ?? { how: "rule", rule: timer.rrule ?? "", start: timer.start ?? "" };
}

/** Why it can't be so yet; null: it can. */
export function wrong(when: When): string | null {
  if ("time" in when && !/^\d\d:\d\d$/.test(when.time)) return "At what time?";
  if (when.how === "weekly" && when.days.length === 0) return "On which days?";
  if (when.how === "monthly" && !(when.day === -1 || (when.day >= 1 && when.day <= 31))) return "On which day of the month?";
  if (when.how === "once" && !/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(when.at)) return "When?";
  if (when.how === "every" && !(Number.isInteger(when.minutes) && when.minutes >= 1)) return "A whole number of minutes, at least 1";
  if (when.how === "rule" && !when.rule.trim()) return "A rule, like FREQ=WEEKLY;BYDAY=MO";
  return null;
}

const nth = (n: number): string => `${n}${n % 100 >= 11 && n % 100 <= 13 ? "th" : ["th", "st", "nd", "rd"][n % 10] ?? "th"}`;
const every = (minutes: number): string =>
  minutes % 1440 === 0 ? (minutes === 1440 ? "every 24 hours" : `every ${minutes / 1440} days`)
    : minutes % 60 === 0 ? (minutes === 60 ? "every hour" : `every ${minutes / 60} hours`) : minutes === 1 ? "every minute" : `every ${minutes} minutes`;
/** "every day at 07:00". */
export function inWords(when: When): string {
  switch (when.how) {
    case "daily": return `every day at ${when.time}`;
    case "weekdays": return `Monday to Friday at ${when.time}`;
    case "weekly": return `every ${DAYS.filter((day) => when.days.includes(day)).map(dayName).join(", ")} at ${when.time}`;
    case "monthly": return `on the ${when.day === -1 ? "last day" : nth(when.day)} of each month at ${when.time}`;
    case "once": return `once, ${when.at.replace("T", " at ")}`;
    case "every": return every(when.minutes);
    case "rule": return when.rule;
  }
}

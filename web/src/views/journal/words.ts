// Tasks and times in words, and the way back: what people type, as the journal keeps it.
import type { Entry, EntryKind, Priority, Status } from "../../api/journal";
import type { Tone } from "../../ui";

export const STATUS: Record<Status, { word: string; tone: Tone }> = {
  OPEN: { word: "open", tone: "plain" },
  GROOMED: { word: "ready", tone: "plain" },
  IN_PROGRESS: { word: "in progress", tone: "info" },
  BLOCKED: { word: "blocked", tone: "warn" },
  ON_HOLD: { word: "on hold", tone: "plain" },
  DONE: { word: "done", tone: "good" },
  REJECTED: { word: "dropped", tone: "plain" },
};
export const STATUSES = Object.keys(STATUS) as Status[];
export const isClosed = (status: Status): boolean => status === "DONE" || status === "REJECTED";
export const PRIORITY: Record<Priority, string> = { P0: "now", P1: "high", P2: "normal", P3: "low" };
export const PRIORITIES = Object.keys(PRIORITY) as Priority[];
export const KIND: Record<EntryKind, string> = { note: "Note", workout: "Workout", audio: "Recording", measurement: "Measurement" };

const BEGINNING = 80; // characters of a text that has no title
const firstLine = (text = ""): string => text.split("\n").map((line) => line.replace(/^[#>*\-\s]+/, "").trim()).find(Boolean) ?? "";
const begins = (text: string): string => (text.length > BEGINNING ? `${text.slice(0, BEGINNING).replace(/\s+\S*$/, "")}…` : text);
/** What an entry is called: by its title, else by what it is of, else as its text begins. */
export const entryName = (entry: Entry): string => entry.title || entry.subtype?.replace(/_/g, " ") || begins(firstLine(entry.body)) || KIND[entry.kind];
/** "45 min", "72.4 kg"; "": nothing was measured. */
export const measured = (entry: Entry): string =>
  [entry.durationMs ? length(entry.durationMs / 60_000) : "", entry.value !== undefined ? `${entry.value}${entry.unit ? ` ${entry.unit}` : ""}` : ""].filter(Boolean).join(" · ");
/** ... and the beginning of what was written, unless that is its name already. */
export const gist = (entry: Entry): string =>
  [measured(entry), entry.title || entry.subtype ? begins(firstLine(entry.body)) : ""].filter(Boolean).join(" · ");

// ---- days: local days are text; they are counted in UTC, where no clock changes ----

// ---- whose clocks: those of the machine where the journal is, whose days it keeps ----

let place: string | undefined;
/** The zone of the journal; undefined: the browser's, until it is known. */
export const setZone = (zone: string | undefined): void => {
  place = zone;
};
export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
/** Do clocks of both show the same, now? Two names may mean one zone. */
export const sameClocks = (a: string, b: string, now = Date.now()): boolean => a === b || localInput(now, a) === localInput(now, b);

const DAY_MS = 86_400_000;
const noon = (day: string): number => Date.parse(`${day}T12:00:00Z`);
export const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(noon(text)) && new Date(noon(text)).toISOString().startsWith(text);
export const addDays = (day: string, n: number): string => new Date(noon(day) + n * DAY_MS).toISOString().slice(0, 10);
export const daysBetween = (from: string, to: string): number => Math.round((noon(to) - noon(from)) / DAY_MS);
/** The local day of a moment, where the journal is or in the zone that is named. */
export function dayOf(time: Date | string | number, zone = place): string {
  const parts = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit", ...(zone ? { timeZone: zone } : {}) }).formatToParts(new Date(time));
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")}`;
}
export const today = (): string => dayOf(Date.now());
const written = (day: string, how: Intl.DateTimeFormatOptions): string =>
  new Date(noon(day)).toLocaleDateString("en-GB", { timeZone: "UTC", ...how });
export const longDay = (day: string): string => written(day, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
/** "today", "tomorrow", "Friday", "12 Mar", "12 Mar 2024". */
export function dayWord(day: string, now = today()): string {
  const away = daysBetween(now, day);
  if (away === 0) return "today";
  if (away === 1) return "tomorrow";
  if (away === -1) return "yesterday";
  if (away > 1 && away < 7) return written(day, { weekday: "long" });
  return written(day, { day: "numeric", month: "short", ...(day.slice(0, 4) === now.slice(0, 4) ? {} : { year: "numeric" }) });
}
export interface Due {
  word: string;
  tone: "danger" | "accent" | "plain";
}
/** A day, with its clock when it has one. Late is said, not only coloured. */
export function dueWord(due: string, closed = false, now = today()): Due {
  const [day = "", clock] = due.split("T");
  const away = daysBetween(now, day);
  const word = dayWord(day, now) + (clock ? ` ${clock}` : "");
  if (closed) return { word, tone: "plain" };
  if (away < 0) return { word: `late: ${word}`, tone: "danger" };
  return { word, tone: away === 0 ? "accent" : "plain" };
}

// ---- times and lengths ----

/** "09:05", where the journal is or in the zone that is named. */
export const clock = (time: number | string | Date, zone = place): string =>
  new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", ...(zone ? { timeZone: zone } : {}) });
/** "1:05:09" of a clock that runs. */
export function running(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}
/** "2 h 30 min", "45 min", "0 min". */
export function length(minutes: number): string {
  const whole = Math.round(minutes);
  const hours = Math.floor(whole / 60);
  return [hours ? `${hours} h` : "", whole % 60 || !hours ? `${whole % 60} min` : ""].filter(Boolean).join(" ");
}
/** Minutes of "2h", "2h30", "1.5 h", "90", "1:30", "45 min"; null: none of these. */
export function minutesOf(text: string): number | null {
  const typed = text.trim().toLowerCase();
  const colon = /^(\d{1,4}):([0-5]\d)$/.exec(typed);
  if (colon) return Number(colon[1]) * 60 + Number(colon[2]);
  const parts = /^(?:(\d+(?:[.,]\d+)?)\s*h(?:ours?|rs?)?)?\s*(?:(\d+)\s*(?:m|min|mins|minutes)?)?$/.exec(typed);
  if (!parts || (!parts[1] && !parts[2])) return null;
  return Math.round(Number((parts[1] ?? "0").replace(",", ".")) * 60) + Number(parts[2] ?? 0);
}
/** What <input type=datetime-local> shows of a moment, and the moment of what it says. */
export const localInput = (time: string | number | Date, zone = place): string => `${dayOf(time, zone)}T${clock(time, zone)}`;
export const momentOf = (local: string, zone = place): string => {
  const wanted = Date.parse(`${local}Z`);
  if (Number.isNaN(wanted)) return "";
  const ahead = (at: number): number => Date.parse(`${localInput(at, zone)}Z`) - Math.floor(at / 60_000) * 60_000;
  // What clocks are ahead by there; where they change in between, the second look is right.
  const first = wanted - ahead(wanted);
  return new Date(wanted - ahead(first)).toISOString();
};

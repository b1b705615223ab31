// The journal's records and routes. Apart from client.ts: only the journal's views load this.
import { ask, at, del, patch, post, put, query } from "./client";
import { store } from "./store";
import type { Time } from "./types";

// ---- records ----

export interface Rec {
  id: string;
  createdAt?: Time;
  updatedAt?: Time;
  version?: string; // another one whenever it was changed
}
export type Status = "OPEN" | "GROOMED" | "IN_PROGRESS" | "BLOCKED" | "ON_HOLD" | "DONE" | "REJECTED";
export type Priority = "P0" | "P1" | "P2" | "P3";
export interface Category extends Rec {
  name: string;
  color?: string;
  archived?: boolean;
}
export interface Label extends Rec {
  name: string;
  color?: string;
}
export interface Task extends Rec {
  title: string;
  notes?: string;
  status: Status;
  priority: Priority;
  estimateMinutes?: number;
  due?: string; // 2026-02-18, or 2026-02-18T16:00
  language?: string;
  categoryId?: string;
  closedAt?: Time;
  labelIds?: string[];
}
export interface ChecklistItem extends Rec {
  checklistId: string;
  title: string;
  checked: boolean;
  position: number;
}
export interface Checklist extends Rec {
  taskId?: string;
  title: string;
  position: number;
  items: ChecklistItem[];
}
export interface EntryLink extends Rec {
  relation: "about" | "follow_up" | "source" | "report" | "related";
  fromType: string;
  fromId: string;
  toType: string;
  toId: string;
}
export interface TaskWhole extends Task {
  labels?: Label[];
  checklists?: Checklist[];
  timeMs?: number;
  links?: EntryLink[];
}
export interface TimeEntry extends Rec {
  taskId?: string;
  categoryId?: string;
  startedAt: Time;
  endedAt?: Time;
  description?: string;
  sourceEntryId?: string;
}
export interface DayPlan extends Rec {
  planDate: string;
  note?: string;
  pinnedTaskIds?: string[];
}
export interface Block extends Rec {
  planId?: string;
  categoryId?: string;
  taskId?: string;
  startTime: Time;
  endTime: Time;
  note?: string;
}
export interface Rating extends Rec {
  targetType: "task" | "timeEntry" | "dayPlan" | "entry";
  targetId: string;
  dimension: string;
  value: number;
  note?: string;
  ratedAt?: Time;
  categoryId?: string;
}
export type EntryKind = "note" | "workout" | "audio" | "measurement";
export interface Entry extends Rec {
  kind: EntryKind;
  subtype?: string;
  categoryId?: string;
  title?: string;
  body?: string;
  at?: Time;
  durationMs?: number;
  value?: number;
  unit?: string;
}
export interface Attachment extends Rec {
  entryId: string;
  fileName: string;
  contentType: string;
  size?: number;
}
export interface Page<R> {
  items: R[];
  next?: string;
  after?: number;
}

// ---- what is read ----

export interface Day {
  day: string;
  from: Time; // when this local day begins and ends: 23 or 25 hours where clocks change
  to: Time;
  zone: string; // whose clocks: Europe/Berlin
  plan: DayPlan | null;
  blocks: Block[];
  timeEntries: TimeEntry[];
  entries: Entry[];
  dueTasks: Task[];
  tasks: Task[]; // those that blocks, times and pins name
  ratings: Rating[];
}
export interface RatingSummary {
  dimension: string;
  count: number;
  mean: number;
  lowest: number;
  highest: number;
}
export type QuickKind = "day" | "clock" | "estimate" | "label" | "category" | "priority" | "item" | "notes";
export interface Span {
  kind: QuickKind;
  start: number;
  end: number;
  value: string;
}
export interface Quick {
  title: string;
  due?: string;
  estimateMinutes?: number;
  priority?: Priority;
  category?: string;
  labels?: string[];
  items?: string[];
  notes?: string;
  spans: Span[];
}
export interface Imported {
  counts: Record<string, number>;
  problems: { line?: number; message: string }[];
  problemCount: number; // of which only the first are listed
  total: number; // records in the file
  records?: { line: number; type: string; title: string; due?: string; category?: string }[]; // the first, of a preview
  newCategories?: string[]; // of a preview: names that nothing has yet
  newLabels?: string[];
  next?: number;
}

export const journal = {
  list: (type: string, more: Record<string, string | number | boolean | undefined> = {}) => `/journal/${type}` + query(more),
  one: (type: string, id: string) => at`/journal/${type}/${id}`,
  task: (id: string) => at`/journal/tasks/${id}`,
  day: (day: string) => at`/journal/days/${day}`,
  timer: "/journal/timer",
  summary: (from: string, to: string) => "/journal/ratings/summary" + query({ from, to }),
  content: (id: string) => at`/journal/attachments/${id}/content`,
  categories: "/journal/categories?limit=1000",
  labels: "/journal/labels?limit=1000",
};

// ---- what is done ----

const AGAIN_MS = 700;
const key = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Posts under a key of its own: when the answer is lost it is asked for again, and nothing is made twice. */
async function once<R>(path: string, body: unknown): Promise<R> {
  const init = { body: JSON.stringify(body), headers: { "Content-Type": "application/json", "Idempotency-Key": key() } };
  const read = async (response: Response): Promise<R> => (response.status === 204 ? undefined : await response.json()) as R;
  try {
    return await read(await ask("POST", path, init));
  } catch (error) {
    if (!(error instanceof Error && "offline" in error && error.offline)) throw error;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    return read(await ask("POST", path, init));
  }
}

const changed = (): void => store.invalidate("/journal");
/** Everything that shows the journal reads again, whether it went well or not. */
const then = <R>(promise: Promise<R>): Promise<R> => promise.finally(changed);

async function bring(format: string, text: string, how: { name?: string; preview?: boolean; skipBad?: boolean; offset?: number; limit?: number }): Promise<Imported> {
  const response = await ask("POST", "/journal/import" + query({ format, ...how }), { body: text, headers: { "Content-Type": "text/plain" } });
  return (await response.json()) as Imported;
}

export const write = {
  create: <R extends Rec>(type: string, fields: object) => then(once<R>(journal.list(type), fields)),
  change: <R extends Rec>(type: string, id: string, fields: object, version?: string) => then(patch<R>(journal.one(type, id), fields, version)),
  remove: (type: string, id: string) => then(del(journal.one(type, id))),
  restore: <R extends Rec>(type: string, id: string) => then(post<R>(journal.one(type, id) + "/restore")),
  /** Many changes, one reading. */
  changeAll: (type: string, list: { id: string; fields: object }[]) =>
    then(Promise.all(list.map(({ id, fields }) => patch<Rec>(journal.one(type, id), fields)))),
  quick: (text: string) => then(once<{ parsed: Quick; task: TaskWhole }>("/journal/quick", { text })),
  preview: async (text: string, signal: AbortSignal): Promise<Quick> =>
    ((await (await ask("POST", "/journal/quick", { body: JSON.stringify({ text, preview: true }), headers: { "Content-Type": "application/json" }, signal })).json()) as { parsed: Quick }).parsed,
  labels: (task: string, labels: string[]) => then(post<TaskWhole>(journal.task(task) + "/labels", { labels })),
  followUp: (task: string, body: { title?: string; carryOpenItems: boolean; closeAs?: "DONE" | "REJECTED"; keepCategoryAndLabels: boolean }) =>
    then(once<{ task: Task | null; moved: number }>(journal.task(task) + "/follow-up", body)),
  moveItems: (itemIds: string[], from: string, to: string) =>
    then(post<unknown>("/journal/checklist-items/move", { itemIds, fromChecklistId: from, toChecklistId: to, keepChecked: true })),
  startTimer: (taskId?: string, description?: string) => then(post<{ entry: TimeEntry }>("/journal/timer/start", { taskId, description })),
  stopTimer: () => then(post<{ entry: TimeEntry }>("/journal/timer/stop")),
  blocks: (day: string, upserts: Partial<Block>[], deletes: string[] = []) =>
    then(put<Day>(journal.day(day) + "/blocks", { upserts, deletes })),
  pins: (day: string, taskIds: string[]) => then(put<Day>(journal.day(day) + "/pins", { taskIds })),
  rate: (rating: Pick<Rating, "targetType" | "targetId" | "dimension" | "value">) => then(post<Rating>("/journal/ratings", rating)),
  attach: async (entryId: string, file: File): Promise<Attachment> =>
    then(ask("POST", "/journal/attachments" + query({ entryId, fileName: file.name }), {
      body: file, headers: { "Content-Type": file.type || "application/octet-stream" },
    }).then((response) => response.json() as Promise<Attachment>)),
  lookAt: (format: string, text: string) => bring(format, text, { preview: true }),
  /** A long file is taken in steps, each of which is whole; lines that can't be used are left out. on is
      told after every step where the next begins. The ids of records follow from the file: what was taken
      already is not made again. */
  import: async (format: string, name: string, text: string, from: number, limit: number, on: (next: number, counts: Record<string, number>) => boolean): Promise<void> => {
    try {
      for (let offset: number | undefined = from; offset !== undefined;) {
        const step: Imported = await bring(format, text, { ...(name && { name }), skipBad: true, offset, limit });
        offset = step.next;
        if (!on(offset ?? step.total, step.counts)) return;
      }
    } finally {
      changed();
    }
  },
};

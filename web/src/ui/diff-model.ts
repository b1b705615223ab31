// The difference of two texts as rows, with words that changed and suspicious places marked. Pure, so
// that tests can look at it.
import { diffLines, diffWordsWithSpace } from "diff";
import type { Flag } from "../api/types";

export interface Part {
  text: string;
  changed?: boolean; // within a line that has a counterpart
  flag?: number; // index into the flags
}
export interface Row {
  kind: "same" | "del" | "add";
  oldNo?: number;
  newNo?: number;
  parts: Part[];
  noEnd?: boolean; // the text ends here without a line feed
}
/** Rows of the same place side by side. */
export interface Pair {
  left?: Row;
  right?: Row;
}

const EDITS_MAX = 3000; // beyond this the texts have nothing in common worth showing

/** Offsets in UTF-8 bytes as offsets in the string; out of range ones are brought inside. */
export function fromBytes(text: string, offsets: number[]): number[] {
  const order = offsets.map((offset, i) => [offset, i] as const).sort((a, b) => a[0] - b[0]);
  const result = new Array<number>(offsets.length).fill(text.length);
  let byte = 0;
  let next = 0;
  for (let i = 0; i < text.length && next < order.length; ) {
    while (next < order.length && (order[next] as readonly [number, number])[0] <= byte) {
      result[(order[next] as readonly [number, number])[1]] = i;
      next++;
    }
    const code = text.codePointAt(i) as number;
    byte += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    i += code > 0xffff ? 2 : 1;
  }
  return result;
}

interface Range {
  start: number;
  end: number;
  flag: number;
}
/** Where each flag stands in the text: where it says, or else where its match is found first. */
export function ranges(text: string, flags: readonly Flag[]): Range[] {
  const offsets = fromBytes(text, flags.flatMap((flag) => [flag.start, flag.end]));
  return flags.flatMap((flag, i) => {
    const start = offsets[2 * i] as number;
    const end = offsets[2 * i + 1] as number;
    if (end > start && (!flag.match || text.slice(start, end) === flag.match || !text.includes(flag.match)))
      return [{ start, end, flag: i }];
    const found = flag.match ? text.indexOf(flag.match) : -1;
    return found < 0 ? [] : [{ start: found, end: found + flag.match.length, flag: i }];
  });
}

/** Cuts parts at the flags; where two overlap the more severe one (listed first) holds. */
function mark(parts: Part[], at: number, flagged: Range[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const end = at + part.text.length;
    const hits = flagged.filter((range) => range.start < end && range.end > at);
    const cuts = new Set([at, end]);
    for (const hit of hits) {
      cuts.add(Math.max(at, hit.start));
      cuts.add(Math.min(end, hit.end));
    }
    const points = [...cuts].sort((a, b) => a - b);
    for (let i = 0; i + 1 < points.length; i++) {
      const [from, to] = [points[i] as number, points[i + 1] as number];
      const hit = hits.find((range) => range.start < to && range.end > from);
      result.push({ ...part, text: part.text.slice(from - at, to - at), ...(hit ? { flag: hit.flag } : {}) });
    }
    if (part.text.length === 0) result.push(part);
    at = end;
  }
  return result;
}

/** Red, or yellow. */
export const isDanger = (flag: Flag | undefined): boolean => ["danger", "high", "critical"].includes(flag?.severity ?? "");
const severe = (flag: Flag | undefined): number => (isDanger(flag) ? 0 : 1);

function lines(text: string): string[] {
  if (text === "") return [];
  const list = text.split("\n");
  if (list[list.length - 1] === "") list.pop();
  return list;
}

/** Words that differ in two lines that stand in for each other; null when they share too little. */
function words(before: string, after: string): [Part[], Part[]] | null {
  if (before.length + after.length > 2000) return null;
  const changes = diffWordsWithSpace(before, after);
  const kept = changes.reduce((sum, change) => sum + (change.added || change.removed ? 0 : change.value.trim().length), 0);
  if (kept < Math.max(before.length, after.length) / 4) return null;
  const left: Part[] = [];
  const right: Part[] = [];
  for (const change of changes) {
    if (!change.added) left.push(change.removed ? { text: change.value, changed: true } : { text: change.value });
    if (!change.removed) right.push(change.added ? { text: change.value, changed: true } : { text: change.value });
  }
  return [left, right];
}

interface Change {
  kind: Row["kind"];
  lines: string[];
}
function changes(before: string, after: string): Change[] {
  if (before === after) return [{ kind: "same", lines: lines(before) }];
  const found = diffLines(before, after, { maxEditLength: EDITS_MAX });
  if (!found) return [{ kind: "del", lines: lines(before) }, { kind: "add", lines: lines(after) }];
  return found.map((change) => ({
    kind: change.added ? "add" : change.removed ? "del" : "same",
    lines: lines(change.value),
  }));
}

export function diffRows(before: string, after: string, flags: readonly Flag[] = []): Row[] {
  const rows: Row[] = [];
  const all = changes(before, after);
  let oldNo = 1;
  let newNo = 1;
  for (const [i, change] of all.entries()) {
    const other = change.kind === "del" ? all[i + 1] : change.kind === "add" ? all[i - 1] : undefined;
    const paired = other && other.kind !== change.kind && other.kind !== "same" && other.lines.length === change.lines.length;
    for (const [k, text] of change.lines.entries()) {
      const counterpart = paired ? other.lines[k] : undefined;
      const pair = counterpart === undefined ? null : change.kind === "del" ? words(text, counterpart) : words(counterpart, text);
      const parts = pair ? pair[change.kind === "del" ? 0 : 1] : [{ text }];
      const row: Row = { kind: change.kind, parts };
      if (change.kind !== "add") row.oldNo = oldNo++;
      if (change.kind !== "del") row.newNo = newNo++;
      rows.push(row);
    }
  }
  return flagRows(rows, after, flags);
}

function flagRows(rows: Row[], after: string, flags: readonly Flag[]): Row[] {
  const flagged = ranges(after, flags).sort((a, b) => severe(flags[a.flag]) - severe(flags[b.flag]));
  let at = 0;
  for (const row of rows) {
    if (row.newNo === undefined) continue;
    const length = row.parts.reduce((sum, part) => sum + part.text.length, 0);
    if (flagged.some((range) => range.start < at + length + 1 && range.end > at)) row.parts = mark(row.parts, at, flagged);
    at += length + 1;
  }
  const lastNew = rows.filter((row) => row.newNo !== undefined).at(-1);
  if (lastNew && after !== "" && !after.endsWith("\n")) lastNew.noEnd = true;
  return rows;
}

export function pairs(rows: readonly Row[]): Pair[] {
  const result: Pair[] = [];
  for (let i = 0; i < rows.length; ) {
    const row = rows[i] as Row;
    if (row.kind === "same") {
      result.push({ left: row, right: row });
      i++;
      continue;
    }
    const dels: Row[] = [];
    const adds: Row[] = [];
    for (; i < rows.length && rows[i]?.kind !== "same"; i++) (rows[i]?.kind === "del" ? dels : adds).push(rows[i] as Row);
    for (let k = 0; k < Math.max(dels.length, adds.length); k++) {
      const pair: Pair = {};
      if (dels[k]) pair.left = dels[k] as Row;
      if (adds[k]) pair.right = adds[k] as Row;
      result.push(pair);
    }
  }
  return result;
}

/** Runs of unchanged rows that may be folded: [from, to) pairs. Flagged rows are never folded. */
export function folds(rows: readonly { kind: Row["kind"]; parts?: Part[] }[], context = 3, least = 4): [number, number][] {
  const result: [number, number][] = [];
  const quiet = (i: number): boolean => {
    const row = rows[i];
    return row?.kind === "same" && !row.parts?.some((part) => part.flag !== undefined);
  };
  for (let i = 0; i < rows.length; ) {
    if (!quiet(i)) {
      i++;
      continue;
    }
    let end = i;
    while (end < rows.length && quiet(end)) end++;
    const from = i === 0 ? 0 : i + context;
    const to = end === rows.length ? end : end - context;
    if (to - from >= least) result.push([from, to]);
    i = end;
  }
  return result;
}

export const counts = (rows: readonly Row[]): { added: number; removed: number } => ({
  added: rows.filter((row) => row.kind === "add").length,
  removed: rows.filter((row) => row.kind === "del").length,
});

// Quick add: which parts of the text were understood as what.
import type { Quick, QuickKind, Span } from "../../api/journal";
import { dayWord, length, PRIORITY } from "./words";

export interface Piece {
  text: string;
  kind?: QuickKind;
}
/** The text cut at the spans. Spans that do not fit the text, because it has changed since, are left out. */
export function pieces(text: string, spans: readonly Span[]): Piece[] {
  const out: Piece[] = [];
  let at = 0;
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    if (span.start < at || span.end > text.length || span.start >= span.end) continue;
    if (span.start > at) out.push({ text: text.slice(at, span.start) });
    out.push({ text: text.slice(span.start, span.end), kind: span.kind });
    at = span.end;
  }
  if (at < text.length) out.push({ text: text.slice(at) });
  return out;
}

/** What will be made, in words: the title first. */
export function understood(quick: Quick, today?: string): { kind: QuickKind | "title"; text: string }[] {
  const [day = "", clock] = (quick.due ?? "").split("T");
  const checklist = quick.items?.length ?? 0;
  const parts: { kind: QuickKind | "title"; text: string }[] = [{ kind: "title", text: quick.title }];
  if (day) parts.push({ kind: "day", text: `due ${dayWord(day, today)}${clock ? ` ${clock}` : ""}` });
  if (quick.estimateMinutes) parts.push({ kind: "estimate", text: length(quick.estimateMinutes) });
  if (quick.priority) parts.push({ kind: "priority", text: `priority ${PRIORITY[quick.priority] ?? quick.priority}` });
  if (quick.category) parts.push({ kind: "category", text: `in ${quick.category}` });
  for (const label of quick.labels ?? []) parts.push({ kind: "label", text: `#${label}` });
  if (checklist) parts.push({ kind: "item", text: checklist === 1 ? "1 item" : `${checklist} items` });
  if (quick.notes) parts.push({ kind: "notes", text: "notes" });
  return parts;
}

// Where an agent, its conversations and what a search found are shown. The wizard is an agent with a view of
// its own.
import type { SearchResult } from "../../api/types";

export const WIZARD = "system:builder-wizard";

export function agentPlace(agent: string, thread?: string | null): string {
  const base = agent === WIZARD ? "/wizard" : `/agents/${encodeURIComponent(agent)}`;
  return thread ? `${base}/${encodeURIComponent(thread)}` : base;
}

/** Where a record of the journal is shown; null: nowhere by itself. */
export function recordPlace(type: string, id: string): string | null {
  if (type === "task") return `/journal/tasks/${encodeURIComponent(id)}`;
  if (type === "entry") return `/journal/entries?entry=${encodeURIComponent(id)}`;
  if (type === "timeEntry") return "/journal/time";
  if (type === "dayPlan") return `/journal/day/${encodeURIComponent(id.replace(/^dayplan-/, ""))}`;
  return type === "category" || type === "label" ? "/journal/categories" : type === "rating" ? "/journal/ratings" : null;
}

const inJournal = (result: SearchResult): string => {
  if (result.taskId) return `/journal/tasks/${encodeURIComponent(result.taskId)}`;
  if (result.kind === "dayPlan") return `/journal/day/${encodeURIComponent(result.title)}`;
  return result.kind === "timeEntry" ? "/journal/time" : `/journal/entries?entry=${encodeURIComponent(result.recordId ?? "")}`;
};
export const resultPath = (result: SearchResult): string => {
  if (result.recordId) return inJournal(result);
  if (result.kind === "file" && result.path) return `${agentPlace(result.agentId)}?panel=memory&file=${encodeURIComponent(result.path)}`;
  return agentPlace(result.agentId, result.threadId);
};

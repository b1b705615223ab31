// What was done, for a few seconds, with the way back. Failures stay until they are read.
import { useEffect, useSyncExternalStore } from "react";
import { createPortal } from "react-dom";
import { X } from "lucide-react";
import { sentence } from "../api/client";
import { cx } from "./cx";

interface Toast {
  id: number;
  text: string;
  tone: "plain" | "danger";
  undo?: { label: string; run: () => void | Promise<unknown> };
}
let toasts: Toast[] = [];
let count = 0;
const watchers = new Set<() => void>();
const MOST = 4;
const SHOWN_MS = 7000;

const set = (next: Toast[]): void => {
  toasts = next;
  watchers.forEach((watcher) => watcher());
};
const drop = (id: number): void => set(toasts.filter((toast) => toast.id !== id));

export function say(text: string, undo?: () => void | Promise<unknown>, label = "Undo"): void {
  count++;
  const toast: Toast = { id: count, text, tone: "plain", ...(undo ? { undo: { label, run: undo } } : {}) };
  set([...toasts, toast].slice(-MOST));
}
export function sayError(error: unknown, what?: string): void {
  count++;
  set([...toasts, { id: count, text: (what ? `${what}: ` : "") + sentence(error), tone: "danger" as const }].slice(-MOST));
}
/** Runs something; a failure is said. true when it went well. */
export async function attempt(what: string, run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    sayError(error, what);
    return false;
  }
}

function One({ toast }: { toast: Toast }) {
  useEffect(() => {
    if (toast.tone === "danger") return;
    const timer = setTimeout(() => drop(toast.id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [toast]);
  return (
    <div className={cx("toast", toast.tone === "danger" && "toast-danger")}>
      <span>{toast.text}</span>
      {toast.undo && (
        <button type="button" className="toast-action"
          onClick={() => { drop(toast.id); void attempt("Could not undo", async () => toast.undo?.run()); }}>
          {toast.undo.label}
        </button>
      )}
      <button type="button" className="toast-close" aria-label="Dismiss" onClick={() => drop(toast.id)}><X size={16} /></button>
    </div>
  );
}
export function Toasts() {
  const shown = useSyncExternalStore((w) => { watchers.add(w); return () => watchers.delete(w); }, () => toasts);
  // Beside the page, not in it: notices are heard and their buttons work while a layer lies over the page.
  return createPortal(
    <div className="toasts" role="region" aria-label="Notices" aria-live="polite">
      {shown.map((toast) => <One key={toast.id} toast={toast} />)}
    </div>,
    document.body,
  );
}

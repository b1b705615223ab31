// Keys of the page. A view says what its keys do while it is shown; the list behind `?` is made from
// the same table. Keys rest while someone types or a dialog is open.
import { useLayoutEffect, useRef } from "react";
import { layersOpen } from "./ui/layers";

export interface Key {
  keys: string; // "j", "g i", "Ctrl k"
  label: string;
  run: () => void;
  group?: string;
  always?: boolean; // also while typing (needs Ctrl)
  decides?: boolean; // says a person's word: pressed alone, once, and not as a part of anything that is typed
}

const tables: Key[][] = [];
export const allKeys = (): Key[] => tables.flat();

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName) ||
    (target instanceof HTMLInputElement && !/^(checkbox|radio|button|submit)$/.test(target.type)));

export function named(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey">): string {
  const key = event.key.length === 1 && event.key !== "?" ? event.key.toLowerCase() : event.key;
  return event.ctrlKey || event.metaKey ? `Ctrl ${key}` : key;
}

const SEQUENCE_MS = 1200;

/** Which entry a key means after what was pressed before; "wait" when it may begin a sequence. */
export function resolve(table: Key[], before: string, key: string): Key | "wait" | null {
  const typed = before ? `${before} ${key}` : key;
  // The newest table is asked first: a view may take a key from the shell.
  for (let i = table.length - 1; i >= 0; i--) if (table[i]?.keys === typed) return table[i] as Key;
  if (table.some((entry) => entry.keys.startsWith(`${typed} `) && !typed.startsWith("Ctrl"))) return "wait";
  return before ? resolve(table, "", key) : null;
}

let before = "";
let timer: ReturnType<typeof setTimeout> | undefined;

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.isComposing || event.keyCode === 229) return; // 229: an input method has it
  const found = resolve(allKeys(), before, named(event));
  const free = !typing(event.target) && !layersOpen();
  const alone = before === "" && !event.shiftKey && !event.repeat;
  clearTimeout(timer);
  before = "";
  if (found === "wait") {
    if (!free) return;
    before = named(event);
    timer = setTimeout(() => (before = ""), SEQUENCE_MS);
    return;
  }
  if (!found || (!free && !found.always) || (found.decides && !alone)) return;
  if (event.repeat && found.always) return event.preventDefault(); // a key held down is pressed once
  event.preventDefault();
  found.run();
}
if (typeof window !== "undefined") window.addEventListener("keydown", pressed);

/** The keys of a view, for as long as it is shown. */
export function useKeys(keys: Key[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => {
    // Entries call the newest version, so that the table need not be registered at every render.
    const table: Key[] = latest.current.map((key, i) => ({ ...key, run: () => latest.current[i]?.run() }));
    tables.push(table);
    return () => void tables.splice(tables.indexOf(table), 1);
  }, [keys.map((key) => key.keys).join("|")]);
}

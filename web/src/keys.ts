// Keys of the page. A view says what its keys do while it is shown; the list behind `?` is made from
// the same table. Keys rest while someone types or a dialog is open. Somebody may also type where nothing can be
// typed, having missed that the focus is elsewhere: a letter in the middle of a sentence is no key, in any view.
import { useEffect, useLayoutEffect, useRef } from "react";
import { layersOpen } from "./ui/layers";

export interface Key {
  keys: string; // "j", "g i", "Ctrl k"
  label: string;
  run: () => void;
  group?: string;
  always?: boolean; // also while typing (needs Ctrl)
  // "alone", unless it is said otherwise: nothing was typed just before it nor just after it, so it acts a moment late.
  // "first": nothing was typed just before it. "anywhere": it only moves what is looked at.
  stands?: "first" | "alone" | "anywhere";
  of?: () => unknown; // what it would act on: when that has changed by the time it acts, it does nothing
}

/** Keys that nobody types in a sentence mean what they do at once. */
export const standing = (key: Pick<Key, "keys" | "stands">): "first" | "alone" | "anywhere" =>
  key.stands ?? (/^(Ctrl |Arrow|Escape$)/.test(key.keys) ? "anywhere" : "alone");

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
const STAND_MS = 400; // without another key before and after what stands alone

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
let later: ReturnType<typeof setTimeout> | undefined; // what acts unless another key comes
let typedAt = -Infinity;
const strays = new Set<() => void>();

/** A letter, a digit or a space was pressed a moment ago, anywhere. */
export const typedLately = (): boolean => performance.now() - typedAt < STAND_MS;

/** Enter on a button or a link is its own. */
const pressable = (event: KeyboardEvent): boolean =>
  event.key === "Enter" && event.target instanceof Element && event.target.closest("a, button, summary, [role=button]") !== null;

const free = (target: EventTarget | null): boolean => !typing(target) && !layersOpen();

/** Does what a key means, or will when no other key follows. */
function act(found: Key, event: KeyboardEvent): void {
  event.preventDefault();
  if (standing(found) !== "alone") return found.run();
  const of = found.of?.();
  later = setTimeout(() => {
    later = undefined;
    if (allKeys().includes(found) && free(document.activeElement) && found.of?.() === of) found.run();
  }, STAND_MS);
}

function pressed(event: KeyboardEvent): void {
  if (event.repeat && later !== undefined) return; // the same key, held down
  const lately = typedLately() && before === "";
  const interrupted = later !== undefined;
  const printable = event.key.length === 1 && !event.ctrlKey && !event.metaKey;
  if (printable) typedAt = performance.now();
  giveUp();
  if (event.defaultPrevented || event.altKey || event.isComposing || event.keyCode === 229) return; // 229: an input method has it
  const found = resolve(allKeys(), before, named(event));
  const open = free(event.target);
  const first = !lately && !interrupted;
  const sequence = before !== "";
  clearTimeout(timer);
  before = "";
  if (found === "wait") {
    if (!open) return;
    if (!first) return stray();
    before = named(event);
    timer = setTimeout(() => (before = ""), SEQUENCE_MS);
    return;
  }
  const stands = found ? standing(found) : "anywhere";
  if (open && printable && (!found || (stands !== "anywhere" && !first))) stray();
  if (!found || (!open && !found.always) || pressable(event)) return;
  if (event.repeat && found.always) return event.preventDefault(); // a key held down is pressed once
  if (stands !== "anywhere" && !first) return;
  if (stands === "alone" && (event.shiftKey || event.repeat || (sequence && !found.keys.includes(" ")))) return stray();
  act(found, event);
}

function giveUp(): void {
  clearTimeout(later);
  later = undefined;
}
/** Tab, Escape and arrows are no part of a sentence: what follows them is meant. */
function ended(event: KeyboardEvent): void {
  if (!/^(Tab|Escape|Arrow)/.test(event.key)) return;
  giveUp();
  typedAt = -Infinity;
}
const stray = (): void => strays.forEach((run) => run());

/** Called when somebody types where nothing can be typed. */
export function useStray(run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const call = (): void => latest.current();
    strays.add(call);
    return () => void strays.delete(call);
  }, []);
}
if (typeof window !== "undefined") {
  window.addEventListener("keydown", pressed);
  window.addEventListener("keydown", ended, { capture: true }); // forms keep Escape to themselves
  window.addEventListener("pointerdown", giveUp, { capture: true });
}

/** The keys of a view, for as long as it is shown. */
export function useKeys(keys: Key[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => {
    // Entries call the newest version, so that the table need not be registered at every render.
    const table: Key[] = latest.current.map((key, i) => ({
      ...key, run: () => latest.current[i]?.run(), ...(key.of && { of: () => latest.current[i]?.of?.() }),
    }));
    tables.push(table);
    return () => void tables.splice(tables.indexOf(table), 1);
  }, [keys.map((key) => key.keys).join("|")]);
}

// Appearance, kept in this browser.
import { useSyncExternalStore } from "react";

export interface Appearance {
  theme: "auto" | "light" | "dark";
  density: "comfortable" | "compact";
  diff: "inline" | "split";
}
const KEY = "dormouse.appearance";
const DEFAULT: Appearance = { theme: "auto", density: "comfortable", diff: "inline" };

function load(): Appearance {
  try {
    return { ...DEFAULT, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Appearance>) };
  } catch {
    return DEFAULT;
  }
}

let current = typeof localStorage === "undefined" ? DEFAULT : load();
const watchers = new Set<() => void>();

export function applyAppearance(): void {
  const root = document.documentElement;
  if (current.theme === "auto") root.removeAttribute("data-theme");
  else root.setAttribute("data-theme", current.theme);
  root.setAttribute("data-density", current.density);
}

export function setAppearance(change: Partial<Appearance>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Private windows may refuse; the setting then lasts as long as the page.
  }
  applyAppearance();
  watchers.forEach((watcher) => watcher());
}

export const useAppearance = (): Appearance =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => current,
  );

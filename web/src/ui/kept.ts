// What was typed and not sent or saved yet, kept in the tab: it outlives a reload, another view, and a save
// that failed.
import { useState } from "react";

export function useKept<V>(place: string): [V | null, (value: V | null) => void] {
  const [value, setValue] = useState<V | null>(() => {
    try {
      return JSON.parse(sessionStorage.getItem(place) ?? "null") as V | null;
    } catch {
      return null;
    }
  });
  return [value, (next) => {
    setValue(next);
    if (next === null) sessionStorage.removeItem(place);
    else sessionStorage.setItem(place, JSON.stringify(next));
  }];
}

// A bar that is longer than the window shows the part that one is in.
import { useLayoutEffect, useRef, type RefObject } from "react";

export function useHere<E extends HTMLElement>(here: string): RefObject<E> {
  const bar = useRef<E>(null);
  useLayoutEffect(() => {
    const frame = bar.current?.getBoundingClientRect();
    const part = bar.current?.querySelector("[aria-current], [aria-selected=true]")?.getBoundingClientRect();
    if (bar.current && frame && part) bar.current.scrollLeft += part.left + part.width / 2 - frame.left - frame.width / 2;
  }, [here]);
  return bar;
}

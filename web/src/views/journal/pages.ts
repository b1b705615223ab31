// A list that is read a page at a time, each page by its own path, so that all of them follow changes.
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { store, type Loaded } from "../../api/store";
import type { Page } from "../../api/journal";

export interface Pages<R> {
  items: R[];
  data: R[] | undefined; // of the first page, for <Shown>
  error: unknown;
  loading: boolean;
  more: boolean; // there are pages after these
  next: () => void;
  reload: () => void;
}

/** Where the next page begins: a cursor, or the number of the last one. */
const cursorOf = (page: Page<unknown> | undefined): string | undefined => page?.next || page?.after?.toString();
const same = (a: readonly unknown[], b: readonly unknown[]): boolean => a.length === b.length && a.every((one, i) => one === b[i]);

export function usePages<R>(path: (after?: string) => string): Pages<R> {
  const first = path();
  const [wanted, setWanted] = useState(1);
  useEffect(() => setWanted(1), [first]);
  const seen = useRef<Loaded<Page<R>>[]>([]);

  /** The pages so far: each names the next. */
  const walk = useCallback((): string[] => {
    const all = [first];
    while (all.length < wanted) {
      const page = store.peek<Page<R>>(all[all.length - 1] as string).data;
      const cursor = cursorOf(page);
      if (!cursor) break;
      all.push(path(cursor));
    }
    return all;
  }, [first, wanted]);
  const watch = useCallback((watcher: () => void) => {
    const watched = new Map<string, () => void>();
    const changed = (): void => {
      for (const one of walk()) if (!watched.has(one)) watched.set(one, store.watch(one, changed));
      watcher();
    };
    changed();
    return () => watched.forEach((stop) => stop());
  }, [walk]);
  const states = useSyncExternalStore(watch, () => {
    const now = walk().map((one) => store.peek<Page<R>>(one));
    if (!same(now, seen.current)) seen.current = now;
    return seen.current;
  });

  const last = states[states.length - 1];
  const head = states[0];
  const items = useMemo(() => states.flatMap((state) => state.data?.items ?? []), [states]);
  return {
    items,
    data: head?.data?.items,
    error: states.find((state) => state.error)?.error,
    loading: states.some((state) => state.data === undefined && !state.error),
    more: !!cursorOf(last?.data) || (last !== undefined && last.data === undefined && !last.error),
    next: () => setWanted((old) => (cursorOf(last?.data) && old <= states.length ? states.length + 1 : old)),
    reload: () => store.invalidate(first),
  };
}

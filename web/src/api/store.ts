// What was read from the server, kept by path and shared by everything on the screen. A change (ours,
// or one that the activity stream tells of) marks paths as stale; what is on the screen is then read
// again, and what is not on the screen when it is next shown. Old data stays visible meanwhile.
import { useCallback, useSyncExternalStore } from "react";
import { ApiError, get } from "./client";

export interface Loaded<R> {
  data: R | undefined;
  error: unknown;
  loading: boolean;
}
interface Entry {
  state: Loaded<unknown>;
  told: unknown; // what the server said last
  watchers: Set<() => void>;
  stale: boolean;
  reading: boolean;
  again: boolean; // it went stale while it was being read
  expected: number; // how often an answer was put here before the server gave it
}

type Reader = (path: string) => Promise<unknown>;

const KEPT = 200; // entries that nobody watches
const AGAIN_MS = 2000; // after a request that did not reach the server

export class Store {
  private entries = new Map<string, Entry>();
  constructor(
    private read: Reader,
    private later = (ms: number, run: () => void): void => void setTimeout(run, ms),
  ) {}

  private entry(path: string): Entry {
    let entry = this.entries.get(path);
    if (!entry) {
      const state = { data: undefined, error: undefined, loading: true };
      entry = { state, told: undefined, watchers: new Set(), stale: true, reading: false, again: false, expected: 0 };
      this.entries.set(path, entry);
    }
    return entry;
  }

  private set(entry: Entry, state: Loaded<unknown>): void {
    entry.state = state;
    for (const watcher of [...entry.watchers]) watcher();
  }

  private load(path: string, entry: Entry): Promise<void> {
    if (entry.reading) {
      entry.again = true;
      return Promise.resolve();
    }
    entry.reading = true;
    entry.stale = false;
    entry.again = false;
    const { expected } = entry;
    return this.read(path)
      .then(
        (data) => {
          // Asked for before somebody changed it: older than what is shown. Whoever expects invalidates in the end.
          if (entry.expected !== expected) entry.stale = true;
          else {
            entry.told = data;
            this.set(entry, { data, error: undefined, loading: false });
          }
        },
        (error: unknown) => {
          entry.stale = true;
          // What was only expected may not have come to be: what the server said last is shown, not a wish.
          const data = entry.expected === expected ? (entry.told ?? entry.state.data) : entry.state.data;
          this.set(entry, { data, error, loading: false });
          if (error instanceof ApiError && error.offline) this.later(AGAIN_MS, () => this.tryAgain(path, entry));
        },
      )
      .finally(() => {
        entry.reading = false;
        if (!entry.again) return;
        entry.stale = true;
        entry.again = false;
        if (entry.watchers.size > 0) void this.load(path, entry);
      });
  }

  /** A server that comes back may still lose the first requests; nothing else would ask again. */
  private tryAgain(path: string, entry: Entry): void {
    if (entry.stale && !entry.reading && entry.watchers.size > 0) void this.load(path, entry);
  }

  peek<R>(path: string): Loaded<R> {
    return this.entry(path).state as Loaded<R>;
  }

  watch(path: string, watcher: () => void): () => void {
    const entry = this.entry(path);
    entry.watchers.add(watcher);
    if (entry.stale) void this.load(path, entry);
    return () => {
      entry.watchers.delete(watcher);
      this.forget();
    };
  }

  /** Begins to read what will be shown, before anything is there to watch it. Resolves when that has ended,
      well or not. */
  ahead(path: string): Promise<void> {
    const entry = this.entry(path);
    return entry.stale && !entry.reading ? this.load(path, entry) : Promise.resolve();
  }

  private forget(): void {
    if (this.entries.size <= KEPT) return;
    for (const [path, entry] of this.entries) {
      if (this.entries.size <= KEPT) return;
      if (entry.watchers.size === 0 && !entry.reading) this.entries.delete(path);
    }
  }

  /** Everything whose path begins with one of these; everything when none is given. */
  invalidate(...prefixes: string[]): void {
    for (const [path, entry] of this.entries) {
      if (prefixes.length > 0 && !prefixes.some((prefix) => path.startsWith(prefix))) continue;
      entry.stale = true;
      if (entry.watchers.size > 0) void this.load(path, entry);
    }
  }

  /** An answer that is known already: what a PATCH gave back, or what we expect until then. */
  put<R>(path: string, change: (old: R | undefined) => R | undefined): void {
    const entry = this.entries.get(path);
    if (!entry) return;
    const data = change(entry.state.data as R | undefined);
    if (data === undefined) return;
    entry.expected++;
    this.set(entry, { data, error: undefined, loading: false });
  }
}

export const store = new Store((path) => get(path));

const nothing = (): (() => void) => () => undefined;
const IDLE: Loaded<never> = { data: undefined, error: undefined, loading: false };

/** Reads a path and follows its changes; null reads nothing. */
export function useGet<R>(path: string | null): Loaded<R> & { reload: () => void } {
  const watch = useCallback((watcher: () => void) => (path === null ? nothing() : store.watch(path, watcher)), [path]);
  const state = useSyncExternalStore(watch, () => (path === null ? (IDLE as Loaded<R>) : store.peek<R>(path)));
  const reload = useCallback(() => {
    if (path !== null) store.invalidate(path);
  }, [path]);
  return { ...state, reload };
}

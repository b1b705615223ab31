// Client-side routes: the path is the state. Patterns are as on the server, /agents/{id}; a last {rest...}
// takes all that is left.
import { useMemo, useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";

const watchers = new Set<() => void>();
const tell = (): void => watchers.forEach((watcher) => watcher());
if (typeof window !== "undefined") window.addEventListener("popstate", tell);

const subscribe = (watcher: () => void): (() => void) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

/** Views with something unsaved may refuse; they ask the person themselves. */
export function go(to: string, replace = false): void {
  if (to === location.pathname + location.search + location.hash) return;
  history[replace ? "replaceState" : "pushState"](replace ? history.state : { within: true }, "", to);
  tell();
  if (!replace) window.scrollTo(0, 0);
}

/** To what was shown before; never out of the page, where the browser's own way back leads. */
export function back(up = location.pathname.replace(/\/[^/]*\/?$/, "") || "/"): void {
  if ((history.state as { within?: boolean } | null)?.within) history.back();
  else go(up, true);
}

export const usePath = (): string => useSyncExternalStore(subscribe, () => location.pathname);
export function useQuery(): URLSearchParams {
  const search = useSyncExternalStore(subscribe, () => location.search);
  return useMemo(() => new URLSearchParams(search), [search]);
}
/** Changes one member of the query without a new entry in the history. */
export function setQuery(name: string, value: string | null): void {
  const search = new URLSearchParams(location.search);
  if (value === null) search.delete(name);
  else search.set(name, value);
  const text = search.toString();
  go(location.pathname + (text ? `?${text}` : ""), true);
}

export type Params = Record<string, string>;

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** The parameters when path fits the pattern, else null. */
export function match(pattern: string, path: string): Params | null {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  const params: Params = {};
  for (const [i, part] of wanted.entries()) {
    const name = /^\{(\w+)(\.\.\.)?\}$/.exec(part);
    const value = given[i];
    if (name?.[2]) {
      params[name[1] as string] = given.slice(i).map(decoded).join("/");
      return params;
    }
    if (value === undefined || (!name && value !== part)) return null;
    if (name) params[name[1] as string] = decoded(value);
  }
  return given.length === wanted.length ? params : null;
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string };
export function Link({ to, onClick, ...rest }: LinkProps) {
  const click = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return <a href={to} onClick={click} {...rest} />;
}

// Parts of the page that are loaded when they are needed. A part that does not come because the server
// is away is asked for again until it does: what is on the screen stays there meanwhile.
import { lazy, type ComponentType, type LazyExoticComponent } from "react";

const FIRST_MS = 500;
const MOST_MS = 8000;

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function patiently<R>(load: () => Promise<R>, wait: (ms: number) => Promise<void> = rest): Promise<R> {
  for (let ms = FIRST_MS; ; ms = Math.min(ms * 2, MOST_MS)) {
    try {
      return await load();
    } catch {
      await wait(ms);
    }
  }
}

// A style that did not come is not asked for again by the loader: its part would come without it.
const broken = new Set<HTMLLinkElement>();
if (typeof document !== "undefined") {
  document.addEventListener("error", ({ target }) => {
    if (target instanceof HTMLLinkElement && target.rel === "stylesheet") broken.add(target);
  }, true);
}
const again = (link: HTMLLinkElement): Promise<void> => new Promise((resolve, reject) => {
  const next = link.cloneNode() as HTMLLinkElement;
  next.onload = () => resolve();
  next.onerror = () => reject(new Error(`${next.href} did not come`));
  broken.delete(link);
  link.replaceWith(next);
});

async function dressed<R>(load: () => Promise<R>): Promise<R> {
  const part = await load();
  await Promise.all([...broken].map(again));
  return part;
}

export const lately = <P>(load: () => Promise<{ default: ComponentType<P> }>): LazyExoticComponent<ComponentType<P>> =>
  lazy(() => patiently(() => dressed(load)));

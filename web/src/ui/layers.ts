// Which layers lie over the page, the newest on top. The page and every layer under the topmost dialog are
// inert: what comes late down there (a view that was still loading, its box to write in) can't take the
// focus from above, whenever it comes. Focus goes in with a layer, stays in while it is the topmost, and goes
// back to where it was; when a layer under others goes first, theirs is the way back that it had.
//
// A layer of the shell (search) lies over those of the view, also over one that its view opens later, when
// what it shows has come: such a one goes in under it and waits for its turn.

export const FOCUSABLE =
  'a[href], button:not([disabled]), input:not([disabled]), select:not([disabled]), textarea:not([disabled]), [tabindex]:not([tabindex="-1"])';
const INSIDE = FOCUSABLE.split(", ").map((one) => `[data-body] ${one}`).join(", ");

export interface Layered {
  frame: HTMLElement; // a child of the body
  box: HTMLElement; // what holds the focus
  modal: boolean; // what is under it rests
  over: boolean; // one of the shell
  close: () => void;
  before: HTMLElement | null; // where the focus was
}
const layers: Layered[] = [];
const top = (): Layered | undefined => layers[layers.length - 1];

/** Whether a layer is open: single keys of the page rest meanwhile. */
export const layersOpen = (): boolean => layers.length > 0;

/** Everything under the topmost modal layer rests; notices don't, they may speak of any layer. */
function rest(): void {
  const modal = layers.map((layer) => layer.modal).lastIndexOf(true);
  const page = document.getElementById("app");
  if (page) page.inert = modal >= 0;
  layers.forEach((layer, i) => (layer.frame.inert = i < modal));
}

function enter({ box }: Layered): void {
  if (box.contains(document.activeElement)) return;
  const first = box.querySelector<HTMLElement>("[data-autofocus]") ?? box.querySelector<HTMLElement>(INSIDE) ?? box;
  first.focus();
}

/** What held the focus was taken away, by new data or a step to another part: it stays in the layer. */
const watch = typeof MutationObserver === "undefined" ? null : new MutationObserver(() => {
  const layer = top();
  const at = document.activeElement;
  if (layer && (at === null || at === document.body)) enter(layer);
});

export function openLayer(layer: Layered): () => void {
  const above = layer.over ? -1 : layers.findIndex((other) => other.over);
  const upper = layers[above];
  if (upper) {
    layer.before = upper.before;
    layers.splice(above, 0, layer);
  } else layers.push(layer);
  rest();
  if (!upper) enter(layer);
  watch?.observe(layer.box, { childList: true, subtree: true });
  return () => closeLayer(layer);
}

function closeLayer(layer: Layered): void {
  const i = layers.indexOf(layer);
  const topmost = layer === top();
  layers.splice(i, 1);
  watch?.disconnect();
  for (const { box } of layers) watch?.observe(box, { childList: true, subtree: true });
  for (const above of layers.slice(i)) if (layer.box.contains(above.before)) above.before = layer.before;
  rest();
  if (!topmost) return;
  const next = top();
  if (layer.before?.isConnected) layer.before.focus(); // not when it rests: then the next layer has it
  else if (!next) document.getElementById("main")?.focus({ preventScroll: true });
  if (next) enter(next);
}

/** Esc and Tab belong to the topmost layer, wherever the focus is. */
function pressed(event: KeyboardEvent): void {
  const layer = top();
  if (!layer || event.defaultPrevented || event.isComposing) return;
  if (event.key === "Escape") {
    event.preventDefault();
    layer.close();
  } else if (event.key === "Tab") around(layer, event);
}
function around({ box }: Layered, event: KeyboardEvent): void {
  const all = [...box.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((one) => one.offsetParent !== null);
  const first = all[0];
  const last = all[all.length - 1];
  const at = document.activeElement;
  if (!first || !last) return event.preventDefault();
  const away = !box.contains(at);
  if (event.shiftKey ? away || at === first || at === box : away || at === last) {
    event.preventDefault();
    (event.shiftKey ? last : first).focus();
  }
}
if (typeof document !== "undefined") document.addEventListener("keydown", pressed);

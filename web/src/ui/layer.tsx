// What lies over the page: dialogs, sheets from the side, menus. Esc and a click beside close; where the
// focus is meanwhile, and what rests, is in layers.ts.
import {
  useCallback, useEffect, useId, useLayoutEffect, useRef, useState,
  type FormEvent, type KeyboardEvent, type ReactNode, type RefObject,
} from "react";
import { createPortal } from "react-dom";
import { X } from "lucide-react";
import { IconButton } from "./basic";
import { cx } from "./cx";
import { openLayer } from "./layers";

/** Opens with the element, closes with it. Layout effects: the way back is free before a new view takes the focus. */
function useLayer(box: RefObject<HTMLElement>, kind: { modal: boolean; over: boolean }, onClose: () => void, on = true): void {
  const close = useRef(onClose);
  close.current = onClose;
  const { modal, over } = kind;
  useLayoutEffect(() => {
    const element = box.current;
    if (!on || !element) return;
    const before = document.activeElement as HTMLElement | null;
    const frame = modal ? (element.parentElement as HTMLElement) : element;
    return openLayer({ frame, box: element, modal, over, close: () => close.current(), before });
  }, [box, modal, over, on]);
}

const TYPED = "textarea, input:not([type=radio], [type=checkbox], [type=file], [type=search], [role=combobox])";
/** Asks once before what was typed is lost; asked again, it goes back to writing. */
function useGuard(on: boolean, onClose: () => void) {
  const typed = useRef(new Set<Element>()); // in these; what has been saved is gone from the layer
  const writing = useRef<HTMLElement | null>(null);
  const [asking, setAsking] = useState(false);
  return {
    asking,
    touch: (event: FormEvent): void => {
      if (on && (event.target as Element).matches(TYPED)) typed.current.add(event.target as Element);
    },
    leave: (): void => {
      if (![...typed.current].some((one) => one.isConnected)) return onClose();
      if (asking) writing.current?.focus();
      else writing.current = document.activeElement as HTMLElement | null;
      setAsking(!asking);
    },
  };
}
function Unsaved({ onDiscard, onBack }: { onDiscard: () => void; onBack: () => void }) {
  return (
    <div className="dialog-foot" role="alert">
      <span className="grow">What you typed is not saved.</span>
      <button type="button" className="button button-danger" onClick={onDiscard}>Throw it away</button>
      <button type="button" className="button button-primary" autoFocus onClick={onBack}>Go on writing</button>
    </div>
  );
}

interface LayerProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
  wide?: boolean;
  hideTitle?: boolean;
  className?: string;
  over?: boolean; // of the shell: over every layer of a view
  guarded?: boolean; // what was typed in it is not thrown away by Esc or a click beside
}
function Layer({ title, onClose, children, footer, wide, hideTitle, className, over = false, guarded = false, side }: LayerProps & { side?: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const guard = useGuard(guarded, onClose);
  useLayer(box, { modal: true, over }, guard.leave);
  return createPortal(
    <div className={cx("backdrop", over && "backdrop-over")} onMouseDown={(event) => event.target === event.currentTarget && guard.leave()}>
      <div ref={box} role="dialog" aria-modal="true" aria-labelledby={id} tabIndex={-1} data-quiet-focus onInput={guard.touch}
        className={cx(side ? "sheet" : "dialog", wide && "dialog-wide", className)}>
        <div className={hideTitle ? "visually-hidden" : "dialog-head"}>
          <h2 id={id}>{title}</h2>
          {!hideTitle && <IconButton label="Close" onClick={guard.leave}><X size={18} /></IconButton>}
        </div>
        <div className="dialog-body" data-body>{children}</div>
        {guard.asking ? <Unsaved onDiscard={onClose} onBack={guard.leave} /> : footer && <div className="dialog-foot">{footer}</div>}
      </div>
    </div>,
    document.body,
  );
}
export const Dialog = (props: LayerProps) => <Layer {...props} />;
/** From the right on wide screens, from below on narrow ones. */
export const Sheet = (props: LayerProps) => <Layer {...props} side />;

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  danger?: boolean;
  disabled?: boolean;
  run: () => void;
}
export function Menu({ label, icon, items, children, className }: {
  label: string; icon?: ReactNode; items: (MenuItem | null | false)[]; children?: ReactNode; className?: string;
}) {
  const [place, setPlace] = useState<DOMRect | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const close = useCallback(() => {
    setPlace(null);
    button.current?.focus();
  }, []);
  const entries = (): HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>("[role=menuitem]:not(:disabled)") ?? [])];

  useLayer(list, { modal: false, over: false }, close, place !== null);
  useLayoutEffect(() => {
    const element = list.current;
    if (!place || !element) return;
    const { width, height } = element.getBoundingClientRect();
    const below = place.bottom + 4;
    element.style.left = `${Math.max(8, Math.min(place.right - width, window.innerWidth - width - 8))}px`;
    element.style.top = `${below + height > window.innerHeight - 8 ? Math.max(8, place.top - height - 4) : below}px`;
    entries()[0]?.focus();
  }, [place]);
  useEffect(() => {
    if (!place) return;
    const outside = (event: Event): void => {
      if (!list.current?.contains(event.target as Node) && !button.current?.contains(event.target as Node)) setPlace(null);
    };
    document.addEventListener("mousedown", outside);
    window.addEventListener("resize", close);
    return () => {
      document.removeEventListener("mousedown", outside);
      window.removeEventListener("resize", close);
    };
  }, [place, close]);

  const key = (event: KeyboardEvent): void => {
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const step = (to: number): void => {
      event.preventDefault();
      all[(to + all.length) % all.length]?.focus();
    };
    if (event.key === "Escape" || event.key === "Tab") {
      event.stopPropagation();
      event.preventDefault();
      close();
    } else if (event.key === "ArrowDown") step(at + 1);
    else if (event.key === "ArrowUp") step(at - 1);
    else if (event.key === "Home") step(0);
    else if (event.key === "End") step(all.length - 1);
  };
  return (
    <>
      <button ref={button} type="button" className={cx(children ? "button button-quiet" : "icon-button", className)}
        aria-label={label} aria-haspopup="menu" aria-expanded={!!place} aria-controls={place ? id : undefined}
        onClick={(event) => setPlace(place ? null : event.currentTarget.getBoundingClientRect())}>
        {icon}{children}
      </button>
      {place && createPortal(
        <div ref={list} id={id} role="menu" aria-label={label} className="menu" onKeyDown={key}>
          {items.map((item) => item && (
            <button key={item.label} type="button" role="menuitem" tabIndex={-1} disabled={item.disabled}
              className={cx("menu-item", item.danger && "menu-danger")}
              onClick={() => { close(); item.run(); }}>
              {item.icon}{item.label}
            </button>
          ))}
        </div>,
        document.body,
      )}
    </>
  );
}

/** Asks for the name before something that can't be undone. */
export function ConfirmName({ title, name, verb, children, onClose, onConfirm }: {
  title: string; name: string; verb: string; children: ReactNode; onClose: () => void; onConfirm: () => void;
}) {
  const [typed, setTyped] = useState("");
  const id = useId();
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack" onSubmit={(event) => { event.preventDefault(); if (typed === name) onConfirm(); }}>
        <div>{children}</div>
        <div className="field">
          <label className="field-label" htmlFor={id}>Type <strong>{name}</strong> to go on</label>
          <input id={id} className="input" value={typed} autoComplete="off" data-autofocus
            onChange={(event) => setTyped(event.target.value)} />
        </div>
        <div className="row row-end">
          <button type="button" className="button button-plain" onClick={onClose}>Keep it</button>
          <button type="submit" className="button button-danger" disabled={typed !== name}>{verb}</button>
        </div>
      </form>
    </Dialog>
  );
}

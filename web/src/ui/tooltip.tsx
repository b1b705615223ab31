// A few words on hover and on focus; Esc hides them. Placed inside the window, above or below.
import {
  cloneElement, useCallback, useEffect, useId, useLayoutEffect, useRef, useState,
  type HTMLAttributes, type ReactElement,
} from "react";
import { createPortal } from "react-dom";

interface TooltipProps {
  text: string;
  names?: boolean; // the child's aria-label says the same already
  children: ReactElement<HTMLAttributes<HTMLElement>>;
}
const DELAY_MS = 350;

export function Tooltip({ text, names, children }: TooltipProps) {
  const id = useId();
  const [anchor, setAnchor] = useState<DOMRect | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>();

  const show = useCallback((element: Element, delay: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setAnchor(element.getBoundingClientRect()), delay);
  }, []);
  const hide = useCallback(() => {
    clearTimeout(timer.current);
    setAnchor(null);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (!anchor) return;
    const escape = (event: KeyboardEvent): void => {
      if (event.key === "Escape") hide();
    };
    window.addEventListener("keydown", escape, true);
    window.addEventListener("scroll", hide, true);
    return () => {
      window.removeEventListener("keydown", escape, true);
      window.removeEventListener("scroll", hide, true);
    };
  }, [anchor, hide]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!anchor || !element) return;
    const { width, height } = element.getBoundingClientRect();
    const above = anchor.top - height - 6;
    const left = Math.min(Math.max(8, anchor.left + anchor.width / 2 - width / 2), window.innerWidth - width - 8);
    element.style.left = `${Math.round(left)}px`;
    element.style.top = `${Math.round(above < 8 ? anchor.bottom + 6 : above)}px`;
  }, [anchor]);

  const child = cloneElement(children, {
    "aria-describedby": anchor && !names ? id : children.props["aria-describedby"],
    onMouseEnter: (event) => {
      children.props.onMouseEnter?.(event);
      show(event.currentTarget, DELAY_MS);
    },
    onMouseLeave: (event) => {
      children.props.onMouseLeave?.(event);
      hide();
    },
    onFocus: (event) => {
      children.props.onFocus?.(event);
      if (event.currentTarget.matches(":focus-visible")) show(event.currentTarget, 0);
    },
    onBlur: (event) => {
      children.props.onBlur?.(event);
      hide();
    },
    onClick: (event) => {
      children.props.onClick?.(event);
      hide();
    },
  });
  return (
    <>
      {child}
      {anchor && createPortal(<div ref={box} id={id} role="tooltip" className="tooltip">{text}</div>, document.body)}
    </>
  );
}

// A button that has just appeared, moved or changed its meaning is not pressed on purpose: whoever clicks it
// then was about to click or type something else. It counts only after it stood still for a moment.
import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";

export const ARM_MS = 700;
const LOOK_MS = 100;

/** what: changes with everything that a press would mean. ready() is asked when something is pressed; `armed`
    is for what is drawn and may be a moment late. A press that comes early begins the moment anew: whoever clicks on
    and on does not press it either. */
export function useArmed(place: RefObject<HTMLElement | null>, what: string): { armed: boolean; ready: () => boolean } {
  const [armed, setArmed] = useState(false);
  const still = useRef({ since: Infinity, at: "" });
  const look = useRef(() => {
    const box = place.current?.getBoundingClientRect();
    const at = box && box.width > 0 && !document.hidden ? `${Math.round(box.left)} ${Math.round(box.top)}` : "";
    if (at !== still.current.at) still.current = { since: at ? performance.now() : Infinity, at };
    return performance.now() - still.current.since >= ARM_MS;
  });
  useLayoutEffect(() => {
    still.current = { since: Infinity, at: "" };
    setArmed(look.current());
  }, [what]);
  useEffect(() => {
    const again = (): void => setArmed(look.current());
    const timer = setInterval(again, LOOK_MS);
    window.addEventListener("scroll", again, { capture: true, passive: true });
    return () => {
      clearInterval(timer);
      window.removeEventListener("scroll", again, { capture: true });
    };
  }, []);
  const ready = useRef(() => {
    if (look.current()) return true;
    if (still.current.at) still.current.since = performance.now();
    setArmed(false);
    return false;
  });
  return { armed, ready: ready.current };
}

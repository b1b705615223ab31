// Whether the end of a text was on the screen. A decision about a text waits until it was: what stands
// below the fold has not been read by anybody.
import { createContext, useCallback, useContext, useEffect, useId, useRef, useState, type ReactNode } from "react";

type Report = (id: string, seen: boolean | null) => void; // null: the text is gone
const Reports = createContext<Report | null>(null);

/** Stands after the last line of a text that scrolls. */
export function End() {
  const report = useContext(Reports);
  const id = useId();
  const [seen, setSeen] = useState(false);
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    report?.(id, seen);
  }, [report, id, seen]);
  useEffect(() => () => report?.(id, null), [report, id]);
  useEffect(() => {
    const element = place.current;
    if (!report || !element) return;
    // Scrolled boxes cut what is observed: it is seen when it is in the box and the box in the window.
    const observer = new IntersectionObserver((all) => all.some((one) => one.isIntersecting) && setSeen(true));
    observer.observe(element);
    return () => observer.disconnect();
  }, [report]);
  return <span ref={place} className="end" aria-hidden />;
}

/** What may stay folded: the same is said elsewhere. */
export const Aside = ({ children }: { children: ReactNode }) => <Reports.Provider value={null}>{children}</Reports.Provider>;

/** What is inside, and whether the ends of all its texts were seen. */
export function useEnds(): { unseen: number; Ends: (props: { children: ReactNode }) => ReactNode } {
  const [ends, setEnds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const report = useCallback<Report>((id, seen) => setEnds((before) => {
    const now = new Map(before);
    if (seen === null) now.delete(id);
    else now.set(id, seen);
    return now;
  }), []);
  const Ends = useCallback(({ children }: { children: ReactNode }) => <Reports.Provider value={report}>{children}</Reports.Provider>, [report]);
  return { unseen: [...ends.values()].filter((seen) => !seen).length, Ends };
}

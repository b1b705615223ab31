// What is not part of the first look comes a moment after it.
import { useEffect, useState } from "react";

/** True once the first look is over. */
export function useLater(ms = 500): boolean {
  const [on, setOn] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setOn(true), ms);
    return () => clearTimeout(timer);
  }, []);
  return on;
}

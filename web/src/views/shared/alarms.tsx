// Alarms that agents set for themselves in a conversation: a session of work, a break, a reminder. They are
// kept by the server, so a page that is loaded again counts on.
import { useEffect, useMemo, useReducer } from "react";
import { useGet } from "../../api/store";
import { wakes, type Timer } from "../../api/wakes";
import { running } from "../journal/words";

export interface Alarm {
  id: string;
  agentId: string;
  threadId: string;
  name: string; // "session", "break"
  note: string; // of a session: the task
  at: number;
}

/** Those that have not rung yet, the next first. */
export function pending(timers: readonly Timer[], agentId?: string): Alarm[] {
  return timers.flatMap(({ id, agentId: agent, threadId, name, prompt, active, nextRunAt }) =>
    (threadId && active && nextRunAt && (!agentId || agent === agentId) ? [{ id, agentId: agent, threadId, name, note: prompt, at: Date.parse(nextRunAt) }] : []))
    .sort((a, b) => a.at - b.at);
}
export function useAlarms(agentId?: string): Alarm[] {
  const timers = useGet<{ items: Timer[] }>(wakes.allTimers).data?.items;
  return useMemo(() => pending(timers ?? [], agentId), [timers, agentId]);
}

/** "24:12", "1:05:00"; at its end "0:00". */
export const left = (at: number, now = Date.now()): string => running(Math.max(0, Math.ceil((at - now) / 1000)) * 1000).replace(/^0:0?(?=\d)/, "");
/** Time until then, every second. */
export function Left({ at }: { at: number }) {
  const [, tick] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, []);
  return <span className="number" role="timer" aria-live="off">{left(at)}</span>;
}
/** "Session: Tax report", "Break". */
export const alarmName = ({ name, note }: Pick<Alarm, "name" | "note">): string => {
  const begun = name.charAt(0).toUpperCase() + name.slice(1);
  return note ? `${begun}: ${note}` : begun;
};

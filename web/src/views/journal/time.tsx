// Logged time, by day, a week at a time.
import { useMemo, useState } from "react";
import { ChevronLeft, ChevronRight, Clock as ClockIcon, Plus } from "lucide-react";
import { journal, type Page, type TimeEntry } from "../../api/journal";
import { useGet } from "../../api/store";
import { setQuery, useQuery } from "../../router";
import { Badge, Button, Empty, IconButton, Shown } from "../../ui";
import { Bars } from "../shared/bars";
import { CategoryName, Clock, stopTimer, TaskName, useRunning } from "./parts";
import { useSets } from "./sets";
import { EditTime, entryMs } from "./time-edit";
import { addDays, clock, dayOf, dayWord, isDay, length, longDay, today } from "./words";

export interface DayLog {
  day: string;
  entries: TimeEntry[];
  ms: number;
}
/** The newest day first, in each the newest first. A time counts for the day it began on. */
export function byDay(entries: readonly TimeEntry[]): DayLog[] {
  const days = new Map<string, DayLog>();
  for (const entry of [...entries].sort((a, b) => b.startedAt.localeCompare(a.startedAt))) {
    const day = dayOf(entry.startedAt);
    const log = days.get(day) ?? { day, entries: [], ms: 0 };
    log.entries.push(entry);
    log.ms += entryMs(entry);
    days.set(day, log);
  }
  return [...days.values()].sort((a, b) => b.day.localeCompare(a.day));
}

function Running() {
  const now = useRunning();
  if (!now) return null;
  return (
    <div className="card row row-between">
      <span className="row"><Badge tone="good">runs</Badge><span>{now.taskId ? <TaskName id={now.taskId} /> : now.description || "Time"}</span><Clock since={now.startedAt} /></span>
      <Button small onClick={() => void stopTimer()}>Stop</Button>
    </div>
  );
}

export default function TimeLog() {
  const asked = useQuery().get("until") ?? "";
  const until = isDay(asked) ? asked : today();
  const from = addDays(until, -6);
  const sets = useSets();
  const read = useGet<Page<TimeEntry>>(journal.list("time-entries", { from, to: until, order: "newest", limit: 1000 }));
  const [edited, setEdited] = useState<TimeEntry | "new" | null>(null);
  const days = useMemo(() => byDay(read.data?.items ?? []), [read.data]);
  const total = days.reduce((sum, day) => sum + day.ms, 0);
  const bars = Array.from({ length: 7 }, (_, i) => {
    const day = addDays(from, i);
    return { label: dayWord(day), value: Math.round((days.find((one) => one.day === day)?.ms ?? 0) / 60_000) };
  });
  const turn = (by: number): void => {
    const next = addDays(until, by);
    setQuery("until", next >= today() ? null : next);
  };
  return (
    <section aria-labelledby="time-log" className="stack journal-wide">
      <div className="day-head">
        <IconButton label="The week before" onClick={() => turn(-7)}><ChevronLeft size={18} /></IconButton>
        <IconButton label="The week after" disabled={until >= today()} onClick={() => turn(7)}><ChevronRight size={18} /></IconButton>
        <h2 id="time-log" className="grow">{dayWord(from)} to {dayWord(until)}{total > 0 && <span className="muted number"> · {length(total / 60_000)}</span>}</h2>
        <Button icon={<Plus size={15} aria-hidden />} onClick={() => setEdited("new")}>Add time</Button>
      </div>
      <Running />
      <Shown of={read} what="the time log" lines={6}>
        {() => days.length === 0 ? (
          <Empty icon={<ClockIcon size={28} />} title="No time logged in this week">Start the clock in a task, or add what was done.</Empty>
        ) : (
          <>
            <Bars title="Time a day" bars={bars} unit={length} />
            {days.map((day) => (
              <section key={day.day} className="log-day" aria-labelledby={`log-${day.day}`}>
                <h3 id={`log-${day.day}`}><span>{longDay(day.day)}</span><span className="number">{length(day.ms / 60_000)}</span></h3>
                <ul className="times">
                  {day.entries.map((entry) => (
                    <li key={entry.id}>
                      <button type="button" className="time-row" onClick={() => setEdited(entry)}>
                        <span className="number">{clock(entry.startedAt)}–{entry.endedAt ? clock(entry.endedAt) : "now"}</span>
                        <span className="grow cut">{entry.taskId ? <TaskName id={entry.taskId} /> : ""}{entry.taskId && entry.description ? ": " : ""}{entry.description}</span>
                        <span className="small muted"><CategoryName category={sets.category(entry.categoryId)} /></span>
                        <span className="number">{length(entryMs(entry) / 60_000)}</span>
                      </button>
                    </li>
                  ))}
                </ul>
              </section>
            ))}
            {read.data?.next && <p className="muted small">Only the newest 1000 are shown.</p>}
          </>
        )}
      </Shown>
      {edited && <EditTime entry={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
    </section>
  );
}

// A day: what is planned as blocks that are moved by hand or by keys, what was done beside it, and what is
// due. The server says when the day begins and ends.
import { useEffect, useMemo, useState } from "react";
import { CalendarPlus, ChevronLeft, ChevronRight, Pin, PinOff } from "lucide-react";
import { journal, write, type Block, type Day, type Page, type Task } from "../../api/journal";
import { store, useGet } from "../../api/store";
import { useKeys } from "../../keys";
import { go, Link, type Params } from "../../router";
import { attempt, Button, Empty, IconButton, Shown, TextArea, useKept } from "../../ui";
import { EditBlock, type Draft } from "./block-edit";
import { Column } from "./column";
import { slot, type Span } from "./day-model";
import { Rate } from "./rate";
import { DueMark, TaskLink } from "./parts";
import { EditTime, entryMs } from "./time-edit";
import { addDays, clock, dayWord, entryName, isClosed, isDay, KIND, length, longDay, measured, today } from "./words";
import "./day.css";

const HALF_HOUR = 1_800_000;
const dayPlace = (day: string): string => (day === today() ? "/journal/day" : `/journal/day/${day}`);

export const spanOf = (block: Block): Span => ({ from: Date.parse(block.startTime), to: Date.parse(block.endTime) });

function Head({ day }: { day: string }) {
  return (
    <div className="day-head">
      <IconButton label="The day before" onClick={() => go(dayPlace(addDays(day, -1)))}><ChevronLeft size={18} /></IconButton>
      <Button disabled={day === today()} onClick={() => go("/journal/day")}>Today</Button>
      <IconButton label="The day after" onClick={() => go(dayPlace(addDays(day, 1)))}><ChevronRight size={18} /></IconButton>
      <h2 className="grow">{longDay(day)}</h2>
      <input type="date" className="input day-pick" aria-label="Another day" value={day} onChange={(event) => isDay(event.target.value) && go(dayPlace(event.target.value))} />
    </div>
  );
}

function TaskRow({ task, pinned, onPin, onPlan }: { task: Task; pinned: boolean; onPin: () => void; onPlan: () => void }) {
  return (
    <li className="day-task" draggable onDragStart={(event) => {
      event.dataTransfer.setData("text/x-task", JSON.stringify({ id: task.id, minutes: task.estimateMinutes ?? 30 }));
      event.dataTransfer.effectAllowed = "copy";
    }}>
      <span className="grow"><TaskLink id={task.id}>{task.title}</TaskLink> <span className="small muted"><DueMark task={task} />{task.estimateMinutes ? ` ${length(task.estimateMinutes)}` : ""}</span></span>
      <IconButton label={pinned ? `Unpin ${task.title}` : `Pin ${task.title} to this day`} onClick={onPin}>{pinned ? <PinOff size={15} /> : <Pin size={15} />}</IconButton>
      <IconButton label={`Plan a block for ${task.title}`} onClick={onPlan}><CalendarPlus size={15} /></IconButton>
    </li>
  );
}

function Note({ day }: { day: Day }) {
  const now = day.plan?.note ?? "";
  const [draft, setDraft] = useKept<string>(`day ${day.day}`);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (draft?.trim() === now) setDraft(null); // it is there
  }, [now]);
  const save = async (): Promise<void> => {
    const note = draft?.trim() ?? "";
    if (draft === null || note === now) return setDraft(null);
    setFailed(!(await attempt("Not saved", () => (day.plan?.id ? write.change("day-plans", day.plan.id, { note: note || null }) : write.create("day-plans", { planDate: day.day, note })))));
  };
  return (
    <div className="stack-tight">
      <TextArea label="Note of the day" rows={3} value={draft ?? now} onChange={(event) => setDraft(event.target.value)} onBlur={() => void save()}
        error={failed && draft !== null ? "Not saved yet; it stays here." : null} />
      {failed && draft !== null && <div><Button small onClick={() => void save()}>Save it now</Button></div>}
    </div>
  );
}

function Aside({ day, onPlan, onTime }: { day: Day; onPlan: (task: Task) => void; onTime: () => void }) {
  const pins = day.plan?.pinnedTaskIds ?? [];
  const pin = (id: string): void => {
    const next = pins.includes(id) ? pins.filter((one) => one !== id) : [...pins, id];
    store.put<Day>(journal.day(day.day), (old) => old && { ...old, plan: { id: "", planDate: day.day, ...old.plan, pinnedTaskIds: next } });
    void attempt("Not pinned", () => write.pins(day.day, next));
  };
  const late = useGet<Page<Task>>(day.day === today() ? journal.list("tasks", { dueTo: addDays(day.day, -1), limit: 50 }) : null).data?.items ?? [];
  const known = new Map([...day.dueTasks, ...day.tasks, ...late].map((task) => [task.id, task]));
  const due = [...late, ...day.dueTasks].filter((task) => !pins.includes(task.id) && !isClosed(task.status));
  const rows = (tasks: Task[]) => (
    <ul className="day-tasks">{tasks.map((task) => <TaskRow key={task.id} task={task} pinned={pins.includes(task.id)} onPin={() => pin(task.id)} onPlan={() => onPlan(task)} />)}</ul>
  );
  const pinned = pins.map((id) => known.get(id)).filter((task): task is Task => !!task);
  const logged = day.timeEntries.reduce((sum, entry) => sum + entryMs(entry), 0);
  return (
    <div className="stack day-side">
      <section aria-labelledby="pinned" className="stack-tight">
        <h3 id="pinned">Pinned</h3>
        {pinned.length === 0 ? <p className="muted small">Pin what matters most today.</p> : rows(pinned)}
      </section>
      <section aria-labelledby="due" className="stack-tight">
        <h3 id="due">Due</h3>
        {due.length === 0 ? <p className="muted small">Nothing is due.</p> : rows(due)}
        {due.length > 0 && <p className="muted small">Drag one into the day, or plan it with its button.</p>}
      </section>
      <section aria-labelledby="day-log" className="stack-tight">
        <div className="row row-between"><h3 id="day-log">Logged</h3><span className="muted small number">{length(logged / 60_000)}</span></div>
        {day.entries.length > 0 && (
          <ul className="links">
            {day.entries.map((entry) => <li key={entry.id}><span className="muted small">{KIND[entry.kind]}{entry.at ? ` ${clock(entry.at, day.zone)}` : ""}</span> <Link to={`/journal/entries?entry=${encodeURIComponent(entry.id)}`}>{entryName(entry)}</Link>{measured(entry) && <span className="number"> {measured(entry)}</span>}</li>)}
          </ul>
        )}
        <div className="row"><Button small onClick={onTime}>Add time</Button><Link to="/journal/entries?new=note" className="button button-quiet button-small">New entry</Link></div>
      </section>
      <section aria-labelledby="day-ratings" className="stack-tight">
        <h3 id="day-ratings">How it was</h3>
        <Rate targetType="dayPlan" targetId={`dayplan-${day.day}`} ratings={day.ratings} />
      </section>
      <Note day={day} />
    </div>
  );
}

function Whole({ day }: { day: Day }) {
  const span = useMemo(() => ({ from: Date.parse(day.from), to: Date.parse(day.to) }), [day.from, day.to]);
  const [draft, setDraft] = useState<Draft | null>(null);
  const [adding, setAdding] = useState(false);
  const now = Date.now();
  const begin = (): number => (now >= span.from && now < span.to ? now : span.from + 9 * 3_600_000);
  const free = (length: number): Span | null => slot(day.blocks.map(spanOf), begin(), length, span);
  const plan = (task?: Task): void => {
    const place = free((task?.estimateMinutes ?? 30) * 60_000) ?? free(HALF_HOUR);
    if (place) setDraft({ ...place, ...(task ? { taskId: task.id } : {}) });
  };
  useKeys([
    { keys: "n", label: "New block", group: "Day", run: () => plan() },
    { keys: "[", label: "The day before", group: "Day", stands: "anywhere", run: () => go(dayPlace(addDays(day.day, -1))) },
    { keys: "]", label: "The day after", group: "Day", stands: "anywhere", run: () => go(dayPlace(addDays(day.day, 1))) },
    { keys: "t", label: "Today", group: "Day", run: () => go("/journal/day") },
  ]);
  const names = useMemo(() => new Map([...day.dueTasks, ...day.tasks].map((task) => [task.id, task.title])), [day]);
  return (
    <div className="day">
      <Column day={day} span={span} names={names} onEdit={setDraft} onAdd={() => plan()} />
      <Aside day={day} onPlan={plan} onTime={() => setAdding(true)} />
      {draft && <EditBlock day={day} span={span} draft={draft} onClose={() => setDraft(null)} />}
      {adding && <EditTime entry={null} day={day.day} onClose={() => setAdding(false)} />}
    </div>
  );
}

export default function DayView({ params }: { params: Params }) {
  const [now, setNow] = useState(today());
  useEffect(() => {
    const timer = setInterval(() => setNow(today()), 60_000);
    return () => clearInterval(timer);
  }, []);
  const day = params["id"] ?? now;
  const read = useGet<Day>(isDay(day) ? journal.day(day) : null);
  if (!isDay(day)) return <Empty title="There is no such day" action={<Button onClick={() => go("/journal/day")}>Today</Button>} />;
  return (
    <section className="stack" aria-label={`${longDay(day)}, ${dayWord(day)}`}>
      <Head day={day} />
      <Shown of={read} what="the day" lines={12}>{(data) => <Whole key={day} day={data} />}</Shown>
    </section>
  );
}

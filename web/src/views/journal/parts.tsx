// Small parts that more than one view of the journal shows.
import { useEffect, useReducer, useState, type FormEvent, type ReactNode } from "react";
import { Play, Square } from "lucide-react";
import { journal, write, type Category, type Label, type Task, type TaskWhole, type TimeEntry } from "../../api/journal";
import { useGet } from "../../api/store";
import { Link } from "../../router";
import { attempt, Badge, Button, cx, say, Select } from "../../ui";
import type { Sets } from "./sets";
import { dueWord, isClosed, running, STATUS } from "./words";

/** The colour beside the name says nothing that the name does not. */
export function Dot({ color }: { color?: string | undefined }) {
  return <span className="dot" aria-hidden style={color ? { background: color } : undefined} />;
}
export function CategoryName({ category }: { category: Category | undefined }) {
  if (!category) return null;
  return <span className="named"><Dot color={category.color} />{category.name}</span>;
}
export function LabelName({ label }: { label: Label | undefined }) {
  return label ? <span className="label-name">#{label.name}</span> : null;
}

/** A select of categories; archived ones only where they are chosen already. */
export function CategorySelect({ sets, value, onChange, label = "Category", none = "none", hideLabel }: {
  sets: Sets; value: string; onChange: (id: string) => void; label?: string; none?: string; hideLabel?: boolean;
}) {
  return (
    <Select label={label} hideLabel={!!hideLabel} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{none}</option>
      {sets.categories.filter((one) => !one.archived || one.id === value).map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}
    </Select>
  );
}

export function DueMark({ task }: { task: Pick<Task, "due" | "status"> }) {
  if (!task.due) return null;
  const { word, tone } = dueWord(task.due, isClosed(task.status));
  return <span className={cx("due", tone !== "plain" && `due-${tone}`)}><span className="visually-hidden">due </span>{word}</span>;
}
export function StatusMark({ status }: { status: Task["status"] }) {
  return status === "OPEN" ? null : <Badge tone={STATUS[status].tone}>{STATUS[status].word}</Badge>;
}

// ---- done and deleted, with the way back ----

export async function setDone(task: Task, done: boolean): Promise<boolean> {
  const before = task.status;
  const ok = await attempt("Not changed", () => write.change("tasks", task.id, { status: done ? "DONE" : "OPEN" }));
  if (ok) say(done ? `Done: ${task.title}` : `Open again: ${task.title}`, () => write.change("tasks", task.id, { status: before }));
  return ok;
}
export async function removeRecord(type: string, id: string, name: string, restored?: () => void): Promise<boolean> {
  const ok = await attempt("Not deleted", () => write.remove(type, id));
  if (ok) say(`Deleted: ${name}`, () => write.restore(type, id).then(() => restored?.()));
  return ok;
}

// ---- the running clock ----

export function useRunning(): TimeEntry | null | undefined {
  return useGet<{ entry: TimeEntry | null }>(journal.timer).data?.entry;
}
/** Time since then, every second. */
export function Clock({ since }: { since: string }) {
  const [, tick] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, []);
  return <span className="number" role="timer" aria-live="off">{running(Date.now() - Date.parse(since))}</span>;
}
export const stopTimer = async (): Promise<void> => {
  if (await attempt("Not stopped", () => write.stopTimer())) say("The clock is stopped; the time is logged.");
};
export function TimerButton({ task }: { task: Task }) {
  const now = useRunning();
  const [busy, setBusy] = useState(false);
  const here = now?.taskId === task.id;
  const press = (): void => {
    setBusy(true);
    void (here ? stopTimer() : attempt("Not started", () => write.startTimer(task.id))).finally(() => setBusy(false));
  };
  return (
    <Button busy={busy} icon={here ? <Square size={14} aria-hidden /> : <Play size={14} aria-hidden />} onClick={press}>
      {here && now ? <>Stop <Clock since={now.startedAt} /></> : "Start the clock"}
    </Button>
  );
}
export function TaskName({ id }: { id: string }) {
  const task = useGet<TaskWhole>(journal.task(id));
  return <>{task.data?.title ?? (task.error ? "a task that is gone" : "…")}</>;
}
export const TaskLink = ({ id, children }: { id: string; children?: ReactNode }) =>
  <Link to={`/journal/tasks/${encodeURIComponent(id)}`}>{children ?? <TaskName id={id} />}</Link>;

// ---- text that is changed where it stands ----

/** A line that looks like text until it is touched, in as many rows as it needs. Saved when it is left or with
    Enter; Esc takes it back; what could not be saved stays. */
export function InPlace({ label, value, placeholder, className, maxLength = 500, required, check, onSave }: {
  label: string; value: string; placeholder?: string; className?: string; maxLength?: number; required?: boolean;
  check?: (text: string) => string | null; onSave: (text: string) => Promise<boolean>;
}) {
  // With what was there when typing began: while a save is under way or has failed, `value` may already be
  // what was typed, and is no sign that the server has it.
  const [draft, setDraft] = useState<{ text: string; from: string } | null>(null);
  const text = draft?.text ?? value;
  const problem = draft === null ? null : required && !text.trim() ? "can't be empty" : (check?.(text.trim()) ?? null);
  const save = async (): Promise<void> => {
    if (draft === null) return;
    const ok = !!problem || text.trim() === draft.from || (await onSave(text.trim()));
    if (ok) setDraft((now) => (now === draft ? null : now));
  };
  return (
    <span className={cx("in-place", className)} data-text={text || placeholder}>
      <textarea className="in-place-input" rows={1} aria-label={label} value={text} placeholder={placeholder} maxLength={maxLength} aria-invalid={!!problem || undefined} title={problem ?? undefined}
        onChange={(event) => setDraft({ text: event.target.value.replace(/\s*\n\s*/g, " "), from: draft?.from ?? value })} onBlur={() => void save()}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.nativeEvent.isComposing) {
            event.preventDefault();
            event.currentTarget.blur();
          }
          else if (event.key === "Escape") {
            event.stopPropagation();
            event.preventDefault();
            setDraft(null);
          }
        }} />
      {problem && <span className="field-error" role="alert">{problem}</span>}
    </span>
  );
}

/** A form with a button that does not wander. */
export function AddLine({ label, placeholder, onAdd }: { label: string; placeholder: string; onAdd: (text: string) => Promise<unknown> }) {
  const [text, setText] = useState("");
  const add = (event: FormEvent): void => {
    event.preventDefault();
    const typed = text.trim();
    if (!typed) return;
    setText("");
    void attempt("Not added", () => onAdd(typed)).then((ok) => !ok && setText(typed));
  };
  return (
    <form className="add-line" onSubmit={add}>
      <input className="input" aria-label={label} placeholder={placeholder} value={text} maxLength={500} onChange={(event) => setText(event.target.value)} />
      <Button type="submit" disabled={!text.trim()}>Add</Button>
    </form>
  );
}

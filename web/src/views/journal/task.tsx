// One task: every field is changed where it stands.
import { useState, type KeyboardEvent } from "react";
import { ArrowLeft, Ellipsis, X } from "lucide-react";
import { journal, write, type Page, type Priority, type Status, type Task, type TaskWhole, type TimeEntry } from "../../api/journal";
import { store, useGet } from "../../api/store";
import { useKeys } from "../../keys";
import { back, go, type Params } from "../../router";
import { attempt, Button, Dialog, IconButton, Input, Menu, say, Select, Shown, Switch, TextArea, Time, useKept } from "../../ui";
import { Markdown } from "../../ui/markdown";
import { Checklists } from "./checklists";
import { Links } from "./links";
import { CategorySelect, InPlace, LabelName, removeRecord, setDone, TimerButton } from "./parts";
import { useSets, type Sets } from "./sets";
import { EditTime, entryMs } from "./time-edit";
import { dayOf, dayWord, clock, isClosed, length, minutesOf, PRIORITIES, PRIORITY, STATUS, STATUSES } from "./words";

/** Shown at once, then said to the server. */
function change(task: TaskWhole, fields: Partial<Record<keyof Task, unknown>>): Promise<boolean> {
  store.put<TaskWhole>(journal.task(task.id), (old) => old && ({ ...old, ...fields } as TaskWhole));
  return attempt("Not saved", () => write.change("tasks", task.id, fields));
}

function Facts({ task, sets }: { task: TaskWhole; sets: Sets }) {
  const [day = "", time = ""] = (task.due ?? "").split("T");
  const due = (nextDay: string, nextTime: string): void => void change(task, { due: nextDay ? nextDay + (nextTime ? `T${nextTime}` : "") : null });
  return (
    <div className="task-fields">
      <Select label="Status" value={task.status} onChange={(event) => void change(task, { status: event.target.value as Status })}>
        {STATUSES.map((status) => <option key={status} value={status}>{STATUS[status].word}</option>)}
      </Select>
      <Select label="Priority" value={task.priority} onChange={(event) => void change(task, { priority: event.target.value as Priority })}>
        {PRIORITIES.map((priority) => <option key={priority} value={priority}>{PRIORITY[priority]}</option>)}
      </Select>
      <Input label="Due" type="date" value={day} onChange={(event) => due(event.target.value, time)} />
      <Input label="At" type="time" value={time} disabled={!day} onChange={(event) => due(day, event.target.value)} />
      <Estimate task={task} />
      <CategorySelect sets={sets} value={task.categoryId ?? ""} onChange={(id) => void change(task, { categoryId: id || null })} />
      <Language task={task} />
    </div>
  );
}
function Estimate({ task }: { task: TaskWhole }) {
  const [typed, setTyped] = useState<string | null>(null);
  const shown = task.estimateMinutes ? length(task.estimateMinutes) : "";
  const minutes = typed === null || !typed.trim() ? null : minutesOf(typed);
  const wrong = typed !== null && !!typed.trim() && (minutes === null || minutes < 1);
  const save = (): void => {
    if (typed !== null && !wrong) void change(task, { estimateMinutes: minutes });
    if (!wrong) setTyped(null);
  };
  return <Input label="Takes" placeholder="2 h 30 min" value={typed ?? shown} error={wrong ? "A length, like 2 h 30 min or 45" : null} onChange={(event) => setTyped(event.target.value)} onBlur={save} onKeyDown={(event) => event.key === "Enter" && save()} />;
}
function Language({ task }: { task: TaskWhole }) {
  const [typed, setTyped] = useState<string | null>(null);
  const save = (): void => {
    if (typed !== null && typed.trim() !== (task.language ?? "")) void change(task, { language: typed.trim() || null });
    setTyped(null);
  };
  return <Input label="Language" placeholder="en" maxLength={35} value={typed ?? task.language ?? ""} onChange={(event) => setTyped(event.target.value)} onBlur={save} onKeyDown={(event) => event.key === "Enter" && save()} />;
}

function Labels({ task, sets }: { task: TaskWhole; sets: Sets }) {
  const [typed, setTyped] = useState("");
  const ids = task.labelIds ?? [];
  const set = (next: string[]): Promise<boolean> => attempt("Not changed", () => write.labels(task.id, next));
  const add = (): void => {
    const name = typed.trim().replace(/^#/, "");
    if (!name) return;
    setTyped("");
    void set([...ids, name]);
  };
  return (
    <div className="row labels">
      {ids.map((id) => (
        <span key={id} className="label-chip"><LabelName label={sets.label(id)} />
          <button type="button" className="chip-x" aria-label={`Take the label ${sets.label(id)?.name ?? id} away`} onClick={() => void set(ids.filter((one) => one !== id))}><X size={12} aria-hidden /></button>
        </span>
      ))}
      <input className="input label-input" list="labels-known" aria-label="Add a label" placeholder="+ label" value={typed} maxLength={100}
        onChange={(event) => setTyped(event.target.value)} onBlur={add} onKeyDown={(event) => { if (event.key === "Enter" || event.key === ",") { event.preventDefault(); add(); } }} />
      <datalist id="labels-known">{sets.labels.filter((label) => !ids.includes(label.id)).map((label) => <option key={label.id} value={label.name} />)}</datalist>
    </div>
  );
}

/** What is written stays until it is saved or thrown away, also when saving fails or another view is opened. */
function Notes({ task }: { task: TaskWhole }) {
  const now = task.notes ?? "";
  const [draft, setDraft] = useKept<{ text: string; from: string }>(`notes ${task.id}`);
  const [busy, setBusy] = useState(false);
  const edit = (): void => setDraft({ text: now, from: now });
  useKeys([{ keys: "e", label: "Edit the notes", group: "Task", run: edit }]);
  const save = async (): Promise<void> => {
    if (!draft || busy) return;
    setBusy(true);
    const ok = draft.text === now || (await attempt("Not saved", () => write.change("tasks", task.id, { notes: draft.text || null }, task.version)));
    setBusy(false);
    if (ok) setDraft(null);
  };
  const discard = (): void => {
    setDraft(null);
    if (draft && draft.text !== now) say("What you wrote is thrown away.", () => setDraft(draft));
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void save();
    else if (event.key === "Escape") {
      event.stopPropagation();
      discard();
    }
  };
  return (
    <section className="stack-tight" aria-labelledby="notes">
      <div className="row row-between"><h3 id="notes">Notes</h3>{!draft && <Button small tone="quiet" keys="e" onClick={edit}>{task.notes ? "Edit" : "Write"}</Button>}</div>
      {draft ? (
        <>
          <TextArea label="Notes, in Markdown" hideLabel rows={8} value={draft.text} autoFocus readOnly={busy} onChange={(event) => setDraft({ ...draft, text: event.target.value })} onKeyDown={key} />
          {draft.from !== now && (
            <div className="small" role="status">
              <p className="warn">The notes were changed elsewhere since you began. Saving puts yours in their place.</p>
              <details><summary>What they say now</summary><pre className="notes-now">{now || "nothing"}</pre></details>
            </div>
          )}
          <div className="row row-end"><Button small onClick={discard}>Discard</Button><Button small tone="primary" busy={busy} onClick={() => void save()} keys="Ctrl Enter">Save</Button></div>
        </>
      ) : task.notes ? <div className="task-notes"><Markdown text={task.notes} /></div> : <p className="muted small">Nothing written yet.</p>}
    </section>
  );
}

function Times({ task }: { task: TaskWhole }) {
  const read = useGet<Page<TimeEntry>>(journal.list("time-entries", { taskId: task.id, order: "newest", limit: 100 }));
  const [edited, setEdited] = useState<TimeEntry | "new" | null>(null);
  return (
    <section className="stack-tight" aria-labelledby="times">
      <div className="row row-between">
        <h3 id="times">Time</h3>
        <span className="muted small number">{length((task.timeMs ?? 0) / 60_000)}{task.estimateMinutes ? ` of ${length(task.estimateMinutes)}` : ""}</span>
      </div>
      <div className="row"><TimerButton task={task} /><Button tone="quiet" onClick={() => setEdited("new")}>Add time</Button></div>
      <Shown of={read} what="times" lines={2}>
        {({ items }) => items.length === 0 ? <p className="muted small">No time logged yet.</p> : (
          <ul className="times">
            {items.map((entry) => (
              <li key={entry.id}>
                <button type="button" className="time-row" onClick={() => setEdited(entry)}>
                  <span>{dayWord(dayOf(entry.startedAt))} {clock(entry.startedAt)}–{entry.endedAt ? clock(entry.endedAt) : "now"}</span>
                  <span className="muted small cut grow">{entry.description}</span>
                  <span className="number">{length(entryMs(entry) / 60_000)}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Shown>
      {edited && <EditTime entry={edited === "new" ? null : edited} taskId={task.id} onClose={() => setEdited(null)} />}
    </section>
  );
}

function FollowUp({ task, onClose }: { task: TaskWhole; onClose: () => void }) {
  const open = (task.checklists ?? []).flatMap((list) => list.items).filter((item) => !item.checked).length;
  const [title, setTitle] = useState(task.title);
  const [carry, setCarry] = useState(open > 0);
  const [close, setClose] = useState(!isClosed(task.status));
  const [keep, setKeep] = useState(true);
  const [busy, setBusy] = useState(false);
  const make = async (): Promise<void> => {
    setBusy(true);
    const ok = await attempt("No follow-up was made", async () => {
      const made = await write.followUp(task.id, { title: title.trim(), carryOpenItems: carry, keepCategoryAndLabels: keep, ...(close ? { closeAs: "DONE" as const } : {}) });
      if (made.task) go(`/journal/tasks/${encodeURIComponent(made.task.id)}`);
      say(made.task ? "The follow-up is made." : "There was nothing to carry on.");
    });
    setBusy(false);
    if (ok) onClose();
  };
  return (
    <Dialog title="Follow-up" onClose={onClose} footer={<><Button onClick={onClose}>Not now</Button><Button tone="primary" busy={busy} disabled={!title.trim()} onClick={() => void make()}>Make it</Button></>}>
      <div className="stack">
        <Input label="What comes next" value={title} maxLength={500} data-autofocus onChange={(event) => setTitle(event.target.value)} />
        <Switch label={`Carry over ${open === 1 ? "the open item" : `the ${open} open items`}`} checked={carry} disabled={open === 0} onChange={setCarry} />
        <Switch label="This one is done" checked={close} disabled={isClosed(task.status)} onChange={setClose} />
        <Switch label="Same category and labels" checked={keep} onChange={setKeep} />
      </div>
    </Dialog>
  );
}

function Whole({ task }: { task: TaskWhole }) {
  const sets = useSets();
  const [following, setFollowing] = useState(false);
  const closed = isClosed(task.status);
  const remove = async (): Promise<void> => {
    if (await removeRecord("tasks", task.id, task.title, () => go(`/journal/tasks/${encodeURIComponent(task.id)}`))) go("/journal");
  };
  useKeys([
    { keys: "x", label: "Done, or open again", group: "Task", run: () => void setDone(task, !closed) },
    { keys: "f", label: "Follow-up", group: "Task", run: () => setFollowing(true) },
  ]);
  return (
    <article className="task" aria-label={task.title}>
      <div className="task-head">
        <IconButton label="Back to the tasks" onClick={() => back("/journal")}><ArrowLeft size={18} /></IconButton>
        <input type="checkbox" className="check check-large" checked={closed} aria-label="Done" onChange={() => void setDone(task, !closed)} />
        <h2 className="grow"><InPlace label="Title" value={task.title} required className="task-name" onSave={(title) => change(task, { title })} /></h2>
        <Menu label="More for this task" icon={<Ellipsis size={18} />} items={[
          { label: "Follow-up", run: () => setFollowing(true) },
          { label: "Delete", danger: true, run: () => void remove() },
        ]} />
      </div>
      <div className="task-columns">
        <div className="stack task-main">
          <Labels task={task} sets={sets} />
          <Notes task={task} />
          <Checklists task={task} />
        </div>
        <div className="stack task-side">
          <Facts key={task.id} task={task} sets={sets} />
          <Times task={task} />
          <Links type="task" id={task.id} />
          <p className="muted small">{task.createdAt && <>Written <Time at={task.createdAt} />. </>}{task.closedAt && <>Closed <Time at={task.closedAt} />.</>}</p>
        </div>
      </div>
      {following && <FollowUp task={task} onClose={() => setFollowing(false)} />}
    </article>
  );
}

export function TaskView({ params }: { params: Params }) {
  const read = useGet<TaskWhole>(journal.task(params["id"] ?? ""));
  return (
    <Shown of={read} what="the task" lines={8}>{(task) => <Whole key={task.id} task={task} />}</Shown>
  );
}

// One logged time, made or changed.
import { useState } from "react";
import { write, type TimeEntry } from "../../api/journal";
import { attempt, Button, Dialog, Input } from "../../ui";
import { CategorySelect, removeRecord } from "./parts";
import { TaskPicker } from "./picker";
import { useSets } from "./sets";
import { length, localInput, momentOf } from "./words";

export const entryMs = (entry: TimeEntry): number => Math.max(0, (entry.endedAt ? Date.parse(entry.endedAt) : Date.now()) - Date.parse(entry.startedAt));

export function EditTime({ entry, taskId, day, onClose }: { entry: TimeEntry | null; taskId?: string; day?: string; onClose: () => void }) {
  const sets = useSets();
  const [task, setTask] = useState(entry?.taskId ?? taskId ?? "");
  const [category, setCategory] = useState(entry?.categoryId ?? "");
  const [what, setWhat] = useState(entry?.description ?? "");
  const [from, setFrom] = useState(entry ? localInput(entry.startedAt) : day ? `${day}T09:00` : localInput(Date.now() - 3_600_000));
  const [to, setTo] = useState(entry ? (entry.endedAt ? localInput(entry.endedAt) : "") : day ? `${day}T10:00` : localInput(Date.now()));
  const [busy, setBusy] = useState(false);
  const lasted = to ? (Date.parse(to) - Date.parse(from)) / 60_000 : null;
  const wrong = !momentOf(from) ? "When did it begin?" : lasted !== null && !(lasted > 0) ? "It must end after it begins" : !to && !entry ? "When did it end?" : null;
  const save = async (): Promise<void> => {
    setBusy(true);
    const fields = { taskId: task || null, categoryId: category || null, description: what.trim() || null, startedAt: momentOf(from), ...(to ? { endedAt: momentOf(to) } : {}) };
    const ok = await attempt("Not saved", () => (entry ? write.change("time-entries", entry.id, fields) : write.create("time-entries", fields)));
    setBusy(false);
    if (ok) onClose();
  };
  const remove = async (): Promise<void> => {
    if (entry && (await removeRecord("time-entries", entry.id, "the logged time"))) onClose();
  };
  return (
    <Dialog title={entry ? "Logged time" : "Add time"} guarded onClose={onClose}
      footer={<>{entry && <Button tone="danger" onClick={() => void remove()}>Delete</Button>}<span className="grow" /><Button onClick={onClose}>Close</Button><Button tone="primary" busy={busy} disabled={!!wrong} onClick={() => void save()}>Save</Button></>}>
      <form className="stack" onSubmit={(event) => { event.preventDefault(); if (!wrong) void save(); }}>
        <div className="pair">
          <Input label="From" type="datetime-local" value={from} onChange={(event) => setFrom(event.target.value)} />
          <Input label="To" type="datetime-local" value={to} onChange={(event) => setTo(event.target.value)} />
        </div>
        <p className={wrong ? "danger small" : "muted small"} role="status">{wrong ?? (lasted === null ? "It runs." : length(lasted))}</p>
        <TaskPicker value={task} onChange={setTask} />
        <CategorySelect sets={sets} value={category} none={task ? "as the task" : "none"} onChange={setCategory} />
        <Input label="What was done" value={what} maxLength={500} onChange={(event) => setWhat(event.target.value)} />
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}

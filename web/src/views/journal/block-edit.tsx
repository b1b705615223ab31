// One block of a day, made or changed.
import { useState } from "react";
import { write, type Block, type Day } from "../../api/journal";
import { attempt, Button, Dialog, Input, say } from "../../ui";
import { momentAt, overlap, type Span } from "./day-model";
import { CategorySelect, TaskLink } from "./parts";
import { TaskPicker } from "./picker";
import { useSets } from "./sets";
import { clock, length } from "./words";

export type Draft = Span & Partial<Pick<Block, "id" | "taskId" | "categoryId" | "note">>;

export function EditBlock({ day, span, draft, onClose }: { day: Day; span: Span; draft: Draft; onClose: () => void }) {
  const sets = useSets();
  const [from, setFrom] = useState(clock(draft.from, day.zone));
  const [to, setTo] = useState(clock(draft.to, day.zone));
  const [task, setTask] = useState(draft.taskId ?? "");
  const [category, setCategory] = useState(draft.categoryId ?? "");
  const [note, setNote] = useState(draft.note ?? "");
  const [busy, setBusy] = useState(false);
  // Times that were not touched stay the moments they are: a clock that shows 02:30 twice can't say which.
  const whole: Span = {
    from: from === clock(draft.from, day.zone) ? draft.from : from ? momentAt(from, span, day.zone) : NaN,
    to: to === clock(draft.to, day.zone) ? draft.to : to ? momentAt(to, span, day.zone, true) : NaN,
  };
  const other = day.blocks.find((block) => block.id !== draft.id && overlap(whole, { from: Date.parse(block.startTime), to: Date.parse(block.endTime) }));
  const wrong = !from || !to ? "When?" : !(whole.to > whole.from) ? "It must end after it begins"
    : other ? `There is a block from ${clock(other.startTime, day.zone)} to ${clock(other.endTime, day.zone)} already` : null;
  const save = async (): Promise<void> => {
    setBusy(true);
    const ok = await attempt("Not saved", () => write.blocks(day.day, [{
      ...(draft.id ? { id: draft.id } : {}), startTime: new Date(whole.from).toISOString(), endTime: new Date(whole.to).toISOString(),
      ...{ taskId: task || null, categoryId: category || null, note: note.trim() || null } as Partial<Block>,
    }]));
    setBusy(false);
    if (ok) onClose();
  };
  const remove = async (): Promise<void> => {
    const id = draft.id;
    if (!id || !(await attempt("Not deleted", () => write.blocks(day.day, [], [id])))) return;
    say("The block is deleted.", () => write.restore("day-plan-blocks", id));
    onClose();
  };
  return (
    <Dialog title={draft.id ? "Block" : "New block"} guarded onClose={onClose}
      footer={<>{draft.id && <Button tone="danger" onClick={() => void remove()}>Delete</Button>}<span className="grow" /><Button onClick={onClose}>Close</Button><Button tone="primary" busy={busy} disabled={!!wrong} onClick={() => void save()}>Save</Button></>}>
      <form className="stack" onSubmit={(event) => { event.preventDefault(); if (!wrong) void save(); }}>
        <div className="pair">
          <Input label="From" type="time" step={300} value={from} onChange={(event) => setFrom(event.target.value)} />
          <Input label="To" type="time" step={300} value={to} onChange={(event) => setTo(event.target.value)} />
        </div>
        <p className={wrong ? "danger small" : "muted small"} role="status">{wrong ?? length((whole.to - whole.from) / 60_000)}</p>
        <TaskPicker value={task} onChange={setTask} />
        {draft.taskId && draft.taskId === task && <p className="small"><TaskLink id={task}>Open the task</TaskLink></p>}
        <CategorySelect sets={sets} value={category} none={task ? "as the task" : "none"} onChange={setCategory} />
        <Input label="Note" value={note} maxLength={1000} onChange={(event) => setNote(event.target.value)} />
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}

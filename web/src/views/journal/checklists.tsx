// Checklists of a task: add, check, rename, put in order, move to another list.
import { useState, type DragEvent, type KeyboardEvent } from "react";
import { Ellipsis, GripVertical, Plus } from "lucide-react";
import { journal, write, type Checklist, type ChecklistItem, type TaskWhole } from "../../api/journal";
import { store } from "../../api/store";
import { attempt, cx, IconButton, Menu, say } from "../../ui";
import { moved, positions } from "./order";
import { AddLine, InPlace, removeRecord } from "./parts";

const DRAGGED = "text/x-item";

/** Shown at once; the reading that follows says whether it holds. */
const expect = (task: string, list: string, change: (items: ChecklistItem[]) => ChecklistItem[]): void =>
  store.put<TaskWhole>(journal.task(task), (old) => old && {
    ...old, checklists: (old.checklists ?? []).map((one) => (one.id === list ? { ...one, items: change(one.items) } : one)),
  });

interface Held {
  index: number;
  list: string;
  id: string;
}
/** What is dragged; null: no item. */
function heldBy(event: DragEvent): Held | null {
  const [index, list, id] = event.dataTransfer.getData(DRAGGED).split(" ");
  return list && id ? { index: Number(index), list, id } : null;
}
const accepts = (event: DragEvent): boolean => {
  if (!event.dataTransfer.types.includes(DRAGGED)) return false;
  event.preventDefault();
  return true;
};

/** Into another list, at its end or where it was put; with the way back. */
async function carry(task: string, item: ChecklistItem, from: Checklist, to: Checklist, at = to.items.length): Promise<boolean> {
  const next = [...to.items.slice(0, at), item, ...to.items.slice(at)];
  expect(task, from.id, (items) => items.filter((one) => one.id !== item.id));
  expect(task, to.id, () => next);
  const ok = await attempt("Not moved", async () => {
    await write.moveItems([item.id], from.id, to.id);
    // It stands at the end now, after all the others.
    const placed = next.map((one) => (one.id === item.id ? { ...one, position: Number.MAX_SAFE_INTEGER } : one));
    if (at < to.items.length) await write.changeAll("checklist-items", positions(placed).map(({ id, position }) => ({ id, fields: { position } })));
  });
  if (ok) say(`Moved to ${to.title}: ${item.title}`, () => write.moveItems([item.id], to.id, from.id));
  return ok;
}

function Item({ item, index, list, others, task, onMove, onTake, onSay }: {
  item: ChecklistItem; index: number; list: Checklist; others: Checklist[]; task: string;
  onMove: (from: number, to: number) => void; onTake: (held: Held, at: number) => void; onSay: (text: string) => void;
}) {
  const [over, setOver] = useState(false);
  const check = (checked: boolean): void => {
    expect(task, list.id, (items) => items.map((one) => (one.id === item.id ? { ...one, checked } : one)));
    void attempt("Not changed", () => write.change("checklist-items", item.id, { checked }));
  };
  const step = (by: number): void => {
    const to = index + by;
    if (to < 0 || to >= list.items.length) return;
    onMove(index, to);
    onSay(`${item.title}: now ${to + 1} of ${list.items.length}`);
  };
  const key = (event: KeyboardEvent): void => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    step(event.key === "ArrowUp" ? -1 : 1);
  };
  const dropped = (event: DragEvent): void => {
    setOver(false);
    const held = heldBy(event);
    if (!held) return;
    event.preventDefault();
    event.stopPropagation();
    if (held.list === list.id) onMove(held.index, index);
    else onTake(held, index);
  };
  return (
    <li className={cx("item-row", over && "item-over")} onKeyDown={key}
      onDragOver={(event) => accepts(event) && setOver(true)} onDragLeave={() => setOver(false)} onDrop={dropped}>
      <span className="grip" draggable aria-hidden onDragStart={(event) => event.dataTransfer.setData(DRAGGED, `${index} ${list.id} ${item.id}`)}><GripVertical size={14} /></span>
      <input type="checkbox" className="check" checked={item.checked} aria-label={item.title} aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown" onChange={(event) => check(event.target.checked)} />
      <InPlace label={`Item: ${item.title}`} value={item.title} required className={cx("grow", item.checked && "item-checked")}
        onSave={(title) => attempt("Not changed", () => write.change("checklist-items", item.id, { title }))} />
      <Menu label={`More for ${item.title}`} icon={<Ellipsis size={16} />} items={[
        { label: "Up", disabled: index === 0, run: () => step(-1) },
        { label: "Down", disabled: index === list.items.length - 1, run: () => step(1) },
        ...others.map((other) => ({ label: `Move to ${other.title}`, run: () => void carry(task, item, list, other) })),
        { label: "Delete", danger: true, run: () => void removeRecord("checklist-items", item.id, item.title) },
      ]} />
    </li>
  );
}

function One({ list, others, task, onSay }: { list: Checklist; others: Checklist[]; task: string; onSay: (text: string) => void }) {
  const done = list.items.filter((item) => item.checked).length;
  const move = (from: number, to: number): void => {
    if (from === to) return;
    const next = moved(list.items, from, to);
    expect(task, list.id, () => next);
    void attempt("Not moved", () => write.changeAll("checklist-items", positions(next).map(({ id, position }) => ({ id, fields: { position } }))));
  };
  const take = (held: Held, at: number): void => {
    const from = others.find((one) => one.id === held.list);
    const item = from?.items.find((one) => one.id === held.id);
    if (from && item) void carry(task, item, from, list, at);
  };
  return (
    <section className="checklist" aria-label={`Checklist ${list.title}`} onDragOver={accepts}
      onDrop={(event) => {
        const held = heldBy(event);
        if (!held || held.list === list.id) return;
        event.preventDefault();
        take(held, list.items.length);
      }}>
      <div className="row row-between">
        <InPlace label="Name of the checklist" value={list.title} required className="checklist-title grow" onSave={(title) => attempt("Not changed", () => write.change("checklists", list.id, { title }))} />
        <span className="muted small number">{done} of {list.items.length}</span>
        <Menu label={`More for ${list.title}`} icon={<Ellipsis size={16} />} items={[
          { label: "Delete the checklist", danger: true, run: () => void removeRecord("checklists", list.id, list.title) },
        ]} />
      </div>
      {list.items.length > 0 && <div className="progress" aria-hidden><div style={{ width: `${(done / list.items.length) * 100}%` }} /></div>}
      <ul className="items">
        {list.items.map((item, i) => <Item key={item.id} item={item} index={i} list={list} others={others} task={task} onMove={move} onTake={take} onSay={onSay} />)}
      </ul>
      <AddLine label={`New item in ${list.title}`} placeholder="New item" onAdd={(title) => write.create("checklist-items", { checklistId: list.id, title })} />
    </section>
  );
}

export function Checklists({ task }: { task: TaskWhole }) {
  const lists = task.checklists ?? [];
  const [said, tell] = useState("");
  const add = (): Promise<boolean> => attempt("Not added", () => write.create("checklists", { taskId: task.id, title: lists.length ? `Checklist ${lists.length + 1}` : "Checklist" }));
  return (
    <section className="stack-tight" aria-labelledby="checklists">
      <div className="row row-between">
        <h3 id="checklists">Checklists</h3>
        <IconButton label="New checklist" onClick={() => void add()}><Plus size={16} /></IconButton>
      </div>
      {lists.length === 0 && <p className="muted small">None yet. Steps go here; they can be carried into a follow-up.</p>}
      {lists.map((list) => <One key={list.id} list={list} others={lists.filter((other) => other !== list)} task={task.id} onSay={tell} />)}
      <p className="visually-hidden" role="status">{said}</p>
    </section>
  );
}

// Chooses a task by typing part of its title.
import { useEffect, useId, useState, type KeyboardEvent } from "react";
import { X } from "lucide-react";
import { journal, type Page, type Task } from "../../api/journal";
import { useGet } from "../../api/store";
import { cx, IconButton } from "../../ui";
import { TaskName } from "./parts";

const SHOWN = 8;

export function TaskPicker({ value, onChange, label = "Task" }: { value: string; onChange: (id: string) => void; label?: string }) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed.trim()), 150);
    return () => clearTimeout(timer);
  }, [typed]);
  const found = useGet<Page<Task>>(open ? journal.list("tasks", { q: asked, limit: SHOWN }) : null).data?.items ?? [];
  const choose = (task: Task | undefined): void => {
    if (!task) return;
    onChange(task.id);
    setTyped("");
    setOpen(false);
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
      setAt((old) => Math.max(0, Math.min(found.length - 1, old + (event.key === "ArrowDown" ? 1 : -1))));
    } else if (event.key === "Enter" && open && found[at]) {
      event.preventDefault();
      choose(found[at]);
    } else if (event.key === "Escape" && open) {
      event.stopPropagation();
      setOpen(false);
    }
  };
  if (value) {
    return (
      <div className="field">
        <span className="field-label">{label}</span>
        <span className="picked"><span className="cut grow"><TaskName id={value} /></span><IconButton label="Another task" onClick={() => onChange("")}><X size={15} /></IconButton></span>
      </div>
    );
  }
  return (
    <div className="field picker">
      <label className="field-label" htmlFor={id}>{label}</label>
      <input id={id} className="input" role="combobox" aria-expanded={open && found.length > 0} aria-controls={`${id}-list`} aria-autocomplete="list" autoComplete="off"
        aria-activedescendant={open && found[at] ? `${id}-${at}` : undefined} placeholder="none; type to find one" value={typed}
        onChange={(event) => { setTyped(event.target.value); setOpen(true); setAt(0); }} onFocus={() => setOpen(true)} onBlur={() => setOpen(false)} onKeyDown={key} />
      {open && found.length > 0 && (
        <ul id={`${id}-list`} role="listbox" aria-label="Tasks" className="picker-list">
          {found.map((task, i) => (
            <li key={task.id} id={`${id}-${i}`} role="option" aria-selected={i === at} className={cx("picker-option cut", i === at && "picker-on")}
              onMouseDown={(event) => { event.preventDefault(); choose(task); }} onMouseMove={() => setAt(i)}>{task.title}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

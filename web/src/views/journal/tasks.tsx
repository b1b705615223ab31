// The list of tasks: quick add on top, filters in the address, as many as there are.
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type MutableRefObject } from "react";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { ListChecks, Search } from "lucide-react";
import { type Task } from "../../api/journal";
import { useKeys } from "../../keys";
import { go, Link, useQuery } from "../../router";
import { Button, Choice, cx, Empty, Select, Skeleton, Trouble } from "../../ui";
import { ALL, address, narrowed, read, tasksPath, type Filters } from "./filters";
import { usePages, type Pages } from "./pages";
import { CategoryName, CategorySelect, DueMark, LabelName, removeRecord, setDone, StatusMark } from "./parts";
import { QuickAdd } from "./quick";
import { useSets, type Sets } from "./sets";
import { isClosed, length, PRIORITY, STATUS, STATUSES, today } from "./words";

const ROW = 52;
const taskPlace = (id: string): string => `/journal/tasks/${encodeURIComponent(id)}`;

function Row({ task, sets, index, onFocus, onDone }: { task: Task; sets: Sets; index: number; onFocus: () => void; onDone: () => void }) {
  const closed = isClosed(task.status);
  return (
    <div className={cx("task-row", closed && "task-closed")} data-row={index}>
      <input type="checkbox" className="check" checked={closed} aria-label={`Done: ${task.title}`} onChange={onDone} onFocus={onFocus} />
      <Link to={taskPlace(task.id)} className="task-link" onFocus={onFocus}>
        <span className="task-title cut">{task.title}</span>
        <span className="task-facts small muted">
          {(task.priority === "P0" || task.priority === "P1") && <span className={cx("task-priority", task.priority === "P0" && "danger")}>{PRIORITY[task.priority]}</span>}
          <DueMark task={task} />
          {task.estimateMinutes && <span className="number">{length(task.estimateMinutes)}</span>}
          <CategoryName category={sets.category(task.categoryId)} />
          {task.labelIds?.map((id) => <LabelName key={id} label={sets.label(id)} />)}
        </span>
      </Link>
      <StatusMark status={task.status} />
    </div>
  );
}

interface ListProps {
  pages: Pages<Task>;
  tasks: Task[];
  sets: Sets;
  at: MutableRefObject<number>;
  finish: (task: Task) => void;
  move: MutableRefObject<(to: number) => void>;
}
function List({ pages, tasks, sets, at, finish, move }: ListProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(frame.current?.offsetTop ?? 0), []);
  const rows = useWindowVirtualizer({ count: tasks.length, estimateSize: () => ROW, overscan: 12, scrollMargin: top, getItemKey: (i) => tasks[i]?.id ?? i });
  const shown = rows.getVirtualItems();
  const last = shown[shown.length - 1]?.index ?? 0;
  useEffect(() => {
    if (pages.more && !pages.loading && last >= tasks.length - 20) pages.next();
  }, [last, tasks.length, pages.more, pages.loading]);
  move.current = (to) => {
    const next = Math.max(0, Math.min(tasks.length - 1, to));
    at.current = next;
    rows.scrollToIndex(next, { align: "auto" });
    // The row may have to be made first.
    let tries = 10;
    const focus = (): void => {
      const link = frame.current?.querySelector<HTMLElement>(`[data-row="${next}"] .task-link`);
      if (link) link.focus({ preventScroll: true });
      else if (tries-- > 0) requestAnimationFrame(focus);
    };
    focus();
  };
  return (
    <div ref={frame} className="task-list" role="list" aria-label="Tasks" style={{ height: rows.getTotalSize() }}>
      {shown.map((row) => {
        const task = tasks[row.index];
        return task && (
          <div key={row.key} ref={rows.measureElement} data-index={row.index} role="listitem" className="task-place" aria-setsize={pages.more ? -1 : tasks.length} aria-posinset={row.index + 1}
            style={{ transform: `translateY(${row.start - top}px)` }}>
            <Row task={task} sets={sets} index={row.index} onFocus={() => (at.current = row.index)} onDone={() => finish(task)} />
          </div>
        );
      })}
    </div>
  );
}

function FilterBar({ filters, sets, onChange }: { filters: Filters; sets: Sets; onChange: (change: Partial<Filters>) => void }) {
  const [typed, setTyped] = useState(filters.text);
  const chosen = [filters.status, filters.category, filters.label, filters.due].filter(Boolean).length;
  const [more, setMore] = useState(chosen > 0); // matters where there is little room
  useEffect(() => setTyped(filters.text), [filters.text]);
  useEffect(() => {
    if (typed === filters.text) return;
    const timer = setTimeout(() => onChange({ text: typed }), 200);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <div className="filters" role="group" aria-label="Which tasks">
      <Choice label="Open or closed" hideLabel value={filters.show} onChange={(show) => onChange({ show, status: "" })}
        options={[{ value: "open", label: "Open" }, { value: "closed", label: "Closed" }, { value: "all", label: "All" }]} />
      <Button small className="filter-fold" aria-expanded={more} aria-controls="filter-more" onClick={() => setMore(!more)}>{more ? "Fewer filters" : "More filters"}{chosen > 0 && ` (${chosen})`}</Button>
      <div className="filter-text"><Search size={15} aria-hidden /><input className="input" type="search" aria-label="Words in the title" placeholder="Words" value={typed} onChange={(event) => setTyped(event.target.value)} /></div>
      <div id="filter-more" className={cx("filter-more", more && "filter-open")}>
      <Select label="Status" hideLabel value={filters.status} onChange={(event) => onChange({ status: event.target.value as Filters["status"] })}>
        <option value="">Any status</option>
        {STATUSES.map((status) => <option key={status} value={status}>{STATUS[status].word}</option>)}
      </Select>
      <CategorySelect sets={sets} hideLabel value={filters.category} none="Any category" onChange={(category) => onChange({ category })} />
      <Select label="Label" hideLabel value={filters.label} onChange={(event) => onChange({ label: event.target.value })}>
        <option value="">Any label</option>
        {sets.labels.map((label) => <option key={label.id} value={label.id}>#{label.name}</option>)}
      </Select>
      <Select label="Due" hideLabel value={filters.due} onChange={(event) => onChange({ due: event.target.value as Filters["due"] })}>
        <option value="">Due any time</option>
        <option value="late">Late</option>
        <option value="today">Due today</option>
        <option value="week">Due within a week</option>
      </Select>
      <Select label="Order" hideLabel value={filters.order} onChange={(event) => onChange({ order: event.target.value as Filters["order"] })}>
        <option value="due">By due day</option>
        <option value="priority">By priority</option>
        <option value="updated">Newest change first</option>
      </Select>
      </div>
    </div>
  );
}

export function Tasks() {
  const search = useQuery();
  const filters = useMemo(() => read(search), [search]);
  const sets = useSets();
  const now = today();
  const pages = usePages<Task>((after) => tasksPath(filters, now, after));
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const tasks = useMemo(() => (gone.size ? pages.items.filter((task) => !gone.has(task.id)) : pages.items), [pages.items, gone]);
  const at = useRef(-1);
  const move = useRef<(to: number) => void>(() => undefined);
  const quick = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    setGone(new Set());
    at.current = -1;
  }, [search]);
  useEffect(() => {
    if (tasks.length === 0 && pages.more && !pages.loading) pages.next(); // a page may be short and yet not the last
  }, [tasks.length, pages.more, pages.loading]);

  /** Off the list at once; back when it fails or is undone, which the reading tells. */
  const away = async (task: Task, act: () => Promise<boolean>): Promise<void> => {
    const index = at.current;
    setGone((old) => new Set(old).add(task.id));
    await act();
    setGone((old) => new Set([...old].filter((id) => id !== task.id)));
    if (index >= 0 && document.activeElement === document.body) move.current(index);
  };
  const finish = (task: Task): void => {
    const done = !isClosed(task.status);
    if (filters.show === "all" || filters.status) void setDone(task, done);
    else void away(task, () => setDone(task, done));
  };
  const here = (): Task | undefined => tasks[at.current];
  const on = (act: (task: Task) => void) => (): void => {
    const task = here();
    if (task) act(task);
  };
  useKeys([
    { keys: "j", label: "Next task", group: "Tasks", stands: "anywhere", run: () => move.current(at.current + 1) },
    { keys: "k", label: "Task before", group: "Tasks", stands: "anywhere", run: () => move.current(at.current - 1) },
    { keys: "x", label: "Done, or open again", group: "Tasks", of: () => here()?.id, run: on(finish) },
    { keys: "e", label: "Edit the task", group: "Tasks", of: () => here()?.id, run: on((task) => go(taskPlace(task.id))) },
    { keys: "Delete", label: "Delete the task", group: "Tasks", of: () => here()?.id, run: on((task) => void away(task, () => removeRecord("tasks", task.id, task.title))) },
    { keys: "n", label: "New task", group: "Tasks", run: () => quick.current?.focus() },
  ]);
  const change = (part: Partial<Filters>): void => go(address({ ...filters, ...part }), true);
  return (
    <section aria-labelledby="tasks" className="stack">
      <h2 id="tasks" className="visually-hidden">Tasks</h2>
      <QuickAdd ref={quick} />
      <FilterBar filters={filters} sets={sets} onChange={change} />
      {tasks.length > 0 ? <List key={address(filters)} pages={pages} tasks={tasks} sets={sets} at={at} finish={finish} move={move} />
        : pages.error ? <Trouble error={pages.error} what="Could not load tasks" retry={pages.reload} />
          : pages.loading || pages.more ? <Skeleton lines={6} label="Loading tasks" />
            : narrowed(filters) ? <Empty icon={<Search size={28} />} title="No task is like that" action={<Button onClick={() => go(address(ALL), true)}>Show all open tasks</Button>} />
              : <Empty icon={<ListChecks size={28} />} title="Nothing to do" action={<Button tone="primary" onClick={() => quick.current?.focus()}>Write the first task</Button>}>Say it in one line, with a day and a length if you like.</Empty>}
      {pages.error && tasks.length > 0 ? <Trouble error={pages.error} what="Could not load more" retry={pages.reload} /> : null}
    </section>
  );
}

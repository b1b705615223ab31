// The hours of a day with its blocks. By hand: drag a block or its edges, drag over what is free, drop a
// task. By keys: arrows move, with shift they make it longer or shorter, Enter edits, Delete takes it away.
import { useEffect, useLayoutEffect, useReducer, useRef, useState, type DragEvent, type KeyboardEvent, type PointerEvent } from "react";
import { Plus } from "lucide-react";
import { journal, write, type Block, type Day, type TimeEntry } from "../../api/journal";
import { store } from "../../api/store";
import { attempt, Button, cx, say } from "../../ui";
import type { Draft } from "./block-edit";
import { at, hours, lanes, settle, snap, STEP, stretched, tall, top, type Span } from "./day-model";
import { TaskName } from "./parts";
import { useSets } from "./sets";
import { EditTime } from "./time-edit";
import { clock, length } from "./words";

const SOON_MS = 500; // keys that follow each other are one change
const STILL_PX = 4; // less is a click
const EDGE_PX = 28; // near the end of what is seen: scroll

interface Drag {
  kind: "move" | "from" | "to" | "new";
  id: string;
  begin: number; // moment under the pointer
  y: number;
  was: Span;
  far: boolean;
}
const iso = (ms: number): string => new Date(ms).toISOString();
const spanOf = (block: Block): Span => ({ from: Date.parse(block.startTime), to: Date.parse(block.endTime) });

/** Places that are not said to the server yet, by id. */
function usePlaces(day: Day) {
  const [moved, setMoved] = useState<ReadonlyMap<string, Span>>(new Map());
  const waiting = useRef(new Map<string, Span>());
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const send = (): void => {
    clearTimeout(timer.current);
    const all = [...waiting.current];
    waiting.current = new Map();
    if (all.length === 0) return;
    const upserts = all.map(([id, { from, to }]) => ({ id, startTime: iso(from), endTime: iso(to) }));
    store.put<Day>(journal.day(day.day), (old) => old && {
      ...old, blocks: old.blocks.map((block) => ({ ...block, ...upserts.find((one) => one.id === block.id) })),
    });
    setMoved(new Map());
    void attempt("Not moved", () => write.blocks(day.day, upserts));
  };
  const latest = useRef(send);
  latest.current = send;
  useEffect(() => () => latest.current(), []);
  const place = (id: string, span: Span, soon: boolean): void => {
    waiting.current.set(id, span);
    setMoved((old) => new Map(old).set(id, span));
    clearTimeout(timer.current);
    if (soon) timer.current = setTimeout(() => latest.current(), SOON_MS);
    else send();
  };
  return { moved, place, flush: send };
}

function Now({ span }: { span: Span }) {
  const [, tick] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const timer = setInterval(tick, 30_000);
    return () => clearInterval(timer);
  }, []);
  const now = Date.now();
  return now >= span.from && now < span.to ? <div className="now" aria-hidden style={{ top: top(now, span) }} /> : null;
}

export function Column({ day, span, names, onEdit, onAdd }: {
  day: Day; span: Span; names: Map<string, string>; onEdit: (draft: Draft) => void; onAdd: () => void;
}) {
  const sets = useSets();
  const scroll = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  const { moved, place, flush } = usePlaces(day);
  const [drag, showDrag] = useState<(Drag & { now: Span }) | null>(null);
  // A pointer that is let go may be faster than the render of where it was: what is held is kept here.
  const held = useRef<(Drag & { now: Span }) | null>(null);
  const setDrag = (next: (Drag & { now: Span }) | null): void => {
    held.current = next;
    showDrag(next);
  };
  const dragged = useRef(false); // a click follows the end of a drag; it means nothing
  const [said, setSaid] = useState("");
  const [edited, setEdited] = useState<TimeEntry | null>(null);
  const blocks = day.blocks.map((block) => ({ block, span: drag?.id === block.id ? drag.now : (moved.get(block.id) ?? spanOf(block)) }))
    .sort((a, b) => a.span.from - b.span.from);
  const others = (id: string): Span[] => day.blocks.filter((block) => block.id !== id).map((block) => moved.get(block.id) ?? spanOf(block));

  useLayoutEffect(() => {
    const now = Date.now();
    const first = Math.min(...day.blocks.map((block) => Date.parse(block.startTime)), now >= span.from && now < span.to ? now : span.from + 8 * 3_600_000);
    if (scroll.current) scroll.current.scrollTop = Math.max(0, top(first, span) - 48);
  }, []);

  const under = (y: number): number => at(y - (sheet.current?.getBoundingClientRect().top ?? 0), span);
  const shown = (one: Span): string => `${clock(one.from, day.zone)} to ${clock(one.to, day.zone)}`;
  const nameOf = (block: Block): string => (block.taskId && names.get(block.taskId)) || block.note || sets.category(block.categoryId)?.name || "Block";

  const wanted = (one: Drag, y: number): Span => {
    const time = under(y);
    if (one.kind === "move") {
      const from = snap(one.was.from + time - one.begin, span);
      const wish = { from, to: from + one.was.to - one.was.from };
      return settle(others(one.id), wish, span) ?? one.was;
    }
    if (one.kind === "new") {
      const [from, to] = time < one.begin ? [time, one.begin] : [one.begin, time];
      const begun = { from: snap(one.begin, span), to: snap(one.begin, span) };
      return stretched(others(""), begun, time < one.begin ? "from" : "to", snap(time < one.begin ? from : to, span), span);
    }
    return stretched(others(one.id), one.was, one.kind, snap(time, span), span);
  };
  const press = (event: PointerEvent<HTMLElement>, kind: Drag["kind"], id: string, was: Span): void => {
    // On a touch screen a finger scrolls; the edges are still drags, the editor has the times.
    if (event.button !== 0 || (event.pointerType === "touch" && (kind === "move" || kind === "new"))) return;
    event.stopPropagation();
    dragged.current = false;
    flush();
    event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ kind, id, begin: under(event.clientY), y: event.clientY, was, far: false, now: was });
  };
  /** Where it is, with the pointer there. */
  const followed = (one: Drag & { now: Span }, y: number): Drag & { now: Span } => {
    const far = one.far || Math.abs(y - one.y) > STILL_PX;
    return far ? { ...one, far, now: wanted(one, y) } : one;
  };
  const follow = (event: PointerEvent): void => {
    if (!held.current) return;
    const next = followed(held.current, event.clientY);
    if (!next.far) return;
    const box = scroll.current?.getBoundingClientRect();
    if (box && event.clientY > box.bottom - EDGE_PX) scroll.current?.scrollBy(0, 12);
    else if (box && event.clientY < box.top + EDGE_PX) scroll.current?.scrollBy(0, -12);
    setDrag(next);
  };
  const release = (event: PointerEvent): void => {
    if (!held.current) return;
    const last = followed(held.current, event.clientY);
    setDrag(null);
    if (last.kind === "new") {
      const free = last.far && last.now.to > last.now.from ? last.now : settle(others(""), { from: snap(last.begin - STEP / 2, span), to: snap(last.begin - STEP / 2, span) + 2 * STEP }, span);
      if (free) onEdit(free);
    } else if (last.far) {
      dragged.current = true;
      place(last.id, last.now, false);
      setSaid(shown(last.now));
    }
  };

  const key = (event: KeyboardEvent, block: Block, now: Span): void => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      flush();
      void remove(block);
    }
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = event.shiftKey ? stretched(others(block.id), now, "to", now.to + by * STEP, span)
      : settle(others(block.id), { from: now.from + by * STEP, to: now.to + by * STEP }, span, by > 0 ? 1 : -1);
    if (!next || (next.from === now.from && next.to === now.to)) return setSaid("There is no room that way");
    place(block.id, next, true);
    setSaid(`${shown(next)}, ${length((next.to - next.from) / 60_000)}`);
  };
  const remove = async (block: Block): Promise<void> => {
    if (!(await attempt("Not deleted", () => write.blocks(day.day, [], [block.id])))) return;
    say("The block is deleted.", () => write.restore("day-plan-blocks", block.id));
    scroll.current?.focus();
  };
  const drop = (event: DragEvent): void => {
    const text = event.dataTransfer.getData("text/x-task");
    if (!text) return;
    event.preventDefault();
    const { id, minutes } = JSON.parse(text) as { id: string; minutes: number };
    const from = snap(under(event.clientY), span);
    const free = settle(others(""), { from, to: from + minutes * 60_000 }, span) ?? settle(others(""), { from, to: from + 2 * STEP }, span);
    if (!free) return say("There is no room left in this day.");
    void attempt("Not planned", () => write.blocks(day.day, [{ taskId: id, startTime: iso(free.from), endTime: iso(free.to) }]))
      .then((ok) => ok && setSaid(`Planned ${shown(free)}`));
  };
  const times = lanes(day.timeEntries.map((entry) => ({ entry, from: Math.max(span.from, Date.parse(entry.startedAt)), to: Math.min(span.to, entry.endedAt ? Date.parse(entry.endedAt) : Date.now()) })).filter((one) => one.to > one.from));

  return (
    <div className="column-frame">
      <div className="row row-between">
        <p className="muted small day-help" id="block-help">Drag to move, its edges to change the length; or arrow keys, with Shift for the length.</p>
        <Button small icon={<Plus size={15} aria-hidden />} keys="n" onClick={onAdd}>Block</Button>
      </div>
      <div ref={scroll} className="hours" tabIndex={0} role="region" aria-label="Hours of the day">
        <div ref={sheet} className="hours-sheet" style={{ height: tall(span) }} onPointerDown={(event) => press(event, "new", "", { from: under(event.clientY), to: under(event.clientY) })}
          onPointerMove={follow} onPointerUp={release} onPointerCancel={() => setDrag(null)}
          onDragOver={(event) => event.dataTransfer.types.includes("text/x-task") && event.preventDefault()} onDrop={drop}>
          {hours(span, day.zone).map((hour, i) => <div key={hour.at} className="hour" aria-hidden style={{ top: top(hour.at, span) }}><span>{i === 0 ? "" : hour.label}</span></div>)}
          {drag?.kind === "new" && drag.far && <div className="block block-new" aria-hidden style={{ top: top(drag.now.from, span), height: tall(drag.now) }} />}
          <ol className="blocks" aria-label="Planned">
            {blocks.map(({ block, span: now }) => (
              <li key={block.id}>
                <button type="button" className={cx("block", drag?.id === block.id && drag.far && "block-held", tall(now) < 40 && "block-low", tall(now) < 24 && "block-tiny")}
                  style={{ top: top(now.from, span), height: Math.max(14, tall(now) - 2), borderLeftColor: sets.category(block.categoryId)?.color }}
                  aria-label={`${shown(now)}: ${nameOf(block)}`} aria-describedby="block-help" aria-keyshortcuts="ArrowUp ArrowDown Shift+ArrowUp Shift+ArrowDown Enter Delete"
                  onPointerDown={(event) => press(event, "move", block.id, now)} onKeyDown={(event) => key(event, block, now)} onBlur={flush}
                  onClick={() => {
                    if (dragged.current) return void (dragged.current = false);
                    flush();
                    onEdit({ ...block, ...now });
                  }}>
                  <span className="block-edge block-edge-from" onPointerDown={(event) => press(event, "from", block.id, now)} />
                  <span className="block-name">{block.taskId && !names.has(block.taskId) ? <TaskName id={block.taskId} /> : nameOf(block)}</span>
                  <span className="block-time number">{clock(now.from, day.zone)}–{clock(now.to, day.zone)}</span>
                  {block.taskId && block.note && <span className="block-note cut">{block.note}</span>}
                  <span className="block-edge block-edge-to" onPointerDown={(event) => press(event, "to", block.id, now)} />
                </button>
              </li>
            ))}
          </ol>
          <ol className="logged" aria-label="Logged time">
            {times.map(({ span: one, lane, of }) => (
              <li key={one.entry.id}>
                <button type="button" className={cx("log", !one.entry.endedAt && "log-runs")} style={{ top: top(one.from, span), height: Math.max(14, tall(one) - 2), left: `${(lane / of) * 100}%`, width: `${100 / of}%` }}
                  title={`${shown(one)} ${one.entry.description ?? ""}`} onPointerDown={(event) => event.stopPropagation()} onClick={() => setEdited(one.entry)}>
                  <span className="visually-hidden">{shown(one)} </span>
                  <span className="log-name">{one.entry.taskId ? names.get(one.entry.taskId) ?? <TaskName id={one.entry.taskId} /> : one.entry.description || "Time"}</span>
                </button>
              </li>
            ))}
          </ol>
          <Now span={span} />
        </div>
      </div>
      <p className="visually-hidden" role="status">{said}</p>
      {edited && <EditTime entry={edited} onClose={() => setEdited(null)} />}
    </div>
  );
}

// How each entry of a conversation looks.
import { memo, useState } from "react";
import { Ban, Brain, Check, ChevronRight, Hand, LoaderCircle, X } from "lucide-react";
import type { Failure } from "../../api/types";
import { duration, firstLine, words } from "../../format";
import { cx, Json, Time } from "../../ui";
import { Markdown } from "../../ui/markdown";
import { Link } from "../../router";
import { notMadeWords, reasonOf } from "../shared/runs";
import { isWake, useWakeNames, wakeTitle, wokeBy } from "../shared/woke";
import { argumentsOf, type Entry } from "./entries";

/** What a call is about, in a few words: its path, command, query or name. */
export function target(input: unknown): string {
  if (typeof input === "string") return firstLine(input, 80);
  if (!input || typeof input !== "object") return "";
  const members = input as Record<string, unknown>;
  for (const name of ["path", "command", "query", "pattern", "glob", "question", "displayName", "channel_id", "to", "skill", "directory"])
    if (typeof members[name] === "string" && members[name]) return firstLine(members[name], 80);
  const first = Object.values(members).find((value) => typeof value === "string" && value);
  return typeof first === "string" ? firstLine(first, 80) : "";
}

type Tool = Extract<Entry, { kind: "tool" }>;

function ToolMark({ entry, waiting }: { entry: Tool; waiting: boolean }) {
  if (entry.status === "completed") return <span className="tool-mark good"><Check size={15} aria-hidden /> <span className="visually-hidden">done</span></span>;
  const notMade = entry.status === "failed" && entry.error ? notMadeWords(entry.error) : "";
  if (notMade) return <span className="tool-mark muted"><Ban size={15} aria-hidden /> {notMade}</span>;
  if (entry.status === "failed") return <span className="tool-mark danger"><X size={15} aria-hidden /> failed</span>;
  if (waiting) return <span className="tool-mark accent"><Hand size={15} aria-hidden /> waits for you</span>;
  return <span className="tool-mark muted"><LoaderCircle size={15} className="spin" aria-hidden /> <span className="visually-hidden">running</span></span>;
}

/** Where a call has led: the agent that was made. */
function Next({ entry }: { entry: Tool }) {
  if (entry.name !== "propose_agent" || entry.status !== "completed") return null;
  const output = argumentsOf(entry.output) as { agent_id?: unknown } | null;
  const made = typeof output?.agent_id === "string" ? output.agent_id : "";
  if (!made) return null;
  return <div className="said-next"><Link className="button button-primary" to={`/agents/${encodeURIComponent(made)}`}>Open {made}</Link></div>;
}

function Why({ error }: { error: Failure }) {
  const notMade = notMadeWords(error);
  if (notMade) return <><h2>Not done</h2><p>{notMade.replace(/^./, (first) => first.toUpperCase())}.{reasonOf(error) && ` Reason: “${reasonOf(error)}”.`}</p></>;
  return <><h2>Refused or failed</h2><p className="danger">{error.message} <span className="muted small">({words(error.code)})</span></p></>;
}

function ToolEntry({ entry, waiting }: { entry: Tool; waiting: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <div className={cx("tool", open && "tool-open")}>
      <button type="button" className="tool-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={15} className="tool-chevron" aria-hidden />
        <span className="tool-name">{entry.name}</span>
        <span className="tool-target cut">{target(entry.input)}</span>
        <ToolMark entry={entry} waiting={waiting} />
        {entry.ms !== undefined && <span className="muted small number">{duration(entry.ms)}</span>}
      </button>
      <Next entry={entry} />
      {open && (
        <div className="tool-body">
          <h2>Asked</h2>
          <Json value={entry.input} />
          {entry.error && <Why error={entry.error} />}
          {entry.output !== undefined && <><h2>Answer</h2><Json value={entry.words ?? entry.output} /></>}
        </div>
      )}
    </div>
  );
}

function Thinking({ text, partial }: { text: string; partial: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <div className={cx("tool", open && "tool-open")}>
      <button type="button" className="tool-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={15} className="tool-chevron" aria-hidden />
        <Brain size={15} aria-hidden />
        <span className="tool-target cut">{partial ? "thinking…" : `thought: ${firstLine(text, 90)}`}</span>
      </button>
      {open && <div className="tool-body thinking-text">{text}</div>}
    </div>
  );
}

const PLACES: Record<string, (id: string) => string> = {
  task: (id) => `/journal/tasks/${encodeURIComponent(id)}`, entry: (id) => `/journal/entries?entry=${encodeURIComponent(id)}`,
};
/** What woke it, in people's words; all that it was told is a click away. */
function Woken({ text, at }: { text: string; at: string }) {
  const names = useWakeNames(true);
  const woke = wokeBy(text);
  return (
    <div className="said said-woke">
      <div className="said-who"><span>What woke it</span> <Time at={at} /></div>
      <div className="woke">
        <p className="woke-title">{wakeTitle(text, names)}</p>
        {woke && woke.reason !== "manual" && woke.told.map((one, i) => <p key={i} className="woke-told">{one}</p>)}
        {woke && woke.changes.length > 0 && (
          <ul className="woke-changes small">
            {woke.changes.map((change) => {
              const place = PLACES[change.type];
              return <li key={change.id}><span className="muted">{change.type}</span> {place ? <Link to={place(change.id)}>{firstLine(change.title, 80)}</Link> : firstLine(change.title, 80)}</li>;
            })}
          </ul>
        )}
        <details className="woke-all small"><summary>All that it was told</summary><pre>{text}</pre></details>
      </div>
    </div>
  );
}

export const EntryView = memo(function EntryView({ entry, name, waiting }: { entry: Entry; name: string; waiting: boolean }) {
  switch (entry.kind) {
    case "user":
      if (isWake(entry.text)) return <Woken text={entry.text} at={entry.at} />;
      return (
        <div className="said said-user">
          <div className="said-who"><span>{entry.woke ? "What woke it" : "You"}</span> <Time at={entry.at} />{entry.sending && <span className="muted small"> sending…</span>}</div>
          <div className="said-bubble">{entry.text}</div>
        </div>
      );
    case "text":
      return (
        <div className="said">
          <div className="said-who"><span>{name}</span> <Time at={entry.at} /></div>
          <Markdown text={entry.text} />
        </div>
      );
    case "thinking":
      return <Thinking text={entry.text} partial={entry.partial !== undefined} />;
    case "tool":
      return <ToolEntry entry={entry} waiting={waiting} />;
    case "note":
      return <p className={cx("said-note", entry.tone === "danger" && "danger")}>{entry.text}</p>;
  }
});

// One wake in a list: when, who, why, and what became of it, with the rest on demand.
import { useState } from "react";
import { ChevronRight } from "lucide-react";
import { paths } from "../../api/client";
import { wakes, type Skip, type Wake } from "../../api/wakes";
import { useGet } from "../../api/store";
import type { Run } from "../../api/types";
import { duration, exact, plural } from "../../format";
import { Link } from "../../router";
import { Badge, cx, Json, Shown, Time } from "../../ui";
import { recordPlace } from "../shared/place";
import type { WakeNames } from "../shared/woke";
import { authorOf, cause, explained, kind, look } from "./words";

const RunLink = ({ id, of = "this wake" }: { id: string; of?: string }) => <Link to={`/runs/${id}`} className="small">Run<span className="visually-hidden"> of {of}</span></Link>;

/** What changed, each where it can be looked at. */
function Changed({ wake }: { wake: Wake }) {
  const records = wake.records ?? [];
  const files = (wake.details?.["files"] ?? []) as { path?: string }[];
  const more = (wake.recordCount ?? records.length) - records.length;
  if (records.length + files.length === 0) return null;
  return (
    <ul className="wake-changes small" aria-label="What changed">
      {records.map(({ type, id, title }) => {
        const place = recordPlace(type, id);
        return <li key={id}><span className="muted">{kind(type)}</span> {place ? <Link to={place}>{title || "without a name"}</Link> : title || id}</li>;
      })}
      {more > 0 && <li className="muted">and {plural(more, "other record")}</li>}
      {files.map(({ path }, i) => <li key={i} className="mono">{path}</li>)}
    </ul>
  );
}

/** The wake that took this one along, and its run. */
function Joined({ into, names }: { into: string; names?: WakeNames | undefined }) {
  const read = useGet<Wake>(wakes.one(into));
  return <p className="small">Done by another wake: {read.data ? <>{cause(read.data, names)}, <Time at={read.data.createdAt} /> {read.data.runId && <RunLink id={read.data.runId} of="that wake" />}</> : <span className="mono">{into.slice(0, 12)}</span>}</p>;
}

function Rest({ wake, names }: { wake: Wake; names?: WakeNames | undefined }) {
  const read = useGet<Wake>(wakes.one(wake.runKey));
  const facts: [string, string | undefined][] = [
    ["By", authorOf(wake)],
    ["Set for", wake.scheduledAt && exact(wake.scheduledAt)],
    ["Not before", wake.notBefore && exact(wake.notBefore)],
    ["Waited", wake.startedAt ? duration(Date.parse(wake.startedAt) - Date.parse(wake.createdAt)) : undefined],
    ["Ran", wake.startedAt && wake.endedAt ? duration(Date.parse(wake.endedAt) - Date.parse(wake.startedAt)) : undefined],
    ["Tries", wake.attempts && wake.attempts > 1 ? String(wake.attempts) : undefined],
    ["Error", wake.errorCode],
    ["Key", wake.runKey],
  ];
  return (
    <div className="wake-rest stack-tight">
      <Changed wake={wake} />
      {wake.coalescedInto && <Joined into={wake.coalescedInto} names={names} />}
      <dl className="wake-facts small">{facts.filter(([, value]) => value).map(([name, value]) => <div key={name}><dt className="muted">{name}</dt><dd className={cx(name === "Key" && "mono")}>{value}</dd></div>)}</dl>
      <Shown of={read} what="what it was about" lines={2}>{(whole) => (whole.details && Object.keys(whole.details).length > 0 ? <details className="small"><summary>All that is known of it</summary><Json value={whole.details} /></details> : <p className="small muted">Nothing more is known.</p>)}</Shown>
    </div>
  );
}

/** Of one that is at it: its run knows whether it waits for somebody. */
function Now({ wake, run }: { wake: Wake; run: string }) {
  const read = useGet<Run>(paths.run(run)).data;
  if (read?.status !== "waiting") return <>{explained(wake)}</>;
  return <>{read.waitKind === "rate_limit" ? "It waits for the model, which takes no more for a while." : "It waits for you."}</>;
}
function Answer({ run }: { run: string }) {
  const read = useGet<Run>(paths.run(run)).data;
  if (read?.status !== "waiting" || read.waitKind === "rate_limit") return null;
  return <Link to={read.waitItem ? `/inbox/${read.waitItem}` : "/inbox"} className="small">Answer</Link>;
}

export function WakeRow({ wake, agent, names }: { wake: Wake; agent?: string | undefined; names?: WakeNames }) {
  const [open, setOpen] = useState(false);
  const { word, tone } = look(wake.status);
  const now = wake.status === "running" && !wake.why ? wake.runId : undefined;
  return (
    <li className="wake">
      <div className="wake-line">
        <button type="button" className="wake-open" aria-expanded={open} onClick={() => setOpen(!open)}>
          <ChevronRight size={15} aria-hidden className={cx("wake-arrow", open && "wake-arrow-open")} />
          <span className="wake-text"><span className="cut">{agent && <strong>{agent} </strong>}{cause(wake, names)}</span><span className="muted small">{now ? <Now wake={wake} run={now} /> : explained(wake)}</span></span>
        </button>
        <span className="wake-side"><Badge tone={tone}>{word}</Badge><span className="muted small"><Time at={wake.createdAt} /></span>{now && <Answer run={now} />}{wake.runId && <RunLink id={wake.runId} />}</span>
      </div>
      {open && <Rest wake={wake} names={names} />}
    </li>
  );
}

const SKIPPED: Record<Skip["reason"], string> = { timer: "by the clock", subscription: "something changes", change: "a change" };
/** What met a subscription, or a timer's time, and woke nobody: a line for each reason. */
export function Skips({ skips, agents }: { skips: Skip[]; agents?: Map<string, string> }) {
  return (
    <ul className="skips small">
      {skips.map((one) => (
        <li key={`${one.reasonId} ${one.skip}`}>
          <span>{agents && one.agentId && <strong>{agents.get(one.agentId) ?? one.agentId} </strong>}{one.name || SKIPPED[one.reason]}: {one.why}</span>
          <span className="muted number skip-count">{plural(one.count, "time")}{one.lastAt && <>, last <Time at={one.lastAt} /></>}</span>
        </li>
      ))}
    </ul>
  );
}

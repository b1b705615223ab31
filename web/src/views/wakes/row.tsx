// One wake in a list: when, who, why, and what became of it, with the rest on demand.
import { useState } from "react";
import { ChevronRight } from "lucide-react";
import { wakes, type Wake } from "../../api/wakes";
import { useGet } from "../../api/store";
import { duration } from "../../format";
import { Link } from "../../router";
import { Badge, cx, Json, Shown, Time } from "../../ui";
import type { WakeNames } from "../shared/woke";
import { cause, explained, look } from "./words";

function Rest({ wake }: { wake: Wake }) {
  const read = useGet<Wake>(wakes.one(wake.runKey));
  const facts: [string, string | undefined][] = [
    ["Waited", wake.startedAt ? duration(Date.parse(wake.startedAt) - Date.parse(wake.createdAt)) : undefined],
    ["Ran", wake.startedAt && wake.endedAt ? duration(Date.parse(wake.endedAt) - Date.parse(wake.startedAt)) : undefined],
    ["Tries", wake.attempts && wake.attempts > 1 ? String(wake.attempts) : undefined],
    ["Not before", wake.notBefore ? new Date(wake.notBefore).toLocaleString("en-GB") : undefined],
    ["Error", wake.errorCode],
    ["Key", wake.runKey],
  ];
  return (
    <div className="wake-rest stack-tight">
      <dl className="wake-facts small">{facts.filter(([, value]) => value).map(([name, value]) => <div key={name}><dt className="muted">{name}</dt><dd className={cx(name === "Key" && "mono")}>{value}</dd></div>)}</dl>
      {wake.coalescedInto && <p className="small muted">Joined the wake <span className="mono">{wake.coalescedInto.slice(0, 12)}</span>.</p>}
      <Shown of={read} what="what it was about" lines={2}>{(whole) => (whole.details && Object.keys(whole.details).length > 0 ? <Json value={whole.details} /> : <p className="small muted">Nothing more is known.</p>)}</Shown>
    </div>
  );
}

export function WakeRow({ wake, agent, names }: { wake: Wake; agent?: string | undefined; names?: WakeNames }) {
  const [open, setOpen] = useState(false);
  const { word, tone } = look(wake.status);
  return (
    <li className="wake">
      <div className="wake-line">
        <button type="button" className="wake-open" aria-expanded={open} onClick={() => setOpen(!open)}>
          <ChevronRight size={15} aria-hidden className={cx("wake-arrow", open && "wake-arrow-open")} />
          <span className="wake-text"><span className="cut">{agent && <strong>{agent} </strong>}{cause(wake, names)}</span><span className="muted small">{explained(wake)}</span></span>
        </button>
        <span className="wake-side"><Badge tone={tone}>{word}</Badge><span className="muted small"><Time at={wake.createdAt} /></span>{wake.runId && <Link to={`/runs/${wake.runId}`} className="small">Run<span className="visually-hidden"> of this wake</span></Link>}</span>
      </div>
      {open && <Rest wake={wake} />}
    </li>
  );
}

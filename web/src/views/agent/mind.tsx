// What an agent keeps in mind from one wake to the next: its slots, each with how often it was set, and how
// long it sleeps. A person may change them, too.
import { useGet } from "../../api/store";
import type { Agent } from "../../api/types";
import { waking, wakes, type Mind } from "../../api/wakes";
import { plural, words } from "../../format";
import { attempt, Button, Shown, Time } from "../../ui";
import { InPlace, TaskLink } from "../journal/parts";
import "../journal/journal.css";

function Held({ agent, mind }: { agent: Agent; mind: Mind }) {
  const change = (fields: Record<string, unknown>): Promise<boolean> => attempt("Not changed", () => waking.remind(agent.id, fields));
  const set = (slot: string): string => (mind.slotVersions?.[slot] ? `set ${plural(mind.slotVersions[slot], "time")}` : "never set");
  const preferences = Object.entries(mind.preferenceByKey);
  return (
    <>
      {mind.sleepUntil && <p className="row row-between"><span>Sleeps: changes and timers wake it again <Time at={mind.sleepUntil} />.</span><Button small onClick={() => void change({ sleepUntil: null })}>End its sleep</Button></p>}
      {mind.backoffUntil && <p className="warn small">It failed {plural(mind.consecutiveFailureCount, "time")} in a row: only you wake it before <Time at={mind.backoffUntil} />.</p>}
      <dl className="mind">
        <dt>Goal <span className="muted small">{set("primaryGoal")}</span></dt>
        <dd><InPlace label="Goal" value={mind.primaryGoal ?? ""} placeholder="none" onSave={(text) => change({ primaryGoal: text || null })} /></dd>
        <dt>Task at hand <span className="muted small">{set("activeTaskId")}</span></dt>
        <dd>{mind.activeTaskId ? <span className="row row-between"><TaskLink id={mind.activeTaskId} /><Button small tone="quiet" onClick={() => void change({ activeTaskId: null })}>Let go</Button></span> : <span className="muted">none</span>}</dd>
        <dt>Open loops <span className="muted small">{set("openLoopIds")}</span></dt>
        <dd>{mind.openLoopIds.length === 0 ? <span className="muted">none</span> : <ul className="mind-list">{mind.openLoopIds.map((id) => <li key={id} className="mono small">{id}</li>)}</ul>}</dd>
        <dt>Preferences <span className="muted small">{set("preferenceByKey")}</span></dt>
        <dd>{preferences.length === 0 ? <span className="muted">none</span> : <ul className="mind-list">{preferences.map(([key, value]) => <li key={key}>{words(key)}: {value}</li>)}</ul>}</dd>
      </dl>
    </>
  );
}

export function MindSection({ agent }: { agent: Agent }) {
  const read = useGet<Mind>(wakes.mind(agent.id));
  return (
    <section className="panel" aria-labelledby="mind">
      <h2 id="mind">In mind</h2>
      <Shown of={read} what="what it keeps in mind" lines={4}>{(mind) => <Held agent={agent} mind={mind} />}</Shown>
    </section>
  );
}

// How an agent lives: whether it wakes by itself, what of the journal it reaches, when a session ends.
import type { Agent, AgentChange, AgentMode } from "../../api/types";
import { Select, Switch } from "../../ui";
import { useSets } from "../journal/sets";
import "../wakes/wakes.css";

const MODES: { value: AgentMode; label: string }[] = [
  { value: "hybrid", label: "wakes by itself, and answers" }, { value: "autonomous", label: "wakes by itself" }, { value: "interactive", label: "only answers you" },
];
const TTLS = [[300, "5 minutes"], [1800, "half an hour"], [7200, "2 hours"], [28_800, "8 hours"], [86_400, "a day"]] as const;

export default function Reach({ agent, onChange }: { agent: Agent; onChange: (change: AgentChange) => void }) {
  const sets = useSets();
  const allowed = agent.allowedCategoryIds ?? [];
  const all = allowed.includes("*");
  const ttl = agent.sessionTtlSeconds || 1800;
  const turn = (id: string, on: boolean): void => onChange({ allowedCategoryIds: on ? [...allowed, id] : allowed.filter((one) => one !== id) });
  return (
    <>
      <Select label="It" value={agent.mode ?? "hybrid"} onChange={(event) => onChange({ mode: event.target.value as AgentMode })}>
        {MODES.map(({ value, label }) => <option key={value} value={value}>{label}</option>)}
      </Select>
      <fieldset className="choice">
        <legend className="field-label">What it reaches of the journal</legend>
        <Switch label="Everything" checked={all} hint={all ? undefined : allowed.length === 0 ? "Now nothing: what is not given is not seen." : undefined} onChange={(on) => onChange({ allowedCategoryIds: on ? ["*"] : [] })} />
        {!all && (
          <div className="ticks">
            {sets.categories.map((one) => (
              <label key={one.id} className="tick"><input type="checkbox" className="tick-box" checked={allowed.includes(one.id)} onChange={(event) => turn(one.id, event.target.checked)} />{one.name}</label>
            ))}
          </div>
        )}
        {!all && sets.categories.length === 0 && <p className="muted small">There are no categories yet; they are made in the journal.</p>}
      </fieldset>
      <Select label="A session ends after this long without a word" value={String(ttl)} onChange={(event) => onChange({ sessionTtlSeconds: Number(event.target.value) })}>
        {TTLS.map(([seconds, word]) => <option key={seconds} value={seconds}>{word}</option>)}
        {!TTLS.some(([seconds]) => seconds === ttl) && <option value={ttl}>{Math.round(ttl / 60)} minutes</option>}
      </Select>
    </>
  );
}

// How an agent lives: whether it wakes by itself, what of the journal it reaches, when a session ends.
import type { Agent, AgentChange, AgentMode } from "../../api/types";
import { Select } from "../../ui";
import Budget from "./budget";
import Categories from "./categories";

const MODES: { value: AgentMode; label: string }[] = [
  { value: "hybrid", label: "wakes by itself, and answers" }, { value: "autonomous", label: "wakes by itself" }, { value: "interactive", label: "only answers you" },
];
const TTLS = [[300, "5 minutes"], [1800, "half an hour"], [7200, "2 hours"], [28_800, "8 hours"], [86_400, "a day"]] as const;

export default function Reach({ agent, onChange }: { agent: Agent; onChange: (change: AgentChange) => void }) {
  const ttl = agent.sessionTtlSeconds || 1800;
  return (
    <>
      <Select label="It" value={agent.mode ?? "hybrid"} onChange={(event) => onChange({ mode: event.target.value as AgentMode })}>
        {MODES.map(({ value, label }) => <option key={value} value={value}>{label}</option>)}
      </Select>
      <Categories chosen={agent.allowedCategoryIds ?? []} onChange={(allowedCategoryIds) => onChange({ allowedCategoryIds })} />
      <Select label="A session ends after this long without a word" value={String(ttl)} onChange={(event) => onChange({ sessionTtlSeconds: Number(event.target.value) })}>
        {TTLS.map(([seconds, word]) => <option key={seconds} value={seconds}>{word}</option>)}
        {!TTLS.some(([seconds]) => seconds === ttl) && <option value={ttl}>{Math.round(ttl / 60)} minutes</option>}
      </Select>
      <Budget agent={agent} />
    </>
  );
}

// An agent's state in words, with since when and why.
import type { Agent } from "../../api/types";
import { Badge, Time, type Tone } from "../../ui";

const TONES: Record<string, Tone> = {
  asleep: "plain", awake: "good", waiting: "accent", paused: "warn", failing: "danger", gone: "plain",
};
export const stateWord = (agent: Agent): string => {
  const word = agent.state?.word ?? (agent.lifecycle === "destroyed" ? "gone" : agent.paused ? "paused" : "asleep");
  return word === "waiting" ? "waiting for you" : word;
};

export function AgentState({ agent, why = true }: { agent: Agent; why?: boolean }) {
  const word = stateWord(agent);
  return (
    <span className="row">
      <Badge tone={TONES[agent.state?.word ?? word] ?? "plain"}>{word}</Badge>
      {why && agent.state?.why && agent.state.word !== "asleep" && <span className="muted small">{agent.state.why}</span>}
      {agent.state?.since && <span className="muted small">since <Time at={agent.state.since} /></span>}
    </span>
  );
}

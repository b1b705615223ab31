// An agent's state in words, with since when and why.
import { Bed, CircleAlert, CircleDot, Hand, Moon, Pause } from "lucide-react";
import type { Agent, AgentState as Shape } from "../../api/types";
import { exact, since } from "../../format";
import "./shared.css";

const LOOK = {
  asleep: { word: "asleep", tone: "muted", Icon: Moon },
  awake: { word: "awake", tone: "good", Icon: CircleDot },
  waiting: { word: "waiting for you", tone: "accent", Icon: Hand },
  paused: { word: "paused", tone: "muted", Icon: Pause },
  failing: { word: "failing", tone: "danger", Icon: CircleAlert },
  gone: { word: "gone", tone: "muted", Icon: Bed },
} as const;

export const stateOf = (agent: Agent): Shape => {
  if (agent.state && agent.state.word in LOOK) return agent.state;
  return { word: agent.lifecycle === "destroyed" ? "gone" : agent.paused ? "paused" : "asleep" };
};
export const stateWord = (agent: Agent): string => LOOK[stateOf(agent).word].word;

/** Reasons that only say the word again are left out: "waiting for you: 2 things wait for you". */
const reason = (state: Shape): string => (state.word === "waiting" ? "" : state.why ?? "");

/** "awake: reading 3 changed tasks", "waiting for you since 09:12". */
export function AgentState({ agent, why = true }: { agent: Agent; why?: boolean }) {
  const state = stateOf(agent);
  const { word, tone, Icon } = LOOK[state.word];
  const because = why ? reason(state) : "";
  return (
    <span className="state">
      <span className={`state-word state-${tone}`}><Icon size={15} aria-hidden /> {word}</span>
      {because && <span className="muted">: {because}</span>}
      {state.since && <span className="muted small"> <time dateTime={state.since} title={exact(state.since)}>{since(state.since)}</time></span>}
    </span>
  );
}

// Moved: how an agent is, in words, is said in one way everywhere.
export { AgentState, stateWord } from "../shared/state";

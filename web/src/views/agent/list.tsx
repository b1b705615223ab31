// All agents.
import { paths } from "../../api/client";
import { useGet } from "../../api/store";
import type { Agent } from "../../api/types";
import { Link } from "../../router";
import { Shown } from "../../ui";

export default function AgentList() {
  const list = useGet<{ agents: Agent[] }>(paths.agents);
  return (
    <div className="page">
      <h1>Agents</h1>
      <Shown of={list} what="agents">
        {({ agents }) => <ul>{agents.map((agent) => <li key={agent.id}><Link to={`/agents/${encodeURIComponent(agent.id)}`}>{agent.displayName}</Link></li>)}</ul>}
      </Shown>
    </div>
  );
}

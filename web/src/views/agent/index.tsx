// One agent: chat, threads, and the panels beside it.
import { paths } from "../../api/client";
import { useGet } from "../../api/store";
import type { Agent } from "../../api/types";
import type { Params } from "../../router";
import { Shown } from "../../ui";

export default function AgentView({ params }: { params: Params }) {
  const agent = useGet<Agent>(paths.agent(params["id"] ?? ""));
  return <div className="page"><Shown of={agent} what="the agent">{(data) => <h1>{data.displayName}</h1>}</Shown></div>;
}

// All agents: what each is for and how it is, making new ones, bringing one in from an archive.
import { useRef } from "react";
import { Copy, Download, Ellipsis, MessageSquare, Pause, Play, Plus, Upload } from "lucide-react";
import { act, paths, url } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { Agent } from "../../api/types";
import { plural, tokens } from "../../format";
import { go, Link } from "../../router";
import { attempt, Button, Empty, Menu, say, Shown, Time } from "../../ui";
import { AgentState } from "./state";
import "./agent.css";

const home = (id: string): string => `/agents/${encodeURIComponent(id)}`;
const refresh = (): void => store.invalidate(paths.agents);

function Card({ agent }: { agent: Agent }) {
  const pause = (): Promise<boolean> => attempt("Could not change", async () => {
    await act.changeAgent(agent.id, { paused: !agent.paused });
    refresh();
    say(agent.paused ? `${agent.displayName} goes on.` : `${agent.displayName} is paused.`,
      () => act.changeAgent(agent.id, { paused: agent.paused }).then(refresh));
  });
  const copy = (): Promise<boolean> => attempt("Could not duplicate", async () => {
    const made = await act.duplicateAgent(agent.id);
    refresh();
    say(`${made.displayName} was made.`);
  });
  return (
    <li className="card agent-card">
      <h2><Link to={home(agent.id)}>{agent.displayName}</Link></h2>
      <AgentState agent={agent} />
      {agent.description && <p className="muted">{agent.description}</p>}
      <p className="muted small number">
        {agent.pending ? <span className="warn">{plural(agent.pending, "thing")} waits for you · </span> : null}
        {agent.lastRunAt ? <>last awake <Time at={agent.lastRunAt} /></> : "never awake so far"}
        {agent.tokensToday ? <> · {tokens(agent.tokensToday)} today</> : null}
      </p>
      <div className="agent-card-tools">
        <Menu label={`More for ${agent.displayName}`} icon={<Ellipsis size={18} />} items={[
          { label: "Chat", icon: <MessageSquare size={15} />, run: () => go(home(agent.id)) },
          { label: agent.paused ? "Resume" : "Pause", icon: agent.paused ? <Play size={15} /> : <Pause size={15} />, run: () => void pause() },
          { label: "Duplicate", icon: <Copy size={15} />, run: () => void copy() },
          { label: "Export", icon: <Download size={15} />, run: () => location.assign(url(`${paths.agent(agent.id)}/export`)) },
        ]} />
      </div>
    </li>
  );
}

export default function AgentList() {
  const list = useGet<{ agents: Agent[] }>(paths.agents);
  const picker = useRef<HTMLInputElement>(null);
  const load = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    await attempt(`Could not import ${file.name}`, async () => {
      const agent = await act.importAgent(file);
      refresh();
      say(`${agent.displayName} was imported.`);
      go(home(agent.id));
    });
  };
  return (
    <div className="page">
      <div className="page-head">
        <h1>Agents</h1>
        <div className="row">
          <Button icon={<Upload size={16} aria-hidden />} onClick={() => picker.current?.click()}>Import</Button>
          <Button tone="primary" icon={<Plus size={16} aria-hidden />} onClick={() => go("/wizard")}>New agent</Button>
        </div>
        <input ref={picker} type="file" hidden accept=".gz,.tgz,.tar" aria-label="Agent archive"
          onChange={(event) => { void load(event.target.files?.[0]); event.target.value = ""; }} />
      </div>
      <Shown of={list} what="agents">
        {({ agents }) => agents.length === 0 ? (
          <Empty title="No agents yet" action={<Button tone="primary" onClick={() => go("/wizard")}>Make one</Button>}>The wizard asks a few questions and proposes one.</Empty>
        ) : (
          <ul className="agent-cards">{agents.map((agent) => <Card key={agent.id} agent={agent} />)}</ul>
        )}
      </Shown>
    </div>
  );
}

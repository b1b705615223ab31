// Who an agent is, how it thinks, and the end of it.
import { Suspense, useEffect, useState } from "react";
import { lately } from "../../ui/lately";
import { act, paths, url } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { Agent, AgentChange, Model } from "../../api/types";
import { go } from "../../router";
import { attempt, Button, Dialog, Input, say, Select, Switch, TextArea } from "../../ui";

const Reach = lately(() => import("./reach"));

function Destroy({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const destroy = async (): Promise<void> => {
    setBusy(true);
    const done = await attempt("Could not destroy", () => act.destroyAgent(agent.id, typed));
    setBusy(false);
    if (!done) return;
    store.invalidate(paths.agents);
    go("/agents", true);
    say(`${agent.displayName} is gone.`);
  };
  return (
    <Dialog title={`Destroy ${agent.displayName}?`} onClose={onClose}
      footer={<><Button onClick={onClose}>Keep it</Button><Button tone="danger" busy={busy} disabled={typed !== agent.displayName} onClick={() => void destroy()}>Destroy</Button></>}>
      <div className="panel">
        <p>Runs under way end, what waits is withdrawn, and its memory is put away. Its conversations stay readable. This can't be undone; export it first to keep a copy.</p>
        <Input label={`Type ${agent.displayName} to confirm`} value={typed} onChange={(event) => setTyped(event.target.value)} data-autofocus autoComplete="off" />
      </div>
    </Dialog>
  );
}

export function SettingsPanel({ agent }: { agent: Agent }) {
  const models = useGet<{ models: Model[] }>(paths.models);
  const [draft, setDraft] = useState<AgentChange>({});
  const [busy, setBusy] = useState(false);
  const [destroying, setDestroying] = useState(false);
  useEffect(() => setDraft({}), [agent.id]);
  const value = <K extends "displayName" | "description" | "instructions" | "model">(name: K): string => draft[name] ?? agent[name] ?? "";
  const changed = Object.keys(draft).length > 0;
  const save = async (change: AgentChange): Promise<void> => {
    setBusy(true);
    store.put<Agent>(paths.agent(agent.id), (old) => old && { ...old, ...change, budget: old.budget });
    const done = await attempt("Could not save", () => act.changeAgent(agent.id, change));
    setBusy(false);
    store.invalidate(paths.agents);
    if (done) setDraft({});
  };
  const duplicate = (): Promise<boolean> => attempt("Could not duplicate", async () => {
    const copy = await act.duplicateAgent(agent.id);
    store.invalidate(paths.agents);
    go(`/agents/${encodeURIComponent(copy.id)}`);
  });
  return (
    <div className="panel">
      <form className="panel" onSubmit={(event) => { event.preventDefault(); void save(draft); }}>
        <h2>Settings</h2>
        <Input label="Name" value={value("displayName")} maxLength={100} onChange={(event) => setDraft({ ...draft, displayName: event.target.value })} />
        <Input label="What it is for" value={value("description")} maxLength={500} onChange={(event) => setDraft({ ...draft, description: event.target.value })} />
        <TextArea label="Instructions" rows={10} value={value("instructions")} hint="It reads these before every answer." onChange={(event) => setDraft({ ...draft, instructions: event.target.value })} />
        <Select label="Model" value={value("model")} onChange={(event) => setDraft({ ...draft, model: event.target.value })}>
          <option value="">the default</option>
          {models.data?.models.map((model) => <option key={model.id} value={model.id}>{model.id}{model.local ? " (stays here)" : ` (${model.host})`}</option>)}
        </Select>
        <div className="row row-end">
          {changed && <Button onClick={() => setDraft({})}>Discard</Button>}
          <Button tone="primary" type="submit" busy={busy} disabled={!changed || !value("displayName").trim()}>Save</Button>
        </div>
      </form>
      <Switch label="Remember harmless things without asking" checked={!!agent.autoApproveMemory}
        hint="Only writes without anything suspicious, and only when nothing untrusted was read. All else still asks."
        onChange={(on) => void save({ autoApproveMemory: on })} />
      <Suspense fallback={null}><Reach agent={agent} onChange={(change) => void save(change)} /></Suspense>
      <Switch label="Paused" checked={agent.paused} hint="It starts nothing until this is off." onChange={(on) => void save({ paused: on })} />
      <div className="row">
        <Button onClick={() => void duplicate()}>Duplicate</Button>
        <a className="button button-plain" href={url(`${paths.agent(agent.id)}/export`)} download={`${agent.id}.tar.gz`}>Export</a>
      </div>
      <section className="danger-zone" aria-label="Destroy">
        <p className="small">Destroying can't be undone.</p>
        <Button tone="danger" onClick={() => setDestroying(true)}>Destroy {agent.displayName}</Button>
      </section>
      {destroying && <Destroy agent={agent} onClose={() => setDestroying(false)} />}
    </div>
  );
}

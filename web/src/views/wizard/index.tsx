// A new agent, by talking with the wizard: it asks, then proposes a form that the person edits and
// accepts. Templates and a plain form are the short ways.
import { Suspense, useEffect, useState } from "react";
import { act, get, paths, sentence } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { Agent, AgentDraft, Template, Thread } from "../../api/types";
import { go, type Params } from "../../router";
import { attempt, Button, Dialog, Input, say, Shown, Skeleton, TextArea, Trouble } from "../../ui";
import { lately } from "../../ui/lately";
import { Chat } from "../agent/chat";
import { Threads } from "../agent/threads";
import "../agent/agent.css";
import { agentPlace, WIZARD } from "../shared/place";
import "./wizard.css";

const Categories = lately(() => import("../agent/categories"));
const place = (thread?: string): string => agentPlace(WIZARD, thread);
/** A conversation in which nothing was said yet is used before another is made. */
async function blank(): Promise<string> {
  const { threads } = await get<{ threads: Thread[] }>("/wizard/threads");
  return threads.find((thread) => thread.messages === 0)?.id ?? (await act.newWizardThread()).threadId;
}

/** "when: a workout is logged; every day at 07:00". */
const wakesWhen = ({ subscriptions = [], timers = [] }: Template): string => {
  const names = [...subscriptions, ...timers].map(({ name }) => name.charAt(0).toLowerCase() + name.slice(1));
  return names.length > 0 ? `by itself: ${names.join("; ")}. You can change that afterwards.` : "when you talk to it.";
};

/** By hand, without the wizard. */
function ByHand({ from, onClose }: { from: Template | null; onClose: () => void }) {
  const [draft, setDraft] = useState<AgentDraft>({
    displayName: from?.name ?? "", description: from?.description ?? "", instructions: from?.instructions ?? "",
    ...(from ? { template: from.id, tools: from.tools } : {}),
  });
  const [busy, setBusy] = useState(false);
  const make = async (): Promise<void> => {
    setBusy(true);
    await attempt("Could not make the agent", async () => {
      const agent = await act.createAgent(draft);
      store.invalidate(paths.agents);
      go(`/agents/${encodeURIComponent(agent.id)}`);
      if (agent.warnings?.length) say(`${agent.displayName} is made. ${agent.warnings.map(sentence).join(" ")}`, () => go(`/agents/${encodeURIComponent(agent.id)}?panel=settings`), "Its settings");
    });
    setBusy(false);
  };
  return (
    <Dialog title={from ? `An agent like ${from.name}` : "A new agent"} wide guarded onClose={onClose}
      footer={<><Button onClick={onClose}>Cancel</Button><Button tone="primary" busy={busy} disabled={!draft.displayName.trim()} onClick={() => void make()}>Make it</Button></>}>
      <form className="panel" onSubmit={(event) => { event.preventDefault(); void make(); }}>
        <Input label="Name" value={draft.displayName} maxLength={100} data-autofocus onChange={(event) => setDraft({ ...draft, displayName: event.target.value })} />
        <Input label="What it is for" value={draft.description ?? ""} maxLength={500} onChange={(event) => setDraft({ ...draft, description: event.target.value })} />
        {from && <p className="small"><span className="field-label">Wakes up</span> {wakesWhen(from)}</p>}
        <Suspense fallback={null}><Categories chosen={draft.allowedCategoryIds ?? []} onChange={(allowedCategoryIds) => setDraft({ ...draft, allowedCategoryIds })} /></Suspense>
        <TextArea label="Instructions" rows={12} value={draft.instructions ?? ""} onChange={(event) => setDraft({ ...draft, instructions: event.target.value })} />
      </form>
    </Dialog>
  );
}

function Starters({ onPick }: { onPick: (template: Template) => void }) {
  const list = useGet<{ templates: Template[] }>(paths.templates);
  return (
    <div>
      <h2>What should it do?</h2>
      <p className="muted">Tell the wizard in your own words, or begin with one of these.</p>
      <Shown of={list} what="templates">
        {({ templates }) => (
          <ul className="starters">
            {templates.map((template) => (
              <li key={template.id}>
                <button type="button" className="starter" onClick={() => onPick(template)}>
                  <strong>{template.name}</strong>
                  <span className="muted small">{template.description}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </div>
  );
}

/** A new conversation; earlier ones are a button away. */
function Enter() {
  const [error, setError] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let open = true;
    setError(null);
    blank().then(
      (id) => open && go(place(id), true),
      (failure: unknown) => open && setError(failure),
    );
    return () => { open = false; };
  }, [tries]);
  if (error) return <div className="page"><Trouble error={error} what="The wizard could not begin" retry={() => setTries(tries + 1)} /></div>;
  return <div className="page"><Skeleton lines={4} label="Waking the wizard" /></div>;
}

export default function Wizard({ params }: { params: Params }) {
  const thread = params["thread"];
  const [picked, setPicked] = useState<Template | "hand" | null>(null);
  const [threads, setThreads] = useState(false);
  const wizard = useGet<Agent>(paths.agent(WIZARD));
  if (!thread) return <Enter />;
  return (
    <div className="wizard">
      <div className="wizard-head">
        <h1>New agent</h1>
        <Button small onClick={() => setThreads(true)}>Earlier</Button>
        <Button small onClick={() => setPicked("hand")}>By hand</Button>
      </div>
      <Chat key={thread} agentId={WIZARD} name={wizard.data?.displayName ?? "Wizard"} thread={thread} autoFocus plain empty={() => <Starters onPick={setPicked} />} />
      {picked && <ByHand from={picked === "hand" ? null : picked} onClose={() => setPicked(null)} />}
      {threads && <Threads agent={WIZARD} current={thread} place={(to) => (to?.includes(":") ? place(to) : place())} onClose={() => setThreads(false)} />}
    </div>
  );
}

// What wakes an agent: subscriptions and timers, what woke it lately, and waking it now.
import { useMemo, useState } from "react";
import { AlarmClock, Pencil, Plus } from "lucide-react";
import { store, useGet } from "../../api/store";
import type { Agent } from "../../api/types";
import { wakes, waking, type Subscription, type Timer, type WakeList } from "../../api/wakes";
import { Link } from "../../router";
import { attempt, Button, Dialog, Empty, IconButton, say, Shown, Switch, TextArea, Time } from "../../ui";
import { Skips, WakeRow } from "../wakes/row";
import { inWords as timerWords, whenOf } from "../wakes/rrule";
import { SubscriptionForm } from "../wakes/subscription-form";
import { TimerForm } from "../wakes/timer-form";
import { inWords } from "../wakes/words";
import "../wakes/wakes.css";

const SHOWN = 8;
const key = (): string => [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function WakeNow({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const [words, setWords] = useState("");
  const [request] = useState(key); // pressed twice, it wakes once
  const [busy, setBusy] = useState(false);
  const wake = async (): Promise<void> => {
    setBusy(true);
    const ok = await attempt("Not woken", () => waking.now(agent.id, words.trim(), request));
    setBusy(false);
    if (!ok) return;
    say(`${agent.displayName} wakes.`);
    onClose();
  };
  return (
    <Dialog title={`Wake ${agent.displayName}`} onClose={onClose} footer={<><Button onClick={onClose}>Let it sleep</Button><Button tone="primary" busy={busy} onClick={() => void wake()}>Wake now</Button></>}>
      <form className="stack" onSubmit={(event) => { event.preventDefault(); void wake(); }}>
        <TextArea label="What it is told" rows={3} data-autofocus value={words} placeholder="Look at what changed today." onChange={(event) => setWords(event.target.value)} />
      </form>
    </Dialog>
  );
}

/** Shown at once; the reading that follows says whether it holds. */
const expect = <R extends { id: string; active: boolean }>(path: string, id: string, active: boolean): void =>
  store.put<{ items: R[] }>(path, (old) => old && { ...old, items: old.items.map((one) => (one.id === id ? { ...one, active } : one)) });

function Subscriptions({ agent, list }: { agent: Agent; list: Subscription[] }) {
  const [edited, setEdited] = useState<Subscription | "new" | null>(null);
  const turn = (one: Subscription, active: boolean): Promise<boolean> => {
    expect<Subscription>(wakes.subscriptions(agent.id), one.id, active);
    return attempt("Not changed", () => waking.changeSubscription(agent.id, one.id, { active }));
  };
  return (
    <section className="panel" aria-labelledby="wakes-changes">
      <div className="row row-between"><h3 id="wakes-changes">Something changes</h3><Button small icon={<Plus size={14} aria-hidden />} onClick={() => setEdited("new")}>Add</Button></div>
      {list.length === 0 ? <p className="muted small">Nothing yet: a task, a workout, a file, a webhook.</p> : (
        <ul className="panel-list">
          {list.map((one) => (
            <li key={one.id} className="rule-row">
              <Switch label={one.name || inWords(one)} checked={one.active} hint={<>{inWords(one)}{one.lastWakeAt && <>. {Date.parse(one.lastWakeAt) > Date.now() ? "Next" : "Last"} <Time at={one.lastWakeAt} /></>}</>} onChange={(on) => void turn(one, on)} />
              <IconButton label={`Change ${one.name || inWords(one)}`} onClick={() => setEdited(one)}><Pencil size={15} /></IconButton>
            </li>
          ))}
        </ul>
      )}
      {edited && <SubscriptionForm agent={agent.id} subscription={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
    </section>
  );
}

function Timers({ agent, list }: { agent: Agent; list: Timer[] }) {
  const [edited, setEdited] = useState<Timer | "new" | null>(null);
  const turn = (one: Timer, active: boolean): Promise<boolean> => {
    expect<Timer>(wakes.timers(agent.id), one.id, active);
    return attempt("Not changed", () => waking.changeTimer(agent.id, one.id, { active }));
  };
  return (
    <section className="panel" aria-labelledby="wakes-clock">
      <div className="row row-between"><h3 id="wakes-clock">By the clock</h3><Button small icon={<Plus size={14} aria-hidden />} onClick={() => setEdited("new")}>Add</Button></div>
      {list.length === 0 ? <p className="muted small">Nothing yet: every day at seven, every Monday.</p> : (
        <ul className="panel-list">
          {list.map((one) => {
            const words = timerWords(whenOf(one));
            return (
              <li key={one.id} className="rule-row">
                <Switch label={one.name || words} checked={one.active} hint={<>{words !== one.name && words}{one.active && one.nextRunAt && <> Next <Time at={one.nextRunAt} />.</>}{one.lastRunAt && <> Last <Time at={one.lastRunAt} />.</>}</>} onChange={(on) => void turn(one, on)} />
                <IconButton label={`Change ${one.name || words}`} onClick={() => setEdited(one)}><Pencil size={15} /></IconButton>
              </li>
            );
          })}
        </ul>
      )}
      {edited && <TimerForm agent={agent.id} timer={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
    </section>
  );
}

export default function WakesPanel({ agent }: { agent: Agent }) {
  const subscriptions = useGet<{ items: Subscription[] }>(wakes.subscriptions(agent.id));
  const timers = useGet<{ items: Timer[] }>(wakes.timers(agent.id));
  const recent = useGet<WakeList>(wakes.list({ agent: agent.id, limit: SHOWN }));
  const [waken, setWaken] = useState(false);
  const names = useMemo(() => ({
    subscriptions: new Map((subscriptions.data?.items ?? []).map((one) => [one.id, one.name])), timers: new Map((timers.data?.items ?? []).map((one) => [one.id, one.name])),
  }), [subscriptions.data, timers.data]);
  return (
    <div className="panel">
      <div className="row row-between"><h2>Wakes up when</h2><Button small icon={<AlarmClock size={14} aria-hidden />} onClick={() => setWaken(true)}>Wake now</Button></div>
      <Shown of={subscriptions} what="what wakes it" lines={2}>{({ items }) => <Subscriptions agent={agent} list={items} />}</Shown>
      <Shown of={timers} what="timers" lines={2}>{({ items }) => <Timers agent={agent} list={items} />}</Shown>
      <section className="panel" aria-labelledby="wakes-recent">
        <div className="row row-between"><h3 id="wakes-recent">Lately</h3><Link to={`/wakes?agent=${encodeURIComponent(agent.id)}`} className="small">All wakes</Link></div>
        <Shown of={recent} what="wakes" lines={3}>{({ items }) => (items.length === 0 ? <Empty title="Nothing has woken it yet" /> : <ul className="wake-list">{items.map((wake) => <WakeRow key={wake.runKey} wake={wake} names={names} />)}</ul>)}</Shown>
      </section>
      {!!recent.data?.skips?.length && (
        <section className="panel" aria-labelledby="wakes-skipped">
          <h3 id="wakes-skipped">What did not wake it</h3>
          <Skips skips={recent.data.skips} />
        </section>
      )}
      {waken && <WakeNow agent={agent} onClose={() => setWaken(false)} />}
    </div>
  );
}

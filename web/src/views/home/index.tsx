// The first look: what waits for you, your agents, and what happened today.
import { Suspense, useMemo } from "react";
import { lately } from "../../ui/lately";
import { useLater } from "../../ui/later";
import { Coffee } from "lucide-react";
import { paths } from "../../api/client";
import { useGet } from "../../api/store";
import type { Agent, InboxItem, Run } from "../../api/types";
import { exact, plural, tokens } from "../../format";
import { go, Link } from "../../router";
import { Badge, Button, Empty, Shown, Time } from "../../ui";
import { summary, target, verbs } from "../inbox/words";
import { asked, runLook, standing, today } from "../shared/runs";
import { AgentState } from "../shared/state";
import { isWake, useWakeNames } from "../shared/woke";
import "./home.css";

const NextWake = lately(() => import("./next-wake"));
const Days = lately(() => import("./days"));

const SHOWN = 6;
const HAPPENED = 12;
const FIRST_RUNS = 30; // the chart reads more, later

/** Nothing is decided from a line of a list: the item shows what it is about. */
function Quick({ item }: { item: InboxItem }) {
  return (
    <div className="row wait-verbs">
      {item.danger && <Badge tone="warn">look twice</Badge>}
      <Link to={`/inbox/${item.id}`} className="button button-quiet button-small wait-look">{verbs(item).answer ? "Answer" : "Look"}</Link>
    </div>
  );
}

function Waiting() {
  const read = useGet<{ items: InboxItem[] }>(paths.inbox);
  return (
    <section aria-labelledby="waiting" className="card waiting">
      <h2 id="waiting" tabIndex={-1} data-quiet-focus>Waiting for you</h2>
      <Shown of={read} what="what waits for you">
        {({ items }) => items.length === 0 ? (
          <p className="calm"><Coffee size={18} aria-hidden /> Nothing waits. Your agents ask here when they need your word.</p>
        ) : (
          <>
            <ul className="waits">
              {items.slice(0, SHOWN).map((item) => (
                <li key={item.id} className="wait">
                  <Link to={`/inbox/${item.id}`} className="wait-text">
                    <span><strong>{item.agentName ?? item.agentId ?? "Dormouse"}</strong> {summary(item)}</span>
                    {target(item) && item.kind !== "question" && <span className="muted small cut">{target(item)}</span>}
                  </Link>
                  <Quick item={item} />
                </li>
              ))}
            </ul>
            {items.length > SHOWN && <Link to="/inbox">{plural(items.length - SHOWN, "more item")} in the inbox</Link>}
          </>
        )}
      </Shown>
    </section>
  );
}

function Agents({ agents }: { agents: Agent[] }) {
  const later = useLater();
  if (agents.length === 0)
    return <Empty title="No agents yet" action={<Button tone="primary" onClick={() => go("/wizard")}>Make your first agent</Button>}>An agent has a name, instructions, a memory you can read, and a leash.</Empty>;
  return (
    <ul className="home-agents">
      {agents.map((agent) => (
        <li key={agent.id}>
          <Link to={`/agents/${encodeURIComponent(agent.id)}`} className="home-agent">
            <span className="home-agent-name"><strong>{agent.displayName}</strong>{agent.description && <span className="muted small cut">{agent.description}</span>}</span>
            <span className="home-agent-state"><AgentState agent={agent} /></span>
            <span className="home-agent-facts muted small number">
              {!!agent.pending && <span><Badge tone="accent">{plural(agent.pending, "item waits", "items wait")}</Badge></span>}
              <span>
                {[
                  agent.tokensToday ? <span key="tokens">{tokens(agent.tokensToday)} today</span> : null,
                  agent.lastRunAt ? <span key="ran">ran <Time at={agent.lastRunAt} /></span> : null,
                ].filter(Boolean)}
              </span>
              {later && <Suspense fallback={null}><NextWake agent={agent.id} /></Suspense>}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Until something has happened: how it begins. */
function FirstSteps() {
  return (
    <ol className="first-steps" aria-label="First steps">
      <li><Link to="/wizard">Make an agent</Link><span className="muted small">A coach, a planner: begin with one that is there, or say what you need.</span></li>
      <li><Link to="/journal/entries?new=workout">Log a workout</Link><span className="muted small">Or a task, a note, your weight. What you write in the journal wakes the agents that wait for it.</span></li>
      <li><Link to="/inbox">Say yes or no</Link><span className="muted small">Before anything risky they ask; it waits in the inbox and here.</span></li>
    </ol>
  );
}

function Today({ runs, names }: { runs: Run[]; names: Map<string, string> }) {
  const now = today(runs);
  const later = useLater();
  const woken = useWakeNames(later && now.some((run) => isWake(run.prompt)));
  const whole = now.length < runs.length || runs.length < FIRST_RUNS; // else more of today were not read
  const spent = now.reduce((sum, run) => sum + (run.inputTokens ?? 0) + (run.outputTokens ?? 0), 0);
  return (
    <>
      {runs.length === 0 ? <FirstSteps /> : now.length === 0 ? <p className="muted">Nothing happened yet today.</p> : (
        <>
          {whole && <p className="muted small number">{plural(now.length, "run")}{spent > 0 && `, ${tokens(spent)}`}</p>}
          <ol className="happened">
            {now.slice(0, HAPPENED).map((run) => (
              <li key={run.runId}>
                <Link to={`/runs/${run.runId}`} className="happen">
                  <time dateTime={run.createdAt} title={exact(run.createdAt)} className="muted number">{new Date(run.createdAt).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}</time>
                  <span className="happen-text">
                    <span className="cut"><strong>{names.get(run.agentId) ?? run.agentId}</strong> {asked(run, woken)}</span>
                    <span className="muted small cut">{run.status === "done" ? standing(run) : <><Badge tone={runLook(run).tone}>{runLook(run).word}</Badge> {run.error?.message}</>}</span>
                  </span>
                </Link>
              </li>
            ))}
          </ol>
        </>
      )}
      {later && runs.length > 0 && <Suspense fallback={null}><Days /></Suspense>}
      {now.length > HAPPENED && <Link to="/runs">All runs</Link>}
    </>
  );
}

export function Home() {
  const agents = useGet<{ agents: Agent[] }>(paths.agents);
  const runs = useGet<{ runs: Run[] }>(paths.runs({ limit: FIRST_RUNS }));
  const names = useMemo(() => new Map(agents.data?.agents.map((agent) => [agent.id, agent.displayName])), [agents.data]);
  return (
    <div className="page home">
      <h1 className="visually-hidden">Home</h1>
      <div className="home-main">
        <Waiting />
        <section aria-labelledby="home-agents">
          <div className="row row-between home-head"><h2 id="home-agents" className="grow">Agents</h2><Link to="/wakes" className="button button-quiet button-small">Wakes</Link><Link to="/wizard" className="button button-plain button-small">New agent</Link></div>
          <Shown of={agents} what="agents">{(data) => <Agents agents={data.agents} />}</Shown>
        </section>
      </div>
      <section aria-labelledby="today" className="home-side">
        <div className="row row-between home-head"><h2 id="today">{runs.data?.runs.length === 0 ? "To begin" : "Today"}</h2><Link to="/journal/entries?new=note" className="button button-quiet button-small">New entry</Link></div>
        <Shown of={runs} what="what happened">{(data) => <Today runs={data.runs} names={names} />}</Shown>
      </section>
    </div>
  );
}

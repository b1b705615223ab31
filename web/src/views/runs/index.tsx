// Runs, the newest first, page by page.
import { useMemo, useState } from "react";
import { SquareActivity } from "lucide-react";
import { paths } from "../../api/client";
import { useGet } from "../../api/store";
import type { Agent, Run } from "../../api/types";
import { duration, money, plural, short, tokens } from "../../format";
import { useKeys } from "../../keys";
import { go, Link, setQuery, useQuery } from "../../router";
import { Badge, Button, cx, Empty, Select, Shown, Time } from "../../ui";
import { Bars } from "../shared/bars";
import { asked, daysKnown, perDay, runLook, standing } from "../shared/runs";
import { isWake, useWakeNames, type WakeNames } from "../shared/woke";
import "./runs.css";

const PAGE = 50;
const READ = 200; // for the charts

function Row({ run, name, woken, chosen }: { run: Run; name: string; woken: WakeNames; chosen: boolean }) {
  const lasted = run.endedAt ? duration(run.activeMs ?? 0) : "";
  return (
    <li>
      <Link to={`/runs/${run.runId}`} className={cx("run-row", chosen && "run-on")} aria-current={chosen ? "true" : undefined}>
        <span className="run-what">
          <span className="cut"><strong>{name}</strong> {asked(run, woken)}</span>
          <span className="muted small cut">{standing(run)}</span>
        </span>
        <span className="run-state"><Badge tone={runLook(run).tone}>{runLook(run).word}</Badge></span>
        <span className="run-number muted small number">{short((run.inputTokens ?? 0) + (run.outputTokens ?? 0))} tokens</span>
        <span className="run-number muted small number">{run.cost ? `cost ${money(run.cost)}` : lasted}</span>
        <span className="run-when muted small"><Time at={run.createdAt} /></span>
      </Link>
    </li>
  );
}

/** A page and, once it is full, the button for the next. */
function Page({ agent, before, names, chosen }: { agent: string; before?: number; names: Map<string, string>; chosen: string | null }) {
  const [more, setMore] = useState(false);
  const read = useGet<{ runs: Run[]; before?: number }>(paths.runs({ limit: PAGE, ...(agent ? { agent } : {}), ...(before ? { before } : {}) }));
  const woken = useWakeNames(!!read.data?.runs.some((run) => isWake(run.prompt)));
  return (
    <Shown of={read} what="runs">
      {(page) => (
        <>
          {page.runs.map((run) => <Row key={run.runId} run={run} woken={woken} name={names.get(run.agentId) ?? run.agentId} chosen={run.runId === chosen} />)}
          {page.before !== undefined &&
            (more ? <Page agent={agent} before={page.before} names={names} chosen={chosen} /> : <li className="run-more"><Button onClick={() => setMore(true)}>Earlier runs</Button></li>)}
        </>
      )}
    </Shown>
  );
}

function Charts({ runs }: { runs: Run[] }) {
  const [count, spent, paid] = useMemo(() => {
    const known = daysKnown(runs, READ, 14);
    const sum = (amount: (run: Run) => number) => perDay(runs, (run) => run.createdAt, amount, known);
    return [sum(() => 1), sum((run) => (run.inputTokens ?? 0) + (run.outputTokens ?? 0)), sum((run) => run.cost ?? 0)];
  }, [runs]);
  return (
    <div className="run-charts">
      <Bars title="Runs a day" bars={count} unit={(n) => plural(n, "run")} />
      <Bars title="Tokens a day" bars={spent} unit={tokens} />
      <Bars title="Cost a day" bars={paid} unit={money} />
    </div>
  );
}

export default function Runs() {
  const agent = useQuery().get("agent") ?? "";
  const agents = useGet<{ agents: Agent[] }>(paths.agents).data?.agents ?? [];
  const first = useGet<{ runs: Run[] }>(paths.runs({ limit: PAGE, ...(agent ? { agent } : {}) }));
  const wide = useGet<{ runs: Run[] }>(paths.runs({ limit: READ }));
  const names = useMemo(() => new Map(agents.map((one) => [one.id, one.displayName])), [agents]);
  const [at, setAt] = useState(-1);
  const list = first.data?.runs ?? [];
  const step = (by: number) => (): void => setAt((old) => Math.min(list.length - 1, Math.max(0, old + by)));
  useKeys([
    { keys: "j", label: "Next run", group: "Runs", stands: "anywhere", run: step(1) },
    { keys: "k", label: "Run before", group: "Runs", stands: "anywhere", run: step(-1) },
    { keys: "Enter", label: "Open the run", group: "Runs", of: () => list[at]?.runId, run: () => list[at] && go(`/runs/${list[at]?.runId}`) },
  ]);
  const none = first.data?.runs.length === 0;
  return (
    <div className="page">
      <div className="page-head">
        <h1>Runs</h1>
        {agents.length > 0 && (
          <Select label="Of which agent" hideLabel className="run-filter" value={agent} onChange={(event) => setQuery("agent", event.target.value || null)}>
            <option value="">All agents</option>
            {agents.map((one) => <option key={one.id} value={one.id}>{one.displayName}</option>)}
          </Select>
        )}
      </div>
      {none ? (
        <Empty icon={<SquareActivity size={28} />} title="Nothing has run yet" action={<Link to="/agents" className="button button-primary">Talk to an agent</Link>}>
          Each time an agent wakes, thinks and acts, that is a run, and all of it can be read here.
        </Empty>
      ) : (
        <>
          {wide.data && wide.data.runs.length > 0 && !agent && <Charts runs={wide.data.runs} />}
          <ul className="run-list" key={agent}><Page agent={agent} names={names} chosen={list[at]?.runId ?? null} /></ul>
        </>
      )}
    </div>
  );
}

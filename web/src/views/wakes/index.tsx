// Every wake and every skip, with its reason.
import { useMemo } from "react";
import { AlarmClock } from "lucide-react";
import { paths } from "../../api/client";
import { useGet } from "../../api/store";
import type { Agent } from "../../api/types";
import { plural } from "../../format";
import { wakes, type Wake, type WakeList } from "../../api/wakes";
import { Link, setQuery, useQuery } from "../../router";
import { Button, Empty, Select, Shown } from "../../ui";
import { usePages } from "../journal/pages";
import { useWakeNames } from "../shared/woke";
import { Skips, WakeRow } from "./row";
import { look, STATUSES } from "./words";
import "./wakes.css";

interface Cause {
  id: string;
  agentId: string;
  name: string;
}
/** Subscriptions and timers, of one agent or of all. */
function useCauses(agent: string): Cause[] {
  const subscriptions = useGet<{ items: Cause[] }>("/subscriptions").data?.items;
  const timers = useGet<{ items: Cause[] }>("/timers").data?.items;
  return useMemo(() => [...(subscriptions ?? []), ...(timers ?? [])].filter((one) => !agent || one.agentId === agent), [subscriptions, timers, agent]);
}

export default function Wakes() {
  const query = useQuery();
  const agent = query.get("agent") ?? "";
  const status = query.get("status") ?? "";
  const agents = useGet<{ agents: Agent[] }>(paths.agents).data?.agents ?? [];
  const names = useMemo(() => new Map(agents.map((one) => [one.id, one.displayName])), [agents]);
  const of = query.get("of") ?? "";
  const known = useWakeNames(true);
  const path = (after?: string): string => wakes.list({ agent, status, reasonId: of, ...(after ? { after } : {}), limit: 50 });
  const pages = usePages<Wake>(path);
  const skips = useGet<WakeList>(path()).data?.skips ?? [];
  const causes = useCauses(agent);
  return (
    <div className="page">
      <div className="page-head">
        <h1>Wakes</h1>
        <div className="row">
          <Select label="Of which agent" hideLabel value={agent} onChange={(event) => { setQuery("of", null); setQuery("agent", event.target.value || null); }}>
            <option value="">All agents</option>
            {agents.map((one) => <option key={one.id} value={one.id}>{one.displayName}</option>)}
          </Select>
          <Select label="What became of it" hideLabel value={status} onChange={(event) => setQuery("status", event.target.value || null)}>
            <option value="">All of them</option>
            {STATUSES.map((one) => <option key={one} value={one}>{look(one).word}</option>)}
          </Select>
          {causes.length > 0 && (
            <Select label="Woken by" hideLabel value={of} onChange={(event) => setQuery("of", event.target.value || null)}>
              <option value="">Whatever woke it</option>
              {causes.map((one) => <option key={one.id} value={one.id}>{one.name || one.id.slice(0, 8)}</option>)}
            </Select>
          )}
        </div>
      </div>
      {skips.length > 0 && (
        <details className="skipped" open={pages.data?.length === 0}>
          <summary>What could have woken somebody, and did not: {plural(skips.reduce((sum, one) => sum + one.count, 0), "time")}</summary>
          <Skips skips={skips} {...(agent ? {} : { agents: names })} />
        </details>
      )}
      <Shown of={pages} what="wakes" lines={6}>
        {() => pages.items.length === 0 ? (
          <Empty icon={<AlarmClock size={28} />} title={agent || status || of ? "No wake is like that" : "Nothing has woken yet"} action={<Link to="/agents" className="button button-plain">Agents</Link>}>
            In an agent's page, under Wakes, you say when it wakes: by the clock, or when something changes.
          </Empty>
        ) : (
          <>
            <ul className="wake-list">{pages.items.map((wake) => <WakeRow key={wake.runKey} wake={wake} agent={names.get(wake.agentId) ?? wake.agentId} names={known} />)}</ul>
            {pages.more && <div className="wake-more"><Button busy={pages.loading} onClick={pages.next}>Earlier wakes</Button></div>}
          </>
        )}
      </Shown>
    </div>
  );
}

// Every wake and every skip, with its reason.
import { useMemo } from "react";
import { AlarmClock } from "lucide-react";
import { paths } from "../../api/client";
import { useGet } from "../../api/store";
import type { Agent } from "../../api/types";
import { wakes, type Wake } from "../../api/wakes";
import { Link, setQuery, useQuery } from "../../router";
import { Button, Empty, Select, Shown } from "../../ui";
import { usePages } from "../journal/pages";
import { useWakeNames } from "../shared/woke";
import { WakeRow } from "./row";
import { look, STATUSES } from "./words";
import "./wakes.css";

export default function Wakes() {
  const query = useQuery();
  const agent = query.get("agent") ?? "";
  const status = query.get("status") ?? "";
  const agents = useGet<{ agents: Agent[] }>(paths.agents).data?.agents ?? [];
  const names = useMemo(() => new Map(agents.map((one) => [one.id, one.displayName])), [agents]);
  const known = useWakeNames(true);
  const pages = usePages<Wake>((after) => wakes.list({ agent, status, ...(after ? { after } : {}), limit: 50 }));
  return (
    <div className="page">
      <div className="page-head">
        <h1>Wakes</h1>
        <div className="row">
          <Select label="Of which agent" hideLabel value={agent} onChange={(event) => setQuery("agent", event.target.value || null)}>
            <option value="">All agents</option>
            {agents.map((one) => <option key={one.id} value={one.id}>{one.displayName}</option>)}
          </Select>
          <Select label="What became of it" hideLabel value={status} onChange={(event) => setQuery("status", event.target.value || null)}>
            <option value="">All of them</option>
            {STATUSES.map((one) => <option key={one} value={one}>{look(one).word}</option>)}
          </Select>
        </div>
      </div>
      <Shown of={pages} what="wakes" lines={6}>
        {() => pages.items.length === 0 ? (
          <Empty icon={<AlarmClock size={28} />} title={agent || status ? "No wake is like that" : "Nothing has woken yet"} action={<Link to="/agents" className="button button-plain">Agents</Link>}>
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

// When an agent wakes next by the clock, and what woke it last. Loaded after the first look.
import { useGet } from "../../api/store";
import { wakes, type Timer, type Wake } from "../../api/wakes";
import { Time } from "../../ui";
import { look } from "../wakes/words";

const READ = 200;

export default function NextWake({ agent }: { agent: string }) {
  const timers = useGet<{ items: Timer[] }>(wakes.allTimers).data?.items ?? [];
  const lately = useGet<{ items: Wake[] }>(wakes.list({ limit: READ })).data?.items ?? [];
  const next = timers.filter((timer) => timer.agentId === agent && timer.active && timer.nextRunAt).map((timer) => timer.nextRunAt as string).sort()[0];
  const last = lately.find((wake) => wake.agentId === agent && wake.status !== "coalesced"); // the one that it joined says more
  if (!last && !next) return null;
  return (
    <span>
      {last && <span>woke <Time at={last.createdAt} />{last.status !== "completed" && ` (${look(last.status).word})`}</span>}
      {next && <span>wakes <Time at={next} /></span>}
    </span>
  );
}

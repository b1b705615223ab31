// The switch that stops everything, in every view. Stopping asks nothing: it can be undone.
import { useState } from "react";
import { Play, Square } from "lucide-react";
import { act, paths } from "../api/client";
import { store, useGet } from "../api/store";
import type { KillSwitch } from "../api/types";
import { attempt, Button, say, Time } from "../ui";

const isAll = (kill: KillSwitch): boolean => kill.scope === "all";
export const useStopped = (): KillSwitch | undefined =>
  useGet<{ switches: KillSwitch[] }>(paths.kill).data?.switches.find(isAll);

const changed = (): void => store.invalidate(paths.kill, "/agents", "/runs");

export async function stopAll(): Promise<void> {
  const done = await attempt("Could not stop", () => act.kill("all", undefined, "stopped from the page"));
  changed();
  if (done) say("Everything is stopped. Runs under way were ended.", resumeAll, "Let agents work again");
}
export async function resumeAll(): Promise<void> {
  const done = await attempt("Could not resume", () => act.unkill("all"));
  changed();
  if (done) say("Agents may work again.");
}

export function StopAll() {
  const stopped = useStopped();
  const [busy, setBusy] = useState(false);
  const run = (what: () => Promise<void>) => (): void => {
    setBusy(true);
    void what().finally(() => setBusy(false));
  };
  if (stopped)
    return <Button className="stop" tone="primary" busy={busy} icon={<Play size={15} aria-hidden />} onClick={run(resumeAll)}>Resume</Button>;
  return (
    <Button className="stop" tone="danger" busy={busy} icon={<Square size={14} fill="currentColor" aria-hidden />} onClick={run(stopAll)}
      title="Ends every run and lets nothing new start, until you resume">
      Stop<span className="stop-all"> all</span>
    </Button>
  );
}

/** Under the header while everything is stopped. */
export function StoppedBanner() {
  const stopped = useStopped();
  if (!stopped) return null;
  return (
    <div className="banner banner-danger" role="status">
      <span><strong>Everything is stopped</strong>, <Time at={stopped.since} prefix="since " />. No agent starts anything until you resume.</span>
      <Button small onClick={() => void resumeAll()}>Resume</Button>
    </div>
  );
}

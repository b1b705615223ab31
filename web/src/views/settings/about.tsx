// Which version runs, and how it is.
import { useGet } from "../../api/store";
import type { Health } from "../../api/types";
import { words } from "../../format";
import { Badge, Shown } from "../../ui";

export function About() {
  const read = useGet<Health>("/healthz");
  return (
    <Shown of={read} what="the state of the server">
      {(health) => (
        <div className="stack">
          <dl className="settings-facts">
            <dt>Version</dt><dd>{health.version}</dd>
            <dt>State</dt><dd><Badge tone={health.status === "ok" ? "good" : "warn"}>{health.status === "ok" ? "well" : health.status}</Badge></dd>
            {Object.entries(health.domains).map(([name, status]) => <div key={name} className="settings-pair"><dt>{words(name)} records</dt><dd>{words(status)}</dd></div>)}
          </dl>
          <p className="muted">Agents that sleep until something needs them, on your own machine. What they do is recorded before it happens, and what they
            may do is decided by you.</p>
          <p><a href="/api/v1/openapi.json">The interface for programs</a> · <a href="/metrics">Metrics</a></p>
        </div>
      )}
    </Shown>
  );
}

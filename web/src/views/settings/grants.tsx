// What was allowed for a run or for always, and the way to take it back.
import { act, paths } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { Agent, Grant } from "../../api/types";
import { words } from "../../format";
import { Link } from "../../router";
import { attempt, Badge, Button, Empty, Json, say, Shown, Time } from "../../ui";

export function Grants() {
  const read = useGet<{ grants: Grant[] }>(paths.grants);
  const agents = useGet<{ agents: Agent[] }>(paths.agents).data?.agents ?? [];
  const revoke = (grant: Grant) => (): void => {
    void attempt("Not taken back", () => act.revokeGrant(grant.id)).then((done) => {
      store.invalidate(paths.grants);
      if (done) say("Taken back; the next time asks again.");
    });
  };
  return (
    <>
      <p className="muted">What you approved for a whole run or for always. Nothing else is done without asking.</p>
      <Shown of={read} what="what was allowed">
        {({ grants }) => grants.length === 0 ? <Empty title="Nothing is allowed in advance">Choose “for this run” or “always” when you approve something, and it stands here.</Empty> : (
          <ul className="setting-list">
            {grants.map((grant) => (
              <li key={grant.id} className="setting">
                <div className="grow stack-tight">
                  <p><strong>{agents.find(({ id }) => id === grant.agentId)?.displayName ?? grant.agentId}</strong> may {words(grant.toolName)} <Badge>{grant.scope === "run" ? "for one run" : "always"}</Badge> <span className="muted small"><Time at={grant.createdAt} prefix="since " />{grant.usedAt ? <>, used <Time at={grant.usedAt} /></> : ", not used yet"}{grant.inboxId && <>, <Link to={`/inbox/${grant.inboxId}`}>what you were asked</Link></>}</span></p>
                  <p>{grant.covers}</p>
                  {grant.pattern !== undefined && <details className="fold"><summary>Exactly this</summary><Json value={grant.pattern} /></details>}
                </div>
                <Button small onClick={revoke(grant)}>Take back</Button>
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </>
  );
}

// Slack: a token, checked when it is given.
import { useState, type FormEvent } from "react";
import { act, paths, sentence } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { SlackStatus } from "../../api/types";
import { attempt, Badge, Button, Input, say, Shown, Time } from "../../ui";

const changed = (): void => store.invalidate("/credentials", paths.secrets);

function Connect() {
  const [token, setToken] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    act.connectSlack(token.trim()).then(
      (status) => {
        setToken("");
        changed();
        say(`Connected to ${status.team ?? "Slack"}.`);
      },
      (failure: unknown) => setError(sentence(failure)),
    ).finally(() => setBusy(false));
  };
  return (
    <form className="stack" onSubmit={send}>
      <ol className="steps">
        <li>Make an app at <a href="https://api.slack.com/apps" target="_blank" rel="noopener noreferrer">api.slack.com/apps</a>, in your workspace.</li>
        <li>Under OAuth &amp; Permissions give it the scopes that your agents need: <code>channels:read</code>, <code>channels:history</code>, <code>users:read</code>, <code>chat:write</code>.</li>
        <li>Install it, and paste its token here.</li>
      </ol>
      <Input label="Token" type="password" value={token} autoComplete="off" placeholder="xoxb-…" error={error} hint="It is checked with Slack, stored on this machine, and never shown again."
        onChange={(event) => setToken(event.target.value)} />
      <div><Button type="submit" tone="primary" busy={busy} disabled={!token.trim()}>Connect</Button></div>
    </form>
  );
}

function Connected({ status }: { status: SlackStatus }) {
  const [busy, setBusy] = useState(false);
  const test = (): void => {
    setBusy(true);
    void attempt("The token does not work", () => act.testSlack()).then((done) => {
      setBusy(false);
      changed();
      if (done) say("Slack answers.");
    });
  };
  const remove = (): void => {
    void attempt("Not disconnected", () => act.removeSlack()).then((done) => {
      changed();
      if (done) say("Slack is disconnected; its token is removed.");
    });
  };
  return (
    <div className="card stack">
      <p><Badge tone="good">connected</Badge> {status.user && <>as <strong>{status.user}</strong> </>}{status.team && <>in <strong>{status.team}</strong></>}</p>
      {status.scopes && status.scopes.length > 0 && <p className="small muted">May: {status.scopes.join(", ")}</p>}
      {status.checked_at && <p className="small muted">Checked <Time at={status.checked_at} /></p>}
      <div className="row"><Button busy={busy} onClick={test}>Test</Button><Button tone="danger" onClick={remove}>Disconnect</Button></div>
    </div>
  );
}

export function Slack() {
  const read = useGet<SlackStatus>(paths.slack);
  return (
    <>
      <p className="muted">Agents with the Slack tools may read channels, and write what you approve: every message waits for you first.</p>
      <Shown of={read} what="the connection">{(status) => (status.configured ? <Connected status={status} /> : <Connect />)}</Shown>
    </>
  );
}

// Google: Gmail and Calendar by OAuth, with a code on another device or a page in this browser.
import { useEffect, useState, type FormEvent } from "react";
import { act, paths, sentence } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { GoogleStart, GoogleStatus } from "../../api/types";
import { attempt, Badge, Button, Choice, CopyButton, Input, say, Shown } from "../../ui";
import { safeHref } from "../../ui/href";

const changed = (): void => store.invalidate("/credentials", paths.secrets);
const POLL_MS = 3000;

function Pending({ start, onBack }: { start: GoogleStart; onBack: () => void }) {
  const link = safeHref(start.verification_url ?? start.auth_url ?? "");
  useEffect(() => {
    const timer = setInterval(() => store.invalidate(paths.google), POLL_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className="card stack" role="status">
      {start.user_code && <p>Open the page below, on any device, and type this code:</p>}
      {start.user_code && <p className="row"><span className="user-code">{start.user_code}</span><CopyButton text={start.user_code} label="Copy the code" /></p>}
      {link && <p><a className="button button-primary" href={link} target="_blank" rel="noopener noreferrer">Open Google's page</a></p>}
      <p className="muted small">This page notices when you are done.</p>
      <div><Button small onClick={onBack}>Begin again</Button></div>
    </div>
  );
}

function Connect({ status }: { status: GoogleStatus }) {
  const [flow, setFlow] = useState<"device" | "loopback">("loopback");
  const [id, setId] = useState("");
  const [secret, setSecret] = useState("");
  const [start, setStart] = useState<GoogleStart | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    act.startGoogle({ flow, ...(id.trim() ? { client_id: id.trim() } : {}), ...(secret ? { client_secret: secret } : {}) }).then(
      (begun) => {
        setSecret("");
        setStart(begun);
        changed();
      },
      (failure: unknown) => setError(sentence(failure)),
    ).finally(() => setBusy(false));
  };
  if (start && (status.pending ?? true) && !status.error) return <Pending start={start} onBack={() => setStart(null)} />;
  return (
    <div className="stack">
      {status.error && <p className="danger" role="alert">{sentence(status.error)}</p>}
      <form className="stack" onSubmit={send}>
        <ol className="steps">
          <li>In the <a href="https://console.cloud.google.com/apis/credentials" target="_blank" rel="noopener noreferrer">Google console</a> make an OAuth client: “Desktop app” for this browser, “TVs and limited input devices” for a code.</li>
          <li>Turn on the Gmail and Calendar APIs there.</li>
          <li>Paste the client here and sign in.</li>
        </ol>
        <Choice label="Sign in" value={flow} onChange={setFlow} options={[{ value: "loopback", label: "In this browser" }, { value: "device", label: "With a code" }]} />
        <Input label="Client id" value={id} autoComplete="off" spellCheck={false} onChange={(event) => setId(event.target.value)} />
        <Input label="Client secret" type="password" value={secret} autoComplete="off" error={error} onChange={(event) => setSecret(event.target.value)} />
        <div><Button type="submit" tone="primary" busy={busy}>Sign in with Google</Button></div>
      </form>
    </div>
  );
}

export function Google() {
  const read = useGet<GoogleStatus>(paths.google);
  const remove = (): void => {
    void attempt("Not disconnected", () => act.removeGoogle()).then((done) => {
      changed();
      if (done) say("Google is disconnected; its tokens are removed.");
    });
  };
  return (
    <>
      <p className="muted">Agents with these tools may read mail and the calendar. Drafts, mails and appointments wait for you before they go out.</p>
      <Shown of={read} what="the connection">
        {(status) => status.configured ? (
          <div className="card stack">
            <p><Badge tone="good">connected</Badge> {status.account && <>as <strong>{status.account}</strong></>}</p>
            {status.scopes && status.scopes.length > 0 && <ul className="small muted scopes">{status.scopes.map((scope) => <li key={scope}>{scope.replace("https://www.googleapis.com/auth/", "")}</li>)}</ul>}
            <div><Button tone="danger" onClick={remove}>Disconnect</Button></div>
          </div>
        ) : <Connect status={status} />}
      </Shown>
    </>
  );
}

// Keys and passwords: set, test, remove. A value goes in and never comes out again.
import { useState, type FormEvent } from "react";
import { KeyRound, Trash2 } from "lucide-react";
import { act, paths } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { Secret } from "../../api/types";
import { attempt, Badge, Button, Dialog, Empty, IconButton, Input, say, Shown } from "../../ui";

function SetSecret({ name: given, onClose }: { name: string; onClose: () => void }) {
  const [name, setName] = useState(given);
  const [value, setValue] = useState("");
  const [busy, setBusy] = useState(false);
  const save = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    void attempt("Not kept", () => act.setSecret(name.trim(), value)).then((done) => {
      setBusy(false);
      setValue("");
      store.invalidate(paths.secrets, paths.models);
      if (!done) return;
      say(`${name.trim()} is kept.`);
      onClose();
    });
  };
  return (
    <Dialog title={given ? `New value of ${given}` : "Add a secret"} onClose={onClose}>
      <form className="stack" onSubmit={save} autoComplete="off">
        {!given && <Input label="Name" value={name} data-autofocus autoComplete="off" spellCheck={false} placeholder="openai-key" hint="As the configuration names it." onChange={(event) => setName(event.target.value)} />}
        <Input label="Value" type="password" value={value} autoComplete="new-password" {...(given ? { "data-autofocus": true } : {})} hint="It is stored on this machine and never shown again." onChange={(event) => setValue(event.target.value)} />
        <div className="row row-end"><Button onClick={onClose}>Cancel</Button><Button type="submit" tone="primary" busy={busy} disabled={!name.trim() || !value}>Keep it</Button></div>
      </form>
    </Dialog>
  );
}

function One({ secret, onSet }: { secret: Secret; onSet: () => void }) {
  const [result, setResult] = useState<{ ok: boolean; message: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const [sure, setSure] = useState(false);
  const test = (): void => {
    setBusy(true);
    void attempt("Not tested", async () => setResult(await act.testSecret(secret.name))).finally(() => setBusy(false));
  };
  const remove = (): void => {
    void attempt("Not removed", () => act.removeSecret(secret.name)).then((done) => {
      store.invalidate(paths.secrets, paths.models);
      setSure(false);
      if (done) say(`${secret.name} is removed.`);
    });
  };
  return (
    <li className="setting">
      <div className="grow">
        <p><strong className="mono">{secret.name}</strong></p>
        <p className="muted small">in {secret.store}{secret.usedBy.length > 0 ? ` · used by ${secret.usedBy.join(", ")}` : " · used by nothing"}</p>
        {result && <p role="status"><Badge tone={result.ok ? "good" : "danger"}>{result.ok ? "works" : "fails"}</Badge> <span className="small">{result.message}</span></p>}
      </div>
      {secret.usedBy.length > 0 && <Button small busy={busy} onClick={test}>Test</Button>}
      <Button small onClick={onSet}>Replace</Button>
      <IconButton label={`Remove ${secret.name}`} onClick={() => setSure(true)}><Trash2 size={16} /></IconButton>
      {sure && (
        <Dialog title={`Remove ${secret.name}?`} onClose={() => setSure(false)}
          footer={<><Button onClick={() => setSure(false)}>Keep it</Button><Button tone="danger" onClick={remove}>Remove</Button></>}>
          <p>Its value can't be brought back.{secret.usedBy.length > 0 && ` ${secret.usedBy.join(", ")} will stop working.`}</p>
        </Dialog>
      )}
    </li>
  );
}

export function Secrets() {
  const read = useGet<{ secrets: Secret[] }>(paths.secrets);
  const [setting, setSetting] = useState<string | null>(null);
  const add = <Button tone="primary" onClick={() => setSetting("")}>Add a secret</Button>;
  return (
    <>
      <p className="muted">Keys that models and tools need. Agents use them without ever seeing them.</p>
      <Shown of={read} what="secrets">
        {({ secrets }) => secrets.length === 0 ? <Empty icon={<KeyRound size={28} />} title="No secrets yet" action={add}>Add a key when a model or a service asks for one.</Empty> : (
          <>
            <ul className="setting-list">{secrets.map((secret) => <One key={secret.name} secret={secret} onSet={() => setSetting(secret.name)} />)}</ul>
            <div>{add}</div>
          </>
        )}
      </Shown>
      {setting !== null && <SetSecret name={setting} onClose={() => setSetting(null)} />}
    </>
  );
}

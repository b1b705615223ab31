// The models there are, where their text goes, and the consent that lets it go there.
import { useState } from "react";
import { act, paths } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { Model } from "../../api/types";
import { short } from "../../format";
import { attempt, Badge, Button, Dialog, Empty, say, Shown } from "../../ui";


function Terms({ model, onClose }: { model: Model; onClose: () => void }) {
  const [busy, setBusy] = useState(false);
  const version = model.privacy?.policyVersion ?? "";
  const agree = (): void => {
    setBusy(true);
    void attempt("Not agreed", () => act.consent(model.id, version)).then((done) => {
      setBusy(false);
      store.invalidate(paths.models);
      if (!done) return;
      say(`Text may go to ${model.host}.`, async () => {
        await act.withdrawConsent(model.id);
        store.invalidate(paths.models);
      });
      onClose();
    });
  };
  return (
    <Dialog title={`Send text to ${model.host}?`} onClose={onClose}
      footer={<><Button onClick={onClose}>Not now</Button><Button tone="primary" busy={busy} onClick={agree}>I agree</Button></>}>
      <div className="stack">
        <p>With the model <strong>{model.id}</strong>, what agents read and write leaves this machine. This is what is known of its provider:</p>
        <dl className="settings-facts">
          <dt>Goes to</dt><dd>{model.host}</dd>
          <dt>Trains on it</dt><dd>{model.privacy?.trains ? "yes" : version ? "no" : "not said"}</dd>
          <dt>Keeps it for</dt><dd>{model.privacy?.retention || "not said"}</dd>
          <dt>Law of</dt><dd>{model.privacy?.jurisdiction || "not said"}</dd>
          <dt>Terms of</dt><dd>{version || "no version stated"}</dd>
        </dl>
        <p className="muted small">You can take this back at any time; nothing more is sent from then on. A change of any of these asks again.</p>
      </div>
    </Dialog>
  );
}

function price({ price, local }: Model): string {
  if (!price || (!price.input && !price.output)) return local ? "free" : "no price set";
  return `$${price.input ?? 0} in, $${price.output ?? 0} out per million tokens`;
}

function One({ model, onTerms }: { model: Model; onTerms: () => void }) {
  const withdraw = (): void => {
    void attempt("Not taken back", () => act.withdrawConsent(model.id)).then((done) => {
      store.invalidate(paths.models);
      if (done) say(`Nothing more is sent to ${model.host}.`);
    });
  };
  return (
    <li className="setting">
      <div className="grow">
        <p><strong>{model.id}</strong>{model.model && model.model !== model.id && <span className="muted"> {model.model}</span>}</p>
        <p className="muted small">{model.local ? "Text stays on this machine" : `Text goes to ${model.host}`} · {model.provider} · {price(model)}
          {model.contextTokens ? ` · ${short(model.contextTokens)} tokens of context` : ""}</p>
      </div>
      {model.consent === "not_needed" && <Badge tone="good">local</Badge>}
      {model.consent === "given" && <><Badge tone="good">consent given</Badge><Button small onClick={withdraw}>Take back</Button></>}
      {model.consent === "needed" && <Button small tone="primary" onClick={onTerms}>Read and agree</Button>}
    </li>
  );
}

export function Models() {
  const read = useGet<{ models: Model[] }>(paths.models);
  const [asked, setAsked] = useState<Model | null>(null);
  return (
    <>
      <p className="muted">An agent thinks with exactly the model that it names, never with another one instead.</p>
      <Shown of={read} what="models">
        {({ models }) => models.length === 0 ? <Empty title="No models">The built-in offline model should be here; look at <code>dormouse doctor</code>.</Empty> : (
          <ul className="setting-list">{models.map((model) => <One key={model.id} model={model} onTerms={() => setAsked(model)} />)}</ul>
        )}
      </Shown>
      <p className="small muted">Add one in the terminal: <code>dormouse model add local --provider openai --base-url http://127.0.0.1:8080/v1</code></p>
      {asked && <Terms model={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

// What an agent knows: its files, their versions, and the way back to each.
import { useState } from "react";
import { FilePlus2, Lock } from "lucide-react";
import { act, paths } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { Agent, MemoryFile, MemoryList, MemoryText, MemoryVersion } from "../../api/types";
import { bytes } from "../../format";
import { setQuery, useQuery } from "../../router";
import { attempt, Badge, Button, Dialog, Diff, Empty, Input, say, Shown, Tabs, TextArea, Time } from "../../ui";
import { Markdown } from "../../ui/markdown";

export const taints = (taint: string[] | undefined): string[] => taint ?? [];
const refresh = (agent: string): void =>
  store.invalidate(paths.memory(agent), `/agents/${encodeURIComponent(agent)}/memory-history`);
export const authorWord = (author: string | undefined): string =>
  !author ? "" : author === "owner" ? "you" : author.startsWith("agent:") ? author.slice(6) : author;

function History({ agent, path, current, onRestored }: { agent: string; path: string; current: number; onRestored: () => void }) {
  const history = useGet<{ versions: MemoryVersion[] }>(paths.memoryHistory(agent, path));
  const [shown, setShown] = useState<number | null>(null);
  const old = useGet<MemoryText>(shown === null ? null : paths.memoryFile(agent, path, shown));
  const now = useGet<MemoryText>(shown === null ? null : paths.memoryFile(agent, path, current));
  const restore = async (version: number): Promise<void> => {
    if (!(await attempt("Could not restore", () => act.restoreMemory(agent, path, version)))) return;
    refresh(agent);
    onRestored();
    say(`Version ${version} of ${path} is back.`, () => act.restoreMemory(agent, path, current).then(() => refresh(agent)));
  };
  return (
    <Shown of={history} what="versions">
      {({ versions }) => (
        <div className="panel">
          <ul className="versions">
            {versions.map((version) => (
              <li key={version.version} className="version">
                <div className="grow">
                  <div>Version {version.version} · {authorWord(version.author)} · <Time at={version.created_at} /> {version.deleted && <Badge tone="danger">deleted</Badge>}{taints(version.taint).length > 0 && <Badge tone="warn">from {taints(version.taint).join(", ")}</Badge>}</div>
                  {version.reason && <div className="panel-note">{version.reason}</div>}
                </div>
                {version.version !== current && !version.deleted && (
                  <>
                    <Button small tone="quiet" aria-pressed={shown === version.version} onClick={() => setShown(shown === version.version ? null : version.version)}>Compare</Button>
                    <Button small onClick={() => void restore(version.version)}>Bring back</Button>
                  </>
                )}
                {version.version === current && <span className="muted small">now</span>}
              </li>
            ))}
          </ul>
          {shown !== null && old.data && now.data && <Diff before={now.data.content} after={old.data.content} label={`version ${shown} instead of ${current}`} />}
        </div>
      )}
    </Shown>
  );
}

function Editor({ agent, file, text, onDone }: { agent: string; file: MemoryFile; text: MemoryText; onDone: () => void }) {
  const [content, setContent] = useState(text.content);
  const [from] = useState(text); // what is edited: a newer version is not taken for it
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    const done = await attempt("Could not save", () =>
      act.writeMemory(agent, file.path, { content, base_version: from.version, ...(reason.trim() ? { reason: reason.trim() } : {}) }));
    setBusy(false);
    if (!done) return;
    refresh(agent);
    onDone();
    say(`${file.path} was saved.`, () => act.restoreMemory(agent, file.path, from.version).then(() => refresh(agent)));
  };
  return (
    <form className="panel" onSubmit={(event) => { event.preventDefault(); void save(); }}>
      <TextArea label="Content" className="mono" rows={14} value={content} onChange={(event) => setContent(event.target.value)} data-autofocus />
      <Input label="Why (optional)" value={reason} onChange={(event) => setReason(event.target.value)} maxLength={500} />
      <div className="row row-end"><Button onClick={onDone}>Cancel</Button><Button tone="primary" type="submit" busy={busy} disabled={content === from.content}>Save</Button></div>
    </form>
  );
}

type Part = "text" | "edit" | "history";
function FileDialog({ agent, file, onClose }: { agent: string; file: MemoryFile; onClose: () => void }) {
  const text = useGet<MemoryText>(paths.memoryFile(agent, file.path));
  const [part, setPart] = useState<Part>("text");
  const remove = async (version: number): Promise<void> => {
    if (!(await attempt("Could not delete", () => act.deleteMemory(agent, file.path)))) return;
    refresh(agent);
    onClose();
    say(`${file.path} was deleted.`, () => act.restoreMemory(agent, file.path, version).then(() => refresh(agent)));
  };
  const tabs: { key: Part; label: string }[] = file.writable
    ? [{ key: "text", label: "Text" }, { key: "edit", label: "Edit" }, { key: "history", label: "History" }]
    : [{ key: "text", label: "Text" }];
  return (
    <Dialog title={file.path} wide guarded onClose={onClose}>
      <Shown of={text} what={file.path}>
        {(data) => (
          <Tabs label="File" tabs={tabs} value={part} onChange={setPart}>
            {part === "text" && (
              <div className="panel">
                {file.path.endsWith(".md") ? <Markdown text={data.content} /> : <pre className="text-view">{data.content}</pre>}
                <p className="panel-note">
                  {data.author && <>Version {data.version} by {authorWord(data.author)}{data.reason && `: ${data.reason}`}. </>}
                  {taints(data.taint).length > 0 && <>Some of it came from {taints(data.taint).join(", ")}. </>}
                  {!file.writable && "Agents can't change this; its settings do."}
                </p>
                {file.writable && <div className="row row-end"><Button tone="danger" onClick={() => void remove(data.version)}>Delete</Button></div>}
              </div>
            )}
            {part === "edit" && <Editor agent={agent} file={file} text={data} onDone={() => setPart("text")} />}
            {part === "history" && <History agent={agent} path={file.path} current={data.version} onRestored={() => setPart("text")} />}
          </Tabs>
        )}
      </Shown>
    </Dialog>
  );
}

function NewFile({ agent, onClose }: { agent: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const [content, setContent] = useState("");
  const [busy, setBusy] = useState(false);
  const path = name.startsWith("knowledge/") ? name : `knowledge/${name}`;
  const save = async (): Promise<void> => {
    setBusy(true);
    const done = await attempt("Could not save", () => act.writeMemory(agent, path, { content, base_version: 0 }));
    setBusy(false);
    if (!done) return;
    refresh(agent);
    onClose();
  };
  return (
    <Dialog title="Something it should know" wide guarded onClose={onClose}
      footer={<><Button onClick={onClose}>Cancel</Button><Button tone="primary" busy={busy} disabled={!name.trim() || !content} onClick={() => void save()}>Save</Button></>}>
      <div className="panel">
        <Input label="File name" hint="In knowledge/, such as preferences.md" value={name} onChange={(event) => setName(event.target.value)} data-autofocus />
        <TextArea label="Content" className="mono" rows={10} value={content} onChange={(event) => setContent(event.target.value)} />
      </div>
    </Dialog>
  );
}

/** The file that the address names, over whatever is shown: a link or something found leads to it. */
export function FileInAddress({ agent }: { agent: Agent }) {
  const path = useQuery().get("file");
  const list = useGet<MemoryList>(path === null ? null : paths.memory(agent.id)).data;
  const close = (): void => setQuery("file", null);
  if (path === null || !list) return null;
  const file = list.files.find((one) => one.path === path);
  if (file) return <FileDialog agent={agent.id} file={file} onClose={close} />;
  return <Dialog title={path} onClose={close}><Empty title="This file is not there">It may have been deleted or renamed since.</Empty></Dialog>;
}

export function MemoryPanel({ agent }: { agent: Agent }) {
  const list = useGet<MemoryList>(paths.memory(agent.id));
  const [adding, setAdding] = useState(false);
  return (
    <Shown of={list} what="memory">
      {({ files, problems, total_bytes, limit_bytes, warning }) => {
        const knows = files.filter((file) => file.writable);
        return (
          <div className="panel">
            <div className="row row-between">
              <h2>Memory</h2>
              <Button small icon={<FilePlus2 size={15} aria-hidden />} onClick={() => setAdding(true)}>Add</Button>
            </div>
            {knows.length === 0 && <Empty title={`${agent.displayName} remembers nothing yet`}>Say “remember that …” in the conversation, or add a file.</Empty>}
            <ul className="panel-list">
              {files.map((file) => (
                <li key={file.path} className="panel-row">
                  <button type="button" className="panel-open" onClick={() => setQuery("file", file.path)}>
                    <span className="panel-name">{file.path}{!file.writable && <Lock size={12} aria-label="read only" />}</span>
                    <span className="panel-note">{bytes(file.size_bytes)}{file.updated_at && <> · <Time at={file.updated_at} /></>}{taints(file.taint).length > 0 && <> · from {taints(file.taint).join(", ")}</>}</span>
                  </button>
                </li>
              ))}
            </ul>
            {problems?.map(({ path, message }) => <p key={path} className="panel-note warn">Not taken: {path} · {message}</p>)}
            <div className="stack-tight">
              <div className={total_bytes >= limit_bytes * 0.8 ? "meter meter-warn" : "meter"} aria-hidden>
                <div style={{ width: `${Math.min(100, (100 * total_bytes) / limit_bytes)}%` }} />
              </div>
              <p className="panel-note number">{bytes(total_bytes)} of {bytes(limit_bytes)}{warning && <span className="warn"> · {warning}</span>}</p>
            </div>
            {adding && <NewFile agent={agent.id} onClose={() => setAdding(false)} />}
          </div>
        );
      }}
    </Shown>
  );
}

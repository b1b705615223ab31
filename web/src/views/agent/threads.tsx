// The conversations with an agent: find, open, rename, delete with a way back.
import { useDeferredValue, useState } from "react";
import { MessageSquarePlus, Pencil, Trash2 } from "lucide-react";
import { act, paths } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { Thread } from "../../api/types";
import { plural } from "../../format";
import { go } from "../../router";
import { isWake, useWakeNames, wakeTitle, type WakeNames } from "../shared/woke";
import { attempt, Badge, Button, cx, Dialog, Empty, IconButton, Input, say, Sheet, Shown, Time } from "../../ui";

export const threadPath = (agent: string, thread: string): string =>
  `/agents/${encodeURIComponent(agent)}/${thread.split("/").map(encodeURIComponent).join("/")}`;
export const newThread = (): string => `chat-${crypto.randomUUID().slice(0, 8)}`;
/** A conversation that nobody named and that a wake began is called by what woke the agent. */
export const threadTitle = (thread: Thread, names?: WakeNames): string =>
  (thread.named ? null : wakeTitle(thread.title, names)) ?? (thread.title || thread.preview || "New conversation");

const refresh = (agent: string): void => store.invalidate(`/agents/${encodeURIComponent(agent)}/threads`);

function Rename({ agent, thread, was, onClose }: { agent: string; thread: Thread; was: string; onClose: () => void }) {
  const [title, setTitle] = useState(was);
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    const done = await attempt("Could not rename", () => act.renameThread(agent, thread.id, title.trim()));
    setBusy(false);
    if (!done) return;
    refresh(agent);
    onClose();
  };
  return (
    <Dialog title="Rename the conversation" onClose={onClose}
      footer={<><Button onClick={onClose}>Cancel</Button><Button tone="primary" busy={busy} disabled={!title.trim()} onClick={() => void save()}>Rename</Button></>}>
      <form onSubmit={(event) => { event.preventDefault(); void save(); }}>
        <Input label="Title" value={title} maxLength={200} data-autofocus onChange={(event) => setTitle(event.target.value)} />
      </form>
    </Dialog>
  );
}

/** place: the address of a conversation; without one, of the view that begins or chooses one. */
export function Threads({ agent, current, place, onClose }: {
  agent: string; current: string; place: (thread?: string) => string; onClose: () => void;
}) {
  const [query, setQuery] = useState("");
  const asked = useDeferredValue(query.trim());
  const list = useGet<{ threads: Thread[] }>(paths.threads(agent, asked ? { query: asked } : {}));
  const names = useWakeNames(!!list.data?.threads.some((thread) => isWake(thread.title)));
  const [renaming, setRenaming] = useState<Thread | null>(null);
  const remove = async (thread: Thread): Promise<void> => {
    if (!(await attempt("Could not delete", () => act.deleteThread(agent, thread.id)))) return;
    refresh(agent);
    if (thread.id === current) go(place(), true);
    say("The conversation was deleted.", () => act.restoreThread(agent, thread.id).then(() => refresh(agent)));
  };
  const open = (to: string): void => { onClose(); go(to); };
  return (
    <Sheet title="Conversations" onClose={onClose}>
      <div className="panel">
        <Button icon={<MessageSquarePlus size={16} aria-hidden />} onClick={() => open(place(newThread()))}>New conversation</Button>
        <Input label="Search conversations" hideLabel type="search" placeholder="Search" value={query} onChange={(event) => setQuery(event.target.value)} />
        <Shown of={list} what="conversations">
          {({ threads }) => threads.length === 0 ? (
            <Empty title={asked ? "Nothing found" : "No conversations yet"}>{asked ? "Try other words." : "Write something, and it begins."}</Empty>
          ) : (
            <ul className="panel-list">
              {threads.map((thread) => (
                <li key={thread.id} className="panel-row">
                  <button type="button" className={cx("panel-open")} aria-current={thread.id === current || undefined}
                    onClick={() => open(place(thread.id))}>
                    <span className="cut">{threadTitle(thread, names)}</span>
                    <span className="panel-note"><Time at={thread.updatedAt} /> · {plural(thread.messages, "message")}{thread.pending ? <> <Badge tone="accent">waits for you</Badge></> : null}</span>
                  </button>
                  <IconButton label={`Rename ${threadTitle(thread, names)}`} onClick={() => setRenaming(thread)}><Pencil size={15} /></IconButton>
                  <IconButton label={`Delete ${threadTitle(thread, names)}`} onClick={() => void remove(thread)}><Trash2 size={15} /></IconButton>
                </li>
              ))}
            </ul>
          )}
        </Shown>
      </div>
      {renaming && <Rename agent={agent} thread={renaming} was={renaming.title ? threadTitle(renaming, names) : ""} onClose={() => setRenaming(null)} />}
    </Sheet>
  );
}

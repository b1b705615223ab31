// Everything that waits for a person: a list, and the chosen item beside it.
import { useEffect, useMemo, useRef, useState } from "react";
import { ArrowLeft, Inbox as InboxIcon } from "lucide-react";
import { paths } from "../../api/client";
import { useGet } from "../../api/store";
import type { InboxItem } from "../../api/types";
import { useKeys, useStray } from "../../keys";
import { go, Link, setQuery, useQuery, type Params } from "../../router";
import { Badge, cx, Empty, Shown, Tabs, Time } from "../../ui";
import { ItemDetail } from "./detail";
import { kindWord, memoryOf, stateOf, summary, taintOf, target } from "./words";
import "./inbox.css";

type Which = "waiting" | "decided";

function Entry({ item, chosen, which, onPick }: { item: InboxItem; chosen: boolean; which: Which; onPick: () => void }) {
  const place = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (chosen) place.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const flags = memoryOf(item)?.suspicious_flags?.length ?? 0;
  return (
    <li ref={place}>
      <Link to={`/inbox/${item.id}${which === "decided" ? "?show=decided" : ""}`} className={cx("entry", chosen && "entry-on")} aria-current={chosen ? "true" : undefined} onClick={onPick}>
        <span className="entry-line"><strong>{item.agentName ?? item.agentId ?? "Dormouse"}</strong> {summary(item)}</span>
        {target(item) && <span className={cx("entry-target cut", !["memory", "question", "agent_proposal"].includes(item.kind) && "mono")}>{target(item)}</span>}
        <span className="row small muted">
          <span>{kindWord(item)}</span><span>·</span><Time at={item.decidedAt ?? item.createdAt} />
          {item.state !== "pending" && <Badge tone={stateOf(item).tone}>{stateOf(item).word}</Badge>}
          {flags > 0 && <Badge tone="danger">{flags} suspicious</Badge>}
          {flags === 0 && taintOf(item).length > 0 && <Badge tone="warn">text from others</Badge>}
        </span>
      </Link>
    </li>
  );
}

function Chosen({ id, items, picked, onDecided }: { id: string; items: InboxItem[]; picked: boolean; onDecided: () => void }) {
  const listed = items.find((item) => item.id === id);
  const read = useGet<InboxItem>(paths.item(id));
  return (
    <Shown of={{ ...read, data: listed ?? read.data }} what="the item" lines={8}>
      {(item) => <ItemDetail key={item.id} item={item} picked={picked} onDecided={onDecided} />}
    </Shown>
  );
}

export default function Inbox({ params }: { params: Params }) {
  const which: Which = useQuery().get("show") === "decided" ? "decided" : "waiting";
  const pending = useGet<{ items: InboxItem[] }>(paths.inbox);
  const all = useGet<{ items: InboxItem[] }>(which === "decided" ? paths.inboxAll(200) : null);
  const source = which === "waiting" ? pending : all;
  const items = useMemo(
    () => (source.data?.items ?? []).filter((item) => which === "waiting" || item.state !== "pending"),
    [source.data, which],
  );
  const asked = params["item"] ?? null;
  // What is looked at stays until the person moves on: were it to make way for the next when another client
  // decides it, a key meant for the one would decide the other.
  const [held, setHeld] = useState<string | null>(null);
  const chosen = asked ?? held ?? items[0]?.id ?? null;
  useEffect(() => setHeld(asked ? null : chosen), [asked, chosen]);
  // Single keys mean the item that the person chose from the list, not one that was only there first or came
  // after the last decision. Letters choose none: they may belong to a word.
  const [picked, setPicked] = useState<string | null>(null);
  useStray(() => setPicked(null));
  const at = items.findIndex((item) => item.id === chosen);
  const suffix = which === "decided" ? "?show=decided" : "";
  const step = (by: number, pick: boolean): void => {
    const next = items[Math.min(items.length - 1, Math.max(0, at + by))];
    if (!next) return;
    setPicked(pick ? next.id : null);
    if (next.id !== asked) go(`/inbox/${next.id}${suffix}`, true);
  };
  const choose = (by: number): void => step(picked === chosen ? by : 0, true); // first what is shown
  useKeys([
    { keys: "j", label: "Look at the next item", group: "Inbox", stands: "anywhere", run: () => step(1, false) },
    { keys: "k", label: "Look at the item before", group: "Inbox", stands: "anywhere", run: () => step(-1, false) },
    { keys: "Enter", label: "Choose the item", group: "Inbox", run: () => choose(0) },
    { keys: "ArrowDown", label: "Choose the item, then the next", group: "Inbox", run: () => choose(1) },
    { keys: "ArrowUp", label: "Choose the item, then the one before", group: "Inbox", run: () => choose(-1) },
  ]);
  // What was decided leaves the list and the next one takes its place; the focus goes to the list.
  const page = useRef<HTMLDivElement>(null);
  const moved = useRef(false);
  useEffect(() => {
    if (!moved.current) return;
    moved.current = false;
    page.current?.querySelector<HTMLElement>(".inbox-list")?.focus();
  }, [chosen]);
  const decided = (): void => {
    const next = items[at + 1] ?? items[at - 1];
    setHeld(null);
    setPicked(null);
    moved.current = true;
    go(next && next.id !== chosen ? `/inbox/${next.id}` : "/inbox", true);
  };
  const show = (to: Which): void => {
    setHeld(null);
    if (asked) go(to === "decided" ? "/inbox?show=decided" : "/inbox");
    else setQuery("show", to === "decided" ? "decided" : null);
  };
  return (
    <div ref={page} className={cx("page inbox", asked && "inbox-one")}>
      <h1 className="visually-hidden">Inbox</h1>
      <div className="inbox-list" tabIndex={-1} data-quiet-focus>
        <Tabs label="Which items" value={which} onChange={show}
          tabs={[{ key: "waiting", label: "Waiting for you", count: pending.data?.items.length ?? 0 }, { key: "decided", label: "Decided" }]}>
          <Shown of={source} what="the inbox">
            {() => items.length === 0 ? (
              <Empty icon={<InboxIcon size={28} />} title={which === "waiting" ? "Nothing waits for you" : "Nothing was decided yet"}>
                {which === "waiting" ? "When an agent needs your word, it stands here and in the header." : "What you approve, edit or reject is kept here."}
              </Empty>
            ) : (
              <ul className="entries">{items.map((item) => <Entry key={item.id} item={item} which={which} chosen={item.id === chosen} onPick={() => setPicked(item.id)} />)}</ul>
            )}
          </Shown>
        </Tabs>
      </div>
      {chosen && (
        <div className="inbox-detail">
          <Link to={`/inbox${suffix}`} className="back"><ArrowLeft size={16} aria-hidden /> All items</Link>
          <Chosen id={chosen} items={items} picked={picked === chosen} onDecided={decided} />
        </div>
      )}
    </div>
  );
}

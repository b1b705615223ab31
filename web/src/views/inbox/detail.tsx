// One item, whole, with what can be said to it. Edit changes what was asked in place; reject asks for a
// reason, which the agent is told.
import { useEffect, useRef, useState, type FormEvent, type ReactNode, type RefObject } from "react";
import { Check, CornerDownLeft, Pencil, X } from "lucide-react";
import type { DecisionRequest, InboxItem, Scope } from "../../api/types";
import { useKeys } from "../../keys";
import { Link } from "../../router";
import { Badge, Button, cx, Input, Select, TextArea, Time } from "../../ui";
import { words } from "../../format";
import { Body, Taint } from "./body";
import { decide } from "./decide";
import { agentPlace } from "../shared/place";
import { ProposalForm } from "../wizard/proposal";
import { Fields } from "./fields";
import { detailsOf, inputOf, kindWord, memoryOf, questionOf, STATE, summary, verbs } from "./words";

type Doing = "look" | "edit" | "reject";

function Head({ item, small }: { item: InboxItem; small?: boolean | undefined }) {
  const state = STATE[item.state];
  return (
    <div className="item-head">
      <div className="row small">
        <Badge tone={item.kind === "memory" || item.kind === "question" ? "info" : "accent"}>{kindWord(item)}</Badge>
        {item.state !== "pending" && <Badge tone={state.tone}>{state.word}</Badge>}
        <span className="muted"><Time at={item.createdAt} /></span>
        {item.state === "pending" && item.expiresAt && <span className="muted">· open until <Time at={item.expiresAt} /></span>}
      </div>
      {small ? (item.kind !== "question" && <p><strong>{item.agentName ?? item.agentId ?? "Dormouse"}</strong> {summary(item)}</p>) : (
        <h2 className="item-title">
          {item.agentId ? <Link to={agentPlace(item.agentId, item.threadId)}>{item.agentName ?? item.agentId}</Link> : "Dormouse"} {item.kind === "question" ? "asks" : summary(item)}
        </h2>
      )}
    </div>
  );
}

function Outcome({ item }: { item: InboxItem }) {
  const answer = item.answer;
  return (
    <div className="outcome">
      <p>
        {STATE[item.state].word.replace(/^./, (first) => first.toUpperCase())}
        {item.decidedBy && ` by ${item.decidedBy === "owner" ? "you" : item.decidedBy}`}{" "}
        <Time at={item.decidedAt} />{item.scope && item.scope !== "once" && `, ${item.scope === "run" ? "for the whole run" : "for always"}`}.
        {item.reason && <> Reason: “{item.reason}”.</>}
      </p>
      {item.state === "answered" && answer !== undefined && <p>Answer: {typeof answer === "string" ? answer : JSON.stringify(answer)}</p>}
    </div>
  );
}

function Reject({ onSay, onBack, busy }: { onSay: (reason: string) => void; onBack: () => void; busy: boolean }) {
  const [reason, setReason] = useState("");
  const send = (event: FormEvent): void => {
    event.preventDefault();
    onSay(reason.trim());
  };
  return (
    <form className="stack-tight" onSubmit={send} onKeyDown={(event) => event.key === "Escape" && (event.stopPropagation(), onBack())}>
      <Input label="Why not? The agent is told (may stay empty)" value={reason} autoFocus onChange={(event) => setReason(event.target.value)} />
      <div className="row">
        <Button type="submit" tone="danger" busy={busy} icon={<X size={16} aria-hidden />}>Reject</Button>
        <Button tone="quiet" onClick={onBack}>Back</Button>
      </div>
    </form>
  );
}

function Edit({ item, onSay, onBack, busy }: {
  item: InboxItem; onSay: (request: DecisionRequest) => void; onBack: () => void; busy: boolean;
}) {
  const memory = memoryOf(item);
  const [text, setText] = useState(memory?.proposed_content ?? "");
  const [input, setInput] = useState(() => (item.kind === "agent_proposal" ? detailsOf(item) : inputOf(item)));
  const [valid, setValid] = useState(true);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    onSay(memory ? { decision: "edit", edited_content: text } : { decision: "edit", input });
  };
  const key = (event: React.KeyboardEvent): void => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onBack();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
  };
  return (
    <form className="stack" onSubmit={send} onKeyDown={key}>
      {memory ? (
        <TextArea label={`What ${memory.path} will be`} className="mono" value={text} autoFocus spellCheck={false}
          rows={Math.min(24, Math.max(6, text.split("\n").length + 1))} onChange={(event) => setText(event.target.value)} />
      ) : item.kind === "agent_proposal" ? (
        <ProposalForm value={input} onChange={setInput} onValid={setValid} />
      ) : (
        <Fields value={input} onChange={setInput} onValid={setValid} />
      )}
      <div className="row">
        <Button type="submit" tone="primary" busy={busy} disabled={!valid} icon={<Check size={16} aria-hidden />}>
          {item.kind === "agent_proposal" ? "Make this agent" : "Approve this instead"}
        </Button>
        <Button tone="quiet" onClick={onBack}>Back</Button>
        <span className="muted small">Ctrl Enter approves</span>
      </div>
    </form>
  );
}

function Answer({ item, onSay, busy }: { item: InboxItem; onSay: (answer: string) => void; busy: boolean }) {
  const { choices } = questionOf(item);
  const [text, setText] = useState("");
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim()) onSay(text.trim());
  };
  return (
    <div className="stack-tight">
      {choices.length > 0 && (
        <div className="row">
          {choices.map((choice, i) => (
            <Button key={choice} tone={i === 0 ? "primary" : "plain"} busy={busy} keys={i < 9 ? String(i + 1) : ""} onClick={() => onSay(choice)}>{choice}</Button>
          ))}
        </div>
      )}
      <form className="row" onSubmit={send}>
        <div className="grow"><Input label={choices.length ? "Or in your words" : "Your answer"} value={text} data-answer onChange={(event) => setText(event.target.value)} /></div>
        <Button type="submit" tone={choices.length ? "plain" : "primary"} busy={busy} disabled={!text.trim()} className="answer-send" icon={<CornerDownLeft size={16} aria-hidden />}>Answer</Button>
      </form>
    </div>
  );
}

const SCOPES: Record<Scope, string> = { once: "only this once", run: "for this whole run", always: "always, for exactly this" };

function Verbs({ item, doing, setDoing, say, busy }: {
  item: InboxItem; doing: Doing; setDoing: (doing: Doing) => void; say: (request: DecisionRequest) => void; busy: boolean;
}): ReactNode {
  const [scope, setScope] = useState<Scope>("once");
  const can = verbs(item);
  const back = (): void => setDoing("look");
  if (doing === "reject") return <Reject busy={busy} onBack={back} onSay={(reason) => say({ decision: "reject", ...(reason ? { reason } : {}) })} />;
  if (doing === "edit") return <Edit item={item} busy={busy} onBack={back} onSay={say} />;
  return (
    <div className="stack-tight">
      {can.answer && <Answer item={item} busy={busy} onSay={(answer) => say({ decision: "answer", answer })} />}
      <div className="row verbs">
        {can.approve && (
          <Button tone="primary" busy={busy} keys="a" icon={<Check size={16} aria-hidden />} onClick={() => say({ decision: "approve", ...(scope !== "once" ? { scope } : {}) })}>
            {item.kind === "agent_proposal" ? "Make this agent" : item.kind === "unknown_effect" ? "Do it again" : "Approve"}
          </Button>
        )}
        {can.edit && <Button data-verb="edit" keys="e" icon={<Pencil size={15} aria-hidden />} onClick={() => setDoing("edit")}>Edit</Button>}
        {can.reject && <Button data-verb="reject" keys="r" icon={<X size={16} aria-hidden />} onClick={() => setDoing("reject")}>{can.answer ? "Don't answer" : "Reject"}</Button>}
        {can.approve && item.kind === "tool" && item.runId && (
          <div className="scope">
            <Select label="How long the approval holds" hideLabel value={scope} onChange={(event) => setScope(event.target.value as Scope)}>
              {Object.entries(SCOPES).map(([value, label]) => <option key={value} value={value}>{label}</option>)}
            </Select>
          </div>
        )}
      </div>
    </div>
  );
}

/** Into the form that opens, and back to the button that opened it. */
function useFocus(box: RefObject<HTMLElement>, doing: Doing): void {
  const before = useRef<Doing>("look");
  useEffect(() => {
    const was = before.current;
    before.current = doing;
    if (was === doing) return;
    const wanted = doing === "look" ? `[data-verb=${was}]` : "form input, form textarea, form select";
    box.current?.querySelector<HTMLElement>(wanted)?.focus();
  }, [box, doing]);
}

/** keys: whether a, e, r and numbers mean this one (the chosen item of the list). */
export function ItemDetail({ item, keys, onDecided, compact }: {
  item: InboxItem; keys?: boolean; onDecided?: () => void; compact?: boolean;
}) {
  const [doing, setDoing] = useState<Doing>("look");
  const [busy, setBusy] = useState(false);
  const box = useRef<HTMLElement>(null);
  useEffect(() => setDoing("look"), [item.id, item.state]);
  // In a conversation the form is longer than what it replaces: its beginning comes into view.
  useEffect(() => {
    if (compact && doing !== "look") (box.current?.closest(".waiting-item") ?? box.current)?.scrollIntoView({ block: doing === "edit" ? "start" : "nearest" });
  }, [compact, doing]);
  useFocus(box, doing);
  const seen = (): boolean => (box.current?.offsetParent ?? null) !== null; // narrow windows show the list alone
  const say = (request: DecisionRequest): void => {
    if (busy || !seen()) return;
    setBusy(true);
    void decide(item, request).then((done) => {
      setBusy(false);
      if (done) onDecided?.();
    });
  };
  return (
    <article ref={box} tabIndex={-1} data-quiet-focus className={cx("item", compact && "item-compact")} aria-label={`${item.agentName ?? ""} ${summary(item)}`}>
      {keys && item.state === "pending" && doing === "look" && <ItemKeys item={item} say={say} setDoing={(next) => seen() && setDoing(next)} />}
      <Head item={item} small={compact} />
      <Taint item={item} />
      {doing !== "edit" && <Body item={item} />}
      {item.state === "pending" ? <Verbs item={item} doing={doing} setDoing={setDoing} say={say} busy={busy} /> : <Outcome item={item} />}
      {!compact && item.runId && (
        <p className="small muted"><Link to={`/runs/${item.runId}`}>The run that asks</Link>{item.toolName && ` · ${words(item.toolName)}`}</p>
      )}
    </article>
  );
}

function ItemKeys({ item, say, setDoing }: { item: InboxItem; say: (request: DecisionRequest) => void; setDoing: (doing: Doing) => void }) {
  const can = verbs(item);
  const { choices } = questionOf(item);
  useKeys([
    { keys: "a", label: "Approve", group: "Inbox", run: () => (can.approve ? say({ decision: "approve" }) : document.querySelector<HTMLElement>("[data-answer]")?.focus()) },
    { keys: "e", label: "Edit, then approve", group: "Inbox", run: () => can.edit && setDoing("edit") },
    { keys: "r", label: "Reject, with a reason", group: "Inbox", run: () => can.reject && setDoing("reject") },
    ...(can.answer ? choices.slice(0, 9).map((choice, i) => ({
      keys: String(i + 1), label: `Answer “${choice}”`, group: "Inbox", run: () => say({ decision: "answer" as const, answer: choice }),
    })) : []),
  ]);
  return null;
}

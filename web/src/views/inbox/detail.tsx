// One item, whole, with what can be said to it. Edit changes what was asked in place; reject asks for a
// reason, which the agent is told.
import { useEffect, useRef, useState, type FormEvent, type ReactNode, type RefObject } from "react";
import { Check, CornerDownLeft, Pencil, ShieldAlert, X } from "lucide-react";
import type { DecisionRequest, InboxItem, Scope } from "../../api/types";
import { typedLately, useKeys, useStray } from "../../keys";
import { Link } from "../../router";
import { Badge, Button, Choice, cx, Input, TextArea, Time, ARM_MS, useArmed, useEnds } from "../../ui";
import { words as toolWords } from "../../format";
import { Body, Facts, Taint } from "./body";
import { decide } from "./decide";
import { agentPlace } from "../shared/place";
import { ProposalForm } from "../wizard/proposal";
import { Fields } from "./fields";
import { detailsOf, inputOf, kindWord, memoryOf, questionOf, stateOf, summary, verbs } from "./words";

type Doing = "look" | "edit" | "reject" | "confirm";

function Head({ item, small }: { item: InboxItem; small?: boolean | undefined }) {
  const state = stateOf(item);
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
        {stateOf(item).word.replace(/^./, (first) => first.toUpperCase())}
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

/** said: what is dangerous about what was sent from here, until it is changed. */
function Edit({ item, onSay, onBack, busy, danger: said }: {
  item: InboxItem; onSay: (request: DecisionRequest) => void; onBack: () => void; busy: boolean; danger: string;
}) {
  const memory = memoryOf(item);
  const [text, setText] = useState(memory?.proposed_content ?? "");
  const [input, setInput] = useState(() => (item.kind === "agent_proposal" ? detailsOf(item) : inputOf(item)));
  const [valid, setValid] = useState(true);
  const [refused, setRefused] = useState("");
  const now = JSON.stringify(memory ? text : input);
  const [first] = useState(now);
  const same = now === first && item.kind !== "agent_proposal"; // then it is no edit: Approve says yes to what was shown
  const sent = useRef("");
  useEffect(() => setRefused(said ? sent.current : ""), [said]);
  const sure = said !== "" && refused === now; // it was said, and is sent all the same
  const danger = Boolean(item.danger?.length) || sure; // the form is the second step
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (same) return;
    sent.current = now;
    onSay({ decision: "edit", ...(memory ? { edited_content: text } : { input }), ...(danger && { anyway: true }) });
  };
  const key = (event: React.KeyboardEvent): void => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onBack();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
  };
  return (
    <form className="stack" onSubmit={send} onKeyDown={key}>
      <Facts item={item} />
      {memory ? (
        <TextArea label={`What ${memory.path} will be`} className="mono" value={text} autoFocus spellCheck={false}
          rows={Math.min(24, Math.max(6, text.split("\n").length + 1))} onChange={(event) => setText(event.target.value)} />
      ) : item.kind === "agent_proposal" ? (
        <ProposalForm value={input} onChange={setInput} onValid={setValid} />
      ) : (
        <Fields value={input} onChange={setInput} onValid={setValid} />
      )}
      {sure && <p className="notice notice-warn" role="alert"><ShieldAlert size={17} aria-hidden /><span>{said}</span></p>}
      <div className="row">
        <Button type="submit" tone={danger ? "danger" : "primary"} busy={busy} disabled={!valid || same} icon={<Check size={16} aria-hidden />}>
          {item.kind === "agent_proposal" ? "Make this agent" : "Approve this instead"}{danger && " anyway"}
        </Button>
        <Button tone="quiet" onClick={onBack}>Back</Button>
        <span className="muted small">{same ? "Nothing is changed yet." : "Ctrl Enter approves"}</span>
      </div>
    </form>
  );
}

function Answer({ item, onSay, busy, hold }: { item: InboxItem; onSay: (answer: string) => void; busy: boolean; hold: Hold }) {
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
            <Button key={choice} busy={busy} keys={i < 9 ? String(i + 1) : ""} keysOff={!hold.picked} {...held(hold, () => onSay(choice))}>{choice}</Button>
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

/** The second step, where something about the item is dangerous. */
function Confirm({ item, busy, hold, onYes, onBack }: { item: InboxItem; busy: boolean; hold: Hold; onYes: () => void; onBack: () => void }) {
  return (
    <div className="confirm" role="group" aria-labelledby={`sure-${item.id}`} onKeyDown={(event) => event.key === "Escape" && (event.stopPropagation(), onBack())}>
      <p id={`sure-${item.id}`}><strong>Are you sure?</strong> {item.danger?.join(" ")}</p>
      <div className="row">
        <Button data-verb="back" onClick={onBack}>Back</Button>
        <Button tone="danger" busy={busy} icon={<Check size={16} aria-hidden />} {...held(hold, onYes)}>{approveWord(item)} anyway</Button>
      </div>
    </div>
  );
}

// All of them are there to be seen. A list that drops down would take what somebody types for the name of one.
const SCOPES: Record<Scope, string> = { once: "only this once", run: "exactly this, in this run", always: "exactly this, always" };

function approveWord(item: InboxItem): string {
  return item.kind === "agent_proposal" ? "Make this agent" : item.kind === "unknown_effect" ? "Do it again" : item.kind === "escalated" ? "Seen" : "Approve";
}

/** What keeps a word from being said now. */
interface Hold {
  armed: boolean; // it has stood still for a moment
  unseen: boolean; // the end of a text was not on the screen
  picked: boolean; // single keys mean this item
  note: string; // the id of what says why
}
/** A button that decides. It stays in the order of Tab while it can't be used. */
const held = ({ armed, unseen, note }: Hold, onClick: () => void) => ({
  onClick, "aria-disabled": !armed || unseen || undefined, ...(unseen ? { "aria-describedby": note } : {}),
});

/** What is approved with changes was seen to its end before. The form of a proposal shows all of it itself. */
const editWaits = (item: InboxItem, unseen: boolean): boolean => unseen && item.kind !== "agent_proposal";

/** A yes for as long as was chosen. */
const yes = (scope: Scope): DecisionRequest => ({ decision: "approve", ...(scope !== "once" ? { scope } : {}) });

function Verbs({ item, doing, setDoing, say, busy, hold, scope, setScope, danger }: {
  item: InboxItem; doing: Doing; setDoing: (doing: Doing) => void; say: (request: DecisionRequest) => void; busy: boolean; hold: Hold;
  scope: Scope; setScope: (scope: Scope) => void; danger: string;
}): ReactNode {
  const can = verbs(item);
  const choices = item.choices ?? [];
  const back = (): void => setDoing("look");
  const key = (name: string) => ({ keys: name, keysOff: !hold.picked });
  const behind = editWaits(item, hold.unseen);
  if (doing === "reject") return <Reject busy={busy} onBack={back} onSay={(reason) => say({ decision: "reject", ...(reason ? { reason } : {}) })} />;
  if (doing === "edit") return <Edit item={item} busy={busy} danger={danger} onBack={back} onSay={say} />;
  return (
    <div className="stack-tight">
      {can.answer && <Answer item={item} busy={busy} hold={hold} onSay={(answer) => say({ decision: "answer", answer })} />}
      {hold.unseen && <p id={hold.note} className="muted small" role="status">To decide, look at the text to its end first: scroll it, or press End in it.</p>}
      <div className="row verbs">
        {can.approve && (
          <Button tone="primary" busy={busy} {...key("a")} data-verb="confirm" icon={<Check size={16} aria-hidden />} {...held(hold, () => say(yes(scope)))}>
            {approveWord(item)}
          </Button>
        )}
        {can.edit && (
          <Button data-verb="edit" {...key("e")} icon={<Pencil size={15} aria-hidden />} {...held({ ...hold, armed: true, unseen: behind }, () => behind || setDoing("edit"))}>Edit</Button>
        )}
        {can.reject && <Button data-verb="reject" {...key("r")} icon={<X size={16} aria-hidden />} onClick={() => setDoing("reject")}>{can.answer ? "Don't answer" : "Reject"}</Button>}
        {can.approve && choices.length > 1 && (
          <div className="scope">
            <Choice label="How long the approval holds" hideLabel value={scope} onChange={setScope}
              options={choices.map((choice) => ({ value: choice.scope, label: SCOPES[choice.scope] }))} />
          </div>
        )}
      </div>
      {can.approve && choices.length > 1 && scope !== "once" && <p className="small" role="status">{choices.find((choice) => choice.scope === scope)?.covers}</p>}
    </div>
  );
}

/** Into the form that opens, and back to the button that opened it. Where something is confirmed, to the way
    back. */
function useFocus(box: RefObject<HTMLElement>, doing: Doing): void {
  const before = useRef<Doing>("look");
  useEffect(() => {
    const was = before.current;
    before.current = doing;
    if (was === doing) return;
    const wanted = doing === "look" ? `[data-verb=${was}]` : doing === "confirm" ? "[data-verb=back]" : "form input, form textarea, form select";
    box.current?.querySelector<HTMLElement>(wanted)?.focus();
  }, [box, doing]);
}

/** A key that is held down presses once: its repetitions may belong to what had the focus before. Nor does one
    press that is a part of a sentence. */
const once = (event: React.KeyboardEvent): void => {
  if ((event.repeat || typedLately()) && (event.key === "Enter" || event.key === " ") && event.target instanceof HTMLButtonElement) event.preventDefault();
};

/** picked: the person chose this item in a list, so that single keys may mean it. On its buttons they do anyway. */
export function ItemDetail({ item, picked, onDecided, compact }: {
  item: InboxItem; picked?: boolean; onDecided?: () => void; compact?: boolean;
}) {
  const [doing, setDoing] = useState<Doing>("look");
  const [asked, setAsked] = useState<DecisionRequest | null>(null); // and not confirmed yet
  const [scope, setScope] = useState<Scope>("once");
  const [danger, setDanger] = useState(""); // of what was written instead
  const [inside, setInside] = useState(false);
  useStray(() => setInside(false));
  const [busy, setBusy] = useState(false);
  const box = useRef<HTMLElement>(null);
  const words = useRef<HTMLDivElement>(null); // where the buttons are
  const { unseen, Ends } = useEnds();
  const keys = inside || picked === true;
  const { armed, ready } = useArmed(words, [item.id, item.state, item.digest, doing].join(" "));
  // Keys begin to work a moment after the item was chosen; their names on the buttons say that they do.
  const [meant, setMeant] = useState(false);
  useEffect(() => {
    setMeant(false);
    if (!keys) return;
    const timer = setTimeout(() => setMeant(true), ARM_MS);
    return () => clearTimeout(timer);
  }, [keys, item.id, item.state, item.digest, doing]);
  const hold: Hold = { armed, unseen: unseen > 0, picked: keys && meant, note: `unseen-${item.id}` };
  useEffect(() => {
    setDoing("look");
    setScope("once");
  }, [item.id, item.state]);
  useEffect(() => setDanger(""), [item.id, doing]);
  // In a conversation the form is longer than what it replaces: its beginning comes into view.
  useEffect(() => {
    if (compact && doing !== "look" && doing !== "confirm") (box.current?.closest(".waiting-item") ?? box.current)?.scrollIntoView({ block: doing === "edit" ? "start" : "nearest" });
  }, [compact, doing]);
  useFocus(box, doing);
  const onButton = (target: EventTarget | null): boolean => target instanceof HTMLButtonElement && words.current?.contains(target) === true;
  const seen = (): boolean => (box.current?.offsetParent ?? null) !== null; // narrow windows show the list alone
  const send = (request: DecisionRequest): void => {
    setBusy(true);
    setDanger("");
    void decide(item, request).then((done) => {
      setBusy(false);
      if (done === true) onDecided?.();
      else if (done === false) setDoing("look");
      else setDanger(done); // what was written stays
    });
  };
  // What the person typed a form for is meant; a button or a key has to be ready.
  const say = (request: DecisionRequest): void => {
    const typed = doing === "edit" || doing === "reject" || (request.decision === "answer" && !questionOf(item).choices.includes(String(request.answer ?? "")));
    if (busy || !seen() || (!typed && (!ready() || hold.unseen))) return;
    if (doing !== "confirm" && item.danger?.length && request.decision === "approve") {
      setAsked(request);
      setDoing("confirm");
      return;
    }
    send(request);
  };
  return (
    <article ref={box} className={cx("item", compact && "item-compact")} aria-label={`${item.agentName ?? ""} ${summary(item)}`}
      onKeyDownCapture={once} onFocus={(event) => setInside(onButton(event.target))} onBlur={(event) => setInside(onButton(event.relatedTarget))}>
      {keys && meant && item.state === "pending" && doing === "look" && <ItemKeys item={item} box={box} scope={scope} say={say} setDoing={(next) => seen() && !(next === "edit" && editWaits(item, hold.unseen)) && setDoing(next)} />}
      <Head item={item} small={compact} />
      <Taint item={item} />
      {doing !== "edit" && <Ends><Body item={item} /></Ends>}
      <div ref={words}>
        {item.state !== "pending" ? <Outcome item={item} />
          : doing === "confirm" ? <Confirm item={item} busy={busy} hold={hold} onYes={() => asked && say({ ...asked, anyway: true })} onBack={() => setDoing("look")} />
          : <Verbs item={item} doing={doing} setDoing={setDoing} say={say} busy={busy} hold={hold} scope={scope} setScope={setScope} danger={danger} />}
      </div>
      {!compact && item.runId && (
        <p className="small muted"><Link to={`/runs/${item.runId}`}>{item.kind === "escalated" ? "The run" : "The run that asks"}</Link>{item.toolName && ` · ${toolWords(item.toolName)}`}</p>
      )}
    </article>
  );
}

function ItemKeys({ item, box, scope, say, setDoing }: {
  item: InboxItem; box: RefObject<HTMLElement>; scope: Scope; say: (request: DecisionRequest) => void; setDoing: (doing: Doing) => void;
}) {
  const can = verbs(item);
  const { choices } = questionOf(item);
  useKeys([
    { keys: "a", label: item.kind === "escalated" ? "Seen" : "Approve", of: () => scope, run: () => (can.approve ? say(yes(scope)) : box.current?.querySelector<HTMLElement>("[data-answer]")?.focus()) },
    { keys: "e", label: "Edit, then approve", run: () => can.edit && setDoing("edit") },
    { keys: "r", label: "Reject, with a reason", run: () => can.reject && setDoing("reject") },
    ...(can.answer ? choices.slice(0, 9).map((choice, i) => ({
      keys: String(i + 1), label: `Answer “${choice}”`, run: () => say({ decision: "answer" as const, answer: choice }),
    })) : []),
  ].map((key) => ({ ...key, group: "The chosen item" })));
  return null;
}

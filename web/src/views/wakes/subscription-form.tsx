// A subscription of an agent: what changes, under which condition, by whom, when; and what it would have
// woken for in the last week.
import { useEffect, useState } from "react";
import { sentence } from "../../api/client";
import { journal, type Day } from "../../api/journal";
import { useGet } from "../../api/store";
import { waking, type Author, type Made, type Matches as Found, type Source, type Subscription, type SubscriptionDraft, type Token } from "../../api/wakes";
import { plural } from "../../format";
import { useConnection } from "../../shell/connection";
import { attempt, Badge, Button, CopyButton, cx, Dialog, Input, say, Select, Skeleton, Switch, TextArea, Time } from "../../ui";
import { AUTHOR, columnOf, inWords, KEYS, paced, SOURCE, tokenWord } from "./words";

const SOON_MS = 350;
const WEEK = 7;
const WEEKDAYS = [["mo", "Monday"], ["tu", "Tuesday"], ["we", "Wednesday"], ["th", "Thursday"], ["fr", "Friday"], ["sa", "Saturday"], ["su", "Sunday"]] as const;
const COOLDOWNS = [[0, "as often as it happens"], [60, "once a minute"], [300, "every 5 minutes"], [3600, "once an hour"], [86_400, "once a day"]] as const;

/** Things to tick, in a group. */
function Ticks<V extends string>({ label, options, value, onChange }: { label: string; options: readonly { value: V; word: string }[]; value: readonly V[]; onChange: (next: V[]) => void }) {
  return (
    <fieldset className="choice">
      <legend className="field-label">{label}</legend>
      <div className="ticks">
        {options.map((option) => (
          <label key={option.value} className="tick">
            <input type="checkbox" className="tick-box" checked={value.includes(option.value)} onChange={(event) => onChange(event.target.checked ? [...value, option.value] : value.filter((one) => one !== option.value))} />
            {option.word}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The condition with a mark under the column that is wrong. */
function Condition({ value, error, onChange }: { value: string; error: string; onChange: (text: string) => void }) {
  const column = columnOf(error);
  return (
    <div className="stack-tight">
      <TextArea label="Only where" rows={2} className="mono" value={value} maxLength={4096} spellCheck={false} error={error || null}
        placeholder={'task.status == "DONE" and task.priority <= 1'}
        hint={'Fields of what changed: == != < <= > >=, in ["a", "b"], prefix, and, or, not. Labels: task.labelIds in ["urgent"].'} onChange={(event) => onChange(event.target.value)} />
      {column > 0 && !value.includes("\n") && <pre className="caret mono" aria-hidden>{`${value}\n${" ".repeat(column - 1)}^`}</pre>}
    </div>
  );
}

interface Looked {
  found: Found | null;
  error: string;
}
function useMatches(agent: string, draft: SubscriptionDraft, on: boolean, id: string | undefined): Looked {
  const [seen, setSeen] = useState<Looked>({ found: null, error: "" });
  const text = JSON.stringify(draft);
  const there = useConnection(); // looked at again when the server is back
  useEffect(() => {
    if (!on) return setSeen({ found: null, error: "" });
    let late = false;
    const timer = setTimeout(() => {
      waking.preview(agent, JSON.parse(text) as SubscriptionDraft, WEEK, id).then(
        (found) => !late && setSeen({ found, error: "" }),
        (error: unknown) => !late && setSeen({ found: null, error: sentence(error) }),
      );
    }, SOON_MS);
    return () => {
      late = true;
      clearTimeout(timer);
    };
  }, [agent, text, on, id, there]);
  return seen;
}

const PACE = { wakes: "", waits: "later: it has just woken", joins: "with the one after it", no: "" } as const;
/** When the list is not all of it. */
function cutNote({ items, matched, unmatched, cut }: Found): string {
  const yes = items.filter((item) => item.outcome === "yes").length;
  if (!cut) return "";
  return yes < matched ? `${yes.toLocaleString()} of ${matched.toLocaleString()} matches shown, the newest.`
    : `${items.length.toLocaleString()} of ${(matched + unmatched).toLocaleString()} changes shown, the newest.`;
}
function Matches({ found, cooldown }: { found: Found; cooldown: number }) {
  const { items } = found;
  const all = paced(items, cooldown);
  const note = cutNote(found);
  const woke = all.filter(({ pace }) => pace === "wakes" || pace === "waits");
  return (
    <section className="stack-tight" aria-label="What it would have woken for">
      <p className="field-label">{woke.length === 0 ? "It would not have woken in the last week" : `It would have woken ${found.matched > 0 && note ? "at least " : ""}${plural(woke.length, "time")} in the last week`}</p>
      {note && <p className="muted small">{note}</p>}
      {items.length > 0 && (
        <ul className="matches small" tabIndex={0} aria-label="Changes of the last week">
          {all.map(({ item, pace }, i) => (
            <li key={i} className={cx("match", pace === "no" && "muted")}>
              <Time at={item.at} />
              <span className="grow cut">{item.records.map((record) => record.title ?? record.type).join(", ") || "a change"}</span>
              {pace === "wakes" ? <Badge tone="good">wakes</Badge> : <span>{pace === "waits" && item.notBefore ? "later: outside of its hours" : PACE[pace] || (item.why ?? item.outcome)}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The address of a webhook, said once. */
function Secret({ made, onClose }: { made: Made; onClose: () => void }) {
  const address = made.url ? new URL(made.url, location.origin).href : `${location.origin}/api/v1/hooks/${made.token ?? ""}`;
  return (
    <Dialog title="The webhook's address" onClose={onClose} footer={<Button tone="primary" onClick={onClose}>I have kept it</Button>}>
      <div className="stack">
        <p>Whoever knows this address can wake the agent. It is shown only now.</p>
        <div className="secret"><code className="grow">{address}</code><CopyButton text={address} label="Copy the address" /></div>
        <p className="muted small">Call it with POST; what is sent along is told to the agent as text from outside.</p>
      </div>
    </Dialog>
  );
}

export function SubscriptionForm({ agent, subscription, onClose }: { agent: string; subscription: Subscription | null; onClose: () => void }) {
  const [source, setSource] = useState<Source>(subscription?.source ?? "journal");
  const [tokens, setTokens] = useState<Token[]>(subscription?.tokens ?? [{ class: "semanticKey", value: "TASK" }]);
  const [predicate, setPredicate] = useState(subscription?.predicate ?? "");
  const [authors, setAuthors] = useState<Author[]>(subscription?.authors ?? ["human"]);
  const [hours, setHours] = useState(subscription?.activeHours ?? null);
  const [cooldown, setCooldown] = useState(subscription?.cooldownSeconds ?? 0);
  const [folder, setFolder] = useState(subscription?.folder ?? "");
  const [glob, setGlob] = useState(subscription?.glob ?? "");
  const [prompt, setPrompt] = useState(subscription?.prompt ?? "");
  const [name, setName] = useState(subscription?.name ?? "");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<Made | null>(null);
  const home = useGet<Day>(journal.day("today")).data?.zone;

  const changes = source === "journal" || source === "agent";
  const keys = tokens.filter((token) => token.class === "semanticKey").map((token) => token.value);
  const others = tokens.filter((token) => token.class !== "semanticKey");
  const draft: SubscriptionDraft = {
    source, ...(changes ? { tokens, authors } : {}), ...(source === "journal" ? { predicate: predicate.trim() } : {}),
    ...(source === "files" ? { folder: folder.trim(), glob: glob.trim() } : {}), cooldownSeconds: cooldown, activeHours: hours,
  };
  const { activeHours, ...rest } = draft;
  const asked: SubscriptionDraft = activeHours ? draft : rest;
  const problem = changes && tokens.length === 0 ? "What should change?" : changes && authors.length === 0 ? "By whom?" : source === "files" && !folder.trim().startsWith("/") ? "The whole path of a folder, like /home/me/inbox" : "";
  const seen = useMatches(agent, asked, changes && !problem, subscription?.id);
  const other = error || (columnOf(seen.error) ? "" : seen.error);

  const save = async (): Promise<void> => {
    setBusy(true);
    setError("");
    const fields = { ...(subscription ? draft : asked), name: name.trim(), prompt: prompt.trim() };
    if (!fields.name) fields.name = inWords({ ...fields, id: "", agentId: agent, tokens: tokens, authors, predicate: "", cooldownSeconds: 0, activeHours: null, active: true } as Subscription).slice(0, 80);
    try {
      if (subscription) await waking.changeSubscription(agent, subscription.id, fields);
      else {
        const answer = await waking.subscribe(agent, fields);
        if (answer.token || answer.url) return setMade(answer);
      }
      say(subscription ? "Changed." : "It wakes from now on.");
      onClose();
    } catch (failure) {
      setError(sentence(failure));
    } finally {
      setBusy(false);
    }
  };
  const remove = async (): Promise<void> => {
    if (!subscription || !(await attempt("Not removed", () => waking.removeSubscription(agent, subscription.id)))) return;
    onClose();
    const { name: was, source: from, tokens: about, predicate: where, authors: by, cooldownSeconds, folder: place, glob: like, prompt: told, active, activeHours: when } = subscription;
    const again: SubscriptionDraft = {
      name: was, source: from, tokens: about, predicate: where, authors: by, cooldownSeconds, prompt: told, active, ...(place ? { folder: place } : {}), ...(like ? { glob: like } : {}),
    };
    // A webhook's address can't come back: another would be made.
    if (subscription.source === "webhook") say("Removed; its address no longer works.");
    else say("Removed.", () => waking.subscribe(agent, { ...again, ...(when ? { activeHours: when } : {}) }));
  };
  if (made) return <Secret made={made} onClose={onClose} />;
  return (
    <Dialog title={subscription ? "Wakes up when" : "Wake up when…"} wide guarded onClose={onClose}
      footer={<>{subscription && <Button tone="danger" onClick={() => void remove()}>Remove</Button>}<span className="grow" /><Button onClick={onClose}>Close</Button><Button tone="primary" busy={busy} disabled={!!problem || columnOf(seen.error) > 0} onClick={() => void save()}>Save</Button></>}>
      <form className="stack" onSubmit={(event) => { event.preventDefault(); if (!problem) void save(); }}>
        <Select label="It wakes when" value={source} disabled={!!subscription} data-autofocus onChange={(event) => { setSource(event.target.value as Source); setTokens([{ class: "semanticKey", value: event.target.value === "agent" ? "AGENT_REPORT" : "TASK" }]); }}>
          {(Object.keys(SOURCE) as Source[]).map((one) => <option key={one} value={one}>{SOURCE[one]}</option>)}
        </Select>
        {changes && <Ticks label="What changes" options={KEYS[source === "agent" ? "agent" : "journal"]} value={keys} onChange={(next) => setTokens([...next.map((value): Token => ({ class: "semanticKey", value })), ...others])} />}
        {others.length > 0 && <div className="row">{others.map((token, i) => <Button key={i} small onClick={() => setTokens(tokens.filter((one) => one !== token))} aria-label={`Leave out ${tokenWord(token)}`}>{tokenWord(token)} ×</Button>)}</div>}
        {source === "journal" && <Condition value={predicate} error={columnOf(error) ? error : columnOf(seen.error) ? seen.error : ""} onChange={setPredicate} />}
        {source === "files" && (
          <>
            <Input label="Folder" className="mono" value={folder} placeholder="/home/me/inbox" onChange={(event) => setFolder(event.target.value)} />
            <Input label="Only files like" className="mono" value={glob} placeholder="*.md" maxLength={200} onChange={(event) => setGlob(event.target.value)} />
          </>
        )}
        {source === "webhook" && !subscription && <p className="muted small">It gets an address of its own, shown once after you save.</p>}
        {changes && <Ticks label="By whom" options={(Object.keys(AUTHOR) as Author[]).map((value) => ({ value, word: AUTHOR[value] }))} value={authors} onChange={setAuthors} />}
        <div role="status" className={cx(changes && "looked")}>
          {problem ? <p className="danger small">{problem}</p> : other ? <p className="danger small">{other}</p>
            : seen.found ? <Matches found={seen.found} cooldown={cooldown} /> : changes && !seen.error ? <Skeleton lines={2} label="Looking at the last week" /> : null}
        </div>
        <Switch label="Only at certain hours" checked={!!hours} hint={`What comes at other hours waits until then.${home ? ` By the clocks of ${hours?.zone ?? home}.` : ""}`} onChange={(on) => setHours(on ? { from: "07:00", to: "22:00" } : null)} />
        {hours && (
          <div className="stack-tight">
            <div className="form-pair"><Input label="From" type="time" value={hours.from} onChange={(event) => setHours({ ...hours, from: event.target.value })} /><Input label="To" type="time" value={hours.to} onChange={(event) => setHours({ ...hours, to: event.target.value })} /></div>
            <Ticks label="On" options={WEEKDAYS.map(([value, word]) => ({ value: value as string, word }))} value={hours.days?.length ? hours.days : WEEKDAYS.map(([day]) => day)} onChange={(days) => setHours({ ...hours, days: WEEKDAYS.map(([day]) => day).filter((day) => days.includes(day)) })} />
          </div>
        )}
        <Select label="At most" value={String(cooldown)} onChange={(event) => setCooldown(Number(event.target.value))}>
          {COOLDOWNS.map(([seconds, word]) => <option key={seconds} value={seconds}>{word}</option>)}
          {!COOLDOWNS.some(([seconds]) => seconds === cooldown) && <option value={cooldown}>every {cooldown} seconds</option>}
        </Select>
        <TextArea label="What it is told" rows={2} value={prompt} maxLength={4000} placeholder="Look at what changed and log the session." onChange={(event) => setPrompt(event.target.value)} />
        <Input label="Name" value={name} maxLength={80} onChange={(event) => setName(event.target.value)} />
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}

// What an agent may use up in a day: set here, with what is used of it and what is left.
import { useState, type FormEvent } from "react";
import { act, paths } from "../../api/client";
import { store } from "../../api/store";
import type { Agent, Amount, Amounts, Limits } from "../../api/types";
import { exact, money, short } from "../../format";
import { attempt, Button, Input } from "../../ui";

const WHOLE = /^[1-9][0-9]*$/, AMOUNT = /^[0-9]+(\.[0-9]+)?$/;
const ROWS = [
  ["tokens", "tokens", short, "tokensPerDay", WHOLE, "A whole number, such as 2000000."],
  ["cost", "cost", money, "costPerDay", AMOUNT, "In the currency of your models' prices, with a point: 0.5."],
  ["toolCalls", "tool calls", short, "toolCallsPerDay", WHOLE, "A whole number, such as 500."],
] as const;
type Typed = (typeof ROWS)[number];
/** What is wrong with what was typed, and what may stand there; null: nothing. */
function wrong([, word, , , form, hint]: Typed, typed: string): string | null {
  if (!typed || (form.test(typed) && Number(typed) > 0)) return null;
  const comma = typed.includes(",") ? " A comma has no meaning here." : "";
  return `“${typed}” is no limit for ${word}.${comma} ${hint} Empty is no limit.`;
}

function Bar({ label, amount, say }: { label: string; amount: Amount; say: (n: number) => string }) {
  const { used, reserved, limit, left } = amount;
  if (limit === undefined || left === undefined) return null;
  const some = (n: number): string => (n > 0 ? say(n) : "nothing");
  return (
    <div>
      <div className="small">{label}: {some(used)} of {say(limit)} used{reserved > 0 && <>, {say(reserved)} reserved</>}, {some(left)} left</div>
      <progress className="budget-bar" aria-label={label} max={limit} value={Math.min(limit, used + reserved)} />
    </div>
  );
}

const bars = (amounts: Amounts, whose: string) => ROWS.map(([key, word, say]) => <Bar key={whose + key} label={`${whose}${word} today${key === "cost" ? " (in your models' currency)" : ""}`} amount={amounts[key]} say={say} />);
const isLimited = (amounts: Amounts | undefined): boolean => !!amounts && ROWS.some(([key]) => amounts[key].limit !== undefined);

/** Its own limits. Emptied is none; what the configuration says for every agent holds besides. */
function Form({ agent, own }: { agent: Agent; own: Limits }) {
  const [draft, setDraft] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);
  const [tried, setTried] = useState(false); // to save something wrong
  const typed = (key: keyof Limits): string => draft[key] ?? (own[key] === undefined ? "" : String(own[key]));
  const changed = ROWS.filter(([, , , key]) => typed(key).trim() !== (own[key] === undefined ? "" : String(own[key])));
  const discard = (): void => {
    setDraft({});
    setTried(false);
  };
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setTried(true);
    if (ROWS.some((row) => wrong(row, typed(row[3]).trim()))) return;
    setBusy(true);
    const budget = Object.fromEntries(changed.map(([, , , key]) => [key, typed(key).trim() ? Number(typed(key)) : null]));
    const done = await attempt("Could not save", () => act.changeAgent(agent.id, { budget }));
    setBusy(false);
    store.invalidate(paths.agents);
    if (done) discard();
  };
  return (
    <form className="stack" onSubmit={(event) => void save(event)}>
      {ROWS.map((row) => {
        const [, word, , key, form, hint] = row;
        return (
          <Input key={key} inputMode={form === WHOLE ? "numeric" : "decimal"} autoComplete="off" label={`${word[0]?.toUpperCase()}${word.slice(1)} a day`} hint={hint} placeholder="no limit"
            error={tried ? wrong(row, typed(key).trim()) : null} value={typed(key)} onChange={(event) => setDraft({ ...draft, [key]: event.target.value })} />
        );
      })}
      {changed.length > 0 && (
        <div className="row row-end">
          <Button onClick={discard}>Discard</Button>
          <Button tone="primary" type="submit" busy={busy}>Save the budget</Button>
        </div>
      )}
    </form>
  );
}

export default function Budget({ agent }: { agent: Agent }) {
  const { budget } = agent;
  if (!budget) return null;
  return (
    <section className="stack" aria-label="Budget">
      <h3>Budget</h3>
      <p className="small muted">When a day's budget is used up, {agent.displayName} stops before anything is sent. Empty is no limit.</p>
      <Form key={agent.id} agent={agent} own={budget.own ?? {}} />
      {bars(budget, "")}
      {budget.all && bars(budget.all, "all agents: ")}
      {(isLimited(budget) || isLimited(budget.all)) && <div className="small muted">Begins anew {exact(budget.resetsAt)}.</div>}
    </section>
  );
}

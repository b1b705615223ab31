// What an agent has used of its day's budget, and what is left; nothing where it has none.
import type { Agent, Amount, Amounts } from "../../api/types";
import { exact, money, short } from "../../format";

const ROWS = [["tokens", "tokens", short], ["cost", "cost", money], ["toolCalls", "tool calls", short]] as const;

function Bar({ label, amount, say }: { label: string; amount: Amount; say: (n: number) => string }) {
  const { used, reserved, limit, left } = amount;
  if (limit === undefined || left === undefined) return null;
  return (
    <div>
      <div className="small">{label}: {say(used)} of {say(limit)} used{reserved > 0 && <>, {say(reserved)} reserved</>}, {say(left)} left</div>
      <progress className="budget-bar" aria-label={label} max={limit} value={Math.min(limit, used + reserved)} />
    </div>
  );
}

const bars = (amounts: Amounts, whose: string) => ROWS.map(([key, word, say]) => <Bar key={whose + key} label={`${whose}${word} today`} amount={amounts[key]} say={say} />);

export default function Budget({ agent }: { agent: Agent }) {
  const { budget } = agent;
  if (!budget || ![...Object.values(budget), ...Object.values(budget.all ?? {})].some((amount) => typeof amount === "object" && "limit" in amount)) return null;
  return (
    <section className="stack" aria-label="Budget">
      {bars(budget, "")}
      {budget.all && bars(budget.all, "all agents: ")}
      <div className="small muted">Begins anew {exact(budget.resetsAt)}.</div>
    </section>
  );
}

// How something was, from 1 to 5, in the dimensions that the person uses.
import { useId, useState } from "react";
import { write, type Rating } from "../../api/journal";
import { words } from "../../format";
import { attempt, cx } from "../../ui";
import { AddLine } from "./parts";

export const USUAL = ["energy", "focus", "mood"];

function One({ dimension, value, onRate }: { dimension: string; value: number | undefined; onRate: (value: number) => void }) {
  const id = useId();
  return (
    <fieldset className="rate">
      <legend>{words(dimension)}</legend>
      <div className="rate-row">
        {[1, 2, 3, 4, 5].map((n) => (
          <label key={n} className={cx("rate-option", value !== undefined && n <= value && "rate-on")}>
            <input type="radio" name={id} checked={value === n} aria-label={`${n} of 5`} onChange={() => onRate(n)} />
            <span aria-hidden>{n}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
export function Rate({ targetType, targetId, ratings }: Pick<Rating, "targetType" | "targetId"> & { ratings: Rating[] }) {
  const mine = ratings.filter((rating) => rating.targetId === targetId);
  const [own, setOwn] = useState<string[]>([]);
  const [sent, setSent] = useState<Record<string, number>>({});
  const dimensions = [...new Set([...USUAL, ...mine.map((rating) => rating.dimension), ...own])];
  const rate = (dimension: string, value: number): void => {
    setSent((old) => ({ ...old, [dimension]: value }));
    void attempt("Not rated", () => write.rate({ targetType, targetId, dimension, value })).then((ok) => {
      if (!ok) setSent(({ [dimension]: _, ...rest }) => rest);
    });
  };
  return (
    <div className="stack-tight">
      {dimensions.map((dimension) => (
        <One key={dimension} dimension={dimension} value={sent[dimension] ?? mine.find((rating) => rating.dimension === dimension)?.value} onRate={(value) => rate(dimension, value)} />
      ))}
      <AddLine label="Another dimension" placeholder="Another: sleep, calm…" onAdd={(text) => {
        setOwn([...own, text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "_")]);
        return Promise.resolve();
      }} />
    </div>
  );
}

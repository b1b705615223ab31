// What an agent reaches of the journal: everything, or some categories.
import { Switch } from "../../ui";
import { useSets } from "../journal/sets";
import "../wakes/wakes.css";

export default function Categories({ chosen, onChange }: { chosen: string[]; onChange: (chosen: string[]) => void }) {
  const sets = useSets();
  const all = chosen.includes("*");
  const turn = (id: string, on: boolean): void => onChange(on ? [...chosen, id] : chosen.filter((one) => one !== id));
  return (
    <fieldset className="choice">
      <legend className="field-label">What it reaches of the journal</legend>
      <Switch label="Everything" checked={all} hint={all ? undefined : chosen.length === 0 ? "Now nothing: what is not given is not seen." : undefined} onChange={(on) => onChange(on ? ["*"] : [])} />
      {!all && (
        <div className="ticks">
          {sets.categories.map((one) => (
            <label key={one.id} className="tick"><input type="checkbox" className="tick-box" checked={chosen.includes(one.id)} onChange={(event) => turn(one.id, event.target.checked)} />{one.name}</label>
          ))}
        </div>
      )}
      {!all && sets.categories.length === 0 && <p className="muted small">There are no categories yet; they are made in the journal.</p>}
    </fieldset>
  );
}

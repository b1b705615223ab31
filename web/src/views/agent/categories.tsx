// What an agent reaches of the journal: everything, or some categories.
import { useState } from "react";
import { write, type Category } from "../../api/journal";
import { attempt, Button, Switch } from "../../ui";
import { useSets } from "../journal/sets";
import "../wakes/wakes.css";

/** A category that is not there yet is made here; forms of agents are no place to leave for that. */
function NewCategory({ onMade }: { onMade: (id: string) => void }) {
  const [name, setName] = useState("");
  const [busy, setBusy] = useState(false);
  const make = async (): Promise<void> => {
    if (!name.trim() || busy) return;
    setBusy(true);
    const ok = await attempt("Not made", async () => onMade((await write.create<Category>("categories", { name: name.trim() })).id));
    setBusy(false);
    if (ok) setName("");
  };
  return (
    <div className="new-category">
      <input className="input" aria-label="New category" placeholder="A new category, like Sport" maxLength={100} value={name} onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => { if (event.key === "Enter") { event.preventDefault(); void make(); } }} />
      <Button busy={busy} disabled={!name.trim()} onClick={() => void make()}>Add</Button>
    </div>
  );
}

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
      {!all && <NewCategory onMade={(id) => onChange([...chosen, id])} />}
    </fieldset>
  );
}

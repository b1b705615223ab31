// The person's own order: categories, which say what agents may see, and labels.
import { useState } from "react";
import { Archive, ArchiveRestore, Trash2 } from "lucide-react";
import { write, type Category, type Label } from "../../api/journal";
import { attempt, Badge, IconButton } from "../../ui";
import { AddLine, InPlace, removeRecord } from "./parts";
import { useSets } from "./sets";

function Row({ type, one }: { type: "categories" | "labels"; one: Category | Label }) {
  const archived = "archived" in one && !!one.archived;
  const [color, setColor] = useState(one.color ?? "#8c8174");
  const change = (fields: object): Promise<boolean> => attempt("Not changed", () => write.change(type, one.id, fields));
  return (
    <li className="set-row">
      <input type="color" className="color" aria-label={`Colour of ${one.name}`} value={color} onChange={(event) => setColor(event.target.value)} onBlur={() => color !== (one.color ?? "#8c8174") && void change({ color })} />
      <InPlace label={`Name of ${one.name}`} value={one.name} required maxLength={100} className="grow" onSave={(name) => change({ name })} />
      {archived && <Badge>put away</Badge>}
      {type === "categories" && <IconButton label={archived ? `Use ${one.name} again` : `Put ${one.name} away`} onClick={() => void change({ archived: !archived })}>{archived ? <ArchiveRestore size={16} /> : <Archive size={16} />}</IconButton>}
      <IconButton label={`Delete ${one.name}`} onClick={() => void removeRecord(type, one.id, one.name)}><Trash2 size={16} /></IconButton>
    </li>
  );
}

export default function Categories() {
  const sets = useSets();
  return (
    <div className="sets">
      <section className="stack-tight" aria-labelledby="categories">
        <h2 id="categories">Categories</h2>
        <p className="muted small">A task or an entry has at most one. Agents reach only the categories that you give them.</p>
        <ul className="set-list">{sets.categories.map((one) => <Row key={one.id} type="categories" one={one} />)}</ul>
        <AddLine label="New category" placeholder="New category" onAdd={(name) => write.create("categories", { name })} />
      </section>
      <section className="stack-tight" aria-labelledby="labels">
        <h2 id="labels">Labels</h2>
        <p className="muted small">As many as you like on a task. In quick add they begin with #.</p>
        <ul className="set-list">{sets.labels.map((one) => <Row key={one.id} type="labels" one={one} />)}</ul>
        <AddLine label="New label" placeholder="New label" onAdd={(name) => write.create("labels", { name: name.replace(/^#/, "") })} />
      </section>
    </div>
  );
}

// What a record has to do with others: seen from either end, added and taken away.
import { useState } from "react";
import { Plus, X } from "lucide-react";
import { journal, write, type Entry, type EntryLink, type Page } from "../../api/journal";
import { useGet } from "../../api/store";
import { Link } from "../../router";
import { attempt, Button, IconButton, Select, Shown } from "../../ui";
import { removeRecord, TaskLink } from "./parts";
import { TaskPicker } from "./picker";
import { entryName } from "./words";

type Relation = EntryLink["relation"];
const RELATION: Record<Relation, [from: string, to: string]> = {
  about: ["about", "what is written about it:"], follow_up: ["follows", "followed by"], source: ["comes from", "source of"],
  report: ["reports on", "in a report:"], related: ["related to", "related to"],
};
const OFFERED: Relation[] = ["related", "about", "source", "follow_up"];

function EntryTitle({ id }: { id: string }) {
  const read = useGet<Entry>(journal.one("entries", id));
  return <Link to={`/journal/entries?entry=${encodeURIComponent(id)}`}>{read.data ? entryName(read.data) : read.error ? "an entry that is gone" : "…"}</Link>;
}
function Other({ type, id }: { type: string; id: string }) {
  if (type === "task") return <TaskLink id={id} />;
  if (type === "entry") return <EntryTitle id={id} />;
  return <span>{type.replace(/([A-Z])/g, " $1").toLowerCase()}</span>;
}

function Add({ type, id, onDone }: { type: string; id: string; onDone: () => void }) {
  const [relation, setRelation] = useState<Relation>("related");
  const [task, setTask] = useState("");
  const [busy, setBusy] = useState(false);
  const add = async (): Promise<void> => {
    setBusy(true);
    const ok = await attempt("Not linked", () => write.create("entry-links", { relation, fromType: type, fromId: id, toType: "task", toId: task }));
    setBusy(false);
    if (ok) onDone();
  };
  return (
    <div className="stack-tight link-add">
      <div className="pair">
        <Select label="It is" value={relation} onChange={(event) => setRelation(event.target.value as Relation)}>
          {OFFERED.map((one) => <option key={one} value={one}>{RELATION[one][0]}</option>)}
        </Select>
        <TaskPicker label="the task" value={task} onChange={setTask} />
      </div>
      <div className="row row-end"><Button small onClick={onDone}>Not now</Button><Button small tone="primary" busy={busy} disabled={!task || task === id} onClick={() => void add()}>Link</Button></div>
    </div>
  );
}

export function Links({ type, id }: { type: "task" | "entry"; id: string }) {
  const read = useGet<Page<EntryLink>>(journal.list("entry-links", { targetId: id, limit: 200 }));
  const [adding, setAdding] = useState(false);
  return (
    <section className="stack-tight" aria-labelledby="links">
      <div className="row row-between"><h3 id="links">Links</h3>{!adding && <Button small tone="quiet" icon={<Plus size={14} aria-hidden />} onClick={() => setAdding(true)}>Link a task</Button>}</div>
      <Shown of={read} what="links" lines={1}>
        {({ items }) => items.length === 0 ? (!adding && <p className="muted small">Linked to nothing yet.</p>) : (
          <ul className="links">
            {items.map((link) => {
              const here = link.fromId === id;
              const word = RELATION[link.relation]?.[here ? 0 : 1] ?? link.relation;
              return (
                <li key={link.id} className="row link-row">
                  <span className="grow"><span className="muted">{word}</span> {here ? <Other type={link.toType} id={link.toId} /> : <Other type={link.fromType} id={link.fromId} />}</span>
                  <IconButton label="Take this link away" onClick={() => void removeRecord("entry-links", link.id, "the link")}><X size={14} /></IconButton>
                </li>
              );
            })}
          </ul>
        )}
      </Shown>
      {adding && <Add type={type} id={id} onDone={() => setAdding(false)} />}
    </section>
  );
}

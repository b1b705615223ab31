// Notes, workouts, measurements and recordings, the newest first.
import { useRef, useState } from "react";
import { NotebookPen, Paperclip, Plus, X } from "lucide-react";
import { url } from "../../api/client";
import { journal, write, type Attachment, type Entry, type EntryKind, type Page } from "../../api/journal";
import { useGet } from "../../api/store";
import { bytes } from "../../format";
import { useKeys } from "../../keys";
import { setQuery, useQuery } from "../../router";
import { attempt, Button, Choice, Dialog, Empty, IconButton, Input, Shown, TextArea, Trouble } from "../../ui";
import { Links } from "./links";
import { usePages } from "./pages";
import { CategoryName, CategorySelect, removeRecord } from "./parts";
import { Rate } from "./rate";
import { useSets } from "./sets";
import { clock, dayOf, dayWord, entryName, gist, KIND, length, localInput, minutesOf, momentOf } from "./words";
import type { Rating } from "../../api/journal";

const MADE: EntryKind[] = ["note", "workout", "measurement", "audio"];
const token = (text: string): string => text.trim().toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_|_$/g, "");

function File({ file }: { file: Attachment }) {
  const content = url(journal.content(file.id));
  return (
    <li className="stack-tight">
      <div className="row"><a href={content} download={file.fileName}>{file.fileName}</a> <span className="muted small">{file.size !== undefined ? bytes(file.size) : ""}</span> <IconButton label={`Delete ${file.fileName}`} onClick={() => void removeRecord("attachments", file.id, file.fileName)}><X size={14} /></IconButton></div>
      {file.contentType.startsWith("audio/") && <audio controls preload="metadata" src={content} aria-label={`Play ${file.fileName}`} className="player" />}
    </li>
  );
}

function Files({ entry }: { entry: Entry }) {
  const read = useGet<Page<Attachment>>(journal.list("attachments", { entryId: entry.id }));
  const files = read.data?.items ?? [];
  return (
    <div className="stack-tight">
      <h3>Files</h3>
      {files.length > 0 && <ul className="links">{files.map((file) => <File key={file.id} file={file} />)}</ul>}
      <label className="button button-plain button-small file-button"><Paperclip size={14} aria-hidden /> Add a file
        <input type="file" className="visually-hidden" onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = "";
          if (file) void attempt("Not added", () => write.attach(entry.id, file));
        }} />
      </label>
    </div>
  );
}

function Edit({ entry, kind: first, onClose }: { entry: Entry | null; kind: EntryKind; onClose: () => void }) {
  const sets = useSets();
  const [kind, setKind] = useState<EntryKind>(entry?.kind ?? first);
  const [subtype, setSubtype] = useState(entry?.subtype ?? "");
  const [title, setTitle] = useState(entry?.title ?? "");
  const [body, setBody] = useState(entry?.body ?? "");
  const [at, setAt] = useState(localInput(entry?.at ?? Date.now()));
  const [lasted, setLasted] = useState(entry?.durationMs ? length(entry.durationMs / 60_000) : "");
  const [value, setValue] = useState(entry?.value === undefined ? "" : String(entry.value));
  const [unit, setUnit] = useState(entry?.unit ?? "");
  const [category, setCategory] = useState(entry?.categoryId ?? "");
  const [sound, setSound] = useState<globalThis.File | null>(null);
  const made = useRef<Entry>(); // when only its recording failed: it is not made twice
  const [busy, setBusy] = useState(false);
  const ratings = useGet<Page<Rating>>(entry ? journal.list("ratings", { targetId: entry.id }) : null);
  const minutes = lasted.trim() ? minutesOf(lasted) : null;
  const number = value.trim() ? Number(value.replace(",", ".")) : null;
  const wrongLength = !!lasted.trim() && minutes === null;
  const wrongNumber = number !== null && !Number.isFinite(number);
  const nothing = kind === "measurement" ? number === null : kind === "audio" && !entry ? !sound : !title.trim() && !body.trim() && !subtype.trim();
  const save = async (): Promise<void> => {
    setBusy(true);
    const fields = {
      ...(entry ? {} : { kind }), subtype: token(subtype) || null, title: title.trim() || null, body: body || null, at: momentOf(at), categoryId: category || null,
      durationMs: minutes === null ? null : minutes * 60_000, value: number, unit: unit.trim() || null,
    };
    const ok = await attempt("Not saved", async () => {
      if (entry) return void await write.change("entries", entry.id, fields);
      made.current ??= await write.create<Entry>("entries", kind === "audio" && !fields.title ? { ...fields, title: sound?.name ?? null } : fields);
      if (sound && kind === "audio") await write.attach(made.current.id, sound);
    });
    setBusy(false);
    if (ok) onClose();
  };
  const remove = async (): Promise<void> => {
    if (entry && (await removeRecord("entries", entry.id, entryName(entry)))) onClose();
  };
  return (
    <Dialog title={entry ? KIND[kind] : "New entry"} guarded onClose={onClose}
      footer={<>{entry && <Button tone="danger" onClick={() => void remove()}>Delete</Button>}<span className="grow" /><Button onClick={onClose}>Close</Button><Button tone="primary" busy={busy} disabled={nothing || wrongLength || wrongNumber} onClick={() => void save()}>Save</Button></>}>
      <form className="stack" onSubmit={(event) => { event.preventDefault(); if (!nothing) void save(); }}>
        {!entry && <Choice label="What" value={kind} options={MADE.map((one) => ({ value: one, label: KIND[one] }))} onChange={setKind} />}
        <Input label="Title" value={title} maxLength={500} data-autofocus onChange={(event) => setTitle(event.target.value)} />
        {kind === "audio" && !entry && (
          <div className="row">
            <label className="button button-plain file-button"><Paperclip size={14} aria-hidden /> Choose the recording
              <input type="file" accept="audio/*" className="visually-hidden" onChange={(event) => setSound(event.target.files?.[0] ?? null)} />
            </label>
            {sound && <span className="small mono cut">{sound.name} {bytes(sound.size)}</span>}
          </div>
        )}
        {kind === "workout" && <div className="pair"><Input label="Which kind" placeholder="run, legs, yoga" value={subtype} maxLength={60} onChange={(event) => setSubtype(event.target.value)} /><Input label="How long" placeholder="45 min" value={lasted} error={wrongLength ? "A length, like 45 min or 1 h 30" : null} onChange={(event) => setLasted(event.target.value)} /></div>}
        {kind === "measurement" && <div className="pair"><Input label="Of what" placeholder="weight, pulse" value={subtype} maxLength={60} onChange={(event) => setSubtype(event.target.value)} /><Input label="Value" inputMode="decimal" value={value} error={wrongNumber ? "A number, like 72.4" : null} onChange={(event) => setValue(event.target.value)} /><Input label="Unit" placeholder="kg" value={unit} maxLength={20} onChange={(event) => setUnit(event.target.value)} /></div>}
        <TextArea label={kind === "note" ? "Text, in Markdown" : "Notes"} rows={kind === "note" ? 8 : 3} value={body} onChange={(event) => setBody(event.target.value)} />
        <div className="pair"><Input label="When" type="datetime-local" value={at} onChange={(event) => setAt(event.target.value)} /><CategorySelect sets={sets} value={category} onChange={setCategory} /></div>
        {entry && <Files entry={entry} />}
        {entry && <Links type="entry" id={entry.id} />}
        {entry && <section className="stack-tight"><h3>How it was</h3><Rate targetType="entry" targetId={entry.id} ratings={ratings.data?.items ?? []} /></section>}
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}

/** The entry in the address, from a link. */
function Linked({ id, onClose }: { id: string; onClose: () => void }) {
  const read = useGet<Entry>(journal.one("entries", id));
  if (read.error) return <Dialog title="Entry" onClose={onClose}><Trouble error={read.error} what="Could not open it" /></Dialog>;
  return read.data ? <Edit key={id} entry={read.data} kind={read.data.kind} onClose={onClose} /> : null;
}

const SHOWN = [{ value: "", label: "All" }, { value: "note", label: "Notes" }, { value: "workout", label: "Workouts" }, { value: "measurement", label: "Measurements" }, { value: "audio", label: "Recordings" }] as const;
export default function Entries() {
  const query = useQuery();
  const kind = SHOWN.find((one) => one.value === query.get("kind"))?.value ?? "";
  const linked = query.get("entry");
  const sets = useSets();
  const pages = usePages<Entry>((after) => journal.list("entries", { kind, order: "newest", after, limit: 100 }));
  const asked = MADE.find((one) => one === query.get("new")); // in the address, from elsewhere
  const [adding, setAdding] = useState(false);
  const added = (): void => {
    setAdding(false);
    if (asked) setQuery("new", null);
  };
  useKeys([{ keys: "n", label: "New entry", group: "Entries", run: () => setAdding(true) }]);
  return (
    <section aria-labelledby="entries" className="stack journal-wide">
      <div className="row row-between">
        <h2 id="entries" className="visually-hidden">Entries</h2>
        <Choice label="Which" hideLabel value={kind} options={SHOWN} onChange={(next) => setQuery("kind", next || null)} />
        <Button tone="primary" icon={<Plus size={15} aria-hidden />} keys="n" onClick={() => setAdding(true)}>New entry</Button>
      </div>
      <Shown of={pages} what="entries" lines={6}>
        {() => pages.items.length === 0 ? (
          <Empty icon={<NotebookPen size={28} />} title="Nothing written yet" action={<Button onClick={() => setAdding(true)}>Write something</Button>}>Notes, workouts, measurements and recordings go here; agents can wake when one is added.</Empty>
        ) : (
          <>
            <ul className="entry-list">
              {pages.items.map((entry) => (
                <li key={entry.id}>
                  <button type="button" className="entry-row" onClick={() => setQuery("entry", entry.id)}>
                    <span className="muted small">{entry.at ? `${dayWord(dayOf(entry.at))} ${clock(entry.at)}` : ""}</span>
                    <span className="entry-text"><span className="cut"><strong>{entryName(entry)}</strong></span><span className="muted small cut">{gist(entry)}</span></span>
                    <span className="small muted row">{KIND[entry.kind]}<CategoryName category={sets.category(entry.categoryId)} /></span>
                  </button>
                </li>
              ))}
            </ul>
            {pages.more && <div><Button busy={pages.loading} onClick={pages.next}>Earlier ones</Button></div>}
          </>
        )}
      </Shown>
      {(adding || asked) && <Edit entry={null} kind={asked || kind || "note"} onClose={added} />}
      {linked && <Linked id={linked} onClose={() => setQuery("entry", null)} />}
    </section>
  );
}

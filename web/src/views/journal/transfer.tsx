// Import, with a look at what will be made first; export of everything.
import { useEffect, useRef, useState } from "react";
import { Download, FileUp } from "lucide-react";
import { sentence, url } from "../../api/client";
import { write, type Imported } from "../../api/journal";
import { plural } from "../../format";
import { Button, Dialog, say, Select, Tabs, TextArea } from "../../ui";

const FORMATS = [
  { value: "csv", label: "CSV", ends: [".csv", ".tsv"] },
  { value: "todotxt", label: "todo.txt", ends: [".txt"] },
  { value: "markdown", label: "Markdown list", ends: [".md", ".markdown"] },
  { value: "ics", label: "iCalendar", ends: [".ics", ".ical"] },
  { value: "json", label: "JSON, as exported here", ends: [".json"] },
] as const;
const SHOWN = 100_000; // characters: more only make the browser slow
type Format = (typeof FORMATS)[number]["value"];

/** By the file's name, else by how the text looks. */
export function formatOf(name: string, text: string): Format {
  const low = name.toLowerCase();
  const named = FORMATS.find(({ ends }) => ends.some((end) => low.endsWith(end)));
  if (named) return named.value;
  if (/^\s*BEGIN:VCALENDAR/i.test(text)) return "ics";
  if (/^\s*\{/.test(text)) return "json";
  if (/^\s*[-*+] \[[ xX]\] /m.test(text)) return "markdown";
  const [first = ""] = text.trimStart().split("\n", 1);
  return first.split(/[,;\t]/).length > 1 && /title|summary|task|name/i.test(first) ? "csv" : "todotxt";
}
const NAMES: Record<string, [string, string]> = { tasks: ["task", "tasks"], events: ["event", "events"], timeEntries: ["time entry", "time entries"], entries: ["entry", "entries"], categories: ["category", "categories"], others: ["other record", "other records"] };
export const counted = (counts: Record<string, number>): string =>
  Object.entries(counts).filter(([, n]) => n > 0).map(([name, n]) => (name === "there" ? `${n} known already` : name === "deleted" ? `${n} deleted here` : plural(n, ...(NAMES[name] ?? [name, name])))).join(", ") || "nothing";

const NAMED = 20;
const listed = (names: string[]): string => names.slice(0, NAMED).join(", ") + (names.length > NAMED ? ` and ${names.length - NAMED} more` : "");
/** What an import would make, by name where it makes something besides the records themselves. */
function Made({ seen: { counts: { there = 0, deleted = 0, ...made }, newCategories = [], newLabels = [] } }: { seen: Imported }) {
  return (
    <>
      <p>This makes <strong>{counted(made)}</strong>{there > 0 && `; ${there} of its records ${there === 1 ? "is" : "are"} there already`}{deleted > 0 && `; ${deleted} ${deleted === 1 ? "was" : "were"} deleted here`}.</p>
      {newCategories.length > 0 && <p className="small">{newCategories.length === 1 ? "A new category" : "New categories"}: <strong>{listed(newCategories)}</strong></p>}
      {newLabels.length > 0 && <p className="small">{newLabels.length === 1 ? "A new label" : "New labels"}: <strong>{listed(newLabels.map((name) => `#${name}`))}</strong></p>}
    </>
  );
}

/** How far an import has come. */
interface Taken {
  next: number;
  counts: Record<string, number>;
}
const NOTHING: Taken = { next: 0, counts: {} };
const sum = (a: Record<string, number>, b: Record<string, number>): Record<string, number> => {
  const out = { ...a };
  for (const [name, n] of Object.entries(b)) out[name] = (out[name] ?? 0) + n;
  return out;
};
/** Records a step: the file is sent with each, so a long one has few; a short one shows that it moves. */
export const stepOf = (total: number): number => Math.min(10_000, Math.max(500, Math.ceil(total / 20)));

function Import({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [name, setName] = useState("");
  const [format, setFormat] = useState<Format>("markdown");
  const [seen, setSeen] = useState<Imported | null>(null);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState<Taken>(NOTHING);
  const going = useRef(false);
  useEffect(() => () => { going.current = false; }, []); // a dialog that is closed imports no further
  const begun = done.next > 0;
  const set = (next: string, from: string): void => {
    setText(next);
    setName(from);
    setSeen(null);
    setDone(NOTHING);
    setError("");
    if (next.trim()) setFormat(formatOf(from, next));
  };
  const run = async (preview: boolean): Promise<void> => {
    setBusy(true);
    setError("");
    try {
      if (preview) return setSeen(await write.lookAt(format, text));
      let taken = done;
      going.current = true;
      await write.import(format, name, text, done.next, stepOf(seen?.total ?? 0), (next, counts) => {
        taken = { next, counts: sum(taken.counts, counts) };
        setDone(taken);
        return going.current;
      });
      if (!going.current) return;
      say(`Imported ${counted(taken.counts)}.`);
      onClose();
    } catch (failure) {
      setError(sentence(failure));
    } finally {
      going.current = false;
      setBusy(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => { event.preventDefault(); void run(!seen); }}>
      <div className="row">
        <label className="button button-plain file-button"><FileUp size={16} aria-hidden /> Choose a file
          <input type="file" className="visually-hidden" accept=".csv,.tsv,.txt,.md,.markdown,.ics,.ical,.json" onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = "";
            if (file) void file.text().then((content) => set(content, file.name));
          }} />
        </label>
        {name && <span className="small mono cut">{name}</span>}
      </div>
      <TextArea label="Or paste it" rows={6} className="mono" value={text.length > SHOWN ? "" : text} spellCheck={false} onChange={(event) => set(event.target.value, "")}
        placeholder={text.length > SHOWN ? "The file is too long to be shown here; it is looked at as a whole." : "- [ ] Fix fence\n- [x] Buy nails"} />
      <Select label="It is" value={format} onChange={(event) => { setFormat(event.target.value as Format); setSeen(null); setDone(NOTHING); }}>
        {FORMATS.map((one) => <option key={one.value} value={one.value}>{one.label}</option>)}
      </Select>
      <div role="status" className="stack-tight">
        {error && <p className="danger">{error}</p>}
        {seen && !busy && !begun && <Made seen={seen} />}
        {!busy && begun && <p>Stopped after {done.next} of {seen?.total ?? 0}: {counted(done.counts)} so far. What is there stays; going on makes nothing twice.</p>}
        {seen?.records && seen.records.length > 0 && !busy && !begun && (
          <ul className="problems small" tabIndex={0} aria-label="What is in it">{seen.records.map((record, i) => <li key={i}>{record.title || record.type} <span className="muted">{[record.due, record.category].filter(Boolean).join(" · ")}</span></li>)}</ul>
        )}
        {seen && seen.problems.length > 0 && (
          <>
            <p className="warn">{plural(seen.problemCount, "line")} can't be used and {seen.problemCount === 1 ? "is" : "are"} left out:</p>
            <ul className="problems small" tabIndex={0} aria-label="Problems">{seen.problems.map((problem, i) => <li key={i}>{problem.line ? <span className="mono">line {problem.line}: </span> : null}{problem.message}</li>)}</ul>
          </>
        )}
      </div>
      {seen && (busy || begun) && (
        <div className="stack-tight">
          <progress className="import-meter" aria-label="Imported so far" max={Math.max(1, seen.total)} value={done.next} />
          <p className="muted small number">{done.next} of {seen.total}</p>
        </div>
      )}
      <div className="row row-end">
        {busy && seen && seen.total > stepOf(seen.total) && <Button onClick={() => { going.current = false; }}>Stop</Button>}
        {seen ? <Button type="submit" tone="primary" busy={busy} disabled={!seen.records?.length}>{begun && !busy ? "Go on" : "Import"}</Button> : <Button type="submit" tone="primary" busy={busy} disabled={!text.trim()}>Look at it first</Button>}
      </div>
    </form>
  );
}

function Export() {
  return (
    <div className="stack">
      <p>Everything of the journal, in files that other programs read. Nothing leaves this machine by itself.</p>
      <div className="row">
        <a className="button button-plain" href={url("/journal/export?format=json")} download="journal.json"><Download size={16} aria-hidden /> JSON, complete</a>
        <a className="button button-plain" href={url("/journal/export?format=json&attachments=true")} download="journal.json"><Download size={16} aria-hidden /> JSON with the files of entries</a>
        <a className="button button-plain" href={url("/journal/export?format=ics")} download="journal.ics"><Download size={16} aria-hidden /> iCalendar, tasks and blocks</a>
      </div>
    </div>
  );
}

type Tab = "import" | "export";
export default function Transfer({ begin = "import", onClose }: { begin?: Tab | undefined; onClose: () => void }) {
  const [tab, setTab] = useState<Tab>(begin);
  return (
    <Dialog title="Import or export" onClose={onClose}>
      <Tabs label="Import or export" tabs={[{ key: "import", label: "Import" }, { key: "export", label: "Export" }] as const} value={tab} onChange={setTab}>
        {tab === "import" ? <Import onClose={onClose} /> : <Export />}
      </Tabs>
    </Dialog>
  );
}

// Arguments as a form: texts as texts, yes and no as switches, everything else as JSON.
import { useState } from "react";
import { Switch, TextArea, Input } from "../../ui";
import { words } from "../../format";

const isText = (value: unknown): value is string => typeof value === "string";

function JsonField({ name, value, onChange, onError }: {
  name: string; value: unknown; onChange: (value: unknown) => void; onError: (name: string, bad: boolean) => void;
}) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2) ?? "");
  const [error, setError] = useState<string | null>(null);
  const change = (next: string): void => {
    setText(next);
    try {
      onChange(JSON.parse(next));
      setError(null);
      onError(name, false);
    } catch {
      setError("This is not JSON.");
      onError(name, true);
    }
  };
  return (
    <TextArea label={label(name)} className="mono" rows={Math.min(8, text.split("\n").length)} value={text} error={error}
      spellCheck={false} onChange={(event) => change(event.target.value)} />
  );
}

const NAMES: Record<string, string> = { displayName: "name", description: "what for", tools: "may use", cwd: "folder" };
const LONG = ["instructions", "content", "text", "body"];
const label = (name: string): string => {
  const plain = NAMES[name] ?? words(name.replace(/([a-z])([A-Z])/g, "$1 $2"));
  return plain.charAt(0).toUpperCase() + plain.slice(1);
};
const isList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
const lines = (value: string): string[] => value.split("\n").map((line) => line.trim()).filter(Boolean);

/** Several words or names: one a line. */
function ListField({ name, value, onChange }: { name: string; value: string[]; onChange: (value: string[]) => void }) {
  const [text, setText] = useState(value.join("\n"));
  return (
    <TextArea label={label(name)} hint="One a line." rows={Math.min(10, Math.max(2, value.length + 1))} value={text} spellCheck={false}
      onChange={(event) => { setText(event.target.value); onChange(lines(event.target.value)); }} />
  );
}

export function Fields({ value, onChange, onValid }: {
  value: Record<string, unknown>; onChange: (value: Record<string, unknown>) => void; onValid: (valid: boolean) => void;
}) {
  const [bad, setBad] = useState<ReadonlySet<string>>(new Set());
  const set = (name: string, next: unknown): void => onChange({ ...value, [name]: next });
  const error = (name: string, is: boolean): void => {
    const next = new Set(bad);
    if (is) next.add(name);
    else next.delete(name);
    setBad(next);
    onValid(next.size === 0);
  };
  return (
    <div className="stack">
      {Object.entries(value).map(([name, member]) => {
        if (typeof member === "boolean") return <Switch key={name} label={label(name)} checked={member} onChange={(on) => set(name, on)} />;
        if (isText(member) && !member.includes("\n") && member.length < 60 && !LONG.includes(name))
          return <Input key={name} label={label(name)} value={member} spellCheck={false} onChange={(event) => set(name, event.target.value)} />;
        if (isText(member))
          return <TextArea key={name} label={label(name)} value={member} rows={Math.min(16, Math.max(3, member.split("\n").length + 1))}
            spellCheck={false} onChange={(event) => set(name, event.target.value)} />;
        if (isList(member)) return <ListField key={name} name={name} value={member} onChange={(next) => set(name, next)} />;
        return <JsonField key={name} name={name} value={member} onChange={(next) => set(name, next)} onError={error} />;
      })}
    </div>
  );
}

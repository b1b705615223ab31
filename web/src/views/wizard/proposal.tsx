// The form of an agent that is proposed: what the person changes here is what is made.
import { paths } from "../../api/client";
import { useGet } from "../../api/store";
import type { AgentTool, Model } from "../../api/types";
import { Input, Select, TextArea } from "../../ui";
import { useSets } from "../journal/sets";
import "./wizard.css";

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const list = (value: unknown): string[] => (Array.isArray(value) ? value.filter((name): name is string => typeof name === "string") : []);

function Tools({ chosen, onChange }: { chosen: string[]; onChange: (tools: string[]) => void }) {
  const all = useGet<{ tools: AgentTool[] }>(paths.tools);
  const known = all.data?.tools ?? [];
  const unknown = chosen.filter((name) => all.data && !known.some((tool) => tool.name === name));
  const toggle = (name: string, on: boolean): void => onChange(on ? [...chosen, name] : chosen.filter((other) => other !== name));
  return (
    <fieldset className="may-use">
      <legend>What it may use</legend>
      <div className="may-use-list">
        {[...known.map((tool) => ({ name: tool.name, asks: tool.approval !== "never" })), ...unknown.map((name) => ({ name, asks: false }))].map(({ name, asks }) => (
          <label key={name} className="may-use-tool">
            <input type="checkbox" checked={chosen.includes(name)} onChange={(event) => toggle(name, event.target.checked)} />
            <span><code>{name}</code>{asks && <span className="muted small"> asks you</span>}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Categories({ chosen, onChange }: { chosen: string[]; onChange: (names: string[]) => void }) {
  const known = useSets().categories.map((one) => one.name);
  const all = chosen.includes("*");
  const rest = all ? known : chosen;
  if (known.length === 0 && chosen.length === 0) return null;
  return (
    <fieldset className="may-use">
      <legend>What it reaches of the journal</legend>
      <div className="may-use-list">
        <label className="may-use-tool">
          <input type="checkbox" checked={all} onChange={(event) => onChange(event.target.checked ? ["*"] : [])} />
          <span>Everything</span>
        </label>
        {known.map((name) => (
          <label key={name} className="may-use-tool">
            <input type="checkbox" checked={rest.includes(name)} disabled={all}
              onChange={(event) => onChange(event.target.checked ? [...chosen, name] : chosen.filter((other) => other !== name))} />
            <span>{name}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export function ProposalForm({ value, onChange, onValid }: {
  value: Record<string, unknown>; onChange: (value: Record<string, unknown>) => void; onValid: (valid: boolean) => void;
}) {
  const models = useGet<{ models: Model[] }>(paths.models);
  const set = (name: string, next: unknown): void => {
    const changed = { ...value, [name]: next };
    if (next === "" && name === "model") delete changed["model"];
    onChange(changed);
    onValid(text(changed["displayName"]).trim() !== "");
  };
  return (
    <div className="stack">
      <Input label="Name" value={text(value["displayName"])} maxLength={100} autoFocus onChange={(event) => set("displayName", event.target.value)}
        error={text(value["displayName"]).trim() ? null : "It needs a name."} />
      <Input label="What it is for" value={text(value["description"])} maxLength={500} onChange={(event) => set("description", event.target.value)} />
      <TextArea label="Instructions" rows={10} value={text(value["instructions"])} hint="It reads these before every answer."
        onChange={(event) => set("instructions", event.target.value)} />
      <Tools chosen={list(value["tools"])} onChange={(tools) => set("tools", tools)} />
      <Categories chosen={list(value["categories"])} onChange={(names) => set("categories", names)} />
      <Select label="Model" value={text(value["model"])} onChange={(event) => set("model", event.target.value)}>
        <option value="">the default</option>
        {models.data?.models.map((model) => <option key={model.id} value={model.id}>{model.id}{model.local ? " (stays here)" : ` (${model.host})`}</option>)}
      </Select>
    </div>
  );
}

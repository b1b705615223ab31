// What an agent was taught: its own skills and those shared by all.
import { useRef, useState } from "react";
import { GraduationCap, Plus, Upload } from "lucide-react";
import { act, ApiError, paths, sentence } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { Agent, Skill, SkillDraft } from "../../api/types";
import { plural } from "../../format";
import { attempt, Badge, Button, CodeBlock, Dialog, Empty, Input, say, Shown, Switch, TextArea, Time } from "../../ui";
import { Markdown } from "../../ui/markdown";

const refresh = (agent: string): void => store.invalidate(paths.skills(agent), paths.memory(agent));
/** As the server will name it: "PDF Processing" becomes "pdf-processing". */
export const skillName = (name: string): string =>
  name.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
const toolList = (tools: Skill["allowed_tools"]): string[] => (Array.isArray(tools) ? tools : (tools ?? "").split(/\s+/)).filter(Boolean);

function SkillForm({ agent, skill, onClose }: { agent: string; skill: Skill | null; onClose: () => void }) {
  const [draft, setDraft] = useState<SkillDraft>({
    name: skill?.name ?? "", description: skill?.description ?? "", instructions: skill?.instructions ?? "",
  });
  const [tools, setTools] = useState(toolList(skill?.allowed_tools).join(" "));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const change = (part: Partial<SkillDraft>): void => setDraft({ ...draft, ...part });
  const name = skillName(draft.name);
  const save = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    const body = { ...draft, name, allowed_tools: toolList(tools) };
    try {
      await (skill ? act.changeSkill(agent, skill.id, body) : act.createSkill(agent, body));
      refresh(agent);
      onClose();
    } catch (failure) {
      setError(failure instanceof ApiError ? sentence(failure) : String(failure));
    }
    setBusy(false);
  };
  return (
    <Dialog title={skill ? `Change ${skill.name}` : "Teach a skill"} wide guarded onClose={onClose}
      footer={<><Button onClick={onClose}>Cancel</Button><Button tone="primary" busy={busy} disabled={!name || !draft.description.trim() || !draft.instructions.trim()} onClick={() => void save()}>Save</Button></>}>
      <form className="panel" onSubmit={(event) => { event.preventDefault(); void save(); }}>
        <Input label="Name" value={draft.name} maxLength={100} data-autofocus hint={name && name !== draft.name ? <>It will be called <code>{name}</code>.</> : "Lower case letters, digits and hyphens."} onChange={(event) => change({ name: event.target.value })} />
        <Input label="Description" value={draft.description} maxLength={1024} hint="What it does and when to use it: this is all the agent sees at first." onChange={(event) => change({ description: event.target.value })} />
        <TextArea label="Instructions" rows={12} className="mono" value={draft.instructions} hint="Markdown. Read when the skill is used." onChange={(event) => change({ instructions: event.target.value })} />
        <Input label="Tools it may use (optional)" value={tools} hint="Names with spaces between; others are refused while the skill is in use." onChange={(event) => setTools(event.target.value)} />
        {error && <p className="field-error" role="alert">{error}</p>}
      </form>
    </Dialog>
  );
}

function SkillDialog({ agent, skill, onEdit, onClose }: { agent: string; skill: Skill; onEdit: () => void; onClose: () => void }) {
  const [file, setFile] = useState<string | null>(null);
  const text = useGet<{ path: string; content: string }>(file ? paths.skillFile(agent, skill.id || skill.name, file) : null);
  const remove = async (): Promise<void> => {
    if (!(await attempt("Could not delete", () => act.deleteSkill(agent, skill.id)))) return;
    refresh(agent);
    onClose();
    say(`The skill ${skill.name} was deleted.`, () => act.restoreSkill(agent, skill.id).then(() => refresh(agent)));
  };
  const others = (skill.files ?? []).filter((path) => !path.endsWith("SKILL.md"));
  return (
    <Dialog title={skill.name} wide onClose={onClose}
      footer={skill.shared ? undefined : <><Button tone="danger" onClick={() => void remove()}>Delete</Button><Button tone="primary" onClick={onEdit}>Change</Button></>}>
      <div className="panel">
        <p>{skill.description}</p>
        <div className="row">
          {skill.shared && <Badge>shared by all agents</Badge>}
          {skill.license && <Badge>{skill.license}</Badge>}
          {toolList(skill.allowed_tools).map((tool) => <Badge key={tool} tone="info">{tool}</Badge>)}
        </div>
        {skill.compatibility && <p className="panel-note">{skill.compatibility}</p>}
        <Markdown text={skill.instructions} />
        {others.length > 0 && (
          <section className="stack-tight">
            <h3>{plural(others.length, "more file")}</h3>
            <div className="row">{others.map((path) => <Button key={path} small tone={file === path ? "primary" : "plain"} onClick={() => setFile(file === path ? null : path)}>{path}</Button>)}</div>
            {text.data && <CodeBlock text={text.data.content} language={file ?? ""} />}
          </section>
        )}
        {skill.content_hash && <p className="panel-note">Content <code>{skill.content_hash.slice(0, 16)}</code>{skill.updated_at && <> · <Time at={skill.updated_at} /></>}</p>}
      </div>
    </Dialog>
  );
}

export function SkillsPanel({ agent }: { agent: Agent }) {
  const list = useGet<{ skills: Skill[] }>(paths.skills(agent.id));
  const [open, setOpen] = useState<Skill | null>(null);
  const [editing, setEditing] = useState<Skill | "new" | null>(null);
  const picker = useRef<HTMLInputElement>(null);
  const load = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const done = await attempt(`Could not import ${file.name}`, () => act.importSkill(agent.id, file).then(({ skill, warnings }) => {
      say(warnings.length ? `${skill.name} was imported: ${warnings.join(" ")}` : `${skill.name} was imported.`);
    }));
    if (done) refresh(agent.id);
  };
  return (
    <Shown of={list} what="skills">
      {({ skills }) => (
        <div className="panel">
          <div className="row row-between">
            <h2>Skills</h2>
            <div className="row">
              <Button small icon={<Upload size={15} aria-hidden />} onClick={() => picker.current?.click()}>Import</Button>
              <Button small icon={<Plus size={15} aria-hidden />} onClick={() => setEditing("new")}>Add skill</Button>
            </div>
            <input ref={picker} type="file" hidden accept=".zip,.tar,.gz,.tgz,.skill" aria-label="Skill archive"
              onChange={(event) => { void load(event.target.files?.[0]); event.target.value = ""; }} />
          </div>
          {skills.length === 0 && <Empty title="No skills yet" icon={<GraduationCap size={28} />}>A skill is a text that says how something is done. The agent reads it when it fits.</Empty>}
          <ul className="panel-list">
            {skills.map((skill) => (
              <li key={skill.id || skill.name} className="panel-row">
                <button type="button" className="panel-open" onClick={() => setOpen(skill)}>
                  <span className="panel-name">{skill.name} {skill.shared && <Badge>shared</Badge>}</span>
                  <span className="panel-note">{skill.description}</span>
                </button>
                {!skill.shared && (
                  <Switch label={`Use ${skill.name}`} checked={skill.enabled !== false}
                    onChange={(enabled) => void attempt("Could not change", () => act.changeSkill(agent.id, skill.id, { enabled })).then(() => refresh(agent.id))} />
                )}
              </li>
            ))}
          </ul>
          {open && <SkillDialog agent={agent.id} skill={open} onEdit={() => { setEditing(open); setOpen(null); }} onClose={() => setOpen(null)} />}
          {editing && <SkillForm agent={agent.id} skill={editing === "new" ? null : editing} onClose={() => setEditing(null)} />}
        </div>
      )}
    </Shown>
  );
}

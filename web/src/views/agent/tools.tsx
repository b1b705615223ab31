// What an agent may use, and what each tool asks before it acts.
import { act, paths } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { Agent, AgentTool } from "../../api/types";
import { words } from "../../format";
import { Link } from "../../router";
import { attempt, Badge, Shown, Switch, type Tone } from "../../ui";

const ASKS: Record<string, string> = { always: "asks every time", byRisk: "asks when it changes something", never: "never asks" };
const RISK: Record<string, Tone> = { high: "danger", medium: "warn", low: "plain", none: "plain" };

/** The rest is for the model; it is in the title. */
const firstSentence = (text: string): string => /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;

export function groups(tools: readonly AgentTool[]): [string, AgentTool[]][] {
  const found = new Map<string, AgentTool[]>();
  for (const tool of tools) found.set(tool.toolClass, [...(found.get(tool.toolClass) ?? []), tool]);
  return [...found];
}

export function ToolsPanel({ agent }: { agent: Agent }) {
  const list = useGet<{ tools: AgentTool[] }>(paths.agentTools(agent.id));
  const toggle = async (tools: AgentTool[], name: string, on: boolean): Promise<void> => {
    const names = tools.filter((tool) => (tool.name === name ? on : tool.enabled)).map((tool) => tool.name);
    await attempt("Could not change the tools", () => act.changeAgent(agent.id, { tools: names }));
    store.invalidate(paths.agent(agent.id));
  };
  return (
    <Shown of={list} what="tools">
      {({ tools }) => (
        <div className="panel">
          <h2>Tools</h2>
          {groups(tools).map(([name, members]) => (
            <section key={name} aria-label={words(name)}>
              <h3 className="muted small">{words(name)}</h3>
              {members.map((tool) => (
                <div key={tool.name} className="tool-row">
                  <Switch label={tool.name} checked={tool.enabled} disabled={!tool.available && !tool.enabled} hint={<span title={tool.description}>{firstSentence(tool.description)}</span>}
                    onChange={(on) => void toggle(tools, tool.name, on)} />
                  <div className="row small">
                    <Badge tone={tool.approval === "never" ? "plain" : "accent"}>{ASKS[tool.approval] ?? tool.approval}</Badge>
                    {tool.risk !== "none" && <Badge tone={RISK[tool.risk] ?? "plain"}>{tool.risk} risk</Badge>}
                    {!tool.available && <span className="warn">{tool.reason ?? "not available"} <Link to="/settings">Settings</Link></span>}
                  </div>
                </div>
              ))}
            </section>
          ))}
        </div>
      )}
    </Shown>
  );
}

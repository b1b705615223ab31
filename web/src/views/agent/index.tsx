// One agent: its conversation, its threads, and beside it what it knows, can do and is.
import { Suspense, useState } from "react";
import { lately } from "../../ui/lately";
import { MessagesSquare, PanelRight, Plus } from "lucide-react";
import { paths } from "../../api/client";
import { useGet } from "../../api/store";
import type { Agent, Thread } from "../../api/types";
import { useKeys } from "../../keys";
import { go, setQuery, useQuery, type Params } from "../../router";
import { Button, Empty, IconButton, Sheet, Shown, Skeleton, Tabs } from "../../ui";
import { isWake, useWakeNames } from "../shared/woke";
import { Chat } from "./chat";
import { FileInAddress, MemoryPanel } from "./memory";
import { SettingsPanel } from "./settings";
import { SkillsPanel } from "./skills";
import { AgentState } from "./state";
import { newThread, threadPath, Threads, threadTitle } from "./threads";
import { ToolsPanel } from "./tools";
import "./agent.css";

const PANELS = [
  { key: "memory", label: "Memory" },
  { key: "skills", label: "Skills" },
  { key: "tools", label: "Tools" },
  { key: "wakes", label: "Wakes" },
  { key: "report", label: "Report" },
  { key: "settings", label: "Settings" },
] as const;
type Panel = (typeof PANELS)[number]["key"];

const WakesPanel = lately(() => import("./wakes"));
const Session = lately(() => import("./session"));
const ReportPanel = lately(() => import("./report"));

function Panels({ agent, panel }: { agent: Agent; panel: Panel }) {
  return (
    <Tabs label={`About ${agent.displayName}`} tabs={PANELS} value={panel} onChange={(next) => setQuery("panel", next)}>
      {panel === "memory" && <MemoryPanel agent={agent} />}
      {panel === "skills" && <SkillsPanel agent={agent} />}
      {panel === "tools" && <ToolsPanel agent={agent} />}
      {panel === "wakes" && <Suspense fallback={<Skeleton lines={6} />}><WakesPanel key={agent.id} agent={agent} /></Suspense>}
      {panel === "report" && <Suspense fallback={<Skeleton lines={6} />}><ReportPanel agent={agent} /></Suspense>}
      {panel === "settings" && <SettingsPanel agent={agent} />}
    </Tabs>
  );
}

/** What one may say first, by the tool that it takes. */
const STARTERS = [
  ["upsert_day_plan_blocks", "Plan my day."], ["set_alarm", "Start a pomodoro."], ["search", "What is in this folder?"],
  ["list_time_entries", "What did I do last week?"], ["write_memory", "Remember that I prefer mornings."],
] as const;
const starters = ({ tools }: Agent): string[] => ["What can you do?", ...STARTERS.filter(([tool]) => !tools || tools.includes(tool)).map(([, text]) => text)].slice(0, 3);

function Talk({ agent, thread }: { agent: Agent; thread: string }) {
  const [threads, setThreads] = useState(false);
  const [sheet, setSheet] = useState(false);
  const list = useGet<{ threads: Thread[] }>(paths.threads(agent.id));
  const chosen = useQuery().get("panel");
  const panel: Panel = PANELS.find((entry) => entry.key === chosen)?.key ?? "memory";
  const full = thread.startsWith(`${agent.id}:`) ? thread : `${agent.id}:session:${thread}`;
  const current = list.data?.threads.find((entry) => entry.id === full);
  const names = useWakeNames(isWake(current?.title));
  const title = current ? threadTitle(current, names) : "New conversation";
  const fresh = (): void => go(threadPath(agent.id, newThread()));
  useKeys([
    { keys: "t", label: "Conversations", group: "Agent", run: () => setThreads(true) },
    { keys: "n", label: "New conversation", group: "Agent", run: fresh },
  ]);
  return (
    <div className="agent-view">
      <div className="agent-head">
        <div className="agent-title">
          <h1 className="cut">{agent.displayName}</h1>
          <AgentState agent={agent} />
        </div>
        <Button tone="quiet" icon={<MessagesSquare size={16} aria-hidden />} onClick={() => setThreads(true)} aria-haspopup="dialog"
          aria-label={`Conversations: ${title}`}>
          <span className="button-label cut">{title}</span>
        </Button>
        <IconButton label="New conversation" onClick={fresh}><Plus size={18} /></IconButton>
        <IconButton label="Memory, skills, tools, wakes and settings" className="agent-panel-button" onClick={() => setSheet(true)}><PanelRight size={18} /></IconButton>
      </div>
      <div className="agent-main">
        <Chat key={full} agentId={agent.id} name={agent.displayName} thread={thread} autoFocus
          {...(agent.kind === "pomodoro" ? { bar: (send: (text: string) => void, busy: boolean) => <Suspense fallback={null}><Session agentId={agent.id} busy={busy} send={send} /></Suspense> } : {})}
          empty={
            (send) => (
              <Empty title={`Say something to ${agent.displayName}`}
                action={<div className="row row-center">{starters(agent).map((text) => <Button key={text} small onClick={() => send(text)}>{text}</Button>)}</div>}>
                {agent.description || "It answers here, and asks before anything risky."}
              </Empty>
            )
          } />
      </div>
      <aside className="agent-side" aria-label={`About ${agent.displayName}`}><Panels agent={agent} panel={panel} /></aside>
      {threads && <Threads agent={agent.id} current={full} place={(to) => (to ? threadPath(agent.id, to) : `/agents/${encodeURIComponent(agent.id)}`)} onClose={() => setThreads(false)} />}
      <FileInAddress agent={agent} />
      {sheet && <Sheet title={agent.displayName} className="agent-sheet" onClose={() => setSheet(false)}><Panels agent={agent} panel={panel} /></Sheet>}
    </div>
  );
}

/** The newest when it was opened. A wake that begins another must not take away what is being written. */
function Opened({ agent, threads }: { agent: Agent; threads: Thread[] }) {
  const newest = threads[0]?.id ?? "main";
  const [first] = useState(newest);
  return <Talk agent={agent} thread={first === "main" || threads.some((one) => one.id === first) ? first : newest} />;
}
/** Without a thread in the address: the one last spoken in, or the first. */
function Latest({ agent }: { agent: Agent }) {
  const list = useGet<{ threads: Thread[] }>(paths.threads(agent.id));
  return <Shown of={list} what="conversations">{({ threads }) => <Opened key={agent.id} agent={agent} threads={threads} />}</Shown>;
}

export default function AgentView({ params }: { params: Params }) {
  const agent = useGet<Agent>(paths.agent(params["id"] ?? ""));
  const thread = params["thread"];
  return (
    <Shown of={agent} what="the agent">
      {(data) => (thread ? <Talk agent={data} thread={thread} /> : <Latest agent={data} />)}
    </Shown>
  );
}

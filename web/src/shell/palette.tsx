// Ctrl K: go anywhere, do the few things that are needed everywhere, and find what was said.
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { AlarmClock, Bot, CalendarDays, FileText, House, Inbox, ListChecks, MessageSquare, NotebookPen, Play, Plus, Search, Settings, Square, SquareActivity } from "lucide-react";
import { get, paths, sentence } from "../api/client";
import { useGet } from "../api/store";
import type { Agent, InboxItem, SearchResult } from "../api/types";
import { plural, relative } from "../format";
import { go } from "../router";
import { cx, Dialog } from "../ui";
import { summary, target } from "../views/inbox/words";
import { resultPath, WIZARD } from "../views/shared/place";
import { resumeAll, stopAll, useStopped } from "./stop";

interface Option {
  key: string;
  group: string;
  icon: ReactNode;
  title: string;
  note?: string;
  run: () => void;
}
const LEAP = 8; // options, with Page Down
const size = { size: 17, "aria-hidden": true } as const;

/** How well a text fits what was typed; 0: not at all. Every word must be there, a beginning counts more. */
export function score(text: string, typed: string): number {
  const low = text.toLowerCase();
  let sum = 1;
  for (const word of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    const found = low.indexOf(word);
    if (found < 0) return 0;
    sum += found === 0 ? 3 : /\W/.test(low[found - 1] ?? " ") ? 2 : 1;
  }
  return sum;
}

interface Found {
  results: SearchResult[];
  busy: boolean;
  failure: string; // why what was said could not be searched
}
const NOTHING: SearchResult[] = [];

/** Everywhere, and in what was said to the wizard: a search leaves Dormouse's own agents out unless
    one is named. */
async function look(q: string, signal: AbortSignal): Promise<SearchResult[]> {
  const ask = (more: { agent?: string }) => get<{ results: SearchResult[] }>(paths.search(q, { limit: 20, ...more }), signal);
  const wizard = ask({ agent: WIZARD }).catch(() => ({ results: NOTHING }));
  const { results } = await ask({});
  return [...results, ...(await wizard).results.filter((result) => result.kind !== "agent")];
}

function useEverywhere(typed: string): Found {
  const [found, setFound] = useState({ q: "", results: NOTHING, failure: "" });
  const q = typed.trim();
  useEffect(() => {
    if (q.length < 2) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      look(q, abort.signal).then(
        (results) => setFound({ q, results, failure: "" }),
        (error: unknown) => !abort.signal.aborted && setFound({ q, results: NOTHING, failure: sentence(error) }),
      );
    }, 150);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [q]);
  const on = q.length >= 2;
  return { results: on ? found.results : NOTHING, busy: on && found.q !== q, failure: on && found.q === q ? found.failure : "" };
}

const resultIcon: Partial<Record<SearchResult["kind"], typeof Bot>> = { message: MessageSquare, thread: MessageSquare, file: FileText, agent: Bot, task: ListChecks, entry: NotebookPen };

function useOptions(typed: string): { options: Option[]; busy: boolean; failure: string } {
  const agents = useGet<{ agents: Agent[] }>(paths.agents).data?.agents ?? [];
  const items = useGet<{ items: InboxItem[] }>(paths.inbox).data?.items ?? [];
  const stopped = useStopped();
  const { results, busy, failure } = useEverywhere(typed);
  const options = useMemo(() => {
    const fixed: Option[] = [
      ...items.slice(0, 20).map((item) => ({
        key: `item-${item.id}`, group: "Waiting for you", icon: <Inbox {...size} />,
        title: `${item.agentName ?? item.agentId ?? "Dormouse"} ${summary(item)}`, note: target(item), run: () => go(`/inbox/${item.id}`),
      })),
      ...agents.map((agent) => ({
        key: `agent-${agent.id}`, group: "Agents", icon: <Bot {...size} />, title: agent.displayName,
        note: agent.description ?? "", run: () => go(`/agents/${encodeURIComponent(agent.id)}`),
      })),
      { key: "new", group: "Do", icon: <Plus {...size} />, title: "New agent", run: () => go("/wizard") },
      stopped
        ? { key: "resume", group: "Do", icon: <Play {...size} />, title: "Resume: let agents work again", run: () => void resumeAll() }
        : { key: "stop", group: "Do", icon: <Square {...size} />, title: "Stop all agents now", run: () => void stopAll() },
      { key: "home", group: "Go to", icon: <House {...size} />, title: "Home", run: () => go("/") },
      { key: "inbox", group: "Go to", icon: <Inbox {...size} />, title: "Inbox", run: () => go("/inbox") },
      { key: "agents", group: "Go to", icon: <Bot {...size} />, title: "Agents", run: () => go("/agents") },
      { key: "journal", group: "Go to", icon: <ListChecks {...size} />, title: "Journal: tasks", run: () => go("/journal") },
      { key: "day", group: "Go to", icon: <CalendarDays {...size} />, title: "Journal: today", run: () => go("/journal/day") },
      ...["Time", "Ratings", "Entries", "Categories", "Search", "Import"].map((part) => ({
        key: `settings-journal-${part}`, group: "Go to", icon: <NotebookPen {...size} />, title: `Journal: ${part.toLowerCase()}`, run: () => go(`/journal/${part.toLowerCase()}`),
      })),
      { key: "wakes", group: "Go to", icon: <AlarmClock {...size} />, title: "Wakes", run: () => go("/wakes") },
      { key: "runs", group: "Go to", icon: <SquareActivity {...size} />, title: "Runs", run: () => go("/runs") },
      ...["Models", "Secrets", "Slack", "Google", "Appearance", "About"].map((part) => ({
        key: `settings-${part}`, group: "Go to", icon: <Settings {...size} />, title: `Settings: ${part}`,
        run: () => go(`/settings/${part.toLowerCase()}`),
      })),
    ];
    const fitting = fixed
      .map((option) => ({ option, fit: score(`${option.title} ${option.note ?? ""}`, typed) }))
      .filter(({ fit, option }) => fit > 0 && (typed || !option.key.startsWith("settings-")));
    if (typed) fitting.sort((a, b) => b.fit - a.fit);
    const names = new Map(agents.map((agent) => [agent.id, agent.displayName]));
    const note = ({ agentId, at, snippet }: SearchResult): string =>
      [names.get(agentId) || agentId, at && relative(at), snippet].filter(Boolean).join(" · ");
    // Agents of the list above are found there already.
    const found = results
      .filter((result) => result.kind !== "agent" || !names.has(result.agentId))
      .map((result, i): Option => {
        const Icon = resultIcon[result.kind] ?? ListChecks;
        return { key: `found-${i}`, group: "Found", icon: <Icon {...size} />, title: result.title, note: note(result), run: () => go(resultPath(result)) };
      });
    return [...fitting.map(({ option }) => option), ...found];
  }, [agents, items, stopped, results, typed]);
  return { options, busy, failure };
}

export default function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const { options, busy, failure } = useOptions(typed.trim());
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const chosen = Math.min(at, options.length - 1);

  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const run = (option: Option | undefined): void => {
    if (!option) return;
    onClose();
    option.run();
  };
  const key = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step) {
      event.preventDefault();
      setAt((chosen + step + options.length) % Math.max(1, options.length));
    } else if (event.key === "PageDown" || event.key === "PageUp") {
      event.preventDefault();
      setAt(Math.max(0, Math.min(options.length - 1, chosen + (event.key === "PageDown" ? LEAP : -LEAP))));
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      run(options[chosen]);
    }
  };
  let group = "";
  return (
    <Dialog title="Search" over hideTitle onClose={onClose} className="palette">
      <div className="palette-input">
        <Search {...size} />
        <input value={typed} data-autofocus placeholder="Search or go to…" role="combobox" aria-label="Search or go to"
          aria-expanded="true" aria-controls={id} aria-autocomplete="list" autoComplete="off" spellCheck={false}
          aria-activedescendant={options[chosen] ? `${id}-${chosen}` : undefined}
          onChange={(event) => { setTyped(event.target.value); setAt(0); }} onKeyDown={key} />
        <kbd aria-hidden>Esc</kbd>
      </div>
      <ul ref={list} className="palette-list" id={id} role="listbox" aria-label="Results">
        {options.map((option, i) => {
          const head = option.group !== group && (!typed || option.group === "Found") ? option.group : null;
          group = option.group;
          return [
            head && <li key={`head-${head}`} role="presentation" className="palette-group">{head}</li>,
            <li key={option.key} id={`${id}-${i}`} role="option" aria-selected={i === chosen}
              className="palette-option" onMouseMove={() => setAt(i)} onClick={() => run(option)}>
              {option.icon}
              <span className={cx("palette-text")}><span>{option.title}</span>{option.note && <span className="muted small">{option.note}</span>}</span>
            </li>,
          ];
        })}
      </ul>
      {failure ? <p className="palette-note danger" role="alert">What was said could not be searched. {failure}</p>
        : options.length === 0 && <p className="palette-note" role="status">{busy ? "Searching…" : "Nothing found."}</p>}
      {typed && options.length > 0 && <p className="visually-hidden" role="status">{busy ? "" : plural(options.length, "result")}</p>}
    </Dialog>
  );
}

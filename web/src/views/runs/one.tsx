// One run as a timeline: what it was asked, what it did, what it cost, and why something was blocked.
import { useMemo, useState, type ReactNode } from "react";
import { Download, RotateCcw, ShieldCheck, Square } from "lucide-react";
import { act, ask, get, paths, url } from "../../api/client";
import { store, useGet } from "../../api/store";
import type { Agent, InboxItem, Replay, Run, Trace } from "../../api/types";
import { duration, money, plural, tokens, words } from "../../format";
import { go, Link, type Params } from "../../router";
import { attempt, Badge, Button, Choice, cx, Json, Menu, say, Shown, Time } from "../../ui";
import { Markdown } from "../../ui/markdown";
import { ItemDetail } from "../inbox/detail";
import "../inbox/inbox.css";
import { agentPlace } from "../shared/place";
import { runLook } from "../shared/runs";
import { clock, raw, spans, timeline, took, type Line } from "./timeline";
import { isWake, useWakeNames, wakeTitle } from "../shared/woke";
import "./runs.css";

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return <div className="fact"><dt>{label}</dt><dd className="number">{children}</dd></div>;
}
const of = (n: number | undefined, max: number | undefined): string => (max ? `${n ?? 0} of ${max}` : String(n ?? 0));

function Facts({ run }: { run: Run }) {
  const goesOn = run.endedAt || run.status === "waiting" ? 0 : Date.now() - Date.parse(run.updatedAt ?? run.createdAt);
  return (
    <dl className="run-facts">
      <Fact label="Began"><Time at={run.createdAt} /></Fact>
      <Fact label={run.endedAt ? "Done in" : "So far"}>{duration((run.activeMs ?? 0) + goesOn)}</Fact>
      {(run.waitedMs ?? 0) >= 1000 ? <Fact label="Waited for you">{duration(run.waitedMs ?? 0)}</Fact> : null}
      <Fact label="Model">{run.model ?? "default"}</Fact>
      <Fact label="Tokens">{tokens(run.inputTokens ?? 0)} in, {tokens(run.outputTokens ?? 0)} out{run.cachedTokens ? `, ${tokens(run.cachedTokens)} cached` : ""}</Fact>
      <Fact label="Cost">{money(run.cost ?? 0)}{run.cost ? " in your models' currency" : ""}</Fact>
      <Fact label="Tool calls">{of(run.toolCalls, run.maxToolCalls)}</Fact>
      <Fact label="Rounds">{of(run.iterations, run.maxIterations)}</Fact>
      {run.maxTokens ? <Fact label="Token limit">{tokens(run.maxTokens)}</Fact> : null}
    </dl>
  );
}

const LANES = ["model", "tools", "person"] as const;
const ROW = 26;

function Lanes({ lines }: { lines: Line[] }) {
  const list = useMemo(() => spans(lines), [lines]);
  if (list.length === 0) return null;
  return (
    <div className="lanes" aria-hidden>
      <div className="lanes-names small muted">{LANES.map((lane) => <span key={lane}>{lane}</span>)}</div>
      <svg className="lanes-chart" viewBox={`0 0 1000 ${ROW * LANES.length}`} preserveAspectRatio="none" height={ROW * LANES.length}>
        {LANES.map((lane, i) => <line key={lane} x1="0" x2="1000" y1={ROW * i + ROW / 2} y2={ROW * i + ROW / 2} className="lane-line" />)}
        {list.map((span) => (
          <rect key={span.key} x={span.x * 1000} width={span.width * 1000} y={ROW * LANES.indexOf(span.lane) + 6} height={ROW - 12} className={`lane-bar lane-${span.lane}`}>
            <title>{`${span.line.label}: ${span.line.text} (${took(span.line)})`}</title>
          </rect>
        ))}
      </svg>
    </div>
  );
}

function Row({ line }: { line: Line }) {
  const [open, setOpen] = useState(false);
  const more = line.markdown !== undefined ? line.markdown.length > line.text.length || line.markdown.includes("\n") : line.detail !== undefined;
  const body = (
    <>
      <span className="tl-label">{line.label}</span>
      <span className="tl-text">{line.text}</span>
      {line.note && <span className={cx("tl-note small", line.tone && `tl-${line.tone}`)}>{line.note}</span>}
    </>
  );
  return (
    <li className={cx("tl-row", `tl-lane-${line.lane}`, line.tone && `tl-tone-${line.tone}`)}>
      <span className="tl-at muted small number">{clock(line.at)}</span>
      <div className="tl-body">
        <div className="tl-line">
          {more ? <button type="button" className="tl-open" aria-expanded={open} onClick={() => setOpen(!open)}>{body}</button> : <div className="tl-plain">{body}</div>}
          {line.item && <Link to={`/inbox/${line.item}`} className="small">item</Link>}
          <span className="tl-took muted small number">{took(line)}</span>
        </div>
        {open && <div className="tl-detail">{line.markdown !== undefined ? <Markdown text={line.markdown} /> : <Json value={line.detail} />}</div>}
      </div>
    </li>
  );
}

function Waits({ run }: { run: Run }) {
  const item = useGet<InboxItem>(run.status === "waiting" && run.waitItem ? paths.item(run.waitItem) : null);
  if (!item.data || item.data.state !== "pending") return null;
  return <section aria-labelledby="waits"><h2 id="waits" className="visually-hidden">Waits for you</h2><ItemDetail item={item.data} compact /></section>;
}

function ReplayResult({ result }: { result: Replay }) {
  return result.same ? (
    <p className="notice run-good" role="status"><ShieldCheck size={17} aria-hidden /><span>The log holds: the program, run again from it with nothing outside,
      chose the same {plural(result.selected ?? 0, "event")} of {result.rows}.</span></p>
  ) : (
    <p className="notice notice-danger" role="status"><span>The log differs: {result.error?.message}</span></p>
  );
}

/** The answer of a rerun is its stream; the page only needs to know which run it is. */
async function rerun(run: Run): Promise<void> {
  const response = await ask("POST", `/runs/${run.runId}/rerun`, { body: "{}", headers: { "Content-Type": "application/json" } });
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
    text += decoder.decode(value, { stream: true });
    const id = /"runId":"([^"]+)"/.exec(text)?.[1];
    if (id) {
      void reader?.cancel();
      go(`/runs/${id}`);
      return;
    }
    if (done) throw new Error("the new run did not begin");
  }
}

function Verbs({ run, onReplay }: { run: Run; onReplay: (result: Replay) => void }) {
  const [busy, setBusy] = useState(false);
  const goes = ["queued", "running", "waiting"].includes(run.status);
  const check = (): void => {
    setBusy(true);
    void attempt("Not checked", async () => onReplay(await get<Replay>(paths.replay(run.runId)))).finally(() => setBusy(false));
  };
  const stop = (): void => {
    void attempt("Not stopped", () => act.cancelRun(run.runId)).then((done) => {
      store.invalidate("/runs", "/inbox", "/agents");
      if (done) say("The run was stopped.");
    });
  };
  const save = (format: "json" | "ndjson" | "text") => (): void => {
    const link = document.createElement("a");
    link.href = url(paths.trace(run.runId, format));
    link.download = `run-${run.runId.slice(0, 8)}.${format === "text" ? "txt" : format}`;
    link.click();
  };
  return (
    <div className="row">
      {goes && <Button tone="danger" icon={<Square size={14} fill="currentColor" aria-hidden />} onClick={stop}>Stop this run</Button>}
      {!goes && <Button icon={<RotateCcw size={15} aria-hidden />} onClick={() => void attempt("Not started", () => rerun(run))}>Run again</Button>}
      <Button busy={busy} icon={<ShieldCheck size={16} aria-hidden />} onClick={check}>Replay</Button>
      <Menu label="Export the log" icon={<Download size={16} aria-hidden />} items={[
        { label: "As text", run: save("text") }, { label: "As JSON", run: save("json") }, { label: "As JSON lines", run: save("ndjson") },
      ]}>Export</Menu>
    </div>
  );
}

export default function RunView({ params }: { params: Params }) {
  const id = params["run"] ?? "";
  const read = useGet<Run>(paths.run(id));
  const trace = useGet<Trace>(paths.trace(id, "json"));
  const agents = useGet<{ agents: Agent[] }>(paths.agents);
  const woken = useWakeNames(isWake(read.data?.prompt));
  const [show, setShow] = useState<"brief" | "all">("brief");
  const [replay, setReplay] = useState<Replay | null>(null);
  const lines = useMemo(() => (trace.data ? (show === "brief" ? timeline : raw)(trace.data.events) : []), [trace.data, show]);
  return (
    <div className="page run">
      <Shown of={read} what="the run" lines={8}>
        {(run) => (
          <div className="stack">
            <div className="page-head run-head">
              <div className="stack-tight">
                <h1>Run {run.runId.slice(0, 6)} · <Link to={agentPlace(run.agentId)}>{agents.data?.agents.find((agent) => agent.id === run.agentId)?.displayName ?? run.agentId}</Link></h1>
                <div className="row small muted"><Badge tone={runLook(run).tone}>{runLook(run).word}</Badge><span>{words(run.mode)}</span>
                  {run.threadId && <Link to={agentPlace(run.agentId, run.threadId)}>conversation</Link>}</div>
                {isWake(run.prompt) && <p className="run-woke">Woke because: {wakeTitle(run.prompt, woken)} <Link to={`/wakes?agent=${encodeURIComponent(run.agentId)}`} className="small">its wakes</Link></p>}
              </div>
              <Verbs run={run} onReplay={setReplay} />
            </div>
            {replay && <ReplayResult result={replay} />}
            {run.error && <p className="notice notice-danger" role="status"><span>{run.error.message} <span className="small">({words(run.error.code)})</span></span></p>}
            <Facts run={run} />
            <Waits run={run} />
            <section aria-labelledby="timeline" className="stack-tight">
              <div className="row row-between">
                <h2 id="timeline">What happened</h2>
                <Choice label="How much" hideLabel value={show} onChange={setShow} options={[{ value: "brief", label: "In short" }, { value: "all", label: "Every event" }]} />
              </div>
              {show === "brief" && <Lanes lines={lines} />}
              <Shown of={trace} what="the log">{() => <ol className="tl">{lines.map((line) => <Row key={line.key} line={line} />)}</ol>}</Shown>
            </section>
            {run.result && <section aria-labelledby="result" className="stack-tight"><h2 id="result">Result</h2><div className="card column"><Markdown text={run.result} /></div></section>}
          </div>
        )}
      </Shown>
    </div>
  );
}

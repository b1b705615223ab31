// What an agent has to say for now, and how fresh that is; what it keeps in mind.
import { FileText } from "lucide-react";
import { useGet } from "../../api/store";
import type { Agent } from "../../api/types";
import { wakes, type Report } from "../../api/wakes";
import { plural } from "../../format";
import { Badge, Empty, Shown, Time } from "../../ui";
import { Markdown } from "../../ui/markdown";
import { taints } from "./memory";
import { MindSection } from "./mind";
import "../wakes/wakes.css";

const begun = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

function Shows({ report }: { report: Report }) {
  const fresh = report.freshness;
  return (
    <article className="report">
      <div className="row row-between"><h2>{report.title}</h2>{fresh && <Badge tone={fresh.stale ? "warn" : "good"}>{fresh.stale ? "stale" : "fresh"}</Badge>}</div>
      <p className="muted small">Written <Time at={report.createdAt} />{report.sources?.length ? `, from ${plural(report.sources.length, "source")}` : ""}{report.confidence !== undefined ? `, ${Math.round(report.confidence * 100)} % sure` : ""}</p>
      {fresh?.stale && <p className="report-stale" role="status">{begun(fresh.why || "It is old")}</p>}
      {taints(report.taint).length > 0 && <p><Badge tone="warn">from {taints(report.taint).join(", ")}</Badge></p>}
      <Markdown text={report.text} />
    </article>
  );
}

export default function ReportPanel({ agent }: { agent: Agent }) {
  const read = useGet<{ report: Report | null }>(wakes.report(agent.id));
  return (
    <div className="panel">
      <Shown of={read} what="the report" lines={6}>
        {({ report }) => report ? <Shows report={report} />
          : <Empty icon={<FileText size={26} />} title="No report yet">When {agent.displayName} has something to say, its newest report stands here.</Empty>}
      </Shown>
      <MindSection key={agent.id} agent={agent} />
    </div>
  );
}

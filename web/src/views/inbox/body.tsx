// What an item shows, by its kind: always what will happen, never only a name.
import { useMemo } from "react";
import { ShieldAlert } from "lucide-react";
import type { InboxItem } from "../../api/types";
import { words } from "../../format";
import { CodeBlock, cx, Diff, Json } from "../../ui";
import { Markdown } from "../../ui/markdown";
import { detailsOf, inputOf, memoryOf, questionOf, taintOf } from "./words";

/** A unified diff that the server made. */
export function Unified({ text }: { text: string }) {
  return (
    <div className="diff-frame">
      <div className="diff-scroll" tabIndex={0} role="group" aria-label="Changes">
        <table className="diff"><tbody>
          {text.replace(/\n$/, "").split("\n").map((line, i) => {
            const kind = line.startsWith("+") && !line.startsWith("+++") ? "add" : line.startsWith("-") && !line.startsWith("---") ? "del" : "same";
            return (
              <tr key={i}><td className={cx("diff-text", `diff-${kind}`, /^(@@|\+\+\+|---)/.test(line) && "muted")}>{line || " "}</td></tr>
            );
          })}
        </tbody></table>
      </div>
    </div>
  );
}

export function Taint({ item }: { item: InboxItem }) {
  const sources = taintOf(item);
  if (sources.length === 0) return null;
  return (
    <p className="notice notice-warn">
      <ShieldAlert size={17} aria-hidden />
      {sources.every((source) => source === "journal")
        ? <span>The agent has read the <strong>journal</strong> before it asked this. What others wrote into it may have steered the agent, so look twice.</span>
        : <span>Text from outside was read before this was asked: <strong>{sources.map(words).join(", ")}</strong>. It may have steered the
          agent, so look twice.</span>}
    </p>
  );
}

function Memory({ item }: { item: InboxItem }) {
  const memory = memoryOf(item);
  const flags = useMemo(() => memory?.suspicious_flags ?? [], [item]);
  if (!memory) return <Preview item={item} />;
  return (
    <div className="stack">
      {memory.reason && <p className="reason"><span className="muted">Because: </span>{memory.reason}</p>}
      {memory.warnings?.map((warning) => <p key={warning} className="notice notice-warn"><ShieldAlert size={17} aria-hidden /><span>{warning}</span></p>)}
      <Diff label={memory.path} before={memory.current_content} after={memory.operation === "delete" ? null : memory.proposed_content} flags={flags} />
    </div>
  );
}

function Proposal({ item }: { item: InboxItem }) {
  const { displayName, description, instructions, tools, categories, model, template } = detailsOf(item) as Record<string, string | string[] | undefined>;
  return (
    <dl className="facts">
      <dt>Name</dt><dd><strong>{displayName}</strong></dd>
      {description && <><dt>What for</dt><dd>{description}</dd></>}
      {template && <><dt>From template</dt><dd>{template}</dd></>}
      {model && <><dt>Model</dt><dd>{model}</dd></>}
      {Array.isArray(tools) && <><dt>May use</dt><dd>{tools.length ? tools.map(words).join(", ") : "no tools"}</dd></>}
      {Array.isArray(categories) && <><dt>Journal</dt><dd>{categories.includes("*") ? "all of it" : categories.length ? categories.join(", ") : "nothing of it: no change there wakes it"}</dd></>}
      {typeof instructions === "string" && <><dt>Instructions</dt><dd><div className="boxed" tabIndex={0} role="group" aria-label="Instructions"><Markdown text={instructions} /></div></dd></>}
    </dl>
  );
}

function Preview({ item }: { item: InboxItem }) {
  const input = inputOf(item);
  const preview = item.preview?.trimEnd() ?? "";
  const [head = "", ...rest] = preview.split("\n\n");
  const isDiff = item.previewKind === "diff" || /^--- .*\n\+\+\+ /m.test(preview);
  return (
    <div className="stack">
      {isDiff ? <Unified text={preview} />
        : item.previewKind === "command" ? <><CodeBlock text={head} language="shell" wrap />{rest.length > 0 && <p className="facts-line">{rest.join(" ").split("\n").join(" · ")}</p>}</>
        : preview ? <CodeBlock text={preview} wrap /> : null}
      {Object.keys(input).length > 0 && (
        <details className="fold" open={!preview}>
          <summary>Everything that is passed to {words(item.toolName ?? "it")}</summary>
          <Json value={input} />
        </details>
      )}
    </div>
  );
}

export function Body({ item }: { item: InboxItem }) {
  switch (item.kind) {
    case "memory": return <Memory item={item} />;
    case "agent_proposal": return <Proposal item={item} />;
    case "question":
    case "input_required": return <div className="question"><Markdown text={questionOf(item).question} /></div>;
    case "unknown_effect":
      return (
        <div className="stack">
          <p>The program ended while this was under way, and nobody can tell whether it was done. Look, then approve to do it
            (again), or reject to let it be.</p>
          <Preview item={item} />
        </div>
      );
    default: return <Preview item={item} />;
  }
}

// What an item shows, by its kind: always what will happen, never only a name. Facts are the server's own words;
// text of agents stands in a frame of its own, all of it, with what can't be seen written out.
import { Fragment, useMemo } from "react";
import { ShieldAlert } from "lucide-react";
import type { InboxItem } from "../../api/types";
import { words } from "../../format";
import { Aside, CodeBlock, cx, Diff, End, visible } from "../../ui";
import { Markdown } from "../../ui/markdown";
import { inputOf, memoryOf, questionOf, taintOf } from "./words";

/** A unified diff that the server made. */
export function Unified({ text }: { text: string }) {
  return (
    <div className="diff-frame">
      <div className="diff-scroll" tabIndex={0} role="group" aria-label="Changes">
        <table className="diff"><tbody>
          {text.replace(/\n$/, "").split("\n").map((line, i) => {
            const kind = line.startsWith("+") && !line.startsWith("+++") ? "add" : line.startsWith("-") && !line.startsWith("---") ? "del" : "same";
            return (
              <tr key={i}><td className={cx("diff-text", `diff-${kind}`, /^(@@|\+\+\+|---)/.test(line) && "muted")}><div className="diff-line">{visible(line) || " "}</div></td></tr>
            );
          })}
        </tbody></table>
        <End />
      </div>
    </div>
  );
}

/** What Dormouse itself says of it: where it runs, whom it goes to. Never in the frame of the text. */
export function Facts({ item }: { item: InboxItem }) {
  const facts = item.facts ?? [];
  if (facts.length === 0) return null;
  return (
    <dl className="facts">
      {facts.map(({ name, value, warn }, i) => (
        <Fragment key={i}>
          <dt>{i > 0 && facts[i - 1]?.name === name ? <span className="visually-hidden">{name}</span> : name}</dt>
          <dd className={cx("fact", warn && "fact-warn")}>{visible(value)}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

export function Taint({ item }: { item: InboxItem }) {
  const sources = taintOf(item);
  if (sources.length === 0) return null;
  return (
    <p className="notice notice-warn">
      <ShieldAlert size={17} aria-hidden />
      <span>Text that others wrote was read before this was asked, and may have steered the agent: <strong>{sources.join("; ")}</strong>.</span>
    </p>
  );
}

function Memory({ item }: { item: InboxItem }) {
  const memory = memoryOf(item);
  const flags = useMemo(() => memory?.suspicious_flags ?? [], [item]);
  if (!memory) return <Preview item={item} />;
  return (
    <div className="stack">
      <Facts item={item} />
      {memory.reason && <p className="reason"><span className="muted">Because: </span>{visible(memory.reason)}</p>}
      {memory.warnings?.map((warning) => <p key={warning} className="notice notice-warn"><ShieldAlert size={17} aria-hidden /><span>{warning}</span></p>)}
      <Diff label={memory.path} before={memory.current_content} after={memory.operation === "delete" ? null : memory.proposed_content} flags={flags} />
    </div>
  );
}

function Preview({ item }: { item: InboxItem }) {
  const input = inputOf(item);
  const preview = item.preview?.replace(/\n$/, "") ?? "";
  return (
    <div className="stack">
      <Facts item={item} />
      {item.previewKind === "diff" ? <Unified text={preview} />
        : preview ? <CodeBlock text={visible(preview)} language={item.previewKind === "command" ? "shell" : ""} wrap /> : null}
      {!["agent_proposal", "escalated"].includes(item.kind) && Object.keys(input).length > 0 && (
        <Aside>
          <details className="fold" open={!preview}>
            <summary>Everything that is passed to {words(item.toolName ?? "it")}</summary>
            <CodeBlock text={visible(JSON.stringify(input, null, 2))} language="json" wrap />
          </details>
        </Aside>
      )}
    </div>
  );
}

export function Body({ item }: { item: InboxItem }) {
  switch (item.kind) {
    case "memory": return <Memory item={item} />;
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
    case "escalated":
      return (
        <div className="stack">
          <p>A command made or changed files that tools of yours obey without asking, as soon as you work in that folder. They
            are under other names now. Nothing waits for you: look at them before you rename or remove them.</p>
          <Preview item={item} />
        </div>
      );
    default: return <Preview item={item} />;
  }
}

// A difference, inline or side by side, with suspicious places marked where they stand (the reason on
// hover and on focus) and listed underneath for everyone.
import { useId, useMemo, useState, type ReactNode } from "react";
import { TriangleAlert } from "lucide-react";
import type { Flag } from "../api/types";
import { plural } from "../format";
import { setAppearance, useAppearance } from "../settings";
import { Choice } from "./basic";
import { cx } from "./cx";
import { counts, diffRows, folds, isDanger, pairs, type Pair, type Part, type Row } from "./diff-model";
import { End } from "./seen";
import { Tooltip } from "./tooltip";

const tone = (flag: Flag | undefined): "danger" | "warn" => (isDanger(flag) ? "danger" : "warn");

/** Characters that can't be seen, or that turn text around, as words: the classes of src/base/utf8.c. */
export function visible(text: string): string {
  return text.replace(
    /(?![\t\n])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u00a0\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000\u3164\ufdd0-\ufdef\ufe00-\ufe0f\uffa0\ufff0-\ufffb\u{1d159}\u{e0000}-\u{e0fff}]/gu,
    (char) => `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

function Text({ parts, flags, kind }: { parts: Part[]; flags: readonly Flag[]; kind: Row["kind"] }): ReactNode {
  return parts.map((part, i) => {
    const text = visible(part.text);
    const body = part.changed ? (kind === "del" ? <del>{text}</del> : <ins>{text}</ins>) : text;
    const flag = part.flag === undefined ? undefined : flags[part.flag];
    if (!flag) return <span key={i}>{body}</span>;
    return (
      <Tooltip key={i} text={flag.description || flag.pattern}>
        <mark className={`flag flag-${tone(flag)}`} tabIndex={0} data-flag={part.flag}>{body}</mark>
      </Tooltip>
    );
  });
}
const SIGN = { same: " ", del: "−", add: "+" } as const;
const SAID = { same: "", del: "removed: ", add: "added: " } as const;

function Line({ row, flags, side }: { row: Row | undefined; flags: readonly Flag[]; side?: "old" | "new" }) {
  if (!row) return <><td className="diff-no" /><td className="diff-text diff-none" /></>;
  const number = side === "old" ? row.oldNo : side === "new" ? row.newNo : undefined;
  return (
    <>
      {side ? (
        <td className="diff-no">{number}</td>
      ) : (
        <><td className="diff-no">{row.oldNo}</td><td className="diff-no">{row.newNo}</td></>
      )}
      <td className={cx("diff-text", `diff-${row.kind}`)}>
        <div className="diff-line">
          <span className="diff-sign" aria-hidden>{SIGN[row.kind]}</span>
          <span className="visually-hidden">{SAID[row.kind]}</span>
          <Text parts={row.parts} flags={flags} kind={row.kind} />
        </div>
      </td>
    </>
  );
}

/** Items with runs of unchanged ones folded away. */
function useFolded<I>(items: I[], ranges: [number, number][], render: (item: I, key: number) => ReactNode, columns: number): ReactNode[] {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const result: ReactNode[] = [];
  for (let i = 0; i < items.length; i++) {
    const fold = ranges.find(([from]) => from === i);
    if (fold && !opened.has(i)) {
      const at = i;
      result.push(
        <tr key={`fold-${i}`} className="diff-fold">
          <td colSpan={columns}>
            <button type="button" onClick={() => setOpened(new Set([...opened, at]))}>
              {plural(fold[1] - fold[0], "unchanged line")}
            </button>
          </td>
        </tr>,
      );
      i = fold[1] - 1;
      continue;
    }
    result.push(render(items[i] as I, i));
  }
  return result;
}

function Inline({ rows, flags }: { rows: Row[]; flags: readonly Flag[] }) {
  const body = useFolded(rows, useMemo(() => folds(rows), [rows]), (row, key) => (
    <tr key={key}><Line row={row} flags={flags} /></tr>
  ), 3);
  return <table className="diff"><tbody>{body}</tbody></table>;
}
function Split({ rows, flags }: { rows: Row[]; flags: readonly Flag[] }) {
  const list = useMemo(() => pairs(rows), [rows]);
  const ranges = useMemo(
    () => folds(list.map((pair) => (pair.left && pair.left === pair.right ? pair.left : { kind: "add" as const }))),
    [list],
  );
  const body = useFolded<Pair>(list, ranges, (pair, key) => (
    <tr key={key}><Line row={pair.left} flags={[]} side="old" /><Line row={pair.right} flags={flags} side="new" /></tr>
  ), 4);
  return <table className="diff diff-split"><tbody>{body}</tbody></table>;
}

export function FlagList({ flags }: { flags: readonly Flag[] }) {
  const id = useId();
  if (flags.length === 0) return null;
  return (
    <section className="flags" aria-labelledby={id}>
      <h3 id={id}><TriangleAlert size={16} aria-hidden /> {plural(flags.length, "suspicious place")}</h3>
      <ul>
        {flags.map((flag, i) => (
          <li key={i}>
            <span className={`flag-dot flag-${tone(flag)}`} aria-hidden />
            <span className="visually-hidden">{flag.severity}: </span>
            {flag.description || flag.pattern}{" "}
            {flag.match && <q className={`flag flag-${tone(flag)}`}>{visible(flag.match).slice(0, 200)}</q>}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface DiffProps {
  before: string | null;
  after: string | null; // null: it is deleted
  flags?: readonly Flag[];
  label: string;
}
export function Diff({ before, after, flags = [], label }: DiffProps) {
  const { diff } = useAppearance();
  const rows = useMemo(() => diffRows(before ?? "", after ?? "", flags), [before, after, flags]);
  const { added, removed } = counts(rows);
  return (
    <div className="diff-frame">
      <div className="diff-head">
        <span className="diff-label">{label}</span>
        <span className="diff-counts">
          {before === null && <span>new file</span>}
          {after === null && <span>deleted</span>}
          <span className="diff-added">+{added}</span>
          <span className="diff-removed">−{removed}</span>
        </span>
        {before !== null && after !== null && (
          <Choice label="Show the difference" hideLabel value={diff}
            options={[{ value: "inline", label: "Inline" }, { value: "split", label: "Side by side" }]}
            onChange={(value) => setAppearance({ diff: value })} />
        )}
      </div>
      <div className="diff-scroll" tabIndex={0} role="group" aria-label={`Changes of ${label}`}>
        {rows.length === 0 ? <p className="diff-empty">An empty text.</p>
          : diff === "split" && before !== null && after !== null ? <Split rows={rows} flags={flags} />
          : <Inline rows={rows} flags={flags} />}
        <End />
      </div>
      <FlagList flags={flags} />
    </div>
  );
}
